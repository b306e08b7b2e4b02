# SPDX-License-Identifier: Apache-2.0
"""The privacy statement of a release as typed documents."""

from typing import TypeAlias

from leeward._statement._documents import (
    NOT_YET,
    AdaptiveStated,
    BudgetStated,
    Chance,
    CutStated,
    DecidingStatement,
    DecisionStated,
    EveryoneStated,
    GeometricStated,
    GroupStatement,
    Heading,
    Keep,
    LookStated,
    MonitorStated,
    NoisePart,
    NotionStated,
    NumberMechanism,
    NumberQuery,
    NumberStatement,
    Published,
    RankMechanism,
    SanitizedStated,
    SelectionMechanism,
    SelectionQuery,
    SelectionStatement,
    SensitivityStated,
    VisitorQuery,
    VisitorStatement,
    WindowStated,
)
from leeward._statement._reading import reading
from leeward._statement._unlisted import DeltaStated, UnlistedMechanism, UnlistedQuery, UnlistedStatement
from leeward._statement._windows import WindowsStatement, window_of

Statement: TypeAlias = VisitorStatement | GroupStatement | NumberStatement | SelectionStatement | UnlistedStatement
"""The statement of any release; ``query.kind`` says which, and of a histogram whether there is a ``decision``."""

__all__ = [
    "NOT_YET",
    "AdaptiveStated",
    "BudgetStated",
    "Chance",
    "CutStated",
    "DecidingStatement",
    "DecisionStated",
    "DeltaStated",
    "EveryoneStated",
    "GeometricStated",
    "GroupStatement",
    "Heading",
    "Keep",
    "LookStated",
    "MonitorStated",
    "NoisePart",
    "NotionStated",
    "NumberMechanism",
    "NumberQuery",
    "NumberStatement",
    "Published",
    "RankMechanism",
    "SanitizedStated",
    "SelectionMechanism",
    "SelectionQuery",
    "SelectionStatement",
    "SensitivityStated",
    "Statement",
    "UnlistedMechanism",
    "UnlistedQuery",
    "UnlistedStatement",
    "VisitorQuery",
    "VisitorStatement",
    "WindowStated",
    "WindowsStatement",
    "reading",
    "window_of",
]
