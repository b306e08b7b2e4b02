"""Time the noise of a day of meters, a reading every quarter of an hour, and of the whole way from a DataFrame and back.

    python benchmarks/series.py --meters 10000

Repeats take turns, so that a busy machine slows all alike; the median is shown.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
import pandas as pd
from rich.table import Table

import leeward as lw
from history import show
from leeward.local.series import Closeness, ReadingGrid, Schedule
from leeward.mechanism._series import Between, SeriesNoise

CHOICES: dict[str, tuple[Between, int, SeriesNoise]] = {
    "d_1, each reading": ("manhattan", 1, "independent"),
    "d_∞ an hour, norm": ("maximum", 4, "norm"),
    "d_∞ an hour, each reading": ("maximum", 4, "independent"),
    "d_∞ a day, norm": ("maximum", 96, "norm"),
    "d_∞ a day, each reading": ("maximum", 96, "independent"),
}


def series(between: Between, window: int, noise: SeriesNoise) -> lw.Series:
    close = Closeness(between, epsilon="1", unit="100 W", window=window)
    grid = ReadingGrid("W", lower="0 W", upper="12 kW", step="1 W")
    return lw.Series(close, grid, Schedule("2026-01-01", "2026-01-02", "15 min"), noise=noise)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--meters", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    readings = given.meters * 96
    truth = np.random.default_rng(0).integers(0, 5000, readings)
    times = pd.date_range("2026-01-01", periods=96, freq="15min")
    frame = pd.DataFrame({"meter": np.repeat(np.arange(given.meters), 96), "time": np.tile(times, given.meters)})
    frame["watts"] = truth
    spent: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in CHOICES}
    made = {name: series(*choice) for name, choice in CHOICES.items()}
    for _ in range(given.repeats):
        for name, one in made.items():
            start = time.perf_counter()
            one.mechanism.release(truth.reshape(-1, one.closeness.window))
            middle = time.perf_counter()
            one.perturb(frame, meter="meter", time="time", value="watts")
            spent[name][0].append(middle - start)
            spent[name][1].append(time.perf_counter() - middle)
    table = Table(title=f"{readings:,} readings of {given.meters:,} meters")
    for column in ("", "mean error", "noise, ns a reading", "DataFrame to DataFrame, s"):
        table.add_column(column, justify="left" if not column else "right")
    for name, (noise, whole) in spent.items():
        error = made[name].mechanism.typical_error()
        nanoseconds = statistics.median(noise) / readings * 1e9
        table.add_row(name, f"{error:,.0f} W", f"{nanoseconds:.0f}", f"{statistics.median(whole):.2f}")
    show("series", table)


if __name__ == "__main__":
    main()
