"""An open table of rows: what all kinds of questions share, above all the digest that notices changed content."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

import duckdb
import ibis
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward.engine.bind import Bound
from leeward.engine.builtin import mix
from leeward.errors import DataError
from leeward.private import Private


class Rows(Private):
    """A bound table with at least one row.

    Attributes:
        digest_columns: what `content_digest` covers: the columns, then the version of the engine, on which it depends.

    Raises:
        DataError: the table is empty.
    """

    # No dict of its own: an Ibis table in it would print its rows wherever that is shown.
    __slots__ = ("_bound", "_raw", "digest_columns")

    def __init__(self, bound: Bound, name: str) -> None:
        self._bound, self._raw = bound, bound.rows
        if not bound.fetch(self._raw.limit(1)).num_rows:
            raise DataError(f"The table of {name} is empty", "there is nothing to count", "Check the data file")
        self.digest_columns = (*self._raw.columns, f"duckdb {duckdb.__version__}")

    def content_digest(self, secret: bytes) -> bytes:
        """A 32-byte digest of the multiset of rows, restricted to the columns that can matter.

        It depends on the columns, on every value and on how often each row occurs, but not on the order of rows. Each
        row's columns are hashed in a chain by DuckDB's 64-bit hash, under two salts derived from the secret; the sums
        over rows are hashed with SHA-256 under the secret. It notices any change that was not made in order to escape
        it; it is not meant to withstand someone who holds the secret.
        """
        salts = [int.from_bytes(_keyed(secret, f"salt {i}".encode())[:8], "big") for i in (1, 2)]
        sums = {}
        for index, salt in enumerate(salts):
            mixed: Any = ibis.literal(salt, "uint64")
            for column in self._raw.columns:
                mixed = mix(mixed, self._raw[column])
            sums[f"sum{index}"] = mixed.sum()
        found = self._bound.fetch(self._raw.aggregate(rows=self._raw.count(), **sums)).to_pylist()[0]
        self._bound.check_unchanged()
        types = [str(kind) for kind in self._raw.schema().types]
        content = [self.digest_columns, types, *(str(found[name]) for name in ("rows", *sums))]
        return _keyed(secret, json.dumps(content).encode())


def integers(table: pa.Table, column: str) -> NDArray[np.int64]:
    """A column of whole numbers, of whatever type the engine chose for a sum, none of them null."""
    values = table.column(column).cast(pa.int64()).combine_chunks()
    # From the buffer, because to_numpy imports pandas.
    return np.frombuffer(values.buffers()[1], np.int64, count=len(values), offset=8 * values.offset)


def _keyed(secret: bytes, message: bytes) -> bytes:
    return hmac.new(secret, message, hashlib.sha256).digest()
