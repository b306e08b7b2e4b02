# SPDX-License-Identifier: Apache-2.0
"""What stands in place of a public list where the groups of an answer are not one."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import pyarrow as pa

from leeward.query._unlisted_groups import LONGEST, UnlistedGroups


@dataclass(frozen=True)
class NoList:
    """What is public of the groups of an answer before it is drawn: the column, and how many there are at most."""

    query: UnlistedGroups
    grid: None = None

    def __len__(self) -> int:
        return self.query.most_groups

    def to_arrow(self) -> pa.Table:
        """Return no row: no group is known beforehand."""
        return pa.table({"group": pa.array([], pa.string())})

    def digest(self) -> str:
        """Return a digest of the column and the bound."""
        keys = ["leeward unlisted groups 1", self.query.by, self.query.most_groups, LONGEST]
        return hashlib.sha256(json.dumps(keys).encode()).hexdigest()
