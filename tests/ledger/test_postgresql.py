"""What is PostgreSQL's own: addresses, rights, durability, poolers, replicas, and machines that share one budget."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.ledger.places import PostgresPlace
from tests.ledger.single import reserve
from tests.ledger.worker import asked
from tests.postgres import PASSWORD, STRANGER, Server

from leeward._postgres import Address, explained
from leeward.errors import CapExceededError, InputError, LedgerError
from leeward.ledger import Ledger, _postgresql
from leeward.ledger._account import append, balance

Start = Callable[..., "subprocess.Popen[str]"]


def spend(url: str, *keys: str, **other: Any) -> None:
    ledger = Ledger(url)
    for key in keys:
        with reserve(ledger, asked(key, **({"cap": 10} | other))) as claim:
            claim.store(b"answer " + key.encode())


@contextmanager
def altered(server: Server, *statements: str) -> Iterator[None]:
    """Do and undo as the superuser: pairs of statements."""
    with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
        for statement in statements[::2]:
            connection.execute(statement.encode())
        try:
            yield
        finally:
            for statement in reversed(statements[1::2]):
                connection.execute(statement.encode())


# ---- addresses


@pytest.mark.parametrize(
    ("given", "place", "written"),
    [
        ("postgresql://db.example/budgets", "postgresql://db.example/budgets", None),
        ("postgres://db.example:5432/budgets", "postgresql://db.example/budgets", "postgresql://db.example/budgets"),
        ("POSTGRESQL://DB.Example:6000/B", "postgresql://db.example:6000/B", "postgresql://db.example:6000/B"),
        ("postgresql://ann@h/b?sslmode=require", "postgresql://h/b", None),
        ("postgresql://a%40b@h/my%20db", "postgresql://h/my%20db", None),
        ("postgresql://[::1]:99/b", "postgresql://[::1]:99/b", None),
        ("postgresql:///b?host=/run/pg", "postgresql:///b?host=/run/pg", None),
        ("postgresql://ann@:99/b?host=/run/pg", "postgresql://:99/b?host=/run/pg", None),
    ],
)
def test_an_address_is_read_and_written(given: str, place: str, written: str | None) -> None:
    read = Address.read(given)
    assert (read.place, str(read)) == (place, written or given)
    assert Address.read(str(read)) == read


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("postgresql://me:{}@host/b", "holds a password"),
        ("postgresql://me:@host/b", "holds a password"),
        ("postgresql://host/b?password={}", "holds a password"),
        ("postgresql://host/b?sslpassword={}", "holds a password"),
        ("postgresql://host/b?passfile=/x", "holds a password"),
        ("postgresql://me:{}@host:port/b", "cannot be read"),
        ("postgresql+psycopg://me:{}@host/b", "names a driver"),
        ("postgresql:me:{}@host/b", "does not begin with"),
        ("postgresql:///b", "names no host"),
        ("postgresql://host", "names no database"),
        ("postgresql://host/", "names no database"),
        ("postgresql://one,two/b", "several hosts|cannot be read"),
        ("postgresql://%2Frun%2Fpg/b", "percent sign"),
        ("postgresql://host/b?host=/run", "same thing twice"),
        ("postgresql://host/b?sslmode=require&sslmode=disable", "same thing twice"),
        ("postgresql://host/b?options=-csynchronous_commit%3Doff", "a setting 'options'"),
        ("postgresql://host/b?service=x", "a setting 'service'"),
        ("postgresql://host/b%00", "cannot be read"),
        ("postgresql://host/b#x", "cannot be read"),
    ],
)
def test_other_addresses_are_refused_and_no_password_is_repeated(given: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Ledger(given.format("open-sesame"))
    assert "sesame" not in str(caught.value)


def test_the_files_of_an_address_are_relative_to_the_spec(tmp_path: Path) -> None:
    read = Address.read("postgresql://h/b?sslrootcert=ca.pem&sslmode=verify-full", tmp_path)
    assert str(read) == f"postgresql://h/b?sslmode=verify-full&sslrootcert={tmp_path}/ca.pem"
    assert dict(Address.read("postgresql://h/b?sslrootcert=system").settings) == {"sslrootcert": "system"}


# ---- who may


def test_a_password_comes_from_the_environment_and_is_never_shown(
    database: PostgresPlace, postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres.address(postgres_database, STRANGER)
    said = []
    for wrong in (None, "a wrong password"):
        monkeypatch.delenv("PGPASSWORD", raising=False) if wrong is None else monkeypatch.setenv("PGPASSWORD", wrong)
        with pytest.raises(LedgerError, match=r"does not let this user in.*PGPASSWORD") as caught:
            Ledger(url)
        said.append(str(caught.value))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with pytest.raises(LedgerError, match="may not do that") as caught:
        Ledger(url)
    said.append(str(caught.value))
    granted = f"GRANT CREATE ON DATABASE {postgres_database} TO {STRANGER}"
    with altered(postgres, granted, granted.replace("GRANT", "REVOKE").replace(" TO ", " FROM ")):
        spend(url, "a")
    assert Ledger(url).url == url
    assert not any(PASSWORD in one or "wrong password" in one for one in said)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (
            "postgresql://keeper@127.0.0.1:{port}/no_such_database",
            r"refuses \(database .no_such_database. does not exist",
        ),
        ("postgresql://nobody_here@127.0.0.1:{port}/postgres", r"refuses \(role .nobody_here. does not exist"),
        ("postgresql://127.0.0.1:1/b", "not reached"),
        ("postgresql://nowhere.invalid/b", "not reached"),
        ("postgresql:///b?host=/nowhere", "not reached"),
    ],
)
def test_a_server_that_is_not_reached(url: str, says: str, postgres: Server) -> None:
    with pytest.raises(LedgerError, match=says):
        Ledger(url.format(port=postgres.port))


def test_a_server_that_is_starting_is_no_wrong_address() -> None:
    """What a server says while it replays its log, as after a crash; the address is right, and time mends it."""
    said = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0"
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    session, _ = server.accept()
                    with session:
                        while int.from_bytes(session.recv(4096)[4:8], "big") != 3 << 16:  # it asks for TLS and the like
                            session.sendall(b"N")
                        session.sendall(b"E" + (len(said) + 4).to_bytes(4, "big") + said)

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(LedgerError, match=r"the server is stopping or starting.*Run again when it is up"):
            Ledger(f"postgresql://127.0.0.1:{server.getsockname()[1]}/b")
        server.shutdown(socket.SHUT_RDWR)


def test_without_the_library_the_message_says_what_to_install(
    database: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with pytest.raises(InputError, match=r"needs the library psycopg.*pip install \"leeward\[postgres\]"):
        Ledger(database.url)


# ---- what is no ledger


def test_looking_does_not_make_a_ledger(database: PostgresPlace) -> None:
    assert Ledger.find(database.url) is None
    with pytest.raises(LedgerError, match="no schema 'leeward'"):
        Ledger(database.url, create=False)
    assert database.rows("SELECT count(*) FROM pg_namespace WHERE nspname = 'leeward'") == [(0,)]
    Ledger(database.url)
    assert Ledger(database.url, create=False).show() == []


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("DROP TABLE leeward.entries CASCADE", "not those of a ledger"),
        ("UPDATE leeward.form SET schema = 99", "schema 99"),
        ("DELETE FROM leeward.form", "schema none"),
        ("DROP SCHEMA leeward CASCADE", "is gone, but its high-water mark"),
    ],
)
def test_what_is_no_ledger_any_more_is_refused(statement: str, says: str, database: PostgresPlace) -> None:
    spend(database.url, "a")
    database.change(statement)
    with pytest.raises(LedgerError, match=says):
        Ledger(database.url)
    database.mark.unlink()
    database.mark.symlink_to("nowhere")  # as where what it was kept on is not mounted
    with pytest.raises(LedgerError, match=says):
        Ledger(database.url)


def test_a_schema_of_somebody_else_is_left_alone(database: PostgresPlace) -> None:
    database.change("CREATE SCHEMA leeward", "CREATE TABLE leeward.notes (text text)")
    with pytest.raises(LedgerError, match="is not a ledger"):
        Ledger(database.url)
    database.change("DROP TABLE leeward.notes")  # an empty one may have been made for us
    spend(database.url, "a")


@pytest.mark.sweep
def test_a_database_of_another_encoding_is_refused(database: PostgresPlace, postgres: Server) -> None:
    made = f"CREATE DATABASE ascii_{os.getpid()} ENCODING 'SQL_ASCII' TEMPLATE template0"
    dropped = f"DROP DATABASE ascii_{os.getpid()}"
    with altered(postgres, made, dropped), pytest.raises(LedgerError, match="kept in SQL_ASCII"):
        Ledger(postgres.address(f"ascii_{os.getpid()}"))


# ---- durable, and alone


def test_what_a_role_was_given_weakens_nothing(
    database: PostgresPlace, postgres: Server, postgres_database: str
) -> None:
    given = {
        "synchronous_commit": "off",
        "default_transaction_isolation": "serializable",
        "search_path": "leeward, public",
        "standard_conforming_strings": "off",
    }
    statements = [
        part
        for name, value in given.items()
        for part in (
            f"ALTER DATABASE {postgres_database} SET {name} = {value}",
            f"ALTER DATABASE {postgres_database} RESET {name}",
        )
    ]
    with altered(postgres, *statements):
        ledger = Ledger(database.url)
        with ledger._store.writing() as connection:
            shown = {name: connection.exec_driver_sql(f"SHOW {name}").scalar() for name in given}
            isolation = connection.exec_driver_sql("SHOW transaction_isolation").scalar()
        spend(database.url, "a")
    assert isolation == "read committed"
    assert (shown["synchronous_commit"], shown["search_path"]) == ("on", "pg_catalog")


def test_a_server_that_does_not_sync_is_refused(database: PostgresPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(database.url)
    unsynced = _postgresql._FIRST.replace("current_setting('fsync')", "'off'")
    monkeypatch.setattr(_postgresql, "_FIRST", unsynced)
    with pytest.raises(LedgerError, match="fsync = off"):
        spend(database.url, "a")


def test_a_replica_or_a_reader_is_told_so(database: PostgresPlace, postgres: Server, postgres_database: str) -> None:
    spend(database.url, "a")
    statements = [f"ALTER DATABASE {postgres_database} {how} default_transaction_read_only" for how in ("SET", "RESET")]
    with altered(postgres, statements[0] + " = on", statements[1]):
        assert Ledger(database.url).show()[0].spent == Fraction(1, 3)
        with pytest.raises(LedgerError, match="is a replica"):
            spend(database.url, "b")


def test_without_the_lock_the_primary_key_still_stops_the_second(
    database: PostgresPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The backstop: two that write at once without the row's lock add the same number, and one of them is refused."""
    monkeypatch.setattr(_postgresql, "_FIRST", _postgresql._FIRST.replace(" FOR UPDATE", ""))
    spend(database.url, "first")
    store, refused = Ledger(database.url)._store, list[str]()

    def second() -> None:
        try:
            with store.writing() as connection:
                append(connection, balance(connection, "city"), kind="set-cap", dataset="city")
        except LedgerError as error:
            refused.append(str(error))

    other = threading.Thread(target=second)
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
    with store.writing() as connection:
        append(connection, balance(connection, "city"), kind="set-cap", dataset="city")
        other.start()
        deadline = time.monotonic() + 30
        while database.rows(waiting) == [(0,)] and time.monotonic() < deadline:
            time.sleep(0.02)
    other.join(60)
    assert len(refused) == 1
    assert "23505" in refused[0]
    assert "city" not in refused[0]
    Ledger(database.url).check()


@pytest.mark.sweep
def test_machines_with_marks_of_their_own_spend_one_budget(
    database: PostgresPlace, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines = []
    for name in ("ann", "ben", "cem"):
        monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / name))
        with Ledger(database.url)._store.writing():
            pass  # there from before the first entry on: each has a mark of its own
    for name in ("ann", "ben", "cem"):
        monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / name))
        machines.append(start(database.url, "hammer", name))
    spends = 0
    for machine in machines:
        out, err = machine.communicate(timeout=120)
        assert machine.returncode == 0, err
        spends += len(out.split())
    assert spends == 21
    for name in ("ann", "ben", "cem"):
        monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / name))
        ledger = Ledger(database.url)
        ledger.check()
        assert ledger.show()[0].spent == 3
        with pytest.raises(CapExceededError):
            spend(database.url, "more", cap=3)


def test_a_new_machine_accepts_a_ledger_once(database: PostgresPlace, tmp_path: Path, monkeypatch: Any) -> None:
    spend(database.url, "a")
    monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / "another machine"))
    with pytest.raises(LedgerError, match=r"mark .*another machine.*is missing.*this machine is new.*accept-restored"):
        Ledger(database.url)
    Ledger.accept_restored(database.url)
    spend(database.url, "b")
    monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / "marks"))
    spend(database.url, "c")  # the first one's mark lags, and is no worse for it
    assert Ledger(database.url).show()[0].spent == 1


def test_two_ways_to_a_database_have_two_marks(
    database: PostgresPlace, postgres: Server, postgres_database: str
) -> None:
    spend(database.url, "a")
    socketed = PostgresPlace(postgres.by_socket(postgres_database))
    assert socketed.mark != database.mark
    Ledger.accept_restored(socketed.url)
    assert Ledger(socketed.url).show() == Ledger(database.url).show()


def test_each_database_has_a_mark_of_its_own_whoever_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_postgresql.MARKS, str(tmp_path))
    long = "d" * 300
    names = ["h/a", "h/b", "h:1/a", "i/a", "/a?host=/x", "/a?host=/y", ":1/a?host=/x", f"h/{long}", f"h/{long}e"]

    def mark(name: str) -> Path:
        store = _postgresql.PostgresStore(Address.read(f"postgresql://{name}"), create=None, lock_wait=1)
        return store._mark

    marks = [mark(name) for name in names]
    assert len({*marks}) == len(names)
    assert max(len(each.name) for each in marks) < 255 - 38
    assert mark("ann@h/a?sslmode=require") == marks[0]


def test_a_folder_of_marks_that_cannot_be_made_is_said(
    database: PostgresPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(_postgresql.MARKS, str(tmp_path / "file" / "marks"))
    with pytest.raises(LedgerError, match=r"cannot be made.*LEEWARD_MARKS"):
        Ledger(database.url)


def test_a_lost_session_is_only_a_lost_lock(database: PostgresPlace) -> None:
    """Where nobody took over, the answer is stored as if nothing had happened."""
    ledger = Ledger(database.url)
    with reserve(ledger, asked("k")) as claim:
        database.lose_holds()
        claim.store(b"answer")
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "released"]


def test_names_that_no_index_holds_are_refused_in_words(database: PostgresPlace) -> None:
    ledger = Ledger(database.url)
    noise = os.urandom(4000).hex()  # what compresses well would fit
    with pytest.raises(LedgerError, match="too long"), reserve(ledger, asked("k", dataset=noise)):
        pytest.fail("reserved")
    assert ledger.history() == []
    with reserve(ledger, asked("k", dataset=noise[:300], version=noise[:300], columns=(noise,))) as claim:
        claim.store(b"answer")


def test_no_complaint_of_the_database_is_repeated(database: PostgresPlace) -> None:
    """PostgreSQL tells the row that broke a rule."""
    secret = "somebody's row"
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE t (name text PRIMARY KEY, number int)")
        connection.execute("INSERT INTO t VALUES (%s)", (secret,))
        for statement in (
            "INSERT INTO t VALUES (%s)",
            "SELECT %s::int",
            "INSERT INTO t SELECT name FROM t WHERE name = %s",
        ):
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(statement, (secret,))
            assert "somebody" in str(caught.value)
            assert "somebody" not in " ".join(explained(caught.value))


# ---- a pooler stands between


@contextmanager
def pooler(port: int) -> Iterator[int]:
    """A server that hands everything on, but answers for the number of the process behind, as every pooler does."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                here, _ = listening.accept()
            except OSError:
                return
            with here, socket.create_connection(("127.0.0.1", port)) as there:
                while True:
                    ready, _, _ = select.select([here, there], [], [])
                    said = ready[0].recv(65536)
                    if not said:
                        break
                    if ready[0] is there and (at := said.find(b"K\0\0\0\x0c")) >= 0:
                        said = said[: at + 5] + b"\0\0\x7f\x7f" + said[at + 9 :]
                    (there if ready[0] is here else here).sendall(said)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join(10)


def test_a_pooler_is_refused(database: PostgresPlace, postgres: Server, postgres_database: str) -> None:
    """A lock of a session would be nobody's, or somebody else's."""
    spend(database.url, "a")
    with pooler(postgres.port) as port, pytest.raises(LedgerError, match=r"pooler.*the server itself"):
        Ledger(database.url.replace(f":{postgres.port}", f":{port}") + "?sslmode=disable")
