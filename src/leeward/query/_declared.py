# SPDX-License-Identifier: Apache-2.0
"""Whether the steps of a notion still generate its distance between the records that a declaration leaves.

Noise is fitted to steps between declared records. What a notion promises about two of them may rest on a chain of steps over
a third: a number between two others, a set of facts between two others, a record at which two promises meet that one output
keeps. Where the declaration leaves that one out, no step that is looked at need lead from the one to the other, though the
distance between them is finite; noise fitted to other steps, or none, would not keep it. So then it is refused.

Nothing is to be checked of a notion each of whose protected pairs is one step, or leads over nobody, whom no declaration
leaves out; nor of one that lists the records of all its steps itself, which are gone through in place of those declared.
Nor, where at most so many facts are declared a person, of one whose steps are the kinds that need no policy: of a way from
x to y, the steps that take away facts of x may come first and those that invent facts of y after them, each cut down to
these facts, over subsets of x and then of y alone. Edges of graphs, and nodes, likewise.

Where a notion says itself what any two records are apart, that is compared. Of two promises that one output keeps, the ways
over what is left out are gone through on records that stand for all there are: rows, words, numbers. Of sets of facts no
list stands for all, so of two promises with policies on facts no declaration is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral
from typing import Any, Final

from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import ZERO, Real
from leeward.notion import ABSENT, Both, EdgeDP, Manhattan, NodeDP, Notion, Personalised
from leeward.notion._adp import ADP, Presence
from leeward.notion._between import matrix
from leeward.notion._change import CHANGES
from leeward.notion._condition import Has, stand_ins
from leeward.notion._dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion._generated import MOST_RECORDS, farther_by_steps
from leeward.notion._graded import Graded
from leeward.notion._groups_and_graphs import GroupDP
from leeward.notion._one_sided import AdditionOnly, RemovalOnly
from leeward.notion._osdp import OSDP
from leeward.notion._sees import Sees, Unseen, standing_for
from leeward.query._counting import Domain

_DIRECT: Final = (
    *(ADP, AdditionOnly, BoundedDP, Graded, GroupDP, OSDP),
    *(Presence, RemovalOnly, ReplaceDP, UnboundedDP),
)
"""Notions of which each protected pair is one step, or two that lead over nobody."""

_SMALL: Final = (Manhattan, NodeDP)
"""Notions with kinds of steps of their own, of which only a list of whole records leaves out what lies between two."""

_TWIN: Final = "leeward: one of two that look alike"


def check_declared(notion: Notion, declared: Domain) -> None:
    """Refuse a declaration that leaves out what a notion's distance between two declared records rests on.

    Raises:
        NotPrivateError: it does; or that is not decided.
    """
    if not (declared.columns or declared.records is not None or declared.facts_per_person is not None):
        return
    for part in dict.fromkeys(notion.persons) if isinstance(notion, Personalised) else (notion,):
        if because := _broken(part, declared):
            raise NotPrivateError(
                f"A declaration of the records there can be, under {part}",
                f"{because}: noise fitted to steps between declared records would not keep the promise",
                "Declare all records that lie between declared ones too, or none; or use a notion of which each protected"
                " change is one step, such as ReplaceDP",
            )


def _broken(notion: Notion, declared: Domain) -> str:
    """Return why noise fitted to steps between declared records is not enough; empty where it is."""
    listing = [change.records is not None for change in notion.changes]
    if isinstance(notion, _DIRECT) or all(listing):
        return ""
    if any(listing) and declared.records is None:
        return "some of its steps are between records that it lists, the others between those that are declared"
    if notion.all_records or (declared.records is None and _without_policies(notion)):
        return ""  # of a change of everybody at once queries say themselves what they know
    if isinstance(notion, Both) and _of_facts(notion):
        return "ways from one declared set of facts to another may lead over sets that are left out"
    try:
        inside = _inside(notion, declared)
        if len(inside) > MOST_RECORDS:
            return "" if _all_numbers(notion, inside) else f"more than {MOST_RECORDS} records would have to be compared"
        far = _distances(notion, inside)
    except (Unseen, InputError) as error:
        return f"what it leaves of the notion is not told ({error})"
    if farther_by_steps(notion.steps, inside, far) is None:
        return ""
    return "between two of them it promises something by a chain of changes over a record that is left out"


def _without_policies(notion: Notion) -> bool:
    """Whether only a list of whole records could leave out what lies between two."""
    return isinstance(notion, _SMALL) or all(change in CHANGES for change in notion.changes)


def _of_facts(notion: Notion) -> bool:
    atoms = (atom for change in notion.changes for condition in change.conditions for atom in condition.atoms)
    return any(isinstance(atom, Has) for atom in atoms) or any(change.of_facts for change in notion.changes)


def _inside(notion: Notion, declared: Domain) -> Sequence[Any]:
    """Return declared records, and nobody, that stand for all of them as far as the notion can tell.

    Raises:
        Unseen: they are sets of facts that are not listed.
    """
    if declared.records is None:
        if _of_facts(notion):
            raise Unseen("of sets of facts, the records themselves would have to be declared")
        conditions = tuple(dict.fromkeys(c for change in notion.changes for c in change.conditions))
        kinds = stand_ins(conditions, columns=declared.columns)
        return [*({**kind, _TWIN: twin} for kind in kinds for twin in range(2)), ABSENT]
    of_graphs = isinstance(notion, EdgeDP | NodeDP)
    empty_is_nobody = of_graphs or notion.sees.absent_is_empty
    listed = [r for r in declared.records if r is not ABSENT and not (empty_is_nobody and r == frozenset())]
    if isinstance(notion, Manhattan) and not all(isinstance(record, Integral | Fraction) for record in listed):
        return []  # rows that hold the number: nothing rules a step out between any two of them
    if any(change.of_facts for change in notion.changes) and not all(isinstance(r, frozenset) for r in listed):
        return []  # the query refuses what is no set of facts
    return [*listed, frozenset[Any]() if of_graphs else ABSENT]


def _all_numbers(notion: Notion, listed: Sequence[Any]) -> bool:
    """Whether a long list has every number of a metric notion, so that none is left out."""
    return isinstance(notion, Manhattan) and notion.values.all_in(listed)


def _distances(notion: Notion, inside: Sequence[Any]) -> list[list[Real]]:
    """Return the notion's distances between some records, whichever others they lead over."""
    if not isinstance(notion, Both):
        try:
            return [[ZERO if x is y else notion.record(x, y) for y in inside] for x in inside]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise Unseen("some declared records are not such as it is about") from None
    values, codes = matrix(notion, (*inside, *standing_for(notion.sees, Sees())))
    return [[values[code] for code in row[: len(inside)]] for row in codes[: len(inside)].tolist()]
