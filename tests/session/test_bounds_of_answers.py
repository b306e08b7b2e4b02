"""Whatever noise is drawn, what is published lies within the bounds that its statement names, and on its grid."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.local.location import Box
from leeward.planner._number_plan import plan_number
from leeward.query import Mean
from leeward.session import privacy_statement

BOUNDS = [("0", "13", "1"), ("-7", "6", "1"), ("1/3", "10/3", "1/2"), ("12", "14", "1"), ("-13", "-1", "3")]
GRIDS = [None, "5", "4", "7", "1", "1/7", "3/2", "13", "1/10"]
KINDS = ["mean", "sum", "median", "min", "max", "percentile"]
FAR = np.array([-(2**62), -(10**6), *range(-60, 61), 10**6, 2**62], np.int64)


def asked(kind: str, bounds: tuple[str, str, str], grid: str | None, people: int | None, source: Any = None) -> Any:
    lower, upper, step = bounds
    given = {"grid": grid} if grid is not None else {}
    given |= {"p": "90"} if kind == "percentile" else {}
    table = lw.records("people.parquet" if source is None else source, person="who")
    return statistic_by(table, kind, column="n", lower=lower, upper=upper, step=step, people=people, **given)  # type: ignore[arg-type]


def planned(*choices: Any) -> Any:
    """The plan of these choices; None where they are refused."""
    try:
        query = asked(*choices)
        return plan_number(query, (lw.BoundedDP if query.people else lw.UnboundedDP)("4"))
    except LeewardError:
        return None


def plans() -> list[tuple[str, Any, Fraction, Fraction]]:
    found = []
    for kind, bounds, grid, people in itertools.product(KINDS, BOUNDS, GRIDS, (None, 1, 3)):
        if grid is not None and kind != "mean":
            continue
        made = planned(kind, bounds, grid, people)
        if made is not None and (kind != "sum" or people):
            times = people if kind == "sum" else 1
            found.append((f"{kind} {bounds} {grid} {people}", made, *(Fraction(end) * times for end in bounds[:2])))
    return found


@pytest.mark.sweep
@pytest.mark.long
def test_no_draw_leaves_the_bounds_or_the_grid() -> None:
    every = plans()
    assert {name.split()[0] for name, *_ in every} == set(KINDS)
    assert len(every) > 120
    for name, made, lower, upper in every:
        parts = len(made.parts)
        pairs = [(a, b) for a in FAR[::7].tolist() for b in (-5, 0, 1, 2, 3, 100)] if parts == 2 else FAR.tolist()
        for drawn in pairs:
            row = made.answers(np.array(drawn, np.int64).reshape(-1), pa.table({"all": [0]})).to_pylist()[0]
            assert float(lower) <= row["value"] <= float(upper), f"{name}: {drawn} gives {row}"
            grid = getattr(made.query.numeric, "grid", None)
            if grid is not None:
                assert abs(row["value"] / float(grid) - round(row["value"] / float(grid))) < 1e-9, name
        stated = privacy_statement(made, places=1, dataset="d", version="1").mechanism
        if parts == 1:
            assert float(lower) <= stated.lower < stated.upper <= float(upper), name


def test_a_grid_with_less_than_two_points_within_the_bounds_is_refused() -> None:
    for bounds, grid in itertools.product(BOUNDS, GRIDS[1:]):
        lower, upper, _ = map(Fraction, bounds)
        points = [k for k in range(-200, 201) if lower <= k * Fraction(grid or 1) <= upper]
        assert (planned("mean", bounds, grid, 3) is None) == (len(points) < 2), (bounds, grid)


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("grid", GRIDS[1:])
def test_the_stated_error_of_a_mean_is_kept_wherever_it_lies(bounds: tuple[str, str, str], grid: str) -> None:
    """The chance by the law itself, at every mean of three numbers: next to the bounds rounding is at its worst."""
    made = planned("mean", bounds, grid, 3)
    if made is None:
        return
    lower, upper, step = map(Fraction, bounds)
    within, mean_error = made.accuracy().within_95_percent, made.accuracy().mean_absolute
    unit, least, most = Fraction(grid), math.ceil(lower / Fraction(grid)), math.floor(upper / Fraction(grid))
    law = made.parts[0].law
    noises = range(-400, 401)
    chances = [float(law.pmf(k)) for k in noises]
    for thirds in range(int((upper - lower) / step) * 3 + 1):
        mean = lower + step * Fraction(thirds, 3)
        exact = min(max(math.floor(mean / unit + Fraction(1, 2)), least), most)
        errors = [abs(float(min(max(exact + k, least), most) * unit - mean)) for k in noises]
        assert math.fsum(p for p, e in zip(chances, errors, strict=True) if e <= within + 1e-9) >= 0.95 - 1e-9
        assert math.fsum(p * e for p, e in zip(chances, errors, strict=True)) <= mean_error + 1e-9


def test_means_of_all_the_data_at_a_bound_are_released_within_it(tmp_path: Path) -> None:
    for number, (at, people) in enumerate(itertools.product((0, 13), (None, 40))):
        table = pd.DataFrame({"who": range(40), "n": at})
        notion = lw.BoundedDP("50") if people else lw.UnboundedDP("50")
        query = asked("mean", ("0", "13", "1"), "5", people, table)
        budget = lw.Budget(tmp_path / f"{number}.db", "d", "100")
        value = lw.release(lw.plan(query, notion), budget).answers["value"].to_pylist()
        assert value == [0.0 if at == 0 else 10.0]


def test_the_mean_of_nobody_is_a_number_of_the_grid_within_the_bounds() -> None:
    assert Mean(lw.notion.ValueGrid(12, 24), grid=Fraction(5)).answer([]) == 15
    assert Mean(lw.notion.ValueGrid(0, 13), grid=Fraction(5)).answer([Fraction(13)]) == 10


def test_rounded_positions_stay_in_their_box() -> None:
    """Edges with more decimals than a report: what is rounded beyond them is shown on them."""
    rng, moved = np.random.default_rng(5), 0
    for _ in range(300):
        west, width, south = rng.uniform(-180, 180), rng.uniform(1e-5, 2), rng.uniform(-60, 50)
        box = Box(west, south, (west + width + 180) % 360 - 180, south + rng.uniform(1e-5, 2))
        latitude = np.array([box.south, box.north, rng.uniform(box.south, box.north), np.nan])
        longitude = np.array([box.west, box.east, (west + rng.uniform(0, box.width) + 180) % 360 - 180, np.nan])
        north, east = box.rounded(latitude, longitude, 7)
        assert box.holds(north, east).tolist() == [True, True, True, False]
        moved += int((~box.holds(np.round(latitude[:3], 7), np.round(longitude[:3], 7))).sum())
        apart = np.abs((east - longitude + 180) % 360 - 180)[:3]
        assert max(np.abs(north - latitude)[:3].max(), apart.max()) <= 0.5001e-7
        assert np.isnan([north[3], east[3]]).all()
    assert moved > 300  # rounding alone would have shown them outside
