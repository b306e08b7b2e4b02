"""The sanitized mechanism passes what every mechanism must: c answers, thresholds of their own for each count."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import FiniteDistance, Line
from leeward.exact import Real, exact, inf
from leeward.mechanism import FiniteMechanism, Sanitized
from leeward.noise import Bits

VECTORS = list(itertools.product(range(3), repeat=3))


def one_person_leaves(price: Real) -> FiniteDistance[tuple[int, ...]]:
    """A step lowers any of the counts by 1 each; a chain of steps adds up."""
    steps = [
        [price if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in VECTORS] for x in VECTORS
    ]
    return FiniteDistance.closed(VECTORS, steps)


def greatest(matrix: FiniteMechanism) -> int:
    """The count at which the matrix merges all that is greater."""
    return max(z for output in matrix.outputs for z in output if isinstance(z, int))


def sampler(mechanism: Sanitized, matrix: Callable[[], FiniteMechanism]) -> Sampler:
    def sample(counts: Any, size: int, bits: Bits) -> list[tuple[object, ...]]:
        truth, top = np.array(counts, dtype=np.int64), greatest(matrix())
        outputs = []
        for _ in range(size):
            said = mechanism.release(truth, bits)
            rows = zip(said.answered.tolist(), said.safe.tolist(), said.count.tolist(), strict=True)
            outputs.append(
                tuple("safe" if safe else min(count, top) if answered else None for answered, safe, count in rows)
            )
        return outputs

    return sample


def cases() -> Iterator[Case]:
    for text in ("1", "1/3", "0.1", "20"):
        line = Line(inf, text)
        for name, at_most, c in (
            ("first stop", 1, 1),
            ("second stop", 1, 2),
            ("thresholds of their own", (0, 2, 1), 1),
            ("thresholds of their own, second stop", (0, 2, 1), 2),
        ):
            mechanism = Sanitized(line, at_most=at_most, stop_after=c)
            matrix = functools.cache(functools.partial(mechanism.on, VECTORS))
            claimed = one_person_leaves(exact(text) * c)
            yield Case(f"{name} at {text}", matrix, claimed, sampler(mechanism, matrix), one_way=True, draws=1500)


class TestSanitized(MechanismConformance):
    cases: ClassVar = list(cases())
