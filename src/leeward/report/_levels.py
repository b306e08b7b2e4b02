# SPDX-License-Identifier: Apache-2.0
"""Released levels in plain words: above which of them it is certain that at most so many people are."""

from __future__ import annotations

from leeward._statement import GroupStatement, NumberQuery, VisitorStatement
from leeward.planner._people import at_most_people
from leeward.report import _words as words
from leeward.report._numbers import group_of
from leeward.report._words import Readable, Tally

MOST_GROUPS = 4
"""The bounds of more groups are left to the table."""


def lowest_safe(result: Readable, query: NumberQuery) -> dict[str | None, str | None]:
    """Return, for each group, the lowest level that is called safe, as it is published; None where none is."""
    found: dict[str | None, str | None] = {}
    for row in result.answers.to_pylist():
        group = group_of(row, query)
        found.setdefault(group, None)
        if row["state"] == "safe":  # from the highest down
            found[group] = f"{row['above']:,}".removesuffix(".0")
    return found


def headline(result: Readable, statement: VisitorStatement | GroupStatement) -> str:
    """Say above which level at most so many are; of many groups, of how many levels that is said."""
    assert isinstance(statement, GroupStatement)
    decision, query = statement.decision, statement.query
    if decision.safe_at_most is None:
        return words.headline(statement, Tally.of(result.answers))
    found, few = lowest_safe(result, query), at_most_people(decision.safe_at_most, query.many)
    # whose least number counts may have a larger one, and who is counted in one group may be in another
    all_count = query.combine in (None, "refuse") or (query.combine == "max" and len(query.groups) <= 1)
    sure = ": certain among those counted" if all_count else ", as they are counted: certain"
    sure = sure if decision.never_wrong else ""
    if len(found) > MOST_GROUPS:
        return words.headline(statement, Tally.of(result.answers))
    have, column = "has" if decision.safe_at_most < 2 else "have", statement.query.column
    said = [
        f"{level}" + ("" if group is None else f" in ‘{group}’") for group, level in found.items() if level is not None
    ]
    unsaid = [f"‘{group}’" for group, level in found.items() if level is None]
    if not said:
        return f"Of no level it is said that {few} {have} a ‘{column}’ above it"
    rest = f". Of {', '.join(unsaid)} no level can be called safe" if unsaid else ""
    return f"{few.capitalize()} {have} a ‘{column}’ above {', above '.join(said)}{sure}{rest}"
