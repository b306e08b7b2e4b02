"""Series of readings: each noise against each distance, on both sides of the knife edge; totals and the trap in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import Derived, DirectedDistance, Line
from leeward.errors import InputError
from leeward.exact import Exact, exact, log
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.mechanism._norm import BEYOND
from leeward.mechanism._series import WIDEST_NORM, Between, SeriesMechanism, SeriesNoise
from leeward.noise import Bits, SeededBitsForTests
from leeward.verification import verify

EPSILON = exact("2/3")


def windows(readings: int, top: int = 2) -> list[tuple[int, ...]]:
    return list(itertools.product(range(top + 1), repeat=readings))


# the three distances, written out here so as not to lean on the mechanism's own


def maximum(rate: Exact) -> DirectedDistance[Any]:
    return Derived("max", lambda x, y: exact(rate) * max(abs(a - b) for a, b in zip(x, y, strict=True)))


def manhattan(rate: Exact) -> DirectedDistance[Any]:
    return Derived("sum", lambda x, y: exact(rate) * sum(abs(a - b) for a, b in zip(x, y, strict=True)))


def hamming(rate: Exact) -> DirectedDistance[Any]:
    return Derived("count", lambda x, y: exact(rate) * sum(a != b for a, b in zip(x, y, strict=True)))


def assert_exactly(matrix: FiniteMechanism, distance: DirectedDistance[Any]) -> None:
    """Private at the distance with a pair that meets it, and not private a thousandth below."""
    found = verify(matrix, distance.on(matrix.inputs))
    assert found, str(found)
    assert found.tight, str(found)
    assert verify(matrix, distance.scale("0.999").on(matrix.inputs)).outcome == "not private"


@pytest.mark.parametrize("readings", [1, 2, 3])
@pytest.mark.parametrize("noise", ["norm", "independent"])
def test_the_maximum_distance_is_met_exactly(readings: int, noise: SeriesNoise) -> None:
    mechanism = SeriesMechanism("maximum", EPSILON, window=readings, noise=noise)
    matrix = mechanism.on(windows(readings, 2 if readings < 3 else 1))
    assert_exactly(matrix, maximum(EPSILON))
    assert_exactly(matrix, manhattan(mechanism.price().readings))
    assert mechanism.price().window == EPSILON
    assert mechanism.price().readings == (EPSILON if noise == "norm" else EPSILON / readings)


@pytest.mark.parametrize("readings", [2, 3])
def test_noise_on_each_reading_is_private_for_the_sum_but_n_times_weaker_for_the_maximum(readings: int) -> None:
    # d-privacy's Example 2 draws noise of rate ε on every reading and claims ε·d_∞
    mechanism = SeriesMechanism("manhattan", EPSILON, window=readings)
    matrix = mechanism.on(windows(readings, 2 if readings < 3 else 1))
    assert_exactly(matrix, manhattan(EPSILON))
    assert_exactly(matrix, maximum(EPSILON * readings))
    assert verify(matrix, maximum(EPSILON).on(matrix.inputs)).exact_scale == readings
    assert mechanism.price().window == EPSILON * readings


def test_the_hamming_baseline_hides_any_change_of_a_reading() -> None:
    mechanism = SeriesMechanism("hamming", EPSILON, window=2, width=3)
    matrix = mechanism.on(windows(2, 3))
    assert_exactly(matrix, hamming(EPSILON))
    assert_exactly(matrix, manhattan(mechanism.price().readings))
    assert_exactly(matrix, maximum(mechanism.price().window))
    # readings that were not moved to the public range first would not be hidden
    beyond = mechanism.on(windows(2, 4))
    assert verify(beyond, hamming(EPSILON).on(beyond.inputs)).outcome == "not private"


def test_prices_count_units_and_noise_counts_steps() -> None:
    mechanism = SeriesMechanism("maximum", EPSILON, window=2, step="1/2")
    matrix = mechanism.on(windows(2))
    assert_exactly(matrix, maximum(EPSILON / 2))
    assert mechanism.distance((0, 0), (2, 1)) == EPSILON  # two steps of a half
    assert mechanism.price().window == EPSILON


@pytest.mark.parametrize("noise", ["norm", "independent"])
def test_windows_add_up(noise: SeriesNoise) -> None:
    mechanism = SeriesMechanism("maximum", EPSILON, window=2, noise=noise)
    one = mechanism.on(windows(2, 1))
    both = FiniteMechanism.product([one, one])

    def longest(x: Any, y: Any) -> Any:
        return EPSILON * max(
            abs(a - b) for before, after in zip(x, y, strict=True) for a, b in zip(before, after, strict=True)
        )

    price = mechanism.price(2).total / EPSILON
    assert price == 2
    assert_exactly(both, Derived("max of all", longest).scale(price))


def test_dropping_the_noise_of_a_reading_that_is_missing_costs_nothing() -> None:
    whole = SeriesMechanism("maximum", EPSILON, window=3).on([(a, b, 0) for a, b in windows(2)])
    seen = whole.then(lambda z: z if z == BEYOND else z[:2])
    assert verify(seen, Derived("max of two", lambda x, y: maximum(EPSILON)(x[:2], y[:2])).on(whole.inputs))


# ---- totals


def total_matrix(law: Geometric, secrets: list[Any], most: int) -> FiniteMechanism:
    return law.on(range(most + 1)).pull_back(secrets, lambda x: int(np.sum(x)))


@pytest.mark.parametrize(
    ("between", "distance"), [("maximum", maximum), ("manhattan", manhattan), ("hamming", hamming)]
)
@pytest.mark.parametrize("readings", [1, 2, 3])
def test_a_total_meets_each_distance_exactly(between: Between, distance: Any, readings: int) -> None:
    top = 2
    law = SeriesMechanism(between, EPSILON, window=readings, noise="independent", width=top).total(readings)
    assert_exactly(total_matrix(law, windows(readings, top), readings * top), distance(EPSILON))


@pytest.mark.parametrize("readings", [2, 3])
def test_the_trap_a_total_with_noise_for_one_reading(readings: int) -> None:
    # under d_∞ all readings may move: noise of rate ε, right under d_1, is n times too weak
    trap = SeriesMechanism("manhattan", EPSILON, window=readings).total(readings)
    matrix = total_matrix(trap, windows(readings), readings * 2)
    found = verify(matrix, maximum(EPSILON).on(matrix.inputs))
    assert found.outcome == "not private"
    assert found.exact_scale == readings


def test_a_total_of_a_feeder_needs_no_more_than_a_total_of_one_meter() -> None:
    # two meters of two readings; the distance between sets of series is the sum over meters
    secrets = list(itertools.product(windows(2, 1), repeat=2))
    law = SeriesMechanism("maximum", EPSILON, window=2).total(2)
    meters = Derived("sum over meters", lambda x, y: maximum(EPSILON)(x[0], y[0]) + maximum(EPSILON)(x[1], y[1]))
    assert_exactly(total_matrix(law, secrets, 4), meters)


# ---- errors


@pytest.mark.parametrize("rate", ["1", "1/10", "1/100"])
@pytest.mark.parametrize("window", [1, 2, 5, 24])
def test_the_quick_mean_error_is_the_exact_one(window: int, rate: str) -> None:
    for noise in ("norm", "independent"):
        mechanism = SeriesMechanism("maximum", rate, window=window, noise=noise, step="1/4")
        assert mechanism.typical_error() == pytest.approx(float(mechanism.expected_error()) / 4, rel=1e-9)


def test_norm_noise_is_off_by_half_as_much_as_noise_on_each_reading() -> None:
    rate = "1/1000"
    errors = {
        noise: SeriesMechanism("maximum", rate, window=60, noise=noise).typical_error()
        for noise in ("norm", "independent")
    }
    assert errors["norm"] == pytest.approx(61 / 2 * 1000, rel=1e-4)
    assert errors["independent"] == pytest.approx(60 * 1000, rel=1e-4)


def test_the_error_of_a_total() -> None:
    law = SeriesMechanism("maximum", "1/10", window=6).total(6)
    assert float(law.expected_error()) == pytest.approx(1 / np.sinh(1 / 60))


# ---- the sampler


def sampler(mechanism: SeriesMechanism, matrix: FiniteMechanism) -> Sampler:
    known = set(matrix.outputs)
    flat = [z for z in matrix.outputs if z != BEYOND]
    low, high = min(map(min, flat)), max(map(max, flat))

    def sample(truth: Any, size: int, bits: Bits) -> list[Any]:
        noisy = mechanism.release(np.tile(truth, (size, 1)), bits)
        if mechanism.noise == "independent":  # the matrix merges what lies beyond the truths, reading by reading
            noisy = np.clip(noisy, low, high)
        drawn = map(tuple, noisy.tolist())
        return [z if z in known else BEYOND for z in drawn]

    return sample


def cases() -> Iterator[Case]:
    for between, noise in (("maximum", "norm"), ("maximum", "independent"), ("manhattan", "independent")):
        mechanism = SeriesMechanism(between, log(2), window=2, noise=noise)
        matrix = mechanism.on(windows(2))
        sharper = SeriesMechanism(between, log(2) * "5/4", window=2, noise=noise)
        yield Case(
            f"{between}, {noise}",
            matrix,
            mechanism.distance.on(windows(2)),
            sampler(mechanism, matrix),
            sampler(sharper, matrix),
            draws=20_000,
        )


class TestSeriesMechanism(MechanismConformance):
    cases: ClassVar = list(cases())


def test_windows_keep_their_shape_and_their_truth_over_blocks() -> None:
    mechanism = SeriesMechanism("maximum", 400, window=128)  # some noise: chance 5000·3^128·e^-400
    truth = np.arange(5 * 1000 * 128).reshape(5, 1000, 128)
    assert (mechanism.release(truth, SeededBitsForTests(3)) == truth).all()


# ---- what is refused


@pytest.mark.parametrize(
    "given",
    [
        {"between": "euclid", "epsilon": 1},
        {"between": "maximum", "epsilon": 1, "window": 0},
        {"between": "maximum", "epsilon": 1, "window": True},
        {"between": "manhattan", "epsilon": 1, "noise": "norm"},
        {"between": "maximum", "epsilon": 1, "noise": "gauss"},
        {"between": "maximum", "epsilon": 1, "noise": "norm", "window": WIDEST_NORM + 1},
        {"between": "hamming", "epsilon": 1},
        {"between": "maximum", "epsilon": 0},
        {"between": "maximum", "epsilon": 0.5},
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        SeriesMechanism(**given)


def test_windows_of_another_length_and_open_boxes_are_refused() -> None:
    with pytest.raises(InputError, match="Windows"):
        SeriesMechanism("maximum", 1, window=3).release([[1, 2]])
    with pytest.raises(InputError, match="box"):
        SeriesMechanism("manhattan", 1, window=2).on([(0, 0), (1, 1)])
    with pytest.raises(InputError, match="total"):
        SeriesMechanism("manhattan", 1).total(0)


def test_a_long_window_takes_independent_noise_by_itself() -> None:
    assert SeriesMechanism("maximum", 1, window=WIDEST_NORM).noise == "norm"
    assert SeriesMechanism("maximum", 1, window=WIDEST_NORM + 1).noise == "independent"
    assert SeriesMechanism("maximum", 1).law.line == Line(1, 1)
