# SPDX-License-Identifier: Apache-2.0
"""What an answer is worth before it is paid for: how often a word is said, or how far a number is off; and at which ε."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, TypeAlias, cast

import plotly.graph_objects as go

from leeward._plain import at_most, decimal, short_percent
from leeward.errors import LeewardError, LowUtilityError
from leeward.exact._real import exact
from leeward.exact._weight import Weight, weight
from leeward.mechanism._calibration import least_multiple
from leeward.planner._accuracy import NumberAccuracy, RankAccuracy
from leeward.planner._ask import plan
from leeward.planner._number_plan import NumberPlan
from leeward.planner._plan import Plan
from leeward.planner._rank_plan import RankPlan
from leeward.report._figures import BLUE, drawing
from leeward.spec import Spec

NumbersPlan: TypeAlias = NumberPlan | RankPlan
"""The plan of an answer that is a number."""

_MOST: Final = 10
"""No greater ε is tried for a wish: it would promise next to nothing."""

_SHOWN: Final = ("0.1", "0.2", "0.5", "1", "2", "5")
"""Each ε at which the picture shows how far a number is off."""


def odds(made: Plan) -> list[tuple[int, list[str]]]:
    """How often a place is called safe, and dangerous, by how many people are there: near the threshold, and far."""
    curve, limit = made.decision_curve(), made.safe_at_most
    at = made.dangerous_at_least if limit is None else limit
    assert at is not None
    near = {0, 1, 2, at - 1, at, at + 1, at + 2, 2 * at, 4 * at}
    counts = [count for count in curve if count in near] or list(curve)[:6]
    return [(c, [_said(chance) for chance in curve[c] if chance is not None]) for c in counts]


def _said(chance: Weight) -> str:
    """Write a chance: only what never happens reads so."""
    if chance == 0:
        return "never"
    return "under 0.1 %" if chance < "1/1000" else short_percent(chance)


def least_epsilon(spec: Spec, count: int, chance: Fraction) -> str | None:
    """Return the least ε, in thousandths, at which a place with so many people is called safe, or dangerous, so often.

    Args:
        spec: a whole spec that decides one of the two.
        count: of people.
        chance: how often.

    Returns:
        ε as a decimal; None where none up to 10 is enough, or such a place should not be called so.
    """
    query, notion, made_by = spec.questions()[0], spec.notion(), cast(Callable[..., Plan], plan)

    def meets(epsilon: Fraction) -> bool:
        made = made_by(query, notion.with_epsilon(epsilon), **spec.asking())
        rule = made.sanitizer or made.alarm
        return rule is not None and rule.probability(count) >= weight(chance)

    limit, least = spec.decide.safe_at_most, spec.decide.dangerous_at_least
    if (limit is not None and count > limit) or (limit is None and least is not None and count < least):
        return None
    return _least(meets)


def least_epsilon_within(planned: Callable[[str], NumbersPlan], error: Fraction, over: int) -> str | None:
    """Return the least ε, in thousandths, at which an answer is off by at most so much, 95 times in a hundred.

    Args:
        planned: returns the plan at an ε.
        error: in the unit of the answer; of a percentile, people between it and the exact one.
        over: how many people a mean or a spread is over, one of those that its plan tells of; of other answers nothing hangs
            on it.

    Returns:
        ε as a decimal; None where none up to 10 is enough. (An error falls as ε grows; were it not to, the ε that is
        returned would reach the wish all the same, and not be the least.)
    """
    return _least(lambda epsilon: error_of(planned(decimal(epsilon)), over) <= error)


def _least(meets: Callable[[Fraction], bool]) -> str | None:
    try:
        return decimal(least_multiple(meets, "0.001", _MOST))
    except LowUtilityError:
        return None


def error_of(made: NumbersPlan, over: int) -> float:
    """Return the error that an answer keeps with probability 95 %; of a mean or a spread, over so many people."""
    known = made.accuracy()
    if isinstance(known, NumberAccuracy | RankAccuracy):
        return known.within_95_percent
    return next(one.within_95_percent for one in known.by_number if one.number == over)


def errors(made: NumbersPlan) -> list[tuple[str, str]]:
    """Say how far answers are off, each with what it is about."""
    parts = [line.strip().rpartition(":") for line in made.accuracy().lines()]
    return [(f"{about[:1].upper()}{about[1:]}", error.strip()) for about, _, error in parts if error.strip()]


def depends(made: NumbersPlan) -> bool:
    """Whether how far an answer is off depends on how many people it is over."""
    return not isinstance(made.accuracy(), NumberAccuracy | RankAccuracy)


def error_curve(planned: Callable[[str], NumbersPlan], asked: str, over: int) -> go.Figure:
    """Draw how far an answer is off, 95 times in a hundred, over ε; an ε at which nothing can be planned has no mark.

    Args:
        planned: returns the plan at an ε.
        asked: the ε that is asked for; drawn from 1/1000 to 1,000.
        over: see `least_epsilon_within`.
    """
    found, mine = dict[float, float](), exact(asked).rational
    drawn = mine is not None and Fraction(1, 1000) <= mine <= 1000  # or all the others would be one point
    for epsilon in dict.fromkeys((*_SHOWN, asked) if drawn else _SHOWN):
        try:
            found[float(Fraction(epsilon))] = error_of(planned(epsilon), over)
        except LeewardError:
            continue
    at = sorted(found)
    figure = drawing()
    figure.add_scatter(
        x=at,
        y=[found[epsilon] for epsilon in at],
        mode="lines+markers+text",
        text=[at_most(found[epsilon]) for epsilon in at],
        textposition="top right",
        line={"color": BLUE, "width": 2},
        marker={"size": [13 if drawn and epsilon == float(mine or 0) else 8 for epsilon in at], "color": BLUE},
        hoverinfo="skip",
        cliponaxis=False,
        showlegend=False,
    )
    figure.update_layout(
        xaxis=_axis("ε", type="log", tickvals=at, showgrid=False),
        yaxis=_axis("off by at most", rangemode="tozero", automargin=True),
    )
    return figure


def _axis(title: str, **more: Any) -> dict[str, Any]:
    return {"title": {"text": title, "standoff": 12}, "fixedrange": True, **more}
