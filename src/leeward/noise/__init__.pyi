# SPDX-License-Identifier: Apache-2.0
from ._bernoulli import Coin, flip_minus
from ._bits import Bits, SeededBitsForTests, SystemBits
from ._digits import Enclosed, floor_digits
from ._first_accepted import FirstAccepted
from ._geometric import DirectedGeometric
from ._norm import NormNoise
from ._planar import Enclosure, PlanarNoise
from ._saturating import add_saturating
from ._uniform import uniform_below

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
    "flip_minus",
    "floor_digits",
    "uniform_below",
]
