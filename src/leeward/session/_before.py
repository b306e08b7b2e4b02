# SPDX-License-Identifier: Apache-2.0
"""What is seen to before a release is paid for: that it opens no budget unasked, and that its folder holds nothing else."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from leeward._postgres import is_address
from leeward.errors import InputError
from leeward.outputs import holds_release
from leeward.query._unlisted_groups import AnyQuestion
from leeward.session._budget import Budget


@dataclass(frozen=True)
class Opens:
    """A budget that a release would open: a mistyped name would get a fresh cap for data charged already.

    Attributes:
        said: what is opened, in words.
        others: what else its ledger has.
    """

    said: str
    others: str


def opens(budget: Budget, *, new: bool = False) -> Opens | None:
    """Return what a release would open; None where its budget is open, or lacks a cap, which the ledger says.

    Args:
        budget: the budget.
        new: whether it is one of its own, although another has nearly its name.

    Raises:
        BudgetConflictError: its name is nearly that of another budget.
    """
    from leeward.ledger import Ledger

    known = list[str]()
    if (ledger := Ledger.find(budget.ledger)) is not None:
        known = [account.dataset for account in ledger.show()]
        ledger.account(budget.dataset, new=new)  # refuses a name that is nearly another's
    if budget.dataset in known or budget.cap is None:
        return None
    of_delta = f" and of {budget.cap_delta} on δ" if budget.exact_cap_delta() else ""
    others = f"which has {', '.join(repr(name) for name in known)}" if known else "a ledger without any yet"
    where = budget.ledger if is_address(budget.ledger) else os.path.realpath(budget.ledger)
    return Opens(f"a new budget of '{budget.dataset}', with a cap of {budget.cap}{of_delta}, in {where}", others)


def refuse_within(out: Path, budget: Budget, query: AnyQuestion) -> None:
    """Refuse a ledger or a table in the folder that is written, and a ledger in that of an earlier release.

    Such a folder holds what may be published, and nothing else; and what an earlier release wrote there is removed.

    Raises:
        InputError: one is, by whatever links.
    """
    from leeward.engine import files_of

    ledger, folder = Path(os.path.realpath(budget.ledger)), os.path.realpath(out)
    is_file = not is_address(budget.ledger)
    if is_file and (ledger.is_relative_to(folder) or any(holds_release(above) for above in ledger.parents)):
        where = f"--out '{out}'" if ledger.is_relative_to(folder) else "the folder of an earlier release"
        raise InputError(
            f"The ledger {ledger} within {where}",
            "that folder holds what may be published, and the ledger says what was asked and holds every answer",
            "Keep the ledger elsewhere, or name another folder",
        )
    for file in files_of(query):
        if file.is_relative_to(folder):
            raise InputError(
                f"The table {file} within --out '{out}'",
                "what an earlier release wrote there is replaced or removed, and the rest may be published",
                "Keep the table elsewhere, or name another folder",
            )
