# SPDX-License-Identifier: Apache-2.0
"""``[perturb] kind = "series"``: a table of readings in, a table of noisy readings or totals out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
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
from leeward.local._job import OpensStores, Written
from leeward.local._stores import Stores
from leeward.local._untouched import published, untouched
from leeward.local.series._appliance import Appliance
from leeward.local.series._attack_plan import appliances, attacker_part
from leeward.local.series._attack_table import Held, attack_table, seen_readings, seen_totals
from leeward.local.series._budget import charge, price_of
from leeward.local.series._documents import AppliancePart, SeriesStatement
from leeward.local.series._files import ReadingsFile
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._level_statement import statement_of_levels
from leeward.local.series._levels import SeriesLevels
from leeward.local.series._order import order_of_readings
from leeward.local.series._post_processing import PostProcessing
from leeward.local.series._readings import find_columns, ordered_names, read_readings
from leeward.local.series._repeats import Remembered, law_of
from leeward.local.series._schedule import Schedule
from leeward.local.series._series import Series
from leeward.local.series._spec import Publish, Spec, asked_of_levels, read_spec
from leeward.local.series._statement import facts, statement, with_budget, with_groups, with_repeats
from leeward.local.series._totals import Totals
from leeward.local.series._totals_table import columns_of, table_of_totals, words_of_tree
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
    """Read a spec of this kind; paths are relative to the folder."""
    spec = read_spec(given)
    publish, data = spec.publish, spec.data
    prior = None if publish.prior is None else _prior(resolve(publish.prior, folder))
    grid = ReadingGrid(unit=data.unit, **spec.values.model_dump(exclude={"missing"}))
    levels = SeriesLevels(
        asked_of_levels(spec),
        grid,
        Schedule(**spec.time.model_dump()),
        noise=spec.protect.noise,
        missing=spec.values.missing,
        post_processing=PostProcessing(smooth=publish.smooth, clamp=publish.clamp, prior=prior),
    )
    totals = None
    if publish.what != "readings":  # those of a level that would say nothing, or show readings, are refused
        totals = {name: Totals(series, publish.per) for name, series in levels.each.items()}
    tree = None if totals is None or publish.what != "tree" else _tree(next(iter(totals.values())), publish)
    job = SeriesJob(spec, folder, levels, totals, tree)
    _ = job._attacks  # a signature that is none is refused here
    if job._asked is None:
        levels.check()
        return job
    own = columns_of(job._asked)
    for named, what in ((publish.by or data.meter, "meters or groups"), (spec.protect.level, "levels")):
        if named in own:
            raise SpecError(
                f"A column '{named}' that names {what}",
                f"the table of totals has columns {', '.join(own)} of its own",
                "Rename it in the table",
            )
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
class SeriesJob:
    """A table of readings to perturb.

    Attributes:
        spec: what is asked for.
        folder: that its paths are relative to.
        levels: what each meter is promised, by the name of its level; of one without a name where all have one ε.
        totals: the totals to publish, of each level; None for readings.
        tree: the totals of several spans to publish at once; None for those of one, or for readings.
    """

    spec: Spec
    folder: Path
    levels: SeriesLevels
    totals: Mapping[str, Totals] | None = None
    tree: TotalsTree | None = None

    @property
    def table(self) -> Path:
        """The private file."""
        return resolve(self.spec.data.table, self.folder)

    @property
    def series(self) -> Series:
        """What every meter is promised."""
        return self.levels.weakest

    @property
    def stores(self) -> Stores:
        """The files about meters that the spec names."""
        return Stores(self.spec.budget, self.spec.repeat, self.folder)

    @property
    def _asked(self) -> Totals | TotalsTree | None:
        """What is published of a meter; None for readings."""
        return self.tree or (None if self.totals is None else next(iter(self.totals.values())))

    @property
    def _also(self) -> list[str]:
        """The columns of groups and of levels, as far as there are such."""
        return [name for name in (self.spec.publish.by, self.spec.protect.level) if name is not None]

    def statement(self) -> SeriesStatement:
        """Return the privacy statement; it reads no private data."""
        return self._stated(None)

    def _stated(self, others: Sequence[str] | None) -> SeriesStatement:
        column, grouped, budget = self.spec.protect.level, self.spec.publish.by is not None, self.spec.budget
        if isinstance(self._asked, TotalsTree):
            made = statement_of_tree(self._asked, others)
        elif column is None:
            made = statement(self.series, self._asked, others)
        else:
            made = statement_of_levels(self.levels, column, self.totals, others, grouped=grouped)
        made = with_groups(made) if grouped else made
        made = made if self._attacked is None else made.model_copy(update={"attacker": self._attacked})
        made = made if self.spec.repeat is None else with_repeats(made)
        return made if budget is None else with_budget(made, budget.reports_a_day, budget.over)

    def facts(self) -> list[tuple[str, str]]:
        """Return the statement in short."""
        return facts(self.statement())

    @cached_property
    def _attacks(self) -> dict[str | None, list[Appliance]]:
        """The attacks of the spec, for each level; of none without an attacker."""
        if (known := self.spec.attacker) is None:
            return {}
        if self.tree is not None:
            return {None: appliances(known, self.tree)}
        return {level or None: appliances(known, what) for level, what in (self.totals or self.levels.each).items()}

    @cached_property
    def _attacked(self) -> AppliancePart | None:
        return attacker_part(self._attacks, self._asked or self.series) if self._attacks else None

    def attack(self, published: Path) -> list[str]:
        """Return what the attacker of the spec makes of a file that it wrote: see `leeward.local._job.Job.attack`."""
        if self.spec.attacker is None:
            raise SpecError(
                "--attack without [attacker]",
                "he knows what an appliance adds to readings, and none is named",
                'Add [attacker] adds = ["2 kW", "2 kW"], first = 2026-01-15T19:00:00',
            )
        if self.spec.repeat is not None:
            raise RefusedError(
                "An attack on readings of [repeat]",
                "what is shown again of a reading that was corrected since is noise about another",
                "Read what the plan says, --dry-run: it holds of readings as they were",
            )
        for each in self._attacks.values():
            for attack in each:
                attack.check_law()
        source = ReadingsFile(self.table)
        held = self._held(source, self._named(source))
        source.file.check_unchanged()
        if self._asked is None:
            value, grid = self.spec.data.value, self.series.grid
            seen = seen_readings(published, value, held, grid, self.series.schedule.slots)
        else:
            seen = seen_totals(published, self._asked, held, next(iter(self._attacks.values()))[0])
        return attack_table(self._attacks, seen, ran=self.spec.attacker.ran)

    def _named(self, source: ReadingsFile) -> list[str]:
        """Return the columns that are read, all of which are there."""
        columns = self.spec.data.columns
        find_columns(columns, source.columns, in_first_line=source.is_csv)
        check_named(self._also, source.columns, in_first_line=source.is_csv)
        return list(dict.fromkeys([*columns.names, *self._also]))

    def _held(self, source: ReadingsFile, named: Sequence[str]) -> Held:
        """Read the table, and where each reading is published; what is wrong with it is found here."""
        columns, series = self.spec.data.columns, self.series
        by, level = self.spec.publish.by, self.spec.protect.level
        table = source.read(named, columns.value)
        with source.reading():
            readings = read_readings(table, columns, series.grid, series.schedule, series.missing)
        names, group = readings.meters, readings.meter
        if by is not None:
            names, group = ordered_names(table[by], by, readings.rows)
        own = np.zeros(len(readings), np.int64)
        if level is not None:
            own = self.levels.of(readings, table[level], level)
        return Held(
            readings,
            group,
            names,
            by or columns.meter,
            "meter" if by is None else "group",
            own,
            self.levels.of_groups(own, group, len(names)),
            table.num_rows - len(readings),
        )

    def opens(self) -> OpensStores | None:
        """Return the store that a run would make: see `leeward.local._job.Job.opens`."""
        return self.stores.opens()

    def _budgets(self, *, new: bool) -> PersonBudgets | None:
        """Open the store of budgets, for what a day costs at each level; None without one."""
        per = None if self.totals is None else self.spec.publish.per
        tree = "" if self.tree is None else words_of_tree(self.tree)
        prices = self._of_each(lambda series: price_of(series, per, tree))
        reports_a_day = None if self.spec.budget is None else self.spec.budget.reports_a_day
        return self.stores.budgets("; ".join(prices), reports_a_day, new=new)

    def _of_each(self, words: Callable[[Series], str]) -> list[str]:
        """Return words about each level, after its name; about one without a name, alone."""
        return [f"{name}: {words(series)}" if name else words(series) for name, series in self.levels.each.items()]

    def _reports(self, held: Held, *, new: bool) -> tuple[MemoizedReports, Remembered] | None:
        """Open the store of noisy readings, and find what it remembers of some readings; None without one."""
        laws = self._of_each(lambda series: law_of(series, price_of(series, None)))
        store = self.stores.reports("; ".join(laws), new=new)
        if store is None:
            return None
        own = None if self.spec.protect.level is None else [laws[number] for number in held.own.tolist()]
        return store, Remembered(store, held.readings, self.series.schedule, own)

    def run(self, out: Path, progress: Progress, *, new: bool = False) -> Written:
        """Perturb the table and write it: see `leeward.local._job.Job.run`."""
        source, clock = ReadingsFile(self.table), self.series.schedule
        self._check_out(out, source)
        self.stores.check()
        named, value = self._named(source), self.spec.data.value
        progress("reading")
        source.leave_out(self.spec.publish, named)
        prior = [] if self.spec.publish.prior is None else [resolve(self.spec.publish.prior, self.folder)]
        inputs = [self.table, *prior, *self.stores.kept()]
        with beside(out, room=self.table.stat().st_size + _ROOM, inputs=inputs) as files:
            self.stores.check_openable()
            held = self._held(source, named)  # which may refuse the table, before any store is made
            readings = held.readings
            missing = max(len(readings.meters) * clock.slots - int(readings.there.sum()), 0)
            store, withheld = self._budgets(new=new), 0
            reports = self._reports(held, new=new)
            if store is not None and self.spec.budget is not None:
                progress("charging the budgets")
                known = None if reports is None else reports[1].known
                with self.stores.room(len(readings)):
                    readings, withheld = charge(store, self.spec.budget.over, readings, clock, known)
                held = replace(held, readings=readings)
            with noted(lambda: "" if store is None else _CHARGED):
                others = [name for name in source.others if name not in self.spec.data.columns.names]
                others = others if self.totals is None else list(dict.fromkeys(self._also))
                progress("drawing noise")
                with nullcontext() if reports is None else reports[0].drawing() as once:
                    if self.totals is None:
                        noisy = self._noisy(held, once, None if reports is None else reports[1])
                        source.rewrite(files.path(), value, readings, noisy, self.series.grid, progress)
                    else:
                        _write(self._totals_table(held, self.totals), files.path(), kind_of(out, ROWS))
                    source.file.check_unchanged()  # within: nothing is remembered of a table that was not charged
                files.place(self._stated(others).model_dump(mode="json", exclude={"files"}))
        if self.totals is None:
            notes = [published(others, "readings"), *order_of_readings(readings)]
        else:  # the rows of totals have an order of their own
            notes = [text for text in (untouched(others, "readings"),) if text is not None]
        notes += readings.notes(held.left_out, missing if self.totals else 0)
        if withheld:
            notes.append(f"for the curator only: {counted(withheld, 'reading')} withheld, because the budget is spent")
        if reports is not None and reports[1].corrected:
            notes.append(
                f"for the curator only: {counted(reports[1].corrected, 'reading')} corrected since they were drawn, and"
                " shown again as they were"
            )
        return Written(files.shown, int(readings.there.sum()), self.series.fit_for_release, tuple(notes))

    def _noisy(self, held: Held, once: Once | None, remembered: Remembered | None) -> Integers:
        """Return what is published of readings, in steps, each meter's at its own level."""
        readings, own = held.readings, held.own
        if once is None or remembered is None:
            return self.levels.release(readings, own)
        noisy = remembered.shown(
            once, readings, lambda new: self.levels.draw(new, own[np.searchsorted(readings.rows, new.rows)])
        )
        return self.levels.finish(noisy, readings, own)

    def _totals_table(self, held: Held, totals: Mapping[str, Totals]) -> Any:
        """Return noisy totals: one row a group and span, every span there whatever the readings are."""
        beside: dict[str, Any] = {} if held.column is None else {held.column: held.names}
        if self.tree is not None:
            noisy = self.tree.release(held.readings, held.group, len(held.names))
            return table_of_totals(self.tree, noisy, beside)
        level, called = self.spec.protect.level, list(totals)
        if level is not None and level != held.column:
            beside[level] = [called[number] for number in held.levels.tolist()]
        drawn = self.levels.release_totals(totals, held.readings, held.levels, held.group)
        return table_of_totals(totals[called[0]], [drawn], beside)

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
