"""Random cases of the universal optimality theorem on the directed line, and the gap between its two sides."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracle.least_loss import least_loss

from leeward.analysis import remap
from leeward.distance import Line
from leeward.exact import exact, inf
from leeward.mechanism import Geometric


@dataclass(frozen=True)
class Case:
    """Answers 0..n, a line, a prior, guesses, and a loss by row and guess."""

    line: Line
    prior: list[Fraction]
    guesses: list[Fraction]
    loss: list[list[int]]

    @property
    def gap(self) -> float:
        """The loss of the clamped geometric mechanism with its best remap, minus that of the best private mechanism."""
        points = range(len(self.prior))
        ours = remap(Geometric(self.line, lower=0, upper=points[-1]), self.prior, self.loss, self.guesses).loss
        distance = [[float(self.line(x, y)) for y in points] for x in points]
        return float(ours) - least_loss(distance, [float(p) for p in self.prior], self.loss)


def rate(seed: random.Random) -> Any:
    """A rate between 10^-2.5 and 10, or now and then ∞."""
    return inf if seed.random() < 0.15 else exact(f"{10 ** seed.uniform(-2.5, 1):.4f}")


def random_case(number: int, largest: int, *, monotone: bool = True) -> Case:
    """Case ``number``: sparse and dense priors, asymmetric losses that differ by row; guesses sometimes on half steps."""
    seed = random.Random(f"{number}/{monotone}")
    n = seed.randint(1, largest)
    rise = rate(seed)
    fall = exact(f"{seed.uniform(0.05, 4):.4f}") if rise.is_infinite else rise if seed.random() < 0.2 else rate(seed)
    weights = [seed.choice([0, 1, 1, 3, 30]) if number % 2 else seed.randint(1, 100) for _ in range(n + 1)]
    weights[seed.randint(0, n)] += 1
    step = Fraction(1, seed.choice([1, 1, 1, 2]))
    guesses = [k * step for k in range(int(n / step) + 1)]
    loss = [_row(seed, x, guesses) if monotone else [seed.randint(0, 9) for _ in guesses] for x in range(n + 1)]
    return Case(Line(rise, fall), [Fraction(w, sum(weights)) for w in weights], guesses, loss)


def _row(seed: random.Random, truth: int, guesses: list[Fraction]) -> list[int]:
    """A loss of one truth that does not decrease on either side of it."""
    row = dict.fromkeys(guesses, 0)
    for side in ([g for g in guesses if g > truth], [g for g in reversed(guesses) if g < truth]):
        total = 0
        for guess in side:
            total += seed.choice([0, 0, 1, 2, 7])
            row[guess] = total
    return [row[g] for g in guesses]
