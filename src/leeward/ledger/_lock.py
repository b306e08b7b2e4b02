# SPDX-License-Identifier: Apache-2.0
"""A hold says that somebody is at work on a reservation: a file locked by its process for as long as it lives.

The lock ends with the process (see `leeward._locks`). A hold is made and swept only under the ledger's write lock.
"""

from __future__ import annotations

import os
from pathlib import Path

from leeward._locks import lock, unlock
from leeward.ledger._beside import companion, companions, make

_KIND = "hold"


class Lock:
    """A locked file of this process.

    Args:
        ledger: the ledger it is beside.
        holder: the random name of the holder.
    """

    def __init__(self, ledger: Path, holder: str) -> None:
        self._path = lock_path(ledger, holder)
        self._file = make(self._path, ledger)
        try:
            lock(self._file)
        except OSError:
            os.close(self._file)
            self._path.unlink(missing_ok=True)
            raise

    def release(self) -> None:
        """Unlock and remove it."""
        self._path.unlink(missing_ok=True)
        unlock(self._file)
        os.close(self._file)


def lock_path(ledger: Path, holder: object) -> Path:
    """Where the hold of a holder is."""
    return companion(ledger, holder, _KIND)


def is_locked(path: Path) -> bool:
    """Whether the process that made a hold still lives and holds it. A file we may not open counts as held."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        lock(file, shared=True)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def sweep(ledger: Path) -> None:
    """Remove the holds that dead processes left behind."""
    for path in companions(ledger, _KIND):
        if not is_locked(path):
            path.unlink(missing_ok=True)
