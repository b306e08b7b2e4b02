# SPDX-License-Identifier: Apache-2.0
"""The readings of a table as integers: which meter, which slot of the schedule, how many steps of the public grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward.errors import DataError, InputError
from leeward.local._hardly_any import hardly_any
from leeward.local.series._grid import Integers, ReadingGrid
from leeward.local.series._schedule import Schedule
from leeward.tables._columns import check_named

Missing = Literal["refuse", "keep"]


@dataclass(frozen=True)
class Columns:
    """The names of the columns of readings.

    Attributes:
        time: when.
        value: how much.
        meter: of which meter; None where there is one.
    """

    time: str
    value: str
    meter: str | None = None

    @property
    def names(self) -> list[str]:
        """The columns that are read."""
        return [name for name in (self.meter, self.time, self.value) if name is not None]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Readings(Private):
    """Readings of a table, one entry for each of its rows that lie in the period.

    Attributes:
        rows: which rows of the table they are.
        meters: the meters, in the order of their names.
        meter: the place of each reading's meter among them.
        slot: the slot of the schedule.
        steps: the reading, in grid steps; any value where there is none.
        there: whether there is one.
        beyond: how many were beyond the public bounds: for the curator only.
    """

    rows: Integers
    meters: list[Any]
    meter: Integers
    slot: Integers
    steps: Integers
    there: NDArray[np.bool_]
    beyond: int

    def __len__(self) -> int:
        return len(self.rows)

    def of(self, which: Integers) -> Readings:
        """Return some of the readings, by their places among all; who the meters are stays."""
        steps, there = self.steps[which], self.there[which]
        return Readings(self.rows[which], self.meters, self.meter[which], self.slot[which], steps, there, self.beyond)

    def notes(self, left_out: int, missing: int = 0) -> list[str]:
        """Return what to tell the curator.

        Args:
            left_out: how many rows of the table were not in the period.
            missing: of totals, how many readings of the period there are none of.
        """
        facts = {
            "rows outside the period were left out": left_out,
            "readings were beyond the bounds and moved to them": self.beyond,
            "readings of the period are missing, and add nothing to the totals": missing,
        }
        return [f"for the curator only: {number:,} {what}" for what, number in facts.items() if number]


def read_readings(table: Any, columns: Columns, grid: ReadingGrid, schedule: Schedule, missing: Missing) -> Readings:
    """Return the readings of a pyarrow table, checked.

    Raises:
        DataError: a column is missing or holds something else; two readings are of one meter and time; some are missing,
            unless they are kept so.
    """
    find_columns(columns, table.column_names)
    slot = schedule.slots_of(table[columns.time].combine_chunks(), columns.time)
    rows = np.flatnonzero(slot >= 0)
    if table.num_rows and not len(rows):
        raise DataError(
            "No row of the table lies in the period (this is for the curator only)",
            "nothing would be published, or noise alone",
            "Check the start and the end of the period, and the column of times",
        )
    slot = slot[rows]
    values, there = numbers_of(table[columns.value], columns.value)
    values, there = values[rows], there[rows]
    meters, meter = list[Any]([None]), np.zeros(len(rows), np.int64)
    if columns.meter is not None:
        meters, meter = ordered_names(table[columns.meter], columns.meter, rows)
    _check_distinct(meter * schedule.slots + slot)
    if missing == "refuse" and (not there.all() or len(rows) < len(meters) * schedule.slots):
        raise DataError(
            "Some readings are missing (this is for the curator only)",
            f"every meter should have all {schedule.slots:,} of the period",
            'Say missing = "keep": they stay missing, and it shows which, or add nothing to totals; or fill them in with a'
            " public value",
        )
    steps, beyond = grid.steps(values[there])
    if hardly_any(len(steps) - beyond, len(steps)):
        raise DataError(
            "Under 1 % of the readings lie within the public bounds (this is for the curator only)",
            "all others would be published as if they were at a bound",
            "Check the bounds, and the unit of the column",
        )
    filled = np.full(len(rows), grid.lowest, np.int64)
    filled[there] = steps
    return Readings(rows, meters, meter, slot, filled, there, beyond)


def find_columns(columns: Columns, known: list[str], *, in_first_line: bool = False) -> None:
    """Refuse names that are not columns; those in the first line of a file of text may be a row of data."""
    check_named(columns.names, known, in_first_line=in_first_line)
    if len(set(columns.names)) < len(columns.names):
        raise InputError("One column named twice", "meter, time and value are three", "Name each once")


def numbers_of(column: Any, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return a column as numbers, and which of them are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_decimal(column.type) or pa.types.is_uint64(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_integer(column.type):
        return pc.fill_null(column, 0).cast(pa.int64()).to_numpy(), ~column.is_null().to_numpy()
    if not pa.types.is_floating(column.type):
        raise DataError(f"The column '{name}'", "it holds something else than numbers", "Give readings as numbers")
    values: NDArray[np.float64] = pc.fill_null(column.cast(pa.float64()), float("nan")).to_numpy()
    if np.isinf(values).any():
        raise DataError(
            f"Infinite readings in '{name}' (this is for the curator only)",
            "a reading is a finite number",
            "Correct them",
        )
    there = ~np.isnan(values)
    return np.where(there, values, 0.0), there


def ordered_names(column: Any, name: str, rows: Integers) -> tuple[list[Any], Integers]:
    """Return the distinct names in some rows of a column, in order, and each row's place among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    others = (pa.types.is_fixed_size_binary, pa.types.is_primitive, pa.types.is_decimal, pa.types.is_null)
    if not any(is_one(kind) for is_one in (*texts, *others)):
        raise DataError(
            f"The column '{name}'", f"it holds {kind}, which names nobody", "Give names as texts or whole numbers"
        )
    held = column.take(rows).combine_chunks()
    if pa.types.is_dictionary(held.type):
        held = held.dictionary_decode()  # in which one name may stand twice, or be missing
    if pa.types.is_floating(held.type):
        held = pc.add(held, pa.scalar(0.0, held.type))  # of -0.0, which is another text, it makes 0.0
        held = pc.if_else(pc.is_nan(held), pa.scalar(None, held.type), held)
    if held.null_count:
        raise DataError(
            f"The column '{name}'", "some rows say nothing (this is for the curator only)", "Leave those rows out"
        )
    coded = held.dictionary_encode()
    names = coded.dictionary.to_pylist()
    codes = coded.indices.to_numpy().astype(np.int64)
    used = np.unique(codes)
    order = sorted(used.tolist(), key=lambda code: names[code])
    place = np.empty(len(names), np.int64)
    place[order] = np.arange(len(order))
    return [names[code] for code in order], place[codes]


def _check_distinct(keys: Integers) -> None:
    if len(np.unique(keys)) < len(keys):
        raise DataError(
            "Two readings of one meter at one time (this is for the curator only)",
            "each would get its own noise, and the promise is about one; where clocks are set back, local times without"
            " an offset come twice",
            "Leave one out; or write times with their offset from UTC, and name the zone",
        )
