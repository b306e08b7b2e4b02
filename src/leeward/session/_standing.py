# SPDX-License-Identifier: Apache-2.0
"""Where a budget stands before a release, for those who only ask: nothing is opened, reserved or charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leeward.accounting._budget_notion import charge
from leeward.accounting._price_of_delta import charge_delta
from leeward.errors import RAISE_CAP, CapExceededError
from leeward.notion import Notion
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._unlisted_plan import delta_of
from leeward.session._budget import Budget
from leeward.session._question import question

if TYPE_CHECKING:
    from leeward.ledger import Account
    from leeward.ledger._balance import Balance
    from leeward.ledger._records import Amount


@dataclass(frozen=True)
class Standing:
    """Where a budget stands.

    Attributes:
        counted_in: what it is counted in, or would be.
        balance: its caps, and what is spent of them; no caps where none is fixed or given.
        answered: of each plan, whether its answer is stored, so that it costs nothing.
        charged: of each plan, whether it is paid for: its answer is stored, or was reserved by a run that did not end.
    """

    counted_in: str
    balance: Balance
    answered: tuple[bool, ...]
    charged: tuple[bool, ...]

    @property
    def cap(self) -> Amount | None:
        """Its caps; None where none is fixed or given."""
        return self.balance.cap

    @property
    def spent(self) -> Amount:
        """What is spent of them."""
        return self.balance.spent

    @property
    def left(self) -> Fraction | None:
        """What is left of ε; None where there is no cap."""
        return None if self.cap is None else (self.cap - self.spent).epsilon

    @property
    def left_delta(self) -> Fraction | None:
        """What is left of δ; None where there is no cap."""
        return None if self.cap is None else (self.cap - self.spent).delta

    def refuse(self, prices: Sequence[Amount], dataset: str) -> None:
        """Refuse prices that this budget does not pay for by themselves; `refuse_total` looks at them together."""
        from leeward.ledger._balance import charged, fixed

        fixed(None if self.cap is None else self.cap.epsilon, dataset)
        assert self.cap is not None
        for price in prices:
            charged(self.balance, dataset, self.counted_in, self.cap, price)


def amount_of(made: AnyPlan, counted_in: str) -> Amount:
    """Return what a plan costs a budget, (ε, δ)."""
    from leeward.ledger._records import Amount

    price = charge(made.notion, made.price, counted_in, rows=made.counted.of_rows)
    return Amount(price, charge_delta(made.notion, delta_of(made), counted_in))


def standing(
    budget: Budget,
    notion: Notion,
    plans: Sequence[AnyPlan],
    keys: str,
    *,
    rows: bool = False,
    opens_in: str | None = None,
) -> Standing:
    """Return where a budget stands, and which of these plans have their answer; there are none where they are refused.

    The plans share their notion and their public list, whose digest is given. ``opens_in`` is what the budget is counted in
    by the question before them in one spec, where none is open yet.
    """
    from leeward.ledger._balance import agree
    from leeward.ledger._file import is_absent

    if is_absent(budget.ledger):  # before what reads ledgers is loaded, a fifth of a second
        return _not_open(budget, notion, plans, rows, opens_in)
    from leeward.ledger import Ledger

    ledger, cap = Ledger.find(budget.ledger), budget.exact_cap()
    account = None if ledger is None else ledger.account(budget.dataset, new=True)  # if any: nothing is opened
    if ledger is None or account is None:
        return _not_open(budget, notion, plans, rows, opens_in)
    counted_in = budget.counted_in(notion, account.notion, rows=rows)
    stands = balance_of(account)
    agree(stands, budget.dataset, counted_in, cap, budget.exact_cap_delta())
    asked = [question(made, keys).canonical() for made in plans]
    found = ledger.charged(budget.dataset, {(budget.version, key) for key in asked})
    known = tuple(found.get((budget.version, key)) is not None for key in asked)
    paid = tuple((budget.version, key) in found for key in asked)
    return Standing(counted_in, stands, known, paid)


def _not_open(budget: Budget, notion: Notion, plans: Sequence[AnyPlan], rows: bool, opens_in: str | None) -> Standing:
    counted_in, none = budget.counted_in(notion, opens_in, rows=rows), (False,) * len(plans)
    return Standing(counted_in, opening_balance(budget, counted_in), none, none)


def opening_balance(budget: Budget, counted_in: str) -> Balance:
    """Return where a budget stands that its first release is to open: nothing is spent.

    Raises:
        InputError: its cap has too many digits.
    """
    from leeward.ledger._balance import Balance
    from leeward.ledger._records import NOTHING, Amount, refuse_long

    if (cap := budget.exact_cap()) is None:
        return Balance(counted_in, None, NOTHING)
    caps = Amount(cap, budget.exact_cap_delta() or Fraction(0))
    refuse_long(caps, f"the cap of '{budget.dataset}'")
    return Balance(counted_in, caps, NOTHING)


def balance_of(account: Account) -> Balance:
    """Return where an open budget stands."""
    from leeward.ledger._balance import Balance
    from leeward.ledger._records import Amount

    cap, spent = Amount(account.cap, account.cap_delta), Amount(account.spent, account.spent_delta)
    return Balance(account.notion, cap, spent)


def refuse_total(prices: Sequence[Amount], stands: Balance, dataset: str, *, what: str = "windows") -> None:
    """Refuse several releases that cost more together than what is left, before the first is begun."""
    from leeward.ledger._records import NOTHING

    if len(prices) < 2 or stands.cap is None:
        return
    total, left = sum(prices, NOTHING), stands.cap - stands.spent
    if total.epsilon > left.epsilon or total.delta > left.delta:
        raise CapExceededError(
            f"{len(prices)} {what} at a total price of {total}",
            f"only {left} is left of the budget of '{dataset}'",
            f"Ask for fewer {what} or a smaller {'epsilon' if total.epsilon > left.epsilon else 'delta'}, or {RAISE_CAP}",
        )
