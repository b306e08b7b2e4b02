"""Each page shows all that was found, and not the first of it: of a look, of a comparison, of a refusal."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cli.test_init import ROWS
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN, text_of
from tests.desk.walk import done, walked

from leeward.desk._check import Looked, found
from leeward.desk._releases import REPORT_HEADERS
from leeward.errors import LeewardError
from leeward.planner import PlanReport
from leeward.planner._words import refused
from leeward.report._plan import table_of
from leeward.session._facts import FOR_CURATOR
from leeward.spec._compared import compared


def in_line(text: str) -> str:
    """A text as `text_of` has it."""
    return " ".join(text.split())


def lacking(page: str, said: list[str]) -> list[str]:
    """What of these texts a page does not say."""
    return [each for each in said if in_line(each).casefold() not in page.casefold()]


def seen(seat: Seat, name: str) -> Looked:
    looked = found(seat.desk, seat.desk.drafts.read(name))
    assert looked is not None
    return looked


def test_a_look_is_shown_whole(seat: Seat) -> None:
    """Two things would refuse it: the table grew since a release, and nothing lies in the window."""
    places = seat.folder / "places.csv"
    places.write_text(
        "\n".join([places.read_text("utf-8"), *(f"more-{i},More {i},35.{i},139.7" for i in range(6))]), "utf-8"
    )
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", OPEN))
    visits = seat.folder / "visits.csv"
    visits.write_text(visits.read_text("utf-8") + f"\nnew,{ROWS[0][1]},2026-03-14T19:05:00\n", "utf-8")
    window = {"start": "2020-01-01T00:00", "end": "2020-01-02T00:00"}
    assert seat.post(f"/drafts/{name}/window", window).status_code == 303
    page = text_of(done(seat, seat.post(f"/drafts/{name}/check")))
    one = seen(seat, name).found
    assert len(one.refusals) > 1
    assert any("the data run from" in value for _, value in one.facts(ends=True))
    assert one.answer_rows > len(one.begins()) > 1
    said = [FOR_CURATOR, f"{one.answer_rows} rows.", " ".join(one.stand_in.column_names), *one.refusals]
    said += [" ".join(row.values()) for row in one.begins()] + [value for _, value in one.facts(ends=True)]
    assert lacking(page, said) == []
    assert lacking(text_of(seat.get(f"/drafts/{name}/release")), list(one.refusals)) == []
    another = walked(seat)
    assert found(seat.desk, seat.desk.drafts.read(another)) is None, "a look is at one draft"
    done(seat, seat.post(f"/drafts/{another}/check"))
    assert seen(seat, name).found is one, "a look at another one leaves it"


@pytest.mark.parametrize("never", ["safe", "dangerous", "neither"])
def test_a_comparison_is_shown_whole(seat: Seat, never: str) -> None:
    name = walked(seat, promise={"never": never, "people": "9"})
    page = text_of(seat.get(f"/drafts/{name}/compare"))
    report = compared(seat.desk.drafts.read(name).spec())
    assert isinstance(report, PlanReport)
    (headings, marked), advised = table_of(report), report.recommendation
    because = [f"{term} {why}" for term, why in refused(report.options)]
    said = [advised.reason, advised.plain_dp, advised.whom, *advised.cautions]
    assert all([because, advised.reason, advised.plain_dp or advised.whom or advised.cautions])
    assert (
        lacking(page, [" ".join(headings), *(" ".join(cells) for _, cells in marked), *filter(None, said), *because])
        == []
    )
    pictures = seat.get(f"/drafts/{name}/plan.html")
    assert pictures.headers["content-security-policy"] == REPORT_HEADERS["Content-Security-Policy"]


@pytest.mark.parametrize("page", ["compare", "plan.html"])
def test_what_is_aside_from_the_path_waits_as_its_steps_do(seat: Seat, page: str) -> None:
    for upto in ("visits", "promise"):
        name = walked(seat, upto)
        early = seat.get(f"/drafts/{name}/{page}")
        assert (early.status_code, "not answered yet" in text_of(early)) == (422, True)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/assets/nothing", 404),
        ("GET", "/assets/desk.html.j2", 404),
        ("GET", "/jobs/one", 404),
        ("POST", "/jobs/one/cancel", 404),
        ("POST", "/history", 405),
        ("GET", "/drafts", 405),
    ],
)
def test_what_is_no_page_is_told_in_a_page(seat: Seat, method: str, path: str, status: int) -> None:
    answer = seat.get(path) if method == "GET" else seat.post(path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "There is no such page" in text_of(answer)
    assert seat.told == []


def test_what_a_refusal_adds_is_shown_too(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Any) -> Any:
        error = LeewardError("The folder", "it cannot be read", "Open it")
        error.add_note("Its disk is gone.")
        raise error

    monkeypatch.setattr(type(seat.desk.files), "files", refuse)
    answer = seat.get("/")
    assert (answer.status_code, "The folder: it cannot be read. Open it. Its disk is gone." in text_of(answer)) == (
        422,
        True,
    )
