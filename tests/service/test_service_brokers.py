"""Trusted brokers send true positions: reports come back, budgets of people hold, and nothing of a position stays."""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.spent import spent_in
from tests.local.test_killed_reports import killed_at
from tests.private_files import write_private
from tests.service.conftest import Stand
from tests.session.conftest import Town

from leeward.errors import LedgerError, SpecError
from leeward.ledger._spent import Spent
from leeward.local.location._job import LocationJob
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.service._brokers import FOR_BROKERS
from leeward.service._documents import MOST_POSITIONS
from leeward.service._offers import read_offers

SERVICE = """
tokens = "tokens.json"

[perturb.taxis]
spec = "taxis.toml"
brokers = ["acme", "rival"]

[perturb.walkers]
spec = "walkers.toml"
brokers = ["rival"]
"""

TAXIS = """
[perturb]
kind = "location"

[data]
table = "not-read.csv"
latitude = "lat"
longitude = "lon"
person = "id"

[box]
west = 139.5
south = 35.5
east = 140.0
north = 35.9

[protect]
within = "200 m"
factor = "2"

[budget]
store = "people.db"
secret = "people.key"
reports_a_day = 3
"""

WALKERS = (
    TAXIS.replace('person = "id"', 'person = "id"\ntime = "at"')
    .replace("people.db", "walkers.db")
    .replace("reports_a_day = 3", 'reports_a_day = 1\nover = "withhold"\n[output]\nh3 = 9')
)

SERIES = """
[perturb]
kind = "series"
[data]
table = "r.csv"
meter = "m"
time = "t"
value = "kw"
unit = "kW"
[time]
start = "2026-03-28"
end = "2026-03-30"
every = "1 h"
[values]
lower = "0 kW"
upper = "8 kW"
step = "1 W"
[protect]
within = "100 W"
factor = "2"
window = 6
"""

LATITUDE, LONGITUDE = 35.7123456789, 139.7987654321
"""Digits that no report has: it is rounded to seven decimals."""


def at(person: Any, **more: Any) -> dict[str, Any]:
    return {"id": person, "latitude": LATITUDE, "longitude": LONGITUDE, **more}


def write_offers(folder: Path) -> None:
    for name, text in (("service.toml", SERVICE), ("taxis.toml", TAXIS), ("walkers.toml", WALKERS)):
        (folder / name).write_text(text, "utf-8")
    write_private(folder / "people.key", b"0123456789abcdef")


def served(folder: Path) -> Stand:
    """A service with the brokers acme and rival, and stores that are new."""
    write_offers(folder)
    made = Stand(folder)
    for offer in made.offers.perturb.values():
        offer.job.open_budgets(new=True)
    for name in ("acme", "rival"):
        made.tokens[name] = made.offers.tokens.create(name, {}, is_broker=True)
    return made


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return served(tmp_path)


def send(stand: Stand, positions: Any, to: str = "taxis", who: str = "acme") -> Any:
    headers = {"authorization": f"Bearer {stand.tokens[who]}"}
    return stand.browser.post(f"/perturb/{to}", json={"positions": positions}, headers=headers)


def test_each_report_is_drawn_and_charged_to_its_id(stand: Stand) -> None:
    """Whoever asks, however the id is written, in one request or in several."""
    first = send(stand, [at("7")]).json()["reports"][0]
    assert first["h3"] is None
    assert (first["latitude"], first["longitude"]) != (LATITUDE, LONGITUDE)
    assert 35.5 <= first["latitude"] <= 35.9
    two = send(stand, [at(7), at("8")], who="rival").json()["reports"]
    assert two[0] != two[1]  # the same grid point: equal by a chance of less than 1 in 1,000,000
    refused = send(stand, [at("8"), at("7"), at(7)])
    assert (refused.status_code, refused.json()["code"]) == (422, "cap-exceeded")
    assert send(stand, [at("8"), at("8"), at("7")]).status_code == 200, "what was refused was charged"
    assert send(stand, [at("7")], who="rival").status_code == 422
    assert send(stand, [at("9")]).status_code == 200


def test_where_the_curator_says_so_a_report_that_is_not_paid_for_is_withheld(stand: Stand) -> None:
    day, next_day = "2026-03-01T08:00:00+09:00", "2026-03-02T12:00:00Z"
    sent = [at("a", time=day), at("a", time=day), at("a", time=next_day)]
    first, none, last = send(stand, sent, "walkers", "rival").json()["reports"]
    assert none is None
    assert first["h3"]
    assert last["h3"]


def test_what_is_offered_to_a_broker_says_whom_it_is_for(stand: Stand) -> None:
    offered = stand.get("/perturb", "acme").json()
    assert offered["who"] == FOR_BROKERS
    assert [(each["name"], each["timed"]) for each in offered["perturb"]] == [("taxis", False)]
    assert offered["perturb"][0]["statement"]["budget"]["reports_a_day"] == 3
    assert [each["name"] for each in stand.get("/perturb", "rival").json()["perturb"]] == ["taxis", "walkers"]
    api = stand.get("/openapi.json", "acme").json()["paths"]["/perturb/{name}"]["post"]
    assert "for trusted brokers only" in api["summary"]
    assert api["description"] == FOR_BROKERS


def test_who_is_no_broker_of_it_learns_not_even_that_it_is_there(stand: Stand) -> None:
    others = [send(stand, [at("7")], name) for name in ("walkers", "none")]
    assert {answer.status_code for answer in others} == {404}
    assert others[0].content == others[1].content
    stand.offers.tokens.revoke("acme")
    assert send(stand, [at("7")]).status_code == 401


WRONG: dict[str, tuple[Any, str]] = {
    "outside the box": ([at("7", latitude=36.7123456789)], "position"),
    "swapped": ([{"id": "7", "latitude": LONGITUDE, "longitude": LATITUDE}], "position"),
    "a time": ([at("7", time="2026-03-01")], "position"),
    "no number": ([at("7", latitude=str(LATITUDE))], "request"),
    "a truth value": ([at("7", latitude=True)], "request"),
    "too large": ([at("7", latitude=10**400)], "request"),
    "missing": ([at("7", latitude=None)], "request"),
    "nobody": ([at(None)], "request"),
    "an empty id": ([at("")], "request"),
    "a fraction of an id": ([at(7.5)], "request"),
    "another key": ([at("7", level="low")], "request"),
    "none": ([], "request"),
    "too many": ([at("7")] * (MOST_POSITIONS + 1), "request"),
    "no list": (at("7"), "request"),
}


def test_what_cannot_be_sent_is_refused_and_costs_nothing(stand: Stand) -> None:
    for wrong, (sent, code) in WRONG.items():
        answer = send(stand, sent)
        assert (answer.status_code, answer.json()["code"]) == (422, code), (wrong, answer.text)
        assert "positions" in answer.json()["message"] or "time" in answer.json()["message"]
    not_finite = json.dumps({"positions": [at("7")]}).replace(str(LATITUDE), "NaN")
    head = {"authorization": f"Bearer {stand.tokens['acme']}", "content-type": "application/json"}
    for content in (not_finite, '{"positions": ' + "[" * 100_000):
        answer = stand.browser.post("/perturb/taxis", content=content, headers=head)
        assert (answer.status_code, answer.json()["code"]) == (422, "request")
        assert "latitude" in answer.json()["message"]
    mixed_times = [at("b", time="2026-03-01"), at("b", time="2026-03-01T08:00Z")]
    # the first time without an offset would have closed the store to all that have one
    for mixed in (mixed_times, mixed_times[:1], [at("b", time="2026-03-01T08:00")], [at("b", time="noon")], [at("b")]):
        assert send(stand, mixed, "walkers", "rival").json()["code"] == "position"
    assert send(stand, [at("7")] * 3).status_code == 200, "something was charged"
    assert send(stand, mixed_times[1:], "walkers", "rival").status_code == 200, "a store was closed"
    assert stand.told == []


def test_nothing_of_a_position_is_kept_logged_or_repeated(
    stand: Stand, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in refusals or headers, in what the curator is told, in a file, or where something fails unforeseen."""
    person = "somebody-9071"
    answers = [send(stand, [at(person)]), send(stand, [at(person)] * 4)]
    answers += [send(stand, [{**at(person), "latitude": 36 + LATITUDE - 35, "odd": 1}])]
    (stand.folder / "people.db").rename(stand.folder / "away.db")
    answers.append(send(stand, [at(person)]))
    assert (answers[-1].status_code, answers[-1].json()["code"]) == (503, "unavailable")
    assert not (stand.folder / "people.db").exists()
    (stand.folder / "away.db").rename(stand.folder / "people.db")
    geo = type(stand.offers.perturb["taxis"].job.geo)
    monkeypatch.setattr(geo, "draw", lambda _, points: [][int(points[0, 0])])
    answers.append(send(stand, [at(person)]))
    assert answers[-1].status_code == 500
    said = "".join((*capfd.readouterr(), *stand.told, *(f"{one.headers}{one.text}" for one in answers)))
    files = b"".join(each.read_bytes() for each in stand.folder.iterdir())
    assert len(stand.told) == 2
    for hidden in ("7123456", "7987654", person):
        assert hidden not in said
        assert hidden.encode() not in files
    monkeypatch.undo()
    assert send(stand, [at(person)]).status_code == 200
    assert send(stand, [at(person)]).status_code == 422, "the draw that failed was given back: it may have been seen"


REFUSED = {
    r"\[repeat\]": TAXIS + '[repeat]\nstore = "memo.db"\nsecret = "people.key"\n',
    r"\[budget\] is missing": TAXIS.partition("[budget]")[0],
    r"\[track\]": WALKERS.partition("[budget]")[0]
    + '[track]\nnear = "500 m"\nin_all = { within = "200 m", factor = "64" }\n',
    "levels": TAXIS.replace("reports_a_day = 3", 'a_day = { within = "200 m", factor = "8" }').replace(
        'factor = "2"', 'level = "tier"\nlevels = { low = { within = "200 m", factor = "2" } }'
    ),
    'kind = "series"': SERIES,
    'missing = "keep"': TAXIS.replace('factor = "2"', 'factor = "2"\nmissing = "keep"'),
    r"\[perturb.taxis\] spec": TAXIS.replace("[box]", "[bx]"),
}


def test_other_specs_than_one_report_after_another_are_refused_by_name(tmp_path: Path) -> None:
    write_offers(tmp_path)
    for words, text in REFUSED.items():
        (tmp_path / "taxis.toml").write_text(text, "utf-8")
        with pytest.raises(SpecError, match=words):
            read_offers(tmp_path / "service.toml")


def test_the_command_names_brokers_and_makes_no_store_unasked(tmp_path: Path, capsys: Any) -> None:
    write_offers(tmp_path)
    town, offered = Town(tmp_path, capsys), tmp_path / "service.toml"
    assert town.run("token", "create", "acme", "-c", offered)[0] == 0
    assert "without a cap" in town.run("token", "create", "stranger", "-c", offered)[2]
    listed = json.loads(town.run("token", "list", "--json", "-c", offered)[1])["brokers"]
    assert [(one["name"], one["perturb"]) for one in listed] == [("acme", "taxis")]
    assert "acme may send positions of people to 'taxis'" in town.run("token", "list", "-c", offered)[1]
    code, _, said = town.run("serve", offered)  # there is no terminal to ask
    assert code == 2
    assert "people.db" in said
    with pytest.raises(LedgerError, match="not there"):
        read_offers(offered).perturb["taxis"].job.open_budgets(new=False)
    (tmp_path / "people.db").touch()
    code, _, said = town.run("serve", offered, "--yes")
    assert code == 2
    assert "may have been emptied" in said


def test_the_example_is_one_that_is_offered() -> None:
    offers = read_offers(Path(__file__).parents[2] / "examples" / "service" / "brokers.toml")
    assert [each.name for each in offers.of_broker("acme")] == ["taxis"]
    assert offers.of_broker("ann") == []


def test_the_budget_of_a_person_holds_over_two_services_at_once(stand: Stand) -> None:
    """Each has its own connections to the store, as two processes have; each sends as many as one may."""
    services = [stand, Stand(stand.folder, tokens=stand.tokens)]
    with ThreadPoolExecutor(2) as both:
        answers = both.map(lambda one: [send(one, [at("7")]).status_code for _ in range(3)], services)
        assert sorted(itertools.chain(*answers)) == [200] * 3 + [422] * 3


@pytest.mark.parametrize(
    ("stage", "charged"),
    [((Spent, "write"), 0), ((LocationJob, "_mover"), 1), ((PlanarLaplace, "draw"), 1), ((PlanarLaplace, "shown"), 1)],
    ids=lambda one: one[1] if isinstance(one, tuple) else "",
)
def test_a_service_that_is_killed_has_charged_whatever_it_may_have_drawn(
    stage: tuple[Any, str], charged: int, stand: Stand
) -> None:
    """No answer came, so the broker asks again: that is another report, and paid for like any."""
    killed_at((*stage, 1), lambda: send(stand, [at("7")]))
    assert sum(spent_in(stand.folder / "people.db").values()) == charged
    answers = [send(stand, [at("7")]).status_code for _ in range(4)]
    assert answers == [200] * (3 - charged) + [422] * (1 + charged)
