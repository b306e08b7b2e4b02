# SPDX-License-Identifier: Apache-2.0
"""The one file of a ledger in SQLite: what may be one, and whether there is one. Nothing is opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from leeward._paths import resolve_ledger
from leeward._postgres import is_address
from leeward.errors import LedgerError
from leeward.ledger._beside import companion
from leeward.ledger._high_water_mark import mark_path

_LONGEST_NAME = 255 - len(companion(Path("_"), "0" * 32, "lock").name[1:])
"""Bytes of a file's name that leave room for the longest name beside it."""


def is_absent(url: str | Path) -> bool:
    """Whether no ledger is in a file, nor was: neither it nor its mark is there. Of a database it is not known.

    Raises:
        LedgerError: its name is too long.
        InputError: it is not the name of a file.
    """
    if isinstance(url, str) and is_address(url):
        return False
    path = plain_file(resolve_ledger(url))
    is_marked = os.path.lexists(mark_path(path))  # asked first: meanwhile another process may make both
    return not os.path.lexists(path) and not is_marked


def refuse_no_folder(url: str | Path) -> None:
    """Refuse to make a ledger in a file where there is no folder for it; a database has none.

    Raises:
        LedgerError: there is none.
    """
    if isinstance(url, str) and is_address(url):
        return
    path = plain_file(resolve_ledger(url))
    if not os.path.isdir(path.parent):
        raise LedgerError(f"The ledger cannot be made at {path}", "its folder does not exist", "Make the folder first")


_SQLITES = {"-wal": (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"), "-journal": (b"\xd9\xd5\x05\xf9",), "-shm": ()}
"""What SQLite keeps beside a file, by the end of its name, and how its content begins, or with zeros. The shared memory is
not opened: closing it would give up the locks that this process holds on it."""

_PAGE, _CUT = 1 << 12, 3
"""Shared memory grows by pages of so many bytes, from the few to which SQLite first cuts what it finds; a full disk, or the
end of the process, leaves it anywhere between, and SQLite makes it anew."""


def files_beside(path: Path) -> set[Path]:
    """Return where SQLite and Leeward keep files beside one of theirs, but for those of random names; of no file nowhere."""
    if not path.name:
        return set()
    return {mark_path(path), *(path.with_name(path.name + ending) for ending in _SQLITES)}


def plain_file(path: Path) -> Path:
    """Return where a path leads, so that one file is known by one name; see `refuse_odd`.

    Raises:
        LedgerError: there it cannot be kept, or SQLite would take something beside it for its own; or it is a link that
            leads nowhere.
    """
    if os.path.islink(path) and not os.path.exists(path):
        raise LedgerError(
            f"The file {path} is a link that leads nowhere",
            "what it led to may know what was spent, and a new file would not",
            "Bring back what it led to (mount its disk), or remove the link",
        )
    path = Path(os.path.realpath(path))
    refuse_odd(path)
    _refuse_taken(path)
    return path


def _refuse_taken(path: Path) -> None:
    """Refuse a name by which SQLite would remove a file that is not its own: it takes what lies beside a file by its name.

    Raises:
        LedgerError: the file is named as what SQLite keeps beside another; or something else is named so, beside this one.
    """
    if (ending := next(filter(path.name.endswith, _SQLITES), None)) is not None:
        raise LedgerError(
            f"The file {path} is named as SQLite names what it keeps beside a file",
            f"it would be removed as soon as '{path.name.removesuffix(ending)}' is opened, with what it knows",
            "Give it a name with another end",
        )
    for ending, beginnings in _SQLITES.items():
        beside = path.with_name(path.name + ending)
        if not _is_sqlites(beside, beginnings):
            raise LedgerError(
                f"The file {beside} is not one of SQLite's",
                f"SQLite takes it by its name for a part of '{path.name}', and would remove it",
                "Move it away, or name another file",
            )


def _is_sqlites(beside: Path, beginnings: tuple[bytes, ...]) -> bool:
    """Whether a file is one that SQLite made, or is not there; what cannot be read is left to SQLite to tell."""
    try:
        found = beside.stat()
        if not stat.S_ISREG(found.st_mode):  # a pipe would be waited for
            return False
        if not beginnings:
            return found.st_size % _PAGE == 0 or found.st_size == _CUT
        with beside.open("rb") as file:
            begins = file.read(len(beginnings[0]))
    except OSError:
        return True
    return not any(begins) or any(beginning.startswith(begins) for beginning in beginnings)


def refuse_odd(path: Path) -> None:
    """Refuse what is not a plain file of one name: SQLite keeps locks and journals by name, two would write over each other.

    Raises:
        LedgerError: it is there, and is a folder, a pipe or a device, or has two names; its name is too long; or its
            folder cannot be looked into.
    """
    if len(os.fsencode(path.name)) > _LONGEST_NAME:
        raise LedgerError(
            f"The file {path} has a name of more than {_LONGEST_NAME} bytes",
            "files beside it are named after it, and few file systems hold names of more than 255 bytes",
            "Give it a shorter name",
        )
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # it is not there yet
    except OSError as error:
        raise LedgerError(
            f"The file {path} cannot be looked at: {error.strerror}",
            "nobody can say here whether it is there, and what it knows of what was spent",
            "Have its folder opened to you, or name another file",
        ) from None
    if os.path.isdir(path):
        raise LedgerError(f"{path} is a folder", "a budget is one file", "Name a file in it")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise LedgerError(f"{path} is not a regular file", "a budget is one file that is kept", "Name another")
    if os.path.isfile(path) and path.stat().st_nlink > 1:
        raise LedgerError(
            f"The file {path} has another name too (a hard link)",
            "a process that writes under one name does not see one that writes under the other, and charges would be lost",
            "Remove the other name, or make it a symbolic link",
        )
