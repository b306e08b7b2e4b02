"""All neighbours of a table of at most six rows, through the engine: no exact answer moves further than its noise allows.

A question is drawn, and five rows that somebody may have; then every record of that person is tried, from nobody to any
two of the five rows, beside the rows of two others. All these tables are counted in one pass: each lies in a window of
its own, a day after the one before. Between any two of them, in both directions, the definition of each notion says
what the step may cost (`tests.oracle`), and the rates of the planned noise what it does cost: Σ u·(x − y)⁺ + d·(y − x)⁺
from counts x to counts y, where noise rises at rate u and falls at rate d, which may be infinite.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import ibis
import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.engine.test_pipeline_sensitivity import loss, planned
from tests.grid.notions import BY_NAME, OF_FACTS
from tests.sources import describe_by

import leeward as lw
from leeward.engine import _timed, _visits, open_data, read_keys
from leeward.errors import BoundExceededError
from leeward.planner import NumberPlan, Plan

NOTIONS = [
    *("unbounded", "bounded", "replace", "addition", "removal", "presence", "graded", "graded, absence only"),
    *("graded, alike", "graded facts", "graded facts, one way"),
]
START, HOUR = datetime(2026, 1, 1, 9), timedelta(hours=1)
OFFSETS = [timedelta(microseconds=-1), timedelta(), timedelta(minutes=30), HOUR - timedelta(microseconds=1), HOUR]
NUMBERS = (None, math.nan, -math.inf, -4.0, -0.5, 0.0, 0.2, 0.49999, 0.5, 1.5, 2.0, 2.5000001, 3.0, 9.0, math.inf)

Record = tuple[tuple[Any, ...], ...]
"""The rows of one person, without whose they are."""

Inside = Callable[[pa.Table], dict[str, Any]]
"""Puts a table where another engine counts it, and says where that is."""


@dataclass(frozen=True)
class Question:
    """A question about any table, with a window of its own.

    Attributes:
        columns: of the table, beside who and when, and their types.
        menu: what may stand in each.
        ask: the question about a table and a window.
    """

    columns: Mapping[str, pa.DataType]
    menu: Sequence[Sequence[Any]]
    ask: Any

    def row(self, draw: random.Random) -> tuple[Any, ...]:
        """What a row may hold: when, and the columns."""
        return (draw.choice([*OFFSETS[1:4], *OFFSETS]), *(draw.choice(values) for values in self.menu))

    def together(self, tables: Sequence[Sequence[tuple[Any, ...]]], inside: Inside | None = None) -> list[Any]:
        """The question about each of several tables, which are one table, each in its own window.

        Args:
            tables: their rows.
            inside: puts the table where another engine counts it, and says where that is.
        """
        rows = [
            (row[0], START + timedelta(days=day) + row[1], *row[2:]) for day, held in enumerate(tables) for row in held
        ]
        kinds = [pa.string(), pa.timestamp("us"), *self.columns.values()]
        held = [pa.array([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
        table = pa.table(dict(zip(("who", "when", *self.columns), held, strict=True)))
        where = {"source": table} if inside is None else inside(table)
        starts = [START + timedelta(days=day) for day in range(len(tables))]
        return [self.ask(where, start, start + HOUR) for start in starts]


def in_postgres(connection: Any, address: str, table: pa.Table) -> dict[str, Any]:
    """Put a table into a database, and say where it is, and that it is counted there."""
    types = {"string": "text", "double": "double precision", "timestamp[us]": "timestamp"}
    columns = ", ".join(f'"{column.name}" {types[str(column.type)]}' for column in table.schema)
    connection.execute("DROP TABLE IF EXISTS neighbours")
    connection.execute(f"CREATE TABLE neighbours ({columns})".encode())
    with connection.cursor().copy(b"COPY neighbours FROM STDIN") as copy:
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            copy.write_row(row)
    return {"source": address, "table": "neighbours", "engine": "postgres"}


def visits_of(draw: random.Random) -> Question:
    """Where people are."""
    keep = draw.choice([{}, {"state": ["in"]}])
    k = draw.choice([None, 1, 1, 2, 3])
    which = "refuse" if k is None else draw.choice(["latest", "earliest", "refuse"])
    listed = lw.places(pa.table({"place": draw.choice([["p", "q"], ["q", "r", "p"]])}), place="place")

    def ask(where: Mapping[str, Any], start: datetime, end: datetime) -> Any:
        seen = describe_by(lw.visits, **where, person="who", place="at", time="when", keep=keep)
        return lw.count_visitors(seen, listed, start=start, end=end, places_per_person=k, if_more=which)

    menu = [["p", "q", "r", "q", "p", "zz", None], ["in", "in", "in", "out", None]]
    return Question({"at": pa.string(), "state": pa.string()}, menu, ask)


def numbers_of(draw: random.Random) -> Question:
    """One number a person."""
    kind = draw.choice(["sum", "mean", "variance", "histogram", "histogram", "above", "median", "percentile", "max"])
    combine = draw.choice(["min", "max"] if kind in ("above", "histogram") else ["sum", "min", "max"])
    how: dict[str, Any] = {"column": "v", "lower": draw.choice([-1, 0]), "upper": 3, "step": draw.choice(["1", "1/2"])}
    if kind == "mean":
        how["grid"] = "1/10"
    if kind == "percentile":
        how["p"] = draw.choice(["10", "50", "99"])
    if kind not in ("above", "histogram") and draw.random() < 0.3:
        how["people"] = draw.choice([1, 2, 3])
    if kind == "histogram" and draw.random() < 0.4:
        how = {}
    if "people" not in how and (not how or draw.random() < 0.5):
        how |= {"by": "g", "groups": draw.choice([["u", "v"], ["v", "u", "w"]])}
        if draw.random() < 0.3:
            how |= {"others": "else"}
        elif draw.random() < 0.5:
            how |= {"by": {"g": how["groups"], "mode": ["in", "out"]}, "groups": None}
    keep = draw.choice([{}, {"mode": ["in"]}])

    def ask(where: Mapping[str, Any], start: datetime, end: datetime) -> Any:
        held = describe_by(lw.records, **where, person="who", combine=combine, keep=keep, time="when")
        return statistic_by(held, kind, **how, start=start, end=end)

    menu: list[Sequence[Any]] = [NUMBERS, ["u", "v", "u", "other", None], ["in", "in", "out", None]]
    return Question({"v": pa.float64(), "g": pa.string(), "mode": pa.string()}, menu, ask)


def counted(questions: Sequence[Any]) -> Iterator[tuple[int, ...] | None]:
    """What the engine counts in each window, in one pass; None where it refuses, as people are over a declared bound."""
    with open_data(questions[0], read_keys(questions[0])) as table:
        table.expect(questions)
        for question in questions:
            try:
                yield tuple(int(n) for n in table.exactly(question, "answer").counts)
            except BoundExceededError:
                yield None


def price(name: str, before: Record, after: Record) -> Fraction | float:
    """What the definition of a notion lets one person's change cost."""
    row = BY_NAME[name]
    of = frozenset if row.kinds == OF_FACTS else lambda rows: frozenset(enumerate(rows))  # its facts are visits
    steps: Any = row.steps
    return steps(of(before) if before else None, of(after) if after else None)


@dataclass
class Compared:
    """What was compared for one question: of which notions there were plans, how many pairs, and what was wrong."""

    plans: list[str]
    pairs: int
    wrong: list[str]


def plans_of(question: Any) -> list[tuple[str, Any]]:
    """Noise under each notion, as far as the question is answered so."""
    found = [(name, planned(question, BY_NAME[name].notion)) for name in NOTIONS]
    return [(name, plan) for name, plan in found if isinstance(plan, NumberPlan | Plan)]


def compared(seed: int, factor: Fraction | int = 1, inside: Inside | None = None) -> Compared:
    """Compare all neighbours for one random question; noise is taken for ``factor`` times as small as planned."""
    draw = random.Random(f"all neighbours {seed}")
    question = draw.choice([visits_of, numbers_of])(draw)
    rows = [question.row(draw) for _ in range(5)]
    records: list[Record] = [()]
    records += [some for size in (1, 2) for some in itertools.combinations_with_replacement(rows, size)]
    beside = [
        (who, *question.row(draw)) for who in draw.choices(["bob", "cid", "bob", "cid", None], k=draw.randrange(5))
    ]
    questions = question.together([[*beside, *(("ann", *row) for row in record)] for record in records], inside)
    plans = plans_of(questions[0])
    found = Compared([name for name, _ in plans], 0, [])
    if not plans:
        return found
    answers = list(counted(questions))
    for (before, x), (after, y) in itertools.permutations(zip(records, answers, strict=True), 2):
        if x is None or y is None or x == y:
            continue
        for name, plan in plans:
            found.pairs += 1
            if loss(plan, list(x), list(y)) * factor > (most := price(name, before, after)):
                found.wrong.append(f"{seed}, {name}: {before} → {after}: {x} → {y} costs more than {most}")
    return found


def check(seeds: range, plans: int, pairs: int) -> None:
    found = [compared(seed) for seed in seeds]
    assert [said for each in found for said in each.wrong] == []
    assert sum(len(each.plans) for each in found) > plans, "or next to nothing was planned"
    assert sum(each.pairs for each in found) > pairs, "or next to nothing was compared"


@pytest.mark.sweep
@pytest.mark.parametrize("block", range(3))
def test_no_neighbour_is_further_than_its_noise_allows(block: int) -> None:
    check(range(block * 25, block * 25 + 25), 60, 5000)


@pytest.mark.sweep
@pytest.mark.parametrize("block", [pytest.param(n, marks=pytest.mark.long) for n in range(1, 26)])
def test_ten_thousand_plans(block: int) -> None:
    """In 25 blocks of at least 400 plans each."""
    check(range(block * 150, block * 150 + 150), 400, 30_000)


def test_every_notion_is_met() -> None:
    nothing: list[Sequence[Any]] = [()]
    drawn = (visits_of(random.Random(f"a notion {seed}")).together(nothing)[0] for seed in range(20))
    assert {name for question in drawn for name, _ in plans_of(question)} == set(NOTIONS)


# ---- mistakes that must be found


def test_noise_that_is_too_small_is_found() -> None:
    assert any(compared(seed, Fraction(3, 2)).wrong for seed in range(10))


def one_place_more(patch: pytest.MonkeyPatch) -> None:
    """Of everybody one place more is counted than the bound says."""
    by_place = _visits._by_place

    def more(taken: Any, query: Any, *rest: Any) -> Any:
        k = query.places_per_person
        return by_place(taken, replace(query, places_per_person=None if k is None else k + 1), *rest)

    patch.setattr(_visits, "_by_place", more)


def every_row_a_person(patch: pytest.MonkeyPatch) -> None:
    """Rows are counted, not people."""
    by_place = _visits._by_place
    patch.setattr(_visits, "_by_place", lambda taken, *rest: by_place(taken.mutate(person=ibis.row_number()), *rest))


def sums_beyond_the_bounds(patch: pytest.MonkeyPatch) -> None:
    """A person's numbers are not combined, so that each of them counts."""
    patch.setattr(_timed, "who", lambda rows, column, bound: ibis.row_number().cast("string"))


@pytest.mark.parametrize(
    "mistake", [one_place_more, every_row_a_person, sums_beyond_the_bounds], ids=lambda mistake: mistake.__name__
)
def test_a_mistake_of_the_engine_is_found(mistake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mistake(monkeypatch)
    assert any(compared(seed).wrong for seed in range(75))
