"""``leeward perturb`` that may not write on: nothing is half there, what was charged stays charged."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.killed import without_override, without_room
from tests.local.test_location import BASE, spec, table, toml
from tests.private_files import write_private

from leeward.errors import LedgerError
from leeward.ledger import read_secret

COMMAND = """
import os, sys
from leeward.cli import main

os.umask(0)
exec(sys.argv.pop())
main()
"""


def run(folder: Path, where: str, limit: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    words = ["perturb", "spec.toml", "--out", "o.parquet", "--quiet", "--yes", where]
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        preexec_fn=limit,
        env=without_room(),
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    table().to_parquet(tmp_path / "positions.parquet")
    write_private(tmp_path / "people.key", bytes(range(32)))
    store = {"secret": "people.key"}
    spec(
        tmp_path,
        data={"person": "who", "time": "when"},
        budget={**store, "store": "people.db", "reports_a_day": 2},
        repeat={**store, "store": "memo.db"},
        protect={"step": "50 m"},
    )
    return tmp_path


@pytest.mark.sweep
def test_a_limit_on_files_is_found_before_anything_is_charged(folder: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    before = sorted(os.listdir(folder))
    found = run(folder, "pass", limit)
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert "cannot be written: File too large" in found.stderr
    assert sorted(os.listdir(folder)) == before, "not even a budget was made"


@pytest.mark.parametrize("open_files", [5, 6, 8, 12, 27, 28, 29, 36])
def test_too_few_open_files_are_found_before_anything_is_charged(open_files: int, folder: Path) -> None:
    """A run is refused and leaves nothing, an empty store least of all; or it does all of its work."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

    before = sorted(os.listdir(folder))
    found = run(folder, "pass", limit)
    if found.returncode == 0:
        assert open_files > 20, "nothing was limited"
        return
    assert found.returncode == 2
    assert "Too many open files" in found.stderr
    assert "charged" not in found.stderr
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize("umask", [0o777, 0o400, 0o200, 0o100])
def test_files_that_their_maker_cannot_read_are_found_before_anything_is_charged(umask: int, folder: Path) -> None:
    before = sorted(os.listdir(folder))
    found = run(folder, f"os.umask({umask})", without_override)
    assert found.returncode == 2
    assert "Set one that leaves it: umask 077" in found.stderr
    assert sorted(os.listdir(folder)) == before


def test_a_secret_that_is_there_is_never_to_be_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(LedgerError, match="openssl rand"):
        read_secret(tmp_path / "none.key")
    for path, patched in ((tmp_path, os.open), (tmp_path / "people.key", refused)):
        monkeypatch.setattr(os, "open", patched)
        with pytest.raises(LedgerError, match="who may read it") as caught:
            read_secret(path)
        assert "openssl" not in str(caught.value)


NO_ROOM = "from leeward.local.location import _job; _job._ROOM = _job._ROOM_OF_A_ROW = 0"


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))


@pytest.mark.parametrize("where", ["pass", NO_ROOM])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".geojson", ".geojsonl"])
def test_what_cannot_be_written_is_not_said_to_be_unreadable(suffix: str, where: str, tmp_path: Path) -> None:
    """Found before anything is charged; where room cannot be set aside, the output is named, and that the charge stands."""
    here, size = {"lat": 39.9, "lon": 116.4, "who": 1}, 8_000
    feature = {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]}, "properties": {"who": 1}}
    text = json.dumps(feature, separators=(",", ":"))
    match suffix:
        case ".parquet":  # a few numbers for all of its rows
            pd.DataFrame({name: np.full(size, value) for name, value in here.items()}).to_parquet(
                tmp_path / "p.parquet"
            )
        case ".csv":
            (tmp_path / "p.csv").write_text("lat,lon,who\n" + "1,1,1\n" * size)
        case ".geojsonl":
            (tmp_path / "p.geojsonl").write_text(f"{text}\n" * 600)
        case _:
            (tmp_path / "p.geojson").write_text(f'{{"type":"FeatureCollection","features":[{",".join([text] * 600)}]}}')
    degrees = {} if "geo" in suffix else {"latitude": "lat", "longitude": "lon"}
    write_private(tmp_path / "people.key", bytes(range(32)))
    given = {
        "perturb": {"kind": "location"},
        "data": {"table": f"p{suffix}", "person": "who", **degrees},
        "box": {"west": 0, "south": 0, "east": 2, "north": 2} if suffix != ".parquet" else BASE["box"],
        "protect": BASE["protect"],
        "budget": {"store": "people.db", "secret": "people.key", "reports_a_day": 10_000},
    }
    (tmp_path / "spec.toml").write_text(toml(given))
    words = ["perturb", "spec.toml", "--out", f"o{suffix}", "--quiet", "--yes", where]
    found = subprocess.run(
        [sys.executable, "-c", COMMAND, *words], cwd=tmp_path, capture_output=True, text=True, preexec_fn=_limit,
        env=without_room(), check=False,
    )  # fmt: skip
    assert found.returncode == 2, found.stderr
    assert f"'o{suffix}' cannot be written: File too large" in found.stderr
    assert (tmp_path / "people.db").exists() == (where == NO_ROOM)
    assert ("a second run pays again" in found.stderr) == (where == NO_ROOM)
    assert not (tmp_path / f"o{suffix}").exists()


@pytest.mark.sweep
def test_a_store_of_reports_without_room_is_found_before_anything_is_charged(tmp_path: Path) -> None:
    """Else the day's budget is spent on reports that nobody has."""
    size = 8_000
    at = np.linspace(39.8, 40.05, size)
    frame = pd.DataFrame({"lat": at, "lon": 116.4, "who": 1})
    frame.to_csv(tmp_path / "p.csv", index=False, float_format="%.6f")
    write_private(tmp_path / "people.key", bytes(range(32)))
    spec(
        tmp_path,
        data={"table": "p.csv", "person": "who"},
        budget={"store": "people.db", "secret": "people.key", "reports_a_day": size},
        repeat={"store": "memo.db", "secret": "people.key"},
        protect={"step": "2 m", "within": "200 m"},
    )
    words = ["perturb", "spec.toml", "--out", "o.csv", "--quiet", "--yes", NO_ROOM]

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    def done(preexec: Callable[[], None] | None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", COMMAND, *words],
            cwd=tmp_path, capture_output=True, text=True, preexec_fn=preexec, env=without_room(), check=False,
        )  # fmt: skip

    found = done(limited)
    assert found.returncode == 2, found.stderr
    assert "memo.db' cannot be written: File too large" in found.stderr
    assert "charged" not in found.stderr
    again = done(None)
    assert again.returncode == 0, again.stderr


def test_readings_that_cannot_be_written_are_not_said_to_be_unreadable(tmp_path: Path) -> None:
    from leeward.local.series._files import ReadingsFile

    pd.DataFrame({"kw": [1.0]}).to_csv(tmp_path / "r.csv", index=False)
    source = ReadingsFile(tmp_path / "r.csv")
    with pytest.raises(FileNotFoundError), source.reading(writes=True):
        (tmp_path / "nowhere" / "o.csv").write_text("x")
    readings = type("Nobody", (), {"rows": np.zeros(0, int), "there": np.zeros(0, bool)})()
    with pytest.raises(FileNotFoundError):
        source.rewrite(tmp_path / "nowhere" / "o.csv", "kw", readings, np.zeros(0, int), None, lambda *_: None)  # type: ignore[arg-type]
