"""Run the code of a Markdown document as its reader would: from top to bottom, in an empty folder.

Fenced blocks are told apart by their language:

- ``python``: run; all such blocks of a document share their names.
- ``console``: each line ``$ command`` is run by bash, or in this process if it is a plain one of ours; the lines under it
  are what it prints (either stream).
- ``toml``, ``csv`` with ``title="FILE"``: written to that file.
- ``text`` right after a ``python`` block: what the block prints; for an error, ``NameOfError: message`` comes last. With a
  ``title`` it is an example of what chance decides, and is not compared.

In what is expected, ``...`` stands for anything, and runs of blanks are alike. ``$ make TARGET`` is not run here, but the
target must exist. Any other block is prose.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from leeward.cli import main
from leeward.errors import LeewardError

ROOT = Path(__file__).parents[2]

SHOWN = {"COLUMNS": "100", "NO_COLOR": "1"}
"""A fixed width keeps what is shown from depending on a terminal."""

FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w+)?(?P<options>[^\n`]*)\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One fenced block of a document."""

    language: str
    title: str
    body: str
    line: int
    """The line of the document on which the body starts."""


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a document, in order."""
    found = []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match["options"])
        body = re.sub(rf"^{match['indent']}", "", match["body"], flags=re.MULTILINE)
        line = text.count("\n", 0, match.start("body")) + 1
        found.append(Block(match["language"] or "", title[1] if title else "", body, line))
    return found


def runs(text: str) -> bool:
    """Whether a document holds code that a reader would run."""
    return any(block.language in {"python", "console"} for block in blocks(text))


def same(expected: str, printed: str) -> bool:
    """Whether what was printed is what the document shows."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(expected.strip() + "\n", printed.strip() + "\n", flags)


def run(path: Path) -> None:
    """Run a document in the current folder.

    Raises:
        AssertionError: something printed differs from what the document shows.
        Exception: whatever a block raises that the document does not show.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    following = blocks(path.read_text())
    for block, after in zip(following, [*following[1:], None], strict=True):
        where = f"{path}, line {block.line}"
        if block.language == "python":
            shown = after.body if after and after.language == "text" and not after.title else None
            printed = run_python(block, path, names, may_fail=shown is not None)
            if shown is not None:
                assert same(shown, printed), f"{where}: the document shows\n{shown}\nbut this was printed:\n{printed}"
        elif block.language == "console":
            for command, shown in commands(block.body):
                printed = run_command(command, where)
                assert not shown or same(shown, printed), f"{where}: `{command}` printed\n{printed}\nnot\n{shown}"
        elif block.title and block.language != "text":
            Path(block.title).write_text(block.body)


def run_python(block: Block, path: Path, names: dict[str, Any], *, may_fail: bool) -> str:
    """Run one block; return what it prints, with the error it ends with if the document may show one."""
    # Blank lines in front make the line numbers of a traceback those of the document.
    code = compile("\n" * (block.line - 1) + block.body, str(path), "exec", dont_inherit=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(code, names)
        except LeewardError as error:
            if not may_fail:
                raise
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue()


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the lines shown under it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = command[:-1] + more
        yield command, shown


def run_command(command: str, where: str) -> str:
    """Run a command that a document shows; return what it prints."""
    if target := re.fullmatch(r"make ([\w-]+)", command):
        assert re.search(rf"^{target[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE), (
            f"{where}: no such target: {command}"
        )
        return ""
    fails = re.search(r"# exit (\d+)$", command)
    # The commands installed beside this Python come first.
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"} | SHOWN
    ours = re.fullmatch(r"leeward ([^|&;<>$*'`#\\]+)(?:\| (grep .*))?(?:# exit \d+)?", command)
    if ours is None:
        code, printed = _by_bash(command, environment)
    else:
        code, printed, beside = run_leeward(shlex.split(ours[1]), apart=ours[2] is not None)
        if ours[2]:
            assert code == 0, f"{where}: `{command}` ended with {code}\n{printed}{beside}"
            code, printed = _by_bash(ours[2], environment, printed)
            printed = beside + printed
    assert code == int(fails[1] if fails else 0), f"{where}: `{command}` ended with {code}\n{printed}"
    return printed


def _by_bash(command: str, environment: dict[str, str], given: str = "") -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=False,
    )
    return done.returncode, done.stdout


def run_leeward(words: list[str], *, apart: bool) -> tuple[int, str, str]:
    """Run a plain command of ours in this process, which has loaded its libraries already.

    Returns its exit code and what it prints: on both streams together, or on stdout and on stderr.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    ours = {"argv": ["leeward", *words], "stdin": io.StringIO(), "stdout": out, "stderr": err if apart else out}
    code: Any = 0
    with mock.patch.multiple(sys, **ours), mock.patch.dict(os.environ, SHOWN):  # a plain install has no pytest
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return int(code), *texts  # type: ignore[return-value]
