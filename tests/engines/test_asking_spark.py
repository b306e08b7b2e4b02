"""What is refused of `engine = "spark"` before Spark is started: all of it in words, and at once."""

from __future__ import annotations

import contextlib
import logging
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.session.conftest import Town

import leeward as lw
from leeward import _spark_remote
from leeward._spark import in_plain_words, session_of
from leeward.engine import open_data, read_keys
from leeward.errors import DataError, EngineError, InputError, SpecError

AT = datetime(2024, 3, 31, 9)


def asked(source: Any, **given: Any) -> Any:
    seen = lw.visits(source, **({"person": "person", "place": "place", "time": "time", "engine": "spark"} | given))
    return lw.count_visitors(
        seen, lw.places(pa.table({"key": ["p"]}), place="key"), start="2024-03-31T09:00", end="2024-03-31T10:00"
    )


def opened(source: Any, **given: Any) -> None:
    query = asked(source, **given)
    with open_data(query, read_keys(query)):
        pass


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"time": pa.array([AT], pa.timestamp("ns"))}, r"time = 'time': the column is of the type timestamp\[ns\]"),
        ({"time": ["2024-03-31T09:00"]}, "time = 'time': its times are texts"),
        ({"person": [b"x"]}, "person = 'person': the column is of the type bytes"),
    ],
)
def test_types_of_files_that_spark_reads_otherwise(columns: dict[str, Any], said: str, tmp_path: Path) -> None:
    whole = {"person": [1], "place": ["p"], "time": pa.array([AT], pa.timestamp("us"))} | columns
    pq.write_table(pa.table(whole), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=said):
        opened(tmp_path / "t.parquet")


def test_files_that_are_not_parquet_and_names_that_are_patterns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("person,place,time\n1,p,2024-03-31T09:00\n")
    table = pa.table({"person": [1], "place": ["p"], "time": pa.array([AT], pa.timestamp("us"))})
    odd = ("t[1].parquet", "_t.parquet", "t-19:00.parquet")
    for name in odd:
        pq.write_table(table, tmp_path / name)
    for name, said in (
        ("t.csv", "Store the table as Parquet"),
        *((each, "for a pattern.*colon.*Rename") for each in odd),
    ):
        with pytest.raises(DataError, match=said):
            opened(tmp_path / name)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"engine": lambda: lw.query.Spark({"spark.hadoop.fs.s3a.secret.key": "hush"})},
            "secrets, have no place there.*spark-defaults.conf",
        ),
        ({"engine": lambda: lw.query.Spark({"spark.jars": "evil.jar"})}, "what runs code in it"),
        ({"engine": lambda: lw.query.Spark({"spark.driver.memory": 4})}, "it must be a text"),
        ({"engine": lambda: lw.query.Spark("local[2]")}, "it must be a table of settings"),
        (
            {"engine": lambda: lw.query.Spark({"remote": "sc://host:15002/;token=hush"})},
            "holds more than host, port and use_ssl",
        ),
        ({"engine": lambda: lw.query.Spark({"remote": "sc://hush@host"})}, "it is no address of Spark Connect"),
        ({"engine": lambda: lw.query.Spark({"remote": "sc://host:99999/hush"})}, "it is no address of Spark Connect"),
        (
            {"engine": lambda: lw.query.Spark({"remote": "sc://host/;use_ssl=true;user_id=hush"})},
            "the variable SPARK_REMOTE",
        ),
        (
            {"engine": lambda: lw.query.Spark({"remote": "sc://host", "spark.driver.memory": "1g"})},
            "that Spark runs already",
        ),
        ({"engine": lambda: lw.query.Spark({"master": "sc://host/;token=hush"})}, 'Write remote = "sc://host:15002"'),
        ({"engine": lambda: lw.query.Spark("sc://host/;token=hush")}, "it must be a table of settings"),
        ({"source": lambda: lw.query.Source("t.parquet", delimiter=";")}, "no text is read as something else"),
    ],
)
def test_settings(given: dict[str, Any], said: str) -> None:
    with pytest.raises((SpecError, DataError), match=said) as caught:
        opened(**{"source": "t.parquet", **{key: make() for key, make in given.items()}})
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    ("remote", "said", "whole"),
    [
        ("sc://Host", None, "sc://host:15002/"),
        ("sc://host:15002/;use_ssl=true", None, "sc://host:15002/;use_ssl=true"),
        ("sc://host:15002/", "sc://HOST/;token=a%3D;user_id=me", "sc://host:15002/;token=a%3D;user_id=me"),
        ("sc://host/;use_ssl=true", "sc://host/;use_ssl=false;token=a", "sc://host:15002/;token=a;use_ssl=true"),
        ("sc://host", "sc://host:15002/;session_id=x;token=a", "sc://host:15002/;token=a"),
    ],
)
def test_an_address_is_that_of_the_spec_with_what_the_environment_says_of_it(
    remote: str, said: str | None, whole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    if said is not None:
        monkeypatch.setenv("SPARK_REMOTE", said)
    asked("t.parquet", engine=lw.query.Spark({"remote": remote}))
    assert _spark_remote._address(remote) == whole


@pytest.mark.parametrize("said", ["sc://host:1/;token=hush", "sc://other/;token=hush", "local[hush]"])
def test_what_the_environment_says_of_another_spark_is_not_sent(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", said)
    with pytest.raises(EngineError, match="it names another Spark than the spec") as caught:
        _spark_remote._address("sc://host:15002")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "spark", ['"sc://host/;token=hush"', '{ remote = "sc://host/;token=hush" }', '["sc://host/;token=hush"]']
)
def test_a_spec_shows_no_token(spark: str, town: Town) -> None:
    """Also where it is written as something else than it must be."""
    spec = town.spec(('visits = "visits.parquet"', f'visits = "visits.parquet"\nengine = "spark"\nspark = {spark}'))
    code, out, err = town.run("plan", spec)
    assert code == 2
    assert "spark" in err
    assert "hush" not in out + err


def test_tables_that_are_not_sparks() -> None:
    for source in (pa.table({"person": [1]}), "postgresql://host/database"):
        with pytest.raises(SpecError, match="Spark counts Parquet files and DataFrames of its own"):
            lw.records(source, person="person", engine="spark")

    class DataFrame:
        """As those of Spark are named."""

    DataFrame.__module__ = "pyspark.sql.classic.dataframe"
    with pytest.raises(SpecError, match='Give engine="spark"'):
        lw.records(DataFrame(), person="person")


def test_what_is_not_installed_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        patch.delenv("JAVA_HOME", raising=False)
        with pytest.raises(InputError, match="apt-get install openjdk-17-jre-headless"), session_of(lw.query.Spark()):
            pass
        patch.setenv("JAVA_HOME", str(tmp_path))
        with pytest.raises(InputError, match="none here where JAVA_HOME says"), session_of(lw.query.Spark()):
            pass
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyspark.sql.connect.session", None)
        with (
            pytest.raises(InputError, match=r'pip install "leeward\[spark-connect\]"'),
            session_of(lw.query.Spark({"remote": "sc://host"})),
        ):
            pass
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r'pip install "leeward\[spark\]"'), session_of(lw.query.Spark()):
        pass


@pytest.mark.parametrize("name", ["", "py4j.clientserver", "py4j.java_gateway"], ids=["root", "server", "gateway"])
def test_what_speaks_to_java_logs_nothing(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Found by an attack: a release that was ended while Java worked printed a traceback of py4j."""
    caplog.set_level(logging.DEBUG)
    theirs = f"import logging\nlogging.getLogger({name!r}).error('Answer received: ada')"
    theirs += "\nlogging.error('while sending ada')" * (not name)
    root = logging.getLogger()
    handlers = root.handlers[:]
    with contextlib.suppress(KeyboardInterrupt), in_plain_words():
        root.handlers.clear()  # as in a program that has set up no logging: what is said first then sets up one
        try:
            with in_plain_words():
                exec(compile(theirs, "/site-packages/py4j/java_gateway.py", "exec"), {})
            assert root.handlers == [], "nothing is set up for others"
        finally:
            root.handlers[:] = handlers
        exec(compile(theirs, "/site-packages/py4j/java_gateway.py", "exec"), {})
        logging.getLogger("mine").error("heard")
        raise KeyboardInterrupt
    assert "ada" not in "".join(capfd.readouterr()) + caplog.text
    assert "heard" in caplog.text
    exec(compile(theirs, "/site-packages/py4j/java_gateway.py", "exec"), {})
    assert "ada" in caplog.text, "what others do with it afterwards is theirs"
