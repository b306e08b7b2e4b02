"""What another hand wrote into a ledger, its mark or the names beside it: found in words, never believed, never a crash."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import peek, reserve
from tests.ledger.test_ledger_files import mark, spend
from tests.ledger.worker import asked

from leeward.errors import LedgerError
from leeward.ledger import Ledger
from leeward.ledger._account import Pen, balance
from leeward.ledger._beside import make


def use(ledger: Ledger, key: str) -> bytes | None:
    """Ask for a release that nothing was drawn for yet, or whose answer is stored."""
    with reserve(ledger, asked(key, cap=10), wait=0) as claim:
        if claim.answer is None:
            claim.store(b"drawn anew")
    return claim.answer


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE charges SET payload = NULL WHERE key = 'a'",
        "UPDATE charges SET payload = NULL, holder = '00000000000000000000000000000000' WHERE key = 'a'",
        "DELETE FROM charges WHERE key = 'a'",
        "UPDATE charges SET key_hash = 'x' WHERE key = 'a'",
        "UPDATE charges SET key = 'x', key_hash = 'x' WHERE key = 'a'",
        "UPDATE charges SET dataset = 'village' WHERE key = 'a'",
        "UPDATE charges SET version = '2' WHERE key = 'a'",
        "UPDATE charges SET cost = '0/1' WHERE key = 'a'",
    ],
)
def test_a_released_answer_is_never_drawn_anew(edit: str, place: Place) -> None:
    """Neither by a process that was running before the edit nor by one that opens the ledger after it."""
    spend(place.url, "a")
    running = Ledger(place.url)
    place.change(edit)
    for attempt in (lambda: use(running, "a"), lambda: use(Ledger(place.url), "a"), lambda: Ledger(place.url)):
        with pytest.raises(LedgerError, match=r"history|hash chain|was stored"):
            attempt()
    assert peek(running, "city", "3", "a") is None, "under a label that was never asked for nothing is missed"
    kinds = [kind for (kind,) in place.rows("SELECT kind FROM entries ORDER BY number")]
    assert kinds == ["opened", "reserved", "released"]


def test_what_was_only_reserved_is_still_taken_over(place: Place) -> None:
    """The control of the test above: a reservation of the dead goes to the next who asks, at the same charge."""
    ledger = Ledger(place.url)
    with reserve(ledger, asked("a", cap=10)):
        place.lose_holds()
        assert use(Ledger(place.url), "a") == b"drawn anew"
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "taken-over", "released"]


def test_a_cost_that_was_edited_gives_nothing_back(place: Place) -> None:
    """A withdrawal gives back what was reserved, whatever the charge says by then."""
    ledger = Ledger(place.url)
    with pytest.raises(LedgerError, match="history"), reserve(ledger, asked("a", cap=10)):
        place.change("UPDATE charges SET cost = '9/1'")
    place.change("UPDATE charges SET cost = '1/3'")
    assert Ledger(place.url).show()[0].spent * 3 == 1


def test_a_cap_that_was_edited_in_the_past_is_not_shown_as_true(place: Place) -> None:
    spend(place.url, "a", "b")
    running = Ledger(place.url)
    place.change("UPDATE entries SET cap = '2/1' WHERE number = 1")
    for attempt in (running.history, lambda: Ledger(place.url), running.check):
        with pytest.raises(LedgerError, match="Entry 1 "):
            attempt()


@pytest.mark.parametrize("kind", ["taken-over", "released"])
def test_nothing_is_said_of_a_release_after_its_answer_though_every_hash_fits(kind: Any, path: Path) -> None:
    spend(path, "a")
    running = Ledger(path)
    charge = running.history()[-1]
    with running._store.writing() as connection:
        pen = Pen(connection)
        pen.add(
            balance(connection, "city"), kind=kind, dataset="city", id=charge.id, version=charge.version, key=charge.key
        )
        pen.write()
    for attempt in (running.history, running.check, lambda: use(running, "a"), lambda: Ledger(path)):
        with pytest.raises(LedgerError, match="Entry 4 "):
            attempt()


def leave_out(path: Path, index: str, of: str, but: str) -> None:
    """Make an index list some rows only, and say that it lists all."""
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.executescript(
            f"DROP INDEX {index}; CREATE INDEX {index} ON {of} WHERE {but}; PRAGMA writable_schema = ON;"
            f"UPDATE sqlite_master SET sql = 'CREATE INDEX {index} ON {of}' WHERE name = '{index}'"
        )


def test_an_index_that_leaves_entries_out_is_found_before_a_balance_is_read_by_it(path: Path) -> None:
    """Else an earlier balance is the last that is found, and every hash of it fits."""
    spend(path, "a", "b")
    leave_out(path, "entries_by_dataset", "entries (dataset, number)", "number < 4")
    with pytest.raises(LedgerError, match="An index of the ledger does not list what is in it"):
        Ledger(path)


def test_an_index_of_answers_is_checked_where_all_is_checked(path: Path) -> None:
    spend(path, "a", "b")
    leave_out(path, "charges_by_content", "charges (dataset, version, digest_columns)", "key = 'a'")
    with pytest.raises(LedgerError, match="An index of the ledger does not list what is in it"):
        Ledger(path).check()


@pytest.mark.parametrize(
    "made",
    [
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE number > 3; END",
        "CREATE VIEW v AS SELECT * FROM entries WHERE number <= 3",
    ],
)
def test_a_trigger_is_refused_before_it_takes_a_charge_away(made: str, path: Path) -> None:
    spend(path, "a")
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(made)
    with pytest.raises(LedgerError, match="There is a trigger or a view in the ledger"):
        Ledger(path)


POISON: list[Any] = [None, "", "text", "9/0", -1, 2**62, 1.5, b"", b"\xff\x00", "../../x", "\0", "é" * 300, "[" * 5000]


def poisoned(path: Path, each: int) -> tuple[int, int]:
    """Put some poisons into every column, with an answer and a reservation of the dead.

    Each column takes ``each`` neighbouring values of the list, from where the column before it left off, so that all are
    used. Returns how many attempts were made, and how many of them a LedgerError ended; any other error is a failure.
    """
    spend(path, "a")
    copy = path.with_name("copy.db")
    with reserve(Ledger(path), asked("b", cap=10)), closing(sqlite3.connect(path)) as held:
        with closing(sqlite3.connect(copy)) as fresh:
            held.backup(fresh)
        mark(copy).write_bytes(mark(path).read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        named = [(table, row[1]) for table in tables for row in connection.execute(f"PRAGMA table_info({table})")]
    files = {copy: copy.read_bytes(), mark(copy): mark(copy).read_bytes()}
    found = made = 0
    values = itertools.cycle(POISON)
    for table, column, value in [(*name, next(values)) for name in named for _ in range(each)]:
        for file, whole in files.items():
            file.write_bytes(whole)
        running = Ledger(copy)
        with closing(sqlite3.connect(copy)) as connection:
            try:
                connection.execute("PRAGMA journal_mode = DELETE")
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
                connection.commit()
            except sqlite3.Error:
                continue  # SQLite itself refuses it
        for attempt in (
            lambda: Ledger(copy),
            running.check,
            running.history,
            running.show,
            lambda running=running: peek(running, "city", "1", "a"),
            lambda running=running: use(running, "a"),
            lambda running=running: use(running, "b"),
            lambda running=running: running.set_cap("city", 11),
        ):
            made += 1
            try:
                attempt()
            except LedgerError:
                found += 1
    return made, found


def test_no_value_in_any_column_is_a_crash(path: Path) -> None:
    """A LedgerError, or nothing depends on it."""
    made, found = poisoned(path, 2)
    assert found > made / 3 > 50  # no test of nothing


@pytest.mark.sweep
@pytest.mark.long
def test_no_value_at_all_in_any_column_is_a_crash(path: Path) -> None:
    made, found = poisoned(path, len(POISON))
    assert found > made / 3 > 500


MARKS = [
    b"",
    b"null",
    b"[]",
    b'"text"',
    b"{}",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"ledger": "x", "entries": 1e400, "head": "y"}',
    b'{"ledger": "x", "entries": ' + b"9" * 30 + b', "head": "y"}',
    b'{"ledger": "x", "entries": ' + b"9" * 5000 + b', "head": "y"}',
    b'{"ledger": "x", "entries": -1, "head": "y"}',
    b'{"ledger": "x", "entries": true, "head": "y"}',
    b'{"ledger": "x", "entries": "1", "head": "y"}',
    b'{"ledger": 7, "entries": 1, "head": "y"}',
    b'{"ledger": "x", "entries": 1, "head": null}',
    b'{"ledger": "x", "entries": 1.0, "head": "y"}',
    b'{"ledger": "x", "entries": NaN, "head": "y"}',
]


@pytest.mark.parametrize("text", MARKS, ids=[str(text[:40]) for text in MARKS])
def test_a_mark_that_is_none_is_refused_in_words(text: bytes, path: Path) -> None:
    spend(path, "a")
    running = Ledger(path)
    mark(path).write_bytes(text)
    for attempt in (lambda: Ledger(path), running.show, lambda: spend(path, "b"), lambda: Ledger.accept_restored(path)):
        with pytest.raises(LedgerError, match="cannot be read"):
            attempt()
    assert mark(path).read_bytes() == text


def test_only_our_own_small_files_are_ever_removed(path: Path) -> None:
    """Names that look like ours, but for a digit too few, stay; and a mark's fixed temporary name is not ours to use."""
    token = "0" * 32
    strangers = {
        f"budget.db.{token[1:]}.lock",
        "budget.db.notes.lock",
        "budget.db.lock",
        "budget.db.mark.new",
        f"budget.db.{token}.new.txt",
        f"budget-db.{token}.lock",
        f"budget.db.{token.upper().replace('0', 'A')}.new",
    }
    for name in strangers:
        path.with_name(name).write_text("years of work")
    ours = [path.with_name(f"budget.db.{token}.{kind}") for kind in ("lock", "new")]
    for left in ours:
        left.touch()
    spend(path, "a", "b")
    Ledger(path).set_cap("city", 9)
    assert {name for name in strangers if path.with_name(name).read_text() == "years of work"} == strangers
    assert not any(left.exists() for left in ours)
    assert {p.name for p in path.parent.iterdir()} == strangers | {"budget.db", "budget.db.mark"} | {
        p.name for p in path.parent.iterdir() if p.name in ("budget.db-wal", "budget.db-shm")
    }


def test_a_ledger_and_all_beside_it_are_for_their_owner_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the moment they are made, under the widest umask there is."""
    before = os.umask(0)
    try:
        seen: dict[str, int] = {}

        def look(_stage: str) -> None:
            for file in path.parent.iterdir():
                seen[file.suffix or file.name] = seen.get(file.suffix, 0) | stat.S_IMODE(file.stat().st_mode)

        opened = os.open

        def watched(name: Any, flags: int, mode: int = 0o777, **other: Any) -> int:
            file = opened(name, flags, mode, **other)
            if flags & os.O_CREAT:
                look("made")
            return file

        monkeypatch.setattr(os, "open", watched)
        with reserve(Ledger(path), asked("k"), progress=look) as claim:
            claim.store(b"answer")
    finally:
        os.umask(before)
    assert {".db", ".mark", ".lock", ".new"} <= set(seen)
    assert set(seen.values()) == {0o600}, seen


def test_what_is_beside_a_shared_ledger_is_shared_with_the_same_people(path: Path) -> None:
    Ledger(path)
    path.chmod(0o660)
    spend(path, "a")
    assert stat.S_IMODE(mark(path).stat().st_mode) == 0o660
    assert json.loads(mark(path).read_text())["entries"] == 3


def test_bytes_in_place_of_a_text_are_a_change(path: Path) -> None:
    """They hash alike and compare otherwise: columns told so never equal those of a question, which compares less then."""
    for column in ("digest_form", "digest_columns", "marks"):
        copy = path.with_name(f"{column}.db")
        spend(copy, "a")
        running = Ledger(copy)
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute(f"UPDATE charges SET {column} = CAST({column} AS BLOB)")
            connection.commit()
        for attempt in (lambda copy=copy: Ledger(copy), running.check, lambda running=running: use(running, "a")):
            with pytest.raises(LedgerError):
                attempt()


def test_a_damaged_letter_in_a_name_of_the_schema_is_damage(path: Path) -> None:
    spend(path, "a")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    whole = path.read_bytes()
    name = b"sqlite_autoindex_ledger_1"
    assert name in whole
    path.write_bytes(whole.replace(name, name.replace(b"i", b"\xe9")))
    with pytest.raises(LedgerError, match="cannot be used"):
        Ledger(path)


@pytest.mark.parametrize("lies", ["a file", "a link"])
def test_what_lies_where_a_small_file_is_made_is_not_written_to(lies: str, path: Path, tmp_path: Path) -> None:
    theirs, place = tmp_path / "theirs", path.with_name(f"{path.name}.{'0' * 32}.lock")
    theirs.write_bytes(b"notes of somebody")
    theirs.chmod(0o644)
    place.symlink_to(theirs) if lies == "a link" else theirs.rename(place)
    with pytest.raises(FileExistsError):
        make(place, path)
    assert place.read_bytes() == b"notes of somebody"
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


@pytest.mark.parametrize("use_it", ["read", "write"])
def test_a_ledger_that_was_taken_away_is_not_made_anew(use_it: str, path: Path) -> None:
    spend(path, "a")
    running = Ledger(path)
    for left in [path, *path.parent.glob(f"{path.name}-*")]:
        left.unlink()
    with pytest.raises(LedgerError, match="is gone"):
        running.show() if use_it == "read" else use(running, "b")
    assert not os.path.lexists(path)


def test_a_mark_that_is_made_while_a_ledger_is_read_is_not_missing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spend(path, "a")
    running = Ledger(path)
    monkeypatch.setattr(type(running._store), "read_high_water_mark", lambda _: None)  # before another process made it
    assert len(running.history()) == 3
    mark(path).unlink()
    with pytest.raises(LedgerError, match="is missing"):
        running.history()
