"""Spreadsheets with several sheets and slips, as people have them: a sheet is a choice, and so is how times are written."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_init import ROWS, VENUES
from tests.desk.conftest import Seat
from tests.desk.test_desk_path import OPEN, text_of
from tests.desk.walk import ANSWERS, done
from tests.workbooks import workbook

SLIP = "yesterday"


@pytest.fixture
def book(seat: Seat) -> Seat:
    """A desk over one workbook: notes, visits whose second time is a slip, and places."""
    rows = [[user, venue, f"{when:%d.%m.%Y %H:%M}"] for user, venue, when in ROWS]
    rows[1][2] = SLIP
    listed = [[venue, venue.upper()] for venue in VENUES]
    sheets = {"Notes": [["x"]], "Visits": [["user", "Ort", "day and hour"], *rows], "List": [["Ort", "name"], *listed]}
    workbook(seat.folder / "town.xlsx", sheets)
    return seat


def test_visits_and_places_are_sheets_of_one_workbook(book: Seat) -> None:
    asked = book.get("/look?file=town.xlsx").text
    assert all(f'<option value="{sheet}">' in asked for sheet in ("Notes", "Visits", "List"))
    assert 'role="alert"' not in asked
    begun = book.post("/drafts", {"file": "town.xlsx", "sheet": "Visits", "about": "visits"})
    name = begun.headers["location"].split("/")[2]
    page = book.get(f"/drafts/{name}/visits").text
    assert '<option value="Ort" selected>' in page  # it is the place: and no columns are coordinates
    assert "by latitude" not in page
    visits = {"person": "user", "place": "Ort", "time": "day and hour"}
    refused = book.post(f"/drafts/{name}/visits", visits)
    assert "most of them fit dd.mm.yyyy HH:MM, and some do not" in text_of(refused)
    assert '<option value="day and hour" selected>' in refused.text
    visits["time_format"] = "dd.mm.yyyy HH:MM"
    assert book.post(f"/drafts/{name}/visits", visits).status_code == 303
    assert '<option value="List">' in book.get(f"/drafts/{name}/places?file=town.xlsx").text
    places = {"file": "town.xlsx", "sheet": "List", "place": "Ort"}
    private = book.post(f"/drafts/{name}/places", {**places, "sheet": "Visits"})
    assert "it is the private table itself" in text_of(private)
    assert book.post(f"/drafts/{name}/places", places).status_code == 303
    other = book.get(f"/drafts/{name}/places?file=places.csv").text  # a sheet is of the file that it was chosen of
    assert ('role="alert"' in other, '<option value="venue" selected>' in other) == (False, True)
    for step in ("window", "promise", "strength"):
        assert book.post(f"/drafts/{name}/{step}", ANSWERS[step]).status_code == 303
    assert "1 row with a time that cannot be read" in text_of(done(book, book.post(f"/drafts/{name}/check")))
    assert "of 4 places" in text_of(done(book, book.post(f"/drafts/{name}/release", {**OPEN, "doubtful": "yes"})))


def test_a_public_list_of_groups_may_be_a_sheet(book: Seat) -> None:
    begun = book.post("/drafts", {"file": "town.xlsx", "sheet": "Visits", "about": "table"})
    name = begun.headers["location"].split("/")[2]
    assert book.post(f"/drafts/{name}/table", {"person": "user"}).status_code == 303
    asked = {"kind": "count", "group": "Ort", "list": "town.xlsx", "combine": "max"}
    several = book.post(f"/drafts/{name}/question", asked)
    assert "it has 3 sheets. Choose below" in text_of(several)
    assert '<option value="List">' in several.text
    assert "the private table itself" in text_of(book.post(f"/drafts/{name}/question", {**asked, "sheet": "Visits"}))
    assert book.post(f"/drafts/{name}/question", {**asked, "sheet": "List"}).status_code == 303
    assert book.desk.drafts.read(name).sections["query"]["by"] == {"Ort": [*VENUES]}


def test_a_private_workbook_of_one_sheet_is_offered_as_no_public_list(book: Seat) -> None:
    workbook(
        book.folder / "one.xlsx",
        {"Visits": [["user", "Ort", "when"], *([u, v, f"{w:%Y-%m-%d %H:%M}"] for u, v, w in ROWS)]},
    )
    name = book.post("/drafts", {"file": "one.xlsx", "about": "visits"}).headers["location"].split("/")[2]
    visits = {"person": "user", "place": "Ort", "time": "when"}
    assert book.post(f"/drafts/{name}/visits", visits).status_code == 303
    offered = book.get(f"/drafts/{name}/places").text
    assert ("one.xlsx</option>" in offered, "town.xlsx</option>" in offered) == (False, True)


def test_a_column_that_nobody_asks_for_keeps_nobody_from_the_others(seat: Seat) -> None:
    """Of several kinds in a workbook; or after the last year that Python knows, as databases write that it never ends."""
    noted = [[*row, i if i % 2 else "see below"] for i, row in enumerate(ROWS)]
    workbook(seat.folder / "noted.xlsx", {"A": [["user", "venue", "when", "note"], *noted]})
    user, venue, when = (list(column) for column in zip(*ROWS, strict=True))
    ends = pa.array([i if i % 2 else 2**31 - 1 for i in range(len(ROWS))], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"user": user, "venue": venue, "when": when, "note": ends}), seat.folder / "ends.parquet")
    for file, told in (("noted.xlsx", "note unreadable"), ("ends.parquet", "note times")):
        name = seat.drafted(file)
        shown = seat.get(f"/drafts/{name}/visits")
        assert ('role="alert"' in shown.text, told in text_of(shown), "…" in shown.text) == (False, True, "end" in file)
        assert all(some in text_of(shown) for some in ("secret-0", "see below" if "noted" in file else "1970-01-02"))
        assert seat.post(f"/drafts/{name}/visits", ANSWERS["visits"]).status_code == 303
        odd = seat.post(f"/drafts/{name}/visits", ANSWERS["visits"] | {"place": "note"})
        assert odd.status_code == (422 if "noted" in file else 303)
        assert ("it holds numbers in row 3, and texts before" in text_of(odd)) == ("noted" in file)
