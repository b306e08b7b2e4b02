"""A mechanism as a matrix passes what every mechanism must: Laplace of a distance, the exponential, what is made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import FiniteDistance, Line, Plane
from leeward.exact import inf
from leeward.mechanism import FiniteMechanism, exponential_fallback, laplace_mechanism
from leeward.noise import Bits

SQUARE = [(0, 0), (0, 1), (1, 0), (1, 1)]


def sampler(made: FiniteMechanism) -> Sampler:
    def sample(secret: Any, size: int, bits: Bits) -> list[Any]:
        return made.sample(secret, size, bits)

    return sample


def spaces(text: str) -> Iterator[tuple[str, FiniteDistance[Any], bool]]:
    yield "a line", Line(text, text).on(range(4)), False
    yield "a one-sided line", Line(inf, text).on(range(4)), True
    yield "a square, straight", Plane(text).on(SQUARE), False
    yield "a square, along the axes", Plane(text, "manhattan").on(SQUARE), False


def cases() -> Iterator[Case]:
    for text in ("1", "1/3", "0.1"):
        for name, distance, one_way in spaces(text):
            made = laplace_mechanism(distance)
            yield Case(f"Laplace on {name} at {text}", made, distance, sampler(made), one_way=one_way)
        line = Line(text, text).on(range(3))
        made = laplace_mechanism(line)
        yield Case(f"twice at {text}", made.beside(made), line.scale(2), sampler(made.beside(made)))
        again = made.then({0: 0, 1: 1, 2: 1})
        yield Case(f"merged at {text}", again, line, sampler(again))


class TestFiniteMechanism(MechanismConformance):
    cases: ClassVar = list(cases())


def exponentials() -> Iterator[Case]:
    """The exponential mechanism is d-private at a scale found by halving: nearly all of d is reached, and never more."""
    for text in ("1", "1/3"):
        distance = Line(text, text).on(range(4))
        made, _ = exponential_fallback(distance)
        yield Case(f"exponential at {text}", made, distance, sampler(made), reached="0.99999")


class TestExponentialMechanism(MechanismConformance):
    cases: ClassVar = list(exponentials())
