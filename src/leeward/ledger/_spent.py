# SPDX-License-Identifier: Apache-2.0
"""What millions of accounts have spent, a day at a time: in blocks, which are read, added to and written as arrays.

A block is of one day, and of the accounts whose keyed hash begins with the same six bits: their hashes in order, 16 bytes
each, and as many numbers of reports, 8 bytes each. A row an account and day would say the same, for ten times the work.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from leeward.errors import LedgerError

Accounts = NDArray[np.bytes_]
"""Keyed hashes of 16 bytes, dtype ``S16``."""

Keys = NDArray[np.bytes_]
"""A day and an account in one, dtype ``S24``: they sort by day, then by account."""

_HASH: Final = 16
_BLOCKS_A_DAY: Final = 64  # with a million accounts a day, one person's charge writes 400 kB
_FIRST_DAY: Final = np.uint64(2**63)  # what is added to a day, so that those before 1970 sort first
_KEY: Final = np.dtype([("day", ">u8"), ("account", f"S{_HASH}")])


def keys_of(days: NDArray[np.int64], accounts: Accounts) -> Keys:
    """Return the key of each day and account."""
    made = np.empty(len(days), _KEY)
    made["day"], made["account"] = days.astype(np.uint64) + _FIRST_DAY, accounts
    return made.view(f"S{_KEY.itemsize}")


@dataclass(frozen=True)
class Distinct:
    """Keys in their order, each once.

    Attributes:
        keys: shape (n,).
        first: where each was given first.
        times: how many times each was given.
        at: which of them each of those given is.
    """

    keys: Keys
    first: NDArray[np.int64]
    times: NDArray[np.int64]
    at: NDArray[np.int64]


def distinct(given: Keys) -> Distinct:
    """Return the keys in their order, each once."""
    parts = given.view([("day", ">u8"), ("first", ">u8"), ("rest", ">u8")])
    day, first = parts["day"].astype(np.uint64), parts["first"].astype(np.uint64)
    is_one_day = len(day) == 0 or (day == day[0]).all()
    if is_one_day:  # mostly each once, which their first halves tell
        order = np.argsort(first)
        if (np.diff(first[order]) > 0).all():
            at = np.empty(len(order), np.int64)
            at[order] = np.arange(len(order))
            return Distinct(given[order], order, np.ones(len(order), np.int64), at)
    order = np.argsort(first, kind="stable") if is_one_day else np.lexsort((first, day))
    keys = given[order]
    if not (keys[1:] >= keys[:-1]).all():  # two hashes that begin alike; to compare all of each always is slower
        order = np.argsort(given, kind="stable")
        keys = given[order]
    is_first = np.ones(len(keys), bool)
    is_first[1:] = keys[1:] != keys[:-1]
    starts, at = np.flatnonzero(is_first), np.empty(len(keys), np.int64)
    at[order] = np.cumsum(is_first) - 1
    return Distinct(keys[starts], order[starts], np.diff(starts, append=len(keys)), at)


class Spent:
    """What is spent under some keys, and under the others of their blocks.

    Args:
        connection: within a transaction that is alone in writing.
        path: the store, for messages.
        keys: in their order, each once.

    Attributes:
        reports: the number of reports that are paid for under each key.

    Raises:
        LedgerError: what is there was not written by us.
    """

    def __init__(self, connection: Connection, path: Path, keys: Keys) -> None:
        self._connection, self._path, self._keys = connection, path, keys
        self._held, self._counts = self._read()
        self._at = np.searchsorted(self._held, keys)
        near = np.minimum(self._at, len(self._held) - 1)
        self._is_held = self._held[near] == keys if len(self._held) else np.zeros(len(keys), bool)
        self.reports = np.zeros(len(keys), np.int64)
        self.reports[self._is_held] = self._counts[self._at[self._is_held]]

    def write(self, reports: NDArray[np.int64]) -> None:
        """Write how many are paid for under each key from now on; it never falls."""
        grown = reports > self.reports
        if not grown.any():
            return
        again, new = grown & self._is_held, grown & ~self._is_held
        self._counts[self._at[again]] = reports[again]
        held = np.insert(self._held, self._at[new], self._keys[new])
        counts = np.insert(self._counts, self._at[new], reports[new])
        changed, (of, starts) = {*_named(self._keys[grown])}, _blocks(held)
        ends = [*starts[1:], len(held)]
        accounts = held.view(_KEY)["account"]
        self._connection.exec_driver_sql(
            "INSERT OR REPLACE INTO spent VALUES (?, ?, ?, ?)",
            [
                (*block, accounts[start:end].tobytes(), counts[start:end].astype("<i8").tobytes())
                for block, start, end in zip(of, starts, ends, strict=True)
                if block in changed
            ],
        )

    def _read(self) -> tuple[Keys, NDArray[np.int64]]:
        """Return all keys of the blocks of those that are asked for, in their order, and the numbers of reports."""
        execute = self._connection.exec_driver_sql
        execute("CREATE TEMP TABLE IF NOT EXISTS wanted (day INTEGER, block INTEGER)")
        execute("DELETE FROM wanted")
        if len(self._keys):
            execute("INSERT INTO wanted VALUES (?, ?)", _named(self._keys))
        found = execute(
            "SELECT day, block, accounts, reports FROM wanted CROSS JOIN spent USING (day, block) ORDER BY day, block"
        ).fetchall()
        # SQLite keeps text in any column
        if not all(isinstance(kept, bytes) for row in found for kept in row[2:]):
            raise self._damaged()
        accounts, numbers = (b"".join(row[place] for row in found) for place in (2, 3))
        sizes = [len(row[2]) // _HASH for row in found]
        if any(len(row[2]) != _HASH * n or len(row[3]) != 8 * n for row, n in zip(found, sizes, strict=True)):
            raise self._damaged()
        days = np.repeat(np.array([row[0] for row in found], np.int64), sizes)
        held = keys_of(days, np.frombuffer(accounts, f"S{_HASH}"))
        counts = np.frombuffer(numbers, "<i8").astype(np.int64)
        in_order = (held[1:] > held[:-1]).all() and _named(held) == [(row[0], row[1]) for row in found if len(row[2])]
        if not in_order or (counts < 1).any():
            raise self._damaged()
        return held, counts

    def _damaged(self) -> LedgerError:
        return LedgerError(
            f"What is spent in {self._path} is not as it was written", "it was changed or damaged", "Restore the file"
        )


def _blocks(keys: Keys) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the day and the number of each block of some keys in their order, and where it begins."""
    days = (keys.view(_KEY)["day"].astype(np.uint64) + _FIRST_DAY).astype(np.int64)
    first = keys.view(np.uint8).reshape(-1, _KEY.itemsize)[:, 8] // (256 // _BLOCKS_A_DAY)
    is_first = np.ones(len(keys), bool)
    is_first[1:] = (days[1:] != days[:-1]) | (first[1:] != first[:-1])
    starts = np.flatnonzero(is_first)
    return list(zip(days[starts].tolist(), first[starts].tolist(), strict=True)), starts.tolist()


def _named(keys: Keys) -> list[tuple[int, int]]:
    return _blocks(keys)[0]
