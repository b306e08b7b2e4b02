# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a release as typed documents: what was asked, what is promised, on what grounds, and what is not.

``release.json`` is this document; pages and commands read it by attribute. Every sentence in it is public: it follows from
the plan and the public keys alone, whatever the data holds.

Parameters are exact texts ("1/3", "inf"); probabilities are decimals of at most 12 digits, and "0" is exactly 0. A key that
does not apply is None (``null``), never left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from leeward._document import Document, Part
from leeward._plain import probability
from leeward._statement._heading import Heading
from leeward._statement._keep import Keep
from leeward.planner._accuracy import MeanAccuracy, NumberAccuracy, RankAccuracy, SelectionAccuracy
from leeward.planner._everyone import About
from leeward.query import IfMore
from leeward.query._records import Combine, Many
from leeward.query._selection import Which
from leeward.query._statistic import Noun, StatisticKind

if TYPE_CHECKING:
    from leeward.planner._plan import Plan


class WindowStated(Part):
    """When: from ``start`` up to, but not at, ``end``, read in ``timezone`` where they do not say it themselves."""

    start: str
    end: str
    timezone: str | None


class VisitorQuery(Part):
    """Which visits were counted, and how.

    Attributes:
        kind: ``visitors``.
        text: the question in words.
        places: how many places the public list has.
        window: when.
        keep: the filter.
        places_per_person: at most so many places a person count; None without a bound.
        if_more: what becomes of a person at more; None without a bound.
    """

    kind: Literal["visitors"] = "visitors"
    text: str
    places: int
    window: WindowStated
    keep: Keep
    places_per_person: int | None
    if_more: IfMore | None

    noun: ClassVar[Noun] = "place"
    """What is listed."""

    many: ClassVar[Many] = "people"
    """What those are called who are counted."""

    @property
    def listed(self) -> int:
        """How many places there are."""
        return self.places


class SensitivityStated(Part):
    """How far one step of the notion moves the counts: all together, or ``per_place`` each by itself."""

    rise: str
    fall: str
    per_place: bool
    text: str


class GeometricStated(Part):
    """Every count gets noise of these rates, on whole numbers."""

    name: Literal["geometric"] = "geometric"
    text: str
    rate_up: str
    rate_down: str


class EveryoneStated(Part):
    """Every count gets noise of these rates, and the most people left out at any place noise of another; both are added up.

    Attributes:
        name: ``everyone``.
        text: what is done, in words.
        rate_up: of the noise on a count.
        rate_down: of both.
        rate_left_out: of the upward noise on the most people left out.
    """

    name: Literal["everyone"] = "everyone"
    text: str
    rate_up: str
    rate_down: str
    rate_left_out: str


class SanitizedStated(Part):
    """Places are answered in the public order until ``stop_after`` of them could not be called safe.

    Attributes:
        name: ``sanitized``.
        text: what is done, in words.
        rate_up: of the noise.
        rate_down: of the noise.
        stop_after: c; in a later round of a monitor, as many of its stops as earlier rounds left.
        expected_answered_if_empty: so many places would be answered on average, if nobody were anywhere.
    """

    name: Literal["sanitized"] = "sanitized"
    text: str
    rate_up: str
    rate_down: str
    stop_after: int
    expected_answered_if_empty: float | None


class LookStated(Part):
    """A look at each count: the noise it adds, from which noisy count on it publishes, and what that costs."""

    rate_up: str
    published_from: int
    price: str


class AdaptiveStated(Part):
    """Places are answered in the public order, each looked at more than once, until less than ε of ``stop_after``·ε is left.

    Attributes:
        name: ``adaptive``.
        text: what is done, in words.
        rate_up: of the noise of the last look.
        rate_down: of the noise of every look.
        stop_after: c: what may be spent in all is c·ε.
        looks: every look at a place, in their order; the first that publishes its noisy count is the last that is taken.
        expected_answered_if_empty: so many places would be answered on average, if nobody were anywhere.
    """

    name: Literal["adaptive"] = "adaptive"
    text: str
    rate_up: str
    rate_down: str
    stop_after: int
    looks: tuple[LookStated, ...]
    expected_answered_if_empty: float | None


class Chance(Part):
    """How often each word is said of a place with ``count`` people, as decimals; None for a word that is never said."""

    count: int
    safe: str | None
    dangerous: str | None

    @property
    def said(self) -> tuple[str, ...]:
        """The chances of the words that may be said, *safe* first."""
        return tuple(chance for chance in (self.safe, self.dangerous) if chance is not None)


class DecisionStated(Part):
    """When a place is called safe, and when dangerous; None for what is not decided.

    Attributes:
        safe_at_most: t: what *safe* means.
        threshold: the greatest noisy count that is called safe.
        never_wrong: whether *safe* is never said wrongly.
        dangerous_at_least: T: what *dangerous* means.
        dangerous_threshold: the least noisy count that is called dangerous.
        dangerous_never_wrong: whether *dangerous* is never said wrongly.
        error_at_most: α: how often a decision about one place may be wrong; None where none ever is.
        error_at_most_over_all_places: so many wrong decisions are to be expected at most.
        curve: the chances, by the true count; where everyone is asked about and people are left out, of a place where none
            are, if ``left_out`` are at another.
        about: whom decisions are about: those counted, or everyone who was there.
        left_out: a public guess of the most people left out at any place; no promise depends on it.
        safe_if_left_out: the chances that a place with nobody is called safe if the most people left out at any place are 0,
            1, 2, …; empty where it does not matter.
    """

    safe_at_most: int | None
    threshold: int | None
    never_wrong: bool | None
    dangerous_at_least: int | None
    dangerous_threshold: int | None
    dangerous_never_wrong: bool | None
    error_at_most: str | None
    error_at_most_over_all_places: str | None
    curve: tuple[Chance, ...]
    about: About = "counted"
    left_out: int = 0
    safe_if_left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, plan: Plan, places: int) -> DecisionStated:
        """Return what a plan decides of each of so many places."""
        safe, dangerous, alpha = plan.sanitizer, plan.alarm, plan.error_at_most
        return cls(
            safe_at_most=plan.safe_at_most,
            threshold=None if safe is None else safe.threshold,
            never_wrong=None if safe is None else safe.never_wrong,
            dangerous_at_least=plan.dangerous_at_least,
            dangerous_threshold=None if dangerous is None else dangerous.threshold,
            dangerous_never_wrong=None if dangerous is None else dangerous.never_wrong,
            error_at_most=None if alpha is None else str(alpha),
            error_at_most_over_all_places=None if alpha is None else str(plan.decisions.wrong_at_most * places),
            curve=tuple(
                Chance(
                    count=count,
                    safe=None if chances[0] is None else probability(chances[0]),
                    dangerous=None if chances[1] is None else probability(chances[1]),
                )
                for count, chances in plan.decision_curve().items()
            ),
            about=plan.about,
            left_out=plan.left_out,
            safe_if_left_out=tuple(map(probability, plan.safe_if_left_out())),
        )

    @property
    def said(self) -> tuple[tuple[str, bool], ...]:
        """The words that may be said of a place, *safe* first, and of each whether it is never said wrongly."""
        words = (("safe", self.never_wrong), ("dangerous", self.dangerous_never_wrong))
        return tuple((state, never) for state, never in words if never is not None)


class CutStated(Part):
    """A column of groups whose numbers are cut into intervals: from ``lower`` to ``upper``, each ``step`` wide."""

    column: str
    lower: str
    upper: str
    step: str


class NumberQuery(Part):
    """Which numbers were asked about, and how.

    Attributes:
        kind: the statistic.
        text: the question in words.
        answers: how many there are.
        column: where the number stands; None for a histogram of groups alone.
        p: which percentile, or which several, ascending.
        combine: what became of a person's several rows; None where every row is a person of its own.
        by: the column of the groups, or several; None for one group of all.
        groups: the public groups, in the order of the answers; of several columns a value each.
        lower: numbers below are clamped to it.
        upper: numbers above are clamped to it.
        step: numbers are rounded half up to it, from ``lower`` on.
        levels: the public levels that people are above or not, ascending; None where nothing is asked of levels.
        others: what the last of the groups is called, where it is of all who are in none of those before it; None where
            they do not count.
        people: the public number of people with a number; None if it is private.
        keep: the filter.
        window: when; None where rows of all times count.
        intervals: the columns of groups whose numbers are cut into intervals, which are then the groups.
    """

    kind: StatisticKind
    text: str
    answers: int
    column: str | None
    p: str | tuple[str, ...] | None
    combine: Combine | None
    by: str | tuple[str, ...] | None
    groups: tuple[bool | int | str | tuple[bool | int | str, ...], ...]
    lower: str | None
    upper: str | None
    step: str | None
    people: int | None
    keep: Keep
    levels: tuple[str, ...] | None = None
    others: bool | int | str | None = None
    window: WindowStated | None = None
    intervals: tuple[CutStated, ...] = ()

    @property
    def noun(self) -> Noun:
        """What each answer is about: a ``group``; of a histogram an ``interval`` of numbers; or a ``level``."""
        if self.levels is not None:
            return "level"
        return "group" if self.column is None or self.kind != "histogram" else "interval"

    @property
    def many(self) -> Many:
        """What those are called who are counted: ``people``; ``rows`` where every row is a person of its own."""
        return "rows" if self.combine is None else "people"

    @property
    def listed(self) -> int:
        """How many answers there are."""
        return self.answers


class DecidingStatement(Heading):
    """The statement of a release that calls places, or groups, safe and dangerous; the attributes of a `Heading`, and these.

    Attributes:
        query: what was asked.
        sensitivity: how far one step of the notion moves the counts.
        mechanism: the noise.
        decision: what is said of a place.
    """

    query: VisitorQuery | NumberQuery
    sensitivity: SensitivityStated
    mechanism: GeometricStated | EveryoneStated | SanitizedStated | AdaptiveStated
    decision: DecisionStated


class VisitorStatement(DecidingStatement, Document):
    """The statement of a release of safe and dangerous places; the attributes of a `DecidingStatement`."""

    query: VisitorQuery


class GroupStatement(DecidingStatement, Document):
    """The statement of a release of safe and dangerous groups, or intervals; the attributes of a `DecidingStatement`."""

    query: NumberQuery


class NoisePart(Part):
    """The noise of one exact integer a group: its rates, and what a step of it stands for."""

    rate_up: str
    rate_down: str
    step: str


class NumberMechanism(Part):
    """How an answer was made of exact integers and noise, and the bounds it was clamped to."""

    name: Literal["geometric"] = "geometric"
    text: str
    parts: tuple[NoisePart, ...]
    lower: float | None
    upper: float | None


class RankMechanism(Part):
    """How a point of the public grid ``lower``, ``lower + step``, … was named by its rank.

    Attributes:
        name: ``rank``.
        text: what is done, in words.
        rate: a point is accepted e^(−rate) times as often for each person that its rank is further off.
        points: how many points the grid has.
        lower: the first of them.
        step: how far they are apart.
    """

    name: Literal["rank"] = "rank"
    text: str
    rate: str
    points: int
    lower: str
    step: str


class NumberStatement(Heading, Document):
    """The statement of a release of a sum, mean, percentile or histogram; the attributes of a `Heading`, and these.

    Attributes:
        query: what was asked.
        mechanism: the noise; or how a percentile was named by rank.
        accuracy: how far answers are off: as numbers, or in people.
    """

    query: NumberQuery
    mechanism: NumberMechanism | RankMechanism
    accuracy: NumberAccuracy | MeanAccuracy | RankAccuracy


class SelectionQuery(Part):
    """Which one was asked for, and what was counted to find it; no count is published.

    Attributes:
        kind: ``busiest`` or ``quietest``.
        text: the question in words.
        noun: what is named: a place, a group or an interval.
        options: how many names there are.
        of: what was counted.
    """

    kind: Which
    text: str
    noun: str
    options: int
    of: VisitorQuery | NumberQuery


class SelectionMechanism(Part):
    """How one was named: ``rate`` is what telling two counts apart by 1 costs."""

    name: Literal["noisy max"] = "noisy max"
    text: str
    rate: str


class SelectionStatement(Heading, Document):
    """The statement of a release of one name; the attributes of a `Heading`, and these.

    Attributes:
        query: what was asked.
        mechanism: how one was named.
        accuracy: how far the named one may be from the one asked for.
    """

    query: SelectionQuery
    mechanism: SelectionMechanism
    accuracy: SelectionAccuracy
