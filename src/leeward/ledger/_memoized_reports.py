# SPDX-License-Identifier: Apache-2.0
"""The same answer for the same question: one report for each person and grid point, kept encrypted.

Averaging a hundred reports of one's home finds the home. A report that is drawn once and shown again gives an averager
nothing new. But that it is the *same* report shows that the person is at the same place again, and that it is *another* one
shows that they are not: whoever keeps reports can see who comes back where, without any limit. So it is used only where that
is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray
from sqlalchemy import Connection

from leeward.errors import LedgerError
from leeward.ledger._identity import named
from leeward.ledger._people_store import PeopleStore

Points = NDArray[np.int64]
"""Grid points, shape (n, 2)."""

Draw = Callable[[Points], Points]


class Once(Protocol):
    """Answer for some people and grid points; see `MemoizedReports.once`."""

    def __call__(self, people: Sequence[Any], points: Points, draw: Draw, law: str | None = None) -> Points:
        """Return the answer for each person and grid point."""


class MemoizedReports(PeopleStore):
    """Answers by person and grid point, encrypted with AES-GCM under a key of the user's.

    Args:
        path: the SQLite file.
        key: at least 16 secret bytes; two keys, for names and for answers, are derived from it.
        law: the mechanism in words that must not change: an answer of another law is not the same answer.
        new: whether the file may be made where there is none, or an empty one: then every answer is drawn anew.

    Raises:
        LedgerError: the file cannot be used, or is not there and may not be made.
        BudgetConflictError: it was made for another law, or with another key.
    """

    def __init__(self, path: str | os.PathLike[str], *, key: bytes, law: str, new: bool = False) -> None:
        super().__init__(path, "memo", {"law": law}, key, new=new)
        self._cipher = AESGCM(self.digest("cipher", 1) + self.digest("cipher", 2))

    def keys(self, people: Sequence[Any], points: Points, laws: Sequence[str] | None = None) -> list[bytes]:
        """Return what an answer is kept under, for each person and grid point (shape (n, 2)).

        Where a store holds answers of several laws, that of each is a part of its key: so an answer that was drawn by one
        is never shown as one of another.
        """
        rows = zip(people, points.tolist(), strict=True)
        if laws is None:
            return [self.digest("answer", named(person), i, j) for person, (i, j) in rows]
        return [
            self.digest("answer by a law of its own", named(person), i, j, law)
            for (person, (i, j)), law in zip(rows, laws, strict=True)
        ]

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return those of the keys that there is an answer for."""
        with self.writing() as connection:
            return set(_stored(connection, keys))

    def once(self, people: Sequence[Any], points: Points, draw: Draw, law: str | None = None) -> Points:
        """Return the answer for each person and grid point; what has none is drawn, stored, and then shown.

        Args:
            people: one a report.
            points: grid points, shape (n, 2); in further columns, what is only handed to ``draw``.
            draw: gives noisy grid points, shape (n, 2), for grid points; called with those that are new, each once.
            law: how these are drawn, where a store holds answers of several laws.
        """
        with self.drawing() as once:
            return once(people, points, draw, law)

    @contextmanager
    def drawing(self) -> Iterator[Once]:
        """Answer batch by batch, as `once` does, all in one transaction: stored when it ends, forgotten if anything fails.

        Yields:
            A function that takes what `once` takes. Its answers may be shown when the block has ended.
        """
        with self.writing() as connection:
            yield lambda people, points, draw, law=None: self._once(connection, people, points, draw, law)

    def _once(
        self, connection: Connection, people: Sequence[Any], points: Points, draw: Draw, law: str | None
    ) -> Points:
        asked = self.keys(people, points[:, :2], None if law is None else [law] * len(people))
        known = {key: self._unseal(key, sealed) for key, sealed in _stored(connection, asked).items()}
        new = {key: row for row, key in reversed([*enumerate(asked)]) if key not in known}
        if new:
            drawn = draw(points[list(new.values())]).tolist()
            known |= {key: (int(i), int(j)) for key, (i, j) in zip(new, drawn, strict=True)}
            sealed = [(key, self._seal(key, known[key])) for key in sorted(new)]
            connection.exec_driver_sql("INSERT INTO memo VALUES (?, ?)", sealed)
        return np.array([known[key] for key in asked], np.int64).reshape(-1, 2)

    def _seal(self, asked: bytes, answer: tuple[int, int]) -> bytes:
        nonce = os.urandom(12)
        return nonce + self._cipher.encrypt(nonce, np.array(answer, "<i8").tobytes(), asked)

    def _unseal(self, asked: bytes, sealed: bytes) -> tuple[int, int]:
        try:
            i, j = np.frombuffer(self._cipher.decrypt(sealed[:12], sealed[12:], asked), "<i8").tolist()
        except (InvalidTag, TypeError, ValueError):  # a cell may hold anything
            raise LedgerError(
                f"An answer in {self.path} cannot be opened", "it was changed or damaged", "Restore the file"
            ) from None
        return i, j


def _stored(connection: Connection, asked: Sequence[bytes]) -> dict[bytes, bytes]:
    connection.exec_driver_sql("CREATE TEMP TABLE IF NOT EXISTS wanted (asked BLOB)")
    connection.exec_driver_sql("DELETE FROM wanted")
    if asked:
        connection.exec_driver_sql("INSERT INTO wanted VALUES (?)", [(key,) for key in sorted(set(asked))])
    found = connection.exec_driver_sql("SELECT asked, answer FROM wanted CROSS JOIN memo USING (asked)")
    return {row.asked: row.answer for row in found}
