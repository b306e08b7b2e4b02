# SPDX-License-Identifier: Apache-2.0
"""Columns of single values, as spreadsheets and GeoJSON hold them, as columns of Arrow: of one kind each, or refused.

There a number is a number, whether whole or not: so a column is one of whole numbers where all of its numbers are whole.
Nothing is converted from one kind to another, because what a text looks like says nothing of what it is.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

from leeward.errors import DataError

_EXACT: Final = 2**53
"""From here on a float is not every whole number."""

_KINDS: Final = ((bool, "truth values"), (str, "texts"), (int | float, "numbers"), (dt.date, "dates or times"))

_UNREAD: Final = ((dt.time, "times of day"), (dt.timedelta, "lengths of time"))
"""What is not read, whatever else a column holds, by the name that people have for it."""

Where = tuple[str, int]
"""The name of a file, and a line of it."""

Cells = dict[str, list[tuple[Any, Where]]]
"""By the names of columns each value, None where it is missing, and where it is."""


def table_of(cells: Cells, unit: str) -> pa.Table:
    """Return columns as a table of Arrow.

    Raises:
        DataError: see `column`.
    """
    return pa.table({name: column(name, held, unit) for name, held in cells.items()})


def column(name: str, cells: Iterable[tuple[object, Where]], unit: str = "line") -> pa.Array:
    """Return the cells of a column as an array of Arrow.

    Args:
        name: what the column is called.
        cells: each value, None where it is missing, and where it is.
        unit: what is counted there.

    Raises:
        DataError: its cells are of several kinds, or of one that is not read; it names a line, and no cell.
    """
    values, first = list[Any](), dict[str, Where]()
    for value, where in cells:
        values.append(value)
        if value is not None:
            first.setdefault(_kind(value), where)
    read = {kind for _, kind in _KINDS}
    odd = next((kind for kind in first if kind not in read), None)
    if odd is not None or len(first) > 1:
        kind = odd or [*first][1]
        file, line = first[kind]
        before = "" if odd else f", and {next(iter(first))} before"
        why = "these are not read" if odd else "one column has one kind of values"
        way = "as dates with their times" if odd == "times of day" else "in one way"
        raise DataError(
            f"The column '{name}' of '{file}'",
            f"it holds {kind} in {unit} {line:,}{before}: {why}",
            f"Write all of them {way}: in a spreadsheet as text (an apostrophe in front makes a number a text), or save"
            " it as CSV, where everything is text. Of private rows this refusal is a fact about the data: do not publish it",
        )
    return _array(name, values, next(iter(first), None))


def _array(name: str, values: list[Any], kind: str | None) -> pa.Array:
    if kind is None:
        return pa.nulls(len(values))
    if kind == "texts":
        with suppress(UnicodeEncodeError):  # whose message, and context, hold the text
            return pa.array(values, pa.large_string())
        raise DataError(
            f"The column '{name}'",
            "a text in it is no Unicode: half a character, as JSON may write it (that it is refused is a fact about"
            " the data: do not publish it)",
            "Correct it with the tool that wrote it",
        )
    if kind == "truth values":
        return pa.array(values, pa.bool_())
    if kind == "dates or times":
        if any(value is not None and dt.date(value.year, value.month, value.day) < _FIRST_DAY for value in values):
            raise DataError(
                f"The column '{name}'",
                "a date in it is before 1 March 1900, where spreadsheets count a day that never was, and two days are one"
                " (that it is refused is a fact about the data: do not publish it)",
                "Write such dates as text, with a time_format",
            )
        return pa.array([None if value is None else _moment(value) for value in values], pa.timestamp("us"))
    there = [value for value in values if value is not None]
    if all(value == value // 1 for value in there) and all(abs(value) < 2**63 for value in there):
        if any(isinstance(value, float) and abs(value) >= _EXACT for value in there):
            raise _too_large(name)
        return pa.array([None if value is None else int(value) for value in values], pa.int64())
    if any(isinstance(value, int) and abs(value) >= _EXACT for value in there):
        raise _too_large(name)
    return pa.array([None if value is None else float(value) for value in values], pa.float64())


_FIRST_DAY: Final = dt.date(1900, 3, 1)


def _moment(value: dt.date) -> dt.datetime:
    """A date as its midnight; a time to the millisecond: spreadsheets keep times as fractions of a day, in floats."""
    if not isinstance(value, dt.datetime):
        return dt.datetime(value.year, value.month, value.day)
    return value.replace(microsecond=0) + dt.timedelta(milliseconds=round(value.microsecond / 1000))


def _too_large(name: str) -> DataError:
    return DataError(
        f"The column '{name}'",
        f"a number of it is {_EXACT:,} or more, where several whole numbers are one (that it is refused is a fact about the"
        " data: do not publish it)",
        "Write such numbers as text from the start",
    )


def _kind(value: Any) -> str:
    if isinstance(value, dt.datetime) and value.utcoffset() is not None:
        return "values of times with an offset"
    named = (name for kind, name in (*_KINDS, *_UNREAD) if isinstance(value, kind))
    return next(named, f"values of the kind {type(value).__name__}")
