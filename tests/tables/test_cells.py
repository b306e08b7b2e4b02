"""Columns of single values: where whole numbers end to be exact, and to what a time in a sheet is read."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from leeward.errors import DataError
from leeward.tables._cells import column

NOON = dt.datetime(2026, 1, 1, 12)
MICROSECOND = dt.timedelta(microseconds=1)


def read(*values: Any) -> pa.Array:
    return column("x", [(value, ("t.xlsx", line)) for line, value in enumerate(values, 2)])


@pytest.mark.parametrize(
    ("off", "told"), [(-300, 0), (300, 0), (499, 0), (501, 1000), (999_499, 999_000), (999_501, 1_000_000)]
)
def test_times_are_read_to_the_nearest_millisecond(off: int, told: int) -> None:
    """A float of days is some microseconds beside the time that was meant: also before it, and over a full second."""
    assert read(NOON + off * MICROSECOND).to_pylist() == [NOON + told * MICROSECOND]


def test_the_first_number_of_which_a_float_is_two_is_refused() -> None:
    assert read(2**53 - 1, 0.5).to_pylist() == [2.0**53 - 1, 0.5]
    assert read(2.0**53 - 1).to_pylist() == [2**53 - 1]
    assert read(2**53).to_pylist() == [2**53]  # written as a whole number, in GeoJSON
    for values in ((2**53, 0.5), (2.0**53,), (-(2.0**53),), (-(2**53), 0.5)):
        with pytest.raises(DataError, match="several whole numbers are one"):
            read(*values)


def test_half_a_character_is_refused_and_not_shown() -> None:
    """GeoJSON may write one; it ended in an error of Python's, which holds the text, and asked for a report."""
    assert read("", "a\0", None).to_pylist() == ["", "a\0", None]
    with pytest.raises(DataError, match="half a character") as refused:
        read("ann\ud800")
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (
            (None, dt.time(8, 30), dt.time(9)),
            "holds times of day in row 3: these are not read. Write all of them as dates",
        ),
        ((dt.timedelta(hours=30),), "holds lengths of time in row 2: these are not read. Write all of them in one way"),
        ((1, "a", dt.time(8)), "holds times of day in row 4: these are not read"),
        ((1, "a", NOON), "holds texts in row 3, and numbers before: one column has one kind of values"),
    ],
)
def test_why_a_column_is_not_read_is_said_as_it_is(values: tuple[Any, ...], said: str) -> None:
    """A column of nothing but times of day was refused as one of several kinds, and for what Python calls them."""
    with pytest.raises(DataError) as refused:
        column("x", [(value, ("t.xlsx", line)) for line, value in enumerate(values, 2)], "row")
    assert said in str(refused.value)
