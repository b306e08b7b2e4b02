# SPDX-License-Identifier: Apache-2.0
"""Why rows of a private table take no part: the first reason that holds counts, in the order of these lists."""

from __future__ import annotations

from collections.abc import Mapping

OF_TIMES: Mapping[str, str] = {
    "unreadable_time": "with a time that cannot be read",
    "null_time": "without a time",
    "incomparable_time": "with an offset from UTC where the window has none, or without one where it has one",
    "date_alone": "with a date and no time of day, where the window is not of whole days",
    "outside_window": "outside the window",
}
"""Reasons why a row is in no window."""

OF_VISITS: Mapping[str, str] = {
    "filtered": "left out by the filter",
    "null_person": "without a person",
    **OF_TIMES,
    "unreadable_place": "with coordinates that cannot be read, are not on the Earth, or are 0 and 0 outside the box",
    "null_place": "without a place",
    "unknown_place": "at no place of the public list",
}
"""Reasons why a visit is not counted, and how they are said after "5 rows"."""

OF_NUMBERS: Mapping[str, str] = {
    "filtered": "left out by the filter",
    "null_person": "without a person",
    "unknown_group": "in none of the listed groups",
    "unreadable_number": "with a number that cannot be read",
    "no_number": "without a number",
}
"""Reasons why a row of a statistic is not counted."""

OF_UNLISTED: Mapping[str, str] = {
    "filtered": "left out by the filter",
    "null_person": "without a person",
    "long_group": "with a group of more than 64 bytes, or of more than 63 bits",
    "no_group": "without a group",
}
"""Reasons why a row is not counted where groups are not listed."""

OF_PERSONS: Mapping[str, str] = {
    "stand_in": "whose person is a stand-in for one who is not known ('unknown', 'n/a' and the like): they count as one",
}
"""What makes rows doubtful that do take part."""

NOT_ASKED = ("null_person", "unreadable_time", "null_time", "incomparable_time", "date_alone")
"""Reasons that are mistakes of writing rather than of what is asked: such a row may be of somebody who should count."""

NOT_ASKED_INSIDE = ("unreadable_place", "unreadable_number")
"""Such reasons that are asked of rows inside the window alone, where there is one."""


def said(reason: str, rows: int) -> str:
    """Say how many rows a reason leaves out: ``1 row outside the window``."""
    why = {**OF_VISITS, **OF_NUMBERS, **OF_UNLISTED, **OF_PERSONS}[reason]
    return f"{rows:,} {'row' if rows == 1 else 'rows'} {why}"
