"""The comparison before anything is spent: its numbers, its prices, and what it recommends."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward.errors import InputError, RefusedError
from leeward.exact import Weight, exact
from leeward.mechanism import Sanitized, sanitizer
from leeward.noise import SeededBitsForTests
from leeward.planner import Comparison, Option, Scenario, compare, plan, plan_report, recommend
from leeward.planner._expected import expected_answers_stopping, read_counts
from leeward.planner._option import best_possible
from leeward.planner._recommend import right_words
from leeward.query import CountVisitors
from leeward.session._question import question

STOPPING = ("sanitized", "adaptive")
COUNTS = {0: 300, 1: 80, 2: 40, 3: 20, 5: 10}


def query(bound: int | None = 1, if_more: Any = "refuse") -> CountVisitors:
    visits = lw.visits("visits.parquet", person="user", place="venue", time="at")
    places = lw.places("places.parquet", place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=bound, if_more=if_more)


TEN: list[tuple[CountVisitors, lw.Notion, dict[str, Any]]] = [
    (query(), lw.Presence("1"), {"safe_at_most": 2}),
    (query(), lw.AdditionOnly("1/2"), {"safe_at_most": 1}),
    (query(3, "latest"), lw.AdditionOnly("2"), {"safe_at_most": 2}),
    (query(), lw.RemovalOnly("2"), {"safe_at_most": 2, "error_at_most": "0.05"}),
    (query(2), lw.UnboundedDP("3"), {"safe_at_most": 2, "error_at_most": "0.01"}),
    (query(), lw.notion.Graded(presence="1", absence="4"), {"safe_at_most": 2, "error_at_most": "0.01"}),
    (query(), lw.Presence("1"), {"safe_at_most": 1, "dangerous_at_least": 3, "error_at_most": "0.1"}),
    (query(), lw.RemovalOnly("1"), {"dangerous_at_least": 2}),
    (query(None), lw.Presence("1"), {"safe_at_most": 2, "stop_after": 3}),
    (query(None), lw.AdditionOnly("2"), {"safe_at_most": 3, "stop_after": 1}),
    (query(None), lw.Presence("1"), {"safe_at_most": 1, "stop_after": 4, "mechanism": "adaptive"}),
]
"""Questions of every kind: one-sided both ways, two-sided, graded, several places, both decisions, with a stop."""


def simulated(made: lw.planner.Plan, runs: int, seed: int) -> np.ndarray:
    """Right safe words, wrong ones, dangerous right, wrong, answered, mean |error| and bias of each run."""
    bits, order = SeededBitsForTests(seed), np.random.default_rng(seed)
    truth = np.repeat(list(COUNTS), list(COUNTS.values()))
    t = made.safe_at_most if made.safe_at_most is not None else -1
    least = made.dangerous_at_least if made.dangerous_at_least is not None else 10**9
    rows = []
    for _ in range(runs):
        counts = order.permutation(truth).astype(np.int64)
        drawn = made.draw(counts, bits)
        if made.mechanism.stop_after is not None:
            safe, dangerous, answered, off = drawn == -1, np.zeros(len(counts), bool), drawn != -2, np.zeros(1)
        else:
            said = made.decisions.states(drawn)
            safe, dangerous, answered, off = said == "safe", said == "dangerous", np.ones(1), drawn - counts
        rows.append(
            [
                *((safe & (counts <= t)).sum(), (safe & (counts > t)).sum()),
                *((dangerous & (counts >= least)).sum(), (dangerous & (counts < least)).sum()),
                *(answered.sum() if answered.size > 1 else len(counts), np.abs(off).mean(), off.mean()),
            ]
        )
    return np.array(rows, dtype=float)


def foretold(option: Option) -> list[float]:
    expected, off = option.expected, option.errors
    assert expected is not None
    assert off is not None
    errors = [0.0, 0.0] if option.mechanism in STOPPING else [off.mean, off.bias]
    words = [expected.safe, expected.wrongly_safe, expected.dangerous, expected.wrongly_dangerous, expected.answered]
    return words + errors


def far(rows: np.ndarray, expected: list[float]) -> bool:
    """Whether a mean is off by more than 5.5 standard errors: 4e-8 for each of 7 numbers, so below 3e-6 for ten specs."""
    wide = 5.5 * rows.std(axis=0, ddof=1) / math.sqrt(len(rows)) + 1e-9
    rare = 5.5 * np.sqrt(np.array(expected).clip(0) / len(rows)) + 6 / len(rows)  # for what hardly ever happens
    return bool(
        (np.abs(rows.mean(axis=0) - expected) > np.maximum(wide, np.where(rows.std(axis=0) == 0, rare, 0))).any()
    )


@pytest.mark.statistical
@pytest.mark.parametrize("number", range(len(TEN)))
def test_what_is_foretold_is_what_happens(number: int) -> None:
    """False alarm below 3e-6 in all; ε off by a factor of 1.5 (or of 2, with a stop) is noticed in every spec."""
    asked_query, notion, asked = TEN[number]
    made = decide_by(plan, asked_query, notion, **asked)
    rows = simulated(made, 300, seed=100 + number)
    own = decide_by(compare, asked_query, notion, **asked, scenario=Scenario(counts=COUNTS)).options[0]
    assert own.plan is not None
    assert question(own.plan, "") == question(made, "")
    assert not far(rows, foretold(own))
    another = "1/2" if made.mechanism.name in STOPPING else "3/2"  # how far one gets varies much from run to run
    wrong = decide_by(compare, asked_query, notion.scale(another), **asked, scenario=Scenario(counts=COUNTS)).options[0]
    assert far(rows, foretold(wrong))


@pytest.mark.statistical
def test_error_quantiles_and_spread_are_met() -> None:
    """Each comparison is off by chance with probability below 1e-6."""
    own = compare(
        query(2), lw.UnboundedDP("1"), lw.Decide(safe_at_most=2, error_at_most="0.1"), scenario=Scenario(counts=COUNTS)
    ).options[0]
    assert own.plan is not None
    assert own.errors is not None
    assert own.expected is not None
    assert own.expected.spread is not None
    off = np.abs(own.plan.draw(np.zeros(100_000, np.int64), SeededBitsForTests(3)))
    for chance, quantile in ((0.5, own.errors.median), (0.95, own.errors.most)):
        assert (off <= quantile).mean() > chance - 0.008
        assert (off <= quantile - 1).mean() < chance
    safe = simulated(own.plan, 400, seed=4)[:, :2].sum(axis=1)
    assert 0.8 < safe.std() / own.expected.spread < 1.2  # 5 standard errors of a deviation from 400 runs


@pytest.mark.parametrize("number", range(len(TEN)))
def test_every_row_is_a_plan_that_release_would_carry_out(number: int) -> None:
    asked_query, notion, asked = TEN[number]
    compared = decide_by(compare, asked_query, notion, **asked)
    assert compared.as_written is compared.options[0].plan
    for option in compared.options:
        if option.plan is None:
            continue
        decided = {"safe_at_most": asked.get("safe_at_most"), "dangerous_at_least": asked.get("dangerous_at_least")}
        again = decide_by(
            plan,
            asked_query,
            option.notion,
            **decided,
            error_at_most=option.error_at_most,
            mechanism="geometric" if option.mechanism == "everyone" else option.plan.mechanism.name,
            stop_after=option.plan.mechanism.stop_after,
            about=option.plan.about,
        )
        assert question(again, "") == question(option.plan, "")
        assert again.decision_curve() == option.plan.decision_curve()
        assert (option.price, option.law) == (again.price, again.mechanism.law)


def test_prices_in_the_budget_and_what_it_cannot_cover() -> None:
    expected = {
        "presence/person": {"presence": 1, "addition-only": None, "dp": 2, "bounded-dp": None, "removal-only": None},
        "addition-only/person": {"presence": 1, "addition-only": 1, "dp": 1, "bounded-dp": None},
        "dp/person": {"presence": None, "addition-only": None, "dp": 1, "add-remove-replace-dp": 1},
    }
    for counted_in, prices in expected.items():
        compared = compare(
            query(), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(counted_in=counted_in)
        )
        for name, price in prices.items():
            option = compared.find(name)
            assert option.in_budget == price, (counted_in, name)
            assert bool(option.incomparable) == (price is None)


def test_the_best_possible_decision_is_met_where_theory_says_so() -> None:
    compared = compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2, error_at_most=None))
    one_sided, dp = compared.find("presence"), compared.find("dp")
    for count in range(5):
        best, mine = best_possible(one_sided, query())(count)[0], one_sided.probability_safe(count)
        assert best == mine  # one place a person: nothing does better
        above, below = best_possible(dp, query())(count)[0], dp.probability_safe(count)
        assert isinstance(above, Weight)
        assert isinstance(below, Weight)
        assert below < above  # integer thresholds leave some of α unused
    two = compare(query(2), lw.Presence("1"), lw.Decide(safe_at_most=2)).find("presence")
    assert (two.probability_safe(0) or 0) < (best_possible(two, query(2))(0)[0] or 0)
    danger = compare(query(), lw.RemovalOnly("1"), lw.Decide(dangerous_at_least=3)).find("removal-only")
    assert all(best_possible(danger, query())(c)[1] == danger.probability_dangerous(c) for c in range(7))


def chance_at(option: Option, notion: lw.Notion, count: int) -> Weight:
    assert option.plan is not None
    made = plan(
        option.plan.query, notion, lw.Decide(safe_at_most=2, error_at_most=option.error_at_most, useful_from="0")
    )
    assert made.sanitizer is not None
    return made.sanitizer.probability(count)


@pytest.mark.parametrize("name", ["presence", "addition-only", "removal-only", "dp", "bounded-dp", "graded"])
def test_the_epsilon_for_a_wish_is_a_knife_edge(name: str) -> None:
    option = compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2)).find(name)
    needed = option.epsilon_for(1, "0.9")
    assert needed is not None
    assert chance_at(option, needed, 1) >= Fraction(9, 10)
    assert chance_at(option, needed.with_epsilon(needed.epsilon - Fraction(1, 1000)), 1) < Fraction(9, 10)


def test_the_threshold_for_a_wish_is_a_knife_edge() -> None:
    for option in compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2)).possible:
        t = option.safe_at_most_for(1, "0.9")
        if option.plan is None or option.mechanism in STOPPING:
            continue
        assert t is not None
        alpha = option.error_at_most
        chances = [
            plan(
                query(), option.notion, lw.Decide(safe_at_most=s, error_at_most=alpha, useful_from="0")
            ).decision_curve()[1][0]
            for s in (t - 1, t)
        ]
        assert chances[0] is not None
        assert chances[1] is not None
        assert chances[0] < Fraction(9, 10) <= chances[1]


def name_of(compared: Comparison) -> tuple[str, str] | None:
    option = recommend(compared).option
    return None if option is None else (option.notion.name, option.mechanism)


def test_the_protected_side_is_kept() -> None:
    dp = compare(query(), lw.UnboundedDP("1"), lw.Decide(safe_at_most=2, error_at_most="0.01"))
    assert name_of(dp) == ("dp", "geometric")
    lacks = {o.notion.name: what for o, what in recommend(dp).gives_up}
    assert "does not protect all that dp protects" in lacks["presence"]
    assert "it costs 4 times as much, in dp" in next(
        w for o, w in recommend(dp).gives_up if str(o.notion).endswith('absence="4")')
    )
    assert name_of(compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2))) == ("presence", "geometric")


def test_what_the_budget_cannot_pay_is_not_recommended() -> None:
    def compared(asked: CountVisitors, notion: lw.Notion, left: Fraction | None = None) -> Comparison:
        return compare(
            asked, notion, lw.Decide(safe_at_most=2), scenario=Scenario(counted_in="presence/person", left=left)
        )

    assert name_of(compared(query(1, "latest"), lw.AdditionOnly("1"))) is None
    assert name_of(compared(query(), lw.AdditionOnly("1"))) == ("presence", "geometric")
    assert name_of(compared(query(), lw.Presence("1"), Fraction(1))) == ("presence", "geometric")
    advice = recommend(compared(query(), lw.Presence("1"), Fraction(999, 1000)))
    assert advice.option is None
    assert "Only 999/1000 is left of the budget" in advice.reason
    assert any("does not pay for it" in what for _, what in advice.gives_up)


def test_of_equal_rows_the_one_that_protects_more() -> None:
    advice = recommend(compare(query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)))
    assert advice.option is not None
    assert advice.option.notion.name == "presence"
    assert "protects more" in advice.reason
    truncated = recommend(compare(query(1, "latest"), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)))
    assert truncated.option is not None
    assert truncated.option.notion.name == "addition-only"  # presence is refused there
    assert any("cut to the bound" in said for said in truncated.cautions)


def test_nothing_that_can_be_wrong_replaces_what_never_is() -> None:
    """With a large α dp would say more at the same price, and be wrong: it is told, and not recommended."""
    compared = compare(query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), scenario=Scenario(assumed_error="0.3"))
    dp, advice = compared.find("dp"), recommend(compared)
    assert advice.option is not None
    assert dp.in_asked == 1
    assert right_words(dp, compared.asked) > right_words(advice.option, compared.asked)
    assert advice.option.never_wrong
    assert next(what for option, what in advice.gives_up if option is dp) == "'safe' can be wrong"


def test_sanitized_or_geometric_depends_on_how_far_one_gets() -> None:
    many = compare(query(5), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=5))
    assert name_of(many) == ("presence", "sanitized")
    assert name_of(compare(query(6), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=500))) == (
        "presence",
        "geometric",
    )
    crowded = compare(
        query(5), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=5, counts={0: 1, 9: 4})
    )
    assert name_of(crowded) == ("presence", "geometric")  # it would stop at once
    unbounded = compare(query(None), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=300))
    assert name_of(unbounded) == ("presence", "sanitized")
    useless = compare(
        query(None), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=500)
    )  # it reaches 20 of them
    assert "of 500 places before it stops" in useless.refusal
    assert name_of(useless) is None


def test_the_subsampled_count_is_never_recommended_for_a_count_and_says_why() -> None:
    for bound, said in ((1, "Never recommended"), (3, "the smaller one for counts below")):
        compared = compare(query(bound), lw.UnboundedDP("1"), lw.Decide(safe_at_most=2, error_at_most="0.1"))
        option = compared.find("dp", "subsampled count")
        assert said in option.note
        assert not option.releasable
        assert name_of(compared) == ("dp", "geometric")


@pytest.mark.parametrize("epsilon", ["1", "2", "1/3"])
@pytest.mark.parametrize("stops", [1, 3])
def test_what_a_row_costs_in_the_notion_asked_for_is_all_that_it_may_cost(epsilon: str, stops: int) -> None:
    """A release that may stop so often costs so many ε of its own notion."""
    asks: dict[str, Any] = {"safe_at_most": 2, "stop_after": stops}
    compared = decide_by(compare, query(None), lw.Presence(epsilon), **asks, scenario=Scenario(places=40))
    row = compared.find("presence", "sanitized")
    assert row.price == stops * exact(epsilon)
    assert row.in_asked == stops


def test_norm_noise_is_compared_where_places_are_few() -> None:
    """The figures of DESIGN, section 2: three places, a person may be at all of them, ε = 1/2."""
    compared = compare(query(3), lw.Presence("1/2"), lw.Decide(safe_at_most=2), scenario=Scenario(places=3))
    norm, usual = compared.find("presence", "norm"), compared.find("presence")
    assert (norm.errors and round(norm.errors.mean, 2), usual.errors and round(usual.errors.mean, 2)) == (3.5, 5.51)
    safe = [round(float(option.probability_safe(0) or 0), 3) for option in (norm, usual)]
    assert safe == [0.472, 0.393]
    assert not norm.releasable
    with pytest.raises(InputError):
        # one place a person
        compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(places=3)).find(
            "presence", "norm"
        )


def test_a_refused_spec_is_refused_in_words_and_its_neighbours_are_shown() -> None:
    compared = compare(query(), lw.UnboundedDP("1"), lw.Decide(safe_at_most=2))
    assert compared.as_written is None
    assert "error_at_most" in compared.refusal
    assert compared.find("dp").error_at_most == Fraction(Scenario().assumed_error)
    with pytest.raises(RefusedError):
        plan(query(), lw.UnboundedDP("1"), lw.Decide(safe_at_most=2))
    with pytest.raises(InputError):
        compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2), scenario=Scenario(releases=0))


def test_is_plain_dp_enough() -> None:
    small = recommend(compare(query(), lw.Presence("1"), lw.Decide(safe_at_most=2)))
    assert small.plain_dp_is_enough is False
    assert "ε = 2.27" in small.plain_dp
    large = recommend(compare(query(), lw.Presence("2.27"), lw.Decide(safe_at_most=2)))
    assert large.plain_dp_is_enough is True
    assert recommend(compare(query(), lw.Presence("2.269"), lw.Decide(safe_at_most=2))).plain_dp_is_enough is False
    assert recommend(compare(query(None), lw.Presence("1"), lw.Decide(safe_at_most=2))).plain_dp_is_enough is None


def test_one_sided_releases_add_up_and_two_sided_ones_gain() -> None:
    compared = compare(query(), lw.Presence("1/10"), lw.Decide(safe_at_most=20), scenario=Scenario(releases=100))
    one = compared.find("presence").composed(100, "1e-6")
    assert one["withdraw"] == pytest.approx(10 + math.log1p(-1e-6), abs=1e-9)
    both = compared.find("dp").composed(100, "1e-6")
    assert both["withdraw"] == pytest.approx(4.77, abs=0.005)
    assert both["insert"] == pytest.approx(both["withdraw"], abs=1e-6)
    told = plan_report(compared).shown[0].composed
    assert told is not None
    assert told.price == told.price_in_budget == "10"


def test_removal_only_is_cautioned_against() -> None:
    said = recommend(
        compare(
            query(), lw.RemovalOnly("1"), lw.Decide(dangerous_at_least=3), scenario=Scenario(releases=5), what="counts"
        )
    ).cautions
    assert any("99.3%" in line for line in said)
    assert any("hardly a promise" in line for line in said)
    assert any("drawn at random, in the clear" in line for line in said)


def test_counts_are_read_from_text_and_files(tmp_path: Any) -> None:
    assert read_counts("0:4101, 1:214") == {0: 4101, 1: 214}
    file = tmp_path / "counts.csv"
    file.write_text("count,places\n0,10\n3,2\n")
    assert read_counts(str(file)) == {0: 10, 3: 2}
    for bad in ("0=1", "0:1,0:2", "-1:3", "0:0", "", "1:2:3"):
        with pytest.raises(InputError):
            read_counts(bad)


def test_a_printed_comparison_has_a_line_for_each_row_and_a_printed_recommendation_the_reason() -> None:
    compared = compare(query(2), lw.Presence("1"), lw.Decide(safe_at_most=2))
    lines = str(compared).splitlines()
    assert len(lines) == len(compared.options)
    first = 'Presence("1"), geometric: price 1, a place with nobody called safe: 77.7%, never wrong'
    assert first in lines
    assert any(line.startswith('BoundedDP("1"), ') and line.endswith(", wrong at most 0.001") for line in lines)
    refused = compare(query(1, "latest"), lw.Presence("1"), lw.Decide(safe_at_most=2))
    assert any(line.startswith('Presence("1"), geometric: refused: ') for line in str(refused).splitlines())
    chosen = recommend(compared)
    assert str(chosen).splitlines()[:2] == [str(chosen.option), chosen.reason]
    assert str(chosen).splitlines()[-1] == chosen.plain_dp


@pytest.mark.parametrize(
    "counts",
    [
        {"Alice": 3},
        {3: "Alice"},
        {1.5: 3},
        {"7391": 1},
        {True: 2},
        {-7391: 1},
        {1: -7391},
        {(7391,): 1},
        "Alice 7391",
        [7391],
    ],
)
def test_no_part_of_counts_is_shown(counts: Any) -> None:
    with pytest.raises(InputError, match=r"^counts ") as refused:
        Scenario(counts=counts)
    assert not re.search("Alice|7391|1.5|True", str(refused.value))


@pytest.mark.parametrize(("count", "probability"), [(3, "0.9"), (0, "1"), (2, 1)])
@pytest.mark.parametrize("notion", [lw.AdditionOnly("1"), lw.UnboundedDP("1")])
def test_a_wish_that_no_epsilon_grants_is_told_so(notion: lw.Notion, count: int, probability: Any) -> None:
    """Found: a wish of certainty, or for a count above t, ended in an error about an argument that nobody gave."""
    found = compare(
        query(), notion, lw.Decide(safe_at_most=2, error_at_most="0.01" if isinstance(notion, lw.UnboundedDP) else None)
    )
    made = recommend(found, count=count, probability=probability)
    assert made.plain_dp.startswith("No, even")
    assert "no ε would be enough" in made.plain_dp
    plan_report(found, count=count, probability=probability)


@pytest.mark.parametrize("stops", [1, 7, 900, 10**6])
def test_what_is_expected_of_thousands_of_places_is_that_of_their_coins(stops: int) -> None:
    """Coin by coin: s of n places exceed, and the c-th of them is met at place c·(n + 1)/(s + 1) of a random order."""
    mechanism, counts = Sanitized(lw.Line(lw.inf, "1/2"), at_most=2, stop_after=stops), {0: 2500, 1: 900, 3: 700, 9: 2}
    law = np.ones(1)
    for count, places in counts.items():
        exceeds = min(math.exp(-(3 - count) / 2), 1.0)
        for _ in range(places):
            law = np.convolve(law, [1 - exceeds, exceeds])
    n = sum(counts.values())
    answered = sum(p * (stops * (n + 1) / (s + 1) if s >= stops else n) for s, p in enumerate(law))
    safe = answered - sum(p * min(s, stops) for s, p in enumerate(law))
    found = expected_answers_stopping(mechanism, counts)
    assert (found.answered, found.safe) == (pytest.approx(answered, rel=1e-9), pytest.approx(safe, rel=1e-9))


def test_counts_of_more_places_than_there_are_are_refused() -> None:
    """Found: in Python they ended in a MemoryError."""
    with pytest.raises(InputError, match="over 10,000,000 places"):
        compare(query(), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), scenario=Scenario(counts={0: 10**15}))


@pytest.mark.parametrize(
    ("epsilon", "t", "counts"),
    [
        ("1", 2, {0: 950, 1: 40, 2: 10}),
        ("1/2", 4, {0: 500}),
        ("2", 0, {0: 900, 1: 90, 2: 10}),
        ("1", 2, {0: 10, 5: 990}),
        ("1/3", 3, {0: 40, 2: 30, 3: 20, 4: 10, 9: 5}),
        ("1", 2, None),
    ],
)
def test_the_errors_of_sanitized_counts_are_those_of_counts_that_are_published(
    epsilon: str, t: int, counts: dict[int, int] | None
) -> None:
    """Found: they were those of noise alone, and 11 % of the published counts were within the error told for 95 %.

    By the law of each place, summed over all noisy counts above the threshold; noise of every size up to e^{-60}. Each
    weighs as it is reached: places arrive at times that are uniform between 0 and 1, and one is reached at u if none was
    published before, which of n others that are published with chance p each has the chance (1 - p·u)^n.
    """
    options = compare(
        query(None), lw.AdditionOnly(epsilon), lw.Decide(safe_at_most=t), scenario=Scenario(counts=counts)
    ).options
    found = next(o for o in options if o.mechanism == "sanitized" and isinstance(o.notion, lw.AdditionOnly)).errors
    rate, off = float(Fraction(epsilon)), dict[int, float]()
    known = counts or {0: 1}
    published = {c: math.exp(-rate * max(t + 1 - c, 0)) for c in known}
    at = (np.arange(200_000) + 0.5) / 200_000
    nobody = np.prod([(1 - p * at) ** known[c] for c, p in published.items()], axis=0)
    for c, places in known.items():
        reached = float((nobody / np.maximum(1 - published[c] * at, 1e-300)).mean())
        for noise in range(int(60 / rate)):
            if c + noise > t:
                off[noise] = off.get(noise, 0.0) + reached * places * math.exp(-rate * noise)
    total = sum(off.values())
    within = {a: sum(p for error, p in off.items() if error <= a) / total for a in sorted(off)}
    assert found is not None
    assert found.mean == found.bias == pytest.approx(sum(error * p for error, p in off.items()) / total, rel=1e-6)
    assert found.median == min(a for a, share in within.items() if share >= 0.5)
    assert found.most == min(a for a, share in within.items() if share >= 0.95)


ASKED = [lw.AdditionOnly("1/2"), lw.RemovalOnly("1"), lw.UnboundedDP("2"), lw.notion.Graded("1", "4")]


@pytest.mark.parametrize("notion", ASKED[:2])
def test_the_least_t_is_found(notion: lw.Notion) -> None:
    found_by_trying_every_one(notion, "0.9")


@pytest.mark.sweep
@pytest.mark.parametrize("probability", ["1/100", "1/2", "0.9", "0.999999", "1"])
@pytest.mark.parametrize("notion", ASKED)
def test_the_least_t_is_found_for_every_wish(notion: lw.Notion, probability: str) -> None:
    found_by_trying_every_one(notion, probability)


def found_by_trying_every_one(notion: lw.Notion, probability: str) -> None:
    error = None if isinstance(notion, lw.AdditionOnly) else "0.01"
    for option in compare(
        query(2), notion, lw.Decide(safe_at_most=2, error_at_most=error), scenario=Scenario(places=2)
    ).options:
        if option.law is None or option.decisions is None:
            continue
        for count in (0, 3):
            rules = ((t, sanitizer(option.law, t, option.error_at_most)) for t in range(count, 160))
            expected = next((t for t, rule in rules if rule.probability(count) >= Fraction(probability)), None)
            assert option.safe_at_most_for(count, probability) == expected, str(option)
