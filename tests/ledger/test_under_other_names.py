"""Whatever is kept from run to run is one thing, by whichever name it is reached.

Every file that says what was spent, shown or allowed: reached by a link, by one that is relative and in another folder, by
one that leads nowhere, by a second name of its own, and with a folder in its place.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.ledger.single import reserve
from tests.ledger.worker import asked

import leeward as lw
from leeward.errors import LeewardError
from leeward.exact._real import exact
from leeward.ledger import Ledger, MemoizedReports, PersonBudgets
from leeward.ledger._level_budgets import LevelBudgets
from leeward.ledger._secret import VARIABLE, read_or_make_key
from leeward.local.location import OwnReports, PlanarLaplace
from leeward.service._tokens import Tokens

SECRET = b"0123456789abcdef"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
GEO = PlanarLaplace(within="200 m", factor=2, box=lw.Box(116.2, 39.8, 116.6, 40.1))


class Kept(NamedTuple):
    """What may be kept in a file: a run that changes it, which may make it; and what of it a later run knows."""

    change: Callable[[Path], object]
    known: Callable[[Path], object]


def spend(path: Path) -> None:
    with reserve(Ledger(path), asked(f"k{len(Ledger(path).history())}")) as claim:
        claim.store(b"answer")


def unmarked(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(".mark"))


def own(path: Path) -> OwnReports:
    return OwnReports(GEO, path, every="10 min", reports_a_day=3, new=True)


def people(path: Path) -> PersonBudgets:
    return PersonBudgets(path, secret=SECRET, price="1", reports_a_day=3, new=True)


def levels(path: Path) -> LevelBudgets:
    return LevelBudgets(path, secret=SECRET, notion="n", prices=[exact(1)], a_day=exact(3), new=True)


def charge(path: Path) -> None:
    with people(path).charging() as charged:
        charged(["ann"], [1])


def charge_level(path: Path) -> None:
    with levels(path).charging() as charged:
        charged(["ann"], [1], prices=[0])


def draw(path: Path) -> bytes:
    """Ask what ann reported at her next place; one not known yet is drawn, and is then of 8 random bytes."""
    memo = MemoizedReports(path, key=SECRET, law="planar", new=True)
    fresh = np.frombuffer(os.urandom(16), np.int64).reshape(1, 2) % 1000
    return memo.once(["ann"], np.array([[1, 2]]), lambda asked: fresh).tobytes()


def exchange(path: Path) -> None:
    """End the token that there is, and give the next analyst one."""
    tokens = Tokens(path)
    for one in tokens.read():
        if one.revoked is None:
            tokens.revoke(one.name)
    tokens.create(f"a{len(tokens.read())}", {"town": Fraction(1)})


def by_variable(path: Path) -> bytes:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(path))
        return read_or_make_key()


KEPT = {
    "ledger": Kept(spend, lambda path: len(Ledger(path).history())),
    "mark": Kept(lambda path: spend(unmarked(path)), lambda path: json.loads(path.read_bytes())),
    "key": Kept(by_variable, by_variable),
    "budgets": Kept(charge, lambda path: people(path).spent("ann", 1)),
    "budgets of levels": Kept(charge_level, lambda path: levels(path).cost("ann", 1)),
    "reports": Kept(draw, draw),
    "own reports": Kept(lambda path: own(path).report(39.9, 116.4, at=NOON), lambda path: own(path).made(at=NOON)),
    "tokens": Kept(exchange, lambda path: Tokens(path).read()),
}
SAME = ("key", "reports", "own reports")
"""What another run at the same moment does not change."""


@pytest.fixture
def real(tmp_path: Path) -> Path:
    (tmp_path / "real").mkdir()
    return tmp_path / "real" / "kept.db"


@pytest.fixture
def name(tmp_path: Path, what: str) -> Path:
    (tmp_path / "names").mkdir()
    return tmp_path / "names" / ("kept.db.mark" if what == "mark" else "kept.db")


def begin(what: str, name: Path, real: Path) -> Path:
    """Let a first run make it. The ledger of a mark stays where it is, and the mark is moved. Return where it is then."""
    if what == "mark":
        KEPT[what].change(name)
        return Path(shutil.move(name, real))
    KEPT[what].change(real)
    return real


@pytest.mark.parametrize("how", ["absolute", "relative"])
@pytest.mark.parametrize("what", KEPT)
def test_by_a_link_it_is_the_same(what: str, how: str, name: Path, real: Path) -> None:
    begin(what, name, real)
    before = KEPT[what].known(real)
    name.symlink_to(real if how == "absolute" else os.path.relpath(real, name.parent))
    KEPT[what].change(name)
    assert name.is_symlink(), "the link is not replaced by what is written"
    assert KEPT[what].known(real) == KEPT[what].known(name)
    assert (KEPT[what].known(real) == before) == (what in SAME)


@pytest.mark.parametrize("what", KEPT)
def test_by_a_link_that_leads_nowhere_it_is_not_begun_anew(what: str, name: Path, real: Path) -> None:
    begin(what, name, real).unlink()
    there = sorted(real.parent.iterdir())
    name.symlink_to(real)
    with pytest.raises(LeewardError):
        KEPT[what].change(name)
    assert (name.is_symlink(), sorted(real.parent.iterdir())) == (True, there)


@pytest.mark.parametrize("what", [what for what in KEPT if what not in ("key", "mark")])
def test_of_two_names_of_its_own_none_is_used(what: str, name: Path, real: Path) -> None:
    """But for the key, which is only read; and for the mark, which a backup by hard links keeps as it was."""
    begin(what, name, real)
    name.hardlink_to(real)
    held = real.read_bytes()
    for path in (name, real):
        with pytest.raises(LeewardError, match="hard link"):
            KEPT[what].change(path)
    assert name.read_bytes() == real.read_bytes() == held


@pytest.mark.parametrize("what", KEPT)
def test_a_folder_in_its_place_is_left(what: str, name: Path, real: Path) -> None:
    if what == "mark":
        begin(what, name, real)
    (name / "within").mkdir(parents=True)
    with pytest.raises(LeewardError):
        KEPT[what].change(name)
    assert (name / "within").is_dir()
