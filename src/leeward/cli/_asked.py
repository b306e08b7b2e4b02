# SPDX-License-Identifier: Apache-2.0
"""Answers for a first spec: from options, or else from whoever is at the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import typer

from leeward._plain import plain
from leeward.cli._output import say
from leeward.errors import LeewardError, SpecError
from leeward.tables._guess import likely

if TYPE_CHECKING:
    from leeward.tables._detected import Detected


def at_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


def tell(text: str) -> None:
    """Say something to whoever is asked."""
    say(text, err=True)


def answer(
    what: str,
    option: str,
    given: str | None,
    default: str | None = None,
    check: Callable[[str], object] = lambda answer: None,
) -> str:
    """Return an answer.

    Args:
        what: what is asked for.
        option: the option that says it.
        given: what the option says.
        default: what is offered, and taken where nobody can be asked.
        check: refuses an answer that is none; at a terminal it is then asked for again.

    Raises:
        LeewardError: it is refused; or it is not given, has no default, and nobody can be asked.
    """
    while True:
        found = _one(what, option, given, default)
        try:
            check(found)
        except LeewardError as refused:
            if given is not None or not at_terminal():
                raise
            tell(f"   {refused}")
        else:
            return found


def _one(what: str, option: str, given: str | None, default: str | None) -> str:
    if given is not None:
        return given
    if at_terminal():
        offered = "" if default is None else plain(default)  # an empty answer is refused in words, by the check
        typed: str = typer.prompt(f"   {plain(what)}", default=offered, show_default=bool(offered), err=True)
        return default if default is not None and typed == offered else typed
    if default is None:
        raise SpecError(f"{option} is missing", "there is no terminal to ask for it", f"Give {option}: {what}")
    return default


def sheet(file: str, option: str, given: str | None) -> str | None:
    """Return the sheet of a workbook that is meant; None where nobody needs to be asked, or can be."""
    from leeward.tables._detected import sheets_of

    if given is not None or not at_terminal() or not file.lower().endswith(".xlsx"):
        return given
    names = sheets_of(file)
    if len(names) < 2:
        return None
    tell(f"{file} has several sheets.")
    return choice(option, None, dict.fromkeys(names, ""))


def column(
    what: str,
    option: str,
    given: str | None,
    table: Detected,
    usual: Sequence[str],
    *,
    assumed: bool,
    instead: str | None = None,
) -> str:
    """Return the name of a column of a table.

    Args:
        what: what is asked for.
        option: the option that says it.
        given: what the option says.
        table: the table.
        usual: names that such a column usually has; the column that is most like them is offered.
        assumed: whether it is taken where nobody can be asked.
        instead: another answer that may be given, which is the name of no column; it is offered where no column is.
    """
    names = [one.name for one in table.columns]

    def check(answer: str) -> None:
        if answer != instead:
            table.check(answer)

    offered = likely(names, usual) if assumed or at_terminal() else None
    return answer(what, option, given, offered, check)


def choice(option: str, given: str | None, choices: Mapping[str, str], *, assumed: bool = False) -> str:
    """Return one of several answers, each of which is said in words first; the first of them is offered."""
    if given is None:
        for name, means in choices.items():
            tell(f"   {name}: {means}" if means else f"   {name}")

    def check(answer: str) -> None:
        if answer not in choices:
            raise SpecError(f"{option} {answer}", "it is not a choice", f"Known: {', '.join(choices)}")

    offered = next(iter(choices)) if assumed or at_terminal() else None
    return answer("your choice", option, given, offered, check)
