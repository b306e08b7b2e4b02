"""Every notion with every query: what is claimed of the rates holds on every pair of tables, by going through all of them.

For rates a (against rising) and b (against falling) the claim is ``a·rise + b·fall ≤ d(x → x')`` for every ordered pair of
tables at finite distance. The distances are `tests.oracle.universe`'s and the answers `tests.oracle.answers`'s, which share
nothing with the package. Which pairs are answered at all, and where the bound is attained, is written down beside this
file: a refusal that creeps in is noticed, and so is noise that is larger than it was. To write it anew, look at the
difference, and say why it is right:

    python -m tests.grid.test_sensitivities > tests/grid/sensitivities.txt
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.grid.notions import BASES, BOTH, OTHER_UNITS, PERSONALISED, RECORDS, SCALED
from tests.grid.notions import Row as Notion
from tests.grid.queries import QUERIES, Query
from tests.oracle import universe
from tests.oracle.universe import NEVER, PARTS, Matrix

import leeward.notion
import leeward.query._effect
from leeward.cli import LeewardError
from leeward.query import sensitivity, sensitivity_each, sensitivity_lines

WRITTEN = Path(__file__).with_name("sensitivities.txt")

FEW: dict[str, Sequence[Any]] = {
    "words": RECORDS["words"],
    "visits": [None, *map(frozenset, ("a", "c", "ab"))],
    "members": [None, *map(frozenset, ("", "a", "ab"))],
    "numbers": RECORDS["numbers"],
    "rows": [None, *(universe.Row(*row) for row in [(0, 0), (1, 1), (2, 0)])],
}
"""Fewer records where several people are gone through."""

NAMED = {row.name: row for row in [*BASES, *OTHER_UNITS, *PERSONALISED, *SCALED, *BOTH]}


# ---- universes


def universes(notion: Notion, query: Query) -> Iterator[tuple[tuple[Any, ...], int]]:
    """Lists of records, and of how many people: all records for one person, fewer for several."""
    if query.kind == "graphs":
        yield (), 0
        return

    def known(records: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(r for r in records if r is None or notion.listed is None or r in notion.listed)

    every = query.records or RECORDS[query.kind]
    some = query.records if query.kind == "numbers" else FEW[query.kind]
    if notion.persons is None and notion.tables is None:
        yield known(every), 1
    yield known(some or every), notion.persons or (3 if query.kind == "numbers" else 2)


@functools.lru_cache(maxsize=1024)
def between(notion: str, records: tuple[Any, ...], persons: int) -> tuple[list[Any], Matrix]:
    """All tables with these records, and the oracle's distances between them."""
    secrets = universe.all_of(records, persons) if persons else universe.all_graphs("wxyz")
    return secrets, NAMED[notion].between(secrets)


@functools.lru_cache(maxsize=4096)
def answered(query: str, records: tuple[Any, ...], persons: int) -> tuple[Matrix, int, Any]:
    """The answers on all tables as whole numbers, of what unit fraction, and which tables there can be."""
    asked = ASKED[query]
    secrets = universe.all_of(records, persons) if persons else universe.all_graphs("wxyz")
    can_be = np.array([bool(asked.fits(secret)) for secret in secrets])
    found = [asked.answer(secret) if fits else None for secret, fits in zip(secrets, can_be, strict=True)]
    size = max((len(row) for row in found if row is not None), default=1)
    rows = [row or (Fraction(0),) * size for row in found]
    parts = math.lcm(*(value.denominator for row in rows for value in row))
    return np.array([[int(value * parts) for value in row] for row in rows], dtype=np.int64), parts, can_be


ASKED = {query.name: query for query in QUERIES}


class Moves:
    """The distance and the moves of an answer over every ordered pair of tables at finite distance, as whole numbers."""

    def __init__(self, distance: Matrix, answers: Matrix, parts: int, can_be: Any) -> None:
        pairs = (distance < NEVER) & can_be[:, None] & can_be[None, :]
        np.fill_diagonal(pairs, False)
        x, y = np.nonzero(pairs)
        moved = answers[y] - answers[x]
        told = np.unique(np.column_stack([distance[x, y], moved]), axis=0)
        self.distance, self.moves, self.parts = told[:, 0], told[:, 1:], parts

    def spent(self, up: Sequence[Any], down: Sequence[Any]) -> tuple[bool, bool]:
        """Whether rates of the coordinates are allowed, and whether they attain the distance somewhere."""
        rise, fall = np.maximum(self.moves, 0), np.maximum(-self.moves, 0)
        for rates, way in ((up, rise), (down, fall)):
            free = [i for i, rate in enumerate(rates) if rate == math.inf]
            if way[:, free].any():
                return False, False
        rates = [Fraction(0) if rate == math.inf else Fraction(rate) for rate in (*up, *down)]
        common = math.lcm(*(rate.denominator for rate in rates))
        whole = np.array([int(rate * common) for rate in rates], dtype=object)
        cost = np.hstack([rise, fall]).astype(object) @ whole * PARTS
        limit = self.distance.astype(object) * (self.parts * common)
        return bool((cost <= limit).all()), bool(((cost == limit) & (cost > 0)).any())

    @property
    def none(self) -> bool:
        return not self.moves.any()


def all_moves(notion: Notion, query: Query) -> list[Moves]:
    """The moves on every universe."""
    found = []
    for records, persons in universes(notion, query):
        _, distance = between(notion.name, records, persons)
        found.append(Moves(distance, *answered(query.name, records, persons)))
    return found


# ---- what is claimed


def plain(rate: Any) -> Any:
    return math.inf if rate.is_infinite else rate.rational


def check(notion: Notion, query: Query, moves: Sequence[Moves]) -> str:
    """Compare what is claimed with the oracle.

    Returns "=" where it is attained, "<" where not, "0" if nothing is said to move, and "-" if the query is refused.
    """
    where = f"{query.name} under {notion.name}"
    try:
        claim = sensitivity(notion.notion, query.query)
    except LeewardError as refused:
        if "no step" in str(refused):
            assert all(one.none for one in moves), f"{where}: said to change by nothing"
            return "0"
        check_each(notion, query, moves, where)
        return "-"
    up, down = plain(claim.line.rise), plain(claim.line.fall)
    attained = False
    for one in moves:
        size = one.moves.shape[1]
        allowed, equal = one.spent([up] * size, [down] * size)
        assert allowed, f"{where}: {claim.line} is too little noise"
        attained |= equal
        if claim.monotone:
            signs = {int(sign) for sign in np.unique(np.sign(one.moves))}
            assert signs <= {0, claim.sign}, f"{where}: not monotone, but said to be"
    check_each(notion, query, moves, where)
    check_lines(notion, query, moves, where)
    if query.exact and notion in BASES and notion.listed is None:
        assert attained or all(one.none for one in moves), f"{where}: {claim.line} is more noise than needed"
        assert is_largest(up, down, moves), f"{where}: {claim.line} is more noise than needed"
    return "=" if attained else "<"


def is_largest(up: Any, down: Any, moves: Sequence[Moves]) -> bool:
    """Whether neither rate may be raised by a thousandth."""
    more = Fraction(1001, 1000)
    raised = [pair for rate, pair in ((up, (up * more, down)), (down, (up, down * more))) if rate != math.inf]
    return all(
        any(not one.spent([a] * one.moves.shape[1], [b] * one.moves.shape[1])[0] for one in moves) for a, b in raised
    )


def check_each(notion: Notion, query: Query, moves: Sequence[Moves], where: str) -> None:
    """The line for one coordinate at a time."""
    try:
        line = sensitivity_each(notion.notion, query.query).line
    except LeewardError:
        return
    up, down = plain(line.rise), plain(line.fall)
    for one in moves:
        size = one.moves.shape[1]
        for i in range(size):
            rates = [[rate if i == j else 0 for j in range(size)] for rate in (up, down)]
            assert one.spent(*rates)[0], f"{where}: {line} is too little noise on one coordinate"


def check_lines(notion: Notion, query: Query, moves: Sequence[Moves], where: str) -> None:
    """The lines for coordinates that move in different directions."""
    try:
        lines = sensitivity_lines(notion.notion, query.query)
    except LeewardError:
        return
    for one in moves:
        allowed, _ = one.spent([plain(line.rise) for line in lines], [plain(line.fall) for line in lines])
        assert allowed, f"{where}: {lines} is too little noise"


# ---- the tests

COLUMNS = [*BASES, *OTHER_UNITS]


def letters(query: Query) -> str:
    """What becomes of one query under every notion on its kind of record: one letter each (see `check`)."""
    return "".join(check(notion, query, all_moves(notion, query)) for notion in COLUMNS if query.kind in notion.kinds)


def written(kind: str, rows: Sequence[str]) -> list[str]:
    """How the findings of one kind of record are written down: the notions in their order, then a row for each query."""
    names = "; ".join(notion.name for notion in COLUMNS if kind in notion.kinds)
    return [f"## {kind}: {names}", *rows]


def all_written() -> str:
    lines: list[str] = []
    for kind in dict.fromkeys(query.kind for query in QUERIES):
        lines += written(kind, [f"{letters(query)}  {query.name}" for query in QUERIES if query.kind == kind])
    return "\n".join(lines) + "\n"


PARTS_OF = 60
"""Queries gone through in one test."""


@pytest.mark.sweep
@pytest.mark.parametrize("start", range(0, len(QUERIES), PARTS_OF))
def test_every_notion_with_every_query(start: int) -> None:
    expected = {line[line.index("  ") + 2 :]: line for line in WRITTEN.read_text().splitlines() if "  " in line}
    for query in QUERIES[start : start + PARTS_OF]:
        assert f"{letters(query)}  {query.name}" == expected[query.name], "see the head of this file"


def test_what_is_written_down_is_about_these_notions_and_queries() -> None:
    heads = [line for line in WRITTEN.read_text().splitlines() if line.startswith("## ")]
    assert heads == [written(kind, [])[0] for kind in dict.fromkeys(query.kind for query in QUERIES)]
    names = [line[line.index("  ") + 2 :] for line in WRITTEN.read_text().splitlines() if not line.startswith("## ")]
    assert sorted(names) == sorted(query.name for query in QUERIES)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["PERSONALISED", "SCALED", "BOTH"])
def test_notions_made_from_others(name: str) -> None:
    """A query is answered under them exactly where it is under those they are made from."""
    notions = {"PERSONALISED": PERSONALISED, "SCALED": SCALED, "BOTH": BOTH}[name]
    for place, notion in enumerate(notions):
        for query in [q for q in QUERIES if q.kind in notion.kinds][place % 9 :: 9]:
            found = check(notion, query, all_moves(notion, query))
            parts = [BASES[place]] if name != "BOTH" else list(notion.parts)
            answers = [refused(part, query) for part in parts]
            # its parts list other numbers, or meet at a record that is left out: it may be refused by itself
            if name == "BOTH" and (notion.notion.sees.unknown or query.leaves_out):
                assert found == "-" or not any(answers), (notion.name, query.name)
                continue
            assert (found == "-") == any(answers), (notion.name, query.name)


@pytest.mark.parametrize("query", [q for q in QUERIES if q.leaves_out], ids=lambda query: query.name)
def test_two_promises_that_meet_at_a_record_that_is_left_out(query: Query) -> None:
    for notion in BOTH:
        if query.kind in notion.kinds:
            check(notion, query, all_moves(notion, query))


def refused(notion: Notion, query: Query) -> bool:
    try:
        sensitivity(notion.notion, query.query)
    except LeewardError as error:
        return "no step" not in str(error)
    return False


def test_a_notion_about_other_records_is_answered_or_refused_in_words() -> None:
    """A notion about words with a query about rows, and so on: no other error escapes."""
    for query, notion in itertools.product(QUERIES[::3], COLUMNS):
        if query.kind not in notion.kinds:
            refused(notion, query)


def test_every_query_of_the_package_has_a_row() -> None:
    """A query is what tells its effect; a new one without a row fails here."""
    found = set()
    for module in pkgutil.walk_packages(leeward.query.__path__, "leeward.query."):
        for _, one in inspect.getmembers(import_module(module.name), inspect.isclass):
            if hasattr(one, "effect") and not inspect.isabstract(one) and one.__module__ == module.name:
                found.add(one)
    found.discard(leeward.query._effect.Query)  # what all of them are, and nothing by itself
    assert {one.__name__ for one in found} == {type(query.query).__name__ for query in QUERIES}


def test_every_notion_of_the_package_has_a_row() -> None:
    public = [getattr(leeward.notion, name) for name in leeward.notion.__all__]
    kinds = {one for one in public if inspect.isclass(one) and issubclass(one, leeward.notion.Notion)}
    assert {one.__name__ for one in kinds} == {"Notion", *(type(row.notion).__name__ for row in NAMED.values())}


# ---- each rule has a broken variant that is noticed


def lying(query: Query, lie: Callable[[Any, Any], Any]) -> Query:
    """The same query, whose effect is told wrongly."""

    class Liar:
        def effect(self, change: Any) -> Any:
            return lie(query.query.effect(change), change)

        def effect_of_all(self, change: Any) -> Any:
            return lie(query.query.effect_of_all(change), change)

    return Query(query.name, Liar(), query.kind, query.answer, query.records, query.fits)


def total(effect: Any, moves: Any) -> Any:
    return type(effect)(moves, effect.each)


LIES: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "a sensitivity one too small": (
        "members: a, b, c",
        "unbounded",
        lambda e, c: total(e, [(r and 2, f and 2) for r, f in e.total]),
    ),
    "the wrong sign": ("members: a", "addition", lambda e, c: total(e, [(f, r) for r, f in e.total])),
    "one way where there are two": ("rows: x is 0 or 2", "bounded", lambda e, c: total(e, [(1, 0)])),
    "rise and fall as if apart": ("members: a, and not a", "bounded", lambda e, c: total(e, [(1, 0), (0, 1)])),
    "one place as if all": ("members: visitors, k = 2, refuse", "replace", lambda e, c: total(e, e.each)),
    "presence as if a move": ("numbers 1..3: sum", "unbounded", lambda e, c: total(e, [(2, 0), (0, 2)])),
    "a maximum that only rises": (
        "numbers 0..2: max, else 1",
        "addition",
        lambda e, c: total(e, [move for move in e.total if not move[0]]),
    ),
    "a group left behind": (
        "statistic: sum, step 1 by group",
        "bounded",
        lambda e, c: total(e, [move for move in e.total if 0 in move]),
    ),
    "rounding forgotten": (
        "numbers 0..2: mean on 2/3",
        "manhattan",
        lambda e, c: total(e, [(r and 1, f and 1) for r, f in e.total]),
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_the_grid_notices_a_lie(name: str) -> None:
    query, notion, lie = LIES[name]
    honest, row = ASKED[query], NAMED[notion]
    moves = all_moves(row, honest)
    assert check(row, honest, moves) in "=<"
    with pytest.raises(AssertionError, match=r"too little noise|not monotone|nothing"):
        check(row, lying(honest, lie), moves)


if __name__ == "__main__":
    print(all_written(), end="")
