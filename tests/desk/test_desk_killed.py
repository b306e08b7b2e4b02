"""A desk is open as soon as its address is told, and what a killed one leaves is swept by the next."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.desk.conftest import Seat
from tests.desk.walk import done, walked

from leeward._scratch import Scratch
from leeward._web._loopback import LOOPBACK, listening
from leeward.errors import InputError
from leeward.outputs import write_page

KILLED = """
import os, signal, sys
from pathlib import Path
from leeward import _scratch
from leeward.outputs import _disk, write_page

def stopped(*_):
    os.kill(os.getpid(), signal.SIGKILL)

os.fsync = stopped
write_page(Path(sys.argv[1]), "<p>the answers</p>")
"""


def test_whoever_opens_the_address_at_once_waits() -> None:
    with listening(0) as (_, authority):
        port = int(authority.rpartition(":")[2])
        with socket.create_connection((LOOPBACK, port), timeout=5):
            pass
        with pytest.raises(InputError, match="it cannot be used: Address already in use"), listening(port):
            pass


def test_what_was_left_beside_a_release_that_never_was_is_swept(seat: Seat) -> None:
    name = walked(seat)
    begun = seat.desk.released / f"{name}-1"
    begun.mkdir(parents=True)
    killed = Scratch(begun, ["answers"])
    (killed.path / "answers").write_text("not finished")
    owner = killed.path / "leeward-owner.json"
    held = json.loads(owner.read_text())
    owner.unlink()  # another file, which no living process holds
    owner.write_text(json.dumps(held | {"process": 2**31 - 1}))
    owner.chmod(0o600)
    shown = done(seat, seat.post(f"/drafts/{name}/release", {"opens": "1", "doubtful": "1", "useless": "1"}))
    assert shown.status_code == 200, shown.text
    assert not [*begun.iterdir()]


def test_a_page_whose_writing_was_killed_leaves_nothing_for_ever(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(page)], check=False)
    assert ended.returncode == -9
    assert [*tmp_path.iterdir()], "there is what to sweep"
    write_page(page, "<p>the answers</p>")
    assert [*tmp_path.iterdir()] == [page]


def test_what_is_written_whole_is_of_the_group_of_its_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    assert tmp_path.stat().st_mode & stat.S_ISGID
    made = Scratch(tmp_path, [])
    try:
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o2700
    finally:
        made.remove()
