"""A table that another program writes over while one of ours reads it: what was read is never said to be about it.

Every way of perturbing and of attacking reads a table more than once, or names its columns before it reads them. Its file is
touched here once all rows were read, which nothing but the look at its stamp can notice.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.local import test_attacked, test_series_job

from leeward.errors import DataError
from leeward.local import check_job
from leeward.local.location._files import PositionFile
from leeward.local.series._files import ReadingsFile

HIM = {"adds": ["100 W", "200 W"], "first": "2026-03-28T05:00"}
TOTALS = {"publish": {"what": "totals"}}


def touch(path: Path) -> None:
    os.utime(path, ns=(1, 1))


def touched_after(patch: pytest.MonkeyPatch, kind: Any, method: str, path: Path) -> None:
    """Touch a file once a method of it has returned."""
    real = getattr(kind, method)

    def done(self: Any, *args: Any, **how: Any) -> Any:
        made = real(self, *args, **how)
        if Path(self.file.path).name == path.name:
            touch(path)
        return made

    patch.setattr(kind, method, done)


@pytest.mark.parametrize("changes", [{}, TOTALS, {"publish": {"what": "tree", "levels": ["day", "month"]}}])
def test_of_readings(changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "r.parquet"
    test_series_job.frame().to_parquet(source)
    given = test_series_job.spec(attacker=HIM, **changes)
    job = check_job(given, folder=tmp_path)
    job.run(tmp_path / "o.parquet", lambda *_: None)
    assert job.attack(tmp_path / "o.parquet")
    with monkeypatch.context() as patch:
        touched_after(patch, ReadingsFile, "read" if changes else "rewrite", source)
        with pytest.raises(DataError, match=r"r\.parquet': it was changed while"):
            job.run(tmp_path / "p.parquet", lambda *_: None)
        assert not [*tmp_path.glob("p.*"), *tmp_path.glob(".leeward-*")]
    for name in ("r.parquet", "o.parquet"):
        with monkeypatch.context() as patch:
            touched_after(patch, ReadingsFile, "read", tmp_path / name)
            with pytest.raises(DataError, match=rf"{name}': it was changed while"):
                job.attack(tmp_path / "o.parquet")


def test_of_positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    test_attacked.folder.__wrapped__(tmp_path)  # type: ignore[attr-defined]
    job = check_job(test_attacked.spec(), folder=tmp_path)
    job.run(tmp_path / "o.parquet", lambda *_: None)
    assert job.attack(tmp_path / "o.parquet")
    with monkeypatch.context() as patch:
        for kind in PositionFile.__subclasses__():
            touched_after(patch, kind, "rewrite", tmp_path / "p.parquet")
        with pytest.raises(DataError, match=r"p\.parquet': it was changed while"):
            job.run(tmp_path / "q.parquet", lambda *_: None)
        assert not [*tmp_path.glob("q.*"), *tmp_path.glob(".leeward-*")]
    for name in ("p.parquet", "o.parquet"):
        with monkeypatch.context() as patch:
            for kind in PositionFile.__subclasses__():
                _touched_at_the_end(patch, kind, tmp_path / name)
            with pytest.raises(DataError, match=rf"{name}': it was changed while"):
                job.attack(tmp_path / "o.parquet")


def _touched_at_the_end(patch: pytest.MonkeyPatch, kind: Any, path: Path) -> None:
    real = kind.positions

    def rows(self: Any, *args: Any) -> Iterator[Any]:
        yield from real(self, *args)
        if self.path.name == path.name:
            touch(path)

    patch.setattr(kind, "positions", rows)
