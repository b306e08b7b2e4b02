# SPDX-License-Identifier: Apache-2.0
"""Every error Leeward raises on purpose.

    LeewardError
    ├── InputError (ValueError)      what was given is malformed
    │   ├── InexactError             a float where an exact number is needed
    │   ├── SpecError                a key or value of a spec file
    │   └── DataError                a table, a column, a file
    ├── RefusedError                 well-formed, but the promise would not hold
    │   ├── NotPrivateError        the notion does not protect what this answer would show
    │   ├── BoundExceededError       people exceed the declared bound (for the curator only)
    │   ├── DoubtfulDataError        nothing, or too little, of the data would count (for the curator only)
    │   └── LowUtilityError             private, but the answer would say nothing
    ├── LedgerError                  the budget store cannot be used
    │   ├── CapExceededError         the price is more than what is left
    │   ├── BudgetConflictError      another cap or notion than the budget was opened with
    │   └── ContentChangedError      the data changed under the same public label (for the curator only)
    ├── EngineError                  the engine that reads tables lacks what it needs; nothing is wrong with the data
    ├── NoiseError                   a noise law outside its range, or an entropy source misused
    └── UndecidedError               a question on exact reals or privacy that refinement did not settle

Each is built from three sentences: what was given, why it is refused, what to do instead. Messages never hold a data
value; those that hold a fact about the data (how many people exceed a bound) say that they are for the curator. Nor do they
hold what steers a terminal, or the password of a URL: see `leeward._plain`. And none brings along the exception that it was
raised over, whose text may hold data.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from errno import EDQUOT, EFBIG, EMFILE, ENFILE, ENOSPC
from typing import Final, Self

from leeward._plain import LONGEST, echo, reading_alike, shown


class LeewardError(Exception):
    """The base of every error Leeward raises on purpose.

    Args:
        given: what was given, in the user's own words (keys, columns, public values; never data).
        because: why it is refused.
        instead: what to do instead.
    """

    def __init__(self, given: str, because: str = "", instead: str = "") -> None:
        self.given, self.because, self.instead = given, because, instead = shown(given), shown(because), shown(instead)
        first = f"{given.rstrip('.')}: {because}" if because else given
        super().__init__(" ".join(_sentence(part) for part in (first, instead) if part))
        self.__suppress_context__ = True  # for the interpreter's own printing, which does not ask the property below

    @property
    def __context__(self) -> BaseException | None:
        """None: the exception that was being handled may repeat rows of a table, and who prints or logs it asks here."""
        return None

    @__context__.setter
    def __context__(self, _: BaseException | None) -> None:
        """Nothing is kept: `contextlib` sets what it has just read."""

    def add_note(self, note: str) -> None:
        """Add a sentence, with nothing in it that steers a terminal."""
        super().add_note(shown(note))

    @property
    def in_full(self) -> str:
        """The message as the terminal and the desk of the curator show it: there one kind says what no log may keep."""
        return str(self)

    def __reduce__(self) -> tuple[type[LeewardError], tuple[str, str, str]]:
        return type(self), (self.given, self.because, self.instead)


def code_of(error: LeewardError) -> str:
    """Return the kind of a refusal, as programs are told it: ``cap-exceeded`` of a `CapExceededError`."""
    name = type(error).__name__.removesuffix("Error")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()


class InputError(LeewardError, ValueError):
    """What was given is malformed."""


class InexactError(InputError):
    """A float was given where an exact number is needed."""


class SpecError(InputError):
    """A key or value of a spec file is missing, unknown or malformed."""


class DataError(InputError):
    """A table, column or file cannot be read as described."""


class RefusedError(LeewardError):
    """The request is well-formed, but the promise it asks for would not hold."""


class NotPrivateError(RefusedError):
    """The notion does not protect what this answer would show."""


class BoundExceededError(RefusedError):
    """People exceed the declared bound. The message is itself a fact about the data: for the curator only."""


class DoubtfulDataError(RefusedError):
    """Nothing, or too little, of the data would count. The message is itself a fact about the data: for the curator only.

    Attributes:
        times: from when to when the times of the data run, in words; empty where they are not told. They are values of two
            rows, and so in no message that a notebook or a log keeps, and in no pickle.
    """

    times: str = ""

    @classmethod
    def stopping(cls, given: str, because: str, instead: str, unless: str) -> Self:
        """Return what stops a release before a charge, unless it is told to go on.

        Args:
            given: what is doubtful.
            because: what would come of it.
            instead: what to check.
            unless: in which case to go on, such as ``all is as it should be``.
        """
        return cls(
            given,
            because,
            f"{instead}. That it stopped is a fact about the data: do not publish it. Nothing was charged. If {unless}, go"
            ' on with if_doubtful = "publish" (in the command: --if-doubtful publish)',
        )

    @property
    def in_full(self) -> str:
        """The message with `times`."""
        because = "; ".join(part for part in (self.because, self.times) if part)
        return str(type(self)(self.given, because, self.instead))


class LowUtilityError(RefusedError):
    """The answer would be private but would say nothing."""


class LedgerError(LeewardError):
    """The budget store cannot be used."""


class CapExceededError(LedgerError):
    """The price is more than what is left of the budget."""


RAISE_CAP = "raise the cap on purpose (`leeward budget set-cap`; before the first release, where it is given)"
"""What helps where a cap is too low: a budget that no release has opened is in no ledger, and nothing can be set there."""


class BudgetConflictError(LedgerError):
    """The budget was opened with another cap or notion."""


class ContentChangedError(LedgerError):
    """The data changed under the same public label. For the curator only."""


class EngineError(LeewardError):
    """The engine that reads tables cannot be set up, or lacks what the system gives. Nothing is wrong with the data."""


class NoiseError(LeewardError):
    """A noise law is outside its supported range, or an entropy source is misused."""


class UndecidedError(LeewardError):
    """A question on exact reals or on privacy was not settled by refinement."""


_MORE_FILES: Final = "Nothing is wrong with the data. Allow more open files at once: ulimit -n 1024"
_MORE_ROOM: Final = "Nothing is wrong with the data. Make room where temporary files lie"
DENIED: Final = dict.fromkeys((EMFILE, ENFILE), _MORE_FILES) | dict.fromkeys((ENOSPC, EDQUOT, EFBIG), _MORE_ROOM)
"""By the number of an error: what helps where the system denies what reading a table needs, whatever the table holds."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'?`` for the nearest of the known (public) words, else the list of them."""
    known = list(known)
    twin = [one for one in known if isinstance(one, str) and reading_alike(one) == reading_alike(str(word))]
    close = twin or difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    if close:
        return f"Did you mean '{_short(close[0])}'?"
    more = f" and {len(known) - _MOST_KNOWN} more" if len(known) > _MOST_KNOWN else ""
    return f"Known: {', '.join(_short(one) for one in known[:_MOST_KNOWN])}{more}." if known else ""


_MOST_KNOWN = 60


def _short(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[:LONGEST]}…"


def check_choice(
    name: str,
    given: object,
    known: Iterable[str],
    because: str = "it is not a known choice",
    *,
    error: type[LeewardError] = InputError,
) -> None:
    """Refuse what is none of the words that an argument of this name may be."""
    known = tuple(known)
    if not isinstance(given, str) or given not in known:  # what is no text may compare as an array does
        raise error(f"{name} = {echo(given)}", because, nearest(str(given), known))


def nearest_column(name: str, known: Iterable[str], *, in_first_line: bool) -> str:
    """Return what to do where a table has no column of a name: as `nearest`, if the names are names for sure.

    Args:
        name: the name that was asked for.
        known: the names of all columns.
        in_first_line: whether they were read from the first line of a file of text. Without a line of names, that is a row
            of data: a name in it is repeated only where it is the caller's own word, but for capitals, spaces, punctuation.
    """
    if not in_first_line:
        return nearest(name, known)
    alike = [one for one in known if _letters(one) == _letters(name)]
    if alike:
        return f"Did you mean '{alike[0]}'?"
    return "Its first line must name the columns; it is not shown, because it may be a row of data"


def no_column(name: str, known: Iterable[str], *, in_first_line: bool = False) -> DataError:
    """Return the error that a table has no column of a name; see `nearest_column`."""
    near = nearest_column(name, known, in_first_line=in_first_line)
    return DataError(f"The column '{name}'", "the table has none of that name", near)


@contextmanager
def noted(note: Callable[[], str]) -> Iterator[None]:
    """Add a note to whatever fails: what of the work stands nevertheless; none if it is empty."""
    try:
        yield
    except BaseException as error:
        if said := note():
            error.add_note(said)
        raise


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, reading_alike(name)))


def _sentence(text: str) -> str:
    return text if text[-1] in ".?!" else text + "."
