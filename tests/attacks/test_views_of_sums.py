"""Attack: views of a DuckDB file that sum up floats, or take places once each, in whichever order threads get to them.

The file is as it was, so a view in it is the same table: its content did not change, and its question is the same question.
"""

from pathlib import Path

import duckdb
import pytest

from leeward.engine import read_places
from leeward.engine._bind import bind
from leeward.engine._content import recognised
from leeward.errors import DataError
from leeward.query import Source, places

KEY = b"0123456789abcdef" * 2


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("views") / "town.duckdb"
    with duckdb.connect(path) as made:
        made.execute(
            "CREATE TABLE readings AS SELECT 'c' || (i % 50) AS customer, (i * 7919 % 100003) / 10007.0::DOUBLE AS kwh,"
            " make_timestamptz(1772409600000000 + i * 1000) AS moment FROM range(600_000) t(i)"
        )
        made.execute("CREATE VIEW each AS SELECT customer, sum(kwh) AS kwh FROM readings GROUP BY customer")
        made.execute(
            "CREATE VIEW days AS SELECT customer, sum(kwh) AS kwh, min(moment)::DATE AS day FROM readings GROUP BY customer"
        )
        made.execute("CREATE TABLE squares AS SELECT 'square ' || i AS name FROM range(20_000) t(i)")
        made.execute(
            "CREATE VIEW venues AS SELECT name FROM squares UNION SELECT customer || kwh FROM readings WHERE kwh > 9.9"
        )
        made.execute("CREATE VIEW at_work AS SELECT current_setting('threads')::VARCHAR AS name")
        made.execute("CREATE TABLE kept AS SELECT 'a' AS name")
    return path


def test_a_view_that_sums_up_floats_is_the_same_table_each_time(town: Path) -> None:
    seen = set()
    for _ in range(3):
        with bind(town, {"person": "customer", "column": "kwh"}, "each") as bound:
            seen.add(recognised(bound, KEY, []).digest)
    assert len(seen) == 1


def test_that_its_times_hang_on_a_zone_is_told_all_the_same(town: Path) -> None:
    columns = {"person": "customer", "column": "kwh", "time": "day"}
    with pytest.raises(DataError, match="hang on the time zone"), bind(town, columns, "days"):
        pass


def test_a_list_that_is_a_view_has_one_order_whenever_it_is_read(town: Path) -> None:
    """Else the same list would be another one at the next run, and its question charged again."""
    venues = places(Source(town, table="venues"), place="name")
    assert len({read_places(venues).digest() for _ in range(3)}) == 1


def test_one_thread_makes_a_view_and_several_read_what_is_stored(town: Path) -> None:
    assert read_places(places(Source(town, table="at_work"), place="name")).keys.to_pylist() == ["1"]
    threads = []
    for table in ("at_work", "kept"):
        with bind(town, {"place": "name"}, table) as bound:
            threads += bound.connection.sql("SELECT current_setting('threads')").fetchall()
    with duckdb.connect() as plain:
        assert threads == [(1,), *plain.sql("SELECT current_setting('threads')").fetchall()]
