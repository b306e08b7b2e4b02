# SPDX-License-Identifier: Apache-2.0
"""What release.json holds where one question was asked of several windows: the statement of each."""

from __future__ import annotations

from typing import Literal

from leeward._document import Document
from leeward._statement._documents import SelectionQuery, WindowStated
from leeward._statement._unlisted import Statement


def window_of(statement: Statement) -> WindowStated:
    """Return the window that a statement is about, where it is not about rows of all times."""
    query = statement.query
    window = query.of.window if isinstance(query, SelectionQuery) else query.window
    assert window is not None
    return window


class WindowsStatement(Document):
    """The releases of several windows of one question; each is charged, stored and promised by itself.

    Attributes:
        format: 1.
        windows: the statement of each, in the order of the answers.
    """

    format: Literal[1]
    windows: tuple[Statement, ...]
