"""The statement of a release of safe and dangerous places."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from leeward._plain import at_most, probability
from leeward.mechanism import Sanitized, ThresholdRule
from leeward.planner._plan import Plan
from leeward.planner._words import each_place
from leeward.query import CountVisitors
from leeward.session._statement._heading import SIDES, direction, heading, privacy_statement

_LINE_THEOREM = (
    "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.4, with exact geometric noise in place of"
    " exponential noise (their Section VIII): if no step of the notion costs less than upward rate × how far it lowers the"
    " counts + downward rate × how far it raises them, the noisy counts are private under the notion."
)
_SANITIZED_THEOREM = (
    "Takagi, Kato, Cao, Yoshikawa, Asymmetric Differential Privacy, Theorem V.7 (its ratio corrected to e^ε): saying 'safe'"
    " is free where counts only fall along the steps of the notion; each published exceeding count costs ε."
)


@privacy_statement.register
def visitor_statement(plan: Plan, *, places: int, dataset: str, version: str) -> dict[str, Any]:
    """Return the statement of a release of safe and dangerous places; see `privacy_statement`."""
    query = plan.query
    zone = _zone(query)
    window = {"start": query.window.start.isoformat(), "end": query.window.end.isoformat(), "timezone": zone}
    return {
        **heading(plan.notion, plan.price, dataset, version),
        "query": {
            "kind": "visitors",
            "text": f"How many distinct people were at {each_place(places)} from {_when(query.window.start)} up"
            f" to, but not at, {_when(query.window.end)}{f' ({zone})' if zone else ''}",
            "places": places,
            "window": window,
            "keep": {column: list(values) for column, values in query.visits.keep.items()},
            "places_per_person": query.places_per_person,
            "if_more": query.if_more if query.places_per_person is not None else None,
        },
        "sensitivity": _sensitivity(plan),
        "mechanism": _mechanism(plan, places),
        "decision": _decision(plan, places),
        "assumptions": _assumptions(plan),
        "theorems": _theorems(plan),
        "guaranteed": _guaranteed(plan, places),
        "not_guaranteed": _not_guaranteed(plan),
    }


def _sensitivity(plan: Plan) -> dict[str, Any]:
    moves, each = plan.sensitivity, isinstance(plan.mechanism, Sanitized)
    subject = "any one count" if each else "all counts together"
    return {
        "rise": str(moves.rise),
        "fall": str(moves.fall),
        "per_place": each,
        "text": f"One step of the notion can raise {subject} by at most {moves.rise} and lower them by at most {moves.fall}"
        + (", for each member of the group" if plan.notion.words.unit == "group" else ""),
    }


def _decision(plan: Plan, places: int) -> dict[str, Any]:
    safe, dangerous, alpha = plan.sanitizer, plan.alarm, plan.error_at_most
    curve = []
    for count, chances in plan.decision_curve().items():
        said = zip(("safe", "dangerous"), chances, strict=True)
        curve.append({"count": count, **{state: probability(p) for state, p in said if p is not None}})
    stated: dict[str, Any] = {}
    if safe is not None:
        stated |= {"safe_at_most": safe.bound, "threshold": safe.threshold, "never_wrong": safe.never_wrong}
    if dangerous is not None:
        stated |= {
            "dangerous_at_least": dangerous.bound,
            "dangerous_threshold": dangerous.threshold,
            "dangerous_never_wrong": dangerous.never_wrong,
        }
    return stated | {
        "error_at_most": None if alpha is None else str(alpha),
        "error_at_most_over_all_places": None if alpha is None else str(plan.decisions.wrong_at_most * places),
        "curve": curve,
    }


def _mechanism(plan: Plan, places: int) -> dict[str, Any]:
    law = plan.mechanism.law
    shared = {"rate_up": str(law.up), "rate_down": str(law.down), "step": 1, "lower": None, "upper": None}
    noise = f"exact geometric noise, {direction(law.up, law.down)}, drawn for each place on its own"
    if isinstance(plan.mechanism, Sanitized):
        expected = plan.expected_answered_if_empty(places)
        return {
            "name": "sanitized",
            "text": f"Places are looked at in the public order, with {noise}. While the noisy count is at most"
            f" {plan.safe_at_most} only 'safe' is said, which costs nothing; a noisy count above it is published and costs"
            f" ε = {plan.notion.epsilon}. "
            + (
                f"It stops after {plan.mechanism.stop_after} of these"
                if plan.may_stop
                else f"It would stop after {plan.mechanism.stop_after} of these, and no more places are listed:"
                " each is answered"
            ),
            **shared,
            "stop_after": plan.mechanism.stop_after,
            "expected_answered_if_empty": None if expected is None else float(f"{expected:.4g}"),
        }
    return {"name": "geometric", "text": f"Every count gets {noise}", **shared}


def _assumptions(plan: Plan) -> list[str]:
    query = plan.query
    found = ["One person's records all carry the same id, and different people carry different ids"]
    if query.places_per_person is not None and not query.truncates:
        found.append(
            f"Nobody was at more than {_places(query.places_per_person)} in the window: a fact about the world that was"
            " checked on the data, not protected"
        )
    found.append("The list of places, the window and the filter were chosen without looking at the data")
    return found


def _theorems(plan: Plan) -> list[str]:
    base = _SANITIZED_THEOREM if isinstance(plan.mechanism, Sanitized) else _LINE_THEOREM
    known = SIDES.get(plan.notion.name)
    return [base] if known is None else [base, known]


def _guaranteed(plan: Plan, places: int) -> list[str]:
    relative = ", counted after the bound on places per person" if plan.query.truncates else " among those counted"
    found = []
    if plan.sanitizer is not None:
        t = plan.sanitizer.bound
        meaning = f"{'nobody' if t == 0 else f'at most {_people(t)}'} {'was' if t < 2 else 'were'} there{relative}"
        found.append(_trust("safe", meaning, plan.sanitizer, places))
    if plan.alarm is not None:
        meaning = f"at least {_people(plan.alarm.bound)} {'was' if plan.alarm.bound == 1 else 'were'} there{relative}"
        found.append(_trust("dangerous", meaning, plan.alarm, places))
    found.append(
        "Whatever one concludes about a person from all that is published here:"
        f" {plan.notion.with_epsilon(plan.price).words.definition}, with ε = {plan.price}"
    )
    return found


def _trust(state: str, meaning: str, decision: ThresholdRule, places: int) -> str:
    alpha = decision.error_at_most
    if alpha is None:
        return f"Where '{state}' is said, {meaning}: it is never wrong"
    many = "1 place" if places == 1 else f"{places:,} places"
    return (
        f"'{state.capitalize()}' means that {meaning}. It is wrongly said of a place with probability at most"
        f" {at_most(float(alpha), 6)}; over all {many}, at most {at_most(float(alpha * places), 6)} wrong ones are to be"
        " expected"
    )


def _not_guaranteed(plan: Plan) -> list[str]:
    found = ["'Obscure' says nothing: a place may be obscure because of the noise alone"]
    if plan.query.truncates:
        found.append(
            f"Someone at more than {_places(plan.query.places_per_person)} counts only at the {plan.query.if_more} of them,"
            " and is not counted at the others: what is said is relative to the truncated counts"
        )
    found.append(
        "Visits without a person, a time or a listed place, outside the window, or removed by the filter are not counted;"
        " and nothing is said about people whom the data never saw"
    )
    if plan.may_stop:
        found.append("Places after the stop are not answered at all; they are marked so and say nothing")
    if plan.notion.words.reveals:
        found.append(f"Not protected: {plan.notion.words.reveals}")
    return found


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number} people"


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
