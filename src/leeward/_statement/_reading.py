# SPDX-License-Identifier: Apache-2.0
"""How the formula of a promise is read: no formula without its sentence."""

from __future__ import annotations

import math
from fractions import Fraction


def reading(epsilon: str) -> str:
    """Say what the formula of a promise compares, and how large e^ε is where ε is rational."""
    compared = "Pr[answer | data] is how likely an answer is if the data are as described"
    try:
        ratio = math.exp(Fraction(epsilon))
    except (ValueError, OverflowError):
        return compared
    return f"{compared}, and e^ε is about {ratio:,.3g}"
