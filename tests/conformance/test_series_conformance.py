"""Noise on windows of readings passes what every mechanism must, in each distance between series."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar, get_args

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.mechanism import FiniteMechanism
from leeward.mechanism._norm import BEYOND
from leeward.mechanism._series import DISTANCES, Between, SeriesMechanism
from leeward.noise import Bits

READINGS = range(3)


def sampler(mechanism: SeriesMechanism, matrix: FiniteMechanism) -> Sampler:
    known = set(matrix.outputs)

    def sample(window: Any, size: int, bits: Bits) -> list[Any]:
        noisy = mechanism.release(np.tile(window, (size, 1)), bits)
        if mechanism.noise == "independent":  # what lies beyond the readings is merged into the outermost
            noisy = noisy.clip(READINGS[0], READINGS[-1])
        return [z if z in known else BEYOND for z in map(tuple, noisy.tolist())]

    return sample


def cases() -> Iterator[Case]:
    kinds: dict[str, dict[str, Any]] = {
        "d_1": {"between": "manhattan", "window": 2},
        "d_∞, norm": {"between": "maximum", "window": 2},
        "d_∞, independent": {"between": "maximum", "window": 2, "noise": "independent"},
        "d_h": {"between": "hamming", "width": "2"},
        "d_∞, half steps": {"between": "maximum", "window": 2, "step": "1/2"},
    }
    for text in ("1", "1/3", "0.1"):
        for name, options in kinds.items():
            mechanism = SeriesMechanism(epsilon=text, **options)
            windows = list(itertools.product(READINGS, repeat=mechanism.window))
            matrix = mechanism.on(windows)
            too_sharp = SeriesMechanism(epsilon="4", **options)
            yield Case(
                f"{name} at {text}",
                matrix,
                mechanism.distance.on(windows),
                sampler(mechanism, matrix),
                sampler(too_sharp, matrix),
                draws=20_000,
            )


class TestSeriesMechanism(MechanismConformance):
    cases: ClassVar = list(cases())


def test_every_distance_is_a_case() -> None:
    assert {case.name.split()[0].strip(",") for case in cases()} == {kind.symbol for kind in DISTANCES.values()}
    assert set(DISTANCES) == set(get_args(Between))
