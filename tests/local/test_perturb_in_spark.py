"""Positions perturbed by Spark: each row once, as one attempt of one task drew it, whatever dies meanwhile.

Sweeps, because starting Spark takes longer than many a folder of tests.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.local.test_location import Run, spec, table
from tests.local.test_location import run as run
from tests.spark import spark

import leeward as lw
from leeward.errors import DataError, InputError, RefusedError
from leeward.local.location import _in_spark, _spark_table, perturb_in_spark
from leeward.local.location._spark_table import SparkTable
from leeward.local.location._spec import Data
from leeward.noise import SeededBitsForTests

pytestmark = [pytest.mark.sweep, pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")]

BOX = (139.5, 35.5, 140.0, 35.9)
ROWS, PARTS = 400, 4
AT = {"latitude": "lat", "longitude": "lon"}


def people(lat: str = "35.7D", parts: int = PARTS) -> Any:
    return spark().sql(f"SELECT id, {lat} AS lat, 139.7D AS lon FROM range(0, {ROWS}, 1, {parts})")


def geo(**given: Any) -> Any:
    return lw.PlanarLaplace(box=BOX, within="200 m", factor=2, **given)


def read(out: Path) -> dict[int, tuple[float, float]]:
    table = pq.read_table(out).to_pydict()
    assert len(table["id"]) == ROWS
    return {row: (lat, lon) for row, lat, lon in zip(table["id"], table["lat"], table["lon"], strict=True)}


def test_each_row_is_written_once_and_no_two_workers_draw_alike(tmp_path: Path) -> None:
    """Everybody is at one point: two parts whose workers had one key would hold the same reports, in the same order."""
    with pytest.warns(UserWarning, match="id"):
        perturb_in_spark(geo(), people(), tmp_path / "out", **AT)
    found = read(tmp_path / "out")
    assert sorted(found) == list(range(ROWS))
    parts = [[found[row] for row in range(at, at + ROWS // PARTS)] for at in range(0, ROWS, ROWS // PARTS)]
    assert len({tuple(part) for part in parts}) == PARTS
    assert len({report for part in parts for report in part}) > 0.9 * ROWS
    metres = np.array([[111_195 * (lat - 35.7), 90_300 * (lon - 139.7)] for lat, lon in found.values()])
    far = np.hypot(*metres.T).mean()  # 577 on average, standard deviation 408/20: out of these bounds once in 10^9
    assert 450 < far < 710
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def dying(drawn: str, described: Any, law: str, names: Any, batches: Iterator[Any]) -> Iterator[Any]:
    """As a task does it; but the first attempt at each part notes what it drew, writes it, and is killed."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    for batch in _in_spark.moved(described, law, names, batches):
        if task.attemptNumber() == 0:
            pq.write_table(pa.Table.from_batches([batch]), f"{drawn}/{task.partitionId()}.parquet")
        yield batch
    if task.attemptNumber() == 0:
        os.kill(os.getpid(), signal.SIGKILL)


def failing(*given: Any) -> Iterator[Any]:
    for number, batch in enumerate(given[-1]):
        yield batch
        if number == 0 and batch.column("id")[0].as_py() == 0:
            raise RuntimeError("canary")


def test_a_job_that_fails_leaves_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_in_spark, "moved", failing)
    with pytest.raises(DataError, match="cannot be read by Spark") as caught:
        perturb_in_spark(geo(), people(), tmp_path / "out", **AT)
    assert list(tmp_path.iterdir()) == []
    assert "canary" not in str(caught.value) + "".join(capfd.readouterr())


@pytest.mark.parametrize(
    ("lat", "given", "said"),
    [
        ("IF(id = 7, NULL, 35.7D)", {}, "missing, not finite or outside"),
        ("IF(id = 7, DOUBLE('Infinity'), 35.7D)", {"missing": "keep"}, "missing, not finite or outside"),
        ("IF(id = 7, 12D, 35.7D)", {}, "missing, not finite or outside"),
        ("12D", {"outside": "clamp"}, "Under 1 %"),
        ("35.7", {}, "of type decimal"),
    ],
)
def test_positions_that_are_refused(lat: str, given: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        perturb_in_spark(geo(**given), people(lat, 2), tmp_path / "out", **AT)
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_and_what_is_moved_into_the_box(tmp_path: Path) -> None:
    made, frame = (
        geo(missing="keep", outside="clamp"),
        people("CASE id WHEN 7 THEN NULL WHEN 8 THEN 12D ELSE 35.7D END", 2),
    )
    with pytest.warns(UserWarning, match="id"), pytest.warns(UserWarning, match="1 position was outside"):
        perturb_in_spark(made, frame, tmp_path / "out", **AT)
    found = read(tmp_path / "out")
    assert [row for row, report in found.items() if report == (None, None)] == [7]
    assert 35.5 <= found[8][0] < 35.6


def test_what_workers_cannot_make_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="moves its reports"):
        perturb_in_spark(geo().to_places([35.6], [139.7]), people(), tmp_path / "out", **AT)
    with pytest.raises(RefusedError, match="entropy of its own"):
        perturb_in_spark(geo(bits=SeededBitsForTests(1)), people(), tmp_path / "out", **AT)
    with pytest.raises(InputError, match="Spark perturbs its own"):
        perturb_in_spark(geo(), pa.table({"lat": [35.7]}), tmp_path / "out", **AT)
    with pytest.raises(InputError, match="it is there already"):
        perturb_in_spark(geo(), people(), tmp_path, **AT)


# ---- the command

BUDGET = {"store": "people.db", "secret": "people.key", "reports_a_day": 80}


def by_spark(folder: Path, table: str = "part-*.parquet", **given: Any) -> Path:
    data = {"table": table, "person": "who", "time": "when"} | given.pop("data", {})
    return spec(folder, data=data | {"engine": "spark"}, **given)


def parts(folder: Path, frame: pd.DataFrame) -> None:
    for number, part in enumerate((frame[:200], frame[200:])):
        part.to_parquet(folder / f"part-{number}.parquet", index=False)


def spent(store: str) -> list[Any]:
    with sqlite3.connect(store) as opened:
        return sorted(opened.execute("SELECT * FROM spent"))


def test_the_command_perturbs_files_by_spark(run: Run, tmp_path: Path) -> None:
    """A folder appears with each row once; people pay, and the curator is told, what they do for a file."""
    parts(tmp_path, table())
    alone = run(
        str(spec(tmp_path, data={"person": "who", "time": "when"}, budget=BUDGET | {"store": "b.db"})),
        "-o",
        "p.parquet",
    )
    before = os.umask(0o027)  # Hadoop gives files modes of its own, whatever the umask is
    try:
        code, said, notes = run(
            str(by_spark(tmp_path, budget=BUDGET, output={"drop_columns": ["note"]})), "--out", "out"
        )
    finally:
        os.umask(before)
    assert (code, said) == (0, "500 rows perturbed.\nWritten: out\nWritten: out.release.json\n"), notes
    assert spent("people.db") == spent("b.db") != []
    assert notes == alone[2].replace("b.db", "people.db").replace("who, note, when", "who, when")
    assert "cost together up to" in notes
    found, true = pd.read_parquet("out").sort_values("when"), table()
    assert list(found.columns) == ["who", "lat", "lon", "when"]
    assert found[["who", "when"]].to_numpy().tolist() == true[["who", "when"]].to_numpy().tolist()
    assert (found["lat"].to_numpy() == true["lat"].to_numpy()).sum() < 5
    usual = Path("out.release.json").stat().st_mode & 0o777
    assert usual == 0o640
    assert {path.stat().st_mode & 0o777 for path in Path("out").iterdir()} == {usual}
    assert Path("out").stat().st_mode & 0o777 == usual | (usual & 0o444) >> 2
    statement = json.loads(Path("out.release.json").read_text())
    held = {f"out/{path.name}": hashlib.sha256(path.read_bytes()).hexdigest() for path in Path("out").iterdir()}
    assert {name: made for name, made in statement["files"].items() if name != "out.release.json"} == held
    assert statement["columns_as_they_are"] == ["who", "when"]
    assert pq.read_schema(next(Path("out").glob("*.parquet"))).field("when").type == pa.timestamp("us")
    code, _, again = run(str(by_spark(tmp_path, budget=BUDGET)), "--out", "out")
    assert (code, "it would be written over" in again) == (2, True)
    code, _, over = run(str(by_spark(tmp_path, budget=BUDGET)), "--out", "more")
    assert (code, "does not pay for it; nothing was charged" in over) == (2, True), "the store is one"
    assert not any("more" in path.name or path.name.startswith(".leeward") for path in tmp_path.iterdir())


def test_what_a_killed_worker_drew_is_never_shown(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each task draws twice; what is there is the second draw, each row once. Nothing is, where a file changes meanwhile."""
    spark()  # the session that all share tries a task again; one of the command's own would stop
    frame = table().assign(id=range(500))
    parts(tmp_path, frame)
    (tmp_path / "drawn").mkdir()
    monkeypatch.setattr(_spark_table, "moved", partial(dying, str(tmp_path / "drawn")))
    code, _, said = run(str(by_spark(tmp_path)), "--out", "out")
    assert code == 0, said
    found, lost = (pd.read_parquet(one).set_index("id").sort_index() for one in ("out", "drawn"))
    assert list(found.index) == list(lost.index) == list(range(500))
    assert (found["lat"] == lost["lat"]).sum() < 25

    def write(*given: Any) -> None:
        _in_spark.write_once(*given)
        parts(tmp_path, frame.assign(id=0))

    monkeypatch.setattr(_spark_table, "write_once", write)
    monkeypatch.setattr(_spark_table, "moved", _in_spark.moved)
    code, _, said = run(str(by_spark(tmp_path)), "--out", "changed")
    assert (code, "it was changed while it was being read" in said) == (2, True)
    assert not any("changed" in path.name or path.name.startswith(".leeward") for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "given", "said"),
    [
        ({"lat": pa.array([39.9], pa.float32())}, {}, "The column 'lat' of type float: degrees are of the type double"),
        ({"who": [1.5]}, {}, "people are told apart by text or whole numbers"),
        ({"when": ["2026-03-01"]}, {}, "times are dates or timestamps"),
        ({"when": pa.array([None], pa.timestamp("us"))}, {"budget": BUDGET}, "A time that is not a date"),
        ({"note": [[1]]}, {}, "The column = 'note': the column is of the type list"),
        ({"lat": [12.0]}, {}, "outside the public box"),
    ],
)
def test_tables_that_spark_does_not_perturb(change: Any, given: Any, said: str, run: Run, tmp_path: Path) -> None:
    row = {"who": [1], "lat": [39.9], "lon": [116.4], "when": pa.array([0], pa.timestamp("us")), "note": ["x"]}
    pq.write_table(pa.table(row | change), tmp_path / "one.parquet")
    code, _, told = run(str(by_spark(tmp_path, "one.parquet", **given)), "--out", "out")
    assert (code, said in told) == (2, True), told
    assert not (tmp_path / "out").exists()
    assert not Path("people.db").exists() or spent("people.db") == []


@pytest.mark.parametrize("column", ["when", "note"])
def test_days_in_a_calendar_that_parquet_has_not_are_refused(column: str, run: Run, tmp_path: Path) -> None:
    """Spark reads another day there than other programs do: a day would be charged, or shown, that is not stored."""
    row = {"who": [1], "lat": [39.9], "lon": [116.4], "when": pa.array([0], pa.timestamp("us")), "note": ["x"]}
    one = pa.table(row | {column: pa.array([-200_000], pa.int32()).cast(pa.date32())})
    pq.write_table(one.replace_schema_metadata({"org.apache.spark.version": "2.4.8"}), tmp_path / "one.parquet")
    code, _, told = run(str(by_spark(tmp_path, "one.parquet")), "--out", "out")
    assert (code, "in a calendar that Parquet has not" in told) == (2, True), told
    assert not (tmp_path / "out").exists()


def test_what_is_known_of_a_table_shows_nothing(tmp_path: Path) -> None:
    parts(tmp_path, table().sort_values("lat"))
    data = Data(table="-", latitude="lat", longitude="lon", engine="spark")
    held = SparkTable(data, tmp_path / "part-*.parquet")
    with held.opened() as opened:
        look = opened.look(lw.PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2))
        assert look.rows == 500
        assert "rows that follow one another" in str(look.order)
        for one in (held, opened, look):
            assert repr(one) == f"<{type(one).__name__}: for the curator only>"
            assert not hasattr(one, "__dict__")
