"""Positions perturbed by a Spark elsewhere, through Spark Connect: each row once, whatever dies meanwhile, also who asked.

Sweeps, as are those of a Spark in this process, whose server it is.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.local.test_location import Run, table
from tests.local.test_location import run as run
from tests.local.test_perturb_in_spark import AT, BUDGET, by_spark, dying, geo, parts, read, spent
from tests.spark import address, remote

from leeward._scratch import scratch
from leeward.errors import EngineError
from leeward.local.location import _in_spark, _spark_table, perturb_in_spark

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'warn' method is deprecated:DeprecationWarning"),  # of its client's log
]


def people(parts: int = 4) -> Any:
    return remote().sql(f"SELECT id, 35.7D AS lat, 139.7D AS lon FROM range(0, 400, 1, {parts})")


def elsewhere(folder: Path, **given: Any) -> str:
    return str(by_spark(folder, data={"spark.remote": address()}, **given))


def test_what_a_killed_worker_drew_is_never_shown_and_people_pay_once(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task draws twice; what is there is the second draw, each row once, at the price of one."""
    address()
    frame = table().assign(id=range(500))
    parts(tmp_path, frame)
    (tmp_path / "drawn").mkdir()
    monkeypatch.setattr(_spark_table, "moved", partial(dying, str(tmp_path / "drawn")))
    code, _, said = run(elsewhere(tmp_path, budget=BUDGET), "--out", "out")
    assert code == 0, said
    found, lost = (pd.read_parquet(one).set_index("id").sort_index() for one in ("out", "drawn"))
    assert list(found.index) == list(lost.index) == list(range(500))
    assert (found["lat"] == lost["lat"]).sum() < 25
    once = spent("people.db")
    monkeypatch.undo()
    os.chdir(tmp_path)
    shutil.move("people.db", "elsewhere.db")
    assert run(str(by_spark(tmp_path, budget=BUDGET)), "--out", "here")[0] == 0
    assert spent("people.db") == once != []


def unknown(batches: Iterator[Any]) -> Iterator[Any]:
    """Of a module that the workers do not have."""
    yield from batches


unknown.__module__ = "leeward_that_is_not_there"


def test_workers_without_leeward_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, unknown.__module__, sys.modules[__name__])  # as it is here
        patch.setattr(_in_spark, "_version_of_worker", unknown)
        with pytest.raises(EngineError, match=r"cannot import the same version of Leeward.*PYSPARK_PYTHON") as caught:
            perturb_in_spark(geo(), people(1), tmp_path / "out", **AT)
        assert "not_there" not in str(caught.value)
    monkeypatch.setattr(_in_spark, "__version__", "0.0")
    with pytest.raises(EngineError, match=r"Install leeward==0\.0 there"):
        perturb_in_spark(geo(), people(1), tmp_path / "out", **AT)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_see_the_folder_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="does not see what is in it"):
        _in_spark.write_once(people(), _in_spark.moved, tmp_path / "of this machine" / "whole")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("batches", [1, 2])
def test_an_attempt_fails_where_its_folder_is_gone(batches: int, tmp_path: Path) -> None:
    """Also after its last batch, and where Spark has made the folder anew."""
    with scratch(tmp_path) as made:
        attempt = _in_spark._while_there(str(made.path), iter, iter([b""] * batches))  # type: ignore[arg-type]
        next(attempt)
    made.path.mkdir()
    with pytest.raises(RuntimeError, match="is gone"):
        next(attempt)
    with pytest.raises(RuntimeError, match="is gone"):
        next(_in_spark._while_there(str(made.path), pytest.fail, iter([])))


def slow(go: str, *given: Any) -> Iterator[Any]:
    """As a task does it; but it says that it has begun to write, waits to be told to go on, and says that it has ended."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    try:
        for batch in _in_spark.moved(*given):
            yield batch.slice(0, 1)
            Path(f"{go}.begun.{task.partitionId()}").touch()
            until(Path(go).exists)
            yield batch.slice(1)
    finally:
        Path(f"{go}.ended.{task.partitionId()}").touch()


def until(said: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not said() and time.monotonic() < deadline:
        time.sleep(0.05)


ASKING = """
import sys
from functools import partial
from pathlib import Path
from tests.local import test_perturb_elsewhere as tests
from pyspark.sql.connect.session import SparkSession
from leeward.local.location import _in_spark
_in_spark.moved = partial(tests.slow, sys.argv[2])
frame = SparkSession(sys.argv[1]).sql("SELECT id, 35.7D AS lat, 139.7D AS lon FROM range(0, 400, 1, 2)")
_in_spark.perturb_in_spark(tests.geo(), frame, Path(sys.argv[3]), **tests.AT)
"""


def test_what_goes_on_when_whoever_asked_is_killed_shows_nothing(tmp_path: Path) -> None:
    """The server still draws while the next run beside it sweeps the folder; it finds none to write into afterwards."""
    (tmp_path / "seen").mkdir()
    (tmp_path / "reports").mkdir()
    go, out = tmp_path / "seen" / "go", tmp_path / "reports" / "out"
    root = Path(__file__).parent.parent.parent
    asking = subprocess.Popen(
        [sys.executable, "-c", ASKING, address(), go, out], cwd=root, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    until(lambda: len(list(go.parent.glob("go.begun.*"))) == 2 or asking.poll() is not None)
    asking.send_signal(signal.SIGKILL)
    said = asking.communicate()[1]
    assert len(list(go.parent.glob("go.begun.*"))) == 2, said[-2000:]
    (left,) = out.parent.iterdir()
    assert left.name.startswith(".leeward-")
    assert list(left.glob("whole/_temporary/0/_temporary/*/*.parquet")) != [], "it had not begun to write"

    def tell() -> None:  # its tasks have all cores until then
        until(lambda: not left.exists())
        go.touch()

    threading.Thread(target=tell).start()
    with pytest.warns(UserWarning, match="id"):
        perturb_in_spark(geo(), people(1), out, **AT)
    until(lambda: len(list(go.parent.glob("go.ended.*"))) == 2)
    time.sleep(1)  # its tasks are tried again, and find no folder
    shown = [path for path in out.parent.rglob("*") if path.is_file() and path.parent != out]
    assert shown == []
    assert sorted(read(out)) == list(range(400))
