"""ADP, OSDP and Blowfish in a spec: what they come to, what refuses them, and how a budget is kept in them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.session.conftest import Town
from tests.spec.outcome import merged

from leeward.accounting._budget_notion import budget_notion
from leeward.cli import LeewardError
from leeward.errors import BudgetConflictError, SpecError
from leeward.exact import inf
from leeward.ledger import Ledger
from leeward.session._question import question
from leeward.session._release import release_planned
from leeward.session._statement import privacy_statement
from leeward.spec import Spec, check_spec

ILL = ["flu", "cold"]
SPEC: dict[str, Any] = {
    "data": {"table": "people.parquet", "person": "each row"},
    "query": {"kind": "histogram", "by": {"ill": ILL}},
    "protect": {"notion": "osdp", "epsilon": "40", "sensitive": {"ill": ILL}},
    "budget": {"ledger": "budget.db", "dataset": "town", "cap": "1000"},
}
ADP = {"notion": "adp", "sensitive": None, "policies": [{"outside": {"ill": [each]}} for each in ILL]}
CUT = {"lower": "0", "upper": "20", "step": "10"}
GRAPH = {"notion": "blowfish", "sensitive": None, "edges": [["flu", "cough"]]}
ADP_OF_TIMES = ADP | {"policies": [{"outside": {"at": ["2026-01-01"]}}]}
DAY = {"start": "2026-01-01", "end": "2026-01-02"}


def spec(folder: Path = Path("/nowhere"), /, **change: Any) -> Spec:
    return check_spec(merged(SPEC, change), folder=folder)


def line(**change: Any) -> tuple[Any, Any]:
    (plan,) = spec(**change).plans()
    (part,) = plan.parts  # type: ignore[union-attr]
    return part.line.rise, part.line.fall


def test_each_notion_has_its_own_rates() -> None:
    """At ε = 40: any other ill record may rise, a record that is not ill cannot; and so on."""
    assert line() == (20, 20)
    assert line(protect={"reading": "non-sensitive"}) == (inf, 40)
    assert line(protect=ADP) == (inf, 40)
    both = [{"outside": {"ill": ILL}}]
    assert line(protect=ADP | {"policies": both}) == (20, 20), "a flu may become a cold"
    assert line(protect=ADP | {"policies": [{"within": {"ill": [each]}} for each in ILL]}) == (40, inf)
    assert line(protect=GRAPH) == (40, 40), "nobody goes from one listed group to another"
    assert line(protect=GRAPH | {"edges": None, "partition": [["flu", "cough", "cold"]]}) == (20, 20)
    assert line(protect=GRAPH | {"edges": None, "partition": [["flu", "a"], ["cold", "b"]]}) == (40, 40)
    assert line(data={"keep": {"town": ["A"]}}, protect=ADP) == (40, 40), "who lives elsewhere may be counted"
    here = [{"outside": {"ill": [each], "town": ["A"]}} for each in ILL]
    assert line(data={"keep": {"town": ["A"]}}, protect=ADP | {"policies": here}) == (inf, 40)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"protect": {"sensitive": None}}, "Add sensitive ="),
        ({"protect": {"sensitive": {}}}, "it names no values"),
        ({"protect": {"sensitive": {"ill": []}}}, "it names no values"),
        ({"protect": {"sensitive": {"ill": [1]}}}, "of another type than those that it is grouped or filtered by"),
        ({"protect": {"reading": "all"}}, "it is not a known choice. Known: 'any' or 'non-sensitive'"),
        ({"protect": {"notion": "adp"}}, '[protect] sensitive: it has no meaning under notion = "adp"'),
        ({"protect": {"notion": "dp"}}, 'Leave it out, or write notion = "osdp"'),
        ({"protect": {"unit": "1"}}, "[protect] unit"),
        ({"protect": {"epsilon": None, "presence": "1", "absence": "1"}}, "this notion has one price"),
        ({"protect": ADP | {"policies": []}}, "every step is protected"),
        ({"protect": ADP | {"policies": [{}]}}, "one of within and outside"),
        ({"protect": ADP | {"policies": [{"within": {"ill": ["flu"]}, "outside": {}}]}}, "one of within and outside"),
        ({"protect": ADP | {"policies": [{"without": {"ill": ["flu"]}}]}}, "Did you mean 'within'?"),
        ({"protect": ADP | {"policies": [{"within": {"ill": []}}]}}, "it names no values"),
        ({"protect": GRAPH | {"edges": None}}, "its policy graph is missing"),
        ({"protect": GRAPH | {"partition": [["flu", "cold"]]}}, "its policy graph is given twice"),
        ({"protect": GRAPH | {"edges": [["flu"]]}}, "it joins two different values"),
        ({"protect": GRAPH | {"edges": [["flu", "flu"]]}}, "it joins two different values"),
        ({"protect": GRAPH | {"edges": [["flu", "cold", "cough"]]}}, "it joins two different values"),
        ({"protect": GRAPH | {"edges": []}}, "nothing is protected"),
        ({"protect": GRAPH | {"edges": [["flu", 1]]}}, "of another type"),
        ({"protect": GRAPH | {"edges": None, "partition": [["flu"]]}}, "two or more different values"),
        ({"protect": GRAPH, "data": {"keep": {"town": ["A"]}}}, "the filter looks at others"),
        ({"protect": GRAPH, "query": {"by": {"age": CUT}}}, "an interval holds many numbers"),
        (
            {"protect": ADP | {"policies": [{"outside": {"age": [3]}}]}, "query": {"by": {"age": CUT}}},
            "to counts of intervals",
        ),
        ({"protect": GRAPH, "query": {"by": {"ill": ["flu"], "town": ["A"]}}}, "groups by several columns"),
        ({"protect": GRAPH, "data": {"time": "at"}, "window": DAY}, "the window looks at others"),
        ({"protect": ADP_OF_TIMES, "data": {"time": "at"}, "window": DAY}, "a policy about times"),
        ({"data": {"person": "who"}}, 'Write person = "each row" where everybody has one row'),
        ({"protect": GRAPH | {"edges": [["cough", "sneeze"]]}}, "no step of the notion changes it"),
    ],
)
def test_what_says_nothing_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    with pytest.raises(LeewardError) as refused:
        spec(**change).plans()
    assert said in str(refused.value)


NUMBER = {"kind": "sum", "column": "age", "lower": "0", "upper": "9", "by": None}
VISITORS = {
    "data": {"visits": "v.parquet", "table": None, "person": "user", "place": "venue", "time": "at"},
    "query": None,
    "places": {"table": "places.parquet", "place": "venue"},
    "window": {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"},
    "decide": {"safe_at_most": 2},
}


@pytest.mark.parametrize("protect", [{}, ADP, GRAPH], ids=["osdp", "adp", "blowfish"])
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"query": NUMBER}, 'for a sum that is not one of groups alone'),
        ({"query": {"column": "age", "lower": "0", "upper": "9"}}, "for a histogram that is not one of groups alone"),
        ({"query": {"kind": "median", "column": "age", "lower": "0", "upper": "9"}}, "for a median"),
        (VISITORS, 'Use "presence", which is the policy "was not at this place"'),
    ],
    ids=["sum", "histogram of numbers", "median by groups", "visitors"],
)  # fmt: skip
def test_other_questions_are_refused_with_the_notion_that_promises_more(
    protect: dict[str, Any], asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(SpecError) as refused:
        spec(**asked, protect=protect).plans()
    assert said in str(refused.value)
    assert '"bounded-dp"' in str(refused.value)


def test_closeness_of_numbers_and_absence_are_sent_where_they_belong() -> None:
    with pytest.raises(SpecError, match='Use "manhattan" with the distance as its unit, or "bounded-dp"'):
        spec(query=NUMBER, protect=GRAPH).plans()
    with pytest.raises(SpecError, match=r'promises more\. Use "hamming"'):
        spec(query=NUMBER, protect=ADP | {"absent_too": True}).plans()
    with pytest.raises(SpecError, match='at once; or "add-remove-replace-dp"'):
        spec(**VISITORS, protect=ADP | {"absent_too": True}).plans()


def test_the_statement_says_which_records_it_is_about() -> None:
    def told(protect: dict[str, Any]) -> str:
        (plan,) = spec(protect=protect).plans()
        return str(privacy_statement(plan, places=2, dataset="town", version="1").notion)

    assert "sensitive record (ill in {'cold', 'flu'})" in told({})
    assert "“not (ill in {'cold'})”, “not (ill in {'flu'})”" in told(ADP)
    assert "the number of rows is public" in told(ADP)
    assert "is public" not in told(ADP | {"absent_too": True})
    assert "by an edge: 'cough' – 'flu'" in told(GRAPH)
    assert "'0'" not in told(GRAPH | {"edges": [["flu", str(i)] for i in range(21)]}), "a long list is left out"


OUT, IN = {"outside": {"ill": ["flu"]}}, {"within": {"town": ["A"], "ill": ["cold", "flu"]}}
LISTS = [[OUT, IN], [IN, OUT], [IN, OUT, IN], [OUT, OUT, IN], [OUT, IN, OUT]]
AGAIN = {"within": {"ill": ["flu", "cold", "flu"], "town": ["A"]}}
ROWS = {"ill": ["flu"], "town": ["A", "B"], "sex": ["f"]}
EDGES = [("flu", "cough"), ("cold", "cough"), ("flu", "ague")]
PART = ["flu", "cold", "b"]
SPELLED: dict[str, list[dict[str, Any]]] = {
    "policies": [ADP | {"policies": listed} for listed in (*LISTS, [OUT, AGAIN])],
    "sensitive": [
        *({"sensitive": dict(rows)} for rows in itertools.permutations(ROWS.items())),
        {"sensitive": {"sex": ["f", "f"], "town": ["B", "A"], "ill": ["flu"]}},
    ],
    "edges": [
        GRAPH | {"edges": [list(edge[::turn]) for edge, turn in zip(order, turns, strict=True)] + again}
        for order in itertools.permutations(EDGES)
        for turns in itertools.product((1, -1), repeat=3)
        for again in ([], [["cough", "flu"]])
    ],
    "partition": [
        *(GRAPH | {"edges": None, "partition": [list(part)]} for part in itertools.permutations(PART)),
        GRAPH | {"edges": [["flu", "cold"], ["b", "flu"], ["cold", "b"]]},
    ],
}
"""For each list of a promise, ways to write down one promise."""


@pytest.mark.parametrize("listed", SPELLED)
def test_however_a_promise_is_written_it_is_one(listed: str) -> None:
    """One key, so that its answer is found again; one budget; and one text."""

    def promised(protect: dict[str, Any], groups: list[str]) -> tuple[str, str, str]:
        (plan,) = spec(query={"by": {"ill": groups}}, protect=protect).plans()
        words = str(privacy_statement(plan, places=2, dataset="town", version="1").notion)
        return question(plan, "").canonical(), budget_notion(plan.notion, rows=True), words

    made = {promised(protect, groups) for protect in SPELLED[listed] for groups in (ILL, ILL[::-1])}
    assert len(made) == 1
    others = {promised(ways[0], ILL)[1] for ways in SPELLED.values()}
    assert len(others) == len(SPELLED), "and another promise is another one"


@pytest.fixture
def town(tmp_path: Path) -> Path:
    ill = ["flu"] * 5 + ["cold"] * 3 + ["cough"] * 2 + [None]
    pd.DataFrame({"ill": ill, "town": "A"}).to_parquet(tmp_path / "people.parquet")
    return tmp_path


@pytest.mark.parametrize("protect", [{}, {"reading": "non-sensitive"}, ADP, GRAPH], ids=str)
def test_a_release_and_its_budget(protect: dict[str, Any], town: Path) -> None:
    """It is charged in its own notion once; the same promise draws on the same budget, and another one does not."""
    asked = spec(town, protect=protect)
    (first,) = release_planned(asked.plans(), asked.ledger())
    assert first.answers["count"].to_pylist() == [5, 3]
    (again,) = release_planned(asked.plans(), asked.ledger())
    assert again.statement.entry == first.statement.entry
    more = spec(town, protect=protect | {"epsilon": "60"})
    release_planned(more.plans(), more.ledger())
    account = Ledger(str(town / "budget.db")).show("town")[0]
    assert account.spent == 100
    assert account.notion.startswith(asked.protect.notion + "(")
    assert account.notion.endswith("/row")
    other = spec(
        town, protect=protect | {"notion": "osdp", "sensitive": {"ill": ["flu"]}, "policies": None, "edges": None}
    )
    with pytest.raises(BudgetConflictError):
        release_planned(other.plans(), other.ledger())
    assert Ledger(str(town / "budget.db")).show("town")[0].spent == 100


def test_the_command(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run prints the promise; the run charges it; a refusal is one line and 2."""
    written = """
[data]
table = "people.parquet"
person = "each row"
[query]
kind = "histogram"
by = { ill = ["flu", "cold"] }
[protect]
notion = "adp"
epsilon = "40"
policies = [{ outside = { ill = ["flu"] } }, { outside = { ill = ["cold"] } }]
[budget]
ledger = "budget.db"
dataset = "town"
cap = "50"
"""
    file = town / "s.toml"
    file.write_text(written)
    command = Town(town, capsys)
    code, out, _ = command.run("release", file, "--dry-run")
    assert code == 0
    assert "No answer is below the exact one" in " ".join(out.split())
    assert command.run("release", file, "--out", town / "out")[0] == 0
    assert json.loads((town / "out" / "release.json").read_text())["notion"]["name"] == "adp"
    file.write_text(written.replace("policies", "polices"))
    code, _, err = command.run("release", file, "--dry-run")
    assert code == 2
    assert "Did you mean 'policies'?" in err
