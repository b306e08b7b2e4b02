# SPDX-License-Identifier: Apache-2.0
"""A percentile by rank: names the grid point that splits the people best, however far apart their values lie.

Noise on a percentile must hide that one person may move it over the whole range. Its *rank* one person moves by one. Of m
people, B(z) below the grid point z and A(z) above it, z misses the p-percentile (p from 0 to 1) by so many people:

    loss(z) = max(B(z) − p·(m − 1), A(z) − (1 − p)·(m − 1))

At the percentile itself that is at most max(p, 1 − p), and fewer than loss(z) people lie strictly between it and z. The name
is drawn by `NoisyMax`, that is by permute-and-flip, with −loss for a count. (With the exponential mechanism: A. Smith,
*Privacy-preserving statistical estimation with optimal convergence rates*, 2011. Permute-and-flip has no larger expected
loss: R. McKenna and D. Sheldon, *Permute-and-Flip*, 2020, Theorem 2.)

Theorem. With the rate r a step costs r·(max δ − min δ) at most, δ(z) the change of loss(z) (see `NoisyMax`). Where

* somebody comes or goes, with any value, that is at most r·2·max(p, 1 − p): m moves by 1, and at most one of B(z) and A(z)
  with it, so one term of the loss moves by p and the other by 1 − p, hence the loss by max(p, 1 − p), up or down;
* somebody's value becomes another, near or far, it is at most 2·r: m stays, and either term moves by 1 at most.

Both are attained (at p = 1/4, 1/2 and 2/3, say, with three people). For the median the first is r: a point that is k people
further off is accepted e^{−r·k} times as often, and that the noise goes both ways costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._taught import taught
from leeward.distance import Derived
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, finite, plainly, whole
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._geometric import integers
from leeward.mechanism._noisy_max import NoisyMax
from leeward.noise import Bits, FirstAccepted, SystemBits

_PARTS, _PEOPLE = 2**22, 2**40
"""Into how many parts a person is divided at most, and how many people are held at most: a loss fits in 64 bits.

The first is held against p alone. If it were the product, then which p is refused would tell how many people there are.
"""


@taught
class RankSelection:
    """Names the grid point nearest to a percentile by rank, as far as exponential noise lets it; no count is published.

    Args:
        rate: of the noise: a point is accepted e^{−rate} times as often for each person that it is further off.
            `leeward.query.rank_rate` derives it from a notion and a percentile.
        p: the percentile, an exact number from 0 (the least value) to 100 (the greatest).

    Raises:
        InputError: if the rate is not positive and finite, or p is not rational, outside 0 … 100 or of too many digits:
            the denominator of p/100 is at most 2²².
    """

    def __init__(self, rate: Exact, p: Exact = 50) -> None:
        self.rate = finite(rate, "rate")
        asked = exact(p).rational
        if asked is None or not 0 <= asked <= 100:
            raise InputError(f"p = {p}", "percentiles go from 0 to 100, and are rational", 'Give, say, p = "90"')
        self.p = asked
        self._share = asked / 100
        if self._share.denominator > _PARTS:
            raise InputError(
                f"p = {p}",
                f"ranks are told apart in at most {_PARTS:,} parts of a person, and its fraction has more",
                'Give a p of fewer digits, such as "33.33" or "100/3", or ask for mechanism = "geometric"',
            )
        self._max = NoisyMax(self.rate / self._share.denominator)

    def __repr__(self) -> str:
        return f'RankSelection("{self.rate}", p="{self.p}")'

    @property
    def parts(self) -> int:
        """Into how many parts a person is divided in `losses`: the denominator of p/100."""
        return self._share.denominator

    def losses(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return how many people each grid point is off, in `parts` of a person, shape (k,).

        Args:
            counts: how many people have each value of the grid, in its order: integers of at least 0, shape (k,), k ≥ 1.

        Raises:
            InputError: if they are not a row of such integers, or there are 2⁴⁰ people or more.
        """
        here = integers(counts)
        if here.ndim != 1 or not here.size or here.min() < 0:
            raise InputError(
                f"Counts of shape {here.shape}",
                "each grid point has a number of people",
                "Give one row of them, from 0 up",
            )
        people = sum(here.tolist())
        if people >= _PEOPLE:
            raise InputError("2^40 people or more", "their losses may not fit in 64 bits", "Count a part of them")
        upto, numerator = np.cumsum(here), self._share.numerator
        below = self.parts * (upto - here) - numerator * (people - 1)
        above = self.parts * (people - upto) - (self.parts - numerator) * (people - 1)
        lost: NDArray[np.int64] = np.maximum(below, above)
        return lost

    @property
    def distance(self) -> Derived[tuple[int, ...]]:
        """What it is private for, between two rows of counts: ``rate·(max δ − min δ)``, δ the change of the losses."""

        def spread(x: tuple[int, ...], y: tuple[int, ...]) -> Real:
            if len(x) != len(y):
                raise InputError("Rows of different lengths", "each grid point has a count in both", "Give equal rows")
            moves = self.losses(y) - self.losses(x)
            return self.rate * Fraction(int(moves.max()) - int(moves.min()), self.parts)

        return Derived(f"{self.rate}·(max δ − min δ)", spread)

    def release(self, counts: ArrayLike, bits: Bits | None = None) -> int:
        """Return the position of the grid point named.

        Args:
            counts: see `losses`.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        return int(self._max.release(-self.losses(counts), bits)[0])

    def release_sparse(self, positions: ArrayLike, counts: ArrayLike, points: int, bits: Bits | None = None) -> int:
        """Return the position of the grid point named, from the points where somebody is: the law of `release`.

        The work grows with the number of distinct values in the data, not with the grid.

        Args:
            positions: the grid points at which somebody is, ascending integers from 0 to points − 1, shape (k,), k ≥ 0.
            counts: how many people are at each of them, at least 1, shape (k,).
            points: how many the grid has.
            bits: see `release`.

        Raises:
            InputError: if they are not such points and numbers, or there are 2⁴⁰ people or more.
        """
        starts, sizes, losses = self.runs(positions, counts, points)
        run, place = FirstAccepted(self._max.rate).draw(losses, sizes, bits or SystemBits())
        return int(starts[run]) + place

    def runs(
        self, positions: ArrayLike, counts: ArrayLike, points: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (first points, sizes, losses) of the stretches of the grid between and at the points where somebody is.

        All points of a stretch have one loss, in `parts` of a person; its arguments are those of `release_sparse`. Each of
        the three has shape (runs,), runs ≤ 2k + 1.
        """
        n = whole(points, "points")
        at, here = _row(positions), _row(counts)
        if at.ndim != 1 or at.shape != here.shape or (here < 1).any() or (np.diff(at, prepend=-1, append=n) < 1).any():
            raise InputError(
                f"Points of shape {at.shape} with counts of shape {here.shape}, on a grid of {n:,}",
                "each point where somebody is stands once, in ascending order, with how many are there",
                "Give positions from 0 to points − 1, and a count of at least 1 for each",
            )
        # before each such point a stretch with nobody, and one after the last
        starts = np.stack([np.append(0, at + 1), np.append(at, n)], axis=1).ravel()[:-1]
        held = np.stack([np.zeros(at.size + 1, np.int64), np.append(here, 0)], axis=1).ravel()[:-1]
        sizes = np.diff(starts, append=n)
        some = sizes > 0
        return starts[some], sizes[some], self.losses(held)[some]

    def on(self, tables: Iterable[tuple[int, ...]]) -> FiniteMechanism:
        """Return the exact matrix on the given rows of counts (all of one length); outputs are positions."""
        tables = [tuple(map(plainly, table)) for table in tables]
        scores = {table: tuple((-self.losses(table)).tolist()) for table in tables}
        named = self._max.on(dict.fromkeys(scores.values()))
        return FiniteMechanism.from_rows(
            {table: {i: named.probability(row, (i,)) for (i,) in named.outputs} for table, row in scores.items()}
        )

    def reach(self, points: int, chance: Exact = "0.95") -> int:
        """Return how many people more than the best grid point the one named is off at most, with at least this chance.

        That is so whatever the data are: `NoisyMax.within`, for losses that are counted in `parts` of a person.

        Args:
            points: how many the grid has.
            chance: with which probability that holds at least, below 1.

        Raises:
            InputError: if there is no point, or the chance is not a rational of at least 0 and below 1.
        """
        return -(-self._max.within(points, chance) // self.parts)


def _row(given: ArrayLike) -> NDArray[np.int64]:
    """Read a row of integers that may be empty: of nobody there are no points."""
    nobody = not given.size if isinstance(given, np.ndarray) else isinstance(given, list | tuple) and not given
    return np.zeros(0, np.int64) if nobody else integers(given)
