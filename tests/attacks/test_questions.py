"""Questions and budgets: another question pays, the same one does not, and no charge is lost to a second name."""

from __future__ import annotations

import datetime as dt
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leeward as lw
from leeward._progress import Progress, silent
from leeward.errors import DataError, LedgerError, SpecError
from leeward.ledger import Ledger, PersonBudgets
from leeward.query import Window

T = datetime(2026, 3, 2, 19, 30)
BERLIN = ZoneInfo("Europe/Berlin")


def released(folder: Path, source: Any, keys: Any, progress: Progress = silent) -> tuple[list[str], str]:
    """The states of a list's places, and what was charged."""
    seen = lw.visits(source, person="p", place="v", time="t")
    asked = lw.count_visitors(
        seen,
        lw.places(pa.table({"place": keys}), place="place"),
        start="2026-03-02T19:00",
        end="2026-03-02T20:00",
        places_per_person=1,
        if_more="latest",
    )
    budget = lw.Budget(str(folder / "b.db"), dataset="d", cap="20")
    plan = lw.plan(asked, lw.AdditionOnly("8"), lw.Decide(safe_at_most=2))
    found = lw.release(plan, budget, if_doubtful="publish", progress=progress)
    return found.answers["state"].to_pylist(), found.curator.charged


def test_two_lists_of_one_pattern_of_bits_are_two_questions(tmp_path: Path) -> None:
    """2⁶⁴ − 1 was answered with what was stored for −1: fifty people were safe, for nothing."""
    crowd = pa.table({"p": range(50), "v": pa.array([2**64 - 1] * 50, pa.uint64()), "t": [T] * 50})
    budget = {"small": pa.array([-1], pa.int64()), "large": pa.array([2**64 - 1], pa.uint64())}
    assert released(tmp_path, crowd, budget["small"])[1] == "8"
    assert released(tmp_path, crowd, budget["large"]) == (["obscure"], "8")
    assert released(tmp_path, crowd, pa.array([-1], pa.int8()))[1] == "0"


@pytest.mark.parametrize("how", ["written over", "another file", "a link led elsewhere"])
def test_a_file_that_changes_after_it_was_recognised_is_refused_or_not_read_again(tmp_path: Path, how: str) -> None:
    """Written over with the time of the last writing set back, the rows of the new file were counted as those of the old."""
    for name, place in (("old", "a"), ("new", "b")):
        pq.write_table(
            pa.table({"p": range(50), "v": [place] * 50, "t": [T] * 50}),
            tmp_path / f"{name}.parquet",
            compression="none",
            use_dictionary=False,
        )
    path, new = tmp_path / "x.parquet", (tmp_path / "new.parquet").read_bytes()
    if how == "a link led elsewhere":
        path.symlink_to(tmp_path / "old.parquet")
    else:
        shutil.copyfile(tmp_path / "old.parquet", path)
    before = path.stat()
    assert before.st_size == len(new)

    def change(stage: str) -> None:
        if stage != "counting":
            return
        if how == "written over":
            with path.open("r+b") as file:
                file.write(new)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        elif how == "another file":
            os.replace(tmp_path / "new.parquet", path)
        else:
            path.unlink()
            path.symlink_to(tmp_path / "new.parquet")

    if how == "a link led elsewhere":  # the file that it led to is still the one that was recognised
        assert released(tmp_path, str(path), ["a"], change) == (["obscure"], "8")
        return
    with pytest.raises(DataError, match="changed while"):
        released(tmp_path, str(path), ["a"], change)
    assert not any(account.spent for account in Ledger(f"sqlite:///{tmp_path / 'b.db'}").show())


def test_a_ledger_with_a_second_name_is_refused_and_a_symbolic_link_is_the_ledger(tmp_path: Path) -> None:
    """Two processes that wrote to one file under two names left it damaged, and what was charged in it was lost."""
    path, other = tmp_path / "b.db", tmp_path / "c.db"
    Ledger(f"sqlite:///{path}")
    os.link(path, other)
    shutil.copyfile(tmp_path / "b.db.mark", tmp_path / "c.db.mark") if (tmp_path / "b.db.mark").exists() else None
    for name in (path, other):
        with pytest.raises(LedgerError, match="hard link"):
            Ledger(f"sqlite:///{name}")
    other.unlink()
    other.symlink_to(path)
    Ledger(f"sqlite:///{other}")
    Ledger(f"sqlite:///{path}")


def test_the_budgets_of_people_with_a_second_name_are_refused(tmp_path: Path) -> None:
    known = {"secret": b"0123456789abcdef", "price": "1", "reports_a_day": 2, "new": True}
    PersonBudgets(tmp_path / "p.db", **known)  # type: ignore[arg-type]
    os.link(tmp_path / "p.db", tmp_path / "q.db")
    for name in ("p.db", "q.db"):
        with pytest.raises(LedgerError, match="hard link"):
            PersonBudgets(tmp_path / name, **known)  # type: ignore[arg-type]


def test_a_monitor_that_asks_a_window_twice_is_refused_before_it_is_charged(tmp_path: Path) -> None:
    """Its first round was charged and stored, and the second ended the run before anything was shown."""
    seen = lw.visits(pa.table({"p": [1], "v": ["a"], "t": [T]}), person="p", place="v", time="t")
    listed = lw.places(pa.table({"place": ["a"]}), place="place")
    one = lw.count_visitors(seen, listed, start="2026-03-02T19:00", end="2026-03-02T20:00")
    plans = [lw.plan(one, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), mechanism="sanitized")] * 2
    budget = lw.Budget(str(tmp_path / "b.db"), dataset="d", cap="9")
    with pytest.raises(SpecError, match="one window twice"):
        lw.monitor(plans, budget)
    assert not (tmp_path / "b.db").exists()


@pytest.mark.parametrize(
    ("start", "end", "sound"),
    [
        (datetime(2026, 10, 25, 2, 45, tzinfo=BERLIN), datetime(2026, 10, 25, 2, 15, fold=1, tzinfo=BERLIN), True),
        (datetime(2026, 10, 25, 2, 45, tzinfo=BERLIN), datetime(2026, 10, 25, 2, 45, fold=1, tzinfo=BERLIN), True),
        (datetime(2026, 10, 25, 2, 45, fold=1, tzinfo=BERLIN), datetime(2026, 10, 25, 2, 50, tzinfo=BERLIN), False),
        (datetime(2026, 10, 25, 2, 45, fold=1, tzinfo=BERLIN), datetime(2026, 10, 25, 1, 45, tzinfo=UTC), False),
        (datetime(1, 1, 2, tzinfo=dt.timezone(timedelta(hours=9))), datetime(9999, 12, 31, tzinfo=UTC), True),
        (datetime(2026, 1, 1), datetime(2026, 1, 1), False),
    ],
)
def test_a_window_of_an_hour_that_comes_twice_begins_before_it_ends(
    start: datetime, end: datetime, sound: bool
) -> None:
    """From the second 2:45 to the first 2:50 was a window, in which nobody ever was."""
    if sound:
        Window(start, end)
        return
    with pytest.raises(SpecError, match="empty or reversed"):
        Window(start, end)
