"""Which noise rates a notion allows, rule by rule and trap by trap. The rules meet brute force in the file beside this."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import tables as oracle

from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import ZERO, Real, exact, inf, log, sqrt
from leeward.notion import (
    ADP,
    CHANGES,
    DROP_FACT,
    GROW,
    INSERT,
    OSDP,
    REPLACE,
    SHRINK,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    Change,
    Graded,
    GradedFacts,
    GroupDP,
    Notion,
    Personalised,
    Presence,
    RecordDistance,
    RemovalOnly,
    UnboundedDP,
    has,
    where,
)
from leeward.query import (
    CountWhere,
    Domain,
    Histogram,
    Linear,
    SumOf,
    SumOverPeople,
    count_visitors,
    places,
    sensitivity,
    sensitivity_each,
    sensitivity_lines,
    visits,
)
from leeward.query._sensitivity import allowed_rates

SETS = [None, *(frozenset(s) for s in ("", "a", "b", "c", "ab", "ac", "bc", "abc"))]


def line(notion: Notion, query: Any) -> tuple[Real, Real]:
    derived = sensitivity(notion, query).line
    return derived.rise, derived.fall


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_rates_for_people_with_at_most_k_places(k: int) -> None:
    places_of = [has(p) for p in "abcdef"]
    query = CountWhere(tuple(places_of), Domain(facts_per_person=k))
    eps = exact("1/3")
    assert line(AdditionOnly(eps), query) == (inf, eps / k)
    assert line(RemovalOnly(eps), query) == (eps / k, inf)
    assert line(UnboundedDP(eps), query) == (eps / k, eps / k)
    assert line(BoundedDP(eps), query) == (eps / (2 * k), eps / (2 * k))  # k(a + b) ≤ ε
    assert line(Presence(eps), query) == (inf, eps / k)
    assert line(GradedFacts(eps, 2), query) == (2, eps)  # by fact: no k
    rise, fall = line(Graded(eps, 2), query)  # by person: bk ≤ ε_presence, ak ≤ ε_absence, (a + b)k ≤ the larger
    assert (rise + fall) * k == 2
    assert fall * k <= eps
    assert rise * k <= 2
    assert line(Graded(eps, inf), query) == line(Presence(eps), query)
    assert line(GroupDP(eps, [(0, 1, 2), (3,)]), query) == (eps / (6 * k), eps / (6 * k))
    assert line(Personalised(AdditionOnly(1), [2, "1/2", 1]), query) == (inf, exact("1/2") / k)


def test_count_visitors_agrees_with_the_enumerated_rule() -> None:
    for k in (1, 2):
        query = CountWhere(tuple(has(p) for p in "abcd"), Domain(facts_per_person=k))
        described = count_visitors(
            visits("v", person="p", place="q", time="t"),
            places("l", place="q"),
            start="2020-01-01",
            end="2020-01-02",
            places_per_person=k,
        )
        for notion in (AdditionOnly(1), RemovalOnly(1), UnboundedDP(1), BoundedDP(1), Presence(1), GradedFacts(1, 2)):
            assert line(notion, described) == line(notion, query)
        for change in CHANGES:
            assert set(described.effect(change).total or ()) == set(query.effect(change).total or ())


def test_the_low_sensitive_counts_move_by_two_when_a_person_moves() -> None:
    """ADP, Section VI-A2 says at most 1; that is true along p-steps only."""
    query = CountWhere((has("a"), has("b")), Domain(facts_per_person=1))
    assert query.effect(REPLACE).total == ((1, 1),)
    assert query.effect(SHRINK).total == ((0, 1),)


# ---- the traps


def test_several_policies_are_all_of_them_at_once() -> None:
    query = CountWhere((has("a"), has("b")))
    together = sensitivity(ADP(1, [~has("a"), ~has("b")]), query)
    assert together.monotone
    assert together.sign == -1
    assert together.line == Line(inf, "1/2")
    at_a, at_b = frozenset("a"), frozenset("b")
    for printed in (~has("a") | ~has("b"), ~has("a") & ~has("b")):
        notion = ADP(1, [printed])
        wrong = sensitivity(notion, query)
        assert not wrong.monotone
        assert wrong.sign == 0
        # the step {a} → {b} is protected, and one-sided noise has an infinite ratio on it
        assert notion.record(at_a, at_b) == 1
        assert together.line(query.answer([at_a]), query.answer([at_b])) == inf


@pytest.mark.parametrize("if_more", ["latest", "earliest"])
def test_truncation_is_not_monotone(if_more: Any) -> None:
    query = count_visitors(
        visits("v", person="p", place="q", time="t"),
        places("l", place="q"),
        start="2020-01-01",
        end="2020-01-02",
        places_per_person=2,
        if_more=if_more,
    )

    def kept(record: Any) -> list[int]:
        return [int(p in sorted(record or ())[:2]) for p in "abc"]

    moves = oracle.moves(oracle.presence(1), SETS, lambda table: kept(table[0]), 1)
    assert (1, (-1, 0, 1)) in moves  # {a, b, c} loses a: c rises
    assert any(oracle.spent(math.inf, Fraction(1, 2), change) > distance for distance, change in moves)
    for notion in (Presence(1), Graded(1, 2), GradedFacts(1, 2)):
        with pytest.raises(NotPrivateError, match="not monotone"):
            sensitivity(notion, query)
    moves = oracle.moves(oracle.addition_only(1), SETS, lambda table: kept(table[0]), 1)
    assert all(oracle.spent(math.inf, Fraction(1, 2), change) <= distance for distance, change in moves)
    assert line(AdditionOnly(1), query) == (inf, exact("1/2"))


def test_no_way_of_keeping_two_of_three_places_is_monotone() -> None:
    sets = [frozenset(s) for s in SETS[1:]]
    big = frozenset("abc")
    for kept in itertools.combinations("abc", 2):  # what is kept of {a, b, c}; sets of two are kept whole
        image = {s: s for s in sets if len(s) <= 2} | {big: frozenset(kept)}
        assert any(s < t and not image[s] <= image[t] for s in sets for t in sets)


def test_a_coin_for_each_visit_costs_twice_a_coin_for_each_person() -> None:
    """Removal-only: a person with two visits is put in. Pr[nothing sampled] is 1 without them."""
    p = Fraction(1, 2)
    by_person = {0: 1 - p, 2: p}
    by_visit = {kept: math.comb(2, kept) * p**kept * (1 - p) ** (2 - kept) for kept in range(3)}
    assert sum(by_person.values()) == sum(by_visit.values()) == 1
    loss_by_person, loss_by_visit = log(1 / by_person[0]), log(1 / by_visit[0])
    assert loss_by_person == log(2)
    assert loss_by_visit == loss_by_person * 2


def test_half_to_even_doubles_what_a_measurement_moves() -> None:
    quarters = [Fraction(k, 4) for k in range(-12, 13)]

    def farthest(to_grid: Callable[[Fraction], int]) -> int:
        return max(abs(to_grid(x) - to_grid(y)) for x in quarters for y in quarters if abs(x - y) == 1)

    assert farthest(round) == 2  # half to even: 0.5 → 0 and 1.5 → 2
    assert farthest(lambda x: math.floor(x + Fraction(1, 2))) == 1
    # as a notion: a reading may pass as one that is 1 away, and the sum moves by what the rounding moves it
    metric = RecordDistance(1, FiniteDistance(quarters, [[math.ceil(abs(x - y)) for y in quarters] for x in quarters]))
    for to_grid, rate in ((round, "1/2"), (lambda x: math.floor(x + Fraction(1, 2)), "1")):

        class Reading(SumOverPeople):
            declared = Domain()

            def value(self, record: Any, to_grid: Any = to_grid) -> tuple[int, ...]:
                return (to_grid(record or 0),)

            def asked(self, change: Change) -> tuple[Any, ...]:
                return ()

        assert line(metric, Reading()) == (exact(rate), exact(rate))


def test_lines_of_coordinates_that_move_opposite_ways() -> None:
    ill = where("status", equals="ill")
    notion, query = ADP(1, [~ill]), CountWhere((ill, ~ill))
    assert sensitivity(notion, query).line == Line("1/2", "1/2")
    assert sensitivity_lines(notion, query) == (Line(inf, "1/2"), Line("1/2", inf))
    each = sensitivity_each(notion, query)
    assert (each.rise, each.fall) == (1, 1)
    described = count_visitors(
        visits("v", person="p", place="q", time="t"), places("l", place="q"), start="2020-01-01", end="2020-01-02"
    )
    with pytest.raises(InputError, match="single coordinates"):
        sensitivity_lines(AdditionOnly(1), described)


def test_a_sum_depends_on_the_signs_of_its_bounds() -> None:
    assert line(AdditionOnly(1), SumOf("x", 0, 5)) == (inf, exact("1/5"))
    assert line(AdditionOnly(1), SumOf("x", -2, 5)) == (exact("1/2"), exact("1/5"))  # taking out −2 lets the sum rise
    assert line(BoundedDP(1), SumOf("x", 3, 5)) == (exact("1/2"), exact("1/2"))
    assert line(UnboundedDP(1), SumOf("x", 3, 5)) == (exact("1/5"), exact("1/5"))
    # a policy that keeps "at least 10" keeps a sum from falling below 10 once there, but not from falling
    assert line(ADP(1, [where("x", at_least=10)]), SumOf("x", 10, 12)) == (exact("1/2"), exact("1/2"))
    assert line(ADP(1, [where("x", at_least=9)]), SumOf("x", 0, 9)) == (exact("1/9"), exact("1/8"))
    assert line(ADP(1, [where("x", at_least=v) for v in range(1, 4)]), SumOf("x", 0, 3)) == (exact("1/3"), inf)


def test_missing_values_count_as_the_number_nearest_to_zero() -> None:
    assert [SumOf("x", lower, upper).value({"x": None}) for lower, upper in ((-1, 2), (3, 5), (-5, -3))] == [
        (0,),
        (3,),
        (-3,),
    ]
    assert SumOf("x", 0, 5).value({"x": 9}) == (5,)
    assert SumOf("x", 3, 5).value(None) == (0,)


def test_thousands_of_bins_need_no_enumeration() -> None:
    query = Histogram("place", tuple(range(5835)))
    assert line(BoundedDP(1), query) == (exact("1/2"), exact("1/2"))
    assert line(AdditionOnly(1), query) == (inf, exact(1))
    lines = sensitivity_lines(ADP(1, [~where("place", equals=7)], absent_too=True), query)
    assert len(lines) == 5835
    assert lines[7] == Line(inf, "1/2")  # nobody can be moved to place 7
    assert lines[8] == Line("1/2", "1/2")


@pytest.mark.sweep
def test_the_low_sensitive_case_of_the_paper_at_full_size() -> None:
    """ADP, Section VI-A: one place a person at a time, 5,835 places, and the policies "was not at l" for all of them."""
    listed = tuple(range(5835))
    query = Histogram("place", listed)
    notion = ADP(1, [~where("place", equals=place) for place in listed])
    derived = sensitivity(notion, query)
    assert derived.line == Line(inf, 1)
    assert derived.sign == -1
    assert sensitivity_lines(notion, query) == (Line(inf, 1),) * 5835
    beyond = ADP(1, [~where("place", equals=place) for place in range(5900)])
    assert line(beyond, query) == (inf, 1)
    one_open = ADP(1, [~where("place", equals=place) for place in listed[:-1]])
    assert line(one_open, query) == (exact("1/2"), exact("1/2"))  # the last place may be entered from any other


def test_rates_that_are_not_commensurable_are_allowed_and_almost_maximal() -> None:
    query = CountWhere((has("a"), has("b")), Domain(facts_per_person=1))
    for presence, absence in ((log(2), exact(1)), (sqrt(2), log(3)), (exact("1/3"), sqrt(2))):
        rise, fall = line(Graded(presence, absence), query)
        assert rise + fall <= max(presence, absence)
        assert (rise + fall) * (1 + exact("1e-12")) > max(presence, absence)
        assert fall <= presence
        assert rise <= absence


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([(1, 1, 0)], ("1", "inf")),
        ([(1, 0, 2)], ("inf", "1/2")),
        ([(1, 2, 3)], ("1/4", "1/6")),
        ([(1, 1, 0), (4, 0, 1), (4, 1, 1)], ("4/5", "16/5")),
        ([(1, 1, 0), (4, 0, 1), (9, 1, 1)], ("1", "4")),
        ([], ("inf", "inf")),
    ],
)
def test_the_balanced_rates(moves: list[tuple[int, int, int]], expected: tuple[str, str]) -> None:
    made = allowed_rates((exact(c), Fraction(r), Fraction(f)) for c, r, f in moves)
    assert made == Line(*expected)
    assert all(made.rise * r + made.fall * f <= c for c, r, f in moves)


# ---- refusals


@pytest.mark.parametrize(
    ("notion", "query", "error", "reason"),
    [
        (Presence(1), CountWhere((where("x", equals=1),)), NotPrivateError, "not a set of facts"),
        (Presence(1), CountWhere((~has("a"),)), NotPrivateError, "without certain facts"),
        (BoundedDP(1), CountWhere((lambda r: True,)), InputError, "function"),
        (BoundedDP(1), CountWhere((has("a"), where("x", equals=1))), InputError, "one kind"),
        (BoundedDP(1), CountWhere(tuple(has(i) for i in range(11))), InputError, "more than 1024 kinds"),
        (OSDP(1, where("x", equals=1), "non-sensitive"), CountWhere((where("y", equals=1) & ~where("y", equals=1),)),
         NotPrivateError, "no step"),
        (ADP(1, [where("x", equals=1), ~where("x", equals=1)]), CountWhere((where("x", equals=1),)), NotPrivateError,
         "no step"),
        (RecordDistance(1, FiniteDistance("ab", [[0, 0], [1, 0]])), CountWhere((lambda r: r == "a",)), NotPrivateError,
         "distance 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(notion: Notion, query: Any, error: Any, reason: str) -> None:
    with pytest.raises(error, match=reason):
        sensitivity(notion, query)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Linear((has("a"),), ((1, 2),)),
        lambda: Linear((has("a"),), ((0.5,),)),  # type: ignore[arg-type]
        lambda: Linear((has("a"),), ()),
        lambda: SumOf("x", 2, 1),
        lambda: SumOf("x", 0, 1.5),  # type: ignore[arg-type]
        lambda: Histogram("x", ()),
        lambda: Histogram("x", (1, 1)),
    ],
)
def test_malformed_queries_are_refused(build: Any) -> None:
    with pytest.raises(InputError):
        build()


def test_functions_are_welcome_where_all_records_are_listed() -> None:
    records = ("s", "t", "n")
    query = CountWhere((lambda r: r == "s", lambda r: r in "st"), Domain(records=records))
    assert line(BoundedDP(1), query) == (exact("1/2"), exact("1/2"))
    bare = CountWhere(query.conditions)
    assert line(Blowfish(1, records, [("s", "t"), ("t", "n")]), bare) == (1, 1)
    assert line(ADP(1, [lambda r: r == "n"], records=records), bare) == (1, exact("1/2"))
    assert line(ADP(1, [lambda r: r == "n", lambda r: r != "s"], records=records), bare) == (inf, exact("1/2"))
    picky = ADP(1, [lambda r: r.startswith("n")], records=records)  # fails on None, and is never asked about nobody
    assert line(picky, bare) == (1, exact("1/2"))
    assert GROW not in ADP(1, [has("a")]).changes
    assert INSERT not in BoundedDP(1).changes
    assert DROP_FACT in GradedFacts(1, 1).changes


def test_arguments_the_wrong_way_round_are_told_the_order() -> None:
    query = CountWhere((has("a"),))
    for notion, asked in ((query, Presence("1")), (Presence("1"), sum)):
        with pytest.raises(InputError, match=r"sensitivity\(notion, query\)"):
            sensitivity(notion, asked)  # type: ignore[arg-type]


@pytest.mark.parametrize("block", range(3))
def test_rates_of_irrational_costs_are_allowed(block: int) -> None:
    """Costs without a closed quotient, of any size beside each other: once a StopIteration."""
    rng = random.Random(f"irrational {block}")
    costs = [
        exact(1),
        log(2),
        log(3) / 7,
        sqrt(2),
        log(7) * sqrt(5),
        exact("1e-300"),
        sqrt(2) * 10**40,
        log(2) * exact("1e-40"),
    ]
    for _ in range(150):
        moves = [
            (rng.choice(costs), Fraction(rng.choice([0, 1, 3, 10**25])), Fraction(rng.choice([0, 1, 7, 10**12])))
            for _ in range(rng.randint(1, 5))
        ]
        line = allowed_rates(moves)
        for cost, rise, fall in moves:
            spent = (line.rise * rise if rise else ZERO) + (line.fall * fall if fall else ZERO)
            assert spent <= cost
        both = [(cost, rise, fall) for cost, rise, fall in moves if rise and fall]
        if both:  # no more than a 2^-52 of it is given away
            more = exact(1 + Fraction(1, 2**50))
            raised = [line.rise * more * rise + line.fall * more * fall > cost for cost, rise, fall in both]
            alone = [
                (rate * more * move > cost)
                for cost, rise, fall in moves
                for rate, move in ((line.rise, rise), (line.fall, fall))
                if move
            ]
            assert any(raised) or any(alone)


def test_delta_p_is_the_l1_distance_of_one_step() -> None:
    """Definition V.1: 2 where a replacement moves a person between places, 1 along p-steps, k where k visits may go."""
    at_a, at_b = has("a"), has("b")
    once, any_number = CountWhere((at_a, at_b), Domain(facts_per_person=1)), CountWhere((at_a, at_b))
    assert sensitivity(BoundedDP("1"), once).total == 2
    assert sensitivity(UnboundedDP("1"), once).total == 1, "in or out, never both in one step"
    assert sensitivity(ADP("1", [~at_a, ~at_b]), once).total == 1
    assert sensitivity(ADP("1", [~at_a, ~at_b]), any_number).total == 2
