"""Tiny worlds of groups: how many people, or rows, are in each, of which something is called safe or dangerous.

The universe is that of the worlds of numbers, and what is published is played as in the worlds of visits.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any

from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.truth import numbers, selections, visits

import leeward as lw
from leeward.cli import LeewardError
from leeward.query import records

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
        if self.query.kind == "above":
            return "level"
        return "group" if self.query.column is None else "interval"

    @property
    def scans(self) -> int:
        """How often a mechanism that stops starts anew: for levels in each group."""
        return max(1, len(self.query.groups)) if self.query.kind == "above" else 1

    @property
    def all_answered(self) -> bool:
        return self.stops is not None and self.stops >= self.places // self.scans

    @property
    def price(self) -> Any:
        stops = self.places // self.scans if self.all_answered else self.stops or 1
        return self.notion.epsilon * stops

    def reach(self, places: int, stops: int) -> float:
        return self.scans * super().reach(places // self.scans, stops)

    @functools.cache  # noqa: B019 - worlds live as long as the tests
    def _between(self, truth: tuple[int, ...], cover: tuple[int, ...]) -> float:
        """Each scan is answered by itself, with noise of its own: what tells two tables apart adds up."""
        if self.stops is None:
            return sum(self.ratio(c, d) for c, d in zip(truth, cover, strict=True))
        pairs, each = tuple(zip(truth, cover, strict=True)), len(truth) // self.scans
        runs = [pairs[i : i + each] for i in range(0, len(pairs), each)]
        return sum(self._played(run, 2 * self.stops) for run in runs)

    @property
    def bound(self) -> None:
        return None

    @property
    def truncated(self) -> bool:
        return False

    def counts(self, table: Any) -> tuple[int, ...]:
        if self.query.kind != "above":
            found: tuple[int, ...] = self.exact(table)
            return found
        held = [[r[1] for r in table if r is not None and r[0] == group] for group in self.cells]
        return tuple(sum(n > level for n in here) for here in held for level in reversed(self.query.levels))

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
        bounds = dict.fromkeys(("lower", "upper", "step")) if query.values is None or query.levels else {}
        combine = None if query.records.person is None else query.records.combine
        told = {
            "answers": self.places,
            "by": query.by,
            "column": query.column,
            "combine": combine,
            "people": None,
            **bounds,
        }
        levels = [str(level) for level in query.levels] or None
        more = {"groups": list(query.groups), "kind": query.kind, "p": None, "levels": levels}
        return told | more, query.records.keep


DECISIONS: Mapping[str, dict[str, Any]] = {
    name: visits.DECISIONS[name] for name in ("safe", "nobody", "dangerous", "both", "one stop", "looks")
} | {"two stops": {"safe_at_most": 1, "mechanism": "sanitized", "stop_after": 2}}


ABOVE: dict[str, Any] = {"column": "age", "levels": [0, 1]}
ASKED: Mapping[str, tuple[Any, str, dict[str, Any]]] = selections.ASKED | {
    "above": (numbers.TABLE, "above", ABOVE),
    "above one": (numbers.TABLE, "above", {"column": "age", "levels": ["3/2"]}),
    "above in groups": (numbers.TABLE, "above", {**ABOVE, "by": "sex", "groups": ["f", "m"]}),
    "above in one group": (numbers.TABLE, "above", {**ABOVE, "by": "sex", "groups": ["f"]}),
    "above of several": (records("people.parquet", person="user", combine="max"), "above", ABOVE),
}


def made(notion: str, question: str, decision: str) -> OfGroups | None:
    """The world of these choices; None where they are refused."""
    table, kind, described = ASKED[question]
    query: Any = statistic_by(table, kind, **described)  # type: ignore[arg-type]
    for error in ({}, {"error_at_most": "1/5"}):
        try:
            planned: Any = decide_by(lw.plan, query, numbers.NOTIONS[notion](None), **DECISIONS[decision], **error)
        except LeewardError:
            continue
        return OfGroups(f"{notion}, {question}, {decision}", planned.listing(query.cells), query.cells)
    return None


@functools.cache
def worlds() -> tuple[OfGroups, ...]:
    """Every combination that is not refused."""
    found = (made(*choices) for choices in itertools.product(numbers.NOTIONS, ASKED, DECISIONS))
    return tuple(world for world in found if world is not None)
