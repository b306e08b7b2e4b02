"""What a budget promises: one key, one answer, one charge; exact sums; refusals that leave no trace."""

from __future__ import annotations

import math
import pickle
import tempfile
import uuid
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ledger.places import Place
from tests.ledger.single import Single, peek, reserve
from tests.ledger.worker import asked

from leeward._progress import Progress, silent
from leeward.errors import (
    BudgetConflictError,
    CapExceededError,
    ContentChangedError,
    InexactError,
    InputError,
    LedgerError,
)
from leeward.ledger import STAGES, Account, Ledger


def release(
    ledger: Ledger, key: str = "k", payload: bytes = b"answer", progress: Progress = silent, **other: Any
) -> Single:
    with reserve(ledger, asked(key, **other), progress=progress) as claim:
        if claim.answer is None:
            claim.store(payload)
    return claim


@pytest.fixture
def ledger(place: Place) -> Ledger:
    return Ledger(place.url)


def kinds(ledger: Ledger, dataset: str | None = None) -> list[str]:
    return [entry.kind for entry in ledger.history(dataset)]


def spent(ledger: Ledger, dataset: str = "city") -> Fraction:
    return sum((account.spent for account in ledger.show(dataset)), Fraction(0))


def test_the_same_key_gives_the_stored_answer_and_charges_once(ledger: Ledger) -> None:
    first = release(ledger, payload=b"first")
    again = release(ledger, payload=b"second")
    assert again.answer == b"first"
    assert again.id == first.id
    assert again.cost == Fraction(1, 3)
    assert ledger.show() == [Account("city", "addition-only/person", Fraction(1), Fraction(1, 3))]
    assert ledger.show()[0].left == Fraction(2, 3)
    assert kinds(ledger) == ["opened", "reserved", "released"]


def test_another_key_version_or_dataset_is_another_charge(ledger: Ledger) -> None:
    ids = {release(ledger).id, release(ledger, key="other").id, release(ledger, version="2").id}
    ids.add(release(ledger, dataset="village").id)
    assert len(ids) == 4
    assert spent(ledger) == 1
    assert spent(ledger, "village") == Fraction(1, 3)


@pytest.mark.sweep
def test_a_stored_answer_is_there_for_a_later_process(ledger: Ledger, place: Place) -> None:
    counts = np.arange(10**6, dtype=np.int64)
    release(ledger, payload=counts.tobytes())
    found = peek(Ledger(place.url), "city", "1", "k")
    assert found is not None
    assert np.array_equal(np.frombuffer(found.payload, dtype=np.int64), counts)
    assert found.cost == Fraction(1, 3)


def test_peeking_charges_nothing(ledger: Ledger) -> None:
    assert peek(ledger, "city", "1", "k") is None
    assert ledger.history() == []


def test_there_is_no_answer_before_it_is_stored(ledger: Ledger) -> None:
    stages: list[str] = []
    with reserve(ledger, asked("k", cost=1, cap=2), progress=stages.append) as claim:
        assert claim.answer is None
        assert peek(ledger, "city", "1", "k") is None
        assert spent(ledger) == 1  # charged before anything is looked at
        claim.store(b"answer")
        assert claim.answer == b"answer"
        with pytest.raises(LedgerError, match="answer already"):
            claim.store(b"another")
    assert stages == list(STAGES)


def test_more_than_the_cap_is_refused_to_the_last_fraction(ledger: Ledger) -> None:
    release(ledger, key="a", cost=Fraction(1, 3))
    release(ledger, key="b", cost=Fraction(1, 3))
    with pytest.raises(CapExceededError, match=r"costs 16666667/50000000, and 1/3 is left.*cap 1.*set-cap"):
        release(ledger, key="c", cost=Fraction("0.33333334"))
    assert len(ledger.history()) == 5  # no trace
    release(ledger, key="c", cost=Fraction(1, 3))
    assert ledger.show()[0].left == 0
    release(ledger, key="free", cost=0)
    with pytest.raises(CapExceededError):
        release(ledger, key="d", cost=Fraction(1, 10**30))
    assert release(ledger, key="a").answer == b"answer"  # what was paid for is still there


def test_a_first_release_over_its_cap_opens_nothing(ledger: Ledger) -> None:
    with pytest.raises(CapExceededError):
        release(ledger, cost=2)
    assert ledger.show() == []
    assert ledger.history() == []


def test_the_first_release_fixes_cap_and_notion(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no cap yet"):
        release(ledger, cap=None)
    release(ledger)
    release(ledger, key="b", cap=None)
    with pytest.raises(BudgetConflictError, match=r"cap of 'city' is 1.*says 2.*leeward budget set-cap"):
        release(ledger, key="c", cap=Fraction(2))
    with pytest.raises(BudgetConflictError, match=r"priced in dp/person.*Ask again"):
        release(ledger, key="c", notion="dp/person")
    with pytest.raises(BudgetConflictError):  # even where the answer is stored: the spec is wrong
        release(ledger, cap=Fraction(2))
    assert spent(ledger) == Fraction(2, 3)
    release(ledger, dataset="village", notion="dp/person", cap=Fraction(7))


def test_setting_a_cap_is_recorded_and_never_below_what_is_spent(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match="no budget for 'city'"):
        ledger.set_cap("city", Fraction(2))
    release(ledger)
    ledger.set_cap("city", Fraction(2))
    with pytest.raises(BudgetConflictError, match="1/3 is spent"):
        ledger.set_cap("city", Fraction(1, 3) - Fraction(1, 10**9))
    assert kinds(ledger) == ["opened", "reserved", "released", "set-cap"]
    assert ledger.history()[-1].cap == 2
    assert release(ledger, key="b", cost=Fraction(5, 3), cap=Fraction(2)).answer == b"answer"
    ledger.set_cap("city", Fraction(2))
    assert ledger.show()[0].left == 0


def test_changed_content_under_one_label_is_refused_and_charges_nothing(ledger: Ledger) -> None:
    release(ledger)
    for key in ("k", "other"):
        with pytest.raises(ContentChangedError, match=r"new version label.*not to be published"):
            release(ledger, key=key, digest=b"changed")
    assert spent(ledger) == Fraction(1, 3)
    release(ledger, key="other", digest=b"changed", version="2")
    release(ledger, key="third", digest=b"of other columns", columns=("user", "venue", "jst"))
    assert spent(ledger) == 1


def test_an_error_inside_withdraws_the_charge_and_forgets_the_first_release(ledger: Ledger) -> None:
    def fail(key: str, **other: Any) -> None:
        with pytest.raises(ZeroDivisionError), reserve(ledger, asked(key, **other)):
            1 / 0  # noqa: B018

    same: dict[str, Any] = {"cost": 1, "columns": ("user",)}
    fail("k", cap=1, notion="presence/person", digest=b"with a mistake", **same)
    assert ledger.show() == []
    assert kinds(ledger) == ["opened", "reserved", "withdrawn"]
    # so another cap, notion and a mended file are fine
    release(ledger, cap=Fraction(2), digest=b"mended", columns=("user",))
    fail("later", cap=2, notion="addition-only/person", digest=b"mended", **same)
    assert spent(ledger) == Fraction(1, 3)
    assert sum(entry.cost for entry in ledger.history("city")) == Fraction(1, 3)
    with pytest.raises(BudgetConflictError):
        release(ledger, key="x", cap=Fraction(3))
    ledger.check()


def test_leaving_without_an_answer_withdraws(ledger: Ledger) -> None:
    with reserve(ledger, asked("k")) as claim:
        first = claim.id
    assert ledger.show() == []
    assert release(ledger).id != first


def test_a_cap_set_on_purpose_outlives_a_withdrawal(ledger: Ledger) -> None:
    with reserve(ledger, asked("k", notion="dp/person")):
        ledger.set_cap("city", Fraction(7))
    assert ledger.show() == [Account("city", "dp/person", Fraction(7), Fraction(0))]


def test_an_error_while_storing_leaves_the_answer_if_it_was_committed(ledger: Ledger) -> None:
    def fail_after_the_commit(stage: str) -> None:
        if stage == "saved":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(ledger, payload=b"committed", progress=fail_after_the_commit)
    assert spent(ledger) == Fraction(1, 3)
    assert release(ledger, payload=b"drawn anew").answer == b"committed"


def test_an_error_before_the_commit_of_an_answer_leaves_none(ledger: Ledger) -> None:
    def fail_before_the_commit(stage: str) -> None:
        if stage == "saving":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(ledger, payload=b"lost", progress=fail_before_the_commit)
    assert peek(ledger, "city", "1", "k") is None
    assert release(ledger, payload=b"drawn anew").answer == b"drawn anew"
    assert spent(ledger) == Fraction(1, 3)


def test_ids_are_random_and_the_history_names_public_things(ledger: Ledger) -> None:
    ids = [release(ledger, key="a").id, release(ledger, key="b").id]
    assert all(uuid.UUID(found).version == 4 for found in ids)
    released = [entry for entry in ledger.history("city") if entry.kind == "released"]
    assert [(entry.id, entry.key, entry.version) for entry in released] == [(ids[0], "a", "1"), (ids[1], "b", "1")]
    assert [entry.number for entry in ledger.history()] == [1, 2, 3, 4, 5]
    assert ledger.history("village") == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"cost": 0.5}, InexactError),
        ({"cap": 1.0}, InexactError),
        ({"cost": -1}, InputError),
        ({"cost": True}, InputError),
        ({"cost": "1"}, InputError),
        ({"cost": Fraction(1, 7**2000)}, InputError),
        ({"dataset": ""}, InputError),
        ({"notion": "half a pair \ud800"}, InputError),
        ({"key": "a\0b"}, InputError),
    ],
)
def test_malformed_requests_leave_no_trace(ledger: Ledger, wrong: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        release(ledger, **wrong)
    assert ledger.history() == []


PRIME_POWERS = [
    (prime, int(39 / math.log10(prime))) for prime in range(2, 137) if all(prime % n for n in range(2, prime))
]
"""Numbers of up to 40 digits, no two of which share a factor: the least common multiple of all has over 1,100 digits."""


def test_odd_fractions_leave_room_for_ordinary_ones(ledger: Ledger) -> None:
    """Else whoever may charge next to nothing fills the exact sum with digits, and nobody can charge any more."""

    def pay(*costs: Fraction) -> None:
        for cost in costs:
            release(ledger, key=str(cost), cost=cost)

    with pytest.raises(InputError, match="too many digits already"):
        pay(*(Fraction(1, prime**power) for prime, power in PRIME_POWERS))
    before, ordinary = spent(ledger), (Fraction(1, 2), Fraction(1, 3), Fraction(1, 97), Fraction("0.0001"))
    assert before.denominator.bit_length() > 1900
    pay(*ordinary)
    assert spent(ledger) == before + sum(ordinary)
    ledger.check()


@pytest.mark.parametrize("wrong", [{"cost": Fraction(1, 10**40)}, {"delta": Fraction(1, 10**400)}, {"cap": 10**40}])
def test_an_amount_that_would_make_the_sum_unreadable_is_not_charged(ledger: Ledger, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="more than 40 digits"):
        release(ledger, **{"cap_delta": Fraction(1, 2), **wrong})
    assert ledger.history() == []
    release(ledger, cost=Fraction(1, 2**128))
    with pytest.raises(InputError, match="more than 40 digits"):
        ledger.set_cap("city", Fraction(10**40, 3))


def test_errors_survive_a_process_boundary(ledger: Ledger) -> None:
    with pytest.raises(CapExceededError) as caught:
        release(ledger, cost=2)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


costs = st.fractions(min_value=0, max_value=1, max_denominator=10**6)


@settings(max_examples=12)
@given(wanted=st.lists(st.tuples(costs, st.booleans()), max_size=6), cap=st.fractions(0, 3, max_denominator=1000))
def test_sums_are_exact_and_the_cap_is_the_cap(wanted: list[tuple[Fraction, bool]], cap: Fraction) -> None:
    """Against a model that knows only addition: a release is refused iff it does not fit; failures cost nothing."""
    total = Fraction(0)
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "budget.db")
        for number, (cost, fails) in enumerate(wanted):
            try:
                with reserve(ledger, asked(str(number), dataset="d", cost=cost, cap=cap)) as claim:
                    if fails:
                        raise ZeroDivisionError
                    claim.store(b"")
                total += cost
                assert total <= cap
            except ZeroDivisionError:
                assert total + cost <= cap
            except CapExceededError:
                assert total + cost > cap
        assert spent(ledger, "d") == total
        assert sum((entry.cost for entry in ledger.history()), Fraction(0)) == total
        ledger.check()


def test_an_answer_may_turn_out_to_cost_less_than_was_reserved(ledger: Ledger, place: Place) -> None:
    same: dict[str, Any] = {"cost": Fraction(2), "cap": Fraction(2), "notion": "presence/person"}
    with reserve(ledger, asked("k", **same)) as claim:
        assert spent(ledger) == 2  # all of it is held until the answer is there
        claim.store(b"all safe", cost=Fraction(1, 2))
    assert spent(ledger) == sum(entry.cost for entry in ledger.history("city")) == Fraction(1, 2)
    with reserve(Ledger(place.url), asked("k", **same)) as claim:
        assert (claim.answer, claim.cost) == (b"all safe", Fraction(1, 2))
    ledger.check()
    for wrong in (Fraction(3, 2) + 1, Fraction(-1)):
        with pytest.raises(InputError), reserve(ledger, asked("other", **(same | {"cost": Fraction(3, 2)}))) as claim:
            claim.store(b"x", cost=wrong)
    assert spent(ledger) == Fraction(1, 2)


@pytest.mark.parametrize("name", ["", "caf\udce9", "a\0b"])
def test_what_is_no_name_of_a_budget_is_told_so(ledger: Ledger, name: str) -> None:
    """A command line may hold bytes that are no UTF-8, as of a script in Latin-1; a database complains of half a letter."""
    ask: list[Callable[[], object]] = [
        lambda: ledger.show(name),
        lambda: ledger.shares(name),
        lambda: ledger.history(name),
        lambda: ledger.set_cap(name, 1),
    ]
    for each in ask:
        with pytest.raises(InputError, match=r"^The dataset '.*Give its public name"):
            each()
