"""What the commands share in printing: progress on stderr, results on stdout, the curator's notes on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from leeward.result import CuratorNotes


def print_json(value: Any) -> None:
    """Print a result for machines on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show on stderr what a long job is doing; nothing where stderr is no terminal or ``quiet`` is asked for."""
    if quiet or not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("starting", total=None)
        yield lambda stage: progress.update(task, description=stage)


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """Show on stderr which stage a long job is in, and a bar where the share done is known; nothing as in `stages`."""
    if quiet or not sys.stderr.isatty():
        yield lambda _stage, _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(stage: str, done: float | None) -> None:
            bar.update(task, description=stage, total=None if done is None else 1.0, completed=done or 0.0)

        yield show


def print_notes(notes: CuratorNotes) -> None:
    """Print what only the curator may know, on stderr, marked as such."""
    if lines := notes.lines():
        typer.echo("For the curator only (facts about the data; do not publish):", err=True)
        for line in lines:
            typer.echo(f"  {line}", err=True)
