# SPDX-License-Identifier: Apache-2.0
"""What folders and files that are written share: digests, durability, room, and the system's complaints in plain words."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from leeward._locks import lock, unlock
from leeward._scratch import scratch
from leeward.errors import InputError

_WHOLE: Final = "whole"


def mode(path: Path) -> int | None:
    """Return the mode of what is at a path, a link itself and not where it leads; None where nothing is."""
    try:
        return path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def digest(path: Path) -> str:
    """Return the SHA-256 digest of a file, in hexadecimal. A link is not followed."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_or_none(path: Path) -> str | None:
    """Return the digest of a file; None where there is no file, or it is not a plain one."""
    found = mode(path)
    return digest(path) if found is not None and stat.S_ISREG(found) else None


def sync(path: Path) -> None:
    """Make a file or folder durable."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def give(file: int, like: Path) -> None:
    """Give an open file to whom another belongs, where this process may: root may, and who is in its group gives it to that.

    Else what root replaced once would be closed to whom it was of, and what one of a group replaced to the others.

    Args:
        file: its descriptor.
        like: the other; where it is not, nothing is done.
    """
    with suppress(OSError):
        found = like.stat()
        with suppress(OSError):
            os.fchown(file, -1, found.st_gid)
        os.fchown(file, found.st_uid, -1)


def replace_whole(
    target: Path, content: bytes, permissions: int | None = None, by: Path | None = None, like: Path | None = None
) -> None:
    """Write a file whole or not at all, in place of the one of that name; durable when it returns.

    Args:
        target: the file.
        content: what it will hold.
        permissions: its mode, whatever the umask takes; None for that of any new file.
        by: what it is called until it is whole; None for a place that is swept where this is killed.
        like: another, whose owner and group it is to have; None for those of the one that it replaces.
    """
    if by is None:
        with scratch(target.parent, [_WHOLE]) as made:
            replace_whole(target, content, permissions, made.path / _WHOLE, like)
        return
    try:
        _write(by, content, permissions, like or target)
        os.replace(by, target)
        sync(target.parent)
    finally:
        by.unlink(missing_ok=True)


def write_new(target: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all, whenever this is killed; durable when it returns.

    Raises:
        FileExistsError: there is one of that name: it is never written over.
        OSError: it cannot be written.
    """
    with scratch(target.parent, [_WHOLE]) as made:
        whole = made.path / _WHOLE
        _write(whole, content)
        try:
            os.link(whole, target)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            whole.rename(target)
        sync(target.parent)


def _write(new: Path, content: bytes, permissions: int | None = None, like: Path | None = None) -> None:
    """Write a file that is not there, durably; see `replace_whole`."""
    opened = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if permissions is None else permissions)
    with open(opened, "wb") as file:
        if like is not None:
            give(file.fileno(), like)
        if permissions is not None:
            os.fchmod(file.fileno(), permissions)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def as_any_new(folder: Path) -> None:
    """Give a folder that another program wrote, and its files, the modes that any new ones of this process have.

    Raises:
        OSError: they belong to somebody else.
    """
    probe = folder / f".leeward-{uuid.uuid4().hex}"
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        usual = stat.S_IMODE(probe.stat().st_mode)
    finally:
        probe.unlink()
    for path in folder.iterdir():
        path.chmod(usual)
    folder.chmod(usual | (usual & 0o444) >> 2)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Be the only one who replaces what is in a folder, of all who ask so; wait for another one.

    Raises:
        OSError: it cannot be locked.
    """
    with ExitStack() as stack:
        opened = os.open(folder, os.O_RDONLY)
        stack.callback(os.close, opened)
        lock(opened, wait=True)
        stack.callback(unlock, opened)
        yield


def set_aside(path: Path, room: int) -> None:
    """Take so many bytes on the disk, in a new file, where the file system knows how.

    Raises:
        InputError: files that are made now cannot be read by who makes them.
        OSError: there is no such room.
    """
    path.mkdir()
    is_ours = os.access(path, os.R_OK | os.W_OK | os.X_OK)
    path.rmdir()
    if not is_ours:
        raise InputError(
            "Files and folders that are made now",
            "the umask takes from their owner the right to complete them, which would be found only once they are paid for",
            "Set one that leaves it: umask 077",
        )
    with path.open("xb") as file:
        if room and hasattr(os, "posix_fallocate"):
            try:
                os.posix_fallocate(file.fileno(), 0, room)
            except OSError as error:
                if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
                    raise


@contextmanager
def said(shown: Path, again: str = "") -> Iterator[None]:
    """Say in plain words that something cannot be written.

    Args:
        shown: what it is, as it was named.
        again: what stands nevertheless, and how to come by it; said also of what is refused in words of its own.

    Raises:
        InputError: it cannot.
    """
    try:
        yield
    except InputError as error:
        if again:
            error.add_note(again[0].upper() + again[1:])
        raise
    except OSError as error:
        few = error.errno in (errno.EMFILE, errno.ENFILE)
        instead = "Allow more open files at once: ulimit -n 1024" if few else "Make room or name another place"
        instead += f"; {again}" if again else ""
        because = os.strerror(error.errno) if error.errno else "the system does not say why"
        made = InputError(f"'{shown}' cannot be written", because, instead)
        for note in getattr(error, "__notes__", ()):  # what stands nevertheless
            made.add_note(note)
        raise made from None
