"""Totals of hours, days and months from one tree: that they add up, what they cost, what is told and what is refused."""

from __future__ import annotations

import math
import re
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.local.test_series_job import frame, spec

from leeward.errors import BudgetConflictError, CapExceededError, InputError, LowUtilityError, RefusedError, SpecError
from leeward.exact import exact
from leeward.local import check_job
from leeward.local.series import Schedule, SeriesStatement, Totals, TotalsTree
from leeward.mechanism import _consistent
from leeward.mechanism._consistent import Consistency

ALL = {"what": "tree", "levels": ["month", "hour", "day"]}
PROTECT = {"between": "manhattan", "epsilon": "1", "unit": "1 kW", "within": None, "factor": None, "window": 1}


def asked(protect: dict[str, Any] | None = None, publish: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    made = spec(publish=ALL | (publish or {}), protect=PROTECT | (protect or {}), **more)
    for key in ("protect", "publish"):
        made[key] = {name: value for name, value in made[key].items() if value is not None}
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    frame().to_parquet(tmp_path / "r.parquet")
    return tmp_path


# ---- the calendar


def test_hours_lie_in_days_and_days_in_months_where_the_clocks_change() -> None:
    clock = Schedule("2026-03-28T00:30", "2026-04-02", "15 min", "Europe/Paris")
    hours, days, months = (clock.spans(per) for per in ("hour", "day", "month"))
    assert [day.readings for day in days] == [94, 92, 96, 96, 96]
    assert [(month.date.month, month.first, month.stop) for month in months] == [(3, 0, 378), (4, 378, 474)]
    assert [sum(day.first <= hour.first < day.stop for hour in hours) for day in days] == [24, 23, 24, 24, 24]
    assert hours[0].readings == 2
    assert {hour.readings for hour in hours[1:]} == {4}
    for narrow, wide in ((hours, days), (days, months), (months, clock.spans("period"))):
        assert {span.stop for span in wide} <= {span.stop for span in narrow}
    halves = Schedule("2026-04-04", "2026-04-06", "30 min", "Australia/Lord_Howe")  # its clocks change by half an hour
    assert [day.readings for day in halves.days] == [48, 49]
    assert [hour.readings for hour in halves.spans("hour")][-3:] == [2, 2, 1]


def test_hours_of_rarer_readings_are_refused() -> None:
    with pytest.raises(InputError, match="more than one hour"):
        Schedule("2026-03-28", "2026-03-30", "2 h").spans("hour")


@pytest.mark.sweep
def test_what_is_told_of_a_long_period_is_worked_out_once_for_each_length(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten years of hours took a quarter of a minute to tell of, and a century minutes: once a node, and once a sentence."""
    made = asked(publish={"levels": ["hour", "day", "month", "period"]})
    made["time"] |= {"start": datetime(2016, 1, 1), "end": datetime(2026, 1, 1), "every": "1 h"}
    worked, roots = list[str](), list[Fraction]()
    for of, name in ((Consistency, "deviations"), (Totals, "law")):
        before = getattr(of, name)

        def counted(*given: Any, before: Any = before, name: str = name) -> Any:
            worked.append(name)
            return before(*given)

        monkeypatch.setattr(of, name, counted)
    rooted = SimpleNamespace(sqrt=lambda value: (roots.append(value), math.sqrt(value))[1], lcm=math.lcm)
    monkeypatch.setattr(_consistent, "math", rooted)
    assert "87,672 hours" in dict(check_job(made, folder=folder).facts())["mean error"]
    assert worked.count("deviations") == 2, "of the tree, and of that of its level"
    assert worked.count("law") < 100
    monkeypatch.undo()
    days = Totals(check_job(made | {"publish": {"what": "readings"}}, folder=folder).series)
    assert days.price.total == 87_672, "1 for each hour, in days of three lengths"
    assert len(roots) < 3 * (3653 + 120 + 1)  # of hours, one for each day


# ---- what goes out


def test_the_table_has_every_level_and_every_whole_is_the_sum_of_its_parts(folder: Path) -> None:
    check_job(asked(), folder=folder).run(folder / "o.parquet", lambda *_: None)
    got = pq.read_table(folder / "o.parquet").to_pandas()
    assert list(got.columns) == ["meter", "level", "from", "readings_per_meter", "total_kWh"]
    assert got.groupby("meter")["level"].apply(list).iloc[0] == ["month"] + ["day"] * 2 + ["hour"] * 47
    steps = (got["total_kWh"] * 1000).round().astype(int)
    assert (got["total_kWh"] * 1000 - steps).abs().max() < 1e-6
    for _, one in got.assign(steps=steps).groupby("meter"):
        hours = one[one["level"] == "hour"].set_index("from")["steps"]
        days = one[one["level"] == "day"].set_index("from")["steps"]
        assert hours.groupby(hours.index.date).sum().tolist() == days.tolist()
        assert one[one["level"] == "month"]["steps"].tolist() == [days.sum()] == [hours.sum()]


def test_noise_of_almost_nothing_leaves_the_totals_and_groups_add_up(folder: Path) -> None:
    """At a rate of ln(10)/3 a step of 1 Wh, noise of 100 steps has a chance below 10⁻³², for each of fifty nodes."""
    sharp = {"epsilon": None, "unit": None, "within": "1 W", "factor": "10"}
    done = check_job(asked(sharp, {"by": "tariff"}), folder=folder).run(folder / "o.csv", lambda *_: None)
    got = pd.read_csv(folder / "o.csv")
    true = frame()["kw"].sum()
    assert abs(got[got["level"] == "month"]["total_kWh"].iloc[0] - true) < 0.1
    assert len(got) == 50
    assert any("published as they are" in note for note in done.notes)


def test_totals_of_one_hour_go_out_under_the_time_at_which_it_begins(folder: Path) -> None:
    made = asked(publish={"what": "totals", "levels": None, "per": "hour"})
    check_job(made, folder=folder).run(folder / "o.parquet", lambda *_: None)
    got = pq.read_table(folder / "o.parquet").to_pandas()
    assert list(got.columns) == ["meter", "hour", "readings_per_meter", "total_kWh"]
    assert got["hour"].iloc[:47].tolist() == frame()["time"].iloc[:47].dt.tz_convert("Europe/Paris").tolist()
    check_job(asked(publish={"what": "totals", "levels": None, "per": "month"}), folder=folder).run(
        folder / "m.parquet", lambda *_: None
    )
    assert pq.read_table(folder / "m.parquet")["month"].to_pylist()[0].isoformat() == "2026-03-28"


# ---- what is told


def test_the_statement_tells_the_price_of_all_levels_together_and_the_error_of_each(folder: Path) -> None:
    given = asked({"between": "maximum"}, {"shares": {"hour": "1/2", "day": "1/4", "month": "1/4"}})
    made = check_job(given, folder=folder).statement()
    assert SeriesStatement.model_validate_json(made.model_dump_json()) == made
    assert made.publishes == "tree of totals"
    assert exact(made.price.maximum_window) == 1  # for 1 kW that all 24 readings of a day move
    assert exact(made.price.manhattan) == exact("1/24")
    assert exact(made.price.maximum_total) == exact("47/24")
    assert made.mean_error.unit == "kWh"
    levels = made.mean_error.levels  # type: ignore[union-attr]
    assert [(each.level, each.spans, each.share) for each in levels] == [
        ("hour", 47, "1/2"),
        ("day", 2, "1/4"),
        ("month", 1, "1/4"),
    ]
    for each in levels:
        rate = float(exact(each.rate)) * 0.001  # a step is 1 W
        assert each.mean == pytest.approx(0.001 / math.sinh(rate), rel=1e-5)
        steps = round(each.within_95 * 1000)
        beyond = [2 * math.exp(-rate * (k + 1)) / (1 + math.exp(-rate)) for k in (steps, steps - 1)]
        assert beyond[0] <= 0.05 < beyond[1]
        assert each.deviation == pytest.approx(0.001 / math.sqrt(2) / math.sinh(rate / 2), rel=1e-5)
        assert each.consistent_deviation < each.deviation
    told = dict(check_job(given, folder=folder).facts())
    assert "47 hours: noise of at most" in told["mean error"]
    assert "hour 1/2, day 1/4, month 1/4" in told["mechanism"]


@pytest.mark.parametrize("between", ["maximum", "manhattan", "hamming"])
def test_the_rate_in_words_is_that_of_the_noise_of_each_level(between: Any) -> None:
    """Of two days of four readings from 0 to 8 kW, with ε = 1 for 1 kW, or for one reading; rates are for 1 kW."""
    from tests.flat_series import flat_series

    from leeward.local.series._tree_statement import statement_of_tree

    clock = {"start": "2026-03-01", "end": "2026-03-03", "every": "6 h"}
    unit = {} if between == "hamming" else {"unit": "1 kW"}
    series = flat_series(
        values="kW", between=between, epsilon="1", **unit, lower="0 kW", upper="8 kW", step="1 W", **clock
    )
    tree = TotalsTree(Totals(series), ("day", "period"), {"day": "3/4", "period": "1/4"})
    said = statement_of_tree(tree).mechanism.text
    told = re.search(r"of rate share·(ε(?:/n|/range)?)(?:, n the number of readings of the longest (\w+))?; ", said)
    assert told is not None, said
    assert (told[2] is None) == (told[1] != "ε/n")
    parts = {"ε": 1, "ε/range": 8, "ε/n": {"day": 4, "period": 8}.get(told[2] or "", 0)}[told[1]]
    assert "ε: day 3/4, period 1/4." in said
    for law, share in zip(tree.mechanism.laws, (3 / 4, 1 / 4), strict=True):
        assert float(law.law.up) == float(law.law.down) == pytest.approx(share / parts / 1000), "a step is 1 W"


def test_the_deviation_that_is_told_is_that_of_what_is_published() -> None:
    """Of 4000 meters without consumption; ±8 % is more than six standard errors of either, so 1 in 10⁸ runs fails."""
    import numpy as np
    from tests.flat_series import flat_series

    from leeward.local.series._readings import Readings
    from leeward.noise import SeededBitsForTests

    clock, grid = (
        {"start": "2026-03-01", "end": "2026-03-03", "every": "6 h"},
        {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
    )
    series = flat_series(values="kW", between="manhattan", epsilon="1", unit="1 kW", **clock, **grid)
    tree = TotalsTree(Totals(series), ("day", "period"))
    nobody = np.zeros(0, np.int64)
    empty = Readings(nobody, (), nobody, nobody, nobody, nobody.astype(bool), 0)
    made = tree.release(empty, nobody, 4000, SeededBitsForTests(17))
    for level, told in zip(made, tree.errors(), strict=True):
        assert tree.totals.values(level).std() == pytest.approx(told.consistent, rel=0.08)
        assert told.consistent < 0.95 * told.deviation


def test_what_is_told_of_totals_on_a_coarse_grid_counts_rounding() -> None:
    """By the exact law: all noise of a whole and two parts, each with its chance, but for less than one in a million."""
    import numpy as np
    from tests.flat_series import flat_series

    clock, grid = (
        {"start": "2026-03-01", "end": "2026-03-03", "every": "6 h"},
        {"lower": "0 kW", "upper": "8 kW", "step": "1 kW"},
    )
    series = flat_series(values="kW", between="manhattan", epsilon="1", unit="500 W", **clock, **grid)
    tree = TotalsTree(Totals(series), ("day", "period"))
    axis, ratio = np.arange(-16, 17), math.exp(-float(tree.mechanism.laws[0].law.up))
    noise = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    chance = np.prod((1 - ratio) / (1 + ratio) * ratio ** np.abs(noise), axis=1)
    published = tree.consistency([noise[:, :2], noise[:, 2:]])
    for made, told in zip(published, tree.errors(), strict=True):
        seen = np.sqrt(chance @ made.astype(float) ** 2).max() * float(tree.totals.step)
        assert 0.95 * told.consistent < seen < told.consistent
    exactly, over = tree.consistency.rationals([noise[:, :2], noise[:, 2:]])
    before = math.sqrt(chance @ (exactly[0][:, 0].astype(float) / over[0]) ** 2) * float(tree.totals.step)
    assert before < tree.errors()[0].consistent * 0.98, "without rounding it would be less"


def test_a_price_is_for_the_unit_that_is_promised_about(folder: Path) -> None:
    """ε = 1 for half a kW that all readings of a day move together; over two days, of 24 and 23 hours, 47/24."""
    made = check_job(asked({"between": "maximum", "unit": "500 W"}), folder=folder).statement()
    prices = made.price.maximum_window, made.price.manhattan, made.price.maximum_total
    assert [exact(price) for price in prices] == [1, exact("1/24"), exact("47/24")]


def test_what_rounding_costs_is_for_all_readings_of_the_period() -> None:
    from tests.flat_series import flat_series

    clock = {"start": "2026-03-01", "end": "2026-03-03", "every": "6 h"}
    grid = {"lower": "0 kW", "upper": "8 kW", "step": "1 W"}
    series = flat_series(values="kW", between="maximum", epsilon="1", unit="1 kW", **clock, **grid)
    tree = TotalsTree(Totals(series), ("day", "period"))
    step_of_all = float(tree.mechanism.price.readings) * 8 * 0.001  # each of eight readings is moved by a step at most
    assert float(tree.snapping) == pytest.approx(step_of_all, rel=1e-6)
    assert tree.snapping == exact(str(tree.mechanism.price.readings)) * 8 / 1000 * (1 + exact("1/1048576")), (
        "and floats"
    )


def test_shares_go_to_the_levels_that_they_name_in_whatever_order(folder: Path) -> None:
    shares = {"month": "1/2", "hour": "1/8", "day": "3/8"}
    made = check_job(asked(publish={"shares": shares}), folder=folder).statement()
    levels = made.mean_error.levels  # type: ignore[union-attr]
    assert {each.level: each.share for each in levels} == shares
    rates = {each.level: exact(each.rate) for each in levels}
    assert rates["month"] == rates["hour"] * 4 == rates["day"] * exact("4/3")


def test_a_series_with_bits_of_its_own_draws_from_them() -> None:
    import numpy as np
    from tests.flat_series import flat_series

    from leeward.local.series._readings import Readings
    from leeward.noise import SeededBitsForTests

    def drawn() -> list[list[int]]:
        series = flat_series(
            values="kW", between="manhattan", epsilon="1", unit="1 kW", lower="0 kW", upper="8 kW", step="1 W",
            start="2026-03-01", end="2026-03-03", every="6 h", bits=SeededBitsForTests(5),
        )  # fmt: skip
        nobody = np.zeros(0, np.int64)
        empty = Readings(nobody, (), nobody, nobody, nobody, nobody.astype(bool), 0)
        return [
            level.ravel().tolist() for level in TotalsTree(Totals(series), ("day", "period")).release(empty, nobody, 9)
        ]

    assert drawn() == drawn()


def test_a_short_span_does_not_make_its_level_useless() -> None:
    """Of days of 96 quarters, the first of one alone: its noise drowns that one, and not the others."""
    from tests.flat_series import flat_series

    clock = {"start": "2026-03-01T23:45", "end": "2026-03-04", "every": "15 min"}
    grid = {"lower": "0 kW", "upper": "8 kW", "step": "1 kW"}
    series = flat_series(values="kW", between="manhattan", epsilon="1", unit="80 kW", **clock, **grid)
    tree = TotalsTree(Totals(series), ("day", "period"))
    assert [span.readings for span in tree.spans[0]] == [1, 96, 96]
    whole_range = 8 * 0.25  # of a quarter of an hour, in kWh; refused is noise of more than ten times the range
    assert tree.errors()[0].mean > 10 * whole_range, "or this shows nothing"


# ---- what is refused


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"publish": {"levels": ["day"]}}, InputError, "two levels or more"),
        ({"publish": {"levels": ["day", "day"]}}, InputError, "two levels or more"),
        ({"publish": {"shares": {"hour": "1/2", "day": "1/2"}}}, InputError, "its levels are hour, day, month"),
        ({"publish": {"shares": {"hour": "1/2", "day": "1/2", "month": "1/2"}}}, InputError, "all of it together"),
        ({"publish": {"smooth": 3}}, SpecError, "they are for readings"),
        ({"publish": {"keep_columns": ["tariff"]}}, SpecError, "columns of their own"),
        ({"publish": {"what": "totals"}}, SpecError, "they are of a tree"),
        ({"publish": {"by": "kw"}}, SpecError, "published as they are"),
        ({"protect": {"level": "tariff", "levels": {"007": {}}}}, SpecError, "all nodes of a level have one law"),
        ({"protect": {"unit": "100 MW"}}, LowUtilityError, r"whole range is .*Take a larger ε, or another distance\.$"),
        (
            {
                "protect": {"unit": "50 kW"},
                "publish": {"levels": ["hour", "day"], "shares": {"hour": "1/9", "day": "8/9"}},
            },
            LowUtilityError,
            "fewer levels, or a larger share",
        ),
        ({"protect": {"unit": "0.1 W"}}, RefusedError, "totals"),
    ],
)
def test_what_cannot_be_a_tree_is_refused(
    changes: dict[str, Any], error: type[Exception], says: str, folder: Path
) -> None:
    with pytest.raises(error, match=says):
        check_job(asked(**changes), folder=folder)


def test_a_name_that_the_table_has_already_is_refused(folder: Path) -> None:
    frame().rename(columns={"meter": "level"}).to_parquet(folder / "r.parquet")
    with pytest.raises(SpecError, match="A column 'level' that names meters or groups"):
        check_job(asked(data={"meter": "level"}), folder=folder)


def test_a_tree_counts_against_the_budget_of_its_days(folder: Path) -> None:
    (folder / "key").write_bytes(b"0" * 16)
    (folder / "key").chmod(0o600)
    budget = {"store": "b.db", "secret": "key", "reports_a_day": 1}
    check_job(asked(budget=budget), folder=folder).run(folder / "o.csv", lambda *_: None, new=True)
    with pytest.raises(CapExceededError):
        check_job(asked(budget=budget), folder=folder).run(folder / "p.csv", lambda *_: None)
    assert not (folder / "p.csv").exists()


@pytest.mark.parametrize(
    "other",
    [
        {"levels": ["hour", "day"]},
        {"shares": {"hour": "1/2", "day": "1/4", "month": "1/4"}},
        {"what": "totals", "levels": None},
        {"per": "month"},
    ],
)
def test_a_store_of_one_tree_counts_no_other(other: dict[str, Any], folder: Path) -> None:
    (folder / "key").write_bytes(b"0" * 16)
    (folder / "key").chmod(0o600)
    budget = {"store": "b.db", "secret": "key", "reports_a_day": 2}
    equal = {"shares": {"month": "1/3", "day": "1/3", "hour": "1/3"}}
    check_job(asked(budget=budget), folder=folder).run(folder / "o.csv", lambda *_: None, new=True)
    check_job(asked(publish=equal, budget=budget), folder=folder).run(folder / "p.csv", lambda *_: None)  # the same one
    with pytest.raises(BudgetConflictError, match="another price"):
        check_job(asked(publish=other, budget=budget), folder=folder).run(folder / "q.csv", lambda *_: None)
    assert not (folder / "q.csv").exists()
