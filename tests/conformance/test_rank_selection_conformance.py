# SPDX-License-Identifier: Apache-2.0
"""A percentile by rank passes what every mechanism must: on two grid points, where the claim is reached."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.exact import exact, log
from leeward.mechanism import RankSelection
from leeward.noise import Bits

TABLES = sorted(itertools.product(range(4), repeat=2), key=lambda table: table == (2, 1))
TABLES.insert(len(TABLES) // 2, TABLES.pop())  # where a broken sampler is looked at: equal losses are named alike


def sampler(mechanism: RankSelection) -> Sampler:
    def sample(counts: Any, size: int, bits: Bits) -> list[int]:
        return [mechanism.release(counts, bits) for _ in range(size)]

    return sample


def cases() -> Iterator[Case]:
    for rate, p in itertools.product(("1/2", log(2)), ("50", "25", "100")):
        mechanism = RankSelection(rate, p)
        yield Case(
            f"rate {rate}, p = {p}",
            functools.partial(mechanism.on, TABLES),
            mechanism.distance,
            sampler(mechanism),
            sampler(RankSelection(exact(rate) * 3, p)),
            draws=2000,
        )


class TestRankSelection(MechanismConformance):
    cases: ClassVar = list(cases())
