"""Domain facts, and histograms found on two values of each kind: the same as on all of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from leeward.distance import FiniteDistance, both_hold
from leeward.errors import InputError, NotPrivateError
from leeward.notion import (
    ADP,
    OSDP,
    BoundedDP,
    Change,
    Condition,
    EdgeDP,
    Graded,
    NodeDP,
    Presence,
    RecordDistance,
    UnboundedDP,
    ValueGrid,
    has,
    where,
)
from leeward.query import CountWhere, Domain, Effect, Histogram, Linear, Mean, Sum, SumOf, SumOverPeople, sensitivity


def test_the_values_inside_a_declared_range_are_not_lost() -> None:
    """Between 0 and 2 lies 1, which the condition does not hold for."""
    query = CountWhere((where("x", one_of=[0, 2]),), Domain(columns={"x": range(3)}))
    line = sensitivity(BoundedDP("1"), query).line
    assert (line.rise, line.fall) == (1, 1)


@pytest.mark.parametrize("known", [range(0, 12, 4), range(8, -1, -4), [8, 0, 4]])
def test_a_range_with_steps_past_the_bounds_of_a_sum(known: Any) -> None:
    """Only 0, 4 and 8 can be: clamped to 3..6 they are 3, 4 and 6; among those above 3 only the last two."""
    whole = sensitivity(BoundedDP("1"), SumOf("x", 3, 6, None, Domain({"x": known})))
    assert (whole.rise, whole.fall) == (3, 3)
    among = where("x", at_least=3)
    assert sensitivity(BoundedDP("1"), SumOf("x", 3, 6, among, Domain({"x": known}))).rise == 6
    step = ADP("1", [among, ~among])  # nobody passes between the two kinds
    assert sensitivity(step, SumOf("x", 3, 6, among, Domain({"x": known}))).rise == 2


def test_numbers_between_whole_numbers_count_where_nothing_is_declared() -> None:
    between = where("x", at_least=-5) & ~where("x", at_most=0) & ~where("x", at_least=1)
    assert sensitivity(BoundedDP("1"), CountWhere((between,))).rise == 1
    with pytest.raises(NotPrivateError, match="no step"):
        sensitivity(BoundedDP("1"), CountWhere((between,), Domain({"x": range(-9, 9)})))


@pytest.mark.parametrize("value", [1.0, True, Decimal(1)])
def test_a_number_is_the_same_however_it_is_written(value: Any) -> None:
    query = CountWhere((where("x", equals=value),), Domain({"x": range(3)}))
    assert sensitivity(BoundedDP("1"), query).rise == 1
    assert where("x", at_least=1)({"x": value})


def test_a_number_of_numpy_is_declared_beside_bins_that_are_tuples() -> None:
    """Compared with a tuple, NumPy's would say number by number what is equal: neither yes nor no."""
    query = Histogram("x", ((1, 2), 1), Domain({"x": [np.float32(0.5), np.int64(1), (1, 2)]}))
    assert sensitivity(BoundedDP("1"), query).rise == 1
    assert query.value({"x": np.float32(0.5)}) == (0, 0)


def test_what_only_looks_like_a_number_is_none() -> None:
    assert not where("x", equals=1)({"x": complex(1)})
    assert not Histogram("x", (1,)).value({"x": complex(1)})[0]
    assert not where("x", at_least=0)({"x": Decimal("NaN")})


@pytest.mark.parametrize(
    "build",
    [
        lambda: Domain({"x": "abc"}),
        lambda: Domain({"x": []}),
        lambda: Domain({"x": range(0)}),
        lambda: Domain({"x": 3}),  # type: ignore[dict-item]
        lambda: Domain(records=()),
        lambda: Domain(facts_per_person=-1),
        lambda: Domain(facts_per_person=0),
        lambda: Domain(facts_per_person=1.5),  # type: ignore[arg-type]
        lambda: CountWhere(()),
        lambda: CountWhere(("x",)),  # type: ignore[arg-type]
        lambda: Linear((), ((),)),
        lambda: Histogram("x", (None, 1)),
        lambda: Histogram("x", (float("nan"),)),
        lambda: where("x", equals=float("nan")),
        lambda: SumOf("x", 0, 9).value({"x": 0.5}),
        lambda: SumOf("x", 0, 9, where("x", equals=3)).value({"x": 0.5}),
        lambda: sensitivity(BoundedDP("1"), SumOf("x", 0, 9, None, Domain({"x": [0, 0.5]}))),
    ],
)
def test_what_would_declare_away_what_can_be_is_refused(build: Callable[[], Any]) -> None:
    """An empty declaration, a negative bound on facts: with them nothing could change, and all would be published."""
    with pytest.raises(InputError):
        build()


@pytest.mark.parametrize("value", [[1], {1}, {"a": 1}], ids=str)
def test_what_is_in_no_column_is_no_bin_and_no_value_of_one(value: Any) -> None:
    for build in (lambda: Histogram("x", (value, 2)), lambda: Domain({"x": [1, value]})):
        with pytest.raises(InputError, match="is not a value"):
            build()
    assert Domain({"x": range(10**15)}).columns["x"] == range(10**15)


def test_records_of_another_kind_are_told_in_words() -> None:
    """A word, which contains letters, is not a set of facts; a set of facts is not a row; facts are not edges."""
    for condition, record in [(has("a"), "stair"), (has("a"), {"a": 1}), (where("x", equals=1), frozenset("x"))]:
        with pytest.raises(InputError, match="A record"):
            condition(record)
    with pytest.raises(InputError, match="not edges"):
        sensitivity(NodeDP("1"), CountWhere(has("a")))


def test_numbers_are_not_asked_under_notions_about_facts() -> None:
    """Who has no facts is nobody, and that somebody disappears may move a sum further than any change of their number."""
    for notion in (Presence("1"), Graded(presence="1", absence="2"), EdgeDP("1")):
        for query in (Sum(ValueGrid(1, 3)), Mean(ValueGrid(1, 3))):
            with pytest.raises(NotPrivateError, match="not a set of facts"):
                sensitivity(notion, query)


def test_numbers_beyond_the_universe_are_clamped() -> None:
    assert Sum(ValueGrid(1, 3))((100, None, -5)) == 4


def test_records_that_a_notion_does_not_know_are_not_protected() -> None:
    """Once priced at 0, so that a promise of both notions made no sense."""
    two = RecordDistance("1", FiniteDistance("st", [[0, 2], [1, 0]]))
    three = RecordDistance("1", FiniteDistance("stn", [[0, 9, 9], [9, 0, 1], [9, 1, 0]]))
    assert [two.cost(change).is_infinite for change in three.changes] == [True, True]
    assert not three.cost(two.changes[0]).is_infinite
    both: Any = both_hold(two, three)
    query = CountWhere(lambda record: record == "n", Domain(records=("s", "t", "n")))
    assert sensitivity(both, query).rise == 1


def test_one_condition_needs_no_list_and_a_list_no_tuple() -> None:
    one = where("x", equals=1)
    assert CountWhere(one) == CountWhere((one,)) == CountWhere([one])  # type: ignore[arg-type]
    declared = Domain({"x": [1, 2]})
    assert declared.columns == {"x": (1, 2)}


# ---- histograms: two values of each kind stand for all


class Odd:
    """A relation that looks at the truth of some conditions only, in no regular way."""

    def __init__(self, conditions: list[Condition], rng: random.Random) -> None:
        self.conditions, self.table = conditions, [rng.random() < 0.5 for _ in range(64)]

    def __call__(self, before: Any, after: Any) -> bool:
        if before is None or after is None:
            return False
        i, j = (sum(c(r) << k for k, c in enumerate(self.conditions)) for r in (before, after))
        return self.table[(i * 7 + j * 13 + i * j) % 64]


def draw_changes(rng: random.Random) -> tuple[Change, ...]:
    pool: list[Any] = [0, 1, 2, 3, 4, 5, "a", "b"]
    policies: list[Condition] = []
    for _ in range(rng.randint(0, 6)):
        kind = rng.randrange(5)
        condition: Condition = where("x", equals=rng.choice(pool))
        if kind == 3:
            condition = where("x", one_of=rng.sample(pool, 2))
        if kind == 4:
            condition = where("x", at_least=rng.randrange(5))
        condition = ~condition if rng.random() < 0.6 else condition
        policies.append(condition | where("y", equals=1) if rng.random() < 0.1 else condition)
    if not policies:
        return rng.choice([BoundedDP(1), UnboundedDP(1)]).changes
    return rng.choice(
        [
            ADP(1, policies).changes,
            ADP(1, policies, absent_too=True).changes,
            OSDP(1, policies[0]).changes,
            OSDP(1, policies[0], "non-sensitive").changes,
            (Change("odd", "odd", Odd(policies, rng), tuple(policies)),),
        ]
    )


def draw_histogram(rng: random.Random) -> Histogram:
    known: Any = rng.choice(
        [range(6), range(0, 12, 2), range(5, -1, -1), range(20), [0, 1, 2, 3, "a", "b", None], None]
    )
    bins = tuple(rng.sample([0, 1, 2, 3, 4, 5, "a", "b"], rng.randint(1, 6)))
    return Histogram("x", bins, Domain({} if known is None else {"x": known}))


def told(effect: Effect) -> Any:
    parts = (effect.total or (), effect.each)
    return [tuple(move for move in moves if any(move)) for moves in parts], effect.by_coordinate


def differ(cases: int, seed: str) -> int:
    """How often the short way differs from going through all bins and all conditions."""
    rng, found = random.Random(seed), 0
    for _ in range(cases):
        query = draw_histogram(rng)
        for change in draw_changes(rng):
            try:
                found += told(query.effect(change)) != told(SumOverPeople.effect(query, change))
            except KeyError:  # a broken variant may leave a bin without its moves
                found += 1
    return found


def test_two_values_of_each_kind_stand_for_all_bins() -> None:
    assert differ(500, "kinds") == 0


@pytest.mark.parametrize("forgets", [0, 1, 2])
def test_the_comparison_notices_a_kind_that_forgets_something(forgets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a value is a bin, which policies name it, what the other conditions say of it: each is needed."""
    kinds = Histogram._kinds

    def fewer(self: Histogram, change: Change) -> dict[Any, tuple[Any, ...]]:
        def without(kind: tuple[Any, ...]) -> tuple[Any, ...]:
            parts = [kind[0], kind[1], kind[2:]]
            return tuple(part for i, part in enumerate(parts) if i != forgets)

        return {value: without(kind) for value, kind in kinds(self, change).items()}

    monkeypatch.setattr(Histogram, "_kinds", fewer)
    assert differ(500, "kinds") > 0


def test_a_histogram_whose_bins_cannot_be_changes_by_nothing() -> None:
    query = Histogram("x", (7, "a"), Domain({"x": range(3)}))
    with pytest.raises(NotPrivateError, match="no step"):
        sensitivity(BoundedDP("1"), query)


def test_thousands_of_policies_are_asked_about_each_record_once() -> None:
    """A thousand places: seconds, where asking about every pair of records took an hour."""
    there = [where("x", equals=i) for i in range(300)]
    assert sensitivity(ADP("1", [~at for at in there]), CountWhere(tuple(there))).rise == 0
    assert sensitivity(Presence("1"), CountWhere(tuple(has(i) for i in range(10)))).fall == 10
