"""Planar noise: its normaliser against adding up points, its draws against its law, and broken samplers, caught."""

from __future__ import annotations

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.noise.scripted import Scripted
from tests.oracle.planar import sums, window
from tests.statistical.gof import rejects

from leeward.errors import InexactError, InputError, NoiseError
from leeward.exact import Exact, exp_minus, inf, log, sqrt
from leeward.noise import DirectedGeometric, PlanarNoise, SeededBitsForTests

DRAWS = 200_000


def near(value: Any, expected: Any, digits: int) -> bool:
    return bool(
        abs(mpmath.mpf(value.arb(200).mid().str(50, radius=False)) - expected) < expected * mpmath.mpf(10) ** -digits
    )


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("rate", "radius"), [("3/4", 140), ("1.99", 60), ("2.01", 60), ("7", 20)])
def test_normaliser_and_mean_agree_with_adding_up_points(rate: str, radius: int, norm: Any) -> None:
    law = PlanarNoise(rate, norm)
    with mpmath.workdps(60):
        number = mpmath.mpf(3) / 4 if rate == "3/4" else mpmath.mpf(rate)
        total, first = sums(number, norm, radius)
        assert near(law.normaliser, total, 40)
        assert near(law.mean_length(), first / total, 38)
        assert near(law.pmf((0, 0)), 1 / total, 40)
        away = 5 if norm == "euclidean" else 7
        assert near(law.pmf((-3, 4)), mpmath.exp(-number * away) / total, 40)
    low, high = law.normaliser.bounds()
    assert low < float(total) < high
    assert high - low < 1e-14 * high


@pytest.mark.parametrize("rate", [log(2) / 20, log(2) / 200])
def test_a_fine_grid_is_nearly_the_plane(rate: Any) -> None:
    law, number = PlanarNoise(rate), float(rate)
    assert float(law.normaliser) == pytest.approx(2 * math.pi / number**2, rel=number**2)
    assert float(law.mean_length()) == pytest.approx(2 / number, rel=number**2)
    if number > 0.03:
        quadrant = np.arange(0, int(40 / number))
        away = np.sqrt(quadrant[1:, None] ** 2.0 + quadrant[None] ** 2)
        assert float(law.normaliser) == pytest.approx(1 + 4 * math.fsum(np.exp(-number * away).ravel()), rel=1e-12)


@pytest.mark.parametrize("rate", ["1/100", "1/2", "1", "2.2", "3", "5", "12"])
def test_at_least_seventy_three_hundredths_of_the_candidates_are_kept(rate: str) -> None:
    law = PlanarNoise(rate)
    half = float(law.rate) / math.sqrt(2) / 2
    kept = float(law.normaliser) * math.tanh(half) ** 2  # Σ q(z)·e^{−x} = Z·q(0)
    assert 0.73 <= kept <= 1
    assert rate != "1/100" or kept == pytest.approx(math.pi / 4, rel=1e-4)


def test_the_coin_of_a_candidate_is_exact() -> None:
    law = PlanarNoise(log(2) / 7)
    assert law._chance(3, -3) == law._chance(0, 0) == 1
    assert law._chance(0, 5) == exp_minus(log(2) / 7 * (5 - 5 / sqrt(2)))
    assert law._chance(3, 4) * exp_minus(law.rate * 7 / sqrt(2)) == law.weight((3, 4))


def test_a_word_on_the_edge_is_settled_by_the_exact_coin() -> None:
    """The first word equals the floor of 2³²·p: what is drawn next decides, against exact digits and not a float's."""
    law = PlanarNoise("1")
    with mpmath.workdps(60):
        exactly = int(mpmath.floor(mpmath.exp(5 / mpmath.sqrt(2) - 5) * 2**96))
    point = np.array([[0, 5]])
    tie = np.array([exactly >> 64], np.uint32)
    rest = exactly & (2**64 - 1)
    for more, kept in ((rest - 1, True), (rest + 1, False)):
        assert law._keep(point, Scripted(tie, more)).tolist() == [kept]
    assert law._keep(np.array([[4, -4], [0, 0]]), Scripted(np.array([2**32 - 1] * 2, np.uint32))).tolist() == [
        True,
        True,
    ]


# ---- draws


def counted(sample: np.ndarray, radius: int) -> np.ndarray:
    side = 2 * radius + 1
    inside = (np.abs(sample) <= radius).all(axis=1)
    at = sample[inside] + radius
    return np.append(np.bincount(at[:, 0] * side + at[:, 1], minlength=side * side), (~inside).sum())


def why_not(sample: np.ndarray, rate: float, norm: str, radius: int = 4) -> str | None:
    """Why a sample is not from the law; a right sampler is rejected with probability below 10⁻⁶."""
    law = window(rate, norm, radius, far=max(60, int(40 / rate))).ravel()
    return rejects(counted(sample, radius), np.append(law, 1 - law.sum()), len(sample))


@pytest.mark.statistical
@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize("rate", ["1/2", "2"])
def test_draws_have_the_law(rate: str, norm: Any) -> None:
    law = PlanarNoise(rate, norm)
    sample = law.sample(DRAWS, SeededBitsForTests(1))
    assert sample.shape == (DRAWS, 2)
    assert why_not(sample, float(law.rate), norm) is None


@pytest.mark.statistical
def test_draws_of_a_fine_grid_have_the_law_in_rings_and_sectors() -> None:
    """Rings that hold a tenth each of Gamma(2), in eight sectors: at this rate the grid changes a cell by under 10⁻⁴."""
    law = PlanarNoise(log(2) / 200)
    sample = law.sample(DRAWS, SeededBitsForTests(2)).astype(float)
    away = np.hypot(*sample.T) * float(law.rate)
    edges = [0.5, 1, 1.5, 2, 3, 4, 6]
    share = np.diff([0, *(1 - math.exp(-r) * (1 + r) for r in edges), 1])
    sector = ((np.arctan2(sample[:, 1], sample[:, 0]) + math.pi / 8) // (math.pi / 4)).astype(int) % 8
    counts = np.bincount(np.searchsorted(edges, away) * 8 + sector, minlength=8 * len(share))
    assert rejects(counts, np.repeat(share / 8, 8), DRAWS) is None
    assert float(law.mean_length()) == pytest.approx(np.hypot(*sample.T).mean(), rel=0.01)


def no_rejection(rate: float, rng: np.random.Generator) -> np.ndarray:
    """The candidates as they are: P(z) ∝ e^{−rate·‖z‖₁/√2}."""
    assert rng is not None
    law = DirectedGeometric(sqrt(2) / 4, sqrt(2) / 4)
    assert float(law.up) == pytest.approx(rate / math.sqrt(2))
    return law.sample(2 * DRAWS, SeededBitsForTests(3)).reshape(-1, 2)


def too_sharp(rate: float, rng: np.random.Generator) -> np.ndarray:
    """The rate 10 % too high."""
    assert rng is not None
    return PlanarNoise(str(round(rate * 1.1, 12))).sample(DRAWS, SeededBitsForTests(3))


def rounded_polar(rate: float, rng: np.random.Generator) -> np.ndarray:
    """What most tools do: a float radius and angle, rounded to the grid."""
    radius, angle = rng.gamma(2, 1 / rate, DRAWS), rng.uniform(0, 2 * math.pi, DRAWS)
    return np.round(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])).astype(np.int64)


def truncated_polar(rate: float, rng: np.random.Generator) -> np.ndarray:
    """The same, with the coordinates cut towards 0: returns the true position far too often."""
    radius, angle = rng.gamma(2, 1 / rate, DRAWS), rng.uniform(0, 2 * math.pi, DRAWS)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]).astype(np.int64)


def diagonals_lost(rate: float, rng: np.random.Generator) -> np.ndarray:
    """A coin that treats the diagonals like their neighbours, because the exponent 0 was rounded."""
    sample = PlanarNoise(str(rate)).sample(DRAWS * 2, SeededBitsForTests(3))
    diagonal = np.abs(sample[:, 0]) == np.abs(sample[:, 1])
    return sample[~diagonal | (rng.random(len(sample)) < 0.9)][:DRAWS]


@pytest.mark.statistical
@pytest.mark.parametrize("broken", [no_rejection, too_sharp, rounded_polar, truncated_polar, diagonals_lost])
def test_broken_samplers_are_caught(broken: Any) -> None:
    sample = broken(0.5, np.random.default_rng(4))
    assert why_not(sample, 0.5, "euclidean") is not None


@pytest.mark.statistical
@pytest.mark.parametrize("rate", ["1/20", "1/2", "3"])
def test_the_true_position_comes_out_as_often_as_the_law_says_and_no_more(rate: str) -> None:
    law = PlanarNoise(rate)
    still = (law.sample(DRAWS, SeededBitsForTests(5)) == 0).all(axis=1).sum()
    assert rejects([int(still)], [float(law.pmf((0, 0)))], DRAWS) is None
    assert rejects([int(still) + DRAWS // 50], [float(law.pmf((0, 0)))], DRAWS) is not None


def test_one_draw_and_none() -> None:
    law = PlanarNoise("1/10")
    assert law.sample(0, SeededBitsForTests(6)).shape == (0, 2)
    assert law.sample(1, SeededBitsForTests(6)).shape == (1, 2)
    many = law.sample(300_000, SeededBitsForTests(6))  # more than are drawn at once
    assert len(np.unique(many[:1000], axis=0)) > 500


@pytest.mark.parametrize(
    ("rate", "norm", "error"),
    [
        (0.5, "euclidean", InexactError),
        (0, "euclidean", InputError),
        (-1, "manhattan", InputError),
        (inf, "euclidean", NoiseError),
        (2**512 + 1, "euclidean", NoiseError),
        ("1e400", "manhattan", NoiseError),
        ("0.000000000000000001", "euclidean", NoiseError),
        ("1", "chebyshev", InputError),
    ],
)
def test_refusals(rate: Exact, norm: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        PlanarNoise(rate, norm)


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
def test_noise_of_the_largest_rate_is_none(norm: Any) -> None:
    assert (PlanarNoise(2**512, norm).sample(1000, SeededBitsForTests(7)) == 0).all()
