"""A process that is killed where it comes to a function: what a crash at a stage is."""

from __future__ import annotations

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
