"""A float that is no number, or beyond all integers, is read as the guide says in every role of a column: no release fails.

Each answer is held against a count by a plain loop; ε is so large that noise is 0 but once in e^1000.
"""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.asking import statistic_by

import leeward as lw

NAN, INF = math.nan, math.inf
ODD = [NAN, INF, -INF, 1e19, -1e19, 9.3e18, 1e300, -1e300, 2.0**53, 5e-324, -0.0, 0.5]
EPSILON = "1000"
AT = datetime(2026, 3, 2, 19, 5)
WINDOW = {"start": "2026-03-02T19:00:00", "end": "2026-03-02T20:00:00"}


def sources(held: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """One table in every form in which a float that is no number is kept as one; pandas makes NaN a missing value."""
    table = pa.table(held)
    pq.write_table(table, folder / "t.parquet")
    single = table
    for at, field in enumerate(table.schema):
        if field.type == pa.float64():
            single = single.set_column(at, field.name, table.column(at).cast(pa.float32(), safe=False))
    return {
        "arrow": table,
        "parquet": folder / "t.parquet",
        "polars": pl.from_arrow(table),
        "pandas": table.to_pandas(),
        "float32": single,
    }


def answered(plan: Any, folder: Path, name: str) -> pd.DataFrame:
    budget = lw.Budget(f"sqlite:///{folder / 'budget.db'}", dataset=name, cap="1000000", new=True)
    return lw.release(plan, budget, if_doubtful="publish").to_pandas()


def bounded(value: float) -> float:
    return min(max(value, -10.0), 10.0)


FORMS = ["arrow", "parquet", "polars", "pandas", "float32"]


def beside(odd: list[float], **more: float) -> dict[str, list[Any]]:
    """Ann and Cem, whose x are 1 and 2, in a group with each of the odd floats, so that one release tells of all."""
    groups = [[1.0, value, 2.0] for value in odd]
    rows = [(f"{who}{at}", at, x) for at, held in enumerate(groups) for who, x in zip("abc", held, strict=True)]
    people, group, x = map(list, zip(*rows, strict=True))
    return {"u": people, "g": group, "x": x} | {name: [value] * len(rows) for name, value in more.items()}


def sums(rows: lw.query.Records, column: str, folder: Path, **bounds: str) -> list[int]:
    asked = statistic_by(rows, kind="sum", column=column, by="g", groups=range(len(ODD)), **bounds)
    found: list[int] = answered(lw.plan(asked, lw.UnboundedDP(EPSILON)), folder, "odd")["value"].tolist()
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore")
def test_in_a_column_that_is_summed(form: str, tmp_path: Path) -> None:
    def rounded(x: float) -> int:
        return 0 if math.isnan(x) else math.floor(bounded(x) + 0.5)

    source = sources(beside(ODD), tmp_path)[form]
    found = sums(lw.records(source, person="u"), "x", tmp_path, lower="-10", upper="10")
    assert dict(zip(map(str, ODD), found, strict=True)) == {str(odd): 3 + rounded(odd) for odd in ODD}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore")
def test_in_a_column_that_chooses_rows(form: str, tmp_path: Path) -> None:
    source = sources(beside(ODD, y=1.0), tmp_path)[form]
    rows = lw.records(source, person="u", keep={"x": [1, 2]})
    found = sums(rows, "y", tmp_path, lower="0", upper="9")
    assert dict(zip(map(str, ODD), found, strict=True)) == dict.fromkeys(map(str, ODD), 2)


ROLES = ["person", "place", "latitude", "longitude", "keep"]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.filterwarnings("ignore")
def test_in_a_column_of_visits(role: str, tmp_path: Path) -> None:
    visited(role, NAN, tmp_path, {"parquet"})


@pytest.mark.sweep
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("odd", ODD, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_in_a_column_of_visits_of_every_kind(role: str, odd: float, tmp_path: Path) -> None:
    visited(
        role,
        odd,
        tmp_path,
        {"arrow", "parquet", "polars", "pandas", "float32"} - ({"float32"} if role == "place" else set()),
    )


def visited(role: str, odd: float, folder: Path, forms: set[str]) -> None:
    held: dict[str, list[Any]] = {
        "person": [1.0, 2.0, 3.0, 4.0],
        "place": [7.0, 7.0, 8.0, 8.0],
        "latitude": [35.65] * 4,
        "longitude": [139.75] * 4,
        "keep": [1.0] * 4,
        "when": [AT] * 4,
    }
    held[role][1] = odd
    truth = [0, 0]
    people: list[set[float]] = [set(), set()]
    for who, where, north, east, kept in zip(*(held[name] for name in list(held)[:-1]), strict=True):
        if math.isnan(who) or kept != 1:
            continue
        if role in {"latitude", "longitude"}:
            if 35.6 <= north <= 35.7 and 139.7 <= east <= 139.8:
                people[0].add(who)
        elif where in (7.0, 8.0):
            people[int(where) - 7].add(who)
    truth = [len(each) for each in people]
    by_position = role in {"latitude", "longitude"}
    for name, source in sources(held, folder).items():
        if name not in forms:
            continue
        if by_position:
            places: Any = lw.grid(west=139.7, south=35.6, east=139.8, north=35.7, metres=20_000.0)
            seen = lw.visits(source, person="person", time="when", latitude="latitude", longitude="longitude")
        else:
            width = pa.float32() if name == "float32" else pa.float64()
            places = lw.places(pa.table({"venue": pa.array([7.0, 8.0], width)}), place="venue")
            seen = lw.visits(source, person="person", time="when", place="place", keep={"keep": [1]})
        asked = lw.count_visitors(seen, places, **WINDOW, places_per_person=1, if_more="latest")
        plan = lw.plan(asked, lw.AdditionOnly(EPSILON), lw.Decide(safe_at_most=0), what="counts", mechanism="geometric")
        if role == "person" and abs(odd) >= 2**53:
            with pytest.raises(lw.errors.DataError, match="where several whole numbers are one float"):
                answered(plan, folder, name)
            continue
        made = answered(plan, folder, name)
        counts = made["count"].tolist()
        assert counts == truth[: len(counts)], (name, role, odd)
