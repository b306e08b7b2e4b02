# SPDX-License-Identifier: Apache-2.0
"""The level of ε that a public column gives to each person: that it is one of those that are listed, and one a person.

Who has which level is public. If it followed from the record that noise is to hide, it would tell the record; so a person
has one level in a table.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from leeward._plain import counted
from leeward._private import Private
from leeward.errors import DataError, InputError
from leeward.ledger._identity import payer


def name_of_level(level: object) -> str:
    """Return a level as it is listed; nothing where it is missing. A whole number is one however it is stored: 1 and 1.0."""
    if level is None or level != level:
        return ""
    if isinstance(level, float | np.floating | Decimal) and math.isfinite(level) and level == int(level):
        return str(int(level))
    return str(level)


class LevelsOfPeople(Private):
    """Whether each row has a level that is listed and each person one level, looked at as rows go by.

    Args:
        column: the column of levels.
        known: the levels that are listed.
        follows: what a level may follow from where it changes from row to row: "where they are".
        changes: whether a person's rows may have several levels.
    """

    __slots__ = ("_changes", "_column", "_follows", "_held", "_known")

    def __init__(self, column: str, known: Collection[str], follows: str, *, changes: bool = False) -> None:
        self._column, self._known, self._follows, self._changes = column, known, follows, changes
        self._held = dict[str, str]()

    def check(self, levels: Sequence[Any], people: Sequence[Any] | None) -> None:
        """Refuse a level that is not listed, and a person with two.

        Args:
            levels: the level of each row.
            people: whose row it is; None where nobody is named, and each row has a level of its own.
        """
        names = list(map(name_of_level, levels))
        if unknown := sum(not name or name not in self._known for name in names):
            raise DataError(
                f"{counted(unknown, 'row')} with a level in '{self._column}' that is not listed, or none",
                "nothing says at which ε noise is drawn for them (this is for the curator only)",
                "List it among the levels, or correct the column",
            )
        if self._changes:
            return
        for person, name in zip([] if people is None else people, names, strict=False):
            if person is None or person != person:
                continue  # nobody is named, so the row is nobody else's either
            if self._held.setdefault(one_of(person), name) != name:
                raise DataError(
                    f"Somebody has several levels in '{self._column}'",
                    f"a level that changes from row to row may follow from {self._follows} (this is for the curator only)",
                    "Give each person one level",
                )


def one_of(person: Any) -> str:
    """Return who a row is of: as budgets unite ids, and each other value by itself."""
    try:
        return payer(person)
    except InputError:
        return f"{type(person).__name__} {person}"
