"""(ε, δ) of every kind of event along every change, against exact mechanisms that are gone through: δ is never too small.

A small mechanism is its exact law for each secret: nobody, a record, another record. What an event stands for is every
mechanism that keeps its bounds, so δ must be at least that of each, and attained by the worst.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.oracle import hockey_stick

from leeward.accounting import (
    Accountant,
    ComposedEvent,
    Cost,
    Direction,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
)
from leeward.accounting._dominating_pairs import pure_replaced
from leeward.errors import InputError
from leeward.exact import inf

Law = Mapping[Any, Any]
Three = tuple[Law, Law, Law]
"""The laws of nobody, of a record and of another record."""

INF = math.inf
EPSILONS = (-0.5, 0.0, 0.2, 0.7, 1.3, 2.6)


def deltas(laws: Three) -> Iterator[tuple[Direction, float, float]]:
    """The true δ along every change of one person."""
    nobody, one, other = laws
    ways: list[tuple[Direction, Law, Law]] = [
        ("withdraw", one, nobody),
        ("withdraw", other, nobody),
        ("insert", nobody, one),
        ("insert", nobody, other),
        ("replace", one, other),
        ("replace", other, one),
    ]
    for way, p, q in ways:
        for epsilon in EPSILONS:
            yield way, epsilon, float(hockey_stick.delta(p, q, epsilon))


def side_by_side(*several: Three) -> Three:
    return tuple(hockey_stick.product(*laws) for laws in zip(*several, strict=True))  # type: ignore[return-value]


# ---- the exact mechanisms


def counts(up: float, down: float, before: tuple[int, ...], after: tuple[int, ...]) -> Three:
    """Noisy counts, of which a record adds so much to each."""
    top = max((*before, *after, 1)) + 1

    def law(added: tuple[int, ...]) -> Law:
        return hockey_stick.product(*(hockey_stick.geometric(c, up, down, -1, top) for c in added))

    return law((0,) * len(before)), law(before), law(after)


def worst_pure(withdraw: float, insert: float) -> Three:
    """The mechanism that attains the bounds of `pure_replaced`: its text says why it is the worst."""
    e = mpmath.exp
    low, rise = 1 - e(-mpmath.mpf(insert)), e(mpmath.mpf(withdraw)) - 1 if withdraw < INF else mpmath.inf
    if not low or not rise:
        same = {"the same": mpmath.mpf(1)}
        return same, same, same
    m = min(low, rise) / (1 - e(-mpmath.mpf(withdraw + insert)))
    rest = m * e(-mpmath.mpf(withdraw + insert))
    one = {"one": m, "either": 1 - m - rest, "other": rest}
    other = {"one": rest, "either": 1 - m - rest, "other": m}
    q = m * e(-mpmath.mpf(withdraw))
    return {"one": q, "either": 1 - 2 * q, "other": q}, one, other


def is_tied(laws: Three, withdraw: float, insert: float) -> bool:
    """Whether a mechanism is private at these costs."""
    nobody, *records = laws
    for record in records:
        for z, q in nobody.items():
            if record[z] > mpmath.exp(withdraw) * q * (1 + mpmath.mpf(10) ** -30) and withdraw < INF:
                return False
            if q > mpmath.exp(insert) * record[z] * (1 + mpmath.mpf(10) ** -30) and insert < INF:
                return False
    return True


def sanitized(up: float, stops: int, at_most: int, places: int, one: set[int], other: set[int], there: int) -> Three:
    """Counts in order, each safe or published; a record adds one at each of its places to the people already there."""

    def law(at: set[int]) -> Law:
        done: dict[Any, Any] = {((), 0): mpmath.mpf(1)}
        top = at_most + 4
        for place in range(places):
            count, after = there + (place in at), {}
            noise = {k: p for k, p in hockey_stick.geometric(0, up, INF, 0, top - count).items() if k >= 0}
            for (said, stopped), p in done.items():
                if stopped == stops:
                    after[(*said, None), stopped] = after.get(((*said, None), stopped), 0) + p
                    continue
                for k, chance in noise.items():
                    z = count + k
                    word = "safe" if z <= at_most else z
                    key = ((*said, word), stopped + (z > at_most))
                    after[key] = after.get(key, mpmath.mpf(0)) + p * chance
            done = after
        return {said: p for (said, _), p in done.items()}

    laws = [law(at) for at in (set(), one, other)]
    every = {z for each in laws for z in each}
    return tuple({z: each.get(z, mpmath.mpf(0)) for z in every} for each in laws)  # type: ignore[return-value]


# ---- the sweep: an event, and mechanisms that keep its bounds; the last of them is the worst


def geometric_case(up: Any, down: Any, moves: int, places: int) -> tuple[Event, list[Three]]:
    rates = tuple(INF if rate is inf else float(rate) for rate in (up, down))
    sides = 2 * places
    found = []
    for before, after in itertools.product(itertools.product(range(moves + 1), repeat=sides), repeat=2):
        if max(sum(map(bool, before)), sum(map(bool, after))) <= places:
            found.append(counts(*rates, before, after))
    found.append(counts(*rates, (moves,) * places + (0,) * places, (0,) * places + (moves,) * places))
    return GeometricEvent(up, down, moves=moves, places=places), found


PURE = {f"pure, {w} and {i}": (w, i) for w, i in itertools.product(["0", "0.3", "1", "2", inf], repeat=2)}
BOTH_WAYS: dict[str, tuple[Event, list[Three]]] = {
    "geometric": geometric_case("0.7", "0.4", 1, 1),
    "geometric, upward": geometric_case("0.7", inf, 1, 1),
    "geometric, downward": geometric_case(inf, "0.7", 1, 1),
    "geometric, two moves": geometric_case("0.5", "0.3", 2, 1),
    "sanitized": (
        SanitizedEvent("0.6"),
        [
            sanitized(0.6, 1, at_most, 3, set(one), set(other), there)
            for at_most, there in [(1, 0), (1, 1), (0, 0), (1, 2)]
            for one, other in itertools.product([(), (0,), (0, 1, 2), (1, 2)], [(), (1,), (0, 2)])
        ],
    ),
    "sanitized twice": (
        SanitizedEvent("0.3", stops=2),
        [sanitized(0.3, 2, 1, 3, set(one), set(other), 1) for one, other in [((0, 1), (2,)), ((0, 1, 2), ()), ((0,), (1,))]],
    ),
    **{
        name: (PureEvent(w, i), [worst_pure(*(INF if cost is inf else float(cost) for cost in (w, i)))])
        for name, (w, i) in PURE.items()
    },
}  # fmt: skip


def check(event: Event, laws: Three) -> float:
    """δ is never too small; returns by how much it is too large at most."""
    accountant, most = Accountant([event]), 0.0
    for way, epsilon, right in deltas(laws):
        mine = accountant.delta(epsilon, way)
        assert mine >= right - 1e-15, f"δ({epsilon}) = {mine} along {way}, truly {right}"
        if way == "replace":
            most = max(most, mine - right)
    return most


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_delta_is_never_too_small(name: str) -> None:
    event, several = BOTH_WAYS[name]
    for laws in several:
        assert sum(laws[0].values()) == pytest.approx(1)
        over = check(event, laws)
    if not isinstance(event, SanitizedEvent):  # of which the whole class with its pure bound is priced
        assert over < 1e-4, "the worst mechanism attains it"


COMPOSED = [
    (PureEvent("1", "1"), worst_pure(1, 1)),
    (PureEvent("0.3", inf), worst_pure(0.3, INF)),
    (PureEvent(inf, "0.4"), worst_pure(INF, 0.4)),
    (PureEvent("0.2", "1"), worst_pure(0.2, 1)),
    (GeometricEvent("0.5", "0.2"), counts(0.5, 0.2, (1, 0), (0, 1))),
    (GeometricEvent("0.5", inf), counts(0.5, INF, (1, 0), (0, 1))),
    (SanitizedEvent("0.3"), worst_pure(0.3, INF)),
]


@pytest.mark.parametrize("first", range(len(COMPOSED)))
def test_two_events_together(first: int) -> None:
    for second in range(first, len(COMPOSED)):
        (one, laws), (two, others) = COMPOSED[first], COMPOSED[second]
        assert check(ComposedEvent([one, two]), side_by_side(laws, others)) < 1e-3


def test_three_of_the_same() -> None:
    for event, laws in COMPOSED[:4]:
        assert check(SelfComposedEvent(event, 3), side_by_side(laws, laws, laws)) < 1e-3


def test_what_the_old_composition_said() -> None:
    """Withdrawing beside inserting, as if the two had noise of their own: 0.462 for 0.632."""
    laws = worst_pure(1, 1)
    assert is_tied(laws, 1, 1)
    assert float(hockey_stick.delta(laws[1], laws[2], 0)) == pytest.approx(1 - math.exp(-1))
    assert Accountant([PureEvent(1, 1)]).delta(0, "replace") == pytest.approx(1 - math.exp(-1))
    apart = math.tanh(0.5)
    assert apart == pytest.approx(0.462, abs=1e-3)


@pytest.mark.sweep
@pytest.mark.parametrize("name", PURE)
def test_no_mechanism_with_these_costs_is_worse(name: str) -> None:
    """Random mechanisms, pushed to their bounds: a quarter of them or more are tied to nobody's law as they should be."""
    withdraw, insert = (INF if cost is inf else float(cost) for cost in PURE[name])
    rng, accountant, tied = random.Random(name), Accountant([PureEvent(*PURE[name])]), 0
    for _ in range(60):
        size = rng.randint(2, 4)
        raw = [mpmath.mpf(rng.expovariate(1)) for _ in range(size)]
        q = {z: w / mpmath.fsum(raw) for z, w in enumerate(raw)}
        records = []
        for _ in range(2):
            low = {z: p * mpmath.exp(-insert) if insert < INF else mpmath.mpf(0) for z, p in q.items()}
            high = {z: p * mpmath.exp(withdraw) if withdraw < INF else mpmath.mpf(1) for z, p in q.items()}
            made, left = dict(low), 1 - mpmath.fsum(low.values())
            for z in rng.sample(range(size), size):  # filled up one after the other: an extreme point of what is tied
                part = min(left, high[z] - low[z])
                made[z], left = made[z] + part, left - part
            records.append(made)
        laws = (q, *records)
        if abs(left) < 1e-30 and is_tied(laws, withdraw, insert):
            tied += 1
            for way, epsilon, right in deltas(laws):
                assert accountant.delta(epsilon, way) >= right - 1e-15
    assert tied >= 15


def test_a_pair_with_a_little_less_is_noticed() -> None:
    """The bound is sharp: 1 % less of the extreme outcomes is not enough."""
    pair = pure_replaced(1.0, 0.5)
    laws = worst_pure(1, 0.5)
    right = float(hockey_stick.delta(laws[1], laws[2], 0.3))
    got = sum(max(p - math.exp(0.3) * q, 0) for p, q in zip(pair.present, pair.absent, strict=True))
    assert got == pytest.approx(right, abs=1e-15)
    assert got * 0.99 < right


def test_laplace_noise_is_the_limit_of_fine_geometric_noise() -> None:
    fine = counts(0.7 / 20, 0.4 / 20, (20, 0), (0, 20))
    accountant = Accountant([LaplaceEvent("0.7", "0.4")])
    for way, epsilon, right in deltas(fine):
        assert accountant.delta(epsilon, way) >= right - 0.02
        if way == "replace":
            assert accountant.delta(epsilon, way) <= right + 0.02


@pytest.mark.parametrize("direction", ["withdraw", "insert", "replace"])
@pytest.mark.parametrize(
    "event",
    [
        PureEvent(inf, inf),
        PureEvent(40, 40),
        PureEvent(1000, 1000),
        GeometricEvent(800, 800),
        GeometricEvent("1e-30", "1e-30"),
        GeometricEvent("1e-9", 900),
        SanitizedEvent(40, stops=3),
        SelfComposedEvent(SanitizedEvent("1"), 40),
        SelfComposedEvent(PureEvent(40, 1), 3),
        ComposedEvent([PureEvent(800, inf), GeometricEvent("0.1", "0.1"), PureEvent("36.5", "0.01")]),
    ],
    ids=str,
)
def test_mass_at_infinity_and_rates_beyond_floats(event: Event, direction: Direction) -> None:
    """Once an IndexError; now an upper bound, and never more than the pure cost."""
    accountant = Accountant([event])
    pure = {"withdraw": accountant.cost.withdraw, "insert": accountant.cost.insert}
    bound = pure.get(direction, accountant.cost.withdraw + accountant.cost.insert)
    assert 0 <= accountant.delta(0, direction) <= 1
    assert accountant.epsilon(1e-6, direction) <= float(bound)
    if not bound.is_infinite:
        assert accountant.delta(bound, direction) == 0


@pytest.mark.parametrize("times", [0, -4, 1.5, 2.0, "3", True, None, math.inf])
def test_so_many_times_is_a_whole_number_of_at_least_one(times: Any) -> None:
    event = GeometricEvent(1, 1)
    with pytest.raises(InputError):
        Accountant().compose(event, times)
    with pytest.raises(InputError):
        SelfComposedEvent(event, times)
    with pytest.raises(InputError):
        Accountant([event]).cost.times(times)


def test_what_would_fill_the_memory_is_refused_in_words() -> None:
    """Once stopped by the system when 30 GB were full."""
    for event in (GeometricEvent("0.1", "0.1"), PureEvent(1, 2)):
        with pytest.raises(InputError, match="coarser grid"):
            Accountant().compose(event, 10**9).delta(1, "withdraw")
    with pytest.raises(InputError, match="coarser grid"):
        Accountant([PureEvent(40, 40)], grid="1e-7").delta(1, "withdraw")
    with pytest.raises(InputError, match="coarser grid"):
        Accountant([LaplaceEvent(300, 300)], grid="1e-12").delta(1, "withdraw")
    with pytest.raises(InputError, match="no float"):
        Accountant([LaplaceEvent(800, 800)], grid=10).delta(1, "withdraw")


def test_a_million_releases_are_not_too_small_either() -> None:
    """The same loss of ±ε each time: a binomial law. Rounding took 3e-11 from δ here."""
    stats = pytest.importorskip("scipy.stats")
    n, rate = 10**6, 0.001
    number = np.arange(n + 1)
    loss, chance = (2 * number - n) * rate, stats.binom.pmf(number, n, 1 / (1 + math.exp(-rate)))
    accountant = Accountant(grid="1e-3").compose(PureEvent("0.001", "0.001"), n)
    for epsilon in (0.0, 0.5, 3.0, 6.0):
        right = float(np.sum(chance[loss > epsilon] * -np.expm1(epsilon - loss[loss > epsilon])))
        assert right < accountant.delta(epsilon, "withdraw") < right + 3e-9


def test_a_cost_below_zero_is_refused() -> None:
    with pytest.raises(InputError, match="given back"):
        Cost(withdraw=-Accountant([PureEvent(1, 1)]).cost.withdraw)


def test_subsampled_events_are_not_replaced() -> None:
    event = SubsampledEvent(PureEvent(1, 1), 1)
    with pytest.raises(InputError, match="one coin"):
        Accountant([event]).delta(0, "replace")
    assert Accountant([event]).delta(5, "replace") == 0, "the pure cost is known all the same"
