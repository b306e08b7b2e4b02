# SPDX-License-Identifier: Apache-2.0
"""What ``leeward check --json`` prints, as a typed document: facts about the data, for the curator only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import JsonValue

from leeward._document import Document, Part
from leeward._statement import WindowStated

if TYPE_CHECKING:
    from leeward.engine import Look
    from leeward.planner._selection_plan import AnyPlan
    from leeward.session._budget import Budget
    from leeward.session._facts import Checked


class LookedAt(Part):
    """How much one question would count.

    Attributes:
        window: when; None where rows of all times count.
        counted: how many rows would take part.
        not_counted: how many rows would not, by reason; of each row the first reason that holds.
        over_bound: what becomes of people over the bound, in words; empty where there are none.
        stored: whether its answer is stored, so that it is free.
        stand_ins: how many rows inside name a person who stands in for those who are not known, such as 'unknown'.
    """

    window: WindowStated | None
    counted: int
    not_counted: Mapping[str, int]
    over_bound: str
    stored: bool
    stand_ins: int


class PeopleNamed(Part):
    """Whom the rows name that pass the filter, whenever they are.

    Attributes:
        ids: how many ids there are.
        rows: how many rows name one.
        most: how many of them name the id that most do.
        next: how many name the id that comes next; 0 where there is none.
    """

    ids: int
    rows: int
    most: int
    next: int


class KeysCompared(Part):
    """How the keys that rows name match the public list; rows that pass the filter, whenever they are.

    Attributes:
        listed: how many keys are listed.
        named: how many of them some row names.
        unlisted: how many other keys rows name.
        alike: listed keys that no row names, and one would if it were written alike, by what they differ in.
        split: listed keys that some rows name, and more would if they were written alike, likewise.
        all_named: whether every listed key is named and no other, as where the list was made from the rows.
    """

    listed: int
    named: int
    unlisted: int
    alike: Mapping[str, tuple[str, ...]]
    split: Mapping[str, tuple[str, ...]]
    all_named: bool


class BudgetLeft(Part):
    """Where the budget stands, in ε and in δ: amounts are exact; None where no cap is given."""

    dataset: str
    cap: str | None
    spent: str
    price: str
    left: str | None
    cap_delta: str | None
    spent_delta: str
    price_delta: str


class CheckedSpec(Document):
    """What a release would count and look like. Facts about the data: not to be published.

    Attributes:
        format: 1.
        for_the_curator_only: true.
        rows: how many rows the table has.
        times: the first and the last time of the data, in words; None where there is none.
        looks: one a window, or one.
        keys: how places or groups match the public list; None where there is no such list.
        people: whom the rows name; None where each row is a person.
        below: how many of the numbers that count lie below the lower bound; None where there are no bounds.
        above: how many lie above the upper bound.
        answer_rows: how many rows each answer has; at most so many, where groups are not listed.
        stand_in: the first rows of an answer that was drawn from made-up counts; it says nothing of the data.
        budget: where the budget stands.
        refused: why a release would be refused; empty if it would not.
        question: the name of the question, of a spec of several; None of a spec of one.
    """

    format: Literal[1]
    for_the_curator_only: Literal[True]
    rows: int
    times: tuple[str, str] | None
    looks: tuple[LookedAt, ...]
    keys: KeysCompared | None
    people: PeopleNamed | None
    below: int | None
    above: int | None
    answer_rows: int
    stand_in: tuple[dict[str, JsonValue], ...]
    budget: BudgetLeft
    refused: tuple[str, ...]
    question: str | None


def checked(found: Checked, budget: Budget, question: str = "") -> CheckedSpec:
    """Return what is printed of a look before a release of a question, which has a name in a spec of several."""
    from leeward.engine._look import times_of

    first, matched, beyond, stands = found.looks[0], found.survey.matches, found.survey.beyond, found.standing
    people = found.survey.people
    each = zip(found.plans, found.looks, found.over_bound, stands.answered, strict=True)
    return CheckedSpec(
        format=1,
        for_the_curator_only=True,
        rows=first.rows,
        times=times_of(found.looks),
        looks=tuple(_looked(*one) for one in each),
        keys=None if matched is None else KeysCompared.copied_from(matched, all_named=found.all_named),
        people=None if people is None else PeopleNamed.copied_from(people),
        below=None if beyond is None else beyond.below,
        above=None if beyond is None else beyond.above,
        answer_rows=found.answer_rows,
        stand_in=tuple(found.stand_in.to_pylist()),
        budget=BudgetLeft(
            dataset=budget.dataset,
            cap=None if stands.cap is None else str(stands.cap.epsilon),
            spent=str(stands.spent.epsilon),
            price=str(found.price),
            left=None if stands.left is None else str(stands.left),
            cap_delta=None if stands.cap is None else str(stands.cap.delta),
            spent_delta=str(stands.spent.delta),
            price_delta=str(found.delta),
        ),
        refused=tuple(found.refusals),
        question=question or None,
    )


def _looked(made: AnyPlan, look: Look, over: str, stored: bool) -> LookedAt:
    from leeward.session._statement._windows import window_stated

    return LookedAt(
        window=window_stated(made.counted),
        counted=look.taken,
        not_counted={reason: rows for reason, rows in look.dropped.items() if rows},
        over_bound=over,
        stored=stored,
        stand_ins=look.stand_ins,
    )
