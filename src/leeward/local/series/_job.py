# SPDX-License-Identifier: Apache-2.0
"""``[perturb] kind = "series"``: a table of readings in, a table of noisy readings or totals out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from leeward._paths import resolve
from leeward._plain import counted, told
from leeward._progress import Progress
from leeward._toml import ExactText, Section, check
from leeward.errors import SpecError, noted
from leeward.exact._real import whole
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger._memoized_reports import Once
from leeward.local._as_they_are import AsTheyAre
from leeward.local._job import Opens, Written
from leeward.local._level_keys import Level, check_pair
from leeward.local._stores import Stores
from leeward.local._untouched import published, untouched
from leeward.local.series._budget import Budget, charge, price_of
from leeward.local.series._closeness import Closeness
from leeward.local.series._documents import SeriesStatement
from leeward.local.series._files import ReadingsFile
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._level_statement import statement_of_levels
from leeward.local.series._levels import SeriesLevels
from leeward.local.series._order import order_of_readings
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._readings import Columns, Missing, Readings, find_columns, ordered_names, read_readings
from leeward.local.series._repeats import Remembered, Repeat, law_of
from leeward.local.series._schedule import Per, Schedule
from leeward.local.series._series import Series
from leeward.local.series._statement import facts, statement, with_budget, with_repeats
from leeward.local.series._totals import Totals
from leeward.local.series._tree import TotalsTree
from leeward.local.series._tree_statement import statement_of_tree
from leeward.local.series._tree_table import names_of_tree, table_of_tree, words_of_tree
from leeward.mechanism._series import Between, SeriesNoise
from leeward.outputs import beside
from leeward.tables._columns import check_named
from leeward.tables._csv import small_records
from leeward.tables._kinds import Kind, kind_of
from leeward.tables._rows import ROWS
from leeward.tables._sheets import write_table


class Data(Section):
    """``[data]``: the private table, what its columns mean, and the unit of its readings."""

    table: str
    time: str
    value: str
    unit: str
    meter: str | None = None


class Period(Section):
    """``[time]``: the public clock."""

    start: str | datetime
    end: str | datetime
    every: str
    zone: str | None = None


class PublicValues(Section):
    """``[values]``: the public bounds and grid."""

    lower: str
    upper: str
    step: str
    missing: Missing = "refuse"


class Protect(Section):
    """``[protect]``: ε, the distance it is about, and the noise."""

    between: Between = "maximum"
    epsilon: ExactText | None = None
    unit: str | None = None
    within: str | None = None
    factor: ExactText | None = None
    window: int = 1
    noise: SeriesNoise | None = None
    level: str | None = None
    levels: dict[str, Level] | None = None

    def closeness(self, level: str | None = None) -> Closeness:
        """Return what is asked for, of a level where one is named: what it leaves out is the section's own."""
        keys = self.model_dump(exclude={"noise", "level", "levels"})
        if level is not None and self.levels is not None:
            keys = self.levels[level].over(keys)
        return Closeness(**keys)


class Publish(AsTheyAre):
    """``[publish]``: readings or totals, what is done with noisy readings, and which other columns go out with them."""

    what: Literal["readings", "totals", "tree"] = "readings"
    per: Per = "day"
    levels: list[Per] | None = None
    shares: dict[str, ExactText] | None = None
    by: str | None = None
    smooth: int = 1
    clamp: bool = False
    prior: str | None = None


class Spec(Section):
    """A whole spec of this kind."""

    data: Data
    time: Period
    values: PublicValues
    protect: Protect
    publish: Publish = Publish()
    budget: Budget | None = None
    repeat: Repeat | None = None


_CHARGED: Final = "The days were charged to their meters' budgets before, and that stands: a second run pays again."
"""Nobody knows whether noise that was drawn was seen, so a charge is never given back."""

_ROOM: Final = 100_000
"""About as many bytes as are written beside the table."""

_EXAMPLES: Final = {
    "data": '[data] table = "readings.parquet", time = "time", value = "kw", unit = "kW"',
    "table": 'table = "readings.parquet"',
    "time": 'time = "the column of times" in [data], and a section [time] with start, end and every',
    "value": 'value = "the column of readings"',
    "unit": 'unit = "kW"',
    "start": "start = 2026-01-01T00:00:00",
    "end": "end = 2026-02-01T00:00:00",
    "every": 'every = "15 min"',
    "values": '[values] lower = "0 kW", upper = "12 kW", step = "1 W"',
    "lower": 'lower = "0 kW"',
    "upper": 'upper = "12 kW"',
    "step": 'step = "1 W"',
    "protect": '[protect] between = "maximum", epsilon = "1", unit = "100 W"',
    "store": 'store = "meters.db", a file of its own',
    "secret": 'secret = "meters.key", a file of at least 16 secret bytes',
    "reports_a_day": "reports_a_day = 1, so that a second run that publishes a day of a meter again is refused",
}


def read(given: Mapping[str, Any], folder: Path) -> SeriesJob:
    """Read a spec of this kind; paths are relative to the folder.

    Raises:
        SpecError: a key or value is not as described.
        LeewardError: what is asked for is refused.
    """
    spec = check(Spec, given, _EXAMPLES)
    publish, data = spec.publish, spec.data
    if publish.what != "readings" and (publish.keep_columns is not None or publish.drop_columns is not None):
        raise SpecError(
            "[publish] keep_columns, drop_columns",
            "they are of the columns that go out with readings, and totals have columns of their own",
            'Leave them out, or what = "readings"',
        )
    if publish.what != "readings" and (publish.smooth, publish.clamp, publish.prior) != (1, False, None):
        raise SpecError(
            "[publish] smooth, clamp, prior", "they are for readings", 'Leave them out, or what = "readings"'
        )
    _check_tree(spec)
    _check_budget(spec)
    _check_repeat(spec)
    if publish.what == "readings" and publish.by is not None:
        raise SpecError("[publish] by", "it groups the meters of totals", 'Write what = "totals", or "tree"')
    if publish.by in {data.time, data.value}:
        raise SpecError(
            f"[publish] by = {told(publish.by)}",
            "it is the column of times, or of readings, and the names of groups are published as they are",
            "Name a column that says which meters belong together",
        )
    prior = None if publish.prior is None else resolve(publish.prior, folder)
    options: dict[str, Any] = {
        "noise": spec.protect.noise,
        "missing": spec.values.missing,
        "post_processing": PostProcessing(
            smooth=publish.smooth, clamp=publish.clamp, prior=None if prior is None else _prior(prior)
        ),
    }
    grid = ReadingGrid(unit=data.unit, **spec.values.model_dump(exclude={"missing"}))
    clock, asked = Schedule(**spec.time.model_dump()), _asked(spec)
    levels = None if asked is None else SeriesLevels(asked, grid, clock, **options)
    series = Series(spec.protect.closeness(), grid, clock, **options) if levels is None else levels.weakest
    totals = None if publish.what == "readings" else Totals(series, publish.per)
    tree = None if totals is None or publish.what != "tree" else _tree(totals, publish)
    job = SeriesJob(
        resolve(data.table, folder),
        Columns(data.time, data.value, data.meter),
        series,
        totals,
        publish.by,
        prior,
        None if levels is None or spec.protect.level is None else OwnLevels(levels, spec.protect.level),
        publish,
        Stores(spec.budget, spec.repeat, folder),
        spec.budget,
        tree,
    )
    if totals is None:
        (series if levels is None else levels).check()
        return job
    for named, what in ((publish.by or data.meter, "meters or groups"), (spec.protect.level, "levels")):
        own = _beside_names(totals) if tree is None else names_of_tree(tree)
        if named in own:
            raise SpecError(
                f"A column '{named}' that names {what}",
                f"the table of totals has columns {', '.join(own)} of its own",
                "Rename it in the table",
            )
    job.totals_by_level()  # which refuses those of a level that would say nothing, or show readings
    return job


def _check_tree(spec: Spec) -> None:
    """Refuse what is of trees where none is published, and what is not known of them.

    Raises:
        SpecError: for either.
    """
    publish = spec.publish
    if publish.what != "tree":
        if publish.levels is not None or publish.shares is not None:
            raise SpecError("[publish] levels, shares", "they are of a tree of totals", 'Write what = "tree"')
    elif spec.protect.levels is not None:
        raise SpecError(
            "[protect] levels with a tree of totals",
            "all nodes of a level have one law, and meters of other levels of ε have another",
            'Leave level and levels out; or publish totals of one span, what = "totals"',
        )


def _tree(totals: Totals, publish: Publish) -> TotalsTree:
    given: dict[str, Any] = {"levels": publish.levels, "shares": publish.shares}
    return TotalsTree(totals, **{name: value for name, value in given.items() if value is not None})


def _check_budget(spec: Spec) -> None:
    """Refuse a budget of nobody, and days of totals that are not paid for: a total cannot go without one of its parts.

    Raises:
        SpecError: for either.
    """
    if spec.budget is None:
        return
    if spec.data.meter is None:
        raise SpecError(
            "[budget] without [data] meter",
            "budgets are kept for each meter",
            'Name the column of meters, meter = "…"; of one meter, with the same name in every row',
        )
    if spec.publish.what != "readings" and spec.budget.over == "withhold":
        raise SpecError(
            '[budget] over = "withhold" with totals',
            "a total without the readings that are not paid for would be another total",
            "Leave over out; the run is then refused",
        )
    whole(spec.budget.reports_a_day, "reports_a_day", says="it says how many are paid for")


def _check_repeat(spec: Spec) -> None:
    """Refuse to remember readings of nobody, or totals.

    Raises:
        SpecError: for either.
    """
    if spec.repeat is None:
        return
    if spec.data.meter is None:
        raise SpecError(
            "[repeat] without [data] meter",
            "a noisy reading is kept for each meter and time",
            'Name the column of meters, meter = "…"; of one meter, with the same name in every row',
        )
    if spec.publish.what != "readings":
        raise SpecError(
            "[repeat] with totals",
            "noisy readings are kept, one for each meter and time, and a total is none",
            'Leave [repeat] out; or what = "readings", and add those up',
        )


def _asked(spec: Spec) -> dict[str, Closeness] | None:
    """Return what each level asks for; None where all meters have one ε.

    Raises:
        SpecError: levels and their column do not go together, or with the other columns.
    """
    protect, data = spec.protect, spec.data
    check_pair(protect.level, protect.levels)
    if protect.levels is None:
        return None
    if data.meter is None:
        raise SpecError(
            "[protect] levels without [data] meter",
            "a level is that of a meter, for all of its readings",
            'Name the column of meters, meter = "…"; or leave level and levels out',
        )
    if protect.level in {data.meter, data.time, data.value}:
        raise SpecError(
            f"[protect] level = {told(protect.level)}",
            "it is the column of meters, of times or of readings, and levels go out as they are",
            "Name the public column that says the level of each meter",
        )
    return {name: protect.closeness(name) for name in protect.levels}


def _prior(path: Path) -> list[tuple[str, str]]:
    """Read a public prior: a CSV of two columns, value and weight, with a header."""
    try:
        rows = small_records(path)
    except ValueError as error:
        raise SpecError(f"[publish] prior = '{path}'", str(error), "Check the file") from None
    if not rows or any(len(row) != 2 for row in rows):
        raise SpecError(f"[publish] prior = '{path}'", "it has not two columns", "Write value,weight with a header")
    return [(row[0], row[1]) for row in rows[1:]]


@dataclass(frozen=True)
class OwnLevels:
    """What each meter's own ε adds to a job: the mechanisms of the levels, and the public column that names them."""

    levels: SeriesLevels
    column: str


@dataclass(frozen=True)
class SeriesJob:
    """A table of readings to perturb.

    Attributes:
        table: the private file.
        columns: the names of its columns.
        series: what is promised.
        totals: the totals to publish; None for readings.
        by: for totals, the column that groups meters; None for each meter on its own.
        prior: the public file of a prior; None without one.
        own: each meter's own level of ε; None where all have one.
        beside: which of the other columns go out with readings.
        stores: the files about meters that the spec names.
        budget: how many times a day of a meter may be published; None for any number.
        tree: the totals of several spans to publish at once; None for those of one, or for readings.
    """

    table: Path
    columns: Columns
    series: Series
    totals: Totals | None = None
    by: str | None = None
    prior: Path | None = None
    own: OwnLevels | None = None
    beside: AsTheyAre = field(default_factory=AsTheyAre)
    stores: Stores = field(default_factory=lambda: Stores(None, None, Path()))
    budget: Budget | None = None
    tree: TotalsTree | None = None

    def statement(self) -> SeriesStatement:
        """Return the privacy statement; it reads no private data."""
        return self._stated(None)

    def _stated(self, others: Sequence[str] | None) -> SeriesStatement:
        if self.tree is not None:
            made = statement_of_tree(self.tree, others)
        elif self.own is None:
            made = statement(self.series, self.totals, others)
        else:
            levels, column, grouped = self.own.levels, self.own.column, self.by is not None
            made = statement_of_levels(levels, column, self.totals_by_level(), others, grouped=grouped)
        made = made if self.stores.repeat is None else with_repeats(made)
        return made if self.budget is None else with_budget(made, self.budget.reports_a_day, self.budget.over)

    def totals_by_level(self) -> dict[str, Totals] | None:
        """Return the totals of each level; None where readings are published, or all meters have one ε."""
        if self.own is None or self.totals is None:
            return None
        return {name: Totals(series, self.totals.per) for name, series in self.own.levels.each.items()}

    def facts(self) -> list[tuple[str, str]]:
        """Return the statement in short."""
        return facts(self.statement())

    def attack(self, published: Path) -> list[str]:
        """Refuse: see `leeward.local._job.Job.attack`."""
        raise SpecError(f"--attack {published} of readings", "an attacker is known for positions only", "Leave it out")

    def opens(self) -> Opens | None:
        """Return the store that a run would make: see `leeward.local._job.Job.opens`."""
        return self.stores.opens()

    def _budgets(self, *, new: bool) -> PersonBudgets | None:
        """Open the store of budgets, for what a day costs at each level; None without one."""
        per = None if self.totals is None else self.totals.per
        tree = "" if self.tree is None else words_of_tree(self.tree)
        prices = [f"{name}{price_of(series, per, tree)}" for name, series in self._each()]
        reports_a_day = None if self.budget is None else self.budget.reports_a_day
        return self.stores.budgets("; ".join(prices), reports_a_day, new=new)

    def _each(self) -> list[tuple[str, Series]]:
        """Return what is promised to each level, after its name as a beginning; of one level, without a name."""
        if self.own is None:
            return [("", self.series)]
        return [(f"{name}: ", series) for name, series in self.own.levels.each.items()]

    def _reports(self, readings: Readings, table: Any, *, new: bool) -> tuple[MemoizedReports, Remembered] | None:
        """Open the store of noisy readings, and find what it remembers of some readings; None without one."""
        laws = [f"{name}{law_of(series, price_of(series, None))}" for name, series in self._each()]
        store = self.stores.reports("; ".join(laws), new=new)
        if store is None:
            return None
        own = None
        if self.own is not None:
            levels = self.own.levels.of(readings, table[self.own.column], self.own.column)
            own = [laws[number] for number in levels.tolist()]
        return store, Remembered(store, readings, self.series.schedule, own)

    def run(self, out: Path, progress: Progress, *, new: bool = False) -> Written:
        """Perturb the table and write it: see `leeward.local._job.Job.run`."""
        source = ReadingsFile(self.table)
        self._check_out(out, source)
        self.stores.check()
        find_columns(self.columns, source.columns, in_first_line=source.is_csv)
        progress("reading")
        also = [name for name in (self.by, None if self.own is None else self.own.column) if name is not None]
        check_named(also, source.columns, in_first_line=source.is_csv)
        names = [*self.columns.names, *also]
        source.leave_out(self.beside, names)
        with beside(
            out,
            room=self.table.stat().st_size + _ROOM,
            inputs=[path for path in (self.table, self.prior, *self.stores.kept()) if path is not None],
        ) as files:
            store, withheld = self._budgets(new=new), 0
            table = source.read(list(dict.fromkeys(names)), self.columns.value)
            with source.reading():
                readings = read_readings(
                    table, self.columns, self.series.grid, self.series.schedule, self.series.missing
                )
            left_out = table.num_rows - len(readings)
            missing = max(len(readings.meters) * self.series.schedule.slots - int(readings.there.sum()), 0)
            if self.own is not None:  # what is wrong with levels is found before anything is charged
                self.own.levels.of(readings, table[self.own.column], self.own.column)
            reports = self._reports(readings, table, new=new)
            if store is not None and self.budget is not None:
                progress("charging the budgets")
                known = None if reports is None else reports[1].known
                readings, withheld = charge(store, self.budget.over, readings, self.series.schedule, known)
            with noted(lambda: "" if store is None else _CHARGED):
                passed = list(dict.fromkeys(also))
                others = passed if self.totals else [name for name in source.others if name not in self.columns.names]
                progress("drawing noise")
                with nullcontext() if reports is None else reports[0].drawing() as once:
                    if self.totals is None:
                        noisy = self._noisy(table, readings, once, None if reports is None else reports[1])
                        del table
                        source.rewrite(files.path(), self.columns.value, readings, noisy, self.series.grid, progress)
                    else:
                        _write(self._totals_table(table, readings, self.totals), files.path(), kind_of(out, ROWS))
                    source.file.check_unchanged()  # within: nothing is remembered of a table that was not charged
                files.place(self._stated(others).model_dump(mode="json", exclude={"files"}))
        if self.totals is None:
            notes = [published(others, "readings"), *order_of_readings(readings)]
        else:  # the rows of totals have an order of their own
            notes = [text for text in (untouched(others, "readings"),) if text is not None]
        notes += readings.notes(left_out, missing if self.totals else 0)
        if withheld:
            notes.append(f"for the curator only: {counted(withheld, 'reading')} withheld, because the budget is spent")
        if reports is not None and reports[1].corrected:
            notes.append(
                f"for the curator only: {counted(reports[1].corrected, 'reading')} corrected since they were drawn, and"
                " shown again as they were"
            )
        return Written(files.shown, int(readings.there.sum()), self.series.fit_for_release, tuple(notes))

    def _noisy(self, table: Any, readings: Readings, once: Once | None, remembered: Remembered | None) -> Integers:
        """Return what is published of readings, in steps, each meter's at its own level where there are several."""
        if self.own is None:
            if once is None or remembered is None:
                return self.series.release(readings)
            return self.series.finish(remembered.shown(once, readings, self.series.draw), readings)
        levels = self.own.levels
        own = levels.of(readings, table[self.own.column], self.own.column)
        if once is None or remembered is None:
            return levels.release(readings, own)
        place = np.empty(table.num_rows, np.int64)
        place[readings.rows] = own
        noisy = remembered.shown(once, readings, lambda new: levels.draw(new, place[new.rows]))
        return levels.finish(noisy, readings, own)

    def _totals_table(self, table: Any, readings: Readings, totals: Totals) -> Any:
        """Return noisy totals: one row a group and span, every span there whatever the readings are."""
        import pyarrow as pa

        names, group = readings.meters, readings.meter
        if self.by is not None:
            names, group = ordered_names(table[self.by], self.by, readings.rows)
        column, by_level = self.by or self.columns.meter, self.totals_by_level()
        if self.tree is not None:
            return table_of_tree(self.tree, self.tree.release(readings, group, len(names)), column, names)
        days = totals.beginnings()
        held: dict[str, Any] = {}
        if column is not None:
            held[column] = pa.array([name for name in names for _ in days])
        if self.own is None or by_level is None:
            noisy = totals.release(readings, group, len(names))
        else:
            levels, called = self.own.levels, list(self.own.levels.each)
            own = levels.of(readings, table[self.own.column], self.own.column)
            drawn_at = levels.of_groups(own, group, len(names))
            noisy = levels.release_totals(by_level, readings, drawn_at, group)
            if self.own.column != column:
                held[self.own.column] = pa.array([called[number] for number in drawn_at.tolist() for _ in days])
        beside_them = (
            pa.concat_arrays([days] * len(names)) if names else days[:0],
            pa.array(np.tile([span.readings for span in totals.spans], len(names))),
            pa.array(totals.values(noisy).ravel()),
        )
        return pa.table(held | dict(zip(_beside_names(totals), beside_them, strict=True)))

    def _check_out(self, out: Path, source: ReadingsFile) -> None:
        kind = kind_of(out, ROWS)
        if self.totals is None and (kind == "csv") != source.is_csv:
            raise SpecError(
                f"--out '{out}'", "the table is written as it was read", f"Name a file ending in {self.table.suffix}"
            )
        if kind is None:
            raise SpecError(f"--out '{out}'", "its kind follows from the end of its name", "Name a .parquet or .csv")


def _beside_names(totals: Totals) -> tuple[str, str, str]:
    """The columns of a table of totals, beside the names of meters or groups."""
    return "from" if totals.per == "period" else totals.per, "readings_per_meter", f"total_{totals.unit}"


def _write(table: Any, path: Path, kind: Kind | None) -> None:
    if kind == "csv":
        write_table(table, path)
        return
    import pyarrow.parquet as pq

    pq.write_table(table, path)
