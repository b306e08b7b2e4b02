"""Attack: optimal mechanisms in every unit of loss and over any distance, against the plainest linear program."""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from tests.oracle.least_loss import least_loss

import leeward as lw
from leeward.analysis._optimal._repair import FAR, factor_below
from leeward.errors import InputError
from leeward.exact import exact

INF = math.inf
UNITS = [Fraction(10) ** power for power in (-280, -12, -9, -7, -6, 0, 12, 280)]


def drawn(seed: int) -> tuple[Any, Any, Any, bool]:
    """A closed distance (∞, 0 and hardly more than 0 in it), a loss, a prior, and whether the worst secret counts."""
    rng = random.Random(seed)
    n = rng.randint(1, 4)
    costs = [INF, Fraction(0), Fraction(1, 10**15), Fraction(1, 1000), Fraction(1, 2), Fraction(1), Fraction(2), 900]
    d: list[list[Any]] = [[0 if x == y else rng.choice(costs) for y in range(n)] for x in range(n)]
    for z, x, y in itertools.product(range(n), repeat=3):
        d[x][y] = min(d[x][y], d[x][z] + d[z][y])
    m = rng.choice([n, 1, 2, n + 1])
    loss = [[Fraction(rng.choice([0, 1, 2, 3, 17])) for _ in range(m)] for _ in range(n)]
    weights = [rng.choice([0, 1, 1, 5]) for _ in range(n)]
    weights[0] += not sum(weights)
    return d, loss, [Fraction(w, sum(weights)) for w in weights], rng.random() < 0.3


def is_private(rows: list[list[Fraction]], d: Any) -> bool:
    """Whether rows of fractions keep every ratio within e^d, to 60 digits, and sum to 1."""
    with mpmath.workdps(60):
        for (x, one), (y, other) in itertools.permutations(enumerate(rows), 2):
            if d[x][y] == INF:
                continue
            factor = mpmath.exp(mpmath.mpf(Fraction(d[x][y]).numerator) / Fraction(d[x][y]).denominator)
            for p, q in zip(one, other, strict=True):
                if mpmath.mpf(p.numerator) * q.denominator > factor * q.numerator * p.denominator:
                    return False
    return all(sum(row) == 1 and min(row) >= 0 for row in rows)


@pytest.mark.parametrize("seed", range(24))
def test_the_best_mechanism_is_the_best_in_every_unit_of_loss(seed: int) -> None:
    """Found by a fuzzer: what the solver tolerates is absolute, so that small losses were lost by up to 41 %."""
    d, loss, prior, worst = drawn(seed)
    n, m = len(loss), len(loss[0])
    least = least_loss([[float(cost) for cost in row] for row in d], None if worst else prior, loss)
    far = lw.distance.FiniteDistance(range(n), [[lw.inf if cost == INF else cost for cost in row] for row in d])
    unit = UNITS[seed % len(UNITS)]
    scaled = [[one * unit for one in row] for row in loss]
    found = lw.optimal(range(n), far, "worst" if worst else prior, scaled, guesses=range(m))
    made: Any = found.mechanism
    rows = [[made.probability(x, z).rational or Fraction(0) for z in made.outputs] for x in range(n)]
    assert is_private(rows, d)
    each = [sum(p * loss[x][z] for p, z in zip(rows[x], made.outputs, strict=True)) for x in range(n)]
    exactly = max(each) if worst else sum(p * one for p, one in zip(prior, each, strict=True))
    assert found.loss == exactly * unit
    assert float(exactly) == pytest.approx(least, abs=2e-6)
    assert found.bound / float(unit) <= least + 1e-7


def test_what_is_not_private_is_seen() -> None:
    half, most = Fraction(1, 2), Fraction(1) - Fraction(1, 10**9)
    assert is_private([[half, half], [half, half]], [[0, 0], [0, 0]])
    assert not is_private([[half, half], [1 - most, most]], [[0, 0], [INF, 0]])
    assert not is_private([[Fraction(1), Fraction(0)], [half, half]], [[0, Fraction(693147, 10**6)], [0, 0]])


@pytest.mark.parametrize("unit", UNITS)
def test_the_best_remap_for_the_worst_secret_is_the_same_in_every_unit_of_loss(unit: Fraction) -> None:
    blind = lw.mechanism.FiniteMechanism(["x", "y"], ["z"], [[1], [1]])
    loss = [[0, unit * 3, unit * 2], [unit * 3, 0, unit * 2]]
    found = lw.analysis.remap(blind, "worst", loss, ["x", "y", "m"]).loss
    assert float(found) / float(unit) == pytest.approx(1.5)  # x or y, with one half each


@pytest.mark.parametrize(("rate", "loss"), [("5", "squared"), ("10", "absolute"), ("20", "squared")])
def test_the_best_remap_for_the_worst_secret_is_no_worse_than_none(rate: str, loss: str) -> None:
    """Found by attack: of a precise mechanism it was, by what the solver tolerates of the largest loss."""
    made = lw.mechanism.Geometric(lw.Line(rate, rate), lower=0, upper=10)
    best, plain = lw.analysis.remap(made, "worst", loss).loss, lw.analysis.expected_loss(made, "worst", loss)
    assert float(best) <= float(plain)


@pytest.mark.parametrize(
    ("loss", "least"),
    [
        ([[3 * 10**9, 1, 1], [3, 2, 1]], 1),  # one guess for all
        ([[3 * 10**12, 2, 0], [3, 1, 0]], 0),
        ([[2, 10**20, 0]], 0),
        ([[3, 0, 1], [0, 3 * 10**12, 3]], Fraction(9, 5)),  # the first and the third, drawn
        ([[3, 2 * 10**12, 0], [0, 0, 3]], Fraction(3, 2)),
        (
            [
                [5000, 38 * 10**12, Fraction(66, 10**6), 78 * 10**6],
                [10**6, Fraction(2, 10**6), 0, 0],
                [0, 0, Fraction(1, 10**6), 13],
                [Fraction(1, 10**12), 0, 0, 2],
            ],
            Fraction(66, 10**6),
        ),
    ],
)
def test_the_best_remap_is_not_lost_among_larger_losses(loss: Any, least: Fraction) -> None:
    """Found by attack: where it lost a thousand-millionth of the largest loss, others were taken for it."""
    blind = lw.mechanism.FiniteMechanism(range(len(loss)), ["z"], [[1]] * len(loss))
    found = lw.analysis.remap(blind, "worst", loss, range(len(loss[0]))).loss
    assert float(found) == pytest.approx(float(least), rel=1e-9)


@pytest.mark.parametrize("near", ["1e-330", "1e-15", "1e-9", "1e-6", "1e-5"])
def test_a_distance_that_is_hardly_one_costs_no_more_than_none(near: str) -> None:
    """Secrets at distance 0 promise more, so they can only lose more."""

    def best(d: Any) -> float:
        return float(lw.optimal(range(3), lw.distance.FiniteDistance(range(3), [[0, d, 1], [d, 0, 1], [1, 1, 0]])).loss)

    assert best(near) <= best(0) + 1e-6


@pytest.mark.parametrize("far", [300, 700, 710, 800, 10**6, 10**200])
def test_places_far_apart_are_told_apart_almost_surely(far: int) -> None:
    """Found by hand: e^d beyond what a float holds ended the command with a traceback."""
    found = lw.optimal([(0, 0), (far, 0)], lw.distance.Plane("1"), loss="zero-one")
    assert 0 < float(found.loss) < 1e-17
    assert found.verdict


def test_public_places_far_apart_have_a_best_mechanism() -> None:
    box = (139.60, 35.60, 139.80, 35.75)
    _, best = lw.PlanarLaplace(box=box, within="10 m", factor="2").best_over([35.61, 35.74], [139.61, 139.79])
    assert 0 < best.loss < 1e-9


UNENDING = """
from fractions import Fraction
import leeward as lw
from leeward.exact import log

n, milli = range(4), Fraction(1, 1000)
near = lw.distance.FiniteDistance.closed(n, [[log(3) if x and not y else 0 for y in n] for x in n])
loss = [[5 * 10**6, 5 * milli**4 / 1000, milli / 200, 10**9], [0, 0, 0, 61 * 10**6],
        [2000, 5 * 10**9, 66 * milli**4, 10**12], [milli**4, milli / 500, 14000, 5]]
found = lw.optimal(n, near, [Fraction(1, 2502), Fraction(2500, 2502), 0, Fraction(1, 2502)], loss, guesses=n)
print(found.bound, float(found.loss))
"""


def test_a_solver_that_goes_on_for_ever_is_stopped() -> None:
    """Losses over 24 decades: the interior point method stepped on and on, 30,000 steps a second."""
    told = subprocess.run([sys.executable, "-c", UNENDING], capture_output=True, text=True, timeout=60, check=True)
    bound, loss = map(float, told.stdout.split())
    # all rows are one, and so the best is the best single guess: the second, of 1/2502 · (5·10⁻¹⁵ + 2·10⁻⁶)
    assert bound <= (5e-15 + 2e-6) / 2502 <= loss * (1 + 1e-9)
    assert loss < 8.1e-10


@pytest.mark.parametrize("cost", ["1/3", "44.36", "44.37", "63", "64", "65", "1000"])
def test_a_capped_factor_is_below_the_exact_one_and_forbids_no_less(cost: str) -> None:
    with mpmath.workdps(120):
        exactly = mpmath.exp(mpmath.mpf(Fraction(cost).numerator) / Fraction(cost).denominator) * 2**40
        below = factor_below(exact(cost), 40)
        assert below < exactly
        assert below >= min(exactly - 2, mpmath.mpf(2) ** (40 + FAR))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"guesses": []}, "No secrets, or no guesses"),
        ({"space": []}, "No secrets, or no guesses"),
        ({"distance": lw.Line("1e400", "1")}, "more than 10\\^300"),
        ({"loss": lambda x, w: abs(x - w) * Fraction(10) ** 400}, "A loss above 10\\^300"),
        ({"loss": lambda x, w: abs(x - w) / Fraction(10) ** 400}, "A loss above 10\\^300, or below"),
    ],
)
def test_what_no_solver_can_hold_is_refused(wrong: Any, says: str) -> None:
    given: dict[str, Any] = {"space": range(3), "distance": lw.Line("1", "1")} | wrong
    with pytest.raises(InputError, match=says):
        lw.optimal(**given)
