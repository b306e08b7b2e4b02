"""Statistics of windows: those that are said beforehand are counted in one pass, and each as if it were asked alone.

The oracle (`tests.oracle.numbers`) sees, of each window, the rows that lie in it, one after another in Python.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.oracle import numbers as oracle
from tests.sources import describe_by

import leeward as lw
from leeward.engine import _slots as slots
from leeward.engine import open_data, read_keys
from leeward.errors import BoundExceededError, SpecError

START = datetime(2024, 3, 30, 20)
MOMENT = timedelta(microseconds=1)
Ends = Sequence[tuple[datetime, datetime]]

CUTS: Mapping[str, list[tuple[float, float]]] = {
    "one": [(0, 60)],
    "hours": [(60 * i, 60 * i + 60) for i in range(4)],
    "with gaps, and not in order": [(120, 180), (0, 30), (200, 201)],
    "overlapping": [(0, 240), (30, 90), (60, 61)],
}
KINDS: Mapping[str, dict[str, Any]] = {
    "sum": {"step": "1"},
    "mean": {"step": "1/2"},
    "variance": {"step": "1"},
    "median": {"step": "1/4"},
    "histogram": {"step": "2"},
}


def ends_of(cut: str) -> list[tuple[datetime, datetime]]:
    return [(START + timedelta(minutes=a), START + timedelta(minutes=b)) for a, b in CUTS[cut]]


def rows_near(ends: Ends, seed: int, size: int = 250) -> list[dict[str, Any]]:
    """Rows of every kind of flaw, with times at and beside all ends, and in between."""
    chance = random.Random(seed)
    moments = [end + step * MOMENT for pair in ends for end in pair for step in (-1, 0, 1)]
    inside = [first + (end - first) * part / 7 for first, end in ends for part in range(7)]

    def row() -> dict[str, Any]:
        return {
            "person": chance.choice([None, *range(40)]),
            "number": chance.choice([None, float("nan"), -9.0, 0.0, 0.25, 1.75, 3.5, 7.0, 99.0]),
            "group": chance.choice(["a", "b", "b", "c", None]),
            "state": chance.choice(["in", "in", "in", "out"]),
            "time": chance.choice([*moments, *inside, *inside, None]),
        }

    return [row() for _ in range(size)]


def table(rows: list[dict[str, Any]], zone: str | None = None) -> pa.Table:
    kinds = [("person", pa.int64()), ("number", pa.float64()), ("group", pa.string()), ("state", pa.string())]
    return pa.Table.from_pylist(rows, pa.schema([*kinds, ("time", pa.timestamp("us", zone))]))


def asked(held: pa.Table, kind: str, ends: Ends, person: str, combine: str, **more: Any) -> list[Any]:
    people = describe_by(lw.records, held, person=person, combine=combine, keep={"state": ["in"]}, time="time", **more)
    how = {"column": "number", "lower": 0, "upper": 8, **KINDS[kind], "by": "group", "groups": ["a", "b"]}
    return [statistic_by(people, kind, **how, start=first, end=end) for first, end in ends]


def told(opened: Any, query: Any) -> tuple[Any, ...]:
    look = opened.look(query)
    try:
        found = opened.exactly(query, "answer")
    except BoundExceededError:
        return None, dict(look.dropped), look.taken
    assert (look.dropped, look.taken) == (found.dropped, found.rows_kept)
    return found.counts.tolist(), dict(found.dropped), found.rows_kept, found.people_over_bound


def together_and_alone(queries: list[Any]) -> list[tuple[Any, ...]]:
    keys = read_keys(queries[0])
    with open_data(queries[0], keys) as opened:
        opened.expect(queries)
        together = [told(opened, query) for query in queries]
    with open_data(queries[-1], keys) as opened:
        assert [told(opened, query) for query in queries] == together
    return together


def wanted(rows: list[dict[str, Any]], kind: str, pair: tuple[datetime, datetime], person: str, combine: str) -> Any:
    """What the rows inside say; and of those outside, why they are."""
    first, end = pair
    ask: dict[str, Any] = {"kind": kind, "lower": Fraction(0), "upper": Fraction(8), "groups": ["a", "b"]}
    ask |= {"step": Fraction(KINDS[kind]["step"]), "keep": {"state": ["in"]}}
    if person != "each row":
        ask["combine"] = combine
    else:
        rows = [{**row, "person": 0} for row in rows]
    kept = [row for row in rows if row["state"] == "in"]
    named = [row for row in kept if row["person"] is not None]
    timed = [row for row in named if row["time"] is not None]
    inside = [row for row in timed if first <= row["time"] < end]
    counted, dropped, several = oracle.records(inside, ask)
    dropped |= {"filtered": len(rows) - len(kept), "null_person": len(kept) - len(named)}
    dropped |= {"null_time": len(named) - len(timed), "outside_window": len(timed) - len(inside)}
    dropped |= {"unreadable_time": 0, "incomparable_time": 0, "date_alone": 0}
    taken = len(rows) - sum(dropped.values())
    if counted is None:
        return None, dropped, taken
    published = oracle.answer(counted, ask)
    assert published is not None
    return published, dropped, taken, several


def in_steps(kind: str, answers: list[int]) -> list[Fraction]:
    """What the engine's integers stand for."""
    step = Fraction(KINDS[kind]["step"])
    return [n * step if kind in ("sum", "median") else Fraction(n) for n in answers]


@pytest.mark.sweep
@pytest.mark.parametrize("limit", [slots.MOST, 0], ids=["slots", "compared"])
@pytest.mark.parametrize("cut", CUTS)
def test_windows_counted_together_are_those_of_the_oracle(
    cut: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "MOST", limit)
    ends = ends_of(cut)
    rows = rows_near(ends, seed=len(cut))
    kinds = list(KINDS) if limit else ["sum"]
    ways = [("person", "max"), ("person", "min"), ("person", "refuse"), ("each row", "refuse")]
    chosen = random.Random(cut).sample([(kind, *way) for kind in kinds for way in ways], 6 if limit else 3)
    for kind, person, how in chosen:
        together = together_and_alone(asked(table(rows), kind, ends, person, how))
        for (answers, *rest), pair in zip(together, ends, strict=True):
            published, *others = wanted(rows, kind, pair, person, how)
            assert rest == others, (kind, person, how, pair)
            assert (None if answers is None else in_steps(kind, answers)) == published, (kind, person, how, pair)


def test_whoever_has_several_rows_may_have_one_in_each_window() -> None:
    """``combine = "refuse"`` is about the rows of a window: one a day is one a day."""
    days = [(START + timedelta(days=d), START + timedelta(days=d + 1)) for d in range(3)]
    rows = [
        {"person": p, "number": 1.0, "group": "a", "state": "in", "time": START + timedelta(days=d, hours=1)}
        for p in range(5)
        for d in range(3)
    ]
    together = together_and_alone(asked(table(rows), "sum", days, "person", "refuse"))
    assert [answers for answers, *_ in together] == [[5, 0]] * 3
    whole = lw.statistic(lw.records(table(rows), person="person"), "sum", column="number", lower=0, upper=8)
    with open_data(whole, read_keys(whole)) as opened, pytest.raises(BoundExceededError, match="5 people have more"):
        opened.exactly(whole, "answer")


def test_a_sum_of_somebodys_rows_is_that_of_the_window() -> None:
    rows = [
        {"person": 1, "number": n, "group": "b", "state": "in", "time": START + timedelta(minutes=m)}
        for n, m in ((1.0, 0), (2.0, 59), (3.0, 60), (99.0, 200))
    ]
    together = together_and_alone(asked(table(rows), "sum", ends_of("hours")[:2], "person", "sum"))
    assert [answers for answers, *_ in together] == [[0, 3], [0, 3]]


def test_days_where_clocks_change() -> None:
    """In Paris the 31 March 2024 has 23 hours; texts and instants are read in the zone that the table names."""
    paris = ZoneInfo("Europe/Paris")
    days = [(datetime(2024, 3, day), datetime(2024, 3, day) + timedelta(days=1)) for day in (29, 30, 31)]
    local = [(first.replace(tzinfo=paris), end.replace(tzinfo=paris)) for first, end in days]
    instants = [(a.astimezone(UTC), b.astimezone(UTC)) for a, b in local]
    rows = rows_near(instants, seed=5)
    queries = asked(table(rows, "UTC"), "mean", days, "each row", "refuse", timezone="Europe/Paris")
    found = together_and_alone(queries)
    assert found == [tuple(wanted(rows, "mean", pair, "each row", "refuse")) for pair in instants]
    texts = [{**row, "time": None if row["time"] is None else row["time"].isoformat()} for row in rows]
    held = table([{**row, "time": None} for row in rows])
    held = held.set_column(4, "time", pa.array([row["time"] for row in texts], pa.string()))
    assert together_and_alone(asked(held, "mean", local, "each row", "refuse")) == found


def test_rows_of_the_other_kind_of_time_are_told() -> None:
    rows = rows_near(ends_of("one"), seed=1, size=20)
    held = table([{**row, "time": None} for row in rows])
    times = ["2024-03-30T20:10", "2024-03-30T20:10Z", "tomorrow", None] * 5
    held = held.set_column(4, "time", pa.array(times, pa.string()))
    (query,) = asked(held, "sum", ends_of("one"), "each row", "refuse")
    with open_data(query, read_keys(query)) as opened:
        dropped = opened.look(query).dropped
    kept = [time for time, row in zip(times, rows, strict=True) if row["state"] == "in"]
    assert dropped["incomparable_time"] == kept.count(times[1])
    assert dropped["unreadable_time"] == kept.count("tomorrow")
    assert dropped["null_time"] == kept.count(None)


def test_a_window_that_does_not_go_with_the_column_is_refused() -> None:
    rows = rows_near(ends_of("one"), seed=1, size=20)
    ((first, end),) = ends_of("one")
    aware = [(first.replace(tzinfo=UTC), end.replace(tzinfo=UTC))]
    (query,) = asked(table(rows), "sum", aware, "each row", "refuse")
    with open_data(query, read_keys(query)) as opened, pytest.raises(SpecError, match="cannot be compared"):
        opened.look(query)
