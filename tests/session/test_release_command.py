"""``leeward release`` as its user runs it: what it writes, what it refuses, what it charges."""

from __future__ import annotations

import importlib
import json
import re
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from tests.session.conftest import Town


def test_a_release_writes_answers_statement_and_report(town: Town) -> None:
    code, out, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 0
    assert sorted(p.name for p in town.out.iterdir()) == [
        *("answers.csv", "answers.parquet", "leeward-files.json", "release.json", "report.html")
    ]
    answers = town.answers()
    assert list(answers.columns) == ["place", "name", "state", "count"]
    assert list(answers["place"]) == list(town.counts)  # exactly the public list, in its order
    assert set(answers["state"]) <= {"safe", "obscure"}
    statement = json.loads((town.out / "release.json").read_text())
    assert statement["notion"]["name"] == "addition-only"
    assert (statement["price"], statement["mechanism"]["rate_up"], statement["mechanism"]["rate_down"]) == (
        "1",
        "1",
        "inf",
    )
    assert "Charged 1." in out
    assert "not counted: 1 row outside the window" in err


def test_safe_is_never_said_of_an_unsafe_place_and_counts_never_fall_short(town: Town) -> None:
    for version in range(5):
        town.run("release", town.spec(('cap = "5"', f'cap = "5"\nversion = "{version}"')), "--out", town.out)
        answers = town.answers().set_index("place")
        for place, true in town.counts.items():
            assert answers.loc[place, "count"] >= true
            assert answers.loc[place, "state"] == ("safe" if answers.loc[place, "count"] <= 2 else "obscure")


def test_the_same_question_again_is_free_and_has_the_same_answer(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    first = town.answers()
    changes = [('what = "counts"', 'what = "counts"'), ("safe_at_most = 2", "safe_at_most = 4")]
    for old, new in changes:  # thresholds are post-processing of the stored integers
        code, out, _ = town.run("release", town.spec((old, new)), "--out", town.out)
        assert code == 0
        assert "charged nothing" in out
        assert list(town.answers()["count"]) == list(first["count"])
    town.run("release", town.spec(('what = "counts"', 'what = "decisions"')), "--out", town.out)
    assert "count" not in town.answers().columns
    assert _spent(town) == "1"


def test_other_questions_are_charged_and_draw_new_noise(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    first = town.answers()
    for change in [
        ('epsilon = "1"', 'epsilon = "1/2"'),
        ("T19:00:00", "T19:30:00"),
        ('if_more = "latest"', 'if_more = "earliest"'),
    ]:
        code, out, _ = town.run("release", town.spec(change), "--out", town.out)
        assert code == 0
        assert "Charged" in out
        assert list(town.answers()["count"]) != list(first["count"])  # 40 draws equal by chance: below 0.63^40 < 1e-8
    assert _spent(town) == "7/2"


def test_the_statement_names_the_zone_in_which_a_window_is_read(town: Town) -> None:
    visits = pd.read_parquet(town.folder / "visits.parquet")
    visits["at"] = visits["at"].astype("datetime64[s]").astype("int64")
    visits.to_parquet(town.folder / "visits.parquet")
    named = ('time = "at"', 'time = "at"\ntime_unit = "s"')
    for changes, zone in (([named], "UTC"), ([(named[0], named[1] + '\ntimezone = "Asia/Tokyo"')], "Asia/Tokyo")):
        # read in Tokyo's time, nobody is in the window
        assert town.run("release", town.spec(*changes), "--out", town.out, "--if-doubtful", "publish")[0] == 0
        query = json.loads((town.out / "release.json").read_text())["query"]
        assert query["text"].endswith(f"2026-01-01 19:00 ({zone})")
        assert query["window"]["timezone"] == zone
        page = (town.out / "report.html").read_text()
        assert f"2026-01-01 19:00:00 ({zone})" in page.replace("<time>", "").replace("</time>", "")


def test_a_summary_counts_only_what_could_be_said(town: Town) -> None:
    asked = {
        "safe_at_most = 2": {"safe", "obscure"},
        'dangerous_at_least = 3\nerror_at_most = "0.1"': {"obscure", "dangerous"},
    }
    for decide, states in asked.items():
        spec = town.spec(("safe_at_most = 2", decide))
        code, out, _ = town.run("release", spec, "--out", town.out, "--json")
        assert code == 0
        (summary,) = json.loads(out)["releases"]
        assert {state for state in ("safe", "obscure", "dangerous") if summary[state] is not None} == states
        assert sum(summary[state] for state in states) == summary["places"]


def test_an_address_is_refused_as_it_was_written(town: Town) -> None:
    spec = town.spec(('"visits.parquet"', '"https://example.org/visits.parquet"'))
    code, _, err = town.run("release", spec, "--out", town.out)
    assert code == 2
    assert "'https://example.org/visits.parquet': only files on this machine" in err


def test_the_history_is_never_cut(town: Town) -> None:
    label = "the-first-content-of-the-year-that-was-cleaned-by-hand"
    town.run("release", town.spec(('cap = "5"', f'cap = "5"\nversion = "{label}"')), "--out", town.out)
    out = town.run("budget", "history", "--ledger", f"sqlite:///{town.folder}/budget.db")[1]
    column = out.splitlines()[0].index("version"), out.splitlines()[0].index("kind")
    assert "…" not in out
    assert label in "".join(line[slice(*column)].strip() for line in out.splitlines()[1:])


def test_a_release_over_the_cap_is_refused_and_leaves_nothing(town: Town) -> None:
    code, _, err = town.run("release", town.spec(('epsilon = "1"', 'epsilon = "5.0001"')), "--out", town.out)
    assert code == 2
    assert "5" in err
    assert not town.out.exists()
    assert _spent(town) in {None, "0"}


def test_presence_with_truncation_is_refused_and_names_the_way(town: Town) -> None:
    code, _, err = town.run("release", town.spec(('"addition-only"', '"presence"')), "--out", town.out)
    assert code == 2
    assert "not monotone" in err
    assert "addition-only" in err
    assert not town.out.exists()
    assert not (town.folder / "budget.db").exists()  # refused before the ledger was touched


def test_people_over_the_bound_are_counted_for_the_curator_only(town: Town) -> None:
    visits = pd.read_parquet(town.folder / "visits.parquet")
    extra = visits[visits["venue"].isin(["v3", "v4", "v5"])].assign(venue="v0")
    pd.concat([visits, extra]).to_parquet(town.folder / "visits.parquet")
    spec = town.spec(('if_more = "latest"', 'if_more = "refuse"'), ('"addition-only"', '"presence"'))
    code, out, err = town.run("release", spec, "--out", town.out)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1
    assert "12 people" in err
    assert "do not publish" in err
    assert not town.out.exists()
    assert _spent(town) in {None, "0"}


def test_presence_with_a_true_bound_states_the_assumption_and_the_cover(town: Town) -> None:
    spec = town.spec(('if_more = "latest"', 'if_more = "refuse"'), ('"addition-only"', '"presence"'))
    assert town.run("release", spec, "--out", town.out)[0] == 0
    statement = json.loads((town.out / "release.json").read_text())
    assert any("Nobody was at more than 1 listed place" in a and "not protected" in a for a in statement["assumptions"])
    assert "no listed place" in statement["notion"]["alternative"]


def test_addition_only_says_that_safe_is_relative_to_what_was_kept(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    statement = json.loads((town.out / "release.json").read_text())
    assert any("the answers are about these truncated counts" in line for line in statement["not_guaranteed"])


@pytest.mark.parametrize("notion", ["dp", "removal-only"])
def test_notions_that_can_err_need_an_error_and_state_it(town: Town, notion: str) -> None:
    change = ('"addition-only"', f'"{notion}"')
    assert town.run("release", town.spec(change), "--out", town.out)[0] == 2
    with_error = ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1e-2"')
    code, _, err = town.run("release", town.spec(change, with_error), "--out", town.out)
    assert code == 0, err
    decision = json.loads((town.out / "release.json").read_text())["decision"]
    assert decision["never_wrong"] is False
    assert decision["error_at_most"] == "1/100"
    assert decision["error_at_most_over_all_places"] == "2/5"
    assert decision["threshold"] < 2
    unsafe = next(float(p["safe"]) for p in decision["curve"] if p["count"] == 3)
    assert 0 < unsafe <= 0.01


def test_an_error_is_refused_where_safe_is_never_wrong(town: Town) -> None:
    spec = town.spec(("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1e-2"'))
    code, _, err = town.run("release", spec, "--out", town.out)
    assert code == 2
    assert "never wrong" in err


def test_a_release_that_would_say_nothing_is_refused_with_the_figure(town: Town) -> None:
    changes = [('"addition-only"', '"dp"'), ('epsilon = "1"', 'epsilon = "1/10"')]
    spec = town.spec(*changes, ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1e-4"'))
    code, _, err = town.run("release", spec, "--out", town.out)
    assert code == 2
    assert "0.00013" in err
    assert "useful_from" in err


@pytest.mark.parametrize("notion", ["dp", "removal-only"])
def test_sanitized_needs_counts_that_only_fall(town: Town, notion: str) -> None:
    changes = [('"addition-only"', f'"{notion}"'), ('what = "counts"', 'mechanism = "sanitized"')]
    code, _, err = town.run("release", town.spec(*changes), "--out", town.out)
    assert code == 2
    assert "only fall" in err


def test_sanitized_answers_until_it_stops_and_is_private_without_a_bound(town: Town) -> None:
    changes = [('places_per_person = 1\nif_more = "latest"\n', ""), ('what = "counts"', "stop_after = 2")]
    spec = town.spec(*changes, ('"addition-only"', '"presence"'))
    assert town.run("release", spec, "--out", town.out)[0] == 0
    table = pq.read_table(town.out / "answers.parquet")
    assert table.column_names == ["place", "name", "state", "answered", "count"]
    answers = table.to_pandas()
    answered = answers["answered"].to_numpy()
    assert answered[0]
    assert (answered[:-1] >= answered[1:]).all()  # once it stopped, it stays stopped
    exceeding = answers[answers["count"].notna()]
    assert len(exceeding) == 2  # v3 to v6 exceed for sure, so both stops happen
    assert (exceeding["count"] > 2).all()
    assert set(answers.loc[~answers["answered"], "state"]) == {"obscure"}
    assert json.loads((town.out / "release.json").read_text())["price"] == "2"
    # thresholds stop the draw, so here another threshold is another question
    town.run(
        "release",
        town.spec(*changes, ('"addition-only"', '"presence"'), ("safe_at_most = 2", "safe_at_most = 3")),
        "-o",
        town.out,
    )
    assert _spent(town) == "4"


LOOKING = [
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', 'mechanism = "adaptive"\nstop_after = 3'),
    ('"addition-only"', '"presence"'),
]


def test_adaptive_answers_pay_less_for_crowds_and_say_at_which_look(town: Town) -> None:
    """Places v3 to v6 hold more than two people for sure; v2 is made a crowd that the first look sees."""
    visits, crowd = (
        pd.read_parquet(town.folder / "visits.parquet"),
        {"venue": "v2", "at": pd.Timestamp("2026-01-01T18:30")},
    )
    more = pd.DataFrame([{"user": f"c{i}", **crowd} for i in range(200)])
    pd.concat([visits, more]).to_parquet(town.folder / "visits.parquet")
    dry = town.run("release", town.spec(*LOOKING), "--dry-run", "--json")
    before = json.loads(dry[1])[0]["mechanism"]
    assert [look["price"] for look in before["looks"]] == ["1/2", "1"]
    assert [look["published_from"] for look in before["looks"]] == [6, 3]
    assert town.run("release", town.spec(*LOOKING), "--out", town.out)[0] == 0
    table = pq.read_table(town.out / "answers.parquet")
    assert table.column_names == ["place", "name", "state", "answered", "count", "look"]
    answers = table.to_pandas()
    answered = answers["answered"].to_numpy()
    assert (answered[:-1] >= answered[1:]).all()
    published = answers[answers["count"].notna()]
    spent = published["look"].map({1: 0.5, 2: 1.0}).cumsum().to_list()
    assert spent[-1] > 2 >= spent[-2]  # the last that is published leaves less than ε = 1 of 3
    assert spent[-1] <= 3
    assert (published["count"] >= published["look"].map({1: 6, 2: 3})).all()
    assert set(published["state"]) == {"obscure"}
    assert (published.loc[published["place"] == "v2", "look"] == 1).all()
    assert (published.loc[published["place"] == "v2", "count"] >= 200).all()
    assert set(answers.loc[answers["state"] == "safe", "place"]) <= {f"v{i}" for i in range(40) if i % 7 <= 2} - {"v2"}
    released = json.loads((town.out / "release.json").read_text())
    assert (released["price"], released["mechanism"]) == ("3", before)
    text = (town.out / "report.html").read_text()
    assert "3 to 5 answers that are not “safe”, by what they cost" in text
    assert re.search(r'<th scope="col"[^>]*>Look</th>', text)
    town.run("release", town.spec(*LOOKING), "-o", town.folder / "again")
    assert pq.read_table(town.folder / "again" / "answers.parquet").equals(table)
    assert _spent(town) == "3"


def test_a_monitor_does_not_take_the_adaptive_mechanism(town: Town) -> None:
    code, _, err = town.run("monitor", town.spec(*LOOKING, ("19:00:00", '20:00:00\nevery = "1h"')), "-o", town.out)
    assert code == 2
    assert "A monitor with the adaptive mechanism" in err


def test_dry_run_touches_no_budget_and_no_data(town: Town) -> None:
    (town.folder / "visits.parquet").unlink()
    code, out, _ = town.run("release", town.spec(), "--dry-run")
    assert code == 0
    assert "0.950213" in out
    assert "Nothing was charged" in out
    assert not (town.folder / "budget.db").exists()
    changes = [('places_per_person = 1\nif_more = "latest"\n', ""), ('what = "counts"', "stop_after = 1")]
    _, out, _ = town.run("release", town.spec(*changes), "--dry-run", "--json")
    expected = json.loads(out)[0]["mechanism"]["expected_answered_if_empty"]
    safe = 1 - 2.718281828459045**-3
    assert expected == pytest.approx(sum(safe**i for i in range(40)), rel=1e-3)  # reached: all before it were safe


def test_changed_content_needs_a_new_version(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    visits = pd.read_parquet(town.folder / "visits.parquet")
    visits.sample(frac=1, random_state=1).to_parquet(town.folder / "visits.parquet")  # another order: the same content
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    visits.iloc[1:].to_parquet(town.folder / "visits.parquet")
    code, _, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 2
    assert "version" in err
    assert town.run("release", town.spec(('cap = "5"', 'cap = "5"\nversion = "2"')), "--out", town.out)[0] == 0
    assert _spent(town) == "2"


def test_another_cap_or_notion_in_the_same_budget_is_refused(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    code, _, err = town.run("release", town.spec(('cap = "5"', 'cap = "6"')), "--out", town.out)
    assert code == 2
    assert "set-cap" in err
    removal = (('"addition-only"', '"removal-only"'), ("safe_at_most = 2", "dangerous_at_least = 2"))
    code, _, err = town.run("release", town.spec(*removal), "--out", town.out)
    assert code == 2
    assert (
        "promises nothing there" in err
    )  # a budget's promise that somebody may be taken out, which removal-only lacks
    assert town.run("budget", "set-cap", "--ledger", town.folder / "budget.db", "town", "6")[0] == 0
    assert town.run("release", town.spec(('cap = "5"', 'cap = "6"')), "--out", town.out)[0] == 0


def test_several_windows_are_several_releases_with_their_total_price_first(town: Town) -> None:
    windows = (
        "[window]\nstart = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00\n",
        "[window]\nwindows = [{ start = 2026-01-01T18:00:00, end = 2026-01-01T19:00:00 },"
        " { start = 2026-01-01T19:00:00, end = 2026-01-01T20:00:00 }]\n",
    )
    code, out, _ = town.run("release", town.spec(windows), "--out", town.out)
    assert code == 0
    assert out.splitlines()[0] == "2 windows at 1 each: a total price of at most 2."
    assert sorted(p.name for p in town.out.iterdir()) == [
        *("answers.csv", "answers.parquet", "leeward-files.json", "release.json", "report.html")
    ]
    answers = pq.read_table(town.out / "answers.parquet")
    assert answers.column_names[:3] == ["window_start", "window_end", "place"]
    assert len(set(answers["window_start"].to_pylist())) == 2
    assert _spent(town) == "2"
    town.folder.joinpath("budget.db").unlink()
    town.folder.joinpath("budget.db.mark").unlink()
    code, _, err = town.run("release", town.spec(windows, ('cap = "5"', 'cap = "3/2"')), "--out", town.folder / "other")
    assert code == 2  # the second would not fit, so the first is not made either
    assert "2 windows at a total price of 2" in err
    assert not (town.folder / "other").exists()
    assert _spent(town) in {None, "0"}


def test_a_directory_with_something_else_in_it_is_refused_before_anything_is_charged(town: Town) -> None:
    town.out.mkdir()
    (town.out / "thesis.tex").write_text("years of work")
    assert town.run("release", town.spec(), "--out", town.out)[0] == 2
    assert (town.out / "thesis.tex").read_text() == "years of work"
    assert not (town.folder / "budget.db").exists()


@pytest.mark.parametrize("where", ["the folder", "the one that it is in", "that of temporary files"])
def test_a_place_whose_name_is_not_utf_8_is_refused_before_anything_is_charged(
    where: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a folder that an older system named in Latin-1: those who write tables cannot be told of it."""
    odd = town.folder / "caf\udce9"
    odd.mkdir()
    out = {"the folder": odd, "the one that it is in": odd / "out"}.get(where, town.out)
    if out == town.out:
        monkeypatch.setattr(tempfile, "tempdir", str(odd))
    code, _, err = town.run("release", town.spec(), "--out", out)
    assert (code, "its name is not UTF-8" in err) == (2, True), err
    assert list(odd.iterdir()) == []
    assert _spent(town) is None


def test_nothing_written_depends_on_the_data_but_through_the_mechanism(town: Town) -> None:
    """Two different tables under two versions: the statements differ in entry id and version only."""
    statements = []
    for version in ("a", "b"):
        town.run("release", town.spec(('cap = "5"', f'cap = "5"\nversion = "{version}"')), "--out", town.out)
        statements.append(json.loads((town.out / "release.json").read_text()))
        schema = pq.read_table(town.out / "answers.parquet").schema
        pd.read_parquet(town.folder / "visits.parquet").iloc[:7].to_parquet(town.folder / "visits.parquet")
    differing = {key for key in statements[0] if statements[0][key] != statements[1][key]}
    assert differing == {"entry", "version"}
    assert schema.equals(pq.read_table(town.out / "answers.parquet").schema)


def test_json_and_quiet(town: Town) -> None:
    code, out, err = town.run("release", town.spec(), "--out", town.out, "--json")
    result = json.loads(out)
    assert (code, result["releases"][0]["price"], result["budget"]["left"]) == (0, "1", "4")
    assert result["releases"][0]["safe"] + result["releases"][0]["obscure"] == 40
    code, out, err = town.run("release", town.spec(), "--out", town.out, "--quiet")
    assert (code, out, err) == (0, "", "")


def test_budget_show_and_history(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    ledger = f"sqlite:///{town.folder / 'budget.db'}"
    shown = json.loads(town.run("budget", "show", "--ledger", ledger, "--json")[1])["budgets"]
    assert [(a["dataset"], a["cap"], a["spent"], a["left"]) for a in shown] == [("town", "5", "1", "4")]
    kinds = [e["kind"] for e in json.loads(town.run("budget", "history", "--ledger", ledger, "--json")[1])["entries"]]
    assert kinds == ["opened", "reserved", "released"]
    assert "town" in town.run("budget", "show", "--ledger", ledger)[1]


def test_an_unexpected_error_shows_no_data(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("p-v3-0 was at v3")

    monkeypatch.setattr(importlib.import_module("leeward.planner._plan").Plan, "answers", broken)
    code, out, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 1
    assert "v3" not in out + err
    assert not town.out.exists()


def _spent(town: Town) -> str | None:
    code, out, _ = town.run("budget", "show", "--ledger", town.folder / "budget.db", "--json")
    accounts = json.loads(out)["budgets"] if code == 0 else []
    return accounts[0]["spent"] if accounts else None


def test_the_demo_releases_a_city_and_again_for_free(tmp_path: Path, town: Town) -> None:
    words = ("demo", "--out", tmp_path / "demo-out", "--city", tmp_path / "city", "--json")
    code, out, _ = town.run(*words)
    first = json.loads(out)["releases"][0]
    assert (code, first["places"], first["charged"]) == (0, 5835, "1")
    assert (tmp_path / "demo-out" / "report.html").stat().st_size > 100_000
    again = json.loads(town.run(*words)[1])["releases"][0]
    assert (again["charged"], again["safe"]) == ("0", first["safe"])


def test_both_decisions_give_three_states(town: Town) -> None:
    both = ("safe_at_most = 2", 'safe_at_most = 2\ndangerous_at_least = 5\nerror_at_most = "1e-1"')
    assert town.run("release", town.spec(both), "--out", town.out)[0] == 0
    answers = town.answers()
    decision = json.loads((town.out / "release.json").read_text())["decision"]
    assert (decision["never_wrong"], decision["dangerous_never_wrong"]) == (True, False)
    expected = [
        "safe" if n <= 2 else "dangerous" if n >= decision["dangerous_threshold"] else "obscure"
        for n in answers["count"]
    ]
    assert list(answers["state"]) == expected
    wrong = next(float(p["dangerous"]) for p in decision["curve"] if p["count"] == 4)
    assert 0 < wrong <= 0.1


def test_dangerous_is_never_wrong_where_absence_is_protected(town: Town) -> None:
    changes = [('"addition-only"', '"removal-only"'), ("safe_at_most = 2", "dangerous_at_least = 5")]
    assert town.run("release", town.spec(*changes), "--out", town.out)[0] == 0
    answers = town.answers().set_index("place")
    true = pd.Series(town.counts)
    assert (answers["count"] <= true).all()
    assert not (answers.loc[true < 5, "state"] == "dangerous").any()
    decision = json.loads((town.out / "release.json").read_text())["decision"]
    assert decision["safe_at_most"] is None
    assert decision["dangerous_never_wrong"] is True
    assert "dangerous" in (town.out / "report.html").read_text()[:3000]


@pytest.mark.parametrize(
    ("decide", "said"),
    [
        ("dangerous_at_least = 2", "a count would be both safe and dangerous"),
        ("dangerous_at_least = 5", "error_at_most"),  # noise only adds here, so dangerous can be wrong
    ],
)
def test_decisions_that_cannot_be(town: Town, decide: str, said: str) -> None:
    code, _, err = town.run(
        "release", town.spec(("safe_at_most = 2", f"safe_at_most = 2\n{decide}")), "--out", town.out
    )
    assert code == 2
    assert said in err
