# SPDX-License-Identifier: Apache-2.0
"""Changes described by policies, and whether one kind of change contains another."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from leeward._plain import LONGEST, echo, is_plain, plain
from leeward.errors import InputError
from leeward.notion._change import Change, Relation
from leeward.notion._condition import Condition, stand_ins

Policy: TypeAlias = Callable[[Any], bool]
"""A proposition about a record: a `Condition`, or any function where the universe of records is listed."""


NO_FUNCTION = "a policy given as a function does not say which records it distinguishes"
"""Why nothing is known of a notion whose policies are functions, unless all records are listed."""


def check_policies(policies: Sequence[object]) -> None:
    """Refuse what is not a proposition about a record."""
    for policy in policies:
        if not callable(policy):
            word = echo(policy) if is_plain(policy) else "'a word'"
            raise InputError(
                f"{echo(policy)} as a policy",
                "a policy is a proposition about a record, true or false of it",
                f"Give a condition, such as has({word}) or ~has({word}), or a function of the record",
            )


_SHOWN: Final = 3
"""Of many policies so many are shown."""


def named(policy: Policy) -> str:
    """Return a policy as a notion that has it is shown: what a condition says; a function says nothing."""
    text = plain(str(policy)) if isinstance(policy, Condition) else "a function"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def all_named(policies: Sequence[Policy]) -> str:
    """Return several policies as a notion that has them is shown: the first, and how many more there are."""
    more = [f"{len(policies) - _SHOWN} more"] if len(policies) > _SHOWN else []
    return f"[{', '.join([*map(named, policies[:_SHOWN]), *more])}]"


def policy_change(
    name: str,
    text: str,
    relation: Relation,
    policies: Sequence[Policy],
    records: tuple[Any, ...] | None,
    *,
    moves_people: bool = False,
) -> Change:
    """Return the change whose relation looks at these policies only.

    Raises:
        InputError: if a policy is a function and the universe of records is not listed.
    """
    conditions = tuple(policy for policy in policies if isinstance(policy, Condition))
    if records is None and len(conditions) < len(policies):
        raise InputError(
            f"The {name} of policies given as functions",
            "a function does not say which changes it allows",
            "Give conditions over columns (where, has), or list all records, or take the notion .on(all tables)",
        )
    return Change(name, text, relation, conditions, records, moves_people)


def includes(step: Change, change: Change) -> bool:
    """Return whether every pair of records that ``change`` allows is one that ``step`` allows.

    Records that no condition tells apart stand for each other, and two different ones are assumed to exist. In tables of
    facts nobody is the record without facts.
    """
    if step == change:
        return True
    listed = change.records if change.records is not None else step.records
    if listed is not None:
        pairs = [(b, a) for b, a in itertools.product(listed, repeat=2) if b != a]
        if change.moves_people and None not in listed:
            return False
    else:
        nobody = () if change.of_facts else (None,)
        pairs = list(itertools.product((*stand_ins(step.conditions + change.conditions), *nobody), repeat=2))
    if change.of_facts and not all(isinstance(record, frozenset | None) for pair in pairs for record in pair):
        return False  # records that are not sets of facts: nothing is known of such a change
    return all(step.allows(before, after) for before, after in pairs if change.allows(before, after))
