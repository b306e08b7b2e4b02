# SPDX-License-Identifier: Apache-2.0
"""What a file seems to be: for a draft of a spec, which names it back. A release never uses what is detected here.

Columns, what their values look like, and how text is written. None of the values leaves this module.
"""

from __future__ import annotations

import codecs
import csv
import functools
import io
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa

from leeward._encodings import any_length
from leeward._private import reading
from leeward.errors import DataError, no_column
from leeward.tables._csv import names_in
from leeward.tables._files import File, Queried, files_of
from leeward.tables._geojson import LATITUDE, LONGITUDE, properties
from leeward.tables._geojson import features as features_of
from leeward.tables._headings import refuse_rows, refuse_title
from leeward.tables._held import RECORDS, Held, held_columns
from leeward.tables._parquet import declared
from leeward.tables._texts import delimiter_of
from leeward.tables._workbook import filled, header, sheets
from leeward.tables._writing import DELIMITERS, TimeFormat

Looks = Literal["texts", "numbers", "whole numbers", "times", "times with an offset", "nothing", "unreadable"]
"""What the values of a column look like; unreadable are those of several kinds, or of one that is not read."""

_BYTES: Final = 1 << 24
"""So many bytes of a text are looked at, and no more than `RECORDS`."""

_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(?P<zone>Z|[+-]\d\d(:?\d\d)?)?)?")
_WHOLE: Final = re.compile(r"[+-]?\d+")
_POINT: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA: Final = re.compile(r"[+-]?(\d+,?\d*|,\d+)")
_EITHER: Final = re.compile(r"[+-]?(0|[1-9]\d{0,2}([.,]\d{3})?)")

_DATES: Final = ("dd/mm/yyyy", "mm/dd/yyyy", "yyyy/mm/dd", "dd/mm/yy", "mm/dd/yy", "yyyymmdd")
_CLOCKS: Final = (
    "",
    " HH:MM",
    " HH:MM:SS",
    " hh:MM AM",
    " hh:MM:SS AM",
    ", HH:MM",
    ", HH:MM:SS",
    "THH:MM:SS",
    "HHMMSS",
)
_FORMATS: Final = tuple(
    date.replace("/", sign) + clock
    for date in _DATES
    for sign in "/.-"
    for clock in _CLOCKS
    if "/" in date or sign == "/"
)
"""Formats of times that are looked for; the ISO 8601 forms need none."""

_UNITS: Final[Mapping[str, tuple[int, int]]] = {"s": (10**8, 10**10), "ms": (10**11, 10**13), "us": (10**14, 10**16)}
"""Between which whole numbers moments from 1973 to 2286 lie, by their unit."""


@dataclass(frozen=True)
class Seen:
    """A column of a file.

    Attributes:
        name: what it is called.
        looks: what its values look like.
        comma: whether its numbers have a decimal comma.
        thousands: whether the mark of its numbers may as well stand between thousands: 12,345 and 900, but never 1234.
        formats: the formats that all of its times have; several where days and months cannot be told apart.
        unit: of whole numbers that may be times since 1970, their unit.
        mostly: of texts that are not all times, the formats that nearly all of the first of them have.
        refused: why its values cannot be read.
    """

    name: str
    looks: Looks
    comma: bool = False
    thousands: bool = False
    formats: tuple[str, ...] = ()
    unit: str | None = None
    mostly: tuple[str, ...] = ()
    refused: tuple[str, str, str] = ("", "", "")


@dataclass(frozen=True)
class Detected:
    """What a file seems to be.

    Attributes:
        kind: of the file.
        columns: its columns, in its order.
        delimiter: what separates the columns of a text; None where the name of the file says it, or it is no text.
        encoding: of a text that is not UTF-8.
    """

    kind: Queried
    columns: tuple[Seen, ...]
    delimiter: str | None = None
    encoding: str | None = None

    def column(self, name: str) -> Seen | None:
        """Return the column of a name; None if there is none."""
        return next((one for one in self.columns if one.name == name), None)

    def check(self, name: str) -> None:
        """Refuse a column that is not there, or whose values cannot be read; others may be so, where nobody asks for them.

        Raises:
            SpecError: there is none of that name.
            DataError: its values cannot be read.
        """
        if (seen := self.column(name)) is None:
            raise no_column(name, [one.name for one in self.columns])
        if seen.looks == "unreadable":
            raise DataError(*seen.refused)


def detected(name: str, table: str | None = None) -> Detected:
    """Look at a file, or at the first of several; of a workbook at the sheet that is named.

    Raises:
        DataError: it cannot be read.
    """
    kind, files = files_of(name, table)
    if kind == "duckdb":
        raise DataError(
            f"The file '{files[0].name}'", "init looks at files of tables, not at databases", "Write the spec"
        )
    if kind == "csv":
        return _of_text(files[0])
    names = list(_COLUMNS[kind](files[0], table))
    if kind == "xlsx":
        refuse_title(files[0].name, len(names), filled(files[0], table))
    read = held_columns(kind, files[0], table, names)
    with reading(f"The file '{files[0].name}'"):
        columns = tuple(_seen(name, held) for name, held in read.items())
    if kind == "xlsx":
        _refuse_rows(files[0], columns, [filter(None, held.texts()) for held in read.values()])
    return Detected(kind, columns)


def _seen(name: str, held: Held) -> Seen:
    return Seen(name, "unreadable", refused=held.refused) if held.array is None else _typed(name, held.array)


def sheets_of(name: str) -> list[str]:
    """Return the names of the sheets of a workbook; none of a file that is not one.

    Raises:
        DataError: it cannot be read.
    """
    kind, files = files_of(name, None)
    return sheets(files[0]) if kind == "xlsx" else []


def _refuse_rows(file: File, columns: Sequence[Seen], values: Sequence[Iterable[str]]) -> None:
    """Refuse a file whose first row seems to be a row of the data."""
    timely = [one.looks.startswith("times") and _written("", [one.name]).looks.startswith("times") for one in columns]
    refuse_rows(file.name, [one.name for one in columns], [*map(frozenset, values)], timely)


_COLUMNS: Final[Mapping[Queried, Any]] = {
    "parquet": lambda file, _: [name for name, _ in declared(file)],
    "xlsx": lambda file, table: [name for name in header(file, table) if name],
    "geojson": lambda file, _: dict.fromkeys(
        itertools.chain((LATITUDE, LONGITUDE), *map(properties, features_of(file)))
    ),
}


def _typed(name: str, column: Any) -> Seen:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_timestamp(kind):
        return Seen(name, "times" if kind.tz is None else "times with an offset")
    if pa.types.is_date(kind):
        return Seen(name, "times")
    if pa.types.is_integer(kind):
        return Seen(name, "whole numbers", unit=_unit([value for value in column.to_pylist() if value is not None]))
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Seen(name, "numbers")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _written(name, [value for value in column.to_pylist() if value])
    return Seen(name, "nothing" if pa.types.is_null(kind) else "texts")


def _of_text(file: File) -> Detected:
    with file.opened() as raw, reading(f"The file '{file.name}'"):
        start = raw.read(_BYTES)
    encoding = _encoding(start)
    text = codecs.getincrementaldecoder(encoding or "utf-8-sig")("replace").decode(start)
    usual = usual_delimiter(file)
    delimiter = _delimiter(text, usual)
    names_in(
        file, io.StringIO(text, newline="").readline().rstrip("\r\n"), delimiter
    )  # refused where the file is read, too
    rows = list(records_of(text, delimiter, cut=len(start) == _BYTES))
    names, rest = (rows[0], rows[1:]) if rows else ([], [])
    refuse_title(file.name, sum(map(bool, names)), len({at for row in rest for at, value in enumerate(row) if value}))
    values = [[row[at] for row in rest if len(row) > at and row[at]] for at in range(len(names))]
    columns = [_written(name, below) for name, below in zip(names, values, strict=True)]
    _refuse_rows(file, columns, values)
    return Detected("csv", tuple(columns), None if delimiter == usual else delimiter, encoding)


def usual_delimiter(file: File) -> str | None:
    try:
        return delimiter_of(file)
    except DataError:
        return None


def _encoding(start: bytes) -> str | None:
    """What a text is in; None for UTF-8. What is not UTF-8, and has no mark, is most often Windows-1252."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8-sig")("strict").decode(start)
    except UnicodeDecodeError:
        try:
            start.decode("cp1252")
        except UnicodeDecodeError:
            return "iso8859-1"
        return "cp1252"
    return None


def _delimiter(text: str, usual: str | None) -> str:
    """The sign by which all records have as many fields as the first, and most; or all but the first, if it is a title."""
    regular, titled = dict[str, int](), dict[str, int]()
    for sign in DELIMITERS:
        first, *rest = [len(row) for row in itertools.islice(records_of(text, sign, cut=True), 200) if row] or [0]
        if first > 1 and {*rest} <= {first}:
            regular[sign] = first
        elif first == 1 and len(rest) > 1 and len({*rest}) == 1 and rest[0] > 1:
            titled[sign] = rest[0]
    fields = regular or titled
    return max(fields, key=lambda sign: (fields[sign], sign == usual), default=usual or ",")


def records_of(text: str, delimiter: str, *, cut: bool) -> Iterator[list[str]]:
    """The records of a text, without the last one where it may be cut."""
    lines = io.StringIO(text, newline="")
    before = list[str]()
    try:
        with any_length():
            for row in itertools.islice(csv.reader(lines, delimiter=delimiter), RECORDS):
                if before:
                    yield before
                before = row
    except csv.Error:
        return
    if before and not cut:
        yield before


def _written(name: str, values: Sequence[str]) -> Seen:
    if not values:
        return Seen(name, "nothing")
    if all(map(_WHOLE.fullmatch, values)):
        whole = [int(value) for value in values if len(value) < 20]
        formats = _formats(values) if len(values[0]) in (8, 14) else ()
        return Seen(name, "whole numbers", formats=formats, unit=_unit(whole))
    if all(map(_POINT.fullmatch, values)):
        return Seen(name, "numbers", thousands=all(map(_EITHER.fullmatch, values)))
    if all(map(_COMMA.fullmatch, values)):
        return Seen(name, "numbers", comma=True, thousands=all(map(_EITHER.fullmatch, values)))
    found = [_ISO.fullmatch(value) for value in values]
    if all(found):
        zoned = all(each is not None and each["zone"] for each in found)
        return Seen(name, "times with an offset" if zoned else "times")
    formats = _formats(values)
    return Seen(name, "times" if formats else "texts", formats=formats, mostly=() if formats else _mostly(values))


def _formats(values: Sequence[str]) -> tuple[str, ...]:
    """The formats that all of some texts have."""
    return tuple(form for form, pattern in _patterns() if all(map(pattern.fullmatch, values)))


def _mostly(values: Sequence[str]) -> tuple[str, ...]:
    """The formats that nine in ten of the first texts have: the others may be slips."""
    first = values[:_FIRST]
    return tuple(
        form
        for form, pattern in _patterns()
        if 10 * sum(pattern.fullmatch(value) is not None for value in first) >= 9 * len(first)
    )


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The formats of times that are looked for, each with what its texts look like."""
    return tuple((form, re.compile(TimeFormat.of(form).pattern, re.ASCII)) for form in _FORMATS)


_FIRST: Final = 200
"""So many texts of a column tell whether nearly all of it is times."""


def _unit(values: Sequence[int]) -> str | None:
    return next(
        (unit for unit, (low, high) in _UNITS.items() if values and all(low <= value < high for value in values)), None
    )
