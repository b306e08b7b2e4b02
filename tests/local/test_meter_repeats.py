"""A noisy reading of a meter and time is drawn once, and later runs show it again, at no further cost."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from tests.ledger.spent import spent_in
from tests.local.test_meter_budgets import SECRET, rows, spec
from tests.private_files import write_private

from leeward.errors import BudgetConflictError, CapExceededError, DataError, SpecError
from leeward.local import check_job
from leeward.local._job import Written
from leeward.local.series import _job
from leeward.local.series._statement import facts

REPEAT = {"repeat": {"store": "told.db", "secret": "meters.key"}, "budget": {"reports_a_day": 1}}
NORM = {"protect": {"window": 2, "noise": "norm"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_private(tmp_path / "meters.key", SECRET)
    pq.write_table(rows(range(2)), tmp_path / "r.parquet")
    return tmp_path


def done(folder: Path, out: str, *, new: bool = False, **more: Any) -> tuple[list[Any], Written]:
    """Return the noisy readings of a run, and what it tells."""
    written = check_job(spec(**{**REPEAT, **more}), folder=folder).run(folder / out, lambda *_: None, new=new)
    return pq.read_table(written.files[0])["kw"].to_pylist(), written


@pytest.mark.parametrize("more", [{}, NORM, {"publish": {"smooth": 3, "clamp": True}}], ids=["each", "norm", "smooth"])
def test_a_second_run_shows_the_same_and_costs_nothing(more: dict[str, Any], folder: Path) -> None:
    first, _ = done(folder, "1.parquet", new=True, **more)
    paid = spent_in(folder / "meters.db")
    again, told = done(folder, "2.parquet", **more)
    assert again == first
    assert len({*first}) > 10, "or no noise was drawn; that 94 draws have ten values has no chance"
    assert spent_in(folder / "meters.db") == paid
    assert set(paid.values()) == {1}
    assert not any("corrected" in note for note in told.notes)
    with pytest.raises(CapExceededError):  # without the store it would have been a second draw
        check_job(spec(**{**more, "budget": {"reports_a_day": 1}}), folder=folder).run(
            folder / "3.parquet", lambda *_: None
        )


def test_new_days_are_drawn_and_paid_for_and_old_ones_are_as_they_were(folder: Path) -> None:
    first, _ = done(folder, "1.parquet", new=True, first=28, last=29)
    both, _ = done(folder, "2.parquet")
    done(folder, "3.parquet", first=29)
    held = [pq.read_table(folder / name) for name in ("1.parquet", "2.parquet", "3.parquet")]
    one, two, three = ({(row["meter"], row["time"]): row["kw"] for row in table.to_pylist()} for table in held)
    assert {key: two[key] for key in one} == one
    assert two == one | three, "also where the period begins on another day"
    assert (len(first), len(both)) == (48, 94)
    assert set(spent_in(folder / "meters.db").values()) == {1}
    assert len(spent_in(folder / "meters.db")) == 4


def test_a_day_that_is_filled_in_later_is_paid_for_again_and_only_its_new_readings_are_drawn(folder: Path) -> None:
    whole = pq.read_table(folder / "r.parquet")
    pq.write_table(whole.slice(0, 12), folder / "r.parquet")
    first, _ = done(folder, "1.parquet", new=True, budget={"reports_a_day": 2}, **NORM)
    pq.write_table(whole, folder / "r.parquet")
    both, _ = done(folder, "2.parquet", budget={"reports_a_day": 2}, **NORM)
    assert both[:12] == first
    assert sorted(spent_in(folder / "meters.db").values()) == [1, 1, 1, 2]


def test_a_reading_that_was_corrected_is_shown_as_it_was_and_the_curator_is_told(folder: Path) -> None:
    first, _ = done(folder, "1.parquet", new=True)
    table = pq.read_table(folder / "r.parquet")
    other = pc.if_else(pa.array([place < 3 for place in range(len(table))]), 7.5, table["kw"])
    pq.write_table(table.set_column(2, "kw", other), folder / "r.parquet")
    again, told = done(folder, "2.parquet")
    assert again == first
    assert (
        "for the curator only: 3 readings corrected since they were drawn, and shown again as they were" in told.notes
    )


def test_meters_have_readings_of_their_own_and_no_reading_is_in_the_store(folder: Path) -> None:
    shown, _ = done(folder, "1.parquet", new=True)
    half = len(shown) // 2
    assert shown[:half] != shown[half:], "that 47 draws are equal has no chance"
    with closing(sqlite3.connect(folder / "told.db")) as raw:  # not the whole file: its header holds small numbers
        held = b"".join(part for row in raw.execute("SELECT asked, answer FROM memo") for part in row)
    assert held
    for number in (1500, *(round(value * 1000) for value in shown)):
        assert number.to_bytes(8, "little", signed=True) not in held


def test_a_meter_that_changes_its_level_is_drawn_anew(folder: Path) -> None:
    table = rows(range(2))
    levels = {"usual": {"factor": "2"}, "careful": {"factor": "3/2"}}
    asked: dict[str, Any] = {
        "protect": {"within": "2 kW", "factor": None, "level": "level", "levels": levels},
        "budget": {"reports_a_day": 2},
    }
    told, alone = (check_job(spec(**{**REPEAT, **more}), folder=folder).statement() for more in (asked, {}))
    assert [any("is drawn anew" in text for text in each.not_guaranteed) for each in (told, alone)] == [True, False]
    assert [dict(facts(each))["repeats"].endswith("time and level, drawn once") for each in (told, alone)] == [
        True,
        False,
    ]
    shown = []
    for number, level in enumerate(("usual", "careful", "usual")):
        named = pa.array([level] * 48 + ["usual"] * 48)
        pq.write_table(table.append_column("level", named), folder / "r.parquet")
        shown.append(done(folder, f"{number}.parquet", new=number == 0, **asked)[0])
    assert shown[0][47:] == shown[1][47:]
    assert shown[0][:47] != shown[1][:47], "that 47 draws are equal has no chance"
    assert shown[2] == shown[0]


def test_what_was_free_is_never_drawn_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store loses what it held between the charge and the draw."""
    done(folder, "1.parquet", new=True)
    real: Callable[..., Any] = _job.charge

    def charge(*given: Any) -> Any:
        with closing(sqlite3.connect(folder / "told.db")) as raw, raw:
            raw.execute("DELETE FROM memo")
        return real(*given)

    monkeypatch.setattr(_job, "charge", charge)
    with pytest.raises(DataError, match="forgot what it held"):
        done(folder, "2.parquet")
    assert not (folder / "2.parquet").exists()


def test_a_table_that_is_refused_makes_neither_store(folder: Path) -> None:
    """That of budgets was made before the table was read, and looked then as if the other had been moved away."""
    swapped = {"data": {"time": "kw", "value": "time"}}
    with pytest.raises(DataError, match="no times"):
        done(folder, "1.parquet", new=True, **swapped)
    assert not (folder / "meters.db").exists()
    assert not (folder / "told.db").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"data": {"meter": None}, "budget": None}, r"\[repeat\] without \[data\] meter"),
        ({"publish": {"what": "totals"}}, r"\[repeat\] with totals.*keep the file"),
        ({"publish": {"what": "tree", "levels": ["day", "month"]}}, r"\[repeat\] with totals.*keep the file"),
        ({"repeat": {"store": "meters.db", "secret": "meters.key"}}, "with one store"),
    ],
)
def test_what_cannot_be_remembered_is_refused_in_words(more: dict[str, Any], says: str, folder: Path) -> None:
    given = spec(**{**REPEAT, **{key: value for key, value in more.items() if value is not None}})
    given = {key: value for key, value in given.items() if key not in more or more[key] is not None}
    with pytest.raises(SpecError, match=says):
        check_job(given, folder=folder).run(folder / "o.parquet", lambda *_: None, new=True)


@pytest.mark.parametrize(
    "more", [{"protect": {"factor": "3"}}, {"values": {"step": "2 W"}}, {"values": {"upper": "8 kW"}}], ids=str
)
def test_readings_of_another_law_are_not_shown(more: dict[str, Any], folder: Path) -> None:
    done(folder, "1.parquet", new=True)
    (folder / "meters.db").unlink()
    with pytest.raises(BudgetConflictError, match=r"told\.db was made with another law"):
        done(folder, "2.parquet", new=True, **more)


def test_the_statement_tells_what_is_shown_again(folder: Path) -> None:
    told = check_job(spec(**REPEAT), folder=folder).statement().model_dump()
    alone = check_job(spec(), folder=folder).statement().model_dump()
    assert (told["repeats"], alone["repeats"]) == (True, False)
    assert any("A reading is drawn once" in text for text in told["not_guaranteed"])
    assert "An id is one meter's, for good" in told["assumptions"][-1]
    assert "drawn anew in at most 1 run" in told["budget"]["text"]
