# SPDX-License-Identifier: Apache-2.0
"""The spec file: a release described in TOML, checked key by key before anything is read.

Sections: ``[data]``, ``[query]`` (or several ``[[query]]``), ``[places]``, ``[window]`` (or ``windows``), ``[protect]``,
``[decide]``, ``[publish]``, ``[budget]``. Paths are relative to the spec file. Unknown keys are refused with the nearest
known one; numbers that a promise depends on are strings, because a TOML float is not the decimal it prints as.
"""

from leeward.spec._notions import GRADED, NUMBER_NOTIONS
from leeward.spec._policies import POLICY_NOTIONS
from leeward.spec._questions import check_questions, read_questions
from leeward.spec._spec import Spec, check_spec, read_spec

__all__ = [
    "GRADED",
    "NUMBER_NOTIONS",
    "POLICY_NOTIONS",
    "Spec",
    "check_questions",
    "check_spec",
    "read_questions",
    "read_spec",
]
