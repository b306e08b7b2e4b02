"""Sums, means and percentiles: their answers, and the sensitivities of d-privacy's Section 5, decided by enumeration."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from leeward.analysis import expansion, in_class_c
from leeward.distance import Derived, FiniteDistance
from leeward.errors import InputError, NotPrivateError
from leeward.exact import Real, exact
from leeward.notion import (
    ABSENT,
    Manhattan,
    Maximum,
    NormalisedManhattan,
    Notion,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    all_tables,
    with_nobody,
)
from leeward.query import Mean, Numeric, Sum, maximum, median, minimum, percentile, sensitivity

REALS: Derived[Any] = Derived("d_R", lambda x, y: abs(x - y))
V = ValueGrid(0, 4, 2)  # q[0..k], q = 2, k = 2: the width qk is 4
FULL = all_tables((*V.points, ABSENT), 3)
TABLES = [x for x in FULL if any(v is not ABSENT for v in x)]
QUERIES: dict[str, Numeric] = {
    "sum": Sum(V),
    "mean": Mean(V),
    "median": median(V),
    "min": minimum(V),
    "max": maximum(V),
    "30-percentile": percentile(V, "30"),
}


def test_answers_on_a_small_table() -> None:
    table = (4, ABSENT, 0, 2, 2)
    got = {name: query(table) for name, query in QUERIES.items()}
    assert got == {"sum": 8, "mean": 2, "median": 2, "min": 0, "max": 4, "30-percentile": 2}


@pytest.mark.parametrize("p", ["0", "25", "33.3", "50", "66.7", "99", "99.99"])
def test_a_percentile_is_at_its_place(p: str) -> None:
    """sort(x)[⌊pm/100⌋ + 1], counted from 1, after the null values are removed (proof of Theorem 13)."""
    values = ValueGrid(0, 9)
    for table in [(3,), (5, 1), (9, 0, 4), (1, 1, 7, 2, ABSENT), tuple(range(10))]:
        present = sorted(v for v in table if v is not ABSENT)
        place = int(Fraction(p) * len(present) / 100 + 1)
        assert percentile(values, p)(table) == present[place - 1]


@pytest.mark.parametrize("notion", [Manhattan("1", V), NormalisedManhattan("1", V), ReplaceDP("1")], ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_propositions_4_5_and_theorems_11_12(name: str, notion: Notion) -> None:
    """The sensitivity by enumeration, and the rate that the release takes, which is its inverse."""
    query = QUERIES[name]
    found = expansion(query, notion.on(TABLES), REALS)
    width = 1 if isinstance(notion, Manhattan) and not isinstance(notion, NormalisedManhattan) else 4
    assert found.sensitivity == width  # 1 under d_1; qk (not "qr") under d_h and d̃_1
    line = sensitivity(notion, query).line
    assert line.rise == line.fall == exact(1) / width
    if isinstance(notion, ReplaceDP):
        assert not found.uniform
    else:
        assert found.uniform == (name != "mean")  # Theorems 11 and 12 hold, except for the average on its real range


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "sum"])
def test_theorem_13(name: str) -> None:
    query, notion = QUERIES[name], Maximum("1", V)
    found = expansion(query, notion.on(TABLES), REALS)
    assert found.sensitivity == 1
    assert found.uniform == (name != "mean")
    assert sensitivity(notion, query).line.rise == 1


def test_the_average_is_not_uniformly_sensitive_on_its_real_range() -> None:
    """Theorems 11 to 13 put it on q[0..k]; its answers fall between. The pair without a chain is shown."""
    for notion in (Manhattan("1", V), NormalisedManhattan("1", V), Maximum("1", V)):
        found = expansion(Mean(V), notion.on(TABLES), REALS)
        assert found.refuted == (0, Fraction(2, 3))
        on_grid = [x for x in TABLES if Mean(V)(x) in V]
        assert expansion(
            Mean(V), notion.on(on_grid), REALS
        ).uniform  # as the paper has it: only tables with such averages


def test_without_nobody_the_average_is_a_sum_and_not_optimal_under_the_maximum() -> None:
    """The last remark of the proof of Theorem 13: with ∅ ∉ V, avg is sum, which is not uniformly sensitive wrt d_∞."""
    full = all_tables(V.points, 2)
    notion = Maximum("1", V, nobody=False)
    scaled = Derived("2·d_R", lambda x, y: 2 * abs(x - y))
    mean, total = expansion(Mean(V), notion.on(full), scaled), expansion(Sum(V), notion.on(full), REALS)
    assert mean.sensitivity == total.sensitivity == 2
    assert not mean.uniform
    assert not total.uniform
    for query in (median(V), minimum(V), maximum(V)):  # "p-perc works without ∅ values"
        assert expansion(query, notion.on(full), REALS).uniform


def test_class_c() -> None:
    with_null = with_nobody(REALS.on(V.points))
    space = ReplaceDP("1").on(TABLES)
    for query in QUERIES.values():
        assert in_class_c(query, space, with_null)
    assert not in_class_c(lambda x: 2 * QUERIES["sum"](x), space, with_null)  # moves twice as far as the value
    assert not in_class_c(lambda x: QUERIES["sum"](x) / 2, space, with_null)  # never as far as a value can


def test_footnote_10_zero_outside_the_universe() -> None:
    values = ValueGrid(10, 14, 2)
    tables = [x for x in all_tables((*values.points, ABSENT), 2) if any(v is not ABSENT for v in x)]
    notion = Manhattan("1", values)
    found = expansion(Sum(values), notion.on(tables), REALS)
    assert found.sensitivity == Fraction(14, 4)  # presence moves the sum by 14 at the cost of 4
    assert sensitivity(notion, Sum(values)).line.fall == exact(Fraction(4, 14))
    negative = ValueGrid(-6, -2, 2)
    assert sensitivity(Manhattan("1", negative), Sum(negative)).line.rise == exact(Fraction(4, 6))


def test_a_public_number_of_people_makes_the_average_finer() -> None:
    """1/m-sensitive in d_1 with m public; the m·-fold for a sum when all move at once."""
    notion = Manhattan("1", V, nobody=False)
    full = all_tables(V.points, 3)
    mean = Mean(V, people=3)
    assert expansion(mean, notion.on(full), REALS).sensitivity == Fraction(1, 3)
    assert sensitivity(notion, mean).line.rise == 3
    all_records = Maximum("1", V, nobody=False)
    assert sensitivity(all_records, Sum(V, people=3)).line.rise == exact(Fraction(1, 3))
    assert expansion(Sum(V), all_records.on(full), REALS).sensitivity == 3
    with pytest.raises(NotPrivateError, match="number of people is not public"):
        sensitivity(all_records, Sum(V))
    with pytest.raises(NotPrivateError, match="exactly 3 people"):
        sensitivity(Manhattan("1", V), mean)
    with pytest.raises(InputError, match="another number of values"):
        mean((0, 2, ABSENT))


def test_an_empty_table_answers_a_public_default() -> None:
    assert Mean(V)((ABSENT, ABSENT)) == 0
    assert median(V, default=Fraction(2))((ABSENT,)) == 2
    assert Sum(V)((ABSENT,)) == 0
    for query in (Mean(V), median(V, default=Fraction(2)), maximum(V)):  # and it moves no further than the rest
        assert expansion(query, Manhattan("1", V).on(FULL), REALS).sensitivity == 1
    with pytest.raises(InputError, match="outside the universe"):
        Mean(V, default=Fraction(5))


@pytest.mark.parametrize("default", [None, 0, 2, 4])
@pytest.mark.parametrize("ask", [minimum, median, maximum])
def test_nobody_s_answer_counts_in_how_far_one_person_moves_it(ask: Any, default: int | None) -> None:
    """By trying it: who appears alone moves the answer from its default, so a maximum may fall when somebody appears."""
    query = ask(V, default=None if default is None else Fraction(default))
    numbers = [Fraction(value) for value in (0, 2, 4)]
    lists = [list(each) for n in range(3) for each in itertools.product(numbers, repeat=n)]
    moves = [query.answer([*held, new]) - query.answer(held) for held in lists for new in numbers]
    rise, fall = query.presence()
    assert rise >= max(moves) and fall >= -min(moves)  # noqa: PT018
    assert (fall == 0) == (min(moves) >= 0)


@pytest.mark.parametrize(("grid", "expected"), [("2", 1), ("1", 1), ("2/3", 1), ("4/5", "6/5"), ("4", 2)])
def test_rounding_the_average_keeps_its_sensitivity_on_grids_that_divide_the_step(grid: str, expected: str) -> None:
    """Half up to a public grid: exactly 1 if its step divides q = 2, and the claimed rate is never too large."""
    query, notion = Mean(V, grid=Fraction(grid)), Manhattan("1", V)
    whole = expansion(query, notion.on(TABLES), REALS).sensitivity
    claimed = 1 / sensitivity(notion, query).line.rise
    assert whole <= claimed == exact(expected)
    assert (whole == 1) == (expected == 1)


def test_half_to_even_would_double_it() -> None:
    """The broken variant: Python's round takes 1/2 to 0 and 3/2 to 2 (q = 1, grid 1), all values having moved by 1."""
    values = ValueGrid(0, 3)
    tables = all_tables(values.points, 2)
    notion = Maximum("1", values, nobody=False)
    fine = expansion(Mean(values, grid=Fraction(1)), notion.on(tables), REALS).sensitivity
    broken = expansion(lambda x: Fraction(round(Fraction(sum(x), 2))), notion.on(tables), REALS).sensitivity
    assert (fine, broken) == (1, 2)


NOTIONS: list[Notion] = [
    ReplaceDP("1"),
    UnboundedDP("1"),
    Manhattan("1/2", V),
    Manhattan("1", V, nobody=False),
    NormalisedManhattan("1", V),
    Maximum("1", V),
]


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
@pytest.mark.parametrize("name", QUERIES)
def test_claimed_rates_are_never_too_large(name: str, notion: Notion) -> None:
    """Whatever the notion: a rate larger than enumeration allows would break privacy."""
    query = QUERIES[name]
    try:
        line = sensitivity(notion, query).line
    except NotPrivateError:
        assert isinstance(notion, Maximum)
        return
    space: FiniteDistance[Any] = notion.on(TABLES)
    for x, y in itertools.product(TABLES, repeat=2):
        move = query(y) - query(x)
        cost: Real = line.rise * move if move >= 0 else line.fall * -move
        assert cost <= space(x, y)
