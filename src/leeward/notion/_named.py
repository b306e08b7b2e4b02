# SPDX-License-Identifier: Apache-2.0
"""The notions that their name and ε determine: what specs, budgets and comparisons know by name."""

from __future__ import annotations

from collections.abc import Mapping

from leeward.notion._adp import Presence
from leeward.notion._dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion._notion import Notion
from leeward.notion._one_sided import AdditionOnly, RemovalOnly

NAMED: Mapping[str, type[Notion]] = {
    kind.name: kind for kind in (Presence, AdditionOnly, RemovalOnly, UnboundedDP, BoundedDP, ReplaceDP)
}
