# SPDX-License-Identifier: Apache-2.0
"""``[perturb] kind = "location"``: a table of positions in, a table of reports out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from leeward._paths import resolve, resolve_ledger
from leeward._progress import Progress
from leeward._toml import ExactText, Section, check
from leeward.distance._plane import Norm
from leeward.errors import DataError, SpecError, noted
from leeward.exact._real import whole
from leeward.ledger import MemoizedReports, PersonBudgets, read_secret
from leeward.ledger._memoized_reports import Once
from leeward.ledger._person_budgets import Over, is_store
from leeward.local._job import Opens, Written
from leeward.local._untouched import published
from leeward.local.location import Box, PlanarLaplace, compare_over_places
from leeward.local.location._after import check_resolution, h3_cells
from leeward.local.location._clamped import Clamped
from leeward.local.location._documents import LocationStatement
from leeward.local.location._files import Moved, PositionFile
from leeward.local.location._formats import open_positions
from leeward.local.location._order import PositionOrder
from leeward.local.location._paid_rows import PaidRows
from leeward.local.location._statement import facts, statement
from leeward.local.location._terms import Missing, Outside, Terms
from leeward.local.series._days import Days, in_words
from leeward.outputs import beside, holds_release
from leeward.query._source import check_zone
from leeward.tables._kinds import ENDINGS, kind_of

CELL_COLUMN: Final = "h3"
MAP: Final = ".map.html"
"""What is added to a file's name for its picture."""

Floats = NDArray[np.float64]

_ROOM: Final = 8_000_000
"""About as many bytes as are written beside the table, most of them for the picture."""

_ROOM_OF_A_ROW: Final = 64
"""A report takes no more bytes, whatever its position took, also as a cell and in GeoJSON."""


class Data(Section):
    """``[data]``: the private table, and what its columns mean."""

    table: str
    latitude: str | None = None
    longitude: str | None = None
    person: str | None = None
    time: str | None = None
    timezone: str | None = None

    @field_validator("timezone")
    @classmethod
    def _zone(cls, name: str | None) -> str | None:
        if name is not None:
            check_zone(name)
        return name


class PublicBox(Section):
    """``[box]``: the public region, in degrees (WGS 84)."""

    west: float | int
    south: float | int
    east: float | int
    north: float | int


class Protect(Section):
    """``[protect]``: ε, as a factor within a length or for a unit of length, and what happens to odd positions."""

    within: str | None = None
    factor: ExactText | None = None
    epsilon: ExactText | None = None
    unit: str = "1 m"
    norm: Norm = "euclidean"
    step: str | None = None
    outside: Outside = "refuse"
    missing: Missing = "refuse"


class PublicPlaces(Section):
    """``[places]``: a public list that reports are moved to, or over which the best mechanism is taken."""

    table: str
    latitude: str
    longitude: str
    weight: str | None = None
    use: Literal["remap", "best"] = "remap"


class Output(Section):
    """``[output]``: H3 cells instead of positions, and a picture."""

    h3: int | None = None
    map: bool = False


class Budget(Section):
    """``[budget]``: how many reports of one person in one day are paid for."""

    store: str
    secret: str
    reports_a_day: int
    over: Over = "refuse"


class Repeat(Section):
    """``[repeat]``: the same report for the same person on the same grid point."""

    store: str
    secret: str


_CHARGED: Final = "The reports were charged to their people's budgets before, and that stands: a second run pays again."
"""Nobody knows whether noise that was drawn was seen, so a charge is never given back."""

_FORGOTTEN: Final = {
    "budgets": "in a new store of budgets everybody has a whole one again",
    "reports": "without the reports that it held, others are drawn for the same people at the same places",
}
"""What making a store anew does where there was one."""

_ROLES = ("latitude", "longitude", "person", "time")


class Location(Section):
    """A whole spec of this kind."""

    data: Data
    box: PublicBox
    protect: Protect
    places: PublicPlaces | None = None
    output: Output = Output()
    budget: Budget | None = None
    repeat: Repeat | None = None

    @model_validator(mode="after")
    def _person(self) -> Location:
        if self.data.person is None and (self.budget is not None or self.repeat is not None):
            raise ValueError('budgets and repeated reports are per person: name the column, [data] person = "…"')
        if self.data.timezone is not None and self.budget is None:
            raise ValueError("[data] timezone says where the days of a budget are counted, and there is no [budget]")
        named = {key: name for key in _ROLES if (name := getattr(self.data, key)) is not None}
        if len(set(named.values())) < len(named):
            # whose every place is another person has no bound on reports
            told = ", ".join(f'{key} = "{name}"' for key, name in named.items())
            raise ValueError(f"one column cannot be two things: {told}. Name each once")
        return self


_EXAMPLES = {
    "data": '[data] table = "positions.parquet", latitude = "lat", longitude = "lon"',
    "table": 'table = "positions.parquet"',
    "latitude": 'latitude = "the column of latitudes"',
    "longitude": 'longitude = "the column of longitudes"',
    "box": "[box] west = 139.5, south = 35.5, east = 140.0, north = 35.9",
    "protect": '[protect] within = "200 m", factor = "2"',
    "store": 'store = "people.db"',
    "secret": 'secret = "people.key", a file of at least 16 secret bytes',
    "reports_a_day": "reports_a_day = 24",
}


def read(given: Mapping[str, Any], folder: Path) -> LocationJob:
    """Read a spec of this kind; paths are relative to the folder."""
    return LocationJob.of(check(Location, given, _EXAMPLES), folder)


@dataclass(frozen=True)
class LocationJob:
    """A table of positions to perturb."""

    spec: Location
    folder: Path
    geo: PlanarLaplace
    terms: Terms

    @classmethod
    def of(cls, spec: Location, folder: Path) -> LocationJob:
        """Make the mechanism: everything that can be refused without private data is refused here."""
        p, b = spec.protect, spec.box
        geo = PlanarLaplace(
            box=Box(b.west, b.south, b.east, b.north),
            within=p.within,
            factor=p.factor,
            epsilon=p.epsilon,
            unit=p.unit,
            norm=p.norm,
            step=p.step,
            outside=p.outside,
            missing=p.missing,
        )
        compared, places = None, spec.places
        if spec.output.h3 is not None:
            check_resolution(spec.output.h3)
        if places is not None:
            known = _places(places, folder)
            compared = compare_over_places(geo if (h3 := spec.output.h3) is None else geo.to_h3(h3), *known)
            geo = geo.to_places(*known) if places.use == "remap" else geo.best_over(*known)[0]
        if spec.output.h3 is not None:
            geo = geo.to_h3(spec.output.h3)
        budget = spec.budget
        terms = replace(
            geo.terms,
            compared=compared,
            reports_a_day=None if budget is None else whole(budget.reports_a_day, "reports_a_day"),
            over=None if budget is None else budget.over,
            days=None if budget is None else in_words(spec.data.timezone, dated=spec.data.time is not None),
            repeats=spec.repeat is not None,
        )
        return cls(spec, folder, geo, terms)

    def statement(self) -> LocationStatement:
        """Return the privacy statement; it reads no private data."""
        return statement(self.geo, self.terms)

    def facts(self) -> list[tuple[str, str]]:
        """Return the statement in short."""
        return facts(self.statement())

    def opens(self) -> Opens | None:
        """Return the stores that a run would make: see `leeward.local._job.Job.opens`."""
        known = {path: is_store(path) for path in self._stores().values()}
        made = {kind: path for kind, path in self._stores().items() if not known[path]}
        doubt = None
        for kind, path in made.items():
            if path.exists():
                doubt = f"{path} is empty, and may have been emptied: {_FORGOTTEN[kind]}"
            elif others := [other for other, there in known.items() if there]:
                doubt = f"{others[0]} is there, and the other may have been moved: {_FORGOTTEN[kind]}"
        return Opens(made, doubt) if made else None

    def run(self, out: Path, progress: Progress, *, new: bool = False) -> Written:
        """Charge the budgets, perturb the table, and write it: see `leeward.local._job.Job.run`."""
        source = open_positions(
            resolve(self.spec.data.table, self.folder), self.spec.data.latitude, self.spec.data.longitude
        )
        _check_out(out, source)
        self._check_stores()
        asked = [name for name in (self.spec.data.person, self.spec.data.time) if name is not None]
        source.require(asked)
        if self.spec.output.h3 is not None and CELL_COLUMN in source.columns:
            raise DataError(f"The column '{CELL_COLUMN}'", "the table has it already", "Rename it")
        endings = [MAP] if self.spec.output.map else []
        room = source.path.stat().st_size + _ROOM_OF_A_ROW * source.rows_at_most() + _ROOM
        with beside(out, *endings, room=room, inputs=self._inputs()) as files:
            memo, order = self._memo(new), PositionOrder()
            paid = self._charge(source, asked, memo, progress, new)
            with noted(lambda: "" if paid is None else _CHARGED):
                with memo.drawing() if memo is not None else nullcontext() as once:
                    looked = Clamped(self.geo.box)
                    rows, withheld = self._rewrite(source, files.path(), asked, once, paid, order, looked, progress)
                    looked.check()
                    if paid is not None:
                        paid.check()  # within: no answer is remembered of a table that was not charged
                    source.file.check_unchanged()  # its other columns were named of the table that was opened
                if self.spec.output.map:
                    from leeward.local.location._picture import write_picture

                    write_picture(self.geo, files.path(MAP))
                files.place(statement(self.geo, self.terms, source.others).model_dump(mode="json", exclude={"files"}))
        notes = [text for text in (published(source.others, "the position"), order.note) if text is not None]
        if withheld:
            notes.append(f"for the curator only: {withheld:,} reports were withheld, because their budgets are spent")
        if looked.beyond:
            notes.append(
                f"for the curator only: {looked.beyond:,} positions were outside the box and moved to its edge"
            )
        return Written(files.shown, rows, self.geo.fit_for_release, tuple(notes))

    def _inputs(self) -> list[Path]:
        """Return what the spec names that is to be there afterwards as it was."""
        named, spec = [self.spec.data.table], self.spec
        named += [] if spec.places is None else [spec.places.table]
        return [*(resolve(name, self.folder) for name in named), *self._kept()]

    def _stores(self) -> dict[str, Path]:
        """Return the files of the stores, by what they are for."""
        kept = {"budgets": self.spec.budget, "reports": self.spec.repeat}
        return {kind: resolve_ledger(part.store, self.folder) for kind, part in kept.items() if part is not None}

    def _kept(self) -> list[Path]:
        """Return the files about people: stores and secrets."""
        secrets = [part.secret for part in (self.spec.budget, self.spec.repeat) if part is not None]
        return [*self._stores().values(), *(resolve(name, self.folder) for name in secrets)]

    def _check_stores(self) -> None:
        """Refuse stores and secrets in the folder of a release, by whatever links: it holds what may be published."""
        for named in self._kept():
            path = Path(os.path.realpath(named))
            if any(map(holds_release, path.parents)):
                raise SpecError(
                    f"{path} within the folder of an earlier release",
                    "that folder holds what may be published, and this file is about people",
                    "Keep it elsewhere",
                )

    def _rewrite(
        self,
        source: PositionFile,
        target: Path,
        asked: Sequence[str],
        once: Once | None,
        paid: PaidRows | None,
        order: PositionOrder,
        looked: Clamped,
        progress: Progress,
    ) -> tuple[int, int]:
        """Write the perturbed table, and look at the order of rows; return the numbers of rows and of rows withheld."""
        withheld = 0

        def move(north: NDArray[np.float64], east: NDArray[np.float64], extra: list[list[Any]]) -> Moved:
            nonlocal withheld
            there = self.geo.present(north, east)
            named = dict[str | None, list[Any]](zip(asked, extra, strict=True))
            order.add(north, east, named.get(self.spec.data.person), named.get(self.spec.data.time))
            if paid is not None:
                granted = paid.take(north, east, extra)
                withheld += int((there & ~granted).sum())
                there &= granted
            found = np.full((2, len(north)), np.nan)
            looked.take(north[there], east[there])
            points = self.geo.to_grid(north[there], east[there])
            if once is None:
                noisy = self.geo.draw(points)
            else:
                who = [extra[0][row] for row in np.flatnonzero(there).tolist()]
                noisy = once(who, points, self.geo.draw)
            found[:, there] = self.geo.shown(noisy)
            h3 = self.spec.output.h3
            return Moved(found[0], found[1], None if h3 is None else h3_cells(found[0], found[1], h3))

        column = None if self.spec.output.h3 is None else CELL_COLUMN
        rows = source.rewrite(target, move, asked, column, progress)
        return rows, withheld

    # ---- repeated reports

    def _secret(self, name: str) -> bytes:
        return read_secret(resolve(name, self.folder), stores=self._stores().values())

    def _memo(self, new: bool) -> MemoizedReports | None:
        repeat = self.spec.repeat
        if repeat is None:
            return None
        return MemoizedReports(self._stores()["reports"], key=self._secret(repeat.secret), law=self.geo.law, new=new)

    def _charge(
        self,
        source: PositionFile,
        asked: Sequence[str],
        memo: MemoizedReports | None,
        progress: Progress,
        new: bool,
    ) -> PaidRows | None:
        """Charge every report before any is drawn; return which rows are paid for, or None without budgets.

        A repeated report costs nothing, so only those are charged that the memo does not know and that are new in this run.
        """
        budget = self.spec.budget
        if budget is None:
            return None
        progress("charging the budgets")
        store = PersonBudgets(
            self._stores()["budgets"],
            secret=self._secret(budget.secret),
            price=self.geo.price,
            reports_a_day=budget.reports_a_day,
            new=new,
        )
        paid = PaidRows()
        calendar = Days(self.spec.data.timezone)
        today = calendar.today()
        looked = Clamped(self.geo.box)
        with store.charging(budget.over) as charge:
            for north, east, extra in source.positions(asked):
                days = calendar.of(extra[1]) if len(extra) > 1 else [today] * len(north)
                rows = np.flatnonzero(self.geo.present(north, east))
                looked.take(north[rows], east[rows])
                who = [extra[0][row] for row in rows.tolist()]
                keys = None if memo is None else memo.keys(who, self.geo.to_grid(north[rows], east[rows]))
                known = set() if memo is None or keys is None else memo.known(keys)
                mask = np.zeros(len(north), bool)
                mask[rows] = charge(who, [days[row] for row in rows.tolist()], calendar.rule, reports=keys, known=known)
                paid.append(mask, north, east, extra)
            looked.check()
        return paid


def _places(places: PublicPlaces, folder: Path) -> tuple[list[float], list[float], list[float] | None]:
    """Read a public list of places: latitudes, longitudes and, where one is named, weights."""
    file = open_positions(resolve(places.table, folder), places.latitude, places.longitude)
    asked = [] if places.weight is None else [places.weight]
    file.require(asked)
    north, east, weights = list[float](), list[float](), list[float]()
    for norths, easts, extra in file.positions(asked):
        north += norths.tolist()
        east += easts.tolist()
        try:
            weights += [float(weight) for column in extra for weight in column]
        except (TypeError, ValueError):
            raise DataError(
                f"The column '{places.weight}' of the list of places", "a weight is a number", "Correct it"
            ) from None
    return north, east, weights if asked else None


def _check_out(out: Path, source: PositionFile) -> None:
    """Refuse an output that could not be written, before anything is charged."""
    if kind_of(out, [source.kind]) is None:
        ending = ENDINGS[source.kind][0]
        raise SpecError(f"--out '{out}'", f"the table is {ending}, and is written as it was read", f"Name a {ending}")
