# SPDX-License-Identifier: Apache-2.0
"""Several consumers, one mechanism: what they lose together by having to share.

A mechanism is universally optimal if it is best for every consumer, each with a prior, a loss, and a remap of their own
(Chatzikokolakis et al., Definition 7). Where two consumers cannot both have their optimum from one mechanism, none is. What
a mechanism's output z is worth to them is the tuple of their guesses for it, so the best that they can share is one linear
program whose guesses are tuples: its optimum is the least sum of their losses. Above the sum of what each could have
alone, there is no universally optimal mechanism.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from leeward._taught import in_order
from leeward.analysis._loss import LossLike, read_loss
from leeward.analysis._optimal._least_loss import Optimal, optimal
from leeward.analysis._prior import Prior, read_prior
from leeward.distance import DirectedDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Real

S = TypeVar("S")

MOST = 20_000
"""Tuples of guesses, times secrets: variables of a program that still takes seconds."""


@dataclass(frozen=True)
class Shared:
    """What several consumers lose alone, and what they lose with one mechanism for all.

    Attributes:
        alone: the best mechanism of each.
        together: the mechanism of least total loss; its outputs are tuples, one guess a consumer.
        missed: floats (lower, upper) that enclose by how much the least total loss is above the sum of the least losses.
            A lower end above 0 proves that no mechanism is best for all of them.
    """

    alone: tuple[Optimal, ...]
    together: Optimal
    missed: tuple[float, float]

    def __bool__(self) -> bool:
        return self.missed[0] <= 0

    def __str__(self) -> str:
        low, high = self.missed
        if not self:
            return f"no one mechanism serves them all: together they lose at least {low:.6g} more than each alone"
        return f"no proof that they cannot share: together they lose at most {high:.2g} more than each alone"


def shared(space: Iterable[S], distance: DirectedDistance[S], consumers: Sequence[tuple[Prior, LossLike]]) -> Shared:
    """Return what consumers lose by sharing one d-private mechanism, each remapping its outputs as they like. Certified.

    Args:
        space: the n secrets.
        distance: any directed distance that is defined on them.
        consumers: (prior, loss) of each, at least two, with loss and prior as in `optimal`; no ``"worst"`` among them.

    Raises:
        InputError: for fewer than two consumers, a risk-averse one, or a program of too many variables.
    """
    secrets = in_order("space", space)
    if len(consumers) < 2 or any(isinstance(prior, str) and prior == "worst" for prior, _ in consumers):
        raise InputError(
            f"Sharing among {len(consumers)} consumers",
            "it is about two or more, each with a prior: losses are added up",
            "Give [(prior, loss), (prior, loss)]",
        )
    if len(secrets) ** (len(consumers) + 1) > MOST:
        raise InputError(
            f"{len(consumers)} consumers of {len(secrets)} secrets",
            "every tuple of guesses is an output, and there are too many of them",
            "Ask about two consumers, or fewer secrets",
        )
    alone = tuple(optimal(secrets, distance, prior, loss) for prior, loss in consumers)
    guesses = list(itertools.product(range(len(secrets)), repeat=len(consumers)))
    costs = [_costs(secrets, prior, loss) for prior, loss in consumers]
    total = [
        [sum((cost[x][w] for cost, w in zip(costs, guess, strict=True)), ZERO) * len(secrets) for guess in guesses]
        for x in range(len(secrets))
    ]
    together = optimal(secrets, distance, [Fraction(1, len(secrets))] * len(secrets), total, guesses=guesses)
    low = together.bound - sum(float(each.loss) for each in alone)
    high = float(together.loss) - sum(each.bound for each in alone)
    rounding = 1e-12 * (1 + float(together.loss))
    return Shared(alone, together, (low - rounding, max(high + rounding, 0.0)))


def _costs(secrets: tuple[Any, ...], prior: Prior, loss: LossLike) -> list[list[Real]]:
    chances, matrix = read_prior(secrets, prior), read_loss(secrets, secrets, loss)
    return [
        [matrix.values[code] * chance for code in row]
        for chance, row in zip(chances, matrix.codes.tolist(), strict=True)
    ]
