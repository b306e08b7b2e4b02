"""The sparse vector technique by brute summation over the threshold's noise, in floats; and its broken variants.

The variants are those of Lyu, Su and Li's survey that are not private (its Algorithms 3 to 6), and two shortcuts that are
tempting. Each is given by the chance of one pattern.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Pattern = Sequence[bool]
"""For each count whether it was said to be above."""


def two_sided(rate: float, k: int) -> float:
    x = math.exp(-rate)
    return (1 - x) / (1 + x) * x ** abs(k)


def exceeds(rate: float | None, k: int) -> float:
    """P(noise > k); None for no noise."""
    if rate is None:
        return float(k < 0)
    x = math.exp(-rate)
    return x ** (k + 1) / (1 + x) if k >= 0 else 1 - x**-k / (1 + x)


def chance(
    counts: Sequence[int],
    pattern: Pattern,
    *,
    threshold: float | None,
    count: float | None,
    at_most: int = 0,
    shown: int | None = None,
) -> float:
    """Pr[pattern]: rates of the noise on the threshold and on each count (None for none).

    ``shown``: the last count, above, is published with its noise as this value (Algorithm 3).
    """
    total = 0.0
    for rho in range(-200, 201) if threshold else [0]:
        p = two_sided(threshold, rho) if threshold else 1.0
        for i, (c, above) in enumerate(zip(counts, pattern, strict=True)):
            gap = at_most + rho - c
            if shown is not None and i == len(counts) - 1:
                assert count is not None
                p *= two_sided(count, shown - c) * (shown > at_most + rho)
            else:
                p *= exceeds(count, gap) if above else 1 - exceeds(count, gap)
        total += p
    return total


def fresh_threshold(counts: Sequence[int], pattern: Pattern, *, threshold: float, count: float) -> float:
    """The threshold's noise drawn anew for every count."""
    return math.prod(
        chance([c], [above], threshold=threshold, count=count) for c, above in zip(counts, pattern, strict=True)
    )


Variant = tuple[Callable[[Sequence[int]], float], Sequence[int], Sequence[int]]
"""The chance of a telling output, and two neighbours: every count differs by at most 1."""


def broken(epsilon: float) -> dict[str, Variant]:
    """Each variant that is not ε-private, with a pattern and a pair that show it at c = 1 (at c = 6 for Algorithm 4)."""
    below, up, down = [False] * 12, [0] * 12, [1] * 12
    mixed = below + [True] * 6
    low, high = up + [1] * 6, down + [0] * 6
    return {
        "Algorithm 3: publishes the count above with the noise that decided": (
            lambda x: chance(x, [*below, True], threshold=epsilon / 2, count=epsilon / 4, shown=-3),
            [*up, 0],
            [*down, 0],
        ),
        "Algorithm 4: noise on counts not scaled by c": (
            lambda x: chance(x, mixed, threshold=epsilon / 4, count=3 * epsilon / 4),
            low,
            high,
        ),
        "Algorithm 5: no noise on counts": (
            lambda x: chance(x, [True, False], threshold=epsilon / 2, count=None),
            [1, 0],
            [0, 1],
        ),
        "Algorithm 6: no stop": (
            lambda x: chance(x, mixed, threshold=epsilon / 2, count=epsilon / 2),
            low,
            high,
        ),
        "no noise on the threshold": (
            lambda x: chance(x, below, threshold=None, count=epsilon / 4),
            up,
            down,
        ),
        "fresh noise on the threshold for each count": (
            lambda x: fresh_threshold(x, below, threshold=epsilon / 2, count=epsilon / 4),
            up,
            down,
        ),
    }
