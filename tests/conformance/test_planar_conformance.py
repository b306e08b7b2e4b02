"""The planar mechanism, Euclidean and Manhattan, passes what every mechanism must."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import Plane
from leeward.exact import log
from leeward.mechanism import FiniteMechanism, PlanarMechanism
from leeward.mechanism._norm import BEYOND
from leeward.noise import Bits

SQUARE = list(itertools.product(range(3), repeat=2))


def planar_sampler(mechanism: PlanarMechanism, matrix: FiniteMechanism) -> Sampler:
    known = set(matrix.outputs)

    def sample(truth: Any, size: int, bits: Bits) -> list[Any]:
        drawn = map(tuple, mechanism.noisy(np.tile(truth, (size, 1)), bits).tolist())
        return [z if z in known else BEYOND for z in drawn]

    return sample


def planar_cases() -> Iterator[Case]:
    for rate, norm in itertools.product(("1", log(2) / 2), ("euclidean", "manhattan")):
        plane = Plane(rate, norm)  # type: ignore[arg-type]
        mechanism = PlanarMechanism(plane)
        matrix = mechanism.on(SQUARE)
        sharper = planar_sampler(PlanarMechanism(plane.scale("11/10")), matrix)
        sample = planar_sampler(mechanism, matrix)
        yield Case(f"{norm} at {rate}", matrix, plane.on(SQUARE), sample, sharper, draws=40_000)


class TestPlanarMechanism(MechanismConformance):
    cases: ClassVar = list(planar_cases())
