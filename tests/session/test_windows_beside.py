"""The columns that say of which window an answer is stand beside every column of the answers, whatever it is called."""

from __future__ import annotations

import pyarrow as pa
import pytest

import leeward as lw
from leeward.session import Release, privacy_statement
from leeward.session._result import answers_of_windows, folder_names


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (("town", "sex"), "window_start"),
        (("window_start", "sex"), "window_start_"),
        (("window_start", "window_start_"), "window_start__"),
    ],
    ids=str,
)
def test_no_column_of_groups_stands_in_the_place_of_the_window(columns: tuple[str, str], named: str) -> None:
    """Found by an attack: with groups by `window_start` and `window_start_` the window was lost."""
    made = []
    for hour in (9, 10):
        at = {"start": f"2030-01-01T{hour:02}:00", "end": f"2030-01-01T{hour + 1:02}:00"}
        rows = lw.records("t.parquet", person="who", time="at")
        asked = lw.statistic(rows, "histogram", by={name: ["a"] for name in columns}, **at)
        said = privacy_statement(lw.plan(asked, lw.UnboundedDP("1")), places=1, dataset="d", version="1")
        keys = {name: ["a"] for name in columns}
        made.append(Release(pa.table({**keys, "count": [hour]}), pa.table(keys), said))
    table = answers_of_windows(made)
    assert table.column_names == [named, "window_end", *columns, "count"]
    assert [start[:13] for start in table[named].to_pylist()] == ["2030-01-01T09", "2030-01-01T10"]


def test_no_two_windows_share_a_folder() -> None:
    at = [("09:00", "10:00"), ("10:00", "11:00"), ("09:00", "11:00")]
    windows = [{"start": f"2030-01-01T{start}", "end": f"2030-01-01T{end}"} for start, end in at]
    assert folder_names(windows[:2]) == ["2030-01-01T09-00", "2030-01-01T10-00"]
    assert folder_names(windows) == [
        "2030-01-01T09-00--2030-01-01T10-00",
        "2030-01-01T10-00--2030-01-01T11-00",
        "2030-01-01T09-00--2030-01-01T11-00",
    ]
