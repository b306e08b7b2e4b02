"""Trees of totals: their price at the knife edge, beside tables worked out by hand; and totals that add up."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from leeward.distance import Derived
from leeward.errors import InputError
from leeward.exact import exact, log
from leeward.mechanism._consistent import Consistency
from leeward.mechanism._series import Between
from leeward.mechanism._tree import TreeMechanism
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

SERIES = list(itertools.product(range(2), repeat=3))
LEVELS = ((1, 3), (3,))
"""Two parts, of one reading and of two, and the whole."""

HALF = {"maximum": log(2) * 4, "manhattan": log(2) * 2, "hamming": log(2) * 2}
"""ε at which the noise of each node, of half the ε, falls by 1/2 a step: a span has two readings, the range is 1."""


def tree(between: Between, epsilon: Any, shares: Any = None) -> TreeMechanism:
    return TreeMechanism(between, epsilon, levels=LEVELS, spans=(1, 3), shares=shares, width=1)


# ---- the oracle: it knows nothing of the library


def by_hand(one: Sequence[int]) -> dict[tuple[int, ...], Fraction]:
    """Pr of each vector of nodes whose noise falls by 1/2 a step: 2^−|k|/3, and what lies beyond in the outermost."""

    def node(total: int, top: int) -> dict[int, Fraction]:
        found = {z: Fraction(1, 3) / 2 ** abs(z - total) for z in range(1, top)}
        return found | {0: Fraction(2, 3) / 2**total, top: Fraction(2, 3) / 2 ** (top - total)}

    nodes = [node(one[0], 1), node(one[1] + one[2], 2), node(sum(one), 3)]
    made = {}
    for outcome in itertools.product(*nodes):
        chance = Fraction(1)
        for held, z in zip(nodes, outcome, strict=True):
            chance *= held[z]
        made[outcome] = chance
    return made


def apart(between: Between, x: Sequence[int], y: Sequence[int]) -> int:
    """How far two series are: for the maximum, in the two spans together."""
    moves = [abs(a - b) for a, b in zip(x, y, strict=True)]
    return moves[0] + max(moves[1:]) if between == "maximum" else sum(moves)


@pytest.mark.parametrize("between", HALF)
def test_probabilities_and_price_are_those_worked_out_by_hand(between: Between) -> None:
    """Over all ordered pairs: odds of at most e^(ε·d), and of just that for some pair."""
    made = tree(between, HALF[between])
    matrix = made.on(SERIES)
    hand = {one: by_hand(one) for one in SERIES}
    for one in SERIES:
        assert {z: matrix.probability(one, z) for z in hand[one]} == hand[one]
    base = 4 if between != "maximum" else 16  # e^ε
    met = False
    for x, y in itertools.permutations(SERIES, 2):
        worst = max(hand[x][z] / hand[y][z] for z in hand[x])
        assert worst <= base ** apart(between, x, y)
        met |= worst == base ** apart(between, x, y)
    assert met
    assert made.distance(SERIES[0], SERIES[7]) == HALF[between] * apart(between, SERIES[0], SERIES[7])


@pytest.mark.parametrize("between", HALF)
def test_every_price_is_exact(between: Between) -> None:
    made = tree(between, "2/3", ["1/4", "3/4"])
    matrix = made.on(SERIES)
    found = verify(matrix, made.distance.on(SERIES))
    assert found.exact_scale == 1
    in_all = Derived("d_1", lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True))).on(SERIES)
    assert verify(matrix, in_all).exact_scale == made.price.readings == exact("1/3" if between == "maximum" else "2/3")
    assert made.price.window == made.price.readings * 2
    assert made.price.total == made.price.readings * 3


def test_levels_that_each_spend_all_of_epsilon_are_found_out() -> None:
    """The broken variant: two levels, each of which is private alone, cost 2·ε together."""
    right = tree("manhattan", "1")
    broken = tree("manhattan", "2").on(
        SERIES
    )  # shares of 1/2 of 2: each level has the rate that ε = 1 allows one total
    assert verify(right.on(SERIES), right.distance.on(SERIES))
    assert verify(broken, right.distance.on(SERIES)).outcome == "not private"
    assert verify(broken, right.distance.on(SERIES)).exact_scale == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"shares": ["1/2", "1/3"]}, "all of it together"),
        ({"shares": ["3/2", "-1/2"]}, "all of it together"),
        ({"shares": ["1"]}, "all of it together"),
        ({"levels": ((1, 3), (2, 3))}, "no tree"),
        ({"levels": ((1, 2), (3,))}, "end apart"),
        ({"levels": ((3, 1), (3,))}, "do not rise"),
        ({"levels": ()}, "end apart"),
    ],
)
def test_what_is_no_tree_is_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        TreeMechanism("manhattan", "1", **{"levels": LEVELS, "spans": (1, 3)} | options)


# ---- totals that add up

STARTS = (np.array([0, 3]), np.array([0]))
"""Five parts below two, below one whole: three levels, uneven."""

PLAN = [(0,), (1,), (2,), (3,), (4,), (0, 1, 2), (3, 4), (0, 1, 2, 3, 4)]
"""Of which parts each node is made, level by level."""


def solved(variances: Sequence[Fraction]) -> list[list[Fraction]]:
    """(Aᵀ·W·A)⁻¹, for A the table of PLAN and W one over the variances: Gauss–Jordan over the rationals."""
    rows = [
        [
            sum((1 / v for v, parts in zip(variances, PLAN, strict=True) if {i, j} <= set(parts)), Fraction(0))
            for j in range(5)
        ]
        + [Fraction(int(i == j)) for j in range(5)]
        for i in range(5)
    ]
    for i in range(5):
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for j in range(5):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[5:] for row in rows]


def test_totals_are_those_of_weighted_least_squares() -> None:
    levels = (Fraction(1), Fraction(3, 2), Fraction(5))
    variances = [levels[0]] * 5 + [levels[1]] * 2 + [levels[2]]
    made = Consistency(STARTS, 5, levels)
    noisy = [np.array([[3, -1, 4, 1, 5]]), np.array([[9, 2]]), np.array([[-6]])]
    flat = [int(y) for level in noisy for y in level[0]]
    inverse = solved(variances)
    right = [sum(y / v for y, v, parts in zip(flat, variances, PLAN, strict=True) if i in parts) for i in range(5)]
    best = [sum((inverse[i][j] * right[j] for j in range(5)), Fraction(0)) for i in range(5)]
    numerators, over = made.rationals(noisy)
    found = [Fraction(int(n), d) for level, d in zip(numerators, over, strict=True) for n in level[0]]
    assert found == [sum(best[i] for i in parts) for parts in PLAN]
    spread = [float(sum(inverse[i][j] for i in parts for j in parts)) ** 0.5 for parts in PLAN]
    assert [d for level in made.deviations() for d in level] == pytest.approx(spread, rel=1e-12)
    assert all(after < float(v) ** 0.5 for after, v in zip(spread, variances, strict=True))


def test_parts_add_up_to_the_last_step_and_stay_within_one_step() -> None:
    made = Consistency(STARTS, 5, (Fraction(1), Fraction(7, 3), Fraction(2)))
    bits = np.random.default_rng(1)
    noisy = [bits.integers(-(10**15), 10**15, (200, n)) for n in (5, 2, 1)]
    found = made(noisy)
    for starts, below, above in zip(STARTS, found, found[1:], strict=False):
        assert (np.add.reduceat(below, starts, axis=1) == above).all()
    numerators, over = made.rationals(noisy)
    for level, exactly, under in zip(found, numerators, over, strict=True):
        assert (abs(level.astype(object) * under - exactly) <= under).all()


def test_what_rounding_leaves_over_goes_to_no_part_more_than_to_another() -> None:
    """Equal variances: all parts lose alike. Found: the first hours of a day were half a step too high on average.

    2,000 trees of 24 parts; rounding moves a part by less than a step, so a mean is 0.2 off once in 10^15 (Hoeffding).
    """
    noisy = [np.random.default_rng(5).integers(-300, 300, (2000, nodes)) for nodes in (24, 1)]
    made = Consistency((np.array([0]),), 24, (Fraction(1), Fraction(1)))
    numerators, over = made.rationals(noisy)
    moved = made(noisy)[0] - (numerators[0] / over[0]).astype(float)
    assert np.abs(moved.mean(axis=0)).max() < 0.2


def test_totals_that_add_up_already_stay_as_they_are() -> None:
    law = tree("manhattan", "1")
    truth = np.array([[4, -7], [0, 0]])
    held = law.totals(truth)
    for level, before in zip(Consistency(law.starts, 2, (Fraction(1), Fraction(1)))(held), held, strict=True):
        assert (level == before).all()
    noisy = law.release(truth, SeededBitsForTests(1))
    assert [level.shape for level in noisy] == [(2, 2), (2, 1)]
