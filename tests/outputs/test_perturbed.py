"""``leeward perturb`` writes over nothing that is not its own, and draws what was charged."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.local.test_location import Run, spec, table
from tests.outputs.interrupted import cut_short_at_each
from tests.outputs.test_folder import tree
from tests.private_files import write_private

from leeward.errors import DataError, InputError
from leeward.ledger import MemoizedReports
from leeward.local import read_job
from leeward.local.location import _job
from leeward.local.location._files import PositionFile
from leeward.local.location._parquet import ParquetPositions
from leeward.local.series._files import ReadingsFile
from leeward.outputs import beside

BUDGET = {"data": {"person": "who", "time": "when"}, "budget": {"store": "people.db", "secret": "people.key"}}


def budget(reports: int, **more: Any) -> dict[str, Any]:
    return {"data": BUDGET["data"], "budget": {**BUDGET["budget"], "reports_a_day": reports, **more}}


def series(folder: Path, **publish: Any) -> Path:
    hours = pd.date_range("2026-01-01", periods=24, freq="h").as_unit("us")
    pd.DataFrame({"meter": "m", "time": hours, "kw": 1.5, "note": "x"}).to_parquet(folder / "readings.parquet")
    text = """
[perturb]
kind = "series"
[data]
table = "readings.parquet"
time = "time"
value = "kw"
meter = "meter"
unit = "kW"
[time]
start = 2026-01-01T00:00:00
end = 2026-01-02T00:00:00
every = "1 h"
[values]
lower = "0 kW"
upper = "12 kW"
step = "1 W"
[protect]
epsilon = "1"
unit = "100 W"
"""
    text += "[publish]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in publish.items())
    (folder / "series.toml").write_text(text)
    return folder / "series.toml"


JOBS: dict[str, Callable[[Path], Path]] = {
    "location": lambda folder: spec(folder, **budget(10_000), output={"map": True}),
    "series": series,
    "totals": lambda folder: series(folder, what="totals"),
}
WRITTEN = {
    "location": ["", ".release.json", ".map.html"],
    "series": ["", ".release.json"],
    "totals": ["", ".release.json"],
}


def _theirs(name: str) -> Callable[[Path], Path]:
    def there(folder: Path) -> Path:
        (folder / name).write_text("years of work")
        return folder / "out.parquet"

    return there


def _folder(folder: Path) -> Path:
    (folder / "out.parquet").mkdir()
    return folder / "out.parquet"


def _link(folder: Path) -> Path:
    (folder / "theirs.parquet").write_text("years of work")
    (folder / "out.parquet").symlink_to(folder / "theirs.parquet")
    return folder / "out.parquet"


def _dangling(folder: Path) -> Path:
    (folder / "out.parquet").symlink_to(folder / "nowhere.parquet")
    return folder / "out.parquet"


def _forged(folder: Path) -> Path:
    """A file of somebody else's with a statement that lists it, but is not as it was written."""
    made = _theirs("out.parquet")(folder)
    told = {"files": {"out.parquet": tree(folder)["out.parquet"], "out.parquet.release.json": "0" * 64}}
    (folder / "out.parquet.release.json").write_text(json.dumps(told))
    return made


IN_THE_WAY: dict[str, Callable[[Path], Path]] = {
    "a file": _theirs("out.parquet"),
    "a statement": _theirs("out.parquet.release.json"),
    "a forged statement": _forged,
    "a folder": _folder,
    "a link to a file": _link,
    "a link that leads nowhere": _dangling,
    "the table itself": lambda folder: folder / "positions.parquet",
    "a name that is too long": lambda folder: folder / ("o" * 248 + ".parquet"),
    "a name whose statement's is too long": lambda folder: folder / ("o" * 240 + ".parquet"),
    "no folder": lambda folder: folder / "nowhere" / "out.parquet",
    "a folder that nobody can write": lambda _: Path("/proc/out.parquet"),
}


@pytest.mark.parametrize("way", IN_THE_WAY)
@pytest.mark.parametrize("kind", JOBS)
def test_what_is_in_the_way_is_refused_before_anything_is_charged(
    kind: str, way: str, run: Run, tmp_path: Path
) -> None:
    job = JOBS[kind](tmp_path)
    if kind != "location" and way == "the table itself":
        (tmp_path / "positions.parquet").write_bytes((tmp_path / "readings.parquet").read_bytes())
    out = IN_THE_WAY[way](tmp_path)
    before = tree(tmp_path)
    code, shown, err = run(str(job), "--out", str(out))
    assert (code, shown) == (2, ""), err
    assert len(err.strip().splitlines()) == 1
    assert tree(tmp_path) == before, "not even a budget was made"


@pytest.mark.parametrize("kind", JOBS)
def test_what_it_wrote_is_replaced_if_nobody_changed_it(kind: str, run: Run, tmp_path: Path) -> None:
    job, out = JOBS[kind](tmp_path), tmp_path / "out.parquet"
    for _ in range(2):
        code, _, err = run(str(job), "--out", str(out))
        assert code == 0, err
    assert not [*tmp_path.glob(".leeward-*")]
    for ending in WRITTEN[kind]:
        path = out.with_name(out.name + ending)
        whole = path.read_bytes()
        path.write_bytes(whole + b" ")
        before = tree(tmp_path)
        code, _, err = run(str(job), "--out", str(out))
        assert code == 2, ending
        assert "not as Leeward wrote it" in err
        assert tree(tmp_path) == before
        path.write_bytes(whole)
    assert run(str(job), "--out", str(out))[0] == 0


def test_a_link_to_a_folder_is_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert run(str(spec(tmp_path)), "--out", "link/out.parquet")[0] == 0
    assert sorted(path.name for path in (tmp_path / "real").iterdir()) == ["out.parquet", "out.parquet.release.json"]


def test_a_full_stdout_says_where_the_table_is(run: Run, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "leeward", "perturb", str(spec(tmp_path)), "--out", "out.parquet"]
    with open("/dev/full", "w", encoding="utf-8") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].endswith("what was made is at out.parquet, out.parquet.release.json")
    assert (tmp_path / "out.parquet").exists()


def test_cut_short_anywhere_the_table_is_never_without_its_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(text: str, out: Path) -> None:
        with beside(out, ".map.html") as files:
            files.path().write_text(text)
            files.path(".map.html").write_text(text)
            files.place({"says": text})

    for turn, cut_short in cut_short_at_each(monkeypatch, "replace", "unlink", "fsync"):
        out = tmp_path / f"{turn}" / "out"
        out.parent.mkdir()
        write("one", out)
        with cut_short(), suppress(InputError):
            write("two", out)
        if out.exists():
            assert json.loads(out.with_name("out.release.json").read_text())["says"] == out.read_text()
        write("three", out)
        assert sorted(path.name for path in out.parent.glob("out*")) == ["out", "out.map.html", "out.release.json"]
    assert turn > 6


# ---- what is drawn is what was charged

CHANGES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "other people in the same rows": lambda frame: frame.assign(who=frame.who + 7),
    "other people of another type": lambda frame: frame.assign(who=frame.who.astype(str) + "x"),
    "other days": lambda frame: frame.assign(when=frame.when + pd.Timedelta(1, "D")),
    "other places": lambda frame: frame.assign(lat=frame.lat + 1e-9),
    "another order": lambda frame: frame[::-1],
    "fewer rows": lambda frame: frame[:-1],
    "more rows": lambda frame: pd.concat([frame, frame[:1]]),
    "one row moved": lambda frame: pd.concat([frame[1:], frame[:1]]),
}


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_table_that_is_swapped_after_it_was_charged_is_noticed(
    change: str, suffix: str, repeats: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty reports under a bound of three were to be had so; and answers for them would have been remembered."""
    path = tmp_path / f"positions{suffix}"

    def write(frame: pd.DataFrame) -> None:
        fresh = tmp_path / f"fresh{suffix}"
        frame.to_csv(fresh, index=False) if suffix == ".csv" else frame.to_parquet(fresh)
        fresh.replace(path)

    write(table(14))
    asked = budget(3) | ({"repeat": {"store": "memo.db", "secret": "people.key"}} if repeats else {})
    asked["data"] = {**asked["data"], "table": path.name}
    real = _rewrite_of(suffix)

    def swapped(self: PositionFile, *args: Any) -> int:
        write(CHANGES[change](table(14)))
        return int(real(self, *args))

    job = spec(tmp_path, **asked)
    with monkeypatch.context() as patch:
        patch.setattr(_kind(suffix), "rewrite", swapped)
        code, shown, err = run(str(job), "--out", f"out{suffix}")
    assert (code, shown) == (2, ""), err
    assert "changed between charging and drawing" in err or "grown" in err
    assert "were charged to their people's budgets before, and that stands" in err
    assert not [*tmp_path.glob("out*"), *tmp_path.glob(".leeward-*")]
    if repeats:
        memo = MemoizedReports(tmp_path / "memo.db", key=bytes(range(32)), law=read_job(job).geo.law)  # type: ignore[attr-defined]
        with memo.writing() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM memo").scalar_one() == 0


def _kind(suffix: str) -> type[PositionFile]:
    from leeward.local.location._csv import CsvPositions

    return CsvPositions if suffix == ".csv" else ParquetPositions


def _rewrite_of(suffix: str) -> Callable[..., int]:
    return _kind(suffix).rewrite


def test_a_table_that_is_cut_into_other_batches_is_the_same(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table(100).to_parquet(tmp_path / "positions.parquet", row_group_size=7)
    real = ParquetPositions.positions

    def cut(self: ParquetPositions, extra: Any) -> Iterator[Any]:
        for north, east, others in real(self, extra):
            for k in range(len(north)):
                yield north[k : k + 1], east[k : k + 1], [column[k : k + 1] for column in others]

    monkeypatch.setattr(ParquetPositions, "positions", cut)
    code, _, err = run(str(spec(tmp_path, **budget(100))), "--out", "out.parquet")
    assert code == 0, err


def test_a_table_of_readings_that_is_swapped_while_it_is_read_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = read_job(series(tmp_path))
    real = ReadingsFile.rewrite

    def swapped(self: ReadingsFile, *args: Any) -> None:
        whole = pd.read_parquet(tmp_path / "readings.parquet")
        whole.assign(meter="other").to_parquet(tmp_path / "fresh.parquet")
        (tmp_path / "fresh.parquet").replace(tmp_path / "readings.parquet")
        real(self, *args)

    monkeypatch.setattr(ReadingsFile, "rewrite", swapped)
    with pytest.raises(DataError, match="changed while it was being read"):
        job.run(tmp_path / "out.parquet", lambda *_: None, new=True)
    assert not [*tmp_path.glob("out*"), *tmp_path.glob(".leeward-*")]


def _points(frame: pd.DataFrame, path: Path) -> None:
    features = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [row["lon"], row["lat"]]},
            "properties": {name: str(value) for name, value in row.items() if name not in {"lat", "lon"}},
        }
        for row in frame.to_dict("records")
    ]
    if path.suffix == ".geojson":
        path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    else:
        path.write_text("\n".join(map(json.dumps, features)) + "\n")


WRITE: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".parquet": lambda frame, path: frame.to_parquet(path),
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".geojson": _points,
    ".geojsonl": _points,
}
OPENED: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "a further column": lambda frame: frame.assign(home="true position " + frame.lat.astype(str)),
    "another content of one column": lambda frame: frame.assign(note="true position " + frame.lat.astype(str)),
}


@pytest.mark.parametrize("pays", [False, True])
@pytest.mark.parametrize("link", [False, True])
@pytest.mark.parametrize("change", OPENED)
@pytest.mark.parametrize("suffix", WRITE)
def test_a_table_that_is_swapped_after_it_was_opened_is_not_written(
    change: str, suffix: str, link: bool, pays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the statement says goes out as it is was said of the table that was opened; a link leads on to that one."""
    path, true = tmp_path / f"positions{suffix}", table(14).assign(note="x")
    WRITE[suffix](true, tmp_path / f"a{suffix}")
    path.symlink_to(tmp_path / f"a{suffix}") if link else (tmp_path / f"a{suffix}").replace(path)
    asked: dict[str, Any] = budget(10_000) if pays else {"data": {}}
    written_spec = spec(tmp_path, **{**asked, "data": {**asked["data"], "table": path.name}})
    if "geo" in suffix:
        written_spec.write_text(re.sub(r"(?m)^(lat|long)itude.*\n", "", written_spec.read_text()))
    write_private(tmp_path / "people.key", bytes(range(32)))
    job = read_job(written_spec)
    real = _job._check_out

    def swapped(*args: Any) -> None:
        real(*args)
        fresh = tmp_path / f"fresh{suffix}"
        WRITE[suffix](OPENED[change](true), fresh)
        if link:
            path.unlink()
            path.symlink_to(fresh)
        else:
            fresh.replace(path)

    monkeypatch.setattr(_job, "_check_out", swapped)
    if link:  # what was opened is still there, and is what is read
        job.run(tmp_path / f"out{suffix}", lambda *_: None, new=True)
        assert b"true position" not in (tmp_path / f"out{suffix}").read_bytes()
        return
    with pytest.raises(DataError, match=r"changed while it was being read|as many fields as the header"):
        job.run(tmp_path / f"out{suffix}", lambda *_: None, new=True)
    assert not [*tmp_path.glob("out*"), *tmp_path.glob(".leeward-*")]


@pytest.mark.parametrize("dtype", ["int64", "float64", "str"])
def test_the_column_type_buys_no_second_budget(dtype: str, run: Run, tmp_path: Path) -> None:
    """The whole way: the same people as whole numbers, floats and text, in Parquet and in CSV."""
    path = spec(tmp_path, **budget(2))
    frame = table(14)
    assert run(str(path), "--out", "out.parquet")[0] == 2  # 500 rows are too many
    frame.to_parquet(tmp_path / "positions.parquet")
    assert run(str(path), "--out", "out.parquet")[0] == 0
    again = frame.assign(who=frame.who.astype(dtype))
    again.to_parquet(tmp_path / "positions.parquet")
    code, _, err = run(str(path), "--out", "out.parquet")
    assert (code, "more than 2 reports" in err) == (2, True), err
    again.to_csv(tmp_path / "positions.csv", index=False)
    asked = budget(2)
    asked["data"] = {**asked["data"], "table": "positions.csv"}
    code, _, err = run(str(spec(tmp_path, **asked)), "--out", "out.csv")
    assert (code, "more than 2 reports" in err) == (2, True), err
    assert np.unique(frame.who).size == 7
