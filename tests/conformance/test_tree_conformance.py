"""A tree of totals samples the law that its matrix states, and keeps its promise with nothing to spare."""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.mechanism._series import Between
from leeward.mechanism._tree import TreeMechanism
from leeward.noise import Bits

SERIES = list(itertools.product(range(2), repeat=3))
LEVELS = ((1, 3), (3,))
"""Two parts, of one reading and of two, and the whole."""


def tree(between: Between, epsilon: str, shares: list[str]) -> TreeMechanism:
    return TreeMechanism(between, epsilon, levels=LEVELS, spans=(1, 3), shares=shares, width=1)


def sampler(made: TreeMechanism) -> Sampler:
    tops = (1, 2, 3)

    def sample(one: Any, size: int, bits: Bits) -> list[Any]:
        narrowest = np.tile([one[0], one[1] + one[2]], (size, 1))
        nodes = np.concatenate(made.release(narrowest, bits), axis=1)
        return [tuple(row) for row in nodes.clip(0, tops).tolist()]

    return sample


def case(between: Between) -> Case:
    made, sharper = tree(between, "1", ["1/4", "3/4"]), tree(between, "2", ["1/4", "3/4"])
    return Case(f"tree, {between}", made.on(SERIES), made.distance, sampler(made), sampler(sharper), draws=20_000)


class TestTreeMechanism(MechanismConformance):
    cases: ClassVar = [case("maximum"), case("manhattan")]
