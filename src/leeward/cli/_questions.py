# SPDX-License-Identifier: Apache-2.0
"""``leeward plan`` of a spec of several questions: what each costs and how near it will be, and what they cost together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from leeward._document import Document, Part
from leeward.cli._dry_run import dry_runs, prices_of
from leeward.cli._output import facts, print_parts, say
from leeward.cli._plan_table import print_compared
from leeward.ledger._records import NOTHING
from leeward.planner import AnswerReport, NameReport, PlanReport
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._side_by_side import AnyReport
from leeward.report._words import nearest

if TYPE_CHECKING:
    from leeward.session._budget import Budget
    from leeward.session._dry_run import DryRun


class PlannedQuestion(Part):
    """A question of several.

    Attributes:
        name: its name.
        text: what it asks, in words; of several windows, of the first.
        notion: the privacy notion.
        epsilon: of each release.
        releases: how many it is: one a window.
        stored: how many of them have a stored answer, which is free.
        price: what all of its releases cost in the budget, if none is stored.
        guaranteed: what the statement guarantees of its answers.
        compared: the question under every notion and mechanism, as `leeward plan` compares it alone.
    """

    name: str
    text: str
    notion: str
    epsilon: str
    releases: int
    stored: int
    price: str
    guaranteed: tuple[str, ...]
    compared: PlanReport | NameReport | AnswerReport


class PlannedQuestions(Document):
    """What the questions of a spec cost, alone and together, before anything is charged.

    Attributes:
        format: 1.
        questions: in the order of the spec.
        dataset: whose budget is charged.
        counted_in: the notion that the budget is counted in.
        price: what all of them are charged together now.
        left: what is left of the budget; None where no cap is given.
    """

    format: Literal[1]
    questions: tuple[PlannedQuestion, ...]
    dataset: str
    counted_in: str
    price: str
    left: str | None


def planned_questions(
    asked: Mapping[str, list[AnyPlan]], reports: Mapping[str, AnyReport], budget: Budget
) -> PlannedQuestions:
    """Return what several questions cost; reads the public lists and the ledger, never the data.

    Raises:
        LeewardError: one is refused; the message names the question.
    """
    found = dry_runs(asked, budget)
    stands = next(iter(found.values())).stands
    return PlannedQuestions(
        format=1,
        questions=tuple(_planned(name, one, reports[name]) for name, one in found.items()),
        dataset=budget.dataset,
        counted_in=stands.counted_in,
        price=str(sum(prices_of(found.values()), NOTHING)),
        left=None if stands.cap is None else str(stands.cap - stands.spent),
    )


def _planned(name: str, one: DryRun, report: AnyReport) -> PlannedQuestion:
    statement = one.statements[0]
    return PlannedQuestion(
        name=name,
        text=statement.query.text,
        notion=statement.notion.name,
        epsilon=statement.notion.epsilon,
        releases=len(one.plans),
        stored=sum(one.stands.answered),
        price=str(sum(one.paid, NOTHING)),
        guaranteed=statement.guaranteed,
        compared=report,
    )


def print_questions(found: PlannedQuestions) -> None:
    """Print what several questions cost, how near each will be, and each under every notion and mechanism."""
    for one in found.questions:
        windows = "" if one.releases == 1 else f" for {one.releases} windows"
        stored = f"; {one.stored} stored, and free" if one.stored else ""
        said = [
            ("asks", one.text),
            ("promise", f"{one.notion}, ε = {one.epsilon}"),
            ("price", f"{one.price}{windows}{stored}"),
            ("guaranteed", nearest(one.guaranteed)),
        ]
        say(f"{one.name}\n{'=' * len(one.name)}")
        print_parts(facts(said, no_wrap=True), "")
        print_compared(one.compared)
        say()
    left = "no cap is given" if found.left is None else f"{found.left} is left"
    say(f"All together: {found.price} of the budget of '{found.dataset}', counted in {found.counted_in}; {left}.")
    say("`leeward release SPEC --dry-run` prints the statement of each. Nothing was charged and no data was read.")
