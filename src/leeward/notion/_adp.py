# SPDX-License-Identifier: Apache-2.0
"""Asymmetric differential privacy (Takagi, Kato, Cao, Yoshikawa, *Asymmetric Differential Privacy*, Section IV).

A policy p is a proposition about a record that its owner does not mind revealing when it is true ("was not at place a").
A record r may pass as r' when p(r) implies p(r'): what is known to be public stays true. The printed Definition IV.1 says
``= False`` where every proof uses ``= True``; see the corrections.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from leeward._taught import in_order, taught
from leeward.errors import InputError
from leeward.exact._real import Exact, Real
from leeward.notion._change import DROP_FACT, SHRINK, WITHDRAW, Change, facts
from leeward.notion._condition import Condition
from leeward.notion._notion import ABSENT, Notion, PrivacyDescription, only_if, unless_equal
from leeward.notion._policy import NO_FUNCTION, Policy, all_named, check_policies, includes, policy_change
from leeward.notion._sees import Fixed, Sees


@dataclass(frozen=True)
class Keeps:
    """The p-steps: every policy that holds before holds after (ADP, Definition IV.1, read with ``= True``)."""

    policies: tuple[Policy, ...]
    absent_too: bool

    def __call__(self, before: Any, after: Any) -> bool:
        """Whether a record may pass as another one."""
        if not self.absent_too and (before is None or after is None):
            return before is after
        return all(policy(after) or not policy(before) for policy in self.policies)

    def among(self, records: Sequence[Any]) -> list[list[bool]]:
        """Return which of the records may pass as which, asking each policy about each record once."""
        kinds = [None if self.absent_too else record is None for record in records]
        asked = [() if kind else self.policies for kind in kinds]  # nobody is not asked about, unless it is a record
        held = [sum(bool(p(r)) << i for i, p in enumerate(ps)) for ps, r in zip(asked, records, strict=True)]
        known = list(zip(kinds, held, strict=True))
        return [[k == m and not h & ~g for m, g in known] for k, h in known]


@taught
class ADP(Notion):
    """(ε, p_1 … p_m)-ADP: ε for a step r → r' with ``p_i(r) ⇒ p_i(r')`` for *every* i (ADP, Definitions IV.1, IV.2, IV.6).

    Several policies mean all of them at once: the steps of their conjunction or disjunction are others and do not make
    counts monotone. The relation is transitive, so a chain of steps of one person is one step.

    On real tables, policies are conditions over columns or facts (`leeward.notion._condition`), from which sensitivities
    follow: a count of c can fall only if no set of policies keeps c, and rise only if none keeps not-c.

    Args:
        epsilon: ε of one step.
        policies: propositions about a record: what may become known about its owner. Conditions, or any functions where
            ``records`` is given or the notion is only used ``.on`` a finite universe. A single condition needs no list.
        name: how the policies are called in statements.
        records: all records there are, where that is a finite list.
        absent_too: whether nobody is a record like any other, of which the policies hold or not. If not, the number of
            people is public, as in the paper.
    """

    name = "adp"

    def __init__(
        self,
        epsilon: Exact,
        policies: Iterable[Policy] | Condition,
        name: str = "the policies",
        *,
        records: Iterable[Any] | None = None,
        absent_too: bool = False,
    ) -> None:
        self.policies = (policies,) if isinstance(policies, Condition) else in_order("policies", policies)
        check_policies(self.policies)
        self.records = None if records is None else in_order("records", records)
        self.absent_too = absent_too
        if not self.policies:
            raise InputError(
                "ADP without a policy", "with none, every step is protected", "Use BoundedDP, which says so"
            )
        super().__init__(epsilon)
        self.words = PrivacyDescription(
            definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with one record r replaced by r'], "
            "for all r, r' such that every policy that holds for r holds for r'",
            protects=f"everything about a person except which of {name} hold for their record"
            + ("" if absent_too else "; the number of people is public"),
            reveals=f"that one of {name} holds for a person's record may be concluded with certainty",
            alternative="a record for which at least the same policies hold",
        )

    def record(self, before: object, after: object) -> Real:
        """Return ε where every policy that holds before holds after, else ∞."""
        return unless_equal(before, after, only_if(Keeps(self.policies, self.absent_too)(before, after), self.epsilon))

    def one_step(self, before: object, after: object) -> bool:
        """Return whether every policy that holds before holds after: one step leads wherever several do."""
        return Keeps(self.policies, self.absent_too)(before, after)

    def __str__(self) -> str:
        absent = ", absent_too=True" if self.absent_too else ""
        return f'ADP("{self.epsilon}", policies={all_named(self.policies)}{absent})'

    @property
    def sees(self) -> Sees:
        """Which of the policies hold."""
        conditions = tuple(policy for policy in self.policies if isinstance(policy, Condition))
        nobody = (ABSENT,) if self.absent_too and self.records is not None and ABSENT not in self.records else ()
        if self.records is not None:
            return Sees(records=self.records + nobody)
        return Sees(conditions) if len(conditions) == len(self.policies) else Sees(unknown=NO_FUNCTION)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The p-steps.

        Raises:
            InputError: if a policy is a function and ``records`` is not given.
        """
        text = "a person's record becomes any one for which every policy that held still holds"
        relation = Keeps(self.policies, self.absent_too)
        return (
            policy_change(
                "step of the policies", text, relation, self.policies, self.records, moves_people=self.absent_too
            ),
        )

    def cost(self, change: Change) -> Real:
        """Return ε if every change of this kind is a step of the policies, else ∞.

        Raises:
            InputError: if a policy is a function and ``records`` is not given.
        """
        step = self.changes[0]
        if isinstance(change.allows, Keeps) and set(self.policies) <= set(change.allows.policies):  # more is kept there
            return only_if(self.absent_too or not change.moves_people, self.epsilon)
        return only_if(includes(step, change), self.epsilon)


class Presence(Notion):
    """ADP with the policies "was not at place a" for every listed place a, all at once.

    The steps are exactly visits(r') ⊆ visits(r): a person's listed visits may be denied, never invented. Its alternative is
    *having been at no listed place* (or at fewer of those visited), not having been elsewhere: an adversary who knows that
    someone was at a or at b can learn which. ADP's Proposition IV.4 covers one policy only.
    """

    name = "presence"
    words = PrivacyDescription(
        definition="Pr[answer | data] ≤ e^ε · Pr[answer | data with some of one person's visits to listed places removed]",
        protects="that any one person was at a listed place",
        reveals="that a person was not at a listed place may be concluded with certainty; so, to someone who knows that a"
        " person was at one of several listed places, may which one it was",
        alternative="having been at no listed place (not: having been at another one)",
    )
    sees = Fixed(Sees(facts=True, absent_is_empty=True))
    changes = Fixed((SHRINK,))

    def record(self, before: object, after: object) -> Real:
        """Return ε where the facts of ``after`` are among those of ``before``, else ∞."""
        return unless_equal(facts(before), facts(after), only_if(facts(after) <= facts(before), self.epsilon))

    def cost(self, change: Change) -> Real:
        """Return ε where facts are only taken away (nobody has no facts), else ∞."""
        return only_if(change in {SHRINK, DROP_FACT, WITHDRAW}, self.epsilon)
