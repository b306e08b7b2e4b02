"""[attacker] in a spec of series: what is told before, and what `leeward perturb --attack` finds after."""

from __future__ import annotations

import math
import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.flat_series import flat_series
from tests.local.test_series_job import frame, spec

from leeward.errors import DataError, InputError, LeewardError, RefusedError, SpecError
from leeward.local import check_job
from leeward.local.series import Appliance, Totals, TotalsTree
from leeward.local.series._appliance import Chances
from leeward.mechanism._consistent import Consistency
from leeward.noise import SeededBitsForTests

RUN = {"adds": ["100 W", "200 W"], "first": "2026-03-28T05:00"}
"""In the last hour of the first window of six, and in the first of the second."""

READINGS: dict[str, Any] = {}
TOTALS: dict[str, Any] = {"publish": {"what": "totals"}}
TREE: dict[str, Any] = {"publish": {"what": "tree", "levels": ["day", "month"]}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame().assign(tier=lambda f: np.where(f["meter"] == "m1", "b", "a")).to_parquet(tmp_path / "r.parquet")
    return tmp_path


def job(folder: Path, him: dict[str, Any] | None = None, **changes: Any) -> Any:
    return check_job(spec(attacker=RUN | (him or {}), **changes), folder=folder)


def attacked(folder: Path, him: dict[str, Any] | None = None, **changes: Any) -> list[str]:
    made = job(folder, him, **changes)
    if not (folder / "o.parquet").exists():
        made.run(folder / "o.parquet", lambda *_: None)
    found: list[str] = made.attack(folder / "o.parquet")
    assert all(note.startswith("for the curator only: ") for note in found)
    return found


# ---- before


def test_the_plan_tells_of_each_level_and_number_of_days(folder: Path) -> None:
    levels = {"level": "tier", "levels": {"a": {}, "b": {"within": "200 W"}}}
    made = job(folder, {"days": [2, 1]}, protect=levels).statement().attacker
    assert [(each.level, each.days, each.most) for each in made.sees] == [
        ("a", 1, "3*log(2)"),
        ("a", 2, "6*log(2)"),
        ("b", 1, "3*log(2)/2"),
        ("b", 2, "3*log(2)"),
    ]
    assert all(0.5 < each.right < 1 and each.right_by_squares is None for each in made.sees)
    assert made.sees[1].right == pytest.approx(made.sees[3].right + 0.08, abs=0.08)
    told = [text for title, text in job(folder, **TREE).facts() if title == "attacker"]
    assert len(told) == 2
    assert "before they add up" in told[0]
    # a share of a half of ln(2) for each 100 W over a day of 24 readings, at two levels: 300 W in all
    assert told[1].startswith(f"after 1 day with a run the odds are {math.ceil(2 ** (3 / 24) * 1000) / 1000} at most")
    assert "by least squares from published totals" in told[1]
    smooth = job(folder, publish={"smooth": 3}).statement().attacker
    assert "before anything is done with them" in smooth.text
    assert job(folder).statement().to_dict()["attacker"]["sees"][0]["days"] == 1
    assert check_job(spec(), folder=folder).statement().attacker is None


def house() -> TotalsTree:
    """Two days of six hours each, and both together: levels of unlike noise."""
    series = flat_series(
        values="W", between="manhattan", epsilon="1/2", unit="1 W", start="2026-03-01T18:00", end="2026-03-02T06:00",
        every="2 h", lower="0 W", upper="8 W", step="1 W",
    )  # fmt: skip
    return TotalsTree(Totals(series), ("day", "period"), {"day": "1/3", "period": "2/3"})


SIGNATURE: dict[str, Any] = {"adds": ["2 W", "1 W", "3 W"], "first": "2026-03-01T20:00"}


def test_the_guess_by_least_squares_is_the_same_of_noisy_totals_and_of_what_is_made_of_them() -> None:
    """The normal equations, over the rationals."""
    tree, attack = house(), Appliance(house(), **SIGNATURE)
    fit = Consistency(tree.consistency.starts, 2, tree.consistency.variances)
    rng = np.random.default_rng(1)
    weights = [1 / variance for variance, spans in zip(fit.variances, tree.spans, strict=True) for _ in spans]
    for _ in range(20):
        noisy = rng.integers(-50, 50, (1, 3))
        numerators, over = fit.rationals([noisy[:, :2], noisy[:, 2:]])
        made = [Fraction(int(n), w) for level, w in zip(numerators, over, strict=True) for n in level[0]]
        assert made[0] + made[1] == made[2]

        def weighed(totals: list[Any]) -> Fraction:
            each = zip(attack.moves.tolist(), totals, weights, strict=True)
            return sum((t * (2 * Fraction(c) - t) * w / 2 for t, c, w in each), Fraction(0))

        assert weighed(made) == weighed(noisy[0].tolist())
        assert float(weighed(noisy[0].tolist())) == pytest.approx(float(attack.weighed(noisy, noisy * 0)[0]))


def test_guesses_from_published_trees_are_right_as_often_as_told() -> None:
    """Of 20,000 houses, half with the run. Seeded; 0.02 is four standard errors of the difference, beside the rounding."""
    tree, attack = house(), Appliance(house(), **SIGNATURE)
    noise = tree.mechanism.release(np.zeros((20_000, 2), np.int64), SeededBitsForTests(3))
    shown = np.concatenate(tree.consistency(noise), axis=1)
    ran = np.arange(len(shown)) % 2 == 1
    shown[ran] += attack.moves
    weighed = attack.weighed(shown, np.zeros_like(shown))
    right = ((weighed > 0) == ran).mean() - ((weighed == 0) & ~ran).mean() / 2 + ((weighed == 0) & ran).mean() / 2
    told = attack.chances(20_000, SeededBitsForTests(4))
    assert isinstance(told, Chances)
    assert told.by_squares == pytest.approx(right, abs=0.02)
    assert told.by_squares is not None
    assert 0.6 < told.by_squares <= told.best + 0.01
    assert told.error < 0.005


def test_signatures_that_do_not_fit_are_refused_before_anything_is_read(folder: Path) -> None:
    for him, says in (
        ({"days": [3]}, "the period ends before"),
        ({"days": [0]}, "days"),
        ({"days": []}, r"days = \[\]"),
        ({"adds": ["1 Wh"]}, "Wh"),
        ({"first": "2026-03-28T05:30"}, "no reading of the period is due"),
        ({"adds": ["1 W"] * 25, "days": [2]}, "lasts at most a day"),
    ):
        with pytest.raises(LeewardError, match=says):
            job(folder, him)
    with pytest.raises(SpecError, match="first is missing"):
        check_job(spec(attacker={"adds": ["1 W"]}), folder=folder)


# ---- after


def percent(note: str) -> float:
    found = re.search(r"for (\d+\.\d)% likely", note)
    assert found
    return float(found[1]) / 100


@pytest.mark.parametrize("ran", [True, False])
@pytest.mark.parametrize("changes", [READINGS, TOTALS], ids=["readings", "totals"])
def test_beliefs_after_are_those_of_the_exact_odds(folder: Path, changes: dict[str, Any], ran: bool) -> None:
    (note,) = attacked(folder, {"ran": ran}, **changes)
    asked = flat_series(
        values="kW", within="100 W", factor="2", window=6, start="2026-03-28", end="2026-03-30", every="1 h",
        zone="Europe/Paris", lower="0 kW", upper="8 kW", step="1 W",
    )  # fmt: skip
    what = Totals(asked) if changes else asked
    # the last window has five readings, but the run is in the first two
    attack, before, after = Appliance(what, **RUN), frame(), pd.read_parquet(folder / "o.parquet")
    run = np.zeros(47)
    run[5:7] = 0.1, 0.2
    beliefs, right = [], 0
    for meter in ("m0", "m1", "m2"):
        quiet = before.loc[before["meter"] == meter, "kw"].to_numpy() - (run if ran else 0)
        if quiet.min() < 0:  # no bound moves what the attacker compares with: one higher, everything
            quiet, up = quiet + 1, 1.0
        else:
            up = 0.0
        shown = after.loc[after["meter"] == meter, after.columns[-1] if changes else "kw"].to_numpy()
        odds = attack.log_odds(shown + (up * np.array([24, 23]) if changes else up), quiet)
        beliefs.append(1 / (1 + math.exp(-odds if ran else odds)))
        right += odds > 0 if ran else odds < 0
    assert percent(note) == pytest.approx(np.mean(beliefs), abs=0.0006)
    assert f"that it {'ran' if ran else 'did not run'}, which is so, and would guess it for {right}" in note
    assert "1 day with a run, 3 meters" in note


def test_a_tree_is_bounded_and_guessed_by_least_squares(folder: Path) -> None:
    """Published as it was, without noise, the totals say that it ran, for all three meters; with the run, otherwise."""
    job(folder, **TREE).run(folder / "o.parquet", lambda *_: None)
    made, names = pd.read_parquet(folder / "o.parquet"), frame()
    day = names["time"].dt.tz_convert("Europe/Paris").dt.date
    for meter, one in names.groupby("meter"):
        days = one.groupby(day)["kw"].sum().tolist()
        made.loc[made["meter"] == meter, "total_kWh"] = [sum(days), *days]
    made.to_parquet(folder / "o.parquet")
    (note,) = attacked(folder, **TREE)
    assert "1 day with a run, 3 meters: by least squares he guesses that it ran, which is so, for 3;" in note
    assert note.endswith("but are 1.091 at most")
    made.assign(total_kWh=lambda f: f["total_kWh"] - 0.3 * f["from"].dt.day.eq(28)).to_parquet(folder / "o.parquet")
    assert "that it ran, which is so, for 0;" in attacked(folder, **TREE)[0]


def test_groups_levels_and_days_are_told_apart(folder: Path) -> None:
    levels = {"level": "tier", "levels": {"a": {}, "b": {"within": "200 W"}}}
    found = attacked(folder, {"days": [1, 2]}, protect=levels, publish={"what": "totals", "by": "tier"})
    heads = [note.split(":")[1].strip() for note in found]
    assert heads == [f"level {level}, {days} with a run, 1 group" for level in "ab" for days in ("1 day", "2 days")]
    (folder / "o.parquet").unlink()
    found = attacked(folder, protect=levels)
    assert [note.split(":")[1].strip() for note in found] == [
        "level a, 1 day with a run, 2 meters",
        "level b, 1 day with a run, 1 meter",
    ]


def test_meters_whose_readings_are_missing_are_left_out_and_counted(folder: Path) -> None:
    keep = {"values": {"missing": "keep"}}
    gaps = frame().assign(tier="a")
    gaps.loc[2, "kw"] = np.nan  # of m0, in the first window; of m1 long after the run; of m2 no row
    gaps.loc[47 + 40, "kw"] = np.nan
    gaps.drop(index=2 * 47 + 3).to_parquet(folder / "r.parquet")
    found = attacked(folder, **keep)
    assert "1 meter: he holds it" in found[0]
    assert "left out: 2 meters" in found[1]
    (folder / "o.parquet").unlink()
    found = attacked(folder, {"first": "2026-03-29T16:00"}, **keep, **TOTALS)
    assert ["2 meters: he holds it" in found[0], "left out: 1 meter," in found[1]] == [True, True]


@pytest.mark.parametrize(
    ("him", "changes", "error", "says"),
    [
        ({}, {"publish": {"smooth": 3}}, InputError, "something was done with"),
        ({"first": "2026-03-29T20:00"}, {}, InputError, "the end of the period cuts"),
        ({}, {"repeat": {"store": "m.db", "secret": "a.key"}}, RefusedError, "corrected since"),
    ],
)
def test_what_has_another_law_is_refused_after(
    folder: Path, him: dict[str, Any], changes: dict[str, Any], error: type[LeewardError], says: str
) -> None:
    with pytest.raises(error, match=says):
        job(folder, him, **changes).attack(folder / "r.parquet")


def test_files_that_the_spec_did_not_write_are_refused(folder: Path) -> None:
    with pytest.raises(SpecError, match=r"without \[attacker\]"):
        check_job(spec(), folder=folder).attack(folder / "r.parquet")
    attacked(folder, **TOTALS)
    made = pd.read_parquet(folder / "o.parquet")
    for changed in (
        made[1:],
        made.assign(meter=made["meter"].str.upper()),
        made.assign(readings_per_meter=24),
        made.assign(total_kWh=made["total_kWh"] + 0.0004),
    ):
        changed.to_parquet(folder / "p.parquet")
        with pytest.raises(DataError, match="not what this spec writes"):
            job(folder, **TOTALS).attack(folder / "p.parquet")
    with pytest.raises(DataError, match="readings_per_meter"):
        job(folder, **TOTALS).attack(folder / "r.parquet")
    frame()[1:].to_parquet(folder / "p.parquet")
    with pytest.raises(DataError, match="not what this spec writes"):
        job(folder).attack(folder / "p.parquet")


# ---- the guide


def test_the_guides_table_of_a_real_house_is_what_the_plan_tells() -> None:
    """Seeded; shares of 4,000 draws have a standard error of 0.004 at most, and 0.03 with rounding is six of these."""
    guide = (Path(__file__).parents[2] / "docs/guide/meters.md").read_text()
    given = tomllib.loads(guide.split('title="house.toml"\n')[1].split("```")[0])
    ways = {
        "readings, `window = 1`": ({"window": 1}, {}),
        "readings, `window = 48`, a day": ({"window": 48}, {}),
        "a total a day": ({}, {"what": "totals", "per": "day"}),
        "tree of days and period": ({}, given["publish"]),
    }
    for way, (protect, publish) in ways.items():
        lines = guide.splitlines()
        (at,) = (number for number, line in enumerate(lines) if line.startswith(f"| {way} |"))
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[at : at + 2]]
        made: Any = check_job(given | {"protect": given["protect"] | protect, "publish": publish})
        for attack, (_, _, days, most, right, _) in zip(made._attacks[None], rows, strict=True):
            assert attack.days == int(days)
            bound = float(most[2:]) if most.startswith("e^") else math.log(float(most))
            assert float(attack.most) <= bound < float(attack.most) * 1.002
            assert attack.chances(4_000, SeededBitsForTests(attack.days)).best == pytest.approx(
                float(right.removeprefix("over ").split()[0]) / 100, abs=0.03
            )
        said, number = made.statement().mean_error, float(rows[0][1].split()[0].replace(",", ""))
        if not publish:
            assert number == round(said.reading)
        else:
            mean = said.levels[0].mean if "levels" in publish else max(said.by_readings.values())
            assert number == pytest.approx(mean / 1000, abs=0.1)


# ---- the guide's house


def test_the_guides_four_ways_are_told_and_attacked_as_it_says() -> None:
    """Guesses of 2,000 seeded simulations, whose standard error is at most 0.56 %, beside half a percent of rounding."""
    guide = (Path(__file__).parents[2] / "docs/guide/meters.md").read_text()
    house = tomllib.loads(guide.split('```toml title="house.toml"')[1].split("```")[0])
    rows = [line.split("|")[1:-1] for line in guide.split("| published |")[1].split("\n\n")[0].splitlines()[2:]]
    assert len(rows) == 8
    asked: dict[str, Any] = {
        "readings, `window = 1`": {"publish": {}, "protect": house["protect"] | {"window": 1}},
        "readings, `window = 48`, a day": {"publish": {}, "protect": house["protect"] | {"window": 48}},
        "a total a day": {"publish": {"what": "totals", "per": "day"}},
        "tree of days and period": {},
    }
    way = ""
    for published, _, days, most, right in ([cell.strip() for cell in row[:5]] for row in rows):
        way = published or way
        (attack,) = (each for each in check_job(house | asked[way])._attacks[None] if each.days == int(days))  # type: ignore[attr-defined]
        told, odds = (float(most[2:]), float(attack.most)) if "e^" in most else (float(most), math.exp(attack.most))
        assert odds <= told < 1.001 * odds
        guessed = attack.chances(2_000, SeededBitsForTests(7)).best
        assert guessed > 0.99 if "over" in right else guessed == pytest.approx(float(right.split()[0]) / 100, abs=0.025)
