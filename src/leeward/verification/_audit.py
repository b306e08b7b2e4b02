# SPDX-License-Identifier: Apache-2.0
"""What samples alone can show against a black box: a lower bound on its log-ratio, at a stated confidence.

An audit can refute a claim of privacy, never prove one. Half of the samples choose an event Z that looks bad for the
mechanism; the other half, which had no part in the choice, bounds Pr[Z | x] from below and Pr[Z | x'] from above (C.
Clopper and E. Pearson, *The use of confidence or fiducial limits*, 1934). So the confidence holds whatever was tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional
from leeward._taught import takes, taught
from leeward.errors import InputError
from leeward.exact._real import Exact, exact

_THRESHOLDS = 200
"""Most thresholds tried on each number of an output, in each direction."""

_MOST_SAMPLES = 10**9
_OFTEN = 10
"""An output joins an event only if the choosing samples for x showed it this often."""


@dataclass(frozen=True)
class Audit:
    """A lower bound on ln(Pr[M(x) ∈ Z] / Pr[M(x') ∈ Z]) for one ordered pair.

    Attributes:
        lower_bound: the bound, at least 0; holds with the stated confidence.
        confidence: the probability, over the samples, with which such a bound is right.
        event: Z in words.
        hits: how many of ``tests`` fresh outputs for x fell into Z.
        hits_prime: the same for x'.
        tests: outputs for each secret that did not choose Z.
    """

    lower_bound: float
    confidence: float
    event: str
    hits: int
    hits_prime: int
    tests: int

    def refutes(self, allowed: Exact) -> bool:
        """Return whether the samples contradict ``Pr[Z | x] ≤ e^d · Pr[Z | x']`` for d = ``allowed``."""
        number = exact(allowed)
        return not number.is_infinite and self.lower_bound > number.bounds()[1]

    def __str__(self) -> str:
        return (
            f"log-ratio at least {self.lower_bound:.4g} with confidence {self.confidence:.6g}: {self.event} in "
            f"{self.hits:,} of {self.tests:,} outputs for x, {self.hits_prime:,} for x'"
        )


@taught
def audit(
    black_box: Callable[..., Any],
    x: object,
    x_prime: object,
    *,
    samples: int = 200_000,
    confidence: float = 0.999,
    batched: bool = False,
) -> Audit:
    """Return a lower bound on a black box's log-ratio for the ordered pair (x → x'), from samples.

    Args:
        black_box: called as ``black_box(secret)`` for one output: a number, a hashable, or an array of numbers.
        x: the truth.
        x_prime: the secret it is passed off as. The other direction is another audit.
        samples: outputs drawn for each of the two.
        confidence: the probability with which the bound is right.
        batched: call ``black_box(secret, n)`` instead, for n independent outputs (a sequence, or an array whose first axis
            is n): much faster.

    Raises:
        InputError: for fewer than 100 samples, a confidence outside (0, 1), or a mechanism in place of a function.
    """
    if not callable(black_box) or not takes(black_box, 2 if batched else 1):
        raise InputError(
            f"An audit of a {type(black_box).__name__}",
            "a black box is a function that takes a secret and returns an output",
            "Give mechanism.release, or `lambda x, n: mechanism.release(np.full(n, x))` with batched=True",
        )
    if samples < 100 or not 0 < confidence < 1:
        raise InputError(f"An audit of {samples} samples at {confidence}", "it shows nothing", "Give at least 100")
    if samples > _MOST_SAMPLES:
        raise InputError(f"An audit of more than {_MOST_SAMPLES:,} samples", "it would take days", "Give fewer")
    half = samples // 2
    first, second = (_draw(black_box, secret, 2 * half, batched) for secret in (x, x_prime))
    outputs, columns = _describe(first + second)
    own, other = slice(0, 2 * half), slice(2 * half, None)
    risk = (1 - confidence) / 2  # shared by the two bounds
    everything = np.ones(len(outputs), dtype=np.bool_)
    best: tuple[float, str, NDArray[np.bool_]] = 0.0, "any output (nothing looked worse)", everything
    for name, event in _events(outputs, columns, half):
        bound = _bound(int(event[own][:half].sum()), int(event[other][:half].sum()), half, risk)
        if bound > best[0]:
            best = bound, name, event
    _, name, event = best
    hits, hits_prime = int(event[own][half:].sum()), int(event[other][half:].sum())
    return Audit(max(_bound(hits, hits_prime, half, risk), 0.0), confidence, name, hits, hits_prime, half)


def _draw(black_box: Callable[..., Any], secret: Any, size: int, batched: bool) -> list[Any]:
    drawn = black_box(secret, size) if batched else (black_box(secret) for _ in range(size))
    outputs = [_plain(z) for z in drawn]
    if len(outputs) != size:
        raise InputError("A batch of another size", f"{size} outputs were asked for", "Return one for each")
    return outputs


def _plain(output: Any) -> Any:
    if isinstance(output, np.ndarray):
        return output.item() if output.ndim == 0 else tuple(output.ravel().tolist())
    return output.item() if isinstance(output, np.generic) else output


def _describe(outputs: list[Any]) -> tuple[list[Any], list[NDArray[np.float64]]]:
    """Return the outputs, and their numbers column by column where all have the same shape."""
    rows = [z if isinstance(z, tuple) else (z,) for z in outputs]
    regular = all(len(row) == len(rows[0]) and all(isinstance(e, int | float) for e in row) for row in rows)
    return outputs, list(np.array(rows, dtype=np.float64).T) if regular else []


def _events(
    outputs: list[Any], columns: list[NDArray[np.float64]], half: int
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield events to try; they may look at the first half of each secret's outputs only."""
    choosing = np.zeros(4 * half, dtype=np.bool_)
    choosing[:half] = choosing[2 * half : 3 * half] = True
    seen: dict[Any, int] = {}
    codes = np.array([seen.setdefault(z, len(seen)) for z in outputs])
    counts = np.array([np.bincount(codes[s : s + half], minlength=len(seen)) for s in (0, 2 * half)])
    ratio = (counts[0] + 0.5) / (counts[1] + 0.5)
    known = np.flatnonzero(counts[0] >= _OFTEN)  # rare outputs look bad by chance, all together
    order = known[np.argsort(-ratio[known], kind="stable")]  # the worst sets collect the worst outputs (Neyman–Pearson)
    names, rank = list(seen), np.full(len(seen), len(order))
    rank[order] = np.arange(len(order))
    places = rank[codes]
    for size in _few(range(1, len(order) + 1)):
        shown = ", ".join(repr(names[c]) for c in order[: min(size, 3)].tolist())
        yield f"output in {{{shown}{', …' if size > 3 else ''}}} ({size} outputs)", places < size
    for column, numbers in enumerate(columns):
        where = f"number {column} of the output" if len(columns) > 1 else "output"
        for threshold in _few(np.unique(numbers[choosing]).tolist()):
            yield f"{where} ≥ {threshold:g}", numbers >= threshold
            yield f"{where} ≤ {threshold:g}", numbers <= threshold


def _few(candidates: Iterable[Any]) -> list[Any]:
    several = list(candidates)
    places = np.unique(np.linspace(0, len(several) - 1, min(len(several), _THRESHOLDS)).astype(int))
    return [several[i] for i in places.tolist()]


def _bound(hits: int, hits_prime: int, tests: int, risk: float) -> float:
    """Return the confident lower bound on ln(p / p'), each side wrong with probability at most ``risk``."""
    betaincinv = optional("scipy.special", "An audit").betaincinv
    if not hits:
        return -math.inf
    low = float(betaincinv(hits, tests - hits + 1, risk))
    high = 1.0 if hits_prime == tests else float(betaincinv(hits_prime + 1, tests - hits_prime, 1 - risk))
    return math.log(low / high)
