"""A percentile by rank: which mechanism is taken and why, what it draws, how near it says it will be, what is refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.oracle import ranks
from tests.statistical.gof import rejects

import leeward as lw
from leeward.engine._groups import GroupList
from leeward.errors import InputError, LowUtilityError, NotPrivateError
from leeward.exact import exact
from leeward.mechanism import RankSelection
from leeward.noise import SeededBitsForTests
from leeward.notion import GroupDP, Maximum, Notion
from leeward.planner import NumberPlan, RankPlan
from leeward.planner._number_plan import in_order
from leeward.planner._rank_plan import plan_rank
from leeward.planner._same_price import joint_or_each, one_each
from leeward.planner._statistic_plan import ASSUMED, plan_statistic
from leeward.planner._useless import refuse_useless
from leeward.query import Statistic

ROWS = lw.records("t.parquet", person="each row")
PEOPLE = lw.records("t.parquet", person="user")


def asked(kind: Any = "median", table: Any = ROWS, **more: Any) -> Statistic:
    return statistic_by(table, kind, **{"column": "age", "lower": 0, "upper": 100, **more})


GROUPS: dict[str, Any] = {"by": "sex", "groups": ["f", "m"]}

# ---- rates


@pytest.mark.parametrize(
    ("notion", "query", "rate"),
    [
        (lw.UnboundedDP("1"), asked(), "1"),
        (lw.AdditionOnly("1/3"), asked(**GROUPS), "1/3"),
        (lw.RemovalOnly("1"), asked("percentile", p="90"), "5/9"),
        (lw.UnboundedDP("1"), asked("min"), "1/2"),
        (lw.UnboundedDP("1"), asked("percentile", p=["25", "50", "75"]), "2/7"),
        (lw.BoundedDP("1"), asked("percentile", p=["25", "50", "75"]), "1/6"),
        (lw.BoundedDP("1"), asked("percentile", p=["25", "50", "75"], **GROUPS), "1/7"),
        (lw.Personalised(lw.UnboundedDP("1"), ["1", "1/3"]), asked("percentile", p=["25", "75"]), "2/15"),
        (lw.Manhattan("1", lw.ValueGrid(0, 100)), asked("percentile", p=["25", "75"]), "1/4"),
        (lw.UnboundedDP("1"), asked("max"), "1/2"),
        (lw.BoundedDP("1"), asked(), "1/2"),
        (lw.BoundedDP("1"), asked(people=50), "1/2"),
        (lw.BoundedDP("1"), asked("max"), "1/2"),
        (lw.BoundedDP("1"), asked(**GROUPS), "1/2"),
        (lw.BoundedDP("1"), asked("percentile", p="90", **GROUPS), "5/18"),
        (lw.BoundedDP("1"), asked("max", **GROUPS), "1/4"),
        (lw.ReplaceDP("1"), asked("max", by="sex", groups=["f"]), "1/2"),
        (lw.both_hold(lw.AdditionOnly("1"), lw.RemovalOnly("2")), asked(), "1"),
        (lw.Personalised(lw.UnboundedDP("1"), ["1", "1/3"]), asked(), "1/3"),
        (lw.Manhattan("1", lw.ValueGrid(0, 100)), asked(), "1/2"),
        (lw.UnboundedDP("1"), asked(table=lw.records("t.parquet", person="user", combine="sum")), "1"),
    ],
    ids=str,
)
def test_the_rate_follows_from_the_steps(notion: Notion, query: Statistic, rate: str) -> None:
    plan = plan_rank(query, notion)
    assert plan.mechanism.rate == exact(rate)
    assert plan.price == notion.epsilon
    assert plan.mechanism.p == query.numeric.p  # type: ignore[union-attr]


def test_neither_range_nor_grid_nor_several_rows_make_it_dearer() -> None:
    for more in (
        {"upper": 10**9},
        {"step": "1/1000"},
        {"table": lw.records("t.parquet", person="user", combine="max")},
    ):
        assert plan_rank(asked(**more), lw.UnboundedDP("1")).mechanism.rate == 1


# ---- which mechanism


@pytest.mark.parametrize(
    ("notion", "query", "taken"),
    [
        (lw.UnboundedDP("1"), asked(), RankPlan),
        (lw.UnboundedDP("1/10"), asked(**GROUPS), RankPlan),
        (lw.AdditionOnly("1"), asked("max"), RankPlan),
        (lw.BoundedDP("1"), asked("percentile", p="99.9"), RankPlan),
        (lw.Manhattan("1", lw.ValueGrid(0, 10_000)), asked(upper=10_000), NumberPlan),
        (lw.Manhattan("1", lw.ValueGrid(0, 100)), asked(), RankPlan),
        (Maximum("1", lw.ValueGrid(0, 100)), asked(), NumberPlan),
        (lw.UnboundedDP("4000"), asked(), NumberPlan),
        (lw.Manhattan("1", lw.ValueGrid(0, 100), nobody=False), asked(people=20), NumberPlan),
        (lw.Manhattan("1", lw.ValueGrid(0, 100), nobody=False), asked(people=20_000), RankPlan),
    ],
)
def test_the_mechanism_with_the_smaller_error_is_taken(notion: Notion, query: Statistic, taken: type) -> None:
    plan = lw.plan(query, notion)
    assert type(plan) is taken
    if taken is RankPlan and not notion.all_records:
        k = plan.accuracy().within_95_percent  # type: ignore[union-attr]
        noisy = lw.plan(query, notion, mechanism="geometric").accuracy()
        width = float(query.values.width)  # type: ignore[union-attr]
        assert k / (query.people or ASSUMED) * width < noisy.within_95_percent  # type: ignore[union-attr]


def test_a_mechanism_that_is_asked_for_is_taken() -> None:
    for notion in (lw.UnboundedDP("1"), lw.Manhattan("1", lw.ValueGrid(0, 10_000))):
        assert type(lw.plan(asked(upper=10_000), notion, mechanism="rank")) is RankPlan
        assert type(lw.plan(asked(upper=10_000), notion, mechanism="geometric")) is NumberPlan


def test_the_choice_depends_on_public_things_alone() -> None:
    """The same plan whatever the table is: it is never opened."""
    plans = [
        lw.plan(asked(table=lw.records(f"{name}.parquet", person="each row")), lw.UnboundedDP("1")) for name in "ab"
    ]
    assert [plan.mechanism.rate for plan in plans] == [1, 1]  # type: ignore[union-attr]


def test_a_range_too_wide_for_noise_is_no_reason_to_refuse() -> None:
    wide = asked(upper=10**15)
    with pytest.raises(lw.LeewardError):
        plan_statistic(wide, lw.UnboundedDP("1/100"), "geometric")
    plan = lw.plan(wide, lw.UnboundedDP("1/100"))
    assert type(plan) is RankPlan
    assert plan.points == 10**15 + 1


@pytest.mark.parametrize("mechanism", ["rank", "geometric"])
def test_only_percentiles_have_a_choice(mechanism: Any) -> None:
    with pytest.raises(InputError, match="only a percentile can be released in more than one way"):
        lw.plan(asked("mean"), lw.UnboundedDP("1"), mechanism=mechanism)
    with pytest.raises(InputError, match="A decision about a name"):
        lw.plan(lw.select(statistic_by(ROWS, "histogram", **GROUPS)), lw.UnboundedDP("1"), mechanism=mechanism)  # type: ignore[call-overload]


@pytest.mark.parametrize("mechanism", ["sanitized", "adaptive", "exact"])
def test_mechanisms_of_places_are_none_of_a_percentile(mechanism: Any) -> None:
    with pytest.raises(InputError, match=r"rank.*geometric|auto"):
        lw.plan(asked(), lw.UnboundedDP("1"), mechanism=mechanism)


# ---- what is refused


@pytest.mark.parametrize(
    ("notion", "query", "because"),
    [
        (Maximum("1", lw.ValueGrid(0, 100)), asked(table=PEOPLE), "the values of all persons may change at once"),
        (Maximum("1", lw.ValueGrid(0, 100)), asked(), "the values of all rows may change at once"),
        (lw.Presence("1"), asked(), "not a set of facts"),
        (lw.notion.Graded("1", "4"), asked(table=PEOPLE), "not a set of facts"),
        (lw.notion.GradedFacts("1", "1"), asked(), "not a set of facts"),
        (lw.UnboundedDP("1"), asked(people=5), "the number of"),
        (lw.Manhattan("1", lw.ValueGrid(0, 100, 10)), asked(), "costs a part of such a step"),
    ],
)
def test_what_is_not_derived_is_refused(notion: Notion, query: Statistic, because: str) -> None:
    with pytest.raises(NotPrivateError, match=because):
        plan_rank(query, notion)


def test_a_p_of_many_digits_is_refused_before_any_data_is_read() -> None:
    long = asked(kind="percentile", p="33.3333333333333333")
    with pytest.raises(InputError, match="Give a p of fewer digits"):
        lw.plan(long, lw.UnboundedDP("1"), mechanism="rank")
    assert isinstance(lw.plan(long, lw.UnboundedDP("1")), lw.planner.NumberPlan)
    with pytest.raises(InputError, match="no table has so many rows"):
        lw.plan(asked(people=10**400), lw.BoundedDP("1"))


def test_what_is_no_percentile_has_no_ranks() -> None:
    for query in (asked("mean"), asked("sum"), statistic_by(ROWS, "histogram", **GROUPS)):
        with pytest.raises(InputError, match="ranks are those of a percentile"):
            plan_rank(query, lw.UnboundedDP("1"))
    for change in lw.UnboundedDP("1").changes:
        with pytest.raises(InputError, match="ranks are those of a percentile"):
            asked("mean").rank_range(change)


def test_a_group_of_persons_pays_for_all_of_them() -> None:
    """Two persons who are one unit move the ranks by twice as much."""
    alone, together = (plan_rank(asked(), notion) for notion in (lw.BoundedDP("1"), GroupDP("1", [[0, 1]])))
    assert together.mechanism.rate * 2 == alone.mechanism.rate


def test_answers_that_any_point_would_do_for_are_refused() -> None:
    refuse_useless(lw.plan(asked(people=20), lw.BoundedDP("2")), 1)
    beside = lw.plan(asked("percentile", p="90", people=20), lw.BoundedDP("2"), mechanism="rank")
    assert 2 <= beside.accuracy().within_95_percent < 18, "more than stand on the one side, fewer than on the other"  # type: ignore[union-attr]
    refuse_useless(beside, 1)
    with pytest.raises(LowUtilityError, match=r"up to 10 rows may stand between.*, and of 20 no more than that do"):
        refuse_useless(lw.plan(asked(people=20), lw.BoundedDP("1")), 1)
    with pytest.raises(LowUtilityError, match=r"of as many as 100,000 no more than that do"):
        refuse_useless(lw.plan(asked(), lw.UnboundedDP("1/10000"), mechanism="rank"), 1)
    refuse_useless(lw.plan(asked(), lw.UnboundedDP("1/1000"), mechanism="rank"), 1)


def test_how_few_say_nothing_is_told_at_any_error() -> None:
    """At ε = 10⁻³⁰⁰ more people may be between than Python's ranges are long."""
    for p in ("0", "30", "50", "99.9"):
        numeric = asked("percentile", p=p, upper=4).numeric
        for between in (0, 1, 2, 7, 10**300):
            most = numeric.most_people(between)  # type: ignore[union-attr]
            assert numeric.most_between(most) <= between < numeric.most_between(most + 1)  # type: ignore[union-attr]


def test_useless_is_what_says_nothing() -> None:
    """How many of n people stand strictly between any point and the percentile at most, on four points."""
    for n, p in itertools.product((1, 2, 5, 6), (0, 30, 50, 90, 100)):
        tables = itertools.combinations_with_replacement(range(4), n)
        most = 0
        for table in tables:
            exactly = sorted(table)[min(p * n // 100, n - 1)]
            most = max(most, *(sum(min(z, exactly) < v < max(z, exactly) for v in table) for z in range(4)))
        asked_for = asked("percentile", p=str(p), upper=4) if p < 100 else asked("max", upper=4)
        assert most == asked_for.numeric.most_between(n)  # type: ignore[union-attr]
        assert n <= asked_for.numeric.most_people(most)  # type: ignore[union-attr]
        assert asked_for.numeric.most_between(asked_for.numeric.most_people(most) + 1) > most  # type: ignore[union-attr]


# ---- drawing and publishing


def tally(*rows: tuple[int, int, int]) -> Any:
    return np.array(rows, np.int64).reshape(-1, 3)


@pytest.mark.sweep
def test_each_group_is_drawn_from_its_own_people() -> None:
    """A binomial test for each point of each group, false alarms 10⁻⁶ a group; the groups swapped are found out."""
    plan = plan_rank(asked(upper=4, by="sex", groups=["f", "nobody", "m"]), lw.UnboundedDP("1/2"))
    held = tally((0, 0, 2), (0, 1, 1), (2, 3, 1), (2, 4, 3))
    bits, n = SeededBitsForTests(1), 3_000
    drawn = np.array([plan.draw(held, bits) for _ in range(n)])
    assert drawn.shape == (n, 3)
    points = tuple(map(Fraction, range(5)))
    laws = [ranks.named(0.5, Fraction(50), points, tuple(map(Fraction, of))) for of in ((0, 0, 1), (), (3, 4, 4, 4))]
    for group, law in enumerate(laws):
        assert rejects(np.bincount(drawn[:, group], minlength=5), law, n) is None
    assert rejects(np.bincount(drawn[:, 0], minlength=5), laws[2], n) is not None
    assert rejects(np.bincount(drawn[:, 1], minlength=5), laws[0], n) is not None


@pytest.mark.sweep
def test_each_percentile_is_drawn_by_itself_and_a_group_s_are_shown_in_order() -> None:
    """A binomial test for each point of each percentile, false alarms 10⁻⁶ each; one taken for another is found out."""
    plan = plan_rank(asked("percentile", upper=4, p=["25", "75"], by="sex", groups=["f", "m"]), lw.UnboundedDP("5/2"))
    assert plan.mechanism.rate == 1
    held, bits, n = tally((0, 0, 2), (0, 2, 1), (1, 3, 1), (1, 4, 3)), SeededBitsForTests(1), 3_000
    drawn = np.array([plan.draw(held, bits) for _ in range(n)])
    assert drawn.shape == (n, 4)
    points = tuple(map(Fraction, range(5)))
    people = [tuple(map(Fraction, of)) for of in ((0, 0, 2), (3, 4, 4, 4))]
    laws = [ranks.named(1.0, Fraction(p), points, of) for of in people for p in (25, 75)]
    for i, law in enumerate(laws):
        assert rejects(np.bincount(drawn[:, i], minlength=5), law, n) is None
    assert rejects(np.bincount(drawn[:, 0], minlength=5), laws[1], n) is not None
    crossed = next(row for row in drawn if row[0] > row[1])
    shown = plan.answers(crossed, GroupList(plan.query).to_arrow()).to_pydict()
    assert shown["value"] == [*sorted(crossed[:2].tolist()), *sorted(crossed[2:].tolist())]
    assert shown["percentile"] == [25, 75, 25, 75]
    assert shown["group"] == ["f", "f", "m", "m"]


def test_none_in_order_is_off_by_more_than_one_of_its_group_was() -> None:
    """Nor are they on average; in the order of other groups they would be."""
    rng, query = np.random.default_rng(3), asked("percentile", p=["25", "50", "75"], **GROUPS)
    worse = 0
    for _ in range(500):
        exact = np.sort(rng.integers(0, 50, (2, 3)), axis=1)
        drawn = exact + rng.integers(-20, 20, (2, 3))
        shown = in_order(query, drawn.ravel()).reshape(2, 3)
        off, was = np.abs(shown - exact), np.abs(drawn - exact)
        assert (off.max(axis=1) <= was.max(axis=1)).all()
        assert (off.sum(axis=1) <= was.sum(axis=1)).all()
        mixed = np.sort(drawn, axis=0)
        worse += bool((np.abs(mixed - exact).max(axis=1) > was.max(axis=1)).any())
    assert worse > 100


def test_one_release_of_several_is_never_further_off_than_one_of_each() -> None:
    for ps, ratio in ((["25", "50", "75"], Fraction(7, 8)), (["10", "90"], Fraction(7, 9)), (["75", "90"], 1)):
        for notion in (lw.UnboundedDP("1"), lw.AdditionOnly("1")):
            made = plan_rank(asked("percentile", p=ps), notion)
            apart = one_each(made)
            assert apart is not None
            assert apart.mechanism.rate == made.mechanism.rate * ratio
            assert apart.accuracy().within_95_percent >= made.accuracy().within_95_percent
            alone = [plan_rank(asked("percentile", p=p), notion).mechanism.rate for p in ps]
            assert sum((apart.mechanism.rate / rate for rate in alone), start=exact(0)) == 1, "all of ε, and no more"
    quartiles = plan_rank(asked("percentile", p=["25", "50", "75"]), lw.UnboundedDP("1"))
    told = dict(joint_or_each(quartiles))
    assert told["in one release"].startswith(f"at most {quartiles.accuracy().within_95_percent} rows")
    assert told["one release of each"].startswith(f"at most {one_each(quartiles).accuracy().within_95_percent}, at")  # type: ignore[union-attr]
    assert one_each(plan_rank(asked(), lw.UnboundedDP("1"))) is None
    assert joint_or_each(lw.plan(asked("sum"), lw.UnboundedDP("1"))) == []


def test_several_are_named_by_rank_or_with_noise_whichever_is_nearer() -> None:
    assert isinstance(lw.plan(asked("percentile", p=["25", "75"]), lw.UnboundedDP("1")), RankPlan)
    near = lw.plan(asked("percentile", upper=1000, p=["25", "75"]), lw.Manhattan("1", lw.ValueGrid(0, 1000)))
    assert isinstance(near, NumberPlan)
    assert near.parts[0].law.up == exact("1/2"), "each of two at half of ε"
    assert in_order(near.query, np.array([5, 3])).tolist() == [3, 5]


def test_several_of_which_one_is_useless_are_refused() -> None:
    # 100,000 people: the median is useless where half of them may be between, the least value where nearly all may
    for p, refused in ((["0", "100"], False), (["0", "50"], True)):
        made = plan_rank(asked("percentile", p=p, upper=10**6), lw.UnboundedDP("1/1400"))
        assert 50_000 <= made.accuracy().within_95_percent < 99_999
        if refused:
            with pytest.raises(LowUtilityError):
                refuse_useless(made, 2)
        else:
            refuse_useless(made, 2)


def test_groups_are_drawn_independently() -> None:
    """Both at once as often as the product of the chances says; false alarms 10⁻⁶."""
    plan, n = plan_rank(asked(upper=1, **GROUPS), lw.UnboundedDP("1")), 4_000
    held, bits = tally((0, 0, 2), (1, 0, 2)), SeededBitsForTests(7)
    p = ranks.named(1.0, Fraction(50), (Fraction(0), Fraction(1)), (Fraction(0), Fraction(0)))[0]
    both = sum(int((plan.draw(held, bits) == 0).all()) for _ in range(n))
    assert rejects([both], [p * p], n) is None
    assert rejects([both], [p], n) is not None


@pytest.mark.parametrize(
    ("how", "values"),
    [
        ({"lower": 17, "upper": 90}, [17, 19]),
        ({"lower": "-1/2", "upper": 10, "step": "1/2"}, [-0.5, 0.5]),
        ({"lower": 0, "upper": 60, "step": 20}, [0, 40]),
    ],
)
def test_positions_become_values(how: dict[str, Any], values: list[Any]) -> None:
    plan = plan_rank(asked(**how, **GROUPS), lw.UnboundedDP("1"))
    table = plan.answers(np.array([0, 2]), pa.table({"group": ["f", "m"]}))
    assert table.to_pydict() == {"group": ["f", "m"], "value": values}
    assert plan.points == int(plan.query.values.width / plan.query.values.step) + 1  # type: ignore[union-attr]


# ---- how near


@pytest.mark.parametrize("p", ["0", "25", "50", "90"])
@pytest.mark.parametrize("notion", [lw.UnboundedDP("1"), lw.BoundedDP("2")], ids=str)
def test_the_accuracy_is_kept_on_every_small_table(notion: Notion, p: str) -> None:
    """Of up to seven people on four points: how many stand strictly between; all groups together by independence."""
    plan = plan_rank(asked("percentile", upper=3, p=p, **GROUPS), notion)
    told, rate, share = plan.accuracy(), float(plan.mechanism.rate), Fraction(p)
    points = tuple(map(Fraction, range(4)))
    least = dict.fromkeys(range(40), 1.0)
    for n in range(1, 8):
        for table in itertools.combinations_with_replacement(points, n):
            exactly = table[min(int(share * n / 100), n - 1)]
            between = [sum(min(z, exactly) < v < max(z, exactly) for v in table) for z in points]
            law = ranks.named(rate, share, points, table)
            for k in least:
                least[k] = min(least[k], sum(q for q, b in zip(law, between, strict=True) if b <= k))
    assert least[told.within_50_percent] >= 0.5 - 1e-12
    assert least[told.within_95_percent] >= 0.95 - 1e-12
    assert least[told.within_99_percent] >= 0.99 - 1e-12
    assert least[told.all_within_95_percent] ** 2 >= 0.95 - 1e-12
    assert told.within_50_percent <= told.within_95_percent <= told.all_within_95_percent
    assert told.counted == "rows"
    assert told.points == 4


def test_more_answers_at_once_are_less_near() -> None:
    few, many = (plan_rank(asked(by="sex", groups=list(range(n))), lw.UnboundedDP("1")).accuracy() for n in (1, 1_000))
    assert few.within_95_percent == many.within_95_percent
    assert few.all_within_95_percent == few.within_95_percent < many.all_within_95_percent


# ---- the whole path


def released(made: Callable[[], Any], folder: Any, name: str = "b") -> Any:
    return lw.release(made(), lw.Budget(f"sqlite:///{folder}/{name}.db", "people", cap="100", new=True))


@pytest.fixture
def people(tmp_path: Any) -> Any:
    import pyarrow.parquet as pq

    ages = [*range(20, 70)] * 40
    table = pa.table({"user": range(2_000), "age": ages, "sex": ["f" if age < 40 else "m" for age in ages]})
    pq.write_table(table, tmp_path / "t.parquet")
    return lw.records(tmp_path / "t.parquet", person="user")


def test_a_released_median_is_near_and_its_document_says_how(people: Any, tmp_path: Any) -> None:
    """At ε = 4 of 2,000 people: further off than two years with a chance below 10⁻¹⁰."""
    result = released(lambda: lw.plan(asked(table=people, **GROUPS), lw.UnboundedDP("4")), tmp_path)
    women, men = result.answers["value"].to_pylist()
    assert abs(women - 30) <= 2
    assert abs(men - 55) <= 2
    document = json.loads(result.statement.to_json())
    assert document["mechanism"]["name"] == "rank"
    assert document["mechanism"]["rate"] == "4"
    assert document["mechanism"]["lower"] == "0"
    assert document["mechanism"]["points"] == 101
    assert document["accuracy"]["counted"] == "people"


def test_asking_again_is_free_and_another_mechanism_another_question(people: Any, tmp_path: Any) -> None:
    budget = lw.Budget(f"sqlite:///{tmp_path}/c.db", "people", cap="100", new=True)
    query, notion = asked(table=people), lw.UnboundedDP("4")
    first = lw.release(lw.plan(query, notion), budget)
    again = lw.release(lw.plan(query, notion, mechanism="rank"), budget)
    assert (first.curator.charged, again.curator.charged) == ("4", "0")
    assert first.answers.equals(again.answers)
    other = lw.release(lw.plan(query, notion, mechanism="geometric"), budget, accept_useless=True)
    assert other.curator.charged == "4"


def test_an_altered_plan_is_refused(people: Any, tmp_path: Any) -> None:
    import dataclasses

    plan = lw.plan(asked(table=people), lw.UnboundedDP("1"))
    louder = dataclasses.replace(plan, mechanism=RankSelection("9"))
    with pytest.raises(InputError, match="altered by hand"):
        released(lambda: louder, tmp_path)
