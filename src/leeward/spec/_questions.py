# SPDX-License-Identifier: Apache-2.0
"""Several questions in one spec: ``[[query]]``, each with a name, over one table, one promise and one budget.

``[[query]]`` is TOML's list of tables. (Sub-tables ``[query.NAME]`` would be taken for keys of ``[query]``, which has tables
of its own, such as ``by``.) Each question is what the spec would be if it stood there alone, so what is checked, its key in
the ledger and its answer are the same as if it were asked so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from leeward._plain import echo
from leeward._toml import read_toml
from leeward.errors import LeewardError, SpecError
from leeward.planner._selection_plan import AnyPlan
from leeward.spec._spec import Spec, check_spec

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
_OWN = {"decide", "publish"}
"""Sections that a question has of its own, as ``[query.decide]`` below its ``[[query]]``."""
_PRICES = {"epsilon", "presence", "absence"}
"""Keys of ``[protect]`` that a question may have in place of what stands there."""
_OF_GROUPS = {"delta", "groups_per_person", "if_more"}
"""Keys of ``[protect]`` that a question for groups that are not listed may have beside what stands there."""


def read_questions(path: str | os.PathLike[str]) -> dict[str, Spec]:
    """Read and check a spec file of one question or of several.

    Returns:
        A spec of one question each, by its name, in the order written; the only one of ``[query]``, or of visitors, has no
        name.

    Raises:
        SpecError: the file is missing, is not TOML, or a key or value is not as described.
    """
    given, folder = read_toml(path)
    return check_questions(given, folder=folder)


def check_questions(given: Mapping[str, Any], *, folder: str | os.PathLike[str] = ".") -> dict[str, Spec]:
    """Check a spec of one question or of several, given as nested dicts, as TOML reads it; see `read_questions`.

    Raises:
        SpecError: a key or value is not as described; the message names the question and the first such key.
    """
    asked = given.get("query")
    if not isinstance(asked, list):
        return {"": check_spec(dict(given), folder=folder)}
    for section in sorted(_OWN & given.keys()):
        raise SpecError(
            f"[{section}] beside several questions",
            "it would be about all of them",
            f"Write [query.{section}] below the [[query]] that it is about",
        )
    named = _named(asked)
    shared = {section: held for section, held in given.items() if section != "query"}
    found = {name: _alone(shared, name, query, folder) for name, query in named.items()}
    if len({spec.of_visits for spec in found.values()}) > 1:
        raise SpecError(
            "[[query]] about visits, and about a table",
            "the questions of a spec are about one table",
            "Put the others into a spec of their own; it may name the same budget",
        )
    return found


def _named(asked: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Return the keys of each question by its name, which is not among them."""
    found = dict[str, dict[str, Any]]()
    if not asked:
        raise SpecError("query = []", "nothing is asked", "Write a [[query]] for each question")
    for place, query in enumerate(asked, 1):
        if not isinstance(query, dict):
            raise SpecError(
                f"Item {place} of query", "it must be a table of keys", "Write a [[query]] for each question"
            )
        name = query.get("name")
        if name is None:
            raise SpecError(
                f"The {place}. [[query]] without a name",
                "each question's answer has a folder of its name",
                'Give name = "…"',
            )
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            raise SpecError(
                f"[[query]] name = {echo(name)}",
                "a folder is called so: up to 60 letters, digits, _ and -, a letter or digit first",
                'Write, say, name = "age-by-sex"',
            )
        if name.casefold() in {known.casefold() for known in found}:
            raise SpecError(f"[[query]] name = {echo(name)}", "another question is called so", "Give each its own name")
        found[name] = {key: held for key, held in query.items() if key != "name"}
    return found


def _alone(shared: Mapping[str, Any], name: str, query: Mapping[str, Any], folder: str | os.PathLike[str]) -> Spec:
    """Return the spec that asks this question alone."""
    keys = {key: held for key, held in query.items() if key not in _OWN | _PRICES | _OF_GROUPS}
    made = {**shared, "query": keys, **{section: query[section] for section in _OWN & query.keys()}}
    price, groups = ({key: query[key] for key in own & query.keys()} for own in (_PRICES, _OF_GROUPS))
    if (price or groups) and isinstance(protect := shared.get("protect"), dict):
        kept = {key: held for key, held in protect.items() if not price or key not in _PRICES}
        made["protect"] = kept | price | groups
    try:
        return check_spec(made, folder=folder)
    except SpecError as refused:
        raise of_question(name, refused) from None


def planned(asked: Mapping[str, Spec]) -> dict[str, list[AnyPlan]]:
    """Return the plans of each question: what can be refused without data is refused here."""
    found = dict[str, list[AnyPlan]]()
    for name, spec in asked.items():
        try:
            found[name] = list(spec.plans())
        except LeewardError as refused:
            raise of_question(name, refused) from None
    return found


def useless_accepted(asked: Mapping[str, Spec], *, every: bool) -> frozenset[str]:
    """Return the questions that are released though the answer would say next to nothing: all, or those that say so."""
    return frozenset(name for name, spec in asked.items() if every or spec.query.accept_useless)


def of_question(name: str, refused: LeewardError) -> LeewardError:
    """Return what is refused, saying of which question; as it is where there is only one."""
    return (
        type(refused)(f"The question '{name}': {refused.given}", refused.because, refused.instead) if name else refused
    )
