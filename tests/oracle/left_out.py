"""Who was at each place, who of them counts, and how many are left out, from itineraries: slowly, sharing nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Itinerary = Sequence[str] | None
"""The places one person was at, the most wanted first; None for somebody who is not in the table."""


def crowds(table: Iterable[Itinerary], places: str, k: int) -> tuple[list[int], list[int], int]:
    """Return those there and those counted at each place, and the most left out at any one."""
    there, counted = dict.fromkeys(places, 0), dict.fromkeys(places, 0)
    for itinerary in table:
        for number, place in enumerate(itinerary or ()):
            there[place] += 1
            if number < k:
                counted[place] += 1
    left = [there[place] - counted[place] for place in places]
    return list(there.values()), list(counted.values()), max(left)


def sum_of_two(a: float, b: float, m: int) -> float:
    """P(G + H ≤ m) for independent geometric G and H of rates a and b, by adding up all pairs."""
    from math import exp

    total = 0.0
    for g in range(m + 1):
        for h in range(m + 1 - g):
            total += (1 - exp(-a)) * exp(-a * g) * (1 - exp(-b)) * exp(-b * h)
    return total
