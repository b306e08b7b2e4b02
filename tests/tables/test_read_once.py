"""What is read of a file is read once, however often it is opened, and never of a file that is another one by then."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.tables import _csv as csv
from leeward.tables import _files as files
from leeward.tables._files import File, once

COLUMNS = {"person": "who", "place": "where"}


def write(path: Path, who: list[str], order: tuple[str, str] = ("who", "where")) -> None:
    held = {"who": who, "where": ["x"] * len(who)}
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: held[name] for name in order}), path)
    else:
        rows = [order, *zip(*(held[name] for name in order), strict=True)]
        path.write_text("".join(",".join(row) + "\n" for row in rows))


def people(path: Path) -> list[str]:
    with bind(str(path), COLUMNS) as bound:
        found: list[str] = bound.fetch(bound.rows).column("who").to_pylist()
        return found


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often all of a file, or its footer, was read before the engine read it."""
    seen: Counter[str] = Counter()

    def counting(module: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(module, name)

        def counted(*given: Any, **named: Any) -> Any:
            seen[name] += 1
            return real(*given, **named)

        monkeypatch.setattr(module, name, counted)

    counting(csv, "_pieces")
    counting(pq, "read_metadata")
    counting(pq, "ParquetFile")
    return seen


@pytest.mark.parametrize(
    ("name", "once_each"), [("a.csv", {"_pieces": 1}), ("a.parquet", {"read_metadata": 1, "ParquetFile": 1})]
)
def test_a_file_that_stays_is_looked_at_once(
    name: str, once_each: dict[str, int], tmp_path: Path, passes: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_STILL", -1)
    write(tmp_path / name, ["ann", "bob"])
    passes.clear()
    for _ in range(4):
        assert people(tmp_path / name) == ["ann", "bob"]
    assert passes == once_each


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
@pytest.mark.parametrize("still", [-1, files._STILL])
def test_a_file_that_was_changed_is_read_anew(
    name: str, still: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place and by another file, with as many bytes, its times set back, and its columns in another order."""
    monkeypatch.setattr(files, "_STILL", still)
    path = tmp_path / name
    write(path, ["ann", "bob"])
    before = path.stat()
    assert people(path) == ["ann", "bob"]
    for who, order in (
        (["cat", "dan"], ("where", "who")),
        (["eve", "fay"], ("who", "where")),
        (["gus"], ("who", "where")),
    ):
        write(tmp_path / f"new-{name}", who, order)
        os.utime(tmp_path / f"new-{name}", ns=(before.st_atime_ns, before.st_mtime_ns))
        (tmp_path / f"new-{name}").replace(path)
        assert people(path) == who
        write(path, who[::-1], order)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert people(path) == who[::-1]


@pytest.mark.parametrize("is_still", [True, False])
def test_of_a_file_that_was_just_written_nothing_is_kept(is_still: bool) -> None:
    """Two writings within one tick of a coarse clock leave one stamp; a file that was still before cannot have had them."""
    given = iter(["old", "new"])
    read = once(lambda _: next(given))
    file = File("a", "/a", (1, 2, 3, 4, 5), is_still)
    assert [read(file), read(file)] == ["old", "old" if is_still else "new"]


def test_what_a_file_is_found_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.touch()
    stamp = path.stat()
    for later, is_still in ((0, False), (1_999_999_999, False), (2_000_000_001, True), (-(10**12), False)):
        monkeypatch.setattr(files.time, "time_ns", lambda later=later: stamp.st_ctime_ns + later)
        assert File.of(path).is_still == is_still


def test_errors_are_not_kept() -> None:
    tried = []

    def refuse(file: File) -> None:
        tried.append(file)
        raise DataError("It", "is damaged", "Get it again")

    for _ in range(2):
        with pytest.raises(DataError):
            once(refuse)(File("a", "/a", (0,), True))
    assert len(tried) == 2


def test_a_file_that_changes_while_it_is_open_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    write(path, ["ann"])
    with bind(str(path), COLUMNS) as bound:
        bound.check_unchanged()
        write(path, ["bob"])
        with pytest.raises(DataError, match="changed while it was being read"):
            bound.check_unchanged()
        path.unlink()
        with pytest.raises(DataError, match="changed while it was being read"):
            bound.check_unchanged()
