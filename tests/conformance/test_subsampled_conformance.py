"""The subsampled count of equation (3) passes what every mechanism must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.mechanism import SubsampledCount
from leeward.noise import Bits

POINTS = range(4)


def sampler(mechanism: SubsampledCount, top: int) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[int]:
        return np.minimum(mechanism.release(np.full(size, truth), bits), top).tolist()

    return sample


def cases() -> Iterator[Case]:
    for text in ("1", "1/3", "0.1", "3"):
        mechanism, too_often = SubsampledCount(text), SubsampledCount("8")
        matrix = mechanism.on(POINTS)
        top = max(matrix.outputs)
        yield Case(f"subsampled at {text}", matrix, mechanism.line, sampler(mechanism, top), sampler(too_often, top))


class TestSubsampledCount(MechanismConformance):
    cases: ClassVar = list(cases())
