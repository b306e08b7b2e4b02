"""The sanitized mechanism costs ε for each stop that there can be: at most c, and no more than places are listed."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.deciding import decide_by
from tests.session.conftest import Town

import leeward as lw
from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError
from leeward.exact import inf
from leeward.ledger import Ledger
from leeward.mechanism import AdaptiveSanitized, Sanitized
from leeward.verification import verify

TABLE = pd.DataFrame({"who": ["a", "b", "b"], "p": ["x0", "x0", "x1"], "at": pd.Timestamp("2026-01-01T12:30")})
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04")
NOTIONS: dict[str, tuple[lw.notion.Notion, str]] = {
    "addition-only": (lw.AdditionOnly("3"), "3"),
    "presence": (lw.Presence("3"), "3"),
    "personalised": (lw.Personalised(lw.AdditionOnly("3"), ["3", "1/2"]), "3"),
    "both": (lw.both_hold(lw.AdditionOnly("3"), lw.Presence("4")), "4"),
}
SIZES = list(itertools.product((1, 2, 3), (1, 2, 3, 9)))


def asked(places: int, day: int = 0) -> Any:
    seen = lw.visits(TABLE, person="who", place="p", time="at")
    listed = lw.places(pd.DataFrame({"p": [f"x{i}" for i in range(places)]}), place="p")
    return lw.count_visitors(seen, listed, start=DAYS[day], end=DAYS[day + 1])


@pytest.mark.parametrize(("places", "stops"), SIZES)
@pytest.mark.parametrize("at_most", [0, 1])
def test_the_least_price_is_one_for_each_stop_that_there_can_be(places: int, stops: int, at_most: int) -> None:
    """`verify` goes through all vectors: everybody may have been everywhere, so min(c, n) is needed, and enough."""
    cube = list(itertools.product(range(at_most + 2), repeat=places))
    steps = [[1 if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in cube] for x in cube]
    apart = FiniteDistance.closed(cube, steps)
    made = Sanitized(Line(inf, 1), at_most=[at_most] * places, stop_after=stops)
    verdict = verify(made.on(cube), apart.scale(made.price))
    assert verdict
    assert verdict.exact_scale == 1
    assert made.price == min(places, stops)


@pytest.mark.sweep
@pytest.mark.parametrize(("places", "stops"), [*itertools.product((1, 2), (1, 2, 9)), (3, 1), (3, 2)])
def test_looks_cost_no_more_than_that_either(places: int, stops: int) -> None:
    """At n places n·ε pays for every answer. The far look hardly sees these counts, and nine tenths would not be enough."""
    cube = list(itertools.product(range(3), repeat=places))
    steps = [[1 if all(0 <= a - b <= 1 for a, b in zip(x, y, strict=True)) else inf for y in cube] for x in cube]
    apart = FiniteDistance.closed(cube, steps)
    made = AdaptiveSanitized(Line(inf, 1), at_most=0, budget=stops, margins=[6])
    paid = made.payments(places)
    assert paid == min(places, stops)
    assert verify(made.on(cube), apart.scale(paid))
    assert not verify(made.on(cube), apart.scale(paid).scale("9/10"))


@pytest.mark.parametrize("mechanism", ["sanitized", "adaptive"])
@pytest.mark.parametrize("name", NOTIONS)
def test_plan_statement_and_charge_agree(name: str, mechanism: str, tmp_path: Path) -> None:
    agree(name, mechanism, [(1, 2), (3, 2)], tmp_path)


@pytest.mark.sweep
@pytest.mark.parametrize("mechanism", ["sanitized", "adaptive"])
@pytest.mark.parametrize("name", NOTIONS)
def test_plan_statement_and_charge_agree_for_every_size(name: str, mechanism: str, tmp_path: Path) -> None:
    agree(name, mechanism, SIZES, tmp_path)


def agree(name: str, mechanism: Any, sizes: list[tuple[int, int]], tmp_path: Path) -> None:
    notion, each = NOTIONS[name]
    for places, stops in sizes:
        query = asked(places)
        price = min(places, stops) * lw.exact.exact(each)
        asks: dict[str, Any] = {"safe_at_most": 2, "mechanism": mechanism, "stop_after": stops}
        made = decide_by(lw.plan, query, notion, **asks).listing(places)
        budget = lw.Budget(tmp_path / f"{places}-{stops}.db", "d", "9000")
        found = lw.release(decide_by(lw.plan, query, notion, **asks), budget, if_doubtful="publish")
        assert made.price == price
        assert found.statement.price == found.curator.charged == str(price)
        assert found.statement.notion.epsilon == str(price)
        assert Ledger(budget.ledger).show("d")[0].spent == price.rational
        compared = decide_by(lw.compare, query, notion, **asks, scenario=lw.planner.Scenario(places=places))
        assert compared.as_written is not None
        assert compared.as_written.price == price
        if stops >= places:
            assert found.answers["answered"].to_pylist() == [True] * places
            assert not any("after the stop" in each for each in found.statement.not_guaranteed)


def test_a_plan_that_does_not_know_the_list_says_at_most() -> None:
    made = lw.plan(asked(1), lw.Presence("3"), lw.Decide(safe_at_most=2), mechanism="sanitized", stop_after=2)
    assert made.price == 6
    assert "price at most 6" in str(made)
    assert "price 3" in str(made.listing(1))
    with pytest.raises(InputError, match="places = 0"):
        made.listing(0)


@pytest.mark.parametrize("listed", [False, True])
def test_a_monitor_may_be_given_more_windows_and_costs_all_its_stops(tmp_path: Path, listed: bool) -> None:
    """One place: each round has one answer, and yet there may be as many stops as rounds, whatever the plans say."""
    for stops in (1, 2, 3):
        plans = [
            lw.plan(asked(1, day), lw.Presence("3"), lw.Decide(safe_at_most=2), mechanism="sanitized", stop_after=stops)
            for day in range(3)
        ]
        if listed:  # as of plans that were shown with the price of one release
            plans = [each.listing(1) for each in plans]
        budget = lw.Budget(tmp_path / f"{stops}.db", "d", "9000")
        watch = lw.monitor(plans, budget, if_doubtful="publish")
        assert watch.price_at_most == 3 * stops
        for one in watch.releases:
            assert one.statement.price == one.statement.monitor.price_at_most == str(3 * stops)
            assert any("after the stop" in each for each in one.statement.not_guaranteed)
        assert Ledger(budget.ledger).show("d")[0].spent == watch.spent.rational == 3 * watch.state.stops


WINDOWS = "[window]\nstart = 2026-01-01T18:00:00\nend = 2026-01-01T19:00:00\n"
CHANGES = (
    ('places_per_person = 1\nif_more = "latest"\n', ""),
    ('what = "counts"', "stop_after = 9"),
    ('"addition-only"', '"presence"'),
    ('epsilon = "1"', 'epsilon = "3"'),
    ('cap = "5"', 'cap = "9000"'),
)


@pytest.mark.parametrize("windows", [1, 2])
def test_the_command_tells_charges_and_compares_the_same(town: Town, windows: int) -> None:
    every = (WINDOWS, WINDOWS.replace("19:", "20:") + 'every = "1h"\n') if windows == 2 else (WINDOWS, WINDOWS)
    spec, listed = town.spec(*CHANGES, every), town.folder / "places.parquet"
    pd.read_parquet(listed).head(2).to_parquet(listed)
    assert town.run("release", spec, "--dry-run")[1].splitlines()[-1].startswith(f"Price: {6 * windows} in all.")
    row = json.loads(town.run("plan", spec, "--json")[1])["options"][0]
    assert (row["price"], row["price_in_budget"], row["price_in_asked"]) == ("6", "6", "2")
    code, out, _ = town.run("release", spec, "--out", town.out, "--yes", "--if-doubtful", "publish")
    assert code == 0
    assert ("2 windows at 6 each: a total price of at most 12." in out) == (windows == 2)
    assert Ledger(f"sqlite:///{town.folder / 'budget.db'}").show()[0].spent == 6 * windows
