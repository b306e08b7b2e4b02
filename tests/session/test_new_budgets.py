"""A budget is opened on purpose: said and asked in the command, by ``cap`` in Python, and not for data charged elsewhere."""

from __future__ import annotations

import io
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.session.conftest import Town
from tests.session.test_monitor_command import SANITIZED
from tests.visited import open_visits

import leeward as lw
from leeward.cli import _release as cli_release
from leeward.engine import read_places
from leeward.errors import BudgetConflictError, InputError, LedgerError
from leeward.ledger import Ledger
from leeward.ledger._secret import VARIABLE
from leeward.session._before import opens
from leeward.session._release import release_planned
from leeward.spec import read_spec

NAMED = ('dataset = "town"', 'dataset = "{}"')


def named(name: str) -> tuple[str, str]:
    return 'dataset = "town"', f'dataset = "{name}"'


def datasets(town: Town) -> list[str]:
    path = town.folder / "budget.db"
    return [account.dataset for account in Ledger(path).show()] if path.exists() else []


def test_where_nobody_can_be_asked_it_must_be_said(town: Town) -> None:
    spec = town.spec()
    for words in (["release", spec], ["release", spec, "--quiet"], ["release", spec, "--json"]):
        code, out, err = town.run(*words, "--out", town.out, "--ask")
        assert (code, out) == (2, "")
        assert f"This opens a new budget of 'town', with a cap of 5, in {town.folder}/budget.db" in err
        assert "say --yes" in err
        assert len(err.strip().splitlines()) == 1
    assert not town.out.exists()
    assert not (town.folder / "budget.db").exists()


def test_without_a_cap_nothing_is_opened_and_the_ledger_says_so(town: Town) -> None:
    """Nobody is asked whether a budget with a cap of nothing may be opened."""
    budget = lw.Budget(town.folder / "budget.db", "town")
    assert opens(budget) is None
    with pytest.raises(LedgerError, match="'town' has no cap yet"):
        lw.release(read_spec(town.spec()).plans()[0], budget)
    assert datasets(town) == []


def test_said_it_is_told_and_asked_once(town: Town) -> None:
    code, _, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 0
    assert "Opened a new budget of 'town', with a cap of 5" in err
    code, _, err = town.run("release", town.spec(), "--out", town.out, "--ask")
    assert code == 0
    assert "new budget" not in err
    code, _, err = town.run("release", town.spec(named("elsewhere")), "--out", town.out, "--ask")
    assert code == 2
    assert "which has 'town'" in err


def test_a_first_run_that_fails_is_followed_by_one_that_does_not(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    spec, ledger = town.spec(), town.folder / "budget.db"
    with monkeypatch.context() as patch:
        patch.setenv(VARIABLE, "/proc/nowhere/content.key")
        code, _, err = town.run("release", spec, "--out", town.out)
    assert (code, f"Set {VARIABLE}" in err, ledger.exists()) == (2, True, False)
    ledger.touch()  # as one that was killed leaves it
    code, _, err = town.run("release", spec, "--out", town.out, "--ask")
    assert (code, "This opens a new budget" in err) == (2, True)
    assert ledger.stat().st_size == 0
    code, _, err = town.run("release", spec, "--out", town.out)
    assert (code, "Opened a new budget" in err) == (0, True)
    ledger.write_bytes(b"")
    for words in (["--yes"], ["--new-budget"]):
        code, _, err = town.run("release", spec, "--out", town.out, *words)
        assert (code, "is empty, but its high-water mark is there" in err) == (2, True), err
        assert ledger.stat().st_size == 0


@pytest.mark.parametrize("ledger", ["sqlite:////", "/", "sqlite:///pipe", "pipe", "b" * 300])
def test_what_can_be_no_ledger_is_refused_in_words(ledger: str, town: Town) -> None:
    os.mkfifo(town.folder / "pipe")
    spec = town.spec(('ledger = "sqlite:///budget.db"', f'ledger = "{ledger}"'))
    for words in (
        ["release", spec, "--out", town.out],
        ["budget", "show", "--ledger", ledger.replace("pipe", f"{town.folder}/pipe")],
    ):
        code, _, err = town.run(*words)
        assert (code, err.count("\n"), err[:9]) == (2, 1, "leeward: "), err
    assert not town.out.exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "opened"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_at_a_terminal_it_is_asked(typed: str, opened: bool, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    code, out, err = town.run("release", town.spec(), "--out", town.out, "--ask", "--json")
    assert code == (0 if opened else 2)
    assert "Open it?" in err
    assert town.out.exists() == opened
    assert datasets(town) == (["town"] if opened else [])
    if opened:
        assert json.loads(out)["releases"][0]["charged"] == "1"


@pytest.mark.parametrize("words", [[], ["--yes"], ["--ask"]])
def test_nearly_the_same_name_is_refused_before_any_data_is_read(words: list[str], town: Town) -> None:
    assert town.run("release", town.spec(named("gowalla")), "--out", town.out)[0] == 0
    (town.folder / "visits.parquet").rename(town.folder / "away.parquet")
    typo = town.spec(named("gowala"))
    code, out, err = town.run("release", typo, "--out", town.folder / "second", *words)
    assert (code, out) == (2, "")
    assert 'Did you mean "gowalla"?' in err
    assert "--new-budget" in err
    assert datasets(town) == ["gowalla"]


def test_a_budget_that_is_gone_is_not_planned_as_a_new_one(town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    (town.folder / "budget.db").unlink()
    for words in (["plan"], ["release", "--dry-run"], ["release", "--out", "second", "--ask"]):
        code, out, err = town.run(words[0], town.spec(), *words[1:])
        assert (code, out) == (2, ""), words
        assert "gone, but its high-water mark" in err


TWINS = {"서울": "\u1109\u1165\u110b\u116e\u11af", "Zürich": "Zu\u0308rich", "a town": "a\xa0town", "town": "ｔｏｗｎ"}


@pytest.mark.parametrize("name", TWINS)
def test_a_name_in_another_form_opens_no_second_budget_and_is_told_apart(name: str, town: Town) -> None:
    assert town.run("release", town.spec(named(name)), "--out", town.out)[0] == 0
    visits = pd.read_parquet(town.folder / "visits.parquet")
    visits.iloc[:-3].to_parquet(town.folder / "visits.parquet")  # not recognised by its content
    code, out, err = town.run("release", town.spec(named(TWINS[name])), "--out", town.folder / "second")
    assert (code, out) == (2, "")
    assert f'Did you mean "{name}"?' in err
    assert f"'{TWINS[name]}'" not in err or name == "town"  # letters of full width are seen
    assert datasets(town) == [name]
    code, out, err = town.run("budget", "show", "-l", town.folder / "budget.db", "-d", TWINS[name])
    assert (code, out) == (2, "")
    assert f"Did you mean '{name}'?" in err


def test_a_version_in_another_form_is_not_charged_anew(town: Town) -> None:
    spec = town.spec(('dataset = "town"', 'dataset = "town"\nversion = "März"'))
    assert town.run("release", spec, "--out", town.out)[0] == 0
    for twin in ("Ma\u0308rz", "MÄRZ", "März "):
        spec = town.spec(('dataset = "town"', f'dataset = "town"\nversion = "{twin}"'))
        code, out, err = town.run("release", spec, "--out", town.folder / "second")
        assert (code, out) == (2, "")
        assert "they read alike" in err
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 1
    spec = town.spec(('dataset = "town"', 'dataset = "town"\nversion = "Mai"'))
    assert town.run("release", spec, "--out", town.folder / "second")[0] == 0


def other_table(town: Town, kind: str) -> tuple[tuple[str, str], ...]:
    """Write the same visits in another way; return the changes of the spec that read them."""
    visits = pd.read_parquet(town.folder / "visits.parquet")
    renamed = visits.rename(columns={"user": "id", "venue": "where", "at": "when"})[["when", "where", "id"]]
    changes = [('person = "user"', 'person = "id"'), ('place = "venue"\ntime = "at"', 'place = "where"\ntime = "when"')]
    if kind == "csv":
        renamed.sample(frac=1, random_state=3).to_csv(town.folder / "other.csv", index=False)
    elif kind == "several":
        renamed[40:].to_parquet(town.folder / "other-1.parquet")
        renamed[:40].to_parquet(town.folder / "other-2.parquet")
    else:
        renamed.assign(more=1).to_parquet(town.folder / "other.parquet")
    names = {"csv": "other.csv", "several": "other-*.parquet", "renamed": "other.parquet"}
    return (*changes, ('visits = "visits.parquet"', f'visits = "{names[kind]}"'))


@pytest.mark.parametrize("kind", ["renamed", "csv", "several"])
def test_the_same_rows_under_another_name_are_recognised(kind: str, town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    spec = town.spec(named("elsewhere"), *other_table(town, kind))
    second = town.folder / "second"
    for words in ([], ["--yes"]):
        code, out, err = town.run("release", spec, "--out", second, *words)
        assert (code, out) == (2, "")
        assert "The content of 'elsewhere' is charged as 'town' already (this is for the curator only)" in err
        assert not second.exists()
    assert datasets(town) == ["town"]
    code, _, err = town.run("release", spec, "--out", second, "--new-budget")
    assert code == 0, err
    assert datasets(town) == ["elsewhere", "town"]


def test_other_people_are_other_data(town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    visits = pd.read_parquet(town.folder / "visits.parquet")
    visits.assign(user="q" + visits["user"], venue=visits["venue"].to_numpy()[::-1]).iloc[1:].to_parquet(
        town.folder / "visits.parquet"
    )
    assert town.run("release", town.spec(named("elsewhere")), "--out", town.out)[0] == 0
    assert datasets(town) == ["elsewhere", "town"]


def question(table: pd.DataFrame, **columns: str) -> lw.CountVisitors:
    visits = lw.visits(table, **({"person": "user", "place": "venue", "time": "at"} | columns))
    places = lw.places(pd.DataFrame({"venue": ["v1", "v2"]}), place="venue")
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    return lw.count_visitors(visits, places, **window, places_per_person=1, if_more="latest")


@pytest.mark.parametrize("cap", ["0", 0, "-1", "-1/9", lw.inf, lw.exact.sqrt(2)], ids=str)
def test_a_cap_that_pays_for_nothing_or_has_no_end_is_refused(cap: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="finite amount above 0"):
        lw.Budget(tmp_path / "b.db", "town", cap)


@pytest.mark.parametrize("cap", ["-1/9", "1", 2, lw.exact.sqrt(2) / 3], ids=str)
def test_a_cap_on_delta_is_a_probability_below_one(cap: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cap_delta = "):
        lw.Budget(tmp_path / "b.db", "town", "1", cap_delta=cap)
    assert lw.Budget(tmp_path / "b.db", "town", "1", cap_delta="0").exact_cap_delta() == 0


def test_in_python_a_cap_opens_and_a_slip_is_refused(town: Town) -> None:
    table = pd.read_parquet(town.folder / "visits.parquet")

    def release(dataset: str, table: pd.DataFrame = table, columns: Any = None, **budget: Any) -> None:
        told = lw.Budget(f"{town.folder}/budget.db", dataset=dataset, **budget)
        lw.release(lw.plan(question(table, **(columns or {})), lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), told)

    with pytest.raises(LedgerError, match="no cap yet"):
        release("gowalla")
    release("gowalla", cap="5")
    release("gowalla")
    with pytest.raises(BudgetConflictError, match=r'Did you mean "gowalla"'):
        release("gowala", cap="5")
    renamed = table.rename(columns={"user": "a", "venue": "b", "at": "c"}).sample(frac=1, random_state=1)
    columns = {"person": "a", "place": "b", "time": "c"}
    with pytest.raises(BudgetConflictError, match="charged as 'gowalla' already"):
        release("elsewhere", renamed, columns, cap="5")
    assert datasets(town) == ["gowalla"]
    release("elsewhere", renamed, columns, cap="5", new=True)
    assert datasets(town) == ["elsewhere", "gowalla"]


@pytest.mark.sweep
def test_a_stolen_ledger_is_no_oracle(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows all rows but one, and has every file of the ledger, cannot tell the missing row by trying."""
    monkeypatch.setenv(VARIABLE, str(town.folder / "home" / "key"))
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    with closing(sqlite3.connect(town.folder / "budget.db")) as connection:
        (kept, marks) = connection.execute("SELECT digest, marks FROM charges").fetchone()
        held = {value for table in ("ledger", "entries", "charges") for row in
                connection.execute(f"SELECT * FROM {table}") for value in row}  # fmt: skip
    keys = [value if isinstance(value, bytes) else str(value).encode() for value in held]
    truth = pd.read_parquet(town.folder / "visits.parquet")

    def digests(table: pd.DataFrame, key: bytes) -> set[str]:
        asked = question(table)
        with open_visits(asked.visits, read_places(asked.places)) as opened:
            made = opened.content(key)
        return {made.digest.hex(), *made.marks.values()}

    wanted = {kept.hex(), *json.loads(marks)["marks"].values()}
    assert len(keys) > 20
    assert not any(digests(truth, key) & wanted for key in keys if len(key) <= 64)
    # and with the key it could: the control of this test
    assert digests(truth, Ledger(town.folder / "budget.db").content_key()) == wanted


def test_the_demo_makes_its_key_where_it_is_told(tmp_path: Path, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    assert [file.name for file in (tmp_path / "me" / ".config" / "leeward").iterdir()] == ["content.key"]
    assert os.listdir(tmp_path / "me") == [".config"]


def test_a_lost_key_stops_a_release_before_the_data_is_read(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    key = town.folder / "home" / "key"
    monkeypatch.setenv(VARIABLE, str(key))
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    key.unlink()
    (town.folder / "visits.parquet").rename(town.folder / "away.parquet")
    changed = town.spec(("safe_at_most = 2", "safe_at_most = 3"))
    code, out, err = town.run("release", changed, "--out", town.folder / "second")
    assert (code, out) == (2, "")
    assert f"The key of content digests is not at {key}" in err
    assert "leeward budget new-key" in err
    (town.folder / "away.parquet").rename(town.folder / "visits.parquet")
    ledger = town.folder / "budget.db"
    assert town.run("budget", "new-key", "--ledger", ledger)[0] == 0
    code, _, err = town.run("release", changed, "--out", town.folder / "second")
    assert code == 2
    assert "is unknown" in err
    again = town.spec(('cap = "5"', 'cap = "5"\nversion = "2"'))
    assert town.run("release", again, "--out", town.folder / "second")[0] == 0
    code, out, _ = town.run("budget", "check", "--ledger", ledger)
    assert (code, out) == (0, "6 entries, and every answer, are as they were written.\n")
    assert town.run("budget", "new-key", "--ledger", ledger)[0] == 2


@pytest.mark.parametrize("command", ["release", "monitor"])
@pytest.mark.parametrize(
    "ledger", ["out/budget.db", "out/deep/budget.db", "link/budget.db", "sqlite:///out/../out/b.db"]
)
def test_the_ledger_lies_in_no_folder_that_may_be_published(ledger: str, command: str, town: Town) -> None:
    (town.folder / "out" / "deep").mkdir(parents=True)
    (town.folder / "link").symlink_to("out")
    changes = SANITIZED if command == "monitor" else []
    spec = town.spec(*changes, ('ledger = "sqlite:///budget.db"', f'ledger = "{ledger}"'))
    code, out, err = town.run(command, spec, "--out", town.folder / "out")
    assert (code, out) == (2, "")
    assert "that folder holds what may be published" in err
    assert [path.name for path in (town.folder / "out").iterdir()] == ["deep"]
    assert not [*(town.folder / "out" / "deep").iterdir()]


def test_numbers_of_thousands_of_digits_and_windows_listed_twice_are_refused_in_words(town: Town) -> None:
    many = "9" * 5000
    code, out, err = town.run("plan", town.spec(), "--safe-at", f"{many}:0.9")
    assert (code, out) == (2, "")
    assert "it is not a number of people" in err
    window = "[window]\nstart = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00\n"
    for new, said in (
        (f'{window}every = "{many}h"\n', "it is not a length of time"),
        ("[window]\nwindows = [" + "{ start = 2026-01-01T18:00:00, end = 2026-01-01T19:00:00 }, " * 2 + "]\n", "twice"),
    ):
        code, out, err = town.run("release", town.spec((window, new)), "--out", town.out)
        assert (code, out) == (2, "")
        assert said in err
        assert len(err) < 6000
    assert not town.out.exists()


@pytest.mark.parametrize("epsilon", ["1", "1/2"], ids=["a stored answer", "charged"])
def test_who_did_not_open_it_does_not_say_so(epsilon: str, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process opens it between the question and the charge."""
    asked, first = cli_release.opening, read_spec(town.spec())

    def overtaken(*given: Any, **how: Any) -> Any:
        made = asked(*given, **how)
        assert made.opens is not None
        release_planned(first.plans(), first.ledger())
        return made

    monkeypatch.setattr(cli_release, "opening", overtaken)
    spec = town.spec(('epsilon = "1"', f'epsilon = "{epsilon}"'))
    code, out, err = town.run("release", spec, "--out", town.out)
    assert (code, "It was paid for before" in out, "Opened" in err) == (0, epsilon == "1", False), err
