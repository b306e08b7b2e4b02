"""A count of all people, or rows: one number, by the command and in Python; by groups it is the histogram of them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from tests.report.pages import Page
from tests.session.conftest import Town

import leeward as lw
from leeward.engine._groups import GroupList
from leeward.errors import InputError, SpecError
from leeward.planner import NumberPlan

SPEC = """
[data]
table = "people.csv"
person = "who"
keep = { ward = ["a", "b"] }

[query]
kind = "count"

[protect]
notion = "addition-only"
epsilon = "100"

[budget]
ledger = "sqlite:///budget.db"
dataset = "people"
cap = "100"
"""


def test_a_count_of_all_is_one_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At ε = 100 the noise is 0, but for a chance below 1e-40; who has several rows is counted once."""
    rows = [(f"p{i}", "abc"[i % 3]) for i in range(30)]
    pd.DataFrame(rows, columns=["who", "ward"]).to_csv(tmp_path / "people.csv", index=False)
    town = Town(tmp_path, capsys)
    (tmp_path / "spec.toml").write_text(SPEC)
    code, out, err = town.run("plan", tmp_path / "spec.toml")
    assert (code, err) == (0, "")
    assert "question   count: 1 answer" in out
    code, out, err = town.run("release", tmp_path / "spec.toml", "--out", town.out, "--yes")
    assert code == 0, err
    assert pd.read_parquet(town.out / "answers.parquet").to_dict("records") == [{"group": "all", "count": 20}]
    told = json.loads((town.out / "release.json").read_text())
    assert told["query"]["text"] == "How many people there are"
    assert not any("chosen without looking" in said for said in told["assumptions"])
    assert Page((town.out / "report.html").read_text()).all("h1")[0].text == "About 20 people"


def test_noise_is_that_of_one_count() -> None:
    people = lw.records("t.csv", person="who")
    for notion in (lw.AdditionOnly("1/3"), lw.RemovalOnly("1/3"), lw.UnboundedDP("1/3"), lw.BoundedDP("1/3")):
        plan = lw.plan(lw.statistic(people, "count"), notion)
        one = lw.plan(lw.statistic(people, "histogram", by={"ward": ["a"]}), notion)
        assert isinstance(plan, NumberPlan)
        assert isinstance(one, NumberPlan)
        assert plan.parts[0].line == one.parts[0].line


def test_of_rows_some_column_is_read_by_which_the_table_is_known_again() -> None:
    with pytest.raises(InputError, match="no column of the table would be read"):
        lw.plan(lw.statistic(lw.records("t.csv", person="each row"), "count"), lw.AdditionOnly("1"))
    kept = lw.records("t.csv", person="each row", keep={"ward": ["a"]})
    assert isinstance(lw.plan(lw.statistic(kept, "count"), lw.AdditionOnly("1")), NumberPlan)


def test_by_groups_it_is_their_histogram() -> None:
    people = lw.records("t.csv", person="who")
    count, histogram = (lw.statistic(people, kind, by={"ward": ["a", "b"]}) for kind in ("count", "histogram"))
    assert count == histogram
    assert GroupList(count).digest() == GroupList(histogram).digest()
    with pytest.raises(SpecError, match="Leave column out"):
        lw.statistic(people, "count", column="age")
    with pytest.raises(SpecError, match="have no bounds"):
        lw.statistic(people, "count", lower=0, upper=1)


def test_a_decision_needs_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "spec.toml").write_text(SPEC + "[decide]\nsafe_at_most = 2\n")
    code, out, err = Town(tmp_path, capsys).run("plan", tmp_path / "spec.toml")
    assert (code, out) == (2, "")
    assert "Name them: by = " in err
