# SPDX-License-Identifier: Apache-2.0
"""What makes it doubtful that a question is what was meant: each stop once, for a release and for the look before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from leeward._progress import Progress, silent
from leeward.query import Window
from leeward.query._unlisted_groups import AnyQuestion

if TYPE_CHECKING:
    from leeward.engine import Look, Opened
    from leeward.engine._beyond import Beyond


def doubts(
    table: Opened,
    queries: Sequence[AnyQuestion],
    beyond: Callable[[], Beyond | None],
    *,
    going_on: bool = False,
    progress: Progress = silent,
) -> Iterator[Callable[[], None]]:
    """Yield the stops before a charge, in order; each raises a `DoubtfulDataError` where it stops.

    Between them the table is read, for those that follow: a release, which ends at the first that stops, reads no more.
    The questions are those without a stored answer, looked at together, as windows of one run; a monitor that is going on
    has answered earlier windows.
    """
    from leeward.engine import (
        may_be_alike,
        refuse_alike,
        refuse_beyond,
        refuse_coarse,
        refuse_copies,
        refuse_doubtful,
        refuse_full_sheet,
        refuse_late,
        refuse_no_time,
    )

    first = queries[0]
    yield lambda: refuse_copies(table.files())
    yield lambda: table.refuse_cut()
    progress("looking how much would count")
    looks = [table.look(query) for query in queries]
    yield lambda: refuse_full_sheet(looks[0].rows)
    windows = [query.window for query in queries if query.window is not None]
    quiet = going_on and (any(look.taken for look in looks) or table.goes_on_after(windows))
    yield lambda: refuse_doubtful(looks, going_on=quiet)
    late = _last_empty(windows, looks) if windows else []
    if late and (going_on or len(late) < len(windows)) and not table.goes_on_after(late, within=True):
        yield partial(refuse_late, len(late))
    yield lambda: refuse_no_time(*table.without_time(windows))
    yield lambda: refuse_coarse(table.coarse(windows))
    if may_be_alike(first, looks):  # it costs one more pass over the rows
        yield lambda: refuse_alike(table.matches(first, windows))
    if looks[0].dropped.get("filtered"):
        yield lambda: refuse_alike(table.filtered(windows), of_filter=True)
    yield lambda: refuse_beyond(beyond())


def _last_empty(windows: Sequence[Window], looks: Sequence[Look]) -> list[Window]:
    """Return the last of some windows in which no row lies."""
    found = list[Window]()
    for window, look in sorted(zip(windows, looks, strict=True), key=lambda each: each[1].ends or (0, 0), reverse=True):
        if look.inside:
            break
        found.append(window)
    return found
