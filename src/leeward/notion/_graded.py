# SPDX-License-Identifier: Apache-2.0
"""Graded asymmetry: both directions are protected, one more than the other.

Between asymmetric privacy (the other direction is not protected: ∞) and differential privacy (both alike) lies a scale. On
it an answer can say *safe* with an error that is as small as one likes, while absence keeps some protection.
"""

from __future__ import annotations

from abc import abstractmethod

from leeward.exact._real import ZERO, Exact, Real, inf, positive
from leeward.notion._change import ADD_FACT, DROP_FACT, GROW, INSERT, REPLACE, SHRINK, WITHDRAW, Change, facts
from leeward.notion._notion import Notion, PrivacyDescription, unless_equal
from leeward.notion._sees import Fixed, Sees


class _TwoRates(Notion):
    """A notion with a price for facts withdrawn and a price for facts invented; one of them may be ∞."""

    def __init__(self, presence: Exact, absence: Exact) -> None:
        self.presence, self.absence = positive(presence, "presence"), positive(absence, "absence")
        finite = [rate for rate in (self.presence, self.absence) if not rate.is_infinite]
        super().__init__(max(finite, default=inf))
        sides = list(zip(self._sides, ("presence", "absence"), (self.presence, self.absence), strict=True))
        kept = [f"{side}, up to ε_{name}" for side, name, rate in sides if not rate.is_infinite]
        lost = [f"{side} may be concluded with certainty" for side, _, rate in sides if rate.is_infinite]
        definition, alternative = self._promise(*(not rate.is_infinite for rate in (self.presence, self.absence)))
        self.words = PrivacyDescription(definition, "; ".join(kept), "".join(lost), alternative, unit=self._of)

    _of = "person"

    @abstractmethod
    def _promise(self, presence: bool, absence: bool) -> tuple[str, str]:
        """Return the definition and the alternative in words, where presence and absence are protected or not."""

    _sides: tuple[str, str]
    """What is withdrawn and what is invented, in words."""

    def with_epsilon(self, epsilon: Exact) -> Notion:
        """Return the same promise with both prices scaled so that the larger finite one is ε."""
        factor = positive(epsilon, "epsilon") / self.epsilon
        return type(self)(self.presence * factor, self.absence * factor)

    def scale(self, factor: Exact) -> Notion:
        """Return the same promise with both prices multiplied; the factor must be above 0."""
        return type(self)(self.presence * factor, self.absence * factor)

    def __str__(self) -> str:
        return f'{type(self).__name__}(presence="{self.presence}", absence="{self.absence}")'


class Graded(_TwoRates):
    """Person-level: ``max(ε_presence·[some fact withdrawn], ε_absence·[some fact invented])`` a person.

    With ``absence = inf`` it is `Presence`; with both equal it is bounded DP in which nobody is the record without facts.

    Args:
        presence: price of an alternative in which some of a person's facts are missing.
        absence: price of an alternative in which some fact about a person is invented.
    """

    name = "graded"
    sees = Fixed(Sees(facts=True, absent_is_empty=True))
    _sides = "that a person was at a listed place", "that a person was not at a listed place"

    def _promise(self, presence: bool, absence: bool) -> tuple[str, str]:
        if presence and absence:
            changed = (
                f"the facts about one person changed], where c is"
                f" ε_presence = {self.presence} if facts are only taken away, ε_absence = {self.absence} if they are only"
                " invented, the larger of both otherwise"
            )
            return f"Pr[answer | data] ≤ e^c · Pr[answer | data with {changed}", "any other facts about that person"
        how = ("taken away", "fewer") if presence else ("invented", "more")
        definition = f"Pr[answer | data] ≤ e^ε · Pr[answer | data with some facts about one person {how[0]}]"
        return definition, f"{how[1]} facts about that person"

    def record(self, before: object, after: object) -> Real:
        """Return the larger of the prices that apply."""
        gone, new = facts(before) - facts(after), facts(after) - facts(before)
        return max(self.presence if gone else ZERO, self.absence if new else ZERO)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Taking away, inventing, and both at once, as far as they are protected."""
        return tuple(change for change in (SHRINK, GROW, REPLACE) if not self.cost(change).is_infinite)

    def cost(self, change: Change) -> Real:
        """Return the price of the direction, or the larger of both."""
        if change in {SHRINK, DROP_FACT, WITHDRAW}:
            return self.presence
        if change in {GROW, ADD_FACT, INSERT}:
            return self.absence
        return max(self.presence, self.absence)


class GradedFacts(_TwoRates):
    """Fact-level: ``ε_presence`` for each fact withdrawn plus ``ε_absence`` for each fact invented.

    The unit is a fact (one visit, one person-day), not a person: a person with m facts has m times the price. With both
    rates equal it is event-level differential privacy.

    Args:
        presence: price of each fact that the alternative lacks.
        absence: price of each fact that the alternative invents.
    """

    name = "graded-facts"
    sees = Fixed(Sees(facts=True, absent_is_empty=True, counted=True))
    _sides = "that a single fact is in the data", "that a single fact is not in the data"
    _of = "fact"

    def _promise(self, presence: bool, absence: bool) -> tuple[str, str]:
        sides = [
            (
                "ε_presence·w",
                f"ε_presence = {self.presence}",
                "w facts taken away",
                "the same data without that fact",
                presence,
            ),
            ("ε_absence·i", f"ε_absence = {self.absence}", "i facts invented", "with one more", absence),
        ]
        costs, rates, changes, alternatives = (
            list(part) for part in zip(*(side[:4] for side in sides if side[4]), strict=True)
        )
        definition = (
            f"Pr[answer | data] ≤ e^({' + '.join(costs)}) · Pr[answer | data with {' and '.join(changes)}],"
            f" where {' and '.join(rates)}"
        )
        return definition, ", or ".join(alternatives) if presence else "the same data with one more fact"

    def record(self, before: object, after: object) -> Real:
        """Return the sum over facts."""
        gone, new = facts(before) - facts(after), facts(after) - facts(before)
        return unless_equal(facts(before), facts(after), self.presence * len(gone) + self.absence * len(new))

    @property
    def changes(self) -> tuple[Change, ...]:
        """Single facts, in the directions that are protected."""
        return tuple(change for change in (DROP_FACT, ADD_FACT) if not self.cost(change).is_infinite)

    def cost(self, change: Change) -> Real:
        """Return the price of one fact; ∞ for changes of any number of facts."""
        return {DROP_FACT: self.presence, ADD_FACT: self.absence}.get(change, inf)
