# SPDX-License-Identifier: Apache-2.0
r"""SQL of Spark for the expressions that DuckDB answers too, with the same meaning.

Ibis writes Spark's SQL from the same expressions, and what it writes is held against known traps (`tests/engines`). What it
has no word for, or another meaning, is written here: the division of integers and the microseconds of a time, both exact;
sums of integers, which are decimals so that they do not end at 64 bits; the end of a text in a pattern (``\z``: Java's ``$``
also stands before a line's end); numbers in a query, which Spark would take for decimals.

A float as text has the fewest digits that say which it is. The Java that Spark runs on may write more (before version 19),
so the digits are those of Jackson, a library that is part of Spark and finds them by Giulietti's algorithm ("The Schubfach
way to render doubles", 2020). A number between 5e-324 and 1e-320 may have a digit more than DuckDB writes, one of 32 bits
fewer, and DuckDB writes the sign of a NaN: such values look changed where the engine is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql.compilers import PySparkCompiler
from ibis.backends.sql.compilers.base import SQLGlotCompiler

from leeward.engine._words import reworded

if TYPE_CHECKING:
    import ibis.expr.types as ir

_DIGITS: Final = "java_method('com.fasterxml.jackson.core.io.schubfach.{}ToDecimal', 'toString', {})"
_WORDS: Final = {
    "epoch_us": "unix_micros(CAST({} AS TIMESTAMP))",
    "divide": "(({}) DIV ({}))",
    "strlen": "octet_length({})",
    "leeward_decimal": f"CASE WHEN ({{0}}) IS NOT NULL THEN {_DIGITS.format('Float', '{0}')} END",
}
_FLOAT: Final = r"""CASE WHEN isnan({0}) THEN 'nan' WHEN {0} = DOUBLE('Infinity') THEN 'inf'
 WHEN {0} = DOUBLE('-Infinity') THEN '-inf' WHEN {0} IS NOT NULL THEN element_at(transform(array({1}), d -> CASE
 WHEN {0} = 0 THEN d
 WHEN {0} = DOUBLE('5e-324') THEN '5e-324' WHEN {0} = DOUBLE('-5e-324') THEN '-5e-324'
 WHEN abs(DOUBLE(d)) < DOUBLE('1e-4') OR abs(DOUBLE(d)) >= DOUBLE('1e16') THEN concat(
 regexp_replace(split_part(d, 'E', 1), '\\.0\\z', ''), 'e', CASE WHEN d LIKE '%E-%' THEN '-' ELSE '+' END,
 lpad(abs(CAST(split_part(d, 'E', 2) AS INT)), greatest(2, length(replace(split_part(d, 'E', 2), '-', ''))), '0'))
 ELSE regexp_replace(regexp_replace(CAST(CAST(d AS DECIMAL(38, 21)) AS STRING), '0+\\z', ''), '\\.\\z', '.0') END), 1)
 END"""
"""A float as DuckDB writes it, from its value and its digits: with an exponent where that is below -4 or above 15."""

_WIDEST_TERM: Final = "DECIMAL(28, 0)"
"""Of integers that are summed: their sum then has 38 digits, which an error ends and nothing wraps."""

_HALF: Final = "CAST(conv(substr(h, {}, 16), 16, -10) AS BIGINT)"
"""Eight bytes of a hash, the first one the highest, as a number that may be below zero."""

_TURNS: Final = ((8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF))
"""How the first byte becomes the lowest: neighbouring bytes change places, then pairs of bytes, then fours.

It is arithmetic on 64 bits because to read texts as numbers is what is dear: once for each half, and not byte by byte."""

_PARTS: Final = ("{} & 16777215", "shiftrightunsigned({}, 24) & 16777215", "shiftrightunsigned({}, 48)")
"""The parts of a half that are added up.

Sums of so many numbers of 24 bits stay below 2^63 for 2^39 rows; beyond, adding them is an error."""


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
        kind = op.arg.dtype
        if kind.is_floating() and to.is_string():
            value = arg.sql(self.dialect)
            return sge.Var(
                this=f"({_FLOAT.format(value, _DIGITS.format('Double' if kind.nbytes == 8 else 'Float', value))})"
            )
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
    tree = _COMPILER.to_sqlglot(expression.as_table()).transform(reworded, _WORDS, _COMPILER.dialect)
    return str(tree.sql(_COMPILER.dialect))


def listed(data: pa.Table) -> pa.Table:
    """Return a public table with types that Spark has: unsigned integers of 64 bits are decimals there."""
    kinds = [pa.decimal128(20, 0) if pa.types.is_uint64(kind) else kind for kind in data.schema.types]
    return data.cast(pa.schema(list(zip(data.column_names, kinds, strict=True))))


def hash_sums(text: str, times: str, rows: str) -> str:
    """Return SQL for sums of parts of MD5 hashes; `halves` makes of them the sums of their halves."""
    hashed = f"SELECT md5({text}) AS h, {times} AS n FROM {rows}"
    made = f"SELECT {_HALF.format(1)} AS a, {_HALF.format(17)} AS b, n FROM ({hashed})"
    for bits, kept in _TURNS:
        turned = [f"(shiftrightunsigned({x}, {bits}) & {kept}) | shiftleft({x} & {kept}, {bits}) AS {x}" for x in "ab"]
        made = f"SELECT {', '.join(turned)}, n FROM ({made})"
    sums = ", ".join(f"coalesce(sum(({part.format(half)}) * n), 0)" for half in "ab" for part in _PARTS)
    return f"SELECT count(*), coalesce(sum(n), 0), {sums} FROM ({made})"


def halves(told: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of texts, of rows, and the sums of the halves of their hashes, from what `hash_sums` asks for."""
    texts, rows, *parts = told
    low, high = (sum(parts[3 * half + i] << 24 * i for i in range(3)) for half in (0, 1))
    return texts, rows, low, high
