# SPDX-License-Identifier: Apache-2.0
"""Spreadsheets: the cells of one sheet of a workbook (.xlsx), by the names in its first row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from leeward.errors import DataError, nearest
from leeward.tables._cells import Where, column
from leeward.tables._columns import check_columns
from leeward.tables._files import File


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
    """Return the named columns of a sheet, of several workbooks one below the other.

    Empty rows are left out, and an empty cell is missing. What a formula gave when the workbook was saved is its value. Rows
    that are hidden or filtered out are rows.

    Args:
        files: the workbooks.
        sheet: the name of the sheet in each; None for the only one.
        columns: what each column is for and its name.

    Raises:
        DataError: a workbook cannot be read, has no such sheet or column, or a column holds values of several kinds.
    """
    names = list(dict.fromkeys(columns.values()))
    cells: dict[str, list[tuple[Any, Where]]] = {name: [] for name in names}
    for file in files:
        rows = _rows(file, sheet)
        _, known = next(rows)
        check_columns(columns, [name for name in known if name], file.name if len(files) > 1 else "")
        at = [known.index(name) for name in names]
        for line, row in rows:
            for name, index in zip(names, at, strict=True):
                cells[name].append((row[index], (file.name, line)))
    return pa.table({name: column(name, cells[name], "row") for name in names})


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
