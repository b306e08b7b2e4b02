# SPDX-License-Identifier: Apache-2.0
"""Who may ask: analysts with a token each, kept as its digest, and the most that each may spend of each data set.

A token is 256 random bits, shown once. What is kept is its SHA-256 digest: nobody who reads the file can ask with it, and
random bits need no slower one. The file is for its owner alone, is written whole or not at all, and is read anew for each
request, so that a token ends at the moment when it is revoked.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from leeward._document import Document, Part
from leeward._plain import echo
from leeward.errors import InputError, LedgerError, nearest
from leeward.exact._real import exact
from leeward.ledger import Analyst
from leeward.ledger._beside import PRIVATE
from leeward.ledger._secret import read_private
from leeward.outputs._disk import alone_in, replace_whole, said

PREFIX: Final = "leeward_"
"""What a token begins with, so that whoever finds one knows what it is."""

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What analysts and data sets are called: nothing that ends a line, a header or a path."""


class Issued(Part):
    """What is kept of a token.

    Attributes:
        name: of the analyst.
        digest: SHA-256 of the token, in hexadecimal.
        caps: the most that the analyst may spend of each data set, exactly; others may not be asked.
        created: when, in UTC.
        revoked: when it ended; None while it works.
    """

    name: str
    digest: str
    caps: dict[str, str]
    created: str
    revoked: str | None

    def analyst(self, data_set: str) -> Analyst | None:
        """Return on whose behalf a question about a data set is asked; None where it may not be."""
        if data_set not in self.caps:
            return None
        cap = exact(self.caps[data_set]).rational
        assert cap is not None
        return Analyst(self.name, cap)


class TokenList(Document):
    """The tokens of a service.

    Attributes:
        format: 1.
        tokens: those that were ever created, the oldest first.
    """

    format: Literal[1]
    tokens: tuple[Issued, ...]


class Tokens:
    """The tokens in a file.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> tuple[Issued, ...]:
        """Return all tokens; none where there is no file yet.

        Raises:
            LedgerError: the file cannot be read, is no list of tokens, or may be read by others.
        """
        try:
            held, is_open_to_others = read_private(self._path)
        except FileNotFoundError:
            if os.path.islink(self._path):  # a new list would not know whose accounts there are
                raise self._unusable("it is a link that leads nowhere") from None
            return ()
        except OSError as error:
            raise self._unusable(str(error.strerror)) from None
        if is_open_to_others:
            raise LedgerError(
                f"The tokens in {self._path} may be read by others",
                "who may ask, and how much, is for the curator alone",
                f"Take that right away: chmod 600 '{self._path}'",
            )
        try:
            return TokenList.model_validate_json(held).tokens
        except ValidationError:
            raise self._unusable("it is not as `leeward token` wrote it") from None

    def bearer(self, token: str) -> Issued | None:
        """Return whose a token is; None of one that was never given out, or was revoked.

        All of them are compared, each in a time that does not tell how much of it is the same.

        Raises:
            LedgerError: see `read`.
        """
        digest, found = _digest(token), None
        for one in self.read():
            if secrets.compare_digest(one.digest.encode(), digest.encode()) and one.revoked is None:
                found = one
        return found

    def create(self, name: str, caps: Mapping[str, Fraction], *, is_broker: bool = False) -> str:
        """Make a token of an analyst, and return it: it is shown nowhere else.

        Args:
            name: of the analyst, under which what they spend is kept.
            caps: the most that they may spend of each data set, in units of its budget.
            is_broker: whether the configuration lets them send positions: then no cap is needed.

        Raises:
            InputError: the name is none, has a token already, or differs from an earlier one by capital letters only; no
                cap is given; or the file cannot be written.
            LedgerError: see `read`.
        """
        if NAME.fullmatch(name) is None:
            raise InputError(
                f"The analyst {echo(name)}",
                "it is not up to 60 letters, digits, dots, _ and -, a letter or digit first",
                "Write, say, ann",
            )
        if not (caps or is_broker):
            raise InputError(
                f"A token of '{name}' without a cap",
                "it could ask nothing",
                "Give --cap DATA_SET=AMOUNT; or name a broker in [perturb.NAME] first",
            )
        token = PREFIX + secrets.token_urlsafe(32)
        exactly = {data_set: str(Analyst(name, cap).cap) for data_set, cap in caps.items()}
        made = Issued(name=name, digest=_digest(token), caps=exactly, created=_now(), revoked=None)
        with said(self._path), alone_in(self.file.parent):
            known = self.read()
            earlier = {one.name: one.revoked for one in known if one.name.casefold() == name.casefold()}
            if None in earlier.values():
                raise InputError(
                    f"The analyst '{name}' has a token already",
                    "there is one at a time, so that revoking it ends what they may ask",
                    f"Revoke it first: leeward token revoke {name}",
                )
            if other := next((each for each in earlier if each != name), None):
                raise InputError(
                    f"The analyst '{name}'",
                    f"an earlier token was of '{other}', whose account this would not be: what was spent would be forgotten",
                    f"Write {other}; of somebody else, choose another name",
                )
            self._write((*known, made))
        return token

    def revoke(self, name: str) -> None:
        """End the token of an analyst, at once. What they spent stays spent.

        Raises:
            InputError: no token of this name works; or the file cannot be written.
            LedgerError: see `read`.
        """
        with said(self._path), alone_in(self.file.parent):
            known = self.read()
            working = [one.name for one in known if one.revoked is None]
            if name not in working:
                raise InputError(f"The analyst {echo(name)}", "no token of theirs works", nearest(name, working))
            ended = {"revoked": _now()}
            self._write(
                tuple(
                    one.model_copy(update=ended) if one.name == name and one.revoked is None else one for one in known
                )
            )

    @property
    def file(self) -> Path:
        """Where the links lead: one that was replaced by a file would leave the other name its old tokens."""
        return Path(os.path.realpath(self._path))

    def _write(self, tokens: tuple[Issued, ...]) -> None:
        target = self.file
        if os.path.exists(target) and target.stat().st_nlink > 1:
            raise LedgerError(
                f"The file {target} has another name too (a hard link)",
                "under that name tokens would go on working that are revoked under this one",
                "Remove the other name, or make it a symbolic link",
            )
        replace_whole(target, TokenList(format=1, tokens=tokens).to_json().encode() + b"\n", PRIVATE)

    def _unusable(self, because: str) -> LedgerError:
        return LedgerError(
            f"The tokens in {self._path} cannot be used", because, "Restore the file, or name another in `tokens`"
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
