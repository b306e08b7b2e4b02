# SPDX-License-Identifier: Apache-2.0
"""Sums, means and percentiles of one number a person, and how far each kind of change moves them (d-privacy, Section 5).

A record is a number of the public universe (`leeward.notion._metric.ValueGrid`), or `ABSENT`. What a change can do:

* ``effect(change)``: one person's number changes;
* ``effect_of_all(change)``: the numbers of all persons change at once (notions with ``all_records``, such as `Maximum`).

With the universe q[0..k] this gives the paper's sensitivities: sum, mean and percentiles move at most as far as the number
that changes: 1-sensitive under d_1, qk-sensitive under d_h and d̃_1 (class C; Propositions 4, 5; Theorems
11 to 13). Where 0 is not in the universe, absence moves a sum further than any value can (footnote 10). A mean over a
*public* number m of people moves 1/m as far. A table without any value has no mean and no percentile: a public default is
answered, never an error, which would reveal that the table is empty.

Answers are rationals; a mean falls between the values, so it is rounded half up to a public grid. That keeps what it may
move exactly if the grid's step divides the move, and rounds the move up to the grid if not. What is rounded beyond a bound
that is not on the grid is moved to the last grid point within: that takes no two answers further apart.

Machine-checked (docs/proved.md): `half_up_nearest`, `half_even_nearest`, `half_up_keeps`, `half_even_doubles`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from leeward._integers import least_between
from leeward._plain import counted
from leeward._taught import taught
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import Exact, exact, plainly
from leeward.notion import ABSENT, INSERT, WITHDRAW, Change
from leeward.notion._metric import BoundedChange
from leeward.notion._value_grid import ValueGrid
from leeward.query._effect import Effect, Move, Query
from leeward.query._percentiles import ranks_of_several

NumericKind = Literal["sum", "mean", "percentile", "variance"]

DrawnKind = Literal[NumericKind, "histogram", "above"]
"""What a draw is about; several kinds of question may be read from one."""


@dataclass(frozen=True)
class Numeric(Query):
    """A question about one number a person; the kinds below and `Variance`, and no other: noise is derived for these.

    Attributes:
        values: the public universe.
        people: the public number of people with a value; None if it is private.
    """

    kind: ClassVar[NumericKind]
    values: ValueGrid
    people: int | None = None

    def __post_init__(self) -> None:
        if self.people is not None and self.people < 1:
            raise InputError(f"people = {self.people}", "nobody would be asked", "Give at least 1, or leave people out")
        if self.people is not None and self.people >= 2**63:
            raise InputError("people of more than 63 bits", "no table has so many rows", "Give the number of people")

    def __call__(self, table: Iterable[Fraction | int | None]) -> Fraction:
        """Return the exact answer on a table of one number (or `ABSENT`) a person, each clamped to the universe's bounds."""
        lower, upper = self.values.lower, self.values.upper
        present = [min(max(Fraction(plainly(value)), lower), upper) for value in table if value is not ABSENT]
        if self.people is not None and len(present) != self.people:
            raise InputError(
                f"A question about {counted(self.people, 'person', 'people')}",
                "the table has another number of values",
                "Count them anew",
            )
        return self.answer(present)

    @property
    def most_apart(self) -> Fraction | None:
        """How far what is published is from the exact answer at most, as both lie within public bounds.

        No error of a released answer is said to be larger. None where nothing bounds the answers.
        """
        return self.values.width

    @abstractmethod
    def answer(self, present: Sequence[Fraction]) -> Fraction:
        """Return the answer from the values of those who are present."""

    @abstractmethod
    def single(self, move: Fraction) -> Fraction:
        """Return how far the answer moves at most when one present value moves by at most ``move``."""

    @abstractmethod
    def together(self, move: Fraction) -> Fraction | None:
        """Return how far it moves at most when all present values move by at most ``move``; None if nothing bounds it."""

    @abstractmethod
    def presence(self) -> tuple[Fraction, Fraction]:
        """Return (rise, fall) at most when one person appears; disappearing is the reverse."""

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves of the answer under a change of one person's number.

        Raises:
            NotPrivateError: if people may appear or disappear but their number was called public; for changes of facts;
                for a notion whose values are coarser than these (`check_fine`).
        """
        self._refuse_facts(change)
        if change.moves_people:
            return self._of_presence(change)
        return _both_ways(self.single(self._move(change)))

    def effect_of_all(self, change: Change) -> Effect:
        """Return the extreme moves when the numbers of all persons change so at once.

        Raises:
            NotPrivateError: if nothing bounds them, or people may appear but their number was called public; for changes
                of facts; for a notion whose values are coarser than these (`check_fine`).
        """
        self._refuse_facts(change)
        if change.moves_people:
            self._refuse_if_public(change)
        far = self.together(self._move(change))
        if far is None:
            raise NotPrivateError(
                f"A {type(self).__name__.lower()} where all values may change at once",
                "each value adds its own change, and the number of people is not public",
                "Say how many people there are, if that is public and there are no groups; or ask a percentile",
            )
        return _both_ways(far)

    def _move(self, change: Change) -> Fraction:
        """Return how far one number moves at most."""
        if not isinstance(change, BoundedChange):
            return self.values.width
        check_fine(change, self.values)
        return min(change.size, self.values.width)

    def _of_presence(self, change: Change) -> Effect:
        self._refuse_if_public(change)
        rise, fall = self.presence()
        if change == INSERT:
            return _effect((rise, 0), (0, fall))
        if change == WITHDRAW:
            return _effect((fall, 0), (0, rise))
        return _both_ways(max(rise, fall, self.single(self.values.width)))

    def _refuse_facts(self, change: Change) -> None:
        if change.of_facts:
            raise NotPrivateError(
                f"A {type(self).__name__.lower()} under a notion whose steps are '{change.name}'",
                "a person's record here is a number, not a set of facts, and a person without facts would be absent",
                "Use addition-only, removal-only, dp or a metric notion such as manhattan",
            )

    def _refuse_if_public(self, change: Change) -> None:
        if self.people is not None:
            raise NotPrivateError(
                f"A question about exactly {self.people} {'person' if self.people == 1 else 'people'} under a notion where"
                f" {change.text}",
                "the number of people is then not public",
                "Leave people out, or use a notion under which everybody stays in the data, such as bounded-dp",
            )


@taught
@dataclass(frozen=True)
class Sum(Numeric):
    """The sum of all values; nobody adds nothing."""

    kind: ClassVar[NumericKind] = "sum"

    @property
    def most_apart(self) -> Fraction | None:
        """What all values can add up to at most, less the least: where the number of people is public."""
        return None if self.people is None else self.values.width * self.people

    def answer(self, present: Sequence[Fraction]) -> Fraction:
        """Return the sum; 0 for nobody."""
        return sum(present, Fraction(0))

    def single(self, move: Fraction) -> Fraction:
        """Return the move itself."""
        return move

    def together(self, move: Fraction) -> Fraction | None:
        """Return the move of each of the people, if their number is public."""
        return None if self.people is None else move * self.people

    def presence(self) -> tuple[Fraction, Fraction]:
        """Return the largest value above 0 and the largest below."""
        return max(self.values.upper, Fraction(0)), max(-self.values.lower, Fraction(0))


@taught
@dataclass(frozen=True)
class Mean(Numeric):
    """The mean of all values, rounded half up to a public grid, of which it stays within the bounds.

    Attributes:
        grid: step of the published grid; None publishes exact means, for theory.
        default: what is answered when nobody has a value: a public number of the universe, by default its lower end.
    """

    kind: ClassVar[NumericKind] = "mean"
    grid: Fraction | None = None
    default: Fraction | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_default(self.values, self.default)
        if self.grid is None:
            return
        if self.grid <= 0:
            raise InputError(f"grid = {self.grid}", "a grid has a positive step", "Give a positive rational")
        least, greatest = self.ends
        if least >= greatest:
            lower, upper = self.values.lower, self.values.upper
            raise InputError(
                f"grid = {self.grid} for a mean from {lower} to {upper}",
                "fewer than two of its points lie within these bounds, so the answer would be the same for all data",
                "Take a finer one",
            )

    def answer(self, present: Sequence[Fraction]) -> Fraction:
        """Return the rounded mean, or the default."""
        return self.rounded(
            sum(present, Fraction(0)) / len(present) if present else _default(self.values, self.default)
        )

    def single(self, move: Fraction) -> Fraction:
        """Return the move divided by the public number of people; the whole move if that is private: there may be one."""
        return self._up(move / (self.people or 1))

    def together(self, move: Fraction) -> Fraction | None:
        """Return the move: a mean moves no further than the values."""
        return self._up(move)

    def presence(self) -> tuple[Fraction, Fraction]:
        """Return the width of the universe: the only one present may be replaced by the default."""
        width = self._up(self.values.width)
        return width, width

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last grid point within the bounds, in steps of the grid.

        Raises:
            InputError: without a grid.
        """
        if self.grid is None:
            raise InputError("The ends of the grid of an exact mean", "it has no grid", "Give grid")
        return math.ceil(self.values.lower / self.grid), math.floor(self.values.upper / self.grid)

    @property
    def rounding(self) -> Fraction:
        """How far rounding moves a number within the bounds at most: half a step, or more next to a bound off the grid."""
        if self.grid is None:
            return Fraction(0)
        least, greatest = (end * self.grid for end in self.ends)
        return max(self.grid / 2, least - self.values.lower, self.values.upper - greatest)

    def rounded(self, mean: Fraction) -> Fraction:
        """Return a number rounded half up to the grid, within the bounds."""
        if self.grid is None:
            return mean
        least, greatest = (end * self.grid for end in self.ends)
        return min(max(math.floor(mean / self.grid + Fraction(1, 2)) * self.grid, least), greatest)

    def _up(self, move: Fraction) -> Fraction:
        return move if self.grid is None else math.ceil(move / self.grid) * self.grid


@dataclass(frozen=True)
class Percentile(Numeric):
    """The p-percentile: the value at place ⌊p·m/100⌋ + 1 of the m values in order, 0 ≤ p < 100 (proof of Theorem 13).

    Attributes:
        p: an exact number of at least 0 and below 100; 0 is the minimum. See `median`, `minimum`, `maximum`.
        default: what is answered when nobody has a value: a public value, by default the lower end of the universe.
    """

    kind: ClassVar[NumericKind] = "percentile"
    p: Fraction = Fraction(50)
    default: Fraction | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_default(self.values, self.default)
        if not 0 <= self.p <= 100:
            raise InputError(
                f"p = {self.p}", "percentiles are for 0 ≤ p < 100", "Ask for the max: it is the largest value"
            )

    def answer(self, present: Sequence[Fraction]) -> Fraction:
        """Return the value at its place, or the default."""
        if not present:
            return _default(self.values, self.default)
        return sorted(present)[min(math.floor(self.p * len(present) / 100), len(present) - 1)]

    def most_between(self, people: int) -> int:
        """Return how many of so many people can have a value strictly between the percentile and another one."""
        place = min(math.floor(self.p * people / 100), people - 1)
        return max(0, place, people - 1 - place)

    def most_people(self, between: int) -> int:
        """Return the largest number of people of whom no more than so many can stand there: `most_between` only rises."""
        too_many = 2 * between + 2  # half of all but one are on one side
        return least_between(lambda people: self.most_between(people) > between, 0, too_many) - 1

    def single(self, move: Fraction) -> Fraction:
        """Return the move: an order statistic moves no further than the one value that does."""
        return move

    def together(self, move: Fraction) -> Fraction | None:
        """Return the move (Theorem 13)."""
        return move

    def presence(self) -> tuple[Fraction, Fraction]:
        """Return the width of the universe: the next value in order may be at its other end.

        The greatest value, with the least as its default, never falls when somebody appears.
        """
        only_rises = self.p == 100 and _default(self.values, self.default) == self.values.lower
        return self.values.width, Fraction(0) if only_rises else self.values.width

    def rank_range(self, change: Change) -> Fraction:
        """Return how far one change moves the losses of two grid points apart, in people (`mechanism.RankSelection`).

        2·max(p, 1 − p) where somebody comes or goes, p from 0 to 1; 2 for any other change of one person; it is the range
        of one percentile in `leeward.query._percentiles`.

        Raises:
            NotPrivateError: as `effect`.
        """
        self.effect(change)  # refuses what it refuses
        return ranks_of_several((self.p,), change)


@taught
def percentile(
    values: ValueGrid, p: Exact, *, people: int | None = None, default: Fraction | None = None
) -> Percentile:
    """Return the p-percentile query; p is an exact number with 0 ≤ p < 100."""
    number = exact(p).rational
    if number is None or not 0 <= number < 100:
        raise InputError(f"p = {p}", "percentiles are for 0 ≤ p < 100", "Ask for the max: it is the largest value")
    return Percentile(values, p=number, people=people, default=default)


@taught
def median(values: ValueGrid, *, people: int | None = None, default: Fraction | None = None) -> Percentile:
    """Return the 50-percentile query: of an even number of values the upper one of the middle two."""
    return Percentile(values, p=Fraction(50), people=people, default=default)


@taught
def minimum(values: ValueGrid, *, people: int | None = None, default: Fraction | None = None) -> Percentile:
    """Return the smallest value as a query: the 0-percentile."""
    return Percentile(values, p=Fraction(0), people=people, default=default)


@taught
def maximum(values: ValueGrid, *, people: int | None = None, default: Fraction | None = None) -> Percentile:
    """Return the largest value as a query: the percentile just below 100."""
    return Percentile(values, p=Fraction(100), people=people, default=default)


def check_fine(change: BoundedChange, values: ValueGrid) -> None:
    """Refuse closeness that is counted in larger steps than the numbers of a question.

    A metric notion prices what lies between two numbers in proportion, and its steps are of the size of its own grid.
    Numbers of a finer grid can be nearer than that: such a change costs a part of a step, and may move a rounded or
    counted answer as far as the whole step does. The closure of the steps is then above the distance, and noise fitted to
    it keeps too little.
    """
    if change.size > values.step:
        raise NotPrivateError(
            f"Closeness in steps of {change.size}, of numbers in steps of {values.step}",
            f"a change of {values.step} costs a part of such a step only, and may move an answer as far as all of it: noise"
            " fitted to the whole step would not keep the promise about the part",
            f"Give the notion the values of the question, ValueGrid({values.lower}, {values.upper}, {values.step}), or ask"
            f" in steps of {change.size}",
        )


def _default(values: ValueGrid, default: Fraction | None) -> Fraction:
    return values.lower if default is None else default


def _check_default(values: ValueGrid, default: Fraction | None) -> None:
    if default is not None and default not in values:
        raise InputError(
            f"default = {default}", "an answer outside the universe would move further than any value", f"Use {values}"
        )


def _both_ways(move: Fraction) -> Effect:
    return _effect((move, 0), (0, move))


def _effect(*moves: Move) -> Effect:
    kept = tuple(move for move in moves if move[0] or move[1])
    return Effect(kept, kept)
