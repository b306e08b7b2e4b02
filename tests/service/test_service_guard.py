"""Who gets an answer of the service: attacks by those without a token, with another's, and with odd requests."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.service.conftest import AUTHORITY, SAFE, SERVICE, SUM, Stand, with_, write_tables

from leeward.errors import ContentChangedError, InputError, LedgerError, SpecError
from leeward.ledger import Ledger
from leeward.ledger._secret import VARIABLE
from leeward.service import serve
from leeward.service._app import guarded
from leeward.service._guard import MOST, Guard
from leeward.service._offers import read_offers
from leeward.service._serve import look
from leeward.service._tokens import PREFIX, Tokens
from leeward.session._question import AboutNumbersWithin, AboutVisitors
from leeward.spec._sections import Data

ASKED = json.dumps({"data_set": "town", "spec": SAFE})
JSON = {"content-type": "application/json"}


@pytest.fixture
def asked(stand: Stand) -> Any:
    """Send a question with headers of one's own."""

    def send(**headers: str) -> Any:
        given = {"authorization": f"Bearer {stand.tokens['ann']}", **JSON}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return stand.browser.post(
            "/release", content=ASKED, headers={name: value for name, value in given.items() if value}
        )

    return send


def nothing_charged(stand: Stand) -> bool:
    ledger = Ledger.find(stand.folder / "budget.db")
    return ledger is None or ledger.show() == []


def test_no_token_a_wrong_one_and_a_revoked_one_have_one_answer(stand: Stand, asked: Any) -> None:
    gone = stand.token("gone", town="1")
    stand.offers.tokens.revoke("gone")
    mine = stand.tokens["ann"]
    wrong = [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {PREFIX}wrong",
        f"Bearer {mine[:-1]}",
        f"Bearer {mine}x",
        f"Basic {mine}",
    ]
    wrong += [mine, f"Bearer {gone}", f"Bearer {stand.offers.tokens.read()[0].digest}"]
    answers = [asked(authorization=sent) for sent in wrong]
    answers += [stand.browser.get(path) for path in ("/", "/releases", "/openapi.json", "/nothing", "/docs")]
    odd = [(b"authorization", b"Bearer \xe9"), (b"content-type", b"application/json")]
    answers.append(stand.browser.post("/release", content=ASKED, headers=odd))
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.content, tuple(answer.headers.items())) for answer in answers}) == 1
    assert answers[0].headers["www-authenticate"] == "Bearer"
    two = [("authorization", f"Bearer {mine}"), ("authorization", f"Bearer {stand.tokens['bob']}"), *JSON.items()]
    assert stand.browser.post("/release", content=ASKED, headers=two).status_code == 401
    assert nothing_charged(stand)
    assert asked().status_code == 200


def test_a_token_that_was_revoked_works_no_more_and_a_new_one_has_the_same_account(stand: Stand) -> None:
    assert stand.post("/release", "town", SAFE).status_code == 200
    stand.offers.tokens.revoke("ann")
    assert stand.get("/releases").status_code == 401
    stand.token("ann", town="2")
    assert len(stand.get("/releases").json()["releases"]) == 1
    assert stand.get("/data-sets").json()["data_sets"][0]["yours"]["spent"] == "1"


def test_nobody_spends_from_anothers_cap(stand: Stand) -> None:
    """By a name in the question, in a header, or by a data set that is for others: it is said as of one that is not."""
    for more in ({"analyst": "bob"}, {"name": "bob"}, {"cap": "9"}):
        assert stand.post("/release", "town", SAFE, **more).status_code == 422
    refused = stand.post("/release", "people", SAFE, who="bob")
    assert refused.status_code == 404
    assert refused.content == stand.post("/release", "none", SAFE, who="bob").content
    assert stand.post("/release", "town", SAFE).json()["charged"] == "1"
    assert [(one.analyst, one.spent) for one in Ledger(stand.folder / "budget.db").shares()] == [("ann", 1)]
    assert stand.get("/releases", who="bob").json() == {"releases": []}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8401", "localhost", "127.0.0.1", f"{AUTHORITY}.evil", "0.0.0.0:8401"]
)
def test_another_host_gets_nothing(asked: Any, stand: Stand, host: str) -> None:
    answer = asked(host=host)
    assert answer.status_code == 400
    assert nothing_charged(stand)


def test_a_name_that_the_curator_lists_is_the_services_and_no_forwarded_one(stand: Stand) -> None:
    assert stand.get("/data-sets", host="DATA.example.org").status_code == 200
    answer = stand.get("/data-sets", host="evil.example", **{"x-forwarded-host": AUTHORITY, "forwarded": "host=x"})
    assert answer.status_code == 400


def test_a_body_is_json_and_short(stand: Stand, asked: Any) -> None:
    head = {"authorization": f"Bearer {stand.tokens['ann']}", **JSON}
    for content, status in (
        ("[" * (MOST + 1), 413),
        ("[" * 100_000, 422),
        ('{"a":' * 50_000, 422),
        ('{"data_set": "town", "spec": ' + '{"a":' * 500 + "1" + "}" * 501, 422),
        ('{"data_set": "town", "spec": {"query": {"p": ' + "9" * 5000 + "}}}", 422),
        ('{"data_set": "town", "spec": {"protect": {"epsilon": NaN}}}', 422),
        ('{"data_set": "town", "spec": []}', 422),
        ('{"data_set": 7, "spec": {}}', 422),
        ("", 422),
        ("null", 422),
        ('"\\ud800"', 422),
        ('{"data_set": "people", "data_set": "town", "spec": {}}', 422),
        (ASKED.replace('"epsilon": "1"', '"epsilon": "1", "\\u0065psilon": "2"'), 422),
        (b"\xff\xfe", 422),
    ):
        answer = stand.browser.post("/release", content=content, headers=head)
        assert answer.status_code == status, (content[:40], answer.text)
        assert set(answer.json()) == {"code", "message"}
        assert len(answer.content) < 1000
    assert asked(content_type="text/plain").status_code == 415
    assert asked(content_type="").status_code == 415
    assert nothing_charged(stand)
    assert stand.told == []


def test_each_status_of_a_refusal_is_described(stand: Stand) -> None:
    paths = stand.get("/openapi.json").json()["paths"]
    every, sent = {"200", "400", "401", "404", "422", "503"}, {"413", "415"}
    for path, statuses in {
        "/data-sets": every,
        "/releases": every,
        "/plan": every | sent,
        "/release": every | sent,
    }.items():
        (does,) = paths[path].values()
        assert does["responses"].keys() == statuses, path


def test_methods_are_not_confused(stand: Stand) -> None:
    head = {"authorization": f"Bearer {stand.tokens['ann']}", **JSON}
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD"):
        answer = stand.browser.request(method, "/release", headers=head, content=ASKED)
        assert answer.status_code == 405
        assert "access-control-allow-origin" not in answer.headers
    over = {"x-http-method-override": "POST", "x-method-override": "POST"}
    assert stand.browser.request("GET", "/release", headers=head | over, content=ASKED).status_code == 405
    assert stand.browser.request("GET", "/release?_method=POST", headers=head, content=ASKED).status_code == 405
    assert stand.browser.post("/releases", headers=head, content=ASKED).status_code == 405
    assert stand.browser.post("/release/", headers=head, content=ASKED).status_code == 404
    assert nothing_charged(stand)


def test_no_header_or_log_holds_what_was_sent(stand: Stand, capfd: pytest.CaptureFixture[str]) -> None:
    """A token, a name that ends a header, a path, a defect: none of it is repeated, logged or told."""
    odd = "town\r\nset-cookie: a=b"
    answers = [
        stand.post("/release", odd, SAFE),
        stand.post("/release", "town", {**SAFE, odd: {}}),
        stand.post("/release", "town", with_(SAFE, "protect", notion=odd)),
        stand.get(f"/{stand.tokens['ann']}"),
    ]
    for answer in answers:
        assert answer.status_code in (404, 422)
        assert "set-cookie" not in answer.headers
        assert "\r" not in "".join(answer.headers.values())
        assert stand.tokens["ann"] not in answer.text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(stand.answering), "data_sets", lambda *_: 1 / 0)
        broken = stand.get("/data-sets")
    assert (broken.status_code, broken.json()["code"]) == (500, "defect")
    out, err = capfd.readouterr()
    said = out + err + "".join(stand.told)
    assert "ZeroDivisionError" in stand.told[-1]
    for token in stand.tokens.values():
        assert token not in said
        assert token.removeprefix(PREFIX) not in said


def test_every_answer_has_the_same_headers(stand: Stand) -> None:
    for answer in (stand.get("/data-sets"), stand.get("/nothing"), stand.browser.get("/")):
        assert {name: answer.headers[name] for name in Guard.HEADERS} == dict(Guard.HEADERS)
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


def test_a_socket_is_not_opened(stand: Stand) -> None:
    assert isinstance(stand.app, Guard)
    asyncio.run(stand.app({"type": "websocket"}, None, None))  # type: ignore[arg-type]


def test_tokens_are_kept_as_digests_for_their_owner_alone(tmp_path: Path) -> None:
    path, old = tmp_path / "tokens.json", os.umask(0)
    try:
        token = Tokens(path).create("ann", {"town": Fraction(1, 3)})
    finally:
        os.umask(old)
    assert re.fullmatch(rf"{PREFIX}[A-Za-z0-9_-]{{43}}", token)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert token.removeprefix(PREFIX) not in path.read_text("utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["tokens.json"]
    found = Tokens(path).bearer(token)
    assert found is not None
    assert found.analyst("town").cap == Fraction(1, 3)  # type: ignore[union-attr]
    assert found.analyst("people") is None
    path.chmod(0o640)
    with pytest.raises(LedgerError, match="chmod 600"):
        Tokens(path).bearer(token)
    path.write_text("[]", "utf-8")
    path.chmod(0o600)
    with pytest.raises(LedgerError, match="not as `leeward token` wrote it"):
        Tokens(path).bearer(token)


def test_a_token_that_is_revoked_by_one_name_of_the_file_works_by_none(tmp_path: Path) -> None:
    """What was written took the place of a link, and under its other name a revoked token went on working."""
    path, link = tmp_path / "tokens.json", tmp_path / "sub" / "link.json"
    link.parent.mkdir()
    link.symlink_to("../tokens.json")
    token = Tokens(path).create("ann", {"town": Fraction(1)})
    Tokens(link).revoke("ann")
    assert (link.is_symlink(), Tokens(path).bearer(token)) == (True, None)
    (other := tmp_path / "other.json").hardlink_to(path)
    with pytest.raises(LedgerError, match="hard link"):
        Tokens(path).create("ann", {"town": Fraction(1)})
    assert other.read_bytes() == path.read_bytes()


def test_two_tables_under_one_label_are_not_offered(tmp_path: Path) -> None:
    """What was asked of one was given, stored, as the answer of the other."""
    write_tables(tmp_path)
    text = (tmp_path / "people.toml").read_text("utf-8")
    (tmp_path / "people.toml").write_text(text.replace('dataset = "people"', 'dataset = "town"'), "utf-8")
    with pytest.raises(SpecError, match=r"they are of two tables, .* charged as 'town' with version '1'"):
        read_offers(tmp_path / "service.toml")


OTHERWISE = {"delimiter": ";", "encoding": "latin-1", "decimal": ",", "time_format": "mm/dd/yyyy"}
NOT_READ_BY = {"visits", "table", "engine", "spark"}
"""Keys of [data] that are no part of a question, and not of how texts are read either."""


def test_every_key_that_says_how_a_table_is_read_is_a_part_of_a_question_or_of_these() -> None:
    """A key that is added is one or the other, or is tried here."""
    asked = {*AboutVisitors.model_fields, *AboutNumbersWithin.model_fields}
    assert {*Data.model_fields} - asked == {*OTHERWISE, *NOT_READ_BY, "visits_table"}


@pytest.mark.parametrize("key", OTHERWISE)
def test_nor_is_one_table_that_is_read_in_two_ways(key: str, tmp_path: Path) -> None:
    """No question says how texts are read: what was stored of one reading was given as the answer of the other."""
    write_tables(tmp_path)
    text = (tmp_path / "town.toml").read_text("utf-8")
    (tmp_path / "people.toml").write_text(text.replace("[data]", f"[data]\n{key} = '{OTHERWISE[key]}'"), "utf-8")
    service = SERVICE.partition("[data_sets.people]")[0]
    two = service + service[service.index("[data_sets.town]") :].replace("town", "people")
    (tmp_path / "service.toml").write_text(two, "utf-8")
    with pytest.raises(SpecError, match=r"read one in two ways, .* charged as 'town' with version '1'"):
        read_offers(tmp_path / "service.toml")
    (tmp_path / "people.toml").write_text(text, "utf-8")
    assert [*read_offers(tmp_path / "service.toml").data_sets] == ["town", "people"]


CHANGES: dict[str, tuple[str, str, str]] = {
    "a row": ("people.csv", "p0,20,north", "p0,21,north"),
    "another table": ("people.toml", '"people.csv"', '"others.csv"'),
    "how numbers are read": ("people.toml", "[data]", "[data]\ndecimal = ','"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_answers_about_what_a_table_was_are_not_given_by_a_service_that_is_started_anew(
    change: str, stand: Stand
) -> None:
    """They are stored, and given without a look at the table: under its label they would be taken for those of this one."""
    folder = stand.folder
    (folder / "people.csv").write_text((folder / "people.csv").read_text("utf-8").replace(",27,", ',"1.500",'), "utf-8")
    (folder / "others.csv").write_text("id,age,ward\na,1,north\n", "utf-8")
    assert stand.post("/release", "people", SUM).status_code == 200
    offered = stand.offers.data_sets["people"]
    look(offered)
    name, before, after = CHANGES[change]
    text = (folder / name).read_text("utf-8")
    assert before in text
    (folder / name).write_text(text.replace(before, after), "utf-8")
    anew = read_offers(folder / "service.toml").data_sets["people"]
    with pytest.raises(ContentChangedError, match="changed under version '1'"):
        look(anew)  # as `serve` does before it listens


@pytest.mark.parametrize("what", ["ledger", "list of tokens", "key of content digests"])
def test_nothing_is_served_out_of_a_folder_that_may_be_published(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "leeward-files.json").write_text('{"files": {"release.json": []}}')
    for name, written in (("service.toml", "tokens.json"), ("town.toml", "budget.db")):
        if what.endswith("tokens") == (name == "service.toml") and not what.startswith("key"):
            text = (tmp_path / name).read_text("utf-8")
            (tmp_path / name).write_text(text.replace(written, f"out/{written}"), "utf-8")
    if what.startswith("key"):
        monkeypatch.setenv(VARIABLE, str(tmp_path / "out" / "content.key"))
    with pytest.raises(InputError, match=f"The {what} .* within the folder of an earlier release"):
        serve(read_offers(tmp_path / "service.toml"), tell=lambda _: None)


def test_a_service_without_its_tokens_answers_nobody(stand: Stand) -> None:
    (stand.folder / "tokens.json").chmod(0o644)
    assert stand.get("/data-sets").status_code == 503
    assert "may be read by others" in stand.told[-1]


@pytest.mark.parametrize("name", ["", "a b", "a\r\nX: y", "../a", "é", "-a", "a" * 61])
def test_a_name_ends_no_line_and_no_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="letters, digits"):
        Tokens(tmp_path / "tokens.json").create(name, {"town": Fraction(1)})
    assert not [*tmp_path.iterdir()]


def test_a_name_has_one_token_at_a_time(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    first = tokens.create("ann", {"town": Fraction(1)})
    with pytest.raises(InputError, match="has a token already"):
        tokens.create("Ann", {"town": Fraction(1)})
    with pytest.raises(InputError, match="without a cap"):
        tokens.create("bob", {})
    tokens.revoke("ann")
    with pytest.raises(InputError, match="no token of theirs works"):
        tokens.revoke("ann")
    with pytest.raises(InputError, match="an earlier token was of 'ann'"):
        tokens.create("ANN", {"town": Fraction(2)})
    second = tokens.create("ann", {"town": Fraction(2)})
    assert tokens.bearer(first) is None
    assert tokens.bearer(second) is not None


def test_a_token_stays_revoked_as_of_then_when_a_later_one_is_revoked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    for now in ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"):
        monkeypatch.setattr("leeward.service._tokens._now", lambda now=now: now)
        tokens.create("ann", {"town": Fraction(1)})
        tokens.create(f"bob{now[5:7]}", {"town": Fraction(1)})
        tokens.revoke("ann")
    revoked = [(one.name, one.revoked) for one in tokens.read()]
    assert revoked == [
        ("ann", "2026-01-01T00:00:00Z"),
        ("bob01", None),
        ("ann", "2026-02-01T00:00:00Z"),
        ("bob02", None),
    ]


def test_a_list_of_tokens_that_is_a_link_to_nowhere_is_not_an_empty_one(tmp_path: Path) -> None:
    """Whose accounts there are would be forgotten, and a name that differs by capital letters be another account."""
    (link := tmp_path / "tokens.json").symlink_to(tmp_path / "unmounted" / "tokens.json")
    with pytest.raises(LedgerError, match="a link that leads nowhere"):
        Tokens(link).read()


def test_hosts_and_the_word_bearer_are_read_in_small_and_capital_letters(stand: Stand) -> None:
    assert (
        stand.browser.get("/data-sets", headers={"authorization": f"bearer {stand.tokens['ann']}"}).status_code == 200
    )
    named = TestClient(
        guarded(stand.answering, ["Data.Example.ORG"], stand.told.append), base_url="http://data.example.org"
    )
    assert named.get("/data-sets", headers={"authorization": f"Bearer {stand.tokens['ann']}"}).status_code == 200
