# SPDX-License-Identifier: Apache-2.0
"""What columns are for, where that decides how their texts are read: as numbers, as times, or as they stand."""

from __future__ import annotations

from typing import Final

INTERVALS: Final = ", in intervals"
"""How what a column of groups is for ends, where its groups are intervals of a number."""

_NUMBERS: Final = ("column", "latitude", "longitude")


def holds_numbers(role: str) -> bool:
    """Whether a column that is for this holds numbers, whatever its type."""
    return role in _NUMBERS or role.endswith(INTERVALS)


def holds_times(role: str) -> bool:
    """Whether it holds times."""
    return role == "time"
