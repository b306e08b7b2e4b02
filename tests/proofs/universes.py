"""Universes small enough to go through whole, and the queries that are asked on them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from leeward.distance import FiniteDistance, Line
from leeward.exact import Real, Weight, inf
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, Monitor, MonitorState
from leeward.notion import ABSENT, Notion, ValueGrid, all_tables, has
from leeward.query import CountWhere, sensitivity

Proved = tuple[FiniteMechanism, FiniteDistance[Any]]
"""An exact matrix and the distance it claims, on the same secrets."""

SETS = tuple(frozenset(s) for s in ("", "a", "b", "ab"))
PEOPLE = all_tables((ABSENT, *SETS), 2)
"""Two people, each missing, or at any of two places."""

PRESENT = all_tables(SETS, 2)
ALONE = all_tables((ABSENT, *SETS), 1)
AT_A, AT_B = has("a"), has("b")
BOTH_PLACES, ONE_PLACE = CountWhere((AT_A, AT_B)), CountWhere((AT_A,))

WORDS = ("a", "b", "c")
IS_B, IS_C = (CountWhere((lambda r, word=word: r == word,)) for word in "bc")
TEXTS = all_tables(WORDS, 2)

NUMBERS = ValueGrid(0, 2)
READINGS = all_tables(NUMBERS.points, 2)
READINGS_OR_NOT = all_tables((ABSENT, *NUMBERS.points), 2)

GRAPHS = [
    frozenset(edges)
    for size in range(4)
    for edges in itertools.combinations([frozenset(pair) for pair in ("ab", "bc", "ca")], size)
]
"""Every graph on three people."""

BITS = (False, True)


def answered(
    line: Line, tables: Iterable[Any], query: Callable[[Any], tuple[int, ...]], **form: Any
) -> FiniteMechanism:
    """Independent geometric noise on every answer, on all tables."""
    tables = tuple(tables)
    top = max(max(query(table)) for table in tables)
    size = len(query(tables[0]))
    return FiniteMechanism.product([Geometric(line, **form).on(range(top + 1))] * size).pull_back(tables, query)


def derived(notion: Notion, tables: tuple[Any, ...], query: Any, **form: Any) -> Proved:
    """The whole way: the rates that `sensitivity` derives for a query, their noise, and the notion's own distance."""
    line = sensitivity(notion, query).line
    return answered(line, tables, query.answer, **form), notion.on(tables)


def numeric(notion: Notion, tables: tuple[Any, ...], query: Any) -> Proved:
    """The same for one whole number a table."""
    line = sensitivity(notion, query).line
    return answered(line, tables, lambda table: (int(query(table)),)), notion.on(tables)


def vectors(tables: Iterable[Any]) -> list[tuple[int, ...]]:
    """All answers that two counts can have on these tables."""
    return list(dict.fromkeys(BOTH_PLACES.answer(table) for table in tables))


def asked_by(mechanism: Any, tables: tuple[Any, ...]) -> FiniteMechanism:
    """A mechanism for vectors of counts, asked for the visitors of both places."""
    return mechanism.on(vectors(tables)).pull_back(tables, BOTH_PLACES.answer)


def said(chance: Callable[[int], Weight], tables: tuple[Any, ...]) -> FiniteMechanism:
    """A decision about the visitors of one place, from its chance of *True* at each count."""
    counts = range(len(tables[0]) + 1)
    matrix = FiniteMechanism(counts, BITS, [[1 - chance(c), chance(c)] for c in counts])
    return matrix.pull_back(tables, lambda table: ONE_PLACE.answer(table)[0])


def monitored(rate: Real, stop_after: int, tables: tuple[Any, ...]) -> FiniteMechanism:
    """A `Monitor` over two windows, a and b, by its own rules; the second threshold depends on the first answer.

    Noisy counts above every truth and threshold are merged, which changes no ratio.
    """
    top = 3
    monitor = Monitor(Line(inf, rate), stop_after=stop_after)
    up = Geometric(Line(inf, rate)).law

    def law(counts: tuple[int, ...]) -> dict[Any, Weight]:
        states: dict[MonitorState, Weight] = {monitor.start(): weight(1)}
        for window, count in enumerate(counts):
            following: dict[MonitorState, Weight] = {}
            for state, chance in states.items():
                if state.stopped:
                    following[state] = following.get(state, weight(0)) + chance
                    continue
                at_most = 1 if state.stops else 0
                held = monitor.reserve(state, f"window {window}", at_most, counts=1)
                for z in range(count, top + 1):
                    drawn = up.tail(z - count) if z == top else up.pmf(z - count)
                    after = monitor.decide(held, np.array([z]))
                    following[after] = following.get(after, weight(0)) + chance * drawn
            states = following
        return {state.rounds: chance for state, chance in states.items()}

    return FiniteMechanism.from_rows({v: law(v) for v in vectors(tables)}).pull_back(tables, BOTH_PLACES.answer)
