# SPDX-License-Identifier: Apache-2.0
"""Which place, or which group, has the most people, or the fewest: a question whose answer is a name and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from leeward._taught import taught
from leeward.errors import InputError, SpecError, check_choice
from leeward.query._records import Many
from leeward.query._statistic import Noun, Statistic
from leeward.query._visitors import CountVisitors

Which = Literal["busiest", "quietest"]
"""The one with the most people, or the one with the fewest."""

Counted: TypeAlias = CountVisitors | Statistic
"""A question whose answer is a number for each public key: what an engine counts."""


@dataclass(frozen=True)
class Selection:
    """Ask for the name of one public key, by how many people it has. Build it with `select`.

    Attributes:
        counts: the question that gives a count to each place, group or interval; none of the counts is published.
        which: the one with the most people, or with the fewest; of several, each is as likely.
    """

    counts: Counted
    which: Which = "busiest"

    def __post_init__(self) -> None:
        check_choice("which", self.which, get_args(Which), error=SpecError)
        if isinstance(self.counts, Statistic) and self.counts.kind != "histogram":
            raise SpecError(
                f"The {self.which} by {self.counts.kind}",
                "what is named is the one with the most or the fewest people, and this question does not count them",
                "Give a question from count_visitors, or a statistic of the kind histogram",
            )
        if not isinstance(self.counts, CountVisitors | Statistic):
            raise InputError(
                f"The {self.which} by a {type(self.counts).__name__}",
                "it is not a question that gives a count to each place or group",
                "Give a question from count_visitors, or a statistic of the kind histogram",
            )

    @property
    def of_rows(self) -> bool:
        """Whether every row is a person of its own, so that the unit of every promise is a row."""
        return self.counts.of_rows

    @property
    def counted_how(self) -> str:
        """Say of people or rows how they are counted; nothing where all of them are, as they are."""
        return self.counts.counted_how

    @property
    def many(self) -> Many:
        """What those are called who are counted: ``people``, or ``rows``."""
        return self.counts.many

    @property
    def noun(self) -> Noun:
        """What is named: a ``place``, a ``group``, or an ``interval`` of numbers."""
        return self.counts.noun

    @property
    def options(self) -> int | None:
        """How many names there are; None where it takes the public list to know."""
        return None if isinstance(self.counts, CountVisitors) else self.counts.cells


@taught
def select(counts: Counted, which: Which = "busiest") -> Selection:
    """Ask which place has the most people, or the fewest: the name alone is published.

    It costs the same however many places one person is at, so no ``places_per_person`` is needed.

    Args:
        counts: from `leeward.count_visitors`; or a histogram from `leeward.statistic`, for the largest or smallest group.
        which: ``"busiest"`` or ``"quietest"``.

    Raises:
        SpecError: there is no such choice, or the question is not about counts.
        InputError: it is not a question.
    """
    return Selection(counts, which)
