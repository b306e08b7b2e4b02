# SPDX-License-Identifier: Apache-2.0
"""Coins of exactly known probability: Pr[True] = p for any exact real p, not for a float near it.

A coin compares a uniform real U with p. Thirty-two bits of U are compared with the exact ⌊2³²·p⌋; only if they are equal,
once in four thousand million coins, more bits of U are drawn and compared with more digits of p, as far as needed. So the
law is exact, and nearly every coin costs one word.

Machine-checked (docs/proved.md): `exact_coin_bounds`, `exact_coin_law`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import clipped, vanishing
from leeward.errors import InputError
from leeward.exact._real import Exact
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.noise._bits import Bits
from leeward.noise._digits import Enclosed, floor_and_rest, floor_digits

WIDTH: Final = 32
"""Bits of the first word of every coin."""

_MORE: Final = 64


def settle(number: Enclosed, prefix: int, width: int, bits: Bits) -> bool:
    """Return whether U < number, where ``prefix`` holds the first ``width`` bits of the uniform U in [0, 1).

    Draws more bits of U only while the digits of the number agree with it, and none where the number ends there.

    Raises:
        UndecidedError: if a digit of the number is not settled (see `leeward.noise._digits.floor_digits`).
    """
    while True:
        floor, more = floor_and_rest(number, width)
        if prefix != floor or not more:
            return prefix < floor
        prefix, width = prefix << _MORE | bits.integer(_MORE), width + _MORE


def compare(
    words: NDArray[np.uint32],
    low: NDArray[Any] | int,
    high: NDArray[Any] | int | None,
    exactly: Callable[[int], Enclosed],
    bits: Bits,
) -> NDArray[np.bool_]:
    """Return, for each word, whether the uniform real that begins with it is below its probability p.

    Args:
        words: the first 32 bits of each uniform, of any shape.
        low: a lower bound on ⌊2³²·p⌋ for each word (broadcast against the words).
        high: an upper bound on it, or None where ``low`` is the exact floor.
        exactly: gives p for a word's flat index; asked for only where the word does not settle the coin.
        bits: where further bits come from.
    """
    below = words < low
    unsettled = words == low if high is None else ~below & (words <= high)
    if np.count_nonzero(unsettled):
        for i in np.flatnonzero(unsettled).tolist():
            below.flat[i] = settle(exactly(i), int(words.flat[i]), WIDTH, bits)
    return below


class Coin:
    """A coin of exact probability p in [0, 1]; Pr[True] = p.

    ``Coin("1/3")``, ``Coin(exp_minus(x))`` for e^{−x}, ``Coin(1 - exp_minus(1))``.

    Raises:
        InputError: if p is not in [0, 1].
    """

    __slots__ = ("_floor", "probability")

    def __init__(self, probability: Weight | Exact) -> None:
        p = weight(probability)
        if p < 0 or p > 1:
            raise InputError(f"A coin of probability {float(p):.6g}", "it must lie in [0, 1]", "Check the sign")
        self.probability = p
        self._floor = floor_digits(p, WIDTH)

    @classmethod
    def minus(cls, exponent: Exact) -> Coin:
        """Return the coin of probability e^{−x} for x in [0, ∞]."""
        return cls(exp_minus(exponent))

    def flip(self, size: int, bits: Bits) -> NDArray[np.bool_]:
        """Return ``size`` independent flips. A coin of probability 0 or 1 draws nothing."""
        if self.probability.rational in (0, 1):
            return np.full(size, self.probability.rational == 1)
        words = np.empty(size, np.uint32)
        bits.fill(words)
        return compare(words, self._floor, None, lambda _: self.probability, bits)


def flip_enclosed(
    lower: NDArray[np.float64], upper: NDArray[np.float64], exactly: Callable[[int], Enclosed], bits: Bits
) -> NDArray[np.bool_]:
    """Flip one coin for each pair of floats that enclose its probability: exact coins at the speed of floats.

    Args:
        lower: floats with lower[i] ≤ p_i, shape (n,).
        upper: floats with p_i ≤ upper[i], shape (n,).
        exactly: gives p_i exactly; asked for only where the first 32 bits and the bounds do not settle coin i.
        bits: where the bits come from.

    Returns:
        Booleans of shape (n,), independent, with Pr[result[i]] = p_i.
    """
    words = np.empty(lower.shape, np.uint32)
    bits.fill(words)
    # Scaling by a power of two and flooring are exact in floats, so these are bounds on the exact floors.
    low, high = (np.floor(clipped(bound, 0.0, 1.0) * 2.0**WIDTH).astype(np.int64) for bound in (lower, upper))
    return compare(words, low, high, exactly, bits)


@vanishing
def flip_minus(exponents: NDArray[np.float64], exactly: Callable[[int], Enclosed], bits: Bits) -> NDArray[np.bool_]:
    """Flip the coin e^{−x} of each exponent x ≥ 0 that a float is near to.

    Args:
        exponents: floats x, shape (n,), each within a relative error of 2⁻⁴⁷ of the true exponent.
        exactly: gives e^{−x} of the true exponent.
        bits: where the bits come from.
    """
    chance = np.exp(-exponents)
    slack = chance * ((exponents + 1) * 2.0**-46)  # x moves e^{−x} by x·2⁻⁴⁷ of itself, and exp rounds
    return flip_enclosed(chance - slack, chance + slack, exactly, bits)
