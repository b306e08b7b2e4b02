"""(α, δ)-usefulness: closed forms against sums, and the curves of d-privacy's Figure 3."""

from __future__ import annotations

from fractions import Fraction

import pytest

from leeward.analysis import useful_within, usefulness, usefulness_curve
from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact import exp, inf
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.notion import Manhattan, ReplaceDP, ValueGrid
from leeward.query import minimum, sensitivity


@pytest.mark.parametrize("line", [Line("1/2", "1/2"), Line(inf, "1"), Line("1/3", "2")], ids=str)
def test_it_is_the_mass_beyond_the_radius(line: Line) -> None:
    mechanism = Geometric(line, step="1/2")
    for alpha in ("0", "1/4", "1/2", "2", "9/4"):
        inside = sum(
            (mechanism.law.pmf(k) for k in range(-60, 61) if abs(Fraction(k, 2)) <= Fraction(alpha)), weight(0)
        )
        assert usefulness(mechanism, alpha) == 1 - inside


def test_figure_3_the_earliest_date() -> None:
    """ε·d_h needs noise of rate ε/5000, (ε/5)·d_1 of rate ε/5: within 5 days the first is all but useless."""
    dates = ValueGrid(0, 5000)
    strong, fine = ReplaceDP("1"), Manhattan("1", dates, unit=5)
    curves = {}
    for notion in (strong, fine):
        mechanism = Geometric(sensitivity(notion, minimum(dates)).line)
        curves[notion] = [float(delta) for _, delta in usefulness_curve(mechanism, range(0, 31, 5))]
    assert curves[fine] == sorted(curves[fine], reverse=True)
    assert curves[fine][2] == pytest.approx(2 * 2.718281828 ** (-11 / 5) / (1 + 2.718281828 ** (-1 / 5)), rel=1e-6)
    assert curves[fine][4] < 0.02 < 0.99 < curves[strong][6]


def test_the_radius_is_the_least_one() -> None:
    mechanism = Geometric(Line("1/5", "1/5"))
    radius = useful_within(mechanism, "1/20")
    assert usefulness(mechanism, radius) <= Fraction(1, 20) < usefulness(mechanism, radius - 1)
    assert useful_within(Geometric(Line("5", "5"), step=3), "1/20") == 0
    with pytest.raises(InputError, match="no finite"):
        useful_within(mechanism, 0)


def test_of_a_matrix_it_is_the_worst_secret() -> None:
    matrix = FiniteMechanism([0, 1], [0, 1, 5], [["1/2", "1/4", "1/4"], ["0", "1", "0"]])
    assert usefulness(matrix, 1) == Fraction(1, 4)
    assert usefulness(matrix, 0) == Fraction(1, 2)
    assert usefulness(Geometric(Line("1", "1"), lower=0, upper=1).on([0, 1]), 0) == 1 / (1 + exp(1))
    with pytest.raises(InputError, match="at least 0"):
        usefulness(matrix, -1)
