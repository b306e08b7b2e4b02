# SPDX-License-Identifier: Apache-2.0
"""The kinds of files that tables come in, told by how a name ends: whoever reads or writes one asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal, TypeVar

from leeward.errors import DataError

Kind = Literal["parquet", "csv", "duckdb", "xlsx", "geojson", "geojsonl"]

ENDINGS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv",),
    "duckdb": (".duckdb", ".ddb", ".db"),
    "xlsx": (".xlsx",),
    "geojson": (".geojson",),
    "geojsonl": (".geojsonl", ".geojsons", ".ndjson"),
}
ASKED: Final[Mapping[Kind, tuple[str, ...]]] = {"csv": (".csv.gz", ".tsv", ".tsv.gz", ".txt", ".txt.gz")}
"""Files that are asked about as they are, but not written anew."""

K = TypeVar("K", bound=Kind)
T = TypeVar("T")


def endings(kinds: Iterable[Kind], *, asked: bool = False) -> tuple[str, ...]:
    """Return how names of files of some kinds end."""
    return tuple(ending for kind in kinds for ending in ENDINGS[kind] + (ASKED.get(kind, ()) if asked else ()))


def kind_of(name: str | Path, kinds: Iterable[K], *, asked: bool = False) -> K | None:
    """Return which of some kinds a file of this name is of; None if of none."""
    return next((kind for kind in kinds if str(name).lower().endswith(endings((kind,), asked=asked))), None)


def reader_of(path: Path, readers: Mapping[Kind, T]) -> T:
    """Return what reads a file.

    Raises:
        DataError: there is nothing that reads files of its kind.
    """
    kind = kind_of(path, readers)
    if kind is None:
        known = ", ".join(endings(readers))
        raise DataError(f"The file '{path}'", "its kind follows from the end of its name", f"Known: {known}")
    return readers[kind]
