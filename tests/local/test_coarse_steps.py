"""What a coarse step does is accepted, and is as the page of known limits says: most reports are the next grid point."""

from __future__ import annotations

import numpy as np
import pytest

import leeward as lw
from leeward.errors import RefusedError
from leeward.local.series import Closeness, ReadingGrid, Schedule
from leeward.noise import SeededBitsForTests

BOX = (139.3, 35.3, 140.2, 36.1)


def shown_again(step: str) -> float:
    """How many of 2,000 people have the same report in two runs."""
    random = np.random.default_rng(1)
    where = 35.5 + random.random(2000) / 10, 139.5 + random.random(2000) / 10
    geo = lw.PlanarLaplace(box=BOX, epsilon="1/10", unit="1 m", step=step, bits=SeededBitsForTests(2))
    first, second = (np.array(geo.perturb_points(*where)) for _ in range(2))
    return float(np.isclose(first, second, rtol=0, atol=1e-9).all(axis=0).mean())


def test_with_a_step_longer_than_a_report_is_off_most_reports_are_the_next_grid_point() -> None:
    """A report is 20 m off on average."""
    assert shown_again("100 m") > 0.5
    assert shown_again("1 m") < 0.05


def test_an_epsilon_that_shows_positions_at_any_step_is_refused() -> None:
    with pytest.raises(RefusedError, match="show where people are"):
        lw.PlanarLaplace(box=BOX, epsilon="2.001", unit="1 m", step="1 m")
    assert lw.PlanarLaplace(box=BOX, epsilon="2", unit="1 m", step="1 m").describe().mean >= 0.5


@pytest.mark.parametrize(("epsilon", "refused"), [("4", False), ("6", True)])
def test_readings_are_refused_where_under_one_in_a_hundred_moves(epsilon: str, refused: bool) -> None:
    """1/sinh(ε) steps is the mean error of noise on each reading: 0.037 and 0.005."""
    series = lw.Series(
        Closeness(between="manhattan", epsilon=epsilon, unit="1 W", window=1),
        ReadingGrid("W", lower="0 W", upper="100 W", step="1 W"),
        Schedule(start="2026-03-28", end="2026-03-29", every="1 h"),
    )
    if refused:
        with pytest.raises(RefusedError, match="they would be shown"):
            series.check()
    else:
        series.check()
