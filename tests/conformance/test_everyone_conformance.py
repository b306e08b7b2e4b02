"""Bounds on all who were there pass what every mechanism must: a step lowers counts at k places, and those left out."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import FiniteDistance, Line
from leeward.exact import Real, exact, inf
from leeward.mechanism import Everyone, FiniteMechanism
from leeward.noise import Bits

VECTORS = list(itertools.product(range(3), repeat=3))
"""Two counts, and the most left out."""


def one_person_leaves(price: Real, k: int) -> FiniteDistance[tuple[int, ...]]:
    """A step lowers up to k counts and the most left out, by 1 each; a chain of steps adds up."""

    def allowed(x: tuple[int, ...], y: tuple[int, ...]) -> bool:
        falls = [a - b for a, b in zip(x, y, strict=True)]
        return all(fall in (0, 1) for fall in falls) and sum(falls[:-1]) <= k

    return FiniteDistance.closed(VECTORS, [[price if allowed(x, y) else inf for y in VECTORS] for x in VECTORS])


def sampler(mechanism: Everyone, tops: tuple[int, ...] = (2, 2, 2)) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[tuple[int, ...]]:
        drawn = (mechanism.noisy(np.array(truth, np.int64), bits) for _ in range(size))
        return [tuple(np.minimum(each, tops).tolist()) for each in drawn]

    return sample


def wrong(mechanism: Everyone) -> Sampler:
    """Those left out get the noise of a count."""
    return sampler(Everyone(mechanism.line, mechanism.line.fall))


def cases() -> Iterator[Case]:
    for epsilon, k, share in (("1", 1, "1/2"), ("1", 2, "2/5"), ("2", 1, "1/4")):
        paid = exact(epsilon)
        made = Everyone(Line(inf, paid * (1 - exact(share)) / k), paid * share)
        matrix: Callable[[], FiniteMechanism] = functools.cache(functools.partial(made.on, VECTORS))
        broken = None if made.line.fall == made.left_out else wrong(made)
        yield Case(
            f"ε = {epsilon}, k = {k}, {share} for those left out",
            matrix,
            one_person_leaves(paid, k),
            sampler(made),
            broken=broken,
            one_way=True,
            draws=4000,
        )


class TestEveryone(MechanismConformance):
    cases: ClassVar = list(cases())
