"""Statistics of one number a person, in Fractions, row by row: slow, and sharing no code with `leeward`.

A question is a dict: ``kind``, ``lower``, ``upper``, ``step`` (Fractions), and where they apply ``p``, ``grid``, ``people``,
``groups``, ``others``, ``combine``, ``keep``. A record is ``(group, number on the grid)``, or `ABSENT` or `UNCOUNTED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Ask = Mapping[str, Any]
ABSENT, UNCOUNTED = None, "present, and not counted"


def half_up(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))


def read(number: Any) -> Fraction | float | None:
    """A number as the decimal that it prints as; ±∞ stay; None for what is not a number."""
    if isinstance(number, str):
        try:
            number = float(number)
        except ValueError:
            return None
    if number is None or (isinstance(number, float) and math.isnan(number)):
        return None
    if isinstance(number, float) and math.isinf(number):
        return number
    if isinstance(number, Decimal):
        return Fraction(number)
    return Fraction(Decimal(repr(number))) if isinstance(number, float) else Fraction(number)


def is_unreadable(number: Any) -> bool:
    """Whether a text is none of a number, nor of one that is missing."""
    return isinstance(number, str) and number.strip().lower() not in {"nan", "+nan", "-nan"}


def on_grid(number: Any, ask: Ask) -> Fraction | None:
    """Clamp, then round half up to lower + i·step (a histogram: down, to the lower end of its interval)."""
    value = read(number)
    if value is None:
        return None
    lower, upper, step = ask["lower"], ask["upper"], ask["step"]
    inside = lower if value <= lower else upper if value >= upper else Fraction(value)
    if ask["kind"] == "histogram":
        return min(lower + math.floor((inside - lower) / step) * step, upper - step)
    return lower + half_up((inside - lower) / step) * step


def records(rows: Sequence[Mapping[str, Any]], ask: Ask) -> tuple[list[Any] | None, dict[str, int], int]:
    """The counted records (None where refused), the rows dropped by reason, and how many people have several rows."""
    dropped = dict.fromkeys(["filtered", "null_person", "unknown_group", "unreadable_number", "no_number"], 0)
    groups = ask.get("groups")
    people: dict[Any, list[tuple[int, Fraction | None]]] = {}
    for place, row in enumerate(rows):
        person = row.get("person") if ask.get("combine") else place
        number = on_grid(row.get("number"), ask) if "lower" in ask else None
        if any(row[column] is None or row[column] not in allowed for column, allowed in ask.get("keep", {}).items()):
            dropped["filtered"] += 1
        elif person is None:
            dropped["null_person"] += 1
        elif groups and row["group"] not in groups and not ask.get("others"):
            dropped["unknown_group"] += 1
        elif number is None and "lower" in ask:
            dropped["unreadable_number" if is_unreadable(row.get("number")) else "no_number"] += 1
        else:
            listed = groups.index(row["group"]) if groups and row["group"] in groups else len(groups or ())
            people.setdefault(person, []).append((listed, number))
    several = sum(len(held) > 1 for held in people.values())
    if ask.get("combine") == "refuse" and several:
        return None, dropped, several
    found = []
    for held in people.values():
        numbers = [number for _, number in held if number is not None]
        how: Callable[[Any], Any] = {"sum": sum, "max": max}.get(str(ask.get("combine")), min)
        whole = how(numbers) if numbers else None
        if whole is not None:
            whole = min(max(whole, ask["lower"]), ask["upper"])
        found.append((min(group for group, _ in held), whole))
    return found, dropped, several


def answer(counted: Sequence[Any], ask: Ask, rounding: Callable[[Fraction], int] = half_up) -> list[Fraction] | None:
    """The exact answers, in the units that are published; over a private number of people sums and number instead.

    The sum is that of the distances from the middle, in half steps; for a variance also that of their squares, each doubled
    and less the squared range. None where the declared number of people is wrong.
    """
    found: list[Fraction] = []
    here = [record for record in counted if record not in (ABSENT, UNCOUNTED)]
    for group in range(max(1, len(ask.get("groups", ())) + bool(ask.get("others")))):
        numbers = sorted(number for g, number in here if g == group)
        if ask["kind"] == "histogram":
            found += _counts(numbers, ask)
            continue
        if ask.get("people") is not None and len(numbers) != ask["people"]:
            return None
        if ask["kind"] == "sum":
            found.append(sum(numbers, Fraction(0)))
        elif ask["kind"] == "mean" and ask.get("people") is not None:
            mean = sum(numbers, Fraction(0)) / len(numbers)
            least, greatest = math.ceil(ask["lower"] / ask["grid"]), math.floor(ask["upper"] / ask["grid"])
            found.append(min(max(rounding(mean / ask["grid"]), least), greatest) * ask["grid"])
        elif ask["kind"] == "mean":
            middle = (ask["lower"] + ask["upper"]) / 2
            found.append(sum(((number - middle) * 2 / ask["step"] for number in numbers), Fraction(0)))
            found.append(Fraction(len(numbers)))
        elif ask["kind"] == "variance" and ask.get("people") is not None:
            mean = sum(numbers, Fraction(0)) / len(numbers)
            found.append(sum(((number - mean) ** 2 for number in numbers), Fraction(0)) / len(numbers))
        elif ask["kind"] == "variance":
            apart = [(2 * number - ask["lower"] - ask["upper"]) / ask["step"] for number in numbers]
            widest = (ask["upper"] - ask["lower"]) / ask["step"]
            found.append(sum(apart, Fraction(0)))
            found.append(sum((2 * u**2 - widest**2 for u in apart), Fraction(0)))
            found.append(Fraction(len(numbers)))
        else:
            p = {"min": 0, "median": 50}.get(ask["kind"], ask.get("p"))
            if not numbers:
                found.append(ask["lower"])
            elif ask["kind"] == "max":
                found.append(numbers[-1])
            else:
                found.append(numbers[math.floor(Fraction(p) * len(numbers) / 100)])
    return found


def _counts(numbers: Sequence[Fraction], ask: Ask) -> list[Fraction]:
    if "lower" not in ask:
        return [Fraction(len(numbers))]
    edges = [ask["lower"]]
    while edges[-1] + ask["step"] < ask["upper"]:
        edges.append(edges[-1] + ask["step"])
    last = edges[-1]
    return [
        Fraction(sum(edge <= number and (number < edge + ask["step"] or edge == last) for number in numbers))
        for edge in edges
    ]


# ---- distances between records, from the definitions


def metric(epsilon: Fraction, unit: Fraction, ask: Ask) -> Callable[[Any, Any], Any]:
    """ε/unit times how far a number moves; nobody, no number and another group are as far as two numbers can be."""
    width = ask["upper"] - ask["lower"]

    def distance(before: Any, after: Any) -> Fraction:
        gone = [record in (ABSENT, UNCOUNTED) for record in (before, after)]
        if all(gone) or before == after:
            return Fraction(0)
        if any(gone) or before[0] != after[0]:
            return epsilon * width / unit
        return epsilon * abs(before[1] - after[1]) / unit

    return distance
