# SPDX-License-Identifier: Apache-2.0
"""When what is public was set for other data than are given: a box of another place, bounds in another unit."""

from __future__ import annotations

from typing import Final

_MANY: Final = 100
"""Of fewer, it may be as it should be that none lies within."""


def hardly_any(within: int, seen: int) -> bool:
    """Whether under a hundredth of many lie within what is public: all others would be moved to its edge."""
    return seen >= _MANY and within * 100 < seen
