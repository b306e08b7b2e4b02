# SPDX-License-Identifier: Apache-2.0
"""What statements say of a window: when, and in which zone its ends are read."""

from __future__ import annotations

from datetime import datetime

from leeward._statement import WindowStated
from leeward.query import CountVisitors, Window
from leeward.query._unlisted_groups import AnyQuestion
from leeward.query._window import is_between_passes


def window_stated(query: AnyQuestion) -> WindowStated | None:
    """Return when; None where rows of all times count."""
    window = query.window
    if window is None:
        return None
    return WindowStated(start=window.start.isoformat(), end=window.end.isoformat(), timezone=_zone(query, window))


def during(query: AnyQuestion) -> str:
    """Say in which window; nothing where rows of all times count."""
    window = query.window
    if window is None:
        return ""
    zone = _zone(query, window)
    return f"from {_when(window.start)} up to, but not at, {_when(window.end)}" + (f" ({zone})" if zone else "")


def _zone(query: AnyQuestion, window: Window) -> str | None:
    """The zone in which the window is read; None if it says so itself, or if the times of the data have none either."""
    if window.aware:
        return None
    table = query.visits if isinstance(query, CountVisitors) else query.records
    return table.timezone or ("UTC" if table.source.time_unit is not None else None)


def shown_twice(query: AnyQuestion) -> list[str]:
    """Say what becomes of times that clocks show twice, where an end of the window lies among them."""
    window, zone = query.window, (query.visits if isinstance(query, CountVisitors) else query.records).timezone
    if window is None or zone is None or not is_between_passes(window, zone):
        return []
    return [
        f"An end of the window lies where clocks of {zone} are put back: a time without an offset from UTC that they show"
        " twice is taken for the first time, so who was there the second time may be counted in another window"
    ]


def _when(moment: datetime) -> str:
    clock = f"{moment:%H:%M}" if moment.second == moment.microsecond == 0 else f"{moment:%H:%M:%S}"
    return f"{moment:%Y-%m-%d} {clock}{moment:%z}"
