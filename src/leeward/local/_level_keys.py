# SPDX-License-Identifier: Apache-2.0
"""The keys of ``[protect.levels.NAME]``, of positions and of readings: what a level asks for in the section's place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leeward._toml import ExactText, Section
from leeward.errors import InputError, SpecError
from leeward.exact._real import Exact, Real, exact


def read_factor(given: Exact) -> Real:
    """Read how much likelier an output may be."""
    factor = exact(given)
    if factor.is_infinite or factor <= 1:
        raise InputError(
            f"factor = {factor}", "it is how much likelier an output may be, above 1 and finite", 'Write factor = "2"'
        )
    return factor


class Level(Section):
    """``[protect.levels.NAME]``: what this level asks for in place of the keys of the same names in ``[protect]``."""

    within: str | None = None
    factor: ExactText | None = None
    epsilon: ExactText | None = None
    unit: str | None = None

    def over(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the section's own keys with those of the level in their place; what it leaves out stays."""
        asked, made = self.model_dump(exclude_none=True), dict(own)
        if "epsilon" in asked:
            made |= {"within": None, "factor": None}
        elif "within" in asked or "factor" in asked:
            made |= {"epsilon": None, "unit": None}  # a length has no other unit beside it
        return made | asked


def check_pair(level: str | None, levels: Mapping[str, Level] | None) -> None:
    """Refuse levels without a column or the other way round, a list of none, and a level without a name."""
    if (level is None) != (levels is None):
        raise SpecError(
            "[protect] level and levels",
            "one is the column that says each person's level, the other what a level asks for",
            'Give both: level = "tier" and [protect.levels.careful] with what it asks for',
        )
    if levels is not None and not levels:
        raise SpecError("[protect] levels", "there is none", "Write [protect.levels.careful] with what it asks for")
    if "" in (levels or {}):
        raise SpecError(
            "[protect] levels: one without a name",
            "whose row has none in the column has no level, and nothing is asked for there",
            "Name it, and write that name in the column",
        )
