# SPDX-License-Identifier: Apache-2.0
"""Columns of the private table: the one that is chosen, and those that are offered first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leeward.errors import SpecError
from leeward.tables._detected import Detected
from leeward.tables._guess import WHEN, likely, timely, times_of


def column(name: str, found: Detected, what: str) -> str:
    """Return the column that a form names.

    Raises:
        SpecError: none is chosen, or there is none of that name.
        DataError: its values cannot be read.
    """
    if not name:
        raise SpecError(f"The column that says {what}", "it is not chosen", "Choose one of the columns")
    found.check(name)
    return name


def times(found: Detected, form: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of ``[data]`` that say when, as a form answers them.

    Raises:
        SpecError: no column is chosen, or it seems to hold no times.
    """
    seen = found.column(column(form.get("time", ""), found, "when"))
    assert seen is not None
    return times_of(seen, form.get("time_format", "").strip() or None, form.get("timezone", "").strip() or None)


def offered_times(found: Detected, data: Mapping[str, Any]) -> dict[str, str]:
    """Return how times are written, as it was answered before; and the column, or else the likeliest."""
    names, may_be = [one.name for one in found.columns], timely(found)
    return {
        "time": data.get("time") or likely(may_be, WHEN) or next(iter(may_be), "") or likely(names, WHEN) or "",
        "time_format": data.get("time_format", ""),
        "timezone": data.get("timezone", ""),
    }
