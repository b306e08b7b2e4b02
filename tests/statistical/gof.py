"""Tests of fit with a proved false-alarm rate: no asymptotics, so the rate holds at every sample size.

A sample is cut into cells; the count in each cell is binomial if the law is right. Each cell is tested exactly and the
false-alarm rate is shared among the cells (Bonferroni), so a right sampler is rejected with at most the stated
probability. Use `rejects` on the right law and on a broken one: a test that accepts both tests nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

ALARM = 1e-6
"""The false-alarm rate of one call, where none is given."""


def rejects(
    counts: Sequence[int] | NDArray[np.int64],
    probabilities: Sequence[float] | NDArray[np.float64],
    n: int,
    false_alarm: float = ALARM,
) -> str | None:
    """Return why the counts do not fit, or None if they do.

    Args:
        counts: for each of several events (they may overlap), how often it happened.
        probabilities: their probabilities under the law.
        n: the number of independent draws.
        false_alarm: the greatest probability with which the right law is rejected.
    """
    counts, probabilities = np.asarray(counts), np.clip(np.asarray(probabilities, float), 0.0, 1.0)
    p_values = 2 * np.minimum(binom.cdf(counts, n, probabilities), binom.sf(counts - 1, n, probabilities))
    worst = int(np.argmin(p_values))
    if p_values[worst] >= false_alarm / len(counts):
        return None
    return (
        f"event {worst} of {len(counts)} happened {counts[worst]} times in {n} where {n * probabilities[worst]:.1f} are "
        f"expected (p = {p_values[worst]:.1e}); a right sampler fails like this with probability below {false_alarm}"
    )


def rejects_law(
    sample: NDArray[np.int64], cdf: Callable[[int], float], edges: Iterable[int], false_alarm: float = ALARM
) -> str | None:
    """Return why integers do not fit a law, or None: the cells are (−∞, e_0], (e_0, e_1], …, (e_last, ∞)."""
    edges = sorted(set(edges))
    below = np.array([0.0, *(float(cdf(edge)) for edge in edges), 1.0])
    cells = np.searchsorted(np.array(edges), sample, side="left")
    counts = np.bincount(cells, minlength=len(edges) + 1)
    return rejects(counts, np.diff(below), sample.size, false_alarm)
