"""The benchmark of numbers: its data are bundled, and medians that cannot be told apart are not ranked."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def census() -> ModuleType:
    spec = importlib.util.spec_from_file_location("census_benchmark", FOLDER / "census.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_all_data_are_bundled(census: ModuleType) -> None:
    tables = {task["name"]: table for task, table in census.tasks()}
    assert tables["median of hours"].num_rows == 32_561
    watts = np.rint(tables["median kW"]["kw"].to_numpy() * 1000)
    assert (len(watts), watts.min(), watts.max()) == (37_283, 194, 9_132)


@pytest.mark.parametrize(("factor", "told"), [(1.0, "near"), (2.0, "ours"), (0.5, "theirs")])
def test_medians_are_told_apart_only_by_their_interval(census: ModuleType, factor: float, told: str) -> None:
    """Two samples of one law, seeded; and one twice as far off, or half."""
    rng = np.random.default_rng(4)
    rows = []
    for epsilon in census.EPSILONS:
        ours, theirs = (rng.laplace(size=200).__abs__() * scale for scale in (1.0, factor))
        rows += [["t", epsilon, "UnboundedDP", ours.tolist(), 1.0], ["t", epsilon, "OpenDP", theirs.tolist(), 2.0]]
    table = census.tabled(rows, 200)
    cells = {str(column.header): list(column.cells) for column in table.columns}
    assert cells["told apart"] == [told] * len(census.EPSILONS)
    assert cells["time"] == ["2.00"] * len(census.EPSILONS)


def test_an_answer_that_fails_and_one_without_error_are_shown_so(census: ModuleType) -> None:
    rows = []
    for epsilon in census.EPSILONS:
        rows += [["t", epsilon, "UnboundedDP", [0.0] * 9, 1.0], ["t", epsilon, "OpenDP", [0.0] * 9, 1.0]]
        rows += [["t", epsilon, "diffprivlib", [float("inf")], 1.0]]
    cells = {str(column.header): set(column.cells) for column in census.tabled(rows, 9).columns}
    assert (cells["diffprivlib"], cells["best ÷ ours"], cells["told apart"]) == ({"fails"}, {"both 0"}, {"near"})


def test_a_peer_that_was_not_there_is_said(census: ModuleType) -> None:
    rows = [
        ["t", epsilon, who, [1.0] * 9, 1.0]
        for epsilon in census.EPSILONS
        for who in ("UnboundedDP", "OpenDP", "Tumult")
    ]
    assert str(census.tabled(rows, 9).title).endswith("over 9 answers; not measured: diffprivlib, SmartNoise")
    rows += [["t", epsilon, "SmartNoise", [1.0] * 4, 1.0] for epsilon in census.EPSILONS]
    assert str(census.tabled(rows, 9).title).endswith("over 9 answers, of SmartNoise 4; not measured: diffprivlib")
    assert {peer for peers in census.PYTHONS.values() for peer in peers} == {*census.WAYS}


def shown(line: dict[str, Any]) -> str:
    """The table of the guide, from a line of the history: a row a question, a column an ε."""
    found = dict[str, list[str]]()
    for cells in line["rows"]:
        row = dict(zip(line["columns"], cells, strict=True))
        peers = {peer: row[peer] for peer in ("OpenDP", "diffprivlib", "Tumult", "SmartNoise")}
        best = min((float(error) for error in peers.values() if error not in {"", "fails"}), default=None)
        one_way = f" · {row['one way']}" if row["one way"] else ""
        found.setdefault(row["question"], []).append(f"{row['ours']} · {best:g}{one_way}")
    head = "| question | ε = 1/10 | 1/2 | 1 | 2 |\n|---|---|---|---|---|\n"
    return head + "".join(f"| {question} | {' | '.join(cells)} |\n" for question, cells in found.items())


def test_the_guide_shows_what_was_measured() -> None:
    """It names the day of its run, so that a run kept later, of fewer peers, does not make it false."""
    guide = (FOLDER.parent / "docs" / "guide" / "numbers.md").read_text("utf-8")
    (day,) = re.findall(r"`python benchmarks/census.py`, here of (\S+);", guide)
    lines = [json.loads(line) for line in (FOLDER / "history.jsonl").read_text("utf-8").splitlines()]
    (named,) = [line for line in lines if line["benchmark"] == "census" and line["when"].startswith(day)]
    assert shown(named) in guide
    of_one_law = ("people by education", "sum of hours", "mean age", "mean age, n known", "mean kW", "mean kW, n known")
    apart = [
        row for row in named["rows"] if row[0] in of_one_law and row[named["columns"].index("told apart")] != "near"
    ]
    assert [row[:2] for row in apart] == [["mean kW, n known", "2"]], "what the guide says of them"
    others = {row[named["columns"].index("told apart")] for row in named["rows"] if row[0] not in of_one_law}
    assert others == {"near", "ours"}
