"""The command ``leeward``: thin. Each command reads its arguments, calls the library, and prints.

Refusals exit with 2 and one message on stderr; nothing is half-written. Heavy modules are imported inside the commands, so
that ``--help`` is quick.
"""

from __future__ import annotations

import os
import sys

import typer

from leeward.cli.budget import budget
from leeward.cli.demo import demo
from leeward.cli.monitor import monitor
from leeward.cli.papers import papers
from leeward.cli.perturb import perturb
from leeward.cli.plan import plan
from leeward.cli.release import release
from leeward.errors import LeewardError
from leeward.version import __version__

app = typer.Typer(
    name="leeward",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Differential privacy whose neighbouring relation has a direction and a distance.",
)
app.command()(plan)
app.command()(release)
app.command()(monitor)
app.command()(perturb)
app.command()(papers)
app.command()(demo)
app.add_typer(budget, name="budget")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"leeward {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    _: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit."),
) -> None:
    """Differential privacy whose neighbouring relation has a direction and a distance.

    Start with `leeward demo`, or write a spec and try `leeward release spec.toml --dry-run`.
    """


def main() -> None:
    """Run the command; the entry point of the installed script."""
    try:
        app()
    except LeewardError as error:
        typer.echo(f"leeward: {error}", err=True)
        for note in getattr(error, "__notes__", ()):
            typer.echo(f"leeward: {note}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("leeward: interrupted; nothing was shown", err=True)
        sys.exit(130)
    except Exception as error:  # a defect of ours; a traceback could hold data values, so it is shown on request only
        if os.environ.get("LEEWARD_TRACEBACK"):
            raise
        typer.echo(
            f"leeward: an unexpected {type(error).__name__}; nothing was shown. Set LEEWARD_TRACEBACK=1 to see where"
            " (the traceback may hold data values: do not share it unread), and please report it.",
            err=True,
        )
        sys.exit(1)
