"""``leeward release`` and ``plan`` of statistics of one window or of several: priced together, each a release of its own."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.session.conftest import Town

import leeward as lw
from leeward.errors import InputError
from leeward.session._release import release_planned

SPEC = """
[data]
table = "orders.parquet"
person = "who"
time = "at"

[query]
kind = "sum"
column = "amount"
lower = "0"
upper = "10"
combine = "sum"

[window]
start = 2026-01-01T00:00:00
end = 2026-01-04T00:00:00
every = "1d"

[protect]
notion = "dp"
epsilon = "1000"

[budget]
ledger = "sqlite:///budget.db"
cap = "3000"
dataset = "orders"
"""
DAYS = ["2026-01-01T00:00:00", "2026-01-02T00:00:00", "2026-01-03T00:00:00"]


@pytest.fixture
def shop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """On day d of January, 100 customers order twice, for d each time; and one order has no time."""
    rows = [(f"c{c}", d, pd.Timestamp(2026, 1, d, hour)) for d in (1, 2, 3) for c in range(100) for hour in (9, 17)]
    rows.append(("c0", 5, None))
    pd.DataFrame(rows, columns=["who", "amount", "at"]).to_parquet(tmp_path / "orders.parquet")
    return Town(tmp_path, capsys)


def write(town: Town, *changes: tuple[str, str]) -> Path:
    text = SPEC
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = town.folder / "orders.toml"
    path.write_text(text)
    return path


def spent(town: Town) -> str:
    _, out, _ = town.run("budget", "show", "--ledger", town.folder / "budget.db", "--json")
    found = json.loads(out)["budgets"]
    return found[0]["spent"] if found else "0"


def test_each_window_is_a_release_of_its_own(shop: Town) -> None:
    """At ε = 1000 the noise on a sum up to 10 is 0, but for a chance below 1e-40."""
    code, out, err = shop.run("release", write(shop), "--out", shop.out)
    assert code == 0, err
    assert "3 windows at 1000 each: a total price of at most 3000." in out
    assert [line for line in out.splitlines() if line.startswith("From")] == [
        f"From 2026-01-0{d}T00:00:00 to 2026-01-0{d + 1}T00:00:00:" for d in (1, 2, 3)
    ]
    found = pd.read_parquet(shop.out / "answers.parquet")
    assert found.columns.tolist() == ["window_start", "window_end", "group", "value"]
    assert dict(zip(found["window_start"], found["value"], strict=True)) == dict(
        zip(DAYS, (200, 400, 600), strict=True)
    )
    statement = json.loads((shop.out / "release.json").read_text())["windows"][1]
    window = {"start": "2026-01-02T00:00:00", "end": "2026-01-03T00:00:00", "timezone": None}
    assert statement["query"]["window"] == window
    assert statement["query"]["text"].endswith(", from 2026-01-02 00:00 up to, but not at, 2026-01-03 00:00")
    assert any("the window were chosen without looking" in said for said in statement["assumptions"])
    assert any("outside the window are not counted" in said for said in statement["not_guaranteed"])
    page = (shop.out / "report.html").read_text()
    assert "Until (excluded)" in page
    assert "2026-01-03 00:00:00" in page
    assert "3 windows, from 2026-01-01 00:00 to 2026-01-04 00:00" in page
    assert err.count("not counted: 1 row without a time") == 3
    assert err.count("400 rows outside the window") == 3
    assert spent(shop) == "3000"
    _, again, _ = shop.run("release", write(shop), "--out", shop.out, "--json")
    told = json.loads(again)["releases"]
    assert [one["charged"] for one in told] == ["0", "0", "0"]
    assert [one["window"]["start"][:10] for one in told] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_more_rows_than_a_spreadsheet_opens_are_not_written_as_csv(shop: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    for most, written in ((4, True), (3, False)):
        monkeypatch.setattr("leeward.tables._sheets.MOST_ROWS_OF_A_SHEET", most)
        assert shop.run("release", write(shop), "--out", shop.out)[0] == 0
        assert (shop.out / "answers.csv").exists() == written


def test_a_total_above_the_cap_charges_nothing(shop: Town) -> None:
    spec = write(shop, ('cap = "3000"', 'cap = "2999"'))
    code, _, err = shop.run("release", spec, "--out", shop.out)
    assert (code, "3 windows at a total price of 3000" in err) == (2, True)
    assert not shop.out.exists()
    code, out, err = shop.run("release", spec, "--dry-run")
    assert (code, "3 windows at a total price of 3000" in err) == (2, True)
    assert "3 windows, one release each." in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            ("2026-01-0", "2025-01-0"),
            "600 rows outside the window; 1 row without a time; the times of the data run from",
        ),
        (('person = "who"', 'person = "who"\ntime_unit = "s"'), "time_unit is for whole numbers"),
        (("T00:00:00", "T00:00:00Z"), "The window has an offset from UTC"),
        (('lower = "0"', 'lower = "0"\nby = { who = ["nobody"] }'), "600 rows in none of the listed groups"),
    ],
)
def test_what_would_not_count_is_told_before_it_is_paid_for(shop: Town, change: tuple[str, str], said: str) -> None:
    code, _, err = shop.run("release", write(shop, change), "--out", shop.out)
    assert (code, said in err) == (2, True), err
    assert spent(shop) == "0"


def test_one_quiet_day_is_no_reason_to_stop(shop: Town) -> None:
    """Windows of one run are doubtful only together."""
    spec = write(shop, ("2026-01-01T", "2025-12-31T"), ('"3000"', '"4000"'))
    code, out, err = shop.run("release", spec, "--out", shop.out)
    assert code == 0, err
    assert "4 windows at 1000 each" in out
    assert pd.read_parquet(shop.out / "answers.parquet")["value"].tolist() == [0, 200, 400, 600]


@pytest.mark.sweep
def test_of_many_windows_the_curator_reads_a_line_each(shop: Town) -> None:
    spec = write(shop, ('every = "1d"', 'every = "18h"'), ('cap = "3000"', 'cap = "4000"'))
    code, _, err = shop.run("release", spec, "--out", shop.out)
    assert code == 0, err
    told = err[err.index("For the curator only") :].splitlines()
    assert told[0] == "For the curator only, window by window (facts about the data; do not publish):"
    starts = ["2026-01-01T00:00:00", "2026-01-01T18:00:00", "2026-01-02T12:00:00", "2026-01-03T06:00:00"]
    orders = [(d, hour) for d in (1, 2, 3) for hour in (9, 17) for _ in range(100)]
    for line, start in zip(told[1:5], starts, strict=True):
        begin = datetime.fromisoformat(start)
        inside = [one for one in orders if begin <= datetime(2026, 1, *one) < begin + timedelta(hours=18)]
        assert line.startswith(f"  from {start}: not counted: 1 row without a time; not counted: ")
        assert f"{len(orders) - len(inside)} rows outside the window" in line
    assert not any(line.startswith(" ") for line in told[5:])
    assert err.count("For the curator only") == 1


def test_a_window_is_counted_and_looked_at_with_the_others(shop: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many windows there are, the engine is asked as often."""
    from leeward.engine._bind import InDuckDB

    rows = pd.read_parquet(shop.folder / "orders.parquet")
    late = rows.iloc[:1].assign(at=pd.Timestamp("2026-01-03T23:30"))  # no hour at the end is quiet
    pd.concat([rows, late]).to_parquet(shop.folder / "orders.parquet")
    asked = list[str]()
    fetch = InDuckDB.fetch
    monkeypatch.setattr(InDuckDB, "fetch", lambda self, what: asked.append("") or fetch(self, what))
    often = []
    for every in ("12h", "1h"):  # windows of whole days are asked one thing less
        spec = write(shop, ('every = "1d"', f'every = "{every}"'), ('"3000"', '"99999"'))
        asked.clear()
        assert shop.run("release", spec, "--out", shop.folder / every, "--quiet")[0] == 0
        often.append(len(asked))
    assert often[0] == often[1]


def test_a_decided_histogram_has_windows_and_a_plan(shop: Town) -> None:
    spec = write(
        shop,
        ('kind = "sum"\ncolumn = "amount"\nlower = "0"\nupper = "10"\ncombine = "sum"', HISTOGRAM),
        ("[budget]", "[decide]\nsafe_at_most = 3\n\n[budget]"),
        ('notion = "dp"\nepsilon = "1000"', 'notion = "addition-only"\nepsilon = "40"'),
    )
    code, out, err = shop.run("plan", spec)
    assert code == 0, err
    assert "2026-01-01T00:00:00 to 2026-01-02T00:00:00, 3 releases" in " ".join(out.split())
    _, out, _ = shop.run("plan", spec, "--json")
    assert json.loads(out)["asked"]["window"] == {"start": "2026-01-01T00:00:00", "end": "2026-01-02T00:00:00"}
    code, out, err = shop.run("release", spec, "--out", shop.out, "--json")
    assert code == 0, err
    assert [(one["window"]["end"][:10], one["safe"]) for one in json.loads(out)["releases"]] == [
        ("2026-01-02", 4), ("2026-01-03", 4), ("2026-01-04", 4),
    ]  # fmt: skip


HISTOGRAM = """kind = "histogram"
column = "amount"
lower = "0"
upper = "5"
combine = "max"
"""


def test_windows_of_one_table_are_released_together(tmp_path: Path) -> None:
    rows = {"who": [1, 2], "n": [3, 4], "at": pd.to_datetime(["2026-01-01", "2026-01-02"])}
    table = pd.DataFrame(rows)
    people = lw.records(table, person="who", time="at")

    def asked(people: Any, day: int, **other: Any) -> Any:
        ends = {"start": f"2026-01-0{day}", "end": f"2026-01-0{day + 1}"}
        return statistic_by(people, "sum", column="n", **{"lower": 0, "upper": 9, **ends, **other})

    def released(*queries: Any) -> list[list[int]]:
        to = lw.Budget(str(tmp_path / "b.db"), "d", "9999")
        plans = [lw.plan(query, lw.UnboundedDP("800")) for query in queries]
        return [one.answers["value"].to_pylist() for one in release_planned(plans, to, if_doubtful="publish")]

    assert released(asked(people, 1), asked(people, 2)) == [[3], [4]]
    assert released(asked(people, 2), asked(lw.records(table, person="who", time="at"), 1)) == [[4], [3]]
    never = {"start": None, "end": None}
    for other in (
        asked(people, 2, upper=8),
        asked(people, 2, **never),
        asked(lw.records(table.copy(), person="who", time="at"), 2),
    ):
        with pytest.raises(InputError, match="Plans about several tables"):
            released(asked(people, 1), other)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"start": "2026-01-01"}, "without an end"),
        ({"end": "2026-01-01"}, "without a start"),
        ({"start": "2026-01-02", "end": "2026-01-01"}, "empty or reversed"),
        ({"start": "2026-01-01", "end": "2026-01-02Z"}, "it is not a date and time"),
        ({"start": "2026-01-01", "end": "2026-01-02T00:00Z"}, "One end of the window has an offset"),
    ],
)
def test_half_a_window_is_refused(how: dict[str, str], said: str) -> None:
    people = lw.records("p.parquet", person="who", time="at")
    with pytest.raises(lw.errors.SpecError, match=said):
        statistic_by(people, "sum", column="n", lower=0, upper=9, **how)
    with pytest.raises(lw.errors.SpecError, match="names no time column"):
        lw.statistic(
            lw.records("p.parquet", person="who"), "sum", column="n", lower=0, upper=9, start="2026", end="2027"
        )
    with pytest.raises(lw.errors.SpecError, match="timezone without time"):
        lw.records("p.parquet", person="who", timezone="UTC")


def test_closeness_of_the_time_itself_is_refused() -> None:
    people = lw.records(lw.query.Source("p.parquet", time_unit="s"), person="who", time="n")
    near = lw.statistic(people, "median", column="n", lower=0, upper=9, start="1970-01-01T00:00:01", end="1970-01-02")
    assert near.values is not None
    with pytest.raises(lw.errors.NotPrivateError, match="which also decides who counts"):
        lw.plan(near, lw.notion.Manhattan("1", near.values))


def test_a_check_says_when_and_how_much(shop: Town) -> None:
    code, out, err = shop.run("check", write(shop))
    assert code == 0, err
    told = " ".join(out.split())
    assert "600 rows in 3 windows window by window: 200, 200, 200" in told
    assert "the 3 windows run from 2026-01-01T00:00:00 to 2026-01-04T00:00:00" in told
    _, out, _ = shop.run("check", write(shop), "--json")
    looks = json.loads(out)["looks"]
    assert [(look["window"]["start"][:10], look["counted"]) for look in looks] == [
        ("2026-01-01", 200), ("2026-01-02", 200), ("2026-01-03", 200),
    ]  # fmt: skip
