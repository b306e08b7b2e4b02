"""What is read whole is read to a bound, zones are those of the IANA list, and no window leads out of the calendar."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from tests.session.conftest import Town

import leeward as lw
from leeward._paths import LARGEST_SMALL_FILE
from leeward._toml import read_toml
from leeward.errors import InputError, SpecError
from leeward.local.series import Schedule
from leeward.local.series._job import _prior
from leeward.outputs import MANIFEST, beside, prepared
from leeward.planner._expected import read_counts
from leeward.query._source import check_zone
from leeward.spec._windows import cut


def test_a_device_that_never_ends_is_given_up() -> None:
    with pytest.raises(SpecError, match="too large"):
        read_toml("/dev/zero")
    with pytest.raises(InputError, match="too large"):
        read_counts("/dev/zero")


def test_a_prior_that_never_ends_is_given_up() -> None:
    with pytest.raises(SpecError, match=r"prior = '/dev/zero': it cannot be read: File too large"):
        _prior(Path("/dev/zero"))


@pytest.mark.parametrize("size", [LARGEST_SMALL_FILE, LARGEST_SMALL_FILE + 1])
def test_the_list_of_a_folder_is_read_to_a_bound(size: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with prepared(out, "answers") as folder:
        folder.write({"a.txt": lambda path: path.write_text("a")})
    listed = (out / MANIFEST).read_text()
    (out / MANIFEST).write_text(listed + " " * (size - len(listed)))
    if size <= LARGEST_SMALL_FILE:
        with prepared(out, "answers"):
            return
    with pytest.raises(InputError, match=r"leeward-files\.json': it is larger than 16 MiB"), prepared(out, "answers"):
        pass
    assert (out / "a.txt").read_text() == "a"


def test_a_statement_beyond_the_bound_is_none_of_ours(tmp_path: Path) -> None:
    out = tmp_path / "o.csv"
    with beside(out) as files:
        files.path().write_text("a")
        files.place({"says": "x" * LARGEST_SMALL_FILE})
    with pytest.raises(InputError, match="it would be written over"), beside(out):
        pass


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    """A shell's ``<(…)`` is one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for text, read in (("a = 1\n", read_toml), ("count,places\n0,3\n", read_counts)):
        writer = threading.Thread(target=pipe.write_text, args=(text,))
        writer.start()
        found = read(str(pipe))  # type: ignore[operator]
        writer.join()
        assert found in (({"a": 1}, tmp_path), {0: 3})


NO_ZONES = [
    "localtime",
    "Factory",
    "posixrules",
    "posix/Europe/Paris",
    "right/Europe/Paris",
    "",
    ".",
    "../zoneinfo/UTC",
    "Nowhere",
]


@pytest.mark.parametrize("zone", NO_ZONES)
def test_what_is_no_name_of_the_iana_list_is_no_zone(zone: str) -> None:
    with pytest.raises(SpecError, match="it is not the name of a time zone"):
        check_zone(zone)
    with pytest.raises(InputError, match="zone ="):
        Schedule(start="2026-01-01", end="2026-01-02", every="1 h", zone=zone)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "Asia/Tokyo", "GB", "Etc/GMT+12"])
def test_names_of_the_iana_list_are_zones(zone: str) -> None:
    check_zone(zone)
    Schedule(start="2026-01-01", end="2026-01-02", every="1 h", zone=zone)


def test_the_list_of_zones_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It walks a folder of the system: 0.1 s for each question that names a zone."""
    check_zone("UTC")
    monkeypatch.setattr("leeward.query._source.available_timezones", lambda: pytest.fail("made once more"))
    check_zone("Asia/Tokyo")


@pytest.mark.parametrize(
    ("start", "end", "taken"),
    [
        ("9999-12-31T00:00:00", "9999-12-31T23:59:59", True),
        ("9999-01-01T00:00:00", "9999-12-31T00:00:00", True),
        ("0001-01-01T00:00:00", "2026-01-01T00:00:00", True),
        ("0001-01-01T00:00:00+14:00", "2026-01-01T00:00:00Z", False),
        ("0002-01-01T00:00:00+14:00", "9998-12-31T23:59:59-14:00", True),
        ("9998-12-31T00:00:00", "9998-12-31T23:59:59", True),
        ("2026-01-01T00:00:00Z", "9999-12-31T23:00:00-14:00", False),
    ],
)
def test_the_ends_of_the_calendar_are_refused_or_answered(start: str, end: str, taken: bool, town: Town) -> None:
    for every in ("1d", "999999999d", "365000d"):
        if taken and every != "1d":
            spans = cut(start, end, every, None)  # type: ignore[arg-type]
            assert spans[0].start.isoformat() == lw.query.moment("start", start).isoformat()
            assert spans[-1].end == lw.query.moment("end", end)
        elif not taken:
            with pytest.raises(SpecError, match="UTC has no such day"):
                cut(start, end, every, None)  # type: ignore[arg-type]
    spec = town.spec(("start = 2026-01-01T18:00:00", f"start = {start}"), ("end = 2026-01-01T19:00:00", f"end = {end}"))
    code, _, err = town.run("release", spec, "--dry-run")
    assert code == (0 if taken else 2), err
    assert "unexpected" not in err


@pytest.mark.parametrize(
    "shell", ["complete_bash", "complete_zsh", "complete_fish", "bash_complete", "1", "x_y", "source_x"]
)
def test_a_stray_wish_for_completions_is_no_defect(shell: str, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_LEEWARD_COMPLETE", shell)
    for name in ("COMP_WORDS", "COMP_CWORD", "_TYPER_COMPLETE_ARGS"):
        monkeypatch.delenv(name, raising=False)
    code, _, err = town.run("release", town.spec(), "--dry-run")
    assert "unexpected" not in err
    assert "Traceback" not in err
    assert code in (0, 1, 2)  # where words to complete are missing, the library that completes them ends with 1
