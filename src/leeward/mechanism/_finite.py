# SPDX-License-Identifier: Apache-2.0
"""A mechanism on finitely many secrets as its exact matrix: what `leeward.verify`, risk and optimality read.

Machine-checked (docs/proved.md): `post_processing_random`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leeward._arrays import given_array
from leeward._optional import optional
from leeward._taught import in_order, taught
from leeward.errors import InputError
from leeward.exact._real import Exact, whole
from leeward.exact._weight import Weight, weight, weighted_sum
from leeward.mechanism._matrix_entries import Entry, Rationals, enclose, form, read_entries, read_floats, row_sums
from leeward.noise import Bits, SystemBits
from leeward.noise._digits import floor_and_rest, floor_digits

if TYPE_CHECKING:
    import pandas as pd

_WORD = 32


@taught
class FiniteMechanism:
    """Pr[output z | secret x] for finitely many x and z, exact.

    Kept as codes into a sequence of exact values: whole-array work stays fast, every entry stays a `Weight`.

    Args:
        inputs: the n secrets (rows), hashable and distinct.
        outputs: the m outputs (columns), hashable and distinct.
        matrix: n rows of m exact probabilities. A float is read as the binary fraction it is, so rows of floats seldom
            sum to 1: `from_floats` is for those.

    Attributes:
        values: the distinct exact probabilities.
        codes: n × m integers, which of the values stands where.
        note: what a reader of a verdict on this matrix must know about it; empty where it is exactly as given.

    Raises:
        InputError: if an entry is negative or a row does not sum to exactly 1.
    """

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    values: Sequence[Weight]
    codes: NDArray[np.intp]
    note: str = ""

    def __init__(
        self,
        inputs: Iterable[Hashable],
        outputs: Iterable[Hashable],
        matrix: Sequence[Sequence[Entry]] | NDArray[np.float64],
    ) -> None:
        inputs, outputs = in_order("inputs", inputs), in_order("outputs", outputs)
        shape = len(inputs), len(outputs)
        if len(matrix) != shape[0] or any(len(row) != shape[1] for row in matrix):
            raise InputError(
                "A matrix of another size",
                f"{shape[0]} secrets and {shape[1]} outputs need as many rows and columns",
                "Give one row a secret",
            )
        if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
            values, codes, sums = read_floats(matrix, divide=False)
            if any(total != 1 for total in sums):
                raise InputError(
                    "Rows of floats that do not sum to exactly 1",
                    "a float is read as the binary fraction it is, and rounding has left a rest",
                    "Use FiniteMechanism.from_floats, which divides each row by its exact sum, or give exact numbers",
                )
            self._set(inputs, outputs, values, codes)
            return
        self._set(inputs, outputs, *read_entries(matrix, shape))
        self._check()

    @classmethod
    def coded(
        cls, inputs: Iterable[Hashable], outputs: Iterable[Hashable], values: Sequence[Weight], codes: NDArray[np.intp]
    ) -> FiniteMechanism:
        """Build from distinct values and an n × m array of codes into them. The rows are checked all the same."""
        made = cls._trusted(in_order("inputs", inputs), in_order("outputs", outputs), values, codes)
        made._check()
        return made

    @classmethod
    def from_rows(cls, rows: Mapping[Any, Mapping[Any, Weight | Exact]]) -> FiniteMechanism:
        """Build from one distribution a secret: ``{secret: {output: probability}}``; an output left out has none."""
        outputs = tuple(dict.fromkeys(z for row in rows.values() for z in row))
        return cls(rows, outputs, [[row.get(z, 0) for z in outputs] for row in rows.values()])

    @classmethod
    def from_floats(
        cls, inputs: Iterable[Hashable], outputs: Iterable[Hashable], matrix: Sequence[Sequence[float]]
    ) -> FiniteMechanism:
        """Build from floats: each is read as the binary fraction it is and divided by the exact sum of its row.

        So what is verified is a neighbour of the matrix in mind, and `note` says how far the rows were from 1. At the
        knife edge it matters: the rounded matrix of an ε-private mechanism is usually not ε-private.

        Raises:
            InputError: if a float is negative, infinite or NaN, or a row has no positive one.
        """
        inputs, outputs = in_order("inputs", inputs), in_order("outputs", outputs)
        floats = given_array(matrix, np.float64)
        values, codes, sums = read_floats(floats, divide=True)
        made = cls._trusted(inputs, outputs, values, codes)
        off = max(abs(total - 1) for total in sums)
        made.note = f"its rows were floats, each divided by its exact sum (at most {float(off):.1e} away from 1)"
        return made

    @classmethod
    def _trusted(
        cls, inputs: Iterable[Hashable], outputs: Iterable[Hashable], values: Sequence[Weight], codes: NDArray[np.intp]
    ) -> FiniteMechanism:
        made = cls.__new__(cls)
        made._set(tuple(inputs), tuple(outputs), values, codes)
        return made

    def _set(
        self, inputs: tuple[Any, ...], outputs: tuple[Any, ...], values: Sequence[Weight], codes: NDArray[np.intp]
    ) -> None:
        self.inputs, self.outputs, self.values, self.codes = inputs, outputs, values, np.asarray(codes, dtype=np.intp)
        self._rows = {x: row for row, x in enumerate(inputs)}
        self._columns = {z: column for column, z in enumerate(outputs)}
        self._inverses: dict[Any, tuple[list[Weight], NDArray[np.int64]]] = {}
        for name, labels, places in (("secrets", inputs, self._rows), ("outputs", outputs, self._columns)):
            if len(places) != len(labels):
                raise InputError(f"Repeated {name}", "each is listed once", "Merge the repeats")
        if self.codes.shape != (len(inputs), len(outputs)):
            raise InputError("A matrix of another size", "it needs one row a secret", "Give as many columns as outputs")

    def _check(self) -> None:
        if self._has_negative():
            raise InputError("A negative probability", "no mechanism has one", "Check the matrix")
        for total in row_sums(self.values, self.codes):
            if total != 1:
                raise InputError(
                    "A row that does not sum to 1", f"it sums to {float(total)!r}", "Give exact probabilities"
                )

    def _has_negative(self) -> bool:
        if isinstance(self.values, Rationals):
            return any(self.values.fraction(k) < 0 for k in range(len(self.values)))
        return any(value.sign() < 0 for value in self.values)

    # ---- reading

    def probability(self, secret: Hashable, output: Hashable) -> Weight:
        """Return Pr[output | secret]."""
        if output not in self._columns:
            raise InputError(
                "An output that is not a column", "the matrix says nothing about it", "Add it to the outputs"
            )
        return self.values[int(self.codes[self._row(secret), self._columns[output]])]

    def row(self, secret: Hashable) -> dict[Any, Weight]:
        """Return the exact distribution of the outputs for one secret."""
        return {z: self.values[c] for z, c in zip(self.outputs, self.codes[self._row(secret)].tolist(), strict=True)}

    def _row(self, secret: Hashable) -> int:
        if secret not in self._rows:
            raise InputError("A secret that is not a row", "the matrix says nothing about it", "Add it to the secrets")
        return self._rows[secret]

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix as floats (lower, upper) that enclose the exact probabilities."""
        lower, upper = enclose(self.values)
        return lower[self.codes], upper[self.codes]

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the matrix rounded to floats, for plots and linear programs."""
        lower, upper = self.bounds()
        return (lower + upper) / 2

    def to_pandas(self) -> pd.DataFrame:
        """Return the matrix rounded to floats as a DataFrame: one row a secret, one column an output."""
        pandas = optional("pandas", "A matrix as a DataFrame")
        index, columns = (pandas.Index(list(labels), tupleize_cols=False) for labels in (self.inputs, self.outputs))
        made: pd.DataFrame = pandas.DataFrame(self.to_numpy(), index=index, columns=columns)
        return made

    # ---- drawing

    def sample(self, secret: Hashable, size: int, bits: Bits | None = None) -> list[Any]:
        """Return ``size`` independent outputs for one secret, drawn exactly.

        Inversion: a uniform real is compared with the exact cumulative probabilities, 32 bits first, more where those
        agree.

        Args:
            secret: a row.
            size: how many outputs.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.
        """
        bits, size = bits or SystemBits(), whole(size, "size", 0)
        if secret not in self._inverses:
            self._inverses[secret] = self._cumulative(secret)
        cumulative, floors = self._inverses[secret]
        words = np.empty(size, np.uint32)
        bits.fill(words)
        first = np.searchsorted(floors, words, side="left")  # outputs surely below the word are passed over
        last = np.searchsorted(floors, words, side="right")
        for i in np.flatnonzero(first != last).tolist():
            first[i] = _invert(cumulative, int(first[i]), int(last[i]), int(words[i]), bits)
        return [self.outputs[j] for j in first.tolist()]

    def release(self, secret: Hashable, bits: Bits | None = None) -> Any:
        """Return one output for one secret, drawn exactly."""
        return self.sample(secret, 1, bits)[0]

    def _cumulative(self, secret: Hashable) -> tuple[list[Weight], NDArray[np.int64]]:
        if isinstance(self.values, Rationals):
            sums = list(itertools.accumulate(map(self.values.fraction, self.codes[self._row(secret)].tolist())))[:-1]
            floors = [(each.numerator << _WORD) // each.denominator for each in sums]
            return [weight(each) for each in sums], np.array(floors, np.int64)
        terms = [(p, 1) for p in self.row(secret).values()]
        cumulative = [weighted_sum(terms[: j + 1]) for j in range(len(terms) - 1)]  # the last is 1, never reached
        return cumulative, np.array([floor_digits(c, _WORD) for c in cumulative], np.int64)

    # ---- making new ones

    def pull_back(self, secrets: Iterable[Hashable], query: Callable[[Any], Hashable]) -> FiniteMechanism:
        """Return the mechanism on secrets that answers ``query`` by this one (Chatzikokolakis et al., Fact 5)."""
        secrets = tuple(secrets)
        rows = [self._row(query(secret)) for secret in secrets]
        made = FiniteMechanism._trusted(secrets, self.outputs, self.values, self.codes[rows])
        made.note = self.note
        return made

    def then(self, after: Callable[[Any], Any] | Mapping[Any, Any] | FiniteMechanism) -> FiniteMechanism:
        """Return this mechanism post-processed, or followed by a second one about the same secret.

        A function or mapping of outputs, or a mechanism *on outputs*, post-processes: only its result is published. A
        function or mapping that gives a mechanism *on the secrets* for each output is adaptive composition: both answers
        are published, as pairs, and the second may be chosen by what the first said. If the first is d-private and every
        second one d'-private, the pair is (d + d')-private (Takagi et al., ADP, Theorem VIII.6).

        Raises:
            InputError: only some outputs are followed by a mechanism, or one does not know a secret of this one.
        """
        if isinstance(after, FiniteMechanism):
            second = [after.row(z) for z in self.outputs]
            outputs = after.outputs
            columns = [{j: row[z] for j, row in enumerate(second) if row[z].numerator} for z in outputs]
        else:
            images = self._images(after)
            if any(isinstance(image, FiniteMechanism) for image in images):
                return self._followed_by(images)
            outputs = tuple(dict.fromkeys(images))
            columns = [{j: weight(1) for j, image in enumerate(images) if image == z} for z in outputs]
        values: list[Weight] = []
        seen: dict[Any, int] = {}
        codes = np.empty((len(self.inputs), len(outputs)), dtype=np.intp)
        for at, column in enumerate(columns):
            needed, factors = list(column), list(column.values())
            own = None if all(f == 1 for f in factors) else at  # merged columns share their sums
            for i, held in enumerate(self.codes[:, needed].tolist()):
                key = (*held, own)
                if key not in seen:
                    seen[key] = len(values)
                    values.append(weighted_sum((self.values[c] * f, 1) for c, f in zip(held, factors, strict=True)))
                codes[i, at] = seen[key]
        made = FiniteMechanism.coded(self.inputs, outputs, values, codes)
        made.note = _noted(self, after) if isinstance(after, FiniteMechanism) else self.note
        return made

    def _images(self, after: Callable[[Any], Any] | Mapping[Any, Any]) -> list[Any]:
        if not isinstance(after, Mapping):
            images = [after(z) for z in self.outputs]
        else:
            try:
                images = [after[z] for z in self.outputs]
            except KeyError:
                raise InputError(
                    "A mapping of outputs that leaves some out", "each becomes something", "Name every output"
                ) from None
        if not all(isinstance(image, Hashable) for image in images):
            raise InputError("Outputs that cannot be told apart", "they are not hashable", "Give tuples for lists")
        return images

    def _followed_by(self, seconds: Sequence[Any]) -> FiniteMechanism:
        """Publish z and the answer of the second mechanism for z: Pr[(z, w) | x] = Pr[z | x]·Pr_z[w | x]."""
        outputs: list[Any] = []
        values: list[Weight] = []
        columns = []
        for at, (z, second) in enumerate(zip(self.outputs, seconds, strict=True)):
            if not isinstance(second, FiniteMechanism):
                raise InputError(
                    f"No second mechanism after the output {z!r}",
                    "an adaptive composition has a second mechanism after every output",
                    "Give a mechanism for every output; one with a single output says nothing",
                )
            theirs = second.codes[[second._row(x) for x in self.inputs]]
            made, codes = _products(self.values, second.values, self.codes[:, [at]] * len(second.values) + theirs)
            columns.append(codes + len(values))
            values += made
            outputs += [(z, w) for w in second.outputs]
        both = FiniteMechanism._trusted(self.inputs, outputs, values, np.concatenate(columns, axis=1))
        both.note = _noted(self, *seconds)
        return both

    def beside(self, other: FiniteMechanism) -> FiniteMechanism:
        """Return the mechanism that publishes both answers about one secret, drawn independently: outputs are pairs.

        Its privacy is the *sum* of the two distances (sequential composition).
        """
        theirs = other.codes[[other._row(x) for x in self.inputs]]
        outputs = [(y, z) for y in self.outputs for z in other.outputs]
        codes = (self.codes[:, :, None] * len(other.values) + theirs[:, None, :]).reshape(len(self.inputs), -1)
        both = FiniteMechanism._trusted(self.inputs, outputs, *_products(self.values, other.values, codes))
        both.note = _noted(self, other)
        return both

    @classmethod
    def product(cls, parts: Iterable[FiniteMechanism]) -> FiniteMechanism:
        """Return independent answers about independent secrets: secrets and outputs are tuples, one entry a part.

        Its privacy is the sum over coordinates of the parts' distances; a `Line` on vectors is such a sum.
        """
        made = cls.from_rows({(): {(): 1}})
        for part in parts:
            inputs = [(*x, y) for x in made.inputs for y in part.inputs]
            outputs = [(*x, y) for x in made.outputs for y in part.outputs]
            codes = made.codes[:, None, :, None] * len(part.values) + part.codes[None, :, None, :]
            codes = codes.reshape(len(inputs), len(outputs))
            note = _noted(made, part)
            made = cls._trusted(inputs, outputs, *_products(made.values, part.values, codes))
            made.note = note
        return made

    def __repr__(self) -> str:
        return f"FiniteMechanism({len(self.inputs)} secrets, {len(self.outputs)} outputs)"


def _noted(*parts: FiniteMechanism) -> str:
    """What must be known of a mechanism that is made of others: the note of each, once."""
    return "; ".join(dict.fromkeys(part.note for part in parts if part.note))


def _invert(cumulative: Sequence[Weight], first: int, last: int, prefix: int, bits: Bits) -> int:
    """Return the least j from ``first`` with U < cumulative[j], for a uniform U whose first bits are ``prefix``."""
    width = _WORD
    for j in range(first, last):
        while True:
            floor, more = floor_and_rest(cumulative[j], width)
            if prefix != floor or not more:
                break
            prefix, width = prefix << 64 | bits.integer(64), width + 64
        if prefix < floor:
            return j
    return last


def _products(
    left: Sequence[Weight], right: Sequence[Weight], codes: NDArray[np.intp]
) -> tuple[list[Weight], NDArray[np.intp]]:
    used, renamed = np.unique(codes, return_inverse=True)
    made = [left[k // len(right)] * right[k % len(right)] for k in used.tolist()]
    merged: dict[Any, int] = {}
    same = np.array([merged.setdefault(form(value), len(merged)) for value in made], dtype=np.intp)
    distinct = [made[k] for k in np.unique(same, return_index=True)[1].tolist()]
    return distinct, same[renamed].reshape(codes.shape)
