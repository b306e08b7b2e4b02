"""A table that is counted by a Spark elsewhere, through Spark Connect: the same answers and refusals, and no Java here.

Sweeps, as are those of a Spark in this process, whose server it is.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from tests.engines.cases import Case, drawn
from tests.engines.held import ELSEWHERE, HOLDERS, differences
from tests.engines.test_inside_spark import MORNING, asked, counts, gives_back, is_read_once, shows_no_value
from tests.engines.test_traps import KEPT, TRAPS, _ready, column
from tests.session.conftest import Town
from tests.spark import address, remote, session_at

from leeward import _spark_remote
from leeward._spark import Spark, in_plain_words, session_of
from leeward.engine import _in_spark
from leeward.engine._content import recognised
from leeward.errors import DataError, EngineError
from leeward.tables._spark_files import files_for_spark, read_in_spark

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning"),  # of its client's log
]

ONE = f"SELECT 1 AS person, 'p' AS place, {MORNING} AS time"


@pytest.fixture(autouse=True, scope="module")
def _running() -> None:
    remote()


@pytest.mark.parametrize("trap", TRAPS)
def test_it_does_not_fall_into_a_trap_of_engines(trap: str, tmp_path: Path) -> None:
    """Held as a DataFrame, or as a file where Spark itself would make other types of it."""
    case = replace(_ready(TRAPS[trap]), label=trap)
    frame, file = ELSEWHERE["spark elsewhere, of a session"], ELSEWHERE["spark elsewhere"]
    way = {"of a session": frame} if frame(case, tmp_path, None) else {"file": file}
    assert differences(case, tmp_path, None, way) == []


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 200))])
def test_it_has_the_answer_of_the_oracle(block: int, tmp_path: Path) -> None:
    seeds = range(block * 5, block * 5 + 5)
    assert [said for seed in seeds for said in differences(drawn(seed), tmp_path, None, ELSEWHERE)] == []


def test_the_content_of_a_table_is_that_which_duckdb_recognises(tmp_path: Path) -> None:
    """Of values of each type that DataFrames have, each a column of one table."""
    kept = {kind: values for kind, values in KEPT.items() if kind != "uint8"}
    most = max(map(len, kept.values()))
    columns = {kind: column(kind, [*values, *[None] * (most - len(values))]) for kind, values in kept.items()}
    case = Case(columns | {"person": column("int8", range(most))}, {})
    found = []
    for hold in (HOLDERS["parquet"], *ELSEWHERE.values()):
        held = hold(case, tmp_path, None)
        assert held is not None
        with held.bound({f"a value {kind}": kind for kind in kept} | {"person": "person"}) as bound:
            content = recognised(bound, b"secret" * 8, ())
            found.append((content.digest, content.marks))
    assert found[0] == found[1] == found[2]


def test_a_release_is_the_same_question_and_holds_no_token(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked of DuckDB afterwards: the stored answer is given, and nothing is charged anew."""
    monkeypatch.setenv("SPARK_REMOTE", f"{address()}/;user_id=hush;x-hush=hush")
    where = f'engine = "spark"\nspark = {{ remote = "{address()}" }}'
    answers = []
    for engine in (where, 'engine = "duckdb"'):
        spec = town.spec(('visits = "visits.parquet"', f'visits = "visits.parquet"\n{engine}'))
        code, _, err = town.run("release", spec, "--out", town.folder / f"{len(answers)}", "--quiet")
        assert (code, err) == (0, ""), err
        answers.append((town.folder / f"{len(answers)}" / "release.json").read_bytes())
    assert answers[0] == answers[1]
    written = [path for path in town.folder.rglob("*") if path.is_file()]
    assert written
    assert not any(b"hush" in path.read_bytes() for path in written)


# ---- DataFrames


def test_a_dataframe_is_read_once(tmp_path: Path) -> None:
    is_read_once(remote(), tmp_path / "t")


@pytest.mark.long
def test_what_was_read_is_given_back() -> None:
    gives_back(remote(), collected=True)


def test_sessions_of_the_caller_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where another of them is the active one, to which Spark itself gives what is checkpointed."""
    from pyspark.sql.connect.session import SparkSession

    other, mine = session_at(address()), uuid.uuid4()
    monkeypatch.setattr(_in_spark, "uuid", SimpleNamespace(uuid4=lambda: mine))
    with _spark_remote.active(other):
        before, views = remote().conf.getAll, remote().catalog.listTables()
        assert counts(asked(remote().sql(ONE))) == [1, 0]
        assert (remote().conf.getAll, remote().catalog.listTables()) == (before, views)
        assert f"leeward_{mine.hex}" not in {view.name for view in remote().catalog.listTables("global_temp")}
        assert SparkSession.getActiveSession() is other


def test_a_channel_that_names_its_session_is_refused() -> None:
    """Ours has none of what an address says of a session; but another channel may name one by itself."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    one, two = str(uuid.uuid4()), str(uuid.uuid4())
    named = session_at(f"{address()}/;session_id={one}")
    assert counts(asked(named.sql(ONE))) == [1, 0]

    class Named(DefaultChannelBuilder):
        @property
        def session_id(self) -> str:
            return two

    named = session_at(Named(address()))
    with pytest.raises(EngineError, match="ours would be yours"):
        counts(asked(named.sql(ONE)))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (f"rand() AS person, 'p' AS place, {MORNING} AS time", "not the same each time"),
        (f"monotonically_increasing_id() AS person, 'p' AS place, {MORNING} AS time", "not the same each time"),
        (f"1 AS person, 'p' COLLATE UTF8_LCASE AS place, {MORNING} AS time", "place = 'place': .*collate UTF8_LCASE"),
        (f"1 AS person, CAST(X'ff' AS STRING) AS place, {MORNING} AS time", "a text is not UTF-8"),
    ],
)
def test_what_has_another_meaning_is_refused(what: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        counts(asked(remote().sql(f"SELECT {what}")))


def test_a_session_whose_sums_wrap_and_a_spark_of_another_meaning_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    remote().conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.raises(DataError, match="its sums wrap"):
            counts(asked(remote().sql(ONE)))
    finally:
        remote().conf.unset("spark.sql.ansi.enabled")
    with monkeypatch.context() as patch:
        patch.setattr("leeward._spark._OF_ANOTHER_SPARK", "spark.connect.grpc.")  # some that are set
        with pytest.raises(EngineError, match=r"spark.connect.grpc.binding.address.* set: the same query"):
            counts(asked(remote().sql(ONE)))
    with monkeypatch.context() as patch:
        patch.setattr(_in_spark, "_may_draw", lambda *_: False)
        with pytest.raises(EngineError, match="does not tell which tables draw at random"):
            counts(asked(remote().sql(ONE)))
    monkeypatch.setattr(_spark_remote, "_VERSION", "3.5.")
    with pytest.raises(EngineError, match=r"version 4\.0\..*Nothing was read"):
        counts(asked(remote().sql(ONE)))


def test_an_error_shows_no_value(capfd: pytest.CaptureFixture[str]) -> None:
    """Nor does what the client logs where somebody has switched that on."""
    from pyspark.sql.connect.logging import logger

    shows_no_value(remote(), logger, capfd)


def test_a_session_of_ours_ends_no_threads_of_others_neither_closed_nor_forgotten() -> None:
    """Spark's own session ends those that all clients share when it is forgotten; one of these would wait for itself."""
    from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator as Shared

    remote().sql("SELECT 1").collect()
    before = Shared._release_thread_pool_instance
    with session_of(Spark(), remote().sql("SELECT 1")) as made:
        made.sql("SELECT 1").collect()
        forgotten = weakref.ref(made)
    del made
    gc.collect()
    assert forgotten() is None
    assert Shared._release_thread_pool_instance is before is not None
    assert before.submit(int).result() == 0


def test_a_session_that_is_closed_under_a_query_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client keeps threads that all sessions share, and to close any session ends them: as here, before a query."""
    from pyspark.sql.connect.client.reattach import ExecutePlanResponseReattachableIterator

    ended = ThreadPoolExecutor()
    ended.shutdown()
    monkeypatch.setattr(ExecutePlanResponseReattachableIterator, "_release_thread_pool_instance", ended)
    with (
        pytest.raises(EngineError, match=r"closed or forgotten elsewhere in this program.*Run it again"),
        in_plain_words(),
    ):
        remote().sql("SELECT 1").collect()
    with pytest.raises(RuntimeError, match="something else"), in_plain_words():
        raise RuntimeError("something else")


# ---- where it is


def test_a_server_that_nobody_finds_is_named_without_what_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_spark_remote, "_RETRIES", {"max_retries": 1})
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1/;user_id=hush")
    said, there = r"The Spark at sc://127\.0\.0\.1:1: nobody answers there", {"remote": "sc://127.0.0.1:1"}
    with pytest.raises(EngineError, match=said) as caught, session_of(Spark(there)):
        pass
    assert "hush" not in str(caught.value)


def test_files_of_another_machine_are_refused(tmp_path: Path) -> None:
    """Of which one is told that has the same path, and another size or time."""
    pq.write_table(pa.table({"person": [1]}), tmp_path / "t.parquet")
    files = files_for_spark(tmp_path / "t.parquet")
    with session_of(Spark({"remote": address()})) as session:
        read_in_spark(session, files)
        os.utime(tmp_path / "t.parquet", (1, 1))
        with pytest.raises(DataError, match="sees another file there"):
            read_in_spark(session, files)


CLIENT = """
import sys
class None_(object):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "py4j":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, None_())
import leeward as lw, pyarrow as pa
from leeward.engine import open_data, read_keys
from leeward.errors import InputError
from pyspark.util import is_remote_only
assert is_remote_only()
for spark in ({}, {"remote": sys.argv[2]}):
    seen = lw.visits(sys.argv[1], person="person", place="place", time="time", engine=lw.query.Spark(spark))
    listed = lw.places(pa.table({"key": ["p", "q"]}), place="key")
    query = lw.count_visitors(seen, listed, start="2024-03-31T09:00", end="2024-03-31T10:00")
    try:
        with open_data(query, read_keys(query)) as opened:
            print(opened.exactly(query, "answer").counts.tolist())
    except InputError as error:
        print(error)
"""


def test_the_client_alone_is_enough(tmp_path: Path) -> None:
    """What pyspark-client leaves out of pyspark is not there; and nothing speaks to a Java."""
    from pyspark.sql.connect.session import SparkSession

    assert SparkSession is type(remote())
    (tmp_path / "pyspark").mkdir()
    left_out = {"core", "context.py", "rdd.py", "broadcast.py", "files.py", "status.py", "jars", "bin", "sbin"}
    for each in Path(pyspark.__file__).parent.iterdir():
        if each.name not in left_out:
            (tmp_path / "pyspark" / each.name).symlink_to(each)
    remote().sql(ONE).coalesce(1).write.parquet(str(tmp_path / "t"))
    (part,) = (tmp_path / "t").glob("*.parquet")
    part.rename(tmp_path / "t.parquet")
    said = subprocess.run(
        [sys.executable, "-c", CLIENT, tmp_path / "t.parquet", address()],
        env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-2000:]
    first, second = said.stdout.splitlines()
    assert "there is only the client of Spark Connect here" in first
    assert second == "[1, 0]"
