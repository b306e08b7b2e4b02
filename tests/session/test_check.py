"""A look before a release says what a release would count and refuse, and writes nothing; held against counts by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.keys.test_promises import QUESTIONS
from tests.session.conftest import Town

import leeward as lw
from leeward.errors import InputError, LeewardError
from leeward.session._check import _stand_in


def files(folder: Path) -> dict[str, tuple[int, int]]:
    """What is in a folder, with size and time of writing."""
    return {
        str(path): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def checked(town: Town, *words: str | Path, code: int = 0) -> dict[str, Any]:
    """What the check says, which must leave the folder as it was."""
    before = files(town.folder)
    ended, out, err = town.run("check", town.folder / "spec.toml", "--json", *words)
    assert (ended, files(town.folder)) == (code, before), err
    found: dict[str, Any] = json.loads(out)
    assert bool(found["refused"]) == bool(code)
    assert all(refusal in err for refusal in found["refused"])
    return found


def rows(town: Town) -> pd.DataFrame:
    return pd.read_parquet(town.folder / "visits.parquet")


def test_what_would_count_is_what_a_count_by_hand_gives(town: Town) -> None:
    found = checked(town)
    assert found["rows"] == len(rows(town)) == sum(town.counts.values()) + 1
    (look,) = found["looks"]
    assert look["counted"] == sum(town.counts.values())
    assert look["not_counted"] == {"outside_window": 1}
    assert found["times"] == ["2026-01-01 18:30:00", "2026-01-01 19:00:00"]
    visited = sum(n > 0 for n in town.counts.values()) + 1  # and whoever came to v0 when the window was over
    keys = found["keys"]
    assert (keys["listed"], keys["named"], keys["unlisted"], keys["alike"]) == (40, visited, 0, {})
    assert not keys["all_named"]
    assert (found["answer_rows"], len(found["stand_in"]), found["below"]) == (40, 6, None)
    assert found["budget"] == {
        "dataset": "town",
        "cap": "5",
        "spent": "0",
        "price": "1",
        "left": "5",
        "cap_delta": "0",
        "spent_delta": "0",
        "price_delta": "0",
    }


def test_places_that_are_spelt_otherwise_are_named_by_what_they_differ_in(town: Town) -> None:
    spelt = {"v1": "V1", "v2": " v2", "v3": "V3 ", "v4": "v4\u00a0", "v5": "v5"}
    rows(town).replace({"venue": spelt}).to_parquet(town.folder / "visits.parquet")
    found = checked(town, code=2)
    keys, (refused,) = found["keys"], found["refused"]
    assert "4 listed keys would be" in refused
    assert "spaces ('v2', 'v4'); upper and lower case ('v1'); spaces, and upper and lower case ('v3')" in refused
    assert keys["alike"] == {
        "spaces": ["v2", "v4"],
        "upper and lower case": ["v1"],
        "spaces, and upper and lower case": ["v3"],
    }
    assert keys["unlisted"] == 4
    places = pd.read_parquet(town.folder / "places.parquet")
    places.assign(venue=[f"{i:03}" for i in range(40)]).to_parquet(town.folder / "places.parquet")
    rows(town).assign(venue="7").to_parquet(town.folder / "visits.parquet")
    found = checked(town, code=2)
    assert found["keys"]["alike"] == {"zeros in front": ["007"]}
    assert "None of the" in found["refused"][0]
    _, out, _ = town.run("check", town.folder / "spec.toml")
    assert "1 would match but for zeros in front: '007'" in out
    assert "Next" not in out
    assert out.startswith("For the curator only")


def test_keys_that_are_numbers_match_by_number(town: Town) -> None:
    places = pd.read_parquet(town.folder / "places.parquet")
    places.assign(venue=range(40)).to_parquet(town.folder / "places.parquet")
    rows(town).assign(venue=[3, 41] * 58).to_parquet(town.folder / "visits.parquet")
    keys = checked(town)["keys"]
    assert (keys["named"], keys["unlisted"], keys["alike"]) == (1, 1, {})


def test_a_list_that_is_all_visited_and_no_other_is_pointed_out(town: Town) -> None:
    seen = rows(town).venue.unique()
    places = pd.read_parquet(town.folder / "places.parquet")
    places[places.venue.isin(seen)].to_parquet(town.folder / "places.parquet")
    assert checked(town)["keys"]["all_named"]
    assert "it is not public" in " ".join(town.run("check", town.folder / "spec.toml")[1].split())
    places[places.venue.isin(seen[1:])].to_parquet(town.folder / "places.parquet")
    assert not checked(town)["keys"]["all_named"]


def test_the_filter_applies_to_keys_too(town: Town) -> None:
    table = rows(town).assign(state="STAY")
    table.loc[table.venue == "v3", "state"] = "PASS"
    table.to_parquet(town.folder / "visits.parquet")
    town.spec(('time = "at"', 'time = "at"\nkeep = { state = ["STAY"] }'))
    found = checked(town)
    assert found["keys"]["named"] == sum(n > 0 for n in town.counts.values())  # v0 too, v3 not
    assert found["looks"][0]["not_counted"]["filtered"] == 3


def test_a_value_that_the_filter_spells_otherwise_is_told_and_stops_a_release(town: Town) -> None:
    table = rows(town).assign(state="STAY")
    table.loc[table.venue == "v3", "state"] = "Stay "
    table.to_parquet(town.folder / "visits.parquet")
    town.spec(('time = "at"', 'time = "at"\nkeep = { state = ["STAY", "stop"] }'))
    (refused,) = checked(town, code=2)["refused"]
    assert "1 allowed value would be named by more rows" in refused
    assert "spaces, and upper and lower case ('STAY')" in refused
    told = " ".join(town.run("check", town.folder / "spec.toml")[1].split())
    assert "2 texts allowed, of which rows hold 1" in told
    assert "as they stand, the filter leaves those rows out" in told
    code, _, err = town.run("release", town.folder / "spec.toml", "--out", town.out)
    assert (code, "Correct keep, or the table" in err, town.out.exists()) == (2, True, False)
    assert town.run("release", town.folder / "spec.toml", "--out", town.out, "--if-doubtful", "publish")[0] == 0


def test_people_over_the_bound_are_told_or_would_refuse(town: Town) -> None:
    table = rows(town)
    twice = table[table.venue == "v3"].assign(venue="v4")
    pd.concat([table, twice]).to_parquet(town.folder / "visits.parquet")
    assert checked(town)["looks"][0]["over_bound"].startswith("3 people were at more than 1 listed place")
    town.spec(('if_more = "latest"\n', ""))
    (refused,) = checked(town, code=2)["refused"]
    assert refused.startswith("3 people were at more places than places_per_person allows")


def test_what_comes_next_is_said(town: Town) -> None:
    spec = town.folder / "spec.toml"
    assert f"leeward release {spec} --out release" in town.run("check", spec)[1]


def test_python_tells_what_the_command_tells(town: Town) -> None:
    told = town.run("check", town.spec())[1].split()
    visits = lw.visits(town.folder / "visits.parquet", person="user", place="venue", time="at")
    places = lw.places(town.folder / "places.parquet", place="venue", name="name", latitude="lat", longitude="lon")
    query = lw.count_visitors(
        visits, places, start="2026-01-01T18:00", end="2026-01-01T19:00", places_per_person=1, if_more="latest"
    )
    plan = lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), what="counts")
    before = files(town.folder)
    found = lw.check(plan, lw.Budget(f"sqlite:///{town.folder / 'budget.db'}", dataset="town", cap="5"))
    assert files(town.folder) == before
    facts = [said for _, said in found.facts(ends=True)]
    ends, text, html = "the data run from 2026-01-01 18:30:00 to", str(found), found._repr_html_()
    assert len(facts) > 5
    assert ends in " ".join(told)
    assert ends not in text + html, "a first and a last time are values of rows, and a notebook is kept"
    for said in (*facts, found.of_stand_in):
        assert " ".join(said.split()) in " ".join(told)
        if said.startswith(ends):
            continue
        assert said in text
        assert said.replace("'", "&#39;") in html
    assert (repr(found), found.refusals) == ("<Checked: for the curator only>", [])
    visits = lw.visits(rows(town)[:0], person="user", place="venue", time="at")
    empty = lw.plan(replace(query, visits=visits), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    (refused,) = lw.check(empty, lw.Budget(f"sqlite:///{town.folder / 'b.db'}", dataset="t", cap="5")).refusals
    assert refused.startswith("The table has no rows")
    with pytest.raises(InputError, match="a plan is what is looked at"):
        lw.check(query, lw.Budget("sqlite:///b.db", dataset="t", cap="5"))  # type: ignore[arg-type]


def test_what_one_window_leaves_out_and_another_counts_is_not_told_as_left_out(town: Town) -> None:
    """A date counts in a whole day, and not in an hour; in whichever order they stand."""
    times = ["2026-01-01"] * 10 + [f"2026-01-02T18:{i:02d}:00" for i in range(10)] + ["2026-01-03T10:00:00"] * 5
    visits = pd.DataFrame({"user": [f"p{i}" for i in range(25)], "venue": "v3", "at": times})
    visits.to_parquet(town.folder / "visits.parquet")
    hour = '{ start = "2026-01-02T18:00", end = "2026-01-02T19:00" }'
    day = '{ start = "2026-01-01T00:00", end = "2026-01-02T00:00" }'
    for one, other in ((hour, day), (day, hour)):
        town.spec(("start = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00", f"windows = [{one}, {other}]"))
        found = checked(town, code=2)  # an hour of which ten dates say nothing is doubtful
        assert (found["rows"], [each["counted"] for each in found["looks"]]) == (25, [10, 10])
        assert found["times"] == ["2026-01-01 00:00:00", "2026-01-03 10:00:00"]
        told = " ".join(town.run("check", town.folder / "spec.toml")[1].split())
        assert "window by window: 10, 10 not counted 5 rows outside the window people" in told


def test_windows_are_looked_at_one_by_one(town: Town) -> None:
    town.spec(("end = 2026-01-01T19:00:00", 'end = 2026-01-01T20:00:00\nevery = "1h"'))
    found = checked(town)
    assert [look["counted"] for look in found["looks"]] == [sum(town.counts.values()), 1]
    assert found["budget"]["price"] == "2"
    _, out, _ = town.run("check", town.folder / "spec.toml")
    assert "window by window: 115, 1" in out
    assert "outside the window" not in out


def test_what_a_release_would_refuse_is_refused_in_its_words(town: Town) -> None:
    town.spec(("2026-01-01T18", "2025-01-01T18"), ("2026-01-01T19", "2025-01-01T19"))
    (refused,) = checked(town, code=2)["refused"]
    code, _, err = town.run("release", town.folder / "spec.toml", "--out", town.out)
    ends = (
        "; the times of the data run from 2026-01-01 18:30:00 to 2026-01-01 19:00:00"  # which are told above, by check
    )
    assert (code, ends in err, err.replace(ends, "")) == (2, True, f"leeward: {refused}\n")


def test_what_is_useless_is_told_unless_it_is_accepted(town: Town) -> None:
    town.spec(('epsilon = "1"', 'epsilon = "1/1000"'))
    assert "useful_from" in checked(town, code=2)["refused"][0]
    checked(town, "--accept-useless")


def test_a_stored_answer_is_free_and_content_under_another_name_is_known(town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    found = checked(town)
    assert found["looks"][0]["stored"]
    assert (found["budget"]["price"], found["budget"]["spent"]) == ("0", "1")
    town.spec(('dataset = "town"', 'dataset = "elsewhere"'))
    assert "is charged as 'town' already" in checked(town, code=2)["refused"][0]
    town.spec()
    rows(town)[1:].to_parquet(town.folder / "visits.parquet")
    assert "changed under version '1'" in checked(town, code=2)["refused"][0]
    town.spec(('cap = "5"', 'cap = "5"\nversion = "2"'))
    assert not checked(town)["refused"]


def test_a_refusal_is_said_once_and_stored_windows_are_not_doubted(town: Town) -> None:
    town.spec(
        ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T20:00:00\nevery = "1h"'),
        ('epsilon = "1"', 'epsilon = "1/1000"'),
    )
    assert len(checked(town, code=2)["refused"]) == 1
    town.spec(("2026-01-01T18", "2025-01-01T18"), ("2026-01-01T19", "2025-01-01T19"))
    assert town.run("release", town.folder / "spec.toml", "--out", town.out, "--if-doubtful", "publish")[0] == 0
    assert not checked(town)["refused"]


def test_what_the_budget_refuses_a_release_it_refuses_a_look_in_the_same_words(town: Town) -> None:
    """What was released before stands: one at 1 of a cap of 5, in a budget of the name town."""
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    two, three = (("end = 2026-01-01T19:00:00", f'end = 2026-01-01T{end}:00:00\nevery = "1h"') for end in ("20", "21"))
    cases = {
        "a name that is nearly another's": [('dataset = "town"', 'dataset = "twon"')],
        "another cap": [('cap = "5"', 'cap = "6"')],
        "more than is left": [('epsilon = "1"', 'epsilon = "9/2"')],
        "two windows that are more together": [two, ('epsilon = "1"', 'epsilon = "5/2"')],
        "three": [three, ('epsilon = "1"', 'epsilon = "3/2"')],
    }
    for name, changes in cases.items():
        spec = town.spec(*changes)
        refused = town.run("release", spec, "--out", town.folder / "second")
        looked = town.run("check", spec)
        assert (refused[0], looked[0]) == (2, 2), name
        assert refused[2].removeprefix("leeward: ").strip() in looked[2], name


def test_a_cap_that_is_used_up_is_told(town: Town) -> None:
    town.spec(('cap = "5"', 'cap = "1/2"'))
    (refused,) = checked(town, code=2)["refused"]
    code, _, err = town.run("release", town.folder / "spec.toml", "--out", town.out)
    assert (code, err) == (2, f"leeward: {refused}\n")


STATISTIC = """
[data]
table = "people.csv"
person = "who"
keep = {{ state = ["in"] }}
[query]
kind = "{kind}"
{query}
[protect]
notion = "dp"
epsilon = "1"
[budget]
ledger = "budget.db"
dataset = "people"
cap = "5"
"""


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('cap = "5"', f'cap = "{"9" * 41}"'), "has more than 40 digits"),
        (("sqlite:///budget.db", "nowhere/budget.db"), "its folder does not exist"),
    ],
)
def test_a_budget_that_cannot_be_opened_is_told(change: tuple[str, str], says: str, town: Town) -> None:
    """A look said that all was well, and the release was refused."""
    for words in (["check"], ["release", "-o", "out"]):
        code, _, err = town.run(words[0], town.spec(change), *words[1:])
        assert (code, says in err) == (2, True), (words, err)


def test_of_a_statistic_numbers_beyond_the_bounds_and_groups_are_told(town: Town) -> None:
    people = [f"p{i}" for i in range(60)]
    table = pd.DataFrame({"who": people, "age": [*range(-3, 57)], "ward": ["North", "south"] * 30, "state": "in"})
    filtered = pd.DataFrame({"who": "q", "age": [-9, 99], "ward": "north", "state": "out"})
    pd.concat([table, filtered]).to_csv(town.folder / "people.csv", index=False)
    bounds = 'column = "age"\nlower = 0\nupper = 50\nby = { ward = ["north", "south", "east"] }'
    (town.folder / "spec.toml").write_text(STATISTIC.format(kind="mean", query=bounds))
    found = checked(town, code=2)
    assert [refused.partition(" if ")[0] for refused in found["refused"]] == ["1 listed key would be named by rows"]
    assert (found["below"], found["above"]) == (1, 3)  # of rows of the listed groups
    assert found["keys"]["alike"] == {"upper and lower case": ["north"]}
    assert (found["keys"]["named"], found["keys"]["unlisted"]) == (1, 1)
    assert found["looks"][0] == {
        "window": None, "counted": 30, "not_counted": {"filtered": 2, "unknown_group": 30}, "over_bound": "",
        "stored": False, "stand_ins": 0,
    }  # fmt: skip
    assert found["people"] == {"ids": 60, "rows": 60, "most": 1, "next": 1}
    assert found["times"] is None
    _, out, _ = town.run("check", town.folder / "spec.toml")
    assert "1 below and 3 above, of 30 numbers" in out
    pd.concat([table, table[:4], filtered]).to_csv(town.folder / "people.csv", index=False)
    _, refused = checked(town, code=2)["refused"]
    assert refused.startswith("2 people have more than one row")


def test_numbers_of_every_kind_of_column_are_compared_with_the_bounds(town: Town) -> None:
    for kind in ("int64", "float32", "float64", "uint8"):
        table = pd.DataFrame({"who": ["a", "b", "c"], "age": pd.Series([1, 2, 9], dtype=kind), "state": "in"})
        table.to_parquet(town.folder / "people.parquet")
        text = STATISTIC.format(kind="sum", query='column = "age"\nlower = 2\nupper = 8').replace(".csv", ".parquet")
        (town.folder / "spec.toml").write_text(text)
        found = checked(town)
        assert (found["below"], found["above"], found["keys"]) == (1, 1, None), kind


def test_of_several_rows_the_sums_are_compared_and_bounds_that_most_are_beyond_are_doubted(town: Town) -> None:
    table = pd.DataFrame({"who": list("aabbcd"), "age": [6, 6, 3, 3, 9, 2], "state": "in", "day": "2026-01-01"})
    late = pd.DataFrame({"who": ["e"], "age": [99], "state": ["in"], "day": ["2026-02-01"]})
    pd.concat([table, late]).to_csv(town.folder / "people.csv", index=False)
    window = "[window]\nstart = 2026-01-01\nend = 2026-01-02\n[protect]"
    for upper, beyond in ((10, 1), (1, 4)):
        query = f'column = "age"\ncombine = "sum"\nlower = 0\nupper = {upper}'
        text = STATISTIC.format(kind="sum", query=query).replace("[protect]", window)
        (town.folder / "spec.toml").write_text(text.replace('person = "who"', 'person = "who"\ntime = "day"'))
        found = checked(town, code=2 if beyond > 3 else 0)
        assert (found["below"], found["above"]) == (0, beyond)
        told = " ".join(town.run("check", town.folder / "spec.toml")[1].split())
        assert f"{beyond} above, of 4 sums of people" in told
        # at 10 the sum of a's two numbers is beyond, and neither of them; at 1 it could be either: both are moved to bounds
        assert "by a number in them: a number, and a sum, counts as the bound that it is beyond" in told
    assert [refused.partition(":")[0] for refused in found["refused"]] == ["The bounds lower and upper"]
    code, _, err = town.run("release", town.folder / "spec.toml", "--out", town.out)
    assert (code, "0 below and 4 above" in err, town.out.exists()) == (2, True, False)
    assert town.run("release", town.folder / "spec.toml", "--out", town.out, "--if-doubtful", "publish")[0] == 0


def test_visits_to_a_place_that_is_spelt_in_two_ways_stop_a_release(town: Town) -> None:
    visits = pd.read_parquet(town.folder / "visits.parquet")
    other = visits[visits.venue.isin(["v3", "v4"])].assign(venue=lambda rows: rows.venue.map({"v3": "v3 ", "v4": "V4"}))
    pd.concat([visits, other]).to_parquet(town.folder / "visits.parquet")
    found = checked(town, code=2)
    assert (found["keys"]["alike"], found["keys"]["unlisted"]) == ({}, 2)
    assert found["keys"]["split"] == {"spaces": ["v3"], "upper and lower case": ["v4"]}
    assert "spaces ('v3')" in found["refused"][0]
    assert "1 would match more rows but for spaces: 'v3'" in " ".join(
        town.run("check", town.folder / "spec.toml")[1].split()
    )
    code, _, err = town.run("release", town.folder / "spec.toml", "--out", town.out)
    assert (code, "2 listed keys would be named by more rows" in err, town.out.exists()) == (2, True, False)


def test_a_place_that_is_spelt_otherwise_outside_the_window_is_told_and_stops_neither_a_look_nor_a_release(
    town: Town,
) -> None:
    visits = pd.read_parquet(town.folder / "visits.parquet")
    late = visits[visits.venue == "v3"].assign(
        venue="v3 ", at=lambda rows: pd.to_datetime(rows["at"]) + pd.Timedelta(days=1)
    )
    pd.concat([visits, late]).to_parquet(town.folder / "visits.parquet")
    found = checked(town)
    assert found["keys"]["split"] == {"spaces": ["v3"]}
    assert town.run("release", town.folder / "spec.toml", "--out", town.out)[0] == 0


ASKED: Mapping[str, Callable[[Any], Any]] = {
    **QUESTIONS,
    "percentile by rank": lambda notion: lw.plan(
        lw.statistic(lw.records("p.csv", person="who"), "median", column="age", lower=0, upper=9),
        notion,
        mechanism="rank",
    ),
    "everyone": lambda notion: lw.plan(
        QUESTIONS["two places"](notion).query, notion, lw.Decide(safe_at_most=2, about="everyone")
    ),
}


class Three:
    """A public list of three keys."""

    def __len__(self) -> int:
        return 3

    def to_arrow(self) -> Any:
        import pyarrow as pa

        return pa.table({"place": ["a", "b", "c"]})


@pytest.mark.parametrize("name", ASKED)
def test_every_kind_of_question_has_a_stand_in_answer(name: str) -> None:
    made: list[Any] = []
    for notion in (lw.AdditionOnly("1"), lw.UnboundedDP("1"), lw.BoundedDP("1")):
        try:
            made.append(ASKED[name](notion))
        except LeewardError:
            continue
    assert made
    for plan in made:
        from leeward.engine import read_keys

        keys: Any = Three() if plan.counted.noun == "place" else read_keys(plan.counted)
        assert 1 <= len(_stand_in(plan.listing(len(keys)), keys)) <= 6
