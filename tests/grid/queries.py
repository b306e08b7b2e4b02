"""Every public query beside its definition: what the package asks, and what a slow reading of a table answers.

A `Query` is about one kind of record (see `tests.grid.notions.RECORDS`). The two sides are written apart, and nothing here
is computed from the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tests.asking import statistic_by
from tests.oracle import answers, universe
from tests.oracle.answers import Answer
from tests.oracle.universe import Row

from leeward.notion import ValueGrid, has, where
from leeward.query import (
    CountWhere,
    Domain,
    Histogram,
    Linear,
    Mean,
    Sum,
    SumOf,
    Variance,
    count_visitors,
    maximum,
    median,
    minimum,
    percentile,
    places,
    visits,
)
from leeward.query import records as table_of
from leeward.query._left_out import MostLeftOut


@dataclass(frozen=True)
class Query:
    """A query and its definition.

    Attributes:
        name: what it is called in the grid.
        query: the package's.
        kind: the kind of record it is about.
        answer: what it asks, worked out on a whole table.
        records: all records there can be, as far as anything here can tell them apart; None for those of the kind.
        fits: which tables there can be, by a fact that is public.
        leaves_out: whether it is declared that some records of the kind cannot be.
        exact: whether the rates are claimed to be the largest there are, when the records are all there can be.
    """

    name: str
    query: Any
    kind: str
    answer: Answer
    records: tuple[Any, ...] | None = None
    fits: Callable[[Any], bool] = lambda table: True
    leaves_out: bool = False
    exact: bool = False


# ---- sets of facts


def at(*chosen: str) -> Callable[[Any], bool]:
    return lambda record: all(place in record for place in chosen)


def none_of(*chosen: str) -> Callable[[Any], bool]:
    return lambda record: not any(place in record for place in chosen)


def any_of(*chosen: str) -> Callable[[Any], bool]:
    return lambda record: any(place in record for place in chosen)


A, B, C = has("a"), has("b"), has("c")
FACTS: list[tuple[str, Any, Answer]] = [
    ("a", CountWhere(A), answers.counts(at("a"))),
    ("not a", CountWhere(~A), answers.counts(none_of("a"))),
    ("a and b", CountWhere(A & B), answers.counts(at("a", "b"))),
    ("a or b", CountWhere(A | B), answers.counts(any_of("a", "b"))),
    ("a and not b", CountWhere(A & ~B), answers.counts(lambda r: "a" in r and "b" not in r)),
    ("a or not b", CountWhere(A | ~B), answers.counts(lambda r: "a" in r or "b" not in r)),
    ("not both", CountWhere(~(A & B)), answers.counts(lambda r: not ("a" in r and "b" in r))),
    ("one of two", CountWhere((A & ~B) | (B & ~A)), answers.counts(lambda r: ("a" in r) != ("b" in r))),
    ("a, b, c", CountWhere((A, B, C)), answers.counts(at("a"), at("b"), at("c"))),
    ("a, and a with b", CountWhere((A, A & B)), answers.counts(at("a"), at("a", "b"))),
    ("a, and not a", CountWhere((A, ~A)), answers.counts(at("a"), none_of("a"))),
    ("a less b", Linear((A, B), ((1, -1),)), answers.weighted([(1, -1)], at("a"), at("b"))),
    ("weights", Linear((A, B), ((2, 0), (-1, 3))), answers.weighted([(2, 0), (-1, 3)], at("a"), at("b"))),
    ("nothing", CountWhere(A & ~A), answers.counts(lambda r: False)),
]


def few(k: int, of: str) -> Callable[[Any], bool]:
    """Nobody has more than so many of these facts."""
    return lambda table: all(record is None or len(set(record) & set(of)) <= k for record in table)


def asked(k: int | None, if_more: Any) -> Any:
    return count_visitors(
        visits("v", person="p", place="q", time="t"),
        places("l", place="q"),
        start="2020-01-01",
        end="2020-01-02",
        places_per_person=k,
        if_more=if_more,
    )


def _of_facts() -> list[Query]:
    found = []
    for kind in ("visits", "members"):
        found += [Query(f"{kind}: {name}", q, kind, answer, exact=True) for name, q, answer in FACTS]
        found += [
            Query(f"{kind}: {name}, {shown} a person",
                  replace(q, declared=Domain(facts_per_person=most)), kind, answer, fits=few(most, "abcde"),
                  leaves_out=True, exact=kind == "members")
            for most, shown in ((1, "one fact"), (2, "two facts"))
            for name, q, answer in FACTS
            if isinstance(q, CountWhere) or most == 2
        ]  # fmt: skip
        found += [
            Query(f"{kind}: visitors, k = {k}, {if_more}", asked(k, if_more), kind, answers.visitors("abc", k, if_more),
                  fits=(lambda table: True) if k is None or if_more != "refuse" else few(k, "abc"))
            for k, if_more in [(None, "refuse"), *itertools.product((1, 2, 3), ("refuse", "latest", "earliest"))]
        ]  # fmt: skip
        found += [
            Query(f"{kind}: the most left out, k = {k}, {if_more}", MostLeftOut(asked(k, if_more)), kind,
                  answers.most_left_out("abc", k, if_more))
            for k, if_more in itertools.product((1, 2), ("latest", "earliest"))
        ]  # fmt: skip
    return found


# ---- words: all records are listed, and conditions are functions

LISTED = Domain(records=(None, "s", "t", "n"))
WORDS = [
    Query("words: s", CountWhere(lambda r: r == "s", LISTED), "words", answers.counts(lambda r: r == "s"), exact=True),
    Query(
        "words: s or n, t",
        CountWhere((lambda r: r in {"s", "n"}, lambda r: r == "t"), LISTED),
        "words",
        answers.counts(lambda r: r != "t", lambda r: r == "t"),
        exact=True,
    ),
    Query("words: everybody", CountWhere(lambda r: True, LISTED), "words", answers.counts(lambda r: True), exact=True),
    Query(
        "words: weights",
        Linear((lambda r: r == "s", lambda r: r != "n"), ((1, 2), (0, -3)), LISTED),
        "words",
        answers.weighted([(1, 2), (0, -3)], lambda r: r == "s", lambda r: r != "n"),
        exact=True,
    ),
]

# what is promised about two records may rest on a third, which there cannot be
WORDS += [
    Query(
        f"words: {shown} among {', '.join(left)}",
        CountWhere(conditions, Domain(records=(None, *left))),
        "words",
        answers.counts(*conditions),
        fits=lambda table, left=left: all(r is None or r in left for r in table),
        leaves_out=True,
    )
    for left in itertools.combinations("stn", 2)
    for shown, conditions in {"t": (lambda r: r == "t",), "s, n": (lambda r: r == "s", lambda r: r == "n")}.items()
]

# ---- rows: x is 0, 1 or 2, and y is 0 or 1

THERE = Domain(columns={"x": range(3), "y": [0, 1]})
ATOMS: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "x is 1": (where("x", equals=1), lambda r: r.x == 1),
    "x is 0 or 2": (where("x", one_of=[0, 2]), lambda r: r.x in (0, 2)),
    "x from 1": (where("x", at_least=1), lambda r: r.x >= 1),
    "x to 1": (where("x", at_most=1), lambda r: r.x <= 1),
    "x from 1 to 1": (where("x", at_least=1, at_most=1), lambda r: r.x == 1),
    "x is 5": (where("x", equals=5), lambda r: r.x == 5),
}
Y, IS_Y = where("y", equals=1), lambda r: r.y == 1


def _either(x: Any, join: str) -> tuple[Any, Callable[[Any], bool]]:
    condition, holds = x
    return {
        "": (condition, holds),
        "not ": (~condition, lambda r: not holds(r)),
        " and y": (condition & Y, lambda r: holds(r) and IS_Y(r)),
        " or y": (condition | Y, lambda r: holds(r) or IS_Y(r)),
        " and not y": (condition & ~Y, lambda r: holds(r) and not IS_Y(r)),
        "not, or y": (~condition | Y, lambda r: not holds(r) or IS_Y(r)),
    }[join]


def _of_rows() -> list[Query]:
    joins = ["", "not ", " and y", " or y", " and not y", "not, or y"]
    found = []
    for name, join in itertools.product(ATOMS, joins):
        condition, holds = _either(ATOMS[name], join)
        shown = f"rows: {join}{name}" if join == "not " else f"rows: {name}{join and ','}{join}"
        found.append(Query(shown, CountWhere(condition, THERE), "rows", answers.counts(holds), exact=True))
    several = list(ATOMS.values())[:4]
    found.append(
        Query(
            "rows: four overlapping counts",
            CountWhere([c for c, _ in several], THERE),  # type: ignore[arg-type]
            "rows",
            answers.counts(*(t for _, t in several)),
            exact=True,
        )
    )
    found += [
        Query(f"rows: x as {known}", CountWhere(where("x", one_of=[0, 2]), Domain({"x": known, "y": range(2)})), "rows",
              answers.counts(lambda r: r.x in (0, 2)), exact=True)
        for known in (range(3), range(2, -1, -1), [0, 1, 2], (2, 1, 0))
    ]  # fmt: skip
    found += [
        Query(f"rows: x is {x}, where x is {left} and y {right}",
              CountWhere(where("x", equals=x), Domain({"x": left, "y": right})), "rows",
              answers.counts(lambda r, x=x: r.x == x),
              fits=lambda table, left=left, right=right: all(r is None or (r.x in left and r.y in right) for r in table),
              leaves_out=True)
        for left, right in itertools.product([[0, 1, 2], *map(list, itertools.combinations(range(3), 2))], [[0, 1], [1]])
        if (left, right) != ([0, 1, 2], [0, 1])
        for x in (0, 2)
    ]  # fmt: skip
    found.append(
        Query(
            "rows: nothing declared",
            CountWhere(where("x", one_of=[0, 2])),
            "rows",
            answers.counts(lambda r: r.x in (0, 2)),
        )
    )
    for low, high in [(0, 2), (1, 2), (0, 1), (-1, 1), (-2, -1), (1, 1)]:
        plain = answers.total(lambda r: r.x, low, high)
        found.append(Query(f"rows: sum {low}..{high}", SumOf("x", low, high, None, THERE), "rows", plain, exact=True))
        plain = answers.total(lambda r: r.x, low, high, IS_Y)
        found.append(Query(f"rows: sum {low}..{high} of y", SumOf("x", low, high, Y, THERE), "rows", plain, exact=True))
    plain = answers.total(lambda r: r.x, 0, 2, lambda r: r.x != 1)
    found.append(Query("rows: sum but 1", SumOf("x", 0, 2, ~where("x", equals=1), THERE), "rows", plain, exact=True))
    for bins in [(0, 1, 2), (1,), (2, 0), (5, 1)]:
        plain = answers.counts(*((lambda r, b=b: r.x == b) for b in bins))
        found.append(Query(f"rows: bins {bins}", Histogram("x", bins, THERE), "rows", plain, exact=True))
    return found


# ---- numbers: records are the numbers


def _of_numbers() -> list[Query]:
    found = []
    for low, high in [(0, 2), (-1, 1), (1, 3), (-3, -1)]:
        values, there = ValueGrid(low, high), (None, *map(Fraction, range(low, high + 1)))

        def ask(
            name: str,
            query: Any,
            whole: Any,
            people: int | None = None,
            there: tuple[Any, ...] = there,
            where: str = f"{low}..{high}",
        ) -> None:
            fits: Callable[[Any], bool] = (
                (lambda table: True) if people is None else (lambda table: sum(r is not None for r in table) == people)
            )
            shown = f"numbers {where}: {name}" + (f" of {people}" if people else "")
            found.append(Query(shown, query, "numbers", answers.of_numbers(whole), there, fits))

        for people in (None, 1, 2, 3):
            ask("sum", Sum(values, people), answers.summed, people)
            for grid in (None, Fraction(1), Fraction(1, 2), Fraction(2, 3)):
                ask(f"mean on {grid}", Mean(values, people, grid=grid), answers.mean(grid, low), people)
            ask("variance", Variance(values, people), answers.variance, people)
            for p in (0, 34, 50, 67):
                ask(f"{p} %", percentile(values, p, people=people), answers.percentile(p, low), people)
            ask("max", maximum(values, people=people), answers.percentile(100, low), people)
        for default in range(low, high + 1):
            ask(f"max, else {default}", maximum(values, default=Fraction(default)), answers.percentile(100, default))
            ask(f"min, else {default}", minimum(values, default=Fraction(default)), answers.percentile(0, default))
            ask(f"median, else {default}", median(values, default=Fraction(default)), answers.percentile(50, default))
            ask(f"mean, else {default}", Mean(values, default=Fraction(default)), answers.mean(None, default))
    return found


# ---- statistics: x is a number or missing, y a group

TABLE = table_of("t.parquet", person="each row")
WITHOUT = (*universe.ROWS, Row(None, 0))
GROUPINGS: dict[str, tuple[dict[str, Any], Sequence[Any]]] = {
    "": ({}, [None]),
    " of group 0": ({"by": "y", "groups": [0]}, [0]),
    " by group": ({"by": "y", "groups": [0, 1]}, [0, 1]),
    " of group 0, and others": ({"by": "y", "groups": [0], "others": 9}, [0, answers.Beyond([0])]),
}


def _together(groups: Sequence[Any], whole: Any) -> Answer:
    if groups == [None]:
        return lambda table: (whole([Fraction(r.x) for r in table if r is not None and r.x is not None]),)
    return answers.grouped(groups, whole)


KINDS: dict[str, tuple[dict[str, Any], Any]] = {
    "sum": ({}, answers.summed),
    "mean": ({}, answers.mean(1, 0)),
    "mean on 1/2": ({"grid": "1/2"}, answers.mean(Fraction(1, 2), 0)),
    "median": ({}, answers.percentile(50, 0)),
    "min": ({}, answers.percentile(0, 0)),
    "max": ({}, answers.percentile(100, 0)),
    "percentile": ({"p": 67}, answers.percentile(67, 0)),
}


SEVERAL = (("25", "75"), ("0", "50", "100"))


def _of_statistics() -> list[Query]:
    found = []
    for (name, (given, whole)), step, (shown, (by, groups)) in itertools.product(
        KINDS.items(), (1, 2), GROUPINGS.items()
    ):
        kind: Any = name.split()[0]
        if name == "mean" and step == 2:
            given = {"grid": 1}
        made = statistic_by(TABLE, kind, column="x", lower=0, upper=2, step=step, **given, **by)
        answer = _together(groups, answers.on_grid(0, 2, step, whole))
        found.append(Query(f"statistic: {name}, step {step}{shown}", made, "rows", answer, WITHOUT))
        for people in (1, 2):
            if len(groups) > 1:
                continue
            made = statistic_by(TABLE, kind, column="x", lower=0, upper=2, step=step, people=people, **given, **by)
            counted = lambda r, groups=groups: r is not None and r.x is not None and groups[0] in (None, r.y)  # noqa: E731
            fits = lambda table, n=people, counted=counted: sum(map(counted, table)) == n  # noqa: E731
            found.append(
                Query(f"statistic: {name}, step {step}{shown}, {people} people", made, "rows", answer, WITHOUT, fits)
            )
    for ps, step, (shown, (by, groups)) in itertools.product(SEVERAL, (1, 2), GROUPINGS.items()):
        made = statistic_by(TABLE, "percentile", column="x", lower=0, upper=2, step=step, p=ps, **by)
        each = [_together(groups, answers.on_grid(0, 2, step, answers.percentile(Fraction(p), 0))) for p in ps]
        name = f"statistic: percentiles {', '.join(ps)}, step {step}{shown}"
        found.append(Query(name, made, "rows", answers.in_turn(each), WITHOUT))
        if len(groups) > 1:
            continue
        made = statistic_by(TABLE, "percentile", column="x", lower=0, upper=2, step=step, p=ps, people=2, **by)
        counted = lambda r, groups=groups: r is not None and r.x is not None and groups[0] in (None, r.y)  # noqa: E731
        fits = lambda table, counted=counted: sum(map(counted, table)) == 2  # noqa: E731
        found.append(Query(f"{name}, 2 people", made, "rows", answers.in_turn(each), WITHOUT, fits))
    for step, (shown, (by, groups)) in itertools.product((1, 2), GROUPINGS.items()):
        made = statistic_by(TABLE, "histogram", column="x", lower=0, upper=2, step=step, **by)
        edges = list(range(0, 3, step))
        found.append(
            Query(f"statistic: histogram, step {step}{shown}", made, "rows", answers.cells(groups, edges), WITHOUT)
        )
    halves: dict[str, Any] = {"by": {"y": {"lower": 0, "upper": 2, "step": 1}}}  # of which y, 0 or 1, is the lower end
    for name, step in (("sum", 1), ("median", 2)):
        made = statistic_by(TABLE, name, column="x", lower=0, upper=2, step=step, **halves)  # type: ignore[arg-type]
        answer = _together([0, 1], answers.on_grid(0, 2, step, KINDS[name][1]))
        found.append(Query(f"statistic: {name}, step {step} by interval", made, "rows", answer, WITHOUT))
    made = statistic_by(TABLE, "histogram", **halves)
    found.append(Query("statistic: people by interval", made, "rows", answers.cells([0, 1], None), WITHOUT))
    for shown, (by, groups) in list(GROUPINGS.items())[1:]:
        made = statistic_by(TABLE, "histogram", **by)
        found.append(Query(f"statistic: people{shown}", made, "rows", answers.cells(groups, None), WITHOUT))
    return found


# ---- graphs: sets of edges

XY, YZ = frozenset("xy"), frozenset("yz")
GRAPHS = [
    Query("graphs: an edge", CountWhere(has(XY)), "graphs", lambda g: (Fraction(XY in g),), exact=True),
    Query(
        "graphs: two edges",
        CountWhere((has(XY), has(YZ))),
        "graphs",
        lambda g: (Fraction(XY in g), Fraction(YZ in g)),
        exact=True,
    ),
    Query(
        "graphs: one without the other",
        CountWhere(has(XY) & ~has(YZ)),
        "graphs",
        lambda g: (Fraction(XY in g and YZ not in g),),
        exact=True,
    ),
]

NUMERIC, STATISTICS = _of_numbers(), _of_statistics()
QUERIES = [*_of_facts(), *WORDS, *_of_rows(), *NUMERIC, *STATISTICS, *GRAPHS]
