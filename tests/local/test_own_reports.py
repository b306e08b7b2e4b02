"""One person's own reports on their own device: one draw a tick, so many a day, whatever is killed or damaged in between."""

from __future__ import annotations

import json
import os
import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leeward as lw
from leeward.errors import BudgetConflictError, CapExceededError, DataError, InputError, LedgerError, LeewardError
from leeward.local.location import OwnReports, PlanarLaplace

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TICK = timedelta(minutes=10)
HERE, THERE = (39.9, 116.4), (39.91, 116.45)


def geo(**more: Any) -> PlanarLaplace:
    given: dict[str, Any] = {"within": "200 m", "factor": 2, "box": lw.Box(116.2, 39.8, 116.6, 40.1), **more}
    return PlanarLaplace(**given)


def own(folder: Path, *, new: bool = False, every: str = "10 min", reports_a_day: int = 3, **more: Any) -> OwnReports:
    return OwnReports(geo(**more), folder / "own.state", every=every, reports_a_day=reports_a_day, new=new)


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the draws of this process."""
    count, real = [0], PlanarLaplace.draw

    def draw(self: PlanarLaplace, points: Any, *rest: Any) -> Any:
        count[0] += len(points)
        return real(self, points, *rest)

    monkeypatch.setattr(PlanarLaplace, "draw", draw)
    return count


def test_a_tick_has_one_report_and_a_day_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count, mine = drawn(monkeypatch), own(tmp_path, new=True)
    first = mine.report(*HERE, at=NOON)
    assert mine.report(*THERE, at=NOON + TICK - timedelta(seconds=1)) == first, "wherever one is"
    assert own(tmp_path).report(*HERE, at=NOON) == first, "also after a restart"
    assert count == [1]
    others = [mine.report(*HERE, at=NOON + TICK * more) for more in (1, 2)]
    assert len({first, *others}) == 3
    with pytest.raises(CapExceededError, match="3 of 3 reports"):
        mine.report(*HERE, at=NOON + TICK * 3)
    assert mine.report(*THERE, at=NOON + TICK * 2) == others[1], "what was made is shown"
    assert (count, mine.made(at=NOON), mine.made(at=NOON + timedelta(days=1))) == ([3], 3, 0)
    mine.report(*HERE, at=NOON + timedelta(days=1))
    assert mine.made(at=NOON + timedelta(days=1)) == 1


def test_reports_have_the_noise_of_the_mechanism(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is what `PlanarLaplace.draw` draws at the true grid point, and what is shown is that."""
    asked: list[Any] = []

    def draw(self: PlanarLaplace, points: Any) -> Any:
        asked.append(points.copy())
        return points + np.array([[3, -4]])

    monkeypatch.setattr(PlanarLaplace, "draw", draw)
    made, at = geo(), own(tmp_path, new=True).report(*HERE, at=NOON)
    true = made.to_grid(np.array([HERE[0]]), np.array([HERE[1]]))
    assert (asked[0] == true).all()
    assert at == tuple(float(axis[0]) for axis in made.shown(true + np.array([[3, -4]])))


@pytest.mark.parametrize("where", ["draw", "fsync", "replace"])
def test_a_process_that_is_killed_leaves_one_draw_a_tick(where: str, tmp_path: Path) -> None:
    """At the draw nothing is known; with the file beside, whole, or in place, the next process shows that report."""
    own(tmp_path, new=True)
    if (child := os.fork()) == 0:

        def die(*_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        try:
            mine = own(tmp_path)
            if where == "draw":
                PlanarLaplace.draw = die  # type: ignore[method-assign, assignment]
            else:
                module = __import__("leeward.local.location._own_reports", fromlist=["os"])
                if where == "fsync":
                    module.os.fsync = die
                else:
                    module.Path.replace = die
            mine.report(*HERE, at=NOON)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    left = tmp_path / "own.state.next"
    assert left.exists() == (where != "draw")
    text = left.read_bytes() if left.exists() else b""
    mine = own(tmp_path)
    at = mine.report(*THERE, at=NOON)
    assert mine.made(at=NOON) == 1
    assert not left.exists()
    if text:
        assert (tmp_path / "own.state").read_bytes() == text, "it is what was drawn before"
    assert mine.report(*HERE, at=NOON) == at


@pytest.mark.parametrize("kept", [0, 1, 40, 64, 65, 66, 100])
def test_what_was_cut_short_was_never_shown_and_is_made_again(kept: int, tmp_path: Path) -> None:
    mine = own(tmp_path, new=True)
    mine.report(*HERE, at=NOON)
    (tmp_path / "own.state.next").write_bytes((tmp_path / "own.state").read_bytes()[:kept])
    mine.report(*HERE, at=NOON + TICK)
    assert mine.made(at=NOON) == 2


@pytest.mark.parametrize("place", [0, 70, -3])
def test_a_damaged_file_is_refused(place: int, tmp_path: Path) -> None:
    mine = own(tmp_path, new=True)
    mine.report(*HERE, at=NOON)
    file = tmp_path / "own.state"
    held = bytearray(file.read_bytes())
    held[place] ^= 1
    for content in (bytes(held), b"", b"{}", bytes(held[: len(held) // 2])):
        file.write_bytes(content)
        for ask in (lambda: own(tmp_path), lambda: own(tmp_path, new=True), lambda: mine.report(*HERE, at=NOON + TICK)):
            with pytest.raises(LedgerError, match="not as it was written"):
                ask()
        assert file.read_bytes() == content


def test_a_file_of_another_beside_it_is_left_alone(tmp_path: Path) -> None:
    mine = own(tmp_path, new=True)
    (tmp_path / "own.state.next").write_text("notes of mine")
    with pytest.raises(LedgerError, match="none of ours"):
        mine.report(*HERE, at=NOON)
    assert (tmp_path / "own.state.next").read_text() == "notes of mine"


def test_a_link_is_no_second_file(tmp_path: Path) -> None:
    """It was replaced by a file of its own, and each of the two had reports for a whole day."""
    own(tmp_path, new=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "own.state").symlink_to(tmp_path / "own.state")
    first = own(tmp_path / "linked").report(*HERE, at=NOON)
    assert own(tmp_path).report(*THERE, at=NOON) == first
    os.link(tmp_path / "own.state", tmp_path / "linked" / "other")
    with pytest.raises(LedgerError, match="hard link"):
        own(tmp_path).report(*HERE, at=NOON)


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="is not there"):
        own(tmp_path)
    mine = own(tmp_path, new=True)
    mine.report(*HERE, at=NOON)
    more: list[tuple[dict[str, Any], type[LeewardError], str]] = [
        ({"factor": 3}, BudgetConflictError, "another mechanism"),
        ({"reports_a_day": 4}, BudgetConflictError, "another bound"),
        ({"every": "5 min"}, BudgetConflictError, "other ticks"),
        ({"every": "7 min"}, InputError, "no whole number"),
        ({"reports_a_day": 0}, InputError, "reports_a_day"),
    ]
    for changed, kind, says in more:
        with pytest.raises(kind, match=says):
            own(tmp_path, **changed)
    for at, says in ((NOON - TICK, "before that of the last"), (NOON.replace(tzinfo=None), "without an offset")):
        with pytest.raises(InputError, match=says):
            mine.report(*HERE, at=at)
    with pytest.raises(DataError) as refused:
        mine.report(39.9, 117.5, at=NOON + TICK)
    assert "117" not in str(refused.value)
    assert mine.made(at=NOON) == 1
    (tmp_path / "own.state").unlink()
    with pytest.raises(LedgerError, match="is gone"):
        mine.report(*HERE, at=NOON + TICK)


def test_the_file_is_small_private_and_holds_no_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PlanarLaplace, "draw", lambda _self, points: points * 0 + 7)
    own(tmp_path, new=True).report(*HERE, at=NOON)
    file = tmp_path / "own.state"
    assert file.stat().st_size < 1000
    assert file.stat().st_mode & 0o777 == 0o600
    held = json.loads(file.read_text().partition("\n")[2])
    assert held["report"] == [7, 7]
    assert {*held} == {"made_for", "tick", "report", "day", "reports"}, "all of which the clock and what was shown say"


def test_a_report_that_another_mechanism_began_takes_no_place(tmp_path: Path) -> None:
    """It is refused, and what was known before is there still: else a tick would have a second draw."""
    mine, beside = own(tmp_path, new=True), tmp_path / "own.state.next"
    first = mine.report(*HERE, at=NOON)
    (tmp_path / "other").mkdir()
    own(tmp_path / "other", new=True, within="1 km").report(*HERE, at=NOON)
    held = (tmp_path / "own.state").read_bytes()
    beside.write_bytes((tmp_path / "other" / "own.state").read_bytes())
    beside.chmod(0o600)
    for ask in (lambda: mine.report(*HERE, at=NOON), lambda: own(tmp_path)):
        with pytest.raises(BudgetConflictError, match="another mechanism"):
            ask()
        assert (tmp_path / "own.state").read_bytes() == held
    beside.unlink()
    assert mine.report(*THERE, at=NOON) == first
