# SPDX-License-Identifier: Apache-2.0
"""Counting queries with arbitrary conditions, linear queries, histograms and sums: one whole number a person and coordinate.

Each is a sum over people of a value of their record (ADP, Section II-B1). How far one change of one record moves it is not
argued but enumerated: over the finitely many records that stand for all that the conditions of the query and of the
notion's policies can tell apart (`leeward.notion._condition.stand_ins`). So the result is exact for the declared facts.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward._plain import echo
from leeward._taught import public_list, taught
from leeward.errors import InputError, NotPrivateError
from leeward.exact._real import plainly, whole
from leeward.notion import ABSENT, Change, Condition, where
from leeward.notion._adp import Keeps
from leeward.notion._change import allowed_among
from leeward.notion._condition import Columns, Not, Where, column_of, is_missing, stand_ins
from leeward.notion._domain import clamped, representatives
from leeward.notion._policy import check_policies
from leeward.query._effect import Effect, Move, Query


@taught
@dataclass(frozen=True)
class Domain:
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

    def __post_init__(self) -> None:
        columns = {}
        for name, known in self.columns.items():
            columns[name] = _listed(f"The values of the column {name!r}", known)
            if not isinstance(columns[name], range):
                _check_values(f"The values of the column {name!r}", columns[name])
        object.__setattr__(self, "columns", columns)
        if self.records is not None:
            object.__setattr__(self, "records", _listed("The records there can be", self.records))
        if self.facts_per_person is not None:
            object.__setattr__(self, "facts_per_person", whole(self.facts_per_person, "facts_per_person"))


def _listed(what: str, known: Any) -> Any:
    """Read a list of all that there can be: a range as it is, else a tuple, of NumPy's numbers as Python's.

    NumPy's would be compared with a bin that is a tuple number by number.
    """
    listed = known if isinstance(known, range) else tuple(map(plainly, public_list(what, known)))
    if not listed:
        raise InputError(
            f"{what} that are not a list, or an empty one",
            "a declaration says all that there can be, and sensitivities rely on it",
            'Give a list such as ["a", "b"], or a range of whole numbers',
        )
    return listed


def _check_values(what: str, values: Iterable[Any]) -> None:
    """Refuse what is compared with a column and can be in none, such as a list."""
    try:
        frozenset(values)
    except TypeError:
        raise InputError(
            f"{what} with what is not a value", "a column holds texts, numbers and such", "Give texts, or numbers"
        ) from None


def _conditions(given: Any) -> tuple[Callable[[Any], bool], ...]:
    """Read what is counted: one condition, or several."""
    several = (given,) if callable(given) else tuple(given)
    check_policies(several)
    if not several:
        raise InputError("A count of nothing", "the answer has one number for each condition", "Give a condition")
    return several


class SumOverPeople(Query):
    """A query whose answer is the sum over people of `value`. Nobody counts zero."""

    declared: Domain

    @abstractmethod
    def value(self, record: object) -> tuple[int, ...]:
        """Return what one person adds to each coordinate."""

    @abstractmethod
    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """Return the conditions on which this change depends."""

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
            NotPrivateError: if the change is about single facts, and records are rows, or people without facts count.
        """
        listed = change.records if change.records is not None else self.declared.records
        if listed is None:
            asked = [c for c in self.asked(change) if isinstance(c, Condition)]
            if len(asked) < len(self.asked(change)):
                raise InputError(
                    "A condition given as a function",
                    "a function does not say which records it distinguishes",
                    "Use where(…) and has(…), or declare all records",
                )
            listed = stand_ins(
                (*asked, *change.conditions),
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
            raise NotPrivateError(
                f"A query about columns under a notion whose steps are '{change.name}'",
                "a row is not a set of facts, so none can be taken away or invented",
                "Use ADP with policies over the columns, or ask about facts with has(…)",
            )
        if any(self.value(frozenset())):
            raise NotPrivateError(
                "A count of people without certain facts, under a notion about facts",
                "a person without facts is absent in such a table, so they cannot be counted",
                "Count people who have a fact: has(…), or has(…) & ~has(…)",
            )

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves over all pairs of records that the change allows.

        Raises:
            InputError: see `records`.
            NotPrivateError: see `records`.
        """
        records = self.records(change)
        values = _whole([self.value(record) for record in records])
        pairs: set[Move] = set()
        highest = lowest = values[0] * 0
        for after, value in zip(allowed_among(change, records), values, strict=True):
            if not after.any():
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


@taught
@dataclass(frozen=True)
class CountWhere(SumOverPeople):
    """Count the people whose record satisfies each condition: f_C of ADP, Section II-B1.

    Attributes:
        conditions: one a coordinate; they may overlap.
        declared: public facts about the table.
    """

    conditions: tuple[Callable[[Any], bool], ...]
    declared: Domain = Domain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _conditions(self.conditions))

    def value(self, record: object) -> tuple[int, ...]:
        """Return 1 where the condition holds for a present record."""
        return tuple(int(record is not ABSENT and bool(condition(record))) for condition in self.conditions)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """All of them."""
        return self.conditions


@taught
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
    declared: Domain = Domain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "conditions", _conditions(self.conditions))
        object.__setattr__(self, "weights", tuple(tuple(map(plainly, row)) for row in self.weights))
        if not self.weights or any(len(row) != len(self.conditions) for row in self.weights):
            raise InputError("Weights of another length", "each row has one weight a condition", "Give as many as that")
        if any(type(weight) is not int for row in self.weights for weight in row):
            raise InputError(
                "A weight that is not a whole number", "answers lie on a public grid", "Multiply by its unit"
            )

    def value(self, record: object) -> tuple[int, ...]:
        """Return the weighted sums for one person."""
        if record is ABSENT:
            return (0,) * len(self.weights)
        holds = [bool(condition(record)) for condition in self.conditions]
        return tuple(sum(w for w, h in zip(row, holds, strict=True) if h) for row in self.weights)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """All of them."""
        return self.conditions


@taught
@dataclass(frozen=True)
class SumOf(SumOverPeople):
    """Sum a column of whole numbers, each clamped to public bounds.

    A missing value, and a word, count as the number within the bounds that is nearest to 0. Values are whole numbers of a
    public unit; what brings measurements onto that grid must round half up (or half down): rounding half to even can move by
    2 units where the measurement moves by 1.

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
    declared: Domain = Domain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", plainly(self.lower))
        object.__setattr__(self, "upper", plainly(self.upper))
        if type(self.lower) is not int or type(self.upper) is not int or self.lower > self.upper:
            raise InputError(
                f"Bounds from {echo(self.lower)} to {echo(self.upper)}",
                "one person's part must be bounded by whole numbers, known before the data are read",
                "Give integers with lower <= upper, in a public unit",
            )

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """The column with its clamp."""
        return {self.column: (self.lower, self.upper)}

    def value(self, record: object) -> tuple[int, ...]:
        """Return the clamped value of one person."""
        if record is ABSENT:
            return (0,)
        number = clamped(column_of(record, self.column), (self.lower, self.upper))  # refuses what is no whole number
        return (number if self.among is None or self.among(record) else 0,)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """The restriction, if any."""
        return () if self.among is None else (self.among,)


@taught
@dataclass(frozen=True)
class Histogram(SumOverPeople):
    """Count the people with each of many public values of one column; each person is in at most one bin.

    A pair of records holds at most two values of the column. So of values that are *alike*, two stand for thousands:
    exchanging two alike values throughout must change nothing of what is counted or allowed but the names of the bins.
    Values are alike if both are bins or neither is, and every condition of the notion says the same of both; where the
    notion keeps a set of policies (ADP), of which each looks at that set as a whole, also if it has the policies "is this
    value" for both or for neither, and "is not this value" likewise.

    Attributes:
        column: the column that is counted.
        values: the public bins, one value each.
        declared: public facts about the table.
    """

    column: str
    values: tuple[Any, ...]
    declared: Domain = Domain()

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(plainly, public_list("values", self.values, in_order=True))))
        _check_values("Bins", self.values)
        if not self.values or len(set(self.values)) < len(self.values):
            raise InputError("Bins that are missing or repeat", "each public value has one bin", "List each value once")
        if any(map(is_missing, self.values)):
            raise InputError(
                "A bin of what is missing", "absent people and missing values are in no bin", "Leave out None and NaN"
            )

    def value(self, record: object) -> tuple[int, ...]:
        """Return 1 in the bin of a present record."""
        return tuple(int(is_bin(record)) for is_bin in self._bins)

    @functools.cached_property
    def _bins(self) -> tuple[Where, ...]:
        return tuple(where(self.column, equals=value) for value in self.values)

    def asked(self, change: Change) -> tuple[Callable[[Any], bool], ...]:
        """All bins."""
        return self._bins

    def effect(self, change: Change) -> Effect:
        """Return the extreme moves, found on two values of each kind."""
        if self.declared.records is not None or change.records is not None:
            return super().effect(change)
        kinds, seen = self._kinds(change), Counter[tuple[Any, ...]]()
        kept = []
        for value, kind in kinds.items():
            seen[kind] += 1
            if seen[kind] <= 2:
                kept.append(value)
        bins = tuple(value for value in self.values if value in kept)
        if not bins:  # no value that the column can hold has a bin
            return Effect(((0, 0),), ((0, 0),), ((0, 0),) * len(self.values))
        declared = replace(self.declared, columns={**self.declared.columns, self.column: kept})
        small = SumOverPeople.effect(Histogram(self.column, bins, declared), change)
        moves = {kinds[value]: move for value, move in zip(bins, small.by_coordinate or (), strict=True)}
        still: Move = (0, 0)
        return Effect(small.total, small.each, tuple(moves[kinds[v]] if v in kinds else still for v in self.values))

    def _kinds(self, change: Change) -> dict[Any, tuple[Any, ...]]:
        """Return what there is to know of each value of the column, for values that stand for all."""
        single: dict[Any, set[bool]] = {}
        rest: set[Where] = set()
        for condition in change.conditions:
            name = self._named(condition) if type(change.allows) is Keeps else None
            if name is None:
                rest |= {a for a in condition.atoms if isinstance(a, Where) and a.column == self.column}
            else:
                single.setdefault(name[1], set()).add(name[0])
        bins, named = (where(self.column, one_of=several) for several in (self.values, tuple(single)))

        def kind(value: Any) -> tuple[Any, ...]:
            said = frozenset(single[value]) if named.of_value(value) else frozenset()
            return bins.of_value(value), said, *(atom.of_value(value) for atom in rest)

        names = [name for atom in (bins, named, *rest) for name in atom.named]
        looked_at = representatives(lambda value: value, names, self.declared.columns.get(self.column), None)
        return {value: kind(value) for value in looked_at}

    def _named(self, condition: Condition) -> tuple[bool, Any] | None:
        """Whether a policy says of one single value that it is, or is not, the column's; then also which."""
        inner = condition.of if isinstance(condition, Not) else condition
        values = inner.values if isinstance(inner, Where) and inner.column == self.column else None
        if values is None or len(values) != 1 or None in values:
            return None
        return inner is condition, next(iter(values))
