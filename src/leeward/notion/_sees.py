# SPDX-License-Identifier: Apache-2.0
"""What a notion distinguishes: from this, few records stand for all there are, and prices are exact.

A notion's distance between two records is a function of a few facts about the pair: which of some conditions hold for each,
which facts one has and the other lacks, how far apart two numbers are. Records that agree in these facts stand for one
another. `Sees` says which facts; `standing_for` lists records that stand for all that two notions together can see.

The representation theorem, for notions d and d' that see the same facts, U all records and R the records listed: for any x
and y in U there are a map r from U to R and a map e from R to U, with e(r(x)) = x and e(r(y)) = y, that never lengthen d or
d'. So every pair of distances in U occurs in R, also for distances that are shortest paths over third records: r carries a
path to R, e carries it back. By kind of record:

* *Conditions.* r maps a record to one for which the same conditions hold, e back. Two records of each kind are listed, for
  two that differ and look alike. A condition distinguishes records by its atoms only.
* *Facts.* Let F be the facts named by conditions. r keeps F and merges all other facts into three: those only x has, those
  only y has, all the rest; e puts them back. Inclusion, and whether a record has any fact, are kept. To most notions about
  facts nobody is the record without facts: who has none is not in a table of facts, and no such record is listed.
* *Numbers, and listed records.* All of them are listed. Of more than `MOST_NUMBERS` numbers three are: both distances are
  min(c, p·m) of the move m, where c or p may be ∞, as shortest paths over several such are, with the least c and the least
  p. A quotient of two is constant before the first of their bends and behind the second, and grows or falls throughout
  between them: it is largest at the shortest or the longest move.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, NoReturn, TypeVar

from leeward.errors import InputError
from leeward.notion._condition import Condition, Has, stand_ins
from leeward.notion._value_grid import ValueGrid

MOST_FACTS = 6
"""The most facts that conditions may name where notions about facts are compared."""

MOST_NUMBERS = 100
"""The most numbers that are gone through one by one."""


T = TypeVar("T")


class Fixed(Generic[T]):
    """What all notions of a class have in common, such as what they see: read of each of them, and set on none."""

    def __init__(self, value: T) -> None:
        self._value = value

    def __get__(self, notion: object, kind: type | None = None) -> T:
        return self._value

    def __set__(self, notion: object, value: object) -> NoReturn:
        raise AttributeError("all notions of a class have this in common")


@dataclass(frozen=True)
class Sees:
    """What a distance between two records of one person may depend on, beside whether they are equal and who is absent.

    Attributes:
        conditions: which of these hold for each of the two.
        facts: records are sets of facts, and it matters whether one of two has facts that the other lacks.
        absent_is_empty: nobody is the record without facts.
        counted: then also how many.
        values: records are these numbers, and the distance between two of them is the least of a constant and of something
            in proportion to the move, or one of the two; to and from nobody it is the same of all numbers.
        records: all records there are, nobody among them or not; then nothing else need be known.
        unknown: why none of this can be said; empty if it can.
    """

    conditions: tuple[Condition, ...] = ()
    facts: bool = False
    absent_is_empty: bool = False
    counted: bool = False
    values: ValueGrid | None = None
    records: tuple[Any, ...] | None = None
    unknown: str = ""

    @property
    def about(self) -> str:
        """What kind of record it is about: sets of facts, rows with columns, numbers; empty if any will do."""
        atoms = {isinstance(atom, Has) for condition in self.conditions for atom in condition.atoms}
        kinds = ["sets of facts"] * (self.facts or True in atoms) + ["rows with columns"] * (False in atoms)
        return " and ".join(kinds + ["numbers"] * (self.values is not None))

    def beside(self, other: Sees) -> Sees:
        """Return what two notions that hold for the same output see together."""
        if self.unknown or other.unknown:
            return Sees(unknown=self.unknown or other.unknown)
        for one, two in ((self.records, other.records), (self.values, other.values), (self.about, other.about)):
            if one and two and one != two:
                return Sees(unknown="its two promises are about other records")
        for records, values in ((self.records, other.values), (other.records, self.values)):
            if records is not None and values is not None and not _same_numbers(records, values):
                return Sees(unknown="its two promises are about other numbers")
        return Sees(
            tuple(dict.fromkeys(self.conditions + other.conditions)),
            self.facts or other.facts,
            self.absent_is_empty or other.absent_is_empty,
            self.counted or other.counted,
            self.values if self.values is not None else other.values,
            self.records if self.records is not None else other.records,
        )

    def knows(self, record: object) -> bool:
        """Whether this is a record that the notion says something of."""
        if self.records is not None:
            return record in self.records
        if record is None:
            return True
        if self.about == "sets of facts":
            return isinstance(record, frozenset)
        if self.about == "rows with columns":
            return not isinstance(record, frozenset | str | int | Fraction)
        return self.values is None or record in self.values


class Unseen(Exception):  # noqa: N818 - not an error: the reason why no records stand for all
    """No list of records stands for all there are, and why."""


class TooMany(Unseen):
    """There is one, and it is too long to go through."""


class _Other:
    """A fact that no condition names, or a mark that distinguishes two records of one kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


_OTHER = tuple(_Other(f"another fact {i}") for i in range(3))
_MARK = _Other("mark")


def standing_for(one: Sees, other: Sees, whole: Sees | None = None) -> tuple[Any, ...]:
    """Return records, nobody among them, that stand for all records that the two notions distinguish.

    Where only one of the two lists its records, or the numbers that they are, its list is the universe: that these are all
    records there are is a fact about the data, as a public number of people is. Where both do, the second one's is: it is
    what must be covered.

    Args:
        one: what is covered.
        other: what covers it.
        whole: what all of a promise sees of which `other` is a part: what any part lists, all of it is about.

    Raises:
        Unseen: nothing is known of their records, they are of two kinds, or too many.
    """
    whole = other if whole is None else whole
    if why := one.unknown or other.unknown or whole.unknown:
        raise Unseen(why)
    records = one.records if whole.records is None and whole.values is None else whole.records
    if records is not None:
        return _with_nobody(records)
    if one.about != other.about and one.about and other.about:
        raise Unseen(f"one of the two is about {other.about}, and the other about {one.about}")
    values, conditions = whole.values or one.values, (*one.conditions, *other.conditions)
    if values is not None:
        return _with_nobody(_numbers(values, all_of_them=one.records is not None))
    if one.facts or other.facts:
        return _with_nobody(_sets(conditions)[one.absent_is_empty or other.absent_is_empty :])
    return _with_nobody(_two_of_each(conditions))


def _same_numbers(records: Sequence[Any], values: ValueGrid) -> bool:
    return values.all_in(records) and all(record in values for record in records if record is not None)


def _with_nobody(records: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(records) if any(record is None for record in records) else (*records, None)


def _numbers(values: ValueGrid, *, all_of_them: bool) -> Sequence[Any]:
    if values.steps < MOST_NUMBERS:
        return values.points
    if all_of_them:
        raise TooMany(f"more than {MOST_NUMBERS} numbers would have to be gone through")
    return values.lower, values.lower + values.step, values.upper


def _sets(conditions: Sequence[Condition]) -> Sequence[Any]:
    """All sets of the facts named and three others, the empty one first."""
    named = {atom.fact for condition in conditions for atom in condition.atoms if isinstance(atom, Has)}
    if len(named) > MOST_FACTS:
        raise TooMany(f"policies over more than {MOST_FACTS} facts, beside a notion about facts, are not gone through")
    every = (*named, *_OTHER)
    return [frozenset(chosen) for size in range(len(every) + 1) for chosen in itertools.combinations(every, size)]


def _two_of_each(conditions: Sequence[Condition]) -> Sequence[Any]:
    try:
        kinds = stand_ins(conditions)
    except InputError as error:
        raise TooMany(f"of their policies: {error.because}") from None
    if isinstance(kinds[0], frozenset):
        return [kind | other for kind in kinds for other in (frozenset(), frozenset(_OTHER[:1]))]
    return [{**kind, _MARK: number} for kind in kinds for number in (0, 1)]
