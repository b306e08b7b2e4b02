# SPDX-License-Identifier: Apache-2.0
"""What d-privacy means to a Bayesian adversary: hiding functions, neighbourhoods, chains (d-privacy, Sections 2, 3, 5, 6).

Two characterisations hold for every mechanism that is d-private and every prior:

* Theorem 3: hiding the secret first, x ↦ φ(x), changes the adversary's conclusion by at most ``2·d(φ)``; if the distance has
  a direction, by at most what hiding costs plus what it costs the other way round, ``max d(x → φ(x)) + max d(φ(x) → x)``;
* Theorem 4: one who knows that the secret lies in N learns at most ``d(N)`` more about it, d(N) over all ordered pairs.

For metrics the converse holds if the hiding functions, or the neighbourhoods, are *maximally tight*: between any two secrets
leads a tight chain whose steps are as long as their φ or N allows. On a finite space that is decided by one closure: allowed
steps as edges, each as long as its distance, give the distance back iff such a chain joins every pair.

The families of the paper on tables Vⁿ, with nobody in V if people may be absent: Φ_h, N_h (one record replaced by a fixed
one; any record of one person), Φ_1, N_1 (one record substituted; any set of records of one person), Φ_∞, N_∞ (all at once),
and all functions and sets, Φ_2 and N_2. Families may be given as iterators.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from leeward.analysis._prior import Prior, read_prior
from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, inf
from leeward.exact._weight import Weight, log, weight, weighted_sum
from leeward.mechanism import FiniteMechanism

S = TypeVar("S")

Hiding = Mapping[Any, Any]
"""A hiding function φ as the mapping of every secret to its hidden version."""
Neighbourhood = frozenset[Any]
Measure = Mapping[Any, Weight]

# ---- chains and tightness


def chain_length(distance: FiniteDistance[S], chain: Sequence[S]) -> Real:
    """Return the length of a chain of secrets: the sum of its steps."""
    return sum((distance(x, y) for x, y in itertools.pairwise(chain)), ZERO)


def is_tight(distance: FiniteDistance[S], chain: Sequence[S]) -> bool:
    """Whether a chain is no longer than the distance between its ends."""
    return chain_length(distance, chain) == distance(chain[0], chain[-1])


def hiding_distance(distance: FiniteDistance[S], phi: Hiding) -> Real:
    """Return d(φ): how far the hidden version is at most."""
    return max(distance(x, phi[x]) for x in distance.points)


def hiding_bound(distance: FiniteDistance[S], phi: Hiding) -> Real:
    """Return by how much hiding the secret first can change an adversary's conclusion: Theorem 3, for any direction.

    ``max_x d(x → φ(x)) + max_x d(φ(x) → x)``, which is the paper's 2·d(φ) for a metric: of the quotient of two conclusions
    at x, ``K(φ(x))(Z)/K(x)(Z)`` is bounded by the way back, and the quotient of the normalisers by the way there.
    """
    return hiding_distance(distance, phi) + hiding_distance(distance.reverse(), phi)


def diameter(distance: FiniteDistance[S], neighbourhood: Iterable[S]) -> Real:
    """Return d(N): how far two of its secrets are at most."""
    return max((distance(x, y) for x, y in itertools.permutations(neighbourhood, 2)), default=ZERO)


def maximally_tight(
    distance: FiniteDistance[S],
    *,
    hiding: Iterable[Hiding] | None = None,
    neighbourhoods: Iterable[Neighbourhood] | None = None,
) -> bool:
    """Decide whether hiding functions (Definition 2) or neighbourhoods (Definition 3) are maximally tight.

    Raises:
        InputError: if both families are given, or none; for hiding functions and a distance with a direction: they swap two
            secrets, and nothing is known then of the converse of Theorem 3.
    """
    return _broken(distance, _steps(distance, hiding, neighbourhoods, maximal=True)) is None


def tight(distance: FiniteDistance[S], neighbourhoods: Iterable[Neighbourhood]) -> bool:
    """Decide whether neighbourhoods are tight (Definition 10): chains within them, of any step."""
    return _broken(distance, _steps(distance, None, neighbourhoods, maximal=False)) is None


def without_chain(
    distance: FiniteDistance[S],
    *,
    hiding: Iterable[Hiding] | None = None,
    neighbourhoods: Iterable[Neighbourhood] | None = None,
) -> tuple[S, S] | None:
    """Return a pair of secrets that no tight maximal chain joins, or None: the proof that a family is not canonical."""
    return _broken(distance, _steps(distance, hiding, neighbourhoods, maximal=True))


def _steps(
    distance: FiniteDistance[Any],
    hiding: Iterable[Hiding] | None,
    neighbourhoods: Iterable[Neighbourhood] | None,
    *,
    maximal: bool,
) -> set[tuple[Any, Any]]:
    if (hiding is None) == (neighbourhoods is None):
        raise InputError("Both families, or none", "one is decided at a time", "Give hiding=… or neighbourhoods=…")
    steps: set[tuple[Any, Any]] = set()
    if hiding is not None and distance != distance.reverse():
        raise InputError(
            f"Hiding functions under {distance}, which has a direction",
            "Definition 2 is about functions that swap two secrets, and the converse of Theorem 3 about metrics",
            "Give a symmetric distance, or neighbourhoods=…, whose converse needs no symmetry",
        )
    for phi in hiding or ():
        far = hiding_distance(distance, phi)
        swapped = ((x, phi[x]) for x in distance.points if phi[phi[x]] == x)
        steps.update((x, y) for x, y in swapped if x != y and distance(x, y) == far)
    for n in neighbourhoods or ():
        far = diameter(distance, n) if maximal else ZERO
        steps.update((x, y) for x, y in itertools.permutations(n, 2) if not maximal or distance(x, y) == far)
    return steps


def _broken(distance: FiniteDistance[Any], steps: set[tuple[Any, Any]]) -> tuple[Any, Any] | None:
    points = distance.points
    reached = FiniteDistance.closed(
        points, [[distance(x, y) if (x, y) in steps else inf for y in points] for x in points]
    )
    return next(((x, y) for x in points for y in points if reached(x, y) != distance(x, y)), None)


# ---- the families of the paper


def hide_one(records: Sequence[Hashable], persons: int) -> Iterator[Hiding]:
    """Yield Φ_h: person i's record replaced by a fixed one."""
    for i, record in itertools.product(range(persons), records):
        yield {x: _put(x, i, record) for x in itertools.product(records, repeat=persons)}


def substitute_one(records: Sequence[Hashable], persons: int) -> Iterator[Hiding]:
    """Yield Φ_1: person i's record substituted by any function w of records."""
    for i, images in itertools.product(range(persons), itertools.product(records, repeat=len(records))):
        w = dict(zip(records, images, strict=True))
        yield {x: _put(x, i, w[x[i]]) for x in itertools.product(records, repeat=persons)}


def substitute_all(records: Sequence[Hashable], persons: int) -> Iterator[Hiding]:
    """Yield Φ_∞: every record substituted, each person's by a function of their own."""
    substitutions = [
        dict(zip(records, images, strict=True)) for images in itertools.product(records, repeat=len(records))
    ]
    for chosen in itertools.product(substitutions, repeat=persons):
        yield {
            x: tuple(w[v] for w, v in zip(chosen, x, strict=True)) for x in itertools.product(records, repeat=persons)
        }


def any_record(records: Sequence[Hashable], persons: int) -> Iterator[Neighbourhood]:
    """Yield N_h: all tables that agree except for one person."""
    return _of_one(records, persons, [tuple(records)])


def any_subset(records: Sequence[Hashable], persons: int) -> Iterator[Neighbourhood]:
    """Yield N_1: all tables that agree except for one person, whose record lies in a set V."""
    return _of_one(records, persons, _subsets(records))


def any_box(records: Sequence[Hashable], persons: int) -> Iterator[Neighbourhood]:
    """Yield N_∞: every person's record lies in a set V_i."""
    for box in itertools.product(_subsets(records), repeat=persons):
        yield frozenset(itertools.product(*box))


def all_functions(points: Sequence[Hashable]) -> Iterator[Hiding]:
    """Yield Φ_2 on a finite space: every function of secrets."""
    for images in itertools.product(points, repeat=len(points)):
        yield dict(zip(points, images, strict=True))


def all_sets(points: Sequence[Hashable]) -> Iterator[Neighbourhood]:
    """Yield N_2 on a finite space: every set of secrets but the empty one."""
    return (frozenset(chosen) for chosen in _subsets(points))


def _of_one(records: Sequence[Any], persons: int, sets: Iterable[tuple[Any, ...]]) -> Iterator[Neighbourhood]:
    for i, chosen in itertools.product(range(persons), list(sets)):
        for rest in itertools.product(records, repeat=persons - 1):
            yield frozenset((*rest[:i], record, *rest[i:]) for record in chosen)


def _subsets(items: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [chosen for size in range(1, len(items) + 1) for chosen in itertools.combinations(items, size)]


def _put(table: tuple[Any, ...], person: int, record: Any) -> tuple[Any, ...]:
    return (*table[:person], record, *table[person + 1 :])


# ---- conclusions


def bayes(mechanism: FiniteMechanism, prior: Prior, outputs: Iterable[Hashable]) -> dict[Any, Weight]:
    """Return Bayes(π, K, Z): the adversary's conclusion after seeing that the output lies in Z. Exact.

    Raises:
        InputError: if the prior rules the outputs out.
    """
    chances, seen = read_prior(mechanism.inputs, prior), set(outputs)
    joint = {}
    for x, chance in zip(mechanism.inputs, chances, strict=True):
        row = mechanism.row(x).items()
        joint[x] = weighted_sum((p, chance) for z, p in row if z in seen)
    total = weighted_sum((p, 1) for p in joint.values())
    if not total:
        raise InputError("Outputs that cannot happen", "the prior rules them out", "Condition on others")
    return {x: p / total for x, p in joint.items()}


def restricted(measure: Mapping[S, Weight | Exact], neighbourhood: Iterable[S]) -> dict[S, Weight]:
    """Return the measure given that the secret lies in N."""
    inside = {x: weight(measure[x]) for x in neighbourhood}
    total = weighted_sum((p, 1) for p in inside.values())
    if not total:
        raise InputError("A neighbourhood of probability 0", "nothing can be given it", "Use a prior that allows it")
    return {x: p / total for x, p in inside.items()}


def hidden(mechanism: FiniteMechanism, phi: Hiding) -> FiniteMechanism:
    """Return K ∘ φ: the mechanism that only sees the hidden version of the secret."""
    return mechanism.pull_back(mechanism.inputs, lambda x: phi[x])


def measure_distance(first: Measure, second: Measure) -> Real:
    """Return d_P(μ_1, μ_2) = sup_Z |ln μ_1(Z)/μ_2(Z)| on finitely many points, exact; the sup is attained at a point.

    A point that a measure does not name has probability 0 under it; where only one of the two is 0, the distance is ∞.
    (Lemma 1: it is ≤ b iff ``e^{−b}·μ_2(Z) ≤ μ_1(Z) ≤ e^b·μ_2(Z)`` for all Z.)
    """
    ratios = []
    for x in {**first, **second}:
        p, q = weight(first.get(x, 0)), weight(second.get(x, 0))
        if bool(p.numerator) != bool(q.numerator) and bool(p) != bool(q):
            return inf
        if p:
            ratios.append(max(((_about(p, q), p, q), (_about(q, p), q, p)), key=lambda found: found[0]))
    most = max((ratio for ratio, _, _ in ratios if ratio < math.inf), default=0.0)
    return log(max(r for ratio, p, q in ratios if ratio >= most * (1 - 1e-9) for r in (p / q, q / p)))


def _about(p: Weight, q: Weight) -> float:
    """Return p/q in floats, which leave out what is clear; ∞ where they cannot decide, and exact numbers must."""
    above, below = float(p), float(q)
    return above / below if min(above, below) > 1e-290 else math.inf
