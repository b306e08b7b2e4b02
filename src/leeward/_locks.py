# SPDX-License-Identifier: Apache-2.0
"""Locks that end with their process, however that ends: the one thing here that not every system has.

The operating system drops a lock of ``flock`` with the last process that holds its file (kill −9 and power loss too), so no
number of a process can be mistaken for that of a later one, and it works between threads and between containers.
"""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from leeward.errors import EngineError

try:
    import fcntl
except ImportError as missing:  # Windows
    raise EngineError(
        "A system without `flock`",
        "each charge is locked by its process, and this system has no such lock",
        "Use Linux, or a container of it; macOS has it too. Notions, plans and mechanisms work without",
    ) from missing


def lock(file: int, *, wait: bool = False, shared: bool = False) -> None:
    """Lock an open file, for this process and those it forks.

    Args:
        file: its descriptor.
        wait: whether to wait for another holder.
        shared: whether others may share it: then nothing is taken from them, and it shows that nobody holds it alone.

    Raises:
        OSError: another holds it, or it cannot be locked.
    """
    fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


def unlock(file: int) -> None:
    """Unlock an open file for all that share it: closing alone would leave the lock to a child that was forked meanwhile."""
    fcntl.flock(file, fcntl.LOCK_UN)


def why_no_locks(folder: Path) -> str | None:
    """Say why a database in a folder cannot be locked, as SQLite would; None where it can.

    It is tried on a file of its own: closing one of the database would drop the locks that this process has on it.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        known = error.errno in (errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
        return os.strerror(error.errno or 0) if known else None
    return None
