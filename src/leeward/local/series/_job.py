# SPDX-License-Identifier: Apache-2.0
"""``[perturb] kind = "series"``: a table of readings in, a table of noisy readings or totals out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from leeward._paths import resolve
from leeward._plain import counted
from leeward._progress import Progress
from leeward.errors import RefusedError, SpecError, noted
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger._memoized_reports import Once
from leeward.local._as_they_are import AsTheyAre
from leeward.local._job import OpensStores, Written
from leeward.local._stores import Stores
from leeward.local._untouched import published, untouched
from leeward.local.series._appliance import Appliance
from leeward.local.series._attack_plan import appliances, attacker_part
from leeward.local.series._attack_table import Held, attack_table, seen_readings, seen_totals
from leeward.local.series._budget import Budget, charge, price_of
from leeward.local.series._documents import AppliancePart, SeriesStatement
from leeward.local.series._files import ReadingsFile
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._level_statement import statement_of_levels
from leeward.local.series._levels import SeriesLevels
from leeward.local.series._order import order_of_readings
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._readings import Columns, Readings, find_columns, ordered_names, read_readings
from leeward.local.series._repeats import Remembered, law_of
from leeward.local.series._schedule import Schedule
from leeward.local.series._series import Series
from leeward.local.series._spec import Attacker, Publish, asked_of_levels, read_spec
from leeward.local.series._statement import facts, statement, with_budget, with_groups, with_repeats
from leeward.local.series._totals import Totals
from leeward.local.series._totals_table import (
    names_of_totals,
    names_of_tree,
    rows_of_tree,
    table_of_totals,
    table_of_tree,
    words_of_tree,
)
from leeward.local.series._tree import TotalsTree
from leeward.local.series._tree_statement import statement_of_tree
from leeward.outputs import beside
from leeward.tables._columns import check_named
from leeward.tables._csv import small_records
from leeward.tables._kinds import Kind, kind_of
from leeward.tables._rows import ROWS
from leeward.tables._sheets import write_table

_CHARGED: Final = "The days were charged to their meters' budgets before, and that stands: a second run pays again."
"""Nobody knows whether noise that was drawn was seen, so a charge is never given back."""

_ROOM: Final = 100_000
"""About as many bytes as are written beside the table."""


def read(given: Mapping[str, Any], folder: Path) -> SeriesJob:
    """Read a spec of this kind; paths are relative to the folder.

    Raises:
        SpecError: a key or value is not as described.
        LeewardError: what is asked for is refused.
    """
    spec = read_spec(given)
    publish, data = spec.publish, spec.data
    prior = None if publish.prior is None else resolve(publish.prior, folder)
    options: dict[str, Any] = {
        "noise": spec.protect.noise,
        "missing": spec.values.missing,
        "post_processing": PostProcessing(
            smooth=publish.smooth, clamp=publish.clamp, prior=None if prior is None else _prior(prior)
        ),
    }
    grid = ReadingGrid(unit=data.unit, **spec.values.model_dump(exclude={"missing"}))
    clock, asked = Schedule(**spec.time.model_dump()), asked_of_levels(spec)
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
        spec.attacker,
    )
    _ = job._attacks  # a signature that is none is refused here
    if totals is None:
        (series if levels is None else levels).check()
        return job
    for named, what in ((publish.by or data.meter, "meters or groups"), (spec.protect.level, "levels")):
        own = names_of_totals(totals) if tree is None else names_of_tree(tree)
        if named in own:
            raise SpecError(
                f"A column '{named}' that names {what}",
                f"the table of totals has columns {', '.join(own)} of its own",
                "Rename it in the table",
            )
    job.totals_by_level()  # which refuses those of a level that would say nothing, or show readings
    return job


def _tree(totals: Totals, publish: Publish) -> TotalsTree:
    given: dict[str, Any] = {"levels": publish.levels, "shares": publish.shares}
    return TotalsTree(totals, **{name: value for name, value in given.items() if value is not None})


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
        attacker: what somebody knows who asks whether an appliance ran; None where nobody does.
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
    attacker: Attacker | None = None

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
        made = made if self.by is None else with_groups(made)
        made = made if self._attacked is None else made.model_copy(update={"attacker": self._attacked})
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

    @cached_property
    def _attacks(self) -> dict[str | None, list[Appliance]]:
        """The attacks of the spec, for each level; of none without an attacker."""
        if self.attacker is None:
            return {}
        if self.own is None:
            return {None: appliances(self.attacker, self.tree or self.totals or self.series)}
        each = self.totals_by_level() or self.own.levels.each
        return {level: appliances(self.attacker, what) for level, what in each.items()}

    @cached_property
    def _attacked(self) -> AppliancePart | None:
        return attacker_part(self._attacks, self.tree or self.totals or self.series) if self._attacks else None

    def attack(self, published: Path) -> list[str]:
        """Return what the attacker of the spec makes of a file that it wrote: see `leeward.local._job.Job.attack`."""
        if self.attacker is None:
            raise SpecError(
                "--attack without [attacker]",
                "he knows what an appliance adds to readings, and none is named",
                'Add [attacker] adds = ["2 kW", "2 kW"], first = 2026-01-15T19:00:00',
            )
        if self.stores.repeat is not None:
            raise RefusedError(
                "An attack on readings of [repeat]",
                "what is shown again of a reading that was corrected since is noise about another",
                "Read what the plan says, --dry-run: it holds of readings as they were",
            )
        for each in self._attacks.values():
            for attack in each:
                attack.check_law()
        held = self._held()
        clock, attack = self.series.schedule, next(iter(self._attacks.values()))[0]
        if self.totals is None:
            seen = seen_readings(published, self.columns.value, held, self.series.grid, clock.slots)
        else:
            beside = names_of_totals(self.totals) if self.tree is None else names_of_tree(self.tree)
            order = np.arange(len(attack.moves)) if self.tree is None else rows_of_tree(self.tree)
            seen = seen_totals(published, beside[-2:], held, attack, clock.slots, self.totals.step, order)
        return attack_table(self._attacks, seen, ran=self.attacker.ran)

    def _held(self) -> Held:
        """Read the table, and where each reading is published."""
        source = ReadingsFile(self.table)
        also = [name for name in (self.by, None if self.own is None else self.own.column) if name is not None]
        find_columns(self.columns, source.columns, in_first_line=source.is_csv)
        check_named(also, source.columns, in_first_line=source.is_csv)
        table = source.read(list(dict.fromkeys([*self.columns.names, *also])), self.columns.value)
        with source.reading():
            readings = read_readings(table, self.columns, self.series.grid, self.series.schedule, self.series.missing)
        names, group = readings.meters, readings.meter
        if self.by is not None:
            names, group = ordered_names(table[self.by], self.by, readings.rows)
        levels = np.zeros(len(names), np.int64)
        if self.own is not None:
            own = self.own.levels.of(readings, table[self.own.column], self.own.column)
            levels = self.own.levels.of_groups(own, group, len(names))
        source.file.check_unchanged()
        called = "meter" if self.by is None else "group"
        return Held(readings, group, names, self.by or self.columns.meter, called, levels)

    def opens(self) -> OpensStores | None:
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
        names, group = readings.meters, readings.meter
        if self.by is not None:
            names, group = ordered_names(table[self.by], self.by, readings.rows)
        column, by_level = self.by or self.columns.meter, self.totals_by_level()
        held: dict[str, Any] = {} if column is None else {column: names}
        if self.tree is not None:
            return table_of_tree(self.tree, self.tree.release(readings, group, len(names)), held)
        if self.own is None or by_level is None:
            noisy = totals.release(readings, group, len(names))
        else:
            levels, called = self.own.levels, list(self.own.levels.each)
            own = levels.of(readings, table[self.own.column], self.own.column)
            drawn_at = levels.of_groups(own, group, len(names))
            noisy = levels.release_totals(by_level, readings, drawn_at, group)
            if self.own.column != column:
                held[self.own.column] = [called[number] for number in drawn_at.tolist()]
        return table_of_totals(totals, noisy, held)

    def _check_out(self, out: Path, source: ReadingsFile) -> None:
        kind = kind_of(out, ROWS)
        if self.totals is None and (kind == "csv") != source.is_csv:
            raise SpecError(
                f"--out '{out}'", "the table is written as it was read", f"Name a file ending in {self.table.suffix}"
            )
        if kind is None:
            raise SpecError(f"--out '{out}'", "its kind follows from the end of its name", "Name a .parquet or .csv")


def _write(table: Any, path: Path, kind: Kind | None) -> None:
    if kind == "csv":
        write_table(table, path)
        return
    import pyarrow.parquet as pq

    pq.write_table(table, path)
