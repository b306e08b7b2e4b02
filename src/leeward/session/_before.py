# SPDX-License-Identifier: Apache-2.0
"""What is seen to before a release is paid for: that it opens no budget unasked, and that its folder holds nothing else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
    """Return what a release would open; None where its budget is open, or lacks a cap, which the ledger says."""
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
    """Refuse a ledger, its key or a table in the folder that is written, and a ledger or its key in that of a release.

    Such a folder holds what may be published, and nothing else; and what an earlier release wrote there is removed.

    Raises:
        InputError: one is, by whatever links; or the folder would take the place of a file beside the ledger.
    """
    from leeward.engine import files_of
    from leeward.ledger._file import files_beside

    folder, kept = os.path.realpath(out), kept_with(budget)
    if LEDGER in kept and Path(folder) in files_beside(kept[LEDGER][0]):
        raise InputError(f"--out '{out}'", "a file beside the ledger has that name", "Name another folder")
    for what, (path, why) in kept.items():
        if path.is_relative_to(folder):
            raise _published(what, path, why, f"--out '{out}'")
    refuse_published(kept)
    for file in files_of(query):
        if file.is_relative_to(folder):
            raise InputError(
                f"The table {file} within --out '{out}'",
                "what an earlier release wrote there is replaced or removed, and the rest may be published",
                "Keep the table elsewhere, or name another folder",
            )


LEDGER: Final = "ledger"


def kept_with(budget: Budget) -> dict[str, tuple[Path, str]]:
    """Return the files that a budget is kept in, by what they are, without links, each with why nobody is to have it."""
    from leeward.ledger._secret import key_path

    key = Path(os.path.realpath(key_path()))
    kept = {"key of content digests": (key, "whoever has it and a ledger can test guesses of the rows")}
    if not is_address(budget.ledger):
        ledger = Path(os.path.realpath(budget.ledger))
        kept[LEDGER] = (ledger, "the ledger says what was asked and holds every answer")
    return kept


def refuse_published(kept: Mapping[str, tuple[Path, str]]) -> None:
    """Refuse files that nobody is to have in the folder of a release; see `kept_with`."""
    for what, (path, why) in kept.items():
        if any(map(holds_release, path.parents)):
            raise _published(what, path, why, "the folder of an earlier release")


def _published(what: str, path: Path, why: str, where: str) -> InputError:
    return InputError(
        f"The {what} {path} within {where}",
        f"that folder holds what may be published, and {why}",
        f"Keep the {what} elsewhere, or name another folder",
    )
