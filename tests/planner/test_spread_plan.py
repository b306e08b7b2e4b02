"""A variance over a private number of people: its split of ε, and the errors that are promised of it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.notion import AdditionOnly, Manhattan, Notion, ReplaceDP, UnboundedDP, ValueGrid
from leeward.planner._number_plan import NumberPlan, plan_number
from leeward.planner._spread import Reach, between, error_at, far_at, found

F = Fraction
ROWS = lw.records("t.parquet", person="each row")
VALUES = ValueGrid(0, 20, "1/2")
DRAWS, BAND = 1_000, 4.5
"""4.5 standard deviations on one side: a false alarm in 3.4e-6 (normal), seeded so that it never flickers."""

NOTIONS = [UnboundedDP("1"), AdditionOnly("1"), ReplaceDP("2"), Manhattan("1", VALUES, unit="5")]


def plan(kind: str, notion: Notion, **more: Any) -> NumberPlan:
    described = {"column": "n", "lower": 0, "upper": 20, "step": "1/2", "grid": "1/100", **more}
    return plan_number(statistic_by(ROWS, kind, **described), notion)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", range(1, 9))
@pytest.mark.parametrize("times", ["1/3", "1", "2", "5", "16", "100"])
def test_how_far_one_person_moves_the_sums(k: int, times: str) -> None:
    """By going through all of them, at rates 1 of squares and ``times`` of the sum."""
    held = [2 * steps - k for steps in range(k + 1)]

    def apart(u: int, v: int) -> Fraction:
        return F(times) * abs(u - v) + 2 * abs(u * u - v * v)

    far = far_at(k, F(times))
    assert far.presence == max(F(times) * abs(u) + abs(2 * u * u - k * k) for u in held)
    assert far.within == max(apart(u, v) for u, v in itertools.product(held, repeat=2))
    assert far.near == max(apart(u, v) for u, v in itertools.product(held, repeat=2) if abs(u - v) <= 2)


def test_the_variance_follows_from_three_sums() -> None:
    for numbers in itertools.product(range(5), repeat=3):
        apart = [2 * number - 4 for number in numbers]
        exact = F(sum(4 * n * n for n in numbers), 3) - F(2 * sum(numbers), 3) ** 2
        assert found(sum(apart), sum(2 * u * u - 16 for u in apart), 3, 4) == exact
    assert found(3, 4, 0, 4) == 0


@pytest.mark.parametrize("reach", [Reach(1, 3, 1, 1), Reach(2, 5, 2, 0), Reach(0, 0, 0, 2)])
def test_between_holds_every_table_of_the_box(reach: Reach) -> None:
    k = 2
    for counts in itertools.product(range(6), repeat=3):
        if not 1 <= (n := sum(counts)) <= 6:
            continue
        apart = [u for u, many in zip((-2, 0, 2), counts, strict=True) for _ in range(many)]
        exact = F(sum(u * u for u in apart), n) - F(sum(apart), n) ** 2
        s, q = sum(apart), sum(2 * u * u - k * k for u in apart)
        for x, z, y in itertools.product(
            (-reach.sums, 0, reach.sums), (-reach.squares, 1, reach.squares), (-reach.down, reach.up)
        ):
            if abs(z) > reach.squares:
                continue
            low, high = between(s + x, q + z, n + y, k, reach)
            assert low <= exact <= high
            error = error_at(n, k, reach)
            off = abs(min(max(found(s + x, q + z, n + y, k), F(0)), F(k * k)) - exact)
            assert off <= error


def draw(law: Any, rng: np.random.Generator) -> Any:
    up, down = (
        rng.geometric(-math.expm1(-float(r)), DRAWS) - 1 if not r.is_infinite else 0 for r in (law.up, law.down)
    )
    return up - down


def short(errors: Any, stated: Any) -> float:
    """By how many standard deviations the share of errors within what is stated falls short of 95 %."""
    share = float(np.mean(np.asarray(errors) <= np.asarray(stated) + 1e-9))
    return float((0.95 - share) / math.sqrt(0.05 * 0.95 / DRAWS))


DATA = {
    "at one bound": lambda n: np.full(n, 20.0),
    "at both bounds": lambda n: np.repeat([0.0, 20.0], [n // 2, n - n // 2]),
    "evenly": lambda n: np.round(np.linspace(0, 20, n) * 2) / 2,
    "near together": lambda n: 5 + np.arange(n) % 3 / 2,
}


@pytest.mark.statistical
@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("people", [40, 1_000])
def test_the_stated_errors_hold_and_are_not_idle(notion: Notion, people: int) -> None:
    for kind, (name, data) in itertools.product(("variance", "standard deviation"), DATA.items()):
        made, numbers = plan(kind, notion), data(people)
        rng = np.random.default_rng(people)
        u = np.round(4 * numbers).astype(np.int64) - 40
        exactly = [u.sum(), (2 * u * u - 1600).sum(), people]
        drawn = np.stack([each + draw(part.law, rng) for each, part in zip(exactly, made.parts, strict=True)], axis=1)
        table = made.answers(drawn.ravel().astype(np.int64), pa.table({"group": [""] * DRAWS})).to_pandas()
        exact = float(np.var(numbers)) if kind == "variance" else float(np.std(numbers))
        off = (table["value"] - exact).abs()
        assert short(off, table["within_95_percent"]) < BAND, name
        before = made._spread_error(people)
        assert short(off, before) < BAND, name
        if kind == "variance" and name == "evenly" and people == 1_000:
            assert short(off, table["within_95_percent"] / 3) > BAND  # the broken variants: not three times too large
            assert short(off, before / 8) > BAND


@pytest.mark.statistical
def test_the_stated_error_of_a_deviation_over_a_public_number_holds() -> None:
    made = plan("standard deviation", lw.BoundedDP("1/10"), people=100)
    rng = np.random.default_rng(5)
    for name, data in DATA.items():
        exact = int(F(float(np.var(data(100)))).limit_denominator(10**6) / made.scale.unit)
        drawn = exact + draw(made.parts[0].law, rng)
        table = made.answers(drawn.astype(np.int64), pa.table({"group": [""] * DRAWS})).to_pandas()
        off = (table["value"] - math.sqrt(exact * float(made.scale.unit))).abs()
        assert short(off, table["within_95_percent"]) < BAND, name
        assert short(off, made.accuracy().within_95_percent) < BAND, name  # type: ignore[union-attr]
        if name == "evenly":
            assert short(off, table["within_95_percent"] / 2) > BAND


def test_the_split_is_the_best_of_those_tried() -> None:
    """Where people come and go, nearly the least Σcᵢ/xᵢ that there is, (Σ√cᵢ)² for shares that add up to ε."""
    made = plan("variance", UnboundedDP("1"))
    sums, squares, number = (float(part.law.up) for part in made.parts)
    k = 40
    assert k * sums + k * k * squares + number == pytest.approx(1)
    reached = 1 / (2 * squares) + 2 * k / sums + 1.5 * k * k / number
    least = k * k * (math.sqrt(0.5) + math.sqrt(2) + math.sqrt(1.5)) ** 2
    assert least <= reached < 1.01 * least


def test_a_deviation_is_the_same_draw_as_its_variance() -> None:
    variance, deviation = plan("variance", UnboundedDP("1")), plan("standard deviation", UnboundedDP("1"))
    assert [part.line for part in variance.parts] == [part.line for part in deviation.parts]
    drawn = np.array([0, 1600 * 100, 100])
    shown = [made.answers(drawn, pa.table({"group": [""]}))["value"].to_pylist() for made in (variance, deviation)]
    assert shown == [[100.0], [10.0]]
