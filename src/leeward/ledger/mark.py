"""The high-water mark: a small file beside the ledger that remembers how far its history had come.

A ledger restored from a backup has forgotten spending that happened; its chain is intact, but it ends before the mark.
The mark is written after each commit, from what is committed, so it may lag behind a crash and never leads. Restoring
both files together is not noticed: a curator who fears that keeps the mark, or a copy of it, somewhere else.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from leeward.errors import LedgerError


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a ledger had come.

    Attributes:
        ledger: the ledger's random id.
        entries: how many entries it had.
        head: the hash of the last of them.
    """

    ledger: str
    entries: int
    head: str


def read_mark(path: Path) -> Mark | None:
    """Read a mark; None where there is no file.

    Raises:
        LedgerError: the file is there but is not a mark.
    """
    try:
        found = json.loads(path.read_text())
        return Mark(str(found["ledger"]), int(found["entries"]), str(found["head"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError):
        raise LedgerError(
            f"The mark {path} cannot be read",
            "without it nobody can tell whether the ledger was replaced by an older copy",
            "Restore it, or delete it and run `leeward budget accept-restored`",
        ) from None


def write_mark(path: Path, mark: Mark) -> None:
    """Replace a mark in one step, durably. Only under the ledger's write lock, so that it never goes back.

    Raises:
        LedgerError: the disk is full or not writable. The old mark is then still there.
    """
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("w") as file:
            file.write(json.dumps(asdict(mark)) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise LedgerError(
            f"The mark {path} cannot be written: {error.strerror}",
            "a spend counts only once its mark is kept",
            "Make room, or make its folder writable, and run again",
        ) from None
