"""``about = "everyone"`` from the spec to the report: what is counted, stored, charged, said and shown."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from contextlib import closing

import pandas as pd
import pytest
from tests.session.conftest import Town

from leeward.spec import read_spec

EVERYONE = ("safe_at_most = 2", 'safe_at_most = 20\nabout = "everyone"')


def crowd(town: Town) -> None:
    """Thirty people at a, then all but one of them at b: at k = 1, 29 are left out at a."""
    at = pd.Timestamp("2026-01-01T18:10")
    rows = [(f"p{i}", "v0", at) for i in range(30)] + [(f"p{i}", "v1", at + pd.Timedelta("5min")) for i in range(29)]
    pd.DataFrame(rows, columns=["user", "venue", "at"]).to_parquet(town.folder / "visits.parquet")


def answers(town: Town, out: str = "out") -> pd.DataFrame:
    return pd.read_parquet(town.folder / out / "answers.parquet").set_index("place")


def test_a_crowd_that_went_on_is_never_called_safe_of_everyone(town: Town) -> None:
    crowd(town)
    cap = ('cap = "5"', 'cap = "500"')
    town.run("release", town.spec(('epsilon = "1"', 'epsilon = "40"'), cap), "--out", town.folder / "counted")
    assert answers(town, "counted")["state"]["v0"] == "safe"  # one person was counted there, but for a chance of e^-80
    for epsilon in ("1", "2", "40"):
        spec = town.spec(EVERYONE, cap, ('epsilon = "1"', f'epsilon = "{epsilon}"'))
        town.run("release", spec, "--out", town.folder / epsilon)
        said = answers(town, epsilon)
        assert (said["state"][["v0", "v1"]] == "obscure").all()
        assert (said["count"] >= 29).all()
        assert said["left_out"].nunique() == 1
        assert said["left_out"].iloc[0] >= 29


def test_the_report_and_the_statement_say_of_whom(town: Town) -> None:
    _, out, _ = town.run("release", town.spec(EVERYONE), "--out", town.out)
    assert "(at most 20 people of all who were there), never wrongly" in out
    told = json.loads((town.folder / "out" / "release.json").read_text())
    assert told["decision"]["about"] == "everyone"
    assert told["mechanism"]["name"] == "everyone"
    assert told["mechanism"]["rate_up"] == told["mechanism"]["rate_left_out"] == "1/2"
    assert len(told["decision"]["safe_if_left_out"]) == 21
    assert "whether they were counted or left out" in told["guaranteed"][0]
    assert not any("truncated counts" in sentence for sentence in told["not_guaranteed"])
    page = (town.folder / "out" / "report.html").read_text()
    assert "said to be safe (at most 20 people of all who were there)" in page
    assert "‘Safe’ is never wrong, of all who were there." in page
    assert "where nobody was left out, and nobody anywhere" in page
    assert "Left out at most" in page
    assert "those left out are bounded in it" in page


def test_those_counted_are_named_in_the_headline_too(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    page = (town.folder / "out" / "report.html").read_text()
    assert "said to be safe (at most 2 people among those counted)" in page
    assert "of all who were there" not in page


def test_what_is_stored_is_one_number_more_than_places(town: Town) -> None:
    town.run("release", town.spec(EVERYONE), "--out", town.out)
    with closing(sqlite3.connect(town.folder / "budget.db")) as file:
        stored = [line for line in file.iterdump() if "X'" in line]
    assert max(len(part) for line in stored for part in re.findall(r"X'([0-9A-F]*)'", line)) >= 16 * 41
    town.run("release", town.spec(EVERYONE, ("safe_at_most = 20", "safe_at_most = 19")), "--out", town.folder / "again")
    assert answers(town)["count"].equals(answers(town, "again")["count"])


def test_the_dry_run_shows_the_odds_and_charges_nothing(town: Town) -> None:
    _, out, _ = town.run(
        "release", town.spec(EVERYONE, ('about = "everyone"', 'about = "everyone"\nleft_out = 3')), "--dry-run"
    )
    said = " ".join(out.split())
    assert "whether they were counted or left out by the bound on places per person" in said
    assert "A step of the notion pays at most 1/2 for the counts" in said
    assert "of those counted a place where nobody was is called safe with 99.9 %" in said
    assert "if at most 0, 1, 2, 3, 4, 5 of those there are left out at any one place" in said
    _, counted, _ = town.run("release", town.spec(), "--dry-run")
    assert (
        "of everyone a place where nobody was is called safe with 51.3 %, 34.2 %, 15.4 % if at most 0, 1, 2"
        in " ".join(counted.split())
    )
    _, plain, _ = town.run("release", town.spec(("latest", "refuse")), "--dry-run")
    assert "of everyone" not in plain


def test_the_plan_sets_both_promises_side_by_side(town: Town) -> None:
    _, out, _ = town.run("plan", town.spec(EVERYONE, ('about = "everyone"', 'about = "everyone"\nleft_out = [3, 1]')))
    said = " ".join(out.split())
    assert "safe: at most 20 people of all who were there" in said
    assert "Everyone: 'safe' is about all who were there, not only those counted" in said
    assert "are left out at any one place" in said
    assert "'safe' is about those counted, and not about everyone who was there" in said or "safe of whom?" in said


@pytest.mark.parametrize("notion", ["presence", "removal-only", "dp", "bounded-dp"])
def test_elsewhere_it_is_refused_before_anything_is_charged(town: Town, notion: str) -> None:
    code, _, err = town.run("release", town.spec(EVERYONE, ("addition-only", notion)), "--out", town.out)
    assert code == 2
    assert "Use addition-only" in err
    assert not (town.folder / "budget.db").exists()


def test_a_monitor_that_needs_no_bound_is_about_everyone(town: Town) -> None:
    changes = (
        EVERYONE,
        ("places_per_person = 1\n", ""),
        ('if_more = "latest"\n', ""),
        ('what = "counts"', 'mechanism = "sanitized"'),
    )
    code, _, err = town.run("release", town.spec(*changes), "--out", town.out)
    assert code == 0, err
    assert json.loads((town.folder / "out" / "release.json").read_text())["decision"]["about"] == "everyone"


@pytest.mark.parametrize(("guess", "most"), [(9, "at most 9 people"), (1, "at most 1 person"), (0, "nobody")])
def test_the_odds_of_a_dry_run_say_for_which_guess_they_are(town: Town, guess: int, most: str) -> None:
    """With nine left out somewhere, none with more than eleven is called safe; with nobody, one with twelve mostly is."""
    of_whom = (EVERYONE[0], f"{EVERYONE[1]}\nleft_out = {guess}")
    _, out, _ = town.run("release", town.spec(of_whom), "--dry-run")
    assert f"These chances hold where nobody was left out, and {most} anywhere." in out
    each = dict(re.findall(r"(?m)^ *(\d+) +([\d.e-]+) *$", out))
    q = math.exp(-1 / 2)  # two upward noises of rate 1/2: their sum is s with probability (s + 1)(1 - q)²qˢ
    for there in (0, 11, 12):
        wanted = sum((s + 1) * (1 - q) ** 2 * q**s for s in range(20 - guess - there + 1))
        assert float(each[str(there)]) == pytest.approx(wanted, abs=1e-6)
    (made,) = read_spec(town.spec(of_whom)).plans()
    assert f"by the true count, where nobody was left out, and {most} anywhere:" in str(made)
    (made,) = read_spec(town.spec()).plans()
    assert "by the true count:" in str(made)
