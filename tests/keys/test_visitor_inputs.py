"""Every input of a question about visitors: what makes it another question, and what does not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.deciding import decide_by
from tests.keys.bench import NEW, SAME, Bench, Row, inputs, refused, visitors, without_a_row

import leeward as lw
from leeward.noise import SeededBitsForTests
from leeward.planner import plan
from leeward.query import CountVisitors, Grid, Places, Source, Visits, Window
from leeward.session import Budget, release

HERE = Path(__file__).parents[2]

LISTED: dict[str, dict[str, Any]] = {
    "visits": {
        "source": "visits.parquet", "person": "user", "place": "venue", "time": "at", "keep": {"state": ["IN", "BY"]},
    },
    "places": {"source": "places.parquet", "place": "venue"},
    "count_visitors": {
        "start": "2026-01-01T18:00",
        "end": "2026-01-01T19:00",
        "places_per_person": 2,
        "if_more": "latest",
    },
    "plan": {"notion": lw.AdditionOnly("1"), "safe_at_most": 2, "what": "counts"},
    "Budget": {"dataset": "listed", "cap": "1000", "new": True},
}  # fmt: skip
ZONED: dict[str, dict[str, Any]] = {
    **LISTED,
    "visits": {**LISTED["visits"], "time": "instant", "time_unit": "s"},
    "count_visitors": {
        **LISTED["count_visitors"],
        "start": "2026-01-01T18:00+00:00",
        "end": "2026-01-01T19:00+00:00",
    },
    "Budget": {"dataset": "zoned", "cap": "1000", "new": True},
}
CELLS: dict[str, dict[str, Any]] = {
    **LISTED,
    "visits": {"source": "visits.parquet", "person": "user", "time": "at", "latitude": "lat", "longitude": "lon"},
    "grid": {"west": 139.7, "south": 35.6, "east": 139.71, "north": 35.61, "metres": 400},
    "Budget": {"dataset": "cells", "cap": "1000", "new": True},
}
OF_ALL: dict[str, dict[str, Any]] = {
    **LISTED,
    "plan": {"notion": lw.AdditionOnly("1"), "safe_at_most": 7, "what": "counts", "about": "everyone"},
    "Budget": {"dataset": "of all", "cap": "1000", "new": True},
}
STOPPING: dict[str, dict[str, Any]] = {
    **LISTED,
    "count_visitors": {name: LISTED["count_visitors"][name] for name in ("start", "end")},
    "plan": {"notion": lw.Presence("1"), "safe_at_most": 2, "mechanism": "sanitized"},
    "Budget": {"dataset": "stopping", "cap": "1000", "new": True},
}
LOOKING: dict[str, dict[str, Any]] = {
    **STOPPING,
    "plan": {**STOPPING["plan"], "mechanism": "adaptive"},
    "Budget": {"dataset": "looking", "cap": "1000", "new": True},
}
QUESTIONS: Mapping[str, dict[str, dict[str, Any]]] = {
    "listed": LISTED, "zoned": ZONED, "cells": CELLS, "stopping": STOPPING, "looking": LOOKING, "of all": OF_ALL,
}  # fmt: skip

ROWS: Mapping[str, list[Row]] = {
    "listed": [
        Row("visits", "source", "elsewhere/visits.parquet", SAME),
        Row("visits", "source", "shuffled.parquet", SAME),
        Row("visits", "source", "row-groups.parquet", SAME),
        Row("visits", "source", ["half-2.parquet", "half-1.parquet"], SAME),
        Row("visits", "source", "half-*.parquet", SAME),
        Row("visits", "source", "wider.parquet", SAME),
        Row("visits", "source", "in memory", SAME),
        Row("visits", "source", "tables.duckdb", SAME, beside={"visits": {"table": "visits"}}),
        Row("visits", "source", "other.parquet", refused("changed under version")),
        Row("visits", "person", "user2", NEW),
        Row("visits", "person", "each row", refused("distinct people are counted")),
        Row("visits", "person", None, refused("person is missing")),
        Row("visits", "place", "venue2", NEW),
        Row("visits", "time", "at2", NEW),
        Row("visits", "keep", {"state": ["BY", "IN"]}, SAME),
        Row("visits", "keep", {"state": ["IN", "BY", "IN"]}, SAME),
        Row("visits", "keep", {"state": ["IN"]}, NEW),
        Row("visits", "keep", {"state2": ["IN", "BY"]}, NEW),
        Row("visits", "keep", None, NEW),
        Row("visits", "timezone", "Asia/Tokyo", NEW),
        Row("visits", "table", "again", SAME, beside={"visits": {"source": "tables.duckdb"}}),
        Row("places", "source", "elsewhere/places.parquet", SAME),
        Row("places", "source", "turned.parquet", NEW),
        Row("places", "source", "longer.parquet", NEW),
        Row("places", "place", "key", SAME),
        Row("places", "place", "other", NEW),
        Row("places", "name", "name", SAME),
        Row("places", "latitude", "lat", SAME, beside={"places": {"longitude": "lon"}}),
        Row("places", "longitude", "lon", SAME, beside={"places": {"latitude": "lat"}}),
        Row("places", "table", "places", SAME, beside={"places": {"source": "tables.duckdb"}}),
        Row("count_visitors", "start", "2026-01-01T17:59", NEW),
        Row("count_visitors", "start", "2026-01-01 18:00:00", SAME),
        Row("count_visitors", "end", "2026-01-01T19:01", NEW),
        Row("count_visitors", "places_per_person", 1, NEW),
        Row("count_visitors", "if_more", "earliest", NEW),
        Row("plan", "notion", lw.AdditionOnly("1/2"), NEW),
        Row("plan", "notion", lw.AdditionOnly("1.0"), SAME),
        Row("plan", "notion", lw.AdditionOnly("1.000000000001"), NEW),
        Row("plan", "notion", lw.UnboundedDP("1"), NEW, beside={"plan": {"error_at_most": "1/10"}}),
        Row("plan", "safe_at_most", 3, SAME),
        Row("plan", "dangerous_at_least", 9, SAME, beside={"plan": {"error_at_most": "1/10"}}),
        Row("plan", "error_at_most", "1/10", SAME, beside={"plan": {"dangerous_at_least": 9}}),
        Row("plan", "useful_from", "0.1", SAME),
        Row("plan", "delta", "1/9", refused("Leave it out")),
        Row("plan", "what", "decisions", SAME),
        Row("release", "if_doubtful", "publish", SAME),
        Row("release", "accept_useless", True, SAME),
        Row("release", "if_doubtful", "publsh", refused("publish")),
        Row("plan", "mechanism", "geometric", SAME),
        Row("plan", "mechanism", "sanitized", NEW),
        Row("plan", "mechanism", "adaptive", NEW),
        Row("plan", "about", "everyone", NEW),
        Row("release", "bits", SeededBitsForTests(1), NEW),
        Row("release", "progress", lambda stage: None, SAME),
        Row("Budget", "dataset", "another", NEW),
        Row("Budget", "version", "2", NEW),
        Row("Budget", "cap", "1001", refused("set-cap")),
        Row("Budget", "cap_delta", "0", SAME),
        Row("Budget", "cap_delta", "1/9", refused("set-cap --delta")),
        Row("Budget", "new", False, SAME),  # an answer that is there opens nothing
        Row("Budget", "cap", None, SAME),
        Row("Budget", "cap", "1000.0", SAME),
        Row("Budget", "notion", "addition-only", SAME),
        Row("Budget", "notion", "removal-only", refused("counted in")),
        Row("Budget", "ledger", "another.db", NEW),
        Row("Budget", "ledger", "budget.db", SAME),
    ],
    "zoned": [
        Row("visits", "time_unit", "ms", NEW, beside={"release": {"if_doubtful": "publish"}}),  # in 1970
        Row("visits", "timezone", "Asia/Tokyo", NEW),
        Row("count_visitors", "start", "2026-01-02T03:00+09:00", SAME),
        Row("count_visitors", "end", "2026-01-01T20:00+01:00", SAME),
    ],
    "cells": [
        Row("visits", "latitude", "lat2", NEW),
        Row("visits", "longitude", "lon2", NEW),
        Row("grid", "west", 139.7000001, NEW),
        Row("grid", "south", 35.6000001, NEW),
        Row("grid", "east", 139.7100001, NEW),
        Row("grid", "north", 35.6100001, NEW),
        Row("grid", "metres", 401, NEW),
        Row("grid", "metres", 400.0, SAME),
        Row("grid", "h3", 8, NEW, beside={"grid": {"metres": None}}),
    ],
    "stopping": [
        Row("plan", "stop_after", 1, SAME),
        Row("plan", "stop_after", 2, NEW),
        Row("plan", "safe_at_most", 3, NEW),
        Row("plan", "mechanism", "auto", SAME),
        Row("plan", "mechanism", "adaptive", NEW),
        Row("plan", "notion", lw.AdditionOnly("1"), refused("promises nothing there")),
        Row("plan", "notion", lw.Presence("2"), NEW),
        Row("count_visitors", "places_per_person", 2, NEW),
    ],
    "of all": [
        Row("plan", "about", "counted", NEW),
        Row("plan", "safe_at_most", 6, SAME),
        Row("plan", "left_out", 1, SAME),
        Row("plan", "left_out", 6, NEW),  # another split
        Row("plan", "left_out", [0, 0], NEW),  # another k
        Row("count_visitors", "if_more", "earliest", NEW),
    ],
    "looking": [
        Row("plan", "stop_after", 1, SAME),
        Row("plan", "stop_after", 2, NEW),
        Row("plan", "safe_at_most", 3, NEW),
        Row("plan", "mechanism", "sanitized", NEW),
        Row("plan", "notion", lw.Presence("2"), NEW),
    ],
}

HOLDERS = {
    "visits": [lw.visits, Visits, Source], "places": [lw.places, Places, Source], "grid": [lw.grid, Grid],
    "count_visitors": [lw.count_visitors, CountVisitors, Window], "plan": [plan, lw.Decide],
    "release": [release], "Budget": [Budget],
}  # fmt: skip
BY_OTHERS = {
    *("count_visitors.visits", "count_visitors.places", "count_visitors.window"),  # by their own fields
    *("plan.query", "plan.decide", "release.plan", "release.budget"),  # likewise
}
HOW_WRITTEN = {
    *(f"{table}.{key}" for table in ("visits", "places") for key in ("given", "delimiter", "encoding", "decimal")),
    *("visits.time_format", "visits.engine", "places.time_format", "places.time_unit"),
}
"""How a file is written, and what counts it, is no part of the question: the table is the same content either way."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few visits and places, in every form that must not matter."""
    made = tmp_path_factory.mktemp("keys")
    (made / "elsewhere").mkdir()
    rows = [(f"p{i}", f"v{i % 3}", "IN" if i % 4 else "BY") for i in range(24)]
    at = pd.date_range("2026-01-01T18:10", periods=24, freq="1min").astype("datetime64[us]")
    visits = pd.DataFrame(rows, columns=["user", "venue", "state"]).assign(at=at)
    visits = visits.assign(user2=visits.user, venue2=visits.venue, state2=visits.state, at2=at)
    visits["instant"] = at.astype("int64") // 10**6
    places = 139.7 + visits.index / 3000, 35.6 + visits.index / 3000
    visits = visits.assign(lon=places[0], lon2=places[0], lat=places[1], lat2=places[1])
    for name in ("visits.parquet", "elsewhere/visits.parquet"):
        visits.to_parquet(made / name)
    visits.sample(frac=1, random_state=1).to_parquet(made / "shuffled.parquet", compression="gzip")
    pq.write_table(pq.read_table(made / "visits.parquet"), made / "row-groups.parquet", row_group_size=5)
    visits.iloc[:9].to_parquet(made / "half-1.parquet")
    visits.iloc[9:].to_parquet(made / "half-2.parquet")
    visits[sorted(visits.columns, reverse=True)].assign(more=1).to_parquet(made / "wider.parquet")
    visits.iloc[1:].to_parquet(made / "other.parquet")
    listed = pd.DataFrame({"venue": ["v0", "v1", "v2"], "key": ["v0", "v1", "v2"], "other": ["v0", "v1", "x"]})
    listed = listed.assign(name=["A", "B", "C"], lat=35.6, lon=139.7)
    for name in ("places.parquet", "elsewhere/places.parquet"):
        listed.to_parquet(made / name)
    listed.iloc[::-1].to_parquet(made / "turned.parquet")
    pd.concat([listed, listed.iloc[:1].assign(venue="v9")]).to_parquet(made / "longer.parquet")
    with duckdb.connect(str(made / "tables.duckdb")) as file:
        for table, source in (("visits", "visits"), ("again", "visits"), ("places", "places")):
            file.execute(f"CREATE TABLE {table} AS FROM '{made / source}.parquet'")
    return made


Ask = Callable[[Mapping[str, Mapping[str, Any]]], lw.Release]


@pytest.fixture(scope="module")
def ask(folder: Path) -> Ask:
    """Release a question, its paths taken from the folder."""

    def asked(given: Mapping[str, Mapping[str, Any]]) -> lw.Release:
        made = {holder: dict(parts) for holder, parts in given.items()}
        for holder in ("visits", "places"):
            made[holder]["source"] = _found(folder, made[holder]["source"])
        ledger = f"sqlite:///{folder / made['Budget'].pop('ledger', 'budget.db')}"
        return release(
            decide_by(plan, visitors(made), **made["plan"]), Budget(ledger, **made["Budget"]), **made.get("release", {})
        )

    return asked


def _found(folder: Path, source: Any) -> Any:
    if source == "in memory":
        return pd.read_parquet(folder / "visits.parquet")
    return [str(folder / part) for part in source] if isinstance(source, list) else str(folder / source)


@pytest.fixture(scope="module")
def answered(ask: Ask) -> Mapping[str, lw.Release]:
    """The questions as they are, asked once."""
    return {name: ask(given) for name, given in QUESTIONS.items()}


@pytest.mark.parametrize(
    ("question", "row"), [(name, row) for name, rows in ROWS.items() for row in rows], ids=lambda part: str(part)
)
def test_one_input_changed_alone(
    question: str, row: Row, ask: Ask, answered: Mapping[str, lw.Release], folder: Path
) -> None:
    Bench(folder).check(row, answered[question], lambda: ask(row.apply(QUESTIONS[question])))


def test_every_input_has_a_row() -> None:
    rows = [row for each in ROWS.values() for row in each]
    assert without_a_row(rows, HOLDERS) == BY_OTHERS | HOW_WRITTEN


def test_the_questions_themselves_are_four_and_are_found_again(ask: Ask, answered: Mapping[str, lw.Release]) -> None:
    entries = {name: found.statement.entry for name, found in answered.items()}
    assert len(set(entries.values())) == len(QUESTIONS)
    assert {name: ask(given).statement.entry for name, given in QUESTIONS.items()} == entries


@pytest.mark.sweep
def test_another_process_with_other_threads_gets_the_stored_answer(
    folder: Path, answered: Mapping[str, lw.Release]
) -> None:
    """Neither the process, nor its hash seed, nor how many threads it has makes another question."""
    program = (
        "import tests.keys.test_visitor_inputs as t, pathlib, sys\n"
        "found = t.ask.__wrapped__(pathlib.Path(sys.argv[1]))(t.LISTED)\n"
        "print(found.statement.entry, found.curator.charged)"
    )
    for seed, threads in (("1", "1"), ("2", "7")):
        env = os.environ | {"PYTHONHASHSEED": seed, "OMP_NUM_THREADS": threads, "PYTHONPATH": os.pathsep.join(sys.path)}
        said = subprocess.run(
            [sys.executable, "-c", program, str(folder)], env=env, cwd=HERE, capture_output=True, text=True, check=True
        )
        assert said.stdout.split() == [answered["listed"].statement.entry, "0"]


def test_the_walk_over_inputs_sees_parameters_and_fields() -> None:
    assert inputs(Grid) == {"west", "south", "east", "north", "metres", "h3"}
    assert without_a_row([], {"Window": [Window]}) == {"Window.start", "Window.end"}
