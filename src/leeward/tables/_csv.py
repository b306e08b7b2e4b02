# SPDX-License-Identifier: Apache-2.0
"""CSV as text: its first line, whether it unpacks, and how many records it has; and small lists, read whole.

The engine splits a first line by rules of its own, and where these find no end of it, leaves rows out without a word. So a
first line is read only if every reader splits it alike, and the records are counted here too, by other means.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from leeward._encodings import UTF8, any_length, unfit
from leeward._paths import read_small
from leeward._plain import counted
from leeward._private import Private
from leeward.errors import DataError
from leeward.tables._files import File, once
from leeward.tables._writing import DELIMITERS

_START: Final = 1 << 12
"""So many bytes of a file show how its text is encoded."""

_PIECE: Final = 1 << 20
"""So many bytes are looked at together."""

_ONE_WAY: Final = {
    sign: re.compile(r'(?:"(?:[^"]|"")*+"|[^",]*+)(?:,(?:"(?:[^"]|"")*+"|[^",]*+))*+'.replace(",", re.escape(sign)))
    for sign in DELIMITERS
}
"""A line whose fields hold no quote, or are quoted as a whole with each quote in them doubled; by what separates them."""

_COMMENT, _HEAD_SUM = 0x10, 0x02
"""Bits of the fourth byte of a packed file: a comment, and a checksum of its head, which the engine does not read."""


@dataclass(frozen=True, repr=False, slots=True)
class Length(Private):
    """How long a CSV file is, its first line included.

    Attributes:
        lines: records, of which an empty line is one.
        filled: records that are not empty lines.
        separators: how often what separates fields stands outside quotes.
        longest: bytes of the longest record, at most; rounded up to whole pieces of the file.
        regular: whether every quote opens or closes a field, or is one of two within one, and the last is closed.
    """

    lines: int
    filled: int
    separators: int
    longest: int
    regular: bool

    def fits(self, columns: int) -> bool:
        """Whether records have as many fields together as if each had one a column; an empty line has none."""
        return self.separators == self.filled * (columns - 1)

    def rows(self, columns: int) -> int:
        """The number of rows below the first line; an empty line is one only where there is one column."""
        return (self.lines if columns == 1 else self.filled) - 1


@once
def agreed_header(file: File, delimiter: str) -> tuple[str, ...]:
    """Read the names of the columns of a CSV file, as they are there, if every reader splits its first line alike.

    It is read here, not guessed by the engine, whose guess skips lines that do not fit; and from one line alone, so that no
    row becomes a part of a name where a quote is not closed.

    Raises:
        DataError: there is no first line, it is not text in UTF-8, or not all readers would split it alike.
    """
    found, blank = tuple[str, ...](), False
    try:
        with file.opened() as raw:
            start = raw.read(_START)
        because = unfit(start)
        blank = start.removeprefix(codecs.BOM_UTF8)[:1] in (b"", b"\r", b"\n")
        if not because and not blank:
            with any_length(), file.opened(encoding=UTF8, newline="") as text:
                found = names_in(file, text.readline().rstrip("\r\n"), delimiter)
    except (OSError, EOFError, zlib.error) as error:
        if file.is_gzip and not (isinstance(error, OSError) and error.errno):
            raise _damaged(file) from None
        because = f"it cannot be read: {os.strerror(getattr(error, 'errno', 0))}"
    except (UnicodeDecodeError, csv.Error):
        because = "it cannot be read as CSV in UTF-8"
    if because:
        line = _unfit_line(file)
        where = (
            f"The file '{file.name}'" if line is None or line[0] == 1 else f"Line {line[0]:,} of the file '{file.name}'"
        )
        raise DataError(where, because, "Save it again as CSV in UTF-8, or say its encoding")
    if blank:
        because = "its first line is blank" if start else "it is empty"
        raise DataError(f"The file '{file.name}'", because, "Its first line must name the columns")
    return found


def small_records(path: Path) -> list[list[str]]:
    """Read the records of a small public list in CSV, which may be a pipe. Empty lines are skipped.

    Raises:
        ValueError: saying why it cannot be read.
    """
    try:
        raw = read_small(path)
        if because := unfit(raw):
            raise ValueError(because)
        with any_length(), io.StringIO(raw.decode(UTF8), newline="") as text:
            return [row for row in csv.reader(text) if row]
    except OSError as error:
        raise ValueError(f"it cannot be read: {os.strerror(error.errno or 0)}") from None
    except csv.Error:
        raise ValueError("it cannot be read as CSV") from None


def names_in(file: File, line: str, delimiter: str) -> tuple[str, ...]:
    """Return the names in the first line of a file, if every reader splits it alike.

    Raises:
        DataError: not all would.
    """
    one_way = _ONE_WAY[delimiter]
    if not one_way.fullmatch(line):
        where = f"The first line of the file '{file.name}'"
        if one_way.fullmatch(line + '"'):
            raise DataError(
                where,
                "it ends within quotes: a name holds a line break, or a quote is not closed",
                "Write all names of columns on one line",
            )
        raise DataError(
            where,
            "programs do not agree where its names begin and end: a quote is beside other text",
            'Put quotes around whole names only, with nothing beside them, and double each quote inside: "a ""b"" c"',
        )
    with any_length():
        return tuple(next(csv.reader([line], strict=True, delimiter=delimiter)))


@once
def length(file: File, delimiter: str) -> Length:
    """Count the records and fields of a CSV file by quotes and line ends, quickly, and see whether quotes can mislead that.

    Raises:
        DataError: it is packed and damaged, or so packed that the engine cannot read it.
    """
    lines = filled = separators = longest = since = 0
    last, quotes = 10, _Quotes(delimiter)
    for piece in _pieces(file):
        letters = np.frombuffer(piece, np.uint8)
        newline, end, between = letters == 10, letters == 13, letters == ord(delimiter)
        if (quoted := quotes.around(letters)) is not None:
            newline &= ~quoted
            end &= ~quoted
            between &= ~quoted
        separators += int(np.count_nonzero(between))
        after_return = np.concatenate([[last == 13], end[:-1]])
        lines += int(np.count_nonzero(end) + np.count_nonzero(newline & ~after_return))
        end |= newline
        filled += int(np.count_nonzero(np.concatenate([[last in (10, 13)], end[:-1]]) & ~end))
        since += len(piece)
        longest = max(longest, since)
        if end.any():
            since = len(piece)
        last = int(letters[-1]) if end[-1] else 0
    return Length(lines + (last not in (10, 13)), filled, separators, longest, quotes.regular and not quotes.inside)


class _Quotes:
    """Which letters of a text stand within quotes, piece by piece, and whether all readers would say so.

    Where each quote opens a field, closes one, or is one of two together within one, there is one way to read the text. A
    quote that stands elsewhere is a letter to some readers and opens a field to others: two such quotes even out, and
    the rows between them would be taken for one, as the engine takes those behind the second.
    """

    def __init__(self, delimiter: str) -> None:
        self.inside, self.regular = False, True
        self._ends = np.zeros(256, np.bool_)  # what a field may stand beside; or a quote, of two together
        self._ends[[ord(delimiter), 10, 13, 34]] = True
        self._before, self._closing = 10, False

    def around(self, letters: NDArray[np.uint8]) -> NDArray[np.bool_] | None:
        """Return which letters of the next piece stand within quotes; None if none does."""
        if self._closing:  # the last letter of the piece before closed a field
            self.regular &= bool(self._ends[letters[0]])
        self._closing, before = False, self._before
        self._before = int(letters[-1])
        at = np.flatnonzero(letters == 34)
        if not at.size and not self.inside:
            return None
        opens = np.arange(at.size) % 2 == self.inside
        preceding = letters[at[opens] - 1]
        following = letters[np.minimum(at[~opens] + 1, letters.size - 1)]
        if preceding.size and at[opens][0] == 0:
            preceding = np.concatenate([[np.uint8(before)], preceding[1:]])
        self._closing = bool(at.size and at[-1] == letters.size - 1 and not opens[-1])
        self.regular &= bool(self._ends[preceding].all() and self._ends[following].all())
        quoted = np.logical_xor.accumulate(letters == 34) ^ self.inside
        self.inside = bool(quoted[-1])
        return quoted


@once
def length_by_fields(file: File, delimiter: str) -> Length | None:
    """Count the records of a CSV file by splitting all of it into fields, slowly; None if it cannot be split."""
    lines = filled = separators = longest = 0
    try:
        with any_length(), file.opened(encoding=UTF8, newline="") as text:
            for record in csv.reader(text, strict=True, delimiter=delimiter):
                lines += 1
                filled += bool(record)
                separators += max(len(record) - 1, 0)
                longest = max(longest, sum(map(len, record)))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error):
        return None
    return Length(lines, filled, separators, longest, True)


def fault(file: File, delimiter: str) -> tuple[int, str] | None:
    """Return the first line of a CSV file that is not read, counted from 1, and why; None if nothing is found.

    It says where, and what is wrong there, and never what stands there.
    """
    if (found := _unfit_line(file)) is not None:
        return found
    with suppress(OSError, EOFError, zlib.error), any_length(), file.opened(encoding=UTF8, newline="") as text:
        return _first_fault(csv.reader(text, strict=True, delimiter=delimiter))
    return None


def _unfit_line(file: File) -> tuple[int, str] | None:
    """The first line that is not text in UTF-8, and what it is."""
    with suppress(OSError, EOFError, zlib.error), file.opened() as raw:
        for line, octets in enumerate(raw, 1):
            if because := unfit(octets.rstrip(b"\r\n") + b"\n"):  # of a text that is cut the end may be missing
                return line, because
    return None


def _first_fault(records: Any) -> tuple[int, str] | None:
    begins, names = 1, 0
    try:
        for record in records:
            if begins == 1:
                names = len(record)
            elif record and len(record) != names:
                has, named = counted(len(record), "field"), counted(names, "column")
                return begins, f"it has {has}, and the first line names {named}"
            begins = records.line_num + 1
    except csv.Error as error:
        if "end of data" in str(error):
            return begins, "a quote begins in it that is not closed"
        return begins, "a quote in it is beside other text"
    return None


def _pieces(file: File) -> Iterator[bytes]:
    """The bytes of a file, unpacked, without a mark of its encoding; the engine does not look at checksums."""
    if not file.is_gzip:
        with open(file.path, "rb") as raw:
            yield from _after_mark(raw)
        return
    with open(file.path, "rb") as raw:
        head = raw.read(4)
    try:
        with gzip.open(file.path, "rb") as unpacked:
            yield from _after_mark(unpacked)
    except (OSError, EOFError, zlib.error):
        raise _damaged(file) from None
    if head[3] & (_COMMENT | _HEAD_SUM):
        raise DataError(
            f"The file '{file.name}'",
            "it was packed with a comment or a checksum of its head, which the engine that reads it (DuckDB) does not know",
            "Pack it again (`gzip` leaves both out)",
        )


def _after_mark(raw: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    piece = raw.read(_PIECE).removeprefix(codecs.BOM_UTF8)
    while piece:
        yield piece
        piece = raw.read(_PIECE)


def _damaged(file: File) -> DataError:
    return DataError(
        f"The file '{file.name}'",
        "it is damaged: it does not unpack to what its own checksum says, was cut short, or something was added to it",
        "Get or pack it again (`gzip -t` checks it)",
    )
