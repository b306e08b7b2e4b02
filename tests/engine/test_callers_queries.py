"""A mistake in a query of the caller's own is told as that: not as a damaged file or a defect, and without a data value."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.api.extensions import ExtensionArray, ExtensionDtype

import leeward as lw
from leeward.engine._bind import bind
from leeward.errors import DataError

SECRET = "zanary-4d1f"
"""A value of the data: DuckDB's own messages repeat it."""

Made = Callable[[Path], Any]


def _relation(query: str) -> Made:
    def make(_: Path) -> Any:
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS who, '{SECRET}' AS v, 0 AS n")
        return connection.sql(query)

    return make


def _file_gone(folder: Path) -> Any:
    pd.DataFrame({"who": ["a"], "v": [1]}).to_parquet(folder / f"{SECRET}.parquet")
    relation = duckdb.connect().sql(f"SELECT * FROM '{folder}/{SECRET}.parquet'")
    (folder / f"{SECRET}.parquet").unlink()
    return relation


def _closed(_: Path) -> Any:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 'a' AS who, 1 AS v")
    connection.close()
    return relation


def _dropped(_: Path) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'a' AS who, 1 AS v")
    relation = connection.sql("FROM t")
    connection.execute("DROP TABLE t")
    return relation


def _interrupted(_: Path) -> Any:
    connection = duckdb.connect()
    many = "SELECT i::VARCHAR AS who, sum(i) OVER (ORDER BY hash(i)) AS v FROM range(100_000_000) t(i)"
    threading.Timer(0.2, connection.interrupt).start()
    return connection.sql(many)


def _too_large(_: Path) -> Any:
    connection = duckdb.connect(config={"memory_limit": "20MB", "temp_directory": ""})
    return connection.sql("SELECT i::VARCHAR AS who, sum(i) OVER (ORDER BY hash(i)) AS v FROM range(20_000_000) t(i)")


def _ibis(change: Callable[[Any, Any], Any]) -> Made:
    def make(_: Path) -> Any:
        backend = ibis.duckdb.connect()
        backend.con.execute(f"CREATE TABLE t AS SELECT '{SECRET}' AS who, '{SECRET}' AS v")
        table = backend.table("t")
        changed = change(backend, table)
        return table if changed is None else changed

    return make


class Stream:
    """A table of somebody's own, whose rows come from a generator that fails."""

    columns = ("who", "v")

    def __arrow_c_stream__(self, schema: object = None) -> Any:
        return pa.RecordBatchReader.from_batches(self.schema(), self.batches()).__arrow_c_stream__(schema)

    def __getitem__(self, _: object) -> Stream:
        return self

    def schema(self) -> pa.Schema:
        return pa.schema({"who": pa.string(), "v": pa.int64()})

    def batches(self) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"who": ["a"], "v": [1]})
        raise RuntimeError(SECRET)


class NoColumns(Stream):
    @property
    def columns(self) -> Any:  # type: ignore[override]
        raise RuntimeError(SECRET)


class NoStream(Stream):
    def __arrow_c_stream__(self, schema: object = None) -> Any:
        raise LookupError(SECRET)


class Kind(ExtensionDtype):
    name, type, na_value = "broken", str, None

    @classmethod
    def construct_array_type(cls) -> Any:
        return Broken


class Broken(ExtensionArray):  # type: ignore[misc]
    """A column of a kind of somebody's own that cannot be exported."""

    dtype = Kind()

    def __len__(self) -> int:
        return 2

    def __getitem__(self, item: Any) -> Any:
        return SECRET if isinstance(item, int | np.integer) else self

    def __arrow_array__(self, **_: object) -> Any:
        raise RuntimeError(SECRET)

    def copy(self) -> Broken:
        return self

    def isna(self) -> Any:
        return np.zeros(2, bool)

    def take(self, *_: Any, **__: Any) -> Broken:
        return self


QUERY = "query of the DuckDB relation given as a table failed"
RAISED = "given as a table failed when its rows were asked for"
CASES: dict[str, tuple[Made, str]] = {
    "a cast": (_relation("SELECT who, v::INT AS v FROM t"), f"{QUERY}.*a value does not fit"),
    "a cast far down": (
        _relation(
            "SELECT i::VARCHAR AS who, CASE i WHEN 99999 THEN v ELSE '1' END::INT AS v FROM t, range(100000) r(i)"
        ),
        f"{QUERY}.*a value does not fit",
    ),
    "a division": (_relation("SELECT who, 1 // n AS v FROM t"), f"{QUERY}.*a value does not fit"),
    "an overflow": (_relation("SELECT who, (1000 + n)::TINYINT AS v FROM t"), f"{QUERY}.*a value does not fit"),
    "an error of its own": (_relation("SELECT who, error(v) AS v FROM t"), QUERY),
    "a file that is gone": (_file_gone, f"{QUERY}.*a file that it reads is missing"),
    "a closed connection": (_closed, f"{QUERY}.*connection is closed"),
    "a table that is gone": (_dropped, f"{QUERY}.*not there"),
    "an interrupt": (_interrupted, f"{QUERY}.*it was interrupted"),
    "too little memory": (_too_large, f"{QUERY}.*more memory"),
    "a cast in Ibis": (
        _ibis(lambda _, t: t.mutate(v=t.v.cast("int64"))),
        "query of the Ibis table.*a value does not fit",
    ),
    "Ibis closed": (_ibis(lambda backend, _: backend.disconnect()), "query of the Ibis table.*connection is closed"),
    "Ibis without its table": (
        _ibis(lambda backend, _: backend.con.execute("DROP TABLE t") and None),
        "query of the Ibis table.*not there",
    ),
    "a generator": (lambda _: Stream(), f"Stream {RAISED}.*raised an ArrowInvalid"),
    "columns": (lambda _: NoColumns(), f"NoColumns {RAISED}.*raised a RuntimeError"),
    "a stream": (lambda _: NoStream(), f"NoStream {RAISED}.*raised a LookupError"),
    "a column of another kind": (
        lambda _: pd.DataFrame({"who": Broken(), "v": [1, 2]}),
        "its columns 'who', 'v' cannot be exported",
    ),
}


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # Ibis asks for a schema so
@pytest.mark.parametrize("case", CASES)
def test_the_callers_mistake_is_told_as_theirs(case: str, tmp_path: Path) -> None:
    made, message = CASES[case]
    source = made(tmp_path)
    with pytest.raises(DataError, match=message) as caught, bind(source, {"person": "who", "value": "v"}):
        pass
    assert SECRET not in str(caught.value)
    assert "damaged" not in str(caught.value)
    assert caught.value.__context__ is None


def test_an_interrupt_of_the_callers_is_not_caught(tmp_path: Path) -> None:
    class Stopped(Stream):
        def __arrow_c_stream__(self, schema: object = None) -> Any:
            raise RuntimeError("Query interrupted")  # how DuckDB tells Ctrl-C

    with pytest.raises(KeyboardInterrupt), bind(Stopped(), {"person": "who"}):
        pass


def test_a_query_that_fails_is_not_paid_for(tmp_path: Path) -> None:
    relation = CASES["a cast"][0](tmp_path)
    visits = lw.visits(relation, person="who", place="v", time="v")
    places = lw.places(pa.table({"v": ["a", "b"]}), place="v")
    query = lw.count_visitors(
        visits, places, start="2026-01-01T00:00", end="2026-01-02T00:00", places_per_person=1, if_more="latest"
    )
    budget = lw.Budget(tmp_path / "b.db", dataset="t", cap="1", new=True)
    with pytest.raises(DataError, match=QUERY):
        lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=1)), budget)
    with closing(sqlite3.connect(tmp_path / "b.db")) as ledger:
        assert ledger.execute("SELECT count(*) FROM entries").fetchone() == (0,)


def test_nor_is_one_while_a_relation_asks_python_for_its_rows() -> None:
    stopped = [False]

    class Rows:
        def __arrow_c_stream__(self, schema: object = None) -> Any:
            if stopped[0]:
                raise KeyboardInterrupt
            return pa.table({"who": [1]}).__arrow_c_stream__(schema)

    connection = duckdb.connect()
    relation = connection.register("mine", Rows()).sql("FROM mine")
    stopped[0] = True
    with pytest.raises(KeyboardInterrupt), bind(relation, {"person": "who"}):
        pass
