"""One process that asks a ledger for something; run by the tests, which kill it, starve it or race it.

    python -m tests.ledger.worker JOB LEDGER [ARGUMENT]

It says on standard output what it was told: each line is an acknowledgement the tests hold the ledger to.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.ledger.single import reserve

from leeward.errors import CapExceededError, LedgerError
from leeward.ledger import DrawnAnswer, Ledger, Request

PAYLOAD_MARK = b"never-to-be-printed"


def say(text: str) -> None:
    print(text, flush=True)


@dataclass(frozen=True)
class Recognised:
    """What an engine says of a content."""

    form: str
    columns: tuple[str, ...]
    digest: bytes
    marks: Mapping[str, str]
    telling: Sequence[str]


def asked(
    key: str,
    *,
    digest: bytes = b"content",
    columns: tuple[str, ...] = ("user", "venue"),
    form: str = "3",
    marks: Mapping[str, str] | None = None,
    telling: Sequence[str] = (),
    **other: Any,
) -> Request:
    same: dict[str, Any] = {
        "dataset": "city",
        "cost": Fraction(1, 3),
        "cap": Fraction(1),
        "notion": "addition-only/person",
        "content": Recognised(form, columns, digest, marks or {}, telling),
    }
    return Request(key=key, **(same | other))


def killed_at(url: str, stage: str) -> None:
    """Release two keys and a further one, and die at a stage without a chance to clean up."""

    def hook(reached: str) -> None:
        if reached == stage:
            os.kill(os.getpid(), signal.SIGKILL)
        say(reached)

    further = [asked("further")]
    with Ledger(url).reserve([asked("k"), asked("l")], further=further, progress=hook) as reservation:
        assert reservation.further == 1
        reservation.store(
            [DrawnAnswer(b"first"), DrawnAnswer(b"second", Fraction(1, 12)), DrawnAnswer(b"third", Fraction(1, 4))]
        )
    say("shown")


def release(url: str, keys: str) -> None:
    """Release keys (a letter each) together, with answers only this process would give; say which answers are shown."""
    with Ledger(url).reserve([asked(key, cost=Fraction(1, 6)) for key in keys]) as reservation:
        due = reservation.unanswered
        if due:
            reservation.store([DrawnAnswer(f"{keys}{number}".encode()) for number in range(len(due))])
    for key, each in zip(keys, reservation.releases, strict=True):
        assert each.answer is not None
        say(f"{key}:{each.answer.decode()}")


def hammer(url: str, me: str) -> None:
    """Spend sevenths under a cap of 3, now one and now two, until refused; say each acknowledged spend."""
    ledger = Ledger(url)
    for turn in range(50):
        keys = [f"{me}-{turn}-{number}" for number in range(1 + turn % 2)]
        try:
            with ledger.reserve([asked(key, cost=Fraction(1, 7), cap=Fraction(3)) for key in keys]) as reservation:
                reservation.store([DrawnAnswer(b"answer") for _ in keys])
            for _ in keys:
                say("1/7")
        except CapExceededError:
            if len(keys) == 1:
                return


def wanted(key: str, dataset: str) -> Request:
    """A request of `wander`, whose keys are letters from a to n: together they cost more than the cap."""
    cost = Fraction(1, "abcdefghijklmn".index(key) + 3)
    return asked(key, dataset=dataset, digest=dataset.encode(), cost=cost, cap=Fraction(2), new=True)


@contextmanager
def again_if_asked_meanwhile() -> Iterator[None]:
    """What would be stored behind a release may be asked by another process before it is."""
    try:
        yield
    except LedgerError as error:
        if "asked the same meanwhile" not in str(error):
            raise


def wander(url: str, named: str) -> None:
    """Release keys at random, withdraw some, and let some cost less, until killed; say each that is shown, and its price."""
    rng, ledger, dataset = random.Random(named), Ledger(url), named.partition("-")[0]
    while True:
        keys, more = rng.sample("abcdefghijklmn", rng.choice([1, 2, 3])), rng.choice("abcdefghijklmn")
        further = [wanted(more, dataset)] if more not in keys else []
        with suppress(CapExceededError, InterruptedError), again_if_asked_meanwhile():
            with ledger.reserve([wanted(key, dataset) for key in keys], further=further) as held:
                if rng.random() < 0.2:
                    raise InterruptedError
                if due := held.unanswered:
                    drawn = [DrawnAnswer(rng.randbytes(8).hex().encode()) for _ in due]
                    if held.further:
                        drawn[0] = DrawnAnswer(drawn[0].payload, due[0].cost / 2)
                        drawn.append(DrawnAnswer(rng.randbytes(8).hex().encode(), due[0].cost / rng.choice([2, 4])))
                    held.store(drawn)
            for key, each in zip([*keys, more], held.releases, strict=False):
                assert each.answer is not None
                say(f"{key}:{each.answer.decode()}:{each.cost}")


def full_disk(url: str, limits: str) -> None:
    """Release with a file-size limit set before reserving and another before storing (bytes; -1: none)."""
    before, inside = (int(limit) for limit in limits.split(","))
    ledger = Ledger(url)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    try:
        if before >= 0:
            resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
        with reserve(ledger, asked("k")) as claim:
            say("reserved")
            if inside >= 0:
                resource.setrlimit(resource.RLIMIT_FSIZE, (inside, hard))
            claim.store(PAYLOAD_MARK * 200_000)
            say("stored")
    except LedgerError as error:
        say("refused")
        say(traceback.format_exc())
        behind: BaseException | None = error
        while behind is not None:
            say(str(behind))
            behind = behind.__context__


def forked(url: str, _nothing: str) -> None:
    """Fork while holding a reservation; the child leaves the block by an exception before the parent stores."""
    with reserve(Ledger(url), asked("k")) as claim:
        child = os.fork()
        if child == 0:
            raise SystemExit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        claim.store(b"parent")
    say("stored")


if __name__ == "__main__":
    job, url, *argument = sys.argv[1:]
    jobs = {
        "killed_at": killed_at,
        "release": release,
        "hammer": hammer,
        "wander": wander,
        "full_disk": full_disk,
        "forked": forked,
    }
    jobs[job](url, *(argument or [""]))
