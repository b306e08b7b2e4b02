"""The sparse vector technique passes what every mechanism must.

Its ε is reached only in the limit of ever more counts: on two counts the pinned shares of it. What is below them is refuted.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import FiniteDistance
from leeward.exact import Exact, inf
from leeward.mechanism import SparseVector
from leeward.noise import Bits

VECTORS = list(itertools.product(range(3), repeat=2))

REACHED = {("1", True, 1): "0.4422", ("1", True, 2): "0.3281", ("1", False, 1): "0.4286", ("1", False, 2): "0.2233"}


def one_step(epsilon: Exact, *, monotonic: bool) -> FiniteDistance[tuple[int, ...]]:
    """A step moves every count by at most 1, all of them one way if they are monotonic; a chain of steps adds up."""

    def cost(x: tuple[int, ...], y: tuple[int, ...]) -> Exact:
        moves = {b - a for a, b in zip(x, y, strict=True)} - {0}
        return 0 if not moves else epsilon if moves <= {-1, 1} and (len(moves) == 1 or not monotonic) else inf

    return FiniteDistance.closed(VECTORS, [[cost(x, y) for y in VECTORS] for x in VECTORS])


def sampler(mechanism: SparseVector) -> Sampler:
    def sample(counts: Any, size: int, bits: Bits) -> list[tuple[object, ...]]:
        outputs = []
        for _ in range(size):
            said = mechanism.release(np.array(counts, dtype=np.int64), bits)
            rows = zip(said.answered.tolist(), said.above.tolist(), strict=True)
            outputs.append(tuple(("above" if above else "below") if answered else None for answered, above in rows))
        return outputs

    return sample


def cases() -> Iterator[Case]:
    for (epsilon, monotonic, stops), reached in REACHED.items():
        mechanism = SparseVector(epsilon, at_most=1, stop_after=stops, monotonic=monotonic)
        too_sharp = SparseVector("4", at_most=1, stop_after=stops, monotonic=monotonic)
        yield Case(
            f"ε = {epsilon}, {'monotonic' if monotonic else 'any'} counts, {stops} stops",
            functools.partial(mechanism.on, VECTORS),
            one_step(epsilon, monotonic=monotonic),
            sampler(mechanism),
            sampler(too_sharp),
            draws=1500,
            reached=reached,
        )


class TestSparseVector(MechanismConformance):
    cases: ClassVar = list(cases())
