# SPDX-License-Identifier: Apache-2.0
"""Differential privacy as directed distances: the three symmetric neighbouring relations.

(*One-Sided Differential Privacy* lists them as (i) replacement, (ii) addition or removal, (iii) all three; Takagi et al.,
ADP, Definitions II.1 and II.2 use (i).)
"""

from __future__ import annotations

from leeward.exact._real import Real
from leeward.notion._change import INSERT, REPLACE, WITHDRAW, Change
from leeward.notion._notion import ABSENT, Notion, PrivacyDescription, only_if, unless_equal
from leeward.notion._sees import Fixed, Sees

_NOTHING_REVEALED = ""


class UnboundedDP(Notion):
    """ε-DP under addition or removal of one person; changing a person's records is a removal and an addition, 2ε."""

    name = "dp"
    words = PrivacyDescription(
        definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added or removed]",
        protects="whether any one person is in the data, and everything about them",
        reveals=_NOTHING_REVEALED,
        alternative="the same data with or without that person",
    )
    sees = Fixed(Sees())
    changes = Fixed((WITHDRAW, INSERT))

    def record(self, before: object, after: object) -> Real:
        """Return ε for each removal and each addition."""
        moves = (before is not ABSENT) + (after is not ABSENT)
        return unless_equal(before, after, self.epsilon * moves)

    def cost(self, change: Change) -> Real:
        """Return ε to withdraw or insert a person, 2ε to change their record in any other way."""
        return self.epsilon if change in {WITHDRAW, INSERT} else self.epsilon * 2


class BoundedDP(Notion):
    """ε-DP under replacement of one person's record; the number of people is public."""

    name = "bounded-dp"
    words = PrivacyDescription(
        definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with one person's record replaced by any other]",
        protects="everything about any one person's record; the number of people is public",
        reveals=_NOTHING_REVEALED,
        alternative="the same data with any other record in its place",
    )
    sees = Fixed(Sees())
    changes = Fixed((REPLACE,))

    def record(self, before: object, after: object) -> Real:
        """Return ε between any two records, ∞ between a record and nobody."""
        return unless_equal(before, after, only_if((before is ABSENT) == (after is ABSENT), self.epsilon))

    def cost(self, change: Change) -> Real:
        """Return ε for every change of a record, ∞ for adding or removing a person."""
        return only_if(not change.moves_people, self.epsilon)


class ReplaceDP(Notion):
    """ε-DP under addition, removal or replacement of one person: bounded DP in which nobody is a record like any other."""

    name = "add-remove-replace-dp"
    words = PrivacyDescription(
        definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with one person added, removed or replaced]",
        protects="whether any one person is in the data, and everything about them",
        reveals=_NOTHING_REVEALED,
        alternative="the same data with that person's record changed in any way, or gone",
    )
    sees = Fixed(Sees())
    changes = Fixed((WITHDRAW, INSERT, REPLACE))

    def record(self, before: object, after: object) -> Real:
        """Return ε for any change."""
        return unless_equal(before, after, self.epsilon)

    def cost(self, change: Change) -> Real:
        """Return ε."""
        return self.epsilon
