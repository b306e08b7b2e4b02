"""``leeward plan`` as its user runs it; and budgets counted in another notion than the release's."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.session.conftest import Town, town

from leeward.ledger import Ledger

__all__ = ["town"]

PRESENCE = [('"addition-only"', '"presence"'), ('if_more = "latest"', 'if_more = "refuse"')]
SANITIZED = [
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', "stop_after = 2"),
    ('"addition-only"', '"presence"'),
]
SPECS: dict[str, list[tuple[str, str]]] = {
    "addition-only": [],
    "presence": PRESENCE,
    "sanitized": SANITIZED,
    "adaptive": [*SANITIZED[:1], ('what = "counts"', 'mechanism = "adaptive"\nstop_after = 2'), *SANITIZED[2:]],
    "dp": [('"addition-only"', '"dp"'), ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1/50"')],
    "removal-only": [('"addition-only"', '"removal-only"'), ("safe_at_most = 2", "dangerous_at_least = 3")],
    "both": [("safe_at_most = 2", 'safe_at_most = 2\ndangerous_at_least = 5\nerror_at_most = "1e-1"')],
    "graded": [
        ('"addition-only"\nepsilon = "1"', '"graded"\npresence = "1"\nabsence = "8"'),
        ('if_more = "latest"', 'if_more = "refuse"'),
        ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1/50"'),
        ('cap = "5"', 'cap = "20"'),
    ],
}


def planned(town: Town, *words: str) -> dict[str, Any]:
    code, out, err = town.run("plan", town.folder / "spec.toml", *words, "--json")
    assert (code, err) == (0, "")
    told: dict[str, Any] = json.loads(out)
    return told


def test_a_plan_too_noisy_to_be_of_use_is_told_all_the_same(town: Town) -> None:
    town.spec(('epsilon = "1"', 'epsilon = "1/100000"'))
    told = planned(town)
    assert "below useful_from" in told["refused_as_written"]
    assert told["recommendation"]["option"] is None
    asked = next(
        option for option in told["options"] if option["notion"]["name"] == "removal-only" and "errors" in option
    )
    assert 299_500 < asked["errors"]["most"] < 299_600  # ln 20 / ε


@pytest.mark.parametrize("name", SPECS)
def test_the_plan_is_what_release_does(town: Town, name: str) -> None:
    spec = town.spec(*SPECS[name])
    row = planned(town)["options"][0]
    assert not (town.folder / "budget.db").exists()
    assert town.run("release", spec, "--out", town.out)[0] == 0
    released = json.loads((town.out / "release.json").read_text())
    assert (row["notion"]["name"], row["mechanism"]) == (released["notion"]["name"], released["mechanism"]["name"])
    assert row["price"] == released["price"]
    assert row["price_in_budget"] == released["budget"]["price"]
    assert (row["protects"], row["does_not_protect"] or "") == (
        released["notion"]["protects"],
        released["notion"]["does_not_protect"],
    )
    for entry, mine in zip(released["decision"]["curve"], row["curve"], strict=False):
        assert {key: mine[key] for key in entry} == entry
    for word, key in (("safe", "threshold"), ("dangerous", "dangerous_threshold")):
        assert (row["decided"][word] or {}).get("threshold") == released["decision"].get(key)
    assert row["error_at_most"] == released["decision"]["error_at_most"]
    if name in ("sanitized", "adaptive"):
        assert row["answered_if_empty"] == pytest.approx(released["mechanism"]["expected_answered_if_empty"], rel=1e-3)


@pytest.mark.sweep
def test_it_reads_no_data_and_fits_80_columns(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (town.folder / "visits.parquet").unlink()
    for changes in SPECS.values():
        code, out, err = town.run(
            "plan", town.spec(*changes), "--counts", "0:4101,1:214,2:11,3:2,4:2,5:1", "--releases", "3"
        )
        assert (code, err) == (0, "")
        assert max(map(len, out.splitlines())) <= 80
        assert "…" not in out.split("recommended")[0]  # no number is cut off
        assert "Nothing was charged and no data was read." in out
    assert not (town.folder / "budget.db").exists()


def test_how_many_safe_places_would_i_get(town: Town) -> None:
    told = planned(town, "--counts", "0:4101,1:214,2:11,3:2,4:2,5:1", "--safe-at", "2:0.5")
    row = told["options"][told["recommendation"]["option"]]
    keep = [1 - 2.718281828459045**-k for k in (3, 2, 1)]
    assert row["expected"]["safe"] == pytest.approx(4101 * keep[0] + 214 * keep[1] + 11 * keep[2], rel=1e-5)
    assert (row["expected"]["truly_safe"], row["expected"]["wrongly_safe"]) == (4326, 0)
    assert row["epsilon_for_wish"]["epsilon"] == "347/500"  # ln 2 = 0.6931…, in thousandths from above
    (town.folder / "counts.csv").write_text("count,places\n0,4101\n1,214\n2,11\n3,2\n4,2\n5,1\n")
    again = planned(town, "--counts", str(town.folder / "counts.csv"), "--safe-at", "2:0.5")
    assert again == told


def test_a_statistic_is_planned_where_its_table_is_not_there(town: Town) -> None:
    spec = town.folder / "sum.toml"
    spec.write_text(
        '[data]\ntable = "t.parquet"\nperson = "each row"\n[query]\nkind = "sum"\ncolumn = "c"\nlower = "0"\nupper = "9"\n'
        '[protect]\nnotion = "dp"\nepsilon = "1"\n[budget]\nledger = "sqlite:///b.db"\ndataset = "d"\ncap = "1"\n'
    )
    code, out, err = town.run("plan", spec, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert {"dp", "addition-only"} <= {row["notion"]["name"] for row in told["options"]}


def test_graded_facts_are_planned_in_their_own_unit(town: Town) -> None:
    town.spec(
        ('"addition-only"\nepsilon = "1"', '"graded-facts"\npresence = "1"\nabsence = "6"'),
        ('if_more = "latest"', 'if_more = "refuse"'),
        ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1/50"'),
        ('cap = "5"', 'cap = "20"'),
    )
    told = planned(town)
    assert told["asked"]["budget"]["notion"].endswith("per fact")
    assert told["options"][told["recommendation"]["option"]]["notion"]["name"] == "graded-facts"
    assert all(row["price_in_budget"] is None for row in told["options"][1:])


def test_windows_are_releases_and_the_ledger_is_read(town: Town) -> None:
    town.spec(("end = 2026-01-01T19:00:00", 'end = 2026-01-01T22:00:00\nevery = "1h"'))
    told = planned(town)
    assert (told["asked"]["releases"], told["asked"]["budget"]["left"]) == (4, "5")
    assert told["options"][0]["composed"]["price"] == "4"
    town.run("release", town.spec(), "--out", town.out)
    told = planned(town)
    assert told["asked"]["budget"] == {"notion": "addition-only per person", "left": "4"}
    assert told["options"][0]["releases_left"] == 4
    town.spec(('cap = "5"', 'cap = "6"'))
    code, _, err = town.run("plan", town.folder / "spec.toml")
    assert (code, "set-cap" in err) == (2, True)


def test_the_ledger_is_what_release_takes_it_for(town: Town) -> None:
    """An empty file is none yet; one that is gone while its mark is there is no new one."""
    spec, ledger = town.spec(), town.folder / "budget.db"
    ledger.touch()
    assert planned(town)["asked"]["budget"]["left"] == "5"
    assert town.run("release", spec, "--out", town.out)[0] == 0
    ledger.unlink()
    refused = [town.run(*words) for words in (("plan", spec), ("release", spec, "--out", town.out))]
    assert [(code, out) for code, out, _ in refused] == [(2, ""), (2, "")]
    assert "its high-water mark is there" in refused[0][2]
    assert refused[0][2] == refused[1][2]


def test_a_refused_spec_shows_its_neighbours(town: Town) -> None:
    code, out, _ = town.run("plan", town.spec(('"addition-only"', '"presence"')))
    assert code == 0
    assert "As written, `leeward release` refuses" in out
    assert "not monotone" in out
    assert planned(town)["recommendation"]["option"] is None


@pytest.mark.parametrize(
    "words", [["--safe-at", "0.9"], ["--counts", "many"], ["--releases", "0"], ["--safe-at", "0:1.5"]]
)
def test_words_that_mean_nothing_are_refused(town: Town, words: list[str]) -> None:
    code, out, err = town.run("plan", town.spec(), *words)
    assert (code, out) == (2, "")
    assert len(err.strip().splitlines()) == 1


def test_the_page_asks_nothing_of_the_network_and_escapes_what_it_shows(town: Town) -> None:
    page = town.folder / "plan.html"
    told = planned(town, "--html", str(page), "--counts", "0:30,3:2")
    text = page.read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=", text)
    embedded = re.search(r'id="plan.json">(.*?)</script>', text, re.DOTALL)
    assert embedded is not None
    assert "<" not in embedded[1]
    assert json.loads(embedded[1]) == told
    for option in told["options"]:
        assert option["notion"]["name"] in text
    assert text.count('class="plot curve"') == 2


# ---- budgets counted in a notion


def _budget(town: Town) -> dict[str, str]:
    rows = json.loads(town.run("budget", "show", "--ledger", town.folder / "budget.db", "--json")[1])
    return dict(rows["budgets"][0])


def test_an_addition_only_budget_takes_a_presence_release_at_its_price(town: Town) -> None:
    town.run("release", town.spec(), "--out", town.out)
    changes = [*PRESENCE, ('epsilon = "1"', 'epsilon = "3/2"')]
    assert town.run("release", town.spec(*changes), "--out", town.out)[0] == 0
    released = json.loads((town.out / "release.json").read_text())
    assert (released["price"], released["budget"]) == ("3/2", {"notion": "addition-only per person", "price": "3/2"})
    assert (_budget(town)["notion"], _budget(town)["spent"]) == ("addition-only/person", "5/2")


def test_a_presence_budget_refuses_addition_only_in_words_and_charges_nothing(town: Town) -> None:
    town.run("release", town.spec(*PRESENCE), "--out", town.folder / "first")
    code, _, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 2
    assert "budget protects also when some of the facts about a person are taken away" in err
    assert not town.out.exists()
    assert _budget(town)["spent"] == "1"


def test_dp_costs_twice_in_a_presence_budget_and_sanitized_stops_are_priced_too(town: Town) -> None:
    kept = ('cap = "5"', 'cap = "5"\nnotion = "presence"')
    assert town.run("release", town.spec(*SPECS["dp"], kept), "--out", town.out)[0] == 0
    released = json.loads((town.out / "release.json").read_text())
    assert (released["price"], released["budget"]) == ("1", {"notion": "presence per person", "price": "2"})
    code, _, err = town.run("release", town.spec(*SANITIZED, ("stop_after = 2", "stop_after = 4")), "--out", town.out)
    assert code == 2  # 4 of 3
    assert "4" in err
    assert town.run("release", town.spec(*SANITIZED), "--out", town.out)[0] == 0
    assert (_budget(town)["notion"], _budget(town)["spent"]) == ("presence/person", "4")


def test_several_windows_are_checked_in_the_notion_of_the_budget(town: Town) -> None:
    hours = ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T21:00:00\nevery = "1h"')
    kept = ('cap = "5"', 'cap = "5"\nnotion = "presence"')
    code, _, err = town.run("release", town.spec(*SPECS["dp"], kept, hours), "--out", town.out)
    assert code == 2
    assert "total price of 6" in err
    assert not town.out.exists()
    assert not Ledger(town.folder / "budget.db").show()


@pytest.mark.parametrize(
    ("named", "said"), [("presense", "Did you mean 'presence'"), ("presence", "is counted in addition-only")]
)
def test_another_notion_than_that_of_the_budget_is_refused(town: Town, named: str, said: str) -> None:
    town.run("release", town.spec(), "--out", town.folder / "first")
    spec = town.spec(('cap = "5"', f'cap = "5"\nnotion = "{named}"'))
    for command in (("release", spec, "--out", town.out), ("plan", spec)):
        code, _, err = town.run(*command)
        assert code == 2
        assert said in err
