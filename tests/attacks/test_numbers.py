"""Attack: sums over values of every kind, and closeness of numbers on grids that do not fit, by brute force."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.asking import statistic_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.errors import NotPrivateError
from leeward.notion import Notion
from leeward.planner import NumberPlan
from leeward.planner._number_plan import plan_number
from leeward.query import Mean, Statistic, Sum, maximum, records

INF = math.inf

# ---- sums of a clamped column: every value that may stand in it, numbers that are not whole and infinite ones among them

EVERY: list[Any] = [None, "w", math.nan, INF, -INF, *(Fraction(k, 4) for k in range(-12, 33))]
"""The conditions below name halves at most, so that of each of their gaps some quarter is listed."""

NAMED = [[INF], [INF, 2], [-INF], [Fraction(5, 2)], [Fraction(11, 2), 1], [Fraction(-1, 2), 0], ["w"], [2]]
RANGES: list[tuple[int | None, int | None]] = [(None, 2), (3, None), (1, 2), (0, 5)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and value == value


def _added(value: Any, lower: int, upper: int) -> Any:
    """What one person adds; nothing for a number that cannot be added up."""
    inside = min(max(value if _is_number(value) else 0, lower), upper)
    return inside if inside == math.floor(inside) else None


def _atoms() -> list[tuple[Any, Any]]:
    """Conditions on x, with what each says of a value."""
    found: list[tuple[Any, Any]] = [
        (lw.where("x", one_of=names), lambda v, names=names: v is not None and v in names) for names in NAMED
    ]
    for low, high in RANGES:
        found.append(
            (
                lw.where("x", at_least=low, at_most=high),
                lambda v, a=low, b=high: _is_number(v) and (a is None or v >= a) and (b is None or v <= b),
            )
        )
    return found


ATOMS = _atoms()
NOT = [(~made, lambda v, says=says: not says(v)) for made, says in ATOMS]
NEITHER = [
    (~one & ~two, lambda v, p=p, q=q: not p(v) and not q(v)) for (one, p), (two, q) in itertools.combinations(ATOMS, 2)
]


@pytest.mark.parametrize("bounds", [(0, 2), (0, 5), (-3, -1), (2, 2)], ids=str)
def test_sums_move_exactly_as_far_as_some_value_does(bounds: tuple[int, int]) -> None:
    """Also values that a condition names and a clamp makes whole, and those in a gap that holds no whole number."""
    allowed = [v for v in EVERY if _added(v, *bounds) is not None]
    for made, says in [*ATOMS, *NOT, *NEITHER]:
        asked = lw.query.SumOf("x", *bounds, made)
        part = {_added(v, *bounds) if says(v) else 0 for v in allowed}
        every = part | {0}
        for notion, rise, fall in (
            (lw.AdditionOnly("1"), max(-min(every), 0), max(every)),
            (lw.ReplaceDP("1"), max(every) - min(every), max(every) - min(every)),
            (lw.BoundedDP("1"), max(part) - min(part), max(part) - min(part)),
        ):
            assert _moves(notion, asked) == (rise, fall), (str(made), notion)


def test_policies_name_values_too() -> None:
    """Who holds what a policy names has every other record as a cover, so the sum falls by all they add."""
    for made, says in ATOMS:
        asked, policy = lw.query.SumOf("x", 0, 2), lw.OSDP("1", made)
        hidden = [_added(v, 0, 2) for v in EVERY if says(v) and _added(v, 0, 2) is not None]
        if hidden:
            assert _moves(policy, asked) == (2 - min(hidden), max(hidden)), str(made)


def _moves(notion: Notion, asked: Any) -> tuple[Any, Any]:
    found: Any = None
    with contextlib.suppress(NotPrivateError):  # for an answer that no step changes
        found = lw.sensitivity(notion, asked)
    return (0, 0) if found is None else (found.rise, found.fall)


# ---- closeness: whatever is planned keeps the promise between all numbers of the question's grid

STEPS = [Fraction(s) for s in ("1", "3/2", "2", "3", "6")]
TOP = 6
KINDS: list[tuple[str, int | None, Any]] = [
    ("histogram", None, None),
    ("sum", None, None),
    ("sum", 2, None),
    ("max", None, None),
    ("mean", 2, "1"),
    ("mean", 2, "3"),
    ("mean", None, "3"),
]


def _answer(asked: Statistic, step: Fraction, table: Sequence[Fraction]) -> list[Any]:
    if asked.kind == "histogram":
        return [sum(min(x // step, TOP / step - 1) == i for x in table) for i in range(int(TOP / step))]
    if asked.kind == "sum":
        return [sum(table) / step]
    if asked.kind == "percentile":
        return [max(table) / step]
    if asked.people is None:  # distances from the middle of the range in half steps, and people
        return [sum(2 * x / step - TOP / step for x in table), len(table)]
    assert isinstance(asked.numeric, Mean)
    assert asked.numeric.grid is not None
    return [math.floor(sum(table) / len(table) / asked.numeric.grid + Fraction(1, 2))]


def _loss(plan: NumberPlan, before: Sequence[Any], after: Sequence[Any]) -> Any:
    """The largest log-ratio of the noise at two answers."""
    total = Fraction(0)
    for i, (x, y) in enumerate(zip(before, after, strict=True)):
        law = plan.parts[i % len(plan.parts)].law
        rate = law.down if y > x else law.up
        total += abs(Fraction(y) - Fraction(x)) * (rate.rational or 0)
    return total


@pytest.mark.parametrize(
    "notion", [lw.Manhattan, lw.notion.Maximum, lw.notion.NormalisedManhattan], ids=lambda n: n.name
)
@pytest.mark.parametrize(("kind", "people", "grid"), KINDS, ids=str)
def test_a_notion_on_any_grid_keeps_its_promise_on_that_of_the_question(
    notion: Any, kind: Any, people: int | None, grid: Any
) -> None:
    """Found by hand: a notion in steps of 10 gave a histogram in steps of 1 ten times the promised odds."""
    planned = 0
    for near, step in itertools.product(STEPS, STEPS):
        made = notion("1", lw.ValueGrid(0, TOP, near), nobody=people is None and kind == "mean")
        given = {} if grid is None else {"grid": grid}
        asked = statistic_by(
            records("t.parquet", person="w"), kind, column="x", lower=0, upper=TOP, step=step, people=people, **given
        )
        try:
            plan = plan_number(asked, made)
        except LeewardError:
            continue
        planned += 1
        numbers = [i * step for i in range(int(TOP / step) + 1)]
        answers = {x: _answer(asked, step, x) for x in itertools.product(numbers, repeat=2)}
        for x, y in itertools.product(answers, answers):
            far = [abs(a - b) for a, b in zip(x, y, strict=True)]
            if min(far) == 0 or notion is lw.notion.Maximum:
                promised = max(far) / (TOP if notion is lw.notion.NormalisedManhattan else 1)
                assert _loss(plan, answers[x], answers[y]) <= promised, (near, step, x, y)
    assert planned >= (0 if notion is lw.notion.Maximum and (kind == "histogram" or people is None) else 9)


@pytest.mark.parametrize("asked", [Sum, Mean, maximum], ids=lambda q: q.__name__)
def test_questions_of_the_library_refuse_a_coarser_notion_too(asked: Any) -> None:
    fine, coarse = lw.ValueGrid(0, 6, 1), lw.ValueGrid(0, 6, 2)
    for notion in (lw.Manhattan("1", coarse), lw.both_hold(lw.Manhattan("1", coarse), lw.UnboundedDP("1"))):
        with pytest.raises(NotPrivateError, match=r"Give the notion the values of the question, ValueGrid\(0, 6, 1\)"):
            lw.sensitivity(notion, asked(fine))
    with pytest.raises(NotPrivateError, match="Closeness in steps of 2, of numbers in steps of 1"):
        lw.sensitivity(lw.notion.Maximum("1", coarse, nobody=False), asked(fine, people=3))
    assert lw.sensitivity(lw.Manhattan("1", fine), asked(fine)).line
    assert lw.sensitivity(lw.Manhattan("1", fine), asked(coarse)).line
