"""Ledgers never die: what an earlier version wrote is read, checked and answered from by this one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.ledger import golden
from tests.ledger.places import PostgresPlace
from tests.ledger.single import peek

import leeward as lw
from leeward.engine import _content as engine
from leeward.errors import BudgetConflictError, ContentChangedError, LeewardError
from leeward.ledger import Ledger, PersonBudgets, _chain, _people_store, _person_budgets
from leeward.ledger._records import EntryKind
from leeward.ledger._secret import VARIABLE
from leeward.session import _question

SAID: dict[str, Any] = json.loads((golden.FOLDER / "said.json").read_text("utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the golden files, for its owner alone: a checkout does not keep that."""
    for file in golden.FOLDER.iterdir():
        shutil.copyfile(file, tmp_path / file.name)
        (tmp_path / file.name).chmod(0o600)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "content.key"))
    return tmp_path


def test_answers_are_given_again_and_nothing_is_charged() -> None:
    assert golden.answers() == {name: SAID[name] for name in ("answers", "spent")}


@pytest.mark.parametrize("form", [1, 2])
def test_digests_of_an_earlier_form_are_read_and_are_unknown(form: int) -> None:
    """The history stays, and a new version label is the way on: what was charged before stays charged."""
    path = f"answers-{form}.ledger"
    ledger = Ledger(path)
    ledger.check()
    spent = {each.dataset: each.spent for each in ledger.show()}
    assert spent == {"town": Fraction(1, 3), "ages": 1, "hours": 0}
    assert len(ledger.history("town")) == 3
    plan = golden.plan_of_counts()
    with pytest.raises(ContentChangedError, match=r"is unknown: .* in another form.*new version label"):
        lw.release(plan, lw.Budget(path, "town", cap="5"))
    released = lw.release(plan, lw.Budget(path, "town", cap="5", version="2"))
    assert released.statement.entry not in {entry.id for entry in ledger.history("town")[:3]}
    assert {each.dataset: each.spent for each in ledger.show()} == spent | {"town": Fraction(2, 3)}


def test_a_history_with_every_kind_of_entry_fits_its_chain() -> None:
    assert golden.events() == SAID["events"]
    assert {entry[5] for entry in SAID["events"]} == {*get_args(EntryKind)} - {"moved", "asked-by"}


def test_a_ledger_with_deltas_is_read_for_ever() -> None:
    said = json.loads((golden.FOLDER / "said-deltas.json").read_text("utf-8"))
    ledger = Ledger("deltas.ledger")
    ledger.check()
    assert [(str(each.spent_delta), str(each.cap_delta)) for each in ledger.show("groups")] == [("1/100", "1/7")]
    assert golden.deltas() == said
    assert {kind for _, kind, *_ in said["history"]} == {"opened", "reserved", "released", "withdrawn", "set-cap"}


def test_a_ledger_with_analysts_is_read_for_ever() -> None:
    said = json.loads((golden.FOLDER / "said-analysts.json").read_text("utf-8"))
    Ledger("analysts.ledger").check()
    assert golden.analysts() == said
    assert said["shares"] == [["city", "ann", "1/3"], ["city", "Ärger", "1/7"]]
    assert {kind for _, _, kind, *_ in said["history"]} == {"opened", "reserved", "asked-by", "released", "withdrawn"}


def test_people_have_spent_what_they_spent_and_are_told_what_they_were_told() -> None:
    assert golden.people() == SAID["people"]


@pytest.mark.parametrize("store", ["people.budgets", "blocks.budgets"])
@pytest.mark.parametrize("new", [False, True])
def test_budgets_of_before_the_first_version_are_refused_and_stay(store: str, new: bool, folder: Path) -> None:
    """Their ids are hashed otherwise: nobody would be found in them, and everybody would have a whole budget again."""
    before = (folder / store).read_bytes()
    with pytest.raises(BudgetConflictError, match=r"another version.*begin it with a day on which nothing was charged"):
        PersonBudgets(store, **golden.PEOPLE, new=new)
    assert (folder / store).read_bytes() == before


def test_a_golden_ledger_that_moves_gives_the_same_answers(database: PostgresPlace) -> None:
    assert golden.answers(Ledger.move("answers.ledger", database.url).url) == {
        name: SAID[name] for name in ("answers", "spent")
    }
    database.clear()
    Ledger.move("events.ledger", database.url)
    *before, last = golden.events(database.url)
    assert (before, last[5]) == (SAID["events"], "moved")


def test_what_an_earlier_version_kept_in_postgresql_is_read(database: PostgresPlace) -> None:
    """The statements are those of a database of the first version that kept ledgers there."""
    database.change(*(golden.FOLDER / "postgresql.sql").read_text("utf-8").split(";\n"))
    Ledger.accept_restored(database.url)
    *before, accepted = golden.events(database.url)
    assert (before, accepted[5]) == (SAID["events in postgresql"], "accepted-restored")
    ledger = Ledger(database.url)
    ledger.check()
    found = peek(ledger, "city", "1", "stored")
    assert found is not None
    assert found.payload == b"\x00answer\xff"


def _of(module: Any, name: str, changed: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(module, name, changed(getattr(module, name)))


def unsized(joined: Callable[..., bytes]) -> Callable[..., bytes]:
    """Write parts without the length before each."""
    return lambda *parts: b"".join(joined(part)[8:] for part in parts)


@pytest.mark.parametrize(
    ("what", "broken"),
    [
        (golden.answers, _of(_question.Question, "canonical", lambda real: lambda self: real(self) + " ")),
        (golden.answers, _of(engine, "_stretched", lambda real: lambda key, what: real(key, what + "more"))),
        (golden.events, _of(_chain, "_COVERED", lambda real: real[::-1])),
        (golden.events, _of(_chain, "joined", unsized)),
        (golden.people, _of(_people_store, "joined", unsized)),
        (golden.people, _of(_person_budgets, "payers", lambda _: lambda people: [*map(str, people)])),
    ],
)
def test_a_serialiser_that_writes_otherwise_is_noticed(
    what: Callable[[], Any], broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(monkeypatch)
    try:
        said = what()
    except LeewardError:
        return
    assert said not in (SAID.get(what.__name__), {name: SAID[name] for name in ("answers", "spent")})
