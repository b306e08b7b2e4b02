# SPDX-License-Identifier: Apache-2.0
"""The one-sided components of two-sided noise (*One-Sided Differential Privacy*, remarks after Proposition 4).

Two-sided noise is upward noise minus independent downward noise of the same kind, and its promise is the two one-sided
promises at once: addition-only from the upward component, removal-only from the downward one. In Leeward's words

    Line(rise=a, fall=b)  =  both_hold(Line(rise=∞, fall=b), Line(rise=a, fall=∞)).

It takes *one* output that carries both. Publishing two outputs, each with one component, costs the *sum* of the two
lines, which is ∞ in either direction: the larger is never below the truth, the smaller never above, and where they meet
there is no secret left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError
from leeward.exact._real import inf
from leeward.mechanism._geometric import Geometric
from leeward.noise import DirectedGeometric


@taught
def one_sided_components(mechanism: Geometric) -> tuple[Geometric, Geometric]:
    """Return the upward (addition-only) and the downward (removal-only) component of two-sided noise, in this order.

    Answering with one and then adding the noise of the other to that answer is the two-sided mechanism. Do not publish
    both answers: see above.

    Raises:
        InputError: if the noise has only one side, or is clamped (clamping comes after both).
    """
    line = mechanism.line
    if line.rise.is_infinite or line.fall.is_infinite:
        raise InputError(f"The one-sided components of {mechanism}", "its noise has one side only", "Give both rates")
    if mechanism.lower is not None or mechanism.upper is not None:
        raise InputError(
            f"The one-sided components of {mechanism}",
            "clamping comes after both of them",
            "Leave the bounds out and clamp at the end",
        )
    upward, downward = Line(rise=inf, fall=line.fall), Line(rise=line.rise, fall=inf)
    return Geometric(upward, step=mechanism.step), Geometric(downward, step=mechanism.step)


def centred(noisy: ArrayLike, law: DirectedGeometric) -> NDArray[np.float64]:
    """Return noisy answers minus the mean of their noise: unbiased, and as private as they were.

    (*One-Sided Differential Privacy*, ``q(x) ± (ξ − 1)/ε``.) The mean is a public number, so this is post-processing. It
    gives up what one-sided noise is for: a centred answer may lie on either side of the truth.
    """
    return given_array(noisy, np.float64) - float(law.mean())
