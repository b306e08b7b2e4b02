"""Tables of PostgreSQL: the counts and the content of a file of the same rows; what has a doubt in it is refused."""

from __future__ import annotations

import datetime as dt
import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.engine.test_engine_counts import (
    END,
    MODES,
    START,
    check,
    describe,
    expected,
    listing,
    many_rows,
    table,
)
from tests.postgres import Server
from tests.visited import open_visits

from leeward.engine import _postgres_rows, open_data, read_keys, read_places
from leeward.engine._bind import bind
from leeward.errors import DataError, InputError, SpecError
from leeward.query import Source, count_visitors, places, statistic
from leeward.query import records as described_records

KEY = b"secret" * 8


@pytest.fixture
def session(postgres: Server, postgres_database: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(postgres.address(postgres_database), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS public CASCADE")
        connection.execute("CREATE SCHEMA public")
        yield connection


@pytest.fixture
def url(session: psycopg.Connection[Any], postgres: Server, postgres_database: str) -> str:
    return postgres.address(postgres_database)


def filled(session: psycopg.Connection[Any], rows: list[dict[str, Any]], name: str = "visits") -> None:
    session.execute(f"CREATE TABLE {name} (person bigint, place text, time timestamp, state text)".encode())
    with session.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
        for row in rows:
            copy.write_row([row[column] for column in ("person", "place", "time", "state")])


def read(url: str, name: str, column: str = "x") -> list[Any]:
    with bind(url, {"column": column}, name) as bound:
        return bound.all_rows().column(column).to_pylist()


# ---- one meaning


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_counts_and_content_are_those_of_the_oracle_and_of_a_file(
    seed: int, session: psycopg.Connection[Any], url: str
) -> None:
    """Visits with every kind of flaw, under every bound, with a filter and without."""
    rows = many_rows(seed, 300)
    filled(session, rows)
    for keep in ({}, {"state": ("STAY",)}):
        contents = []
        for source, name in ((url, "visits"), (table(rows), None)):
            described, listed = describe(source, keep=keep, table=name), listing()
            with open_visits(described, read_places(listed)) as opened:
                for k, mode in MODES:
                    query = count_visitors(described, listed, start=START, end=END, places_per_person=k, if_more=mode)
                    check(opened.count(query), expected(rows, k, mode, keep.items()))
                contents.append(opened.content(KEY))
        assert contents[0] == contents[1]


ASKED = [
    {"kind": "sum", "lower": -3, "upper": 50, "step": 1},
    {"kind": "mean", "lower": 0, "upper": 20, "step": 1, "grid": 1, "people": None},
    {"kind": "median", "lower": 0, "upper": 20, "step": 2},
    {"kind": "histogram", "lower": 0, "upper": 20, "step": 5},
]


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("integer", lambda random: int(random.integers(-5, 60))),
        ("numeric(9, 2)", lambda random: Decimal(int(random.integers(-500, 6000))) / 100),
        ("double precision", lambda random: float(random.integers(-500, 6000)) / 8),
    ],
)
@pytest.mark.parametrize("ask", ASKED, ids=lambda ask: ask["kind"])
def test_statistics_are_those_of_a_file(
    ask: dict[str, Any], sql: str, made: Any, session: psycopg.Connection[Any], url: str
) -> None:
    random = np.random.default_rng(7)
    rows = [(person, None if random.random() < 0.1 else made(random)) for person in range(80)]
    session.execute(f"CREATE TABLE people (person int, x {sql})".encode())
    with session.cursor() as cursor:
        cursor.executemany("INSERT INTO people VALUES (%s, %s)", rows)
    typed = {"integer": pa.int32(), "numeric(9, 2)": pa.decimal128(9, 2), "double precision": pa.float64()}[sql]
    file = pa.table({"person": pa.array([p for p, _ in rows], pa.int32()), "x": pa.array([x for _, x in rows], typed)})
    given = {name: value for name, value in ask.items() if name != "kind" and value is not None}
    found = []
    for source, name in ((url, "people"), (file, None)):
        query = statistic_by(
            described_records(Source(source, table=name), person="person"), ask["kind"], column="x", **given
        )
        with open_data(query, read_keys(query)) as opened:
            found.append((np.asarray(opened.exactly(query, "answer").counts).tolist(), opened.content(KEY)))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("boolean", [True, False, None]),
        ("smallint", [-(2**15), 2**15 - 1, None]),
        ("integer", [-(2**31), 2**31 - 1, None]),
        ("bigint", [-(2**63), 2**63 - 1, None]),
        ("real", [0.1, 16777215.0, -0.0, math.inf]),
        ("double precision", [0.1 + 0.2, 5e-324, 1.7976931348623157e308, -math.inf]),
        ("numeric(38, 2)", [Decimal("123456789012345678901234567890.05"), Decimal("-0.10"), None]),
        ("numeric(3)", [Decimal(999), Decimal(-999)]),
        ("text", ["", "a", "a ", "A", "é", "e\u0301", "\t\n\r\\N", "'\"", "𝔘", None]),
        ("varchar(3)", ["", "a ", "abc"]),
        ("date", [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(9999, 12, 31), None]),
        (
            "timestamp",
            [dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(9999, 12, 31), None],
        ),
        ("timestamptz", [dt.datetime(2026, 3, 29, 1, 59, 59, 1, tzinfo=dt.UTC), None]),
    ],
)
def test_values_are_what_they_are(kind: str, values: list[Any], session: psycopg.Connection[Any], url: str) -> None:
    session.execute(f"CREATE TABLE t (x {kind})".encode())
    with session.cursor() as cursor:
        cursor.executemany("INSERT INTO t VALUES (%s)", [(value,) for value in values])
    session.execute("ALTER ROLE keeper SET timezone = 'Asia/Tokyo'")
    session.execute("ALTER ROLE keeper SET datestyle = 'SQL, DMY'")
    session.execute("ALTER ROLE keeper SET extra_float_digits = -15")
    try:
        found = read(url, "t")
    finally:
        session.execute("ALTER ROLE keeper RESET ALL")
    wanted = [float(np.float32(value)) for value in values] if kind == "real" else values
    assert [repr(each) for each in found] == [repr(each) for each in wanted] or found == wanted
    assert len(found) == len(values)


def test_many_rows_come_in_several_batches(session: psycopg.Connection[Any], url: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(_postgres_rows, "_AT_ONCE", 7)
    session.execute("CREATE TABLE t AS SELECT i AS x FROM generate_series(1, 100) i")
    assert sorted(read(url, "t")) == list(range(1, 101))
    session.execute("CREATE TABLE none (x int)")
    assert read(url, "none") == []


# ---- what has a doubt in it


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("citext", "citext"),
        ("character(5)", r"character\(5\)"),
        ('text COLLATE "blind"', "collation blind"),
        ('varchar(9) COLLATE "blind"', "collation blind"),
        ("numeric", "type numeric"),
        ("numeric(40, 2)", r"numeric\(40,2\)"),
        ("numeric(2, -3)", "numeric"),
        ("numeric(2, 5)", "numeric"),
        ("adult", "adult"),
        ("mood", "mood"),
        ("interval", "interval"),
        ("timetz", "time with time zone"),
        ("time", "time without"),
        ("json", "json"),
        ("jsonb", "jsonb"),
        ("money", "money"),
        ("int[]", r"integer\[\]"),
        ("bytea", "bytea"),
        ("name", "type name"),
        ('"char"', "char"),
        ("oid", "oid"),
        ("inet", "inet"),
        ("int4range", "int4range"),
        ("impostor.text", "impostor.text"),
    ],
)
def test_types_whose_equality_is_not_certain_are_refused(
    kind: str, says: str, session: psycopg.Connection[Any], url: str
) -> None:
    session.execute("CREATE EXTENSION IF NOT EXISTS citext")
    session.execute("CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    session.execute("CREATE DOMAIN adult AS int CHECK (value > 17)")
    session.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    session.execute("DROP SCHEMA IF EXISTS impostor CASCADE")
    session.execute("CREATE SCHEMA impostor")
    session.execute("CREATE DOMAIN impostor.text AS int")
    session.execute(f"CREATE TABLE t (x {kind}, person bigint)".encode())
    with pytest.raises(DataError, match=says):
        read(url, "t")
    assert read(url, "t", "person") == []  # what is not asked for is in nobody's way


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("timestamp", "infinity"),
        ("timestamptz", "-infinity"),
        ("date", "infinity"),
        ("numeric(5, 2)", "NaN"),
        ("timestamp", "294276-12-31 23:59:59.999999"),
    ],
)
def test_values_without_a_place_are_refused_and_not_shown(
    kind: str, value: str, session: psycopg.Connection[Any], url: str
) -> None:
    session.execute(f"CREATE TABLE t (x {kind})".encode())
    session.execute("INSERT INTO t VALUES (%s)", (value,))
    said = "beyond what can be counted" if value.startswith("2") else "a time is infinite, or a decimal is not a number"
    with pytest.raises(DataError, match=rf"{said}.*do not publish it") as caught:
        read(url, "t")
    assert value[:8] not in str(caught.value)


def test_errors_of_the_engine_never_show_a_row(session: psycopg.Connection[Any], url: str) -> None:
    session.execute("CREATE TABLE secrets (word text)")
    session.execute("INSERT INTO secrets VALUES ('canary')")
    session.execute("CREATE VIEW t AS SELECT word::int AS x FROM secrets")
    with pytest.raises(DataError, match="beyond what can be counted") as caught:
        read(url, "t")
    assert "canary" not in str(caught.value)


# ---- which table


def test_a_table_is_found_by_its_name_and_schema(session: psycopg.Connection[Any], url: str) -> None:
    session.execute('CREATE TABLE "Odd ""name.x" ("a""b" int, "C d" int)')
    session.execute('INSERT INTO "Odd ""name.x" VALUES (1, 2)')
    assert read(url, 'Odd "name.x', 'a"b') == [1]
    assert read(url, 'public.Odd "name.x', "C d") == [2]
    session.execute("CREATE SCHEMA IF NOT EXISTS other")
    session.execute("DROP VIEW IF EXISTS other.seen")
    session.execute("CREATE VIEW other.seen AS SELECT 7 AS x")
    assert read(url, "other.seen") == [7]
    for wrong, says in (
        (None, "is not named"),
        ("seen", r"no such table or view.*other\.seen"),
        ("pg_class", "no such"),
    ):
        with pytest.raises(DataError, match=says):
            read(url, wrong)
    with pytest.raises(DataError, match="column"):
        read(url, "other.seen", "y")
    session.execute("DROP SCHEMA other CASCADE")


def test_one_moment_is_read(session: psycopg.Connection[Any], url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that another adds between two queries of ours is of another moment."""
    session.execute("CREATE TABLE t (x date)")
    session.execute("INSERT INTO t VALUES ('2026-01-01')")
    refuse = _postgres_rows.refuse_odd

    def meanwhile(*given: Any) -> None:
        refuse(*given)
        session.execute("INSERT INTO t VALUES ('infinity')")

    monkeypatch.setattr(_postgres_rows, "refuse_odd", meanwhile)
    assert read(url, "t") == [dt.date(2026, 1, 1)]


REWRITTEN = {
    "emptied and filled": "TRUNCATE t; INSERT INTO t SELECT generate_series(1, 50)",
    "of another type": "ALTER TABLE t ALTER x TYPE bigint",
    "another table": "CREATE TABLE n AS SELECT * FROM t; DROP TABLE t; ALTER TABLE n RENAME TO t",
    "a part emptied and filled": "TRUNCATE part; INSERT INTO part SELECT generate_series(1, 50)",
}
"""What leaves a snapshot that is older than it with an empty table: rows are put into new files."""


@pytest.fixture
def fifty(session: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """A table of 50 rows, and one of which they are a part."""
    session.execute("CREATE TABLE t AS SELECT generate_series(1, 50) AS x")
    session.execute("CREATE TABLE parts (x int) PARTITION BY LIST (x)")
    session.execute("CREATE TABLE part PARTITION OF parts DEFAULT")
    session.execute("INSERT INTO parts SELECT x FROM t")
    session.execute("CREATE VIEW seen AS SELECT x FROM parts")
    return session


@pytest.mark.parametrize("source", ["t", "parts", "seen"])
def test_a_table_that_is_being_filled_anew_is_waited_for(source: str, fifty: psycopg.Connection[Any], url: str) -> None:
    """Emptied and filled in one transaction that is not over: the table was empty for a snapshot of before its end."""
    with psycopg.connect(url) as other:
        other.execute(REWRITTEN["a part emptied and filled" if source != "t" else "another table"].encode())

        def ended_when_somebody_waits() -> None:
            while fifty.execute("SELECT FROM pg_locks WHERE NOT granted").fetchone() is None:
                time.sleep(0.005)
            other.commit()

        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(ended_when_somebody_waits)
            assert read(url, source) == [*range(1, 51)]
            ended.result()


@pytest.mark.parametrize("engine", [None, "postgres"])
@pytest.mark.parametrize("how", REWRITTEN)
def test_a_table_that_is_written_anew_while_it_is_opened_is_not_taken_for_an_empty_one(
    engine: Any, how: str, fifty: psycopg.Connection[Any], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After our snapshot, and before the table is locked."""
    source, chosen, calls = "parts" if "part" in how else "t", _postgres_rows.chosen, list[str]()

    def meanwhile(*given: Any) -> Any:
        found = chosen(*given)
        calls.append(how)
        if len(calls) == 2:
            fifty.execute(REWRITTEN[how].encode())
        return found

    monkeypatch.setattr(_postgres_rows, "chosen", meanwhile)
    query = statistic(described_records(Source(url, table=source), person="x", engine=engine or "duckdb"), "count")
    with pytest.raises(DataError, match="written anew while it was being opened"), open_data(query, read_keys(query)):
        pass
    with open_data(query, read_keys(query)) as opened:
        assert opened.exactly(query, "answer").counts.tolist() == [50]


def test_a_column_that_is_made_anew_while_the_table_is_opened_is_not_read(
    fifty: psycopg.Connection[Any], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are in the same files, and would hold for us what no one has ever seen there: the default in all of them."""
    kinds_of = _postgres_rows._lock

    def meanwhile(*given: Any) -> None:
        fifty.execute("ALTER TABLE t DROP x; ALTER TABLE t ADD x int DEFAULT 7; UPDATE t SET x = 1")
        kinds_of(*given)

    chosen, calls = _postgres_rows.chosen, list[int]()

    def second(*given: Any) -> Any:
        calls.append(0)
        found = chosen(*given)
        if len(calls) == 2:
            monkeypatch.setattr(_postgres_rows, "_lock", meanwhile)
        return found

    monkeypatch.setattr(_postgres_rows, "chosen", second)
    with pytest.raises(DataError, match="no column of that name"):
        read(url, "t")


def test_what_is_read_is_only_read(session: psycopg.Connection[Any], url: str) -> None:
    session.execute("CREATE TABLE t (x int)")
    session.execute(
        "CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO public.t VALUES (1) RETURNING x'"
    )
    session.execute("CREATE VIEW v AS SELECT public.writes() AS x")
    with pytest.raises(DataError, match="may only read"):
        read(url, "v")
    assert read(url, "t") == []


def test_rows_that_a_policy_hides_are_not_silently_left_out(
    session: psycopg.Connection[Any], postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.execute("CREATE TABLE t (x int)")
    session.execute("ALTER TABLE t ENABLE ROW LEVEL SECURITY")
    session.execute("GRANT USAGE ON SCHEMA public TO stranger")
    session.execute("GRANT SELECT ON t TO stranger")
    monkeypatch.setenv("PGPASSWORD", "never to be shown")
    with pytest.raises(DataError, match="may not do that"):
        read(postgres.address(postgres_database, "stranger"), "t")


def test_an_address_with_a_password_is_refused_where_it_is_given() -> None:
    makers: list[Any] = [
        lambda at: describe(at, table="t"),
        lambda at: places(at, place="p"),
        lambda at: described_records(at, person="p"),
    ]
    for make in makers:
        with pytest.raises(InputError, match="holds a password") as caught:
            make("postgresql://me:sesame@host/b")
        assert "sesame" not in str(caught.value)


def test_the_public_list_is_not_there(url: str) -> None:
    """Its order is that of the answers, and a table of a database has none."""
    with pytest.raises(SpecError, match=r"has no order.*Write it into a file"):
        places(Source(url, table="listed"), place="place")


def test_a_server_that_is_away_is_said(url: str) -> None:
    with pytest.raises(DataError, match="not reached"):
        read("postgresql://127.0.0.1:1/b", "t")
