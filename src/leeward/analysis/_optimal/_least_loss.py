# SPDX-License-Identifier: Apache-2.0
"""The private mechanism of least expected loss for a prior and a loss: solved, repaired, certified.

Universally optimal mechanisms exist on the directed line and hardly anywhere else (Chatzikokolakis et al., Section 4.2). In
the plane, on graphs, for queries with other ranges, the best mechanism depends on the prior, and is found by linear
programming (Bordenabe, Chatzikokolakis, Palamidessi 2014). The solver's matrix is never trusted: it is repaired in
integers and certified by `leeward.verify` against the distance that was asked for, over all ordered pairs.

Machine-checked (docs/proved.md): `universal_optimality`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._progress import Progress, silent
from leeward._taught import in_order, taught
from leeward.analysis._loss import LossLike, LossMatrix, read_loss
from leeward.analysis._optimal._cover import Pairs, irreducible, spanner
from leeward.analysis._optimal._linear_program import Program
from leeward.analysis._optimal._repair import NEVER_APART, repair
from leeward.analysis._optimal._symmetry import Symmetries, symmetries
from leeward.analysis._prior import Prior, read_prior
from leeward.analysis._remap import Expected, expected_loss, remap
from leeward.distance import DirectedDistance, FiniteDistance
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import Exact, Real, exact
from leeward.mechanism import FiniteMechanism
from leeward.verification import Verdict, verify

S = TypeVar("S", bound=Hashable)

NEAR = Fraction(1, 2**16)
"""Below this it is tried whether it is cheaper to give secrets one row than to mend the solver's errors between theirs."""
FARTHEST = Fraction(10**300)


@dataclass(frozen=True)
class Optimal:
    """A certified mechanism of (nearly) least expected loss, and how near. It never loses more than the best blind guess.

    Attributes:
        mechanism: exact; its outputs are guesses, so it needs no remap.
        loss: its expected loss, exact; for ``prior="worst"`` the largest over the secrets.
        bound: no mechanism that is private for the solved program has a smaller expected loss; proved from the dual with
            every rounding counted. Without a spanner this is the least loss under d-privacy itself.
        given_up: what the repair cost: loss − the solver's own claim.
        dilation: δ of the spanner; 1 for none, and then ``loss − bound`` bounds the distance from the optimum.
        verdict: the proof that the mechanism is private for the distance that was asked for.
        variables: of the linear program, after symmetries.
        constraints: of the linear program, after redundant ones.
    """

    mechanism: FiniteMechanism
    loss: Expected
    bound: float
    given_up: float
    dilation: Real
    verdict: Verdict
    variables: int
    constraints: int

    def __str__(self) -> str:
        spread = "" if self.dilation == 1 else f" for the {self.dilation}-spanner"
        near = f"at most {max(float(self.loss) - self.bound, 0.0):.1e} above the least there is{spread}"
        return f"expected loss {float(self.loss):.6g}, {near}\n{self.verdict}"


@taught
def optimal(
    space: Iterable[S],
    distance: DirectedDistance[S],
    prior: Prior = None,
    loss: LossLike = "absolute",
    *,
    guesses: Sequence[Hashable] | None = None,
    dilation: Exact = 1,
    progress: Progress = silent,
) -> Optimal:
    """Return a mechanism of least expected loss among all that are d-private, certified.

    Args:
        space: the n secrets, hashable.
        distance: any directed distance that is defined on them: ∞, asymmetry and distinct secrets at 0 are fine.
        prior: what the consumer knows beforehand (`leeward.analysis._prior`); ``"worst"`` for a risk-averse consumer, who
            minimises the largest expected loss.
        loss: what a wrong guess costs (`leeward.analysis._loss`).
        guesses: what may be published; by default the secrets.
        dilation: 1 for the exact optimum. δ > 1 solves a smaller program on a δ-spanner: private all the same, with a loss
            between the optima for d and for d/δ.
        progress: called with a line of text at each stage.

    Raises:
        InputError: if there is no secret or no guess, the dilation is below 1, prior or loss do not fit, or a distance or a
            loss is beyond what floats reach.
        UndecidedError: if the solver gives up, or its answer could not be certified: never seen, and never passed over.
    """
    secrets = in_order("space", space)
    finite = distance if isinstance(distance, FiniteDistance) and distance.points == secrets else distance.on(secrets)
    outputs = secrets if guesses is None else in_order("guesses", guesses)
    if not secrets or not outputs:
        raise InputError("No secrets, or no guesses", "something has to be published", "Give at least one of each")
    matrix = read_loss(secrets, outputs, loss)
    worst = isinstance(prior, str) and prior == "worst"
    chances = read_prior(secrets, None if worst else prior)
    order = {chance: code for code, chance in enumerate(dict.fromkeys(chances))}
    group = symmetries(finite.codes, np.array([order[c] for c in chances], dtype=np.intp), matrix.codes)
    progress(f"{len(secrets)} secrets, {len(outputs)} guesses, {len(group.generators)} generators of symmetries found")
    pairs, costs = _cover(finite, group, exact(dilation))
    progress(f"{len(pairs)} of {len(secrets) * (len(secrets) - 1)} ordered pairs of secrets are needed")
    program = Program(
        orbits=group.orbits(slice(0, len(secrets)), slice(len(secrets), len(secrets) + len(outputs))),
        pairs=pairs,
        factors=_factors(costs),
        prior=None if worst else np.array([float(c) for c in chances]),
        loss=matrix.to_numpy(),
    )
    progress(f"solving for {int(program.orbits.max()) + 1} variables")
    solution = program.solve(progress)
    progress(f"solved: expected loss {solution.value:.6g}; repairing")
    consumer: Prior = "worst" if worst else list(chances)
    blind = remap(FiniteMechanism(secrets, ["nothing"], [[1]] * len(secrets)), consumer, matrix, outputs)
    found = [(blind.mechanism, blind.loss)]  # where secrets are so near that mending the solver's errors costs more
    for near in (NEVER_APART, NEAR) if any(NEVER_APART <= cost < NEAR for cost in costs) else (NEVER_APART,):
        mended = repair(secrets, outputs, solution.matrix, pairs, costs, near)
        found.insert(0, (mended, expected_loss(mended, consumer, _only(matrix, mended.outputs))))
    mechanism, achieved = min(found, key=lambda one: float(one[1]))
    progress("certifying")
    verdict = verify(mechanism, finite)
    if not verdict:
        raise UndecidedError(
            "The repaired mechanism", "it could not be certified", "Please report this with the space and the distance"
        )
    progress(f"certified: expected loss {float(achieved):.6g}")
    return Optimal(
        mechanism=mechanism,
        loss=achieved,
        bound=solution.bound,
        given_up=float(achieved) - solution.value,
        dilation=exact(dilation),
        verdict=verdict,
        variables=solution.variables,
        constraints=solution.constraints,
    )


def _cover(finite: FiniteDistance[Any], group: Symmetries, dilation: Real) -> tuple[Pairs, list[Real]]:
    """Return the pairs of the program and what each costs."""
    if dilation < 1 or dilation.is_infinite:
        raise InputError(f"dilation = {dilation}", "paths cannot be shorter than the distance", 'Give "1" or more')
    if any(value > FARTHEST and not value.is_infinite for value in finite.values):
        raise InputError(
            "Secrets at a finite distance of more than 10^300",
            "the floating-point numbers of the solver do not reach so far",
            "Give inf if the one need not pass as the other; else a smaller number, which promises hardly more",
        )
    if dilation == 1:
        pairs = irreducible(finite)
    else:
        pairs = spanner(
            finite, group.orbits(slice(0, len(finite.points)), slice(0, len(finite.points))), float(dilation)
        )
    shortened = [v / dilation for v in finite.values]
    return pairs, [shortened[c] for c in finite.codes[pairs[:, 0], pairs[:, 1]]]


@vanishing
def _factors(costs: Sequence[Real]) -> NDArray[np.float64]:
    """Return e^{−cost} rounded down, so that the program is never stricter than the notion."""
    below = {c: np.nextafter(np.exp(-np.nextafter(c.bounds()[1], np.inf)) * (1 - 2.0**-50), 0) for c in set(costs)}
    return np.array([below[c] for c in costs], dtype=np.float64)


def _only(matrix: LossMatrix, outputs: Sequence[Any]) -> LossMatrix:
    place = {w: column for column, w in enumerate(matrix.guesses)}
    return LossMatrix(matrix.secrets, tuple(outputs), matrix.values, matrix.codes[:, [place[w] for w in outputs]])
