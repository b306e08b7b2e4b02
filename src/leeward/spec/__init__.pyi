# SPDX-License-Identifier: Apache-2.0
from ._notions import GRADED, NUMBER_NOTIONS
from ._policies import POLICY_NOTIONS
from ._questions import check_questions, read_questions
from ._spec import Spec, check_spec, read_spec

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
