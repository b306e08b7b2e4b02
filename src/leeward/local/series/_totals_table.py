# SPDX-License-Identifier: Apache-2.0
"""Totals as a table: one row for each meter or group and span, of a tree for each level too, whatever the readings are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leeward.local.series._grid import Integers
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree

if TYPE_CHECKING:
    import pyarrow as pa


def names_of_totals(totals: Totals) -> tuple[str, str, str]:
    """Return the columns of a table of totals, beside the names of meters or groups."""
    return "from" if totals.per == "period" else totals.per, "readings_per_meter", f"total_{totals.unit}"


def names_of_tree(tree: TotalsTree) -> tuple[str, str, str, str]:
    """Return the columns of such a table, beside the names of meters or groups."""
    return "level", "from", "readings_per_meter", f"total_{tree.totals.unit}"


def table_of_totals(totals: Totals, noisy: Integers, groups: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return the table of totals.

    Args:
        totals: what is published.
        noisy: what was drawn, in steps, shape (groups, spans).
        groups: the columns of meters or groups, such as their names; none where there is one meter.
    """
    import pyarrow as pa

    spans = totals.beginnings(), pa.array([span.readings for span in totals.spans], pa.int64())
    return _table(groups, spans, totals.values(noisy), names_of_totals(totals))


def table_of_tree(tree: TotalsTree, totals: Sequence[Integers], groups: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Return the table of a tree, the widest level of each meter first."""
    import pyarrow as pa

    spans = [span for level in tree.spans[::-1] for span in level]
    levels = [level for level, held in zip(tree.levels[::-1], tree.spans[::-1], strict=True) for _ in held]
    starts, readings = tree.totals.series.schedule.starts(spans), [span.readings for span in spans]
    columns = pa.array(levels, pa.string()), starts, pa.array(readings, pa.int64())
    return _table(groups, columns, tree.totals.values(np.concatenate(totals[::-1], axis=1)), names_of_tree(tree))


def _table(
    groups: Mapping[str, Sequence[Any]], spans: Sequence[pa.Array], totals: NDArray[np.float64], names: Sequence[str]
) -> pa.Table:
    """Return one row a group and span, from columns of groups, columns of spans, and totals of shape (groups, spans)."""
    import pyarrow as pa

    many, each = totals.shape
    held = {column: pa.array([value for value in values for _ in range(each)]) for column, values in groups.items()}
    beside = [pa.concat_arrays([span] * many) if many else span[:0] for span in spans]
    return pa.table(held | dict(zip(names, (*beside, pa.array(totals.ravel())), strict=True)))


def rows_of_tree(tree: TotalsTree) -> Integers:
    """Return where each total stands among the rows of one meter, level by level from the narrowest."""
    each = [len(spans) for spans in tree.spans]
    return np.concatenate([sum(each) - sum(each[: n + 1]) + np.arange(many) for n, many in enumerate(each)])


def words_of_tree(tree: TotalsTree) -> str:
    """Return a tree's levels and their parts of ε, in words that must not change: a store is made for one price."""
    parts = zip(tree.levels, tree.mechanism.shares, strict=True)
    return ", of a tree of " + ", ".join(f"{level} {share}" for level, share in parts)
