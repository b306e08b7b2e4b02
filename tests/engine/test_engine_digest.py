"""The digest notices every change of the rows, and nothing else."""

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.engine import open_visits, read_places
from leeward.query import grid, places, visits

START = datetime(2024, 3, 1)
ROWS = [
    {"u": f"u{i % 7}", "p": f"p{i % 5}", "t": START + timedelta(hours=i), "s": "STAY", "x": i, "lat": 0.5, "lon": 0.5}
    for i in range(40)
] + [{"u": None, "p": None, "t": None, "s": None, "x": None, "lat": None, "lon": None}]
LISTED = places(pa.table({"p": ["p1", "p2"]}), place="p")


def digest(rows, secret=b"secret", listed=LISTED, **described):
    data = rows if isinstance(rows, str) else pa.Table.from_pylist(rows)
    seen = visits(data, person="u", place="p", time="t", **described)
    with open_visits(seen, read_places(listed)) as table:
        return table.content_digest(secret)


def changed(**values):
    return [ROWS[0] | values, *ROWS[1:]]


def test_the_order_and_the_file_of_the_rows_do_not_matter(tmp_path):
    wanted = digest(ROWS)
    assert len(wanted) == 32
    assert digest(ROWS[::-1]) == wanted
    assert digest(ROWS[17:] + ROWS[:17]) == wanted
    data = pa.Table.from_pylist(ROWS)
    pq.write_table(data.slice(0, 9), tmp_path / "b.parquet", row_group_size=2)
    pq.write_table(data.slice(9), tmp_path / "a.parquet")
    assert digest(str(tmp_path / "*.parquet")) == wanted


def test_columns_that_cannot_matter_do_not_matter():
    assert digest(changed(x=99)) == digest(ROWS)
    assert digest(changed(s="MOVE")) == digest(ROWS)
    assert digest(changed(s="MOVE"), keep={"s": ["STAY"]}) != digest(ROWS, keep={"s": ["STAY"]})
    box = grid(west=0, south=0, east=1, north=1, h3=1)
    assert digest(changed(lat=0.25), listed=box, latitude="lat", longitude="lon") != digest(
        ROWS, listed=box, latitude="lat", longitude="lon"
    )


@pytest.mark.parametrize(
    "rows",
    [
        changed(u="u1"),
        changed(u=None),
        changed(p="p4"),
        changed(p=None),
        changed(t=START + timedelta(microseconds=1)),
        changed(t=None),
        ROWS[1:],
        [*ROWS, ROWS[0]],
        [*ROWS, ROWS[-1]],
        [*ROWS, ROWS[3], ROWS[3]],
        # A row for another occurs as often, but is not the same multiset.
        [ROWS[1], *ROWS[1:]],
        # Two rows exchange their places: every column holds the same values as before.
        [ROWS[0] | {"p": ROWS[1]["p"]}, ROWS[1] | {"p": ROWS[0]["p"]}, *ROWS[2:]],
        # A row's person and place exchange their values.
        changed(u="p0", p="u0"),
    ],
)
def test_any_change_of_what_is_read_is_noticed(rows):
    assert digest(rows) != digest(ROWS)


def test_every_cell_matters():
    """Thirty single changes, and no two of them look alike."""
    seen = {digest(ROWS)}
    for i in range(0, 40, 4):
        for column, value in (("u", "other"), ("p", "other"), ("t", START - timedelta(days=1))):
            seen.add(digest([*ROWS[:i], ROWS[i] | {column: value}, *ROWS[i + 1 :]]))
    assert len(seen) == 31


def test_it_is_keyed():
    assert digest(ROWS, b"another secret") != digest(ROWS)


def test_what_it_covers_is_said():
    seen = visits(pa.Table.from_pylist(ROWS), person="u", place="p", time="t", keep={"s": ["STAY"]})
    with open_visits(seen, read_places(LISTED)) as table:
        assert table.digest_columns[:-1] == ("u", "t", "p", "s")
        assert table.digest_columns[-1].startswith("duckdb ")
