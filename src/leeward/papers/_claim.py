# SPDX-License-Identifier: Apache-2.0
"""What is recomputed: numbers that decide the papers' claims, and figures with the data behind them.

The words about a claim (where it stands, what is printed, the verdict) and the number it is pinned to are in claims.toml,
those about a figure in figures.toml, both under its key. The modules beside this one compute.
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Verdict = Literal["agrees", "corrected", "read fairly", "added", "not reproducible"]
"""Corrected: it should read otherwise. Read fairly: open, loose or a slip as printed, right by the fairest reading. Added:
not printed, but needed to judge what is. Not reproducible: nothing public decides it."""

SOURCES = {
    "adp": "Takagi, Kato, Cao, Yoshikawa: Asymmetric Differential Privacy (arXiv 2103.00996)",
    "one-sided": "One-Sided Differential Privacy (DifferentialPrivacy.org)",
    "d-privacy": "Chatzikokolakis, Andrés, Bordenabe, Palamidessi: Broadening the Scope of Differential Privacy Using"
    " Metrics (PETS 2013)",
    "visits": "Visits of your own, for ADP's figures",
}
"""The papers, by the first part of every key."""

EXACT = 1e-9
"""Tolerance of a number from a closed form or an exact matrix, absolute or relative: only its last places may differ."""

Numbers = list[tuple[str, SupportsFloat]]
"""Pairs (key of a claim, the number that decides it)."""


@dataclass(frozen=True)
class Claim:
    """One printed statement and the number that decides it.

    Attributes:
        key: its name on the page and in the JSON; stable.
        where: the section, definition, figure or example.
        says: what is computed, in words.
        printed: what the paper has.
        ours: what we get.
        verdict: what follows.
        pin: what ``ours`` was when it was last looked at.
        tolerance: how far it may be from the pin, absolutely and, above 1, relatively.
        why: a sentence for the reader.
        row: the heading in the corrections that this number shows; empty where none is about it.
    """

    key: str
    where: str
    says: str
    printed: str
    ours: float
    verdict: Verdict
    pin: float
    tolerance: float = EXACT
    why: str = ""
    row: str = ""

    @classmethod
    def of(cls, key: str, ours: SupportsFloat) -> Claim:
        """Return a claim with its words."""
        return cls(key=key, ours=float(ours), **_words("claims.toml")[key])

    @property
    def source(self) -> str:
        """The key of the paper."""
        return source_of(self.key)

    @property
    def shown(self) -> str:
        """``ours`` for people."""
        return show(self.ours)

    @property
    def moved(self) -> bool:
        """Whether ``ours`` is further from its pin than the tolerance allows."""
        if math.isinf(self.ours) or math.isinf(self.pin):
            return self.ours != self.pin
        return not abs(self.ours - self.pin) <= self.tolerance * max(1.0, abs(self.pin))


@dataclass(frozen=True)
class Figure:
    """A figure or table, redrawn.

    Attributes:
        key: its name on the page and of its CSV.
        data: every number drawn.
        drawing: None for a table, which is shown as its data.
        like: the key of the figure whose words are meant, where it is not ``key``.
        about: whose data, where they are not the paper's or ours.
    """

    key: str
    data: pd.DataFrame
    drawing: go.Figure | None = None
    like: str = ""
    about: str = ""

    @property
    def source(self) -> str:
        """The key of the paper."""
        return source_of(self.like or self.key)

    @property
    def title(self) -> str:
        """What it is."""
        return str(self._words["title"]) + (f", {self.about}" if self.about else "")

    @property
    def printed(self) -> str:
        """What the paper's figure shows, in words."""
        return str(self._words["printed"])

    @property
    def ours(self) -> str:
        """What ours shows."""
        return str(self._words["ours"])

    @property
    def height(self) -> int:
        """In pixels; 0 for a table."""
        return int(self._words.get("height", 0))

    @property
    def _words(self) -> dict[str, Any]:
        return _words("figures.toml")[self.like or self.key]


@dataclass
class Chapter:
    """What one module computed."""

    numbers: Numbers = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def claims(self) -> list[Claim]:
        """The numbers with their words."""
        return [Claim.of(key, ours) for key, ours in self.numbers]


def source_of(key: str) -> str:
    """Return the paper that a key belongs to."""
    return next(source for source in SOURCES if key.startswith(f"{source}-"))


def keys() -> Iterable[str]:
    """Return the keys of all claims, in order."""
    return _words("claims.toml").keys()


def show(value: float) -> str:
    """Write a number for people: whole numbers whole, others to four places that count."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if 0 < abs(value) < EXACT:
        return "≈ 0"  # what a solver leaves of it
    if value == round(value):
        return f"{int(value):,}".replace("-", "−")
    text = f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"
    return text.replace("-", "−")


@functools.cache
def _words(name: str) -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("leeward.papers").joinpath(name).read_text("utf-8"))
