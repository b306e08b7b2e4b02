"""Runs and requests that are killed at every stage: what was charged stays so, and nothing is shown that is not kept.

A child of the test's process works on the files and kills itself where it is told to; then another run goes on.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.killed import Stage, die_at
from tests.ledger.spent import spent_in
from tests.local.test_location import spec, table
from tests.private_files import open_to_others, write_private

from leeward.errors import CapExceededError
from leeward.ledger import MemoizedReports
from leeward.ledger._spent import Spent
from leeward.local import read_job
from leeward.local._job import Job
from leeward.local.location._job import LocationJob
from leeward.local.location._planar_laplace import PlanarLaplace
from leeward.local.location._tracks import Tracks
from leeward.noise import SystemBits
from leeward.outputs import Files

PEOPLE = 7
BUDGET = {"budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 2}}
REPEAT = {**BUDGET, "repeat": {"store": "memo.db", "secret": "people.key"}}
PLACES = {**BUDGET, "places": {"table": "places.csv", "latitude": "lat", "longitude": "lon", "use": "exponential"}}
TRACK = {"track": {"near": "1 km"}, "track.in_all": {"within": "200 m", "factor": "64"}}

CHARGES, CHARGED = (Spent, "write", 1), (LocationJob, "_mover", 1)
MADE, STATED, PLACED = (Files, "place", 1), (os, "replace", 2), (Files, "_read_back", 1)


def killed_at(stage: Stage, work: Callable[[], object]) -> None:
    """Do some work in a child, which is killed where it comes to a function."""
    if (child := os.fork()) == 0:
        try:
            os.umask(0)
            die_at(stage)
            work()
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL, f"{stage} was not come to"


def job_in(folder: Path, more: dict[str, dict[str, Any]]) -> Job:
    folder.mkdir()
    rows = table(PEOPLE)
    rows.to_csv(folder / "positions.csv", index=False)
    rows[["lat", "lon"]].to_csv(folder / "places.csv", index=False)
    write_private(folder / "people.key", bytes(range(32)))
    data = {"table": "positions.csv", "person": "who", "time": "when"}
    return read_job(spec(folder, data=data, protect={"step": "50 m"}, **more))


def run(job: Job, out: Path) -> bytes:
    job.run(out, lambda *_: None, new=True)
    return out.read_bytes()


def spent(folder: Path) -> int:
    store = folder / "people.db"
    return sum(spent_in(store).values()) if store.exists() else 0


@pytest.mark.parametrize(
    ("more", "stages"),
    [
        pytest.param(REPEAT, [CHARGES, (MemoizedReports, "_seal", PEOPLE), MADE, STATED], id="repeat"),
        pytest.param(BUDGET, [CHARGES, CHARGED, (PlanarLaplace, "draw", 1), MADE, STATED, PLACED], id="budget"),
        pytest.param(PLACES, [CHARGED, (SystemBits, "fill", 1), MADE], id="places"),
        pytest.param(TRACK, [(Tracks, "step", 2), MADE, STATED], id="tracks"),
    ],
)
def test_a_run_that_is_killed_shows_nothing_and_what_it_charged_stands(
    more: dict[str, dict[str, Any]], stages: list[Stage], tmp_path: Path
) -> None:
    """Either all of its people are charged, or none; what was remembered is shown by the next run, and paid for once."""
    for number, stage in enumerate(stages):
        folder, out = tmp_path / str(number), tmp_path / str(number) / "out.csv"
        job = job_in(folder, more)
        killed_at(stage, lambda job=job, out=out: run(job, out))  # type: ignore[misc]
        assert out.exists() == (stage is PLACED), "the table comes last, and whole"
        assert open_to_others([*folder.glob("*.db*"), *folder.glob(".leeward-*")]) == []
        charged, told = spent(folder), (folder / "memo.db").read_bytes() if more is REPEAT else b""
        assert charged == (0 if more is TRACK or stage is CHARGES else PEOPLE)

        shown = run(job, out)
        assert not [*folder.glob(".leeward-*")], "the next run sweeps what the dead one left"
        if more is REPEAT:
            remembered = stage in (MADE, STATED, PLACED)
            assert spent(folder) == (PEOPLE if remembered else charged + PEOPLE)
            assert ((folder / "memo.db").read_bytes() == told) == remembered, "what is remembered is not drawn again"
            assert run(job, out) == shown, "what is shown is what is kept"
        elif more is not TRACK:
            assert spent(folder) == charged + PEOPLE, "nobody knows whether what was drawn was seen"
            if charged:
                with pytest.raises(CapExceededError):
                    run(job, out)


def test_of_two_runs_at_once_each_pays_and_both_show_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second run comes after the first has charged, and before it has drawn: to it, too, all reports are new."""
    job, real, others = job_in(tmp_path / "town", REPEAT), LocationJob._charge, list[bytes]()

    def charge(self: LocationJob, *given: Any) -> Any:
        paid = real(self, *given)
        monkeypatch.setattr(LocationJob, "_charge", real)
        others.append(run(job, tmp_path / "town" / "other.csv"))
        return paid

    monkeypatch.setattr(LocationJob, "_charge", charge)
    assert [run(job, tmp_path / "town" / "out.csv")] == others
    assert spent(tmp_path / "town") == 2 * PEOPLE
