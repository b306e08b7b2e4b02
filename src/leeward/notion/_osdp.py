# SPDX-License-Identifier: Apache-2.0
"""One-sided differential privacy in the sense of sensitive records (Doudalis et al.), in both published readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from leeward._taught import in_order, taught
from leeward.errors import check_choice
from leeward.exact._real import Exact, Real
from leeward.notion._change import Change
from leeward.notion._condition import Condition
from leeward.notion._notion import Notion, PrivacyDescription, only_if, unless_equal
from leeward.notion._policy import NO_FUNCTION, Policy, check_policies, includes, named, policy_change
from leeward.notion._sees import Sees

Reading = Literal["any", "non-sensitive"]


@dataclass(frozen=True)
class Masks:
    """The steps of OSDP: a sensitive record becomes another one."""

    sensitive: Policy
    reading: Reading

    def __call__(self, before: Any, after: Any) -> bool:
        """Whether a record may pass as another one."""
        if before is None or after is None or not self.sensitive(before):
            return False
        return self.reading == "any" or not self.sensitive(after)

    def among(self, records: Sequence[Any]) -> list[list[bool]]:
        """Return which of the records may pass as which, asking about each record once."""
        hidden = [record is not None and self.sensitive(record) for record in records]
        alternatives = [
            r is not None and (self.reading == "any" or not h) for r, h in zip(records, hidden, strict=True)
        ]
        return [[bool(h and c) for c in alternatives] for h in hidden]


@taught
class OSDP(Notion):
    """(ε, P)-OSDP: ε for a sensitive record to pass as another; a record that is not sensitive has no alternative at all.

    Two readings are in print. ``"any"``: as any other record (Takagi et al., ADP, Definition II.4), the stronger promise.
    ``"non-sensitive"``: only as a record that is not sensitive (the account of *One-Sided Differential Privacy*). The number
    of people is public. Not to be confused with `AdditionOnly` and `RemovalOnly`.

    Args:
        epsilon: ε of one step.
        sensitive: which records are sensitive: a condition, or any function where ``records`` is given or the notion is only
            used ``.on`` a finite universe.
        reading: ``"any"`` or ``"non-sensitive"``.
        name: how the sensitive records are called in statements, beside that they are sensitive.
        records: all records there are, where that is a finite list.
    """

    name = "osdp"

    def __init__(
        self,
        epsilon: Exact,
        sensitive: Policy,
        reading: Reading = "any",
        *,
        name: str = "",
        records: Iterable[Any] | None = None,
    ) -> None:
        check_choice("reading", reading, get_args(Reading), "it is not one of the readings of OSDP")
        check_policies((sensitive,))
        self.sensitive, self.reading = sensitive, reading
        self.records = None if records is None else in_order("records", records)
        super().__init__(epsilon)
        which = f" ({name})" if name else ""
        alternative = "any other record" if reading == "any" else "any record that is not sensitive"
        self.words = PrivacyDescription(
            definition="Pr[answer | data] ≤ e^ε ·"
            f" Pr[answer | data with one sensitive record{which} replaced by {alternative}]",
            protects=("everything about a sensitive record" if reading == "any" else "that a record is sensitive")
            + "; the number of people is public",
            reveals="everything about a person whose record is not sensitive may be concluded with certainty",
            alternative=alternative,
        )

    def record(self, before: object, after: object) -> Real:
        """Return ε from a sensitive record to one that the reading names, else ∞."""
        return unless_equal(before, after, only_if(Masks(self.sensitive, self.reading)(before, after), self.epsilon))

    def one_step(self, before: object, after: object) -> bool:
        """Return whether a sensitive record becomes one that the reading names."""
        return Masks(self.sensitive, self.reading)(before, after)

    def __str__(self) -> str:
        return f'OSDP("{self.epsilon}", sensitive={named(self.sensitive)}, reading="{self.reading}")'

    @property
    def sees(self) -> Sees:
        """Which records are sensitive."""
        if self.records is not None:
            return Sees(records=self.records)
        return Sees((self.sensitive,)) if isinstance(self.sensitive, Condition) else Sees(unknown=NO_FUNCTION)

    @property
    def changes(self) -> tuple[Change, ...]:
        """Replacing a sensitive record.

        Raises:
            InputError: if ``sensitive`` is a function and ``records`` is not given.
        """
        alternative = "any other" if self.reading == "any" else "one that is not sensitive"
        text = f"a person's sensitive record becomes {alternative}"
        relation = Masks(self.sensitive, self.reading)
        return (policy_change("masking", text, relation, (self.sensitive,), self.records),)

    def cost(self, change: Change) -> Real:
        """Return ε if every change of this kind replaces a sensitive record as the reading says, else ∞.

        Raises:
            InputError: if ``sensitive`` is a function and ``records`` is not given.
        """
        return only_if(includes(self.changes[0], change), self.epsilon)
