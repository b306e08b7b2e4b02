"""A scratch folder whose process ends, or that is swept, at any step of its making: nothing stays, and nobody is harmed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leeward import _scratch
from leeward._scratch import Scratch, scratch, sweep

STEPS = ["chmod", "open", "fchmod", "lock", "stat", "pwrite", "rename"]


def before(step: str, act: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Do something before a step, the first time only."""
    room: Any = Path if step in {"chmod", "rename"} else _scratch if step == "lock" else os
    real, done = getattr(room, step), list[bool]()

    def acted(*given: Any, **how: Any) -> Any:
        if not done:
            done.append(True)
            act()
        return real(*given, **how)

    patch.setattr(room, step, acted)


@pytest.mark.parametrize("step", STEPS)
def test_what_a_kill_leaves_is_swept_by_the_next_run(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = os.fork()
    if not child:
        before(step, lambda: os.kill(os.getpid(), signal.SIGKILL), monkeypatch)
        Scratch(tmp_path, ["x"])
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert len(list(tmp_path.iterdir())) == 1
    with scratch(tmp_path, ["x"]) as made:
        assert list(tmp_path.iterdir()) == [made.path]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", STEPS)
def test_a_living_process_has_its_folder_whoever_sweeps_meanwhile(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept: list[bool] = []

    def sweeping() -> None:
        swept.append(True)
        sweep(tmp_path)

    before(step, sweeping, monkeypatch)
    with scratch(tmp_path, ["x"]) as made:
        (made.path / "x").write_text("rows")
        sweep(tmp_path)
        assert swept
        assert (made.path / "x").read_text() == "rows"
        assert list(tmp_path.iterdir()) == [made.path]
    assert not list(tmp_path.iterdir())


def test_what_was_put_into_a_folder_without_an_owner_stays(tmp_path: Path) -> None:
    other = tmp_path / ".leeward-abcdefgh"
    other.mkdir(mode=0o700)
    (other / "mine").touch()
    sweep(tmp_path)
    assert (other / "mine").exists()
