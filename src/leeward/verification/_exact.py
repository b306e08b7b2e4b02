# SPDX-License-Identifier: Apache-2.0
"""Is a mechanism d-private? Decided over all ordered pairs of secrets and all outputs.

Two parts. Floats with a proved error bound compare every ordered pair at every output; they settle whatever is not
near the bound. But the good mechanisms attain their bound, a ratio of *exactly* e^d, and no interval however narrow can
tell that from a violation. So what is near is decided exactly, as the sign of ``Pr[z|x] − e^{d(x → x')}·Pr[z|x']``, once
for each combination of distinct values, and only for pairs that no third point divides (`leeward.verification._steps`).

Nothing here knows how a mechanism or a notion was derived: it sees two exact matrices.

Machine-checked (docs/proved.md): `sum_is_series`, `private_pointwise`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import vanishing
from leeward._taught import taught
from leeward.distance import DirectedDistance, FiniteDistance
from leeward.errors import InputError, UndecidedError
from leeward.exact._real import ONE, ZERO, Exact, Real, inf
from leeward.exact._weight import LogPrime, Weight, exp, log
from leeward.notion import ProtectedOutputs
from leeward.verification._hockey import verify_delta
from leeward.verification._logs import Logs, Matrix, enclosed, enclosed_log, logs
from leeward.verification._neighbours import neighbours
from leeward.verification._outputs import one_distance, protected_columns
from leeward.verification._steps import IrreduciblePairs
from leeward.verification._verdict import DeltaVerdict, Interval, Outcome, Verdict

S = TypeVar("S")

_BLOCK = 1 << 15  # entries compared at once: they stay in the cache

# Zero probabilities in whole arrays, without a NaN: 0 over anything is −1e300, something over 0 is +1e150.
_ZERO_ABOVE, _ZERO_BELOW, _RULED_OUT = -1e300, -1e150, 1e149

_FARTHEST = 1e140
"""The largest logarithm of a probability that is told from these."""


class Mechanism(Protocol):
    """Anything that gives its exact matrix on chosen secrets."""

    def on(self, points: Any, /) -> Matrix:
        """Return the exact matrix with these secrets as rows."""


@overload
def verify(
    mechanism: Matrix | Mechanism,
    distance: DirectedDistance[S] | ProtectedOutputs,
    points: Iterable[S] | None = None,
) -> Verdict: ...
@overload
def verify(
    mechanism: Matrix | Mechanism,
    distance: DirectedDistance[S],
    points: Iterable[S] | None = None,
    *,
    delta: Weight | Exact,
) -> DeltaVerdict: ...
@overload
def verify(
    mechanism: Matrix | Mechanism,
    distance: DirectedDistance[S],
    points: Iterable[S] | None = None,
    *,
    same_delta: Weight | Exact,
) -> DeltaVerdict: ...
@taught
def verify(
    mechanism: Matrix | Mechanism,
    distance: DirectedDistance[S] | ProtectedOutputs,
    points: Iterable[S] | None = None,
    *,
    delta: Weight | Exact | None = None,
    same_delta: Weight | Exact | None = None,
) -> Verdict | DeltaVerdict:
    """Decide whether a mechanism is d-private, exactly, over all ordered pairs of secrets and all outputs.

    With ``delta`` it decides (ε, δ)-differential privacy under a notion: ``Pr[Z | x] ≤ e^{d(x → x')} · Pr[Z | x'] + δ`` for
    all sets of outputs Z and all *neighbours*, pairs one step apart (Takagi et al., ADP, Definition II.2; *One-Sided
    Differential Privacy*, Definitions 1 and 2). For a group the verdict's `DeltaVerdict.group` says what that is worth.

    Args:
        mechanism: an exact matrix (`leeward.mechanism.FiniteMechanism`), or a mechanism with ``.on(points)``.
        distance: the directed distance d between secrets; a notion is one. Or `leeward.notion.ProtectedOutputs`, the promise
            of utility-optimised local DP about each output, without δ; the secrets are then records.
        points: the secrets; by default the rows of the matrix, the points of a finite distance, or the integers between
            a mechanism's public bounds. Of `leeward.both_hold` they are taken for all there can be: a way that goes on with
            the other promise at a record that is in none of them is gone only over nobody, and where both list it.
        delta: the δ of one step, in [0, 1]. The steps are a notion's own; of a finite distance they are its generating
            pairs, those that no third point divides. Other distances have none.
        same_delta: ask instead for one δ for all pairs at finite distance, however far apart. This is another promise, and
            a stronger one: a group of any size has no more than that δ.

    Returns:
        A `Verdict` (or `DeltaVerdict`): true in a condition iff privacy was proved.

    Raises:
        InputError: if the secrets cannot be listed, the distance does not know some of them, δ is not a probability, or it
            is not settled which secrets are neighbours.
        UndecidedError: if a probability is not told from 0, or without δ is below e^(−10¹⁴⁰).
    """
    if delta is not None and same_delta is not None:
        raise InputError("delta and same_delta", "they are two promises", "Give one of them")
    matrix = _matrix(mechanism, distance, points)
    if isinstance(distance, ProtectedOutputs):
        if delta is not None or same_delta is not None:
            raise InputError(f"δ under {distance}", "it is a promise about each output", "Leave delta out")
        part = protected_columns(matrix, distance)
        return part if isinstance(part, Verdict) else _Pairs(part, *one_distance(part, distance.epsilon)).verdict()
    finite = distance if isinstance(distance, FiniteDistance) else distance.on(matrix.inputs)
    between = _codes(finite, matrix.inputs)
    if delta is not None:
        steps = neighbours(distance, finite.values, between, matrix.inputs)
        return verify_delta(matrix, finite.values, between, delta, steps)
    if same_delta is not None:
        return verify_delta(matrix, finite.values, between, same_delta)
    return _Pairs(matrix, finite.values, between).verdict()


def _matrix(mechanism: Any, distance: Any, points: Iterable[Any] | None) -> Matrix:
    if hasattr(mechanism, "codes") and hasattr(mechanism, "inputs"):
        matrix = cast(Matrix, mechanism)
        if points is not None and tuple(points) != matrix.inputs:
            raise InputError("Points beside a matrix", "its rows already say which secrets it has", "Leave points out")
        return matrix
    if not hasattr(mechanism, "on") or isinstance(mechanism, DirectedDistance):
        raise InputError(
            f"A verification of a {type(mechanism).__name__}",
            "it is neither an exact matrix that names its secrets, nor a mechanism that gives one",
            "Give FiniteMechanism(secrets, outputs, matrix), or an object with .on(points)",
        )
    if points is None and isinstance(distance, FiniteDistance):
        points = distance.points
    if points is None:
        lower, upper = getattr(mechanism, "lower", None), getattr(mechanism, "upper", None)
        if lower is None or upper is None:
            raise InputError(
                "A mechanism on an unbounded range of secrets",
                "a verification goes through all of them",
                "Give points=range(0, 50), or take the distance .on(points)",
            )
        points = range(lower, upper + 1)
    return cast(Matrix, mechanism.on(points))


def _codes(distance: FiniteDistance[Any], inputs: tuple[Any, ...]) -> NDArray[np.intp]:
    """Return the distance's codes with rows and columns in the order of the matrix."""
    if distance.points == inputs:
        return distance.codes
    places = {point: place for place, point in enumerate(distance.points)}
    if any(x not in places for x in inputs):
        raise InputError(
            "A distance that does not know every secret of the mechanism",
            "a pair of secrets without a distance has no bound",
            "Take the distance on the mechanism's inputs",
        )
    order = [places[x] for x in inputs]
    return distance.codes[np.ix_(order, order)]


@dataclass(frozen=True)
class _Triple:
    """A truth x, the secret y it is passed off as, and an output z: rows and a column."""

    x: int
    y: int
    z: int


@dataclass(frozen=True)
class _Decision:
    """Whether the mechanism is c·d-private: where it is not, where the bound is met, what was not settled."""

    broken: _Triple | None = None
    met: _Triple | None = None
    unsettled: str = ""


class _Pairs:
    """A matrix against the distances between its rows."""

    def __init__(self, matrix: Matrix, distances: tuple[Real, ...], between: NDArray[np.intp]) -> None:
        self.matrix, self.distances, self.between = matrix, distances, between
        self.logs: Logs = logs(matrix)
        if (np.abs(self.logs.at) > _FARTHEST).any():
            raise UndecidedError(
                f"A probability below e^(-{_FARTHEST:.0e})",
                "floats would not tell its ratio to others from that to 0",
                "Use a smaller ε or a finer grid: such an output never comes",
            )
        self.above = np.where(self.logs.zero, _ZERO_ABOVE, self.logs.at)
        self.below = np.where(self.logs.zero, _ZERO_BELOW, self.logs.at)
        bounded = np.array([not d.is_infinite for d in distances])[between]
        np.fill_diagonal(bounded, False)
        self.bounded = bounded
        self.at_zero = np.array([d == 0 for d in distances])[between]
        self.middles, self.radii = enclosed(distances)
        self.largest = self._largest()
        self.irreducible = IrreduciblePairs(distances, between)

    def _largest(self) -> NDArray[np.float64]:
        """Return the largest log-ratio of every ordered pair, over all outputs."""
        n, m = self.above.shape
        largest = np.empty((n, n))
        step = max(_BLOCK // m, 1)
        buffer = np.empty((min(step, n), m))
        for start in range(0, n, step):
            below = self.below[start : start + step]
            part = buffer[: len(below)]
            for x in range(n):
                np.subtract(self.above[x], below, out=part)
                part.max(axis=1, out=largest[x, start : start + step])
        return largest

    def _error(self, radii: NDArray[np.float64], middles: NDArray[np.float64]) -> float:
        """Bound the error of log-ratio − distance: two logarithms, a distance, and two rounded subtractions."""
        sizes = 2 * np.abs(self.logs.at).max(initial=0) + np.abs(middles[np.isfinite(middles)]).max(initial=0)
        return float(2 * self.logs.error + radii.max(initial=0) + sizes * 2.0**-51)

    # ---- deciding c·d-privacy

    def decide(self, scale: Real) -> _Decision:
        """Decide c·d-privacy where nothing is ruled out at a finite distance."""
        distances = [ZERO if d == 0 else d * scale for d in self.distances]
        middles, radii = enclosed(distances)
        error = self._error(radii, middles)
        allowed = middles[self.between]
        excess = np.where(self.bounded, self.largest - allowed, -np.inf)
        worst = np.unravel_index(int(excess.argmax()), excess.shape)
        if excess[worst] > error:
            return _Decision(broken=self._triple(int(worst[0]), int(worst[1])))
        near = excess >= -error
        with np.errstate(invalid="ignore"):  # what no float holds allows all ratios that floats hold
            least = allowed - error
        exactly = _Sign(self.matrix, distances)
        met, unsettled = None, ""
        for x in np.flatnonzero(near.any(axis=1)).tolist():
            columns = np.flatnonzero(near[x] & self.irreducible.of(x))
            for y, z in self._near(x, columns, least[x, columns], exactly):
                try:
                    sign = exactly(x, y, z, int(self.between[x, y]))
                except UndecidedError as reason:
                    unsettled = unsettled or str(reason)
                    continue
                if sign > 0:
                    return _Decision(_Triple(x, y, z))
                if sign == 0 and (met is None or self.at_zero[met.x, met.y]):
                    met = _Triple(x, y, z)
        return _Decision(None, met, unsettled)

    def _near(
        self, x: int, columns: NDArray[np.intp], least: NDArray[np.float64], exactly: _Sign
    ) -> Iterable[tuple[int, int]]:
        """Yield (y, z) near the bound, one for each combination of exact values not met before."""
        step = max((_BLOCK << 4) // self.above.shape[1], 1)
        for start in range(0, len(columns), step):
            part = columns[start : start + step]
            rows, outputs = np.nonzero(self.above[x] - self.below[part] >= least[start : start + step, None])
            keys = exactly.keys(x, part[rows], outputs, self.between)
            for key, at in zip(*(a.tolist() for a in np.unique(keys, return_index=True)), strict=True):
                if exactly.is_new(key):
                    yield int(part[rows[at]]), int(outputs[at])

    # ---- the verdict

    def verdict(self) -> Verdict:
        count = int(self.bounded.sum())
        if not count:
            reason = "no two secrets are at finite distance, so nothing is promised and nothing can be broken"
            return self._verdict("private", reason, None, scale=(0.0, 0.0), exact=ZERO)
        ruled_out = self.bounded & (self.largest > _RULED_OUT)
        if ruled_out.any():
            x, y = (int(i) for i in np.unravel_index(int(ruled_out.argmax()), ruled_out.shape))
            reason = (
                "an output that is possible under x rules x' out, at a finite distance; no scale makes that private"
            )
            return self._verdict("not private", reason, self._triple(x, y), scale=(np.inf, np.inf), exact=inf)
        try:
            found = self.decide(ONE)
        except UndecidedError as reason_:
            found = _Decision(unsettled=str(reason_))
        if found.broken is None and found.unsettled:
            worst = self._worst_ratio()
            return self._verdict("undecided", found.unsettled, worst, self._scale())
        if found.broken is not None:
            reason = "an output is more than e^{d(x → x')} times as likely under x as under x'"
            scale, exact = self._least_scale(found.broken)
            worst = self._worst_excess(found.broken)
            return self._verdict("not private", reason, worst, scale, exact)
        reason = "Pr[z | x] ≤ e^{d(x → x')} · Pr[z | x'] for every ordered pair and every output"
        if found.met is not None and not self.at_zero[found.met.x, found.met.y]:
            return self._verdict("private", reason, found.met, (1.0, 1.0), ONE, tight=True)
        scale, exact = self._least_scale(None)
        return self._verdict("private", reason, self._worst_excess(self._worst_ratio()), scale, exact)

    def _verdict(
        self,
        outcome: Outcome,
        reason: str,
        worst: _Triple | None,
        scale: Interval,
        exact: Real | None = None,
        *,
        tight: bool = False,
    ) -> Verdict:
        pair, output, allowed, ratio, excess = None, None, None, None, None
        if worst is not None:
            pair = self.matrix.inputs[worst.x], self.matrix.inputs[worst.y]
            output = self.matrix.outputs[worst.z]
            allowed = self.distances[int(self.between[worst.x, worst.y])]
            ratio = self._log_ratio(worst)
            excess = (0.0, 0.0) if tight else self._excess(outcome, ratio, worst)
        if exact is not None:
            scale = exact.bounds() if exact.rational is None else (float(exact),) * 2
        note = getattr(self.matrix, "note", "")
        count = int(self.bounded.sum())
        return Verdict(outcome, reason, count, pair, output, allowed, ratio, excess, scale, exact, tight, note)

    def _triple(self, x: int, y: int) -> _Triple:
        return _Triple(x, y, int(np.argmax(self.above[x] - self.below[y])))

    def _log_ratio(self, at: _Triple) -> Interval:
        codes = self.matrix.codes
        top, bottom = self.matrix.values[int(codes[at.x, at.z])], self.matrix.values[int(codes[at.y, at.z])]
        if not bottom:
            return np.inf, np.inf
        return enclosed_log(top, bottom)

    @vanishing
    def _excess(self, outcome: str, ratio: Interval, at: _Triple) -> Interval:
        """Enclose the largest excess of all: at least the worst triple's, at most the float pass's bound on any."""
        code = int(self.between[at.x, at.y])
        low, high = self.distances[code].bounds() if self.distances[code] else (0.0, 0.0)
        if ratio[0] == np.inf:
            return ratio
        error = self._error(self.radii, self.middles)
        largest = np.where(self.bounded, self.largest - self.middles[self.between], -np.inf).max()
        most = largest + error if error < np.inf else np.inf  # a distance that no float holds
        least = np.nextafter(ratio[0] - high, -np.inf)
        bounds = float(least), float(max(most, np.nextafter(ratio[1] - low, np.inf)))
        if outcome == "private":
            return min(bounds[0], 0.0), min(bounds[1], 0.0)
        return (max(bounds[0], 0.0), bounds[1]) if outcome == "not private" else bounds

    def _worst_excess(self, known: _Triple) -> _Triple:
        excess = np.where(self.bounded, self.largest - self.middles[self.between], -np.inf)
        x, y = (int(i) for i in np.unravel_index(int(excess.argmax()), excess.shape))
        error = self._error(self.radii, self.middles)
        return self._triple(x, y) if abs(excess[x, y]) > error else known

    # ---- the least scale

    def _worst_ratio(self) -> _Triple:
        """Return where log-ratio / distance is largest; where no distance is above 0, a pair at distance 0."""
        positive = self.bounded & ~self.at_zero
        ratios = np.where(self.bounded, -1.0, -np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):  # distances that floats take for 0
            np.divide(self.largest, self.middles[self.between], out=ratios, where=positive)
        ratios[np.isnan(ratios)] = -1.0
        x, y = (int(i) for i in np.unravel_index(int(ratios.argmax()), ratios.shape))
        return self._triple(x, y)

    @vanishing
    def _scale(self) -> Interval:
        """Enclose the least scale: ∞ where rows at distance 0 differ, exactly; else from the float pass alone."""
        alike = self._alike()
        if alike.broken is not None:
            return np.inf, np.inf
        error = self._error(self.radii, self.middles)
        positive = self.bounded & ~self.at_zero
        ratios, between = self.largest[positive], self.between[positive]
        # distances that floats hardly tell from 0, or do not hold
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            surely = (self.middles - self.radii)[between]
            least = ((ratios - error) / (self.middles + self.radii)[between]).max(initial=0.0)
            most = np.where(surely > 0, (ratios + error) / surely, np.inf).max(initial=0.0)
        if alike.unsettled:
            most = np.inf
        return float(max(np.nextafter(least, -np.inf), 0.0)), float(
            np.nextafter(most, np.inf) if positive.any() else most
        )

    def _alike(self) -> _Decision:
        """Decide whether secrets at distance 0 have equal rows: if not, no scale makes the mechanism private."""
        if not (self.bounded & self.at_zero).any():
            return _Decision()
        alone = tuple(d if d == 0 else inf for d in self.distances)
        try:
            return _Pairs(self.matrix, alone, self.between).decide(ONE)
        except UndecidedError as reason:
            return _Decision(unsettled=str(reason))

    def _least_scale(self, broken: _Triple | None) -> tuple[Interval, Real | None]:
        """Return the least c with c·d-privacy: guessed in closed form at the worst pair, then proved."""
        around = self._scale()
        if around[0] == np.inf or (broken is not None and self.at_zero[broken.x, broken.y]):
            return (np.inf, np.inf), inf
        worst = self._worst_ratio()
        for _ in range(4):  # floats may point at the wrong one of several pairs that are nearly as bad
            if self.at_zero[worst.x, worst.y]:  # unequal rows that only the exact numbers tell apart
                return ((0.0, 0.0), ZERO) if broken is None else ((np.inf, np.inf), inf)
            try:
                guess = self._quotient(worst)
                found = None if guess is None else self.decide(guess)
            except UndecidedError:
                return around, None
            if found is None or found.unsettled:
                return around, None
            if found.broken is None:
                return around, guess  # it is met at `worst`, whose quotient it is
            worst = found.broken
        return around, None

    def _quotient(self, at: _Triple) -> Real | None:
        """Return log-ratio / distance at a triple if it is rational or made of logarithms of rationals."""
        codes = self.matrix.codes
        top, bottom = self.matrix.values[int(codes[at.x, at.z])], self.matrix.values[int(codes[at.y, at.z])]
        if top.denominator == bottom.denominator:  # the usual case, and a much smaller quotient
            top, bottom = Weight(top.numerator), Weight(bottom.numerator)
        ratio = log(top / bottom) / self.distances[int(self.between[at.x, at.y])]
        atoms = [atom for _, several in ratio.terms for atom in several]
        simple = all(isinstance(atom, LogPrime) and atom.prime.bit_length() <= _SHORT for atom in atoms)
        return ratio if simple and len(atoms) <= _SIMPLE else None


_SHORT = 64
"""Bits of a prime in such a form."""

_SIMPLE = 8
"""Atoms up to which a closed form is worth proving: a knife edge is simple, the ratio of two floats is not."""


class _Sign:
    """The exact sign of ``Pr[z|x] − e^{d}·Pr[z|x']``, once for each combination of distinct values."""

    def __init__(self, matrix: Matrix, distances: list[Real]) -> None:
        self._matrix, self._distances = matrix, distances
        self._size = len(matrix.values), len(distances)
        # keys must not wrap: two combinations with one key would be looked at once
        self._kind = np.int64 if self._size[0] ** 2 * self._size[1] < 2**63 else object
        self._seen: set[int] = set()
        self._powers: dict[int, Weight] = {}

    def keys(self, x: int, y: NDArray[np.intp], z: NDArray[np.intp], between: NDArray[np.intp]) -> NDArray[Any]:
        """Return one integer for each combination (value at x, value at y, distance)."""
        codes = self._matrix.codes
        return cast(
            NDArray[Any],
            (codes[x, z].astype(self._kind) * self._size[0] + codes[y, z]) * self._size[1] + between[x, y],
        )

    def is_new(self, key: int) -> bool:
        """Return whether this combination has not been asked about before."""
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def __call__(self, x: int, y: int, z: int, distance: int) -> int:
        if distance not in self._powers:
            self._powers[distance] = exp(self._distances[distance])
        codes, values = self._matrix.codes, self._matrix.values
        return (values[int(codes[x, z])] - values[int(codes[y, z])] * self._powers[distance]).sign()
