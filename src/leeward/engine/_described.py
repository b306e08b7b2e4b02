# SPDX-License-Identifier: Apache-2.0
"""Tables of an engine as Ibis describes them, and its expressions as SQL. Ibis never holds the connection."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import ibis
from ibis.backends.sql.compilers import DuckDBCompiler
from ibis.backends.sql.datatypes import DuckDBType

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir


def described(name: str, types: Mapping[str, str]) -> ir.Table:
    """Return the table of that name with the engine's own types, as an Ibis table.

    A column that has no type, because nothing is in it, becomes one of nulls, which every role can read.
    """
    table = ibis.table({column: DuckDBType.from_string(kind) for column, kind in types.items()}, name=name)
    empty = [column for column, kind in types.items() if kind == _NO_TYPE]
    return table.mutate(**{column: ibis.null() for column in empty}) if empty else table


def compiled(expression: ir.Expr) -> str:
    """Return an expression as SQL of DuckDB. Ibis' backend of that name is not loaded: it would hold connections."""
    return _compiled(expression.as_table().op())


@functools.lru_cache(maxsize=256)
def _compiled(operation: ops.Node) -> str:
    """The same, kept: a look and the release after it, a desk and a service ask for the same rows again.

    What is equal to Ibis has one text; so have 0 and −0, which no comparison tells apart either.
    """
    return str(_COMPILER.to_sqlglot(operation.to_expr()).sql(_COMPILER.dialect))


_COMPILER: Final = DuckDBCompiler()


_NO_TYPE = '"NULL"'
