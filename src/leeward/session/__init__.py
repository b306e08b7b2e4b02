# SPDX-License-Identifier: Apache-2.0
"""The path of an answer: data, noise and budget meet only here."""

from leeward._statement import (
    GroupStatement,
    NumberStatement,
    SelectionStatement,
    Statement,
    UnlistedStatement,
    VisitorStatement,
)
from leeward.session._budget import Budget
from leeward.session._check import check
from leeward.session._facts import Checked
from leeward.session._monitor import MonitorResult, monitor
from leeward.session._release import release, release_all
from leeward.session._result import Release
from leeward.session._statement import privacy_statement

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
