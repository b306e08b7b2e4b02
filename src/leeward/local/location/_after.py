# SPDX-License-Identifier: Apache-2.0
"""What becomes of a noisy grid point before it is shown: moved into the box, to a place of interest, or to an H3 cell.

All of it is post-processing: it sees the noisy point and public things alone, so it changes no promise. To move a report to
the place that is best for a public prior is the Bayes remap (K. Chatzikokolakis, E. ElSalamouny, C. Palamidessi, *Efficient
utility improvement for location privacy*, 2017).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array, vanishing
from leeward._optional import optional
from leeward._plain import echo
from leeward._private import reading
from leeward.errors import InputError
from leeward.exact._real import plainly
from leeward.local.location._projection import LocalPlane

Floats = NDArray[np.float64]

ALL: Final = 512
"""Places up to which each one is weighed for each report."""

NEAR: Final = 32
"""Of longer lists, only this many places nearest to the report are weighed, of those that may be the truth."""

_CELLS_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True)
class PriorPlaces:
    """Public places with prior weights, on a plane.

    Attributes:
        latitude: degrees, shape (P,).
        longitude: degrees, shape (P,).
        at: positions in metres, shape (P, 2).
        prior: probabilities, shape (P,).
        plane: the plane.
        weights: what the prior was made from, shape (P,).
    """

    latitude: Floats
    longitude: Floats
    at: Floats
    prior: Floats
    plane: LocalPlane
    weights: Floats

    @classmethod
    def of(cls, plane: LocalPlane, latitude: ArrayLike, longitude: ArrayLike, weights: ArrayLike | None) -> PriorPlaces:
        """Lay places out on a plane.

        Raises:
            InputError: if there are none, one lies outside the box, or the weights are not weights.
        """
        with reading("The places", "Give degrees and weights as numbers"):
            north, east = given_array(latitude, np.float64), given_array(longitude, np.float64)
            chances = np.ones_like(north) if weights is None else given_array(weights, np.float64)
        if not (north.shape == east.shape == chances.shape) or north.ndim != 1 or not len(north):
            raise InputError(
                "Places of different lengths, or none", "each has a position and a weight", "Give equal lists"
            )
        if not plane.box.holds(north, east).all():
            raise InputError("Places outside the box", "reports are moved to them", "Give places in the box")
        if not (np.isfinite(chances).all() and (chances >= 0).all() and chances.any()):
            raise InputError(
                "Weights of places that are not weights", "they are a prior", "Give numbers ≥ 0, not all 0"
            )
        given, chances = chances, chances / chances.max()  # a sum of large weights is beyond all floats
        return cls(north, east, plane.project(north, east), chances / chances.sum(), plane, given)

    def digest(self) -> str:
        """Return a digest of the places in their order, and of their weights."""
        hashed = hashlib.sha256()
        for column in (self.latitude, self.longitude, self.prior):
            hashed.update(column.astype("<f8").tobytes())
        return hashed.hexdigest()

    def nearest(self, latitude: Floats, longitude: Floats) -> NDArray[np.intp]:
        """Return the number of the place nearest to each position in degrees."""
        return np.asarray(self.tree.query(self.plane.project(latitude, longitude))[1], np.intp)

    @functools.cached_property
    def tree(self) -> Any:
        """For the nearest places of a position."""
        return optional("scipy.spatial", "Reports moved to public places").KDTree(self.at)

    @functools.cached_property
    def apart(self) -> Floats:
        """Metres between the places, shape (P, P)."""
        return lengths(self.at[:, None] - self.at[None])


@dataclass(frozen=True)
class BayesRemap:
    """From a noisy position to the place with the least expected distance from the truth, given the prior.

    Args:
        places: where the truth may be, and where reports are moved to.
        drawn_from: the grid points at which the noise of each place begins, in metres, shape (P, 2).
        epsilon: ε a metre.
        norm: of the noise.
    """

    places: PriorPlaces
    drawn_from: Floats
    epsilon: float
    norm: str

    def __call__(self, positions: Floats) -> NDArray[np.intp]:
        """Return the number of the best place for each noisy position in metres, shape (n,)."""
        size = len(self.places.at) if self._all else min(len(self._possible), NEAR)
        step = max(_CELLS_AT_ONCE // size ** (1 if self._all else 2), 1)
        part = self._among_all if self._all else self._among_near
        found = [part(positions[start : start + step]) for start in range(0, len(positions), step)]
        return np.concatenate(found) if found else np.zeros(0, np.intp)

    @property
    def _all(self) -> bool:
        """Whether each place is weighed for each report."""
        return len(self.places.at) <= ALL

    @functools.cached_property
    def _possible(self) -> NDArray[np.intp]:
        """The numbers of the places that may be the truth: reports are moved to no others of a long list."""
        return np.flatnonzero(self.places.prior)

    @functools.cached_property
    def _tree(self) -> Any:
        """For the nearest of them."""
        return optional("scipy.spatial", "Reports moved to public places").KDTree(self.drawn_from[self._possible])

    def _among_all(self, positions: Floats) -> NDArray[np.intp]:
        return np.asarray(np.argmin(self.believed(positions) @ self.places.apart, axis=1), np.intp)

    def _among_near(self, positions: Floats) -> NDArray[np.intp]:
        near = self._possible[self._tree.query(positions, k=range(1, min(len(self._possible), NEAR) + 1))[1]]
        away = positions[:, None] - self.drawn_from[near]
        belief = self._belief(away, self.places.prior[near])
        between = lengths(self.places.at[near][:, :, None] - self.places.at[near][:, None])
        best = np.argmin(np.einsum("nx,nxw->nw", belief, between), axis=1)
        chosen: NDArray[np.intp] = near[np.arange(len(near)), best]
        return chosen

    def believed(self, positions: Floats) -> Floats:
        """Return the posterior of every place for each noisy position, shape (n, P)."""
        return self._belief(positions[:, None] - self.drawn_from, self.places.prior)

    @vanishing
    def _belief(self, away: Floats, prior: Floats) -> Floats:
        distance = lengths(away, self.norm)
        with np.errstate(divide="ignore"):
            score = np.log(prior) - self.epsilon * distance
        mass = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(mass / mass.sum(axis=1, keepdims=True), np.float64)


def lengths(moves: Floats, norm: str = "euclidean") -> Floats:
    """Return how far moves on the plane go, shape (..., 2) to (...), by a norm of noise."""
    east, north = moves[..., 0], moves[..., 1]
    return np.abs(east) + np.abs(north) if norm == "manhattan" else np.hypot(east, north)


def h3_cells(latitude: Floats, longitude: Floats, resolution: int) -> list[str | None]:
    """Return the H3 cell of each position, None where it is missing."""
    h3 = _h3()
    pairs = zip(latitude.tolist(), longitude.tolist(), strict=True)
    return [h3.latlng_to_cell(*pair, resolution) if pair[0] == pair[0] else None for pair in pairs]


def h3_centres(cells: Sequence[str | None]) -> tuple[Floats, Floats]:
    """Return latitude and longitude of the centres of cells, rounded to a centimetre; NaN for None."""
    h3 = _h3()
    known = {cell: (np.nan, np.nan) if cell is None else h3.cell_to_latlng(cell) for cell in set(cells)}
    centres = np.array([known[cell] for cell in cells], np.float64).reshape(-1, 2).round(7)
    return centres[:, 0], centres[:, 1]


def check_resolution(resolution: int) -> int:
    """Refuse what is not a resolution of H3, and say early if the library is missing: before anything is charged."""
    resolution = plainly(resolution)
    if isinstance(resolution, bool) or not isinstance(resolution, int) or not 0 <= resolution <= 15:
        raise InputError(
            f"h3 = {echo(resolution)}", "H3 has the resolutions 0 to 15", "Give h3 = 9 for cells of about 170 metres"
        )
    _h3()
    return resolution


def _h3() -> Any:
    return optional("h3.api.basic_str", "Reports as H3 cells")
