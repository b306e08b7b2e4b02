"""An open table of rows: what all kinds of questions share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward.engine.bind import Bound
from leeward.engine.content import Content, recognised
from leeward.errors import DataError
from leeward.private import Private


class Rows(Private):
    """A bound table with at least one row.

    Raises:
        DataError: the table is empty.
    """

    # No dict of its own: an Ibis table in it would print its rows wherever that is shown.
    __slots__ = ("_bound", "_raw", "_times")

    def __init__(self, bound: Bound, name: str, times: Sequence[str] = ()) -> None:
        self._bound, self._raw, self._times = bound, bound.rows, times
        if not bound.fetch(self._raw.limit(1)).num_rows:
            raise DataError(f"The table of {name} is empty", "there is nothing to count", "Check the data file")

    def content(self, key: bytes) -> Content:
        """Return what is kept to recognise the columns that can matter, under a secret key."""
        return recognised(self._bound, key, self._times)


def integers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of whole numbers, of whatever type the engine chose for a sum, none of them null."""
    values = table.column(column).cast(pa.int64()).combine_chunks()
    # From the buffer, because to_numpy imports pandas.
    return np.frombuffer(values.buffers()[1], np.int64, count=len(values), offset=8 * values.offset)
