"""A store about people that is not there is never made anew in silence: everybody would have a whole budget again."""

from __future__ import annotations

import errno
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.test_people import budgets, memo
from tests.local.test_location import Run, spec

from leeward.errors import LedgerError
from leeward.ledger import read_secret
from leeward.local import _stores

BOTH: dict[str, dict[str, Any]] = {
    "data": {"person": "who", "time": "when"},
    "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 1000},
    "repeat": {"store": "memo.db", "secret": "people.key"},
}
FILES = {"budgets": "people.db", "reports": "memo.db"}


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def of_a_header_alone(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")


LOST: dict[str, Callable[[Path], None]] = {
    "gone": Path.unlink, "moved": lambda path: path.rename(path.with_name("moved.db")) and None,
    "emptied": emptied, "a header": of_a_header_alone,
}  # fmt: skip


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_first_run_asks_and_says_what_it_opened(run: Run, tmp_path: Path) -> None:
    job, before = str(spec(tmp_path, **BOTH)), held(tmp_path)
    code, out, err = run(job, "--out", "r.parquet", "--ask")
    stores = f"a new store of budgets, {tmp_path}/people.db and a new store of reports, {tmp_path}/memo.db"
    assert (code, out) == (2, "")
    assert (
        err
        == f"leeward: This opens {stores}: there is no terminal to ask whether that is meant. If it is, say --yes.\n"
    )
    assert held(tmp_path) == before | {"spec.toml": Path(job).read_bytes()}
    code, _, err = run(job, "--out", "r.parquet")
    assert (code, f"Opened {stores}.\n" in err) == (0, True), err
    code, _, err = run(job, "--out", "r.parquet", "--ask")
    assert (code, "Opened" in err) == (0, False), "both are there"
    Path("people.db").unlink()
    Path("memo.db").unlink()
    assert run(job, "--out", "r.parquet", "--quiet") == (0, "", "")


@pytest.mark.parametrize(("typed", "opened"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_at_a_terminal_it_is_asked(
    typed: str,
    opened: bool,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(typed))
    code, _, err = run(str(spec(tmp_path, **BOTH)), "--out", "r.parquet", "--ask")
    assert code == (0 if opened else 2)
    assert "Open it?" in err
    assert [Path(name).exists() for name in (*FILES.values(), "r.parquet")] == [opened] * 3


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("how", LOST)
def test_a_store_that_was_lost_is_not_made_anew_in_silence(
    how: str,
    kind: str,
    alone: bool,
    run: Run,
    tmp_path: Path,
) -> None:
    """Whichever is lost, in whatever way; nothing is written. --yes is enough only where nothing says that it was there."""
    sections = {name: keys for name, keys in BOTH.items() if not alone or keys.get("store") in {None, FILES[kind]}}
    job = str(spec(tmp_path, **sections))
    assert run(job, "--out", "r.parquet")[0] == 0
    LOST[how](tmp_path / FILES[kind])
    before = held(tmp_path)
    for words in (["--ask"], [] if not alone or how in {"emptied", "a header"} else ["--ask"]):
        code, out, err = run(job, "--out", "other.parquet", *words)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert str(tmp_path / FILES[kind]) in err
        assert ("--yes" if words and alone and how in {"gone", "moved"} else "--new-budget") in err
        assert held(tmp_path) == before
    code, _, err = run(job, "--out", "other.parquet", "--new-budget", "--ask")
    assert code == 0, err
    assert stat.S_IMODE((tmp_path / FILES[kind]).stat().st_mode) == 0o600
    assert run(job, "--out", "other.parquet", "--ask")[0] == 0


def test_what_a_failed_run_opened_is_said(run: Run, tmp_path: Path) -> None:
    job = str(spec(tmp_path, data=BOTH["data"], budget=BOTH["budget"] | {"reports_a_day": 1}))
    code, _, err = run(job, "--out", "r.parquet")
    assert (code, err.splitlines()[1:]) == (2, [f"leeward: Opened a new store of budgets, {tmp_path}/people.db."])
    code, _, err = run(job, "--out", "/nowhere/r.parquet", "--new-budget")
    assert (code, err.count("\n")) == (2, 1), "it was there"


@pytest.mark.parametrize("make", [budgets, memo])
def test_in_python_a_new_store_is_asked_for(make: Callable[..., Any], tmp_path: Path) -> None:
    for there in (False, True):
        if there:
            for name in FILES.values():
                (tmp_path / name).touch()
        before = held(tmp_path)
        with pytest.raises(LedgerError, match=f"{'is empty' if there else 'is not there'}.*new=True"):
            make(tmp_path, new=False)
        assert held(tmp_path) == before
    make(tmp_path, new=True)
    make(tmp_path, new=False)


@pytest.mark.parametrize("make", [budgets, memo])
def test_a_store_that_cannot_be_made_is_not_left_behind(
    make: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the next run would meet an empty one."""
    import leeward.ledger._people_store as module

    class Broken:
        create_all = staticmethod(lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))

    with monkeypatch.context() as patch:
        patch.setattr(module, "_metadata", Broken)
        with pytest.raises(KeyboardInterrupt):
            make(tmp_path)
    assert held(tmp_path) == {}
    (tmp_path / "people.db").touch()
    (tmp_path / "memo.db").touch()
    with monkeypatch.context() as patch:
        patch.setattr(module, "_metadata", Broken)
        with pytest.raises(KeyboardInterrupt):
            make(tmp_path)
    assert len(held(tmp_path)) == 2, "what it did not make is not taken away"


@pytest.mark.parametrize("kind", FILES)
def test_where_a_store_is_a_lost_secret_is_not_to_be_made_anew(kind: str, run: Run, tmp_path: Path) -> None:
    sections = {name: keys for name, keys in BOTH.items() if keys.get("store") in {None, FILES[kind]}}
    job = str(spec(tmp_path, **sections))
    Path("people.key").rename("away.key")
    code, _, err = run(job, "--out", "r.parquet")
    assert (code, "openssl rand" in err) == (2, True), "nothing is lost yet"
    Path("away.key").rename("people.key")
    assert run(job, "--out", "r.parquet")[0] == 0
    Path("people.key").rename("away.key")
    before = held(tmp_path)
    code, _, err = run(job, "--out", "r.parquet", "--new-budget")
    assert (code, "openssl" in err, err.count("\n")) == (2, False, 1)
    assert f"{tmp_path / FILES[kind]} was made with one: bring it back" in err
    assert held(tmp_path) == before
    with pytest.raises(LedgerError, match="openssl"):
        read_secret("people.key", stores=[tmp_path / "nowhere.db"])


def test_of_two_stores_neither_is_made_where_there_is_no_room_for_both(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One alone would look as if the other had been moved."""
    real = _stores.set_aside

    def full(path: Path, room: int) -> None:
        if "full" in path.parts:
            raise OSError(errno.ENOSPC, "no room")
        real(path, room)

    monkeypatch.setattr(_stores, "set_aside", full)
    (tmp_path / "full").mkdir()
    job = str(spec(tmp_path, **{**BOTH, "budget": {**BOTH["budget"], "store": "full/people.db"}}))
    code, _, err = run(job, "--out", "r.parquet")
    assert code == 2
    assert "full/people.db' cannot be written: No space left on device" in err
    assert not (tmp_path / "memo.db").exists()
    monkeypatch.setattr(_stores, "set_aside", real)
    assert run(job, "--out", "r.parquet")[0] == 0


UNFIT: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "short": lambda path: path.write_bytes(b"short") and path.chmod(0o600),
    "open to others": lambda path: path.write_bytes(bytes(32)) and path.chmod(0o644),
}


@pytest.mark.parametrize("how", UNFIT)
@pytest.mark.parametrize("section", ["budget", "repeat"])
def test_of_two_stores_neither_is_made_where_the_secret_of_one_is_unfit(
    section: str, how: str, run: Run, tmp_path: Path
) -> None:
    """One was made alone, and looked, when the secret was there, as if the other had been moved away."""
    wrong = {**BOTH, section: {**BOTH[section], "secret": "other.key"}}
    UNFIT[how](tmp_path / "other.key")
    code, out, err = run(str(spec(tmp_path, **wrong)), "--out", "r.parquet")
    assert (code, out) == (2, ""), err
    assert "was made with one" not in err
    assert "Opened" not in err
    assert not any((tmp_path / name).exists() for name in FILES.values())
    assert run(str(spec(tmp_path, **BOTH)), "--out", "r.parquet")[0] == 0
