# SPDX-License-Identifier: Apache-2.0
"""What may be given as a table, as type checkers read it; what is in it is told by its native type when it is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol, TypeAlias, TypeVar


class Exported(Protocol):
    """A table in memory that exports Arrow's C stream: of pandas, GeoPandas, Polars, Arrow, Ibis or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the table."""


class Collected(Protocol):
    """A DataFrame of Spark."""

    def toArrow(self) -> object:  # noqa: N802  # Spark's own name
        """Collect the table."""


Path: TypeAlias = str | os.PathLike[str]
"""A file, a pattern of files, or the address of a database."""

Table = TypeVar("Table", bound=Exported)
"""The same kind of table is returned."""

Given: TypeAlias = Path | Sequence[Path] | Exported | Collected
