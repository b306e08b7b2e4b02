"""A file is read once, whatever names lead to it, and a name is a name, whatever characters it holds.

The oracle writes a different person into every file, so the people counted say which files were read, and the number of rows
how often.
"""

from __future__ import annotations

import errno
import gzip
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.cli import EngineError
from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.local.location._formats import open_positions
from leeward.local.series._files import ReadingsFile
from leeward.tables._files import files_of

AS_ROLE = {"person": "who"}
KINDS = ("parquet", "csv", "csv.gz", "duckdb")


def write(path: Path, who: str) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    if path.name.endswith((".parquet", ".pq")):
        pq.write_table(pa.table({"who": [who]}), path)
    elif path.name.endswith(".duckdb"):
        made = path.with_name("made.duckdb")
        with duckdb.connect(made) as other:
            other.execute("CREATE TABLE t AS SELECT ? AS who", [who])
        made.rename(path)
    else:
        quoted = who.replace('"', '""')
        text = f'who\n"{quoted}"\n'.encode()
        path.write_bytes(gzip.compress(text) if path.name.endswith(".gz") else text)
    return path


def read(source: Any) -> list[str]:
    """Who is in the rows, sorted, as often as they are read."""
    with bind(source, AS_ROLE) as bound:
        return sorted(bound.fetch(bound.rows)["who"].to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_may_not_be_read_is_not_called_damaged(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path / f"a.{kind}", "ann")
    path.chmod(0)
    reader = f"from leeward.engine._bind import bind\nwith bind({str(path)!r}, {AS_ROLE!r}):\n    pass"
    # root may read what it likes, unless that power is taken from it
    weak = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    done = subprocess.run([*weak, sys.executable, "-c", reader], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.endswith(f"The file '{path}': it cannot be opened: Permission denied. Check the file.")


@pytest.mark.parametrize("kind", KINDS)
def test_one_file_under_many_names_is_read_once(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = write(tmp_path / "data" / f"a.{kind}", "ann")
    names: list[Any] = [
        own,
        str(own),
        f"data/a.{kind}",
        f"./data//a.{kind}",
        f"data/../data/a.{kind}",
        f"data/a*.{kind}",
    ]
    (tmp_path / f"soft.{kind}").symlink_to(own)
    (tmp_path / f"far.{kind}").symlink_to(f"soft.{kind}")
    (tmp_path / f"hard.{kind}").hardlink_to(own)
    (tmp_path / "other").symlink_to("data")
    names += [f"{name}.{kind}" for name in ("soft", "far", "hard", "other/a")] + [f"**/*.{kind}", f"*.{kind}"]
    for some in [*itertools.pairwise(names), names, names[::-1]]:
        assert read(list(some)) == ["ann"], some
    if kind == "duckdb":
        return
    write(tmp_path / "data" / f"b.{kind}", "ben")  # as many rows, but another file
    assert read(["data/*", f"data/[ab].{kind}", f"other/b.{kind}"]) == ["ann", "ben"]
    assert read(f"**/*.{kind}") == ["ann", "ben"]


ODD = [
    "a[b]",
    "a[!b]",
    "a*",
    "a?",
    "[a-z]b",
    "[",
    "]",
    "a[[]b]",
    "**",
    "{a,b}",
    "a b",
    "a'b",
    'a"b',
    "a\\b",
    "a\nb",
    "é[ü]",
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_is_never_a_pattern_once_more(tmp_path: Path, kind: str) -> None:
    """Beside each odd name lie the files that it would match as a pattern."""
    folder = tmp_path / "p[qr]"
    write(tmp_path / "pq" / f"a[b].{kind}", "the wrong folder")
    plain = ["ab", "abb", "zb", "a", "ax", "b"]
    for name in [*ODD, *plain]:
        write(folder / f"{name}.{kind}", name)
    for name in [*ODD, *plain]:
        if kind == "duckdb" and "\\" in name:  # DuckDB would open a/b for it
            write(folder / f"{name.replace(chr(92), '/')}.{kind}", "another")
            with pytest.raises(DataError, match="backslash"):
                read(folder / f"{name}.{kind}")
            continue
        assert read(folder / f"{name}.{kind}") == [name]
    if kind != "duckdb":
        for pair in itertools.combinations(["a[b]", "a*", "[a-z]b", "ab", "ax"], 2):
            assert read([folder / f"{name}.{kind}" for name in pair]) == sorted(pair)
        escaped = str(folder).replace("[", "[[]")
        assert read(f"{escaped}/*.{kind}") == sorted([*ODD, *plain])


def test_a_folder_for_spilling_whose_name_is_a_pattern_changes_nothing(tmp_path: Path) -> None:
    odd, plain = tmp_path / "t[xy]", tmp_path / "tx"
    odd.mkdir()
    plain.mkdir()
    own = write(tmp_path / "a[b].parquet", "ann")
    write(tmp_path / "ab.parquet", "ben")
    code = (
        "import sys; from leeward.engine._bind import bind\n"
        "with bind(sys.argv[1], {'person': 'who'}) as bound: print(bound.fetch(bound.rows)['who'].to_pylist())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(own)], env=os.environ | {"TMPDIR": str(odd)}, capture_output=True, text=True
    )
    assert run.stdout.strip() == "['ann']", run.stderr
    assert not list(odd.iterdir())


def test_a_name_says_what_a_file_holds_even_if_it_leads_to_another(tmp_path: Path) -> None:
    """Stores keep files under names of their own: the name that was given counts, not that of the file it leads to."""
    for kind in KINDS:
        stored = write(tmp_path / f"x.{kind}", kind).rename(tmp_path / f"{kind.replace('.', '')}-4f2a")
        link = tmp_path / f"v.{kind}"
        link.symlink_to(stored)
        assert read(link) == [kind]
    (tmp_path / "V.CSV.GZ").write_bytes(gzip.compress(b"who\nann\n"))
    assert read(tmp_path / "V.CSV.GZ") == ["ann"]
    with pytest.raises(DataError, match="one kind"):
        read([tmp_path / "v.csv", tmp_path / "v.parquet"])


def test_two_duckdb_files_are_refused_and_one_twice_is_one(tmp_path: Path) -> None:
    one, two = write(tmp_path / "1.duckdb", "ann"), write(tmp_path / "2.duckdb", "ben")
    assert read([one, one]) == ["ann"]
    with pytest.raises(DataError, match="only one DuckDB file"):
        read([one, two])
    with pytest.raises(DataError, match="only one DuckDB file"):
        read(str(tmp_path / "*.duckdb"))


def test_a_duckdb_file_that_is_not_closed_yet_is_read_with_its_log_or_refused_for_what_it_is(tmp_path: Path) -> None:
    """Read under another name, its latest changes would be missing."""
    path = tmp_path / "v.duckdb"
    code = (
        "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute(\"CREATE TABLE t AS SELECT 'ann' AS who\");"
        "c.execute('CHECKPOINT'); c.execute(\"INSERT INTO t VALUES ('ben')\"); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert (tmp_path / "v.duckdb.wal").exists()
    (tmp_path / "link.duckdb").symlink_to(path)
    assert read(path) == read(tmp_path / "link.duckdb") == ["ann", "ben"]
    hold = "import duckdb, sys, time; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(DataError, match="another program has it open"):
            read(path)
        assert holder.stdin is not None
        holder.stdin.close()


def test_a_duckdb_file_that_this_program_has_open_is_not_called_damaged(tmp_path: Path) -> None:
    """Found by an attack: it was said to be no DuckDB file. Read only, it may be open; and its own table can be given."""
    path = write(tmp_path / "v.duckdb", "ann")
    other = duckdb.connect()
    for opened in (
        lambda: duckdb.connect(path),
        lambda: other.execute(f"ATTACH '{path}' AS v"),
    ):
        connection = opened()
        with pytest.raises(DataError, match="this program has it open for writing itself") as refused:
            read(path)
        assert "Close that connection" in str(refused.value)
        assert "damaged" not in str(refused.value)
        name = "t" if connection is not other else "v.t"
        assert read(connection.table(name)) == ["ann"]
        connection.close()
        assert read(path) == ["ann"]
    with duckdb.connect(path, read_only=True):
        assert read(path) == ["ann"]


@pytest.mark.parametrize("name", ["lock.duckdb", "unique file handle conflict.duckdb", "could not set lock.duckdb"])
def test_a_damaged_duckdb_file_is_called_so_whatever_its_name(name: str, tmp_path: Path) -> None:
    """DuckDB tells of a damaged *block*, and of the path: neither says that the file is locked."""
    path = write(tmp_path / "blocks" / "v.duckdb", "ann").rename(tmp_path / "blocks" / name)
    whole = path.read_bytes()
    for at in (12, 4096 + 100):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        with pytest.raises(DataError, match="it is damaged, not a DuckDB file, or one of a later version"):
            read(path)
    path.write_bytes(b"no")
    with pytest.raises(DataError, match="it is damaged, not a DuckDB file"):
        read(path)


@pytest.mark.parametrize("source", ["a\0b.parquet", "x" * 300 + ".parquet", ["", "a.csv"], [3], [b"a.csv"], [None]])
def test_names_that_cannot_be_are_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"no such file|names no file"):
        files_of(source, None)


_NOTEBOOK = """
import sys, types
shell = types.ModuleType("IPython")
shell.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
shell.version_info = (8, 0)
sys.modules["IPython"] = shell
sys.modules["ipywidgets"] = None
import __main__
if hasattr(__main__, "__file__"):
    del __main__.__file__
import duckdb
try:
    duckdb.connect().execute("SET enable_progress_bar = false")
    print("no notebook")
except duckdb.Error as error:
    assert "ipywidgets" in str(error)
from leeward.engine._bind import bind
with bind(sys.argv[1], {"person": "who"}) as bound:
    print(bound.fetch(bound.rows)["who"].to_pylist())
"""


def test_a_notebook_without_ipywidgets_reads_like_any_other_program(tmp_path: Path) -> None:
    """DuckDB refuses there to be told that it should draw no progress bar. The first line of output is the control."""
    own = write(tmp_path / "v.parquet", "ann")
    run = subprocess.run([sys.executable, "-c", _NOTEBOOK, str(own)], capture_output=True, text=True)
    assert (run.stdout.splitlines(), run.stderr) == (["['ann']"], "")


@pytest.mark.parametrize("broken", ["connect", "settings", "names of files", "TMPDIR"])
def test_failures_of_the_engine_are_not_blamed_on_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    own = write(tmp_path / "v.parquet", "ann")

    def no_room(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def refuse(*_: Any, **__: Any) -> None:
        raise duckdb.InvalidInputException("Invalid Input Error: no such setting\nLINE 1: ...")

    class Broken:
        execute = refuse
        close = staticmethod(lambda: None)

    if broken == "connect":
        monkeypatch.setattr(duckdb, "connect", refuse)
    elif broken == "settings":
        monkeypatch.setattr(duckdb, "connect", lambda *_, **__: Broken())
    elif broken == "names of files":
        monkeypatch.setattr(os, "symlink", no_room)
    else:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(EngineError) as refused:
        read(own)
    assert "Nothing is wrong with the data" in str(refused.value)
    assert "damaged" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["pipe.csv", "loop.csv", "gone.csv"])
def test_what_is_there_and_no_file_is_not_called_missing(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    (tmp_path / "gone.csv").symlink_to("nothing.csv")
    path = tmp_path / name
    for read in (
        lambda: files_of(str(path), None),
        lambda: open_positions(path, "lat", "lon"),
        lambda: ReadingsFile(path),
    ):
        with pytest.raises(DataError, match="not a regular file"):
            read()


NO_CSV = "a quote that is not closed, or another end of line than the rows before it"


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("\nwho,v\nann,1\n", "its first line is blank"),
        ("", "it is empty"),
        ("who,v\r\nann,1\nbob,2\ncat,3\r\n", NO_CSV),
        ("who,v\nann,1\nbob,2\r\ncat,3\n", NO_CSV),
        ("who,v\nann,1\nbob,2\rcat,3\n", NO_CSV),
        ('who,v\nann,1\nbob,"2\ncat,3\n', r"Line 3 of the file .*: a quote begins in it that is not closed"),
        ("who,v\nann,1,2\n", r"Line 2 of the file .*: it has 3 fields, and the first line names 2 columns"),
    ],
)
def test_what_is_no_csv_is_told_as_what_it_is(text: str, because: str, tmp_path: Path) -> None:
    """The content is read when it is fetched; the first line, before."""
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match=because), bind(str(path), {"person": "who"}) as bound:
        bound.fetch(bound.rows)


def test_a_moment_beyond_all_calendars_is_told_as_one(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    given = pa.table({"who": ["ann", "bob"], "at": pa.array([0, 2**50], pa.timestamp("s"))})
    with duckdb.connect(str(path)) as made:
        made.register("given", given)
        made.execute("CREATE TABLE t AS SELECT * FROM given")
    with (
        pytest.raises(DataError, match="beyond what can be counted with"),
        bind(str(path), {"person": "who", "time": "at"}) as bound,
    ):
        bound.fetch(bound.rows.select(told=bound.rows.at.cast("string")))


@pytest.mark.parametrize(
    ("header", "because"),
    [
        (",who,v", "an empty name, for the first column.*index=False"),
        ("who,,v", "an empty name, for column 2"),
        (",who,", "an empty name, for column 1"),
        ("who,v,who", "names a column twice"),
    ],
)
def test_a_first_line_without_a_name_says_where(header: str, because: str, tmp_path: Path) -> None:
    """Found by an attack: what pandas writes of a table with its index was told to name each column once."""
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\nann,1,2\n")
    with pytest.raises(DataError, match=because), bind(str(path), {"person": "who"}):
        pass


def test_a_missing_file_is_not_only_looked_for_beside_a_spec(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="in Python to the working directory"):
        read(tmp_path / "none.csv")


def _dangling(path: Path) -> None:
    path.symlink_to("nothing")


def _folder_of_parts(path: Path) -> None:
    path.mkdir()
    write(path / f"part-0{path.suffix}", "bob")


@pytest.mark.parametrize("make", [_dangling, _folder_of_parts, os.mkfifo])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_what_a_pattern_matches_and_is_no_file_is_not_left_out(
    tmp_path: Path, kind: str, make: Callable[[Path], None]
) -> None:
    """A month that is a folder, as Spark writes one, or a link to a disk that is not there: nobody would be anywhere."""
    write(tmp_path / f"month-1.{kind}", "ann")
    make(tmp_path / f"month-2.{kind}")
    with pytest.raises(DataError, match=rf"matches '.*month-2\.{kind}': it is a folder, a broken link or a pipe"):
        read(str(tmp_path / f"month-*.{kind}"))
    (tmp_path / "archive").mkdir()
    assert read(str(tmp_path / f"month-1*.{kind}")) == ["ann"]
    for other in tmp_path.glob("month-2*"):
        other.rename(tmp_path / "archive" / other.name)
    assert read(str(tmp_path / "*")) == ["ann"], "a folder that is named like none is none"


def test_a_folder_that_a_pattern_leads_through_and_that_is_closed_is_refused(tmp_path: Path) -> None:
    for month in "12":
        write(tmp_path / month / "days" / "a.parquet", "ann")
    closed = tmp_path / "2"
    weak = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    for pattern, mode, says in [
        ("*/days/*.parquet", 0, f"'{closed}'"),
        ("**/*.parquet", 0o100, f"'{closed}"),
        ("*/days/a.parquet", 0o400, f"'{closed}'"),
    ]:
        reader = (
            f"from leeward.engine._bind import bind\nwith bind({str(tmp_path / pattern)!r}, {AS_ROLE!r}):\n    pass"
        )
        closed.chmod(mode)
        done = subprocess.run([*weak, sys.executable, "-c", reader], capture_output=True, text=True, check=False)
        closed.chmod(0o700)
        assert f"The folder {says}" in done.stderr, (pattern, done.stderr)
        assert "it cannot be looked into" in done.stderr
