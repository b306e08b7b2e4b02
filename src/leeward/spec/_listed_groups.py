# SPDX-License-Identifier: Apache-2.0
"""The public groups of a first spec, read from a public list; for `leeward init` and the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leeward.query import Source, places
from leeward.tables._guess import writing_of

if TYPE_CHECKING:
    from leeward.tables._detected import Detected


def listed_groups(file: str, seen: Detected, sheet: str | None, column: str) -> list[Any]:
    """Return what a column of a public list holds, in its order."""
    from leeward.engine._places import read_places

    found: list[Any] = read_places(places(Source(file, table=sheet, **writing_of(seen)), place=column)).keys.to_pylist()
    return found
