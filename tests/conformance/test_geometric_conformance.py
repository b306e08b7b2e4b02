"""The geometric mechanism, in all its forms, passes what every mechanism must."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import Line
from leeward.exact import exact, inf
from leeward.mechanism import Geometric
from leeward.noise import Bits

POINTS = range(6)


def sampler(mechanism: Geometric) -> Sampler:
    def sample(truth: Any, size: int, bits: Bits) -> list[int]:
        noisy = mechanism.release(np.full(size, truth), bits)
        low = POINTS[0] if mechanism.lower is None else mechanism.lower  # outputs beyond the secrets are merged
        high = POINTS[-1] if mechanism.upper is None else mechanism.upper
        return np.clip(noisy, low, high).tolist()

    return sample


def cases() -> Iterator[Case]:
    for text in ("1", "1/3", "0.1", "20"):
        e = exact(text)
        forms = {
            "never under": Geometric(Line(inf, e)),
            "never over": Geometric(Line(e, inf)),
            "two-sided": Geometric(Line(e, e)),
            "graded": Geometric(Line(e * 2, e)),
            "clamped": Geometric(Line(e, e), lower=0, upper=5),
            "clamped inside": Geometric(Line(e, e), lower=1, upper=3),
            "clamped never under": Geometric(Line(inf, e), upper=5),
            "half steps": Geometric(Line(e * 2, e * 2), step="1/2"),
        }
        for name, mechanism in forms.items():
            claimed = mechanism.line if name != "half steps" else Line(e, e)
            one_way = claimed.rise.is_infinite is not claimed.fall.is_infinite
            too_sharp = Geometric(
                mechanism.line.scale("5/4"), step=mechanism.step, lower=mechanism.lower, upper=mechanism.upper
            )
            broken = sampler(too_sharp) if text != "20" else None  # at ε = 20 there is hardly any noise to get wrong
            yield Case(f"{name} at {text}", mechanism.on(POINTS), claimed, sampler(mechanism), broken, one_way)


class TestGeometric(MechanismConformance):
    cases: ClassVar = list(cases())
