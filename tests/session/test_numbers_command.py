"""``leeward release`` for statistics, as its user runs it: what it writes, what it refuses, what it charges."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.session.conftest import Town

import leeward as lw
from leeward.noise import SeededBitsForTests
from leeward.spec._notions import number_notion

SPEC = """
[data]
table = "records.parquet"
person = "who"

[query]
kind = "mean"
column = "age"
lower = "0"
upper = "100"

[protect]
notion = "dp"
epsilon = "1"

[budget]
ledger = "sqlite:///budget.db"
cap = "5"
dataset = "people"
"""


@pytest.fixture
def people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """600 people aged 20 to 79, in two groups; and three rows that take no part."""
    rows = [(f"p{i}", 20 + i % 60, "ab"[i % 2]) for i in range(600)]
    rows += [(None, 50, "a"), ("q", None, "a"), ("r", 30, "z")]
    pd.DataFrame(rows, columns=["who", "age", "group"]).to_parquet(tmp_path / "records.parquet")
    return Town(tmp_path, capsys)


def write(town: Town, *changes: tuple[str, str]) -> Path:
    text = SPEC
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = town.folder / "numbers.toml"
    path.write_text(text)
    return path


def spent(town: Town) -> str | None:
    code, out, _ = town.run("budget", "show", "--ledger", town.folder / "budget.db", "--json")
    budgets = json.loads(out)["budgets"] if code == 0 else []
    return budgets[0]["spent"] if budgets else None


GROUPS = ("[protect]", 'by = { group = ["a", "b"] }\n\n[protect]')
KINDS = {
    "sum": ("sum", ["group", "value"], 600 * 49.5),
    "mean": ("mean", ["group", "value", "people", "within_95_percent"], 49.5),
    "variance": ("variance", ["group", "value", "people", "within_95_percent"], 299.67),
    "standard deviation": (
        'standard deviation"\ngrid = "1/10',
        ["group", "value", "people", "within_95_percent"],
        17.3,
    ),
    "median": ("median", ["group", "value"], 50),
    "min": ("min", ["group", "value"], 20),
    "max": ("max", ["group", "value"], 79),
    "percentile": ('percentile"\np = "90"\nmechanism = "geometric', ["group", "value"], 74),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_released_with_a_report(people: Town, kind: str) -> None:
    """At ε = 200 the noise is practically none, so the answer can be seen; the row in no group counts without groups."""
    asked, columns, expected = KINDS[kind]
    spec = write(
        people, ('"mean"', f'"{asked}"'), ('epsilon = "1"', 'epsilon = "2000"'), ('cap = "5"', 'cap = "9000"'), GROUPS
    )
    code, out, err = people.run("release", spec, "--out", people.out)
    assert code == 0, err
    assert sorted(p.name for p in people.out.iterdir()) == [
        *("answers.csv", "answers.parquet", "leeward-files.json", "release.json", "report.html")
    ]
    answers = people.answers()
    assert list(answers.columns) == columns
    assert list(answers["group"]) == ["a", "b"]
    found = answers["value"].sum() if kind == "sum" else answers["value"].mean()
    assert found == pytest.approx(expected, abs=1)
    assert "Charged 2000." in out
    assert err.count("not counted: 1 row ") == 3


def test_a_histogram_is_released_interval_by_interval(people: Town) -> None:
    changes = [
        ('"mean"', '"histogram"\nstep = "25"'),
        ('epsilon = "1"', 'epsilon = "200"'),
        ('cap = "5"', 'cap = "900"'),
    ]
    assert people.run("release", write(people, *changes), "--out", people.out)[0] == 0
    answers = people.answers()
    assert answers.to_dict("list") == {"from": [0, 25, 50, 75], "to": [25, 50, 75, 100], "count": [50, 251, 250, 50]}
    statement = json.loads((people.out / "release.json").read_text())
    assert statement["query"]["answers"] == 4
    assert any("may be negative" in said for said in statement["not_guaranteed"])


def test_of_many_answers_the_first_are_printed_and_the_others_counted(people: Town) -> None:
    for step, more in (("5", ""), ("4", "… and 5 more in answers.parquet")):
        spec = write(people, ('"mean"', f'"histogram"\nstep = "{step}"'))
        code, out, err = people.run("release", spec, "--out", people.out)
        assert code == 0, err
        lines = out.splitlines()
        assert sum(line.startswith("  ") or line[:1].isdigit() for line in lines) >= 20
        assert [line for line in lines if "more in answers.parquet" in line] == ([more] if more else [])
        assert people.answers()["count"].size == 100 // int(step)


def test_asking_again_is_free_and_another_question_is_not(people: Town) -> None:
    people.run("release", write(people), "--out", people.out)
    first = people.answers()
    _, out, _ = people.run("release", write(people), "--out", people.out)
    assert "charged nothing" in out
    pd.testing.assert_frame_equal(people.answers(), first)
    people.run("release", write(people, ('upper = "100"', 'upper = "101"')), "--out", people.out)
    assert spent(people) == "2"


REFUSED: list[tuple[list[tuple[str, str]], str]] = [
    ([('"mean"', '"meen"')], "kind"),
    ([('column = "age"', 'colunm = "age"')], "Did you mean 'column'?"),
    ([('column = "age"\n', "")], "Give the column"),
    ([('lower = "0"\n', "")], "Give lower and upper"),
    ([('upper = "100"', "upper = 1.5")], "binary float"),
    ([('upper = "100"', 'upper = "-1"')], "lower < upper"),
    ([('upper = "100"', 'upper = "100"\np = "5"')], "p = '5' for a mean"),
    ([('upper = "100"', 'upper = "100"\npeople = 600')], "number of people is then not public"),
    ([("[protect]", "by = { a = [1], b = [2] }\n[protect]")], "column 1 of by = 'a': there is no column of that name"),
    ([("[protect]", 'by = "group"\n[protect]')], "[query] by"),
    ([("[protect]", 'by = { group = ["a", "a"] }\n[protect]')], "List each once"),
    ([("[protect]", 'by = { group = ["a"] }\nothers = "a"\n[protect]')], "by another name"),
    ([("[protect]", 'by = { group = ["a"] }\nothers = 3\n[protect]')], 'others = "all others"'),
    ([("[protect]", "by = { group = [1] }\nothers = true\n[protect]")], "[query] others"),
    ([("[protect]", f"by = {{ group = [1] }}\nothers = {2**63}\n[protect]")], "beyond 64 bits"),
    ([('"dp"', '"presence"')], "no such notion for this question"),
    ([('"dp"', '"manhatten"')], "Did you mean 'manhattan'?"),
    ([('"dp"', '"dp"\nunit = "10 W"')], "does not measure how far"),
    ([('"dp"', '"manhattan"\nunit = "W 10"')], 'unit = "10 W"'),
    ([('"dp"', '"manhattan"\nunit = "-10 W"')], "above 0"),
    ([('"dp"', '"manhattan"\nunit = ""')], 'unit = "10 W"'),
    ([('"dp"\nepsilon = "1"', '"manhattan"\nepsilon = "0"')], "epsilon must be above 0"),
    ([('"dp"', '"normalised-manhattan"\nunit = "10"')], "Leave it out"),
    ([('"dp"', '"maximum"')], "may move by any amount"),
    ([('"dp"', '"dp"\nplaces_per_person = 1')], "[protect] places_per_person"),
    ([('"dp"', '"dp"\npresence = "1"')], "presence"),
    ([("[budget]", "[decide]\nsafe_at_most = 2\n[budget]")], "[decide]"),
    ([("[budget]", '[publish]\nwhat = "counts"\n[budget]')], "[publish]"),
    ([("[budget]", "[window]\nstart = 2020-01-01\nend = 2020-01-02\n[budget]")], "[window]"),
    ([('person = "who"', 'person = "who"\ntime = "at"')], "[data] time"),
    ([('table = "records.parquet"\n', "")], "[data] table is missing"),
    ([('person = "who"', 'person = "whom"')], "Did you mean 'who'?"),
    ([('column = "age"', 'column = "group"\ncombine = "sum"'), ('"who"', '"each row"')], "nothing to combine"),
    ([('column = "age"', 'column = "ages"')], "Did you mean 'age'?"),
    ([('"mean"', '"histogram"'), ('column = "age"\nlower = "0"\nupper = "100"\n', "")], "A histogram of nothing"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_what_cannot_be_is_refused_in_one_line_and_charged_nothing(
    people: Town, changes: list[tuple[str, str]], said: str
) -> None:
    code, out, err = people.run("release", write(people, *changes), "--out", people.out)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert not people.out.exists()
    assert spent(people) in {None, "0"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('upper = "100"', 'upper = "100"\npeople = 600'), "601 people have a number, and 600 were declared"),
        (None, "1 person has more than one row"),
    ],
)
def test_what_the_data_refuse_is_for_the_curator_and_charged_nothing(people: Town, change: Any, said: str) -> None:
    if change is None:  # somebody has two rows
        table = pd.read_parquet(people.folder / "records.parquet")
        pd.concat([table, table.iloc[:1]]).to_parquet(people.folder / "records.parquet")
    changes = [change] if change else []
    code, out, err = people.run("release", write(people, ('"dp"', '"bounded-dp"'), *changes), "--out", people.out)
    assert (code, out) == (2, "")
    assert said in err
    assert "do not publish" in err
    assert not people.out.exists()
    assert spent(people) in {None, "0"}


def test_several_rows_can_be_combined(people: Town) -> None:
    table = pd.read_parquet(people.folder / "records.parquet")
    pd.concat([table, table]).to_parquet(people.folder / "records.parquet")
    changes = [
        ('"mean"', '"sum"\ncombine = "sum"'),
        ('epsilon = "1"', 'epsilon = "2000"'),
        ('cap = "5"', 'cap = "9000"'),
    ]
    assert people.run("release", write(people, *changes), "--out", people.out)[0] == 0
    expected = sum(min(2 * (20 + i % 60), 100) for i in range(600)) + 60
    assert people.answers()["value"][0] == pytest.approx(expected, abs=1)
    statement = json.loads((people.out / "release.json").read_text())
    assert any("counts once, with the sum of their numbers" in said for said in statement["not_guaranteed"])
    assert not any("more than one row" in said for said in statement["assumptions"])


def test_the_unit_is_named_in_the_promise(people: Town) -> None:
    spec = write(people, ('"mean"', '"median"\nmechanism = "geometric"'), ('"dp"', '"manhattan"\nunit = "5 years"'))
    assert people.run("release", spec, "--out", people.out)[0] == 0
    statement = json.loads((people.out / "release.json").read_text())
    assert "a value 5 years away at a factor of e^ε" in statement["notion"]["alternative"]
    assert statement["mechanism"]["parts"] == [{"rate_up": "1/5", "rate_down": "1/5", "step": "1"}]
    assert any("rounded numbers" in said for said in statement["not_guaranteed"])


def test_a_deviation_is_free_after_its_variance_and_refused_where_it_says_nothing(people: Town) -> None:
    first = write(people, ('"mean"', '"variance"'))
    assert "Charged 1." in people.run("release", first, "--out", people.out)[1]
    other = write(people, ('"mean"', '"standard deviation"\ngrid = "1/4"'))
    assert people.run("release", other, "--out", people.out)[0] == 0
    assert spent(people) == "1"
    shown = people.answers()
    assert ((shown["value"] * 4) % 1 == 0).all()
    assert "standard deviation" in (people.out / "report.html").read_text()
    for kind in ("variance", "standard deviation"):
        useless = write(people, ('"mean"', f'"{kind}"'), ('epsilon = "1"', 'epsilon = "1/100000"'))
        code, _, err = people.run("release", useless, "--out", people.out)
        assert code == 2
        assert f"The {kind} of 'age'" in err
    assert spent(people) == "1"


def test_a_public_number_of_people_makes_spreads_nearer(people: Town) -> None:
    table = lw.records(people.folder / "records.parquet", person="who", keep={"group": ["a", "b"]})
    ages = (
        pd.read_parquet(people.folder / "records.parquet").query("group in ['a', 'b'] and who.notna()")["age"].dropna()
    )
    budget = lw.Budget(f"sqlite:///{people.folder / 'python.db'}", dataset="people", cap="50")
    described = {"column": "age", "lower": 0, "upper": 100, "grid": "1/100", "people": 600}
    for kind, exact in (("variance", ages.var(ddof=0)), ("standard deviation", ages.std(ddof=0))):
        made = lw.plan(statistic_by(table, kind, **described), lw.BoundedDP("20"))  # type: ignore[arg-type]
        found = lw.release(made, budget).to_pandas()
        assert ("within_95_percent" in found) == (kind != "variance")
        assert found["value"][0] == pytest.approx(exact, abs=30)  # beyond with a chance of e^-35


def test_a_dry_run_touches_nothing(people: Town) -> None:
    (people.folder / "records.parquet").unlink()
    code, out, _ = people.run("release", write(people), "--dry-run", "--json")
    assert code == 0
    (statement,) = json.loads(out)
    errors = [entry["within_95_percent"] for entry in statement["accuracy"]["by_number"]]
    assert errors == sorted(errors, reverse=True)
    assert not (people.folder / "budget.db").exists()


def test_nobody_s_statistic_is_an_answer(people: Town) -> None:
    """An error would tell that the group is empty: only the curator is asked, beforehand."""
    for kind in ("mean", "median"):
        spec = write(people, ('"mean"', f'"{kind}"'), ("[protect]", 'by = { group = ["nobody"] }\n[protect]'))
        going_on = ("--out", people.out, "--accept-useless")
        assert people.run("release", spec, *going_on)[0] == 2
        assert people.run("release", spec, *going_on, "--if-doubtful", "publish")[0] == 0
        assert 0 <= people.answers()["value"][0] <= 100


def test_the_same_from_python_and_seeded_releases_are_unfit(people: Town) -> None:
    table = lw.records(people.folder / "records.parquet", person="who")
    query = lw.statistic(table, lw.query.Kind("mean", grid="1/100"), column="age", lower=0, upper=100)
    budget = lw.Budget(f"sqlite:///{people.folder / 'python.db'}", dataset="people", cap="5")
    result = lw.release(lw.plan(query, lw.UnboundedDP("1")), budget, bits=SeededBitsForTests(7))
    assert not result.statement.fit_for_release
    answer = result.answers.to_pylist()[0]
    assert abs(answer["value"] - 49.47) < 3 * answer["within_95_percent"]
    result.save(people.out)
    assert "Not fit for release" in (people.out / "report.html").read_text()
    with pytest.raises(lw.LeewardError, match="decisions are about counts"):
        lw.release(lw.plan(query, lw.UnboundedDP("1"), lw.Decide(safe_at_most=2)), budget)


def test_the_stated_error_holds_from_end_to_end(people: Town) -> None:
    """200 groups' means at once: 95 % of them within what is published beside them, 4 deviations allowed (3.2e-5)."""
    rows = [(i, g, 30 + (i * 7 + g) % 41) for g in range(200) for i in range(150)]
    frame = pd.DataFrame(rows, columns=["i", "g", "age"])
    table = lw.records(frame, person="each row")
    query = lw.statistic(
        table, lw.query.Kind("mean", grid="1/100"), column="age", lower=0, upper=100, by={"g": range(200)}
    )
    budget = lw.Budget(f"sqlite:///{people.folder / 'python.db'}", dataset="people", cap="5")
    answers = lw.release(lw.plan(query, lw.UnboundedDP("1")), budget, bits=SeededBitsForTests(3)).to_pandas()
    off = (answers["value"] - frame.groupby("g")["age"].mean()).abs()
    kept = (off <= answers["within_95_percent"]).mean()
    assert kept >= 0.95 - 4 * (0.95 * 0.05 / 200) ** 0.5
    assert (off <= answers["within_95_percent"] / 3).mean() < 0.95 - 4 * (0.95 * 0.05 / 200) ** 0.5  # can fail


@pytest.mark.parametrize("kind", ["manhattan", "maximum", "normalised-manhattan"])
@pytest.mark.parametrize("people", [None, 3])
def test_a_metric_notion_protects_whether_somebody_has_a_number_unless_their_number_is_public(
    kind: str, people: Any
) -> None:
    """Where it is private, somebody may be missing from a table; where it is public, no table lacks anybody."""
    rows = lw.records("people.parquet", person="who")
    asked = lw.statistic(rows, lw.query.Kind("mean", people=people, grid="1/10"), column="age", lower=0, upper=3)
    made = number_notion(kind, asked, "1", None)
    finite = [
        change for change in ((1, lw.notion.ABSENT), (lw.notion.ABSENT, 1)) if not _between(made, *change).is_infinite
    ]
    assert len(finite) == (2 if people is None else 0)
    assert not _between(made, 1, 2).is_infinite


def _between(notion: Any, before: Any, after: Any) -> Any:
    return notion((before, 1), (after, 1))


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ((), "group  value  people  within_95_percent"),
        ((('kind = "mean"', 'kind = "median"'),), "group  value"),
    ],
)
def test_numbers_on_the_terminal_stand_under_their_names(
    changes: tuple[tuple[str, str], ...], names: str, people: Town
) -> None:
    """``all  0  301  1520`` was the whole answer, and which of the three was the mean nobody could tell."""
    code, out, err = people.run("release", write(people, *changes), "--out", people.folder / "out", "--yes")
    assert code == 0, err
    head, row, *_ = out.splitlines()
    assert head == names
    assert len(row.split()) == len(names.split())


def test_a_plan_tells_what_would_say_next_to_nothing_and_of_how_many_options(people: Town) -> None:
    code, out, err = people.run("plan", write(people, ('epsilon = "1"', 'epsilon = "1/100000"')))
    assert (code, err) == (0, "")
    assert re.search(r"dp, geometric, and 5 +says next to nothing:", out), out
    assert "says next to nothing" not in people.run("plan", write(people))[1]


@pytest.mark.parametrize("notion", ["dp", "addition-only", "removal-only", "bounded-dp", "add-remove-replace-dp"])
def test_a_dash_in_the_table_of_a_plan_is_explained_where_there_is_one(notion: str, people: Town) -> None:
    code, out, err = people.run("plan", write(people, ('notion = "dp"', f'notion = "{notion}"')))
    assert (code, err) == (0, "")
    rows = [line for line in out.splitlines() if " geometric " in line]
    assert len(rows) > 3
    dashes = [line for line in rows if " – " in line]
    assert ("–: the budget's notion cannot cover it, whatever the price." in " ".join(out.split())) == bool(dashes)
