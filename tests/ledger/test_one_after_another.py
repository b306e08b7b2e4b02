"""What is reserved together is held against what stands before it in one transaction, and caps against what was fixed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import reserve
from tests.ledger.worker import asked

from leeward.errors import BudgetConflictError, CapExceededError
from leeward.ledger import Analyst, DrawnAnswer, Ledger

MARKS, HALF = {"user": "1" * 32, "venue": "2" * 32}, Fraction(1, 2)
OTHERS = {"user": "3" * 32, "venue": "4" * 32}


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return Ledger(place.url)


def known(key: str, **other: Any) -> Any:
    same: dict[str, Any] = {"marks": MARKS, "telling": ["user", "venue"], "cap": Fraction(9), "cost": HALF}
    return asked(key, **(same | other))


def release(ledger: Ledger, key: str, **other: Any) -> None:
    with reserve(ledger, known(key, **other)) as claim:
        claim.store(b"answer")


def together(ledger: Ledger, *requests: Any) -> None:
    with ledger.reserve(requests) as reservation:
        reservation.store([DrawnAnswer(b"answer")] * len(reservation.unanswered))


def test_two_labels_that_read_alike_are_refused_in_one_transaction_too(ledger: Ledger) -> None:
    with pytest.raises(BudgetConflictError, match="read alike"):
        together(ledger, known("a", version="caf\u00e9"), known("b", version="cafe\u0301"))
    assert ledger.show() == []
    together(ledger, known("a", version="caf\u00e9"), known("b", version="caf\u00e9"))


def test_an_analyst_spends_no_more_in_one_transaction(ledger: Ledger) -> None:
    ann = Analyst("ann", Fraction(1))
    with pytest.raises(CapExceededError, match="of what 'ann' may spend"):
        together(ledger, *(known(key, analyst=ann) for key in "abc"))
    assert ledger.show() == []
    together(ledger, *(known(key, analyst=ann) for key in "ab"))


def test_content_that_is_charged_in_this_transaction_is_of_this_name(ledger: Ledger) -> None:
    """The second question reads a column that another data set has too: with the first it is known to be of both."""
    release(ledger, "a", dataset="other", marks={"venue": "2" * 32}, telling=["venue"])
    alone = known("y", marks={"venue": "2" * 32}, telling=["venue"], columns=("venue",), digest=b"of one")
    with pytest.raises(BudgetConflictError, match="is charged as 'other' already"):
        together(ledger, alone)
    together(ledger, known("x", new=True), alone)


def test_a_cap_on_delta_of_nothing_is_a_cap(ledger: Ledger) -> None:
    release(ledger, "a", cap_delta=Fraction(1, 1000))
    for given, fits in ((None, True), (Fraction(1, 1000), True), (Fraction(0), False), (Fraction(1, 999), False)):
        if fits:
            release(ledger, f"k{given}", cap_delta=given)
            continue
        with pytest.raises(BudgetConflictError, match="cap on δ of 'city' is 1/1000"):
            release(ledger, f"k{given}", cap_delta=given)


def test_where_nothing_is_left_nobody_is_told_to_ask_for_nothing(ledger: Ledger) -> None:
    release(ledger, "a", cap=Fraction(1, 2))
    with pytest.raises(CapExceededError) as spent:
        release(ledger, "b", cap=None)
    assert "Ask for at most" not in str(spent.value)
    ledger.set_cap("city", Fraction(3, 4))
    with pytest.raises(CapExceededError, match="Ask for at most 1/4, or raise the cap"):
        release(ledger, "b", cap=None)


def test_a_name_whose_only_charge_was_taken_back_stands_in_nobodys_way(ledger: Ledger) -> None:
    with pytest.raises(RuntimeError), reserve(ledger, known("a", dataset="gowalla")):
        raise RuntimeError
    assert ledger.show() == []
    assert ledger.account("gowala") is None
    release(ledger, "a", dataset="gowala")
    with pytest.raises(BudgetConflictError, match='Did you mean "gowala"'):
        release(ledger, "a", dataset="gowalla")
    with pytest.raises(BudgetConflictError, match='Did you mean "gowala"'):
        ledger.account("gowalla")


def test_an_open_budget_goes_on_beside_one_of_another_form(ledger: Ledger) -> None:
    release(ledger, "a", dataset="an old one", form="1", marks=OTHERS)
    with pytest.raises(BudgetConflictError, match="is unknown"):
        release(ledger, "a", dataset="city")
    release(ledger, "a", dataset="city", new=True)
    release(ledger, "b", dataset="city")
    release(ledger, "c", dataset="city", version="2", marks={"user": "7" * 32, "venue": "8" * 32}, digest=b"grown")


def test_two_names_that_share_their_content_on_purpose_go_on(ledger: Ledger) -> None:
    release(ledger, "a", dataset="one")
    release(ledger, "a", dataset="another name", new=True)
    more = {"marks": MARKS | {"age": "5" * 32}, "telling": ["age"], "columns": ("age",), "digest": b"with age"}
    release(ledger, "b", dataset="one", **more)
    release(ledger, "c", dataset="another name", **more)
    release(ledger, "d", dataset="another name")


def test_caps_are_raised_each_by_itself(ledger: Ledger) -> None:
    release(ledger, "a", cap_delta=Fraction(1, 100), delta=Fraction(1, 1000))
    for given, now in (
        ({"cap": 7}, (7, Fraction(1, 100))),
        ({"delta": Fraction(1, 50)}, (7, Fraction(1, 50))),
        ({"cap": 8, "delta": Fraction(1, 1000)}, (8, Fraction(1, 1000))),
    ):
        ledger.set_cap("city", **given)
        (account,) = ledger.show("city")
        assert (account.cap, account.cap_delta) == now
    with pytest.raises(BudgetConflictError, match="cap on δ 1/2000"):
        ledger.set_cap("city", delta=Fraction(1, 2000))
    with pytest.raises(BudgetConflictError, match="cap 1/4 was"):
        ledger.set_cap("city", Fraction(1, 4))
