# SPDX-License-Identifier: Apache-2.0
"""Bayesian utility and the optimal remap: what a rational consumer makes of a noisy answer.

A consumer with prior π and loss ℓ who sees z guesses a w that minimises Σ_x π(x)·Pr[z | x]·ℓ(x, w). Remapping is
post-processing, so it costs no privacy. U(H, π, ℓ) is the expected loss under that best remap: less is better, so a
mechanism is optimal iff its U is ≤ that of all others (Chatzikokolakis et al., Section 4.2; their Definition 7 prints ≥).
A risk-averse consumer has no prior and minimises the largest expected loss over the secrets (``prior="worst"``); the best
remap is then randomised, found by linear programming in floats and rounded to rationals, which keeps it a valid
post-processing: where losses are further apart than floats tell, it may not be quite the best.

Machine-checked (docs/proved.md): `remapped_is_least`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import flint
import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._taught import in_order, taught
from leeward.analysis._loss import LossLike, LossMatrix, read_loss
from leeward.analysis._prior import Prior, read_prior
from leeward.errors import InputError
from leeward.exact._real import ZERO, Real
from leeward.exact._weight import Weight, weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric

Expected: TypeAlias = "Weight | Real | float"
"""An expected loss: exact; a float (good to its last places) only where irrational losses meet irrational probabilities."""

PRECISION = 256
"""Bits at which guesses are compared. Two that these do not separate are equal for all purposes: the first is taken."""


@dataclass(frozen=True)
class Remapped:
    """The best use of a mechanism for one consumer.

    Attributes:
        mechanism: the remapped mechanism: its outputs are guesses.
        guess: what is guessed for each output; None where the best remap is randomised.
        loss: the expected loss (for ``prior="worst"``: the largest over the secrets).
    """

    mechanism: FiniteMechanism
    guess: Mapping[Any, Any] | None
    loss: Expected

    def __str__(self) -> str:
        if self.guess is None:
            return f"expected loss {float(self.loss):.6g}, with guesses drawn at random"
        changed = sum(z != w for z, w in self.guess.items())
        return f"expected loss {float(self.loss):.6g}, with {changed:,} of {len(self.guess):,} outputs remapped"


@taught
def remap(
    mechanism: FiniteMechanism | Geometric,
    prior: Prior = None,
    loss: LossLike = "absolute",
    guesses: Sequence[Any] | None = None,
) -> Remapped:
    """Return the mechanism followed by the remap that is best for a prior and a loss.

    Args:
        mechanism: what answers; a `Geometric` must have both bounds.
        prior: what the consumer knows beforehand; ``"worst"`` for a risk-averse consumer.
        loss: what a wrong guess costs.
        guesses: what may be guessed; by default the secrets themselves.
    """
    finite = as_finite(mechanism)
    matrix = read_loss(finite.inputs, finite.inputs if guesses is None else in_order("guesses", guesses), loss)
    if isinstance(prior, str) and prior == "worst":
        return _cautious(finite, matrix)
    chances = read_prior(finite.inputs, prior)
    guess = {z: matrix.guesses[w] for z, w in zip(finite.outputs, _best(finite, chances, matrix), strict=True)}
    remapped = finite.then(guess)
    return Remapped(remapped, guess, expected_loss(remapped, chances, _columns(matrix, remapped.outputs)))


def utility(mechanism: FiniteMechanism | Geometric, prior: Prior = None, loss: LossLike = "absolute") -> Expected:
    """Return U(H, π, ℓ): the expected loss under the best remap. Less is better."""
    return remap(mechanism, prior, loss).loss


@taught
def expected_loss(mechanism: FiniteMechanism | Geometric, prior: Prior = None, loss: LossLike = "absolute") -> Expected:
    """Return the expected loss of taking the mechanism's outputs as guesses, without any remap.

    ``prior="worst"`` gives the largest expected loss over the secrets.
    """
    finite = as_finite(mechanism)
    matrix = read_loss(finite.inputs, finite.outputs, loss)
    if isinstance(prior, str) and prior == "worst":
        return max(_expect(finite, [Fraction(int(x == y)) for y in finite.inputs], matrix) for x in finite.inputs)
    return _expect(finite, read_prior(finite.inputs, prior), matrix)


def as_finite(mechanism: FiniteMechanism | Geometric) -> FiniteMechanism:
    """Return a mechanism as its matrix; the truths of a bounded geometric mechanism are all steps within its bounds."""
    if isinstance(mechanism, FiniteMechanism):
        return mechanism
    if not isinstance(mechanism, Geometric):
        raise InputError(
            f"A {type(mechanism).__name__} where an exact matrix is needed",
            "its secrets are not known",
            "Take mechanism.on(secrets)",
        )
    if mechanism.lower is None or mechanism.upper is None:
        raise InputError(
            f"{mechanism!r}", "its truths are not finitely many", "Give lower and upper, or use .on(truths)"
        )
    return mechanism.on(range(mechanism.lower, mechanism.upper + 1))


def _expect(mechanism: FiniteMechanism, chances: Sequence[Fraction], matrix: LossMatrix) -> Expected:
    """Σ_x π(x) Σ_z Pr[z | x]·ℓ(x, z), grouped by probability and by loss, so that few exact products are taken."""
    mass: dict[tuple[int, int], Fraction] = {}
    for chance, probabilities, losses in zip(chances, mechanism.codes, matrix.codes, strict=True):
        if chance:
            for key in zip(probabilities.tolist(), losses.tolist(), strict=True):
                mass[key] = mass.get(key, Fraction(0)) + chance
    rational_losses = [v.rational for v in matrix.values]
    if all(v is not None for v in rational_losses):
        known = cast("list[Fraction]", rational_losses)
        return weighted_sum((mechanism.values[p], m * known[l]) for (p, l), m in mass.items())
    rational = [v.rational for v in mechanism.values]
    if all(v is not None for v in rational):
        share: dict[int, Fraction] = {}
        for (p, l), m in mass.items():
            share[l] = share.get(l, Fraction(0)) + m * cast(Fraction, rational[p])
        return sum((matrix.values[l] * m for l, m in share.items()), ZERO)
    with flint.ctx.workprec(PRECISION):
        total = flint.arb(0)
        for (p, l), m in mass.items():
            term = mechanism.values[p].arb(PRECISION) * matrix.values[l].arb(PRECISION)
            total += term * flint.arb(flint.fmpq(m.numerator, m.denominator))
        return float(total)


def _best(mechanism: FiniteMechanism, chances: Sequence[Fraction], matrix: LossMatrix) -> list[int]:
    """The best guess for each output: floats find the candidates, intervals decide among those that are close."""
    weights = np.array([float(c) for c in chances])[:, None] * mechanism.to_numpy()
    scores = weights.T @ matrix.to_numpy()  # outputs × guesses
    best = []
    for z, row in enumerate(scores):
        close = np.nonzero(row <= row.min() * (1 + 1e-9) + 1e-280)[0]
        if len(close) > 1:
            exactly = [_score(mechanism, chances, matrix, z, int(w)) for w in close]
            order = 0
            for other in range(1, len(close)):
                if exactly[other] < exactly[order]:
                    order = other
            best.append(int(close[order]))
        else:
            best.append(int(close[0]))
    return best


def _score(mechanism: FiniteMechanism, chances: Sequence[Fraction], matrix: LossMatrix, z: int, w: int) -> Any:
    with flint.ctx.workprec(PRECISION):
        total = flint.arb(0)
        for x, chance in enumerate(chances):
            if chance:
                term = mechanism.values[mechanism.codes[x, z]].arb(PRECISION) * matrix.values[matrix.codes[x, w]].arb(
                    PRECISION
                )
                total += term * flint.arb(flint.fmpq(chance.numerator, chance.denominator))
        return total


def _columns(matrix: LossMatrix, outputs: Sequence[Any]) -> LossMatrix:
    columns = [matrix.guesses.index(w) for w in outputs]
    return LossMatrix(matrix.secrets, tuple(outputs), matrix.values, matrix.codes[:, columns])


_SMALL = 1e-3
"""A largest expected loss below this part of the unit may be lost among what the solver tolerates, which is absolute."""
_WIDEST = 1e15
"""The largest loss, in the unit, that the solver takes."""


def _cautious(mechanism: FiniteMechanism, matrix: LossMatrix) -> Remapped:
    """The randomised remap T that minimises max_x Σ_z Pr[z | x] Σ_w T(z, w)·ℓ(x, w), as near as floats find it.

    It never loses more than the best blind guess, nor than the mechanism as it is, where its outputs are guesses. The unit
    of the program is the largest loss, and then what the best remap so far loses, as long as that finds a better one.
    """
    losses = matrix.to_numpy()
    best = min((_after(mechanism, matrix, table) for table in _plain(mechanism, matrix)), key=_lost)
    unit = float(losses.max()) or 1.0
    while unit * _WIDEST > losses.max() and (table := _least_largest(mechanism.to_numpy(), losses / unit)) is not None:
        found = _after(mechanism, matrix, [stochastic(row) for row in table])
        if _lost(found) >= _lost(best) and unit < losses.max():
            break
        best = min(best, found, key=_lost)
        if not 0 < _lost(best) < _SMALL * unit:
            break
        unit = _lost(best)
    return best


def _plain(mechanism: FiniteMechanism, matrix: LossMatrix) -> Iterator[list[list[Fraction]]]:
    """Give the remaps that need no program: to the one best guess, and to what is said, where that can be guessed."""
    blind = min(range(len(matrix.guesses)), key=lambda w: max(matrix.values[code] for code in matrix.codes[:, w]))
    yield [[Fraction(int(w == blind)) for w in range(len(matrix.guesses))] for _ in mechanism.outputs]
    if set(mechanism.outputs) <= set(matrix.guesses):
        yield [[Fraction(int(z == w)) for w in matrix.guesses] for z in mechanism.outputs]


def _after(mechanism: FiniteMechanism, matrix: LossMatrix, table: Sequence[Sequence[Fraction]]) -> Remapped:
    remapped = mechanism.then(FiniteMechanism(mechanism.outputs, matrix.guesses, table))
    return Remapped(remapped, None, expected_loss(remapped, "worst", _columns(matrix, remapped.outputs)))


def _lost(remapped: Remapped) -> float:
    return float(remapped.loss)


def _least_largest(probabilities: NDArray[np.float64], losses: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Solve for T in floats: its rows are near to summing to 1. None where the solver gives up."""
    sparse = optional("scipy.sparse", "The best remap at worst")
    linprog = optional("scipy.optimize", "The best remap at worst").linprog
    (n, outputs), guesses = probabilities.shape, losses.shape[1]
    cost = (probabilities[:, :, None] * losses[:, None, :]).reshape(n, -1)
    solved = linprog(
        np.append(np.zeros(outputs * guesses), 1.0),
        A_ub=np.hstack([cost, -np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=sparse.hstack([sparse.kron(sparse.eye(outputs), np.ones((1, guesses))), sparse.csr_matrix((outputs, 1))]),
        b_eq=np.ones(outputs),
        bounds=(0, None),
        method="highs",
    )
    if solved.status != 0:
        return None
    table: NDArray[np.float64] = np.clip(solved.x[:-1].reshape(outputs, guesses), 0, 1)
    return table


def stochastic(row: Sequence[float], denominator: int = 2**40) -> list[Fraction]:
    """Return a row of floats, normalised, as non-negative rationals with this denominator that sum to exactly 1."""
    total = float(sum(row))
    parts = [max(0, round(float(p) / total * denominator)) for p in row]
    parts[parts.index(max(parts))] += denominator - sum(parts)
    return [Fraction(p, denominator) for p in parts]
