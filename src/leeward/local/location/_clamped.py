# SPDX-License-Identifier: Apache-2.0
"""How many positions lie beyond the box: where they are moved into it, a wrong box would go unnoticed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from leeward._plain import counted
from leeward._private import Private
from leeward.errors import DataError
from leeward.local._hardly_any import hardly_any
from leeward.local.location._box import Box

Floats = NDArray[np.float64]


class Clamped(Private):
    """Counts positions, a batch at a time.

    Attributes:
        beyond: how many lie outside the box.
    """

    __slots__ = ("_box", "_seen", "beyond")

    def __init__(self, box: Box) -> None:
        self._box, self._seen, self.beyond = box, 0, 0

    def take(self, latitude: Floats, longitude: Floats) -> None:
        """Count the next positions, in degrees."""
        self._seen += len(latitude)
        self.beyond += int((~self._box.holds(latitude, longitude)).sum())

    def add(self, seen: int, beyond: int) -> None:
        """Count positions that were looked at elsewhere, and how many of them lie outside the box."""
        self._seen, self.beyond = self._seen + seen, self.beyond + beyond

    @property
    def note(self) -> str | None:
        """What to tell the curator, if anything."""
        if not self.beyond:
            return None
        were = f"{counted(self.beyond, 'position')} {'was' if self.beyond == 1 else 'were'}"
        return f"for the curator only: {were} outside the box and moved to its edge"

    def check(self) -> None:
        """Refuse a box in which hardly any of many positions lies."""
        if hardly_any(self._seen - self.beyond, self._seen):
            raise DataError(
                "Under 1 % of the positions lie in the public box (this is for the curator only)",
                "all others would be reported from its edge",
                "Check the edges of the box, and which column holds latitudes",
            )
