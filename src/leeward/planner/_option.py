# SPDX-License-Identifier: Apache-2.0
"""One way to answer a question: a notion and a mechanism, with what it costs and what it is worth, before it is bought.

Rows that `leeward.release` can carry out hold the very `Plan` that it would carry out, and all their numbers are read off
that plan. Two more are there for comparison only: norm noise, where one person may be at most of a few places, and the
subsampled count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, assert_never

from leeward._plain import at_most, share_of
from leeward.accounting import Accountant, Direction, GeometricEvent, PureEvent, SanitizedEvent
from leeward.accounting._events import Event
from leeward.analysis._bounds import BestDecision
from leeward.distance import Line
from leeward.errors import LowUtilityError, NotPrivateError
from leeward.exact._real import Exact, Real, inf, integer
from leeward.exact._weight import Weight, weight
from leeward.mechanism import AdaptiveSanitized, Everyone, Geometric, Sanitized
from leeward.mechanism._calibration import least_multiple, rate_for
from leeward.mechanism._threshold_rule import CountNoise, ThresholdRule
from leeward.notion import ADD_FACT, DROP_FACT, GROW, INSERT, REPLACE, SHRINK, WITHDRAW, GroupDP, Notion, Personalised
from leeward.planner._decisions import Decisions
from leeward.planner._everyone import bounding
from leeward.planner._expected import (
    Counts,
    Errors,
    ExpectedAnswers,
    errors,
    errors_above,
    expected_answers,
    expected_answers_stopping,
)
from leeward.planner._people import a, people
from leeward.planner._plan import Plan, Planned, moved
from leeward.planner._row import Row
from leeward.query import CountVisitors
from leeward.query._selection import Counted

Offered = Literal[Planned, "norm", "subsampled count"]

_DIRECTIONS: dict[object, Direction] = {
    WITHDRAW: "withdraw",
    SHRINK: "withdraw",
    DROP_FACT: "withdraw",
    INSERT: "insert",
    GROW: "insert",
    ADD_FACT: "insert",
    REPLACE: "replace",
}
_FACTS = frozenset({DROP_FACT, ADD_FACT})


@dataclass(frozen=True)
class Option(Row):
    """A row of decisions about counts.

    Attributes:
        mechanism: what makes the answer.
        plan: what `leeward.release` would carry out; None if refused, and for what is only compared.
        decisions: what is said of a noisy count; None if refused, and for the subsampled count.
        law: the noise on one count; likewise.
        expected: what it would say if the places held the counts given; None without counts.
        errors: how far a published count is from the truth; of a mechanism that stops, one that came out above its
            threshold, for those counts (without counts: of a place with nobody). None if refused.
        remapped: the expected absolute loss of a published count, after the best remap for those counts.
        note: what else must be known of it.
    """

    mechanism: Offered
    plan: Plan | None = None
    decisions: Decisions | None = None
    law: CountNoise | None = None
    expected: ExpectedAnswers | None = None
    errors: Errors | None = None
    remapped: float | None = None
    note: str = ""

    def __str__(self) -> str:
        said = f"{self.notion}, {self.mechanism}: "
        if self.refused:
            return f"{said}refused: {self.refused}"
        said += f"price {self.price}"
        query = None if self.plan is None else self.plan.query
        where = "a place with nobody" if query is None else f"{a(query.noun)} with {people(0, query.many)}"
        for word, chance in (("safe", self.probability_safe(0)), ("dangerous", self.probability_dangerous(0))):
            if chance is not None:
                said += f", {where} called {word}: {share_of(float(chance))}"
        if self.decisions is None:
            return said
        return said + (
            ", never wrong" if self.never_wrong else f", wrong at most {at_most(float(self.error_at_most or 0), 6)}"
        )

    @property
    def releasable(self) -> bool:
        """Whether `leeward.release` can carry it out."""
        return self.plan is not None

    @property
    def of_everyone(self) -> bool:
        """Whether what it says of visitors is about everyone who was there: nobody is left out, or those are bounded."""
        plan = self.plan
        if plan is None or not isinstance(plan.query, CountVisitors):
            return False
        return plan.about == "everyone" or not plan.query.truncates

    @property
    def never_wrong(self) -> bool:
        """Whether nothing it decides is ever wrong."""
        return self.decisions is not None and self.decisions.never_wrong

    @property
    def error_at_most(self) -> Fraction | None:
        """α: how often a decision about one place may be wrong; None where none is ever."""
        return None if self.decisions is None else self.decisions.error_at_most

    def probability_safe(self, count: int) -> Weight | None:
        """Return Pr[safe | c], exactly, of a place that is reached; None if nothing is called safe."""
        if self.decisions is None or self.decisions.safe is None:
            return None
        return self.decisions.probabilities(count).safe

    def probability_dangerous(self, count: int) -> Weight | None:
        """Return Pr[dangerous | c], exactly; None if nothing is called dangerous."""
        if self.decisions is None or self.decisions.dangerous is None:
            return None
        return self.decisions.probabilities(count).dangerous

    def answered(self, places: int) -> float | None:
        """Return how many of this many places are answered if nobody is anywhere; None if all always are."""
        return None if self.plan is None else self.plan.expected_answered_if_empty(places)

    def event(self, way: Direction) -> Event | None:
        """Return what accountants see of one release in one direction; None if refused, or if they do not know its steps.

        An event says what one *person* moves. A step that changes several people's records at once, such as those of a
        group, moves more, and how they may move together has no event: then there is none. Nor is there one where nothing
        bounds how many places a person is at, and noise is for a single fact. The event is ``monotone`` where the question
        is, which counts cut at ``places_per_person`` are not.
        """
        event = self._step(way)
        if isinstance(event, GeometricEvent) and self.plan is not None:
            places = self.plan.query.most_counts
            return None if places is None else replace(event, places=places)
        return None if isinstance(event, PureEvent) and _FACTS & set(self.notion.changes) else event

    def _step(self, way: Direction) -> Event | None:
        """What accountants would see if one step of the notion in this direction were all that a person can do.

        Of two promises that one output keeps, one may be about persons and the other about single facts, so each direction
        has a step of its own.
        """
        if self.law is None or not _one_person(self.notion):
            return None
        if self.plan is None:
            ways = {_DIRECTIONS[change] for change in self.notion.changes}
            if "replace" in ways:  # a pure event does not say what replacing costs
                return None
            return PureEvent(*(self.price if way in ways else inf for way in ("withdraw", "insert")))
        monotone = _monotone(self.plan.query)
        match self.plan.mechanism:
            case Geometric():
                steps = {change for change in self.notion.changes if _DIRECTIONS[change] == way}
                # a step that is one fact is at one place
                places = 1 if steps <= _FACTS else self.plan.query.most_counts or 1
                return GeometricEvent(self.law.up, self.law.down, places=places, monotone=monotone)
            case Everyone():  # whoever is over the bound moves all that it may, and one-sided noise has one loss for that
                return PureEvent(*(self.price if way == "withdraw" else inf for way in ("withdraw", "insert")))
            case (Sanitized() | AdaptiveSanitized()) as stopping:
                # c payments of ε, in parts or whole: c constant losses of ε dominate all that costs c·ε one way
                return SanitizedEvent(stopping.line.fall, stops=stopping.payments(self.plan.places), monotone=monotone)
            case never:
                assert_never(never)

    def composed(self, releases: int, delta: Exact) -> dict[Direction, float]:
        """Return ε at this δ of so many releases together, in each direction that the notion protects.

        Nothing where no event says what one of its steps moves: what is proved is then their price, added up.
        """
        grid = "1e-3" if self.notion.epsilon >= "0.1" else "1e-4"  # finer changes no digit that is shown
        found: dict[Direction, float] = {}
        for way in dict.fromkeys(_DIRECTIONS[change] for change in self.notion.changes if change in _DIRECTIONS):
            event = self._step(way)
            if event is not None:
                found[way] = Accountant(grid=grid).compose(event, releases).epsilon(delta, way)
        return found

    def epsilon_for(self, count: int, probability: Exact) -> Notion | None:
        """Return the notion at the least ε, in thousandths, at which a count is called safe so often; None if no ε does."""
        if self.plan is None or self.decisions is None or self.decisions.safe is None:
            return None
        safe, query, one = self.decisions.safe, self.plan.query, self.notion.with_epsilon(1)
        if integer(count, "count") > safe.bound or weight(probability) >= 1:
            return None
        moves = moved(self.plan.mechanism, one, query)
        wish = (count, safe.bound)
        try:
            if isinstance(self.plan.mechanism, Everyone):
                of_all = _of_all(self.plan, count)
                rate = least_multiple(lambda e: of_all(e, safe.bound) >= weight(probability), "0.001", 10_000)
            elif isinstance(self.plan.mechanism, AdaptiveSanitized):
                rate = least_multiple(
                    lambda c: _said(moves.line.scale(c), count, safe.bound) >= weight(probability), "0.001", 10_000
                )
            else:
                rate = rate_for(moves.line, safe=wish, probability=probability, error_at_most=safe.error_at_most)
        except LowUtilityError:
            return None
        return self.notion.with_epsilon(rate)

    def safe_at_most_for(self, count: int, probability: Exact) -> int | None:
        """Return the least t with which a count is called safe so often, at this ε; None if no t does."""
        if self.law is None or self.decisions is None or self.decisions.safe is None:
            return None
        safe, wish = self.decisions.safe, weight(probability)
        if wish > 1 or (wish == 1 and not self.law.up.is_infinite):
            return None
        if self.plan is not None and isinstance(self.plan.mechanism, AdaptiveSanitized):
            line, below = self.plan.mechanism.line, integer(count, "count") - 1
            return below + int(least_multiple(lambda t: _said(line, count, below + int(t)) >= wish, 1))
        if self.plan is not None and isinstance(self.plan.mechanism, Everyone):
            of_all, below = _of_all(self.plan, integer(count, "count")), integer(count, "count") - 1
            own = self.notion.epsilon
            return below + int(least_multiple(lambda t: of_all(own, below + int(t)) >= wish, 1))
        # the last count called safe lies as far from t for every t, and has to be this far above the truth
        above = 0 if wish == 1 else self.law.quantile(wish)
        return integer(count, "count") + max(above - (safe.threshold - safe.bound), 0)


def _of_all(made: Plan, count: int) -> Callable[[Exact, int], Weight]:
    """Return how often a count is called safe of everyone at an ε and a threshold, each with the best split of its own."""
    query, guess = made.query, made.left_out
    assert isinstance(query, CountVisitors)
    return lambda e, t: bounding(query, made.notion.with_epsilon(e), t, guess).law.cdf(t - count)


def _said(line: Line, count: int, at_most: int) -> Weight:
    """Pr[safe | count] at any budget, where margins are as wide as the threshold asks."""
    return AdaptiveSanitized(line, at_most=at_most, budget=line.fall).law.cdf(at_most - count)


def with_counts(option: Option, counts: Counts | None) -> tuple[ExpectedAnswers | None, float | None]:
    """Return what an option would say of these counts, and the loss of its remapped counts."""
    if counts is None or option.decisions is None:
        return None, None
    match None if option.plan is None else option.plan.mechanism:
        case Geometric() as noise:
            return expected_answers(option.decisions, counts), _remapped(noise, counts)
        case (Sanitized() | AdaptiveSanitized()) as stopping:
            return expected_answers_stopping(stopping, counts), None
        case None | Everyone():  # one draw is shared by all places
            return expected_answers(option.decisions, counts, independent=False), None
        case never:
            assert_never(never)


def errors_of(option: Option, counts: Counts | None) -> Errors | None:
    """Return how far a count that an option publishes is from the truth."""
    if option.law is None:
        return None
    match option.plan:
        case Plan(mechanism=(Sanitized() | AdaptiveSanitized()) as stopping):
            return errors_above(stopping, counts)
        case _:
            return errors(option.law)


_MOST_TRUTHS = 16
"""The largest count up to which remapped losses are computed: they take time."""


def _remapped(noise: Geometric, counts: Counts) -> float | None:
    top = max(counts)
    if top > _MOST_TRUTHS:
        return None
    from leeward.analysis._remap import remap

    total = sum(counts.values())
    prior = [Fraction(counts.get(c, 0), total) for c in range(top + 1)]
    return float(remap(noise.on(range(top + 1)), prior).loss)


def _one_person(notion: Notion) -> bool:
    """Return whether each step changes one person's record, in a way of which it is known where it may lead."""
    alone = notion.sums_over_persons and not notion.all_records
    return alone and all(change in _DIRECTIONS for change in notion.changes)


def _monotone(query: Counted) -> bool:
    """Return whether part of a person's facts moves the counts as all of them do, or less."""
    try:
        parts = query.effect(SHRINK), query.effect(GROW)
    except NotPrivateError:
        return False
    return parts == (query.effect(WITHDRAW), query.effect(INSERT))


def best_possible(option: Option, query: Counted) -> Callable[[int], tuple[Weight | None, Weight | None]]:
    """Return the best (Pr[safe | c], Pr[dangerous | c]) of any decision about one count under the notion, given its errors.

    A decision is as good as its steps allow: what it costs to lower one count by 1, and to raise it. With one place a
    person, geometric noise and a threshold (with a coin at the threshold) attain it.

    Under `GroupDP` one step moves the count by up to m, the size of the largest group, for one ε: between 0 and the number
    of people, every such move is one of the largest group's, with the others where it needs them. So a count that is k from
    the threshold is ⌈k/m⌉ steps from it, and the recursion over these is attained too: two counts at most m apart have at
    most one step between them. Where there are too few people for *safe* to be wrong, nothing limits it.

    (None, None) for a notion of which it is only known how far a step moves a count at most, such as one with policies:
    noise is fitted to that, but it is not a step that there is.
    """
    notion, jump = option.notion, 1
    people = len(notion.persons) if isinstance(notion, Personalised) else None
    lower = raised = inf
    if type(notion) is GroupDP:
        people, jump = notion.people, max(map(len, notion.groups))
        lower = raised = notion.epsilon
    elif not _one_person(notion):
        return lambda count: (None, None)
    else:
        for step in notion.steps:
            each = query.effect(step.change).each
            lower = min(lower, step.cost) if any(fall for _, fall in each) else lower
            raised = min(raised, step.cost) if any(rise for rise, _ in each) else raised

    def curve(decision: ThresholdRule | None, nearer: Real, farther: Real) -> Callable[[int], Weight | None]:
        if decision is None:
            return lambda count: None
        if decision.word == "safe" and people is not None and people <= decision.bound:
            return lambda count: weight(1)
        best, bound = BestDecision(nearer, farther, decision.error_at_most or 0), decision.bound
        way = -1 if decision.word == "safe" else 1
        return lambda count: best.at(-(-max(way * (count - bound) + 1, 0) // jump))

    decided = option.decisions
    of_safe = curve(decided.safe if decided else None, lower, raised)
    of_dangerous = curve(decided.dangerous if decided else None, raised, lower)
    return lambda count: (of_safe(count), of_dangerous(count))
