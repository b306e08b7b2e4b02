"""Universal optimality on the directed line, by linear programs: the theorem of docs/theorem.md.

The clamped geometric mechanism, remapped, is optimal for every prior and every loss that grows on each side of the truth.
``benchmarks/theorem.py`` goes through thousands of cases; these are the first of them.
"""

from __future__ import annotations

import pytest
from tests.analysis.random_programs import random_case
from tests.oracle.least_loss import least_loss

from leeward.analysis import read_loss, remap
from leeward.distance import Line
from leeward.exact import inf
from leeward.mechanism import Geometric

TOLERANCE = 1e-6
"""Of the solver; the exact side has none."""


@pytest.mark.parametrize("block", range(10))
def test_no_private_mechanism_beats_the_remapped_geometric_one(block: int) -> None:
    for number in range(block * 25, block * 25 + 25):
        case = random_case(number, largest=5)
        assert read_loss(range(len(case.prior)), case.guesses, case.loss).monotone
        assert abs(case.gap) < TOLERANCE, number


def test_losses_that_are_not_monotone_can_beat_it() -> None:
    """The control: without the condition on the loss, the same programs find gaps."""
    gaps = [random_case(number, largest=5, monotone=False).gap for number in range(60)]
    assert min(gaps) > -TOLERANCE  # never below: the mechanism is private
    assert max(gaps) > 0.05


@pytest.mark.parametrize("line", [Line("1", "1"), Line(inf, "1/2"), Line("1/3", "2")], ids=str)
def test_the_risk_averse_consumer_is_served_too(line: Line) -> None:
    points = range(5)
    distance = [[float(line(x, y)) for y in points] for x in points]
    losses = [[(x - w) ** 2 for w in points] for x in points]
    ours = remap(Geometric(line, lower=0, upper=4), "worst", losses).loss
    assert float(ours) == pytest.approx(least_loss(distance, None, losses), abs=TOLERANCE)


@pytest.mark.parametrize("wrong", [Line("1", "2"), Line("2", "1")], ids=str)
def test_other_rates_are_not_optimal(wrong: Line) -> None:
    """Noise for the mirrored or the smaller line loses: the test would see an up that should be a down."""
    line = Line("2", "2")
    points = range(5)
    distance = [[float(line(x, y)) for y in points] for x in points]
    losses = [[abs(x - w) for w in points] for x in points]
    assert float(remap(Geometric(wrong, lower=0, upper=4)).loss) > least_loss(distance, [0.2] * 5, losses) + 0.01
