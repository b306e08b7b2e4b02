# SPDX-License-Identifier: Apache-2.0
"""Totals as a table: one row for each meter or group and span, of a tree for each level too, whatever the readings are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leeward.local.series._grid import Integers
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree

if TYPE_CHECKING:
    import pyarrow as pa


def columns_of(asked: Totals | TotalsTree) -> tuple[str, ...]:
    """Return the columns of a table of totals, beside the names of meters or groups."""
    totals = asked.totals if isinstance(asked, TotalsTree) else asked
    first = "from" if totals.per == "period" else totals.per
    return (
        *(("level", "from") if isinstance(asked, TotalsTree) else (first,)),
        "readings_per_meter",
        f"total_{totals.unit}",
    )


def table_of_totals(
    asked: Totals | TotalsTree, noisy: Sequence[Integers], groups: Mapping[str, Sequence[Any]]
) -> pa.Table:
    """Return the table of totals, of a tree the widest level of each meter first.

    Args:
        asked: what is published.
        noisy: what was drawn, in steps, shape (groups, spans) for each level, from the narrowest.
        groups: the columns of meters or groups, such as their names; none where there is one meter.
    """
    import pyarrow as pa

    if isinstance(asked, TotalsTree):
        totals, spans = asked.totals, [span for level in asked.spans[::-1] for span in level]
        levels = [level for level, held in zip(asked.levels[::-1], asked.spans[::-1], strict=True) for _ in held]
        named = [pa.array(levels, pa.string()), totals.series.schedule.starts(spans)]
    else:
        totals, spans, named = asked, asked.spans, [asked.beginnings()]
    values = totals.values(np.concatenate(noisy[::-1], axis=1))
    many, each = values.shape
    held = {column: pa.array([value for value in values for _ in range(each)]) for column, values in groups.items()}
    named.append(pa.array([span.readings for span in spans], pa.int64()))
    beside = [pa.concat_arrays([column] * many) if many else column[:0] for column in named]
    return pa.table(held | dict(zip(columns_of(asked), (*beside, pa.array(values.ravel())), strict=True)))


def rows_of(asked: Totals | TotalsTree) -> Integers:
    """Return where each total stands among the rows of one meter, level by level from the narrowest."""
    each = [len(spans) for spans in (asked.spans if isinstance(asked, TotalsTree) else [asked.spans])]
    return np.concatenate([sum(each) - sum(each[: n + 1]) + np.arange(many) for n, many in enumerate(each)])


def words_of_tree(tree: TotalsTree) -> str:
    """Return a tree's levels and their parts of ε, in words that must not change: a store is made for one price."""
    parts = zip(tree.levels, tree.mechanism.shares, strict=True)
    return ", of a tree of " + ", ".join(f"{level} {share}" for level, share in parts)
