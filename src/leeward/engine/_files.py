"""Which files a source names: each by its real path, and each once.

A pattern is expanded here and never again: what it yields are names, whatever characters they hold. Two names for one
file (a link, another way through the folders, two patterns that both match) are one file, told by its device and inode, or
its rows would count twice.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from leeward._plain import is_text
from leeward.errors import DataError

Kind = Literal["parquet", "csv", "duckdb"]

_ENDINGS: dict[Kind, tuple[str, ...]] = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".csv.gz"),
    "duckdb": (".duckdb", ".ddb", ".db"),
}


@dataclass(frozen=True)
class File:
    """One file of a table.

    Attributes:
        name: the first name it was found under, for messages; how it ends says what it holds.
        path: its real path, without links.
    """

    name: str
    path: str

    @property
    def is_gzip(self) -> bool:
        """Whether its name says that it is compressed."""
        return self.name.lower().endswith(".gz")


def files_of(source: Any, table: str | None) -> tuple[Kind, list[File]]:
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
            raise DataError(f"The source '{text}'", "only files on this machine are read", "Copy the file here first")
        if "\n" in text and not os.path.exists(text):  # the text of a table, not to be repeated
            raise DataError("The source is a text of several lines", "it names no file", "Give a path, or a DataFrame")
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
            raise DataError(f"The source '{text}'", "it is no regular file", "Name a file, not a pipe or broken link")
        else:
            folder = os.path.dirname(text) or "."
            neighbours = os.listdir(folder) if os.path.isdir(folder) else []
            raise DataError(f"The source '{text}'", "there is no such file", _nearest_file(text, neighbours))


def _readable(name: str) -> str:
    if not is_text(name):  # how Python holds bytes of a name that are no UTF-8
        raise DataError(
            f"The file '{name.encode('utf-8', 'replace').decode()}'", "its name is not UTF-8", "Rename the file"
        )
    return name


def _matches(pattern: str) -> list[str]:
    return [] if "\0" in pattern else glob.glob(pattern, recursive=True)


def _once(names: Iterable[str]) -> Iterable[File]:
    seen = set()
    for name in names:
        path = os.path.realpath(name)
        try:
            stat = os.stat(path)
        except OSError as error:
            raise DataError(f"The file '{name}'", f"it cannot be opened: {error.strerror}", "Check the file") from None
        if (stat.st_dev, stat.st_ino) not in seen:
            seen.add((stat.st_dev, stat.st_ino))
            yield File(name, path)


def _nearest_file(text: str, neighbours: list[str]) -> str:
    """Say which file of the same folder has nearly the missing file's name."""
    # By their stems, or all files of one kind would be near each other.
    stems = {name.partition(".")[0]: name for name in neighbours}
    close = difflib.get_close_matches(os.path.basename(text).partition(".")[0], stems, n=1, cutoff=0.6)
    return f"Did you mean '{stems[close[0]]}'?" if close else "Check the path; it is relative to the spec file"


def _kind(name: str, table: str | None) -> Kind:
    kind = next((kind for kind, endings in _ENDINGS.items() if name.lower().endswith(endings)), None)
    if table is not None and kind in {"parquet", "csv"}:
        raise DataError(
            f"The file '{name}' with a table named", "only a DuckDB file has tables in it", "Leave the table's name out"
        )
    if table is not None or kind is not None:
        return kind or "duckdb"
    raise DataError(
        f"The file '{name}'",
        "its name does not say what it holds",
        "Use .parquet, .csv or .csv.gz, or a DuckDB file together with `visits_table`",
    )
