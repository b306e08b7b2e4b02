# SPDX-License-Identifier: Apache-2.0
"""How a table is written, where it does not say so itself: what is between columns, the encoding, the decimal mark, times.

None of it is guessed when a table is read: what is not said here has one meaning (a comma in ``.csv``, a tab in ``.tsv``,
UTF-8, a decimal point, times as ISO 8601). A text that is not written as it is said to be is unreadable, and is counted as
such. What is read in a named format is one table however it was written: a time in one format and the same time in another,
to the same digits, are one value, so content is recognised, and answers are found again, after it was saved in another way.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Final

from leeward._plain import echo
from leeward.errors import SpecError, nearest

DELIMITERS: Final = (",", ";", "\t", "|")
"""What may be between two columns; a tab is also called ``tab``."""

ENCODINGS: Final = frozenset(
    codecs.lookup(name).name
    for name in (
        *(
            "utf-8",
            "utf-16",
            "utf-16-le",
            "utf-16-be",
            "utf-32",
            "mac-roman",
            "koi8-r",
            "koi8-u",
            "cp437",
            "cp850",
            "cp852",
        ),
        *(f"cp125{number}" for number in range(9)),
        *(f"iso8859-{number}" for number in range(1, 17) if number != 12),
        *("shift_jis", "cp932", "euc_jp", "gb18030", "gbk", "big5", "euc_kr", "cp949", "cp874"),
    )
)
"""Encodings of text that are read, by Python's names for them."""

_TOKEN: Final = re.compile(r"yyyy|yy|mm|dd|HH|hh|MM|SS|AM/PM|AM|T(?=[Hh])|[A-Za-z0-9]+|[^A-Za-z0-9]")
_FIELD: Final = {
    "yyyy": r"(\d{4})", "yy": r"(\d\d)", "mm": r"(0?[1-9]|1[0-2])", "dd": r"(0?[1-9]|[12]\d|3[01])",
    "HH": r"([01]?\d|2[0-3])", "hh": r"(0?[1-9]|1[0-2])", "MM": r"([0-5]\d)", "SS": r"([0-5]\d(?:\.\d{1,6})?)",
    "AM": r"([AaPp]\.?[Mm]\.?)",
}  # fmt: skip
_ROLES: Final = {
    "yyyy": "year", "yy": "year", "mm": "month", "dd": "day", "HH": "hour", "hh": "hour", "MM": "minute", "SS": "second",
    "AM": "half",
}  # fmt: skip
_EXAMPLE: Final = (
    "Write it with yyyy, mm, dd, HH, MM and SS, such as time_format = 'dd/mm/yyyy HH:MM'; hh with AM is the clock of twelve"
    " hours"
)


@dataclass(frozen=True)
class TimeFormat:
    """How times are written, by a format such as ``dd/mm/yyyy HH:MM``.

    A day, a month and an hour may have one digit, unless digits follow at once. Seconds may have decimals; ``yy`` is a year
    from 2000 to 2099.

    Attributes:
        text: the format.
        pattern: a regular expression for the whole of a text, with one group a field.
        fields: what the groups are, in their order: year, month, day, hour, minute, second, half (of the day).
        short_year: whether the year has two digits.
        twelve: whether hours go from 1 to 12.
    """

    text: str
    pattern: str
    fields: tuple[str, ...]
    short_year: bool
    twelve: bool

    @classmethod
    def of(cls, text: str, key: str = "time_format") -> TimeFormat:
        """Read a format.

        Raises:
            SpecError: it does not say a date, or a field of it is unknown or twice there.
        """
        parts = ["AM" if part == "AM/PM" else part for part in _TOKEN.findall(text)]
        fields = [part for part in parts if part in _FIELD]
        roles = [_ROLES[part] for part in fields]
        unknown = [part for part in parts if part.isalnum() and part not in _FIELD and part != "T"]
        problem = ""
        if unknown:
            problem = f"'{unknown[0]}' is not a part of a time"
        elif any(roles.count(role) > 1 for role in roles):
            problem = "it says a part of the time twice (mm is the month, MM are minutes)"
        elif not {"year", "month", "day"} <= {*roles}:
            problem = "it says no whole date"
        elif ("minute" in roles and "hour" not in roles) or ("second" in roles and "minute" not in roles):
            problem = "it says minutes without hours, or seconds without minutes"
        elif ("hh" in parts) != ("half" in roles):
            problem = "hh goes with AM, and HH without"
        if problem:
            raise SpecError(f"{key} = {echo(text)}", problem, _EXAMPLE)
        written = []
        for at, part in enumerate(parts):
            tight = any(0 <= near < len(parts) and parts[near] in _FIELD for near in (at - 1, at + 1))
            field = _FIELD.get(part)
            if field is None:
                written.append(re.escape(part))
            else:
                written.append(field.replace("0?", "0").replace("[01]?", "[01]") if tight and part != "AM" else field)
        return cls(text, "".join(written), tuple(roles), "yy" in parts, "hh" in parts)


@dataclass(frozen=True)
class Writing:
    """How a table is written; None where it is not said.

    Attributes:
        delimiter: between two columns of a text file.
        encoding: of a text file.
        decimal: the decimal mark of numbers that are texts.
        time_format: how times that are texts are written.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    time_format: str | None = None

    def __post_init__(self) -> None:
        """Refuse what is not a way of writing.

        Raises:
            SpecError: a value is not known.
        """
        if self.delimiter == "tab":
            object.__setattr__(self, "delimiter", "\t")
        if self.delimiter is not None and self.delimiter not in DELIMITERS:
            raise SpecError(
                f"delimiter = {echo(self.delimiter)}",
                "it is not read between columns",
                'Known: ",", ";", "tab" and "|"',
            )
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.decimal is not None and self.decimal not in (".", ","):
            raise SpecError(f"decimal = {echo(self.decimal)}", "it is not a decimal mark", 'Write decimal = "," or "."')
        if self.decimal == "," == self.delimiter:
            raise SpecError(
                'decimal = "," with delimiter = ","',
                "a comma cannot be both",
                'Write delimiter = ";", if the file has it',
            )
        if self.time_format is not None:
            self.times()

    def times(self) -> TimeFormat | None:
        """Return how times are written; None where it is not said."""
        return None if self.time_format is None else TimeFormat.of(self.time_format)

    def said(self) -> dict[str, str]:
        """Return what is said, by key."""
        return {key: value for key, value in vars(self).items() if value is not None}


PLAIN: Final = Writing()
"""Nothing is said."""


def _encoding(name: object) -> str:
    known = None
    if isinstance(name, str):
        try:
            known = codecs.lookup(name).name
        except (LookupError, ValueError):
            known = None
    known = "utf-8" if known == "utf-8-sig" else known
    if known not in ENCODINGS:
        usual = ("utf-8", "utf-16", "windows-1252", "latin-1", "iso-8859-15", "shift_jis", "gb18030")
        near = nearest(str(name), usual) if isinstance(name, str) else f"Known: {', '.join(usual)}"
        raise SpecError(f"encoding = {echo(name)}", "it is not an encoding of text that is read", near)
    return known
