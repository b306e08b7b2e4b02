# SPDX-License-Identifier: Apache-2.0
"""Where an account stands, and what it refuses: a release that conflicts with it, or costs more than what is left.

No database is asked here (`_account` reads and writes entries), so that who only asks for a price loads none.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leeward.errors import RAISE_CAP, BudgetConflictError, CapExceededError, LedgerError
from leeward.ledger._records import NOTHING, Amount, refuse_long, refuse_odd


@dataclass(frozen=True, slots=True)
class Balance:
    """Where a dataset's account stands. ``notion`` and ``cap`` are None while no budget is open."""

    notion: str | None
    cap: Amount | None
    spent: Amount


NOT_OPEN = Balance(None, None, NOTHING)


def agree(
    standing: Balance, dataset: str, notion: str, cap: Fraction | None, cap_delta: Fraction | None = None
) -> None:
    """Refuse a notion or cap other than the ones the account was opened with.

    Raises:
        BudgetConflictError: it is another notion or cap. (`leeward.accounting._budget_notion` prices releases in the notion
            of the account; so this is met only where another process has just opened it.)
        LedgerError: no cap is given and none was fixed.
    """
    if standing.cap is None:
        fixed(cap, dataset)
        return
    if notion != standing.notion:
        raise BudgetConflictError(
            f"The budget of '{dataset}' is counted in {standing.notion}, and this release is priced in {notion}",
            "costs in different notions do not add up: it was opened while this release was being priced",
            f"Ask again: the release is then priced in {standing.notion}, or refused if that does not cover it",
        )
    fixed_to = standing.cap
    if cap is not None and cap != fixed_to.epsilon:
        raise BudgetConflictError(
            f"The cap of '{dataset}' is {fixed_to.epsilon}, and this release says {cap}",
            "it was fixed by the first release, or changed on purpose since",
            f"Write {fixed_to.epsilon}, or change the cap on purpose with `leeward budget set-cap`",
        )
    if cap_delta is not None and cap_delta != fixed_to.delta:
        raise BudgetConflictError(
            f"The cap on δ of '{dataset}' is {fixed_to.delta}, and this release says cap_delta = {cap_delta}",
            "it was fixed by the first release, or changed on purpose since",
            f"Write {fixed_to.delta}, or change it on purpose with `leeward budget set-cap --delta`",
        )


def fixed(cap: Fraction | None, dataset: str) -> Fraction:
    """Return the cap that a first release fixes.

    Raises:
        LedgerError: there is none.
    """
    if cap is None:
        raise LedgerError(f"The budget of '{dataset}' has no cap yet", "its first release fixes one", "Give a cap")
    return cap


def charged(standing: Balance, dataset: str, notion: str, cap: Amount, cost: Amount) -> Balance:
    """Return where an account stands after a cost.

    Raises:
        CapExceededError: the cost is more than what is left, in ε or in δ.
        InputError: the cost, or the cap of a budget that is to be opened, has too many digits.
    """
    refuse_long(cost, "this release")
    if standing.cap is None:
        refuse_long(cap, f"the cap of '{dataset}'")
    left = cap - standing.spent
    if cost.epsilon > left.epsilon:
        raise CapExceededError(
            f"This release costs {cost.epsilon}, and {left.epsilon} is left of the budget of '{dataset}' (cap"
            f" {cap.epsilon})",
            "spending more would break the promise the cap stands for",
            (RAISE_CAP.capitalize() if left.epsilon <= 0 else f"Ask for at most {left.epsilon}, or {RAISE_CAP}"),
        )
    if cost.delta > left.delta:
        raise CapExceededError(
            f"This release needs δ = {cost.delta}, and {left.delta} is left of the budget of '{dataset}' (cap on δ"
            f" {cap.delta})",
            "with probability δ a release may reveal a person, and over all releases these probabilities add up",
            "Give cap_delta with the first release of the data set, which fixes it; or raise it on purpose with `leeward"
            " budget set-cap --delta`" + (f"; or ask for a delta of at most {left.delta}" if left.delta > 0 else ""),
        )
    after = standing.spent + cost
    refuse_odd(after, cost)
    return Balance(notion, cap, after)
