"""Several questions about one table: it is opened once, and each sees, counts and recognises what it does alone."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.sources import describe_by

import leeward as lw
from leeward.engine import Opened, open_data, read_keys, sources_of
from leeward.engine import _shared as sharing
from leeward.errors import DataError

KEY = bytes(range(32))
PEOPLE = pd.DataFrame(
    {
        "who": [f"p{i // 2}" for i in range(60)],
        "age": np.arange(60) * 7 % 50 + 0.25,
        "hours": np.arange(60) % 9,
        "sex": ["f", "m", None] * 20,
        "town": ["Ghent", "Delft"] * 30,
        "at": pd.date_range("2026-01-01", periods=60, freq="h"),
    }
)
DAY = {"start": "2026-01-01T05:00", "end": "2026-01-02"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shared")
    PEOPLE.to_parquet(folder / "people.parquet")
    PEOPLE.to_csv(folder / "people.csv", index=False)
    with duckdb.connect(folder / "people.duckdb") as made:
        made.execute("CREATE TABLE people AS SELECT * FROM PEOPLE")
    return {"frame": PEOPLE, **{kind: folder / f"people.{kind}" for kind in ("parquet", "csv", "duckdb")}}


def questions(table: Any, /, **how: Any) -> list[Any]:
    def records(combine: Any = "sum", **more: Any) -> Any:
        return describe_by(lw.records, table, person="who", combine=combine, **how, **more)

    bounds = {"lower": 0, "upper": 50}
    return [
        statistic_by(records("max"), "mean", column="age", **bounds, grid="1/4"),
        statistic_by(records("max"), "median", column="age", **bounds, step="1/2"),
        lw.statistic(records(), "count", by=lw.query.Groups({"sex": ["f", "m"]}, others="else")),
        statistic_by(records(time="at"), "sum", column="hours", **bounds, **DAY),
        lw.statistic(records("min", keep={"sex": ["f"]}), "histogram", column="hours", lower=0, upper=9),
        lw.unlisted_groups(records("refuse"), "town", groups_per_person=2, if_more="first"),
    ]


def seen(opened: Opened, query: Any) -> dict[str, Any]:
    drawn_from: Any = "groups" if hasattr(query, "most_groups") else "tally" if query.kind == "median" else "answer"
    try:
        counted: Any = opened.exactly(query, drawn_from)
        counts = (counted.counts.tolist(), counted.dropped, counted.people_over_bound)
    except Exception as refused:  # such as several rows of a person: that too must be the same
        counts = str(refused)
    content, look, survey = opened.content(KEY), opened.look(query), opened.survey(query)
    found = {"counts": counts, "taken": look.taken, "dropped": look.dropped, "matches": vars_of(survey.matches)}
    return found | {"content": (content.columns, content.digest, content.marks, content.telling)}


def vars_of(shown: Any) -> Any:
    return None if shown is None else [getattr(shown, name) for name in ("listed", "named", "unlisted", "alike")]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The columns of each source that is opened while others are asked."""
    found, bind = list[str](), sharing.bind_private

    def told(described: Any, columns: Any) -> Any:
        made = bind(described, columns)
        enter = type(made).__enter__

        class Told:
            def __enter__(self) -> Any:
                found.append(" ".join(dict.fromkeys(columns.values())))
                return enter(made)

            def __exit__(self, *how: Any) -> Any:
                return made.__exit__(*how)

        return Told()

    monkeypatch.setattr(sharing, "bind_private", told)
    return found


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["parquet", "csv", "duckdb", "frame"])
def test_each_is_what_it_is_alone_and_the_table_is_opened_once(
    kind: str, tables: dict[str, Any], opened: list[str]
) -> None:
    """All are open before any is counted, and the last is counted first: none may overwrite what another staged."""
    asked = questions(tables[kind])
    alone = []
    for query in asked:
        with open_data(query, read_keys(query)) as table:
            alone.append(seen(table, query))
    assert len({found["content"][1] for found in alone}) == 5  # of six, two read the same columns
    with ExitStack() as stack:
        sources = stack.enter_context(sources_of([(query, read_keys(query)) for query in asked]))
        every = [stack.enter_context(open_data(query, read_keys(query), sources)) for query in asked]
        found = [seen(table, query) for table, query in zip(every[::-1], asked[::-1], strict=True)]
    assert found[::-1] == alone
    assert [sorted(columns.split()) for columns in opened] == [["age", "at", "hours", "sex", "town", "who"]]


def test_tables_that_are_read_in_another_way_are_opened_apart(tables: dict[str, Any], opened: list[str]) -> None:
    """A decimal comma is said of a column of numbers, and not of one of groups."""
    asked = questions(tables["csv"], decimal=",")[:3]
    with sources_of([(query, read_keys(query)) for query in asked]) as sources:
        for query in asked[:2]:
            with open_data(query, read_keys(query), sources):
                pass
    assert opened == ["who age", "who age"]


def test_what_cannot_be_read_together_is_told_of_the_question_that_it_is_about(tables: dict[str, Any]) -> None:
    asked = questions(tables["parquet"])[:2]
    wrong = lw.statistic(lw.records(tables["parquet"], person="who"), "mean", column="agee", lower=0, upper=50)
    with sources_of([(query, read_keys(query)) for query in [*asked, wrong]]) as sources:
        with open_data(asked[0], read_keys(asked[0]), sources) as table:
            assert table.look(asked[0]).taken == 60
        nowhere = open_data(wrong, read_keys(wrong), sources)
        with pytest.raises(DataError, match="column = 'agee': there is no column") as refused, nowhere:
            pass
    assert "question" not in str(refused.value)


def test_questions_about_cells_of_one_table_see_their_own_cells() -> None:
    """They were refused, as if another engine counted."""
    walks = PEOPLE.assign(north=48.84 + np.arange(60) / 1500, east=2.3 + np.arange(60) % 7 / 100)
    rows = lw.visits(walks, person="who", time="at", latitude="north", longitude="east")
    box: Any = {"west": 2.3, "south": 48.84, "east": 2.36, "north": 48.88}
    asked = [lw.count_visitors(rows, lw.grid(**box, h3=size), **DAY, places_per_person=9) for size in (7, 8)]
    with ExitStack() as opened:
        sources = opened.enter_context(sources_of([(one, read_keys(one)) for one in asked]))
        together = [
            opened.enter_context(open_data(one, read_keys(one), sources)).exactly(one, "answer") for one in asked
        ]
        alone = [opened.enter_context(open_data(one, read_keys(one))).exactly(one, "answer") for one in asked]
        assert [each.counts.tolist() for each in together] == [each.counts.tolist() for each in alone]
        assert all(each.counts.any() for each in alone)
