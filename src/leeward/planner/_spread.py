# SPDX-License-Identifier: Apache-2.0
"""A variance over a private number of people, from three noisy whole numbers: their rates, and how far it is off.

Let k be the steps of the range, and u = 2·steps − k the distance of a number from the middle in half steps: |u| ≤ k, and u
is even iff k is. Of each group three sums get noise: S = Σu, Q = Σ(2u² − k²) and the number n of people. In squared half
steps the variance is ``(Q/n + k²)/2 − (S/n)²``. Squares are taken from the middle of *their* range too, which halves what
one person adds.

**Theorem (price).** With noises of rates a on S and b on Q, the sums of one group are charged, per person:

* who comes or goes: ak + bk²;
* any other number: the greatest of a(k − v) + 2b(k² − v²) over v ≡ k (mod 2), |v| ≤ k;
* a number one step away: 2a + 8b(k − 1);
* from one group to another: twice the first.

No smaller charge would do, where people may come and go. (Where they only come, or only go, Q could have a larger rate
one way: that is not used.) *Proof.* |u| ≤ k and |2u² − k²| ≤ k², both reached by u = k. From u to v the charge is a|u − v|
+ 2b|u² − v²|; let |u| ≥ |v|, and u ≥ 0 by reflection: it rises in u, so u = k, and is concave in v, so its greatest is at
one of the two v next to −a/4b. For v = u − 2 the last factor is 4(u − 1), so again u = k. Noises are independent, so that
charges add up. ∎

The rates to one another, and the share of the number, are the best of a public list: those with the least bound on the
error at the worst (below), to the first order. That is a choice between private mechanisms, made from public things.

**Theorem (error).** Let X, Z, Y be the noises of S, Q and n. If |X| ≤ x, |Z| ≤ z, |Y| ≤ y and n + Y ≥ n₀ ≥ 1, the variance
is off by at most ``(z/2 + 2kx + 3k²y/2)/n₀ + ((x + ky)/n₀)²`` squared half steps. *Proof.* With the mean μ and the mean
square q, and D = (X − μY)/(n + Y), it is off by (Z/2 − (q − k²/2)Y)/(n + Y) − 2μD − D² = (Z/2 − 2μX + (2μ² − q +
k²/2)Y)/(n + Y) − D². There |μ| ≤ k and μ² ≤ q ≤ k², so the last factor of Y is from −k²/2 to 3k²/2. ∎ Each of the three
bounds is left with a probability of one sixtieth at most, so all hold with 95 %.

What is published says more: S, Q and n are in a box around the noisy ones with that probability, and the variance is
between its least and its greatest on that box (`between`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from leeward.distance import Line
from leeward.exact._real import Real
from leeward.notion import Notion
from leeward.notion._notion import Step
from leeward.planner._sums import Far, shared
from leeward.query._statistic import Statistic

EACH = 1 - 0.05 / 3
"""The chance with which each of three noises is to stay within its bound, so that all do with 95 %."""

_TO_ONE_ANOTHER = tuple(map(Fraction, ("1", "3/2", "2", "3", "4", "6")))
_SHARES = tuple(map(Fraction, ("1/2", "5/8", "3/4", "7/8")))


@dataclass(frozen=True)
class Reach:
    """How far the noises reach with 95 % together.

    Attributes:
        sums: of the sum, either way.
        squares: of the sum of squares.
        up: of the number of people, upwards.
        down: downwards.
    """

    sums: int
    squares: int
    up: int
    down: int


def three_rates(query: Statistic, notion: Notion, steps: Sequence[Step]) -> tuple[Real, Real, Line]:
    """Return the rates of the sum, of the sum of squares, and of the number of people."""
    assert query.values is not None
    k = query.values.steps
    tried = []
    for times, share in product(_TO_ONE_ANOTHER, _SHARES):
        rate, number = shared(query, notion, steps, far_at(k, times * k), share)
        tried.append((rate * times * k, rate, number))
    return min(tried, key=lambda rates: _at_worst(k, *rates))


def far_at(k: int, times: Fraction) -> Far:
    """Return how far one person moves the sums in units of b, where a = times·b."""
    turn = -times / 4  # where the charge from k to v is greatest
    lowest = k - 2 * int((k - max(turn, Fraction(-k))) / 2)
    near = {v for v in (lowest, lowest - 2) if -k <= v <= k}
    within = max(times * (k - v) + 2 * (k * k - v * v) for v in near)
    return Far(times * k + k * k, within, 2 * times + 8 * (k - 1))


def error_at(people: int, k: int, reach: Reach) -> float:
    """Return the bound of the theorem with so many people, in squared half steps."""
    least = people - reach.down
    if least < 1:
        return float(k * k)
    y = max(reach.up, reach.down)
    first = (reach.squares / 2 + 2 * k * reach.sums + 1.5 * k * k * y) / least
    return min(first + ((reach.sums + k * y) / least) ** 2, float(k * k))


def found(sums: int, squares: int, people: int, k: int) -> Fraction:
    """Return the variance that follows from three numbers, in squared half steps; 0 where nobody seems to be there."""
    if people < 1:
        return Fraction(0)
    return Fraction(squares, 2 * people) + Fraction(k * k, 2) - Fraction(sums, people) ** 2


def between(sums: int, squares: int, people: int, k: int, reach: Reach) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest variance on the box around three noisy numbers, in squared half steps.

    In t = 1/n both ends are ct + k²/2 − (mt)², concave: the least is at an end of t's interval, the greatest there or at
    t = c/2m². Where there may be nobody, everything is possible.
    """
    whole = Fraction(0), Fraction(k * k)
    fewest = people - reach.up
    if fewest < 1:
        return whole
    ends = Fraction(1, people + reach.down), Fraction(1, fewest)

    def at(c: Fraction, m: int, t: Fraction) -> Fraction:
        return c * t + Fraction(k * k, 2) - (m * t) ** 2

    high, low = Fraction(squares + reach.squares, 2), Fraction(squares - reach.squares, 2)
    nearest, furthest = max(0, abs(sums) - reach.sums), abs(sums) + reach.sums
    turn = [] if not nearest else [min(max(high / (2 * nearest**2), ends[0]), ends[1])]
    greatest = min(whole[1], max(at(high, nearest, t) for t in (*ends, *turn)))
    least = max(whole[0], min(at(low, furthest, t) for t in ends))
    return (least, greatest) if least <= greatest else whole


def _at_worst(k: int, sums: Real, squares: Real, number: Line) -> float:
    """Return the bound on the error to the first order, but for a factor."""
    people = min(float(number.rise), float(number.fall))
    return 1 / (2 * float(squares)) + 2 * k / float(sums) + 1.5 * k * k / people
