"""Private folders of unfinished work go with their process, and those of dead processes are swept; nothing else is."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leeward._scratch import OWNER, Scratch, scratch, sweep

LEFT = """
import os, signal, sys
from pathlib import Path
from leeward._scratch import Scratch

made = Scratch(Path(sys.argv[1]), ["duckdb_temp_*", "whole/window/report.html"])
(made.path / "duckdb_temp_block-0.block").write_text("rows")
(made.path / "whole" / "window").mkdir(parents=True)
(made.path / "whole" / "window" / "report.html").write_text("rows")
print(made.path, flush=True)
if sys.argv[2] == "dies":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""


def left(parent: Path) -> Path:
    """Return a folder that a killed process left behind, with files two folders down."""
    died = subprocess.run([sys.executable, "-c", LEFT, parent, "dies"], capture_output=True, text=True, check=False)
    assert died.returncode == -signal.SIGKILL, died.stderr
    folder = Path(died.stdout.strip())
    assert (folder / "duckdb_temp_block-0.block").exists()
    return folder


def test_what_a_dead_process_left_is_swept(tmp_path: Path) -> None:
    folder = left(tmp_path)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    with scratch(tmp_path) as made:
        assert [*tmp_path.iterdir()] == [made.path]
        assert not folder.exists()
    assert not [*tmp_path.iterdir()]


def _says(folder: Path, **changes: Any) -> None:
    said = json.loads((folder / OWNER).read_text())
    (folder / OWNER).write_text(json.dumps(said | changes))


def _started(process: int) -> int:
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19])


STAYS: dict[str, Callable[[Path], object]] = {
    "others may read it": lambda folder: folder.chmod(0o755),
    "it does not say whose it is": lambda folder: (folder / OWNER).unlink(),
    "what it says cannot be read": lambda folder: (folder / OWNER).write_text('{"made_by": '),
    "it is deeply nested": lambda folder: (folder / OWNER).write_text("[" * 100_000),
    "another program made it": lambda folder: _says(folder, made_by="somebody else"),
    "its process lives": lambda folder: _says(folder, process=os.getppid(), started=_started(os.getppid())),
    "its process is none": lambda folder: _says(folder, process="1"),
    "it may hold what is elsewhere": lambda folder: _says(folder, files=["../theirs"]),
    "it may hold anything": lambda folder: _says(folder, files=["**"]),
    "it may hold what is anywhere": lambda folder: _says(folder, files=["/etc/passwd"]),
    "its name is another": lambda folder: folder.rename(folder.with_name("leeward-abcdefgh")),
    "its name is longer": lambda folder: folder.rename(folder.with_name(folder.name + "x")),
    "whose it is stands behind a link": lambda folder: _moved(folder / OWNER),
}


def _moved(path: Path) -> None:
    target = path.parent.parent / "elsewhere.json"
    path.rename(target)
    path.symlink_to(target)


@pytest.mark.parametrize("reason", STAYS)
def test_a_folder_that_is_not_surely_ours_stays(reason: str, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("years of work")
    folder = left(tmp_path)
    STAYS[reason](folder)
    before = sorted(tmp_path.rglob("*"))
    sweep(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_another_user_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep(tmp_path)
    assert folder.exists()


def test_a_folder_of_a_living_process_stays_and_that_of_a_recycled_number_goes(tmp_path: Path) -> None:
    lives = subprocess.Popen(
        [sys.executable, "-c", LEFT, tmp_path, "lives"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert lives.stdout is not None
    folder = Path(lives.stdout.readline().strip())
    sweep(tmp_path)
    assert (folder / "duckdb_temp_block-0.block").exists()
    lives.communicate("")
    sweep(tmp_path)
    assert not folder.exists()
    again = left(tmp_path)
    _says(again, process=os.getpid())  # its number is ours now, but we started later
    sweep(tmp_path)
    assert not again.exists()


def test_what_is_not_its_own_stays_in_it(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "report.html").write_text("years of work")
    folder = left(tmp_path)
    (folder / "thesis.tex").write_text("years of work")
    (folder / "whole" / "window" / "thesis.tex").write_text("years of work")
    sweep(tmp_path)
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == [OWNER, "thesis.tex", "whole/window/thesis.tex"]
    other = left(tmp_path)
    (other / "whole" / "window" / "report.html").unlink()
    (other / "whole" / "window").rmdir()
    (other / "whole" / "window").symlink_to(theirs)
    sweep(tmp_path)
    assert (theirs / "report.html").read_text() == "years of work", "links are not followed"


def test_patterns_of_folders_are_swept_to_the_bottom(tmp_path: Path) -> None:
    """What Spark was writing, however its folders are called; nothing beside it, and nothing behind a link."""
    made = Scratch(tmp_path, ["file/*", "file/_temporary/0/_temporary/*/*"])
    task, theirs = made.path / "file/_temporary/0/_temporary/attempt_7", tmp_path / "theirs"
    for folder in (task, theirs):
        folder.mkdir(parents=True)
        (folder / ".part-0.crc").write_text("rows")
    (task.parent / "attempt_8").symlink_to(theirs)
    (task.parent.parent / "thesis.tex").write_text("years of work")
    made.remove()
    left = {str(path.relative_to(made.path)) for path in made.path.rglob("*") if path.is_symlink() or path.is_file()}
    assert left == {"file/_temporary/0/_temporary/attempt_8", "file/_temporary/0/thesis.tex", OWNER}
    assert (theirs / ".part-0.crc").read_text() == "rows"
    assert not task.exists()


def test_a_forked_child_leaves_its_parents_folder(tmp_path: Path) -> None:
    with scratch(tmp_path) as made:
        child = os.fork()
        if child == 0:
            made.remove()
            os._exit(0)
        os.waitpid(child, 0)
        assert made.path.is_dir()
        sweep(tmp_path)
        assert made.path.is_dir()
    assert not made.path.exists()


@pytest.mark.parametrize("name", ["../up", "/etc/passwd", "**/x", "a/b/c/d/e/f/g", "nul\0", ""])
def test_a_folder_never_says_that_it_holds_what_is_elsewhere(name: str, tmp_path: Path) -> None:
    made = Scratch(tmp_path, [name, "fine"])
    assert json.loads((made.path / OWNER).read_text())["files"] == ["fine"]
    made.remove()
    assert not made.path.exists()


@pytest.mark.parametrize("step", ["fchmod", "flock", "pwrite"])
def test_a_folder_that_cannot_be_locked_is_not_left(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl if step == "flock" else os, step, refused)
    with pytest.raises(OSError, match="No locks"), scratch(tmp_path):
        pass
    assert [*tmp_path.iterdir()] == []


def test_a_folder_of_one_that_was_killed_before_it_had_said_whose_it_is_is_swept(tmp_path: Path) -> None:
    folder = left(tmp_path)
    shutil.rmtree(folder / "whole")
    (folder / "duckdb_temp_block-0.block").unlink()
    (folder / OWNER).rename(folder / f"{OWNER}.new")
    empty = left(tmp_path)
    (empty / OWNER).rename(empty / f"{OWNER}.new")
    (empty / f"{OWNER}.new").write_text("")  # its process may be about to lock it
    sweep(tmp_path)
    assert [*tmp_path.iterdir()] == [empty]


@pytest.mark.parametrize("mask", [0, 0o777])
def test_the_umask_takes_nothing_from_its_owner(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        with scratch(tmp_path) as made:
            modes = [stat.S_IMODE(each.stat().st_mode) for each in (made.path, made.path / OWNER)]
    finally:
        os.umask(before)
    assert modes == [0o700, 0o600]
