"""A first spec is drafted from what people have, names back what was detected, holds no value of the data, and works."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import re
import resource
import signal
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.session.conftest import Town
from tests.workbooks import workbook

from leeward.cli._asked import answer
from leeward.errors import LeewardError
from leeward.outputs._disk import write_new
from leeward.spec._draft import written
from leeward.tables._detected import _FORMATS, detected
from leeward.tables._writing import TimeFormat

VENUES = ["café nord", "pool", "park west", "museum"]
START = dt.datetime(2026, 3, 14, 18, 30, 7)
ROWS = [(f"secret-{i}", VENUES[i % 2], START + dt.timedelta(minutes=3 * i)) for i in range(40)]
INSIDE = sum(dt.datetime(2026, 3, 14, 19) <= when < dt.datetime(2026, 3, 14, 20) for _, _, when in ROWS)
FLAGS = ["--person", "user", "--start", "2026-03-14T19:00", "--end", "2026-03-14T20:00", "--never", "safe"]


@pytest.fixture
def town(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Town:
    monkeypatch.chdir(tmp_path)
    return Town(tmp_path, capsys)


def visits(name: str, form: str = "%Y-%m-%dT%H:%M:%S", sign: str = ",", encoding: str = "utf-8") -> None:
    lines = [sign.join(("user", "venue", "when")), *(sign.join((u, v, w.strftime(form))) for u, v, w in ROWS)]
    Path(name).write_bytes("\n".join(lines).encode(encoding))


def places(name: str, sign: str = ",", decimal: str = ".", encoding: str = "utf-8") -> None:
    rows = [(v, v.upper(), f"35{decimal}{i}5", f"139{decimal}7") for i, v in enumerate(VENUES)]
    lines = [sign.join(("venue", "name", "lat", "lon")), *(sign.join(row) for row in rows)]
    Path(name).write_bytes("\n".join(lines).encode(encoding))


WAYS: Mapping[str, tuple[Sequence[Any], Sequence[Any], dict[str, str], dict[str, str]]] = {
    "plain": (("v.csv",), ("p.csv",), {}, {}),
    "German": (
        ("v.csv", "%d.%m.%Y %H:%M:%S", ";", "cp1252"),
        ("p.csv", ";", ",", "cp1252"),
        {"delimiter": ";", "encoding": "cp1252", "time_format": "dd.mm.yyyy HH:MM:SS"},
        {"delimiter": ";", "encoding": "cp1252", "decimal": ","},
    ),
    "American": (("v.csv", "%m/%d/%Y %I:%M:%S %p"), ("p.tsv", "\t"), {"time_format": "mm/dd/yyyy hh:MM:SS AM"}, {}),
    "Unicode text": (
        ("v.txt", "%Y-%m-%d %H:%M:%S", "\t", "utf-16"), ("p.txt", "|"), {"delimiter": "tab", "encoding": "utf-16"},
        {"delimiter": "|"},
    ),
    "digits": (("v.csv", "%Y%m%d%H%M%S"), ("p.csv",), {"time_format": "yyyymmddHHMMSS"}, {}),
}  # fmt: skip


def drafted(town: Town, *words: str, code: int = 0) -> dict[str, Any]:
    ended, out, err = town.run("init", *words)
    assert ended == code, err
    if code:
        return {"refused": err}
    spec = (town.folder / "spec.toml").read_text("utf-8")
    assert not re.search("|".join(["secret-", "18:30", *VENUES]), spec + out + err)
    return tomllib.loads(spec)


@pytest.mark.parametrize("way", WAYS)
def test_what_is_detected_is_named_back_and_the_spec_counts_what_it_should(way: str, town: Town) -> None:
    own, listed, said, of_list = WAYS[way]
    visits(*own)
    places(*listed)
    spec = drafted(town, own[0], listed[0], *FLAGS)
    keys = {"visits": own[0], "person": "user", "place": "venue", "time": "when"}
    assert spec["data"] == keys | said
    where = {"table": listed[0], "place": "venue", "name": "name", "latitude": "lat", "longitude": "lon"}
    assert spec["places"] == where | of_list
    ended, out, err = town.run("check", "spec.toml", "--json")
    found = json.loads(out)
    assert (ended, found["rows"], found["looks"][0]["counted"]) == (0, len(ROWS), INSIDE), err
    assert (found["keys"]["listed"], found["keys"]["named"], found["keys"]["unlisted"]) == (4, 2, 0)


def test_a_first_line_that_a_release_refuses_is_refused(town: Town) -> None:
    Path("odd.csv").write_text('user,"the\nvenue",when\np1,a,2026-03-14T19:00\n', "utf-8")
    code, _, err = town.run("init", "odd.csv", "places.csv", *FLAGS, "--out", "odd.toml")
    assert (code, "a name holds a line break" in err, Path("odd.toml").exists()) == (2, True, False)


def test_workbooks_are_read_by_their_sheet(town: Town) -> None:
    workbook(
        Path("b.xlsx"), {"Visits": [["user", "venue", "when"], *ROWS], "Places": [["venue"], *([v] for v in VENUES)]}
    )
    spec = drafted(town, "b.xlsx", "b.xlsx", "--sheet", "Visits", "--list-sheet", "Places", *FLAGS)
    assert spec["data"]["visits_table"] == "Visits"
    assert spec["places"] == {"table": "b.xlsx", "places_table": "Places", "place": "venue"}
    assert json.loads(town.run("check", "spec.toml", "--json")[1])["looks"][0]["counted"] == INSIDE
    assert (
        "it has several: 'Visits', 'Places'" in drafted(town, "b.xlsx", "b.xlsx", *FLAGS, "-o", "o", code=2)["refused"]
    )


def test_a_column_of_times_is_found_by_what_it_holds(town: Town) -> None:
    lines = ["user,status at arrival,checked in,venue", *(f"{u},ok,{w.isoformat()},{v}" for u, v, w in ROWS)]
    Path("v.csv").write_text("\n".join(lines), "utf-8")
    places("p.csv")
    assert drafted(town, "v.csv", "p.csv", *FLAGS)["data"]["time"] == "checked in"


def test_a_grid_takes_the_place_of_a_list(town: Town) -> None:
    lines = ["user;lat;lng;when", *(f"{u};35,{i:03};139,75;{w.isoformat()}" for i, (u, _, w) in enumerate(ROWS))]
    Path("v.csv").write_text("\n".join(lines))
    spec = drafted(town, "v.csv", *FLAGS, "--grid", "139.7,34.9,139.8,35.1,1000")
    assert (spec["data"]["latitude"], spec["data"]["longitude"], spec["data"]["decimal"]) == ("lat", "lng", ",")
    assert spec["places"] == {"grid": {"west": 139.7, "south": 34.9, "east": 139.8, "north": 35.1, "metres": 1000.0}}
    assert json.loads(town.run("check", "spec.toml", "--json")[1])["looks"][0]["counted"] == INSIDE


@pytest.mark.parametrize("never", ["safe", "dangerous", "neither"])
def test_what_must_never_be_wrong_decides_the_notion(never: str, town: Town) -> None:
    visits("v.csv")
    places("p.csv")
    flags = [*FLAGS[:-1], never, "--people", "7", "--epsilon", "2", "--cap", "6", "--dataset", "town"]
    spec = drafted(town, "v.csv", "p.csv", *flags)
    notion, decide = {
        "safe": ("addition-only", {"safe_at_most": 7}),
        "dangerous": ("removal-only", {"dangerous_at_least": 7}),
        "neither": ("dp", {"safe_at_most": 7, "error_at_most": "0.01"}),
    }[never]
    assert (spec["protect"]["notion"], spec["decide"]) == (notion, decide)
    assert (spec["protect"]["epsilon"], spec["budget"]["cap"], spec["budget"]["dataset"]) == ("2", "6", "town")
    assert town.run("check", "spec.toml")[0] == 0
    assert "# Chance of being called" in Path("spec.toml").read_text("utf-8")


def test_days_and_months_that_cannot_be_told_apart_are_asked(town: Town) -> None:
    Path("v.csv").write_text("user,venue,when\na,pool,02/03/2026 19:10\nb,pool,03/03/2026 19:10\n")
    places("p.csv")
    flags = [*FLAGS[:2], "--start", "2026-03-02T19:00", "--end", "2026-03-02T20:00", "--never", "safe"]
    assert "--time-format is missing" in drafted(town, "v.csv", "p.csv", *flags, code=2)["refused"]
    assert not Path("spec.toml").exists()
    spec = drafted(town, "v.csv", "p.csv", *flags, "--time-format", "dd/mm/yyyy HH:MM")
    assert spec["data"]["time_format"] == "dd/mm/yyyy HH:MM"


@pytest.mark.parametrize("left_out", range(0, len(FLAGS), 2))
def test_what_nobody_can_be_asked_is_an_option(left_out: int, town: Town) -> None:
    visits("v.csv")
    places("p.csv")
    flags = [*FLAGS[:left_out], *FLAGS[left_out + 2 :]]
    assert f"{FLAGS[left_out]} is missing" in drafted(town, "v.csv", "p.csv", *flags, code=2)["refused"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--person", "users"], "Did you mean 'user'"),
        (["--never", "unsafe"], "Known: safe, dangerous, neither"),
        (["--start", "soon"], "start"),
        (["--epsilon", "-1"], "amount"),
        (["--grid", "1,2,3,4,5"], "Both LIST and --grid"),
        (["--time", "venue"], "it seems to hold texts"),
        (["--time-format", "sometimes"], "not a part of a time"),
    ],
)
def test_an_answer_that_is_none_is_refused_and_nothing_is_written(words: list[str], told: str, town: Town) -> None:
    visits("v.csv")
    places("p.csv")
    assert told in drafted(town, "v.csv", "p.csv", *FLAGS, *words, code=2)["refused"]
    assert not Path("spec.toml").exists()


def test_a_spec_that_is_there_is_not_written_over(town: Town) -> None:
    visits("v.csv")
    places("p.csv")
    Path("spec.toml").write_text("mine")
    assert "it is there already" in drafted(town, "v.csv", "p.csv", *FLAGS, code=2)["refused"]
    assert Path("spec.toml").read_text() == "mine"
    assert "Neither LIST nor --kind" in drafted(town, "v.csv", *FLAGS, "-o", "other.toml", code=2)["refused"]


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_five_questions_are_asked_and_a_slip_is_asked_again(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    visits("v.csv")
    places("p.csv")
    typed = ["", "users", "user", "", "", "", "soon", "2026-03-14T19:00", "2026-03-14T20:00"]
    typed += ["", "many", "", "", "", "town"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    ended, out, err = town.run("init", "v.csv", "p.csv")
    assert ended == 0, err
    for question in ("1. Who", "2. What is a place", "3. When", "4. What must never be wrong", "5. How much in all"):
        assert question in err
    spec = tomllib.loads(Path("spec.toml").read_text("utf-8"))
    assert (spec["data"]["person"], spec["budget"]["dataset"], spec["decide"]) == ("user", "town", {"safe_at_most": 2})
    monkeypatch.undo()
    monkeypatch.chdir(town.folder)
    assert town.run("check", "spec.toml")[0] == 0
    assert "Next: leeward check spec.toml" in out


def test_at_a_terminal_a_name_is_taken_as_it_is_and_not_as_it_is_shown(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a terminal would obey is shown in other characters; whoever presses Enter means the column all the same."""
    lines = ["user\x1b[2J,venue,when", *(f"{u},{v},{w:%Y-%m-%dT%H:%M:%S}" for u, v, w in ROWS)]
    Path("v.csv").write_text("\n".join(lines), "utf-8")
    places("p.csv")
    monkeypatch.setattr("sys.stdin", Terminal("\n" * 20))
    code, _, err = town.run("init", "v.csv", "p.csv", *FLAGS[2:])
    assert (code, "\x1b" in err) == (0, False), err
    assert tomllib.loads(Path("spec.toml").read_text("utf-8"))["data"]["person"] == "user\x1b[2J"


def test_what_is_offered_and_refused_is_told_where_nobody_can_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not offered for ever."""
    turns = iter(range(9))

    def check(_: str) -> None:
        assert next(turns) == 0
        raise LeewardError("The answer", "it is none", "Give another")

    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(LeewardError, match="Give another"):
        answer("an answer", "--answer", None, "offered", check)


_PYTHON = {
    "yyyy": "%Y", "yy": "%y", "mm": "%m", "dd": "%d", "HH": "%H", "hh": "%I", "MM": "%M", "SS": "%S", "AM": "%p",
}  # fmt: skip


@pytest.mark.parametrize("form", _FORMATS)
def test_every_format_is_found_again(form: str, tmp_path: Path) -> None:
    python = re.sub("|".join(_PYTHON), lambda found: _PYTHON[found[0]], form)
    start = dt.datetime(2026, 2, 27, 11, 58, 3)
    written = [(start + dt.timedelta(days=i, minutes=7 * i)).strftime(python) for i in range(9)]
    (tmp_path / "v.csv").write_text("when\n" + "\n".join(f'"{each}"' for each in written) + "\n")
    (seen,) = detected(str(tmp_path / "v.csv")).columns
    if re.fullmatch("yyyy-mm-dd( HH:MM(:SS)?|THH:MM:SS)?", form):
        assert (seen.looks, seen.formats) == ("times", ())
    else:
        assert form in seen.formats
        assert len({TimeFormat.of(each).fields for each in seen.formats}) == 1, "days and months are told apart"


def test_numbers_that_are_times_are_known_by_their_unit(tmp_path: Path) -> None:
    for unit, scale in {"s": 1, "ms": 1000, "us": 10**6}.items():
        stamps = [int(when.replace(tzinfo=dt.UTC).timestamp()) * scale for _, _, when in ROWS]
        (tmp_path / "v.csv").write_text("n,when\n" + "".join(f"{i},{stamp}\n" for i, stamp in enumerate(stamps)))
        number, time = detected(str(tmp_path / "v.csv")).columns
        assert (number.unit, number.looks, time.unit) == (None, "whole numbers", unit)


def test_numbers_of_which_some_look_like_times_are_none(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("n,phone\n1,1700000000\n2,17\n3,1700000001\n")
    assert [(seen.looks, seen.unit) for seen in detected(str(tmp_path / "v.csv")).columns] == [
        ("whole numbers", None)
    ] * 2


def test_what_is_only_in_some_fields_separates_no_columns(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("name;people, in all\na;3\nb;4, of them 1 here, 3 there\n")
    found = detected(str(tmp_path / "v.csv"))
    assert [seen.name for seen in found.columns] == ["name", "people, in all"]


def test_a_database_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "v.db").write_bytes(b"")
    with pytest.raises(LeewardError, match="not at databases"):
        detected(str(tmp_path / "v.db"))


PATIENTS = [(f"secret-{i}", 70 + i % 3, 17.5 + i % 60, START + dt.timedelta(hours=i)) for i in range(120)]
SAFE = ["--never", "safe", "--people", "4"]
BY = ["--lower", "0", "--upper", "100", "--group", "ward", "--groups", "70"]
WARDS = {"by": {"ward": ["70", "71", "72", "73"]}}
STEPS = ["--lower", "0", "--upper", "100", "--step", "20"]
KINDS: Mapping[str, tuple[Sequence[str], Mapping[str, Any], str]] = {
    "count": (["--group", "ward", "--groups", "70,71,72,73", *SAFE], WARDS, "Chance of"),
    "count, in all": (["--never", "low"], {}, "Off by at most, with probability 95 %"),
    "count, by a list": (["--listed", "no", "--group", "ward", *SAFE], WARDS, "Chance of"),
    "count, by numbers": (["--group", "ward", "--groups", "70,71,73", *SAFE], {"by": {"ward": [70, 71, 73]}}, "Chance of"),
    "histogram": ([*STEPS, "--never", "high"], {"step": "20"}, "Off by at most"),
    "histogram, decided": ([*STEPS, "--never", "dangerous"], {}, "called dangerous"),
    "above": (["--levels", "20,40", *SAFE], {"levels": ["20", "40"]}, "Chance of being called safe"),
    "sum": (["--lower", "0", "--upper", "100", "--never", "low"], {"lower": "0"}, "Off by at most"),
    "mean": (["--lower", "0", "--upper", "100"], {"upper": "100", "step": "1", "grid": "1/10"}, "1,000 people"),
    "median": (["--lower", "0", "--upper", "100", "--never", "close"], {}, "with probability 95 %"),
    "percentile": (["--lower", "0", "--upper", "100", "--p", "25, 75"], {"p": ["25", "75"]}, "with probability 95 %"),
    "min": (["--lower", "0", "--upper", "100"], {}, "with probability 95 %"),
    "max": (["--lower", "0", "--upper", "100"], {}, "with probability 95 %"),
    "variance": (["--lower", "0", "--upper", "100"], {}, "1,000 people"),
    "standard deviation": (["--lower", "0", "--upper", "100"], {"grid": "1/10"}, "1,000 people"),
    "mean, by groups, by day": (
        [*BY, "--start", "2026-03-14", "--end", "2026-03-17"],
        {"by": {"ward": ["70"]}},
        "1,000 people",
    ),
}  # fmt: skip
"""What is asked: the options, keys of [query], and what is told before anything is charged."""


def hospital(kind: str) -> list[str]:
    """Write patients, and where it is asked for a list of wards; return the files."""
    rows = [["patient", "ward", "age", "admitted"], *([*row] for row in PATIENTS)]
    if kind == "count, by numbers":
        workbook(Path("h.xlsx"), {"Patients": rows})
        return ["h.xlsx"]
    Path("h.csv").write_text("\n".join(",".join(map(str, row)) for row in rows), "utf-8")
    Path("wards.csv").write_text("no,floor\n70,1\n71,1\n72,2\n73,2\n", "utf-8")
    return ["h.csv", "wards.csv"] if kind == "count, by a list" else ["h.csv"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_asked_in_words_and_its_spec_is_checked_and_planned(kind: str, town: Town) -> None:
    options, query, told = KINDS[kind]
    number = [] if kind.startswith("count") else ["--column", "age"]
    words = ["--kind", kind.partition(",")[0], "--person", "patient", *number, *options]
    spec = drafted(town, *hospital(kind), *words)
    assert {key: spec["query"].get(key) for key in query} == query
    assert told in Path("spec.toml").read_text("utf-8")
    code, out, err = town.run("check", "spec.toml", "--json")
    found = json.loads(out)
    assert (code, found["rows"]) == (0, len(PATIENTS)), err
    groups = {*map(str, spec["query"].get("by", {}).get("ward", range(70, 73)))}
    ends = [
        dt.datetime.fromisoformat(str(at)) for at in spec.get("window", {"start": START, "end": "2027-01-01"}).values()
    ]
    counting = [row for row in PATIENTS if str(row[1]) in groups and ends[0] <= row[3] < ends[1]]
    assert found["looks"][0]["counted"] == len(counting)
    assert town.run("plan", "spec.toml", "--json")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--kind", "counts"], "Known: "),
        (["--kind", "mean", "--column", "age", "--never", "low"], "Known: close"),
        (["--kind", "sum", "--column", "age", "--lower", "-1", "--never", "low"], "Known: close"),
        (["--kind", "mean", "--column", "age", "--lower", "100"], "it is not above the least, 100"),
        (["--kind", "mean", "--column", "age", "--step", "7"], "a whole number of steps apart"),
        (["--kind", "mean", "--column", "age", "--p", "5"], "--p with --kind mean"),
        (["--kind", "count", "--column", "age", *SAFE], "--column with --kind count"),
        (["--kind", "count", "--grid", "1,2,3,4,5", *SAFE], "--grid with --kind count"),
        (["--kind", "count", "--group", "ward", "--groups", "a,,b", *SAFE], "one of them is empty"),
        (["--kind", "count", "--group", "ward", *SAFE], "--groups is missing"),
        (["--kind", "count", "--never", "low", "--people", "3"], "--people with --never low"),
        (["--kind", "count", "--combine", "sum", "--never", "low"], "Known: refuse, max"),
        (["--kind", "mean", "--column", "age", "--epsilon", "1/10000000"], "--accept-useless"),
        (["--kind", "percentile", "--column", "age", "--p", "75,25"], "several percentiles ascend"),
        (["--kind", "above", "--column", "age", "--levels", "3,2", *SAFE], "do not ascend"),
        (["--kind", "visitors", "--group", "ward"], "--group with --kind visitors"),
    ],
)
def test_what_means_nothing_of_a_table_is_refused_and_nothing_is_written(
    words: list[str], told: str, town: Town
) -> None:
    range_ = [] if words[1] in ("count", "above", "visitors") else ["--upper", "100"]
    range_ += [] if not range_ or "--lower" in words else ["--lower", "0"]
    assert told in drafted(town, *hospital(""), "--person", "patient", *range_, *words, code=2)["refused"]
    assert not Path("spec.toml").exists()


def test_ranges_are_asked_for_and_why_is_said(town: Town) -> None:
    words = ["--kind", "mean", "--person", "patient", "--column", "age"]
    refused = drafted(town, *hospital(""), *words, code=2)["refused"]
    assert "--lower is missing" in refused
    assert "the largest number is somebody's own" in refused
    assert (
        "public"
        in drafted(town, *hospital(""), "--kind", "count", "--person", "patient", "--group", "ward", code=2)["refused"]
    )


def test_at_a_terminal_a_table_is_asked_in_five_questions(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    hospital("")
    typed = ["count", "patient", "ward", "70,71", "max", "", "low", "1/10", "", "hospital"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    ended, _, err = town.run("init", "h.csv")
    assert ended == 0, err
    for question in (
        "What is asked?",
        "1. Who",
        "2. What is",
        "3. When",
        "4. What must never be wrong",
        "5. How much in all",
    ):
        assert question in err
    spec = tomllib.loads(Path("spec.toml").read_text("utf-8"))
    assert spec["query"] == {"kind": "count", "by": {"ward": ["70", "71"]}, "combine": "max"}
    assert (spec["protect"], "decide" in spec) == ({"notion": "addition-only", "epsilon": "1/10"}, False)


@pytest.mark.parametrize("kind", ["count", "histogram", "sum"])
@pytest.mark.parametrize("side", ["low", "high"])
def test_what_is_said_never_to_be_too_low_is_so_by_the_statement(kind: str, side: str, town: Town) -> None:
    number = [] if kind == "count" else ["--column", "age", "--lower", "0", "--upper", "100", "--step", "20"]
    drafted(town, *hospital(""), "--kind", kind, "--person", "patient", *number, "--never", side)
    (statement,) = json.loads(town.run("release", "spec.toml", "--dry-run", "--json")[1])
    told = f"No answer is {'below' if side == 'low' else 'above'} the exact one"
    assert any(told in sentence for sentence in statement["guaranteed"])


def test_at_a_terminal_the_sheet_is_asked_and_a_range_is_of_sums(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    workbook(Path("h.xlsx"), {"Notes": [["x"]], "Patients": [["patient", "age"], *([who, 7] for who, *_ in PATIENTS)]})
    typed = ["Patients", "sum", "", "", "sum", "0", "100", "", "", "", "1/2", "", ""]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    ended, _, err = town.run("init", "h.xlsx")
    assert ended == 0, err
    assert "h.xlsx has several sheets." in err
    assert "the greatest of all of somebody's numbers together" in err
    spec = tomllib.loads(Path("spec.toml").read_text("utf-8"))
    assert (spec["data"]["visits_table"], spec["query"]["combine"], spec["query"]["upper"]) == (
        "Patients",
        "sum",
        "100",
    )


def test_the_odds_are_those_near_the_threshold(town: Town) -> None:
    drafted(
        town, *hospital(""), *["--kind", "count", "--person", "patient", "--group", "ward", "--groups", "70", *SAFE]
    )
    assert "count there: 0: 0.99, 2: 0.95, 4: 0.63, 5: 0." in Path("spec.toml").read_text("utf-8")


ROWS_FIRST = {
    "a time": (["secret-1;pool;14.03.2026 18:30", "secret-2;pool;15.03.2026 18:30"], "in column 3 it holds a time"),
    "a number": (["secret-1;5.5", "secret-2;7.5"], "in column 2 it holds a number"),
    "what comes again": (["secret-1;pool", "secret-1;museum", "secret-2;pool"], "it holds in 2 columns of 2 stands"),
    "half of it comes again": (["secret-1;pool", "secret-1;museum", "x;lake"], "it holds in 1 column of 2 stands"),
    "a title": (
        ["Visits of secret-1", "user;venue;when", "secret-1;pool;2026-03-14", "secret-2;pool;2026-03-15"],
        "it names 1 column",
    ),
}


@pytest.mark.parametrize("case", ROWS_FIRST)
@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_first_row_that_names_no_columns_is_refused_and_not_shown(case: str, kind: str, town: Town) -> None:
    lines, told = ROWS_FIRST[case]
    if kind == "csv":
        Path("v.csv").write_text("\n".join(lines) + "\n", "utf-8")
    else:
        workbook(Path("v.xlsx"), {"v": [line.split(";") for line in lines]})
    refused = drafted(town, f"v.{kind}", "--kind", "count", "--person", "secret-1", "--never", "low", code=2)["refused"]
    assert told in refused
    assert "secret" not in refused
    assert not Path("spec.toml").exists()


def test_a_column_without_a_value_may_be_called_as_it_likes(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("meter,2026-03-14,12345\nm1,,\nm2,,\n")
    assert [one.name for one in detected(str(tmp_path / "m.csv")).columns] == ["meter", "2026-03-14", "12345"]


def test_years_and_months_may_name_columns(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("meter,2025,202601,1\nm1,5.5,40123,1\nm2,6.5,41234,2\nm3,7.5,42345,3\n")
    assert [one.name for one in detected(str(tmp_path / "m.csv")).columns] == ["meter", "2025", "202601", "1"]


def test_groups_that_nobody_has_listed_are_asked_for_of_some_rows(town: Town) -> None:
    words = [
        "--kind",
        "unlisted groups",
        "--person",
        "patient",
        "--group",
        "ward",
        "--keep",
        "ward=70, 71",
        "--never",
        "low",
    ]
    data = hospital("")[0]
    spec = drafted(town, data, *words)
    assert spec["query"] == {"kind": "unlisted groups", "by": "ward", "most_groups": 100}
    assert spec["data"]["keep"] == {"ward": ["70", "71"]}
    assert (spec["protect"]["groups_per_person"], spec["protect"]["delta"]) == (1, "1e-6")
    text = Path("spec.toml").read_text("utf-8")
    assert "How many people a group needs to be shown: 15 for certain; if not too many are." in text
    assert "must not be listed from the data" not in text
    found = json.loads(town.run("check", "spec.toml", "--json")[1])
    assert found["looks"][0]["not_counted"]["filtered"] == sum(row[1] not in (70, 71) for row in PATIENTS)
    Path("spec.toml").unlink()
    for slip, told in (("age", "COLUMN=VALUE"), ("years=1", "none of that name"), ("age=", "COLUMN=VALUE")):
        assert told in drafted(town, data, *words[:6], "--keep", slip, "--never", "low", code=2)["refused"]
    assert "in no list" in drafted(town, data, "wards.csv", *words, code=2)["refused"]


@pytest.mark.parametrize(
    ("upper", "written"),
    [
        ("10,5", "10.5"), ("0.500", "0.500"), ("12.5", "12.5"), (" 100 ", "100"), ("10.000", "Write 10000, or 10."),
        ("1,250", "Write 1250, or 1.25."), ("1.125", "Write 1125, or 1.1250."), ("1.1250", "1.1250"),
        ("10'000", "Write 10000, or 10."), ("1.000.000", "Write 1000000."),
    ],
)  # fmt: skip
def test_a_number_is_read_with_either_mark_unless_it_may_be_two_numbers(upper: str, written: str, town: Town) -> None:
    refused = written.startswith("Write")
    words = [
        "--kind",
        "mean",
        "--person",
        "patient",
        "--column",
        "age",
        "--lower=0",
        f"--upper={upper}",
        "--step",
        "0,0625",
    ]
    spec = drafted(town, *hospital(""), *words, code=2 if refused else 0)
    assert (
        written in spec["refused"]
        if refused
        else (spec["query"]["upper"], spec["query"]["step"]) == (written, "0.0625")
    )


def test_a_window_is_said_as_the_file_writes_times(town: Town) -> None:
    visits("v.csv", "%d.%m.%y %I:%M:%S %p")
    places("p.csv")
    for start, end, begin, until in (
        ("14.03.26 07:00:00 PM", "14.3.26 8:00:05 pm", "14T19:00", "14T20:00:05"),
        ("14.03.26 07:00:00 PM", "20:00", "14T19:00", "14T20:00"),
        ("14.03.26 01:15:00 AM", "9:30", "14T01:15", "14T09:30"),
        ("14.03.26", "15.03.26", "14T00:00", "15T00:00"),
        ("14.03.26 12:05:00 AM", "14.03.26 12:00:00 PM", "14T00:05", "14T12:00"),
    ):
        Path("spec.toml").unlink(missing_ok=True)
        window = drafted(town, "v.csv", "p.csv", *FLAGS[:2], "--start", start, "--end", end, *FLAGS[6:])["window"]
        assert window == {"start": f"2026-03-{begin}", "end": f"2026-03-{until}"}
    visits("w.csv", "%d.%m.%Y %H:%M:%S")
    ends = ["--start", "14.03.2026 19:00:00", "--end", "15.03.2026"]
    Path("spec.toml").unlink()
    window = drafted(town, "w.csv", "p.csv", *FLAGS[:2], *ends, *FLAGS[6:])["window"]
    assert window == {"start": "2026-03-14T19:00", "end": "2026-03-15T00:00"}
    refused = drafted(
        town, "v.csv", "p.csv", *FLAGS[:2], "--out", "x", "--start", "14.03.26", "--end", "31.02.26", *FLAGS[6:], code=2
    )
    assert "The window's end is" in refused["refused"]


def test_what_no_epsilon_mends_ends_the_draft(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    hospital("")
    typed = ["sum", "patient", "age", "sum", "1", "101", "2", "", "", "close"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    ended, _, err = town.run("init", "h.csv")
    assert (ended, Path("spec.toml").exists()) == (2, False)
    assert "numbers that are not whole steps from 0" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["h.csv", "h.csv", "--kind", "count", *SAFE], "it is the private table itself"),
        (["h.csv", "./link.csv", "--kind", "count", *SAFE], "it is the private table itself"),
        (["h.csv", "--kind", "count", "--never", "low", "--epsilon", "2", "--cap", "1"], "one release costs 2 already"),
        (["h.csv", "--kind", "count", "--never", "low", "--dataset", " "], "Give the data a public name"),
        (["h.csv", "--kind", "count", "--never", "low", "--out", "no/spec.toml"], "there is no such folder"),
    ],
)
def test_what_check_or_a_promise_would_not_bear_is_not_drafted(words: list[str], told: str, town: Town) -> None:
    hospital("")
    Path("link.csv").symlink_to("h.csv")
    assert told in drafted(town, *words, "--person", "patient", code=2)["refused"]
    assert not Path("spec.toml").exists()


def test_a_release_that_costs_more_than_the_usual_cap_has_a_cap_of_its_price(town: Town) -> None:
    hospital("")
    words = ["h.csv", "--kind", "count", "--never", "low", "--person", "patient", "--epsilon", "5"]
    assert drafted(town, *words)["budget"]["cap"] == "5"


def test_a_spec_that_is_cut_off_is_not_left_behind(town: Town) -> None:
    """Half of it may be a spec too; and it would be in the way of the next try."""
    hospital("")
    words = ["init", "h.csv", "--kind", "count", "--never", "low", "--person", "patient", "--out", "cut.toml"]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, limits[1]))
    try:
        code, _, err = town.run(*words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (code, "'cut.toml' cannot be written: File too large" in err) == (2, True), err
    assert not Path("cut.toml").exists()
    assert town.run(*words)[0] == 0


def test_what_toml_must_escape_is_escaped() -> None:
    names = {"visits": "a\x7fb.csv", "person": 'q"\\\n\x1f', "time": "é\u2028"}
    assert tomllib.loads(written({"data": names}))["data"] == names


def test_a_spec_whose_writing_is_killed_is_not_left_behind(town: Town) -> None:
    hospital("")
    words = ["init", "h.csv", "--kind", "count", "--never", "low", "--person", "patient", "--out", "cut.toml"]
    if (child := os.fork()) == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # the system kills it in the midst of a longer file
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        town.run(*words)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGXFSZ
    assert not Path("cut.toml").exists()
    assert town.run(*words)[0] == 0
    assert Path("cut.toml").read_text("utf-8").endswith("\n")
    assert not [*Path().glob(".leeward*")], "what the killed one left is swept"


def test_a_spec_is_never_written_over_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that came between the questions and the writing, and where the file system has no links."""

    def without(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    mine = tmp_path / "spec.toml"
    mine.write_text("mine")
    for _ in range(2):
        with pytest.raises(FileExistsError):
            write_new(mine, b"other")
        monkeypatch.setattr(os, "link", without)
    assert mine.read_text() == "mine"
    write_new(tmp_path / "new.toml", b"other")
    assert {path.name for path in tmp_path.iterdir()} == {"spec.toml", "new.toml"}
    assert (tmp_path / "new.toml").read_bytes() == b"other"


def test_a_name_that_no_spec_can_hold_is_refused(town: Town) -> None:
    hospital("")
    words = ["init", "h.csv", "--kind", "count", "--never", "low", "--person", "patient", "--dataset", "caf\udce9"]
    code, _, err = town.run(*words)
    assert (code, "--dataset: it is empty or not plain text" in err) == (2, True), err
    assert not Path("spec.toml").exists()


THOUSANDS = {"comma": ("1,250", "87,900", "900", "-2,000"), "point": ("1.250", "87.900", "900", "-2.000")}
MEAN = ["--kind", "mean", "--person", "who", "--column", "pay", "--lower", "-9000", "--upper", "99000"]


def pays(values: Sequence[str]) -> str:
    """Write a table of somebody's numbers, as texts; return its name."""
    Path("pay.csv").write_text("who,pay\n" + "".join(f'p{i},"{value}"\n' for i, value in enumerate(values)), "utf-8")
    return "pay.csv"


@pytest.mark.parametrize("mark", THOUSANDS)
def test_marks_that_may_stand_between_thousands_are_asked(mark: str, town: Town) -> None:
    """Numbers of up to 88,000 were read as up to 88, and their mean was about 44 and not 44,000."""
    file, other = pays(THOUSANDS[mark]), "point" if mark == "comma" else "comma"
    refused = drafted(town, file, *MEAN, code=2)["refused"]
    assert f"the {mark} before three digits may be a decimal mark, or stand between thousands" in refused
    assert "Save the table without" in drafted(town, file, *MEAN, "--decimal", other, code=2)["refused"]
    assert not Path("spec.toml").exists()
    assert drafted(town, file, *MEAN, "--decimal", mark)["data"].get("decimal") == {"comma": ","}.get(mark)


@pytest.mark.parametrize("mark", THOUSANDS)
def test_at_a_terminal_what_marks_mean_is_asked_and_nothing_is_read_wrong_unseen(
    mark: str, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pays(THOUSANDS[mark])
    for typed, code in (("", 2), (mark, 0)):
        monkeypatch.setattr("sys.stdin", Terminal(f"\n\n{typed}" + "\n" * 8))
        ended, _, err = town.run("init", file, *MEAN)
        assert (ended, "Which is the decimal one?" in err) == (code, True), err


@pytest.mark.parametrize(
    ("values", "decimal"),
    [
        (("1,250", "1250"), ","),  # who writes thousands apart would have written the second so, too
        (("0,125", "1,250"), ","),
        (("1,25", "1,250"), ","),
        (("1.250", "0.125"), None),
        (("1.250", "12.5"), None),
        (("1250.125", "1.250"), None),
        (("1250", "900"), None),
    ],
)
def test_marks_that_are_decimal_ones_are_not_asked_about(values: list[str], decimal: str | None, town: Town) -> None:
    assert drafted(town, pays(values), *MEAN)["data"].get("decimal") == decimal


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (("flat_rate", "salons"), None),  # they were drawn on a map as degrees
        (("latency", "longevity"), None),
        (("platform", "colon"), None),
        (("start_lat", "start_lng", "end_lat", "end_lng"), ("start_lat", "start_lng")),
        (("venueLat", "venueLon"), ("venueLat", "venueLon")),
        (("GEO_LAT", "GEO_LON"), ("GEO_LAT", "GEO_LON")),
        (("shop longitude", "shop latitude"), ("shop latitude", "shop longitude")),
    ],
)
def test_columns_that_hold_coordinates_are_words_of_their_names_and_told(
    names: Sequence[str], taken: tuple[str, str] | None, town: Town, capsys: pytest.CaptureFixture[str]
) -> None:
    visits("v.csv")
    rows = [",".join((venue, *[f"3{i}.5" for i in range(len(names))])) for venue in VENUES]
    Path("p.csv").write_text("\n".join([",".join(("venue", *names)), *rows]), "utf-8")
    ended, _, err = town.run("init", "v.csv", "p.csv", *FLAGS)
    spec = tomllib.loads(Path("spec.toml").read_text("utf-8"))["places"]
    assert (ended, spec.get("latitude"), spec.get("longitude")) == (0, *(taken or (None, None)))
    said = (
        "No coordinates were recognised" if taken is None else f"Latitude is '{taken[0]}', and longitude '{taken[1]}'."
    )
    assert said in err


def test_a_column_that_nobody_asks_for_may_hold_values_of_several_kinds(town: Town) -> None:
    """Notes in a spreadsheet are numbers, texts and times in turn; only one that is chosen must be of one kind."""
    rows = [[*row, i if i % 2 else "see below"] for i, row in enumerate(ROWS)]
    workbook(town.folder / "v.xlsx", {"A": [["user", "venue", "when", "note"], *rows]})
    workbook(town.folder / "p.xlsx", {"A": [["venue", "note"], *([v, i or "new"] for i, v in enumerate(VENUES))]})
    drafted(town, "v.xlsx", "p.xlsx", *FLAGS)
    ended, out, err = town.run("check", "spec.toml")
    assert (ended, f"counted      {INSIDE} rows" in out) == (0, True), out + err
    refused = drafted(town, "v.xlsx", "p.xlsx", *FLAGS, "--place", "note", "--out", "o.toml", code=2)["refused"]
    assert "The column 'note' of 'v.xlsx': it holds numbers in row 3, and texts before" in refused
    for asked in (["--keep", "note=1"], ["--listed", "note"]):
        assert "it holds" in drafted(town, "v.xlsx", "p.xlsx", *FLAGS, *asked, "--out", "o.toml", code=2)["refused"]


def test_a_property_that_nobody_asks_for_may_be_nested(town: Town) -> None:
    held = [
        {"user": u, "venue": v, "when": w.isoformat(), "tags": [u] if i % 2 else {}} for i, (u, v, w) in enumerate(ROWS)
    ]
    point = {"type": "Point", "coordinates": [139.7, 35.7]}
    features = [{"type": "Feature", "geometry": point, "properties": properties} for properties in held]
    (town.folder / "v.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    places("p.csv")
    assert drafted(town, "v.geojson", "p.csv", *FLAGS)["data"]["place"] == "venue"
    town.run("check", "spec.toml")
    refused = drafted(town, "v.geojson", "p.csv", *FLAGS, "--place", "tags", "--out", "o.toml", code=2)["refused"]
    assert "The column 'tags' of 'v.geojson': it holds values of the kind" in refused
