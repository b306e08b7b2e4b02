"""A PostgreSQL server for the tests: one a run, shared by all workers, started when the first test asks, ended with the run.

    python tests/postgres.py FOLDER RUN SAID

is the server's guardian: it makes a cluster in the folder, starts the server, says where it is, and ends all of it when the
process of the run is gone, however that ended. The server listens on a socket in that folder and on a free port of the
loopback, as an ordinary user: it refuses to run as root, so that where the tests do, it runs as ``postgres``. Where there is
no PostgreSQL, tests that need it fail.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a script, it is not among the modules that pytest finds
    sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.guarded import said_by, say

USER = "keeper"
"""A superuser who needs no password; `STRANGER` needs one."""

STRANGER, PASSWORD = "stranger", "never to be shown"


@dataclass(frozen=True)
class Server:
    """Where the server is.

    Attributes:
        folder: of its socket.
        port: of the loopback, and in the socket's name.
        process: of the server.
    """

    folder: str
    port: int
    process: int

    def address(self, database: str, user: str = USER, **settings: str) -> str:
        """Return the address of a database, by its loopback."""
        asked = "&".join(f"{name}={value}" for name, value in settings.items())
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}" + (f"?{asked}" if asked else "")

    def by_socket(self, database: str) -> str:
        """Return the address of a database, by its socket."""
        return f"postgresql://{USER}@:{self.port}/{database}?host={self.folder}"


def programs() -> Path:
    """Return the folder of PostgreSQL's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    kept = [Path(found).resolve().parent] if found else []
    kept += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    for folder in kept:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise RuntimeError("There is no PostgreSQL here. Install it: .ci/debian-packages postgresql")


def server(shared: Path, run: int) -> Server:
    """Return the server of this run, started if it is not.

    Args:
        shared: a folder that all workers of the run share.
        run: the process with which the run ends.
    """
    return Server(**said_by(__file__, shared, run))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _owner() -> dict[str, Any]:
    """Say as whom the server runs, as `subprocess` is told."""
    if os.geteuid() != 0:
        return {}
    known = {each.pw_name for each in pwd.getpwall()}
    name = "postgres" if "postgres" in known else "nobody"
    user = pwd.getpwnam(name)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _guard(folder: Path, run: int, said: Path) -> None:
    owner, data = _owner(), folder / "data"
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    clean: Mapping[str, str] = {"PATH": os.environ["PATH"], "LC_ALL": "C", "PGUSER": USER, "PGHOST": str(folder)}
    how: dict[str, Any] = {"env": clean, "cwd": folder, **owner}
    initdb = [
        "--auth-local=trust",
        "--auth-host=trust",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
        f"--username={USER}",
    ]
    subprocess.run([programs() / "initdb", "-D", data, *initdb], check=True, **how)
    (data / "pg_hba.conf").write_text(
        f"host all {STRANGER} 127.0.0.1/32 scram-sha-256\nlocal all all trust\nhost all all 127.0.0.1/32 trust\n"
    )
    port = _free_port()
    settings = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": folder, "max_connections": 60}
    settings |= {"shared_buffers": "16MB", "autovacuum": "off", "checkpoint_timeout": "30min", "log_statement": "none"}
    said_so = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    running = subprocess.Popen([programs() / "postgres", "-D", data, *said_so], **how)
    ask = [programs() / "psql", "-p", str(port), "-qXd", "postgres", "-c"]
    made = f"CREATE ROLE {STRANGER} LOGIN PASSWORD '{PASSWORD}'"
    while subprocess.run([*ask, made], stderr=subprocess.DEVNULL, **how).returncode != 0:
        if running.poll() is not None:
            raise RuntimeError("PostgreSQL ended at once")
        time.sleep(0.02)
    crypto = [programs() / "psql", "-p", str(port), "-qXd", "template1", "-c"]  # each database is made like this one
    subprocess.run([*crypto, "CREATE SCHEMA crypto; CREATE EXTENSION pgcrypto SCHEMA crypto"], check=True, **how)
    say(said, {"folder": str(folder), "port": port, "process": running.pid}, run)
    running.send_signal(3)  # at once: nothing is kept
    running.wait()
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
