# SPDX-License-Identifier: Apache-2.0
"""What the service holds between questions: an open ledger, whose chain is long, and the public list, which is read once."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from time import monotonic
from typing import Final

from leeward._postgres import is_address
from leeward.engine import Keys, files_of_list, read_keys
from leeward.ledger import Ledger
from leeward.query import CountVisitors, Grid
from leeward.query._unlisted_groups import AnyQuestion
from leeward.tables._files import stamp_of

CHECKED_EVERY: Final = 60.0
"""After so many seconds a ledger is opened anew, which checks its chain from the first entry on. In between each question
sees what is in it, holds its end against the high-water mark, and checks the entries that it uses."""


class Held:
    """Ledgers and public lists of the data sets of a service; any thread may ask."""

    def __init__(self) -> None:
        self._ledgers = dict[str, tuple[float, Ledger]]()
        self._lists = dict[str, tuple[Hashable, Keys]]()
        self._lock = threading.Lock()

    def ledger(self, url: str) -> Ledger:
        """Return an open ledger; made where there is none, and this process has never opened one there.

        Raises:
            LedgerError: it cannot be used, or is gone: where its mark went with it, nothing else says that there was one.
        """
        with self._lock:
            opened, ledger = self._ledgers.get(url, (0.0, None))
            if ledger is None or monotonic() - opened > CHECKED_EVERY:
                ledger = Ledger(url, create=ledger is None)
                self._ledgers[url] = monotonic(), ledger
            return ledger

    def found(self, url: str) -> Ledger | None:
        """Return an open ledger; None where there is none yet.

        Raises:
            LedgerError: it cannot be used.
        """
        with self._lock:
            if url not in self._ledgers:
                if (ledger := Ledger.find(url)) is None:
                    return None
                self._ledgers[url] = monotonic(), ledger
        return self.ledger(url)

    def keys(self, name: str, query: AnyQuestion) -> Keys:
        """Return the public keys of a question about a data set; a list is read anew where its files are others.

        Raises:
            DataError: the list cannot be read.
        """
        if not isinstance(query, CountVisitors):
            return read_keys(query)  # they are in the question
        seen = _seen(query)
        with self._lock:
            known, keys = self._lists.get(name, (None, None))
        if keys is None or seen is None or known != seen:
            keys = read_keys(query)
            with self._lock:
                self._lists[name] = seen, keys
        return keys


def _seen(query: CountVisitors) -> Hashable:
    """Return what is another where the files of a public list are; None of a list in a database, which has none."""
    if not isinstance(query.places, Grid) and is_address(query.places.source.held()):
        return None
    try:
        return tuple((path, stamp_of(str(path))) for path in files_of_list(query))
    except OSError:  # it is said where the list is read
        return None
