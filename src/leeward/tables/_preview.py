# SPDX-License-Identifier: Apache-2.0
"""The first rows of a file, as its curator would see them in a spreadsheet: for the curator's eyes only."""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from leeward._private import Private, reading
from leeward.tables._detected import Detected, records_of, usual_delimiter
from leeward.tables._files import files_of
from leeward.tables._held import held_columns

_START: Final = 1 << 18
"""So many bytes of a text are read for its first rows."""

_ROWS: Final = 8
"""So many rows are shown."""

_LONGEST: Final = 60
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Preview(Private):
    """The first rows of a file.

    Attributes:
        rows: the values of each row, as text, in the order of the columns; cut where they are long.
    """

    rows: Sequence[Sequence[str]]


def preview(name: str, found: Detected, table: str | None = None) -> Preview:
    """Return the first rows of a file, read by what it seems to be; of a workbook those of the sheet that is named.

    Raises:
        DataError: it cannot be read.
    """
    kind, files = files_of(name, table)
    file, names = files[0], [one.name for one in found.columns]
    with reading(f"The file '{file.name}'"):
        if kind == "csv":
            with file.opened() as raw:
                start = raw.read(_START)
            text = codecs.getincrementaldecoder(found.encoding or "utf-8-sig")("replace").decode(start)
            records = records_of(text, found.delimiter or usual_delimiter(file) or ",", cut=len(start) == _START)
            read = [list(row) for row in itertools.islice(records, 1, _ROWS + 1)]
        else:
            held = held_columns(kind, file, table, names)
            read = [[*row] for row in zip(*(one.texts(_ROWS) for one in held.values()), strict=True)]
    rows = [(*row, *[""] * len(names))[: len(names)] for row in read]
    return Preview([[v if len(v) <= _LONGEST else f"{v[: _LONGEST - 1]}…" for v in row] for row in rows])
