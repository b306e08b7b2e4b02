"""Report noisy max as permute-and-flip: its law by all orders, what it costs by brute force, and where nothing is better."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import integrate
from tests.statistical.gof import rejects

from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact import exact, inf, log
from leeward.mechanism import NoisyMax
from leeward.noise import SeededBitsForTests
from leeward.notion import (
    ABSENT,
    ADP,
    AdditionOnly,
    BoundedDP,
    Graded,
    Notion,
    Presence,
    RemovalOnly,
    UnboundedDP,
    all_tables,
    has,
)
from leeward.query import CountWhere, Domain, rate_between, sensitivity
from leeward.verification import verify

FALSE_ALARM = 1e-6
ROWS = list(itertools.product(range(3), repeat=3))


def by_orders(counts: tuple[int, ...], how_many: int) -> dict[tuple[int, ...], Fraction]:
    """Permute-and-flip as McKenna and Sheldon write it, at rate ln 2: every order, coin by coin, until one is accepted."""
    if not how_many:
        return {(): Fraction(1)}
    found: Counter[tuple[int, ...]] = Counter()
    orders = list(itertools.permutations(range(len(counts))))
    for order in orders:
        left = Fraction(1, len(orders))
        for i in order:
            heads = Fraction(1, 2 ** (max(counts) - counts[i]))
            rest = tuple(c for j, c in enumerate(counts) if j != i)
            for later, p in by_orders(rest, how_many - 1).items():
                found[i, *(j + (j >= i) for j in later)] += left * heads * p
            left *= 1 - heads
    return dict(found)


@pytest.mark.parametrize("how_many", [1, 2, 3])
@pytest.mark.parametrize("counts", [(0, 0, 0), (2, 0, 1), (0, 3, 3), (5, 1, 0), (-2, 4, 3), (1, 1, 0)])
def test_the_law_is_that_of_every_order_and_coin(counts: tuple[int, ...], how_many: int) -> None:
    matrix = NoisyMax(log(2), how_many=how_many).on([counts])
    expected = by_orders(counts, how_many)
    assert {z: p.rational for z, p in matrix.row(counts).items() if p} == {z: p for z, p in expected.items() if p}


@pytest.mark.parametrize("counts", [(3, 1, 2), (0, 0, 4), (2, 2, 0)])
def test_it_is_exponential_noise_on_every_count(counts: tuple[int, ...]) -> None:
    """Pr[count i with its noise is the largest], integrated over the noise of i."""
    row = NoisyMax("1/2").on([counts]).row(counts)
    for i, own in enumerate(counts):
        others = [c for j, c in enumerate(counts) if j != i]

        def wins(noise: float, own: int = own, others: list[int] = others) -> float:
            below = [1 - math.exp(-max(own + noise - c, 0) / 2) for c in others]
            return math.exp(-noise / 2) / 2 * math.prod(below)

        kinks = [max(c - own, 0) for c in counts]
        chance, _ = integrate.quad(wins, 0, 100, points=sorted({*kinks}), limit=200)
        assert float(row[i,]) == pytest.approx(chance, abs=1e-9)


@pytest.mark.sweep
def test_the_sampler_has_that_law_also_for_many_options() -> None:
    """A binomial test for each pair named, false alarms 10⁻⁶; a sampler at another rate is found out."""
    counts = (4, 2, 0, 3)
    mechanism = NoisyMax("1/2", how_many=2)
    expected = {z: float(p) for z, p in mechanism.on([counts]).row(counts).items()}
    bits = SeededBitsForTests(7)

    def verdict(sampled: NoisyMax) -> str | None:
        drawn = Counter(tuple(sampled.release(counts, bits).tolist()) for _ in range(5_000))
        return rejects([drawn[z] for z in expected], list(expected.values()), 5_000, FALSE_ALARM)

    assert verdict(mechanism) is None
    assert verdict(NoisyMax("0.8", how_many=2)) is not None


def test_distances_between_extremes_do_not_wrap() -> None:
    far = np.array([-(2**63), 2**63 - 1], np.int64)
    assert [NoisyMax("1").release(far).tolist() for _ in range(60)] == [[1]] * 60  # a gap of 0 would name both
    assert sorted(NoisyMax("1", how_many=2).release(far).tolist()) == [0, 1]


def test_equal_counts_are_named_alike() -> None:
    """10,000 options of one count: no position is preferred. False alarms: 10⁻⁶."""
    bits = SeededBitsForTests(3)
    named = Counter(int(NoisyMax("1").release(np.zeros(10_000, np.int64), bits)[0]) // 1000 for _ in range(2000))
    assert rejects([named[k] for k in range(10)], [0.1] * 10, 2000, FALSE_ALARM) is None
    assert rejects([named[k] for k in range(10)], [0.15] * 10, 2000, FALSE_ALARM) is not None


# ---- what it costs


AT_A, AT_B = has("a"), has("b")
RECORDS = [frozenset(s) for s in ("", "a", "b", "ab")]
ONCE = [frozenset(s) for s in ("", "a", "b")]
NOTIONS: dict[str, Notion] = {
    "addition-only": AdditionOnly("1"),
    "removal-only": RemovalOnly("1"),
    "unbounded": UnboundedDP("1"),
    "bounded": BoundedDP("1"),
    "presence": Presence("1"),
    "not at a, not at b": ADP("1", [~AT_A, ~AT_B]),
    "graded": Graded("1", "2"),
}
RATES = {
    "addition-only": "1",
    "removal-only": "1",
    "unbounded": "1",
    "bounded": "1/2",
    "presence": "1",
    "not at a, not at b": "1",
    "graded": "2/3",
}


@pytest.mark.parametrize("once", [True, False])
@pytest.mark.parametrize("name", sorted(NOTIONS))
def test_the_rate_is_private_over_all_pairs_of_tables_and_no_more(name: str, once: bool) -> None:
    """Every ordered pair of tables of two persons at two places; at most one place each, or any number of them."""
    notion, records = NOTIONS[name], ONCE if once else RECORDS
    absent = name in {"addition-only", "removal-only", "unbounded", "graded"}
    query = CountWhere((AT_A, AT_B), Domain(facts_per_person=1) if once else Domain())
    rate = rate_between(notion, query)
    tables = all_tables([*records, *([ABSENT] if absent else [])], 2)

    def answer(table: Any) -> tuple[int, ...]:
        return tuple(sum(r is not ABSENT and place in r for r in table) for place in "ab")

    def at(rate: Any) -> Any:
        matrix = NoisyMax(rate).on(sorted({answer(t) for t in tables}))
        return verify(matrix.pull_back(tables, answer), notion)

    assert at(rate), "as derived"
    assert rate >= exact(RATES[name])
    assert not at(rate * "1.001"), "and it is the largest"


def test_many_places_of_one_person_cost_no_more_than_one() -> None:
    """Noise on every count costs as much as the counts that one person moves; naming the largest does not."""
    query = CountWhere((AT_A, AT_B))
    assert sensitivity(ADP("1", [~AT_A, ~AT_B]), query).line.fall == exact("1/2")
    assert rate_between(ADP("1", [~AT_A, ~AT_B]), query) == 1


def test_a_private_mechanism_names_the_wrong_one_of_two_as_often() -> None:
    """Along falls of one count, e^{−kε}·Pr[1 | (a, a)] ≤ Pr[1 | (a − k, a)]: two errors at k sum to e^{−kε} at least."""
    matrix = NoisyMax("1").on(list(itertools.product(range(4), repeat=2)))
    for k in range(1, 4):
        wrong = matrix.row((3 - k, 3))[0,] + matrix.row((3, 3 - k))[1,]
        assert wrong == matrix.row((3 - k, 3))[0,] * 2
        assert float(wrong) == pytest.approx(math.exp(-k))


def test_what_is_refused() -> None:
    for make in (
        lambda: NoisyMax(inf),
        lambda: NoisyMax(0),
        lambda: NoisyMax("1", how_many=0),
        lambda: NoisyMax("1", how_many=3).release([1, 2]),
        lambda: NoisyMax("1").release([[1, 2]]),
        lambda: NoisyMax("1").on([(1, 2), ()]),
        lambda: NoisyMax("1").release([1.5, 2]),
    ):
        with pytest.raises(InputError):
            make()


def test_its_distance_is_one() -> None:
    space = NoisyMax("1/3", how_many=2).distance.on(ROWS)
    assert isinstance(space, FiniteDistance)
    assert space((0, 0, 0), (1, 1, 1)) == 0
    assert space((2, 0, 0), (0, 1, 0)) == 2


def test_rows_of_different_lengths_are_refused() -> None:
    mechanism = NoisyMax("1")
    for x, y in (((1, 2), (1,)), ((), ()), ((1,), ())):
        with pytest.raises(InputError, match=r"Rows of different lengths|Counts of shape"):
            mechanism.distance(x, y)
    with pytest.raises(InputError, match="Rows of different lengths"):
        mechanism.on([(1, 2), (1,)])


@pytest.mark.parametrize("rate", ["1e300", "1e309", "1e400"])
@pytest.mark.parametrize("counts", [[0, 10**18], [-(2**63), 2**63 - 1], [7]])
def test_rates_beyond_floats_name_the_largest(rate: str, counts: list[int]) -> None:
    """Found by attack: no option was accepted, not even the largest, and NumPy's warnings were printed."""
    assert NoisyMax(rate).release(counts, SeededBitsForTests(1)).tolist() == [len(counts) - 1]
