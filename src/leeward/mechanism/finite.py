"""A mechanism on finitely many secrets as its exact matrix: what `leeward.verify`, risk and optimality read."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError
from leeward.exponential import Weight, weight, weighted_sum
from leeward.noise import Bits, SystemBits
from leeward.noise.digits import floor_and_rest, floor_digits
from leeward.real import Exact, Real

if TYPE_CHECKING:
    import pandas as pd

_WORD = 32


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
        matrix: Sequence[Sequence[Weight | Exact | float]] | NDArray[np.float64],
    ) -> None:
        inputs, outputs = tuple(inputs), tuple(outputs)
        shape = len(inputs), len(outputs)
        if len(matrix) != shape[0] or any(len(row) != shape[1] for row in matrix):
            raise InputError(
                "A matrix of another size",
                f"{shape[0]} secrets and {shape[1]} outputs need as many rows and columns",
                "Give one row a secret",
            )
        if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
            values, codes, sums = _floats(matrix, divide=False)
            if any(total != 1 for total in sums):
                raise InputError(
                    "Rows of floats that do not sum to exactly 1",
                    "a float is read as the binary fraction it is, and rounding has left a rest",
                    "Use FiniteMechanism.from_floats, which divides each row by its exact sum, or give exact numbers",
                )
            self._set(inputs, outputs, values, codes)
            return
        self._set(inputs, outputs, *_encode(matrix, shape))
        self._check()

    @classmethod
    def coded(
        cls, inputs: Iterable[Hashable], outputs: Iterable[Hashable], values: Sequence[Weight], codes: NDArray[np.intp]
    ) -> FiniteMechanism:
        """Build from distinct values and an n × m array of codes into them. The rows are checked all the same."""
        made = cls._trusted(inputs, outputs, values, codes)
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
        floats = np.asarray(matrix, dtype=np.float64)
        values, codes, sums = _floats(floats, divide=True)
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
        if any(value.sign() < 0 for value in self.values):
            raise InputError("A negative probability", "no mechanism has one", "Check the matrix")
        for total in row_sums(self.values, self.codes):
            if total != 1:
                raise InputError(
                    "A row that does not sum to 1", f"it sums to {float(total)!r}", "Give exact probabilities"
                )

    # ---- reading

    def probability(self, secret: Hashable, output: Hashable) -> Weight:
        """Return Pr[output | secret]."""
        return self.values[int(self.codes[self._row(secret), self._columns[output]])]

    def row(self, secret: Hashable) -> dict[Any, Weight]:
        """Return the exact distribution of the outputs for one secret."""
        return {z: self.values[c] for z, c in zip(self.outputs, self.codes[self._row(secret)].tolist(), strict=True)}

    def _row(self, secret: Hashable) -> int:
        if secret not in self._rows:
            raise InputError("A secret that is no row", "the matrix says nothing about it", "Add it to the secrets")
        return self._rows[secret]

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the matrix as floats (lower, upper) that enclose the exact probabilities."""
        lower, upper = _bounds(self.values)
        return lower[self.codes], upper[self.codes]

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the matrix rounded to floats, for plots and linear programs."""
        lower, upper = self.bounds()
        return (lower + upper) / 2

    def to_pandas(self) -> pd.DataFrame:
        """Return the matrix rounded to floats as a DataFrame: one row a secret, one column an output."""
        import pandas as pd  # lazily: pandas is slow to import

        index, columns = (pd.Index(list(labels), tupleize_cols=False) for labels in (self.inputs, self.outputs))
        return pd.DataFrame(self.to_numpy(), index=index, columns=columns)

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
        bits = bits or SystemBits()
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

    def then(self, after: Callable[[Any], Hashable] | Mapping[Any, Hashable] | FiniteMechanism) -> FiniteMechanism:
        """Return this mechanism post-processed: by a function or mapping of outputs, or by a second mechanism on them."""
        if isinstance(after, FiniteMechanism):
            second = [after.row(z) for z in self.outputs]
            outputs = after.outputs
            columns = [{j: row[z] for j, row in enumerate(second) if row[z].numerator} for z in outputs]
        else:
            rename = after.__getitem__ if isinstance(after, Mapping) else after
            images = [rename(z) for z in self.outputs]
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
        made.note = self.note
        return made

    def beside(self, other: FiniteMechanism) -> FiniteMechanism:
        """Return the mechanism that publishes both answers about one secret, drawn independently: outputs are pairs.

        Its privacy is the *sum* of the two distances (sequential composition).
        """
        theirs = other.codes[[other._row(x) for x in self.inputs]]
        outputs = [(y, z) for y in self.outputs for z in other.outputs]
        codes = (self.codes[:, :, None] * len(other.values) + theirs[:, None, :]).reshape(len(self.inputs), -1)
        return FiniteMechanism._trusted(self.inputs, outputs, *_products(self.values, other.values, codes))

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
            made = cls._trusted(inputs, outputs, *_products(made.values, part.values, codes))
        return made

    def __repr__(self) -> str:
        return f"FiniteMechanism({len(self.inputs)} secrets, {len(self.outputs)} outputs)"


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


# ---- exact sums of rows, in whole arrays


def row_sums(values: Sequence[Weight], codes: NDArray[np.intp]) -> list[Weight]:
    """Return the distinct exact row sums of a coded matrix.

    The coefficients of all exponentials are put on common denominators, so that the sums of all rows are one sparse
    product of integer matrices. Where the integers would not fit in 64 bits, rows are summed one by one.
    """
    columns: dict[tuple[int, Real], int] = {}
    bottoms: dict[Any, int] = {}
    forms: list[tuple[int, int, Fraction]] = []  # (value, column, coefficient)
    denominators: list[Mapping[Real, Fraction]] = []
    for code in np.flatnonzero(np.bincount(codes.ravel(), minlength=len(values))).tolist():
        value = values[code]
        group = bottoms.setdefault(frozenset(value.denominator.items()), len(bottoms))
        if group == len(denominators):
            denominators.append(value.denominator)
        for r, c in value.numerator.items():
            forms.append((code, columns.setdefault((group, r), len(columns)), c))
    scale = math.lcm(*{c.denominator for _, _, c in forms})
    integers = [c.numerator * (scale // c.denominator) for _, _, c in forms]
    if max(map(abs, integers), default=0) * codes.shape[1] >= 2**63:
        patterns = {tuple(row) for row in np.sort(codes, axis=1).tolist()}
        return [weighted_sum((values[c], 1) for c in pattern) for pattern in patterns]

    from scipy import sparse  # lazily: scipy is slow to import

    n, m = codes.shape
    starts = np.arange(n + 1, dtype=np.int64) * m
    counts = sparse.csr_array((np.ones(n * m, np.int64), codes.ravel(), starts), shape=(n, len(values)))
    where = ([f[0] for f in forms], [f[1] for f in forms])
    table = sparse.csr_array((np.array(integers, np.int64), where), shape=(len(values), max(len(columns), 1)))
    totals: dict[bytes, NDArray[np.int64]] = {}
    for start in range(0, n, 64):
        block = (counts[start : start + 64] @ table).toarray()
        totals.update((row.tobytes(), row) for row in block)
    names = list(columns)
    sums = []
    for row in totals.values():
        tops: list[dict[Real, Fraction]] = [{} for _ in denominators]
        for j in np.flatnonzero(row).tolist():
            group, r = names[j]
            tops[group][r] = Fraction(int(row[j]), scale)
        parts = (Weight(top, bottom) for top, bottom in zip(tops, denominators, strict=True))
        sums.append(functools.reduce(Weight.__add__, parts, weight(0)))
    return sums


def _products(
    left: Sequence[Weight], right: Sequence[Weight], codes: NDArray[np.intp]
) -> tuple[list[Weight], NDArray[np.intp]]:
    used, renamed = np.unique(codes, return_inverse=True)
    made = [left[k // len(right)] * right[k % len(right)] for k in used.tolist()]
    merged: dict[Any, int] = {}
    same = np.array([merged.setdefault(_form(value), len(merged)) for value in made], dtype=np.intp)
    distinct = [made[k] for k in np.unique(same, return_index=True)[1].tolist()]
    return distinct, same[renamed].reshape(codes.shape)


# ---- exact values from what is given


class _Floats(Sequence[Weight]):
    """Exact values that were floats: float / divisor, made one at a time when asked for, to keep a million of them small."""

    def __init__(self, floats: NDArray[np.float64], divisors: Sequence[Fraction], which: NDArray[np.intp]) -> None:
        self._numbers, self._divisors, self._which = floats, divisors, which

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> Weight: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Weight]: ...
    def __getitem__(self, at: int | slice) -> Weight | Sequence[Weight]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        return weight(Fraction(float(self._numbers[at])) / self._divisors[int(self._which[at])])

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Enclose float / divisor: two correct roundings, so three steps of the last place outward are enough."""
        divisors = np.array([float(d) for d in self._divisors])[self._which]
        lower = upper = self._numbers / divisors
        for _ in range(3):
            lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
        zero = self._numbers == 0
        return np.where(zero, 0.0, np.maximum(lower, 0.0)), np.where(zero, 0.0, upper)


def _bounds(values: Sequence[Weight]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if isinstance(values, _Floats):
        return values.bounds()
    pairs = np.array([(0.0, 0.0) if not value else value.bounds() for value in values]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def _floats(matrix: NDArray[np.float64], *, divide: bool) -> tuple[_Floats, NDArray[np.intp], list[Fraction]]:
    """Return values, codes and exact row sums of a matrix of floats, divided by those sums or not."""
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        raise InputError("A float that is no probability", "it is negative, infinite or NaN", "Check the matrix")
    sums = [_exact_sum(row) for row in matrix]
    if not all(sums):
        raise InputError("A row without a positive probability", "something must be published", "Check the matrix")
    divisors = sums if divide else [Fraction(1)] * len(sums)
    known: dict[Fraction, int] = {}
    which = np.array([known.setdefault(d, len(known)) for d in divisors], dtype=np.intp)
    numbers, codes = np.unique(matrix, return_inverse=True)
    keys, codes = np.unique(codes.reshape(matrix.shape) * len(known) + which[:, None], return_inverse=True)
    values = _Floats(numbers[keys // len(known)], list(known), keys % len(known))
    return values, codes.reshape(matrix.shape), sums


def _exact_sum(floats: NDArray[np.float64]) -> Fraction:
    mantissas, exponents = np.frexp(floats)
    integers, shifts = (mantissas * 2.0**53).astype(np.int64).tolist(), exponents.tolist()
    low = min(shifts)
    total = sum(a << (s - low) for a, s in zip(integers, shifts, strict=True))
    power = low - 53
    return Fraction(total << power) if power >= 0 else Fraction(total, 1 << -power)


def _encode(
    matrix: Sequence[Sequence[Weight | Exact | float]] | NDArray[Any], shape: tuple[int, int]
) -> tuple[tuple[Weight, ...], NDArray[np.intp]]:
    seen: dict[Any, int] = {}
    values: list[Weight] = []
    codes = np.empty(shape, dtype=np.intp)
    for i, row in enumerate(matrix):
        for j, entry in enumerate(row):
            given = Fraction(entry) if isinstance(entry, float | int) and math.isfinite(entry) else entry
            key = _form(given) if isinstance(given, Weight) else given
            if key not in seen:
                seen[key] = len(values)
                values.append(weight(given))
            codes[i, j] = seen[key]
    return tuple(values), codes


def _form(value: Weight) -> tuple[Any, ...]:
    return frozenset(value.numerator.items()), frozenset(value.denominator.items())
