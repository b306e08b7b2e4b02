# SPDX-License-Identifier: Apache-2.0
"""Named privacy notions, each a directed distance between tables (see `leeward.distance`)."""

import leeward.notion._price_rules  # noqa: F401 - derives the prices of all notions
from leeward.notion import compose, convert
from leeward.notion._adp import ADP, Presence
from leeward.notion._blowfish import Blowfish
from leeward.notion._change import ADD_FACT, CHANGES, DROP_FACT, GROW, INSERT, REPLACE, SHRINK, WITHDRAW, Change
from leeward.notion._condition import Condition, has, where
from leeward.notion._dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion._graded import Graded, GradedFacts
from leeward.notion._groups_and_graphs import REWIRE, EdgeDP, Graph, GroupDP, NodeDP
from leeward.notion._local import ULDP, ContextAwareLDP, InputDiscriminativeLDP, LocalDP, ProtectedOutputs
from leeward.notion._metric import BoundedChange, Manhattan, Maximum, NormalisedManhattan, bounded_change, with_nobody
from leeward.notion._notion import ABSENT, Both, Notion, PrivacyDescription, Step, all_tables
from leeward.notion._one_sided import AdditionOnly, RemovalOnly
from leeward.notion._osdp import OSDP
from leeward.notion._personalised import Personalised
from leeward.notion._policy import Policy
from leeward.notion._priced import Price
from leeward.notion._record_distance import RecordDistance
from leeward.notion._rows import in_rows, refused_in_rows, words_of
from leeward.notion._value_grid import ValueGrid

__all__ = [
    "ABSENT",
    "ADD_FACT",
    "ADP",
    "CHANGES",
    "DROP_FACT",
    "GROW",
    "INSERT",
    "OSDP",
    "REPLACE",
    "REWIRE",
    "SHRINK",
    "ULDP",
    "WITHDRAW",
    "AdditionOnly",
    "Blowfish",
    "Both",
    "BoundedChange",
    "BoundedDP",
    "Change",
    "Condition",
    "ContextAwareLDP",
    "EdgeDP",
    "Graded",
    "GradedFacts",
    "Graph",
    "GroupDP",
    "InputDiscriminativeLDP",
    "LocalDP",
    "Manhattan",
    "Maximum",
    "NodeDP",
    "NormalisedManhattan",
    "Notion",
    "Personalised",
    "Policy",
    "Presence",
    "Price",
    "PrivacyDescription",
    "ProtectedOutputs",
    "RecordDistance",
    "RemovalOnly",
    "ReplaceDP",
    "Step",
    "UnboundedDP",
    "ValueGrid",
    "all_tables",
    "bounded_change",
    "compose",
    "convert",
    "has",
    "in_rows",
    "refused_in_rows",
    "where",
    "with_nobody",
    "words_of",
]
