# SPDX-License-Identifier: Apache-2.0
"""How long work says what it is doing: one protocol for all of it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with what a long job is doing: ``print`` or ``list.append``, say."""

    def __call__(self, stage: str, share: float = ..., /) -> object:
        """Hear that this stage is reached; of a stage whose end is known, which share of it is done, from 0 to 1."""


def silent(stage: str, share: float = 0.0, /) -> None:
    """Say nothing."""
