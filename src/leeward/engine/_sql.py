# SPDX-License-Identifier: Apache-2.0
"""Names and texts in SQL of our own, and the table of a database that is meant by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from leeward.errors import DataError, nearest

_What = TypeVar("_What")


def quoted(text: str) -> str:
    """A text of SQL, in which only quotes have a meaning of their own."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """A name of SQL, in which only quotes have a meaning of their own."""
    return '"' + name.replace('"', '""') + '"'


def table_meant(
    table: str | None, found: Sequence[tuple[str, str, _What]], unsaid: str, where: str
) -> tuple[str, str, _What]:
    """The table or view of a database that is meant.

    Args:
        table: its name, perhaps with its schema (``schema.table``).
        found: the tables and views that there are: the schema of each, its name, and what else is known of it.
        unsaid: the schema of those that are named without one.
        where: which database it is, in words.

    Raises:
        DataError: there is none of that name, there are two, or none is named.
    """
    names = [{f"{schema}.{name}", name if schema == unsaid else f"{schema}.{name}"} for schema, name, _ in found]
    meant = [each for each, called in zip(found, names, strict=True) if table in called]
    if not meant:
        raise DataError(
            f"The table {where} is not named" if table is None else f"The table '{table}' {where}",
            "there may be several tables" if table is None else "there is no such table or view",
            "In a spec it is named by visits_table, that of the public list by places_table; in Python by table. "
            + nearest(table or "", sorted(min(called, key=len) for called in names)),
        )
    if len(meant) > 1:
        raise DataError(f"The table '{table}' {where}", "two tables are called that", "Rename one of them")
    return meant[0]


DECIMAL: Final = (
    "CREATE TEMP MACRO leeward_decimal(x) AS CASE"
    + "".join(
        f" WHEN format('{{:.{n}g}}', x::DOUBLE)::FLOAT = x THEN format('{{:.{n}g}}', x::DOUBLE)" for n in (6, 7, 8)
    )
    + " ELSE format('{:.9g}', x::DOUBLE) END"
)
"""The decimal of fewest digits that is a float of 32 bits: DuckDB's own text of 343126.12 has more, and is 343126.125."""
