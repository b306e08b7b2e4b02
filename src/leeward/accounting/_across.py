# SPDX-License-Identifier: Apache-2.0
"""Prices between units: what a release about days, places or single events costs in a budget about persons, and so on.

The secret is a set of events; each unit groups them in its own way, and a notion about a unit is a sum over units of the
distance between their records, as a notion about persons is over persons. A step of the budget changes the record of one of
its units, from r to r'. In the release's units that is: some records go, some come, and some change; at most m are touched
in r, and as many in r'. So a replacement touches m going out *and* m coming in.

Derived for notions that look at nothing but who is there, whether a record changes, and which facts it loses and gains: for
these a distance is the same for all pairs of one of five kinds (gone, come, shrunk, grown, changed otherwise), and what the
release costs is the sum over the records touched, at its most. A unit that has other events beside those that change is only
changed where the part is gone. Whatever else is asked (policies, numbers, lists of records, groups, graphs) is refused.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from leeward.accounting._units import Unit, contains
from leeward.exact._real import ZERO, Real, inf
from leeward.notion import ABSENT, Both, Notion, Personalised
from leeward.notion._between import PerPerson, matrix
from leeward.notion._personalised import persons_of
from leeward.notion._priced import Price, dearest, refused
from leeward.notion._sees import Sees, Unseen, standing_for

_KINDS = ("gone", "come", "shrunk", "grown", "changed")

_TEXT = {
    "gone": "all that belongs to one {unit} is taken away",
    "come": "something is invented for a {unit} of which there is nothing",
    "shrunk": "a part of what belongs to one {unit} is taken away",
    "grown": "more is invented for one {unit}",
    "changed": "what belongs to one {unit} becomes something else",
}


@dataclass(frozen=True)
class _Moves:
    """What each kind of change of one record costs; 0 for a kind that there is not."""

    gone: Real = ZERO
    come: Real = ZERO
    shrunk: Real = ZERO
    grown: Real = ZERO
    changed: Real = ZERO


def across(release: Notion, budget: Notion, theirs: Unit, mine: Unit, at_most: int) -> Price:
    """Return what a release about one unit costs in a budget about another.

    ``at_most`` is m: in how many of the release's units one unit of the budget has events at most. Of no account where the
    release's unit contains the budget's.
    """
    if isinstance(budget, Both):  # as between two notions about persons: the larger, for the release is a metric
        return dearest([across(release, part, theirs, mine, at_most) for part in (budget.first, budget.second)])
    for notion, unit in ((release, theirs), (budget, mine)):
        if isinstance(notion, Personalised) and unit != "person":
            return refused(f"{notion} has an ε for each person, and none for one {unit}")
    if isinstance(release, Personalised) or isinstance(budget, Personalised):
        parts = (persons_of(notion) or (notion,) for notion in (release, budget))
        pairs = dict.fromkeys(itertools.product(*parts))
        return dearest([across(r, b, theirs, mine, at_most) for r, b in pairs])
    for notion in (release, budget):
        if why := _not_by_kind(notion):
            return refused(why)
    if budget.sees.counted:  # a sum over facts, whatever they belong to
        mine = "event"
    if release.sees.counted and theirs != "event":
        return refused(f"a {theirs} can have any number of facts, and this release charges for each of them")
    try:
        return _dearest_step(_in_the_release(release, theirs, mine, at_most), _kinds(budget, mine), theirs, mine)
    except Unseen as reason:
        return refused(str(reason))


def _not_by_kind(notion: Notion) -> str:
    sees = notion.sees
    if sees.unknown:
        return sees.unknown
    if not notion.sums_over_persons:
        return f"{notion} is not a sum over units, so what it is to another unit is not known"
    if sees.conditions or sees.values is not None or sees.records is not None:
        return f"{notion} looks at what records say, and what that is to another unit is not derived"
    return ""


def _kinds(notion: PerPerson, unit: Unit) -> _Moves:
    """Return the distance between records of each kind of pair; in single events there is nothing to shrink or to grow."""
    records = standing_for(Sees(facts=True, absent_is_empty=True), Sees())
    if unit == "event":
        records = tuple(record for record in records if record is ABSENT or len(record) == 1)
    values, codes = matrix(notion, records)
    largest: dict[str, Real] = {}
    for i, before in enumerate(records):
        for j, after in enumerate(records):
            if i != j:
                kind = _kind(before, after)
                largest[kind] = max(largest.get(kind, ZERO), values[codes[i, j]])
    return _Moves(**largest)


def _kind(before: frozenset[object] | None, after: frozenset[object] | None) -> str:
    if after is ABSENT:
        return "gone"
    if before is ABSENT:
        return "come"
    return "shrunk" if after < before else "grown" if after > before else "changed"


def _in_the_release(release: Notion, theirs: Unit, mine: Unit, at_most: int) -> _Moves:
    """Return what each kind of change of one unit of the budget costs at most in the release."""
    whole = contains(theirs, mine)
    one = _kinds(release, theirs)
    gone, come = one.gone, one.come
    if not contains(mine, theirs):  # other events of the release's unit may stay
        gone, come = max(gone, one.shrunk), max(come, one.grown)
    if whole:
        # a changed event may be of another place or day, and so leave one unit of the release for another
        moves = mine == "event" and theirs != "person"
        changed = max(one.changed, gone + come) if moves else one.changed
        return _Moves(gone, come, one.shrunk, one.grown, changed)
    return _Moves(
        gone * at_most,
        come * at_most,
        max(gone, one.shrunk) * (at_most - 1) + one.shrunk,  # something of it stays
        max(come, one.grown) * (at_most - 1) + one.grown,
        max(gone + come, one.changed) * at_most,
    )


def _dearest_step(costs: _Moves, budget: _Moves, theirs: Unit, mine: Unit) -> Price:
    found = ZERO
    changes = mine == "event" and not budget.changed.is_infinite  # what a changed event may be is not known exactly
    for kind in _KINDS:
        cost, unit = getattr(costs, kind), getattr(budget, kind)
        if unit.is_infinite or cost == 0 or (mine == "event" and kind in {"shrunk", "grown"}):
            continue
        if cost.is_infinite or unit == 0:
            when = _TEXT[kind].format(unit=mine)
            return Price(
                inf,
                f"the budget protects also when {when}. That can change only a part of what belongs to one {theirs},"
                " or several of them, and this release promises nothing for that, whatever its ε",
                least=not changes,
            )
        found = max(found, cost / unit)
    return Price(found, least=not changes)
