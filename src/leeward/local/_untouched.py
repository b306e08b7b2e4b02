# SPDX-License-Identifier: Apache-2.0
"""What goes out as it is, beside what noise was put on: it is named, for noise protects nothing that it says."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Final, Literal

from leeward._plain import plain

Noise = Literal["the position", "readings"]

_PLACE_WORDS: Final = (
    *("lat", "lon", "lng", "geom", "geohash", "wkt", "wkb", "bbox", "coord", "mgrs", "utm", "h3"),
    *("address", "postcode", "zip"),
)


def untouched(columns: Iterable[str], noise: Noise) -> str | None:
    """Return a warning that names the columns that are published as they are, or None where there are none.

    Beside noise on a position, names that sound like another one are pointed at.
    """
    left = [plain(str(column)) or "one without a name" for column in columns]
    if not left:
        return None
    is_place = noise == "the position"
    placed = [column for column in left if is_place and any(word in column.lower() for word in _PLACE_WORDS)]
    also = f"; of these {', '.join(placed)} may say where people are" if placed else ""
    return (
        f"these columns are published as they are, and noise on {noise} protects nothing that they say: "
        f"{', '.join(left)}{also}"
    )


def published(columns: Iterable[str], noise: Noise) -> str:
    """Return the note for the curator of a file: the columns that are published as they are, and the order of rows."""
    text = untouched(columns, noise)
    if text is None:
        return f"the order of rows is published as it is, and noise on {noise} protects nothing that it says"
    return f"{text}; nor what the order of rows says, which stays"


def warn(*texts: str | None) -> None:
    """Warn the caller of ``perturb`` with such texts, where there are some."""
    for text in texts:
        if text is None:
            continue
        warnings.warn(text[0].upper() + text[1:], UserWarning, stacklevel=4)
