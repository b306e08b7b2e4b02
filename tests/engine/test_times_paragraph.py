"""What `docs/spec.md` says of times, over the complete grid: kinds of column × kinds of window × `timezone` × `time_unit`.

The oracle is that paragraph, written as a function; every sentence that it rests on must stand in the page.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import read_places, refuse_doubtful
from leeward.errors import DataError, DoubtfulDataError, SpecError
from leeward.query import count_visitors, places, visits

PAGE = Path(__file__).parent.parent.parent / "docs" / "spec.md"

SENTENCES = (
    "Times without an offset need a window without one, times with a zone a window with an offset.",
    "A column of the other kind is refused unless `timezone` or `time_unit` settles it (with `time_unit` alone, a window"
    " without an offset is in UTC); the statement names the zone.",
    "In a column of text each row says it for itself. Rows of the other kind than the window are not counted: you are told"
    " how many, and if they are more than 1 %, the release stops first.",
    "With `timezone`, a column of text that has both kinds is refused.",
)

INSTANT = datetime(2012, 4, 4, 10, 30, tzinfo=UTC)
"""In Tokyo it is 19:30."""

STAMP = int(INSTANT.timestamp())
READING = {"Asia/Tokyo": "2012-04-04T19:30", None: "2012-04-04T10:30"}


def column(kind: str, zone: str | None) -> pa.Array:
    """Two rows of the moment: without an offset, it is the reading of a clock in the zone."""
    reading = datetime.fromisoformat(READING[zone])
    return {
        "readings": pa.array([reading] * 2, pa.timestamp("us")),
        "instants": pa.array([INSTANT] * 2, pa.timestamp("us", "UTC")),
        "integers": pa.array([STAMP] * 2, pa.int64()),
        "text without": pa.array([READING[zone]] * 2),
        "text with": pa.array(["2012-04-04T10:30:00Z", "2012-04-04T19:30:00+09:00"]),
        "text of both": pa.array([READING[zone], "2012-04-04T10:30:00Z"]),
    }[kind]


KINDS = ("readings", "instants", "integers", "text without", "text with", "text of both")
REFUSED = "refused"


def said(kind: str, aware: bool, zone: str | None, unit: str | None) -> Any:
    """How many of the two rows count, as the page says; or that it is refused."""
    if kind == "integers":
        return 2 if unit else REFUSED
    if unit:
        return "no integers"
    with_offset = {"instants": 2, "text with": 2, "text of both": 1}.get(kind, 0)
    if zone is not None:
        return REFUSED if kind == "text of both" else 2
    fits = with_offset if aware else 2 - with_offset
    return fits if kind.startswith("text") or fits else REFUSED


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_does_what_the_page_says_of_times(kind: str) -> None:
    outcomes = set()
    for aware, zone, unit in itertools.product((False, True), (None, "Asia/Tokyo"), (None, "s")):
        wanted = said(kind, aware, zone, unit)
        if wanted == "no integers":
            continue
        hour = "19" if zone else "10"
        window = (
            ("2012-04-04T10:00Z", "2012-04-04T11:00Z") if aware else (f"2012-04-04T{hour}:00", f"2012-04-04T{hour}:59")
        )
        data = pa.table({"u": [1, 2], "p": ["a", "a"], "t": column(kind, zone)})
        seen = describe_by(visits, data, person="u", place="p", time="t", timezone=zone, time_unit=unit)
        listed = places(pa.table({"p": ["a"]}), place="p")
        query = count_visitors(seen, listed, start=window[0], end=window[1])
        if wanted == REFUSED:
            with pytest.raises((DataError, SpecError)), open_visits(seen, read_places(listed)) as table:
                table.count(query)
        else:
            with open_visits(seen, read_places(listed)) as table:
                found, look = table.count(query), table.look(query)
                assert (int(found.counts[0]), found.dropped["incomparable_time"]) == (wanted, 2 - wanted)
                if wanted < 2:
                    with pytest.raises(DoubtfulDataError):
                        refuse_doubtful([look])
        outcomes.add(wanted)
    assert len(outcomes) > 1 or kind == "integers", "all is alike: the grid says nothing"


def test_the_page_says_so() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for sentence in SENTENCES:
        assert sentence in page


@pytest.mark.parametrize(("n", "stops"), [(100, False), (99, True)])
def test_it_stops_over_one_in_a_hundred(n: int, stops: bool) -> None:
    times = ["2012-04-04T10:30"] * (n - 1) + ["2012-04-04T10:30Z"]
    data = pa.table({"u": list(range(n)), "p": ["a"] * n, "t": times})
    seen, listed = visits(data, person="u", place="p", time="t"), places(pa.table({"p": ["a"]}), place="p")
    query = count_visitors(seen, listed, start="2012-04-04T10:00", end="2012-04-04T11:00")
    with open_visits(seen, read_places(listed)) as table:
        if stops:
            with pytest.raises(DoubtfulDataError):
                refuse_doubtful([table.look(query)])
        else:
            refuse_doubtful([table.look(query)])
