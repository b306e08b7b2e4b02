"""Several releases in one reservation: all are charged in one transaction and stored in one, or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import peek, reserve
from tests.ledger.worker import asked

from leeward.errors import BudgetConflictError, CapExceededError, ContentChangedError, InputError, LedgerError
from leeward.ledger import DrawnAnswer, Ledger, Request

THIRD, SIXTH = Fraction(1, 3), Fraction(1, 6)


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return Ledger(place.url)


def spent(ledger: Ledger) -> Fraction | None:
    """What is spent of the only budget; None where none is open."""
    found = [account.spent for account in ledger.show()]
    return found[0] if found else None


def kinds(ledger: Ledger) -> list[str]:
    ledger.check()
    return [entry.kind for entry in ledger.history()]


def each(keys: str, **other: object) -> list[Request]:
    return [asked(key, **other) for key in keys]


def test_they_are_charged_by_one_transaction_and_stored_by_one(ledger: Ledger, place: Place) -> None:
    with reserve(ledger, asked("b")) as before:
        before.store(b"known")
    stages: list[str] = []
    with ledger.reserve(each("abcb", cost=SIXTH), progress=stages.append) as reservation:
        assert place.holds() == 1
        assert spent(ledger) == Fraction(2, 3)
        assert kinds(ledger)[-2:] == ["reserved", "reserved"]
        a, b, c, again = reservation.releases
        assert again is b
        assert (b.answer, b.id, b.cost) == (b"known", before.id, THIRD)
        assert reservation.unanswered == [a, c]
        for wrong in ([DrawnAnswer(b"1")], [DrawnAnswer(b"1")] * 3, [DrawnAnswer(b"1"), DrawnAnswer(b"2", THIRD)]):
            with pytest.raises(InputError):
                reservation.store(wrong)
        reservation.store([DrawnAnswer(b"1"), DrawnAnswer(b"2", Fraction(0))])
    assert stages == ["reserving", "charging", "charged", "reserved", "storing", "saving", "saved", "stored"]
    assert [one.answer for one in reservation.releases] == [b"1", b"known", b"2", b"known"]
    assert [(one.cost, one.opened) for one in (a, c)] == [(SIXTH, False), (0, False)]
    assert kinds(ledger) == ["opened", "reserved", "released", "reserved", "reserved", "released", "released"]
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("opened", [False, True])
def test_where_the_cap_pays_for_some_of_them_nothing_is_charged(opened: bool, ledger: Ledger) -> None:
    if opened:
        with reserve(ledger, asked("before")) as claim:
            claim.store(b"answer")
    before = kinds(ledger)
    with pytest.raises(CapExceededError), ledger.reserve(each("abcd")):
        pytest.fail("four thirds")
    assert kinds(ledger) == before
    assert spent(ledger) == (THIRD if opened else None)


def test_what_is_not_stored_is_withdrawn_whole(ledger: Ledger) -> None:
    with ledger.reserve(each("ab")) as reservation:
        assert [one.opened for one in reservation.releases] == [True, False]
    assert kinds(ledger) == ["opened", "reserved", "reserved", "withdrawn", "withdrawn"]
    assert [entry.cap for entry in ledger.history()] == [1, 1, 1, 1, None], "it is open until the last is withdrawn"
    assert spent(ledger) is None, "nobody's budget is open"


def test_what_another_took_over_in_part_is_not_stored_and_the_rest_is_withdrawn(ledger: Ledger, place: Place) -> None:
    with ledger.reserve(each("ab")) as reservation:
        place.lose_holds()
        with reserve(Ledger(place.url), asked("b"), wait=0) as usurper:
            usurper.store(b"theirs")
        with pytest.raises(LedgerError, match="taken over"):
            reservation.store([DrawnAnswer(b"1"), DrawnAnswer(b"2")])
    assert peek(ledger, "city", "1", "a") is None
    assert (found := peek(ledger, "city", "1", "b")) is not None
    assert found.payload == b"theirs"
    assert kinds(ledger) == ["opened", "reserved", "reserved", "taken-over", "released", "withdrawn"]
    assert spent(ledger) == THIRD


def test_who_needs_one_that_is_held_waits_and_holds_nothing(ledger: Ledger, place: Place) -> None:
    with reserve(ledger, asked("b")):
        with pytest.raises(LedgerError, match="another process or thread"), ledger.reserve(each("abc"), wait=0):
            pytest.fail("b is held")
        assert kinds(ledger) == ["opened", "reserved"]
        assert place.holds() == 1


@pytest.mark.parametrize(
    ("requests", "error"),
    [
        ([], InputError),
        ([asked("a"), asked("b", dataset="town")], InputError),
        ([asked("a"), asked("b", digest=b"other")], ContentChangedError),
        ([asked("a"), asked("b", form="of another version")], ContentChangedError),
        ([asked("a", version="v1"), asked("b", version="V1")], BudgetConflictError),
        ([asked("a"), asked("b", cap=Fraction(2))], BudgetConflictError),
        ([asked("a"), asked("b", notion="dp/person")], BudgetConflictError),
    ],
)
def test_they_are_held_against_each_other_as_if_one_came_after_the_other(
    requests: list[Request], error: type[Exception], ledger: Ledger
) -> None:
    with pytest.raises(error), ledger.reserve(requests):
        pytest.fail("refused")
    assert kinds(ledger) == []


def test_that_content_is_meant_is_said_once_for_what_is_reserved_together(ledger: Ledger) -> None:
    """As where one comes after the other: the first says that it is charged elsewhere, and the second finds it said."""
    marks: dict[str, Any] = {"marks": {"user": "1" * 32}, "telling": ["user"]}
    with reserve(ledger, asked("a", **marks)) as claim:
        claim.store(b"answer")
    elsewhere: dict[str, Any] = {"dataset": "village", **marks}
    with pytest.raises(BudgetConflictError, match="charged as 'city'"), ledger.reserve(each("ab", **elsewhere)):
        pytest.fail("nobody said so")
    with ledger.reserve([asked("a", new=True, **elsewhere), asked("b", **elsewhere)]) as reservation:
        reservation.store([DrawnAnswer(b"1"), DrawnAnswer(b"2")])
    assert kinds(ledger)[3:] == ["opened", "reserved", "reserved", "released", "released"]


def test_what_follows_is_paid_for_by_what_is_left_over(ledger: Ledger) -> None:
    with ledger.reserve([asked("a", cost=Fraction(1))], further=each("bcd", cost=Fraction(1))) as reservation:
        assert reservation.further == 3
        assert spent(ledger) == 1
        half = DrawnAnswer(b"1", Fraction(1, 2))
        for wrong in (
            [half, DrawnAnswer(b"2", THIRD), DrawnAnswer(b"3", THIRD)],
            [half] * 5,
            [DrawnAnswer(b"1", Fraction(2))],
        ):
            with pytest.raises(InputError):
                reservation.store(wrong)
        reservation.store([half, DrawnAnswer(b"2", Fraction(0)), DrawnAnswer(b"3", SIXTH)])
    assert [one.answer for one in reservation.releases] == [b"1", b"2", b"3"]
    assert spent(ledger) == Fraction(2, 3)
    assert kinds(ledger) == ["opened", "reserved", *["released", "reserved"] * 2, "released"]
    assert peek(ledger, "city", "1", "d") is None
    assert (found := peek(ledger, "city", "1", "c")) is not None
    assert (found.cost, found.id) == (SIXTH, reservation.releases[2].id)


@pytest.mark.parametrize(
    ("further", "many"),
    [
        (each("ck"), 1),  # answered before
        (each("hc"), 0),  # held by another
        ([*each("c"), asked("d", digest=b"other")], 1),
        ([asked("c", version="2"), asked("d", version="2", digest=b"other")], 1),
    ],
)
def test_what_is_charged_or_refused_cannot_follow(further: list[Request], many: int, ledger: Ledger) -> None:
    with reserve(ledger, asked("k", cost=SIXTH)) as claim:
        claim.store(b"known")
    with reserve(ledger, asked("h", cost=SIXTH)), ledger.reserve(each("a"), further=further) as reservation:
        assert reservation.further == many
        reservation.store([DrawnAnswer(b"1", SIXTH), *[DrawnAnswer(b"2", SIXTH)] * many])
    assert spent(ledger) == (2 + many) * SIXTH


def test_what_costs_a_delta_cannot_follow(ledger: Ledger) -> None:
    further = [asked("b", delta=Fraction(1, 10**6))]
    with (
        pytest.raises(InputError, match="delta"),
        ledger.reserve(each("a", cap_delta=Fraction(1, 10**5)), further=further),
    ):
        pytest.fail("refused")


def test_what_another_charged_meanwhile_is_not_charged_again(ledger: Ledger) -> None:
    """The first stands for those behind it; whoever asks for one of these alone is seen when all are stored."""
    with ledger.reserve(each("a"), further=each("b")) as reservation:
        with reserve(ledger, asked("b")) as other:
            other.store(b"theirs")
        with pytest.raises(LedgerError, match="another process asked the same meanwhile"):
            reservation.store([DrawnAnswer(b"1", Fraction(0)), DrawnAnswer(b"2", Fraction(0))])
    assert kinds(ledger) == ["opened", "reserved", "reserved", "released", "withdrawn"]
    assert (found := peek(ledger, "city", "1", "b")) is not None
    assert found.payload == b"theirs"
    assert spent(ledger) == THIRD


def in_a_child(work: Callable[[], object]) -> int:
    """Do some work in a child, and return its exit code: 0 where it did it, 3 where it was refused."""
    if (child := os.fork()) == 0:
        code = 1
        try:
            work()
            code = 0
        except LedgerError:
            code = 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_that_was_forked_inside_stores_nothing_for_its_parent(ledger: Ledger) -> None:
    """It has a copy of the reservation: what it drew and what its parent draws would be two answers of one question."""
    with ledger.reserve(each("ab")) as reservation:
        drawn = [DrawnAnswer(b"the child's"), DrawnAnswer(b"the child's")]
        assert in_a_child(lambda: reservation.store(drawn)) == 3
        assert kinds(ledger) == ["opened", "reserved", "reserved"]
        reservation.store([DrawnAnswer(b"1"), DrawnAnswer(b"2")])
    assert [peek(ledger, "city", "1", key) for key in "ab"] != [None, None]
    assert kinds(ledger) == ["opened", "reserved", "reserved", "released", "released"]


def test_what_the_dead_had_reserved_is_taken_over_beside_what_is_new(place: Place) -> None:
    """One of three was reserved by a process that died: all three are stored together, and it is charged once."""
    with reserve(ledger := Ledger(place.url), asked("known")) as before:
        before.store(b"known")

    def dies() -> None:
        with Ledger(place.url).reserve([asked("b", cost=SIXTH)]):
            os._exit(9)

    assert in_a_child(dies) == 9
    with ledger.reserve(each("abc", cost=SIXTH)) as reservation:
        assert kinds(ledger)[-3:].count("taken-over") == 1
        reservation.store([DrawnAnswer(bytes([number])) for number in range(3)])
    assert spent(ledger) == THIRD + 3 * SIXTH
    assert [one.answer for one in reservation.releases] == [bytes([number]) for number in range(3)]
    assert kinds(ledger)[-3:] == ["released"] * 3
