"""Questions about a table at the desk: each writes the spec that ``init`` writes, is planned, released and kept."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.cli.test_init import KINDS, PATIENTS, drafted, hospital
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN, text_of
from tests.desk.walk import done
from tests.session.conftest import Town

from leeward.desk._release import charged_for
from leeward.desk._releases import kept
from leeward.desk._worth import error_curve, error_of, least_epsilon_within
from leeward.ledger import Ledger
from leeward.spec._first_question import KINDS as ASKED
from leeward.spec._first_question import promises

Write = Callable[[str], list[str]]


@pytest.fixture
def town(seat: Seat, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Town:
    monkeypatch.chdir(seat.folder)
    return Town(seat.folder, capsys)


def answers(words: list[str], kind: str) -> dict[str, dict[str, str]]:
    """What is answered at the desk where ``init`` has these options."""
    given = {one[0].removeprefix("--"): one[1] for one in zip(words[::2], words[1::2], strict=True)}
    public = ("column", "lower", "upper", "step", "p", "levels", "group")
    listed = {"list": "wards.csv"} if "listed" in given else {}
    window = {key: f"{given[key]}T00:00" for key in ("start", "end") if key in given}
    question = {"kind": kind, "step": "1"} | {key: given[key] for key in public if key in given} | listed
    return {
        "table": {"person": "patient", "time": "admitted" if window else ""},
        "question": question | ({} if listed else {"groups": given.get("groups", "").replace(",", "\n")}),
        "window": window,
        "promise": {"never": given.get("never", "close"), "people": given.get("people", "2")},
        "strength": {"epsilon": "1", "cap": "4", "dataset": "h"},
    }


def walked(seat: Seat, file: str, steps: dict[str, dict[str, str]]) -> str:
    """Answer the steps of a fresh draft about a table, and return its name."""
    name = seat.drafted(file, "table")
    for step, given in steps.items():
        if given:
            assert seat.get(f"/drafts/{name}/{step}").status_code == 200
            answer = seat.post(f"/drafts/{name}/{step}", given)
            assert answer.status_code == 303, text_of(answer)
    return name


@pytest.mark.parametrize("kind", KINDS)
def test_each_question_writes_the_spec_that_init_writes_and_is_released(kind: str, seat: Seat, town: Town) -> None:
    options, _, _ = KINDS[kind]
    asked, number = kind.partition(",")[0], [] if kind.startswith("count") else ["--column", "age"]
    if "dangerous" in options and "--people" not in options:
        options = [*options, "--people", "2"]
    file, *listed = hospital(kind)
    if listed:  # at the desk the column of the list has the name of that in the table
        Path("wards.csv").write_text(Path("wards.csv").read_text("utf-8").replace("no,", "ward,"), "utf-8")
        options = [*options[:1], "ward", *options[2:]]
    expected = drafted(town, file, *listed, "--kind", asked, "--person", "patient", *number, *options)
    name = walked(seat, file, answers([*number, *options], asked))
    sections: Any = json.loads(json.dumps(dict(seat.desk.drafts.read(name).sections)))
    assert sections["data"].pop("table") == f"../../../{expected['data'].pop('table')}"
    assert sections["budget"].pop("ledger") == f"../../../{expected['budget'].pop('ledger')}"
    for ends in (sections.get("window", {}), expected.get("window", {})):
        ends.update({key: dt.datetime.fromisoformat(str(at)).isoformat() for key, at in ends.items()})
    assert sections == expected
    assert "Which row" not in text_of(seat.get(f"/drafts/{name}/compare"))
    looked = text_of(done(seat, seat.post(f"/drafts/{name}/check")))
    assert f"{len(PATIENTS)} in the table" in looked
    shown = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "For you only: 1 was charged, and the budget was opened." in shown
    mine = kept(seat.desk, f"{name}-1")
    assert mine.headline in text_of(seat.get("/history"))
    assert mine.statement.query.text in shown


TIMED = {
    "table": {"person": "patient", "time": "admitted"},
    "question": {"kind": "count"},
    "window": {"start": "2026-03-14T00:00", "end": "2026-03-17T00:00", "every": "1d"},
    "promise": {"never": "low"},
    "strength": {"epsilon": "1", "cap": "4", "dataset": "h"},
}


def test_windows_are_priced_together_and_the_command_has_the_same_answers(seat: Seat, town: Town) -> None:
    name = walked(seat, hospital("")[0], TIMED)
    worth = text_of(seat.get(f"/drafts/{name}/strength"))
    assert "Whatever the answers of all 3 windows say" in worth
    assert "50.0 % 95.3 %" in worth  # e³ / (1 + e³): whoever sees all of them gains thrice
    page = text_of(seat.get(f"/drafts/{name}/release"))
    assert "3 is charged 4 left now 1 left afterwards" in page
    assert "This is the first of 3 windows" in page
    shown = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "For you only: 3 was charged, and the budget was opened." in shown
    assert "3 windows, from 2026-03-14 00:00" in shown
    assert "1 left of 4" in shown
    mine = kept(seat.desk, f"{name}-1")
    assert len(mine.statements) == 3
    history = text_of(seat.get("/history"))
    assert history.count("3 windows, from") == 3
    budget = seat.desk.drafts.read(name).spec().ledger()
    ledger = Ledger.find(budget.ledger)
    assert ledger is not None
    keys = sorted({one.key for one in ledger.history(budget.dataset)} - {""})
    assert [sum(charged_for(budget, keys[:number]).values()) for number in range(4)] == [0, 1, 2, 3]
    assert all(one.query.text in history for one in mine.statements)
    assert "All 3 together keep less: their prices add up, to 3." in shown
    out = town.folder / "out"
    spec = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    code, said, err = town.run("release", str(spec), "--out", str(out), "--json")
    assert code == 0, err
    assert {one["charged"] for one in json.loads(said)["releases"]} == {"0"}
    assert (out / "answers.csv").read_bytes() == (mine.folder / "answers.csv").read_bytes()
    rows = list(csv.DictReader((out / "answers.csv").read_text("utf-8-sig").splitlines()))
    days = [sum(at.date() == dt.date(2026, 3, 14 + i) for *_, at in PATIENTS) for i in range(3)]
    assert [int(row["count"]) >= day for row, day in zip(rows, days, strict=True)] == [True] * 3


def test_visits_by_the_hour_are_windows_too(seat: Seat) -> None:
    from tests.desk.walk import walked as of_visits

    window = {"start": "2026-03-14T18:00", "end": "2026-03-14T21:00", "every": "1h"}
    name = of_visits(seat, window=window, strength={"epsilon": "1/2"})
    assert "1.5 is charged" in text_of(seat.get(f"/drafts/{name}/release"))
    assert "3 windows" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    report = seat.get(f"/releases/{name}-1/report.html")
    assert "sandbox" in report.headers["content-security-policy"]
    assert 'type="range"' in report.text


MEDIAN = {
    "table": {"person": "patient"},
    "question": {"kind": "median", "column": "age", "lower": "0", "upper": "100", "step": "1"},
    "promise": {"never": "close"},
    "strength": {"epsilon": "1", "cap": "4", "dataset": "h"},
}


@pytest.mark.parametrize(
    ("step", "given", "said"),
    [
        ("table", {"person": ""}, "it is not chosen"),
        ("table", {"person": "nobody"}, "nobody"),
        ("table", {"time": "ward"}, "no times in a format that is known"),
        ("question", {"kind": "visitors"}, "not one of the choices"),
        ("question", {"column": ""}, "it is not chosen"),
        ("question", {"lower": ""}, "The least number there may be: it is not given"),
        ("question", {"upper": "-1"}, "not above the least"),
        ("question", {"step": "7"}, "whole number of steps apart"),
        ("question", {"combine": "double"}, "it is not chosen"),
        ("question", {"group": "ward"}, "none is named"),
        ("question", {"group": "ward", "groups": "70\n70"}, "named twice"),
        ("question", {"group": "ward", "groups": "70", "list": "wards.csv"}, "named twice"),
        ("question", {"group": "ward", "list": "wards.csv"}, "no column that is called 'ward'"),
        ("question", {"group": "ward", "list": "../wards.csv"}, "not one below the folder"),
        ("question", {"groups": "70"}, "no column of them is chosen"),
        ("promise", {"never": "low"}, "it is not chosen"),
        ("strength", {"epsilon": "-1"}, "-1"),
    ],
)
def test_a_wrong_answer_about_a_table_is_said_and_nothing_is_written(
    step: str, given: dict[str, str], said: str, seat: Seat, town: Town
) -> None:
    steps = list(MEDIAN)
    hospital("count, by a list")
    name = walked(seat, "h.csv", {each: MEDIAN[each] for each in steps[: steps.index(step)]})
    before = seat.desk.drafts.read(name).sections
    answer = seat.post(f"/drafts/{name}/{step}", MEDIAN[step] | given)
    assert (answer.status_code, said in text_of(answer)) == (422, True), text_of(answer)
    assert seat.desk.drafts.read(name).sections == before


def test_another_question_asks_again_what_must_never_be_wrong_where_it_must(seat: Seat, town: Town) -> None:
    name = walked(seat, hospital("")[0], {**TIMED, "window": TIMED["window"]})
    assert "protect" in seat.desk.drafts.read(name).sections
    seat.post(
        f"/drafts/{name}/question", {"kind": "histogram", "column": "age", "lower": "0", "upper": "100", "step": "10"}
    )
    assert seat.desk.drafts.read(name).sections["protect"]["notion"] == "addition-only"
    seat.post(f"/drafts/{name}/question", MEDIAN["question"])
    assert "protect" not in seat.desk.drafts.read(name).sections
    assert "not answered yet" in text_of(seat.get(f"/drafts/{name}/strength"))
    seat.post(f"/drafts/{name}/table", {"person": "patient"})
    assert "window" not in seat.desk.drafts.read(name).sections, "no time is meant any more"


def test_what_was_answered_of_a_table_is_offered_again(seat: Seat, town: Town) -> None:
    hospital("")
    groups = {"kind": "percentile", "p": "25, 75", "group": "ward", "groups": "70\n71"}
    name = walked(seat, "h.csv", MEDIAN | {"question": MEDIAN["question"] | groups})
    page = seat.get(f"/drafts/{name}/question").text
    for said in ('value="25, 75"', 'value="ward" selected', ">70\n71</textarea>", 'value="age" selected'):
        assert said in page, said
    assert 'value="close" checked' in seat.get(f"/drafts/{name}/promise").text
    assert "(chosen)" in text_of(seat.get(f"/drafts/{name}/question?kind="))


@pytest.mark.parametrize(
    ("kind", "within", "over"), [("median", "20", "1000"), ("mean", "1.5", "10000"), ("sum", "300", "1000")]
)
def test_accuracy_first_gives_the_least_epsilon_of_a_number(
    kind: str, within: str, over: str, seat: Seat, town: Town
) -> None:
    hospital("")
    name = walked(seat, "h.csv", MEDIAN | {"question": MEDIAN["question"] | {"kind": kind}})
    draft = seat.desk.drafts.read(name)

    def planned(epsilon: str) -> Any:
        return draft.spec(protect={**draft.sections["protect"], "epsilon": epsilon}).plans()[0]

    found = least_epsilon_within(planned, Fraction(within), int(over))
    assert found is not None
    below = str(Fraction(found) - Fraction(1, 1000))
    assert error_of(planned(found), int(over)) <= float(within) < error_of(planned(below), int(over))
    page = text_of(seat.get(f"/drafts/{name}/strength?within={within}&count={over}"))
    assert f"For an error of at most {within}: ε = {found}" in page
    assert least_epsilon_within(planned, Fraction(1, 10**9), int(over)) is None
    (line,) = error_curve(planned, "0.7", int(over)).data
    drawn = dict(zip(line.x, line.y, strict=True))
    assert [*drawn] == [0.1, 0.2, 0.5, 0.7, 1, 2, 5]
    assert drawn[0.7] == error_of(planned("0.7"), int(over))


def test_a_table_with_times_waits_for_its_window(seat: Seat, town: Town) -> None:
    name = walked(seat, hospital("")[0], {step: TIMED[step] for step in ("table", "question")})
    assert seat.get(f"/drafts/{name}/window").status_code == 200
    assert "what comes before it is not answered yet" in text_of(seat.get(f"/drafts/{name}/promise"))


def test_every_kind_of_a_table_can_be_asked(seat: Seat, town: Town) -> None:
    name = walked(seat, hospital("")[0], {"table": MEDIAN["table"]})
    page = seat.get(f"/drafts/{name}/question").text
    assert {kind for kind in ASKED if f"?kind={kind.replace(' ', '%20')}" in page} == {*ASKED} - {"visitors"}
    for kind in {*ASKED} - {"visitors"}:
        assert seat.get(f"/drafts/{name}/question?kind={kind}").status_code == 200
        assert promises({"kind": kind, "lower": "-1"})


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("query", {"accept_useless": True}),
        ("query", {"people": 9}),
        ("query", {"by": {"ward": ["70"], "floor": ["1"]}}),
        ("query", {"by": "ward"}),
        ("query", {"kind": "busiest"}),
        ("query", {"kind": ["median"]}),
        ("query", {"mechanism": "rank"}),
        ("data", {"visits": "../../../visits.csv"}),
        ("data", {"keep": {"ward": ["70"]}}),
        ("places", {"table": "../../../places.csv", "place": "venue"}),
        ("protect", {"notion": "bounded-dp"}),
        ("decide", {"safe_at_most": 2, "useful_from": "0"}),
    ],
)
def test_a_draft_that_says_what_no_page_asks_is_refused(
    section: str, keys: dict[str, Any], seat: Seat, town: Town
) -> None:
    from leeward.spec._draft import written

    name = walked(seat, hospital("")[0], MEDIAN)
    draft = seat.desk.drafts.read(name)
    changed = draft.with_section(section, {**draft.sections.get(section, {}), **keys})
    (draft.folder / "spec.toml").write_text(written(changed.sections).replace("= True", "= true"), "utf-8")
    assert "what the desk does not ask" in text_of(seat.get(f"/drafts/{name}/release"))


def test_marks_that_may_stand_between_thousands_are_asked(seat: Seat, town: Town) -> None:
    (seat.folder / "pay.csv").write_text('who,pay\na,"1,250"\nb,"87,900"\nc,900\n', "utf-8")
    name = walked(seat, "pay.csv", {"table": {"person": "who", "time": ""}})
    asked = {"kind": "mean", "column": "pay", "lower": "0", "upper": "99000", "step": "1", "combine": "refuse"}
    page = seat.get(f"/drafts/{name}/question?kind=mean")
    assert 'name="decimal"' in page.text
    for said, told in (("", "or stand between thousands"), ("point", "Save the table without marks between thousands")):
        answer = seat.post(f"/drafts/{name}/question", asked | {"decimal": said})
        assert (answer.status_code, told in text_of(answer)) == (422, True)
    assert "query" not in seat.desk.drafts.read(name).sections
    assert seat.post(f"/drafts/{name}/question", asked | {"decimal": "comma"}).status_code == 303
    assert seat.desk.drafts.read(name).sections["data"]["decimal"] == ","
    again = seat.get(f"/drafts/{name}/question").text
    assert '<option value="comma" selected>' in again
