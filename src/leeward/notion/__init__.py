"""Named privacy notions, each a directed distance between tables (see `leeward.distance`)."""

import leeward.notion.price  # noqa: F401 - derives the prices of all notions
from leeward.notion import compose, convert
from leeward.notion.adjacency import REWIRE, EdgeDP, Graph, GroupDP, NodeDP
from leeward.notion.adp import ADP, Presence
from leeward.notion.base import ABSENT, Both, Notion, Step, Words, all_tables
from leeward.notion.change import (
    ADD_FACT,
    CHANGES,
    DROP_FACT,
    GROW,
    INSERT,
    REPLACE,
    SHRINK,
    WITHDRAW,
    Change,
)
from leeward.notion.condition import Condition, has, where
from leeward.notion.dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion.graded import Graded, GradedFacts
from leeward.notion.local import ULDP, ContextAwareLDP, InputDiscriminativeLDP, LocalDP
from leeward.notion.metric import Manhattan, Maximum, NormalisedManhattan, Nudge, nudge, with_nobody
from leeward.notion.one_sided import AdditionOnly, RemovalOnly
from leeward.notion.osdp import OSDP
from leeward.notion.personalised import Personalised
from leeward.notion.policy import Policy
from leeward.notion.priced import Price
from leeward.notion.records import Blowfish, RecordDistance
from leeward.notion.rows import in_rows, of_rows
from leeward.notion.value_grid import Values

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
    "Nudge",
    "Personalised",
    "Policy",
    "Presence",
    "Price",
    "RecordDistance",
    "RemovalOnly",
    "ReplaceDP",
    "Step",
    "UnboundedDP",
    "Values",
    "Words",
    "all_tables",
    "compose",
    "convert",
    "has",
    "in_rows",
    "nudge",
    "of_rows",
    "where",
    "with_nobody",
]
