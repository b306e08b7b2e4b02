"""Whatever was answered at a step is in the spec, and is what its page offers next: every field of every form."""

from __future__ import annotations

import csv
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_init import KINDS, hospital
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import text_of
from tests.desk.test_desk_questions import answers
from tests.desk.test_desk_questions import town as town  # a fixture
from tests.desk.test_desk_questions import walked as of_a_table
from tests.desk.walk import ANSWERS, walked
from tests.session.conftest import Town

from leeward.spec._first_question import promises


class Fields(HTMLParser):
    """What the forms of a page that are posted would send, as they stand."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self._posted, self._select, self._first, self._area = False, "", False, ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self._posted = given.get("method") == "post"
        if not self._posted:
            return
        if tag == "input" and (given.get("type") not in ("radio", "checkbox") or "checked" in given):
            self.sent[name] = value
        elif tag == "select":
            self._select, self._first = name, True
        elif tag == "option" and (self._first or "selected" in given):
            self.sent[self._select], self._first = value, False
        elif tag == "textarea":
            self.sent[name], self._area = "", name

    def handle_data(self, data: str) -> None:
        if self._area:
            self.sent[self._area] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""


def offered(seat: Seat, path: str) -> dict[str, str]:
    """What the form of a page would send, but for the secret."""
    page = seat.get(path)
    assert page.status_code == 200, text_of(page)
    return {name: value for name, value in Fields(page.text).sent.items() if name != "secret"}


def sections(seat: Seat, name: str) -> Any:
    return seat.desk.drafts.read(name).sections


def write(seat: Seat, file: str, *lines: str, encoding: str = "utf-8") -> None:
    (seat.folder / file).write_text("\n".join(lines), encoding)


ODD = (
    "wer;Straße;wann;betrag",
    "a;Hof;03/04/2026 19:10;1,5",
    "b;Bad;04/04/2026 19:20;22,5",
    "c;Bad;05/04/2026 19:30;3,5",
)


@pytest.fixture
def odd(seat: Seat) -> Seat:
    """Tables whose writing must be told: semicolons, decimal commas, days before months, an old encoding."""
    write(seat, "odd.csv", *ODD, encoding="cp1252")
    write(seat, "orte.csv", "Straße;name;breite;länge", "Hof;Café;35,1;139,5", "Bad;Bad;35,2;139,6", encoding="cp1252")
    return seat


VISITS = {
    "person": "wer",
    "place": "Straße",
    "time": "wann",
    "time_format": "dd/mm/yyyy HH:MM",
    "timezone": "Europe/Paris",
}
PLACES = {
    "file": "orte.csv",
    "sheet": "",
    "place": "Straße",
    "name": "name",
    "latitude": "breite",
    "longitude": "länge",
}


def test_visits_and_places_in_an_odd_writing(odd: Seat) -> None:
    name = odd.drafted("odd.csv")
    assert odd.post(f"/drafts/{name}/visits", VISITS).status_code == 303
    data = sections(odd, name)["data"]
    assert data == {"visits": "../../../odd.csv", "delimiter": ";", "encoding": "cp1252"} | VISITS
    assert offered(odd, f"/drafts/{name}/visits") == VISITS
    assert offered(odd, f"/drafts/{name}/places?file=orte.csv") == PLACES, "the columns are found by their names"
    assert odd.post(f"/drafts/{name}/places", PLACES).status_code == 303
    told = {"table": "../../../orte.csv", "delimiter": ";", "encoding": "cp1252", "decimal": ","}
    assert sections(odd, name)["places"] == told | {
        key: PLACES[key] for key in ("place", "name", "latitude", "longitude")
    }
    few = PLACES | {"name": "", "latitude": "", "longitude": ""}
    assert odd.post(f"/drafts/{name}/places", few).status_code == 303
    assert offered(odd, f"/drafts/{name}/places") == few, "what was left out is not chosen again"
    for key in ("place", "name", "latitude", "longitude"):
        wrong = odd.post(f"/drafts/{name}/places", PLACES | {key: "nowhere"})
        assert (wrong.status_code, "nowhere" in text_of(wrong)) == (422, True), key


def test_the_box_of_a_grid(seat: Seat) -> None:
    write(seat, "at.csv", "user,lat,lon,when", "a,35.1,139.7,2026-03-14T19:10")
    name = seat.drafted("at.csv")
    assert "by latitude" in seat.get(f"/drafts/{name}/visits").text
    answer = {"person": "user", "place": "", "time": "when", "time_format": "", "timezone": ""}
    assert seat.post(f"/drafts/{name}/visits", answer).status_code == 303
    assert offered(seat, f"/drafts/{name}/visits") == answer
    box = {"west": "139.7", "south": "34.9", "east": "139.8", "north": "35.5", "metres": "5000.0"}
    assert seat.post(f"/drafts/{name}/places", box).status_code == 303
    assert offered(seat, f"/drafts/{name}/places") == box


@pytest.mark.parametrize(
    "promise",
    [
        {"never": "safe", "people": "25"},
        {"never": "dangerous", "people": "9"},
        {"never": "neither", "people": "7"},
    ],
    ids=lambda each: each["never"],
)
def test_what_must_never_be_wrong_of_a_place(seat: Seat, promise: dict[str, str]) -> None:
    name = walked(seat, "promise", promise=promise)
    assert offered(seat, f"/drafts/{name}/promise") == promise
    assert "epsilon" not in sections(seat, name)["protect"], "it is not asked yet"
    assert seat.post(f"/drafts/{name}/strength", ANSWERS["strength"] | {"epsilon": "1/2"}).status_code == 303
    other = {"never": "neither", "people": "8"}
    assert seat.post(f"/drafts/{name}/promise", other).status_code == 303
    assert sections(seat, name)["protect"]["epsilon"] == "1/2", "another promise leaves how strong it is"
    assert offered(seat, f"/drafts/{name}/promise") == other


def test_the_time_and_the_budget(seat: Seat) -> None:
    window = {"start": " 2026-03-14T19:00 ", "end": "2026-03-14T20:00", "every": "30min"}
    name = walked(seat, window=window, strength={"epsilon": "1/2", "cap": "7", "dataset": "my town", "version": "3"})
    assert offered(seat, f"/drafts/{name}/window") == window | {"start": "2026-03-14T19:00"}
    strength = offered(seat, f"/drafts/{name}/strength")
    assert strength == {"epsilon": "1/2", "cap": "7", "dataset": "my town", "version": "3"}


QUESTIONS: list[dict[str, str]] = [
    {"kind": "count", "group": "Straße", "groups": "Hof\nBad", "combine": "max"},
    {"kind": "sum", "column": "betrag", "lower": "0", "upper": "50", "step": "0.5", "combine": "sum"},
    {"kind": "percentile", "column": "betrag", "lower": "0", "upper": "50", "step": "0.5", "p": "25, 75"},
    {"kind": "above", "column": "betrag", "levels": "2, 20", "group": "Straße", "groups": "Hof\nBad"},
    {"kind": "histogram", "column": "betrag", "lower": "0", "upper": "50", "step": "10", "combine": "max"},
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda each: each["kind"])
def test_a_question_about_a_table(odd: Seat, question: dict[str, str]) -> None:
    name = odd.drafted("odd.csv", "table")
    assert offered(odd, f"/drafts/{name}/table")["time"] == "", "no time is meant unless somebody says so"
    table = {"person": "wer", "time": "", "time_format": "", "timezone": ""}
    assert odd.post(f"/drafts/{name}/table", table).status_code == 303
    assert offered(odd, f"/drafts/{name}/table") == table
    before = offered(odd, f"/drafts/{name}/question?kind={question['kind']}")
    assert {each: before[each] for each in ("group", "groups", "list")} == {"group": "", "groups": "", "list": ""}
    assert odd.post(f"/drafts/{name}/question", question).status_code == 303
    shown = offered(odd, f"/drafts/{name}/question")
    assert {key: shown[key] for key in question} == question
    query = sections(odd, name)["query"]
    assert {key: query[key] for key in question if key in ("kind", "column", "lower", "upper", "step", "combine")} == {
        key: value for key, value in question.items() if key in query and key not in ("p", "levels")
    }
    assert ("decimal" in sections(odd, name)["data"]) == (question["kind"] != "count")
    never, *others = promises(query)
    assert ("never" in offered(odd, f"/drafts/{name}/promise")) == (not others), "the only answer is chosen"
    assert odd.post(f"/drafts/{name}/promise", {"never": never, "people": "2"}).status_code == 303
    assert offered(odd, f"/drafts/{name}/promise")["never"] == never
    assert odd.post(f"/drafts/{name}/question", question).status_code == 303, "also where ε is not answered yet"
    table = {"person": "wer", "time": "wann", "time_format": "dd/mm/yyyy HH:MM", "timezone": "Europe/Paris"}
    assert odd.post(f"/drafts/{name}/table", table).status_code == 303
    assert offered(odd, f"/drafts/{name}/table") == table
    kept = sections(odd, name)["data"].get("decimal")
    assert kept == (None if question["kind"] == "count" else ","), "the answer to a question stays"
    assert odd.post(f"/drafts/{name}/question", {"kind": "count"}).status_code == 303
    assert "decimal" not in sections(odd, name)["data"], "no number is asked about any more"


def test_a_list_whose_places_are_names_offers_no_second_name(seat: Seat) -> None:
    write(seat, "named.csv", "user,name,when", "a,Pool,2026-03-14T19:10")
    write(seat, "list.csv", "venue,name,lat,lon", "v1,Pool,35.1,139.7")
    name = seat.drafted("named.csv")
    visits = {"person": "user", "place": "name", "time": "when"}
    assert seat.post(f"/drafts/{name}/visits", visits).status_code == 303
    shown = offered(seat, f"/drafts/{name}/places?file=list.csv")
    assert (shown["place"], shown["name"] != "name") == ("name", True), "the column that the visits use comes first"


def test_each_list_is_offered_by_its_own_columns_and_an_unreadable_one_is_told(seat: Seat) -> None:
    name = walked(seat, "places")
    write(seat, "other.csv", "place,title,latitude,longitude", "v1,Pool,35.1,139.7")
    shown = offered(seat, f"/drafts/{name}/places?file=other.csv")
    assert [shown[key] for key in ("place", "latitude", "longitude")] == ["place", "latitude", "longitude"]
    (seat.folder / "broken.parquet").write_text("x")
    (seat.folder / "broken.xlsx").write_text("x")
    for file in ("broken.parquet", "broken.xlsx"):
        page = seat.get(f"/drafts/{name}/places?file={file}")
        assert (page.status_code, 'role="alert"' in page.text) == (200, True), file


def test_a_private_table_that_became_unreadable_is_told(seat: Seat) -> None:
    pq.write_table(
        pa.table({"user": ["a"], "venue": ["pool"], "when": ["2026-03-14T19:10"]}), seat.folder / "v.parquet"
    )
    for about in ("visits", "table"):
        name = seat.drafted("v.parquet", about)
        assert 'role="alert"' not in seat.get(f"/drafts/{name}/{about}").text
        whole = (seat.folder / "v.parquet").read_bytes()
        (seat.folder / "v.parquet").write_bytes(b"x")
        page = seat.get(f"/drafts/{name}/{about}")
        assert (page.status_code, 'role="alert"' in page.text) == (200, True), about
        (seat.folder / "v.parquet").write_bytes(whole)


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("日本.csv", "draft"),
        ("___.csv", "draft"),
        ("-.csv", "draft"),
        ("TOWN of Ýs (2).csv", "town-of-s-2"),
        (f"{'long-' * 30}.csv", "long-" * 8),
    ],
)
def test_a_table_of_any_name_has_a_draft(seat: Seat, file: str, named: str) -> None:
    (seat.folder / file).write_text((seat.folder / "visits.csv").read_text("utf-8"), "utf-8")
    name = seat.drafted(file)
    assert (name, name in seat.desk.drafts.names()) == (named, True)
    assert offered(seat, f"/drafts/{name}/visits")["person"] == "user"
    assert f'href="/drafts/{name}/visits"' in seat.get("/").text


def test_rows_that_are_protected_alone_are_not_combined(odd: Seat) -> None:
    name = odd.drafted("odd.csv", "table")
    for person, asked in (("each row", False), ("wer", True)):
        assert odd.post(f"/drafts/{name}/table", {"person": person, "time": ""}).status_code == 303
        assert offered(odd, f"/drafts/{name}/table")["person"] == person
        assert ("combine" in offered(odd, f"/drafts/{name}/question?kind=sum")) == asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_that_is_sent_back_as_it_stands_changes_nothing(kind: str, seat: Seat, town: Town) -> None:
    options, _, _ = KINDS[kind]
    asked, number = kind.partition(",")[0], [] if kind.startswith("count") else ["--column", "age"]
    options = [*options, "--people", "2"] if "dangerous" in options else [*options]
    file, *listed = hospital(kind)
    if listed:
        write(seat, "wards.csv", "ward,floor", "70,1", "71,1", "72,2")
    name = of_a_table(seat, file, answers([*number, *options], asked))
    before = sections(seat, name)
    for step in ("table", "question", *(["window"] if "window" in before else []), "promise", "strength"):
        sent = Fields(seat.get(f"/drafts/{name}/{step}").text).sent
        assert seat.post(f"/drafts/{name}/{step}", sent).status_code == 303
        assert sections(seat, name) == before, step


def test_groups_of_any_letters_stay_what_they_are_when_their_page_is_sent_back(seat: Seat) -> None:
    groups = [" north ", "so\nuth", "so\r\nuth", "x,y", "007", "a\u00a0", "<b>", "&amp;"]
    with (seat.folder / "g.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["who", "ward"], *([f"u{i}", groups[i % len(groups)]] for i in range(40))])
    with (seat.folder / "wards.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["ward"], *([each] for each in groups)])
    name = seat.drafted("g.csv", "table")
    assert seat.post(f"/drafts/{name}/table", {"person": "who", "time": ""}).status_code == 303
    question = {"kind": "count", "group": "ward", "groups": "", "list": "wards.csv", "combine": "max"}
    assert seat.post(f"/drafts/{name}/question", question).status_code == 303
    before = sections(seat, name)
    assert before["query"]["by"] == {"ward": groups}
    sent = Fields(seat.get(f"/drafts/{name}/question").text).sent
    for groups_sent in (sent["groups"], sent["groups"].replace("\n", "\r\n")):  # as a browser sends it
        assert seat.post(f"/drafts/{name}/question", sent | {"groups": groups_sent}).status_code == 303
        assert sections(seat, name) == before
    assert seat.post(f"/drafts/{name}/question", sent | {"groups": "x,y\n007\nmore "}).status_code == 303
    assert sections(seat, name)["query"]["by"] == {"ward": ["x,y", "007", "more"]}


@pytest.mark.parametrize("group", ["70.5", "7_0", "70 000", "1e2", "0x46", "seventy", "--70"])
def test_what_is_no_whole_number_is_no_group_of_a_column_of_them(seat: Seat, town: Town, group: str) -> None:
    (file,) = hospital("count, by numbers")
    name = seat.drafted(file, "table")
    assert seat.post(f"/drafts/{name}/table", {"person": "patient", "time": ""}).status_code == 303
    write(seat, "wards.csv", "ward,floor", "70,1", f"{group},2")
    pq.write_table(pa.table({"ward": [70.0, 70.5]}), seat.folder / "wards.parquet")
    question = {"kind": "count", "group": "ward", "combine": "max"}
    for listed in ({"groups": f"70\n{group}"}, {"list": "wards.csv"}, {"list": "wards.parquet"}):
        answer = seat.post(f"/drafts/{name}/question", question | listed)
        assert (answer.status_code, "Give whole numbers" in text_of(answer)) == (422, True), listed
    assert "query" not in sections(seat, name)
    assert seat.post(f"/drafts/{name}/question", question | {"groups": "70\n+71\n072"}).status_code == 303
    assert sections(seat, name)["query"]["by"] == {"ward": [70, 71, 72]}
