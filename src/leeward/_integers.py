# SPDX-License-Identifier: Apache-2.0
"""Whole numbers: the least for which something holds; and as products, with bounded work.

Factoring large integers takes years, finding common parts does not.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable

import flint

_EASY_BITS = 128
"""Numbers up to this size are factored in a blink; two unknown primes of 200 bits together would take days."""

MODULUS = sys.hash_info.modulus
"""The prime modulo which Python hashes rational numbers."""

_SMALL_PRIMES = tuple(p for p in range(2, 1000) if all(p % q for q in range(2, math.isqrt(p) + 1)))


def least(holds: Callable[[int], bool], first: int = 0) -> int:
    """Return the least whole number from ``first`` on for which something holds, as it does for all above."""
    step = 1
    while not holds(first + step - 1):
        step *= 2
    return least_between(holds, first + step // 2 - 1, first + step - 1)


def least_between(holds: Callable[[int], bool | None], low: int, high: int) -> int:
    """Return the least number above ``low``, for which something does not hold, up to ``high``, for which it does."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@functools.lru_cache(maxsize=4096)
def factors(number: int) -> tuple[tuple[int, int], ...]:
    """Write a positive integer as a product of powers: of primes, as far as bounded work finds them.

    What is left of a large number when small primes are divided out stays one factor, unless it is a square. So a form may
    have a factor that is not a prime, and one logarithm may have several forms: comparisons split them where they share a
    part (`coprime`).
    """
    found, rest = [], number
    if number.bit_length() > _EASY_BITS:
        for prime in _SMALL_PRIMES:
            power = 0
            while rest % prime == 0:
                rest, power = rest // prime, power + 1
            if power:
                found.append((prime, power))
    if rest.bit_length() <= _EASY_BITS:
        found += [(int(prime), int(power)) for prime, power in flint.fmpz(rest).factor()]
    else:
        power = 1
        while (root := math.isqrt(rest)) ** 2 == rest:
            rest, power = root, 2 * power
        found.append((rest, power))
    return tuple(found)


def is_factored(factor: int) -> bool:
    """Whether a factor that `factors` found is surely a prime."""
    return factor.bit_length() <= _EASY_BITS


@functools.lru_cache(maxsize=4096)
def additive(number: int) -> int:
    """Return a residue that is added where positive integers are multiplied, as a logarithm is, without factoring.

    It is Fermat's quotient (n^{P−1} − 1)/P modulo the prime P = `MODULUS`, for the part of n that P does not divide.
    """
    while number % MODULUS == 0:
        number //= MODULUS
    return (pow(number, MODULUS - 1, MODULUS**2) - 1) // MODULUS


def coprime(integers: set[int]) -> list[int]:
    """Return numbers above 1, no two with a common part, of whose powers all these integers are products."""
    base, left = list[int](), list(integers)
    while left:
        one = left.pop()
        other = next((n for n in base if math.gcd(n, one) > 1), None)
        if other is None:
            base.append(one)
        else:
            base.remove(other)
            common = math.gcd(one, other)
            left += [n for n in (common, one // common, other // common) if n > 1]
    return base
