# SPDX-License-Identifier: Apache-2.0
"""How far a step of policies moves the counts of public groups, where a record is one row of the table.

A step of ADP, OSDP or Blowfish leads from some records to some others only. Of a sum, a mean or a percentile nothing better
than "any other record" is derived from that. Of counts of groups it is: which moves occur is gone through, over the records
that the groups, the filter and the policies tell apart (`leeward.query._counting`), so the rates are exact.

The policies are propositions about a row, so this is for tables in which every row is a person of its own. Where policies
are over columns, the filter takes part: a policy that does not speak of a filtered column lets it change, and then a count
rises. Where records are listed, as the nodes of a Blowfish graph are, they are the values of the column by which rows are
grouped.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leeward._plain import told
from leeward.errors import InputError, SpecError
from leeward.notion import Change, where
from leeward.notion._condition import Condition, Where
from leeward.query._counting import CountWhere, Histogram
from leeward.query._effect import Effect
from leeward.query._source import MOST_CELLS, Allowed, check_whole


def effect_on_groups(
    by: str,
    groups: Sequence[Allowed],
    keep: Mapping[str, Sequence[Allowed]],
    change: Change,
    *,
    others: bool = False,
    time: str | None = None,
) -> Effect | None:
    """Return the exact moves of the counts of rows in each group under a step of policies; None if none are derived.

    Args:
        by: the column that says in which group a row is.
        groups: its values that are counted, one count each.
        keep: only rows whose column holds one of these values are counted.
        change: the step.
        others: whether rows that hold none of these values are counted too, last, in one group.
        time: the column of times, where only rows in a window are counted; None where rows of all times are.
    """
    if change.records is not None:
        if keep or others or time is not None or not set(groups) <= set(change.records):
            return None  # other columns, or values beyond the list, decide too; or it is not what the records are
        return CountWhere(tuple(functools.partial(operator.eq, group) for group in groups)).effect(change)
    atoms = [atom for condition in change.conditions for atom in condition.atoms]
    columns = {atom.column for atom in atoms if isinstance(atom, Where)}
    if not change.conditions or not all(isinstance(atom, Where) for atom in atoms):
        return None
    if time is not None:
        if time in {by, *keep, *columns}:
            return None  # whether a row is in the window hangs on what else is asked of its time
        keep = {**keep, time: (_INSIDE,)}
    try:
        return _asked(by, groups, keep, others=others).effect(change)
    except InputError:  # more kinds of record than are gone through
        return None


_INSIDE = "inside the window"
"""Stands for all times in a window, and what is not it for all others: nothing else asks for a row's time."""


def _asked(
    by: str, groups: Sequence[Allowed], keep: Mapping[str, Sequence[Allowed]], *, others: bool
) -> CountWhere | Histogram:
    if not keep and not others:
        return Histogram(by, tuple(groups))
    kept = [where(column, one_of=allowed) for column, allowed in keep.items()]
    conditions: list[Condition] = [where(by, equals=group) for group in groups]
    conditions += [~where(by, one_of=groups)] if others else []
    return CountWhere(tuple(functools.reduce(operator.and_, kept, condition) for condition in conditions))


def listed_groups(by: str | None, groups: Any, others: Any = None) -> tuple[Allowed, ...]:
    """Return the public groups as they are listed, in their order, then that of the others; none where none are named.

    Raises:
        SpecError: only one of the two is given, or they are no list of public keys.
    """
    if (by is None) != (groups is None):
        raise SpecError(
            "by without groups, or groups without by",
            "the groups of an answer are public, never read from the data",
            'Give both: by = "income", groups = ["<=50K", ">50K"]',
        )
    if isinstance(groups, str):
        raise SpecError(f"groups = {groups!r}", "it is one text, not a list of groups", f"Give [{groups!r}]")
    if groups is not None and (not isinstance(groups, Iterable) or getattr(groups, "ndim", 1) == 0):
        raise SpecError(f"groups = {told(groups)}", "it is not a list of groups", 'Give a list: ["<=50K", ">50K"]')
    listed = () if groups is None else tuple(groups)
    if any(isinstance(g, bool) or not isinstance(g, str | int) for g in listed):
        raise SpecError("groups that are not texts or whole numbers", "they are public keys", "Write them as such")
    check_whole("The list of groups", listed)
    if len(set(listed)) != len(listed) or len({type(g) for g in listed}) > 1 or (by is not None and not listed):
        raise SpecError("groups that are missing, repeat or mix types", "each is a public key", "List each once")
    listed = listed if others is None else (*listed, _named_others(others, listed))
    if len(listed) > MOST_CELLS:
        raise SpecError(f"{len(listed):,} groups", f"{MOST_CELLS:,} answers are the most", "Ask for fewer at once")
    return listed


def _named_others(others: Any, listed: Sequence[Allowed]) -> Allowed:
    """Return what the group of all others is called: by a key of the type of the listed ones, and by none of them."""
    if not listed:
        raise SpecError(
            f"others = {told(others)} without groups", "everybody is among the others", "Give by and groups"
        )
    texts = isinstance(listed[0], str)
    if isinstance(others, bool) or not isinstance(others, str if texts else int):
        raise SpecError(
            f"others = {told(others)}",
            f"it stands in one column with the listed groups, which are {'texts' if texts else 'whole numbers'}",
            'Give, say, others = "all others"' if texts else "Give, say, others = -1",
        )
    if others in listed:
        raise SpecError(f"others = {told(others)}", "a listed group is called so", "Call the others by another name")
    check_whole("The name of the others", [others])
    return others
