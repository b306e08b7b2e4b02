# SPDX-License-Identifier: Apache-2.0
"""Utility-optimized randomized response and RAPPOR: all of the noise is for the sensitive records.

The uRR and the uRAP of T. Murakami and Y. Kawamoto, *Utility-optimized local differential privacy mechanisms for
distribution estimation* (USENIX Security 2019). Both keep their (X_S, Y_P, ε)-ULDP (`leeward.notion.ProtectedOutputs`) with
equality. With s sensitive records, E = e^ε and S = s + E − 1:

* `urr` answers with a record. A sensitive one with itself at E/S, with each other sensitive one at 1/S. Another one with
  each sensitive one at 1/S, else, at (E − 1)/S, with itself, and that gives it away. Y_P are the sensitive records. If all
  are sensitive it is the randomized response of local DP; with one sensitive *yes* and one other *no* it is `mangat`.
* `urap` answers with one bit a record. With θ = e^{ε/2}/(1 + e^{ε/2}) a sensitive record sets its own bit with probability
  θ and the bit of each other sensitive record with 1 − θ. Another record sets each of these with 1 − θ, and its own with
  1 − e^{−ε/2}, which gives it away. Y_P are the outputs in which only bits of sensitive records are set.

Why `urap` keeps ε: at an output of Y_P two sensitive records have the ratio (θ/(1 − θ))² = e^ε at most, where the bit of one
is set and that of the other is not; a sensitive one and another have θ/((1 − θ)·e^{−ε/2}) = e^ε where the bit of the
sensitive one is set, and (1 − θ)/(θ·e^{−ε/2}) = 1 where it is not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from typing import Any

from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact, finite
from leeward.exact._weight import Weight, exp, exp_minus
from leeward.mechanism._finite import FiniteMechanism
from leeward.notion._policy import check_policies

_MOST = 200_000
"""Entries of a matrix that is still made in seconds."""


@taught
def urr(epsilon: Exact, records: Iterable[Hashable], sensitive: Callable[[Any], bool]) -> FiniteMechanism:
    """Return utility-optimized randomized response on the given records, exact; outputs are the records.

    Args:
        epsilon: ε of ULDP, finite and above 0.
        records: the n records there are.
        sensitive: which of them are; a public rule.

    Raises:
        InputError: if ε is not finite and above 0, or no record is sensitive, or one repeats.
    """
    rate, (hidden, others) = finite(epsilon, "epsilon"), _divided(records, sensitive)
    chance = 1 / (len(hidden) - 1 + exp(rate))
    rows: dict[Any, dict[Any, Weight | Exact]] = {x: dict.fromkeys(hidden, chance) for x in (*hidden, *others)}
    for x in hidden:
        rows[x][x] = chance * exp(rate)
    for x in others:
        rows[x][x] = chance * (exp(rate) - 1)
    return FiniteMechanism.from_rows(rows)


@taught
def urap(epsilon: Exact, records: Iterable[Hashable], sensitive: Callable[[Any], bool]) -> FiniteMechanism:
    """Return utility-optimized RAPPOR on the given records, exact; outputs are the sets of records whose bit is set.

    Args:
        epsilon: ε of ULDP, finite and above 0.
        records: the n records there are; s of them sensitive give 2^s·(n − s + 1) outputs.
        sensitive: which of them are; a public rule.

    Raises:
        InputError: as for `urr`, and if there are too many outputs to list.
    """
    rate, (hidden, others) = finite(epsilon, "epsilon"), _divided(records, sensitive)
    if len(hidden) > 16 or (len(hidden) + len(others)) * (len(others) + 1) << len(hidden) > _MOST:
        raise InputError(
            f"{len(hidden)} sensitive records among {len(hidden) + len(others)}",
            "each set of them is an output, and its matrix would be too large",
            "Use urr, whose outputs are the records",
        )
    set_at = 1 / (1 + exp_minus(rate / 2))
    unset, given_away = 1 - set_at, 1 - exp_minus(rate / 2)
    said = [set_at ** (len(hidden) - wrong) * unset**wrong for wrong in range(len(hidden) + 1)]
    sets = [frozenset(chosen) for k in range(len(hidden) + 1) for chosen in itertools.combinations(hidden, k)]
    rows: dict[Any, dict[Any, Weight | Exact]] = {}
    for x in hidden:
        rows[x] = {z: said[len(z ^ {x})] for z in sets}
    for x in others:
        bits = {z: said[len(z)] for z in sets}
        rows[x] = {z: p * (1 - given_away) for z, p in bits.items()}
        rows[x] |= {z | {x}: p * given_away for z, p in bits.items()}
    return FiniteMechanism.from_rows(rows)


def _divided(records: Iterable[Any], sensitive: Callable[[Any], bool]) -> tuple[list[Any], list[Any]]:
    check_policies((sensitive,))
    listed = tuple(records)
    if len(set(listed)) < len(listed):
        raise InputError("A record that repeats", "each is listed once", "Drop the repeats")
    hidden = [x for x in listed if sensitive(x)]
    if not hidden:
        raise InputError(
            f"{len(listed)} records, none of them sensitive",
            "then nothing is to be hidden, and each may be published as it is",
            "List all records there are, and say which of them are sensitive",
        )
    return hidden, [x for x in listed if x not in set(hidden)]
