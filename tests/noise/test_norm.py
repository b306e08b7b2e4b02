"""Norm noise: exact figures against enumeration of shells, the sampler against the law, broken samplers rejected."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.noise.scripted import Scripted
from tests.statistical.gof import rejects

from leeward.errors import InexactError, InputError, NoiseError
from leeward.exact import Weight, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.noise import NormNoise, SeededBitsForTests, SystemBits, _norm
from leeward.noise._saturating import MOST

CASES = [(n, one_sided) for n in (1, 2, 3) for one_sided in (True, False)]


def decimal(w: Weight) -> mpmath.mpf:
    return mpmath.mpf(w.arb(200).mid().str(40, radius=False))


def shells(n: int, one_sided: bool, rate: mpmath.mpf) -> Iterator[tuple[int, mpmath.mpf]]:
    """The radius law by summing shells counted as cubes less the cubes inside them."""
    most = int(120 / rate)
    counts = [(r + 1) ** n - r**n if one_sided else (2 * r + 1) ** n - max(2 * r - 1, 0) ** n for r in range(most)]
    weights = [count * mpmath.exp(-rate * r) for r, count in enumerate(counts)]
    total = mpmath.fsum(weights)
    yield from ((r, w / total) for r, w in enumerate(weights))


@pytest.mark.parametrize(("n", "one_sided"), CASES)
def test_the_law_of_the_radius_is_that_of_its_shells(n: int, one_sided: bool) -> None:
    noise = NormNoise("1/2", n, one_sided=one_sided)
    with mpmath.workprec(160):
        law = list(shells(n, one_sided, mpmath.mpf(1) / 2))
        for r, p in law[:8]:
            assert abs(decimal(noise.radius_pmf(r)) - p) < 1e-25
        assert abs(decimal(noise.radius_mean()) - sum(r * p for r, p in law)) < 1e-25
    assert noise.radius_pmf(-1) == 0


@pytest.mark.parametrize(("n", "one_sided"), CASES)
def test_a_shell_has_as_many_points_as_can_be_counted(n: int, one_sided: bool) -> None:
    noise = NormNoise(1, n, one_sided=one_sided)
    for r in range(4):
        cube = itertools.product(range(0 if one_sided else -r, r + 1), repeat=n)
        assert noise.shell(r) == sum(max(map(abs, z)) == r for z in cube)


@pytest.mark.parametrize(("n", "one_sided"), CASES)
def test_a_point_has_the_share_of_its_shell(n: int, one_sided: bool) -> None:
    noise = NormNoise("1/2", n, one_sided=one_sided)
    for r in (0, 1, 3):
        point = (r, *[0] * (n - 1))
        assert noise.pmf(point) * noise.shell(r) == noise.radius_pmf(r)
        assert noise.pmf(point) == noise.pmf((0,) * n) * exp_minus(Fraction(r, 2))
    assert (noise.pmf((-1,) * n) == 0) is one_sided


@pytest.mark.parametrize(("n", "one_sided"), [(1, False), (2, True), (2, False), (3, True), (3, False)])
def test_one_coordinate_by_summing_over_shells(n: int, one_sided: bool) -> None:
    """Given the radius r, a coordinate's law is counted: points of the shell with that coordinate at most k."""
    noise = NormNoise(1, n, one_sided=one_sided)
    marginal = noise.marginal()

    def inside(r: int, k: int) -> int:  # points of the cube of radius r whose first coordinate is at most k
        low, side = (0, r + 1) if one_sided else (-r, 2 * r + 1)
        return max(0, min(k, r) - low + 1) * int(side ** (n - 1)) if r >= 0 else 0

    with mpmath.workprec(160):
        law = [(r, p / noise.shell(r)) for r, p in shells(n, one_sided, mpmath.mpf(1)) if r < 90]
        values = {
            k: mpmath.fsum(p * (inside(r, k) - inside(r - 1, k)) for r, p in law)
            for k in range(-1 if one_sided else -90, 91)
        }
        for k in (-4, -1, 0, 1, 2, 7):
            value = values.get(k, mpmath.mpf(0))
            assert abs(decimal(marginal.cdf(k)) - value) < 1e-25, k
            assert abs(decimal(marginal.tail(k + 1)) - (1 - value)) < 1e-25, k
            assert abs(decimal(marginal.pmf(k)) - (value - values.get(k - 1, mpmath.mpf(0)))) < 1e-25, k
        for p in ("0.01", "1/2", "0.9"):
            assert marginal.quantile(p) == next(k for k, value in values.items() if value >= decimal(weight(p)))
        steps = {k: value - values[k - 1] for k, value in values.items() if k - 1 in values}
        mean = mpmath.fsum(k * p for k, p in steps.items())
        assert abs(decimal(marginal.mean()) - mean) < 1e-25
        assert abs(decimal(marginal.mean_absolute()) - mpmath.fsum(abs(k) * p for k, p in steps.items())) < 1e-25
        assert abs(decimal(marginal.variance()) - mpmath.fsum((k - mean) ** 2 * p for k, p in steps.items())) < 1e-25


@pytest.mark.parametrize("one_sided", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("rate", ["1/1000", "1/7", "3"])
def test_the_tail_of_one_coordinate_by_adding_up_cubes(rate: str, n: int, one_sided: bool) -> None:
    """In floats, all terms of one sign: a cube of radius R has edge − (k or 2k − 1) of its edge at k and beyond."""
    marginal, each = NormNoise(rate, n, one_sided=one_sided).marginal(), float(Fraction(rate))
    radius = np.arange(int(150 / each))
    edge = radius + 1.0 if one_sided else 2 * radius + 1.0
    weights = (edge / edge[-1]) ** (n - 1) * np.exp(-each * radius)
    for k in (1, 2, 30, 1000, 9000):
        beyond = (edge - (k if one_sided else 2 * k - 1))[k:]
        right = (beyond * weights[k:]).sum() / (edge * weights).sum() / (1 if one_sided else 2)
        assert float(marginal.tail(k)) == pytest.approx(right, rel=1e-9, abs=1e-40), k


@pytest.mark.parametrize("one_sided", [True, False])
def test_far_out_it_costs_no_more_work(one_sided: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By exponentials counted: to add up the cubes inside takes one for each of k radii, and k is about n/rate."""
    taken: list[object] = []
    monkeypatch.setattr(_norm, "exp_minus", lambda x: (taken.append(x), exp_minus(x))[1])
    for rate in ("1/10", "1e-9", Fraction(1, 2**50)):
        taken.clear()
        marginal = NormNoise(rate, 3, one_sided=one_sided).marginal()
        k = marginal.quantile("0.95")
        assert marginal.cdf(k) >= "0.95" > marginal.cdf(k - 1)
        assert len(taken) < 10 * 2 * (k.bit_length() + 4), rate


def test_one_coordinate_of_one_is_the_geometric_law() -> None:
    from leeward.noise import DirectedGeometric

    for one_sided, law in ((True, DirectedGeometric(1, inf)), (False, DirectedGeometric(1, 1))):
        marginal = NormNoise(1, 1, one_sided=one_sided).marginal()
        for k in range(-3, 4):
            assert (marginal.pmf(k), marginal.cdf(k)) == (law.pmf(k), law.cdf(k))
            assert not 0 < law.cdf(k) < 1 or marginal.quantile(law.cdf(k)) == k, "also where it is met exactly"
        assert marginal.mean_absolute() == law.mean_absolute()
        assert marginal.variance() == law.variance()
        assert (marginal.up, marginal.down) == (law.up, law.down)


@pytest.mark.parametrize(("n", "share"), [(2, 0.75), (5, 0.60), (10, 0.55)])
@pytest.mark.parametrize("one_sided", [True, False])
def test_the_mean_error_is_about_n_plus_1_over_2_epsilon(n: int, share: float, one_sided: bool) -> None:
    error = NormNoise("0.001", n, one_sided=one_sided).marginal().mean_absolute()
    assert float(error) / (n / 0.001) == pytest.approx(share, abs=5e-4)


def test_three_places_at_one_half() -> None:
    """D = 3, ε = .5: mean 3.50 against 5.51 of independent noise, and Pr[safe] .472 against .393 at "at most 2"."""
    from leeward.noise import DirectedGeometric

    one, each = NormNoise("1/2", 3, one_sided=True).marginal(), DirectedGeometric.one_sided("1/6")
    assert [round(float(law.mean()), 2) for law in (one, each)] == [3.50, 5.51]
    assert [round(float(law.cdf(2)), 3) for law in (one, each)] == [0.472, 0.393]


# ---- drawing


@pytest.mark.parametrize(("n", "one_sided"), [(1, False), (2, True), (2, False), (3, True)])
@pytest.mark.statistical
def test_the_sampler_draws_from_the_law(n: int, one_sided: bool) -> None:
    """Every point near the origin, and every radius: false alarm below 2e-6 a case."""
    noise, size = NormNoise("1/2", n, one_sided=one_sided), 10_000
    drawn = noise.sample(size, SeededBitsForTests(n))
    assert drawn.shape == (size, n)
    assert rejects(*points(noise, drawn), size) is None
    assert rejects(*radii(noise, drawn), size) is None


def points(noise: NormNoise, drawn: NDArray[np.int64]) -> tuple[list[int], list[float]]:
    near = list(itertools.product(range(-2, 3), repeat=noise.size))
    return [int((drawn == z).all(axis=1).sum()) for z in near], [float(noise.pmf(z)) for z in near]


def radii(noise: NormNoise, drawn: NDArray[np.int64]) -> tuple[list[int], list[float]]:
    counts = np.bincount(np.abs(drawn).max(axis=1), minlength=12)[:12]
    return counts.tolist(), [float(noise.radius_pmf(r)) for r in range(12)]


def one_face_rest_uniform(noise: NormNoise, size: int) -> NDArray[np.int64]:
    """The tempting shell: one coordinate at ±r, the others uniform. It favours corners."""
    rng = np.random.default_rng(0)
    r = np.abs(noise.sample(size, SeededBitsForTests(9))).max(axis=1)
    z = rng.integers(-r[:, None], r[:, None] + 1, (size, noise.size))
    z[np.arange(size), rng.integers(0, noise.size, size)] = r * rng.choice([-1, 1], size)
    return z


def without_the_eulerian_part(noise: NormNoise, size: int) -> NDArray[np.int64]:
    rng = np.random.default_rng(0)
    r = (rng.geometric(1 - np.exp(-0.5), (size, noise.size + 1)) - 1).sum(axis=1)
    return rng.integers(-r[:, None], r[:, None] + 1, (size, noise.size))


@pytest.mark.parametrize("broken", [one_face_rest_uniform, without_the_eulerian_part])
def test_broken_samplers_are_rejected(broken: object) -> None:
    assert callable(broken)
    noise, size = NormNoise("1/2", 2, one_sided=False), 10_000
    assert rejects(*points(noise, broken(noise, size)), size)


@pytest.mark.fresh_entropy
def test_the_sampler_draws_from_the_law_with_system_entropy() -> None:
    """False alarm below 1e-9."""
    noise = NormNoise(log(2), 3, one_sided=False)
    drawn = noise.sample(10_000, SystemBits())
    assert rejects(*points(noise, drawn), 10_000, false_alarm=1e-9) is None


def test_what_64_bits_cannot_hold_stops_and_never_wraps() -> None:
    least = NormNoise(Fraction(1, 2**50), 2, one_sided=False)
    drawn = least.sample(3, Scripted(then=0))
    assert np.abs(drawn).max() <= MOST // 2
    assert drawn.dtype == np.int64


def test_the_exact_case_ln_2() -> None:
    """At rate ln 2 everything is rational: two coordinates, one side: P(0) = (1/2)²/(1 + 1/2) = 1/6."""
    noise = NormNoise(log(2), 2, one_sided=True)
    assert noise.pmf((0, 0)).rational == Fraction(1, 6)
    summed = sum((r * noise.shell(r) * Fraction(1, 6) / 2**r for r in range(400)), Fraction(0))
    assert noise.radius_mean().rational == summed.limit_denominator(99)
    assert noise.pmf((0, 3)) == Fraction(1, 48)


def test_no_draws() -> None:
    assert NormNoise(1, 2, one_sided=True).sample(0, SeededBitsForTests(0)).shape == (0, 2)


@pytest.mark.parametrize(
    ("rate", "size", "error"),
    [
        (0.5, 2, InexactError),
        (0, 2, InputError),
        (inf, 2, NoiseError),
        (Fraction(1, 2**51), 2, NoiseError),
        (1, 0, InputError),
        (1, True, InputError),
    ],
)
def test_what_makes_no_law_is_refused(rate: object, size: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        NormNoise(rate, size, one_sided=True)  # type: ignore[arg-type]


def test_a_point_of_another_size_is_refused() -> None:
    with pytest.raises(InputError, match="Give one for each"):
        NormNoise(1, 2, one_sided=True).pmf((1,))
