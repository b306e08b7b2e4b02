# SPDX-License-Identifier: Apache-2.0
"""The high-water mark: a small file beside the ledger that remembers how far its history had come.

A ledger restored from a backup has forgotten spending that happened; its chain is intact, but it ends before the mark.
The mark is written after each commit, from what is committed, so it may lag behind a crash and never leads. Restoring
both files together is not noticed: a curator who fears that keeps the mark, or a copy of it, somewhere else.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leeward.errors import LedgerError
from leeward.ledger._beside import companion, companions, mode_like
from leeward.ledger._secret import read_private
from leeward.outputs._disk import replace_whole

_LARGEST = 1 << 12


@dataclass(frozen=True, slots=True)
class HighWaterMark:
    """How far a ledger had come.

    Attributes:
        ledger: the ledger's random id.
        entries: how many entries it had.
        head: the hash of the last of them.
    """

    ledger: str
    entries: int
    head: str


def _mark(found: Any) -> HighWaterMark:
    ledger, entries, head = found["ledger"], found["entries"], found["head"]
    texts = isinstance(ledger, str) and isinstance(head, str)
    if not texts or type(entries) is not int or not 0 <= entries < 2**63:
        raise ValueError
    return HighWaterMark(ledger, entries, head)


def read_high_water_mark(path: Path) -> HighWaterMark | None:
    """Read a mark; None where there is no file.

    Raises:
        LedgerError: the file is there but is not a mark.
    """
    try:
        return _mark(json.loads(read_private(path, _LARGEST)[0]))
    except FileNotFoundError:
        return None
    except PermissionError:
        raise LedgerError(
            f"The high-water mark {path} may not be read by this user",
            "without it nobody can tell whether the ledger was replaced by an older copy",
            "Give it to whom the ledger belongs, with chown, or ask who may",
        ) from None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise LedgerError(
            f"The high-water mark {path} cannot be read",
            "without it nobody can tell whether the ledger was replaced by an older copy",
            "Restore it, or move it away and run `leeward budget accept-restored`",
        ) from None


def mark_path(ledger: Path) -> Path:
    """Where the mark of a ledger is."""
    return ledger.with_name(ledger.name + ".mark")


def write_high_water_mark(ledger: Path, mark: HighWaterMark) -> None:
    """Replace a ledger's mark in one step, durably. Only under its write lock, so that the mark never goes back.

    Raises:
        LedgerError: the disk is full or not writable. The old mark is then still there.
    """
    path, base = mark_path(ledger), ledger
    if os.path.islink(path):  # to where the curator keeps it: a file in the link's place would leave that one behind
        path = base = Path(os.path.realpath(path))
    fresh = companion(base, uuid.uuid4().hex, "new")
    try:
        for left in companions(base, "new"):  # by somebody who died here: under the lock nobody else is at it
            left.unlink(missing_ok=True)
        # the mark of a database is of whoever keeps marks in that folder
        whose = ledger if os.path.exists(ledger) else path.parent
        replace_whole(path, f"{json.dumps(asdict(mark))}\n".encode(), mode_like(ledger), fresh, whose)
    except OSError as error:
        raise LedgerError(
            f"The high-water mark {path} cannot be written: {error.strerror}",
            "a spend counts only once it is kept",
            "Make room, or make its folder writable, and run again",
        ) from None
