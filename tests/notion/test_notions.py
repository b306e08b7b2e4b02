"""Every notion of the table is the distance its definition says, and its steps generate exactly that distance."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import tables as oracle

from leeward.distance import FiniteDistance, Line, both_hold
from leeward.errors import InputError
from leeward.exact import Real, exact, inf, log
from leeward.notion import (
    ABSENT,
    ADD_FACT,
    ADP,
    CHANGES,
    DROP_FACT,
    GROW,
    INSERT,
    OSDP,
    REPLACE,
    SHRINK,
    ULDP,
    WITHDRAW,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    ContextAwareLDP,
    Graded,
    GradedFacts,
    InputDiscriminativeLDP,
    LocalDP,
    Notion,
    Personalised,
    Presence,
    RecordDistance,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
    has,
    where,
)
from leeward.notion._named import NAMED

EPS = Fraction(1, 3)
VALUES = [ABSENT, "s", "t", "n"]
SETS = [frozenset(s) for s in ((), "a", "b", "ab")]
FACTS = [ABSENT, *SETS]


def sensitive(record: Any) -> bool:
    return record in {"s", "t"}


def not_at(place: str) -> Any:
    return lambda visits: visits is None or place not in visits


EDGES = [("s", "t"), ("t", "n")]

CASES: dict[str, tuple[Notion, oracle.Steps, Sequence[Any]]] = {
    "unbounded": (UnboundedDP(EPS), oracle.unbounded(EPS), VALUES),
    "bounded": (BoundedDP(EPS), oracle.bounded(EPS), VALUES),
    "replace": (ReplaceDP(EPS), oracle.replace(EPS), VALUES),
    "addition": (AdditionOnly(EPS), oracle.addition_only(EPS), VALUES),
    "removal": (RemovalOnly(EPS), oracle.removal_only(EPS), VALUES),
    "presence": (Presence(EPS), oracle.presence(EPS), FACTS),
    "adp, functions": (
        ADP(EPS, [not_at("a"), not_at("b")], records=SETS),
        oracle.adp(EPS, [not_at("a"), not_at("b")]),
        SETS,
    ),
    "adp, conditions": (
        ADP(EPS, [~has("a"), has("b")]),
        oracle.adp(EPS, [not_at("a"), lambda r: r is not None and "b" in r]),
        FACTS,
    ),
    "osdp, any": (
        OSDP(EPS, sensitive, records=VALUES[1:]),
        oracle.osdp(EPS, sensitive, to_any=True),
        VALUES[1:],
    ),
    "osdp, non-sensitive": (
        OSDP(EPS, sensitive, "non-sensitive", records=VALUES[1:]),
        oracle.osdp(EPS, sensitive, to_any=False),
        VALUES[1:],
    ),
    "uldp": (ULDP(EPS, sensitive, records=VALUES[1:]), oracle.osdp(EPS, sensitive, to_any=True), VALUES[1:]),
    "blowfish": (Blowfish(EPS, VALUES, EDGES), oracle.graph(EPS, EDGES), VALUES),
    "local": (LocalDP(EPS), oracle.bounded(EPS), VALUES[1:]),
    "graded": (Graded(EPS, 2), oracle.graded(EPS, 2), FACTS),
    "graded, the other way": (Graded(2, EPS), oracle.graded(2, EPS), FACTS),
    "graded, presence": (Graded(EPS, inf), oracle.presence(EPS), FACTS),
    "graded facts": (GradedFacts(EPS, 2), oracle.graded_facts(EPS, 2), FACTS),
    "graded facts, one way": (GradedFacts(inf, EPS), oracle.graded_facts(oracle.math.inf, EPS), FACTS),
    "context-aware": (
        ContextAwareLDP(1, "stn", {("s", "t"): 1, ("t", "n"): "1/2", ("s", "n"): 9, ("n", "t"): 2}),
        lambda r, s: {("s", "t"): 1, ("t", "n"): Fraction(1, 2), ("s", "n"): 9, ("n", "t"): 2}.get(
            (r, s), oracle.math.inf
        ),
        VALUES[1:],
    ),
}


ABOUT_FACTS = {case for case, (notion, _, _) in CASES.items() if isinstance(notion, Presence | Graded | GradedFacts)}


def number(value: Any) -> Real:
    return inf if value == oracle.math.inf else exact(value)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("persons", [1, 2])
def test_a_notion_is_the_shortest_paths_of_its_definition(case: str, persons: int) -> None:
    notion, steps, records = CASES[case]
    universe = all_tables(records, persons)
    assert list(universe) == oracle.tables(records, persons)
    made, expected = notion.on(universe), oracle.between_tables(steps, universe)
    wrong = [
        (x, y)
        for (i, x), (j, y) in itertools.product(enumerate(universe), repeat=2)
        if made(x, y) != number(expected[i][j])
    ]
    assert wrong == []
    assert all(notion(x, y) == made(x, y) for x, y in itertools.product(universe[:20], repeat=2))


@pytest.mark.parametrize("case", CASES)
def test_the_steps_generate_the_notion_and_nothing_else(case: str) -> None:
    notion, _, records = CASES[case]
    if case in ABOUT_FACTS:
        assert notion.record(ABSENT, frozenset()) == notion.record(frozenset(), ABSENT) == 0  # nobody has no facts
        records = SETS
    costs = [
        [min((step.cost for step in notion.steps if step.change.allows(x, y)), default=inf) for y in records]
        for x in records
    ]
    generated = FiniteDistance.closed(records, costs)
    assert generated == FiniteDistance(records, [[notion.record(x, y) for y in records] for x in records])


def is_change(name: str, before: Any, after: Any) -> bool:
    """The kinds of change in words of this test; fact changes are between people who are there."""
    b, a = oracle.facts(before), oracle.facts(after)
    present = before is not None and after is not None
    return {
        "withdraw": before is not None and after is None,
        "insert": before is None and after is not None,
        "replace": present,
        "shrink": present and a < b,
        "grow": present and a > b,
        "drop a fact": present and a < b and len(b - a) == 1,
        "add a fact": present and a > b and len(a - b) == 1,
    }[name]


OF_FACTS = {
    "unbounded": UnboundedDP(EPS),
    "bounded": BoundedDP(EPS),
    "replace": ReplaceDP(EPS),
    "addition": AdditionOnly(EPS),
    "removal": RemovalOnly(EPS),
    "presence": Presence(EPS),
    "adp": ADP(EPS, [~has("a"), ~has("b")]),
    "adp, absent too": ADP(EPS, [~has("a"), ~has("b")], absent_too=True),
    "adp, the other way": ADP(EPS, [has("a"), has("b")], absent_too=True),
    "adp, mixed": ADP(EPS, [~has("a"), has("b")]),
    "osdp": OSDP(EPS, has("a")),
    "osdp, non-sensitive": OSDP(EPS, has("a") | has("b"), "non-sensitive"),
    "graded": Graded(EPS, 2),
    "graded, one way": Graded(EPS, inf),
    "graded facts": GradedFacts(EPS, 2),
    "a distance": RecordDistance(1, FiniteDistance.closed(SETS, [[abs(i - j) for j in range(4)] for i in range(4)])),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
@pytest.mark.parametrize("name", OF_FACTS)
def test_the_cost_of_a_change_is_that_of_the_worst_one(name: str, change: Any) -> None:
    notion = OF_FACTS[name]
    if name == "a distance" and change in {WITHDRAW, INSERT}:
        assert notion.cost(change) == inf  # nobody is not among its records
        return
    pairs = itertools.permutations(SETS if name == "a distance" else FACTS, 2)
    worst = max(notion.record(x, y) for x, y in pairs if is_change(change.name, x, y))
    if name == "graded facts" and change in {WITHDRAW, INSERT, REPLACE, SHRINK, GROW}:
        assert notion.cost(change) == inf > worst  # any number of facts: no bound holds in every universe
    elif name.startswith("graded") and change in {WITHDRAW, INSERT}:
        assert notion.cost(change) == worst or notion.record(frozenset(), None) == 0  # nobody has no facts
    else:
        assert notion.cost(change) == worst


def test_the_relations_of_the_changes_are_those_of_the_words() -> None:
    for change in CHANGES:
        for before, after in itertools.permutations(SETS if change not in {WITHDRAW, INSERT} else FACTS, 2):
            assert change.allows(before, after) == is_change(change.name, before, after)


def test_personalised_tables_have_a_price_for_each_person() -> None:
    notion = Personalised(AdditionOnly(1), ["1/2", 2])
    tables = all_tables([ABSENT, "a", "b"], 2)
    made = notion.on(tables)
    for x, y in itertools.product(tables, repeat=2):
        expected = AdditionOnly("1/2").record(x[0], y[0]) + AdditionOnly(2).record(x[1], y[1])
        assert made(x, y) == notion(x, y) == expected
    assert {(step.change, step.cost) for step in notion.steps} == {(WITHDRAW, exact("1/2")), (WITHDRAW, exact(2))}
    assert notion.price_in(AdditionOnly(1)) == 2
    assert AdditionOnly(1).price_in(notion) == 2
    assert notion.price_in(Personalised(AdditionOnly(1), [1, 1])) == 2
    assert notion.price_in(notion) == 1
    assert notion.scale(2)(("a", "b"), (ABSENT, ABSENT)) == 5
    with pytest.raises(InputError, match="person"):
        notion.record("a", ABSENT)
    with pytest.raises(InputError, match="each of 2"):
        notion(("a",), (ABSENT,))
    with pytest.raises(InputError, match="nobody"):
        Personalised(AdditionOnly(1), [])


def test_graded_meets_its_two_ends() -> None:
    tables = all_tables(SETS, 2)
    assert Graded(1, inf).on(tables) == Presence(1).on(tables)
    assert Graded(1, 1).on(tables) == BoundedDP(1).on(tables)
    assert Graded(inf, 1).on(tables) == Presence(1).on(tables).reverse()
    assert Graded(1, 4).reverse().on(tables) == Graded(4, 1).on(tables)
    assert Graded(1, 4).scale(2) == Graded(2, 8)
    assert GradedFacts(1, inf)(tuple([SETS[3]] * 2), tuple([SETS[0]] * 2)) == 4
    with pytest.raises(InputError, match="promises nothing"):
        Graded(inf, inf)
    with pytest.raises(InputError, match="above 0"):
        Graded(1, 0)


def test_presence_is_adp_with_all_policies_at_once_and_not_with_one_made_of_them() -> None:
    tables = all_tables(SETS, 2)
    presence = Presence(EPS).on(tables)
    assert ADP(EPS, [~has("a"), ~has("b")]).on(tables) == presence
    for wrong in (~has("a") | ~has("b"), ~has("a") & ~has("b")):
        made = ADP(EPS, [wrong]).on(tables)
        assert made != presence
        assert made((SETS[1], SETS[0]), (SETS[2], SETS[0])) == EPS  # {a} → {b}: b's count rises


def test_a_policy_that_always_holds_protects_everything() -> None:
    notion = ADP(EPS, [lambda record: True], records=SETS)
    assert notion.on(all_tables(SETS, 2)) == BoundedDP(EPS).on(all_tables(SETS, 2))
    assert notion.price_in(BoundedDP(EPS)) == 1


def test_functions_as_policies_need_the_list_of_records() -> None:
    for notion in (ADP(1, [lambda r: True]), OSDP(1, lambda r: True)):
        assert notion.record("a", "b") == 1  # on a finite universe all is well
        for ask in (lambda n=notion: n.steps, lambda n=notion: n.cost(REPLACE)):
            with pytest.raises(InputError, match="function"):
                ask()
        assert notion.scale(2).price_in(notion) == 2
        assert "function" in notion.priced_in(BoundedDP(1)).because


def test_changes_of_facts_mean_nothing_to_other_records() -> None:
    for notion in (
        ADP(1, [lambda r: r == "s"], records=("s", "t")),
        ADP(1, [where("x", equals=1)]),
        OSDP(1, where("x", equals=1)),
        RecordDistance(1, FiniteDistance("st", [[0, 1], [inf, 0]])),
    ):
        assert notion.cost(SHRINK) == notion.cost(DROP_FACT) == inf
        assert notion.price_in(Presence(1)) == inf


def test_the_same_promise_twice_adds_up_its_epsilons() -> None:
    assert AdditionOnly("1/2") + AdditionOnly("1/2") == AdditionOnly(1)
    assert ADP(1, [has("a")]) + ADP(2, [has("a")]) == ADP(3, [has("a")])
    assert Graded(1, 2) + Graded(2, 4) == Graded(3, 6)
    tables = all_tables(FACTS, 2)
    for one, other in (
        (AdditionOnly(1), RemovalOnly(2)),
        (UnboundedDP(log(2)), ReplaceDP(1)),
        (Graded(1, 2), Graded(2, 1)),
    ):
        total = (one + other).on(tables)
        assert total == one.on(tables) + other.on(tables)
    assert (AdditionOnly(1) + RemovalOnly(1))((None,), (SETS[1],)) == inf


def test_both_held_by_one_output_is_the_closure_and_knows_its_steps() -> None:
    tables = all_tables(VALUES, 2)
    both = both_hold(AdditionOnly(1), RemovalOnly(2))
    assert isinstance(both, Notion)
    assert both.on(tables) == both_hold(AdditionOnly(1).on(tables), RemovalOnly(2).on(tables))
    assert {(s.change, s.cost) for s in both.steps} == {(WITHDRAW, exact(1)), (INSERT, exact(2))}
    assert both.cost(REPLACE) == 3 == both.on(tables)(("s", "t"), ("n", "t"))
    equal = both_hold(AdditionOnly(1).on(tables), RemovalOnly(1).on(tables))
    assert equal == UnboundedDP(1).on(tables)
    assert both_hold(AdditionOnly(1), RemovalOnly(1)) == both_hold(RemovalOnly(1), AdditionOnly(1)) == UnboundedDP(1)
    assert both.scale(2).price_in(both) == 2
    assert both.words.reveals == ""  # any table can pass as any other: people may come and go
    assert "e^(1/2·ε)" in both.words.definition  # told in the ε of both, which is 2
    one_sided = both_hold(AdditionOnly(1), Presence(1))
    assert AdditionOnly(1).words.reveals in one_sided.words.reveals
    assert both_hold(AdditionOnly(1), UnboundedDP(1)).words.reveals == ""
    with pytest.raises(InputError, match="shortest paths"):
        both.record("s", "t")


def test_promises_that_one_output_keeps_may_be_many() -> None:
    """Each is asked once for its costs, however deep it is nested: at three times a level, 40 would take for ever."""
    both: Notion = Presence(1)
    for epsilon in range(1, 41):
        both = both_hold(both, AdditionOnly(epsilon))
    many = both_hold(both, RemovalOnly(2))
    assert both.cost(WITHDRAW) == many.cost(WITHDRAW) == 1
    assert many.cost(INSERT) == 2
    assert many.cost(REPLACE) == 3
    assert many.price_in(both_hold(AdditionOnly(1), RemovalOnly(2))) == 1


def test_notions_are_told_apart() -> None:
    assert AdditionOnly(1) == AdditionOnly("1")
    assert len({AdditionOnly(1), AdditionOnly("1.0"), RemovalOnly(1), AdditionOnly(2)}) == 3
    assert ADP(1, [has("a")]) != ADP(1, [has("b")])
    assert OSDP(1, has("a")) != OSDP(1, has("a"), "non-sensitive")
    assert Blowfish(1, "abc", [("a", "b")]) != Blowfish(1, "abc", [("a", "c")])
    with pytest.raises(InputError, match="promises nothing"):
        AdditionOnly("inf")
    with pytest.raises(InputError, match="ADP without"):
        ADP(1, [])
    with pytest.raises(InputError, match="Did you mean"):
        OSDP(1, has("a"), "nonsensitive")  # type: ignore[arg-type]


def test_input_discriminative_ldp_gains_at_most_a_factor_of_two() -> None:
    epsilons = {"flu": 5, "cold": 4, "hiv": 1, "cancer": "3/2"}
    notion = InputDiscriminativeLDP(epsilons)
    records = tuple(epsilons)
    assert notion.record("flu", "cold") == 2  # by way of hiv: 1 + 1, less than the 4 that is asked for
    assert notion.record("flu", "cancer") == Fraction(3, 2)
    assert max(notion.record(x, y) for x in records for y in records) == 2 == min(5, 2 * 1)
    assert LocalDP(1).price_in(notion) == 1
    assert notion.price_in(LocalDP(1)) == 2
    widest = InputDiscriminativeLDP(epsilons, pair=max)
    assert widest.record("hiv", "cancer") == Fraction(3, 2)
    with pytest.raises(InputError, match="fewer than two"):
        InputDiscriminativeLDP({"flu": 1})


def test_uldp_says_more_than_its_distance() -> None:
    """The distance of ULDP allows an output that comes from two records; ULDP does not."""
    report = {
        "s": {"x": 1},
        "n": {"x": Fraction(1, 2), "y": Fraction(1, 2)},
        "m": {"x": Fraction(1, 2), "y": Fraction(1, 2)},
    }
    notion = ULDP(log(2), lambda r: r == "s", records="snm")
    for r, s in itertools.permutations("snm", 2):
        if not notion.record(r, s).is_infinite:
            assert all(p <= 2 * report[s].get(z, 0) for z, p in report[r].items())
    reveals_one = [z for z in "xy" if sum(z in report[r] for r in "snm") == 1]
    protected = all(report[r].get("y", 0) <= 2 * report[s].get("y", 0) for r in "snm" for s in "snm")
    assert not reveals_one
    assert not protected


def test_records_at_distance_zero_and_infinity_are_welcome() -> None:
    notion = RecordDistance(2, FiniteDistance("abc", [[0, 0, inf], [0, 0, inf], ["1/2", "1/2", 0]]))
    assert {step.cost for step in notion.steps} == {0, 1}
    assert notion.price_in(notion) == 1
    assert notion.cost(REPLACE) == inf
    assert notion.cost(WITHDRAW) == inf  # nobody is not among the records
    assert LocalDP(1).price_in(notion) == inf  # records 0 apart must give the same answers
    assert notion.cost(DROP_FACT) == notion.cost(ADD_FACT) == inf


def test_columns_are_the_usual_way_to_give_policies() -> None:
    tested, ill = where("tested", equals=True), where("status", one_of=["ill", "dead"])
    notion = ADP(1, [~ill], name="the policy 'not ill'")
    assert notion.record({"status": "ill"}, {"status": "well"}) == 1
    assert notion.record({"status": "well"}, {"status": "ill"}) == inf
    assert notion.record({"status": "well"}, ABSENT) == inf
    assert "not ill" in notion.words.protects
    assert notion.price_in(ADP(1, [~ill, tested])) == 1  # more policies, fewer steps
    assert ADP(1, [~ill, tested]).price_in(notion) == inf
    assert BoundedDP(1).price_in(notion) == 1
    assert UnboundedDP(1).price_in(notion) == 2
    assert AdditionOnly(1).price_in(notion) == inf
    assert notion.price_in(OSDP(1, ill)) == 1
    assert OSDP(1, ill).price_in(notion) == inf
    assert OSDP(1, ill).price_in(OSDP(1, ill, "non-sensitive")) == 1
    assert OSDP(1, ill, "non-sensitive").price_in(OSDP(1, ill)) == inf


@pytest.mark.parametrize("case", CASES)
def test_a_notion_says_its_promise_in_words(case: str) -> None:
    notion = CASES[case][0]
    words = notion.words
    assert all((words.definition, words.protects, words.alternative, words.unit))
    told_apart = any(far.is_infinite for far in notion.on(all_tables(CASES[case][2], 1)).values)
    if told_apart:
        assert "certainty" in words.reveals or "public" in words.protects
    else:
        assert words.reveals == ""


def test_each_one_sided_notion_read_backwards_is_the_other() -> None:
    assert AdditionOnly("1/3").reverse() == RemovalOnly("1/3")
    assert RemovalOnly("1/3").reverse() == AdditionOnly("1/3")
    table, gone = ("a", "b"), (None, "b")
    assert AdditionOnly("1/3").reverse()(gone, table) == AdditionOnly("1/3")(table, gone) == exact("1/3")


def test_a_policy_is_a_proposition() -> None:
    assert ADP("1", ~has("a")) == ADP("1", [~has("a")])
    for make in (lambda: ADP("1", ["a"]), lambda: OSDP("1", "a"), lambda: ADP("1", "ab")):  # type: ignore[arg-type, list-item]
        with pytest.raises(InputError, match=r"as a policy: .*~has\('a'\)"):
            make()


def test_a_notion_has_no_price_in_a_distance_between_answers() -> None:
    with pytest.raises(InputError, match=r"AdditionOnly\(\"1\"\) in Line.*between different things"):
        AdditionOnly("1").price_in(Line(1, 1))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        AdditionOnly("1") + 1  # type: ignore[operator]


@pytest.mark.parametrize("kind", NAMED.values())
@pytest.mark.parametrize("name", ["sees", "changes"])
def test_what_a_class_says_of_its_notions_is_not_set_on_one_of_them(kind: type[Notion], name: str) -> None:
    made = kind("1")
    before = getattr(made, name)
    with pytest.raises(AttributeError):
        setattr(made, name, ())
    assert getattr(made, name) == before


@pytest.mark.parametrize("pair", [("s", "N"), ("s", "t", "n"), "st", ("s", 1), "s"])
def test_a_bound_of_no_pair_of_records_is_not_left_unused(pair: Any) -> None:
    """A slip in a name would leave the pair that is meant at infinity, which is without any protection."""
    with pytest.raises(InputError, match="not a pair of the records"):
        ContextAwareLDP("1", "stn", {("s", "t"): 1, pair: 1})


def test_bounds_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(InputError):
        ContextAwareLDP("1", "stn", [("s", "t", 1)])  # type: ignore[arg-type]
