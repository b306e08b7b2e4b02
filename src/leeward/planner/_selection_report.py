# SPDX-License-Identifier: Apache-2.0
"""What is known before a name is paid for, as a document: what ``leeward plan --json`` prints of such a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from leeward._document import Document, Part
from leeward._taught import taught
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
from leeward.query._selection import Which


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
        by: naming alone (``noisy max``), or noisy counts of all, of which the largest or smallest is taken.
        rate: of the noise, upwards; None where it is refused.
        within_95_percent: with that probability, whatever the counts are, the named one has at most so many fewer people
            than the busiest, or more than the quietest; None where it is not known.
        expected: what is to be expected of the counts that were given; None if none were.
    """

    by: NamedBy
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
        options=tuple(_option(option, compared) for option in compared.options),
    )


def _option(option: NameOption, compared: NameComparison) -> NameOptionPart:
    return NameOptionPart(
        **row_keys(option, compared.scenario.left, rows=compared.query.of_rows),
        by=option.by,
        rate=None if option.rate is None else str(option.rate),
        within_95_percent=option.within,
        expected=option.expected,
    )
