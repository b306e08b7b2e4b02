"""What is put in its place is on the disk before; and that it is there is on the disk before anybody hears so.

No process that is killed shows this: it takes a machine without power. So it is read off the calls: a file or folder that
gets a lasting name was synced since it was last written, with all that it holds, and the folder it is in is synced after.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import leeward as lw
from leeward._scratch import OWNER
from leeward.ledger._high_water_mark import HighWaterMark, write_high_water_mark
from leeward.local.location import OwnReports
from leeward.outputs import beside, prepared
from leeward.outputs._disk import replace_whole, write_new
from leeward.outputs._files import write_page
from leeward.service._tokens import Tokens

Seen = tuple[int, int, int, int]


def seen(at: int | str | os.PathLike[str]) -> Seen:
    found = os.stat(at)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def watched(patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield what was put in its place, by name; fail where something was that is not on the disk."""
    synced, moved, named = set[Seen](), dict[Path, str](), list[str]()
    fsync = os.fsync

    def sync(file: int) -> None:
        fsync(file)
        synced.add(seen(file))
        moved.pop(Path(os.readlink(f"/proc/self/fd/{file}")), None)

    def putting(real: Callable[..., Any]) -> Callable[..., Any]:
        def put(source: Any, target: Any, **how: Any) -> Any:
            whole, place = Path(source), Path(os.path.realpath(Path(target).parent), Path(target).name)
            if place.name != OWNER:  # of a folder that is gone in the end
                inside = list(whole.rglob("*")) if whole.is_dir() else []
                for each in (whole, *inside):
                    assert seen(each) in synced, f"{each.name} is not on the disk, and becomes {place.name}"
                named.append(place.name)
                moved[place.parent] = place.name
            return real(source, target, **how)

        return put

    patch.setattr(os, "fsync", sync)
    for name in ("replace", "rename", "link"):
        patch.setattr(os, name, putting(getattr(os, name)))
    yield named
    assert not moved, f"that {[*moved.values()]} are there is not on the disk"


def _folder(at: Path) -> None:
    files = {name: _says(name) for name in ("answers.csv", "release.json", "of one/report.html")}
    with prepared(at / "out", "a release") as folder:
        folder.write(files)


def _says(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text)


def _folder_again(at: Path) -> None:
    with prepared(at / "out", "a release") as folder:
        folder.write({"answers.csv": _says("others"), "release.json": _says("another"), "b/c": _says("new")})


def _file(at: Path) -> None:
    with beside(at / "o.csv", ".map.html") as files:
        files.path().write_text("1,2\n")
        files.path(".map.html").write_text("<html>")
        files.place({"format": 1})


def _many_files(at: Path) -> None:
    with beside(at / "o.parquet", holds=["part-*"]) as files:
        files.path().mkdir()
        for number in range(3):
            (files.path() / f"part-{number}").write_text(str(number))
        files.place({"format": 1})


def _own_report(at: Path) -> None:
    geo = lw.PlanarLaplace(box=(139.3, 35.3, 140.2, 36.1), within="200 m", factor=2)
    OwnReports(geo, at / "own.state", every="10 min", reports_a_day=6, new=True).report(35.6, 139.7)


WRITES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a folder": (_folder, ["leeward-files.json", "out"]),
    "a folder that is there": (
        lambda at: (_folder(at), _folder_again(at)),
        ["leeward-files.json", "out", "leeward-files.json", "answers.csv", "c", "release.json", "leeward-files.json"],
    ),
    "a file with its statement": (_file, ["o.csv.release.json", "o.csv.map.html", "o.csv"]),
    "a folder with its statement": (_many_files, ["o.parquet.release.json", "o.parquet"]),
    "a page": (lambda at: write_page(at / "page.html", "<html>"), ["page.html"]),
    "a file in the place of another": (lambda at: replace_whole(at / "one", b"1"), ["one"]),
    "a file that is new": (lambda at: write_new(at / "two", b"2"), ["two"]),
    "tokens": (lambda at: Tokens(at / "t.json").create("ann", {"town": Fraction(1)}), ["t.json"]),
    "the mark of a ledger": (
        lambda at: write_high_water_mark(at / "b.db", HighWaterMark("0", 1, "0")),
        ["b.db.mark"],
    ),
    "one's own report": (_own_report, ["own.state", "own.state"]),
}


@pytest.mark.parametrize("what", WRITES)
def test_what_is_put_in_its_place_is_on_the_disk(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write, names = WRITES[what]
    with monkeypatch.context() as patch, watched(patch) as named:
        write(tmp_path)
    assert named == names


def test_a_file_system_without_links_is_no_way_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refused)
        with watched(patch) as named:
            write_new(tmp_path / "two", b"2")
    assert named == ["two", "two"], "the link that is refused, and the file itself"


@pytest.mark.parametrize("forgotten", ["a file", "the folder"])
def test_a_sync_that_is_forgotten_is_found(forgotten: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful() -> None:
        with monkeypatch.context() as patch, watched(patch):
            fsync = os.fsync

            def some(file: int) -> None:
                if Path(f"/proc/self/fd/{file}").is_dir() == (forgotten == "a file"):
                    fsync(file)

            patch.setattr(os, "fsync", some)
            replace_whole(tmp_path / "one", b"1")

    with pytest.raises(AssertionError, match="not on the disk"):
        forgetful()
