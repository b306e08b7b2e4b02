# SPDX-License-Identifier: Apache-2.0
"""The words of a promise where every row of a table is a person of its own.

The mathematics of a notion does not say what a person is: a table is a map from persons to records. Where each row is taken
for one, all that is promised is promised of a single row, and must be said so: who has many rows is protected for each of
them alone. What the words say of a person is therefore said of a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace

from leeward.errors import BudgetConflictError, NotPrivateError
from leeward.notion._notion import Notion, PrivacyDescription

_SAID = (
    (r"\bperson's records?\b", "row"),
    (r"\bperson whose record\b", "row that"),
    (r"\bwhat their records say\b", "what it says"),
    (r"\ba person who\b", "a row that"),
    (r"\b(for )?their records?\b", r"\1it"),
    (r"\bwhere they are in it\b", "where it is there"),
    (r"\b(everything about|without|with) them\b", r"\1 it"),
    (r"\bwho the people are\b", "which rows there are"),
    (r"(?<!Leave )\b(people|persons)\b(?! ?=)", "rows"),
    (r"\b[Pp]erson\b", "row"),
    (r"\bevery(one|body)\b", "every row"),
)
"""What is said of a person, and what of a row; names of keys (``people = …``) stay."""


_NAMED = re.compile(r"(?<!\w)('[^']*')(?!\w)")
"""A name in quotes, such as that of a column."""


def in_rows(text: str) -> str:
    """Say of rows what a text says of people; what is quoted is a name, and stays."""
    parts = _NAMED.split(text)
    for pattern, instead in _SAID:
        parts[::2] = [re.sub(pattern, instead, part) for part in parts[::2]]
    return "".join(parts)


@contextmanager
def refused_in_rows(rows: bool) -> Iterator[None]:
    """Say of rows what is refused of people, where every row is a person of its own."""
    try:
        yield
    except (NotPrivateError, BudgetConflictError) as refused:
        if not rows:
            raise
        raise type(refused)(*map(in_rows, (refused.given, refused.because, refused.instead))) from None


def words_of(notion: Notion, *, rows: bool) -> PrivacyDescription:
    """Return the words of a notion, about rows where every row is a person of its own; the unit says so too.

    Another unit than a person, such as a whole table, is one of rows then: promises of different units are not added up. Of
    several units each is named.
    """
    words = notion.words
    if not rows:
        return words
    said = {each.name: in_rows(getattr(words, each.name)) for each in fields(words)}
    units = words.unit.split(" and each ")  # a person comes first
    unit = " and each ".join("row" if each == "person" else f"{each} of rows" for each in units)
    return replace(words, **{**said, "unit": unit})
