# SPDX-License-Identifier: Apache-2.0
"""Symmetries of a problem: renamings of secrets and guesses that change neither distance, nor prior, nor loss.

The mean of an optimal mechanism over its symmetric images is optimal too, so the linear program needs one variable for
each *orbit* of (secret, guess) pairs: eight times fewer on a square grid, and dozens of times less work. Any subgroup will
do, so the search below may stop early and is still right: it finds generators by individualisation and refinement of
colours, and checks each of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leeward._optional import optional

REFINEMENTS = 3000
"""Refinements after which the search for further symmetries stops."""


@dataclass
class Symmetries:
    """Generators of a group that acts on the n secrets and the m guesses together."""

    secrets: int
    generators: list[NDArray[np.intp]]

    def orbits(self, rows: slice, columns: slice) -> NDArray[np.intp]:
        """Label the orbits of pairs (row, column), both given as slices of secrets-then-guesses."""
        sparse = optional("scipy.sparse", "An optimal mechanism")
        csgraph = optional("scipy.sparse.csgraph", "An optimal mechanism")
        first, second = np.arange(rows.start, rows.stop), np.arange(columns.start, columns.stop)
        codes = np.arange(len(first) * len(second)).reshape(len(first), len(second))
        images = [codes[np.ix_(g[first] - rows.start, g[second] - columns.start)].ravel() for g in self.generators]
        here = np.tile(codes.ravel(), len(images))
        there = np.concatenate(images) if images else here
        graph = sparse.coo_matrix((np.ones(len(here)), (here, there)), shape=(codes.size, codes.size))
        labels: NDArray[np.intp] = csgraph.connected_components(graph, directed=False)[1].astype(np.intp)
        return labels.reshape(codes.shape)


def symmetries(distance: NDArray[np.intp], prior: NDArray[np.intp], loss: NDArray[np.intp]) -> Symmetries:
    """Find symmetries of a coded n × n distance, n coded prior probabilities and a coded n × m loss."""
    n, m = loss.shape
    edges = np.full((n + m, n + m, 2), -1, dtype=np.int64)  # to and from each vertex
    edges[:n, :n, 0], edges[:n, :n, 1] = distance, distance.T
    edges[:n, n:, 0], edges[n:, :n, 0] = loss, loss.T
    kinds = np.unique(edges.reshape(-1, 2), axis=0, return_inverse=True)[1].reshape(n + m, n + m)
    search = _Search(kinds.astype(np.int64), np.concatenate([prior, np.full(m, -1)]))
    return Symmetries(n, search.run())


class _Search:
    """Individualisation and refinement on a complete graph with coloured edges and vertices."""

    def __init__(self, kinds: NDArray[np.int64], colours: NDArray[np.intp]) -> None:
        self.kinds, self.size, self.left = kinds, len(kinds), REFINEMENTS
        self.start = np.unique(colours, return_inverse=True)[1].astype(np.int64)

    def run(self) -> list[NDArray[np.intp]]:
        """Return generators, level by level of the stabiliser chain."""
        found: list[NDArray[np.intp]] = []
        colours, _ = self._refine(self.start, self.start)
        while self.left > 0 and (cell := _first_cell(colours)) is not None:
            base = int(cell[0])
            orbit = {base}
            level: list[NDArray[np.intp]] = []  # generators that fix the points individualised so far
            for target in map(int, cell[1:]):
                if target in orbit:
                    continue
                image = self._extend(_single_out(colours, base), _single_out(colours, target))
                if image is not None:
                    level.append(image)
                    orbit = _closure(base, level)
            found += level
            colours, _ = self._refine(_single_out(colours, base), _single_out(colours, base))
        return found

    def _extend(self, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.intp] | None:
        """Return a symmetry that carries the first colouring to the second, or None if there is none (or no time)."""
        if self.left <= 0:
            return None
        mine, theirs = self._refine(mine, theirs)
        if not np.array_equal(np.sort(mine), np.sort(theirs)):
            return None
        cell = _first_cell(mine)
        if cell is None:
            image = np.empty(self.size, dtype=np.intp)
            image[np.argsort(mine)] = np.argsort(theirs)
            same = np.array_equal(self.kinds[np.ix_(image, image)], self.kinds)
            return image if same and np.array_equal(self.start[image], self.start) else None
        for candidate in np.nonzero(theirs == mine[cell[0]])[0]:
            extended = self._extend(_single_out(mine, int(cell[0])), _single_out(theirs, int(candidate)))
            if extended is not None:
                return extended
        return None

    def _refine(
        self, mine: NDArray[np.int64], theirs: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Split colours by the colours seen along each kind of edge until nothing changes, both colourings alike."""
        both = np.stack([mine, theirs])
        while True:
            self.left -= 1
            count = int(both.max()) + 1
            seen = np.sort(self.kinds[None] * count + both[:, None, :], axis=2).reshape(2 * self.size, self.size)
            rows = np.column_stack([both.reshape(-1, 1), seen])
            refined = np.unique(rows, axis=0, return_inverse=True)[1].reshape(both.shape).astype(np.int64)
            if len(np.unique(refined)) == len(np.unique(both)) or self.left <= 0:
                return refined[0], refined[1]
            both = refined


def _single_out(colours: NDArray[np.int64], vertex: int) -> NDArray[np.int64]:
    fresh = colours.copy()
    fresh[vertex] = colours.max() + 1
    return fresh


def _first_cell(colours: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """Return the vertices of the first colour that more than one has, or None."""
    shared = np.nonzero(np.bincount(colours) > 1)[0]
    return np.nonzero(colours == shared[0])[0] if len(shared) else None


def _closure(base: int, generators: list[NDArray[np.intp]]) -> set[int]:
    orbit, fresh = {base}, [base]
    while fresh:
        vertex = fresh.pop()
        for g in generators:
            if int(g[vertex]) not in orbit:
                orbit.add(int(g[vertex]))
                fresh.append(int(g[vertex]))
    return orbit
