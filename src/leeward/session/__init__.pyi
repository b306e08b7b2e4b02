# SPDX-License-Identifier: Apache-2.0
from ._budget import Budget as Budget
from ._check import check as check
from ._facts import Checked as Checked
from ._monitor import MonitorResult as MonitorResult
from ._monitor import monitor as monitor
from ._release import release as release
from ._release import release_all as release_all
from ._result import Release as Release
from ._statement import privacy_statement as privacy_statement
from ._statements import GroupStatement as GroupStatement
from ._statements import NumberStatement as NumberStatement
from ._statements import SelectionStatement as SelectionStatement
from ._statements import Statement as Statement
from ._statements import UnlistedStatement as UnlistedStatement
from ._statements import VisitorStatement as VisitorStatement
