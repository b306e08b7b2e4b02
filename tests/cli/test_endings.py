"""However the command ends, it says truly what became of its work, and leaves no private file behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tests.session.conftest import Town
from tests.session.test_monitor_command import SANITIZED

from leeward.cli._ending import ended_as_by_an_interrupt, ended_by
from leeward.ledger import Ledger
from leeward.ledger._secret import key_path

HANGS = """
import signal, sys, time, tempfile
from importlib.metadata import entry_points
from pathlib import Path
for each in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(each, signal.SIG_DFL)  # whatever is ignored where the tests run
signal.signal(signal.SIGINT, signal.default_int_handler)
from leeward.engine._visits import VisitTable

def hang(self, query):
    (made,) = Path(tempfile.gettempdir()).glob(".leeward-*")
    (made / "duckdb_temp_block-0.block").write_bytes(b"rows" * 1000)  # as what does not fit into memory
    print("READY", flush=True)
    if sys.argv[1] == "in the engine":
        self._bound.connection.con.execute("SELECT sum(sin(range)) FROM range(1000000000000)").fetchall()
    time.sleep(600)

VisitTable.count = hang
sys.argv = ["leeward", "release", sys.argv[2], "--out", sys.argv[3], "--yes"]
from leeward.cli import main
main()
"""


def _hanging(where: str, town: Town, spills: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HANGS, where, str(town.spec()), str(town.out)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(spills)}
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "READY\n"
    assert [*spills.glob(".leeward-*/duckdb_temp_*")]
    return process


@pytest.mark.sweep
@pytest.mark.parametrize("where", ["in the engine", "in Python"])
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_leaves_no_private_file_and_no_charge(
    by: signal.Signals, where: str, town: Town, tmp_path: Path
) -> None:
    spills = tmp_path / "spills"
    spills.mkdir()
    before = {path.name for path in town.folder.iterdir()} | {"spec.toml"}
    process = _hanging(where, town, spills)
    process.send_signal(by)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + by
    word = "interrupted" if by == signal.SIGINT else f"ended by {by.name}"
    assert err == f"leeward: {word}; nothing was shown\n"
    assert not [*spills.iterdir()]
    (account,) = Ledger(town.folder / "budget.db").show("town") or [None]
    assert account is None or account.spent == 0
    assert {path.name for path in town.folder.iterdir()} == before | {"budget.db", "budget.db.mark"}


def test_what_kill_9_left_is_swept_by_the_next_one(town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spills = tmp_path / "spills"
    spills.mkdir()
    (spills / ".leeward-theirs01").mkdir(mode=0o700)
    (spills / ".leeward-theirs01" / "duckdb_temp_block-0.block").write_text("not ours")
    first = _hanging_beside(town, spills)
    first.kill()
    first.communicate()
    assert len([*spills.glob(".leeward-*/duckdb_temp_*")]) == 2
    monkeypatch.setattr(tempfile, "tempdir", str(spills))
    code, _, err = town.run("release", town.spec(), "--out", town.out)
    assert code == 0, err
    assert [path.name for path in spills.iterdir()] == [".leeward-theirs01"]
    assert (spills / ".leeward-theirs01" / "duckdb_temp_block-0.block").read_text() == "not ours"


def _hanging_beside(town: Town, spills: Path) -> subprocess.Popen[str]:
    aside = spills / ".leeward-theirs01"
    hidden = spills.parent / "aside"
    aside.rename(hidden)  # the script takes the one folder that is there
    process = _hanging("in Python", town, spills)
    hidden.rename(aside)
    return process


@pytest.mark.sweep
def test_a_signal_that_is_ignored_stays_ignored(town: Town) -> None:
    words = [sys.executable, "-m", "leeward", "release", str(town.spec()), "--out", str(town.out), "--yes", "--quiet"]
    script = f"trap '' HUP; {sys.executable} -c \"{_NOHUP}\" {' '.join(words[3:])}"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
    assert (town.out / "release.json").exists()


_NOHUP = (
    "import os, signal, leeward.session._together as r; from leeward.cli import main;"
    " real = r.Together.release;"
    " r.Together.release = lambda *a, **k: (os.kill(os.getpid(), signal.SIGHUP), real(*a, **k))[1]; main()"
)


AT = """
import os, signal, sys, typer
import leeward.cli as cli
for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(each, signal.SIG_DFL)  # whatever is ignored where the tests run
signal.signal(signal.SIGINT, signal.default_int_handler)
number, moment = int(sys.argv[1]), sys.argv[2]
kill = lambda *_, **__: os.kill(os.getpid(), number)
if moment == "while options are read":
    typer.core.TyperGroup.parse_args = kill
elif moment == "while the command is found":
    typer.core.TyperGroup.get_command = kill
else:  # as named tuples and data classes are made while libraries are loaded
    typer.core.TyperGroup.get_command = lambda *_: exec("import os, time; os.kill(os.getpid(), %d); time.sleep(9)" % number)
sys.argv = ["leeward", "plan", "spec.toml"]
cli.main()
"""
SAID = {signal.SIGHUP: "ended by SIGHUP", signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM"}
MOMENTS = ("while options are read", "while the command is found", "while a text is run")
IGNORED = {
    signal.SIGCHLD,
    signal.SIGCONT,
    signal.SIGURG,
    signal.SIGWINCH,
    signal.SIGPIPE,
    signal.SIGXFSZ,
}  # the last two by Python
STOPPING = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
TABLE = [(each, MOMENTS[2]) for each in SAID]
WHOLE = [(each, moment) for each in sorted({*signal.Signals} - STOPPING - IGNORED) for moment in MOMENTS]


def ended_at(by: signal.Signals, moment: str, folder: Path) -> None:
    (folder / "ended.py").write_text(AT)  # a module, as `python -m leeward` runs one: of that Python remembers more
    words = [sys.executable, "-m", "ended", str(int(by)), moment]
    ended = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
    if by in SAID:
        assert (ended.returncode, ended.stderr) == (128 + by, f"leeward: {SAID[by]}; nothing was shown\n")
    else:
        assert (ended.returncode, ended.stdout) == (-by, "")  # as the system does with every program


@pytest.mark.parametrize(("by", "moment"), TABLE)
def test_a_signal_is_told_as_the_one_it_is(by: signal.Signals, moment: str, tmp_path: Path) -> None:
    ended_at(by, moment, tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize(("by", "moment"), [row for row in WHOLE if row not in TABLE])
def test_so_is_every_other_one_at_every_moment(by: signal.Signals, moment: str, tmp_path: Path) -> None:
    ended_at(by, moment, tmp_path)


# ---- "nothing was shown" is said only where it is true


FULL = {
    "release": (["--yes"], []),
    "release --json": (["--yes", "--json"], []),
    "monitor": (["--yes", "--if-doubtful", "publish"], SANITIZED),
    "monitor --json": (["--yes", "--if-doubtful", "publish", "--json"], SANITIZED),
    "release --dry-run": ([], []),
    "plan": ([], []),
    "plan --html": ([], []),
}


@pytest.mark.sweep
@pytest.mark.parametrize("command", FULL)
def test_a_full_stdout_is_said_truly(command: str, town: Town) -> None:
    word, more = command.split()[0], command.split()[1:]
    options, changes = FULL[command]
    words = [word, str(town.spec(*changes)), *options]
    writes = word != "plan" and "--dry-run" not in more
    if writes:
        words += ["--out", str(town.out)]
    if "--html" in more:
        words += ["--html", str(town.folder / "plan.html")]
    elif more and more[0] not in words:
        words += more
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "leeward", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 2
    last = ended.stderr.strip().splitlines()[-1]
    assert last.startswith("leeward: standard output cannot be written: No space left on device; ")
    assert "Traceback" not in ended.stderr
    if writes or "--html" in more:
        made = town.out if writes else town.folder / "plan.html"
        assert made.exists()
        assert last.endswith(f"what was made is at {made}")
    else:
        assert last.endswith("only part of what it says was shown")
    assert "nothing was shown" not in ended.stderr


@pytest.mark.parametrize("command", [["set-cap", "town", "9"], ["new-key"]], ids=lambda words: words[0])
def test_a_full_stdout_is_said_truly_of_a_budget(command: list[str], town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out, "--yes")[0] == 0
    ledger = town.folder / "budget.db"
    before, key = len(Ledger(ledger).history()), key_path()
    if command == ["new-key"]:
        key.rename(key.with_name("lost.key"))
    words = [sys.executable, "-m", "leeward", "budget", command[0], "--ledger", str(ledger), *command[1:]]
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert len(Ledger(ledger).history()) == before + 1
    assert (ended.returncode, ended.stderr.splitlines()[-1].partition("; ")[2]) == (2, f"what was made is at {ledger}")


def test_a_full_stderr_still_ends_with_the_right_code(town: Town) -> None:
    words = [sys.executable, "-m", "leeward", "release", str(town.spec(("town", "city"))), "--out", str(town.out)]
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")


@pytest.mark.sweep
def test_a_closed_pipe_writes_the_folder_all_the_same(town: Town) -> None:
    words = [sys.executable, "-m", "leeward", "release", str(town.spec()), "--out", str(town.out), "--yes", "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as stderr:
        err = stderr.read()
    process.wait()
    assert "Traceback" not in err
    assert "nothing was shown" not in err
    assert json.loads((town.out / "release.json").read_text())["entry"]


# ---- what fails after a signal fails because of it


_BREAKS = """
import os, signal, sys, leeward.session._together
from leeward.errors import DataError
from leeward.cli import main

which, by = sys.argv[1], int(sys.argv[2])
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored

def broken(*words, **more):
    try:
        os.kill(os.getpid(), by)
    except KeyboardInterrupt:
        pass  # as a library does that was being loaded
    raise {"AttributeError": AttributeError("half loaded"), "DataError": DataError("The table", "it is damaged"),
           "SystemExit": SystemExit(130), "OSError": OSError(28, "x"), "KeyboardInterrupt": KeyboardInterrupt()}[which]

leeward.session._together.Together.release = broken
sys.argv = ["leeward", *sys.argv[3:]]
main()
"""


@pytest.mark.sweep
@pytest.mark.parametrize("error", ["AttributeError", "DataError", "SystemExit", "OSError", "KeyboardInterrupt"])
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_what_fails_after_a_signal_counts_as_that_signal(by: signal.Signals, error: str, town: Town) -> None:
    words = ["release", str(town.spec()), "--out", str(town.out), "--yes"]
    ended = subprocess.run(
        [sys.executable, "-c", _BREAKS, error, str(int(by)), *words], capture_output=True, text=True, check=False
    )
    word = "interrupted" if by == signal.SIGINT else f"ended by {by.name}"
    assert (ended.returncode, ended.stdout) == (128 + by, "")
    assert ended.stderr == f"leeward: {word}; nothing was shown\n"


def test_an_interrupt_while_the_command_is_being_loaded_is_told_in_a_line() -> None:
    code = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'leeward.cli': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from leeward.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "leeward: interrupted; nothing was done\n")


def test_the_installed_script_is_what_python_runs() -> None:
    (script,) = entry_points(group="console_scripts", name="leeward")
    assert script.value == "leeward.__main__:main"


def test_two_signals_at_once_end_it_without_a_traceback() -> None:
    """Python notes both before it runs a handler; what the first one's handler sets is then met by the second."""
    code = """
import os, signal
from leeward.cli._ending import ended_as_by_an_interrupt
both = {signal.SIGTERM, signal.SIGINT}
try:
    with ended_as_by_an_interrupt():
        signal.pthread_sigmask(signal.SIG_BLOCK, both)
        for each in both:
            os.kill(os.getpid(), each)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
        for _ in range(10**5):
            pass
except KeyboardInterrupt:
    for _ in range(10**5):
        pass
    print("ended")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


@pytest.mark.parametrize("by", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_an_interrupt_that_meets_the_end_of_an_object_is_not_swallowed(
    by: signal.Signals, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many endings by signals one was: Python printed where, and the command did its work and ended with 0."""

    class Met:
        def __del__(self) -> None:
            os.kill(os.getpid(), by)
            time.sleep(0.001)

    monkeypatch.setattr("sys.unraisablehook", sys.__unraisablehook__)
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored

    def met() -> None:
        with ended_as_by_an_interrupt():
            Met()
            time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        met()
    assert ended_by() == by
    assert capsys.readouterr().err == ""
    assert sys.unraisablehook is sys.__unraisablehook__


def test_what_is_cut_off_within_is_no_interrupt(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typer makes an interrupt of every EOFError, and Python has one for bytecode that a full disk has cut off."""

    def cut_off(*_: object) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr("leeward.spec.read_questions", cut_off)
    code, _, err = town.run("release", town.spec(), "--dry-run")
    assert code == 1
    assert "an unexpected EOFError; nothing was shown" in err


def test_a_signal_while_the_ledger_is_closed_is_told_in_one_line(town: Town) -> None:
    """SQLAlchemy logs it with a traceback, which Python prints where nobody has said what becomes of logs."""
    code = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_DFL)
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite as dialect
closed = dialect.do_close

def met(self, connection):
    os.kill(os.getpid(), signal.SIGTERM)
    closed(self, connection)

dialect.do_close = met
sys.argv = ["leeward", "release", *sys.argv[1:], "--yes"]
from leeward.cli import main
main()
"""
    command = [sys.executable, "-c", code, str(town.spec()), "--out", str(town.out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "leeward: ended by SIGTERM; nothing was shown\n")
