"""The rules of what is written, one by one, where a whole command would not show which of them held."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from leeward.errors import InputError
from leeward.outputs import holds_release
from leeward.outputs._disk import digest, digest_or_none, said, set_aside, write_new
from leeward.outputs._folder import MANIFEST, STATEMENT, prepared


def write(folder: Path, *names: str, keep: bool = False) -> None:
    with prepared(folder, "things", names=names, keep=keep) as made:
        made.write({name: lambda path: path.write_text(path.name) for name in names})


def listed(folder: Path) -> set[str]:
    return set(json.loads((folder / MANIFEST).read_text("utf-8"))["files"])


def held(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST}


def test_a_folder_lists_what_was_written_into_it_and_no_longer_what_went(tmp_path: Path) -> None:
    """What is listed may be replaced; so a name that is free again is whoever's takes it."""
    folder = tmp_path / "out"
    for names, left in ((("a", "b", "sub/c"), 3), (("a",), 1), (("sub/d",), 1)):
        write(folder, *names)
        assert listed(folder) == held(folder) == {*names}
        assert len(held(folder)) == left
    assert (folder / "sub").is_dir()
    write(folder, "a", keep=True)
    assert listed(folder) == held(folder) == {"a", "sub/d"}
    write(folder, "a")
    assert not (folder / "sub").exists(), "nothing else was in it"
    (folder / "b").write_text("b")  # somebody's, and the same as was written there once
    with pytest.raises(InputError, match="Leeward did not write it"):
        write(folder, "a", "b")


ODD: dict[str, Any] = {
    "no object": [],
    "a number": 3,
    "files is a text": {"what": "things", "files": "release.json"},
    "files are numbers": {"what": "things", "files": [1]},
    "a name above": {"what": "things", "files": {"../mine": ["0" * 64]}},
    "a name with a root": {"what": "things", "files": {"/mine": ["0" * 64]}},
    "a name far below": {"what": "things", "files": {"a/b/c": ["0" * 64]}},
    "itself": {"what": "things", "files": {MANIFEST: ["0" * 64]}},
    "a digest that is none": {"what": "things", "files": {"a": [1]}},
    "digests in no list": {"what": "things", "files": {"a": "0" * 64}},
    "no kind": {"files": {}},
    "a kind that is none": {"what": 3, "files": {}},
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_list_of_ours_replaces_nothing(name: str, tmp_path: Path) -> None:
    for each in (MANIFEST, "mine", "a"):
        (tmp_path / each).write_text("mine")
    (tmp_path / MANIFEST).write_text(json.dumps(ODD[name]))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert not holds_release(tmp_path)
    with pytest.raises(InputError, match="not a list of what Leeward wrote"):
        write(tmp_path, "new")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_list_that_a_link_leads_to_is_none_of_this_folder(tmp_path: Path) -> None:
    write(tmp_path / "one", "a", STATEMENT)
    (other := tmp_path / "other").mkdir()
    (other / MANIFEST).symlink_to(tmp_path / "one" / MANIFEST)
    (other / "a").write_text("a")
    with pytest.raises(InputError, match="it holds files that Leeward did not write"):
        write(other, "a")


def test_a_digest_is_of_a_file_and_never_of_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a")
    (tmp_path / "link").symlink_to("file")
    assert digest_or_none(tmp_path / "file") == digest(tmp_path / "file")
    assert [digest_or_none(tmp_path / name) for name in ("link", "nothing", "")] == [None] * 3
    with pytest.raises(OSError, match="symbolic links"):
        digest(tmp_path / "link")  # one that took the file's place since


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EOPNOTSUPP, errno.EINVAL])
def test_whatever_says_that_there_is_no_room_is_heard(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a file system that cannot take room beforehand is no reason to refuse."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    if number in (errno.EOPNOTSUPP, errno.EINVAL):
        set_aside(tmp_path / "room", 1)
        return
    with pytest.raises(OSError, match=os.strerror(number)):
        set_aside(tmp_path / "room", 1)


def test_what_stands_nevertheless_is_said_with_what_cannot_be_written(tmp_path: Path) -> None:
    error = OSError(errno.ENOSPC, "full")
    error.add_note("1 window is answered and charged")
    with pytest.raises(InputError, match="; run again, for free") as refused, said(tmp_path, "run again, for free"):
        raise error
    assert refused.value.__notes__ == ["1 window is answered and charged"]


@pytest.mark.parametrize("links", [True, False], ids=["links", "a file system without links"])
def test_a_new_file_is_never_written_over_another(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    write_new(tmp_path / "spec.toml", b"first")
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("spec.toml", "link"):
        with pytest.raises(FileExistsError):
            write_new(tmp_path / name, b"second")
    assert (tmp_path / "spec.toml").read_bytes() == b"first"
    assert (tmp_path / "link").is_symlink()
