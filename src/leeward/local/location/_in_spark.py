# SPDX-License-Identifier: Apache-2.0
"""Positions perturbed by Spark, a partition at a time: a DataFrame in, a folder of Parquet files out.

*Whose noise.* Each attempt of each task makes the mechanism anew from its public description, with a key from the operating
system of the machine that it runs on. So no two workers draw alike, and nothing of the entropy travels.

*One draw for each position is shown.* Spark works a part out again where a worker dies, where it speculates, and each time
that a DataFrame is asked. So noisy rows are never handed on as a DataFrame that is worked out on demand. They are written
once, into a private folder: each attempt writes into a folder of its own, the driver lets one attempt of each task commit,
and Spark removes what the others wrote (its ``FileOutputCommitter``, version 1, which our session sets; version 2 shows an
attempt before it is whole). Only when all tasks have committed does the folder get its name, by one renaming. A job that
fails leaves nothing; what a driver that is killed leaves, the next one sweeps.

What an attempt wrote that did not commit is gone, but it was on the disks of the cluster for a while, beside the table. A
Spark that is reached by Spark Connect outlives whoever asks, so its tasks may go on after the folder was swept. Each attempt
looks whether the folder is there, before it draws, before each batch that it hands on and in the end; if not, it fails.
"""

from __future__ import annotations

import copy
import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from leeward._optional import optional
from leeward._paths import resolve
from leeward._private import Private
from leeward._scratch import OWNER, scratch
from leeward._spark import Spark, in_plain_words, is_frame, session_of
from leeward._spark_remote import is_remote
from leeward.errors import DataError, EngineError, InputError, RefusedError
from leeward.local._untouched import untouched, warn
from leeward.local.location._clamped import Clamped
from leeward.local.location._order import PositionOrder
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._terms import Terms
from leeward.outputs._disk import as_any_new
from leeward.tables._columns import check_named
from leeward.tables._spark_files import quoted
from leeward.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa

_COMMITTED_ONCE: Final = {
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
}
"""One attempt commits; and times are written as what they are, not as the old INT96, which does not say it."""

_VERSION: Final = ("mapreduce.fileoutputcommitter.algorithm.version", "1")
_COORDINATED: Final = "spark.hadoop.outputCommitCoordination.enabled"

WRITES: Final = ("*", "_temporary/0/*/*", "_temporary/0/_temporary/*/*")
"""What its committer writes into a folder: what is done, what tasks have committed, and what attempts are writing."""


def perturb_in_spark(
    geo: PlanarLaplace, frame: Any, out: str | os.PathLike[str], *, latitude: str, longitude: str
) -> None:
    """Write a DataFrame of Spark, its positions perturbed row by row, as a folder of Parquet files: whole or not at all.

    Noise is drawn by Spark's workers, for each partition with entropy of the machine that it is on. Each row that is written
    is of one attempt of one task: what others drew, because a worker died or Spark tried a task twice, is never shown. Other
    columns stay as they are, with a warning. Needs ``leeward[spark]``, also where the workers are.

    Args:
        geo: the mechanism.
        frame: the DataFrame; it is asked twice, first whether its positions are in the box.
        out: the folder, which is not there yet, on a file system that all machines see by the same paths.
        latitude: the column of latitudes in degrees, of the type double.
        longitude: the column of longitudes.

    Raises:
        DataError: there is no such column, its type is another, or its positions would be refused of a table in memory; or
            Spark stopped. Nothing was written.
        InputError: it is no DataFrame of Spark, or the folder is there.
        RefusedError: the mechanism moves its reports to places or cells, or has entropy of its own; or Spark is set to show
            attempts.
    """
    out = resolve(out)
    if not is_frame(frame):
        raise InputError("What is not a DataFrame of Spark", "Spark perturbs its own", "Give it to perturb instead")
    if geo.terms != Terms():
        raise RefusedError(
            "A mechanism that moves its reports to places or cells, in Spark",
            "its workers make the mechanism from its own description, in which that does not stand",
            "Give the mechanism before that step, and move the reports afterwards",
        )
    if not geo.fit_for_release:
        raise RefusedError(
            "A mechanism with entropy of its own, in Spark", "each worker draws from its machine", "Leave bits out"
        )
    names = (latitude, longitude)
    check_named(names, frame.columns)
    kinds = {field.name: field.dataType.simpleString() for field in frame.schema.fields}
    for name in names:
        if kinds[name] != "double":
            raise DataError(f"The column '{name}' of type {kinds[name]}", "degrees are of the type double", "Cast it")
    if os.path.lexists(out):
        raise InputError(f"The folder '{out}'", "it is there already", "Name one that is not there")
    if not os.path.isdir(out.parent):
        raise InputError(f"The folder '{out}'", "the folder that it is to lie in does not exist", "Make that first")
    with in_ours(frame) as table, scratch(out.parent, [f"whole/{name}" for name in WRITES]) as made:
        found = look(geo, table, names)
        write_once(table, partial(moved, geo.described, geo.law, names), made.path / "whole")
        try:
            os.rename(made.path / "whole", out)
        except OSError as error:
            reason = f"it cannot get its name: {error.strerror}"
            raise InputError(f"The folder '{out}'", reason, "Run it again") from None
    warn(
        untouched([name for name in frame.columns if name not in names], "the position"), found.looked.note, found.order
    )


@contextmanager
def in_ours(frame: Any) -> Iterator[Any]:
    """A DataFrame of a caller in a session of ours, which is in UTC and commits one attempt of each task."""
    with session_of(Spark(), frame) as session:
        commit_once(session)
        name = f"leeward_{uuid.uuid4().hex}"
        frame.createGlobalTempView(name)
        try:
            yield session.table(f"global_temp.{name}")
        finally:
            session.catalog.dropGlobalTempView(name)


def commit_once(session: Any) -> None:
    """Set a session of ours so that one attempt of each task commits."""
    for key, value in _COMMITTED_ONCE.items():
        session.conf.set(key, value)
    if session.conf.get(_COORDINATED, "true").lower() != "true":
        raise RefusedError(f"A Spark with {_COORDINATED} off", "two attempts may both be shown", "Turn it on")


@dataclass(frozen=True, slots=True, repr=False)
class PositionsSeen(Private):
    """What was seen of a table before anything is drawn.

    Attributes:
        rows: how many rows have a position.
        looked: how many of these lie beyond the box.
        order: what to tell the curator of the order of rows, if anything.
        timeless: how many rows with a position have no time.
    """

    rows: int
    looked: Clamped
    order: str | None
    timeless: int


def look(
    geo: PlanarLaplace, table: Any, names: tuple[str, str], person: str | None = None, time: str | None = None
) -> PositionsSeen:
    """Look at a table, and refuse what would be refused of one in memory.

    Args:
        geo: the mechanism.
        table: a DataFrame of a session of ours.
        names: the columns of latitudes and of longitudes.
        person: the column that says whose each row is, and
        time: when; None where there is none.

    Raises:
        DataError: positions are missing or beyond the box where that is refused.
        EngineError: the workers have no Leeward, or another.
    """
    check_workers(table.sparkSession)
    read = [*names, *(name for name in (person, time) if name is not None)]
    asked = table.select(*map(quoted, read))
    counting = partial(_looked_at, geo.described, names, person, time)
    with in_plain_words():
        found = asked.mapInArrow(counting, "seen long, beyond long, odd long, timeless long, alike string")
        sums = [f"coalesce(sum({name}), 0)" for name in ("seen", "beyond", "odd", "timeless")]
        seen, beyond, odd, timeless, alike = found.selectExpr(*sums, "max(alike)").collect()[0]
    if odd or (beyond and geo.outside == "refuse"):
        raise DataError(
            "Some positions are missing, not finite or outside the public box (this is for the curator only)",
            "there is nothing to add noise to",
            'Remove these rows, or choose missing = "keep" or outside = "clamp"',
        )
    looked = Clamped(geo.box)
    looked.add(int(seen), int(beyond))
    looked.check()
    return PositionsSeen(int(seen), looked, alike, int(timeless))


def check_workers(session: Any) -> None:
    """Refuse a Spark whose workers cannot make the mechanism."""
    with in_plain_words():
        try:
            found = session.range(1).mapInArrow(_version_of_worker, "version string").collect()[0][0]
        except optional("pyspark.errors", "Spark").PySparkException:
            found = None
    if found != __version__:
        raise EngineError(
            "The workers of this Spark",
            "they draw the noise, and cannot import the same version of Leeward in the same version of Python as here",
            f"Install leeward=={__version__} there, for Python {sys.version_info[0]}.{sys.version_info[1]}: where the"
            " variable PYSPARK_PYTHON of that Spark says. Nothing was drawn",
        )


def _version_of_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for batch in batches:
        yield pa.RecordBatch.from_pydict({"version": [__version__] * len(batch)})


def write_once(table: Any, change: Any, path: Path) -> None:
    """Write a table that is changed a batch at a time, all of it or nothing, each row as one attempt made it.

    Args:
        table: a DataFrame of a session of ours; see `commit_once`.
        change: from batches of Arrow to batches of the same columns; it is called once in each attempt of each task.
        path: a folder that is not there yet, in one that nobody was told of.

    Raises:
        DataError: Spark stopped.
        EngineError: a Spark that is reached by Spark Connect does not see that folder.
    """
    schema = copy.deepcopy(table.schema)
    for field in schema.fields:
        field.nullable = True  # where one of two degrees is missing, none is reported
    with in_plain_words():
        if is_remote(table.sparkSession):
            _check_seen(table.sparkSession, path.parent)
        table.mapInArrow(partial(_while_there, str(path.parent), change), schema).write.option(*_VERSION).parquet(
            f"file://{path}"
        )
    with suppress(OSError):  # a cluster's executors may be somebody else's
        as_any_new(path)  # Hadoop gives what it writes modes of its own, whatever the umask is


def _check_seen(session: Any, folder: Path) -> None:
    """Refuse a server that would make the folder on a machine of its own: what it wrote there, nobody would remove."""
    try:
        session.read.text(f"file://{folder}").schema  # noqa: B018  # it is listed then
    except optional("pyspark.errors", "Spark").PySparkException:
        raise EngineError(
            f"The folder '{folder.parent}'",
            "the Spark that is reached by Spark Connect does not see what is in it, or may not read it",
            "Name one on a file system that both see by the same path; and let the server run as the user who asks",
        ) from None


def _while_there(folder: str, change: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Hand on what is made of batches while a folder of ours is there: what an attempt does, which may outlive who asked.

    It is told by the file that says whose it is. Spark makes a folder that was swept anew, open to all, where it writes what
    was handed on; so it is looked for once more in the end, and an attempt that fails then is removed by Spark.
    """

    def check() -> None:
        if not os.path.exists(os.path.join(folder, OWNER)):
            raise RuntimeError("the folder that is written into is gone, or not seen from here")

    check()
    for batch in change(batches):
        check()
        yield batch
    check()


def moved(
    described: Mapping[str, Any], law: str, names: tuple[str, str], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield batches with their positions perturbed: what an attempt at a task does."""
    geo = PlanarLaplace(**described)
    if geo.law != law:
        raise RuntimeError("the Leeward of the workers is another than that of the driver")
    for batch in batches:
        north, east = degrees(batch, names)
        there = geo.present(north, east)
        found = np.full((2, len(north)), np.nan)
        found[:, there] = geo.shown(geo.draw(geo.to_grid(north[there], east[there])))
        for name, values in zip(names, found, strict=True):
            batch = batch.set_column(batch.schema.get_field_index(name), name, _column(values))
        yield batch


def _looked_at(
    described: Mapping[str, Any],
    names: tuple[str, str],
    person: str | None,
    time: str | None,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """Yield one row about a part of the table, which is read in its order."""
    import pyarrow as pa

    geo, order = PlanarLaplace(**described), PositionOrder()
    seen = beyond = odd = timeless = 0
    for batch in batches:
        north, east = degrees(batch, names)
        absent = np.isnan(north) | np.isnan(east)
        wrong = np.isinf(north) | np.isinf(east) | (absent if geo.missing == "refuse" else False)
        there = ~(absent | wrong)
        seen, odd = seen + int(there.sum()), odd + int(wrong.sum())
        beyond += int((~geo.box.holds(north[there], east[there])).sum())
        who, when = (None if name is None else batch.column(name).to_pylist() for name in (person, time))
        if when is not None:
            timeless += sum(when[row] is None for row in np.flatnonzero(there).tolist())
        order.add(north, east, who, when)
    totals = {"seen": [seen], "beyond": [beyond], "odd": [odd], "timeless": [timeless]}
    yield pa.RecordBatch.from_pydict(totals | {"alike": pa.array([order.note], pa.string())})


def degrees(batch: pa.RecordBatch, names: Sequence[str]) -> list[Any]:
    """Return latitudes and longitudes of a batch, missing as NaN."""
    import pyarrow.compute as pc

    return [pc.fill_null(batch.column(name), float("nan")).to_numpy(zero_copy_only=False) for name in names]


def _column(values: Any) -> Any:
    import pyarrow as pa

    return pa.array(values, mask=np.isnan(values))
