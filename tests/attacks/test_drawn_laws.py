"""Attack: what is drawn, by going through all outcomes of every coin, against laws written down once more in floats.

Each coin that a draw flips is branched, with its exact chance, and so is each uniform integer. What a whole release gives
on all branches must have the probability that its law says: never more, and less by no more than the branches that are too
rare to follow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leeward as lw
from leeward import mechanism
from leeward.exact import inf
from leeward.mechanism import _noisy_max
from leeward.noise import (
    Bits,
    DirectedGeometric,
    NormNoise,
    _bernoulli,
    _cut_geometric,
    _geometric,
    _norm,
)
from leeward.noise._cut_geometric import CutGeometric

RARE = 1e-5


class TooRareError(Exception):
    """A branch that is not followed."""


class Branches(Bits):
    """Goes through all outcomes of what is drawn, depth first: one run of a release for each."""

    def __init__(self) -> None:
        self.taken: list[tuple[int, list[int]]] = []
        self.at, self.chance = 0, 1.0

    def fill(self, out: Any) -> None:
        out[...] = 0

    def words(self, n: int) -> Any:
        return np.array([self.choose([0.5, 0.5]) for _ in range(n)], np.uint64)

    def choose(self, chances: list[float]) -> int:
        """Return the outcome of this branch, one of those that are possible."""
        if self.at == len(self.taken):
            self.taken.append((0, [i for i, chance in enumerate(chances) if chance > 0]))
        number, possible = self.taken[self.at]
        self.at += 1
        self.chance *= chances[possible[number]]
        if self.chance < RARE:
            raise TooRareError
        return possible[number]

    def next(self) -> bool:
        """Go on to the next branch; False after the last one."""
        del self.taken[self.at :]
        while self.taken:
            number, possible = self.taken.pop()
            if number + 1 < len(possible):
                self.taken.append((number + 1, possible))
                self.at, self.chance = 0, 1.0
                return True
        return False


def coin(number: Any, bits: Branches) -> bool:
    low, high = number.bounds()
    return bits.choose([1 - (low + high) / 2, (low + high) / 2]) == 1


def compare(words: Any, low: Any, high: Any, exactly: Callable[[int], Any], bits: Branches) -> Any:
    """As the package's, but for each word an outcome; the bounds that it is given must hold its probability."""
    least = np.broadcast_to(np.asarray(low), words.shape).ravel()
    most = least if high is None else np.broadcast_to(np.asarray(high), words.shape).ravel()
    found = np.zeros(words.size, np.bool_)
    for i in range(words.size):
        number = exactly(i)
        below, above = number.bounds()
        assert int(least[i]) <= math.floor(above * 2**32)
        assert math.floor(below * 2**32) <= int(most[i])
        found[i] = coin(number, bits)
    return found.reshape(words.shape)


def uniform_below(limits: Any, size: int, bits: Branches) -> Any:
    each = np.broadcast_to(np.asarray(limits), (size,)).tolist()
    return np.array([bits.choose([1 / limit] * limit) for limit in each], np.int64)


@pytest.fixture(autouse=True)
def _branching(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (_bernoulli, _geometric, _cut_geometric):
        monkeypatch.setattr(module, "compare", compare)
    monkeypatch.setattr(_geometric, "settle", lambda number, prefix, width, bits: coin(number, bits))
    for module in (_norm, _noisy_max):
        monkeypatch.setattr(module, "uniform_below", uniform_below)


def geometric(up: float, down: float) -> Callable[[int], float]:
    a, b = math.exp(-up), math.exp(-down)
    return lambda k: (1 - a) * (1 - b) / (1 - a * b) * (a**k if k >= 0 else b**-k)


def above(law: Callable[[int], float], k: int) -> float:
    return sum(law(i) for i in range(k, k + 100))


def plain(values: Any) -> tuple[int, ...]:
    return tuple(np.ravel(values).tolist())


def two_counts(z: Any) -> float:
    law = geometric(4, 3)
    return law(z[0] - 3) * law(z[1] - 10)


def cut(z: Any) -> float:
    return math.exp(-2 * abs(z[0])) / sum(math.exp(-2 * abs(k)) for k in range(-2, 3))


def cube(z: Any) -> float:
    points = sum(((2 * r + 1) ** 2 - max(2 * r - 1, 0) ** 2) * math.exp(-3 * r) for r in range(40))
    return math.exp(-3 * max(map(abs, z))) / points


def named(z: Any, counts: tuple[int, ...] = (5, 5, 4)) -> float:
    left, chance = list(range(len(counts))), 1.0
    for one in z:
        heads = {i: math.exp((counts[i] - max(counts[j] for j in left)) / 2) for i in left}
        total = 0.0
        for order in itertools.permutations(left):
            before = order[: order.index(one)]
            total += math.prod(1 - heads[i] for i in before) * heads[one] / math.factorial(len(left))
        chance, left = chance * total, [i for i in left if i != one]
    return chance


def patterns(z: Any) -> float:
    law = geometric(6, 6)
    return sum(
        law(moved)
        * math.prod(
            above(law, gap + moved + 1) if word == "above" else 1 - above(law, gap + moved + 1)
            for gap, word in zip((0, 0), z, strict=True)
            if word is not None
        )
        for moved in range(-12, 13)
    )


def sampled(z: Any) -> float:
    """Persons a at places 0 and 1, b at place 1; one coin decides about both visits of a."""
    kept, law = 1 - math.exp(-8), geometric(math.log1p(math.exp(8)) / 2, math.inf)
    return sum(
        math.prod(kept if coin else 1 - kept for coin in (a, b)) * law_at(law, z[0] - a) * law_at(law, z[1] - a - b)
        for a, b in itertools.product((0, 1), repeat=2)
    )


def law_at(law: Callable[[int], float], k: int) -> float:
    return law(k) if k >= 0 else 0.0


def with_stops(z: Any) -> float:
    law, chance, stopped = geometric(2, math.inf), 1.0, False
    for said, count, most in zip(z, (0, 1, 2), (1, 0, 2), strict=True):
        if stopped:
            assert said is None
        elif said == "safe":
            chance *= 1 - above(law, most + 1 - count) if most + 1 > count else 0.0
        else:
            chance, stopped = chance * law_at(law, said - count) * (said > most), True
    return chance


def said_of(answers: Any) -> tuple[Any, ...]:
    rows = zip(answers.safe.tolist(), answers.answered.tolist(), answers.count.tolist(), strict=True)
    return tuple("safe" if safe else count if answered else None for safe, answered, count in rows)


def said_above(answers: Any) -> tuple[Any, ...]:
    rows = zip(answers.answered.tolist(), answers.above.tolist(), strict=True)
    return tuple(("above" if above else "below") if answered else None for answered, above in rows)


LAWS: dict[str, tuple[Callable[[Bits], tuple[Any, ...]], Callable[[Any], float]]] = {
    "two counts": (lambda b: plain(mechanism.Geometric(lw.Line(3, 4)).noisy([3, 10], b)), two_counts),
    "cut": (lambda b: plain(CutGeometric(2, 2, both_ways=True).sample(1, b)), cut),
    "norm": (lambda b: plain(NormNoise("3", 2, one_sided=False).sample(1, b)), cube),
    "two names of three": (lambda b: plain(mechanism.NoisyMax("1/2", how_many=2).release([5, 5, 4], b)), named),
    "sparse vector": (
        lambda b: said_above(mechanism.SparseVector(12, at_most=[1, 2], monotonic=True).release([1, 2], b)),
        patterns,
    ),
    "subsampled": (
        lambda b: plain(
            mechanism.SubsampledCount(8, places_per_person=2).release_visits(
                ["a", "b", "a"], [0, 1, 1], places=2, bits=b
            )
        ),
        sampled,
    ),
    "with stops": (
        lambda b: said_of(mechanism.Sanitized(lw.Line(inf, 2), at_most=[1, 0, 2]).release([0, 1, 2], b)),
        with_stops,
    ),
    "one draw": (lambda b: plain(DirectedGeometric("1/2", 3).sample(1, b)), lambda z: geometric(0.5, 3)(z[0])),
}


@pytest.mark.parametrize("name", LAWS)
def test_all_outcomes_of_all_coins_have_the_probability_that_the_law_says(name: str) -> None:
    draw, law = LAWS[name]
    bits, masses, lost = Branches(), dict[Any, float](), 0.0
    for _ in range(200_000):
        try:
            drawn = draw(bits)
            masses[drawn] = masses.get(drawn, 0.0) + bits.chance
        except TooRareError:
            lost += bits.chance
        if not bits.next():
            break
    else:
        pytest.fail("the branches have no end")
    assert sum(masses.values()) + lost == pytest.approx(1, abs=1e-12)
    assert lost < 0.02
    for drawn, mass in masses.items():
        assert mass <= law(drawn) * (1 + 1e-9) <= (mass + lost) * (1 + 1e-8)
