# SPDX-License-Identifier: Apache-2.0
"""Where a path leads: one rule for all paths that a spec names, and for those that Python code gives.

A path of a spec is relative to the spec file. One given in Python is relative to the working directory of that moment. From
then on it is absolute, so that nothing depends on where the program happens to stand later.
"""

from __future__ import annotations

import errno
import glob
import os
import re
from pathlib import Path
from typing import Any, Final

from leeward._plain import echo
from leeward.errors import InputError, LedgerError

_SQLITE = re.compile(r"(?i)\Asqlite:///")
_OF_LIBPQ = re.compile(r"(?i)\b(host|hostaddr|port|dbname|user|password|passfile|service)\s*=")
"""What stands in a connection string of PostgreSQL's own programs, which may hold a password."""
_EXAMPLE = "Write sqlite:///budget.db, sqlite:////absolute/path/budget.db or a path"


def resolve(named: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Path:
    """Return a path as an absolute one.

    Args:
        named: the path as it was given.
        folder: what it is relative to; None for the working directory.

    Raises:
        InputError: it is not a path.
    """
    if not isinstance(named, str | bytes | os.PathLike):
        raise InputError(f"A path given as {echo(named)}", "it is not a path", "Give text or a pathlib.Path")
    text = os.fspath(named)
    if not isinstance(text, str) or "\0" in text:
        raise InputError("A path that is not text, or holds a zero byte", "no file has such a name", "Correct it")
    try:
        return Path(folder or "", text).absolute()
    except OSError:
        raise InputError(
            f"The path '{text}'", "it is relative, and the working directory is gone", "Give an absolute one"
        ) from None


LARGEST_SMALL_FILE: Final = 1 << 24
"""16 MiB: more than any spec, or list of counts, that somebody wrote."""


def read_small(path: str | os.PathLike[str]) -> bytes:
    """Read a small file that may be a pipe, as of a process that writes it; a device that never ends is given up.

    Raises:
        OSError: it cannot be read, or is larger than 16 MiB.
    """
    with open(path, "rb") as file:
        found = file.read(LARGEST_SMALL_FILE + 1)
    if len(found) > LARGEST_SMALL_FILE:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return found


def resolve_source(named: Any, folder: str | os.PathLike[str] | None = None) -> Any:
    """Return a source of data with the paths in it made absolute: a path, a pattern, or a list of these.

    What is not a path (a table in memory, an address) is returned as it is. The folder is a name, never part of a pattern.
    """
    if isinstance(named, list | tuple):
        return [resolve_source(one, folder) for one in named]
    if not isinstance(named, str | os.PathLike) or "://" in os.fspath(named):
        return named
    path = resolve(named, folder)
    if glob.has_magic(os.fspath(named)) and not os.path.exists(path):
        return os.path.join(glob.escape(str(resolve(folder or "."))), os.fspath(named))
    return str(path)


def resolve_ledger(named: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the absolute path of the SQLite file that a path or a ``sqlite:///`` address of a budget names.

    Raises:
        LedgerError: it is another kind of address, or names no file.
    """
    text = os.fspath(named)
    plain = _SQLITE.sub("", text) if isinstance(text, str) else text
    # what was given is never repeated: an address may hold a password
    if plain == text and isinstance(text, str) and (scheme := re.match(r"([A-Za-z][\w.]*)(\+\w*)?:", text)):
        raise LedgerError(*_refused(scheme[1].lower(), scheme[2]), _EXAMPLE)
    if plain in ("", ":memory:") or str(plain).startswith(("file:", "://")) or (plain != text and "?" in plain):
        raise LedgerError("The address of the budget names no plain file", "a budget outlives its process", _EXAMPLE)
    if isinstance(text, str) and ("://" in str(plain) or _OF_LIBPQ.search(text)):
        raise LedgerError(
            "The budget is named by words for a connection",
            "it would be a file of that name, with all that stands in it",
            _EXAMPLE,
        )
    return resolve(plain, folder)


def _refused(scheme: str, driver: str | None) -> tuple[str, str]:
    if scheme != "sqlite":
        kinds = "budgets of data sets are kept in SQLite files or PostgreSQL databases, those of people in SQLite files"
        return f"The budget is on '{scheme}'", kinds
    if driver:
        return "The address of the budget names a driver", "it says which file, and nothing else"
    return "The address of the budget names no plain file", "sqlite: has three slashes after it, then a path"
