# SPDX-License-Identifier: Apache-2.0
"""From a statistic and a notion to noise, its price and its accuracy: before any data is touched.

Every answer is an exact integer on a public grid plus directed geometric noise. A mean over a *private* number of people is
made from two noisy integers, the sum of distances from the middle of the range (in half steps) and the number of people:
its noise then shrinks with the number of people, which that of a mean itself may not (one person may be the only one). A
variance is made from three: the sum of squares too. They share the price of every step (`leeward.planner._sums`).

Where there are groups, a record is a group and a number, and a notion's price for *any* change of a record holds for going
from one group to another too: for the metric notions, groups are as far apart as two numbers can be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._buffers import numbers
from leeward._displayed import Drawn
from leeward._plain import listed
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.mechanism import Geometric
from leeward.noise import Bits, DirectedGeometric
from leeward.notion import REPLACE, Notion, refused_in_rows
from leeward.notion._generated import check_generated
from leeward.notion._notion import Step
from leeward.notion._personalised import persons_of
from leeward.planner._accuracy import ErrorAt, MeanAccuracy, NumberAccuracy, RankAccuracy
from leeward.planner._plan_of import PlanOf
from leeward.planner._spread import EACH, Reach, between, error_at, found, three_rates
from leeward.planner._sums import Far, shared
from leeward.query import CountVisitors
from leeward.query._group_names import columns_of
from leeward.query._numeric import Mean, Numeric, Percentile, Sum
from leeward.query._selection import Counted
from leeward.query._sensitivity import sensitivity
from leeward.query._spread import Variance
from leeward.query._statistic import Statistic

if TYPE_CHECKING:
    import pyarrow as pa


EXAMPLES = (100, 1_000, 10_000, 100_000)
"""Numbers of people for which the accuracy of a mean over a private number of them is given."""

_MOST_SHIFTS = 10**5


@dataclass(frozen=True)
class Scale:
    """What a stored integer stands for: ``origin + unit · integer``, clamped to public bounds where there are any.

    Attributes:
        origin: the value of the integer 0.
        unit: the grid step.
        lower: the least integer that is published; None for no bound.
        upper: the greatest.
    """

    origin: Fraction = Fraction(0)
    unit: Fraction = Fraction(1)
    lower: int | None = None
    upper: int | None = None

    def values(self, drawn: NDArray[np.int64]) -> list[Fraction]:
        """Return the exact published values."""
        clamped = np.clip(drawn, self.lower, self.upper) if (self.lower, self.upper) != (None, None) else drawn
        return [self.origin + self.unit * int(k) for k in clamped]

    def published(self, drawn: NDArray[np.int64]) -> list[int] | list[float]:
        """Return the published values as an answer has them: whole numbers where all values are, else floats."""
        whole = self.unit.denominator == self.origin.denominator == 1
        return [int(v) for v in self.values(drawn)] if whole else [float(v) for v in self.values(drawn)]


@dataclass(frozen=True)
class NumberPlan(PlanOf[Statistic], Drawn):
    """What a release of a statistic will do, known before anything is spent.

    Attributes:
        parts: one mechanism; over a private number of people two for a mean (sum in half steps, then number), and three for
            a variance (sum, sum of squares, number).
        scale: what the stored integers of a one-part answer stand for.
    """

    parts: tuple[Geometric, ...]
    scale: Scale

    def lines(self) -> Iterable[str]:
        """Say in lines what is asked, what it costs, and how far answers are off."""
        return statistic_told(self.query, self.notion, self.accuracy())

    def draw(self, exactly: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the noisy integers, not clamped: what the ledger stores."""
        drawn = [part.noisy(exactly[i :: len(self.parts)], bits) for i, part in enumerate(self.parts)]
        return np.stack(drawn, axis=1).ravel()

    def answers(self, drawn: NDArray[np.int64], keys: pa.Table) -> pa.Table:
        """Return the published table: one row a public key, with ``value``, or ``count`` for a histogram.

        A mean or a spread over a private number of people comes with ``people`` (or ``rows``), their noisy number, and
        ``within_95_percent``: the exact mean is so near with probability at least 95 %, as far as follows from what is
        published. (Of a mean, the number of people is at least what it seems less the 99 % point of its noise, and the
        error then kept with 96 %; of a spread see `leeward.planner._spread.between`.) A standard deviation over a public
        number of people has it too.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {name: keys[name] for name in keys.column_names}
        if self.query.kind == "histogram":
            columns["count"] = numbers(drawn)
        elif len(self.parts) == 2:
            sums, people = drawn[0::2], drawn[1::2]
            columns["value"] = [float(v) for v in self._means(sums, people)]
            columns[self.query.many] = numbers(people)
            fewer = self.parts[1].law.quantile("0.99")
            few = [_leading(int(n) - fewer) for n in people]  # fewer people have the larger error
            errors = {n: self._mean_error(n, 0.96) for n in set(few)}
            columns["within_95_percent"] = [errors[n] for n in few]
        elif isinstance(self.query.numeric, Variance):
            columns |= self._spreads(self.query.numeric, drawn)
        else:
            columns["value"] = self.scale.published(in_order(self.query, drawn))
        return pa.table(columns)

    def accuracy(self) -> NumberAccuracy | MeanAccuracy:
        """Return how far answers are off, in their own units: for a mean or spread over a private number, by that."""
        if len(self.parts) > 1:
            of = self._spread_error if len(self.parts) == 3 else lambda n: self._mean_error(n, 0.95)
            by_number = tuple(ErrorAt(number=n, within_95_percent=of(n)) for n in EXAMPLES)
            return MeanAccuracy(counted=self.query.many, by_number=by_number)
        law, unit, asked = self.parts[0].law, float(self.scale.unit), self.query.numeric
        mean, every = float(law.mean_absolute()) * unit, _within(law, 0.95 ** (1 / self.query.cells)) * unit
        errors = [mean, self.noise_within_95_percent, every]
        if isinstance(asked, Variance):
            errors = [asked.of_error(error) for error in errors]
        elif isinstance(asked, Mean):
            errors = [error + float(asked.rounding) for error in errors]
        mean, one, every = (_cut(asked, error) for error in errors)
        return NumberAccuracy(mean_absolute=mean, within_95_percent=one, all_within_95_percent=every)

    @property
    def noise_within_95_percent(self) -> float:
        """How far the noise of one answer reaches with 95 %, whatever the public bounds are."""
        near = 0.95 ** (1 / (len(self.query.ps) or 1))
        return _within(self.parts[0].law, near) * float(self.scale.unit)

    def _spread_error(self, people: int) -> float:
        """Return how far a variance, or its root, of so many people is off at most, with 95 %."""
        values, numeric = self.query.values, self.query.numeric
        assert values is not None
        assert isinstance(numeric, Variance)
        k = values.steps
        return _cut(numeric, numeric.of_error(error_at(people, k, self._reach()) * float(values.step) ** 2 / 4))

    def _reach(self) -> Reach:
        sums, squares, number = (part.law for part in self.parts)
        far = _within(number, EACH)
        up, down = (0 if way.is_infinite else far for way in (number.up, number.down))
        return Reach(_within(sums, EACH), _within(squares, EACH), up, down)

    def _spreads(self, numeric: Variance, drawn: NDArray[np.int64]) -> dict[str, Any]:
        """Return the columns of a variance or a standard deviation: how near it is where that is not the same for all."""
        step, people = numeric.values.step, drawn[2::3]
        if len(self.parts) == 3:
            k, reach, square = numeric.values.steps, self._reach(), step**2 / 4
            triples = zip(drawn[0::3].tolist(), drawn[1::3].tolist(), people.tolist(), strict=True)
            bounds = [(found(s, q, n, k), *between(s, q, n, k, reach)) for s, q, n in triples]
            noisy, low, high = ([each[i] * square for each in bounds] for i in range(3))
        else:
            noisy, error = self.scale.values(drawn), _within(self.parts[0].law, 0.95) * self.scale.unit
            low, high = [each - error for each in noisy], [each + error for each in noisy]
        values = [numeric.published(each) for each in noisy]
        columns: dict[str, Any] = {"value": [float(value) for value in values]}
        if len(self.parts) == 3:
            columns[self.query.many] = numbers(people)
        if len(self.parts) == 3 or numeric.root:
            columns["within_95_percent"] = list(map(numeric.apart, values, low, high))
        return columns

    def _mean_error(self, people: int, chance: float) -> float:
        """Return how far a mean of at least so many people is off with this chance, wherever their mean lies.

        With noises X and Y on sum and number, the error is |X − cY| / (people + Y) half steps, where |c| ≤ k is twice the
        distance of the mean from the middle, in steps. Of stretches with equally many whole numbers, that furthest from 0 is
        the worst, as X is symmetric and unimodal (Anderson 1955). Within r of kY lie 2⌊r⌋ + 1 of them. Where the fraction of
        r is below one half, a cY between two whole numbers has 2⌊r⌋ only: one less, at the far end, is then the worst.
        """
        values, numeric = self.query.values, self.query.numeric
        assert values is not None
        assert isinstance(numeric, Mean)
        k, (sums, number) = values.steps, (part.law for part in self.parts)
        far = _within(number, 1 - 1e-4)
        if far > _MOST_SHIFTS:  # so noisy a number that nothing better is worth the working out
            return _cut(numeric, math.inf)
        shift = np.arange(0 if number.down.is_infinite else -far, 1 + (0 if number.up.is_infinite else far))
        shift = shift[people + shift >= 1]  # where nobody seems to be there, the answer counts as wrong
        weight = number.pmf_array(shift)
        a = math.exp(-float(sums.up))

        def kept(error: float) -> float:
            reach = error * (people + shift.astype(float))
            whole = np.floor(reach)
            high = np.where((reach - whole < 0.5) & (shift != 0), whole - 1, whole)
            centre = k * np.abs(shift).astype(float)  # and on the other side alike
            inside = np.where(high >= -whole, _below(a, centre + high) - _below(a, centre - whole - 1), 0.0)
            return float(weight @ inside)

        least, most = 0.0, 2.0 * k  # in half steps: further apart no two means are
        if kept(most) >= chance:
            for _ in range(50):
                middle = (least + most) / 2
                least, most = (least, middle) if kept(middle) >= chance else (middle, most)
        error = most * float(values.step) / 2 + float(numeric.rounding)
        return _cut(numeric, error)

    def _means(self, sums: NDArray[np.int64], people: NDArray[np.int64]) -> list[Fraction]:
        values, numeric = self.query.values, self.query.numeric
        assert values is not None
        assert isinstance(numeric, Mean)
        middle, found = (values.lower + values.upper) / 2, []
        for total, n in zip(sums.tolist(), people.tolist(), strict=True):
            mean = numeric.answer([]) if n < 1 else middle + values.step * Fraction(total, 2 * n)
            found.append(numeric.rounded(min(max(mean, values.lower), values.upper)))
        return found


def statistic_told(
    query: Statistic, notion: Notion, accuracy: NumberAccuracy | MeanAccuracy | RankAccuracy
) -> list[str]:
    """Say in lines what is asked, what it costs, and how far it is off."""
    of = "" if query.column is None else f" of '{query.column}'"
    by = "" if query.by is None else " by " + listed([f"'{name}'" for name in columns_of(query.by)])
    return [f"{query.kind}{of}{by} under {notion}, price {notion.epsilon}", *accuracy.lines()]


def in_order(query: Statistic, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what was drawn, with several percentiles of a group in ascending order: none is then off by more.

    That is, none by more than the furthest of its group was: the i-th in order is at most the largest of the first i drawn,
    so if no error is above e, at most the i-th exact one plus e, and in the same way at least that less e. On average over
    the group they are nearer, too: no order of two lists has a smaller sum of distances than both ascending.
    """
    return np.sort(drawn.reshape(-1, len(query.ps)), axis=1).ravel() if query.ps else drawn


def plan_number(query: Statistic, notion: Notion) -> NumberPlan:
    """Plan the release of a statistic: free, and private of nothing because it reads no data."""
    with refused_in_rows(query.of_rows):
        return _planned(query, notion)


def _planned(query: Statistic, notion: Notion) -> NumberPlan:
    if query.of_rows and query.column is None and query.by is None and not query.records.keep and query.window is None:
        raise InputError(
            "A count of all rows",
            "no column of the table would be read, and so nobody would notice if it became another table",
            "Keep those with some values, by keep; count groups, with by and others; or name a person",
        )
    if isinstance(query.numeric, Mean | Variance) and query.people is None:
        return NumberPlan(query, notion, _parts(query, notion), Scale())
    scale = _scale(query)
    line = sensitivity(notion, query, steps_of(query, notion)).line
    return NumberPlan(query, notion, (Geometric(line, step=scale.unit),), scale)


def steps_of(query: Counted, notion: Notion) -> tuple[Step, ...]:
    """Return the notion's steps, and with groups also what it promises each person for going from one to another.

    A single listed group is enough: who leaves it goes where nobody is counted. Where one step may change all records at
    once, the question itself says how far that moves all groups together.
    """
    check_generated(notion)
    if isinstance(query, CountVisitors) or query.by is None or notion.all_records:
        return notion.steps
    if REPLACE in notion.changes or all(map(query.of_policies, notion.changes)):
        return notion.steps
    between = dict.fromkeys(person.cost(REPLACE) for person in persons_of(notion) or (notion,))
    return (*notion.steps, *(Step(REPLACE, cost) for cost in between if not cost.is_infinite))


def _scale(query: Statistic) -> Scale:
    values, numeric = query.values, query.numeric
    if values is None or numeric is None:
        return Scale()
    top = values.steps
    if isinstance(numeric, Percentile):
        return Scale(values.lower, values.step, 0, top)
    if isinstance(numeric, Mean):
        assert numeric.grid is not None
        return Scale(Fraction(0), numeric.grid, *numeric.ends)
    if isinstance(numeric, Variance):
        m = numeric.people
        assert m is not None
        most = numeric.in_units((values.width / 2) ** 2 * Fraction(4 * (m // 2) * (m - m // 2), m * m))
        return Scale(Fraction(0), numeric.unit, 0, int(most / numeric.unit))
    if not isinstance(numeric, Sum):
        raise NotPrivateError(
            f"A statistic of the class {type(numeric).__name__}",
            "no noise is derived for it",
            "Ask a sum, a mean, a variance or a percentile",
        )
    unit = values.grid_with_zero
    if query.people is None:
        return Scale(Fraction(0), unit)
    return Scale(Fraction(0), unit, int(values.lower * query.people / unit), int(values.upper * query.people / unit))


def _parts(query: Statistic, notion: Notion) -> tuple[Geometric, ...]:
    """Return the mechanisms of what a mean or a variance over a private number of people is made from."""
    assert query.values is not None
    steps = steps_of(query, notion)
    if isinstance(query.numeric, Mean):  # the sum of 2·(steps − middle), and the number of people
        k = query.values.steps
        rate, number = shared(query, notion, steps, Far(presence=k, within=2 * k, near=2))
        return Geometric(Line(rise=rate, fall=rate)), Geometric(number)
    sums, squares, number = three_rates(query, notion, steps)
    return Geometric(Line(rise=sums, fall=sums)), Geometric(Line(rise=squares, fall=squares)), Geometric(number)


def _cut(of: Numeric | None, error: float) -> float:
    """Return an error, but no more than the public bounds allow, within which the published and the exact answer lie."""
    most = None if of is None else of.most_apart
    return error if most is None else min(error, float(most))


def _leading(n: int) -> int:
    """Return n rounded down to its first six binary digits, at most 1/32 of it lower: many groups ask for few numbers."""
    below = max(n.bit_length() - 6, 0)
    return n >> below << below


def _within(law: DirectedGeometric, chance: float) -> int:
    """Return the least k with P(|noise| ≤ k) ≥ chance, rounded up to a part in a thousand."""
    above: int = next(j for j in range(64) if float(law.cdf(2**j) - law.cdf(-(2**j) - 1)) >= chance)
    low, high = (1 << above) // 2 if above else -1, 1 << above  # low does not keep it
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        keeps = float(law.cdf(middle) - law.cdf(-middle - 1)) >= chance
        low, high = (low, middle) if keeps else (middle, high)
    return high


@vanishing
def _below(a: float, k: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(K ≤ k) for the two-sided law P(k) ∝ a^|k|."""
    with np.errstate(over="ignore"):
        tail: NDArray[np.float64] = a ** np.where(k >= 0, k + 1, -k) / (1 + a)
    return np.where(k >= 0, 1 - tail, tail)
