"""Nothing of somebody else's is lost: whatever lies where a release, a monitor or a page is to be written."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.outputs.interrupted import cut_short_at_each
from tests.session.conftest import Town
from tests.session.test_monitor_command import SANITIZED

import leeward as lw
from leeward.demo import write_census, write_city
from leeward.errors import InputError
from leeward.ledger import Ledger
from leeward.outputs import MANIFEST, prepared, write_page
from leeward.outputs import _disk as disk_module
from leeward.outputs import _folder as folder_module
from leeward.session._result import saving
from leeward.spec import read_spec

EARLIER = [("2026-01-01T18:00:00", "2026-01-01T15:00:00"), ("2026-01-01T22:00:00", "2026-01-01T19:00:00")]
WATCHED = [*SANITIZED, *EARLIER, ("safe_at_most = 2", "safe_at_most = 20")]
"""All four windows are answered, and none costs anything."""
WINDOWS = (
    "[window]\nstart = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00\n",
    "[window]\nwindows = [{ start = 2026-01-01T18:00:00, end = 2026-01-01T19:00:00 },"
    " { start = 2026-01-01T19:00:00, end = 2026-01-01T20:00:00 }]\n",
)
COMMANDS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "release": ("release", []),
    "several windows": ("release", [WINDOWS]),
    "monitor": ("monitor", WATCHED),
}


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder, with the digests of files and where links lead; folders of links are not entered."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder on another file system, where there is one."""
    shm = Path("/dev/shm")
    if not os.access(shm, os.W_OK) or shm.stat().st_dev == Path.cwd().stat().st_dev:
        pytest.skip("no second file system")
    made = shm / f"leeward-test-{uuid.uuid4().hex}"
    made.mkdir()
    yield made
    shutil.rmtree(made)


def _holds_all_that_the_issue_names(town: Town) -> Path:
    """A folder with a file of the right name, and with spec, data, ledger and mark in it."""
    town.out.mkdir()
    for name in ("release.json", "spec.toml", "visits.parquet", "budget.db", "budget.db.mark"):
        (town.out / name).write_text("years of work")
    return town.out


def _holds_the_spec(town: Town) -> Path:
    return town.folder


def _holds_sub_folders_that_look_like_releases(town: Town) -> Path:
    for name in ("2026-01-01T18-00-00", "mine"):
        (town.out / name).mkdir(parents=True)
        (town.out / name / "release.json").write_text("{}")
    return town.out


def _is_a_file(town: Town) -> Path:
    town.out.write_text("a thesis")
    return town.out


def _is_below_a_file(town: Town) -> Path:
    town.out.write_text("a thesis")
    return town.out / "chapter"


def _has_no_parent(town: Town) -> Path:
    return town.folder / "nowhere" / "out"


def _is_a_link_to_what_is_someone_elses(town: Town) -> Path:
    (town.folder / "theirs").mkdir()
    (town.folder / "theirs" / "thesis.tex").write_text("years of work")
    town.out.symlink_to(town.folder / "theirs")
    return town.out


def _is_a_link_to_itself(town: Town) -> Path:
    town.out.symlink_to(town.out)
    return town.out


def _has_a_name_that_is_too_long(town: Town) -> Path:
    return town.folder / ("o" * 256)


def _has_a_path_that_is_too_long(town: Town) -> Path:
    return town.folder.joinpath(*["d" * 200] * 25, "out")


def _cannot_be_made_there(town: Town) -> Path:
    return Path("/proc/leeward-out")


def _has_a_manifest_that_lies(town: Town) -> Path:
    """It lists, with its right digest, a file outside of the folder."""
    town.out.mkdir()
    told = {"what": "a release", "files": {"../spec.toml": [tree(town.folder)["spec.toml"]]}}
    (town.out / MANIFEST).write_text(json.dumps(told))
    return town.out


def _has_a_manifest_with_half_a_character(town: Town) -> Path:
    town.out.mkdir()
    (town.out / MANIFEST).write_text('{"what": "a release", "files": {"\\ud800": ["0"]}}')
    return town.out


def _has_a_manifest_with_half_a_character_in_a_digest(town: Town) -> Path:
    town.out.mkdir()
    (town.out / MANIFEST).write_text('{"what": "a release", "files": {"a": ["\\ud800"]}}')
    return town.out


def _has_a_manifest_that_is_a_link(town: Town) -> Path:
    town.out.mkdir()
    (town.folder / "list.json").write_text(json.dumps({"what": "a release", "files": {}}))
    (town.out / MANIFEST).symlink_to(town.folder / "list.json")
    return town.out


def _has_another_kind_of_output(town: Town) -> Path:
    with prepared(town.out, "a cake") as place:
        place.write({"cake.txt": lambda path: path.write_text("cake")})
    return town.out


IN_THE_WAY: list[Callable[[Town], Path]] = [
    _holds_all_that_the_issue_names,
    _holds_the_spec,
    _holds_sub_folders_that_look_like_releases,
    _is_a_file,
    _is_below_a_file,
    _has_no_parent,
    _is_a_link_to_what_is_someone_elses,
    _is_a_link_to_itself,
    _has_a_name_that_is_too_long,
    _has_a_path_that_is_too_long,
    _cannot_be_made_there,
    _has_a_manifest_that_lies,
    _has_a_manifest_with_half_a_character,
    _has_a_manifest_with_half_a_character_in_a_digest,
    _has_a_manifest_that_is_a_link,
    _has_another_kind_of_output,
]


@pytest.mark.parametrize("there", IN_THE_WAY, ids=lambda there: there.__name__[1:])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_in_the_way_is_refused_before_anything_is_charged(
    command: str, there: Callable[[Town], Path], town: Town
) -> None:
    word, changes = COMMANDS[command]
    spec = town.spec(*changes)
    out = there(town)
    before = tree(town.folder)
    code, shown, err = town.run(word, spec, "--out", out)
    assert (code, shown) == (2, ""), err
    assert len(err.strip().splitlines()) == 1, err
    assert tree(town.folder) == before, "not even a ledger was made"


WRITTEN_OVER: dict[str, Callable[[Path], object]] = {
    "an edited report": lambda folder: _page(folder).write_text("<p>my remarks</p>"),
    "an edited statement": lambda folder: (folder / "release.json").write_text("{}"),
    "a file that became a link": lambda folder: _link(_page(folder), folder / "release.json"),
    "a file that became a folder": lambda folder: _make_folder(_page(folder)),
    "a file of a name that is needed": lambda folder: (folder / "places.parquet").write_text("mine"),
}


def _page(folder: Path) -> Path:
    """The page about a folder's release: a monitor has one beside the folders of its windows."""
    page = (folder if folder.name == "out" else folder.parent) / "report.html"
    assert page.is_file()
    return page


def _make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


@pytest.mark.parametrize("change", WRITTEN_OVER)
@pytest.mark.parametrize("command", COMMANDS)
def test_what_was_changed_since_is_not_written_over(command: str, change: str, town: Town) -> None:
    word, changes = COMMANDS[command]
    spec = town.spec(*changes)
    assert town.run(word, spec, "--out", town.out)[0] == 0
    WRITTEN_OVER[change](town.out / "2026-01-01T18-00-00" if command == "monitor" else town.out)
    before = tree(town.out)
    later = town.spec(*changes, ("safe_at_most = 2", "safe_at_most = 3"))
    code, shown, err = town.run(word, later, "--out", town.out)
    assert (code, shown) == (2, ""), err
    assert "written over" in err
    assert tree(town.out) == before
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == {"release": 1, "several windows": 2, "monitor": 0}[command]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_somebody_elses_stays_where_ours_is_replaced(command: str, town: Town) -> None:
    word, changes = COMMANDS[command]
    assert town.run(word, town.spec(*changes), "--out", town.out)[0] == 0
    first = tree(town.out)
    theirs = [town.out / "remarks.txt", town.out / "mine" / "release.json", town.out / ".leeward-abcdefgh" / "a"]
    if command == "monitor":
        theirs.append(town.out / "2026-01-01T18-00-00" / "remarks.txt")
    for path in theirs:
        path.parent.mkdir(exist_ok=True)
        path.write_text("years of work")
    later = town.spec(*changes, ("safe_at_most = 2", "safe_at_most = 3"), ('cap = "', 'cap = "1'))
    for ledger in town.folder.glob("budget.db*"):
        ledger.unlink()  # another question, another ledger: all is drawn anew
    code, _, err = town.run(word, later, "--out", town.out)
    assert code == 0, err
    found = tree(town.out)
    assert all(path.read_text() == "years of work" for path in theirs)
    assert first.keys() <= found.keys()
    assert {name for name in first if name.endswith("release.json") and first[name] == found[name]} == set()
    assert len(found) == len(first) + len(theirs) + 2, "nothing of the work is left"  # and two folders of theirs


def test_files_that_are_not_written_again_go_and_their_folders_only_if_they_are_empty(town: Town) -> None:
    (plan,) = read_spec(town.spec()).visitor_plans()
    made = lw.release(plan, lw.Budget(str(town.folder / "budget.db"), dataset="town", cap="5"))
    with saving(town.out, ["one", "other"]) as save:
        save([made, made])
    (town.out / "one" / "remarks.txt").write_text("years of work")
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    assert sorted(tree(town.out)) == sorted(
        [
            *("one", "one/remarks.txt"),
            *(MANIFEST, "answers.csv", "answers.parquet", "release.json", "report.html"),
        ]
    )


@pytest.mark.sweep
def test_an_earlier_until_leaves_the_folders_of_later_windows(town: Town) -> None:
    spec = town.spec(*WATCHED)
    assert town.run("monitor", spec, "--out", town.out)[0] == 0
    before = tree(town.out)
    later = [name for name in before if name.startswith("2026-01-01T18")]
    assert later
    (town.out / "2026-01-01T18-00-00" / "answers.csv").write_text("edited, and not asked again")
    code, _, err = town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T16:30:00")
    assert code == 0, err
    after = tree(town.out)
    assert after.keys() == before.keys()
    assert (town.out / "2026-01-01T18-00-00" / "answers.csv").read_text() == "edited, and not asked again"


@pytest.mark.sweep
def test_names_and_links_that_work(town: Town, elsewhere: Path) -> None:
    """What used to be charged and then failed: a name of 250 characters, and a link to another file system."""
    (town.folder / "link").symlink_to(elsewhere)
    (town.folder / "to come").symlink_to(elsewhere / "new")
    for out in (town.folder / ("o" * 250), town.folder / "link", town.folder / "to come"):
        for again in ("2", "3"):
            spec = town.spec(("safe_at_most = 2", f"safe_at_most = {again}"))
            code, _, err = town.run("release", spec, "--out", out)
            assert code == 0, err
            assert json.loads((out / "release.json").read_text())["entry"]
    assert (town.folder / "link").is_symlink()
    assert not [*town.folder.glob(".leeward-*"), *elsewhere.rglob(".leeward-*")]


def test_no_room_is_found_before_anything_is_charged(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    before = tree(town.folder)
    code, shown, err = town.run("release", town.spec(), "--out", town.out)
    assert (code, shown) == (2, "")
    assert "No space left" in err
    assert tree(town.folder) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_what_gets_in_the_way_after_the_charge_is_told_with_what_stands(
    command: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: a file that was put there meanwhile was told as one found before the charge is, and the charge was not."""
    stage = folder_module.Folder._stage

    def meanwhile(folder: folder_module.Folder, files: Any) -> Path:
        town.out.mkdir()
        (town.out / "report.html").write_text("mine")
        return stage(folder, files)

    monkeypatch.setattr(folder_module.Folder, "_stage", meanwhile)
    word, changes = COMMANDS[command]
    code, shown, err = town.run(word, town.spec(*changes), "--out", town.out)
    assert code == 2, shown
    assert "Leeward did not write it" in err
    assert "Running the same release again shows the stored answer at no further price" in err


def test_a_folder_that_cannot_be_locked_is_found_before_anything_is_charged(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on some file systems that are reached over a network: what is there is replaced under its lock."""
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    before, locked = tree(town.folder), disk_module.lock

    def refused(file: int, **how: Any) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        locked(file, **how)

    monkeypatch.setattr(disk_module, "lock", refused)
    code, _, err = town.run("release", town.spec(('epsilon = "1"', 'epsilon = "1/2"')), "--out", town.out)
    assert (code, "cannot be written: Function not implemented" in err) == (2, True), err
    spec = {"spec.toml": tree(town.folder)["spec.toml"]}
    assert tree(town.folder) == before | spec


def test_a_folder_below_that_may_not_be_written_is_found_before_anything_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a run of root; tests may be root's, who may write anywhere."""
    (tmp_path / "out").mkdir()
    _write(tmp_path / "out", **{"below/letter": "dear"})
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, how: path != tmp_path / "out" / "below" and may(path, how))
    with (
        pytest.raises(InputError, match=r"out/below': this user may not write there"),
        prepared(tmp_path / "out", "letters", names=["below/letter"]),
    ):
        pass


def _write(place: Path, **texts: str) -> None:
    with prepared(place, "letters") as folder:
        folder.write({name: _writer(text) for name, text in texts.items()})


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


@pytest.mark.parametrize("is_there", [False, True])
def test_cut_short_anywhere_it_is_taken_up_and_nothing_is_lost(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every system call that changes the folder fails in its turn; the next run brings it about all the same."""
    for turn, cut_short in cut_short_at_each(monkeypatch, "replace", "rename", "mkdir", "fsync", "unlink"):
        place = tmp_path / f"{turn}"
        if is_there:
            _write(place, a="one", b="one", release="one")
            (place / "theirs").write_text("years of work")
        with cut_short(), suppress(InputError):
            _write(place, a="two", c="two", release="two")
        assert not is_there or (place / "theirs").read_text() == "years of work"
        for name in ("a", "b", "c", "release") if place.exists() else ():
            assert not (place / name).exists() or (place / name).read_text() in {"one", "two"}
        _write(place, a="two", c="two", release="two")
        wanted = {"a", "c", "release", MANIFEST} | ({"theirs"} if is_there else set())
        found = {path.name for path in place.iterdir() if not path.name.startswith(".leeward-")}
        assert found == wanted
        assert (place / "a").read_text() == (place / "c").read_text() == "two"
    assert turn > 8, "the calls were really counted"


@pytest.mark.parametrize("statement", ["release.json", "of one/release.json"])
def test_cut_short_anywhere_no_statement_stands_beside_answers_that_it_is_not_about(
    statement: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a call fails, whatever it is: a statement that is there is of the same run as all that lies beside it."""
    names = [name if "/" not in statement else f"of one/{name}" for name in ("answers", "page")]
    beside = 0
    for turn, cut_short in cut_short_at_each(monkeypatch, "replace", "rename", "mkdir", "fsync", "unlink"):
        place = tmp_path / f"{turn}"
        _write(place, **dict.fromkeys((*names, statement), "one"))
        with cut_short(), suppress(InputError):
            _write(place, **dict.fromkeys((*names, statement), "two"))
        if (place / statement).exists():
            beside += 1
            assert {(place / name).read_text() for name in names} == {(place / statement).read_text()}, turn
    assert turn > beside > 2


@pytest.mark.sweep
@pytest.mark.parametrize("at", ["in the middle of it", "before it is there"])
def test_a_killed_writer_leaves_only_what_the_next_one_clears_up(at: str, town: Town) -> None:
    spec = town.spec(*WATCHED)
    if at == "in the middle of it":
        early = ("--until", "2026-01-01T16:30:00", "--if-doubtful", "publish")  # nobody was anywhere so early
        assert town.run("monitor", spec, "--out", town.out, *early)[0] == 0
    decoy = town.folder / ".leeward-abcdefgh"
    decoy.mkdir(mode=0o700)
    (decoy / "thesis.tex").write_text("years of work")
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(spec), str(town.out)], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    around = [town.folder, *([town.out] if town.out.exists() else [])]
    assert [path for folder in around for path in folder.glob(".leeward-*") if path != decoy], "there is what to clear"
    code, _, err = town.run("monitor", spec, "--out", town.out)
    assert code == 0, err
    assert [path for folder in around for path in folder.glob(".*") if path != decoy] == []
    assert (decoy / "thesis.tex").read_text() == "years of work"
    assert len([*town.out.glob("*/release.json")]) == 4


_KILLED = """
import os, signal, sys
import leeward.outputs._folder as folder

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

folder.Folder._appear = folder.Folder._exchange = kill
sys.argv = ["leeward", "monitor", sys.argv[1], "--out", sys.argv[2], "--yes"]
from leeward.cli import main
main()
"""


def test_two_at_once_leave_one_whole_folder(tmp_path: Path) -> None:
    """The later one finds the other's folder in its place and is refused, or replaces it; never a mixture."""
    with prepared(tmp_path / "out", "letters") as first, prepared(tmp_path / "out", "letters") as second:
        first.write({"a": _writer("first")})
        second.write({"a": _writer("second")})
    assert (tmp_path / "out" / "a").read_text() == "second"
    assert {path.name for path in tmp_path.rglob("*")} == {"out", "a", MANIFEST}
    with prepared(tmp_path / "other", "letters") as late:
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "a").write_text("somebody else's")
        with pytest.raises(InputError, match="did not write it"):
            late.write({"a": _writer("late")})
    assert (tmp_path / "other" / "a").read_text() == "somebody else's"


# ---- pages, and what the helpers of Python write


def test_a_page_is_replaced_only_if_it_is_as_it_was_written(town: Town) -> None:
    page = town.folder / "plan.html"
    page.write_text("<p>mine</p>")
    code, _, err = town.run("plan", town.spec(), "--html", page)
    assert (code, page.read_text()) == (2, "<p>mine</p>")
    assert "not as Leeward wrote it" in err
    page.unlink()
    for at in ("0:0.9", "1:0.5"):
        assert town.run("plan", town.spec(), "--html", page, "--safe-at", at)[0] == 0
    page.write_text(page.read_text().replace("</html>", "<p>a remark</p></html>"))
    before = page.read_text()
    assert town.run("plan", town.spec(), "--html", page)[0] == 2
    assert page.read_text() == before
    assert not [*town.folder.glob(".leeward-*")]


@pytest.mark.parametrize("end", ["", "\n", "<!-- written by Leeward, SHA-256 " + "0" * 64 + " -->\n"])
def test_whatever_a_page_ends_in_it_is_known_again(end: str, tmp_path: Path) -> None:
    page = write_page(tmp_path / "page.html", f"<p>one</p>{end}")
    assert page.read_text().startswith("<p>one</p>")
    write_page(page, "<p>two</p>")
    page.write_text(page.read_text() + "\n")
    with pytest.raises(InputError):
        write_page(page, "<p>three</p>")


def test_the_census_and_the_city_write_over_nothing(tmp_path: Path) -> None:
    census = tmp_path / "census.parquet"
    census.write_text("mine")
    with pytest.raises(InputError, match="another file"):
        write_census(census)
    assert census.read_text() == "mine"
    census.unlink()
    assert len(pd.read_parquet(write_census(census))) == len(pd.read_parquet(write_census(census)))
    city = tmp_path / "city"
    city.mkdir()
    (city / "spec.toml").write_text("mine")
    with pytest.raises(InputError, match="Leeward did not write"):
        write_city(city)
    assert tree(city) == {"spec.toml": hashlib.sha256(b"mine").hexdigest()}


def test_the_check_of_every_name_is_what_protects(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the tests above fail: they are able to."""
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    (town.out / "report.html").write_text("my remarks")
    monkeypatch.setattr(folder_module.Folder, "_check", lambda *_: None)
    later = town.spec(("safe_at_most = 2", "safe_at_most = 3"))
    assert town.run("release", later, "--out", town.out)[0] == 0
    assert (town.out / "report.html").read_text() != "my remarks"
