# SPDX-License-Identifier: Apache-2.0
"""Attack: what is said to be charged, wherever a run died before, is what was added to what is spent, and to whose share.

Whoever asked again what a run had begun that did not end was told that it was charged then, in full: it had been before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.attacks.test_spellings import plan_of, visits
from tests.session.conftest import Town

import leeward as lw
from leeward.ledger import Ledger
from leeward.session._check import total
from leeward.session._release import release_planned

DYING = ("reserved", "counting", "adding noise", "storing", "saving", "saved", "stored")
TABLE = {8: "park", 9: "zoo", 11: "park"}


def dies(work: Callable[[Callable[..., None]], object], stage: str) -> None:
    """Do some work in a process that ends, as by kill −9, at a stage."""

    def end(at: str, _share: float = 0.0, /) -> None:
        if at == stage:
            os._exit(9)

    child = os.fork()
    if child == 0:
        try:
            work(end)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9


def spent(path: Path, dataset: str = "walks") -> Fraction:
    return sum((one.spent for one in Ledger(path).show(dataset)), Fraction(0))


@pytest.mark.parametrize("stage", DYING)
@pytest.mark.parametrize("ask", ["release", "monitor"])
def test_what_a_run_says_it_charged_is_what_it_added(ask: str, stage: str, tmp_path: Path) -> None:
    budget = lw.Budget(tmp_path / "budget.db", "walks", "99")

    def work(progress: Any) -> list[lw.Release]:
        table = visits(TABLE)
        hours = [plan_of(table, hour) for hour in (8, 9, 10)]
        if ask == "release":
            return release_planned(hours, budget, progress=progress)
        return list(lw.monitor(hours, budget, progress=progress).releases)

    dies(work, stage)
    before = spent(tmp_path / "budget.db")
    assert before > 0
    charged = [Fraction(one.curator.charged) for one in work(lambda *_: None)]
    after = spent(tmp_path / "budget.db")
    assert charged[0] == 0
    if ask == "release":
        assert sum(charged) == after - before == 0
    else:  # what was reserved for the first round, and is not used, is given back: nothing is said of that
        assert 0 <= after - sum(charged) <= before, charged
    assert {one.curator.charged for one in work(lambda *_: None)} == {"0"}


def test_a_look_says_that_what_is_reserved_is_not_charged_again(tmp_path: Path) -> None:
    budget = lw.Budget(tmp_path / "budget.db", "walks", "99")
    plans = [plan_of(visits(TABLE), hour) for hour in (8, 9)]
    dies(lambda progress: release_planned(plans[:1], budget, progress=progress), "counting")
    looked = [total([lw.check(made, budget)]).epsilon for made in plans]
    assert looked[0] == 0 < looked[1]
    assert [Fraction(lw.release(made, budget).curator.charged) for made in plans] == looked


@pytest.mark.parametrize("stage", ["counting", "saving", "stored"])
def test_the_command_says_the_same(stage: str, town: Town) -> None:
    spec = town.spec()
    code = f"""
import sys, os
from leeward.session._session import Session
from leeward.spec import read_spec
from leeward.session._check import total
from leeward.session._release import release_planned
read = read_spec({str(spec)!r})
release_planned(read.plans(), read.ledger(), progress=lambda at, _=0.0: os._exit(9) if at == {stage!r} else None)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    assert spent(town.folder / "budget.db", "town") == 1
    for how in (("--json",), ()):
        found, out, err = town.run("release", spec, "--out", town.out, *how)
        assert found == 0, err
        if how:
            assert json.loads(out)["releases"][0]["charged"] == "0"
        else:
            assert "It was paid for before: charged nothing." in out
    assert spent(town.folder / "budget.db", "town") == 1
