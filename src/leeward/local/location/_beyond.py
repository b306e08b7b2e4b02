# SPDX-License-Identifier: Apache-2.0
"""How many reports fall beyond the box, from its middle: these are moved to its edge."""

from __future__ import annotations

from typing import Final

import numpy as np

from leeward._arrays import vanishing
from leeward.local.location._terms import PositionNoise

_TURN: Final = np.linspace(0, 2 * np.pi, 7200, endpoint=False)


@vanishing
def share_beyond(geo: PositionNoise) -> float:
    """Return which share of reports from the middle of the box falls beyond it, for display.

    The grid is taken to be fine. Then noise lies beyond r in a direction with chance (1 + ε·r)·e^(−ε·r), where r is the
    norm's length of the way to the edge; for the Manhattan norm the direction has density 1/(|cos| + |sin|)².
    """
    west, south, east, north = geo.plane.extent()
    across, up = np.cos(_TURN), np.sin(_TURN)
    with np.errstate(divide="ignore"):
        way = np.minimum(
            np.where(across > 0, east, -west) / np.abs(across), np.where(up > 0, north, -south) / np.abs(up)
        )
    length = np.abs(across) + np.abs(up) if geo.norm == "manhattan" else np.ones_like(across)
    reach = float(geo.epsilon) * way * length
    return float(np.average((1 + reach) * np.exp(-reach), weights=length**-2.0))
