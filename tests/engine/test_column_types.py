"""What a table hands over is read by its native type, or refused by name: every kind of table in memory, every odd type.

The oracle is the list of Python values that a column was made of: a table that is read has as many people as that list has
different values. Where a type is refused, the message names the column.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources import describe_by

from leeward.engine import open_data, read_keys
from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.query import count_visitors, places, visits

EVENING = dt.datetime(2026, 3, 2, 19, 5)
LISTED = places(pa.table({"venue": ["market", "pool"]}), place="venue")


def people(source: Any, **described: Any) -> list[int]:
    """How many people are at the market and at the pool between 19 and 20 h."""
    seen = describe_by(visits, source, **{"person": "user", "place": "venue", "time": "when", **described})
    query = count_visitors(
        seen, LISTED, start="2026-03-02T19:00", end="2026-03-02T20:00", places_per_person=1, if_more="latest"
    )
    keys = read_keys(query)
    with open_data(query, keys) as table:
        return [int(count) for count in table.count(query).counts]


def arrow(users: Any, when: Any = None) -> pa.Table:
    n = len(users)
    return pa.table({"user": users, "venue": ["pool"] * n, "when": [EVENING] * n if when is None else when})


def relation(table: pa.Table) -> Any:
    theirs = duckdb.connect()
    theirs.register("given", table)
    return theirs.sql("SELECT * FROM given")


WRAPPED: dict[str, Callable[[pa.Table], Any]] = {
    "Arrow": lambda table: table,
    "record batch": lambda table: table.combine_chunks().to_batches()[0],
    "Ibis": ibis.memtable,
    "Ibis, derived": lambda table: ibis.memtable(table).filter(True),
    "DuckDB relation": relation,
    "Narwhals": nw.from_native,
}


# What a column is, its values as Arrow, and why it may be refused, by any library that it passes through.
SECONDS = 10**9
ODD: dict[str, tuple[Any, int | None]] = {
    "bytes of another width": (pa.array([b"1234", b"4321"], pa.binary(4)), 2),
    "date64 with a time of day": (pa.array([1772478300000] * 2, pa.date64()), None),
    "bytes as wide as an address": (pa.array([b"12345678", b"87654321"], pa.binary(8)), None),
    "lengths of time": (pa.array([1, 2], pa.duration("s")), None),
    "months, days and seconds": (
        pa.array([(1, 0, 0), (0, 30, 0), (0, 0, 720 * 3600 * SECONDS)], pa.month_day_nano_interval()),
        None,
    ),
    "half floats": (pa.array(np.array([1, 2], np.float16)), None),
    "wide decimals": (pa.array([1, 2]).cast(pa.decimal256(40, 0)), None),
    "lists": (pa.array([[1], [2]]), None),
    "structures": (pa.array([{"a": 1}, {"a": 2}]), None),
    "JSON": (pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", "1 "])), None),
    "an unknown extension": (
        pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "point", "somebody"), pa.array([1, 2])),
        None,
    ),
    "nanoseconds of a day": (pa.array([1, 2], pa.time64("ns")), None),
    "UUIDs": (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(16), b"1" * 16], pa.binary(16))), 2),
    "a dictionary of date64": (pa.array([0, 86_400_000], pa.date64()).dictionary_encode(), None),
    "floats from 2⁵³ on": (pa.array([float(2**59 + i) for i in range(6)]), None),
    "floats below 2⁵³": (pa.array([float(2**53 - 1 - i) for i in range(6)]), 6),
    "narrow floats from 2²⁴ on": (pa.array(np.array([2**24, 2**24 + 1], np.float32)), None),
    "an infinite float": (pa.array([1.0, float("inf")]), None),
}


@pytest.mark.parametrize("library", WRAPPED)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_type_is_counted_as_many_people_as_it_has_values_or_refused(odd: str, library: str) -> None:
    values, wanted = ODD[odd]
    direct = library in {"Arrow", "record batch", "Narwhals"}
    said = counted = None
    given = None
    try:
        given = WRAPPED[library](arrow(values))
    except Exception:  # the other library does not take the type
        said = "user" if not direct else ""
    if said is None:
        try:
            counted = people(given)
        except DataError as refused:
            said = str(refused)
    if counted is None:
        assert said is not None
        assert "user" in said or not direct
        assert wanted is None or not direct
    else:  # where a type is refused, a library on the way may have made another of it, in which values stay apart
        assert counted == [0, len(set(values.to_pylist()))]
        assert wanted is not None or not direct


def test_one_person_in_a_polars_column_of_objects_is_never_several() -> None:
    one = uuid.UUID(int=7).hex
    frame = pl.DataFrame(
        {"user": [uuid.UUID(one) for _ in range(3)], "venue": ["pool", "market", "pool"], "when": EVENING}
    )
    assert frame.schema["user"] == pl.Object
    for given in (frame, nw.from_native(frame), frame.to_arrow()):
        with pytest.raises(DataError, match="'user'"):
            people(given)
    text = frame.with_columns(user=pl.Series([one] * 3))
    assert sum(people(text)) == 1
    assert sum(people(nw.from_native(text))) == 1


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # asked for by Ibis
@pytest.mark.parametrize("column", ["user", "when", "venue"])
@pytest.mark.parametrize("wrap", ["pandas", "Narwhals", "Narwhals twice", "Ibis", "Ibis of Narwhals", "Arrow"])
def test_a_mixture_of_python_objects_is_refused_whatever_it_is_wrapped_in(wrap: str, column: str) -> None:
    mixtures: dict[str, list[Any]] = {
        "user": [1, 2.5, 3],
        "when": [EVENING.date(), EVENING, EVENING],
        "venue": ["pool", b"pool", "pool"],
    }
    plain: dict[str, Any] = {"user": ["a", "b", "c"], "venue": ["pool"] * 3, "when": [EVENING] * 3}
    frame = pd.DataFrame(plain | {column: pd.Series(mixtures[column], dtype=object)})
    wraps: dict[str, Callable[[Any], Any]] = {
        "pandas": lambda frame: frame,
        "Narwhals": nw.from_native,
        "Narwhals twice": lambda frame: nw.from_native(nw.from_native(frame), pass_through=True),
        "Ibis": ibis.memtable,
        "Ibis of Narwhals": lambda frame: ibis.memtable(nw.from_native(frame)),
        "Arrow": pa.Table.from_pandas,
    }
    try:
        given = wraps[wrap](frame)
    except (pa.ArrowException, TypeError):
        assert wrap in {"Ibis of Narwhals", "Arrow", "Ibis"}  # Arrow takes no mixture of texts and bytes
        return
    with pytest.raises(DataError, match=f"The column '{column}'"):
        people(given)


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")
def test_what_arrow_made_of_texts_and_of_typed_columns_of_pandas_is_read() -> None:
    frame = pd.DataFrame({"user": pd.Series(["a", None, "b"], dtype=object), "venue": "pool", "when": EVENING})
    assert people(pa.Table.from_pandas(frame)) == [0, 2]
    assert people(ibis.memtable(nw.from_native(frame))) == [0, 2]
    told = arrow(["a", "b"]).replace_schema_metadata({"pandas": "no JSON"})  # somebody else's note
    assert people(told) == [0, 2]


@pytest.mark.parametrize("unit", ["s", "ms"])
def test_a_time_that_cannot_be_reckoned_with_is_told_as_one_and_not_as_a_damaged_file(unit: str) -> None:
    for far in (2**60, 2**62, -(2**62)):
        given = arrow(["a", "b"], pa.array([far, 1], pa.timestamp(unit)))
        with pytest.raises(DataError, match="The column 'when' holds a time beyond the year") as refused:
            people(given)
        assert "file" not in str(refused.value)


def test_a_type_of_a_database_that_is_not_listed_is_refused_with_what_it_is_for(tmp_path: Path) -> None:
    values = {
        "INTERVAL": "unnest([interval 1 month, interval 30 day, interval 720 hour])",
        "TIME WITH TIME ZONE": "unnest(['12:00:00+00'::timetz, '13:00:00+01'::timetz])",
        "VARIANT": "unnest([1::variant, '1'::variant])",
        "BIGNUM": "unnest([1::bignum, 2::bignum])",
        "BIT": "unnest(['1'::bit, '01'::bit])",
        "JSON": "unnest(['1'::json, '1 '::json])",
        "MAP": "map {'SECRET': 1}",
        "STRUCT": "{'SECRET': 1}",
    }
    for index, (kind, value) in enumerate(values.items()):
        path = tmp_path / f"{index}.duckdb"
        with duckdb.connect(path) as made:
            made.execute(f"CREATE TABLE t AS SELECT {value} AS x")
        with pytest.raises(DataError, match=rf"person = 'x'.*{kind}") as refused, bind(path, {"person": "x"}):
            pass
        assert "SECRET" not in str(refused.value)


@pytest.mark.parametrize(
    "kind",
    ["BOOLEAN", "TINYINT", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL(38,2)", "VARCHAR", "UUID"],
)
def test_a_type_of_a_database_that_is_listed_is_bound(kind: str, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute(f"CREATE TABLE t (x {kind})")
    with bind(tmp_path / "a.duckdb", {"person": "x"}) as bound:
        assert bound.fetch(bound.rows).num_rows == 0


def test_half_floats_of_a_file_are_refused_where_ids_of_them_would_be_one(tmp_path: Path) -> None:
    """2048 to 2053 are three different floats of 16 bits."""
    ids = pa.array([float(i) for i in range(2048, 2054)], pa.float32()).cast(pa.float16(), safe=False)
    assert len(set(ids.to_pylist())) == 3
    pq.write_table(pa.table({"x": ids}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="floats of 16 bits"), bind(tmp_path / "a.parquet", {"person": "x"}):
        pass


def test_a_type_that_is_not_read_is_refused_by_its_name(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE TABLE t (x UHUGEINT)")
    with pytest.raises(DataError, match="UHUGEINT"), bind(tmp_path / "a.duckdb", {"person": "x"}):
        pass


DRAWN = {
    "a filter": "CREATE VIEW v AS SELECT * FROM t WHERE random() < 0.5",
    "a sample": "CREATE VIEW v AS SELECT * FROM t USING SAMPLE 50 PERCENT (bernoulli)",
    "a column": "CREATE VIEW v AS SELECT floor(10 * random())::INT AS x FROM t",
    "the time": "CREATE VIEW v AS SELECT now()::VARCHAR AS x FROM t",
}


@pytest.mark.parametrize("drawn", DRAWN)
def test_a_view_that_draws_rows_is_drawn_once(drawn: str, tmp_path: Path) -> None:
    """Two draws of 1,000 rows are of one size, or hold the same rows, with a chance under 3 in 100; five pairs, never."""
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE TABLE t AS SELECT range AS x FROM range(1000)")
        made.execute(DRAWN[drawn])
    with bind(tmp_path / "a.duckdb", {"person": "x"}, "v") as bound:
        first = bound.fetch(bound.rows)
        for _ in range(5):
            assert bound.fetch(bound.rows).equals(first)


def test_a_column_that_is_computed_at_random_is_drawn_once(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        try:
            made.execute("CREATE TABLE t (y INT, x DOUBLE AS (y + random()) VIRTUAL)")
        except duckdb.Error:
            pytest.skip("this version of DuckDB computes no such column")
        made.execute("INSERT INTO t (y) SELECT range FROM range(1000)")
    with bind(tmp_path / "a.duckdb", {"person": "x"}, "t") as bound:
        assert bound.fetch(bound.rows).equals(bound.fetch(bound.rows))


def test_a_name_of_two_tables_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "a.duckdb") as made:
        made.execute("CREATE SCHEMA s")
        made.execute("CREATE TABLE s.t AS SELECT 1 AS x")
        made.execute('CREATE TABLE "s.t" AS SELECT 2 AS x')
        made.execute("CREATE TABLE t AS SELECT 3 AS x")
    with pytest.raises(DataError, match="two tables"), bind(tmp_path / "a.duckdb", {"person": "x"}, "s.t"):
        pass
    with bind(tmp_path / "a.duckdb", {"person": "x"}, "t") as bound:
        assert bound.fetch(bound.rows).to_pydict() == {"x": [3]}


UNIONS = pa.UnionArray.from_dense(pa.array([0], pa.int8()), pa.array([0], pa.int32()), [pa.array(["u"])])


@pytest.mark.parametrize(
    "users", [UNIONS, pa.array([1200], pa.decimal128(5, -2))], ids=["a union", "a decimal of negative scale"]
)
def test_no_file_is_blamed_where_there_is_none(users: pa.Array) -> None:
    """Found: a table in memory of a type that the engine does not know was called a damaged file."""
    with pytest.raises(DataError, match="type") as refused:
        people(arrow(users))
    assert "file is damaged" not in str(refused.value)


def test_of_a_wide_file_only_the_named_columns_are_read(tmp_path: Path) -> None:
    wide = [f"c{i}" for i in range(1500)]
    (tmp_path / "wide.csv").write_text(
        ",".join(["c7x", *wide[:900], "user", "venue", "when", *wide[900:]])
        + "\n"
        + "".join(f"z,{'9,' * 900}u{i},pool,{EVENING}{',9' * 600}\n" for i in range(3))
    )
    assert people(str(tmp_path / "wide.csv")) == [0, 3]


@pytest.fixture(params=["GeoParquet", "native Parquet", "DuckDB"])
def with_geometry(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Three people, two at the market, with points that nobody asks for: in files for maps as they are written today."""
    geopandas = pytest.importorskip("geopandas")
    frame = pd.DataFrame({"user": ["u1", "u2", "u3"], "venue": ["market", "market", "pool"], "when": [EVENING] * 3})
    path = tmp_path / ("t.duckdb" if request.param == "DuckDB" else "t.parquet")
    if request.param == "GeoParquet":
        points = geopandas.points_from_xy([139.7] * 3, [35.6] * 3)
        geopandas.GeoDataFrame(frame, geometry=points, crs=4326).to_parquet(path)
        return path
    with duckdb.connect(str(path) if request.param == "DuckDB" else ":memory:") as theirs:
        theirs.register("given", frame)
        made = "SELECT *, 'POINT(139.7 35.6)'::GEOMETRY AS geometry FROM given"
        if request.param == "DuckDB":
            theirs.execute(f"CREATE TABLE t AS {made}")
        else:
            theirs.execute(f"COPY ({made}) TO '{path}' (FORMAT parquet, GEOPARQUET_VERSION 'NONE')")
    return path


def test_a_geometry_that_is_not_asked_for_is_not_looked_at(with_geometry: Path) -> None:
    """Found by an attack: Ibis has no name for the type, and a release of such a file ended in a KeyError."""
    assert people(str(with_geometry)) == [2, 1]
    listed = places(str(with_geometry), place="user")
    query = count_visitors(
        visits(arrow(["u9"]), person="user", place="user", time="when"),
        listed,
        start="2026-03-02T19:00",
        end="2026-03-02T20:00",
    )
    assert len(read_keys(query)) == 3


def test_a_geometry_that_is_asked_for_is_refused_by_its_type(with_geometry: Path) -> None:
    with pytest.raises(
        DataError, match=r"'geometry'(: it holds values of the type GEOMETRY| is of type Arrow's geoarrow.wkb)"
    ):
        people(str(with_geometry), place="geometry")
