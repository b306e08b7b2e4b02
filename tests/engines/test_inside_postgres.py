"""A table that is counted inside its database: what is refused there, and that a release is the same as anywhere else.

That every exact answer is the oracle's is held by the suites beside this one.
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pandas as pd
import psycopg
import pyarrow as pa
import pytest
from tests.engines.test_all_neighbours import compared, in_postgres
from tests.session.conftest import Town
from tests.sources import describe_by

import leeward as lw
from leeward.demo._city import synthetic_places, synthetic_visits
from leeward.engine import _in_postgres, open_data, read_keys
from leeward.errors import DataError, SpecError
from leeward.ledger import Ledger

Session = tuple[psycopg.Connection[Any], str]
WINDOW = {"start": "2024-03-31T09:00", "end": "2024-03-31T10:00"}


@pytest.fixture
def table(session: Session) -> Session:
    connection, address = session
    connection.execute("CREATE TABLE t (person int, place text, at timestamp, written text, x float8)")
    connection.execute(
        "INSERT INTO t SELECT i % 7, CASE WHEN i % 2 = 0 THEN 'p' ELSE 'q' END, TIMESTAMP '2024-03-31 09:00' + i * INTERVAL "
        "'1 s', '2024-03-31T09:30', i / 4.0 FROM generate_series(1, 50) AS i"
    )
    return connection, address


def asked(address: str, table: str = "t", **given: Any) -> Any:
    how = {"person": "person", "place": "place", "time": "at", "engine": "postgres"} | given
    listed = how.pop("listed", lw.places(pa.table({"key": ["p", "q"]}), place="key"))
    return lw.count_visitors(describe_by(lw.visits, address, table=table, **how), listed, **WINDOW, places_per_person=2)


def counts(query: Any) -> list[int]:
    with open_data(query, read_keys(query)) as opened:
        found: list[int] = opened.exactly(query, "answer").counts.tolist()
        return found


def test_people_are_counted_and_nothing_is_written(table: Session) -> None:
    connection, address = table
    made = b"SELECT count(*) FROM pg_class"
    before = connection.execute(made).fetchone()
    assert counts(asked(address)) == [7, 7]
    assert connection.execute(made).fetchone() == before


def test_a_table_of_parts_and_a_materialized_view_are_tables(table: Session) -> None:
    connection, address = table
    connection.execute("CREATE MATERIALIZED VIEW m AS SELECT * FROM t")
    connection.execute("CREATE TABLE parts (LIKE t) PARTITION BY LIST (place)")
    connection.execute("CREATE TABLE half PARTITION OF parts FOR VALUES IN ('p')")
    connection.execute("CREATE TABLE rest PARTITION OF parts DEFAULT")
    connection.execute("INSERT INTO parts SELECT * FROM t")
    assert counts(asked(address, "m")) == counts(asked(address, "parts")) == [7, 7]


def test_a_database_without_aes_is_refused_in_words(table: Session) -> None:
    """It is wherever its owner put it; where it is not, who may put it there is said, and nothing is fetched instead."""
    connection, address = table
    connection.execute("ALTER EXTENSION pgcrypto SET SCHEMA public")
    try:
        assert counts(asked(address)) == [7, 7]
        with open_data(asked(address), read_keys(asked(address))) as opened:
            first = opened.content(bytes(32))
        connection.execute('CREATE SCHEMA "an Odd one"')
        connection.execute('ALTER EXTENSION pgcrypto SET SCHEMA "an Odd one"')
        with open_data(asked(address), read_keys(asked(address))) as opened:
            assert opened.content(bytes(32)) == first
        connection.execute("DROP EXTENSION pgcrypto")
        with pytest.raises(DataError, match=r"no extension pgcrypto.*CREATE EXTENSION pgcrypto.*leave engine out"):
            counts(asked(address))
    finally:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pgcrypto")
        connection.execute("ALTER EXTENSION pgcrypto SET SCHEMA crypto")
        connection.execute('DROP SCHEMA IF EXISTS "an Odd one"')


def test_what_may_hold_other_rows_each_time_is_refused(table: Session) -> None:
    """A view that draws at random, a foreign table, and a table of which one is a part."""
    connection, address = table
    connection.execute("CREATE VIEW v AS SELECT * FROM t WHERE random() < 0.5")
    connection.execute("CREATE EXTENSION IF NOT EXISTS file_fdw")
    connection.execute("CREATE SERVER IF NOT EXISTS files FOREIGN DATA WRAPPER file_fdw")
    connection.execute("CREATE TABLE parts (LIKE t) PARTITION BY LIST (place)")
    connection.execute(
        "CREATE FOREIGN TABLE elsewhere PARTITION OF parts FOR VALUES IN ('p') SERVER files OPTIONS (filename '/dev/null')"
    )
    for name in ("v", "elsewhere", "parts"):
        with pytest.raises(DataError, match=r"may hold other rows each time.*materialized view"):
            counts(asked(address, name))


def test_texts_are_not_read_as_times_or_numbers(table: Session) -> None:
    _, address = table
    with pytest.raises(DataError, match=r"time = 'written': its times are texts.*timestamptz"):
        counts(asked(address, time="written"))
    held = lw.records(lw.query.Source(address, table="t"), person="person", combine="max", engine="postgres")
    with pytest.raises(DataError, match="column = 'written': its numbers are texts"):
        counts(lw.statistic(held, "sum", column="written", lower=0, upper=1))
    with pytest.raises(DataError, match="no text is read as something else"):
        counts(asked(address, time_format="dd/mm/yyyy"))


def test_infinite_times_are_refused_and_not_shown(table: Session) -> None:
    connection, address = table
    connection.execute("INSERT INTO t VALUES (1, 'p', 'infinity')")
    with pytest.raises(DataError, match="do not publish it") as caught:
        counts(asked(address))
    assert "infinity" not in str(caught.value)


def test_hexagons_are_counted_by_duckdb_only(table: Session) -> None:
    connection, address = table
    connection.execute("ALTER TABLE t ADD lat float8 DEFAULT 52.5, ADD lon float8 DEFAULT 13.4")
    box = {"west": 13.3, "south": 52.4, "east": 13.5, "north": 52.6}
    columns = {"latitude": "lat", "longitude": "lon", "place": None}
    with pytest.raises(DataError, match=r"H3 cells.*grid of metres"):
        counts(asked(address, listed=lw.grid(**box, h3=6), **columns))
    inside = counts(asked(address, listed=lw.grid(**box, metres=5000), **columns))
    assert inside == counts(asked(address, listed=lw.grid(**box, metres=5000), **columns, engine="duckdb"))
    assert sum(inside) == 7


def test_an_engine_that_is_not_there_is_refused_where_it_is_named(table: Session) -> None:
    _, address = table
    with pytest.raises(SpecError, match="the table is in no PostgreSQL database"):
        lw.visits("visits.parquet", person="p", place="q", engine="postgres")
    with pytest.raises(SpecError, match="there is no such engine"):
        lw.records(address, person="p", engine="oracle")  # type: ignore[arg-type]


def test_names_of_the_public_list_are_names(session: Session) -> None:
    connection, address = session
    odd = ["'", '"', "\\", "{", "}", ",", "", " ", "NULL", "a'b\"c\\d", "💧", "%s", "%", "$1", "\0"]
    connection.execute("CREATE TABLE t (person int, place text, at timestamp)")
    for person, name in enumerate(odd[:-1]):
        connection.execute("INSERT INTO t VALUES (%s, %s, %s)", (person, name, datetime(2024, 3, 31, 9)))
    listed = lw.places(pa.table({"key": odd}), place="key")
    assert counts(asked(address, listed=listed)) == [1] * (len(odd) - 1) + [0]


def test_one_moment_is_counted(table: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that others add between two queries of ours are of another moment."""
    connection, address = table
    answer = _in_postgres.InPostgres._answer

    def meanwhile(self: Any, *given: Any) -> Any:
        connection.execute("INSERT INTO t SELECT 100 + random() * 1000, 'p', TIMESTAMP '2024-03-31 09:00'")
        return answer(self, *given)

    monkeypatch.setattr(_in_postgres.InPostgres, "_answer", meanwhile)
    query = asked(address)
    with open_data(query, read_keys(query)) as opened:
        assert opened.look(query).taken == 50
        assert opened.exactly(query, "answer").counts.tolist() == [7, 7]
        before = opened.content(b"secret" * 8).digest
        assert opened.content(b"secret" * 8).digest == before


@pytest.mark.parametrize(
    ("made", "joined"),
    [
        (
            ["CREATE TABLE parts (LIKE t) PARTITION BY LIST (place)"],
            "ALTER TABLE parts ATTACH PARTITION more FOR VALUES IN ('q')",
        ),
        (["CREATE TABLE parts (LIKE t)"], "ALTER TABLE more INHERIT parts"),
    ],
    ids=["a partition", "a table that inherits"],
)
def test_a_part_that_is_joined_meanwhile_is_noticed(table: Session, made: list[str], joined: str) -> None:
    """Its rows were there before our moment, so that they are seen: by the queries after it, and not by those before."""
    connection, address = table
    for statement in (*made, "CREATE TABLE more (LIKE t)", "INSERT INTO more SELECT * FROM t WHERE place = 'q'"):
        connection.execute(statement)
    if "PARTITION" in made[0]:
        connection.execute("CREATE TABLE half PARTITION OF parts FOR VALUES IN ('p')")
    query = asked(address, "parts")
    with open_data(query, read_keys(query)) as opened:
        assert opened.exactly(query, "answer").counts.tolist() == [0, 0]
        opened.content(b"secret" * 8)
        connection.execute(joined)
        with pytest.raises(DataError, match="another part while it was being read"):
            opened.content(b"secret" * 8)
    assert counts(query) == [0, 7]


def test_no_function_of_others_is_called(table: Session) -> None:
    """Where a role finds the names of others first, functions like those that open a session are not theirs."""
    connection, address = table
    connection.execute("CREATE TABLE called (by text)")
    for name, given, of in (("pg_backend_pid", "", "int"), ("current_setting", "text", "text")):
        words = f"INSERT INTO public.called VALUES ('{name}'); SELECT pg_catalog.{name}({'$1' if given else ''})"
        connection.execute(f"CREATE FUNCTION public.{name}({given}) RETURNS {of} LANGUAGE sql AS $${words}$$")
    connection.execute("ALTER ROLE CURRENT_USER SET search_path = public, pg_catalog")
    try:
        assert counts(asked(address)) == counts(asked(address, engine="duckdb")) == [7, 7]
    finally:
        connection.execute("ALTER ROLE CURRENT_USER RESET search_path")
    assert connection.execute("SELECT * FROM called").fetchall() == []


def test_errors_of_the_database_never_show_a_row(table: Session) -> None:
    connection, address = table
    connection.execute("CREATE FUNCTION f(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'")
    connection.execute("INSERT INTO t VALUES (1, 'canary', '294276-12-31 23:59:59')")
    connection.execute("ALTER TABLE t ADD day date")
    connection.execute("UPDATE t SET day = '5874897-12-31'")
    with pytest.raises(DataError, match="beyond what can be counted") as caught:
        counts(asked(address, time="day"))
    assert "canary" not in str(caught.value)
    assert "5874897" not in str(caught.value)


@pytest.mark.parametrize("seed", range(12))
def test_no_neighbour_is_further_than_its_noise_allows(seed: int, session: Session) -> None:
    assert compared(seed, inside=partial(in_postgres, *session)).wrong == []


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("block", range(1, 20))
def test_nor_in_a_thousand_plans(block: int, session: Session) -> None:
    found = [compared(seed, inside=partial(in_postgres, *session)) for seed in range(block * 20, block * 20 + 20)]
    assert [said for each in found for said in each.wrong] == []
    assert sum(each.pairs for each in found) > 2000


def test_groups_that_nobody_has_listed_are_those_of_a_copy(session: Session) -> None:
    connection, address = session
    connection.execute("CREATE TABLE t (person int, town text, at timestamp, x bigint)")
    towns = ["b", "B", "a", "\u00e9", "e\u0301", "", " ", "💧", "z" * 200, "zz", "ä", "Z"]
    connection.cursor().executemany(
        "INSERT INTO t VALUES (%s, %s, %s, %s)",
        [
            (i // 3 % 101, None if i % 23 == 0 else towns[i * 5 % 12], datetime(2024, 3, 31, 9, i % 60), i % 7 - 3)
            for i in range(400)
        ],
    )
    for by in ("town", "x"):
        for m, which in ((1, "first"), (2, "latest"), (3, "earliest"), (12, "refuse")):
            found = []
            for engine in ("duckdb", "postgres"):
                held: Any = {"person": "person", "table": "t", "time": "at", "engine": engine}
                asked = lw.unlisted_groups(
                    describe_by(lw.records, address, **held), by, groups_per_person=m, if_more=which, **WINDOW
                )
                with open_data(asked, read_keys(asked)) as opened:
                    one = opened.exactly(asked, "groups")
                    found.append((one.counts.tolist(), one.dropped, one.people_over_bound))
            assert found[0] == found[1]
            assert len(found[0][0]) > 5


# ---- the whole way of a release


def held_in(session: Session, town: Town) -> str:
    """Copy the visits of the town into the database, and return its address."""
    connection, address = session
    frame = pd.read_parquet(town.folder / "visits.parquet")
    connection.execute('CREATE TABLE visits ("user" text, venue text, at timestamp)')
    with connection.cursor().copy(b"COPY visits FROM STDIN") as copy:
        for row in frame.itertuples(index=False):
            copy.write_row([str(row.user), str(row.venue), row.at.to_pydatetime()])
    return address


def test_a_release_is_the_same_question_on_both_engines(session: Session, town: Town) -> None:
    """Released inside the database, asked again of a copy: the stored answer is given, and nothing is charged anew."""
    address = held_in(session, town)
    said = []
    for engine, out in (("postgres", "one"), ("duckdb", "two"), ("postgres", "three")):
        where = f'visits = "{address}"\nvisits_table = "visits"\nengine = "{engine}"'
        spec = town.spec(('visits = "visits.parquet"', where))
        code, _, err = town.run("release", spec, "--out", town.folder / out, "--quiet")
        assert code == 0, err
        assert "changed" not in err
        said.append(json.loads((town.folder / out / "release.json").read_text()))
        answers = pd.read_parquet(town.folder / out / "answers.parquet")
        said[-1] = {"answers": answers.to_dict(), "statement": said[-1]}
    assert said[0] == said[1] == said[2]
    assert str(Ledger(town.folder / "budget.db").show("town")[0].spent) == "1"


@pytest.mark.sweep
def test_the_synthetic_city_is_counted_alike(session: Session) -> None:
    """Its 144,732 visits to 5,835 places, hour by hour: the same counts and the same content on both engines."""
    connection, address = session
    seen, listed = synthetic_visits(), lw.places(synthetic_places(), place="place")
    connection.execute("CREATE TABLE visits (person bigint, place bigint, time timestamp)")
    with connection.cursor().copy(b"COPY visits FROM STDIN") as copy:
        for row in zip(*(seen[name].to_pylist() for name in ("person", "place", "time")), strict=True):
            copy.write_row(row)
    first = min(seen["time"].to_pylist()).replace(minute=0, second=0, microsecond=0)
    starts = [first + timedelta(hours=hours) for hours in (0, 6, 12, 17, 18, 19)]
    found = []
    for source, table, engine in ((seen, None, "duckdb"), (address, "visits", "postgres")):
        held: Any = {"person": "person", "place": "place", "time": "time", "table": table, "engine": engine}
        visits, bound = describe_by(lw.visits, source, **held), {"places_per_person": 1, "if_more": "latest"}
        asked = [lw.count_visitors(visits, listed, start=at, end=at + timedelta(hours=1), **bound) for at in starts]
        with open_data(asked[0], read_keys(asked[0])) as opened:
            opened.expect(asked)
            counted = [opened.exactly(query, "answer") for query in asked]
            said = [(one.counts.tolist(), one.dropped, one.rows_kept, one.people_over_bound) for one in counted]
            found.append((said, opened.content(b"secret" * 8)))
    assert found[0] == found[1]
    assert sum(map(sum, (counts for counts, *_ in found[0][0]))) > 10_000
