"""From a statistic and a notion to noise, its price and its accuracy: before any data is touched.

Every answer is an exact integer on a public grid plus directed geometric noise. A mean over a *private* number of people is
made from two noisy integers, the sum of distances from the middle of the range (in half steps) and the number of people:
its noise then shrinks with the number of people, which that of a mean itself may not (one person may be the only one). The
two share the price of every step that moves both; steps that move only the sum give it their whole price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leeward.distance import Line
from leeward.errors import NotShelteredError
from leeward.mechanism import Geometric
from leeward.noise import Bits
from leeward.notion import INSERT, REPLACE, WITHDRAW, Notion
from leeward.notion.metric import Nudge
from leeward.query.numeric import Mean, Percentile
from leeward.query.statistic import Statistic
from leeward.real import Real, inf
from leeward.sensitivity import allowed_rates, sensitivity

if TYPE_CHECKING:
    import pyarrow as pa


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


@dataclass(frozen=True)
class NumberPlan:
    """What a release of a statistic will do, known before anything is spent.

    Attributes:
        query: the question.
        notion: the privacy notion.
        parts: one mechanism; two for a mean over a private number of people (sum in half steps, then number).
        scale: what the stored integers of a one-part answer stand for.
    """

    query: Statistic
    notion: Notion
    parts: tuple[Geometric, ...]
    scale: Scale

    @property
    def price(self) -> Real:
        """ε of the notion."""
        return self.notion.epsilon

    def public(self) -> dict[str, Any]:
        """Return everything public that the drawn integers depend on, as JSON can hold it."""
        promise = {"notion": str(self.notion), "mechanism": [repr(part) for part in self.parts]}
        return {**self.query.public(), **promise}

    def draw(self, exactly: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the noisy integers, not clamped: what the ledger stores."""
        drawn = [part.noisy(exactly[i :: len(self.parts)], bits) for i, part in enumerate(self.parts)]
        return np.stack(drawn, axis=1).ravel()

    def answers(self, drawn: NDArray[np.int64], keys: pa.Table) -> pa.Table:
        """Return the published table: one row a public key, with ``value``, or ``count`` for a histogram."""
        import pyarrow as pa

        columns: dict[str, Any] = {name: keys[name] for name in keys.column_names}
        if self.query.kind == "histogram":
            columns["count"] = pa.array(drawn)
        elif len(self.parts) == 2:
            columns["value"] = [float(v) for v in self._means(drawn[0::2], drawn[1::2])]
        else:
            values = self.scale.values(drawn)
            whole = self.scale.unit.denominator == self.scale.origin.denominator == 1
            columns["value"] = [int(v) for v in values] if whole else [float(v) for v in values]
        return pa.table(columns)

    def accuracy(self) -> dict[str, float] | None:
        """Return the mean absolute error and the 95 % error of one answer, in its own units; None for two-part means.

        Clamping can only make errors smaller, so these are what they are at most.
        """
        if len(self.parts) == 2:
            return None
        law, unit = self.parts[0].law, float(self.scale.unit)
        far = next(k for k in _growing() if float(law.cdf(k) - law.cdf(-k - 1)) >= 0.95)
        return {"mean_absolute": float(law.mean_absolute()) * unit, "within_95_percent": far * unit}

    def _means(self, sums: NDArray[np.int64], people: NDArray[np.int64]) -> list[Fraction]:
        values, numeric = self.query.values, self.query.numeric
        assert values is not None
        assert isinstance(numeric, Mean)
        assert numeric.grid is not None
        middle, found = (values.lower + values.upper) / 2, []
        for total, n in zip(sums.tolist(), people.tolist(), strict=True):
            mean = numeric.answer([]) if n < 1 else middle + values.step * Fraction(total, 2 * n)
            clamped = min(max(mean, values.lower), values.upper)
            found.append(math.floor(clamped / numeric.grid + Fraction(1, 2)) * numeric.grid)
        return found


def plan_number(query: Statistic, notion: Notion) -> NumberPlan:
    """Plan the release of a statistic: free, and private of nothing because it reads no data.

    Raises:
        NotShelteredError: the notion does not shelter such an answer.
    """
    if isinstance(query.numeric, Mean) and query.people is None:
        return NumberPlan(query, notion, _sum_and_number(query, notion), Scale())
    scale = _scale(query)
    line = sensitivity(notion, query).line
    return NumberPlan(query, notion, (Geometric(line, step=scale.unit),), scale)


def _scale(query: Statistic) -> Scale:
    values, numeric = query.values, query.numeric
    if values is None or numeric is None:
        return Scale()
    top = int(values.width / values.step)
    if isinstance(numeric, Percentile):
        return Scale(values.lower, values.step, 0, top)
    if isinstance(numeric, Mean):
        assert numeric.grid is not None
        grid = numeric.grid
        return Scale(Fraction(0), grid, math.ceil(values.lower / grid), math.floor(values.upper / grid))
    unit = values.grid_with_zero
    if query.people is None:
        return Scale(Fraction(0), unit)
    return Scale(Fraction(0), unit, int(values.lower * query.people / unit), int(values.upper * query.people / unit))


def _sum_and_number(query: Statistic, notion: Notion) -> tuple[Geometric, Geometric]:
    """Return the mechanisms of the sum of 2·(steps − middle) and of the number of people, which share each step's price."""
    assert query.values is not None
    if notion.everyone:
        raise NotShelteredError(
            "A mean where all values may change at once, over a private number of people",
            "their sum may move by any amount",
            "Declare the number of people, if it is public",
        )
    k = int(query.values.width / query.values.step)
    moves = []  # cost, how far the sum moves, how far the number of people rises and falls
    for step in notion.steps:
        query.effect(step.change)  # refuses what it refuses
        if isinstance(step.change, Nudge):
            moves.append((step.cost, min(2 * int(step.change.size / query.values.step), 2 * k), 0, 0))
        elif step.change in {WITHDRAW, INSERT}:
            moves.append((step.cost, k, int(step.change == INSERT), int(step.change == WITHDRAW)))
        elif step.change == REPLACE:
            between = int(len(query.groups) > 1)
            moves.append((step.cost, 2 * k, between, between))
        else:
            raise NotShelteredError(
                f"A mean under a notion whose steps are '{step.change.name}'",
                "how far such a step moves a sum is not known",
                "Use dp, addition-only, removal-only or a metric notion",
            )
    rate = min((cost / (far * (2 if rise or fall else 1)) for cost, far, rise, fall in moves if far), default=inf)
    left = [(cost - rate * far, Fraction(rise), Fraction(fall)) for cost, far, rise, fall in moves if rise or fall]
    number = allowed_rates(left) if left else None
    if number is None:
        raise NotShelteredError(
            f"A mean over a private number of people under {notion}",
            "no step of the notion adds or removes a person, so their number is public",
            "Declare it: people = …",
        )
    return Geometric(Line(rise=rate, fall=rate)), Geometric(number)


def _growing() -> Any:
    k = 0
    while True:
        yield k
        k = k + 1 if k < 64 else k + max(1, k // 64)
