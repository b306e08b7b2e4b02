# SPDX-License-Identifier: Apache-2.0
"""A percentile by rank: its loss against sorted lists, what it costs by brute force, how far it reaches, what it refuses."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.errors import InputError, NotPrivateError
from leeward.exact import exact, inf, log
from leeward.mechanism import NoisyMax, RankSelection
from leeward.noise import FirstAccepted, SeededBitsForTests
from leeward.notion import (
    ABSENT,
    AdditionOnly,
    BoundedDP,
    GradedFacts,
    Manhattan,
    Maximum,
    Notion,
    Personalised,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    all_tables,
)
from leeward.query import Sum, maximum, median, minimum, percentile, rank_rate
from leeward.verification import verify

FALSE_ALARM = 1e-6
SHARES = ("0", "10", "25", "50", "200/3", "99", "100")


def missed(people: list[int], z: int, p: Fraction) -> Fraction:
    """How many people z misses the p-percentile by, from the sorted list of values alone."""
    below, above = sum(v < z for v in people), sum(v > z for v in people)
    return max(below - p / 100 * (len(people) - 1), above - (1 - p / 100) * (len(people) - 1))


@pytest.mark.parametrize("p", SHARES)
def test_losses_are_people_and_fewer_lie_between_a_point_and_the_percentile(p: str) -> None:
    mechanism, asked = RankSelection("1", p), exact(p).rational
    assert asked is not None
    query = maximum(ValueGrid(0, 3)) if asked == 100 else percentile(ValueGrid(0, 3), asked)
    for people in itertools.chain.from_iterable(itertools.combinations_with_replacement(range(4), m) for m in range(7)):
        counts = [people.count(z) for z in range(4)]
        losses = [Fraction(int(loss), mechanism.parts) for loss in mechanism.losses(counts)]
        assert losses == [missed(list(people), z, asked) for z in range(4)]
        if people:
            exactly = int(query(people))
            assert losses[exactly] <= max(asked, 100 - asked) / 100
            for z, loss in enumerate(losses):
                between = sum(min(z, exactly) < v < max(z, exactly) for v in people)
                assert between < max(loss, Fraction(1, 1000))


# ---- what it costs

NOTIONS: dict[str, tuple[Notion, bool]] = {  # and whether people may be absent
    "addition-only": (AdditionOnly("1"), True),
    "removal-only": (RemovalOnly("1"), True),
    "unbounded": (UnboundedDP("1"), True),
    "bounded": (BoundedDP("1"), False),
    "replace": (ReplaceDP("1"), True),
    "closeness": (Manhattan("1", ValueGrid(0, 2), nobody=False), False),
    "each their own": (Personalised(UnboundedDP("1"), ["1", "1/2"]), True),
}


def counted(table: tuple[Any, ...], points: int) -> tuple[int, ...]:
    found = Counter(value for value in table if value is not ABSENT)
    return tuple(found[z] for z in range(points))


@pytest.mark.parametrize("p", SHARES)
@pytest.mark.parametrize("name", sorted(NOTIONS))
def test_the_rate_is_private_over_all_pairs_of_tables_and_no_more(name: str, p: str) -> None:
    """Every ordered pair of tables of three people on two grid points, and of two on three.

    That no larger rate would do is shown where p is so far from 0 and 100 that three people suffice.
    """
    notion, absent = NOTIONS[name]
    query = maximum(ValueGrid(0, 2)) if p == "100" else percentile(ValueGrid(0, 2), p)
    rate = rank_rate(notion, query)
    for points, people in ((2, 3), (3, 2)):
        if name == "each their own" and people != 2:
            continue  # of two people
        tables = all_tables([*range(points), *([ABSENT] if absent else [])], people)

        def at(r: Any, tables: Any = tables, points: int = points) -> Any:
            matrix = RankSelection(r, p).on({counted(table, points): None for table in tables})
            return verify(matrix.pull_back(tables, lambda table: counted(table, points)), notion)

        assert at(rate), (points, "as derived")
        if points == 2 and name != "closeness" and p in {"25", "50", "200/3"}:
            assert not at(rate * "1.01"), "and it is the largest"


@pytest.mark.parametrize("p", SHARES)
def test_its_distance_is_what_changes_of_one_person_cost(p: str) -> None:
    """The range of the change of the losses, from sorted lists: at most `rank_range`, and attained."""
    asked = exact(p).rational
    assert asked is not None
    mechanism = RankSelection("1", p)
    far: dict[str, Fraction] = {"comes or goes": Fraction(0), "moves": Fraction(0)}
    for m in range(5):
        for people in itertools.combinations_with_replacement(range(4), m):
            before = [missed(list(people), z, asked) for z in range(4)]
            for kind, others in (
                ("comes or goes", [(*people, v) for v in range(4)]),
                ("moves", [(*people[:i], v, *people[i + 1 :]) for i in range(m) for v in range(4)]),
            ):
                for other in others:
                    moved = [missed(list(other), z, asked) - b for z, b in enumerate(before)]
                    spread = max(moved) - min(moved)
                    far[kind] = max(far[kind], spread)
                    rows = [tuple(each.count(z) for z in range(4)) for each in (people, other)]
                    assert mechanism.distance(rows[0], rows[1]) == spread
    query = maximum(ValueGrid(0, 3)) if p == "100" else percentile(ValueGrid(0, 3), p)
    assert far["comes or goes"] == 1 / exact(rank_rate(UnboundedDP("1"), query)).rational  # type: ignore[operator]
    assert far["moves"] == 2
    assert rank_rate(BoundedDP("1"), query) == Fraction(1, 2)


def test_no_direction_of_a_median_costs_a_factor() -> None:
    values = ValueGrid(0, 100)
    for notion in (AdditionOnly("1"), RemovalOnly("1"), UnboundedDP("1"), Presence("1")):
        if isinstance(notion, Presence):  # facts, not numbers
            with pytest.raises(NotPrivateError):
                rank_rate(notion, median(values))
            continue
        assert rank_rate(notion, median(values)) == 1
        assert rank_rate(notion, minimum(values)) == Fraction(1, 2)
    wide = ValueGrid(0, 10**6)
    assert rank_rate(UnboundedDP("1"), median(wide)) == 1, "however far apart values lie"


# ---- drawing


@pytest.mark.sweep
def test_the_sampler_has_the_law() -> None:
    """A binomial test for each point, false alarms 10⁻⁶; a sampler at another rate is found out."""
    counts = (2, 0, 3, 1, 2)
    mechanism = RankSelection("1/2", "40")
    expected = {z: float(chance) for z, chance in mechanism.on([counts]).row(counts).items()}
    bits = SeededBitsForTests(5)

    def verdict(sampled: RankSelection) -> str | None:
        drawn = Counter(sampled.release(counts, bits) for _ in range(5_000))
        return rejects([drawn[z] for z in expected], list(expected.values()), 5_000, FALSE_ALARM)

    assert verdict(mechanism) is None
    assert verdict(RankSelection("4/5", "40")) is not None
    assert verdict(RankSelection("1/2", "60")) is not None


def test_a_million_grid_points_with_the_median_of_a_census() -> None:
    """10,000 people between 400,000 and 400,999: at ε = 1 fewer than `reach` stand between the named point and the middle.

    False alarms: one in a million a draw, by the bound that is under test.
    """
    bits, counts = SeededBitsForTests(11), np.zeros(10**6, np.int64)
    people = np.random.default_rng(1).integers(400_000, 401_000, 10_000)
    np.add.at(counts, people, 1)
    mechanism = RankSelection("1")
    far = mechanism.reach(10**6, "0.999999")
    losses = mechanism.losses(counts)
    assert far == 27
    for _ in range(5):
        named = mechanism.release(counts, bits)
        assert losses[named] - losses.min() <= far * mechanism.parts
        assert abs(named - 400_500) < 50


@pytest.mark.parametrize(("rate", "p", "points"), [("1", "50", 3), ("1/2", "90", 4), ("2", "0", 2), ("1/10", "50", 4)])
def test_the_reach_is_kept_on_every_small_table(rate: str, p: str, points: int) -> None:
    mechanism = RankSelection(rate, p)
    tables = list(itertools.product(range(4), repeat=points))
    matrix = mechanism.on(tables)
    for chance in ("1/2", "9/10", "19/20"):
        far = mechanism.reach(points, chance)
        kept = [
            sum(float(q) for z, q in matrix.row(t).items() if losses[z] - min(losses) <= far * mechanism.parts)
            for t in tables
            for losses in [mechanism.losses(t).tolist()]
        ]
        assert min(kept) >= float(Fraction(chance)) - 1e-12
    assert (points - 1) * math.exp(-float(Fraction(rate)) * (far - 1)) > 1 / 20, (
        "and no smaller one follows from the bound"
    )


def test_it_loses_no_more_than_the_exponential_mechanism() -> None:
    """McKenna and Sheldon, Theorem 2, on all small tables; both at the same rate."""
    for table in itertools.product(range(4), repeat=3):
        mechanism = RankSelection("1", "50")
        losses = (mechanism.losses(table) / mechanism.parts).tolist()
        weights = [math.exp(-loss) for loss in losses]
        plain = sum(w * loss for w, loss in zip(weights, losses, strict=True)) / sum(weights)
        ours = sum(float(q) * losses[z] for z, q in mechanism.on([table]).row(table).items())
        assert ours <= plain + 1e-12


# ---- what is refused


def test_what_is_refused() -> None:
    for make in (
        lambda: RankSelection(inf),
        lambda: RankSelection(0),
        lambda: RankSelection("1", "100.1"),
        lambda: RankSelection("1", "-1"),
        lambda: RankSelection("1", exact("1/3") * exact("log(2)")),
        lambda: RankSelection("1").release([[1, 2]]),
        lambda: RankSelection("1").release([]),
        lambda: RankSelection("1").release([1, -1]),
        lambda: RankSelection("1").release([1.5]),
        lambda: RankSelection("1", "0.0000000000000000001"),
        lambda: RankSelection("1").release([2**40]),
        lambda: RankSelection("1").distance((1, 2), (1,)),
        lambda: RankSelection("1").reach(5, 1),
        lambda: rank_rate(UnboundedDP("1"), Sum(ValueGrid(0, 3))),
    ):
        with pytest.raises(InputError):
            make()
    for notion, query in (
        (Maximum("1", ValueGrid(0, 3)), median(ValueGrid(0, 3))),
        (GradedFacts("1", "1"), median(ValueGrid(0, 3))),
        (UnboundedDP("1"), median(ValueGrid(0, 3), people=4)),
    ):
        with pytest.raises(NotPrivateError):
            rank_rate(notion, query)


def test_which_p_is_refused_says_nothing_of_how_many_people_there_are() -> None:
    """Found by an attack: the bound was on people times parts, and the message named the people."""
    finest = Fraction(100 * (2**21 + 1), 2**22)
    for p in (finest, Fraction(100, 3), "33.33"):
        losses = RankSelection("1", p).losses([1, 2**40 - 3, 1])
        share = exact(p).rational / 100  # type: ignore[operator]
        for at, below, above in ((0, 0, 2**40 - 2), (1, 1, 1), (2, 2**40 - 2, 0)):
            off = max(below - share * (2**40 - 2), above - (1 - share) * (2**40 - 2))
            assert losses[at] == off * share.denominator
    for p in (Fraction(100, 2**22 + 1), "33.3333333333333333"):
        with pytest.raises(InputError, match="parts of a person"):
            RankSelection("1", p)
    with pytest.raises(InputError) as refused:
        RankSelection("1").losses([2**40 + 12_345])
    assert "345" not in str(refused.value)


def test_nobody_is_no_preference() -> None:
    row = RankSelection("1", "90").on([(0, 0, 0)]).row((0, 0, 0))
    assert len({chance.rational for chance in row.values()}) == 1
    assert NoisyMax("1").on([(0, 0, 0)]).row((0, 0, 0))[0,] == row[0]


# ---- from the distinct values alone


def sparse(table: tuple[int, ...]) -> tuple[list[int], list[int]]:
    held = [z for z, people in enumerate(table) if people]
    return held, [table[z] for z in held]


@pytest.mark.parametrize(("rate", "p"), [("1", "50"), ("1/2", "0"), (log(2), "100"), ("3/4", "90"), ("2", "200/3")])
def test_distinct_values_alone_have_the_same_law_on_every_small_table(rate: Any, p: str) -> None:
    """Exactly: the chance of each point, from runs, is that of the whole row of counts."""
    mechanism = RankSelection(rate, p)
    for points in (1, 2, 3, 4):
        tables = list(itertools.product(range(3), repeat=points))
        matrix = mechanism.on(tables)
        for table in tables:
            starts, sizes, losses = mechanism.runs(*sparse(table), points)
            chances = FirstAccepted(mechanism.rate / mechanism.parts).pmf(losses, sizes)
            reached = [z for start, size in zip(starts, sizes, strict=True) for z in range(start, start + size)]
            assert reached == list(range(points))
            row = matrix.row(table)
            for start, size, chance in zip(starts.tolist(), sizes.tolist(), chances, strict=True):
                for z in range(start, start + size):
                    assert row[z] * size == chance, (table, z)


@pytest.mark.sweep
def test_the_draw_from_distinct_values_has_the_law() -> None:
    """A binomial test for each point, false alarms 10⁻⁶; counts of another table are found out."""
    counts = (0, 2, 0, 0, 3, 1, 0)
    mechanism = RankSelection("1/2", "40")
    expected = [float(chance) for _, chance in sorted(mechanism.on([counts]).row(counts).items())]

    def verdict(table: tuple[int, ...]) -> str | None:
        bits = SeededBitsForTests(6)
        drawn = Counter(mechanism.release_sparse(*sparse(table), 7, bits) for _ in range(5_000))
        return rejects([drawn[z] for z in range(7)], expected, 5_000, FALSE_ALARM)

    assert verdict(counts) is None
    assert verdict((2, 0, 0, 0, 3, 1, 0)) is not None


def test_a_grid_that_no_memory_holds() -> None:
    """10¹⁵ points: fewer than `reach` people stand between the named one and the middle; false alarms 10⁻⁶ a draw."""
    bits, mechanism = SeededBitsForTests(12), RankSelection("1")
    people = np.unique(np.random.default_rng(2).integers(4 * 10**14, 5 * 10**14, 10_000))
    far = mechanism.reach(10**15, "0.999999")
    for _ in range(5):
        named = mechanism.release_sparse(people, np.ones(people.size, np.int64), 10**15, bits)
        assert abs(int((people < named).sum()) - people.size / 2) <= far + 1
    assert far < 60


def test_distinct_values_that_are_none_are_refused() -> None:
    mechanism = RankSelection("1")
    assert mechanism.release_sparse([], [], 1) == 0
    assert 0 <= mechanism.release_sparse([], [], 5) < 5
    for positions, counts, points in (
        ([1, 1], [1, 1], 3),
        ([2, 1], [1, 1], 3),
        ([-1], [1], 3),
        ([3], [1], 3),
        ([0], [0], 3),
        ([0], [1, 2], 3),
        ([[0]], [[1]], 3),
        ([0.5], [1], 3),
        ([], [], 0),
    ):
        with pytest.raises(InputError):
            mechanism.release_sparse(positions, counts, points)
