"""Run mutants against the tests that must catch them: ``make mutants``, or ``python -m tests.mutants.run WORD …``.

A mutant is put into a copy of the repository in a temporary folder; the work tree is never touched, except for
``results.tsv`` beside the table, which says of every mutant what became of it, by which test, and when. One process at a
time: its tests run in a fork of this one, which has loaded the libraries (but nothing of ours) once for all.

A mutant is caught when a test fails, or hangs, that passes without the mutant; nothing else counts: not an error of
collection. Words choose the mutants whose module, function or reason holds one of them.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.mutants.mutant import ROOT, Mutant
from tests.mutants.results import Result, read, write
from tests.mutants.table import MUTANTS

LEFT_OUT = shutil.ignore_patterns(
    ".*", "__pycache__", "site", "demo-city", "demo-out", "papers-out", "build", "dist", "*.egg-info"
)
PATIENCE = 900.0
"""Seconds; a mutant whose tests hang is caught by that."""

LIBRARIES = (
    *("numpy", "scipy.optimize", "scipy.special", "scipy.stats", "pandas", "pyarrow", "pyarrow.parquet", "duckdb", "ibis"),
    *("pydantic", "sqlalchemy", "typer", "rich", "flint", "mpmath", "cryptography", "plotly", "jinja2", "hypothesis"),
)  # fmt: skip


@dataclass(eq=False)  # pytest keeps plugins in sets
class _Watch:
    """A plugin of pytest that writes the names of the tests that fail into a file."""

    file: Path

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            with self.file.open("a") as out:
                out.write(report.nodeid + "\n")


@dataclass(frozen=True)
class Copy:
    """A copy of the repository, and tests run in it."""

    folder: Path

    def outcome(self, tests: Sequence[str]) -> tuple[str, str]:
        """Run tests up to the first that fails.

        Returns:
            ``passed``, ``failed``, ``hangs`` or ``broken``; and the test that failed, or what was run. What broken tests
            say is printed and not kept: it may name paths of this machine.
        """
        failed, said = self.folder.parent / "failed", self.folder.parent / "said"
        for file in (failed, said):
            file.write_text("")
        child = os.fork()
        if not child:
            self._run(tests, failed, said)
        until = time.monotonic() + PATIENCE
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > until:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "hangs", " ".join(tests)
            time.sleep(0.05)
        code = os.waitstatus_to_exitcode(ended[1])
        first = failed.read_text().splitlines()[:1]
        if code == 1 and first:
            return "failed", first[0]
        if code == 0:
            return "passed", ""
        print(said.read_text()[-400:])
        return "broken", " ".join(tests)

    def _run(self, tests: Sequence[str], failed: Path, said: Path) -> None:
        """In the fork: leave for the copy, run, and never return."""
        code: int = 3
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(PATIENCE),) * 2)  # it may outlive who waits for it
            out = os.open(said, os.O_WRONLY | os.O_APPEND)
            os.dup2(out, 1)
            os.dup2(out, 2)
            os.chdir(self.folder)
            here = [str(self.folder / "src"), str(self.folder)]
            theirs = {"", str(ROOT), str(ROOT / "src")}
            sys.path[:] = here + [path for path in sys.path if path not in theirs]
            os.environ["PYTHONPATH"] = os.pathsep.join(here)
            for name in [name for name in sys.modules if name.partition(".")[0] in {"tests", "leeward"}]:
                del sys.modules[name]
            _shrink_nothing()
            options = ["-n", "0", "-x", "-q", "--tb=line", "-p", "no:cacheprovider"]
            options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was loaded before
            code = int(pytest.main([*options, *tests], plugins=[_Watch(failed)]))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    @functools.cache  # noqa: B019 - a test is tried once without mutants
    def passes(self, tests: tuple[str, ...]) -> bool:
        """Whether tests pass as the sources are."""
        return self.outcome(tests)[0] == "passed"

    @contextlib.contextmanager
    def holding(self, mutant: Mutant) -> Iterator[None]:
        """Put the mistake into the copy, and take it out again, what was compiled of it too."""
        file = self.folder / mutant.path
        source = file.read_text("utf-8")
        _forget(file)
        file.write_text(mutant.applied(source), "utf-8")
        try:
            yield
        finally:
            file.write_text(source, "utf-8")
            _forget(file)

    def tried(self, mutant: Mutant) -> Result:
        """Say what becomes of a mutant."""
        with self.holding(mutant):
            found, by = self.outcome(mutant.tests.split())
        outcome = {"passed": "survived", "failed": "caught", "hangs": "caught"}.get(found, "broken")
        if found == "failed" and not self.passes((by,)):
            outcome, by = "broken", f"{by} fails without it too"
        if found == "hangs" and not self.passes(tuple(mutant.tests.split())):
            outcome, by = "broken", f"{by} hangs without it too"
        if outcome == "survived" and mutant.equivalent:
            outcome = "equivalent"
        elif outcome == "caught" and mutant.equivalent:
            outcome = "not equivalent"
        by = "it hangs" if found == "hangs" and outcome != "broken" else " ".join(by.split())
        return Result(outcome, datetime.now(UTC).date().isoformat(), by)


def _shrink_nothing() -> None:
    """A first example that fails is enough; to look for the smallest takes minutes."""
    from hypothesis import Phase, settings

    settings.register_profile("mutants", phases=[Phase.explicit, Phase.generate])
    settings.load_profile("mutants")


def _forget(file: Path) -> None:
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
        compiled.unlink()


def main() -> int:
    """Run what is asked for; the exit code is 0 if every mutant is caught, and every equivalent one is not."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("words", nargs="*", help="only mutants whose module, function or reason holds one of these")
    parser.add_argument("--missing", action="store_true", help="only mutants that no run has caught yet")
    parser.add_argument("--list", action="store_true", help="run nothing: bring the results into the table's order")
    asked = parser.parse_args()
    known = read()
    mutants = [m for m in MUTANTS if not asked.words or any(word in str(m) for word in asked.words)]
    if asked.missing:
        mutants = [m for m in mutants if known.get(m.key, Result()).outcome not in {"caught", "equivalent"}]
    if asked.list:
        mutants = []
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in LIBRARIES if mutants else ():
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="leeward-mutants-") as name:
        copy = Copy(Path(name, "copy"))
        if mutants:
            shutil.copytree(ROOT, copy.folder, ignore=LEFT_OUT)
        for number, mutant in enumerate(mutants, 1):
            start = time.monotonic()
            try:
                result = copy.tried(mutant)
            except LookupError as error:
                result = Result("broken", datetime.now(UTC).date().isoformat(), str(error))
            known[mutant.key] = result
            if not result.as_it_should:
                wrong.append(mutant)
            mark = "" if result.as_it_should else f"  <── {result.by}"
            seconds = time.monotonic() - start
            print(f"{number:>4}/{len(mutants)} {result.outcome:<10} {seconds:5.1f} s  {mutant}{mark}", flush=True)
            write(known, MUTANTS)
    write(known, MUTANTS)
    print(f"\n{len(mutants)} mutants: {len(mutants) - len(wrong)} as they should be, {len(wrong)} not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
