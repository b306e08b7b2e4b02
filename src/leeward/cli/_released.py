# SPDX-License-Identifier: Apache-2.0
"""What ``leeward release --json`` prints, as a typed document: what was published, in short, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from leeward._document import Document, Part
from leeward._statement import DecidingStatement, SelectionStatement, WindowStated
from leeward.cli._balances import Balance
from leeward.ledger import Ledger
from leeward.query._selection import Which
from leeward.query._statistic import Noun
from leeward.session._budget import Budget
from leeward.session._result import Release


class Answered(Part):
    """What was published of one question; its price, and what was charged now of ε and of δ.

    They are "0" for what was paid for before. The question has a name in a spec of several.
    """

    question: str | None = None
    entry: str | None
    price: str
    charged: str
    charged_delta: str
    fit_for_release: bool | None


class Places(Answered):
    """How many places, or groups, are said to be what.

    Attributes:
        kind: ``places``.
        noun: what they are: places, groups or intervals.
        window: when; None where rows of all times count.
        places: how many are listed.
        safe: how many of them are called that; None where nothing is.
        obscure: of how many nothing is said.
        dangerous: as ``safe``.
        answered: how many were answered before the stop; None where all always are.
    """

    kind: Literal["places"] = "places"
    noun: Noun
    window: WindowStated | None
    places: int
    safe: int | None
    obscure: int
    dangerous: int | None
    answered: int | None


class Numbers(Answered):
    """The answers of a statistic, a row each.

    Attributes:
        kind: ``numbers``.
        window: when; None where rows of all times count.
        answers: the rows.
    """

    kind: Literal["numbers"] = "numbers"
    window: WindowStated | None
    answers: tuple[dict[str, JsonValue], ...]


class Named(Answered):
    """The name of one place or group.

    Attributes:
        kind: ``named``.
        window: when; None where rows of all times count.
        which: ``busiest`` or ``quietest``.
        answer: the key that is named, with what else is public about it.
    """

    kind: Literal["named"] = "named"
    window: WindowStated | None
    which: Which
    answer: dict[str, JsonValue]


class Released(Document):
    """Releases that were written to one directory.

    Attributes:
        format: 1.
        out: the directory.
        releases: what was published, a question each.
        budget: what is left.
    """

    format: Literal[1]
    out: str
    releases: tuple[Annotated[Places | Numbers | Named, Field(discriminator="kind")], ...]
    budget: Balance


def released(out: Path, releases: Iterable[tuple[str, Release]], budget: Budget) -> Released:
    """Return what is printed of releases, each with its question's name, that were charged to a budget and written."""
    (account,) = Ledger(budget.ledger, create=False).show(budget.dataset)
    summaries = tuple(summary(one).model_copy(update={"question": name or None}) for name, one in releases)
    return Released(format=1, out=str(out), releases=summaries, budget=Balance.copied_from(account))


def summary(one: Release) -> Places | Numbers | Named:
    """Return what was published of one question, in short."""
    statement, answers = one.statement, one.answers
    shared = Answered(
        entry=statement.entry,
        price=statement.price,
        charged=one.curator.charged,
        charged_delta=one.curator.charged_delta,
        fit_for_release=statement.fit_for_release,
    ).model_dump()
    if isinstance(statement, SelectionStatement):
        return Named(
            **shared, window=statement.query.of.window, which=statement.query.kind, answer=answers.to_pylist()[0]
        )
    if not isinstance(statement, DecidingStatement):
        return Numbers(**shared, window=statement.query.window, answers=tuple(answers.to_pylist()))
    states = Counter(answers["state"].to_pylist())
    said = {state: states[state] for state, _ in statement.decision.said}
    return Places(
        **shared,
        noun=statement.query.noun,
        window=statement.query.window,
        places=states.total(),
        safe=said.get("safe"),
        obscure=states["obscure"],
        dangerous=said.get("dangerous"),
        answered=answers["answered"].to_pylist().count(True) if "answered" in answers.column_names else None,
    )
