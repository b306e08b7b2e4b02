"""Safe of everyone on a real hour: the tables of docs/guide/everyone.md, worked out with a few lines of pandas and NumPy."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import leeward as lw
from leeward.engine import open_data, read_keys

_FOLDER = Path(os.environ.get("LEEWARD_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
_CHECKINS = _FOLDER / "tokyo_checkins_20120404_08.parquet"
_PAGE = Path(__file__).parents[2] / "docs" / "guide" / "everyone.md"

pytestmark = pytest.mark.skipif(
    not _CHECKINS.is_file(), reason="the Tokyo check-ins are not here (they may not be bundled)"
)


def hour() -> tuple[pd.DataFrame, pd.Series]:
    """Each person's places of the hour, the latest first, by their number in the list; and the list."""
    checkins = pd.read_parquet(_CHECKINS)
    venues = checkins.drop_duplicates("venue")["venue"].reset_index(drop=True)
    rank = dict(zip(venues, range(len(venues)), strict=True))
    inside = checkins[(checkins["jst"] >= "2012-04-04 19:00") & (checkins["jst"] < "2012-04-04 20:00")]
    last = inside.assign(rank=inside["venue"].map(rank)).groupby(["user", "rank"])["jst"].max().reset_index()
    return last.sort_values(["jst", "rank"], ascending=[False, True]), venues


def counted(last: pd.DataFrame, k: int, places: int) -> np.ndarray:
    return np.bincount(last.groupby("user").head(k)["rank"], minlength=places)


def both(a: float, b: float, m: int) -> float:
    """P(G + H ≤ m) of two geometric noises."""
    return sum((1 - math.exp(-a)) * math.exp(-a * g) * (1 - math.exp(-b * (m - g + 1))) for g in range(m + 1))


def query(venues: pd.Series, k: int) -> lw.query.CountVisitors:
    return lw.count_visitors(
        lw.visits(str(_CHECKINS), person="user", place="venue", time="jst"),
        lw.places(pd.DataFrame({"venue": venues}), place="venue"),
        start="2012-04-04T19:00",
        end="2012-04-04T20:00",
        places_per_person=k,
        if_more="latest",
    )


def rows(columns: int) -> list[list[float]]:
    """The rows of numbers of the page's table with so many columns."""
    found = re.findall(r"^\| (\d[^\n]*) \|$", _PAGE.read_text("utf-8"), re.MULTILINE)
    return [[float(cell) for cell in row.split(" | ")] for row in found if row.count("|") == columns - 1]


def test_the_table_of_both_promises() -> None:
    last, venues = hour()
    there = np.bincount(last["rank"], minlength=len(venues))
    expected = []
    for t in (2, 5, 10):
        for k in (1, 2, 3):
            count = counted(last, k, len(venues))
            most = int((there - count).max())
            chance = np.where(count <= t, 1 - np.exp(-(t + 1 - count.clip(max=t)) / k), 0)
            plan = lw.plan(
                query(venues, k), lw.AdditionOnly("1"), lw.Decide(safe_at_most=t, about="everyone", left_out=most)
            )
            a, b = float(plan.mechanism.line.fall), float(plan.mechanism.left_out)
            assert a * k + b == pytest.approx(1)
            of_all = sum(both(a, b, t - most - c) * n for c, n in enumerate(np.bincount(count)) if c + most <= t)
            wrong = round(float(chance[there > t].sum()), 2)
            expected.append([t, int((there <= t).sum()), k, most, round(chance.sum()), wrong, round(of_all)])
    assert rows(7) == expected


def test_the_table_of_the_mechanism_without_a_bound() -> None:
    last, venues = hour()
    there = np.bincount(last["rank"], minlength=len(venues))
    expected = []
    for t in (2, 5, 10):
        alive = safe = 0.0
        alive = 1.0
        for count in there.tolist():
            chance = 1 - math.exp(-(t + 1 - count)) if count <= t else 0.0
            safe, alive = safe + alive * chance, alive * chance
        expected.append([t, round(safe)])
    assert rows(2) == expected


def test_the_facts_of_the_hour() -> None:
    last, _ = hour()
    places = last.groupby("user").size()
    assert (len(places), int((places > 1).sum()), int(places.max())) == (255, 84, 13)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_engine_finds_those_left_out(k: int) -> None:
    last, venues = hour()
    there, count = np.bincount(last["rank"], minlength=len(venues)), counted(last, k, len(venues))
    asked = query(venues, k)
    with open_data(asked, read_keys(asked)) as table:
        found = table.exactly(asked, "answer and left out").counts
    assert found.tolist() == [*count.tolist(), int((there - count).max())]


def test_safe_is_never_said_wrongly_of_everyone(tmp_path: Path) -> None:
    """Fresh entropy: outside five standard deviations, which the one draw for D widens, with probability below 1e-4."""
    last, venues = hour()
    there = np.bincount(last["rank"], minlength=len(venues))
    budget = lw.Budget(f"sqlite:///{tmp_path / 'budget.db'}", dataset="tokyo", cap="9", new=True)
    plan = lw.plan(query(venues, 1), lw.AdditionOnly("1"), lw.Decide(safe_at_most=5, about="everyone", left_out=3))
    state = lw.release(plan, budget).to_pandas()["state"].to_numpy()
    assert not (state[there > 5] == "safe").any()
