"""Where a window fails no window of the release is charged; what is paid for when a run ends is said, and written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.session.conftest import Town
from tests.session.test_monitor_command import HOURLY, SANITIZED

import leeward as lw
from leeward.errors import InputError, LeewardError
from leeward.ledger import Ledger
from leeward.session._session import Session
from leeward.spec import read_spec

REFUSING = [HOURLY, ('if_more = "latest"', 'if_more = "refuse"')]


def visited(town: Town, hours: dict[int, list[tuple[str, str]]]) -> None:
    """In each hour, who was where, and nobody else."""
    rows = [(who, venue, pd.Timestamp(f"2026-01-01T{hour}:30")) for hour, seen in hours.items() for who, venue in seen]
    pd.DataFrame(rows, columns=["user", "venue", "at"]).to_parquet(town.folder / "visits.parquet")


CROWD = [(f"p{i}", f"v{i}") for i in range(40)]
TWICE = [*CROWD, ("p0", "v1")]


def spent(town: Town) -> str:
    """What is spent of the town's budget."""
    return str(Ledger(town.folder / "budget.db").show("town")[0].spent)


def test_a_window_that_is_refused_refuses_all_and_charges_nothing(town: Town) -> None:
    visited(town, {18: CROWD, 19: CROWD, 20: TWICE, 21: CROWD})
    code, _, err = town.run("release", town.spec(*REFUSING), "--out", town.out)
    assert code == 2
    assert "at more places than places_per_person allows" in err
    assert "charged" not in err
    assert not town.out.exists()
    ledger = Ledger(town.folder / "budget.db")
    assert ledger.show("town") == []
    assert [entry.kind for entry in ledger.history()] == ["opened", *["reserved"] * 4, *["withdrawn"] * 4]


@pytest.mark.parametrize("at", [1, 2])
@pytest.mark.parametrize("command", ["release", "monitor"])
def test_a_window_that_is_paid_for_when_an_interrupt_comes_is_said_to_be(
    command: str, at: int, town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All are paid for before the first of them is made ready; those that were made ready are written."""
    visited(town, {18: CROWD, 19: CROWD, 20: CROWD})
    publish, done = Session.publish, list[int]()

    def interrupted(*given: Any, **named: Any) -> Any:
        done.append(1)
        if len(done) == at:
            raise KeyboardInterrupt
        return publish(*given, **named)

    monkeypatch.setattr(Session, "publish", interrupted)
    changes = REFUSING if command == "release" else SANITIZED
    code, _, err = town.run(command, town.spec(*changes), "--out", town.out, "--if-doubtful", "publish")
    assert code == 130
    assert ("What was answered is at" in err) == (at == 2)
    charged = [entry for entry in Ledger(town.folder / "budget.db").history("town") if entry.kind == "released"]
    assert f"{len(charged)} windows are answered and charged, and that stands" in err
    assert len(charged) == 4


def test_rounds_before_one_that_the_budget_does_not_pay_for_are_written(town: Town) -> None:
    visited(town, {18: [], 19: CROWD, 20: CROWD})
    watch, ask = town.spec(*SANITIZED).read_text(), ["--out", town.out, "--if-doubtful", "publish"]
    code, _, err = town.run("monitor", town.spec(*SANITIZED), *ask, "--until", "2026-01-01T19:00:00")
    assert code == 0, err
    other = town.spec(('epsilon = "1"', 'epsilon = "1/2"'), ('cap = "5"', 'cap = "80"'))
    code, _, err = town.run(
        "release", other, "--out", town.folder / "beside", "--if-doubtful", "publish", "--accept-useless"
    )
    assert code == 0, err
    (town.folder / "spec.toml").write_text(watch)
    code, _, err = town.run("monitor", town.folder / "spec.toml", *ask)
    assert code == 2
    assert "This release costs 80, and 159/2 is left" in err
    assert "1 window is answered and charged, and that stands" in err
    assert spent(town) == "1/2"
    held = sorted(each.name for each in town.out.iterdir())
    assert held == ["2026-01-01T18-00-00", "leeward-files.json", "report.html"]
    done: list[Any] = []
    with pytest.raises(LeewardError):
        lw.monitor(
            read_spec(town.folder / "spec.toml").visitor_plans(),
            lw.Budget(str(town.folder / "budget.db"), "town"),
            if_doubtful="publish",
            done=done,
        )
    assert [each.statement.monitor.round for each in done] == [1]


@pytest.mark.parametrize("done", [(), {}, "", 0, ["a"], [None], np.zeros(0)], ids=repr)
def test_only_an_empty_list_takes_what_is_done(done: Any, town: Town) -> None:
    plans = read_spec(town.spec(*SANITIZED)).visitor_plans()
    before = sorted(each.name for each in town.folder.iterdir())
    with pytest.raises(InputError, match="done is not an empty list"):
        lw.monitor(plans, lw.Budget(str(town.folder / "budget.db"), "town", cap="5", new=True), done=done)
    assert sorted(each.name for each in town.folder.iterdir()) == before


def test_hours_that_no_clock_shows_are_neither_answered_nor_charged(town: Town) -> None:
    """In Paris the clocks of 29 March 2026 go from 02:00 to 03:00: of the day's hours there are 23."""
    rows = [("a", "v1", pd.Timestamp(f"2026-03-29T{hour:02}:30")) for hour in range(24)]
    pd.DataFrame(rows, columns=["user", "venue", "at"]).to_parquet(town.folder / "visits.parquet")
    zone, cap = ('time = "at"', 'time = "at"\ntimezone = "Europe/Paris"'), ('cap = "5"', 'cap = "30"')
    hour = [("start = 2026-01-01T18", "start = 2026-03-29T02"), ("end = 2026-01-01T19", "end = 2026-03-29T03")]
    code, _, err = town.run("release", town.spec(zone, cap, *hour), "--out", town.out)
    assert code == 2
    assert "The window from 2026-03-29T02:00:00 to 2026-03-29T03:00:00" in err
    assert "in Europe/Paris can lie in it" in err
    assert not town.out.exists()
    assert not Ledger(town.folder / "budget.db").show("town"), "not even a budget was opened"
    day = [
        ("start = 2026-01-01T18", "start = 2026-03-29T00"),
        ("end = 2026-01-01T19:00:00", 'end = 2026-03-30T00:00:00\nevery = "1h"'),
    ]
    code, _, err = town.run("release", town.spec(zone, cap, *day), "--out", town.out)
    assert code == 0, err
    hours = {f"2026-03-29T{hour:02}:00:00" for hour in range(24)} - {"2026-03-29T02:00:00"}
    assert set(pd.read_parquet(town.out / "answers.parquet")["window_start"]) == hours
    assert spent(town) == "23"
