# SPDX-License-Identifier: Apache-2.0
"""Planar Laplace on the Earth: positions in degrees go in, positions in degrees come out, the noise is in metres.

A position of the public box is projected to the local plane of the box, which shortens distances
(`leeward.local.location._projection`),
snapped to a public grid, moved by exact planar noise, moved back into the box, and unprojected. For two positions x, x' of
the box, d metres apart on the ground, and any set of outputs, probabilities differ by at most e^{ε·d + snapping}.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import clipped, given_array
from leeward._plain import echo
from leeward._taught import taught
from leeward.distance import Plane
from leeward.distance._plane import Norm
from leeward.errors import InputError, LowUtilityError, check_choice
from leeward.exact._real import Exact, Real, exact, sqrt
from leeward.exact._weight import Weight
from leeward.local._neighbours import check_neighbours
from leeward.local._untouched import warn
from leeward.local.location._after import BayesRemap, PriorPlaces
from leeward.local.location._asked import Asked, check_rate
from leeward.local.location._box import Box
from leeward.local.location._clamped import Clamped
from leeward.local.location._compare import BestOverPlaces
from leeward.local.location._documents import LocationStatement
from leeward.local.location._felt import METRES, Felt
from leeward.local.location._length import metres, round_below
from leeward.local.location._over_places import ExponentialOverPlaces, OverPlaces
from leeward.local.location._positions import check_pairs, columns_of
from leeward.local.location._posterior import posterior
from leeward.local.location._projection import LocalPlane
from leeward.local.location._seen import SeenOverPlaces, SeenPlanar, seen_of
from leeward.local.location._statement import statement
from leeward.local.location._steps import Steps
from leeward.local.location._terms import Drawn, Missing, Outside, Terms
from leeward.mechanism._planar import Displacement, PlanarMechanism
from leeward.noise import Bits, PlanarNoise, SystemBits

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from leeward.local.location._attacker import AttackerView
    from leeward.local.location._frames import Table

Floats = NDArray[np.float64]
Points = NDArray[np.int64]

_AT_ONCE: Final = 1 << 17
_DIGITS: Final = 7  # decimals of a degree: a centimetre
_COMPUTED = Fraction(1, 10**6)
"""Metres by which a projection computed in floats may be wrong; PROJ's two are good to nanometres on such boxes."""


@taught
class PlanarLaplace:
    """Exact planar Laplace noise for positions in a public box.

    ``PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor=2)``: any two positions within 200 metres of one
    another are indistinguishable up to a factor of 2, those within 400 metres up to 4, and so on: ε = ln 2/200 a metre.

    Args:
        box: the public region: a `Box`, or (west, south, east, north) in degrees. It must not be made from the data.
        within: a length such as ``"200 m"``; with ``factor``.
        factor: how much likelier any output may be from one of two positions that far apart; exact, above 1.
        epsilon: instead of these: ε for each ``unit`` of length, exact; what snapping costs comes on top (`snapping`).
        unit: the length that ``epsilon`` is for, by default ``"1 m"``; not beside ``within``, which is one.
        norm: ``"euclidean"`` (as the crow flies) or ``"manhattan"`` (along the plane's axes).
        step: the public grid step, such as ``"1 m"``; by default a round length for which snapping costs at most 0.0071.
        outside: what happens to positions outside the box: ``"refuse"`` them all with an error, or ``"clamp"``: each is
            moved to the nearest position of the box first, and the promise is about the moved ones.
        missing: what happens where there is no position: ``"refuse"``, or ``"keep"``: it stays missing, and shows.
        bits: the entropy source; by default a cryptographic stream keyed by the operating system, safe in threads.

    Attributes:
        asked: what was asked for.
        apart: by how many metres snapping, and the projection computed in floats, may take two positions further apart.
        epsilon: ε a metre, exact, which keeps what was asked.
        plane: the local plane.
        mechanism: the mechanism on the plane's grid.
        described: what it was made from, without the entropy: another process makes the same mechanism from it.
        fit_for_release: whether the entropy is fit for a release.

    Raises:
        InexactError: for a float ε or factor.
        InputError: for a box, length or option that is malformed, or a box too large for one plane.
        RefusedError: if ε is so large, or the step so coarse, that reports would show where people are.
        LowUtilityError: if ε is so small, or the step so long, that reports would say nothing.
    """

    def __init__(
        self,
        *,
        box: Box | tuple[float, float, float, float],
        within: str | None = None,
        factor: Exact | None = None,
        epsilon: Exact | None = None,
        unit: str | None = None,
        norm: Norm = "euclidean",
        step: str | None = None,
        outside: Outside = "refuse",
        missing: Missing = "refuse",
        bits: Bits | None = None,
    ) -> None:
        for name, value, known in (("outside", outside, get_args(Outside)), ("missing", missing, get_args(Missing))):
            check_choice(name, value, known, "it is not an option")
        self.box = box if isinstance(box, Box) else Box(*box)
        asked = Asked.of(within, factor, epsilon, unit)
        self.asked, self.promise = asked, asked.text
        self.plane = LocalPlane(self.box)
        self.outside, self.missing = outside, missing
        check_rate(asked.rate, self.plane.diagonal)
        size = exact(round_below(1 / (200 * float(asked.rate)))) if step is None else metres(step, "step")
        if size > Fraction(self.plane.diagonal):
            raise LowUtilityError(
                f"step = {echo(step)}",
                f"the box is {self.plane.diagonal:,.0f} metres across, so every position would lie on the same grid point",
                "Leave the step out, or give one that is small against what is to be indistinguishable",
            )
        self.apart = (sqrt(2) if norm == "euclidean" else exact(2)) * (size + 2 * _COMPUTED)
        self.epsilon = asked.kept(self.apart)
        check_rate(self.epsilon, self.plane.diagonal)
        check_neighbours(self.epsilon * (size + self.apart), asked.text, "positions", f"{size} metres")
        PlanarNoise(self.epsilon * size, norm)  # refuses a grid that is too fine, before its points are numbered
        west, south, east, north = (edge / float(size) for edge in self.plane.extent())
        self.mechanism = PlanarMechanism(
            Plane(self.epsilon, norm),
            step=size,
            lower=(math.ceil(west), math.ceil(south)),
            upper=(math.floor(east), math.floor(north)),
        )
        promised = {"within": within, "factor": factor, "epsilon": epsilon, "unit": unit, "norm": norm, "step": step}
        self.described = {"box": self.box, **promised, "outside": outside, "missing": missing}
        source = bits or SystemBits()
        self._bits, self.fit_for_release = source, source.fit_for_release
        self._steps = Steps(self._nearest_point, lambda points: self.mechanism.noisy(points, source), self._in_box)

    # ---- what is promised

    @property
    def terms(self) -> Terms:
        """What is done besides noise."""
        return self._steps.terms

    @property
    def norm(self) -> Norm:
        """The norm of the plane."""
        return self.mechanism.distance.norm

    @property
    def step(self) -> Real:
        """The grid step in metres."""
        return self.mechanism.step

    @property
    def snapping(self) -> Real:
        """What each report costs beyond ε times the distance: for the grid, and for the projection computed in floats."""
        return self.epsilon * self.apart

    @property
    def ground_epsilon(self) -> Real:
        """The ε a metre for distances as the crow flies: ε itself, or for the Manhattan norm √2·ε, its price in them."""
        return self.mechanism.distance.price_in(Plane(1, "euclidean"))

    @property
    def price(self) -> str:
        """What one report costs, exactly, as text that stores keep: reports of another price do not share a budget."""
        return f"{self.epsilon} a metre, {self.norm}, snapping {self.snapping}{self._steps.among}"

    @property
    def priced_in(self) -> str:
        """What a price is an ε of, as text that stores keep: reports of several ε share a budget where this is one."""
        return f"ε a metre, {self.norm}, snapping ε times {self.apart} metres{self._steps.among}"

    @property
    def law(self) -> str:
        """How grid points are drawn, exactly, as text that stores keep: a draw of another law is not the same draw.

        It names the grid, that of box and step. What is done with a drawn point is not part of it.
        """
        b = self.box
        edges = ", ".join(repr(edge) for edge in (b.west, b.south, b.east, b.north))
        return f"ε = {self.epsilon} a metre, {self.norm}, step {self.step} in the box ({edges}){self._steps.among}"

    def describe(self) -> Displacement:
        """Return how far reports lie from the truth, in metres, before they are moved inside the box."""
        return self.mechanism.displacement()

    def posterior(
        self, latitude: float, longitude: float, prior: Mapping[tuple[float, float], Weight | Exact]
    ) -> dict[tuple[float, float], Weight]:
        """Return what an adversary believes after one report: exact, on the grid. It can be the prior of the next one.

        Args:
            latitude: of the report, in degrees.
            longitude: of the report, in degrees.
            prior: weights by position (latitude, longitude), exact; they need not sum to 1. Positions of one grid point,
                or with `best_over` of one nearest place, share a likelihood.

        Raises:
            InputError: for a prior that is negative, outside the box or leaves no one who could report this; and, with
                `best_over`, for a report that is not one of the places.
            RefusedError: where the report may be many noisy points, whose chances have no exact sum: after `to_places`,
                `to_h3`, at the edge of the box, and on a grid finer than 5 cm, which the rounding of reports hides.
        """
        columns_of([latitude], [longitude])
        if not isinstance(prior, Mapping):
            raise InputError(f"prior = {echo(prior)}", "it gives each position a weight", "Give {(39.9, 116.4): 1, …}")
        if prior:  # one over nobody is refused for that
            check_pairs(list(prior))
        return posterior(self, (latitude, longitude), prior, self._steps.over)

    def attacker(
        self,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        reports: Sequence[int] = (1, 10, 100),
        trials: int = 1000,
    ) -> tuple[AttackerView, ...]:
        """Return what somebody who knows where people usually are learns from independent reports of one place: simulated.

        Look at it before anything is drawn: a person who reports from home every day is found, whatever one report hides.
        The formulas are in `leeward.local.location._attacker`. No private data is read, and nothing is charged.

        Args:
            latitude: of the places where people may be, in degrees, shape (P,); all in the box; at most 2,000.
            longitude: of the places, shape (P,).
            weights: the attacker's prior, public; equal by default.
            reports: how many reports of one place he sees; at most 10,000.
            trials: how many people are simulated.

        Returns:
            What he learns without a report, and after each number of them.

        Raises:
            InputError: for places or numbers that are malformed, or too many.
        """
        from leeward.local.location._attacker import attacker_views

        places = PriorPlaces.of(self.plane, latitude, longitude, weights)
        return attacker_views(self.seen(places), places, reports, trials, self._bits)

    def seen(self, places: PriorPlaces) -> SeenPlanar | SeenOverPlaces:
        """Return how likely reports are from places, as somebody knows who saw them as they were drawn."""
        return seen_of(self.mechanism, self._steps.over, places)

    def statement(self) -> LocationStatement:
        """Return the privacy statement: what is promised, on what grounds, and what is not."""
        return statement(self)

    def picture(self, people: list[tuple[float, float]] | None = None) -> Figure:
        """Draw reports of made-up people in the box, with the circles that hold half and 95 % of them.

        Args:
            people: latitudes and longitudes of the made-up people; by default two, near one another.
        """
        from leeward.local.location._picture import picture

        if people is not None:
            check_pairs(people)
        return picture(self, people)

    # ---- perturbing

    def perturb_one(self, latitude: float, longitude: float) -> tuple[float, float]:
        """Return a report for one position: latitude and longitude in degrees. Safe in threads; touches no file.

        Raises:
            DataError: for a position that is not finite, or lies outside the box unless it is clamped.
        """
        north, east = self._reports(*columns_of([latitude], [longitude]))
        return float(north[0]), float(east[0])

    def perturb_points(self, latitude: ArrayLike, longitude: ArrayLike) -> tuple[Floats, Floats]:
        """Return a report for each position, independently: latitudes and longitudes in degrees, shape (n,).

        n reports of one person cost n times the price of one. A warning says how many positions were moved into the box.

        Raises:
            DataError: for positions that are missing, no degrees or outside the box, unless an option says otherwise; and
                where under 1 % of at least 100 lie in the box, whatever it says.
        """
        looked = Clamped(self.box)
        found = self._reports(*columns_of(latitude, longitude), looked)
        warn(looked.note)
        return found

    def _reports(self, north: Floats, east: Floats, looked: Clamped | None = None) -> tuple[Floats, Floats]:
        found = np.full((2, len(north)), np.nan)
        rows = np.flatnonzero(self.present(north, east))
        if looked is not None:
            looked.take(north[rows], east[rows])
            looked.check()
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            found[:, part] = self.shown(self.draw(self.to_grid(north[part], east[part])))
        return found[0], found[1]

    def perturb(self, table: Table, *, latitude: str | None = None, longitude: str | None = None) -> Table:
        """Return a copy of a table with its positions perturbed row by row; other columns stay as they are, with a warning.

        So does the order of rows, with a warning where rows that follow one another lie near one another: where it goes by
        position, it tells positions more closely than reports do.

        Args:
            table: a GeoDataFrame of points, a DataFrame or a pyarrow Table; the same kind is returned, in the same order.
            latitude: the column of latitudes in degrees; not for a GeoDataFrame, whose geometry is perturbed.
            longitude: the column of longitudes.

        Raises:
            DataError: for geometries that are not points, an unknown CRS, or positions that `perturb_points` refuses.
        """
        from leeward.local.location._frames import perturb_table

        moved: Table = perturb_table(self.perturb_points, table, latitude, longitude)
        return moved

    # ---- post-processing

    def to_places(self, latitude: ArrayLike, longitude: ArrayLike, weights: ArrayLike | None = None) -> PlanarLaplace:
        """Return the same mechanism with each report moved to one of some public places: the Bayes remap for their prior.

        The place with the least expected distance from the truth is taken, for someone who is at a place as the prior says.
        Of more than 512 places, the 32 nearest to the noisy position are weighed that may be the truth.

        Args:
            latitude: of the places, in degrees; all in the box.
            longitude: of the places.
            weights: the prior, which must be public; equal by default.

        Raises:
            InputError: for malformed places, and after `best_over` or `to_h3`.
        """
        self._steps.check_places(after=True)
        places = PriorPlaces.of(self.plane, latitude, longitude, weights)
        remap = BayesRemap(places, self.mechanism.snapped(places.at), float(self.epsilon), self.norm)
        return self._made(self._steps.to_places(places, lambda noisy: remap(self.mechanism.positions(noisy))))

    def to_h3(self, resolution: int) -> PlanarLaplace:
        """Return the same mechanism with each report moved to the centre of the H3 cell that it lies in.

        At the edge of the box that centre may lie a little outside it.
        """
        return self._made(self._steps.to_h3(resolution))

    def best_over(
        self,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        felt: Felt = METRES,
    ) -> tuple[PlanarLaplace, BestOverPlaces]:
        """Return the mechanism of least expected distance over public places, and its figures.

        It keeps ε a metre between places, to which positions are first moved.

        Args:
            latitude: of the places, in degrees; all in the box; at most 60.
            longitude: of the places.
            weights: the prior, public, and the density of an elastic distance; equal by default.
            felt: what distances between places count as; by default themselves.

        Raises:
            InputError: for places that are malformed or too many, or of which two are on one grid point; after `to_h3`.
        """
        self._steps.check_places(after=False)
        best = BestOverPlaces.of(self, latitude, longitude, weights, felt=felt)
        return self._over(best, "best", felt), best

    def exponential_over(
        self,
        latitude: ArrayLike,
        longitude: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        felt: Felt = METRES,
    ) -> tuple[PlanarLaplace, ExponentialOverPlaces]:
        """Return the exponential mechanism with the Bayes remap over up to 256 public places: see `best_over`.

        Args:
            latitude: as there.
            longitude: as there.
            weights: as there.
            felt: as there.
        """
        self._steps.check_places(after=False)
        found = ExponentialOverPlaces.of(self, PriorPlaces.of(self.plane, latitude, longitude, weights), felt)
        return self._over(found, "exponential", felt), found

    def _over(self, best: OverPlaces, how: Drawn, felt: Felt) -> PlanarLaplace:
        return self._made(self._steps.drawn_over(best, how, felt, self.epsilon, self.box, self._bits))

    def _made(self, steps: Steps) -> PlanarLaplace:
        """Return the same mechanism with other steps."""
        made = copy.copy(self)
        made._steps = steps
        return made

    # ---- the three steps of a report

    def present(self, latitude: Floats, longitude: Floats) -> NDArray[np.bool_]:
        """Return where there is a position.

        Raises:
            DataError: a position is missing, and ``missing`` is ``"refuse"``; or it cannot be one in the box.
        """
        latitude, longitude = given_array(latitude), given_array(longitude)
        there = ~(np.isnan(latitude) | np.isnan(longitude))  # an infinite one is no missing one, and is refused
        if self.missing == "keep":
            self.box.check(latitude[there], longitude[there], clamp=self.outside == "clamp")
        else:
            self.box.check(latitude, longitude, clamp=self.outside == "clamp")
        return there

    def to_grid(self, latitude: Floats, longitude: Floats) -> Points:
        """Return the grid points of positions that are `present`, moved into the box first. Not to be shown."""
        return self._steps.to_grid(given_array(latitude), given_array(longitude))

    def draw(self, points: Points) -> Points:
        """Return noisy grid points for grid points: what is private. Shape (n, 2)."""
        return self._steps.draw(points)

    def shown(self, noisy: Points) -> tuple[Floats, Floats]:
        """Return noisy grid points as they are shown, in degrees: post-processing."""
        return self._steps.shown(noisy)

    def _nearest_point(self, latitude: Floats, longitude: Floats) -> Points:
        return self.mechanism.snap(self.plane.project(*self.box.nearest(latitude, longitude)))

    def _in_box(self, noisy: Points) -> tuple[Floats, Floats]:
        assert self.mechanism.lower is not None
        assert self.mechanism.upper is not None
        held = clipped(noisy, self.mechanism.lower, self.mechanism.upper)
        inside = self.box.nearest(*self.plane.unproject(self.mechanism.positions(held)))
        return self.box.rounded(*inside, _DIGITS)

    def __repr__(self) -> str:
        b = self.box
        return f"PlanarLaplace(box=({b.west!r}, {b.south!r}, {b.east!r}, {b.north!r}), {self.promise})"
