# SPDX-License-Identifier: Apache-2.0
"""What counting needs of an engine: a source that can be asked, and names for what is made of it on the way.

Three engines are this: DuckDB, which reads files, frames and what is fetched from a database (`_bind`); PostgreSQL, in which
a table of its own is counted where it lies (`_in_postgres`); and Spark (`_in_spark`). The questions are the same
expressions, and their answers too: a suite holds all against one oracle (`tests/engines`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._buffers import numbers
from leeward._private import Private

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leeward.engine._row_sums import Asked, Sums
    from leeward.tables._files import File


class Bound(Private):
    """One source, of which exactly the columns asked for can be read. It holds no row itself."""

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> ir.Table:
        """The source as an Ibis table with exactly the columns asked for: a description, which holds no connection."""

    @property
    def whole(self) -> Bound:
        """The source itself, where this is what one of several questions sees of it."""
        return self

    def read_files(self) -> Sequence[File]:
        """Return the files that it reads; none where it is no files."""
        return ()

    def declares(self, column: str) -> bool:
        """Whether the source says of what type a column is, or its values alone do: in a sheet, or as Python objects."""
        return True

    def leaves_open(self, column: str) -> bool:
        """Whether a column's type does not say if its times are instants or readings of a clock, and programs differ."""
        return False

    def check_roles(self, columns: Mapping[str, str]) -> None:
        """Refuse a column that is not read for what a question asks of it; an engine that reads texts as numbers has none.

        Args:
            columns: what each column is for and its name.

        Raises:
            DataError: its numbers or times are texts.
        """

    @abstractmethod
    def fetch(self, expression: ir.Expr) -> pa.Table:
        """Run an Ibis expression."""

    @abstractmethod
    def staged(self, name: str, rows: ir.Table) -> ir.Table:
        """Return rows under a name of their own: what is asked of them says the name, and not all that they are made by.

        Ibis writes an expression out wherever it occurs, so what is made in three steps would be written many times over.
        """

    @abstractmethod
    def register(self, name: str, data: pa.Table) -> ir.Table:
        """Make a public table in memory readable under a name, as an Ibis table."""

    @abstractmethod
    def summed(self, rows: ir.Table, asked: Asked) -> Sequence[Sums]:
        """Read rows once and add up their hashes, as `sums_of` of `_row_sums` does: the sums of each part of them."""

    @property
    def known(self) -> MutableMapping[Hashable, Any]:
        """What is known of the content of columns already; what becomes known is kept, where other questions read them."""
        return {}

    def check_unchanged(self) -> None:
        """Refuse to go on if the source changed since it was bound: two answers would be about two tables.

        Raises:
            DataError: a file changed.
        """
        for file in self.read_files():
            file.check_unchanged()

    def ranked(
        self, rows: ir.Table, keys: pa.Array, ranks: NDArray[np.int32], name: str = "leeward_keys"
    ) -> tuple[ir.Table, ir.Table]:
        """Return rows with the ``rank`` of their ``key`` in a public list, in place of it.

        Returns:
            All of them, with null where the key is not listed; and those whose key is listed.
        """
        listed = self.register(name, pa.table({"listed": keys, "rank": numbers(ranks)}))
        columns = [*(name for name in rows.columns if name != "key"), "rank"]
        is_listed = rows.key == listed.listed
        return rows.left_join(listed, is_listed).select(*columns), rows.inner_join(listed, is_listed).select(*columns)
