"""Optimal remaps: against every remap there is, and against the figures of the corrections."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from tests.oracle.least_loss import least_loss

from leeward.analysis import expected_loss, read_loss, remap
from leeward.analysis._remap import stochastic, utility
from leeward.distance import Line, Plane
from leeward.errors import InputError
from leeward.exact import Real, Weight, exp, inf
from leeward.mechanism import FiniteMechanism, Geometric, laplace_mechanism


@pytest.mark.parametrize("case", range(12))
def test_no_other_remap_does_better(case: int) -> None:
    """All remaps of 3 outputs to 3 guesses, exactly."""
    seed = random.Random(case)
    rows = [stochastic(np.array([seed.random() for _ in range(3)]), 60) for _ in range(4)]
    mechanism = FiniteMechanism(range(4), "xyz", rows)
    prior = [Fraction(w, 10) for w in seed.choice([(1, 2, 3, 4), (10, 0, 0, 0), (5, 0, 5, 0)])]
    loss = [[seed.randint(0, 5) for _ in range(3)] for _ in range(4)]
    best = remap(mechanism, prior, loss, guesses="uvw")
    every = [
        sum(prior[x] * rows[x][z] * loss[x][w[z]] for x in range(4) for z in range(3))
        for w in itertools.product(range(3), repeat=3)
    ]
    assert best.loss == min(every)
    assert best.guess is not None
    assert set(best.guess) == set("xyz")


def test_adp_theorem_viii_3_needs_the_remap() -> None:
    """N = 12, ε = 0.1, uniform prior, absolute loss: AGeo 3.917, with its remap 2.551, the LP optimum."""
    line = Line(inf, "0.1")
    ageo = Geometric(line, lower=0, upper=12)
    points = range(13)
    losses = [[abs(x - w) for w in points] for x in points]
    distance = [[float(line(x, y)) for y in points] for x in points]
    optimum = least_loss(distance, [1 / 13] * 13, losses)
    assert float(expected_loss(ageo)) == pytest.approx(3.917, abs=5e-4)
    assert float(remap(ageo).loss) == pytest.approx(2.551, abs=5e-4)
    assert optimum == pytest.approx(float(remap(ageo).loss), abs=1e-7)


def test_adp_theorem_viii_3_with_a_lopsided_prior() -> None:
    """N = 1, ε = 0.1, prior (.9, .1): AGeo .814, the optimum .1, always guess 0: not a triangular matrix."""
    ageo = Geometric(Line(inf, "0.1"), lower=0, upper=1)
    best = remap(ageo, ["0.9", "0.1"])
    assert float(expected_loss(ageo, ["0.9", "0.1"])) == pytest.approx(0.814, abs=5e-4)
    assert best.loss == Fraction(1, 10)
    assert best.guess == {0: 0, 1: 0}
    assert best.mechanism.probability(1, 0) == 1  # above the diagonal of Lemma VIII.4's triangle


def test_exact_wherever_it_can_be() -> None:
    geometric = utility(Geometric(Line("1", "1"), lower=0, upper=3))
    assert isinstance(geometric, Weight)
    fair = FiniteMechanism([(0, 0), (1, 1)], "ab", [["1/2", "1/2"], ["1/4", "3/4"]])
    root = utility(fair, None, "euclidean")
    assert isinstance(root, Real)
    assert float(root) == pytest.approx(3 / 8 * 2**0.5)
    square = [(i, j) for i in range(2) for j in range(2)]
    mixed = utility(laplace_mechanism(Plane("1").on(square)), None, "euclidean")
    assert isinstance(mixed, float)
    direct = laplace_mechanism(Plane("1").on(square)).to_numpy() * read_loss(square, square, "euclidean").to_numpy()
    assert mixed <= direct.sum() / 4 + 1e-12


def test_ties_go_to_the_first_guess_and_near_ties_do_not() -> None:
    coin = FiniteMechanism([0, 1], ["z"], [[1], [1]])
    assert remap(coin, None, "zero-one").guess == {"z": 0}
    hair = Fraction(1, 10**30)
    assert remap(coin, [Fraction(1, 2) - hair, Fraction(1, 2) + hair], "zero-one").guess == {"z": 1}


def test_the_risk_averse_consumer() -> None:
    """Their best remap of the geometric mechanism attains the minimax optimum over all mechanisms (PROOF's last line)."""
    line = Line("1/2", "1")
    mechanism = Geometric(line, lower=0, upper=4)
    points = range(5)
    distance = [[float(line(x, y)) for y in points] for x in points]
    losses = [[abs(x - w) for w in points] for x in points]
    found = remap(mechanism, "worst")
    assert found.guess is None
    assert float(found.loss) == pytest.approx(least_loss(distance, None, losses), abs=1e-7)
    assert float(found.loss) < float(expected_loss(mechanism, "worst")) - 0.01
    each = expected_loss(mechanism, "worst")
    assert each == max(expected_loss(mechanism, [int(x == y) for y in points]) for x in points)  # type: ignore[type-var]


def test_a_geometric_mechanism_needs_bounds_here() -> None:
    with pytest.raises(InputError, match="not finitely many"):
        remap(Geometric(Line("1", "1")))
    assert remap(Geometric(Line("1", "1")).on(range(2))).loss == 1 / (1 + exp(1))


def test_a_printed_remap_says_how_much_it_changes() -> None:
    ageo = Geometric(Line(inf, "0.1"), lower=0, upper=12)
    assert str(remap(ageo)) == "expected loss 2.55127, with 11 of 13 outputs remapped"
    assert str(remap(Geometric(Line(1, 1), lower=0, upper=3))).endswith("with 0 of 4 outputs remapped")
    assert str(remap(ageo, "worst")).endswith("with guesses drawn at random")


def test_the_worst_secret_is_found_where_floats_see_no_difference() -> None:
    more = Fraction(1, 2) + Fraction(1, 10**30)
    coin = FiniteMechanism((0, 1), (0, 1), [["1/2", "1/2"], [more, 1 - more]])
    assert float(more) == 0.5
    assert expected_loss(coin, "worst") == more
    assert expected_loss(FiniteMechanism((1, 0), (0, 1), [[more, 1 - more], ["1/2", "1/2"]]), "worst") == more
