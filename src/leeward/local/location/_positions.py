# SPDX-License-Identifier: Apache-2.0
"""Positions as a caller gives them: two equal columns of degrees, or a list of pairs."""

from __future__ import annotations

from datetime import date

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._plain import echo
from leeward._private import reading
from leeward.errors import InputError

Floats = NDArray[np.float64]


def columns_of(latitude: ArrayLike, longitude: ArrayLike) -> tuple[Floats, Floats]:
    """Return positions as two equal columns of floats."""
    with reading("The positions", "Give degrees as numbers"):
        north, east = _degrees(latitude), _degrees(longitude)
    if north.shape != east.shape or north.ndim != 1:
        raise InputError(
            "Latitudes and longitudes of different shapes", "each position has one of both", "Give two equal columns"
        )
    return north, east


def check_pairs(positions: object) -> None:
    """Refuse what is not a list of positions, at least one: each a latitude and a longitude."""
    pairs = positions if isinstance(positions, list) else []
    if not pairs or not all(isinstance(at, tuple) and len(at) == 2 for at in pairs):
        raise InputError(
            f"Positions as {echo(positions)}", "each is a latitude and a longitude", "Give [(39.9, 116.4), …]"
        )
    columns_of([at[0] for at in pairs], [at[1] for at in pairs])


def _degrees(values: ArrayLike) -> Floats:
    """Return numbers as floats; a text is not read as one, nor a truth value or a moment."""
    given = given_array(values)
    objects = given.ravel().tolist() if given.dtype.kind == "O" else []
    if given.dtype.kind not in "iufO" or any(isinstance(each, str | bytes | bool | date) for each in objects):
        raise InputError(f"Positions of type {given.dtype}", "they are not numbers", "Give degrees as numbers")
    return given.astype(np.float64)
