"""What is said and asked before a release, and what is told after it: each sentence with what makes it true."""

from __future__ import annotations

import json
import shutil
from typing import Any, get_args

import pytest
from tests.cli.test_init import hospital
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN, text_of
from tests.desk.test_desk_questions import MEDIAN, TIMED
from tests.desk.test_desk_questions import town as town  # a fixture
from tests.desk.test_desk_questions import walked as of_a_table
from tests.desk.test_desk_shown import lacking
from tests.desk.walk import done, walked
from tests.session.conftest import Town

from leeward._statement import window_of
from leeward.desk._drafts import _refuse_unasked
from leeward.desk._jobs import Job
from leeward.desk._promise import TITLES
from leeward.desk._releases import kept
from leeward.errors import InputError, LeewardError
from leeward.ledger import Ledger
from leeward.report._page import environment
from leeward.session import _session as session
from leeward.spec._first_question import Never, Side


@pytest.mark.parametrize("never", get_args(Never))
def test_what_is_promised_of_a_place_is_said_before_it_is_paid_for(seat: Seat, never: str) -> None:
    name = walked(seat, promise={"never": never, "people": "9"})
    (plan,) = seat.desk.drafts.read(name).spec().plans()
    strength, page = (text_of(seat.get(f"/drafts/{name}/{step}")) for step in ("strength", "release"))
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    made = kept(seat.desk, f"{name}-1")
    exposed = environment().filters["not_protected"](made.statement)
    said = [made.statement.notion.name, made.statement.notion.protects, exposed, *made.statement.assumptions]
    assert made.statement.assumptions
    assert lacking(page, said) == []
    assert lacking(strength, said[1:3]) == []
    assert ("is not in it" in strength) == (plan.notion.name == "removal-only"), "what a bettor may bet on"
    told = text_of(seat.get(f"/releases/{name}-1"))
    assert made.sure
    assert lacking(told, list(made.sure)) == []


@pytest.mark.parametrize("never", get_args(Side))
def test_what_is_promised_of_a_number_is_said(seat: Seat, town: Town, never: str) -> None:
    question = {"kind": "sum", "column": "age", "lower": "0", "upper": "100", "step": "1", "combine": "refuse"}
    name = of_a_table(seat, hospital("")[0], MEDIAN | {"question": question, "promise": {"never": never}})
    page = text_of(seat.get(f"/drafts/{name}/strength"))
    assert [f"An answer is never too {side}" in page for side in ("low", "high")] == [never == "low", never == "high"]
    assert ("is not in it" in page) == (never == "high")


def test_each_promise_has_the_title_of_what_it_promises() -> None:
    """Of a word, or a side: it is named, and never wrong; of none, nothing is never wrong."""
    for which in (*get_args(Never), *get_args(Side)):
        named, title = {"safe", "dangerous", "low", "high"} & {which}, TITLES[which]
        assert all(word in title.casefold() for word in (*named, "never")) if named else "never" not in title.casefold()
        assert not {"safe", "dangerous", "low", "high"} - {which} & {*title.casefold().replace("”", " ").split()}


def test_what_would_say_nothing_is_released_only_where_it_is_wanted(seat: Seat) -> None:
    name = walked(seat, strength={"epsilon": "0.001"})
    strength = text_of(seat.get(f"/drafts/{name}/strength"))
    page = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "Nothing was charged." in page
    because = page.partition(":")[2].partition(".")[0].strip()
    assert because
    assert lacking(strength, [because]) == [], "it is told before the budget is asked about"
    assert "0.001 was charged" in text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN | {"useless": "yes"})))


def test_a_second_budget_is_opened_beside_those_that_are_named(seat: Seat) -> None:
    done(seat, seat.post(f"/drafts/{walked(seat)}/release", OPEN))
    page = text_of(seat.get(f"/drafts/{walked(seat, strength={'dataset': 'another place'})}/release"))
    assert "This opens a new budget of 'another place'" in page
    assert "which has 'town'" in page


def test_of_each_window_it_is_told_what_did_not_count(seat: Seat, town: Town) -> None:
    name = of_a_table(seat, hospital("")[0], TIMED)
    shown = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    windows = [window_of(one).start for one in kept(seat.desk, f"{name}-1").statements]
    assert lacking(shown, [f"from {start}: " for start in windows]) == []


def test_nothing_is_released_where_the_ledger_would_be_published(seat: Seat) -> None:
    name = walked(seat)
    (seat.folder / "leeward-files.json").write_text('{"files": {"release.json": []}}')
    page = text_of(done(seat, seat.post(f"/drafts/{name}/release", OPEN)))
    assert "that folder holds what may be published" in page
    assert "Nothing was charged." in page
    assert Ledger.find(seat.desk.ledger) is None


def test_what_others_put_beside_the_releases_is_none(seat: Seat) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    releases = seat.desk.released
    (releases / "linked").symlink_to(f"{name}-1")
    (releases / "deep").mkdir()
    (releases / "deep" / "leeward-files.json").write_text("[" * 200_000)
    shutil.copytree(releases / f"{name}-1", releases / "CAPITALS")
    listed = json.loads((releases / f"{name}-1/leeward-files.json").read_text("utf-8"))
    for other in ("linked", "deep", "CAPITALS"):
        assert seat.get(f"/releases/{other}").status_code == 422, other
    assert "The budget was opened" in text_of(seat.get("/history"))
    listed["files"]["more.html"] = listed["files"]["report.html"]
    (releases / f"{name}-1/more.html").write_bytes((releases / f"{name}-1/report.html").read_bytes())
    (releases / f"{name}-1/leeward-files.json").write_text(json.dumps(listed), "utf-8")
    assert seat.get(f"/releases/{name}-1/more.html").status_code == 404
    assert seat.get(f"/releases/{name}-1/release.json").status_code == 200
    assert seat.told == []


def test_where_work_ended_early_the_way_leads_back_to_its_step(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    name = walked(seat)

    def refuse(*_: Any, **__: Any) -> Any:
        raise LeewardError("The disk", "it is full", "Make room")

    monkeypatch.setattr("leeward.desk._check.check_planned", refuse)
    monkeypatch.setattr(session.Session, "request", refuse)
    for step in ("check", "release"):
        page = done(seat, seat.post(f"/drafts/{name}/{step}", OPEN)).text
        assert "The disk: it is full" in page
        assert f'href="/drafts/{name}/{step}"' in page


def test_work_says_each_stage_once_and_how_far_it_is() -> None:
    job = Job(1, "a", "b")
    for share in (0.25, 0.5):
        job.progress("counting", share)
    assert (job.stages, job.share) == (["counting"], 0.5)
    job.progress("adding noise")
    assert (job.stages, job.share) == (["counting", "adding noise"], None)


SOUND: dict[str, Any] = {
    "data": {"visits": "v.csv", "person": "user", "latitude": "lat", "longitude": "lon", "time": "when"},
    "places": {"grid": {"west": 139.7, "south": 34, "east": 139.8, "north": 35.5, "metres": 500}},
    "window": {"start": "2026-03-14T19:00", "end": "2026-03-14T20:00"},
    "protect": {"notion": "addition-only", "epsilon": "1", "places_per_person": 1, "if_more": "latest"},
    "decide": {"safe_at_most": 2},
    "budget": {"ledger": "../../../budget.db", "dataset": "town", "cap": "4"},
}
TABLE: dict[str, Any] = {
    "data": {"table": "t.csv", "person": "who"},
    "query": {"kind": "percentile", "column": "age", "lower": "0", "p": ["25"], "by": {"ward": ["a", 7]}},
}


def test_only_what_the_pages_ask_is_a_draft(seat: Seat) -> None:
    sound = json.loads(json.dumps(dict(seat.desk.drafts.read(walked(seat)).sections)))
    grid = sound | {"data": SOUND["data"], "places": SOUND["places"]}
    for each in (sound, grid, TABLE, {name: keys for name, keys in sound.items() if name not in ("protect", "decide")}):
        _refuse_unasked(each)

    def changed(base: dict[str, Any], section: str, **keys: Any) -> dict[str, Any]:
        return base | {section: {**base.get(section, {}), **keys}}

    box = SOUND["places"]["grid"]
    odd = [
        *[changed(grid, "places", grid=box | more) for more in ({"h3": 8}, {"west": True}, {"west": "1"}, {"up": 1.0})],
        *[changed(TABLE, "query", by={"ward": listed}) for listed in ([1.5], [True], [["a"]], "a")],
        *[changed(TABLE, "query", **more) for more in ({"p": [25]}, {"levels": "1"}, {"p": [["25"]]}, {"step": 1})],
        changed(TABLE, "query", kind="busiest"),
        *[changed(TABLE, "query", **{key: "1"}) for key in ("places_per_person", "keep", "useful_from")],
        {name: keys for name, keys in sound.items() if name != "protect"},
        *[sound | {"decide": decide} for decide in ({}, {"safe_at_most": True})],
        changed(sound, "decide", useful_from=1),
        *[changed(sound, "protect", **more) for more in ({"epsilon": 1}, {"absence": "1"}, {"notion": "presence"})],
        *[changed(sound, "data", **more) for more in ({"keep": "a"}, {"engine": "spark"}, {"table": "t"})],
        *[changed(sound, "window", **more) for more in ({"every": 3}, {"windows": "a"}, {"slide": "1h"})],
        *[changed(sound, "budget", **more) for more in ({"notion": "dp"}, {"version": 2}, {"new": True})],
        sound | {"monitor": {}},
    ]  # fmt: skip
    for each in odd:
        with pytest.raises(InputError, match="what the desk does not ask"):
            _refuse_unasked(each)
