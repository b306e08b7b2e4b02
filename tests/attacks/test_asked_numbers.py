"""Attack: specs of numbers as their users write them: by what a plan recommends, in forms that nearly fit, about rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tests.spec.outcome import merged
from typer.testing import CliRunner

import leeward as lw
from leeward.cli import app
from leeward.errors import NotPrivateError, SpecError
from leeward.notion import BoundedDP, ReplaceDP
from leeward.spec import Spec, check_spec

SPEC: dict[str, Any] = {
    "data": {"table": "t.parquet", "person": "each row"},
    "query": {"kind": "mean", "column": "x", "lower": "0", "upper": "10"},
    "protect": {"notion": "dp", "epsilon": "1"},
    "budget": {"ledger": "sqlite:///b.db", "dataset": "d"},
}
GROUPS = {"kind": "count", "column": None, "lower": None, "upper": None, "by": {"g": ["a", "b"]}}


def asked(**change: Any) -> Spec:
    return check_spec(merged(SPEC, change), folder=Path("/nowhere"))


@pytest.mark.parametrize(
    "query",
    [{}, {"kind": "sum"}, {"kind": "variance"}, {"kind": "median"}, {"kind": "histogram"}, GROUPS],
    ids=lambda query: query.get("kind", "mean"),
)
def test_what_a_plan_sets_beside_the_question_can_be_asked(query: dict[str, Any]) -> None:
    """A plan recommended add-remove-replace-dp, and a spec with this notion was refused: it was known as hamming alone."""
    (plan,) = asked(query=query).plans()
    beside = {option.notion for option in lw.compare(plan.counted, plan.notion).options}
    assert {notion.name for notion in beside} >= {"dp", "addition-only", "bounded-dp", "add-remove-replace-dp"}
    for notion in beside:
        assert asked(query=query, protect={"notion": notion.name}).notion() == notion


def test_with_a_public_number_of_people_only_hamming_is_another_notion() -> None:
    """Who asks for add-remove-replace-dp is not given a weaker promise without a word."""
    assert isinstance(asked(query={"people": 5}, protect={"notion": "hamming"}).notion(), BoundedDP)
    assert isinstance(asked(query={"people": 5}, protect={"notion": "add-remove-replace-dp"}).notion(), ReplaceDP)
    with pytest.raises(NotPrivateError, match="exactly 5 rows"):
        asked(query={"people": 5}, protect={"notion": "add-remove-replace-dp"}).plans()


def test_a_notion_of_visits_alone_is_refused_as_such() -> None:
    """It was said to have one price, and that a graded notion should be given."""
    graded = {"notion": "graded", "epsilon": None, "presence": "1", "absence": "4"}
    with pytest.raises(SpecError, match=r'"graded": there is no such notion for this question\. Known: .*dp'):
        asked(protect=graded).notion()


def test_a_list_of_what_are_no_tables_is_taught() -> None:
    """For pairs in lists, a section [windows] was asked for."""
    said = r"each of its list is a table of keys and values\. Write windows = \[\{ start = …, end = … \}\]"
    with pytest.raises(SpecError, match=said):
        asked(data={"time": "at"}, window={"windows": [["2026-01-01", "2026-01-02"]]})


@pytest.mark.parametrize(
    "change",
    [
        {"query": {**GROUPS, "kind": "unlisted groups", "by": "g"}, "protect": {"delta": "1e-6"}},
        {"query": GROUPS | {"kind": "busiest"}},
        {
            "query": {"kind": "above", "lower": None, "upper": None, "levels": ["1", "2"]},
            "protect": {"notion": "addition-only"},
            "decide": {"safe_at_most": 20},
        },
        {"query": GROUPS, "decide": {"safe_at_most": 20, "error_at_most": "1e-3"}},
    ],
    ids=["unlisted groups", "busiest", "above", "count"],
)
def test_a_plan_about_rows_names_no_people(change: dict[str, Any], tmp_path: Path) -> None:
    """Groups per person, fewer people than the busiest, nobody above any level, standard deviations at 10 people."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{key} = {written(one)}" for key, one in value.items()) + " }"
        return (
            str(value)
            if isinstance(value, int)
            else str(value).replace("'", '"')
            if isinstance(value, list)
            else f'"{value}"'
        )

    lines = [
        line
        for section, keys in merged(SPEC, change).items()
        for line in (f"[{section}]", *(f"{key} = {written(value)}" for key, value in keys.items() if value is not None))
    ]
    (tmp_path / "s.toml").write_text("\n".join(lines))
    found = CliRunner().invoke(app, ["plan", str(tmp_path / "s.toml")])
    assert found.exit_code == 0, found.output
    told = re.sub(r"beyond doubt\s+about\s+anybody|that nobody\s+has\s+listed|people out", "", found.stdout)
    assert re.findall(r".*\b(?:person|people|persons|nobody|somebody|anybody)\b.*", told) == []
