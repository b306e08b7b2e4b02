# SPDX-License-Identifier: Apache-2.0
"""Asking a statistic: from what a caller gives to the question; what is missing, unknown or means nothing is refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal, cast, get_args

from leeward._plain import echo
from leeward._taught import describing, refuse_columns, taught
from leeward.errors import SpecError, check_choice
from leeward.exact._real import Exact, plainly
from leeward.notion._value_grid import ValueGrid
from leeward.query._group_names import By, Group
from leeward.query._groups import Groups, Listed, asked_groups
from leeward.query._levels import asked_levels, common_step
from leeward.query._numeric import Mean, Numeric, Percentile, Sum, maximum, median, minimum, percentile
from leeward.query._percentiles import listed_percentiles
from leeward.query._public_values import public_values, rational
from leeward.query._records import Records, in_window
from leeward.query._source import MOST_CELLS
from leeward.query._spread import SPREADS, Spread, spread
from leeward.query._statistic import CALLED, Statistic

KindName = Literal["sum", "mean", Spread, "percentile", "median", "min", "max", "count", "histogram", "above"]


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
    step: Exact | None = None,
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
        step: the public grid the numbers are rounded to, half up (default 1); for a histogram the width of its intervals.
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
    return in_window(_few(replace(made, others=others is not None, intervals=cut)), start, end)


@dataclass(frozen=True)
class _Number:
    """What is asked of a number, as it was given: see `statistic`."""

    column: str | None
    lower: Exact | None
    upper: Exact | None
    step: Exact | None
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
            f"A {CALLED.get(kind, kind)} without a column",
            "there is no number to take",
            "Give the column of the number",
        )
    if kind == "above":
        return _above(records, column, by, listed, asked_levels(given.of.levels, lower, upper, given.step))
    if lower is None or upper is None:
        raise SpecError(
            f"A {CALLED.get(kind, kind)} of '{column}' without bounds",
            "how far one person moves it must be public",
            "Give lower and upper; numbers beyond are clamped to them",
        )
    values = public_values(lower, upper, 1 if given.step is None else given.step)
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
                f"{name} = {echo(value)} for a {CALLED.get(kind, kind)}", "it has no meaning there", "Leave it out"
            )
    bounds = [name for name in ("lower", "upper", "step") if getattr(given, name) is not None]
    if kind in ("count", "histogram") and given.column is None and bounds:
        raise SpecError(
            f"{bounds[0]} without a column",
            "people, and groups, have no bounds or steps",
            "Leave it out, or name the column of a number",
        )
    if people is not None and (isinstance(people, bool) or not isinstance(people, int)):
        raise SpecError(f"people = {echo(people)}", "it is not a whole number", "Give how many people have a number")


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
