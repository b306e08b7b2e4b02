# SPDX-License-Identifier: Apache-2.0
"""The description of a private table with one number a person, which a statistic is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Literal, TypeVar, get_args

from leeward._spark import Spark
from leeward._taught import describing
from leeward.errors import SpecError, check_choice
from leeward.query._source import EACH_ROW, Allowed, Engine, no_person, visits
from leeward.query._table import Source
from leeward.query._window import Window, moment
from leeward.tables._given import Given

Combine = Literal["refuse", "sum", "min", "max"]
Many = Literal["people", "rows"]
"""What those are called whom an answer is about."""

HOW = {"sum": "the sum", "min": "the least", "max": "the greatest"}
"""How several numbers of a person become one, in words; a histogram has no sum."""


def counted_once(combine: str | None, *, grouped: bool, numbers: bool) -> str:
    """Say how somebody with several rows is counted once; nothing where nobody has several, or all of them count."""
    if combine is None or combine == "refuse":
        return ""
    how = [f"with {HOW[combine]} of their numbers"] if numbers else []
    where = ["in the first listed group they are in"] if grouped else []
    return f"counted once {' and '.join([*where, *how])}".rstrip()


@dataclass(frozen=True, eq=False)
class Records:
    """A private table with one number a person, or several that are combined. Build it with `records`.

    Attributes:
        source: where the table is: a path, a glob, a list of paths, a DataFrame, an Arrow table or an Ibis table; or a
            `Source`, which says besides which table of a file it is and how its texts are written.
        person: the column that says who; None where every row is a person of its own (`records` is told so by
            ``person="each row"``). The unit of every promise is then a row.
        combine: what becomes of a person's several rows: ``refuse`` the release, or take the ``sum``, ``min`` or ``max`` of
            their numbers. A person in several groups belongs to the first of them in the public order.
        keep: only rows whose column holds one of the allowed values take part.
        time: the column that says when; it is read where a question has a window.
        timezone: the zone in which times without an offset are read (a name such as ``Asia/Tokyo``).
        engine: what counts: ``duckdb``, on this machine; ``postgres``, inside the database of PostgreSQL that holds it; or
            ``spark``, which reads Parquet files and DataFrames of its own. A `Spark` says how it is started, where none runs
            in this program yet, or where it is reached.
    """

    source: Source
    person: str | None = None
    combine: Combine = "refuse"
    keep: dict[str, tuple[Allowed, ...]] = field(default_factory=dict)
    time: str | None = None
    timezone: str | None = None
    engine: Engine | Spark = "duckdb"

    def __post_init__(self) -> None:
        object.__setattr__(self, "source", Source.of(self.source))

    @property
    def of_rows(self) -> bool:
        """Whether every row is a person of its own, so that the unit of every promise is a row."""
        return self.person is None

    @property
    def many(self) -> Many:
        """What those are called whom an answer is about: ``people``, or ``rows``."""
        return "rows" if self.of_rows else "people"


@dataclass(frozen=True)
class AsksRecords:
    """A question about such a table."""

    records: Records

    @property
    def of_rows(self) -> bool:
        """Whether every row is a person of its own: see `Records.of_rows`."""
        return self.records.of_rows

    @property
    def many(self) -> Many:
        """What those are called whom the answer is about: see `Records.many`."""
        return self.records.many


Windowed = TypeVar("Windowed", bound=AsksRecords)


def in_window(asked: Windowed, start: datetime | date | str | None, end: datetime | date | str | None) -> Windowed:
    """Return the same question of rows from ``start`` up to, but not at, ``end``; of all rows where neither is given."""
    if start is None and end is None:
        return asked
    if start is None or end is None:
        raise SpecError(
            f"A window without {'a start' if start is None else 'an end'}", "it has two ends", "Give start and end"
        )
    if asked.records.time is None:
        raise SpecError("The table names no time column", "a window needs one", "Name the `time` column")
    return replace(asked, window=Window(moment("start", start), moment("end", end)))  # type: ignore[call-arg]  # which each has


@describing
def records(
    source: Given | Source,
    *,
    person: str | None = None,
    combine: Combine = "refuse",
    keep: Mapping[str, Iterable[Allowed]] | None = None,
    time: str | None = None,
    timezone: str | None = None,
    engine: Engine | Spark = "duckdb",
) -> Records:
    """Describe a private table of numbers. See `Records` for what each argument means.

    ``person`` is required: the column that says who, or ``"each row"`` where every row is a person of its own. The promise
    is then about a single row: whoever has several is protected for each of them alone, not for all of them together.

    Raises:
        SpecError: an argument is missing or malformed; nothing has been opened yet.
    """
    if person is None:
        raise no_person("")
    check_choice("combine", combine, get_args(Combine), error=SpecError)
    rows = person == EACH_ROW
    if combine != "refuse" and rows:
        raise SpecError(
            f'combine = "{combine}" with person = "{EACH_ROW}"',
            "every row is then a person of its own, and there is nothing to combine",
            'Name the column that says who, person = "customer", or leave combine out',
        )
    found = Source.of(source)
    if time is None and (timezone is not None or found.time_unit is not None):
        raise SpecError(
            f"{'timezone' if timezone is not None else 'time_unit'} without time",
            "it says how times are read, and no column of them is named",
            "Name the `time` column, or leave it out",
        )
    checked = visits(
        found,
        person="-" if rows else person,
        place="-",
        keep=keep,
        time=time,
        timezone=timezone,
        engine=engine,
    )
    return Records(found, None if rows else person, combine, dict(checked.keep), time, timezone, checked.engine)
