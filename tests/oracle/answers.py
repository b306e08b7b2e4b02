"""What questions ask, worked out on whole tables, slowly: it imports nothing of `leeward`.

A table is one record a person, None for nobody. An answer is a tuple of Fractions, one for each coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Table = Sequence[Any]
Answer = Callable[[Table], tuple[Fraction, ...]]


def counts(*tests: Callable[[Any], bool]) -> Answer:
    """How many people there are of whom each holds."""
    return lambda table: tuple(Fraction(sum(1 for r in table if r is not None and test(r))) for test in tests)


def weighted(rows: Sequence[Sequence[int]], *tests: Callable[[Any], bool]) -> Answer:
    """Weighted sums of such counts."""

    def answer(table: Table) -> tuple[Fraction, ...]:
        counted = counts(*tests)(table)
        return tuple(sum((w * c for w, c in zip(row, counted, strict=True)), Fraction(0)) for row in rows)

    return answer


def total(column: Callable[[Any], Any], lower: int, upper: int, among: Callable[[Any], bool] | None = None) -> Answer:
    """A sum of numbers, each held within bounds; who has no number adds the one within them that is nearest to 0."""

    def answer(table: Table) -> tuple[Fraction, ...]:
        found = Fraction(0)
        for record in table:
            if record is not None and (among is None or among(record)):
                number = column(record)
                held = 0 if number is None else number
                found += min(max(held, lower), upper)
        return (found,)

    return answer


def visitors(places: str, k: int | None = None, if_more: str = "refuse") -> Answer:
    """How many people were at each place; of a person at more than k, k places count: the letter is the time too."""

    def kept(record: Any) -> list[str]:
        seen = sorted(place for place in record if place in places)
        if k is None or if_more == "refuse":
            return seen
        return seen[:k] if if_more == "earliest" else seen[::-1][:k]

    return lambda table: tuple(Fraction(sum(1 for r in table if r is not None and p in kept(r))) for p in places)


def most_left_out(places: str, k: int | None, if_more: str) -> Answer:
    """How many people were at the place where the fewest of those who were there count, and do not count there."""
    there, here = visitors(places), visitors(places, k, if_more)
    return lambda table: (max(x - y for x, y in zip(there(table), here(table), strict=True)),)


# ---- one number a person: records are the numbers


def half_up(number: Fraction, grid: Fraction | int) -> Fraction:
    """The nearest point of a grid through 0; of two, the upper."""
    steps = Fraction(number) / grid
    below = steps.numerator // steps.denominator
    return Fraction(grid) * (below + 1 if steps - below >= Fraction(1, 2) else below)


def of_numbers(whole: Callable[[list[Fraction]], Fraction]) -> Answer:
    """A number from all numbers that there are."""
    return lambda table: (whole([Fraction(r) for r in table if r is not None]),)


def summed(numbers: list[Fraction]) -> Fraction:
    """Their sum."""
    return sum(numbers, Fraction(0))


def mean(grid: Fraction | int | None, default: Fraction | int) -> Callable[[list[Fraction]], Fraction]:
    """Their mean on a grid, or the default of nobody."""

    def whole(numbers: list[Fraction]) -> Fraction:
        exactly = summed(numbers) / len(numbers) if numbers else Fraction(default)
        return exactly if grid is None else half_up(exactly, grid)

    return whole


def variance(numbers: list[Fraction]) -> Fraction:
    """The mean square of their distances from their mean; 0 for nobody."""
    if not numbers:
        return Fraction(0)
    middle = summed(numbers) / len(numbers)
    return summed([(number - middle) * (number - middle) for number in numbers]) / len(numbers)


def percentile(p: Fraction | int, default: Fraction | int) -> Callable[[list[Fraction]], Fraction]:
    """The value that ⌊p·m/100⌋ of the m values lie before; the greatest at p = 100; the default of nobody."""

    def whole(numbers: list[Fraction]) -> Fraction:
        if not numbers:
            return Fraction(default)
        rising = list(numbers)
        for i in range(len(rising)):  # sorted by exchanging
            for j in range(i + 1, len(rising)):
                if rising[j] < rising[i]:
                    rising[i], rising[j] = rising[j], rising[i]
        return rising[-1] if p == 100 else rising[math.floor(Fraction(p) * len(rising) / 100)]

    return whole


# ---- statistics of rows: records have a number x (or None) and a group y


@dataclass(frozen=True)
class Beyond:
    """The group of all who are in none of these."""

    listed: Sequence[Any]


def _in(key: Any, group: Any) -> bool:
    return key not in group.listed if isinstance(group, Beyond) else bool(key == group)


def grouped(groups: Sequence[Any], whole: Callable[[list[Fraction]], Fraction]) -> Answer:
    """The same of each group."""

    def answer(table: Table) -> tuple[Fraction, ...]:
        there = [r for r in table if r is not None and r.x is not None]
        return tuple(whole([Fraction(r.x) for r in there if _in(r.y, group)]) for group in groups)

    return answer


def in_turn(answers: Sequence[Answer]) -> Answer:
    """Of each coordinate those of all answers in turn, then those of the next."""

    def answer(table: Table) -> tuple[Fraction, ...]:
        each = [one(table) for one in answers]
        return tuple(found[i] for i in range(len(each[0])) for found in each)

    return answer


def on_grid(lower: int, upper: int, step: int, whole: Callable[[list[Fraction]], Fraction]) -> Any:
    """The same of numbers that are held within bounds and rounded half up to the grid that begins at the lower one."""

    def rounded(number: Fraction) -> Fraction:
        held = min(max(number, Fraction(lower)), Fraction(upper))
        return lower + half_up(held - lower, step)

    return lambda numbers: whole([rounded(number) for number in numbers])


def cells(groups: Sequence[Any], edges: Sequence[int] | None) -> Answer:
    """How many people are in each group and interval; the last interval has both its ends, beyond are the outermost."""

    def answer(table: Table) -> tuple[Fraction, ...]:
        found = []
        for group in groups:
            there = [r for r in table if r is not None and (group is None or _in(r.y, group))]
            if edges is None:
                found.append(Fraction(len(there)))
                continue
            numbers = [min(max(r.x, edges[0]), edges[-1]) for r in there if r.x is not None]
            last = len(edges) - 2
            for i in range(len(edges) - 1):
                inside = [edges[i] <= n and (n < edges[i + 1] or i == last) for n in numbers]
                found.append(Fraction(sum(inside)))
        return tuple(found)

    return answer
