"""Write the page of the command's help texts: ``python docs/reference/draw_command.py FOLDER``.

The page is kept beside this file; a test writes it again and compares.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# typer reads these when it is imported
os.environ |= {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "_TYPER_FORCE_DISABLE_TERMINAL": "1"}

import typer.main
import typer.testing

from leeward.cli import app

HEAD = """# The command

What `leeward --help` says, for each command. Refusals exit with 2 and one message, defects of ours with 1, and
commands that a signal ended with 128 and its number: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP. With `--json` a
refusal is [an object](../schemas/refusal.json) in one line, the last on stderr, with a `code` such as `cap-exceeded` and a
`message`.
"""


def paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words that lead to a command and to each command under it."""
    yield path
    for name, under in getattr(command, "commands", {}).items():
        yield from paths(under, (*path, name))


def page() -> str:
    """The page, in Markdown."""
    runner = typer.testing.CliRunner()
    parts = [HEAD]
    for path in paths(typer.main.get_command(app)):
        said = runner.invoke(app, [*path, "--help"], prog_name="leeward").output
        lines = "\n".join(line.rstrip() for line in said.strip().splitlines())
        parts.append(f"## {' '.join(['leeward', *path])}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    Path(sys.argv[1], "command.md").write_text(page())
