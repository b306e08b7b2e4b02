"""The sampler digit by digit: that digits make the law, that each word decides as it must, ties, tails and the ends."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from tests.noise.scripted import ONES, Scripted, rows
from tests.oracle.geometric import digits

from leeward.errors import NoiseError
from leeward.exact import Real, Weight, exact, exp, inf, log, sqrt
from leeward.exact._weight import weight
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.noise._geometric import BinaryDigits

FALSE = 2**32 - 1  # a first word above every floor
MOST = 2**63 - 1


@pytest.mark.parametrize("rate", [exact(1), log(3), log(3) / 2, sqrt(2) / 5, log(1 + exp(1))], ids=str)
@pytest.mark.parametrize("tail_from", [1, 2, 5])
def test_independent_digits_make_exactly_the_geometric_law(rate: Real, tail_from: int) -> None:
    table = BinaryDigits(rate, tail_from)
    law = DirectedGeometric.one_sided(rate)
    tail = table.probabilities[-1]
    for k in range(min(2**table.count, 8)):
        digits_of_k: Weight = weight(1)
        for j, p in enumerate(table.probabilities[:-1]):
            digits_of_k = digits_of_k * (p if k >> j & 1 else 1 - p)
        for t in (0, 1, 2):
            assert digits_of_k * (1 - tail) * tail**t == law.pmf(k + (t << table.count)), (k, t)


@pytest.mark.parametrize(
    ("rate", "count"),
    [
        (exact(1), 6),
        (exact(45), 0),
        (exact(45) - Fraction(1, 10**50), 1),
        (exact(10**30), 0),
        (exact(Fraction(1, 2**10)), 16),
        (exact(Fraction(1, 2**30)), 36),
        (exact(Fraction(1, 2**50)), 56),
        (log(3), 6),
        (log(2) / 200, 14),
    ],
    ids=str,
)
def test_the_tail_begins_where_its_rate_reaches_45(rate: Real, count: int) -> None:
    table = BinaryDigits(rate)
    assert table.count == count
    assert len(table.probabilities) == count + 1


def test_rates_too_small_for_64_bits_are_refused() -> None:
    with pytest.raises(NoiseError, match=r"2\^-50"):
        BinaryDigits(exact(Fraction(1, 2**51)))


@pytest.mark.parametrize("rate", [exact(1), exact(Fraction(1, 2**10)), exact(Fraction(1, 2**30))], ids=str)
def test_each_word_is_compared_with_its_own_floor(rate: Real) -> None:
    """One draw for each digit: its word is the last below its floor, or the first above; nothing else is set."""
    table = BinaryDigits(rate)
    places = table.count
    with mpmath.workprec(400):
        s = mpmath.mpf(rate.rational.numerator) / rate.rational.denominator  # type: ignore[union-attr]
        floors = [digits(1 / (1 + mpmath.exp(s * 2**j)), 32) for j in range(places)]
    set_one = [j for j in range(places) if floors[j]]  # far digits have floor 0: only a tie sets them
    words = rows([FALSE] * (places + 1), places)
    for j in set_one:
        words[j, j] = floors[j] - 1
    drawn = table.sample(places, Scripted(words)).tolist()
    assert drawn == [1 << j if floors[j] else 0 for j in range(places)]
    for j in range(places):
        words[j, j] = floors[j] + 1
    assert not table.sample(places, Scripted(words)).any()
    assert len(set_one) > places - 4


@pytest.mark.parametrize("rate", [exact(1), exact(Fraction(1, 2**30)), log(2) / 200], ids=str)
def test_a_tie_is_settled_by_the_next_digits_of_its_own_probability(rate: Real) -> None:
    table = BinaryDigits(rate)
    for j, p in enumerate(table.probabilities[:-1]):
        with mpmath.workprec(600):
            value = mpmath.mpf(rate.arb(500).mid().str(150, radius=False))
            both = digits(1 / (1 + mpmath.exp(value * 2**j)), 96)
        first, second = both >> 64, both & (2**64 - 1)
        words = rows([FALSE] * (table.count + 1))
        words[j] = first
        assert p.rational is None
        assert table.sample(1, Scripted(words, second - 1)).tolist() == [1 << j]
        assert table.sample(1, Scripted(words, second + 1)).tolist() == [0]


def test_a_dyadic_digit_has_no_tie() -> None:
    """At rate ln 3 digit 0 is 1 with probability 1/4: the word 2^30 is the first that says 0, without further bits."""
    table = BinaryDigits(log(3))
    words = rows([FALSE] * (table.count + 1), 2)
    words[0] = [2**30 - 1, 2**30]
    assert table.sample(2, Scripted(words)).tolist() == [1, 0]


def test_every_pair_of_eight_bit_words_gives_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rate ln 3 cut after one digit: 65,536 equally likely pairs of words. Ties settled low and high enclose the law."""
    monkeypatch.setattr("leeward.noise._geometric.WIDTH", 8)
    monkeypatch.setattr("leeward.noise._bernoulli.WIDTH", 8)
    table = BinaryDigits(log(3), tail_from=2)
    assert [p.rational for p in table.probabilities] == [Fraction(1, 4), Fraction(1, 9)]
    words = np.array(np.meshgrid(np.arange(256), np.arange(256), indexing="ij"), np.uint32).reshape(2, -1)
    most = table.sample(65_536, Scripted(words, *[0] * 256, then=255))  # tied tails are 1
    least = table.sample(65_536, Scripted(words, then=ONES))  # tied tails are 0
    assert (most & 1).tolist() == (words[0] < 64).tolist()  # digit 0 is exact: no tie at a dyadic
    for drawn, tails in ((most, 29), (least, 28)):
        counts = np.bincount(drawn, minlength=4)
        assert counts.tolist() == [192 * (256 - tails), 64 * (256 - tails), 192 * tails, 64 * tails]
    # P(0) = 2/3 and P(1) = 2/9 lie between, as they must
    assert 192 * 227 < Fraction(2, 3) * 65_536 < 192 * 228
    assert 64 * 227 < Fraction(2, 9) * 65_536 < 64 * 228


def test_the_tail_counts_on_until_a_coin_fails() -> None:
    table = BinaryDigits(exact(1), tail_from=2)  # one digit; the tail has rate 2
    assert table.count == 1
    with mpmath.workprec(300):
        floor = digits(mpmath.exp(-2), 32)
    words = np.array([[0], [floor - 1]], np.uint32)
    assert table.sample(1, Scripted(words, FALSE)).tolist() == [1 + 2]
    assert table.sample(1, Scripted(words, floor - 1, 0, FALSE)).tolist() == [1 + 2 * 3]
    assert table.sample(1, Scripted(words, floor, 0, floor, ONES)).tolist() == [1 + 2 * 2]
    words[1] = floor + 1
    assert table.sample(1, Scripted(words)).tolist() == [1]


def test_a_far_tail_is_reached_through_ties_alone() -> None:
    """At the usual cut the tail of rate 64 has probability 12.7 in 2^96: the first word must be 0, the next below 12."""
    table = BinaryDigits(exact(1))
    words = rows([FALSE] * table.count + [0])
    assert table.sample(1, Scripted(words, 13)).tolist() == [0]
    assert table.sample(1, Scripted(words, 12, ONES)).tolist() == [0]
    assert table.sample(1, Scripted(words, 12, 0, FALSE)).tolist() == [64]
    assert table.sample(1, Scripted(words, 11, FALSE)).tolist() == [64]


def test_what_64_bits_cannot_hold_stops_at_their_end() -> None:
    least = exact(Fraction(1, 2**50))
    assert BinaryDigits(least).sample(2, Scripted(then=0)).tolist() == [MOST, MOST]
    assert DirectedGeometric(inf, least).sample(1, Scripted(then=0)).tolist() == [-MOST]
    assert DirectedGeometric(least, least).sample(1, Scripted(then=0)).tolist() == [0]


def test_two_sided_noise_is_upward_less_downward() -> None:
    law = DirectedGeometric(up=1, down=exact(Fraction(1, 2)))
    up, down = rows([0] + [FALSE] * 6), rows([FALSE, 0, FALSE, FALSE, FALSE, FALSE, FALSE, FALSE])
    assert law.sample(1, Scripted(up, down)).tolist() == [1 - 2]
    assert law.reverse().sample(1, Scripted(down, up)).tolist() == [2 - 1]


def test_an_infinite_rate_draws_nothing() -> None:
    assert DirectedGeometric(inf, inf).sample(3, Scripted()).tolist() == [0, 0, 0]
    assert DirectedGeometric(1, inf).sample(1, Scripted(rows([0] + [FALSE] * 6))).tolist() == [1]
    assert DirectedGeometric(inf, 1).sample(1, Scripted(rows([0] + [FALSE] * 6))).tolist() == [-1]


def test_long_samples_are_drawn_in_pieces_and_put_in_order() -> None:
    step = (1 << 18) // 7
    first, rest = rows([FALSE] * 7, step), rows([FALSE] * 7, 3)
    first[0, -1] = rest[1, 0] = rest[0, 2] = 0
    drawn = DirectedGeometric(1, inf).sample(step + 3, Scripted(first, rest))
    assert drawn.dtype == np.int64
    assert np.flatnonzero(drawn).tolist() == [step - 1, step, step + 2]
    assert drawn[[step - 1, step, step + 2]].tolist() == [1, 2, 1]


def test_no_draws_and_one_draw() -> None:
    bits = SeededBitsForTests(0)
    assert DirectedGeometric(1, 1).sample(0, bits).shape == (0,)
    assert DirectedGeometric(1, 1).sample(1, bits).shape == (1,)
