"""Geometric noise that is cut off: its exact law, and a sampler that follows it."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle.unknown_keys import law
from tests.statistical.gof import rejects

from leeward.errors import InputError, NoiseError
from leeward.exact import log
from leeward.noise import SeededBitsForTests
from leeward.noise._cut_geometric import CutGeometric

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("reach", [0, 1, 2, 3, 7, 8])
def test_the_law_is_that_of_the_oracle(reach: int, both: bool) -> None:
    made, expected = CutGeometric(log(2), reach, both_ways=both), law("both" if both else "up", reach)
    span = range(-reach - 2, reach + 3)
    assert [made.pmf(k).rational for k in span] == [expected.get(k, Fraction(0)) for k in span]
    tails = [sum((p for j, p in expected.items() if j >= k), Fraction(0)) for k in span]
    assert [made.tail(k).rational for k in span] == tails
    assert made.end.rational == expected[reach]


@pytest.mark.statistical
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    ("rate", "reach"), [("1", 0), ("1", 1), ("1/2", 4), ("3", 2), ("1/100000", 5), ("1/20", 7), ("40", 3)]
)
def test_draws_follow_the_law(rate: str, reach: int, both: bool) -> None:
    """A right sampler fails one of 28 tests once in 10⁶; one that keeps −0, or cuts a step farther, is found out."""
    made = CutGeometric(rate, reach, both_ways=both)
    drawn = made.sample(60_000, SeededBitsForTests(3)).tolist()
    assert misfit(made, drawn) is None
    if reach and rate != "40":
        assert misfit(
            made, CutGeometric(rate, reach + 1, both_ways=both).sample(60_000, SeededBitsForTests(4)).tolist()
        )
    if both and reach and rate == "1/2":
        one_way = CutGeometric(rate, reach).sample(60_000, SeededBitsForTests(5)).tolist()
        signed = [k if i % 2 else -k for i, k in enumerate(one_way)]
        assert misfit(made, signed), "0 would come twice as often"


def misfit(made: CutGeometric, drawn: list[int]) -> Any:
    span = range(-made.reach if made.both_ways else 0, made.reach + 1)
    seen = Counter(drawn)
    if set(seen) - set(span):
        return "what cannot be"
    return rejects([seen[k] for k in span], [float(made.pmf(k)) for k in span], len(drawn), FALSE_ALARM)


def test_many_are_drawn_in_parts_and_none_is_forgotten() -> None:
    drawn = CutGeometric("1/1000", 1000).sample(200_001, SeededBitsForTests(1))
    assert drawn.size == 200_001
    assert drawn.min() == 0
    assert drawn.max() == 1000


def test_what_is_not_sampled_is_refused() -> None:
    with pytest.raises(NoiseError, match="Take a larger"):
        CutGeometric("1", 2**40 + 1)
    for rate in (0, -1, "inf"):
        with pytest.raises(InputError):
            CutGeometric(rate, 3)
    with pytest.raises(InputError):
        CutGeometric("1", -1)
