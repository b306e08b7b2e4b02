"""A damaged file is refused by name, or read as an independent reader reads it: never otherwise.

Small files of each kind are cut short, have bits turned and bytes added; what the engine then reads is held against what
Python's own readers (`gzip`, `csv`) and Arrow's reader of Parquet make of the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.engine._bind import _BY_THE_QUESTION_ALONE, bind
from leeward.errors import DataError

WHO = [*(f"p{i}" for i in range(8)), None]
TABLE = pa.table({"who": WHO, "v": [float(i) for i in range(9)]})
TEXT = b"who,v\n" + b"".join(b"p%d,%d\n" % (i, i) for i in range(9))
Table = dict[str, list[Any]]


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(TABLE, out, compression="none", store_schema=False, use_dictionary=False)
    return out.getvalue()


def read(path: Path) -> tuple[Table, int, int] | None:
    """What the engine reads: all rows, how many are p3's, and how many have a number; None if it refuses in words."""
    try:
        with bind(str(path), {"person": "who", "value": "v"}) as bound:
            rows = bound.rows
            all_rows = bound.fetch(rows).to_pydict()
            some = bound.fetch(rows.aggregate(one=(rows.who == "p3").sum(), there=rows.v.notnull().sum())).to_pylist()[
                0
            ]
            kept = bound.fetch(rows.filter(rows.who == "p3")).num_rows
            assert kept == (some["one"] or 0), "a filter leaves out what counting finds"
            ranks = np.zeros(1, np.int32)
            every, listed = bound.ranked(rows.select("v", key=rows.who), pa.array(["p3"]), ranks)
            assert kept == bound.fetch(listed).num_rows, "a list leaves out what a filter finds"
            assert kept == bound.fetch(every.filter(every["rank"].notnull())).num_rows
            last = bound.fetch(rows.order_by(rows.who.desc(nulls_first=False)).limit(1))["who"].to_pylist()
            assert last == [max((w for w in all_rows["who"] if w is not None), default=None)], "a first row is left out"
            return all_rows, kept, some["there"]
    except DataError:
        return None


def by_csv(raw: bytes) -> Table | None:
    try:
        header, *rows = csv.reader(io.StringIO(gzip.decompress(raw).decode(), newline=""), strict=True)
    except Exception:
        return None
    return {name: [row[at] or None for row in rows] for at, name in enumerate(header)}


def by_arrow(raw: bytes) -> Table | None:
    try:
        found = pq.ParquetFile(io.BytesIO(raw)).read().to_pydict()
    except Exception:
        return None
    return {name: [v.decode() if isinstance(v, bytes) else v for v in values] for name, values in found.items()}


def turned(good: bytes, at: int, bits: int) -> bytes:
    return good[:at] + bytes([good[at] ^ bits]) + good[at + 1 :]


def spoiled_gzip() -> Iterator[bytes]:
    good = gzip.compress(TEXT, mtime=0)
    half = TEXT.index(b"\n", len(TEXT) // 2) + 1
    first, second = gzip.compress(TEXT[:half], mtime=0), gzip.compress(TEXT[half:], mtime=0)
    yield from (good, first + second, good + gzip.compress(b""), gzip.compress(b"") + good)
    yield from (turned(first, len(first) - 5, 1) + second, first + turned(second, len(second) - 1, 1))
    yield from (
        good + b"\0",
        good + bytes(9),
        good + b"hello",
        good + good[:12],
        good + b"\n",
        first + second[:-1],
        b"",
    )
    yield from (turned(good, at, 1 << at % 8) for at in range(len(good) - 8, len(good)))  # checksum and length
    yield from (turned(good, at, 1 << at % 8) for at in [*range(10), *range(10, len(good), 6)])
    yield from (good[:at] for at in range(1, len(good), 9))


def spoiled_parquet() -> Iterator[bytes]:
    good = parquet()
    yield good
    # what the file says of its rows beside them, their least and greatest: a reader that believes it leaves rows out
    bounds = [match.end() - 1 for match in re.finditer(rb"p0|p7|\x00\x20@", good)]
    yield from (turned(good, at, bits) for at in bounds for bits in (1, 4))
    yield from (turned(good, at, 1) for at in range(150, 175, 2))  # how many are missing, in a page and in all
    yield from (turned(good, at, 0x80) for at in range(0, len(good), 19))
    yield from (good[:at] for at in range(1, len(good), 60))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "files", "other"), [("t.csv.gz", spoiled_gzip, by_csv), ("t.parquet", spoiled_parquet, by_arrow)]
)
def test_a_damaged_file_is_refused_or_read_as_others_read_it(
    name: str, files: Callable[[], Iterator[bytes]], other: Callable[[bytes], Table | None], tmp_path: Path
) -> None:
    path, refused, unlike, whole = tmp_path / name, 0, [], None
    for number, raw in enumerate(files()):
        path.write_bytes(raw)
        found = read(path)
        whole = whole or found
        if found is None:
            refused += 1
            continue
        expected = other(raw)
        if expected is None and name.endswith("parquet"):
            expected = whole[0]  # a page that Arrow does not read, and DuckDB reads as it was
        people, numbers = expected["who"].count("p3"), sum(value is not None for value in expected["v"])
        if found != (expected, people, numbers):
            unlike.append((number, raw))
    assert unlike == []
    assert refused > 10


IN_FOOTERS = {
    "its least is above all": (b"p0", b"p9"),
    "its greatest is below": (b"p7", b"p1"),
    "none is missing": (b"\x36\x02", b"\x36\x00"),
    "all are missing": (b"\x36\x02", b"\x36\x12"),
}
"""What a footer says of the column of people, and what is written instead; of how many are missing, 1 and 9."""


@pytest.mark.parametrize("what", IN_FOOTERS)
def test_what_a_footer_says_of_its_rows_is_not_believed(what: str, tmp_path: Path) -> None:
    """Whole groups of rows were left out where they are joined with a public list: each place was safe, "never wrongly"."""
    good, path = parquet(), tmp_path / "t.parquet"
    footer = len(good) - 8 - int.from_bytes(good[-8:-4], "little")
    before, after = IN_FOOTERS[what]
    assert before in good[footer:]
    path.write_bytes(good[:footer] + good[footer:].replace(before, after))
    if what == "all are missing":  # so the engine looks at none of them
        with pytest.raises(DataError, match="its pages are not what they say"), bind(str(path), {"person": "who"}):
            pass
    else:
        assert read(path) == (TABLE.to_pydict(), 1, 9)


def test_optimizers_that_nobody_has_looked_at_are_off(tmp_path: Path) -> None:
    """Those that a later version of the engine brings are so too."""
    (tmp_path / "t.csv").write_bytes(TEXT)
    with bind(str(tmp_path / "t.csv"), {"person": "who"}) as bound:
        ((off,),) = bound.connection.execute("SELECT current_setting('disabled_optimizers')").fetchall()
        known = {name for (name,) in bound.connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    assert known - {*off.split(",")} == {*_BY_THE_QUESTION_ALONE}


CASES = {
    "its checksum": lambda good: turned(good, len(good) - 8, 1),
    "its length": lambda good: turned(good, len(good) - 1, 1),
    "its end": lambda good: good[:-1],
    "what was added": lambda good: good + b"more",
}


@pytest.mark.parametrize("what", CASES)
def test_a_damaged_gzip_file_is_named(what: str, tmp_path: Path) -> None:
    rows = b"".join(
        b"p%d,%d\n" % (i, i) for i in range(200_000)
    )  # the end is far behind what reading the header unpacks
    good, path = gzip.compress(TEXT + rows), tmp_path / "visits.csv.gz"
    path.write_bytes(CASES[what](good))
    with (
        pytest.raises(DataError, match=r"visits\.csv\.gz': it is damaged"),
        bind(str(path), {"person": "who"}) as bound,
    ):
        bound.fetch(bound.rows)
