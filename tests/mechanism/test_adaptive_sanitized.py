"""The sanitized mechanism with a budget: private at it by exact enumeration, held against an enumeration of its own kind."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.mechanism.test_sanitized import CUBE, subsets
from tests.statistical.gof import rejects

from leeward.distance import Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exact, inf, log
from leeward.mechanism import AdaptiveSanitized, FiniteMechanism, Sanitized
from leeward.noise import SeededBitsForTests
from leeward.verification import verify

FOUR = Line(inf, log(4))
"""With looks at a half and at all of ln 4 noise falls by 2 and by 4 a step, and all chances are fractions."""


def oracle(
    counts: tuple[int, ...], thresholds: list[int], margin: int, halves: int, top: int, *, price: int = 1
) -> dict[Any, Fraction]:
    """The law in fractions, with one early look at a half of ε: budgets and prices are counted in halves of ε.

    Args:
        counts: the true counts.
        thresholds: t of each.
        margin: of the early look.
        halves: the budget, in halves of ε.
        top: noisy counts from here on are one answer.
        price: what is taken for the early look, in halves of ε; right is 1.
    """

    def chance(falls: int, k: int) -> Fraction:  # noise of k, each step more is `falls` times as rare
        return Fraction(falls - 1, falls) / falls**k if k >= 0 else Fraction(0)

    def cell(falls: int, count: int, z: int) -> Fraction:
        return (
            1 - sum((chance(falls, k) for k in range(max(top - count, 0))), Fraction(0))
            if z == top
            else chance(falls, z - count)
        )

    found: dict[Any, Fraction] = {}
    todo: list[tuple[tuple[Any, ...], Fraction, int]] = [((), Fraction(1), halves)]
    while todo:
        said, p, left = todo.pop()
        if len(said) == len(counts):
            found[said] = found.get(said, Fraction(0)) + p
            continue
        count, t = counts[len(said)], thresholds[len(said)]
        if left < 2:
            todo.append(((*said, None), p, left))
            continue
        early = {z: cell(2, count, z) for z in range(t + margin + 1, top + 1)}
        late = {z: cell(4, count, z) for z in range(t + 1, top + 1)}
        not_early = 1 - sum(early.values())
        todo += [((*said, (0, z)), p * q, left - price) for z, q in early.items()]
        todo += [((*said, (1, z)), p * not_early * q, left - 2) for z, q in late.items()]
        todo.append(((*said, "safe"), p * not_early * (1 - sum(late.values())), left))
    return found


GRID = list(itertools.product((0, 1, [0, 1, 0]), (0, 1, 2), (2, 3, 4)))


@pytest.mark.parametrize(("at_most", "margin", "halves"), GRID, ids=str)
def test_the_matrix_is_the_law(at_most: Any, margin: int, halves: int) -> None:
    made = AdaptiveSanitized(FOUR, at_most=at_most, budget=log(4) * halves / 2, margins=[margin])
    thresholds = at_most if isinstance(at_most, list) else [at_most] * 3
    matrix, top = made.on(CUBE), max(1, max(thresholds) + margin) + 1
    for counts in CUBE:
        right = oracle(counts, thresholds, margin, halves, top)
        row = {z: p.rational for z, p in matrix.row(counts).items() if p}
        assert row == {z: p for z, p in right.items() if p}


@pytest.mark.parametrize(("at_most", "margin", "halves"), GRID, ids=str)
def test_it_is_private_at_its_budget(at_most: Any, margin: int, halves: int) -> None:
    made = AdaptiveSanitized(FOUR, at_most=at_most, budget=log(4) * halves / 2, margins=[margin])
    verdict = verify(made.on(CUBE), subsets(CUBE, log(4)).scale(exact(halves) / 2))
    assert verdict, str(verdict)
    assert made.price == log(4) * halves / 2
    if at_most == 0:  # then a count of 1 is never called safe
        assert verify(made.on(CUBE), subsets(CUBE, log(4)).reverse()).scale[0] == float("inf"), "one way only"


@pytest.mark.parametrize("looks", [("1/2",), ("1/4", "1/2"), ("1/10",), ()])
@pytest.mark.parametrize("epsilon", ["1", "1/3", log(2)])
@pytest.mark.parametrize("times", ["1", "3/2", "2"])
def test_it_is_private_with_any_looks(looks: tuple[str, ...], epsilon: Any, times: str) -> None:
    square = list(itertools.product(range(3), repeat=2))
    made = AdaptiveSanitized(
        Line(inf, epsilon), at_most=0, budget=exact(epsilon) * times, looks=looks, margins=[1] * len(looks)
    )
    assert verify(made.on(square), subsets(square, epsilon).scale(times))


def test_with_one_look_it_is_the_sanitized_mechanism() -> None:
    for stops in (1, 2, 3):
        adaptive = AdaptiveSanitized(FOUR, at_most=0, budget=log(4) * stops, looks=()).on(CUBE)
        usual = Sanitized(FOUR, at_most=0, stop_after=stops).on(CUBE)
        for counts in CUBE:
            row = {
                tuple(z[1] if isinstance(z, tuple) else z for z in said): p for said, p in adaptive.row(counts).items()
            }
            assert {z: p for z, p in row.items() if p} == {z: p for z, p in usual.row(counts).items() if p}


def test_an_early_look_that_is_not_paid_for_is_found_out() -> None:
    """The broken variant: early looks take nothing, so that all three counts may be published at them."""
    halves = 2
    broken = FiniteMechanism.from_rows({v: oracle(v, [0] * 3, 0, halves, 2, price=0) for v in CUBE})
    verdict = verify(broken, subsets(CUBE, log(4)).scale(exact(halves) / 2))
    assert not verdict
    right = FiniteMechanism.from_rows({v: oracle(v, [0] * 3, 0, halves, 2) for v in CUBE})
    assert verify(right, subsets(CUBE, log(4)).scale(exact(halves) / 2))


@pytest.mark.statistical
@pytest.mark.parametrize("counts", [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_the_sampler_has_that_law(counts: tuple[int, ...]) -> None:
    """False alarms: 1e-6, seeded; another row of counts is rejected."""
    made, bits = AdaptiveSanitized(FOUR, at_most=0, budget=log(4) * 3 / 2, margins=[1]), SeededBitsForTests(5)
    matrix, drawn, n = made.on(CUBE), Counter[Any](), 4_000
    top = 2  # above all truths and margins
    for _ in range(n):
        said = made.release(counts, bits)
        rows = zip(said.answered.tolist(), said.look.tolist(), said.count.tolist(), strict=True)
        drawn[tuple(("safe" if j < 0 else (j, min(z, top))) if there else None for there, j, z in rows)] += 1
        assert said.spent <= made.budget
    for law, right in ((matrix.row(counts), True), (matrix.row((1, 1, 0)), counts == (1, 1, 0))):
        events = [z for z, p in law.items() if p]
        assert (rejects([drawn[z] for z in events], [float(law[z]) for z in events], n) is None) is right
        assert not right or drawn.keys() <= set(events)


def test_far_counts_cost_less_so_more_are_published() -> None:
    """Crowds among empty places: at the same price nearly twice as many of them are told, and never a place called safe."""
    counts = np.array([0] * 5 + [500] * 40)
    adaptive = AdaptiveSanitized(Line(inf, 1), at_most=10, budget=10)
    usual = Sanitized(Line(inf, 1), at_most=10, stop_after=10)
    bits = SeededBitsForTests(1)
    said, before = adaptive.release(counts, bits), usual.release(counts, bits)
    assert adaptive.price == usual.price
    assert (said.look >= 0).sum() == 19  # the last whole ε is kept for a count that needs it
    assert (before.answered & ~before.safe).sum() == 10
    assert not said.safe[5:].any()
    assert (said.count[said.look >= 0] >= 500).all()
    assert said.spent == exact("19/2")


def test_what_is_no_such_mechanism_is_refused() -> None:
    up = Line(inf, 1)
    with pytest.raises(NotPrivateError):
        AdaptiveSanitized(Line(1, 1), at_most=0, budget=1)
    wrong: list[dict[str, Any]] = [
        {"budget": "1/2"},
        {"budget": inf},
        {"looks": ("1/2", "1/4")},
        {"looks": ("1",)},
        {"looks": ("0",)},
        {"margins": []},
        {"margins": [-1]},
        {"margins": [1.5]},
        {"at_most": -1},
        {"at_most": 1.5},
    ]
    for given in wrong:
        with pytest.raises(InputError):
            AdaptiveSanitized(up, **{"at_most": 0, "budget": 2, **given})
    with pytest.raises(InputError, match="thresholds for"):
        AdaptiveSanitized(up, at_most=[1, 2], budget=2).release([1, 2, 3])


def test_by_default_an_empty_place_is_published_as_rarely_by_each_look() -> None:
    made = AdaptiveSanitized(Line(inf, 1), at_most=9, budget=2, looks=("1/4", "1/2"))
    assert made.margins == (30, 10, 0)
    chances = [float(law.tail(9 + margin + 1)) for law, margin in zip(made.laws, made.margins, strict=True)]
    assert chances == pytest.approx([chances[-1]] * 3)


@pytest.mark.parametrize("power", [30, 58, 400])
def test_a_budget_of_any_size_pays_exactly_for_what_it_says(power: int) -> None:
    """Beyond what 192 bits hold it ended in a StopIteration, or in a number that was nearly right."""
    stops = 10 ** (power + 3)
    mechanism = AdaptiveSanitized(Line(inf, "1/1000"), at_most=2, budget=f"1e{power}")
    assert mechanism.stop_after == stops
    assert mechanism.costs == ((1, 2), 2 * stops - 2)
    assert AdaptiveSanitized(Line(inf, log(3)), at_most=2, budget=log(3) * stops).stop_after == stops


def test_a_margin_beyond_64_bits_lets_no_count_pass() -> None:
    far = AdaptiveSanitized(Line(inf, 1), at_most=2**63 - 1, budget=2, looks=("1/3",))
    assert far.release([5, 2**63 - 1], SeededBitsForTests(1)).safe.all()
    some = AdaptiveSanitized(Line(inf, 1), at_most=1, budget=2, margins=[2**70])
    assert some.release([100], SeededBitsForTests(1)).look.tolist() == [1]
