"""Files that are not ledgers, are older than their mark, were changed, or cannot be written."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.ledger.places import Place
from tests.ledger.single import peek, reserve
from tests.ledger.worker import asked

from leeward.errors import LedgerError
from leeward.ledger import Ledger, MemoizedReports, PersonBudgets
from leeward.ledger._chain import link
from leeward.ledger._secret import VARIABLE


def spend(url: str | Path, *keys: str) -> None:
    ledger = Ledger(url)
    for key in keys:
        with reserve(ledger, asked(key, cap=10)) as claim:
            claim.store(b"answer " + key.encode())


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def mark(path: Path) -> Path:
    return path.with_name(path.name + ".mark")


def a_text(path: Path) -> None:
    path.write_text("user,venue\n" * 1000)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_foreign_database(path: Path) -> None:
    change(path, "CREATE TABLE visits (person TEXT)")


def of_another_application(path: Path) -> None:
    change(path, "PRAGMA application_id = 1")


def of_a_later_version(path: Path) -> None:
    spend(path, "k")
    change(path, "PRAGMA user_version = 99")


def with_a_lost_table(path: Path) -> None:
    spend(path, "k")
    change(path, "DROP TABLE entries")


def cut_short(path: Path) -> None:
    spend(path, "k")
    with path.open("r+b") as file:
        file.truncate(5000)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (a_text, "not a SQLite file"),
        (a_folder, "is a folder"),
        (a_foreign_database, "not a Leeward ledger"),
        (of_another_application, "not a Leeward ledger"),
        (of_a_later_version, "schema 99"),
        (with_a_lost_table, "cannot be used"),
        (cut_short, "damaged"),
    ],
)
def test_what_is_no_ledger_is_refused_and_left_alone(make: Callable[[Path], None], says: str, path: Path) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(LedgerError, match=says):
        Ledger(path)
    assert (path.read_bytes() if path.is_file() else b"") == before


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://me:password@host/budget", "SQLite files or PostgreSQL databases"),
        ("sqlite://", "three slashes"),
        ("sqlite:///:memory:", "no plain file"),
        ("sqlite:///budget.db?mode=ro", "no plain file"),
        ("sqlite:///file:budget.db", "no plain file"),
        ("://", "no plain file"),
        ("sqlite:////no/such/folder/budget.db", "Make the folder first"),
    ],
)
def test_urls_that_name_no_file_are_refused(url: str, says: str) -> None:
    with pytest.raises(LedgerError, match=says) as caught:
        Ledger(url)
    assert "password" not in str(caught.value)


def test_looking_does_not_make_a_ledger(path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger"):
        Ledger(path, create=False)
    assert not path.exists()
    path.touch()
    with pytest.raises(LedgerError, match="is empty"):
        Ledger(path, create=False)
    Ledger(path)
    assert Ledger(path, create=False).show() == []


def test_a_url_a_path_and_a_link_reach_one_budget(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spend(path, "k")
    alias = path.with_name("link.db")
    alias.symlink_to(path)
    monkeypatch.chdir(path.parent)
    relative = Ledger("sqlite:///budget.db")
    monkeypatch.chdir("/")
    for ledger in (
        relative,
        Ledger(f"sqlite:///{path}"),
        Ledger(f"SQLite:///{path}"),
        Ledger(str(path)),
        Ledger(alias),
    ):
        assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "released"]
    assert not mark(alias).exists()


def test_a_locked_ledger_is_refused_after_waiting(place: Place) -> None:
    ledger = Ledger(place.url, lock_wait=0.1)
    spend(place.url, "k")
    with place.locked():
        with pytest.raises(LedgerError, match="kept it locked"):
            ledger.set_cap("city", 9)
        assert ledger.show("city")[0].cap == 10  # reading goes on
    ledger.set_cap("city", 9)


def test_a_ledger_that_cannot_be_written_is_refused() -> None:
    nobody = 65534 if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "budget.db"
        spend(path, "k")
        path.chmod(0o444)
        mark(path).chmod(0o444)
        Path(folder).chmod(0o555)
        try:
            if nobody is not None:
                os.seteuid(nobody)
            with pytest.raises(LedgerError, match="writable"):
                spend(path, "another")
        finally:
            if nobody is not None:
                os.seteuid(0)
            Path(folder).chmod(0o755)
        path.chmod(0o644)
        assert Ledger(path).show()[0].spent * 3 == 1


def test_a_restored_backup_is_refused_until_it_is_accepted(place: Place) -> None:
    spend(place.url, "a")
    place.backup()
    spend(place.url, "b")
    place.restore()
    for attempt in (lambda: Ledger(place.url), lambda: spend(place.url, "c")):
        with pytest.raises(LedgerError, match=r"restored from a backup.*accept-restored"):
            attempt()
    Ledger.accept_restored(place.url)
    ledger = Ledger(place.url)
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "released", "accepted-restored"]
    spend(place.url, "c")
    ledger.check()
    assert [account.dataset for account in ledger.show()] == ["city"]


def test_a_mark_that_a_link_leads_to_is_kept_there(place: Place, tmp_path: Path) -> None:
    """Kept elsewhere, as the documentation says, it tells of a ledger that is restored with all that lies beside it."""
    spend(place.url, "a")
    (kept := tmp_path / "elsewhere").mkdir()
    shutil.move(place.mark, kept / "mark")
    place.mark.symlink_to(kept / "mark")
    place.backup()
    spend(place.url, "b")
    assert place.mark.is_symlink()
    assert [each.name for each in kept.iterdir()] == ["mark"]
    place.restore()  # the link leads there still
    with pytest.raises(LedgerError, match="restored from a backup"):
        Ledger(place.url)
    (kept / "mark").rename(kept / "lost")
    with pytest.raises(LedgerError, match=r"missing.*accept-restored"):  # a link that leads nowhere is no mark
        Ledger(place.url)


def test_a_backup_restored_under_a_running_process_is_refused_too(place: Place) -> None:
    spend(place.url, "a")
    place.backup()
    spend(place.url, "b")
    running = Ledger(place.url)
    place.restore()
    with pytest.raises(LedgerError, match="restored from a backup"), reserve(running, asked("c", cap=10)):
        pytest.fail("reserved in a ledger that forgot")
    with pytest.raises(LedgerError, match="restored from a backup"):
        running.show()


def test_the_mark_is_up_to_date_before_a_spend_is_acknowledged(place: Place) -> None:
    ledger = Ledger(place.url)
    marked: dict[str, int] = {}

    def look(stage: str) -> None:
        if place.mark.exists():
            marked[stage] = json.loads(place.mark.read_text())["entries"]

    with reserve(ledger, asked("k"), progress=look) as claim:
        claim.store(b"answer")
    assert marked["charged"] == 0  # lags, never leads
    assert marked["reserved"] == 2
    assert marked["saved"] == 2
    assert marked["stored"] == 3


def test_the_mark_is_up_to_date_after_each_act_that_writes_an_entry(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a copy from before the act fits the mark: what was said on purpose could be taken back unseen."""
    ledger = Ledger(place.url)

    def withdraw() -> None:
        with reserve(ledger, asked("withdrawn", cap=None)):
            pass

    def new_key() -> None:
        monkeypatch.setenv(VARIABLE, str(tmp_path / "another-key"))
        ledger.new_key()

    def accept_restored() -> None:
        place.mark.unlink()
        Ledger.accept_restored(place.url)

    acts = {
        "a release": lambda: spend(place.url, "k"),
        "a withdrawal": withdraw,
        "set_cap": lambda: ledger.set_cap("city", 2),
        "new_key": new_key,
        "accept_restored": accept_restored,
    }
    for name, act in acts.items():
        before = len(ledger.history())
        act()
        written = len(Ledger(place.url).history())
        assert written > before, name
        assert json.loads(place.mark.read_text())["entries"] == written, name


def test_what_the_dead_left_of_a_mark_goes_with_the_next_that_is_written(path: Path) -> None:
    """And nothing else does: not what only looks like it, and not what others make beside the ledger."""
    spend(path, "a")
    token = "0123456789abcdef" * 2
    dead = path.with_name(f"{path.name}.{token}.new")
    others = [f"{path.name}.{token}.newer", f"{path.name}.{token[1:]}.new", f"other.db.{token}.new", f"{path.name}.new"]
    for each in (dead, *map(path.with_name, others)):
        each.write_text("half of a mark")
    spend(path, "b")
    assert not dead.exists()
    assert {each.name for each in path.parent.iterdir()} >= {*others}


def test_a_mark_that_lags_is_what_a_crash_leaves_and_is_fine(place: Place) -> None:
    spend(place.url, "a")
    earlier = place.mark.read_text()
    spend(place.url, "b")
    place.mark.write_text(earlier)
    spend(place.url, "c")
    assert place.mark.read_text() != earlier
    Ledger(place.url).check()


def test_a_lost_or_unreadable_mark_is_refused_until_it_is_accepted(place: Place) -> None:
    spend(place.url, "a")
    place.mark.unlink()
    with pytest.raises(LedgerError, match=r"missing.*accept-restored"):
        Ledger(place.url)
    entries = ("-1", "true", "1.5", '"3"', "null", str(2**63), str(10**40))  # no database counts so far
    for text in ("{}", "[]", *(f'{{"ledger": "a", "entries": {each}, "head": "b"}}' for each in entries)):
        place.mark.write_text(text)
        for attempt in (lambda: Ledger(place.url), lambda: Ledger.accept_restored(place.url)):
            with pytest.raises(LedgerError, match=r"cannot be read.*accept-restored"):
                attempt()
        assert place.mark.read_text() == text  # it may be somebody's file
    place.mark.unlink()
    Ledger.accept_restored(place.url)
    spend(place.url, "b")


def test_another_ledger_in_its_place_is_refused(path: Path) -> None:
    spend(path, "a")
    other = path.with_name("other.db")
    spend(other, "a")
    shutil.copy(other, path)
    with pytest.raises(LedgerError, match="remembers another entry"):
        Ledger(path)
    path.unlink()
    with pytest.raises(LedgerError, match=r"gone, but its high-water mark"):
        Ledger(path)
    path.touch()
    with pytest.raises(LedgerError, match=r"empty, but its high-water mark"):
        Ledger(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET cost = '0/1' WHERE number = 2",
        "UPDATE entries SET kind = 'released' WHERE number = 2",
        "UPDATE entries SET time = '2000-01-01T00:00:00+00:00' WHERE number = 4",
        "UPDATE entries SET spent = '0/1' WHERE number = 5",
        "UPDATE entries SET cap = '99/1' WHERE number = 5",
        "DELETE FROM entries WHERE number = 3",
        "UPDATE charges SET payload = x'00' WHERE key = 'a'",
        "UPDATE charges SET payload = NULL WHERE key = 'a'",
        "UPDATE charges SET digest = x'00' WHERE key = 'a'",
        "UPDATE charges SET key = 'c' WHERE key = 'a'",
        "UPDATE charges SET key_hash = 'c' WHERE key = 'a'",
        "DELETE FROM charges WHERE key = 'a'",
        "UPDATE charges SET marks = '{}' WHERE key = 'a'",
        "UPDATE charges SET digest_form = 'x' WHERE key = 'a'",
        "UPDATE ledger SET key = 'x'",
        "INSERT INTO charges SELECT 'x', dataset, version, 'y', key, cost, digest_form, digest_columns, digest, marks, "
        "holder, payload FROM charges WHERE key = 'a'",
    ],
)
def test_every_change_by_another_hand_is_found(statement: str, place: Place) -> None:
    spend(place.url, "a", "b")
    running = Ledger(place.url)
    running.check()
    place.change(statement)
    with pytest.raises(LedgerError):
        running.check()
    with pytest.raises(LedgerError):
        Ledger.accept_restored(place.url)
    if "payload = x'00'" not in statement:  # every answer is read by check(), and else the one that is shown
        with pytest.raises(LedgerError):
            running.history()
        with pytest.raises(LedgerError):
            Ledger(place.url)


def test_a_changed_balance_or_answer_is_never_used(place: Place) -> None:
    spend(place.url, "a")
    place.change("UPDATE charges SET payload = x'00'")
    ledger = Ledger(place.url)
    with pytest.raises(LedgerError, match="not the one that was stored"):
        peek(ledger, "city", "1", "a")
    with pytest.raises(LedgerError, match="not the one that was stored"):
        spend(place.url, "a")
    place.change("UPDATE entries SET spent = '0/1' WHERE number = 3")
    with pytest.raises(LedgerError, match="hash chain"):
        spend(place.url, "b")
    with pytest.raises(LedgerError, match="hash chain"):
        ledger.show()


def test_a_whole_new_chain_does_not_fit_the_mark(path: Path) -> None:
    """A forger who knows the chain can rebuild it; the mark is what he must not have."""
    spend(path, "a", "b")
    kept = mark(path).read_text()
    forged = path.with_name("forged.db")
    spend(forged, "a")
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(forged)) as new:
        identity = old.execute("SELECT id FROM ledger").fetchone()[0]
        with new:
            new.execute("UPDATE ledger SET id = ?", (identity,))
    shutil.copy(forged, path)
    mark(path).write_text(kept)
    with pytest.raises(LedgerError, match="remembers another entry"):
        Ledger(path)


def test_a_chain_and_mark_forged_together_must_still_add_up(path: Path) -> None:
    spend(path, "a")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.row_factory = sqlite3.Row
        before, last = connection.execute("SELECT * FROM entries ORDER BY number DESC LIMIT 2").fetchall()[::-1]
        forged = dict(last) | {"spent": "0/1"}
        forged["hash"] = link(before["hash"], forged)
        connection.execute("UPDATE entries SET spent = :spent, hash = :hash WHERE number = :number", forged)
    mark(path).write_text(mark(path).read_text().replace(last["hash"], forged["hash"]))
    with pytest.raises(LedgerError, match="Entry 3"):
        Ledger(path)


def test_a_mark_that_cannot_be_written_shows_nothing(place: Place) -> None:
    """Committed without its mark: not shown now, and neither lost nor charged again later."""
    ledger = Ledger(place.url)
    aside = place.mark.with_name("aside")

    def block(stage: str) -> None:
        if stage == "saved":
            place.mark.rename(aside)
            place.mark.mkdir()

    with pytest.raises(LedgerError, match="mark"), reserve(ledger, asked("k"), progress=block) as claim:
        claim.store(b"answer")
    assert claim.answer is None
    place.mark.rmdir()
    aside.rename(place.mark)
    with reserve(ledger, asked("k")) as again:
        assert again.answer == b"answer"
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "released"]


@pytest.mark.parametrize("letter", ["n", "ö"])
@pytest.mark.parametrize("length", [200, 217, 218, 235, 236, 247, 250, 255, 256, 4096])
def test_a_name_too_long_leaves_no_file(length: int, letter: str, tmp_path: Path) -> None:
    """255 bytes are the longest name of a file, and the holds of a ledger are named with 38 more."""
    name = letter * (length // len(letter.encode()))
    bytes_of_it = len(name.encode())
    makers: list[Callable[[Path], object]] = [
        Ledger,
        lambda path: PersonBudgets(path, secret=bytes(16), price="1 a metre", reports_a_day=3, new=True),
        lambda path: MemoizedReports(path, key=bytes(16), law="geometric", new=True),
    ]
    for number, make in enumerate(makers):
        folder = tmp_path / str(number)
        folder.mkdir()
        if bytes_of_it <= 255 - 38:
            make(folder / name)
            if make is Ledger:
                spend(folder / name, "k")
        else:
            with pytest.raises(LedgerError, match="name of more than 217 bytes"):
                make(folder / name)
            assert not [*folder.iterdir()]
