"""Groups that nobody has listed: what a column's values are read as, who counts in which, and what is left out.

The oracle is a few lines over the rows as Python has them; it shares no code with the engine.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.postgres import Server
from tests.sources import describe_by
from tests.workbooks import workbook

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.engine._timed import VisitCounts
from leeward.errors import BoundExceededError, DataError
from leeward.query import UnlistedGroups
from leeward.query._unlisted_groups import LONGEST, WIDTH, as_words, from_words

Row = tuple[Any, Any]


def query(source: Any, person: str = "who", **how: Any) -> UnlistedGroups:
    about = {key: how.pop(key) for key in ("time", "keep") if key in how}
    return lw.unlisted_groups(describe_by(lw.records, source, person=person, **about), "town", **how)


def table(rows: list[Row], kind: Any = None) -> pa.Table:
    return pa.table(
        {"who": pa.array([who for who, _ in rows], pa.string()), "town": pa.array([key for _, key in rows], kind)}
    )


def counted(asked: UnlistedGroups) -> VisitCounts:
    with open_data(asked, read_keys(asked)) as opened:
        found: VisitCounts = opened.exactly(asked, "groups")
    return found


def counts(asked: UnlistedGroups) -> dict[str | int, int]:
    found = counted(asked).counts[1:]
    keys = from_words(found[:, :WIDTH])
    assert keys == sorted(keys)  # type: ignore[type-var]
    return dict(zip(keys, found[:, WIDTH].tolist(), strict=True))


def by_hand(rows: list[Row], m: int) -> dict[str, int]:
    """Each person counts in the first m of their groups."""
    held: dict[str, set[str]] = {}
    for who, key in rows:
        if who is not None and key:
            held.setdefault(who, set()).add(key)
    return dict(Counter(key for keys in held.values() for key in sorted(keys)[:m]))


@pytest.mark.sweep
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["p", "q", "r", None]),
            st.sampled_from(["", "a", "b", "A", "é", "日本", "b\0", "b\0c", None]),
        ),
        max_size=14,
    ),
    m=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_people_are_counted_once_in_the_first_of_their_groups(rows: list[Row], m: int) -> None:
    held = table(rows, pa.string())
    assert counts(query(held, groups_per_person=m, if_more="first")) == by_hand(rows, m)


def test_what_names_no_group_is_left_out_and_said() -> None:
    long, just = "x" * (LONGEST + 1), "é" * (LONGEST // 2)
    rows = [("a", long), ("b", just), ("c", ""), ("d", None), (None, "Bern"), ("e", "Bern"), ("f", just + "x")]
    asked = query(table(rows))
    assert counts(asked) == {just: 1, "Bern": 1}
    assert counted(asked).dropped == {"filtered": 0, "null_person": 1, "long_group": 2, "no_group": 2}


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        (pa.int8(), [-5, 7, None], {-5: 1, 7: 1}),
        (pa.int64(), [-(2**63), 2**63 - 1], {-(2**63): 1, 2**63 - 1: 1}),
        (pa.uint64(), [0, 2**63 - 1, 2**63, 2**64 - 1], {0: 1, 2**63 - 1: 1}),
        (pa.large_string(), ["a", "b"], {"a": 1, "b": 1}),
        (pa.dictionary(pa.int32(), pa.string()), ["a", "b"], {"a": 1, "b": 1}),
    ],
)
def test_texts_and_whole_numbers_of_every_width(kind: Any, values: list[Any], found: dict[Any, int]) -> None:
    rows = [(f"p{i}", value) for i, value in enumerate(values)]
    assert counts(query(table(rows, kind))) == found
    assert counted(query(table(rows, kind))).counts[0, 0] == (not pa.types.is_integer(kind))


@pytest.mark.parametrize("kind", [pa.float64(), pa.bool_(), pa.date32(), pa.decimal128(5, 2), pa.null()])
def test_columns_of_other_types_are_refused(kind: Any) -> None:
    with pytest.raises(DataError, match=r"texts or (whole )?numbers"):
        counts(query(table([("a", None)], kind)))


@pytest.mark.parametrize("kind", ["xlsx", "geojson", "pandas"])
def test_one_person_does_not_decide_whether_groups_are_texts(kind: str, tmp_path: Path) -> None:
    """Where no type is declared: of a column in which one person alone holds something, that would be the type."""
    for held in (7, "7", None):
        rows, file = [("p", None), ("q", held)], tmp_path / f"t.{kind}"
        if kind == "xlsx":
            workbook(file, {"s": [["who", "town"], *rows]})
        elif kind == "geojson":
            point = {"type": "Point", "coordinates": [0, 0]}
            each = [{"type": "Feature", "properties": {"who": a, "town": b}, "geometry": point} for a, b in rows]
            file.write_text(json.dumps({"type": "FeatureCollection", "features": each}))
        frame = pd.DataFrame({"who": ["p", "q"], "town": pd.Series([None, held], dtype=object)})
        asked = query(frame if kind == "pandas" else file)
        assert counted(asked).counts[0, 0] == 1
        assert counts(asked) == ({} if held is None else {"7": 1})


def test_rows_that_are_people_are_counted_each() -> None:
    rows = [("a", "Bern")] * 3 + [(None, "Bern"), ("b", "Zug")]
    assert counts(query(table(rows), person="each row")) == {"Bern": 4, "Zug": 1}


def test_more_groups_than_count_are_refused_or_left_out() -> None:
    rows = [("a", "x"), ("a", "y"), ("a", "y"), ("b", "y")]
    with pytest.raises(BoundExceededError, match=r"1 person is in more groups .* do not publish it"):
        counted(query(table(rows)))
    found = counted(query(table(rows), if_more="first"))
    assert found.people_over_bound == 1
    assert counts(query(table(rows), groups_per_person=2)) == {"x": 1, "y": 2}


def test_windows_are_counted_in_one_pass_and_times_decide(tmp_path: Path) -> None:
    at = pd.Timestamp("2026-01-01T12:00")
    rows = [
        ("a", "x", 0),
        ("a", "y", 30),
        ("a", "z", 70),
        ("b", "z", 10),
        ("b", "y", 10),
        ("b", "y", 200),
        ("c", "x", 65),
    ]
    frame = pd.DataFrame(
        [(who, key, at + pd.Timedelta(minutes=m)) for who, key, m in rows], columns=["who", "town", "at"]
    )
    frame.to_parquet(tmp_path / "t.parquet")

    def asked(rule: Any, first: int) -> UnlistedGroups:
        ends = {"start": at + pd.Timedelta(hours=first), "end": at + pd.Timedelta(hours=first + 1)}
        return query(tmp_path / "t.parquet", time="at", if_more=rule, **{k: v.isoformat() for k, v in ends.items()})

    expected = {
        ("latest", 0): {"y": 2},  # of b's, which are at one moment, the first by name
        ("earliest", 0): {"x": 1, "y": 1},
        ("first", 0): {"x": 1, "y": 1},
        ("latest", 1): {"x": 1, "z": 1},
        ("first", 3): {"y": 1},
        ("first", 5): {},
    }
    assert {pair: counts(asked(*pair)) for pair in expected} == expected
    with open_data(asked("latest", 0), read_keys(asked("latest", 0))) as opened:
        opened.expect([asked("latest", hour) for hour in (0, 1)])
        together = [opened.exactly(asked("latest", hour), "groups").counts[1:, WIDTH].tolist() for hour in (0, 1)]
    assert together == [[2], [1, 1]]


def test_a_filter_takes_part() -> None:
    held = table([("a", "x"), ("b", "x"), ("c", "y")]).append_column("kind", pa.array(["in", "out", "in"]))
    assert counts(query(held, keep={"kind": "in"})) == {"x": 1, "y": 1}


def test_csv_files_hold_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('who,town\na,7\nb,07\nc,\nd,"  7"\n', "utf-8")
    assert counts(query(tmp_path / "t.csv")) == {"  7": 1, "07": 1, "7": 1}


@given(st.lists(st.text(min_size=1, max_size=20).filter(lambda text: len(text.encode("utf-8", "ignore")) <= LONGEST)))
@settings(max_examples=100, deadline=None)
def test_names_are_read_as_they_were_written(names: list[str]) -> None:
    names = [name for name in names if name.isprintable() or "\0" in name]
    words = as_words(names)
    assert words.shape == (len(names), WIDTH)
    assert from_words(words) == names
    assert all(a == b or (x != y).any() for (a, x), (b, y) in itertools.combinations(zip(names, words, strict=True), 2))


def test_numbers_are_read_as_they_were_written() -> None:
    numbers = [-(2**63), -1, 0, 7, 2**63 - 1]
    assert from_words(as_words(numbers)) == numbers
    assert as_words([]).shape == (0, WIDTH)
    assert from_words(np.zeros((0, WIDTH), np.int64)) == []


@pytest.mark.parametrize("engine", ["duckdb", "postgres"])
def test_a_table_of_postgresql_is_counted_alike_wherever_it_is(
    engine: Any, postgres: Server, postgres_database: str
) -> None:
    address = postgres.address(postgres_database)
    rows = [("a", "B"), ("a", "a"), ("b", "zz"), ("b", "Äa"), ("c", ""), ("d", None), ("e", "é" * 32), ("f", "é" * 33)]
    with psycopg.connect(address) as session:
        session.execute("DROP TABLE IF EXISTS unlisted")
        session.execute("CREATE TABLE unlisted (who text, town text)")
        session.cursor().executemany("INSERT INTO unlisted VALUES (%s, %s)", rows)
    held = lw.records(lw.query.Source(address, table="unlisted"), person="who", engine=engine)
    asked = lw.unlisted_groups(held, "town", if_more="first")
    assert counts(asked) == {"B": 1, "zz": 1, "é" * 32: 1}
    assert counted(asked).dropped == {"filtered": 0, "null_person": 0, "long_group": 1, "no_group": 2}
