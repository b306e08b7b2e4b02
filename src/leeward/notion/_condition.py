# SPDX-License-Identifier: Apache-2.0
"""Conditions on a person's record: what policies and counts are made of, so that sensitivities follow from them.

Two kinds of record are known. A *row* has columns (a mapping, or an object with attributes); `where` asks about one column.
A *set of facts* ("was at place a") has many; `has` asks for one. Conditions combine with ``~``, ``&`` and ``|``. Nobody
(`ABSENT`), and a column without a value (None), satisfy no `where` and no `has`.

A condition distinguishes records by its atoms only. So finitely many records stand for all there can be: `stand_ins`.
"""

from __future__ import annotations

import functools
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from leeward._plain import echo
from leeward._taught import public_list, taught
from leeward.errors import InputError
from leeward.exact._real import is_integral, plainly
from leeward.notion._domain import is_number, representatives

Columns: TypeAlias = Mapping[str, "Sequence[Any] | range"]
"""Public facts about a table: the values that each column can hold, as a list, or a range of whole numbers."""

MOST_RECORDS = 1024
"""The most records that are enumerated to stand for all."""


class Condition(ABC):
    """A proposition about one person's record."""

    @abstractmethod
    def __call__(self, record: object) -> bool:
        """Whether it holds for a record."""

    @property
    @abstractmethod
    def atoms(self) -> frozenset[Where | Has]:
        """The elementary conditions it is made of."""

    def __invert__(self) -> Condition:
        return Not(self)

    def __and__(self, other: Condition) -> Condition:
        return AllOf((self, other))

    def __or__(self, other: Condition) -> Condition:
        return AnyOf((self, other))


@dataclass(frozen=True)
class Where(Condition):
    """A column holds one of some values, or a whole number between two bounds. Built by `where`."""

    column: str
    values: frozenset[Any] | None
    least: int | None
    most: int | None

    def __call__(self, record: Any) -> bool:
        """Whether the record's value is among them; never for nobody, a missing value, or a word compared with a number."""
        return self.of_value(column_of(record, self.column))

    def of_value(self, value: Any) -> bool:
        """Whether it holds for a record with this value in the column."""
        value = plainly(value)
        if value is None:
            return False
        if self.values is not None:
            try:
                return value in (self._numbers if is_number(value) else self._words)
            except TypeError:  # a list, or an array: it is none of the values that a condition can name
                return False
        return bool(
            is_number(value)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    @property
    def named(self) -> tuple[Any, ...]:
        """The values and the bounds that it names."""
        return (*(self.values or ()), *(bound for bound in (self.least, self.most) if bound is not None))

    @functools.cached_property
    def _numbers(self) -> frozenset[Any]:  # a span of time equals its bare number in some versions of NumPy
        return frozenset(filter(is_number, self.values or ()))

    @functools.cached_property
    def _words(self) -> frozenset[Any]:
        return frozenset(value for value in self.values or () if not is_number(value))

    @property
    def atoms(self) -> frozenset[Where | Has]:
        """Itself."""
        return frozenset({self})

    def __str__(self) -> str:
        if self.values is not None:
            return f"{_named(self.column)} in {{{', '.join(sorted(map(_value, self.values)))}}}"
        return f"{self.least if self.least is not None else '-inf'} <= {_named(self.column)} <= " + (
            f"{self.most}" if self.most is not None else "inf"
        )


@dataclass(frozen=True)
class Has(Condition):
    """A record contains a fact. Built by `has`."""

    fact: Any

    def __call__(self, record: Any) -> bool:
        """Whether the fact is in the record; never for nobody.

        Raises:
            InputError: for a record that is a word or a row, not a set of facts.
        """
        if isinstance(record, str | bytes | Mapping) or not isinstance(record, Container | None):
            raise InputError(
                f"A record that is not a set of facts, asked whether it has {self.fact!r}",
                "a condition made by has(…) is about records such as {'was at a', 'was at b'}",
                "Ask about columns with where(…), or give records as sets",
            )
        return record is not None and self.fact in record

    @property
    def atoms(self) -> frozenset[Where | Has]:
        """Itself."""
        return frozenset({self})

    def __str__(self) -> str:
        return f"has {_value(self.fact)}"


@dataclass(frozen=True)
class Not(Condition):
    """The opposite of a condition."""

    of: Condition

    def __call__(self, record: Any) -> bool:
        """Whether the condition fails."""
        return not self.of(record)

    @property
    def atoms(self) -> frozenset[Where | Has]:
        """Those of the condition."""
        return self.of.atoms

    def __str__(self) -> str:
        return f"not ({self.of})"


@dataclass(frozen=True)
class _Several(Condition):
    of: tuple[Condition, ...]

    @property
    def atoms(self) -> frozenset[Where | Has]:
        """Those of all parts."""
        return frozenset().union(*(part.atoms for part in self.of))


class AllOf(_Several):
    """The conjunction of conditions."""

    def __call__(self, record: Any) -> bool:
        """Whether all of them hold."""
        return all(part(record) for part in self.of)

    def __str__(self) -> str:
        return " and ".join(f"({part})" for part in self.of)


class AnyOf(_Several):
    """The disjunction of conditions."""

    def __call__(self, record: Any) -> bool:
        """Whether one of them holds."""
        return any(part(record) for part in self.of)

    def __str__(self) -> str:
        return " or ".join(f"({part})" for part in self.of)


def _named(column: str) -> str:
    """Write a column as it is where nothing else could be meant, else quoted."""
    return column if column.isidentifier() else repr(column)


def _value(value: Any) -> str:
    """Write a value so that different ones never read the same: words are quoted, equal numbers are one number."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_value, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))})"
    if isinstance(value, Integral | float | Decimal | Fraction) and math.isfinite(value):
        return str(Fraction(value))
    return repr(value)


@taught
def where(
    column: str,
    *,
    equals: object = None,
    one_of: Iterable[object] | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
) -> Where:
    """Say that a column holds a value, one of several values, or a whole number within bounds.

    Raises:
        InputError: if not exactly one of ``equals``, ``one_of`` and bounds is given, ``one_of`` is one text
            or a table, a value is a missing one, or a bound is not a whole number.
    """
    if not isinstance(column, str):
        raise InputError(f"where({echo(column)})", "a column has a name, and that is a text", "Give the name")
    bounds = at_least is not None or at_most is not None
    if (equals is not None) + (one_of is not None) + bounds != 1:
        raise InputError(
            f"where({column!r}) says nothing, or says it twice",
            "a condition compares a column in one way",
            "Give equals, or one_of, or at_least and at_most",
        )
    if any(isinstance(b, bool) or not (b is None or is_integral(b)) for b in (at_least, at_most)):
        raise InputError(
            f"where({column!r}) with a bound that is not a whole number",
            "conditions compare whole numbers of a public unit, so that nothing depends on rounding",
            "Give an integer, and the column in that unit",
        )
    named = [] if one_of is None else public_list(f"where({column!r}) with one_of", one_of)
    try:
        values = None if bounds else frozenset(map(plainly, [equals] if one_of is None else named))
    except TypeError:
        raise InputError(
            f"where({column!r}) with what is not a value",
            "a column holds texts, numbers and such",
            "Give equals or one_of",
        ) from None
    if values is not None and any(map(is_missing, values)):
        raise InputError(
            f"where({column!r}) with NaN or None", "what is missing satisfies no condition", "Leave it out"
        )
    least, most = (None if bound is None else int(bound) for bound in (at_least, at_most))
    return Where(column, values, least, most)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or what a library writes for them."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # the NA of pandas says neither yes nor no
        return True


def has(fact: Hashable) -> Has:
    """Say that a record, a set of facts, contains this one.

    Raises:
        InputError: for what is in no set: a list, an array.
    """
    try:
        hash(fact)
    except TypeError:
        raise InputError(
            f"has({echo(fact)})", "a record is a set of facts, and this is in none", 'Give one fact: has("a")'
        ) from None
    return Has(
        fact if isinstance(fact, np.datetime64 | np.timedelta64) else plainly(fact)
    )  # sets hold those as they are


def column_of(record: Any, column: str) -> Any:
    """Return what a row holds in a column: None for nobody and for a missing value."""
    if record is None:
        return None
    if type(record) is dict or isinstance(record, Mapping):  # the first test is quick and almost always enough
        return record.get(column)
    try:
        return getattr(record, column)
    except AttributeError:
        raise InputError(
            f"A record without the column {column!r}",
            "a condition made by where(…) is about rows: mappings, or objects with attributes",
            "Ask about facts with has(…), or give records as rows",
        ) from None


def stand_ins(
    conditions: Iterable[Condition],
    *,
    columns: Columns | None = None,
    bounds: Mapping[str, tuple[int, int]] | None = None,
    facts_per_person: int | None = None,
) -> tuple[Any, ...]:
    """Return present records that stand for all: every way the conditions can hold together occurs among them.

    Rows: each column's values are cut into classes by *all* its conditions (`leeward.notion._domain`, with the proof), and
    records have one of each class in each column: the conditions look at columns one by one, so every combination of truth
    values that some record has is had by one of these, with the extremes of what is clamped. Sets of facts: all subsets of
    the facts that are named, up to the number of facts there can be.

    Args:
        conditions: what is asked about the records.
        columns: the values that columns can hold, where that is public.
        bounds: columns that are clamped to bounds and added up.
        facts_per_person: at most so many facts in a record, where that is a fact of the world.

    Raises:
        InputError: if rows and sets of facts are mixed, or more than `MOST_RECORDS` records would be needed.
    """
    atoms = frozenset().union(*(condition.atoms for condition in conditions))
    facts = [atom.fact for atom in atoms if isinstance(atom, Has)]
    compared: dict[str, list[Where]] = {column: [] for column in bounds or ()}
    for atom in atoms:
        if isinstance(atom, Where):
            compared.setdefault(atom.column, []).append(atom)
    if facts and compared:
        raise InputError(
            "Conditions on columns beside conditions on facts", "a record is a row or a set of facts", "Use one kind"
        )
    if facts:
        most = len(facts) if facts_per_person is None else min(facts_per_person, len(facts))
        _check_size(math.comb(len(facts), size) for size in range(most + 1))
        return tuple(frozenset(s) for size in range(most + 1) for s in itertools.combinations(facts, size))
    held = {
        column: _representatives(atoms_of, (columns or {}).get(column), (bounds or {}).get(column))
        for column, atoms_of in sorted(compared.items())
    }
    _check_size([math.prod(map(len, held.values()))])
    return tuple(dict(zip(held, row, strict=True)) for row in itertools.product(*held.values()))


def _check_size(parts: Iterable[int]) -> None:
    if any(total > MOST_RECORDS for total in itertools.accumulate(parts)):  # stops at the first: the rest may be huge
        raise InputError(
            f"Conditions that distinguish more than {MOST_RECORDS} kinds of record",
            "each kind would have to be gone through",
            "Ask fewer at once; a Histogram and the notion Presence need no enumeration, however many places there are",
        )


def _representatives(
    atoms: Sequence[Where], known: Sequence[Any] | range | None, bounds: tuple[int, int] | None
) -> list[Any]:
    named = [name for atom in atoms for name in atom.named]
    return representatives(lambda value: tuple(atom.of_value(value) for atom in atoms), named, known, bounds)
