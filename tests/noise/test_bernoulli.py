"""Coins: the law exactly, shown at every boundary and at every tie, and statistically."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from tests.noise.scripted import ONES, Scripted
from tests.oracle.geometric import digits
from tests.statistical.gof import rejects

from leeward.errors import InexactError, InputError
from leeward.exact import ZERO, Weight, exact, exp, exp_minus, inf, log, sqrt
from leeward.noise import Coin, SeededBitsForTests, flip_minus, floor_digits
from leeward.noise._bernoulli import flip_enclosed, settle

N = 200_000


def test_a_word_is_compared_with_the_exact_floor_and_a_tie_with_the_next_digits() -> None:
    """The 96 bits drawn at a tie give True on exactly ⌊2^96·p⌋ of their 2^96 values, but for one still open."""
    with mpmath.workprec(500):
        p = 1 / (1 + mpmath.e)
        first, both, three = digits(p, 32), digits(p, 96), digits(p, 160)
    second, third = both - (first << 64), three - (both << 64)
    coin = Coin(1 / (1 + exp(1)))
    around = np.array([0, first - 1, first, first + 1, 2**32 - 1], np.uint32)
    for follow, tied in [((second - 1,), True), ((second + 1,), False), ((0,), True), ((ONES,), False)]:
        bits = Scripted(around, *follow)
        assert coin.flip(5, bits).tolist() == [True, True, tied, False, False]
        assert bits.drawn == 2
    for last, tied in [(third - 1, True), (third + 1, False)]:
        assert coin.flip(5, Scripted(around, second, last)).tolist() == [True, True, tied, False, False]


def test_every_word_of_eight_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """All first words of a narrow coin: exactly ⌊2^8·p⌋ True, one tie, the rest False."""
    monkeypatch.setattr("leeward.noise._bernoulli.WIDTH", 8)
    for p, floor, tie in [("1/4", 64, False), ("1/3", 85, True), ("255/256", 255, False), ("999/1000", 255, True)]:
        low = Coin(p).flip(256, Scripted(np.arange(256, dtype=np.uint32), then=0))
        high = Coin(p).flip(256, Scripted(np.arange(256, dtype=np.uint32), then=ONES))
        assert low.sum() == floor + tie, p
        assert high.sum() == floor, p


def test_a_dyadic_tie_needs_no_further_bits() -> None:
    coin = Coin(1 / (1 + exp(log(3))))  # 1/4
    words = np.array([2**30 - 1, 2**30], np.uint32)
    assert coin.flip(2, Scripted(words)).tolist() == [True, False]


@pytest.mark.parametrize(("p", "always"), [("0", False), ("1", True)])
def test_sure_coins_draw_nothing(p: str, always: bool) -> None:
    assert Coin(p).flip(3, Scripted()).tolist() == [always] * 3


def test_sure_coins_of_an_exponent() -> None:
    assert Coin.minus(0).flip(2, Scripted()).all()
    assert Coin.minus(sqrt(2) - sqrt(8) / 2).flip(2, Scripted()).all()
    assert not Coin.minus(inf).flip(2, Scripted()).any()
    assert Coin.minus(log(4)).probability.rational == exact("1/4").rational


@pytest.mark.parametrize("p", ["-1/1000000", "1000001/1000000", exp(exact("1e-30")), 1 - exp("1e-30")])
def test_what_is_no_probability_is_refused(p: str | Weight) -> None:
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        Coin(p)


def test_floats_are_refused() -> None:
    with pytest.raises(InexactError):
        Coin(0.5)  # type: ignore[arg-type]


def test_settling_starts_from_the_prefix_it_is_given() -> None:
    third = Coin("1/3").probability
    assert settle(third, 0b0101, 4, Scripted(0x5555555555555554)) is True
    assert settle(third, 0b0101, 4, Scripted(0x5555555555555556)) is False
    assert settle(third, 0b0101, 4, Scripted(0x5555555555555555, 0)) is True
    assert settle(third, 0b0100, 4, Scripted()) is True
    assert settle(third, 0b0110, 4, Scripted()) is False


def test_coins_enclosed_by_floats_are_as_exact_as_the_rest() -> None:
    """Bounds a thousandth wide: whatever word falls between them is settled by the exact probability."""
    p = exp_minus(1)
    with mpmath.workprec(300):
        floor = digits(mpmath.exp(-1), 32)
    words = np.array([0, floor - 10**6, floor - 1, floor, floor + 1, floor + 10**6, 2**32 - 1], np.uint32)
    asked: list[int] = []

    def exactly(i: int) -> Weight:
        asked.append(i)
        return p

    value = float(p)
    lower, upper = np.full(7, value - 1e-3), np.full(7, value + 1e-3)
    for tie, result in [(0, True), (ONES, False)]:
        asked.clear()
        flips = flip_enclosed(lower, upper, exactly, Scripted(words, tie))
        assert flips.tolist() == [True, True, True, result, False, False, False]
        assert asked == [1, 2, 3, 4, 5]


def test_a_word_equal_to_the_upper_bound_is_not_yet_settled() -> None:
    p = exp_minus(1)
    with mpmath.workprec(300):
        words = np.array([digits(mpmath.exp(-1), 32)], np.uint32)
    lower, upper = np.array([0.3]), np.array([p.bounds()[1]])
    assert flip_enclosed(lower, upper, lambda _: p, Scripted(words, 0)).tolist() == [True]
    assert flip_enclosed(lower, upper, lambda _: p, Scripted(words, ONES)).tolist() == [False]


def test_enclosed_coins_at_both_ends() -> None:
    words = np.array([0, 2**32 - 1], np.uint32)
    for lower, upper, p in [(1 - 2.0**-53, 1 + 2.0**-52, exp_minus(0)), (-5e-324, 5e-324, exp_minus(inf))]:
        flips = flip_enclosed(np.full(2, lower), np.full(2, upper), lambda _, p=p: p, Scripted(words))  # type: ignore[misc]
        assert flips.all() == (p == 1)
        assert flips.any() == (p == 1)


PROBABILITIES = {
    "1/3": Coin("1/3"),
    "e^-1": Coin.minus(1),
    "e^-sqrt2/10": Coin.minus(sqrt(2) / 10),
    "1-e^-(1/100)": Coin(1 - exp_minus("1/100")),
    "1/(2+e)": Coin(1 / (2 + exp(1))),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", PROBABILITIES)
def test_coins_fit_their_probability(name: str) -> None:
    """False alarm 1e-6 each, the stream seeded; the same test rejects a coin 5 % off and one turned round."""
    coin = PROBABILITIES[name]
    p = float(coin.probability)
    flips = coin.flip(N, SeededBitsForTests(11))
    assert rejects([flips.sum()], [p], N) is None
    assert rejects([flips[::2].sum(), (flips[1:] & flips[:-1])[::2].sum()], [p, p * p], N // 2) is None
    assert rejects([flips.sum()], [p * 1.05], N) is not None or p < 0.02
    assert rejects([flips.sum()], [p * 1.2], N) is not None
    assert rejects([(~flips).sum()], [p], N) is not None


@pytest.mark.statistical
def test_mixed_coins_fit_their_probabilities() -> None:
    """False alarm 1e-6, seeded; rejects the assignment shifted by one coin."""
    coins = list(PROBABILITIES.values())
    which = np.arange(N) % len(coins)
    exactly = [coin.probability for coin in coins]
    bounds = np.array([p.bounds() for p in exactly])[which]
    flips = flip_enclosed(bounds[:, 0], bounds[:, 1], lambda i: exactly[which[i]], SeededBitsForTests(13))
    heads = [flips[which == i].sum() for i in range(len(coins))]
    assert rejects(heads, [float(p) for p in exactly], N // len(coins)) is None
    assert rejects(heads[1:] + heads[:1], [float(p) for p in exactly], N // len(coins)) is not None


def test_zero_is_the_number_not_a_float() -> None:
    assert Coin.minus(ZERO).probability == 1


def test_bounds_near_one_leave_the_last_word_to_the_exact_probability() -> None:
    """A coin of 1 − 2⁻⁴⁰: the largest word of 32 bits is settled by further bits, which here say that it is a hit."""
    p = np.full(1, 1 - 2.0**-40)
    asked: list[int] = []

    def exactly(which: int) -> Weight:
        asked.append(which)
        return exp_minus(0)

    for word, hit in ((2**32 - 1, True), (2**32 - 2, True)):
        assert flip_enclosed(p, p, exactly, Scripted(np.array([word], np.uint32))).tolist() == [hit]
    assert asked == [0]  # only the tie


@pytest.mark.parametrize("rate", ["1/1000", "1/3", "1", "7/2"])
@pytest.mark.parametrize("gap", [0, 1, 2, 3, 20, 1000])
def test_a_float_near_the_exponent_still_flips_the_coin_of_the_true_one(rate: str, gap: int) -> None:
    """All words around the exact floor; further bits that say no. A float off by 2⁻²⁰ of itself must be found out."""
    p, exponent = exp_minus(exact(rate) * gap), float(exact(rate) * gap)
    floor = floor_digits(p, 32)
    words = np.array([w for w in range(floor - 3, floor + 4) if 0 <= w < 2**32], np.uint32)

    def flips(off: float) -> list[bool]:
        near = np.full(words.size, exponent * (1 + off))
        return flip_minus(near, lambda _: p, Scripted(words, then=ONES)).tolist()

    truth = (words < floor).tolist()
    assert [flips(off) for off in (-(2.0**-48), 0.0, 2.0**-48)] == [truth] * 3
    if 0 < exponent <= 7:
        assert flips(2.0**-20) != truth != flips(-(2.0**-20))
