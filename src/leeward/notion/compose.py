# SPDX-License-Identifier: Apache-2.0
"""What several answers together promise: sequential, adaptive and parallel composition, and groups.

Post-processing needs no function: whatever is computed from an answer alone keeps the answer's promise, because
``Pr[g(K(x)) ∈ Z] = Pr[K(x) ∈ g⁻¹(Z)]``.

Machine-checked (docs/proved.md): `post_processing`, `sequential_composition`, `group_privacy`, `parallel_composition`,
`up_and_down_protect_nothing`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from leeward._taught import public_list, taught
from leeward.distance import DirectedDistance
from leeward.errors import InputError, NotPrivateError, check_choice
from leeward.exact._real import ZERO, Exact, Real, positive, whole
from leeward.notion._change import ADD_FACT, DROP_FACT, INSERT, WITHDRAW, Change
from leeward.notion._generated import check_generated
from leeward.notion._groups_and_graphs import EdgeDP, GroupDP, NodeDP
from leeward.notion._metric import Maximum
from leeward.notion._notion import Notion

Cut = Literal["person", "record", "fact"]


def sequential(*distances: DirectedDistance[Any]) -> DirectedDistance[Any]:
    """Return the price of several answers about the same data: the pointwise sum, ∞ absorbing (ADP, Theorem VIII.6).

    It holds for *adaptive* answers too, when a later mechanism is chosen after seeing earlier answers, as long as each
    keeps its distance whatever came before. What the paper writes as "adding policies" is this sum: finite exactly where
    every one of the distances is.
    """
    if not distances:
        raise InputError("A composition of nothing", "it costs nothing", "Give at least one distance")
    for each in distances:
        if not isinstance(each, DirectedDistance):
            raise InputError(
                f"A composition with a {type(each).__name__}",
                "distances are added up",
                "Give each by itself: sequential(one, another)",
            )
    total = distances[0]
    for distance in distances[1:]:
        total = total + distance
    return total


@taught
def people_touched(notion: Notion) -> int | None:
    """Return how many people's records one step of a notion changes at most; None if no number bounds it.

    One where the distance is a sum over persons, the largest group where it is one over groups; none where a step is about
    everybody, about the edges of a graph, or of a kind that is not known.
    """
    if isinstance(notion, GroupDP):
        return max(map(len, notion.groups))
    return 1 if notion.sums_over_persons and not notion.all_records else None


@taught
def parallel(notion: Notion, factors: Sequence[Exact], *, cut: Cut) -> Notion:
    """Return the price of one answer about each of several disjoint parts of the data, as a multiple of the notion.

    Part i is answered with ``factors[i]`` times the notion, on a table in which the others' records are absent. What it
    costs depends on by what the data were cut:

    * ``"person"``: by something public about each person, never by their record. The largest factor where a step changes one
      person; the n largest added up where it changes up to n of them (`people_touched`: a whole group); their sum where
      nothing bounds how many.
    * ``"record"``: by what a person's record says; each person is in at most one part. The largest factor where the steps
      only take people out or put them in. A replacement leaves one part and enters another: refused, because a part may tell
      what the whole does not, such as how many people are in it.
    * ``"fact"``: the facts about one person are spread over parts. The largest factor where the steps are single facts.

    Raises:
        NotPrivateError: if the parts may be distinguished by what a step changes, or nothing is known of the notion's steps.
    """
    check_choice("cut", cut, get_args(Cut), "it is not one of the ways to cut a table")
    parts = sorted(
        (positive(each, "a factor") for each in public_list("factors", factors, in_order=True)), reverse=True
    )
    if not parts:
        raise InputError("Parts of nothing", "no part costs anything", "Give the factor of at least one part")
    known = notion.sums_over_persons or isinstance(notion, GroupDP | Maximum | EdgeDP | NodeDP)
    if cut == "person" and known:
        return notion.scale(sum(parts[: people_touched(notion)], start=ZERO))
    check_generated(notion)
    stay = {"record": {WITHDRAW, INSERT}, "fact": {DROP_FACT, ADD_FACT}}.get(cut, set())
    crossing = [change for change in notion.changes if change not in stay or notion.all_records or not known]
    if crossing or not known:
        step = f" ({crossing[0].text})" if crossing else ", of which nothing is known,"
        raise NotPrivateError(
            f"Parts cut by {cut} under {notion}",
            f"a step of this notion{step} may change two parts at once",
            "Charge the sum of the prices of answers about the whole table, or cut by something public about the person",
        )
    return notion.scale(parts[0])


@taught
def group_price(notion: Notion, change: Change, people: int) -> Real:
    """Return what it costs that so many people change together: people × the cost of one, by the triangle inequality."""
    return notion.cost(change) * whole(people, "people")
