# SPDX-License-Identifier: Apache-2.0
"""CSV with a header, and columns of degrees: the text of the other columns stays as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from leeward.errors import DataError
from leeward.local.location._files import Floats, Moved
from leeward.local.location._frames import find_column
from leeward.local.location._tables import TablePositions


class CsvPositions(TablePositions):
    """CSV in UTF-8 with a header; the text of the other columns stays as it is."""

    __slots__ = ()
    kind = "csv"
    named_in_first_line = True

    def _found(self) -> list[str]:
        return [
            find_column(name, what, self.rows.columns, in_first_line=True)
            for name, what in ((self.latitude, "latitude"), (self.longitude, "longitude"))
        ]

    def _degrees(self, table: Any) -> tuple[Floats, Floats]:
        north, east = (_numbers(table[name].to_pylist(), name) for name in self.at)
        return north, east

    def _with(self, table: Any, moved: Moved) -> Any:
        import pyarrow as pa

        for name, values in zip(self.at, (moved.latitude, moved.longitude), strict=True):
            texts = [None if np.isnan(value) else f"{value:.7f}" for value in values.tolist()]
            table = table.set_column(table.column_names.index(name), name, pa.array(texts, pa.string()))
        return table


def _numbers(texts: list[str | None], name: str) -> Floats:
    try:
        if any("_" in text for text in texts if text is not None):  # Python reads 3_5.6 as 35.6
            raise ValueError
        return np.array([float(text) if text is not None and text.strip() else np.nan for text in texts], np.float64)
    except ValueError:
        raise DataError(
            f"The column '{name}'", "it holds something else than numbers", "Give degrees as numbers"
        ) from None
