"""Windows that follow each other, and windows with gaps, counted together inside each engine as one by one in DuckDB."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark import spark

import leeward as lw
from leeward.engine import open_data, read_keys

START, HOUR, PLACES = datetime(2024, 3, 1), timedelta(hours=1), ["a", "b", "c"]
FOLLOWING = [START + n * HOUR for n in range(4)]
GAPS = [START + n * HOUR for n in (2, 0, 5)]


def told(source: Any, starts: list[datetime], together: bool, **where: Any) -> list[Any]:
    seen = lw.visits(source, person="person", place="place", time="time", **where)
    public = lw.places(pa.table({"place": PLACES}), place="place")
    queries = [
        lw.count_visitors(seen, public, start=start, end=start + HOUR, places_per_person=1, if_more="latest")
        for start in starts
    ]
    found = []
    with open_data(queries[0], read_keys(queries[0])) as opened:
        if together:
            opened.expect(queries)
        for query in queries:
            look, counted = opened.look(query), opened.exactly(query, "answer")
            found.append((counted.counts.tolist(), counted.people_over_bound, dict(counted.dropped), look.inside))
    return found


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")
@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_windows_are_cut_alike_inside_every_engine(engine: Any, session: Any, tmp_path: Path) -> None:
    rows = [(n % 7, [*PLACES, "x"][n * n % 4], START + n * timedelta(minutes=7, microseconds=1)) for n in range(-3, 60)]
    rows += [(n, "b", START + n * HOUR) for n in range(7)]  # an hour begins with its first moment
    table = pa.table(dict(zip(("person", "place", "time"), map(list, zip(*rows, strict=True)), strict=True)))
    where: dict[str, Any] = {"engine": engine}
    if engine == "spark":
        spark()  # the one that all tests share
        pq.write_table(table, source := tmp_path / "t.parquet")
    else:
        connection, source = session
        connection.execute("DROP TABLE IF EXISTS seen")
        connection.execute("CREATE TABLE seen (person bigint, place text, time timestamp)")
        with connection.cursor().copy(b"COPY seen FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        where["table"] = "seen"
    for starts in (FOLLOWING, GAPS):
        wanted = told(table, starts, together=False)
        assert told(source, starts, True, **where) == wanted
        assert told(table, starts, together=True) == wanted
        assert len({tuple(each[0]) for each in wanted}) > 1, "all windows are alike: nothing is tested"
