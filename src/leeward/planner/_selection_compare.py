# SPDX-License-Identifier: Apache-2.0
"""Before a name is paid for: naming under every notion, beside noisy counts of all places of which the largest is taken.

Both cost ε of the notion. Noise on all counts pays for every count that one step moves, naming only for how far a step moves
two counts apart; but noisy counts are published, and say more than a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from leeward.accounting._budget_notion import budget_notion
from leeward.errors import NoiseError, NotPrivateError, RefusedError
from leeward.exact._real import Real
from leeward.noise import DirectedGeometric
from leeward.notion import Notion
from leeward.planner._compare import Scenario, Ways
from leeward.planner._number_plan import plan_number
from leeward.planner._row import Row, notions_beside, with_prices
from leeward.planner._selection_odds import ExpectedName, by_counts, by_name, expected_name, gaps_of, within_by_counts
from leeward.planner._selection_plan import SelectionPlan, plan_selection
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors, Selection
from leeward.query._sensitivity import sensitivity

NamedBy = Literal["noisy max", "noisy counts"]
"""A name alone, or the place with the largest of noisy counts that are all published."""


@dataclass(frozen=True)
class NameOption(Row):
    """A row of ways to find a name.

    Attributes:
        mechanism: how the name is found.
        rate: of the noise: the larger, the better the name; that of the noise upwards where it goes both ways.
        plan: what `leeward.release` carries out; None for noisy counts, which are another question, and where it is refused.
        within: with probability at least 95 %, whatever the counts are, the one that is named has at most so many fewer
            people than the busiest (or more than the quietest); None if the length of the list is not known, or where the
            noise is so large that it takes too long to find.
        expected: what is to be expected of the counts of the scenario; None without counts, or as for ``within``.
    """

    mechanism: NamedBy
    rate: Real | None = None
    plan: SelectionPlan | None = None
    within: int | None = None
    expected: ExpectedName | None = None

    def __str__(self) -> str:
        if self.refused:
            return f"{self.notion}, {self.mechanism}: refused: {self.refused}"
        how = "" if self.within is None else f", 95 % within {self.within:,}"
        right = "" if self.expected is None else f", right with probability {self.expected.right:.3g}"
        return f"{self.notion}, {self.mechanism}: price {self.price}{how}{right}"


@dataclass(frozen=True)
class NameComparison(Ways[Selection, NameOption]):
    """Ways to find a name; see `leeward.planner._compare`."""

    @property
    def advice(self) -> str:
        """Say what is best under the notion asked for: the name, or all counts."""
        noun, busiest = self.query.noun, self.query.which == "busiest"
        name, counts = self.find(self.notion.name, "noisy max"), self.find(self.notion.name, "noisy counts")
        if name.refused:
            return "Nothing can be named under this notion"
        if counts.refused:
            return f"Name it: noisy counts of every {noun} are refused"
        if name.within is None or counts.within is None:
            return (
                "Name it, if the name is all you want; noisy counts cost the same, and how well they name is not known"
            )
        if counts.within <= name.within:
            return (
                f"Publish the counts: for the same price the {'largest' if busiest else 'smallest'} of them names a {noun}"
                " at least as well, and they say more"
            )
        return (
            f"Name it, if the name is all you want: for the same price noisy counts of every {noun} would name one within"
            f" {counts.within:,} in place of {name.within:,}, though they say more"
        )

    def __str__(self) -> str:
        return "\n".join([*map(str, self.options), self.advice])


def compare_names(query: Selection, notion: Notion, scenario: Scenario) -> NameComparison:
    """Compare ways to find a name, under the notion asked for and all others at its ε: free, because no data are read."""
    if query.options is not None:
        scenario = replace(scenario, places=query.options)
    options = tuple(_finished(option, query, notion, scenario) for option in _options(query, notion))
    refusal = options[0].refused
    if not refusal and not scenario.accept_useless:
        try:
            refuse_useless(plan_selection(query, notion), scenario.places)
        except RefusedError as refused:
            refusal = str(refused)
    return NameComparison(query, notion, scenario, options, refusal)


def _options(query: Selection, asked: Notion) -> Iterator[NameOption]:
    for notion in notions_beside(asked, visitors=isinstance(query.counts, CountVisitors)):
        try:
            made = plan_selection(query, notion)
            yield NameOption("noisy max", made.mechanism.rate, made, notion=notion, price=made.price)
        except (RefusedError, NoiseError) as refused:
            yield NameOption("noisy max", notion=notion, price=notion.epsilon, refused=str(refused))
        try:
            yield NameOption("noisy counts", _law(query, notion).up, notion=notion, price=notion.epsilon)
        except (RefusedError, NoiseError) as refused:
            yield NameOption("noisy counts", notion=notion, price=notion.epsilon, refused=str(refused))


def _law(query: Selection, notion: Notion) -> DirectedGeometric:
    """Return the noise of each count, were all of them published."""
    counts = query.counts
    if isinstance(counts, CountVisitors):
        if counts.places_per_person is None:
            raise NotPrivateError(
                "Noisy counts of every place",
                "a person may be counted at all of them",
                "Give places_per_person, or name",
            )
        line = sensitivity(notion, counts).line
        return DirectedGeometric(line.fall, line.rise)
    return plan_number(counts, notion).parts[0].law


def _finished(option: NameOption, query: Selection, asked: Notion, scenario: Scenario) -> NameOption:
    """Add how good the name is, and the prices in the budget's notion and in the notion asked for."""
    counted_in = scenario.counted_in or budget_notion(asked, rows=query.of_rows)
    option = with_prices(option, asked, counted_in, rows=query.of_rows)
    if option.refused:
        return option
    gaps = None if scenario.counts is None else gaps_of(scenario.counts, query.which)
    if option.plan is not None:
        made = option.plan.mechanism
        within = None if scenario.places is None else made.within(scenario.places)
        chances = None if gaps is None else by_name(float(made.rate), gaps)
    else:
        law = _law(query, option.notion)
        law = law if query.which == "busiest" else law.reverse()
        within = None if scenario.places is None else within_by_counts(law, scenario.places)
        chances = None if gaps is None else by_counts(law, gaps)
    return replace(option, within=within, expected=None if chances is None else expected_name(chances))
