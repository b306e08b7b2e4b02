"""What the service answers: the stored answer of the command and Python, within caps; and what it refuses before that."""

from __future__ import annotations

import json
import os
import re
import threading
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from fastapi.testclient import TestClient
from tests.desk.conftest import Seat
from tests.service.conftest import AUTHORITY, PEOPLE, SAFE, SERVICE, SUM, TOWN, Stand, at_once, with_, write_tables
from tests.session.conftest import Town

import leeward as lw
from leeward.ledger import Ledger, Share
from leeward.service import _asked
from leeward.service._app import guarded
from leeward.service._offers import read_offers
from leeward.service._serve import look
from leeward.session._session import Session
from leeward.spec import read_spec
from leeward.spec._draft import written


def test_the_same_question_of_two_at_once_is_drawn_once(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for its turn while the first is at work, and then finds the answer: no table is opened for it."""
    drawn, ready, seen, both = stand.answering.drawn, stand.answering.ready, list[str](), threading.Event()

    def heard(*given: Any) -> Any:
        found = ready(*given)
        seen.append("ready")
        if seen.count("ready") == 3:  # the first asks twice, before and after its turn
            both.set()
        return found

    def held(*given: Any) -> Any:
        seen.append("drawn")
        assert both.wait(60)
        return drawn(*given)

    monkeypatch.setattr("leeward.service._app.MOST_AT_ONCE", 1)
    monkeypatch.setattr(stand.answering, "ready", heard)
    monkeypatch.setattr(stand.answering, "drawn", held)
    app = guarded(stand.answering, [AUTHORITY], stand.told.append)
    browser = TestClient(app, base_url=f"http://{AUTHORITY}")
    headers = {"authorization": f"Bearer {stand.tokens['ann']}"}
    with start_blocking_portal() as portal, ThreadPoolExecutor(2) as pool:
        browser.portal = portal  # both requests in one loop, as at a server
        asked = {"json": {"data_set": "town", "spec": SAFE}, "headers": headers}
        sent = [pool.submit(browser.post, "/release", **asked) for _ in range(2)]
        answers = [each.result().json() for each in sent]
    assert sorted(each["charged"] for each in answers) == ["0", "1"]
    assert answers[0]["answers"] == answers[1]["answers"]
    assert seen.count("drawn") == 1


def test_a_question_is_planned_answered_once_and_stored(stand: Stand) -> None:
    planned = stand.post("/plan", "town", SAFE).json()
    assert (planned["price"], planned["counted_in"], planned["stored"]) == ("1", "addition-only per person", False)
    assert planned["yours"] == {"cap": "2", "spent": "0", "left": "2"}
    assert planned["statement"]["notion"]["name"] == "addition-only"
    assert Ledger(stand.folder / "budget.db").show() == []
    first = stand.post("/release", "town", SAFE)
    assert first.status_code == 200, first.text
    answered = first.json()
    assert [row["place"] for row in answered["answers"]] == ["a", "b", "c", "d"]
    assert (answered["charged"], answered["yours"]["left"]) == ("1", "1")
    again = stand.post("/release", "town", SAFE, who="bob").json()
    assert (again["answers"], again["statement"]) == (answered["answers"], answered["statement"])
    assert (again["charged"], again["yours"]["left"]) == ("0", "3")
    assert stand.post("/plan", "town", SAFE).json()["stored"]
    (mine,) = stand.get("/releases").json()["releases"]
    assert (mine["entry"], mine["cost"], mine["answered"]) == (answered["statement"]["entry"], "1", True)
    assert mine["what"].startswith("people at each place, 2026-01-01 18:00")
    assert stand.get("/releases", who="bob").json()["releases"] == []
    assert stand.told == []


def test_a_data_set_may_be_asked_under_another_name_than_it_is_charged_under(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    write_tables(tmp_path)
    (tmp_path / "service.toml").write_text(SERVICE.replace("[data_sets.town]", "[data_sets.visits]"), "utf-8")
    stand = Stand(tmp_path)
    stand.token("ann", visits="2")
    answered = stand.post("/release", "visits", SAFE).json()
    assert answered["statement"]["dataset"] == "town"
    (visits,) = stand.get("/data-sets").json()["data_sets"]
    planned = stand.post("/plan", "visits", SAFE).json()
    assert answered["yours"] == visits["yours"] == planned["yours"] == {"cap": "2", "spent": "1", "left": "1"}
    (mine,) = stand.get("/releases").json()["releases"]
    assert (mine["data_set"], mine["entry"]) == ("visits", answered["statement"]["entry"])


def test_what_is_stated_of_a_plan_is_what_is_stated_of_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An analyst decides by it; but for what only an answer has, the one is the other."""
    at_once(monkeypatch)
    write_tables(tmp_path)
    for name in ("town", "people"):
        spec = tmp_path / f"{name}.toml"
        spec.write_text(
            spec.read_text("utf-8").replace(f'dataset = "{name}"', f'dataset = "{name}"\nversion = "March"')
        )
    stand = Stand(tmp_path)
    stand.token("ann", town="2", people="2")
    for data_set, asked in (("town", SAFE), ("people", SUM)):
        planned = stand.post("/plan", data_set, asked).json()["statement"]
        stated = stand.post("/release", data_set, asked).json()["statement"]
        told = {key for key in planned.keys() | stated.keys() if planned.get(key) != stated.get(key)}
        assert told == {"entry", "fit_for_release"}
        assert stated["version"] == "March"


def test_a_data_set_that_is_no_longer_offered_is_gone_for_whoever_had_asked_it(stand: Stand) -> None:
    """Their tokens name it still; all else is answered as before."""
    for data_set, asked in (("town", SAFE), ("people", SUM)):
        assert stand.post("/release", data_set, asked).status_code == 200
    before = {path: stand.get(path).json() for path in ("/data-sets", "/releases")}
    head, tail = SERVICE.index("[data_sets.town]"), SERVICE.index("[data_sets.people]")
    (stand.folder / "service.toml").write_text(SERVICE[:head] + SERVICE[tail:], "utf-8")
    fewer = Stand(stand.folder, tokens=stand.tokens)
    assert [each["name"] for each in before["/data-sets"]["data_sets"]] == ["town", "people"]
    assert fewer.get("/data-sets").json()["data_sets"] == before["/data-sets"]["data_sets"][1:]
    assert fewer.get("/releases").json()["releases"] == before["/releases"]["releases"][1:]
    assert [fewer.post(path, "town", SAFE).status_code for path in ("/plan", "/release")] == [404, 404]
    assert [fewer.get(path, who="bob").json() for path in before] == [{"data_sets": []}, {"releases": []}]
    assert fewer.told == []


def test_the_same_spec_gives_the_same_stored_answer_by_command_python_and_service(
    stand: Stand, capsys: pytest.CaptureFixture[str]
) -> None:
    town = Town(stand.folder, capsys)
    (stand.folder / "whole.toml").write_text(TOWN + written(SAFE), "utf-8")
    by_service = stand.post("/release", "town", SAFE).json()
    code, out, err = town.run("release", stand.folder / "whole.toml", "--out", town.out, "--json")
    assert code == 0, err
    told = json.loads(out)["releases"][0]
    assert (told["entry"], told["charged"]) == (by_service["statement"]["entry"], "0")
    assert json.loads((town.out / "release.json").read_text("utf-8"))["entry"] == told["entry"]
    spec = read_spec(stand.folder / "whole.toml")
    by_python = lw.release(spec.plans()[0], spec.ledger())
    assert by_python.to_arrow().to_pylist() == by_service["answers"]
    published = json.loads(by_python.statement.to_json())
    assert published == by_service["statement"]
    other = with_(SAFE, "protect", epsilon="1/2")  # and the other way round
    (stand.folder / "other.toml").write_text(TOWN + written(other), "utf-8")
    asked = read_spec(stand.folder / "other.toml")
    charged = lw.release(asked.plans()[0], asked.ledger())
    answered = stand.post("/release", "town", other).json()
    assert (answered["charged"], answered["answers"]) == ("0", charged.to_arrow().to_pylist())


def test_a_stored_answer_is_given_without_the_table(stand: Stand) -> None:
    first = stand.post("/release", "people", SUM).json()
    (stand.folder / "people.csv").unlink()
    again = stand.post("/release", "people", SUM)
    assert again.status_code == 200
    assert again.json()["answers"] == first["answers"]


def test_each_spends_their_own_and_all_together_no_more_than_the_data_set_has(stand: Stand) -> None:
    stand.token("cat", town="4")
    dear = with_(SAFE, "protect", epsilon="2")
    assert stand.post("/release", "town", dear).status_code == 200
    refused = stand.post("/release", "town", SAFE)
    assert (refused.status_code, refused.json()["code"]) == (422, "cap-exceeded")
    assert "costs 1, and 0 is left of what you may spend on 'town'" in refused.json()["message"]
    assert stand.post("/release", "town", SAFE, who="bob").status_code == 200
    over = stand.post("/release", "town", with_(SAFE, "protect", epsilon="3/2"), who="cat")
    assert over.json()["message"] == "This release costs 3/2: the budget of 'town' does not pay for it. Ask for less."
    ledger = Ledger(stand.folder / "budget.db")
    assert ledger.shares() == [Share("town", "ann", 2), Share("town", "bob", 1)]  # type: ignore[arg-type]
    # as much as is left of a cap would be paid for by that cap
    stand.token("dan", town="3/2")
    over = stand.post("/release", "town", with_(SAFE, "protect", epsilon="3/2"), who="dan")
    assert over.json()["message"] == "This release costs 3/2: the budget of 'town' does not pay for it. Ask for less."


def test_who_has_spent_more_than_a_new_cap_has_nothing_left(stand: Stand) -> None:
    assert stand.post("/release", "town", with_(SAFE, "protect", epsilon="2")).status_code == 200
    stand.offers.tokens.revoke("ann")
    stand.token("ann", town="1/2")
    (town,) = stand.get("/data-sets").json()["data_sets"]
    assert town["yours"] == {"cap": "1/2", "spent": "2", "left": "0"}
    refused = stand.post("/release", "town", SAFE).json()["message"]
    assert "costs 1, and 0 is left of what you may spend on 'town'" in refused


def test_a_question_that_was_given_back_is_no_release_of_who_asked(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Session, "count", lambda *_: 1 / 0)
        assert stand.post("/release", "town", SAFE).status_code == 503
    assert [one.kind for one in Ledger(stand.folder / "budget.db").history()][-1] == "withdrawn"
    assert stand.get("/releases").json()["releases"] == []


def test_what_may_be_asked_is_told(stand: Stand) -> None:
    town, people = stand.get("/data-sets").json()["data_sets"]
    both = {
        "notions": ["addition-only", "dp"],
        "most_epsilon": "2",
        "counted_in": "addition-only per person",
        "yours": {"cap": "2", "spent": "0", "left": "2"},
    }
    none: dict[str, Any] = {"columns": [], "groups": {}}
    about = "Visits to four venues"
    assert town == both | none | {"name": "town", "about": about, "kinds": ["visitors", "busiest"]}
    kinds, groups = ["count", "sum", "mean", "median", "histogram"], {"ward": ["north", "south"]}
    asked_of_people = {"kinds": kinds, "columns": ["age"], "groups": groups}
    assert people == both | asked_of_people | {"name": "people", "about": ""}
    assert [each["name"] for each in stand.get("/data-sets", who="bob").json()["data_sets"]] == ["town"]
    paths = stand.get("/openapi.json").json()["paths"]
    assert {(path, *does) for path, does in paths.items()} == {
        ("/data-sets", "get"),
        ("/releases", "get"),
        ("/plan", "post"),
        ("/release", "post"),
    }


REFUSED: list[tuple[str, Any, str]] = [
    ("town", with_(SAFE, "protect", if_more=None), "if_more is missing"),
    ("town", with_(SAFE, "protect", notion="presence"), "does not offer it"),
    ("town", with_(SAFE, "protect", epsilon="3"), "may cost 2 at most"),
    ("town", with_(SAFE, "protect", epsilon="1/100"), "useful_from"),
    ("town", with_(SAFE, "protect", epsilon=0.5), "epsilon"),
    ("town", with_(SAFE, "window", every="10min"), "Several windows"),
    ("town", {**SAFE, "windows": [SAFE["window"]]}, "[windows]"),
    ("town", {**SAFE, "data": {"visits": "/etc/passwd"}}, "[data]: it is the curator who says"),
    ("town", {**SAFE, "places": {"table": "other.csv", "place": "x"}}, "[places]"),
    ("town", {**SAFE, "budget": {"ledger": "mine.db", "dataset": "town"}}, "[budget]"),
    ("town", {**SAFE, "folder": "/"}, "[folder]"),
    ("town", {**SAFE, "keep": {"user": ["p0"]}}, "does not offer it"),
    ("town", with_(SAFE, "query", kind="sum"), "[query] kind"),
    ("town", {}, "protect"),
    ("people", with_(SUM, "query", combine=None), "combine is missing"),
    ("people", with_(SUM, "query", people=30), "[query] people"),
    ("people", with_(SUM, "query", column="id"), "does not offer it"),
    ("people", with_(SUM, "query", by={"age": ["20"]}), "does not offer it"),
    ("people", with_(SUM, "query", by={"id": {"lower": 0, "upper": 4, "bins": 2}}), "does not offer it"),
    ("people", with_(SUM, "query", by={"ward": ["west"]}), "public values that the curator lists"),
    ("people", {**SUM, "keep": {"ward": ["west"]}}, "public values that the curator lists"),
    ("people", {**SUM, "keep": {"ward": "north"}}, "list of values"),
    ("people", {**SUM, "query": [SUM["query"]]}, "[[query]]"),
    ("people", with_(SUM, "query", kind="unlisted groups", column=None, by="ward"), "does not offer it"),
]


def test_what_is_not_offered_is_refused_in_words_and_charges_nothing(stand: Stand) -> None:
    for data_set, asked, says in REFUSED:
        answers = [stand.post(path, data_set, asked) for path in ("/plan", "/release")]
        for answer in answers:
            assert answer.status_code == 422, (asked, answer.text)
            assert says in answer.json()["message"], asked
            assert str(stand.folder) not in answer.text
    assert Ledger(stand.folder / "budget.db").show() == []
    assert stand.told == []


def test_a_filter_is_beside_that_of_the_curator_and_part_of_the_question(stand: Stand) -> None:
    some = {**SUM, "query": {**SUM["query"], "by": None}} | {"keep": {"ward": ["north"]}}
    some["query"] = {key: value for key, value in some["query"].items() if value is not None}
    answered = stand.post("/release", "people", some).json()
    assert answered["statement"]["query"]["keep"] == {"ward": ["north"]}
    _asked.admitted(stand.offers.data_sets["people"], some)


def test_an_analysts_filter_holds_listed_values_and_never_replaces_the_curators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    write_tables(tmp_path, rows=[(f"p{i}", 30, 1 + i % 2) for i in range(30)])
    (tmp_path / "service.toml").write_text(SERVICE.replace('["north", "south"]', "[1, 2]"), "utf-8")
    stand = Stand(tmp_path)
    stand.token("ann", people="2")
    asked = {**SUM, "query": {key: value for key, value in SUM["query"].items() if key != "by"}}
    assert stand.post("/plan", "people", {**asked, "keep": {"ward": [1]}}).status_code == 200
    for other in (True, 1.0, "1"):
        refused = stand.post("/plan", "people", {**asked, "keep": {"ward": [other]}})
        assert (refused.status_code, "public values" in refused.json()["message"]) == (422, True), other
    (tmp_path / "people.toml").write_text(PEOPLE.replace('"id"', '"id"\nkeep = { ward = [1] }'), "utf-8")
    stand = Stand(tmp_path, tokens=stand.tokens)
    refused = stand.post("/plan", "people", {**asked, "keep": {"ward": [2]}})
    assert (refused.status_code, "filters by this column already" in refused.json()["message"]) == (422, True)
    (tmp_path / "people.toml").write_text(PEOPLE.replace('"id"', '"id"\nkeep = { age = [30] }'), "utf-8")
    stand = Stand(tmp_path, tokens=stand.tokens)
    both = stand.post("/plan", "people", {**asked, "keep": {"ward": [2]}}).json()["statement"]["query"]["keep"]
    assert both == {"age": [30], "ward": [2]}
    assert stand.post("/plan", "people", asked).json()["statement"]["query"]["keep"] == {"age": [30]}


@pytest.mark.sweep
def test_a_price_with_too_many_digits_is_refused_as_what_was_asked_and_not_as_a_failure(stand: Stand) -> None:
    """Of one that a budget would not keep, an analyst was told to try later."""
    for path in ("/plan", "/release"):
        refused = stand.post(path, "people", with_(SUM, "protect", epsilon=f"{10**40}/{10**40 + 1}"))
        assert (refused.status_code, refused.json()["code"]) == (422, "input"), (path, refused.text)
        assert "more than 40 digits" in refused.json()["message"]
    answers = (
        stand.post("/release", "people", with_(SUM, "protect", epsilon=f"{10**36}/{10**38 + i}")) for i in range(99)
    )
    refused = next(answer for answer in answers if answer.status_code != 200)
    assert (refused.status_code, refused.json()["code"]) == (422, "input"), refused.text
    assert stand.post("/release", "people", SUM).status_code == 200


def test_what_is_too_dear_is_refused_without_the_table(stand: Stand) -> None:
    assert stand.post("/release", "people", SUM).status_code == 200
    (stand.folder / "people.csv").unlink()
    refused = stand.post("/release", "people", with_(SUM, "protect", epsilon="3/2"))
    assert (refused.status_code, refused.json()["code"]) == (422, "cap-exceeded"), refused.text
    assert stand.told == []


def test_a_useless_question_is_answered_where_that_is_meant(stand: Stand) -> None:
    asked = with_(SAFE, "protect", epsilon="1/100")
    assert stand.post("/release", "town", asked).status_code == 422
    assert stand.post("/release", "town", asked, accept_useless=True).status_code == 200
    in_spec = {**with_(SAFE, "protect", epsilon="1/90"), "query": {"accept_useless": True}}
    assert stand.post("/release", "town", in_spec).status_code == 200
    assert stand.post("/plan", "town", {**in_spec, "query": {"accept_useless": "yes"}}).status_code == 422


def test_nothing_but_the_folder_of_the_configuration_is_needed(stand: Stand, tmp_path: Path) -> None:
    assert stand.offers.data_sets["town"].budget().ledger == str(tmp_path / "budget.db")


def test_the_example_is_a_service(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "examples" / "service"
    offers = read_offers(folder / "service.toml")
    assert [*offers.data_sets] == ["town", "census"]
    with (folder / "question.toml").open("rb") as file:
        plan = _asked.admitted(offers.data_sets["town"], tomllib.load(file))
    assert plan.price == 1
    guide = (folder.parents[1] / "docs" / "guide" / "service.md").read_text("utf-8")
    shown, brokers = re.findall(r"```toml\n(tokens = .*?)```", guide, re.DOTALL)
    assert brokers in (folder / "brokers.toml").read_text("utf-8")
    (tmp_path / "service.toml").write_text(shown, "utf-8")
    (tmp_path / "census.toml").write_bytes((folder / "census.toml").read_bytes())
    assert read_offers(tmp_path / "service.toml").data_sets["census"].offer == offers.data_sets["census"].offer


def test_the_desk_and_the_history_name_who_asked(stand: Stand, capsys: pytest.CaptureFixture[str]) -> None:
    assert stand.post("/release", "town", SAFE).status_code == 200
    code, out, err = Town(stand.folder, capsys).run("budget", "history", "--ledger", stand.folder / "budget.db")
    assert code == 0, err
    assert "asked by ann" in out
    page = Seat(stand.folder).enter().get("/history").text
    told = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Analyst Spent ann 1" in told
    assert re.search(r"People at each place, .* ann 1\b", told)
    assert "asked-by" not in told


def test_a_table_in_which_each_row_is_a_person_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A census has no column that says who: nothing is combined, also not by the service's own look at what is offered."""
    at_once(monkeypatch)
    write_tables(tmp_path)
    people = tmp_path / "people.toml"
    people.write_text(people.read_text("utf-8").replace('person = "id"', 'person = "each row"'), "utf-8")
    made = Stand(tmp_path)
    made.token("ann", people="2")
    asked = with_(SUM, "query", combine=None)
    answer = made.post("/release", "people", asked)
    assert answer.status_code == 200, answer.text
    refused = made.post("/release", "people", SUM)
    assert refused.status_code == 422
    assert "there is nothing to combine" in refused.json()["message"]


def test_who_asks_what_another_began_is_not_charged_and_is_told_so(stand: Stand) -> None:
    """The other analyst had reserved it and was cut off: it stays in that share, and was said to be charged to this one."""
    if (child := os.fork()) == 0:
        Session.count = lambda *_: os._exit(9)  # type: ignore[method-assign,assignment]
        stand.post("/release", "town", SAFE)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    ledger = Ledger(stand.folder / "budget.db")
    shares = {one.analyst: one.spent for one in ledger.shares("town")}
    assert shares == {"ann": 1}
    answered = stand.post("/release", "town", SAFE, who="bob")
    assert answered.status_code == 200, answered.text
    assert {one.analyst: one.spent for one in ledger.shares("town")} == shares
    assert (answered.json()["charged"], answered.json()["yours"]["spent"]) == ("0", "0")


def test_a_table_with_decimal_commas_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A count reads no number, so that saying how they are written was refused: no such table could be served."""
    at_once(monkeypatch)
    write_tables(tmp_path)
    rows = "".join(f'p{i},"2{i % 10},5",{("north", "south")[i % 2]}\n' for i in range(30))
    (tmp_path / "people.csv").write_text(f"id,age,ward\n{rows}", "utf-8")
    people = tmp_path / "people.toml"
    people.write_text(people.read_text("utf-8").replace("[data]", '[data]\ndecimal = ","'), "utf-8")
    stand = Stand(tmp_path)
    look(stand.offers.data_sets["people"])
    stand.token("ann", people="2")
    protect = {"notion": "dp", "epsilon": "1/4"}
    cut = {"kind": "count", "combine": "min", "by": {"age": {"lower": "20", "upper": "30", "step": "5"}}}
    for query in ({"kind": "count", "combine": "min"}, SUM["query"], cut):
        answer = stand.post("/release", "people", {"query": query, "protect": protect}, accept_useless=True)
        assert answer.status_code == 200, (answer.text, stand.told)
