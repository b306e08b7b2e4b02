"""Every command of ``leeward``, ready to run in a folder whose names are whatever a test wants them to be."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from leeward.cli import main

HOUR, AN_HOUR_LATER = "2026-01-01T18:30", "2026-01-01T19:30"


@dataclass(frozen=True)
class Names:
    """What is called how: by a curator, a database or an attacker."""

    person: str = "user"
    place: str = "venue"
    time: str = "at"
    other: str = "note"
    dataset: str = "town"
    market: str = "market"
    folder: str = "data"


@dataclass
class House:
    """A folder with data and one spec for each kind of command.

    Attributes:
        folder: where everything is.
        names: what is called how.
        commands: the words of each command, in an order in which they can run one after the other.
    """

    folder: Path
    names: Names
    commands: dict[str, list[str]] = field(default_factory=dict)

    def run(self, words: list[str], encoding: str = "utf-8") -> tuple[int, str, str]:
        """Run a command with stdout and stderr of an encoding; return its exit code and what it wrote, decoded."""
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding, errors="strict", newline="\n") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            patch.setattr("sys.argv", ["leeward", *words])
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            with pytest.raises(SystemExit) as stopped:
                main()
        wrote = []
        for stream in (out, err):
            stream.flush()
            wrote.append(stream.buffer.getvalue().decode(encoding))  # type: ignore[attr-defined]
        code = stopped.value.code
        return (code if isinstance(code, int) else 0), wrote[0], wrote[1]


def toml(sections: dict[str, dict[str, Any]]) -> str:
    """Write a spec."""
    lines = []
    for name, keys in sections.items():
        lines += [f"[{name}]", *(f"{quoted(key)} = {_value(value)}" for key, value in keys.items())]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """Write a text as TOML does; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(key)} = {_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def house(folder: Path, names: Names | None = None) -> House:
    """Fill a folder with data, and with a spec for each command."""
    import pandas as pd  # what is filled runs without it

    made = House(folder, names or Names())
    n, data = made.names, folder / made.names.folder
    data.mkdir()
    people = [f"p{i}" for i in range(12)]
    places = [n.market, *(f"v{i}" for i in range(11))]
    visits = pd.DataFrame({n.person: people, n.place: [n.market] * 9 + ["v0", "v1", "gone"], n.other: "x"})
    # hours without a row at the end might not be loaded yet
    visits[n.time] = pd.to_datetime([HOUR] * 11 + [AN_HOUR_LATER])
    visits["number"], visits["lat"], visits["lon"] = range(12), 35.65, 139.75
    visits.to_parquet(data / "visits.parquet")
    # a name of a column with a line break is refused in CSV
    in_csv = {name: re.sub(r"[\r\n]", "", name) for name in (n.person, n.place, n.time, n.other)}
    visits.rename(columns=in_csv).to_csv(data / "visits.csv", index=False, quoting=csv.QUOTE_ALL)
    listed = pd.DataFrame({n.place: places, "name": [f"The {place}" for place in places]})
    listed["lat"], listed["lon"] = 35.65, [139.7 + i / 100 for i in range(12)]
    listed.to_parquet(data / "places.parquet")
    hours = pd.date_range("2026-01-01", periods=24, freq="h").as_unit("us")
    readings = pd.DataFrame({n.person: n.market, n.time: hours, "kw": 1.5, n.other: "x"})
    readings.to_parquet(data / "readings.parquet")
    readings.rename(columns=in_csv).to_csv(data / "readings.csv", index=False, quoting=csv.QUOTE_ALL)

    def columns(kind: str, named: dict[str, Any]) -> dict[str, Any]:
        return named if kind == "parquet" else {key: in_csv.get(name, name) for key, name in named.items()}

    def spec(name: str, **sections: dict[str, Any]) -> str:
        (folder / f"{name}.toml").write_text(toml(sections), "utf-8")
        return f"{name}.toml"

    budget = {"ledger": "sqlite:///budget.db", "dataset": n.dataset, "cap": "50"}
    asked: dict[str, dict[str, Any]] = {
        "data": {"visits": f"{n.folder}/visits.parquet", "person": n.person, "place": n.place, "time": n.time},
        "places": {"table": f"{n.folder}/places.parquet", "place": n.place, "name": "name"},
        "window": {"start": "2026-01-01T18:00:00", "end": "2026-01-01T20:00:00"},
        "protect": {"notion": "addition-only", "epsilon": "1", "places_per_person": 1, "if_more": "latest"},
        "decide": {"safe_at_most": 2},
    }  # fmt: skip
    asked["places"] |= {"latitude": "lat", "longitude": "lon"}
    asked["data"]["keep"] = {n.other: ["x", n.market]}
    release = spec("release", **asked, budget=budget)
    windows = {"window": {**asked["window"], "every": "1h"}}
    several = spec("several", **{**asked, **windows}, budget={**budget, "dataset": f"{n.dataset} twice"})
    protect = {"notion": "addition-only", "epsilon": "1"}
    monitor = {**asked, **windows, "protect": protect, "publish": {"mechanism": "sanitized", "stop_after": 2}}
    watched = spec("monitor", **monitor, budget={**budget, "dataset": f"{n.dataset} watched"})
    table = {"table": f"{n.folder}/visits.parquet", "person": n.person}
    protected = {"protect": {"notion": "dp", "epsilon": "1"}, "budget": {**budget, "dataset": f"{n.dataset} numbers"}}
    mean = spec(
        "mean", data=table, query={"kind": "mean", "column": "number", "lower": "0", "upper": "12"}, **protected
    )
    groups = {"kind": "histogram", "by": {n.place: [n.market, "v0"]}}
    histogram = spec("histogram", data=table, query=groups, **protected)
    position = {"latitude": "lat", "longitude": "lon", "person": n.person, "time": n.time}
    box = {"west": 139.3, "south": 35.3, "east": 140.2, "north": 36.1}
    within = {"within": "200 m", "factor": "2"}
    location = {
        kind: spec(
            f"location-{kind}",
            perturb={"kind": "location"},
            data={"table": f"{n.folder}/visits.{kind}", **columns(kind, position)},
            box=box,
            protect=within,
        )
        for kind in ("parquet", "csv")
    }
    clock = {"start": "2026-01-01", "end": "2026-01-02", "every": "1 h"}
    meters: dict[str, Any] = {"meter": n.person, "time": n.time, "value": "kw", "unit": "kW"}
    series = {
        f"{kind} {what}": spec(
            f"series-{kind}-{what}",
            perturb={"kind": "series"},
            data={"table": f"{n.folder}/readings.{kind}", **columns(kind, meters)},
            time=clock,
            values={"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
            protect={"within": "100 W", "factor": "2", "window": 6},
            publish={"what": what},
        )
        for kind in ("parquet", "csv")
        for what in ("readings", "totals")
    }
    ledger = ["--ledger", "sqlite:///budget.db"]
    watching = ["--out", f"{n.folder}/monitor", "--new-budget", "--until", "2026-01-01T20:00:00"]
    made.commands = {
        "release --dry-run": ["release", release, "--dry-run"],
        "release --dry-run --json": ["release", release, "--dry-run", "--json"],
        "release": ["release", release, "--out", f"{n.folder}/out", "--new-budget"],
        "release again --json": ["release", release, "--out", f"{n.folder}/out", "--new-budget", "--json"],
        "release of several windows": ["release", several, "--out", f"{n.folder}/several", "--new-budget"],
        "release a mean --dry-run": ["release", mean, "--dry-run"],
        "release a mean": ["release", mean, "--out", f"{n.folder}/mean", "--new-budget"],
        "release a histogram": ["release", histogram, "--out", f"{n.folder}/histogram", "--new-budget"],
        "plan": ["plan", release, "--counts", "0:10,1:2", "--releases", "3"],
        "plan --html": ["plan", release, "--html", f"{n.folder}/plan.html", "--safe-at", "1:0.5"],
        "plan --json": ["plan", release, "--json"],
        "init": [
            *("init", f"{n.folder}/visits.csv", f"{n.folder}/places.parquet", "--out", f"{n.folder}/drafted.toml"),
            *("--person", in_csv[n.person], "--place", in_csv[n.place], "--listed", n.place, "--time", in_csv[n.time]),
            *("--start", "2026-01-01T18:00", "--end", "2026-01-01T20:00", "--never", "safe", "--dataset", n.dataset),
        ],
        "init of a table": [
            *("init", f"{n.folder}/visits.parquet", f"{n.folder}/places.parquet", "--kind", "mean", "--person", n.person),
            *("--column", "number", "--lower", "0", "--upper", "12", "--group", n.place, "--listed", n.place),
            *("--out", f"{n.folder}/drafted-mean.toml", "--dataset", n.dataset),
        ],
        "check": ["check", release],
        "check --json": ["check", several, "--json"],
        "check a histogram": ["check", histogram],
        "monitor": ["monitor", watched, *watching],
        "monitor --json": ["monitor", watched, *watching, "--json"],
        **{
            f"perturb {kind} {how}": ["perturb", job, *more]
            for kind, job in location.items()
            for how, more in (
                ("--dry-run", ["--dry-run"]),
                ("--dry-run --json", ["--dry-run", "--json"]),
                ("--out", ["--out", f"{n.folder}/reports.{kind}", "--yes"]),
            )
        },
        **{
            f"perturb {kind} {how}": ["perturb", job, *more]
            for kind, job in series.items()
            for how, more in (
                ("--dry-run", ["--dry-run"]),
                ("--out", ["--out", f"{n.folder}/{kind.replace(' ', '-')}.{kind.split()[0]}"]),
            )
        },
        "budget show": ["budget", "show", *ledger],
        "budget show --json": ["budget", "show", *ledger, "--json"],
        "budget show of one": ["budget", "show", *ledger, "--dataset", n.dataset],
        "budget history": ["budget", "history", *ledger],
        "budget history --json": ["budget", "history", *ledger, "--json"],
        "budget set-cap": ["budget", "set-cap", *ledger, n.dataset, "60"],
        "--version": ["--version"],
        **{
            " ".join([*words, "--help"]): [*words, "--help"]
            for words in (
                [], ["release"], ["plan"], ["check"], ["init"], ["monitor"], ["perturb"], ["papers"], ["demo"], ["budget"],
                ["budget", "show"], ["budget", "history"], ["budget", "set-cap"], ["budget", "accept-restored"],
            )
        },
    }  # fmt: skip
    return made


def refused(made: House) -> dict[str, list[str]]:
    """Commands that are refused over a name: a column, a file, a data set or a key that is written almost right."""
    n, folder = made.names, made.folder
    text = (folder / "release.toml").read_text("utf-8")
    wrong = {
        "no such column": text.replace(quoted(n.person), quoted(f"{n.person}s")),
        "no such file": text.replace("visits.parquet", "visit.parquet"),
        "no such place column": text.replace(quoted(n.place), quoted(f"{n.place}s")),
        "another cap": text.replace('"50"', '"51"'),
        "no such key": text.replace("[decide]", f"[decide]\n{quoted(n.dataset)} = 1"),
        "no such section": f"[{quoted(n.dataset)}]\n{text}",
        "no such notion": text.replace('"addition-only"', quoted(n.dataset)),
        "no such zone": text.replace("[data]", f"[data]\ntimezone = {quoted(n.dataset)}"),
        "an address": text.replace(quoted(f"{n.folder}/visits.parquet"), quoted(f"postgresql://u:{n.dataset}@h/d")),
        "a budget elsewhere": text.replace("sqlite:///budget.db", quoted(f"x://{n.dataset}")[1:-1]),
    }
    commands = {}
    for name, changed in wrong.items():
        assert changed != text, name
        (folder / f"{name}.toml").write_text(changed, "utf-8")
        commands[name] = ["release", f"{name}.toml", "--out", f"{n.folder}/{name}", "--new-budget"]
    location = (folder / "location-parquet.toml").read_text("utf-8")
    (folder / "lost.toml").write_text(location.replace('"lat"', quoted(f"{n.other}s")), "utf-8")
    return commands | {
        "no such spec": ["release", f"{n.folder}/release.toml", "--dry-run"],
        "no such option": ["release", "release.toml", f"--{n.dataset}"],
        "no such command": [n.dataset],
        "no such data set": ["budget", "set-cap", "--ledger", "budget.db", f"{n.dataset}s", "3"],
        "no such ledger": ["budget", "show", "--ledger", f"{n.folder}/none.db"],
        "no such coordinates": ["perturb", "lost.toml", "--out", f"{n.folder}/lost.parquet"],
        "counts that are none": ["plan", "release.toml", "--counts", n.dataset],
        "a wish that is none": ["plan", "release.toml", "--safe-at", n.dataset],
        "columns that are none": ["papers", "--columns", n.dataset],
        "a moment that is none": ["monitor", "monitor.toml", "--out", "o", "--until", n.dataset],
    }
