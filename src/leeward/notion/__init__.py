"""Named privacy notions, each a directed distance between tables (see `leeward.distance`)."""

from leeward.notion.adp import ADP, Policy, Presence
from leeward.notion.base import (
    ABSENT,
    ADD_FACT,
    DROP_FACT,
    GROW,
    INSERT,
    REPLACE,
    SHRINK,
    WITHDRAW,
    Change,
    Notion,
    Step,
    Words,
)
from leeward.notion.dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion.one_sided import AdditionOnly, RemovalOnly

__all__ = [
    "ABSENT",
    "ADD_FACT",
    "ADP",
    "DROP_FACT",
    "GROW",
    "INSERT",
    "REPLACE",
    "SHRINK",
    "WITHDRAW",
    "AdditionOnly",
    "BoundedDP",
    "Change",
    "Notion",
    "Policy",
    "Presence",
    "RemovalOnly",
    "ReplaceDP",
    "Step",
    "UnboundedDP",
    "Words",
]
