# SPDX-License-Identifier: Apache-2.0
"""Names and texts in SQL of our own."""

from __future__ import annotations

from typing import Final


def quoted(text: str) -> str:
    """A text of SQL, in which only quotes have a meaning of their own."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """A name of SQL, in which only quotes have a meaning of their own."""
    return '"' + name.replace('"', '""') + '"'


DECIMAL: Final = (
    "CREATE TEMP MACRO leeward_decimal(x) AS CASE"
    + "".join(
        f" WHEN format('{{:.{n}g}}', x::DOUBLE)::FLOAT = x THEN format('{{:.{n}g}}', x::DOUBLE)" for n in (6, 7, 8)
    )
    + " ELSE format('{:.9g}', x::DOUBLE) END"
)
"""The decimal of fewest digits that is a float of 32 bits: DuckDB's own text of 343126.12 has more, and is 343126.125."""
