# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of safe and dangerous places."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, assert_never

from leeward._plain import at_most, counted, probability
from leeward._statement import (
    AdaptiveStated,
    Chance,
    DecisionStated,
    GeometricStated,
    LookStated,
    MonitorStated,
    SanitizedStated,
    SensitivityStated,
    VisitorQuery,
    VisitorStatement,
    WindowStated,
)
from leeward.mechanism import AdaptiveSanitized, Geometric, Sanitized, ThresholdRule
from leeward.planner._people import at_most_people, people
from leeward.planner._plan import Plan, Planned
from leeward.planner._words import each_place
from leeward.query import CountVisitors, Grid, Places
from leeward.session._statement._heading import SIDES, direction, exact_text, stated

_THEOREMS: dict[Planned, str] = {
    "geometric": "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.4, with exact geometric noise in"
    " place of exponential noise (their Section VIII): if no step of the notion costs less than upward rate × how far it"
    " lowers the counts + downward rate × how far it raises them, the noisy counts are private under the notion.",
    "sanitized": "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.7 (its ratio corrected to e^ε):"
    " saying 'safe' is free where counts only fall along the steps of the notion; each published exceeding count costs ε.",
    "adaptive": "Ding, Wang, Zhang, Kifer, Free Gap Information from the Differentially Private Sparse Vector and Noisy Max"
    " Mechanisms, Algorithm 2, where counts only fall along the steps of the notion: then the threshold needs no noise,"
    " saying 'safe' is free at every look, and a count costs what the look costs that publishes it.",
}


@stated.register
def visitor_statement(plan: Plan, places: int, heading: dict[str, Any], promises: Sequence[str]) -> VisitorStatement:
    """Return the statement of a release of safe and dangerous places."""
    return VisitorStatement(
        **heading,
        query=visitors_asked(plan.query, places),
        sensitivity=_sensitivity(plan),
        mechanism=_mechanism(plan, places, heading["monitor"]),
        decision=_decision(plan, places),
        assumptions=(*visitors_assumed(plan.query), *promises),
        theorems=tuple(_theorems(plan)),
        guaranteed=tuple(_guaranteed(plan, places)),
        not_guaranteed=tuple(_not_guaranteed(plan)),
    )


def visitors_asked(query: CountVisitors, places: int) -> VisitorQuery:
    """Return which visits are counted, and how."""
    zone = _zone(query)
    return VisitorQuery(
        text=f"How many distinct people were at {each_place(places)}{cells(query.places)} {during(query)}",
        places=places,
        window=WindowStated(start=query.window.start.isoformat(), end=query.window.end.isoformat(), timezone=zone),
        keep={column: tuple(values) for column, values in query.visits.keep.items()},
        places_per_person=query.places_per_person,
        if_more=query.if_more if query.places_per_person is not None else None,
    )


def during(query: CountVisitors) -> str:
    """Say in which window."""
    zone = _zone(query)
    return f"from {_when(query.window.start)} up to, but not at, {_when(query.window.end)}" + (
        f" ({zone})" if zone else ""
    )


def _sensitivity(plan: Plan) -> SensitivityStated:
    moves, each = plan.sensitivity, plan.mechanism.each_alone
    subject = "any one count" if each else "all counts together"
    return SensitivityStated(
        rise=str(moves.rise),
        fall=str(moves.fall),
        per_place=each,
        text=f"One step of the notion can raise {subject} by at most {moves.rise} and lower them by at most {moves.fall}"
        + (", for each member of the group" if plan.notion.words.unit == "group" else ""),
    )


def _decision(plan: Plan, places: int) -> DecisionStated:
    safe, dangerous, alpha = plan.sanitizer, plan.alarm, plan.error_at_most
    return DecisionStated(
        safe_at_most=None if safe is None else safe.bound,
        threshold=None if safe is None else safe.threshold,
        never_wrong=None if safe is None else safe.never_wrong,
        dangerous_at_least=None if dangerous is None else dangerous.bound,
        dangerous_threshold=None if dangerous is None else dangerous.threshold,
        dangerous_never_wrong=None if dangerous is None else dangerous.never_wrong,
        error_at_most=exact_text(alpha),
        error_at_most_over_all_places=None if alpha is None else str(plan.decisions.wrong_at_most * places),
        curve=tuple(
            Chance(
                count=count,
                safe=None if chances[0] is None else probability(chances[0]),
                dangerous=None if chances[1] is None else probability(chances[1]),
            )
            for count, chances in plan.decision_curve().items()
        ),
    )


def _mechanism(
    plan: Plan, places: int, monitor: MonitorStated | None
) -> GeometricStated | SanitizedStated | AdaptiveStated:
    before = 0 if monitor is None else monitor.stops_before
    plan = plan.after(before)
    made, law = plan.mechanism, plan.mechanism.law
    up, down = str(law.up), str(law.down)
    noise = f"exact geometric noise, {direction(law.up, law.down)}, drawn for each place on its own"
    match made:
        case Geometric():
            return GeometricStated(text=f"Every count gets {noise}", rate_up=up, rate_down=down)
        case Sanitized(stop_after=stops) as stopping:
            return SanitizedStated(
                text=f"Places are looked at in the public order, with {noise}. While the noisy count is at most"
                f" {plan.safe_at_most} only 'safe' is said, which costs nothing; a noisy count above it is published and"
                f" costs ε = {plan.notion.epsilon}. "
                + (
                    f"It stops after {stops} of these"
                    + (f": of the {stops + before} of its monitor, earlier rounds gave {before}" if before else "")
                    if plan.may_stop
                    else f"It would stop after {stops} of these, and no more places are listed: each is answered"
                ),
                rate_up=up,
                rate_down=down,
                stop_after=stops,
                expected_answered_if_empty=float(f"{stopping.expected_answered_if_empty(places):.4g}"),
            )
        case AdaptiveSanitized():
            return _adaptive(plan, made, places)
        case never:
            assert_never(never)


def _adaptive(plan: Plan, looking: AdaptiveSanitized, places: int) -> AdaptiveStated:
    epsilon, t = plan.notion.epsilon, looking.at_most
    assert isinstance(t, int)
    looks = [
        LookStated(rate_up=str(rate), published_from=t + margin + 1, price=str(epsilon * share))
        for rate, margin, share in zip(looking.rates, looking.margins, looking.shares, strict=True)
    ]
    each = "; ".join(
        f"look {number} has noise of rate {look.rate_up} and publishes a noisy count of at least {look.published_from:,},"
        f" which costs ε = {look.price}"
        for number, look in enumerate(looks, 1)
    )
    return AdaptiveStated(
        text=f"Places are looked at in the public order, each up to {len(looks)} times, with exact geometric noise, never"
        f" negative, drawn for each place and look on its own: {each}. Where no look publishes, only 'safe' is said, which"
        f" costs nothing. "
        + (
            f"It stops when less than ε = {epsilon} is left of ε = {plan.price}"
            if plan.may_stop
            else f"It would stop with less than ε = {epsilon} left, and no more places are listed than can be paid for: each"
            " is answered"
        ),
        rate_up=looks[-1].rate_up,
        rate_down=str(looking.line.rise),
        stop_after=looking.stop_after,
        looks=tuple(looks),
        expected_answered_if_empty=float(f"{looking.expected_answered_if_empty(places):.4g}"),
    )


def visitors_assumed(query: CountVisitors) -> list[str]:
    """Return what every answer about these visits rests on."""
    found = ["One person's records all carry the same id, and different people carry different ids"]
    if query.places_per_person is not None and not query.truncates:
        found.append(
            f"Nobody was at more than {_places(query.places_per_person)} in the window: a fact about the world that was"
            " checked on the data, not protected"
        )
    found.append("The list of places, the window and the filter were chosen without looking at the data")
    return found


def _theorems(plan: Plan) -> list[str]:
    base, known = _THEOREMS[plan.mechanism.name], SIDES.get(plan.notion.name)
    return [base] if known is None else [base, known]


def _guaranteed(plan: Plan, places: int) -> list[str]:
    relative = ", counted after the bound on places per person" if plan.query.truncates else " among those counted"
    found = []
    if plan.sanitizer is not None:
        t = plan.sanitizer.bound
        meaning = f"{at_most_people(t)} {'was' if t < 2 else 'were'} there{relative}"
        found.append(_trust("safe", meaning, plan.sanitizer, places))
    if plan.alarm is not None:
        meaning = f"at least {people(plan.alarm.bound)} {'was' if plan.alarm.bound == 1 else 'were'} there{relative}"
        found.append(_trust("dangerous", meaning, plan.alarm, places))
    found.append(
        "This promise holds for all that is published here together, and for anything concluded from it:"
        f" {plan.notion.with_epsilon(plan.price).words.definition}, with ε = {plan.price}"
    )
    return found


def _trust(state: str, meaning: str, decision: ThresholdRule, places: int) -> str:
    alpha = decision.error_at_most
    if alpha is None:
        return f"Where '{state}' is said, {meaning}: it is never wrong"
    return (
        f"'{state.capitalize()}' means that {meaning}. It is wrongly said of a place with probability at most"
        f" {at_most(float(alpha), 6)}; over all {counted(places, 'place')},"
        f" at most {at_most(float(alpha * places), 6)} wrong answers are expected"
    )


def _not_guaranteed(plan: Plan) -> list[str]:
    found = [
        "'Obscure' says nothing: a place may be obscure because of the noise alone",
        *visitors_left_out(plan.query),
    ]
    if plan.may_stop:
        found.append("Places after the stop are not answered at all; they are marked so and say nothing")
    if plan.notion.words.reveals:
        found.append(f"Not protected: {plan.notion.words.reveals}")
    return found


def visitors_left_out(query: CountVisitors) -> list[str]:
    """Say which visits do not count."""
    found = []
    if query.truncates:
        found.append(
            f"Someone at more than {_places(query.places_per_person)} counts only at the {query.if_more} of them,"
            " and is not counted at the others: the answers are about these truncated counts"
        )
    found.append(
        "Visits without a person, a time that can be compared with the window, or a listed place, outside the window, or"
        " removed by the filter are not counted; and nothing is said about people who are not in the data"
    )
    return found


def cells(places: Places | Grid) -> str:
    """How far the cells of a grid reach where the box ends."""
    if isinstance(places, Places):
        return ""
    if places.h3 is None:
        return f" (squares of {places.metres:g} m, of which only what lies in the box counts)"
    return f" (H3 cells of resolution {places.h3}, each of them whole, also where it reaches beyond the box)"


def _places(number: int | None) -> str:
    return "1 listed place" if number == 1 else f"{number} listed places"


def _zone(query: CountVisitors) -> str | None:
    """The zone in which the window is read; None if it says so itself, or if the times of the data have none either."""
    if query.window.aware:
        return None
    return query.visits.timezone or ("UTC" if query.visits.time_unit is not None else None)


def _when(moment: datetime) -> str:
    clock = f"{moment:%H:%M}" if moment.second == moment.microsecond == 0 else f"{moment:%H:%M:%S}"
    return f"{moment:%Y-%m-%d} {clock}{moment:%z}"
