# SPDX-License-Identifier: Apache-2.0
from ._budget import Budget
from ._check import check
from ._facts import Checked
from ._monitor import MonitorResult, monitor
from ._release import release, release_all
from ._result import Release
from ._statement import privacy_statement
from ._statements import (
    GroupStatement,
    NumberStatement,
    SelectionStatement,
    Statement,
    UnlistedStatement,
    VisitorStatement,
)

__all__ = [
    "Budget",
    "Checked",
    "GroupStatement",
    "MonitorResult",
    "NumberStatement",
    "Release",
    "SelectionStatement",
    "Statement",
    "UnlistedStatement",
    "VisitorStatement",
    "check",
    "monitor",
    "privacy_statement",
    "release",
    "release_all",
]
