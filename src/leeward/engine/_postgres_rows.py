# SPDX-License-Identifier: Apache-2.0
"""A table or view of PostgreSQL, read once in one snapshot, by its native types, into a file that the engine reads.

One transaction (REPEATABLE READ, READ ONLY) looks the table up in the catalog, looks at the types of the columns that were
asked for, and reads these columns and no others. What is then recognised and counted is that one file, by the same SQL as
any other table's: nothing hangs on how PostgreSQL divides, rounds, sorts, compares or parses.

The list of types is short. Each value of these has one form, and two values are equal for PostgreSQL exactly where they are
equal here. So what has several forms, or compares by rules of its own, is refused by name: ``citext``, ``character(n)``,
collations that are not deterministic, decimals without a number of digits, domains, and whatever extensions add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from leeward._optional import optional
from leeward._postgres import Address, UnfitError, connect, explained
from leeward.engine._sql import named, table_meant
from leeward.errors import DataError
from leeward.tables._columns import check_columns

if TYPE_CHECKING:
    from leeward._postgres import Session

_WHAT: Final = "A table of PostgreSQL"
_AT_ONCE: Final = 1 << 16

_RELATIONS: Final = """
SELECT n.nspname, c.relname, c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
"""

_COLUMNS: Final = """
SELECT a.attname, t.typname, t.typtype, n.nspname = 'pg_catalog', format_type(a.atttypid, a.atttypmod), a.atttypmod,
    coalesce(l.collisdeterministic, true), l.collname
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE a.attrelid = %s AND a.attnum > 0 AND NOT a.attisdropped
    AND has_column_privilege(a.attrelid, a.attnum, 'SELECT') IS NOT NULL
"""
"""The columns of our moment; of one that was dropped after it, and perhaps made anew, no privilege is known."""

_UNTOUCHED: Final = """
SELECT bool_or(l.relation = %s) AND bool_and(
    c.oid IS NOT NULL AND (c.relkind NOT IN ('r', 'm') OR c.relfilenode IN (0, pg_relation_filenode(c.oid)))
)
FROM pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation
WHERE l.pid = pg_backend_pid() AND l.relation IS NOT NULL
"""
"""Whether the table is among those that are locked, and all of these are in the files that they were in by our moment.

Our snapshot is asked where they were, and the function where they are. Tables of the catalog have none of their own (0).
"""

_LETTERS: Final = '{}::text COLLATE "C"'
_MICROSECONDS: Final = "(extract(epoch FROM {}) * 1000000)::bigint"


@dataclass(frozen=True, slots=True)
class Kind:
    """How a type is read.

    Attributes:
        arrow: the type that its values have from then on.
        asked: what PostgreSQL is asked for in a column's place.
        handed: the type in which the driver hands that on, where it is another.
        odd: what is true of a value that has no place in the type; none if every value has.
        counted: what stands in a column's place where it is counted inside the database.
    """

    arrow: pa.DataType
    asked: str = "{}"
    handed: pa.DataType | None = None
    odd: str = ""
    counted: str = "{}"


_KINDS: Final[Mapping[str, Kind]] = {
    "bool": Kind(pa.bool_()),
    "int2": Kind(pa.int16()),
    "int4": Kind(pa.int32()),
    "int8": Kind(pa.int64()),
    "float4": Kind(pa.float32()),
    "float8": Kind(pa.float64()),
    "text": Kind(pa.string(), counted=_LETTERS),
    "varchar": Kind(pa.string(), "{}::text", counted=_LETTERS),
    "uuid": Kind(pa.string(), "{}::text", counted=_LETTERS),
    "date": Kind(pa.date32(), "({} - DATE '1970-01-01')", pa.int32(), "NOT isfinite({})"),
    "timestamp": Kind(pa.timestamp("us"), _MICROSECONDS, pa.int64(), "NOT isfinite({})"),
    "timestamptz": Kind(pa.timestamp("us", "UTC"), _MICROSECONDS, pa.int64(), "NOT isfinite({})"),
}


def written(address: Address, table: str | None, columns: Mapping[str, str], names: Sequence[str], path: str) -> None:
    """Write the columns asked for of a table into a Parquet file of ours.

    Args:
        address: of the database.
        table: the name of the table or view, perhaps with its schema (``schema.table``); without one in ``public``.
        columns: what each column is for (a spec key, for messages) and its name.
        names: the columns, each once.
        path: of the file, which lies in a private folder.

    Raises:
        DataError: the database is not reached, or there is no such table or column, or one of another type.
        InputError: psycopg is not installed.
    """
    with in_plain_words(address), snapshot(address, table) as (session, relation, number):
        kinds = kinds_of(session, number, columns, names)
        marks = [(kinds[name], named(name)) for name in names]
        refuse_odd(session, relation, marks)
        schema = pa.schema([(name, kinds[name].arrow) for name in names])
        asked = ", ".join(kind.asked.format(name) for kind, name in marks)
        with session.cursor("leeward", binary=True) as cursor, pq.ParquetWriter(path, schema) as file:
            cursor.itersize = _AT_ONCE
            cursor.execute(f"SELECT {asked} FROM {relation}".encode())
            while some := cursor.fetchmany(_AT_ONCE):
                held = zip(marks, zip(*some, strict=True), strict=True)
                made = [pa.array(each, kind.handed or kind.arrow).cast(kind.arrow) for (kind, _), each in held]
                file.write_table(pa.table(made, schema=schema))


@contextmanager
def snapshot(
    address: Address, table: str | None, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Session, str, int]]:
    """One moment of a table, of which nothing is hidden that policies of rows would hide silently.

    A snapshot does not outlive TRUNCATE, or a change of a column's type that writes the table anew: where another session
    commits one after the snapshot was taken and before the table is locked, the table looks empty. So whatever writes it
    is waited for beforehand; and once the table is locked, that nothing came between is asked of the files that it and its
    parts are in.

    Yields:
        The session, the table as SQL names it, and its number in the catalog.
    """
    # without the second, rows begin where others read the table, and a view sums up floats in another order each time
    asked = {"row_security": "off", "synchronize_seqscans": "off", **(settings or {})}
    with connect(address, _WHAT, autocommit=True, settings=asked) as session:
        _lock(session, chosen(session, address, table)[0])
        session.autocommit = False
        session.isolation_level = optional("psycopg", _WHAT).IsolationLevel.REPEATABLE_READ
        session.read_only = True
        relation, number = chosen(session, address, table)
        _lock(session, relation)
        row = session.execute(_UNTOUCHED, (number,)).fetchone()
        if row is None or not row[0]:
            raise DataError(
                f"The table {relation}",
                "it was written anew while it was being opened",
                "Run it again when that is done",
            )
        yield session, relation, number
        session.rollback()


def _lock(session: Session, relation: str) -> None:
    """Lock a table, its parts, and what a view is made of, against being written anew: for as long as the transaction."""
    session.execute(f"SELECT FROM {relation} LIMIT 0".encode())


@contextmanager
def in_plain_words(address: Address) -> Iterator[None]:
    driver = optional("psycopg", _WHAT)
    try:
        yield
    except (driver.Error, UnfitError) as error:
        raise DataError(f"The database {address.place} cannot be read", *explained(error)) from None


def chosen(session: Session, address: Address, table: str | None) -> tuple[str, int]:
    """The table or view that is meant, as SQL names it, and its number in the catalog."""
    found = session.execute(_RELATIONS).fetchall()
    schema, name, number = table_meant(table, found, "public", f"in the database {address.place}")
    return f"{named(schema)}.{named(name)}", number


def kinds_of(session: Session, number: int, columns: Mapping[str, str], names: Sequence[str]) -> dict[str, Kind]:
    """How each column is read.

    Raises:
        DataError: one is not there, or of a type that is not listed.
    """
    found = {row[0]: row[1:] for row in session.execute(_COLUMNS, (number,)).fetchall()}
    check_columns(columns, list(found))
    roles = {name: role for role, name in columns.items()}
    kinds = dict[str, Kind]()
    for name in names:
        typed, sort, is_builtin, shown, modifier, deterministic, collation = found[name]
        kind = _KINDS.get(typed) if is_builtin and sort == "b" else None
        if is_builtin and typed == "numeric":
            kind = _decimal(modifier)
        if kind is None:
            raise DataError(
                f"{roles[name]} = '{name}'",
                f"the column is of PostgreSQL's type {shown}, and it is not certain which of its values are one",
                "Make a view that casts it: to text, bigint, double precision, timestamptz or numeric(p, s), say",
            )
        if not deterministic:
            raise DataError(
                f"{roles[name]} = '{name}'",
                f"its collation {collation} takes texts for one that are written in different ways",
                'Make a view that compares letter by letter: column COLLATE "C"',
            )
        kinds[name] = kind
    return kinds


def _decimal(modifier: int) -> Kind | None:
    """How a decimal of so many digits is read; None where it may have any number of them."""
    precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
    if modifier < 4 or precision > 38 or scale > precision:  # of a negative scale, or one beyond the digits
        return None
    return Kind(pa.decimal128(precision, scale), "{}::text", pa.string(), "{} = 'NaN'::numeric")


def refuse_odd(session: Session, relation: str, marks: Sequence[tuple[Kind, str]]) -> None:
    odd = " OR ".join(kind.odd.format(name) for kind, name in marks if kind.odd)
    row = session.execute(f"SELECT EXISTS (SELECT FROM {relation} WHERE {odd})".encode()).fetchone() if odd else None
    if row is not None and row[0]:
        raise DataError(
            "The data cannot be read",
            "a time is infinite, or a decimal is not a number (that it is refused is a fact about the data: do not"
            " publish it)",
            "Make such values missing, in a view say",
        )
