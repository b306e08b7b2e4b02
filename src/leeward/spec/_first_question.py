# SPDX-License-Identifier: Apache-2.0
"""The question of a first spec: what may be asked of a table, what goes with it, and which promises it can have.

`leeward init` and the desk ask it, each in its own way; `leeward.spec._draft` writes what was answered.

Ranges, levels and groups are asked for and never taken from the data: the largest number, or a group with one person in it,
is somebody's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from leeward._plain import plain
from leeward.errors import SpecError

if TYPE_CHECKING:
    from fractions import Fraction

    from leeward.tables._detected import Detected

Never = Literal["safe", "dangerous", "neither"]
"""What must never be wrong of a decision: that a place is safe, that it is dangerous, or neither."""

Side = Literal["low", "high", "close"]
"""What an answer that is a number must never be: too low, too high, or neither of them is certain."""

KINDS: Final[Mapping[str, str]] = {
    "visitors": "how many people were at each place of a public list, in a window of time: few, or not",
    "count": "how many people there are, in each group of a public list or in all",
    "histogram": "how many people have a number in each interval of a public range",
    "above": "how many people have a number above each of some public levels: few, or not",
    "sum": "the sum of one number a person",
    "mean": "the mean of one number a person",
    "median": "the median of one number a person: half of them have less",
    "percentile": "other percentiles of one number a person",
    "min": "the least of one number a person",
    "max": "the greatest of one number a person",
    "variance": "how far one number a person is spread: the mean squared distance from the mean",
    "standard deviation": "how far one number a person is spread, in its own unit",
}
"""What may be asked of a table, in words."""

_SEVERAL: Final = "somebody with several rows counts"
_COMBINE: Final[Mapping[str, str]] = {
    "refuse": "nobody has several rows; if somebody does, a release is refused",
    "sum": f"{_SEVERAL} with the sum of their numbers",
    "min": f"{_SEVERAL} with the least of them",
    "max": f"{_SEVERAL} with the greatest of them",
}
_COUNTED_ONCE: Final[Mapping[str, str]] = {
    "refuse": _COMBINE["refuse"],
    "max": f"{_SEVERAL} once, in the first listed group of theirs",
}


def ways_to_combine(kind: str) -> dict[str, str]:
    """Return what may become of a person's several rows, in words: sums are in no interval, and above no level."""
    if kind == "count":
        return {**_COUNTED_ONCE}
    return {way: said for way, said in _COMBINE.items() if way != "sum" or kind not in ("histogram", "above")}


_DECIDED: Final[Mapping[str, str]] = {
    "safe": "{a} that is called safe (few of the {many} counted {there}) is never wrong",
    "dangerous": "{a} that is called dangerous (many of the {many} counted {there}) is never wrong",
    "neither": "each may be wrong once in a hundred times, and that {one} is not counted is protected as well",
}
_PUBLISHED: Final[Mapping[str, str]] = {
    "low": "an answer that is published is never too low",
    "high": "an answer that is published is never too high",
    "close": "it may be too low or too high, and that {one} is not counted is protected as well",
}
_WHERE: Final = {
    "visitors": {"a": "a place", "there": "were there"},
    "count": {"a": "a group", "there": "are in it"},
    "histogram": {"a": "an interval", "there": "have a number in it"},
    "above": {"a": "a level", "there": "have a number above it"},
}


def promises(query: Mapping[str, Any], *, by_row: bool = False) -> dict[str, str]:
    """Return what may be promised never to be wrong of a question, each in words; the usual first.

    What is promised is one of `Never` or `Side`; of visitors ``[query]`` has no keys.

    Args:
        query: the keys of ``[query]``.
        by_row: whether each row is protected by itself: nothing is promised then to somebody who has several.
    """
    kind = query.get("kind", "visitors")
    words = dict[str, str]()
    if kind in ("count", "histogram", "unlisted groups") or (kind == "sum" and a_number(query["lower"]) >= 0):
        words |= _PUBLISHED  # of other numbers no side is certain under any of these notions
    if kind in _WHERE and (kind != "count" or "by" in query):
        words |= _DECIDED
    if not words:
        words["close"] = _PUBLISHED["close"]
    of = {"many": "rows", "one": "a single row"} if by_row else {"many": "people", "one": "somebody"}
    return {never: said.format(**of, **_WHERE.get(kind, {})) for never, said in words.items()}


NOTIONS: Final[Mapping[Never | Side, str]] = {
    "safe": "addition-only",
    "dangerous": "removal-only",
    "neither": "dp",
    "low": "addition-only",
    "high": "removal-only",
    "close": "dp",
}
"""The notion under which that is promised."""


def protected(never: Never | Side, epsilon: str, *, visits: bool = True) -> dict[str, Any]:
    """Return the keys of ``[protect]``: of visits, one person counts at one place, the one visited last."""
    bound = {"places_per_person": 1, "if_more": "latest"} if visits else {}
    return {"notion": NOTIONS[never], "epsilon": epsilon} | bound


def decided(never: Never, people: int | str) -> dict[str, Any]:
    """Return the keys of ``[decide]``.

    Args:
        never: what must never be wrong.
        people: so many are still safe; or, where ``dangerous`` is never wrong, so many are dangerous. A text, as typed.
    """
    if isinstance(people, str) and (not people.isdecimal() or len(people) > 9):
        raise SpecError(f"'{plain(people)}' people", "it is not a number of people", "Give one, such as 2")
    if never == "dangerous":
        return {"dangerous_at_least": int(people)}
    return {"safe_at_most": int(people)} | ({"error_at_most": "0.01"} if never == "neither" else {})


def number_keys(kind: str, column: str, answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the keys of ``[query]`` about a number: its column, what becomes of several, and what is public of it.

    What is answered has ``combine``, and what the kind needs: ``levels``, or ``lower``, ``upper``, ``step`` and ``p``.
    """
    combine = answers.get("combine", "refuse")
    keys: dict[str, Any] = {"column": column} | ({} if combine == "refuse" else {"combine": combine})
    if kind == "above":
        check_levels(answers["levels"])
        return keys | {"levels": parts(answers["levels"])}
    lower, upper, step = (_written(answers[key]) for key in ("lower", "upper", "step"))
    a_number(lower)
    check_upper(lower, upper)
    check_grid(lower, upper, step)
    keys |= {"lower": lower, "upper": upper, "step": step}
    if kind in ("mean", "standard deviation"):  # which lies between the multiples that numbers are rounded to
        keys["grid"] = str(a_number(step) / 10)
    if kind == "percentile":
        check_percentiles(answers["p"])
        keys["p"] = several[0] if len(several := parts(answers["p"])) == 1 else several
    return keys


def group_keys(table: Detected, column: str, listed: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the public groups by their column, as values of it are read."""
    seen = table.column(column)
    whole = table.kind != "csv" and seen is not None and seen.looks == "whole numbers"  # all of CSV is text
    return {column: [_whole(group) if whole else str(group) for group in listed]}


def listed_groups(file: str, seen: Detected, sheet: str | None, column: str) -> list[Any]:
    """Return what a column of a public list holds, in its order; refuse a list in which a group stands twice."""
    from leeward.engine._places import read_places
    from leeward.query import Source, places
    from leeward.tables._guess import writing_of

    found: list[Any] = read_places(places(Source(file, table=sheet, **writing_of(seen)), place=column)).keys.to_pylist()
    return found


def _whole(group: Any) -> int:
    written = str(group).strip()
    if not _WHOLE.fullmatch(written):  # int() would cut 70.5 off, and read 7_0
        raise SpecError(
            f"The group {plain(written)}", "the column of the groups holds whole numbers", "Give whole numbers"
        )
    return int(written.partition(".")[0])


_WHOLE: Final = re.compile(r"[+-]?[0-9]+(\.0)?")
"""A whole number as texts write it, and floats that are whole."""


def parts(text: str) -> list[str]:
    """Return the parts of a list that is written with commas."""
    return [part.strip() for part in text.split(",")]


def check_groups(listed: Sequence[str]) -> None:
    """Refuse groups of which one is empty or stands twice."""
    if not all(listed) or len(set(listed)) < len(listed):
        raise SpecError("The groups", "one of them is empty, or named twice", "Name each once")


_THOUSANDS: Final = re.compile(r"[+-]?[1-9]\d{0,2}([.,'\u2019 \u00a0\u202f]\d{3})+")
_COMMA: Final = re.compile(r"[+-]?\d+,\d+")


def a_number(text: str) -> Fraction:
    """Return a number, written with a point or a comma; refuse what is none, and what may be two (``10.000``)."""
    from leeward.query._public_values import rational

    return rational(_written(text), "the number")


def _written(text: str) -> str:
    """Return a number as a spec writes it: with a point."""
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        whole, *rest = re.split(r"[^+\-\d]", text)
        less = f"{whole}.{rest[0]}".rstrip("0").rstrip(".")
        less += "0" if _THOUSANDS.fullmatch(less) else ""  # or it would be refused, too
        either = "".join((whole, *rest)) + (f", or {less}" if len(rest) == 1 else "")
        because = "what stands before three digits may be a decimal mark, or between thousands"
        raise SpecError(plain(text), because, f"Write {either}")
    return with_point(text)


def with_point(text: str) -> str:
    """Return a number with a decimal comma as a spec writes it; what may be thousands, or is no number, stays as it is."""
    is_decimal = _COMMA.fullmatch(text) and not _THOUSANDS.fullmatch(text)
    return text.replace(",", ".") if is_decimal else text


def check_upper(lower: str, upper: str) -> None:
    """Refuse an upper end that is not above the lower."""
    if a_number(upper) <= a_number(lower):
        raise SpecError(f"{plain(upper)}", f"it is not above the least, {plain(lower)}", "Give a greater number")


def check_grid(lower: str, upper: str, step: str) -> None:
    """Refuse steps that do not fit a range."""
    from leeward.query._public_values import public_values

    public_values(*map(_written, (lower, upper, step)))


def check_levels(text: str) -> None:
    """Refuse what is no list of levels."""
    from leeward.query._levels import listed_levels

    listed_levels(parts(text))


def check_percentiles(text: str) -> None:
    """Refuse what is no list of percentiles."""
    from leeward.query._percentiles import listed_percentiles

    listed_percentiles(parts(text))
