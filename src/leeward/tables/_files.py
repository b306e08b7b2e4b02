# SPDX-License-Identifier: Apache-2.0
"""Which files a source names: each by its real path, and each once.

A pattern is expanded here and never again: what it yields are names, whatever characters they hold. Two names for one
file (a link, another way through the folders, two patterns that both match) are one file, told by its device and inode, or
its rows would count twice.

What is read of a file is handed on as long as its stamp says that it is the same: a release opens its tables several times.
"""

from __future__ import annotations

import difflib
import errno
import functools
import glob
import gzip
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, TypeVarTuple, cast, get_args

from leeward._plain import is_text
from leeward._private import Private
from leeward.errors import DataError, nearest
from leeward.tables._kinds import kind_of

Queried = Literal["parquet", "csv", "duckdb", "xlsx", "geojson"]
"""The kinds of files that questions are asked about."""

Stamp = tuple[int, ...]
"""Device, inode, size, and the times of the last writing and of the last change of a file, in nanoseconds.

It changes when a file is written, or another one takes its place; the last of them cannot be set back, as the others can.
"""

_STILL: Final = 2_000_000_000
"""Nanoseconds. Where clocks of file systems are coarse, a file that is written twice within them may keep its stamp."""

_KNOWN: Final = 1024
"""Of so many files and questions about them the answers are kept."""

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, repr=False)
class File(Private):
    """One file of a table.

    Attributes:
        name: the first name it was found under, for messages; how it ends says what it holds.
        path: its real path, without links.
        stamp: what identifies it, as of when it was found.
        is_still: whether it had not been written for two seconds by then.
        is_gzip: whether it is compressed, as its name says.
    """

    name: str
    path: str
    stamp: Stamp
    is_still: bool
    is_gzip: bool = False

    @classmethod
    def of(cls, name: str | Path) -> File:
        """Return the file of a name.

        Raises:
            DataError: nothing is there, or it is not a regular file, or cannot be looked at.
        """
        path = os.path.realpath(name)
        if not os.path.isfile(path):
            raise _no_file(Path(name))
        try:
            stamp, now = stamp_of(path), time.time_ns()
            with open(path, "rb"):
                pass  # what may not be read is told here: whatever parses it would call it damaged
        except OSError as error:
            raise DataError(f"The file '{name}'", f"it cannot be opened: {error.strerror}", "Check the file") from None
        return cls(str(name), path, stamp, now - max(stamp[-2:]) > _STILL, str(name).lower().endswith(".gz"))

    def opened(self, **how: Any) -> Any:
        """Open it to be read, unpacked: as bytes, or as text in an encoding."""
        return (gzip.open if self.is_gzip else open)(self.path, "rt" if how else "rb", **how)

    def check_unchanged(self) -> None:
        """Refuse to go on if the file was written since it was found: one answer would be about two tables.

        Raises:
            DataError: its stamp is another one, or it is gone.
        """
        try:
            is_same = stamp_of(self.path) == self.stamp
        except OSError:
            is_same = False
        if not is_same:
            raise DataError(f"The file '{self.name}'", "it was changed while it was being read", "Run it again")


def _no_file(path: Path) -> DataError:
    if os.path.lexists(path):
        return DataError(
            f"The file '{path}'", "it is not a regular file", "Name a file, not a folder, pipe or broken link"
        )
    return DataError(
        f"The file '{path}'", "there is no such file", nearest(path.name, _beside(f"The file '{path}'", path))
    )


def _beside(what: str, missing: str | Path) -> list[str]:
    """Return the names in the folder of a file that was not found, as far as they may be seen, for a message.

    Raises:
        DataError: it is not known to be missing: the folder may not be looked into.
    """
    try:
        os.stat(missing)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # the last of a name with a zero byte
        with suppress(OSError, ValueError):
            return os.listdir(os.path.dirname(missing) or ".")
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # no file has such a name
            raise DataError(
                what, f"it cannot be looked at: {error.strerror}", "Check the path, and who may read it"
            ) from None
    return []


def stamp_of(path: str) -> Stamp:
    """Return the stamp of what is at a path.

    Raises:
        OSError: nothing is, or it cannot be looked at.
    """
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def once(read: Callable[[File, *Ts], T]) -> Callable[[File, *Ts], T]:
    """Have a function look at each file once, and hand on what it found there while the stamp stays the same.

    Errors are not kept. Of a file that was written a moment ago nothing is: its stamp may miss the next writing.
    """
    kept = cast("Callable[[File, *Ts], T]", functools.lru_cache(_KNOWN)(read))

    @functools.wraps(read)
    def found(file: File, *given: *Ts) -> T:
        return (kept if file.is_still else read)(file, *given)

    return found


def files_of(source: Any, table: str | None) -> tuple[Queried, list[File]]:
    """Return the kind of a file source, and its files in a fixed order: as listed, and within a pattern by name.

    Args:
        source: a path, a pattern, or a list of these.
        table: the table's name inside a DuckDB file, or None.

    Raises:
        DataError: a name matches no file, or the files are of several kinds.
    """
    found = list(_found([source] if isinstance(source, str | os.PathLike) else source))
    kinds = {_kind(name, table) for name in found}
    files = list(_once(found))
    if kinds == {"parquet"}:
        _refuse_part_of_table(files)
    if not found or len(kinds) > 1 or (kinds == {"duckdb"} and len(files) > 1):
        raise DataError(
            "The list of files", "it must name files of one kind, and only one DuckDB file", "Give one kind of file"
        )
    return kinds.pop(), files


def _found(source: Iterable[Any]) -> Iterable[str]:
    for given in source:
        if not isinstance(given, str | os.PathLike) or isinstance(text := os.fspath(given), bytes):
            raise DataError(
                f"A source of type {type(given).__name__} in a list", "it names no file", "Give a list of paths"
            )
        if "://" in text:
            raise DataError(
                f"The source '{text}'",
                "only files on this machine are read: by their stamps it is seen whether they change meanwhile",
                "Copy it here, or name it by its path where it is mounted; or give what your own Spark reads there, in"
                " Python, as its DataFrame",
            )
        if os.path.isfile(text):
            yield _readable(text)
        elif matches := sorted(path for path in _matches(text) if os.path.isfile(path)):
            yield from map(_readable, matches)
        elif os.path.isdir(text):
            raise DataError(
                f"The source '{text}'",
                "it is a folder",
                f"Name its files, for example '{os.path.join(text, '*.parquet')}'",
            )
        elif os.path.lexists(text):
            raise DataError(
                f"The source '{text}'", "it is not a regular file", "Name a file, not a pipe or broken link"
            )
        elif "\n" in text:  # the text of a table, not to be repeated
            raise DataError("The source is a text of several lines", "it names no file", "Give a path, or a DataFrame")
        else:
            what = f"The source '{text}'"
            raise DataError(what, "there is no such file", _nearest_file(text, _beside(what, text)))


def _refuse_part_of_table(files: Iterable[File]) -> None:
    """Refuse Parquet files of a table that has a list of its own of which of its files, and rows, are there."""
    for folder in sorted({os.path.dirname(file.path) for file in files}):
        for above in (Path(folder), *Path(folder).parents):
            for form, marks in _TABLES.items():
                if any(True for mark in marks for _ in above.glob(mark)):
                    raise DataError(
                        f"The files in '{above}'",
                        f"they are those of a table of {form}, and may hold rows that were changed or deleted since",
                        "Write the table into Parquet files of their own; or give, in Python, the DataFrame that your own"
                        " Spark reads it as",
                    )


_TABLES: Final = {
    "Delta Lake": ("_delta_log",),
    "Iceberg": ("metadata/*.metadata.json", "metadata/version-hint.text"),
    "Hudi": (".hoodie",),
}
"""What lies in the folder of a table, by what its form is called."""


def _readable(name: str) -> str:
    if not is_text(name):  # how Python holds bytes of a name that are not UTF-8
        raise DataError(
            f"The file '{name.encode('utf-8', 'replace').decode()}'", "its name is not UTF-8", "Rename the file"
        )
    return name


def _matches(pattern: str) -> list[str]:
    """Return what a pattern matches; nothing that it matches, or may match, is left out in silence.

    Raises:
        DataError: it matches a folder that is named like a table, as Spark writes one, a link to nothing or a pipe; or it
            leads through a folder that cannot be looked into.
    """
    if "\0" in pattern:
        return []
    if not glob.has_magic(pattern):
        return glob.glob(pattern)
    _refuse_closed(pattern)
    found = glob.glob(pattern, recursive=True)
    for path in found:
        is_named = kind_of(path, get_args(Queried), asked=True) is not None
        if not os.path.isfile(path) and (is_named or not os.path.isdir(path)):
            raise DataError(
                f"The pattern '{pattern}' matches '{path}'",
                "it is a folder, a broken link or a pipe: what rows it stands for would be left out in silence",
                "Move or mend it, or list the files that are meant; those in a folder have a pattern of their own",
            )
    return found


def _refuse_closed(pattern: str) -> None:
    """Refuse a pattern that leads through a folder of which nobody can say here what is in it."""
    while (above := os.path.dirname(pattern)) != pattern:
        needs = os.X_OK | (os.R_OK if glob.has_magic(os.path.basename(pattern)) else 0)
        for folder in glob.glob(above or os.curdir, recursive=True):
            if os.path.isdir(folder) and not os.access(folder, needs):
                raise DataError(
                    f"The folder '{folder}'",
                    "a pattern leads through it, and it cannot be looked into: files in it would be left out in silence",
                    "Have it opened to you, or list the files that are meant",
                )
        pattern = above


def _once(names: Iterable[str]) -> Iterable[File]:
    seen = set()
    for file in map(File.of, names):
        if file.stamp[:2] not in seen:
            seen.add(file.stamp[:2])
            yield file


def _nearest_file(text: str, neighbours: list[str]) -> str:
    """Say which file of the same folder has nearly the missing file's name."""
    # By their stems, or all files of one kind would be near each other.
    stems = {name.partition(".")[0]: name for name in neighbours}
    close = difflib.get_close_matches(os.path.basename(text).partition(".")[0], stems, n=1, cutoff=0.6)
    return f"Did you mean '{stems[close[0]]}'?" if close else _CHECK


_CHECK = "Check the path: of a spec it is relative to the spec's file, in Python to the working directory"


def _kind(name: str, table: str | None) -> Queried:
    kind = kind_of(name, get_args(Queried), asked=True)
    if table is not None and kind in {"parquet", "csv", "geojson"}:
        raise DataError(
            f"The file '{name}' with a table named",
            "only a DuckDB file has tables in it, and a workbook sheets",
            "Leave the table's name out",
        )
    if table is not None or kind is not None:
        return kind or "duckdb"
    raise DataError(
        f"The file '{name}'",
        "its name does not say what it holds",
        "Use .parquet, .csv, .tsv, .txt (these three also as .gz), .xlsx or .geojson, or a DuckDB file together with"
        " `visits_table`",
    )
