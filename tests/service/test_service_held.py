"""What the service holds between questions: a ledger that is checked whole once a minute, a list that is read once."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.service.conftest import SAFE, SUM, Stand, with_

from leeward.engine import read_keys
from leeward.ledger import Ledger
from leeward.service import _held, _serve


def test_a_list_is_read_once_and_anew_where_it_changed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(query: object) -> object:
        read.append(len(found := read_keys(query)))  # type: ignore[arg-type]
        return found

    monkeypatch.setattr(_held, "read_keys", counted)
    for _ in range(3):
        assert len(stand.post("/plan", "town", SAFE).json()["statement"]["query"]["text"]) > 0
    assert read == [4]
    (stand.folder / "places.csv").write_text("venue\na\nb\nc\nd\ne\n", "utf-8")
    first = stand.post("/release", "town", SAFE).json()
    assert [row["place"] for row in first["answers"]] == list("abcde")
    assert read == [4, 5]
    (stand.folder / "places.csv").unlink()
    assert stand.post("/plan", "town", SAFE).status_code == 503
    (stand.folder / "places.csv").write_text("venue\na\nb\nc\nd\ne\n", "utf-8")
    assert stand.post("/release", "town", SAFE).json()["charged"] == "0"


def test_a_ledger_is_checked_whole_once_a_minute(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that another hand changed, and that no question uses, is noticed when the ledger is opened anew."""
    opened: list[str] = []
    clock = [1000.0]

    def counted(url: str, **how: bool) -> Ledger:
        opened.append(url)
        return Ledger(url, **how)

    monkeypatch.setattr(_held, "monotonic", lambda: clock[0])
    monkeypatch.setattr(_held, "Ledger", counted)
    counted.find = Ledger.find  # type: ignore[attr-defined]
    assert stand.post("/release", "people", SUM).status_code == 200
    assert stand.post("/release", "town", SAFE).status_code == 200
    assert len(opened) == 1
    with sqlite3.connect(stand.folder / "budget.db") as held:
        held.execute("UPDATE entries SET cost = '1/7' WHERE kind = 'reserved' AND dataset = 'people'")
    held.close()
    clock[0] += _held.CHECKED_EVERY - 1
    assert stand.post("/plan", "town", SAFE).status_code == 200
    clock[0] += 2
    assert stand.get("/releases").status_code == 503, "what only looks at it looks at all of it too"
    assert stand.post("/plan", "town", with_(SAFE, "protect", epsilon="1/2")).status_code == 503
    assert "chain" in stand.told[-1]
    assert len(opened) == 3


def test_a_list_in_a_database_is_read_each_time(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file says that it changed; until the service was started anew, its list was the one of the first question."""
    monkeypatch.setattr(_held, "is_address", lambda _: True)
    assert stand.post("/plan", "town", SAFE).status_code == 200
    monkeypatch.setattr(_held, "read_keys", lambda _: 1 / 0)
    assert stand.post("/plan", "town", SAFE).status_code == 500


def test_a_ledger_that_is_taken_away_is_not_made_anew_in_its_place(stand: Stand) -> None:
    assert stand.post("/release", "town", SAFE).status_code == 200
    (stand.folder / "budget.db").rename(stand.folder / "elsewhere.db")
    assert stand.post("/plan", "town", SAFE).status_code == 503
    assert "budget.db is gone" in stand.told[-1]
    assert stand.post("/release", "people", SUM).status_code == 503
    assert not (stand.folder / "budget.db").exists()
    (stand.folder / "elsewhere.db").rename(stand.folder / "budget.db")
    assert stand.post("/release", "town", SAFE).json()["charged"] == "0"


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_ledger_that_is_gone_with_its_mark_is_not_made_anew(
    asked_before: bool, stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the disk of both is taken away: a new one would draw the same question anew, under a whole budget."""
    first = stand.post("/release", "people", SUM).json()
    if not asked_before:
        stand = replace(stand)  # a service that was started since, and was asked nothing
        stand.answering.open_ledgers()
    (stand.folder / "away").mkdir()
    kept = [each for each in stand.folder.iterdir() if each.name.startswith("budget.db")]
    for each in kept:
        each.rename(stand.folder / "away" / each.name)
    monkeypatch.setattr(_held, "CHECKED_EVERY", -1.0)  # the minute after which it is opened anew is over
    assert stand.post("/release", "people", SUM).status_code == 503
    assert not (stand.folder / "budget.db").exists()
    for each in kept:
        (stand.folder / "away" / each.name).rename(each)
    again = stand.post("/release", "people", SUM).json()
    assert (again["answers"], again["charged"]) == (first["answers"], "0")


def test_a_service_that_is_started_knows_the_ledgers_that_are_there(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert stand.post("/release", "people", SUM).status_code == 200
    found: list[int] = []

    def asked(app: Any, listener: Any, _: str) -> None:
        for each in [*stand.folder.glob("budget.db*")]:
            each.rename(stand.folder / f"away-{each.name}")
        stand.browser = TestClient(app, base_url="http://{}:{}".format(*listener.getsockname()))
        found.append(stand.post("/release", "people", SUM).status_code)

    monkeypatch.setattr(_serve, "run", asked)
    _serve.serve(stand.offers, tell=stand.told.append)
    assert found == [503]
    assert not (stand.folder / "budget.db").exists()
