# SPDX-License-Identifier: Apache-2.0
"""What a promise under one notion costs in a budget counted in another: derived from their distances, or refused.

The price of d in d' is the least c with ``d ≤ c·d'``: the supremum of d/d' over all pairs of secrets that d' protects,
where 0/0 = 0, a/0 = ∞ and ∞/a = ∞ (Chatzikokolakis et al., Proposition 1). There is one derivation for all pairs of notions:

* d' is a sum over persons. As d has the triangle inequality, pairs of tables that differ in one person suffice: pairs of
  records. Few records stand for all there can be (`leeward.notion._sees`); on these both distances are compared pair by
  pair. Where each person has a distance of their own, each has a price, and the largest counts.
* d' is a sum over groups. A step changes all members of one group at once, nobody coming or going: the prices of its
  members, each in bounded DP, add up. A promise about groups costs what bounded DP costs where one person's record changes;
  a step of another grouping costs ε for every group that it meets.
* d' is the largest change of anybody. Then only a largest change itself has a price, or what is about so many groups.
* d' is the closure of the smaller of two, because one output keeps both promises. As d has the triangle inequality, the
  price is the larger of the two. The other way round, the closure is computed on the records; where that cannot be, the
  smaller of the two prices is enough, though perhaps not the least.

What is not derived is refused: the price is ∞, and says why.
"""

from __future__ import annotations

import itertools
from typing import Any, TypeGuard

import numpy as np

from leeward.distance._paths import Coded
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import ZERO, Real, inf
from leeward.notion._adp import ADP
from leeward.notion._between import PerPerson, matrix
from leeward.notion._change import REPLACE
from leeward.notion._dp import BoundedDP
from leeward.notion._groups_and_graphs import EdgeDP, GroupDP, NodeDP
from leeward.notion._metric import Manhattan, Maximum
from leeward.notion._notion import Both, Notion
from leeward.notion._osdp import OSDP
from leeward.notion._personalised import persons_of
from leeward.notion._priced import Price, dearest, refused
from leeward.notion._sees import Sees, TooMany, Unseen, standing_for


def price(mine: PerPerson, other: Notion, whole: Sees | None = None) -> Price:
    """Return what a release under the first costs in a budget counted in the second.

    Args:
        mine: what the release promises.
        other: what the budget promises.
        whole: what all of a promise sees of which the budget's is a part.
    """
    whole = other.sees if whole is None else whole
    if _falls_apart(other):
        return dearest([price(mine, part, whole) for part in (other.first, other.second)])
    if isinstance(mine, Notion) and (multiple := _multiple(mine, other)) is not None:
        return Price(multiple)
    ours, theirs = (_measures(notion) for notion in (mine, other))
    if ours and theirs and ours != theirs:
        return refused(f"values of the one are in {' and '.join(ours)}, and of the other in {' and '.join(theirs)}")
    if any(isinstance(notion, EdgeDP | NodeDP) for notion in (mine, other)):
        return _of_graphs(mine, other)
    for notion in (mine, other):
        if why := _not_understood(notion):
            return refused(why)
    if isinstance(other, GroupDP):
        return _in_groups(mine, other, whole)
    if isinstance(mine, GroupDP):
        return _of_groups(mine, other, whole)
    if other.all_records and not isinstance(mine, Maximum):
        return refused(
            "one step of the budget's notion changes the data of everybody at once, which this release does not protect"
        )
    pairs = paired(mine, other)
    if pairs is None:
        return refused("in both, each person has an ε of their own, and they are not about the same people")
    return dearest([of_one_person(one, two, whole) for one, two in pairs])


def _falls_apart(notion: PerPerson) -> TypeGuard[Both]:
    """Whether two promises of one output are priced one by one; what lists its records is compared on these, as a whole."""
    return isinstance(notion, Both) and not (notion.sees.unknown or notion.sees.records)


def _measures(notion: object) -> list[str]:
    """Return what the values of a notion are measured in, as far as it says."""
    if parts := notion.parts if isinstance(notion, Both) else persons_of(notion):
        return sorted({measure for part in dict.fromkeys(parts) for measure in _measures(part)})
    return [notion.measure] if isinstance(notion, Manhattan) and notion.measure else []


def paired(mine: PerPerson, other: Notion) -> list[tuple[PerPerson, Notion]] | None:
    """Return the promises to each person side by side, alike ones once; None if they are made to other people."""
    ours, theirs = persons_of(mine), persons_of(other)
    if ours is None or theirs is None:
        return list(dict.fromkeys(itertools.product(ours or (mine,), theirs or (other,))))
    return list(dict.fromkeys(zip(ours, theirs, strict=True))) if len(ours) == len(theirs) else None


def _multiple(mine: Notion, other: Notion) -> Real | None:
    """Return the quotient of the two ε where that is the price: the same promise, or the steps of more policies."""
    if type(mine) is not type(other):
        return None
    if isinstance(mine, ADP) and isinstance(other, ADP) and type(mine) is ADP:
        fewer = set(mine.policies) <= set(other.policies) and mine.records == other.records
        return mine.epsilon / other.epsilon if fewer and (mine.absent_too or not other.absent_too) else None
    try:
        return mine.epsilon / other.epsilon if mine.with_epsilon(other.epsilon) == other else None
    except (UndecidedError, InputError):  # two ε that are not commensurable, or not all there is: pair by pair
        return None


def _not_understood(notion: PerPerson) -> str:
    """Return why nothing can be derived for a notion; empty if something can."""
    if isinstance(notion, Notion) and not (notion.sums_over_persons or isinstance(notion, GroupDP | Maximum)):
        return f"{notion} is not a sum over persons, and what else it is to others is not known"
    return notion.sees.unknown


def _of_graphs(mine: PerPerson, other: Notion) -> Price:
    """Return the price between edges and nodes: rewiring a node changes an edge to every other node at most."""
    if type(mine) not in {EdgeDP, NodeDP} or type(other) not in {EdgeDP, NodeDP}:
        return refused("one of the two is about a graph, and the other about something else")
    assert isinstance(mine, EdgeDP | NodeDP)
    cost = mine.epsilon / other.epsilon
    if isinstance(mine, NodeDP) or isinstance(other, EdgeDP):
        return Price(cost)
    if mine.nodes is None:
        return Price(inf, "a person can have any number of ties, each of which costs: EdgeDP(…, nodes=…) says how many")
    return Price(cost * (mine.nodes - 1))


def _in_groups(mine: PerPerson, groups: GroupDP, whole: Sees) -> Price:
    """Return the price where a whole group changes at once: what its members cost, or the groups that it meets."""
    unit, people = BoundedDP(groups.epsilon), groups.people
    if isinstance(mine, GroupDP):
        if mine.people != people:
            return refused("the groups of the two are not made of the same people")
        group_of = {person: number for number, group in enumerate(mine.groups) for person in group}
        met = max(len({group_of[person] for person in group}) for group in groups.groups)
        return Price(mine.epsilon * met / groups.epsilon)
    if isinstance(mine, Maximum):
        return of_one_person(mine, unit, whole)
    persons = persons_of(mine) or (mine,) * people
    if len(persons) != people:
        return refused("the persons and the groups of the two are not the same people")
    each = {person: of_one_person(person, unit, whole) for person in dict.fromkeys(persons)}
    return dearest([_added([each[persons[member]] for member in group]) for group in groups.groups])


def _of_groups(groups: GroupDP, other: Notion, whole: Sees) -> Price:
    """Return the price of a promise about groups where one person's record changes, or a little of everybody's."""
    one = BoundedDP(groups.epsilon)
    if other.all_records:  # the least change of everybody changes all groups
        return of_one_person(one, other, whole).times(len(groups.groups))
    persons = persons_of(other) or (other,) * groups.people
    if len(persons) != groups.people:
        return refused("the groups and the persons of the two are not the same people")
    return dearest([of_one_person(one, person, whole) for person in dict.fromkeys(persons)])


def _added(found: list[Price]) -> Price:
    if any(p.cost.is_infinite for p in found):
        return dearest(found)
    return Price(sum((p.cost for p in found), start=ZERO), least=all(p.least for p in found))


def of_one_person(mine: PerPerson, other: Notion, whole: Sees) -> Price:
    """Return the supremum of d/d' over the records of one person."""
    if _falls_apart(other):
        return dearest([of_one_person(mine, part, whole) for part in (other.first, other.second)])
    ours, theirs = mine.sees, other.sees
    try:
        records = standing_for(ours, theirs, whole)
        costs, budget = matrix(mine, records), matrix(other, records)
        if ours.counted and ours.records is None and whole.records is None:
            if isinstance(mine, Both):
                raise TooMany("how many facts a person can have is not bounded")
            if not theirs.counted:
                return Price(inf, "a person can have any number of facts, and this release charges for each of them")
    except TooMany as reason:
        return _bound(mine, other, whole, str(reason))
    except Unseen as reason:
        return refused(str(reason))
    asked = np.ones(budget[1].shape, dtype=bool)
    np.fill_diagonal(asked, val=False)
    if theirs.counted and whole.records is None:  # single facts are its steps
        sets = [record or frozenset() for record in records]
        asked = np.array([[len(x ^ y) == 1 for y in sets] for x in sets])
    return _supremum(other, records, costs, budget, asked)


def _supremum(other: Notion, records: tuple[Any, ...], costs: Coded, budget: Coded, asked: Any) -> Price:
    """Return the largest quotient over the pairs asked for."""
    size = len(budget[0])
    both = costs[1] * size + budget[1]
    largest, never = ZERO, []
    for key in np.unique(both[asked]).tolist():
        mine, theirs = costs[0][key // size], budget[0][key % size]
        if theirs.is_infinite or mine == 0:
            continue
        if mine.is_infinite or theirs == 0:
            never.append(key)
        elif mine > theirs * largest:
            largest = mine / theirs
    if not never:
        return Price(largest)
    pairs = [(records[i], records[j]) for i, j in np.argwhere(asked & np.isin(both, never))[:_MOST_READ].tolist()]
    steps = (step for step in other.changes if any(step.allows(x, y) for x, y in pairs))
    when = next(steps, REPLACE).text
    because = f"the budget protects also when {when}, and this release promises nothing there, whatever its ε"
    return Price(inf, because, unpromised=True)


_MOST_READ = 10_000
"""How many pairs without a promise are looked at for the words of a refusal."""


def _bound(mine: PerPerson, other: Notion, whole: Sees, because: str) -> Price:
    """Return an upper bound where there are too many pairs; a refusal where there is none.

    Of policies that are too many: what this release costs at most wherever they may protect anything, at their price. Of two
    promises that one output keeps: the price of the cheaper.
    """
    found = []
    if isinstance(other, ADP | OSDP) and other.sees.conditions:
        found.append(_wherever(mine, other, whole))
    if isinstance(mine, Both):
        found += [of_one_person(part, other, whole) for part in (mine.first, mine.second)]
    cost = min((p.cost for p in found), default=inf)
    return refused(because) if cost.is_infinite else Price(cost, least=False)


def _wherever(mine: PerPerson, other: ADP | OSDP, whole: Sees) -> Price:
    """Return what a release costs at most between any two records that policies can protect, over what they cost there."""
    if mine.sees.counted:
        return refused("any number of facts")
    try:
        records = standing_for(mine.sees, Sees(), Sees(values=whole.values, records=whole.records))
        values, codes = matrix(mine, records)
    except Unseen as reason:
        return refused(str(reason))
    nobody = isinstance(other, ADP) and other.absent_too
    there = [i for i, record in enumerate(records) if nobody or record is not None]
    return Price(max(values[codes[i, j]] for i in there for j in there) / other.epsilon, least=False)


Notion.derive_price = staticmethod(price)
