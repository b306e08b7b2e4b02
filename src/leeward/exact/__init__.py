# SPDX-License-Identifier: Apache-2.0
"""Exact numbers: reals for every ε, rate, distance and cost; weights for probabilities."""

from leeward.exact._real import ZERO, Exact, Real, exact, inf, sqrt
from leeward.exact._weight import Weight, exp, exp_minus, log

__all__ = ["ZERO", "Exact", "Real", "Weight", "exact", "exp", "exp_minus", "inf", "log", "sqrt"]
