# SPDX-License-Identifier: Apache-2.0
"""One-sided differential privacy's own randomized response: true records, but only some of the non-sensitive ones.

S. Doudalis, I. Kotsogiannis, S. Haney, A. Machanavajjhala and S. Mehrotra, *One-sided differential privacy* (2020): a
non-sensitive record is published as it is with probability 1 − e^{−ε}; a sensitive one never. A record that is missing may
be sensitive, or non-sensitive and unlucky: that is what a sensitive record hides behind. Their other mechanism, OSDPLaplace,
is `leeward.mechanism.osdp_laplace`.

The promise is OSDP (ADP, Definition II.4): ε from a sensitive record to *any* other. It says nothing about the records that
are published: see ADP, Section III-C2, for what that leaks about one person at several places.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from leeward.exact._real import Exact, finite
from leeward.exact._weight import Weight, exp_minus
from leeward.mechanism._finite import FiniteMechanism
from leeward.noise import Bits, Coin, SystemBits
from leeward.notion._policy import check_policies

R = TypeVar("R", bound=Hashable)

WITHHELD = None
"""The output for a record that is not published."""


class OSDPRandomizedResponse:
    """Publishes each non-sensitive record, true, with probability 1 − e^{−ε}, and no sensitive one.

    Args:
        epsilon: ε of OSDP.
        sensitive: whether a record is sensitive (P_N is its negation); a public rule.

    None is nobody: nothing is published of it, and the rule is not asked. (The number of people is public under OSDP.)

    Raises:
        InputError: if ε is infinite, or the rule no function of a record.
    """

    def __init__(self, epsilon: Exact, sensitive: Callable[[Hashable], bool]) -> None:
        check_policies((sensitive,))
        self.epsilon, self.sensitive = finite(epsilon, "epsilon"), sensitive
        self.kept = 1 - exp_minus(self.epsilon)

    def __repr__(self) -> str:
        return f'OSDPRandomizedResponse("{self.epsilon}")'

    def release(self, records: Sequence[R], bits: Bits | None = None) -> list[R]:
        """Return the published records, in the order given: give them in an order that says nothing."""
        chosen = Coin(self.kept).flip(len(records), bits or SystemBits())
        return [r for r, on in zip(records, chosen.tolist(), strict=True) if on and not self._withheld(r)]

    def _withheld(self, record: Hashable) -> bool:
        return record is WITHHELD or bool(self.sensitive(record))

    def on(self, records: Iterable[Hashable]) -> FiniteMechanism:
        """Return the exact matrix for one person's record: outputs are the non-sensitive records, and `WITHHELD`."""
        records = tuple(records)
        rows: dict[Hashable, dict[Hashable, Weight | Exact]] = {}
        for r in records:
            rows[r] = {WITHHELD: 1} if self._withheld(r) else {r: self.kept, WITHHELD: 1 - self.kept}
        return FiniteMechanism.from_rows(rows)

    def estimate(self, published: int) -> float:
        """Return the unbiased estimate of how many non-sensitive records there are, from how many were published."""
        return float(published / self.kept)

    def variance(self, records: int) -> Weight:
        """Return the variance of `estimate` when there are so many non-sensitive records: n·e^{−ε}/(1 − e^{−ε})."""
        return records * (1 - self.kept) / self.kept
