# SPDX-License-Identifier: Apache-2.0
"""The time column: what it holds, and the stamp of each row.

A text says of itself whether it has an offset from UTC. Without a time zone only one kind of text can be compared with the
window, and which one is said by the window, which is public: what a row means never depends on other rows.

A date does not say at what hour of its day somebody was there. So it can be compared with windows of whole days alone: taken
for midnight, it would leave all other hours of the day empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import ibis
import ibis.expr.datatypes as dt

from leeward._private import Private
from leeward.engine._bound import Bound
from leeward.engine._builtin import epoch_ns, epoch_us
from leeward.engine._engines import Described
from leeward.engine._window import Clock
from leeward.errors import DataError
from leeward.query import Window
from leeward.query._table import TIME_UNITS

if TYPE_CHECKING:
    import ibis.expr.types as ir

_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$"
_OFFSET = r"T?\d\d:\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Times(Private):
    """A time column, read.

    Attributes:
        stamp: of each row, a whole number since 1970 in units of 1/per_second second, rounded down; null where missing or
            unreadable.
        unreadable: whether a row holds something that is not a time.
        clock: what the column holds; None for texts without a time zone, each of which is a reading or an instant.
        per_second: how many stamps there are in a second.
        zoned: whether a row's text has an offset from UTC; None where the column says it for all.
        dated: whether a row says a date and no time of day; None where none does.
    """

    stamp: ir.Value
    unreadable: ir.Value
    clock: Clock | None
    per_second: int
    zoned: ir.Value | None = None
    dated: ir.Value | None = None

    def clock_for(self, window: Window) -> Clock:
        """Return what the rows that can be compared with this window hold."""
        return self.clock or (Clock.INSTANTS if window.aware else Clock.READINGS)

    def columns(self) -> dict[str, ir.Value]:
        """Return what is kept of each row: ``stamp``, ``unreadable_time``, and whether it is ``zoned`` and ``dated``."""
        zoned, dated = (ibis.literal(False) if each is None else each for each in (self.zoned, self.dated))
        return {"stamp": self.stamp, "unreadable_time": self.unreadable, "zoned": zoned, "dated": dated}


def when(rows: ir.Table, table: Described, bound: Bound) -> Times:
    """Read the time column.

    Raises:
        DataError: its type is no time type; or texts with an offset and texts without one are mixed where a time zone would
            let either be compared with the window (a fact about the data: the order of a person's visits is then unclear).
    """
    assert table.time is not None
    values = rows[table.time]
    kind = values.type()
    readable = ibis.literal(False)
    if kind.is_null():
        values = values.cast("string")
        kind = values.type()
    if (unit := table.source.time_unit) is not None:
        per_second = 10**6 // TIME_UNITS[unit]
        if kind.is_string():
            stamp = values.re_search(r"^[+-]?\d+$").ifelse(values, ibis.null()).try_cast("int64")
        elif kind.is_integer():
            stamp = values.try_cast("int64")
        else:
            raise _no_time(table.time, "time_unit is for whole numbers, and the column holds none")
        return Times(stamp, values.notnull() & stamp.isnull(), Clock.EPOCHS, per_second)
    if kind.is_timestamp():
        if table.timezone is None and bound.leaves_open(table.time):
            raise _no_time(
                table.time,
                "its type in Parquet is an old one (INT96, say), which does not say whether times are instants or readings"
                " of a clock: Spark writes instants, as UTC shows them, and other programs readings",
                'Name `timezone`: "UTC" for files that Spark wrote, else the zone of the clock',
            )
        clock = Clock.READINGS if kind.timezone is None else Clock.INSTANTS
        if (kind.scale or 0) > 6:
            return Times(epoch_ns(values), readable, clock, 10**9)
        micros = values.try_cast(dt.Timestamp(timezone=kind.timezone, scale=6))  # seconds may reach beyond them
        return Times(epoch_us(micros), values.notnull() & micros.isnull(), clock, 10**6)
    if kind.is_unknown() and "TIMESTAMPTZ_NS" in str(kind):
        # Ibis has no name for DuckDB's type of instants in nanoseconds.
        return Times(epoch_ns(values), readable, Clock.INSTANTS, 10**9)
    if kind.is_date():
        micros = values.try_cast("timestamp")
        unreadable = values.notnull() & micros.isnull()
        return Times(epoch_us(micros), unreadable, Clock.READINGS, 10**6, dated=ibis.literal(True))
    if kind.is_string():
        return _written(values, table, bound)
    if kind.is_integer():
        raise _no_time(
            table.time, "the column holds whole numbers, which may count seconds or less", "Name `time_unit`"
        )
    raise _no_time(table.time, "the column does not hold times")


def _written(values: ir.Value, table: Described, bound: Bound) -> Times:
    """Times written as ISO 8601 texts, to the microsecond."""
    assert table.time is not None
    # The cast takes a text without an offset as UTC, so the stamp of a reading is that of the reading itself.
    stamp = epoch_us(values.re_search(_ISO).ifelse(values, ibis.null()).try_cast(dt.Timestamp(timezone="UTC")))
    zoned = values.re_search(_OFFSET) & stamp.notnull()
    unreadable, dated = values.notnull() & stamp.isnull(), stamp.notnull() & (values.length() == len("2012-04-04"))
    if table.timezone is None:
        return Times(stamp, unreadable, None, 10**6, zoned, dated)
    found = values.as_table().aggregate(zoned=zoned.any(), plain=(~zoned & stamp.notnull()).any())
    (row,) = bound.fetch(found).to_pylist()
    if row["zoned"] and row["plain"]:
        raise _no_time(
            table.time,
            "some of its times have an offset from UTC and some have none (that it is refused is a fact about the data: do"
            " not publish it)",
            "Write all of them the same way",
        )
    return Times(stamp, unreadable, Clock.INSTANTS if row["zoned"] else Clock.READINGS, 10**6, dated=dated)


def _no_time(column: str, because: str, instead: str = "") -> DataError:
    return DataError(
        f"time = '{column}'",
        because,
        instead
        or "Name a column of timestamps, of ISO texts such as 2012-04-04T19:00:00, or of integers with time_unit",
    )
