"""A mechanism on finitely many secrets as its exact matrix: what `leeward.verify`, risk and optimality read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError
from leeward.exponential import Weight, weight, weighted_sum
from leeward.real import Exact


class FiniteMechanism:
    """Pr[output z | secret x] for finitely many x and z, exact.

    Kept as codes into a tuple of distinct exact values: whole-array work stays fast, every entry stays a `Weight`.

    Args:
        inputs: the n secrets (rows), distinct.
        outputs: the m outputs (columns), distinct.
        matrix: n rows of m exact probabilities, or None when made by `coded`.

    Raises:
        InputError: if an entry is negative or a row does not sum to exactly 1.
    """

    def __init__(
        self, inputs: Iterable[Hashable], outputs: Iterable[Hashable], matrix: Sequence[Sequence[Weight | Exact]]
    ) -> None:
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        if len(matrix) != len(self.inputs) or any(len(row) != len(self.outputs) for row in matrix):
            raise InputError(
                "A matrix of another size",
                f"{len(self.inputs)} secrets and {len(self.outputs)} outputs need as many rows and columns",
                "Give one row a secret",
            )
        self.values, self.codes = _encode(matrix, (len(self.inputs), len(self.outputs)))
        self._check()

    @classmethod
    def coded(
        cls, inputs: Iterable[Hashable], outputs: Iterable[Hashable], values: Sequence[Weight], codes: NDArray[np.intp]
    ) -> FiniteMechanism:
        """Build from distinct values and codes into them. The rows are checked all the same."""
        made = cls.__new__(cls)
        made.inputs, made.outputs = tuple(inputs), tuple(outputs)
        made.values, made.codes = tuple(values), np.asarray(codes, dtype=np.intp)
        made._check()
        return made

    def _check(self) -> None:
        for name, labels in (("secrets", self.inputs), ("outputs", self.outputs)):
            if len(set(labels)) != len(labels):
                raise InputError(f"Repeated {name}", "each is listed once", "Merge the repeats")
        if any(value.sign() < 0 for value in self.values):
            raise InputError("A negative probability", "no mechanism has one", "Check the matrix")
        patterns = np.array([np.bincount(row, minlength=len(self.values)) for row in self.codes]).reshape(
            len(self.inputs), len(self.values)
        )
        for pattern in np.unique(patterns, axis=0):
            total = weighted_sum((self.values[code], int(pattern[code])) for code in np.nonzero(pattern)[0])
            if total != 1:
                raise InputError(
                    "A row that does not sum to 1", f"it sums to {float(total)!r}", "Give exact probabilities"
                )

    def probability(self, secret: Hashable, output: Hashable) -> Weight:
        """Return Pr[output | secret]."""
        return self.values[int(self.codes[self.inputs.index(secret), self.outputs.index(output)])]

    def row(self, secret: Hashable) -> dict[Any, Weight]:
        """Return the exact distribution of the outputs for one secret."""
        codes = self.codes[self.inputs.index(secret)]
        return {z: self.values[int(c)] for z, c in zip(self.outputs, codes, strict=True)}

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix as floats (lower, upper) that enclose the exact probabilities."""
        pairs = np.array([(0.0, 0.0) if not value else value.bounds() for value in self.values])
        return pairs[self.codes, 0], pairs[self.codes, 1]

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the matrix rounded to floats, for plots and linear programs."""
        return np.array([float(value) for value in self.values])[self.codes]

    def pull_back(self, secrets: Iterable[Hashable], query: Callable[[Any], Hashable]) -> FiniteMechanism:
        """Return the mechanism on secrets that answers ``query`` by this one (Chatzikokolakis et al., Fact 5)."""
        secrets = tuple(secrets)
        rows = [self.inputs.index(query(secret)) for secret in secrets]
        return FiniteMechanism.coded(secrets, self.outputs, self.values, self.codes[rows])

    def then(self, after: Callable[[Any], Hashable] | Mapping[Any, Hashable] | FiniteMechanism) -> FiniteMechanism:
        """Return this mechanism post-processed: by a function or mapping of outputs, or by a second mechanism on them."""
        if isinstance(after, FiniteMechanism):
            second = [after.row(z) for z in self.outputs]
            outputs, columns = after.outputs, [[row[z] for row in second] for z in after.outputs]
        else:
            rename = after.__getitem__ if isinstance(after, Mapping) else after
            images = [rename(z) for z in self.outputs]
            outputs = tuple(dict.fromkeys(images))
            columns = [[weight(int(image == z)) for image in images] for z in outputs]
        matrix = [[_dot(self.values, codes, column) for column in columns] for codes in self.codes]
        return FiniteMechanism(self.inputs, outputs, matrix)

    def beside(self, other: FiniteMechanism) -> FiniteMechanism:
        """Return the mechanism that publishes both answers, drawn independently: outputs are pairs.

        Its privacy is the *sum* of the two distances (sequential composition).
        """
        rows = [other.row(secret) for secret in self.inputs]
        outputs = [(y, z) for y in self.outputs for z in other.outputs]
        matrix = [
            [self.values[int(code)] * p for code in codes for p in row.values()]
            for codes, row in zip(self.codes, rows, strict=True)
        ]
        return FiniteMechanism(self.inputs, outputs, matrix)

    def __repr__(self) -> str:
        return f"FiniteMechanism({len(self.inputs)} secrets, {len(self.outputs)} outputs)"


def _dot(values: Sequence[Weight], codes: NDArray[np.intp], column: Sequence[Weight]) -> Weight:
    total = weight(0)
    for code, factor in zip(codes, column, strict=True):
        if factor.numerator and values[int(code)].numerator:
            total = total + values[int(code)] * factor
    return total


def _encode(
    matrix: Sequence[Sequence[Weight | Exact]], shape: tuple[int, int]
) -> tuple[tuple[Weight, ...], NDArray[np.intp]]:
    seen: dict[Any, int] = {}
    values: list[Weight] = []
    codes = np.empty(shape, dtype=np.intp)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            key = _form(entry) if isinstance(entry, Weight) else Fraction(entry) if isinstance(entry, int) else entry
            if key not in seen:
                seen[key] = len(values)
                values.append(weight(entry))
            codes[i, j] = seen[key]
    return tuple(values), codes


def _form(value: Weight) -> tuple[Any, ...]:
    return frozenset(value.numerator.items()), frozenset(value.denominator.items())
