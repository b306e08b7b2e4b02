"""Expressions as SQL are kept: what is alike but not the same has SQL of its own."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import ibis
import pytest

from leeward.engine._described import _compiled, compiled, described

ALIKE: list[Any] = [
    *(1, True, 1.0, Decimal(1), Decimal("1.0"), "1", b"1", "True", float("inf"), -1),
    *(date(2026, 1, 1), datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC)),
    datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
]


@pytest.mark.parametrize("way", [1, -1])
def test_it_is_what_a_fresh_compiler_writes(way: int) -> None:
    _compiled.cache_clear()
    for first, second in itertools.permutations(ALIKE[::way], 2):
        for value in (first, second):
            asked = described("t", {"x": "BIGINT", "1": "DOUBLE"}).mutate(y=ibis.literal(value))
            assert compiled(asked) == _compiled.__wrapped__(asked.op()), repr(value)
    assert _compiled.cache_info().hits


def test_a_column_or_a_table_of_another_name_or_type_is_another() -> None:
    found = [
        compiled(described(name, {column: kind}).mutate(y=ibis._[column] + 1))
        for name, column, kind in itertools.product("tT", "xX", ("BIGINT", "DOUBLE"))
    ]
    assert len(set(found)) == 4  # of the type nothing is written here
