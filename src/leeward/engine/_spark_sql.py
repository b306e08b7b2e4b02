# SPDX-License-Identifier: Apache-2.0
r"""SQL of Spark for the expressions that DuckDB answers too, with the same meaning.

Ibis writes Spark's SQL from the same expressions, and what it writes is held against known traps (`tests/engines`). What it
has no word for, or another meaning, is written here: the division of integers and the microseconds of a time, both exact;
sums of integers, which are decimals so that they do not end at 64 bits; the end of a text in a pattern (``\z``: Java's ``$``
also stands before a line's end); numbers in a query, which Spark would take for decimals.

The decimal that a float of 32 bits is read as has the fewest digits that say which it is. The Java that Spark runs on may
write more (before version 19), so the digits are those of Jackson, a library that is part of Spark and finds them by
Giulietti's algorithm ("The Schubfach way to render doubles", 2020).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql.compilers import PySparkCompiler
from ibis.backends.sql.compilers.base import SQLGlotCompiler

from leeward.engine._words import tree_of

if TYPE_CHECKING:
    import ibis.expr.types as ir

_DIGITS: Final = "java_method('com.fasterxml.jackson.core.io.schubfach.FloatToDecimal', 'toString', {0})"
_WORDS: Final = {
    "epoch_us": "unix_micros(CAST({} AS TIMESTAMP))",
    "divide": "(({}) DIV ({}))",
    "strlen": "octet_length({})",
    "leeward_decimal": f"CASE WHEN ({{0}}) IS NOT NULL THEN {_DIGITS} END",
}

_WIDEST_TERM: Final = "DECIMAL(28, 0)"
"""Of integers that are summed: their sum then has 38 digits, which an error ends and nothing wraps."""


class _Compiler(PySparkCompiler):  # type: ignore[misc]
    """Ibis' own, but for what has another meaning."""

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:  # noqa: N802
        if dtype.is_floating():
            return self.cast(sge.convert(repr(float(value))), dtype)
        if dtype.is_string() and not (value.isprintable() and "\\" not in value):
            return sge.Var(this=f"CAST(X'{value.encode().hex()}' AS STRING)")
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    visit_Field = SQLGlotCompiler.visit_Field  # noqa: N815 (NaN is NaN)
    visit_IsNull = SQLGlotCompiler.visit_IsNull  # noqa: N815
    visit_NotNull = SQLGlotCompiler.visit_NotNull  # noqa: N815

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        return self.cast(arg, to)

    visit_TryCast = visit_Cast  # noqa: N815 (no text is cast, which might fail)

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        kind = op.arg.dtype
        term = sge.Var(this=f"CAST({arg.sql(self.dialect)} AS {_WIDEST_TERM})") if kind.is_integer() else arg
        return super().visit_Sum(op, arg=term, where=where)

    def visit_RegexReplace(self, op: Any, *, arg: Any, pattern: Any, replacement: Any) -> Any:  # noqa: N802
        of_java = [
            sge.convert(op.pattern.value.replace("$", r"\z")),
            sge.convert(op.replacement.value.replace("\\", "$")),  # groups, and nothing else
        ]
        return self.f.regexp_replace(arg, *of_java)


_COMPILER: Final = _Compiler()


def compiled(expression: ir.Expr) -> str:
    """Return an expression as SQL of Spark."""
    return str(tree_of(expression, _COMPILER, _WORDS).sql(_COMPILER.dialect))


def listed(data: pa.Table) -> pa.Table:
    """Return a public table with types that Spark has: unsigned integers of 64 bits are decimals there."""
    kinds = [pa.decimal128(20, 0) if pa.types.is_uint64(kind) else kind for kind in data.schema.types]
    return data.cast(pa.schema(list(zip(data.column_names, kinds, strict=True))))
