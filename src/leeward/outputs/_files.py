# SPDX-License-Identifier: Apache-2.0
"""A file, or a folder, with its statement beside it, and single pages: replaced only if they are still what was written.

``OUT.release.json`` says what ``OUT`` promises, and lists the digests of ``OUT``, of what else lies beside it, and of itself
without that list. Of two who write one ``OUT`` at once, the later one replaces all that the other wrote. A page ends in a
line with the digest of what is before it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from leeward._paths import read_small, resolve
from leeward._plain import is_text
from leeward._scratch import Scratch, check_name, scratch
from leeward.errors import InputError
from leeward.outputs._disk import alone_in, digest, digest_or_none, mode, replace_whole, said, set_aside, sync

STATEMENT: Final = ".release.json"
"""What is added to a file's name for its statement."""

_ROOM = "room"
_SEAL = re.compile(rb"<!-- written by Leeward, SHA-256 ([0-9a-f]{64}) -->\n\Z")


class Files:
    """A file and what lies beside it, while they are made. `beside` makes it.

    Attributes:
        shown: the file and what lies beside it, the file first, as they were named.
    """

    def __init__(self, out: Path, endings: Sequence[str], inputs: Iterable[Path], made: Scratch) -> None:
        # a link to a folder is followed; one in the place of the file itself is in the way
        self._out = Path(os.path.realpath(resolve(out).parent)) / out.name
        self._endings, self._made = endings, made
        self._inputs = {os.path.realpath(one) for one in inputs}
        self.shown = tuple(out.with_name(out.name + ending) for ending in ("", STATEMENT, *endings))
        check_name(self._out)  # its statement lists it, too
        # locked here too, so that a folder that cannot be locked is found before anything is paid for
        with alone_in(self._out.parent):
            self._check()

    def path(self, ending: str = "") -> Path:
        """Return where to write the file, or what lies beside it under its name with an ending; see `beside`."""
        (self._made.path / _ROOM).unlink(missing_ok=True)
        return self._made.path / f"file{ending}"

    def place(self, statement: Mapping[str, Any]) -> None:
        """Put all in place, the statement with the digests first and the file last: it is never there without it.

        Raises:
            InputError: one of the places was taken meanwhile, or they cannot be written.
        """
        with said(self.shown[0]):
            staged = {ending: _digests(self.path(ending)) for ending in ("", *self._endings)}
            made = {self._target(ending).name + name: d for ending, held in staged.items() for name, d in held.items()}
            made[self._target(STATEMENT).name] = _digest_of(statement)
            self.path(STATEMENT).write_bytes(_bytes(statement, made))
            staged[STATEMENT] = _digests(self.path(STATEMENT))
            order = (STATEMENT, *self._endings, "")
            for ending in order:
                _sync(self.path(ending))
            with alone_in(self._out.parent):
                for earlier in self._check():
                    earlier.unlink(missing_ok=True)
                for ending in order:
                    os.replace(self.path(ending), self._target(ending))
                sync(self._out.parent)
                self._read_back(staged)

    def _read_back(self, staged: Mapping[str, Mapping[str, str]]) -> None:
        """Refuse to say that all is in place if a program that asks for no lock has written there meanwhile.

        A folder took its name in one step, and only where nothing was: it is not read again.
        """
        files = {ending: made[""] for ending, made in staged.items() if "" in made}
        if any(digest_or_none(self._target(ending)) != made for ending, made in files.items()):
            raise InputError(
                f"'{self.shown[0]}'",
                "another program wrote there at the same time",
                "Look at what is there, and run again",
            )

    def _check(self) -> list[Path]:
        """Return what an earlier run wrote, its statement last; refuse to replace anything else, or what was changed."""
        statement = self._target(STATEMENT)
        known, named = _listed(statement), [path.name for path in self.shown]
        # what this run does not write again goes too: it is about another promise
        named += [name for name in known if name not in named and _is_beside(self._out, name)]
        found = []
        for name in named:
            target, shown = self._out.with_name(name), self.shown[0].with_name(name)
            if os.path.realpath(target) in self._inputs:
                raise InputError(
                    f"'{shown}'",
                    "it would replace a file that the spec names",
                    "Name another file",
                )
            if mode(target) is None:
                continue
            if not (target == statement and known) and (name not in known or digest_or_none(target) != known[name]):
                raise _in_the_way(shown)
            found.append(target)
        return sorted(found, key=lambda path: path == statement)

    def _target(self, ending: str) -> Path:
        return self._out.with_name(self._out.name + ending)


@contextmanager
def beside(
    out: Path, *endings: str, room: int = 0, inputs: Iterable[Path] = (), holds: Iterable[str] = ()
) -> Iterator[Files]:
    """Prepare a file, its statement, and more files with these endings, to be written into one folder.

    Args:
        out: the file; or a folder that is written whole, and never in the place of another.
        endings: what is added to its name for the names of the others.
        room: about how many bytes will be written; they are set aside until then.
        inputs: what is read meanwhile, or kept for later; none of them is written over.
        holds: of a folder, which files it may hold while it is made: patterns of names.

    Raises:
        InputError: the folder cannot be written, or something would be lost.
    """
    names = [*(f"file{ending}" for ending in ("", STATEMENT, *endings)), *(f"file/{name}" for name in holds)]
    with ExitStack() as stack, said(out):
        parent = Path(os.path.realpath(resolve(out).parent))
        if not os.path.isdir(parent):
            raise InputError(f"'{out}'", "its folder does not exist", "Make the folder first")
        made = stack.enter_context(scratch(parent, [*names, _ROOM]))
        files = Files(out, endings, inputs, made)
        set_aside(made.path / _ROOM, room)
        yield files


def write_page(path: str | os.PathLike[str], text: str) -> Path:
    """Write a page of HTML, whole or not at all. One that was written here before is replaced.

    Raises:
        InputError: something else is there, or the page was changed since, or it cannot be written.
    """
    shown = Path(path)
    body = text.encode() + (b"" if text.endswith("\n") else b"\n")
    seal = f"<!-- written by Leeward, SHA-256 {hashlib.sha256(body).hexdigest()} -->\n".encode()
    with said(shown):
        target = Path(os.path.realpath(resolve(path)))
        if mode(target) is not None and not _is_sealed(target):
            raise _in_the_way(shown)
        replace_whole(target, body + seal)
    return shown


def _in_the_way(shown: Path) -> InputError:
    return InputError(
        f"'{shown}'",
        "it would be written over, and it is not as Leeward wrote it",
        "Move it away, or name another file",
    )


def _digests(made: Path) -> dict[str, str]:
    """The digest of a file; of a folder, those of its files, by what is added to its name for them."""
    if not os.path.isdir(made):
        return {"": digest(made)}
    return {f"/{name}": digest(made / name) for name in sorted(os.listdir(made))}


def _sync(made: Path) -> None:
    if os.path.isdir(made):
        for name in os.listdir(made):
            sync(made / name)
    sync(made)


def _is_beside(out: Path, name: str) -> bool:
    return name.startswith(f"{out.name}.") and "/" not in name and is_text(name)


def _is_sealed(path: Path) -> bool:
    if digest_or_none(path) is None:
        return False
    held = path.read_bytes()
    seal = _SEAL.search(held)
    return seal is not None and hashlib.sha256(held[: seal.start()]).hexdigest().encode() == seal[1]


def _listed(statement: Path) -> dict[str, str]:
    """The digests that a statement lists, its own among them; none where it is not a statement, or was changed."""
    try:
        text = read_small(statement) if digest_or_none(statement) else b"{}"
        held: dict[str, Any] = json.loads(text)
        listed: dict[str, str] = dict(held.pop("files"))
        mine = _digest_of(held) if text == _bytes(held, listed) else ""
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
    return listed if listed.get(statement.name) == mine else {}


def _bytes(statement: Mapping[str, Any], files: Mapping[str, str]) -> bytes:
    text = json.dumps({**statement, "files": files}, indent=2, ensure_ascii=False) + "\n"
    # a name in GeoJSON may hold half of a surrogate pair: it is written as JSON writes it
    return text.encode("utf-8", "backslashreplace")


def _digest_of(statement: Mapping[str, Any]) -> str:
    read_back = json.loads(json.dumps(statement))
    return hashlib.sha256(json.dumps(read_back, sort_keys=True).encode()).hexdigest()
