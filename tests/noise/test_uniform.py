"""Uniform integers: every word counted, rejection at the limit, no bias of a remainder."""

from __future__ import annotations

import numpy as np
import pytest
from tests.noise.scripted import Scripted
from tests.statistical.gof import rejects

from leeward.errors import NoiseError
from leeward.noise import SeededBitsForTests, uniform_below


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 100, 255, 256])
def test_every_short_word_is_kept_or_drawn_again(limit: int) -> None:
    """Of all words of 8 bits, each value below the limit comes equally often; the others ask again, once here."""
    words = np.arange(256, dtype=np.uint64)
    cut = 1 << (limit - 1).bit_length()
    again = np.flatnonzero(words % cut >= limit).size
    script = [words, np.zeros(again, np.uint64)] if again else [words]
    drawn = uniform_below(limit, 256, Scripted(*script))
    counts = np.bincount(drawn, minlength=limit)
    assert counts.size == limit
    counts[0] -= again
    assert (counts == 256 // cut).all()


def test_rejected_words_are_drawn_until_one_fits() -> None:
    bits = Scripted(np.array([3, 1, 3], np.uint64), np.array([3, 2], np.uint64), np.array([0], np.uint64))
    assert uniform_below(3, 3, bits).tolist() == [0, 1, 2]


def test_a_word_drawn_again_is_cut_for_its_own_limit() -> None:
    bits = Scripted(np.array([0, 3], np.uint64), np.array([6], np.uint64))
    assert uniform_below(np.array([1, 3]), 2, bits).tolist() == [0, 2]


def test_limits_of_each() -> None:
    words = np.full(4, 2**64 - 1, np.uint64)
    limits = np.array([1, 2, 2**32, 2**62], np.int64)
    assert uniform_below(limits, 4, Scripted(words)).tolist() == [0, 1, 2**32 - 1, 2**62 - 1]
    assert uniform_below(2**63, 1, Scripted(words[:1])).tolist() == [2**63 - 1]
    assert uniform_below(2**62 + 1, 1, Scripted(np.array([12345], np.uint64))).tolist() == [12345]
    assert uniform_below(5, 0, Scripted(words[:0])).size == 0


@pytest.mark.parametrize("limits", [0, -1, 2**63 + 1, np.array([3, 0])])
def test_limits_without_a_value_are_refused(limits: int) -> None:
    with pytest.raises(NoiseError, match="limit"):
        uniform_below(limits, 2, Scripted())


@pytest.mark.statistical
def test_uniform_integers_fit() -> None:
    """False alarm 1e-6, seeded; rejects a remainder's bias, which is 3 to 2 for four bits modulo 6."""
    n = 200_000
    drawn = uniform_below(6, n, SeededBitsForTests(21))
    assert rejects(np.bincount(drawn, minlength=6), [1 / 6] * 6, n) is None
    biased = uniform_below(16, n, SeededBitsForTests(22)) % 6
    assert rejects(np.bincount(biased, minlength=6), [1 / 6] * 6, n) is not None


@pytest.mark.parametrize("limits", [7, 1000, "each its own"])
def test_each_of_a_long_sample_is_cut_out_of_its_own_word(limits: int | str) -> None:
    """One by one in plain Python: the next word's last bits, and while they are too large, of the words that follow all."""
    size = 5000
    rng = np.random.default_rng(1)
    below = rng.integers(1, 2**40, size) if isinstance(limits, str) else np.full(size, limits)
    words = [int(word) for word in SeededBitsForTests(2).words(4 * size)]
    found, left = [0] * size, list(range(size))
    while left:
        rejected = []
        for place in left:
            found[place] = words.pop(0) % 2 ** (int(below[place]) - 1).bit_length()
            if found[place] >= below[place]:
                rejected.append(place)
        left = rejected
    drawn = uniform_below(below if isinstance(limits, str) else limits, size, SeededBitsForTests(2))
    assert drawn.tolist() == found
