# SPDX-License-Identifier: Apache-2.0
"""What a recomputation found: all claims and figures, the corrections among them, and their JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, get_args

from leeward.papers._claim import SOURCES, Claim, Figure, Verdict
from leeward.version import __version__


@dataclass
class Recomputed:
    """All claims and figures.

    Attributes:
        full: whether the full set was computed.
        claims: in the order of the papers.
        figures: likewise, those of the user's visits last.
        seconds: how long each part took.
    """

    full: bool
    claims: list[Claim] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def moved(self) -> list[Claim]:
        """The claims whose number is no longer what it was: something is wrong."""
        return [claim for claim in self.claims if claim.moved]

    def tally(self) -> dict[str, int]:
        """Return how many claims have each verdict."""
        verdicts = [claim.verdict for claim in self.claims]
        return {verdict: verdicts.count(verdict) for verdict in get_args(Verdict)}

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, JSON-ready; ∞ as "inf"."""
        return {
            "leeward": __version__,
            "full": self.full,
            "sources": {key: title for key, title in SOURCES.items() if key != "visits"},
            "tally": self.tally(),
            "moved": [claim.key for claim in self.moved],
            "claims": [
                {
                    "key": c.key,
                    "where": c.where,
                    "says": c.says,
                    "printed": c.printed,
                    "ours": _json(c.ours),
                    "verdict": c.verdict,
                    "why": c.why,
                    "correction": c.row,
                    "pinned": _json(c.pin),
                    "tolerance": c.tolerance,
                    "moved": c.moved,
                }
                for c in self.claims
            ],
            "figures": [
                {"key": f.key, "title": f.title, "printed": f.printed, "ours": f.ours, "data": f"{f.key}.csv"}
                for f in self.figures
            ],
        }


def rows(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """Return the corrections, by heading, with the numbers that show them."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.row:
            found.setdefault(claim.row, []).append(claim)
    return found


def _json(value: float) -> float | str:
    return "inf" if value == float("inf") else value
