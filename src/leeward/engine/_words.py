# SPDX-License-Identifier: Apache-2.0
"""Functions of DuckDB in the words of another engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlglot.expressions as sge


def reworded(node: Any, words: Mapping[str, str], dialect: Any) -> Any:
    """Return a node of a tree of SQL, or what another engine writes in place of a function that it has no such name for.

    Args:
        node: the node.
        words: what is written in place of each function, with a place for each argument.
        dialect: that of the engine.
    """
    if isinstance(node, sge.Anonymous):
        written = words.get(str(node.this).lower())
        if written is not None:
            return sge.Var(this=written.format(*(each.sql(dialect) for each in node.expressions)))
    return node
