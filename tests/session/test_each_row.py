"""The unit is said, never assumed: a person is who a column names, or each row; then all that is printed is about rows."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.session.conftest import Town

import leeward as lw
from leeward.accounting._budget_notion import budget_notion, charge, in_words, read_budget_notion
from leeward.cli import LeewardError
from leeward.errors import BudgetConflictError, SpecError
from leeward.ledger import Ledger
from leeward.notion import in_rows, words_of
from leeward.session import privacy_statement
from leeward.session._question import about
from leeward.session._release import release_planned
from leeward.spec import NUMBER_NOTIONS, check_spec

KINDS: dict[str, dict[str, Any]] = {
    **{
        kind: {"kind": kind, "column": "n", "lower": "0", "upper": "9"}
        for kind in ("sum", "mean", "median", "min", "max")
    },
    "percentile": {"kind": "percentile", "p": "90", "column": "n", "lower": "0", "upper": "9"},
    "histogram of numbers": {"kind": "histogram", "column": "n", "lower": "0", "upper": "9"},
    "histogram of groups": {"kind": "histogram"},
}
GROUPS: dict[str, Any] = {"whole": {}, "one group": {"g": ["a"]}, "two groups": {"g": ["a", "b"]}}
OF_PEOPLE = re.compile(r"\b(people|persons?|person's|everybody|somebody|someone|nobody)\b", re.IGNORECASE)
SAID_ON_PURPOSE = (
    "Every row is a person of its own: the promise is about a single row, and whoever has several rows is protected for each"
    " of them alone, not for all of them together"
)


def spec(kind: str, notion: str, groups: str, person: str, folder: Path, **more: Any) -> Any:
    by = {"by": GROUPS[groups]} if GROUPS[groups] else {}
    return check_spec(
        {
            "data": {"table": "t.parquet", "person": person},
            "query": {**KINDS[kind], **by, **more},
            "protect": {"notion": notion, "epsilon": "90"},
            "budget": {"ledger": "b.db", "dataset": f"{kind} {notion} {groups} {person} {sorted(more)}", "cap": "900"},
        },
        folder=folder,
    )


def texts(value: Any) -> list[str]:
    """Every text in a document, the names of its fields among them."""
    if isinstance(value, dict):
        return [*map(str, value), *(each for one in value.values() for each in texts(one))]
    if isinstance(value, list):
        return [each for one in value for each in texts(one)]
    return [value] if isinstance(value, str) else []


THE_REST = {"protect": {"notion": "dp"}, "budget": {"ledger": "b.db", "dataset": "d", "cap": "9"}}
LIST = {"table": "p.parquet", "place": "p"}


# ---- who forgets it is told


@pytest.mark.parametrize(
    "asked",
    [
        lambda: lw.records("t.parquet"),
        lambda: lw.visits("t.parquet", place="p", time="t"),
        lambda: check_spec({"data": {"table": "t"}, "query": {"kind": "sum"}, **THE_REST}),
        lambda: check_spec({"data": {"visits": "t"}, "places": LIST, **THE_REST}),
    ],
)
def test_leaving_person_out_explains_both_ways(asked: Any) -> None:
    with pytest.raises(SpecError) as refused:
        asked()
    for told in ("person is missing", 'person = "the column that says who"', 'person = "each row"', "a single row"):
        assert told in str(refused.value)


def test_the_command_refuses_in_one_line_and_makes_no_ledger(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        '[data]\ntable = "t.parquet"\n[query]\nkind = "sum"\ncolumn = "n"\nlower = "0"\nupper = "9"\n'
        '[protect]\nnotion = "dp"\nepsilon = "1"\n[budget]\nledger = "b.db"\ndataset = "d"\ncap = "1"\n'
    )
    code, _, err = Town(tmp_path, capsys).run("release", path, "--out", tmp_path / "out")
    assert code == 2
    assert 'person = "each row"' in err
    assert len(err.strip().splitlines()) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["s.toml"]


def test_visitors_are_people() -> None:
    """A row that is a person of its own would make visits of visitors."""
    with pytest.raises(SpecError, match="distinct people are counted"):
        lw.visits("t.parquet", person="each row", place="p", time="t")


def test_rows_have_nothing_to_combine() -> None:
    for combine in ("sum", "min", "max"):
        with pytest.raises(SpecError, match="nothing to combine"):
            lw.records("t.parquet", person="each row", combine=combine)  # type: ignore[arg-type]


# ---- what is printed


@pytest.mark.sweep
@pytest.mark.parametrize("notion", NUMBER_NOTIONS)
def test_everything_that_is_printed_says_row_where_the_unit_is_a_row(notion: str, tmp_path: Path) -> None:
    """Every statistic, by groups or not, with a public number or not, under every notion of the spec."""
    frame = pd.DataFrame({"n": range(10), "g": ["a", "b"] * 5, "id": range(10)})
    frame.to_parquet(tmp_path / "t.parquet")
    shown = set()
    for kind, groups, more in itertools.product(KINDS, GROUPS, ({}, {"people": 10})):
        for person in ("each row", "id"):
            try:
                (plan,) = spec(kind, notion, groups, person, tmp_path, **more).plans()
            except LeewardError as refused:
                if person == "each row":
                    said = re.sub(r"people = |Leave people out|people with|nobody=", "", str(refused))  # names of keys
                    assert not OF_PEOPLE.search(said), said
                continue
            told = privacy_statement(plan, places=plan.query.cells, dataset="d", version="1")
            words = [each for each in texts(told.to_dict()) if each not in {"people", SAID_ON_PURPOSE}]
            if person == "id":
                assert OF_PEOPLE.search(" ".join(words))
                assert "row" not in told.notion.unit
                continue
            assert [each for each in words if OF_PEOPLE.search(each)] == []
            assert told.notion.unit in {"row", "table of rows"}
            assert SAID_ON_PURPOSE in told.assumptions
            if plan.query.kind not in shown:  # one report of each kind
                shown.add(plan.query.kind)
                check_report(
                    plan, lw.Budget(tmp_path / "b.db", str(plan.query.kind), "900", new=True), tmp_path / "out"
                )
    assert len(shown) > 2


def check_report(plan: Any, budget: lw.Budget, out: Path) -> None:
    (result,) = release_planned([plan], budget)
    result.save(out)
    page = (out / "report.html").read_text("utf-8")
    seen = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL)
    seen = re.sub(r"&#34;people&#34;: |nobody=", "", seen.replace("&#39;", "'"))  # keys of the statement
    seen = " ".join(seen.split()).replace(SAID_ON_PURPOSE, "")
    for found in OF_PEOPLE.finditer(seen):
        raise AssertionError(seen[max(0, found.start() - 60) : found.end() + 60])
    assert "row" in seen
    assert ("rows" in result.answers.column_names) == (len(plan.parts) == 2)
    assert "people" not in result.answers.column_names
    assert result.statement.budget.notion.endswith((" per row", " per table of rows"))


def test_words_of_every_public_notion_can_be_said_of_rows() -> None:
    values = lw.ValueGrid(0, 9)
    for notion in (
        lw.UnboundedDP(1), lw.BoundedDP(1), lw.ReplaceDP(1), lw.AdditionOnly(1), lw.RemovalOnly(1), lw.Manhattan(1, values),
        lw.Manhattan(1, values, nobody=False), lw.both_hold(lw.AdditionOnly(1), lw.RemovalOnly(2)),
    ):  # fmt: skip
        words = words_of(notion, rows=True)
        for said in (words.definition, words.protects, words.reveals, words.alternative, words.unit):
            assert not OF_PEOPLE.search(said), said
            assert not re.search(r"\b(they|them|their|who)\b", said), said


def test_names_in_quotes_are_nobody_s_words() -> None:
    assert in_rows("a person's record by 'people' and the person's name") == "a row by 'people' and the row's name"


# ---- what is charged


@pytest.mark.parametrize(("first", "second"), [("each row", "id"), ("id", "each row")])
def test_a_budget_per_person_and_one_per_row_are_not_mixed(first: str, second: str, tmp_path: Path) -> None:
    """One person may have any number of rows: nothing that is promised of a row has a price for a person."""
    pd.DataFrame({"n": range(10), "id": range(10)}).to_parquet(tmp_path / "t.parquet")
    budget = lw.Budget(tmp_path / "b.db", "d", "9")

    def ask(person: str, notion: lw.Notion) -> lw.Release:
        table = lw.records(tmp_path / "t.parquet", person=person)
        return lw.release(lw.plan(lw.statistic(table, "sum", column="n", lower=0, upper=9), notion), budget)

    ask(first, lw.UnboundedDP(1))
    assert Ledger(budget.ledger).show("d")[0].notion == f"dp/{'row' if first == 'each row' else 'person'}"
    for notion in (lw.UnboundedDP(1), lw.UnboundedDP(2), lw.AdditionOnly(1), lw.ReplaceDP("1/2")):
        with pytest.raises(BudgetConflictError, match="one person may have any number of rows"):
            ask(second, notion)
    ask(first, lw.UnboundedDP("1/2"))
    assert Ledger(budget.ledger).show("d")[0].spent == 1 + Fraction("1/2")


def test_prices_among_rows_are_those_among_persons() -> None:
    """A row that is a person of its own is a person: every price between notions is the same."""
    named = [lw.UnboundedDP(1), lw.BoundedDP(1), lw.ReplaceDP(1), lw.AdditionOnly(1), lw.RemovalOnly(1)]
    for notion, kept in itertools.product(named, repeat=2):
        assert read_budget_notion(budget_notion(kept, rows=True)) == kept
        found = []
        for rows in (False, True):
            try:
                found.append(charge(notion, lw.exact.exact(1), budget_notion(kept, rows=rows), rows=rows))
            except LeewardError as refused:
                found.append(type(refused))
        assert found[0] == found[1]
    assert in_words(budget_notion(lw.notion.Maximum(1, lw.ValueGrid(0, 9)), rows=True)).endswith("per table of rows")


def test_the_question_s_key_knows_the_unit() -> None:
    keys = {
        about(lw.statistic(lw.records("t", person=p), "sum", column="n", lower=0, upper=9)).model_dump_json()
        for p in ("each row", "id", "row")
    }
    assert len(keys) == 3
