"""Caps of analysts inside that of a data set: never overspent, whoever asks at once, dies, withdraws or asks the same."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import reserve
from tests.ledger.worker import asked

from leeward.errors import CapExceededError, InexactError, InputError, LedgerError
from leeward.ledger import Analyst, Ledger, Share

HALF = Fraction(1, 2)
ANN, BOB = Analyst("ann", Fraction(1)), Analyst("bob", Fraction(3))
Worker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return Ledger(place.url)


def release(ledger: Ledger, key: str, analyst: Analyst | None, cost: Fraction = HALF, **other: Any) -> str:
    with reserve(ledger, asked(key, cost=cost, cap=Fraction(2), analyst=analyst, **other)) as claim:
        if claim.answer is None:
            claim.store(b"answer")
    return claim.id


def test_each_spends_up_to_their_cap_and_all_together_up_to_that_of_the_data_set(ledger: Ledger) -> None:
    release(ledger, "a", ANN)
    release(ledger, "b", ANN)
    with pytest.raises(CapExceededError, match=r"costs 1/2, and 0 is left of what 'ann' may spend on 'city' \(cap 1\)"):
        release(ledger, "c", ANN)
    release(ledger, "c", BOB)
    assert ledger.shares() == [Share("city", "ann", Fraction(1)), Share("city", "bob", HALF)]
    with pytest.raises(CapExceededError, match="left of the budget of 'city'"):
        release(ledger, "d", BOB, Fraction(1))
    release(ledger, "e", None)
    (account,) = ledger.show()
    assert account.left == 0
    assert ledger.shares("town") == ledger.shares("city", "eve") == []


def test_a_stored_answer_is_free_for_everybody_and_stays_with_who_paid(ledger: Ledger) -> None:
    first = release(ledger, "a", ANN, Fraction(1))
    assert release(ledger, "a", Analyst("poor", Fraction(0)), Fraction(1)) == first
    assert ledger.shares() == [Share("city", "ann", Fraction(1))]
    assert [(one.kind, one.id == first) for one in ledger.history()] == [
        ("opened", False),
        ("reserved", True),
        ("asked-by", True),
        ("released", True),
    ]
    assert [one.key for one in ledger.history() if one.kind == "asked-by"] == ["ann"]


def test_what_is_given_back_or_cost_less_is_given_back_to_who_asked(ledger: Ledger) -> None:
    with suppress(ZeroDivisionError), reserve(ledger, asked("a", analyst=ANN)):
        raise ZeroDivisionError
    with reserve(ledger, asked("b", cost=Fraction(1), analyst=ANN)) as claim:
        claim.store(b"", Fraction(1, 3))
    assert ledger.shares() == [Share("city", "ann", Fraction(1, 3))]
    ledger.check()


def test_a_charge_of_the_dead_is_taken_over_and_stays_theirs(place: Place) -> None:
    if (child := os.fork()) == 0:
        with reserve(Ledger(place.url), asked("a", analyst=ANN)):
            os._exit(0)
    os.waitpid(child, 0)
    ledger = Ledger(place.url)
    assert ledger.shares() == [Share("city", "ann", Fraction(1, 3))]
    with reserve(ledger, asked("a", analyst=BOB)) as claim:
        claim.store(b"answer")
    assert ledger.shares() == [Share("city", "ann", Fraction(1, 3))]


def test_many_at_once_never_spend_more_than_theirs(ledger: Ledger) -> None:
    """Twelve threads under a cap of three: a check before the charge would let more through."""
    told, begun = list[str](), threading.Barrier(12)

    def ask(me: int) -> None:
        begun.wait()
        try:
            release(ledger, f"q{me}", ANN, Fraction(1, 3))
            told.append("answered")
        except CapExceededError:
            told.append("refused")

    threads = [threading.Thread(target=ask, args=(me,)) for me in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert Counter(told) == {"answered": 3, "refused": 9}
    assert ledger.shares() == [Share("city", "ann", Fraction(1))]


def test_a_price_may_be_asked_before_it_is_charged(ledger: Ledger) -> None:
    release(ledger, "a", ANN)
    price = asked("b", cost=HALF).cost
    from leeward.ledger._records import Amount

    ledger.check_share("city", ANN, Amount(price))
    for dear in (Amount(Fraction(2, 3)), Amount(price, Fraction(1, 10**6))):
        with pytest.raises(CapExceededError):
            ledger.check_share("city", ANN, dear)
    assert ledger.shares() == [Share("city", "ann", HALF)]


def test_nothing_with_a_delta_is_charged_for_an_analyst(ledger: Ledger) -> None:
    with pytest.raises(CapExceededError, match="has no δ"):
        release(ledger, "a", ANN, delta=Fraction(1, 10**6), cap_delta=Fraction(1, 10))


@pytest.mark.parametrize("change", ["UPDATE entries SET key = 'bob' WHERE kind = 'asked-by'", "cost"])
def test_who_asked_and_for_how_much_is_part_of_the_chain(ledger: Ledger, place: Place, change: str) -> None:
    release(ledger, "a", ANN)
    place.change(change if change != "cost" else "UPDATE entries SET cost = '1/9' WHERE kind = 'reserved'")
    for read in (ledger.check, lambda: Ledger(place.url)):
        with pytest.raises(LedgerError, match="hash chain"):
            read()
    if change == "cost":  # a ledger that is open already looks at what it adds up
        with pytest.raises(LedgerError, match="hash chain"):
            ledger.shares()


def test_a_name_is_text_and_a_cap_exact() -> None:
    for name in ("", "\udc00", 7):
        with pytest.raises(InputError):
            Analyst(name, Fraction(1))  # type: ignore[arg-type]
    with pytest.raises(InexactError):
        Analyst("ann", 0.5)  # type: ignore[arg-type]
    with pytest.raises(InputError):
        Analyst("ann", Fraction(-1))
