"""Planar noise beside qif, an independent implementation in C++ (libqif), and how long reports take.

    python benchmarks/planar.py --points 1000000

First the law: qif's planar geometric mechanism on a grid moves what falls outside to the edge, so inside, its matrix must be
ours, entry by entry. Then samples of qif's are held against our law, and ours; then time. qif has a sampler on a grid, whose
work grows with the square of the displacement in steps, and one in floats, which is quick and not private as it stands.
Repeats take turns, so that a busy machine slows all alike; medians are shown, with the load.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rich.table import Table
from scipy.stats import chisquare

from history import show
from leeward.exact import exact
from leeward.ledger import PersonBudgets
from leeward.local.location import PlanarLaplace
from leeward.noise import PlanarNoise, SystemBits

try:
    import qif
except ImportError:
    sys.exit("This compares with qif, which is not installed: pip install qif")

CITY = (116.2, 39.75, 116.6, 40.1)


def largest_difference(rate: str, side: int = 9) -> float:
    """The largest relative difference between qif's matrix and our law, away from the edge of its grid."""
    theirs = np.array(qif.mechanism.geo_ind.planar_geometric_grid(side, side, 1.0, float(exact(rate))))
    law, worst = PlanarNoise(rate), 0.0
    for x in range(side * side):
        for z in range(side * side):
            (i, j), (k, l) = divmod(x, side), divmod(z, side)
            if 0 < k < side - 1 and 0 < l < side - 1:
                ours = float(law.pmf((k - i, l - j)))
                worst = max(worst, abs(theirs[x, z] / ours - 1))
    return worst


def fits(points: np.ndarray, rate: str, radius: int = 6) -> float:
    """The p-value of a chi-square test of points against our law, over the points of a square and the rest."""
    law = PlanarNoise(rate)
    side = range(-radius, radius + 1)
    chances = [float(law.pmf((i, j))) for i in side for j in side]
    inside = (np.abs(points) <= radius).all(axis=1)
    at = (points[inside] + radius).astype(int)
    counts = np.bincount(at[:, 0] * len(side) + at[:, 1], minlength=len(chances))
    expected = np.array([*chances, 1 - math.fsum(chances)]) * len(points)
    return float(chisquare([*counts, (~inside).sum()], expected * len(points) / expected.sum()).pvalue)


def theirs(rate: float, size: int) -> np.ndarray:
    drawn = [qif.mechanism.geo_ind.planar_geometric_sample(1.0, rate) for _ in range(size)]
    return np.round(np.array([[point.x, point.y] for point in drawn]))


def median(functions: dict[str, Callable[[], object]], repeats: int) -> dict[str, tuple[float, float]]:
    """The median time of each function on the clock and of the processor, in seconds; they take turns."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter(), time.process_time()
            function()
            spent[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    return {
        name: (statistics.median(t for t, _ in times), statistics.median(t for _, t in times))
        for name, times in spent.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    law = Table(title="The law, beside qif's")
    for column in ("rate", "largest relative difference", "p, ours", "p, qif"):
        law.add_column(column, justify="right")
    bits = SystemBits()
    for rate in ("1/4", "1/2", "2"):
        ours = PlanarNoise(rate).sample(20_000, bits)
        law.add_row(
            rate,
            f"{largest_difference(rate):.1e}",
            f"{fits(ours, rate):.3f}",
            f"{fits(theirs(float(exact(rate)), 20_000), rate):.3f}",
        )
    show("planar, the law", law)

    geo = PlanarLaplace(box=CITY, within="200 m", factor=2)
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(39.8, 40.05, options.points), rng.uniform(116.25, 116.55, options.points)
    points, rate = geo.to_grid(lat, lon), float(geo.epsilon)
    few, draw = {"qif, on the grid": 2, "qif, in floats": 10_000}, qif.mechanism.geo_ind
    many = median(
        {
            "noise alone": lambda: geo.draw(points),
            "degrees to degrees: projection, noise, back": lambda: geo.perturb_points(lat, lon),
            "qif, on the grid": lambda: [
                draw.planar_geometric_sample(1.0, rate) for _ in range(few["qif, on the grid"])
            ],
            "qif, in floats": lambda: [draw.planar_laplace_sample(rate) for _ in range(few["qif, in floats"])],
        },
        options.repeats,
    )
    one = median({"one report, degrees to degrees": lambda: geo.perturb_one(39.9, 116.4)}, 2_000)
    speed = Table(title=f'{options.points:,} points, within="200 m", factor=2; load {os.getloadavg()[0]:.1f}')
    for column in ("what", "seconds", "of them on the processor", "ns a point"):
        speed.add_column(column, justify="left" if column == "what" else "right")
    with tempfile.TemporaryDirectory() as folder:
        store = PersonBudgets(Path(folder) / "people.db", secret=os.urandom(32), price="1", reports_a_day=9, new=True)
        people, days = [f"person-{k}" for k in range(options.points)], [20_000] * options.points

        def charge_all() -> None:
            with store.charging() as charge:
                charge(people, days)

        many |= median({"budgets of that many people, the first time": charge_all}, 1)
        many |= median({"budgets of that many people, again": charge_all}, 1)
    for name, (clock, processor) in many.items():
        share = options.points / few.get(name, options.points)
        speed.add_row(
            name, f"{clock * share:,.2f}", f"{processor * share:,.2f}", f"{clock * share / options.points * 1e9:,.0f}"
        )
    for name, (clock, processor) in one.items():
        speed.add_row(name, f"{clock:.6f}", f"{processor:.6f}", f"{clock * 1e9:,.0f}")
    show("planar", speed)


if __name__ == "__main__":
    main()
