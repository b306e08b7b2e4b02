# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a tree of totals: that of its promise's totals, with the price and the errors of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from leeward._plain import at_most, counted
from leeward.local.series._documents import SeriesMechanism, SeriesStatement, TreeError, TreeLevelError
from leeward.local.series._quantities import in_digits, plain
from leeward.local.series._statement import price_part, routes_part, statement
from leeward.local.series._tree import LevelError, TotalsTree

_TREE: Final = (
    "Hay, Rastogi, Miklau, Suciu, Boosting the Accuracy of Differentially Private Histograms Through Consistency, Section 4:"
    " least squares over a tree of noisy totals is post-processing, and takes no total further from the truth on average."
    " With noise of rate r_l on level l, the tree is (Σ_l r_l)·d_1-private, because a reading is part of one total a level."
)


def statement_of_tree(tree: TotalsTree, others: Sequence[str] | None = None) -> SeriesStatement:
    """Return the privacy statement of a tree."""
    totals, series = tree.totals, tree.totals.series
    made, rate = statement(series, totals, others), tree.mechanism.price.readings
    snapping = at_most(float(tree.snapping), 4)
    return made.model_copy(
        update={
            "publishes": "tree of totals",
            "price": price_part(series, totals, tree.price, made.promise.span),
            "snapping": made.snapping.model_copy(
                update={
                    "maximum_total": str(tree.snapping),
                    "text": made.snapping.text.rsplit(": at most", 1)[0]
                    + f": at most ε = {snapping} more over the period",
                }
            ),
            "schedule": made.schedule.model_copy(update={"windows": sum(len(spans) for spans in tree.spans)}),
            "mechanism": SeriesMechanism(name="geometric", rate=str(rate), text=_mechanism(tree)),
            "mean_error": _error(tree),
            "routes": routes_part(tree),
            "post_processing": (
                "Totals are made to add up, every whole the sum of its parts to the last step: least squares over all noisy"
                " totals, weighted by their variances, then rounded to whole steps from the widest span down",
            ),
            "theorems": (*made.theorems, _TREE),
        }
    )


def _mechanism(tree: TotalsTree) -> str:
    shares = ", ".join(f"{level} {share}" for level, share in zip(tree.levels, tree.mechanism.shares, strict=True))
    kind = tree.totals.series.mechanism.kind
    counts = f", n the number of readings of the longest {tree.totals.per}" if kind.by_window else ""
    return (
        f"Every total of every level gets exact two-sided geometric noise of its own, of rate share·{kind.rate}{counts}; the"
        f" levels' shares of ε: {shares}. The price is that of all levels together"
    )


def _error(tree: TotalsTree) -> TreeError:
    totals, errors, moved = tree.totals, tree.errors(), float(tree.totals.step / 2)
    return TreeError(
        unit=totals.unit,
        levels=tuple(_of_level(each) for each in errors),
        rounding_of_a_reading=moved,
        text="; ".join(_in_words(each, totals.unit) for each in errors)
        + f", rounding to whole steps of {plain(totals.step)} {totals.unit} included; of readings on the grid: others"
        f" are rounded first, which moves a total by at most {at_most(moved, 4)}"
        f" {totals.unit} for each of them",
    )


def _of_level(found: LevelError) -> TreeLevelError:
    return TreeLevelError(
        level=found.level,
        spans=found.spans,
        share=str(found.share),
        rate=str(found.rate),
        mean=_short(found.mean),
        within_95=found.within,
        deviation=_short(found.deviation),
        consistent_deviation=_short(found.consistent),
    )


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _in_words(found: LevelError, unit: str) -> str:
    within = in_digits(float(at_most(found.within, 4)))
    return (
        f"{counted(found.spans, found.level)}: noise of at most {within} {unit} with a chance of 95 %, standard"
        f" deviation {in_digits(found.deviation)} {unit}, and {in_digits(found.consistent)} {unit} once parts add up"
    )
