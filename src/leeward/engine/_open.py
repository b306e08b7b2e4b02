# SPDX-License-Identifier: Apache-2.0
"""One way in for all kinds of questions: first the public keys of the answer, then the private table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from leeward._postgres import is_address
from leeward.engine._groups import GroupList
from leeward.engine._no_list import NoList
from leeward.engine._places import PlaceList, read_places
from leeward.errors import DataError
from leeward.query import CountVisitors, Grid, Places, Records, Visits
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import AnyQuestion, UnlistedGroups
from leeward.tables._files import files_of as files_of_source

if TYPE_CHECKING:
    from leeward.engine._bound import Bound
    from leeward.engine._shared import Sources
    from leeward.engine._timed import Opened


class Keys(Protocol):
    """The public keys of an answer: one row each, in the public order."""

    def __len__(self) -> int: ...

    def to_arrow(self) -> pa.Table:
        """Return the keys, and what else is public about them, as a table."""

    def digest(self) -> str:
        """Return a digest of the keys and their order."""

    @property
    def grid(self) -> object:
        """The grid the keys were made from; None where the user gave them."""


def files_of(query: AnyQuestion) -> list[Path]:
    """Return the real paths of the files that a question reads, as far as there are such files."""
    tables = [query.visits, query.places] if isinstance(query, CountVisitors) else [query.records]
    return [file for table in tables for file in _files(table)]


def files_of_list(query: CountVisitors) -> list[Path]:
    """Return the real paths of the files of a public list, as far as there are such files."""
    return _files(query.places)


def _files(table: Visits | Records | Places | Grid) -> list[Path]:
    if isinstance(table, Grid) or table.source.in_memory or is_address(table.source.held()):
        return []
    with suppress(DataError):  # it is said where the table is opened
        return [Path(file.path) for file in files_of_source(table.source.held(), table.source.table)[1]]
    return []


def read_keys(query: AnyQuestion) -> Keys:
    """Read the public keys of a question's answer. Touches no private data.

    Raises:
        DataError: the public list cannot be read.
    """
    if isinstance(query, UnlistedGroups):
        return NoList(query)
    return GroupList(query) if isinstance(query, Statistic) else read_places(query.places)


@contextmanager
def open_data(query: AnyQuestion, keys: Keys, sources: Sources | None = None) -> Iterator[Opened]:
    """Open the private table of a question.

    Args:
        query: the question.
        keys: its public keys.
        sources: from `sources_of`, where others are asked too, about the same table perhaps.

    Raises:
        DataError: it cannot be read as described.
    """
    # Lazily, as below: Ibis takes half a second to import, and what reads no private data needs none.
    from leeward.engine._engines import bind_private

    described, columns, made = _table_of(query, keys)
    with (bind_private if sources is None else sources.bind)(described, columns) as bound:
        yield made(bound)


def sources_of(asked: Sequence[tuple[AnyQuestion, Keys]]) -> Sources:
    """Return the sources of several questions, of which one that several are about is opened once; a context manager.

    Args:
        asked: the questions, each with its public keys.
    """
    from leeward.engine._shared import Sources

    return Sources([_table_of(query, keys)[:2] for query, keys in asked])


def _table_of(query: AnyQuestion, keys: Keys) -> tuple[Visits | Records, dict[str, str], Callable[[Bound], Opened]]:
    """Return the private table of a question, what each column that is read is for, and what opens it when it is bound."""
    if isinstance(query, Statistic):
        from leeward.engine._numbers import NumberTable, columns_of_numbers

        return query.records, columns_of_numbers(query), partial(NumberTable, query)
    if isinstance(query, UnlistedGroups):
        from leeward.engine._unlisted import UnlistedTable, columns_of_unlisted

        return query.records, columns_of_unlisted(query), partial(UnlistedTable, query)
    from leeward.engine._visits import VisitTable, columns_of_visits

    assert isinstance(keys, PlaceList)
    return query.visits, columns_of_visits(query.visits, keys), partial(VisitTable, query.visits, keys)
