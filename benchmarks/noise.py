"""Time exact geometric noise beside OpenDP's exact discrete Laplace and NumPy's geometric, in one run.

    python benchmarks/noise.py --samples 1000000

Ours and OpenDP's are exact; NumPy's is not (floating point, a generator that is no cipher) and is shown for scale only.
OpenDP has no one-sided sampler: its discrete Laplace is the peer of our two-sided noise, and the price its users pay where
one-sided noise would do. Repeats take turns, so that a busy machine slows all alike; the median is shown.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
from rich.table import Table

from history import show
from leeward.exact import inf
from leeward.noise import DirectedGeometric, SystemBits

RATES = {"1": Fraction(1), "2^-10": Fraction(1, 2**10), "2^-30": Fraction(1, 2**30)}


def samplers(rate: Fraction, samples: int) -> dict[str, Callable[[], object]]:
    bits = SystemBits()
    one, two = DirectedGeometric(rate, inf), DirectedGeometric(rate, rate)
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    peer = dp.m.make_laplace(*space, scale=float(1 / rate))
    zeros = [0] * samples
    unsafe = np.random.default_rng()
    return {
        "Leeward, one-sided": lambda: one.sample(samples, bits),
        "Leeward, two-sided": lambda: two.sample(samples, bits),
        "OpenDP, discrete Laplace": lambda: peer(zeros),
        "NumPy, geometric (unsafe)": lambda: unsafe.geometric(-np.expm1(-float(rate)), samples) - 1,
    }


def nanoseconds(functions: dict[str, Callable[[], object]], samples: int, repeats: int) -> dict[str, float]:
    """The median time of one sample, in nanoseconds."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            times[name].append((time.perf_counter() - start) / samples * 1e9)
    return {name: statistics.median(spent) for name, spent in times.items()}


def one_draw(rate: Fraction, draws: int = 2_000) -> dict[str, float]:
    """The median time of one draw asked for alone, in microseconds."""
    bits = SystemBits()
    laws = {"Leeward, one-sided": DirectedGeometric(rate, inf), "Leeward, two-sided": DirectedGeometric(rate, rate)}
    spent: dict[str, list[float]] = {name: [] for name in laws}
    for _ in range(draws):
        for name, law in laws.items():
            start = time.perf_counter()
            law.sample(1, bits)
            spent[name].append((time.perf_counter() - start) * 1e6)
    return {name: statistics.median(times) for name, times in spent.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()

    table = Table(title=f"Geometric noise: {options.samples:,} samples, median of {options.repeats}")
    for column in ("rate s", "sampler", "ns a sample", "OpenDP ÷ it", "alone, µs"):
        table.add_column(column, justify="left" if column in {"rate s", "sampler"} else "right", no_wrap=True)
    for name, rate in RATES.items():
        spent = nanoseconds(samplers(rate, options.samples), options.samples, options.repeats)
        alone = one_draw(rate)
        for sampler, time_each in spent.items():
            ratio = spent["OpenDP, discrete Laplace"] / time_each
            single = f"{alone[sampler]:.1f}" if sampler in alone else ""
            table.add_row(name, sampler, f"{time_each:,.1f}", f"{ratio:,.0f}", single)
        table.add_section()
    show("noise", table)


if __name__ == "__main__":
    main()
