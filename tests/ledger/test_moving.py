"""A ledger that moves into a database: the same history, answers and chain; killed at any moment, never two that spend."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.places import PostgresPlace, SqlitePlace
from tests.ledger.single import peek, reserve
from tests.ledger.worker import asked

from leeward.errors import BudgetConflictError, InputError, LedgerError
from leeward.ledger import Ledger

KILLED = """
import os, signal, sys
from contextlib import contextmanager
from leeward.ledger import Ledger, _move
from leeward.ledger._sqlite import moved_to
when, path, to = sys.argv[1:]
def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if when == "while copying":
    _move._copy = killed
if when == "between the commits":
    real = _move.SqliteStore.closing
    @contextmanager
    def closing(store):
        with real(store) as connection:
            yield connection
            is_closed = moved_to(connection) is not None
        if is_closed:
            killed()
    _move.SqliteStore.closing = closing
if when == "before the marks":
    _move.SqliteStore.advance_high_water_mark = killed
if when == "before the new mark":
    _move.PostgresStore.advance_high_water_mark = killed
Ledger.move(path, to)
"""


def spend(url: Any, *keys: str, **other: Any) -> None:
    ledger = Ledger(url)
    for key in keys:
        with reserve(ledger, asked(key, **({"cap": 10} | other))) as claim:
            if claim.answer is None:
                claim.store(b"answer " + key.encode())


def test_history_answers_and_chain_move(path: Path, database: PostgresPlace) -> None:
    spend(path, "a", "b")
    old = Ledger(path)
    old.set_cap("city", 9)
    before, key = old.history(), old.content_key()
    hashes = SqlitePlace(path).rows("SELECT number, hash FROM entries ORDER BY number")
    moved = Ledger.move(path, database.url)
    assert moved.url == database.url
    assert moved.history()[:-1] == before
    assert moved.history()[-1].kind == "moved"
    assert database.rows("SELECT number, hash FROM entries ORDER BY number")[:-1] == hashes
    moved.check()
    assert moved.content_key() == key
    assert [peek(moved, "city", "1", each).payload for each in "ab"] == [b"answer a", b"answer b"]  # type: ignore[union-attr]
    spend(database.url, "a", "c", cap=9)
    assert moved.show()[0].spent == 1
    Ledger(database.url).check()


@pytest.mark.sweep
def test_the_command_says_what_to_write_now(path: Path, database: PostgresPlace) -> None:
    def leeward(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "leeward", "budget", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})
        return done.returncode, done.stdout + done.stderr

    spend(path, "a")
    said = f'Moved 4 entries. Write now: ledger = "{database.url}"\n'
    assert leeward("move", "--ledger", str(path), "--to", database.url) == (0, said)
    code, shown = leeward("history", "--ledger", database.url)
    assert code == 0
    assert [kind in shown for kind in ("opened", "reserved", "released", "moved")] == [True] * 4
    code, refused = leeward("show", "--ledger", str(path))
    assert code == 2
    assert "was moved to" in refused


def test_what_is_left_of_the_file_is_neither_charged_nor_asked(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    running = Ledger(path)
    Ledger.move(path, database.url)
    mark = SqlitePlace(path).mark
    attempts: list[Callable[[], object]] = [
        lambda: Ledger(path),
        lambda: Ledger.find(path),
        lambda: spend(path, "b"),
        lambda: Ledger.accept_restored(path),
        running.show,
        running.history,
        running.check,
        running.new_key,
        lambda: running.set_cap("city", 20),
        lambda: peek(running, "city", "1", "a"),
        lambda: reserve(running, asked("b", cap=10)).__enter__(),
    ]
    for is_marked in (True, False):
        if not is_marked:
            mark.unlink()
        for attempt in attempts:
            with pytest.raises(LedgerError, match=r"moved to postgresql://.*its history goes on there"):
                attempt()
    kinds = SqlitePlace(path).rows("SELECT kind FROM entries ORDER BY number")
    assert [kind for (kind,) in kinds] == ["opened", "reserved", "released", "moved"]


def test_an_older_copy_of_the_file_is_noticed(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    shutil.copy(path, path.with_name("backup"))
    Ledger.move(path, database.url)
    shutil.copy(path.with_name("backup"), path)
    with pytest.raises(LedgerError, match="restored from a backup"):
        spend(path, "b")


@pytest.mark.sweep
@pytest.mark.parametrize("when", ["while copying", "between the commits", "before the marks", "before the new mark"])
def test_killed_at_any_moment(when: str, path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    done = subprocess.run([sys.executable, "-c", KILLED, when, path, database.url], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    spenders = 0
    for url in (path, database.url):
        with suppress(LedgerError):
            spend(url, "b") if url == path or when != "while copying" else Ledger(url, create=False)
            spenders += 1
    assert spenders == (when != "between the commits")
    moved = Ledger.move(path, database.url)
    moved.check()
    spend(database.url, "b", "c")
    assert moved.show()[0].spent == 1
    assert [entry.kind for entry in moved.history()].count("moved") == 1


def test_moving_again_changes_nothing(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    Ledger.move(path, database.url)
    spend(database.url, "b")
    again = Ledger.move(path, database.url)
    assert again.show()[0].spent == Fraction(2, 3)


def test_it_moves_to_one_place(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    other = path.with_name("other.db")
    spend(other, "a")
    Ledger.move(path, database.url)
    with pytest.raises(LedgerError, match=r"There is a ledger in .* already"):
        Ledger.move(other, database.url)
    spend(other, "b")  # as it was
    with pytest.raises(LedgerError, match="cannot be in two places"):
        Ledger.move(path, database.url.replace("127.0.0.1", "localhost"))


def test_a_release_that_is_being_made_is_waited_for_and_a_dead_one_goes_along(
    path: Path, database: PostgresPlace
) -> None:
    spend(path, "a")
    with reserve(Ledger(path), asked("b", cap=10)) as claim:
        with pytest.raises(LedgerError, match="being made"):
            Ledger.move(path, database.url)
        claim.store(b"answer b")
    with reserve(Ledger(path), asked("c", cap=10)) as claim:
        SqlitePlace(path).lose_holds()  # as if the process were dead
        moved = Ledger.move(path, database.url)
        with pytest.raises(LedgerError, match="was moved"):
            claim.store(b"too late")
        claim.release.answer = b"nothing is withdrawn either"
    spend(database.url, "c")
    kinds = [entry.kind for entry in moved.history()]
    assert kinds[-4:] == ["reserved", "moved", "taken-over", "released"]
    assert moved.show()[0].spent == 1


def test_a_ledger_that_was_edited_does_not_move(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    SqlitePlace(path).change("UPDATE charges SET payload = x'00'")
    with pytest.raises(LedgerError, match=r"not what its history says|was stored"):
        Ledger.move(path, database.url)
    assert Ledger.find(database.url) is None


def test_other_places_are_no_places_to_move_to(path: Path, database: PostgresPlace) -> None:
    spend(path, "a")
    with pytest.raises(InputError, match="not the address of a PostgreSQL"):
        Ledger.move(path, "other.db")
    with pytest.raises(InputError, match="already"):
        Ledger.move(database.url, database.url)
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger.move(path.with_name("none.db"), database.url)
    spend(database.url, "a")
    with pytest.raises(BudgetConflictError):
        spend(database.url, "a", cap=11)
