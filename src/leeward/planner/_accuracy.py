# SPDX-License-Identifier: Apache-2.0
"""How far the answers of a statistic are off, in their own units: parts of a release's statement, known before it."""

from __future__ import annotations

from leeward._document import Part
from leeward._plain import at_most
from leeward.query._records import Many


class NumberAccuracy(Part):
    """How far answers are off that all have the same noise.

    Clamping can only make these smaller; of a mean or a spread, they include the most that rounding it to its grid can add.
    Of a standard deviation they are bounds that hold whatever the data are; how near each is stands beside it. Several
    percentiles of a group are put in order: the errors are bounds, kept by all of a group at once.

    Attributes:
        mean_absolute: the mean of |error|; of several percentiles, on average over those of a group.
        within_95_percent: the least error that one answer keeps with probability 95 %.
        all_within_95_percent: the least error that all answers keep together with that probability.
    """

    mean_absolute: float
    within_95_percent: float
    all_within_95_percent: float

    def lines(self) -> list[str]:
        """Say it in words."""
        return [
            f"mean error: {at_most(self.mean_absolute)}",
            f"off by at most, with probability 95 %: {at_most(self.within_95_percent)}",
            f"all answers together, with probability 95 %: {at_most(self.all_within_95_percent)}",
        ]


class ErrorAt(Part):
    """The error of a mean, or of a spread, over so many.

    Attributes:
        number: how many people, or rows, it is over.
        within_95_percent: the error that it then keeps with probability 95 %.
    """

    number: int
    within_95_percent: float


class MeanAccuracy(Part):
    """How far a mean, or a spread, over a private number of people is off, which depends on that number.

    Attributes:
        counted: whom it is over: ``people``, or ``rows`` where each is a person of its own.
        by_number: the errors for some numbers, in ascending order.
    """

    counted: Many
    by_number: tuple[ErrorAt, ...]

    def lines(self) -> list[str]:
        """Say it in words."""
        each = (f"  {one.number:,} {self.counted}: {at_most(one.within_95_percent)}" for one in self.by_number)
        return ["off by at most, with probability 95 %, over", *each]


class SelectionAccuracy(Part):
    """How many fewer people the named place or group has than the busiest one, at most, or how many more than the quietest.

    The bounds hold whatever the counts are, and counts are known that attain them.

    Attributes:
        options: how many names there are.
        within_50_percent: so many at most, with probability at least 50 %.
        within_95_percent: with probability at least 95 %.
        within_99_percent: with probability at least 99 %.
    """

    options: int
    within_50_percent: int
    within_95_percent: int
    within_99_percent: int


class RankAccuracy(Part):
    """How many people have a number strictly between an answer by rank and the exact percentile of its group, at most.

    The bounds hold whatever the data are; where several percentiles are asked for, of all those of a group at once.

    Attributes:
        counted: whose numbers they are: ``people``, or ``rows`` where each is a person of its own.
        points: how many points the public grid has.
        within_50_percent: so many at most, with probability at least 50 %.
        within_95_percent: with probability at least 95 %.
        within_99_percent: with probability at least 99 %.
        all_within_95_percent: so many at most for each of all answers together, with probability at least 95 %.
    """

    counted: Many
    points: int
    within_50_percent: int
    within_95_percent: int
    within_99_percent: int
    all_within_95_percent: int

    def lines(self) -> list[str]:
        """Say it in words."""
        return [
            f"{self.counted} between an answer and the exact one, with probability 95 %: at most"
            f" {self.within_95_percent:,}",
            f"of all answers together, with probability 95 %: at most {self.all_within_95_percent:,}",
        ]


class ChanceShown(Part):
    """How often a group with so many people, or rows, reaches the threshold: a decimal."""

    people: int
    chance: str


class UnlistedAccuracy(Part):
    """Which groups that nobody has listed reach the threshold how often, and how large the noise is; known beforehand.

    A group that reaches it is shown, if not too many do: then those with the greatest noisy counts are.

    Attributes:
        counted: who is counted: ``people``, or ``rows`` where each is a person of its own.
        shown_from: the least noisy count that is shown.
        always_shown_from: with so many or more a group reaches it for certain; None where none does.
        half_shown_from: with so many or more a group reaches it at least every second time.
        mostly_shown_from: with so many or more at least 95 times in 100.
        odds: how often groups of some sizes reach it, ascending.
        off_by_at_most: no count is off by more; None where noise has no end.
        mean_absolute: the mean of |noise| of a count, before groups are chosen by it.
        within_95_percent: the least |noise| that a count keeps with probability 95 %, so too.
    """

    counted: Many
    shown_from: int
    always_shown_from: int | None
    half_shown_from: int
    mostly_shown_from: int
    odds: tuple[ChanceShown, ...]
    off_by_at_most: int | None
    mean_absolute: float
    within_95_percent: int
