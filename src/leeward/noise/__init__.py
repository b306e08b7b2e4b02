# SPDX-License-Identifier: Apache-2.0
"""Exact noise: bits, coins of exact probability, and noise laws with their exact pmf beside the sampler.

No floating-point number decides anything here. A base layer: it knows exact reals and errors, and nothing of
data, notions or budgets.
"""

from leeward.noise._bernoulli import Coin, flip_each, flip_minus
from leeward.noise._bits import Bits, SeededBitsForTests, SystemBits
from leeward.noise._digits import Enclosed, floor_digits
from leeward.noise._first_accepted import FirstAccepted
from leeward.noise._geometric import DirectedGeometric
from leeward.noise._norm import NormNoise
from leeward.noise._planar import Enclosure, PlanarNoise
from leeward.noise._saturating import add_saturating
from leeward.noise._uniform import uniform_below

__all__ = [
    "Bits",
    "Coin",
    "DirectedGeometric",
    "Enclosed",
    "Enclosure",
    "FirstAccepted",
    "NormNoise",
    "PlanarNoise",
    "SeededBitsForTests",
    "SystemBits",
    "add_saturating",
    "flip_each",
    "flip_minus",
    "floor_digits",
    "uniform_below",
]
