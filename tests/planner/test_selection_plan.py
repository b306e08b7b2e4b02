"""One name: its promise over all pairs of tables of a tiny universe, how good it is at worst, and what is compared."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import leeward as lw
from leeward.errors import InputError, LowUtilityError, NotPrivateError, SpecError
from leeward.exact import exact, inf
from leeward.mechanism import NoisyMax
from leeward.noise import DirectedGeometric, SeededBitsForTests
from leeward.notion import ABSENT, Graded, GradedFacts, GroupDP, Manhattan, Notion, ValueGrid, all_tables
from leeward.planner import NameComparison, Scenario, SelectionPlan, name_report
from leeward.planner._selection_odds import by_counts, by_name, gaps_of, within_by_counts
from leeward.planner._useless import refuse_useless
from leeward.query import Selection
from leeward.verification import verify

VISITS = lw.visits("visits.parquet", person="user", place="venue", time="at")
PLACES = lw.places("places.parquet", place="venue")
HOUR = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
PEOPLE = lw.records("people.parquet", person="each row")


def visitors(**how: Any) -> lw.query.CountVisitors:
    return lw.count_visitors(VISITS, PLACES, **HOUR, **how)


def groups(*listed: str) -> lw.query.Statistic:
    return lw.statistic(PEOPLE, "histogram", by={"ill": list(listed)})


# ---- the promise: every ordered pair of tables of two persons

SETS = [frozenset(s) for s in ("", "a", "b", "ab")]
ILL: list[Any] = ["flu", "cold", "none"]

OF_VISITS: dict[str, tuple[Notion, Any, bool]] = {  # a notion, the largest rate, whether somebody may be absent
    "addition-only": (lw.AdditionOnly("1"), "1", True),
    "removal-only": (lw.RemovalOnly("1"), "1", True),
    "dp": (lw.UnboundedDP("1"), "1", True),
    "bounded-dp": (lw.BoundedDP("1"), "1/2", False),
    "add-remove-replace-dp": (lw.ReplaceDP("1"), "1/2", True),
    "presence": (lw.Presence("1"), "1", False),
    "graded": (Graded("1", "4"), "1", True),
    "graded, dear presence": (Graded("1", "2"), "1", True),
    "graded facts": (GradedFacts("1", "2"), "1", True),
    "each their own": (lw.Personalised(lw.UnboundedDP("1"), ["1", "1/3"]), "1/3", True),
    "two as one group": (GroupDP("1", [[0, 1]]), "1/4", False),
}


def law(plan: SelectionPlan, rate: Any = None) -> Callable[[Any, Any], Any]:
    """The exact matrix of a plan on tables: its own mechanism, asked as the plan asks it."""
    made = plan.mechanism if rate is None else NoisyMax(rate)
    sign = 1 if plan.query.which == "busiest" else -1

    def matrix(tables: Any, answer: Callable[[Any], tuple[int, ...]]) -> Any:
        signed = lambda table: tuple(sign * c for c in answer(table))  # noqa: E731
        return made.on(sorted({signed(t) for t in tables})).pull_back(tables, signed)

    return matrix


def were_at(table: Any) -> tuple[int, ...]:
    return tuple(sum(r is not ABSENT and place in r for r in table) for place in "abc")


def were_at_two(table: Any) -> tuple[int, ...]:
    return were_at(table)[:2]


@pytest.mark.parametrize("which", ["busiest", "quietest"])
@pytest.mark.parametrize("name", OF_VISITS)
def test_a_name_of_a_place_is_private_and_its_rate_the_largest(name: str, which: Any) -> None:
    """A person may be at any of three places, of which two are visited: without any bound."""
    notion, rate, absent = OF_VISITS[name]
    plan = lw.plan(lw.select(visitors(), which), notion)
    assert plan.price == notion.epsilon
    tables = all_tables([*SETS, *([ABSENT] if absent else [])], 2)
    assert plan.mechanism.rate >= exact(rate)
    assert verify(law(plan)(tables, were_at), notion), "as planned"
    assert verify(law(plan)(tables, were_at_two), notion), "as planned, of two places"
    # under some notions two places and two persons are too few to attain the bound
    more = "2" if name in {"bounded-dp", "add-remove-replace-dp", "two as one group"} else "1.001"
    assert not verify(law(plan, plan.mechanism.rate * more)(tables, were_at_two), notion), "and it is the largest"


ILLS = [lw.where("ill", equals=each) for each in ("flu", "cold")]
OF_ROWS: dict[str, tuple[Notion, bool]] = {
    "addition-only": (lw.AdditionOnly("1"), True),
    "removal-only": (lw.RemovalOnly("1"), True),
    "dp": (lw.UnboundedDP("1"), True),
    "bounded-dp": (lw.BoundedDP("1"), False),
    "that a row is not ill may become known": (lw.ADP("1", [~each for each in ILLS]), False),
    "which illness it is not may become known": (lw.ADP("1", [~(ILLS[0] | ILLS[1])]), False),
}


@pytest.mark.parametrize("which", ["busiest", "quietest"])
@pytest.mark.parametrize("name", OF_ROWS)
def test_a_name_of_a_group_is_private_and_its_rate_the_largest(name: str, which: Any) -> None:
    notion, absent = OF_ROWS[name]
    plan = lw.plan(lw.select(groups("flu", "cold"), which), notion)
    rows = [_Row(ill) for ill in ILL]
    tables = all_tables([*rows, *([ABSENT] if absent else [])], 2)

    def counted(table: Any) -> tuple[int, ...]:
        return tuple(sum(r is not ABSENT and r["ill"] == ill for r in table) for ill in ("flu", "cold"))

    assert verify(law(plan)(tables, counted), notion)
    assert not verify(law(plan, plan.mechanism.rate * "1.001")(tables, counted), notion)


class _Row(dict[str, str]):
    """A row that may be a key."""

    def __init__(self, ill: str) -> None:
        super().__init__(ill=ill)

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self["ill"])


def test_the_general_rule_would_not_do_where_records_are_replaced() -> None:
    """Broken: the rate of steps that move all counts one way, where a person may go from one place to another."""
    plan = lw.plan(lw.select(visitors()), lw.BoundedDP("1"))
    assert not verify(law(plan, "1")(all_tables(SETS, 2), were_at), lw.BoundedDP("1"))


def test_places_of_one_person_do_not_make_a_name_dearer() -> None:
    for k, notion in itertools.product((None, 1, 5), (lw.AdditionOnly("1/3"), lw.BoundedDP("1/3"))):
        plan = lw.plan(lw.select(visitors(places_per_person=k)), notion)
        assert plan.mechanism.rate == lw.plan(lw.select(visitors()), notion).mechanism.rate


def test_where_no_pair_of_records_moves_two_counts_they_are_compared_at_the_whole_rate() -> None:
    """Found by an attack: a row of w may be one of x or of y, and y and z are one; none of these moves both counts."""
    named = lw.select(groups("x", "y"))
    apart = lw.ADP("1", [lw.where("ill", one_of=["x"]), lw.where("ill", one_of=["y", "z"])])
    both = lw.ADP("1", [lw.where("ill", one_of=["x", "y"])])  # a row of x may be one of y
    assert (lw.plan(named, apart).mechanism.rate, lw.plan(named, both).mechanism.rate) == (1, exact("1/2"))


def test_groups_alone_are_near_no_number() -> None:
    """Found by an attack: the reason was the closeness of 'None', a column that nobody had asked about."""
    for asked in (groups("x", "y"), lw.select(groups("x", "y"))):
        with pytest.raises(NotPrivateError, match="no number is asked about, and no two groups are nearer"):
            lw.plan(asked, Manhattan("1", ValueGrid(0, 10, 1)))


def test_truncated_visits_under_presence_name_the_way_out() -> None:
    with pytest.raises(
        NotPrivateError, match=r"Leave places_per_person and if_more out: naming a place needs no bound"
    ):
        lw.plan(lw.select(visitors(places_per_person=1, if_more="latest")), lw.Presence("1"))


# ---- how good a name is


def by_all_counts(rate: float, options: int, gap: int, top: int) -> float:
    """The largest chance that one more than ``gap`` below is named, over all rows of counts: every order, coin by coin."""
    worst = 0.0
    for counts in itertools.product(range(top + 1), repeat=options):
        bad = 0.0
        orders = list(itertools.permutations(counts))
        for order in orders:
            left = 1.0
            for count in order:
                heads = math.exp(-rate * (max(counts) - count))
                bad += left * heads / len(orders) * (max(counts) - count > gap)
                left *= 1 - heads
        worst = max(worst, bad)
    return worst


@pytest.mark.parametrize("rate", ["1/3", "1", "2"])
@pytest.mark.parametrize("options", [1, 2, 3, 4])
def test_the_bound_is_that_of_the_worst_counts(rate: str, options: int) -> None:
    for gap in range(3):
        worst = by_all_counts(float(Fraction(rate)), options, gap, 4)
        assert NoisyMax(rate).chance_below(options, gap) == pytest.approx(worst, rel=1e-12, abs=1e-15)


def test_the_bound_is_rounded_up_and_within_is_the_least() -> None:
    for rate, n, chance in itertools.product(("1/10", "1", "7"), (2, 500, 10**6), ("0.5", "0.95", "0.99")):
        made = NoisyMax(rate)
        k = made.within(n, chance)
        assert made.chance_below(n, k) <= 1 - float(chance)
        assert k == 0 or made.chance_below(n, k - 1) > 1 - float(chance) - 1e-15
        exactly = 1 - sum(  # 1 − (1 − (1 − q)ⁿ)/(nq), where the sum is short
            math.comb(n - 1, j) * (-math.exp(-float(Fraction(rate)) * (k + 1))) ** j / (j + 1) for j in range(min(n, 2))
        )
        assert made.chance_below(n, k) <= exactly * (1 + 1e-12), "below the linear bound (n − 1)·q/2"


def test_a_bound_of_another_gap_is_told_apart() -> None:
    """Broken: q = e^{−rate·k} in place of e^{−rate·(k + 1)} is not the chance of being more than k below."""
    assert NoisyMax("1").chance_below(3, 1) < by_all_counts(1.0, 3, 0, 4)


def simulated(
    noise: Callable[[Any, tuple[int, int]], Any], gaps: dict[int, int], draws: int = 60_000
) -> dict[int, float]:
    """How often each gap has the largest noisy count, ties broken by a coin, drawn by another library."""
    rng = np.random.default_rng(3)
    below = np.repeat(list(gaps), list(gaps.values()))
    noisy = -below + noise(rng, (draws, below.size)) + rng.random((draws, below.size))
    named = below[noisy.argmax(1)]
    return {gap: float((named == gap).mean()) for gap in gaps}


GAPS = {0: 2, 1: 3, 4: 40}
LAWS: dict[str, tuple[DirectedGeometric, Callable[[Any, Any], Any]]] = {
    "up": (DirectedGeometric("1", inf), lambda rng, size: rng.geometric(1 - math.exp(-1), size)),
    "down": (DirectedGeometric(inf, "1"), lambda rng, size: -rng.geometric(1 - math.exp(-1), size)),
    "both": (
        DirectedGeometric("1/2", "1"),
        lambda rng, size: rng.geometric(1 - math.exp(-0.5), size) - rng.geometric(1 - math.exp(-1), size),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_odds_of_noisy_counts_are_those_of_draws(name: str) -> None:
    """60,000 draws: each share within 5 standard deviations; false alarms under 10⁻⁵. Another law is found out."""
    made, noise = LAWS[name]
    drawn = simulated(noise, GAPS)

    def fits(chances: Any) -> bool:
        return all(abs(chances[g] - drawn[g]) < 5 * math.sqrt(max(drawn[g], 1e-4) / 60_000) for g in GAPS)

    assert fits(by_counts(made, GAPS))
    assert not fits(by_counts(DirectedGeometric("0.8", "2"), GAPS))
    assert sum(by_counts(made, GAPS).values()) == pytest.approx(1, abs=1e-9)  # type: ignore[union-attr]


def test_the_odds_of_a_name_are_those_of_the_matrix() -> None:
    counts = (5, 3, 3, 0)
    row = NoisyMax("1").on([counts]).row(counts)
    found = by_name(1.0, gaps_of({5: 1, 3: 2, 0: 1}, "busiest"))
    assert found == pytest.approx({0: float(row[0,]), 2: 2 * float(row[1,]), 5: float(row[3,])}, abs=1e-12)
    for many in (10, 10**4, 10**6):  # as the bound, in which one is the largest and all others lie as far below
        assert by_name(1.0, {0: 1, 3: many - 1})[3] == pytest.approx(NoisyMax("1").chance_below(many, 2), rel=1e-9)


def test_gaps_are_told_from_the_right_end() -> None:
    assert gaps_of({0: 4, 7: 2, 9: 0}, "busiest") == {7: 4, 0: 2}
    assert gaps_of({0: 4, 7: 2, 9: 0}, "quietest") == {0: 4, 7: 2}
    assert gaps_of({3: 4, 7: 2}, "quietest") == {0: 4, 4: 2}  # none of them is empty


@pytest.mark.parametrize("name", LAWS)
def test_the_bound_of_noisy_counts_is_that_of_the_worst_counts(name: str) -> None:
    """Over all gaps of three others, no counts name one further off more often than those that the bound is of."""
    made, _ = LAWS[name]
    for k in range(3):
        worst = 0.0
        for others in itertools.combinations_with_replacement(range(k + 4), 3):
            gaps = {g: [0, *others].count(g) for g in {0, *others}}
            found = by_counts(made, gaps)
            assert found is not None
            worst = max(worst, sum(p for g, p in found.items() if g > k))
        assert worst == pytest.approx(by_counts(made, {0: 1, k + 1: 3})[k + 1], abs=1e-9)  # type: ignore[index]
    least = within_by_counts(made, 4)
    assert least is not None
    assert by_counts(made, {0: 1, least + 1: 3})[0] >= 0.95  # type: ignore[index]
    assert least == 0 or by_counts(made, {0: 1, least: 3})[0] < 0.95  # type: ignore[index]


# ---- what a plan says and does


def test_a_plan_draws_a_position_and_publishes_its_row() -> None:
    keys = pa.table({"place": ["a", "b", "c"], "name": ["A", None, "C"], "latitude": [1.0, 2.0, 3.0]})
    counts, bits = np.array([0, 90, 300], np.int64), SeededBitsForTests(1)
    for which, place in (("busiest", {"place": "c", "name": "C"}), ("quietest", {"place": "a", "name": "A"})):
        plan = lw.plan(lw.select(visitors(), which), lw.Presence("1"))  # type: ignore[arg-type]
        drawn = plan.draw(counts, bits)  # but for a chance of 1e-39
        assert (drawn.shape, drawn.dtype) == ((1,), np.int64)
        assert plan.answers(drawn, keys).to_pylist() == [place]


def test_a_plan_says_how_good_the_name_will_be() -> None:
    plan = lw.plan(lw.select(visitors(), "quietest"), lw.BoundedDP("1"))
    text = str(plan)
    assert "the quietest place, named by noisy max of rate 1/2 under" in text
    assert f"at most {NoisyMax('1/2').within(1000):,} more people than the quietest of 1,000" in text
    known = plan.listing(500).accuracy()
    bounds = [NoisyMax("1/2").within(500, chance) for chance in ("0.5", "0.95", "0.99")]
    assert [known.within_50_percent, known.within_95_percent, known.within_99_percent] == bounds
    with pytest.raises(InputError, match="of unknown length"):
        plan.accuracy()
    assert lw.plan(lw.select(groups("flu", "cold", "none")), lw.UnboundedDP("1")).accuracy().options == 3


def test_what_is_refused() -> None:
    mean = lw.statistic(PEOPLE, "mean", column="age", lower=0, upper=9)
    for refused, make in (
        (SpecError, lambda: lw.select(visitors(), "largest")),  # type: ignore[arg-type]
        (SpecError, lambda: lw.select(mean)),
        (SpecError, lambda: Selection(mean)),
        (InputError, lambda: lw.select("visits")),  # type: ignore[arg-type]
        (InputError, lambda: lw.plan(lw.select(visitors()), lw.Presence("1"), lw.Decide(safe_at_most=2))),  # type: ignore[call-overload]
        (InputError, lambda: lw.compare(lw.select(visitors()), lw.Presence("1"), lw.Decide(safe_at_most=2))),  # type: ignore[call-overload]
        (NotPrivateError, lambda: lw.plan(lw.select(groups("flu")), lw.Presence("1"))),
        (LowUtilityError, lambda: refuse_useless(lw.plan(lw.select(groups("flu")), lw.UnboundedDP("1")), 1)),
    ):
        with pytest.raises(refused):
            make()


# ---- side by side


def compared(k: int | None, notion: Notion, which: Any = "busiest", **how: Any) -> NameComparison:
    asked = lw.select(visitors(places_per_person=k, **({} if k is None else {"if_more": "latest"})), which)
    return lw.compare(asked, notion, scenario=Scenario(places=500, **how))


def test_naming_wins_where_a_person_is_at_several_places() -> None:
    made = compared(3, lw.AdditionOnly("1"))
    name, counts = made.find("addition-only"), made.find("addition-only", "noisy counts")
    assert (name.price, counts.price, name.rate, counts.rate) == (1, 1, 1, exact("1/3"))
    assert (name.within, counts.within) == (NoisyMax("1").within(500), 25)
    assert "Name it" in made.advice
    assert "within 25 in place of 8" in made.advice


def test_counts_win_where_they_name_as_well() -> None:
    made = compared(1, lw.AdditionOnly("1"))
    assert made.find("addition-only").within == made.find("addition-only", "noisy counts").within
    assert "Publish the counts" in made.advice
    downwards = compared(1, lw.RemovalOnly("1"))  # noise that only lowers leaves the largest standing out
    assert downwards.find("removal-only", "noisy counts").within == 2
    assert compared(1, lw.AdditionOnly("1"), "quietest").find("addition-only", "noisy counts").within == 2
    assert compared(1, lw.RemovalOnly("1"), "quietest").find("removal-only", "noisy counts").within == 8


def test_no_bound_is_needed_for_a_name_alone() -> None:
    made = compared(None, lw.Presence("1"))
    assert made.find("presence", "noisy counts").refused
    assert made.advice == "Name it: noisy counts of every place are refused"
    assert made.find("bounded-dp").rate == exact("1/2")
    assert made.find("dp").in_budget == 2
    assert made.find("addition-only").in_budget is None


def test_given_counts_tell_how_often_it_is_right() -> None:
    counts = {0: 400, 20: 90, 60: 9, 65: 1}
    made = compared(3, lw.AdditionOnly("1"), counts=counts)
    row = made.find("addition-only").expected
    assert row is not None
    # 1 − Pr[one of the nine at a gap of 5], all others being e^-45 and less away
    assert row.right == pytest.approx(1 - NoisyMax("1").chance_below(10, 4), abs=1e-9)
    assert row.mean_gap == pytest.approx(5 * NoisyMax("1").chance_below(10, 4), abs=1e-9)
    assert row.within_95_percent == 0
    worse = made.find("addition-only", "noisy counts").expected
    assert worse is not None
    assert worse.right < 0.5 < row.right


def test_a_report_holds_what_was_compared() -> None:
    made = compared(3, lw.AdditionOnly("1"), counts={0: 499, 9: 1}, left=Fraction(5, 2), releases=2)
    report = name_report(made)
    assert (report.asked.which, report.asked.options, report.asked.budget.left) == ("busiest", 500, "5/2")
    assert len(report.options) == len(made.options)
    assert {part.refused is None for part in report.shown} == {True}
    for part, option in zip(report.options, made.options, strict=True):
        assert (part.price, part.within_95_percent, part.expected) == (
            str(option.price),
            option.within,
            option.expected,
        )
    assert report.options[0].releases_left == 2
    assert report.refused_as_written is None


def test_a_histogram_of_groups_is_compared_too() -> None:
    made = lw.compare(lw.select(groups("flu", "cold", "none")), lw.UnboundedDP("1"))
    assert made.scenario.places == 3
    assert made.find("dp").within == NoisyMax("1").within(3)
    assert made.find("bounded-dp", "noisy counts").rate == exact("1/2")
    with pytest.raises(InputError, match="was not compared"):
        made.find("presence")
    assert "NameOption" not in str(made)
