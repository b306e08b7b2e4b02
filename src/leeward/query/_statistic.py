# SPDX-License-Identifier: Apache-2.0
"""A statistic of one number a person from a real table: sum, mean, spread, percentile or histogram, whole or by groups.

The number is clamped to public bounds (so ±∞ are the bounds) and rounded half up to a public grid, so that it is one of
``values``. NULL, NaN, an empty field and a text that is not a number mean that the person has none. A floating-point number
stands for the decimal that it prints as, to nine places; to fewer where the bounds hold more than about 10⁶ steps, so that
bounds times places stay within 2⁵⁰, and what is not a column of whole numbers is refused beyond that. Whether it is above a
level, or in an interval, is decided by all digits that floating point of 64 bits holds: a text or a decimal of more, and a
level such as 1/3, are rounded to these.

What one change can do is `leeward.query._numeric`'s, group by group: a person is in one group, so withdrawing or inserting a
person, or moving their number, touches one group. Replacing their record may do more: it may take them from one group to
another, which touches two, and it may leave them without a number, which is withdrawing by another name. Only where the
number of people *with a number* is public, and checked, can it not.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal, cast

from leeward._taught import taught
from leeward.errors import InputError, NotPrivateError
from leeward.notion import INSERT, REPLACE, WITHDRAW, Change
from leeward.notion._metric import BoundedChange, bounded_change
from leeward.notion._value_grid import ValueGrid
from leeward.query._effect import Effect, one_cell
from leeward.query._group_names import By, Group, columns_of
from leeward.query._groups import Intervals, effect_on_groups
from leeward.query._levels import nested
from leeward.query._numeric import (
    DrawnKind,
    Numeric,
    Percentile,
    check_fine,
)
from leeward.query._percentiles import ranks_of_several
from leeward.query._records import HOW, AsksRecords, Records, counted_once
from leeward.query._spread import Spread
from leeward.query._window import Window

StatisticKind = Literal[DrawnKind, Spread]
Noun = Literal["place", "group", "interval", "level"]
"""What a public key of an answer is called."""

DrawnFrom = Literal["answer", "tally", "answer and left out", "groups"]
"""What is drawn from: answers; of a percentile by rank, people by number; counts, then the most left out at a place; or
groups that nobody has listed, with their counts."""

CALLED = {"above": "count above levels"}
"""What a question is called, where it is not by its kind."""


@taught
@dataclass(frozen=True)
class Statistic(AsksRecords):
    """A question about one number a person. Build it with `statistic`.

    Attributes:
        records: the private table.
        kind: ``sum``, ``mean``, ``variance``, ``standard deviation``, ``percentile``, ``histogram`` or ``above``.
        column: where the number stands; None for a histogram of groups alone.
        values: the public universe of the numbers; None for a histogram of groups alone.
        numeric: what one number's change does to the answer of one group; None for a histogram, and for ``above``.
        by: the column that says in which public group a person is, or several columns; None for one group of all.
        groups: the public groups, in the order of the answers; of several columns a value each.
        levels: of ``above`` the public levels, ascending; the answers of each group begin with the highest.
        others: whether the last of the groups is of all who are in none of those before it.
        window: only rows whose time lies in it take part; None where rows of all times do.
        ps: of several percentiles in one release, which, ascending; empty where one is asked for. ``numeric`` is the first.
        intervals: the columns of groups whose numbers are cut into intervals, which are then the groups, and where.
    """

    records: Records
    kind: StatisticKind
    column: str | None
    values: ValueGrid | None
    numeric: Numeric | None
    by: By = None
    groups: tuple[Group, ...] = ()
    levels: tuple[Fraction, ...] = ()
    others: bool = False
    window: Window | None = None
    ps: tuple[Fraction, ...] = ()
    intervals: Intervals = ()

    truncates: ClassVar[bool] = False
    """Whether a bound leaves somebody out: no, whoever has several rows counts once."""

    @property
    def listed(self) -> tuple[Group, ...]:
        """The groups whose key stands in the data: all but that of the others."""
        return self.groups[:-1] if self.others else self.groups

    @property
    def called(self) -> str:
        """What the question is called: a histogram of no numbers is a count."""
        is_count = self.kind == "histogram" and self.column is None
        return "count" if is_count else CALLED.get(self.kind, self.kind)

    @property
    def noun(self) -> Noun:
        """What a public key of its answers is called: a ``group``, an ``interval`` of numbers, or a ``level``."""
        if self.kind == "above":
            return "level"
        return "interval" if self.kind == "histogram" and self.values is not None else "group"

    @property
    def counts_people(self) -> bool:
        """Whether each answer says how many people, or rows, there are: of a histogram, and above levels."""
        return self.kind in ("histogram", "above")

    @property
    def most_counts(self) -> int:
        """In how many counts one person, or row, is at most: nobody is in two groups or intervals, but above all levels."""
        return len(self.levels) or 1

    @property
    def scans(self) -> int:
        """How many times a mechanism that stops starts anew: in each group for levels, because a person is in one group."""
        return max(1, len(self.groups)) if self.levels else 1

    @property
    def people(self) -> int | None:
        """The public number of people (or rows) with a value; None if it is private."""
        return None if self.numeric is None else self.numeric.people

    @property
    def drawn(self) -> DrawnKind:
        """The kind whose draw it is: a standard deviation is read from that of the variance."""
        return cast(DrawnKind, self.kind) if self.numeric is None else self.numeric.kind

    @property
    def bins(self) -> int:
        """How many intervals a histogram of numbers has, or how many levels or percentiles there are; 1 for the rest."""
        if self.levels or self.ps:
            return len(self.levels or self.ps)
        if self.kind != "histogram" or self.values is None:
            return 1
        return self.values.steps

    @property
    def cells(self) -> int:
        """How many answers there are: one a group, or one a group and interval, level or percentile."""
        return max(1, len(self.groups)) * self.bins

    @property
    def counted_how(self) -> str:
        """Say of the people or rows of a histogram how they are counted; nothing where all of them are, as they are."""
        once = counted_once(self.records.combine, grouped=len(self.groups) > 1, numbers=self.values is not None)
        return f"each {once}" if once else ""

    def over_bound(self, people: int) -> str:
        """Say what becomes of so many people who have several rows that count."""
        have = "person has" if people == 1 else "people have"
        how = HOW.get(self.records.combine, "one")
        counts = f"counts once, with {how} of their numbers" if self.values is not None else "counts once"
        among = ", in the first listed group they are in" if len(self.groups) > 1 else ""
        return f"{people:,} {have} several rows that count: each {counts}{among}"

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves of all answers under one change of one person.

        Raises:
            NotPrivateError: for changes of single facts, because a record here is a number; for small changes of a number
                that also decides whether, or in which group, its person counts, or that are larger than a step of the
                grid; and see `Numeric.effect`.
        """
        one, many = self._effect(change), len(self.ps) or 1
        # each of several percentiles moves so, up or down by itself: the extremes are where all go one way
        return one if one.total is None else replace(one, total=tuple((many * r, many * f) for r, f in one.total))

    def _effect(self, change: Change) -> Effect:
        """Return the moves of all answers; of several percentiles those of the first, which are the widest."""
        self._refuse_deciding(change)
        if change.of_facts:
            raise NotPrivateError(
                f"A {self.called} under a notion whose steps are '{change.name}'",
                f"a person's record here is {'one group' if self.column is None else 'a number'}, not a set of facts",
                'Use "addition-only", "removal-only", "dp" or a metric notion such as "manhattan"',
            )
        if self.levels:
            return nested(change, len(self.levels), len(self.groups))
        if isinstance(change, BoundedChange):
            change = self._on_grid(change)
        if self.numeric is None:
            return self.of_policies(change) or one_cell(change, self.cells)
        if isinstance(change, BoundedChange):
            return self.numeric.effect(change)
        if change in {WITHDRAW, INSERT}:
            return self.numeric.effect(change)
        within = self.numeric.effect(REPLACE)
        if self.people is not None:
            return self.numeric.effect(change) if change.moves_people else within
        leaves, joins = self.numeric.effect(WITHDRAW).each, self.numeric.effect(INSERT).each
        each = (*within.each, *leaves, *joins)
        pairs = itertools.product(leaves, joins) if len(self.groups) > 1 else ()
        return Effect(total=(*each, *((a + c, b + d) for (a, b), (c, d) in pairs)), each=each)

    def rank_range(self, change: Change) -> Fraction:
        """Return how far one change moves the losses of grid points apart, in people, over all groups and percentiles.

        See `leeward.query._percentiles`, and the theorem of `leeward.planner._rank_plan`.

        Raises:
            InputError: it is no percentile.
            NotPrivateError: as `effect`.
        """
        if not isinstance(self.numeric, Percentile):
            raise InputError(
                f"A {self.called} by rank", "ranks are those of a percentile", "Ask a median or a percentile"
            )
        self.effect(change)  # refuses what it refuses
        asked = self.ps or (self.numeric.p,)
        if isinstance(change, BoundedChange):
            return ranks_of_several(asked, self._on_grid(change))
        if change in {WITHDRAW, INSERT} or self.people is not None:
            return ranks_of_several(asked, change)
        leaves, joins = ranks_of_several(asked, WITHDRAW), ranks_of_several(asked, INSERT)
        return max(ranks_of_several(asked, REPLACE), leaves + joins if len(self.groups) > 1 else leaves)

    def of_policies(self, change: Change) -> Effect | None:
        """Return the exact moves of counts of groups of rows under a step of policies; None if none are derived."""
        if not self.of_rows or self.by is None or self.values is not None:
            return None
        time = None if self.window is None else self.records.time
        keep, cut = self.records.keep, [column for column, _ in self.intervals]
        return effect_on_groups(self.by, self.listed, keep, change, others=self.others, time=time, cut=cut)

    def effect_of_all(self, change: Change) -> Effect:
        """Return the extreme moves when the numbers of all persons change so at once: every group moves.

        Raises:
            NotPrivateError: if nothing bounds them, or as for `effect`.
        """
        self._refuse_deciding(change)
        if self.numeric is None:
            raise NotPrivateError(
                f"{'Levels' if self.levels else f'A {self.called}'} where all values may change at once",
                f"everybody may go {'above other levels' if self.levels else 'to another interval'}, and the number of"
                " people is not public",
                "Ask a percentile, or a mean of a public number of people, or use another notion",
            )
        one = self.numeric.effect_of_all(self._on_grid(change) if isinstance(change, BoundedChange) else change)
        n = self.cells  # of a number one a group, and one a percentile
        return Effect(total=tuple((r * n, f * n) for r, f in one.each), each=one.each)

    def _refuse_deciding(self, change: Change) -> None:
        when = None if self.window is None else self.records.time
        deciding = {*columns_of(self.by), self.records.person, when, *self.records.keep}
        if isinstance(change, BoundedChange) and self.column is not None and self.column in deciding:
            raise NotPrivateError(
                f"Closeness of '{self.column}', which also decides who counts",
                "the smallest change of it may take a person out of the answer, or from one group to another",
                "Filter, group and take times by other columns, or use a notion such as dp",
            )

    def _on_grid(self, change: BoundedChange) -> BoundedChange:
        """Return how far a rounded number moves: by one whole step, because the number itself moves by no more.

        Raises:
            NotPrivateError: see `leeward.query._numeric.check_fine`; and where there is no number that could be near.
        """
        if self.values is None:
            raise NotPrivateError(
                f"Closeness of numbers, in a {self.called} of groups",
                "no number is asked about, and no two groups are nearer than others",
                "Use a notion about whole records, such as dp",
            )
        check_fine(change, self.values)
        return bounded_change(self.values.step)
