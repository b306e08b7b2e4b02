# SPDX-License-Identifier: Apache-2.0
"""What a digest covers, written so that no two different lists of parts are written alike, whatever the parts hold."""

from __future__ import annotations

from typing import TypeAlias

from leeward.errors import LedgerError

Kept: TypeAlias = bytes | str | int
"""A part: bytes are written as they are, a text in UTF-8, an integer in decimals."""


def joined(*parts: Kept) -> bytes:
    """Return parts, each after its length in 8 bytes.

    The first part says what the digest is for: then a digest of one thing is never one of another. At one place of one
    purpose, parts are of one type: a text and its bytes are written alike.

    Raises:
        LedgerError: a part is of another type, as when something else has written it into the ledger.
    """
    return b"".join(map(_sized, parts))


def _sized(part: object) -> bytes:
    if type(part) is str:
        raw = part.encode("utf-8", "surrogatepass")
    elif type(part) is bytes:
        raw = part
    elif type(part) is int:
        raw = str(part).encode()
    else:
        raise altered(f"A {type(part).__name__} where a ledger keeps texts, bytes and integers")
    return len(raw).to_bytes(8) + raw


def altered(what: str) -> LedgerError:
    """The error for what Leeward never writes into a ledger."""
    return LedgerError(what, "the file was changed by something else", "Restore the ledger from a copy you trust")
