"""The path of the desk: each step writes what it is told into the spec, and the release is that of the command."""

from __future__ import annotations

import hashlib
import html
import json
import re
import threading
import time
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_init import FLAGS, INSIDE, ROWS, drafted
from tests.desk.conftest import Seat, write_tables
from tests.desk.walk import ANSWERS, done, walked
from tests.session.conftest import Town

import leeward as lw
from leeward.desk._jobs import CancelledError, Job, Jobs
from leeward.desk._release import truth
from leeward.desk._releases import kept
from leeward.desk._risk import PRIORS, belief_at_most, risks
from leeward.desk._strength import least_epsilon
from leeward.desk._worth import odds
from leeward.exact._weight import exp, weight
from leeward.ledger import Ledger
from leeward.planner import Plan
from leeward.session import _session as session
from leeward.spec import read_spec

OPEN = {"opens": "yes"}


def text_of(answer: Any) -> str:
    """What a page says, on one line and without its marks."""
    shown = re.sub(r"<script.*?</script>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return " ".join(html.unescape(shown).split())


def test_the_path_writes_the_spec_that_init_writes(
    seat: Seat, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    flags = [*FLAGS, "--people", "25", "--dataset", "town"]
    expected = drafted(Town(tmp_path, capsys), "visits.csv", "places.csv", *flags)
    name = walked(seat)
    sections = {key: dict(keys) for key, keys in seat.desk.drafts.read(name).sections.items()}
    above = {("data", "visits"), ("places", "table"), ("budget", "ledger")}
    for section, key in above:
        assert sections[section].pop(key) == "../../../" + expected[section].pop(key)
    assert sections == expected


def test_a_release_opens_its_budget_only_when_told_and_is_told_with_what_it_bought(seat: Seat) -> None:
    name = walked(seat)
    refused = seat.post(f"/drafts/{name}/release")
    assert refused.status_code == 422
    assert "This opens a new budget of 'town', with a cap of 4" in text_of(refused)
    assert Ledger.find(seat.desk.ledger) is None
    looked = text_of(done(seat, seat.post(f"/drafts/{name}/check")))
    assert f"{INSIDE} rows" in looked
    assert Ledger.find(seat.desk.ledger) is None
    shown = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "For you only: 1 was charged, and the budget was opened." in shown
    assert "3 left of 4" in shown
    again = text_of(done(seat, seat.post(f"/drafts/{name}/release")))
    assert "it was paid for before: nothing was charged" in again
    history = text_of(seat.get("/history"))
    assert "of 4 places" in history
    assert "The budget was opened" in history
    assert "3 left 1 spent 4 in all" in history


def test_the_spec_of_the_desk_gives_the_same_stored_answer_everywhere(
    seat: Seat, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    mine = kept(seat.desk, f"{name}-1")
    elsewhere = tmp_path / "downloads"
    elsewhere.mkdir()
    town, answers = Town(elsewhere, capsys), (mine.folder / "answers.csv").read_bytes()
    (elsewhere / "saved.toml").write_bytes(seat.get(f"/drafts/{name}/spec.toml").content)
    for at, spec in enumerate((elsewhere / "saved.toml", seat.folder / "leeward-desk" / "drafts" / name / "spec.toml")):
        code, out, err = town.run("release", str(spec), "--out", str(elsewhere / f"out-{at}"), "--json")
        assert code == 0, err
        assert json.loads(out)["releases"][0]["charged"] == "0"
        assert (elsewhere / f"out-{at}" / "answers.csv").read_bytes() == answers
    read = read_spec(elsewhere / "saved.toml")
    again = lw.release(read.plans()[0], read.ledger())
    assert again.statement.entry == mine.statement.entry
    assert again.curator.charged == "0"


def test_a_draft_that_makes_no_spec_is_not_said_to_be_ready(seat: Seat) -> None:
    name = walked(seat)
    assert "ready to release" in text_of(seat.get("/"))
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    file.write_text(file.read_text("utf-8").replace('cap = "4"', 'cap = "four"'), "utf-8")
    assert ("ready to release" in text_of(seat.get("/")), f"{name} begun" in text_of(seat.get("/"))) == (False, True)


def test_a_spec_that_is_taken_elsewhere_names_the_same_files_and_the_same_ledger(seat: Seat) -> None:
    name = walked(seat)
    taken = tomllib.loads(seat.get(f"/drafts/{name}/spec.toml").text)
    assert [taken["data"]["visits"], taken["places"]["table"], taken["budget"]["ledger"]] == [
        str(seat.folder / file) for file in ("visits.csv", "places.csv", "budget.db")
    ]


@pytest.mark.parametrize("step", ["places", "window", "promise", "strength", "check", "release"])
def test_a_step_waits_for_those_before_it(seat: Seat, step: str) -> None:
    name = seat.drafted()
    assert "not answered yet" in text_of(seat.get(f"/drafts/{name}/{step}"))


WRONG = [
    ("visits", {"person": ""}, "it is not chosen"),
    ("visits", {"person": "nobody"}, "nobody"),
    ("visits", {"place": "", "time": "when"}, "it is not chosen"),
    ("visits", {"time": "user"}, "no times in a format that is known"),
    ("places", {"file": "../places.csv"}, "not one below the folder"),
    ("places", {"place": ""}, "it is not chosen"),
    ("places", {"longitude": ""}, "has two"),
    ("window", {"start": ""}, "it is not given"),
    ("window", {"end": "2026-03-14T19:00"}, "empty or reversed"),
    ("window", {"start": "yesterday"}, "yesterday"),
    ("promise", {"never": "both"}, "it is not chosen"),
    ("promise", {"people": "-1"}, "not a number of people"),
    ("strength", {"epsilon": "-1"}, "-1"),
    ("strength", {"epsilon": "one"}, "one"),
    ("strength", {"cap": "0"}, "cap"),
    ("strength", {"dataset": ""}, "dataset"),
]


@pytest.mark.parametrize(("step", "answers", "said"), WRONG)
def test_a_wrong_answer_is_said_and_nothing_is_written(
    seat: Seat, step: str, answers: dict[str, str], said: str
) -> None:
    steps = list(ANSWERS)
    at = steps.index(step)
    name = walked(seat, steps[at - 1]) if at else seat.drafted()
    before = seat.desk.drafts.read(name).sections
    answer = seat.post(f"/drafts/{name}/{step}", ANSWERS[step] | answers)
    assert answer.status_code == 422
    assert said in text_of(answer)
    assert seat.desk.drafts.read(name).sections == before


def test_what_was_answered_is_offered_again(seat: Seat) -> None:
    name = walked(seat, promise={"never": "neither", "people": "7"}, strength={"epsilon": "0.5"})
    assert 'value="neither" checked' in " ".join(seat.get(f"/drafts/{name}/promise").text.split())
    assert 'value="2026-03-14T19:00"' in seat.get(f"/drafts/{name}/window").text
    assert 'value="venue" selected' in seat.get(f"/drafts/{name}/places").text
    page = text_of(seat.get(f"/drafts/{name}/strength"))
    assert "Keep ε = 0.5" in page
    assert "by the number of people counted there, at ε = 0.5" in page, "somebody at two places counts at one of them"
    assert "Release for ε = 0.5" in text_of(seat.get(f"/drafts/{name}/release"))
    assert f'href="/drafts/{name}/check"' in seat.get("/").text


def test_accuracy_first_gives_the_least_epsilon(seat: Seat) -> None:
    name = walked(seat, promise={"people": "2"})
    spec = seat.desk.drafts.read(name).spec()
    found = least_epsilon(spec, 0, Fraction(9, 10))
    assert found is not None
    options = lw.compare(spec.counted()[0], spec.notion(), lw.Decide(safe_at_most=2)).options
    (mine,) = [one for one in options if one.notion.name == "addition-only" and one.mechanism == "geometric"]
    assert mine.epsilon_for(0, "0.9") == spec.notion().with_epsilon(found)
    below = str(Fraction(found) - Fraction(1, 1000))
    for epsilon, enough in ((found, True), (below, False)):
        rule = lw.plan(spec.counted()[0], lw.AdditionOnly(epsilon), lw.Decide(safe_at_most=2)).sanitizer
        assert rule is not None
        assert (rule.probability(0) >= weight(Fraction(9, 10))) == enough
    page = text_of(seat.get(f"/drafts/{name}/strength?count=0&chance=90"))
    assert f"For 90 % at 0 people: ε = {found}" in page
    assert "100 %: it is not between 0 and 100" in text_of(seat.get(f"/drafts/{name}/strength?count=0&chance=100"))
    assert "enough for 3 more like it" in text_of(seat.get(f"/drafts/{name}/strength?epsilon=1&cap=4"))
    assert "left after it, enough" not in text_of(seat.get(f"/drafts/{name}/strength?epsilon=3&cap=4"))
    assert least_epsilon(spec, 3, Fraction(1, 2)) is None
    assert least_epsilon(spec, 2, Fraction(1, 10)) is not None, "two people are safe, too"
    name = walked(seat, promise={"never": "dangerous", "people": "9"})
    spec = seat.desk.drafts.read(name).spec()
    assert [least_epsilon(spec, count, Fraction(1, 10)) is None for count in (8, 9)] == [True, False]


def test_only_what_is_certain_is_said_to_be_never_or_always(seat: Seat) -> None:
    """Of at most 3 people and of at most 7: chances of 1.5e-8, and of 1 less 10⁻¹⁸, which is 1 as a float."""
    for people in ("3", "7"):
        name = walked(seat, promise={"never": "neither", "people": people}, strength={"epsilon": "6", "cap": "9"})
        (made,) = seat.desk.drafts.read(name).spec().plans()
        assert isinstance(made, Plan)
        for count, chances in odds(made):
            assert {"never", "100.0 %"}.isdisjoint(chances), count
        page = text_of(seat.get(f"/drafts/{name}/strength"))
        assert ("6 under 0.1 %" if people == "3" else "0 99.9 %") in page


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_the_risk_is_the_promise_with_bayes_rule(epsilon: str) -> None:
    for prior in PRIORS:
        odds = exp(epsilon) * prior / (weight(1) - prior)
        exactly = float(odds / (odds + 1))
        shown = float(belief_at_most(prior, epsilon))
        assert exactly <= shown <= exactly + 2e-6
    for prior, (before, after, _) in zip(PRIORS, risks(epsilon), strict=True):
        odds = exp(epsilon) * prior / (weight(1) - prior)
        assert float(before.removesuffix(" %")) == float(prior) * 100
        assert 0 <= float(after.removesuffix(" %")) - 100 * float(odds / (odds + 1)) < 0.11, "it is at most so much"


def test_a_page_of_the_plan_says_what_follows_from_the_promise(seat: Seat) -> None:
    certain = "never , of those counted"
    for never, wrong in (("safe", certain), ("neither", "a chance of at most 0.01"), ("dangerous", certain)):
        name = walked(seat, promise={"never": never, "people": "9"})
        assert wrong in text_of(seat.get(f"/drafts/{name}/strength")), never


def test_a_doubtful_release_stops_and_is_not_charged(seat: Seat) -> None:
    name = walked(seat, window={"start": "2020-01-01T00:00", "end": "2020-01-02T00:00"})
    page = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "Nothing was charged." in page
    assert not list(seat.desk.released.iterdir())
    assert "would be refused" in text_of(done(seat, seat.post(f"/drafts/{name}/check")))
    assert "The look found:" in text_of(seat.get(f"/drafts/{name}/release"))
    assert "1 was charged" in text_of(done(seat, seat.post(f"/drafts/{name}/release", {**OPEN, "doubtful": "yes"})))


def test_a_release_that_is_cancelled_before_it_is_paid_for_charges_nothing(
    seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, request = walked(seat), session.Session.request

    def cancelled(self: Any, priced: Any, *given: Any, **named: Any) -> Any:
        seat.post("/jobs/1/cancel")
        return request(self, priced, *given, **named)

    monkeypatch.setattr(session.Session, "request", cancelled)
    page = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "This was cancelled." in page
    assert "Nothing was charged." in page
    assert not list(seat.desk.released.iterdir())
    ledger = Ledger.find(seat.desk.ledger)
    assert ledger is not None
    assert ledger.show("town") == []


def test_what_was_charged_is_told_where_a_release_fails_after_it(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    name = walked(seat)

    def full(*_: Any, **__: Any) -> Any:
        raise lw.LeewardError("The disk", "it is full", "Make room")

    with monkeypatch.context() as patch:
        patch.setattr(session.Session, "publish", full)
        page = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
        again = text_of(done(seat, seat.post(f"/drafts/{name}/release")))
    assert "Nothing was charged now; 1 was charged for this question before." in again
    assert "The disk: it is full." in page
    assert "1 was charged for it; asking the same again costs nothing more." in page
    assert "it was paid for before: nothing was charged" in text_of(done(seat, seat.post(f"/drafts/{name}/release")))
    assert truth({}, {}, own=True) == "Nothing was charged."
    before = {"a": Fraction(1, 2)}
    assert truth(before, before, own=True) == "Nothing was charged now; 0.5 was charged for this question before."


def test_what_is_paid_for_is_shown_although_it_is_cancelled(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    name, publish = walked(seat), session.Session.publish

    def late(self: Any, *given: Any, **named: Any) -> Any:
        seat.post("/jobs/1/cancel")
        return publish(self, *given, **named)

    monkeypatch.setattr(session.Session, "publish", late)
    assert "1 was charged" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))


def test_a_job_ends_once_and_what_is_cleaned_up_is_not_cut_short() -> None:
    job = Job(1, "a", "b")
    job.progress("counting", 0.5)
    job.cancel()
    for stage in ("saving", "saved", "stored"):
        job.progress(stage)
    with pytest.raises(CancelledError):
        job.progress("counting")
    job.cancel()
    job.progress("withdrawing")


def test_a_job_that_fails_says_nothing_of_what_it_held() -> None:
    told = list[str]()

    def broken(_: Any) -> Any:
        raise ValueError("secret-0")

    job = Jobs(told.append).start("a", "b", broken)
    job.wait(5)
    assert "ValueError" in job.refused
    assert "secret-0" not in job.refused + "".join(told) + repr(job)


def test_the_end_of_a_desk_is_the_end_of_its_work_and_an_end_that_fails_is_told() -> None:
    jobs, going = Jobs(lambda _: None), threading.Event()

    def endless(progress: Any) -> None:
        for _ in range(3_000):
            progress("counting")
            going.set()
            time.sleep(0.01)

    def refused(_: Any) -> str:
        raise lw.LeewardError("The ledger", "it is locked", "Try later")

    job = jobs.start("a", "b", endless, refused)
    assert going.wait(60)
    jobs.close(20)
    assert (job.runs, job.refused) == (False, "This was cancelled. Nothing of it is kept.")
    assert job.note == "The ledger: it is locked. Try later."

    def known(_: Any) -> Any:
        error = lw.LeewardError("The table", "it is empty", "Choose another")
        error.add_note("Nothing was charged.")
        raise error

    job = jobs.start("c", "d", known)
    job.wait(60)
    assert job.refused == "The table: it is empty. Choose another. Nothing was charged."


def test_a_defect_of_what_a_job_does_or_of_how_its_end_is_told_is_told_itself() -> None:
    """Found: one in telling the end left a page that said nothing of what was charged."""
    told: list[str] = []

    def defect(_: Any) -> str:
        raise ZeroDivisionError("a value")

    job = Jobs(told.append).start("a", "b", defect, defect)
    job.wait(60)
    assert job.refused == job.note == "An unexpected ZeroDivisionError: a defect of Leeward's; please report it."
    assert told == ["leeward: the desk met an unexpected ZeroDivisionError; please report it."] * 2


def test_a_job_that_is_gone_is_said_to_be(seat: Seat) -> None:
    for answer in (seat.get("/jobs/7"), seat.post("/jobs/7/cancel")):
        assert answer.status_code == 404
        assert "started anew" in text_of(answer)


def test_files_of_a_release_are_those_that_were_written(seat: Seat) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    folder = seat.desk.released / f"{name}-1"
    report = seat.get(f"/releases/{name}-1/report.html")
    assert report.content == (folder / "report.html").read_bytes()
    assert report.headers["content-security-policy"].startswith(
        "sandbox allow-scripts allow-downloads; default-src 'none'"
    )
    assert seat.get(f"/releases/{name}-1/answers.csv").headers["content-disposition"].startswith("attachment")
    for file in ("leeward-files.json", "spec.toml", "%2e%2e%2fspec.toml", "nothing"):
        assert seat.get(f"/releases/{name}-1/{file}").status_code == 404, file
    (folder / "report.html").write_text("<script>alert(1)</script>")
    assert seat.get(f"/releases/{name}-1/report.html").status_code == 404
    digests = json.loads((folder / "leeward-files.json").read_text("utf-8"))
    for planted in (lambda file: file.write_bytes(b""), lambda file: pq.write_table(pa.table({"a": [1]}), file)):
        planted(folder / "answers.parquet")
        digests["files"]["answers.parquet"] = [hashlib.sha256((folder / "answers.parquet").read_bytes()).hexdigest()]
        (folder / "leeward-files.json").write_text(json.dumps(digests), "utf-8")
        assert "not as it was written" in text_of(seat.get(f"/releases/{name}-1"))
    for other in ("nothing", f"{name}-1x", "A"):
        assert seat.get(f"/releases/{other}").status_code in (404, 422)
    assert seat.get("/history").status_code == 200


def test_positions_are_asked_about_a_box(seat: Seat) -> None:
    lines = ["user,lat,lon,when", *(f"{u},35.{i:02},139.75,{w.isoformat()}" for i, (u, _, w) in enumerate(ROWS))]
    (seat.folder / "positions.csv").write_text("\n".join(lines))
    name = seat.drafted("positions.csv")
    assert seat.post(f"/drafts/{name}/visits", {"person": "user", "place": "", "time": "when"}).status_code == 303
    box = {"west": "139.7", "south": "34.9", "east": "139.8", "north": "35.5", "metres": "5000"}
    assert "is not a number" in text_of(seat.post(f"/drafts/{name}/places", box | {"metres": "far"}))
    assert seat.post(f"/drafts/{name}/places", box).status_code == 303
    for step in ("window", "promise", "strength"):
        assert seat.post(f"/drafts/{name}/{step}", ANSWERS[step]).status_code == 303
    assert tomllib.loads(seat.get(f"/drafts/{name}/spec.toml").text)["places"]["grid"]["metres"] == 5000.0
    assert "1 was charged" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))


def test_visits_with_a_place_and_a_position_are_by_the_one_that_is_chosen(seat: Seat) -> None:
    lines = ["user,venue,lat,lon,when", *(f"{u},{v},35.1,139.75,{w.isoformat()}" for u, v, w in ROWS)]
    (seat.folder / "both.csv").write_text("\n".join(lines))
    name = seat.drafted("both.csv")
    assert 'value="venue" selected' in seat.get(f"/drafts/{name}/visits").text
    for place, said in (("venue", {"place": "venue"}), ("", {"latitude": "lat", "longitude": "lon"})):
        answered = {"person": "user", "place": place, "time": "when"}
        assert seat.post(f"/drafts/{name}/visits", answered).status_code == 303
        data = seat.desk.drafts.read(name).sections["data"]
        assert {key: data[key] for key in ("place", "latitude", "longitude") if key in data} == said
        offered = 'value="venue" selected' in seat.get(f"/drafts/{name}/visits").text
        assert offered == (place == "venue"), "what was answered is offered again"


def test_a_length_of_windows_that_no_page_offers_is_shown_and_kept(seat: Seat) -> None:
    name = walked(seat, "window", window={"every": "20min"})
    assert 'value="20min" selected' in seat.get(f"/drafts/{name}/window").text


def test_a_script_in_the_name_of_a_place_is_text_on_every_page(seat: Seat) -> None:
    evil = "<script>alert(1)</script>"
    (seat.folder / "places.csv").write_text(f'venue,name,lat,lon\npool,{evil},35,139\n"{evil}",b,35,139\n', "utf-8")
    name = walked(seat)
    pages = [seat.get(f"/drafts/{name}/{step}") for step in (*ANSWERS, "check", "release")]
    pages += [done(seat, seat.post(f"/drafts/{name}/check")), done(seat, seat.post(f"/drafts/{name}/release", OPEN))]
    for page in (*pages, seat.get("/history")):
        assert page.status_code == 200
        scripts = re.findall(r"<script[^>]*>", page.text)
        assert all(" src=" in one or 'type="application/json"' in one for one in scripts)
        assert " style=" not in page.text
        assert (
            " on" not in "".join(re.findall(r"<[a-z][^>]*>", page.text)).replace(" onto", "")
            or "onerror" not in page.text
        )


def test_a_table_that_grew_is_looked_at_again_and_released_under_another_version(seat: Seat) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/check"))
    assert "You have not looked" not in text_of(seat.get(f"/drafts/{name}/release"))
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    visits = seat.folder / "visits.csv"
    visits.write_text(visits.read_text("utf-8") + f"\nnew,{ROWS[0][1]},2026-03-14T19:05:00\n", "utf-8")
    assert "You have not looked" in text_of(seat.get(f"/drafts/{name}/release"))
    done(seat, seat.post(f"/drafts/{name}/check"))
    assert "You have not looked" not in text_of(seat.get(f"/drafts/{name}/release"))
    other = ANSWERS["strength"] | {"epsilon": "1/2"}
    assert seat.post(f"/drafts/{name}/strength", other).status_code == 303
    assert "Give the data a new version" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert seat.post(f"/drafts/{name}/strength", other | {"version": "2"}).status_code == 303
    shown = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "For you only: 0.5 was charged." in shown
    assert "2.5 left of 4" in shown


@pytest.mark.parametrize("what", ["the list", "the question"])
def test_a_look_is_of_what_is_asked_now(seat: Seat, what: str) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/check"))
    assert "You have not looked" not in text_of(seat.get(f"/drafts/{name}/release"))
    if what == "the list":
        places = seat.folder / "places.csv"
        places.write_text(places.read_text("utf-8") + "\nanother,ANOTHER,35.9,139.7\n", "utf-8")
    else:
        later = ANSWERS["window"] | {"end": "2026-03-14T21:00"}
        assert seat.post(f"/drafts/{name}/window", later).status_code == 303
    assert "You have not looked" in text_of(seat.get(f"/drafts/{name}/release"))


def test_a_look_at_what_would_say_nothing_is_a_look_all_the_same(seat: Seat) -> None:
    name = walked(seat, strength={"epsilon": "0.001"})
    looked = text_of(done(seat, seat.post(f"/drafts/{name}/check")))
    page = text_of(seat.get(f"/drafts/{name}/release"))
    assert "I want it all the same" in page, "or this shows nothing"
    assert ("You have not looked" in page, "The look found:" in page, "would be refused" in looked) == (False,) * 3


def test_a_decimal_comma_is_read_and_what_may_be_thousands_is_not(seat: Seat) -> None:
    name = walked(seat, "promise")
    commas = ANSWERS["strength"] | {"epsilon": "0,5", "cap": "2,5"}
    assert seat.post(f"/drafts/{name}/strength", commas).status_code == 303
    sections = seat.desk.drafts.read(name).sections
    assert (sections["protect"]["epsilon"], sections["budget"]["cap"]) == ("0.5", "2.5")
    assert seat.post(f"/drafts/{name}/strength", commas | {"cap": "1,000"}).status_code == 422
