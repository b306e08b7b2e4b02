"""Calls of the system that fail in their turn: a writer is cut short at every place there is."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest


def cut_short_at_each(
    patching: pytest.MonkeyPatch, *names: str
) -> Iterator[tuple[int, Callable[[], AbstractContextManager[None]]]]:
    """Yield turns and the contexts of them: in the n-th, the n-th call of any of these functions of `os` fails.

    In the last turn all calls succeed: there were fewer than n.
    """
    turn, left = 0, 0

    def failing(real: Callable[..., Any]) -> Callable[..., Any]:
        def fails(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise OSError(errno.EIO, "failed in its turn")
            return real(*args, **kwargs)

        return fails

    @contextmanager
    def cut_short() -> Iterator[None]:
        nonlocal left
        left = turn
        with patching.context() as patch:
            for name in names:
                patch.setattr(os, name, failing(getattr(os, name)))
            yield

    while left <= 0:
        turn += 1
        left = 1
        yield turn, cut_short
