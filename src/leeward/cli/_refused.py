# SPDX-License-Identifier: Apache-2.0
"""What a command with ``--json`` prints where it refuses: one object in one line, the last on stderr; it exits with 2."""

from __future__ import annotations

from typing import Literal

from leeward._document import Document, Part
from leeward.errors import LeewardError, code_of


class Reason(Part):
    """Why a command refused.

    Attributes:
        code: the kind of refusal: the name of its exception in `leeward.errors`, as ``cap-exceeded``; ``usage`` for options
            that the command does not know, and ``memory`` where the process may use no more.
        message: the whole message, as it is printed without ``--json``.
        given: what was given.
        because: why that is refused; may be empty.
        instead: what to do instead; may be empty.
        notes: what became of the run besides, a sentence each.
    """

    code: str
    message: str
    given: str
    because: str
    instead: str
    notes: tuple[str, ...]


class Refusal(Document):
    """A command that refused.

    Attributes:
        format: 1.
        error: why.
    """

    format: Literal[1]
    error: Reason


def refusal(error: LeewardError) -> Refusal:
    """Return how an error is told to a program."""
    return Refusal(
        format=1,
        error=Reason(
            code=code_of(error),
            message=error.in_full,
            given=error.given,
            because=error.because,
            instead=error.instead,
            notes=tuple(getattr(error, "__notes__", ())),
        ),
    )


def other(code: str, message: str) -> Refusal:
    """Return how a refusal that is no error of ours is told to a program."""
    reason = Reason(code=code, message=message, given=message, because="", instead="", notes=())
    return Refusal(format=1, error=reason)
