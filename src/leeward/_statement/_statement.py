# SPDX-License-Identifier: Apache-2.0
"""The statement of any release, whatever was asked."""

from typing import TypeAlias

from leeward._statement._documents import GroupStatement, NumberStatement, SelectionStatement, VisitorStatement
from leeward._statement._unlisted import UnlistedStatement

Statement: TypeAlias = VisitorStatement | GroupStatement | NumberStatement | SelectionStatement | UnlistedStatement
"""The statement of any release; ``query.kind`` says which, and of a histogram whether there is a ``decision``."""
