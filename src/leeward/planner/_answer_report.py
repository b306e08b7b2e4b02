# SPDX-License-Identifier: Apache-2.0
"""What is known before numbers, or a name, are paid for, as documents: what ``leeward plan --json`` prints of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal

from leeward._document import Document, Part
from leeward._taught import taught
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, RankAccuracy, UnlistedAccuracy
from leeward.planner._answer_compare import AnswerComparison, AnsweredBy, AnswerOption, Side
from leeward.planner._report_parts import (
    BudgetPart,
    NotionPart,
    RowPart,
    WindowPart,
    budget_part,
    notion_part,
    row_keys,
    window_part,
)
from leeward.planner._selection_compare import NameComparison, NamedBy, NameOption
from leeward.planner._selection_odds import ExpectedName
from leeward.query import CountVisitors, IfMore
from leeward.query._records import Many
from leeward.query._selection import Which
from leeward.query._statistic import Statistic


class AnswersAsked(Part):
    """What was asked.

    Attributes:
        kind: the statistic; or ``unlisted groups``.
        many: whom it is about: ``people``, or ``rows`` where each is a person of its own.
        column: of the number; None where none is asked about.
        by: the column of the groups, or several; None where there are none.
        answers: how many answers there are; of groups that nobody has listed, how many there are at most.
        groups_per_person: of groups that nobody has listed, in how many a person counts at most; None of others.
        window: the time that is asked about, of several the first; None where rows of all times count.
        notion: the notion asked for.
        releases: how many releases like this one are planned in all.
        budget: the budget that pays.
        delta_left: what is left of its δ; None if that is not known.
    """

    kind: str
    many: Many
    column: str | None
    by: str | tuple[str, ...] | None
    answers: int
    groups_per_person: int | None
    window: WindowPart | None
    notion: NotionPart
    releases: int
    budget: BudgetPart
    delta_left: str | None


class AnswerOptionPart(RowPart):
    """A notion, and a mechanism.

    Attributes:
        mechanism: noise on the answer (``geometric``), a percentile by its rank (``rank``), or noisy counts of which those
            that reach a threshold are shown (``threshold``).
        useless: why a release would not go on by itself, because it would say next to nothing; None if it would.
        delta: the δ beside its price; "0" where the promise is a pure ε.
        side: on which sides of the exact answer an answer may lie; None where it is refused.
        accuracy: how far answers are off; None where it is refused.
    """

    mechanism: AnsweredBy
    useless: str | None
    delta: str
    side: Side | None
    accuracy: NumberAccuracy | MeanAccuracy | RankAccuracy | UnlistedAccuracy | None


class AnswerReport(Document):
    """Everything that is known before numbers, or groups that nobody has listed, are paid for.

    Attributes:
        format: 1.
        asked: what was asked.
        refused_as_written: why `leeward.release` refuses it as written; None if it does not.
        advice: what is taken as asked, what would be nearer and what that gives up, in sentences.
        options: every notion and mechanism, the one asked for first; refused ones too, with their reasons.
    """

    format: Literal[1]
    asked: AnswersAsked
    refused_as_written: str | None
    advice: tuple[str, ...]
    options: tuple[AnswerOptionPart, ...]

    @property
    def shown(self) -> tuple[AnswerOptionPart, ...]:
        """The options that are not refused."""
        return tuple(option for option in self.options if option.refused is None)


@taught
def answer_report(compared: AnswerComparison) -> AnswerReport:
    """Return everything that is known before numbers are paid for.

    Args:
        compared: from `leeward.compare`, of a question from `leeward.statistic` of which nothing is decided, or from
            `leeward.unlisted_groups`.
    """
    query, scenario = compared.query, compared.scenario
    numbers = query if isinstance(query, Statistic) else None
    return AnswerReport(
        format=1,
        asked=AnswersAsked(
            kind="unlisted groups" if numbers is None else _kind(numbers),
            many=query.many,
            column=numbers.column if numbers else None,
            by=query.by,
            answers=query.cells if isinstance(query, Statistic) else query.most_groups,
            groups_per_person=None if isinstance(query, Statistic) else query.groups_per_person,
            window=window_part(query.window),
            notion=notion_part(compared.notion, rows=query.of_rows),
            releases=scenario.releases,
            budget=budget_part(compared.counted_in, scenario.left),
            delta_left=None if scenario.left_delta is None else str(scenario.left_delta),
        ),
        refused_as_written=compared.refusal or None,
        advice=compared.advice,
        options=tuple(_option(option, compared) for option in compared.options),
    )


def _kind(query: Statistic) -> str:
    if query.kind == "histogram" and query.values is None:
        return "count"
    return f"{query.bins} percentiles" if query.ps else query.kind


def _option(option: AnswerOption, compared: AnswerComparison) -> AnswerOptionPart:
    scenario = compared.scenario
    known = row_keys(option, scenario.left, rows=compared.query.of_rows)
    if known["releases_left"] is not None and option.delta:
        of_delta = math.floor((scenario.left_delta or Fraction(0)) / option.delta)
        known["releases_left"] = min(known["releases_left"], of_delta)
    return AnswerOptionPart(
        **known,
        mechanism=option.mechanism,
        useless=option.useless or None,
        delta=str(option.delta),
        side=option.side,
        accuracy=option.accuracy,
    )


class NameAsked(Part):
    """What was asked.

    Attributes:
        which: the busiest or the quietest.
        noun: what is named: a place, a group or an interval.
        window: the time that is asked about, of several the first; None where rows of all times count.
        options: how many names there are; None if that is not known.
        places_per_person: the bound on one person's places, which a name does not need; None for no bound.
        if_more: what becomes of a person over that bound; None where there is none.
        notion: the notion asked for.
        counts: how many places hold how many people, by that number of people; None if it was not given.
        releases: how many releases like this one are planned in all.
        budget: the budget that pays.
    """

    which: Which
    noun: str
    window: WindowPart | None
    options: int | None
    places_per_person: int | None
    if_more: IfMore | None
    notion: NotionPart
    counts: Mapping[int, int] | None
    releases: int
    budget: BudgetPart


class NameOptionPart(RowPart):
    """A notion, and a way to find the name.

    Attributes:
        mechanism: naming alone (``noisy max``), or noisy counts of all, of which the largest or smallest is taken.
        rate: of the noise, upwards; None where it is refused.
        within_95_percent: with that probability, whatever the counts are, the named one has at most so many fewer people
            than the busiest, or more than the quietest; None where it is not known.
        expected: what is to be expected of the counts that were given; None if none were.
    """

    mechanism: NamedBy
    rate: str | None
    within_95_percent: int | None
    expected: ExpectedName | None


class NameReport(Document):
    """Everything that is known before a name is paid for.

    Attributes:
        format: 1.
        asked: what was asked.
        refused_as_written: why `leeward.release` refuses it as written; None if it does not.
        advice: whether to name, or to publish noisy counts of all.
        options: every notion and way to find the name, the one asked for first; refused ones too, with their reasons.
    """

    format: Literal[1]
    asked: NameAsked
    refused_as_written: str | None
    advice: str
    options: tuple[NameOptionPart, ...]

    @property
    def shown(self) -> tuple[NameOptionPart, ...]:
        """The options that are not refused."""
        return tuple(option for option in self.options if option.refused is None)


@taught
def name_report(compared: NameComparison) -> NameReport:
    """Return everything that is known before a name is paid for.

    Args:
        compared: from `leeward.compare`, of a question from `leeward.select`.
    """
    query, scenario = compared.query, compared.scenario
    counts = query.counts
    visits = counts if isinstance(counts, CountVisitors) else None
    return NameReport(
        format=1,
        asked=NameAsked(
            which=query.which,
            noun=query.noun,
            window=window_part(counts.window),
            options=scenario.places,
            places_per_person=None if visits is None else visits.places_per_person,
            if_more=None if visits is None or visits.places_per_person is None else visits.if_more,
            notion=notion_part(compared.notion, rows=compared.query.of_rows),
            counts=None if scenario.counts is None else dict(scenario.counts),
            releases=scenario.releases,
            budget=budget_part(compared.counted_in, scenario.left),
        ),
        refused_as_written=compared.refusal or None,
        advice=compared.advice,
        options=tuple(_name_option(option, compared) for option in compared.options),
    )


def _name_option(option: NameOption, compared: NameComparison) -> NameOptionPart:
    return NameOptionPart(
        **row_keys(option, compared.scenario.left, rows=compared.query.of_rows),
        mechanism=option.mechanism,
        rate=None if option.rate is None else str(option.rate),
        within_95_percent=option.within,
        expected=option.expected,
    )
