# SPDX-License-Identifier: Apache-2.0
"""From a comparison to its report: everything that is known before anything is spent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from leeward._document import Part
from leeward._optional import NotInstalledError
from leeward._plain import at_most
from leeward._plain import probability as chance_in_digits
from leeward._taught import taught
from leeward.accounting import Direction
from leeward.errors import InputError
from leeward.exact._real import Exact, whole
from leeward.exact._weight import Weight
from leeward.mechanism import ThresholdRule
from leeward.planner._compare import Asked, Comparison
from leeward.planner._option import Option, best_possible
from leeward.planner._recommend import Recommendation, recommend
from leeward.planner._report import (
    Advice,
    AskedPart,
    ComposedPart,
    CurvePoint,
    Decided,
    DecidedParts,
    DecidingOption,
    GivenUp,
    OptionPart,
    PlanReport,
    Wish,
)
from leeward.planner._report_parts import budget_part, notion_part, row_keys, window_part
from leeward.query import CountVisitors
from leeward.query._selection import Counted
from leeward.query._statistic import Statistic

P = TypeVar("P", bound=Part)

MOST_COUNTS = 12
"""Up to so many people decision curves are given for each count; beyond, for so many on the way, and near the thresholds."""


@taught
def plan_report(compared: Comparison, *, count: int = 0, probability: Exact = "0.9") -> PlanReport:
    """Return everything that is known before anything is spent.

    Args:
        compared: from `leeward.compare`.
        count: for "what ε, what t?": places with so many people …
        probability: … are to be called safe so often.

    Raises:
        InputError: if the count is below 0, or the probability is not above 0 and at most 1.
    """
    asked, count = compared.asked, whole(count, "count", 0)
    advice = recommend(compared, count=count, probability=probability)
    return PlanReport(
        format=1,
        asked=_asked(asked, Wish(count=count, probability=str(probability))),
        refused_as_written=compared.refusal or None,
        recommendation=_advice(advice, compared.options),
        options=tuple(_option(option, asked, count, probability) for option in compared.options),
    )


def _asked(asked: Asked, wish: Wish) -> AskedPart:
    query, scenario = asked.query, asked.scenario
    return AskedPart(
        noun=query.noun,
        many=query.many,
        window=window_part(query.window),
        column=query.column if isinstance(query, Statistic) else None,
        by=query.by if isinstance(query, Statistic) else None,
        places=scenario.places,
        places_per_person=_k(query),
        if_more=None if isinstance(query, Statistic) or _k(query) is None else query.if_more,
        notion=notion_part(asked.notion, rows=asked.query.of_rows),
        safe_at_most=asked.safe_at_most,
        dangerous_at_least=asked.dangerous_at_least,
        error_at_most=_text(asked.error_at_most),
        assumed_error=str(scenario.assumed_error),
        what=asked.what,
        counts=None if scenario.counts is None else dict(scenario.counts),
        wish=wish,
        releases=scenario.releases,
        answered=scenario.answered,
        delta=str(scenario.delta),
        budget=budget_part(asked.counted_in, scenario.left),
        about=asked.about,
        left_out=asked.left_out if isinstance(asked.left_out, int) else tuple(asked.left_out),
    )


def _advice(chosen: Recommendation, options: tuple[Option, ...]) -> Advice:
    return Advice(
        option=None if chosen.option is None else options.index(chosen.option),
        reason=chosen.reason,
        cautions=chosen.cautions,
        gives_up=tuple(GivenUp(option=options.index(option), what=what) for option, what in chosen.gives_up),
        plain_dp_is_enough=chosen.plain_dp_is_enough,
        plain_dp=chosen.plain_dp,
        whom=chosen.whom,
    )


def _option(option: Option, asked: Asked, count: int, probability: Exact) -> OptionPart:
    rows, places = asked.query.of_rows, asked.scenario.places
    known = row_keys(option, asked.scenario.left, rows=rows)
    known |= {"mechanism": option.mechanism, "releasable": option.releasable, "note": option.note or None}
    error = option.errors
    if option.decisions is None or error is None:
        return OptionPart(**known)
    needed = option.epsilon_for(count, probability)
    return DecidingOption(
        **known,
        never_wrong=option.never_wrong,
        error_at_most=_text(option.error_at_most),
        decided=DecidedParts(safe=_decided(option.decisions.safe), dangerous=_decided(option.decisions.dangerous)),
        errors=_shortened(error),
        remapped_loss=_short(option.remapped),
        curve=tuple(_curve(option, asked)),
        answered_if_empty=_short(option.answered(places)) if places else None,
        expected=None if option.expected is None else _shortened(option.expected),
        epsilon_for_wish=None if needed is None else notion_part(needed, rows=rows),
        safe_at_most_for_wish=option.safe_at_most_for(count, probability),
        composed=_composed(option, asked),
        of_everyone=option.of_everyone,
        places_per_person=None if option.plan is None else _k(option.plan.query),
        safe_if_left_out=() if option.plan is None else tuple(map(chance_in_digits, option.plan.safe_if_left_out())),
    )


def _k(query: Counted) -> int | None:
    return query.places_per_person if isinstance(query, CountVisitors) else None


def _decided(decision: ThresholdRule | None) -> Decided | None:
    if decision is None:
        return None
    return Decided(threshold=decision.threshold, wrong_at_most=_text(decision.error_at_most))


def _curve(option: Option, asked: Asked) -> Iterator[CurvePoint]:
    """The chances of each word, and the best possible ones for one count alone, for the counts that are shown."""
    best = best_possible(option, asked.query if option.plan is None else option.plan.query)
    safe_to, dangerous_from = asked.safe_at_most, asked.dangerous_at_least
    ends = [safe_to + 5 if safe_to is not None else 0, (dangerous_from or 0) + 2]
    last = max(ends)
    counts = {*range(0, last + 1, max(1, -(-last // MOST_COUNTS)))}
    for threshold in (safe_to, dangerous_from):
        if threshold is not None:  # where what is said changes
            counts |= {*range(max(0, threshold - 20), threshold + 6)}
    for c in sorted(count for count in counts if count <= last):
        safe, dangerous = best(c)
        yield CurvePoint(
            count=c,
            safe=_decimal(option.probability_safe(c)),
            best_safe=_decimal(safe),
            dangerous=_decimal(option.probability_dangerous(c)),
            best_dangerous=_decimal(dangerous),
        )


def _composed(option: Option, asked: Asked) -> ComposedPart | None:
    releases = asked.scenario.releases
    if releases == 1:
        return None
    together: dict[Direction, float] = {}
    why = ""
    try:
        together = option.composed(releases, asked.scenario.delta)
    except NotInstalledError as missing:
        why = f"{missing.given}: {missing.because}. {missing.instead}"
    except InputError as refused:  # the price is exact all the same
        why = f"it would take too much work: {refused.given}: {refused.because}"
    return ComposedPart(
        price=str(option.price * releases),
        price_in_budget=None if option.in_budget is None else str(option.in_budget * releases),
        epsilon_at_delta={way: float(at_most(epsilon, 9)) for way, epsilon in together.items()},
        not_composed=why or None,
    )


def _shortened(part: P) -> P:
    return part.model_copy(update={name: _short(value) for name, value in part})


def _text(exact: object) -> str | None:
    return None if exact is None else str(exact)


def _decimal(probability: Weight | None) -> str | None:
    """Write a probability as release.json does."""
    return None if probability is None else chance_in_digits(probability)


def _short(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value
