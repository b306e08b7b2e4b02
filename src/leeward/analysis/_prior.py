# SPDX-License-Identifier: Apache-2.0
"""What a consumer, or an adversary, knows beforehand: an exact distribution on finitely many secrets."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from leeward._plain import counted, echo
from leeward._taught import in_order
from leeward.errors import InputError
from leeward.exact._real import Exact, exact

Prior: TypeAlias = Mapping[Any, Exact] | Sequence[Exact] | str | None
"""Probabilities by secret (what is left out has 0), or in the order of the secrets; ``"uniform"`` or None for equal ones."""


def read_prior(secrets: Sequence[Hashable], prior: Prior = None) -> tuple[Fraction, ...]:
    """Return the prior as exact probabilities in the order of the secrets.

    Raises:
        InexactError: for a float: write ``"0.3"``.
        InputError: if a secret is unknown, a probability negative or irrational, or the sum is not exactly 1.
    """
    if not secrets:
        raise InputError("A prior on no secrets", "there is nothing to guess", "Give at least one secret")
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return (Fraction(1, len(secrets)),) * len(secrets)
    if isinstance(prior, str):
        raise InputError(f"The prior {echo(prior)}", "no prior has that name", 'Write "uniform", or give probabilities')
    if isinstance(prior, Mapping):
        if unknown := set(prior) - set(secrets):
            raise InputError(f"The prior speaks of {unknown.pop()!r}", "it is not among the secrets", "Leave it out")
        prior = [prior.get(secret, 0) for secret in secrets]
    chances = [exact(chance).rational for chance in in_order("prior", prior)]
    known = [chance for chance in chances if chance is not None and chance >= 0]
    if len(known) != len(secrets) or len(chances) != len(secrets):
        raise InputError(
            f"A prior of {counted(len(chances), 'entry', 'entries')}",
            f"{len(secrets)} non-negative rationals are needed",
            "Check them",
        )
    if sum(known) != 1:
        raise InputError("A prior that does not sum to 1", f"it sums to {sum(known)}", "Use fractions such as '1/3'")
    return tuple(known)
