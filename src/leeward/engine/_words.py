# SPDX-License-Identifier: Apache-2.0
"""Functions of DuckDB in the words of another engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlglot.expressions as sge


def tree_of(expression: Any, compiler: Any, words: Mapping[str, str]) -> Any:
    """Return an expression of Ibis as a tree of SQL, in which functions that an engine has no name for are its own words.

    Args:
        expression: the expression.
        compiler: that of the engine.
        words: what is written in place of each function, with a place for each argument.
    """

    def reworded(node: Any) -> Any:
        written = words.get(str(node.this).lower()) if isinstance(node, sge.Anonymous) else None
        return (
            node
            if written is None
            else sge.Var(this=written.format(*(a.sql(compiler.dialect) for a in node.expressions)))
        )

    return compiler.to_sqlglot(expression.as_table()).transform(reworded)
