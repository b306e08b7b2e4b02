"""Nothing but the answers of the mechanism depends on the data: two tables, a grid of questions, compared byte by byte.

The second table has what stops a curator: somebody at many places and with several rows, no rows in the window, keys that
are spelt otherwise, times that cannot be read. Every answer of the service must be the same but for the noise: its status,
its headers, and its body with the random id and the drawn numbers taken out.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import ROWS, SAFE, SUM, VISITS, WHEN, Stand, at_once, with_, write_tables

from leeward.errors import LedgerError
from leeward.ledger import Ledger
from leeward.service._answering import MOST_UNANSWERED, Ticks, UnansweredError
from leeward.service._app import MOST_AT_ONCE
from leeward.service._documents import Asked
from leeward.session._session import Session

OTHERS: dict[str, Any] = {
    "somebody at every place": [*VISITS, *(("p0", place, "2026-01-01T18:30:00") for place in "abcd" * 5)],
    "nothing in the window": [(user, place, at.replace("18:", "02:")) for user, place, at in VISITS],
    "other spellings and times": [(f"{user} ", place.upper(), "?" * 19) for user, place, _ in VISITS[:3]] + VISITS[3:],
}
PEOPLE: dict[str, Any] = {
    "somebody at every place": [*ROWS, *ROWS, ("p0", 99, "south")],
    "nothing in the window": [(f"x{i}", "", "west") for i in range(30)],
    "other spellings and times": [(i, "many", ward.upper()) for i, _, ward in ROWS[:3]] + ROWS[3:],
}

ONE, *MORE = OTHERS
GRID: list[tuple[str, Any]] = [
    ("town", with_(SAFE, "protect", places_per_person=2)),
    ("town", with_(SAFE, "protect", if_more=None)),
    ("town", with_(with_(SAFE, "protect", notion="dp", epsilon="2"), "decide", error_at_most="0.1")),
    ("town", {"query": {"kind": "busiest"}, "window": WHEN, "protect": SAFE["protect"] | {"notion": "dp"}}),
    ("town", with_(SAFE, "window", start="2026-01-01T18:00Z", end="2026-01-01T19:00Z")),
    ("people", SUM),
    ("people", with_(SUM, "query", combine=None)),
    ("people", with_(SUM, "query", people=30)),
    ("people", {**SUM, "query": {"kind": "count", "combine": "min", "by": {"ward": ["north", "south"]}}}),
    ("people", {**SUM, "keep": {"ward": ["south"]}}),
]
"""Questions that are answered, and such as are refused by public facts."""

_ENTRY = re.compile(rb'"entry":"[0-9a-f-]{36}"')


def seen(answer: Any, *, is_answer: bool) -> tuple[Any, ...]:
    """What an analyst sees of an answer, without the noise: status, headers and body."""
    body = _ENTRY.sub(b"ENTRY", answer.content)
    if is_answer:
        rows, _, rest = body.partition(b'"statement":')
        body = re.sub(rb":[^,}\]]*", b":DRAWN", rows) + rest
    headers = [(name, value) for name, value in answer.headers.items() if name != "content-length"]
    return answer.status_code, headers, body


def walk(stand: Stand) -> list[Any]:
    """Ask everything, and look at what is told afterwards."""
    found: list[Any] = []
    for data_set, asked in GRID:
        for path in ("/plan", "/release", "/release"):
            answer = stand.post(path, data_set, asked, accept_useless=True)
            found.append(seen(answer, is_answer=path == "/release" and answer.status_code == 200))
    told = [stand.get(path) for path in ("/releases", "/data-sets", "/nothing")]
    found += [seen(answer, is_answer=False)[:2] for answer in told]
    ledger = Ledger(stand.folder / "budget.db")
    found.append([(one.kind, one.dataset, one.cost, one.key) for one in ledger.history()])
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Stand]:
    """A service over one of the tables."""

    def make(name: str) -> Stand:
        folder = tmp_path_factory.mktemp("of")
        write_tables(folder, OTHERS.get(name, VISITS), PEOPLE.get(name, ROWS))
        for spec in ("town.toml", "people.toml"):
            text = (folder / spec).read_text("utf-8").replace('cap = "4"', 'cap = "40"')
            (folder / spec).write_text(text, "utf-8")
        stand = Stand(folder)
        stand.token("ann", town="40", people="40")
        return stand

    return make


@pytest.fixture(scope="module")
def first(made: Callable[[str], Stand]) -> list[Any]:
    """What an analyst sees of the table."""
    with pytest.MonkeyPatch.context() as patch:
        at_once(patch)
        return walk(made("the table"))


@pytest.mark.parametrize("other", [ONE, *(pytest.param(each, marks=pytest.mark.sweep) for each in MORE)])
def test_what_an_analyst_sees_beside_the_noise_is_the_same_of_every_table(
    first: list[Any], made: Callable[[str], Stand], other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    second = walk(made(other))
    for place, (one, two) in enumerate(zip(first, second, strict=True)):
        assert one == two, place
    statuses = {each[0] for each in first[:-1]}
    assert statuses == {200, 404, 422}


FAILURES: dict[str, Callable[[Path], object]] = {
    "gone": lambda folder: (folder / "people.csv").unlink(),
    "another schema": lambda folder: (folder / "people.csv").write_text("who,old\n1,2\n", "utf-8"),
    "no table": lambda folder: (folder / "people.csv").write_bytes(b"\x00\xff\x00"),
    "numbers that are none": lambda folder: (folder / "people.csv").write_text("id,age,ward\na,x,north\n" * 2, "utf-8"),
    "other content": lambda folder: (folder / "people.csv").write_text("id,age,ward\na,1,north\n", "utf-8"),
}


def test_one_refusal_stands_for_all_that_the_table_makes_impossible(
    made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    found = list[Any]()
    for breaks in FAILURES.values():
        stand = made("the table")
        assert stand.post("/release", "people", SUM).status_code == 200
        breaks(stand.folder)
        other = with_(SUM, "query", upper=90)
        found.append(seen(stand.post("/release", "people", other), is_answer=False))
        found.append(stand.get("/data-sets").json()["data_sets"][1]["yours"])
        assert stand.told[-1].startswith("leeward: a question of ann about 'people' was not answered: ")
    assert found[0][0] == 503
    assert found[::2] == [found[0]] * len(FAILURES)
    assert found[1::2] == [{"cap": "40", "spent": "1", "left": "39"}] * len(FAILURES)


def test_a_data_set_is_closed_to_who_was_told_that_too_often_and_to_nobody_else(
    made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    stand = made("the table")
    stand.token("bob", people="40")
    assert stand.post("/release", "people", SUM).status_code == 200
    # which an analyst can bring about: of a column of text so many steps are not read exactly
    asked = [
        {**SUM, "query": {**SUM["query"], "kind": "median", "upper": 2**58 + i}} for i in range(MOST_UNANSWERED + 2)
    ]
    answers = [stand.post("/release", "people", each) for each in asked]
    assert {answer.content for answer in answers} == {answers[0].content}
    assert answers[0].status_code == 503
    assert len([said for said in stand.told if "was not answered" in said]) == MOST_UNANSWERED
    assert "'people' is closed to new questions of ann" in stand.told[-1]
    assert stand.post("/release", "people", SUM).status_code == 200, "what is stored is given still"
    assert stand.post("/release", "town", SAFE).status_code == 200, "another data set is not concerned"
    other = with_(SUM, "query", upper=90)
    assert stand.post("/release", "people", other).status_code == 503
    assert stand.post("/release", "people", other, who="bob").status_code == 200, "nor is another analyst"


@pytest.mark.sweep
def test_content_that_changed_under_its_label_closes_it_too_and_a_busy_ledger_does_not(
    made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is a fact about the table, by which it is told from others; of the second anybody may be the cause."""
    at_once(monkeypatch)
    for of_the_table in (True, False):
        stand = made("the table")
        assert stand.post("/release", "people", SUM).status_code == 200
        with pytest.MonkeyPatch.context() as patch:
            if of_the_table:
                FAILURES["other content"](stand.folder)
            else:
                patch.setattr(Session, "count", _busy)
            for upper in range(MOST_UNANSWERED):
                assert stand.post("/release", "people", with_(SUM, "query", upper=60 + upper)).status_code == 503
        assert ("is closed to new questions of ann" in stand.told[-1]) is of_the_table


def _busy(*_: object) -> None:
    raise LedgerError("The ledger", "another process kept it locked", "Wait")


def test_at_once_they_are_told_no_more_often(made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch) -> None:
    at_once(monkeypatch)
    stand, gate = made("the table"), threading.Barrier(MOST_AT_ONCE)
    opened, (ann,) = Session.__enter__, stand.offers.tokens.read()

    def together(session: Session) -> Session:
        with suppress(threading.BrokenBarrierError):  # where they are not at work together, nobody waits for ever
            gate.wait(0.3)
        return opened(session)

    def ask(upper: int) -> None:
        spec = {**SUM, "query": {**SUM["query"], "kind": "median", "upper": 2**58 + upper}}
        with pytest.raises(UnansweredError):
            stand.answering.drawn(stand.answering.ready(ann, Asked(data_set="people", spec=spec)), Ticks(1))

    monkeypatch.setattr(Session, "__enter__", together)
    with ThreadPoolExecutor(MOST_AT_ONCE) as several:
        list(several.map(ask, range(2 * MOST_UNANSWERED)))
    assert len([said for said in stand.told if "was not answered" in said]) == MOST_UNANSWERED
    assert "is closed to new questions of ann" in stand.told[-1]


def test_what_comes_of_the_table_is_seen_at_whole_multiples_of_a_public_time(
    made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No clock decides this test: it looks at the ledger where the service sets out to wait, by a clock of the test's own.

    The ledger shows an analyst what is reserved and stored. So it must hold what it held before until each wait is over.
    """
    stand, now, seen = made("the table"), [0.0], list[tuple[float, str, bool]]()

    def passed() -> float:
        now[0] += 0.3
        return now[0]

    def looked(seconds: float) -> None:
        ledger = Ledger.find(stand.folder / "budget.db")
        history = [] if ledger is None else ledger.history("people")
        spent = str(sum(one.cost for one in history))
        seen.append((round(now[0] + seconds - 0.3, 6) % 1, spent, any(one.kind == "released" for one in history)))
        now[0] += seconds

    async def at_last(seconds: float) -> None:
        looked(seconds)

    def fresh() -> None:
        now[0] = 0.0
        seen.clear()

    monkeypatch.setattr("leeward.service._app.sleep", at_last)
    monkeypatch.setattr("leeward.service._answering.sleep", looked)
    monkeypatch.setattr("leeward.service._answering.monotonic", passed)
    assert stand.post("/release", "people", SUM).status_code == 200
    assert seen == [(0, "0", False), (0, "1", False)], "reserved at one, stored and given at another"
    fresh()
    assert stand.post("/release", "people", SUM).status_code == 200
    assert seen == [], "a stored one is given at once"
    fresh()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leeward.engine._numbers.answer_of", lambda *_: 1 / 0)
        assert stand.post("/release", "people", with_(SUM, "query", upper=80)).status_code == 503
    assert seen == [(0, "1", True), (0, "2", True), (0, "1", True)], "reserved, given back, refused"
    fresh()
    (stand.folder / "people.csv").unlink()
    assert stand.post("/release", "people", with_(SUM, "query", upper=90)).status_code == 503
    assert seen == [(0, "1", True)], "and so is the refusal where nothing was reserved"
    fresh()
    assert stand.post("/release", "people", with_(SUM, "query", people=3)).status_code == 422
    assert seen == []


def test_a_token_that_is_revoked_while_a_question_is_at_work_is_charged_no_more(
    made: Callable[[str], Stand], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    stand = made("the table")
    monkeypatch.setattr("leeward.service._answering.sleep", lambda _: stand.offers.tokens.revoke("ann"))
    refused = stand.post("/release", "people", SUM)
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert refused.content == stand.get("/data-sets").content
    assert Ledger(stand.folder / "budget.db").show() == []
    assert stand.told == []
