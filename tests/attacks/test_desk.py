# SPDX-License-Identifier: Apache-2.0
"""An attack on the desk: drafts that other hands wrote, pages out of date, odd words in forms, ends at every step."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.desk.conftest import Seat, write_tables
from tests.desk.walk import ANSWERS, done, walked

from leeward.desk import _release
from leeward.desk._jobs import Job, Jobs
from leeward.desk._releases import all_kept
from leeward.ledger import Ledger
from leeward.outputs import MANIFEST

OPEN = {"opens": "yes", "doubtful": "yes", "useless": "yes"}


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    """A desk over a little town, with a browser that was let in."""
    write_tables(tmp_path)
    made = Seat(tmp_path).enter()
    yield made
    made.desk.jobs.close()


def spent(seat: Seat) -> str:
    """What the budget has spent of ε, as text; nothing where it is not open."""
    ledger = Ledger.find(seat.desk.ledger)
    return " ".join(str(each.spent) for each in ledger.show()) if ledger else ""


def _without(section: str, text: str, instead: str = "") -> str:
    return instead + re.sub(rf"(?ms)^\[{section}\].*?(?=^#|^\[|\Z)", "", text)


FORGED = {
    "a number as length": lambda t: re.sub(r"end = .*", 'end = "2026-03-14T21:00"\nevery = 60', t),
    "a list of windows": lambda t: _without(
        "window",
        t,
        'windows = [{ start = "2026-03-14T19:00", end = "2026-03-14T20:00" }, '
        '{ start = "2026-03-14T20:00", end = "2026-03-14T21:00" }]\n',
    ),
    "a name": lambda t: _without("decide", t) + '\n[query]\nkind = "busiest"\n',
    "two questions": lambda t: t + '\n[[query]]\nkind = "visitors"\n[[query]]\nkind = "visitors"\n',
    "counts too": lambda t: t + '\n[publish]\nwhat = "counts"\n',
    "several stops": lambda t: t + '\n[publish]\nmechanism = "sanitized"\nstop_after = 2\n',
    "some rows": lambda t: t.replace("[data]", '[data]\nkeep = { venue = ["a"] }'),
    "of everyone": lambda t: t.replace("[decide]", '[decide]\nabout = "everyone"\nleft_out = 3'),
    "more places": lambda t: re.sub(r"places_per_person = 1", "places_per_person = 3", t),
    "two prices": lambda t: re.sub(r"epsilon = .*", 'presence = "1"\nabsence = "2"', t),
    "another budget": lambda t: re.sub(r"ledger = .*", 'ledger = "../../../other.db"', t),
    "a number as version": lambda t: t.replace("[budget]", "[budget]\nversion = 2"),
    "another engine": lambda t: t.replace("[data]", '[data]\nengine = "spark"'),
    "a number as data": lambda t: _without("data", t, "data = 5\n"),
    "a list as budget": lambda t: _without("budget", t, 'budget = ["a"]\n'),
    "a number as decision": lambda t: _without("decide", t, "decide = 3\n"),
    "a number as window": lambda t: _without("window", t, "window = 3\n"),
    "a whole ε": lambda t: re.sub(r"epsilon = .*", "epsilon = 1", t),
    "a cap in a list": lambda t: re.sub(r"cap = .*", "cap = [5]", t),
    "a folder": lambda t: 'folder = "/etc"\n' + t,
    "a section more": lambda t: t + "\n[zzz]\na = 1\n",
    "true people": lambda t: re.sub(r"safe_at_most = \d+", "safe_at_most = true", t),
    "nothing": lambda t: "",
}


def test_a_draft_that_says_what_the_desk_does_not_ask_is_refused_and_nothing_is_charged(seat: Seat) -> None:
    name = walked(seat)
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    sound = file.read_text()
    for how, forge in FORGED.items():
        file.write_text(forge(sound))
        assert file.read_text() != sound, how
        answers = [seat.get(f"/drafts/{name}/{page}") for page in ("strength", "spec.toml")]
        answers += [seat.post(f"/drafts/{name}/{step}", ANSWERS.get(step, OPEN)) for step in ("promise", "release")]
        assert [each.status_code for each in answers] == [422] * 4, how
        assert seat.get("/").status_code == 200, how
    assert (spent(seat), seat.told, list(seat.folder.glob("other.db*"))) == ("", [], [])
    file.write_text(sound)
    assert seat.get(f"/drafts/{name}/strength").status_code == 200


@pytest.mark.parametrize("linked", ["leeward-desk", "leeward-desk/drafts", "leeward-desk/releases", "budget.db"])
def test_what_the_desk_keeps_in_its_folder_is_not_elsewhere_by_a_link(tmp_path: Path, linked: str) -> None:
    """A draft whose path is of the folder by its letters, and of another by where the link leads, would be counted there."""
    town, beside = tmp_path / "town", tmp_path / "a" / "b" / "c"
    for folder in (town, beside / "drafts" / "mine"):
        folder.mkdir(parents=True)
    write_tables(town)
    (beside / "drafts" / "mine" / "spec.toml").write_text('[data]\nvisits = "../../../visits.csv"\n')
    (beside / "drafts" / "mine" / "leeward-files.json").write_text("{}")
    for folder in (beside, beside.parent):
        (folder / "visits.csv").write_text("user,venue,when\ncanary,a,2026-03-14T19:00\n")
    (town / linked).parent.mkdir(exist_ok=True)
    (town / linked).symlink_to(beside / Path(linked).name if "/" in linked else beside)
    seat = Seat(town).enter()
    told = [seat.get(page) for page in ("/", "/drafts/mine/visits", "/history", "/releases/mine-1")]
    told += [seat.post("/drafts", {"file": "visits.csv"})]
    if told[-1].status_code == 303:
        name = walked(seat, "promise")
        told += [seat.get(f"/drafts/{name}/strength"), seat.post(f"/drafts/{name}/strength", ANSWERS["strength"])]
        released = seat.post(f"/drafts/{name}/release", OPEN)
        told.append(done(seat, released) if released.status_code == 303 else released)
    assert not any("canary" in each.text for each in told)
    assert any("it is a link" in each.text for each in told)
    assert not seat.told
    assert sorted(each.name for each in beside.rglob("*")) == [
        "drafts",
        "leeward-files.json",
        "mine",
        "spec.toml",
        "visits.csv",
    ]
    seat.desk.jobs.close()


@pytest.mark.parametrize(
    ("step", "instead", "price"),
    [
        ("strength", {"epsilon": "3"}, "3"),
        ("promise", {"people": "26"}, "1"),
        ("window", {"end": "2026-03-14T21:00"}, "1"),
    ],
)
def test_a_release_is_of_what_its_page_showed(step: str, instead: dict[str, str], price: str, seat: Seat) -> None:
    name = walked(seat)
    old = seat.get(f"/drafts/{name}/release").text
    of = re.search(r'name="of" value="(\w+)"', old)
    assert of
    seat.post(f"/drafts/{name}/{step}", ANSWERS[step] | instead)  # in another tab
    for stale in ({"of": of[1]}, {"of": ""}):
        answer = seat.post(f"/drafts/{name}/release", {**OPEN, **stale})
        assert (answer.status_code, spent(seat)) == (422, "")
        assert "another one than the page showed" in answer.text
    assert f"{price} was charged" in done(seat, seat.post(f"/drafts/{name}/release", OPEN)).text


def test_work_on_what_a_draft_said_before_is_not_taken_for_work_on_what_it_says_now() -> None:
    jobs, first = Jobs(print), []

    def work(_: Any) -> None:
        while not first:
            pass

    made = jobs.start("the release", "a", work, of="ε = 1")
    same, other = jobs.start("the release", "a", work, of="ε = 1"), jobs.start("the release", "a", work, of="ε = 2")
    first.append(True)
    assert same is made is not other
    jobs.close()


@pytest.mark.sweep
def test_what_broke_off_is_said_to_be_paid_for(seat: Seat) -> None:
    name = walked(seat)
    if (child := os.fork()) == 0:  # a process that dies between the charge and the answer

        def progress(self: Job, stage: str, share: float = -1.0, /) -> None:
            if stage == "counting":
                os._exit(7)

        Job.progress = progress  # type: ignore[method-assign]
        done(seat, seat.post(f"/drafts/{name}/release", OPEN))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert spent(seat) == "1"
    page = " ".join(re.sub(r"<[^>]+>", " ", seat.get(f"/drafts/{name}/release").text).split())
    assert "0 was paid for before: it broke off 3 left now 3 left afterwards" in page
    assert "it broke off" in seat.get("/history").text
    assert "1 was charged for it" not in done(seat, seat.post(f"/drafts/{name}/release")).text
    assert spent(seat) == "1"


@pytest.mark.parametrize(
    "stage",
    [9, 10, *(pytest.param(each, marks=pytest.mark.sweep) for each in (*range(9), *range(11, 16)))],
)
def test_a_release_that_is_cancelled_at_any_step_is_shown_or_not_charged(
    seat: Seat, monkeypatch: pytest.MonkeyPatch, stage: int
) -> None:
    name, heard, progress = walked(seat), list[str](), Job.progress

    def ended(self: Job, now: str, share: float = -1.0, /) -> None:
        heard.append(now)
        if len(heard) == stage + 1:
            self.cancel()
        progress(self, now, share)

    with monkeypatch.context() as patch:
        patch.setattr(Job, "progress", ended)
        page = done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    is_shown = page.url.path.startswith("/releases/")
    assert len(heard) > stage or (stage == 15 and is_shown)  # the last is of a release that nobody ended
    assert ("1 was charged" in page.text, spent(seat)) == ((True, "1") if is_shown else (False, ""))
    assert is_shown or "Nothing was charged." in page.text
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    assert spent(seat) == "1"


ODD = ["", "\0", "a\0b", "nan", "inf", "1e400", "-1", "9" * 400, "9" * 5000, "1/0", "٣", "²", "../x.csv", "/etc/passwd",
       "visits.csv/", "x" * 300 + ".csv", "é" * 200, "\u202e", "\x1b]0;x\x07", "<script>alert(1)</script>", "{{7*7}}",
       "2026-02-30T00:00", "9999-12-31T23:59:60", "2026-03-14T19:00+99:00", "../../etc/localtime", "%Q", "\r\n", "'\"\\",
       "\ufeff", "\U0010ffff", "[1]", "=1+1", "postgresql://a:pw@h/db", "*.csv"]  # fmt: skip


PARTS = [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(4, len(ODD), 4))]


@pytest.mark.parametrize("step", [*ANSWERS, "drafts"])
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.sweep
def test_no_word_in_a_form_or_an_address_is_a_defect(seat: Seat, step: str, part: int) -> None:
    name = walked(seat)
    right = ANSWERS.get(step, {"file": "visits.csv"})
    for key in (*right, "sheet", "time_format", "timezone", "west", "chance", "count", "cap"):
        for odd in ODD[part : part + 4]:
            answers = [seat.post("/drafts" if step == "drafts" else f"/drafts/{name}/{step}", {**right, key: odd})]
            answers += [seat.get(f"/drafts/{name}/{page}") for page in (step, "strength", "release")]
            answers += [seat.browser.get(f"/drafts/{name}/{step}", params={key: odd})]
            assert ({each.status_code for each in answers} <= {200, 303, 404, 405, 422}, seat.told) == (True, []), (
                key,
                odd,
            )
            assert all("<script>alert" not in each.text for each in answers)
        if step in ANSWERS:
            seat.post(f"/drafts/{name}/{step}", right)


TABLE = {
    "table": {"person": "user", "time": "when"},
    "question": {"kind": "percentile", "column": "age", "lower": "0", "upper": "100", "step": "1", "p": "25, 75",
                 "group": "venue", "groups": "a\nb"},
    "window": {"start": "2026-03-14T19:00", "end": "2026-03-14T20:00", "every": "30min"},
    "promise": {"never": "close", "people": "2"},
    "strength": {"epsilon": "1", "cap": "4", "dataset": "people"},
}  # fmt: skip
"""What is answered at each step about a table."""


@pytest.mark.parametrize("step", TABLE)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.sweep
@pytest.mark.long
def test_no_word_in_a_form_about_a_table_is_a_defect(seat: Seat, step: str, part: int) -> None:
    rows = (f"u{i},{'ab'[i % 2]},2026-03-14T19:{i:02},{i}" for i in range(60))
    (seat.folder / "people.csv").write_text("\n".join(["user,venue,when,age", *rows]))
    name = seat.drafted("people.csv", "table")
    for each, right in TABLE.items():
        assert seat.post(f"/drafts/{name}/{each}", right).status_code == 303
    for key in (*TABLE[step], "combine", "levels", "list", "within", "count"):
        for odd in ODD[part : part + 4]:
            answers = [seat.post(f"/drafts/{name}/{step}", {**TABLE[step], key: odd})]
            answers += [seat.browser.get(f"/drafts/{name}/{step}", params={key: odd})]
            codes = {each.status_code for each in answers}
            assert (codes <= {200, 303, 404, 422}, seat.told) == (True, []), (key, odd)
            assert all("<script>alert" not in each.text for each in answers)
        pages = [seat.get(f"/drafts/{name}/{page}") for page in (step, "strength", "release")]
        assert ({page.status_code for page in pages} <= {200, 422}, seat.told) == (True, []), key
        seat.post(f"/drafts/{name}/{step}", TABLE[step])


def test_a_vast_epsilon_is_certainty() -> None:
    from fractions import Fraction

    from leeward.desk._risk import belief_at_most

    assert belief_at_most(Fraction(1, 100), 10**80) == 1


@pytest.mark.sweep
def test_two_releases_of_one_draft_at_once_have_a_folder_each(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft is changed while its first release is at work: both are paid for, and neither is written over the other."""
    name, both, begun = walked(seat), threading.Barrier(2), _release.refuse_within

    def at_once(*given: Any) -> None:
        both.wait(60)
        begun(*given)

    monkeypatch.setattr(_release, "refuse_within", at_once)
    answers = [seat.post(f"/drafts/{name}/release", OPEN)]
    seat.post(f"/drafts/{name}/strength", {**ANSWERS["strength"], "epsilon": "1/2"})
    answers.append(seat.post(f"/drafts/{name}/release", OPEN))
    for answer in answers:
        assert done(seat, answer).status_code == 200
    assert {one.statement.budget.price for one in all_kept(seat.desk)} == {"1", "1/2"}
    assert sorted(path.name for path in seat.desk.released.iterdir()) == [f"{name}-1", f"{name}-2"]


def people(seat: Seat, question: dict[str, str], person: str = "user", never: str = "safe") -> str:
    """Answer the steps of a question about a table of people, up to its strength, and return the name of the draft."""
    rows = (f"u{i},{'ab'[i % 2]},2026-03-14T19:{i:02},{i}" for i in range(60))
    (seat.folder / "people.csv").write_text("\n".join(["user,venue,when,age", *rows]))
    name = seat.drafted("people.csv", "table")
    for step, given in {
        "table": {"person": person, "time": ""},
        "question": question,
        "promise": {"never": never, "people": "2"},
    }.items():
        assert seat.post(f"/drafts/{name}/{step}", given).status_code == 303
    return name


def words(page: Any) -> str:
    """What a page says."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


GROUPS = {"kind": "count", "group": "venue", "groups": "a\nb"}


@pytest.mark.parametrize("never", ["safe", "dangerous", "neither", "low", "high", "close"])
def test_nothing_is_promised_to_somebody_where_each_row_is_protected_alone(seat: Seat, never: str) -> None:
    """Whoever has k rows is told apart as well as by k times ε: no bettor's bound holds for such a person."""
    name = people(seat, GROUPS, "each row", never)
    promise, strength = (words(seat.get(f"/drafts/{name}/{step}")) for step in ("promise", "strength"))
    assert "somebody with several rows is protected for each of them alone" in promise
    assert promise.count("omebody") == 1
    assert ("person" in promise, "of the people" in promise) == (False, False)
    assert re.search(r"bets that one row is (not )?in it", strength)
    assert "with k of them a bettor gains as much as at k times ε" in strength
    assert ("one person" in strength, "about a person" in strength) == (False, False)
    assert seat.post(f"/drafts/{name}/strength", ANSWERS["strength"] | {"dataset": "rows"}).status_code == 303
    assert "about a person" not in words(seat.get(f"/drafts/{name}/release"))
    spec = (seat.folder / f"leeward-desk/drafts/{name}/spec.toml").read_text()
    assert "# A single row that is " in spec
    assert "omebody" not in spec.partition("[protect]")[0].rpartition("#")[2]
    mine = people(seat, GROUPS, "user", never)
    assert re.search(r"bets that one person is (not )?in it", words(seat.get(f"/drafts/{mine}/strength")))
    assert "with k of them" not in words(seat.get(f"/drafts/{mine}/strength"))


@pytest.mark.parametrize("groups", [{}, {"group": "venue", "groups": "a\nb"}])
def test_the_odds_of_a_mechanism_that_stops_are_of_what_it_asks(seat: Seat, groups: dict[str, str]) -> None:
    """Of ten levels that are all safe at 63 %, the last is called so with 1 %: the others stop before it."""
    name = people(seat, {"kind": "above", "column": "age", "levels": "30, 50", **groups})
    shown = words(seat.get(f"/drafts/{name}/strength"))
    assert "How often a level that is asked is called safe" in shown
    assert "% of the levels that are asked with" in shown
    assert "A level that is asked of which nothing is said although it is safe" in shown
    assert f"The levels{' of each group' if groups else ''} are asked from the highest down" in shown
    for never, kind in (("neither", {"kind": "above", "column": "age", "levels": "30, 50"}), ("safe", GROUPS)):
        assert "asked" not in words(seat.get(f"/drafts/{people(seat, kind, never=never)}/strength"))


@pytest.mark.sweep
def test_a_release_is_told_of_as_it_was_made_also_where_its_folder_was_there_before(seat: Seat) -> None:
    """Whoever moves a release away gets the next into a folder of the same name: what was charged is of the next."""
    name = walked(seat)
    assert "For you only: 1 was charged, and the budget was opened." in words(
        done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    )
    (seat.desk.released / f"{name}-1").rename(seat.folder / "moved")
    assert seat.post(f"/drafts/{name}/strength", {**ANSWERS["strength"], "epsilon": "1/2"}).status_code == 303
    assert "For you only: 0.5 was charged. " in words(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))


@pytest.mark.parametrize("step", ["1/0", "1e999999"])
def test_a_release_that_states_what_is_no_number_leaves_the_others_in_sight(seat: Seat, step: str) -> None:
    """Who wrote it may have made its digests fit."""
    question = {"kind": "percentile", "column": "age", "lower": "0", "upper": "100", "step": "1", "p": "25, 75"}
    name = people(seat, question, never="close")
    seat.post(f"/drafts/{name}/strength", ANSWERS["strength"])
    for _ in range(2):
        assert done(seat, seat.post(f"/drafts/{name}/release", OPEN)).status_code == 200
    folder = seat.desk.released / f"{name}-1"
    stated, listed = (json.loads((folder / file).read_text()) for file in ("release.json", MANIFEST))
    stated["query"]["step"] = step
    forged = json.dumps(stated).encode()
    (folder / "release.json").write_bytes(forged)
    listed["files"]["release.json"] = [hashlib.sha256(forged).hexdigest()]
    (folder / MANIFEST).write_text(json.dumps(listed))
    refused, history = seat.get(f"/releases/{name}-1"), seat.get("/history")
    assert (refused.status_code, history.status_code, seat.told) == (422, 200, [])
    assert f'href="/releases/{name}-2"' in history.text


MARK = "\u200f"  # as an Arabic or Hebrew spreadsheet writes it before a word


def offered(page: str) -> list[str]:
    """What a page's fields would send back, as a browser reads them."""
    fields = re.findall(r'<option value="([^"]*)"', page) + re.findall(
        r'<input type="hidden"[^>]* value="([^"]*)"', page
    )
    return [html.unescape(each) for each in fields + re.findall(r"(?s)<textarea[^>]*>(.*?)</textarea>", page)]


def test_a_form_sends_names_back_as_they_are_however_they_are_shown(seat: Seat) -> None:
    """A page writes marks of direction out where it shows them; a group that came back so would be another one."""
    file, column, group = f"people{MARK}.csv", f"ward{MARK}", f"{MARK}north"
    rows = (f"u{i},{(group, 'south')[i % 2]}" for i in range(60))
    (seat.folder / file).write_text("\n".join([f"user,{column}", *rows]))
    assert file in offered(seat.browser.get("/look", params={"file": file}).text)
    name = seat.drafted(file, "table")
    assert seat.post(f"/drafts/{name}/table", {"person": "user", "time": ""}).status_code == 303
    for groups in (f"{group}\nsouth", None):  # the second time as the page itself would send it
        page = seat.get(f"/drafts/{name}/question?kind=count").text
        assert {column, file} & {*offered(page)}
        sent = {"kind": "count", "group": column, "groups": groups or offered(page)[-1]}
        assert seat.post(f"/drafts/{name}/question", sent).status_code == 303
        assert seat.desk.drafts.read(name).sections["query"]["by"] == {column: [group, "south"]}


def test_every_field_of_a_form_is_filled_with_what_it_sends_back() -> None:
    pages = [(path.name, path.read_text()) for path in (Path(_release.__file__).parent / "assets").glob("*.j2")]
    fields = [(name, found) for name, text in pages for found in re.findall(r'value="(\{\{.*?\}\})"', text)]
    fields += [
        (name, found) for name, text in pages for found in re.findall(r"(?s)<textarea[^>]*>(.*?)</textarea>", text)
    ]
    assert len(fields) > 40
    assert [
        each for each in fields if not re.fullmatch(r"\{\{ ([^()]*|\(.*\)|.*default\(''\)) \| sent \}\}", each[1])
    ] == []
    assert [each for each in fields if " or " in each[1] and not each[1].startswith("{{ (")] == []
