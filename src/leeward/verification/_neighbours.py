# SPDX-License-Identifier: Apache-2.0
"""Which ordered pairs an (ε, δ)-promise is about.

Differential privacy with δ > 0 is a promise between *neighbours*: ``Pr[Z | x] ≤ e^ε · Pr[Z | x'] + δ`` where one step leads
from x to x'. Over i steps, each of cost ε, it is worth ``e^{iε}`` and ``δ·Σ_{j<i} e^{jε}``, which is more than δ. So a
distance alone does not say what δ is about; its steps do. A notion knows them. In a finite space they are the pairs that
generate the distance: those that no third point divides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leeward.distance import DirectedDistance, FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import Real
from leeward.verification._steps import IrreduciblePairs

_ELSE = "or ask for the same δ at every distance, which is another promise and a stronger one: same_delta=…"


def neighbours(
    distance: DirectedDistance[Any], values: tuple[Real, ...], between: NDArray[np.intp], inputs: tuple[Any, ...]
) -> NDArray[np.bool_]:
    """Return which ordered pairs of the secrets are one step apart.

    Args:
        distance: a notion, which knows its steps, or a finite distance, whose generating pairs are its steps.
        values: the distinct distances.
        between: codes into them, rows and columns in the order of the secrets.
        inputs: the secrets.

    Raises:
        InputError: if the distance has no steps, or they do not lead from each secret to each other one at finite
            distance over listed secrets: then something would be promised that is not looked at.
    """
    if isinstance(distance, FiniteDistance):
        stepping = _generating(distance, inputs)
    elif hasattr(distance, "neighbours"):
        stepping = distance.neighbours(inputs)
    else:
        raise InputError(
            f"δ under {distance}",
            "it is a promise between neighbours, and this distance does not say which pairs those are",
            f"Give a notion, or distance.on(points): its generating pairs are then the steps; {_ELSE}",
        )
    irreducible = IrreduciblePairs(values, between)
    for x, point in enumerate(inputs):
        missed = np.flatnonzero(irreducible.of(x) & ~stepping[x])
        if missed.size:
            raise InputError(
                f"δ under {distance}, from {point!r} to {inputs[int(missed[0])]!r}",
                "it is a promise between neighbours; these are not, and the steps between them lead over secrets that"
                " are not listed",
                f"List those too (all tables, with ABSENT among the records where people may be missing), {_ELSE}",
            )
    return stepping


def _generating(distance: FiniteDistance[Any], inputs: tuple[Any, ...]) -> NDArray[np.bool_]:
    irreducible = IrreduciblePairs(distance.values, distance.codes)
    place = {point: row for row, point in enumerate(distance.points)}
    order = [place[x] for x in inputs]
    return np.array([irreducible.of(x)[order] for x in order], dtype=np.bool_).reshape(len(order), len(order))
