# SPDX-License-Identifier: Apache-2.0
"""What an adversary learns: posteriors, and the Risk of a mechanism (Takagi et al., ADP, Section III-C).

    Risk_π(M, p) = max over outputs z of  (Pr[p | z] / Pr[¬p | z]) / (Pr[p] / Pr[¬p])

for an adversary who believes π about one record, knows all the others, and wants to know whether p holds for it. ∞ means
that some output makes p certain. ε-DP bounds it by e^ε for every p and π; ADP does so for what it protects (Propositions
IV.4 and IV.5), and nothing does for what a notion leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leeward._plain import echo
from leeward._taught import taught
from leeward.analysis._prior import Prior, read_prior
from leeward.analysis._remap import as_finite
from leeward.errors import InputError
from leeward.exact._real import Exact, whole
from leeward.exact._weight import Weight, weight, weighted_sum
from leeward.mechanism import FiniteMechanism, Geometric


@dataclass(frozen=True)
class Risk:
    """The largest factor by which an output can raise the odds of a proposition.

    Attributes:
        odds: the factor, exactly; None where it is ∞: an output makes the proposition certain.
        output: an output that attains it; None where nothing can be learnt because the prior knows already.
        others: the records of the other persons there; empty for a mechanism on single records.
    """

    odds: Weight | None
    output: Any = None
    others: tuple[Any, ...] = ()

    @property
    def is_infinite(self) -> bool:
        """Whether some output makes the proposition certain."""
        return self.odds is None

    def at_most(self, bound: Weight | Exact) -> bool:
        """Return whether the risk is at most a bound, exactly."""
        return self.odds is not None and self.odds <= weight(bound)

    def __float__(self) -> float:
        return float("inf") if self.odds is None else float(self.odds)

    def __str__(self) -> str:
        return f"{float(self):.6g}"


@taught
def risk(
    mechanism: FiniteMechanism | Geometric, prior: Prior, about: Callable[[Any], bool], *, person: int | None = None
) -> Risk:
    """Return Risk_π(M, p), exactly (Takagi et al., ADP, Section III-C).

    0 where the prior already knows whether the proposition holds; a/0 = ∞ otherwise. Outputs of probability 0 do not
    count.

    Args:
        mechanism: the exact matrix; a `Geometric` must have both bounds. Its secrets are single records; or, with
            ``person``, tables: tuples of records.
        prior: π, the adversary's belief about the record: by record, or ``"uniform"``.
        about: p, the proposition about a record.
        person: whose record it is, a position in the tables; the risk is then the largest over all records of the
            others, which the adversary knows.

    Raises:
        InputError: if the prior is not a distribution on the records, a table it makes possible is missing, or nobody is at
            the position in some table.
    """
    mechanism = as_finite(mechanism)
    worst = Risk(weight(0))
    for others, rows in _situations(mechanism, person).items():
        beliefs = _beliefs(rows, prior)
        true, false = ({x: p for x, p in beliefs.items() if bool(about(x)) is held} for held in (True, False))
        if not true or not false:
            continue
        prior_odds = sum(true.values(), Fraction(0)) / sum(false.values(), Fraction(0))
        for z in mechanism.outputs:
            for_it, against = (_joint(mechanism, rows, side, z) for side in (true, false))
            if not for_it:
                continue
            if not against:
                return Risk(None, z, others)
            odds = for_it / (against * prior_odds)
            if worst.odds is not None and odds > worst.odds:
                worst = Risk(odds, z, others)
    return worst


@taught
def posterior(
    mechanism: FiniteMechanism | Geometric,
    prior: Prior,
    output: Hashable,
    *,
    person: int | None = None,
    others: tuple[Any, ...] = (),
) -> dict[Any, Weight]:
    """Return what the adversary believes after an output: π(record | output), exactly.

    Args:
        mechanism: as for `risk`.
        prior: as for `risk`.
        output: what was published; must be possible under the prior.
        person: as for `risk`.
        others: the records of the others, in order, where ``person`` is given.

    Raises:
        InputError: if the output has probability 0 under the prior, there is no such table, or nobody is at the position
            in some table.
    """
    mechanism = as_finite(mechanism)
    situations = _situations(mechanism, person)
    if others not in situations:
        raise InputError("Records of the others that the mechanism has no table for", "nothing is known then", "Check")
    rows = situations[others]
    joint = {x: _joint(mechanism, rows, {x: p}, output) for x, p in _beliefs(rows, prior).items()}
    total = weighted_sum((value, 1) for value in joint.values())
    if not total:
        raise InputError("An output that cannot occur under this prior", "nothing follows from it", "Check the prior")
    return {x: joint[x] / total if x in joint else weight(0) for x in rows}


def _situations(mechanism: FiniteMechanism, person: int | None) -> dict[tuple[Any, ...], dict[Any, Hashable]]:
    """Return, for what the adversary knows of the others, which secret belongs to which record."""
    if person is None:
        return {(): {secret: secret for secret in mechanism.inputs}}
    person = whole(person, "person", least=0, says="it is a position in the tables, counted from 0")
    found: dict[tuple[Any, ...], dict[Any, Hashable]] = {}
    for table in mechanism.inputs:
        if not isinstance(table, tuple) or not 0 <= person < len(table):
            raise InputError(
                f"person = {echo(person)} of {echo(table)}",
                "no such person's record is in it",
                "Count persons from 0, in a mechanism on tables; leave person out where the inputs are the secrets",
            )
        others = table[:person] + table[person + 1 :]
        found.setdefault(others, {})[table[person]] = table
    return found


def _beliefs(rows: dict[Any, Hashable], prior: Prior) -> dict[Any, Fraction]:
    chances = zip(rows, read_prior(tuple(rows), prior), strict=True)
    return {record: chance for record, chance in chances if chance}


def _joint(mechanism: FiniteMechanism, rows: dict[Any, Hashable], beliefs: dict[Any, Fraction], output: Any) -> Weight:
    return weighted_sum((mechanism.probability(rows[x], output), chance) for x, chance in beliefs.items())
