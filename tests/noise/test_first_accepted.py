# SPDX-License-Identifier: Apache-2.0
"""Permute-and-flip over runs: its pmf against every order and every coin, its draws against the pmf, ties to the end."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
import pytest
from tests.noise.scripted import Scripted
from tests.statistical.gof import rejects

from leeward.errors import DataError, InexactError, InputError, NoiseError
from leeward.exact import inf, log
from leeward.noise import Bits, FirstAccepted, SeededBitsForTests, SystemBits

RUNS = [
    ([0], [3]),
    ([0, 1], [1, 1]),
    ([2, 0, 1], [2, 1, 1]),
    ([0, 3, 0], [1, 2, 1]),
    ([-5, -4, -5, -2], [1, 1, 1, 2]),
    ([7, 7], [2, 3]),
    ([1, 0], [4, 1]),
]


def by_every_order(losses: list[int], sizes: list[int]) -> list[Fraction]:
    """The chance of each run at the rate ln 2: all orders of all points, and the first coin that shows heads."""
    owner = [run for run, size in enumerate(sizes) for _ in range(size)]
    heads = [Fraction(1, 2 ** (losses[run] - min(losses))) for run in owner]
    chances = [Fraction(0)] * len(sizes)
    for order in itertools.permutations(range(len(owner))):
        going_on = Fraction(1, factorial(len(owner)))
        for point in order:
            chances[owner[point]] += going_on * heads[point]
            going_on *= 1 - heads[point]
    return chances


@pytest.mark.parametrize(("losses", "sizes"), RUNS)
def test_the_pmf_is_that_of_every_order_and_every_coin(losses: list[int], sizes: list[int]) -> None:
    chances = [chance.rational for chance in FirstAccepted(log(2)).pmf(losses, sizes)]
    assert chances == by_every_order(losses, sizes)
    assert sum(chance for chance in chances if chance is not None) == 1


def test_a_run_cut_in_two_has_the_same_law() -> None:
    law = FirstAccepted("1/3")
    whole, cut = law.pmf([0, 2], [2, 3]), law.pmf([0, 2, 2], [2, 1, 2])
    assert whole[0] == cut[0]
    assert whole[1] == cut[1] + cut[2]
    assert cut[2] == cut[1] * 2


# ---- drawing


class Uniforms(Bits):
    """A script of the first words of all runs and of further words, each a number of 64 bits; then zeros."""

    def __init__(self, first: list[int], *further: int) -> None:
        self.first, self.further, self.drawn = first, list(further), 0

    def fill(self, out: np.ndarray[Any, Any]) -> None:
        if self.first:
            assert out.size == len(self.first)
            out[:], self.first = np.array(self.first, np.uint64), []
            return
        word = self.further.pop(0) if self.further else 0
        self.drawn += 1
        out.view(np.uint8)[:] = np.frombuffer(word.to_bytes(8, "little")[: out.nbytes], np.uint8)


def test_the_run_that_is_accepted_first_is_named() -> None:
    """Against the moments worked out in 60 digits, for words on a coarse net with the ends of the range among them."""
    import mpmath

    losses, sizes, rate = [0, 1, 3], [2, 5, 40], Fraction(1, 2)
    net = [1, 2**60, 2**63, 2**64 - 2**60, 2**64 - 2]
    with mpmath.workdps(60):
        for words in itertools.product(net, repeat=3):
            moments = [
                (1 - (mpmath.mpf(w) / 2**64) ** (mpmath.mpf(1) / n))
                * mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * loss)
                for w, n, loss in zip(words, sizes, losses, strict=True)
            ]
            drawn, _ = FirstAccepted(rate).draw(losses, sizes, Uniforms(list(words)))
            assert drawn == moments.index(min(moments)), words


@pytest.mark.parametrize(
    ("further", "named"),
    [((0, 2**64 - 1), 1), ((2**64 - 1, 0), 0), ((5, 8), 1), ((8, 5), 0), ((5, 5, 8, 90), 1), ((5, 5, 90, 8), 0)],
)
def test_equal_words_are_told_apart_by_further_bits(further: tuple[int, ...], named: int) -> None:
    """Of two points that are alike, the one with the larger V comes first: T = 1 − V."""
    bits = Uniforms([77 << 56, 77 << 56], *further)
    assert FirstAccepted(1).draw([4, 4], [1, 1], bits) == (named, 0)
    assert bits.drawn == len(further) + 1, "and one draw for the place in the run"


def test_moments_that_floats_cannot_tell_apart() -> None:
    """V = 1/2 for one point, √V = 1/2 for two: 1/2 + x·2⁻⁶⁴ against 1/2 + y·2⁻⁶⁴, x and y the further bits."""
    law, words = FirstAccepted("1/7"), [2**63, 2**62]
    half = 2**63
    assert law.draw([0, 0], [1, 2], Uniforms(words[:], half, half - 1))[0] == 0
    assert law.draw([0, 0], [1, 2], Uniforms(words[:], half, half + 1))[0] == 1
    # x = 2⁻¹ exactly and y = 2⁻¹ exactly: (1/2 + 2⁻⁶⁵)² = 1/4 + 2⁻⁶⁵ + 2⁻¹³⁰ > 1/4 + 2⁻⁶⁵, so the first is ahead
    assert law.draw([0, 0], [1, 2], Uniforms(words[:], half, half))[0] == 0

    # losses take part too: (1 − 3/4)·2 = 1 − 1/2, and further bits of the second count twice
    dear = FirstAccepted(log(2))
    for further, named in (((half, half // 2 - 1), 0), ((half, half // 2 + 1), 1)):
        assert dear.draw([0, 1], [1, 1], Uniforms([2**63, 3 * 2**62], *further))[0] == named


def test_open_bits_are_no_reason_to_be_first() -> None:
    """Of 16 points, V = 2⁻¹⁶ and T = 1/2; what a float leaves open of V moves T by 2⁻⁴². The other's T is just below 1/2."""
    ahead = 2**63 + 2000 * 2**11
    assert FirstAccepted(1).draw([0, 0], [16, 1], Uniforms([2**48, ahead]))[0] == 1


def test_ends_of_the_range_of_a_word() -> None:
    law, most = FirstAccepted(1), 2**64 - 1
    assert law.draw([0, 5], [1, 1], Uniforms([2**63, 2**63]))[0] == 0
    assert law.draw([0, 40], [1, 1], Uniforms([0, most]))[0] == 1, "V near 1 comes at once, however dear"
    assert law.draw([0, 50], [1, 1], Uniforms([0, 0]))[0] == 0, "V = 0 comes at its end, e^(rate·loss)"
    assert law.draw([0, 0], [1, 1], Uniforms([0, 0], 0, 1))[0] == 1
    assert law.draw([0, 0], [1, 1], Uniforms([most, most], most, most, 3, 2))[0] == 0


def test_the_place_in_a_run_is_uniform() -> None:
    assert FirstAccepted(1).draw([0], [8], Uniforms([9], 5)) == (0, 5)
    assert FirstAccepted(1).draw([0], [2**62], Uniforms([9], 2**61 + 3)) == (0, 2**61 + 3)


def counted(law: FirstAccepted, losses: list[int], sizes: list[int], n: int, bits: Bits) -> list[int]:
    drawn = Counter(law.draw(losses, sizes, bits) for _ in range(n))
    return [drawn[run, place] for run, size in enumerate(sizes) for place in range(size)]


@pytest.mark.sweep
@pytest.mark.statistical
@pytest.mark.parametrize(("losses", "sizes"), RUNS[2:])
def test_draws_have_the_law(losses: list[int], sizes: list[int]) -> None:
    """Every point of every run: false alarm below 1e-6 a case, seeded."""
    law, n = FirstAccepted("1/2"), 4_000
    points = [float(p) / size for p, size in zip(law.pmf(losses, sizes), sizes, strict=True) for _ in range(size)]
    assert rejects(counted(law, losses, sizes, n, SeededBitsForTests(3)), points, n) is None


class OneAcceptanceARun(FirstAccepted):
    """The tempting shortcut: a run takes part as if it were a single point."""

    def draw(self, losses: Any, sizes: Any, bits: Bits) -> tuple[int, int]:
        run, _ = super().draw(losses, [1] * len(losses), bits)
        return run, int(bits.words(1)[0]) % sizes[run]


class ByWeight(FirstAccepted):
    """The exponential mechanism: a point as often as its weight says."""

    def draw(self, losses: Any, sizes: Any, bits: Bits) -> tuple[int, int]:
        weights = np.array(sizes) * np.exp(-float(self.rate) * np.array(losses))
        u = int(bits.words(1)[0]) / 2**64 * weights.sum()
        run = int(np.searchsorted(weights.cumsum(), u))
        return run, int(bits.words(1)[0]) % sizes[run]


@pytest.mark.statistical
@pytest.mark.parametrize("broken", [OneAcceptanceARun, ByWeight])
def test_other_laws_are_rejected(broken: type[FirstAccepted]) -> None:
    losses, sizes, n = [2, 0, 1], [3, 1, 2], 8_000
    law = FirstAccepted("1/2")
    points = [float(p) / size for p, size in zip(law.pmf(losses, sizes), sizes, strict=True) for _ in range(size)]
    assert rejects(counted(broken("1/2"), losses, sizes, n, SeededBitsForTests(4)), points, n) is not None


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.statistical
def test_a_million_points_beside_one_good_one() -> None:
    """One point without loss and 10⁶ that are worse by 20, by the formula for one good point; false alarm 1e-6, seeded."""
    law, many, n = FirstAccepted("1/2"), 10**6, 20_000
    p = float(np.exp(-10.0))
    right = -np.expm1((many + 1) * np.log1p(-p)) / (p * (many + 1))
    bits = SeededBitsForTests(8)
    drawn = [law.draw([20, 0], [many, 1], bits) for _ in range(n)]
    first = sum(run == 1 for run, _ in drawn)
    assert rejects([first], [right], n) is None
    assert rejects([first], [right * 1.5], n) is not None
    places = np.array([place for run, place in drawn if run == 0])
    assert rejects([int((places < many // 4).sum())], [0.25], places.size) is None


@pytest.mark.fresh_entropy
def test_draws_have_the_law_with_system_entropy() -> None:
    """False alarm below 1e-9."""
    law, n = FirstAccepted(log(2)), 4_000
    found = counted(law, [0, 1], [1, 2], n, SystemBits())
    first, rest = (float(p) for p in law.pmf([0, 1], [1, 2]))
    assert rejects(found, [first, rest / 2, rest / 2], n, false_alarm=1e-9) is None


def test_losses_and_rates_at_the_ends_of_what_fits() -> None:
    bits = SeededBitsForTests(2)
    most = 2**63 - 1
    for rate in ("1e-300", "1", "1e300", "1e400"):
        run, place = FirstAccepted(rate).draw([-(2**63), most], [1, most], bits)
        assert (run, place) == (0, 0) or rate == "1e-300"
    assert FirstAccepted("1e-30").draw([0, 1], [1, most], bits)[0] == 1, "so many points against one"
    assert FirstAccepted(1).draw([3], [1], bits) == (0, 0)


def test_what_is_refused() -> None:
    for rate, error in ((0, InputError), (inf, InputError), (0.5, InexactError)):
        with pytest.raises(error):
            FirstAccepted(rate)  # type: ignore[arg-type]
    for losses, sizes in (([], []), ([1], [0]), ([1, 2], [1]), ([1.5], [1]), ([[1]], [[1]]), ([1], [2**63])):
        with pytest.raises(NoiseError, match="leave out runs"):
            FirstAccepted(1).draw(losses, sizes, Scripted())
    with pytest.raises(DataError):
        FirstAccepted(1).draw(np.ma.masked_equal([1, 2], 2), [1, 1], Scripted())
    assert repr(FirstAccepted("1/2")) == 'FirstAccepted("1/2")'
