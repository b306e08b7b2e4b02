# SPDX-License-Identifier: Apache-2.0
"""How far a step of policies moves the counts of public groups, where a record is one row of the table.

A step of ADP, OSDP or Blowfish leads from some records to some others only. Of a sum, a mean or a percentile nothing better
than "any other record" is derived from that. Of counts of groups it is: which moves occur is gone through, over the records
that the groups, the filter and the policies tell apart (`leeward.query._counting`), so the rates are exact.

The policies are propositions about a row, so this is for tables in which every row is a person of its own. Where policies
are over columns, the filter takes part: a policy that does not speak of a filtered column lets it change, and then a count
rises. Where records are listed, as the nodes of a Blowfish graph are, they are the values of the column by which rows are
grouped.

Intervals of a number are public groups too, ``by = { age = { lower = "0", upper = "100", step = "20" } }``: the groups are
the intervals ``[lower + i·step, lower + (i + 1)·step)``, named by their ends. Numbers beyond the bounds are in the first and
the last of them, so everybody with a number is in exactly one; who has none is in no group, as one whose value is not
listed. What one person moves is therefore what it is for any public groups. A histogram of two numbers is a count of the
groups by intervals of both.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from leeward._plain import decimal, echo, reading_alike
from leeward._taught import public_list, taught
from leeward.errors import InputError, SpecError
from leeward.exact._real import Exact
from leeward.notion import Change, where
from leeward.notion._condition import Condition, Where
from leeward.notion._domain import is_number
from leeward.notion._value_grid import ValueGrid
from leeward.query._counting import CountWhere, Histogram
from leeward.query._effect import Effect
from leeward.query._group_names import By, Group, answer_column, columns_of, end_columns, lists_of
from leeward.query._public_values import public_values
from leeward.query._source import MOST_CELLS, Allowed, check_whole


def effect_on_groups(
    by: By,
    groups: Sequence[Group],
    keep: Mapping[str, Sequence[Allowed]],
    change: Change,
    *,
    others: bool = False,
    time: str | None = None,
    cut: Collection[str] = (),
) -> Effect | None:
    """Return the exact moves of the counts of rows in each group under a step of policies; None if none are derived.

    Only rows in the filter, and where there is a column of times in a window, are counted; of the others the last group is,
    if it is asked for. Which interval of a column that is ``cut`` a row is in follows from that column alone, and takes
    every value; so where nothing else looks at the column, it stands for a column of their names.
    """
    for of, lists in (("groups", lists_of(by, groups)), ("filter", keep)):
        for column in {*lists} - {*cut}:
            _refuse_spelt_otherwise(change, column, lists[column], of)
    if change.records is not None:
        if (
            cut
            or keep
            or others
            or time is not None
            or not isinstance(by, str)
            or not set(groups) <= set(change.records)
        ):
            return None  # other columns, or values beyond the list, decide too; or it is not what the records are
        return CountWhere(tuple(functools.partial(operator.eq, group) for group in groups)).effect(change)
    atoms = [atom for condition in change.conditions for atom in condition.atoms]
    columns = {atom.column for atom in atoms if isinstance(atom, Where)}
    if not change.conditions or not all(isinstance(atom, Where) for atom in atoms):
        return None
    if not {*cut}.isdisjoint({*keep, *columns}):
        return None  # a policy, or the filter, tells numbers apart that are in one interval
    if time is not None:
        if time in {*columns_of(by), *keep, *columns}:
            return None  # whether a row is in the window hangs on what else is asked of its time
        keep = {**keep, time: (_INSIDE,)}
    try:
        return _asked(by, groups, keep, others=others).effect(change)
    except InputError:  # more kinds of record than are gone through
        return None


def _refuse_spelt_otherwise(change: Change, column: str, listed: Sequence[Allowed], of: str) -> None:
    """Refuse policies about a value of a column that reads as a listed one and is none, or is of another kind than those.

    The rows that were meant would be counted, with noise for others. Of a column that is neither filtered nor grouped by,
    no value decides what is counted, so the noise is for rows with any of its values.
    """
    atoms = [atom for condition in change.conditions for atom in condition.atoms]
    asked = [atom for atom in atoms if isinstance(atom, Where) and atom.column == column]
    named = [value for atom in asked for value in atom.values or ()]
    if of == "groups":
        named += change.records or ()
    read = {reading_alike(str(each)): each for each in listed} if named else {}  # a list may be long
    otherwise = [value for value in named if value not in listed and reading_alike(str(value)) in read]
    if otherwise:
        raise InputError(
            f"A policy about {echo(otherwise[0])} in '{column}'",
            f"it is written {echo(read[reading_alike(str(otherwise[0]))])} in the {of}, so it would be about none of the"
            " rows that are counted so",
            "Write it in one way. If these do mean different things, list both",
        )
    of_kind = _kind(listed[0])
    unlike = next((value for atom in asked for value in atom.values or () if _kind(value) != of_kind), None)
    if unlike is not None:
        raise InputError(
            f"A policy about {echo(unlike)} in '{column}'",
            f"its values in the {of} are {of_kind}, which it is not, so it would be about none of the rows",
            f"Write it as one of the {of_kind} of that column",
        )
    if any(atom.values is None for atom in asked) and isinstance(listed[0], str):
        raise InputError(
            f"A policy about numbers in '{column}'",
            f"its values in the {of} are texts, none of which is a number, so it would be about none of the rows counted",
            "List the texts that it is about: where(…, one_of=[…]); or store the column as numbers",
        )


def _kind(value: object) -> str:
    """Say what kind of value one is: no value of a column equals one of another kind."""
    return "texts" if isinstance(value, str) else "numbers" if is_number(value) else "of another kind"


_INSIDE = "inside the window"
"""Stands for all times in a window, and what is not it for all others: nothing else asks for a row's time."""


def _asked(
    by: By, groups: Sequence[Group], keep: Mapping[str, Sequence[Allowed]], *, others: bool
) -> CountWhere | Histogram:
    if not keep and not others and isinstance(by, str):
        return Histogram(by, tuple(groups))
    kept = [where(column, one_of=allowed) for column, allowed in keep.items()]
    conditions = list[Condition]()
    for group in groups:
        values = zip(columns_of(by), group if isinstance(group, tuple) else (group,), strict=True)
        conditions.append(functools.reduce(operator.and_, (where(column, equals=value) for column, value in values)))
    if others:
        listed = [where(column, one_of=tuple(values)) for column, values in lists_of(by, groups).items()]
        conditions.append(~functools.reduce(operator.and_, listed))
    return CountWhere(tuple(functools.reduce(operator.and_, kept, condition) for condition in conditions))


Intervals = tuple[tuple[str, ValueGrid], ...]
"""Those columns of groups whose numbers are cut into intervals, and where."""


_MOST_COLUMNS = 8
"""Columns of groups are joined one by one: with many of them the engine takes minutes, and then runs out of stack."""


Listed: TypeAlias = Mapping[str, Iterable[Allowed] | Mapping[str, Exact]]
"""The public list of each column of groups; or the ends of intervals of its numbers."""


@taught
@dataclass(frozen=True)
class Groups:
    """Public groups, and one group more, of all others: ``Groups({"sex": ["f", "m"]}, others="not said")``.

    Attributes:
        by: the lists, as for `leeward.statistic`.
        others: the name of one group more, the last, of all who are in no listed group, also of those without any: a text,
            or a whole number where the groups are numbers. Of several columns it is of all who are in none of the
            combinations, and has this name in each column. None leaves these people out.
    """

    by: Listed
    others: Allowed | None = None


_KEYS = ("lower", "upper", "step")


def asked_intervals(column: str, given: Mapping[str, Any]) -> ValueGrid:
    """Return the public ends of the intervals of a column."""
    if set(given) != {*_KEYS}:
        wrong = next((key for key in given if key not in _KEYS), None)
        missing = next((key for key in _KEYS if key not in given), "")
        raise SpecError(
            f"by = {echo(column)}: {'the key ' + echo(wrong) if wrong is not None else missing + ' is missing'}",
            "intervals have public ends, and all are as wide",
            "Give a list of values, or lower, upper and step",
        )
    values = public_values(given["lower"], given["upper"], given["step"])
    if (many := values.steps) > MOST_CELLS:
        raise SpecError(
            f"{many:,} intervals of {echo(column)}", f"{MOST_CELLS:,} groups are the most", "Use wider steps"
        )
    return values


def named_intervals(values: ValueGrid) -> tuple[str, ...]:
    """Return what the intervals are called, in their order: ``0 to 20``; no two alike."""
    return tuple(f"{low} to {high}" for low, high in itertools.pairwise(map(decimal, values.points)))


def asked_groups(by: Any, others: Any) -> tuple[By, tuple[Group, ...], Intervals]:
    """Return the columns of the public groups, all groups, in the order of the answers, and which of them are intervals.

    Args:
        by: the public list of each column, ``{"sex": ["f", "m"], "income": ["low", "high"]}``:
            the groups are then all their combinations, of which those of the last column change fastest. In place of a list
            the ends of intervals, ``{"lower": 0, "upper": 100, "step": 20}``.
        others: what the group of all others is called, in every column: of all who are in none of the combinations.
    """
    if not by and others is not None:
        _named_others(others, ())
    if by is None:
        return None, (), ()
    if not isinstance(by, Mapping):
        raise SpecError(
            f"by = {echo(by)}",
            "the groups of an answer are public, never read from the data",
            'Give them by column: by = {"income": ["<=50K", ">50K"]}',
        )
    cut = tuple((name, asked_intervals(name, ends)) for name, ends in by.items() if isinstance(ends, Mapping))
    by = {**by, **{name: named_intervals(values) for name, values in cut}}
    if len(by) > _MOST_COLUMNS:
        raise SpecError(
            f"Groups by {len(by)} columns",
            f"{_MOST_COLUMNS} are the most: people in each group become few",
            "Name fewer",
        )
    named = [*map(answer_column, by)] if len(by) > 1 else []
    _refuse_names([*named, *(end for name, _ in cut for end in end_columns(name))])
    if len(by) == 1:
        ((column, listed),) = by.items()
        return column, listed_groups(listed, others), cut
    lists = {column: listed_groups(listed) for column, listed in by.items()}
    if not lists:
        raise SpecError("by = {}", "it names no column", "Name one, with the list of its groups")
    if (many := math.prod(map(len, lists.values())) + (others is not None)) > MOST_CELLS:
        raise _too_many(many)
    rest = () if others is None else (tuple(_named_others(others, listed) for listed in lists.values()),)
    return tuple(lists), (*itertools.product(*lists.values()), *rest), cut


def _refuse_names(names: Sequence[str]) -> None:
    """Refuse columns of groups, or of the ends of intervals, that would stand twice in an answer."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"Groups by '{twice[0]}' and another column",
            "each answer would have two columns of this name",
            "Give the column of the table another name",
        )


def _too_many(groups: int) -> SpecError:
    return SpecError(f"{groups:,} groups", f"{MOST_CELLS:,} answers are the most", "Ask for fewer at once")


def listed_groups(groups: Any, others: Any = None) -> tuple[Allowed, ...]:
    """Return the public groups as they are listed, in their order, then that of the others."""
    listed = public_list("groups", groups, SpecError, in_order=True)
    if any(isinstance(g, bool) or not isinstance(g, str | int) for g in listed):
        raise SpecError("groups that are not texts or whole numbers", "they are public keys", "Write them as such")
    check_whole("The list of groups", listed)
    if not listed:
        raise SpecError("A list of no groups", "there is nobody to answer about", "List the groups that are public")
    if len({type(g) for g in listed}) > 1:
        raise SpecError("groups of texts and of whole numbers", "a column has one type", "Write them as the table does")
    if twice := [g for g, times in Counter(listed).items() if times > 1]:
        raise SpecError(f"The group {echo(twice[0])} twice", "each is a public key", "List each once")
    listed = listed if others is None else (*listed, _named_others(others, listed))
    if len(listed) > MOST_CELLS:
        raise _too_many(len(listed))
    return listed


def _named_others(others: Any, listed: Sequence[Allowed]) -> Allowed:
    """Return what the group of all others is called: by a key of the type of the listed ones, and by none of them."""
    if not listed:
        raise SpecError(
            f"others = {echo(others)} without groups", "everybody is among the others", "Give by and groups"
        )
    texts = isinstance(listed[0], str)
    if isinstance(others, bool) or not isinstance(others, str if texts else int):
        raise SpecError(
            f"others = {echo(others)}",
            f"it stands in a column with listed groups, which are {'texts' if texts else 'whole numbers'}",
            'Give, say, others = "all others"' if texts else "Give, say, others = -1",
        )
    if others in listed:
        raise SpecError(f"others = {echo(others)}", "a listed group is called so", "Call the others by another name")
    check_whole("The name of the others", [others])
    return others
