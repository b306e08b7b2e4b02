"""Time ``leeward release`` on many visits beside OpenDP's Context API at the same job, as whole processes, in one run.

    python benchmarks/visits.py --visits 10000000 --opendp-python PATH
    python benchmarks/visits.py --visits 10000000 --without-opendp

The job: ten million visits of a million people over 6,000 places in a month, as Parquet; count the people at each place of
the public list, at one place a person (the latest), add noise, write the answer. The data are made first, from a seed.

OpenDP 0.16 wants one exact version of Polars (`peers.txt` pins both); if this Python has another, name one that has it, here
or in the environment variable ``OPENDP_PYTHON``, as `make bench` does. Two things are made easy for OpenDP: the window is
applied before the data are handed to it, as it takes no times in a filter; and which visit it keeps is not checked:
``SortBy`` of 0.16.0 keeps one, but with three or more visits a person not always the one that comes first.

With ``--spark``, Leeward does it in Spark too, on two cores of this machine; and with ``--tumult-python`` so does Tumult
Analytics, in its own Spark and Python (``pip install tmlt.analytics``, with Java 17). Tumult is given an ε of 1 a person, of
whom it keeps one visit, whichever comes first.

Beside them stands what DuckDB takes for the counts alone, in a process of its own: without noise, promise, budget, or a
digest by which the content is recognised.

Repeats take turns, so that a busy machine slows both alike; medians are shown, and the largest peak of memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

CORES = "local[2]"
"""Where Spark runs, Leeward's and Tumult's."""

START, END = datetime(2024, 1, 1), datetime(2024, 2, 1)

SPEC = """
[data]
visits = "visits.parquet"
person = "person"
place = "place"
time = "time"
[places]
table = "places.parquet"
place = "place"
[window]
start = 2024-01-01T00:00:00
end = 2024-02-01T00:00:00
[protect]
notion = "addition-only"
epsilon = "1"
places_per_person = 1
if_more = "latest"
[decide]
safe_at_most = 2
[publish]
what = "counts"
[budget]
ledger = "sqlite:///budget.db"
cap = "1"
dataset = "benchmark"
"""


def make(folder: Path, visits: int, people: int, places: int, text: bool) -> None:
    """Write the visits, the public list and the spec: people at random, popular places more often, a uniform time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    random = np.random.default_rng(20240101)
    length = int((END - START).total_seconds()) * 10**6
    stamps = np.datetime64(START, "us").astype(np.int64) + random.integers(0, length, visits)
    person = pa.array(random.integers(0, people, visits))
    place = pa.array((places * random.random(visits) ** 2).astype(np.int64))
    listed = pa.array(np.arange(places))
    if text:
        person, place, listed = (
            pc.binary_join_element_wise(name, pc.cast(ids, pa.string()), "-")
            for name, ids in (("person", person), ("venue", place), ("venue", listed))
        )
    times = pa.array(stamps, pa.timestamp("us"))
    pq.write_table(pa.table({"person": person, "place": place, "time": times}), folder / "visits.parquet")
    pq.write_table(pa.table({"place": listed}), folder / "places.parquet")
    (folder / "spec.toml").write_text(SPEC)


def opendp_job(folder: Path) -> None:
    """The same job by OpenDP; the body of the second process."""
    import warnings

    import opendp.prelude as dp
    import polars as pl

    warnings.simplefilter("ignore")
    dp.enable_features("contrib")
    inside = (pl.col("time") >= START) & (pl.col("time") < END)
    context = dp.Context.compositor(
        data=pl.scan_parquet(folder / "visits.parquet").filter(inside),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
    )
    query = (
        context.query()
        .truncate_per_group(1, keep=dp.polars.SortBy(by=[pl.col("time")], descending=True))
        .group_by("place")
        .agg(dp.len())
        .with_keys(pl.scan_parquet(folder / "places.parquet").select("place"))
    )
    (folder / "opendp").mkdir(exist_ok=True)
    query.release().collect().write_parquet(folder / "opendp" / "answers.parquet")


def duckdb_job(folder: Path) -> None:
    """The counts alone, exact and for nobody's eyes, by DuckDB; the body of the third process."""
    import duckdb

    inside = f"time >= '{START}' AND time < '{END}'"
    latest = f"SELECT arg_max(place, time) AS place FROM '{folder / 'visits.parquet'}' WHERE {inside} GROUP BY person"
    duckdb.sql(f"SELECT place, count(*) FROM ({latest}) GROUP BY place").fetchall()


def tumult_job(folder: Path) -> None:
    """The same job by Tumult Analytics; the body of a process of its own."""
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master(CORES)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))  # Tumult keeps what it works out there
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.parquet.inferTimestampNTZ.enabled", "false")
        .getOrCreate()
    )
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(1),
        source_id="visits",
        dataframe=spark.read.parquet(str(folder / "visits.parquet")),
        protected_change=AddRowsWithID(id_column="person"),
    )
    listed = KeySet.from_dataframe(spark.read.parquet(str(folder / "places.parquet")))
    inside = f"time >= '{START}' AND time < '{END}'"
    query = QueryBuilder("visits").filter(inside).enforce(MaxRowsPerID(1)).groupby(listed).count()
    answers = session.evaluate(query, PureDPBudget(1)).toPandas()
    assert len(answers) == listed.size()
    (folder / "tumult").mkdir(exist_ok=True)
    answers.to_csv(folder / "tumult" / "answers.csv", index=False)


def engine_job(folder: Path) -> None:
    """The engine's part alone, in this process: list, digest, counts."""
    from leeward.engine import open_data, read_places
    from leeward.query import count_visitors, places, visits

    marks = [time.perf_counter()]
    listed = places(folder / "places.parquet", place="place")
    seen = visits(folder / "visits.parquet", person="person", place="place", time="time")
    query = count_visitors(seen, listed, start=START, end=END, places_per_person=1, if_more="latest")
    with open_data(query, read_places(listed)) as table:
        marks.append(time.perf_counter())
        table.content(b"a secret of the ledger")
        marks.append(time.perf_counter())
        table.count(query)
        marks.append(time.perf_counter())
    steps = zip(("open", "digest", "count"), marks, marks[1:], strict=False)
    print("engine alone: " + ", ".join(f"{name} {end - begin:.2f} s" for name, begin, end in steps))


def run(command: list[str]) -> tuple[float, float, float]:
    """The seconds a job takes, those it computes (on all cores), and its peak memory in GB; Java's with the others.

    Processes are looked at ten times a second, so of one that ends the last tenth may be missing.
    """
    computed, peak, start = dict[str, float](), 0, time.perf_counter()
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=told, start_new_session=True)
        while process.poll() is None:
            held = 0
            for number, seconds, memory in processes(process.pid):
                computed[number] = seconds
                held += memory
            peak = max(peak, held)
            time.sleep(0.1)
        seconds = time.perf_counter() - start
        told.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)} failed:\n{told.read()}")
    return seconds, sum(computed.values()), peak / 1e9


def processes(session: int) -> Iterator[tuple[str, float, int]]:
    """The processes of a session of Linux: number, seconds computed so far, and bytes of memory."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            of = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(of[3]) == session:
            ticks = int(of[11]) + int(of[12])
            yield path.parent.name, ticks / os.sysconf("SC_CLK_TCK"), int(of[21]) * os.sysconf("SC_PAGE_SIZE")


def compare(folder: Path, repeats: int, opendp_python: str | None, tumult_python: str | None, spark: bool) -> None:
    from rich.table import Table  # the peer's Python has neither

    from history import show

    command = str(Path(sys.executable).with_name("leeward"))
    leeward = [command, "release", str(folder / "spec.toml"), "--out", str(folder / "out"), "--yes"]
    jobs = {"leeward release": leeward, "DuckDB, counts alone": [sys.executable, __file__, "--duckdb-job", str(folder)]}
    if opendp_python is not None:
        jobs["OpenDP, Context"] = [opendp_python, __file__, "--opendp-job", str(folder)]
    if spark:
        in_spark = folder / "in-spark.toml"
        in_spark.write_text(SPEC.replace("[data]\n", f'[data]\nengine = "spark"\nspark = {{ master = "{CORES}" }}\n'))
        jobs["leeward release, in Spark"] = [command, "release", str(in_spark), "--out", str(folder / "out"), "--yes"]
    if tumult_python is not None:
        jobs["Tumult Analytics"] = [tumult_python, __file__, "--tumult-job", str(folder)]
    spent: dict[str, list[tuple[float, float, float]]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, command in jobs.items():
            # A fresh ledger: else the stored answer would be shown, and nothing counted.
            for part in folder.glob("budget.db*"):
                part.unlink()
            shutil.rmtree(folder / "out", ignore_errors=True)
            spent[name].append(run(command))
    middle = {name: [statistics.median(column) for column in zip(*runs, strict=True)] for name, runs in spent.items()}
    table = Table(title=f"{folder.name}: visits, people, places, ids; median of {repeats}")
    peers = [name for name in ("OpenDP, Context", "Tumult Analytics") if name in jobs]
    ratios = [f"time of {name.partition(',')[0]} ÷ this" for name in peers]
    for column in ("process", "seconds", "of computing", "peak GB", "computing ÷ DuckDB's", *ratios):
        table.add_column(column, justify="left" if column == "process" else "right")
    for name, (seconds, computing, _) in middle.items():
        peak = max(gigabytes for *_, gigabytes in spent[name])
        more = f"{computing / middle['DuckDB, counts alone'][1]:.2f}"
        slower = [f"{middle[peer][0] / seconds:.2f}" for peer in peers]
        table.add_row(name, f"{seconds:.2f}", f"{computing:.2f}", f"{peak:.2f}", more, *slower)
    show("visits", table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=int, default=10_000_000)
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--places", type=int, default=6_000)
    parser.add_argument("--text", action="store_true", help="texts, not integers, as ids of people and places")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a folder to keep the data in, and to find them again")
    parser.add_argument(
        "--opendp-python", default=os.environ.get("OPENDP_PYTHON", sys.executable), help="a Python with opendp[polars]"
    )
    parser.add_argument(
        "--without-opendp", action="store_true", help="leave the peer out, as where it is not installed"
    )
    parser.add_argument("--opendp-job", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--spark", action="store_true", help="measure the engine Spark too")
    parser.add_argument(
        "--tumult-python",
        default=os.environ.get("TUMULT_PYTHON"),
        help="a Python with tmlt.analytics; none if not said",
    )
    parser.add_argument("--tumult-job", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--duckdb-job", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.opendp_job:
        return opendp_job(options.opendp_job)
    if options.tumult_job:
        return tumult_job(options.tumult_job)
    if options.duckdb_job:
        return duckdb_job(options.duckdb_job)
    with tempfile.TemporaryDirectory() as spare:
        kind = "text" if options.text else "ints"
        folder = (options.data or Path(spare)) / f"{options.visits}-{options.people}-{options.places}-{kind}"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "spec.toml").exists():
            make(folder, options.visits, options.people, options.places, options.text)
        print(f"{options.visits:,} visits, {options.people:,} people, {options.places:,} places, ids as {kind}")
        engine_job(folder)
        opendp_python = None if options.without_opendp else options.opendp_python
        compare(folder, options.repeats, opendp_python, options.tumult_python, options.spark)
    return None


if __name__ == "__main__":
    main()
