"""Windows that are said beforehand are counted in one pass, and each as if it were asked alone.

The oracle counts each window by itself, in Python. Windows are an hour long, or of a day in a zone where clocks change, or
overlap, or end at odd microseconds, or are so many and so odd that rows and windows are compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.oracle.visits import visitors
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import _slots as slots
from leeward.engine import read_places
from leeward.engine._bind import InDuckDB
from leeward.engine._visits import VisitTable
from leeward.errors import BoundExceededError, SpecError
from leeward.query import count_visitors, places, visits

START = datetime(2024, 3, 30, 20)
PLACES = ["c", "a", "b", "e"]
MODES = [(None, "refuse"), (1, "refuse"), (1, "latest"), (1, "earliest"), (2, "latest"), (2, "earliest")]
PARIS = ZoneInfo("Europe/Paris")


def hours(n: int) -> list[tuple[datetime, datetime]]:
    return [(START + timedelta(hours=i), START + timedelta(hours=i + 1)) for i in range(n)]


def apart(*minutes: tuple[float, float]) -> list[tuple[datetime, datetime]]:
    return [(START + timedelta(minutes=a), START + timedelta(minutes=b)) for a, b in minutes]


HOUR, MOMENT = timedelta(hours=1), timedelta(microseconds=1)
CUTS: dict[str, list[tuple[datetime, datetime]]] = {
    "one": hours(1),
    "hours": hours(6),
    "with gaps, and not in order": apart((120, 180), (0, 30), (200, 201)),
    "overlapping": apart((0, 240), (30, 90), (60, 61), (0, 240), (90, 600)),
    "odd ends": [(START + 7 * MOMENT, START + HOUR + 3 * MOMENT), (START, START + 13 * MOMENT), *hours(2)[1:]],
    "far apart": [(datetime(1, 1, 3), datetime(1, 1, 4)), *hours(2), (datetime(9998, 1, 1), datetime(9998, 1, 2))],
}  # fmt: skip


def rows_near(ends: list[tuple[datetime, datetime]], seed: int, size: int = 400) -> list[dict[str, Any]]:
    """Rows of every kind of flaw, with times at and beside all ends, and in between."""
    chance = random.Random(seed)
    moments = [end + step * MOMENT for pair in ends for end in pair for step in (-1, 0, 1)]
    inside = [first + (end - first) * part / 7 for first, end in ends for part in range(7)]

    def row() -> dict[str, Any]:
        time = chance.choice([*moments, *inside, *inside, None])
        return {
            "person": chance.choice([None, *range(30)]),
            "place": chance.choice([None, "x", *PLACES, *PLACES]),
            "time": time,
            "state": chance.choice(["STAY", "STAY", "MOVE"]),
        }

    return [row() for _ in range(size)]


SCHEMA = pa.schema(
    [("person", pa.int64()), ("place", pa.string()), ("time", pa.timestamp("us")), ("state", pa.string())]
)


def held(rows: list[dict[str, Any]], schema: pa.Schema = SCHEMA, **more: Any) -> tuple[Any, Any]:
    table = pa.Table.from_pylist(rows, schema)
    seen = describe_by(visits, table, person="person", place="place", time="time", keep={"state": ["STAY"]}, **more)
    return seen, places(pa.table({"place": PLACES}), place="place")


def asked(seen: Any, listed: Any, ends: list[tuple[Any, Any]], k: int | None, mode: Any) -> list[Any]:
    return [
        count_visitors(seen, listed, start=first, end=end, places_per_person=k, if_more=mode) for first, end in ends
    ]


def told(opened: VisitTable, query: Any) -> tuple[Any, ...]:
    look, found = opened.look(query), opened.count(query)
    assert (look.dropped, look.taken) == (found.dropped, found.rows_kept)
    try:
        counts = found.counts.tolist()
    except BoundExceededError:
        counts = None
    return counts, found.people_over_bound, found.dropped, found.rows_kept, look.inside, look.share, look.rows


def oracle(
    rows: list[dict[str, Any]], ends: list[tuple[Any, Any]], k: int | None, mode: str, inside: Callable[..., bool]
) -> list[tuple[Any, ...]]:
    found = []
    for pair in ends:
        told = visitors(rows, PLACES, lambda time, pair=pair: inside(time, *pair), {"state": ("STAY",)}, k, mode)
        within = sum(r["state"] == "STAY" and r["time"] is not None and inside(r["time"], *pair) for r in rows)
        found.append((told["counts"], told["over"], told["dropped"], told["kept"], within))
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("limit", [slots.MOST, 0], ids=["slots", "compared"])
@pytest.mark.parametrize("cut", CUTS)
def test_windows_counted_together_are_those_of_the_oracle(
    cut: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "MOST", limit)
    ends = CUTS[cut]
    rows = rows_near(ends, seed=len(cut))
    seen, listed = held(rows)
    for k, mode in MODES:
        queries = asked(seen, listed, ends, k, mode)
        with open_visits(seen, read_places(listed)) as opened:
            opened.expect(queries)
            together = [told(opened, query) for query in queries]
        with open_visits(seen, read_places(listed)) as opened:
            alone = [told(opened, query) for query in queries]
        assert together == alone
        wanted = oracle(rows, ends, k, mode, lambda time, first, end: first <= time < end)
        assert [each[:5] for each in together] == wanted
        if cut == "hours":
            assert len({tuple(each[2].items()) for each in wanted}) > 3, "all windows are alike: nothing is tested"


def test_days_where_clocks_change_are_counted_together() -> None:
    """In Paris the 31 March 2024 has 23 hours: no window is as long as another, and each has its own people."""
    days = [(datetime(2024, 3, day, tzinfo=PARIS), datetime(2024, 3, day + 1, tzinfo=PARIS)) for day in (29, 30)]
    days.append((datetime(2024, 3, 31, tzinfo=PARIS), datetime(2024, 4, 1, tzinfo=PARIS)))
    rows = rows_near([(a.astimezone(UTC), b.astimezone(UTC)) for a, b in days], seed=3)
    seen, listed = held(rows, SCHEMA.set(2, pa.field("time", pa.timestamp("us", "UTC"))))
    queries = asked(seen, listed, days, 1, "latest")
    with open_visits(seen, read_places(listed)) as opened:
        opened.expect(queries)
        together = [told(opened, query)[:5] for query in queries]
    instants = [(a.astimezone(UTC), b.astimezone(UTC)) for a, b in days]
    assert together == oracle(rows, instants, 1, "latest", lambda time, first, end: first <= time < end)


def test_questions_of_other_kinds_keep_to_themselves() -> None:
    """Said together, questions with another bound, or a window of the other kind, are neither mixed nor lost."""
    rows = rows_near(hours(3), seed=8)
    seen, listed = held(rows)
    queries = [each for k, mode in MODES for each in asked(seen, listed, hours(3), k, mode)]
    with open_visits(seen, read_places(listed)) as opened:
        opened.expect(queries)
        together = [told(opened, query)[:5] for query in queries]
    wanted = [
        each
        for k, mode in MODES
        for each in oracle(rows, hours(3), k, mode, lambda time, first, end: first <= time < end)
    ]
    assert together == wanted
    (aware,) = asked(
        seen, listed, [(START.replace(tzinfo=UTC), START.replace(tzinfo=UTC) + timedelta(hours=1))], 1, "latest"
    )
    with open_visits(seen, read_places(listed)) as opened:
        opened.expect([*queries, aware])
        assert told(opened, queries[0])[:5] == wanted[0]
        with pytest.raises(SpecError):
            opened.count(aware)


def test_a_window_that_was_not_said_is_counted_all_the_same() -> None:
    rows = rows_near(hours(3), seed=9)
    seen, listed = held(rows)
    queries = asked(seen, listed, hours(3), 2, "earliest")
    with open_visits(seen, read_places(listed)) as opened:
        opened.expect(queries[:2])
        found = [told(opened, query)[:5] for query in (queries[2], queries[0], queries[1])]
    wanted = oracle(rows, hours(3), 2, "earliest", lambda time, first, end: first <= time < end)
    assert found == [wanted[2], wanted[0], wanted[1]]


def test_one_pass_is_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty windows ask the engine as often as three do."""
    count, fetch = 0, InDuckDB.fetch

    def counting(self: Any, expression: Any) -> Any:
        nonlocal count
        count += 1
        return fetch(self, expression)

    monkeypatch.setattr(InDuckDB, "fetch", counting)
    asks = []
    for n in (3, 60):
        seen, listed = held(rows_near(hours(n), seed=n))
        queries, listed = asked(seen, listed, hours(n), 1, "latest"), read_places(listed)
        with open_visits(seen, listed) as opened:
            count = 0
            opened.expect(queries)
            for query in queries:
                told(opened, query)
        asks.append(count)
    assert asks[0] == asks[1] <= 4
