# SPDX-License-Identifier: Apache-2.0
"""The documents in which a release says what it protects, as its callers know them."""

from leeward._statement import (
    GroupStatement,
    NumberStatement,
    SelectionStatement,
    Statement,
    UnlistedStatement,
    VisitorStatement,
)

__all__ = [
    "GroupStatement",
    "NumberStatement",
    "SelectionStatement",
    "Statement",
    "UnlistedStatement",
    "VisitorStatement",
]
