"""The sanitized mechanism with a budget passes what every mechanism must.

A count is nearly as likely to be published late before a step as after it only where the early look hardly sees it, far
below its threshold; so small counts do not reach the whole budget. What they reach is pinned, and less is refuted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler
from tests.conformance.test_sanitized_conformance import VECTORS, one_person_leaves

from leeward.distance import Line
from leeward.exact import exact, inf
from leeward.mechanism import AdaptiveSanitized, FiniteMechanism
from leeward.noise import Bits

ONE, TWO = ("1/2",), ("1/4", "1/2")
MADE: list[tuple[str, Any, str, tuple[str, ...], tuple[int, ...], str]] = [
    ("1", 1, "1", ONE, (1,), "0.7938"),
    ("1", 1, "3/2", ONE, (1,), "0.8625"),
    ("1", (0, 2, 1), "2", TWO, (2, 1), "0.6924"),
    ("1/3", 1, "3/2", ONE, (1,), "0.6666"),
    ("20", 1, "3/2", ONE, (1,), "0.9999"),
]
"""ε, thresholds, the budget in ε, looks, margins, and the share of the budget that is reached."""


def sampler(mechanism: AdaptiveSanitized, matrix: Callable[[], FiniteMechanism]) -> Sampler:
    def sample(counts: Any, size: int, bits: Bits) -> list[tuple[object, ...]]:
        top = max(z[1] for output in matrix().outputs for z in output if isinstance(z, tuple))
        outputs: list[tuple[object, ...]] = []
        for _ in range(size):
            said = mechanism.release(np.array(counts, np.int64), bits)
            rows = zip(said.answered.tolist(), said.look.tolist(), said.count.tolist(), strict=True)
            outputs.append(tuple(("safe" if j < 0 else (j, min(z, top))) if there else None for there, j, z in rows))
        return outputs

    return sample


def cases() -> Iterator[Case]:
    for epsilon, at_most, budget, looks, margins, reached in MADE:
        paid = exact(epsilon) * budget
        mechanism = AdaptiveSanitized(Line(inf, epsilon), at_most=at_most, budget=paid, looks=looks, margins=margins)
        matrix = functools.cache(functools.partial(mechanism.on, VECTORS))
        yield Case(
            f"ε = {epsilon}, budget {budget}ε, at most {at_most}",
            matrix,
            one_person_leaves(paid),
            sampler(mechanism, matrix),
            one_way=True,
            draws=1500,
            reached=reached,
        )


class TestAdaptiveSanitized(MechanismConformance):
    cases: ClassVar = list(cases())
