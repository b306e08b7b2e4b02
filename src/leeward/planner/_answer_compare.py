# SPDX-License-Identifier: Apache-2.0
"""Before numbers are paid for: a statistic, or groups that nobody has listed, under every notion and mechanism.

Each row is made by the function that `leeward.release` carries out. Errors of two rows are set beside each other only where
they are of one kind: a percentile by rank is off by so many people, with noise of its own by so much of what is asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, TypeAlias

from leeward._plain import at_most
from leeward.accounting._budget_notion import budget_notion
from leeward.accounting._price_of_delta import charge_delta
from leeward.errors import BudgetConflictError, NoiseError, RefusedError
from leeward.exact._real import Exact
from leeward.notion import Notion, RemovalOnly, words_of
from leeward.notion._metric import Manhattan, NormalisedManhattan
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, RankAccuracy, UnlistedAccuracy
from leeward.planner._compare import Scenario, Ways
from leeward.planner._number_plan import NumberPlan
from leeward.planner._people import people
from leeward.planner._rank_plan import RankPlan
from leeward.planner._row import Row, at_epsilon, notions_beside, with_prices
from leeward.planner._statistic_plan import PercentileMechanism, plan_statistic
from leeward.planner._unlisted_plan import UnlistedPlan, delta_of, plan_unlisted
from leeward.planner._useless import refuse_useless
from leeward.query._numeric import Percentile
from leeward.query._statistic import Statistic
from leeward.query._unlisted_groups import UnlistedGroups

AnsweredBy = Literal["geometric", "rank", "threshold"]
"""Noise on the answer; a percentile by its rank; or noise on counts, of which those that reach a threshold are shown."""

Side = Literal["never too low", "never too high", "both ways"]
"""On which sides of the exact answer an answer may lie."""

Answered: TypeAlias = Statistic | UnlistedGroups
"""A question whose answers are numbers, of which nothing is decided."""

_MANY = 1
"""Of the numbers of people for which the error of a mean is known, that by which rows are compared: the second."""


@dataclass(frozen=True)
class AnswerOption(Row):
    """A row of ways to answer with numbers.

    Attributes:
        mechanism: what makes the answer.
        delta: δ beside its price; 0 where the promise is a pure ε.
        plan: what `leeward.release` carries out; None where it is refused.
        useless: why `leeward.release` would not go on by itself: it would say next to nothing; empty if it would.
    """

    mechanism: AnsweredBy
    delta: Fraction = Fraction(0)
    plan: NumberPlan | RankPlan | UnlistedPlan | None = None
    useless: str = ""

    @property
    def accuracy(self) -> NumberAccuracy | MeanAccuracy | RankAccuracy | UnlistedAccuracy | None:
        """How far its answers are off; None where it is refused."""
        return None if self.plan is None else self.plan.accuracy()

    @property
    def side(self) -> Side | None:
        """On which sides of the exact answer it may lie; None where it is refused."""
        made = self.plan
        if made is None:
            return None
        if isinstance(made, RankPlan) or (isinstance(made, NumberPlan) and len(made.parts) > 1):
            return "both ways"
        line = made.mechanism.line if isinstance(made, UnlistedPlan) else made.parts[0].line
        return "never too low" if line.rise.is_infinite else "never too high" if line.fall.is_infinite else "both ways"

    @property
    def error(self) -> float | None:
        """The number by which rows of one mechanism are compared: the less, the nearer; None where it is refused.

        The error kept with 95 %: of a mean or spread over a private number, that of 1,000. Of groups that nobody has listed,
        how many people one needs to be shown every second time.
        """
        accuracy = self.accuracy
        if isinstance(accuracy, MeanAccuracy):
            return accuracy.by_number[_MANY].within_95_percent
        if isinstance(accuracy, UnlistedAccuracy):
            return accuracy.half_shown_from
        return None if accuracy is None else accuracy.within_95_percent

    @property
    def nearness(self) -> str:
        """Say that error with its unit, as a part of a sentence."""
        accuracy = self.accuracy
        if isinstance(accuracy, MeanAccuracy):
            many = accuracy.by_number[_MANY]
            return f"95 % within {at_most(many.within_95_percent)} for {many.number:,} {accuracy.counted}"
        if isinstance(accuracy, UnlistedAccuracy):
            half = people(accuracy.half_shown_from, accuracy.counted)
            return f"a group reaches the threshold every second time with {half}"
        if isinstance(accuracy, RankAccuracy):
            return f"95 % within {accuracy.within_95_percent:,} {accuracy.counted}"
        return "" if accuracy is None else f"95 % within {at_most(accuracy.within_95_percent)}"

    def __str__(self) -> str:
        if self.refused:
            return f"{self.notion}, {self.mechanism}: refused: {self.refused}"
        with_delta = f" with δ = {self.delta}" if self.delta else ""
        return f"{self.notion}, {self.mechanism}: price {self.price}{with_delta}, {self.nearness}, {self.side}"


@dataclass(frozen=True)
class AnswerComparison(Ways[Answered, AnswerOption]):
    """Ways to answer with numbers; see `leeward.planner._compare`."""

    @property
    def advice(self) -> tuple[str, ...]:
        """Say what is taken as asked, what is nearer and what that gives up, and what protects more and is no worse."""
        own = self.options[0]
        if own.error is None:
            return ("Nothing can be released as asked",)
        said = [f"As asked, by {own.mechanism}: {own.nearness}, {own.side}"]
        said += [*(own.plan.beyond() if isinstance(own.plan, RankPlan) else ()), *self._other_ways(own)]
        like = [one for one in self.possible if one.mechanism == own.mechanism and one.notion != own.notion]
        like = [one for one in like if not one.useless]
        for other in like:
            assert other.error is not None
            words = words_of(other.notion, rows=self.query.of_rows)
            if other.in_asked.is_infinite:
                if other.error < own.error or (other.side != own.side == "both ways"):
                    gives_up = words.reveals or "something that the notion asked for protects is given up"
                    said.append(f"{other.notion.name}: {other.nearness}, {other.side}; not protected: {gives_up}")
            elif other.in_asked <= 1 and other.error <= own.error and other.side == own.side:
                said.append(f"{other.notion.name} promises all of that and is no worse: {other.nearness}")
        return tuple(said)

    def _other_ways(self, own: AnswerOption) -> Iterator[str]:
        for other in self.possible:
            if other.notion == own.notion and other.mechanism != own.mechanism:
                said = "it would say next to nothing" if other.useless else other.nearness
                yield f"By {other.mechanism} at the same price: {said}"

    def __str__(self) -> str:
        return "\n".join([*map(str, self.options), *self.advice])


def compare_answers(
    query: Answered,
    notion: Notion,
    scenario: Scenario,
    *,
    mechanism: PercentileMechanism = "auto",
    delta: Exact | None = None,
) -> AnswerComparison:
    """Compare ways to answer, under the notion asked for and all others at its ε: free, because no data are read."""
    if isinstance(query, Statistic):
        scenario = replace(scenario, places=query.cells)
    first = _first(query, notion, mechanism, delta)
    rows = [first, *(one for one in _others(query, notion, delta, scenario) if _row(one) != _row(first))]
    finished = tuple(_finished(one, query, notion, scenario) for one in rows)
    refusal = finished[0].refused or ("" if scenario.accept_useless else finished[0].useless)
    return AnswerComparison(query, notion, scenario, finished, refusal)


def _row(option: AnswerOption) -> tuple[Notion, str]:
    return option.notion, option.mechanism


def _first(query: Answered, notion: Notion, mechanism: PercentileMechanism, delta: Exact | None) -> AnswerOption:
    """Return the row of what `leeward.release` carries out as asked."""
    unlisted = isinstance(query, UnlistedGroups)
    named: AnsweredBy = "threshold" if unlisted else "rank" if mechanism == "rank" else "geometric"
    try:
        if isinstance(query, UnlistedGroups):
            return _of(plan_unlisted(query, notion, delta))
        return _of(plan_statistic(query, notion, mechanism))
    except (RefusedError, NoiseError) as refused:
        return AnswerOption(named, notion=notion, price=notion.epsilon, refused=str(refused))


def _of(made: NumberPlan | RankPlan | UnlistedPlan) -> AnswerOption:
    by: AnsweredBy = (
        "rank" if isinstance(made, RankPlan) else "threshold" if isinstance(made, UnlistedPlan) else "geometric"
    )
    return AnswerOption(by, delta_of(made), made, notion=made.notion, price=made.price)


def _others(query: Answered, asked: Notion, delta: Exact | None, scenario: Scenario) -> Iterator[AnswerOption]:
    by_rank = isinstance(query, Statistic) and isinstance(query.numeric, Percentile)
    for notion in _notions(query, asked):
        if isinstance(query, UnlistedGroups):
            needed = None if isinstance(notion, RemovalOnly) else scenario.delta if delta is None else delta
            yield _first(query, notion, "auto", needed)
            continue
        if by_rank:
            yield _first(query, notion, "rank", None)
        yield _first(query, notion, "geometric" if by_rank else "auto", None)


def _notions(query: Answered, asked: Notion) -> list[Notion]:
    """Return the notions at the ε asked for, of which a record here is not a set of facts; and closeness of a number."""
    more = list[Notion]()
    if isinstance(query, Statistic) and query.values is not None and not isinstance(asked, Manhattan):
        more.append(NormalisedManhattan(at_epsilon(asked), query.values, nobody=query.people is None))
    return notions_beside(asked, visitors=False, more=more)


def _finished(option: AnswerOption, query: Answered, asked: Notion, scenario: Scenario) -> AnswerOption:
    """Add the prices in the budget's notion and in the notion asked for, and whether it would say anything."""
    counted_in, useless = scenario.counted_in or budget_notion(asked, rows=query.of_rows), ""
    option = with_prices(option, asked, counted_in, rows=query.of_rows)
    if not option.incomparable:
        try:
            charge_delta(option.notion, option.delta, counted_in)
        except BudgetConflictError as refused:
            option = replace(option, in_budget=None, incomparable=refused.because)
    if option.plan is not None:
        try:
            refuse_useless(option.plan, scenario.places)
        except RefusedError as refused:
            useless = str(refused)
    return replace(option, useless=useless)
