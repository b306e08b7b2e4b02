# SPDX-License-Identifier: Apache-2.0
"""The ways to one total, at one promise: noisy readings added up, noise on the total, or a tree with other totals beside it.

All are compared before anything is drawn, for the promise of some `Totals`: ε is for the readings of one span, which move
together as the distance lets them. The error of a total of m readings then has the variance

* of one reading's error, m times, where readings get noise of their own, or one draw of norm noise for each span: errors of
  two readings of one draw are uncorrelated, because turning the sign of one leaves their law as it is;
* that of noise of the whole ε, where only totals of this length are published;
* that of least squares over the tree, where totals of other lengths are published too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from leeward.errors import LowUtilityError, RefusedError
from leeward.local.series._schedule import Per
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree
from leeward.mechanism._series import WIDEST_NORM, SeriesMechanism, SeriesNoise

Way = Literal["readings", "norm readings", "totals", "tree"]
"""Readings with noise of their own, or with one draw a span, added up; totals of this span alone; a tree of totals."""

_WAYS: Final[dict[SeriesNoise, Way]] = {"independent": "readings", "norm": "norm readings"}
_HOUR: Final = 3_600_000_000


@dataclass(frozen=True)
class Route:
    """One way to a total.

    Attributes:
        span: what is totalled, the longest of them.
        way: how.
        deviation: the standard deviation of the total's error, in its unit, of readings on the grid.
        levels: of a tree, which totals are published.
        chosen: whether it is the one that is asked for.
    """

    span: Per
    way: Way
    deviation: float
    levels: tuple[Per, ...]
    chosen: bool


def routes(asked: Totals | TotalsTree) -> list[Route]:
    """Return the ways to each total that is asked for, at the promise that is asked for, before anything is drawn."""
    if isinstance(asked, TotalsTree):
        return [route for span in asked.levels for route in _to(span, asked.totals, asked, chosen="tree")]
    return list(_to(asked.per, asked, _usual_tree(asked), chosen="totals"))


def _to(span: Per, totals: Totals, tree: TotalsTree | None, *, chosen: Way) -> Iterator[Route]:
    mechanism, step = totals.series.mechanism, float(totals.step)
    together = max(day.readings for day in totals.spans)
    readings = max(day.readings for day in totals.series.schedule.spans(span))
    for noise in mechanism.kind.noises[::-1]:
        if noise == "independent" or 1 < together <= WIDEST_NORM:
            each = SeriesMechanism(
                mechanism.between,
                mechanism.epsilon,
                window=together,
                noise=noise,
                step=mechanism.step,
                width=mechanism.width,
            )
            steps = each.typical_deviation() / float(each.step)
            yield Route(span, _WAYS[noise], math.sqrt(readings) * steps * step, (), chosen=False)
    alone = SeriesMechanism("manhattan", mechanism.total(together).line.rise, step=mechanism.step)
    steps = alone.typical_deviation() / float(alone.step)
    yield Route(span, "totals", steps * step, (), chosen=chosen == "totals")
    if tree is not None:
        (found,) = (error for error in tree.errors() if error.level == span)
        yield Route(span, "tree", found.consistent, tuple(tree.levels), chosen=chosen == "tree")


def _usual_tree(totals: Totals) -> TotalsTree | None:
    """Return the tree of hours, days, months and what is asked for; None where it would be refused."""
    usual = {"day", "month", totals.per} | ({"hour"} if totals.series.schedule.step <= _HOUR else set())
    try:
        return TotalsTree(totals, [level for level in get_args(Per) if level in usual])
    except (LowUtilityError, RefusedError):
        return None
