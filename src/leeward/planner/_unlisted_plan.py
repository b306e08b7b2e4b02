# SPDX-License-Identifier: Apache-2.0
"""From a question for groups that nobody has listed to noise, threshold, price and odds: before any data is touched.

The theorem, with its proof, is that of `leeward.mechanism._unknown_keys`: the counts of the groups that occur get noise that
is cut off, those that reach a threshold are shown, and of all others nothing is said. A step of the notion changes at most m
counts by 1 each (withdrawing, inserting) or 2m (replacing), where m is the bound on groups per person, so ε and δ are those
of m or 2m such changes.

What is published is a function of what is shown: those with the greatest noisy counts, up to a public number, the greatest
first and equal ones by name. So neither their order nor how many are left out tells anything beside. What is stored has one
size whatever was drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from leeward._buffers import numbers, texts
from leeward._integers import least
from leeward._plain import probability
from leeward.accounting import Event, GeometricEvent, UnknownKeysEvent
from leeward.errors import InputError
from leeward.exact._real import Exact, exact
from leeward.exact._weight import Weight, weight
from leeward.mechanism import UnknownKeys
from leeward.noise import Bits
from leeward.notion import REPLACE, Notion, PrivacyDescription, refused_in_rows
from leeward.planner._accuracy import ChanceShown, UnlistedAccuracy
from leeward.planner._people import people
from leeward.planner._plan_of import PlanOf
from leeward.query._statistic import DrawnFrom
from leeward.query._unlisted_groups import WIDTH, UnlistedGroups, from_words, in_order

if TYPE_CHECKING:
    import pyarrow as pa

_LADDER: Final = tuple(lead * 10**k for k in range(12) for lead in (1, 2, 5))
"""So many people, of whom it is said how often a group of so many reaches the threshold."""

_NEARLY_SURE: Final = 0.9999

_MOSTLY: Final = Fraction(19, 20)

MORE_THAN_LIVE: Final = 10**10
"""A group that needs so many people until it is shown as often as not is never shown."""


@dataclass(frozen=True)
class UnlistedPlan(PlanOf[UnlistedGroups]):
    """What a release of groups that nobody has listed will do, known before anything is spent.

    Attributes:
        delta: δ: what is promised may fail with this probability for each step of the notion; 0 where it is a pure ε.
        mechanism: noise and threshold.
    """

    delta: Fraction
    mechanism: UnknownKeys

    @property
    def drawn_from(self) -> DrawnFrom:
        """What the mechanism draws from: the groups that occur, with their counts."""
        return "groups"

    @property
    def changed(self) -> int:
        """How many counts one step of the notion changes at most, by 1 each."""
        return self.query.groups_per_person * (2 if REPLACE in self.notion.changes else 1)

    @property
    def exact_delta(self) -> Weight:
        """The δ that is needed: at most that which is promised and paid for."""
        return self.mechanism.delta(self.changed)

    @property
    def event(self) -> Event:
        """The release, as an `leeward.accounting.Accountant` takes it: several have less δ, or less ε, than their sums."""
        line, reach, m = self.mechanism.line, self.mechanism.reach, self.query.groups_per_person
        if reach is None:
            return GeometricEvent(line.fall, line.rise, places=m)
        return UnknownKeysEvent(line.fall, line.rise, reach=reach, places=m)

    def draw(self, exactly: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return what is published of groups, of one size whatever they are: all that the ledger stores.

        Args:
            exactly: of what type the groups are, then each with its count, as an engine gives them; shape (1 + groups,
                `WIDTH` + 1).
            bits: the entropy source.

        Returns:
            The type, then a row a group that is shown, and zeros for the rest: shape (1 + most_groups·(`WIDTH` + 1),).
        """
        found = exactly[1:]
        places, noisy = self.mechanism.shown(found[:, WIDTH], bits)
        shown = found[places]
        shown[:, WIDTH] = noisy
        order = in_order(noisy.tolist(), from_words(shown[:, :WIDTH]))[: self.query.most_groups]
        stored = np.zeros((self.query.most_groups, WIDTH + 1), np.int64)
        stored[: len(order)] = shown[order]
        return np.concatenate([exactly[0, :1], stored.ravel()])

    def answers(self, drawn: NDArray[np.int64], keys: pa.Table) -> pa.Table:
        """Return the published table: one row a group that is shown, with ``group`` and ``count``, the greatest first."""
        import pyarrow as pa

        rows = drawn[1:].reshape(-1, WIDTH + 1)
        rows = rows[rows[:, WIDTH] > 0]
        groups = from_words(rows[:, :WIDTH])
        named = texts(map(str, groups)) if drawn[0] else numbers(np.array(groups, np.int64))
        return pa.table({"group": named, "count": numbers(rows[:, WIDTH].copy())})

    def people_for(self, chance: Exact) -> int:
        """Return the least number of people with whom a group reaches the threshold with at least this probability."""
        wanted = weight(chance)
        return least(lambda people: self.mechanism.chance_shown(people) >= wanted, 1)

    def accuracy(self) -> UnlistedAccuracy:
        """Return which groups reach the threshold how often, and how large the noise of counts is."""
        made, always = self.mechanism, self.mechanism.always_shown_from()
        ladder = [n for n in _LADDER if always is None or n < always]
        odds = list[ChanceShown]()
        for count in ladder:
            chance = made.chance_shown(count)
            odds.append(ChanceShown(people=count, chance=probability(chance)))
            if float(chance) >= _NEARLY_SURE:
                break
        if always is not None:
            odds.append(ChanceShown(people=always, chance="1"))
        law = made.law
        return UnlistedAccuracy(
            counted=self.query.many,
            shown_from=made.threshold,
            always_shown_from=always,
            half_shown_from=self.people_for("1/2"),
            mostly_shown_from=self.people_for(_MOSTLY),
            odds=tuple(odds),
            off_by_at_most=made.reach,
            mean_absolute=float(law.mean_absolute()),
            within_95_percent=least(lambda k: law.cdf(k) - law.cdf(-k - 1) >= _MOSTLY),
        )

    def lines(self) -> Iterable[str]:
        """Say in lines what is asked, what it costs, and which groups may be shown."""
        query, accuracy = self.query, self.accuracy()
        off = "" if accuracy.off_by_at_most is None else f", and never more than {accuracy.off_by_at_most:,}"
        paid = f"price {self.price}" + (f" with δ = {self.delta}" if self.delta else "")
        return [
            f"groups of '{query.by}' that nobody has listed, under {self.notion}, {paid}",
            f"shown are {query.most_groups:,} at most, of those whose noisy count is at least {accuracy.shown_from:,}:",
            *(f"  with {people(each.people, query.many)}: {each.chance}" for each in accuracy.odds),
            f"the noise of a count is at most {accuracy.within_95_percent:,} with probability 95 %{off}",
        ]

    @property
    def words(self) -> PrivacyDescription:
        """The notion's words, with δ where there is one."""
        words = super().words
        if not self.delta:
            return words
        return replace(
            words,
            definition=f"{words.definition} + δ, for every set of answers",
            protects=f"{words.protects}: but for a chance of δ",
        )


def plan_unlisted(query: UnlistedGroups, notion: Notion, delta: Exact | None = None) -> UnlistedPlan:
    """Plan the release of groups that nobody has listed: free, and private of nothing because it reads no data.

    Args:
        query: the question.
        notion: addition-only, removal-only, dp, bounded-dp or add-remove-replace-dp.
        delta: δ, a rational above 0 and below 1; None under removal-only, which needs none.
    """
    with refused_in_rows(query.of_rows):
        mechanism = UnknownKeys.under(notion, delta, keys_per_person=query.groups_per_person)
    promised = Fraction(0) if delta is None else exact(delta).rational
    if promised is None:
        raise InputError(f"delta = {delta}", "budgets are kept in exact fractions", 'Give it as a decimal, "1e-6"')
    return UnlistedPlan(query, notion, promised, mechanism)


def delta_of(plan: object) -> Fraction:
    """Return the δ of a plan: 0 of all that promise a pure ε."""
    return plan.delta if isinstance(plan, UnlistedPlan) else Fraction(0)
