"""What one process starts for all workers of a run, and ends with it: a server, or a Spark.

A *guardian* is a script that is given a folder, the process of the run, and a file in which it says where its server is. It
ends the server when the process of the run is gone, however that ended, and removes the folder.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_WAIT = 120.0


def said_by(script: str, shared: Path, run: int) -> dict[str, Any]:
    """Return what a guardian says, which is started if it is not.

    Args:
        script: its path.
        shared: a folder that all workers of the run share.
        run: the process with which the run ends.
    """
    name = Path(script).stem
    said = shared / f"{name}.json"
    with open(shared / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            folder = tempfile.mkdtemp(prefix=f"leeward-{name}-")  # short: a socket's path has 107 bytes at most
            command = [sys.executable, script, folder, str(run), str(said)]
            log, flags = os.path.join(folder, "log"), os.O_CREAT | os.O_WRONLY
            files = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600)]
            files.append((os.POSIX_SPAWN_DUP2, 1, 2))
            os.posix_spawn(sys.executable, command, os.environ, file_actions=files, setsid=True)
            deadline = time.monotonic() + _WAIT
            while not said.exists():
                if time.monotonic() > deadline:
                    raise RuntimeError(f"No {name} within {_WAIT:g} s:\n{Path(folder, 'log').read_text()}")
                time.sleep(0.02)
    found: dict[str, Any] = json.loads(said.read_text())
    return found


def say(said: Path, what: Mapping[str, Any], run: int) -> None:
    """Say where a server is, and wait for the end of the run: what a guardian does."""
    fresh = said.with_suffix(".new")
    fresh.touch(0o600)
    fresh.write_text(json.dumps(what))
    fresh.replace(said)
    ended = os.pidfd_open(run)
    select.select([ended], [], [])
