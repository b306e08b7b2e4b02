"""No file outside the folder is read, by whatever name; and what a table says is text on a page."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from tests.desk.conftest import Seat

from leeward.desk._folder import Folder
from leeward.errors import InputError

CANARY = "canary-of-the-outside"


@pytest.fixture
def trap(seat: Seat) -> Seat:
    """A folder with links and odd files, and a table beside it."""
    beside = seat.folder.parent / "beside"
    beside.mkdir()
    (beside / "out.csv").write_text(f"a,b\n{CANARY},2\n")
    (seat.folder / "link.csv").symlink_to(beside / "out.csv")
    (seat.folder / "through").symlink_to(beside)
    (seat.folder / "inside.csv").symlink_to(seat.folder / "visits.csv")
    (seat.folder / ".hidden.csv").write_text(f"a\n{CANARY}\n")
    (seat.folder / ".private").mkdir()
    (seat.folder / ".private" / "a.csv").write_text(f"a\n{CANARY}\n")
    (seat.folder / "key.pem").write_text(CANARY)
    (seat.folder / "named.csv").symlink_to(seat.folder / "key.pem")
    (seat.folder / "folder.csv").mkdir()
    os.mkfifo(seat.folder / "pipe.csv")
    return seat


OUTSIDE = [
    "../beside/out.csv", "a/../../beside/out.csv", "through/out.csv", "link.csv", "./visits.csv", "..", "", "/",
    "//etc/passwd", "/etc/passwd", "..\\beside\\out.csv", "visits.csv\0.csv", "%2e%2e/beside/out.csv", ".hidden.csv",
    ".private/a.csv", "key.pem",
    "named.csv", "folder.csv", "pipe.csv", "through", "*.csv", "visits.csv/", "visits.csv/..", "~/a.csv", "file:///etc/passwd",
    "http://127.0.0.1:9/a.csv", "postgresql://a/b.csv", "no.csv", "\udcff.csv",
]  # fmt: skip


def test_five_hundred_tables_are_listed_and_none_of_what_the_desk_keeps(seat: Seat) -> None:
    (seat.folder / "leeward-desk").mkdir(exist_ok=True)
    (seat.folder / "leeward-desk" / "kept.csv").write_text("a\n1\n", "utf-8")
    assert not any("kept" in name for name in seat.desk.files.files())
    for number in range(510):
        (seat.folder / f"t{number:03}.csv").touch()
    assert len(seat.desk.files.files()) == 500


def test_tables_six_folders_down_are_listed_and_deeper_ones_are_not(seat: Seat) -> None:
    down = seat.folder
    for depth in range(1, 9):
        down = down / f"d{depth}"
        down.mkdir()
        (down / "t.csv").write_text("a\n1\n", "utf-8")
    assert max(name.count("/") for name in seat.desk.files.files()) == 6


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_leads_out_is_refused(trap: Seat, name: str) -> None:
    with pytest.raises(InputError):
        trap.desk.files.file(name)
    if name.isprintable():
        page = trap.browser.get("/look", params={"file": name})
        assert CANARY not in page.text
        assert 'role="alert"' in page.text
        assert trap.post("/drafts", {"file": name}).status_code == 422
        assert trap.desk.drafts.names() == []


def test_what_is_outside_is_refused_by_its_absolute_name_too(trap: Seat) -> None:
    for name in (str(trap.folder.parent / "beside" / "out.csv"), str(trap.folder / "visits.csv")):
        with pytest.raises(InputError):
            trap.desk.files.file(name)


def test_tables_are_listed_and_nothing_else(trap: Seat) -> None:
    (trap.folder / "deep").mkdir()
    (trap.folder / "deep" / "more.parquet").write_bytes(b"")
    (trap.folder / "published").mkdir()
    (trap.folder / "published" / "leeward-files.json").write_text('{"files": {"release.json": []}}')
    (trap.folder / "published" / "answers.csv").write_text("a\n")
    trap.drafted()
    assert trap.desk.files.files() == ["inside.csv", "places.csv", "visits.csv", "deep/more.parquet"]
    assert trap.desk.files.file("inside.csv") == trap.folder / "visits.csv"


def test_a_folder_that_is_a_link_is_what_it_leads_to(tmp_path: Path, seat: Seat) -> None:
    (tmp_path / "way").symlink_to(seat.folder)
    assert Folder.of(tmp_path / "way").root == seat.folder
    with pytest.raises(InputError, match="not a folder"):
        Folder.of(seat.folder / "visits.csv")


SCRIPT = "<script>alert(1)</script>"


def test_a_script_in_a_name_or_a_value_is_text(seat: Seat) -> None:
    name = '"><img src=x onerror=alert(1)>.csv'
    (seat.folder / name).write_text(f'{SCRIPT},"\' onload=alert(1)",\u202eevil\n{SCRIPT},{{{{7*7}}}},c\n')
    for text in (seat.get("/").text, seat.browser.get("/look", params={"file": name}).text):
        assert re.findall(r"<script(?![^>]* src=)", text) == []
        assert "<img" not in text
        assert "\u202e" not in text
    shown = seat.browser.get("/look", params={"file": name}).text
    assert shown.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
    assert "{{7*7}}" in shown
    draft = seat.drafted(name)
    assert re.fullmatch(r"[a-z0-9-]+", draft)
    assert seat.desk.drafts.read(draft).sections["data"]["visits"].endswith(name)


def test_a_table_that_cannot_be_read_is_said_without_its_content(seat: Seat) -> None:
    (seat.folder / "broken.parquet").write_text(CANARY)
    page = seat.get("/look?file=broken.parquet")
    assert page.status_code == 200
    assert 'role="alert"' in page.text
    assert CANARY not in page.text


def test_an_empty_table_is_said_to_be_empty(seat: Seat) -> None:
    (seat.folder / "empty.csv").write_text("")
    page = seat.get("/look?file=empty.csv").text
    assert "it is empty" in page
    assert "These are visits" not in page
