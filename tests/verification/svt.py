"""The sparse vector technique and its published variants on integer answers, as exact distributions.

M. Lyu, D. Su, N. Li, *Understanding the Sparse Vector Technique for Differential Privacy* (2017), Figure 1, with two-sided
geometric noise for Laplace noise; the threshold is 0. The only infinite sum is over the threshold noise, and beyond the
answers every factor is a polynomial in e^{∓(rate)·noise}, so the sum is closed there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from leeward.exact import Real, Weight, exp, exp_minus
from leeward.exact._weight import weight, weighted_sum

BELOW, ABOVE = "below", "above"


@dataclass(frozen=True)
class Variant:
    """How much noise, where, and when it stops.

    Attributes:
        threshold: rate of the noise on the threshold; None for none.
        answer: rate of the noise on each answer; None for none.
        stop_after: answers above the threshold before it stops; None for never.
        numeric: publishes the very noisy answer that was compared, instead of "above".
    """

    threshold: Real | None
    answer: Real | None
    stop_after: int | None
    numeric: bool = False


def correct(epsilon: Real, c: int) -> Variant:
    """Algorithm 1: ε/2 for the threshold, ε/2 for the answers, of which c may be above."""
    return Variant(epsilon / 2, epsilon / 4 / c, c)


BROKEN: dict[str, Callable[[Real, int], Variant]] = {
    # Algorithm 3 (A. Roth's lecture notes, 2011): publishes the compared number itself.
    "the compared number is published": lambda e, c: Variant(e / 2, e / 2 / c, c, numeric=True),
    # Algorithm 4 (J. Lee and C. Clifton, 2014): noise on the answers does not grow with c.
    "answer noise without c": lambda e, c: Variant(e / 4, e * 3 / 4, c),
    # Algorithm 5 (B. Stoddard, Y. Chen, A. Machanavajjhala, 2014): no noise on the answers, no stop.
    "no answer noise": lambda e, c: Variant(e / 2, None, None),
    # Algorithm 6 (R. Chen, Q. Xiao, Y. Zhang, J. Xu, 2015): no stop.
    "no stop": lambda e, c: Variant(e / 2, e / 2, None),
    # The generalised private threshold testing of Y. Chen and A. Machanavajjhala (2015): no stop, any split of ε.
    "no stop, another split": lambda e, c: Variant(e / 4, e * 3 / 4, None),
    # The threshold in the clear: then every "below" is an answer that must be paid for.
    "no threshold noise": lambda e, c: Variant(None, e / 2, c),
}

_Polynomial = list[Weight]


def distribution(
    variant: Variant, answers: Sequence[int], numbers: Sequence[int] = ()
) -> dict[tuple[object, ...], Weight]:
    """Return the exact distribution of the output; with ``numeric``, numbers not listed are merged into "other"."""
    found: dict[tuple[object, ...], Weight] = {}
    for pattern in itertools.product((BELOW, ABOVE), repeat=len(answers)):
        shown, compared = _stop(pattern, variant.stop_after)
        if shown in found:
            continue
        if not variant.numeric or ABOVE not in shown:
            found[shown] = _chance(variant, answers[:compared], shown[:compared])
            continue
        last = shown.index(ABOVE)  # numeric variants are used with stop_after = 1
        for z in numbers:
            key = (*shown[:last], z, *shown[last + 1 :])
            found[key] = _chance(variant, answers[: last + 1], key[: last + 1])
        rest = _chance(variant, answers[:compared], shown[:compared])
        listed = weighted_sum((found[(*shown[:last], z, *shown[last + 1 :])], 1) for z in numbers)
        found[shown] = rest - listed
    return found


def _stop(pattern: tuple[str, ...], stop_after: int | None) -> tuple[tuple[object, ...], int]:
    above = 0
    for at, seen in enumerate(pattern):
        above += seen == ABOVE
        if above == stop_after:
            return (*pattern[: at + 1], *(None for _ in pattern[at + 1 :])), at + 1
    return pattern, len(pattern)


def event(variant: Variant, answers: Sequence[int], shown: Sequence[object]) -> dict[object, Weight]:
    """Return the probability of one output (its part up to the stop), all others merged: post-processing."""
    chance = _chance(variant, answers[: len(shown)], shown)
    return {"shown": chance, "other": 1 - chance}


def _chance(variant: Variant, answers: Sequence[int], shown: Sequence[object]) -> Weight:
    """Return Σ over the threshold noise r of Pr[r] · Π Pr[each comparison | r]."""
    steps = list(zip(answers, shown, strict=True))
    numbers = [z for z in shown if isinstance(z, int)]
    if variant.threshold is None:
        return _product(_step(variant, q, seen, 0) for q, seen in steps)
    reach = max((abs(v) for v in (*answers, *numbers)), default=0) + 1
    near = (
        (_pmf(variant.threshold, r) * _product(_step(variant, q, seen, r) for q, seen in steps), 1)
        for r in range(-reach, reach + 1)
    )
    return weighted_sum([*near, *((term, 1) for term in _far(variant, steps, reach + 1))])


def _pmf(rate: Real, k: int) -> Weight:
    w = exp_minus(rate)
    return (1 - w) / (1 + w) * exp_minus(rate * abs(k))


def _tail(rate: Real | None, k: int) -> Weight:
    """Pr[noise ≥ k]."""
    if rate is None:
        return weight(int(k <= 0))
    if k > 0:
        return exp_minus(rate * k) / (1 + exp_minus(rate))
    return 1 - exp_minus(rate * (1 - k)) / (1 + exp_minus(rate))


def _step(variant: Variant, q: int, seen: object, r: int) -> Weight:
    """Pr[this is seen for an answer q | threshold noise r]."""
    if isinstance(seen, int):
        assert variant.answer is not None
        return _pmf(variant.answer, seen - q) if seen >= r else weight(0)
    above = _tail(variant.answer, r - q)
    return above if seen == ABOVE else 1 - above


def _far(variant: Variant, steps: list[tuple[int, object]], start: int) -> list[Weight]:
    """The parts of the sum with |r| ≥ start: geometric series, one for each power of u = e^{−rate·|r|}."""
    assert variant.threshold is not None
    sides = []
    for side in (1, -1):
        total: _Polynomial = [weight(1)]
        for q, seen in steps:
            total = _multiply(total, _far_step(variant, q, seen, side))
        sides.append(total)
    a, b, terms = variant.threshold, variant.answer, []
    scale = (1 - exp_minus(a)) / (1 + exp_minus(a))
    for power, (high, low) in enumerate(itertools.zip_longest(*sides, fillvalue=weight(0))):
        rate = a if b is None else a + b * power
        terms.append((high + low) * scale * exp_minus(rate * start) / (1 - exp_minus(rate)))
    return terms


def _far_step(variant: Variant, q: int, seen: object, side: int) -> _Polynomial:
    if isinstance(seen, int):
        return [weight(0)] if side > 0 else [_pmf(variant.answer, seen - q)]  # type: ignore[arg-type]
    if variant.answer is None:
        return [weight(int((side < 0) is (seen == ABOVE)))]
    b = variant.answer
    surprising = exp(b * q if side > 0 else -(b * (1 + q))) / (1 + exp_minus(b))  # without the factor u
    return [weight(0), surprising] if (seen == ABOVE) is (side > 0) else [weight(1), -surprising]


def _multiply(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    product = [weight(0)] * (len(left) + len(right) - 1)
    for i, c in enumerate(left):
        for j, d in enumerate(right):
            product[i + j] = product[i + j] + c * d
    return product


def _product(factors: Iterable[Weight]) -> Weight:
    total = weight(1)
    for factor in factors:
        total = total * factor
    return total
