"""Attack: `verify`, exact numbers, (ε, δ) accounting and prices between units, against code of another kind."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from tests.attacks.made import Draw, notion
from tests.oracle import promises as truth

import leeward as lw
from leeward import accounting
from leeward.errors import BudgetConflictError
from leeward.exact import sqrt

INF = math.inf


# ---- verify: distances are logarithms of fractions, so that everything is decided in fractions


def powers(draw: random.Random, n: int) -> list[list[Fraction | None]]:
    """e^d for a directed distance; None for ∞."""
    choices = [None, *map(Fraction, ("1", "2", "3/2", "3", "9/4", "4"))]
    made = [[Fraction(1) if i == j else draw.choice(choices) for j in range(n)] for i in range(n)]
    for k, i, j in itertools.product(range(n), repeat=3):
        first, second, far = made[i][k], made[k][j], made[i][j]
        if first is not None and second is not None and (far is None or first * second < far):
            made[i][j] = first * second
    return made


def matrix(draw: random.Random, far: list[list[Fraction | None]]) -> list[list[Fraction]]:
    """Rows that are anything, with zeros; or weights e^{−d(z → y)} with what is missing in one more output: knife edges."""
    n = len(far)
    if draw.random() < 0.4:
        rows = [[draw.choice([0, 1, 1, 2, 3, 4, 9]) for _ in range(3)] for _ in range(n)]
        return [[Fraction(w, sum(row)) for w in row] if sum(row) else [Fraction(1), *[Fraction(0)] * 2] for row in rows]
    outputs = [(draw.randrange(n), draw.choice([1, 2, 3])) for _ in range(draw.choice([2, 3]))]
    rows_ = [[(c / f if (f := far[z][y]) is not None else Fraction(0)) for z, c in outputs] for y in range(n)]
    most = max(map(sum, rows_)) or Fraction(1)
    return [[*(w / most for w in row), 1 - sum(row) / most] for row in rows_]


@pytest.mark.parametrize("seed", range(2))
def test_verify_accepts_what_is_private_and_nothing_else(seed: int) -> None:
    draw, seen = random.Random(seed), set()
    for _ in range(70):
        far = powers(draw, draw.choice([2, 3, 4]))
        law, n = matrix(draw, far), len(far)
        pairs = [(x, y, f) for x, y in itertools.permutations(range(n), 2) if (f := far[x][y]) is not None]
        private = all(p <= f * q for x, y, f in pairs for p, q in zip(law[x], law[y], strict=True))
        distance = lw.distance.FiniteDistance(
            range(n), [[lw.inf if f is None else lw.exact.log(f) for f in row] for row in far]
        )
        made = lw.mechanism.FiniteMechanism(range(n), range(len(law[0])), law)
        assert bool(lw.verify(made, distance)) is private, (far, law)
        needed = max(
            [sum((max(p - f * q, 0) for p, q in zip(law[x], law[y], strict=True)), Fraction(0)) for x, y, f in pairs],
            default=Fraction(0),
        )
        for delta in (needed, needed - Fraction(1, 10**30), needed + Fraction(1, 10**30)):
            if 0 <= delta <= 1:
                assert bool(lw.verify(made, distance, same_delta=delta)) is (needed <= delta), (far, law, delta)
        seen.add(private)
    assert seen == {True, False}


# ---- exact numbers: the same expression to 120 digits


def real(draw: random.Random, depth: int) -> tuple[Any, Any]:
    kind = draw.random() if depth else 0.0
    value = Fraction(draw.choice([1, 2, 3, 5, 7, 12]) * draw.choice([1, 1, -1]), draw.choice([1, 2, 3, 9]))
    if kind < 0.25:
        return lw.exact.exact(value), mpmath.mpf(value.numerator) / value.denominator
    if kind < 0.4:
        n = draw.choice([2, 3, 8, 12, 50])
        return sqrt(n), mpmath.sqrt(n)
    if kind < 0.6:
        made, near = positive(draw, depth - 1)
        return lw.exact.log(made), mpmath.log(near)
    (a, x), (b, y) = real(draw, depth - 1), real(draw, depth - 1)
    return (a + b, x + y) if kind < 0.8 else (a - b, x - y) if kind < 0.9 else (a * b, x * y)


def positive(draw: random.Random, depth: int) -> tuple[Any, Any]:
    kind = draw.random() if depth else 0.0
    if kind < 0.3:
        n = draw.choice([1, 2, 3, 5, 10])
        return lw.exact.exp(0) * n, mpmath.mpf(n)
    if kind < 0.6:
        a, x = real(draw, depth - 1)
        return (lw.exact.exp(a), mpmath.exp(x)) if abs(x) < 30 else (lw.exact.exp(1), mpmath.e)
    (a, x), (b, y) = positive(draw, depth - 1), positive(draw, depth - 1)
    return (a + b, x + y) if kind < 0.8 else (a * b, x * y) if kind < 0.9 else (a / b, x / y)


@pytest.mark.parametrize("kind", [real, positive])
def test_comparisons_are_right_also_near_equality(kind: Callable[..., tuple[Any, Any]]) -> None:
    draw = random.Random(7)
    with mpmath.workdps(120):
        for _ in range(600):
            (a, x), (b, y) = kind(draw, 3), kind(draw, 3)
            if draw.random() < 0.5:  # equal in another form, or apart by 10^-40
                more = draw.choice([Fraction(0), Fraction(1, 10**40)])
                b, y = (a + b) - b + more, x + mpmath.mpf(more.numerator) / more.denominator
            right = 0 if abs(x - y) < mpmath.mpf(10) ** -80 else 1 if x > y else -1
            assert (a - b).sign() == right, (a, b)
            assert math.isclose(float(a), float(x), rel_tol=1e-12, abs_tol=1e-12)


# ---- (ε, δ): mixed events, each with its worst laws written out


def noisy(up: float, down: float, moves: int, places: int) -> Callable[[str | None], dict[Any, float]]:
    def law(who: str | None) -> dict[Any, float]:
        centres = [moves if who == "A" else 0] * places + [moves if who == "B" else 0] * places
        return truth.beside(*(truth.geometric(up, down, centre, moves) for centre in centres))

    return law


def kept(base: Callable[[str | None], dict[Any, float]], p: float) -> Callable[[str | None], dict[Any, float]]:
    return lambda who: {z: p * base(who).get(z, 0.0) + (1 - p) * base(None).get(z, 0.0) for z in base(who) | base(None)}


UP = accounting.GeometricEvent(1, lw.inf)
EVENTS: list[tuple[Any, Any]] = [
    (accounting.GeometricEvent("1/2", "1/2"), noisy(0.5, 0.5, 1, 1)),
    (UP, noisy(1, INF, 1, 1)),
    (accounting.GeometricEvent("1/2", "1/4", moves=2), noisy(0.5, 0.25, 2, 1)),
    (accounting.GeometricEvent(lw.inf, "1/2", places=2), noisy(INF, 0.5, 1, 2)),
    (accounting.SubsampledEvent(UP, "1/3"), kept(noisy(1, INF, 1, 1), 1 - math.exp(-1 / 3))),
]


@pytest.mark.parametrize("which", [(i, j) for i in range(5) for j in range(i, 5)], ids=str)
def test_no_delta_of_mixed_events_is_too_small(which: tuple[int, int]) -> None:
    accountant = lw.accounting.Accountant([EVENTS[i][0] for i in which])
    laws = {who: truth.beside(*(EVENTS[i][1](who) for i in which)) for who in ("A", "B", None)}
    ways: list[tuple[Any, str | None, str | None]] = [("withdraw", "A", None), ("insert", None, "A")]
    if 4 not in which:  # refused for subsampled events
        ways.append(("replace", "A", "B"))
    for direction, x, y in ways:
        for epsilon in (Fraction(-1, 2), Fraction(0), Fraction(1, 4), Fraction(1), Fraction(3)):
            claimed, right = accountant.delta(epsilon, direction), truth.hockey_stick(laws[x], laws[y], float(epsilon))
            assert right - 1e-12 <= claimed <= right + 1e-3, (direction, epsilon)


# ---- prices between units: two days, two places, and every set of visits


VISITS = [(day, place) for day in (0, 1) for place in "ab"]
SECRETS = [frozenset(s) for k in range(5) for s in itertools.combinations(VISITS, k)]
PARTS = {
    "person": [VISITS],
    "person-day": [[v for v in VISITS if v[0] == day] for day in (0, 1)],
    "person-place": [[v for v in VISITS if v[1] == place] for place in "ab"],
    "event": [[v] for v in VISITS],
}


def apart(told: tuple[Any, ...], unit: str) -> Callable[[Any, Any], Any]:
    """The distance between two sets of visits of one person under a promise about this unit."""
    tables = []
    for part in PARTS[unit]:
        records = [None, *(frozenset(s) for k in range(1, len(part) + 1) for s in itertools.combinations(part, k))]
        far = truth.closed(truth.step(told), records)
        tables.append(
            (frozenset(part), {(r, s): far[i][j] for i, r in enumerate(records) for j, s in enumerate(records)})
        )
    return lambda x, y: sum(far[(x & part) or None, (y & part) or None] for part, far in tables)


@pytest.mark.parametrize("seed", range(2))
def test_no_price_between_units_is_too_low(seed: int) -> None:
    draw, derived = Draw(seed + 400), 0
    while derived < 60:
        mine, other = draw.promise(1), draw.promise(1)
        if any(word in str((mine, other)) for word in ("'adp'", "'osdp'")):
            continue
        theirs, ours = draw.among(*PARTS), draw.among(*PARTS)
        most = 1 if theirs == "person" else 4 if (theirs, ours) == ("event", "person") else 2
        try:
            claimed = lw.price(notion(mine), notion(other), release_unit=theirs, budget_unit=ours, at_most=most)
        except BudgetConflictError:
            continue
        derived += 1
        cost, budget = apart(mine, theirs), apart(other, ours)
        for x, y in itertools.permutations(SECRETS, 2):
            if (unit := budget(x, y)) != INF:
                assert cost(x, y) <= claimed * unit, (mine, theirs, other, ours, x, y)
