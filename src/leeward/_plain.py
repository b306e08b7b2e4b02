# SPDX-License-Identifier: Apache-2.0
r"""What is shown of text that others wrote: without anything that steers a terminal, and without passwords.

The names of columns, data sets and files, keys of a table and messages of an engine may hold escape sequences that move the
cursor, rename the window or write to the clipboard, and marks that turn the direction of writing around. Here, and only
here, all of that becomes visible: the escape character is shown as ``\x1b``. So does what makes two different names look
alike: letters that are spelled with other code points, spaces that are not the space bar's, signs that nobody sees. Whether
two names read alike is decided by `reading_alike`, one form for all of them. `leeward.errors.LeewardError` passes every
message through `shown`, and the command every line that it prints.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)
from enum import Enum
from fractions import Fraction
from pathlib import PurePath
from typing import SupportsFloat

_STEERS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of Unicode: control characters (C0, DEL, C1), format characters (among them the marks of direction), halves of
surrogate pairs, and the separators of lines and paragraphs."""

_JOINS = frozenset("\u200c\u200d")
"""Format characters that words and emoji are spelled with: they join or part their neighbours and nothing else."""

_BEYOND_LATIN = "\u0590"
"""Where they join or part nothing, nobody sees them: in Latin, Greek, Cyrillic, Armenian, and beside signs and digits."""

_COLOURED = "\ufe0f"
"""Asks for the coloured form of the emoji before it; elsewhere nobody sees it."""

_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that leave no trace on the screen: fillers, the joiner of graphemes, selectors of variants."""

_USER = re.compile(r"(\w[\w+.-]*(?::/{1,3}|\s*:\s*//))[^\n]*@")
"""All up to the *last* @: a password that was not quoted as URLs want it may hold anything, also an @ or a colon."""

_NAMED_PASSWORD = re.compile(r"(?i)\b(\w*(?:password|passwd|passphrase|pwd)=)('[^']*'|\"[^\"]*\"|[^\s&;'\"]+)")
_SECRET_OF_URL = re.compile(
    r"(?i)([?&;](?:\w*(?:token|secret|signature|credential|apikey|api_key|access_key)\w*|sig)=)[^\s&;'\"]+"
)

_ENDLESS_WORD = re.compile(r"(\S{80})\S{4020,}")
"""Longer than the longest path: a number of five thousand digits that was asked for."""

LONGEST = 80
"""So many characters of an argument are repeated in a message."""


def plain(text: str) -> str:
    r"""Return a text on one line that steers no terminal: what would is written as Python writes it, such as ``\x1b``.

    Two different texts never look alike because of how their letters are put together: what is not in Unicode's form NFC is
    written out, and so are spaces other than the space bar's, and signs that nobody sees. Letters of two scripts that look
    alike stay letters. Applying it twice changes nothing more.
    """
    if text.isascii() and text.isprintable():
        return text
    made, last = list[str](), ""
    for at, character in enumerate(text):
        hidden = steers(character) or _is_unseen(character, last[-1:], text[at + 1 : at + 2])
        composed = character.isascii() or unicodedata.is_normalized("NFC", last + character)
        written = character
        if hidden or not composed:
            written = character.encode("unicode_escape", "surrogatepass").decode("ascii")
        made.append(written)
        # what the next one may be put together with: all from the last letter on
        last = last + written if unicodedata.combining(written[-1]) else written[-1]
    return "".join(made)


def steers(character: str) -> bool:
    """Whether a character is one that `plain` writes out wherever it stands."""
    kind = unicodedata.category(character)
    return (kind in _STEERS and character not in _JOINS) or (kind == "Zs" and character != " ")


def _is_unseen(character: str, before: str, after: str) -> bool:
    if character in _JOINS:
        return not (_joins_to(before) and _joins_to(after) and after != _COLOURED)
    if character == _COLOURED:
        return not before or before.isascii() or unicodedata.category(before)[0] != "S"
    return _UNSEEN.match(character) is not None


def _joins_to(near: str) -> bool:
    """Whether a joiner beside this character is seen, because its neighbour changes its form."""
    stays = near and not steers(near) and near not in _JOINS and not _UNSEEN.match(near)
    return bool(stays) and near >= _BEYOND_LATIN and unicodedata.is_normalized("NFC", near)


def reading_alike(name: str) -> str:
    """Return the form in which names are compared where twins are looked for: names of one form read alike.

    Unicode's NFKC without capitals, without signs that nobody sees, and with one space for any white space.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    seen = (c for c in folded if c.isspace() or (unicodedata.category(c) not in _STEERS and not _UNSEEN.match(c)))
    return " ".join("".join(c for c in seen if c != _COLOURED).split())


def plain_lines(text: str) -> str:
    r"""Return a text of several lines, each as `plain` returns it; only ``\n`` ends a line."""
    return "\n".join(plain(line) for line in text.split("\n"))


def without_passwords(text: str) -> str:
    """Return a text with users and passwords of all URLs in it replaced by ``***``, whatever their scheme.

    They are what stands before the last @, and after ``password=`` and its like.
    """
    if ":/" in text or "//" in text:
        text = _USER.sub(r"\1***@", text)
        text = _SECRET_OF_URL.sub(r"\1***", text)
    return _NAMED_PASSWORD.sub(r"\1***", text) if "=" in text else text


def shown(text: str) -> str:
    """Return what may be shown of a text that others wrote: `plain`, and `without_passwords`, and no word beyond bounds."""
    return _ENDLESS_WORD.sub(r"\1…", without_passwords(plain(text)))


def echo(value: object) -> str:
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


def is_finer_than_microseconds(moment: object) -> bool:
    """Whether a moment, or the text of one, has digits that a `datetime` does not keep, and that are not all 0."""
    if isinstance(moment, str):
        return re.search(r"[.,]\d{6}\d*[1-9]", moment) is not None
    return bool(getattr(moment, "nanosecond", 0))  # pandas


def is_plain(value: object) -> bool:
    """Whether a value is one text, number or moment, or nothing."""
    return value is None or isinstance(value, _PLAIN)


def _written(value: object) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    return repr(float(value) if isinstance(value, float) else value)  # NumPy's floats are floats, and write their kind


_PLAIN = (str, bool, int, float, complex, Fraction, Decimal, date, time, timedelta, Enum)


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Write a list in a sentence: ``a``, ``a and b``, ``a, b and c``; nothing of none."""
    return f" {last} ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Write a number of things: ``1 reading``, ``2 readings``."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def decimal(number: Fraction) -> str:
    """Write a public number as a decimal where it is one of at most ten digits, else as a fraction."""
    short = f"{float(number):.10g}"
    return short if Fraction(short) == number else str(number)


_PYTHONS = Context(28, ROUND_HALF_EVEN, -999_999, 999_999, 1, 0, [], [InvalidOperation, DivisionByZero, Overflow])
"""The decimal context that Python has by default."""


@contextmanager
def own_decimals() -> Iterator[None]:
    """Work with decimals as Python does by default, whatever the caller's program made of its thread's decimal context."""
    with localcontext(_PYTHONS):  # a copy of it
        yield


@own_decimals()
def at_most(error: float, digits: int = 3) -> str:
    """Write a bound in so many digits, rounded up: what is told is never less than what is kept.

    Beyond twelve digits a floating-point error is its own rounding.
    """
    exactly = Decimal(f"{error:.12g}")
    if not exactly:
        return "0"
    unit = Decimal(1).scaleb(exactly.adjusted() - digits + 1)
    return f"{float(exactly.quantize(unit, rounding=ROUND_CEILING)):.12g}"


def probability(chance: SupportsFloat, digits: int = 12) -> str:
    """Write an exact probability in so many digits. Only what never happens reads 0, and only what is certain reads 1."""
    written = f"{float(chance):.{digits}g}"
    if written == "0" and chance != 0:
        return "1e-300"
    return f"0.{'9' * digits}" if written == "1" and chance != 1 else written


@own_decimals()
def percent(chance: str | Decimal, rounding: str = ROUND_FLOOR) -> str:
    """Write a probability in percent, rounded down, so that what is not certain never reads as 100 %.

    Two digits are kept of whichever is smaller, the chance or its complement, so that neither is rounded away.
    """
    hundredths = Decimal(chance) * 100
    rest = min(hundredths, 100 - hundredths)
    if 0 < rest < Decimal("0.0001"):
        return "under 0.0001 %" if rest == hundredths else "over 99.9999 %"
    digits = 1 if rest == 0 or rest >= 1 else 1 - rest.adjusted()
    rounded = hundredths.quantize(Decimal(1).scaleb(-digits), rounding)
    return f"{int(rounded)} %" if rest == 0 else f"{rounded} %"


def short_percent(chance: SupportsFloat) -> str:
    """Write a probability as `percent` does, but with one digit, where many stand beside each other."""
    tenths = int(float(chance) * 1000)
    if tenths == 0 and chance != 0:
        return "under 0.1 %"
    return f"{(999 if tenths >= 1000 and chance != 1 else tenths) / 10:.1f} %"


def tabled_percent(chance: SupportsFloat) -> str:
    """Write a probability as `short_percent` does, for a narrow cell."""
    return short_percent(chance).replace(" ", "").replace("under", "<")


def likely(chance: float, digits: int = 1) -> str:
    """Write a chance that is known up to rounding, in percent to so many digits: it never reads 0 % or 100 %."""
    least, written = 10.0**-digits, f"{chance:.{digits}%}"
    if float(written[:-1]) in (0, 100):
        return f"over {100 - least:.{digits}f}%" if chance > 0.5 else f"under {least:.{digits}f}%"
    return written


def share_of(part: float) -> str:
    """Write a share of what was counted, in percent: only of none it reads 0 %, and only of all 100 %."""
    return likely(part) if 0 < part < 1 else f"{part:.0%}"


def odds(cost: float) -> str:
    """Write e^cost, the odds by which two things are distinguished, in four digits and rounded up."""
    if math.isinf(cost):
        return "e^∞"
    return at_most(math.exp(cost), 4) if cost < 30 else f"e^{at_most(cost, 4)}"
