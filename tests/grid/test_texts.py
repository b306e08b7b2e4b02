"""Texts of conditions and names of budgets: equal exactly where the promises are.

A complete grid: every condition that a few columns, values of different types and operators can make, every notion made of
them, and every public notion. Two share a text iff they are equal; two budgets share a name iff they are the same notion at
ε = 1.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from enum import Enum, IntEnum, IntFlag, StrEnum
from fractions import Fraction
from typing import Any

import pytest
from tests.grid.notions import BASES, ROWS

from leeward.accounting._budget_notion import budget_notion
from leeward.distance import FiniteDistance, both_hold
from leeward.errors import InputError, UndecidedError
from leeward.notion import (
    ADP,
    OSDP,
    ULDP,
    AdditionOnly,
    Condition,
    GroupDP,
    Manhattan,
    Maximum,
    NormalisedManhattan,
    Notion,
    Personalised,
    RecordDistance,
    UnboundedDP,
    ValueGrid,
    has,
    where,
)
from leeward.notion._condition import AllOf, AnyOf

VALUES: list[Any] = [
    *(1, 1.0, True, Fraction(1), Decimal(1), 2, "1", "a", "b", "a, b", "'a'", "a', 'b", "", "True", "1.0"),
    *(("a", "b"), ("a, b",), frozenset("ab"), frozenset({"a, b"}), b"a", None),
]
COLUMNS = ["x", "y", "x in {1} or y", "not (x", "1", "has"]


def atoms() -> list[Condition]:
    made: list[Condition] = [has(value) for value in VALUES]
    for column in COLUMNS:
        made += [where(column, one_of=[value]) for value in VALUES if value is not None]
        made += [where(column, one_of=list(pair)) for pair in itertools.combinations(VALUES[5:10], 2)]
        made += [where(column, at_least=1), where(column, at_most=1), where(column, at_least=1, at_most=1)]
    return made


def compound(parts: list[Condition]) -> list[Condition]:
    pairs = [(one, two) for one in parts for two in parts]
    return [*(~part for part in parts), *(one & two for one, two in pairs), *(one | two for one, two in pairs)]


SIMPLE = [has("a"), has("b"), has("a) and (has b"), where("x", equals=1), where("x", equals="1"), where("x", at_most=1)]
CONDITIONS = [
    *(*atoms(), *compound(SIMPLE), *compound(compound(SIMPLE[:2]))),
    *(AllOf(tuple(SIMPLE[:3])), AnyOf(tuple(SIMPLE[:3])), AllOf((SIMPLE[0],)), AnyOf((SIMPLE[0],))),
]


def same_text_iff_equal(things: list[Any], text: Any) -> list[tuple[Any, Any]]:
    """Pairs whose texts are equal and they are not, or the other way round."""
    by_text: dict[str, Any] = {}
    by_thing: dict[Any, str] = {}
    wrong = []
    for thing in things:
        said = text(thing)
        if by_text.setdefault(said, thing) != thing or by_thing.setdefault(thing, said) != said:
            wrong.append((thing, said))
    return wrong


def test_conditions_are_told_apart_by_their_text() -> None:
    assert len(CONDITIONS) > 250
    # AllOf and AnyOf of a single part mean the same and are written as it is; they are not two conditions of the grid
    several = [
        c
        for c in CONDITIONS
        if len(getattr(c, "of", (0, 0)) if isinstance(getattr(c, "of", None), tuple) else (0, 0)) > 1
    ]
    assert same_text_iff_equal(several, str) == []


def test_texts_without_quotes_or_types_are_rejected() -> None:
    def bare(condition: Any) -> str:
        values = getattr(condition, "values", None)
        return str(condition) if values is None else f"{condition.column} in {sorted(map(str, values))}"

    assert same_text_iff_equal([where("x", equals=1), where("x", equals="1")], bare)
    assert same_text_iff_equal(
        [where("x", one_of=["a, b"]), where("x", one_of=["a", "b"])], lambda c: ", ".join(map(str, sorted(c.values)))
    )


def notions() -> list[Notion]:
    made: list[Notion] = [row.notion for row in ROWS]
    made += [ADP(1, [condition]) for condition in CONDITIONS]
    made += [OSDP(1, condition) for condition in SIMPLE] + [ULDP(1, condition) for condition in SIMPLE]
    made += [Personalised(ADP(1, [condition]), [1, 2]) for condition in SIMPLE]
    made += [Personalised(AdditionOnly(1), eps) for eps in ([1, 2], [2, 1], [1, 1], [1, 2, 2], [1])]
    made += [both_hold(ADP(1, [condition]), AdditionOnly(3)) for condition in SIMPLE]  # type: ignore[misc]
    made += [ADP(1, pair) for pair in itertools.combinations(SIMPLE, 2)]
    made += [ADP(1, [one & two]) for one, two in itertools.combinations(SIMPLE, 2)]
    made += [RecordDistance(1, FiniteDistance(p, [[0, 1], [1, 0]])) for p in ([1, 2], ["1", "2"], ["1: 0", "2"])]
    made += [GroupDP(1, groups) for groups in ([[0, 1], [2]], [[0], [1, 2]], [[0, 1, 2]])]
    made += [Manhattan(1, ValueGrid(0, 3), unit=unit) for unit in ("1", "1 W", "2", "2 W")]
    return made


def test_budgets_of_different_notions_never_share_a_name() -> None:
    named: dict[str, Notion] = {}
    for notion in notions():
        at_one = notion.with_epsilon(1)
        said = budget_notion(notion)
        try:
            assert named.setdefault(said, at_one) == at_one, said
        except UndecidedError:
            pytest.fail(f"{notion} cannot be compared")
        assert budget_notion(notion.scale(7)) == said
    assert len(named) > 250


def test_a_name_without_what_is_inside_is_rejected() -> None:
    one, two = (Personalised(ADP(1, [has("z" * 300 + fact)]), [1]) for fact in "ab")  # too long to be shown whole
    assert str(one.persons) == str(two.persons)  # what the name was made of
    assert budget_notion(one) != budget_notion(two)


def test_a_function_has_no_name_unless_all_records_are_listed() -> None:
    with pytest.raises(InputError, match="no lasting form"):
        budget_notion(ADP(1, [lambda record: True]))
    one, two = (ADP(1, [lambda record, k=k: record == k], records=(1, 2)) for k in (1, 2))
    assert budget_notion(one) != budget_notion(two)
    same = ADP(1, [lambda record: record < 2], records=(1, 2))
    assert budget_notion(one) == budget_notion(same)  # what it says of every record is all there is


def test_a_class_of_ones_own_has_a_name_of_its_own() -> None:
    for row in BASES:
        kind = type(row.notion)
        own = object.__new__(type(kind.__name__, (kind,), {"__module__": "elsewhere"}))
        own.__dict__.update(row.notion.__dict__)
        assert budget_notion(own) != budget_notion(row.notion)
    assert budget_notion(UnboundedDP(1)) == "dp/person"


class _Whole(IntEnum):
    ONE = 1


class _Flags(IntFlag):
    A = 1
    B = 2


class _Text(StrEnum):
    A = "a"


class _Alone(Enum):
    ONE = 1


def test_members_of_an_enumeration_that_are_equal_to_a_value_read_as_it() -> None:
    """Two notions that are equal have one budget: `where("x", equals=Status.OPEN)` is about the text that it equals."""
    for member, value in ((_Whole.ONE, 1), (_Flags.A | _Flags.B, 3), (_Text.A, "a")):
        for condition in (has, lambda it: where("x", one_of=[it, "z"])):
            one, two = (ADP("1", [condition(each)]) for each in (member, value))
            assert one == two
            assert budget_notion(one) == budget_notion(two)
    assert budget_notion(ADP("1", [has(_Alone.ONE)])) != budget_notion(ADP("1", [has(1)]))


def test_notions_that_write_their_arguments_write_all_that_make_them_two() -> None:
    """As `ADP("1", policies=[…], absent_too=True)`. Summaries, as of groups and of persons, are no such texts."""
    values, policies = ValueGrid(0, 2), ([has("a")], [~has("a")], [has("a"), ~has("b")])
    made: list[Any] = [ADP(1, held, absent_too=absent) for held in policies for absent in (False, True)]
    made += [OSDP(1, has("a"), reading=reading) for reading in ("any", "non-sensitive")]
    for nobody in (False, True):
        made += [kind(1, values, unit=unit, nobody=nobody) for kind in (Manhattan, Maximum) for unit in (1, 2)]
        made.append(NormalisedManhattan(1, values, nobody=nobody))
    assert same_text_iff_equal(made, str) == []
    assert same_text_iff_equal(made, repr) == []
