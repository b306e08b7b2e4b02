# SPDX-License-Identifier: Apache-2.0
"""Notions of policies in a spec: ADP, OSDP and Blowfish, for counts of groups of rows.

For these noise is derived from the policies themselves (`leeward.query._groups`). For every other question the noise of any
of the three would be that for any change of a record, and the notion that says so promises more: they are refused there, and
it is named.

What is listed without an order (policies, columns, values, the edges of a graph and their ends) is put into one: however a
promise is written down, it draws on one budget, and finds the answers that were given under it.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence

from leeward.errors import SpecError
from leeward.notion import ADP, OSDP, Blowfish, Condition, Notion, where
from leeward.query._group_names import lists_of
from leeward.query._statistic import Statistic
from leeward.spec._sections import A_POLICY, Protect, Rows

_OWN_KEYS = {
    "adp": ("policies", "absent_too"),
    "osdp": ("sensitive", "reading"),
    "blowfish": ("edges", "partition"),
}


def refuse_unused(protect: Protect) -> None:
    """Refuse keys of a notion of policies beside another one."""
    for name, keys in _OWN_KEYS.items():
        for key in keys:
            if protect.notion != name and getattr(protect, key) is not None:
                raise SpecError(
                    f"[protect] {key}",
                    f'it has no meaning under notion = "{protect.notion}"',
                    f'Leave it out, or write notion = "{name}"',
                )
    if protect.notion in _OWN_KEYS and protect.unit is not None:
        raise SpecError("[protect] unit", "this notion does not measure how far a number moves", "Leave it out")


def not_derived(protect: Protect, kind: str) -> SpecError:
    """Return why a question is not asked under a notion of policies, and what is."""
    notion, any_change = protect.notion, '"bounded-dp"'
    if protect.absent_too:
        any_change = '"add-remove-replace-dp"' if kind == "visitors" else '"hamming"'
    asked = {"visitors": "counts of visitors", "above": "counts above levels"}.get(
        kind, f"a {kind} that is not one of groups alone"
    )
    nearer = {
        "visitors": '"presence", which is the policy "was not at this place" for every listed place, all at once; or ',
        "count": "",
        "histogram": "",
    }.get(kind, '"manhattan" with the distance as its unit, or ' if notion == "blowfish" else "")
    return SpecError(
        f'[protect] notion = "{notion}" for {asked}',
        f"no smaller noise is derived from its policies there than that of {any_change}, which promises more",
        f'Use {nearer}{any_change}; or count groups of rows: kind = "histogram" with by and without column',
    )


def _adp(protect: Protect, asked: Statistic, epsilon: str) -> Notion:
    if not protect.policies:
        raise SpecError("[protect] policies", "with none, every step is protected", f'Use "bounded-dp", or {A_POLICY}')
    listed = []
    for policy in protect.policies:
        if policy.within is not None:
            listed.append(_condition(policy.within, "policies", asked))
        elif policy.outside is not None:
            listed.append(~_condition(policy.outside, "policies", asked))
    held = sorted(dict.fromkeys(listed), key=str)
    named = f"the policies {', '.join(f'“{policy}”' for policy in held)}"
    return ADP(epsilon, held, named, absent_too=bool(protect.absent_too))


def _osdp(protect: Protect, asked: Statistic, epsilon: str) -> Notion:
    if protect.sensitive is None:
        raise SpecError(
            "[protect] sensitive is missing", "it says which rows are", 'Add sensitive = { diagnosis = ["flu"] }'
        )
    sensitive = _condition(protect.sensitive, "sensitive", asked)
    return OSDP(epsilon, sensitive, protect.reading or "any", name=str(sensitive))


def _blowfish(protect: Protect, asked: Statistic, epsilon: str) -> Notion:
    if (protect.edges is None) == (protect.partition is None):
        raise SpecError(
            '[protect] notion = "blowfish"',
            f"its policy graph is {'missing' if protect.edges is None else 'given twice'}",
            'Give edges = [["flu", "cold"]], or partition = [["flu", "cold", "cough"]] to join all of each part',
        )
    if not isinstance(asked.by, str):
        raise SpecError(
            '[protect] notion = "blowfish" with groups by several columns',
            "its records are the values of one column",
            'Group by one, or use "adp" with policies over several',
        )
    if asked.intervals:
        raise SpecError(
            '[protect] notion = "blowfish" with groups that are intervals',
            "its records are the listed values of a column, and an interval holds many numbers",
            'List the groups, or use "adp" with policies over other columns',
        )
    parts = protect.edges if protect.edges is not None else protect.partition or []
    key = "edges" if protect.edges is not None else "partition"
    for part in parts:
        if len(set(part)) < len(part) or len(part) < 2 or (key == "edges" and len(part) > 2):
            raise SpecError(
                f"[protect] {key}: {part}",
                "it joins two different values" if key == "edges" else "it joins two or more different values",
                f'Write {key} = [["flu", "cold"]]',
            )
        _check_type(part, key, asked.by, asked)
    joined = sorted({pair for part in parts for pair in itertools.combinations(sorted(part), 2)})
    if not joined:
        raise SpecError(f"[protect] {key}", "it joins nothing, so nothing is protected", 'Write [["flu", "cold"]]')
    if asked.records.keep or asked.window is not None:
        key, what = ("[data] keep", "filter") if asked.records.keep else ("[window]", "window")
        raise SpecError(
            f'[protect] notion = "blowfish" with {key}',
            f"its records are the values of '{asked.by}', and the {what} looks at others",
            f'Leave {key.split()[-1]} out, or use "adp" with policies over both columns',
        )
    if asked.others:
        raise SpecError(
            '[protect] notion = "blowfish" with [query] others',
            "the listed groups, and the values that it names, are all there are, so nothing is promised to others",
            'Leave others out, or use "bounded-dp"',
        )
    values = {*asked.listed, *itertools.chain(*joined)}
    return Blowfish(epsilon, sorted(values), joined)  # all are texts, or all are numbers


POLICY_NOTIONS: dict[str, Callable[[Protect, Statistic, str], Notion]] = {
    ADP.name: _adp, OSDP.name: _osdp, Blowfish.name: _blowfish,
}  # fmt: skip
"""The notions of policies that ``[protect]`` may describe, for counts of groups of rows."""


def _condition(rows: Rows, key: str, asked: Statistic) -> Condition:
    """Return that every named column holds one of its listed values."""
    if not rows or not all(rows.values()):
        raise SpecError(f"[protect] {key}", "it names no values", 'Write, say, { diagnosis = ["flu"] }')
    for column, values in rows.items():
        if asked.window is not None and column == asked.records.time:
            raise SpecError(
                f"[protect] {key}: the column '{column}', with [window]",
                "what a policy about times does to counts of a window is not derived",
                "Name other columns, or leave the window out",
            )
        if column in dict(asked.intervals):
            raise SpecError(
                f"[protect] {key}: the column '{column}', which is grouped by intervals",
                "what a policy about single numbers does to counts of intervals is not derived",
                "List its groups in place of intervals, or name other columns",
            )
        _check_type(values, key, column, asked)
    parts: list[Condition] = [where(column, one_of=values) for column, values in sorted(rows.items())]
    return functools.reduce(operator.and_, parts)


def _check_type(values: Sequence[str | int | bool], key: str, column: str, asked: Statistic) -> None:
    """Refuse values of another type than those by which the same column is grouped or filtered: they are never equal."""
    listed = (*asked.records.keep.get(column, ()), *lists_of(asked.by, asked.listed).get(column, ()))
    kinds = {type(value) for value in listed}
    if kinds and not {type(value) for value in values} <= kinds:
        raise SpecError(
            f"[protect] {key}: the values of '{column}'",
            "they are of another type than those that it is grouped or filtered by",
            "Write texts in quotes, and numbers without, in both",
        )
