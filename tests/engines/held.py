"""The table of a case, held by each kind of source; what the engine says of it there; and what it should say."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow.parquet as pq
from tests.engines.cases import KINDS, Case
from tests.oracle import asked as oracle
from tests.spark import address, remote, spark

from leeward.engine import open_data, read_keys
from leeward.engine._engines import bind_private
from leeward.errors import BoundExceededError, DataError, LeewardError, SpecError
from leeward.notion import BoundedDP, UnboundedDP
from leeward.planner._number_plan import plan_number
from leeward.query import CountVisitors, Source, Spark, records
from leeward.query._source import Engine

REFUSALS: Mapping[str, type[LeewardError]] = {"bound": BoundExceededError, "window": SpecError, "mixed": DataError}
"""How the engine refuses what the oracle refuses."""


@dataclass(frozen=True)
class Held:
    """A case in a source: where that is, the name of the table in it, and what its cells are there."""

    source: Any
    table: str | None
    case: Case
    engine: Engine | Spark = "duckdb"

    def said(self) -> dict[str, Any] | type[LeewardError]:
        """What the engine says: the exact answer in the units of the question, and what it left out; or how it refuses."""
        query = self.case.question(self.source, self.table, self.engine)
        try:
            with open_data(query, read_keys(query)) as opened:
                look, found = opened.look(query), opened.exactly(query, "answer")
                counts = [Fraction(int(n)) for n in found.counts]
                beyond = opened.beyond(query)  # every engine can say it; what, is held elsewhere
                assert beyond is None or 0 <= beyond.below + beyond.above <= beyond.of <= found.rows_kept
        except LeewardError as refused:
            return type(refused)
        dropped = {reason: rows for reason, rows in found.dropped.items() if rows}
        assert (look.taken, {r: n for r, n in look.dropped.items() if n}) == (found.rows_kept, dropped), (
            "a look sees the same"
        )
        over = found.people_over_bound
        return {"counts": in_units(query, counts), "dropped": dropped, "taken": found.rows_kept, "over": over}

    def bound(self, columns: Mapping[str, str]) -> AbstractContextManager[Any]:
        """The columns, as the engine reads them."""
        return bind_private(records(Source(self.source, table=self.table), person="-", engine=self.engine), columns)

    def wanted(self) -> dict[str, Any] | type[LeewardError]:
        """What the oracle says of the same cells; and whether they are counted there."""
        kinds = {role: column.kind for role, column in self.case.columns.items()}
        if self.engine != "duckdb" and "text" in (kinds.get("time"), kinds.get("number")):
            return DataError  # texts are read as numbers and times in one way only
        if (self.engine == "spark" or isinstance(self.engine, Spark)) and "nanoseconds" in kinds.values():
            return DataError  # Spark has none
        try:
            return oracle.told(self.case.rows(), self.case.ask)
        except oracle.RefusedError as refused:
            return REFUSALS[str(refused)]


def in_units(query: Any, counts: list[Fraction]) -> list[Fraction]:
    """Whole steps of the engine in the units of the answer, by the scale of the plan."""
    if isinstance(query, CountVisitors) or query.counts_people:
        return counts
    if query.kind == "percentile" and query.values is not None:
        return [query.values.lower + query.values.step * n for n in counts]
    plan = plan_number(query, UnboundedDP("1") if query.people is None else BoundedDP("1"))
    return counts if len(plan.parts) > 1 else [plan.scale.origin + plan.scale.unit * n for n in counts]


Holder = Callable[[Case, Path, Any], Held | None]


def in_memory(case: Case, folder: Path, session: Any) -> Held:
    return Held(case.table(), None, case)


def in_parquet(case: Case, folder: Path, session: Any) -> Held:
    pq.write_table(case.table(), folder / "t.parquet", row_group_size=7)
    return Held(folder / "t.parquet", None, case)


def in_csv(case: Case, folder: Path, session: Any) -> Held:
    texts = case.as_texts()
    with open(folder / "t.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_MINIMAL)
        writer.writerow(texts.columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in cells(texts))
    return Held(folder / "t.csv", None, texts)


def in_duckdb(case: Case, folder: Path, session: Any) -> Held:
    path = folder / "t.duckdb"
    path.unlink(missing_ok=True)
    with duckdb.connect(path) as database:
        database.register("held", case.table())
        database.execute("CREATE TABLE t AS SELECT * FROM held")
    return Held(path, "t", case)


def in_postgres(case: Case, folder: Path, session: tuple[psycopg.Connection[Any], str]) -> Held | None:
    """The table in a database; None where PostgreSQL has no such type."""
    connection, address = session
    typed = {role: KINDS[column.kind].sql for role, column in case.columns.items()}
    if None in typed.values():
        return None
    connection.execute("DROP TABLE IF EXISTS t")
    connection.execute(f"CREATE TABLE t ({', '.join(f'{role} {kind}' for role, kind in typed.items())})".encode())
    with connection.cursor().copy(b"COPY t FROM STDIN") as copy:
        for row in cells(case):
            copy.write_row([float(str(cell)) if type(cell).__name__ == "float32" else cell for cell in row])
    return Held(address, "t", case)


def inside_postgres(case: Case, folder: Path, session: tuple[psycopg.Connection[Any], str]) -> Held | None:
    """The same table, counted inside the database."""
    held = in_postgres(case, folder, session)
    return None if held is None else replace(held, engine="postgres")


def inside_spark(case: Case, folder: Path, session: Any) -> Held:
    """The table in a file, counted by Spark."""
    return replace(in_parquet(case, folder, session), engine="spark")


def as_frame(case: Case, folder: Path, session: Any) -> Held | None:
    """The table as a DataFrame of Spark; None where it would have other types."""
    if {"uint8", "nanoseconds"} & {column.kind for column in case.columns.values()}:
        return None
    pq.write_table(case.table(), folder / "f.parquet", row_group_size=7)
    return Held(spark().read.parquet(str(folder / "f.parquet")), None, case, "spark")


def inside_spark_elsewhere(case: Case, folder: Path, session: Any) -> Held:
    """The table in a file, counted by a Spark that is reached by Spark Connect."""
    return replace(inside_spark(case, folder, session), engine=Spark({"remote": address()}))


def as_frame_elsewhere(case: Case, folder: Path, session: Any) -> Held | None:
    """The table as a DataFrame of Spark Connect."""
    held = as_frame(case, folder, session)
    return None if held is None else replace(held, source=remote().read.parquet(str(folder / "f.parquet")))


def in_ibis(case: Case, folder: Path, session: Any) -> Held:
    """As an Ibis table that DuckDB holds for the caller."""
    import ibis

    theirs = ibis.duckdb.connect()
    theirs.con.register("held", case.table())
    theirs.con.execute("CREATE TABLE t AS SELECT * FROM held")
    return Held(theirs.table("t"), None, case)


def in_ibis_of_polars(case: Case, folder: Path, session: Any) -> Held:
    import ibis

    theirs = ibis.polars.connect()
    theirs.create_table("t", case.table())
    return Held(theirs.table("t"), None, case)


def cells(case: Case) -> Iterator[tuple[Any, ...]]:
    """The rows as they are written."""
    return zip(*(column.written for column in case.columns.values()), strict=True)


HOLDERS: Mapping[str, Holder] = {
    "arrow": in_memory,
    "parquet": in_parquet,
    "csv": in_csv,
    "duckdb": in_duckdb,
    "postgres": in_postgres,
    "postgres, counted inside": inside_postgres,
}


OF_IBIS: Mapping[str, Holder] = {"Ibis of DuckDB": in_ibis, "Ibis of Polars": in_ibis_of_polars}
"""Those that are read: in a few cases, and in long sweeps."""

ELSEWHERE: Mapping[str, Holder] = {
    "spark elsewhere": inside_spark_elsewhere,
    "spark elsewhere, of a session": as_frame_elsewhere,
}
"""Through Spark Connect."""

OF_SPARK: Mapping[str, Holder] = {"spark": inside_spark, "spark, of a session": as_frame}
"""Beside the others, because starting Spark takes as long as all of these do: in sweeps only."""


def differences(case: Case, folder: Path, session: Any, ways: Mapping[str, Holder] = HOLDERS) -> list[str]:
    """Where the engine says something else than the oracle, for each kind of source."""
    found = []
    for way, hold in ways.items():
        held = hold(case, folder, session)
        if held is None:
            continue
        if (said := held.said()) != (wanted := held.wanted()):
            found.append(f"{case.label}, {way}: {said} where {wanted}\n  {held.case.ask}\n  {held.case.rows()}")
    return found
