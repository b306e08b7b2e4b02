"""A folder that may not be looked into, as another user's, is told so: no defect, nor said to be empty."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.asking import statistic_by
from tests.desk.conftest import Seat, write_tables
from tests.desk.walk import done, walked
from tests.rights import held_to_modes

import leeward as lw
from leeward.errors import DataError, InputError, LedgerError, LeewardError
from leeward.ledger import Ledger, PersonBudgets
from leeward.local._stores import Stores, StoreSection
from leeward.local.location._formats import open_positions


@pytest.fixture
def seat(tmp_path: Path) -> Iterator[Seat]:
    folder = tmp_path / "tables"
    folder.mkdir()
    write_tables(folder)
    seat = Seat(folder).enter()
    yield seat
    seat.desk.jobs.close()


def released(table: Path, ledger: Path) -> object:
    plan = lw.plan(statistic_by(lw.records(table, person="who"), "count"), lw.UnboundedDP("1"))
    return lw.release(plan, lw.Budget(str(ledger), dataset="town", cap="4"))


def stores(store: Path) -> object:
    return Stores(StoreSection(store=store.name, secret="k.key"), None, store.parent).opens()


ASKED: dict[str, tuple[Callable[[Path], object], type[LeewardError]]] = {
    "a table": (lambda closed: released(closed / "t.csv", closed.parent / "b.db"), DataError),
    "positions": (lambda closed: open_positions(closed / "t.csv", "lat", "lon"), DataError),
    "a budget": (lambda closed: Ledger.find(closed / "b.db"), LedgerError),
    "a new budget": (lambda closed: released(closed.parent / "t.csv", closed / "b.db"), LedgerError),
    "a store": (lambda closed: stores(closed / "s.db"), LedgerError),
    "a store that is opened": (
        lambda closed: PersonBudgets(closed / "s.db", secret=bytes(32), price="1", reports_a_day=1, new=False),
        LedgerError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("mode", [0, 0o400])
@pytest.mark.parametrize("what", ASKED)
def test_what_lies_in_it_is_refused(what: str, mode: int, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    for folder in (closed, tmp_path):
        (folder / "t.csv").write_text("who\nann\n")
    ask, error = ASKED[what]
    closed.chmod(mode)
    try:
        with held_to_modes(), pytest.raises(error, match="cannot be looked at"):
            ask(closed)
    finally:
        closed.chmod(0o700)


PAGES = (
    "/", "/history", "/look?file=visits.csv", "/drafts/visits/release", "/drafts/visits/check", "/releases/visits-1",
    "/releases/visits-1/report.html",
)  # fmt: skip


@pytest.mark.parametrize("mode", [0, 0o400, 0o100])
@pytest.mark.parametrize("closed", ["", "/drafts", "/drafts/visits", "/releases", "/releases/visits-1"])
def test_no_page_of_the_desk_is_a_defect(closed: str, mode: int, seat: Seat) -> None:
    name = walked(seat)
    done(seat, seat.post(f"/drafts/{name}/release", {"opens": "1", "doubtful": "1", "useless": "1"}))
    folder = seat.folder / f"leeward-desk{closed}"
    folder.chmod(mode)
    try:
        with held_to_modes():
            shown = {page: seat.get(page).status_code for page in PAGES}
            assert {*shown.values()} <= {200, 422}, shown
            seat.post("/drafts", {"file": "visits.csv", "about": "visits"})
    finally:
        folder.chmod(0o700)
    assert not seat.told
    listed = {"": "/", "/drafts": "/", "/releases": "/history"}
    if mode == 0 and closed in listed:
        assert shown[listed[closed]] == 422, "that nothing is there is not said of what nobody can see"


@pytest.mark.parametrize("put", [os.mkfifo, os.mkdir, lambda path: os.symlink("../../../other.toml", path)])
def test_a_draft_whose_spec_is_no_plain_file_is_refused_and_not_waited_for(
    put: Callable[[Path], None], seat: Seat
) -> None:
    (seat.folder / "other.toml").write_text('[data]\nvisits = "visits.csv"\n')
    spec = seat.folder / "leeward-desk" / "drafts" / seat.drafted() / "spec.toml"
    spec.unlink()
    put(spec)
    said: list[str] = []

    def read() -> None:
        try:
            seat.desk.drafts.read("visits")
        except InputError as error:
            said.append(str(error))

    reading = threading.Thread(target=read, daemon=True)  # one that waits for good is left behind
    reading.start()
    reading.join(20)
    assert "its spec is no plain file" in "".join(said)
