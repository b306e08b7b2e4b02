# SPDX-License-Identifier: Apache-2.0
"""Whether the first row of a table names its columns, or is a row of the data, or a title above the names.

Where it is a row, its values would be taken for names of columns, and names are shown, and written into specs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from leeward._plain import counted
from leeward.errors import DataError

_NUMBER: Final = re.compile(r"[+-]?((?!(19|20)\d\d(0[1-9]|1[0-2])(\d\d)?$)\d{5,}|\d*[.,]\d+)")
"""Numbers that hardly name a column; a year, a month, a day, and the number of a question may."""

_INSTEAD: Final = "Its first row must name the columns: put names there, or remove what stands above them"


def refuse_rows(file: str, names: Sequence[str], values: Sequence[frozenset[str]], timely: Sequence[bool]) -> None:
    """Refuse a first row that seems to be a row of the data.

    Args:
        file: its name.
        names: what stands in the first row.
        values: what stands in each column below, as texts.
        timely: of each name whether it is a time, as those below it are.

    Raises:
        DataError: a name is a time or a number as the values below it are, or at least half of the names are among the
            values of their columns. It names the column by its place: what stands there may be a value.
    """
    for at, (name, below, time) in enumerate(zip(names, values, timely, strict=True), 1):
        number = _NUMBER.fullmatch(name) and all(map(_IS_NUMBER.fullmatch, below))
        if below and (time or number):
            what = "a time" if time else "a number"
            raise DataError(
                f"The first row of '{file}'", f"in column {at} it holds {what}, as the rows below it do", _INSTEAD
            )
    again = sum(name in below for name, below in zip(names, values, strict=True) if name)
    if names and 2 * again >= len(names):
        raise DataError(
            f"The first row of '{file}'",
            f"what it holds in {counted(again, 'column')} of {len(names)} stands in rows below it too",
            _INSTEAD,
        )


_IS_NUMBER: Final = re.compile(r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?")


def refuse_title(file: str, named: int, filled: int) -> None:
    """Refuse a first row that seems to be a title: it names fewer than half of the columns below it."""
    if 2 * named < filled:
        raise DataError(
            f"The first row of '{file}'",
            f"it names {counted(named, 'column')}, and the rows below it fill {filled}: is it a title?",
            _INSTEAD,
        )
