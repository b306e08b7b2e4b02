"""A comparison as JSON can hold it: what ``leeward plan --json`` prints, and what its table and its page are drawn from.

Parameters are exact strings ("1/3", "inf"); probabilities are decimals of at most 12 digits, as in release.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from leeward.accounting._budget_notion import affordable, in_words
from leeward.exact._real import Exact
from leeward.exact._weight import Weight
from leeward.notion import Notion
from leeward.planner._compare import Asked, Comparison
from leeward.planner._expected import ExpectedAnswers
from leeward.planner._option import Option, best_possible
from leeward.planner._recommend import recommend

MOST_COUNTS = 12
"""Decision curves are told for so many counts from 0."""


def tell(compared: Comparison, *, count: int = 0, probability: Exact = "0.9") -> dict[str, Any]:
    """Return everything that is known before anything is spent.

    Args:
        compared: from `leeward.compare`.
        count: for "what ε, what t?": places with so many people …
        probability: … are to be called safe so often.
    """
    asked = compared.asked
    chosen = recommend(compared, count=count, probability=probability)
    return {
        "asked": _asked(asked, count, probability),
        "refused_as_written": compared.refusal or None,
        "recommendation": {
            "option": None if chosen.option is None else compared.options.index(chosen.option),
            "reason": chosen.reason,
            "cautions": list(chosen.cautions),
            "gives_up": [{"option": compared.options.index(o), "what": what} for o, what in chosen.gives_up],
            "plain_dp_is_enough": chosen.plain_dp_is_enough,
            "plain_dp": chosen.plain_dp,
        },
        "options": [_option(option, asked, count, probability) for option in compared.options],
    }


def _asked(asked: Asked, count: int, probability: Exact) -> dict[str, Any]:
    window = asked.query.window
    return {
        "window": {"start": window.start.isoformat(), "end": window.end.isoformat()},
        "places": asked.places,
        "places_per_person": asked.query.places_per_person,
        "if_more": asked.query.if_more if asked.query.places_per_person is not None else None,
        "notion": _notion(asked.notion),
        "safe_at_most": asked.safe_at_most,
        "dangerous_at_least": asked.dangerous_at_least,
        "error_at_most": None if asked.error_at_most is None else str(asked.error_at_most),
        "assumed_error": str(asked.assumed_error),
        "what": asked.what,
        "counts": None if asked.counts is None else {str(c): n for c, n in asked.counts.items()},
        "wish": {"count": count, "probability": str(probability)},
        "releases": asked.releases,
        "delta": str(asked.delta),
        "budget": {"notion": in_words(asked.counted_in), "left": None if asked.left is None else str(asked.left)},
    }


def _notion(notion: Notion) -> dict[str, Any]:
    rates = {name: str(getattr(notion, name)) for name in ("presence", "absence") if hasattr(notion, name)}
    return {"name": notion.name, "epsilon": str(notion.epsilon), **rates, "unit": notion.words.unit}


def _option(option: Option, asked: Asked, count: int, probability: Exact) -> dict[str, Any]:
    words = option.notion.words
    told: dict[str, Any] = {
        "notion": _notion(option.notion),
        "mechanism": option.mechanism,
        "releasable": option.releasable,
        "refused": option.refused or None,
        "note": option.note or None,
        "protects": words.protects,
        "leaks": words.reveals or None,
        "cover": words.cover,
        "price": str(option.price),
        "price_in_budget": None if option.in_budget is None else str(option.in_budget),
        "incomparable": option.incomparable or None,
        "price_in_asked": str(option.in_asked),
    }
    if option.refused:
        return told
    if option.in_budget is not None and asked.left is not None:
        told["releases_left"] = affordable(asked.left, option.in_budget)
    if option.decisions is None:
        return told
    needed = option.epsilon_for(count, probability)
    error = option.errors
    return told | {
        "never_wrong": option.never_wrong,
        "error_at_most": None if option.error_at_most is None else str(option.error_at_most),
        "decided": {
            name: {"threshold": d.threshold, "wrong_at_most": None if d.error_at_most is None else str(d.error_at_most)}
            for name, d in (("safe", option.decisions.safe), ("dangerous", option.decisions.dangerous))
            if d is not None
        },
        "errors": None if error is None else {k: _short(v) for k, v in asdict(error).items()},
        "remapped_loss": None if option.remapped is None else _short(option.remapped),
        "curve": list(_curve(option, asked)),
        "answered_if_empty": _short(option.answered(asked.places)) if asked.places else None,
        "expected": None if option.expected is None else _expected(option.expected),
        "epsilon_for_wish": None if needed is None else _notion(needed),
        "safe_at_most_for_wish": option.safe_at_most_for(count, probability),
        "wish": {"count": count, "probability": str(probability)},
        "composed": _composed(option, asked),
    }


def _curve(option: Option, asked: Asked) -> Iterable[dict[str, Any]]:
    """The chances of each word, and the best possible ones for one count alone, for the counts that are told."""
    best = best_possible(option, asked.query)
    ends = [asked.safe_at_most + 5 if asked.safe_at_most is not None else 0, (asked.dangerous_at_least or 0) + 2]
    for c in range(min(max(ends), MOST_COUNTS) + 1):
        safe, dangerous = best(c)
        chances = {
            "safe": option.probability_safe(c),
            "best_safe": safe,
            "dangerous": option.probability_dangerous(c),
            "best_dangerous": dangerous,
        }
        yield {"count": c, **{name: decimal(chance) for name, chance in chances.items() if chance is not None}}


def _composed(option: Option, asked: Asked) -> dict[str, Any] | None:
    if asked.releases == 1:
        return None
    together = option.composed(asked.releases, asked.delta)
    return {
        "price": str(option.price * asked.releases),
        "price_in_budget": None if option.in_budget is None else str(option.in_budget * asked.releases),
        "epsilon_at_delta": {way: float(f"{epsilon:.9g}") for way, epsilon in together.items()},
    }


def _expected(expected: ExpectedAnswers) -> dict[str, Any]:
    return {name: _short(value) for name, value in asdict(expected).items()}


def decimal(probability: Weight) -> str:
    """Write a probability as release.json does."""
    return f"{float(probability):.12g}" if probability else "0"


def _short(value: float | None) -> float | int | None:
    return float(f"{value:.6g}") if isinstance(value, float) else value
