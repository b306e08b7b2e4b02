# SPDX-License-Identifier: Apache-2.0
"""Which engine counts a private table: DuckDB here, PostgreSQL where the table lies, or Spark where that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from leeward._postgres import Address
from leeward._spark import Spark
from leeward.engine._bind import bind
from leeward.engine._bound import Bound
from leeward.errors import DataError
from leeward.query import Visits
from leeward.query._records import Records
from leeward.tables._writing import PLAIN

Described = Visits | Records


def bind_private(described: Described, columns: Mapping[str, str]) -> AbstractContextManager[Bound]:
    """Open the private table of a question for reading, by the engine that it names.

    Raises:
        DataError: it cannot be read as described.
    """
    source, table, writing = described.source.held(), described.source.table, described.source.writing
    if described.engine == "duckdb":
        return bind(source, columns, table, writing)
    if writing != PLAIN:
        raise DataError(
            "delimiter, encoding, decimal or time_format",
            "it says how texts are read, and no text is read as something else inside a database, or by Spark",
            "Leave it out",
        )
    names = list(dict.fromkeys(columns.values()))
    if isinstance(described.engine, Spark):
        from leeward.engine._in_spark import in_spark  # lazily, as below

        return in_spark(source, columns, names, described.engine)
    from leeward.engine._in_postgres import in_postgres  # lazily: files need none of it

    return in_postgres(Address.read(source), table, columns, names)
