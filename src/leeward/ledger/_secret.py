# SPDX-License-Identifier: Apache-2.0
"""The secret key of content digests, in a file of the user's that is kept apart from every ledger.

A ledger keeps digests of the tables it was charged for, to notice that one changed. With the key, whoever knows all rows but
one could find the missing one by trying; so a ledger never holds it. It is made once for each user, and each ledger uses a
key of its own that is derived from it: two stolen ledgers cannot be compared. A ledger remembers the *fingerprint* of its
key, to notice that it has another one, and every change of it is an entry of its history.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import stat
import uuid
from pathlib import Path

from leeward._paths import resolve
from leeward._plain import plain
from leeward.errors import LedgerError
from leeward.ledger._beside import PRIVATE
from leeward.outputs._disk import sync

VARIABLE = "LEEWARD_KEY"
"""The variable of the environment that names another file for the key."""

_SIZE = 32


def key_path() -> Path:
    """Return where the key of this user is: ``$LEEWARD_KEY``, or ``leeward/content.key`` in the folder of configurations.

    Raises:
        LedgerError: this user has no home, and the variable is not set; or it, or that home, is relative.
    """
    if (chosen := named_by(VARIABLE)) is not None:
        return chosen
    named = os.environ.get("XDG_CONFIG_HOME", "")  # its specification ignores a relative one
    try:
        base = Path(named) if os.path.isabs(named) else Path.home() / ".config"
    except RuntimeError:
        raise LedgerError(
            "There is no home folder to keep the key of content digests in",
            "a ledger never holds its own key",
            f"Set {VARIABLE} to a file that only you can read",
        ) from None
    if not os.path.isabs(base):
        raise _relative("HOME", str(Path.home()))
    return resolve(base / "leeward" / "content.key")


def named_by(variable: str) -> Path | None:
    """Return the path that a variable of the environment names; None where it is not set.

    Raises:
        LedgerError: it is relative: there would be another in each folder that a program is started from.
    """
    named = os.environ.get(variable)
    if named and not os.path.isabs(named):
        raise _relative(variable, named)
    return resolve(named) if named else None


def _relative(variable: str, named: str) -> LedgerError:
    return LedgerError(
        f"{variable} = '{plain(named)}'",
        "it is relative: started from another folder, nothing would be known there",
        "Give an absolute path",
    )


def read_private(path: str | os.PathLike[str], size: int = -1) -> tuple[bytes, bool]:
    """Read a regular file, or its first ``size`` bytes; return them, and whether others than its owner may read or write it.

    Raises:
        OSError: it cannot be read, or is not a regular file; a pipe is not waited for.
    """
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as file:
        mode = os.fstat(opened).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        return file.read(size), bool(stat.S_IMODE(mode) & 0o077)


def read_key() -> bytes:
    """Read the key.

    Raises:
        LedgerError: it is not there, is not a key, or others can read it.
    """
    path = key_path()
    try:
        found, is_open_to_others = read_private(path, _SIZE + 1)
    except FileNotFoundError:
        raise LedgerError(
            f"The key of content digests is not at {path}",
            "without it nobody can tell whether the content of a table changed, or was charged under another name",
            f"Bring it back from a copy, or set {VARIABLE} to where it is; if it is lost, accept that earlier content"
            " cannot be recognised any more: `leeward budget new-key`",
        ) from None
    except OSError as error:
        raise _unusable(path, str(error.strerror)) from None
    if len(found) != _SIZE:
        raise _unusable(path, "it is not a key: it has not 32 bytes")
    if is_open_to_others:
        raise LedgerError(
            f"The key of content digests, {path}, may be read by others",
            "anyone who has it and a ledger can test guesses about the data",
            f"Take that right away: chmod 600 '{path}'",
        )
    return found


def read_or_make_key() -> bytes:
    """Read the key; make one where there is none.

    Raises:
        LedgerError: it cannot be read or made.
    """
    path = key_path()
    if not os.path.lexists(path):
        _make(path)
    return read_key()


def key_of(ledger: str, key: bytes) -> bytes:
    """Return the key that one ledger uses, 32 bytes, from its random id and the user's key."""
    return hmac.new(key, f"leeward content of {ledger}".encode(), hashlib.sha256).digest()


def fingerprint(key: bytes) -> str:
    """Return the name of a ledger's key; it reveals nothing about the key."""
    return hmac.new(key, b"leeward fingerprint", hashlib.sha256).hexdigest()[:32]


def make_folder(path: Path) -> None:
    """Make a folder and those above it that are missing, each for this user only, whatever the umask takes."""
    if not os.path.isdir(path):
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        path.chmod(0o700)


def _make(path: Path) -> None:
    fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        make_folder(path.parent)
        try:
            with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "wb") as file:
                os.fchmod(file.fileno(), PRIVATE)  # whatever the umask takes
                file.write(os.urandom(_SIZE))
                file.flush()
                os.fsync(file.fileno())
            os.link(fresh, path)  # whole, and never over another one
        except FileExistsError:
            pass  # another process was faster: its key is ours too
        finally:
            fresh.unlink(missing_ok=True)
        sync(path.parent)
    except OSError as error:
        raise _unusable(path, f"it cannot be made: {error.strerror}") from None


def _unusable(path: Path, because: str) -> LedgerError:
    return LedgerError(
        f"The key of content digests, {path}, cannot be used",
        because,
        f"Set {VARIABLE} to a file in a folder that only you can read and write",
    )
