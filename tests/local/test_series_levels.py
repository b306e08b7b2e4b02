"""Each meter's own ε for its readings: drawn at its level, stated level by level, and exactly so between two levels."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.spec.outcome import merged

from leeward.errors import DataError, InputError, LeewardError, LowUtilityError, RefusedError
from leeward.exact import Weight, exp, log
from leeward.local import check_job
from leeward.local.series import Closeness, PostProcessing, ReadingGrid, Schedule, SeriesLevels, Totals
from leeward.local.series._readings import Columns, read_readings
from leeward.noise import SeededBitsForTests

DAYS, METERS = 20, 40
GRID, CLOCK = ReadingGrid("kW", "0 kW", "8 kW", "1 W"), Schedule("2026-03-01", f"2026-03-{DAYS + 1}", "1 h")
USUAL, CAREFUL = (Closeness("maximum", within=f"{watts} W", factor=2, window=4) for watts in (100, 400))
LEVELS = {"usual": USUAL, "careful": CAREFUL}
SPEC: dict[str, Any] = {
    "perturb": {"kind": "series"},
    "data": {"table": "r.parquet", "meter": "meter", "time": "time", "value": "kw", "unit": "kW"},
    "time": {"start": "2026-03-01", "end": f"2026-03-{DAYS + 1}", "every": "1 h"},
    "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
    "protect": {
        "within": "100 W",
        "factor": "2",
        "window": 4,
        "level": "tier",
        "levels": {"usual": {}, "careful": {"within": "400 W"}},
    },
}


def job(folder: Path = Path(), /, **change: Any) -> Any:
    return check_job(merged(SPEC, change), folder=folder)


def ran(folder: Path, /, **change: Any) -> pd.DataFrame:
    job(folder, **change).run(folder / "o.parquet", lambda *_: None)
    return pd.read_parquet(folder / "o.parquet")


def frame() -> pd.DataFrame:
    """Meters that always read 3 kW, every other one careful, in an order that is not theirs."""
    hours = pd.date_range("2026-03-01", periods=24 * DAYS, freq="1h")
    rows = pd.DataFrame(itertools.product(range(METERS), hours), columns=["meter", "time"]).assign(kw=3.0)
    rows["tier"] = np.where(rows["meter"] % 2, "careful", "usual")
    rows["feeder"] = "f" + (rows["meter"] // 4).astype(str)
    return rows.sample(frac=1, random_state=5, ignore_index=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame().to_parquet(tmp_path / "r.parquet")
    return tmp_path


def windows(table: pd.DataFrame, tier: str) -> np.ndarray:
    """The largest move of each window of the meters of a level, in kW."""
    rows = table[table["tier"] == tier].sort_values(["meter", "time"])
    found: np.ndarray = np.abs(rows["kw"].to_numpy() - 3).reshape(-1, 4).max(axis=1)
    return found


def fits(table: pd.DataFrame, within: dict[str, float]) -> bool:
    """Whether the mean of the largest move is right for norm noise of rate ln 2/within, 5 standard deviations either side.

    On a fine grid that move is Gamma(4) of the rate: mean 4/rate, deviation 2/rate. A false alarm in 6e-7 a level (normal);
    the grid of 1 W moves the mean by less than a thousandth, which is allowed for.
    """
    for tier, kilowatts in within.items():
        moves, rate = windows(table, tier), math.log(2) / kilowatts
        if abs(moves.mean() * rate - 4) > 5 * 2 / math.sqrt(len(moves)) + 0.02:
            return False
    return True


# ---- what is drawn


@pytest.mark.statistical
def test_readings_are_drawn_at_the_level_of_their_meter(folder: Path) -> None:
    """In files and in frames; and levels that were exchanged, or all the same, are told apart."""
    asked = SeriesLevels(LEVELS, GRID, CLOCK, bits=SeededBitsForTests(3))
    with pytest.warns(UserWarning, match="that they say: feeder"):
        made = asked.perturb(frame(), time="time", value="kw", meter="meter", level="tier")
    for table in (ran(folder), made):
        assert table.drop(columns="kw").equals(frame().drop(columns="kw"))
        assert fits(table, {"usual": 0.1, "careful": 0.4})
        assert not fits(table, {"usual": 0.4, "careful": 0.1})
        assert not fits(table, {"usual": 0.1, "careful": 0.1})
        assert not fits(table, {"usual": 0.4, "careful": 0.4})


@pytest.mark.filterwarnings("ignore")
def test_a_prior_is_weighed_against_the_noise_of_each_level() -> None:
    """Two possible readings: where the noise is narrow the nearer is guessed, where it is wide the likelier."""
    grid, prior = ReadingGrid("W", "0 W", "20 W", "1 W"), PostProcessing(prior=[("3", "1"), ("17", "20")])
    asked = {"sharp": Closeness("manhattan", "5/2", "1 W"), "wide": Closeness("manhattan", "1/10", "1 W")}
    levels = SeriesLevels(asked, grid, Schedule("2026-03-01", "2026-03-02", "1 h"), post_processing=prior)
    rows = pd.DataFrame({"time": pd.date_range("2026-03-01", periods=24, freq="1h"), "kw": 3})
    table = pd.concat([rows.assign(meter=name, tier=name) for name in asked], ignore_index=True)
    made = levels.perturb(table, time="time", value="kw", meter="meter", level="tier")
    assert set(made.loc[made["tier"] == "sharp", "kw"]) == {3}  # a reading must move by 7: 48 e^-17.5 < 2e-6
    assert set(made.loc[made["tier"] == "wide", "kw"]) == {17}


# ---- what is promised, exactly


SMALL = SeriesLevels(
    {"a": Closeness("maximum", "1/2", "1 W", window=2), "b": Closeness("maximum", factor=3, within="1 W", window=2)},
    ReadingGrid("W", "0 W", "2 W", "1 W"),
    Schedule("2026-03-01", "2026-03-02", "1 h"),
)
PAIRS = list(itertools.product(range(3), repeat=2))
OUTPUTS = list(itertools.product(range(-2, 5), repeat=2))


def chance(level: str, truth: tuple[int, ...], shown: tuple[int, ...]) -> Weight:
    """The weight of noise on a window by its definition, e^(−ε·largest move), but for a constant of the level."""
    epsilon = {"a": log(exp("1/2")), "b": log(3)}[level]
    return exp(-epsilon * max(abs(z - x) for x, z in zip(truth, shown, strict=True)))


@pytest.mark.sweep
@pytest.mark.parametrize(("one", "other"), [*itertools.product("ab", repeat=2)])
def test_two_people_of_any_levels_are_held_to_the_sum_of_their_own_distances_and_no_less(one: str, other: str) -> None:
    """Over all ordered pairs of pairs of windows: the worst ratio over outputs is e to the sum, and it is reached."""
    own = {level: series.mechanism for level, series in SMALL.each.items()}
    worst = {
        level: {
            (x, y): max((chance(level, x, z) / chance(level, y, z) for z in OUTPUTS), key=float)
            for x, y in itertools.product(PAIRS, repeat=2)
        }
        for level in {one, other}
    }
    for level, found in worst.items():
        for (x, y), ratio in found.items():
            assert ratio == exp(own[level].distance(x, y)), (level, x, y)
    for x, y in itertools.product(PAIRS, repeat=2):
        exchanged = worst[one][x, y] * worst[other][y, x]
        assert exchanged == exp(SMALL.exchange(one, other) * max(abs(a - b) for a, b in zip(x, y, strict=True)))


def test_the_mechanisms_have_these_weights() -> None:
    """The oracle's weights are those of the mechanisms, but for one constant a level."""
    for level, series in SMALL.each.items():
        matrix = series.mechanism.on(PAIRS)
        inner = [z for z in OUTPUTS if z in set(matrix.outputs)]
        assert len(inner) > 8
        constants = {
            round(float(matrix.probability(x, z) / chance(level, x, z)), 9) for x, z in itertools.product(PAIRS, inner)
        }
        assert len(constants) == 1, level


def test_that_somebody_had_another_level_is_covered_by_no_number() -> None:
    """The ratio of the careful to the other grows with the output, whatever the readings are."""
    ratios = [chance("a", (0, 0), (z, z)) / chance("b", (0, 0), (z, z)) for z in (5, 50, 500)]
    assert float(ratios[0]) > 19
    assert float(ratios[1]) > 1e12
    assert float(ratios[2]) > 1e100


def test_the_exchange_is_told_for_every_two_levels_in_one_unit() -> None:
    three = {**LEVELS, "open": Closeness("maximum", "1", "1 kW", window=4)}
    levels = SeriesLevels(three, GRID, CLOCK)
    assert levels.exchange("usual", "careful") == log(2) * 10 + log(2) * Fraction(5, 2)
    assert levels.exchange("careful", "open") == log(2) * Fraction(5, 2) + 1
    made = job(
        protect={"levels": {"usual": {}, "careful": {"within": "400 W"}, "open": {"epsilon": "1", "unit": "1 kW"}}}
    )
    told = made.statement().levels
    assert {(each.levels, each.epsilon, each.per) for each in told.exchanges} == {
        (pair, str(levels.exchange(*pair)), "1 kW") for pair in itertools.combinations(three, 2)
    }


def test_the_statement_tells_each_level_and_promises_all_what_the_weakest_has() -> None:
    made = job().statement()
    assert made.promise.asked == 'within="100 W", factor="2"'
    assert [(each.name, each.promise.asked) for each in made.levels.each] == [
        ("usual", 'within="100 W", factor="2"'),
        ("careful", 'within="400 W", factor="2"'),
    ]
    assert made.levels.column == "tier"
    one_level = {"level": None, "levels": None}
    alone = {watts: job(protect={"within": f"{watts} W", **one_level}) for watts in (100, 400)}
    for each, watts in zip(made.levels.each, (100, 400), strict=True):
        own = alone[watts].statement()
        parts = ("promise", "price", "snapping", "mechanism", "mean_error")
        assert [getattr(each, part) for part in parts] == [getattr(own, part) for part in parts]
        assert own.levels is None
    assert made.options == ()
    assert "at the ε of its level" in made.unit
    assert any("'tier'" in each and "does not follow from its readings" in each for each in made.assumptions)
    assert "which meter has which is not protected" in made.not_guaranteed[-1]
    said = dict(job().facts())
    assert said["level careful"].startswith("ε = log(2) for each 400 W; a reading on the grid is off by")
    assert "had another level is not covered at all" in said["between levels"]


def test_what_a_level_leaves_out_is_the_sections_own() -> None:
    asked = {"a": {"factor": "4"}, "b": {"epsilon": "1", "unit": "1 kW"}, "c": {"within": "1 kW"}, "d": {}}
    levels = job(protect={"levels": asked}).levels.each
    rates = {name: series.mechanism.epsilon for name, series in levels.items()}
    assert rates == {"a": log(4) * 10, "b": 1, "c": log(2), "d": log(2) * 10}
    by_unit = {"within": None, "factor": None, "epsilon": "2", "unit": "1 kW"}
    asked = {"a": {"within": "100 W", "factor": "2"}, "b": {"epsilon": "1"}, "c": {"unit": "2 kW"}}
    levels = job(protect=by_unit | {"levels": asked}).levels.each
    assert [levels[name].mechanism.epsilon for name in "abc"] == [log(2) * 10, 1, 1]
    per_reading = {"within": None, "factor": None, "between": "hamming", "window": 1, "epsilon": "8"}
    made = job(protect=per_reading | {"levels": {"a": {}, "b": {"epsilon": "4"}}}).statement()
    assert [each.promise.epsilon for each in made.levels.each] == ["8", "4"]
    assert made.levels.exchanges[0].per == "reading"


# ---- totals


def test_a_group_of_several_levels_takes_the_smallest_epsilon() -> None:
    """Beside a slow count by hand, for each set of levels in a group."""
    three = {"usual": USUAL, "careful": CAREFUL, "open": Closeness("maximum", "1000", "1 kW", window=4)}
    levels = SeriesLevels(three, GRID, CLOCK)
    careful_first = [1, 0, 2]
    for held in itertools.product(range(3), repeat=3):
        for groups in itertools.product(range(2), repeat=3):
            if set(groups) != {0, 1}:
                continue
            found = levels.of_groups(np.array(held), np.array(groups), 2).tolist()
            own = [[level for level, at in zip(held, groups, strict=True) if at == group] for group in range(2)]
            assert found == [next(level for level in careful_first if level in each) for each in own]


def test_totals_are_drawn_at_the_level_of_their_group(monkeypatch: pytest.MonkeyPatch) -> None:
    table = frame()
    levels = SeriesLevels(LEVELS, GRID, CLOCK)
    readings = read_readings(pa.Table.from_pandas(table), Columns("time", "kw", "meter"), GRID, CLOCK, "refuse")
    totals = {name: Totals(series, "day") for name, series in levels.each.items()}
    tag = {id(one): number for number, one in enumerate(totals.values())}

    def seen(self: Totals, held: Any, group: Any, groups: int, bits: Any = None) -> Any:
        return self.true(held, group, groups) * 10 + tag[id(self)]

    monkeypatch.setattr(Totals, "release", seen)
    own = levels.of(readings, pa.chunked_array([table["tier"]]), "tier")
    found = levels.release_totals(totals, readings, np.arange(METERS) % 2, readings.meter)
    assert (own == np.array(readings.meter) % 2).all()
    assert found.tolist() == [[24 * 3000 * 10 + meter % 2] * DAYS for meter in range(METERS)]


@pytest.mark.statistical
def test_the_table_of_totals_names_the_level_that_each_was_drawn_at(folder: Path) -> None:
    """Of each meter its own, of a feeder of both the careful one.

    Two-sided geometric noise on a fine grid: E|noise| = 1/rate. Its deviation is 1/rate too: five of them over the root
    of the count either side, a false alarm in 6e-7 (normal).
    """
    made = ran(folder, publish={"what": "totals"})
    assert list(made.columns) == ["meter", "tier", "day", "readings_per_meter", "total_kWh"]
    assert (made["tier"] == np.where(made["meter"] % 2, "careful", "usual")).all()
    for tier, kilowatts in {"usual": 0.1, "careful": 0.4}.items():
        off = (made.loc[made["tier"] == tier, "total_kWh"] - 72).abs()
        assert abs(off.mean() * math.log(2) / 24 / kilowatts - 1) < 5 / math.sqrt(len(off)) + 0.01, tier
    fed = ran(folder, publish={"what": "totals", "by": "feeder"})
    assert set(fed["tier"]) == {"careful"}
    off = (fed["total_kWh"] - 4 * 72).abs()
    assert abs(off.mean() * math.log(2) / 24 / 0.4 - 1) < 5 / math.sqrt(len(off)) + 0.01
    by_level = ran(folder, publish={"what": "totals", "by": "tier"})
    assert list(by_level.columns) == ["tier", "day", "readings_per_meter", "total_kWh"]
    said = job(publish={"what": "totals", "by": "feeder"}).statement()
    assert said.post_processing[-1] == "A total of meters of several levels has the noise of the smallest ε among them"
    assert [each.mean_error.by_readings[24] for each in said.levels.each] == sorted(
        each.mean_error.by_readings[24] for each in said.levels.each
    )


# ---- what is refused


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protect": {"level": None}}, "Give both: level"),
        ({"protect": {"levels": None}}, "Give both: level"),
        ({"protect": {"levels": {}}}, "there is none"),
        ({"protect": {"levels": {"usual": {}, "": {}}}}, "one without a name"),
        ({"protect": {"level": "meter"}}, "it is the column of meters, of times or of readings"),
        ({"protect": {"level": "kw"}}, "it is the column of meters, of times or of readings"),
        ({"data": {"meter": None}}, "[protect] levels without [data] meter"),
        ({"protect": {"levels": {"usual": {"window": 6}}}}, "this key is not known"),
        ({"protect": {"levels": {"usual": {}, "odd": {"within": "1 Wh"}}}}, "1 Wh"),
        (
            {"publish": {"what": "totals"}, "protect": {"level": "readings_per_meter"}},
            "A column 'readings_per_meter' that names levels",
        ),
    ],
)
def test_what_does_not_go_with_levels_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LeewardError) as refused:
        job(**change)
    assert said in str(refused.value)


@pytest.mark.parametrize("what", ["readings", "totals"])
def test_a_level_that_shows_readings_or_says_nothing_is_refused_though_others_are_fit(what: str) -> None:
    for level, kind in (({"epsilon": "9999", "unit": "1 W"}, RefusedError), ({"within": "400 MW"}, LowUtilityError)):
        with pytest.raises(kind):
            job(protect={"levels": {"usual": {}, "odd": level}}, publish={"what": what})


@pytest.mark.parametrize("odd", ["secretive", None, "7"])
def test_a_level_that_is_not_listed_is_refused_and_not_told(folder: Path, odd: Any) -> None:
    table = frame().astype({"tier": object})
    table.loc[table["meter"] == 3, "tier"] = odd
    table.to_parquet(folder / "r.parquet")
    with pytest.raises(DataError, match="480 rows with a level in 'tier' that is not listed, or none") as refused:
        ran(folder)
    assert "secretive" not in str(refused.value)
    assert not (folder / "o.parquet").exists()


def test_a_meter_has_one_level(folder: Path) -> None:
    table = frame()
    table.loc[7, "tier"] = "usual" if table.loc[7, "tier"] == "careful" else "careful"
    table.to_parquet(folder / "r.parquet")
    with pytest.raises(DataError, match="may follow from their readings"):
        ran(folder)


def test_rows_that_are_left_out_have_no_level(folder: Path) -> None:
    """And a file of text is read alike; numbers may name levels."""
    table = frame()
    table["tier"] = (table["meter"] % 2).astype(object)
    table.loc[table["time"] < "2026-03-02", "tier"] = 9
    table.astype({"tier": int}).to_csv(folder / "r.csv", index=False)
    change = {
        "data": {"table": "r.csv"},
        "time": {"start": "2026-03-02"},
        "protect": {"levels": {"0": {}, "1": {"within": "1 kW"}}},
    }
    job(folder, **change).run(folder / "o.csv", lambda *_: None)
    assert len(pd.read_csv(folder / "o.csv")) == METERS * 24 * (DAYS - 1)


def test_levels_in_python_share_all_but_epsilon() -> None:
    with pytest.raises(InputError, match="Levels without names, or none"):
        SeriesLevels({}, GRID, CLOCK)
    with pytest.raises(InputError, match="different distances or windows"):
        SeriesLevels({"a": USUAL, "b": Closeness("maximum", "1", "1 kW")}, GRID, CLOCK)
    with pytest.raises(InputError, match="One column named twice"):
        SeriesLevels(LEVELS, GRID, CLOCK).perturb(frame(), time="time", value="kw", meter="meter", level="meter")
    with pytest.raises(DataError, match="'rank'"):
        SeriesLevels(LEVELS, GRID, CLOCK).perturb(frame(), time="time", value="kw", meter="meter", level="rank")
