# SPDX-License-Identifier: Apache-2.0
"""How many numbers lie beyond the bounds of a question: each counts as the bound that it is beyond.

Bounds are public, and meant to hold nearly all numbers. After a slip in them (of the unit, of a decimal mark) the answer is
the bound itself. All of this is for the curator only.
"""

from __future__ import annotations

from dataclasses import dataclass

from leeward._private import Private
from leeward.errors import DoubtfulDataError


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Beyond(Private):
    """How many numbers lie beyond the declared bounds, of those that count; or people, by their sum or by a number in it.

    Attributes:
        below: how many lie below the lower bound.
        above: how many lie above the upper; a sum of numbers beyond both counts below alone.
        of: how many numbers count.
        summed: whether a number is the sum of what somebody's rows hold.
    """

    below: int
    above: int
    of: int
    summed: bool

    def said(self) -> str:
        """Say how many."""
        what = "sums of people, themselves or by a number in them" if self.summed else "numbers"
        return f"{self.below:,} below and {self.above:,} above, of {self.of:,} {what}"

    @property
    def count_as(self) -> str:
        """What becomes of them: a number is moved to its bound before it is added up, and so is a sum."""
        each = "a number, and a sum," if self.summed else "each"
        return f"{each} counts as the bound that it is beyond"


def refuse_beyond(found: Beyond | None) -> None:
    """Refuse bounds that over 9 of 10 numbers lie beyond: the answer would be about the bounds.

    Raises:
        DoubtfulDataError: they are such. For the curator only.
    """
    if found is None or 10 * (found.below + found.above) <= 9 * found.of:
        return
    raise DoubtfulDataError.stopping(
        f"The bounds lower and upper: {found.said()}",
        f"{found.count_as}, so the answer would be about the bounds",
        "Check the bounds, and the unit and the decimal mark of the column",
        "all is as it should be",
    )
