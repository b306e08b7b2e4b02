"""`leeward release` of groups that nobody has listed: from a spec to what is published, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.ledger.single import peek
from tests.session.conftest import Town

from leeward.errors import LeewardError, NotPrivateError
from leeward.ledger import Ledger
from leeward.spec import check_spec

SPEC = """
[data]
table = "people.parquet"
person = "who"

[query]
kind = "unlisted groups"
by = "town"
most_groups = 50

[protect]
notion = "addition-only"
epsilon = "2"
delta = "1e-6"
groups_per_person = 2
if_more = "first"

[budget]
ledger = "sqlite:///budget.db"
dataset = "towns"
cap = "9"
cap_delta = "1e-5"
"""

HIDDEN = "Kleinkleckersdorf"
HELD = {"Aarau": 400, "Bern": 900, "Chur": 60, HIDDEN: 1}


@pytest.fixture
def towns(town: Town) -> Town:
    rows = [(f"p{name}{i}", name) for name, n in HELD.items() for i in range(n)]
    rows += [(f"pBern{i}", "Zug") for i in range(300)] + [
        ("pBern0", "Aarau")
    ]  # who is in three counts in the first two
    pd.DataFrame(rows, columns=["who", "town"]).to_parquet(town.folder / "people.parquet")
    return town


def write(town: Town, *changes: tuple[str, str]) -> Path:
    text = SPEC
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = town.folder / "spec.toml"
    path.write_text(text, "utf-8")
    return path


def released(town: Town, *changes: tuple[str, str]) -> tuple[dict[str, Any], dict[str, int]]:
    code, out, err = town.run("release", write(town, *changes), "--out", town.out, "--yes", "--json", "--quiet")
    assert code == 0, err
    shown = pq.read_table(town.out / "answers.parquet").to_pylist()
    return json.loads(out), {row["group"]: row["count"] for row in shown}


def test_large_groups_are_shown_and_of_small_ones_nothing_is_said(towns: Town) -> None:
    told, shown = released(towns)
    assert [*shown] == sorted(shown, key=lambda name: (-shown[name], name)) == ["Bern", "Aarau", "Zug", "Chur"]
    statement = json.loads((towns.out / "release.json").read_text("utf-8"))
    reach = statement["mechanism"]["reach"]
    exactly = HELD | {"Zug": 299, "Aarau": 401}
    assert all(exactly[name] <= count <= exactly[name] + reach for name, count in shown.items())
    (one,) = told["releases"]
    assert one["answers"] == [{"group": name, "count": count} for name, count in shown.items()]
    assert (one["charged"], one["charged_delta"]) == ("2", "1/1000000")
    assert (told["budget"]["spent"], told["budget"]["spent_delta"]) == ("2", "1/1000000")
    for file in towns.out.iterdir():
        assert HIDDEN not in file.read_text("utf-8", errors="replace"), "but for a chance of one in a million"
    assert (statement["delta"]["promised"], statement["notion"]["epsilon"]) == ("1/1000000", "2")
    assert float(statement["delta"]["needed"]) <= 1e-6
    assert "+ δ" in statement["notion"]["definition"]


def test_asking_again_is_free_and_gives_the_same(towns: Town) -> None:
    _, first = released(towns)
    told, again = released(towns)
    (one,) = told["releases"]
    assert (again, one["charged"], one["charged_delta"]) == (first, "0", "0")
    ledger = Ledger(f"sqlite:///{towns.folder / 'budget.db'}")
    ledger.check()
    assert [each.kind for each in ledger.history()] == ["opened", "reserved", "released"]


def test_what_is_stored_has_one_size(towns: Town) -> None:
    """Whatever the data: here no group, where there were five."""
    sizes = set()
    for rows in ([], [("a", "Bern")] * 3, [(f"p{i}", f"town {i % 40}") for i in range(9000)]):
        pd.DataFrame(rows, columns=["who", "town"], dtype="string").to_parquet(towns.folder / "people.parquet")
        name = f"of {len(rows)}"
        code, _, err = towns.run(
            *("release", write(towns, ('dataset = "towns"', f'dataset = "{name}"')), "--out", towns.out),
            *("--yes", "--quiet", "--new-budget", "--if-doubtful", "publish"),
        )
        assert code == 0, err
        ledger = Ledger(f"sqlite:///{towns.folder / 'budget.db'}")
        key = next(each.key for each in ledger.history(name) if each.key)
        answer = peek(ledger, name, "1", key)
        assert answer is not None
        sizes.add(len(answer.payload))
    assert sizes == {8 * (1 + 50 * 10)}


def test_a_dry_run_says_the_odds_and_charges_nothing(towns: Town) -> None:
    code, out, _ = towns.run("release", write(towns), "--dry-run")
    assert code == 0
    told = " ".join(out.split())
    assert "it reaches the threshold with probability" in told
    assert "Of the groups that reach the threshold, 50 are shown at most." in told
    assert "Price: 2 in all, with δ = 1/1000000. Nothing was charged and no data was read." in told
    assert not (towns.folder / "budget.db").exists()
    code, out, _ = towns.run("release", write(towns), "--dry-run", "--json")
    (statement,) = json.loads(out)
    odds = statement["accuracy"]["odds"]
    assert [each["people"] for each in odds][:3] == [1, 2, 5]
    assert (float(odds[0]["chance"]), odds[-1]["chance"]) == (pytest.approx(1e-6 / 2, rel=0.7), "1")


def test_check_says_what_would_count_and_shows_made_up_groups(towns: Town) -> None:
    code, out, _ = towns.run("check", write(towns))
    assert code == 0
    told = " ".join(out.split())
    assert "1,662 rows" in told
    assert "1 person is in more than 2 groups: only the first 2 by name count" in told
    assert "at most 50 rows" in told
    assert "a made-up group 1" in told
    assert "2 with δ = 1/1000000 for 1 release" in told
    assert HIDDEN not in out
    code, out, _ = towns.run("check", write(towns), "--json")
    assert json.loads(out)["budget"]["price_delta"] == "1/1000000"


def test_the_report_says_the_odds_and_escapes_names(towns: Town) -> None:
    table = pd.read_parquet(towns.folder / "people.parquet")
    table["town"] = table["town"].replace("Bern", "<script>alert(1)</script>")
    table.to_parquet(towns.folder / "people.parquet")
    released(towns)
    page = (towns.out / "report.html").read_text("utf-8")
    assert "4 groups by ‘town’ are shown" in page
    assert "<script>alert(1)" not in page
    assert "it reaches the threshold with probability" in page
    assert "not even how many there are" in page


def test_a_name_from_the_data_cannot_write_lines_of_its_own(towns: Town) -> None:
    table = pd.read_parquet(towns.folder / "people.parquet")
    table["town"] = table["town"].replace("Bern", "\x1b[2JBern\nCharged 0.")
    table.to_parquet(towns.folder / "people.parquet")
    code, out, _ = towns.run("release", write(towns), "--out", towns.out, "--yes")
    assert code == 0
    assert "\x1b" not in out
    assert not any(line.startswith("Charged 0.") for line in out.splitlines())
    assert " Charged 2 with δ = 1/1000000." in " ".join(out.split())


REFUSED: list[tuple[list[tuple[str, str]], str]] = [
    ([('delta = "1e-6"\n', "")], "without delta"),
    ([('"addition-only"', '"removal-only"')], "Leave delta out"),
    ([('"addition-only"', '"presence"')], "withdraw, insert or replace one person"),
    ([('"addition-only"', '"manhattan"')], "withdraw, insert or replace one person"),
    ([('"addition-only"', '"blowfish"')], "withdraw, insert or replace one person"),
    ([('"addition-only"', '"graded"'), ('epsilon = "2"', 'presence = "1"\nabsence = "2"')], "all at one ε"),
    ([('"1e-6"', '"1"')], "above 0 and below 1"),
    ([('"1e-6"', '"0"')], "above 0 and below 1"),
    ([('delta = "1e-6"', "delta = 1e-6")], "delta"),
    ([("\ncap_delta", "\n#cap_delta")], "needs δ = 1/1000000, and 0 is left"),
    ([('cap_delta = "1e-5"', 'cap_delta = "1e-7"')], "1/10000000 is left"),
    ([('cap_delta = "1e-5"', 'cap_delta = "2"')], "cap_delta"),
    ([('by = "town"', 'by = { town = ["Bern"] }')], "without a list"),
    (
        [('kind = "unlisted groups"', 'kind = "histogram"'), ("most_groups = 50\n", ""), ('if_more = "first"\n', "")],
        "[protect] delta means nothing",
    ),
    ([('by = "town"', 'by = "town"\ncolumn = "age"')], "[query] column means nothing"),
    ([('by = "town"', 'by = "town"\nothers = "x"')], "[query] others means nothing"),
    ([('by = "town"', 'by = "city"')], "city"),
    ([("most_groups = 50", "most_groups = 200000")], "100,000 are the most"),
    ([("groups_per_person = 2", "groups_per_person = 0")], "groups_per_person"),
    ([('if_more = "first"', 'if_more = "latest"')], "without a window"),
    ([('if_more = "first"', "places_per_person = 1")], "places_per_person"),
    ([('person = "who"', 'person = "each row"')], "a row names one group"),
    ([("[budget]", "[decide]\nsafe_at_most = 2\n[budget]")], "[decide]"),
    ([("[budget]", '[budget]\nnotion = "removal-only"')], "removal-only"),
    (
        [('"addition-only"', '"dp"'), ("[budget]", '[budget]\nnotion = "add-remove-replace-dp"')],
        "a step of the budget's notion may be several",
    ),
    ([('"2"', '"1e-12"'), ('"1e-6"', '"1e-11"')], "more than live on Earth"),
    ([('"2"', '"1e-20"'), ('"1e-6"', '"1e-13"')], "Noise"),
]


@pytest.mark.parametrize(("changes", "said"), REFUSED, ids=[f"{i} {said}" for i, (_, said) in enumerate(REFUSED)])
def test_what_cannot_be_is_refused_in_one_line_and_charged_nothing(
    towns: Town, changes: list[tuple[str, str]], said: str
) -> None:
    code, out, err = towns.run("release", write(towns, *changes), "--out", towns.out, "--yes")
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.strip().splitlines()) == 1
    assert not towns.out.exists()


def test_who_is_in_too_many_groups_refuses_the_release_and_gives_both_back(towns: Town) -> None:
    code, _, err = towns.run("release", write(towns, ('if_more = "first"\n', "")), "--out", towns.out, "--yes")
    assert code == 2
    assert "1 person is in more groups than groups_per_person allows" in err
    assert "do not publish" in err
    assert Ledger(f"sqlite:///{towns.folder / 'budget.db'}").show() == []


@pytest.mark.parametrize("notion", ["dp", "bounded-dp", "add-remove-replace-dp"])
def test_two_sided_notions_cut_noise_both_ways(towns: Town, notion: str) -> None:
    _, shown = released(towns, ('"addition-only"', f'"{notion}"'), ('"2"', '"4"'))
    assert {"Bern", "Aarau", "Zug"} <= {*shown}


def test_removal_only_needs_no_delta_and_no_cap_on_it(towns: Town) -> None:
    told, shown = released(
        *(towns, ('"addition-only"', '"removal-only"'), ('delta = "1e-6"\n', ""), ('\ncap_delta = "1e-5"', "")),
    )
    assert {"Bern", "Aarau", "Zug", "Chur"} <= {*shown}
    assert all(count <= (HELD | {"Zug": 299, "Aarau": 401})[name] for name, count in shown.items())
    assert told["releases"][0]["charged"] == "2"
    assert told["budget"]["cap_delta"] == "0"


def test_a_window_counts_its_rows_and_times_decide_which_groups_of_a_person_count(towns: Town) -> None:
    rows = [
        (f"p{i}", town, f"2026-01-01T{hour}:30:00")
        for i in range(200)
        for town, hour in (("A", 12), ("Z", 14), ("N", 18))
    ]
    table = pd.DataFrame(rows, columns=["who", "town", "at"])
    table["at"] = pd.to_datetime(table["at"])
    table.to_parquet(towns.folder / "people.parquet")
    window = ("[protect]", "[window]\nstart = 2026-01-01T12:00:00\nend = 2026-01-01T16:00:00\n[protect]")
    one = ("groups_per_person = 2", "groups_per_person = 1")
    timed = ('person = "who"', 'person = "who"\ntime = "at"')
    for rule, kept in (("latest", "Z"), ("earliest", "A"), ("first", "A")):
        _, shown = released(towns, window, one, timed, ('"first"', f'"{rule}"'))
        assert [*shown] == [kept], rule


def test_two_windows_are_priced_together(towns: Town) -> None:
    table = pd.read_parquet(towns.folder / "people.parquet")
    table["at"] = [pd.Timestamp(f"2026-01-01T{12 + i % 2}:30") for i in range(len(table))]
    table.to_parquet(towns.folder / "people.parquet")
    window = ("[protect]", '[window]\nstart = 2026-01-01T12:00:00\nend = 2026-01-01T14:00:00\nevery = "1h"\n[protect]')
    timed = ('person = "who"', 'person = "who"\ntime = "at"')
    code, out, err = towns.run("release", write(towns, window, timed), "--out", towns.out, "--yes")
    assert code == 0, err
    assert "a total price of at most 4, with δ = 1/500000" in " ".join(out.split())
    few = ('cap_delta = "1e-5"', 'cap_delta = "1.5e-6"'), ('dataset = "towns"', 'dataset = "others"')
    code, _, err = towns.run("release", write(towns, window, timed, *few), "--out", towns.out, "--yes", "--new-budget")
    assert code == 2
    assert "2 windows at a total price of 4 with δ = 1/500000" in err


def test_beside_other_questions_it_has_its_own_delta_and_is_priced_with_them(towns: Town) -> None:
    several = SPEC.replace('delta = "1e-6"\ngroups_per_person = 2\nif_more = "first"\n', "")
    own = 'name = "which"\ndelta = "1e-6"\ngroups_per_person = 2\nif_more = "first"'
    several = several.replace("[query]\n", f"[[query]]\n{own}\n")
    known = '[[query]]\nname = "known"\nkind = "histogram"\nby = { town = ["Bern"] }\ncombine = "min"\n[protect]'
    several = several.replace("[protect]", known)
    path = towns.folder / "several.toml"
    path.write_text(several, "utf-8")
    code, out, err = towns.run("release", path, "--dry-run")
    assert code == 0, err
    assert "δ = 1/1000000" in " ".join(out.split())
    code, out, err = towns.run("release", path, "--out", towns.out, "--yes")
    assert code == 0, err
    assert [*pq.read_table(towns.out / "which" / "answers.parquet")["group"].to_pylist()][:2] == ["Bern", "Aarau"]
    (account,) = Ledger(f"sqlite:///{towns.folder / 'budget.db'}").show()
    assert (account.spent, str(account.spent_delta)) == (4, "1/1000000")
    path.write_text(several.replace('"1e-6"', '"1e-4"').replace('"towns"', '"others"'), "utf-8")
    code, _, err = towns.run("release", path, "--out", towns.out, "--yes", "--new-budget")
    assert code == 2
    assert "1/100000" in err


def test_whole_numbers_stay_numbers(towns: Town) -> None:
    rows = [(f"p{i}", 7 if i % 3 else -12) for i in range(600)]
    pd.DataFrame(rows, columns=["who", "town"]).to_parquet(towns.folder / "people.parquet")
    _, shown = released(towns)
    assert [*shown] == [7, -12]


def test_a_budget_in_another_notion_pays_where_each_of_its_steps_is_one_of_the_release(towns: Town) -> None:
    told, _ = released(towns, ('"addition-only"', '"dp"'), ("[budget]", '[budget]\nnotion = "addition-only"'))
    assert (told["budget"]["notion"], told["budget"]["spent_delta"]) == ("addition-only/person", "1/1000000")


def test_a_spec_of_another_kind_says_how_groups_are_asked_that_are_not_listed() -> None:
    given = {
        "data": {"table": "t.csv", "person": "who"},
        "query": {"kind": "histogram", "by": "town"},
        "protect": {"notion": "dp", "epsilon": "1"},
        "budget": {"ledger": "b.db", "dataset": "d", "cap": "1"},
    }
    with pytest.raises(LeewardError, match='kind = "unlisted groups"'):
        check_spec(given)
    assert issubclass(NotPrivateError, LeewardError)


def test_a_plan_sets_other_notions_beside_it_and_charges_nothing(towns: Town) -> None:
    code, out, err = towns.run("plan", write(towns), "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["asked"]["kind"], told["asked"]["answers"], told["asked"]["delta_left"]) == (
        "unlisted groups",
        50,
        "1/100000",
    )
    first = told["options"][0]
    assert (first["notion"]["name"], first["mechanism"], first["delta"]) == ("addition-only", "threshold", "1/1000000")
    assert first["releases_left"] == 4  # ε pays for four, δ for ten
    code, out, err = towns.run("plan", write(towns))
    assert (code, err) == (0, "")
    assert "not low" in out
    assert "groups by 'town' that nobody has listed" in out
    assert not (towns.folder / "budget.db").exists()
    code, out, err = towns.run("plan", write(towns), "--counts", "0:3")
    assert (code, out) == (2, "")
    assert "--counts where nothing is decided" in err
