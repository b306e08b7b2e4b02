"""Shuffled reports, in each direction: against all sequences of reports, and each sentence of the module and the guide.

The oracle goes through every sequence of reports in fractions, with e^ε rational; nothing of the package is in it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import pytest

import leeward as lw
from leeward.analysis import shuffled
from leeward.errors import InputError
from leeward.exact import exp, inf, log
from leeward.mechanism import FiniteMechanism, OSDPRandomizedResponse, mangat, urr, warner

Rows = Sequence[Sequence[Fraction]]
FACTORS = [Fraction(1, 2), Fraction(1), Fraction(5, 4), Fraction(2), Fraction(4), Fraction(10**6)]
"""e^ε of the curves."""
QUARTERS = [Fraction(part, 4) for part in range(5)]
COINS = [[[p, 1 - p], [q, 1 - q]] for p, q in itertools.product(QUARTERS, repeat=2)]
"""All 25 mechanisms of two records and two reports in quarters."""
THREE = [
    [[Fraction(a), Fraction(b), 1 - Fraction(a) - Fraction(b)] for a, b in rows]
    for rows in (
        [("1/2", "1/4"), ("1/4", "1/2"), ("1/4", "1/4")],
        [("1/2", "1/2"), ("1/4", "1/4"), ("0", "1/2")],
        [("1", "0"), ("1/2", "1/2"), ("1/4", "1/4")],
        [("2/3", "1/3"), ("1/3", "2/3"), ("1/3", "1/3")],
    )
]


def deltas(rows: Rows, people: int, before: int, after: int, factor: Fraction) -> dict[tuple[int, ...], Fraction]:
    """δ for each choice of the others' records, over all sequences of reports."""
    found = {}
    for others in itertools.combinations_with_replacement(range(len(rows)), people - 1):
        gains: Counter[tuple[int, ...]] = Counter()
        for reports in itertools.product(range(len(rows[0])), repeat=people):
            rest = Fraction(1)
            for record, report in zip(others, reports[1:], strict=True):
                rest *= rows[record][report]
            gains[tuple(sorted(reports))] += rest * (rows[before][reports[0]] - factor * rows[after][reports[0]])
        found[others] = sum((gain for gain in gains.values() if gain > 0), Fraction(0))
    return found


def made(rows: Rows) -> FiniteMechanism:
    return FiniteMechanism(range(len(rows)), range(len(rows[0])), rows)


@pytest.mark.parametrize("rows", COINS + THREE, ids=str)
def test_the_curve_is_that_of_all_sequences(rows: Rows) -> None:
    """Exactly, for 1 to 4 people, both ways, at six ε, with the worst others and with each."""
    for people, (before, after) in itertools.product(range(1, 5), itertools.permutations(range(2))):
        found = shuffled(made(rows), people, before, after)
        for factor in FACTORS:
            each = deltas(rows, people, before, after, factor)
            assert found.delta(log(factor)).rational == max(each.values())
            assert all(found.delta(log(factor), others[::-1]).rational == delta for others, delta in each.items())


@pytest.mark.parametrize("rows", COINS + THREE, ids=str)
def test_what_is_true_in_each_direction(rows: Rows) -> None:
    """The sentences of the module, for every mechanism of the grid."""
    for before, after in itertools.permutations(range(2)):
        curves = [shuffled(made(rows), people, before, after).curve(map(log, FACTORS)) for people in range(1, 5)]
        for fewer, more in itertools.pairwise(curves):  # it never costs
            assert all(more[e] <= fewer[e] for e in fewer)
        here, there = rows[before], rows[after]
        ruled_out = sum(p for p, q in zip(here, there, strict=True) if not q)
        for curve in curves:  # nothing is gained in the limit
            assert all(delta >= ruled_out for delta in curve.values())
            assert curve[log(FACTORS[-1])] == ruled_out
            back = shuffled(made(rows), 3, after, before).delta(0)
            assert shuffled(made(rows), 3, before, after).delta(0) == back
            assert back >= ruled_out
        if any(1 in row for row in rows):  # nothing is gained anywhere
            assert all(curve == curves[0] for curve in curves)
        ratios = [p / q for p, q in zip(here, there, strict=True) if q]
        if not ruled_out and max(ratios) > 1:  # ε alone is never amplified
            for people in range(1, 5):
                found = shuffled(made(rows), people, before, after)
                assert found.delta(log(max(ratios))) == 0
                assert found.delta(log(max(ratios) * Fraction(999, 1000))) > 0


def test_it_is_what_verify_finds_for_the_shuffled_matrix() -> None:
    """Warner of two people and their histogram as a finite mechanism: the same least δ, by another derivation."""
    both = FiniteMechanism.product([warner("1").on()] * 2).then(lambda reports: sum(reports))
    verdict = lw.verify(both, lw.notion.LocalDP("1/2").on(lw.notion.all_tables((False, True), 2)), delta=0)
    assert verdict.exact_needed == shuffled(warner("1").on(), 2, True, False).delta("1/2")


def sick(record: str) -> bool:
    return record in ("flu", "hiv")


def test_who_gains_and_who_does_not() -> None:
    """Noise on every record is amplified below ε; Mangat's and OSDP's reports are not; uRR in one direction."""
    for both_ways in itertools.permutations((False, True)):
        alone, many = (shuffled(warner("1").on(), n, *both_ways).delta("1/2") for n in (1, 6))
        assert many < alone * "1/3"
        alone, many = (shuffled(mangat("1").on(), n, *both_ways).delta("1/2") for n in (1, 6))
        assert many == alone
    osdp = OSDPRandomizedResponse("1", sick).on(("flu", "well"))
    for either in itertools.permutations(("flu", "well")):
        assert shuffled(osdp, 5, *either).delta("1/2") == shuffled(osdp, 1, *either).delta("1/2")
    several = urr("1", ("flu", "hiv", "well"), sick)
    protected = [shuffled(several, n, "flu", "well").delta("1/2") for n in range(1, 5)]
    assert all(more < fewer for fewer, more in itertools.pairwise(protected))
    given_away = [shuffled(several, n, "well", "flu").delta("5") for n in range(1, 5)]
    assert all(delta == several.probability("well", "well") for delta in given_away)


def test_others_who_are_known_to_have_noise_do_help() -> None:
    """Mangat's yes among people who are known to be a no: amplified; among people who are a yes: not at all."""
    found = shuffled(mangat("1").on(), 5, True, False)
    alone = 1 - exp("1/2") * exp("-1")
    assert found.delta("1/2", [True] * 4) == alone
    assert found.delta("1/2", [False] * 4) < alone * "1/2"
    assert found.delta("1/2") == alone


def test_what_is_refused() -> None:
    coin = warner("1").on()
    with pytest.raises(InputError, match="20,000 is the most"):
        shuffled(coin, 200, True, False)
    with pytest.raises(InputError, match="how many report"):
        shuffled(coin, 0, True, False)
    with pytest.raises(InputError, match="not a row"):
        shuffled(coin, 2, True, "maybe")
    found = shuffled(coin, 3, True, False)
    with pytest.raises(InputError, match="must be a finite number"):
        found.delta(inf)
    for others in ([True], [True, "maybe"], [True] * 3):
        with pytest.raises(InputError, match="there are 2, and each has one"):
            found.delta(1, others)
    assert "Weight" not in repr(found)
