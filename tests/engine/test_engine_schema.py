"""One schema over all files of a table: an exact answer, or a refusal that names the files, the column and the types.

The oracle is the pair of lists of Python values that the two files were written from, and the name of the Arrow type they
were written with: it reads no file and knows nothing of Parquet's types. The grid is complete: every ordered pair of types,
in every role that a column can have.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.asking import statistic_by
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import open_data, read_keys, read_places
from leeward.errors import DataError
from leeward.query import count_visitors, places, records, statistic, visits
from leeward.tables._files import files_of
from leeward.tables._parquet import declared

NOON = datetime(2024, 3, 1, 18, 30)
AWARE = NOON.replace(tzinfo=UTC)

# What a column is called, what Arrow writes it as, and two values. Types with one name hold the same values natively.
KINDS: list[tuple[str, Any, list[Any]]] = [
    *(
        (f"{sign}int{width}", getattr(pa, f"{sign}int{width}")(), [1, 2])
        for sign in ("", "u")
        for width in (8, 16, 32, 64)
    ),
    ("float16", pa.float16(), [1.0, 2.5]),
    ("float32", pa.float32(), [1.0, 2.5]),
    ("float64", pa.float64(), [1.0, 2.5]),
    ("decimal(9, 2)", pa.decimal128(9, 2), [Decimal("1.00"), Decimal("2.50")]),
    ("decimal(9, 3)", pa.decimal128(9, 3), [Decimal("1.000"), Decimal("2.500")]),
    ("decimal(18, 2)", pa.decimal128(18, 2), [Decimal("1.00"), Decimal("2.50")]),
    ("text", pa.string(), ["1", "2"]),
    ("text", pa.large_string(), ["1", "2"]),
    ("text", pa.dictionary(pa.int8(), pa.string()), ["1", "2"]),
    ("bytes", pa.binary(), [b"1", b"2"]),
    ("bytes[1]", pa.binary(1), [b"1", b"2"]),
    ("bool", pa.bool_(), [True, False]),
    ("date", pa.date32(), [NOON.date(), date(2024, 3, 2)]),
    ("date", pa.date64(), [NOON.date(), date(2024, 3, 2)]),
    ("timestamp[ms]", pa.timestamp("s"), [NOON, NOON + timedelta(hours=1)]),
    ("timestamp[ms]", pa.timestamp("ms"), [NOON, NOON + timedelta(hours=1)]),
    ("timestamp[us]", pa.timestamp("us"), [NOON, NOON + timedelta(hours=1)]),
    ("timestamp[ns]", pa.timestamp("ns"), [NOON, NOON + timedelta(hours=1)]),
    ("timestamp[us, UTC]", pa.timestamp("us", "UTC"), [AWARE, AWARE + timedelta(hours=1)]),
    ("timestamp[us, UTC]", pa.timestamp("us", "Asia/Tokyo"), [AWARE, AWARE + timedelta(hours=1)]),
    ("timestamp[ns, UTC]", pa.timestamp("ns", "UTC"), [AWARE, AWARE + timedelta(hours=1)]),
    ("time[us]", pa.time64("us"), [time(18), time(19)]),
    ("null", pa.null(), [None, None]),
    ("list<element: int32>", pa.list_(pa.int32()), [[1], [2]]),
    ("struct<a: int32>", pa.struct([("a", pa.int32())]), [{"a": 1}, {"a": 2}]),
]
ROLES = ("user", "venue", "at", "state", "n", "group")
WINDOW = {"start": "2024-03-01T18:00", "end": "2024-03-01T19:00"}


def file(folder: Path, role: str, kind: int, half: int) -> Path:
    """A file of two rows in which one column is of this kind; the other columns are the same in all files."""
    path = folder / f"{role}-{kind}-{half}.parquet"
    if not path.exists():
        columns: dict[str, Any] = {
            "user": pa.array([f"u{half}", f"v{half}"]),
            "venue": pa.array(["a", "b"]),
            "at": pa.array([NOON, NOON], pa.timestamp("us")),
            "state": pa.array(["1", "1"]),
            "n": pa.array([1, 2], pa.int64()),
            "group": pa.array(["1", "1"]),
        }
        columns[role] = pa.array(KINDS[kind][2], KINDS[kind][1])
        order = sorted(columns, reverse=bool(half))  # the second file has its columns in another order
        pq.write_table(pa.table({name: columns[name] for name in order}), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("grid")


def is_whole(name: str) -> bool:
    return re.fullmatch(r"u?int[0-9]+", name) is not None


def allowed(role: str, kind: tuple[str, Any, list[Any]]) -> Any:
    """The first value as a filter or a group, or a text where it can be neither."""
    name, _, values = kind
    return values[0] if is_whole(name) or name == "text" or (name == "bool" and role == "state") else "1"


@functools.cache
def public_list(name: str) -> Any:
    """A public list of the values of a kind, where they can be keys, and what is read of it."""
    is_key = is_whole(name) or name.startswith("float") or name == "text"
    keys = next(values for known, _, values in KINDS if known == name) if is_key else ["a", "b"]
    if name in {"float16", "float32"}:  # a list of wider floats names other numbers
        keys = pa.array(keys, pa.float32())
    listed = places(pa.table({"p": keys}), place="p")
    return listed, read_places(listed)


def counted(role: str, kind: tuple[str, Any, list[Any]], sources: list[Path]) -> Any:
    """What the engine answers where this column is of this kind."""
    name = kind[0]
    if role in {"user", "venue", "at", "state"}:
        keep = {"state": [allowed(role, kind)]} if role == "state" else {}
        seen = visits(sources, person="user", place="venue", time="at", keep=keep)
        listed, public = public_list(name if role == "venue" else "")
        offset = "+00:00" if role == "at" and "UTC" in name else ""
        window = {end: f"{moment}{offset}" for end, moment in WINDOW.items()}
        query = count_visitors(seen, listed, **window)
        with open_visits(seen, public) as table:
            return table.count(query).counts.tolist()
    by = {"by": "group", "groups": [allowed(role, kind)]} if role == "group" else {}
    asked = statistic_by(records(sources, person="user"), "sum", column="n", lower=0, upper=10, step="1/2", **by)
    with open_data(asked, read_keys(asked)) as table:
        return table.count(asked).counts.tolist()


def expected(role: str, kind: tuple[str, Any, list[Any]]) -> Any:
    """The same from the Python values alone, for two files with the same two values; None where a type has no such role."""
    name, _, values = kind
    if name == "float16":  # ids of its would not be told apart
        return None
    numeric = is_whole(name) or name.startswith(("float", "decimal"))
    if name == "null":  # nothing is in it, so no row takes part
        return [0] if role in {"n", "group"} else [0, 0]
    if role == "user":
        return None if name.startswith(("list", "struct", "timestamp[ns, UTC]")) else [1, 1]
    if role == "venue":
        return [2, 2] if is_whole(name) or name.startswith("float") or name == "text" else None
    if role == "at":
        # a date is its midnight, and a text that is not a time takes no part
        return [0, 0] if name in {"date", "text"} else [2, 0] if name.startswith("timestamp") else None
    if role == "state":
        return [2, 0] if is_whole(name) or name in {"text", "bool"} else None
    if role == "n":  # in half steps
        return [int(2 * 2 * sum(float(value) for value in values))] if numeric or name == "text" else None
    return [2 * 2 * 1] if is_whole(name) or name == "text" else None


def outcomes_of(folder: Path, role: str, pairs: Iterable[tuple[int, int]]) -> Counter[str]:
    """Hold what two files of the given kinds are against the values that they were written from."""
    outcomes: Counter[str] = Counter()
    for a, b in pairs:
        sources = [file(folder, role, a, 0), file(folder, role, b, 1)]
        if KINDS[a][0] != KINDS[b][0]:
            with pytest.raises(DataError) as refused:
                counted(role, KINDS[a], sources)
            said = str(refused.value)
            for told in (f"'{role}'", str(sources[0]), str(sources[1]), KINDS[a][0], KINDS[b][0]):
                assert told in said, (said, told)
            outcomes["refused"] += 1
            continue
        wanted = expected(role, KINDS[a])
        if wanted is None:  # the role is not for this type, whatever the files
            with pytest.raises(DataError) as refused:
                counted(role, KINDS[a], sources)
            assert "is of type" not in str(refused.value)
            outcomes["no such role"] += 1
            continue
        assert counted(role, KINDS[a], sources) == wanted, (role, KINDS[a][0])
        outcomes["answered"] += 1
    return outcomes


@pytest.mark.sweep
@pytest.mark.parametrize("role", ROLES)
def test_two_files_of_each_type_and_of_it_and_the_next(folder: Path, role: str) -> None:
    """Each type once on either side of another; all pairs are a sweep, the next test."""
    here = range(len(KINDS))
    found = outcomes_of(folder, role, [(a, b % len(here)) for a in here for b in (a, a + 1)])
    assert found["refused"] > 15
    assert found["answered"] > 2


@pytest.mark.sweep
@pytest.mark.parametrize("role", ROLES)
def test_two_files_are_one_table_only_if_their_types_are_one(folder: Path, role: str) -> None:
    found = outcomes_of(folder, role, itertools.product(range(len(KINDS)), repeat=2))
    assert found["refused"] > 600
    assert found["answered"] > 5


def test_columns_that_are_not_read_may_differ(folder: Path) -> None:
    sources = [file(folder, "n", 3, 0), file(folder, "n", 14, 1)]
    assert counted("user", ("text", pa.string(), []), sources) == [2, 2]


def test_the_wrong_answers_that_were_found(tmp_path: Path) -> None:
    """50 people in the window, called nobody because a file of dates came first; a sum of 1,499.9 for 2,100."""
    late = pa.table({"user": [f"p{i}" for i in range(50)], "venue": ["a"] * 50, "at": [NOON] * 50})
    pq.write_table(late, tmp_path / "b.parquet")
    early = late.set_column(2, "at", pa.array([date(2024, 2, 1)] * 50))
    pq.write_table(early, tmp_path / "a.parquet")
    seen = visits(str(tmp_path / "*.parquet"), person="user", place="venue", time="at")
    listed = read_places(places(pa.table({"p": ["a"]}), place="p"))
    with pytest.raises(DataError, match=r"date in '.*a\.parquet'.*timestamp\[us\] in '.*b\.parquet'"):  # noqa: SIM117
        with open_visits(seen, listed):
            pass
    pq.write_table(pa.table({"user": ["x"], "n": pa.array([1], pa.int64())}), tmp_path / "n1.parquet")
    pq.write_table(pa.table({"user": ["y"], "n": [0.7]}), tmp_path / "n2.parquet")
    asked = statistic(records(str(tmp_path / "n?.parquet"), person="user"), "sum", column="n", lower=0, upper=1)
    with pytest.raises(DataError, match=r"int64.*float64"), open_data(asked, read_keys(asked)):
        pass


def test_files_of_different_writers_are_one_table(tmp_path: Path) -> None:
    """The same values written by Arrow, Polars and DuckDB: plain, annotated, dictionary-encoded, required or optional."""
    data = pa.table({"user": ["x", "y"], "venue": ["a", "b"], "at": pa.array([NOON] * 2, pa.timestamp("us"))})
    pq.write_table(data, tmp_path / "1.parquet")
    required = pa.schema([pa.field(f.name, f.type, nullable=False) for f in data.schema])
    pq.write_table(data.cast(required), tmp_path / "2.parquet", version="1.0", use_dictionary=False)
    pl.from_arrow(data).write_parquet(tmp_path / "3.parquet")
    duckdb.sql(f"COPY data TO '{tmp_path / '4.parquet'}'")
    seen = visits(str(tmp_path / "*.parquet"), person="user", place="venue", time="at")
    listed = places(pa.table({"p": ["a", "b"]}), place="p")
    with open_visits(seen, read_places(listed)) as table:
        found = table.count(count_visitors(seen, listed, **WINDOW))
    assert (found.rows_kept, found.counts.tolist()) == (8, [1, 1])


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_every_order_and_every_lack_of_columns(tmp_path: Path, kind: str) -> None:
    """Two files, all orders of three columns in each, and each of the columns missing or misspelt in either."""
    rows = {"user": ["x", "y"], "venue": ["a", "b"], "at": ["2024-03-01T18:30", "2024-03-01T18:45"]}
    wanted = list(rows)

    def write(name: str, columns: tuple[str, ...], people: str) -> Path:
        path = tmp_path / f"{name}.{kind}"
        held = {c: [v + people for v in rows["user"]] if c == "user" else rows.get(c, ["z", "z"]) for c in columns}
        if kind == "parquet":
            pq.write_table(pa.table(held), path)
        else:
            lines = [",".join(columns), *(",".join(row) for row in zip(*held.values(), strict=True))]
            text = "\n".join(lines).encode() + b"\n"
            path.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
        return path

    def ask(sources: list[Path]) -> Any:
        seen = visits(sources, person="user", place="venue", time="at")
        listed, public = public_list("")
        with open_visits(seen, public) as table:
            return table.count(count_visitors(seen, listed, **WINDOW)).counts.tolist()

    for first, second in itertools.product(itertools.permutations(wanted), repeat=2):
        assert ask([write("one", first, "1"), write("two", (*second, "extra"), "2")]) == [2, 2]
    for lost, at in itertools.product(wanted, (0, 1)):
        for instead in ((), (lost.upper(),), (f"{lost}x",)):
            columns = tuple(c for c in wanted if c != lost) + instead
            sources = [write("one", columns, ""), write("two", tuple(wanted), "")][:: -1 if at else 1]
            with pytest.raises(DataError) as refused:
                ask(sources)
            assert f"= '{lost}': there is no column of that name in the file '{tmp_path}/one.{kind}'" in str(
                refused.value
            )


@pytest.mark.parametrize("twin", ["at", "AT", "At"])
def test_two_columns_that_the_engine_cannot_tell_apart_are_refused(tmp_path: Path, twin: str) -> None:
    """DuckDB renames the second of them: the first would be read for either."""
    arrays = [pa.array(["x"]), pa.array(["a"]), pa.array([NOON]), pa.array([NOON])]
    for names in itertools.permutations(["user", "venue", "at", twin]):
        data = pa.Table.from_arrays([arrays[["user", "venue", "at", twin].index(n)] for n in names], names=list(names))
        pq.write_table(data, tmp_path / "v.parquet")
        for source in (tmp_path / "v.parquet", data):
            for asked in {"at", twin}:
                seen = visits(source, person="user", place="venue", time=asked)
                opened = open_visits(seen, public_list("")[1])
                with pytest.raises(DataError, match=r"two columns|upper and lower case"), opened:
                    pass


def test_the_public_list_has_one_schema_too_and_keeps_the_order_of_its_files(tmp_path: Path) -> None:
    for index, header in enumerate(["p,name", "name,p", "p,name"]):
        cells = f"k{index},n{index}" if header == "p,name" else f"n{index},k{index}"
        (tmp_path / f"{index}.csv").write_text(f"{header}\n{cells}\n")
    read = read_places(places(str(tmp_path / "*.csv"), place="p", name="name"))
    assert read.keys.to_pylist() == ["k0", "k1", "k2"]
    assert read.name.to_pylist() == ["n0", "n1", "n2"]
    pq.write_table(pa.table({"p": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"p": ["3"]}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"int64 in '.*1\.parquet' and text in '.*2\.parquet'"):
        read_places(places(str(tmp_path / "*.parquet"), place="p"))


@pytest.mark.parametrize("name", ["v.json", "v.ndjson", "v.xls", "v.feather", "v"])
def test_kinds_that_are_not_read_are_refused_by_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"user": "x"}')
    with pytest.raises(DataError, match="does not say what it holds"):
        read_places(places(tmp_path / name, place="p"))


class Noted(NamedTuple):
    """What only a note of Arrow's says of a column, and two values."""

    named: str
    values: Any


def periods(unit: str) -> Any:
    return pa.Array.from_pandas(pd.Series(pd.PeriodIndex(["2026-01-02", "2026-03-04"], freq=unit)))


NOTED = {
    "seconds": Noted("duration[s]", pa.array([1, 2], pa.duration("s"))),
    "milliseconds": Noted("duration[ms]", pa.array([1000, 2000], pa.duration("ms"))),
    "a dictionary of lengths": Noted("duration[s]", pa.array([1, 2], pa.duration("s")).dictionary_encode()),
    "days": Noted("pandas.period", periods("D")),
    "months": Noted("pandas.period", periods("M")),
    "truths of 8 bits": Noted("arrow.bool8", pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, 0], pa.int8()))),
    "somebody's own": Noted(
        "arrow.opaque", pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "point", "me"), pa.array([1, 2]))
    ),
}
ROLES: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "person": lambda source: told(lw_count(source, person="odd", by="own", groups=[1, 2])),
    "number": lambda source: told(lw_count(source, person="own", column="odd", lower=0, upper=4)),
    "group": lambda source: told(lw_count(source, person="own", by="odd", groups=[1, 2])),
    "filter": lambda source: told(lw_count(source, person="own", keep={"odd": [1]}, by="own", groups=[1, 2])),
    "time": lambda source: visited(source, time="odd", place="own"),
    "place": lambda source: visited(source, time="at", place="odd"),
}


def lw_count(source: Any, *, person: str, keep: Any = None, **asked: Any) -> Any:
    return statistic_by(records(source, person=person, keep=keep), "histogram", **asked)


def told(query: Any) -> Any:
    with open_data(query, read_keys(query)) as opened:
        return opened.exactly(query, "answer").counts.tolist()


def visited(source: Any, *, time: str, place: str) -> Any:
    unit = "s" if time == "odd" else None
    seen = describe_by(visits, source, person="own", place=place, time=time, time_unit=unit)
    listed = places(pa.table({"k": pa.array([1, 2])}), place="k")
    return told(count_visitors(seen, listed, start="1970-01-01", end="2070-01-01"))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", NOTED)
def test_a_type_that_only_a_note_in_parquet_says_is_refused_by_name(odd: str, role: str, tmp_path: Path) -> None:
    """Found: four people named by periods, of days in one file and of months in another, were counted as two."""
    file = tmp_path / "odd.parquet"
    rest = {"own": pa.array([1, 2]), "at": pa.array([NOON, NOON], pa.timestamp("us"))}
    pq.write_table(pa.table({"odd": NOTED[odd].values, **rest}), file)
    with pytest.raises(DataError, match=re.escape(f"'odd' is of type Arrow's {NOTED[odd].named}")):
        ROLES[role]([file])
    pq.write_table(pa.table({"odd": pa.array([1, 2]), **rest}), file)  # the same as whole numbers
    assert ROLES[role]([file]) is not None


@pytest.mark.parametrize("odd", NOTED)
def test_such_a_column_may_stand_in_the_file_and_not_be_read(odd: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"odd": NOTED[odd].values, "own": pa.array([1, 2])}), file)
    assert told(lw_count([file], person="own", by="own", groups=[1, 2])) == [1, 1]


def test_a_note_without_a_name_is_a_note(tmp_path: Path) -> None:
    file, noted = tmp_path / "odd.parquet", {b"ARROW:extension:name": b""}
    pq.write_table(pa.table([pa.array([1])], schema=pa.schema([pa.field("odd", pa.int64(), metadata=noted)])), file)
    assert declared(files_of(str(file), None)[1][0]) == (("odd", "Arrow's "),)


def test_a_note_that_nobody_knows_is_refused_in_a_process_that_knows_less(tmp_path: Path) -> None:
    """Without pandas, Arrow hands on the name of its extension beside a column of plain numbers."""
    file = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"odd": periods("D"), "own": pa.array([1, 2])}), file)
    script = (
        "import sys; from leeward.tables._files import files_of;"
        "from leeward.tables._parquet import declared;"
        "print(declared(files_of(sys.argv[1], None)[1][0])[0], 'pandas' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=True).stdout
    assert said == "('odd', \"Arrow's pandas.period\") False\n"
