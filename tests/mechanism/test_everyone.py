"""Bounds on all who were at a place: private over all tables and ordered pairs, never too low, and tight."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.oracle.left_out import crowds, sum_of_two

from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exact, inf
from leeward.exact._weight import weight, weighted_sum
from leeward.mechanism import Everyone, FiniteMechanism, Geometric
from leeward.mechanism._overshoot import Overshoot
from leeward.mechanism._split import SHARES, best_share
from leeward.noise import SeededBitsForTests
from leeward.notion import ABSENT, AdditionOnly, Presence, UnboundedDP, all_tables
from leeward.verification import verify

PLACES = "abc"
WAYS = tuple(way for n in range(4) for way in itertools.permutations(PLACES, n))
"""Every order in which one person may have been at some of three places, the most wanted first."""
TWO = all_tables((ABSENT, *WAYS), 2)
THREE = all_tables((ABSENT, *(way for way in WAYS if len(way) != 1)), 3)


def seen(k: int) -> Callable[[tuple[Any, ...]], tuple[int, ...]]:
    """What the mechanism is given of a table: the counts, and the most left out."""

    def numbers(table: tuple[Any, ...]) -> tuple[int, ...]:
        _, counted, left_out = crowds([None if r is ABSENT else r for r in table], PLACES, k)
        return *counted, left_out

    return numbers


def on_tables(mechanism: Everyone, k: int, tables: tuple[Any, ...] = TWO) -> FiniteMechanism:
    numbers = seen(k)
    return mechanism.on(dict.fromkeys(map(numbers, tables))).pull_back(tables, numbers)


@pytest.mark.parametrize(("k", "share"), [(1, "1/2"), (2, "9/20"), (2, "1/10")])
def test_it_is_private_and_tight_over_all_tables(k: int, share: str) -> None:
    mechanism = Everyone(Line(inf, (1 - exact(share)) / k), exact(share))
    found = verify(on_tables(mechanism, k), AdditionOnly("1").on(TWO))
    assert found, str(found)
    assert found.tight, str(found)
    reverse = verify(on_tables(mechanism, k), AdditionOnly("1").reverse().on(TWO))
    assert reverse.exact_scale == inf


@pytest.mark.parametrize(("counted", "left_out"), [("1/2", "0.501"), ("0.501", "1/2"), ("1", "1"), ("1", "1/1000")])
def test_a_split_that_spends_more_is_rejected(counted: str, left_out: str) -> None:
    found = verify(on_tables(Everyone(Line(inf, counted), left_out), 1), AdditionOnly("1").on(TWO))
    assert found.outcome == "not private", str(found)


def test_under_notions_about_single_visits_it_is_rejected() -> None:
    """Whoever loses a visit may count elsewhere: an output that was impossible before is possible then."""
    sets = all_tables(("", "a", "b", "ab"), 2)

    def numbers(table: tuple[str, ...]) -> tuple[int, ...]:
        _, counted, left_out = crowds(table, "ab", 1)
        return *counted, left_out

    matrix = Everyone(Line(inf, "1/4"), "1/4").on(dict.fromkeys(map(numbers, sets))).pull_back(sets, numbers)
    as_facts = matrix.pull_back(
        [tuple(map(frozenset, t)) for t in sets], lambda t: tuple("".join(sorted(r)) for r in t)
    )
    found = verify(as_facts, Presence("1").on([tuple(map(frozenset, t)) for t in sets]))
    assert found.outcome == "not private"
    assert found.exact_scale == inf


@pytest.mark.parametrize("k", [1, 2, 3])
def test_withdrawing_one_person_lowers_what_it_may_and_raises_nothing(k: int) -> None:
    numbers, reached = seen(k), set()
    for table in THREE:
        before = numbers(table)
        for i, record in enumerate(table):
            after = numbers((*table[:i], ABSENT, *table[i + 1 :]))
            falls = [x - y for x, y in zip(before, after, strict=True)]
            assert all(fall in (0, 1) for fall in falls)
            assert sum(falls[:-1]) <= k
            reached.add((sum(falls[:-1]), falls[-1]))
            assert record is not ABSENT or not any(falls)
    assert (k, 1) in reached or k == len(PLACES)


@pytest.mark.parametrize("k", [1, 2])
def test_the_bound_is_never_too_low_and_without_those_left_out_it_is(k: int) -> None:
    """Noise is at least 0, so the exact numbers are the worst case."""
    mechanism, numbers, too_low = Everyone(Line(inf, 1), 1), seen(k), 0
    for table in THREE:
        there, counted, _ = crowds([None if r is ABSENT else r for r in table], PLACES, k)
        assert all(bound >= c for bound, c in zip(mechanism.at_most(numbers(table)).tolist(), there, strict=True))
        too_low += any(c_k < c for c_k, c in zip(counted, there, strict=True))
    assert too_low > 0


@pytest.mark.sweep
@pytest.mark.parametrize("k", [1, 2])
def test_safe_is_said_as_often_as_told_and_never_wrongly(k: int) -> None:
    """From the exact matrix, on which the rule is read off outputs as `at_most` reads it."""
    t, rule = 1, Everyone(Line(inf, "1/2"), "1/3")
    numbers = seen(k)
    vectors = list(dict.fromkeys(map(numbers, TWO)))
    for table in TWO[3::41]:
        there, counted, left_out = crowds([None if r is ABSENT else r for r in table], PLACES, k)
        drawn = rule.on([*vectors, (3, 3, 3, 3)]).row(numbers(table))
        for p, place in enumerate(there):
            said = weighted_sum((chance, 1) for z, chance in drawn.items() if rule.at_most(z)[p] <= t)
            told = Overshoot(exact("1/2"), exact("1/3"), left_out - (place - counted[p])).cdf(t - place)
            assert said == told
            assert place <= t or said == 0


@pytest.mark.parametrize(("a", "b"), [("1", "1"), ("1/2", "1/3"), ("1/10", "2"), ("3", "1/7")])
def test_the_law_is_that_of_the_sum(a: str, b: str) -> None:
    for most in (0, 3):
        law = Overshoot(exact(a), exact(b), most)
        for m in range(-1, 12):
            right = sum_of_two(float(exact(a)), float(exact(b)), m - most) if m >= most else 0.0
            assert float(law.cdf(m)) == pytest.approx(right, abs=1e-12)
            assert law.cdf(m) == 1 - law.tail(m + 1)
            assert law.pmf(m) == law.cdf(m) - law.cdf(m - 1)
        for p in ("1/100", "1/2", "0.95"):
            k = law.quantile(p)
            assert law.cdf(k) >= weight(p) > law.cdf(k - 1)
        mean = sum(m * float(law.pmf(m)) for m in range(1000))
        assert float(law.mean()) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("room", [0, 2, 5, 10])
def test_the_split_has_the_best_odds_of_all(k: int, room: int) -> None:
    def odds(share: Any) -> float:
        return sum_of_two(float(1 - share) / k, float(share), room)

    best = best_share(exact(1) / k, exact(1), room)
    assert best in SHARES
    assert odds(best) == pytest.approx(max(map(odds, SHARES)), abs=1e-12)
    assert min(map(odds, SHARES)) < odds(best) - 0.01


def test_a_guess_that_leaves_no_room_splits_as_for_none() -> None:
    assert best_share(exact(1), exact(1), -4) == best_share(exact(1), exact(1), 0)


def test_the_guess_changes_odds_and_nothing_that_is_drawn() -> None:
    made = [Everyone(Line(inf, "1/2"), "1/2", guess=guess) for guess in (0, 2)]
    drawn = [each.noisy([3, 0, 1, 2], SeededBitsForTests(4)).tolist() for each in made]
    assert drawn[0] == drawn[1]
    assert made[0].sanitizer(4).probability(1) > made[1].sanitizer(4).probability(1)
    assert made[1].sanitizer(4).error == 0


def test_each_place_has_noise_of_its_own_and_those_left_out_have_one() -> None:
    """At rates of 20 and 1/50 the counts are exact but once in e^20 times, and what is added is the same everywhere."""
    made = Everyone(Line(inf, 20), "1/50")
    noisy = made.noisy(np.array([4, 0, 7, 2]), SeededBitsForTests(3))
    assert noisy[:3].tolist() == [4, 0, 7]
    assert (made.at_most(noisy) - noisy[:3]).tolist() == [noisy[3]] * 3
    assert noisy[3] >= 2
    other = Everyone(Line(inf, "1/50"), 20).noisy(np.array([4, 0, 7, 2]), SeededBitsForTests(3))
    assert other[3] == 2
    assert len(set((other[:3] - [4, 0, 7]).tolist())) == 3  # equal with probability below 4e-2; the stream is seeded


def test_without_noise_below_it_cannot_be_had() -> None:
    with pytest.raises(NotPrivateError, match="both ways"):
        Everyone(Line(1, 1), 1)
    with pytest.raises(InputError, match="neither direction"):
        Everyone(Line(inf, inf), 1)
    with pytest.raises(InputError, match="guess"):
        Everyone(Line(inf, 1), 1, guess=-1)
    with pytest.raises(InputError, match="a row of counts"):
        Everyone(Line(inf, 1), 1).noisy([[1, 2]])


def test_two_sided_noise_would_be_wrong_of_everyone() -> None:
    """The broken variant: private both ways, and a place above t is called safe now and then."""
    two_sided = Geometric(Line("1/2", "1/2"))
    assert two_sided.law.cdf(-1) > 0
    assert verify(on_tables(Everyone(Line(inf, "1/2"), "1/2"), 1), UnboundedDP("1").on(TWO)).outcome == "not private"
