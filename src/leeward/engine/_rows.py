# SPDX-License-Identifier: Apache-2.0
"""An open table of rows: what all kinds of questions share."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import as_numpy
from leeward._private import Private
from leeward.engine._bound import Bound
from leeward.engine._content import Content, recognised
from leeward.engine._cut_ids import refuse_cut
from leeward.engine._matches import Matches, matches_of_filter
from leeward.query import CountVisitors, Window
from leeward.tables._files import File


class Rows(Private):
    """A bound table, which may be empty."""

    # No dict of its own: an Ibis table in it would print its rows wherever that is shown.
    __slots__ = ("_bound", "_raw", "_times")

    def __init__(self, bound: Bound, times: Sequence[str] = ()) -> None:
        self._bound, self._raw, self._times = bound, bound.rows, times

    def expect(self, queries: Sequence[Any]) -> None:
        """Say which questions will be asked; a table that can answer several in one pass then does."""

    def content(self, key: bytes) -> Content:
        """Return what is kept to recognise the columns that can matter, under a secret key."""
        return recognised(self._bound, key, self._times)

    def files(self) -> Sequence[File]:
        """Return the files that are read; none where there are none."""
        return self._bound.read_files()

    def refuse_cut(self, query: Any) -> None:
        """Refuse ids of people or places whose last digits are lost.

        Raises:
            DoubtfulDataError: there are such. For the curator only.
        """
        source = query.visits if isinstance(query, CountVisitors) else query.records
        asked = {"person": source.person, "place": query.visits.place if isinstance(query, CountVisitors) else None}
        refuse_cut(
            self._bound, {role: name for role, name in asked.items() if name is not None and name in self._raw.columns}
        )

    @abstractmethod
    def _raw_of(self, source: Any, windows: Sequence[Window]) -> Any:
        """The rows as they stand, from the start of the first of these windows to the end of the last; all for none."""

    def filtered(self, query: Any, windows: Sequence[Window] = ()) -> Matches | None:
        """See how the texts that rows hold match those that the filter of a question allows. For the curator only.

        Raises:
            DataError: a data file changed meanwhile.
        """
        source = query.visits if isinstance(query, CountVisitors) else query.records
        found = matches_of_filter(self._bound, self._raw_of(source, windows), source.keep)
        self._bound.check_unchanged()
        return found

    def _count_by(self, reason: Any, rows: Any) -> Mapping[str, int]:
        """How many rows there are of each reason; 0 for those that none has."""
        found = self._bound.fetch(rows.select(reason=reason).group_by("reason").aggregate(rows=ibis._.count()))
        return Counter({row["reason"]: int(row["rows"]) for row in found.to_pylist()})


def integers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of whole numbers, of whatever type the engine chose for a sum, none of them null."""
    return as_numpy(table.column(column).cast(pa.int64()))
