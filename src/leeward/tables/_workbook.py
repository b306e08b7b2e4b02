# SPDX-License-Identifier: Apache-2.0
"""Spreadsheets: the cells of one sheet of a workbook (.xlsx), by the names in its first row."""

from __future__ import annotations

import functools
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Final

import pyarrow as pa

from leeward.errors import DataError, nearest
from leeward.tables._cells import Cells, table_of
from leeward.tables._columns import check_columns
from leeward.tables._files import File, once


def sheets(file: File) -> list[str]:
    """Return the names of the sheets of a workbook, in their order.

    Raises:
        DataError: it cannot be read.
    """
    return list(_opened(file).sheet_names)


def header(file: File, sheet: str | None) -> list[str]:
    """Return the names of the columns of a sheet; empty where a cell of the first row is.

    Raises:
        DataError: see `sheet_table`.
    """
    return next(_rows(file, sheet))[1]


def filled(file: File, sheet: str | None) -> int:
    """Return how many columns of a sheet hold something below the first row.

    Raises:
        DataError: see `sheet_table`.
    """
    _, *rows = _rows(file, sheet)
    return len({at for _, row in rows for at, cell in enumerate(row) if cell is not None})


def sheet_table(files: Sequence[File], sheet: str | None, columns: Mapping[str, str]) -> pa.Table:
    """Return the named columns of a sheet, of several workbooks one below the other: see `sheet_cells`.

    Raises:
        DataError: see `sheet_cells`; or a column holds values of several kinds.
    """
    return table_of(sheet_cells(files, sheet, columns), ROW)


ROW: Final = "row"
"""What the lines of a sheet are called."""


def sheet_cells(files: Sequence[File], sheet: str | None, columns: Mapping[str, str]) -> Cells:
    """Return the cells of the named columns of a sheet, of several workbooks one below the other.

    Empty rows are left out, and an empty cell is missing. What a formula gave when the workbook was saved is its value. Rows
    that are hidden or filtered out are rows.

    Args:
        files: the workbooks.
        sheet: the name of the sheet in each; None for the only one.
        columns: what each column is for and its name.

    Raises:
        DataError: a workbook cannot be read, or has no such sheet or column.
    """
    names = list(dict.fromkeys(columns.values()))
    cells: Cells = {name: [] for name in names}
    for file in files:
        rows = _rows(file, sheet)
        _, known = next(rows)
        check_columns(columns, [name for name in known if name], file.name if len(files) > 1 else "")
        at = [known.index(name) for name in names]
        for line, row in rows:
            for name, index in zip(names, at, strict=True):
                cells[name].append((row[index], (file.name, line)))
    return cells


def _rows(file: File, sheet: str | None) -> Iterator[tuple[int, list[Any]]]:
    """The names in the first row, and then the cells of each row that is not empty, with its number in the sheet."""
    book = _opened(file)
    known = list(book.sheet_names)
    if sheet is None and len(known) != 1:
        raise DataError(
            f"The sheet in the workbook '{file.name}' is not named",
            f"it has several: {', '.join(repr(name) for name in known[:8])}",
            "In a spec it is named by visits_table, that of the public list by places_table; in Python by table; and for"
            " `leeward init` by --sheet and --list-sheet",
        )
    if sheet is not None and sheet not in known:
        raise DataError(
            f"The sheet '{sheet}' in the workbook '{file.name}'", "there is none of that name", nearest(sheet, known)
        )
    _check_extent(file)
    with _reading(file):
        read = book.get_sheet_by_name(known[0] if sheet is None else sheet)
        rows = read.to_python(skip_empty_area=False)
    if not rows or not any(rows[0]):
        raise DataError(f"The sheet of '{file.name}'", "its first row is empty", "Its first row must name the columns")
    yield 1, [name if isinstance(name, str) else "" if name is None else str(name) for name in rows[0]]
    for line, row in enumerate(rows[1:], 2):
        cells = [None if cell == "" else cell for cell in row]
        if any(cell is not None for cell in cells):
            yield line, cells


_MOST: Final = 1 << 27
"""Cells, empty ones between others too: the reader holds all up to the last, of 24 bytes each, or ends the process."""

_AT: Final = re.compile(rb"""r=["']([A-Za-z]*)(\d+)["'][^>]*(?<!/)>""")
"""Where a cell, or a row, is that may hold something, in the XML of a sheet."""

_TAG: Final = 1 << 10
"""Bytes of the longest of their tags, as programs write them."""


@once
def _check_extent(file: File) -> None:
    """Refuse a workbook of which a sheet has cells so far off that those up to them do not fit into memory.

    Raises:
        DataError: it has; what is no archive at all is left to the reader.
    """
    with (
        suppress(zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error),
        zipfile.ZipFile(file.path) as archive,
    ):
        for part in archive.namelist():
            if "worksheets/" in part and part.endswith(".xml"):
                with archive.open(part) as sheet:
                    _refuse_far(file, sheet)


def _refuse_far(file: File, sheet: IO[bytes]) -> None:
    columns, last, rest = set[bytes](), 0, b""
    while piece := sheet.read(1 << 20):
        found = set(_AT.findall(text := rest + piece))
        columns |= {letters.upper() for letters, _ in found if len(letters) <= 3}
        last = max([last, *(int(row) for _, row in found if len(row) <= 10)])
        rest = text[-_TAG:]
        if last * max(map(_number, columns), default=1) > _MOST:
            raise DataError(
                f"The workbook '{file.name}'",
                "a sheet has cells in a row, and in a column, so far off that all up to them do not fit into memory",
                "Clear what stands far beside and below the table, or save the sheet as CSV",
            )


def _number(letters: bytes) -> int:
    """The number of a column that is called by letters."""
    return functools.reduce(lambda number, letter: number * 26 + letter - 64, letters, 0)


def _opened(file: File) -> Any:
    from python_calamine import CalamineWorkbook

    with _reading(file):
        return CalamineWorkbook.from_path(file.path)


@contextmanager
def _reading(file: File) -> Iterator[None]:
    """Say that a workbook cannot be read, whatever the library raises: its own message may hold a cell."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of the library is none of Python's own exceptions
        protected = type(error).__name__ == "PasswordError"
        raise DataError(
            f"The workbook '{file.name}' cannot be read",
            "it is protected by a password"
            if protected
            else "it is damaged, or is not a workbook, or a cell has an error of a new kind",
            "Save it again as .xlsx, without a password; cells with errors may be cleared",
        ) from None
