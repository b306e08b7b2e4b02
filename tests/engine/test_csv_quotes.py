"""Whatever quotes stand in a text: the rows that are read are those of Python's strict reader, or the file is refused.

All texts of up to three signs below a first line (of six in long sweeps), and files with two misplaced quotes at every
pair of rows. Found: half of the rows were lost without a word, because the engine drops all behind a quote that is not
closed, and the quick count took as many rows for one.
"""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

import pytest

from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.tables._writing import Writing


def strictly(text: str, columns: int, sign: str) -> list[list[str]] | None:
    """The rows of a text by the rules of CSV; None where it has none. DuckDB leaves empty fields beyond the names out."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))[1:]
    except csv.Error:
        return None
    rows = [row or [""] for row in rows if row or columns == 1]
    rows = [row[:columns] if not any(row[columns:]) else row for row in rows]
    return None if any(len(row) != columns for row in rows) else rows


def read(file: Path, columns: int, sign: str) -> list[list[str]] | None:
    names = {f"c{i}": "uvw"[i] for i in range(columns)}
    try:
        with bind(str(file), names, writing=Writing(delimiter=None if sign == "," else sign)) as bound:
            return [[value or "" for value in row.values()] for row in bound.all_rows().to_pylist()]
    except DataError:
        return None


def check(text: str, columns: int, sign: str, file: Path) -> None:
    file.write_text(text, newline="")
    if (found := read(file, columns, sign)) is not None:
        wanted = strictly(text, columns, sign)
        assert wanted is not None, f"{text!r} is no CSV, and {len(found)} rows were read"
        assert len(found) == len(wanted), f"{text!r}: {len(found)} rows of {len(wanted)}"


MARKS = {3: [pytest.mark.sweep], **{n: [pytest.mark.sweep, pytest.mark.long] for n in (4, 5, 6)}}


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("signs", [1, 2, *(pytest.param(n, marks=MARKS[n]) for n in (3, 4, 5, 6))])
def test_every_short_text(signs: int, columns: int, tmp_path: Path) -> None:
    header = ",".join("uvw"[:columns])
    for letters in itertools.product('a",\n', repeat=signs):
        check(f"{header}\n{''.join(letters)}", columns, ",", tmp_path / "t.csv")


@pytest.mark.sweep
@pytest.mark.parametrize("sign", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_stray_quote_and_one_that_is_not_closed(sign: str, end: str, tmp_path: Path) -> None:
    """At every pair of rows of a file of nine: the tail behind the second may not be lost."""
    for i, j in itertools.permutations(range(9), 2):
        rows = [f"r{n}{sign}p" for n in range(9)]
        rows[i], rows[j] = f'x"y{sign}p', f'"z{sign}p'
        check(f"u{sign}v{end}" + end.join(rows) + end, 2, sign, tmp_path / "t.csv")
