"""δ in a ledger: it adds up, has a cap of its own, is given back with a charge, and is part of what the chain covers.

What has no δ is written as it always was: not a character of a ledger without one differs.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.places import Place, PostgresPlace
from tests.ledger.single import peek, reserve
from tests.ledger.worker import asked

from leeward.errors import BudgetConflictError, CapExceededError, InexactError, InputError, LedgerError
from leeward.ledger import Account, Ledger
from leeward.ledger._records import Amount, from_text, to_text

MILLIONTH = Fraction(1, 10**6)
OPEN: dict[str, Any] = {"cap": Fraction(3), "cap_delta": 3 * MILLIONTH}


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return Ledger(place.url)


def release(ledger: Ledger, key: str, payload: bytes = b"answer", **other: Any) -> None:
    with reserve(ledger, asked(key, **(OPEN | other))) as claim:
        if claim.answer is None:
            claim.store(payload)


def stands(ledger: Ledger) -> tuple[Fraction, Fraction]:
    (account,) = ledger.show("city")
    return account.spent, account.spent_delta


def test_both_add_up_and_each_has_its_cap(ledger: Ledger) -> None:
    release(ledger, "a", delta=MILLIONTH)
    release(ledger, "b")
    release(ledger, "c", delta=2 * MILLIONTH)
    assert ledger.show() == [
        Account("city", "addition-only/person", Fraction(3), Fraction(1), 3 * MILLIONTH, 3 * MILLIONTH)
    ]
    assert ledger.show()[0].left_delta == 0
    release(ledger, "a", delta=MILLIONTH)  # stored: free
    with pytest.raises(CapExceededError, match=r"needs δ = 1/1000000, and 0 is left .* set-cap --delta"):
        release(ledger, "d", delta=MILLIONTH)
    release(ledger, "e")  # what has none is still paid for
    assert stands(ledger) == (Fraction(4, 3), 3 * MILLIONTH)
    assert [(each.cost_delta, each.cap_delta) for each in ledger.history()][:3] == [
        (0, 3 * MILLIONTH),
        (MILLIONTH, 3 * MILLIONTH),
        (0, 3 * MILLIONTH),
    ]
    assert sum(each.cost_delta for each in ledger.history()) == 3 * MILLIONTH
    found = peek(ledger, "city", "1", "c")
    assert found is not None
    assert (found.cost, found.delta) == (Fraction(1, 3), 2 * MILLIONTH)


def test_a_budget_without_a_cap_on_delta_has_none_to_spend(ledger: Ledger) -> None:
    release(ledger, "a", cap_delta=None)
    with pytest.raises(CapExceededError, match="cap on δ 0"):
        release(ledger, "b", delta=MILLIONTH, cap_delta=None)
    assert stands(ledger) == (Fraction(1, 3), 0)
    ledger.set_cap("city", delta=MILLIONTH)
    release(ledger, "b", delta=MILLIONTH, cap_delta=None)
    assert stands(ledger) == (Fraction(2, 3), MILLIONTH)


def test_what_fails_gives_both_back(ledger: Ledger) -> None:
    release(ledger, "a", delta=MILLIONTH)
    with suppress(ZeroDivisionError), reserve(ledger, asked("b", delta=MILLIONTH, **OPEN)):
        assert stands(ledger) == (Fraction(2, 3), 2 * MILLIONTH)
        raise ZeroDivisionError
    assert stands(ledger) == (Fraction(1, 3), MILLIONTH)
    ledger.check()


def test_an_answer_that_costs_less_costs_its_delta_all_the_same(ledger: Ledger) -> None:
    with reserve(ledger, asked("a", delta=MILLIONTH, **OPEN)) as claim:
        claim.store(b"", Fraction(1, 7))
    assert stands(ledger) == (Fraction(1, 7), MILLIONTH)
    ledger.check()


def test_a_charge_of_the_dead_is_taken_over_with_its_delta(place: Place) -> None:
    if (child := os.fork()) == 0:
        with reserve(Ledger(place.url), asked("a", delta=MILLIONTH, **OPEN)):
            os._exit(0)
    os.waitpid(child, 0)
    ledger = Ledger(place.url)
    assert stands(ledger) == (Fraction(1, 3), MILLIONTH)
    with suppress(ZeroDivisionError), reserve(ledger, asked("a", delta=MILLIONTH, **OPEN)) as claim:
        assert (claim.cost, claim.delta) == (Fraction(1, 3), MILLIONTH)
        raise ZeroDivisionError
    assert sum(each.cost_delta for each in ledger.history()) == 0
    ledger.check()


def test_caps_are_changed_on_purpose_each_by_itself(ledger: Ledger) -> None:
    release(ledger, "a", delta=MILLIONTH)
    with pytest.raises(BudgetConflictError, match=r"cap on δ of 'city' is 3/1000000"):
        release(ledger, "b", cap_delta=MILLIONTH)
    ledger.set_cap("city", 5)
    ledger.set_cap("city", delta=MILLIONTH)
    (account,) = ledger.show()
    assert (account.cap, account.cap_delta) == (5, MILLIONTH)
    with pytest.raises(BudgetConflictError, match="cap on δ 0 was asked for 'city', and 1/1000000 is spent"):
        ledger.set_cap("city", delta=0)
    with pytest.raises(InputError, match="neither of the two"):
        ledger.set_cap("city")
    with pytest.raises(InputError, match="nothing is promised"):
        ledger.set_cap("city", delta=1)
    assert [each.kind for each in ledger.history()].count("set-cap") == 2


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"delta": 1e-6}, InexactError),
        ({"delta": Fraction(-1, 9)}, InputError),
        ({"delta": Fraction(1)}, InputError),
        ({"cap_delta": 0.5}, InexactError),
    ],
)
def test_a_delta_is_exact_and_a_probability(wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        asked("k", **wrong)


@pytest.mark.parametrize("table", ["entries", "charges"])
@pytest.mark.parametrize("text", ["1/3", "1/3 1/10000000", "1/3 0/1", "1/3 1/1000000 ", "1/3 x"])
def test_a_delta_that_was_edited_is_found(place: Place, table: str, text: str) -> None:
    release(Ledger(place.url), "a", delta=MILLIONTH)
    where = "kind = 'reserved'" if table == "entries" else "key = 'a'"
    place.change(f"UPDATE {table} SET cost = '{text}' WHERE {where}")
    with pytest.raises(LedgerError):
        Ledger(place.url)


def test_what_has_no_delta_is_written_as_ever(place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", cap_delta=None)
    with suppress(ZeroDivisionError), reserve(ledger, asked("b", cap=3)):
        raise ZeroDivisionError
    ledger.set_cap("city", 4)
    texts = [text for row in place.rows("SELECT cost, cap, spent FROM entries") for text in row if text is not None]
    texts += [text for (text,) in place.rows("SELECT cost FROM charges")]
    assert all(re.fullmatch(r"-?\d+/\d+", text) for text in texts)
    ledger.set_cap("city", delta=MILLIONTH)
    assert place.rows("SELECT cap FROM entries ORDER BY number DESC")[0] == ("4/1 1/1000000",)


def test_a_ledger_moves_with_its_deltas(path: Path, database: PostgresPlace) -> None:
    release(Ledger(path), "a", delta=MILLIONTH)
    moved = Ledger.move(path, database.url)
    assert stands(moved) == (Fraction(1, 3), MILLIONTH)
    release(moved, "b", delta=2 * MILLIONTH)
    with pytest.raises(CapExceededError, match="needs δ"):
        release(moved, "c", delta=MILLIONTH)
    moved.check()


@given(
    epsilon=st.fractions(min_value=-5, max_value=5, max_denominator=10**9),
    delta=st.fractions(min_value=-1, max_value=1, max_denominator=10**9),
)
@settings(max_examples=50, deadline=None)
def test_an_amount_is_read_as_it_was_written(epsilon: Fraction, delta: Fraction) -> None:
    amount = Amount(epsilon, delta)
    assert from_text(to_text(amount)) == amount
    assert (" " in to_text(amount)) == (delta != 0)


@pytest.mark.parametrize(
    "text", ["1/1 0/1", "2/4", "1", "+1/2", "1_0/3", "01/2", "1/-2", " 1/2", "1/2 ", "1/2 1/3 1/4", "0.5", "1/0"]
)
def test_an_amount_that_is_written_otherwise_is_a_change(text: str) -> None:
    with pytest.raises(LedgerError, match="An amount in the ledger"):
        from_text(text)
