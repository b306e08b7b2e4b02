# SPDX-License-Identifier: Apache-2.0
"""What becomes of a person's several rows, in words."""

from __future__ import annotations

HOW = {"sum": "the sum", "min": "the least", "max": "the greatest"}
"""How several numbers of a person become one, in words; a histogram has no sum."""


def counted_once(combine: str | None, *, grouped: bool, numbers: bool) -> str:
    """Say how somebody with several rows is counted once; nothing where nobody has several, or all of them count."""
    if combine is None or combine == "refuse":
        return ""
    how = [f"with {HOW[combine]} of their numbers"] if numbers else []
    where = ["in the first listed group they are in"] if grouped else []
    return f"counted once {' and '.join([*where, *how])}".rstrip()
