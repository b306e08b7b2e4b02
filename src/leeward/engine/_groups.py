# SPDX-License-Identifier: Apache-2.0
"""The public keys of a statistic's answers: one row each, in the public order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from leeward._buffers import numbers, texts
from leeward.exact._real import exact
from leeward.exact._text import write
from leeward.notion._value_grid import ValueGrid
from leeward.query._group_names import answer_column, end_columns, lists_of
from leeward.query._public_values import fine
from leeward.query._statistic import Statistic


@dataclass(frozen=True)
class GroupList:
    """The public keys of a statistic's answers: its groups and, for a histogram of numbers, its intervals."""

    query: Statistic
    grid: None = None

    def __len__(self) -> int:
        return self.query.cells

    def to_arrow(self) -> pa.Table:
        """Return one row an answer, in the public order: ``group`` and, for intervals, ``from`` and ``to``; or ``above``.

        Of groups by several columns there is a column for each (`answer_column`); for intervals two more, of their ends. Of
        several percentiles there is ``percentile``.
        """
        query = self.query
        columns = dict[str, Sequence[str | int | float | None]]()
        if isinstance(query.by, tuple):
            for i, column in enumerate(query.by):
                keys = [group[i] for group in query.groups if isinstance(group, tuple)]
                columns[answer_column(column)] = [key for key in keys for _ in range(query.bins)]
        elif query.groups:
            groups = [group for group in query.groups if not isinstance(group, tuple)]
            columns["group"] = [group for group in groups for _ in range(query.bins)]
        for column, ends in query.intervals:
            listed = lists_of(query.by, query.listed)[column]
            at, n = {str(name): i for i, name in enumerate(listed)}, len(listed)  # the others are in none
            points = _points(ends)
            named = columns[answer_column(column) if isinstance(query.by, tuple) else "group"]
            low, high = end_columns(column)
            places = [at.get(str(name), n) for name in named]
            columns[low] = [points[i] if i < n else None for i in places]
            columns[high] = [points[i + 1] if i < n else None for i in places]
        if query.kind == "histogram" and query.values is not None:
            edges = _points(query.values) * max(1, len(query.groups))
            per = query.bins + 1
            columns["from"] = [edge for i, edge in enumerate(edges) if i % per < query.bins]
            columns["to"] = [edge for i, edge in enumerate(edges) if i % per > 0]
        if query.ps:
            columns["percentile"] = [int(p) if p.denominator == 1 else float(p) for p in query.ps] * max(
                1, len(query.groups)
            )
        if query.levels:
            whole = all(level.denominator == 1 for level in query.levels)
            down = [int(level) if whole else float(level) for level in reversed(query.levels)]
            columns["above"] = down * max(1, len(query.groups))
        return pa.table({name: _held(values) for name, values in (columns or {"group": ["all"]}).items()})

    def digest(self) -> str:
        """Return a digest of the public keys."""
        values = self.query.values
        ends = None if values is None else [write(exact(end)) for end in (values.lower, values.upper, values.step)]
        keys = ["leeward groups 1", self.query.drawn, self.query.by, list(self.query.groups), ends]
        if self.query.others:
            keys.append("and all others")
        for column, cut in self.query.intervals:
            keys.append(["intervals", column, *(write(exact(end)) for end in (cut.lower, cut.upper, cut.step))])
        if self.query.ps:
            keys.append(["percentiles", *(write(exact(p)) for p in self.query.ps)])
        if self.query.levels:
            keys.append([write(exact(level)) for level in self.query.levels])
        return hashlib.sha256(json.dumps(keys).encode()).hexdigest()


def _points(values: ValueGrid) -> list[int | float]:
    whole = fine(values) == 1
    return [int(point) if whole else float(point) for point in values.points]


def _held(values: Sequence[str | int | float | None]) -> pa.Array:
    if isinstance(values[0], str):
        return texts(map(str, values))
    missing = np.array([value is None for value in values])
    held = np.array([0 if value is None else value for value in values])
    return numbers(held, missing if missing.any() else None)
