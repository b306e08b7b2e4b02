# SPDX-License-Identifier: Apache-2.0
"""Noisy totals of a tree, made consistent: the whole is the sum of its parts, to the last step.

Each node has a noisy total of its own, and another that is made of the nodes below it. Least squares, weighted by the
variances of the noise, settles on one vector of totals that add up (Hay, Rastogi, Miklau, Suciu, Boosting the Accuracy of
Differentially Private Histograms Through Consistency, 2010, Section 4, where all variances are equal; with other variances
each average is weighted by theirs). From the leaves up, with v the variance of a node's noise,

    z = (V·y + v·S)/(V + v)    of the noisy total y, the sum S of the z below it, and V the sum of their variances,

which has variance v·V/(V + v); from the root down, with c below p,

    x_c = z_c + (x_p − S_p)·var(z_c)/V_p.

That is exact over the rationals. Then totals are rounded to whole steps from the root down: the nodes below one whose total
is settled are rounded down, and the steps that are left go to those that lost most. Those that lost alike, which on equal
variances all do, take turns from a place that follows from noisy numbers: else the first hours of days would be half a step
too high on average. Each total is then within one step of the rational one, and parts add up to their whole
exactly. All of it is post-processing: it reads noisy totals and public
weights only, and costs nothing.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
_FARTHEST = 2**62


@dataclass(frozen=True)
class Consistency:
    """How the noisy totals of a tree are made to add up.

    Attributes:
        starts: for each level but the narrowest, the number of the first node below each node.
        nodes: how many nodes the narrowest level has.
        variances: the variance of a node's noise of each level, from the narrowest, up to one common factor.
    """

    starts: tuple[NDArray[np.intp], ...]
    nodes: int
    variances: tuple[Fraction, ...]

    @cached_property
    def _up(self) -> list[list[Fraction]]:
        """Var(z) of each node, level by level, in the variances' unit."""
        found = [[self.variances[0]] * self.nodes]
        for starts, own in zip(self.starts, self.variances[1:], strict=True):
            once = functools.cache(lambda those, own=own: own * those / (own + those))
            found.append([once(those) for those in _sums(found[-1], starts)])
        return found

    def deviations(self) -> list[list[float]]:
        """Return the standard deviation of each node's consistent total before rounding, in the variances' unit.

        What is left of z_c after q·S_p, q = var(z_c)/V_p, is uncorrelated with S_p, so var(x_c) = var(z_c) − q²·(V_p −
        var(x_p)).
        """
        up = self._up
        found = [up[-1]]
        for starts, below in zip(self.starts[::-1], up[-2::-1], strict=True):
            above, sums, made = found[-1], _sums(below, starts), list[Fraction]()
            for p, (first, stop) in enumerate(_slices(starts, len(below))):
                for own, times in _runs(below[first:stop]):
                    made += [own - (own / sums[p]) ** 2 * (sums[p] - above[p])] * times
            found.append(made)
        return [[root for value, times in _runs(level) for root in [math.sqrt(value)] * times] for level in found[::-1]]

    def rationals(self, noisy: Sequence[Integers]) -> tuple[list[NDArray[Any]], list[int]]:
        """Return the least-squares totals, as numerators (Python integers) and one denominator for each level.

        Args:
            noisy: noisy totals in steps, one array of shape (groups, nodes) for each level, the narrowest first.
        """
        variance = self._up
        up, over = [noisy[0].astype(object)], [1]
        sums: list[NDArray[Any]] = []
        for level, starts in enumerate(self.starts):
            sums.append(np.add.reduceat(up[-1], starts, axis=1))
            below = _sums(variance[level], starts)
            shares = [those / (those + self.variances[level + 1]) for those in below]
            whole = math.lcm(*(share.denominator for share in shares))
            own = np.array([int(share * whole) for share in shares], object)
            up.append(own * over[-1] * noisy[level + 1].astype(object) + (whole - own) * sums[-1])
            over.append(whole * over[-1])
        made, under = [up[-1]], [over[-1]]
        for level in range(len(self.starts) - 1, -1, -1):
            starts, below = self.starts[level], _sums(variance[level], self.starts[level])
            parent = _parents(starts, up[level].shape[1])
            shares = [own / below[p] for own, p in zip(variance[level], parent.tolist(), strict=True)]
            whole = math.lcm(*(share.denominator for share in shares))
            part = np.array([int(share * whole) for share in shares], object)
            left = made[-1] - sums[level] * (under[-1] // over[level])
            made.append(up[level] * (under[-1] * whole // over[level]) + left[:, parent] * part)
            under.append(under[-1] * whole)
        return made[::-1], under[::-1]

    def __call__(self, noisy: Sequence[Integers]) -> list[Integers]:
        """Return totals in whole steps that add up; shapes as given."""
        exactly, over = self.rationals(noisy)
        made = [(2 * exactly[-1] + over[-1]) // (2 * over[-1])]
        for starts, numerators, whole in zip(self.starts[::-1], exactly[-2::-1], over[-2::-1], strict=True):
            down, rest = numerators // whole, numerators % whole
            more = made[-1] - np.add.reduceat(down, starts, axis=1)
            stops = [*starts[1:].tolist(), down.shape[1]]
            for p, (first, stop) in enumerate(zip(starts.tolist(), stops, strict=True)):
                place, size = np.arange(stop - first), stop - first
                begins = made[-1][:, p] + down[:, first:stop] @ place  # noisy, and so as likely to be any place
                turn = ((place + begins[:, None]) % size).astype(np.int64)
                lost = np.take_along_axis(-rest[:, first:stop], turn, axis=1)
                most_lost = np.take_along_axis(turn, np.argsort(lost, axis=1, kind="stable"), axis=1)
                rank = np.argsort(most_lost, axis=1, kind="stable")
                down[:, first:stop] += rank < more[:, p : p + 1].astype(np.int64)
            made.append(down)
        return [np.clip(level, -_FARTHEST, _FARTHEST).astype(np.int64) for level in made[::-1]]


def _sums(values: Sequence[Fraction], starts: NDArray[np.intp]) -> list[Fraction]:
    return [
        sum((value * times for value, times in _runs(values[first:stop])), Fraction(0))
        for first, stop in _slices(starts, len(values))
    ]


def _runs(values: Sequence[Fraction]) -> Iterator[tuple[Fraction, int]]:
    """Go through values, each with how often it stands there in a row: a century has hours by the hundred thousand.

    What is one object is one value; most of the nodes of a level are, as no more differ than the lengths of days and months.
    """
    for _, same in itertools.groupby(values, key=id):
        held = list(same)
        yield held[0], len(held)


def _slices(starts: NDArray[np.intp], nodes: int) -> list[tuple[int, int]]:
    """Return where the nodes below each node of the next level begin and end."""
    begins = starts.tolist()
    return list(zip(begins, [*begins[1:], nodes], strict=True))


def _parents(starts: NDArray[np.intp], nodes: int) -> NDArray[np.intp]:
    return np.searchsorted(starts, np.arange(nodes), side="right") - 1
