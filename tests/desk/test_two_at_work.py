"""Two releases of one question that are at work at once: each tells what it charged itself, and not what the other did."""

from __future__ import annotations

import re
import sys
import threading
import traceback
from typing import Any

import pytest
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN
from tests.desk.walk import ANSWERS, walked

from leeward.desk import _strength
from leeward.desk._jobs import Job
from leeward.ledger import Ledger

PATIENCE = 240
"""Seconds after which something hangs: each charge waits for a disk, which others may keep busy."""


class Held:
    """Jobs that stop at stages, until they are let on; as they come there, by their number and the stage."""

    def __init__(self, patch: pytest.MonkeyPatch, *at: tuple[int, str]) -> None:
        self.there = {each: threading.Event() for each in at}
        self.go = {each: threading.Event() for each in at}
        progress = Job.progress

        def held(job: Job, stage: str, share: float = -1.0, /) -> None:
            if (at := (job.number, stage)) in self.there:
                self.there[at].set()
                assert self.go[at].wait(PATIENCE)
            progress(job, stage, share)

        patch.setattr(Job, "progress", held)

    def wait(self, job: Job, stage: str) -> None:
        assert self.there[job.number, stage].wait(PATIENCE), told(job)

    def let(self, number: int, stage: str) -> None:
        self.go[number, stage].set()


def began(seat: Seat, name: str) -> Job:
    answer = seat.post(f"/drafts/{name}/release", {**OPEN, "opens": "1"})
    assert answer.status_code == 303, answer.text
    job = seat.desk.jobs.get(int(answer.headers["location"].rpartition("/")[2]))
    assert job is not None
    return job


def told(job: Job) -> str:
    """What is known of a job, and where every thread is."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    stacks = [
        f"{names.get(thread)}:\n{''.join(traceback.format_stack(frame))}"
        for thread, frame in sys._current_frames().items()
    ]
    return "\n".join([f"{job.number}: {job.stages} {job.runs} {job.refused} {job.note}", *stacks])


def note(seat: Seat, job: Job) -> str:
    job.wait(PATIENCE)
    assert not job.runs, told(job)
    assert job.refused.startswith("This was cancelled."), job.refused
    return " ".join(re.sub(r"<[^>]+>", " ", seat.get(f"/jobs/{job.number}").text).split())


def spent(seat: Seat) -> str:
    ledger = Ledger.find(seat.desk.ledger)
    assert ledger is not None
    return str(sum(one.spent for one in ledger.show("town")))


def test_a_charge_that_the_other_took_back_is_not_told_as_a_negative_one(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = walked(seat), walked(seat)
    held = Held(monkeypatch, (1, "counting"), (2, "charging"))
    one = began(seat, first)
    held.wait(one, "counting")  # it is charged
    other = began(seat, second)  # waits for the first
    one.cancel()
    held.let(1, "counting")
    held.wait(other, "charging")
    other.cancel()
    held.let(2, "charging")
    assert "Nothing was charged." in note(seat, one), one.note
    assert "Nothing was charged." in note(seat, other), other.note
    assert spent(seat) == "0"


def test_the_charge_of_the_other_is_told_as_that_of_the_other(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = walked(seat), walked(seat)
    held = Held(monkeypatch, (1, "reserving"))
    one = began(seat, first)
    held.wait(one, "reserving")
    other = began(seat, second)
    other.wait(PATIENCE)
    assert other.found.charged == 1
    one.cancel()
    held.let(1, "reserving")
    page = note(seat, one)
    assert "Nothing was charged by it; 1 was charged meanwhile by another release, which asked the same." in page
    assert spent(seat) == "1"


def test_what_was_charged_for_another_version_of_the_table_is_not_told_of_this_one(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    began(seat, walked(seat)).wait(PATIENCE)
    assert spent(seat) == "1"
    name = walked(seat, strength={"version": "2"})
    held = Held(monkeypatch, (2, "reserving"))
    job = began(seat, name)
    held.wait(job, "reserving")
    job.cancel()
    held.let(2, "reserving")
    assert "Nothing was charged." in note(seat, job)


@pytest.mark.parametrize("who", ["another tab", "another desk"])
def test_an_answer_that_is_sent_while_another_is_at_work_is_not_lost(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    """Both were told that they were heard; the slower wrote over the other what it had read before."""
    name = walked(seat)
    other = seat if who == "another tab" else Seat(seat.folder).enter()
    real, came = _strength.refuse_dear, list[int]()

    def slow(given: Any) -> None:
        if not came:
            came.append(other.post(f"/drafts/{name}/promise", {"never": "safe", "people": "26"}).status_code)
        real(given)

    monkeypatch.setattr(_strength, "refuse_dear", slow)
    answer = seat.post(f"/drafts/{name}/strength", {**ANSWERS["strength"], "epsilon": "1/2"})
    assert (answer.status_code, came) == (303, [303])
    kept = seat.desk.drafts.read(name).sections
    assert (kept["protect"]["epsilon"], kept["decide"]["safe_at_most"]) == ("1/2", 26)


def test_an_answer_that_a_change_meanwhile_made_impossible_is_refused(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = walked(seat)
    real, came = _strength.refuse_dear, list[int]()

    def slow(given: Any) -> None:
        real(given)
        if not came:
            came.append(seat.post(f"/drafts/{name}/window", {**ANSWERS["window"], "every": "10min"}).status_code)

    monkeypatch.setattr(_strength, "refuse_dear", slow)
    answer = seat.post(f"/drafts/{name}/strength", {**ANSWERS["strength"], "epsilon": "1"})
    assert (answer.status_code, came) == (422, [303])
    assert "A release at a price of 6" in answer.text
