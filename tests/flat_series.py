"""A `Series` of flat words, so that a test varies one of them: each goes to the object whose field it is."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from leeward.local.series import Closeness, PostProcessing, ReadingGrid, Schedule, Series


def flat_series(*, values: str, **words: Any) -> Series:
    """Return a series; ``values`` is the unit of the grid, for ``unit`` is the one of the closeness."""
    held = []
    for kind in (Closeness, Schedule, PostProcessing):
        names = [field.name for field in fields(kind) if field.init and field.name in words]
        held.append(kind(**{name: words.pop(name) for name in names}))
    closeness, schedule, post_processing = held
    grid = ReadingGrid(values, *(words.pop(name) for name in ("lower", "upper", "step")))
    return Series(closeness, grid, schedule, post_processing=post_processing, **words)
