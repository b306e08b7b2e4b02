"""Every text of the report of a release is true, for every notion and mechanism."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.truth import notion_claims, report_claims, visitor_claims
from tests.truth.claims import Claims
from tests.truth.shown import page
from tests.truth.visitor_claims import structure
from tests.truth.visits import NOTIONS, World, made, worlds

import leeward as lw
from leeward._statement import BudgetStated, Published
from leeward.accounting._budget_notion import charge, in_words
from leeward.mechanism import Monitor
from leeward.noise import SeededBitsForTests
from leeward.report import _html as html
from leeward.session import Release, privacy_statement

CLAIMS = Claims()
notion_claims.register(CLAIMS)
visitor_claims.register(CLAIMS)
report_claims.register(CLAIMS)

COUNTS = (0, 1, 2, 5, 9, 0, 0)


@dataclass(frozen=True)
class Shown:
    """A world and what was published of it; everything else is the world's.

    Attributes:
        world: the world.
        counted_in: what the budget is counted in.
        monitor: the round, if it is one of a monitor.
        before: how many stops its earlier rounds gave.
        fit: whether the noise is fit for release.
    """

    world: World
    counted_in: str
    monitor: int | None = None
    before: int = 0
    fit: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def __hash__(self) -> int:
        return hash((self.world, self.counted_in, self.monitor, self.before))

    def __str__(self) -> str:
        return f"{self.world} in {self.counted_in}"

    @property
    def in_budget(self) -> Any:
        return charge(self.notion, self.price, self._currency)

    @property
    def _currency(self) -> str:
        return self.counted_in.replace(" per ", "/")

    @functools.cached_property
    def public(self) -> pa.Table:
        latitude = [35.0 + i for i in range(6)] + [None]
        return pa.table({"place": [f"v{i}" for i in range(7)], "latitude": latitude, "longitude": [139.0] * 6 + [None]})

    @functools.cached_property
    def shown(self) -> pa.Table:
        more = (2,) if getattr(self.world, "bounded", False) else ()  # the most left out
        counts, bits = np.array([*COUNTS, *more], np.int64), SeededBitsForTests(3)
        drawn = self.plan.draw(counts, bits) if self.monitor is None else self._of_round(counts, bits)
        return self.plan.answers(drawn, self.public)

    def _of_round(self, counts: Any, bits: Any) -> Any:
        """What the rules of the monitor draw, after earlier rounds that gave so many stops."""
        rules = Monitor(self.plan.mechanism.line, stop_after=self.stops)
        state, limit = rules.start(), self.plan.safe_at_most
        for k in range(self.before):
            state = rules.answer(rules.reserve(state, f"w{k}", limit, 1), np.array([limit + 1]), bits)
        drawn = rules.answer(rules.reserve(state, "now", limit, len(counts)), counts, bits)
        return np.array(drawn.rounds[-1].answers, np.int64)

    @property
    def left(self) -> int | None:
        return None if self.stops is None else self.stops - self.before

    def of(self, state: str) -> int:
        return self.shown["state"].to_pylist().count(state)

    @property
    def places(self) -> int:
        return len(COUNTS)

    @property
    def answered(self) -> int:
        return int(sum(self.shown["answered"].to_pylist()))

    @functools.cached_property
    def release(self) -> Release:
        promises: Sequence[str] = ()
        monitor = None
        if self.monitor is not None:
            from leeward.session._monitor import _PROMISES, _round_stated

            rules = Monitor(self.plan.mechanism.line, stop_after=self.stops)
            monitor, promises = _round_stated(self.monitor, self.before, rules, self.notion.epsilon), _PROMISES
        published = Published(
            entry="an-entry",
            fit_for_release=self.fit,
            budget=BudgetStated(notion=self.counted_in, price=str(self.in_budget)),
            monitor=monitor,
        )
        statement = privacy_statement(
            self.plan, places=7, dataset="town", version="1", published=published, promises=promises
        )
        return Release(self.shown, self.public, statement)


def shown(world: World, **how: Any) -> Shown:
    from leeward.accounting._budget_notion import budget_notion

    return Shown(world, in_words(budget_notion(world.notion)), **how)


@functools.cache
def all_shown() -> list[Shown]:
    """Every notion, question and decision is among them; a page takes a tenth of a second, and its list has 7 places."""
    return [shown(world) for world in [world for world in worlds() if world.plan.places is None][::3]]


SPECIAL: Mapping[str, Shown | None] = {
    "dp in a budget of presence": Shown(made("dp", "one place", "safe"), "presence per person"),  # type: ignore[arg-type]
    "a round of a monitor": shown(made("presence", "no bound", "two stops"), monitor=3),  # type: ignore[arg-type]
    "a later round of a monitor": shown(made("presence", "no bound", "two stops"), monitor=3, before=1),  # type: ignore[arg-type]
    "seeded": shown(made("dp", "one place", "safe"), fit=False),  # type: ignore[arg-type]
}


@pytest.fixture(autouse=True)
def _without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script that draws is four megabytes, and says nothing."""
    monkeypatch.setattr(html, "get_plotlyjs", lambda: "")


@pytest.mark.parametrize("notion", NOTIONS)
def test_every_text_of_the_page_is_true(notion: str) -> None:
    mine = [one for one in all_shown() if one.notion is NOTIONS[notion][0]]
    assert len(mine) >= 2
    for each in mine:
        CLAIMS.check_all(page(html.report_html(each.release)), each)


@pytest.mark.sweep
def test_every_claim_of_the_report_is_met() -> None:
    own = Claims()
    report_claims.register(own)
    every = [*all_shown(), *(one for one in SPECIAL.values() if one is not None)]
    texts = {text for one in every for text in page(html.report_html(one.release))}
    met = {claim.pattern.pattern for text in texts for claim, _ in CLAIMS.matching(text)}
    assert {claim.pattern.pattern for claim in own.claims if not claim.neutral} - met == set()


@pytest.mark.parametrize("name", SPECIAL)
def test_a_budget_in_another_notion_a_monitor_and_seeded_noise_are_told(name: str) -> None:
    each = SPECIAL[name]
    assert each is not None
    texts = page(html.report_html(each.release))
    CLAIMS.check_all(texts, each)
    wanted = {
        "a round of a monitor": "Round 3 of a monitor",
        "a later round of a monitor": "Round 3 of a monitor",
        "seeded": "Not fit for release",
    }.get(name, "in ε of dp: 2 of presence")
    assert any(wanted in text for text in texts)


@pytest.mark.parametrize("notion", ["presence", "addition-only"])
@pytest.mark.parametrize("before", range(4))
def test_a_round_of_a_monitor_tells_the_stops_that_are_left(notion: str, before: int) -> None:
    """Found by an attack: later rounds told the reach, and the stops, of a fresh run."""
    world = made(notion, "no bound", "two stops")
    assert world is not None
    planned = lw.plan(
        world.plan.query, world.notion, lw.Decide(safe_at_most=1), mechanism="sanitized", stop_after=4
    )  # of 4 stops, `before` are gone
    each = shown(replace(world, plan=planned, places=len(COUNTS)), monitor=before + 1, before=before)
    statement = each.release.statement.to_dict()
    assert structure(statement, each) == []
    assert (statement["mechanism"]["stop_after"], statement["monitor"]["stop_after"]) == (4 - before, 4)
    CLAIMS.check_all(page(html.report_html(each.release)), each)
    fresh = replace(each, before=0)
    assert before == 0 or structure(statement, fresh) != []  # it is false of a fresh run
