"""Drafts are spec files: whole or not there, of the desk alone, and never a way out of its folder."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.desk.conftest import Seat

from leeward.errors import InputError


def test_a_draft_is_a_spec_file_with_the_columns_as_detected(seat: Seat) -> None:
    (seat.folder / "german.csv").write_text("wer;wo;wann\na;pool;14.03.2026 19:10\n", "cp1252")
    name = seat.drafted("german.csv")
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    assert tomllib.loads(file.read_text())["data"] == {"visits": "../../../german.csv", "delimiter": ";"}
    assert seat.desk.drafts.read(name).sections == tomllib.loads(file.read_text())


def test_drafts_of_one_table_have_names_of_their_own(seat: Seat) -> None:
    assert [seat.drafted(), seat.drafted(), seat.drafted("places.csv")] == ["visits", "visits-2", "places"]
    assert seat.desk.drafts.names() == ["places", "visits-2", "visits"]


def test_two_desks_at_once_do_not_write_over_each_others_drafts(seat: Seat) -> None:
    (seat.folder / "leeward-desk" / "drafts" / "visits").mkdir(parents=True)  # another desk is about to write into it
    assert seat.drafted() == "visits-2"
    assert seat.desk.drafts.names() == ["visits-2"]


def test_a_draft_is_there_after_the_desk_was_started_anew(seat: Seat) -> None:
    name = seat.drafted()
    again = Seat(seat.folder).enter()
    assert f"/drafts/{name}/visits" in again.get("/").text


def test_a_draft_that_somebody_changed_is_not_written_over(seat: Seat) -> None:
    name = seat.drafted()
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    file.write_text(file.read_text() + "# mine\n")
    with pytest.raises(InputError, match="changed since"):
        seat.desk.drafts.save(seat.desk.drafts.read(name), seat.desk.drafts.read(name))
    assert file.read_text().endswith("# mine\n")


@pytest.mark.parametrize("name", ["", "..", "../drafts/visits", "Visits", ".hidden", "a" * 90, "linked", "no"])
def test_no_other_folder_is_a_draft(seat: Seat, name: str) -> None:
    seat.drafted()
    (seat.folder / "leeward-desk" / "drafts" / "linked").symlink_to("visits")
    with pytest.raises(InputError):
        seat.desk.drafts.read(name)


@pytest.mark.parametrize(
    "named",
    ['"{beside}"', '"../../../../beside.csv"', '["../../../visits.csv", "{beside}"]', '"postgresql://evil.example/b"',
     '"../../../link.csv"', '"../../../*.csv"'],
)  # fmt: skip
def test_a_draft_that_somebody_put_there_leads_nowhere_else(seat: Seat, tmp_path: Path, named: str) -> None:
    beside = tmp_path / "beside.csv"
    beside.write_text("a\ncanary\n")
    (seat.folder / "link.csv").symlink_to(beside)
    name = seat.drafted()
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    file.write_text(f"[data]\nvisits = {named.format(beside=beside)}\n")
    with pytest.raises(InputError):
        seat.desk.drafts.read(name)
    page = seat.get("/")
    assert page.status_code == 200
    assert "canary" not in page.text


def test_the_budget_of_a_draft_is_kept_in_the_folder(seat: Seat) -> None:
    name = seat.drafted()
    file = seat.folder / "leeward-desk" / "drafts" / name / "spec.toml"
    kept = file.read_text()
    (seat.folder / "linked.db").symlink_to(seat.folder.parent / "elsewhere.db")
    for ledger, fits in (
        ("../../../budget.db", True),
        ("postgresql://evil.example/b", False),
        ("/tmp/budget.db", False),
        ("../../../linked.db", False),
    ):
        file.write_text(f'{kept}\n[budget]\nledger = "{ledger}"\n')
        if fits:
            seat.desk.drafts.read(name)
        else:
            with pytest.raises(InputError):
                seat.desk.drafts.read(name)
