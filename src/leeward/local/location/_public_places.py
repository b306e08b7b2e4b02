# SPDX-License-Identifier: Apache-2.0
"""The public list of places that a spec names: where they are, their weights, and the regions that they lie in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leeward._optional import optional
from leeward._paths import resolve
from leeward._private import reading
from leeward.errors import DataError, SpecError
from leeward.local.location._felt import Felt, PlaceRegion
from leeward.local.location._formats import open_positions
from leeward.local.location._spec import Attacker, Elastic, PublicPlaces, Regions
from leeward.tables._files import File
from leeward.tables._geojson import features, properties


@dataclass(frozen=True)
class KnownPlaces:
    """A public list of places.

    Attributes:
        columns: latitudes, longitudes and, where a column is named, weights.
        felt: what distances between them count as.
    """

    columns: tuple[list[float], list[float], list[float] | None]
    felt: Felt


def read_places(
    places: PublicPlaces | Attacker, folder: Path, elastic: Elastic | None = None, regions: Regions | None = None
) -> KnownPlaces:
    """Read the list, and what is said of distances.

    Raises:
        DataError: for a weight that is no number, or polygons that cannot be read.
        SpecError: for a region that holds no place.
    """
    file = open_positions(resolve(places.table, folder), places.latitude, places.longitude)
    asked = [] if places.weight is None else [places.weight]
    asked += [] if regions is None or regions.geojson is not None else [regions.column]
    file.require(asked)
    north, east, weights, kinds = list[float](), list[float](), list[float](), list[Any]()
    for norths, easts, extra in file.positions(asked):
        north += norths.tolist()
        east += easts.tolist()
        try:
            weights += [] if places.weight is None else [float(weight) for weight in extra[0]]
        except (TypeError, ValueError):
            raise DataError(
                f"The column '{places.weight}' of the list of places", "a weight is a number", "Correct it"
            ) from None
        kinds += extra[-1] if regions is not None and regions.geojson is None else []
    made: list[PlaceRegion] = []
    for name, policy in () if regions is None else regions.of.items():
        inside = (
            _within(regions, name, north, east, folder)
            if regions is not None and regions.geojson is not None
            else [number for number, kind in enumerate(kinds) if str(kind) == name]
        )
        if not inside:
            raise SpecError(
                f"[regions.of.{name}]", "no public place lies in it", "Correct the name, or add its places to the list"
            )
        made.append(PlaceRegion(name, inside, policy.within, policy.counts_as, policy.back))
    felt = Felt(
        within=None if elastic is None else elastic.within,
        least=None if elastic is None else elastic.least,
        regions=tuple(made),
    )
    return KnownPlaces((north, east, weights if places.weight is not None else None), felt)


def _within(regions: Regions, name: str, north: list[float], east: list[float], folder: Path) -> list[int]:
    """Return the numbers of the places in the polygons of a name, their edges included.

    A longitude may be written 180.05 or -179.95, of places and of polygons alike.
    """
    shapely = optional("shapely", "Regions of a GeoJSON file")
    assert regions.geojson is not None
    path = resolve(regions.geojson, folder)
    with reading(f"The file '{path}'", "Give a collection of polygons in degrees (WGS 84)"):
        shapes = [
            feature["geometry"]
            for feature in features(File.of(path))
            if str(properties(feature).get(regions.column)) == name
        ]
        held = np.zeros(len(north), bool)
        for shape in shapes:
            if not isinstance(shape, dict) or shape.get("type") not in ("Polygon", "MultiPolygon"):
                raise ValueError("a region is a polygon")
            polygon = shapely.geometry.shape(shape)
            if not polygon.is_valid:
                raise DataError(
                    f"A polygon of '{name}' in {path}",
                    "its edges cross, or its parts overlap, so that what lies inside is a matter of opinion",
                    "Correct it; shapely.make_valid does it in one way",
                )
            if _may_go_round(shapely.get_rings(shapely.get_parts(polygon))):
                raise DataError(
                    f"A polygon of '{name}' in {path}",
                    "one of its edges spans more than 180 degrees of longitude, so it may lie on either side of it",
                    "Cut it where longitudes jump from 180 to -180, or write them on beyond 180",
                )
            for turn in (-360, 0, 360):
                held |= shapely.intersects_xy(polygon, np.array(east) + turn, np.array(north))
    return [int(number) for number in np.flatnonzero(held)]


def _may_go_round(rings: Iterable[Any]) -> bool:
    """Whether an edge is longer than half a circle; around the whole Earth there is nothing on the other side."""
    spans = (np.abs(np.diff(np.array(ring.coords)[:, 0])) for ring in rings)
    return any(((span > 180) & (span < 360)).any() for span in spans)
