"""What a dry run tells, what is told before paying, and what is charged are one price, whatever the budget is counted in."""

from __future__ import annotations

import itertools
import json
import re

import pandas as pd
import pytest
from tests.session.conftest import Town

from leeward.ledger import Ledger
from leeward.notion._named import NAMED

HOUR = "[window]\nstart = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00\n"
BOUND = 'places_per_person = 1\nif_more = "latest"\n'
HOURS = HOUR.replace("19:", "20:") + 'every = "1h"\n'


def priced(town: Town, *changes: tuple[str, str], windows: int) -> str | None:
    """What is told and charged for a spec; None where it is refused, which then is told of by all of them."""
    spec = town.spec(*changes)
    code, out, _ = town.run("release", spec, "--dry-run")
    again, listed, _ = town.run("release", spec, "--dry-run", "--json")
    if code:
        assert (again, town.run("release", spec, "--out", town.out, "--yes")[0]) == (2, 2)
        return None
    stated = [each["budget"]["price"] for each in json.loads(listed)]
    assert len(stated) == windows
    last = out.splitlines()[-1]
    own = re.match(r"Price: (\S+) in all(?:, for which (\S+) is taken from a budget in .+ per .+)?\. Nothing", last)
    assert own is not None, last
    code, out, _ = town.run("release", spec, "--out", town.out, "--yes", "--if-doubtful", "publish", "--accept-useless")
    assert code == 0
    if windows > 1:
        begun = r".* at (\S+) each: a total price of at most (\S+?)(?:, for which (\S+) is taken .*)?\.$"
        before = re.match(begun, out.splitlines()[0])
        assert before is not None, out.splitlines()[0]
        assert before.groups()[1:] == own.groups()
    spent = Ledger(town.folder / "budget.db").show("town")[0].spent
    assert spent == windows * eval_fraction(stated[0])
    assert spent == eval_fraction(own[2] or own[1])
    return str(spent)


def test_a_dry_run_states_what_the_release_states(town: Town) -> None:
    """All but what only an answer has: who reads the statement before it is paid for decides by it."""
    spec = town.spec(('cap = "5"', 'cap = "5"\nversion = "March"'))
    code, out, err = town.run("release", spec, "--dry-run", "--json")
    assert code == 0, err
    (before,) = json.loads(out)
    assert town.run("release", spec, "--out", town.out)[0] == 0
    after = json.loads((town.out / "release.json").read_text("utf-8"))
    told = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    assert told == {"entry", "fit_for_release"}
    assert after["version"] == "March"


def eval_fraction(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) if not bottom else int(top) / int(bottom)


def test_a_median_under_manhattan_costs_49_of_a_budget_in_dp(town: Town) -> None:
    pd.DataFrame({"u": range(500), "x": [i % 99 for i in range(500)]}).to_parquet(town.folder / "t.parquet")
    (town.folder / "numbers.toml").write_text(
        '[data]\ntable = "t.parquet"\nperson = "u"\n[query]\nkind = "median"\ncolumn = "x"\nlower = "1"\nupper = "99"\n'
        '[protect]\nnotion = "manhattan"\nepsilon = "1"\nunit = "2"\n'
        '[budget]\nledger = "n.db"\ndataset = "d"\ncap = "100"\nnotion = "dp"\n'
    )
    spec = town.folder / "numbers.toml"
    last = town.run("release", spec, "--dry-run")[1].splitlines()[-1]
    assert last.startswith("Price: 1 in all, for which 49 is taken from a budget in dp per person. Nothing")
    told = json.loads(town.run("release", spec, "--dry-run", "--json")[1])[0]
    assert (told["price"], told["budget"]) == ("1", {"notion": "dp per person", "price": "49"})
    assert "Charged 49." in town.run("release", spec, "--out", town.out, "--yes")[1]


def test_a_budget_that_is_open_says_what_it_is_counted_in(town: Town) -> None:
    presence = (('"addition-only"', '"presence"'), (BOUND, ""), ('what = "counts"', "stop_after = 1"))
    assert town.run("release", town.spec(*presence), "--out", town.out, "--if-doubtful", "publish")[0] == 0
    dp = (('"addition-only"', '"dp"'), ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1/10"'))
    last = town.run("release", town.spec(*dp), "--dry-run")[1].splitlines()[-1]
    assert last.startswith("Price: 1 in all, for which 2 is taken from a budget in presence per person.")
    code, out, err = town.run("release", town.spec(*dp), "--out", town.folder / "dp", "--accept-useless")
    assert code == 0, err
    assert "Charged 2." in out


@pytest.mark.sweep
@pytest.mark.parametrize("windows", [1, 2])
@pytest.mark.parametrize("kept", NAMED)
@pytest.mark.parametrize("notion", NAMED)
def test_every_pair_of_notions(notion: str, kept: str, windows: int, town: Town) -> None:
    found = []
    decisions = ("safe_at_most = 2", 'safe_at_most = 2\nerror_at_most = "1/10"', "dangerous_at_least = 9")
    for decide, bound in itertools.product(decisions, (BOUND, "")):
        changes = (
            (BOUND, bound),
            *([] if bound else [('what = "counts"', "stop_after = 1")]),
            ('"addition-only"', f'"{notion}"'),
            ("safe_at_most = 2", decide),
            ('cap = "5"', f'cap = "999"\nnotion = "{kept}"'),
            (HOUR, HOURS if windows > 1 else HOUR),
        )
        found.append(priced(town, *changes, windows=windows))
        if found[-1] is not None:
            break
    assert found[-1] is not None or notion != kept
