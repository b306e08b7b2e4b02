# SPDX-License-Identifier: Apache-2.0
"""The one place where the commands print: results on stdout, progress and the curator's notes on stderr.

Whatever others wrote (names of columns, data sets and files, keys of places) goes through `leeward._plain` here, so that
nothing in it steers the terminal; and what the terminal's encoding cannot write is written in letters that it can.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leeward._plain import plain, plain_lines, steers
from leeward._progress import Progress, silent
from leeward.cli._ending import STANDARD_ERROR, STANDARD_OUTPUT, printing

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from leeward._statement import WindowStated
    from leeward.session._result import CuratorNotes

_LETTERS = {
    "ε": "epsilon",
    "δ": "delta",
    "α": "alpha",
    "β": "beta",
    "φ": "phi",
    "∞": "inf",
    "√": "sqrt",
    "Σ": "sum",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "±": "+/-",
    "−": "-",
    "–": "-",
    "—": "-",
    "·": "*",
    "×": "x",
    "∝": "~",
    "→": "->",
    "…": "...",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "∈": "in",
    "′": "'",
    "⁻": "^-",
    "²": "^2",
    "\N{NO-BREAK SPACE}": " ",
    "\N{NARROW NO-BREAK SPACE}": " ",
    "°": " deg",
    "⇒": "=>",
    "¬": "not ",
    "∪": "or",
}
"""How our own sentences are written where their signs cannot be."""


def _in_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    letters = "".join(_LETTERS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in missing)
    return letters, error.end


def write_in_any_encoding() -> None:
    """Let stdout and stderr take every text, whatever their encoding (ASCII under ``LC_ALL=C``, Latin-1, cp1252)."""
    codecs.register_error("leeward", _in_letters)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="leeward")


_WRITTEN: list[str] = []
_PRINTED: list[str] = []


def begin() -> None:
    """Forget what an earlier run in this process has written and printed."""
    _WRITTEN.clear()
    _PRINTED.clear()


def wrote(path: object) -> None:
    """Remember what this run has written, for its last word if it ends early."""
    _WRITTEN.append(str(path))


def outcome() -> str:
    """Say what became of this run so far: what is written, or whether anything was shown."""
    if _WRITTEN:
        return f"what was made is at {', '.join(_WRITTEN)}"
    return "only part of what it says was shown" if _PRINTED else "nothing was shown"


def _on_stdout() -> AbstractContextManager[None]:
    _PRINTED.append("stdout")  # before it is tried: part of it may get through
    return printing(STANDARD_OUTPUT)


def say(text: str = "", *, err: bool = False) -> None:
    """Print lines on stdout, or on stderr."""
    # not typer's echo, which writes UTF-8 to what says that it is ASCII
    with printing(STANDARD_ERROR) if err else _on_stdout():
        print(plain_lines(text), file=sys.stderr if err else sys.stdout, flush=True)


SpecFile = Annotated[Path, typer.Argument(help="The spec, a TOML file.", metavar="SPEC.toml")]
"""The spec that a command reads."""

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but refusals.")]
"""The option that says to print nothing."""

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
"""The option that says to print what programs read."""

IfDoubtful = Annotated[
    str,
    typer.Option(
        "--if-doubtful",
        help="If no row, or under 1 % of the rows to be expected, would count: refuse, or publish all the same.",
        metavar="refuse|publish",
    ),
]
"""The option that says what becomes of a release that the data make doubtful."""


AcceptUseless = Annotated[
    bool,
    typer.Option("--accept-useless", help="Go on even if the noise would leave practically nothing to read."),
]
"""The option that says to publish what would say nothing."""


Formats = Annotated[
    str, typer.Option("--formats", help="Files for catalogues, with commas between: croissant,opendp-registry.")
]
"""The option that says what is written for catalogues besides."""


def names_in(text: str) -> list[str]:
    """Return the names that an option lists."""
    return [name.strip() for name in text.split(",") if name.strip()]


def print_json(value: object, *, err: bool = False) -> None:
    """Print a result for machines on stdout, or a refusal in one line on stderr.

    It is exact in every encoding, and nothing in it steers a terminal.
    """
    stream = sys.stderr if err else sys.stdout
    unicode = str(getattr(stream, "encoding", None) or "ascii").lower().startswith("utf")
    text = json.dumps(value, indent=None if err else 2, ensure_ascii=not unicode)
    with printing(STANDARD_ERROR) if err else _on_stdout():
        escaped = (json.dumps(sign)[1:-1] if sign != "\n" and steers(sign) else sign for sign in text)
        print("".join(escaped), file=stream, flush=True)


def table(*headers: str, grid: bool = False, **options: Any) -> Table:
    """Return a table without lines, to be filled with ``add_column`` and ``add_row``.

    Args:
        headers: of its first columns.
        grid: for facts: no header at all.
        options: of Rich's tables.
    """
    from rich.table import Table

    class PlainTable(Table):
        def add_row(self, *cells: RenderableType | None, **more: Any) -> None:
            super().add_row(*(plain_lines(one) if isinstance(one, str) else one for one in cells), **more)

    made = PlainTable(box=None, show_header=not grid, pad_edge=not grid, collapse_padding=grid, **options)
    for header in headers:
        made.add_column(plain_lines(header))
    return made


def table_of_options(headings: Iterable[tuple[str, bool]]) -> Table:
    """Return a table of options under their headings, and whether each is above texts: all else is above numbers."""
    made = table(padding=(0, 1, 0, 0), header_style="bold")
    for heading, is_text in headings:
        made.add_column(heading, justify="left" if is_text else "right", no_wrap=True, vertical="bottom")
    return made


def facts(rows: Iterable[tuple[str, str]], **title: Any) -> Table:
    """Return titles and what is to be said under each, one below the other; a title that repeats is left out."""
    made = table(grid=True, padding=(0, 2))
    made.add_column(style="bold", **title)
    made.add_column()
    before = ""
    for name, sentence in rows:
        made.add_row("" if name == before else name, sentence)
        before = name
    return made


def print_parts(*parts: RenderableType, style: str | None = None) -> None:
    """Print tables and lines on stdout, one below the other."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # not Rich's exit code of 1: see `printing`

    console = Plain(highlight=False, markup=False, emoji=False)
    console.width = max(console.width, _NARROWEST)
    with _on_stdout():
        for part in parts:
            console.print(plain_lines(part) if isinstance(part, str) else part, style=style)


_NARROWEST = 60
"""Columns of a terminal below which lines wrap where it wraps them: nothing is left out for want of room."""


@contextmanager
def progress_shown(quiet: bool) -> Iterator[Progress]:
    """Show on stderr which stage a long job is in, and a bar where the share done is known.

    Nothing is shown where stderr is not a terminal or ``quiet`` is asked for.
    """
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (rich.SpinnerColumn("line"), rich.TextColumn("{task.description}", markup=False), rich.BarColumn())
    with rich.Progress(*columns, rich.TimeElapsedColumn(), console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("starting", total=None)

        def tell(stage: str, share: float | None = None, /) -> None:
            shown.update(task, description=plain(stage), total=None if share is None else 1.0, completed=share or 0.0)

        yield tell


def print_notes(notes: CuratorNotes, of: str = "") -> None:
    """Print what only the curator may know, on stderr, marked as such."""
    _print_marked(notes.lines(), of)


def print_notes_by_window(notes: Sequence[tuple[WindowStated | None, CuratorNotes]], of: str = "") -> None:
    """Print what only the curator may know of many windows, a line each, as `print_notes` does of one."""
    each_window = [
        f"from {plain(window.start)}: {'; '.join(lines)}"
        for window, each in notes
        if window is not None and (lines := each.lines())
    ]
    _print_marked(each_window, of, ", window by window")


def _print_marked(lines: Sequence[str], of: str, how: str = "") -> None:
    if not lines:
        return
    which = f", {plain(of)}" if of else ""
    say(f"For the curator only{which}{how} (facts about the data; do not publish):", err=True)
    for line in lines:
        say(f"  {line}", err=True)
