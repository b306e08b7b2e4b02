# SPDX-License-Identifier: Apache-2.0
"""SQL of PostgreSQL for the expressions that DuckDB answers too, with the same meaning.

Ibis writes PostgreSQL from the same expressions, and what it writes is held against known traps (`tests/engines`). What it
has no word for, or another meaning, is written here: the division of integers and the microseconds of a time, both exact.
Nothing rests on the server's settings: what they could change is set for the session (`SETTINGS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql.compilers import PostgresCompiler

from leeward.engine._sql import named, quoted
from leeward.engine._words import tree_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

SETTINGS: Final = {"TimeZone": "UTC", "extra_float_digits": "1", "jit": "off"}
"""Floats are written with all their digits; and short queries are not compiled, which takes longer than they do."""

_WORDS: Final = {
    "epoch_us": "CAST(EXTRACT(epoch FROM {}) * 1000000 AS BIGINT)",
    "divide": "(({}) / ({}))",
    "strlen": "octet_length({})",
    "leeward_decimal": "({})::text",
}


class _Compiler(PostgresCompiler):  # type: ignore[misc]
    """Ibis' own; a cast that is tried is one, for no text is cast, which might fail."""

    visit_TryCast = PostgresCompiler.visit_Cast  # noqa: N815


_COMPILER: Final = _Compiler()


def compiled(expression: ir.Expr) -> tuple[str, frozenset[str]]:
    """Return an expression as SQL, and the names of the tables that it reads."""
    tree = tree_of(expression, _COMPILER, _WORDS)
    return tree.sql(_COMPILER.dialect), frozenset(table.name for table in tree.find_all(sge.Table))


def listed(data: pa.Table) -> str:
    """Return a small public table as SQL. A text with the character NUL, which no text of PostgreSQL has, is in none."""
    rows = zip(*(column.to_pylist() for column in data.columns), strict=True)
    held = [row for row in rows if not any(isinstance(value, str) and "\0" in value for value in row)]
    columns = list(zip(*held, strict=True)) if held else [()] * data.num_columns
    arrays = [_array(values, kind) for values, kind in zip(columns, data.schema.types, strict=True)]
    return f"SELECT * FROM unnest({', '.join(arrays)}) AS t({', '.join(map(named, data.column_names))})"


def _array(values: Sequence[Any], kind: pa.DataType) -> str:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return f'{quoted("{" + ",".join(_element(value) for value in values) + "}")}::text[] COLLATE "C"'
    sql = "float4" if pa.types.is_float32(kind) else "float8" if pa.types.is_floating(kind) else "bigint"
    if pa.types.is_uint64(kind):
        sql = "numeric"
    return f"'{{{','.join(map(repr, values)).replace('inf', 'Infinity')}}}'::{sql}[]"


def _element(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
