# SPDX-License-Identifier: Apache-2.0
"""A new budget is said and asked before it is opened: a mistyped name would get a fresh cap for data charged already."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward._postgres import is_address
from leeward.cli._output import print_notes, say, wrote
from leeward.errors import InputError, LedgerError

if TYPE_CHECKING:
    from leeward.local._job import Opens
    from leeward.query._unlisted_groups import AnyQuestion
    from leeward.session import Release
    from leeward.session._budget import Budget

Yes = Annotated[
    bool,
    typer.Option(
        "--yes", "-y", help="Open a new budget without asking, unless another has a similar name or the same data."
    ),
]
NewBudget = Annotated[
    bool,
    typer.Option("--new-budget", help="Open a new budget although another here has a similar name or the same data."),
]


@dataclass(frozen=True)
class Opening:
    """What is known of a budget before it is charged.

    Attributes:
        budget: as it is to be used.
        opens: what is to be said once it is charged, if that opens it; else None. Another process may open it first.
    """

    budget: Budget
    opens: str | None

    def say(self, releases: Sequence[Release], quiet: bool) -> None:
        """Say on stderr that the budget was opened, if these releases opened it."""
        if self.opens is not None and not quiet and any(one.curator.opened for one in releases):
            say(f"Opened {self.opens}", err=True)


@contextmanager
def saved_if_refused(
    save: Callable[[Sequence[Release]], Path], opened: Opening, quiet: bool
) -> Iterator[list[Release]]:
    """Write the releases that were made where a later window fails: they are paid for, and the failure goes on.

    Args:
        save: writes releases.
        opened: what is known of the budget.
        quiet: print nothing but refusals.

    Yields:
        An empty list, to be filled with releases.
    """
    done: list[Release] = []
    try:
        yield done
    except BaseException as error:
        if done:
            wrote(path := save(done))
            error.add_note(f"What was answered is at {path}")
            opened.say(done, quiet)
            for one in done:
                print_notes(one.curator)
        raise


def opening(budget: Budget, *, yes: bool, new: bool) -> Opening:
    """Ask whether a new budget may be opened, if a release would open one.

    Raises:
        LedgerError: it may not, or nobody is there to be asked.
        BudgetConflictError: its name is nearly that of another budget.
    """
    from leeward.ledger import Ledger

    known = list[str]()
    if (ledger := Ledger.find(budget.ledger)) is not None:
        known = [account.dataset for account in ledger.show()]
        ledger.account(budget.dataset, new=new)  # refuses a name that is nearly another's
    asked = replace(budget, new=new)
    if budget.dataset in known or budget.cap is None:  # without a cap the ledger says what is missing
        return Opening(asked, None)
    of_delta = f" and of {budget.cap_delta} on δ" if budget.exact_cap_delta() else ""
    said = f"a new budget of '{budget.dataset}', with a cap of {budget.cap}{of_delta}, in {budget.ledger}"
    if not yes and not new:
        others = f"which has {', '.join(repr(name) for name in known)}" if known else "a ledger without any yet"
        _ask(f"This opens {said}, {others}.", f"The budget of '{budget.dataset}'")
    return Opening(asked, f"{said}.")


def refuse_within(out: Path, budget: Budget, query: AnyQuestion) -> None:
    """Refuse a ledger or a table in the folder that is written, and a ledger in that of an earlier release.

    Such a folder holds what may be published, and nothing else; and what an earlier release wrote there is removed.

    Raises:
        InputError: one is, by whatever links.
    """
    from leeward.engine import files_of
    from leeward.outputs import holds_release

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


def may_open(opens: Opens, *, yes: bool, new: bool) -> None:
    """Ask whether new stores about people may be made.

    Raises:
        LedgerError: they may not, may have been there before, or nobody is there to be asked.
    """
    if opens.doubt is not None and not new:
        raise LedgerError(
            f"This opens {opens}",
            opens.doubt,
            "Bring it back, or correct its name; if a new one is meant, say --new-budget",
        )
    if not yes and not new:
        _ask(f"This opens {opens}.", "The store")


def _ask(said: str, what: str) -> None:
    if not sys.stdin.isatty():
        raise LedgerError(said, "there is no terminal to ask whether that is meant", "If it is, say --yes")
    say(said, err=True)
    try:
        confirmed = typer.confirm("Open it?", err=True)
    except typer.Abort:  # Ctrl-C, or the end of the input
        confirmed = False
    if not confirmed:
        raise LedgerError(f"{what} is not opened", "it was not confirmed", "Nothing was charged")
