"""Where a path leads: a spec's to what is beside the spec, Python's to where it was given, and neither ever elsewhere."""

from __future__ import annotations

import glob
import json
import os
import re
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.local.test_location import BASE, toml
from tests.local.test_location import table as positions
from tests.private_files import write_private
from tests.session.conftest import Town

import leeward as lw
from leeward._paths import resolve, resolve_ledger, resolve_source
from leeward.errors import InputError, LedgerError
from leeward.ledger import Ledger, PersonBudgets
from leeward.local import read_job

HERE = ["budget.db", "./budget.db", "sqlite:///budget.db", "sqlite:///./budget.db", "sub/../budget.db"]
"""Ways to name one file beside the spec."""

NOWHERE = [
    *("sqlite://", "sqlite:///", "sqlite:budget.db", "sqlite:/budget.db", "sqlite://host/b.db"),
    *("sqlite+pysqlite:///budget.db", "sqlite+aiosqlite:///budget.db", "sqlite3:///budget.db", "sqlite:///:memory:"),
    *("sqlite:///budget.db?mode=ro", "sqlite:///file:budget.db", "file:budget.db", "file:///tmp/b.db", ":memory:", ""),
    *("postgresql://me:sesame@host/budget", "postgresql+psycopg://me:sesame@host/b", "://", "duckdb:///b.db"),
    *("mysql+pymysql://me:sesame@host/b?x=1", "host=h password=sesame dbname=b", "dbname = b", "service=sesame"),
    *(" postgresql://me:sesame@host/b", "\tsqlite:///budget.db", "budgets/postgresql://me:sesame@host/b"),
]
"""What names no file that a budget could be kept in, or a database in a way that would show its password."""

INSTEAD = "Write sqlite:///budget|set PGPASSWORD in the environment|Write postgresql://host"
"""What is to be done instead."""


@pytest.mark.parametrize("named", HERE)
def test_one_ledger_whatever_folder_the_command_stands_in(
    named: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    (town.folder / "sub").mkdir()
    spec = town.spec(('"sqlite:///budget.db"', json.dumps(named)))
    answers = []
    for number, elsewhere in enumerate(("/", town.folder, town.folder / "sub")):
        monkeypatch.chdir(elsewhere)
        assert town.run("release", spec, "--out", town.folder / f"out-{number}")[0] == 0
        answers.append(pd.read_parquet(town.folder / f"out-{number}" / "answers.parquet"))
    assert answers[0].equals(answers[1])
    assert answers[0].equals(answers[2])
    assert [account.spent for account in Ledger(town.folder / "budget.db").show()] == [1]
    assert [path.name for path in town.folder.rglob("*.db")] == ["budget.db"]


def test_an_address_in_capital_letters_is_that_address(tmp_path: Path) -> None:
    named = ("sqlite:///budget.db", "SQLITE:///budget.db", "budget.db")
    assert [resolve_ledger(each, tmp_path) for each in named] == [tmp_path / "budget.db"] * len(named)


@pytest.mark.parametrize("named", NOWHERE)
def test_other_addresses_are_refused_in_words_and_make_nothing(
    named: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(town.folder)
    before = {path.name for path in town.folder.iterdir()} | {"spec.toml"}
    for command in ("release", "plan"):
        words = ["--out", town.out] if command == "release" else []
        code, out, err = town.run(command, town.spec(('"sqlite:///budget.db"', json.dumps(named))), *words)
        assert (code, out) == (2, ""), err
        assert re.search(INSTEAD, err)
        assert "sesame" not in err
    assert town.run("budget", "show", "--ledger", named)[0] == 2
    for make in (
        lambda: lw.Budget(named, dataset="town", cap="1"),
        lambda: Ledger(named),
        lambda: PersonBudgets(named, secret=bytes(16), price="1", reports_a_day=1, new=True),
    ):
        with pytest.raises((LedgerError, InputError), match=INSTEAD) as caught:
            make()
        assert "sesame" not in str(caught.value)
    assert {path.name for path in town.folder.iterdir()} == before


ODD = ["what?", "a\nb", "100%", "[x]*", "#", "é ü", "sqlite:", "a:b"]
"""Names that a folder may have, whatever they mean in an address or a pattern."""


@pytest.mark.parametrize("name", ODD)
def test_a_folder_may_have_any_name(name: str, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = town.folder / name
    folder.mkdir()
    for file in ("visits.parquet", "places.parquet"):
        (town.folder / file).rename(folder / file)
    for number, ledger in enumerate(("sqlite:///budget.db", "budget.db")):
        text = town.spec(("sqlite:///budget.db", ledger), ('"visits.parquet"', '"vis*.parquet"')).read_text()
        (folder / "spec.toml").write_text(text)
        for command, *words in (("plan",), ("release", "--out", town.folder / f"out-{number}")):
            code, _, err = town.run(command, folder / "spec.toml", *words, "--quiet")
            assert code == 0, err
    monkeypatch.chdir(folder)
    budget = lw.Budget("budget.db", dataset="town")
    assert Path(budget.ledger) == folder / "budget.db"
    assert [account.spent for account in Ledger(budget.ledger).show()] == [1]


LONG = {
    "the ledger": [("sqlite:///budget.db", f"{'x' * 300}.db")],
    "the visits": [('"visits.parquet"', f'"*{"x" * 300}.parquet"')],
    "the places": [('"places.parquet"', f'"*{"x" * 300}.parquet"')],
}


@pytest.mark.parametrize("what", [*LONG, "the key", "the spec", "its folder"])
@pytest.mark.parametrize("command", ["plan", "release"])
def test_names_that_are_too_long_are_refused_in_words(
    command: str, what: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = town.spec(*LONG.get(what, []))
    made = {"the spec": town.folder / ("x" * 300), "its folder": town.folder / ("x" * 300) / "spec.toml"}.get(
        what, made
    )
    if what == "the key":
        monkeypatch.setenv("LEEWARD_KEY", "/" + "x" * 300)
    code, _, err = town.run(command, made, *(["--out", town.out] if command == "release" else []))
    reads = {"plan": ("the ledger", "the places", "the spec", "its folder")}.get(command, (what,))
    assert (code, len(err.splitlines())) == ((2, 1) if what in reads else (0, 0)), err
    assert not town.out.exists()


def test_what_python_names_stays_where_it_was_named(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    decoy = town.folder / "decoy"
    decoy.mkdir()
    for name in ("visits.parquet", "places.parquet"):
        pd.read_parquet(town.folder / name).iloc[:1].to_parquet(decoy / name)
    monkeypatch.chdir(town.folder)
    budget = lw.Budget("sqlite:///budget.db", dataset="town", cap="90")
    visits = lw.visits(["visits.parquet"], person="user", place="venue", time="at")
    places = lw.places(Path("places.parquet"), place="venue")
    people = PersonBudgets("people.db", secret=bytes(16), price="1", reports_a_day=1, new=True)
    monkeypatch.chdir(decoy)
    window = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    query = lw.count_visitors(visits, places, **window, places_per_person=1, if_more="latest")
    released = lw.release(lw.plan(query, lw.AdditionOnly("40"), lw.Decide(safe_at_most=2), what="counts"), budget)
    assert released.to_pandas()["count"].tolist() == list(town.counts.values())  # but for a chance of 1e-16
    with people.charging() as charge:
        charge(["ann"], [1])
    assert Ledger(town.folder / "budget.db").show()[0].spent == Fraction(40)
    assert sorted(path.name for path in decoy.iterdir()) == ["places.parquet", "visits.parquet"]
    assert stat.S_IMODE((town.folder / "people.db").stat().st_mode) == 0o600


def test_no_key_of_a_spec_is_read_from_where_the_command_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every key that names a file, in every kind of spec: a file of that name in the working directory stays untouched."""
    project, decoy = tmp_path / "project", tmp_path / "decoy"
    for folder in (project, decoy):
        folder.mkdir()
    decoys = ["positions.parquet", "stops.csv", "people.db", "people.key", "memo.db", "memo.key", "r.csv", "prior.csv"]
    for name in decoys:
        (decoy / name).write_text("not what was meant")
    positions(20).to_parquet(project / "positions.parquet")
    (project / "stops.csv").write_text("lat,lon\n39.9,116.4\n39.91,116.39\n")
    for name in ("people.key", "memo.key"):
        write_private(project / name, bytes(range(32)))
    located = {
        **BASE,
        "data": BASE["data"] | {"person": "who"},
        "places": {"table": "stops.csv", "latitude": "lat", "longitude": "lon"},
        "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 99},
        "repeat": {"store": "memo.db", "secret": "memo.key"},
    }
    (project / "location.toml").write_text(toml(located))
    clock = pd.date_range("2026-03-01", periods=24, freq="h")
    pd.DataFrame({"time": clock.strftime("%Y-%m-%d %H:%M"), "kw": 0.5}).to_csv(project / "r.csv", index=False)
    (project / "prior.csv").write_text("value,weight\n0,1\n1,1\n")
    series: dict[str, dict[str, Any]] = {
        "perturb": {"kind": "series"},
        "data": {"table": "r.csv", "time": "time", "value": "kw", "unit": "kW"},
        "time": {"start": "2026-03-01T00:00", "end": "2026-03-02T00:00", "every": "1 h"},
        "values": {"lower": "0 kW", "upper": "1 kW", "step": "1 kW"},
        "protect": {"between": "manhattan", "epsilon": "1", "unit": "1 kW"},
        "publish": {"prior": "prior.csv"},
    }
    (project / "series.toml").write_text(toml(series))
    monkeypatch.chdir(decoy)
    read_job(Path("../project/location.toml")).run(tmp_path / "o.parquet", lambda *_: None, new=True)
    read_job(Path("../project/series.toml")).run(tmp_path / "o.csv", lambda *_: None)
    assert {path.name: path.read_text() for path in decoy.iterdir()} == dict.fromkeys(decoys, "not what was meant")
    assert {"people.db", "memo.db"} <= {path.name for path in project.iterdir()}


@pytest.mark.parametrize("folder", ["a[b]", "a*", "a?b", "[a-z]*"])
def test_a_folder_is_a_name_and_no_pattern(folder: str, tmp_path: Path) -> None:
    for made in (folder, "ab", "axb"):
        (tmp_path / made).mkdir()
        (tmp_path / made / "v-1.csv").write_text(made)
    found = glob.glob(resolve_source("v-*.csv", tmp_path / folder))
    assert found == [str(tmp_path / folder / "v-1.csv")]
    assert resolve_source("v-1.csv", tmp_path / folder) == str(tmp_path / folder / "v-1.csv")
    (tmp_path / folder / "v-[x].csv").touch()
    assert resolve_source("v-[x].csv", tmp_path / folder) == str(tmp_path / folder / "v-[x].csv")


def test_what_is_no_path_is_left_as_it_is() -> None:
    frame = pd.DataFrame({"a": [1]})
    assert resolve_source(frame) is frame
    assert resolve_source("https://example.org/v.csv", "/data") == "https://example.org/v.csv"
    assert resolve_source(["a.csv", Path("b.csv")], "/data") == ["/data/a.csv", "/data/b.csv"]


@pytest.mark.parametrize("resolver", [resolve, resolve_ledger, resolve_source])
def test_a_zero_byte_is_refused(resolver: Any) -> None:
    with pytest.raises(InputError, match="zero byte"):
        resolver("a\0b")


def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = os.getcwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        with pytest.raises(InputError, match="working directory is gone"):
            resolve_ledger("budget.db")
        assert resolve_ledger("/data/budget.db") == Path("/data/budget.db")
    finally:
        os.chdir(before)


names = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.lists(names, min_size=1, max_size=4).map("/".join))
def test_a_path_leads_to_its_folder_or_nowhere(named: str) -> None:
    """Whatever is written: an absolute path below the folder, as it was written, or a refusal; never a guess."""
    try:
        found = resolve_ledger(named, "/data")
    except LedgerError:
        assert ":" in named
    else:
        assert found.is_absolute()
        assert found == Path("/data", named)
