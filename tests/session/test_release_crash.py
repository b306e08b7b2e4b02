"""A release under kill −9, a full disk and company: one answer, one charge, nothing shown that is not recorded."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.killed import without_room
from tests.session.conftest import Town

from leeward.ledger import STAGES, Ledger

_KILLED = """
import os, signal, sys
import leeward as lw
from leeward.spec import read_spec
from leeward.session._release import release_planned

spec = read_spec(sys.argv[1])
def stop(stage):
    if stage == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
for _ in range(2):
    (one,) = release_planned(spec.plans(), spec.ledger(), progress=stop)
    print("SHOWN", one.answers["count"].to_pylist(), flush=True)
"""

_OWN_STAGES = ("recognising the content", "counting", "adding noise", "deciding")


def _run(spec: Path, stage: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _KILLED, str(spec), stage], capture_output=True, text=True, check=False
    )


@pytest.mark.sweep
@pytest.mark.parametrize("stage", [*_OWN_STAGES, *STAGES])
def test_killed_at_any_stage_one_charge_and_one_answer(town: Town, stage: str) -> None:
    killed_once(town, stage, town.spec(), 1)


@pytest.mark.sweep
@pytest.mark.parametrize("stage", ["adding noise", "deciding"])
def test_a_run_that_stops_is_not_drawn_twice_either(town: Town, stage: str) -> None:
    """The adaptive mechanism: its whole budget is charged once, and where it stopped it stays stopped."""
    killed_once(town, stage, town.spec(('what = "counts"', 'mechanism = "adaptive"\nstop_after = 2')), 2)


def killed_once(town: Town, stage: str, spec: Path, price: int) -> None:
    killed = _run(spec, stage)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert killed.stdout.count("SHOWN") == 0
    after = _run(spec, "never")
    assert after.returncode == 0, after.stderr
    first, again = after.stdout.splitlines()
    assert first.startswith("SHOWN")
    assert first == again  # the answer is recorded
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == price
    Ledger(town.folder / "budget.db").check()


def test_the_stages_are_really_reached(town: Town) -> None:
    """The control of the test above: a stage that never comes kills nobody."""
    assert _run(town.spec(), "no such stage").returncode == 0


@pytest.mark.sweep
def test_two_at_once_get_one_answer_and_one_charge(town: Town) -> None:
    spec = town.spec()
    command = [sys.executable, "-c", _KILLED, str(spec), "never"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    shown = {process.communicate(timeout=120)[0] for process in both}
    assert len(shown) == 1
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 1


def test_a_full_disk_charges_nothing_or_can_be_finished_later(town: Town) -> None:
    """Files may not grow beyond 200 kB, so the ledger fits and the report does not."""
    spec = town.spec()

    def small() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    words = [sys.executable, "-m", "leeward", "release", str(spec), "--out", str(town.out), "--yes"]
    full = subprocess.run(words, capture_output=True, text=True, preexec_fn=small, env=without_room(), check=False)
    assert full.returncode == 2, full.stderr
    assert "Traceback" not in full.stderr
    assert not town.out.exists()
    assert not [p for p in town.folder.iterdir() if p.name.startswith(".")]
    code, out, _ = town.run("release", spec, "--out", town.out, "--json")
    assert code == 0
    assert json.loads(out)["budget"]["spent"] == "1"


def test_a_data_file_that_is_no_table_leaves_nothing(town: Town) -> None:
    (town.folder / "visits.parquet").write_bytes(b"PAR1 not really" + os.urandom(64))
    code, out, err = town.run("release", town.spec(), "--out", town.out)
    assert (code, out) == (2, "")
    assert not town.out.exists()
    assert len(err.strip().splitlines()) == 1
