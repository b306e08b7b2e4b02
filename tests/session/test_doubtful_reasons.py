"""Every reason why a row takes no part, beside the guard for "nothing counts": at which share of the rows it stops.

The grid is complete over the reasons: what is a mistake of writing stops above 1 % of the rows that pass the filter; what
may be as it should be stops where under 1 % of the rows inside the window count. A time far away, or rows that the filter
leaves out, change nothing.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from leeward.engine import open_data, read_keys, refuse_doubtful
from leeward.errors import DoubtfulDataError
from leeward.query import count_visitors, places, records, statistic, visits
from leeward.query._reasons import OF_NUMBERS, OF_VISITS

ROWS = 1000
AT = "2026-03-02T19:05"
ROW = {"user": "a", "lat": "35.5", "lon": "139.5", "venue": "pool", "when": AT, "state": "in"}
LISTED = places(pa.table({"venue": ["pool", "market"]}), place="venue")

# What is wrong with a row, and from which number of such rows of a thousand it stops; None: never, as long as others count.
VISITS: dict[str, tuple[dict[str, Any], int | None]] = {
    "filtered": ({"state": "out"}, None),
    "null_person": ({"user": None}, 11),
    "unreadable_time": ({"when": "02/03/2026 19:05"}, 11),
    "null_time": ({"when": None}, 11),
    "incomparable_time": ({"when": AT + "Z"}, 11),
    "date_alone": ({"when": "2026-03-02"}, 11),
    "outside_window": ({"when": "2026-03-02T12:00"}, None),
    "unreadable_place": ({"lat": "35,5"}, 11),
    "null_place": ({"lat": None, "venue": None}, 991),
    "unknown_place": ({"lat": "80", "venue": "POOL"}, 991),
}
NUMBERS: dict[str, tuple[dict[str, Any], int | None]] = {
    "filtered": ({"state": "out"}, 991),
    "null_person": ({"user": None}, 11),
    "unknown_group": ({"sex": "f"}, 991),
    "unreadable_number": ({"pay": "1,234.50"}, 11),
    "no_number": ({"pay": None}, 991),
}


def test_the_grid_names_every_reason() -> None:
    assert list(VISITS) == list(OF_VISITS)
    assert list(NUMBERS) == list(OF_NUMBERS)


def table(good: dict[str, Any], bad: dict[str, Any], wrong: int, beside: list[dict[str, Any]]) -> pa.Table:
    rows = [good | bad] * wrong + [good] * (ROWS - wrong) + [good | each for each in beside]
    named = [row | {"user": row["user"] and f"u{i}"} for i, row in enumerate(rows)]
    return pa.table({name: pa.array([row[name] for row in named], pa.string()) for name in good})


def stops(query: Any) -> str:
    keys = read_keys(query)
    with open_data(query, keys) as opened:
        try:
            refuse_doubtful([opened.look(query)])
        except DoubtfulDataError as stopped:
            return str(stopped)
    return ""


def grid() -> Any:
    from leeward.query import Grid

    return Grid(west=139, south=35, east=140, north=36, metres=50_000)


BESIDE = {
    "nothing": [],
    "a time long ago": [{"when": "1970-01-01T00:00"}],
    "a time far ahead": [{"when": "9999-12-30T00:00"}],
    "many that the filter leaves out": [{"state": "out"}] * 400,
}


@pytest.mark.sweep
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("reason", VISITS)
def test_visits_stop_where_a_reason_takes_too_many(reason: str, beside: str) -> None:
    bad, first = VISITS[reason]
    degrees = reason == "unreadable_place"
    where = {"latitude": "lat", "longitude": "lon"} if degrees else {"place": "venue"}
    for wrong in (9, 12, 985, 995):
        data = table(ROW, bad, wrong, BESIDE[beside])
        seen = visits(data, person="user", time="when", keep={"state": ["in"]}, **where)
        query = count_visitors(
            seen,
            grid() if degrees else LISTED,
            start="2026-03-02T19:00",
            end="2026-03-02T20:00",
            places_per_person=1,
            if_more="latest",
        )
        said = stops(query)
        if first is not None:
            assert bool(said) == (wrong >= first), (wrong, said)
            assert not said or f"{wrong:,} row" in said
    assert stops(
        count_visitors(
            visits(table(ROW, bad, ROWS, []), person="user", time="when", keep={"state": ["in"]}, **where),
            grid() if degrees else LISTED,
            start="2026-03-02T19:00",
            end="2026-03-02T20:00",
            places_per_person=1,
        )
    )


@pytest.mark.parametrize("left_out", [0, 400])
@pytest.mark.parametrize("reason", NUMBERS)
def test_numbers_stop_where_a_reason_takes_too_many(reason: str, left_out: int) -> None:
    good = {"user": "a", "pay": "950.00", "sex": "F", "state": "in"}
    bad, first = NUMBERS[reason]
    for wrong in (9, 12, 985, 995):
        held = records(
            table(good, bad, wrong, [{"state": "out"}] * left_out), person="user", combine="sum", keep={"state": ["in"]}
        )
        query = statistic(held, "sum", column="pay", lower="0", upper="2000", by={"sex": ["F", "M"]})
        said = stops(query)
        assert bool(said) == (first is not None and wrong >= first), (wrong, said)
        assert not said or f"{wrong + left_out * (reason == 'filtered'):,} row" in said


@pytest.mark.sweep
@pytest.mark.parametrize("text", ["1,234.50", "7 EUR", "1'000", "0x1F", "٣", "--7", "true", ""])
def test_a_text_that_is_no_number_is_told_from_one_that_is_missing(text: str) -> None:
    for held, reason in ((text, "unreadable_number"), (None, "no_number"), ("nan", "no_number")):
        data = pa.table({"id": ["a"], "n": pa.array([held], pa.string())})
        query = statistic(records(data, person="id", combine="sum"), "sum", column="n", lower="0", upper="10")
        with open_data(query, read_keys(query)) as opened:
            assert {r for r, n in opened.count(query).dropped.items() if n} == {reason}
