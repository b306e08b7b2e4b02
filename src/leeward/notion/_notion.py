# SPDX-License-Identifier: Apache-2.0
"""What a privacy notion is: a directed distance between tables, with its steps and its promise in words.

A table is one record a person, `ABSENT` for nobody; a record is, for the notions about facts, a set of facts ("was at
place a"). A notion's distance is the sum over persons of a distance between records. What sensitivities need of it is only
its *steps*: the kinds of change of one person's record that it protects, and what each costs.

Machine-checked (docs/proved.md): `private_shortest`.
"""

from __future__ import annotations

import copy
import itertools
import math
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from leeward._taught import is_ours, taught
from leeward.distance import Derived, DirectedDistance, FiniteDistance, SumOverPersons, both_hold, comparable
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import ZERO, Exact, Real, finite, inf, positive, whole
from leeward.notion._change import CHANGES, INSERT, WITHDRAW, Change
from leeward.notion._own import check_proportional, checked, hold_to_its_words
from leeward.notion._priced import Price
from leeward.notion._sees import Sees

ABSENT = None
"""The record of nobody: the person is not in the table."""


@dataclass(frozen=True)
class Step:
    """A change that a notion protects, and its cost d(truth → alternative)."""

    change: Change
    cost: Real


@dataclass(frozen=True)
class PrivacyDescription:
    """A notion's promise in plain words, for people who read releases.

    Attributes:
        definition: the inequality it stands for.
        protects: what nobody can be sure of from the answer.
        reveals: what the answer may reveal beyond doubt; empty if nothing.
        alternative: what someone with the protected property could equally well have.
        unit: whose data one ε is about. A notion that keeps promises about several units has none of its own: it is then
            "person and each fact", a list that is not a name of a unit.
    """

    definition: str
    protects: str
    reveals: str
    alternative: str
    unit: str = "person"


class Notion(SumOverPersons):
    """A privacy notion: a directed distance between tables.

    Subclasses give ``name``, ``words``, `record` (the distance between two records of one person), and `cost` (what the
    worst change of each kind costs). A notion of your own from outside the package does the same; what is derived from it
    rests on the records that its changes list (`leeward.notion._own`); see the guide.

    Args:
        epsilon: the ε of one step, an exact number above 0.
    """

    name: str
    words: PrivacyDescription
    derive_price: ClassVar[Callable[[Any, Notion], Price]]
    """How prices are derived: given by `leeward.notion._price_rules`, which knows all notions and so stands above them."""
    all_records: bool = False
    """Whether one step may change every person's record at once, each by a change of its kind: no sum over persons then."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if is_ours(cls) or hold_to_its_words(cls, Notion):
            return
        cls.sees = Notion.sees  # type: ignore[method-assign]
        gives = next(base for base in cls.__mro__ if "with_epsilon" in vars(base))
        if gives is cls or Notion not in gives.__mro__:
            cls.with_epsilon = checked(cls.with_epsilon)  # type: ignore[method-assign, assignment]

    def __init__(self, epsilon: Exact) -> None:
        self.epsilon = finite(epsilon, "epsilon")
        super().__init__(Derived(f"{self.name} of one person", self.record))

    @abstractmethod
    def record(self, before: object, after: object) -> Real:
        """Return what it costs to pass one person's record ``before`` off as ``after``."""

    @abstractmethod
    def cost(self, change: Change) -> Real:
        """Return the largest d over all changes of this kind; ∞ if some are not protected.

        Noise is fitted to it, so each of the `changes` of a notion is a kind of one price: `leeward.sensitivity` refuses a
        class of a user's own of which that is not so (`leeward.notion._generated`).
        """

    @property
    def changes(self) -> tuple[Change, ...]:
        """The kinds of change that generate the notion: every protected pair is a chain of them."""
        return tuple(change for change in CHANGES if not self.cost(change).is_infinite)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The generating changes with their costs."""
        return tuple(Step(change, self.cost(change)) for change in self.changes)

    def one_step(self, before: object, after: object) -> bool:
        """Return whether one generating change turns one person's record ``before`` into ``after``."""
        return any(change.allows(before, after) for change in self.changes)

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which ordered pairs (row, column) of these tables are one step apart: whom an (ε, δ)-promise is about.

        One person's record differs, by one generating change. Not every pair at finite distance is: changing a record under
        `UnboundedDP` is two steps, out and in.

        Raises:
            InputError: if the notion has no steps of its own, or the tables have different lengths.
        """
        return one_person_apart(tables, lambda person, before, after: self.one_step(before, after))

    @property
    def sees(self) -> Sees:
        """What the distance between two records may depend on: from it, prices in other notions are derived.

        Of a class of a user's own, which records they are, where its changes list them; of one that lists none, or not the
        same in each, nothing is derived. Leeward's classes say more: their distances are known.
        """
        try:
            changes = self.changes
        except InputError as error:
            return Sees(unknown=error.because)
        records = changes[0].records if changes else None
        if records is None or any(change.records != records for change in changes):
            return Sees(
                unknown=f"{type(self).__name__} does not list the same records in each of its changes, so what its distance"
                " depends on is not known"
            )
        nobody = any(change.moves_people for change in changes) and ABSENT not in records
        return Sees(records=(*records, ABSENT) if nobody else records)

    def price_in(self, other: Notion) -> Real:
        """Return the least c with ``d ≤ c·d'``: what a release under this notion costs in a budget counted in ``other``.

        Derived from the two distances (see `leeward.notion._price_rules`). ∞ means that no multiple of the other notion
        covers this one, or that none was derived: the two cannot share a budget. `priced_in` says why.
        """
        return self.priced_in(other).cost

    def priced_in(self, other: Notion) -> Price:
        """Return `price_in` with the reason where it is ∞, and whether it is known to be the least."""
        comparable(self, other, Notion)
        return Notion.derive_price(self, other)

    def with_epsilon(self, epsilon: Exact) -> Notion:
        """Return the same promise with another ε.

        Raises:
            InputError: for a class of a user's own whose costs are not ε times something that does not depend on ε.
        """
        made = copy.copy(self)
        Notion.__init__(made, epsilon)
        if not is_ours(type(self)):
            check_proportional(self, made)
        return made

    def scale(self, factor: Exact) -> Notion:
        """Return the same promise with ε multiplied; the factor must be above 0."""
        return self.with_epsilon(self.epsilon * positive(factor, "the factor"))

    def __add__(self, other: DirectedDistance[tuple[Any, ...]]) -> DirectedDistance[tuple[Any, ...]]:
        if isinstance(other, Notion) and type(other) is type(self):
            try:
                if self.with_epsilon(other.epsilon) == other:  # the same promise twice: the ε add up
                    return self.with_epsilon(self.epsilon + other.epsilon)
            except (UndecidedError, InputError):
                pass  # the two ε are not commensurable, or not all there is: the sum is exact all the same, pair by pair
        return super().__add__(other)

    def _both(self, other: DirectedDistance[tuple[Any, ...]]) -> DirectedDistance[tuple[Any, ...]]:
        if isinstance(other, Notion) and self.sums_over_persons and other.sums_over_persons:
            return Both(self, other)
        return super()._both(other)

    def reverse(self) -> DirectedDistance[tuple[Any, ...]]:  # type: ignore[override]
        """Return the distance read the other way round."""
        return super().reverse() if self.sums_over_persons else DirectedDistance.reverse(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ | {"per_person": 0} == other.__dict__ | {"per_person": 0}

    def __hash__(self) -> int:
        return hash((type(self), self.epsilon))

    def __str__(self) -> str:
        return f'{type(self).__name__}("{self.epsilon}")'

    def __repr__(self) -> str:
        return str(self)  # whatever a class of its own says in it


class Both(Notion):
    """The promise of an output that keeps two others: the closure of the smaller of their distances.

    Made by `leeward.both_hold`. Its steps are the steps of both. Where the two are about different units, such as single
    facts and persons, it has no unit of its own, and each promise is priced in its own (`leeward.accounting.price`).
    """

    name = "both"

    def __init__(self, first: Notion, second: Notion) -> None:
        self.first, self.second = first, second
        super().__init__(max(first.epsilon, second.epsilon))
        self.per_person = _Among(both_hold(_records(first), _records(second)), self)
        one, two = first.words, second.words
        moving = any(change.moves_people or change.of_facts for change in self.changes)  # then no number is public
        certain = [_revealed(each) if moving else each.reveals for each in (one, two)]
        if not any(cost.is_infinite for cost in self._around):  # any table is an alternative to any other
            certain = [""]
        self.words = PrivacyDescription(
            definition="; and ".join(
                in_epsilon_of(part.words.definition, part.epsilon / self.epsilon) for part in self.parts
            ),
            protects="; and ".join(_PUBLIC.sub("", each.protects) if moving else each.protects for each in (one, two)),
            reveals=f"only what both of these say: {'; '.join(certain)}" if all(certain) else "",
            alternative=f"{one.alternative}, or {two.alternative}",
            unit=" and each ".join(
                sorted({p.words.unit for p in self.parts}, key=lambda unit: (unit != "person", unit))
            ),
        )

    def record(self, before: object, after: object) -> Real:
        """Refuse: the cheapest way may lead over a third record.

        Raises:
            InputError: always; take the notion ``.on`` the tables of a finite universe.
        """
        return self.per_person(before, after)  # type: ignore[operator]

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Refuse: a step of one notion may be a chain of steps of the other, so each has an (ε, δ)-promise of its own.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"δ under {self}", "each of the two notions has neighbours of its own", "Verify each of them with its δ"
        )

    @property
    def sees(self) -> Sees:
        """What either of the two sees."""
        return self.first.sees.beside(self.second.sees)

    @property
    def parts(self) -> tuple[Notion, ...]:
        """The promises that it is made of, those of nested combinations one by one."""
        return tuple(part for n in (self.first, self.second) for part in (n.parts if isinstance(n, Both) else (n,)))

    @property
    def changes(self) -> tuple[Change, ...]:
        """The steps of both."""
        return tuple(dict.fromkeys(self.first.changes + self.second.changes))

    def cost(self, change: Change) -> Real:
        """Return the cheaper of both, or of taking the person out and putting them back in."""
        around = self._around
        return min(*(part.cost(change) for part in self.parts), around[0] + around[1])

    @property
    def _around(self) -> list[Real]:
        """What it costs to take a person out, and to put one in."""
        return [min(part.cost(kind) for part in self.parts) for kind in (WITHDRAW, INSERT)]

    def with_epsilon(self, epsilon: Exact) -> Notion:
        """Return the same promises scaled so that the larger ε is the given one."""
        return Both(*(n.with_epsilon(n.epsilon * epsilon / self.epsilon) for n in (self.first, self.second)))

    def __str__(self) -> str:
        return f"both_hold({self.first}, {self.second})"


_PUBLIC: Final[re.Pattern[str]] = re.compile(r"; the number of people( with a value)? is public")
"""What a promise says of which no step takes a person out of the data or puts one in: true of it, if it is kept alone."""


def _revealed(words: PrivacyDescription) -> str:
    """What one promise reveals beside another that takes people out: who is there, too, where their number is public."""
    public = _PUBLIC.search(words.protects)
    if public is None:
        return words.reveals
    who = f"whether a person {'has a value' if public[1] else 'is in the data'}"
    if not words.reveals:
        return f"{who} may be concluded with certainty"
    return f"{words.reveals}, and so may {who}"


EPSILON: Final[re.Pattern[str]] = re.compile(r"ε(?!_)")
"""The ε of a notion in its words."""


def in_epsilon_of(definition: str, multiple: Real) -> str:
    """Return a definition with this multiple of ε for its ε; prices that are written as numbers (ε_presence = 1) stay."""
    if multiple == 1:
        return definition
    multiplied = EPSILON.sub(f"{multiple}·ε", definition)
    return multiplied.replace(f"e^{multiple}·ε", f"e^({multiple}·ε)")


class _Among(DirectedDistance[Any]):
    """The closure of two distances between records: those asked about, those both list, and nobody, are all there can be."""

    def __init__(self, closure: DirectedDistance[Any], notion: Both) -> None:
        self._closure, self._notion = closure, notion

    def __call__(self, x: Any, y: Any) -> Real:
        """Refuse: the cheapest way may lead over a third record."""
        return self._closure(x, y)

    def on(self, points: Iterable[Any]) -> FiniteDistance[Any]:
        """Return the shortest paths between the given records, over them, over those that both list, and over nobody."""
        points, notion = tuple(points), self._notion
        every = dict.fromkeys((*points, *(notion.sees.records or ())))
        if any(change.moves_people or change.of_facts for change in notion.changes):  # without facts one is nobody
            every = dict.fromkeys((*every, ABSENT))
        made, given = self._closure.on(every), slice(len(points))
        return FiniteDistance.coded(points, made.values, made.codes[given, given])

    def scale(self, factor: Exact) -> DirectedDistance[Any]:
        """Return the closure of both multiples."""
        return _Among(self._closure.scale(factor), self._notion)

    def reverse(self) -> DirectedDistance[Any]:
        """Return the closure of both read the other way round."""
        return _Among(self._closure.reverse(), self._notion)

    def __str__(self) -> str:
        return str(self._closure)


def _records(notion: SumOverPersons) -> DirectedDistance[Any]:
    if isinstance(notion.per_person, Sequence):
        raise InputError(
            f"both_hold with {notion}",
            "each person has their own distance in it",
            "Personalise what both hold; or take both .on(tables), all there can be, with people absent too",
        )
    listed = notion.sees.records if isinstance(notion, Notion) and not isinstance(notion, Both) else None
    if listed is None or ABSENT in listed:
        return notion.per_person
    return Derived(str(notion.per_person), _OrNobody(notion.per_person))


class _OrNobody:
    """A distance between listed records of which nobody is none: beside it, another promise may lead over nobody."""

    def __init__(self, listed: DirectedDistance[Any]) -> None:
        self._listed = listed

    def __call__(self, before: object, after: object) -> Real:
        if before is ABSENT or after is ABSENT:
            return ZERO if before is after else inf
        return self._listed(before, after)


def one_person_apart(tables: Iterable[Any], one_step: Callable[[int, Any, Any], bool]) -> NDArray[np.bool_]:
    """Return which ordered pairs of tables differ in one person only, by a change that ``one_step(person, …)`` allows."""
    tables = tuple(tables)
    if len({len(table) for table in tables}) > 1:
        raise InputError("Tables of different length", "a table has one record a person", "Fill with ABSENT")
    differing = np.zeros((len(tables), len(tables)), dtype=np.intp)
    stepping = np.zeros_like(differing, dtype=np.bool_)
    for person in range(len(tables[0]) if tables else 0):
        column = [table[person] for table in tables]
        place = {record: i for i, record in enumerate(dict.fromkeys(column))}
        rows = np.array([place[record] for record in column])
        allowed = np.array([[b != a and one_step(person, b, a) for a in place] for b in place], dtype=np.bool_)
        differing += rows[:, None] != rows
        stepping |= allowed[np.ix_(rows, rows)]
    apart: NDArray[np.bool_] = (differing == 1) & stepping
    return apart


def unless_equal(before: Any, after: Any, cost: Real) -> Real:
    """Return 0 for equal records, else the cost: every record is its own alternative."""
    return ZERO if before == after else cost


def only_if(condition: bool, cost: Real) -> Real:
    """Return the cost where the condition holds, else ∞."""
    return cost if condition else inf


_MOST_TABLES = 10**8


@taught
def all_tables(records: Iterable[Any], persons: int) -> tuple[tuple[Any, ...], ...]:
    """Return every table of so many persons whose records are among these: the finite universe of a proof.

    Put `ABSENT` among the records where people may be missing.
    """
    records, persons = tuple(records), whole(persons, "persons", 0)
    if persons > _MOST_TABLES or persons * math.log(max(len(records), 2)) > math.log(_MOST_TABLES):
        raise InputError(
            f"All tables of {persons} persons with {len(records)} records",
            f"more than {_MOST_TABLES:,} tables do not fit into memory",
            "Take fewer: a proof needs few persons",
        )
    return tuple(itertools.product(records, repeat=persons))
