# SPDX-License-Identifier: Apache-2.0
"""``[perturb] kind = "location"``: a table of positions in, a table of reports out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from leeward._paths import resolve
from leeward._progress import Progress
from leeward.errors import DataError, SpecError, noted
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger._memoized_reports import Draw, Once, Points
from leeward.ledger._person_budgets import reports_paid_for
from leeward.local._job import OpensStores, Written
from leeward.local._levels import name_of_level
from leeward.local._stores import Stores, forgotten
from leeward.local._untouched import published
from leeward.local.location import Box, PlanarLaplace, compare_over_places
from leeward.local.location._after import check_resolution, h3_cells
from leeward.local.location._attack_plan import attacker_part
from leeward.local.location._attack_table import attack_table
from leeward.local.location._clamped import Clamped
from leeward.local.location._documents import LocationStatement
from leeward.local.location._files import Floats, Move, Moved, PositionFile
from leeward.local.location._formats import open_positions
from leeward.local.location._level_sections import cap_of_a_day, check_levels
from leeward.local.location._level_statement import statement_of_levels
from leeward.local.location._levels import Levels, Made
from leeward.local.location._paid_rows import PaidRows
from leeward.local.location._public_places import read_places
from leeward.local.location._rows_seen import RowsSeen, cost_of_one
from leeward.local.location._spec import Location, Track, read_spec
from leeward.local.location._statement import facts, statement
from leeward.local.location._terms import Terms
from leeward.local.location._tracks import Tracks
from leeward.local.series._days import Days, in_words
from leeward.outputs import Files, beside
from leeward.tables._kinds import ENDINGS, kind_of

CELL_COLUMN: Final = "h3"
MAP: Final = ".map.html"
"""What is added to a file's name for its picture."""

_ROOM: Final = 8_000_000
"""About as many bytes as are written beside the table, most of them for the picture."""

_ROOM_OF_A_ROW: Final = 64
"""A report takes no more bytes, whatever its position took, also as a cell and in GeoJSON."""

_CHARGED: Final = "The reports were charged to their people's budgets before, and that stands: a second run pays again."
"""Nobody knows whether noise that was drawn was seen, so a charge is never given back."""


def read(given: Mapping[str, Any], folder: Path) -> LocationJob:
    """Read a spec of this kind; paths are relative to the folder."""
    return LocationJob.of(read_spec(given), folder)


@dataclass(frozen=True)
class LocationJob:
    """A table of positions to perturb."""

    spec: Location
    folder: Path
    levels: Levels
    terms: Terms
    tracks: Tracks | None = None

    @property
    def geo(self) -> PlanarLaplace:
        """The mechanism that is promised of every report: that of the largest ε."""
        return self.levels.weakest

    @classmethod
    def of(cls, spec: Location, folder: Path) -> LocationJob:
        """Make the mechanism: everything that can be refused without private data is refused here."""
        b, places, h3, budget = spec.box, spec.places, spec.output.h3, spec.budget
        box = Box(b.west, b.south, b.east, b.north)
        check_levels(spec)
        if h3 is not None:
            check_resolution(h3)
        known = None if places is None else read_places(places, folder, spec.elastic, spec.regions)

        def after(geo: PlanarLaplace) -> Made:
            """Add what is done after the noise, and what it comes to over the places."""
            compared = None
            if places is not None and known is not None:
                at, drawn = known.columns, {"best": geo.best_over, "exponential": geo.exponential_over}
                if known.felt.plain and places.use != "exponential":
                    compared = compare_over_places(geo if h3 is None else geo.to_h3(h3), *at)
                geo = geo.to_places(*at) if places.use == "remap" else drawn[places.use](*at, felt=known.felt)[0]
            return (geo if h3 is None else geo.to_h3(h3)), compared

        levels = Levels(spec.protect, box, after)
        geo, a_day = levels.weakest, cap_of_a_day(spec, levels)
        tracks = None if spec.track is None else Tracks(geo, **_track_keys(spec.track))
        terms = replace(
            geo.terms,
            track=None if tracks is None else tracks.part(),
            compared=levels.compared.get(""),
            reports_a_day=None if budget is None or a_day is not None else reports_paid_for(budget.reports_a_day),
            a_day=a_day,
            over=None if budget is None else budget.over,
            days=None if budget is None else in_words(spec.data.timezone, dated=spec.data.time is not None),
            repeats=spec.repeat is not None,
            attacker=None
            if spec.attacker is None
            else attacker_part(spec.attacker, folder, levels, tracks, repeats=spec.repeat is not None),
        )
        return cls(spec, folder, levels, terms, tracks)

    def attack(self, published: Path) -> list[str]:
        """Return what the attacker of the spec makes of a file that it wrote: see `leeward.local._job.Job.attack`."""
        if self.spec.data.engine is not None:
            raise SpecError(
                '--attack beside [data] engine = "spark"',
                "it reads the table and its reports row beside row, in their order, on this machine",
                "Take a sample of the table, leave engine out, and attack the reports of that",
            )
        if (known := self.spec.attacker) is None:
            raise SpecError(
                "--attack without [attacker]",
                "he knows public places where people may be, and none are named",
                'Add [attacker] table = "places.csv", latitude = "lat", longitude = "lon"',
            )
        return attack_table(self.spec, known, self.folder, self.levels, self.tracks, published)

    def statement(self) -> LocationStatement:
        """Return the privacy statement; it reads no private data."""
        return self._stated(None)

    def _stated(self, others: Sequence[str] | None) -> LocationStatement:
        if self.levels.column is None:
            return statement(self.geo, self.terms, others)
        return statement_of_levels(self.levels, self.terms, others)

    def facts(self) -> list[tuple[str, str]]:
        """Return the statement in short."""
        return facts(self.statement())

    @property
    def stores(self) -> Stores:
        """The stores about people that the spec names."""
        return Stores(self.spec.budget, self.spec.repeat, self.folder)

    def opens(self) -> OpensStores | None:
        """Return the stores that a run would make: see `leeward.local._job.Job.opens`."""
        return self.stores.opens()

    def run(self, out: Path, progress: Progress, *, new: bool = False) -> Written:
        """Charge the budgets, perturb the table, and write it: see `leeward.local._job.Job.run`."""
        if self.spec.data.engine is not None:
            return self._run_in_spark(out, progress, new=new)
        source = open_positions(
            resolve(self.spec.data.table, self.folder), self.spec.data.latitude, self.spec.data.longitude
        )
        _check_out(out, source)
        stores = self.stores
        stores.check()
        asked = self._asked()
        source.require(asked)
        level = self.spec.protect.level  # which the statement speaks of
        source.leave_out(self.spec.output, [] if level is None else [level])
        if self.spec.output.h3 is not None and CELL_COLUMN in source.columns:
            raise DataError(f"The column '{CELL_COLUMN}'", "the table has it already", "Rename it")
        endings = [MAP] if self.spec.output.map else []
        rows = source.rows_at_most()
        room = source.path.stat().st_size + _ROOM_OF_A_ROW * rows + _ROOM
        with beside(out, *endings, room=room, inputs=self._inputs()) as files:
            stores.check_openable()
            repeats, store = stores.reports(self.levels.law, new=new), self._budgets(new=new)
            if store is not None:
                progress("charging the budgets")
            with stores.room(rows):
                paid = self._charge(source.positions(asked), repeats, store)
            with noted(lambda: "" if paid is None else _CHARGED):
                with repeats.drawing() if repeats is not None else nullcontext() as once:
                    seen = RowsSeen(self.geo, self.tracks, self.spec.data.timezone)
                    column = None if self.spec.output.h3 is None else CELL_COLUMN
                    again = once if repeats is None or once is None or paid is None else _paid_for(once, repeats, paid)
                    source.rewrite(files.path(), self._mover(again, paid, seen), asked, column, progress)
                    if paid is None:
                        seen.looked.check()
                    else:  # all rows were looked at when they were charged; here only those that are paid for
                        paid.check()  # within: no answer is remembered of a table that was not charged
                    source.file.check_unchanged()  # its other columns were named of the table that was opened
                self._place(files, source.others)
        notes = [published(source.others, "the position")]
        notes += [] if seen.order.note is None else [seen.order.note]
        notes += seen.notes
        return Written(files.shown, seen.reports, self.geo.fit_for_release, tuple(notes))

    def _run_in_spark(self, out: Path, progress: Progress, *, new: bool) -> Written:
        from leeward.local.location._in_spark import WRITES
        from leeward.local.location._spark_table import SparkTable

        table = SparkTable(self.spec.data, resolve(self.spec.data.table, self.folder))
        table.source.leave_out(self.spec.output, [])
        self.stores.check()
        timezone, others = self.spec.data.timezone, table.source.others
        endings = [MAP] if self.spec.output.map else []
        room = table.size + _ROOM_OF_A_ROW * table.rows + _ROOM
        with beside(out, *endings, room=room, inputs=[*self._inputs(), *table.paths], holds=WRITES) as files:
            progress("starting Spark")
            with table.opened() as opened:
                progress("looking at the positions")
                found = opened.look(self.geo)
                store = self._budgets(new=new)
                if store is not None:
                    progress("charging the budgets")
                    opened.charge(self.geo, found, store, timezone)
                with noted(lambda: "" if store is None else _CHARGED):
                    most = None if self.spec.data.person is None else opened.most(self.geo, found, timezone)
                    progress("perturbing")
                    opened.write(self.geo, files.path())
                    self._place(files, others)
        notes = [
            published(others, "the position"),
            *(note for note in (found.order, found.looked.note) if note is not None),
        ]
        if most is not None and most[0]:
            ever, a_day = (None if n is None else n * float(self.geo.epsilon) for n in most)
            notes.append(cost_of_one(ever or 0.0, a_day, self.geo))
        return Written(files.shown, found.rows, self.geo.fit_for_release, tuple(notes))

    def _place(self, files: Files, others: Sequence[str]) -> None:
        """Write what lies beside the reports, and put all of it where it belongs."""
        if self.spec.output.map:
            from leeward.local.location._picture import write_pictures

            write_pictures(self.levels.mechanisms, files.path(MAP))
        files.place(self._stated(others).model_dump(mode="json", exclude={"files"}))

    def _inputs(self) -> list[Path]:
        """Return what the spec names that is to be there afterwards as it was."""
        named, spec = [self.spec.data.table], self.spec
        named += [] if spec.places is None else [spec.places.table]
        named += [] if spec.attacker is None else [spec.attacker.table]
        named += [] if spec.regions is None or spec.regions.geojson is None else [spec.regions.geojson]
        return [*(resolve(name, self.folder) for name in named), *self.stores.kept()]

    def open_budgets(self, *, new: bool) -> None:
        """Open the store of budgets, see that it is of this spec, and close it again.

        Args:
            new: whether it may be made where there is none.

        Raises:
            LedgerError: it cannot be used, or is not there and may not be made.
        """
        self.stores.check()
        self._budgets(new=new)

    def reports(self, north: Floats, east: Floats, people: list[Any], times: list[Any] | None) -> Moved:
        """Charge reports of positions that are in no file, and draw them: as `run` does for the rows of one.

        Args:
            north: latitudes in degrees, shape (n,); missing, like those of rows, as NaN.
            east: longitudes in degrees.
            people: whose each is.
            times: when each is; None where the spec names no column of times.

        Returns:
            The reports; NaN where one is withheld.

        Raises:
            DataError: for positions or times that a row may not have.
            CapExceededError: somebody's budget is spent, and ``over`` is ``"refuse"``; then nothing was charged.
            LedgerError: the store of budgets cannot be used.
        """
        extra = [people] if times is None else [people, times]
        paid = self._charge([(north, east, extra)], None, self._budgets(new=False))
        seen = RowsSeen(self.geo, self.tracks, self.spec.data.timezone)
        return self._mover(None, paid, seen)(north, east, extra)

    def _asked(self) -> list[str]:
        """Return the columns that say who, when and how careful, as far as there are such."""
        columns = (self.spec.data.person, self.spec.data.time, self.spec.protect.level)
        return [name for name in columns if name is not None]

    def _mover(self, once: Once | None, paid: PaidRows | None, seen: RowsSeen) -> Move:
        """Return what perturbs a batch of rows, and looks at what is to be told of it."""
        asked, levels = self._asked(), self.levels
        calendar = Days(self.spec.data.timezone)
        alike, h3 = levels.people(), self.spec.output.h3

        def move(north: Floats, east: Floats, extra: list[list[Any]]) -> Moved:
            there = self.geo.present(north, east)
            named = dict[str | None, list[Any]](zip(asked, extra, strict=True))
            at = [] if levels.column is None else named[levels.column]
            if alike is not None:
                alike.check(at, named.get(self.spec.data.person))
            people, times = named.get(self.spec.data.person), named.get(self.spec.data.time)
            seen.order.add(north, east, people, times)
            if paid is not None:
                granted = paid.take(north, east, extra)
                seen.withheld += int((there & ~granted).sum())
                there &= granted
            found = np.full((2, len(north)), np.nan)
            seen.looked.take(north[there], east[there])
            points, rows = self.geo.to_grid(north[there], east[there]), np.flatnonzero(there).tolist()
            who = None if people is None else [people[row] for row in rows]
            when = None if times is None else [times[row] for row in rows]
            own = [at[row] for row in rows] if at else []
            if seen.tracks is not None and who is not None and when is not None:
                points, goes_out = seen.tracks.take(who, calendar.moments(when), points)
                there[rows] = goes_out
                found[:, there] = self.geo.shown(points[goes_out])
            else:
                found[:, there] = levels.shown(levels.draw(points, own, once, who), own)
            seen.reports += int(there.sum())
            if seen.tracks is None and who is not None:
                seen.add(who, when, levels.costs(own, len(rows)), None if once is None else _each(points, own))
            return Moved(found[0], found[1], None if h3 is None else h3_cells(found[0], found[1], h3))

        return move

    def _budgets(self, *, new: bool) -> PersonBudgets | None:
        """Open the store of budgets, for the price of a report, or for those of the levels."""
        if self.levels.column is None:
            budget = self.spec.budget
            return self.stores.budgets(self.geo.price, None if budget is None else budget.reports_a_day, new=new)
        prices = [geo.epsilon for geo in self.levels.mechanisms.values()]
        return self.stores.budgets_of_levels(self.geo.priced_in, prices, self.terms.a_day, new=new)

    def _charge(
        self,
        batches: Iterable[tuple[Floats, Floats, list[list[Any]]]],
        repeats: MemoizedReports | None,
        store: PersonBudgets | None,
    ) -> PaidRows | None:
        """Charge every report before any is drawn; return which rows are paid for, or None without budgets.

        A repeated report costs nothing, so only those are charged that the store does not know and that are new in this run.
        """
        budget = self.spec.budget
        if budget is None or store is None:
            return None
        paid, asked = PaidRows(), self._asked()
        calendar = Days(self.spec.data.timezone)
        today = calendar.today()
        looked, levels = Clamped(self.geo.box), self.levels
        alike = levels.people()
        with store.charging(budget.over) as charge:
            for north, east, extra in batches:
                named = dict[str | None, list[Any]](zip(asked, extra, strict=True))
                when, at = named.get(self.spec.data.time), [] if levels.column is None else named[levels.column]
                if alike is not None:
                    alike.check(at, extra[0])
                days = [today] * len(north) if when is None else calendar.of(when)
                rows = np.flatnonzero(self.geo.present(north, east))
                looked.take(north[rows], east[rows])
                who = [extra[0][row] for row in rows.tolist()]
                own = [at[row] for row in rows.tolist()] if at else []
                laws = levels.laws(own)
                keys = None if repeats is None else repeats.keys(who, self.geo.to_grid(north[rows], east[rows]), laws)
                known = set() if repeats is None or keys is None else repeats.known(keys)
                paid.known |= known
                on = [days[row] for row in rows.tolist()]
                mask = np.zeros(len(north), bool)
                mask[rows] = charge(who, on, calendar.rule, reports=keys, known=known, prices=levels.places(own))
                paid.append(mask, north, east, extra)
            looked.check()
        return paid


def _paid_for(once: Once, repeats: MemoizedReports, paid: PaidRows) -> Once:
    """Return the answers of a store, which draws nothing anew that was not charged because it was known then."""

    def answer(people: Sequence[Any], points: Points, draw: Draw, law: str | None = None) -> Points:
        def drawn(new: Points) -> Points:
            rows = new[:, 2].tolist()
            laws = None if law is None else [law] * len(rows)
            if not paid.known.isdisjoint(repeats.keys([people[row] for row in rows], new[:, :2], laws)):
                raise forgotten()
            return draw(new[:, :2])

        return once(people, np.column_stack([points, np.arange(len(points))]), drawn, law)

    return answer


def _track_keys(track: Track) -> dict[str, Any]:
    """Return what makes tracks, from a section."""
    limits = {name: held and held.model_dump() for name in ("in_all", "in_window") if (held := getattr(track, name))}
    return track.model_dump(exclude={"in_all", "in_window"}) | limits


def _each(points: NDArray[np.int64], levels: Sequence[Any]) -> list[Any]:
    """Return what tells reports apart that are shown again: the grid point, and the level that it was drawn at."""
    at = list(map(tuple, points.tolist()))
    return list(zip(at, map(name_of_level, levels), strict=True)) if levels else at


def _check_out(out: Path, source: PositionFile) -> None:
    """Refuse an output that could not be written, before anything is charged."""
    if kind_of(out, [source.kind]) is None:
        ending = ENDINGS[source.kind][0]
        raise SpecError(f"--out '{out}'", f"the table is {ending}, and is written as it was read", f"Name a {ending}")
