"""An open table of visits, without a question about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from leeward.engine import PlaceList
from leeward.engine._engines import bind_private
from leeward.engine._visits import VisitTable, columns_of_visits
from leeward.query import Visits


@contextmanager
def open_visits(visits: Visits, places: PlaceList) -> Iterator[VisitTable]:
    """Open it, to be counted over a public list."""
    with bind_private(visits, columns_of_visits(visits, places)) as bound:
        yield VisitTable(visits, places, bound)
