"""What ``leeward budget`` and ``leeward check --json`` tell, number by number: each under its own name."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.ledger.single import reserve
from tests.ledger.worker import asked
from tests.session.conftest import Town

import leeward as lw
from leeward.cli._checked import checked
from leeward.errors import LeewardError
from leeward.ledger import Analyst, Ledger
from leeward.planner import plan
from leeward.session import _session as session
from leeward.session._check import check

AGES = [*[-5] * 2, *[200] * 3, *range(10, 80)]


def people() -> pd.DataFrame:
    """One row each, with an age, of which two are below 0 and three above 90."""
    return pd.DataFrame(
        {"who": [f"p{i}" for i in range(len(AGES))], "age": AGES, "town": ["a", "b", "c"] * (len(AGES) // 3)}
    )


@pytest.fixture
def books(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Town:
    """An answer with a δ, one without, one that was given back, and a label with a space at its end."""
    monkeypatch.setenv("COLUMNS", "240")
    rows = people()
    records = lw.records(rows, person="who")
    ledger = str(tmp_path / "budget.db")
    budget = lw.Budget(ledger, "towns", cap="5", cap_delta="1/100")
    groups = lw.unlisted_groups(records, "town", most_groups=9, if_more="first")
    lw.release(plan(groups, lw.UnboundedDP("1/2"), delta="1/1000"), budget)
    numbers = lw.statistic(records, "mean", column="age", lower=0, upper=90, step=1)
    lw.release(plan(numbers, lw.UnboundedDP("1")), budget)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session.Session, "count", refuse)
        with pytest.raises(LeewardError, match="it is gone"):
            lw.release(plan(numbers, lw.UnboundedDP("2")), budget)
    other = lw.Budget(ledger, "plain ", cap="2", new=True, version="two ")
    lw.release(plan(lw.statistic(lw.records(rows[:30], person="who"), "count"), lw.UnboundedDP("1")), other)
    return Town(tmp_path, capsys)


def refuse(*_: Any, **__: Any) -> Any:
    raise LeewardError("The table", "it is gone", "Bring it back")


def lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip()]


def test_balances_have_columns_of_delta_where_there_is_one(books: Town) -> None:
    ledger = books.folder / "budget.db"
    _, out, _ = books.run("budget", "show", "--ledger", ledger, "--dataset", "towns")
    assert lines(out)[0] == ["dataset", "notion", "cap", "spent", "left", "cap_delta", "spent_delta", "left_delta"]
    assert "1/100 1/1000 9/1000" in " ".join(out.split())
    _, out, _ = books.run("budget", "show", "--ledger", ledger, "--dataset", "plain ")
    assert lines(out)[0] == ["dataset", "notion", "cap", "spent", "left"]
    assert "'plain '" in out, "a name that ends in a space is told from one that does not"
    _, out, _ = books.run("budget", "history", "--ledger", ledger, "--dataset", "towns")
    assert lines(out)[0][-4:] == ["cost", "cap", "cost_delta", "cap_delta"]
    _, out, _ = books.run("budget", "history", "--ledger", ledger, "--dataset", "plain ")
    assert (lines(out)[0][-2:], "'two '" in out) == (["cost", "cap"], True)


def test_the_history_says_in_words_what_became_of_each_charge(books: Town) -> None:
    _, out, _ = books.run("budget", "history", "--ledger", books.folder / "budget.db", "--dataset", "towns")
    told = " ".join(out.split())
    kinds = [one.kind for one in Ledger(books.folder / "budget.db").history("towns")]
    assert kinds == ["opened", "reserved", "released", "reserved", "released", "reserved", "withdrawn"]
    assert [told.count(words) for words in ("paid for:", " answered:", "given back, unanswered:")] == [3, 2, 1]
    assert told.count("the budget was opened with this cap") == 1


def test_an_answer_that_was_altered_is_found_by_a_check(books: Town) -> None:
    """It is in no entry: what opens the ledger, or shows its history, does not read it."""
    ledger = books.folder / "budget.db"
    with sqlite3.connect(ledger) as connection:
        assert connection.execute("UPDATE charges SET payload = payload || 'x' WHERE payload IS NOT NULL").rowcount == 3
    connection.close()
    assert books.run("budget", "history", "--ledger", ledger)[0] == 0
    code, out, err = books.run("budget", "check", "--ledger", ledger)
    assert (code, out) == (2, "")
    assert "is not what its history says" in err


def test_the_name_of_an_analyst_steers_no_terminal_and_is_one_line(books: Town) -> None:
    ledger = books.folder / "analysts.db"
    analyst = Analyst("a\x1b[31m\nnn", Fraction(1))
    with reserve(Ledger(ledger), asked("a question", analyst=analyst)) as claim:
        claim.store(b"answer")
    code, out, _ = books.run("budget", "history", "--ledger", ledger)
    assert (code, "asked by a\\x1b[31m\\nnn" in out, "\x1b" in out) == (0, True, False)


def test_a_name_that_is_nearly_one_is_told_and_one_that_is_none_too(books: Town) -> None:
    ledger = books.folder / "budget.db"
    for command in ("show", "history"):
        code, out, err = books.run("budget", command, "--ledger", ledger, "--dataset", "town")
        assert (code, out) == (2, "")
        assert "There is no budget of 'town' in this ledger" in err
        assert "towns" in err.replace("'town'", "")
    code, out, _ = books.run("budget", "check", "--ledger", ledger)
    assert (code, f"{len(Ledger(ledger).history())} entries, and every answer" in out) == (0, True)
    code, out, _ = books.run("budget", "set-cap", "--ledger", ledger, "towns", "7", "--delta", "1/50")
    assert (code, "The cap of towns is now 7." in out, "The cap on δ of towns is now 1/50." in out) == (0, True, True)
    account = Ledger(ledger).show("towns")[0]
    assert (account.cap, account.cap_delta) == (7, Fraction(1, 50))


def groups(records: Any) -> Any:
    asked = lw.unlisted_groups(records, "town", most_groups=9, if_more="first")
    return plan(asked, lw.UnboundedDP("1/4"), delta="1/2000")


def mean(records: Any) -> Any:
    return plan(lw.statistic(records, "mean", column="age", lower=0, upper=90, step=1), lw.UnboundedDP("1"))


@pytest.mark.parametrize("asked", [groups, mean])
def test_what_a_look_tells_programs_is_what_it_found(asked: Callable[[Any], Any], books: Town) -> None:
    rows = people()
    rows.loc[:3, "who"] = "unknown"
    budget = lw.Budget(str(books.folder / "budget.db"), "towns", cap="5")
    found = check(asked(lw.records(rows, person="who", combine="max" if asked is mean else "refuse")), budget)
    told = json.loads(checked(found, budget, "one").to_json())
    (look,), stands = found.looks, found.standing
    assert stands.cap is not None
    assert told["looks"][0]["counted"] == look.taken
    assert told["looks"][0]["stand_ins"] == look.stand_ins == 4
    assert told["looks"][0]["over_bound"] == found.over_bound[0]
    assert told["budget"] == {
        "dataset": "towns",
        "cap": "5",
        "spent": "3/2",
        "left": "7/2",
        "price": str(found.price),
        "cap_delta": "1/100",
        "spent_delta": "1/1000",
        "price_delta": str(found.delta),
    }
    assert (told["below"], told["above"]) == ((2, 3) if asked is mean else (None, None))
    assert (found.delta > 0) == (asked is groups)
    assert told["refused"] == list(found.refusals)
    assert found.refusals, "it is other content under the same label"
    assert told["question"] == "one"
