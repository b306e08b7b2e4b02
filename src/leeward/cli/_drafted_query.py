# SPDX-License-Identifier: Apache-2.0
"""What is asked of a table, in a first spec: counts of public groups, or a statistic of one number a person.

Ranges, levels and groups are asked for and never taken from the data: see `leeward.spec._first_question`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from leeward._plain import plain
from leeward.cli._asked import answer, at_terminal, choice, column, tell
from leeward.errors import SpecError
from leeward.spec._first_question import (
    KINDS,
    a_number,
    check_grid,
    check_groups,
    check_levels,
    check_percentiles,
    check_upper,
    group_keys,
    listed_groups,
    number_keys,
    parts,
    ways_to_combine,
)
from leeward.tables._guess import GROUP, MARKS, free_numbers, number_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected


UNLISTED: Final = "unlisted groups"
ASKED: Final[Mapping[str, str]] = {
    **KINDS,
    UNLISTED: "which groups a column has that nobody has listed: those with enough people, and how many",
}
"""What `leeward init` drafts, in words."""


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
        decimal: the decimal mark of the number, in words.
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
    decimal: str | None

    def refuse_unmeant(self, kind: str) -> None:
        """Refuse what means nothing for a kind of question."""
        unmeant = {
            "visitors": _OF_TABLES,
            "count": _OF_NUMBERS,
            "above": _OF_NUMBERS - {"column", "levels", "decimal"},
            UNLISTED: _OF_TABLES - {"group"},
        }.get(kind, {"p", "levels"} - ({"p"} if kind == "percentile" else set()))
        for option in sorted(unmeant):
            if getattr(self, option) is not None:
                raise SpecError(f"--{option} with --kind {kind}", "it means nothing there", "Leave it out")


_OF_NUMBERS: Final = {"column", "lower", "upper", "step", "p", "levels", "decimal"}
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
            f"Name the public list of places, or give --kind: {', '.join(ASKED)}",
        )
    if given is None:
        tell("What is asked? (More kinds are on the page docs/spec.md.)")
    first = ["visitors"] if of_places else ["count"]
    return choice("--kind", given, {kind: ASKED[kind] for kind in dict.fromkeys((*first, *ASKED))})


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
    if kind == UNLISTED:
        if listing is not None:
            raise SpecError(f"Both LIST and --kind '{kind}'", "it asks for what is in no list", "Give one of them")
        by = column("the column of the groups", "--group", said.group, table, GROUP, assumed=False)
        return query | {"by": by, "most_groups": 100}, {}
    if kind != "count":
        query |= _number(kind, table, said, who)
        keys = number_of(table, query["column"], _mark(table, query["column"], said.decimal))
    if groups := _groups(kind, table, listing, listed, said):
        query["by"] = groups
    if kind == "count":
        combine = _combined(kind, said, who)
        query |= {} if combine == "refuse" else {"combine": combine}
    return query, keys


def kept(given: Sequence[str], table: Detected) -> dict[str, list[Any]]:
    """Return the keys of ``keep``: the values of columns that rows are kept with; they are public, as all of the question.

    Raises:
        SpecError: one is not written as a column and values, or the table has no such column.
        DataError: a column cannot be read.
    """
    found = dict[str, list[Any]]()
    for each in given:
        name, equal, values = each.partition("=")
        if not equal or not all(parts(values)) or name in found:
            raise SpecError(f"--keep {plain(each)}", "it is not COLUMN=VALUE,VALUE, of a column each", "Write it so")
        table.check(name)
        found |= group_keys(table, name, parts(values))
    return found


def _combined(kind: str, said: Said, who: str) -> str:
    """Return what becomes of a person's several rows."""
    if who == "each row" and said.combine is None:
        return "refuse"
    if said.combine is None:
        tell("   What becomes of a person's several rows?")
    return choice("--combine", said.combine, ways_to_combine(kind), assumed=True)


def _number(kind: str, table: Detected, said: Said, who: str) -> dict[str, Any]:
    """Return the keys about a number: its column, what becomes of several, and what is public of it."""
    numbers = free_numbers(table, who)
    name = column("the column of the number", "--column", said.column, table, numbers, assumed=len(numbers) == 1)
    given = {"combine": _combined(kind, said, who)}
    summed = " of all of somebody's numbers together" if given["combine"] == "sum" else ""
    if kind == "above":
        tell("   The levels are public: choose them without looking at the data.")
        levels = answer("the levels, ascending, such as 20,40,60", "--levels", said.levels, check=check_levels)
        return number_keys(kind, name, given | {"levels": levels})
    tell(f"   Between which numbers{summed}? The range is public, and what lies beyond counts as its ends.")
    tell(
        "   Do not take it from the data, where the largest number is somebody's own: what could there be? The wider it is,"
    )
    tell("   the more noise.")
    lower = answer(f"the least number there may be{summed}", "--lower", said.lower, check=a_number)
    upper = answer(f"the greatest{summed}", "--upper", said.upper, check=lambda text: check_upper(lower, text))
    what = "the width of an interval" if kind == "histogram" else "numbers are rounded to multiples of"
    step = answer(
        what, "--step", said.step, None if kind == "histogram" else "1", lambda text: check_grid(lower, upper, text)
    )
    given |= {"lower": lower, "upper": upper, "step": step}
    if kind == "percentile":
        given["p"] = answer("which percentiles, such as 25,50,75", "--p", said.p, check=check_percentiles)
    return number_keys(kind, name, given)


def _mark(table: Detected, name: str, given: str | None) -> str | None:
    """Return the decimal mark of a column of numbers, where somebody says it, or is asked."""
    seen = table.column(name)
    if given is None and not (at_terminal() and seen is not None and seen.thousands):
        return None
    if given is None:
        tell(
            "   A mark before three digits may be the decimal one, or stand between thousands. Which is the decimal one?"
        )
    alike = {"comma": "1,250 is one and a quarter", "point": "1.250 is one and a quarter"}
    first = (
        "point" if seen is not None and seen.comma else "comma"
    )  # nothing is read wrong if nobody reads the question
    return choice("--decimal", given, {word: alike[word] for word in sorted(MARKS, key=lambda word: word != first)})


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
        groups: list[Any] = parts(
            answer(
                "all groups, with commas between", "--groups", said.groups, check=lambda text: check_groups(parts(text))
            )
        )
    elif said.groups is not None:
        raise SpecError("Both LIST and --groups", "each is a public list", "Give one of them")
    else:
        what = "the column of the list that says the same"
        groups = listed_groups(*listing, column(what, "--listed", listed, listing[1], (name, *GROUP), assumed=True))
    return group_keys(table, name, groups)
