"""The norm mechanism and the centred geometric mechanism pass what every mechanism must."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import Line
from leeward.exact import exact, inf
from leeward.mechanism import FiniteMechanism, Geometric, NormMechanism
from leeward.mechanism._norm import BEYOND
from leeward.noise import Bits

SQUARE = list(itertools.product(range(3), repeat=2))


def norm_sampler(mechanism: NormMechanism, matrix: FiniteMechanism) -> Sampler:
    known = set(matrix.outputs)

    def sample(truth: Any, size: int, bits: Bits) -> list[Any]:
        drawn = map(tuple, mechanism.release(np.tile(truth, (size, 1)), bits).tolist())
        return [z if z in known else BEYOND for z in drawn]

    return sample


def norm_cases() -> Iterator[Case]:
    for text in ("1", "1/3", "20"):
        e = exact(text)
        for name, line in {"two-sided": Line(e, e), "never under": Line(inf, e), "never over": Line(e, inf)}.items():
            mechanism = NormMechanism(line, 2)
            matrix = mechanism.on(SQUARE)
            sharper = norm_sampler(NormMechanism(line.scale("5/4"), 2), matrix) if text != "20" else None
            one_way = name != "two-sided"
            yield Case(
                f"{name} at {text}",
                matrix,
                mechanism.distance.on(SQUARE),
                norm_sampler(mechanism, matrix),
                sharper,
                one_way,
                draws=20_000,
            )


class TestNormMechanism(MechanismConformance):
    cases: ClassVar = list(norm_cases())


def centred_sampler(mechanism: Geometric, matrix: FiniteMechanism) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[int]:
        return np.clip(mechanism.release(np.full(size, truth), bits), matrix.outputs[0], matrix.outputs[-1]).tolist()

    return sample


def centred_cases() -> Iterator[Case]:
    for text, centre in itertools.product(("1", "1/3"), ("mean", "median")):
        for name, line in {"upward": Line(inf, text), "graded": Line(exact(text) * 2, text)}.items():
            mechanism = Geometric(line, centre=centre)
            matrix = mechanism.on(range(4))
            plain = centred_sampler(Geometric(line), matrix)
            shifted = mechanism.shifts != Geometric(line).shifts  # else there is nothing to forget
            yield Case(
                f"{name} at {text}, {centre}",
                matrix,
                line,
                centred_sampler(mechanism, matrix),
                plain if shifted else None,
                line.rise.is_infinite,
            )


class TestCentredGeometric(MechanismConformance):
    cases: ClassVar = list(centred_cases())
