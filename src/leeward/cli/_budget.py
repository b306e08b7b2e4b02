# SPDX-License-Identifier: Apache-2.0
"""``leeward budget``: what was spent, what is left, and the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from leeward._plain import plain
from leeward.cli._output import AsJson, facts, print_json, print_parts, say, table, wrote
from leeward.errors import InputError, LedgerError, nearest

if TYPE_CHECKING:
    from leeward._document import Part
    from leeward.cli._balances import Happened
    from leeward.ledger import Ledger

Row = TypeVar("Row", bound="Part")

budget = typer.Typer(no_args_is_help=True, help="Show and change the budgets kept in a ledger.")

LedgerUrl = Annotated[
    str,
    typer.Option(
        "--ledger", "-l", help="URL or path of the ledger, e.g. sqlite:///budget.db or postgresql://host/database"
    ),
]
Dataset = Annotated[str | None, typer.Option("--dataset", "-d", help="Only this dataset.")]


@budget.command()
def show(ledger: LedgerUrl, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """Show each dataset's cap, what is spent and what is left, as exact fractions.

    **Examples**

    * `leeward budget show --ledger sqlite:///budget.db`
    """
    from leeward.cli._balances import Balance, Balances
    from leeward.ledger import Ledger

    opened = Ledger(ledger, create=False)
    accounts = opened.show(dataset)
    if dataset is not None and not accounts:
        raise _no_budget(dataset, opened)
    found = Balances(format=1, budgets=tuple(map(Balance.copied_from, accounts)))
    if as_json:
        print_json(found.to_dict())
    else:
        _print(
            found.budgets,
            ("dataset", "notion", "cap", "spent", "left", *_of_delta(found.budgets, "cap", "spent", "left")),
        )


@budget.command()
def history(ledger: LedgerUrl, dataset: Dataset = None, as_json: AsJson = False) -> None:
    """Show what happened to the budgets, oldest first.

    **Examples**

    * `leeward budget history --ledger sqlite:///budget.db --dataset tokyo-checkins`
    """
    from leeward.cli._balances import Happened, History
    from leeward.ledger import Ledger

    opened = Ledger(ledger, create=False)
    entries = opened.history(dataset)
    if dataset is not None and not entries:
        raise _no_budget(dataset, opened)
    found = History(format=1, entries=tuple(map(Happened.copied_from, entries)))
    if as_json:
        print_json(found.to_dict())
    else:
        columns = ("number", "time", "dataset", "version", "kind", "cost", "cap")
        _print(found.entries, (*columns, *_of_delta(found.entries, "cost", "cap")), what=_what)


@budget.command()
def check(ledger: LedgerUrl, as_json: AsJson = False) -> None:
    """Check that every entry, balance and answer in the ledger is what was written there. Exits with 2 if one is not.

    The entries are checked whenever a ledger is opened; this also reads every stored answer.

    **Examples**

    * `leeward budget check --ledger sqlite:///budget.db`
    """
    from leeward.cli._balances import Checked
    from leeward.ledger import Ledger

    opened = Ledger(ledger, create=False)
    opened.check()
    found = Checked(format=1, entries=len(opened.history()), as_written=True)
    if as_json:
        print_json(found.to_dict())
    else:
        say(f"{found.entries:,} entries, and every answer, are as they were written.")


@budget.command("set-cap")
def set_cap(
    ledger: LedgerUrl,
    dataset: Annotated[str, typer.Argument(help="The dataset's public name.")],
    cap: Annotated[str | None, typer.Argument(help='The new cap, a decimal or fraction such as 5 or "1/2".')] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", help="The new cap on δ, such as 1e-6: what all releases may add up to.")
    ] = None,
) -> None:
    """Change a dataset's cap on purpose; recorded in the history.

    **Examples**

    * `leeward budget set-cap --ledger sqlite:///budget.db tokyo-checkins 8`
    * `leeward budget set-cap --ledger sqlite:///budget.db tokyo-checkins --delta 1e-6`
    """
    from leeward.ledger import Ledger

    amounts = _amount("cap", cap), _amount("cap on δ", delta)
    Ledger(ledger, create=False).set_cap(dataset, amounts[0], delta=amounts[1])
    wrote(ledger)
    for what, amount in zip(("cap", "cap on δ"), amounts, strict=True):
        if amount is not None:
            say(f"The {what} of {dataset} is now {amount}.")


@budget.command("accept-restored")
def accept_restored(ledger: LedgerUrl) -> None:
    """Accept a ledger restored from a backup, on purpose; recorded in the history.

    What the lost entries had spent is still spent: lower the caps by that much.
    """
    from leeward.ledger import Ledger

    Ledger.accept_restored(ledger)
    wrote(ledger)
    say("Accepted. Lower the caps by what was spent since the backup.")


@budget.command("new-key")
def new_key(ledger: LedgerUrl) -> None:
    """Go on although the key of content digests is lost, on purpose; recorded in the history.

    Content that was charged before cannot be recognised any more, neither under its label nor under another name. So each
    dataset needs a new version label, and whoever opens another budget must see to it that its data is not charged already.
    """
    from leeward.ledger import Ledger
    from leeward.ledger._secret import key_path

    Ledger(ledger, create=False).new_key()
    wrote(ledger)
    say(f"The ledger goes on with the key in {key_path()}. Give each dataset a new version label.")


@budget.command()
def move(
    ledger: LedgerUrl,
    to: Annotated[str, typer.Option("--to", help="A database without a ledger, e.g. postgresql://user@host/database")],
) -> None:
    """Move a ledger from its SQLite file into a PostgreSQL database, with its history, its answers and its hash chain.

    The file stays and is closed: its last entry says where its budgets went. If the move is interrupted, call it again.

    **Examples**

    * `leeward budget move --ledger sqlite:///budget.db --to postgresql://curator@db.example.org/budgets`
    """
    from leeward.ledger import Ledger

    moved = Ledger.move(ledger, to)
    wrote(moved.url)
    say(f'Moved {len(moved.history()):,} entries. Write now: ledger = "{moved.url}"')


def _amount(what: str, given: str | None) -> Fraction | None:
    if given is None:
        return None
    from leeward.exact._real import exact

    amount = exact(given).rational
    if amount is None:
        raise InputError(f"The {what} {given}", "it is not a finite fraction", 'Give, say, "5"')
    return amount


def _of_delta(rows: Sequence[Part], *columns: str) -> list[str]:
    """Return the columns of δ that belong to these, where any row has a δ."""
    names = [f"{column}_delta" for column in columns]
    return names if any(getattr(row, name) != "0" for row in rows for name in names) else []


def _no_budget(dataset: str, ledger: Ledger) -> LedgerError:
    near = nearest(dataset, [account.dataset for account in ledger.show()]) or "It has none yet"
    return LedgerError(f"There is no budget of '{dataset}' in this ledger", "", near)


def _what(entry: Happened) -> str:
    """Say what an entry of the history is about, in words."""
    from leeward.session._bought import bought

    if entry.kind == "asked-by":
        return f"asked by {plain(entry.key)}"
    asked = bought(entry.key) if entry.kind in _OF_RELEASE else ""
    return f"{_OF_RELEASE[entry.kind]}: {asked}" if asked else _OF_LEDGER.get(entry.kind, "")


_OF_RELEASE = {
    "reserved": "paid for",
    "taken-over": "taken up again",
    "released": "answered",
    "withdrawn": "given back, unanswered",
}
_OF_LEDGER = {
    "opened": "the budget was opened with this cap",
    "set-cap": "the cap was changed on purpose",
    "accepted-restored": "a restored backup was accepted",
    "new-key": "content charged before is no longer recognised",
    "moved": "the ledger was moved here, out of a file",
}


def _print(rows: Sequence[Row], columns: tuple[str, ...], *, what: Callable[[Row], str] | None = None) -> None:
    """Print rows as a table, and below each what it is about, in words."""
    made = table(padding=(0, 1))
    for column in columns:
        made.add_column(column, overflow="fold")  # never cut: a label without its end names nothing
    for row in rows:
        cells = (getattr(row, column) for column in columns)
        made.add_row(*("" if cell is None else _with_its_ends(str(cell)) for cell in cells))
    print_parts(made)
    if what is not None:
        print_parts("", facts([(str(getattr(row, columns[0])), said) for row in rows if (said := what(row))]))


def _with_its_ends(text: str) -> str:
    """Return a text in quotes where it would look like another one without: it begins or ends with a space."""
    return f"'{text}'" if text != text.strip() else text
