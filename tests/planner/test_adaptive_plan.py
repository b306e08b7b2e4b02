"""What a plan of the adaptive mechanism tells before it is paid for, by sums made by hand; and when it is recommended."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom
from tests.deciding import decide_by

import leeward as lw
from leeward.errors import InputError, NotPrivateError, SpecError
from leeward.mechanism import AdaptiveSanitized, Sanitized
from leeward.mechanism._adaptive import decoded
from leeward.mechanism._random_order import reached
from leeward.noise import SeededBitsForTests
from leeward.planner import Scenario, compare, plan, recommend
from leeward.planner._expected import errors_above, expected_answers_stopping
from leeward.query import CountVisitors


def query(bound: int | None = None, if_more: Any = "refuse") -> CountVisitors:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    places = lw.places("places.parquet", place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=bound, if_more=if_more)


def exceeds(rate: float, above: int) -> float:
    """Pr[upward geometric noise of this rate > above]."""
    return min(math.exp(-rate * (above + 1)), 1.0)


def by_hand(rate: float, t: int, c: int) -> tuple[float, float]:
    """Published early (noise of half the rate, margin t + 1), and published late."""
    early = exceeds(rate / 2, 2 * t + 1 - c)
    return early, (1 - early) * exceeds(rate, t - c)


def walked(order: Iterable[int], rate: float, t: int, stops: int) -> tuple[float, float]:
    """Answered and safe, on average, in this very order: what is spent is followed in halves of ε."""
    spent, answered, safe = {0: 1.0}, 0.0, 0.0
    for c in order:
        early, late = by_hand(rate, t, c)
        after: dict[int, float] = {}
        for halves, p in spent.items():
            if 2 * stops - halves < 2:  # less than ε is left: it has stopped
                continue
            answered += p
            safe += p * (1 - early - late)
            for cost, chance in ((0, 1 - early - late), (1, early), (2, late)):
                after[halves + cost] = after.get(halves + cost, 0.0) + p * chance
        spent = after
    return answered, safe


@pytest.mark.parametrize("stops", [1, 2, 3, 9])
@pytest.mark.parametrize(("epsilon", "t"), [("1", 2), ("1/3", 0), ("3", 1)])
def test_what_is_expected_is_the_mean_over_all_orders(epsilon: str, t: int, stops: int) -> None:
    counts, rate = {0: 2, 2: 1, 3: 1, 9: 2}, float(Fraction(epsilon))
    truth = [c for c, n in counts.items() for _ in range(n)]
    orders = [*set(itertools.permutations(truth))]
    answered, safe = np.mean([walked(order, rate, t, stops) for order in orders], axis=0)
    made = AdaptiveSanitized(lw.Line(lw.inf, epsilon), at_most=t, budget=Fraction(epsilon) * stops)
    found = expected_answers_stopping(made, counts)
    assert (found.answered, found.safe) == (pytest.approx(answered, rel=1e-10), pytest.approx(safe, rel=1e-10))
    assert found.truly_safe == sum(n for c, n in counts.items() if c <= t)
    assert found.wrongly_safe == found.dangerous == 0


@pytest.mark.parametrize("stops", [1, 4, 60, 2_000])
@pytest.mark.parametrize("places", [3, 500, 40_000])
def test_the_reach_over_empty_places_is_that_of_their_payments(places: int, stops: int) -> None:
    """After e publications come Pr[Bin(n, p) > e]/p places in all; those cost e halves, and one more for each late one."""
    made = AdaptiveSanitized(lw.Line(lw.inf, "1/2"), at_most=3, budget=Fraction(stops, 2))
    early, late = by_hand(0.5, 3, 0)
    p, limit = early + late, 2 * stops - 2
    e = np.arange(limit + 1)
    expected = (binom.cdf(limit - e, e, late / p) * binom.sf(e, places, p)).sum() / p
    assert made.expected_answered_if_empty(places) == pytest.approx(expected, rel=1e-9)


def test_a_random_order_of_many_kinds_at_other_prices() -> None:
    """Three prices, by the definition: every order of eight counts."""
    numbers, chances, costs, limit = [3, 3, 2], [[0.2, 0.3, 0.1], [0.0, 0.5, 0.5], [0.7, 0.0, 0.0]], [1, 3, 7], 8
    kinds = [kind for kind, n in enumerate(numbers) for _ in range(n)]
    total, orders = np.zeros(3), set(itertools.permutations(kinds))
    for order in orders:
        spent = {0: 1.0}
        for kind in order:
            spent = {s: p for s, p in spent.items() if s <= limit}
            total[kind] += sum(spent.values()) / numbers[kind]
            after: dict[int, float] = {}
            for s, p in spent.items():
                for cost, chance in zip([0, *costs], [1 - sum(chances[kind]), *chances[kind]], strict=True):
                    after[s + cost] = after.get(s + cost, 0.0) + p * chance
            spent = after
    assert reached(numbers, chances, costs, limit) == pytest.approx(total / len(orders), rel=1e-10)


@pytest.mark.parametrize("counts", [{0: 950, 1: 40, 2: 10}, {0: 90, 9: 10}, {4: 1, 5: 1}, None])
@pytest.mark.parametrize(("epsilon", "t"), [("1", 2), ("1/2", 4)])
def test_the_errors_are_those_of_counts_that_are_published(epsilon: str, t: int, counts: dict[int, int] | None) -> None:
    """By the law of each place and look, summed over all noisy counts that are published."""
    scenario = Scenario(counts=counts)
    found = compare(
        query(), lw.AdditionOnly(epsilon), lw.Decide(safe_at_most=t), mechanism="adaptive", scenario=scenario
    ).options[0]
    rate, off, known = float(Fraction(epsilon)), dict[int, float](), counts or {0: 1}
    chances = [by_hand(rate, t, c) for c in known]
    often = reached([*known.values()], chances, [1, 2], 0) if counts else [1]
    for (c, places), before in zip(known.items(), often, strict=True):
        not_early = 1 - by_hand(rate, t, c)[0]
        for noise in range(int(120 / rate)):
            early, late = ((1 - math.exp(-r)) * math.exp(-r * noise) for r in (rate / 2, rate))
            if c + noise > 2 * t + 1:
                off[noise] = off.get(noise, 0.0) + places * before * early
            if c + noise > t:
                off[noise] = off.get(noise, 0.0) + places * before * not_early * late
    total = sum(off.values())
    within = {a: sum(p for error, p in off.items() if error <= a) / total for a in sorted(off)}
    assert found.errors is not None
    assert found.errors.mean == found.errors.bias
    assert found.errors.mean == pytest.approx(sum(error * p for error, p in off.items()) / total, rel=1e-6)
    assert found.errors.median == min(a for a, share in within.items() if share >= 0.5)
    assert found.errors.most == min(a for a, share in within.items() if share >= 0.95)


def test_the_chance_of_safe_is_that_of_both_looks() -> None:
    made = plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), mechanism="adaptive", stop_after=3)
    for c, (safe, _) in made.decision_curve().items():
        assert float(safe or 0) == pytest.approx(1 - sum(by_hand(1, 2, c)), rel=1e-12)
    assert made.price == 3
    assert made.listing(2).price == 2
    assert (made.listing(3).may_stop, made.listing(4).may_stop) == (False, True)
    assert made.decisions.never_wrong


@pytest.mark.parametrize("probability", ["1/2", "0.9", "0.99"])
def test_what_a_wish_takes_is_a_knife_edge(probability: str) -> None:
    wish = float(Fraction(probability))
    option = compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), mechanism="adaptive").find(
        "presence", "adaptive"
    )
    needed, t = option.epsilon_for(1, probability), option.safe_at_most_for(1, probability)
    assert needed is not None
    assert t is not None
    least = float(needed.epsilon)
    assert 1 - sum(by_hand(least, 2, 1)) >= wish > 1 - sum(by_hand(least - 0.001, 2, 1))
    assert 1 - sum(by_hand(1, t, 1)) >= wish
    assert t == 1 or 1 - sum(by_hand(1, t - 1, 1)) < wish
    assert option.safe_at_most_for(1, 1) is None
    assert option.epsilon_for(3, probability) is None  # three people are not to be called safe


def test_it_is_recommended_where_there_are_crowds_and_only_there() -> None:
    """Its row is there where it may win, and it is taken where it is told to say more right words."""
    asked: dict[str, Any] = {"safe_at_most": 9, "stop_after": 10}

    def found(counts: dict[int, int] | None, **more: Any) -> tuple[Any, Any]:
        compared = decide_by(
            compare, query(), lw.Presence("1"), **{**asked, **more}, scenario=Scenario(300, counts=counts)
        )
        rows = {o.mechanism for o in compared.possible}
        return recommend(compared).option, rows

    crowded, rows = found({0: 250, 60: 50})
    assert (crowded.notion.name, crowded.mechanism, crowded.price) == ("presence", "adaptive", 10)
    assert "adaptive" in rows
    rival = decide_by(
        compare, query(), lw.Presence("1"), **asked, scenario=Scenario(300, counts={0: 250, 60: 50})
    ).options[0]
    assert rival.mechanism == "sanitized"
    assert crowded.expected.safe > 1.8 * rival.expected.safe
    assert crowded.expected.answered - crowded.expected.safe > 1.8 * (rival.expected.answered - rival.expected.safe)
    said = recommend(
        decide_by(compare, query(), lw.Presence("1"), **asked, scenario=Scenario(300, counts={0: 250, 60: 50}))
    )
    assert "is the exact count with probability at most 63.3%" in said.cautions[0]
    # counts just above the threshold are paid in full, and empty places near it are published by either look
    near, rows = found({0: 200, 8: 60, 10: 40})
    assert near.mechanism == "sanitized"
    assert "adaptive" in rows
    unknown, rows = found(None)
    assert unknown.mechanism == "sanitized"
    assert "adaptive" not in rows
    asked_for, rows = found(None, mechanism="adaptive", stop_after=1, safe_at_most=2, useful_from="0")
    assert "adaptive" in rows
    assert asked_for.mechanism == "sanitized"


@pytest.mark.sweep
@pytest.mark.long
def test_if_nobody_were_anywhere_it_never_calls_more_places_safe() -> None:
    for t, epsilon, stops in itertools.product((0, 2, 9), ("1/3", "1", "3"), (1, 2, 7)):
        made = {
            name: plan(query(), lw.Presence(epsilon), lw.Decide(safe_at_most=t), mechanism=name, stop_after=stops)
            for name in ("sanitized", "adaptive")
        }
        safe = {
            name: (one.expected_answered_if_empty(400) or 0) * float(one.decision_curve()[0][0] or 0)
            for name, one in made.items()
        }
        assert safe["adaptive"] < safe["sanitized"] * (1 + 1e-9)
        assert made["adaptive"].price == made["sanitized"].price


def test_it_is_refused_exactly_where_the_sanitized_mechanism_is() -> None:
    notions: list[lw.notion.Notion] = [
        *(lw.Presence("1"), lw.AdditionOnly("1"), lw.RemovalOnly("1"), lw.UnboundedDP("1"), lw.BoundedDP("1")),
        *(lw.notion.Graded("1", "4"), lw.notion.Graded("1", "inf"), lw.GroupDP("1", [[0, 1], [2]])),
        *(lw.Personalised(lw.AdditionOnly("1"), ["1", "1/4"]), lw.both_hold(lw.AdditionOnly("1"), lw.Presence("2"))),
    ]
    allowed = 0
    for notion, (bound, if_more) in itertools.product(notions, ((None, "refuse"), (2, "refuse"), (2, "latest"))):
        said: list[Any] = []
        for name in ("sanitized", "adaptive"):
            try:
                made = plan(query(bound, if_more), notion, lw.Decide(safe_at_most=2), mechanism=name, stop_after=3)
            except NotPrivateError as refused:
                said.append(type(refused))
            else:
                said.append((made.price, made.mechanism.line))
        assert said[0] == said[1], (notion, bound, if_more)
        allowed += isinstance(said[0], tuple)
    assert allowed == 12


def test_what_it_does_not_decide_is_refused() -> None:
    for more in ({"safe_at_most": None, "dangerous_at_least": 3}, {"dangerous_at_least": 9}):
        with pytest.raises(SpecError, match="The adaptive mechanism"):
            decide_by(plan, query(), lw.Presence("1"), **{"safe_at_most": 2, "mechanism": "adaptive", **more})
    with pytest.raises(InputError, match="stop_after = 0"):
        plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), mechanism="adaptive", stop_after=0)


@pytest.mark.parametrize("looks", [(), ("1/2",), ("1/4", "1/2")])
def test_what_is_stored_can_be_read_again(looks: tuple[str, ...]) -> None:
    made = AdaptiveSanitized(lw.Line(lw.inf, "1"), at_most=1, budget=20, looks=looks)
    counts = np.array([0, 2, 90, 0, 1, 3, 2**62, 7, 5, 4] * 5)
    said = made.release(counts, SeededBitsForTests(3))
    stored = made.stored(counts, SeededBitsForTests(3))
    look, count = decoded(stored, len(made.laws))
    shown = said.look >= 0
    assert (np.flatnonzero(shown) == np.flatnonzero(look >= 0)).all()
    assert (look == said.look).all()
    assert (count[shown] == np.where(said.look == len(looks), said.count, said.count.clip(max=1 << 59))[shown])[
        said.count[shown] < 1 << 58
    ].all()
    assert (count[shown] >= 2).all()
    assert ((stored == -1) == said.safe).all()
    assert ((stored == -2) == ~said.answered).all()
    assert len({*look.tolist()}) == len(looks) + 2


def test_published_rows_say_at_which_look() -> None:
    import pyarrow as pa

    made = plan(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), mechanism="adaptive", stop_after=4)
    places = pa.table({"place": [*"abcde"]})
    rows = made.answers(np.array([-1, -3 - 17, 4, -1, -2]), places).to_pylist()
    assert [row["state"] for row in rows] == ["safe", "obscure", "obscure", "safe", "obscure"]
    assert [row["count"] for row in rows] == [None, 17, 4, None, None]
    assert [row["look"] for row in rows] == [None, 1, 2, None, None]
    assert [row["answered"] for row in rows] == [True] * 4 + [False]


@pytest.mark.parametrize("stops", [1, 2, 9])
@pytest.mark.parametrize("looks", [1, 2])
def test_the_errors_are_of_counts_that_are_reached(looks: int, stops: int) -> None:
    """Over every order of a crowded place and empty ones: the crowded one stops them, so that empty ones err less often."""
    rate, t, counts = 0.5, 3, {0: 5, 20: 1}
    line, expected = lw.Line(lw.inf, "1/2"), dict[int, float]()
    made: AdaptiveSanitized | Sanitized = AdaptiveSanitized(line, at_most=t, budget=Fraction(stops, 2))
    if looks == 1:
        made = Sanitized(line, at_most=t, stop_after=stops)
    truth = [c for c, n in counts.items() for _ in range(n)]
    for order in set(itertools.permutations(truth)):
        spent = {0: 1.0}
        for c in order:
            early, late = by_hand(rate, t, c) if looks == 2 else (0.0, exceeds(rate, t - c))
            spent = {halves: p for halves, p in spent.items() if 2 * stops - halves >= 2}
            here = sum(spent.values())
            for noise in range(300):
                soon, later = ((1 - math.exp(-r)) * math.exp(-r * noise) for r in (rate / 2, rate))
                if looks == 2 and c + noise > 2 * t + 1:
                    expected[noise] = expected.get(noise, 0) + here * soon
                if c + noise > t:
                    expected[noise] = expected.get(noise, 0) + here * (1 - early) * later
            after: dict[int, float] = {}
            for halves, p in spent.items():
                for cost, chance in ((0, 1 - early - late), (1, early), (2, late)):
                    after[halves + cost] = after.get(halves + cost, 0.0) + p * chance
            spent = after
    total = sum(expected.values())
    found = errors_above(made, counts)
    assert found.mean == pytest.approx(sum(e * p for e, p in expected.items()) / total, rel=1e-9)
    within = {a: sum(p for e, p in expected.items() if e <= a) / total for a in expected}
    assert found.most == min(a for a, share in within.items() if share >= 0.95)
