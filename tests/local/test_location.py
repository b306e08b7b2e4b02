"""``leeward perturb`` of locations, as its users meet it: files, budgets, repeats, places, cells, refusals."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from tests.ledger.spent import spent_in
from tests.private_files import write_private

from leeward.cli import main
from leeward.errors import SpecError
from leeward.local import check_job, read_job
from leeward.local.location import LocationStatement
from leeward.local.location._spec import Location

Run = Callable[..., tuple[int, str, str]]

BASE: dict[str, dict[str, Any]] = {
    "perturb": {"kind": "location"},
    "data": {"table": "positions.parquet", "latitude": "lat", "longitude": "lon"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {"within": "200 m", "factor": "2"},
}


def toml(sections: dict[str, dict[str, Any]]) -> str:
    lines = []
    for name, keys in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def spec(folder: Path, **changes: dict[str, Any]) -> Path:
    """Write a spec: sections are merged into the base one."""
    merged = {name: {**BASE.get(name, {}), **changes.get(name, {})} for name in [*BASE, *changes]}
    path = folder / "spec.toml"
    path.write_text(toml(merged))
    return path


def table(n: int = 500) -> pd.DataFrame:
    """Seven people at homes of their own, all on one day but for the last rows."""
    who = np.arange(n) % 7
    frame = pd.DataFrame({"who": who, "lat": 39.9 + who / 100, "lon": 116.4 - who / 100, "note": "x"})
    frame["when"] = pd.Timestamp("2026-03-01 08:00") + pd.to_timedelta(np.arange(n), unit="s")
    return frame


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command, with --yes unless --ask is said, in a folder with positions.parquet and a secret.

    It returns its exit code, stdout and stderr.
    """
    monkeypatch.chdir(tmp_path)
    table().to_parquet("positions.parquet")
    write_private(Path("people.key"), bytes(range(32)))

    def call(*arguments: str) -> tuple[int, str, str]:
        words = [word for word in arguments if word != "--ask"]
        if "--ask" not in arguments:
            words.append("--yes")
        monkeypatch.setattr("sys.argv", ["leeward", "perturb", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def away(found: pd.DataFrame, truth: pd.DataFrame) -> np.ndarray:
    return np.hypot((found.lat - truth.lat) * 111_195, (found.lon - truth.lon) * 85_300).to_numpy()


def test_a_table_is_perturbed_and_its_statement_lies_beside_it(run: Run, tmp_path: Path) -> None:
    code, out, err = run(str(spec(tmp_path)), "--out", "reports.parquet")
    assert code == 0, err
    assert "500 rows perturbed." in out
    assert "Written: reports.parquet.release.json" in out
    assert "published as they are, and noise on the position protects nothing that they say: who, note, when" in err
    found, truth = pd.read_parquet("reports.parquet"), table()
    assert found.drop(columns=["lat", "lon"]).equals(truth.drop(columns=["lat", "lon"]))
    assert 350 < np.median(away(found, truth)) < 620  # 484 is said; 500 rows
    made = LocationStatement.model_validate_json(Path("reports.parquet.release.json").read_text())
    assert made.promise.epsilon_per_metre == "log(2)/202"
    assert made.columns_as_they_are == ("who", "note", "when")
    assert made.fit_for_release is True
    assert made.files is not None
    assert made.files.keys() == {"reports.parquet", "reports.parquet.release.json"}
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("people.key", "positions.parquet", "reports.parquet", "reports.parquet.release.json", "spec.toml")
    ]


def test_a_dry_run_reads_no_data_and_says_what_the_noise_does(run: Run, tmp_path: Path) -> None:
    Path("positions.parquet").unlink()
    code, out, _ = run(str(spec(tmp_path)), "--dry-run")
    assert code == 0
    flat = " ".join(out.split())
    assert "582.8 m on average; half of the reports by less than 488.7 m, 95 % by less than 1383 m" in flat
    assert "100 m: 1.417" in flat
    assert "n reports cost n times as much as one" in flat
    code, out, _ = run(str(spec(tmp_path)), "--dry-run", "--json")
    assert json.loads(out)["promise"]["norm"] == "euclidean"
    assert [p.name for p in tmp_path.iterdir() if p.suffix != ".toml"] == ["people.key"]


def test_json_and_quiet(run: Run, tmp_path: Path) -> None:
    code, out, _ = run(str(spec(tmp_path)), "--out", "r.parquet", "--json")
    assert code == 0
    assert json.loads(out) == {
        "format": 1,
        "files": ["r.parquet", "r.parquet.release.json"],
        "rows": 500,
        "fit_for_release": True,
    }
    assert run(str(spec(tmp_path)), "--out", "r.parquet", "--quiet") == (0, "", "")


def test_csv_and_geojson(run: Run, tmp_path: Path) -> None:
    table().to_csv("p.csv", index=False)
    assert run(str(spec(tmp_path, data={"table": "p.csv"})), "--out", "r.csv")[0] == 0
    assert 200 < away(pd.read_csv("r.csv"), table()).mean() < 1200
    features = [
        {"type": "Feature", "properties": {"who": 1}, "geometry": {"type": "Point", "coordinates": [116.4, 39.9]}}
    ]
    Path("p.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    made = {name: keys for name, keys in BASE.items() if name != "data"} | {"data": {"table": "p.geojson"}}
    Path("g.toml").write_text(toml(made))
    assert run("g.toml", "--out", "r.geojson")[0] == 0
    assert json.loads(Path("r.geojson").read_text())["features"][0]["geometry"]["coordinates"] != [116.4, 39.9]


def test_cells_places_and_a_picture(run: Run, tmp_path: Path) -> None:
    pd.DataFrame({"a": [39.9, 39.91, 39.95], "o": [116.4, 116.39, 116.35], "w": [1, 2, 3]}).to_csv("places.csv")
    listed = {"table": "places.csv", "latitude": "a", "longitude": "o", "weight": "w"}
    for use in ("remap", "best"):
        code, _, err = run(str(spec(tmp_path, places={**listed, "use": use})), "--out", "r.parquet", "--json")
        assert code == 0, err
        assert set(pd.read_parquet("r.parquet").lat) <= {39.9, 39.91, 39.95}
        loss = json.loads(Path("r.parquet.release.json").read_text())["expected_loss"]
        assert loss["best"] <= loss["remapped"] + 5 * loss["remapped_error"] < loss["planar_laplace"]
    assert run(str(spec(tmp_path, output={"h3": 8, "map": True})), "--out", "r.parquet")[0] == 0
    assert pd.read_parquet("r.parquet").h3.str.fullmatch("88[0-9a-f]{13}").all()
    page = Path("r.parquet.map.html").read_text()
    assert "What the noise does to made-up people" in page
    assert 'src="http' not in page
    assert "200 m" in page


# ---- repeated reports


def budget(**options: Any) -> dict[str, Any]:
    return {"store": "people.db", "secret": "people.key", "reports_a_day": 80, **options}


def test_budgets_bound_the_reports_of_a_person_and_day(run: Run, tmp_path: Path) -> None:
    person = {"person": "who", "time": "when"}
    path = str(spec(tmp_path, data=person, budget=budget()))
    assert run(path, "--out", "first.parquet")[0] == 0  # 72 or 71 reports each
    code, out, err = run(path, "--out", "second.parquet")
    assert (code, out) == (2, "")
    assert "nothing was charged" in err
    assert not Path("second.parquet").exists()
    moved = table()
    moved["when"] += pd.Timedelta(days=1)
    moved.to_parquet("positions.parquet")
    assert run(path, "--out", "second.parquet")[0] == 0, "another day"
    assert json.loads(Path("second.parquet.release.json").read_text())["budget"]["reports_a_day"] == 80


def test_what_is_not_paid_for_is_withheld_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    path = str(spec(tmp_path, data={"person": "who"}, budget=budget(reports_a_day=10, over="withhold")))
    code, _, err = run(path, "--out", "r.parquet")
    assert code == 0
    assert "430 reports were withheld" in err
    found = pd.read_parquet("r.parquet")
    assert len(found) == 500
    assert found.groupby("who").lat.count().tolist() == [10] * 7
    assert found.lat.notna()[:70].all()


def test_a_row_without_a_position_moves_no_report_to_another_day_or_person(run: Run, tmp_path: Path) -> None:
    """Of rows in which some have none, each that has one is charged to its own person, and to its own day."""
    path = spec(
        tmp_path,
        data={"person": "who", "time": "when"},
        protect={"missing": "keep"},
        budget=budget(reports_a_day=1, over="withhold"),
    )
    rows = [
        ("a", 1, 0.0),
        ("b", 1, 39.9),
        ("b", 2, 39.9),
        ("b", 2, 39.9),
        ("a", 2, 0.0),
        ("a", 3, 39.9),
        ("a", 3, 39.9),
    ]
    days = pd.to_datetime([f"2026-03-0{day} 08:00" for _, day, _ in rows])
    held = pd.DataFrame({"who": [who for who, _, _ in rows], "when": days, "lon": 116.4})
    held["lat"] = [lat or np.nan for _, _, lat in rows]
    held.to_parquet("positions.parquet")
    code, _, err = run(str(path), "--out", "r.parquet")
    assert (code, "2 reports were withheld" in err) == (0, True)
    found = pd.read_parquet("r.parquet")
    assert found.lat.notna().tolist() == [False, True, True, False, False, True, False]
    assert sum(spent_in(Path("people.db")).values()) == 3


def test_a_repeated_report_is_the_same_and_costs_once(run: Run, tmp_path: Path) -> None:
    repeat = {"store": "memo.db", "secret": "people.key"}
    path = str(
        spec(tmp_path, data={"person": "who"}, budget=budget(reports_a_day=1), repeat=repeat, protect={"step": "50 m"})
    )
    assert run(path, "--out", "r.parquet")[0] == 0, "seven people, one report each"
    found = pd.read_parquet("r.parquet")
    assert found.groupby("who")[["lat", "lon"]].nunique().max().tolist() == [1, 1]
    assert found[["lat", "lon"]].drop_duplicates().shape[0] == 7
    assert run(path, "--out", "again.parquet")[0] == 0
    assert pd.read_parquet("again.parquet").equals(found)
    said = json.loads(Path("r.parquet.release.json").read_text())["not_guaranteed"]
    assert any("came back" in text for text in said)
    moved = table()
    moved["lat"] += 0.01
    moved.to_parquet("positions.parquet")
    assert run(path, "--out", "third.parquet")[0] == 2, "a new place is a new report"


def test_without_repeats_every_row_has_its_own_noise(run: Run, tmp_path: Path) -> None:
    # A pair that shares a home ends on one point of the lattice of 1 m with probability 1 / (8π·288²): of 17,600 pairs
    # 0.0084 are expected (one run in 120 has one), and six or more come in one run of 10¹⁵.
    assert run(str(spec(tmp_path)), "--out", "r.parquet")[0] == 0
    assert len(pd.read_parquet("r.parquet")[["lat", "lon"]].drop_duplicates()) >= 495


# ---- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lat": [116.4] * 500, "lon": [39.9] * 500}, "look swapped"),
        ({"lat": [None] + [39.9] * 499}, "missing or not finite"),
        ({"lat": [10.5] + [39.9] * 499}, "outside the public box"),
        ({"lat": [4_400_000.5] * 500, "lon": [500_000.5] * 500}, "not degrees"),
        ({"lat": ["north"] * 500}, "something else than numbers"),
    ],
)
def test_bad_positions_stop_the_job_and_leave_nothing(
    change: dict[str, Any], message: str, run: Run, tmp_path: Path
) -> None:
    table().assign(**change).to_parquet("positions.parquet")
    code, out, err = run(str(spec(tmp_path)), "--out", "r.parquet")
    assert (code, out) == (2, "")
    assert message in err
    assert "10.5" not in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.key", "positions.parquet", "spec.toml"]


def test_bad_positions_charge_nothing(run: Run, tmp_path: Path) -> None:
    table().assign(lat=[39.9] * 499 + [10.0]).to_parquet("positions.parquet")
    path = str(spec(tmp_path, data={"person": "who"}, budget=budget()))
    assert run(path, "--out", "r.parquet")[0] == 2
    table().to_parquet("positions.parquet")
    assert run(path, "--out", "r.parquet")[0] == 0, "the whole budget is still there"


def test_treatments_that_are_asked_for_are_said(run: Run, tmp_path: Path) -> None:
    table().assign(lat=[None, 10.0] + [39.9] * 498).to_parquet("positions.parquet")
    asked = {"outside": "clamp", "missing": "keep"}
    assert run(str(spec(tmp_path, protect=asked)), "--out", "r.parquet")[0] == 0
    found = pd.read_parquet("r.parquet")
    assert found.lat.isna().tolist() == [True] + [False] * 499
    said = " ".join(json.loads(Path("r.parquet.release.json").read_text())["not_guaranteed"])
    assert "moved to its edge first" in said
    assert "that it is missing shows" in said


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, [], "No --out"),
        ({}, ["--out", "positions.parquet"], "replace a file that the spec names"),
        ({}, ["--out", "r.csv"], "written as it was read"),
        ({}, ["--out", "no/r.parquet"], "its folder does not exist"),
        ({"data": {"table": "p.parquet"}}, ["--out", "r.parquet"], "Did you mean 'positions.parquet'"),
        ({"data": {"person": "whom"}}, ["--out", "r.parquet"], "Did you mean 'who'"),
        ({"data": {"person": "who", "time": "note"}, "budget": budget()}, ["--out", "r.parquet"], "not a date"),
        ({"data": {"person": "who"}, "budget": budget(secret="k")}, ["--out", "r.parquet"], "openssl rand"),
        ({"protect": {"within": "1 mm"}}, ["--dry-run"], "not a length"),
        ({"protect": {"within": "1 m", "factor": "10"}}, ["--dry-run"], "it would show where people are"),
        ({"protect": {"within": "900 km"}}, ["--dry-run"], "nearly all reports would be moved to its edge"),
        ({"box": {"west": -180, "east": 180}}, ["--dry-run"], "degrees of longitude"),
        ({"box": {"north": 90}}, ["--dry-run"], "pole"),
        ({"output": {"h3": 16}}, ["--dry-run"], "resolutions 0 to 15"),
        ({"places": {"table": "none.csv", "latitude": "a", "longitude": "o"}}, ["--dry-run"], "there is no such file"),
    ],
)
def test_what_is_refused_before_anything_is_drawn(
    changes: Any, arguments: list[str], message: str, run: Run, tmp_path: Path
) -> None:
    code, out, err = run(str(spec(tmp_path, **changes)), *arguments)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    assert not [*tmp_path.glob("r.*")]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"perturb": {"kind": "place"}}, 'there is no such kind. Write kind = "location" or "series"'),
        ({"perturb": {"kind": "location", "sort": 1}}, "[perturb] sort: this key is not known"),
        ({"perturb": None}, "[perturb] kind is missing"),
        ({"data": {"table": "t"}, "boxes": {}}, "boxes: this key is not known. Did you mean 'box'?"),
        ({"protect": {"factors": "2"}}, "[protect] factors: this key is not known. Did you mean 'factor'?"),
        ({"protect": {"factor": 2.0}}, "[protect] factor: The float 2.0"),
        ({"box": {"west": "116"}}, "[box] west"),
        ({"box": None}, "[box] is missing: it is required. Add [box] west"),
        ({"data": {}}, "[data] table is missing: it is required. Add table ="),
        ({"protect": {"norm": "max"}}, "[protect] norm"),
        ({"budget": {"store": "s", "secret": "k", "reports_a_day": 3}}, "name the column, [data] person"),
        (
            {"data": {**BASE["data"], "person": "who"}, "budget": {"store": "s", "secret": "k"}},
            "reports_a_day is missing",
        ),
    ],
)
def test_wrong_specs_are_taught(changes: dict[str, Any], message: str) -> None:
    given = {name: keys for name, keys in {**BASE, **changes}.items() if keys is not None}
    with pytest.raises(SpecError) as caught:
        check_job(given)
    assert message in str(caught.value)


def test_the_guide_names_every_key() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "locations.md").read_text()
    for name, field in Location.model_fields.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `[{name}]` |"))
        kind = next(k for k in (field.annotation, *get_args(field.annotation)) if hasattr(k, "model_fields"))
        assert set(kind.model_fields) <= set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`", row)))), name


def test_a_spec_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[perturb\n")
    with pytest.raises(SpecError, match="not TOML"):
        read_job(tmp_path / "a.toml")
    with pytest.raises(SpecError, match=r"Did you mean 'a\.toml'"):
        read_job(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_bytes(b"\xff")
    with pytest.raises(SpecError, match="UTF-8"):
        read_job(tmp_path / "c.toml")


@pytest.mark.parametrize("one", ["latitude", "longitude", "time", "person"])
@pytest.mark.parametrize("other", ["latitude", "longitude", "time", "person"])
def test_one_column_is_one_thing(one: str, other: str, run: Run, tmp_path: Path) -> None:
    """A person who is somebody else at every latitude would have no bound on reports."""
    columns = {"latitude": "lat", "longitude": "lon", "person": "who", "time": "when"}
    code, out, err = run(str(spec(tmp_path, data=columns | {one: columns[other]})), "--dry-run")
    assert code == (0 if one == other else 2)
    assert ("one column cannot be two things" in err) == (one != other)
    assert bool(out) == (one == other)


@pytest.mark.parametrize("key", ["store", "secret"])
@pytest.mark.parametrize("section", ["budget", "repeat"])
@pytest.mark.parametrize("below", ["out/", "out/sub/", "link/sub/"])
def test_what_is_about_people_is_not_kept_in_the_folder_of_a_release(
    below: str, section: str, key: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "out" / "leeward-files.json").write_text('{"files": ["release.json"]}')
    (tmp_path / "link").symlink_to(tmp_path / "out")
    write_private(tmp_path / "out" / "sub" / "people.key", bytes(range(32)))
    write_private(tmp_path / "out" / "people.key", bytes(range(32)))
    kept = {"budget": KEPT | {"reports_a_day": 80}, "repeat": dict(KEPT)}
    kept[section] |= {key: below + str(KEPT[key])}
    made = spec(tmp_path, data={"person": "who", "time": "when"}, **{section: kept[section]})
    before = sorted(tmp_path.rglob("*"))
    code, _, err = run(str(made), "--out", "reports.parquet")
    assert (code, "within the folder of an earlier release" in err) == (2, True), err
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "out" / "leeward-files.json").write_text('{"files": ["table.parquet"]}')
    assert run(str(made), "--out", "reports.parquet")[0] == 0, "it is that folder alone"


KEPT: dict[str, Any] = {"store": "people.db", "secret": "people.key"}


@pytest.mark.parametrize(("kind", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)])
@pytest.mark.parametrize("section", ["budget", "repeat"])
def test_floats_that_may_stand_for_two_people_are_nobody(
    section: str, kind: type[Any], bits: int, run: Run, tmp_path: Path
) -> None:
    """One of 32 bits would be widened on its way out of the file, and look exact."""
    kept = {"store": "people.db", "secret": "people.key"} | ({"reports_a_day": 9} if section == "budget" else {})
    job = str(spec(tmp_path, data={"table": "p.parquet", "person": "who"}, **{section: kept}))
    for most, code in ((2**bits - 1, 0), (2**bits, 2)):
        table(2).assign(who=np.array([3, most], kind)).to_parquet("p.parquet")
        found, _, err = run(job, "--out", f"{most}.parquet")
        assert (found, "float too large to be exact" in err) == (code, code == 2), err


@pytest.mark.parametrize("section", ["budget", "repeat", "none"])
def test_a_wrong_box_is_not_clamped_into_in_silence(section: str, run: Run, tmp_path: Path) -> None:
    """A stop below a hundredth of a hundred rows, before anything is charged, remembered or written; else a note."""
    kept = {"store": "s.db", "secret": "people.key"} | ({"reports_a_day": 999} if section == "budget" else {})
    job = str(
        spec(
            tmp_path,
            data={"person": "who"},
            protect={"outside": "clamp"},
            **({} if section == "none" else {section: kept}),
        )
    )
    for size, inside, code in ((99, 0, 0), (100, 0, 2), (100, 1, 0), (300, 2, 2), (300, 3, 0), (300, 300, 0)):
        rows = table(size)
        rows.assign(lat=rows.lat.where(rows.index < inside, 48.8)).to_parquet("positions.parquet")
        Path("s.db").unlink(missing_ok=True)
        found, _, err = run(job, "--out", f"{size}-{inside}.parquet")
        assert found == code, err
        assert ("Under 1 % of the positions lie in the public box" in err) == (code == 2)
        note = f"{size - inside:,} positions were outside the box and moved to its edge"
        assert (note in err) == (code == 0 and inside < size)
        assert Path(f"{size}-{inside}.parquet").exists() == (code == 0)
        if code == 2 and section != "none":
            with sqlite3.connect("s.db") as raw:
                assert raw.execute(f"SELECT count(*) FROM {'spent' if section == 'budget' else 'memo'}").fetchone() == (
                    0,
                )
