"""One table and one question have one exact answer, whatever holds the table; and it is that of an independent oracle.

Random tables of every type that is read, and random questions of every kind, seeds fixed; a thousand are long sweeps.
That this finds mistakes is seen by mistakes that are planted in the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pytest
from tests.engines.cases import GROUPS, NUMBERS, PERSONS, PLACES, STATES, drawn
from tests.engines.held import HOLDERS, OF_IBIS, differences

from leeward.engine import _bind, _numbers, _timed, _visits

BLOCK = 15


def block(number: int) -> range:
    return range(number * BLOCK, (number + 1) * BLOCK)


@pytest.mark.sweep
@pytest.mark.parametrize("number", range(2))
def test_every_source_has_the_answer_of_the_oracle(number: int, tmp_path: Path, session: Any) -> None:
    assert [said for seed in block(number) for said in differences(drawn(seed), tmp_path, session)] == []


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("number", range(2, 69))
def test_so_it_is_a_thousand_times(number: int, tmp_path: Path, session: Any) -> None:
    assert [said for seed in block(number) for said in differences(drawn(seed), tmp_path, session)] == []


OLD_WAY = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
"""In which Ibis asks DuckDB."""


@OLD_WAY
def test_ibis_tables_of_a_caller_have_it(tmp_path: Path) -> None:
    """One case has people with numbers beyond both bounds, who were counted twice among those beyond."""
    assert [said for seed in (0, 1, 139) for said in differences(drawn(seed), tmp_path, None, OF_IBIS)] == []


@OLD_WAY
@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("number", range(69))
def test_they_have_it_a_thousand_times(number: int, tmp_path: Path) -> None:
    assert [said for seed in block(number) for said in differences(drawn(seed), tmp_path, None, OF_IBIS)] == []


@pytest.mark.sweep
def test_the_cases_are_of_every_kind() -> None:
    """Or a suite that only counts empty tables would be as happy."""
    cases = [drawn(seed) for number in range(69) for seed in block(number)]
    types = {(role, column.kind) for case in cases for role, column in case.columns.items()}
    menus = {"person": PERSONS, "place": PLACES, "state": STATES, "number": NUMBERS, "g": GROUPS, "h": GROUPS}
    assert types >= {(role, kind) for role, menu in menus.items() for kind in menu}
    assert {kind for role, kind in types if role == "time"} == {
        "readings",
        "instants",
        "date",
        "int8",
        "nanoseconds",
        "text",
    }
    assert {case.ask.get("kind") for case in cases} >= {
        None,
        "sum",
        "mean",
        "variance",
        "percentile",
        "histogram",
        "above",
    }
    wanted = [HOLDERS["arrow"](case, Path(), None) for case in cases]
    said = [held.wanted() for held in wanted if held is not None]
    answers = [each for each in said if isinstance(each, dict)]
    assert len(answers) > 700
    assert sum(any(answer["counts"]) for answer in answers) > 400
    assert {reason for answer in answers for reason in answer["dropped"]} >= {
        *(
            "filtered",
            "null_person",
            "unreadable_time",
            "null_time",
            "incomparable_time",
            "date_alone",
            "outside_window",
            "null_place",
        ),
        *("unknown_place", "unknown_group", "unreadable_number", "no_number"),
    }
    assert sum(answer["over"] > 0 for answer in answers) > 50
    assert {each.__name__ for each in said if isinstance(each, type)} == {
        "BoundExceededError",
        "SpecError",
        "DataError",
    }


# ---- mistakes of an engine


def rounding(patch: pytest.MonkeyPatch) -> None:
    """Numbers are rounded to the nearest step, half to even, not half up."""
    exactly = _numbers.whole_quotient

    def nearest(number: Any, by: Any) -> Any:
        whole = exactly(number, by)
        return ((number % by == 0) & (whole % 2 == 1)).ifelse(whole - 1, whole)

    patch.setattr(_numbers, "whole_quotient", nearest)


def through_floats(patch: pytest.MonkeyPatch) -> None:
    """Integers are divided as floats, which are rounded."""
    patch.setattr(_numbers, "whole_quotient", lambda number, by: (number / by).round().cast("int64"))


def collating(patch: pytest.MonkeyPatch) -> None:
    """Ann and ann are one."""
    who = _timed.who

    def blind(rows: Any, column: str, bound: Any) -> Any:
        found = who(rows, column, bound)
        return found.lower() if found.type().is_string() else found

    patch.setattr(_timed, "who", blind)


def counting_twice(patch: pytest.MonkeyPatch) -> None:
    """Visits are counted, not visitors."""
    by_place = _visits._by_place

    def rows(taken: Any, *asked: Any) -> Any:
        return by_place(taken.mutate(person=ibis.row_number()), *asked)

    patch.setattr(_visits, "_by_place", rows)


def in_the_zone_of_the_session(patch: pytest.MonkeyPatch) -> None:
    """Times without an offset are read in the zone of the session."""
    lock = _bind._lock

    def elsewhere(connection: duckdb.DuckDBPyConnection, readable: Any) -> None:
        connection.execute("SET TimeZone = 'Asia/Tokyo'")
        lock(connection, readable)

    patch.setattr(_bind, "_lock", elsewhere)


def with_the_end(patch: pytest.MonkeyPatch) -> None:
    """The end of a window belongs to it."""
    windowed = _timed.windowed
    patch.setattr(_timed, "windowed", lambda rows, ends, bound: windowed(rows, [(a, b + 1) for a, b in ends], bound))


def keeping_what_is_missing(patch: pytest.MonkeyPatch) -> None:
    """A row whose filtered value is missing passes the filter."""
    kept = _timed.kept
    patch.setattr(_timed, "kept", lambda rows, source: kept(rows, source) | _missing(rows, source))


def _missing(rows: Any, source: Any) -> Any:
    missing = ibis.literal(False)
    for column in source.keep:
        missing |= rows[column].isnull()
    return missing


def last_of_a_tie(patch: pytest.MonkeyPatch) -> None:
    """Of two places at the same moment the later in the list is kept."""
    by_place = _visits._by_place

    def turned(taken: Any, query: Any, n: int, *more: Any) -> Any:
        found = by_place(taken.mutate(rank=(n - 1 - taken["rank"])), query, n, *more)
        return found.mutate(rank=n - 1 - found["rank"])

    patch.setattr(_visits, "_by_place", turned)


MISTAKES: list[Callable[[pytest.MonkeyPatch], None]] = [
    *(rounding, through_floats, collating, counting_twice, in_the_zone_of_the_session, with_the_end),
    *(keeping_what_is_missing, last_of_a_tie),
]


@pytest.mark.sweep
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_a_mistake_of_the_engine_is_found(mistake: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """By a table in memory alone, and soon: among the first hundred cases."""
    mistake(monkeypatch)
    memory = {"arrow": HOLDERS["arrow"]}
    assert any(differences(drawn(seed), tmp_path, None, memory) for seed in range(100))
