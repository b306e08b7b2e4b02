"""What is made beside a file, or in its place, belongs to whom the file belongs, also where root or one of a group makes it.

To give files away takes rights that tests may lack, so it is noted what is asked of the system, by the file's own number.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.ledger.places import Place
from tests.ledger.single import reserve
from tests.ledger.worker import asked

from leeward.errors import LedgerError
from leeward.ledger import Ledger
from leeward.local.location import OwnReports, PlanarLaplace
from leeward.service._tokens import Tokens

OWNER = (1234, 5678)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[int, set[tuple[int, int]]]:
    """To whom files are given, where those that were there are somebody else's."""
    found: dict[int, set[tuple[int, int]]] = {}
    stat = Path.stat

    def elsewhere(path: Path, **how: Any) -> os.stat_result:
        parts = list(stat(path, **how))
        parts[4:6] = OWNER
        return os.stat_result(parts)

    monkeypatch.setattr(Path, "stat", elsewhere)
    monkeypatch.setattr(os, "fchown", lambda file, *whose: found.setdefault(os.fstat(file).st_ino, set()).add(whose))
    return found


def whose(path: Path, given: dict[int, set[tuple[int, int]]]) -> set[tuple[int, int]]:
    return given.get(os.lstat(path).st_ino, set())


HELD = {(-1, OWNER[1]), (OWNER[0], -1)}
"""The group first: who may give that only, gives that."""


def test_the_mark_and_the_locks_of_a_ledger(place: Place, given: dict[int, set[tuple[int, int]]]) -> None:
    def hook(stage: str) -> None:
        if stage == "charging":
            assert whose(place.mark, given) == HELD, "also where there was none"

    with reserve(Ledger(place.url), asked("k"), progress=hook) as claim:
        assert whose(place.mark, given) == HELD
        locks = [file for file in place.mark.parent.iterdir() if file.suffix == ".lock"]
        assert bool(locks) == place.url.startswith("sqlite"), "those of a database are sessions"
        assert all(whose(lock, given) == HELD for lock in locks)
        claim.store(b"answer")
    assert whose(place.mark, given) == HELD


def test_the_list_of_tokens(tmp_path: Path, given: dict[int, set[tuple[int, int]]]) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.create("ann", {}, is_broker=True)
    assert whose(tmp_path / "tokens.json", given) == set(), "there was none before"
    tokens.revoke("ann")
    assert whose(tmp_path / "tokens.json", given) == HELD


def test_own_reports(tmp_path: Path, given: dict[int, set[tuple[int, int]]]) -> None:
    geo = PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor="2")
    own = OwnReports(geo, tmp_path / "own", every="10 min", reports_a_day=6, new=True)
    own.report(35.7, 139.8)
    assert whose(tmp_path / "own", given) == HELD


def test_a_mark_that_may_not_be_read_is_not_called_damaged(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """To move it away and accept the ledger as restored, as of a damaged one, would take its protection for nothing."""
    ledger = Ledger(place.url)
    with reserve(ledger, asked("k")) as claim:
        claim.store(b"answer")
    opened = os.open

    def refused(path: Any, *how: Any, **more: Any) -> int:
        if Path(path) == place.mark:
            raise PermissionError(13, "Permission denied")
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(LedgerError, match="may not be read by this user") as told:
        ledger.show()
    assert "accept-restored" not in str(told.value)
