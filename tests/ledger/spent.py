"""What a store of people's budgets holds, read from its file without the code that wrote it."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path


def spent_in(path: Path) -> dict[tuple[bytes, int], int]:
    """Return the number of reports of each account (a keyed hash of 16 bytes) and day; nothing where there is no store."""
    found: dict[tuple[bytes, int], int] = {}
    with closing(sqlite3.connect(path)) as store:
        if not store.execute("SELECT 1 FROM sqlite_master WHERE name = 'spent'").fetchone():
            return found
        for day, accounts, reports in store.execute("SELECT day, accounts, reports FROM spent"):
            each = [accounts[i : i + 16] for i in range(0, len(accounts), 16)]
            found |= {(one, day): n for one, (n,) in zip(each, struct.iter_unpack("<q", reports), strict=True)}
    return found
