# SPDX-License-Identifier: Apache-2.0
"""Views of a DuckDB file whose rows hang on the time zone of the session that asks for them.

``ts::TIMESTAMP``, ``ts::DATE`` and ``hour(ts)`` of an instant are what a clock shows in the session's zone. Ours is UTC, and
whoever wrote the view saw their own: each visit would be hours away from where they mean it to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

import duckdb

from leeward.errors import DataError

_FAR: Final = ("Pacific/Kiritimati", "Etc/GMT+12")
"""14 hours ahead of UTC and 12 behind it: whatever hour it is, one of them has another date too."""


@contextmanager
def elsewhere(connection: duckdb.DuckDBPyConnection) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    """Open sessions beside this one, in time zones far from its own; before settings are locked."""
    with ExitStack() as opened:
        others = [opened.enter_context(connection.cursor()) for _ in _FAR]
        for other, zone in zip(others, _FAR, strict=True):
            other.execute(f"SET TimeZone = '{zone}'")
        yield others


def check_everywhere(
    table: str, asked: str, connection: duckdb.DuckDBPyConnection, others: Sequence[duckdb.DuckDBPyConnection]
) -> None:
    """Refuse what has other rows in another time zone. What is never the same twice is not told from it by zones."""
    here = _digest(connection, asked)
    if all(_digest(other, asked) == here for other in others) or _digest(connection, asked) != here:
        return
    raise DataError(
        f"'{table}' in a DuckDB file",
        "the times or dates in it hang on the time zone of the session that reads it, and here that is UTC",
        "Say the zone in it (ts AT TIME ZONE 'Europe/Paris'), name the column of instants itself, or make a table of it in"
        " the session whose times are meant. That it is refused may be a fact about the data: do not publish it",
    )


def _digest(connection: duckdb.DuckDBPyConnection, asked: str) -> object:
    return connection.execute(f"SELECT count(*), sum(hash(leeward_row)) FROM ({asked}) AS leeward_row").fetchall()
