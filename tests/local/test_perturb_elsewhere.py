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
from tests.killed import Stage
from tests.ledger.spent import spent_in
from tests.local.test_location import Run, table
from tests.local.test_location import run as run
from tests.local.test_perturb_in_spark import AT, BUDGET, by_spark, dying, geo, parts, read, spent
from tests.private_files import open_to_others
from tests.spark import address, remote, session_at

import leeward as lw
from leeward._scratch import scratch
from leeward.engine import open_data, read_keys
from leeward.errors import DataError, EngineError
from leeward.ledger._spent import Spent
from leeward.local.location import _in_spark, _spark_table, perturb_in_spark
from leeward.local.location._spark_table import OpenedTable
from leeward.outputs import Files

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


@pytest.mark.long
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


# ---- who asks is killed at every stage

PLACED = "the reports have their name"
STAGES: dict[str, Stage] = {
    "before anybody is charged": (Spent, "write", 1),
    "when all are charged": (OpenedTable, "most", 1),
    "when all is drawn": (Files, "place", 1),
    "when the statement has its name": (os, "replace", 2),
    PLACED: (Files, "_read_back", 1),
}

DYING = """
import sys
from tests.killed import die_at
from tests.local.test_perturb_elsewhere import STAGES
die_at(STAGES[sys.argv[1]])
sys.argv = ["leeward", "perturb", *sys.argv[2:], "--yes"]
from leeward.cli import main
main()
"""


@pytest.mark.long
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("where", ["elsewhere", "here"])
def test_a_run_that_is_killed_shows_nothing_and_what_it_charged_stands(
    where: str, stage: str, run: Run, tmp_path: Path
) -> None:
    """All of its people are charged, or none; the next run pays for its own draw, and sweeps what the dead one left."""
    parts(tmp_path, table())
    remote = {"spark.remote": address()} if where == "elsewhere" else {}
    asked = str(by_spark(tmp_path, data=remote, budget=BUDGET | {"reports_a_day": 400}))
    root = Path(__file__).parent.parent.parent
    killed = subprocess.run(
        [sys.executable, "-c", DYING, stage, asked, "--out", tmp_path / "out"],
        env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, timeout=180, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    assert (tmp_path / "out").exists() == (stage == PLACED)
    assert open_to_others([*tmp_path.glob("*.db*"), *tmp_path.glob(".leeward-*")]) == []
    store = tmp_path / "people.db"
    charged = sum(spent_in(store).values()) if store.exists() else 0
    code, _, said = run(asked, "--out", "next")
    assert code == 0, said
    assert len(pd.read_parquet("next")) == 500
    assert charged == (0 if stage == "before anybody is charged" else 500)
    assert sum(spent_in(store).values()) == charged + 500
    assert [*tmp_path.glob(".leeward-*")] == []


GONE = r"or is not reached any more|stopped with"
SERVER = "from tests.spark import address; print(address(), flush=True); input()"


@pytest.fixture
def server() -> Iterator[tuple[str, Callable[[], None]]]:
    """The address of a server of Spark Connect of its own, and what kills it with all that is of it."""
    root, alone = Path(__file__).parent.parent.parent, os.environ.copy()
    alone.pop("PYTEST_XDIST_TESTRUNUID", None)
    started = subprocess.Popen(
        [sys.executable, "-c", SERVER], cwd=root, env=alone, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert started.stdout is not None

    def kill() -> None:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()

    yield started.stdout.readline().strip(), kill
    if started.poll() is None:
        kill()


@pytest.mark.long
@pytest.mark.parametrize("what", ["counting", "perturbing"])
def test_a_server_that_is_killed_gives_nothing_and_says_so(
    what: str, server: tuple[str, Callable[[], None]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, kill = server
    caller = session_at(where)
    frame, begun = caller.sql("SELECT id, 35.7D AS lat, 139.7D AS lon FROM range(0, 400, 1, 2)"), time.monotonic()
    if what == "counting":
        told = lw.records(frame.selectExpr("id", "'g' AS g"), person="id", engine="spark")
        asked = lw.statistic(told, "histogram", by={"g": ["g", "h"]})
        with open_data(asked, read_keys(asked)) as table:
            assert table.exactly(asked, "answer").counts.tolist() == [400, 0]
            kill()
            begun = time.monotonic()
            with pytest.raises(DataError, match=GONE):
                table.content(b"secret" * 8)
    else:
        (tmp_path / "seen").mkdir()
        (tmp_path / "reports").mkdir()
        go = tmp_path / "seen" / "go"
        monkeypatch.setattr(_in_spark, "moved", partial(slow, str(go)))

        def end() -> None:
            until(lambda: len(list(go.parent.glob("go.begun.*"))) == 2)
            kill()

        ending = threading.Thread(target=end)
        ending.start()
        with pytest.raises(DataError, match=GONE):
            perturb_in_spark(geo(), frame, tmp_path / "reports" / "out", **AT)
        ending.join()
        assert len(list(go.parent.glob("go.begun.*"))) == 2
        assert [*(tmp_path / "reports").iterdir()] == []
    assert time.monotonic() - begun < 150
    caller.client._channel.close()
