# SPDX-License-Identifier: Apache-2.0
"""Closeness of values counts: metric notions on tables with one number a person (d-privacy).

The universe is a public grid of numbers, q[0..k] or any other, and nobody (`ABSENT`), who is as far from every value as two
values can be (Chatzikokolakis et al., Section 5): absence hides as well as any value does. On tables of such records

* ε·d_h, Hamming, is `ReplaceDP`; ε·d_r, one person removed or added, is `UnboundedDP`;
* ε·d_1, Manhattan, sums the changes of all persons: `Manhattan`;
* ε·d̃_1 divides that by the width of the universe, so no change of one person costs more than ε: `NormalisedManhattan`;
* ε·d_∞ is the largest change of any person or reading: `Maximum`;
* any other distance between records, with `with_nobody` if people may be absent, is a `RecordDistance`; Euclidean distances
  are `Plane`, graphs `graph_distance`, multiples ``.scale``; ∞ and zeros off the diagonal are allowed everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._taught import taught
from leeward.distance import Derived, DirectedDistance, FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf, plainly, positive
from leeward.notion._change import INSERT, REPLACE, WITHDRAW, Change
from leeward.notion._notion import ABSENT, Notion, PrivacyDescription, only_if
from leeward.notion._sees import Sees
from leeward.notion._value_grid import ValueGrid


@dataclass(frozen=True)
class BoundedChange(Change):
    """A person's number changes by at most ``size``."""

    size: Fraction = Fraction(0)


@dataclass(frozen=True)
class _Within:
    size: Fraction

    def __call__(self, before: Any, after: Any) -> bool:
        if not all(isinstance(value, Integral | Fraction) for value in (before, after)):
            return before is not None and after is not None  # a row that holds the number: nothing rules it out
        return bool(abs(plainly(after) - plainly(before)) <= self.size)


def bounded_change(size: Exact) -> BoundedChange:
    """Return the change of one person's number by at most this much."""
    far = exact(size).rational
    if far is None or far <= 0:
        raise InputError(f"A bounded change of {size}", "a number moves by a positive rational", "Give the grid step")
    return BoundedChange(
        f"bounded_change by {far}", f"a person's number changes by at most {far}", _Within(far), size=far
    )


@taught
class Manhattan(Notion):
    """ε·d_1: a change of one person's value costs ε for each ``unit`` it moves; all persons' changes add up.

    Args:
        epsilon: ε of a change by one unit.
        values: the public universe of values.
        unit: the change that ε is about: ``"10"`` or ``"10 W"`` reads "a factor e^ε for a change of 10 W".
        nobody: whether absence is protected, as far from any value as two values can be. If not, the number of people with
            a value is public.
    """

    name = "manhattan"

    def __init__(self, epsilon: Exact, values: ValueGrid, *, unit: Exact = 1, nobody: bool = True) -> None:
        if not isinstance(values, ValueGrid):
            raise InputError(
                f"{type(self).__name__} with a {type(values).__name__} as its values",
                "it is about the numbers of a public grid",
                "Give leeward.notion.ValueGrid(lower, upper, step)",
            )
        number, _, measure = unit.strip().partition(" ") if isinstance(unit, str) else (unit, "", "")
        self.values, self.unit, self.nobody = values, positive(number, "unit"), nobody
        self.measure = measure.strip()
        super().__init__(epsilon)

    @property
    def _change(self) -> str:
        return f"{self.unit} {self.measure}".strip()

    @property
    def words(self) -> PrivacyDescription:  # type: ignore[override]
        """The promise in words; it names the unit."""
        gone = "" if self.nobody else "; the number of people with a value is public"
        return PrivacyDescription(
            definition=f"Pr[answer | data] ≤ e^(ε·c) · Pr[answer | data changed], c = {self._total} / {self._change}",
            protects=f"the accuracy of a value: that it is this one, and not another nearby{gone}",
            reveals="",
            alternative=f"a value {self._change} away at a factor of e^ε, twice as far at e^2ε, and so on",
            unit=self._of,
        )

    _total = "the sum of all changes of values"
    _of = "person"

    @property
    def changes(self) -> tuple[Change, ...]:
        """A bounded change by one grid step; people coming and going, where absence is protected."""
        return (bounded_change(self.values.step), *((WITHDRAW, INSERT) if self.nobody else ()))

    @property
    def sees(self) -> Sees:
        """How far apart two numbers are."""
        return Sees(values=self.values)

    def record(self, before: object, after: object) -> Real:
        """Return ε for each unit between two values; the width of the universe between a value and nobody."""
        if before == after:
            return ZERO
        if before is ABSENT or after is ABSENT:
            return only_if(self.nobody, self._price(self.values.width))
        return self._price(abs(Fraction(plainly(after)) - Fraction(plainly(before))))

    def cost(self, change: Change) -> Real:
        """Return the price of the largest move that the change allows: its own bound, else the width of the universe."""
        if change.moves_people and not self.nobody:
            return inf
        return self._price(
            min(change.size, self.values.width) if isinstance(change, BoundedChange) else self.values.width
        )

    def _price(self, move: Fraction) -> Real:
        return self.epsilon * move / self.unit

    def __hash__(self) -> int:
        return hash((type(self), self.epsilon, self.values, self.unit, self.measure, self.nobody))

    def __str__(self) -> str:
        return f'{type(self).__name__}("{self.epsilon}", {self.values}, unit="{self._change}"{self._people})'

    @property
    def _people(self) -> str:
        """What a text says of the number of people: nothing where it is private."""
        return "" if self.nobody else ", nobody=False"


@taught
class NormalisedManhattan(Manhattan):
    """ε·d̃_1: d_1 divided by the width of the universe. As strong as DP for any change of one person, stronger for small.

    ``d̃_1 ≤ d_h``, so it implies ε-DP under replacement (Proposition 3).

    Args:
        epsilon: ε of the largest change one value can make.
        values: the public universe of values.
        nobody: as in `Manhattan`.
    """

    name = "normalised-manhattan"

    def __init__(self, epsilon: Exact, values: ValueGrid, *, nobody: bool = True) -> None:
        super().__init__(epsilon, values, unit=values.width, nobody=nobody)

    def __str__(self) -> str:
        return f'{type(self).__name__}("{self.epsilon}", {self.values}{self._people})'


@taught
class Maximum(Manhattan):
    """ε·d_∞: the largest change of any value counts, however many change with it. For series such as meter readings.

    Everybody's value may move at once, so a query must know how far that moves it (``effect_of_all``).

    Args:
        epsilon: ε of a change of all values by up to one unit.
        values: the public universe of values.
        unit: the change that ε is about.
        nobody: as in `Manhattan`.
    """

    name = "maximum"
    all_records = True
    _total = "the largest change of any value"
    _of = "table"

    def __call__(self, x: tuple[Any, ...], y: tuple[Any, ...]) -> Real:
        """Return the largest distance of any person."""
        if len(x) != len(y):
            raise InputError("Tables of different length", "a table has one record a person", "Fill with ABSENT")
        return max((self.record(before, after) for before, after in zip(x, y, strict=True)), default=ZERO)

    @property
    def sees(self) -> Sees:
        """How far apart two numbers of one person are."""
        return super().sees

    def on(self, points: Iterable[tuple[Any, ...]]) -> FiniteDistance[tuple[Any, ...]]:
        """Return the exact matrix on the given tables."""
        points = tuple(points)
        return FiniteDistance.trusted(points, [[self(x, y) for y in points] for x in points])

    def reverse(self) -> DirectedDistance[tuple[Any, ...]]:  # type: ignore[override]
        """Return itself: it is symmetric."""
        return self

    def neighbours(self, tables: Iterable[Any]) -> NDArray[np.bool_]:
        """Return which ordered pairs of tables are one step apart: every value moves by at most one grid step.

        Raises:
            InputError: where absence is protected: a change of everything at once is then a step as well as a chain of them.
        """
        if self.nobody:
            raise InputError(
                f"δ under {self}",
                "a step may change everything at once, at the price of the widest change, and is then also a chain of"
                " smaller ones; what δ would mean for those is not settled",
                "Use nobody=False, or ask for the same δ at every distance: verify(…, same_delta=…)",
            )
        tables, step = tuple(tables), bounded_change(self.values.step)
        one = [[x != y and all(map(step.allows, x, y)) for y in tables] for x in tables]
        return np.array(one, dtype=np.bool_).reshape(len(tables), len(tables))

    @property
    def changes(self) -> tuple[Change, ...]:
        """All values moved by one grid step at once; anything at all, where absence is protected."""
        return (bounded_change(self.values.step), *((WITHDRAW, INSERT, REPLACE) if self.nobody else ()))


def with_nobody(distance: FiniteDistance[Any]) -> FiniteDistance[Any]:
    """Return the distance extended to `ABSENT`, as far from every value as two values can be (Section 5).

    The diameter stays the same, and so does the triangle inequality: a way through nobody is twice the diameter.
    """
    far = max(distance.values)
    extended: Derived[Any] = Derived(
        "with nobody", lambda x, y: ZERO if x is y else far if ABSENT in (x, y) else distance(x, y)
    )
    return extended.on((*distance.points, ABSENT))
