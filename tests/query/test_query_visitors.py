"""The question: what it accepts, what it refuses, and what of it is public."""

import dataclasses
import itertools
import pickle
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pytest
from tests.sources import describe_by

from leeward.errors import SpecError
from leeward.query import Grid, Source, Window, count_visitors, grid, places, visits
from leeward.query._table import same_source
from leeward.session._question import about

SEEN = visits("v.parquet", person="user", place="venue", time="at")
LISTED = places("p.parquet", place="venue")
TOKYO = timezone(timedelta(hours=9))


def ask(**changes):
    arguments = {"start": "2012-04-04T19:00", "end": "2012-04-04T20:00"} | changes
    return count_visitors(arguments.pop("visits", SEEN), arguments.pop("places", LISTED), **arguments)


def test_asking_opens_no_file_and_loads_no_engine():
    code = (
        "import sys; from leeward.query import *;"
        "count_visitors(visits('absent.csv', person='a', place='b', time='c'), places('absent.csv', place='b'),"
        "start='2020-01-01', end='2020-01-02');"
        "print([m for m in ('ibis', 'duckdb', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_moments_of_pandas_are_those_of_python_or_refused():
    at, zoned = (pd.Timestamp("2012-04-04T19:00:00.000001", tz=tz) for tz in (None, "Asia/Tokyo"))
    for start in (at, zoned):
        found = ask(start=start, end=start + pd.Timedelta(hours=1)).window.start
        assert (type(found), found, found.utcoffset()) == (datetime, start.to_pydatetime(), start.utcoffset())
    for odd, words in ((at + pd.Timedelta(1, "ns"), "nanoseconds"), (pd.NaT, "missing moment")):
        for key in ("start", "end"):
            with pytest.raises(SpecError, match=words):
                ask(**{key: odd})


def test_times_may_be_texts_dates_or_datetimes():
    assert ask().window == ask(start=datetime(2012, 4, 4, 19), end=datetime(2012, 4, 4, 20)).window
    assert ask(start=date(2012, 4, 4)).window.start == datetime(2012, 4, 4)
    assert ask(start="2012-04-04T19:00+09:00", end="2012-04-04T20:00Z").window.aware


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"start": "2012-04-04T20:00"}, "empty or reversed"),
        ({"start": "2012-04-05T20:00"}, "empty or reversed"),
        ({"start": "2012-04-04T19:00Z"}, "other has none"),
        ({"start": "soon"}, "not a date"),
        ({"start": 7}, "not a date"),
        ({"places_per_person": 0}, "at least 1"),
        ({"places_per_person": True}, "at least 1"),
        ({"places_per_person": 1.0}, "at least 1"),
        ({"places_per_person": 1, "if_more": "lastest"}, "'latest'"),
        ({"if_more": "latest"}, "places_per_person"),
        ({"visits": visits("v", person="a", place="b")}, "time"),
        ({"visits": visits("v", person="a", time="t", latitude="b", longitude="c")}, "place"),
        ({"places": grid(west=0, south=0, east=1, north=1, h3=5)}, "coordinates"),
    ],
)
def test_malformed_questions_are_refused(changes, word):
    with pytest.raises(SpecError, match=word):
        ask(**changes)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"person": ""}, "person"),
        ({"person": 3}, "person"),
        ({"place": None}, "no place"),
        ({"latitude": "lat"}, "both"),
        ({"timezone": "Asia/Tokio"}, "time zone"),
        ({"timezone": 9}, "time zone"),
        ({"time_unit": "min"}, "unit"),
        ({"keep": {"state": []}}, "keep"),
        ({"keep": {"state": [1.5]}}, "keep"),
        ({"keep": {"state": ["a", 1]}}, "mixes"),
        ({"keep": {"state": [True, 1]}}, "mixes"),
    ],
)
def test_malformed_visits_are_refused(changes, word):
    with pytest.raises(SpecError, match=word):
        describe_by(visits, **({"source": "v.csv", "person": "user", "place": "venue"} | changes))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"west": 2}, "empty"),
        ({"north": 0}, "empty"),
        ({"north": 91}, "degrees"),
        ({"west": float("nan")}, "degrees"),
        ({"metres": None}, "`metres` or `h3`"),
        ({"h3": 9}, "`metres` or `h3`"),
        ({"metres": 0}, "length"),
        ({"metres": float("inf")}, "length"),
        ({"metres": None, "h3": 16}, "resolution"),
        ({"metres": 100}, "million"),
        ({"west": -180, "east": 180, "metres": None, "h3": 0}, "half the Earth"),
    ],
)
def test_malformed_grids_are_refused(changes, word):
    with pytest.raises(SpecError, match=word):
        grid(**({"west": 0, "south": 0, "east": 1, "north": 1, "metres": 500} | changes))


def test_a_grid_of_whole_cells_has_no_sliver_of_a_row():
    cell = Grid(0, -1, 1, 1, metres=1000).step[0]
    for rows in (1, 3, 7, 1000):
        assert Grid(0, -cell * rows / 2, 1, cell * rows / 2, metres=1000).shape[0] == rows


def test_what_is_public_is_json_and_the_same_for_equal_questions():
    filtered = visits("v", person="u", place="p", time="t", keep={"z": ["b", "a", "a"], "a": ["x"]})
    again = visits("elsewhere", person="u", place="p", time="t", keep={"a": ["x"], "z": ["a", "b"]})
    here = ask(visits=filtered, start=datetime(2012, 4, 4, 19, tzinfo=TOKYO), end="2012-04-04T20:00+09:00")
    there = ask(visits=again, start=datetime(2012, 4, 4, 10, tzinfo=UTC), end="2012-04-04T11:00Z")
    assert about(here).model_dump_json() == about(there).model_dump_json()
    assert "elsewhere" not in about(there).model_dump_json()


@pytest.mark.parametrize(
    "changes",
    [
        {"end": "2012-04-04T20:00:00.000001"},
        {"start": "2012-04-04T19:00Z", "end": "2012-04-04T20:00Z"},
        {"places_per_person": 1},
        {"places_per_person": 2},
        {"places_per_person": 1, "if_more": "latest"},
        {"visits": dataclasses.replace(SEEN, keep={"state": ("STAY",)})},
        {"visits": dataclasses.replace(SEEN, person="other")},
        {"visits": dataclasses.replace(SEEN, timezone="UTC")},
        {"visits": dataclasses.replace(SEEN, source=Source("v.csv", time_unit="s"))},
    ],
)
def test_another_question_reads_otherwise_in_public(changes):
    assert about(ask(**changes)) != about(ask())


def test_a_window_refuses_one_end_with_an_offset():
    with pytest.raises(SpecError, match="offset"):
        Window(datetime(2020, 1, 1), datetime(2020, 1, 2, tzinfo=UTC))


@pytest.mark.parametrize("fine", [".1234567", ",123456789", ".000000001", ".1234567+09:00"])
def test_a_text_finer_than_a_microsecond_is_refused_and_not_cut(fine):
    """Found by an attack: rows before the start were counted."""
    with pytest.raises(SpecError, match="it has nanoseconds"):
        ask(start=f"2026-03-02T19:00:00{fine}", end=f"2026-03-02T20:00:00{fine[-6:] if '+' in fine else ''}")
    exact = ask(start="2026-03-02T19:00:00.123456000", end="2026-03-02T20:00:00.5")
    assert (exact.window.start.microsecond, exact.window.end.microsecond) == (123_456, 500_000)


WRITTEN = (
    *({}, {"table": "t"}, {"delimiter": ";"}, {"encoding": "latin-1"}, {"decimal": ","}),
    *({"time_format": "dd/mm/yyyy"}, {"time_unit": "s"}, {"time_unit": "ms"}),
)


def test_what_is_said_of_a_source_tells_it_from_others_and_outlives_a_pickle():
    """One table that several questions are about is read once: never with the times or numbers of another description."""
    frame = pd.DataFrame({"a": [1]})
    for given in ("v.csv", ["v.csv", "w.csv"], frame):
        made = [Source(given, **said) for said in WRITTEN]
        for one, other in itertools.product(made, repeat=2):
            assert same_source(one, other) is (one is other)
    for said in WRITTEN:
        again = pickle.loads(pickle.dumps(source := Source("v.csv", **said)))
        assert list(again.said()) == list(said)
        assert (again.time_unit, again.table, again.writing) == (source.time_unit, source.table, source.writing)
        assert same_source(source, again)
    assert not same_source(Source(frame), Source(frame.copy()))
    assert not same_source(Source(frame), Source("v.csv"))
    assert "more" not in repr(Source(["a.csv", "b.csv", "c.csv"]))
    assert "and 1 more" in repr(Source(["a.csv", "b.csv", "c.csv", "d.csv"]))
