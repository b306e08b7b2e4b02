# SPDX-License-Identifier: Apache-2.0
"""A tree of totals of one series: every hour, every day and the month, each with noise of its own.

The readings of a series are cut into spans, level by level, and each span of a level lies in one of the next wider level. A
node is the total of a span. A reading that moves by x moves one node of each level by x, so if the nodes of level l get
two-sided geometric noise of rate r_l, any two series are told apart by e^(Σ_l r_l·Σ_v |t_v − t'_v|) at most, and

    Σ_l r_l · Σ_v |t_v − t'_v|  ≤  (Σ_l r_l) · d_1,

with equality where all readings move the same way: that is the least price there is (Chatzikokolakis et al., Broadening the
Scope of Differential Privacy Using Metrics, Facts 5 and 6: a query of sensitivity Δ costs Δ, and answers add). With shares
s_l of ε, Σ_l s_l = 1:

* ε·d_1, ``"manhattan"``: r_l = s_l·ε;
* ε·d_∞ for each span of n readings at most, ``"maximum"``: r_l = s_l·ε/n, because d_1 ≤ n·d_∞ on it;
* ε·d_h, ``"hamming"``: r_l = s_l·ε/range.

So a tree costs what one total does, and its levels share that. (Hay, Rastogi, Miklau, Suciu, Boosting the Accuracy of
Differentially Private Histograms Through Consistency, 2010, publish such trees of counts; `leeward.mechanism._consistent` is
their second step.)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._taught import taught
from leeward.distance import Derived, DirectedDistance, Line
from leeward.distance._directed import side_by_side
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, plainly, whole
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import Geometric, integers
from leeward.mechanism._series import Between, SeriesMechanism, SeriesPrice
from leeward.noise import Bits, SystemBits

_ALL: Final = exact(1)


@taught
class TreeMechanism:
    """Exact noise on a tree of totals.

    Args:
        between: which distance ε is about.
        epsilon: ε for each unit of the answer, exact; for d_h, for each reading.
        levels: the spans of each level, the narrowest level first: after how many readings each span stops, rising. All end
            after the last reading, and the spans of a wider level stop where some of the narrower one do.
        spans: where the spans stop whose readings d_∞ lets move together; they matter for d_∞ only.
        shares: what part of ε each level gets, exact, 1 together; None for equal parts.
        step: the grid step, in units of the answer.
        width: the public range of one reading, in units of the answer; needed for d_h.

    Attributes:
        laws: the mechanism of a node of each level: its exact probabilities, and its accuracy.
        starts: for each level but the narrowest, the number of the first node below each node.

    Raises:
        InputError: for spans that are no tree, or shares that are not those of all of ε.
    """

    def __init__(
        self,
        between: Between,
        epsilon: Exact,
        *,
        levels: Sequence[Sequence[int]],
        spans: Sequence[int],
        shares: Sequence[Exact] | None = None,
        step: Exact = 1,
        width: Exact | None = None,
    ) -> None:
        self.levels = tuple(_stops(level) for level in levels)
        self.spans = _stops(spans)
        if not self.levels or len({level[-1] for level in (*self.levels, self.spans)}) != 1:
            raise InputError("Levels that end apart", "all are about the same readings", "Give each level all readings")
        if any(not set(wide) <= set(narrow) for narrow, wide in itertools.pairwise(self.levels)):
            raise InputError(
                "Levels that are no tree",
                "a span of a wider level is made of whole spans of the narrower one",
                "Give the narrowest level first, and spans that stop where spans below them do",
            )
        self.shares = _shares(shares, len(self.levels))
        longest = int(np.diff(self.spans, prepend=0).max())
        self._series = SeriesMechanism(between, epsilon, window=longest, noise="independent", step=step, width=width)
        whole_rate = self._series.total(longest).line.rise
        rates = [whole_rate * share for share in self.shares]
        self.laws = tuple(Geometric(Line(rate, rate), step=self._series.step) for rate in rates)
        self.starts = tuple(
            np.searchsorted(narrow, [0, *wide[:-1]], side="right") for narrow, wide in itertools.pairwise(self.levels)
        )

    @property
    def rates(self) -> tuple[Real, ...]:
        """ε for each unit that a node moves, of each level."""
        return tuple(law.line.rise for law in self.laws)

    @property
    def price(self) -> SeriesPrice:
        """The exact cost in each distance; that of a window is of the longest span."""
        rate = sum(self.rates, start=ZERO)
        return SeriesPrice(rate, rate * self._series.window, rate * self.levels[0][-1])

    @property
    def distance(self) -> DirectedDistance[tuple[int, ...]]:
        """The distance between two series, in steps, that ε is about: it adds over the spans."""
        each, kind = self._series.epsilon * (self._series.step if self._series.kind.by_amount else 1), self._series.kind
        cuts = list(itertools.pairwise((0, *self.spans)))

        def between(x: tuple[int, ...], y: tuple[int, ...]) -> Real:
            moves = [abs(plainly(b) - plainly(a)) for a, b in side_by_side(x, y)]
            return each * sum(kind.moved(moves[first:stop]) for first, stop in cuts)

        return Derived(kind.symbol, between)

    def totals(self, narrowest: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the totals of all levels, in steps, from those of the narrowest: shapes (…, nodes)."""
        made = [integers(narrowest)]
        for starts in self.starts:
            made.append(np.add.reduceat(made[-1], starts, axis=-1))
        return made

    def release(self, narrowest: NDArray[np.int64], bits: Bits | None = None) -> list[NDArray[np.int64]]:
        """Return the noisy totals of all levels, each with noise of its own; they do not add up yet.

        Args:
            narrowest: exact totals of the narrowest level in steps, shape (…, nodes).
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        bits = bits or SystemBits()
        return [law.noisy(totals, bits) for law, totals in zip(self.laws, self.totals(narrowest), strict=True)]

    def on(self, series: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given series, in steps: outputs are tuples of nodes, the narrowest level first.

        Outputs beyond the totals that the series have are merged into the outermost, as by `Geometric.on`.
        """
        held = list(series)
        made: FiniteMechanism | None = None
        for law, stops in zip(self.laws, self.levels, strict=True):
            for first, stop in itertools.pairwise((0, *stops)):
                totals = [sum(plainly(x) for x in one[first:stop]) for one in held]
                reached = dict(zip(held, totals, strict=True))
                node = law.on(range(min(totals), max(totals) + 1)).pull_back(held, reached.__getitem__)
                node = node.then(lambda z: (z,))
                made = node if made is None else made.beside(node).then(lambda pair: (*pair[0], *pair[1]))
        assert made is not None  # there is a level, and it has a span
        return made

    def __repr__(self) -> str:
        nodes = ", ".join(f"{len(level):,}" for level in self.levels)
        return f"<TreeMechanism: {self._series.kind.symbol}, ε = {self._series.epsilon}, levels of {nodes} nodes>"


def _stops(level: Sequence[int]) -> tuple[int, ...]:
    found = tuple(whole(stop, "a span's end") for stop in level)
    if not found or any(b <= a for a, b in itertools.pairwise(found)):
        raise InputError("Spans that do not rise", "each stops after the one before it", "Give rising whole numbers")
    return found


def _shares(given: Sequence[Exact] | None, levels: int) -> tuple[Real, ...]:
    if given is None:
        return (_ALL / levels,) * levels
    found = tuple(exact(share) for share in given)
    if len(found) != levels or any(share <= 0 for share in found) or sum(found, start=ZERO) != 1:
        raise InputError(
            f"Shares of {', '.join(str(share) for share in found) or 'nothing'}",
            "they say what part of ε each level gets, each above 0 and all of it together",
            "Give each level its part, 1 together",
        )
    return found
