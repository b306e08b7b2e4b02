# SPDX-License-Identifier: Apache-2.0
"""Ways to answer with numbers, or with a name, as the cells of a table: shared by the terminal and a notebook."""

from __future__ import annotations

from collections.abc import Mapping

from leeward._plain import at_most, tabled_percent
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, RankAccuracy, UnlistedAccuracy
from leeward.planner._answer_compare import Side
from leeward.planner._answer_report import AnswerOptionPart, AnswerReport, NameOptionPart, NameReport
from leeward.planner._words import label, short

Cells = tuple[list[str], list[list[str]]]
"""Headings, in which a line may end; and the cells of each row."""

_ERRS: Mapping[Side, str] = {"never too low": "not low", "never too high": "not high", "both ways": "both"}
"""On which sides answers may err, in few letters."""


def cells_of(report: NameReport | AnswerReport) -> tuple[Cells, list[str]]:
    """Return the ways to answer that are not refused, and what speaks for which."""
    if isinstance(report, NameReport):
        return _name_cells(report), [report.advice]
    return _answer_cells(report), list(report.advice)


def _name_cells(report: NameReport) -> Cells:
    counts = bool(report.asked.counts)
    headings = ["notion", "mechanism", "price\nε", "in the\nbudget", "95%\nwithin"]
    headings += ["right", "off\nby"] if counts else []
    return headings, [_name(option, counts=counts) for option in report.shown]


def _name(option: NameOptionPart, *, counts: bool) -> list[str]:
    within, expected = option.within_95_percent, option.expected
    cells = [label(option.notion), option.mechanism, short(option.price), _in_budget(option)]
    cells.append("–" if within is None else f"{within:,}")
    if not counts:
        return cells
    known = [tabled_percent(expected.right), f"{expected.mean_gap:.3g}"] if expected else ["–", "–"]
    return [*cells, *known]


def _answer_cells(report: AnswerReport) -> Cells:
    unlisted = report.asked.groups_per_person is not None
    errors = ["half\nshown", "95%\nshown", "95%\noff"] if unlisted else _errors_named(report)
    named = ["notion", "price\nε", "δ"] if unlisted else ["notion", "mechanism", "price\nε"]
    rows = list[list[str]]()
    for option in report.shown:
        cells = [label(option.notion), *([] if unlisted else [option.mechanism]), short(option.price)]
        cells += [short(option.delta)] if unlisted else []
        off = _errors(option)[: len(errors)] if option.useless is None else ["useless"] * len(errors)
        rows.append([*cells, _in_budget(option), *off, _ERRS[option.side or "both ways"]])
    return [*named, "in the\nbudget", *errors, "errs"], rows


def _in_budget(option: NameOptionPart | AnswerOptionPart) -> str:
    return "–" if option.price_in_budget is None else short(option.price_in_budget)


def _errors_named(report: AnswerReport) -> list[str]:
    accuracies = [option.accuracy for option in report.shown]
    mean = next((one for one in accuracies if isinstance(one, MeanAccuracy)), None)
    if mean is not None:
        return [f"95% off,\n{each.number:,}" for each in mean.by_number[1:]]
    return ["95%\noff", *(["all 95%\noff"] if report.asked.answers > 1 else [])]


def _errors(option: AnswerOptionPart) -> list[str]:
    accuracy = option.accuracy
    assert accuracy is not None
    if isinstance(accuracy, MeanAccuracy):
        return [at_most(each.within_95_percent) for each in accuracy.by_number[1:]]
    if isinstance(accuracy, UnlistedAccuracy):
        return [f"{n:,}" for n in (accuracy.half_shown_from, accuracy.mostly_shown_from, accuracy.within_95_percent)]
    one, every = accuracy.within_95_percent, accuracy.all_within_95_percent
    if isinstance(accuracy, RankAccuracy):
        return [f"{one:,} {accuracy.counted}", f"{every:,} {accuracy.counted}"]
    assert isinstance(accuracy, NumberAccuracy)
    return [at_most(one), at_most(every)]
