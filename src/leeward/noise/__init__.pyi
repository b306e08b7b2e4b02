# SPDX-License-Identifier: Apache-2.0
from ._bernoulli import Coin as Coin
from ._bernoulli import flip_minus as flip_minus
from ._bits import Bits as Bits
from ._bits import SeededBitsForTests as SeededBitsForTests
from ._bits import SystemBits as SystemBits
from ._digits import Enclosed as Enclosed
from ._digits import floor_digits as floor_digits
from ._first_accepted import FirstAccepted as FirstAccepted
from ._geometric import DirectedGeometric as DirectedGeometric
from ._norm import NormNoise as NormNoise
from ._planar import Enclosure as Enclosure
from ._planar import PlanarNoise as PlanarNoise
from ._saturating import add_saturating as add_saturating
from ._uniform import uniform_below as uniform_below
