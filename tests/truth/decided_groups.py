"""Tiny worlds of groups: how many people, or rows, are in each, of which something is called safe or dangerous.

The universe is that of the worlds of numbers, and what is published is played as in the worlds of visits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

from tests.truth import numbers, selections, visits

import leeward as lw
from leeward.cli import LeewardError
from leeward.query import statistic

UNIVERSE = vars(numbers.World)


class OfGroups(visits.World):
    """A plan about groups or intervals, and its universe."""

    __hash__ = visits.World.__hash__

    cells, records, tables = (UNIVERSE[name] for name in ("cells", "records", "tables"))
    apart, exact = (UNIVERSE[name] for name in ("apart", "exact"))
    unit = UNIVERSE["unit"]

    @property
    def query(self) -> Any:
        return self.plan.counted

    @property
    def noun(self) -> str:
        return "group" if self.query.column is None else "interval"

    @property
    def bound(self) -> None:
        return None

    @property
    def truncated(self) -> bool:
        return False

    def counts(self, table: Any) -> tuple[int, ...]:
        found: tuple[int, ...] = self.exact(table)
        return found

    def counted_so(self, relative: str) -> bool:
        combine, grouped = self.query.records.combine, len(self.query.groups) > 1
        if combine == "refuse":
            return relative == " among those counted"
        how = {"min": "least", "max": "greatest"}[combine]
        return (
            relative.startswith(", each counted once")
            and ("in the first listed group" in relative) == grouped
            and (f"with the {how} of their numbers" in relative) == (self.query.column is not None)
        )

    def asked(self) -> tuple[dict[str, Any], Mapping[str, Any]]:
        query = self.query
        bounds = dict.fromkeys(("lower", "upper", "step")) if query.values is None else {}
        combine = None if query.records.person is None else query.records.combine
        told = {
            "answers": self.places,
            "by": query.by,
            "column": query.column,
            "combine": combine,
            "people": None,
            **bounds,
        }
        return told | {"groups": list(query.groups), "kind": "histogram", "p": None}, query.records.keep


DECISIONS: Mapping[str, dict[str, Any]] = {
    name: visits.DECISIONS[name] for name in ("safe", "nobody", "dangerous", "both", "one stop", "looks")
} | {"two stops": {"safe_at_most": 1, "mechanism": "sanitized", "stop_after": 2}}


def made(notion: str, question: str, decision: str) -> OfGroups | None:
    """The world of these choices; None where they are refused."""
    table, kind, described = selections.ASKED[question]
    query: Any = statistic(table, kind, **described)  # type: ignore[arg-type]
    for error in ({}, {"error_at_most": "1/5"}):
        try:
            planned: Any = lw.plan(query, numbers.NOTIONS[notion](None), **DECISIONS[decision], **error)
        except LeewardError:
            continue
        return OfGroups(f"{notion}, {question}, {decision}", planned.listing(query.cells), query.cells)
    return None


@functools.cache
def worlds() -> tuple[OfGroups, ...]:
    """Every combination that is not refused."""
    found = (made(*choices) for choices in itertools.product(numbers.NOTIONS, selections.ASKED, DECISIONS))
    return tuple(world for world in found if world is not None)
