# SPDX-License-Identifier: Apache-2.0
"""What a wrong guess costs the consumer of an answer: exact, on finitely many secrets and guesses.

A loss ℓ(x, w) is what guessing w costs when the secret is x. Universal optimality on the directed line holds for losses
that do not decrease as the guess moves away from the secret on either side: `LossMatrix.monotone`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leeward._plain import echo
from leeward.distance._directed import side_by_side
from leeward.errors import InputError, nearest
from leeward.exact._real import Exact, Real, exact, plainly, sqrt


def _moves(secret: Any, guess: Any) -> list[Fraction]:
    one, other = (x if isinstance(x, tuple | list) else (x,) for x in (secret, guess))
    try:
        return [Fraction(plainly(w)) - Fraction(plainly(x)) for x, w in zip(one, other, strict=True)]
    except (TypeError, ValueError):
        raise InputError(
            f"How far {guess!r} is from {secret!r}",
            "they are not numbers, nor tuples of as many numbers",
            'Take loss="zero-one", a function of (secret, guess), or a matrix',
        ) from None


def absolute(secret: Any, guess: Any) -> Fraction:
    """Return |w − x|; on tuples of numbers the sum over coordinates (Manhattan)."""
    return sum((abs(m) for m in _moves(secret, guess)), Fraction(0))


def squared(secret: Any, guess: Any) -> Fraction:
    """Return (w − x)²; on tuples the sum over coordinates."""
    return sum((m * m for m in _moves(secret, guess)), Fraction(0))


def euclidean(secret: Any, guess: Any) -> Real:
    """Return the Euclidean distance, an exact square root."""
    return sqrt(squared(secret, guess))


def zero_one(secret: Any, guess: Any) -> int:
    """Return 0 for the right guess, else 1."""
    return int(secret != guess)


def outside_ball(radius: Exact) -> Callable[[Any, Any], int]:
    """Return the loss that is 0 within a radius and 1 outside.

    Numbers: 1 iff |w − x| > radius. Tuples (tables): 1 iff more than ``radius`` records differ, the Hamming ball.
    """
    limit = exact(radius)

    def loss(secret: Any, guess: Any) -> int:
        if isinstance(secret, tuple):
            return int(limit < sum(x != w for x, w in side_by_side(secret, guess)))
        return int(limit < absolute(secret, guess))

    return loss


LOSSES: dict[str, Callable[[Any, Any], Exact]] = {
    "absolute": absolute,
    "squared": squared,
    "euclidean": euclidean,
    "zero-one": zero_one,
}
"""The losses that have a name."""


_LEAST, _MOST = Fraction(1, 10**300), Fraction(10**300)


@dataclass(frozen=True)
class LossMatrix:
    """A loss on finitely many secrets (rows) and guesses (columns), as codes into distinct exact values."""

    secrets: tuple[Any, ...]
    guesses: tuple[Any, ...]
    values: tuple[Real, ...]
    codes: NDArray[np.intp]

    def __call__(self, secret: Hashable, guess: Hashable) -> Real:
        """Return ℓ(secret, guess)."""
        return self.values[int(self.codes[self.secrets.index(secret), self.guesses.index(guess)])]

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the matrix rounded to floats.

        Raises:
            InputError: if a loss is so large or so small a number that floats lose it.
        """
        if any(v and not v.is_infinite and not _LEAST <= v <= _MOST for v in self.values):
            raise InputError(
                "A loss above 10^300, or below 10^-300 and not 0",
                "the floating-point numbers of the solver do not reach so far",
                "Give all losses in another unit: what is best does not depend on it",
            )
        return np.array([float(v) for v in self.values])[self.codes]

    @property
    def monotone(self) -> bool:
        """Whether the loss never decreases as the guess moves away from the secret on either side.

        For numbers as secrets and guesses. It may differ by secret and by side.
        """
        order = sorted(range(len(self.guesses)), key=lambda w: self.guesses[w])
        for x, secret in enumerate(self.secrets):
            above = [self.values[self.codes[x, w]] for w in order if self.guesses[w] >= secret]
            below = [self.values[self.codes[x, w]] for w in reversed(order) if self.guesses[w] <= secret]
            if any(b < a for side in (above, below) for a, b in itertools.pairwise(side)):
                return False
        return True


LossLike: TypeAlias = str | Callable[[Any, Any], Exact] | Sequence[Sequence[Exact]] | LossMatrix
"""A name from `LOSSES`, a function of (secret, guess), or a matrix with one row a secret and one column a guess."""


def read_loss(secrets: Sequence[Any], guesses: Sequence[Any], loss: LossLike) -> LossMatrix:
    """Return a loss as its exact matrix on the given secrets and guesses.

    Raises:
        InputError: if the name is unknown, the matrix has another size, or a loss is infinite or negative.
    """
    if isinstance(loss, LossMatrix):
        if loss.secrets != tuple(secrets) or loss.guesses != tuple(guesses):
            raise InputError("A loss for other secrets or guesses", "rows and columns must agree", "Build it for these")
        return loss
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise InputError(f"The loss {echo(loss)}", "no loss has that name", nearest(loss, LOSSES))
        loss = LOSSES[loss]
    if callable(loss):
        function = loss
        matrix: Sequence[Sequence[Exact]] = [[function(x, w) for w in guesses] for x in secrets]
    else:
        matrix = loss
    if len(matrix) != len(secrets) or any(len(row) != len(guesses) for row in matrix):
        raise InputError(
            "A loss matrix of another size",
            f"{len(secrets)} secrets and {len(guesses)} guesses need as many rows and columns",
            "Give one row a secret and one column a guess",
        )
    seen: dict[Real, int] = {}
    codes = np.array([[seen.setdefault(exact(v), len(seen)) for v in row] for row in matrix], dtype=np.intp)
    if any(v.is_infinite or v.sign() < 0 for v in seen):
        raise InputError(
            "A loss that is infinite or negative", "no average of it would mean anything", "Give numbers ≥ 0"
        )
    return LossMatrix(tuple(secrets), tuple(guesses), tuple(seen), codes)
