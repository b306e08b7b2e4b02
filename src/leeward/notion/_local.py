# SPDX-License-Identifier: Apache-2.0
"""One-record notions: each person perturbs their own record before handing it over (the local setting; ADP, Section I-A).

The secret is one record, so the distance between records is the whole notion. Summed over persons it is also what the
collected reports promise together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from leeward._taught import in_order, taught
from leeward.distance import FiniteDistance
from leeward.errors import InputError
from leeward.exact._real import ZERO, Exact, Real, exact, inf
from leeward.notion._dp import BoundedDP
from leeward.notion._notion import PrivacyDescription
from leeward.notion._osdp import OSDP
from leeward.notion._policy import Policy, check_policies
from leeward.notion._record_distance import RecordDistance


class LocalDP(BoundedDP):
    """ε-local DP: ε between any two records of one person."""

    name = "local-dp"
    words = PrivacyDescription(
        definition="Pr[report | record] ≤ e^ε · Pr[report | any other record]",
        protects="everything about a person's record, from whoever collects the reports as well; the number of people is"
        " public",
        reveals="",
        alternative="any other record",
    )


class ULDP(OSDP):
    """The directed distance of utility-optimised local DP (Murakami and Kawamoto 2019).

    ULDP divides the *outputs* too: an output either is protected (its probabilities differ by at most e^ε between any two
    records) or gives one record that is not sensitive away. A sensitive record therefore has only protected outputs: ε from
    a sensitive record to any other, ∞ from the rest. That is this distance. It says less than ULDP, because no distance
    between secrets can speak of single outputs: `ProtectedOutputs` is all of it.
    """

    name = "uldp"

    def __init__(self, epsilon: Exact, sensitive: Policy, *, records: Iterable[Any] | None = None) -> None:
        super().__init__(epsilon, sensitive, "any", records=records)
        self.words = PrivacyDescription(
            definition="Pr[report | a sensitive record] ≤ e^ε · Pr[report | any other record]",
            protects="everything about a sensitive record",
            reveals="a record that is not sensitive may be concluded with certainty",
            alternative="any other record",
        )


@taught
class ProtectedOutputs:
    """(X_S, Y_P, ε)-ULDP itself (Murakami and Kawamoto 2019): a promise about outputs, for `leeward.verify`.

    Each output is of one of two kinds. A *protected* one, in Y_P, has ``Pr[y | x] ≤ e^ε · Pr[y | x']`` for all records x, x'
    of either kind. An *invertible* one, any other, is possible from exactly one record, which is not sensitive.

    It implies the distance `ULDP`, and says more: an output that is possible from two records that are not sensitive, and
    from no sensitive one, is in order for `ULDP` and is neither protected nor invertible.

    Args:
        epsilon: ε, finite or not, at least 0.
        sensitive: which records are in X_S.
        protected: Y_P; by default all outputs that are not invertible, which is the one choice that can do.
    """

    def __init__(self, epsilon: Exact, sensitive: Policy, protected: Iterable[Hashable] | None = None) -> None:
        check_policies((sensitive,))
        self.epsilon, self.sensitive = exact(epsilon), sensitive
        if self.epsilon.sign() < 0:
            raise InputError(
                f"epsilon = {self.epsilon}", "a distance cannot be negative", "Give a number of at least 0"
            )
        self.protected = None if protected is None else frozenset(protected)

    def __str__(self) -> str:
        return f"ULDP with protected outputs at {self.epsilon}"

    def __repr__(self) -> str:
        return f"<{self}>"


@taught
class ContextAwareLDP(RecordDistance):
    """Context-aware local DP (Acharya et al. 2020): a bound of its own for every ordered pair of records.

    The bounds need not be symmetric, nor keep the triangle inequality: what they imply is their closure under shortest
    paths, and that is the distance. A pair that is not named is not protected.

    Args:
        epsilon: what a bound of 1 means; "1" where the bounds are meant as they are.
        records: all records there are.
        bounds: (before, after) → bound.

    Raises:
        InputError: a bound is of what is not a pair of the records.
    """

    name = "context-aware-ldp"

    def __init__(self, epsilon: Exact, records: Iterable[Any], bounds: Mapping[tuple[Any, Any], Exact]) -> None:
        records = in_order("records", records)
        pairs = set(itertools.product(records, records))
        if any(pair not in pairs for pair in bounds):
            raise InputError(
                "A bound of what is not a pair of the records",
                "it would be left unused, and the pair that is meant not protected",
                "Name (before, after), both as they stand among the records",
            )
        matrix = [[ZERO if x == y else exact(bounds.get((x, y), inf)) for y in records] for x in records]
        words = PrivacyDescription(
            definition="Pr[report | record r] ≤ e^E(r, r') · Pr[report | record r']",
            protects="a person's record among those with a finite bound",
            reveals="that a person's record is not one at distance ∞ may be concluded with certainty",
            alternative="any record with a finite bound, the better the smaller",
        )
        super().__init__(epsilon, FiniteDistance.closed(records, matrix), words)


@taught
class InputDiscriminativeLDP(ContextAwareLDP):
    """Input-discriminative local DP (Gu et al. 2020): each record has its own ε; a pair gets a function of both.

    With the minimum, the default, it is MinID-LDP. Its closure bounds every pair by ``min(max ε, 2·min ε)``, since any two
    records are two steps from the most protected one: so MinID-LDP gains at most a factor 2 over ε-LDP at the smallest ε.

    Args:
        epsilons: record → ε.
        pair: the bound of a pair from its two ε.
    """

    name = "input-discriminative-ldp"

    def __init__(self, epsilons: Mapping[Any, Exact], pair: Callable[[Real, Real], Real] = min) -> None:
        each = {record: exact(epsilon) for record, epsilon in epsilons.items()}
        if len(each) < 2:
            raise InputError(
                "An ε for fewer than two records", "there is nothing to confuse", "Name all records there are"
            )
        super().__init__(1, each, {(x, y): pair(each[x], each[y]) for x in each for y in each if x != y})
