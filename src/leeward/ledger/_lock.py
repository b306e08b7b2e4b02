# SPDX-License-Identifier: Apache-2.0
"""A lock says that somebody is at work on a reservation: a file locked by its process for as long as it lives.

It ends with the process (see `leeward._locks`). It is made and swept only under the ledger's write lock.
"""

from __future__ import annotations

import os
from pathlib import Path

from leeward._locks import lock, unlock
from leeward.ledger._beside import companion, companions, make

_KIND = "lock"


class FileLock:
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
    """Where the lock of a holder is."""
    return companion(ledger, holder, _KIND)


def is_locked(path: Path) -> bool:
    """Whether the process that made a lock still lives. A file we may not open counts as locked."""
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
    """Remove the locks that dead processes left behind."""
    for path in companions(ledger, _KIND):
        if not is_locked(path):
            path.unlink(missing_ok=True)
