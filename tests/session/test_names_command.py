"""``leeward release`` and ``leeward plan`` for a name, as their user runs them: what is told first, written and charged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.session.conftest import Town

import leeward as lw
from leeward._statement import SelectionStatement
from leeward.mechanism import NoisyMax
from leeward.spec import read_spec

PLACES = """
[data]
visits = "visits.parquet"
person = "user"
place = "venue"
time = "at"

[query]
kind = "busiest"

[places]
table = "places.parquet"
place = "venue"
latitude = "lat"
longitude = "lon"
name = "name"

[window]
start = 2026-01-01T18:00:00
end = 2026-01-01T20:00:00
every = "1h"

[protect]
notion = "presence"
epsilon = "1"

[budget]
ledger = "sqlite:///budget.db"
cap = "200"
dataset = "town"
"""

GROUPS = """
[data]
table = "records.parquet"
person = "each row"

[query]
kind = "quietest"
by = { ill = ["flu", "cold", "cough"] }

[protect]
notion = "dp"
epsilon = "40"

[budget]
ledger = "sqlite:///budget.db"
cap = "200"
dataset = "people"
"""


def write(town: Town, text: str = PLACES, *changes: tuple[str, str]) -> Path:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = town.folder / "name.toml"
    path.write_text(text)
    return path


@pytest.fixture
def one(town: Town) -> Town:
    """A place with ninety people, where the others of the town have at most six; everybody is in two places."""
    rows = [(f"q{k}", venue, pd.Timestamp("2026-01-01T18:30")) for k in range(90) for venue in ("v7", "v8")]
    rows += [("q90", "v7", pd.Timestamp("2026-01-01T18:31"))] * 40 + [
        (f"r{k}", "v7", pd.Timestamp("2026-01-01T18:31")) for k in range(60)
    ]
    more = pd.DataFrame(rows, columns=["user", "venue", "at"])
    seen = pd.read_parquet(town.folder / "visits.parquet")
    pd.concat([seen, more]).to_parquet(town.folder / "visits.parquet")
    return town


ONE_HOUR = ('end = 2026-01-01T20:00:00\nevery = "1h"', "end = 2026-01-01T19:00:00")


def test_one_name_is_published_and_nothing_else(one: Town) -> None:
    """151 people at v7 against 90 at v8: another name has a chance of e^-61."""
    code, out, err = one.run("release", write(one, PLACES, ONE_HOUR), "--out", one.out)
    assert code == 0, err
    assert "Named as the busiest place from 2026-01-01T18:00:00 to 2026-01-01T19:00:00: place v7, name Place v7." in out
    assert one.answers().to_dict("records") == [{"place": "v7", "name": "Place v7"}]
    statement = json.loads((one.out / "release.json").read_text())
    assert statement["query"] | {"of": None, "text": None} == {
        "kind": "busiest", "text": None, "noun": "place", "options": 40, "of": None,
    }  # fmt: skip
    assert (statement["price"], statement["mechanism"]["rate"]) == ("1", "1")
    page = (one.out / "report.html").read_text()
    assert "Named as the busiest of 40 places: Place v7 (v7)" in page
    assert "The one place that is named" in page
    assert "151" not in json.dumps(statement) + out.replace(str(one.folder), "")  # whose number may hold it


def test_it_is_the_same_name_again_at_no_price_and_another_question_is_not(one: Town) -> None:
    for change, charged in ((ONE_HOUR, "1"), (ONE_HOUR, "0")):
        _, out, _ = one.run("release", write(one, PLACES, change), "--out", one.out, "--json")
        (name,) = json.loads(out)["releases"]
        assert (name["kind"], name["which"], name["charged"]) == ("named", "busiest", charged)
        assert name["answer"] == {"place": "v7", "name": "Place v7"}
        assert name["window"] == {"start": "2026-01-01T18:00:00", "end": "2026-01-01T19:00:00", "timezone": None}
    _, out, _ = one.run("release", write(one, PLACES, ONE_HOUR, ("busiest", "quietest")), "--out", one.out, "--json")
    assert json.loads(out)["releases"][0]["charged"] == "1"
    assert json.loads(out)["budget"]["spent"] == "2"


def test_each_window_has_a_name_of_its_own_and_all_are_paid_for(one: Town) -> None:
    code, out, err = one.run("release", write(one), "--out", one.out, "--if-doubtful", "publish")
    assert code == 0, err
    assert "2 windows at 1 each: a total price of at most 2." in out
    names = pd.read_parquet(one.out / "answers.parquet")
    assert names["window_start"].tolist() == ["2026-01-01T18:00:00", "2026-01-01T19:00:00"]
    assert names["place"][0] == "v7"


def test_a_dry_run_tells_how_good_the_name_will_be(one: Town) -> None:
    code, out, err = one.run("release", write(one), "--dry-run", "--json")
    assert code == 0, err
    first, second = (SelectionStatement.model_validate_json(json.dumps(each)) for each in json.loads(out))
    assert first.accuracy.within_95_percent == second.accuracy.within_95_percent == NoisyMax("1").within(40)
    assert first.budget is not None
    assert (first.price, first.budget.price, first.entry) == ("1", "1", None)
    _, out, _ = one.run("release", write(one), "--dry-run")
    told = " ".join(out.split())
    assert "2 windows, one release each." in told
    assert "Price: 2 in all. Nothing was charged and no data was read." in told


@pytest.mark.parametrize(
    ("which", "than", "names"), [("busiest", "fewer than", "largest"), ("quietest", "more than", "smallest")]
)
def test_a_plan_says_on_which_side_a_name_errs(one: Town, which: str, than: str, names: str) -> None:
    code, out, err = one.run("plan", write(one, PLACES, ("busiest", which)))
    assert code == 0, err
    told = " ".join(out.split())
    assert f"the named place has at most so many {than} the {which}." in told
    assert f"all are published, and the {names} of them names." in told


def test_a_plan_says_what_is_left_of_the_budget(one: Town) -> None:
    spec = write(one, PLACES, ONE_HOUR)
    assert one.run("release", spec, "--out", one.out)[0] == 0
    code, out, err = one.run("plan", spec)
    assert code == 0, err
    assert "counted in presence per person; 199 left" in out


def test_a_group_is_named(town: Town) -> None:
    ill = ["flu"] * 30 + ["cold"] * 3 + ["cough"] * 20 + ["other"]
    pd.DataFrame({"ill": ill}).to_parquet(town.folder / "records.parquet")
    code, out, err = town.run("release", write(town, GROUPS), "--out", town.out)
    assert code == 0, err
    assert "Named as the quietest group: group cold. Charged 40." in out
    assert town.answers().to_dict("records") == [{"group": "cold"}]
    page = (town.out / "report.html").read_text()
    assert "Named as the quietest of 3 groups: ‘cold’" in page
    assert "it has no more rows than the group with the fewest" in page


def test_groups_under_policies(town: Town) -> None:
    pd.DataFrame({"ill": ["flu"] * 30 + ["cold"] * 3}).to_parquet(town.folder / "records.parquet")
    policies = (
        'notion = "dp"',
        'notion = "adp"\npolicies = [{ outside = { ill = ["flu"] } }, { outside = { ill = ["cold"] } }]',
    )
    code, out, err = town.run(
        "release", write(town, GROUPS, policies, ('["flu", "cold", "cough"]', '["flu", "cold"]')), "--out", town.out
    )
    assert code == 0, err
    assert "group cold" in out
    assert json.loads((town.out / "release.json").read_text())["mechanism"]["rate"] == "40"


def test_an_interval_of_a_number_is_named(tmp_path: Path) -> None:
    table = pd.DataFrame({"who": range(300), "age": [5] * 20 + [15] * 200 + [25] * 80})
    asked = lw.statistic(lw.records(table, person="who"), "histogram", column="age", lower=0, upper=30, step=10)
    budget = lw.Budget(f"sqlite:///{tmp_path / 'budget.db'}", dataset="ages", cap="5")
    result = lw.release(lw.plan(lw.select(asked), lw.UnboundedDP("1")), budget)
    assert result.answers.to_pylist() == [{"from": 10, "to": 20}]
    assert result.statement.query.text == "Which of 3 public intervals of 'age' has the most people"
    assert (result.save(tmp_path / "out") / "report.html").exists()
    with pytest.raises(lw.LeewardError, match="A map of places without coordinates"):
        result.map()


def test_a_plan_sets_names_beside_noisy_counts(one: Town) -> None:
    spec = write(one, PLACES, ('epsilon = "1"', 'epsilon = "1"\nplaces_per_person = 3'))
    code, out, err = one.run("plan", spec, "--json", "--counts", "0:39,9:1")
    assert code == 0, err
    report = json.loads(out)
    rows = {(row["notion"]["name"], row["mechanism"]): row for row in report["options"]}
    assert rows["presence", "noisy max"]["within_95_percent"] == NoisyMax("1").within(40)
    assert rows["presence", "noisy counts"]["within_95_percent"] > 2 * NoisyMax("1").within(40)
    assert rows["presence", "noisy max"]["expected"]["right"] > 0.99
    assert report["asked"]["releases"] == 2
    code, out, _ = one.run("plan", spec)
    assert code == 0
    assert "question   the busiest of 40 places, by name alone" in out
    for given, said in (("0:39,9:1", False), ("0:400,9:1", True)):
        told = " ".join(one.run("plan", spec, "--counts", given)[1].split())
        assert ("These are of 401 places, and not of those listed." in told) is said
    assert "Nothing was charged and no data was read." in out
    for option, value in (("--safe-at", "1:0.5"), ("--assumed-error", "0.5"), ("--html", "plan.html")):
        code, _, err = one.run("plan", spec, option, value)
        assert code == 2
        assert f"{option} where nothing is decided" in err


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[window]", "[decide]\nsafe_at_most = 2\n\n[window]"), "the busiest place has no [decide]"),
        (("[window]", '[publish]\nwhat = "counts"\n\n[window]'), "the busiest place has no [publish]"),
        (('kind = "busiest"', 'kind = "busiest"\ncolumn = "age"'), "[query] column means nothing"),
        (('kind = "busiest"', 'kind = "best"'), "[query] kind"),
        (
            ('epsilon = "1"', 'epsilon = "1"\nplaces_per_person = 1\nif_more = "latest"'),
            "Leave places_per_person and if_more out",
        ),
    ],
)
def test_what_a_spec_for_a_name_cannot_say(one: Town, change: tuple[str, str], said: str) -> None:
    code, _, err = one.run("release", write(one, PLACES, change), "--dry-run")
    assert code == 2
    assert said in err


def test_people_beyond_a_bound_need_none(one: Town) -> None:
    code, _, err = one.run(
        "release",
        write(one, PLACES, ONE_HOUR, ('epsilon = "1"', 'epsilon = "1"\nplaces_per_person = 1')),
        "--out",
        one.out,
    )
    assert code == 2
    assert "Leave places_per_person out: naming a place needs no bound" in err
    assert not one.out.exists()


def test_a_name_by_the_last_places_says_so_wherever_its_error_is_told(one: Town) -> None:
    """Found by an attack: 500 people at a place that they left are not 500 fewer than at the place that is named."""
    fewer = NoisyMax("1").within(40)
    bound = 'notion = "addition-only"\nepsilon = "1"\nplaces_per_person = 1\nif_more = "latest"'
    for change, so in (((), ""), ((('notion = "presence"\nepsilon = "1"', bound),), ", counted after the bound")):
        spec = write(one, PLACES, ONE_HOUR, *change, ("budget.db", "truncated.db" if so else "budget.db"))
        code, _, err = one.run("release", spec, "--out", one.out)
        assert code == 0, err
        page = (one.out / "report.html").read_text()
        on_places = f"{so} on places per person," if so else ""
        assert f"it had at most {fewer} fewer people{on_places} than the place with the most." in page
        assert f"fewer{so}{so and ','} than the busiest" in " ".join(one.run("plan", spec)[1].split())
        made = str(next(iter(read_spec(spec).plans())))
        assert f"fewer people{on_places} than the busiest of" in made


def test_a_monitor_does_not_name(one: Town) -> None:
    code, _, err = one.run("monitor", write(one), "--out", one.out)
    assert code == 2
    assert "Use `leeward release`" in err


def test_groups_have_no_places(town: Town) -> None:
    code, _, err = town.run("release", write(town, GROUPS + '\n[places]\ntable = "p.csv"\nplace = "x"\n'), "--dry-run")
    assert code == 2
    assert "the quietest group has no [places]" in err


def test_a_list_of_one_is_refused_before_it_is_paid_for(town: Town) -> None:
    one_group: Any = ('["flu", "cold", "cough"]', '["flu"]')
    code, _, err = town.run("release", write(town, GROUPS, one_group), "--dry-run")
    assert code == 2
    assert "its name is known before it is asked" in err
    code, _, _ = town.run("release", write(town, GROUPS, one_group), "--dry-run", "--accept-useless")
    assert code == 0
