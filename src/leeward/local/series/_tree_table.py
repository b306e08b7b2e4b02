# SPDX-License-Identifier: Apache-2.0
"""A tree of totals as a table: one row for each meter or group, level and span, whatever the readings are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leeward.local.series._grid import Integers
from leeward.local.series._tree import TotalsTree


def names_of_tree(tree: TotalsTree) -> tuple[str, str, str, str]:
    """Return the columns of such a table, beside the names of meters or groups."""
    return "level", "from", "readings_per_meter", f"total_{tree.totals.unit}"


def table_of_tree(tree: TotalsTree, totals: Sequence[Integers], column: str | None, names: Sequence[Any]) -> Any:
    """Return the table, the widest level of each meter first.

    Args:
        tree: what is published.
        totals: what was drawn, in steps: shape (groups, spans) for each level, from the narrowest.
        column: the column that names meters or groups; None where there is one meter.
        names: their names.
    """
    import pyarrow as pa

    spans = [span for level in tree.spans[::-1] for span in level]
    levels = [level for level, held in zip(tree.levels[::-1], tree.spans[::-1], strict=True) for _ in held]
    starts = tree.totals.series.schedule.starts(spans)
    called: dict[str, Any] = {} if column is None else {column: pa.array([name for name in names for _ in spans])}
    beside = (
        pa.array(levels * len(names), pa.string()),
        pa.concat_arrays([starts] * len(names)) if names else starts[:0],
        pa.array(np.tile(np.array([span.readings for span in spans], np.int64), len(names))),
        pa.array(tree.totals.values(np.concatenate(totals[::-1], axis=1)).ravel()),
    )
    return pa.table(called | dict(zip(names_of_tree(tree), beside, strict=True)))


def rows_of_tree(tree: TotalsTree) -> Integers:
    """Return where each total stands among the rows of one meter, level by level from the narrowest."""
    each = [len(spans) for spans in tree.spans]
    return np.concatenate([sum(each) - sum(each[: n + 1]) + np.arange(many) for n, many in enumerate(each)])


def words_of_tree(tree: TotalsTree) -> str:
    """Return a tree's levels and their parts of ε, in words that must not change: a store is made for one price."""
    parts = zip(tree.levels, tree.mechanism.shares, strict=True)
    return ", of a tree of " + ", ".join(f"{level} {share}" for level, share in parts)
