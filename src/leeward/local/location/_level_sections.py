# SPDX-License-Identifier: Apache-2.0
"""What the sections of a spec of positions ask beside levels of ε: a budget is then an ε too."""

from __future__ import annotations

from leeward.errors import SpecError
from leeward.exact._real import Real
from leeward.local._level_keys import check_pair
from leeward.local.location._asked import Asked
from leeward.local.location._levels import Levels
from leeward.local.location._spec import Location

_EXAMPLE = 'a_day = { within = "200 m", factor = "1024" }'


def check_levels(spec: Location) -> None:
    """Refuse levels without a column or the other way round, and a budget that does not count what reports cost."""
    protect, budget = spec.protect, spec.budget
    check_pair(protect.level, protect.levels)
    if protect.levels is None and protect.level_of != "person":
        raise SpecError("[protect] level_of", "there are no levels", "Leave it out, or give level and levels")
    if budget is None:
        return
    if protect.levels is None and budget.a_day is not None:
        raise SpecError(
            "[budget] a_day", "all reports cost the same, and a budget is a number of them", "Write reports_a_day = 24"
        )
    if protect.levels is None and budget.reports_a_day is None:
        raise SpecError("[budget] reports_a_day is missing", "it says how many are paid for", "Add reports_a_day = 24")
    if protect.levels is not None and budget.reports_a_day is not None:
        raise SpecError(
            "[budget] reports_a_day with [protect] levels",
            "reports of several levels have several prices, so a number of them does not bound what they cost together",
            f"Say what a person's reports of a day may cost together: {_EXAMPLE}",
        )
    if protect.levels is not None and budget.a_day is None:
        raise SpecError(
            "[budget] a_day is missing", "it says what a person's reports of a day may cost together", f"Add {_EXAMPLE}"
        )


def cap_of_a_day(spec: Location, levels: Levels) -> Real | None:
    """Return what a person's reports of a day may cost together, as ε a metre; None without a budget."""
    if spec.budget is None or spec.budget.a_day is None:
        return None
    asked = spec.budget.a_day
    cap = Asked.of(asked.within, asked.factor, asked.epsilon, asked.unit).kept(levels.weakest.apart)
    for name, geo in levels.mechanisms.items():
        if geo.epsilon > cap:
            raise SpecError(
                f"[budget] a_day, which is ε = {cap} a metre",
                f"one report of the level {name} costs ε = {geo.epsilon} a metre, so it would never be made",
                "Give a larger budget, or that level a smaller ε",
            )
    return cap
