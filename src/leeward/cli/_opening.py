# SPDX-License-Identifier: Apache-2.0
"""A new budget is said and asked before it is opened: a mistyped name would get a fresh cap for data charged already."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leeward.cli._output import print_notes, say, wrote
from leeward.errors import LedgerError

if TYPE_CHECKING:
    from leeward.local._job import OpensStores
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
    from leeward.session._before import opens

    asked, found = replace(budget, new=new), opens(budget, new=new)
    if found is None:
        return Opening(asked, None)
    if not yes and not new:
        _ask(f"This opens {found.said}, {found.others}.", f"The budget of '{budget.dataset}'")
    return Opening(asked, f"{found.said}.")


def may_open(opens: OpensStores, *, yes: bool, new: bool) -> None:
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
