"""What comes out where something is wrong: no row of a table, no word of another language, no exit code without a reason.

Whole columns given for single arguments, files without a line of names, streams that are closed, full or no longer read, and
values of every wrong kind. Each is one of a class; the tables below go through the classes.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.deciding import decide_by
from tests.shown import canaries, commands
from tests.shown.canaries import OTHER, PERSON
from tests.shown.commands import House

import leeward as lw
import leeward.local.series as local
from leeward.cli import LeewardError

# ---- whole columns where one value is meant

WINDOW = {"start": "2031-07-19T13:00", "end": "2031-07-19T14:00"}


def _query(frame: pd.DataFrame) -> Any:
    visits = lw.visits(frame, person="person", place="place", time="at")
    return lw.count_visitors(visits, lw.places(canaries.listed(), place="place"), **WINDOW)


def _calls(frame: pd.DataFrame) -> dict[str, tuple[Callable[..., Any], dict[str, Any], set[str]]]:
    """Functions that meet tables; arguments that work; and which of these are lists of public values, or the table."""
    visits: dict[str, Any] = {"source": frame, "person": "person", "place": "place", "time": "at"}
    visits |= {"keep": {"other": ["x"]}, "timezone": "UTC"}
    listed = {"source": canaries.listed(), "place": "place", "name": "name"}
    box = {"west": 139.7, "south": 35.6, "east": 139.8, "north": 35.7, "metres": 1000}
    records = {"source": frame, "person": "person", "combine": "sum", "keep": {"other": ["x"]}}
    asked: dict[str, Any] = {"records": lw.records(frame, person="person"), "kind": "mean", "column": "number"}
    asked |= {"lower": 0, "upper": 9, "step": 1}
    grouped = {"records": asked["records"], "kind": "histogram", "by": {"place": ["market"]}}
    count = {
        "visits": lw.visits(**visits),
        "places": lw.places(canaries.listed(), place="place"),
    }
    plan = {
        "query": _query(frame),
        "notion": lw.AdditionOnly("1"),
        "decide": lw.Decide(safe_at_most=2, useful_from="0.01"),
        "stop_after": 1,
        "what": "counts",
    }
    plan |= {"mechanism": "sanitized"}
    budget = {"ledger": "b.db", "dataset": "d", "cap": "1", "version": "1", "notion": None}
    located: dict[str, Any] = {"box": (139.3, 35.3, 140.2, 36.1), "within": "200 m", "factor": 2}
    close: dict[str, Any] = {"between": "maximum", "within": "100 W", "factor": 2, "window": 6}
    watts = {"unit": "kW", "lower": "0 kW", "upper": "8 kW", "step": "1 W"}
    clock = {"start": "2031-07-19", "end": "2031-07-20", "every": "1 h", "zone": "UTC"}
    after: dict[str, Any] = {"smooth": 3, "clamp": True, "prior": [("1", "1")]}
    made = local.Closeness(**close), local.ReadingGrid(**watts), local.Schedule(**clock), local.PostProcessing(**after)
    series = dict(zip(("closeness", "grid", "schedule", "post_processing"), made, strict=True))
    series |= {"noise": "norm", "missing": "refuse"}
    beside: dict[str, Any] = {
        "places": 2,
        "releases": 2,
        "delta": "1e-6",
        "assumed_error": "0.1",
        "counted_in": "dp/person",
    }
    beside |= {"counts": {0: 1}, "left": 1}
    return {
        "visits": (lw.visits, visits, {"source", "keep"}),
        "places": (lw.places, listed, {"source"}),
        "grid": (lw.grid, box, set()),
        "records": (lw.records, records, {"source", "keep"}),
        "a mean": (lw.statistic, asked, set()),
        "a histogram": (lw.statistic, grouped, set()),
        "Kind": (lw.query.Kind, {"name": "mean", "p": None, "people": 40, "grid": 1}, set()),
        "Decide": (
            lw.Decide,
            {"safe_at_most": 2, "dangerous_at_least": 9, "error_at_most": "1/9", "left_out": 0},
            set(),
        ),
        "count_visitors": (lw.count_visitors, {**count, **WINDOW, "places_per_person": 1, "if_more": "latest"}, set()),
        "plan": (lw.plan, plan, set()),
        "Budget": (lw.Budget, budget, set()),
        "PlanarLaplace": (lw.PlanarLaplace, located, set()),
        "Closeness": (local.Closeness, close, set()),
        "ReadingGrid": (local.ReadingGrid, watts, set()),
        "Schedule": (local.Schedule, clock, set()),
        "PostProcessing": (local.PostProcessing, after, set()),
        "Series": (lw.Series, series, set()),
        "Scenario": (lw.planner.Scenario, beside, {"counts"}),
        "AdditionOnly": (lw.AdditionOnly, {"epsilon": "1"}, set()),
    }


COLUMNS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "a column of texts": lambda frame: frame["person"],
    "a column of numbers": lambda frame: frame["number"],
    "a column of times": lambda frame: frame["at"],
    "a table": lambda frame: frame,
    "an array": lambda frame: frame["number"].to_numpy(),
    "a list of texts": lambda frame: frame["other"].tolist(),
    "a list of numbers": lambda frame: frame["number"].tolist(),
    "a dictionary": lambda frame: {OTHER: PERSON},
    "bytes": lambda frame: OTHER.encode(),
}


LISTS = {"by": {"a dictionary"}, "p": {"a list of texts", "a list of numbers"}}
LISTS["left_out"] = LISTS["p"]
"""Values that may be lists: one that is given in just that form is shown, as the caller says that it is public."""


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("call", _calls(canaries.visits()))
def test_a_column_given_for_a_value_is_named_by_its_kind(
    call: str, column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = canaries.visits()
    function, given, public = _calls(frame)[call]
    for name in given:
        if name in public or column in LISTS.get(name, ()):
            continue  # lists that the caller says are public
        said = _said(lambda name=name: function(**{**given, name: COLUMNS[column](frame)}))
        assert canaries.found_in(said) == [], name


def _said(make: Callable[[], Any]) -> str:
    """All that is printed of what is made, or of why it is not."""
    try:
        return canaries.printed(make())
    except LeewardError as error:
        return canaries.everything_said(error)


def test_the_search_finds_a_column_that_is_repeated() -> None:
    for make in COLUMNS.values():
        assert canaries.found_in(canaries.everything_said(ValueError(f"{make(canaries.visits())!r} was given")))


# ---- files whose first line is data, and files that are broken

FRAME = canaries.visits()


def _asked(source: Any) -> Any:
    visits = lw.visits(source, person="person", place="place", time="at")
    query = lw.count_visitors(
        visits, lw.places(canaries.listed(), place="place"), **WINDOW, places_per_person=1, if_more="latest"
    )
    return lw.release(
        lw.plan(query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2)), lw.Budget("b.db", "town", "5", new=True)
    )


def _located(path: str) -> Any:
    from leeward.local import check_job

    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": path, "latitude": "lat", "longitude": "lon"},
        "box": {"west": 139.3, "south": 35.3, "east": 140.2, "north": 36.1},
        "protect": {"within": "200 m", "factor": "2"},
    }
    return check_job(given, folder=".").run(Path("o.csv"), lambda *_: None)


def _read(path: str) -> Any:
    from leeward.local import check_job

    given: dict[str, Any] = {
        "perturb": {"kind": "series"},
        "data": {"table": path, "meter": "meter", "time": "time", "value": "kw", "unit": "kW"},
        "time": {"start": "2031-07-19", "end": "2031-07-20", "every": "1 h"},
        "values": {"lower": "0 kW", "upper": "8 kW", "step": "1 W"},
        "protect": {"within": "100 W", "factor": "2", "window": 6},
    }
    return check_job(given, folder=".").run(Path("o.csv"), lambda *_: None)


BROKEN: dict[str, bytes] = {
    "no line of names": FRAME.to_csv(index=False, header=False).encode(),
    "semicolons and no names": FRAME.to_csv(index=False, header=False, sep=";").encode(),
    "one column": f"{OTHER}\n{PERSON}\n".encode(),
    "a zero byte": FRAME.to_csv(index=False).encode().replace(b"market", b"mar\x00ket\xff", 3),
    "UTF-16": FRAME.to_csv(index=False).encode("utf-16"),
    "an open quote": (FRAME.to_csv(index=False) + f'"{OTHER}').encode(),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_a_broken_csv_file_holds_is_not_repeated(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_bytes(BROKEN[broken])
    for ask in (_asked, _located, _read):
        with pytest.raises(LeewardError) as refused:
            ask("v.csv")
        assert canaries.found_in(canaries.everything_said(refused.value)) == [], ask
    assert canaries.files_with_canaries(tmp_path, {tmp_path / "v.csv"}) == {}


def test_a_name_of_a_csv_file_is_repeated_where_it_is_the_callers_own_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("Person ,place,at\np,market,2031-07-19T13:37:11\n")
    with pytest.raises(LeewardError, match="Did you mean 'Person '"):
        _asked("v.csv")


def test_the_text_of_a_table_is_no_path_and_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LeewardError, match="a text of several lines") as refused:
        _asked(FRAME.to_csv(index=False))
    assert canaries.found_in(canaries.everything_said(refused.value)) == []


def _refusal(source: Any) -> LeewardError | None:
    try:
        _asked(source)
    except LeewardError as error:
        return error
    return None


def test_a_parquet_file_with_flipped_bits_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FRAME.to_parquet("whole.parquet")
    whole, chance, refusals = Path("whole.parquet").read_bytes(), random.Random(1), 0
    for number in range(12):
        flipped = bytearray(whole)
        for _ in range(8):
            flipped[chance.randrange(4, len(whole) - 8)] ^= 1 << chance.randrange(8)
        Path("v.parquet").write_bytes(bytes(flipped) if number else whole[: len(whole) // 2])
        refused = _refusal("v.parquet")
        if refused is not None:
            refusals += 1
            assert canaries.found_in(canaries.everything_said(refused)) == []
    assert refusals >= 3


# ---- streams that are closed, full, or no longer read


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> House:
    return commands.house(tmp_path_factory.mktemp("town"))


def _shell(town: House, line: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-o", "pipefail", "-c", line, "bash", sys.executable, "-m", "leeward", *words]
    return subprocess.run(command, cwd=town.folder, capture_output=True, text=True, check=False, timeout=100)


RELEASE = ("release", "release.toml", "--new-budget", "--out")


@pytest.mark.sweep
def test_what_is_for_the_curator_is_not_on_stdout_where_stderr_is_closed(town: House) -> None:
    seen = _shell(town, '"$@"', *RELEASE, "told")
    assert "For the curator only" in seen.stderr
    seen = _shell(town, 'rm budget.db*; "$@" 2>&-', *RELEASE, "closed")
    assert seen.returncode == 0
    assert "for the curator" not in seen.stdout.lower()
    assert "not counted" not in seen.stdout
    assert "Opened" not in seen.stdout
    assert _shell(town, '"$@" 2>&-', "release", "none.toml", "--dry-run").stdout == ""


def test_nobody_is_asked_where_stdin_is_closed(town: House) -> None:
    seen = _shell(town, 'rm -f budget.db*; "$@" <&-', "release", "release.toml", "--out", "asked")
    assert (seen.returncode, seen.stdout) == (2, "")
    assert "say --yes" in seen.stderr


@pytest.mark.sweep
@pytest.mark.parametrize(
    "words",
    [(*RELEASE, "unread"), ("release", "release.toml", "--dry-run"), ("--help",), ("plan", "release.toml")],
)
def test_a_reader_that_has_gone_is_no_failure(words: tuple[str, ...], town: House) -> None:
    seen = _shell(town, 'rm -f budget.db*; "$@" | true', *words)
    assert seen.returncode == 0, seen.stderr
    assert "leeward:" not in seen.stderr
    assert "Traceback" not in seen.stderr
    if "unread" in words:
        assert (town.folder / "unread" / "release.json").exists()
        assert "Opened a new budget" in seen.stderr, "what follows is done and said all the same"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("words", [(), ("--help",), ("release", "--help"), ("budget",)])
def test_help_on_a_full_disk_is_no_defect(words: tuple[str, ...], town: House) -> None:
    seen = _shell(town, '"$@" >/dev/full', *words)
    assert seen.returncode == 2
    assert "standard output cannot be written: No space left on device" in seen.stderr
    assert "please report it" not in seen.stderr


@pytest.mark.parametrize("columns", ["1", "10", "20"])
def test_a_narrow_terminal_leaves_nothing_out(columns: str, town: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def letters(text: str) -> str:
        return re.sub(r"\s", "", text)

    town.run(town.commands["release"])
    for words in (town.commands["budget show"], town.commands["release --dry-run"]):
        monkeypatch.setenv("COLUMNS", "60")
        wide = town.run(words)[1]
        monkeypatch.setenv("COLUMNS", columns)
        assert letters(town.run(words)[1]) == letters(wide)
        assert "…" not in wide


# ---- values of a wrong kind


def _edited(town: House, spec: str, old: str, new: str) -> str:
    text = (town.folder / f"{spec}.toml").read_text("utf-8")
    assert old in text
    (town.folder / "edited.toml").write_text(text.replace(old, new), "utf-8")
    return "edited.toml"


WRONG: dict[str, tuple[str, ...]] = {
    "too many places": ("plan", "release.toml", "--counts", "0:99999999999999999999999"),
    "digits without end": ("plan", "release.toml", "--counts", f"0:{'9' * 5000}"),
    "counts that are not text": ("plan", "release.toml", "--counts", "data/visits.parquet"),
    "counts that are a folder": ("plan", "release.toml", "--counts", "data"),
    "an offset for windows without": ("monitor", "monitor.toml", "--out", "m", "--until", "2026-01-01T20:00:00+09:00"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_option_is_told_in_one_line(wrong: str, town: House) -> None:
    code, out, err = town.run([*WRONG[wrong]])
    assert (code, out) == (2, "")
    assert err.startswith("leeward: ")
    assert err.count("\n") == 1
    assert not (town.folder / "m").exists()


@pytest.mark.parametrize(("grid", "good"), [("1e400", False), ("13", False), ("12", True), ("1/2", True)])
def test_a_mean_on_a_grid_without_two_points_in_its_bounds_is_refused(grid: str, good: bool, town: House) -> None:
    spec = _edited(town, "mean", '"upper" = "12"', f'"upper" = "12"\n"grid" = "{grid}"')
    code, _, err = town.run(["release", spec, "--dry-run"])
    assert code == (0 if good else 2)
    assert good or "fewer than two of its points lie within these bounds" in err


KINDS: dict[tuple[str, str], dict[str, str]] = {
    ("release", '"visits" = "data/visits.parquet"'): {"1": "", "{a = 1}": "", "true": "", "[1]": "in quotation marks"},
    ("release", '"person" = "user"'): {"1": "in quotation marks", '["user"]': "in quotation marks"},
    ("release", '"keep" = {"note" = ["x", "market"]}'): {
        '"x"': "not a table",
        "3": "not a table",
        '{"note" = "x"}': "not a list",
    },
    ("release", '"safe_at_most" = 2'): dict.fromkeys(('"2"', "[2]", "true"), "not a whole number"),
    ("release", '"if_more" = "latest"'): {'"last"': "Known: 'refuse', 'first', 'latest' or 'earliest'", "1": "Known"},
    ("release", '"start" = "2026-01-01T18:00:00"'): {"5": "", "true": "", "12:00:00": ""},
    ("release", '"epsilon" = "1"'): {"[1]": "a list was given", "2026-01-01": "2026-01-01 was given", "{}": "a dict"},
    ("location-csv", '"west" = 139.3'): {'"139"': "", "[]": ""},
    ("series-csv-totals", '"window" = 6'): {'"6"': "not a whole number", "[6]": "not a whole number"},
}


@pytest.mark.parametrize(("spec", "line"), KINDS)
def test_a_key_of_another_kind_is_told_in_the_words_of_the_spec(spec: str, line: str, town: House) -> None:
    key = line.split(" = ")[0]
    for value, expected in KINDS[spec, line].items():
        made = _edited(town, spec, line, f"{key} = {value}")
        code, out, err = town.run(["perturb" if "-" in spec else "release", made, "--dry-run"])
        assert (code, out) == (2, ""), (value, out, err)
        assert err.count("\n") == 1
        assert expected in err, (value, err)
        foreign = re.search(r"nput should|dictionary|datetime\.|valid (string|integer|number)|NoneType|<class", err)
        assert foreign is None, (value, err)


# ---- one place


def test_one_place_and_one_person_are_said_so(tmp_path: Path) -> None:
    frame = pd.DataFrame({"p": list("abcd"), "v": "hall", "t": pd.Timestamp("2026-01-01T18:30")})
    query = lw.count_visitors(
        lw.visits(frame, person="p", place="v", time="t"),
        lw.places(pd.DataFrame({"v": ["hall"]}), place="v"),
        start="2026-01-01T18:00",
        end="2026-01-01T19:00",
        places_per_person=1,
    )
    budget = lw.Budget(tmp_path / "b.db", "town", "9", new=True)
    asked = {"safe_at_most": 1, "dangerous_at_least": 2, "error_at_most": "0.1"}
    result = lw.release(decide_by(lw.plan, query, lw.UnboundedDP("4"), **asked), budget)  # type: ignore[arg-type]
    said = str(result)
    assert "at the one public place from" in said
    assert "at most 1 person was there" in said
    assert "over all 1 place, at most 0.1" in said
    assert not re.search(r"\b1 (people|places|public places)\b|1 person were", said)
