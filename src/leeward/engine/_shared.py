# SPDX-License-Identifier: Apache-2.0
"""Several questions about one table: its source is opened once, and each question sees its own columns of it.

A question sees what it would see if it were asked alone: the same columns in the same order, with the same types. So the
digest of its columns, by which content is recognised, is the same too. What it makes on the way has names of its own, so
that the questions do not overwrite one another's; the marks of a column are worked out once for all questions that read it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from leeward._private import Private
from leeward.engine._bound import Bound
from leeward.engine._engines import Described, bind_private
from leeward.errors import LeewardError
from leeward.query._table import same_source
from leeward.tables._files import File

if TYPE_CHECKING:
    import ibis.expr.types as ir

    from leeward.engine._row_sums import Asked, Sums


class OwnColumns(Bound):
    """Some columns of a source that other questions read too.

    Args:
        whole: the source, with all columns that any of the questions reads.
        names: the columns of this one, in its order.
        which: a number, which no other question has.
        known: what is known of the content of columns already.
    """

    __slots__ = ("_known", "_names", "_which", "_whole")

    def __init__(self, whole: Bound, names: Sequence[str], which: int, known: MutableMapping[Hashable, Any]) -> None:
        self._whole, self._names, self._which, self._known = whole, tuple(names), which, known

    @property
    def rows(self) -> ir.Table:
        return self._whole.rows.select(*self._names)

    @property
    def whole(self) -> Bound:
        return self._whole.whole

    @property
    def known(self) -> MutableMapping[Hashable, Any]:
        return self._known

    def read_files(self) -> Sequence[File]:
        return self._whole.read_files()

    def declares(self, column: str) -> bool:
        return self._whole.declares(column)

    def leaves_open(self, column: str) -> bool:
        return self._whole.leaves_open(column)

    def fetch(self, expression: ir.Expr) -> pa.Table:
        return self._whole.fetch(expression)

    def staged(self, name: str, rows: ir.Table) -> ir.Table:
        return self._whole.staged(f"{name}_of_{self._which}", rows)

    def register(self, name: str, data: pa.Table) -> ir.Table:
        return self._whole.register(f"{name}_of_{self._which}", data)

    def summed(self, rows: ir.Table, asked: Asked) -> Sequence[Sums]:
        return self._whole.summed(rows, asked)

    def check_unchanged(self) -> None:
        self._whole.check_unchanged()


class Sources(Private):
    """The sources of several questions, each opened when the first question about it is asked. A context manager.

    Args:
        asked: the table of each question, and what each of its columns is for and its name.
    """

    __slots__ = ("_asked", "_bound", "_numbers", "_open")

    def __init__(self, asked: Sequence[tuple[Described, Mapping[str, str]]]) -> None:
        self._asked, self._open, self._numbers = list(asked), ExitStack(), itertools.count()
        self._bound: list[tuple[Described, Bound | None, dict[Hashable, Any]]] = []

    def __enter__(self) -> Sources:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @contextmanager
    def bind(self, described: Described, columns: Mapping[str, str]) -> Iterator[Bound]:
        """Open the table of a question, as `bind_private` does; one that others read as well stays open for them.

        Raises:
            DataError: it cannot be read as described.
        """
        whole, known = None, dict[Hashable, Any]()
        together = [each for one, each in self._asked if _read_alike(one) and _one_source(one, described)]
        if len(together) > 1 and _read_alike(described):
            whole, known = self._whole(described, together)
        if whole is None:
            with bind_private(described, columns) as bound:
                yield bound
            return
        whole.check_roles(columns)
        yield OwnColumns(whole, list(dict.fromkeys(columns.values())), next(self._numbers), known)

    def _whole(
        self, described: Described, together: Sequence[Mapping[str, str]]
    ) -> tuple[Bound | None, dict[Hashable, Any]]:
        """Return a source with all columns; none where it cannot be read so: then each question says what is wrong."""
        for one, bound, known in self._bound:
            if _one_source(one, described):
                return bound, known
        every = dict[str, str]()
        for columns in together:
            every |= {role: name for role, name in columns.items() if name not in every.values() and role not in every}
            others = [(role, name) for role, name in columns.items() if name not in every.values()]
            every |= {f"{role} of question {len(every)}": name for role, name in others}
        found: Bound | None
        try:
            found = self._open.enter_context(bind_private(described, every))
        except LeewardError:
            found = None
        self._bound.append((described, found, {}))
        return self._bound[-1][1:]


def _one_source(one: Described, other: Described) -> bool:
    """Whether two questions read one source, in one way."""
    return same_source(one.source, other.source) and one.engine == other.engine


def _read_alike(described: Described) -> bool:
    """Whether a column is read in one way whatever it is for: a decimal comma is said of numbers alone, say."""
    writing = described.source.writing
    return writing.decimal in (None, ".") and writing.time_format is None
