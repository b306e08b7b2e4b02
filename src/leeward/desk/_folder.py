# SPDX-License-Identifier: Apache-2.0
"""The folder whose files the desk may read: what leads out of it is refused, by whatever way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from leeward._paths import resolve
from leeward._plain import is_text, plain
from leeward.errors import InputError
from leeward.outputs import holds_release
from leeward.tables._kinds import endings

ENDINGS: Final = endings(("csv", "xlsx", "parquet", "geojson"), asked=True)
"""The kinds of tables that are listed."""

_MOST: Final = 500
_DEEPEST: Final = 6


@dataclass(frozen=True)
class Folder:
    """A folder of files.

    Attributes:
        root: its real path.
    """

    root: Path

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Folder:
        """Return the folder of a name.

        Raises:
            InputError: it is not a folder.
        """
        root = Path(os.path.realpath(resolve(folder)))
        if not os.path.isdir(root):
            raise InputError(f"The folder '{folder}'", "it is not a folder", "Name the one that your tables are in")
        return cls(root)

    def file(self, name: str) -> Path:
        """Return the path of a file, without links.

        Args:
            name: its name below the folder, with ``/`` between folders.

        Raises:
            InputError: it is outside the folder, also by a link; hidden; of no kind that is read; or no regular file.
        """
        parts = name.split("/")
        if not is_text(name) or "\\" in name or any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            raise _outside(name)
        path = Path(os.path.realpath(self.root / PurePosixPath(name)))
        if not path.is_relative_to(self.root) or path == self.root:
            raise _outside(name)
        if not (name.lower().endswith(ENDINGS) and path.name.lower().endswith(ENDINGS)):
            raise InputError(f"The file '{plain(name)}'", "it is not a table", f"Choose one of: {', '.join(ENDINGS)}")
        try:
            kind = os.stat(path).st_mode
        except OSError:
            raise InputError(
                f"The file '{plain(name)}'", "there is no such file", "Choose one of those listed"
            ) from None
        if not stat.S_ISREG(kind):
            raise InputError(f"'{plain(name)}'", "it is not a regular file", "Choose one of those listed")
        return path

    def own(self, *parts: str) -> Path:
        """Return the path of what the desk itself keeps in the folder, there already or not.

        Raises:
            InputError: a link stands there, which may lead out of the folder.
        """
        path = self.root.joinpath(*parts)
        if os.path.realpath(path) != str(path):
            raise InputError(
                f"'{'/'.join(parts)}' in the folder of the desk",
                "it is a link, or lies behind one, and that may lead out of the folder",
                "Move the link away",
            )
        return path

    def kept(self, own: Path) -> list[str]:
        """Return the names in a folder of the desk's own (see `own`); none where it is not there yet.

        Raises:
            InputError: it cannot be looked into.
        """
        try:
            return os.listdir(own)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise InputError(
                f"'{own.relative_to(self.root)}' in the folder of the desk",
                f"it cannot be looked into: {error.strerror}",
                "Have it opened to you, or start the desk for another folder",
            ) from None

    def files(self) -> list[str]:
        """Return the names of the tables in the folder, in order: at most 500, not deep down, none of a release."""
        found = list[str]()
        for name in self._tables():
            found.append(name)
            if len(found) == _MOST:
                break
        return sorted(found, key=lambda name: (name.count("/"), name.casefold()))

    def _tables(self) -> Iterator[str]:
        for folder, below, names in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            if len(here.parts) >= _DEEPEST:
                below.clear()
            below[:] = sorted(name for name in below if not name.startswith(".") and name != OWN)
            below[:] = [name for name in below if not holds_release(Path(folder, name))]
            for name in sorted(names):
                full = (here / name).as_posix()
                try:
                    self.file(full)
                except InputError:
                    continue
                yield full


OWN: Final = "leeward-desk"
"""The folder, in that of the data, in which the desk keeps drafts and releases."""

LEDGER: Final = "budget.db"
"""The file, in the folder of the data, in which the desk keeps the budget."""


def _outside(name: str) -> InputError:
    return InputError(
        f"The file '{plain(name)}'",
        "it is not one below the folder that the desk was started for",
        "Choose one of those listed, or start the desk for another folder",
    )
