# SPDX-License-Identifier: Apache-2.0
"""Names and texts in SQL of our own."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A text of SQL, in which only quotes have a meaning of their own."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """A name of SQL, in which only quotes have a meaning of their own."""
    return '"' + name.replace('"', '""') + '"'
