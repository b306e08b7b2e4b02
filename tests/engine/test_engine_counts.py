"""The counts are the oracle's, from every kind of source, whatever the order of the rows."""

from datetime import datetime, timedelta

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle.visits import visitors
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import read_places
from leeward.errors import BoundExceededError, DataError
from leeward.query import count_visitors, places, visits
from leeward.query._reasons import OF_VISITS

START, END = datetime(2024, 3, 1, 12), datetime(2024, 3, 1, 12, 0, 3)
PLACES = ["c", "a", "b", "e"]
MODES = [(None, "refuse")] + [(k, mode) for k in (1, 2, 3) for mode in ("refuse", "latest", "earliest")]

ROW = st.fixed_dictionaries(
    {
        "person": st.sampled_from([None, 1, 2, 3, 4, 5, 6]),
        "place": st.sampled_from([None, "a", "b", "c", "d", "e"]),
        "time": st.one_of(
            st.none(),
            st.integers(0, 2).map(lambda seconds: START + timedelta(seconds=seconds)),
            st.integers(-2, 4).map(lambda seconds: START + timedelta(seconds=seconds)),
            st.sampled_from([START - timedelta(microseconds=1), END - timedelta(microseconds=1)]),
        ),
        "state": st.sampled_from([None, "STAY", "MOVE", "PASS"]),
    }
)
# Left to itself Hypothesis makes short lists, in which hardly anyone is at three places.
ROWS = st.one_of(st.lists(ROW, min_size=1, max_size=20), st.lists(ROW, min_size=40, max_size=70))

SCHEMA = pa.schema(
    [("person", pa.int64()), ("place", pa.string()), ("time", pa.timestamp("us")), ("state", pa.string())]
)


def table(rows):
    return pa.Table.from_pylist(rows, SCHEMA)


def describe(source, **changes):
    return describe_by(visits, source, **{"person": "person", "place": "place", "time": "time"} | changes)


def listing(keys=PLACES):
    return places(pa.table({"place": keys}), place="place")


def count(source, k=None, if_more="refuse", keys=PLACES, start=START, end=END, **changes):
    described, listed = describe(source, **changes), listing(keys)
    with open_visits(described, read_places(listed)) as opened:
        query = count_visitors(described, listed, start=start, end=end, places_per_person=k, if_more=if_more)
        return opened.count(query)


def expected(rows, k, if_more, keep=(), keys=PLACES):
    return visitors(rows, keys, lambda time: START <= time < END, dict(keep), k, if_more)


def check(found, wanted):
    assert found.people_over_bound == wanted["over"]
    assert found.dropped == wanted["dropped"]
    assert list(found.dropped) == list(OF_VISITS)
    assert found.rows_kept == wanted["kept"]
    if wanted["counts"] is None:
        with pytest.raises(BoundExceededError, match=f"^{wanted['over']} (person|people) "):
            _ = found.counts
    else:
        assert found.counts.dtype == np.int64
        assert found.counts.tolist() == wanted["counts"]


@pytest.mark.sweep
@settings(max_examples=12)
@given(ROWS, st.sampled_from([{}, {"state": ("STAY",)}, {"state": ("STAY", "PASS"), "place": ("a", "c", "d")}]))
def test_counts_agree_with_the_oracle(rows, keep):
    described, listed = describe(table(rows), keep=keep), listing()
    with open_visits(described, read_places(listed)) as opened:
        for k, mode in MODES:
            query = count_visitors(described, listed, start=START, end=END, places_per_person=k, if_more=mode)
            check(opened.count(query), expected(rows, k, mode, keep.items()))


@pytest.mark.sweep
@settings(max_examples=6)
@given(ROWS.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_order_of_rows_changes_neither_counts_nor_digest(both):
    results = []
    for rows in both:
        described, listed = describe(table(rows)), listing()
        with open_visits(described, read_places(listed)) as opened:
            query = count_visitors(described, listed, start=START, end=END, places_per_person=1, if_more="latest")
            results.append((opened.count(query).counts.tolist(), opened.content(b"secret" * 8).digest))
    assert results[0] == results[1]


def many_rows(seed=5, size=4000):
    """Rows with every kind of flaw, and ties in time."""
    random = np.random.default_rng(seed)
    return [
        {
            "person": None if random.random() < 0.05 else int(random.integers(0, 900)),
            "place": None if random.random() < 0.05 else random.choice([*PLACES, "d", 'quote " comma ,']),
            "time": None if random.random() < 0.05 else START + timedelta(seconds=int(random.integers(-1, 5))),
            "state": None if random.random() < 0.05 else str(random.choice(["STAY", "MOVE"])),
        }
        for _ in range(size)
    ]


def write_duckdb(path, data):
    with duckdb.connect(path) as other:
        other.register("data", data)
        other.execute('CREATE TABLE "the visits" AS SELECT * FROM data')
    return str(path)


def sources(folder, data):
    """The same rows in every kind of source."""
    pq.write_table(data, folder / "v.parquet")
    for part in range(3):
        (folder / "parts").mkdir(exist_ok=True)
        pq.write_table(data.slice(part * 1500, 1500), folder / "parts" / f"{part}.parquet")
    text = data.set_column(2, "time", pa.compute.strftime(data["time"], "%Y-%m-%dT%H:%M:%S"))
    pa_csv.write_csv(text, folder / "v.csv")
    pa_csv.write_csv(text.slice(0, 1500), folder / "half_1.csv")
    # The same columns in another order, and compressed.
    reordered = text.slice(1500).select(["time", "state", "place", "person"])
    with pa.CompressedOutputStream(str(folder / "half_2.csv.gz"), "gzip") as out:
        pa_csv.write_csv(reordered, out)
    frame = data.to_pandas()
    theirs = ibis.duckdb.from_connection(duckdb.connect())
    theirs.con.register("theirs", data)
    return {
        "parquet": folder / "v.parquet",
        "glob": str(folder / "parts" / "*.parquet"),
        "list": [folder / "parts" / "2.parquet", str(folder / "parts" / "0.parquet"), folder / "parts" / "1.parquet"],
        "csv": folder / "v.csv",
        "csv glob": [str(folder / "half_*.csv"), folder / "half_2.csv.gz"],
        "duckdb": write_duckdb(folder / "v.duckdb", data),
        "arrow": data,
        "dictionary": data.set_column(1, "place", data["place"].dictionary_encode()),
        "pandas": frame,
        "pandas with an index": frame.set_index(frame.index[::-1] * 3),
        "categorical": frame.astype({"place": "category", "state": "category"}),
        "polars": pl.from_arrow(data),
        "memtable": ibis.memtable(data),
        "ibis": theirs.table("theirs"),
        "nanoseconds": data.set_column(2, "time", data["time"].cast(pa.timestamp("ns"))),
        "milliseconds": data.set_column(2, "time", data["time"].cast(pa.timestamp("ms"))),
    }


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # asked for by Ibis 12 on the user's own connection
def test_every_kind_of_source_gives_the_same_counts(tmp_path):
    rows = many_rows()
    for kind, source in sources(tmp_path, table(rows)).items():
        changes = {"table": "the visits"} if kind == "duckdb" else {}
        for k, mode in [(1, "latest"), (2, "earliest")]:
            found = count(source, k, mode, keep={"state": ["STAY"]}, **changes)
            check(found, expected(rows, k, mode, {"state": ["STAY"]}.items()))
    assert expected(rows, 2, "refuse")["over"] > 20


def test_every_kind_of_source_gives_the_same_list(tmp_path):
    data = pa.table({"place": [f"{i * 7919 % 4000}" for i in range(4000)]})
    pq.write_table(data, tmp_path / "p.parquet", row_group_size=512)
    pa_csv.write_csv(data, tmp_path / "p.csv")
    sources = [data, data.to_pandas(), pl.from_arrow(data), tmp_path / "p.parquet", tmp_path / "p.csv"]
    sources.append(write_duckdb(tmp_path / "p.duckdb", data))
    lists = [read_places(places(source, place="place")) for source in sources]
    assert all(read.keys.to_pylist() == data["place"].to_pylist() for read in lists)
    assert len({read.digest() for read in lists}) == 1


def test_the_answer_has_one_shape_whatever_the_data_hold():
    nobody = [{"person": None, "place": None, "time": None, "state": None}]
    for k, mode in MODES:
        found = count(table(nobody), k, mode)
        assert found.counts.tolist() == [0, 0, 0, 0]
        assert found.counts.dtype == np.int64
        assert found.people_over_bound == 0


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("if_more", ["latest", "earliest", "refuse"])
def test_over_the_bound_are_people_however_many_places_they_have_too_many(k, if_more):
    rows = [{"person": 1, "place": place, "time": START, "state": None} for place in PLACES]
    rows += [{"person": 2, "place": place, "time": START, "state": None} for place in PLACES[:k]]
    assert count(table(rows), k, if_more).people_over_bound == 1


def test_a_tie_goes_to_the_place_earlier_in_the_public_list():
    rows = [{"person": 1, "place": place, "time": START, "state": None} for place in ("b", "a", "e", "c")]
    for mode in ("latest", "earliest"):
        assert count(table(rows), 1, mode).counts.tolist() == [1, 0, 0, 0]
        assert count(table(rows), 1, mode, keys=["b", "c", "a", "e"]).counts.tolist() == [1, 0, 0, 0]
        assert count(table(rows), 3, mode).counts.tolist() == [1, 1, 1, 0]


def test_a_window_of_ten_thousand_years_and_stamps_in_nanoseconds_do_not_overflow():
    # 2^63 is less than this window in microseconds times the number of places, so the engine must count wider.
    keys = [str(i) for i in range(40_000)]
    moments = [datetime(1, 1, 2), datetime(1970, 1, 1), datetime(9999, 12, 30)]
    rows = [{"person": 1, "place": keys[-1 - i], "time": moment, "state": None} for i, moment in enumerate(moments)]
    span = {"start": "0001-01-01", "end": "9999-12-31", "keys": keys}
    assert count(table(rows), 1, "latest", **span).counts.nonzero()[0].tolist() == [len(keys) - 3]
    assert count(table(rows), 1, "earliest", **span).counts.nonzero()[0].tolist() == [len(keys) - 1]
    fine = table(rows[1:2]).set_column(2, "time", pa.array([1], pa.timestamp("ns")))
    assert count(fine, 1, "latest", **span).rows_kept == 1


def test_nanoseconds_break_ties_and_meet_the_window_exactly():
    nanoseconds = (START - datetime(1970, 1, 1)) // timedelta(seconds=1) * 10**9
    stamps = pa.array([nanoseconds - 1, nanoseconds, nanoseconds + 1, nanoseconds + 2], pa.timestamp("ns"))
    data = pa.table({"person": [1, 1, 1, 1], "place": ["e", "c", "a", "b"], "time": stamps})
    found = count(data, 1, "latest", start="2024-03-01T12:00", end="2024-03-01T12:01")
    assert found.dropped["outside_window"] == 1
    assert found.counts.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("kind", [pa.int32(), pa.uint64(), pa.float64()])
def test_keys_may_be_numbers_and_nan_is_missing(kind):
    floats = kind == pa.float64()
    keys = [3, 0, 7]
    rows = [
        {"person": person, "place": place, "time": START}
        for person, place in [(1, 3), (1, 0), (2, 7), (2, None), (None, 3), (3, 5)]
    ]
    data = pa.table(
        {
            "person": pa.array([1.0, 1.0, 2.0, 2.0, float("nan"), 3.0] if floats else [1, 1, 2, 2, None, 3]),
            "place": pa.array([3, -0.0, 7, float("nan"), 3, 5] if floats else [3, 0, 7, None, 3, 5], kind),
            "time": [START] * 6,
        }
    )
    for k, mode in MODES:
        check(count(data, k, mode, keys=pa.array(keys, kind)), expected(rows, k, mode, keys=keys))


def test_filters_of_numbers_and_truth_values_compare_by_type():
    rows = table(many_rows(size=50)).append_column("code", pa.array([i % 3 for i in range(50)]))
    rows = rows.append_column("true", pa.array([None if i % 7 == 0 else i % 2 == 0 for i in range(50)]))
    numbers = count(rows, keep={"code": [1, 2]}).dropped["filtered"]
    truths = count(rows, keep={"true": [True]}).dropped["filtered"]
    assert numbers == sum(i % 3 == 0 for i in range(50))
    assert truths == sum(i % 7 == 0 or i % 2 == 1 for i in range(50))


NUMBERS = [2**k + d for k in (0, 8, 24, 53, 62) for d in (-1, 0, 1)] + [2**63 - 1]


KINDS = [pa.float32(), pa.int8(), pa.int64(), pa.uint8(), pa.uint64()]
KINDS += [pa.decimal128(38, 0), pa.decimal128(38, 30), pa.decimal128(5, 4), pa.decimal128(3, 3), pa.float64()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("asked", [*NUMBERS, *(-number for number in NUMBERS)])
def test_a_filter_keeps_the_number_that_it_says_or_is_refused(asked, kind):
    """Of a whole number that a float does not hold, the nearest that it holds was kept."""
    try:
        near = (
            pa.array([float(asked)]).cast(kind, safe=False) if pa.types.is_floating(kind) else pa.array([asked], kind)
        )
    except (pa.ArrowInvalid, OverflowError):
        near = pa.array([0], kind)
    holds = near[0].as_py() == asked
    rows = table(many_rows(size=1)).append_column("code", near)
    if holds or not pa.types.is_floating(kind):
        assert count(rows, keep={"code": [asked]}).dropped["filtered"] == (0 if holds else 1)
    else:
        with pytest.raises(DataError, match="a whole number that floats of"):
            count(rows, keep={"code": [asked]})


def test_the_private_counts_do_not_show_when_printed():
    rows = [{"person": i, "place": "a", "time": START, "state": None} for i in range(1234)]
    assert "[0, 1234" not in repr(count(table(rows)))


def test_the_frame_given_is_left_as_it_was():
    frame = table(many_rows(size=20)).to_pandas()
    before = frame.copy()
    count(frame, 1, "latest")
    pd.testing.assert_frame_equal(frame, before)
