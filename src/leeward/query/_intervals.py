# SPDX-License-Identifier: Apache-2.0
"""Intervals of a number as public groups: ``by = { age = { lower = "0", upper = "100", step = "20" } }``.

The groups are the intervals ``[lower + i·step, lower + (i + 1)·step)``, named by their ends. Numbers beyond the bounds are
in the first and the last of them, so everybody with a number is in exactly one; who has none is in no group, as one whose
value is not listed. What one person moves is therefore what it is for any public groups. A histogram of two numbers is a
count of the groups by intervals of both.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from leeward._plain import decimal, told
from leeward.errors import SpecError
from leeward.notion._value_grid import ValueGrid
from leeward.query._public_values import public_values
from leeward.query._source import MOST_CELLS

_KEYS = ("lower", "upper", "step")


def asked_intervals(column: str, given: Mapping[str, Any]) -> ValueGrid:
    """Return the public ends of the intervals of a column."""
    if set(given) != {*_KEYS}:
        wrong = next((key for key in given if key not in _KEYS), None)
        missing = next((key for key in _KEYS if key not in given), "")
        raise SpecError(
            f"by = {told(column)}: {'the key ' + told(wrong) if wrong is not None else missing + ' is missing'}",
            "intervals have public ends, and all are as wide",
            "Give a list of values, or lower, upper and step",
        )
    values = public_values(given["lower"], given["upper"], given["step"])
    if (many := int(values.width / values.step)) > MOST_CELLS:
        raise SpecError(
            f"{many:,} intervals of {told(column)}", f"{MOST_CELLS:,} groups are the most", "Use wider steps"
        )
    return values


def named_intervals(values: ValueGrid) -> tuple[str, ...]:
    """Return what the intervals are called, in their order: ``0 to 20``; no two alike."""
    return tuple(f"{low} to {high}" for low, high in itertools.pairwise(map(decimal, values.points)))
