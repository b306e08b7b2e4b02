# SPDX-License-Identifier: Apache-2.0
"""How far one change of one person's record can move an answer: what a query says to `leeward.sensitivity`."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from leeward.notion import INSERT, WITHDRAW, Change

Move = tuple[Fraction | int, Fraction | int]
"""(rise, fall): how far answers go up and how far down, summed over the coordinates, in one and the same change."""


@dataclass(frozen=True)
class Effect:
    """The extreme moves of an answer under one kind of change.

    Attributes:
        total: the extreme (rise, fall) summed over all coordinates; two entries where a change moves the answer either up
            or down, one entry (k, k) where it may do both at once; None if nothing bounds them.
        each: the extreme (rise, fall) of any single coordinate.
        by_coordinate: the largest rise and the largest fall of each coordinate, where the query knows them one by one.
    """

    total: tuple[Move, ...] | None
    each: tuple[Move, ...]
    by_coordinate: tuple[Move, ...] | None = None


class Query(Protocol):
    """What a query must know about itself to be released; a query of your own implements this."""

    @abstractmethod
    def effect(self, change: Change) -> Effect:
        """Return how far one change of this kind can move the answer.

        Raises:
            NotPrivateError: if the query cannot be answered under notions with this kind of change.
        """


def one_cell(change: Change, cells: int) -> Effect:
    """Return what one person's change does to a histogram: they are counted in one cell at most.

    Of a single cell a change is a rise or a fall, never both: whoever leaves it goes where nobody is counted.
    """
    moves: Move = {WITHDRAW: (0, 1), INSERT: (1, 0)}.get(change, (1, 1))
    each: tuple[Move, ...] = (moves,) if 0 in moves else ((1, 0), (0, 1))
    return Effect(total=each if cells == 1 else (moves,), each=each)
