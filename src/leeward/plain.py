r"""What is shown of text that others wrote: without anything that steers a terminal, and without passwords.

The names of columns, data sets and files, keys of a table and messages of an engine may hold escape sequences that move the
cursor, rename the window or write to the clipboard, and marks that turn the direction of writing around. Here, and only
here, all of that becomes visible: the escape character is shown as ``\x1b``. `leeward.errors.LeewardError` passes every
message through `shown`, and the command every line that it prints.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date, time, timedelta
from decimal import ROUND_CEILING, Decimal
from enum import Enum
from fractions import Fraction
from pathlib import PurePath

_STEERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control characters (C0, DEL, C1), format characters (among them the marks of direction), halves of
surrogate pairs, and the separators of lines and paragraphs."""

_JOINS = frozenset("\u200c\u200d")
"""Format characters that words and emoji are spelled with: they join or part their neighbours and nothing else."""

_USER = re.compile(r"(\w[\w+.-]*:/{1,3})[^\n]*@")
"""All up to the *last* @: a password that was not quoted as URLs want it may hold anything, also an @ or a colon."""

_NAMED_PASSWORD = re.compile(r"(?i)\b(\w*(?:password|passwd|passphrase|pwd)=)('[^']*'|\"[^\"]*\"|[^\s&;'\"]+)")
_SECRET_OF_URL = re.compile(
    r"(?i)([?&](?:\w*(?:token|secret|signature|credential|apikey|api_key|access_key)\w*|sig)=)[^\s&'\"]+"
)

_ENDLESS_WORD = re.compile(r"(\S{80})\S{4020,}")
"""Longer than the longest path: a number of five thousand digits that was asked for."""

LONGEST = 80
"""So many characters of an argument are repeated in a message."""


def plain(text: str) -> str:
    r"""Return a text on one line that steers no terminal: what would is written as Python writes it, such as ``\x1b``.

    Applying it twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) if steers(character) else character for character in text)


def steers(character: str) -> bool:
    """Whether a character is one that `plain` writes out."""
    return unicodedata.category(character) in _STEERS and character not in _JOINS


def plain_lines(text: str) -> str:
    r"""Return a text of several lines, each as `plain` returns it; only ``\n`` ends a line."""
    return "\n".join(plain(line) for line in text.split("\n"))


def without_passwords(text: str) -> str:
    """Return a text with users and passwords of all URLs in it replaced by ``***``, whatever their scheme.

    They are what stands before the last @, and after ``password=`` and its like.
    """
    if ":/" in text:
        text = _USER.sub(r"\1***@", text)
        text = _SECRET_OF_URL.sub(r"\1***", text)
    return _NAMED_PASSWORD.sub(r"\1***", text) if "=" in text else text


def shown(text: str) -> str:
    """Return what may be shown of a text that others wrote: `plain`, and `without_passwords`, and no word beyond bounds."""
    return _ENDLESS_WORD.sub(r"\1…", without_passwords(plain(text)))


def told(value: object) -> str:
    """Say which argument was given, for a message: a plain value as it is written, anything that may hold data by its kind.

    A table, a column or a list is named by its type alone: its text would be its rows.
    """
    if is_plain(value) or type(value).__module__.partition(".")[0] == "leeward":
        text = plain(value if isinstance(value, str) else _written(value))
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        return without_passwords(f"'{text}'" if isinstance(value, str) else text)
    if isinstance(value, type):
        return f"the class {plain(value.__name__)}"
    if isinstance(value, PurePath):
        return f"'{shown(str(value))}'"
    name = plain(type(value).__name__)
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"


def is_text(value: object) -> bool:
    """Whether a value is a text that files can keep: not empty, no null character, no half of a surrogate pair alone."""
    return isinstance(value, str) and bool(value) and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in value)


def is_plain(value: object) -> bool:
    """Whether a value is one text, number or moment, or nothing."""
    return value is None or isinstance(value, _PLAIN)


def _written(value: object) -> str:
    return value.isoformat() if isinstance(value, date | time) else repr(value)


_PLAIN = (str, bool, int, float, complex, Fraction, Decimal, date, time, timedelta, Enum)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def at_most(error: float, digits: int = 3) -> str:
    """Write a bound in so many digits, rounded up: what is told is never less than what is kept.

    Beyond twelve digits a floating-point error is its own rounding.
    """
    exactly = Decimal(f"{error:.12g}")
    if not exactly:
        return "0"
    unit = Decimal(1).scaleb(exactly.adjusted() - digits + 1)
    return f"{float(exactly.quantize(unit, rounding=ROUND_CEILING)):.12g}"
