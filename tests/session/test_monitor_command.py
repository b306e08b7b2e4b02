"""``leeward monitor``: free while safe, c·ε at most, resumable from the ledger.

At ε = 40 noise is 0 but for a probability below 1e-17 a count, so that what happens can be foretold.
"""

from __future__ import annotations

import dataclasses
import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.report.pages import Page
from tests.session.conftest import Town

import leeward as lw
from leeward.cli._monitor import _ended
from leeward.distance import both_hold
from leeward.errors import InputError, LeewardError, SpecError
from leeward.ledger import Ledger
from leeward.noise import SeededBitsForTests
from leeward.notion import ADP, AdditionOnly, Personalised, Presence, has
from leeward.planner import plan
from leeward.query._table import Source
from leeward.session import monitor
from leeward.spec import read_spec

HOURLY = (
    "start = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00",
    'start = 2026-01-01T18:00:00\nend = 2026-01-01T22:00:00\nevery = "1h"',
)
SANITIZED = [
    HOURLY,
    ('epsilon = "1"', 'epsilon = "40"'),
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', 'mechanism = "sanitized"\nstop_after = 2'),
    ('cap = "5"', 'cap = "80"'),
]


_KILLED = """
import os, signal, sys
from leeward.session import monitor
from leeward.spec import read_spec

seen = []
def stop(now):
    seen.append(now)
    if seen.count(sys.argv[2]) == (2 if now == "adding noise" else 1):  # in the second round, or when both are stored
        os.kill(os.getpid(), signal.SIGKILL)

read = read_spec(sys.argv[1])
monitor(read.plans(), read.ledger(), progress=stop)
"""


def _visits(town: Town, crowds: dict[int, list[str]]) -> None:
    """Put five people at each named place in each hour; somebody is always at v39."""
    rows = [
        (f"{h}-{v}-{k}", v, pd.Timestamp(f"2026-01-01T{h}:30"))
        for h, vs in crowds.items()
        for v in vs
        for k in range(5)
    ]
    rows.append(("somebody", "v39", pd.Timestamp("2026-01-01T18:15")))
    rows.append(
        ("somebody later", "v39", pd.Timestamp("2026-01-01T22:05"))
    )  # so the last hour is quiet, and not to come
    pd.DataFrame(rows, columns=["user", "venue", "at"]).to_parquet(town.folder / "visits.parquet")


def _run(town: Town, *more: str) -> dict[str, object]:
    code, out, err = town.run("monitor", town.spec(*SANITIZED), "--out", town.out, "--json", *more)
    assert code == 0, err
    return dict(json.loads(out))


def test_it_pays_only_when_it_cannot_say_safe_and_stops_for_good(town: Town) -> None:
    _visits(town, {19: ["v5"], 20: ["v1", "v7"], 21: ["v2"]})
    told = _run(town)
    assert [w["charged"] for w in told["windows"]] == ["0", "40", "40"]  # type: ignore[attr-defined]
    assert [w["answered"] for w in told["windows"]] == [40, 40, 2]  # type: ignore[attr-defined]
    assert (told["stops"], told["stopped"], told["spent"]) == (2, True, "80")
    assert sorted(p.name for p in town.out.iterdir()) == [
        *(f"2026-01-01T{h}-00-00" for h in (18, 19, 20)),
        "leeward-files.json",
        "report.html",
    ]
    assert not [*town.out.glob("*/report.html")], "one page in place of one a window"
    page = Page((town.out / "report.html").read_text("utf-8"))
    assert [when[11:16] for when in page.data("series")["when"]] == ["18:00", "19:00", "20:00"]
    assert page.by_id("window").attributes["max"] == "2"
    assert "80 price at most, of all its windows" in page.text()
    second = pd.read_parquet(town.out / "2026-01-01T19-00-00" / "answers.parquet").set_index("place")
    assert second.loc["v5", "count"] == 5
    assert second["count"].notna().sum() == 1
    statement = json.loads((town.out / "2026-01-01T20-00-00" / "release.json").read_text())
    assert (statement["monitor"]["round"], statement["monitor"]["stops_before"]) == (3, 1)
    assert (statement["mechanism"]["stop_after"], statement["monitor"]["stop_after"]) == (1, 2)
    assert statement["price"] == "80"
    assert any("first visit" in line for line in statement["assumptions"])
    assert "never wrong" in json.dumps(statement["guaranteed"])


def test_it_goes_on_where_it_stopped_and_never_reads_an_answered_window_again(town: Town) -> None:
    _visits(town, {19: ["v5"]})
    first = _run(town, "--until", "2026-01-01T20:00:00")
    assert [w["charged"] for w in first["windows"]] == ["0", "40"]  # type: ignore[attr-defined]
    _visits(town, {18: ["v8"], 20: ["v6"]})  # the table has grown, and an answered hour changed
    told = _run(town)
    assert [w["charged"] for w in told["windows"]] == ["0", "0", "40"]  # type: ignore[attr-defined]
    assert told["spent"] == "80"
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 80


@pytest.mark.parametrize(
    "other",
    [
        ("safe_at_most = 2", "safe_at_most = 3"),
        ("stop_after = 2", "stop_after = 3"),
        ('epsilon = "40"', 'epsilon = "20"'),
        ('"addition-only"', '"presence"'),
        ('place = "venue"\ntime', 'keep = { user = ["somebody"] }\nplace = "venue"\ntime'),
    ],
    ids=["safe", "stops", "epsilon", "notion", "keep"],
)
def test_windows_that_differ_in_anything_else_are_refused(town: Town, other: tuple[str, str]) -> None:
    _visits(town, {})
    both = [read_spec(town.spec(*SANITIZED, *change)) for change in ((), (other,))]
    first, later = (read.visitor_plans() for read in both)
    with pytest.raises(SpecError, match="A monitor of several questions"):
        monitor([first[0], later[1]], both[0].ledger())


def test_nothing_is_drawn_behind_the_last_stop_even_if_it_may_be_useless(town: Town) -> None:
    """All rounds are drawn together; the stops end them, and not that the next one would say next to nothing."""
    _visits(town, {19: ["v5"], 20: ["v1", "v7"], 21: ["v2"]})
    read = read_spec(town.spec(*SANITIZED))
    made = monitor(read.visitor_plans(), read.ledger(), accept_useless=True)
    assert (made.state.stopped, made.state.stops, len(made.releases), made.unasked) == (True, 2, 3, 1)
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 80


def test_next_to_nothing_lies_between_a_draw_and_its_storage(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many rounds are drawn depends on what is drawn: were time spent meanwhile, an end of the run would choose."""
    _visits(town, {})
    read, seen = read_spec(town.spec(*SANITIZED)), list[str]()
    monkeypatch.setattr(
        "leeward.session._monitor._DRAWN_AT_ONCE", 2 * len(pd.read_parquet(town.folder / "places.parquet"))
    )
    monitor(read.visitor_plans(), read.ledger(), if_doubtful="publish", progress=lambda stage, *_: seen.append(stage))
    two = ["counting", "counting", "adding noise", "adding noise", "stored"]
    assert [stage for stage in seen if stage in two] == two * 2


def test_windows_that_have_not_ended_are_not_asked(town: Town) -> None:
    _visits(town, {})
    code, out, _ = town.run("monitor", town.spec(*SANITIZED), "--out", town.out, "--until", "2026-01-01T18:59:59")
    assert code == 0
    assert "nothing was asked" in out
    assert not town.out.exists()
    assert not (town.folder / "budget.db").exists()


def test_a_window_after_one_that_is_not_over_waits(town: Town) -> None:
    """Asked before it, it was asked again after it, as of another monitor: both had all their stops."""
    _visits(town, {18: ["v1", "v2"], 19: ["v3"]})
    night, hour = (f"{{ start = 2026-01-01T18:00:00, end = 2026-01-01T{end}:00:00 }}" for end in (22, 19))
    spec = town.spec((HOURLY[0], f"windows = [{night}, {hour}]"), *SANITIZED[1:])
    code, out, _ = town.run("monitor", spec, "--out", town.out, "--until", "2026-01-01T20:00:00")
    assert (code, out) == (0, "The first window is not over yet: nothing was asked.\n")
    code, out, _ = town.run("monitor", spec, "--out", town.out, "--yes", "--json")
    assert (code, json.loads(out)["spent"], json.loads(out)["stopped"]) == (0, "80", True)
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 80


@pytest.mark.parametrize("machine", ["UTC", "Asia/Tokyo", "America/New_York"])
@pytest.mark.parametrize("words", [[], ["--json"], ["--quiet"]])
def test_a_window_is_over_by_the_zone_of_the_spec_and_not_of_the_machine(
    machine: str, words: list[str], town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `time_unit` alone a window is in UTC: one that ends there in half an hour is not asked, wherever this is."""
    start = datetime.now(UTC).replace(tzinfo=None, microsecond=0) - timedelta(minutes=30)
    span = f'start = {start.isoformat()}\nend = {(start + timedelta(hours=2)).isoformat()}\nevery = "1h"'
    spec = town.spec((HOURLY[0], span), *SANITIZED[1:], ('time = "at"', 'time = "at"\ntime_unit = "s"'))
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        code, out, err = town.run("monitor", spec, "--out", town.out, *words)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (code, err) == (0, "")
    if words == ["--json"]:
        assert json.loads(out) == {"format": 1, "windows": [], "stops": 0, "stopped": False, "spent": "0"}
    else:
        assert ("nothing was asked" in out) == (not words)
        assert bool(out) == (not words)
    assert not town.out.exists()


def test_the_terminal_says_how_many_more_there_may_be(town: Town) -> None:
    _visits(town, {19: ["v1"], 21: ["v2"]})
    spec = town.spec(*(change for change in SANITIZED if "cap" not in change[0]), ('cap = "5"', 'cap = "80"'))
    told = ("Behind these windows it stops after 1 more.", "It has stopped for good.")
    for hour, stops, said in ((20, 1, told[0]), (22, 2, told[1]), (20, 1, told[0])):  # and earlier ones once more
        code, out, err = town.run("monitor", spec, "--out", town.out, "--yes", "--until", f"2026-01-01T{hour}:00:00")
        assert code == 0, err
        unsafe = f"{stops} place{'s' if stops > 1 else ''} in these windows could not be called safe"
        spent = f"{unsafe}, at a price of {40 * stops}."
        assert f"{spent} {said}" in " ".join(out.split())


@pytest.mark.parametrize(("unit", "over"), [("s", True), (None, False)])
def test_of_moments_since_1970_a_window_is_over_as_soon_as_it_is_in_utc(unit: Any, over: bool) -> None:
    """Of readings of a clock, nobody knows whose, it is once it is over everywhere."""
    now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
    plain = lw.visits("v.parquet", person="u", place="p", time="t")
    seen = dataclasses.replace(plain, source=Source("v.parquet", time_unit=unit))
    ends = {"start": now - timedelta(hours=2), "end": now - timedelta(minutes=30)}
    assert _ended(lw.count_visitors(seen, lw.places("p.parquet", place="p"), **ends), None) is over


def test_a_round_that_could_exceed_the_budget_is_refused_before_its_draw(town: Town) -> None:
    _visits(town, {18: ["v0"]})
    spec = [change if "cap" not in change[0] else ('cap = "5"', 'cap = "79"') for change in SANITIZED]
    code, _, err = town.run("monitor", town.spec(*spec), "--out", town.out)
    assert code == 2
    assert "79" in err
    assert not town.out.exists()


def test_the_geometric_mechanism_is_no_monitor(town: Town) -> None:
    code, _, err = town.run("monitor", town.spec(HOURLY), "--out", town.out)
    assert code == 2
    assert "sanitized" in err


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("stage", "grows"), [("adding noise", False), ("adding noise", True), ("saving", False), ("saved", True)]
)
def test_killed_in_a_round_it_goes_on_at_the_same_charge(town: Town, stage: str, grows: bool) -> None:
    _visits(town, {19: ["v5"]})
    spec: Path = town.spec(*SANITIZED)
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, str(spec), stage], capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    if grows:
        table = pd.read_parquet(town.folder / "visits.parquet")
        late = pd.DataFrame({"user": ["late"], "venue": ["v39"], "at": [pd.Timestamp("2026-01-02T01:00")]})
        pd.concat([table, late.astype(table.dtypes)]).to_parquet(town.folder / "visits.parquet")
    told = _run(town, "--if-doubtful", "publish")  # the windows that are left lie after the last time of the data
    assert (told["stops"], told["spent"]) == (1, "40")
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == 40


def test_rounds_that_are_due_are_charged_together_and_answered_as_one_by_one(town: Town) -> None:
    """All are reserved and stored once, and cost, say and are kept as when each is asked when it is due."""
    _visits(town, {18: ["v7"], 19: ["v5"]})
    read = read_spec(town.spec(*SANITIZED))
    plans, found = read.visitor_plans(), []
    for name, runs, charged in (("at once", [3], 1), ("one by one", [1, 2, 3], 2)):
        budget, bits = replace(read.ledger(), ledger=str(town.folder / name)), SeededBitsForTests(3)
        stages: list[str] = []

        def tell(stage: str, _share: float = 0.0, /, told: list[str] = stages) -> None:
            told.append(stage)

        for many in runs:
            watch = monitor(plans[:many], budget, bits=bits, if_doubtful="publish", progress=tell)
        assert stages.count("charged") == stages.count("saved") == charged
        ledger = Ledger(budget.ledger)
        ledger.check()
        answers = ledger.charged("town", {(entry.version, entry.key) for entry in ledger.history() if entry.key})
        kept = {of: (answer.cost, answer.payload) for of, answer in answers.items() if answer is not None}
        found.append((watch.state, watch.spent, [one.answers for one in watch.releases], kept, ledger.show()))
        assert all(
            entry.id == one.statement.entry for entry, one in zip(_released(ledger), watch.releases, strict=True)
        )
    assert found[0] == found[1]
    assert watch.state.stops == 2
    assert [len(each) for each in found[0][2]] == [40] * len(watch.releases)


def _released(ledger: Ledger) -> list[Any]:
    return [entry for entry in ledger.history() if entry.kind == "released"]


def test_a_round_that_cannot_be_counted_leaves_those_before_it(town: Town) -> None:
    """Whether it is asked at all follows from what was drawn before: so that is stored, never drawn again."""
    rows = [
        ("a", "v1", "18:30"),
        ("b", "v2", "19:30"),
        ("c", "v1", "20:10"),
        ("c", "v2", "20:20"),
        ("d", "v1", "22:05"),
    ]
    seen = pd.DataFrame([(who, venue, pd.Timestamp(f"2026-01-01T{at}")) for who, venue, at in rows])
    seen.set_axis(["user", "venue", "at"], axis=1).to_parquet(town.folder / "visits.parquet")
    refusing = [each for each in SANITIZED if "places_per_person" not in each[0]]
    refusing += [('if_more = "latest"', 'if_more = "refuse"'), ("stop_after = 2", "stop_after = 40")]
    refusing += [('cap = "80"', 'cap = "1600"')]
    spec = town.spec(*refusing)
    for _ in range(2):
        code, _, err = town.run("monitor", spec, "--out", town.out, "--accept-useless")
        assert code == 2
        assert "at more places than places_per_person allows" in err
        assert "2 windows are answered and charged, and that stands" in err
    ledger = Ledger(town.folder / "budget.db")
    assert len(_released(ledger)) == 2
    ledger.check()


def test_it_says_what_it_has_cost_and_can_cost(town: Town) -> None:
    _visits(town, {19: ["v5"]})
    read = read_spec(town.spec(*SANITIZED))
    watch = monitor(read.visitor_plans(), read.ledger())
    assert (watch.spent, watch.price_at_most) == (watch.state.spent, 80) == (40, 80)


PRICED = [
    (Personalised(AdditionOnly("1"), ["40", "4"]), 40),  # the noise follows the 4, the price the 40
    (both_hold(AdditionOnly("40"), Presence("80")), 80),
    (Presence("40"), 40),
    (ADP("40", [~has("v5")]), None),
]


@pytest.mark.parametrize(("notion", "each"), PRICED, ids=["personalised", "both", "presence", "adp"])
def test_a_stop_costs_what_its_promise_is_in_the_notion(town: Town, notion: Any, each: int | None) -> None:
    """Not the rate of the noise; and nothing is refused once it is charged."""
    _visits(town, {19: ["v5"]})
    spec = read_spec(town.spec(*SANITIZED))
    query = next(iter(spec.visitor_plans())).query
    budget = spec.ledger()
    if each is None:
        with pytest.raises(LeewardError):
            plan(query, notion, lw.Decide(safe_at_most=0), mechanism="sanitized", stop_after=2)
        return
    made = plan(query, notion, lw.Decide(safe_at_most=0, useful_from=0), mechanism="sanitized", stop_after=2)
    assert made.price == 2 * each
    steps = notion.with_epsilon(1).steps
    least = max(made.mechanism.line.fall * max(f for _, f in query.effect(s.change).each) / s.cost for s in steps)
    assert least == each  # c·notion covers one stop's own distance at c = ε, and at no smaller c
    plans = [replace(made, query=one.query) for one in spec.visitor_plans()]
    watch = monitor(plans, replace(budget, cap=1000, notion=None))
    (account,) = Ledger(town.folder / "budget.db").show("town")
    assert account.spent == watch.spent.rational == each * watch.state.stops
    assert watch.state.stops >= 1


def test_its_statements_name_the_budget_as_those_of_releases_do(town: Town) -> None:
    _visits(town, {})
    _run(town)
    statement = json.loads((town.out / "2026-01-01T18-00-00" / "release.json").read_text())
    assert statement["budget"] == {"notion": "addition-only per person", "price": "80"}


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("cap", ["79", "81", "800"])
def test_another_cap_is_refused_also_where_every_answer_is_stored(cap: str, stored: bool, town: Town) -> None:
    _visits(town, {18: ["v1"], 20: ["v2"]})
    until = () if stored else ("--until", "2026-01-01T19:30:00")
    _run(town, *until)
    before = [path.read_bytes() for path in sorted(town.out.rglob("*.*")) if path.is_file()]
    (account,) = Ledger(town.folder / "budget.db").show("town")
    spec = town.spec(*SANITIZED[:-1], ('cap = "5"', f'cap = "{cap}"'))
    code, out, err = town.run("monitor", spec, "--out", town.out)
    assert (code, out) == (2, "")
    assert f"The cap of 'town' is 80, and this release says {cap}" in err
    assert Ledger(town.folder / "budget.db").show("town") == [account]
    assert [path.read_bytes() for path in sorted(town.out.rglob("*.*")) if path.is_file()] == before
    assert _run(town)["spent"] == "80"


def test_until_and_the_end_of_a_window_can_be_compared_or_are_refused() -> None:
    """A time without an offset is read as the windows are; one with an offset says nothing of windows without one."""
    plain, tokyo, utc = (datetime.fromisoformat(f"2026-01-01T19:00:00{offset}") for offset in ("", "+09:00", "+00:00"))
    table = pd.DataFrame({"user": ["a"], "venue": ["b"], "at": [plain]})
    private, public = lw.visits(table, person="user", place="venue", time="at"), lw.places(table, place="venue")
    for end in (plain, tokyo, utc):
        query = lw.count_visitors(
            private, public, start=end - timedelta(hours=1), end=end, places_per_person=1, if_more="latest"
        )
        assert _ended(query, plain)
        assert not _ended(query, plain - timedelta(seconds=1))
        for until in (tokyo, utc):
            if end.tzinfo is None:
                with pytest.raises(InputError, match="the windows have none"):
                    _ended(query, until)
            else:
                assert _ended(query, until) == (end <= until)
