# SPDX-License-Identifier: Apache-2.0
"""From a question for a name and a notion to noise, its price and how good the name is: before any data is touched.

Theorem. Let K name one of n public keys by `leeward.mechanism.NoisyMax` at a rate, from the counts or from their negatives.
Let every step x → x' of the notion raise no count by more than r and lower none by more than f, and let rate·(r + f) be at
most the cost of the step. Then K is private under the notion: for every name i and all tables x, x',

    Pr[K(x) = i] ≤ e^{d(x → x')}·Pr[K(x') = i].

Proof. Along one step the differences δ of the counts have max δ − min δ ≤ r + f, and so have their negatives. By the theorem
of `NoisyMax`, Pr[i] then changes by a factor of at most e^{rate·(r + f)}, at most e to the cost of the step. The notion's
distance is the cheapest chain of such steps: the factors multiply along it, as the costs add up.

Assumed: the notion is what its steps generate (checked), a person is one id, and the keys, the window and the filter do not
depend on the data. How many counts a step moves does not matter, so nobody's places need a bound. Where counts go one way
along each step, r + f = 1 and the rate is ε; where a step may move a person from one to another, it is ε/2.

Noise on all counts, and naming the largest noisy one, is private too, but pays for every count that one step moves: ε/k
where a person is at up to k places, and ε/(2k) where a step may replace them. Its noise knows the side that is protected:
where it only lowers counts, the largest stands out among any number of others, and with few places a person that is better.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import whole
from leeward.mechanism import NoisyMax
from leeward.noise import Bits
from leeward.notion import Notion, refused_in_rows
from leeward.planner._accuracy import SelectionAccuracy
from leeward.planner._number_plan import NumberPlan, steps_of
from leeward.planner._plan import Plan
from leeward.planner._plan_of import PlanOf
from leeward.planner._rank_plan import RankPlan
from leeward.planner._unlisted_plan import UnlistedPlan
from leeward.query import CountVisitors, Selection
from leeward.query._sensitivity import rate_between

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class SelectionPlan(PlanOf[Selection]):
    """What a release of one name will do, known before anything is spent.

    Attributes:
        mechanism: what names one key.
        places: how many names there are; None if that is not known.
    """

    mechanism: NoisyMax
    places: int | None = None

    def listing(self, places: int | None) -> SelectionPlan:
        """Return the plan for so many public keys; None: it is not known."""
        return replace(self, places=None if places is None else whole(places, "places"))

    def draw(self, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the position of the key that is named, shape (1,): all that the ledger stores, whatever the counts."""
        return self.mechanism.release(counts if self.query.which == "busiest" else -counts, bits)

    def answers(self, drawn: NDArray[np.int64], keys: pa.Table) -> pa.Table:
        """Return the published table: the one row of the public list that is named."""
        named = keys.take([int(drawn[0])])
        columns = [name for name in named.column_names if name not in ("latitude", "longitude")]
        return named.select(columns)

    def accuracy(self, options: int | None = None) -> SelectionAccuracy:
        """Return how far the named one can be from the right one, whatever the counts are.

        Args:
            options: how many names there are, where the plan does not know.

        Raises:
            InputError: it is not known how many names there are.
        """
        known = self.places or options
        if known is None:
            raise InputError(
                "How good a name will be, of a list of unknown length",
                "it depends on how many names there are",
                "Give accuracy(options), or plan.listing(places)",
            )
        median, most, nearly_all = (self.mechanism.within(known, chance) for chance in ("0.5", "0.95", "0.99"))
        return SelectionAccuracy(
            options=known, within_50_percent=median, within_95_percent=most, within_99_percent=nearly_all
        )

    def lines(self) -> Iterable[str]:
        """Say in lines what is asked, what it costs, and how good the name will be."""
        query = self.query
        lists = [self.places] if self.places else [100, 1_000, 10_000]
        found = [(n, self.accuracy(n).within_95_percent) for n in lists]
        than = "fewer" if query.which == "busiest" else "more"
        how = f", {query.counted_how}," if query.counted_how else ""
        return [
            f"the {query.which} {query.noun}, named by noisy max of rate {self.mechanism.rate} under {self.notion},"
            f" price {self.price}",
            f"with probability at least 95 % the named {query.noun} has",
            *(f"  at most {k:,} {than} {query.many}{how} than the {query.which} of {n:,}" for n, k in found),
        ]


AnyPlan: TypeAlias = Plan | NumberPlan | RankPlan | SelectionPlan | UnlistedPlan
"""A plan that `leeward.release` carries out."""


def plan_selection(query: Selection, notion: Notion) -> SelectionPlan:
    """Plan the release of a name: free, and private of nothing because it reads no data."""
    counts = query.counts
    try:
        with refused_in_rows(query.of_rows):
            rate = rate_between(notion, counts, steps_of(counts, notion))
    except NotPrivateError as refused:
        if isinstance(counts, CountVisitors) and counts.truncates:
            # refused without the bound too, or else that is the way out
            plan_selection(replace(query, counts=replace(counts, places_per_person=None, if_more="refuse")), notion)
            raise NotPrivateError(
                refused.given,
                "keeping only some places of a person is not monotone: without one visit, another place's count can rise",
                "Leave places_per_person and if_more out: naming a place needs no bound",
            ) from None
        raise
    return SelectionPlan(query, notion, NoisyMax(rate), query.options)
