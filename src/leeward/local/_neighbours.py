# SPDX-License-Identifier: Apache-2.0
"""One rule for coarse steps: what tells two neighbours on the public grid apart, before anything is drawn.

Positions and readings are rounded to a grid, so two that are d apart are told apart by odds of at most e^(ε·d + s), where s
is what rounding costs. Of two that are one step apart that is ε·step + s. Where it is large, noise hardly leaves the grid
point, and what goes out is the truth, rounded.
"""

from __future__ import annotations

from typing import Final

from leeward._plain import odds
from leeward.errors import RefusedError
from leeward.exact._real import Real

MOST: Final = 5
"""ε·step + s: odds of 148."""


def check_neighbours(loss: Real, asked: str, what: str, step: str) -> None:
    """Refuse a grid whose neighbours are told apart: on which ``loss``, ε·step + s, is above `MOST`."""
    if loss > MOST:
        raise RefusedError(
            f"{asked} on a grid of {step}",
            f"two {what} one step apart would be told apart by odds of {odds(float(loss))}: they would be shown, rounded to"
            " the grid",
            "Take a smaller step, or a smaller ε",
        )
