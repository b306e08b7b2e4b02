"""What is read is what was named, and nothing else; refusals teach and tell no data value."""

import errno
import gzip
import os
import resource
from datetime import datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources import describe_by
from tests.visited import open_visits

from leeward.engine import read_places, refuse_doubtful
from leeward.engine._bind import bind, setting_up, translated
from leeward.errors import DataError, DoubtfulDataError, EngineError
from leeward.query import count_visitors, places, visits

ROWS = pa.table({"user": ["SECRET1"], "venue": ["a"], "at": [datetime(2024, 3, 1)]})
LISTED = places(pa.table({"p": ["a", "b"]}), place="p")
COLUMNS = {"person": "user", "place": "venue", "time": "at"}


def count(source, listed=LISTED, *, guarded=True, **described):
    seen = describe_by(visits, source, **COLUMNS | described)
    query = count_visitors(seen, listed, start="2024-03-01", end="2024-03-02", places_per_person=1)
    with open_visits(seen, read_places(listed)) as table:
        if guarded:
            refuse_doubtful([table.look(query)])
        return table.count(query)


@pytest.fixture
def folder(tmp_path):
    pq.write_table(ROWS, tmp_path / "visits.parquet")
    pq.write_table(ROWS, tmp_path / "other.parquet")
    return tmp_path


def test_a_variable_of_the_program_is_no_table(folder):
    leaked = pa.table({"x": ["SECRET2"]})
    assert duckdb.sql("SELECT count(*) FROM leaked").fetchall() == [(1,)], "unless it is told not to, DuckDB finds it"
    with bind(folder / "visits.parquet", COLUMNS) as bound, pytest.raises(duckdb.CatalogException):
        bound.connection.sql("SELECT * FROM leaked").fetchall()
    assert leaked.num_rows == 1


def test_a_locked_connection_reads_its_files_and_no_other(folder):
    named, other = folder / "visits.parquet", folder / "other.parquet"
    with bind(named, COLUMNS) as bound:
        assert bound.fetch(bound.rows).num_rows == 1
        run = bound.connection.execute
        for forbidden in (
            f"SELECT * FROM read_parquet('{other}')",
            f"SELECT * FROM read_text('{other}')",
            f"SELECT * FROM read_parquet('{folder}/*.parquet')",
            f"COPY (SELECT 1) TO '{folder / 'out.csv'}'",
            f"ATTACH '{folder / 'new.duckdb'}'",
            "INSTALL httpfs",
            "SELECT * FROM read_csv('http://localhost:9/x.csv')",
        ):
            with pytest.raises(duckdb.PermissionException):
                run(forbidden)
        for setting in ("enable_external_access = true", "allowed_paths = ['/']", "threads = 1"):
            with pytest.raises(duckdb.InvalidInputException, match="locked"):
                run(f"SET {setting}")
    assert sorted(os.listdir(folder)) == ["other.parquet", "visits.parquet"]


def test_a_view_that_reaches_outside_its_database_is_refused(folder):
    with duckdb.connect(folder / "v.duckdb") as other:
        other.execute(f"CREATE VIEW sly AS SELECT * FROM read_parquet('{folder / 'other.parquet'}')")
        other.execute("CREATE TABLE plain AS SELECT * FROM sly")
    assert count(folder / "v.duckdb", table="plain").rows_kept == 1
    with pytest.raises(DataError, match="only the files that the spec names"):
        count(folder / "v.duckdb", table="sly")


def test_names_with_odd_characters_are_names_and_not_code(tmp_path):
    odd = """u"; DROP TABLE x; -- '"""
    data = pa.table({odd: ["x"], "ve nue": ["a"], "at": [datetime(2024, 3, 1)], "it's": ["o'k"]})
    path = tmp_path / "odd [1]'s *.parquet"
    pq.write_table(data, path)
    assert count(path, person=odd, place="ve nue", keep={"it's": ["o'k", "'; SELECT 1"]}).rows_kept == 1
    with duckdb.connect(tmp_path / "v.db") as other:
        other.register("data", data)
        other.execute("""CREATE SCHEMA "s 2"; CREATE TABLE "s 2"."t'""1" AS SELECT * FROM data""")
    assert count(tmp_path / "v.db", person=odd, place="ve nue", table="""s 2.t'"1""").rows_kept == 1
    # The only table needs no name.
    assert count(tmp_path / "v.db", person=odd, place="ve nue").rows_kept == 1


def test_nothing_is_left_behind_where_the_program_runs(folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    with bind("visits.parquet", COLUMNS) as bound:
        spill = bound.connection.execute("SELECT current_setting('temp_directory')").fetchone()[0]
        assert os.path.isdir(spill)
        assert os.path.dirname(spill) != str(folder)
    assert not os.path.exists(spill)
    assert sorted(os.listdir(folder)) == before


def test_a_file_that_changes_while_it_is_read_is_refused(folder):
    path = folder / "visits.parquet"
    seen = visits(path, **COLUMNS)
    query = count_visitors(seen, LISTED, start="2024-03-01", end="2024-03-02")
    with open_visits(seen, read_places(LISTED)) as table:
        table.count(query)
        os.utime(path, ns=(1, 1))
        with pytest.raises(DataError, match="changed while"):
            table.count(query)


def csv(folder, text, name="v.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_csv_fields_are_text_and_empty_ones_are_missing(tmp_path):
    path = csv(
        tmp_path, '\ufeffuser,venue,at\n007,a,2024-03-01T00:00\n7,a,2024-03-01\n,a,2024-03-01\n8,"",2024-03-01\n'
    )
    with pytest.raises(DoubtfulDataError, match="1 row without a person"):
        count(path)
    found = count(path, guarded=False)
    assert found.counts.tolist() == [2, 0]
    assert (found.dropped["null_person"], found.dropped["null_place"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("user,venue,at\n", "The table has no rows: there is nothing to count"),
        ("user,,at\n", "first line"),
        ("user,user,at\n", "first line"),
        (
            "user,venue,at\nSECRET1,a,2024-03-01,SECRET2\n",
            "Line 2 .* it has 4 fields, and the first line names 3 columns",
        ),
        ("user,venue,at\nSECRET1,a\n", "Line 2 .* it has 2 fields, and the first line names 3 columns"),
        ('user,venue,at\n"SECRET1,a,2024-03-01\n', "Line 2 .* a quote begins in it that is not closed"),
        ("user,venue,at\nSECRET1,a,SECRET2\n", "1 row with a time that cannot be read"),
        ("person;venue;at\nSECRET1;a;2024-03-01\n", "its first line has no comma, and has semicolons"),
    ],
)
def test_bad_csv_is_refused(tmp_path, text, word):
    with pytest.raises((DataError, DoubtfulDataError), match=word) as caught:
        count(csv(tmp_path, text))
    assert "SECRET" not in str(caught.value)


def unreadable(folder, kind):
    """Sources that cannot be read as described, each with a value that must not be told."""
    bad = folder / "bad.parquet"
    if kind == "cut":
        whole = (folder / "visits.parquet").read_bytes()
        bad.write_bytes(whole[: len(whole) // 2])
        return bad
    if kind == "no parquet":
        bad.write_text("SECRET1")
        return bad
    if kind == "no gzip":
        (folder / "v.csv.gz").write_text("SECRET1")
        return folder / "v.csv.gz"
    if kind == "cut gzip":
        (folder / "v.csv.gz").write_bytes(gzip.compress(b"user,venue,at\n" + os.urandom(4000).hex().encode())[:-900])
        return folder / "v.csv.gz"
    if kind == "no utf-8":
        (folder / "v.csv").write_bytes(b"user,venue,at\nSECRET1\xff,a,2024-03-01\n")
        return folder / "v.csv"
    if kind == "no duckdb":
        (folder / "v.duckdb").write_text("SECRET1" * 5000)
        return folder / "v.duckdb"
    if kind == "other types":
        pq.write_table(ROWS.set_column(2, "at", pa.array(["SECRET1"])), folder / "x.parquet")
        return [folder / "visits.parquet", folder / "x.parquet"]
    if kind == "mixed column":
        return pd.DataFrame({"user": [1, "SECRET1"], "venue": ["a", "a"], "at": pd.to_datetime(["2024-03-01"] * 2)})
    return {"no table": 3, "empty": ROWS.slice(0, 0), "no rows": ROWS.to_pandas().iloc[:0]}[kind]


@pytest.mark.parametrize(
    "kind",
    [
        *["cut", "no parquet", "no gzip", "cut gzip", "no utf-8", "no duckdb", "other types", "mixed column"],
        *["no table", "empty", "no rows"],
    ],
)
def test_what_cannot_be_read_is_refused_without_telling_a_value(folder, kind):
    with pytest.raises((DataError, DoubtfulDataError)) as caught:
        count(unreadable(folder, kind))
    told = [str(caught.value), *(str(cause) for cause in (caught.value.__cause__,) if cause)]
    assert not any("SECRET" in text for text in told)
    assert caught.value.__cause__ is None
    assert caught.value.because
    assert caught.value.instead


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"person": "usr"}, "'user'"),
        ({"place": "venu"}, "'venue'"),
        ({"time": "att"}, "'at'"),
        ({"keep": {"vnue": ["a"]}}, "'venue'"),
        ({"keep": {"venue": [1]}}, "whole numbers"),
        ({"keep": {"at": ["x"]}}, "texts"),
        ({"keep": {"user": [True]}}, "truth values"),
        ({"time": "venue"}, "1 row with a time that cannot be read"),
        ({"place": "at"}, "of another type"),
        ({"table": "absent"}, "only a DuckDB file has tables"),
    ],
)
def test_a_wrong_column_names_what_was_meant(folder, changes, told):
    with pytest.raises((DataError, DoubtfulDataError), match=told):
        count(folder / "visits.parquet", **changes)


def test_a_missing_table_of_a_database_names_the_nearest(folder):
    with duckdb.connect(folder / "v.duckdb") as other:
        other.execute("CREATE TABLE visits AS SELECT 1 AS x; CREATE TABLE homes AS SELECT 1 AS x")
    with pytest.raises(DataError, match="Did you mean 'visits'"):
        count(folder / "v.duckdb", table="visit")
    with pytest.raises(DataError, match=r"several tables.*homes, visits"):
        count(folder / "v.duckdb")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("visit.parquet", "Did you mean 'visits.parquet'"),
        ("march.parquet", "no such file. Check the path"),
        ("visits.csv", "Did you mean 'visits.parquet'"),
        ("nowhere/visits.parquet", "no such file"),
        ("*.pq", "no such file"),
        ("", "no such file|a folder"),
        (".", "a folder"),
        ("s3://bucket/visits.parquet", "this machine"),
        ("https://example.org/visits.parquet", "this machine"),
        ([], "files of one kind"),
        (["visits.parquet", "v.csv"], "files of one kind"),
        ("notes.txt", "does not say"),
    ],
)
def test_a_missing_or_unknown_file_is_told(folder, monkeypatch, source, told):
    monkeypatch.chdir(folder)
    csv(folder, "user,venue,at\n1,a,2024-03-01\n")
    csv(folder, "x", "notes.txt")
    with pytest.raises(DataError, match=told):
        count(source)


def test_what_the_system_denies_the_engine_is_not_blamed_on_the_data(tmp_path):
    for i in range(40):
        pq.write_table(ROWS, tmp_path / f"v{i}.parquet")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with bind(str(tmp_path / "*.parquet"), COLUMNS) as bound:
        last, taken = max(map(int, os.listdir("/proc/self/fd"))), [os.open(os.devnull, os.O_RDONLY)]
        while taken[-1] < last:  # no number below the limit is left
            taken.append(os.open(os.devnull, os.O_RDONLY))
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1] + 1, before[1]))
        try:
            with pytest.raises(EngineError, match=r"Too many open files\. Nothing is wrong with the data"):
                bound.fetch(bound.rows)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)
            for number in taken:
                os.close(number)
        assert bound.fetch(bound.rows).num_rows == 40


@pytest.mark.parametrize("denied", [errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_no_room_for_what_spills_is_not_blamed_on_the_data(denied):
    with pytest.raises(EngineError, match=os.strerror(denied)) as refused, translated():
        raise duckdb.IOException(f'IO Error: Could not write file "/tmp/SECRET": {os.strerror(denied)}')
    assert "SECRET" not in str(refused.value)
    with pytest.raises(DataError, match="damaged"), translated():
        raise duckdb.IOException(f'Invalid Input Error: "{os.strerror(denied)}" is no number')


def test_ctrl_c_during_a_query_is_an_interrupt_and_no_defect():
    with pytest.raises(KeyboardInterrupt), translated():
        raise RuntimeError("Query interrupted")
    with pytest.raises(RuntimeError, match="another"), translated():
        raise RuntimeError("another")


class Stopped:
    """A table whose reading is stopped."""

    def __init__(self, ended):
        self.ended = ended

    def __arrow_c_stream__(self, requested_schema=None):
        raise self.ended


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (KeyboardInterrupt(), ()),
        (KeyboardInterrupt("now"), ("now",)),
        (SystemExit(143), (143,)),
        (SystemExit("no"), ("no",)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("around", [translated, setting_up])
def test_what_ends_a_program_while_duckdb_asks_for_our_tables_is_not_blamed_on_the_data(ended, said, around):
    """Found: one Ctrl-C of forty in a notebook said that the data are damaged, and that this may be a fact about them."""
    connection = duckdb.connect()
    with pytest.raises(type(ended)) as raised, around():
        connection.register("leeward_keys", Stopped(ended)).execute("FROM leeward_keys")
    assert raised.value.args == said


class Unlooked:
    """A table that is stopped while DuckDB looks what it is."""

    def __init__(self, ended):
        self.ended = ended

    def __getattr__(self, name):
        raise self.ended


def _from_python(ended):
    yield pa.record_batch({"a": [1]})
    raise ended


def _looked_at(connection, ended):
    connection.register("leeward_keys", Unlooked(ended))


def _worked_out(connection, ended):
    def stopped(column):
        raise ended

    connection.create_function("stopped", stopped, ["BIGINT"], "BIGINT", type="arrow")
    connection.execute("SELECT stopped(1)").fetchall()


def _streamed_by_arrow(connection, ended):
    rows = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), _from_python(ended))
    connection.register("leeward_memory", rows).execute("FROM leeward_memory").fetchall()


def _named_in_a_query(connection, ended):
    mine = Stopped(ended)  # noqa: F841 (DuckDB finds it by its name)
    connection.execute("FROM mine")


@pytest.mark.parametrize("ended", [KeyboardInterrupt(), SystemExit("no")], ids=repr)
@pytest.mark.parametrize("at_work", [_looked_at, _worked_out, _streamed_by_arrow, _named_in_a_query])
def test_nor_is_it_at_whatever_else_duckdb_asks_python_for(at_work, ended):
    """Found: so said one Ctrl-C of fourteen in a notebook, and each that came while cells of H3 were worked out."""
    with duckdb.connect() as connection, pytest.raises(type(ended)) as raised, translated():
        at_work(connection, ended)
    assert raised.value.args == ended.args


def test_what_else_fails_there_ends_nothing():
    with pytest.raises(DataError, match="damaged"), translated():
        raise duckdb.InvalidInputException(
            "Invalid Input Error: \"the object registered as 'own' failed: KeyboardInterrupt: \" is no number"
        )


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (pa.array([1, 2]), "texts.*integers"),
        (pa.array([1.0, 2.0]), "texts.*floats"),
        (pa.array(["a", None]), "1 row without"),
        (pa.array(["a", "SECRET1", "SECRET1", "a", "a"]), "in 3 rows"),
        (pa.array([], pa.string()), "empty"),
        (pa.array([1.0, np.nan]), "1 row without"),
        (pa.array([0.0, -0.0]), "in 1 row"),
        (pa.array([True, False]), "whole numbers or texts"),
    ],
)
def test_a_list_that_is_no_list_of_the_visited_places_is_refused(keys, told):
    with pytest.raises(DataError, match=told) as caught:
        count(ROWS, places(pa.table({"p": keys}), place="p"))
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("degrees", [[91.0, 0.0], [np.nan, 0.0], ["SECRET1", "1"]])
def test_impossible_coordinates_of_the_list_are_refused(degrees):
    data = pa.table({"p": ["a", "b"], "lat": degrees, "lon": [1.0, 2.0]})
    with pytest.raises(DataError, match="column 'lat'") as caught:
        read_places(places(data, place="p", latitude="lat", longitude="lon"))
    assert "SECRET" not in str(caught.value)
