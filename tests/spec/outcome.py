"""What a spec comes to: everything that can be seen of what is asked, answered and charged, under names that rows refer to.

ε is 40 where nothing else is said, so that noise is 0 but for a chance below 1e-17 an answer: answers are then the counts
themselves, and a key that does not reach the engine is seen by them.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from leeward.cli import LeewardError
from leeward.ledger import Ledger
from leeward.session._release import release_planned
from leeward.spec import check_spec

Given = Mapping[str, Any]


@dataclass(frozen=True)
class Effect:
    """A key of a spec, a change of it, and what that must come to.

    Attributes:
        key: its dotted name.
        base: which spec is changed.
        change: nested dicts that are merged into it; None takes a key away.
        seen: what must be seen then; each of these must be otherwise under the base.
        refused: or a part of the message with which it is refused.
        before: what has to be changed for the key to have a place at all; the base of the comparison has it too.
    """

    key: str
    base: str
    change: Given
    seen: Given = field(default_factory=dict)
    refused: str = ""
    before: Given = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.key}-{self.refused or ' '.join(self.seen)}"


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of all keys of a model and of the sections in it."""
    for name, each in model.model_fields.items():
        if each.exclude:
            continue
        inner = list(_models(each.annotation))
        whole = f"{prefix}{name}"
        if not inner or get_origin(each.annotation) is list or _is_list(each.annotation):
            yield whole
        for one in inner:
            yield from keys_of(one, f"{whole}.")


def choices_of(model: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted name of each key that is a choice, with each of its words."""
    for name, each in model.model_fields.items():
        for word in _words(each.annotation):
            yield f"{prefix}{name}", word
        for one in _models(each.annotation):
            yield from choices_of(one, f"{prefix}{name}.")


def _words(annotation: Any) -> Iterator[str]:
    if get_origin(annotation) is Literal:
        yield from (word for word in get_args(annotation) if isinstance(word, str))
    elif get_origin(annotation) in {Union, types.UnionType}:
        for part in get_args(annotation):
            yield from _words(part)


def words_in(given: Given, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted name of each key of a spec that holds a word, with that word."""
    for name, value in given.items():
        if isinstance(value, str):
            yield f"{prefix}{name}", value
        elif isinstance(value, Mapping):
            yield from words_in(value, f"{prefix}{name}.")


def _is_list(annotation: Any) -> bool:
    return any(get_origin(part) is list for part in get_args(annotation))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) in {list, Union, types.UnionType}:
        for part in get_args(annotation):
            yield from _models(part)


WHOLE = {"keep", "by", "grid", "sensitive", "levels", "a_day"}
"""Keys whose tables are one value."""


def merged(base: Given, change: Given) -> dict[str, Any]:
    """Return nested dicts with others merged in; None takes a key away."""
    made = dict(base)
    for name, value in change.items():
        if value is None:
            made.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(made.get(name), Mapping) and name not in WHOLE:
            made[name] = merged(made[name], value)
        else:
            made[name] = value
    return made


def outcome(given: Given, folder: Path) -> dict[str, Any]:
    """Carry a spec out, in a folder that holds its data, and return what is seen.

    Raises:
        LeewardError: it is refused.
    """
    spec = check_spec(dict(given), folder=folder)
    plans, budget = spec.plans(), replace(spec.ledger(), new=True)  # many budgets for one made-up table
    accepted = spec.query.accept_useless
    releases = release_planned(plans, budget, if_doubtful="publish", accept_useless=accepted)
    account = Ledger(budget.ledger).show(budget.dataset)[0]
    first, told = releases[0], [one.statement.to_dict() for one in releases]
    asked = told[0]["query"].get("of", told[0]["query"])  # of a name: what is counted for it
    seen: dict[str, Any] = {
        "plans": len(plans),
        "notion": str(plans[0].notion),
        "price": str(plans[0].price),
        "windows": [one["query"].get("of", one["query"]).get("window") for one in told],
        "columns": first.answers.column_names,
        "keep": asked["keep"],
        "dropped": {reason: rows for reason, rows in (first.curator.dropped or {}).items() if rows},
        "over": first.curator.people_over_bound,
        "places": first.places.to_pylist(),
        "decision": {name: each for name, each in told[0].get("decision", {}).items() if name != "curve"},
        "mechanism": told[0]["mechanism"],
        "noise": told[0]["mechanism"]["name"],
        "rates": [(part["rate_up"], part["rate_down"]) for part in told[0]["mechanism"].get("parts", ())],
        "alternative": told[0]["notion"]["alternative"],
        "protects": told[0]["notion"]["protects"],
        "text": first.statement.query.text,
        "people": asked.get("people"),
        "groups": asked.get("groups"),
        "if_more": asked.get("if_more"),
        "a person": asked.get("groups_per_person"),
        "delta": told[0].get("delta", {}).get("promised"),
        "cap on δ": str(account.cap_delta),
        "version": first.statement.version,
        "dataset": budget.dataset,
        "cap": str(account.cap),
        "counted in": account.notion,
        "spent": str(account.spent),
        "ledger": Path(budget.ledger).name,
    }
    for name in first.answers.column_names:
        seen[name] = first.answers[name].to_pylist()
    return seen


def check(effect: Effect, base: Given, folder: Path, before: Callable[[Given], dict[str, Any]]) -> None:
    """Compare what a key comes to with what its row says, and with what is without it.

    Args:
        effect: the row.
        base: the spec that is changed.
        folder: where the changed spec is carried out; its ledger is new.
        before: what the base of the comparison comes to. For a key of the budget, both are charged to one ledger.
    """
    unchanged = merged(base, effect.before)
    changed = merged(unchanged, effect.change)
    without = outcome(unchanged, folder) if effect.key.startswith("budget.") else before(unchanged)
    if effect.refused:
        with pytest.raises(LeewardError, match=re.escape(effect.refused)):
            outcome(changed, folder)
        return
    found = outcome(changed, folder)
    for name, value in effect.seen.items():
        assert found.get(name) == value, f"{name} is {found.get(name)}"
        assert without.get(name) != value, f"{name} is the same without the key"
