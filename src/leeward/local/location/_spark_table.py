# SPDX-License-Identifier: Apache-2.0
"""The table of a spec, perturbed by Spark: Parquet files in, a folder of Parquet files out.

What is asked of it is what is asked of a file: the same look before anything is drawn, the same budgets of people, charged
whole before the first draw, the same notes for the curator. Counted in Spark are only rows, and reports of each person and
day. The files are stamped: what is charged and what is drawn is one table, or nothing is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from leeward._private import Private
from leeward._spark import Spark, in_plain_words, session_of
from leeward.errors import DataError
from leeward.ledger import PersonBudgets
from leeward.ledger._identity import payer
from leeward.local.location._files import PositionFile
from leeward.local.location._formats import open_positions
from leeward.local.location._in_spark import PositionsSeen, commit_once, degrees, look, moved, write_once
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._spec import Data
from leeward.local.series._days import Days, no_time
from leeward.tables._parquet import declared
from leeward.tables._spark_files import files_for_spark, kind_in_spark, no_type, quoted, read_in_spark, refuse_moved

if TYPE_CHECKING:
    import pyarrow as pa

_PEOPLE: Final = ("string", "tinyint", "smallint", "int", "bigint")
_TIMES: Final = ("date", "timestamp", "timestamp_ntz")


class SparkTable(Private):
    """The Parquet files that a spec names, before Spark is started.

    Args:
        data: what the spec says of it.
        path: what it names: a file, or a pattern.

    Attributes:
        source: the first file; all are alike.

    Raises:
        DataError: there is none, it lacks a column, or Spark would read a column as something else.
    """

    __slots__ = ("_data", "_files", "source")

    def __init__(self, data: Data, path: Path) -> None:
        self._data = data
        found = files_for_spark(path)
        self._files = [open_positions(Path(file.name), data.latitude, data.longitude) for file in found]
        self.source = self._files[0]
        for other in self._files[1:]:
            if declared(other.file) != declared(self.source.file):
                raise DataError(
                    f"The files '{self.source.path}' and '{other.path}'",
                    "they do not declare the same columns in the same order, with the same types",
                    "Write all files of the table alike",
                )
        if data.latitude is None or data.longitude is None:
            raise DataError(
                f"The geometry of '{self.source.path}'",
                "Spark has no type for it, and perturbs columns of degrees",
                "Write it as columns of degrees. Or leave engine out: it is then perturbed on this machine",
            )
        self.source.require(self._asked)

    @property
    def rows(self) -> int:
        """How many rows the files tell."""
        return sum(file.rows_at_most() for file in self._files)

    @property
    def paths(self) -> list[Path]:
        """Where they are."""
        return [file.path for file in self._files]

    @property
    def size(self) -> int:
        """How many bytes they are."""
        return sum(file.path.stat().st_size for file in self._files)

    @property
    def _asked(self) -> list[str]:
        return [name for name in (self._data.person, self._data.time) if name is not None]

    @contextmanager
    def opened(self) -> Iterator[OpenedTable]:
        """Start Spark, and read the table in a session of ours.

        Raises:
            DataError: Spark sees a column as something else than the file declares.
            EngineError: it cannot be started.
            InputError: Spark or Java is not installed.
        """
        types = dict(declared(self.source.file))
        at = (str(self._data.latitude), str(self._data.longitude))
        shown = [name for name in self.source.columns if name in at or name in self.source.others]
        with session_of(Spark(self._data.spark or {})) as session:
            commit_once(session)
            frame = read_in_spark(session, [file.file for file in self._files])
            fields = {field.name: field for field in frame.schema.fields}
            for name in dict.fromkeys([*shown, *self._asked]):
                kind = None if name not in fields else kind_in_spark(fields[name], types[name])
                if kind is None:
                    raise no_type("The column", name, types[name])
            natives = {name: field.dataType.simpleString() for name, field in fields.items()}
            _check_native(natives, at, ("double",), "degrees are of the type double")
            if self._data.person is not None:
                known = "for Spark, people are told apart by text or whole numbers"
                _check_native(natives, (self._data.person,), _PEOPLE, known)
            if self._data.time is not None:
                _check_native(natives, (self._data.time,), _TIMES, "for Spark, times are dates or timestamps")
            refuse_moved(frame, [file.file for file in self._files], dict.fromkeys([*shown, *self._asked]))
            zoned = self._data.time is not None and natives[self._data.time] == "timestamp"
            yield OpenedTable(frame, self._files, at, shown, self._data.person, self._data.time, zoned=zoned)


@dataclass(frozen=True, slots=True, repr=False)
class OpenedTable(Private):
    """A table in a session of Spark.

    Attributes:
        frame: the DataFrame.
        files: its files.
        at: its columns of latitudes and longitudes.
        shown: the columns that go out, in their order.
        person: the column that says whose each row is, if there is one.
        time: the column that says when.
        zoned: whether these times are moments.
    """

    frame: Any
    files: Sequence[PositionFile]
    at: tuple[str, str]
    shown: Sequence[str]
    person: str | None
    time: str | None
    zoned: bool

    def look(self, geo: PlanarLaplace) -> PositionsSeen:
        """Look at it; see `leeward.local.location._in_spark.look`."""
        return look(geo, self.frame, self.at, self.person, self.time)

    def charge(self, geo: PlanarLaplace, found: PositionsSeen, store: PersonBudgets, timezone: str | None) -> None:
        """Charge the reports of all people and days, or none.

        Raises:
            CapExceededError: somebody's budget is spent.
            DataError: a report has no time.
        """
        if found.timeless:
            raise no_time()
        calendar = Days(timezone)
        if self.time is not None:
            calendar.of([datetime(1970, 1, 1, tzinfo=UTC if self.zoned else None)])  # the rule follows from the type
        with in_plain_words():
            counted = self._reports(geo, self.time, timezone).toArrow()
        with store.charging() as charge:
            for batch in counted.to_batches():
                people, days, reports = (column.to_pylist() for column in batch.columns)
                charge(_each(people, reports), _each(days, reports), calendar.rule)

    def most(self, geo: PlanarLaplace, found: PositionsSeen, timezone: str | None) -> tuple[int, int | None]:
        """Return how many reports one person has at most, in all and on a day; None where not every report has a day."""
        time = None if found.timeless else self.time
        reports = self._reports(geo, time, timezone).filter("who IS NOT NULL")
        each = reports.selectExpr("who", "n AS ever", "n AS a_day").groupBy("who").agg({"ever": "sum", "a_day": "max"})
        with in_plain_words():
            said = ("coalesce(max(`sum(ever)`), 0)", "coalesce(max(`max(a_day)`), 0)")
            ever, a_day = map(int, each.selectExpr(*said).collect()[0])
        return ever, None if time is None else a_day

    def write(self, geo: PlanarLaplace, path: Path) -> None:
        """Write it with its positions perturbed, into a folder that is not there yet.

        Raises:
            DataError: Spark stopped; or a file was changed since it was opened.
        """
        table = self.frame.select(*map(quoted, self.shown))
        write_once(table, partial(moved, geo.described, geo.law, self.at), path)
        for file in self.files:
            file.file.check_unchanged()

    def _reports(self, geo: PlanarLaplace, time: str | None, timezone: str | None) -> Any:
        """Return a DataFrame of how many reports each person has on each day: who, day, n."""
        assert self.person is not None
        read = [*self.at, self.person, *(() if time is None else (time,))]
        kind = self.frame.schema[self.person].dataType.simpleString()
        counting = partial(_counted, geo.described, self.at, self.person, time, timezone, Days(timezone).today())
        found = self.frame.select(*map(quoted, read)).mapInArrow(counting, f"who {kind}, day int, n long")
        return found.groupBy("who", "day").agg({"n": "sum"}).toDF("who", "day", "n")


def _counted(
    described: Mapping[str, Any],
    at: tuple[str, str],
    person: str,
    time: str | None,
    timezone: str | None,
    today: int,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield of each batch how many reports each person has on each day: what a task does."""
    import pyarrow as pa

    geo, calendar = PlanarLaplace(**described), Days(timezone)
    for batch in batches:
        there = pa.array(geo.present(*degrees(batch, at)))
        who = batch.column(person).filter(there)
        days = [today] * len(who) if time is None else calendar.of(batch.column(time).filter(there).to_pylist())
        rows = pa.table({"who": who, "day": pa.array(days, pa.int32())})
        each = rows.group_by(["who", "day"]).aggregate([([], "count_all")]).rename_columns(["who", "day", "n"])
        if pa.types.is_string(who.type):  # a number may be written in several ways, and is one person
            people = [None if one is None else payer(one) for one in each["who"].to_pylist()]
            each = each.set_column(0, "who", pa.array(people, who.type))
        yield from each.to_batches()


def _check_native(natives: Mapping[str, str], names: Sequence[str], known: Sequence[str], because: str) -> None:
    for name in names:
        if natives[name] not in known:
            raise DataError(
                f"The column '{name}' of type {natives[name]}", because, "Cast it, and write the table anew"
            )


def _each(values: Sequence[Any], times: Sequence[int]) -> list[Any]:
    return [value for value, n in zip(values, times, strict=True) for _ in range(n)]
