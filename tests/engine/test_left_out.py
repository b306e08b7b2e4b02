"""How many people a bound leaves out: the engine against a slow count, and along every withdrawal of one person."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from tests.oracle.left_out import crowds

import leeward as lw
from leeward.engine import open_data, read_keys

PLACES = "abcd"
START = datetime(2026, 1, 1, 18)


def rows_of(draw: random.Random, people: int) -> pd.DataFrame:
    """Visits of a few people, some at once, some at no listed place, at another time, or of nobody."""
    rows = []
    for person in [*(f"p{i}" for i in range(people)), None]:
        for _ in range(draw.randrange(7)):
            at = START + timedelta(minutes=draw.choice([-5, 0, 10, 10, 20, 30, 59, 60, 70, 119]))
            rows.append((person, draw.choice([*PLACES, *PLACES, "zz", None]), at))
    return pd.DataFrame(rows, columns=["user", "venue", "at"]).astype({"user": "object", "venue": "object"})


def query(rows: pd.DataFrame, k: int, if_more: str, hour: int = 0) -> lw.query.CountVisitors:
    listed = lw.places(pd.DataFrame({"venue": list(PLACES)}), place="venue")
    seen = lw.visits(rows, person="user", place="venue", time="at")
    start, end = (START + timedelta(hours=hour + more) for more in (0, 1))
    return lw.count_visitors(seen, listed, start=start, end=end, places_per_person=k, if_more=if_more)  # type: ignore[arg-type]


def itineraries(rows: pd.DataFrame, if_more: str, hour: int) -> list[str]:
    """The listed places of each person in one hour, in the order in which they are kept."""
    start = START + timedelta(hours=hour)
    found: dict[str, list[tuple[datetime, str]]] = {}
    for person, place, at in rows.itertuples(index=False):
        if (
            isinstance(person, str)
            and isinstance(place, str)
            and place in PLACES
            and start <= at < start + timedelta(hours=1)
        ):
            found.setdefault(person, []).append((at, place))
    late = if_more == "latest"
    ways = []
    for visits in found.values():
        chosen = {p: (max if late else min)(at for at, q in visits if q == p) for _, p in visits}
        ways.append(
            "".join(sorted(chosen, key=lambda p: (-chosen[p].timestamp() if late else chosen[p].timestamp(), p)))
        )
    return ways


def drawn_from(asked: lw.query.CountVisitors) -> list[int]:
    with open_data(asked, read_keys(asked)) as table:
        return [int(n) for n in table.exactly(asked, "answer and left out").counts]


@pytest.mark.parametrize("seed", range(8))
def test_it_is_what_a_slow_count_finds(seed: int) -> None:
    draw = random.Random(seed)
    rows = rows_of(draw, 6)
    for if_more in ("latest", "earliest"):
        for k in (1, 2, 3):
            queries = [query(rows, k, if_more, hour) for hour in (0, 1)]
            with open_data(queries[0], read_keys(queries[0])) as table:
                table.expect(queries)
                for hour, asked in enumerate(queries):
                    _, counted, left_out = crowds(itineraries(rows, if_more, hour), PLACES, k)
                    ways = ("answer", "answer and left out")  # whichever is asked first
                    told = {way: table.exactly(asked, way) for way in (ways if seed % 2 else ways[::-1])}
                    usual, exactly = (told[way] for way in ways)
                    assert exactly.counts.tolist() == [*counted, left_out]
                    assert usual.counts.tolist() == counted
                    assert (exactly.people_over_bound, exactly.dropped) == (usual.people_over_bound, usual.dropped)


@pytest.mark.sweep
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("if_more", ["latest", "earliest"])
def test_withdrawing_anybody_lowers_it_by_at_most_one(k: int, if_more: str) -> None:
    fell = 0
    for seed in range(5):
        rows = rows_of(random.Random(100 + seed), 4)
        before = drawn_from(query(rows, k, if_more))
        for person in rows.user.dropna().unique():
            after = drawn_from(query(rows[rows.user != person], k, if_more))
            falls = [x - y for x, y in zip(before, after, strict=True)]
            assert all(fall in (0, 1) for fall in falls)
            assert sum(falls[:-1]) <= k
            fell += falls[-1]
    assert fell > 0


def test_nobody_is_left_out_of_an_empty_window() -> None:
    rows = rows_of(random.Random(5), 3)
    assert drawn_from(query(rows, 1, "latest", hour=9)) == [0, 0, 0, 0, 0]


def test_cells_of_a_grid_leave_people_out_as_places_do() -> None:
    at = [START, START + timedelta(minutes=5)]
    rows: Any = pd.DataFrame({"user": ["p", "p"], "lat": [35.601, 35.609], "lon": [139.701, 139.709], "at": at})
    seen = lw.visits(rows, person="user", time="at", latitude="lat", longitude="lon")
    cells = lw.grid(west=139.7, south=35.6, east=139.71, north=35.61, metres=500)
    asked = lw.count_visitors(
        seen, cells, start=START, end=START + timedelta(hours=1), places_per_person=1, if_more="latest"
    )
    *counted, left_out = drawn_from(asked)
    assert (sum(counted), left_out) == (1, 1)
