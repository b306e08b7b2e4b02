# SPDX-License-Identifier: Apache-2.0
"""The best that can be made of a given mechanism for one proposition: ADP's Definition II.6, decided, and its E[β].

A sanitizer says True or False of every output, if need be with a probability. For a given finite mechanism M, a
proposition q and α, the best one is a linear program: say True as often as possible where q holds, and with probability at
most α wherever it does not. At α = 0 it is plain: say True of the outputs that no secret with q = False can give. Elsewhere
the solver's answer is rounded down until the promise holds exactly, and its dual, in exact numbers, bounds what any
sanitizer can do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from leeward._optional import optional
from leeward._taught import taught
from leeward.analysis._bounds import OneSided, Rows, one_sided
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import Exact
from leeward.exact._weight import Weight, weight, weighted_sum

_GRID = 2**40


@dataclass(frozen=True)
class BestSanitizer:
    """The best sanitizer found for a mechanism, and how good any can be.

    Attributes:
        says: for each output, the probability of saying True.
        reached: the exact α and β of it, as `leeward.analysis.one_sided` finds them.
        beta: what was made as large as possible: β of the one secret asked about, or the least β of all.
        bound: no sanitizer with this α, random or not, reaches more. Exact; equal to ``beta`` at α = 0.
    """

    says: Mapping[Any, Fraction]
    reached: OneSided
    beta: Weight
    bound: Weight

    def is_one_sided(self, beta: Exact) -> bool:
        """Return whether the mechanism is (q, α, β)-one-sided for this β: whether *some* sanitizer reaches it.

        Raises:
            UndecidedError: if β lies between what was reached and what is proved to be out of reach.
        """
        wanted = weight(beta)
        if wanted <= self.beta:
            return True
        if wanted > self.bound:
            return False
        raise UndecidedError(
            f"β = {beta}", f"it lies between {float(self.beta):.12g} and {float(self.bound):.12g}", "Ask for another β"
        )


_EVERY = object()


@taught
def best_sanitizer(
    mechanism: Rows, proposition: Callable[[Any], bool], alpha: Exact = 0, *, secret: object = _EVERY
) -> BestSanitizer:
    """Return the best sanitizer for a finite mechanism: one for all secrets, with Pr[True | q is False] ≤ α.

    (ADP, Definition II.6, with one sanitizer and ≤; see the corrections.)

    Args:
        mechanism: an exact finite mechanism; ``Geometric(…).on(range(…))`` gives one.
        proposition: q, for each secret.
        alpha: in [0, 1].
        secret: the X whose β counts; by default the least β over all secrets where q holds.

    Raises:
        InputError: if α is no probability, q holds nowhere, or not of the secret.
        UndecidedError: if the solver gives up.
    """
    allowed = weight(alpha)
    if allowed < 0 or allowed > 1:
        raise InputError(f"alpha = {alpha}", "it is a probability", "Give a number from 0 to 1")
    where = [x for x in mechanism.inputs if proposition(x)]
    if not where or (secret is not _EVERY and secret not in where):
        raise InputError(
            "A sanitizer for a proposition that holds nowhere" if secret is _EVERY else f"The secret {secret!r}",
            "β is the chance of saying True where it holds",
            "Give a proposition, and a secret, for which it does",
        )
    good = [mechanism.row(x) for x in (where if secret is _EVERY else [secret])]
    bad = [mechanism.row(x) for x in mechanism.inputs if not proposition(x)]
    outputs = list(dict.fromkeys(z for row in (*good, *bad) for z in row))
    if not allowed:
        says = {z: Fraction(all(not row.get(z, 0) for row in bad)) for z in outputs}
        bound = None
    else:
        says, bound = _by_program(good, bad, outputs, allowed)
    reached = one_sided(mechanism, proposition, lambda z: weight(says.get(z, Fraction(0))))
    beta = min(reached.beta.values()) if secret is _EVERY else reached.beta[secret]
    return BestSanitizer(says, reached, beta, beta if bound is None else max(beta, bound))


def _by_program(
    good: list[dict[Any, Weight]], bad: list[dict[Any, Weight]], outputs: list[Hashable], allowed: Weight
) -> tuple[dict[Any, Fraction], Weight]:
    """Maximise t with Σ p(x, z)·s_z ≥ t on good rows and ≤ α on bad ones, 0 ≤ s ≤ 1; then make it exact, both ways."""
    linprog = optional("scipy.optimize", "The best sanitizer").linprog
    above, below = (np.array([[float(row.get(z, weight(0))) for z in outputs] for row in rows]) for rows in (good, bad))
    below = below.reshape(len(bad), len(outputs))
    found = linprog(
        [0.0] * len(outputs) + [-1.0],
        A_ub=np.vstack([np.column_stack([-above, np.ones(len(good))]), np.column_stack([below, np.zeros(len(bad))])]),
        b_ub=[0.0] * len(good) + [float(allowed)] * len(bad),
        bounds=[(0, 1)] * len(outputs) + [(None, None)],
        method="highs",
    )
    if found.status != 0:
        raise UndecidedError("The best sanitizer", f"the solver gave up: {found.message}", "Use fewer outputs")
    says = {
        z: Fraction(int(s * _GRID), _GRID)
        for z, s in zip(outputs, np.clip(np.asarray(found.x)[:-1], 0, 1).tolist(), strict=True)
    }
    worst = max((weighted_sum((row[z], says[z]) for z in row) for row in bad), default=weight(0))
    if worst > allowed:
        lower = Fraction(max(int(float(allowed / worst) * _GRID) - 1, 0), _GRID)  # a tiny α leaves nothing to say
        says = {z: s * lower for z, s in says.items()}
    duals = [Fraction(max(-float(m), 0.0)) for m in found.ineqlin.marginals]
    share = duals[: len(good)]
    share = [m / sum(share) for m in share] if any(share) else [Fraction(1, len(good))] * len(good)
    prices = duals[len(good) :]
    bound = allowed * sum(prices, Fraction(0))
    for z in outputs:  # weak duality: whatever the weights and prices, no sanitizer does better
        left = weighted_sum((row[z], m) for row, m in zip(good, share, strict=True) if z in row)
        gain = left - weighted_sum((row[z], m) for row, m in zip(bad, prices, strict=True) if z in row)
        if gain > 0:
            bound += gain
    return says, min(bound, weight(1))


@taught
def expected_beta(places: Mapping[int, int], chance: Callable[[int], Weight | Exact], at_most: int) -> Weight:
    """Return E[β] (ADP, Section VI-A4): the chance that a safe place drawn at random is called safe. Exact.

    Args:
        places: how many places have each count, ``{0: 5000, 1: 200}``.
        chance: Pr[safe | count] of a mechanism and its sanitizer.
        at_most: the largest safe count, t.

    Raises:
        InputError: if no place is safe.
    """
    safe = {count: number for count, number in places.items() if count <= at_most and number}
    if not safe or min(safe.values()) < 0 or min(safe) < 0:
        raise InputError(
            "E[β] of a histogram without safe places", "it is a mean over them", "Give counts and places of at least 0"
        )
    return weighted_sum((weight(chance(c)), n) for c, n in safe.items()) / sum(safe.values())
