"""Warner's, Mangat's, OSDP's and utility-optimized randomized response pass what every mechanism must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import FiniteDistance
from leeward.exact import inf
from leeward.mechanism import OSDPRandomizedResponse, RandomizedResponse, mangat, urap, urr, warner
from leeward.noise import Bits


def bit_sampler(made: RandomizedResponse) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[bool]:
        return made.release(np.full(size, truth), bits).tolist()

    return sample


def record_sampler(made: OSDPRandomizedResponse) -> Sampler:
    def sample(record: Any, size: int, bits: Bits) -> list[Any]:
        published = made.release([record] * size, bits)
        return published + [None] * (size - len(published))

    return sample


def cases() -> Iterator[Case]:
    for text in ("1", "1/3", "0.1", "20"):
        both = FiniteDistance((False, True), [[0, text], [text, 0]])
        yield Case(f"Warner at {text}", warner(text).on(), both, bit_sampler(warner(text)))
        one_way = FiniteDistance((False, True), [[0, inf], [text, 0]])
        yield Case(f"Mangat at {text}", mangat(text).on(), one_way, bit_sampler(mangat(text)), one_way=True)
        osdp = OSDPRandomizedResponse(text, lambda record: record == "ill")
        distance = FiniteDistance(("ill", "well", "away"), [[0, text, text], [inf, 0, inf], [inf, inf, 0]])
        matrix = osdp.on(("ill", "well", "away"))
        yield Case(f"OSDP at {text}", matrix, distance, record_sampler(osdp), one_way=True)
        for made in (urr, urap):
            ours = made(text, ("ill", "well", "away"), lambda record: record == "ill")
            yield Case(f"{made.__name__} at {text}", ours, distance, ours.sample, one_way=True)


class TestRandomizedResponse(MechanismConformance):
    cases: ClassVar = list(cases())
