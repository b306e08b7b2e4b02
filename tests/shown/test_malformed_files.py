"""Whatever is wrong with a file that a command reads: exit code 2, one line on stderr, nothing of the data in it.

A file that is odd and can be read is read: then the command ends with 0. There is no third way.
"""

from __future__ import annotations

import itertools
import json
import struct
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.shown import commands, malformed
from tests.shown.commands import House
from tests.shown.malformed import SECRET

pytestmark = pytest.mark.sweep


@dataclass
class Yard:
    """A house whose files can be spoiled and mended again; every run has ledgers of its own."""

    made: House
    runs: int = 0

    @property
    def data(self) -> Path:
        return self.made.folder / self.made.names.folder

    def run(self, words: list[str], text: str | None = None) -> tuple[int, str, str]:
        """Run a command on a spec, given as text or as it is, in a new ledger."""
        self.runs += 1
        spec = Path(words[1])
        text = (self.made.folder / spec).read_text("utf-8") if text is None else text
        here = f"run{self.runs}.toml"
        text = text.replace("budget.db", f"run{self.runs}.db")
        (self.made.folder / here).write_bytes(text.encode("utf-8", "surrogatepass"))
        return self.made.run([words[0], here, *words[2:]])


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Yard:
    return Yard(commands.house(tmp_path_factory.mktemp("yard")))


def complaint(found: tuple[int, str, str]) -> str | None:
    """Say what is wrong with how a command ended; None if nothing is."""
    code, out, err = found
    lines = err.splitlines()
    if SECRET in out + err:
        return f"shows data: {out}{err}"
    if code == 0:
        return None
    if code != 2 or "unexpected" in err or "Traceback" in err:
        return f"exit {code}: {err}"
    if out or len(lines) != 1 or not lines[0].startswith("leeward: "):
        return f"not one line: {out}{err}"
    return f"a line of {len(lines[0])}" if len(lines[0]) > 1200 else None


RELEASE, MEAN = (
    ("release", "release.toml", "--out", "o", "--new-budget"),
    ("release", "mean.toml", "--out", "o", "--new-budget"),
)
LOCATION, SERIES = (
    ("perturb", "location-{}.toml", "--out", "o.{}"),
    ("perturb", "series-{}-readings.toml", "--out", "o.{}"),
)
READERS: dict[str, list[tuple[str, ...]]] = {
    "visits.parquet": [RELEASE, MEAN, LOCATION],
    "places.csv": [RELEASE],
    "readings.parquet": [SERIES],  # in the middle, which the build server runs: it takes a sixth of the others' time
    "places.parquet": [RELEASE],
    "readings.csv": [SERIES],
}


def _command(words: tuple[str, ...], name: str) -> list[str]:
    return [word.format(name.rpartition(".")[2]) for word in words]


def _spec(yard: Yard, words: list[str], name: str) -> str:
    text = (yard.made.folder / words[1]).read_text("utf-8")
    stem, _, kind = name.partition(".")
    text = text.replace(f"{stem}.parquet", name).replace(f"{stem}.csv", name)
    return text.replace('"note" = ["x", "market"]', '"note" = ["x"]') if kind else text


def _spoiled(yard: Yard, name: str, text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    path = yard.data / name
    good = path.read_bytes()
    for what, held in malformed.bytes_of(good):
        yield what, lambda held=held: path.write_bytes(held)
    frame = pd.read_parquet(path.with_suffix(".parquet")) if path.suffix == ".parquet" else None
    if frame is not None:
        read = [column for column in frame.columns if f'"{column}"' in text]
        yield from malformed.parquet_of(frame, read, path)
    else:
        rows = good.decode().splitlines()
        header, row = ([field.strip('"') for field in line.split(",")] for line in rows[:2])
        for what, held in malformed.csv_of(header, row):
            yield what, lambda held=held: path.write_bytes(held)


@pytest.mark.parametrize("name", READERS)
def test_a_table_of_any_malformation(yard: Yard, name: str) -> None:
    path = yard.data / name
    if not path.exists():
        pd.read_parquet(path.with_suffix(".parquet")).to_csv(path, index=False)
    good = path.read_bytes()
    complaints, refused, read = [], 0, 0
    readers = [_command(words, name) for words in READERS[name]]
    for turn, words in enumerate(readers):
        text = _spec(yard, words, name)
        assert yard.run(words, text)[0] == 0, words
        # where several commands read the file, they take turns
        for what, spoil in itertools.islice(_spoiled(yard, name, text), turn, None, len(readers)):
            spoil()
            found = yard.run(words, text)
            path.write_bytes(good)
            if said := complaint(found):
                complaints.append((words[1], what, said))
            refused, read = refused + (found[0] == 2), read + (found[0] == 0)
    assert complaints == []
    assert refused >= 20
    assert read >= 1


POINT = {
    "type": "Feature",
    "properties": {"user": "p1", "at": "2026-01-01"},
    "geometry": {"type": "Point", "coordinates": [139.75, 35.65]},
}
POINTS = {
    "type": "FeatureCollection",
    "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
    "features": [POINT],
}


@pytest.mark.parametrize("name", ["points.geojson", "points.geojsonl"])
def test_geojson_of_any_malformation(yard: Yard, name: str) -> None:
    path = yard.data / name
    text = (yard.made.folder / "location-parquet.toml").read_text("utf-8").replace("visits.parquet", name)
    text = text.replace('"latitude" = "lat"\n"longitude" = "lon"\n', "")
    document = POINTS if name.endswith("n") else POINT
    good = json.dumps(document).encode()
    words = ["perturb", "location-parquet.toml", "--out", f"o.{name.rpartition('.')[2]}"]
    path.write_bytes(good)
    assert yard.run(words, text)[0] == 0
    complaints, codes = [], []
    for what, held in [*malformed.bytes_of(good), *malformed.documents(document)]:
        path.write_bytes(held)
        found = yard.run(words, text)
        codes.append(found[0])
        if said := complaint(found):
            complaints.append((what, said))
    assert complaints == []
    assert codes.count(2) >= 50
    assert codes.count(0) >= 5


def test_what_a_parquet_file_says_of_its_geometry(yard: Yard) -> None:
    path, good = yard.data / "geo.parquet", pd.read_parquet(yard.data / "visits.parquet")
    table = pa.Table.from_pandas(good[["user", "at"]], preserve_index=False)
    west = struct.pack("<BIdd", 1, 1, 139.75, 35.65)
    table = table.append_column("geometry", pa.array([west] * len(good), pa.binary()))
    about = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB"}}}
    text = (yard.made.folder / "location-parquet.toml").read_text("utf-8").replace("visits.parquet", "geo.parquet")
    text = text.replace('"latitude" = "lat"\n"longitude" = "lon"\n', "")
    codes, complaints = [], []
    for what, held in [("as it should be", json.dumps(about).encode()), *malformed.documents(about)]:
        pq.write_table(table.replace_schema_metadata({b"geo": held}), path)
        found = yard.run(["perturb", "location-parquet.toml", "--out", "o.parquet"], text)
        codes.append(found[0])
        if said := complaint(found):
            complaints.append((what, said))
    assert complaints == []
    assert codes[0] == 0
    assert codes.count(2) >= 20


SPECS = {
    "release": "release",
    "mean": "release",
    "location-parquet": "perturb",
    "series-parquet-readings": "perturb",
}


def _dry(name: str) -> list[str]:
    return [SPECS[name], f"{name}.toml", "--dry-run"]


@pytest.mark.parametrize("name", SPECS)
def test_a_spec_with_any_value_in_any_place(yard: Yard, name: str) -> None:
    text = (yard.made.folder / f"{name}.toml").read_text("utf-8")
    good = tomllib.loads(text)
    assert yard.run(_dry(name), text)[0] == 0
    complaints = []
    for what, held in malformed.values_of(good):
        if not isinstance(held, dict) or not all(isinstance(one, dict) for one in held.values()) or "None" in str(held):
            continue  # no TOML
        code, out, err = yard.run(_dry(name), commands.toml(held).replace("NaN", "nan"))
        if err.startswith(("leeward: This release costs ", "leeward: The ε of this release has more than 40 digits")):
            # it is told whole, and then what the budget says of it
            assert out.endswith("Nothing was charged and no data was read.\n")
            out = ""
        if said := complaint((code, out.replace(SECRET, ""), err.replace(SECRET, ""))):
            complaints.append((what, said))
    assert complaints == []


@pytest.mark.parametrize("name", ["release", "location-parquet"])
def test_a_spec_of_any_text(yard: Yard, name: str) -> None:
    path = yard.made.folder / f"{name}.toml"
    good = path.read_text("utf-8")
    lines = good.splitlines()
    complaints = []
    for what, held in malformed.bytes_of(good.encode()):
        (yard.made.folder / "odd.toml").write_bytes(held)
        if said := complaint(yard.made.run([_dry(name)[0], "odd.toml", *_dry(name)[2:]])):
            complaints.append((what, said))
    for at, line in enumerate(lines):
        if "=" not in line or at % 3:
            continue
        for what, made in malformed.texts_of(line.partition(" = ")[0]):
            found = yard.run(_dry(name), "\n".join([*lines[:at], made, *lines[at + 1 :]]))
            if said := complaint(found):
                complaints.append((line, what, said))
    assert complaints == []


def test_a_ledger_and_its_mark_of_any_malformation(yard: Yard) -> None:
    folder = yard.made.folder
    assert yard.made.run(list(RELEASE))[0] == 0
    complaints = []
    kept = {name: (folder / name).read_bytes() for name in ("budget.db", "budget.db.mark")}
    mark = json.loads(kept["budget.db.mark"])
    spoiled = {
        "budget.db": [*malformed.bytes_of(kept["budget.db"])],
        "budget.db.mark": [*malformed.bytes_of(kept["budget.db.mark"]), *malformed.documents(mark)],
    }
    spoiled["budget.db.mark"].append(
        ("a huge integer", json.dumps(mark | {"entries": 0}).replace("0}", "9" * 5000 + "}").encode())
    )
    ledger = ["--ledger", "sqlite:///budget.db"]
    for name, several in spoiled.items():
        for what, held in several:
            for words in (
                ["budget", "show", *ledger],
                ["budget", "check", *ledger],
                ["release", "release.toml", "--out", "o", "--yes"],
            ):
                for beside in folder.glob("budget.db-*"):
                    beside.unlink()
                for other, good in kept.items():
                    (folder / other).write_bytes(good)
                (folder / name).write_bytes(held)
                found = yard.made.run(words)
                if words[1] == "check" and found[0] == 1:
                    continue
                if said := complaint(found):
                    complaints.append((name, what, words[:2], said))
    assert complaints == []


def limited(kilobytes: int, folder: Path, *words: str) -> tuple[int, str, str]:
    """Run a command in a process whose address space is limited."""
    script = f'ulimit -c 0 -v {kilobytes}; exec "$0" -m leeward "$@"'
    done = subprocess.run(
        ["bash", "-c", script, sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("kilobytes", [300_000, 600_000, 1_000_000])
def test_too_little_memory_is_said_in_a_line(yard: Yard, kilobytes: int) -> None:
    found = limited(kilobytes, yard.made.folder, "release", "release.toml", "--out", "small", "--yes")
    assert found[0] == 2, found
    assert complaint(found) is None
    assert "limited to" in found[2]
    assert not (yard.made.folder / "small").exists()


@pytest.mark.parametrize(
    "raised",
    [
        MemoryError(),
        ImportError("a.so: failed to map segment from shared object"),
        ImportError("a.so: cannot allocate memory in static TLS block"),
    ],
)
def test_memory_that_runs_out_later_is_no_defect(
    yard: Yard, raised: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(*_: object) -> None:
        raise raised

    monkeypatch.setattr("leeward.spec.read_questions", no_memory)
    found = yard.made.run(["release", "release.toml", "--dry-run"])
    assert (found[0], complaint(found)) == (2, None)
