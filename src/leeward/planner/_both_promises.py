# SPDX-License-Identifier: Apache-2.0
"""Where a bound leaves people out, *safe* can be about those counted or about everyone: the odds of both, at one price."""

from __future__ import annotations

from dataclasses import replace

from leeward._plain import short_percent
from leeward.errors import LeewardError
from leeward.exact._weight import Weight
from leeward.planner._everyone import About
from leeward.planner._plan import Plan, plan_decisions

_MOST = 6


def both_promises(made: Plan) -> list[tuple[str, str]]:
    """Return how often a place with nobody is called safe of those counted, and of everyone, as terms and their values.

    Nothing where nobody is left out, nothing is called safe, or only one of the two can be had.
    """
    if not made.query.truncates or made.mechanism.stop_after is not None:
        return []
    counted, everyone = _about(made, "counted"), _about(made, "everyone")
    if counted is None or everyone is None or counted.sanitizer is None or everyone.sanitizer is None:
        return []
    odds = everyone.safe_if_left_out()[:_MOST]
    numbers = ", ".join(map(str, range(len(odds))))
    return [
        ("of those counted", _called([counted.sanitizer.probability(0)])),
        ("of everyone", f"{_called(list(odds))} if at most {numbers} of those there are left out at any one place"),
    ]


def _called(odds: list[Weight]) -> str:
    return f"a place where nobody was is called safe with {', '.join(short_percent(float(p)) for p in odds)}"


def _about(made: Plan, about: About) -> Plan | None:
    """Return the plan with one of the two promises; None where it cannot be had."""
    if made.about == about:
        return made
    try:
        return plan_decisions(made.query, made.notion, replace(made.how, about=about, left_out=0))
    except LeewardError:
        return None
