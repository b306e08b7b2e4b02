# SPDX-License-Identifier: Apache-2.0
"""What distances between public places count as: elastic by a density, and short from protected regions to what is around.

Felt distances are whole metres, at most those on the plane, except that ``back = "never"`` leaves the way into a region
without any promise. They take the place of metres in what is asked: ε a metre, or a factor within a length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, get_args

from leeward._plain import counted, echo, odds
from leeward._taught import taught
from leeward.distance import (
    FiniteDistance,
    Region,
    elastic_distance,
    region_distance,
    whole_lengths,
)
from leeward.distance._regions import Back
from leeward.errors import InputError, check_choice
from leeward.exact._real import Exact, Real, exact, whole
from leeward.local.location._length import metres
from leeward.local.location._terms import PositionNoise


@taught
@dataclass(frozen=True)
class PlaceRegion:
    """A region of public places that may pass as what is around it.

    Args:
        name: what it is called.
        members: the numbers of its places, from 0.
        within: how far its places may pass as any other, such as ``"1 km"``.
        counts_as: the length that this counts as, such as ``"200 m"``.
        back: what it costs to pass from outside as inside: ``"usual"``, ``"alike"`` or ``"never"`` (see
            `leeward.distance.Region`).

    Raises:
        InputError: for what is none of these.
    """

    name: str
    members: Sequence[int]
    within: str
    counts_as: str
    back: Back = "usual"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"name = {echo(self.name)}", "it is what the region is called", 'Give such as "hospital"')
        if isinstance(self.members, str | bytes) or not isinstance(self.members, Iterable):
            raise InputError(f"members = {echo(self.members)}", "they are numbers of places", "Give such as [0, 7]")
        numbers = tuple(
            whole(number, "members", 0, says="it is the number of a place, from 0") for number in self.members
        )
        metres(self.within, "within")
        metres(self.counts_as, "counts_as")
        object.__setattr__(self, "members", numbers)
        check_choice("back", self.back, get_args(Back), "it is not an option")

    def text(self, epsilon: Real) -> str:
        """Return the policy in words."""
        factor = odds(float(epsilon * metres(self.counts_as, "counts_as")))
        back = {
            "usual": "the other way costs the usual distance",
            "alike": "and so the other way",
            "never": "the other way nothing is promised: reports may show that somebody was outside",
        }[self.back]
        return (
            f"{self.name} ({counted(len(self.members), 'place')}): each may pass as any place within {self.within} as if"
            f" it were {self.counts_as} away, a factor of {factor}; {back}"
        )


@taught
@dataclass(frozen=True)
class Felt:
    """How far public places are felt to be apart.

    Args:
        within: the length for which ``least`` is said, such as ``"200 m"``; with ``least``.
        least: weight that each place is to find within ``within`` of it (`leeward.distance.elastic_distance`); None where
            distances are not elastic.
        regions: policies about regions.

    Raises:
        InputError: for one of within and least, or an elastic distance beside a region that is never passed into.
    """

    within: str | None = None
    least: Exact | None = None
    regions: Sequence[PlaceRegion] = ()

    def __post_init__(self) -> None:
        if (self.within is None) != (self.least is None):
            raise InputError(
                "within without least, or the other way round",
                "an elastic distance says what weight a place finds within what length",
                'Give both: within = "200 m", least = "500"',
            )
        if self.within is not None:
            metres(self.within, "within")
        if self.least is not None and any(region.back == "never" for region in self.regions):
            raise InputError(
                'An elastic distance beside a region with back = "never"',
                "weight inside the region would be counted among what a place may pass as, and it may not",
                'Take back = "usual", or no elastic distance',
            )

    @property
    def plain(self) -> bool:
        """Whether distances are those of the plane."""
        return self.least is None and not self.regions

    def promise(
        self, geo: PositionNoise, points: Sequence[tuple[int, int]], weights: Sequence[float] | None = None
    ) -> FiniteDistance[Any]:
        """Return the distance that reports are private for, on grid points, with its ε.

        Args:
            geo: the grid, ε a metre and the norm.
            points: the grid points of the places.
            weights: their public weights; 1 each by default.
        """
        step = geo.step.rational
        if step is None:
            raise InputError(f"A step of {geo.step}", "lengths are counted in whole metres", "Take a rational step")
        at = [(step * i, step * j) for i, j in points]
        many: list[Exact] = [1] * len(points) if weights is None else [Fraction(each) for each in weights]
        if self.within is None or self.least is None:
            felt = whole_lengths(at, geo.norm)
        else:
            felt = elastic_distance(at, many, within=metres(self.within, "within"), least=self.least, norm=geo.norm)
        if self.regions:
            if any(number >= len(points) for region in self.regions for number in region.members):
                raise InputError(
                    "A region with a place that is not listed",
                    f"there are {len(points)}, from 0 on",
                    "Correct its members",
                )
            asked = [
                Region(
                    [at[number] for number in region.members],
                    metres(region.within, "within"),
                    metres(region.counts_as, "counts_as"),
                    region.back,
                )
                for region in self.regions
            ]
            felt = region_distance(at, asked, usual=felt, norm=geo.norm)
        return FiniteDistance.coded(points, felt.values, felt.codes).scale(geo.epsilon)

    def texts(self, epsilon: Real) -> tuple[str, ...]:
        """Return what is promised beside the distance, in words."""
        found = []
        if self.least is not None:
            found.append(
                f"Each place may pass, at the cost of m metres for every whole m, as places of weight {self.least}·(m/"
                f"{metres(str(self.within), 'within')})² together, or as all places: where there is little around,"
                " farther ones count as near"
            )
        found += [region.text(epsilon) for region in self.regions]
        if len(self.regions) > 1:  # what one says of a pair is not what another refuses
            closed = [region.name for region in self.regions if region.back == "never"]
            found += [
                f"From outside, no place may pass as one of {name}, whatever is said of other regions"
                for name in closed
            ]
        return tuple(found)

    @property
    def law(self) -> str:
        """Itself as text that stores keep: reports of another distance are of another law."""
        regions = "; ".join(
            f"{sorted(r.members)} within {r.within} as {r.counts_as}, back {r.back}" for r in self.regions
        )
        elastic = "" if self.least is None else f"elastic, {exact(self.least)} within {self.within}; "
        return "" if self.plain else f", felt {elastic}{regions}"


METRES: Final = Felt()
"""The distances of the plane themselves."""
