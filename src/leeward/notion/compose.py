"""What several answers together promise: sequential, adaptive and parallel composition, and groups.

Post-processing needs no function: whatever is computed from an answer alone keeps the answer's promise, because
``Pr[g(K(x)) ∈ Z] = Pr[K(x) ∈ g⁻¹(Z)]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from leeward.distance import DirectedDistance
from leeward.errors import InputError, NotShelteredError, nearest
from leeward.notion.base import Notion
from leeward.notion.change import ADD_FACT, DROP_FACT, INSERT, WITHDRAW, Change
from leeward.real import Exact, Real, exact

Cut = Literal["person", "record", "fact"]


def sequential(*distances: DirectedDistance[Any]) -> DirectedDistance[Any]:
    """Return the price of several answers about the same data: the pointwise sum, ∞ absorbing (ADP, Theorem VIII.6).

    It holds for *adaptive* answers too, when a later mechanism is chosen after seeing earlier answers, as long as each
    keeps its distance whatever came before. What the paper writes as "adding policies" is this sum: finite exactly where
    every one of the distances is.
    """
    if not distances:
        raise InputError("A composition of nothing", "it costs nothing", "Give at least one distance")
    total = distances[0]
    for distance in distances[1:]:
        total = total + distance
    return total


def parallel(notion: Notion, factors: Sequence[Exact], *, cut: Cut) -> Notion:
    """Return the price of one answer about each of several disjoint parts of the data: the *largest* factor × the notion.

    Part i is answered with ``factors[i]`` times the notion. The condition: every step of the notion stays in one part. What
    it depends on is by what the data were cut:

    * ``"person"``: by something public about each person, never by their record. Always fine.
    * ``"record"``: by what a person's record says; each person is in at most one part. Fine where the steps only take
      people out or put them in. A replacement leaves one part and enters another.
    * ``"fact"``: the facts about one person are spread over parts. Fine where the steps are single facts.

    Raises:
        NotShelteredError: if a step may touch two parts; then the price is the sum, as for any answers (`sequential`).
    """
    if cut not in get_args(Cut):
        raise InputError(f"cut = {cut!r}", "it is none of the ways to cut a table", nearest(str(cut), get_args(Cut)))
    stays = {"record": {WITHDRAW, INSERT}, "fact": {DROP_FACT, ADD_FACT}}
    stay = () if notion.everyone else notion.changes if cut == "person" else stays[cut]
    crossing = [change for change in notion.changes if change not in stay]
    if crossing:
        raise NotShelteredError(
            f"Parts cut by {cut} under {notion}",
            f"a step of this notion ({crossing[0].text}) may change two parts at once",
            "Charge the sum of the prices, or cut by something public about the person",
        )
    return notion.scale(max(exact(factor) for factor in factors))


def group_price(notion: Notion, change: Change, people: int) -> Real:
    """Return what it costs that so many people change together: people × the cost of one, by the triangle inequality."""
    if people < 1:
        raise InputError(f"A group of {people}", "it has at least one member", "Give a positive number of people")
    return notion.cost(change) * people
