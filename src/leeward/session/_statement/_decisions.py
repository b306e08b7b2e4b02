# SPDX-License-Identifier: Apache-2.0
"""The statement of a release of safe and dangerous places, or groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from leeward._plain import at_most, counted
from leeward._statement import (
    AdaptiveStated,
    DecisionStated,
    EveryoneStated,
    GeometricStated,
    GroupStatement,
    LookStated,
    MonitorStated,
    SanitizedStated,
    SensitivityStated,
    VisitorStatement,
)
from leeward.mechanism import AdaptiveSanitized, Everyone, Geometric, Sanitized, ThresholdRule
from leeward.planner._people import a, at_most_people, people, were_there
from leeward.planner._plan import Plan, Planned
from leeward.query import CountVisitors
from leeward.query._statistic import Noun
from leeward.session._statement._heading import Frame, direction, stated
from leeward.session._statement._numbers import numbers_asked, numbers_assumed, numbers_left_out, numbers_placed
from leeward.session._statement._visitors import visitors_asked, visitors_assumed, visitors_left_out

_THEOREMS: dict[Planned, str] = {
    "geometric": "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.4, with exact geometric noise in"
    " place of exponential noise (their Section VIII): if no step of the notion costs less than upward rate × how far it"
    " lowers the counts + downward rate × how far it raises them, the noisy counts are private under the notion.",
    "everyone": "Leeward, docs/guide/everyone: where every step withdraws one person, it lowers the counts at no more than k"
    " places and the most people left out at any place by at most 1, and raises none of them; upward noise on all of them,"
    " whose rates for k falls and for that one add up to ε, is private, and their sums are never below all who were there.",
    "sanitized": "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.7 (its ratio corrected to e^ε):"
    " saying 'safe' is free where counts only fall along the steps of the notion; each published exceeding count costs ε.",
    "adaptive": "Ding, Wang, Zhang, Kifer, Free Gap Information from the Differentially Private Sparse Vector and Noisy Max"
    " Mechanisms, Algorithm 2, where counts only fall along the steps of the notion: then the threshold needs no noise,"
    " saying 'safe' is free at every look, and a count costs what the look costs that publishes it.",
}


_SCANS = (
    "Leeward, docs/guide/certain: where every step withdraws one person, who is in one group, the scans of all groups"
    " together are as private as one."
)


@stated.register
def deciding_statement(plan: Plan, places: int, frame: Frame) -> VisitorStatement | GroupStatement:
    """Return the statement of a release of safe and dangerous places, or groups."""
    query = plan.query
    if isinstance(query, CountVisitors):
        assumed = visitors_assumed(query)
        left_out = visitors_left_out(query, of_everyone=plan.about == "everyone")
    else:
        assumed, left_out = numbers_assumed(query), [*numbers_placed(query, plan.notion), *numbers_left_out(query)]
    scans = query.scans > 1 and plan.mechanism.stop_after is not None
    made = {
        **frame.around(
            assumed=assumed,
            theorems=[_THEOREMS[plan.mechanism.name], *([_SCANS] if scans else [])],
            guaranteed=_guaranteed(plan, places),
            not_guaranteed=_not_guaranteed(plan, left_out),
            by_noise=True,
        ),
        "sensitivity": _sensitivity(plan),
        "mechanism": _mechanism(plan, places, frame.heading["monitor"]),
        "decision": DecisionStated.of(plan, places),
    }
    if isinstance(query, CountVisitors):
        return VisitorStatement(**made, query=visitors_asked(query, places))
    return GroupStatement(**made, query=numbers_asked(query, places))


def _sensitivity(plan: Plan) -> SensitivityStated:
    moves, each = plan.sensitivity, plan.mechanism.each_alone
    subject = "any one count" if each else "all counts together"
    return SensitivityStated(
        rise=str(moves.rise),
        fall=str(moves.fall),
        per_place=each,
        text="A change that the promise hides, one step of the notion, can raise"
        f" {subject} by at most {moves.rise} and lower them by at most {moves.fall}"
        + (", for each member of the group" if plan.notion.words.unit == "group" else "")
        + (
            "; and the most people left out at any place by 1, and never raise them"
            if plan.drawn_from != "answer"
            else ""
        ),
    )


def _mechanism(
    plan: Plan, places: int, monitor: MonitorStated | None
) -> GeometricStated | EveryoneStated | SanitizedStated | AdaptiveStated:
    before = 0 if monitor is None else monitor.stops_before
    plan = plan.after(before)
    made, law = plan.mechanism, plan.mechanism.law
    order = "in the public order" + _scanned(plan)
    up, down = str(law.up), str(law.down)
    noun = plan.query.noun
    noise = f"exact geometric noise, {direction(law.up, law.down)}, drawn for each {noun} on its own"
    match made:
        case Geometric():
            return GeometricStated(text=f"Every count gets {noise}", rate_up=up, rate_down=down)
        case Everyone():
            return _everyone(plan, made)
        case Sanitized(stop_after=stops):
            return SanitizedStated(
                text=f"{noun.capitalize()}s are looked at {order}, with {noise}. While the noisy count is at"
                f" most {plan.safe_at_most} only 'safe' is said, which costs nothing; a noisy count above it is published"
                f" and costs ε = {plan.notion.epsilon}. "
                + (
                    f"It stops after {stops} of these"
                    + (f": of the {stops + before} of its monitor, earlier rounds gave {before}" if before else "")
                    if plan.may_stop
                    else f"It would stop after {stops} of these, and no more {noun}s are listed: each is answered"
                ),
                rate_up=up,
                rate_down=down,
                stop_after=stops,
                expected_answered_if_empty=float(f"{plan.expected_answered_if_empty(places):.4g}"),
            )
        case AdaptiveSanitized():
            return _adaptive(plan, made, places)
        case never:
            assert_never(never)


def _everyone(plan: Plan, made: Everyone) -> EveryoneStated:
    counts = made.line.fall * (plan.query.most_counts or 1)
    return EveryoneStated(
        text=f"Every count gets exact geometric noise, {direction(made.line.fall, made.line.rise)}, drawn for each place on"
        f" its own. The most people left out at any one place get upward noise of rate {made.left_out}, once, and what comes"
        f" of it is added to every count. A step of the notion pays at most {counts} for the counts, and {made.left_out} for"
        " those left out",
        rate_up=str(made.line.fall),
        rate_down=str(made.line.rise),
        rate_left_out=str(made.left_out),
    )


def _scanned(plan: Plan) -> str:
    """Say in which order levels are looked at."""
    if plan.query.noun != "level":
        return ""
    return ", the highest first" + (", in each group anew" if plan.query.scans > 1 else "")


def _adaptive(plan: Plan, looking: AdaptiveSanitized, places: int) -> AdaptiveStated:
    epsilon, t, noun = plan.notion.epsilon, looking.at_most, plan.query.noun
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
        text=f"{noun.capitalize()}s are looked at in the public order{_scanned(plan)}, each up to {len(looks)} times, with"
        f" exact geometric noise, never negative, drawn for each {noun} and look on its own: {each}. Where no look"
        " publishes, only 'safe' is said, which costs nothing. "
        + (
            f"It stops when less than ε = {epsilon} is left of ε = {plan.price}"
            if plan.may_stop
            else f"It would stop with less than ε = {epsilon} left, and no more {noun}s are listed than can be paid for:"
            " each is answered"
        ),
        rate_up=looks[-1].rate_up,
        rate_down=str(looking.line.rise),
        stop_after=looking.stop_after,
        looks=tuple(looks),
        expected_answered_if_empty=float(f"{plan.expected_answered_if_empty(places):.4g}"),
    )


def _guaranteed(plan: Plan, places: int) -> list[str]:
    noun, many, how, found = plan.query.noun, plan.query.many, plan.counted_how, []
    of_whom = f", {how}" if how else " among those counted"
    if plan.sanitizer is not None:
        t = plan.sanitizer.bound
        meaning = f"{at_most_people(t, many)} {were_there(t, noun)}{of_whom}"
        found.append(_trust("safe", meaning, plan.sanitizer, places, noun))
        if noun == "level" and plan.sanitizer.never_wrong:
            each = " in each group" if plan.query.scans > 1 else ""
            found.append(f"So it is certain of the lowest level that is called safe{each}: {meaning}")
    if plan.alarm is not None:
        least = plan.alarm.bound
        meaning = f"at least {people(least, many)} {were_there(least, noun)}{of_whom}"
        found.append(_trust("dangerous", meaning, plan.alarm, places, noun))
    return found


def _trust(state: str, meaning: str, decision: ThresholdRule, places: int, noun: Noun) -> str:
    alpha = decision.error_at_most
    if alpha is None:
        return f"Where '{state}' is said, {meaning}: it is never wrong"
    return (
        f"'{state.capitalize()}' means that {meaning}. It is wrongly said of {a(noun)} with probability at most"
        f" {at_most(float(alpha), 6)}; over all {counted(places, noun)},"
        f" at most {at_most(float(alpha * places), 6)} wrong answers are expected"
    )


def _not_guaranteed(plan: Plan, left_out: Sequence[str]) -> list[str]:
    noun = plan.query.noun
    found = [_obscure(plan), *left_out]
    if plan.may_stop:
        found.append(f"{noun.capitalize()}s after the stop are not answered at all; they are marked so and say nothing")
    return found


def _obscure(plan: Plan) -> str:
    """Say what 'obscure' says: nothing, or how many there are at most, or at least, which is then certain.

    Noise that only goes up leaves the noisy count below the least that is called dangerous only where fewer are; noise that
    only goes down leaves it above the last that is called safe only where more are. And a word that is said of all that it
    is true of leaves nothing to the noise.
    """
    noun, many, safe, alarm = plan.query.noun, plan.query.many, plan.sanitizer, plan.alarm
    if safe is not None and alarm is not None and safe.law is alarm.law and alarm.threshold == safe.threshold + 1:
        return f"No {noun} is obscure: each is called safe or dangerous"
    certain, by_noise = "", True
    if alarm is not None and alarm.law.down.is_infinite:
        most = alarm.threshold - 1
        certain = f"{at_most_people(most, many)} {were_there(most, noun)}"
        by_noise = safe is not None or alarm.threshold > alarm.bound
    elif safe is not None and safe.law.up.is_infinite and safe.threshold >= 0:
        least = safe.threshold + 1
        certain = f"at least {people(least, many)} {were_there(least, noun)}"
        by_noise = alarm is not None or safe.threshold < safe.bound
    how = "" if plan.left_out_counts else plan.counted_how
    said = f"no more than that {certain}{f', {how}' if how else ' among those counted'}, which is certain"
    alone = f": {a(noun)} may be obscure because of the noise alone" if by_noise else ""
    return f"'Obscure' says {said if certain else 'nothing'}{alone}"
