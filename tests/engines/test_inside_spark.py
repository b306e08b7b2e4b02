"""A table that is counted by Spark: every exact answer is the oracle's, a release is the same, and what is refused.

All but the refusals that need no Spark are sweeps: a session takes longer to start than many a folder of tests.
"""

from __future__ import annotations

import gc
import json
import logging
import subprocess
import sys
import time
import uuid
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import cloudpickle
from tests.engines.cases import Case, drawn
from tests.engines.held import HOLDERS, OF_SPARK, differences
from tests.engines.test_all_neighbours import compared
from tests.engines.test_traps import KEPT, TRAPS, _ready, column
from tests.session.conftest import Town
from tests.spark import spark

import leeward as lw
from leeward.engine import _in_spark, _row_sums, open_data, read_keys
from leeward.engine._content import recognised
from leeward.errors import DataError, EngineError
from leeward.ledger import Ledger

pytestmark = [pytest.mark.sweep, pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")]
"""Spark's own library leaves the sockets through which it is spoken to for the garbage collector."""


FILES = {"spark": OF_SPARK["spark"]}


@pytest.fixture(autouse=True, scope="module")
def _running() -> None:
    spark()


@pytest.mark.parametrize("trap", TRAPS)
def test_spark_does_not_fall_into_a_trap_of_engines(trap: str, tmp_path: Path) -> None:
    assert differences(replace(_ready(TRAPS[trap]), label=trap), tmp_path, None, FILES) == []


@pytest.mark.parametrize("block", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 69))])
def test_spark_has_the_answer_of_the_oracle(block: int, tmp_path: Path) -> None:
    seeds = range(block * 15, block * 15 + 15)
    assert [said for seed in seeds for said in differences(drawn(seed), tmp_path, None, OF_SPARK)] == []


def as_file(path: Path, table: pa.Table) -> dict[str, Any]:
    pq.write_table(table, path)
    return {"source": path, "engine": "spark"}


@pytest.mark.long
@pytest.mark.parametrize("block", range(20))
def test_no_neighbour_is_further_than_its_noise_allows_in_a_thousand_plans(block: int, tmp_path: Path) -> None:
    """In 20 blocks of at least 50 plans each; all tables of a question are counted by one job of Spark."""
    found = [
        compared(seed, inside=partial(as_file, tmp_path / "t.parquet")) for seed in range(block * 20, block * 20 + 20)
    ]
    assert [said for each in found for said in each.wrong] == []
    assert sum(len(each.plans) for each in found) >= 50
    assert sum(each.pairs for each in found) > 2000


# ---- what is the same


@pytest.mark.parametrize("kind", KEPT)
def test_the_content_of_a_table_is_that_which_duckdb_recognises(kind: str, tmp_path: Path) -> None:
    """The digests of a table of each type are the same, and another value gives another."""
    values, found = [*KEPT[kind], None], []
    for written in (values, values[:-2] + values[-1:] + [values[0]]):
        case = Case({"v": column(kind, written), "person": column("int8", range(len(written)))}, {})
        ways = [hold(case, tmp_path, None) for hold in (HOLDERS["parquet"], *OF_SPARK.values())]
        assert len(ways) - ways.count(None) == (2 if kind == "uint8" else 3)
        for held in filter(None, ways):
            with held.bound({"a value": "v", "person": "person"}) as bound:
                content = recognised(bound, b"secret" * 8, ())
                found.append((content.digest, content.marks))
    half = len(found) // 2
    assert found[:half] == found[:1] * half
    assert found[half:] == found[half : half + 1] * half
    assert found[0][0] != found[half][0]


def test_workers_need_no_leeward() -> None:
    """What is sent to them runs in a Python that cannot import it."""
    asked = _row_sums.Asked(("text", "whole"), True, (0,), (1,), bytes(range(48)))
    batch = pa.record_batch([pa.array(["a", None]), pa.array([1, 2])], ["v0", "v1"])
    with _in_spark._sent_whole():
        sent = cloudpickle.dumps((partial(_row_sums.parts_of, asked=asked), batch))
    program = (
        "import sys, pickle; sys.modules['leeward'] = None; run, batch = pickle.load(sys.stdin.buffer);"
        " print(next(run([batch])).column(0)[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], input=sent, capture_output=True, check=True)
    assert json.loads(done.stdout) == _row_sums.sums_of([batch], asked)._asdict()
    with pytest.raises(subprocess.CalledProcessError):  # as it is sent otherwise
        subprocess.run(
            [sys.executable, "-c", program],
            input=cloudpickle.dumps((partial(_row_sums.parts_of, asked=asked), batch)),
            capture_output=True,
            check=True,
        )


def test_workers_that_cannot_hash_rows_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As workers without a library are: what is sent to them fails there, and not here."""
    case = Case({"v": column("int8", [1, 2]), "person": column("int8", [1, 2])}, {})
    held = OF_SPARK["spark"](case, tmp_path, None)
    assert held is not None

    def missing(key: bytes) -> Any:
        raise ModuleNotFoundError("No module named 'cryptography'")

    with held.bound({"a value": "v", "person": "person"}) as bound:
        recognised(bound, b"secret" * 8, ())
        monkeypatch.setattr(_row_sums, "_Cipher", missing)
        with pytest.raises(
            EngineError, match=r"cannot import numpy, pyarrow and cryptography.*PYSPARK_PYTHON.*charged"
        ):
            recognised(bound, b"secret" * 8, ())


def test_a_release_is_the_same_question_on_both_engines(town: Town) -> None:
    """Released by Spark, asked again of DuckDB: the stored answer is given, and nothing is charged anew."""
    said = []
    for engine, out in (("spark", "one"), ("duckdb", "two"), ("spark", "three")):
        code, _, err = town.run(
            "release", town.spec(('visits = "visits.parquet"', f'visits = "visits.parquet"\nengine = "{engine}"')),
            "--out", town.folder / out, "--quiet",
        )  # fmt: skip
        assert (code, err) == (0, ""), err
        answers = pd.read_parquet(town.folder / out / "answers.parquet")
        said.append((answers.to_dict(), json.loads((town.folder / out / "release.json").read_text())))
    assert said[0] == said[1] == said[2]
    assert str(Ledger(town.folder / "budget.db").show("town")[0].spent) == "1"


# ---- what is asked of a DataFrame

WINDOW = {"start": "2024-03-31T09:00", "end": "2024-03-31T10:00"}
MORNING = "TIMESTAMP_NTZ '2024-03-31 09:00'"


def asked(frame: Any, **given: Any) -> Any:
    seen = lw.visits(frame, **({"person": "person", "place": "place", "time": "time", "engine": "spark"} | given))
    return lw.count_visitors(seen, lw.places(pa.table({"key": ["p", "q"]}), place="key"), **WINDOW)


def counts(query: Any) -> list[int]:
    with open_data(query, read_keys(query)) as opened:
        found: list[int] = opened.exactly(query, "answer").counts.tolist()
        return found


def is_read_once(session: Any, folder: Path) -> None:
    """What is recognised, looked at and counted is one table, also where files behind the DataFrame are others by then."""
    frame = session.sql(f"SELECT id AS person, 'p' AS place, {MORNING} AS time FROM range(50)")
    frame.write.parquet(str(folder))
    query = asked(session.read.parquet(str(folder)))
    with open_data(query, read_keys(query)) as opened:
        assert opened.look(query).taken == 50
        before = opened.content(b"secret" * 8).digest
        frame.withColumn("person", frame.person + 50).write.mode("append").parquet(str(folder))
        assert opened.content(b"secret" * 8).digest == before
        assert opened.exactly(query, "answer").counts.tolist() == [50, 0]


def test_a_dataframe_is_read_once(tmp_path: Path) -> None:
    is_read_once(spark(), tmp_path / "t")


def gives_back(session: Any, *, collected: bool = False) -> None:
    """What was read of a table is nowhere in the storage of Spark's executors afterwards, also where it was refused.

    At once, or when Java collects what nothing leads to. Other workers of the run have tables there, for a moment.
    """
    held = spark().sparkContext._jsc.getPersistentRDDs
    for place in ("'p'", "CAST(X'ff' AS STRING)"):
        before, read = set(held()), set[int]()
        with suppress(DataError):
            query = asked(session.sql(f"SELECT 1 AS person, {place} AS place, {MORNING} AS time"))
            with open_data(query, read_keys(query)) as opened:
                opened.look(query)
                opened.exactly(query, "answer")
                read = set(held()) - before
                assert read
        read = read or set(held()) - before
        for _ in range(40):
            if not read & set(held()):
                break
            if collected:
                gc.collect()
                spark().sparkContext._jvm.System.gc()
            time.sleep(0.25)
        assert not read & set(held())


def test_what_was_read_is_given_back() -> None:
    gives_back(spark())


def test_the_session_of_the_caller_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """So do views that all sessions see, of which other workers of the run have theirs."""
    before, views, mine = spark().conf.getAll, spark().catalog.listTables(), uuid.uuid4()
    monkeypatch.setattr(uuid, "uuid4", lambda: mine)
    assert counts(asked(spark().sql(f"SELECT 1 AS person, 'p' AS place, {MORNING} AS time"))) == [1, 0]
    assert (spark().conf.getAll, spark().catalog.listTables()) == (before, views)
    assert f"leeward_{mine.hex}" not in {view.name for view in spark().catalog.listTables("global_temp")}
    assert type(spark()).getActiveSession().conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (f"rand() AS person, 'p' AS place, {MORNING} AS time", "not the same each time"),
        (f"1 AS person, 'p' COLLATE UTF8_LCASE AS place, {MORNING} AS time", "place = 'place': .*collate UTF8_LCASE"),
        ("1 AS person, 'p' AS place, '2024-03-31T09:00' AS time", "time = 'time': its times are texts"),
        (f"1 AS person, 'p' AS place, {MORNING} AS time, 2 AS Person", "differs from it only in upper and lower case"),
        (f"array(1) AS person, 'p' AS place, {MORNING} AS time", "person = 'person': the column is of the type array,"),
        (f"1 AS person, CAST(X'ff' AS STRING) AS place, {MORNING} AS time", "a text is not UTF-8"),
    ],
)
def test_what_has_another_meaning_is_refused(what: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        counts(asked(spark().sql(f"SELECT {what}")))


def test_a_session_whose_sums_wrap_is_refused() -> None:
    other = spark().newSession()
    other.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(DataError, match="its sums wrap"):
        counts(asked(other.sql(f"SELECT 1 AS person, 'p' AS place, {MORNING} AS time")))


def shows_no_value(session: Any, logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither our errors do nor what the library logs, which does show a value to whoever asks by themselves."""
    logged = StringIO()  # the library's own handler keeps the stderr of whichever test made it
    handler, disabled = logging.StreamHandler(logged), logger.disabled
    frame = session.sql(
        f"SELECT CAST(concat('can', 'ary', id) AS INT) AS person, 'p' AS place, {MORNING} AS time FROM range(9)"
    )
    logger.addHandler(handler)
    logger.disabled = False
    try:
        with pytest.raises(Exception, match="canary"):
            frame.collect()
        assert "canary" in logged.getvalue()
        logged.truncate(0)
        capfd.readouterr()
        with pytest.raises(DataError, match="stopped with CAST_INVALID_INPUT") as caught:
            counts(asked(frame))
    finally:
        logger.removeHandler(handler)
        logger.disabled = disabled
    assert "canary" not in str(caught.value) + logged.getvalue() + "".join(capfd.readouterr())
    assert caught.value.__context__ is None


def test_an_error_of_spark_shows_no_value(capfd: pytest.CaptureFixture[str]) -> None:
    from pyspark.logger import PySparkLogger

    shows_no_value(spark(), PySparkLogger.getLogger("SQLQueryContextLogger"), capfd)


@pytest.mark.long
def test_names_of_the_public_list_are_names() -> None:
    odd = [
        "'",
        '"',
        "\\",
        "`",
        "${spark.app.name}",
        "\x00012",
        "\n",
        "a'b\"c\\d",
        "💧",
        "%s",
        "{}",
        "\u1e9e",
        "\\u0041",
    ]
    rows = pa.table({"person": range(len(odd)), "place": odd})
    frame = spark().createDataFrame(rows).selectExpr("*", f"{MORNING} AS time")
    listed = lw.places(pa.table({"key": odd}), place="key")
    seen: Any = {"person": "person", "place": "place", "time": "time", "engine": "spark"}
    assert counts(lw.count_visitors(lw.visits(frame, **seen), listed, **WINDOW)) == [1] * len(odd)
    for name in odd:
        only = lw.visits(frame, keep={"place": [name]}, **seen)
        assert sum(counts(lw.count_visitors(only, listed, **WINDOW))) == 1, name


OLD = {"org.apache.spark.version": "2.4.8"}
TOLD_TO = {"org.apache.spark.version": "3.5.1", "org.apache.spark.legacyDateTime": ""}


@pytest.mark.parametrize(
    ("notes", "days", "are_moved"),
    [
        (OLD, {"when": [0, -200_000], "kind": pa.date32()}, True),
        (TOLD_TO, {"when": [0, -200_000], "kind": pa.date32()}, True),
        ({"org.apache.spark.version": "3.5.1"}, {"when": [0, -200_000], "kind": pa.date32()}, False),
        ({}, {"when": [0, -200_000], "kind": pa.date32()}, False),
        (OLD, {"when": [0, -141_427], "kind": pa.date32()}, False),  # 15 October 1582, the first of the new calendar
        (OLD, {"when": [0, -141_428], "kind": pa.date32()}, True),
        (TOLD_TO, {"when": [0, -2_208_988_801_000_000], "kind": pa.timestamp("us", "UTC")}, True),
        (TOLD_TO, {"when": [0, -2_208_816_000_000_000], "kind": pa.timestamp("us", "UTC")}, False),  # 3 January 1900
        (OLD, {"when": [0, -(2**55)], "kind": pa.timestamp("us")}, False),  # readings of a clock are never moved
    ],
)
def test_days_that_spark_moves_from_an_old_calendar_are_refused(
    notes: dict[str, str], days: Any, are_moved: bool, tmp_path: Path
) -> None:
    """A file may note that its early days are in a calendar that Parquet has not, and Spark believes it."""
    when = pa.array(days["when"], pa.int32() if days["kind"] == pa.date32() else pa.int64()).cast(days["kind"])
    rows = pa.table({"person": [1, 2], "place": ["p", "q"], "x": when}).append_column(
        "time", [[datetime(2024, 3, 31)] * 2]
    )
    path = tmp_path / "old.parquet"
    pq.write_table(rows.replace_schema_metadata(notes), path)
    digests = []
    for engine in ("duckdb", "spark"):
        held = lw.visits(path, person="x", place="place", time="time", engine=engine)  # type: ignore[arg-type]
        query = lw.count_visitors(held, lw.places(pa.table({"key": ["p"]}), place="key"), **WINDOW)
        refused = (
            pytest.raises(DataError, match="15 October 1582") if are_moved and engine == "spark" else nullcontext()
        )
        with refused, open_data(query, read_keys(query)) as opened:
            digests.append(opened.content(bytes(32)).digest)
    assert digests == digests[:1] * (1 if are_moved else 2)


def test_what_spark_moves_from_task_to_task_is_for_its_owner_alone() -> None:
    """They are rows, in files among the temporary ones: any user of the machine could read them."""
    session = spark()
    session.range(100).selectExpr("id % 7 AS who").groupBy("who").count().collect()
    running = session.sparkContext._jvm.org.apache.spark.SparkEnv.get().blockManager().diskBlockManager()
    folders = [Path(each.getPath()) for each in running.localDirs()]
    made = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    assert any(path.name.startswith("shuffle_") for path in made)
    assert {path.stat().st_mode & 0o077 for path in made} == {0}
