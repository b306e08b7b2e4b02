"""Safe groups by command: what is told before, published, and refused, as their user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.session.conftest import Town

from leeward._statement import GroupStatement
from leeward.planner import PlanReport

WARDS = """
[data]
table = "wards.csv"
person = "patient"

[query]
kind = "histogram"
by = { ward = ["cardiology", "surgery", "maternity", "paediatrics"] }

[protect]
notion = "addition-only"
epsilon = "30"

[decide]
safe_at_most = 4

[budget]
ledger = "sqlite:///budget.db"
cap = "200"
dataset = "wards"
"""

BY = 'by = { ward = ["cardiology", "surgery", "maternity", "paediatrics"] }'
HELD = {"cardiology": 2, "surgery": 8, "maternity": 1}


def write(town: Town, *changes: tuple[str, str]) -> Path:
    text = WARDS
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    rows = [f"{ward}-{k},{ward},{20 + 10 * k}" for ward, n in HELD.items() for k in range(n)]
    (town.folder / "wards.csv").write_text("\n".join(["patient,ward,age", *rows, ""]))
    path = town.folder / "wards.toml"
    path.write_text(text)
    return path


def test_a_ward_is_safe_or_it_is_not(town: Town) -> None:
    """At ε = 30 upward noise is 0 but for a chance below 1e-13."""
    code, out, err = town.run("release", write(town), "--out", town.out)
    assert code == 0, err
    assert "3 of 4 groups are said to be safe (at most 4 people), never wrongly. Charged 30." in out
    assert town.answers().to_dict("records") == [
        {"group": ward, "state": state}
        for ward, state in zip([*HELD, "paediatrics"], ["safe", "obscure", "safe", "safe"], strict=True)
    ]
    statement = GroupStatement.model_validate_json((town.out / "release.json").read_text())
    assert statement.query.text == "How many people are in each of 4 public groups by 'ward'"
    assert (
        statement.guaranteed[0]
        == "Where 'safe' is said, at most 4 people are in the group among those counted: it is never wrong"
    )
    page = (town.out / "report.html").read_text()
    assert "3 of 4 groups are said to be safe (at most 4 people)" in page
    assert "people in the group (true count)" in page
    assert "All 4 groups, in the order of the public list" in page
    for word in ("visitor", "place", "who were there", "plot-map"):
        assert word not in page.split("<main>")[1].split("How each answer was made")[0], word


def test_everything_is_told_before_it_is_paid(town: Town) -> None:
    code, out, err = town.run("release", write(town), "--dry-run")
    assert code == 0, err
    assert "people in the group    chance of being called safe" in out
    code, out, err = town.run("plan", write(town), "--html", town.folder / "plan.html")
    assert code == 0, err
    assert "people in each of 4 public groups by 'ward'" in out
    assert "visitors" not in out
    assert "who were there" not in (town.folder / "plan.html").read_text()
    code, out, err = town.run("plan", write(town), "--json")
    assert PlanReport.model_validate_json(out).asked.noun == "group"


def test_the_mechanism_that_stops_goes_in_the_order_of_the_groups(town: Town) -> None:
    spec = write(town, ("[budget]", '[publish]\nmechanism = "sanitized"\n\n[budget]'))
    code, out, err = town.run("release", spec, "--out", town.out, "--json")
    assert code == 0, err
    (one,) = json.loads(out)["releases"]
    assert (one["kind"], one["noun"], one["window"]) == ("places", "group", None)
    assert (one["places"], one["safe"], one["obscure"], one["answered"]) == (4, 1, 3, 2)
    assert town.answers()["count"].tolist()[1] == 8
    assert "The groups were asked in the public order" in (town.out / "report.html").read_text()


def test_intervals_and_rows_have_their_words(town: Town) -> None:
    spec = write(
        town,
        ('person = "patient"', 'person = "each row"'),
        (BY, 'column = "age"\nlower = "0"\nupper = "100"\nstep = "25"'),
    )  # fmt: skip
    code, out, err = town.run("release", spec, "--out", town.out)
    assert code == 0, err
    assert "of 4 intervals are said to be safe (at most 4 rows), never wrongly" in out
    assert town.answers()[["from", "to"]].to_numpy().tolist() == [[0, 25], [25, 50], [50, 75], [75, 100]]
    page = (town.out / "report.html").read_text()
    assert "rows in the interval (true count)" in page
    assert "even an interval with no row is not called safe" in page


@pytest.mark.parametrize(("change", "why"), [
    (("safe_at_most = 4", 'error_at_most = "0.1"'), "[decide] says nothing of any group"),
    (("[decide]\nsafe_at_most = 4", '[publish]\nmechanism = "sanitized"'), "[decide] says nothing of any group"),
    (('kind = "histogram"', 'kind = "busiest"'), "the busiest group has no [decide]"),
    (('kind = "histogram"', 'kind = "mean"\ncolumn = "age"\nlower = "0"\nupper = "9"'), "a mean has no [decide]"),
    (("[decide]", "[places]\n[decide]"), "[places]"),
    (('"addition-only"', '"presence"'), "there is no such notion for this question"),
    (('"addition-only"', '"dp"'), "error_at_most"),
])  # fmt: skip
def test_what_does_not_go_together_is_refused(town: Town, change: tuple[str, str], why: str) -> None:
    code, out, err = town.run("release", write(town, change), "--out", town.out)
    assert (code, out) == (2, "")
    assert why in err
    if '"dp"' in change[1]:
        assert "presence" not in err


def test_a_monitor_is_refused(town: Town) -> None:
    code, _, err = town.run("monitor", write(town), "--out", town.out)
    assert code == 2
    assert "this is for visitors" in err


def test_under_policies_safe_is_never_wrong_where_counts_only_fall(town: Town) -> None:
    """That a row is in surgery may not become known; that it is not there may. Then no count rises."""
    policies = 'policies = [{ outside = { ward = ["surgery"] } }]'
    spec = write(
        town,
        (BY, 'by = { ward = ["surgery"] }'),
        ('person = "patient"', 'person = "each row"'),
        ('"addition-only"', f'"adp"\n{policies}'),
    )
    code, out, err = town.run("release", spec, "--dry-run", "--json")
    assert code == 0, err
    (told,) = json.loads(out)
    assert (told["decision"]["never_wrong"], told["mechanism"]["rate_down"]) == (True, "inf")
    assert told["notion"]["unit"] == "row"
