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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from leeward._plain import told
from leeward._taught import describing, refuse_columns, taught
from leeward.errors import InputError, NotPrivateError, SpecError, check_choice
from leeward.exact._real import Exact, plainly
from leeward.notion import INSERT, REPLACE, WITHDRAW, Change
from leeward.notion._metric import BoundedChange, bounded_change
from leeward.notion._value_grid import ValueGrid
from leeward.query._combined import HOW, counted_once
from leeward.query._effect import Effect, one_cell
from leeward.query._group_names import By, Group, columns_of
from leeward.query._groups import Groups, Intervals, Listed, asked_groups, effect_on_groups
from leeward.query._levels import asked_levels, common_step, nested
from leeward.query._numeric import (
    DrawnKind,
    Mean,
    Numeric,
    Percentile,
    Sum,
    check_fine,
    maximum,
    median,
    minimum,
    percentile,
)
from leeward.query._percentiles import listed_percentiles, ranks_of_several
from leeward.query._public_values import public_values, rational
from leeward.query._records import AsksRecords, Records, in_window
from leeward.query._spread import SPREADS, Spread, spread
from leeward.query._window import Window

KindName = Literal["sum", "mean", Spread, "percentile", "median", "min", "max", "count", "histogram", "above"]
StatisticKind = Literal[DrawnKind, Spread]
Noun = Literal["place", "group", "interval", "level"]
"""What a public key of an answer is called."""

DrawnFrom = Literal["answer", "tally", "answer and left out", "groups"]
"""What is drawn from: answers; of a percentile by rank, people by number; counts, then the most left out at a place; or
groups that nobody has listed, with their counts."""

_ASKED = {"above": "count above levels"}
"""What a question is called, where it is not by its kind."""

MOST_CELLS = 10**6
"""The most answers that one statistic may have."""


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

    @property
    def listed(self) -> tuple[Group, ...]:
        """The groups whose key stands in the data: all but that of the others."""
        return self.groups[:-1] if self.others else self.groups

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
        return int(self.values.width / self.values.step)

    @property
    def cells(self) -> int:
        """How many answers there are: one a group, or one a group and interval, level or percentile."""
        return max(1, len(self.groups)) * self.bins

    @property
    def counted_so(self) -> str:
        """Say, after a number of people or rows of a histogram, which of them count."""
        once = counted_once(self.records.combine, grouped=len(self.groups) > 1, numbers=self.values is not None)
        return f", each {once}" if once else " among those counted"

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
                f"A {_ASKED.get(self.kind, self.kind)} under a notion whose steps are '{change.name}'",
                "a person's record here is a number, not a set of facts",
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
                f"A {self.kind} by rank", "ranks are those of a percentile", "Ask a median or a percentile"
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
                f"{'Levels' if self.levels else 'A histogram'} where all values may change at once",
                f"everybody may go {'above other levels' if self.levels else 'to another interval'}, and the number of"
                " people is not public",
                "Ask a mean or a percentile, or use another notion",
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
                f"Closeness of numbers, in a {self.kind} of groups alone",
                "no number is asked about, and no two groups are nearer than others",
                "Use a notion about whole records, such as dp",
            )
        check_fine(change, self.values)
        return bounded_change(self.values.step)


@taught
@dataclass(frozen=True)
class Kind:
    """Which statistic is asked for, with what is said of that one alone: ``Kind("percentile", p="90")``.

    Attributes:
        name: as for `statistic`.
        p: of a ``percentile``, 0 ≤ p < 100; or several in one release, ascending, from 0, the least value, to 100, the
            greatest: ``["25", "50", "75"]``.
        levels: of ``above``, the public levels, ascending; without them ``lower``, ``upper`` and ``step`` of the question
            give the levels lower, lower + step, … up to upper.
        people: the number of people with a value, if that is public; noise on a mean is then 1/people as large.
        grid: the public grid a mean or a spread is published on (default: ``step``, of a variance its square): the multiples
            of it that lie within the bounds.
    """

    name: KindName
    p: Exact | Sequence[Exact] | None = None
    levels: Iterable[Exact] | None = None
    people: int | None = None
    grid: Exact | None = None

    def __post_init__(self) -> None:
        if self.levels is not None and not isinstance(self.levels, str):
            object.__setattr__(self, "levels", [*self.levels])  # public, and read once
        refuse_columns(self, "p", "levels")


@describing
def statistic(
    records: Records,
    kind: KindName | Kind,
    *,
    column: str | None = None,
    lower: Exact | None = None,
    upper: Exact | None = None,
    step: Exact = 1,
    by: Listed | Groups | None = None,
    start: datetime | date | str | None = None,
    end: datetime | date | str | None = None,
) -> Statistic:
    """Ask a statistic of one number a person.

    Args:
        records: the private table, from `records`.
        kind: ``sum``, ``mean``, ``variance`` or ``standard deviation`` (of all who have a number), ``percentile`` (a `Kind`
            says which), ``median``, ``min``, ``max``, ``count`` (people, or people a public group), ``histogram`` (people a
            public group, or people an interval ``[lower + i·step, lower + (i + 1)·step)`` of a number), or ``above`` (people
            whose number is greater than each of a list of levels; the answers begin with the highest).
        column: the column of the number; for a histogram of groups, leave it out and give ``by``.
        lower: public lower bound; numbers below are clamped to it.
        upper: public upper bound.
        step: the public grid the numbers are rounded to, half up; for a histogram the width of its intervals.
        by: the public groups, by the column that says in which one a person is, in the order of the answers:
            ``{"sex": ["f", "m"]}``; of several columns all combinations of their lists, of which those of the last change
            fastest. In place of a list the ends of intervals: ``{"age": {"lower": 0, "upper": 100, "step": 20}}``.
            People in no listed group are not counted, or in a group of all others: see `Groups`.
        start: only rows from then on take part: a datetime, or a text such as ``2012-04-04T19:00``; it needs ``time`` of
            `records`. Of somebody's several rows those in the window count.
        end: only rows before it do.

    Raises:
        SpecError: an argument is missing, unknown or malformed.
    """
    of = kind if isinstance(kind, Kind) else Kind(kind)
    check_choice("kind", of.name, get_args(KindName), "there is no such statistic", error=SpecError)
    others = by.others if isinstance(by, Groups) else None
    columns, listed, cut = asked_groups(by.by if isinstance(by, Groups) else by, others)
    made = _asked(records, _Number(column, lower, upper, step, of), columns, listed)
    made = _few(replace(made, others=others is not None, intervals=cut))
    return made if start is None and end is None else in_window(made, start, end)


@dataclass(frozen=True)
class _Number:
    """What is asked of a number, as it was given: see `statistic`."""

    column: str | None
    lower: Exact | None
    upper: Exact | None
    step: Exact
    of: Kind


def _asked(records: Records, given: _Number, by: By, listed: tuple[Group, ...]) -> Statistic:
    """Return the question, of these groups and of rows of all times."""
    kind, column, lower, upper = given.of.name, given.column, given.lower, given.upper
    _refuse_unused(given)
    if kind == "count":
        if column is not None:
            raise SpecError(
                f"A count with column = '{column}'",
                "it is of people, whatever their numbers are",
                'Leave column out; or ask "histogram", or "above"',
            )
        return Statistic(records, "histogram", None, None, None, by, listed)
    if kind == "histogram" and column is None:
        if not listed:
            raise SpecError("A histogram of nothing", "its keys are public", "Give column and bounds, or by and groups")
        return Statistic(records, "histogram", None, None, None, by, listed)
    if column is None:
        raise SpecError(
            f"A {_ASKED.get(kind, kind)} without a column",
            "there is no number to take",
            "Give the column of the number",
        )
    if kind == "above":
        return _above(records, column, by, listed, asked_levels(given.of.levels, lower, upper, given.step))
    if lower is None or upper is None:
        raise SpecError(
            f"A {_ASKED.get(kind, kind)} of '{column}' without bounds",
            "how far one person moves it must be public",
            "Give lower and upper; numbers beyond are clamped to them",
        )
    values = public_values(lower, upper, given.step)
    if records.combine == "sum" and (kind == "histogram" or values.lower % values.step):
        raise SpecError(
            'combine = "sum" of numbers that are not whole steps from 0',
            "a histogram puts them into intervals"
            if kind == "histogram"
            else "their sums fall between the grid points",
            'Combine by "min" or "max"' if kind == "histogram" else "Make lower a whole number of steps",
        )
    if kind == "histogram":
        return Statistic(records, "histogram", column, values, None, by, listed)
    if given.of.people is not None and len(listed) > 1:
        raise SpecError(
            "people with groups",
            f"how many {'rows' if records.person is None else 'people'} each group has would have to be public",
            "Leave people out",
        )
    numeric, several = _numeric(given.of, values)
    plain: Any = "percentile" if isinstance(numeric, Percentile) else kind
    return Statistic(records, plain, column, values, numeric, by, listed, ps=several)


def _numeric(of: Kind, values: ValueGrid) -> tuple[Numeric, tuple[Fraction, ...]]:
    """Return what is taken of the numbers of one group; and the percentiles, where several are asked for."""
    kind, people, p = of.name, plainly(of.people), of.p
    grid = None if of.grid is None else rational(of.grid, "grid")
    if kind == "sum":
        return Sum(values, people), ()
    if kind == "mean":
        published = values.step if grid is None else grid
        if published > 0 and max(abs(values.lower), abs(values.upper)) / published >= 2**60:
            raise SpecError(f"grid = {published}", "so fine a grid does not fit in 64 bits", "Take a coarser one")
        return Mean(values, people, grid=published), ()
    if kind in SPREADS:
        return spread(kind, values, people, grid), ()
    if kind == "percentile" and p is None:
        raise SpecError("A percentile without p", "it does not say which one", 'Give, say, p = "90"')
    ask = {"median": median, "min": minimum, "max": maximum}.get(kind)
    if ask is not None:
        return ask(values, people=people), ()
    if isinstance(p, list | tuple):
        several = listed_percentiles(p)
        return Percentile(values, people, several[0]), several if len(several) > 1 else ()
    return percentile(values, cast(Exact, p), people=people), ()


def _few(made: Statistic) -> Statistic:
    """Refuse more answers than there may be."""
    if made.cells > MOST_CELLS:
        counted = "percentiles" if made.ps else "levels" if made.levels else "answers of a histogram"
        instead = "Ask for fewer" if made.ps or made.levels else "Use wider steps, or fewer groups"
        raise SpecError(f"{made.cells:,} {counted}", f"{MOST_CELLS:,} answers are the most", instead)
    return made


def _refuse_unused(given: _Number) -> None:
    """Refuse what has no meaning for a kind of statistic: it was meant for something."""
    kind, people = given.of.name, plainly(given.of.people)
    meant = {
        "p": {"percentile"},
        "grid": {"mean", *SPREADS},
        "people": {*get_args(KindName)} - {"count", "histogram", "above"},
        "levels": {"above"},
    }
    for name in ("p", "people", "grid", "lower", "upper", "levels"):
        value = getattr(given if name in ("lower", "upper") else given.of, name)
        if value is not None and kind not in meant.get(name, {kind}):
            raise SpecError(
                f"{name} = {told(value)} for a {_ASKED.get(kind, kind)}", "it has no meaning there", "Leave it out"
            )
    bounds = [name for name in ("lower", "upper") if getattr(given, name) is not None]
    if kind in ("count", "histogram") and given.column is None and bounds:
        raise SpecError(
            f"{bounds[0]} without a column", "people, and groups, have no bounds", "Name the column of a number"
        )
    if people is not None and (isinstance(people, bool) or not isinstance(people, int)):
        raise SpecError(f"people = {told(people)}", "it is not a whole number", "Give how many people have a number")


def _above(records: Records, column: str, by: By, groups: tuple[Group, ...], levels: tuple[Fraction, ...]) -> Statistic:
    """Return the question how many are above each level.

    Its numbers are looked at on the finest grid that has all levels, up to one step beyond the highest: how many levels a
    number is above follows from how many steps it is above the lowest, rounded up.
    """
    if records.combine == "sum":
        raise SpecError(
            'combine = "sum" of numbers above levels', "sums are not on their grid", 'Combine by "min" or "max"'
        )
    values = public_values(levels[0], levels[-1] + (step := common_step(levels)), step)
    return Statistic(records, "above", column, values, None, by, groups, levels)
