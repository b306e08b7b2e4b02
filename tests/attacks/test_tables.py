"""Tables as people have them: each count is that of a few lines of Python about the rows as they were written.

The oracle (`crowds`) shares no code with the engine: it walks over the rows. Every case is an answer that must equal the
oracle's, or a refusal that must name its reason; none may be answered otherwise.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import open_data, read_keys, read_places
from leeward.errors import DataError, SpecError
from leeward.query import count_visitors, places, records, statistic, visits

T = dt.datetime(2026, 3, 2, 19, 30)
TEXT = "2026-03-02 19:30"
WINDOW = {"start": "2026-03-02T19:00", "end": "2026-03-02T20:00"}
ZONED = {end: f"{moment}Z" for end, moment in WINDOW.items()}


def counts(source: Any, keys: Any, *, listed: Any = None, window: Any = None, **described: Any) -> list[int]:
    """The engine's exact counts, without a bound."""
    table = describe_by(visits, source, **{"person": "p", "place": "v", "time": "t"} | described)
    public = places(pa.table({"place": keys}) if listed is None else listed, place="place")
    with open_visits(table, read_places(public)) as opened:
        found = opened.count(count_visitors(table, public, **(window or WINDOW)))
        return [int(people) for people in found.counts]


def crowds(rows: Sequence[tuple[Any, Any]], keys: Sequence[Any]) -> list[int]:
    """How many people (first of each pair) were at each place (second)."""
    return [len({person for person, place in rows if place == key}) for key in keys]


def table(people: Any, at: Any, **more: Any) -> pa.Table:
    return pa.table({"p": people, "v": at, "t": [T] * len(people), **more})


# ---- keys of places


def test_floats_of_two_widths_are_not_matched() -> None:
    """0.1 in 32 bits is not 0.1 in 64: a crowd of 50 was at no listed place, and 0.5 was found, so nothing stopped."""
    values, widths = [0.1, 0.5], (pa.float32(), pa.float64())
    for seen in widths:
        for listed in widths:
            rows = table([1, 2, 3, 4], pa.array(values * 2, seen))
            if seen == listed:
                assert counts(rows, pa.array(values, listed)) == [2, 2]
            else:
                with pytest.raises(DataError, match=r"floats of (32|64) bits"):
                    counts(rows, pa.array(values, listed))


def test_a_list_of_32_bits_keeps_its_type_and_minus_zero() -> None:
    listed = read_places(places(pa.table({"place": pa.array([-0.0, 0.1], pa.float32())}), place="place"))
    assert listed.keys.type == pa.float32()
    assert counts(table([1, 2], pa.array([0.0, -0.0], pa.float32())), pa.array([-0.0], pa.float32())) == [2]


def test_whole_numbers_of_all_widths_are_matched_exactly() -> None:
    low, high = [2**53, 2**53 + 1, -1], [2**53 + 1, 2**63 + 5, 2**64 - 1]
    assert counts(table([1, 2, 3], pa.array(high, pa.uint64())), pa.array(low, pa.int64())) == [0, 1, 0]
    assert counts(table([1, 2, 3], pa.array(low, pa.int64())), pa.array(high, pa.uint64())) == [1, 0, 0]


TEXTS = ["a", "A", "a ", " a", "é", "e\u0301", "a\0", "a\0b", "1", "01", "1.0", "١", "İ", "i̇", "ß", "ss"]


@pytest.mark.parametrize(
    "kind", ["arrow", "view", "dictionary", "chunks", "parquet", "csv", "duckdb", "polars", "categories"]
)
def test_texts_are_compared_letter_by_letter(tmp_path: Path, kind: str) -> None:
    # a CSV file with zero bytes is refused (tests.engine.test_engine_encodings)
    texts = [text for text in TEXTS if kind != "csv" or "\0" not in text]
    rows = [(f"p{i % 5}", texts[i * 7 % len(texts)]) for i in range(64)]
    people, at = [p for p, _ in rows], [v for _, v in rows]
    made: Any = table(people, at)
    if kind == "view":
        made = table(people, pa.array(at, pa.string_view()))
    elif kind == "dictionary":  # of which one text has two codes
        codes = pa.array([TEXTS.index(v) if i % 2 else TEXTS.index(v) + len(TEXTS) for i, v in enumerate(at)])
        made = table(people, pa.DictionaryArray.from_arrays(codes, pa.array(TEXTS * 2)))
    elif kind == "chunks":  # each with a dictionary of its own
        parts = [pa.array(at[i : i + 8]).dictionary_encode() for i in range(0, 64, 8)]
        made = table(people, pa.chunked_array(parts))
    elif kind == "parquet":
        pq.write_table(made, tmp_path / "x.parquet", row_group_size=5, use_dictionary=["p"], data_page_version="2.0")
        made = str(tmp_path / "x.parquet")
    elif kind == "csv":
        lines = [f'{p},{TEXT},"{v}"' for p, v in rows]
        (tmp_path / "x.csv").write_bytes("\r\n".join(["\ufeffp,t,v", *lines]).encode())
        made = str(tmp_path / "x.csv")
    elif kind == "duckdb":
        with duckdb.connect(str(tmp_path / "x.duckdb")) as base:
            base.execute("CREATE TABLE x (p VARCHAR COLLATE NOCASE, v VARCHAR COLLATE NOCASE.NOACCENT, t TIMESTAMP)")
            base.register("given", made)
            base.execute("INSERT INTO x SELECT * FROM given")
        made = str(tmp_path / "x.duckdb")
    elif kind == "polars":
        made = pl.DataFrame({"p": people, "v": pl.Series(at, dtype=pl.Categorical), "t": [T] * 64})
    elif kind == "categories":
        made = pd.DataFrame({"p": people, "v": pd.Categorical(at), "t": [T] * 64})
    assert counts(made, texts) == crowds(rows, texts)


def test_a_collation_of_a_duckdb_file_merges_no_people_and_passes_no_filter(tmp_path: Path) -> None:
    """Three people whose ids differ in case were one, and the place was safe."""
    path = str(tmp_path / "x.duckdb")
    with duckdb.connect(path) as base:
        base.execute(
            "CREATE TABLE x (p VARCHAR COLLATE NOCASE, v VARCHAR, t TIMESTAMP, k VARCHAR COLLATE NOCASE, n INT)"
        )
        base.executemany(
            "INSERT INTO x VALUES (?, 'a', ?, ?, 1)", [("ann", T, "in"), ("Ann", T, "IN"), ("ANN", T, "in")]
        )
    assert counts(path, ["a"]) == [3]
    assert counts(path, ["a"], keep={"k": ["in"]}) == [2]
    asked = statistic(records(path, person="p"), "sum", column="n", lower=0, upper=1, by={"k": ["IN", "in"]})
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.count(asked).counts.tolist() == [1, 2]


# ---- people, filters and groups


def test_zero_is_one_person_whatever_its_sign_and_nan_is_nobody() -> None:
    for kind in (pa.float32(), pa.float64()):
        assert counts(table(pa.array([0.0, -0.0, float("nan"), None], kind), ["a"] * 4), ["a"]) == [1]


@pytest.mark.parametrize("beyond", [2**63, 2**64 - 1, 2**70, -(2**63) - 1])
def test_whole_numbers_beyond_64_bits_are_refused_where_they_would_be_compared(beyond: int) -> None:
    """As a filter they ended in an error of another library, and as a group they were silently in no row."""
    numbers = pa.table({"n": [1, 2], "g": pa.array([2**63, 1], pa.uint64())})
    with pytest.raises(SpecError, match="beyond 64 bits"):
        visits(table([1], ["a"]), person="p", place="v", time="t", keep={"k": [1, beyond]})
    with pytest.raises(SpecError, match="beyond 64 bits"):
        statistic(records(numbers, person="each row"), "sum", column="n", lower=0, upper=4, by={"g": [1, beyond]})


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()])
@pytest.mark.parametrize("groups", [[1], [-1], [-1, 1], [300, 1], [-(2**63), 2**63 - 1, 1]])
def test_filters_and_groups_of_whole_numbers(kind: pa.DataType, groups: list[int]) -> None:
    held = [1, 2, 1, 3]
    rows = pa.table({"p": [1, 2, 3, 4], "v": ["a"] * 4, "t": [T] * 4, "n": [1] * 4, "k": pa.array(held, kind)})
    assert counts(rows, ["a"], keep={"k": groups}) == [sum(k in groups for k in held)]
    asked = statistic(records(rows, person="each row"), "sum", column="n", lower=0, upper=4, by={"k": groups})
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.count(asked).counts.tolist() == [held.count(group) for group in groups]


def test_a_stream_that_can_be_read_once_is_refused() -> None:
    """The second question about it found nobody anywhere."""
    with pytest.raises(DataError, match="read once"):
        counts(table([1], ["a"]).to_reader(), ["a"])


# ---- CSV

CSV: list[tuple[str, str | bytes, list[int] | None]] = [
    ("BOM", "\ufeffp,t,v\nx,{t},a\ny,{t},b\n", [1, 1]),
    ("BOM before a quote", '\ufeff"p",t,v\nx,{t},a\n', [1, 0]),
    ("CRLF", "p,t,v\r\nx,{t},a\r\ny,{t},a\r\n", [2, 0]),
    ("CR", "p,t,v\rx,{t},a\ry,{t},b\r", [1, 1]),
    ("no last line end", "p,t,v\nx,{t},a\ny,{t},b", [1, 1]),
    ("line ends that change", "p,t,v\nx,{t},a\ny,{t},a\r\nz,{t},b\r\n", None),
    ("line ends that change back", "p,t,v\r\nx,{t},a\r\ny,{t},a\nz,{t},b\n", None),
    ("a lone CR", "p,t,v\nx,{t},a\ry,{t},a\nz,{t},b\n", None),
    ("empty lines", "p,t,v\n\nx,{t},a\n\ny,{t},b\n", [1, 1]),
    ("a line break within quotes", 'p,t,v\n"x\n1",{t},a\n"x\r\n1",{t},a\nx,{t},b\n', [2, 1]),
    ("a short row", "p,t,v\nx,{t},a\ny,{t}\n", None),
    ("a long row", "p,t,v\nx,{t},a\ny,{t},a,b\n", None),
    ("a quote within a field", 'p,t,v\nx"y,{t},a\nx,{t},a\n', [2, 0]),
    ("a quote that is not closed", 'p,t,v\nx,{t},a\n"y,{t},a\n', None),
    ("something behind a quote", 'p,t,v\n"x"y,{t},a\n', None),
    ("leading zeros, points and exponents", "p,t,v\n7,{t},a\n007,{t},a\n7.0,{t},a\n7e0,{t},a\n", [4, 0]),
    ("words that stand for nothing elsewhere", "p,t,v\nNULL,{t},a\nNaN,{t},a\nNone,{t},a\n", [3, 0]),
    ("empty fields", 'p,t,v\n,{t},a\n"",{t},a\nx,,a\nx,{t},\n', [0, 0]),
    ("Latin-1", "p,t,v\né,{t},a\n".encode("latin-1"), None),
    ("UTF-16", "p,t,v\nx,{t},a\n".encode("utf-16"), None),
    ("a name twice", "p,t,v,v\nx,{t},a,b\n", None),
    ("a name in another case", "P,t,v\nx,{t},a\n", None),
    ("semicolons", "p;t;v\nx;{t};a\n", None),
    ("a comment", "# made by a program\np,t,v\nx,{t},a\n", None),
]


@pytest.mark.parametrize(("given", "wanted"), [case[1:] for case in CSV], ids=[case[0] for case in CSV])
def test_csv_is_read_as_it_is_written_or_refused(tmp_path: Path, given: str | bytes, wanted: list[int] | None) -> None:
    content = (given if isinstance(given, bytes) else given.encode()).replace(b"{t}", TEXT.encode())
    plain, packed = tmp_path / "x.csv", tmp_path / "x.csv.gz"
    plain.write_bytes(content)
    half = len(content) // 2  # in two members, as programs that append write it
    packed.write_bytes(gzip.compress(content[:half]) + gzip.compress(content[half:]))
    for path in (plain, packed):
        if wanted is None:
            with pytest.raises(DataError):
                counts(str(path), ["a", "b"])
        else:
            assert counts(str(path), ["a", "b"]) == wanted


@pytest.mark.parametrize("cut", [1, 4, 8, 20])
def test_a_gzip_file_that_was_cut_or_has_more_behind_it_is_refused(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(f"p,t,v\nx,{TEXT},a\ny,{TEXT},a\n".encode())
    for content in (whole[:-cut], whole + b"x" * cut):
        (tmp_path / "x.csv.gz").write_bytes(content)
        with pytest.raises(DataError):
            counts(str(tmp_path / "x.csv.gz"), ["a"])


# ---- Parquet

LAYOUTS: list[dict[str, Any]] = [
    {"use_dictionary": False},
    {"row_group_size": 13, "data_page_size": 64},
    {"column_encoding": {"p": "DELTA_BINARY_PACKED", "v": "DELTA_BYTE_ARRAY"}, "use_dictionary": False},
    {"column_encoding": {"p": "BYTE_STREAM_SPLIT", "v": "DELTA_LENGTH_BYTE_ARRAY"}, "use_dictionary": False},
    {"compression": "zstd", "write_page_index": True, "data_page_version": "2.0"},
    {"compression": "brotli", "version": "1.0"},
    {"write_statistics": False, "compression": "gzip"},
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_the_layout_of_a_parquet_file_changes_nothing(tmp_path: Path, layout: dict[str, Any]) -> None:
    rows = [(i % 70, f"place {i % 37}") for i in range(500)]
    nested = {
        "nest": pa.array([{"p": 1, "q": [1, 2]}] * 500),
        "m": pa.array([[("v", 1)]] * 500, pa.map_("string", "int8")),
    }
    made = table([p for p, _ in rows], [v for _, v in rows]).append_column("nest", nested["nest"])
    made = made.append_column("m", nested["m"]).select(["nest", "m", "t", "p", "v"])
    keys = [f"place {i}" for i in range(37)]
    pq.write_table(made.slice(0, 200), tmp_path / "1.parquet", **layout)
    pq.write_table(made.slice(200), tmp_path / "2.parquet")
    pq.write_table(made.slice(0, 0), tmp_path / "0.parquet")
    assert counts(str(tmp_path / "?.parquet"), keys) == crowds(rows, keys)


@pytest.mark.sweep
def test_names_of_columns_and_folders_say_nothing(tmp_path: Path) -> None:
    names = [
        "a.b",
        "rank",
        "person",
        "stamp",
        "listed",
        "rowid",
        "filename",
        "file_row_number",
        "select",
        'q"',
        "e\u0301",
        " ",
    ]
    for name in names:
        made = pa.table({name: [1, 2, 1], "a": [{"b": 9}] * 3, "v": ["a"] * 3, "t": [T] * 3})
        pq.write_table(made, tmp_path / "x.parquet")
        assert counts(str(tmp_path / "x.parquet"), ["a"], person=name) == [2], name
    for year in (1, 2):  # a folder that says one thing, and a column that says another
        folder = tmp_path / f"p={year}"
        folder.mkdir()
        pq.write_table(table([7, 8], ["a", "a"]), folder / "x.parquet")
    assert counts(str(tmp_path / "p=*" / "*.parquet"), ["a"]) == [2]


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = os.path.join(tmp_path, os.fsdecode(b"bad\xff.parquet"))
    pq.write_table(table([1], ["a"]), tmp_path / "x.parquet")
    os.rename(tmp_path / "x.parquet", path)
    for given in (path, str(tmp_path / "*.parquet")):
        with pytest.raises(DataError, match="not UTF-8"):
            counts(given, ["a"])


# ---- times

HOUR = 3600 * 10**9


@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_last_tick_before_1970_is_in_its_hour_and_the_next_is_not(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    ticks = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    stamps = [-1, 0, -HOUR // ticks, -HOUR // ticks - 1]
    made = table([1, 2, 3, 4], ["in", "out", "in", "out"])
    made = made.set_column(2, "t", pa.array(stamps, pa.int64()).cast(pa.timestamp(unit, zone)))
    pq.write_table(made, tmp_path / "x.parquet")
    offset = "Z" if zone else ""
    window = {"start": f"1969-12-31T23:00{offset}", "end": f"1970-01-01T00:00{offset}"}
    for source in (made, str(tmp_path / "x.parquet")):
        assert counts(source, ["in", "out"], window=window) == [2, 0]
    if zone is None:
        pq.write_table(made, tmp_path / "x.parquet", use_deprecated_int96_timestamps=True)
        assert counts(str(tmp_path / "x.parquet"), ["in", "out"], window=window, timezone="UTC") == [2, 0]


OLD = (
    "UEFSMRUAFRwVHCwVBBUAFQYVBhwAAAACAAAABAEBAAAAAgAAABUAFSAVICwVBBUAFQYVBhwAAAACAAAABAEBAAAAYQEAAABhFQAVLBUsLBUEFQAVBhUG"
    "HAAAAAIAAAAEAQC+2ZwPTAYAAL7ZnA9MBgAVBBlMNQAYBnNjaGVtYRUGABUCJQIYAXAAFQwlAhgBdiUAABUEJQIYAXQlFAAWBBkcGTwmABwVAhklBgAZ"
    "GAFwFQAWBBZCFkImCEkcFQAVABUCADwpBhkmAAQAAAAmABwVDBklBgAZGAF2FQAWBBZGFkYmSkkcFQAVABUCADwWBBkGGSYABAAAACYAHBUEGSUGABkY"
    "AXQVABYEFlIWUiaQAUkcFQAVABUCADwpBhkmAAQAAAAW2gEWBCYIFtoBACggcGFycXVldC1jcHAtYXJyb3cgdmVyc2lvbiAyNi4wLjEZPBwAABwAABwA"
    "AADtAAAAUEFSMQ=="
)
"""A file of Parquet as it was before logical types: two rows, p 1 and 2, v "a", t 2026-03-02 19:30 as TIMESTAMP_MICROS."""


@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS"])
def test_types_of_times_that_programs_mean_in_two_ways_need_a_zone(kind: str, tmp_path: Path) -> None:
    """What Spark writes by default is an instant, as UTC shows it: taken for a clock's in Tokyo, it was nine hours off."""
    file = str(tmp_path / "x.parquet")
    if kind == "INT96":
        pq.write_table(table([1, 2], ["a", "a"]), file, use_deprecated_int96_timestamps=True)
    else:
        Path(file).write_bytes(base64.b64decode(OLD))
    for window in (WINDOW, ZONED):
        with pytest.raises(DataError, match=r"old one \(INT96, say\), which does not say"):
            counts(file, ["a"], window=window)
    assert counts(file, ["a"], window=ZONED, timezone="UTC") == [2]
    assert counts(file, ["a"], window=WINDOW, timezone="Asia/Tokyo") == [2]
    tokyo = {end: f"{moment}+09:00" for end, moment in WINDOW.items()}
    assert counts(file, ["a"], window=tokyo, timezone="UTC") == [0]


def test_an_old_file_and_a_new_one_are_not_one_table(tmp_path: Path) -> None:
    """Both were said to hold instants, and the engine took the old one's times for readings."""
    (tmp_path / "a.parquet").write_bytes(base64.b64decode(OLD))
    new = {"p": pa.array([3], pa.int32()), "v": ["a"], "t": pa.array([T], pa.timestamp("us", "UTC"))}
    pq.write_table(pa.table(new), tmp_path / "b.parquet")
    with pytest.raises(DataError, match="perhaps UTC"):
        counts([str(tmp_path / f"{name}.parquet") for name in "ab"], ["a"], timezone="UTC")


@pytest.mark.parametrize(
    ("text", "naive", "zoned"),
    [
        ("2026-03-02T19:59:59.9999999", 1, 0),
        ("2026-03-02T18:59:59.9999999", 0, 0),
        ("2026-03-02T19:59:60", 0, 0),
        ("2026-03-02T19:30Z", 0, 1),
        ("2026-03-03T01:00+0530", 0, 1),
        ("2026-03-02T14:30-05", 0, 1),
        ("2026-03-03T18:30+23:00", 0, 1),
        ("2026-03-03T19:30+24", 0, 0),
        ("2026-03-02T20:29+00:60", 0, 0),
        ("2026-03-06T19:30+96:00", 0, 0),
        ("2026-02-29T19:30", 0, 0),
        ("2026-03-02T19:30 ", 0, 0),
        ("2026-3-2T19:30", 0, 0),
    ],
)
def test_texts_are_times_as_iso_8601_has_them(text: str, naive: int, zoned: int) -> None:
    rows = pa.table({"p": [1], "v": ["a"], "t": [text]})
    assert counts(rows, ["a"]) == [naive]
    assert counts(rows, ["a"], window=ZONED) == [zoned]


def test_times_that_never_come_are_nowhere(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as base:
        base.execute(
            "CREATE TABLE x AS SELECT 1 p, 'a' v, 'infinity'::TIMESTAMP t UNION ALL SELECT 2, 'a', '-infinity'"
        )
        base.execute("INSERT INTO x VALUES (3, 'a', '2026-03-02 19:30')")
    assert counts(str(tmp_path / "x.duckdb"), ["a"]) == [1]


def test_numpy_is_not_needed_for_keys_of_numpy() -> None:
    assert counts(pd.DataFrame({"p": [1, 2], "v": np.array([1, 2], np.uint8), "t": [T, T]}), pa.array([2, 1])) == [1, 1]
