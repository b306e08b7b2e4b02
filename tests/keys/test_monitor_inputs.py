"""Every input of a monitor: a round's answer belongs to the monitor, to its number, and to all windows asked before it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import pytest
from tests.deciding import decide_by
from tests.keys.bench import NEW, SAME, refused
from tests.sources import describe_by

import leeward as lw
from leeward._progress import silent
from leeward.cli import LeewardError
from leeward.ledger import Ledger
from leeward.noise import SeededBitsForTests
from leeward.session import monitor

HOURS = [(f"2026-01-01T{hour}:00", f"2026-01-01T{hour + 1}:00") for hour in (18, 19, 20)]


@dataclass(frozen=True)
class Asked:
    """A monitor of the last hour after two others; its fields are everything that it is given."""

    windows: tuple[tuple[str, str], ...] = tuple(HOURS)
    visits: Mapping[str, Any] = field(default_factory=lambda: {"source": "visits.parquet"})
    places: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    if_doubtful: Any = "refuse"
    accept_useless: bool = False
    bits: Any = None
    progress: Any = silent
    done: Any = None


ROWS: Mapping[str, tuple[Asked, str]] = {
    "as it is": (Asked(), SAME),
    "one window more, after the last row": (
        Asked((*HOURS, ("2026-01-01T21:00", "2026-01-01T22:00")), if_doubtful="publish"), SAME,
    ),
    "the first hour began earlier": (Asked((("2026-01-01T17:00", HOURS[0][1]), *HOURS[1:])), NEW),
    "the second hour ended earlier": (Asked((HOURS[0], (HOURS[1][0], "2026-01-01T19:59"), HOURS[2])), NEW),
    "the first two the other way round": (Asked((HOURS[1], HOURS[0], HOURS[2])), NEW),
    "without the first": (Asked(tuple(HOURS[1:])), NEW),
    "data that grew": (Asked(visits={"source": "grown.parquet"}), SAME),
    "another column of people": (Asked(visits={"person": "user2"}), NEW),
    "another column of places": (Asked(visits={"place": "venue2"}), NEW),
    "a filter": (Asked(visits={"keep": {"user2": ["p1"]}}), NEW),
    "another order of the list": (Asked(places={"source": "turned.parquet"}), NEW),
    "names on the list": (Asked(places={"name": "name"}), SAME),
    "another epsilon": (Asked(plan={"notion": lw.Presence("2")}), NEW),
    "another notion": (Asked(plan={"notion": lw.AdditionOnly("1")}, budget={"notion": "addition-only"}), refused("counted")),
    "another threshold": (Asked(plan={"safe_at_most": 31}), NEW),
    "another stop": (Asked(plan={"stop_after": 4}), NEW),
    "what is shown": (Asked(plan={"what": "counts"}), SAME),
    "how useful it must be": (Asked(plan={"useful_from": "0.1"}), SAME),
    "a mechanism that pays": (Asked(plan={"mechanism": "geometric", "stop_after": None}), refused("places_per_person")),
    "another version": (Asked(budget={"version": "2"}), NEW),
    "another data set": (Asked(budget={"dataset": "another"}), NEW),
    "another cap": (Asked(budget={"cap": "1001"}), refused("it was fixed by the first release")),
    "whatever would count": (Asked(if_doubtful="publish"), SAME),
    "whatever it would say": (Asked(accept_useless=True), SAME),
    "what is not a choice": (Asked(if_doubtful="publsh"), refused("publish")),
    "seeded noise": (Asked(bits=SeededBitsForTests(1)), NEW),
    "somebody is told": (Asked(progress=lambda stage: None), SAME),
    "a list of what is done": (Asked(done=[]), SAME),
}  # fmt: skip

ALIKE = {"plans": {"windows", "visits", "places", "plan"}}
"""What the parameters of `monitor` are called here."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Asked], lw.session.MonitorResult]:
    """Run a monitor on a few visits that are always safe."""
    folder = tmp_path_factory.mktemp("monitor")
    at = pd.date_range("2026-01-01T18:10", periods=9, freq="20min")
    rows = pd.DataFrame({"user": [f"p{i}" for i in range(9)], "venue": [f"v{i % 3}" for i in range(9)], "at": at})
    rows = rows.assign(user2=rows.user, venue2=rows.venue)
    rows.to_parquet(folder / "visits.parquet")
    pd.concat([rows, rows.assign(at=at + pd.Timedelta("3h"))]).to_parquet(folder / "grown.parquet")
    listed = pd.DataFrame({"venue": ["v0", "v1", "v2"], "name": ["A", "B", "C"]})
    listed.to_parquet(folder / "places.parquet")
    listed.iloc[::-1].to_parquet(folder / "turned.parquet")

    def running(asked: Asked) -> lw.session.MonitorResult:
        told = {"source": "visits.parquet", "person": "user", "place": "venue", "time": "at", **asked.visits}
        public = {"source": "places.parquet", "place": "venue", **asked.places}
        seen = describe_by(lw.visits, **{**told, "source": str(folder / told["source"])})
        listed = describe_by(lw.places, **{**public, "source": str(folder / public["source"])})
        how = {
            "notion": lw.Presence("1"),
            "safe_at_most": 30,
            "mechanism": "sanitized",
            "stop_after": 5,
            **asked.plan,
        }
        notion = how.pop("notion")
        plans = [
            decide_by(lw.plan, lw.count_visitors(seen, listed, start=s, end=e), notion, **how) for s, e in asked.windows
        ]
        budget = lw.Budget(
            f"sqlite:///{folder / 'budget.db'}", **{"dataset": "town", "cap": "1000", "new": True, **asked.budget}
        )
        return monitor(
            plans,
            budget,
            if_doubtful=asked.if_doubtful,
            accept_useless=asked.accept_useless,
            bits=asked.bits,
            progress=asked.progress,
            done=asked.done,
        )

    running.ledger = lambda: Ledger(folder / "budget.db")  # type: ignore[attr-defined]
    return running


def last_hour(watch: lw.session.MonitorResult) -> str:
    """The entry of the answer about the last of the three hours."""
    found = [one for one in watch.releases if one.statement.query.window.start.startswith(HOURS[2][0])]
    return str(found[0].statement.entry)


@pytest.fixture(scope="module")
def entry(run: Callable[[Asked], lw.session.MonitorResult]) -> str:
    """The stored answer about the last hour."""
    return last_hour(run(Asked()))


@pytest.mark.parametrize(("asked", "expected"), ROWS.values(), ids=ROWS)
def test_one_input_changed_alone(
    asked: Asked, expected: str, run: Callable[[Asked], lw.session.MonitorResult], entry: str
) -> None:
    before = len(run.ledger().history())  # type: ignore[attr-defined]
    if expected.startswith("refused"):
        with pytest.raises(LeewardError, match=expected.removeprefix("refused: ")):
            run(asked)
        return
    found = last_hour(run(asked))
    new = [each for each in run.ledger().history()[before:] if each.id == found]  # type: ignore[attr-defined]
    assert (found == entry) == (expected == SAME)
    assert [each.kind for each in new] == ([] if expected == SAME else ["reserved", "released"])
    assert all(each.cost > 0 for each in new if each.kind == "reserved")


def test_every_parameter_is_among_them() -> None:
    given = {name for row, _ in ROWS.values() for name, value in vars(row).items() if value != getattr(Asked(), name)}
    needed = {each for name in inspect.signature(monitor).parameters for each in ALIKE.get(name, {name})}
    assert given == needed
