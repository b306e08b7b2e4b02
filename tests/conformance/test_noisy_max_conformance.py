"""Report noisy max passes what every mechanism must.

Two named one after the other reach twice the rate only in the limit of many options: what they reach on three is pinned, and
what is below that is refuted.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.exact import exact, log
from leeward.mechanism import NoisyMax
from leeward.noise import Bits

ROWS = sorted(itertools.product(range(3), repeat=3), key=lambda row: row == (0, 2, 1))
MIDDLE = len(ROWS) // 2
ROWS.insert(MIDDLE, ROWS.pop())  # where a broken sampler is looked at: equal counts are named alike at every rate

REACHED = {"1/2": "0.9048", log(2): "0.9310", "1": "0.9576"}
"""Share of twice the rate that two named reach on three options."""


def sampler(mechanism: NoisyMax) -> Sampler:
    def sample(counts: Any, size: int, bits: Bits) -> list[tuple[int, ...]]:
        return [tuple(mechanism.release(counts, bits).tolist()) for _ in range(size)]

    return sample


def cases() -> Iterator[Case]:
    for rate, how_many in itertools.product(REACHED, (1, 2)):
        mechanism = NoisyMax(rate, how_many=how_many)
        claimed = mechanism.distance
        yield Case(
            f"rate {rate}, {how_many} named",
            functools.partial(mechanism.on, ROWS),
            claimed,
            sampler(mechanism),
            sampler(NoisyMax(exact(rate) * "3/2", how_many=how_many)),
            draws=2000,
            reached=REACHED[rate] if how_many > 1 else "1",
        )


class TestNoisyMax(MechanismConformance):
    cases: ClassVar = list(cases())
