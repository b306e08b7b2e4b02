# SPDX-License-Identifier: Apache-2.0
"""Several percentiles of one list of numbers in one release: which, and how far one person moves the ranks of all of them.

Each is named by `leeward.mechanism.RankSelection` at one rate, with noise of its own. One who comes or goes costs less than
the sum of what that costs each percentile alone, because nobody's number lies on both sides of all of them at once.

Theorem. Let p_1, …, p_m be from 0 to 1, and M_i = max(p_i, 1 − p_i). Somebody who comes or goes moves the losses of the
grid points for p_i within a range of width R_i, where

    R_1 + … + R_m ≤ J = Σ M_i + max(Σ p_i, Σ (1 − p_i)).

Proof. Let somebody come with the number v to n people. The loss of the grid point z for p is the larger of
B(z) − p·(n − 1) and A(z) − (1 − p)·(n − 1), B(z) people below it and A(z) above. Of z > v the two terms move by 1 − p and
−(1 − p), of z < v by −p and p, of v by −p and −(1 − p): no loss rises by more than M. Which term is the larger is the
sign of

    f(z) = B(z) − A(z) − (2p − 1)·(n − 1),

which does not fall as z grows. If f(v) ≤ 0, the second term is the larger at all z < v, before and after (there f falls
by 2p), so these losses rise by p. Those of z > v fall by 1 − p at most, and so does that of v, whose second term was the
larger. All moves lie between −(1 − p) and M, hence R ≤ M + 1 − p. If f(v) ≥ 0, in the same way from the other side, R ≤ M
+ p. For n ≥ 1, f(v) does not rise with p. So R_i ≤ M_i + p_i for the first j of the ascending percentiles, and R_i ≤ M_i
+ 1 − p_i for the others. The sum of these bounds grows by 2·p_j − 1 from j − 1 to j: that rises with j, so the sum is
largest at j = 0 or j = m, where it is J. For n = 0 all losses are equal before, and 0 at v and 1 elsewhere after: R_i =
1, which is no more than either. Whoever goes takes the same step back, and has the same ranges.

Of one percentile J is 2M. For the quartiles it is 7/2 where the sum is 4, for the nine deciles 11 where it is 13; it is the
sum where all percentiles are on one side of the median. The sum of ranges attains it, by somebody beyond all others. So does
what two tables are told apart by, in a crowd that somebody joins. In one that somebody leaves, a numerical search over the
tables of up to three people, with stretches of up to 10⁴ grid points between them, found steps that need 2·max(Σp_i,
Σ(1 − p_i)), which is 3 for the quartiles, and none that needs more. That so little is enough is not proved, and J is used.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction

from leeward._plain import decimal, echo
from leeward.errors import SpecError
from leeward.exact._real import Exact
from leeward.notion import INSERT, WITHDRAW, Change
from leeward.query._public_values import rational


def ranks_of_several(ps: Sequence[Fraction], change: Change) -> Fraction:
    """Return how far one change moves the losses of grid points apart, in people, summed over several percentiles.

    J of the theorem where somebody comes or goes. Any other change of one number may cross all of them: 2 each.
    """
    if change not in {INSERT, WITHDRAW}:
        return Fraction(2 * len(ps))
    below, above = sum(ps), sum(100 - p for p in ps)
    return (sum(max(p, 100 - p) for p in ps) + max(below, above)) / Fraction(100)


def listed_percentiles(given: Sequence[Exact]) -> tuple[Fraction, ...]:
    """Return percentiles that are listed, ascending: 0 is the least value, 100 the greatest."""
    ps = tuple(rational(p, "p") for p in given)
    if not ps or any(low >= high for low, high in itertools.pairwise(ps)) or not 0 <= ps[0] <= ps[-1] <= 100:
        raise SpecError(
            f"p = {echo(list(given))}",
            "several percentiles ascend, from 0, the least value, to 100, the greatest",
            'Give, say, p = ["25", "50", "75"]',
        )
    return ps


def names_of(ps: Iterable[Fraction]) -> list[str]:
    """Return what percentiles are called: the median, the least or greatest value, or the point of so many per cent."""
    named = {Fraction(0): "least value", Fraction(50): "median", Fraction(100): "greatest value"}
    return [named.get(p, f"{decimal(p)} % point") for p in ps]
