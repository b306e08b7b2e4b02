# SPDX-License-Identifier: Apache-2.0
"""From a wished-for accuracy to ε: the least that reaches it, before anything is spent.

A directed distance says how rise and fall relate (`Line`); only its scale is open. Errors shrink as the scale grows, and so
does the chance that *safe* is said where it is never wrong: the least multiple of a public step that meets such a wish is
found by bisection on exact comparisons. Where *safe* can be wrong, a larger scale may be worse for a while: then
`leeward.mechanism._least_rate` finds the least. What is returned truly meets the wish, and no smaller multiple does.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from leeward._integers import least_between
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, LowUtilityError
from leeward.exact._real import Exact, exact, integer
from leeward.exact._weight import Weight, weight
from leeward.mechanism._geometric import Geometric
from leeward.mechanism._least_rate import SafeWish
from leeward.mechanism._threshold_rule import sanitizer

_MOST_STEPS = 1 << 60
_MOST_RATE = 10_000  # noise of a greater rate is 0, but once in e^10,000 draws
"""Steps tried before a wish is called unreachable."""


@taught
def rate_for(
    line: Line,
    *,
    expected_error: Exact | None = None,
    within: int | None = None,
    safe: tuple[int, int] | None = None,
    probability: Exact | None = None,
    error_at_most: Exact | None = None,
    step: Exact = "0.001",
) -> Fraction:
    """Return the least c, a multiple of ``step``, for which ``Geometric(line.scale(c))`` is accurate enough.

    For ``Line(inf, 1)`` c is ε itself. Give exactly one wish:

    * ``expected_error="2"``: E|error| ≤ 2, in grid steps;
    * ``within=3, probability="0.95"``: P(|error| ≤ 3) ≥ 0.95;
    * ``safe=(0, 2), probability="0.9"``: a count of 0 is called *safe* (at most 2) with probability at least 0.9;
      ``error_at_most`` as for `sanitizer`.

    Raises:
        InputError: if not exactly one wish is given, or it has no meaning.
        LowUtilityError: if no reachable c meets it.
    """
    if sum(wish is not None for wish in (expected_error, within, safe)) != 1:
        raise InputError(
            "rate_for with no goal, or with several",
            "one rate is solved for one goal",
            "Give expected_error, or within and probability, or safe and probability",
        )
    if (probability is None) != (expected_error is not None):
        raise InputError(
            "rate_for with a probability where none belongs, or without one",
            "within and safe need it, expected_error has none",
            'Give, say, within=3, probability="0.95"',
        )
    if safe is not None and error_at_most is not None and not line.rise.is_infinite:
        count, at_most = _below_unsafe(safe)
        unit, alpha = _unit(step), _probability(error_at_most)
        sanitizer(Geometric(line).law, at_most, error_at_most)  # refuses what it refuses
        wish = SafeWish(line, at_most + 1 - count, _probability(probability), alpha, unit, int(_MOST_RATE / unit))
        return wish.least() * unit
    return least_multiple(_meets(line, expected_error, within, safe, probability, error_at_most), step, _MOST_RATE)


def _meets(
    line: Line,
    expected_error: Exact | None,
    within: int | None,
    safe: tuple[int, int] | None,
    probability: Exact | None,
    error_at_most: Exact | None,
) -> Callable[[Fraction], bool]:
    if expected_error is not None:
        most = weight(expected_error)
        if most <= 0:
            raise InputError(f"expected_error = {expected_error}", "noise has some error", "Give a number above 0")
        return lambda c: Geometric(line.scale(c)).expected_error() <= most
    least = _probability(probability)
    if within is not None:
        within = integer(within, "within")
        if within < 0:
            raise InputError(f"within = {within}", "no error is that small", "Give at least 0")
        return lambda c: Geometric(line.scale(c)).accuracy().within(within) >= least
    assert safe is not None
    count, at_most = _below_unsafe(safe)

    def said(c: Fraction) -> bool:
        law = Geometric(line.scale(c)).law
        return sanitizer(law, at_most, error_at_most).probability(count) >= least

    return said


def _below_unsafe(safe: tuple[int, int]) -> tuple[int, int]:
    count, at_most = (integer(number, "safe") for number in safe)
    if count > at_most:
        raise InputError(
            f"safe = ({count}, {at_most})", "such a count should not be called safe", "Give a count of at most t"
        )
    return count, at_most


def _probability(given: Exact | None) -> Weight:
    p = exact(given if given is not None else 1)
    if not 0 < p < 1:
        raise InputError(f"probability = {given}", "it must lie strictly between 0 and 1", 'Give, say, "0.95"')
    return weight(p)


def least_multiple(meets: Callable[[Fraction], bool], step: Exact, most: int = _MOST_STEPS) -> Fraction:
    """Return the least positive multiple of ``step`` that meets a wish which, once met, stays met.

    Raises:
        InputError: if the step is not a rational above 0.
        LowUtilityError: if 2⁶⁰ steps, or multiples up to ``most``, are not enough.
    """
    unit = _unit(step)
    high = 1
    while not meets(high * unit):
        high *= 2
        if high > _MOST_STEPS or high * unit > most:
            raise LowUtilityError("That accuracy", "no rate that noise can have reaches it", "Ask for a little less")
    return least_between(lambda steps: meets(steps * unit), high // 2, high) * unit  # not met at half, or that is 0


def _unit(step: Exact) -> Fraction:
    unit = exact(step).rational
    if unit is None or unit <= 0:
        raise InputError(f"step = {step}", "multiples of it are tried one by one", 'Give a rational, such as "0.001"')
    return unit
