"""Questions of every kind, and the golden files of their keys: what a ledger was told once, it must find again for ever.

``python -m tests.keys.golden`` writes the keys of questions that have none yet. It never writes one anew: where a key would
move, the test fails, and that is its whole point. A new format of `Question` gets files of its own beside these.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.keys.test_promises import PAIRS, QUESTIONS
from tests.sources import describe_by

import leeward as lw
from leeward.accounting._budget_notion import budget_notion
from leeward.cli import LeewardError
from leeward.errors import NotPrivateError
from leeward.exact import Real, log
from leeward.notion import Change, Notion, UnboundedDP, has, where
from leeward.planner._number_plan import plan_number
from leeward.planner._rank_plan import plan_rank
from leeward.query import CountVisitors, Kind, Statistic, records, statistic
from leeward.session._question import Question, question

FILE = Path(__file__).parent / "golden" / "questions-1.json"
"""Of `Question` in format 1: for each name, the key of the question, and what its budget is counted in."""

DIGEST = "0123456789abcdef" * 4

VISITS: dict[str, Any] = {"source": "visits.parquet", "person": "user", "place": "venue", "time": "at"}
SPAN: dict[str, Any] = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
LIST = lw.places("places.parquet", place="venue")
BOX: dict[str, Any] = {"west": 139.7, "south": 35.6, "east": 139.71, "north": 35.61}


class Colour(Enum):
    """A record that is a member of an enumeration."""

    RED = 1


@dataclass(frozen=True)
class Zone:
    """A record that is a dataclass of a user's own."""

    name: str
    since: date


class Own(Notion):
    """A promise of a user's own, with a parameter."""

    name, words = "own", UnboundedDP.words

    def __init__(self, epsilon: Any, where_to: Zone) -> None:
        self.where_to = where_to
        super().__init__(epsilon)

    def record(self, before: object, after: object) -> Real:
        return UnboundedDP(self.epsilon).record(before, after)

    def cost(self, change: Change) -> Real:
        return UnboundedDP(self.epsilon).cost(change)


def visitors(*, places: Any = LIST, more: Mapping[str, Any] | None = None, **described: Any) -> CountVisitors:
    """Return a question about visitors."""
    return lw.count_visitors(describe_by(lw.visits, **{**VISITS, **(more or {})}), places, **{**SPAN, **described})


def decided(query: CountVisitors | Statistic, notion: Notion | None = None, **how: Any) -> Question:
    """Return the key of which places are safe."""
    asked: dict[str, Any] = {"query": query, "notion": notion or lw.AdditionOnly("1"), "safe_at_most": 2, **how}
    try:
        return question(decide_by(lw.plan, **asked), DIGEST)
    except NotPrivateError:  # the notion lets counts fall too
        return question(decide_by(lw.plan, **asked, error_at_most="1/10"), DIGEST)


def number(kind: Any, notion: Notion | None = None, table: Mapping[str, Any] | None = None, **how: Any) -> Question:
    """Return the key of a statistic."""
    asked = statistic_by(records("people.parquet", **{"person": "user", **(table or {})}), kind, **how)
    return question(plan_number(asked, notion or lw.UnboundedDP("1/3")), DIGEST)


def above(**how: Any) -> Statistic:
    """Return how many are above levels."""
    return statistic_by(records("people.parquet", person="user"), "above", column="age", levels=["1/2", 5], **how)


def ranked(kind: Any, notion: Notion | None = None, **how: Any) -> Question:
    """Return the key of a percentile by rank."""
    asked = statistic_by(records("people.parquet", person="user"), kind, **how)
    return question(plan_rank(asked, notion or lw.UnboundedDP("1/3")), DIGEST)


def named(counts: Any, notion: Notion, which: Any = "busiest") -> Question:
    """Return the key of a name."""
    return question(lw.plan(lw.select(counts, which), notion), DIGEST)


def unlisted(notion: Notion, delta: Any = "1e-6", person: str = "user", **how: Any) -> Question:
    """Return the key of groups that nobody has listed."""
    table = records("people.parquet", person=person, **({"time": "at"} if "start" in how else {}))
    return question(lw.plan(lw.unlisted_groups(table, "town", **how), notion, delta=delta), DIGEST)


def groups(notion: Notion) -> Question:
    """Return the key of counts of groups of rows, whose noise is derived from the notion's policies."""
    return number("histogram", notion, {"person": "each row"}, by="sex", groups=["f", "m"])


AGE: dict[str, Any] = {"column": "age", "lower": "-1/2", "upper": "10", "step": "1/2"}
ZONED: dict[str, Any] = {"start": "2026-01-02T03:00+09:00", "end": "2026-01-02T04:00+09:00"}
CELLS: dict[str, Any] = {"place": None, "latitude": "lat", "longitude": "lon"}


def _round(number: int) -> Question:
    hours = [visitors(start=f"2026-01-01T{18 + i}:00", end=f"2026-01-01T{19 + i}:00") for i in range(number)]
    made = lw.plan(hours[-1], lw.Presence("1"), lw.Decide(safe_at_most=30), mechanism="sanitized", stop_after=5)
    return question(made, DIGEST, rounds=[each.window for each in hours])


def _default() -> Question:
    asked = statistic_by(records("people.parquet", person="user"), "median", **AGE)
    assert asked.numeric is not None
    other = dataclasses.replace(asked, numeric=dataclasses.replace(asked.numeric, default=Fraction(3)))
    return question(plan_number(other, lw.UnboundedDP("1")), DIGEST)


def policies(*listed: Any, **how: Any) -> Callable[[], Question]:
    """Return what makes a key under policies."""
    return lambda: decided(visitors(places_per_person=1), lw.ADP("1", listed, **how))


QUESTION: Mapping[str, Callable[[], Question]] = {
    "listed": lambda: decided(visitors(places_per_person=1)),
    "bounded": lambda: decided(visitors(places_per_person=2, if_more="latest")),
    "earliest": lambda: decided(visitors(places_per_person=3, if_more="earliest"), lw.AdditionOnly("0.1")),
    "everyone": lambda: decided(
        visitors(places_per_person=2, if_more="latest"), lw.AdditionOnly("1"), about="everyone", left_out=1
    ),
    "filtered": lambda: decided(visitors(more={"keep": {"state": ["IN", "BY"], "stars": [1, 5], "open": [True]}})),
    "zoned": lambda: decided(visitors(more={"timezone": "Asia/Tokyo", "time_unit": "ms"}, **ZONED)),
    "ticks of a second": lambda: decided(visitors(more={"time_unit": "s"})),
    "ticks of a microsecond": lambda: decided(visitors(more={"time_unit": "us"})),
    "a column that is not ASCII": lambda: decided(visitors(more={"person": 'Kundenn° "ä\u200b'})),
    "squares": lambda: decided(visitors(places=lw.grid(**BOX, metres=400), more=CELLS)),
    "hexagons": lambda: decided(visitors(places=lw.grid(**BOX, h3=8), more=CELLS)),
    "sanitized": lambda: decided(visitors(), lw.Presence("2/7"), mechanism="sanitized", stop_after=3),
    "adaptive": lambda: decided(visitors(), lw.Presence("2/7"), mechanism="adaptive", stop_after=3),
    "busiest": lambda: named(visitors(), lw.Presence("2/7")),
    "quietest": lambda: named(visitors(places_per_person=2, if_more="latest"), lw.BoundedDP("1"), "quietest"),
    "the largest group": lambda: named(
        statistic(records("people.parquet", person="user"), "histogram", by={"sex": ["f", "m"]}), lw.UnboundedDP("1")
    ),
    "seeded": lambda: question(
        lw.plan(visitors(places_per_person=1), lw.Presence("1"), lw.Decide(safe_at_most=2)), DIGEST, fit_for_release=False
    ),
    "the first round of a monitor": lambda: _round(1),
    "the third round of a monitor": lambda: _round(3),
    "sum": lambda: number("sum", **AGE),
    "sum of a public number": lambda: number("sum", lw.BoundedDP("1"), **AGE, people=24),
    "sum of rows": lambda: number("sum", table={"person": "each row"}, **AGE),
    "sum of several": lambda: number("sum", table={"combine": "max", "keep": {"job": ["clerk"]}}, **AGE),
    "sum of sums": lambda: number("sum", table={"combine": "sum"}, **AGE),
    "sum of the least": lambda: number("sum", table={"combine": "min"}, **AGE),
    "count": lambda: number("count"),
    "mean": lambda: number("mean", **AGE),
    "mean of a window": lambda: number("mean", table={"time": "at", "timezone": "Asia/Tokyo"}, **AGE, **SPAN),
    "levels of a window": lambda: decided(
        statistic(describe_by(records, "people.parquet", person="each row", time="at", time_unit="ms"),
                  Kind("above", levels=[1, 5]), column="age", start="2026-01-01T18:00+09:00", end="2026-01-01T19:00+09:00"),
        lw.AdditionOnly("2/3"),
    ),
    "mean of a public number": lambda: number("mean", lw.BoundedDP("1"), **AGE, people=24, grid="1/4"),
    "variance": lambda: number("variance", **AGE),
    "deviation of a public number": lambda: number("standard deviation", lw.BoundedDP("1"), **AGE, people=24, grid="1/4"),
    "median": lambda: number("median", **AGE),
    "percentile": lambda: number("percentile", **AGE, p="30.5"),
    "min": lambda: number("min", **AGE),
    "max": lambda: number("max", **AGE),
    "another default": _default,
    "median by rank": lambda: ranked("median", **AGE),
    "percentile by rank": lambda: ranked("percentile", lw.BoundedDP("1"), **AGE, p="30.5", people=24),
    "quartiles by rank": lambda: ranked("percentile", **AGE, p=["25", "50", "75"]),
    "extremes with noise on them, in groups": lambda: number(
        "percentile", lw.AdditionOnly("2/7"), **AGE, p=["0", "100"], by="sex", groups=["f", "m"]
    ),
    "max by rank, in groups": lambda: ranked("max", lw.AdditionOnly("2/7"), **AGE, by="sex", groups=["f", "m"]),
    "histogram of numbers": lambda: number("histogram", column="age", lower=0, upper=10, step=2),
    "histogram of groups": lambda: number("histogram", by="sex", groups=["f", "m"]),
    "histogram of groups by two columns": lambda: number("histogram", by={"sex": ["f", "m"], "born": [1990, 2000]}),
    "mean in groups by two columns": lambda: number("mean", **AGE, by={"born": [1990], "sex": ["f"]}),
    "mean in groups by intervals of a number": lambda: number(
        "mean", **AGE, by={"sex": ["f", "m"], "height": {"lower": 150, "upper": "200", "step": "12.5"}}
    ),
    "levels in groups": lambda: decided(above(by="sex", groups=["f"]), lw.AdditionOnly("2/3")),
    "groups under policies": lambda: groups(lw.ADP("1", [~where("sex", equals="f"), ~where("sex", equals="m")])),
    "groups under policies of several columns": lambda: groups(
        lw.ADP("2", ~(where("sex", equals="f") & where("age", one_of=[1, 2])), absent_too=True)
    ),
    "groups of which one is sensitive": lambda: groups(lw.OSDP("1/3", where("sex", equals="f"), name="f")),
    "groups of which one is sensitive, narrower": lambda: groups(lw.OSDP("1", where("sex", equals="f"), "non-sensitive")),
    "groups in a policy graph": lambda: groups(lw.notion.Blowfish("1", ["f", "m", "x"], [("f", "x")])),
    "unlisted groups": lambda: unlisted(lw.AdditionOnly("1")),
    "unlisted groups without delta": lambda: unlisted(lw.RemovalOnly("2/7"), None, groups_per_person=3, if_more="first"),
    "unlisted groups both ways": lambda: unlisted(lw.UnboundedDP("1"), "1/1000", most_groups=7),
    "unlisted groups of an hour": lambda: unlisted(lw.ReplaceDP("2"), groups_per_person=2, if_more="latest", **SPAN),
    "unlisted groups of rows": lambda: unlisted(lw.BoundedDP("1"), person="each row"),
    "a rate that is irrational": lambda: decided(
        visitors(places_per_person=1), lw.notion.Graded(presence="1", absence=log(2))
    ),
    "policies of facts": policies(~has("a"), has("b") & ~has(2), has(b"\x00\xff") | has(None)),
    "policies of columns": policies(where("x", one_of=[Fraction(1, 3), 0.5, True, "1/2"]), where("y", at_least=-1)),
    "policies as functions": policies(lambda r: r == 1, records=[0, 1, 2], absent_too=True),
    "many policies": policies(*(~has(f"place {i}") for i in range(99))),
    "records of many kinds": lambda: decided(
        visitors(places_per_person=1),
        lw.OSDP(
            "1",
            lambda record: record == 1,
            records=[1, "1", b"1", (1, "1"), frozenset({1, 2}), Colour.RED, date(2026, 1, 1), Zone("a", date.min),
                     datetime(2026, 1, 1, 9, tzinfo=UTC), datetime(2026, 1, 1, 9)],
        ),
    ),
    "a notion of one's own": lambda: decided(visitors(places_per_person=1), Own("1", Zone("a", date(2026, 1, 1)))),
}  # fmt: skip


def keys() -> dict[str, str]:
    """Return the text of every key: of each question here, and of each notion in the first question that it can be asked."""
    made = {name: make().canonical() for name, make in QUESTION.items()}
    for (kind, parameter), pair in PAIRS.items():
        for which, notion in zip(("", "'"), pair, strict=True):
            for asked, plans in QUESTIONS.items():
                try:
                    made[f"{kind}.{parameter}{which} · {asked}"] = question(plans(notion), DIGEST).canonical()
                except LeewardError:
                    continue
                break
    return made


def budgets() -> dict[str, str]:
    """Return what a budget in each notion is counted in."""
    return {
        f"{kind}.{parameter}{which}": budget_notion(notion)
        for (kind, parameter), pair in PAIRS.items()
        for which, notion in zip(("", "'"), pair, strict=True)
    }


def known() -> dict[str, dict[str, str]]:
    """Return what the golden file says."""
    found: dict[str, dict[str, str]] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    return found


def main() -> None:
    """Write the keys of questions that have none yet."""
    held = known()
    every = {name: made | held.get(name, {}) for name, made in (("keys", keys()), ("budgets", budgets()))}
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(every, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    importlib.import_module("tests.keys.golden").main()  # so that its classes have their names
