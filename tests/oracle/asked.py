"""What an engine should say of a whole question: row by row in Python, slowly, sharing nothing with `leeward`.

A row is a dict of what its cells *mean*: ``person``, ``place``, ``number``, ``group``, and the columns of the filter,
each None where it is missing; ``time`` is a datetime (with an offset from UTC: an instant; without: a reading of a
clock), None, or `UNREADABLE`. A question is a dict: ``keep`` always; ``window`` (its two ends, or None), ``clock``
(what the column of times holds: "readings", "dates", "instants", "texts" or "epochs") and ``zone``; then either ``places``,
``k`` and ``if_more``, or what `tests.oracle.numbers` asks.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from tests.oracle import numbers
from tests.oracle.visits import missing, visitors

Row = Mapping[str, Any]
UNREADABLE = "unreadable"
MINUTE = timedelta(minutes=1)


class RefusedError(Exception):
    """There is no answer: people are over a "bound", the "window" does not go with the times, or these are "mixed"."""


@functools.cache
def first_shown(reading: datetime, zone: str) -> datetime:
    """The first moment at which the clocks of a zone show a reading, or a later one; by looking at them every minute."""
    clocks = ZoneInfo(zone)
    moment = reading.replace(second=0, microsecond=0, tzinfo=UTC) - timedelta(hours=26)
    before = moment.astimezone(clocks).replace(tzinfo=None)
    while True:
        moment += MINUTE
        shown = moment.astimezone(clocks).replace(tzinfo=None)
        if shown >= reading:
            return moment - (shown - reading) if shown - before == MINUTE else moment
        before = shown


def latest_before(moment: datetime, zone: str) -> datetime:
    """The latest reading that the clocks of a zone showed before a moment; by looking at them every minute of a day."""
    last = moment - timedelta(microseconds=1)
    shown = (last - n * MINUTE for n in range(26 * 60))
    return max(each.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for each in shown)


def is_inside(time: datetime, ask: Mapping[str, Any]) -> bool | None:
    """Whether a time lies in the window; None where it cannot be compared with it."""
    (start, end), zone = ask["window"], ask.get("zone")
    if (time.tzinfo is None) == (start.tzinfo is None):
        return bool(start <= time < end)
    if zone is None and ask["clock"] == "texts":
        return None
    if time.tzinfo is None:
        if zone is None:
            raise RefusedError("window")
        return bool(start <= first_shown(time, zone) < end)
    if zone is None:
        if ask["clock"] == "instants":
            raise RefusedError("window")
        return bool(start.replace(tzinfo=UTC) <= time < end.replace(tzinfo=UTC))
    return first_shown(start, zone) <= time < first_shown(end, zone)


def of_whole_days(ask: Mapping[str, Any]) -> bool:
    """Whether the clock shows midnight at both ends of the window, so that dates can be compared with it."""
    ends = [e if e.tzinfo is None else latest_before(e, ask["zone"]) + timedelta(microseconds=1) for e in ask["window"]]
    return all(end.time() == time() for end in ends)


def check_times(rows: Sequence[Row], ask: Mapping[str, Any]) -> None:
    """Refuse what no row decides alone."""
    (start, end), zone = ask["window"], ask.get("zone")
    kinds = {row["time"].tzinfo is None for row in rows if isinstance(row["time"], datetime)}
    if ask["clock"] == "texts" and zone is not None and len(kinds) > 1:
        raise RefusedError("mixed")
    of_readings = ask["clock"] in ("readings", "dates")
    if zone is not None:  # no clock shows a time of the window; or none anew, and a reading means its first showing
        never = start.tzinfo is None and first_shown(start, zone) == first_shown(end, zone)
        again = start.tzinfo is not None and latest_before(end, zone) <= latest_before(start, zone)
        if never or (again and of_readings):
            raise RefusedError("window")
    if ask["clock"] == "texts":
        return
    if zone is None and ask["clock"] != "epochs" and of_readings != (start.tzinfo is None):
        raise RefusedError("window")


def told(rows: Sequence[Row], ask: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``counts``, ``dropped`` by reason, how many rows are ``taken``, and how many people are ``over`` the bound.

    Raises:
        RefusedError: there is no answer.
    """
    dropped, rest = Counter[str](), list[Row]()
    timed = ask.get("window") is not None
    if timed:
        check_times(rows, ask)
    named = "places" in ask or ask.get("combine") is not None
    for row in rows:
        at = row.get("time")
        inside = is_inside(at, ask) if timed and isinstance(at, datetime) else None
        if any(missing(row[column]) or row[column] not in allowed for column, allowed in ask["keep"].items()):
            dropped["filtered"] += 1
        elif named and missing(row["person"]):
            dropped["null_person"] += 1
        elif timed and at == UNREADABLE:
            dropped["unreadable_time"] += 1
        elif timed and at is None:
            dropped["null_time"] += 1
        elif timed and inside is None:
            dropped["incomparable_time"] += 1
        elif timed and ask["clock"] == "dates" and not of_whole_days(ask):
            dropped["date_alone"] += 1
        elif timed and not inside:
            dropped["outside_window"] += 1
        else:
            rest.append(row)
    if "places" in ask:
        part = visitors(rest, ask["places"], lambda _: True, {}, ask["k"], ask["if_more"])
        counts, left, over, taken = part["counts"], part["dropped"], part["over"], part["kept"]
    else:
        people, left, over = numbers.records(rest, {name: said for name, said in ask.items() if name != "keep"})
        if people is not None and "lower" not in ask:
            people = [(group, 0) for group, _ in people]
        counts = None if people is None else levels(people, ask) if "levels" in ask else numbers.answer(people, ask)
        taken = len(rest) - sum(left.values())
    if counts is None:
        raise RefusedError("bound")
    whole = {reason: dropped[reason] + left.get(reason, 0) for reason in {*dropped, *left}}
    some = {reason: many for reason, many in whole.items() if many}
    return {"counts": [Fraction(n) for n in counts], "dropped": some, "taken": taken, "over": over}


def levels(people: Sequence[Any], ask: Mapping[str, Any]) -> list[int]:
    """How many people of each group are above each level, the highest first."""
    groups = range(max(1, len(ask.get("groups") or ()) + bool(ask.get("others"))))
    return [
        sum(of == group and number > level for of, number in people)
        for group in groups
        for level in reversed(ask["levels"])
    ]
