# SPDX-License-Identifier: Apache-2.0
"""What a server tells its curator while it is at work: as far as there is somebody to hear it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress


def if_heard(tell: Callable[[str], object]) -> Callable[[str], None]:
    """Return what tells the same, and is no failure where it cannot, as when a terminal is closed or a log's disk is full.

    What is told of goes on: a question is refused as it would be, and counted.

    Args:
        tell: called with what is told.
    """

    def told(said: str) -> None:
        with suppress(Exception):
            tell(said)

    return told
