"""From a question and a notion to a mechanism, its price and its promise: before any data is touched.

`plan` is what ``--dry-run`` prints and what `leeward.release` then carries out: one code path, so they cannot disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from leeward.errors import InputError, SpecError, UselessError, nearest
from leeward.exponential import Weight
from leeward.mechanism import Geometric, Sanitized, Sanitizer, sanitizer
from leeward.notion import Notion
from leeward.query import CountVisitors
from leeward.real import Exact, Real, exact
from leeward.sensitivity import Sensitivity, sensitivity, sensitivity_each

MechanismName = Literal["auto", "geometric", "sanitized"]

USEFUL_FROM = "0.001"
"""Below this Pr[safe | nobody there] a release is refused: it would spend budget to say nothing."""


@dataclass(frozen=True)
class Plan:
    """What a release will do, known before anything is spent.

    Attributes:
        query: the question.
        notion: the privacy notion.
        mechanism: the noise that will be added.
        sensitivity: how far the answer moves along the notion's steps, and the rates that follow.
        sanitizer: the decision for one place (for the sanitized mechanism: if it is reached).
        price: what it costs, in ε of the notion.
    """

    query: CountVisitors
    notion: Notion
    mechanism: Geometric | Sanitized
    sensitivity: Sensitivity
    sanitizer: Sanitizer
    price: Real

    @property
    def safe_at_most(self) -> int:
        """t: what *safe* means."""
        return self.sanitizer.at_most

    def decision_curve(self) -> dict[int, Weight]:
        """Return Pr[safe | c] exactly, for c = 0, 1, 2, … past the point where it no longer changes much."""
        return self.sanitizer.decision_curve()

    def expected_answered_if_empty(self, places: int) -> float | None:
        """Return how many of this many places would be answered if nobody were anywhere; None if all always are."""
        if isinstance(self.mechanism, Geometric):
            return None
        return self.mechanism.expected_answered([0] * places)


def plan(
    query: CountVisitors,
    notion: Notion,
    *,
    safe_at_most: int,
    error_at_most: Exact | None = None,
    useful_from: Exact = USEFUL_FROM,
    mechanism: MechanismName = "auto",
    stop_after: int | None = None,
) -> Plan:
    """Plan the release of safe places: free, and private of nothing because it reads no data.

    Args:
        query: the question, from `leeward.count_visitors`.
        notion: the privacy notion.
        safe_at_most: t: *safe* means that at most t people were there.
        error_at_most: α, the largest Pr[safe | unsafe] for one place; required by notions that cannot promise "never
            wrong", refused by those that can.
        useful_from: refuse if Pr[safe | nobody there] is below this.
        mechanism: ``"geometric"`` answers every place and needs ``places_per_person``; ``"sanitized"`` answers in the public
            order until ``stop_after`` places could not be called safe, and needs no bound; ``"auto"`` takes the first where
            it can.
        stop_after: c, for the sanitized mechanism (default 1); its price is c·ε.

    Raises:
        InputError: an argument is malformed.
        NotShelteredError: the notion does not shelter such an answer.
        UselessError: *safe* would practically never be said.
    """
    if mechanism not in get_args(MechanismName):
        raise SpecError(
            f"mechanism = '{mechanism}'", "there is no such mechanism", nearest(mechanism, get_args(MechanismName))
        )
    if isinstance(safe_at_most, bool) or not isinstance(safe_at_most, int) or safe_at_most < 0:
        raise InputError(
            f"safe_at_most = {safe_at_most!r}", "it is no number of people", "Give an integer of at least 0"
        )
    bounded = query.places_per_person is not None
    if mechanism == "auto":
        mechanism = "geometric" if bounded else "sanitized"
    made: Geometric | Sanitized
    if mechanism == "sanitized":
        moves = sensitivity_each(notion, query)
        made = Sanitized(moves.line, at_most=safe_at_most, stop_after=1 if stop_after is None else stop_after)
        decision = sanitizer(made.law, safe_at_most, error_at_most)
        price = made.price
    else:
        if stop_after is not None:
            raise SpecError(
                f"stop_after = {stop_after} with the geometric mechanism",
                "it answers every place and never stops",
                'Leave stop_after out, or use mechanism = "sanitized"',
            )
        moves = sensitivity(notion, query)
        made = Geometric(moves.line)
        decision = sanitizer(made.law, safe_at_most, error_at_most)
        price = notion.epsilon
    chance = decision.probability_safe(0)
    least = exact(useful_from).rational
    if least is None or not 0 <= least < 1:
        raise InputError(f"useful_from = {useful_from}", "it is no probability below 1", f'Give, say, "{USEFUL_FROM}"')
    if not decision.never_wrong and chance < least:
        raise UselessError(
            f"error_at_most = {error_at_most} under {notion}",
            f"even a place where nobody was would be called safe with probability {float(chance):.2g} only, below"
            f" useful_from = {useful_from}",
            "Raise epsilon, safe_at_most or error_at_most, or choose presence or addition-only, under which 'safe' can be"
            " promised never to be wrong",
        )
    return Plan(query, notion, made, moves, decision, price)
