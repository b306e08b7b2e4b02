# SPDX-License-Identifier: Apache-2.0
"""Sensitivity has a direction: which noise rates a notion allows for a query.

The rule: noise of rates (a, b), a against rising and b against falling answers, is allowed iff for every step of the
notion ``Σ over coordinates of (a·rise + b·fall) ≤ the cost of the step``. It is ADP's p-sensitivity (Takagi et al.,
Definition V.1) with the sign kept: an answer is *monotone* if all steps move it one way (Definition V.2), and then the
other rate is ∞, so noise goes one way only.

Machine-checked (docs/proved.md): `rule_of_rates`, `rates_one_way`, `rates_either_way`, `rates_both_ways`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import flint

from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError, UndecidedError
from leeward.exact._real import ONE, Real, inf, whole_of
from leeward.notion import Change, Notion, Step
from leeward.notion._generated import check_generated
from leeward.query._counting import Domain
from leeward.query._declared import check_declared
from leeward.query._effect import Effect, Move, Query


@dataclass(frozen=True)
class Sensitivity:
    """How far a query's answer moves along the steps of a notion, and the noise rates that follow.

    Attributes:
        rise: the largest total rise along any step.
        fall: the largest total fall along any step.
        line: the directed line on answers whose mechanisms are private under the notion.
        total: Δ_p, the largest L1 distance between the answers of any step (ADP, Definition V.1): rise and fall of one and
            the same step together.
    """

    rise: Fraction
    fall: Fraction
    line: Line
    total: Fraction

    @property
    def monotone(self) -> bool:
        """Whether all steps move the answer one way (ADP, Definition V.2)."""
        return not (self.rise and self.fall)

    @property
    def sign(self) -> int:
        """Sign_p (ADP, Definition V.2): +1 if answers only rise along steps, −1 if they only fall, 0 if both."""
        return 0 if not self.monotone else 1 if self.rise else -1


@taught
def sensitivity(notion: Notion, query: Query, steps: Sequence[Step] | None = None) -> Sensitivity:
    """Return the sensitivity of the whole answer, for noise on every coordinate at once.

    Args:
        notion: the notion.
        query: the question.
        steps: of the notion, all that it promises something for; by default ``notion.steps``.

    Raises:
        NotPrivateError: if the query cannot be answered under the notion, or nothing bounds one person's effect.
    """
    taken = _steps(notion, query, steps)
    return _solve(notion, ((step, _bounded(_effect(notion, query, step.change))) for step in taken))


@taught
def sensitivity_each(notion: Notion, query: Query, steps: Sequence[Step] | None = None) -> Sensitivity:
    """Return the sensitivity of a single coordinate, for mechanisms that pay for one coordinate at a time.

    Args:
        notion: the notion.
        query: the question.
        steps: as for `sensitivity`.

    Raises:
        NotPrivateError: if the query cannot be answered under the notion.
    """
    taken = _steps(notion, query, steps)
    return _solve(notion, ((step, _effect(notion, query, step.change).each) for step in taken))


@taught
def sensitivity_lines(notion: Notion, query: Query) -> tuple[Line, ...]:
    """Return a line for each coordinate, where coordinates differ in direction: noise for all of them at once.

    Every coordinate has the same rate ε/Δ_p, Δ_p the largest total move along a step of cost ε, and ∞ in the direction in
    which no step moves it: the noise of ALap (ADP, Definition V.3 with Sign_p of each coordinate).

    Raises:
        InputError: if the query does not say how single coordinates move.
        NotPrivateError: see `sensitivity`.
    """
    effects = [(step, _effect(notion, query, step.change)) for step in _steps(notion, query)]
    if any(effect.by_coordinate is None for _, effect in effects):
        raise InputError(
            "A line for each coordinate of this query",
            "it does not say how single coordinates move",
            "Use the one line of sensitivity(notion, query) for all of them",
        )
    # for coordinates of either sign, only the length |rise| + |fall| of a move counts
    whole = _solve(notion, ((step, tuple((r + f, 0) for r, f in _bounded(effect))) for step, effect in effects))
    moves = [effect.by_coordinate or () for _, effect in effects]
    rises = [any(row[i][0] for row in moves) for i in range(len(moves[0]))]
    falls = [any(row[i][1] for row in moves) for i in range(len(moves[0]))]
    rate = whole.line.rise
    return tuple(Line(rate if up else inf, rate if down else inf) for up, down in zip(rises, falls, strict=True))


@taught
def rate_between(notion: Notion, query: Query, steps: Sequence[Step] | None = None) -> Real:
    """Return the largest rate at which one count may be compared with another: for `leeward.mechanism.NoisyMax`.

    The least ``cost/(rise + fall)`` over the steps, where a step raises some count by at most ``rise`` while it lowers
    another by at most ``fall``; how many counts it moves does not matter. ε where all move one way by at most 1, ε/2 where
    they move both ways. Where some pairs of records raise a count and others lower one, but none does both, the sum of all
    that one pair moves is the smaller bound.

    Args:
        notion: the notion.
        query: the question about counts.
        steps: of the notion, all that it promises something for; by default ``notion.steps``.

    Raises:
        NotPrivateError: if the query cannot be answered under the notion, or secrets at distance 0 differ in an answer.
    """
    effects = ((step, _effect(notion, query, step.change)) for step in _steps(notion, query, steps))
    between = ((step, _apart(effect)) for step, effect in effects if effect.each)
    return _solve(notion, ((step, ((Fraction(move), 0),)) for step, move in between)).line.rise


def _apart(effect: Effect) -> Fraction | int:
    """Return how far one change moves two counts apart at most: no further than its largest rise and fall, nor its sum."""
    each = max(r for r, _ in effect.each) + max(f for _, f in effect.each)
    return each if effect.total is None else min(each, max((r + f for r, f in effect.total), default=each))


@taught
def rank_rate(notion: Notion, query: Query, steps: Sequence[Step] | None = None) -> Real:
    """Return the largest rate at which a percentile may be named by rank: for `leeward.mechanism.RankSelection`.

    The least ``cost/range`` over the steps, where the range is `Percentile.rank_range`: it does not depend on how far apart
    values lie, nor on the grid. For a median it is ε where people come or go, ε/2 where a value becomes any other.

    Args:
        notion: the notion.
        query: the percentile; or a statistic that is one, by groups or whole.
        steps: of the notion, all that it promises something for; by default ``notion.steps``.

    Raises:
        InputError: it is no percentile.
        NotPrivateError: the percentile cannot be answered under the notion; or all values may change at once, which
            moves the ranks of any number of people.
    """
    taken = _steps(notion, query, steps)
    range_of = getattr(query, "rank_range", None)
    if range_of is None:
        raise InputError(
            f"A rate for the rank of {echo(query)}",
            "ranks are those of a percentile",
            "Give leeward.query.median(values), or another percentile",
        )
    if notion.all_records:
        raise NotPrivateError(
            f"A percentile by rank under {notion}",
            "the values of all persons may change at once, and nothing bounds how many ranks that moves",
            "Use noise on the percentile itself, which moves no further than the values, or a notion that sums over persons",
        )
    moves = ((step, ((range_of(step.change), 0),)) for step in taken)
    return _solve(notion, moves).line.rise


def _steps(notion: Notion, query: Query, steps: Sequence[Step] | None = None) -> Sequence[Step]:
    """Return the steps that are given, or the notion's; either way the notion is checked."""
    if not isinstance(notion, Notion) or not hasattr(query, "effect"):
        raise InputError(
            f"The sensitivity of {echo(query)} under {echo(notion)}",
            "it is about a notion and a query that knows how far a change moves it, in this order",
            "Give sensitivity(notion, query), with a query of leeward.query or one that has `effect`",
        )
    check_generated(notion)
    if isinstance(declared := getattr(query, "declared", None), Domain):
        check_declared(notion, declared)
    return notion.steps if steps is None else steps


def _effect(notion: Notion, query: Query, change: Change) -> Effect:
    if not notion.all_records:
        return query.effect(change)
    of_all = getattr(query, "effect_of_all", None)
    if of_all is None:
        raise NotPrivateError(
            f"This answer under {notion}",
            "the records of all persons may change at once, and nothing bounds how far that moves it",
            "Ask a percentile, or use a notion that sums over persons",
        )
    return cast(Effect, of_all(change))


def _bounded(effect: Effect) -> tuple[Move, ...]:
    if effect.total is None:
        raise NotPrivateError(
            "Noise on every count without a bound on one person's effect",
            "a person may be counted at every place, so no finite noise would do",
            "Give places_per_person; or decide only what is safe, under presence or addition-only, by the sanitized"
            " mechanism, which needs no bound",
        )
    return effect.total


def _solve(notion: Notion, effects: Iterable[tuple[Step, tuple[Move, ...]]]) -> Sensitivity:
    moves = [(step.cost, Fraction(rise), Fraction(fall)) for step, total in effects for rise, fall in total]
    rise = max((r for _, r, _ in moves), default=Fraction(0))
    fall = max((f for _, _, f in moves), default=Fraction(0))
    if not rise and not fall:
        raise NotPrivateError(
            f"This answer under {notion}",
            "no step of the notion changes it, so it says nothing about what the notion protects",
            "Publish it without noise, or choose the notion that protects what you count",
        )
    return Sensitivity(rise, fall, allowed_rates(moves), max(r + f for _, r, f in moves))


def allowed_rates(moves: Iterable[tuple[Real, Fraction, Fraction]]) -> Line:
    """Return the largest balanced rates (a, b) with ``a·rise + b·fall ≤ cost`` for every (cost, rise, fall).

    Each rate starts at the largest that its direction alone allows (∞ if no step moves that way); where one step moves the
    answer both ways, both rates are lowered by the same factor, so equal costs give equal rates.
    """
    moves = list(moves)
    for cost, rise, fall in moves:
        if not cost and (rise or fall):
            raise NotPrivateError(
                "An answer that differs between secrets at distance 0",
                "such secrets must give the same answer with the same noise",
                "Ask something that is the same for both, or give them a distance above 0",
            )
    up = min((cost / rise for cost, rise, _ in moves if rise), default=inf)
    down = min((cost / fall for cost, _, fall in moves if fall), default=inf)
    factor = min((_share(cost, up * rise + down * fall) for cost, rise, fall in moves if rise and fall), default=ONE)
    return Line(rise=up * min(factor, ONE), fall=down * min(factor, ONE))


def _share(cost: Real, wanted: Real) -> Real:
    """Return cost/wanted, at most 1: a multiple of 2^-53 just below it where the quotient has no closed form.

    Both rates alone are allowed, so ``wanted`` is at most twice the cost, and the share at least one half.
    """
    if wanted <= cost:
        return ONE
    try:
        return cost / wanted
    except UndecidedError:
        with flint.ctx.workprec(_SHARE_BITS):
            quotient = cost.arb(_SHARE_BITS) / wanted.arb(_SHARE_BITS) * 2**53
            return ONE * Fraction(whole_of(quotient.lower().floor()), 2**53)


_SHARE_BITS = 256
