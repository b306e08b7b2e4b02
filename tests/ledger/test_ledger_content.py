"""What a ledger recognises: content that changed under its label, or has another name; and the key that is not in it."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import reserve
from tests.ledger.worker import asked

from leeward.errors import BudgetConflictError, ContentChangedError, LedgerError
from leeward.ledger import Ledger
from leeward.ledger._secret import VARIABLE, key_path, read_key

MARKS = {"user": "1" * 32, "venue": "2" * 32, "at": "3" * 32}


def release(ledger: Ledger, key: str, dataset: str = "city", **other: Any) -> str:
    same: dict[str, Any] = {"marks": MARKS, "telling": ["user", "venue"], "cap": 10, "dataset": dataset}
    with reserve(ledger, asked(key, **(same | other))) as claim:
        if claim.answer is None:
            claim.store(b"answer")
    return claim.id


# ---- under one name


def test_columns_that_two_questions_share_are_compared(place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a")
    other = {"columns": ("user", "age"), "digest": b"of other columns"}
    release(ledger, "b", marks={"user": MARKS["user"], "age": "4" * 32}, **other)
    with pytest.raises(ContentChangedError, match="changed under version"):
        release(ledger, "c", marks={"user": "9" * 32, "age": "4" * 32}, **other)
    with pytest.raises(ContentChangedError, match="changed under version"):
        release(ledger, "a", marks={"user": "9" * 32, "venue": "8" * 32}, **other)
    release(ledger, "c", marks={"user": "9" * 32, "age": "4" * 32}, version="2", **other)


def test_what_was_reserved_and_never_answered_binds_its_label_while_its_process_lives(place: Place) -> None:
    """A table grows from run to run: what a killed process had asked of it could never be asked again."""
    ledger = Ledger(place.url)
    then: dict[str, Any] = {"marks": MARKS, "cap": 10, "version": "1", "digest": b"then"}
    now = then | {"digest": b"now"}
    with reserve(ledger, asked("a", **then)) as claim:
        with pytest.raises(ContentChangedError, match="changed under version"):
            release(ledger, "a", **now)
        with pytest.raises(ContentChangedError, match="changed under version"):
            ledger.check_content("city", "1", asked("a", **now).content)
        place.lose_holds()
        ledger.check_content("city", "1", asked("a", **now).content)
        made = release(ledger, "a", **now)
        with pytest.raises(LedgerError, match="taken over"):
            claim.store(b"of what there was then")
    assert [entry.kind for entry in ledger.history()] == ["opened", "reserved", "withdrawn", "reserved", "released"]
    assert ledger.show()[0].spent == claim.cost
    for key in ("a", "b"):
        with pytest.raises(ContentChangedError, match="changed under version"):
            release(ledger, key, **then)
    assert release(Ledger(place.url), "a", **now) == made


def test_what_was_made_in_another_form_is_unknown_and_not_unchanged(place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", form="1")
    for key in ("a", "b"):
        with pytest.raises(ContentChangedError, match=r"is unknown.*new version label"):
            release(ledger, key, form="2")
    release(ledger, "b", form="2", version="2")


# ---- under two names


@pytest.mark.parametrize("name", ["cit", "citys", "City", "cyty", "CITTY", "ci-ty"])
def test_a_budget_is_not_opened_under_nearly_the_same_name(name: str, place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", "city")
    other = {"marks": {"id": "7" * 32}, "telling": ["id"]}
    with pytest.raises(BudgetConflictError, match=r'Did you mean "city"\?.*new=True'):
        release(ledger, "a", name, **other)
    assert [account.dataset for account in ledger.show()] == ["city"]
    assert len(ledger.history()) == 3
    release(ledger, "a", name, new=True, **other)
    release(ledger, "b", name, **other)  # it is open now: nothing is asked again


@pytest.mark.parametrize("name", ["village", "town", "metropolis", "velocity"])
def test_other_names_are_other_budgets(name: str, place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", "city")
    release(ledger, "a", name, marks={"id": "7" * 32}, telling=["id"])
    assert {account.dataset for account in ledger.show()} == {"city", name}


@pytest.mark.parametrize(
    ("marks", "known"),
    [
        (MARKS, True),
        ({"who": MARKS["user"], "where": MARKS["venue"], "when": MARKS["at"]}, True),  # renamed
        ({"venue": MARKS["user"], "user": MARKS["venue"]}, True),  # exchanged
        ({"user": MARKS["user"]}, True),  # another question about the same people
        ({"age": MARKS["venue"], "id": "7" * 32}, True),
        ({"user": "7" * 32, "venue": "8" * 32}, False),
        ({"user": "7" * 32, "at": MARKS["at"]}, False),  # the same hours are no sign
    ],
)
def test_content_that_is_charged_under_another_name_is_recognised(
    marks: dict[str, str], known: bool, place: Place
) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", "city")
    telling = [name for name in marks if name not in ("at", "when")]
    asked_as: dict[str, Any] = {"marks": marks, "telling": telling, "digest": b"other", "version": "7"}
    if known:
        for _ in range(2):
            with pytest.raises(
                BudgetConflictError, match=r"charged as 'city' already \(this is for the curator only\)"
            ):
                release(ledger, "a", "village", **asked_as)
        assert len(ledger.history()) == 3  # no trace
    release(ledger, "a", "village", new=True, **asked_as)
    release(ledger, "b", "village", **asked_as)  # it was said once that both are meant
    release(ledger, "b", "city")
    assert {account.dataset for account in ledger.show()} == {"city", "village"}


def test_an_open_budget_does_not_take_in_what_is_charged_elsewhere_either(place: Place) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a", "city")
    release(ledger, "a", "village", marks={"id": "7" * 32}, telling=["id"])
    with pytest.raises(BudgetConflictError, match="charged as 'city'"):
        release(ledger, "b", "village", version="2")
    # and where both names were said to be meant, the next content of both is no news
    release(ledger, "b", "village", version="2", new=True)
    grown = {"marks": {"user": "a" * 32, "venue": "b" * 32}, "digest": b"grown", "version": "3"}
    release(ledger, "c", "city", **grown)
    release(ledger, "c", "village", **grown)


def test_what_was_withdrawn_is_not_charged(place: Place) -> None:
    ledger = Ledger(place.url)
    with reserve(ledger, asked("a", marks=MARKS, telling=["user"])):
        pass
    release(ledger, "a", "village")


def test_a_look_refuses_the_content_that_a_charge_would_refuse(place: Place) -> None:
    """`Ledger.check_content` is what a look asks, before anything is charged: what it lets through is charged then."""
    ledger = Ledger(place.url)
    release(ledger, "a", "city", version="v1")
    release(ledger, "a", "town", version="v1", marks={"user": "7" * 32}, telling=["user"])
    other: dict[str, Any] = {"marks": {"user": "8" * 32}, "telling": ["user"], "digest": b"other"}
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"version": "V1"}, BudgetConflictError),  # reads as the label of before
        ({"version": "v1", **other}, ContentChangedError),
        ({"version": "v1", "form": "4"}, ContentChangedError),
        ({"dataset": "town", "version": "v2"}, BudgetConflictError),  # that is the city
        ({"dataset": "hamlet"}, BudgetConflictError),
        ({"dataset": "hamlet", "form": "4", **other}, BudgetConflictError),  # unknown, and it would open a budget
    ]
    for changed, error in cases:
        request = asked("b", **({"dataset": "city", "marks": MARKS, "telling": ["user"], "cap": 10} | changed))
        with pytest.raises(error) as looked:
            ledger.check_content(request.dataset, request.version, request.content)
        with pytest.raises(error) as charged, reserve(ledger, request):
            pytest.fail("it is refused")
        assert str(looked.value) == str(charged.value), changed
    known = asked("b", marks=MARKS, telling=["user"], version="v1")
    ledger.check_content("city", "v1", known.content)
    ledger.check_content("hamlet", "1", known.content, new=True)


# ---- the key


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home" / "key"
    monkeypatch.setenv(VARIABLE, str(made))
    return made


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir() if file.is_file())


def test_the_key_is_in_no_file_of_the_ledger(path: Path, key: Path) -> None:
    ledger = Ledger(path)
    release(ledger, "a")
    with closing(sqlite3.connect(path)) as connection:
        dumped = "\n".join(connection.iterdump())
    for secret in (key.read_bytes(), ledger.content_key()):
        assert secret not in everything(path.parent)
        assert secret.hex() not in dumped.lower()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700


def test_each_ledger_has_a_key_of_its_own_and_keeps_it(path: Path, key: Path) -> None:
    other = path.with_name("other.db")
    assert Ledger(path).content_key() != Ledger(other).content_key()
    assert Ledger(path).content_key() == Ledger(path).content_key()
    assert len(Ledger(path).content_key()) == 32


def test_a_lost_key_is_never_replaced_silently(path: Path, key: Path) -> None:
    release(Ledger(path), "a")
    whole = key.read_bytes()
    for lose in (key.unlink, lambda: key.write_bytes(bytes(32)), lambda: key.write_bytes(b"short")):
        lose()
        with pytest.raises(LedgerError, match="The key of content digests"):
            Ledger(path).content_key()
        ledger = Ledger(path)  # what needs no key goes on
        assert (ledger.show()[0].dataset, len(ledger.history())) == ("city", 3)
        key.write_bytes(whole)
        key.chmod(0o600)
    key.unlink()
    Ledger(path.with_name("other.db"))  # makes a key anew, which is not the one of the first ledger
    with pytest.raises(LedgerError, match=r"is not the one this ledger was kept with.*new-key"):
        Ledger(path).content_key()
    key.write_bytes(whole)
    Ledger(path).content_key()


def test_a_key_that_another_hand_put_in_place_of_a_new_one_is_not_taken_for_it(place: Place, key: Path) -> None:
    running = Ledger(place.url)
    release(running, "a")
    key.unlink()
    running.new_key()
    place.change("UPDATE entries SET seal = 'x' WHERE kind = 'new-key'")
    with pytest.raises(LedgerError, match="Entry 4 of the ledger does not fit its hash chain"):
        running.content_key()


def test_after_a_new_key_earlier_content_is_unknown(place: Place, key: Path) -> None:
    ledger = Ledger(place.url)
    release(ledger, "a")
    with pytest.raises(LedgerError, match="nothing is lost"):
        ledger.new_key()
    key.unlink()
    ledger.new_key()
    assert len(ledger.content_key()) == 32
    assert ledger.history()[-1].kind == "new-key"
    with pytest.raises(ContentChangedError, match="is unknown"):
        release(ledger, "a")
    release(ledger, "a", version="2")
    with pytest.raises(BudgetConflictError, match=r"charged as 'city' already is unknown.*new=True"):
        release(ledger, "a", "village", marks={"id": "7" * 32}, telling=["id"])
    ledger.check()
    Ledger(place.url)


def test_a_fingerprint_that_was_edited_is_found(path: Path, key: Path) -> None:
    release(Ledger(path), "a")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE ledger SET key = ?", ("0" * 32,))
    with pytest.raises(LedgerError, match="hash chain"):
        Ledger(path)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o602])
def test_a_key_that_others_may_read_is_refused(mode: int, path: Path, key: Path) -> None:
    ledger = Ledger(path)
    key.chmod(mode)
    with pytest.raises(LedgerError, match="chmod 600"):
        ledger.content_key()
    with pytest.raises(LedgerError, match="chmod 600"):
        Ledger(path.with_name("other.db"))


def test_a_key_is_never_written_over(path: Path, key: Path) -> None:
    key.parent.mkdir()
    key.write_text("years of work")
    with pytest.raises(LedgerError, match="not 32 bytes"):
        Ledger(path)
    assert key.read_text() == "years of work"
    key.unlink()
    key.symlink_to(key.with_name("nowhere"))
    with pytest.raises(LedgerError, match="The key of content digests"):
        Ledger(path)
    assert [file.name for file in key.parent.iterdir()] == ["key"]


def test_many_who_make_a_key_at_once_make_one(key: Path, path: Path) -> None:
    ready, found = threading.Barrier(6), list[bytes]()

    def make(number: int) -> None:
        ready.wait(timeout=30)
        Ledger(path.with_name(f"{number}.db"))
        found.append(read_key())

    threads = [threading.Thread(target=make, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(found) == 6
    assert len(set(found)) == 1
    assert [file.name for file in key.parent.iterdir()] == ["key"]


def test_where_the_key_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert key_path() == tmp_path / "xdg" / "leeward" / "content.key"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    at_home = tmp_path / "me" / ".config" / "leeward" / "content.key"
    for relative in ("", "rel", "./rel", "~/rel"):  # which the specification of these folders ignores
        monkeypatch.setenv("XDG_CONFIG_HOME", relative)
        assert key_path() == at_home
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert key_path() == at_home
    monkeypatch.setenv("HOME", "me")  # else each folder that a program is started from had a key of its own
    with pytest.raises(LedgerError, match=r"^HOME = 'me': it is relative"):
        key_path()


def test_a_key_that_cannot_be_made_is_said_and_makes_no_ledger(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = path.with_name("a-file")
    blocker.touch()
    monkeypatch.setenv(VARIABLE, str(blocker / "key"))
    with pytest.raises(LedgerError, match=rf"cannot be made.*{VARIABLE}"):
        Ledger(path)
    monkeypatch.setenv(VARIABLE, str(path.with_name("key")))
    assert Ledger(path).show() == []
    assert os.environ[VARIABLE]
