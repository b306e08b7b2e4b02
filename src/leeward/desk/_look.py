# SPDX-License-Identifier: Apache-2.0
"""What a page shows of a table: its columns and its first rows, for the curator's eyes only."""

from __future__ import annotations

from typing import Any

from leeward.desk._desk import Desk
from leeward.errors import DataError, LeewardError
from leeward.tables._detected import detected, sheets_of
from leeward.tables._preview import preview


def looked_at(desk: Desk, file: str, sheet: str = "") -> dict[str, Any]:
    """Return what a page shows of a table; why not, where it cannot be read, or which sheets there are to choose from."""
    found: dict[str, Any] = {"file": file, "sheet": sheet, "sheets": (), "found": None, "rows": (), "refused": ""}
    try:
        path = str(desk.files.file(file))
        found["sheets"] = sheets = sheets_of(path)
        if len(sheets) > 1 and sheet not in sheets:
            return found | {"sheet": ""}  # which one is asked for
        columns = detected(path, sheet or None)
        if not columns.columns:
            raise DataError("This table", "it is empty", "Choose another")
        found |= {"found": columns, "rows": preview(path, columns, sheet or None).rows}
    except LeewardError as refused:
        found["refused"] = str(refused)
    return found
