"""Killed, raced and waited for: no acknowledged spend is lost, no unrecorded answer is shown, nothing is overspent."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.ledger.places import Place
from tests.ledger.single import peek, reserve
from tests.ledger.worker import asked, wanted

from leeward.errors import LedgerError
from leeward.ledger import STAGES, DrawnAnswer, Ledger

Start = Callable[..., "subprocess.Popen[str]"]
Worker = Callable[..., "subprocess.Popen[str]"]


def lines(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out.split()


def eventually(count: Callable[[], int], expected: int) -> bool:
    """Whether a count comes to a number: a server ends a session of its own accord, soon after its client is gone."""
    for _ in range(500):
        if count() == expected:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("stage", STAGES)
def test_a_process_killed_at_any_stage(stage: str, place: Place, worker: Worker) -> None:
    process = worker("killed_at", stage)
    acknowledged = process.communicate(timeout=60)[0].split()
    assert process.returncode == -signal.SIGKILL
    assert acknowledged == list(STAGES[: STAGES.index(stage)])

    ledger = Ledger(place.url)  # readable, and not behind its mark
    ledger.check()
    is_charged = STAGES.index(stage) >= STAGES.index("charged")
    is_answered = STAGES.index(stage) >= STAGES.index("saved")
    assert [account.spent for account in ledger.show()] == ([Fraction(2, 3)] if is_charged else [])
    keys = ("l", "k", "further")
    assert [peek(ledger, "city", "1", key) is not None for key in keys] == [is_answered] * 3

    stages: list[str] = []
    with ledger.reserve(
        [asked("l"), asked("k")], further=[asked("further")], wait=0, progress=stages.append
    ) as reservation:
        assert reservation.further == (0 if is_answered else 1)
        if reservation.unanswered:
            reservation.store(
                [DrawnAnswer(b"second", Fraction(0)), DrawnAnswer(b"first"), DrawnAnswer(b"third", Fraction(1, 3))]
            )
    assert [each.answer for each in reservation.releases[:2]] == [b"second", b"first"]
    assert [peek(ledger, "city", "1", key) is not None for key in keys] == [True] * 3
    assert [account.spent for account in ledger.show()] == [Fraction(2, 3)]
    kinds = [entry.kind for entry in ledger.history()]
    took_over = ["taken-over"] * 2 if is_charged and not is_answered else []
    assert kinds == ["opened", "reserved", "reserved", *took_over, "released", "released", "reserved", "released"]
    ids = {entry.key: entry.id for entry in ledger.history() if entry.key}
    assert [ids["l"], ids["k"]] == [each.id for each in reservation.releases[:2]]
    assert {(entry.key, entry.id) for entry in ledger.history() if entry.key} == {*ids.items()}
    ledger.check()
    with reserve(ledger, asked("next")):
        assert eventually(place.holds, 1)  # those of the dead are swept away
    assert eventually(place.holds, 0)


def test_a_spend_is_synced_before_it_is_acknowledged(place: Place) -> None:
    ledger = Ledger(place.url)
    with ledger._store.writing() as connection:
        assert place.durable(connection)


@pytest.mark.sweep
def test_processes_that_ask_at_once_get_one_answer_and_one_charge(place: Place, worker: Worker) -> None:
    processes = [worker("release", keys) for keys in ("ab", "bc", "ca", "cab")]  # no two in one order
    answers = [dict(line.split(":") for line in lines(process)) for process in processes]
    shown = {(key, answer) for each in answers for key, answer in each.items()}
    assert sorted(key for key, _ in shown) == ["a", "b", "c"], "one key has one answer"
    ledger = Ledger(place.url)
    kinds = [entry.kind for entry in ledger.history()]
    assert [kinds.count(kind) for kind in ("opened", "reserved", "released")] == [1, 3, 3]
    assert len(kinds) == 7
    assert ledger.show()[0].spent == Fraction(1, 2)


@pytest.mark.sweep
def test_processes_that_hammer_never_overspend(place: Place, worker: Worker) -> None:
    processes = [worker("hammer", name) for name in ("ann", "ben", "cem")]
    acknowledged = [spend for process in processes for spend in lines(process)]
    ledger = Ledger(place.url)
    assert len(acknowledged) == 21  # 3 in sevenths
    assert ledger.show()[0].spent == Fraction(3)
    assert [entry.kind for entry in ledger.history()].count("released") == 21
    ledger.check()


@pytest.mark.sweep
@pytest.mark.parametrize("turn", range(2))
def test_whoever_is_killed_when_what_was_shown_was_paid_once_and_is_given_again(
    turn: int, place: Place, worker: Worker
) -> None:
    """Processes that are killed at any moment, against sums that know nothing of the ledger's."""
    rng, ledger, dataset = random.Random(turn), Ledger(place.url), f"city{turn}"
    living = [worker("wander", f"{dataset}-{number}") for number in range(5)]
    assert eventually(lambda: len(ledger.history()) > 4, True)
    for each in rng.sample(living, len(living)):
        time.sleep(rng.random() * 0.1)
        each.kill()
    shown = dict[str, tuple[str, str]]()
    for each in living:
        out, err = each.communicate(timeout=60)
        assert err == ""
        for line in out.splitlines(keepends=True):
            if line.endswith("\n"):
                key, answer, cost = line.strip().split(":")
                assert shown.setdefault(key, (answer, cost)) == (answer, cost), "one answer, at one price"
    ledger.check()
    paid, state = defaultdict[str, Fraction](Fraction), dict[str, tuple[str, str]]()
    for entry in ledger.history():
        paid[entry.id] += entry.cost
        if entry.kind in ("reserved", "released", "withdrawn"):
            state[entry.id] = entry.key, entry.kind
    stands = {key: (paid[of], kind) for of, (key, kind) in state.items() if kind != "withdrawn"}
    assert len(stands) == sum(kind != "withdrawn" for _, kind in state.values()), "no key was paid twice"
    spent = sum(cost for cost, _ in stands.values())
    assert ledger.show()[0].spent == spent <= 2
    assert all(stands[key] == (Fraction(cost), "released") for key, (_, cost) in shown.items())
    for key, (answer, _) in shown.items():
        with reserve(ledger, wanted(key, dataset)) as claim:
            assert claim.answer == answer.encode()
    assert ledger.show()[0].spent == spent, "given again for nothing"


def test_a_living_holder_is_waited_for(place: Place) -> None:
    ledger = Ledger(place.url)
    shown: list[bytes | None] = []

    def second() -> None:
        with reserve(Ledger(place.url), asked("k"), wait=30) as claim:
            shown.append(claim.answer)

    with reserve(ledger, asked("k")) as claim:
        with (
            pytest.raises(LedgerError, match=r"another process or thread.*taken over"),
            reserve(ledger, asked("k"), wait=0.05),
        ):
            pytest.fail("two hold one reservation")
        thread = threading.Thread(target=second)
        thread.start()
        with reserve(ledger, asked("unrelated")) as other:  # blocks nobody else
            other.store(b"other")
        claim.store(b"first")
    thread.join(timeout=30)
    assert shown == [b"first"]
    assert ledger.show()[0].spent == Fraction(2, 3)


def test_a_waiter_charges_anew_when_the_holder_withdraws(place: Place) -> None:
    ledger = Ledger(place.url)
    waits = threading.Event()
    ids: list[str] = []

    def second() -> None:
        with reserve(Ledger(place.url), asked("k"), wait=30, progress=lambda _stage: waits.set()) as claim:
            claim.store(b"second")
        ids.append(claim.id)

    thread = threading.Thread(target=second)
    with reserve(ledger, asked("k")) as claim:
        thread.start()
        assert waits.wait(timeout=30)  # and leave without an answer
    thread.join(timeout=30)
    assert ids
    assert ids[0] != claim.id
    assert "withdrawn" in [entry.kind for entry in ledger.history()]
    assert ledger.show()[0].spent == Fraction(1, 3)


def test_a_hold_that_is_lost_still_gives_one_answer(place: Place) -> None:
    ledger = Ledger(place.url)
    with reserve(ledger, asked("k")) as claim:
        place.lose_holds()
        with reserve(ledger, asked("k"), wait=0) as usurper:
            with pytest.raises(LedgerError, match="taken over"):
                claim.store(b"first")
            usurper.store(b"second")
        with pytest.raises(LedgerError, match="taken over"):
            claim.store(b"first")
    assert claim.answer is None
    with reserve(ledger, asked("k")) as again:
        assert again.answer == b"second"
    assert ledger.show()[0].spent == Fraction(1, 3)
    ledger.check()


def test_a_forked_child_neither_withdraws_nor_frees_its_parents_reservation(place: Place, worker: Worker) -> None:
    process = worker("forked")
    assert lines(process) == ["stored"]
    answer = peek(Ledger(place.url), "city", "1", "k")
    assert answer is not None
    assert answer.payload == b"parent"


def test_many_threads_may_make_it_at_once(place: Place) -> None:
    failures: list[Exception] = []
    ready = threading.Barrier(6)

    def make(number: int) -> None:
        try:
            ready.wait(timeout=30)
            with reserve(Ledger(place.url), asked(f"k{number}", cost=Fraction(1, 6))) as claim:
                claim.store(b"answer")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert Ledger(place.url).show()[0].left == 0


@pytest.mark.parametrize(
    ("limits", "acknowledged", "kinds"),
    [
        ("0,-1", [], []),
        ("-1,300000", ["reserved"], ["opened", "reserved", "withdrawn"]),
        ("-1,0", ["reserved"], ["opened", "reserved"]),  # not even the withdrawal fits: the charge waits for its key
    ],
    ids=["before reserving", "while storing", "while withdrawing too"],
)
def test_a_full_disk(limits: str, acknowledged: list[str], kinds: list[str], path: Path, start: Start) -> None:
    Ledger(path)
    out, err = start(f"sqlite:///{path}", "full_disk", limits).communicate(timeout=60)
    said = out.split()
    assert said[: len(acknowledged) + 1] == [*acknowledged, "refused"], err
    assert "never-to-be-printed" not in out + err
    assert ("could not be withdrawn" in out) == (kinds[-1:] == ["reserved"])

    ledger = Ledger(path)
    ledger.check()
    assert [entry.kind for entry in ledger.history()] == kinds
    with reserve(ledger, asked("k"), wait=0) as claim:
        assert claim.answer is None
        claim.store(b"after making room")
    assert ledger.show()[0].spent == Fraction(1, 3)
    ledger.check()
