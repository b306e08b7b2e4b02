# SPDX-License-Identifier: Apache-2.0
"""Addition-only and removal-only differential privacy (*One-Sided Differential Privacy*, Definitions 1 and 2)."""

from __future__ import annotations

from typing import Any

from leeward.distance import DirectedDistance
from leeward.exact._real import Real
from leeward.notion._change import INSERT, WITHDRAW, Change
from leeward.notion._dp import UnboundedDP
from leeward.notion._notion import ABSENT, Notion, PrivacyDescription, only_if, unless_equal
from leeward.notion._sees import Fixed, Sees


class AdditionOnly(Notion):
    """ε-DP for addition: ``Pr[M(x) ∈ T] ≤ e^ε · Pr[M(x') ∈ T]`` where x is x' with one person *added*.

    The real world x, with your data, may pass as the world x' without it: whatever is concluded about you could have been
    concluded had you not been there. The other direction is not promised: that you are *absent* may be revealed.
    (*One-Sided Differential Privacy*, Definition 1.) Counts of people only fall along its steps, so upward noise suffices
    and "at most t" is never wrong.
    """

    name = "addition-only"
    words = PrivacyDescription(
        definition="Pr[answer | with a person's records] ≤ e^ε · Pr[answer | without them]",
        protects="that any one person is in the data, and everything about them, where they are in it",
        reveals="that a person is not in the data may be concluded with certainty",
        alternative="the same data without that person",
    )
    sees = Fixed(Sees())

    def record(self, before: object, after: object) -> Real:
        """Return ε from present to absent, ∞ for every other change."""
        return unless_equal(before, after, only_if(before is not ABSENT and after is ABSENT, self.epsilon))

    def _both(self, other: DirectedDistance[tuple[Any, ...]]) -> DirectedDistance[tuple[Any, ...]]:
        if isinstance(other, RemovalOnly) and other.epsilon == self.epsilon:
            return UnboundedDP(self.epsilon)  # the first remark on Proposition 4
        return super()._both(other)

    def reverse(self) -> RemovalOnly:
        """Return removal-only with the same ε."""
        return RemovalOnly(self.epsilon)

    def cost(self, change: Change) -> Real:
        """Return ε for `WITHDRAW`, ∞ otherwise."""
        return only_if(change == WITHDRAW, self.epsilon)


class RemovalOnly(Notion):
    """ε-DP for removal: ``Pr[M(x') ∈ T] ≤ e^ε · Pr[M(x) ∈ T]`` where x' is x with one person *removed*.

    The world x' without you may pass as the world x with you: nobody can be sure that you are *absent*. That you are
    present may be revealed: publishing a random sample in the clear satisfies it (*One-Sided Differential Privacy*,
    Definition 2 and Theorem 5). Leeward offers it because the article does, not because it protects much.
    """

    name = "removal-only"
    words = PrivacyDescription(
        definition="Pr[answer | without a person's records] ≤ e^ε · Pr[answer | with them]",
        protects="that any one person is missing from the data",
        reveals="that a person is in the data, and what their records say, may be concluded with certainty",
        alternative="the same data with that person added",
    )
    sees = Fixed(Sees())

    def record(self, before: object, after: object) -> Real:
        """Return ε from absent to present, ∞ for every other change."""
        return unless_equal(before, after, only_if(before is ABSENT and after is not ABSENT, self.epsilon))

    def _both(self, other: DirectedDistance[tuple[Any, ...]]) -> DirectedDistance[tuple[Any, ...]]:
        return other._both(self) if isinstance(other, AdditionOnly) else super()._both(other)

    def reverse(self) -> AdditionOnly:
        """Return addition-only with the same ε."""
        return AdditionOnly(self.epsilon)

    def cost(self, change: Change) -> Real:
        """Return ε for `INSERT`, ∞ otherwise."""
        return only_if(change == INSERT, self.epsilon)
