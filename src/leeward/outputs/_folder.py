# SPDX-License-Identifier: Apache-2.0
"""Folders that the command writes: what it may replace there is what it wrote, and all that can fail is tried first.

A folder carries a *manifest* of the files that were written into it, with their SHA-256 digests. Only a file that is listed,
and is still what was written, is ever replaced or removed; every other file in the folder stays as it is, and whatever has a
name that is needed is a reason to refuse. A new folder appears whole or not at all. In one that exists, files are replaced
one by one: a statement that is to be replaced goes first and the new one comes last, so that it never stands beside answers
that it is not about; if that is cut short, the next run takes it up.

Paid work is written after it is paid for. So a folder is *prepared* before: the place is tried, and room is set aside.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final

from leeward._paths import read_small, resolve
from leeward._plain import is_text
from leeward._scratch import Scratch, check_name, scratch, sweep
from leeward.errors import InputError
from leeward.outputs._disk import alone_in, digest, digest_or_none, mode, said, set_aside, sync

MANIFEST: Final = "leeward-files.json"
"""The file of a folder that lists what was written into it."""

STATEMENT: Final = "release.json"
"""The file that says what the others beside it promise."""

Write = Callable[[Path], object]
"""Writes one file at a path where none is."""

_ABOUT = "What Leeward wrote here, with SHA-256 digests. It replaces nothing else, and nothing that was changed since."
_PART = re.compile(r"(?!\.leeward-)[^/\0]{1,255}")
_ROOM = "room"
_WHOLE = "whole"


class Folder:
    """A folder that is prepared for being written. `prepared` makes it.

    Attributes:
        shown: its path, as it was given.
    """

    def __init__(self, shown: Path, path: Path, what: str, keep: bool, made: Scratch, again: str) -> None:
        self.shown, self._path, self._what, self._keep = shown, path, what, keep
        self._scratch, self._again = made, again
        self._known = _read(path, shown, what)

    def check(self, names: Iterable[str]) -> None:
        """Refuse what is known to be refused when files of these names are written.

        Raises:
            InputError: a file is in the way, or one of ours was changed since.
        """
        for name in sorted({*names, *(() if self._keep else self._known)}):
            self._check(name)

    def write(self, files: Mapping[str, Write]) -> Path:
        """Write the files, by name (with at most one folder in it), and return the path of the folder as it was given.

        Raises:
            InputError: a file is in the way, one of ours was changed since, or it cannot be written.
        """
        with said(self.shown, self._again):
            whole = self._stage(files)
            if os.path.isdir(self._path):
                self._replace(whole, files)
            else:
                self._appear(whole, files)
        return self.shown

    def _stage(self, files: Mapping[str, Write]) -> Path:
        whole = self._scratch.path / _WHOLE
        (self._scratch.path / _ROOM).unlink(missing_ok=True)
        self._scratch.expect([_ROOM, *(f"{_WHOLE}/{name}" for name in (*files, MANIFEST))])
        whole.mkdir()
        for name, write in files.items():
            path = whole / name
            path.parent.mkdir(exist_ok=True)
            write(path)
            sync(path)
        return whole

    def _appear(self, whole: Path, files: Mapping[str, Write]) -> None:
        """Put a new folder in its place, in one step."""
        self._list(whole, whole, {name: [digest(whole / name)] for name in files})
        for folder in {whole, *((whole / name).parent for name in files)}:
            sync(folder)
        os.rename(whole, self._path)  # refused if somebody has put something there meanwhile
        sync(self._path.parent)

    def _replace(self, whole: Path, files: Mapping[str, Write]) -> None:
        """Put files in their places, one by one, in a folder that is there. One process at a time does so."""
        with alone_in(self._path):
            self._known = _read(self._path, self.shown, self._what)
            self._exchange(whole, {name: digest(whole / name) for name in files})

    def _exchange(self, whole: Path, new: Mapping[str, str]) -> None:
        old = set() if self._keep else self._known.keys() - new.keys()
        self.check(new)  # once more: making the files may have taken long
        either = {name: sorted({*self._known.get(name, []), made}) for name, made in new.items()}
        self._list(self._path, whole, self._known | either)
        changed = {name for name, made in new.items() if digest_or_none(self._path / name) != made}
        statements = {name for name in changed if name.endswith(STATEMENT)}
        for name in (*sorted(statements), *sorted(old)):
            (self._path / name).unlink(missing_ok=True)
        for name in (*sorted(changed - statements), *sorted(statements)):
            (self._path / name).parent.mkdir(exist_ok=True)
            os.replace(whole / name, self._path / name)
        for left in {(self._path / name).parent for name in old} - {self._path}:
            with suppress(OSError):
                left.rmdir()  # if nothing else is in it
        kept = {name: digests for name, digests in self._known.items() if name not in old}
        self._list(self._path, whole, kept | {name: [made] for name, made in new.items()})
        for folder in {self._path, *((self._path / name).parent for name in new)}:
            sync(folder)

    def _list(self, folder: Path, staged: Path, files: Mapping[str, list[str]]) -> None:
        listed = {"about": _ABOUT, "what": self._what, "files": dict(sorted(files.items()))}
        fresh = staged / MANIFEST
        fresh.write_text(json.dumps(listed, indent=2, ensure_ascii=False) + "\n", "utf-8")
        sync(fresh)
        os.replace(fresh, folder / MANIFEST)

    def _check(self, name: str) -> None:
        """Refuse to write over, or remove, what is not as we wrote it."""
        target, shown = self._path / name, self.shown / name
        if target.parent != self._path and (above := mode(target.parent)) is not None:
            if not stat.S_ISDIR(above):
                raise InputError(
                    f"'{shown.parent}'",
                    "it is in the way of a folder that would be written",
                    "Move it away, or name another folder",
                )
            if not os.access(target.parent, os.W_OK | os.X_OK):  # as after a run of root
                raise InputError(
                    f"'{shown.parent}'", "this user may not write there", "Take the right to, or name another folder"
                )
        if mode(target) is None:
            return
        if name not in self._known:
            raise InputError(
                f"'{shown}'",
                "it would be written over, and Leeward did not write it",
                "Move it away, or name another folder",
            )
        if digest_or_none(target) not in self._known[name]:
            raise InputError(
                f"'{shown}'",
                "it was changed since Leeward wrote it, and would be written over",
                "Keep a copy and delete it here, or name another folder",
            )


@contextmanager
def prepared(
    directory: str | os.PathLike[str],
    what: str,
    *,
    names: Iterable[str] = (),
    keep: bool = False,
    room: int = 0,
    again: str = "",
) -> Iterator[Folder]:
    """Prepare a folder to be written, so that what can be refused is refused before anything is paid for.

    Args:
        directory: the folder; it may be there, empty or with what an earlier call for the same ``what`` wrote.
        what: what is written, in a word or two that the manifest keeps: another kind of output is not replaced.
        names: what will be written, as far as it is known.
        keep: leave what an earlier call wrote and this one does not write again.
        room: about how many bytes will be written; they are set aside until then.
        again: what else to say if it cannot be written in the end.

    Raises:
        InputError: it cannot be written, or holds what would be lost.
    """
    given, shown = resolve(directory), Path(directory)
    with ExitStack() as stack:
        with said(shown):
            path = Path(os.path.realpath(given))  # a link leads to the folder, perhaps on another disk
            check_name(path)
            found = mode(path)
            if found is not None and not stat.S_ISDIR(found):
                raise InputError(f"'{shown}'", "it is not a folder, and a folder is to be written", "Name another one")
            _refuse_foreign(path, shown, is_there=found is not None)
            sweep(path.parent)  # where one was left before the folder was there
            # inside a folder that is there: files are moved to their places on one disk
            made = stack.enter_context(scratch(path if found is not None else path.parent, (_ROOM,)))
            set_aside(made.path / _ROOM, room)
            folder = Folder(shown, path, what, keep, made, again)
            # locked as it will be, so that one that cannot be locked is found before anything is paid for
            with nullcontext() if found is None else alone_in(path):
                folder.check(names)
        yield folder


@contextmanager
def fresh(parent: Path, names: Iterable[str]) -> Iterator[Path]:
    """Make a folder that is nobody else's, under the first free one of some names; it goes if nothing is written into it.

    It is made at once: what somebody else is about to write into theirs may have no files yet.

    Args:
        parent: the folder that it is in, which is made where there is none.
        names: enough of them, say numbered.

    Raises:
        InputError: it cannot be made.
    """
    with said(parent):
        parent.mkdir(parents=True, exist_ok=True)
        for name in names:
            made = parent / name
            with suppress(FileExistsError):
                made.mkdir()
                break
            sweep(made)  # whoever was killed at one that nobody writes into again
    try:
        yield made
    finally:
        with suppress(OSError):
            made.rmdir()


def holds_release(folder: Path) -> bool:
    """Whether a folder is one into which something with a privacy statement was written."""
    try:
        files = json.loads(read_small(folder / MANIFEST))["files"]
        return any(name.rpartition("/")[2] == STATEMENT for name in files)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def _refuse_foreign(path: Path, shown: Path, *, is_there: bool) -> None:
    if not is_there and not os.path.isdir(path.parent):
        raise InputError(
            f"The directory '{shown}'", "its parent folder does not exist", "Create it, or name another one"
        )
    if not is_there or _has_manifest(path):
        return
    with os.scandir(path) as entries:
        is_empty = all(entry.name.startswith(".leeward-") for entry in entries)
    if not is_empty:
        raise InputError(
            f"The directory '{shown}'",
            f"it holds files that Leeward did not write: it has no {MANIFEST}",
            "Name another one, which is made",
        )


def _has_manifest(folder: Path) -> bool:
    found = mode(folder / MANIFEST)
    return found is not None and stat.S_ISREG(found)


def _read(path: Path, shown: Path, what: str) -> dict[str, list[str]]:
    """Read a manifest: the digests that each file may have, by name.

    Raises:
        InputError: it is not, or is one of another kind of output.
    """
    if not _has_manifest(path):
        return {}
    try:
        found: Any = json.loads(read_small(path / MANIFEST))
        files: dict[str, list[str]] = dict(found["files"])
        kind = found["what"]
        sound = isinstance(kind, str) and all(_is_name(name) for name in files)
        sound = sound and all(isinstance(d, list) and all(map(is_text, d)) for d in files.values())
    except (ValueError, TypeError, KeyError, RecursionError):
        sound = False
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise InputError(
            f"'{shown / MANIFEST}'",
            "it is larger than 16 MiB, and such a list is read up to that",
            "Name another folder",
        ) from None
    if not sound:
        raise InputError(
            f"'{shown / MANIFEST}'",
            "it is not a list of what Leeward wrote, so nothing here is replaced",
            "Name another folder",
        )
    if kind != what:
        raise InputError(
            f"The directory '{shown}'", f"it holds {kind}, and {what} would be written", "Name another one"
        )
    return files


def _is_name(name: str) -> bool:
    parts = name.split("/")
    sound = all(part not in (".", "..") and _PART.fullmatch(part) for part in parts)
    return sound and len(parts) <= 2 and name != MANIFEST and is_text(name)
