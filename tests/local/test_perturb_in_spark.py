"""Positions perturbed by Spark: each row once, as one attempt of one task drew it, whatever dies meanwhile.

Sweeps, because starting Spark takes longer than many a folder of tests.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark import spark

import leeward as lw
from leeward.errors import DataError, InputError, RefusedError
from leeward.local.location import _in_spark, perturb_in_spark
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


def test_what_a_killed_worker_drew_is_never_shown(tmp_path: Path) -> None:
    """Each task draws twice; the draws differ, and those of the second are what is there, each row once."""
    (tmp_path / "drawn").mkdir()
    mechanism = geo()
    change = partial(dying, str(tmp_path / "drawn"), mechanism.described, mechanism.law, ("lat", "lon"))
    with _in_spark.in_ours(people()) as table:
        _in_spark.write_once(table, change, tmp_path / "out")
    found, lost = read(tmp_path / "out"), read(tmp_path / "drawn")
    assert sorted(found) == sorted(lost) == list(range(ROWS))
    assert sum(found[row] == lost[row] for row in found) < 0.05 * ROWS
    assert {path.name for path in tmp_path.iterdir()} == {"drawn", "out"}


def failing(batches: Iterator[Any]) -> Iterator[Any]:
    for number, batch in enumerate(batches):
        yield batch
        if number == 0 and batch.column("id")[0].as_py() == 0:
            raise RuntimeError("canary")


def test_a_job_that_fails_leaves_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with _in_spark.in_ours(people()) as table, pytest.raises(DataError, match="cannot be read by Spark") as caught:
        _in_spark.write_once(table, failing, tmp_path / "out")
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
    with pytest.warns(UserWarning, match="id"), pytest.warns(UserWarning, match="1 positions were outside"):
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
