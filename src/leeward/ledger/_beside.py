# SPDX-License-Identifier: Apache-2.0
"""The small files beside a ledger: how they are named, who may read them, and which of them are left from the dead.

Each is named ``LEDGER.TOKEN.KIND``, where the token is 32 random hexadecimal digits; nothing of another name is ever
removed. They may be read and written by whoever may read and write the ledger, which is made for its owner alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from leeward.ledger._parts import altered
from leeward.outputs._disk import give

PRIVATE = 0o600
"""How a ledger, and whatever else is about people, is made: for its owner alone."""

_TOKEN = re.compile(r"[0-9a-f]{32}")


def token_of(holder: object) -> str:
    """Return a random name that Leeward gave.

    Raises:
        LedgerError: it is malformed, as when something else has written it into the ledger.
    """
    if not isinstance(holder, str) or not _TOKEN.fullmatch(holder):
        raise altered("A holder named in the ledger is not one of ours")
    return holder


def companion(ledger: Path, token: object, kind: str) -> Path:
    """Return the path of a small file beside a ledger.

    Raises:
        LedgerError: the token is malformed.
    """
    return ledger.with_name(f"{ledger.name}.{token_of(token)}.{kind}")


def companions(ledger: Path, kind: str) -> Iterator[Path]:
    """Find the small files of one kind beside a ledger."""
    ours = re.compile(re.escape(ledger.name) + rf"\.[0-9a-f]{{32}}\.{kind}")
    return (path for path in ledger.parent.iterdir() if ours.fullmatch(path.name))


def make(path: Path, like: Path) -> int:
    """Make a file that must not exist, for those who may use another; return its descriptor. It is private at first."""
    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, PRIVATE)
    give(file, like)
    os.fchmod(file, mode_like(like))  # always: the umask may have taken from its owner too
    return file


def mode_like(file: Path) -> int:
    """Return the mode of what those may use who may use a file, or its owner alone if there is none."""
    return file.stat().st_mode & 0o666 if os.path.exists(file) else PRIVATE
