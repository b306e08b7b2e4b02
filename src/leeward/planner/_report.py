# SPDX-License-Identifier: Apache-2.0
"""What is known before anything is spent, as a document: what ``leeward plan --json`` prints, and its page is drawn from.

Exact numbers are texts ("1/3", "inf"); probabilities are decimals of at most 12 digits, as in release.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from leeward._document import Document, Part
from leeward.accounting import Direction
from leeward.mechanism._threshold_rule import Word
from leeward.planner._everyone import About
from leeward.planner._expected import Errors, ExpectedAnswers
from leeward.planner._option import Offered
from leeward.planner._plan import What
from leeward.planner._report_parts import BudgetPart, NotionPart, RowPart, WindowPart
from leeward.query import IfMore
from leeward.query._records import Many
from leeward.query._statistic import Noun


class Wish(Part):
    """Places with so many people (``count``) are to be called safe with this probability."""

    count: int
    probability: str


class AskedPart(Part):
    """What was asked.

    Attributes:
        noun: what is said to be safe or dangerous: a place, a group or an interval.
        many: whom the counts are of: people, or rows.
        window: the time that is asked about; of several, the first; None where rows of all times count.
        column: of an interval, the column of its number; None of others.
        by: the column of the groups, or several; None where there are none.
        places: how many places the public list has, or how many groups or intervals there are.
        places_per_person: the bound on one person's places; None for no bound.
        if_more: what becomes of people beyond it.
        notion: the notion asked for.
        safe_at_most: t, what *safe* means; None if it is not said.
        dangerous_at_least: T, what *dangerous* means; None if it is not said.
        error_at_most: α as written; None if none is.
        assumed_error: α for the notions that need one where none is written.
        what: what is published.
        answered: how many of the releases, as written, have a stored answer, which is free.
        counts: how many places hold how many people, by that number of people; None if it was not given.
        wish: what ``epsilon_for_wish`` and ``safe_at_most_for_wish`` of the options are about.
        releases: how many releases like this one are planned in all.
        delta: δ for their total.
        budget: the budget that pays.
        about: whom decisions are asked about: those counted, or everyone who was there.
        left_out: the public guess of how many people are left out at most at any one place; of several, one for each k.
    """

    noun: Noun
    many: Many
    window: WindowPart | None
    column: str | None
    by: str | tuple[str, ...] | None
    places: int | None
    places_per_person: int | None
    if_more: IfMore | None
    notion: NotionPart
    safe_at_most: int | None
    dangerous_at_least: int | None
    error_at_most: str | None
    assumed_error: str
    what: What
    counts: Mapping[int, int] | None
    wish: Wish
    releases: int
    delta: str
    budget: BudgetPart
    answered: int = 0
    about: About = "counted"
    left_out: int | tuple[int, ...] = 0

    @property
    def words(self) -> tuple[Word, ...]:
        """What is said of places."""
        said: tuple[tuple[Word, int | None], ...] = (
            ("safe", self.safe_at_most),
            ("dangerous", self.dangerous_at_least),
        )
        return tuple(word for word, limit in said if limit is not None)

    def ends(self, word: Word) -> tuple[int, ...]:
        """The counts whose chances of a word stand in a row: 0 and t for *safe*; T and 2 more for *dangerous*."""
        if word == "safe":
            return tuple(dict.fromkeys((0, self.safe_at_most or 0)))
        least = self.dangerous_at_least or 0
        return least, least + 2


class GivenUp(Part):
    """An option that would say more, by its place in the list, and what it would give up."""

    option: int
    what: str


class Advice(Part):
    """What is recommended.

    Attributes:
        option: the place of the recommended option in the list; None if none will do.
        reason: why, in sentences.
        gives_up: what the options that would say more would give up.
        cautions: what must be known before it is chosen.
        plain_dp_is_enough: whether plain differential privacy is enough here; None where it was not compared.
        plain_dp: the same in a sentence.
        whom: whom *safe* is about, and what the other promise would cost; empty where nobody is left out.
    """

    option: int | None
    reason: str
    cautions: tuple[str, ...]
    gives_up: tuple[GivenUp, ...]
    plain_dp_is_enough: bool | None
    plain_dp: str
    whom: str = ""


class Decided(Part):
    """When a noisy count is called so (up to, or from, ``threshold``), and α, how often wrongly; None: never."""

    threshold: int
    wrong_at_most: str | None


class DecidedParts(Part):
    """Both decisions; None for what is not said."""

    safe: Decided | None
    dangerous: Decided | None

    def of(self, word: Word) -> Decided | None:
        """Return the decision of a word."""
        return self.safe if word == "safe" else self.dangerous


class CurvePoint(Part):
    """How often a true count is called each word, and how often at best; None for what is not said, or not known.

    "At best" is what no decision about one count can better under the notion, with the same chance of error.
    """

    count: int
    safe: str | None
    best_safe: str | None
    dangerous: str | None
    best_dangerous: str | None

    def of(self, word: Word) -> tuple[str, str | None]:
        """Return the chance of a word that is said, and the best possible one."""
        chance, best = (self.safe, self.best_safe) if word == "safe" else (self.dangerous, self.best_dangerous)
        assert chance is not None
        return chance, best


class ComposedPart(Part):
    """All planned releases together.

    Attributes:
        price: their price in ε of the option's notion.
        price_in_budget: the same in the notion of the budget; None where that cannot cover it.
        epsilon_at_delta: ε at δ in each direction that the notion protects; without those that no accountant knows.
        not_composed: why there is none: too much work, or a library that is not installed; None otherwise.
    """

    price: str
    price_in_budget: str | None
    epsilon_at_delta: Mapping[Direction, float]
    not_composed: str | None

    @property
    def worst(self) -> float | None:
        """The greatest ε at δ of any direction; None where none is known."""
        return max(self.epsilon_at_delta.values(), default=None)


class OptionPart(RowPart):
    """A notion and a mechanism: an option that is refused, or one of which only the price is given.

    Attributes:
        mechanism: what makes the answer.
        releasable: whether ``leeward release`` carries it out.
        note: what else must be known of it.
    """

    mechanism: Offered
    releasable: bool
    note: str | None


class DecidingOption(OptionPart):
    """An option with all that is known of its decisions and counts.

    Attributes:
        never_wrong: whether nothing it decides is ever wrong.
        error_at_most: α, how often a decision about one place may be wrong; None where none is ever.
        decided: the decisions.
        errors: how far a published count is off; of a mechanism that stops, one that came out above its threshold, for the
            counts that were given (without counts: of a place with nobody).
        remapped_loss: the expected absolute loss of a published count, after the best remap for the counts that were given.
        curve: how often each word is said, by the true count: for some counts from 0, and for each near t and near T.
        answered_if_empty: how many places are answered if nobody is anywhere; None if all always are.
        expected: what is to be expected of the counts that were given; None if none were.
        epsilon_for_wish: the notion at the least ε, in thousandths, at which the wish is met; None if no ε does.
        safe_at_most_for_wish: the least t with which it is met at this ε; None if no t does.
        composed: all planned releases together; None where it is one.
        of_everyone: whether its decisions about places are about everyone who was there, and not only those counted.
        places_per_person: k of this row, which about everyone may be chosen among several; None without a bound.
        safe_if_left_out: where people are left out and everyone is asked about, how often a place with nobody is called safe
            if at most 0, 1, 2, … are left out at any one place; the other chances are for the guess.
    """

    never_wrong: bool
    error_at_most: str | None
    decided: DecidedParts
    errors: Errors
    remapped_loss: float | None
    curve: tuple[CurvePoint, ...]
    answered_if_empty: float | None
    expected: ExpectedAnswers | None
    epsilon_for_wish: NotionPart | None
    safe_at_most_for_wish: int | None
    composed: ComposedPart | None
    of_everyone: bool = False
    places_per_person: int | None = None
    safe_if_left_out: tuple[str, ...] = ()


class PlanReport(Document):
    """Everything that is known before anything is spent: what ``leeward plan --json`` prints.

    Attributes:
        format: 1.
        asked: what was asked.
        refused_as_written: why `leeward.release` refuses it as written; None if it does not.
        recommendation: what to take.
        options: every notion and mechanism, the one asked for first; refused ones too, with their reasons.
    """

    format: Literal[1]
    asked: AskedPart
    refused_as_written: str | None
    recommendation: Advice
    options: tuple[DecidingOption | OptionPart, ...]

    @property
    def shown(self) -> tuple[DecidingOption, ...]:
        """The options with decisions."""
        return tuple(option for option in self.options if isinstance(option, DecidingOption))

    @property
    def chosen(self) -> DecidingOption | None:
        """The recommended option; None if none will do."""
        place = self.recommendation.option
        option = None if place is None else self.options[place]
        assert option is None or isinstance(option, DecidingOption)
        return option
