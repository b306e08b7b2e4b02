# SPDX-License-Identifier: Apache-2.0
"""Files of one table of which one is a copy of another, as "visits (1).csv" beside "visits.csv" is: its rows count twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

from leeward.errors import DoubtfulDataError
from leeward.tables._files import File, once
from leeward.tables._kinds import kind_of


def refuse_copies(files: Sequence[File]) -> None:
    """Refuse two files that hold the same bytes, and rows.

    Raises:
        DoubtfulDataError: there are two; it names them. For the curator only.
    """
    sizes, known = defaultdict[int, list[File]](list), dict[bytes, File]()
    for file in files:
        sizes[file.stamp[2]].append(file)
    for file in (each for alike in sizes.values() if len(alike) > 1 for each in alike):
        first = known.setdefault(_digest(file), file)
        if first is not file and _has_rows(file):
            raise DoubtfulDataError.stopping(
                f"The file '{file.name}'",
                f"it is a copy of '{first.name}': the rows of both would count, those of each person twice",
                "Name one of them",
                "they happen to be equal",
            )


@once
def _digest(file: File) -> bytes:
    with open(file.path, "rb") as raw:
        return hashlib.file_digest(raw, "blake2b").digest()


def _has_rows(file: File) -> bool:
    if kind_of(file.name, ("parquet",)) == "parquet":
        import pyarrow.parquet as pq

        return bool(pq.read_metadata(file.path).num_rows)
    with open(file.path, "rb") as raw:
        return sum(1 for line in raw if line.strip()) > 1
