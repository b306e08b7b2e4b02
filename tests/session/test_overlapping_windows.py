"""What `check` says of several windows, whatever their order and however they overlap, is what a count by hand gives.

Rows in two windows hid rows in none: how many are outside is not told where windows overlap.
"""

from __future__ import annotations

import itertools
from datetime import date, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import leeward as lw
from leeward.planner import plan
from leeward.session._check import check_planned as check

DAYS = [datetime(2026, 3, 1) + timedelta(days=i // 10) for i in range(100)]
SPANS = [(1, 9), (2, 10), (6, 8), (1, 3), (2, 3), (1, 11), (4, 5)]


@pytest.mark.parametrize("spans", [*itertools.permutations(SPANS, 2), SPANS[:3], SPANS[::-1]], ids=str)
def test_rows_outside_all_windows_are_those_in_none(spans: list[tuple[int, int]], tmp_path: Path) -> None:
    table = lw.records(pa.table({"who": list(range(100)), "x": [1] * 100, "at": DAYS}), person="who", time="at")
    day = lambda at: date(2026, 3, at)  # noqa: E731
    asked = [lw.statistic(table, "sum", column="x", lower=0, upper=1, start=day(a), end=day(b)) for a, b in spans]
    found = check([plan(each, lw.AdditionOnly("1")) for each in asked], lw.Budget(str(tmp_path / "b"), "d", cap="99"))
    inside = [any(a <= moment.day < b for a, b in spans) for moment in DAYS]
    apart = all(b <= c for (_, b), (c, _) in itertools.pairwise(sorted(spans)))
    assert found.dropped.get("outside_window") == (inside.count(False) if apart else None)


@pytest.mark.parametrize("spans", [[(6, 8), (1, 3)], [(1, 11), (2, 3)], [(1, 3), (6, 8)]], ids=str)
def test_windows_run_from_the_earliest_start_to_the_latest_end(spans: list[tuple[int, int]], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from leeward.cli import app

    pq.write_table(pa.table({"who": list(range(100)), "x": [1] * 100, "at": DAYS}), tmp_path / "t.parquet")
    listed = ", ".join(f"{{ start = 2026-03-{a:02d}, end = 2026-03-{b:02d} }}" for a, b in spans)
    (tmp_path / "s.toml").write_text(f"""
[data]
table = "t.parquet"
person = "who"
time = "at"
[query]
kind = "sum"
column = "x"
lower = "0"
upper = "1"
[window]
windows = [{listed}]
[protect]
notion = "addition-only"
epsilon = "1"
[budget]
ledger = "b.db"
dataset = "d"
cap = "9"
""")
    said = CliRunner().invoke(app, ["check", str(tmp_path / "s.toml")]).output
    first, last = min(a for a, _ in spans), max(b for _, b in spans)
    assert f"from 2026-03-{first:02d}T00:00:00 to 2026-03-{last:02d}T00:00:00" in said
