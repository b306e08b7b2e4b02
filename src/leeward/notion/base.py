"""What a privacy notion is: a directed distance between tables, with its steps and its promise in words.

A table is one record a person, `ABSENT` for nobody; a record is, for the notions about facts, a set of facts ("was at
place a"). A notion's distance is the sum over persons of a distance between records. What sensitivities need of it is only
its *steps*: the kinds of change of one person's record that it shelters, and what each costs.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from leeward.distance import Derived, SumOverPersons
from leeward.errors import InputError
from leeward.real import ZERO, Exact, Real, inf, positive

ABSENT = None
"""The record of nobody: the person is not in the table."""


@dataclass(frozen=True)
class Change:
    """A kind of change of one person's record, from the truth to its cover."""

    name: str
    text: str


WITHDRAW = Change("withdraw", "a person who is in the data is taken out with all records")
INSERT = Change("insert", "a person who is not in the data is put in with some records")
REPLACE = Change("replace", "a person's record becomes any other record")
SHRINK = Change("shrink", "some of the facts about a person are taken away, and none is invented")
GROW = Change("grow", "some facts about a person are invented, and none is taken away")
DROP_FACT = Change("drop a fact", "one fact about one person is taken away")
ADD_FACT = Change("add a fact", "one fact about one person is invented")

CHANGES = (WITHDRAW, INSERT, REPLACE, SHRINK, GROW, DROP_FACT, ADD_FACT)


@dataclass(frozen=True)
class Step:
    """A change that a notion shelters, and its cost d(truth → cover)."""

    change: Change
    cost: Real


@dataclass(frozen=True)
class Words:
    """A notion's promise in plain words, for people who read releases.

    Attributes:
        definition: the inequality it stands for.
        shelters: what nobody can be sure of from the answer.
        exposes: what the answer may reveal beyond doubt; empty if nothing.
        cover: what someone with the sheltered property could equally well have.
        unit: whose data one ε is about.
    """

    definition: str
    shelters: str
    exposes: str
    cover: str
    unit: str = "person"


class Notion(SumOverPersons):
    """A privacy notion: a directed distance between tables.

    Subclasses give ``name``, ``words``, `record` (the distance between two records of one person), and `cost` (what the
    worst change of each kind costs). A notion of your own from outside the package does the same; see the guide.

    Args:
        epsilon: the ε of one step, an exact number above 0.
    """

    name: str
    words: Words

    def __init__(self, epsilon: Exact) -> None:
        self.epsilon = positive(epsilon, "epsilon")
        if self.epsilon.is_infinite:
            raise InputError("epsilon = inf", "it promises nothing", 'Give a finite number, such as epsilon = "1"')
        super().__init__(Derived(f"{self.name} of one person", self.record))

    @abstractmethod
    def record(self, before: Any, after: Any) -> Real:
        """Return what it costs to pass one person's record ``before`` off as ``after``."""

    @abstractmethod
    def cost(self, change: Change) -> Real:
        """Return the largest d over all changes of this kind; ∞ if some are not sheltered."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The kinds of change that generate the notion: every sheltered pair is a chain of them."""
        return tuple(change for change in CHANGES if not self.cost(change).is_infinite)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The generating changes with their costs."""
        return tuple(Step(change, self.cost(change)) for change in self.changes)

    def price_in(self, other: Notion) -> Real:
        """Return the least c with ``d ≤ c·d'``: what a release under this notion costs in a budget kept in ``other``.

        Every step of ``other`` is priced in this notion, which is enough because distances have the triangle inequality.
        ∞ means that no multiple of the other notion covers this one: the two cannot share a budget.
        """
        return max((self.cost(step.change) / step.cost for step in other.steps), default=ZERO)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ | {"per_person": 0} == other.__dict__ | {"per_person": 0}

    def __hash__(self) -> int:
        return hash((type(self), self.epsilon))

    def __str__(self) -> str:
        return f'{type(self).__name__}("{self.epsilon}")'

    __repr__ = __str__


def unless_equal(before: Any, after: Any, cost: Real) -> Real:
    """Return 0 for equal records, else the cost: every record is its own cover."""
    return ZERO if before == after else cost


def facts(record: Any) -> frozenset[Any]:
    """Return a record as its set of facts; nobody has none."""
    return frozenset() if record is ABSENT else frozenset(record)


def only_if(condition: bool, cost: Real) -> Real:
    """Return the cost where the condition holds, else ∞."""
    return cost if condition else inf
