# SPDX-License-Identifier: Apache-2.0
"""A released name in plain words: what follows from its statement and the one answer."""

from __future__ import annotations

from leeward._statement import NumberQuery, SelectionStatement, VisitorQuery
from leeward.query._records import counted_once
from leeward.report._numbers import group_of
from leeward.report._words import Readable, is_truncated, many


def stated(result: Readable) -> SelectionStatement:
    """Return the statement of a released name."""
    assert isinstance(result.statement, SelectionStatement)
    return result.statement


def named(result: Readable) -> str:
    """Write the name: its key, and what it is called where that is known."""
    answer = result.answers.to_pylist()[0]
    if "place" in answer:
        return f"{answer['name']} ({answer['place']})" if answer.get("name") else str(answer["place"])
    query = stated(result).query.of
    named = group_of(answer, query) if isinstance(query, NumberQuery) else None
    group = [] if named is None else [f"‘{named}’"]
    return ", ".join([*group, *([f"from {answer['from']} up to {answer['to']}"] if "from" in answer else [])])


def headline(result: Readable) -> str:
    """Say what was asked for, and the name."""
    query = stated(result).query
    return f"Named as the {query.kind} of {query.options:,} {query.noun}{'' if query.options == 1 else 's'}: {named(result)}"


def lead(statement: SelectionStatement) -> str:
    """Say how good the name is."""
    query, k = statement.query, statement.accuracy.within_95_percent
    had, so = "has", ""
    if isinstance(query.of, VisitorQuery):
        had, so = "had", ", counted after the bound on places per person," if is_truncated(query.of) else ""
    elif once := counted_once(query.of.combine, grouped=len(query.of.groups) > 1, numbers=query.of.column is not None):
        so = f", each {once},"
    far, than = ("fewer", "most") if query.kind == "busiest" else ("more", "fewest")
    return (
        f"With probability at least 95 %, it {had} {f'at most {k:,}' if k else 'no'} {far} {many(statement)}{so} than the"
        f" {query.noun} with the {than}."
    )
