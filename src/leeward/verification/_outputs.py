# SPDX-License-Identifier: Apache-2.0
"""Promises about single outputs: whether a mechanism is ULDP (`leeward.notion.ProtectedOutputs`).

The invertible outputs are found by counting from which records they are possible. What is left of the matrix is compared as
any matrix is, at the distance ε between all records; it need not be stochastic for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.errors import InputError
from leeward.exact._real import ZERO, Real, inf
from leeward.exact._weight import Weight
from leeward.notion import ProtectedOutputs
from leeward.verification._logs import Matrix
from leeward.verification._verdict import Outcome, Verdict


@dataclass
class Columns:
    """Some columns of a matrix of probabilities."""

    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    codes: NDArray[np.intp]
    values: Sequence[Weight]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    note: str

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Enclose the entries by floats (lower, upper)."""
        return self.lower, self.upper


def protected_columns(matrix: Matrix, notion: ProtectedOutputs) -> Columns | Verdict:
    """Return the protected columns, or the verdict where that is settled by which outputs are possible."""
    unknown = (notion.protected or frozenset()) - set(matrix.outputs)
    if unknown:
        raise InputError(
            f"The protected output {next(iter(unknown))!r}", "the matrix has no such output", "Name outputs of it"
        )
    possible = np.array([bool(value) for value in matrix.values], dtype=np.bool_)[matrix.codes]
    kept, named = [], 0
    for z, y in enumerate(matrix.outputs):
        sources = [matrix.inputs[x] for x in np.flatnonzero(possible[:, z]).tolist()]
        invertible = len(sources) == 1 and not notion.sensitive(sources[0])
        protected = not invertible if notion.protected is None else y in notion.protected
        if protected:
            named += 1
            kept += [z] if sources else []  # what no record gives is as likely of all
        elif not invertible:
            return _neither(matrix, y, sources)
    if not kept:
        which = "every output that comes" if named else "every output"
        return _settled(matrix, "private", f"{which} is invertible, and gives away a record that is not sensitive")
    lower, upper = matrix.bounds()
    outputs = tuple(matrix.outputs[z] for z in kept)
    sentence = f"{named} of {len(matrix.outputs)} outputs are protected; the others, if any, are invertible"
    note = "; ".join(filter(None, (sentence, getattr(matrix, "note", ""))))
    return Columns(matrix.inputs, outputs, matrix.codes[:, kept], matrix.values, lower[:, kept], upper[:, kept], note)


def one_distance(matrix: Matrix, epsilon: Real) -> tuple[tuple[Real, ...], NDArray[np.intp]]:
    """Return ε as the distance between any two records: values, and codes into them."""
    return (ZERO, epsilon), 1 - np.eye(len(matrix.inputs), dtype=np.intp)


def _neither(matrix: Matrix, output: Any, sources: list[Any]) -> Verdict:
    why = "no record gives it" if not sources else "the one record that gives it is sensitive"
    if len(sources) > 1:
        why = f"it is possible from {len(sources)} records"
    return _settled(matrix, "not private", f"the output {output!r} is not protected, and not invertible: {why}")


def _settled(matrix: Matrix, outcome: Outcome, reason: str) -> Verdict:
    count = len(matrix.inputs) * (len(matrix.inputs) - 1)
    scale = ZERO if outcome == "private" else inf
    note = getattr(matrix, "note", "")
    return Verdict(outcome, reason, count, None, None, None, None, None, (float(scale),) * 2, scale, False, note)
