"""Samples of geometric noise fit the law, at every kind of rate; each test also rejects broken samplers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.gof import rejects, rejects_law

from leeward.exact import Real, exact, exp, inf, log, sqrt
from leeward.noise import DirectedGeometric, SeededBitsForTests, SystemBits
from leeward.noise._geometric import BinaryDigits

pytestmark = pytest.mark.statistical

N = 200_000
ALARM = 1e-7

RATES: dict[str, Real] = {
    "1": exact(1),
    "ln 3": log(3),
    "2^-10": exact(Fraction(1, 2**10)),
    "2^-30": exact(Fraction(1, 2**30)),
    "2^-50": exact(Fraction(1, 2**50)),
    "ln(1+e^1/2)": log(1 + exp("1/2")),
    "ln2/200": log(2) / 200,
    "3/(10 sqrt2)": exact("3/10") / sqrt(2),
}


def cdf(up: float, down: float) -> Callable[[int], float]:
    """The law in floats, written otherwise than in the package: the share of the negative side, then its geometric decay."""
    a, b = mpmath.exp(-mpmath.mpf(up)), mpmath.exp(-mpmath.mpf(down))
    above, below = a / (1 - a), b / (1 - b)  # the weight of k > 0 and of k < 0 when k = 0 weighs 1
    total = above + 1 + below

    def at(k: int) -> float:
        if k < 0:
            return 0.0 if not below else float(below * mpmath.exp(mpmath.mpf(down) * (k + 1)) / total)
        return float(1 - above * mpmath.exp(-mpmath.mpf(up) * k) / total)

    return at


def edges(up: float, down: float) -> list[int]:
    """About sixty public cut points, equally spaced in probability on each side of 0."""
    shares = np.arange(1, 31) / 31
    sides = [sign * np.floor(-np.log(shares) / rate) for sign, rate in ((1, up), (-1, down)) if np.isfinite(rate)]
    return sorted({int(k) for k in np.concatenate([*sides, [-1, 0]])})


def rejects_digits(sample: NDArray[np.int64], rate: float) -> str | None:
    """Each binary digit, and each pair of neighbouring digits, against probabilities worked out by mpmath."""
    p = [float(1 / (1 + mpmath.exp(mpmath.mpf(rate) * 2**j))) for j in range(62)]
    heads = [int((sample >> j & 1).sum()) for j in range(62)]
    both = [int((sample >> j & sample >> (j + 1) & 1).sum()) for j in range(61)]
    return rejects(heads + both, p + [p[j] * p[j + 1] for j in range(61)], sample.size, ALARM)


def one_sided(rate: Real, seed: int) -> NDArray[np.int64]:
    return DirectedGeometric.one_sided(rate).sample(N, SeededBitsForTests(seed))


@pytest.mark.parametrize("name", RATES)
def test_one_sided_noise_fits_and_broken_noise_does_not(name: str) -> None:
    """False alarm 3e-7 a rate, the streams seeded."""
    rate, s = RATES[name], float(RATES[name])
    law, cut = cdf(s, np.inf), edges(s, np.inf)
    sample = one_sided(rate, 31)
    assert rejects_law(sample, law, cut, ALARM) is None
    assert rejects_digits(sample, s) is None
    assert rejects_law(one_sided(rate * Fraction(11, 10), 32), law, cut, ALARM), "a rate 10 % too high"
    assert rejects_law(-sample, law, cut, ALARM), "the wrong sign"
    assert rejects_law(sample + 1, law, cut, ALARM) or s < 0.01, "a support from 1"
    assert rejects_digits(sample & ~1, s), "digit 0 dropped"
    assert rejects_digits(sample & ~1 | sample >> 1 & 1, s), "digit 0 that copies digit 1"
    downward = DirectedGeometric(inf, rate).sample(N, SeededBitsForTests(38))
    assert rejects_law(-downward, law, cut, ALARM) is None
    assert rejects_law(downward, law, cut, ALARM), "the sign of upward noise"


@pytest.mark.parametrize(("up", "down"), [("1", "1"), ("1", "ln 3"), ("2^-10", "ln2/200"), ("2^-30", "2^-30")])
def test_two_sided_noise_fits_and_broken_noise_does_not(up: str, down: str) -> None:
    """False alarm 1e-7 a pair of rates, seeded."""
    a, b = float(RATES[up]), float(RATES[down])
    law, cut = cdf(a, b), edges(a, b)
    noise = DirectedGeometric(RATES[up], RATES[down])
    sample = noise.sample(N, SeededBitsForTests(33))
    assert rejects_law(sample, law, cut, ALARM) is None
    faster = DirectedGeometric(RATES[up] * Fraction(11, 10), RATES[down])
    assert rejects_law(faster.sample(N, SeededBitsForTests(34)), law, cut, ALARM), "an upward rate 10 % too high"
    steeper = DirectedGeometric(RATES[up], RATES[down] * Fraction(11, 10))
    assert rejects_law(steeper.sample(N, SeededBitsForTests(35)), law, cut, ALARM), "a downward rate 10 % too high"
    if a != b:
        assert rejects_law(-sample, law, cut, ALARM), "the wrong sign"
    signed = one_sided(RATES[up], 36) * np.where(SeededBitsForTests(37).words(N) & np.uint64(1), 1, -1)
    assert rejects_law(signed, law, cut, ALARM) or a < 0.01, "a random sign, which counts 0 twice"


@pytest.mark.sweep
def test_the_tail_counts() -> None:
    """Cut after one digit, so that the tail is drawn often. False alarm 1e-7, seeded."""
    table = BinaryDigits(exact("1/2"), tail_from=1)
    assert table.count == 1
    law, cut = cdf(0.5, np.inf), edges(0.5, np.inf)
    sample = table.sample(N, SeededBitsForTests(41))
    assert rejects_law(sample, law, cut, ALARM) is None
    assert rejects_law(sample & 1, law, cut, ALARM), "the tail dropped"
    assert rejects_law(np.minimum(sample, 3), law, cut, ALARM), "a tail that does not count on"


def test_draws_of_one_release_are_independent() -> None:
    """Neighbouring draws: their sum is that of two geometric variables. False alarm 1e-7, seeded."""
    a = np.exp(-1.0)
    sums = [float((1 - a) ** 2 * a**k * (k + 1)) for k in range(12)]
    sample = one_sided(exact(1), 42)
    total = sample[0::2] + sample[1::2]
    assert rejects(np.bincount(total, minlength=12)[:12], sums, N // 2, ALARM) is None
    twice = 2 * sample[0::2]
    assert rejects(np.bincount(twice, minlength=12)[:12], sums, N // 2, ALARM), "one draw used twice"


@pytest.mark.fresh_entropy
def test_fresh_entropy_fits_too() -> None:
    """Three samples from the system's own entropy. False alarm 6e-9 in all: once in 160 million runs."""
    for rate in ("1", "2^-10", "2^-30"):
        s = float(RATES[rate])
        sample = DirectedGeometric(RATES[rate], inf).sample(N, SystemBits())
        assert rejects_law(sample, cdf(s, np.inf), edges(s, np.inf), 2e-9) is None
