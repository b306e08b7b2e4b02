# SPDX-License-Identifier: Apache-2.0
"""Attack: δ of groups that nobody has listed, runs that stop, samples of several releases, and all of these together.

Each law is written out for a table with somebody and without: counts of others beside them, one answer after the other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle.promises import hockey_stick

import leeward as lw
from leeward import accounting
from leeward.accounting import Event

Law = dict[Any, float]
With = Callable[[int], Law]
"""The law of the answers, with somebody (1) and without (0)."""

INF = math.inf
FAR = 60
"""Noise of rate 1/2 or more goes no farther, but for a chance of 10^−13."""


def noise(up: float, down: float, reach: int = FAR) -> Law:
    weights = {k: math.exp(-up * k if k >= 0 else down * k) for k in range(-reach if down < INF else 0, reach + 1)}
    whole = sum(weights.values())
    return {k: weight / whole for k, weight in weights.items()}


def added(law: Law, outcome: Any, chance: float) -> None:
    law[outcome] = law.get(outcome, 0.0) + chance


def counted(up: float, down: float, moves: int) -> With:
    def law(there: int) -> Law:
        found: Law = {}
        for k, chance in noise(up, down).items():
            added(found, min(max(k + moves * there, -7), moves + 7), chance)  # the loss is constant beyond
        return found

    return law


def unlisted(up: float, down: float, reach: int, others: int) -> With:
    """A group with so many others in it: shown above the farthest noise."""

    def law(there: int) -> Law:
        found: Law = {}
        for k, chance in noise(up, down, reach).items():
            count = others + there
            added(found, count + k if count and count + k > reach else None, chance)
        return found

    return law


def stopping(up: float, stops: int, others: list[int]) -> With:
    """Places in their order, at each of which they are: *safe* while nobody is seen, else the noisy count."""

    def runs(there: int, left: int, at: int) -> Iterator[tuple[tuple[Any, ...], float]]:
        if not left or at == len(others):
            yield (), 1.0
            return
        for k, chance in noise(up, INF).items():
            seen = others[at] + there + k
            for rest, more in runs(there, left - (seen > 0), at + 1) if chance > 1e-9 else ():
                yield (min(seen, 25), *rest), chance * more

    def law(there: int) -> Law:
        found: Law = {}
        for outcome, chance in runs(there, stops, 0):
            added(found, outcome, chance)
        return found

    return law


def together(laws: list[With]) -> With:
    def law(there: int) -> Law:
        found: Law = {(): 1.0}
        for each in laws:
            of_one = each(there)
            found = {(*z, y): p * q for z, p in found.items() for y, q in of_one.items() if p * q > 1e-12}
        return found

    return law


def sampled(law: With, kept: float) -> With:
    def found(there: int) -> Law:
        inside, outside = law(1), law(0)
        if not there:
            return outside
        return {z: kept * inside.get(z, 0.0) + (1 - kept) * outside.get(z, 0.0) for z in inside | outside}

    return found


def event(draw: random.Random) -> tuple[Event, With]:
    up, kind = draw.choice([Fraction(1, 2), Fraction(1)]), draw.choice(["counts", "groups", "groups", "stops", "pure"])
    if kind == "counts":
        down, moves = draw.choice([up, None]), draw.choice([1, 2])
        made = accounting.GeometricEvent(up, lw.inf if down is None else down, moves=moves)
        return made, counted(float(up), INF if down is None else float(down), moves)
    if kind == "groups":
        down, reach = draw.choice([up, None]), draw.choice([1, 2, 6])
        beside = draw.choice([0, 0, 1, reach, 2 * reach])
        groups = accounting.UnknownKeysEvent(up, lw.inf if down is None else down, reach=reach)
        return groups, unlisted(float(up), INF if down is None else float(down), reach, beside)
    if kind == "stops":
        others, stops = [draw.choice([0, 1]) for _ in range(draw.choice([1, 2]))], draw.choice([1, 2])
        return accounting.SanitizedEvent(up, stops=stops), stopping(float(up), stops, others)
    yes = math.exp(float(up)) / (1 + math.exp(float(up)))
    return accounting.PureEvent(up, up), lambda there: {0: 1 - yes, 1: yes} if there else {0: yes, 1: 1 - yes}


def several(draw: random.Random, most: int) -> tuple[list[Event], list[With]]:
    pairs = [event(draw) for _ in range(draw.randint(1, most))]
    return [made for made, _ in pairs], [law for _, law in pairs]


@pytest.mark.parametrize("seed", range(3))
def test_no_delta_is_too_small(seed: int) -> None:
    draw, attained = random.Random(seed), 0
    for _ in range(12):
        events, laws = several(draw, 2)
        if draw.random() < 0.4:  # a sample of several releases
            inner, of_inner = several(draw, 2)
            price = draw.choice([Fraction(1, 10), Fraction(1)])
            events.append(accounting.SubsampledEvent(accounting.ComposedEvent(inner), price))
            laws.append(sampled(together(of_inner), 1 - math.exp(-float(price))))
        accountant, law = accounting.Accountant([accounting.ComposedEvent(events)]), together(laws)
        here, away = law(1), law(0)
        for way, x, y in (("withdraw", here, away), ("insert", away, here)):
            for epsilon in (Fraction(0), Fraction(1, 4), Fraction(1), Fraction(2)):
                right, claimed = hockey_stick(x, y, float(epsilon)), accountant.delta(epsilon, way)
                assert right - 1e-7 <= claimed, (events, way, epsilon)
                attained += right > 1e-6 and claimed < right + 1e-3
    assert attained >= 20
