"""Processes that end badly: killed where they come to a function, or out of room or rights for their files."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Any

Stage = tuple[Any, str, int]
"""What holds a function, its name, and which of its calls is not survived."""


def die_at(stage: Stage) -> None:
    """Have this process kill itself there."""
    of, name, left = stage
    real = getattr(of, name)

    def dying(*given: Any, **more: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **more)

    setattr(of, name, dying)


def without_room() -> dict[str, str]:
    """The environment of a process without room for files.

    Neither ``make coverage`` nor Python writes its own there: bytecode that is cut off breaks every later import.
    """
    measured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    return {**measured, "PYTHONDONTWRITEBYTECODE": "1"}


def without_override() -> None:
    """Take from root, in a child before it runs a program, the right to read and write whatever its mode says."""
    if os.geteuid() == 0:
        drop_from_bounds, overrides = 24, (1, 2)
        for capability in overrides:
            ctypes.CDLL(None).prctl(drop_from_bounds, capability, 0, 0, 0)
