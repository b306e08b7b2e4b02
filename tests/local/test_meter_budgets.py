"""Budgets of meters: a day of a meter is published in so many runs, and not in one more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.private_files import write_private

from leeward.errors import BudgetConflictError, CapExceededError, DataError, LedgerError, LeewardError, SpecError
from leeward.ledger import PersonBudgets
from leeward.local import check_job

FIRST = datetime(2026, 3, 27, 23, tzinfo=UTC)  # midnight in Paris; the 29th has 23 hours
SECRET = bytes(range(32))
PRICE = "d_∞, log(2)/2 for each kW, independent noise on windows of 1 readings, 3600 s apart, steps of 1/1000 kW from 0 to 9"


def rows(days: Sequence[int], meters: Sequence[str] = ("m1", "m2")) -> pa.Table:
    hours = [FIRST + timedelta(hours=24 * day + hour) for day in days for hour in range(24)]
    held = [{"meter": meter, "time": at, "kw": 1.5} for meter in meters for at in hours]
    return pa.Table.from_pylist(
        held, pa.schema({"meter": pa.string(), "time": pa.timestamp("us", "UTC"), "kw": pa.float64()})
    )


def spec(first: int = 28, last: int = 30, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = {
        "perturb": {"kind": "series"},
        "data": {"table": "r.parquet", "time": "time", "value": "kw", "unit": "kW", "meter": "meter"},
        "time": {
            "start": f"2026-03-{first}T00:00:00",
            "end": f"2026-03-{last}T00:00:00",
            "every": "1 h",
            "zone": "Europe/Paris",
        },
        "values": {"lower": "0 kW", "upper": "9 kW", "step": "1 W", "missing": "keep"},
        "protect": {"within": "2 kW", "factor": "2"},
        "budget": {"store": "meters.db", "secret": "meters.key", "reports_a_day": 2},
    }
    for key, value in more.items():
        made[key] = {**made.get(key, {}), **value}
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_private(tmp_path / "meters.key", SECRET)
    pq.write_table(rows(range(2)), tmp_path / "r.parquet")
    return tmp_path


def run(folder: Path, out: str = "o.parquet", *, new: bool = False, **more: Any) -> pa.Table:
    done = check_job(spec(**more), folder=folder).run(folder / out, lambda *_: None, new=new)
    return pq.read_table(done.files[0])


def spent(folder: Path, meter: str, date: datetime, reports_a_day: int = 2) -> int:
    store = PersonBudgets(folder / "meters.db", secret=SECRET, price=PRICE, reports_a_day=reports_a_day)
    return store.spent(meter, (date - datetime(1970, 1, 1)).days)


def test_a_day_goes_out_in_as_many_runs_as_are_paid_for(folder: Path) -> None:
    run(folder, new=True)
    run(folder, "second.parquet")
    with pytest.raises(CapExceededError, match="more than 2 reports in a day"):
        run(folder, "third.parquet")
    assert not (folder / "third.parquet").exists()
    for day in (28, 29):
        assert spent(folder, "m1", datetime(2026, 3, day)) == 2


def test_days_are_those_of_the_clock_and_of_each_meter(folder: Path) -> None:
    """The 29th has 23 hours, and its readings pay for it; a meter that is not in a run pays nothing."""
    run(folder, new=True, first=28, last=29)
    pq.write_table(rows(range(2), ["m2"]), folder / "r.parquet")
    run(folder, "second.parquet", first=29, last=30)
    told = {(meter, day): spent(folder, meter, datetime(2026, 3, day)) for meter in ("m1", "m2") for day in (28, 29)}
    assert told == {("m1", 28): 1, ("m1", 29): 0, ("m2", 28): 1, ("m2", 29): 1}


def test_what_is_not_paid_for_is_withheld_and_nothing_is_made_of_it(folder: Path) -> None:
    once = {"reports_a_day": 1, "over": "withhold"}
    run(folder, new=True, first=28, last=29, budget=once)
    both = run(folder, "second.parquet", budget=once, publish={"smooth": 25})
    at = both["time"].to_pylist()
    there = [value is not None for value in both["kw"].to_pylist()]
    midnight = FIRST + timedelta(hours=24)
    assert there == [moment >= midnight for moment in at]
    none = run(folder, "third.parquet", budget=once)
    assert none["kw"].null_count == len(none)


def test_smoothing_takes_nothing_from_readings_that_are_withheld(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no noise the mean over two days would be one of both: of the first day everything is 9, of the second 0."""
    from leeward.mechanism._series import SeriesMechanism

    table = rows(range(2), ["m1"])
    values = [9.0 if at < FIRST + timedelta(hours=24) else 0.0 for at in table["time"].to_pylist()]
    pq.write_table(table.set_column(2, "kw", pa.array(values)), folder / "r.parquet")
    monkeypatch.setattr(SeriesMechanism, "release", lambda _self, windows, _bits=None: windows)
    once = {"reports_a_day": 1, "over": "withhold"}
    run(folder, new=True, first=28, last=29, budget=once)
    smoothed = run(folder, "second.parquet", budget=once, publish={"smooth": 25})
    assert {value for value in smoothed["kw"].to_pylist() if value is not None} == {0.0}
    (folder / "meters.db").unlink()
    mixed = run(folder, "third.parquet", new=True, budget=once, publish={"smooth": 25})
    assert len({*mixed["kw"].to_pylist()}) > 2, "or nothing would be smoothed"


def test_totals_pay_for_every_meter_of_a_group(folder: Path) -> None:
    pq.write_table(rows(range(2)).append_column("feeder", pa.array(["f"] * 96)), folder / "r.parquet")
    asked = {"publish": {"what": "totals", "by": "feeder"}, "budget": {"reports_a_day": 1}}
    run(folder, new=True, **asked)
    with pytest.raises(CapExceededError):
        run(folder, "second.parquet", **asked)
    pq.write_table(rows(range(2), ["m3"]).append_column("feeder", pa.array(["f"] * 48)), folder / "r.parquet")
    assert len(run(folder, "third.parquet", **asked)) == 2


@pytest.mark.parametrize(
    ("more", "kind", "said"),
    [
        ({"data": {"meter": None}}, SpecError, "budgets are kept for each meter"),
        ({"publish": {"what": "totals"}, "budget": {"over": "withhold"}}, SpecError, "would be another total"),
        ({"budget": {"reports_a_day": 0}}, LeewardError, "reports_a_day = 0"),
        ({"protect": {"within": "3 kW"}}, BudgetConflictError, "another price"),
        ({"protect": {"between": "manhattan"}}, BudgetConflictError, "another price"),
        ({"publish": {"what": "totals"}}, BudgetConflictError, "another price"),
        ({"time": {"every": "30 min"}}, BudgetConflictError, "another price"),
        ({"budget": {"reports_a_day": 3}}, BudgetConflictError, "another reports a day"),
        ({"time": {"zone": "Europe/London"}}, BudgetConflictError, "another days"),
        ({"budget": {"store": "others.db"}}, LedgerError, "is not there"),
    ],
)  # fmt: skip
def test_what_a_store_is_not_made_for_is_refused(
    more: dict[str, Any], kind: type[LeewardError], said: str, folder: Path
) -> None:
    run(folder, new=True)
    with pytest.raises(kind, match=said):
        run(folder, "second.parquet", **more)
    assert not (folder / "second.parquet").exists()


def test_a_run_that_fails_after_it_was_charged_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leeward.local.series._series import Series

    def broken(*_: Any) -> Any:
        raise DataError("Broken", "on purpose", "Mend it")

    monkeypatch.setattr(Series, "draw", broken)
    with pytest.raises(DataError) as failed:
        run(folder, new=True)
    assert "that stands: a second run pays again" in failed.value.__notes__[0]
    assert spent(folder, "m1", datetime(2026, 3, 28)) == 1


def test_a_meter_that_changed_its_level_has_cost_what_the_larger_epsilon_does(folder: Path) -> None:
    """Runs are counted, at whichever level they were: so the second is not said to be one of two careful ones."""
    protect = {"within": "2 kW", "factor": "2", "level": "tier", "levels": {"usual": {}, "careful": {"factor": "4/3"}}}
    for number, tier in enumerate(("usual", "careful")):
        table = rows(range(2))
        pq.write_table(table.append_column("tier", pa.array([tier] * len(table))), folder / "r.parquet")
        run(folder, f"{number}.parquet", new=not number, protect=protect)
    with pytest.raises(CapExceededError):
        run(folder, "2.parquet", protect=protect)
    told = check_job(spec(protect=protect), folder=folder).statement()
    assert told.budget is not None
    assert "2 times what is said here of one run, or of an earlier one that said more;" in told.budget.text


@pytest.mark.parametrize("change", [{"step": "1 kW"}, {"upper": "2 kW"}, {"lower": "-1 kW"}])
def test_what_rounding_and_bounds_cost_is_part_of_the_price(folder: Path, change: dict[str, str]) -> None:
    """A run in steps of 1 kW costs 8.3 more for rounding, and is not told as one of two that cost 0.008 more."""
    run(folder, new=True, values=change)
    with pytest.raises(BudgetConflictError, match="another price"):
        run(folder, "second.parquet")


def test_the_statement_says_how_often(folder: Path) -> None:
    told = check_job(spec(), folder=folder).statement().to_dict()
    assert told["budget"]["text"].startswith(
        "Readings of a day of a meter are published, or used for what is, in at most 2 runs;"
    )
    assert told["budget"]["text"].endswith("; what different runs publish of different days adds up")
    assert "A second run draws new noise and costs as much again" not in told["not_guaranteed"]
    without = check_job({key: part for key, part in spec().items() if key != "budget"}, folder=folder)
    assert without.statement().to_dict()["budget"] is None
    assert "A second run draws new noise and costs as much again" in without.statement().to_dict()["not_guaranteed"]
    opens = check_job(spec(), folder=folder).opens()
    assert opens is not None
    assert str(opens) == f"a new store of budgets, {folder / 'meters.db'}"
