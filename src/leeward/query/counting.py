"""Counting queries with arbitrary conditions, linear queries, histograms and sums: one whole number a person and coordinate.

Each is a sum over people of a value of their record (ADP, Section II-B1). How far one change of one record moves it is not
argued but enumerated: over the finitely many records that stand for all that the conditions of the query and of the
notion's policies can tell apart (`leeward.notion.condition.stand_ins`). So the result is exact for the declared facts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError, NotShelteredError
from leeward.notion import ABSENT, Change, Condition, where
from leeward.notion.condition import Columns, Not, Where, column_of, stand_ins
from leeward.query.effect import Effect, Move, Query


@dataclass(frozen=True)
class Declared:
    """Public facts about a table, on which sensitivities may rely; a release states them as assumptions.

    Attributes:
        columns: the values that a column can hold (a list, or a range of whole numbers); a column that is not named may hold
            anything, or nothing.
        facts_per_person: where records are sets of facts, nobody has more. A fact of the world, not a truncation.
        records: all records there can be; then conditions may be any functions.
    """

    columns: Columns = field(default_factory=dict, hash=False)
    facts_per_person: int | None = None
    records: tuple[Any, ...] | None = None


class SumOverPeople(Query):
    """A query whose answer is the sum over people of `value`. Nobody counts zero."""

    declared: Declared

    @abstractmethod
    def value(self, record: Any) -> tuple[int, ...]:
        """Return what one person adds to each coordinate."""

    @abstractmethod
    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """Return the conditions that must be told apart to see this change."""

    def told_apart(self, change: Change) -> tuple[Condition, ...]:
        """Return the conditions of the change that must be told apart: all of them, unless some are known to be alike."""
        return change.conditions

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """Columns that are clamped and added up."""
        return {}

    def answer(self, table: Iterable[Any]) -> tuple[int, ...]:
        """Return the exact answer on a table given as one record a person: for proofs and examples, never for release."""
        values = [self.value(record) for record in table]
        return tuple(map(sum, zip(*values, strict=True))) if values else ()

    def records(self, change: Change) -> tuple[Any, ...]:
        """Return present records, and nobody, that stand for all as far as the query and the change can tell.

        Raises:
            InputError: if a condition is a function and no list of records was declared.
            NotShelteredError: if the change is about single facts, and records are rows, or people without facts count.
        """
        listed = change.records if change.records is not None else self.declared.records
        if listed is None:
            asked = [c for c in self.asked(change) if isinstance(c, Condition)]
            if len(asked) < len(self.asked(change)):
                raise InputError(
                    "A condition given as a function",
                    "a function does not tell which records it can tell apart",
                    "Use where(…) and has(…), or declare all records",
                )
            listed = stand_ins(
                (*asked, *self.told_apart(change)),
                columns=self.declared.columns,
                bounds=self.bounds,
                facts_per_person=self.declared.facts_per_person,
            )
        present = tuple(record for record in listed if record is not ABSENT)
        if change.of_facts:
            self._check_facts(change, present)
        return (*present, ABSENT)

    def _check_facts(self, change: Change, present: Iterable[Any]) -> None:
        if not all(isinstance(record, frozenset) for record in present):
            raise NotShelteredError(
                f"A query about columns under a notion whose steps are '{change.name}'",
                "a row is not a set of facts, so none can be taken away or invented",
                "Use ADP with policies over the columns, or ask about facts with has(…)",
            )
        if any(self.value(frozenset())):
            raise NotShelteredError(
                "A count of people without certain facts, under a notion about facts",
                "who has no facts is nobody in such a table, so they cannot be counted",
                "Count people who have a fact: has(…), or has(…) & ~has(…)",
            )

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves over all pairs of records that the change allows.

        Raises:
            InputError: see `records`.
            NotShelteredError: see `records`.
        """
        records = self.records(change)
        values = _whole([self.value(record) for record in records])
        pairs: set[Move] = set()
        highest = lowest = values[0] * 0
        for before, value in zip(records, values, strict=True):
            after = [i for i, record in enumerate(records) if change.allows(before, record)]
            if not after:
                continue
            moves = values[after] - value
            highest, lowest = np.maximum(highest, moves.max(axis=0)), np.minimum(lowest, moves.min(axis=0))
            rises, falls = np.maximum(moves, 0).sum(axis=1), -np.minimum(moves, 0).sum(axis=1)
            pairs.update(zip(rises.tolist(), falls.tolist(), strict=True))
        single = tuple(zip(highest.tolist(), (-lowest).tolist(), strict=True))
        extremes: set[Move] = {(max(r for r, _ in single), 0), (0, max(f for _, f in single))}
        return Effect(total=_extreme(pairs), each=_extreme(extremes), by_coordinate=single)


def _whole(values: Sequence[tuple[int, ...]]) -> NDArray[Any]:
    large = max((abs(v) for row in values for v in row), default=0) * max(1, len(values[0])) >= 2**61
    return np.array(values, dtype=object if large else np.int64)


def _extreme(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Keep the moves that no other one exceeds in both directions."""
    kept: list[Move] = []
    for move in sorted(set(moves), reverse=True):  # the rises fall, so only a larger fall is new
        if not kept or move[1] > kept[-1][1]:
            kept.append(move)
    return tuple(kept)


@dataclass(frozen=True)
class CountWhere(SumOverPeople):
    """Count the people whose record satisfies each condition: f_C of ADP, Section II-B1.

    Attributes:
        conditions: one a coordinate; they may overlap.
        declared: public facts about the table.
    """

    conditions: tuple[Callable[[Any], bool], ...]
    declared: Declared = Declared()

    def value(self, record: Any) -> tuple[int, ...]:
        """Return 1 where the condition holds for a present record."""
        return tuple(int(record is not ABSENT and bool(condition(record))) for condition in self.conditions)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """All of them."""
        return self.conditions


@dataclass(frozen=True)
class Linear(SumOverPeople):
    """Weighted counts: coordinate i is the sum over people of ``Σ_j weights[i][j]·[condition j holds]``.

    Attributes:
        conditions: what is counted.
        weights: one row of whole numbers (in a public unit) a coordinate.
        declared: public facts about the table.
    """

    conditions: tuple[Callable[[Any], bool], ...]
    weights: tuple[tuple[int, ...], ...]
    declared: Declared = Declared()

    def __post_init__(self) -> None:
        if not self.weights or any(len(row) != len(self.conditions) for row in self.weights):
            raise InputError("Weights of another length", "each row has one weight a condition", "Give as many as that")
        if any(type(weight) is not int for row in self.weights for weight in row):
            raise InputError("A weight that is no whole number", "answers lie on a public grid", "Multiply by its unit")

    def value(self, record: Any) -> tuple[int, ...]:
        """Return the weighted sums for one person."""
        if record is ABSENT:
            return (0,) * len(self.weights)
        holds = [bool(condition(record)) for condition in self.conditions]
        return tuple(sum(w for w, h in zip(row, holds, strict=True) if h) for row in self.weights)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """All of them."""
        return self.conditions


@dataclass(frozen=True)
class SumOf(SumOverPeople):
    """Sum a column of whole numbers, each clamped to public bounds.

    A missing value counts as the number within the bounds that is nearest to 0. Values are whole numbers of a public unit;
    what brings measurements onto that grid must round half up (or half down): rounding half to even can move by 2 units
    where the measurement moves by 1.

    Attributes:
        column: what is summed.
        lower: the least that one person adds.
        upper: the most.
        among: only people for whom this holds; the others add 0.
        declared: public facts about the table.
    """

    column: str
    lower: int
    upper: int
    among: Condition | None = None
    declared: Declared = Declared()

    def __post_init__(self) -> None:
        if type(self.lower) is not int or type(self.upper) is not int or self.lower > self.upper:
            raise InputError(
                f"Bounds from {self.lower!r} to {self.upper!r}",
                "one person's part must be bounded by whole numbers, known before the data are read",
                "Give integers with lower <= upper, in a public unit",
            )

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """The column with its clamp."""
        return {self.column: (self.lower, self.upper)}

    def value(self, record: Any) -> tuple[int, ...]:
        """Return the clamped value of one person."""
        if record is ABSENT or (self.among is not None and not self.among(record)):
            return (0,)
        held = column_of(record, self.column)
        missing = held is None or held != held  # not a number
        return (min(max(0 if missing else held, self.lower), self.upper),)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """The restriction, if any."""
        return () if self.among is None else (self.among,)


@dataclass(frozen=True)
class Histogram(SumOverPeople):
    """Count the people with each of many public values of one column; each person is in at most one bin.

    A pair of records touches at most two bins. So of bins that are alike, two stand for thousands: bins of which the
    notion's policies say the same, where "not in this bin" is one thing to say, whichever bin it is.

    Attributes:
        column: the column that is counted.
        values: the public bins, one value each.
        declared: public facts about the table.
    """

    column: str
    values: tuple[Any, ...]
    declared: Declared = Declared()

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) < len(self.values):
            raise InputError("Bins that are missing or repeat", "each public value has one bin", "List each value once")

    def value(self, record: Any) -> tuple[int, ...]:
        """Return 1 in the bin of a present record."""
        held = column_of(record, self.column)
        return tuple(int(held == value) for value in self.values)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """The bins that stand for all."""
        return tuple(where(self.column, equals=value) for value in self._kept(change) if value in self.values)

    def told_apart(self, change: Change) -> tuple[Condition, ...]:
        """Leave out what policies say of single values that others stand for."""
        kept = self._kept(change)
        named = [(condition, self._named(condition)) for condition in change.conditions]
        return tuple(condition for condition, name in named if name is None or name[1] in kept)

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves, found on the bins that stand for all."""
        if self.declared.records is not None or change.records is not None:
            return super().effect(change)
        kept = {value: kind for value, kind in self._kept(change).items() if value in self.values}
        small = super(Histogram, Histogram(self.column, tuple(kept), self.declared)).effect(change)
        moves = dict(zip(kept.values(), small.by_coordinate or (), strict=True))
        kinds = self._kinds(change)
        return Effect(small.total, small.each, tuple(moves[kinds[value]] for value in self.values))

    def _named(self, condition: Condition) -> tuple[bool, Any] | None:
        """Whether a policy says of one single value that it is, or is not, the column's; then also which."""
        inner = condition.of if isinstance(condition, Not) else condition
        if (
            isinstance(inner, Where)
            and inner.column == self.column
            and inner.values is not None
            and len(inner.values) == 1
        ):
            return inner is condition, next(iter(inner.values))
        return None

    def _kinds(self, change: Change) -> dict[Any, tuple[Any, ...]]:
        """What there is to know of each bin, and of each other value that a policy names."""
        said: dict[Any, set[bool]] = {}
        rest: set[Any] = set()
        for condition in change.conditions:
            name = self._named(condition)
            if name is None:
                rest |= {atom for atom in condition.atoms if getattr(atom, "column", None) == self.column}
            else:
                said.setdefault(name[1], set()).add(name[0])
        atoms = sorted(rest, key=str)
        known, bins = self.declared.columns.get(self.column), set(self.values)
        return {
            value: (
                value in bins,
                known is None or value in known,
                frozenset(said.get(value, ())),
                *(atom({self.column: value}) for atom in atoms),
            )
            for value in (*self.values, *(value for value in said if value not in bins))
        }

    def _kept(self, change: Change) -> dict[Any, tuple[Any, ...]]:
        """Two values of each kind."""
        seen: Counter[tuple[Any, ...]] = Counter()
        kept = {}
        for value, kind in self._kinds(change).items():
            seen[kind] += 1
            if seen[kind] <= 2:
                kept[value] = kind
        return kept
