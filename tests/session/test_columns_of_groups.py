"""Whatever columns of groups are called, a release that is charged is written: all names that ours have.

One called ``latitude`` was charged, and then ended in a KeyError each time.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.errors import SpecError

NAMES = [
    "latitude", "longitude", "name", "place", "geometry", "group", "from", "to", "above", "percentile", "value", "count",
    "people", "rows", "within_95_percent", "state", "answered", "look", "left_out", "window", "start", "end", "safe", "h3",
]  # fmt: skip
KINDS = ["busiest", "histogram", "decided", "above", "sum", "mean", "median", "variance"]


def planned(kind: str, by: dict[str, list[str]]) -> Any:
    columns = {name: pa.array([listed[i % len(listed)] for i in range(40)]) for name, listed in by.items()}
    table = lw.records(pa.table({"who": list(range(40)), "x": list(range(40)), **columns}), person="who")
    numbers: dict[str, Any] = {"column": "x", "lower": 0, "upper": 40, "by": by}
    notion = lw.AdditionOnly("1")
    if kind == "busiest":
        return lw.plan(lw.select(lw.statistic(table, "histogram", by=by), "busiest"), notion)
    if kind in ("histogram", "decided"):
        asked = lw.statistic(table, "histogram", by=by)
        return lw.plan(asked, notion, lw.Decide(safe_at_most=3)) if kind == "decided" else lw.plan(asked, notion)
    if kind == "above":
        return lw.plan(
            lw.statistic(table, lw.query.Kind("above", levels=["3", "9"]), column="x", by=by),
            notion,
            lw.Decide(safe_at_most=3),
        )
    return lw.plan(statistic_by(table, kind, **numbers), notion)  # type: ignore[arg-type]


PAIRS = [*itertools.product(NAMES, ["sex"]), ("latitude", "longitude")]
ASKED = [(pair, KINDS[(i + turn) % len(KINDS)]) for i, pair in enumerate(PAIRS) for turn in (0, 3)]
"""Each pair of columns with two kinds, each kind with six pairs."""


@pytest.mark.parametrize(("names", "kind"), ASKED, ids=lambda part: part if isinstance(part, str) else "+".join(part))
def test_what_is_charged_is_written(names: tuple[str, str], kind: str, tmp_path: Path) -> None:
    by = {name: [f"{name} 1", f"{name} 2"] for name in names}
    try:
        made = planned(kind, by)
    except SpecError:
        return  # refused before anything is charged
    budget = lw.Budget(str(tmp_path / "b.db"), dataset="d", cap="9")
    result = lw.release(made, budget, accept_useless=True)
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()
    for ask in (result.map, result.to_geopandas):
        with pytest.raises(lw.errors.LeewardError):
            ask()


@pytest.mark.parametrize("columns", [8, 9, 300])
def test_so_many_columns_of_groups_are_counted_or_refused_in_words(columns: int) -> None:
    """Sixty of them took 80 s, and then ended in a RecursionError."""
    names = [f"c{i}" for i in range(columns)]
    table = pa.table({"who": list(range(50)), **{name: ["a", "b"] * 25 for name in names}})
    asking: Any = lambda: lw.statistic(lw.records(table, person="who"), "histogram", by={name: ["a"] for name in names})  # noqa: E731
    if columns > 8:
        with pytest.raises(SpecError, match=f"Groups by {columns} columns: 8 are the most"):
            asking()
        return
    asked = asking()
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.count(asked).counts.tolist() == [25]
