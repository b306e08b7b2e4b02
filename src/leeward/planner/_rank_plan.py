# SPDX-License-Identifier: Apache-2.0
"""From a percentile and a notion to a percentile by rank, its price and how near it will be: before any data is touched.

Theorem. Let each of the public groups have its percentile named by `leeward.mechanism.RankSelection` at the rate r, with
noise of its own, from the numbers of the people in it. Let every step of the notion be one of these, at the cost beside it
or more, with p from 0 to 1 and M = max(p, 1 − p) ≥ 1/2:

    somebody comes to a group, or goes from one                          r·2M
    somebody's number becomes another, near or far, in the same group    r·2
    somebody goes from one group to another, with any number             r·4M

Then all that is named is private under the notion together: for all tables x, x' and all answers z, one a group,

    Pr[K(x) = z] ≤ e^{d(x → x')}·Pr[K(x') = z].

Proof. The noise of the groups is independent, so Pr[K(x) = z] is a product with a factor for each group, and depends on x
only through how many people have each number in it. A step touches the factors of the groups that the person is in before
or after it. In the first case that is one group, whose number of people m moves by 1, and at most one of the people below
and the people above a grid point with it: the loss of each point moves by at most M, up or down, so the largest move is at
most 2M above the least. In the second it is one group, m stays, and each of both terms of a loss moves by 1 at most: 2. In
the third case it is two groups, and each of them is touched as in the first: 4M. By the theorem of `NoisyMax` the factor of
a group changes by at most e^{r·range}, so the product changes by at most e to the cost of the step. The notion's distance
is the cheapest chain of its steps: the factors multiply along it, as the costs add up.

Several percentiles in one release, p = ["25", "50", "75"], are each named so, with noise of their own and all at the rate r;
those of a group are then put in ascending order, which is post-processing. The proof is the same, with a factor for each
group and percentile: in place of 2M stands J of `leeward.query._percentiles`, which is at most the sum of the single 2M, in
place of 2 stands 2 for each percentile, and 2J in place of 4M. One release of each, with ε divided among them, has the sum:
at the best division, one rate for all, that is the smaller rate ε/Σ2M. So one release of all is never worse, and better
where they lie on both sides of the median.

What is kept of ranks is kept in order too. The points z with at most k people strictly between z and the p_i-percentile are
those from some L_i to some U_i, and so are those with at most p_i·n + k people below and (1 − p_i)·n + k above; both ends
rise with p_i. If the i-th answer drawn lies in [L_i, U_i] for every i, then the first i answers are at most U_i, so the i-th
in order is, and in the same way it is at least L_i. Each of m misses with the chance c/m at most, so all of a group are kept
in order with the chance 1 − c.

What a step may do is derived as for noise on the percentile (`leeward.query._statistic`, `steps_of`): whoever replaces a
record may leave a group, go to another or be left without a number, unless the number of people is public; with several
groups, 4M ≥ 2 is then the dearest. Several rows of a person are one number first, by ``combine``. Where all numbers may
change at once, and where steps are changes of facts, nothing is derived and the plan is refused.

Noise on the percentile itself is private too, and fitted to how far one person moves it: over the whole range of the numbers
where somebody may come, go or change a number at will, and by one step where only near numbers are to pass for one another.
Noise on ranks is fitted to how many people one person moves, which is at most two, and does not grow with the range. Which
of the two is the better depends on how many people there are, which is private; see `leeward.planner._statistic_plan`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leeward.mechanism import RankSelection
from leeward.noise import Bits
from leeward.notion import Notion, refused_in_rows
from leeward.planner._accuracy import RankAccuracy
from leeward.planner._number_plan import Scale, in_order, statistic_told, steps_of
from leeward.planner._plan_of import PlanOf
from leeward.query._numeric import Percentile
from leeward.query._sensitivity import rank_rate
from leeward.query._statistic import DrawnFrom, Statistic

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RankPlan(PlanOf[Statistic]):
    """What a release of a percentile by rank will do, known before anything is spent.

    Attributes:
        mechanism: what names one grid point a group; of several percentiles the first.
    """

    mechanism: RankSelection

    @property
    def drawn_from(self) -> DrawnFrom:
        """What the mechanism draws from: people by group and grid point, where somebody is."""
        return "tally"

    @property
    def scale(self) -> Scale:
        """What a stored integer stands for: the position of a grid point."""
        assert self.query.values is not None
        return Scale(self.query.values.lower, self.query.values.step, 0, self.points - 1)

    @property
    def points(self) -> int:
        """How many points the public grid has."""
        assert self.query.values is not None
        return self.query.values.steps + 1

    @property
    def mechanisms(self) -> tuple[RankSelection, ...]:
        """What names one grid point a group, for each percentile: all at one rate."""
        return tuple(RankSelection(self.mechanism.rate, p) for p in self.query.ps) or (self.mechanism,)

    @property
    def percentiles(self) -> tuple[Percentile, ...]:
        """The question of each percentile."""
        assert isinstance(self.query.numeric, Percentile)
        return tuple(replace(self.query.numeric, p=p) for p in self.query.ps) or (self.query.numeric,)

    def lines(self) -> Iterable[str]:
        """Say in lines what is asked, what it costs, and how far answers are off."""
        return statistic_told(self.query, self.notion, self.accuracy())

    def draw(self, tally: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the position of the grid point named for each group and percentile: all that the ledger stores.

        Several percentiles of a group stand together, as they were drawn and not in order; shape (groups · percentiles,).

        Args:
            tally: one row for each group and grid point where somebody is, in this order: the place of the group, the
                position of the point, and how many people; shape (rows, 3).
            bits: the entropy source.
        """
        ends = np.searchsorted(tally[:, 0], np.arange(max(1, len(self.query.groups)) + 1))
        named = [
            mechanism.release_sparse(tally[first:end, 1], tally[first:end, 2], self.points, bits)
            for first, end in itertools.pairwise(ends.tolist())
            for mechanism in self.mechanisms
        ]
        return np.array(named, np.int64)

    def answers(self, drawn: NDArray[np.int64], keys: pa.Table) -> pa.Table:
        """Return the published table: one row a public key, with ``value``; several percentiles of a group ascend."""
        import pyarrow as pa

        columns: dict[str, Any] = {name: keys[name] for name in keys.column_names}
        return pa.table({**columns, "value": self.scale.published(in_order(self.query, drawn))})

    def accuracy(self) -> RankAccuracy:
        """Return how many people can be between an answer and the exact one, whatever the data are."""
        groups = max(1, len(self.query.groups))
        median, most, nearly_all, together = (
            self._cut(self.reach(missed))
            for missed in (Fraction(1, 2), Fraction(1, 20), Fraction(1, 100), Fraction(1, 20 * groups))
        )
        return RankAccuracy(
            counted=self.query.many,
            points=self.points,
            within_50_percent=median,
            within_95_percent=most,
            within_99_percent=nearly_all,
            all_within_95_percent=together,
        )

    def beyond(self) -> tuple[str, ...]:
        """Say that the least or greatest value, where it is asked for, may come out as a point beyond everybody's number.

        A point above all n numbers has n people below it. For the greatest value that is a rank error of n − (n − 1) = 1,
        and the greatest value itself has 0. None of these points can be preferred for being near: somebody who comes may
        have any of them as a number, and would move how near the others are as far as the grid goes. For p per cent their
        rank error is (100 − p) % of n − 1, and 1 more, and that of the best point is 1 at most. So they are further off than
        the noise lets an answer be, but with 5 % or less, where (100 − p) % of n are more than what it keeps and 1.
        """
        found, enough = list[str](), 100 * (self.reach(Fraction(1, 20)) + 1) + 1
        for p, name, side, instead in ((0, "least", "below", 1), (100, "greatest", "above", 99)):
            if any(one.p == p for one in self.percentiles):
                found.append(
                    f"The {name} value may come out as any point of the grid {side} all numbers: its rank error is larger by"
                    f" 1 at most, however far it lies. Of {enough:,} {self.query.many} or more the {instead} % point, asked"
                    f" for instead, lies {side} all numbers with probability at most 5 %"
                )
        return tuple(found)

    def reach(self, missed: Fraction) -> int:
        """Return how many people can be between, of all percentiles of a group, but with a probability of ``missed``."""
        each = missed / len(self.mechanisms)
        return max(mechanism.reach(self.points, 1 - each) for mechanism in self.mechanisms)

    def _cut(self, people: int) -> int:
        """Return a number of people between, but no more than can be there where their number is public."""
        known = self.query.people
        return people if known is None else min(people, max(one.most_between(known) for one in self.percentiles))


def plan_rank(query: Statistic, notion: Notion) -> RankPlan:
    """Plan the release of a percentile by rank: free, and private of nothing because it reads no data."""
    numeric = query.numeric
    with refused_in_rows(query.of_rows):
        rate = rank_rate(notion, query, steps_of(query, notion))
    assert isinstance(numeric, Percentile)
    return RankPlan(query, notion, RankSelection(rate, numeric.p))
