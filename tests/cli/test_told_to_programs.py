"""What refusals are to a program; and what a curator reads: what entries bought, what is stored, what is left."""

from __future__ import annotations

import json

import typer.main
from tests.docs.test_schemas import validator
from tests.session.conftest import Town

from leeward.cli import app


def refused(err: str) -> dict[str, str]:
    """The object in the last line of stderr."""
    told = json.loads(err.splitlines()[-1])
    assert list(validator("refusal.json").iter_errors(told)) == []
    error: dict[str, str] = told["error"]
    return error


def with_json(command: typer.main.TyperCommand, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The words of each command that has the option."""
    under = getattr(command, "commands", {})
    own = [path] if any("--json" in one.opts for one in command.params) else []
    return own + [words for name, one in under.items() for words in with_json(one, (*path, name))]


def test_every_command_with_json_refuses_in_json(town: Town) -> None:
    commands = with_json(typer.main.get_command(app))  # type: ignore[arg-type]
    assert {words[0] for words in commands} >= {"plan", "check", "release", "monitor", "perturb", "budget", "papers"}
    for words in commands:
        code, out, err = town.run(*words, "--json", "--no-such-option")
        assert (code, out) == (2, "")
        assert refused(err)["code"] == "usage"


def test_a_refusal_says_what_why_and_what_instead(town: Town) -> None:
    spec = town.spec(('cap = "5"', 'cap = "1/2"'))
    code, out, err = town.run("release", spec, "--out", town.out, "--json")
    assert (code, out) == (2, "")
    error = refused(err)
    assert error["code"] == "cap-exceeded"
    assert error["message"].startswith(error["given"])
    assert error["because"]
    assert error["instead"]
    _, _, plain = town.run("release", spec, "--out", town.out)
    assert plain == f"leeward: {error['message']}\n"


def test_the_history_says_what_each_entry_bought(town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    _, out, _ = town.run("budget", "history", "--ledger", town.folder / "budget.db")
    said = " ".join(out.split())
    assert "the budget was opened with this cap" in said
    what = "people at each place, 2026-01-01 18:00 to 2026-01-01 19:00, addition-only at ε = 1"
    assert f"paid for: {what}" in said
    assert f"answered: {what}" in said


def test_a_plan_says_that_its_answer_is_stored_and_that_the_budget_is_used_up(town: Town) -> None:
    spec = town.spec(('cap = "5"', 'cap = "1"'))
    first = " ".join(town.run("plan", spec)[1].split())
    assert "stored" not in first
    assert "1 left" in first
    assert town.run("release", spec, "--out", town.out)[0] == 0
    again = " ".join(town.run("plan", spec)[1].split())
    assert "the answer is stored already: to release it again is free" in again
    assert "nothing left: only stored answers, which are free" in again
