# SPDX-License-Identifier: Apache-2.0
"""How a query carries one distance to another, decided on finite spaces (d-privacy, Section 4 and Appendix B).

Everything follows from one matrix: the least distance between the fibres of two answers,

    near(y → y') = min d_X(x → x')   over f(x) = y, f(x') = y'.

* f is Δ-sensitive (Definition 4) iff d_Y ≤ Δ·near. Secrets at distance ∞ are promised nothing, so they ask nothing of Δ, not
  even of Δ = 0: here 0·∞ is ∞.
* y, y' are Δ-expansive (Definition 5) iff d_Y(y → y') = Δ·near(y → y').
* f is *uniformly* Δ-sensitive iff d_Y is the shortest-path closure of Δ·near: a tight Δ-expansive chain from y to y' is a
  path of that length, and no path is shorter than d_Y. One closure decides it, and shows a pair where it fails.
* The closure of near itself, `pushed`, is the one distance on answers for which f is uniformly 1-sensitive. With d_h it is
  the metric of the induced graph (Proposition 7). By Theorem 6 a mechanism H on answers is ``pushed``-private iff H ∘ f is
  d_X-private: so the best mechanism for a query is the best one for its pushed distance.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from leeward.distance import DirectedDistance, FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf

QueryFunction = Callable[[Any], Hashable]


def fibres(query: QueryFunction, space: FiniteDistance[Any]) -> dict[Any, list[Any]]:
    """Return the secrets behind each answer, answers in ascending order where they can be ordered."""
    found: dict[Any, list[Any]] = {}
    for x in space.points:
        found.setdefault(query(x), []).append(x)
    try:
        return {y: found[y] for y in sorted(found)}
    except TypeError:
        return found


def near(query: QueryFunction, space: FiniteDistance[Any]) -> tuple[tuple[Any, ...], list[list[Real]]]:
    """Return the answers and the least distance from each one's fibre to each other's."""
    behind = fibres(query, space)
    answers = tuple(behind)
    least: dict[tuple[Any, Any], int] = {}
    order = sorted(range(len(space.values)), key=lambda code: space.values[code])
    rank = {code: place for place, code in enumerate(order)}
    images = [query(x) for x in space.points]
    for x, row in zip(images, space.codes.tolist(), strict=True):
        for y, code in zip(images, row, strict=True):
            least[x, y] = min(least.get((x, y), len(order)), rank[code])
    return answers, [[ZERO if x == y else space.values[order[least[x, y]]] for y in answers] for x in answers]


def pushed(query: QueryFunction, space: FiniteDistance[Any]) -> FiniteDistance[Any]:
    """Return the distance on answers for which a mechanism is private iff its composition with the query is."""
    return FiniteDistance.closed(*near(query, space))


@dataclass(frozen=True)
class Expansion:
    """How a query carries d_X to d_Y on a finite space.

    Attributes:
        sensitivity: the least Δ with ``d_Y(f(x) → f(x')) ≤ Δ·d_X(x → x')``; ∞ if there is none.
        attained: a pair of answers that needs this Δ; None if the answer never moves.
        uniform: whether f is uniformly Δ-sensitive for it.
        refuted: if not, a pair of answers without a tight Δ-expansive chain.
    """

    sensitivity: Real
    attained: tuple[Any, Any] | None
    uniform: bool
    refuted: tuple[Any, Any] | None


def expansion(query: QueryFunction, space: FiniteDistance[Any], answers: DirectedDistance[Any]) -> Expansion:
    """Return the sensitivity of a query wrt d_X, d_Y, and whether it is uniform. Exact.

    Args:
        query: any function of the secrets.
        space: d_X on all secrets.
        answers: d_Y, defined on the answers.
    """
    labels, least = near(query, space)
    wanted = answers.on(labels)
    sensitivity, attained = ZERO, None
    for i, y in enumerate(labels):
        for j, z in enumerate(labels):
            far, close = wanted(y, z), least[i][j]
            if close.is_infinite or far <= close * sensitivity:
                continue
            if not close or far.is_infinite:
                return Expansion(inf, (y, z), False, (y, z))
            sensitivity, attained = far / close, (y, z)
    reached = FiniteDistance.closed(labels, [[_stretched(v, sensitivity) for v in row] for row in least])
    refuted = next(((y, z) for y in labels for z in labels if reached(y, z) != wanted(y, z)), None)
    return Expansion(sensitivity, attained, refuted is None, refuted)


def _stretched(distance: Real, factor: Real) -> Real:
    return inf if distance.is_infinite else distance * factor


def expansive_chain(
    query: QueryFunction,
    space: FiniteDistance[Any],
    answers: DirectedDistance[Any],
    start: object,
    end: object,
    by: Exact,
) -> tuple[Any, ...] | None:
    """Return a tight chain of answers from start to end whose steps are all Δ-expansive (Δ = ``by``), or None."""
    labels, least = near(query, space)
    wanted, factor = answers.on(labels), exact(by)
    place = {y: i for i, y in enumerate(labels)}
    tight: dict[Any, tuple[Any, ...]] = {start: (start,)}
    frontier = [start]
    while frontier:
        y = frontier.pop(0)
        for z in labels:
            if z in tight:
                continue
            step = wanted(y, z)
            if step == _stretched(least[place[y]][place[z]], factor) and wanted(start, y) + step == wanted(start, z):
                tight[z] = (*tight[y], z)
                frontier.append(z)
    return tight.get(end)


def induced_edges(query: QueryFunction, space: FiniteDistance[Any]) -> set[tuple[Any, Any]]:
    """Return the induced graph ∼_f of a query: ordered pairs of distinct answers of two adjacent secrets.

    Args:
        query: any function of the secrets.
        space: a distance induced by a graph on all secrets, each edge at the same cost: ε·d_h, say. Secrets at that cost are
            adjacent.

    Raises:
        InputError: if no graph induces the distance.
    """
    cost = min((value for value in space.values if value and not value.is_infinite), default=inf)
    edges = [value if value == cost else inf for value in space.values]
    if FiniteDistance.closed(space.points, [[edges[code] for code in row] for row in space.codes.tolist()]) != space:
        raise InputError(
            f"The induced graph of a query under {space}",
            "this distance is not that of a graph whose edges all cost the same, so it does not say who is adjacent",
            "Give one that is, such as ReplaceDP(1).on(tables) or graph_distance(points, edges, directed=…)",
        )
    labels, least = near(query, space)
    return {(y, z) for i, y in enumerate(labels) for j, z in enumerate(labels) if y != z and least[i][j] == cost}


def in_class_c(query: Callable[[Any], Any], space: FiniteDistance[Any], value_distance: FiniteDistance[Any]) -> bool:
    """Decide class C (Definition 8): no answer moves further than the one value that changes; one moves as far as any can.

    Args:
        query: a function of tables to numbers.
        space: any distance whose points are all the tables.
        value_distance: d_V on all values, with nobody if people may be absent.
    """
    width = max(value_distance.values)
    attained = False
    answer = {x: query(x) for x in space.points}
    for x in space.points:
        for y in space.points:
            differ = [i for i, (a, b) in enumerate(zip(x, y, strict=True)) if a != b]
            if len(differ) == 1:
                move = exact(abs(answer[x] - answer[y]))
                if move > value_distance(x[differ[0]], y[differ[0]]):
                    return False
                attained = attained or move == width
    return attained
