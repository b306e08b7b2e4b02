"""What makes two questions two: a ledger that has answered one question, and the same question with one thing changed.

A row says of one input (``holder.name``) what becomes of the question when that alone is changed:

* `NEW`: another question: a key, an entry and a charge of its own, so noise of its own;
* `SAME`: the same question asked in another form, or about data that only lies elsewhere: the stored answer, for nothing;
* ``refused("words")``: not asked at all; the message says the words, and nothing is charged.

The inputs are not listed by hand: they are the parameters and the fields of the public objects themselves.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.asking import statistic_by
from tests.sources import describe_by

import leeward as lw
from leeward.cli import LeewardError
from leeward.ledger import Ledger
from leeward.query import records

NEW, SAME = "new", "same"

Given = Mapping[str, Mapping[str, Any]]


def refused(words: str) -> str:
    """Return what a row expects of a change that is refused with these words."""
    return f"refused: {words}"


@dataclass(frozen=True)
class Row:
    """One input of one public object, another value for it, and what that must make of the question.

    Attributes:
        holder: the object, as the question calls it.
        name: its parameter or field.
        value: what it is changed to.
        expected: `NEW`, `SAME` or what `refused` returns.
        beside: what has to change with it, because the input alone cannot (a name that needs its pair).
    """

    holder: str
    name: str
    value: Any
    expected: str
    beside: Given = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        text = (
            str(self.value) if " at 0x" not in str(self.value) else type(self.value).__name__
        )  # the same in all workers
        return f"{self.holder}.{self.name}={text if len(text) < 30 else text[:29] + '…'}"

    def apply(self, given: Given) -> dict[str, dict[str, Any]]:
        """Return the question with this changed."""
        made = {holder: dict(parts) for holder, parts in given.items()}
        for holder, parts in self.beside.items():
            made[holder] = {**made.get(holder, {}), **parts}
        made.setdefault(self.holder, {})[self.name] = self.value
        return made


def inputs(holder: Any) -> set[str]:
    """Return the names of all that can be given to a function or class, dataclass fields included."""
    names = {
        name for name in inspect.signature(holder).parameters if name not in {"self", "args", "kwargs", "described"}
    }
    if dataclasses.is_dataclass(holder):
        names |= {field.name for field in dataclasses.fields(holder)}
    return names


def without_a_row(rows: Iterable[Row], holders: Mapping[str, Iterable[Any]]) -> set[str]:
    """Return the inputs of the holders that no row is about."""
    known = {(row.holder, row.name) for row in rows}
    return {
        f"{name}.{each}" for name, those in holders.items() for one in those for each in inputs(one)
        if (name, each) not in known
    }  # fmt: skip


@dataclass
class Bench:
    """A ledger in a folder, and what was asked of it."""

    folder: Path

    @property
    def url(self) -> str:
        """The ledger."""
        return f"sqlite:///{self.folder / 'budget.db'}"

    def spent(self) -> Mapping[str, Any]:
        """Return what is spent of each data set, and how many entries there are."""
        ledger = Ledger(self.url)
        return {account.dataset: account.spent for account in ledger.show()} | {"entries": len(ledger.history())}

    def check(self, row: Row, base: lw.Release, ask: Callable[[], lw.Release]) -> None:
        """Ask the changed question and compare what becomes of it with what the row says."""
        before = self.spent()
        if row.expected.startswith("refused"):
            with pytest.raises(LeewardError, match=row.expected.removeprefix("refused: ")):
                ask()
            assert self.spent() == before or "withdrawn" in self._last()
            return
        found = ask()
        if row.expected == SAME:
            assert found.statement.entry == base.statement.entry, "the stored answer is not found again"
            assert found.curator.charged == "0"
            assert self.spent() == before
            assert found.answers.num_rows == base.answers.num_rows
            if {"count"} <= set(found.answers.column_names) & set(base.answers.column_names):
                assert found.answers["count"].equals(base.answers["count"])
        else:
            assert found.statement.entry != base.statement.entry, "one key for two questions"
            assert found.curator.charged not in {None, "0"}, "a question that is not charged"

    def _last(self) -> str:
        return Ledger(self.url).history()[-1].kind


def visitors(given: Given) -> lw.query.CountVisitors:
    """Make the question about visitors."""
    public = lw.grid(**given["grid"]) if "grid" in given else describe_by(lw.places, **given["places"])
    return lw.count_visitors(describe_by(lw.visits, **given["visits"]), public, **given["count_visitors"])


def number(given: Given) -> Any:
    """Make the question about a number."""
    return statistic_by(describe_by(records, **given["records"]), **given["statistic"])
