# SPDX-License-Identifier: Apache-2.0
"""CSV that no spreadsheet runs: a text that would be taken for a formula gets an apostrophe in front.

A spreadsheet takes a field that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break for a formula, and
``=HYPERLINK(…)`` in the name of a place then calls home from whoever opens the file. Numbers stay as they are. Parquet needs
none of this, and keeps every text to the letter.
"""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from leeward._buffers import texts as array_of_texts
from leeward.tables._zones import as_shown

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
"""What is taken for one, and what would be written as one is: no two texts become one."""
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


MOST_ROWS_OF_A_SHEET = 1_048_576
"""So many rows, the headings among them, are opened by the usual spreadsheets; the rest of a longer file they leave out."""


def cell(text: str) -> str:
    """Return the text of a field as it is written: after an apostrophe where a spreadsheet would take it for a formula.

    So is what differs from such a text by apostrophes in front alone: taking one away from it leads back.
    """
    return f"'{text}" if re.match(_FORMULA, text) and not re.match(_NUMBER, text) else text


class _Lines:
    """Rows that end in a line feed, from a writer that ends them in two signs: it quotes fields that hold either one.

    Python before 3.13 quotes only the signs that end a row, and a reader takes a carriage return for the end of one.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write one row."""
        return self._file.write(text.removesuffix("\r\n") + "\n")


class Writer:
    """A writer of CSV rows.

    Args:
        file: a text file, opened with ``newline=""``.
    """

    def __init__(self, file: IO[str]) -> None:
        self._writer = csv.writer(_Lines(file), lineterminator="\r\n")

    def row(self, values: Iterable[object]) -> None:
        """Write one row."""
        self._writer.writerow([cell(value) if isinstance(value, str) else value for value in values])

    def table(self, table: pa.Table) -> None:
        """Write the rows of an Arrow table."""
        self._writer.writerows(zip(*(column.to_pylist() for column in harmless(table).columns), strict=True))


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table as CSV."""
    from pyarrow import csv as pa_csv

    pa_csv.write_csv(as_shown(harmless(table)), path)


def write_sheet(table: pa.Table, path: str | os.PathLike[str]) -> None:
    """Write an Arrow table as CSV with a mark in front, without which spreadsheets take UTF-8 for another encoding."""
    from pyarrow import csv as pa_csv

    with open(path, "wb") as file:
        file.write(codecs.BOM_UTF8)
        pa_csv.write_csv(as_shown(harmless(table)), file)


def write_frame(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a DataFrame as CSV, without its index."""
    texts = {
        name: frame[name].map(lambda value: cell(value) if isinstance(value, str) else value)
        for name in frame.columns
        if frame[name].dtype.kind == "O"
    }
    with open(path, "w", encoding="utf-8", newline="") as file:
        named = frame.assign(**texts).rename(columns=lambda name: cell(str(name)))
        named.to_csv(_Lines(file), index=False, lineterminator="\r\n")  # type: ignore[call-overload]  # it only writes


def harmless(table: pa.Table) -> pa.Table:
    """Return an Arrow table whose names and texts are as `cell` returns them."""
    import pyarrow.compute as pc

    columns: list[Any] = []
    for column in table.columns:
        values = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            number = pc.match_substring_regex(values, _NUMBER)
            formula = pc.and_(pc.match_substring_regex(values, _FORMULA), pc.invert(number))
            mark, nothing = array_of_texts(["'", ""], values.type)
            values = pc.if_else(formula, pc.binary_join_element_wise(mark, values, nothing), values)
        columns.append(values)
    return pa.table(columns, names=[cell(name) for name in table.column_names])
