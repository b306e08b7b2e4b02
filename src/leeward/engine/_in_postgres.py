# SPDX-License-Identifier: Apache-2.0
"""A table of PostgreSQL, counted where it lies: rows stay in the database, and aggregates over public keys come back.

All of it happens in one transaction (REPEATABLE READ, READ ONLY), so that every query sees the same rows: what is
recognised, looked at and counted is one table. The questions are those that DuckDB answers (`_visits`, `_numbers`), in
PostgreSQL's SQL. Nothing is made in the database, not even a temporary view: what one would be made for stands before
each query, after WITH.

Of what tables a table consists no snapshot tells: a partition that another session attaches meanwhile, or a table that is
made to inherit, is read by the next query, and rows that it had before are in our snapshot. (None can be taken away: what
was read is locked against that.) So whoever counts asks afterwards whether the parts are those of the beginning.

Refused, because two queries might then see two tables: views, whose functions may draw at random; foreign tables, which know
nothing of our snapshot. Refused, because the engines read them differently: numbers and times that are texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import ibis
import pyarrow as pa

from leeward._postgres import Address
from leeward.engine._bound import Bound
from leeward.engine._postgres_rows import in_plain_words, kinds_of, refuse_odd, snapshot
from leeward.engine._postgres_sql import SETTINGS, compiled, listed
from leeward.engine._postgres_sums import WHERE, read, summing
from leeward.engine._roles import holds_numbers, holds_times
from leeward.engine._sql import named
from leeward.errors import DataError

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leeward._postgres import Session
    from leeward.engine._row_sums import Asked, Sums

_SOURCE: Final = "leeward_rows_asked_for"

_STEADY: Final = """
WITH RECURSIVE below(oid) AS (
    SELECT %s::oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN below ON i.inhparent = below.oid
)
SELECT coalesce(string_agg(DISTINCT c.relkind::text, ''), '') FROM below JOIN pg_class c ON c.oid = below.oid
WHERE c.relkind NOT IN ('r', 'p', 'm')
"""
"""The kinds of what a table consists of that are no tables."""


class InPostgres(Bound):
    """One table of a database, within one transaction. `in_postgres` makes it."""

    __slots__ = ("_address", "_crypto", "_made", "_parts", "_relation", "_schema", "_session")

    def __init__(self, session: Session, address: Address, relation: str, source: str, schema: pa.Schema) -> None:
        self._session, self._address, self._relation, self._schema = session, address, relation, schema
        self._made: dict[str, tuple[str, frozenset[str]]] = {_SOURCE: (f"SELECT {source} FROM {relation}", frozenset())}
        self._parts, self._crypto = _parts_of(session, relation), _crypto_of(session, address)

    @property
    def rows(self) -> ir.Table:
        return ibis.table(ibis.Schema.from_pyarrow(self._schema), name=_SOURCE)

    def check_roles(self, columns: Mapping[str, str]) -> None:
        for role, name in columns.items():
            if (holds_numbers(role) or holds_times(role)) and pa.types.is_string(self._schema.field(name).type):
                what, cast = ("times", "timestamptz") if role == "time" else ("numbers", "double precision")
                raise DataError(
                    f"{role} = '{name}'",
                    f"its {what} are texts, which PostgreSQL reads by rules of its own",
                    f"Store them as {what}, in a materialized view say: {named(name)}::{cast}. Or leave engine out: the"
                    " table is then read once, and counted here",
                )

    def fetch(self, expression: ir.Expr) -> pa.Table:
        names, rows = self._answer(*compiled(expression))
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        # a sum of integers is handed on as a decimal
        whole = [[int(value) if isinstance(value, Decimal) else value for value in column] for column in columns]
        arrays = [pa.array(column) for column in whole]
        return pa.table(dict(zip(names, arrays, strict=True)))

    def staged(self, name: str, rows: ir.Table) -> ir.Table:
        self._made[name] = compiled(rows)
        return ibis.table(rows.schema(), name=name)

    def register(self, name: str, data: pa.Table) -> ir.Table:
        self._made[name] = listed(data), frozenset()
        return ibis.table(ibis.Schema.from_pyarrow(data.schema), name=name)

    def summed(self, rows: ir.Table, asked: Asked) -> Sequence[Sums]:
        query, needs = compiled(rows)
        _, found = self._answer(summing(asked, self._crypto, query), needs)
        return [read(found[0], asked)]

    def check_unchanged(self) -> None:
        with in_plain_words(self._address):
            parts = _parts_of(self._session, self._relation)
        if parts != self._parts:
            raise DataError(
                f"The table {self._relation}", "it was given another part while it was being read", "Run it again"
            )

    def _answer(self, query: str, needs: frozenset[str]) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run a query, before which stands what it reads."""
        before = dict[str, str]()
        for name in sorted(needs):
            self._collect(name, before)
        made = ", ".join(f"{named(name)} AS ({sql})" for name, sql in before.items())
        with in_plain_words(self._address):
            cursor = self._session.execute(f"WITH {made} {query}".encode())
            return [column.name for column in cursor.description or ()], cursor.fetchall()

    def _collect(self, name: str, before: dict[str, str]) -> None:
        """Put what a name stands for behind all that it is made of."""
        if name in before:
            return
        sql, needs = self._made[name]
        for each in sorted(needs):
            self._collect(each, before)
        before[name] = sql


@contextmanager
def in_postgres(
    address: Address, table: str | None, columns: Mapping[str, str], names: Sequence[str]
) -> Iterator[InPostgres]:
    """Open a table of a database, to be counted there.

    Args:
        address: of the database.
        table: the name of the table, perhaps with its schema (``schema.table``); without one in ``public``.
        columns: what each column is for (a spec key, for messages) and its name.
        names: the columns, each once.

    Raises:
        DataError: the database is not reached, there is no such table or column, or one that is not counted there.
        InputError: psycopg is not installed.
    """
    with in_plain_words(address), snapshot(address, table, SETTINGS) as (session, relation, number):
        row = session.execute(_STEADY, (number,)).fetchone()
        if row is None or row[0]:
            raise DataError(
                f"The table {relation} is not counted inside the database",
                "a view or a foreign table may hold other rows each time that it is asked",
                "Make a materialized view of it; or leave engine out: the table is then read once, and counted here",
            )
        kinds = kinds_of(session, number, columns, names)
        marks = [(kinds[name], named(name)) for name in names]
        source = ", ".join(f"{kind.counted.format(name)} AS {name}" for kind, name in marks)
        schema = pa.schema([(name, kinds[name].arrow) for name in names])
        bound = InPostgres(session, address, relation, source, schema)
        bound.check_roles(columns)
        refuse_odd(session, relation, marks)

        yield bound


def _crypto_of(session: Session, address: Address) -> str:
    """Where the database has AES.

    Raises:
        DataError: it has none.
    """
    row = session.execute(WHERE.encode()).fetchone()
    if row is None:
        raise DataError(
            f"The database {address.place} has no extension pgcrypto",
            "with it, the content of a table is recognised without leaving the database",
            "Have its owner run CREATE EXTENSION pgcrypto, which PostgreSQL brings along and trusts. Or leave engine out:"
            " the table is then read once, and counted here",
        )
    return str(row[0])


def _parts_of(session: Session, relation: str) -> frozenset[tuple[str, str]]:
    """Return the tables, by schema and name, that a query of a table reads: as it would be carried out now."""
    row = session.execute(f"EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT FROM {relation}".encode()).fetchone()
    assert row is not None
    left, found = [each["Plan"] for each in row[0]], set[tuple[str, str]]()
    while left:
        node = left.pop()
        left += node.get("Plans", ())
        if "Relation Name" in node:
            found.add((node["Schema"], node["Relation Name"]))
    return frozenset(found)
