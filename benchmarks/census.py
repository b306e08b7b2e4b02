"""Measure how far numbers are off beside OpenDP, diffprivlib, Tumult Analytics and SmartNoise, at equal ε, in one run.

    python benchmarks/census.py --repeats 200 --peers-python PATH --tumult-python PATH --smartnoise-python PATH

The data are the bundled census, and a house's power by the minute over its first 26 days, in watts (*Individual household
electric power consumption*, Georges Hebrail and Alice Berard, UCI Machine Learning Repository, doi 10.24432/C58K54, CC BY
4.0): ``household_power.parquet``, of which one column was kept and the minutes without a reading were left out.

Each answer is drawn anew so many times; shown is the median of |answer − exact|, of a histogram that of its mean.
Two medians are *near* where the 95 % interval of their ratio holds 1: no difference was found; the interval is from 1,000
bootstrap samples. "fails" is said where any answer is no number. The time is that of one answer, from a table in memory to
noise, with all set up beforehand that depends on no data: that of the best peer ÷ ours. Ours is the least of three at the
first ε; a peer's is the mean over its answers.

Percentiles are set against the exact one by NumPy's lower rank; OpenDP scores by another rank, so that without any noise its
90 % point of age is 57 where that is 58.

Peers need versions of their own of what others use, so each of three Pythons has its own: `peers.txt` (OpenDP and
diffprivlib), ``pip install tmlt.analytics`` (Tumult, with Java) and ``pip install smartnoise-sql``. A peer whose Python is
not given is not measured, and the title says so.

The notion is what a peer protects: one record more or less ("come or go"), or one record replaced and their number public
("replaced"). Leeward's one-sided notions have no peer; their column shows what one direction saves. Where OpenDP has several
ways, its best is taken: the mean of a private number of records is the ratio of a noisy sum, about the middle of the bounds,
and a noisy count, at half of ε each. diffprivlib's mean and sum are for a public number of records, and its noise is of
floating point, so it holds no exact ε; its quantile is of the exponential mechanism on the intervals between the records.
Tumult and SmartNoise protect one record more or less. SmartNoise has no percentiles, and its price of an average, of which
sum and count are charged apart, is brought to ε by asking each at half. One job of Spark takes nearly as long for one group
as for many, so Tumult is given copies of the table (``--tumult-repeats``), each a public group: its time is that of the job
over their number.

Counts have one law of noise in all, of the rate ε over what one record adds, and so have sums: which median is smaller is
then luck, and the best of several is a little smaller than any. Of forty intervals of 95 %, two lie beside the truth on
average.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

EPSILONS = ("1/10", "1/2", "1", "2")

PYTHONS = {
    "peers_python": ("OpenDP", "diffprivlib"),
    "tumult_python": ("Tumult",),
    "smartnoise_python": ("SmartNoise",),
}
"""The options that name a Python, and the peers that are installed in it."""

POWER_FILE = Path(__file__).with_name("household_power.parquet")

Task = dict[str, Any]
"""What is asked: ``name``, ``kind``, ``column``, ``lower``, ``upper``, ``step``, ``p``, ``groups`` and ``replaced``."""

Ways = Callable[[Task, Any, float], Callable[[int], Any] | None]

CENSUS: tuple[Task, ...] = (
    {"name": "people by education", "kind": "histogram", "column": "education"},
    {"name": "sum of hours", "kind": "sum", "column": "hours", "lower": 1, "upper": 99, "step": "1"},
    {"name": "mean age", "kind": "mean", "column": "age", "lower": 17, "upper": 90, "step": "1"},
    {
        "name": "mean age, n known",
        "kind": "mean",
        "column": "age",
        "lower": 17,
        "upper": 90,
        "step": "1",
        "replaced": 1,
    },
    {"name": "median of hours", "kind": "median", "column": "hours", "lower": 1, "upper": 99, "step": "1", "p": 50},
    {
        "name": "90 % point of age",
        "kind": "percentile",
        "column": "age",
        "lower": 17,
        "upper": 90,
        "step": "1",
        "p": 90,
    },
)

POWER: tuple[Task, ...] = (
    {"name": "mean kW", "kind": "mean", "column": "kw", "lower": 0, "upper": 10, "step": "1/1000"},
    {
        "name": "mean kW, n known",
        "kind": "mean",
        "column": "kw",
        "lower": 0,
        "upper": 10,
        "step": "1/1000",
        "replaced": 1,
    },
    {"name": "median kW", "kind": "median", "column": "kw", "lower": 0, "upper": 10, "step": "1/1000", "p": 50},
    {
        "name": "95 % point of kW",
        "kind": "percentile",
        "column": "kw",
        "lower": 0,
        "upper": 10,
        "step": "1/1000",
        "p": 95,
    },
)


# ---- the peers, in a Python of their own: it has neither Leeward nor Rich


def peers_job(folder: Path, repeats: int, peers: Sequence[str]) -> None:
    """Answer all tasks by some peers, and print the errors and how long an answer takes."""
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    found = []
    for task in json.loads((folder / "tasks.json").read_text()):
        data = np.load(folder / task["file"])
        exact = np.asarray(task["exact"], float)
        for epsilon in EPSILONS:
            top, bottom = (*map(int, epsilon.split("/")), 1)[:2]
            for peer in peers:
                answers = WAYS[peer](task, data, top / bottom)
                if answers is None:
                    continue
                start = time.perf_counter()
                try:
                    errors = [float(np.abs(np.asarray(one, float) - exact).mean()) for one in answers(repeats)]
                except RuntimeError:  # diffprivlib's quantile, where many records have one value
                    errors = [float("inf")]
                found.append([task["name"], epsilon, peer, errors, (time.perf_counter() - start) / repeats])
    (folder / "found.json").write_text(json.dumps(found))


def one_by_one(answer: Callable[[], Any]) -> Callable[[int], list[Any]]:
    """Return what asks so many times, each by itself."""
    return lambda repeats: [answer() for _ in range(repeats)]


def opendp_answer(task: Task, data: Any, epsilon: float) -> Callable[[], Any] | None:
    """OpenDP's way to answer a task, with everything set up that does not depend on the draw."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "floating-point")
    kind, n = task["kind"], len(data)
    whole = data.dtype.kind == "i"
    space = dp.vector_domain(dp.atom_domain(T=int if whole else float, **({} if whole else {"nan": False})))
    here = space, dp.symmetric_distance()
    held = data.tolist()
    if kind == "histogram":
        names = task["groups"]
        counts = dp.t.make_count_by_categories(
            dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance(), categories=names, null_category=False
        )
        count = dp.binary_search_chain(lambda s: counts >> dp.m.then_laplace(s), d_in=1, d_out=epsilon)
        return lambda: count(held)
    if kind in {"median", "percentile"}:
        step = 1 / float(task["per"])
        grid = [task["lower"] + i * step for i in range(round((task["upper"] - task["lower"]) / step) + 1)]
        points = [int(x) for x in grid] if whole else grid
        named = dp.binary_search_chain(
            lambda s: dp.m.make_private_quantile(*here, dp.max_divergence(), points, task["p"] / 100, s),
            d_in=1,
            d_out=epsilon,
            bounds=(1e-6, 1e6),
        )
        return lambda: named(held)
    low, high = float(task["lower"]), float(task["upper"])
    floats = [float(x) for x in held]
    if task.get("replaced"):
        sized = dp.vector_domain(dp.atom_domain(bounds=(low, high), T=float), size=n), dp.symmetric_distance()
        mean = dp.binary_search_chain(
            lambda s: dp.t.make_mean(*sized) >> dp.m.then_laplace(s), d_in=2, d_out=epsilon, T=float
        )
        return lambda: mean(floats)
    if kind == "sum":
        bounded = (
            dp.vector_domain(dp.atom_domain(bounds=(task["lower"], task["upper"]), T=int)),
            dp.symmetric_distance(),
        )
        total = dp.binary_search_chain(lambda s: dp.t.make_sum(*bounded) >> dp.m.then_laplace(s), d_in=1, d_out=epsilon)
        return lambda: total(held)
    # a mean of a private number: in whole steps about the middle, because sums of whole numbers are exact
    per, middle = int(task["per"]), (low + high) / 2
    reach = round((high - middle) * 2 * per)
    about = [round((x - middle) * 2 * per) for x in floats]
    bounded = dp.vector_domain(dp.atom_domain(bounds=(-reach, reach), T=int)), dp.symmetric_distance()
    total = dp.binary_search_chain(lambda s: dp.t.make_sum(*bounded) >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2)
    count = dp.binary_search_chain(
        lambda s: dp.t.make_count(*bounded) >> dp.m.then_laplace(s), d_in=1, d_out=epsilon / 2
    )

    def ratio() -> float:
        there = middle + total(about) / max(count(about), 1) / (2 * per)
        return min(max(there, low), high)

    return ratio


def diffprivlib_answer(task: Task, data: Any, epsilon: float) -> Callable[[], Any] | None:
    """The way of diffprivlib; None for what it has not."""
    from diffprivlib import tools

    kind = task["kind"]
    if kind == "histogram":
        import numpy as np

        codes = np.searchsorted(sorted(task["groups"]), data)
        back = [sorted(task["groups"]).index(name) for name in task["groups"]]
        k = len(back)
        return lambda: tools.histogram(codes, epsilon=epsilon, bins=k, range=(-0.5, k - 0.5))[0][back]
    bounds = float(task["lower"]), float(task["upper"])
    if kind in {"median", "percentile"}:
        return lambda: tools.quantile(data, task["p"] / 100, epsilon=epsilon, bounds=bounds)
    if kind == "mean" and task.get("replaced"):
        return lambda: tools.mean(data, epsilon=epsilon, bounds=bounds)
    return None


def smartnoise_answer(task: Task, data: Any, epsilon: float) -> Callable[[], Any] | None:
    """The way of SmartNoise SQL, from exact aggregates on; None for what it has not."""
    import pandas as pd
    import snsql

    kind = task["kind"]
    if kind not in {"histogram", "sum", "mean"} or task.get("replaced"):
        return None
    column = (
        {"type": "string"}
        if kind == "histogram"
        else {"type": "int" if data.dtype.kind == "i" else "float", "lower": task["lower"], "upper": task["upper"]}
    )
    table = {"row_privacy": True, "censor_dims": False, "clamp_counts": False, "rows": len(data), "x": column}
    reader = snsql.from_df(
        pd.DataFrame({"x": data}),
        privacy=snsql.Privacy(epsilon=epsilon / 2 if kind == "mean" else epsilon, delta=1e-9),
        metadata={"": {"": {"people": table}}},
    )
    if kind == "histogram":
        counted: list[Any] = [("x", "count_star"), *((name, int((data == name).sum())) for name in task["groups"])]

        def histogram() -> Any:
            found = dict(reader.execute("SELECT x, COUNT(*) AS n FROM people GROUP BY x", pre_aggregated=counted)[1:])
            return [found[name] for name in task["groups"]]

        return histogram
    asked, names, total = {
        "sum": ("SELECT SUM(x) AS s FROM people", ("sum_x",), (data.sum().item(),)),
        "mean": ("SELECT AVG(x) AS s FROM people", ("sum_x", "count_x"), (data.sum().item(), len(data))),
    }[kind]
    return lambda: reader.execute(asked, pre_aggregated=[names, total])[1]


def tumult_answers(task: Task, data: Any, epsilon: float) -> Callable[[int], Any] | None:
    """The way of Tumult Analytics: so many copies of the table, each a group; None for what it has not."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import numpy as np
    import pandas as pd
    from pyspark.sql import SparkSession
    from tmlt import analytics as tmlt

    if task.get("replaced"):
        return None
    kind, low, high = task["kind"], task.get("lower"), task.get("upper")
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").config("spark.ui.enabled", "false")
    spark = spark.config("spark.sql.execution.arrow.pyspark.enabled", "true").config("spark.driver.memory", "4g")
    spark = spark.getOrCreate()

    def answers(repeats: int) -> Any:
        copies = pd.DataFrame({"x": np.tile(data, repeats), "copy": np.repeat(np.arange(repeats), len(data))})
        session = tmlt.Session.from_dataframe(
            privacy_budget=tmlt.PureDPBudget(epsilon),
            source_id="people",
            dataframe=spark.createDataFrame(copies),
            protected_change=tmlt.AddOneRow(),
        )
        groups = {"copy": list(range(repeats)), **({"x": task["groups"]} if kind == "histogram" else {})}
        grouped = tmlt.QueryBuilder("people").groupby(tmlt.KeySet.from_dict(groups))
        asked = {
            "histogram": lambda: grouped.count("answer"),
            "sum": lambda: grouped.sum("x", low, high, name="answer"),
            "mean": lambda: grouped.average("x", low, high, name="answer"),
        }.get(kind, lambda: grouped.quantile("x", task.get("p", 0) / 100, low, high, name="answer"))()
        found = session.evaluate(asked, tmlt.PureDPBudget(epsilon)).toPandas()
        if kind != "histogram":
            return found["answer"].tolist()
        return found.pivot(index="copy", columns="x", values="answer")[task["groups"]].to_numpy()

    return answers


def _each(make: Callable[[Task, Any, float], Callable[[], Any] | None]) -> Ways:
    def ways(task: Task, data: Any, epsilon: float) -> Callable[[int], Any] | None:
        answer = make(task, data, epsilon)
        return None if answer is None else one_by_one(answer)

    return ways


WAYS: dict[str, Ways] = {
    "OpenDP": _each(opendp_answer),
    "diffprivlib": _each(diffprivlib_answer),
    "Tumult": tumult_answers,
    "SmartNoise": _each(smartnoise_answer),
}
"""How each peer answers: of a task, its data and ε, what gives so many answers; None for what it has not."""


# ---- Leeward


def leeward_answers(task: Task, table: Any, repeats: int) -> tuple[Any, list[list[Any]]]:
    """The exact answer, and for each ε and notion the errors and the time of an answer."""
    import numpy as np

    import leeward as lw
    from leeward.engine import open_data, read_keys
    from leeward.noise import SystemBits

    bits, rows = SystemBits(), list[list[Any]]()
    question = asked(task, table)
    keys = read_keys(question)
    public = keys.to_arrow()
    notions = (lw.BoundedDP,) if task.get("replaced") else (lw.UnboundedDP, lw.AdditionOnly)
    took = min(one_answer(lw.plan(question, notions[0](EPSILONS[0])), bits) for _ in range(3))
    with open_data(question, keys) as opened:
        counts = {by: opened.exactly(question, by).counts for by in ("answer", *(["tally"] if "p" in task else []))}
    for epsilon in EPSILONS:
        for notion in notions:
            plan = lw.plan(question, notion(epsilon))

            def answer(plan: Any = plan) -> Any:
                answers = plan.answers(plan.draw(counts[plan.drawn_from], bits), public)
                return answers["count" if task["kind"] == "histogram" else "value"].to_numpy()

            errors = [float(np.abs(np.asarray(answer(), float) - task["true"]).mean()) for _ in range(repeats)]
            rows.append([task["name"], epsilon, notion.__name__, errors, took])
    return task["true"], rows


def one_answer(plan: Any, bits: Any) -> float:
    """Return how many seconds it takes to answer from a table in memory, but for what is kept in the ledger."""
    from leeward.engine import open_data, read_keys

    start = time.perf_counter()
    keys = read_keys(plan.counted)
    with open_data(plan.counted, keys) as opened:
        plan.answers(plan.draw(opened.exactly(plan.counted, plan.drawn_from).counts, bits), keys.to_arrow())
    return time.perf_counter() - start


def asked(task: Task, table: Any) -> Any:
    """The question that a task asks."""
    import leeward as lw

    held = lw.records(table, person="each row")
    if task["kind"] == "histogram":
        return lw.statistic(held, "histogram", by={task["column"]: task["groups"]})
    how = {"column": task["column"], "lower": task["lower"], "upper": task["upper"], "step": task["step"]}
    own: dict[str, Any] = {"people": table.num_rows} if task.get("replaced") else {}
    if task["kind"] == "mean":
        own["grid"] = "1/1000000"
    if task["kind"] == "percentile":
        own["p"] = str(task["p"])
    return lw.statistic(held, lw.query.Kind(task["kind"], **own), **how)


def truth(task: Task, table: Any) -> Any:
    """The exact answer, by NumPy."""
    import numpy as np

    held = table[task["column"]].to_numpy()
    if task["kind"] == "histogram":
        return np.array([(held == name).sum() for name in task["groups"]], float)
    if task["kind"] in {"sum", "mean"}:
        return np.array([getattr(held.astype(float), task["kind"])()])
    return np.array([np.sort(held)[min(task["p"] * len(held) // 100, len(held) - 1)]], float)


def tasks() -> list[tuple[Task, Any]]:
    """All that is asked, with the table it is asked of."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from leeward.demo import EDUCATION
    from leeward.demo._census import census

    people = census()
    found = [({**task, "groups": list(EDUCATION)} if task["kind"] == "histogram" else task, people) for task in CENSUS]
    watts = pq.read_table(POWER_FILE)["watts"]
    house = pa.table({"kw": pc.divide(pc.cast(watts, pa.float64()), 1000)})
    found += [(task, house) for task in POWER]
    return [
        ({**task, "per": task.get("step", "1").partition("/")[2] or "1", "true": truth(task, table)}, table)
        for task, table in found
    ]


def measured(options: argparse.Namespace, folder: Path) -> list[list[Any]]:
    """Run all of it: rows of task, ε, who, the errors, and the time of an answer."""
    import numpy as np

    rows, told = [], []
    for index, (task, table) in enumerate(tasks()):
        exact, ours = leeward_answers(task, table, options.repeats)
        rows += ours
        np.save(folder / f"{index}.npy", np.asarray(table[task["column"]].to_numpy().tolist()))
        told.append({**task, "file": f"{index}.npy", "exact": exact.tolist(), "true": None})
    (folder / "tasks.json").write_text(json.dumps(told))
    for option, peers in PYTHONS.items():
        if (python := getattr(options, option)) is None:
            continue
        repeats = options.tumult_repeats if peers == ("Tumult",) else options.repeats
        command = [python, __file__, "--peers-job", str(folder), "--peers", *peers, "--repeats", str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{' and '.join(peers)} failed:\n{done.stderr[-3000:]}")
        rows += json.loads((folder / "found.json").read_text())
    return rows


def tabled(rows: Sequence[Sequence[Any]], repeats: int) -> Any:
    """Return the table: one row a task and ε."""
    import numpy as np
    from rich.table import Table

    by = {(task, epsilon, who): (np.array(errors), took) for task, epsilon, who, errors, took in rows}
    absent = [peer for peer in WAYS if not any(who == peer for *_, who in by)]
    said = f"; not measured: {', '.join(absent)}" if absent else ""
    fewer = {(who, len(errors)) for _, _, who, errors, _ in rows if len(errors) < repeats and max(errors) < np.inf}
    said = "".join(f", of {who} {n}" for who, n in sorted(fewer)) + said
    table = Table(title=f"Error of a number: median of |answer − exact| over {repeats} answers{said}")
    columns = (
        "question",
        "ε",
        "ours",
        *WAYS,
        "best ÷ ours",
        "its 95 %",
        "told apart",
        "one way",
        "time",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "question" else "right", no_wrap=True)
    rng = np.random.default_rng(1)

    def drawn(errors: Any) -> Any:
        return np.median(rng.choice(errors, (1000, len(errors))), axis=1)

    def written(found: tuple[Any, float] | None) -> str:
        if found is None:
            return ""
        error = float(np.median(found[0]))
        return "fails" if error == float("inf") else f"{error:.3g}"

    for task in dict.fromkeys(row[0] for row in rows):
        for epsilon in EPSILONS:
            ours = next(by[task, epsilon, who] for who in ("UnboundedDP", "BoundedDP") if (task, epsilon, who) in by)
            peers = [by.get((task, epsilon, peer)) for peer in WAYS]
            there = [one for one in peers if one is not None]
            if not there:
                table.add_row(task, epsilon, written(ours))
                continue
            best = min(there, key=lambda one: float(np.median(one[0])))
            mine, theirs = (float(np.median(one[0])) for one in (ours, best))
            with np.errstate(divide="ignore", invalid="ignore"):
                ratios = drawn(best[0]) / drawn(ours[0])
                low, high = np.quantile(np.where(np.isnan(ratios), 1.0, ratios), [0.025, 0.975], method="nearest")
            ratio = "both 0" if mine == theirs == 0 else "∞" if mine == 0 else f"{theirs / mine:.2f}"
            apart = "near" if low <= 1 <= high else "ours" if low > 1 else "theirs"
            interval = " to ".join("∞" if end == np.inf else f"{end:.2f}" for end in (low, high))
            cells = [written(ours), *map(written, peers), ratio, interval, apart]
            table.add_row(
                task, epsilon, *cells, written(by.get((task, epsilon, "AdditionOnly"))), f"{best[1] / ours[1]:.2f}"
            )
        table.add_section()
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--peers-python", default=os.environ.get("OPENDP_PYTHON"))
    parser.add_argument("--tumult-python", help="one that has tmlt.analytics")
    parser.add_argument("--tumult-repeats", type=int, default=20, help="copies of the table in one job of Spark")
    parser.add_argument("--smartnoise-python", help="one that has smartnoise-sql")
    parser.add_argument("--peers-job", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peers", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peers_job is not None:
        peers_job(options.peers_job, options.repeats, options.peers)
        return
    from history import show

    with TemporaryDirectory() as folder:
        rows = measured(options, Path(folder))
    show("census", tabled(rows, options.repeats))


if __name__ == "__main__":
    main()
