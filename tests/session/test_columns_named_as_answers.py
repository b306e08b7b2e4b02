"""Columns of groups that are called as columns of answers: the kind of an answer is told from neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.report.pages import Page

import leeward as lw
from leeward.query._group_names import OF_ANSWERS, answer_column
from leeward.report._html import report_html

BY: dict[str, list[Any]] = {"state": ["TX", "NY"], "count": [1], "value": ["v"], "latitude": ["n"]}
NAMED = ["group_state", "group_count", "group_value", "group_latitude"]
KINDS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "mean": ({"kind": "mean", "column": "x", "lower": 0, "upper": 9}, {}, ["value", "people", "within_95_percent"]),
    "histogram": ({"kind": "histogram"}, {}, ["count"]),
    "decided": ({"kind": "histogram"}, {"safe_at_most": 3, "what": "counts"}, ["state", "count"]),
    "percentiles": (
        {"kind": "percentile", "p": ["25", "75"], "column": "x", "lower": 0, "upper": 9}, {}, ["percentile", "value"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_published_under_another_name_and_read_as_groups(kind: str, tmp_path: Path) -> None:
    """At ε = 100 the noise of counts is 0, but for a chance below 1e-40."""
    rows = [
        {"who": i, "x": i % 9, "state": "TX" if i < 3 else "NY", "count": 1, "value": "v", "latitude": "n"}
        for i in range(40)
    ]
    people = lw.records(pa.Table.from_pylist(rows), person="who")
    asks, decides, own = KINDS[kind]
    plan: Any = decide_by(lw.plan, statistic_by(people, by=BY, **asks), lw.AdditionOnly("100"), **decides)
    made = lw.release(plan, lw.Budget(tmp_path / "budget.db", "people", "100"))
    assert made.answers.column_names == [*NAMED, *own]
    assert [row["group_state"] for row in made.answers.to_pylist()[:: made.answers.num_rows // 2]] == ["TX", "NY"]
    assert ("answers: 1 safe, 1 obscure" in str(made)) == (kind == "decided")
    page = report_html(made)
    assert "state" in Page(page).text()
    assert "TX, 1, v, n" in page or kind == "decided"  # the groups, as the picture names them


def test_names_of_answers_mean_nothing_else() -> None:
    assert all(answer_column(name) == f"group_{name}" for name in OF_ANSWERS)
    assert answer_column("sex") == "sex"
