"""What a release says of itself when it is printed: what may be published, and nothing for the curator only."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import leeward as lw
from leeward.errors import InputError
from leeward.ledger import Ledger
from leeward.noise import SeededBitsForTests


@pytest.fixture
def town(tmp_path: Path) -> dict[str, Any]:
    people = pd.DataFrame(
        {"who": ["ann"] * 2 + ["bob"] * 2, "at": ["a", "b"] * 2, "when": pd.Timestamp("2026-01-01T18:30")}
    )
    visits = lw.visits(people, person="who", place="at", time="when")
    places = lw.places(pd.DataFrame({"at": ["a", "b", "c"]}), place="at")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    query = lw.count_visitors(visits, places, **window, places_per_person=1, if_more="latest")
    budget = lw.Budget(f"sqlite:///{tmp_path / 'budget.db'}", dataset="town", cap="50")
    return {"plan": lw.plan(query, lw.AdditionOnly("20"), lw.Decide(safe_at_most=0)), "budget": budget}


def test_a_printed_release_is_its_statement_in_short(town: dict[str, Any]) -> None:
    released = lw.release(**town)
    entry = released.statement.entry
    assert repr(released) == f"<Release of 3 answers from 'town', addition-only at ε = 20, entry {entry}>"
    said = str(released).splitlines()
    assert said[0] == released.statement.query.text
    assert "notion: addition-only, ε = 20 per person, price 20" in said
    assert f"not protected: {lw.AdditionOnly('20').words.reveals}" in said
    states = released.to_pandas()["state"].value_counts().to_dict()
    told = next(line for line in said if line.startswith("answers: ")).removeprefix("answers: ").split(", ")
    assert sorted(told) == sorted(f"{n} {state}" for state, n in states.items())
    rows = said[said.index(next(line for line in said if line.startswith("answers: "))) + 1 :][:4]
    assert [row.split() for row in rows] == [
        ["place", "state"],
        *(list(row) for row in released.to_pandas().to_numpy()),
    ]
    assert [line.removeprefix("guaranteed: ") for line in said[-2:]] == list(released.statement.guaranteed)


def test_a_long_release_is_printed_in_its_first_rows(town: dict[str, Any]) -> None:
    released = lw.release(**town)
    many = dataclasses.replace(released, answers=pa.table({"place": ["\x1b[31mred"] * 12, "count": [None, *range(11)]}))
    shown = [line for line in str(many).splitlines() if line.startswith("  ")]
    assert len(shown) == 12
    assert shown[-1] == "  … 2 more"
    assert "\x1b" not in str(many)


def test_what_is_for_the_curator_is_not_printed(town: dict[str, Any]) -> None:
    released = lw.release(**town)
    assert released.curator.people_over_bound == 2
    for printed in (str(released), repr(released)):
        assert "curator" not in printed.lower()
        assert "over" not in printed


def test_an_unfit_release_says_so_first(town: dict[str, Any]) -> None:
    assert str(lw.release(**town, bits=SeededBitsForTests(1))).startswith("NOT FIT FOR RELEASE")


def test_a_count_that_is_not_published_is_missing_in_a_data_frame_and_the_others_stay_whole(
    town: dict[str, Any],
) -> None:
    """Beyond 2^53 a float is another number."""
    released = lw.release(**town)
    columns = {"place": ["a", "b"], "count": pa.array([2**53 + 1, None], pa.int64()), "state": ["obscure", "safe"]}
    frame = dataclasses.replace(released, answers=pa.table(columns)).to_pandas()
    assert frame["count"].dtype == pd.Int64Dtype()
    assert frame["count"][0] == 2**53 + 1
    assert frame["count"].isna().tolist() == [False, True]


@pytest.mark.parametrize("path", [5, None, 1.5])
def test_what_is_no_path_is_refused_in_words(town: dict[str, Any], path: Any) -> None:
    made = lw.release(town["plan"], town["budget"])
    with pytest.raises(InputError, match="it is not a path"):
        made.save(path)


def test_a_progress_that_cannot_be_called_is_refused_in_words(town: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"as its progress.*a function such as print"):
        lw.release(town["plan"], town["budget"], progress=None)  # type: ignore[arg-type]
    assert Ledger(town["budget"].ledger).show("town") == []
