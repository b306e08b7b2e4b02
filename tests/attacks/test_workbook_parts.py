"""Attack: workbooks as programs write them that follow the standard loosely. No row may be lost, and none made up.

A reader that believes a sheet's stated size, or takes cells by their order alone, loses rows of some of these in silence.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.workbooks import workbook

from leeward.errors import DataError
from leeward.tables._files import File
from leeward.tables._workbook import sheet_table

ROWS = [("who", "n"), *((f"p{i}", i) for i in range(10))]
EXACTLY = [{"who": who, "n": n} for who, n in ROWS[1:]]
_THIRD = '<c r="B5"><v>3</v>'

SAME: dict[str, Callable[[str], str]] = {
    "a size that is too small": lambda sheet: sheet.replace("<sheetData>", '<dimension ref="A1:B3"/><sheetData>'),
    "a size elsewhere": lambda sheet: sheet.replace("<sheetData>", '<dimension ref="C5:D9"/><sheetData>'),
    "a size of all cells": lambda sheet: sheet.replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>'),
    "no cell says where it is": lambda sheet: re.sub(r'<(c|row) r="\w+"', r"<\1", sheet),
    "rows out of order": lambda sheet: re.sub(r'(<row r="3".*?</row>)(<row r="4".*?</row>)', r"\2\1", sheet),
    "formats far below and beside": lambda sheet: sheet.replace(
        "</sheetData>", '<row r="1048576" ht="9"><c r="XFD1048576" s="1"/></row></sheetData>'
    ),
    "a hidden row": lambda sheet: sheet.replace('<row r="5">', '<row r="5" hidden="1">'),
    "a text in two pieces, and how it is spoken": lambda sheet: sheet.replace(
        '<is><t xml:space="preserve">p3</t></is>',
        '<is><r><t>p</t></r><r><t>3</t></r><rPh sb="0" eb="1"><t>x</t></rPh></is>',
    ),
    "a formula with what it gave": lambda sheet: sheet.replace(_THIRD, '<c r="B5"><f>1+2</f><v>3</v>'),
}
MISSING: dict[str, Callable[[str], str]] = {
    "an error": lambda sheet: sheet.replace(_THIRD, '<c r="B5" t="e"><v>#N/A</v>'),
    "a formula without what it gave": lambda sheet: sheet.replace(_THIRD, '<c r="B5"><f>1+2</f>'),
}
REFUSED: dict[str, Callable[[str], str]] = {
    "the sheet ends early": lambda sheet: sheet[: len(sheet) // 2],
    "a number that is none": lambda sheet: sheet.replace(_THIRD, '<c r="B5"><v>3x</v>'),
    "a date among numbers": lambda sheet: sheet.replace(_THIRD, '<c r="B5" t="d"><v>2026-03-02T10:00:00</v>'),
    "a cell so far below that those up to it fit into no memory": lambda sheet: sheet.replace('"B5"', '"B4000000000"'),
    "one far below, and one far beside": lambda sheet: sheet.replace('"B5"', '"B10000"').replace(
        '<row r="9">', '<row r="9"><c r="XFD9" t="b"></c>'
    ),
    "an error that is not known": lambda sheet: sheet.replace(_THIRD, '<c r="B5" t="e"><v>#NEW!</v>'),
}


def read(change: Callable[[str], str], folder: Path) -> list[dict[str, object]]:
    """The rows of a workbook whose one sheet was changed."""
    workbook(folder / "plain.xlsx", {"S": ROWS})
    with zipfile.ZipFile(folder / "plain.xlsx") as plain, zipfile.ZipFile(folder / "v.xlsx", "w") as made:
        for name in plain.namelist():
            before = plain.read(name).decode()
            after = change(before) if "worksheets" in name else before
            assert "worksheets" not in name or before != after
            made.writestr(name, after)
    found: list[dict[str, object]] = sheet_table([File.of(folder / "v.xlsx")], None, {"a": "who", "b": "n"}).to_pylist()
    return found


@pytest.mark.parametrize("how", SAME)
def test_no_row_is_lost(how: str, tmp_path: Path) -> None:
    found = read(SAME[how], tmp_path)
    assert sorted(found, key=lambda row: str(row["who"])) == EXACTLY


@pytest.mark.parametrize("how", MISSING)
def test_what_is_not_there_is_missing(how: str, tmp_path: Path) -> None:
    assert read(MISSING[how], tmp_path) == [row | ({"n": None} if row["n"] == 3 else {}) for row in EXACTLY]


@pytest.mark.parametrize("how", REFUSED)
def test_what_is_no_number_is_not_taken_for_one(how: str, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read(REFUSED[how], tmp_path)
