"""Files of two promises never lie together, and what a run reads or keeps is never what it writes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import pytest
from tests.local.test_location import Run, run, spec, table
from tests.outputs.test_folder import tree
from tests.outputs.test_perturbed import BUDGET, JOBS, budget
from tests.private_files import write_private
from tests.session.conftest import Town, town

from leeward.errors import InputError
from leeward.local.location import _job
from leeward.outputs import beside

__all__ = ["run", "town"]

ENDINGS = ("", ".release.json", ".map.html")


def _write(text: str, out: Path, *endings: str) -> None:
    with beside(out, *endings) as files:
        for ending in ("", *endings):
            files.path(ending).write_text(text)
        files.place({"says": text})


def _says(out: Path, *endings: str) -> set[str]:
    """What the statement and each file say: one text where they belong together."""
    said = {out.with_name(out.name + ending).read_text() for ending in ("", *endings)}
    return {json.loads(out.with_name(out.name + ".release.json").read_text())["says"], *said}


@pytest.mark.parametrize("step", range(3))
@pytest.mark.parametrize("is_there", [False, True])
def test_of_two_at_once_the_later_one_replaces_all(
    is_there: bool, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one begins between two renames of the first; without a lock it ended there, within 0.3 seconds."""
    out, real, done = tmp_path / "out.csv", os.replace, list[int]()
    if is_there:
        _write("earlier", out, ".map.html")
    second = Thread(target=_write, args=("second", out, ".map.html"))

    def replace(source: Any, target: Any) -> None:
        real(source, target)
        done.append(1)
        if len(done) == step + 1:
            second.start()
            second.join(0.3)

    monkeypatch.setattr(os, "replace", replace)
    _write("first", out, ".map.html")
    second.join()
    assert _says(out, ".map.html") == {"second"}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(out.name + ending for ending in ENDINGS)


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_another_program_wrote_in_that_moment_is_noticed(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real = tmp_path / "out.csv", os.replace

    def replace(source: Any, target: Any) -> None:
        real(source, target)
        if target == out:
            out.with_name(out.name + ending).write_text("theirs")

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(InputError, match="another program wrote there"):
        _write("ours", out, ".map.html")
    assert out.with_name(out.name + ending).read_text() == "theirs"


def test_a_refusal_after_the_charge_says_that_the_charge_stands(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _job.statement

    def taken(*args: Any) -> Any:
        (tmp_path / "out.parquet").write_text("somebody was here")
        return real(*args)

    monkeypatch.setattr(_job, "statement", taken)
    code, _, err = run(str(spec(tmp_path, **budget(10_000))), "--out", "out.parquet")
    assert code == 2
    assert "not as Leeward wrote it" in err
    assert "were charged to their people's budgets before, and that stands" in err


def test_a_picture_of_an_earlier_promise_does_not_stay(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "out.parquet.map.html"
    for _ in range(2):
        assert run(str(spec(tmp_path, output={"map": True})), "--out", "out.parquet")[0] == 0
        assert picture.exists()
        assert run(str(spec(tmp_path, protect={"within": "10 m"})), "--out", "out.parquet")[0] == 0
        assert not picture.exists()
    assert run(str(spec(tmp_path, output={"map": True})), "--out", "out.parquet")[0] == 0
    picture.write_text(picture.read_text() + "a remark of somebody's")
    before = tree(tmp_path)
    code, _, err = run(str(spec(tmp_path)), "--out", "out.parquet")
    assert (code, "'out.parquet.map.html'" in err) == (2, True), err
    assert {**tree(tmp_path), "spec.toml": ""} == {**before, "spec.toml": ""}


@pytest.mark.parametrize(
    "name", ["../victim", "sub/victim", "victim", "out.parquetx", "out.parquet.\0", "out.parquet.\ud800"]
)
def test_a_statement_that_lists_what_does_not_lie_beside_its_file_removes_nothing(name: str, tmp_path: Path) -> None:
    from leeward.outputs._files import _bytes, _digest_of

    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    victims = [tmp_path / "victim", folder / "sub" / "victim", folder / "victim", folder / "out.parquetx"]
    for victim in victims:
        victim.write_text("x")
    listed = {name: tree(folder)["victim"], "out.parquet.release.json": _digest_of({"says": "x"})}
    (folder / "out.parquet.release.json").write_bytes(_bytes({"says": "x"}, listed))
    _write("new", folder / "out.parquet")
    assert all(victim.read_text() == "x" for victim in victims)


# ---- what is read, or kept

SWAPPED: dict[str, dict[str, Any]] = {
    "the table": {"data": {"table": "out.parquet"}},
    "the list of places": {"places": {"table": "out.parquet", "latitude": "lat", "longitude": "lon"}},
    "the store of budgets": {
        **budget(10_000),
        "budget": {**BUDGET["budget"], "reports_a_day": 9, "store": "out.parquet"},
    },
    "the store under the statement's name": {
        **budget(9),
        "budget": {**BUDGET["budget"], "reports_a_day": 10_000, "store": "out.parquet.release.json"},
    },
    "the memo": {"data": BUDGET["data"], "repeat": {"store": "out.parquet", "secret": "people.key"}},
    "the secret": {"data": BUDGET["data"], "repeat": {"store": "memo.db", "secret": "out.parquet.map.html"}},
}


@pytest.mark.parametrize("by_link", [False, True])
@pytest.mark.parametrize("what", SWAPPED)
def test_what_a_perturbation_reads_or_keeps_is_not_written_over(
    what: str, by_link: bool, run: Run, tmp_path: Path
) -> None:
    if what in ("the table", "the list of places"):  # one that was written here, so that it may be replaced
        places = table(3).drop(columns=["who", "note", "when"])
        places.to_parquet("three.parquet")
        written = spec(tmp_path, data={"table": "three.parquet"} if "places" in what else {})
        assert run(str(written), "--out", "out.parquet")[0] == 0
    if what == "the secret":
        write_private(tmp_path / "out.parquet.map.html", bytes(range(32)))
    (tmp_path / "link").symlink_to(tmp_path)
    job = spec(tmp_path, **SWAPPED[what])
    job.write_text(job.read_text().replace('"out.parquet', '"link/out.parquet') if by_link else job.read_text())
    job.write_text(job.read_text() + ("[output]\nmap = true\n" if what == "the secret" else ""))
    before = tree(tmp_path)
    code, _, err = run(str(job), "--out", "out.parquet")
    assert (code, "it would replace a file that the spec names" in err) == (2, True), err
    assert tree(tmp_path) == before, "nothing was made or charged"


@pytest.mark.parametrize("out", ["\udcff.parquet", "\udcff/out.parquet"])
@pytest.mark.parametrize("kind", JOBS)
def test_a_name_that_no_statement_can_list_is_refused_before_anything_is_charged(
    kind: str, out: str, run: Run, tmp_path: Path
) -> None:
    job = JOBS[kind](tmp_path)
    (tmp_path / "\udcff").mkdir()
    before = tree(tmp_path)
    code, _, err = run(str(job), "--out", out)
    assert (code, "its name is not UTF-8" in err) == (2, True), err
    assert tree(tmp_path) == before


def test_a_name_with_half_of_a_surrogate_pair_is_stated_as_json_writes_it(run: Run, tmp_path: Path) -> None:
    half = "\ud800note"
    feature = {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [116.4, 39.9]},
        "properties": {half: "x"},
    }
    feature["properties"] |= {"who": "7", "when": "2026-03-01T08:00:00"}  # type: ignore[operator]
    Path("p.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    asked = {**budget(9), "data": {**BUDGET["data"], "table": "p.geojson"}}
    job = spec(tmp_path, **asked)
    job.write_text(job.read_text().replace('latitude = "lat"\nlongitude = "lon"\n', ""))
    for _ in range(2):  # and it is known again
        code, _, err = run(str(job), "--out", "out.geojson")
        assert code == 0, err
    assert half in json.dumps(json.loads(Path("out.geojson.release.json").read_text()), ensure_ascii=False)


# ---- releases


def _grid(town: Town) -> Path:
    """A release over a grid, which leaves the list of its cells; then a spec that reads it."""
    made = town.folder / "grid.toml"
    frame = pd.read_parquet(town.folder / "visits.parquet")
    frame.assign(lat=35.61234, lon=139.71234).to_parquet(town.folder / "moved.parquet")
    text = (
        (town.folder / "spec.toml").read_text().replace("visits.parquet", "moved.parquet").replace('"town"', '"moved"')
    )
    text = text.replace('place = "venue"\ntime', 'latitude = "lat"\nlongitude = "lon"\ntime', 1)
    box = "west = 139.7, south = 35.6, east = 139.75, north = 35.65, metres = 1000"
    head, _, rest = text.partition("[places]")
    made.write_text(f"{head}[places]\ngrid = {{ {box} }}\n{rest[rest.index('[window]') :]}")
    assert town.run("release", made, "--out", town.out)[0] == 0
    pd.DataFrame({"user": ["a"], "venue": ["r1c0"], "at": [pd.Timestamp("2026-01-01T18:30")]}).to_parquet(
        town.folder / "visits.parquet"
    )
    return town.spec(
        ('"places.parquet"\nplace = "venue"', '"out/places.parquet"\nplace = "place"'),
        ('latitude = "lat"\nlongitude = "lon"\nname = "name"\n', ""),
        ('"town"', '"elsewhere"'),
    )


def _visits(town: Town) -> Path:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    shutil.copy(town.folder / "visits.parquet", town.out / "mine.parquet")
    return town.spec(('"visits.parquet"', '"link/m*.parquet"'))


def _records(town: Town) -> Path:
    made = _visits(town)
    made.write_text(
        '[data]\ntable = "out/mine.parquet"\nperson = "user"\n[query]\nkind = "histogram"\n'
        'by = { venue = ["v1", "v2"] }\n[protect]\nnotion = "dp"\nepsilon = "1"\n'
        '[budget]\nledger = "budget.db"\ndataset = "numbers"\ncap = "5"\n'
    )
    return made


READ: dict[str, Callable[[Town], Path]] = {"places": _grid, "visits": _visits, "records": _records}


@pytest.mark.parametrize(
    ("command", "what"),
    [
        *(pytest.param("release", what, marks=[] if what == "visits" else [pytest.mark.sweep]) for what in READ),
        *(pytest.param("monitor", what, marks=pytest.mark.sweep) for what in ("places", "visits")),
    ],
)
def test_a_table_in_the_folder_that_is_written_is_refused(command: str, what: str, town: Town) -> None:
    (town.folder / "link").symlink_to(town.out)
    made = READ[what](town)
    if command == "monitor":
        for old, new in (('places_per_person = 1\nif_more = "latest"\n', ""), ('what = "counts"', "stop_after = 2")):
            made.write_text(made.read_text().replace(old, new).replace('"addition-only"', '"presence"'))
    before = tree(town.folder)
    code, _, err = town.run(command, made, "--new-budget", "--out", town.out)
    assert (code, "Keep the table elsewhere" in err) == (2, True), err
    assert tree(town.folder) == before
    if command == "release":
        assert town.run(command, made, "--new-budget", "--out", town.folder / "other")[0] == 0, "it is the folder alone"


@pytest.mark.parametrize("below", ["", "sub/"])
def test_a_ledger_in_the_folder_of_any_release_is_refused(below: str, town: Town) -> None:
    assert town.run("release", town.spec(), "--out", town.out)[0] == 0
    (town.out / "sub").mkdir()
    (town.folder / "link").symlink_to(town.out)
    for way in ("out", "link"):
        made = town.spec(("sqlite:///budget.db", f"{way}/{below}budget.db"))
        before = tree(town.folder)
        code, _, err = town.run("release", made, "--out", town.folder / "other")
        assert (code, "within the folder of an earlier release" in err) == (2, True), err
        assert tree(town.folder) == before


@pytest.mark.parametrize("where", ["out", "earlier"])
def test_the_key_of_digests_in_a_folder_that_may_be_published_is_refused(
    where: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "earlier":
        assert town.run("release", town.spec(), "--out", town.folder / where)[0] == 0
    (town.folder / "link").symlink_to(town.folder / where)
    monkeypatch.setenv("LEEWARD_KEY", str(town.folder / "link" / "content.key"))
    made = town.spec(("sqlite:///budget.db", "another.db"))
    before = tree(town.folder)
    code, _, err = town.run("release", made, "--yes", "--out", town.out)
    assert (code, "The key of content digests" in err, "may be published" in err) == (2, True, True), err
    assert tree(town.folder) == before, "neither a key nor a ledger was made"


@pytest.mark.parametrize("ending", [".mark", "-wal", "-journal"])
def test_a_folder_in_the_place_of_a_file_beside_the_ledger_is_refused_before_anything_is_charged(
    ending: str, town: Town
) -> None:
    before = tree(town.folder)
    code, _, err = town.run("release", town.spec(), "--yes", "--out", town.folder / f"budget.db{ending}")
    assert (code, "a file beside the ledger" in err) == (2, True), err
    assert tree(town.folder) == before


def test_the_folder_where_one_stands_is_named_as_it_was_given(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    town.out.mkdir()
    monkeypatch.chdir(town.out)
    made = town.spec(("sqlite:///budget.db", "out/budget.db"))
    code, _, err = town.run("release", made, "--out", ".")
    assert (code, "within --out '.':" in err) == (2, True), err
