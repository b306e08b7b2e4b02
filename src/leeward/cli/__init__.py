# SPDX-License-Identifier: Apache-2.0
"""The command ``leeward``: thin. Each command reads its arguments, calls the library, and prints.

Refusals exit with 2 and one message on stderr, with ``--json`` as an object in one line; nothing is half-written. Heavy
modules are imported inside the commands, so that ``--help`` is quick.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
from contextlib import suppress
from errno import EDQUOT, EIO, ENOSPC
from signal import SIGINT
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from leeward._plain import shown
from leeward.cli._budget import budget
from leeward.cli._check import check
from leeward.cli._demo import demo
from leeward.cli._desk import desk
from leeward.cli._ending import (
    STANDARD_OUTPUT,
    BrokenStreamError,
    ended_as_by_an_interrupt,
    ended_by,
    open_closed_streams,
)
from leeward.cli._init import init
from leeward.cli._monitor import monitor
from leeward.cli._output import begin, outcome, print_json, say, write_in_any_encoding
from leeward.cli._papers import papers
from leeward.cli._perturb import perturb
from leeward.cli._plan import plan
from leeward.cli._release import release
from leeward.cli._serve import serve
from leeward.cli._token import token
from leeward.errors import EngineError, InputError, LeewardError
from leeward.version import __version__


class _Commands(TyperGroup):
    """The commands. An interrupt ends with the exit code that shells expect of one, and says what else is to be known."""

    def _main_shell_completion(self, *words: Any, **named: Any) -> None:
        try:
            super()._main_shell_completion(*words, **named)
        except (KeyError, ValueError, IndexError):  # a shell says the words in other variables
            raise InputError(
                "The environment asks for completions, by _LEEWARD_COMPLETE, and does not say of which words",
                "shells do so when Tab is pressed",
                "Take the variable away: unset _LEEWARD_COMPLETE",
            ) from None

    def make_context(self, *words: Any, **named: Any) -> Any:
        try:
            return super().make_context(*words, **named)
        except KeyboardInterrupt as interrupt:  # while options are read
            raise typer.Exit(_stopped(interrupt)) from None

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenStreamError:
            raise
        except EOFError as error:  # what is cut off within, such as bytecode: Typer would call it an interrupt
            _defect(error)
        except BaseException as error:  # here, because typer itself would end without a word, and with codes of its own
            if not isinstance(error, KeyboardInterrupt) and (ended_by() is None or _is_success(error)):
                raise
            raise typer.Exit(_stopped(error)) from None


def _stopped(by: BaseException) -> int:
    """Say that a signal ended the command, and return the exit code of that."""
    signal = ended_by() or SIGINT
    word = "interrupted" if signal == SIGINT else f"ended by {signal.name}"
    say(f"leeward: {word}; {outcome()}", err=True)
    _print_added(by)
    eval("None")  # Python remembers an interrupt that met a text being run, and would end as by SIGINT, whatever it was
    return 128 + signal


def _is_success(error: BaseException) -> bool:
    """Whether an exception is how a command says that it has done its work."""
    return isinstance(error, SystemExit | typer.Exit) and not getattr(error, "code", getattr(error, "exit_code", 0))


def _print_added(error: BaseException) -> None:
    """Print the notes that were added to an exception on its way, such as that a charge could not be withdrawn."""
    for note in getattr(error, "__notes__", ()):
        say(f"leeward: {note}", err=True)


app = typer.Typer(
    name="leeward",
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(init)
app.command()(plan)
app.command()(check)
app.command()(release)
app.command()(monitor)
app.command()(desk)
app.command()(serve)
app.command()(perturb)
app.command()(papers)
app.command()(demo)
app.add_typer(budget, name="budget")
app.add_typer(token, name="token")


def _version(asked: bool) -> None:
    if asked:
        say(f"leeward {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit."),
) -> None:
    """Publish statistics about people while protecting each of them, where an error on one side is unacceptable.

    It is differential privacy whose neighbouring relation has a direction and a distance. Start with `leeward demo`, or
    with your own tables: `leeward init visits.csv places.csv`, or `leeward init table.csv`.
    """


_UsageError: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises for a wrong option or argument, which its message repeats."""


_LEAST_MEMORY = 1 << 30


def _check_memory() -> None:
    """Refuse a limit under which the libraries abort the whole process, so that no message could be printed any more."""
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    asked_for_words = {"--help", "-h", "--version"} & set(sys.argv[1:])
    if resource.RLIM_INFINITY != limit < _LEAST_MEMORY and not asked_for_words:
        raise EngineError(
            f"The address space of this process is limited to {limit >> 20} MiB",
            "the libraries that read tables need a gigabyte of it",
            "Raise the limit, such as by `ulimit -v unlimited`",
        )


_NOWHERE: Final = logging.NullHandler()


def main() -> None:
    """Run the command; the entry point of the installed script."""
    open_closed_streams()
    write_in_any_encoding()
    logging.getLogger().addHandler(_NOWHERE)  # or what libraries log would be printed, with its tracebacks
    begin()
    try:
        _run()
    except BrokenStreamError as error:
        with suppress(BrokenStreamError):
            say(f"leeward: {error}; {outcome()}", err=True)
        os._exit(2)  # Python would try to write its buffers once more


@functools.cache  # a process that runs several commands makes them once
def _command() -> Any:
    return typer.main.get_command(app)


def _run() -> None:
    try:
        with ended_as_by_an_interrupt():
            _check_memory()
            code = _command()(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except _UsageError as error:
        path = getattr(getattr(error, "ctx", None), "command_path", "leeward")
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
        else:
            what = shown(error.format_message()).rstrip(".")
            _refuse("usage", f"{what}. Try '{path} --help'.")
        sys.exit(2)
    except (KeyboardInterrupt, typer.Abort) as interrupt:  # before or after the command itself
        sys.exit(_stopped(interrupt))
    except LeewardError as error:
        if _AS_JSON in sys.argv[1:]:
            from leeward.cli._refused import refusal

            print_json(refusal(error).to_dict(), err=True)
        else:
            say(f"leeward: {error.in_full}", err=True)
            _print_added(error)
        sys.exit(2)
    except BrokenStreamError:
        raise
    except SystemExit as ended:  # by a library that prints help, when the reader of it has gone
        sys.exit(0 if isinstance(ended.__context__, BrokenPipeError) else ended.code)
    except MemoryError:
        _no_memory()
    except ImportError as error:
        if any(said in str(error) for said in _NO_MEMORY):
            _no_memory()
        _defect(error)
    except OSError as error:
        if outcome() == "nothing was shown" and error.filename is None and error.errno in {ENOSPC, EIO, EDQUOT}:
            raise BrokenStreamError(f"{STANDARD_OUTPUT} cannot be written: {os.strerror(error.errno)}") from None
        _defect(error)
    except Exception as error:
        _defect(error)


_AS_JSON = "--json"

_NO_MEMORY = ("failed to map segment", "annot allocate memory")
"""What the system's loader says of a library that there was no memory for; Python takes that for a failed import."""


def _no_memory() -> NoReturn:
    message = f"the memory that this process may use is used up; {outcome()}. Give it more, such as by `ulimit -v`."
    _refuse("memory", message)
    sys.exit(2)


def _refuse(code: str, message: str) -> None:
    """Print a refusal that is no error of ours: to a program as an object, to anyone else in a line."""
    if _AS_JSON in sys.argv[1:]:
        from leeward.cli._refused import other

        print_json(other(code, message).to_dict(), err=True)
    else:
        say(f"leeward: {message}", err=True)


def _defect(error: Exception) -> None:
    """Say that something went wrong that nobody foresaw. A traceback could hold data: it is shown on request only."""
    if os.environ.get("LEEWARD_TRACEBACK"):
        raise error
    say(
        f"leeward: an unexpected {type(error).__name__}; {outcome()}. Set LEEWARD_TRACEBACK=1 to see where"
        " (the traceback may hold data values: do not share it unread), and please report it.",
        err=True,
    )
    sys.exit(1)
