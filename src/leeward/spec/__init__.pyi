# SPDX-License-Identifier: Apache-2.0
from ._notions import GRADED as GRADED
from ._notions import NUMBER_NOTIONS as NUMBER_NOTIONS
from ._policies import POLICY_NOTIONS as POLICY_NOTIONS
from ._questions import check_questions as check_questions
from ._questions import read_questions as read_questions
from ._spec import Spec as Spec
from ._spec import check_spec as check_spec
from ._spec import read_spec as read_spec
