"""Every number of the papers is what it was, and what other ways of computing it give."""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.oracle.decision import best_by_program
from tests.oracle.least_loss import least_loss

import leeward as lw
from leeward.papers import Claim, Recomputed
from leeward.papers import _adp_day as adp_day
from leeward.papers import _adp_hour as adp_hour
from leeward.papers._recomputed import rows

ROOT = Path(__file__).parents[2]
WORDS: dict[str, dict[str, Any]] = tomllib.loads(files("leeward.papers").joinpath("claims.toml").read_text("utf-8"))
IN_THE_FULL_SET = {
    "d-privacy-optima-full",
    "d-privacy-optima-full-programs",
    "adp-viii-3-many",
    "d-privacy-proposition-8",
    "d-privacy-graded",
}


def test_every_claim_is_recomputed_and_has_not_moved(found: Recomputed) -> None:
    keys = [claim.key for claim in found.claims]
    assert len(keys) == len(set(keys))
    assert set(keys) == set(WORDS) - IN_THE_FULL_SET
    assert [(claim.key, claim.ours, claim.pin) for claim in found.moved] == []


@pytest.mark.parametrize(
    ("ours", "pin", "tolerance", "moved"),
    [
        (1.0, 1.0, 1e-9, False),
        (1.0 + 2e-9, 1.0, 1e-9, True),
        (5031.1, 5031.0, 1e-9, True),
        (5031.0 + 2e-6, 5031.0, 1e-9, False),
        (math.inf, math.inf, 1e-9, False),
        (1.0, math.inf, 1e-9, True),
        (math.inf, 1.0, 1e-9, True),
        (math.nan, 1.0, 1e-9, True),
        (4.4, 0.0, 4.5, False),
        (4.6, 0.0, 4.5, True),
    ],
)
def test_a_number_that_moves_is_noticed(ours: float, pin: float, tolerance: float, moved: bool) -> None:
    claim = Claim("adp-x", "here", "a number", "1", ours, "agrees", pin, tolerance)
    assert claim.moved == moved


def test_every_correction_is_shown_by_a_number_and_no_other(found: Recomputed) -> None:
    headings = re.findall(r"^### (.+)$", (ROOT / "docs" / "corrections.md").read_text(), flags=re.MULTILINE)
    plain = [heading.replace('"optimal"', "“optimal”") for heading in headings]
    assert len(plain) == len(set(plain)) > 20
    assert set(rows(found.claims)) == set(plain)


def test_a_correction_says_something_else_than_the_paper(found: Recomputed) -> None:
    """Where the printed text starts with a number, "corrected" means that ours is another, "agrees" that it is the same."""
    checked = 0
    for claim in found.claims:
        printed = re.fullmatch(r"(?:about )?([\d,]+(?:\.\d+)?)", claim.printed)
        if printed and claim.verdict in ("agrees", "corrected"):
            value = float(printed[1].replace(",", ""))
            decimals = len(printed[1].partition(".")[2])
            near = abs(claim.ours - value) <= (0.5 * 10**-decimals if decimals else 0.01)
            if claim.key in (
                "adp-readings-fewest",
                "adp-alap-one",
            ):  # a mean beside one draw, a probability beside its event
                continue
            assert near == (claim.verdict == "agrees"), (claim.key, claim.printed, claim.ours)
            checked += 1
    assert checked > 30


def value(found: Recomputed, key: str) -> float:
    (claim,) = [claim for claim in found.claims if claim.key == key]
    return claim.ours


def test_bounds_against_other_derivations(found: Recomputed) -> None:
    assert value(found, "adp-iii-a") == pytest.approx(math.log(5000))
    assert value(found, "adp-iii-b") == pytest.approx(0.5 / (1 + math.e + math.e**2))
    assert value(found, "adp-tight") == pytest.approx(best_by_program(1.0, 1.0, 5, 0.01), abs=1e-7)
    assert value(found, "adp-iv-7-loose") == pytest.approx(1 - math.exp(-5) * 0.99)


def test_optimality_against_the_plainest_program(found: Recomputed) -> None:
    distance = [[0.1 * (x - y) if x >= y else math.inf for y in range(13)] for x in range(13)]
    loss = [[abs(x - w) for w in range(13)] for x in range(13)]
    assert value(found, "adp-viii-3-optimum") == pytest.approx(least_loss(distance, [1 / 13] * 13, loss), abs=1e-6)
    assert value(found, "d-privacy-average-optimum") == pytest.approx(0.4507, abs=5e-5)
    assert value(found, "d-privacy-average-tg") == pytest.approx(0.4704, abs=5e-5)


def test_one_sided_numbers_against_their_formulas(found: Recomputed) -> None:
    assert value(found, "one-sided-equation-3-rate") == pytest.approx(1 / math.log(1 + math.e))
    assert value(found, "one-sided-amplified") == pytest.approx(math.log(1 + 0.5 * (math.e - 1)))
    assert value(found, "one-sided-5") == pytest.approx(math.log(2))
    assert value(found, "one-sided-sparse-up") == pytest.approx(9900 / math.e + 100)
    kept = sum(n * (1 - math.exp(-c)) for c, n in {1: 60, 2: 30, 5: 10}.items())
    assert value(found, "one-sided-sparse-down") == pytest.approx(kept)
    for e, key in ((0.1, "0-1"), (1.0, "1"), (3.0, "3")):
        p, noise = 1 - math.exp(-e), math.log(1 + math.exp(e))
        printed = (2 / e**2 - 1 / noise**2) / (p * (1 - p))
        assert value(found, f"one-sided-crossover-printed-{key}") == pytest.approx(printed)
        crossover = (math.exp(e) - 1) * (2 / e**2 - 1 / (p * noise) ** 2)
        assert value(found, f"one-sided-crossover-{key}") == pytest.approx(crossover)


def test_example_1_presence_costs_a_thousand_epsilon(found: Recomputed) -> None:
    """Nobody is as far from every date as two dates can be: 5,000 days at ε/5 each; by d_h it would be ε."""
    assert value(found, "d-privacy-example-1-presence") == 5000 / 5
    assert lw.ReplaceDP("1").record(100, None) == 1
    assert lw.Manhattan("1", lw.ValueGrid(0, 5000), unit=5, nobody=False).record(100, None) == lw.inf


def test_verdicts_that_rest_on_synthetic_data_judge_nothing(found: Recomputed) -> None:
    """A claim whose number changes with the seed-free make-up of a city may be "not reproducible" or "added", no more."""
    fitted = [claim for claim in found.claims if re.search(r"\b(fitted|synthetic)\b", f"{claim.why} {claim.says}")]
    assert len(fitted) > 20
    assert {claim.verdict for claim in fitted} <= {"not reproducible", "added"}
    for key, function in (("adp_hour", adp_hour.chapter), ("adp_day", adp_day.chapter)):
        for claim in function(False).claims:
            universal = claim.key in {"adp-epsilon-zero", "adp-alpha-errors"}  # whatever the data
            assert universal or claim.verdict in {"not reproducible", "added"}, (key, claim.key)


def test_usefulness_against_the_geometric_tail(found: Recomputed) -> None:
    """P(|noise| > α) = 2e^{−s(α+1)}/(1 + e^{−s})."""
    for key, s in (("d-privacy-example-1-delta-h", 1 / 5000), ("d-privacy-example-1-delta-1", 1 / 5)):
        assert value(found, key) == pytest.approx(2 * math.exp(-31 * s) / (1 + math.exp(-s)))


def test_figures_have_data_and_words(found: Recomputed) -> None:
    keys = [figure.key for figure in found.figures]
    assert len(keys) == len(set(keys))
    for figure in found.figures:
        assert len(figure.data)
        assert figure.title
        assert figure.printed
        assert figure.ours
        assert (figure.drawing is None) == (figure.height == 0)
    wanted = {f"adp-figure-{n}" for n in ("1", "2", "2-text", "3", "3-caption", "4-strict", "4-at-most", "5", "6")}
    wanted |= {f"d-privacy-figure-{n}" for n in range(1, 5)} | {"d-privacy-sensitivity-table", "d-privacy-optima"}
    wanted |= {f"one-sided-{name}" for name in ("halves", "sparse", "region", "amplification")}
    assert wanted <= set(keys)


def test_a_moved_claim_is_reported(found: Recomputed) -> None:
    wrong = Recomputed(False, [replace(found.claims[0], ours=found.claims[0].ours + 1), *found.claims[1:]])
    assert [claim.key for claim in wrong.moved] == [found.claims[0].key]
    assert wrong.to_dict()["moved"] == [found.claims[0].key]


def test_the_order_of_the_claims_is_that_of_the_papers(found: Recomputed) -> None:
    sources = [source for source, _ in itertools.groupby(claim.source for claim in found.claims)]
    assert sources == ["adp", "one-sided", "d-privacy"]
