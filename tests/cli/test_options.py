"""Every option of the command has an effect, and every command ends as it says when it is interrupted."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from tests.private_files import write_private
from tests.session.conftest import Town
from tests.workbooks import workbook

from leeward.cli import app
from leeward.errors import InputError
from leeward.version import __version__

HOURLY = ("end = 2026-01-01T19:00:00", 'end = 2026-01-01T20:30:00\nevery = "1h"')
STOPPING = [
    HOURLY, ('places_per_person = 1\nif_more = "latest"\n', ""), ('what = "counts"', 'mechanism = "sanitized"'),
    ("safe_at_most = 2", "safe_at_most = 60"),
]  # fmt: skip
PLACED = """
[perturb]
kind = "location"
[data]
table = "visits.parquet"
latitude = "lat"
longitude = "lon"
[box]
west = 139.0
south = 35.0
east = 140.0
north = 36.0
[protect]
within = "200 m"
factor = "2"
"""


@pytest.fixture
def town(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """Three places with a person each, one who comes two hours later, and a spec."""
    made = Town(tmp_path, capsys)
    venues = ["v0", "v1", "v2"]
    times = [*["2026-01-01T18:30"] * 3, "2026-01-01T20:15"]  # of hours without a row the last might not be loaded
    visits = pd.DataFrame({"user": list("abcd"), "venue": [*venues, "v0"], "at": pd.to_datetime(times)})
    visits.assign(lat=35.5, lon=139.5).to_parquet(tmp_path / "visits.parquet")
    listed = pd.DataFrame({"venue": venues, "name": venues, "lat": 35.6, "lon": [139.7, 139.8, 139.9]})
    listed.to_parquet(tmp_path / "places.parquet")
    made.spec()
    return made


def ran(town: Town, *words: str | Path) -> tuple[str, str]:
    """What a command that ends well prints on stdout and stderr."""
    code, out, err = town.run(*words)
    assert code == 0, err
    return out, err


def told(town: Town, *words: str | Path) -> Any:
    return json.loads(ran(town, *words)[0])


# ---- one function an option; its name is the option's


def release_spec(town: Town) -> None:
    ran(town, "release", town.spec(("safe_at_most = 2", "safe_at_most = 5")), "--out", town.out)
    assert json.loads((town.out / "release.json").read_text())["decision"]["safe_at_most"] == 5


def release_out(town: Town) -> None:
    for short, name in (("--out", "one"), ("-o", "two")):
        ran(town, "release", town.spec(), short, town.folder / name)
        assert (town.folder / name / "answers.parquet").exists()
    assert town.run("release", town.spec())[0] == 2


def release_dry_run(town: Town) -> None:
    out, _ = ran(town, "release", town.spec(HOURLY), "--dry-run")
    assert "3 windows, one release each." in out
    assert "Price: 3 in all." in out
    assert not (town.folder / "budget.db").exists()
    assert len(told(town, "release", town.spec(HOURLY), "--dry-run", "--json")) == 3


def release_formats(town: Town) -> None:
    ran(town, "release", town.spec(), "-o", town.out, "--formats", "croissant")
    assert (town.out / "croissant.json").exists()
    assert not (town.out / "opendp-registry.yaml").exists()


def release_quiet(town: Town) -> None:
    assert ran(town, "release", town.spec(), "-o", town.out, "--quiet") == ("", "")
    assert ran(town, "release", town.spec(), "-o", town.out)[0]
    assert ran(town, "release", town.spec(), "-o", town.out, "-q") == ("", "")
    assert ran(town, "release", town.spec(HOURLY), "--dry-run", "--quiet") == ("", "")
    assert len(told(town, "release", town.spec(HOURLY), "--dry-run", "--quiet", "--json")) == 3


def release_as_json(town: Town) -> None:
    found = told(town, "release", town.spec(), "-o", town.out, "--json")
    assert found["releases"][0]["places"] == 3
    assert found["budget"] == {
        "dataset": "town",
        "notion": "addition-only/person",
        "cap": "5",
        "spent": "1",
        "cap_delta": "0",
        "spent_delta": "0",
        "left_delta": "0",
        "left": "4",
    }


def release_yes(town: Town) -> None:
    spec = town.spec()
    assert town.run("release", spec, "-o", town.out, "--ask")[0] == 2  # nobody is there to be asked
    ran(town, "release", spec, "-o", town.out, "--yes")
    ran(town, "release", spec, "-o", town.out, "-y")


def release_new_budget(town: Town) -> None:
    ran(town, "release", town.spec(), "-o", town.out, "--yes")
    alike = town.spec(('dataset = "town"', 'dataset = "other"'))
    assert town.run("release", alike, "-o", town.out, "--yes")[0] == 2  # the same content, charged already
    ran(town, "release", alike, "-o", town.out, "--new-budget")


def release_if_doubtful(town: Town) -> None:
    spec = town.spec(("T18:00", "T08:00"), ("T19:00", "T09:00"))  # when nobody is anywhere
    for more in ([], ["--if-doubtful", "refuse"]):
        code, _, err = town.run("release", spec, "-o", town.out, *more)
        assert (code, "None of the 4 rows would count" in err) == (2, True)
    ran(town, "release", spec, "-o", town.out, "--if-doubtful", "publish")


def release_accept_useless(town: Town) -> None:
    spec = town.spec(("places_per_person = 1", "places_per_person = 4"))  # of three places
    assert "--accept-useless" in town.run("release", spec, "-o", town.out)[2]
    ran(town, "release", spec, "-o", town.out, "--accept-useless")


def monitor_accept_useless(town: Town) -> None:
    listed = pd.DataFrame({"venue": [f"v{i}" for i in range(200)], "name": "x", "lat": 35.6, "lon": 139.7})
    listed.to_parquet(town.folder / "places.parquet")
    spec = town.spec(*STOPPING[:-1], ("safe_at_most = 2", "safe_at_most = 0"), ('epsilon = "1"', 'epsilon = "1/10"'))
    assert "of 200 places before it stops" in town.run("monitor", spec, "-o", town.out)[2]
    ran(town, "monitor", spec, "-o", town.out, "--accept-useless")


def monitor_if_doubtful(town: Town) -> None:
    spec = town.spec(("T18:00", "T08:00"), (HOURLY[0], HOURLY[1].replace("T20", "T10")), *STOPPING[1:])
    assert town.run("monitor", spec, "-o", town.out)[0] == 2
    ran(town, "monitor", spec, "-o", town.out, "--if-doubtful", "publish")


def monitor_yes(town: Town) -> None:
    ran(town, "monitor", town.spec(*STOPPING), "-o", town.out, "--yes")


def monitor_new_budget(town: Town) -> None:
    ran(town, "monitor", town.spec(*STOPPING), "-o", town.out, "--new-budget")


def monitor_spec(town: Town) -> None:
    assert town.run("monitor", town.spec(HOURLY), "-o", town.out)[0] == 2  # not the sanitized mechanism
    ran(town, "monitor", town.spec(*STOPPING), "-o", town.out)


def monitor_formats(town: Town) -> None:
    ran(town, "monitor", town.spec(*STOPPING), "-o", town.out, "--formats", "opendp-registry")
    assert len([*town.out.glob("*/opendp-registry.yaml")]) == 3
    assert not [*town.out.glob("*/croissant.json")]


def monitor_out(town: Town) -> None:
    ran(town, "monitor", town.spec(*STOPPING), "--out", town.out)
    starts = ["2026-01-01T18-00-00", "2026-01-01T19-00-00", "2026-01-01T20-00-00"]
    assert sorted(path.name for path in town.out.iterdir() if path.is_dir()) == starts


def monitor_until(town: Town) -> None:
    spec = town.spec(*STOPPING)
    for until, asked in (("2026-01-01T18:59:59", 0), ("2026-01-01T19:00:00", 1), ("2026-01-01T20:29:00", 2)):
        out, _ = ran(town, "monitor", spec, "-o", town.folder / f"until-{asked}", "--until", until)
        assert out.count(" safe; charged") == asked
        assert ("The first window is not over yet" in out) == (asked == 0)
    last = told(town, "monitor", spec, "-o", town.folder / "all", "--until", "2026-01-01T20:30:00", "--json")
    assert last["windows"][-1]["window"]["end"] == "2026-01-01T20:30:00"  # cut at the end of the span


def monitor_quiet(town: Town) -> None:
    assert ran(town, "monitor", town.spec(*STOPPING), "-o", town.out, "-q") == ("", "")


def monitor_as_json(town: Town) -> None:
    found = told(town, "monitor", town.spec(*STOPPING), "-o", town.out, "--json")
    assert (len(found["windows"]), found["stops"], found["stopped"], found["spent"]) == (3, 0, False, "0")


def perturb_spec(town: Town) -> None:
    assert "log(2)/202" in ran(town, "perturb", placed(town), "--dry-run", "--json")[0]
    assert "log(2)/303" in ran(town, "perturb", placed(town, ("200 m", "300 m")), "--dry-run", "--json")[0]


def perturb_out(town: Town) -> None:
    ran(town, "perturb", placed(town), "--out", town.folder / "o.parquet")
    assert (town.folder / "o.parquet.release.json").exists()
    assert town.run("perturb", placed(town))[0] == 2


def perturb_dry_run(town: Town) -> None:
    (town.folder / "visits.parquet").unlink()
    assert "Nothing was read, drawn or charged." in ran(town, "perturb", placed(town), "--dry-run")[0]


def perturb_attack(town: Town) -> None:
    him = '[attacker]\ntable = "places.parquet"\nlatitude = "lat"\nlongitude = "lon"\nreports = [1]\n[protect]'
    spec, out = placed(town, ("[protect]", him)), town.folder / "o.parquet"
    ran(town, "perturb", spec, "--out", out)
    shown, notes = ran(town, "perturb", spec, "--attack", out)
    assert (shown, notes.count("for the curator only: after")) == ("", 2)
    assert town.run("perturb", spec, "--attack", out, "--json")[0] == 2
    assert town.run("perturb", spec, "--attack", out, "--out", town.folder / "p.parquet")[0] == 2
    assert town.run("perturb", placed(town), "--attack", out)[0] == 2


def perturb_quiet(town: Town) -> None:
    assert ran(town, "perturb", placed(town), "-o", town.folder / "o.parquet", "-q") == ("", "")
    assert ran(town, "perturb", placed(town), "--dry-run", "--quiet") == ("", "")


def perturb_as_json(town: Town) -> None:
    assert told(town, "perturb", placed(town), "-o", town.folder / "o.parquet", "--json")["rows"] == 4


def charged(town: Town) -> Path:
    write_private(town.folder / "people.key", bytes(range(32)))
    kept = '[budget]\nstore = "people.db"\nsecret = "people.key"\nreports_a_day = 9\n'
    return placed(town, ('table = "visits', 'person = "user"\ntable = "visits'), ("[protect]", kept + "[protect]"))


def perturb_yes(town: Town) -> None:
    for word in ("--yes", "-y"):
        assert town.run("perturb", charged(town), "-o", town.folder / "o.parquet")[0] == 2
        ran(town, "perturb", charged(town), "-o", town.folder / "o.parquet", word)
        (town.folder / "people.db").unlink()


def perturb_new_budget(town: Town) -> None:
    (town.folder / "people.db").touch()
    assert town.run("perturb", charged(town), "-o", town.folder / "o.parquet", "--yes")[0] == 2
    ran(town, "perturb", charged(town), "-o", town.folder / "o.parquet", "--new-budget")


def check_spec(town: Town) -> None:
    found = told(town, "check", town.spec(("start = 2026-01-01T18:00:00", "start = 2026-01-01T18:15:00")), "--json")
    assert found["looks"][0]["window"]["start"] == "2026-01-01T18:15:00"


def check_accept_useless(town: Town) -> None:
    spec = town.spec(('epsilon = "1"', 'epsilon = "1/1000"'))
    assert town.run("check", spec)[0] == 2
    ran(town, "check", spec, "--accept-useless")


def check_as_json(town: Town) -> None:
    assert told(town, "check", town.spec(), "--json")["for_the_curator_only"] is True
    assert ran(town, "check", town.spec())[0].startswith("For the curator only")


def init_spec(town: Town, *words: str) -> dict[str, Any]:
    """A spec that is drafted with some more options than those that somebody must be asked for."""
    base = ["--person", "user", "--start", "2026-01-01T18:00", "--end", "2026-01-01T19:00", "--never", "safe"]
    ran(
        town,
        "init",
        town.folder / "visits.parquet",
        town.folder / "places.parquet",
        "-o",
        town.folder / "o",
        *base,
        *words,
    )
    made: dict[str, Any] = tomllib.loads((town.folder / "o").read_text("utf-8"))
    (town.folder / "o").unlink()
    return made


def init_option(option: str, value: str, section: str, key: str) -> Callable[[Town], None]:
    """A row of an option that is a key of the spec."""

    def row(town: Town) -> None:
        assert str(init_spec(town, f"--{option}", value)[section][key]) == value

    return row


def init_public(town: Town) -> None:
    assert init_spec(town)["places"] == {
        "table": "places.parquet", "place": "venue", "latitude": "lat", "longitude": "lon", "name": "name"
    }  # fmt: skip


def init_out(town: Town) -> None:
    assert init_spec(town)["data"]["visits"] == "visits.parquet"


def init_grid(town: Town) -> None:
    pd.read_parquet(town.folder / "visits.parquet").assign(lat=35.5, lon=139.5).to_csv(
        town.folder / "v.csv", index=False
    )
    words = [
        "--person",
        "user",
        "--start",
        "2026-01-01",
        "--end",
        "2026-01-02",
        "--never",
        "safe",
        "-o",
        town.folder / "o",
    ]
    ran(town, "init", town.folder / "v.csv", *words, "--grid", "139,35,140,36,5000")
    assert tomllib.loads((town.folder / "o").read_text("utf-8"))["places"]["grid"]["metres"] == 5000


def init_asked(option: str, value: str, key: str, said: Any, kind: str = "mean") -> Callable[[Town], None]:
    """A row of an option that is a key of [query]."""

    def row(town: Town) -> None:
        pd.DataFrame({"who": ["a", "b"], "kwh": [1, 2], "ward": ["x", "y"]}).to_parquet(town.folder / "m.parquet")
        words = {
            "--kind": kind,
            "--person": "who",
            "--column": "kwh",
            "--lower": "0",
            "--upper": "9",
            "-o": town.folder / "o",
        }
        words |= {"--group": "ward", "--groups": "x"} if option in ("group", "groups") else {}
        words |= {"--p": "5"} if kind == "percentile" else {}
        words = (
            {"--kind": kind, "--person": "who", "--column": "kwh", "--never": "safe", "-o": town.folder / "o"}
            if kind == "above"
            else words
        )
        words |= {f"--{option}": value}
        ran(town, "init", town.folder / "m.parquet", *(each for pair in words.items() for each in pair))
        assert tomllib.loads((town.folder / "o").read_text("utf-8"))["query"][key] == said

    return row


def init_decimal(town: Town) -> None:
    (town.folder / "pay.csv").write_text('who,pay\na,"1,250"\n', "utf-8")
    words = ["--kind", "mean", "--person", "who", "--column", "pay", "--lower", "0", "--upper", "9"]
    ran(town, "init", town.folder / "pay.csv", *words, "--decimal", "comma", "-o", town.folder / "o")
    assert tomllib.loads((town.folder / "o").read_text("utf-8"))["data"]["decimal"] == ","


def init_keep(town: Town) -> None:
    assert init_spec(town, "--keep", "venue=v1,v2", "--keep", "user=u1")["data"]["keep"] == {
        "venue": ["v1", "v2"],
        "user": ["u1"],
    }


def init_never(town: Town) -> None:
    assert init_spec(town, "--never", "neither")["protect"]["notion"] == "dp"


def init_sheet(town: Town) -> None:
    words = [
        "--person",
        "user",
        "--start",
        "2026-01-01",
        "--end",
        "2026-01-02",
        "--never",
        "safe",
        "-o",
        town.folder / "o",
    ]
    sheets = {"a": [["x"]], "b": [["user", "venue", "at"], ["p", "v1", "2026-01-01"]], "c": [["venue"], ["v1"]]}
    workbook(town.folder / "b.xlsx", sheets)
    both = [town.folder / "b.xlsx", town.folder / "b.xlsx", "--sheet", "b", "--list-sheet", "c"]
    ran(town, "init", *both, *words)
    made = tomllib.loads((town.folder / "o").read_text("utf-8"))
    assert (made["data"]["visits_table"], made["places"]["places_table"]) == ("b", "c")


def plan_spec(town: Town) -> None:
    asked = told(town, "plan", town.spec(("safe_at_most = 2", "safe_at_most = 5")), "--json")["asked"]
    assert asked["safe_at_most"] == 5


def plan_counts(town: Town) -> None:
    found = told(town, "plan", town.spec(), "--counts", "0:2,4:1", "--json")
    assert found["asked"]["counts"] == {"0": 2, "4": 1}
    assert found["options"][0]["expected"]["truly_safe"] == 2
    assert told(town, "plan", town.spec(), "--json")["options"][0]["expected"] is None


def plan_safe_at(town: Town) -> None:
    found = told(town, "plan", town.spec(), "--safe-at", "2:0.5", "--json")
    assert found["asked"]["wish"] == {"count": 2, "probability": "0.5"}
    wished = float(Fraction(found["options"][0]["epsilon_for_wish"]["epsilon"]))
    assert wished == pytest.approx(0.694, abs=0.001)  # 1 − e^−ε = 1/2 at ε = ln 2 = 0.6931, in thousandths


def plan_releases(town: Town) -> None:
    assert told(town, "plan", town.spec(HOURLY), "--json")["asked"]["releases"] == 3  # one a window
    found = told(town, "plan", town.spec(), "--releases", "7", "--json")
    assert found["asked"]["releases"] == 7
    assert found["options"][0]["composed"]["price"] == "7"


def plan_delta(town: Town) -> None:
    worst = [
        max(option["composed"]["epsilon_at_delta"].values())
        for delta in ("1e-9", "1e-2")
        for option in told(town, "plan", town.spec(), "--releases", "7", "--delta", delta, "--json")["options"][:1]
    ]
    assert worst[0] > worst[1]


def plan_error(town: Town) -> None:
    found = told(town, "plan", town.spec(), "--assumed-error", "0.02", "--json")
    dp = next(option for option in found["options"] if option["notion"]["name"] == "dp")
    assert dp["error_at_most"] == "1/50"


def plan_html(town: Town) -> None:
    ran(town, "plan", town.spec(), "--html", town.folder / "plan.html")
    assert "What could be released" in (town.folder / "plan.html").read_text()


def plan_quiet(town: Town) -> None:
    assert ran(town, "plan", town.spec(), "-q") == ("", "")


def plan_as_json(town: Town) -> None:
    assert "options" in told(town, "plan", town.spec(), "--json")


def papers_full(town: Town) -> None:
    assert [stub(town, "papers", "leeward.papers", "recompute", *more)[0][0] for more in ([], ["--full"])] == [
        False,
        True,
    ]


def papers_visits(town: Town) -> None:
    def given(*more: str | Path) -> list[Any]:
        return stub(town, "papers", "leeward.papers", "recompute", *more)[0][1]

    visits = town.folder / "visits.parquet"
    assert given() == []
    (found,) = given("--visits", visits, "--columns", "user,venue,at")
    assert (found.path, found.person, found.place, found.time) == (visits, "user", "venue", "at")


papers_columns = papers_visits


def papers_categories(town: Town) -> None:
    def given(*more: str | Path) -> list[Any]:
        columns = "user,venue,at,state,kind"
        return stub(
            town,
            "papers",
            "leeward.papers",
            "recompute",
            "--visits",
            town.folder / "visits.parquet",
            "--columns",
            columns,
            *more,
        )[0][1]

    (found,) = given()
    assert (found.columns, found.categories) == (("user", "venue", "at", "state", "kind"), (3, 4, 5, 6, 7))
    (found,) = given("--categories", "1, 2")
    assert found.categories == (1, 2)


class NothingFound:
    """What recomputing the papers would give, if there were none."""

    claims = figures = moved = ()
    seconds: Mapping[str, float] = {}

    def tally(self) -> dict[str, int]:
        return {}

    def to_dict(self) -> dict[str, int]:
        return {"a": 1}


def papers_out(town: Town) -> None:
    found, written = NothingFound(), list[Any]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("leeward.papers"), "recompute", lambda *_: found)
        module = importlib.import_module("leeward.papers._recompute")
        patch.setattr(module, "write_into", lambda place, given: written.append((given, place.shown)) or place.shown)
        patch.chdir(town.folder)
        ran(town, "papers", "--out", town.out)
        assert written == [(found, town.out)]
        assert ran(town, "papers")[0]
        assert ran(town, "papers", "-q") == ("", "")
        assert told(town, "papers", "--json") == {"a": 1}


papers_quiet = papers_out
papers_as_json = papers_out


def demo_out(town: Town) -> None:
    for more in ([], ["--quiet"], ["--json"]):
        plans, budget, out, *_ = published = stub(
            town, "demo", "leeward.cli._release", "publish", "--out", town.out, "--city", town.folder / "city", *more
        )
        assert out == town.out
        assert published[-1] == {"quiet": "--quiet" in more, "as_json": "--json" in more}
        assert Path(budget.ledger).parent == town.folder / "city"
        assert len(plans) == 1


demo_city = demo_quiet = demo_as_json = demo_out


def demo_seed(town: Town) -> None:
    made = []
    for seed in ("1", "2", "1"):
        city = town.folder / f"city-{len(made)}"
        stub(town, "demo", "leeward.cli._release", "publish", "--city", city, "--seed", seed)
        made.append(pd.concat(pd.read_parquet(path) for path in sorted(city.glob("visits*.parquet"))))
    assert made[0].equals(made[2])
    assert not made[0].equals(made[1])
    code, _, refused = town.run("demo", "--out", town.out, "--city", town.folder / "below", "--seed", "-1")
    assert (code, (town.folder / "below").exists()) == (2, False)
    assert "The seed -1: it is below 0" in refused


def budget_ledger(town: Town) -> None:
    ran(town, "release", town.spec(), "-o", town.out)
    ran(town, "release", town.spec(('dataset = "town"', 'dataset = "other"')), "-o", town.out, "--new-budget")
    ledger = town.folder / "budget.db"
    for name, rows in (("show", "budgets"), ("history", "entries")):
        both = {row["dataset"] for row in told(town, "budget", name, "-l", ledger, "--json")[rows]}
        assert both == {"town", "other"}
        one = {row["dataset"] for row in told(town, "budget", name, "--ledger", ledger, "-d", "town", "--json")[rows]}
        assert one == {"town"}
        assert "other" not in ran(town, "budget", name, "-l", ledger, "--dataset", "town")[0]
    ran(town, "budget", "check", "--ledger", ledger)
    assert town.run("budget", "new-key", "--ledger", ledger)[0] == 2  # the key is not lost
    ran(town, "budget", "check", "--ledger", ledger, "--json")
    older = ledger.read_bytes()
    ran(town, "budget", "set-cap", "--ledger", ledger, "town", "17/2")
    caps = {row["dataset"]: row["cap"] for row in told(town, "budget", "show", "-l", ledger, "--json")["budgets"]}
    assert caps == {"town": "17/2", "other": "5"}
    ran(town, "budget", "set-cap", "--ledger", ledger, "town", "--delta", "1e-6")
    caps = {row["dataset"]: row["cap_delta"] for row in told(town, "budget", "show", "-l", ledger, "--json")["budgets"]}
    assert caps == {"town": "1/1000000", "other": "0"}
    assert "cap_delta" in ran(town, "budget", "show", "--ledger", ledger)[0]
    assert town.run("budget", "set-cap", "--ledger", ledger, "town")[0] == 2  # neither of the two
    code, out, err = town.run("budget", "accept-restored", "--ledger", ledger)
    assert (code, out) == (2, "")
    assert "nothing was restored or lost" in err
    for name in ("show", "history"):
        code, out, err = town.run("budget", name, "--ledger", ledger, "--dataset", "twon")
        assert (code, out) == (2, "")
        assert "Did you mean 'town'?" in err
    ledger.write_bytes(older)
    assert "Accepted" in ran(town, "budget", "accept-restored", "--ledger", ledger)[0]
    assert told(town, "budget", "history", "-l", ledger, "--json")["entries"][-1]["kind"] == "accepted-restored"
    for name in ("show", "history", "check"):
        assert town.run("budget", name, "--ledger", town.folder / "none.db")[0] == 2


def budget_move(town: Town) -> None:
    """The move itself is in tests/ledger/test_moving.py; here, what is refused, and that nothing moved then."""
    ran(town, "release", town.spec(), "-o", town.out)
    ledger = town.folder / "budget.db"
    for to, says in (
        ("other.db", "not the address of a PostgreSQL database"),
        ("postgresql://me:sesame@host/b", "holds a password"),
        ("postgresql://127.0.0.1:1/b", "not reached"),
    ):
        code, out, err = town.run("budget", "move", "--ledger", ledger, "--to", to)
        assert (code, out) == (2, "")
        assert says in err
        assert "sesame" not in err
    assert town.run("budget", "move", "--ledger", town.folder / "none.db", "--to", "postgresql://127.0.0.1:1/b")[0] == 2
    ran(town, "budget", "check", "--ledger", ledger)


def desk_folder(town: Town) -> None:
    assert stub(town, "desk", "leeward.desk", "serve", town.folder)[0] == town.folder


def desk_port(town: Town) -> None:
    assert stub(town, "desk", "leeward.desk", "serve", "--port", "8400")[-1]["port"] == 8400


SERVED = """
tokens = "tokens.json"

[data_sets.town]
spec = "spec.toml"
kinds = ["visitors"]
notions = ["addition-only"]
most_epsilon = "1"
"""


def served(town: Town) -> Path:
    town.spec(('dataset = "town"', 'dataset = "town"\nnotion = "addition-only"'))
    (town.folder / "service.toml").write_text(SERVED)
    return town.folder / "service.toml"


def serve_configuration(town: Town) -> None:
    offers, _ = stub(town, "serve", "leeward.service", "serve", served(town), "--yes")
    assert [*offers.data_sets] == ["town"]


def serve_port(town: Town) -> None:
    assert stub(town, "serve", "leeward.service", "serve", served(town), "--yes", "--port", "0")[-1]["port"] == 0


def serve_yes(town: Town) -> None:
    assert stub(town, "serve", "leeward.service", "serve", served(town)) == []


def tokens(town: Town) -> None:
    """A walk over all that is done with tokens; what they open is in tests/service."""
    config = served(town)
    made = ran(town, "token", "create", "ann", "--cap", "town=1/2", "--config", config)
    assert made[0].startswith("leeward_")
    (one,) = told(town, "token", "list", "-c", config, "--json")["analysts"]
    assert (one["analyst"], one["data_set"], one["cap"], one["spent"], one["revoked"]) == (
        "ann",
        "town",
        "1/2",
        "0",
        None,
    )
    assert "1/2" in ran(town, "token", "list", "--config", config)[0]
    for cap, says in (("town", "it is not DATA_SET=AMOUNT"), ("tow=1", "town"), ("town=0", "above 0"), ("town=x", "x")):
        code, _, err = town.run("token", "create", "bob", "--cap", cap, "-c", config)
        assert code == 2
        assert says in err
    code, _, err = town.run("token", "create", "bob", "--cap", "town=1", "--cap", "town=2", "-c", config)
    assert (code, "once for each" in err) == (2, True), "which of two caps holds is nobody's guess"
    ran(town, "token", "revoke", "ann", "-c", config)
    assert told(town, "token", "list", "-c", config, "--json")["analysts"][0]["revoked"]
    assert town.run("token", "revoke", "ann", "-c", config)[0] == 2


def version(town: Town) -> None:
    assert ran(town, "--version")[0] == f"leeward {__version__}\n"


SEVERAL = {
    "leeward _": version,
    "init data": init_out,
    "init decimal": init_decimal,
    "init list_sheet": init_sheet,
    **{
        f"init {option.replace('-', '_')}": init_option(option, value, section, key)
        for option, value, section, key in (
            ("person", "venue", "data", "person"),
            ("place", "user", "data", "place"),
            ("listed", "name", "places", "place"),
            ("time", "at", "data", "time"),
            ("time-format", "dd/mm/yyyy", "data", "time_format"),
            ("timezone", "Europe/Paris", "data", "timezone"),
            ("start", "2025-01-01", "window", "start"),
            ("end", "2026-02-01", "window", "end"),
            ("people", "9", "decide", "safe_at_most"),
            ("epsilon", "2", "protect", "epsilon"),
            ("cap", "7", "budget", "cap"),
            ("dataset", "elsewhere", "budget", "dataset"),
        )
    },
    "budget show ledger": budget_ledger,
    "budget move to": budget_move,
    **{
        f"init {parameter}": init_asked(option, value, key, said, *kind)
        for parameter, option, value, key, said, *kind in (
            ("kind", "kind", "median", "kind", "median"),
            ("number", "column", "kwh", "column", "kwh"),
            ("lower", "lower", "-1", "lower", "-1"),
            ("upper", "upper", "8", "upper", "8"),
            ("step", "step", "3", "step", "3"),
            ("p", "p", "7,8", "p", ["7", "8"], "percentile"),
            ("levels", "levels", "7,8", "levels", ["7", "8"], "above"),
            ("group", "group", "who", "by", {"who": ["x"]}),
            ("groups", "groups", "x,z", "by", {"ward": ["x", "z"]}),
            ("combine", "combine", "sum", "combine", "sum"),
        )
    },
    "token create cap": tokens,
}
"""Options whose names are not names of functions."""

OF_BUDGETS = {
    *(f"budget {name} {each}" for name in ("show", "history") for each in ("ledger", "dataset", "as_json")),
    *("budget check ledger", "budget check as_json", "budget accept-restored ledger", "budget new-key ledger"),
    *(f"budget set-cap {each}" for each in ("ledger", "dataset", "cap", "delta")),
    *("budget move ledger", "budget move to"),
}
"""What one walk over the budgets shows."""

OF_TOKENS = {
    *(f"token create {each}" for each in ("name", "cap", "config")),
    *("token list config", "token list as_json", "token revoke name", "token revoke config"),
}
"""What one walk over tokens shows."""

OF_TYPER = {"leeward install_completion", "leeward show_completion"}


def options(command: Any, path: str = "") -> Iterator[str]:
    for parameter in command.params:
        yield f"{path or 'leeward'} {parameter.name}"
    for name, inner in getattr(command, "commands", {}).items():
        yield from options(inner, f"{path} {name}".strip())


OPTIONS = sorted(set(options(typer.main.get_command(app))) - OF_TYPER)


ONE_WALK = [
    *(option for option in OPTIONS if option.startswith("budget") and option != "budget show ledger"),
    *(option for option in OPTIONS if option.startswith("token") and option != "token create cap"),
]
"""The walks over budgets and over tokens show them all."""


def row_of(option: str) -> Callable[[Town], None] | None:
    return SEVERAL.get(option, globals().get(option.replace(" ", "_")))


def test_each_option_has_a_row() -> None:
    """The rows are a long sweep; that one is missing is seen here."""
    assert [option for option in OPTIONS if option not in ONE_WALK and row_of(option) is None] == []


@pytest.mark.sweep
@pytest.mark.parametrize("option", [option for option in OPTIONS if option not in ONE_WALK])
def test_an_option_has_its_effect(option: str, town: Town) -> None:
    row = row_of(option)
    assert row is not None, f"add a function {option.replace(' ', '_')}"
    row(town)


def placed(town: Town, *changes: tuple[str, str]) -> Path:
    text = PLACED
    for old, new in changes:
        text = text.replace(old, new)
    path = town.folder / "placed.toml"
    path.write_text(text)
    return path


def stub(town: Town, command: str, module: str, name: str, *words: str | Path) -> list[Any]:
    """Run a command whose work is done by a function that only notes what it is given; return that."""
    noted: list[Any] = []

    def noting(*given: Any, **named: Any) -> Any:
        noted.extend([*given, named])
        if command == "papers":
            raise InputError("This", "it is a test", "Stop")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module(module), name, noting)
        town.run(command, *words)
    return [noted] if command == "papers" else noted


INTERRUPTED: Mapping[str, tuple[list[str], str, str]] = {
    "release": (["spec.toml", "-o", "out"], "leeward.spec", "read_questions"),
    "release, while counting": (["spec.toml", "-o", "out"], "leeward.engine._visits", "VisitTable.count"),
    "release --dry-run": (["spec.toml", "--dry-run"], "leeward.engine", "read_keys"),
    "monitor": (["spec.toml", "-o", "out"], "leeward.session._monitor", "monitor"),
    "plan": (["spec.toml"], "leeward.planner._side_by_side", "compare_decisions"),
    "check": (["spec.toml"], "leeward.session._check", "check_planned"),
    "init": (["visits.parquet", "places.parquet", "-o", "s.toml"], "leeward.tables._detected", "detected"),
    "perturb": (["spec.toml", "-o", "o.parquet"], "leeward.local", "read_job"),
    "papers": (["-o", "out"], "leeward.papers", "recompute"),
    "demo": (["-o", "out"], "leeward.demo._city", "write_city"),
    "budget show": (["-l", "budget.db"], "leeward.ledger", "Ledger"),
}


@pytest.mark.parametrize("command", INTERRUPTED)
def test_ctrl_c_ends_with_130_and_says_so(command: str, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    words, module, name = INTERRUPTED[command]
    monkeypatch.chdir(town.folder)
    if command == "monitor":
        town.spec(*STOPPING)

    def interrupted(*_: Any, **__: Any) -> Any:
        interrupt = KeyboardInterrupt()
        interrupt.add_note("The charge could not be withdrawn")
        raise interrupt

    holder, _, method = name.partition(".")
    where = importlib.import_module(module)
    monkeypatch.setattr(getattr(where, holder) if method else where, method or holder, interrupted)
    code, out, err = town.run(*command.split(",")[0].replace(" --dry-run", "").split(), *words)
    assert code == 130
    assert out == ""
    assert err == "leeward: interrupted; nothing was shown\nleeward: The charge could not be withdrawn\n"
    assert not town.out.exists()


def test_the_walk_over_options_sees_them() -> None:
    assert {option for option in OPTIONS if option.startswith("budget")} == OF_BUDGETS
    assert {option for option in OPTIONS if option.startswith("token")} == OF_TOKENS
    assert {"release dry_run", "budget set-cap cap", "leeward _"} <= set(OPTIONS)
    assert len(OPTIONS) > 40
