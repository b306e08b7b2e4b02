# SPDX-License-Identifier: Apache-2.0
"""Noisy sums and a noisy number of people that are published together, and how they share the price of each step.

A step that moves the sums only gives them its whole price. Of a step by which somebody comes or goes the sums take a share,
and what they leave is the number's. So the sums' rate is the least over all steps, and the number gets all that is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from leeward.distance import Line
from leeward.errors import NotPrivateError
from leeward.exact._real import Real, inf
from leeward.notion import INSERT, WITHDRAW, Notion
from leeward.notion._metric import BoundedChange
from leeward.notion._notion import Step
from leeward.query._sensitivity import allowed_rates
from leeward.query._statistic import Statistic


@dataclass(frozen=True)
class Far:
    """How far one person moves the sums at most, at the rates that they have to one another.

    Attributes:
        presence: by coming or going.
        within: by having any other number, in the same group.
        near: by a number one step away.
    """

    presence: Fraction | int
    within: Fraction | int
    near: Fraction | int


def shared(
    query: Statistic, notion: Notion, steps: Sequence[Step], far: Far, share: Fraction = Fraction(1, 2)
) -> tuple[Real, Line]:
    """Return the rate of the sums, and the rates of the number of people.

    Args:
        query: the question.
        notion: the notion.
        steps: all that it promises something for.
        far: what the sums do.
        share: of the price of somebody's coming or going that the sums take.
    """
    name = query.kind
    if notion.all_records:
        raise NotPrivateError(
            f"A {name} where all values may change at once, over a private number of people",
            "their sum may move by any amount",
            "Declare the number of people, if it is public and there are no groups; or ask a percentile",
        )
    moves = list[tuple[Real, Fraction, int, int]]()  # cost, how far the sums move, how far the number rises and falls
    for step in steps:
        query.effect(step.change)  # refuses what it refuses
        if isinstance(step.change, BoundedChange):
            moves.append((step.cost, Fraction(far.near), 0, 0))
            continue
        leaves, joins = (step.cost, Fraction(far.presence), 0, 1), (step.cost, Fraction(far.presence), 1, 0)
        if step.change == WITHDRAW:
            moves.append(leaves)
        elif step.change == INSERT:
            moves.append(joins)
        else:  # any other record, in any other group, or none
            other = int(len(query.groups) > 1)
            moved = max(far.within, 2 * far.presence) if other else far.within
            moves += [(step.cost, Fraction(moved), other, other), leaves, joins]
    rate = min(
        (cost / (move / share if rise or fall else move) for cost, move, rise, fall in moves if move), default=inf
    )
    left = [(cost - rate * move, Fraction(rise), Fraction(fall)) for cost, move, rise, fall in moves if rise or fall]
    if not left:
        raise NotPrivateError(
            f"A {name} over a private number of people under {notion.name}",
            "no step of the notion adds or removes a person, so their number is public",
            "Declare it: people = …",
        )
    return rate, allowed_rates(left)
