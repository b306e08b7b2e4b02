# SPDX-License-Identifier: Apache-2.0
"""What is asked of a table, in a first spec: counts of public groups, or a statistic of one number a person.

Ranges, levels and groups are asked for and never taken from the data: the largest number, or a group with one person in it,
is somebody's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from leeward._plain import plain
from leeward.cli._asked import answer, at_terminal, choice, column, tell
from leeward.errors import SpecError
from leeward.tables._guess import GROUP, decimal_of, numeric, writing_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected

KINDS: Final[Mapping[str, str]] = {
    "visitors": "how many people were at each place of a public list, in a window of time: few, or not",
    "count": "how many people there are, in each group of a public list or in all",
    "histogram": "how many people have a number in each interval of a public range",
    "above": "how many people have a number above each of some public levels: few, or not",
    "sum": "the sum of one number a person",
    "mean": "its mean",
    "median": "its median",
    "percentile": "other percentiles of it",
    "min": "the least of it",
    "max": "the greatest of it",
    "variance": "how far it is spread: the mean squared distance from the mean",
    "standard deviation": "how far it is spread, in its own unit",
}
"""What may be asked of a table, in words."""

_SEVERAL: Final = "somebody with several rows counts"
_COMBINE: Final = {
    "refuse": "nobody has several rows; if somebody does, a release is refused",
    "sum": f"{_SEVERAL} with the sum of their numbers",
    "min": f"{_SEVERAL} with the least of them",
    "max": f"{_SEVERAL} with the greatest of them",
}
_COUNTED_ONCE: Final = {"refuse": _COMBINE["refuse"], "max": f"{_SEVERAL} once, in the first listed group of theirs"}


@dataclass(frozen=True)
class Said:
    """What options say of a question about a table; None where they say nothing.

    Attributes:
        column: the column of the number.
        lower: the least number there may be.
        upper: the greatest.
        step: what numbers are rounded to, or the width of intervals.
        p: percentiles.
        levels: levels.
        group: the column of groups.
        groups: all groups there may be.
        combine: what becomes of a person's several rows.
    """

    column: str | None
    lower: str | None
    upper: str | None
    step: str | None
    p: str | None
    levels: str | None
    group: str | None
    groups: str | None
    combine: str | None

    def refuse_unmeant(self, kind: str) -> None:
        """Refuse what means nothing for a kind of question.

        Raises:
            SpecError: something does.
        """
        unmeant = {"visitors": _OF_TABLES, "count": _OF_NUMBERS, "above": _OF_NUMBERS - {"column", "levels"}}.get(
            kind, {"p", "levels"} - ({"p"} if kind == "percentile" else set())
        )
        for option in sorted(unmeant):
            if getattr(self, option) is not None:
                raise SpecError(f"--{option} with --kind {kind}", "it means nothing there", "Leave it out")


_OF_NUMBERS: Final = {"column", "lower", "upper", "step", "p", "levels"}
_OF_TABLES: Final = {*_OF_NUMBERS, "group", "groups", "combine"}


def kind_of(given: str | None, of_places: str | None) -> str:
    """Return what is asked.

    Args:
        given: what ``--kind`` says.
        of_places: what is given that is mostly about places, if anything is: a list, or a grid.
    """
    if given is None and of_places == "--grid":
        return "visitors"
    if given is None and not at_terminal():
        if of_places is not None:
            return "visitors"
        raise SpecError(
            "Neither LIST nor --kind",
            "nothing says what is asked, and there is no terminal to ask for it",
            f"Name the public list of places, or give --kind: {', '.join(KINDS)}",
        )
    if given is None:
        tell("What is asked? (More kinds are on the page docs/spec.md.)")
    first = ["visitors"] if of_places else ["count"]
    return choice("--kind", given, {kind: KINDS[kind] for kind in dict.fromkeys((*first, *KINDS))})


def drafted_query(
    kind: str,
    table: Detected,
    listing: tuple[str, Detected, str | None] | None,
    listed: str | None,
    said: Said,
    who: str,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys of ``[query]``, and those of ``[data]`` that say how its numbers are written.

    Args:
        kind: what is asked.
        table: the table.
        listing: the public list of groups: its file, what it looks like, and its sheet.
        listed: the column of the list that holds them.
        said: what options say.
        who: the column that says who, or ``each row``.
    """
    query, keys = dict[str, Any](kind=kind), dict[str, Any]()
    if kind != "count":
        query |= _number(kind, table, said, who)
        keys = decimal_of(table, query["column"])
    if by := _groups(kind, table, listing, listed, said):
        query["by"] = by
    if kind == "count":
        query |= _combined(_COUNTED_ONCE, said, who)
    return query, keys


def _combined(ways: Mapping[str, str], said: Said, who: str) -> dict[str, str]:
    """Return the key that says what becomes of a person's several rows."""
    if who == "each row" and said.combine is None:
        return {}
    if said.combine is None:
        tell("   What becomes of a person's several rows?")
    combine = choice("--combine", said.combine, ways, assumed=True)
    return {} if combine == "refuse" else {"combine": combine}


def _number(kind: str, table: Detected, said: Said, who: str) -> dict[str, Any]:
    """Return the keys about a number: its column, what becomes of several, and what is public of it."""
    timed = {one.name for one in table.columns if one.unit}
    numbers = [name for name in numeric(table) if name != who and name not in timed]
    name = column("the column of the number", "--column", said.column, table, numbers, assumed=len(numbers) == 1)
    keys: dict[str, Any] = {"column": name} | _combined(_COMBINE, said, who)
    summed = " of all of somebody's numbers together" if keys.get("combine") == "sum" else ""
    if kind == "above":
        tell("   The levels are public: choose them without looking at the data.")
        levels = answer("the levels, ascending, such as 20,40,60", "--levels", said.levels, check=_levels)
        return keys | {"levels": _parts(levels)}
    tell(f"   Between which numbers{summed}? The range is public, and what lies beyond counts as its ends.")
    tell(
        "   Do not take it from the data, where the largest number is somebody's own: what could there be? The wider it is,"
    )
    tell("   the more noise.")
    lower = answer(f"the least number there may be{summed}", "--lower", said.lower, check=_exact)
    upper = answer(f"the greatest{summed}", "--upper", said.upper, check=lambda text: _ascending(lower, text))
    what = "the width of an interval" if kind == "histogram" else "numbers are rounded to multiples of"
    step = answer(
        what, "--step", said.step, None if kind == "histogram" else "1", lambda text: _grid(lower, upper, text)
    )
    keys |= {"lower": lower, "upper": upper, "step": step}
    if kind in ("mean", "standard deviation"):  # which lies between the multiples that numbers are rounded to
        keys["grid"] = str(_exact(step) / 10)
    if kind == "percentile":
        p = answer("which percentiles, such as 25,50,75", "--p", said.p, check=_percentiles)
        keys["p"] = parts[0] if len(parts := _parts(p)) == 1 else parts
    return keys


def _groups(
    kind: str, table: Detected, listing: tuple[str, Detected, str | None] | None, listed: str | None, said: Said
) -> dict[str, Any]:
    """Return the public groups, by their column; empty where nobody is in a group."""
    if said.group is None and said.groups is None and listing is None and not at_terminal():
        return {}
    both = [] if listing is None else [one.name for one in listing[1].columns if table.column(one.name) is not None]
    what, named = "the column of public groups", listing is not None or said.groups is not None
    if not named and said.group is None:
        what, both = f"{what}; or nothing, for everybody together", [""]
    usual = both if both == [""] else (*both, *GROUP)
    name = column(what, "--group", said.group, table, usual, assumed=bool(both), instead=None if named else "")
    if not name:
        return {}
    if listing is None:
        tell(
            "   Which groups are there? The list is public, the answer has a row for each. Do not list them from the data:"
        )
        tell("   being listed would reveal that somebody is in a group. Name those too in which nobody may be.")
        groups: list[Any] = _parts(answer("all groups, with commas between", "--groups", said.groups, check=_some))
    elif said.groups is not None:
        raise SpecError("Both LIST and --groups", "each is a public list", "Give one of them")
    else:
        what = "the column of the list that says the same"
        groups = _listed(listing, column(what, "--listed", listed, listing[1], (name, *GROUP), assumed=True))
    seen = table.column(name)
    whole = table.kind != "csv" and seen is not None and seen.looks == "whole numbers"  # all of CSV is text
    return {name: [_whole(group) if whole else str(group) for group in groups]}


def _listed(listing: tuple[str, Detected, str | None], name: str) -> list[Any]:
    """Return what a column of the public list holds, in its order."""
    from leeward.engine._places import read_places
    from leeward.query import places

    file, seen, sheet = listing
    named: list[Any] = read_places(places(file, place=name, table=sheet, **writing_of(seen))).keys.to_pylist()
    return named


def _whole(group: Any) -> int:
    try:
        return int(group)
    except ValueError:
        raise SpecError(
            f"The group {plain(str(group))}", "the column of the groups holds whole numbers", "Give whole numbers"
        ) from None


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


def _some(text: str) -> None:
    parts = _parts(text)
    if not all(parts) or len(set(parts)) < len(parts):
        raise SpecError("The groups", "one of them is empty, or named twice", "Name each once, with commas between")


def _exact(text: str) -> Any:
    from leeward.query._public_values import rational

    return rational(text, "the number")


def _ascending(lower: str, upper: str) -> None:
    if _exact(upper) <= _exact(lower):
        raise SpecError(f"{plain(upper)}", f"it is not above the least, {plain(lower)}", "Give a greater number")


def _grid(lower: str, upper: str, step: str) -> None:
    from leeward.query._public_values import public_values

    public_values(lower, upper, step)


def _levels(text: str) -> None:
    from leeward.query._levels import listed_levels

    listed_levels(_parts(text))


def _percentiles(text: str) -> None:
    from leeward.query._percentiles import listed_percentiles

    listed_percentiles(_parts(text))
