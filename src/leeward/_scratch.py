# SPDX-License-Identifier: Apache-2.0
"""A private folder of this process for what is not finished yet; those of dead processes are swept, and nothing else is.

What spills out of memory is rows of a private table, and what is written whole is written somewhere else first. Both go to a
folder that only its owner can read and that is removed in the end. A killed process cannot remove it; so each folder says
who made it and what it may hold, in a file that its process keeps locked, and the next process beside it clears up: only a
folder of our name and form, of this user, whose lock nobody holds and whose process is not there; only files it says it
holds; and the folder itself only if it is empty then.
"""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from leeward._locks import lock
from leeward._plain import is_text
from leeward.errors import InputError

OWNER = "leeward-owner.json"
"""The file of a scratch folder that says whose it is."""

SPILLED = "duckdb_temp_*"
"""What DuckDB calls the files that it spills to."""

_FRESH = f"{OWNER}.new"
_PREFIX = ".leeward-"
_NAME = re.compile(re.escape(_PREFIX) + r"[a-z0-9_]{8}")
_MADE_BY = "leeward scratch 1"
_TRIES = 20
_OPEN_AT_ONCE = 24
"""More files than a run opens at once beside those that it has open before."""

_DEEPEST = 6


def check_open_files() -> None:
    """See that a process may open as many more files as its work takes, before anything is paid for.

    Raises:
        OSError: it may not.
    """
    opened: list[int] = []
    try:
        while len(opened) < _OPEN_AT_ONCE:
            opened.extend(os.pipe())
    finally:
        for each in opened:
            os.close(each)


def check_name(path: Path, instead: str = "Rename it, or name another") -> None:
    """Refuse a place whose name is not UTF-8: what writes tables and spills rows cannot be told of it.

    Raises:
        InputError: it is not.
    """
    if not is_text(str(path)):
        raise InputError(f"'{path}'", "its name is not UTF-8, and tables could not be written there", instead)


class Scratch:
    """An open scratch folder. `scratch` makes it.

    Attributes:
        path: the folder.
    """

    def __init__(self, parent: Path, names: Iterable[str]) -> None:
        self._process = os.getpid()
        self.path, self._owner = _made(parent)
        try:
            self.expect(names)
            (self.path / _FRESH).rename(self.path / OWNER)  # it is locked before it is there
        except BaseException:
            _clear(self.path, ())
            os.close(self._owner)
            raise

    def expect(self, names: Iterable[str]) -> None:
        """Say what the folder may hold: names of files, or patterns of names, at most five folders down."""
        self._names = [name for name in names if _is_below(name)]
        pid = os.getpid()
        said = {"made_by": _MADE_BY, "process": pid, "started": _started(pid), "files": self._names}
        # in one write and never shorter, so that it can be read whenever its process is killed
        os.pwrite(self._owner, json.dumps(said).encode().ljust(os.fstat(self._owner).st_size), 0)

    def remove(self) -> None:
        """Remove the folder and what it said that it holds. A forked child leaves its parent's alone."""
        try:
            if os.getpid() == self._process:
                _clear(self.path, self._names)
        finally:
            os.close(self._owner)


def _made(parent: Path) -> tuple[Path, int]:
    """Make a folder and lock its file. One that was swept before it could be told from a dead one is made anew."""
    for last in (False,) * _TRIES + (True,):
        path, opened = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)), None
        try:
            # whatever the umask takes; what is made in it is of the group that files beside it are of
            path.chmod(0o700 | path.stat().st_mode & stat.S_ISGID)
            opened = os.open(path / _FRESH, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            os.fchmod(opened, 0o600)
            lock(opened)
            os.stat(path / _FRESH)  # nobody sweeps it from here on
            return path, opened
        except BaseException as error:
            _clear(path, ())
            if opened is not None:
                os.close(opened)
            if last or not isinstance(error, FileNotFoundError | BlockingIOError):
                raise
    raise AssertionError


@contextmanager
def scratch(parent: str | os.PathLike[str] | None = None, names: Iterable[str] = (SPILLED,)) -> Iterator[Scratch]:
    """Make a scratch folder, after sweeping those of the dead beside it; it is removed in the end, however that comes.

    Args:
        parent: the folder to make it in; by default that of temporary files.
        names: what it may hold; see `Scratch.expect`.

    Raises:
        OSError: it cannot be made.
        InputError: the name of the folder of temporary files is not UTF-8.
    """
    check_open_files()
    beside = Path(tempfile.gettempdir() if parent is None else parent)
    if parent is None:
        check_name(beside, "Set TMPDIR to another")
    sweep(beside)
    made = Scratch(beside, names)
    try:
        yield made
    finally:
        made.remove()


def sweep(parent: Path) -> None:
    """Remove the scratch folders that dead processes of this user left in a folder. What cannot be removed stays."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                with suppress(OSError):
                    _sweep_one(Path(entry.path))


def _sweep_one(folder: Path) -> None:
    held = folder.lstat()
    if held.st_uid != os.geteuid() or stat.S_IMODE(held.st_mode) & 0o077:
        return
    # one that was killed before it said so under its lasting name had written it, and locked it, under the other
    said = OWNER if os.path.lexists(folder / OWNER) else _FRESH
    try:
        owner = os.open(folder / said, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        folder.rmdir()  # if it is empty; whoever was about to use it makes another
        return
    try:
        lock(owner)  # an OSError where its process, or a child of it, lives
        written = os.pread(owner, 1 << 24, 0)
        names = _left(written) if written else []  # whoever was about to lock it makes another
        if names is not None:
            _clear(folder, names)
    finally:
        os.close(owner)


def _left(said: bytes) -> list[str] | None:
    """What a folder says that it holds, if it was made by a process that is dead; else None."""
    try:
        owner: Any = json.loads(said)
        process, started, names = owner["process"], owner["started"], owner["files"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    known = isinstance(names, list) and all(isinstance(name, str) and _is_below(name) for name in names)
    if not known or owner.get("made_by") != _MADE_BY or type(process) is not int or not 0 < process < 2**31:
        return None
    return None if started is not None and _started(process) == started else names


def _started(process: int) -> int | None:
    """When a process started, in ticks since the machine did; None where it is not there or the system does not say."""
    try:
        return int(Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _is_below(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return (
        1 <= len(parts) <= _DEEPEST and ".." not in parts and parts[0] != "/" and "\0" not in name and "**" not in name
    )


def _clear(folder: Path, names: Iterable[str]) -> None:
    """Remove the named files, then the folders that are empty."""
    _remove(folder, [PurePosixPath(name).parts for name in names])
    with suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {OWNER, _FRESH}:
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()


def _remove(folder: Path, paths: Iterable[Sequence[str]]) -> None:
    """Remove files, and the folders on the way to them that are empty then. Links are removed, never followed."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            below = [rest for first, *rest in paths if _fits(entry.name, first)]
            with suppress(OSError):
                if not entry.is_dir(follow_symlinks=False):
                    if [] in below:
                        os.unlink(entry.path)
                elif any(below):
                    _remove(folder / entry.name, [rest for rest in below if rest])
                    os.rmdir(entry.path)


def _fits(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern) if "*" in pattern else name == pattern
