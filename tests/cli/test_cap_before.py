"""What a release would refuse for its budget is told before: by the dry run in the same words, and never recommended.

Found by an attack: of several windows, plan and dry run saw one at a time. What a release takes is held against the ledger.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from tests.session.conftest import Town, town

from leeward.ledger import Ledger

__all__ = ["town"]


def hours(number: int) -> tuple[str, str]:
    """A change of the spec: so many windows."""
    whole = "start = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00"
    return whole, whole.replace("T19", f"T{18 + number}") + ('\nevery = "1h"' if number > 1 else "")


def cap(amount: int) -> tuple[str, str]:
    return 'cap = "5"', f'cap = "{amount}"'


SANITIZED = [
    ('"addition-only"', '"presence"'),
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', 'mechanism = "sanitized"\nstop_after = 2'),
]


def recommended(town: Town, *words: str) -> dict[str, Any]:
    code, out, err = town.run("plan", town.folder / "spec.toml", *words, "--json")
    assert (code, err) == (0, "")
    told: dict[str, Any] = json.loads(out)["recommendation"]
    return told


def released(town: Town) -> tuple[int, str]:
    return town.run("release", town.folder / "spec.toml", "--out", town.out, "--if-doubtful", "publish")[::2]


@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.parametrize("amount", [1, 2, 3])
def test_plan_and_dry_run_see_the_whole_price(windows: int, amount: int, town: Town) -> None:
    spec = town.spec(hours(windows), cap(amount))
    payable = windows <= amount
    advice = recommended(town)
    assert (advice["option"] is not None) == payable
    if not payable:
        assert f"Only {amount} is left" in advice["reason"]
        assert f"the cheapest costs {windows} for all {windows} releases" in advice["reason"]
        assert f"at most {amount} in all, or for fewer" in advice["reason"]
    code, out, err = town.run("release", spec, "--dry-run")
    assert f"Price: {windows}" in out  # it is printed all the same
    assert not (town.folder / "budget.db").exists()
    assert (code, err) == ((0, "") if payable else (2, err))
    assert payable == ("windows at a total price" not in err)
    again, told = released(town)
    assert again == code
    assert payable or told == err
    spent = [account.spent for account in Ledger(town.folder / "budget.db").show("town")]
    assert spent == ([windows] if payable else [])


def test_one_release_that_is_too_dear_is_refused_by_the_dry_run_in_the_words_of_the_release(town: Town) -> None:
    town.spec(('epsilon = "1"', 'epsilon = "6"'))
    code, _, err = town.run("release", town.folder / "spec.toml", "--dry-run")
    assert code == 2
    assert "This release costs 6, and 5 is left" in err
    assert released(town) == (2, err)


@pytest.mark.parametrize("more", [2, 3])
def test_windows_that_are_answered_already_cost_nothing_again(more: int, town: Town) -> None:
    """After two of the windows, the budget holds one more: the third can be had, and a fourth cannot."""
    town.spec(hours(2), cap(3))
    assert released(town)[0] == 0
    assert recommended(town)["option"] is not None  # though only 1 is left: both are stored
    spec = town.spec(hours(1 + more), cap(3))
    payable = more == 2
    assert (recommended(town)["option"] is not None) == payable
    code, out, err = town.run("release", spec, "--dry-run")
    assert "Answered before, at no further cost: 2 of these releases." in out
    assert (code, err == "") == ((0, True) if payable else (2, False))
    assert released(town)[0] == code
    assert Ledger(town.folder / "budget.db").show("town")[0].spent == (3 if payable else 2)


def test_where_only_a_monitor_can_be_paid_it_is_named(town: Town) -> None:
    """The find itself: three windows at 2 each, in a budget of 5."""
    spec = town.spec(*SANITIZED, hours(3))
    advice = recommended(town)
    assert advice["option"] is None
    assert "let `leeward monitor` ask the windows" in advice["reason"]
    assert "at most 2 for all windows together" in advice["reason"]
    code, out, err = town.run("release", spec, "--dry-run")
    assert "Price: 6 in all" in out
    assert (code, err) == (2, released(town)[1])
    assert town.run("monitor", spec, "--out", town.out, "--if-doubtful", "publish")[0] == 0
    assert Ledger(town.folder / "budget.db").show("town")[0].spent <= Fraction(2)


def test_fewer_releases_than_windows_are_refused(town: Town) -> None:
    code, _, err = town.run("plan", town.spec(hours(3)), "--releases", "2")
    assert code == 2
    assert "the spec has 3 windows" in err
    assert recommended(town, "--releases", "5")["option"] is not None
    assert recommended(town, "--releases", "6")["option"] is None


def test_another_cap_is_refused_by_the_dry_run_as_by_the_release(town: Town) -> None:
    assert released(town)[0] == 0
    spec = town.spec(cap(9))
    code, _, err = town.run("release", spec, "--dry-run")
    assert code == 2
    assert "The cap of 'town' is 5, and this release says 9" in err
    assert released(town) == (2, err)


@pytest.mark.parametrize("words", [["--dry-run"], ["--out", "out"]])
def test_a_budget_without_a_cap_is_refused_by_the_dry_run_as_by_the_release(words: list[str], town: Town) -> None:
    spec = town.spec(('cap = "5"\n', ""))
    code, out, err = town.run("release", spec, *words, "--if-doubtful", "publish", "--yes")
    assert (code, out, "has no cap yet" in err) == (2, "", True)
