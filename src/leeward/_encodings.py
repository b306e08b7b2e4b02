# SPDX-License-Identifier: Apache-2.0
"""Text files are UTF-8, with or without a byte order mark. What another one is, is said by name."""

from __future__ import annotations

import codecs
import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

UTF8: Final = "utf-8-sig"
"""UTF-8, whose byte order mark is not a character of the text; nothing is written with one."""

_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def unfit(raw: bytes) -> str | None:
    """Say why bytes are not text in UTF-8; None where they are one. Of a longer text, give as much as there is."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            return f"it is text in {name}, and not in UTF-8"
    try:
        text = raw.decode()  # a mark with it: the decoder that takes it away counts bytes from behind it
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data" and error.end == len(raw):
            text = raw[: error.start].decode()  # cut within a character
        else:
            return "it is not text in UTF-8 (text in Latin-1 or Windows-1252, perhaps)"
    return "it holds zero bytes, as text in UTF-16 does, and is not text in UTF-8" if "\0" in text else None


@contextmanager
def any_length() -> Iterator[None]:
    """Read CSV with fields of any length: Python's own reader stops at 131,072 letters by default."""
    usual = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(usual)
