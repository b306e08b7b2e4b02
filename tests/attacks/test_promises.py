"""Attack: prices, distances and sensitivities of promises combined at random, by their definitions on tiny universes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.attacks.made import Draw, condition, notion
from tests.oracle import promises as truth

import leeward as lw
from leeward.cli import LeewardError
from leeward.exact import Real

SETS = [frozenset(s) for k in range(4) for s in itertools.combinations("abz", k)]
RECORDS = [None, *SETS[1:]]
INF = truth.INF


def number(cost: Real) -> Any:
    return INF if cost.is_infinite else cost.rational


# ---- prices


@pytest.mark.parametrize("seed", range(4))
def test_no_price_between_nested_promises_is_too_low(seed: int) -> None:
    draw, derived = Draw(seed, facts="ab", listed=RECORDS if seed % 2 else None), 0
    for _ in range(60):
        mine, other = draw.to_two(), draw.to_two()
        claimed = number(notion(mine).price_in(notion(other)))
        if claimed == INF:
            continue
        derived += 1
        assert claimed >= truth.price(truth.steps(mine), truth.steps(other), RECORDS), (mine, other)
    assert derived >= 8


def test_what_is_kept_beside_single_facts_has_steps_of_its_own() -> None:
    """Found by the one before: in a list of records, only steps of one fact were priced, and the others forgotten."""
    a, b = frozenset("a"), frozenset("b")
    pairs = dict.fromkeys(itertools.permutations([*SETS[1:], None], 2), INF) | {(a, b): 1}
    other = ("both", ("facts", Fraction(10), Fraction(10)), ("listed", Fraction(1), pairs))
    for mine, right in ((("replace", 1), 1), (("replace", 3), 3), (("replace", Fraction(1, 2)), Fraction(1, 2))):
        assert truth.price(truth.steps(mine), truth.steps(other), RECORDS) == right
        assert notion(mine).price_in(notion(other)) == right


def test_the_oracle_finds_a_price_that_is_too_low() -> None:
    bounded, addition = truth.steps(("bounded", 1)), truth.steps(("addition", 1))
    assert truth.price(bounded, truth.steps(("unbounded", 1)), RECORDS) == INF
    assert truth.price(truth.steps(("unbounded", 1)), bounded, RECORDS) == 2
    assert truth.price(addition, truth.steps(("presence", 1)), RECORDS) == INF
    assert truth.price(truth.steps(("presence", 1)), addition, RECORDS) == 1


@pytest.mark.parametrize("seed", range(2))
def test_nested_promises_are_the_closure_of_their_steps_on_two_persons(seed: int) -> None:
    draw = Draw(seed + 100, facts="ab")
    records = [None, *SETS[1:5]]
    tables = list(itertools.product(records, repeat=2))
    for _ in range(6):
        told = draw.to_two()
        made = notion(told).on(tables)
        first, second = (truth.closed(one, records) for one in truth.steps(told))
        place = {record: i for i, record in enumerate(records)}
        for x, y in draw.random.sample(list(itertools.product(tables, repeat=2)), 80):
            far = first[place[x[0]]][place[y[0]]] + second[place[x[1]]][place[y[1]]]
            assert number(made(x, y)) == far, (told, x, y)


def test_a_way_over_a_record_that_is_listed_counts_whether_or_not_its_table_is_looked_at() -> None:
    """S → t under one promise and t → n under the other: s has n as its cover, so nothing may tell the two apart."""
    words = ("s", "t", "n")

    def only(x: str, y: str) -> lw.notion.RecordDistance:
        far = [[0 if a == b else 1 if (a, b) == (x, y) else lw.inf for b in words] for a in words]
        return lw.notion.RecordDistance(1, lw.distance.FiniteDistance(words, far))

    made = lw.both_hold(only("s", "t"), only("t", "n"))
    few, tells = [("s",), ("n",)], [[1, 0], [0, 1]]
    assert made.on(few)(*few) == 2
    assert made.reverse().on(few)(*reversed(few)) == 2
    assert made.scale(3).on(few)(*few) == 6
    assert not lw.verify(lw.mechanism.FiniteMechanism(few, [0, 1], tells), made)
    assert lw.verify(lw.mechanism.FiniteMechanism(few, [0, 1], tells), only("s", "t"))


# ---- sensitivities


def query(draw: Draw, declared: lw.query.Domain) -> tuple[Any, Any]:
    """A query and what it adds for a record."""
    asked = [draw.condition() for _ in range(draw.among(1, 2, 3))]
    if draw.random.random() < 0.6:
        made = lw.query.CountWhere(tuple(map(condition, asked)), declared)
        return made, lambda r: [int(r is not None and truth.holds(c, r)) for c in asked]
    weights = [[draw.among(-2, -1, 0, 1, 3) for _ in asked] for _ in range(2)]
    made_ = lw.query.Linear(tuple(map(condition, asked)), weights, declared)  # type: ignore[arg-type]
    return made_, lambda r: [
        0 if r is None else sum(w for w, c in zip(row, asked, strict=True) if truth.holds(c, r)) for row in weights
    ]


def ways(told: tuple[Any, ...], every: list[Any]) -> list[list[list[Any]]]:
    """The cheapest ways over all records there are, for each person; the same where the promise is."""
    each = truth.steps(told)
    return [truth.closed(one, every) for one in (each if told[0] == "each" else each[:1])]


def check(told: tuple[Any, ...], asked: Any, value: Any, records: list[Any], every: list[Any]) -> int:
    """Return 1 where rates are claimed, having asserted that they are allowed; 0 where they are refused.

    Found, when ``every`` came in: what is promised about two declared records may rest on one that is not declared.
    """
    made, place = notion(told), [every.index(record) for record in records]
    far = [[[row[j] for j in place] for row in (of[i] for i in place)] for of in ways(told, every)]
    try:
        all_at_once, each = lw.sensitivity(made, asked).line, lw.query.sensitivity_each(made, asked).line
    except LeewardError as refused:
        if "no step" in str(refused):
            assert truth.broken(told, value, records, INF, INF, far=far) is None, (told, asked)
        return 0
    for line, single in ((all_at_once, False), (each, True)):
        rates = number(line.rise), number(line.fall)
        assert truth.broken(told, value, records, *rates, far=far, each=single) is None, (told, asked, line)
    return 1


@pytest.mark.parametrize("seed", range(4))
def test_no_rate_about_facts_is_too_large(seed: int) -> None:
    draw, allowed = Draw(seed + 200), 0
    for _ in range(45):
        told, most = draw.to_two(1), draw.among(None, 1, 2, "listed")
        about_facts = any(word in str(told) for word in ("'presence'", "'graded'", "'facts'"))
        sets = [frozenset(s) for k in range(5) for s in itertools.combinations("abcz", k)][about_facts:]
        if most == "listed":
            some = draw.random.sample(sets, draw.among(2, 3, 5))
            asked, value = query(draw, lw.query.Domain(records=tuple(some)))
        else:
            some = [s for s in sets if len(s) <= (most or 4)]
            asked, value = query(draw, lw.query.Domain(facts_per_person=most))
        allowed += check(told, asked, value, [None, *some], [None, *sets])
    assert allowed >= 20


X: list[Any] = [None, -2, -1, 0, Fraction(1, 2), 1, 2, 3, 4, "w", "3"]
Y = (0, 1, 3, "w")


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(3))
def test_no_rate_about_rows_is_too_large(seed: int) -> None:
    draw, allowed = Draw(seed + 300, rows=True), 0
    for _ in range(14):
        told, known = draw.to_two(1), draw.among(None, range(-2, 6, 2), [0, 1], ["w", None, 3])
        columns: dict[str, Any] = {"y": [0, 1, 3]} | ({"x": known} if known else {})
        asked, value = query(draw, lw.query.Domain(columns=columns))
        some, every = ([{"x": x, "y": y} for x in xs for y in ys] for xs, ys in ((known or X, Y[:3]), (X, Y)))
        allowed += check(told, asked, value, [None, *some], [None, *every])
    assert allowed >= 5


def test_the_oracle_finds_a_rate_that_is_too_large() -> None:
    def away(record: Any) -> list[int]:
        return [int(record is not None and "a" not in record)]

    assert truth.broken(("addition", 1), away, RECORDS, INF, 1) is None
    assert truth.broken(("addition", 1), away, RECORDS, INF, 2) is not None
    assert truth.broken(("bounded", 1), away, RECORDS, INF, 1) is not None
