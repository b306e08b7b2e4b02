"""What engines are known to differ in: each trap is a small case, and its answer is the oracle's wherever the table is held.

Traps were found by asking DuckDB, PostgreSQL and Spark the same, row by row. What is refused instead is so everywhere.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.engines.cases import E_ACUTE, FAR, INF, NAN, Case, Column, F, drawn, meant
from tests.engines.held import HOLDERS, differences
from tests.oracle.asked import UNREADABLE

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.engine._content import recognised
from leeward.errors import DataError
from leeward.query import Source

MORNING = datetime(2024, 3, 31, 9)
KEY = b"secret" * 8


def column(kind: str, written: Sequence[Any]) -> Column:
    return Column(kind, written, [meant(kind, value) for value in written])


def of_visits(*, places: Sequence[Any] = ("p",), k: int | None = None, zone: str | None = None, **given: Any) -> Case:
    """Visits of one morning; what is not given is one person at p, at nine."""
    first = next(iter(given.values()))
    size = len(first.written if isinstance(first, Column) else first[1])
    made = {"person": ("int8", range(size)), "place": ("text", ["p"] * size), "time": ("readings", [MORNING] * size)}
    columns = {name: value if isinstance(value, Column) else column(*value) for name, value in (made | given).items()}
    kind = columns["time"].kind
    ask: dict[str, Any] = {"places": list(places), "k": k, "if_more": "refuse" if k is None else "latest", "keep": {}}
    ask |= {
        "window": (MORNING, MORNING + timedelta(hours=1)),
        "zone": zone,
        "clock": "texts" if kind == "text" else kind,
    }
    return Case(columns, ask, columns["place"].kind)


def of_numbers(kind: str, written: Sequence[Any], asked: str = "sum", **ask: Any) -> Case:
    """Numbers of as many people; what is not asked is from 0 to 4 in steps of 1."""
    bounds = {"lower": F(0), "upper": F(4), "step": F(1), "combine": "max", "window": None, "keep": {}}
    persons = ask.pop("persons", range(len(written)))
    return Case({"person": column("int8", persons), "number": column(kind, written)}, {"kind": asked} | bounds | ask)


def unread(texts: Sequence[str], read: Mapping[str, datetime]) -> Column:
    """Texts of which most are no times."""
    return Column("text", texts, [read.get(text, UNREADABLE) for text in texts])


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ALIKE = ["ann", "Ann", "ANN", "ann ", " ann", "an n", *E_ACUTE, "\u1e9e", "ss", "ß", "I", "ı"]
ODD = ["12.7", "1e3", "0x10", "12\n", " 12", "1_2", "", "٣", "12"]
OF_DAY = ["19:03", "epoch", "now", "today", "infinity", "24:00", "2024-03-31 09:30\n", "2024-03-31T09:30"]

TRAPS: dict[str, Case] = {
    "NaN is nobody, and both zeros are one person": of_visits(person=("float8", [NAN, NAN, 0.0, -0.0, 1.0])),
    "both zeros are one place": of_visits(place=("float8", [0.0, -0.0, NAN, 1.0]), places=[0.0, 1.0]),
    "NaN is no number": of_numbers("float8", [NAN, 1.0, None, INF, -INF]),
    "NaN is no number, of 32 bits": of_numbers("float4", [np.float32(x) for x in (NAN, 1.0, INF, 3.5)]),
    "a person's sum is past 64 bits": of_numbers(
        "int8", [2**59] * 40, persons=[1] * 40, combine="sum", upper=F(2**59), step=F(2**20)
    ),
    "the greatest integers": of_numbers("int8", [2**63 - 1, -(2**63) + 1, FAR, 3], "histogram"),
    "integers are divided exactly": of_numbers(
        "int8", [2**58 + 1, 2**58 - 1, -(2**58) - 2], "median", lower=F(-(2**59)), upper=F(2**59) - 1, step=F(3)
    ),
    "halves are rounded up": of_numbers("float8", [0.5, 1.5, 2.5, 2.7, -0.5, 3.4999999]),
    "halves are rounded up, as decimals": of_numbers("decimal", [Decimal(x) for x in ("0.50", "1.50", "2.50", "2.49")]),
    "intervals begin at their ends": of_numbers("float8", [0.0, 1.0, 1.9999999, 2.0, 2.7, 4.0, 9.0], "histogram"),
    "tenths are tenths": of_numbers("float8", [0.15, 0.25, 0.35, 1.005, 0.1 + 0.2], step=F(1, 10)),
    "tenths are tenths, of 32 bits": of_numbers("float4", [np.float32(x) for x in (0.15, 0.25, 0.35)], step=F(1, 10)),
    "floats of 32 bits as texts": of_numbers(
        "float4", [np.float32(x) for x in (16777216.0, 1e-5, 123456.7)], upper=F(2**25), step=F(1, 8)
    ),
    "floats of 32 bits of more digits than say which they are": of_numbers(
        "float4", [np.float32(x) for x in (343126.125, 1183382.75, 99.625)], upper=F(2**21), step=F(1, 4)
    ),
    "means of decimals": of_numbers("decimal", [Decimal("0.10"), Decimal("0.20"), Decimal("3.33")], "mean", grid=F(1, 3)),
    "nobody has a mean": of_numbers("float8", [None, NAN], "mean", grid=F(1)),
    "texts that some take for whole numbers": replace(
        made := of_visits(time=unread(ODD, {"12": EPOCH + timedelta(seconds=12)})),
        ask=made.ask | {"unit": "s", "clock": "epochs", "window": (EPOCH, EPOCH + timedelta(hours=1))},
    ),
    "texts that some take for floats": of_numbers("text", ["1d", "0x1p3", "0x10", "1,5", "1.5f", "1.5", ".5", "5.", "1e0"]),
    "texts that some take for times": of_visits(time=unread(OF_DAY, {OF_DAY[-1]: MORNING + timedelta(minutes=30)})),
    "nanoseconds": of_visits(time=("nanoseconds", [MORNING, MORNING - timedelta(microseconds=1)])),
    "the year 1500": replace(
        made := of_visits(time=("readings", [datetime(1500, 2, 28), datetime(1500, 3, 1)])),
        ask=made.ask | {"window": (datetime(1500, 2, 28), datetime(1500, 3, 1))},
    ),
    "days": replace(
        made := of_visits(time=("date", [date(2024, 3, 31), date(2024, 4, 1)])),
        ask=made.ask | {"clock": "dates", "window": (datetime(2024, 3, 31), datetime(2024, 4, 1))},
    ),
    "days, of which an hour is asked": replace(
        made := of_visits(time=("date", [date(2024, 3, 31), date(2024, 4, 1)])), ask=made.ask | {"clock": "dates"}
    ),
    "readings of another clock": replace(
        made := of_visits(time=("readings", [MORNING, MORNING + timedelta(hours=9)]), zone="Asia/Tokyo"),
        ask=made.ask | {"window": (MORNING.replace(tzinfo=UTC), MORNING.replace(hour=10, tzinfo=UTC))},
    ),
    "moments, read elsewhere": of_visits(
        time=("instants", [MORNING.replace(tzinfo=UTC), MORNING.replace(tzinfo=UTC) - timedelta(hours=9)]), zone="Asia/Tokyo"
    ),
    "moments and readings are not compared": of_visits(time=("instants", [MORNING.replace(tzinfo=UTC)])),
    "persons whose names look alike": of_visits(person=("text", ALIKE)),
    "places whose names look alike": of_visits(place=("text", ALIKE), places=ALIKE[::2]),
    "unsigned integers": of_visits(person=("uint8", [2**64 - 1, 2**63, 1])),
    "unsigned numbers": of_numbers("uint8", [2**64 - 1, 2**63, 1]),
    "of places at one moment the first of the list": of_visits(
        person=("int8", [1, 1, 1]), place=("text", ["q", "p", "r"]), places=["r", "p", "q"], k=1
    ),
    "what is filtered out need not be a number": replace(
        made := of_numbers("text", ["many", "1", "2"]),
        columns=made.columns | {"state": column("text", ["out", "in", None])},
        ask=made.ask | {"keep": {"state": ["in"]}},
    ),
}  # fmt: skip


def _ready(case: Case) -> Case:
    """With what follows: days begin at midnight, and are readings."""
    time = case.columns.get("time")
    if time is None:
        return case
    clock = {"date": "readings", "nanoseconds": "readings"}.get(case.ask["clock"], case.ask["clock"])
    meaning = [datetime(m.year, m.month, m.day) if type(m) is date else m for m in time.meant]
    return replace(case, columns=case.columns | {"time": replace(time, meant=meaning)}, ask=case.ask | {"clock": clock})


BEYOND_TEXTS = ("a person's sum is past 64 bits", "integers are divided exactly")
"""Of so many steps that texts, which are read as floats, are refused."""


@pytest.mark.parametrize("trap", TRAPS)
def test_no_engine_falls_into_it(trap: str, tmp_path: Path, session: Any) -> None:
    ways = {way: hold for way, hold in HOLDERS.items() if way != "csv" or trap not in BEYOND_TEXTS}
    assert differences(replace(_ready(TRAPS[trap]), label=trap), tmp_path, session, ways) == []


def test_an_id_that_may_be_several_people_is_refused_everywhere(tmp_path: Path, session: Any) -> None:
    """But in a file of texts, in which it is a text."""
    for kind, large in (("float8", 2.0**53), ("float4", np.float32(2**24)), ("float8", INF)):
        case = of_visits(person=Column(kind, [1.0, large], [1.0, large]))
        for way, hold in HOLDERS.items():
            held = hold(case, tmp_path, session)
            assert held is not None
            assert (held.said() is DataError) == (way != "csv"), (kind, way)


def test_columns_that_differ_in_case_are_refused_everywhere(tmp_path: Path, session: Any) -> None:
    """Names of DuckDB and of Spark are blind to case: none is taken for the other."""
    table = pa.table({"user": [1, 2], "User": [7, 7], "x": [3, 3]})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("user,User,x\n1,7,3\n2,7,3\n")
    connection, address = session
    connection.execute('CREATE TABLE t (x int, "user" int, "User" int)')
    for source, name in ((table, None), (tmp_path / "t.parquet", None), (tmp_path / "t.csv", None), (address, "t")):
        for person in ("user", "User"):
            asked = lw.statistic(lw.records(Source(source, table=name), person=person), "histogram", by={"x": [3]})
            with pytest.raises(DataError, match="only in upper and lower case"), open_data(asked, read_keys(asked)):
                pass


def test_the_order_of_rows_is_nothing(tmp_path: Path) -> None:
    for seed in range(8):
        case, draw = drawn(seed), random.Random(seed)
        order = draw.sample(range(case.size), case.size)
        columns = {
            role: Column(c.kind, [c.written[i] for i in order], [c.meant[i] for i in order])
            for role, c in case.columns.items()
        }
        said = [HOLDERS["arrow"](each, tmp_path, None) for each in (case, replace(case, columns=columns))]
        assert said[0] is not None
        assert said[1] is not None
        assert said[0].said() == said[1].said()


@pytest.fixture
def odd_settings(session: tuple[psycopg.Connection[Any], str], postgres_database: str) -> Iterator[None]:
    """Everybody's sessions of the database begin with settings that change how values are read and written."""
    connection, _ = session
    settings = {
        "timezone": "'Asia/Tokyo'",
        "extra_float_digits": "-15",
        "datestyle": "'SQL, DMY'",
        "search_path": "public",
    }
    for name, value in settings.items():
        connection.execute(f"ALTER DATABASE {postgres_database} SET {name} = {value}".encode())
    yield
    connection.execute(f"ALTER DATABASE {postgres_database} RESET ALL".encode())


@pytest.mark.sweep
@pytest.mark.usefixtures("odd_settings")
def test_settings_of_the_database_are_nothing(tmp_path: Path, session: Any) -> None:
    ways = {way: hold for way, hold in HOLDERS.items() if way.startswith("postgres")}
    cases = [replace(_ready(case), label=trap) for trap, case in TRAPS.items()]
    assert [said for case in cases for said in differences(case, tmp_path, session, ways)] == []


FLOATS = [
    0.1,
    -0.0,
    1e15,
    9007199254740991.0,
    123456789012345.6,
    1e16,
    1e-4,
    1e-5,
    0.00012345,
    5e-324,
    9.87e-322,
    1e22,
    1e23,
    NAN,
    struct.unpack("<d", b"\1" + bytes(5) + b"\xf8\xff")[0],  # another NaN
    -INF,
]
ODD_TEXTS = [
    *("7", "7.", "+7.00", "007.10", "-0.0", "-0", "1.50", "00.5", ".5", "1e3", "0x10", "7 ", " 7", "7\n", "0.1\n", "٧"),
    *("999999999999999999", "1000000000000000000", "-999999999999999999", "9" * 40, "0.1234567", "0.12345678"),
    *("1234567.1234567", "12345678.1", "-0.5", "+0.5", "0.10000000000000001", "nan", "Infinity", "true"),
    *("é" * n for n in (7, 8, 9, 16, 40)),
    *("x" * n for n in (15, 16, 17, 1023, 1024, 1025, 1040, 5000)),
]
"""What some would take for numbers, and lengths on both sides of a block and of those that are hashed one by one."""
KEPT: dict[str, Sequence[Any]] = {
    "float8": [*FLOATS, *(random.Random(3).uniform(-1, 1) * 10.0**power for power in range(-8, 20))],
    "float4": [
        np.float32(x)
        for x in (0.1, -0.0, 1.1754944e-38, 9.8e-45, 16777216.0, 1e-5, 1e-4, 123456.7, 1e9, 3.4e38, 1e16, NAN, INF)
    ],
    "int8": [-(2**63) + 1, 0, 7, FAR],
    "uint8": [2**64 - 1, 2**63, 10**18, 7],
    "decimal": [Decimal(x) for x in ("0.00", "-0.10", "12.30", "7.00")],
    "share": [Decimal(x) for x in ("0.0000", "-0.0500", "0.9999", "0.5000")],
    "bool": [True, False],
    "text": [*ODD_TEXTS, "", "7.0", "07", "a\\b", "\u00e9", "e\u0301", "💧", "a:b", "x" * 300],
    "date": [date(1500, 1, 1), date(2024, 2, 29)],
    "readings": [datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2024, 1, 1)],
    "instants": [datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)],
}
TIMES = ("int8", "date", "readings", "instants")
"""Types whose mark, in a column of times, is a sum."""


@pytest.mark.parametrize("kind", KEPT)
def test_the_content_of_a_table_is_recognised_wherever_it_is(kind: str, tmp_path: Path, session: Any) -> None:
    """The digests of a table of each type are the same, and another value gives another."""
    values = [*KEPT[kind], None]
    found = []
    for written in (values, values[:-2] + values[-1:] + [values[0]]):
        case = Case({"v": column(kind, written), "person": column("int8", range(len(written)))}, {})
        for way, hold in HOLDERS.items():
            if way != "csv" and (held := hold(case, tmp_path, session)) is not None:
                with held.bound({"a value": "v", "person": "person"}) as bound:
                    content = recognised(bound, KEY, ("v",) if kind in TIMES else ())
                    found.append((way, content.digest, content.marks))
    half = len(found) // 2
    assert {digest for _, digest, _ in found[:half]} == {found[0][1]}, [way for way, *_ in found]
    assert all(marks == found[0][2] for _, _, marks in found[:half])
    assert {digest for _, digest, _ in found[half:]} == {found[half][1]}
    assert found[0][1] != found[half][1]


@pytest.mark.sweep
def test_each_missing_value_of_many_columns_is_told_apart(tmp_path: Path, session: Any) -> None:
    """Of more columns than one word says of which are missing; a value that is missing and one that is 0 are two."""
    names = [f"c{i}" for i in range(40)]
    found = []
    for missing in (None, 0, 15, 16, 31, 32, 39):
        values = {name: column("int8", [7, None if i == missing else 0]) for i, name in enumerate(names)}
        for way, hold in HOLDERS.items():
            if way != "csv" and (held := hold(Case(values, {}), tmp_path, session)) is not None:
                with held.bound({f"column {name}": name for name in names}) as bound:
                    found.append((missing, recognised(bound, KEY, ()).digest))
    assert len(set(found)) == len({digest for _, digest in found}) == 7
