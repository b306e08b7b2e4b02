"""The sanitized mechanism, alone and over time: c·ε by exact enumeration, and what each broken condition costs."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.statistical.gof import rejects

from leeward.distance import FiniteDistance, Line, both_hold
from leeward.errors import InputError, NotPrivateError, RefusedError
from leeward.exact import Weight, exact, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Monitor, MonitorState, Round, Sanitized
from leeward.mechanism._sanitized import NOT_ANSWERED, SAFE
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.verification import verify

ONE = Line(inf, 1)
UP = DirectedGeometric.one_sided(1)
Counts = tuple[int, ...]


def subsets(vectors: Iterable[Counts], epsilon: object = 1) -> FiniteDistance[Counts]:
    """One person is withdrawn: every count falls by 0 or 1, at ε. Chains of such steps."""
    points = tuple(vectors)
    steps = [
        [epsilon if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in points] for x in points
    ]
    return FiniteDistance.closed(points, steps)  # type: ignore[arg-type]


CUBE = list(itertools.product(range(2), repeat=3))


# ---- alone


@pytest.mark.parametrize("stop_after", [1, 2, 3])
@pytest.mark.parametrize("at_most", [0, 1, [0, 1, 0]], ids=str)
def test_it_costs_c_epsilon(stop_after: int, at_most: int | list[int]) -> None:
    made = Sanitized(ONE, at_most=at_most, stop_after=stop_after)
    verdict = verify(made.on(CUBE), subsets(CUBE).scale(stop_after))
    assert verdict
    assert made.price == stop_after
    if at_most == 0:
        assert verdict.tight
        assert not verify(made.on(CUBE), subsets(CUBE).scale(stop_after).scale("0.999"))


def test_the_other_direction_is_ruled_out() -> None:
    assert verify(Sanitized(ONE, at_most=0).on(CUBE), subsets(CUBE).reverse()).scale[0] == float("inf")


def test_a_fall_by_two_costs_twice() -> None:
    """Its condition: each count falls by at most 1 along a step."""
    points = [(0,), (2,)]
    twice = FiniteDistance(points, [[0, inf], [1, 0]])
    assert verify(Sanitized(ONE, at_most=0).on(points), twice).exact_scale == 2


def test_where_counts_can_rise_safe_is_not_free() -> None:
    """Two-sided noise under unbounded DP, without a noisy threshold: "safe" three times costs nearly 3ε, not ε."""

    class TwoSided(Sanitized):
        def __init__(self) -> None:
            super().__init__(ONE, at_most=0)
            self.law = DirectedGeometric(1, 1)

    both_ways = both_hold(subsets(CUBE), subsets(CUBE).reverse())
    assert verify(TwoSided().on(CUBE), subsets(CUBE))
    assert verify(TwoSided().on(CUBE), both_ways).scale[0] > 2


def test_expected_answered_is_the_mean_of_the_matrix() -> None:
    made = Sanitized(ONE, at_most=[0, 1, 0, 2], stop_after=2)
    for truth in [(0, 0, 0, 0), (1, 0, 3, 0), (5, 5, 5, 5)]:
        row = made.on([truth]).row(truth)
        mean = sum(float(p) * sum(z is not None for z in said) for said, p in row.items())
        assert made.expected_answered(truth) == pytest.approx(mean)


def test_about_twenty_empty_places_at_one_and_two() -> None:
    """ε = 1, t = 2: each empty place stops with e^{−3}, so e³ = 20.09 are reached on average."""
    assert Sanitized(ONE, at_most=2).expected_answered([0] * 500) == pytest.approx(np.e**3, rel=1e-6)


@pytest.mark.sweep
@pytest.mark.parametrize("rate", ["1/10", "1", "3", "50", "900"])
def test_a_list_of_empty_places_has_a_closed_form(rate: str) -> None:
    """The oracle walks from count to count, with the chance of each number of stops so far."""
    for at_most, stops, places in itertools.product((0, 2, 9), (1, 2, 7, 40), (1, 2, 5, 39, 41, 1000)):
        made = Sanitized(Line(inf, rate), at_most=at_most, stop_after=stops)
        exceed, alive, reached = math.exp(-float(Fraction(rate)) * (at_most + 1)), [1.0] + [0.0] * (stops - 1), 0.0
        for _ in range(places):
            reached += sum(alive)
            alive = [p * (1 - exceed) + before * exceed for p, before in zip(alive, [0.0, *alive], strict=False)]
        assert made.expected_answered_if_empty(places) == pytest.approx(reached, rel=1e-9)
        assert made.expected_answered([0] * places) == pytest.approx(reached, rel=1e-6)
    each = Sanitized(Line(inf, rate), at_most=[0, 3, 1])
    assert each.expected_answered_if_empty(3) == each.expected_answered([0, 0, 0])


@pytest.mark.parametrize("places", [10**6, 10**7])
@pytest.mark.parametrize(("rate", "at_most"), [("1/1000", 2), ("1/3", 1), ("3", 9)])
def test_the_reach_over_a_long_list_is_right_in_all_its_digits(rate: str, at_most: int, places: int) -> None:
    """Found: 0.91 of a million places were answered on average, and 913,093 of ten million in place of 3.9."""
    exceed = math.exp(-float(Fraction(rate)) * (at_most + 1))
    none = math.exp(places * math.log1p(-exceed))
    once = places * exceed / (1 - exceed) * none
    expected = ((1 - none) / exceed, (2 - 2 * none - once) / exceed)  # after no more than one stop, or two
    for stops, reached in enumerate(expected, 1):
        made = Sanitized(Line(inf, rate), at_most=at_most, stop_after=stops)
        assert made.expected_answered_if_empty(places) == pytest.approx(reached, rel=1e-6)


def test_a_list_of_a_million_empty_places_costs_no_walk() -> None:
    """A plan asks this some hundred times; a walk through the list takes seconds each time."""
    made = Sanitized(Line(inf, 3), at_most=9)
    start = time.process_time()
    for _ in range(100):
        made.expected_answered_if_empty(10**6)
    assert time.process_time() - start < 5


@pytest.mark.statistical
def test_releases_follow_the_matrix() -> None:
    """False alarm below 1e-6; publishing with half the rate is rejected."""
    made, truth, n = Sanitized(ONE, at_most=1), (0, 1, 0), 3000
    row = made.on([truth]).row(truth)

    def drawn(line: Line) -> list[int]:
        bits = SeededBitsForTests(6)
        said = [said_as(Sanitized(line, at_most=1).release(truth, bits).coded().tolist(), 2) for _ in range(n)]
        return [said.count(z) for z in row]

    chances = [float(p) for p in row.values()]
    assert rejects(drawn(ONE), chances, n) is None
    assert rejects(drawn(Line(inf, "1/2")), chances, n)


def said_as(coded: Sequence[int], top: int) -> tuple[object, ...]:
    """The coded integers in the words of the matrix, counts merged from ``top`` on."""
    words = {SAFE: "safe", NOT_ANSWERED: None}
    return tuple(words.get(a, min(a, top)) for a in coded)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"line": Line(1, 1), "at_most": 1}, NotPrivateError),
        ({"line": Line(1, inf), "at_most": 1}, NotPrivateError),
        ({"line": Line(inf, inf), "at_most": 1}, InputError),
        ({"line": ONE, "at_most": -1}, InputError),
        ({"line": ONE, "at_most": [1, -1]}, InputError),
        ({"line": ONE, "at_most": 1, "stop_after": 0}, InputError),
        ({"line": ONE, "at_most": 1, "stop_after": True}, InputError),
    ],
    ids=str,
)
def test_what_it_cannot_promise_is_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        Sanitized(**arguments)


def test_thresholds_match_counts_and_counts_are_integers() -> None:
    with pytest.raises(InputError, match="Give one for each"):
        Sanitized(ONE, at_most=[1, 2]).thresholds(3)
    with pytest.raises(InputError, match="exact integers"):
        Sanitized(ONE, at_most=1).release([0.5])


# ---- over time

Ask = Callable[[MonitorState], tuple[int, ...]]
"""The thresholds of the next round, from past answers."""


def law_of(truth: Sequence[Counts], stop_after: int, ask: Sequence[Ask], top: int) -> dict[Any, Weight]:
    """The exact law of a monitor's whole output: every noise up to ``top``, with all beyond merged into it."""
    monitor = Monitor(ONE, stop_after=stop_after)
    states: dict[MonitorState, Weight] = {monitor.start(): weight(1)}
    for number, (counts, thresholds) in enumerate(zip(truth, ask, strict=True)):
        following: dict[MonitorState, Weight] = {}
        for state, p in states.items():
            if state.stopped:
                following[state] = following.get(state, weight(0)) + p
                continue
            held = monitor.reserve(state, f"window {number}", thresholds(state), len(counts))
            for noisy in itertools.product(*(range(c, top + 1) for c in counts)):
                q = p
                for z, c in zip(noisy, counts, strict=True):
                    q = q * (UP.tail(z - c) if z == top else UP.pmf(z - c))
                after = monitor.decide(held, np.array(noisy))
                following[after] = following.get(after, weight(0)) + q
        states = following
    return {state.rounds: p for state, p in states.items()}


WINDOWS = [((a, b), (c,)) for a, b, c in CUBE]
"""Two windows: two counts, then one."""


def always(*at_most: int) -> Ask:
    return lambda _: at_most


def lower_after_two_safe(state: MonitorState) -> tuple[int]:
    """A threshold that depends on past answers."""
    return (0 if state.rounds[0].answers == (SAFE, SAFE) else 1,)


@pytest.mark.parametrize("stop_after", [1, 2])
@pytest.mark.parametrize("second", [always(0), lower_after_two_safe])
def test_all_windows_together_cost_c_epsilon(stop_after: int, second: Ask) -> None:
    rows = {truth: law_of(truth, stop_after, [always(0, 0), second], top=2) for truth in WINDOWS}
    flat = subsets(CUBE)
    distance = FiniteDistance(WINDOWS, [[flat(x[0] + x[1], y[0] + y[1]) for y in WINDOWS] for x in WINDOWS])
    matrix = FiniteMechanism.from_rows(rows)
    verdict = verify(matrix, distance.scale(stop_after))
    assert verdict
    assert verdict.tight
    assert not verify(matrix, distance.scale(stop_after).scale("0.999"))
    assert Monitor(ONE, stop_after=stop_after).price == stop_after


def test_a_monitor_is_one_sanitized_run() -> None:
    """Cut into windows or not, the law is the same."""
    once = Sanitized(ONE, at_most=0, stop_after=2).on(CUBE)
    for truth in WINDOWS:
        rows = law_of(truth, 2, [always(0, 0), always(0)], top=2)
        merged: dict[Any, Weight] = {}
        for rounds, p in rows.items():
            coded = [a for each in rounds for a in each.answers or ()]
            said = said_as(coded + [NOT_ANSWERED] * (3 - len(coded)), 2)
            merged[said] = merged.get(said, weight(0)) + p
        assert {z: p for z, p in once.row(truth[0] + truth[1]).items() if p} == {z: p for z, p in merged.items() if p}


def going_on(truth: Counts, at_most: int) -> dict[Any, Weight]:
    """The broken monitor: a not-safe count is withheld, and asking goes on."""
    row: dict[Any, Weight] = {(): weight(1)}
    for c in truth:
        safe = UP.cdf(at_most - c)
        row = {(*z, s): p * (safe if s else 1 - safe) for z, p in row.items() for s in (True, False)}
    return row


def test_withholding_and_going_on_costs_four_epsilon() -> None:
    """Four queries at c = 1: the person was in all of them."""
    points = [(1, 1, 1, 1), (0, 0, 0, 0)]
    matrix = FiniteMechanism.from_rows({v: going_on(v, 0) for v in points})
    distance = FiniteDistance(points, [[0, 1], [inf, 0]])
    assert verify(matrix, distance).exact_scale == 4
    assert verify(Sanitized(ONE, at_most=0).on(points), distance).exact_scale == 1


def test_first_visits_are_no_counts_for_a_monitor() -> None:
    """One person, two windows. Withdrawing the first visit makes the second a first one: its count rises, ratio ∞."""
    visits = [frozenset(s) for s in ([], [1], [2], [1, 2])]

    def first(record: frozenset[int]) -> Counts:
        return (int(1 in record), int(2 in record and 1 not in record))

    def every(record: frozenset[int]) -> Counts:
        return (int(1 in record), int(2 in record))

    withdrawn = FiniteDistance(visits, [[(0 if x == y else 1 if y < x else inf) for y in visits] for x in visits])
    matrix = Sanitized(ONE, at_most=[1, 0]).on([(0, 0), (0, 1), (1, 0), (1, 1)])
    assert verify(matrix.pull_back(visits, every), withdrawn)
    assert verify(matrix.pull_back(visits, first), withdrawn).scale[0] == float("inf")


def test_reserve_then_answer_then_stop_for_good() -> None:
    monitor = Monitor(Line(inf, "1/2"), stop_after=2)
    state = monitor.start()
    assert (state.spent, state.held, state.stopped) == (0, 0, False)
    state = monitor.reserve(state, "monday", 1, 3)
    assert (state.spent, state.held) == (0, 1)  # at most two of the three can cost
    state = monitor.decide(state, np.array([0, 5, 1]))
    assert state.rounds == (Round("monday", (1, 1, 1), (SAFE, 5, SAFE)),)
    assert (state.spent, state.held) == (exact("1/2"), 0)
    state = monitor.reserve(state, "tuesday", [1, 0], 2)
    assert state.held == exact("1/2")
    state = monitor.decide(state, np.array([2, 9]))
    assert state.rounds[-1].answers == (2, NOT_ANSWERED)
    assert state.stopped
    assert (state.spent, state.held) == (monitor.price, 0)
    with pytest.raises(RefusedError, match="stopped for good"):
        monitor.reserve(state, "wednesday", 1, 1)


def test_nothing_is_drawn_without_a_reservation() -> None:
    monitor = Monitor(ONE)
    with pytest.raises(RefusedError, match="reserved before each draw"):
        monitor.answer(monitor.start(), [0])


def test_a_round_is_asked_once_and_in_order() -> None:
    monitor = Monitor(ONE)
    held = monitor.reserve(monitor.start(), "monday", 3, 1)
    assert monitor.reserve(held, "monday", 3, 1) is held  # after a crash
    for again in (("tuesday", 3, 1), ("monday", 4, 1), ("monday", 3, 2)):
        with pytest.raises(RefusedError, match="answered in order"):
            monitor.reserve(held, *again)
    done = monitor.decide(held, np.array([0]))
    later = monitor.decide(monitor.reserve(done, "tuesday", 3, 1), np.array([0]))
    for state, again in ((done, "monday"), (later, "monday"), (later, "tuesday")):
        with pytest.raises(InputError, match="answered before"):
            monitor.reserve(state, again, 3, 1)
    with pytest.raises(InputError, match="nothing to ask"):
        monitor.reserve(done, "tuesday", 3, 0)
    with pytest.raises(InputError, match="public"):
        monitor.answer(held, [0, 0])


def test_an_answer_is_drawn_from_the_counts() -> None:
    monitor = Monitor(Line(inf, 60), stop_after=5)  # hardly any noise
    state = monitor.reserve(monitor.start(), "monday", 2, 4)
    state = monitor.answer(state, np.array([0, 2, 3, 7]), SeededBitsForTests(0))
    assert state.rounds[-1].answers == (SAFE, SAFE, 3, 7)


def test_the_state_of_another_monitor_is_refused() -> None:
    for other in (Monitor(ONE, stop_after=2), Monitor(Line(inf, 2))):
        with pytest.raises(InputError, match="another monitor"):
            Monitor(ONE).reserve(other.start(), "monday", 1, 1)


def test_epsilon_is_a_fraction_that_can_be_stored() -> None:
    with pytest.raises(InputError, match="exact fractions"):
        Monitor(Line(inf, log(2)))
    with pytest.raises(NotPrivateError):
        Monitor(Line(1, 1))


def test_the_reach_is_that_of_the_exact_law_for_every_number_of_stops() -> None:
    """The oracle multiplies the chances of every course of four counts; stops beyond the counts change nothing."""
    for thresholds, stop_after in itertools.product(
        [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 1, 0]], [1, 2, 3, 4, 5, 10**12, 10**30]
    ):
        made = Sanitized(ONE, at_most=thresholds, stop_after=stop_after)
        for truth in [(0, 0, 0, 0), (1, 0, 3, 0), (5, 5, 5, 5)]:
            chances = [1.0 if c > t else math.exp(c - t - 1) for c, t in zip(truth, thresholds, strict=True)]
            expected = 0.0
            for course in itertools.product([0, 1], repeat=4):
                chance = math.prod(p if over else 1 - p for p, over in zip(chances, course, strict=True))
                reached = next((i + 1 for i in range(4) if sum(course[: i + 1]) >= stop_after), 4)
                expected += chance * reached
            assert made.expected_answered(truth) == pytest.approx(expected)


def test_a_long_list_and_many_stops_are_no_square() -> None:
    """E[min(n, T_c)] for T_c the place of the c-th stop: with p = e^−1 and c = n/2 the whole list is gone through."""
    made = Sanitized(ONE, at_most=0, stop_after=20_000)
    assert made.expected_answered([0] * 40_000) == pytest.approx(40_000)
    few = Sanitized(ONE, at_most=0, stop_after=5_000)
    assert few.expected_answered([0] * 40_000) == pytest.approx(5_000 * np.e, rel=1e-6)
