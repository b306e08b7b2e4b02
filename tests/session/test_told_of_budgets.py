"""What is told of a budget before it is opened, of where it stands, and of what a charge bought: all of it, and as it is."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.planner.test_compare import query as places_query

import leeward as lw
from leeward.ledger import Ledger
from leeward.noise import SeededBitsForTests
from leeward.planner import plan
from leeward.query import CountVisitors, Window
from leeward.session._before import opens
from leeward.session._bought import bought
from leeward.session._question import question


def people(rows: int = 400, salt: int = 0) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "who": [f"{salt}-{i}" for i in range(rows)],
            "age": [(i * 7 + salt) % 90 for i in range(rows)],
            "town": ["a", "b"] * (rows // 2),
        }
    )


def mean(salt: int = 0) -> Any:
    records = lw.records(people(salt=salt), person="who")
    return lw.statistic(records, "mean", column="age", lower=0, upper=90, step=1)


def html(budget: lw.Budget) -> str:
    return " ".join(budget._repr_html_().replace("<", " <").split())


def cell(page: str, term: str) -> list[str]:
    """What stands beside a term."""
    return [part.partition("</td>")[0].rpartition(">")[2].strip() for part in page.split(f">{term} </th>")[1:]]


def test_a_new_budget_is_told_with_both_caps_where_it_leads_and_all_others(tmp_path: Path) -> None:
    real, link = tmp_path / "budget.db", tmp_path / "linked.db"
    link.symlink_to(real)
    for number, name in enumerate(("a town", "the village", "our coast")):
        said = opens(lw.Budget(str(real), name, cap="5", cap_delta="1/1000" if number else None))
        assert said is not None
        assert (" and of 1/1000 on δ" in said.said) == bool(number)
        assert f"a new budget of '{name}', with a cap of 5" in said.said
        lw.release(plan(mean(number), lw.UnboundedDP("1")), lw.Budget(str(real), name, cap="5"))
    told = opens(lw.Budget(str(link), "somewhere else", cap="5"))
    assert told is not None
    assert told.others == "which has 'a town', 'our coast', 'the village'"
    assert told.said.endswith(f" in {real}")


def test_a_notebook_tells_where_a_budget_stands(tmp_path: Path) -> None:
    ledger = str(tmp_path / "budget.db")
    budget = lw.Budget(ledger, "towns", cap="5", cap_delta="1/100")
    assert cell(html(budget), "spent") == ["nothing yet"]
    records = lw.records(people(), person="who")
    lw.release(plan(mean(), lw.UnboundedDP("1")), budget)
    groups = lw.unlisted_groups(records, "town", most_groups=9, groups_per_person=1, if_more="first")
    lw.release(plan(groups, lw.UnboundedDP("1/2"), delta="1/1000"), budget)
    page = html(budget)
    assert [cell(page, term) for term in ("cap", "spent", "left", "δ spent")] == [
        ["5"],
        ["3/2"],
        ["7/2"],
        ["1/1000 of 1/100"],
    ]
    account = Ledger(ledger).show("towns")[0]
    assert (account.left, account.left_delta) == (Fraction(7, 2), Fraction(9, 1000))


def test_what_was_bought_says_which_window_and_whose_noise() -> None:
    asked = places_query(None)
    assert isinstance(asked, CountVisitors)
    made = plan(asked, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2), mechanism="sanitized", stop_after=1)
    plainly = bought(question(made, "").canonical())
    assert plainly == "people at each place, 2026-01-01 18:00 to 2026-01-01 19:00, addition-only at ε = 1"
    windows = [Window(asked.window.start, asked.window.end)] * 3
    for number in (1, 2, 3):
        of_monitor = bought(question(made, "", rounds=windows[:number]).canonical())
        assert of_monitor == f"{plainly}, window {number} of a monitor"
    seeded = bought(question(made, "", fit_for_release=False).canonical())
    assert seeded == f"{plainly}, from a seed: not fit for release"
    for which in ("busiest", "quietest"):
        named = bought(question(plan(lw.select(asked, which), lw.AdditionOnly("1")), "").canonical())
        assert named.startswith(f"the {which} place, 2026-01-01 18:00")


@pytest.mark.parametrize("seeded", [True, False])
def test_the_history_of_an_answer_from_a_seed_says_so(seeded: bool, tmp_path: Path) -> None:
    budget = lw.Budget(str(tmp_path / "budget.db"), "towns", cap="5")
    lw.release(plan(mean(), lw.UnboundedDP("1")), budget, bits=SeededBitsForTests(1) if seeded else None)
    (entry,) = (one for one in Ledger(budget.ledger).history() if one.kind == "released")
    assert bought(entry.key).endswith("not fit for release") == seeded
