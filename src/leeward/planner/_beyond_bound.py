# SPDX-License-Identifier: Apache-2.0
"""What to do when people are at more places than the bound: only what the notion then allows is recommended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from leeward.errors import BoundExceededError, LeewardError
from leeward.notion import Notion
from leeward.planner._everyone import unbounded
from leeward.planner._plan import only_falls
from leeward.planner._selection_plan import AnyPlan, SelectionPlan
from leeward.query import CountVisitors
from leeward.query._sensitivity import sensitivity


@contextmanager
def advised_beyond_bound(made: AnyPlan) -> Iterator[None]:
    """Where people exceed ``places_per_person``, refuse with what to do under the notion of a plan."""
    try:
        yield
    except BoundExceededError as refused:
        if not isinstance(made.counted, CountVisitors):
            raise
        instead = _instead(made.counted, made.notion, named=isinstance(made, SelectionPlan))
        raise BoundExceededError(refused.given, refused.because, instead) from None


def _instead(query: CountVisitors, notion: Notion, *, named: bool) -> str:
    if named:  # alone, which needs no bound
        return "Leave places_per_person out: naming a place needs no bound"
    ways = ["Raise places_per_person"]
    with suppress(LeewardError):
        sensitivity(notion, replace(query, if_more="latest"))
        ways.append("choose which places to keep by if_more")
    if only_falls(unbounded(query), notion):
        ways.append('leave the bound out and use mechanism = "sanitized", which needs none')
    return ", or ".join(ways)
