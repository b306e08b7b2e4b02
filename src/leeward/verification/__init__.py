# SPDX-License-Identifier: Apache-2.0
"""Verification of privacy: exactly where a mechanism is finite, by a lower bound from samples where it is a black box.

This layer shares no code with the derivations of the mechanisms and notions it checks.
"""

from leeward.verification._audit import Audit, audit
from leeward.verification._exact import verify
from leeward.verification._verdict import DeltaVerdict, Verdict

__all__ = ["Audit", "DeltaVerdict", "Verdict", "audit", "verify"]
