# SPDX-License-Identifier: Apache-2.0
"""What a promise under one notion is worth under another.

Each function is a theorem: a mechanism that keeps the promise given keeps the promise returned, and no smaller ε would do
for all mechanisms. It is about the notion that it names; any other is refused.

(`Notion.price_in` derives the same factors from the distances of any two notions; these are named in print. ADP is meant
here as in the paper, with a public number of people.)

Machine-checked (docs/proved.md): `other_direction`.
"""

from __future__ import annotations

from collections.abc import Iterable

from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.notion._adp import ADP
from leeward.notion._condition import Condition
from leeward.notion._dp import BoundedDP, ReplaceDP, UnboundedDP
from leeward.notion._one_sided import AdditionOnly, RemovalOnly
from leeward.notion._osdp import OSDP
from leeward.notion._policy import Policy


@taught
def bounded_to_adp(promise: BoundedDP, policies: Iterable[Policy]) -> ADP:
    """Bounded ε-DP is (ε, p)-ADP for all policies p: every p-step replaces one record (ADP, Section IV-A)."""
    return ADP(promise.epsilon, policies)


@taught
def unbounded_to_adp(promise: UnboundedDP, policies: Iterable[Policy]) -> ADP:
    """Unbounded ε-DP is (2ε, p)-ADP: replacing a record is taking a person out and putting one in."""
    return ADP(promise.epsilon * 2, policies)


@taught
def unbounded_to_bounded(promise: UnboundedDP) -> BoundedDP:
    """Unbounded ε-DP is bounded 2ε-DP. There is no way back: bounded DP may reveal how many people there are."""
    return BoundedDP(promise.epsilon * 2)


@taught
def unbounded_to_replace(promise: UnboundedDP) -> ReplaceDP:
    """ε·d_r-privacy is 2ε·d_h-privacy: d_r ≤ 2·d_h, a change of value being a step out and a step in.

    (Chatzikokolakis et al., Section 3, say that ε doubles both ways; see `replace_to_unbounded`.)
    """
    return ReplaceDP(promise.epsilon * 2)


@taught
def replace_to_unbounded(promise: ReplaceDP) -> UnboundedDP:
    """ε·d_h-privacy is ε·d_r-privacy as it stands, nothing doubles: d_h ≤ d_r, a missing person being a value like any."""
    return UnboundedDP(promise.epsilon)


@taught
def unbounded_to_one_sided(promise: UnboundedDP) -> tuple[AdditionOnly, RemovalOnly]:
    """Unbounded ε-DP is ε-DP for addition and ε-DP for removal."""
    return AdditionOnly(promise.epsilon), RemovalOnly(promise.epsilon)


@taught
def one_sided_to_unbounded(addition: AdditionOnly, removal: RemovalOnly) -> UnboundedDP:
    """One output that is private for addition and for removal is unbounded DP at the larger ε.

    (*One-Sided Differential Privacy*, first remark on Proposition 4.) Two outputs, one private for each, are not private at
    all: their distances add up, to ∞.
    """
    return UnboundedDP(max(addition.epsilon, removal.epsilon))


@taught
def other_side(epsilon: Exact, delta: Weight | Exact = 0) -> tuple[Real, Weight]:
    """Removal-only (ε, δ)-DP is addition-only (−ε, 1 − e^{−ε} + e^{−ε}·δ)-DP, and the other way round.

    Apply one to the complement of each set of outputs (*One-Sided Differential Privacy*, after Definition 2). It is its own
    inverse. At a negative ε the promise is about events that are likely in the ideal world.

    Args:
        epsilon: finite; may be negative.
        delta: in [0, 1].

    Returns:
        (−ε, δ') of the other side.
    """
    rate, chance = exact(epsilon), weight(delta)
    if rate.is_infinite or not 0 <= chance <= 1:
        raise InputError(
            f"epsilon = {rate}, delta = {float(chance):g}", "epsilon is finite and delta a probability", "Give others"
        )
    return -rate, 1 - exp_minus(rate) + exp_minus(rate) * chance


@taught
def adp_to_osdp(promise: ADP) -> OSDP:
    """(ε, p)-ADP is (ε, P_N)-OSDP with N the records of which p holds: a record outside N may become any other.

    Both mask sensitivity: Risk(M, ¬p) ≤ e^ε, nobody can be sure that a record is sensitive (ADP, Remark in Section IV-B).
    There is no way back, at any ε: between two records of N ADP promises ε (Proposition IV.5) and OSDP nothing, so under
    OSDP everything about a non-sensitive record may come out.

    Raises:
        InputError: if there are several policies: OSDP has one division into sensitive and not.
    """
    if len(promise.policies) != 1:
        raise InputError("ADP with several policies", "OSDP divides records once", "Convert for one policy at a time")
    policy = promise.policies[0]
    sensitive = ~policy if isinstance(policy, Condition) else _Negated(policy)
    return OSDP(promise.epsilon, sensitive, "any", records=promise.records)


@taught
def narrower_reading(promise: OSDP) -> OSDP:
    """OSDP in which sensitive records may become any others is OSDP in which they may become non-sensitive ones.

    There is no way back, at any ε: two sensitive records need not be alternatives to each other in the second reading.
    """
    return OSDP(promise.epsilon, promise.sensitive, "non-sensitive", records=promise.records)


class _Negated:
    """The opposite of a policy given as a function."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    def __call__(self, record: object) -> bool:
        return not self.policy(record)
