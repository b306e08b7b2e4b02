"""Levels of ε for positions, beside budgets, reports that are shown again, places, cells and the map."""

from __future__ import annotations

import itertools
import sqlite3
from collections import defaultdict
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.private_files import write_private
from tests.spec.outcome import merged

from leeward.errors import BudgetConflictError, CapExceededError, DataError, InputError, LedgerError, LeewardError
from leeward.exact import exact, log
from leeward.ledger import MemoizedReports, PersonBudgets
from leeward.ledger._level_budgets import LevelBudgets
from leeward.local import check_job
from leeward.local.location import PlanarLaplace
from leeward.local.location._job import LocationJob

SECRET = bytes(range(32))
SPEC: dict[str, Any] = {
    "perturb": {"kind": "location"},
    "data": {"table": "p.parquet", "latitude": "lat", "longitude": "lon", "person": "who"},
    "box": {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1},
    "protect": {
        "within": None,
        "epsilon": "1/100",
        "step": "10 m",
        "level": "tier",
        "levels": {"usual": {}, "careful": {"epsilon": "1/300"}},
    },
}
SPENT: dict[str, Any] = {
    "data": {"time": "when"},
    "budget": {"store": "b.db", "secret": "a.key", "a_day": {"epsilon": "2/100"}},
}
AGAIN: dict[str, Any] = {"repeat": {"store": "m.db", "secret": "a.key"}}
BY_ROW: dict[str, Any] = {"protect": {"level_of": "row"}}
PLACES: dict[str, Any] = {"places": {"table": "places.csv", "latitude": "lat", "longitude": "lon"}}
TIERS = ["usual", "careful", "usual", "careful"]


def spec(*changes: dict[str, Any]) -> dict[str, Any]:
    made = SPEC
    for change in changes:
        made = merged(made, change)
    return made


def ran(folder: Path, *changes: dict[str, Any], new: bool = True) -> pd.DataFrame:
    check_job(spec(*changes), folder=folder).run(folder / "o.parquet", lambda *_: None, new=new)
    return pd.read_parquet(folder / "o.parquet")


def write(folder: Path, who: list[str], tiers: list[str], days: list[int] | None = None) -> None:
    days = [1] * len(who) if days is None else days
    when = [pd.Timestamp(2026, 3, day) for day in days]
    pd.DataFrame({"who": who, "tier": tiers, "lat": 39.9, "lon": 116.4, "when": when}).to_parquet(folder / "p.parquet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ["a", "b", "a", "b"], TIERS)
    write_private(tmp_path / "a.key", SECRET)
    lists = {"lat": [39.85, 39.9, 39.95], "lon": [116.3, 116.4, 116.5]}
    pd.DataFrame(lists).to_csv(tmp_path / "places.csv", index=False)
    return tmp_path


def points(table: pd.DataFrame) -> list[tuple[float, float]]:
    return list(zip(table["lat"], table["lon"], strict=True))


# ---- budgets: what the store adds up


def budgets(folder: Path, **change: Any) -> LevelBudgets:
    prices = [exact("1/100"), exact("1/300")]
    given = {"secret": SECRET, "notion": "ε a metre", "prices": prices, "a_day": exact("2/100"), "new": True}
    return LevelBudgets(folder / "s.db", **{**given, **change})


def slowly(
    people: list[int], days: list[int], prices: list[Fraction], cap: Fraction, reports: list[int] | None = None
) -> tuple[list[bool], dict[tuple[int, int], Fraction]]:
    """Which reports are paid for, one after the other, with sums of fractions; those that were paid for before are free."""
    spent: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    paid, free = [], set()
    for row, (person, day, price) in enumerate(zip(people, days, prices, strict=True)):
        again = reports is not None and reports[row] in free
        paid.append(again or spent[person, day] + price <= cap)
        if paid[-1] and not again:
            spent[person, day] += price
            if reports is not None:
                free.add(reports[row])
    return paid, dict(spent)


@pytest.mark.sweep
@pytest.mark.parametrize("repeats", [False, True])
def test_what_is_paid_for_is_what_a_slow_sum_of_fractions_pays(tmp_path: Path, repeats: bool) -> None:
    """Over 30 random tables in two batches each, of three people, two days and three prices with no common measure.

    Broken sums are told apart: of the larger price alone, of a count, of a cap that is not reached.
    """
    own = [Fraction(1, 100), Fraction(1, 300), Fraction(2, 700)]
    cap, differ = Fraction(3, 100), [0, 0, 0]
    for number in range(30):
        draws = np.random.default_rng(number)
        n = 40
        people, days, at, reports = (draws.integers(0, top, n).tolist() for top in (3, 2, 3, 25))
        asked = reports if repeats else None
        expected, spent = slowly(people, days, [own[price] for price in at], cap, asked)
        store = LevelBudgets(
            tmp_path / f"{number}.db",
            secret=SECRET,
            notion="n",
            prices=list(map(exact, own)),
            a_day=exact(cap),
            new=True,
        )
        found: list[bool] = []
        with store.charging("withhold") as charge:
            for part in (slice(0, 17), slice(17, n)):
                which = None if asked is None else [str(report).encode() for report in asked[part]]
                names = [f"p{person}" for person in people[part]]
                found += charge(names, days[part], reports=which, prices=at[part]).tolist()
        assert found == expected
        for person, day in itertools.product(range(3), range(2)):
            assert store.cost(f"p{person}", day) == spent.get((person, day), Fraction(0))
        wrong = (
            slowly(people, days, [max(own)] * n, cap, asked),
            slowly(people, days, [min(own)] * n, cap, asked),
            slowly(people, days, [own[price] for price in at], cap - Fraction(1, 2100), asked),
        )
        differ = [so_far + (broken[0] != expected) for so_far, broken in zip(differ, wrong, strict=True)]
    assert min(differ[:2]) > 5, differ
    assert differ[2] > 1, differ


def test_the_sum_is_exact_at_the_cap_also_of_logarithms(tmp_path: Path) -> None:
    """Three reports of ln 2 and two of ln 3 are ln 72, no more; a cap a hair below ln 72 does not pay for the last."""
    for number, (cap, last) in enumerate(((log(72), True), (log(72) - Fraction(1, 10**30), False))):
        prices = [log(2), log(3)]
        store = LevelBudgets(tmp_path / f"{number}.db", secret=SECRET, notion="n", prices=prices, a_day=cap, new=True)
        with store.charging("withhold") as charge:
            assert charge(["a"] * 5, [0] * 5, prices=[0, 1, 0, 1, 0]).tolist() == [True] * 4 + [last]


def test_prices_of_levels_that_a_later_spec_does_not_list_still_count(tmp_path: Path) -> None:
    """And the numbers of prices are those of whoever asks: here they are listed the other way round, with a third."""
    with budgets(tmp_path).charging() as charge:
        charge(["a"] * 4, [0] * 4, prices=[0, 1, 1, 1])
    later = budgets(tmp_path, prices=[exact("1/1000")])
    assert later.cost("a", 0) == exact("2/100")
    with later.charging("withhold") as charge:
        assert charge(["a", "b", "a"], [0, 0, 1], prices=[0, 0, 0]).tolist() == [False, True, True]
    turned = budgets(tmp_path, prices=[exact("1/300"), exact("1/100")])
    with turned.charging() as charge:
        charge(["b", "b"], [0, 0], prices=[0, 1])
    assert turned.cost("b", 0) == exact("1/1000") + exact("1/300") + exact("1/100")
    assert turned.spent("b", 0) == 3


def test_a_dear_report_is_withheld_and_a_cheap_one_after_it_is_made(tmp_path: Path) -> None:
    with budgets(tmp_path).charging("withhold") as charge:
        assert charge(["a"] * 5, [0] * 5, prices=[0, 1, 0, 1, 1]).tolist() == [True, True, False, True, True]
    with (
        pytest.raises(CapExceededError, match=r"cost more than ε = 1/50 together"),
        budgets(tmp_path).charging() as charge,
    ):
        charge(["a"], [0], prices=[1])


def test_a_store_of_levels_is_opened_as_it_was_made(tmp_path: Path) -> None:
    with budgets(tmp_path).charging() as charge:
        charge(["a"], [0], prices=[0])
    for change in ({"notion": "another"}, {"a_day": exact("3/100")}, {"secret": bytes(32)}):
        with pytest.raises(BudgetConflictError):
            budgets(tmp_path, **change)
    with pytest.raises(BudgetConflictError, match="another kind"):
        PersonBudgets(tmp_path / "s.db", secret=SECRET, price="ε a metre", reports_a_day=2)
    PersonBudgets(tmp_path / "one.db", secret=SECRET, price="ε a metre", reports_a_day=2, new=True)
    with pytest.raises(BudgetConflictError, match="another kind"):
        LevelBudgets(tmp_path / "one.db", secret=SECRET, notion="ε a metre", prices=[exact(1)], a_day=exact(2))
    with pytest.raises(InputError, match="Reports without prices"), budgets(tmp_path).charging() as charge:
        charge(["a"], [0])


def test_a_price_that_was_changed_is_damage(tmp_path: Path) -> None:
    import sqlite3

    with budgets(tmp_path).charging() as charge:
        charge(["a"], [0], prices=[0])
    with sqlite3.connect(tmp_path / "s.db") as store:
        store.execute("UPDATE about SET value = 'nine' WHERE key = 'price 0'")
    with pytest.raises(LedgerError, match="A price of reports"), budgets(tmp_path).charging() as charge:
        charge(["a"], [0], prices=[0])


# ---- budgets: what the command charges


def cost(folder: Path, person: str, day: int) -> Any:
    job = check_job(spec(SPENT), folder=folder)
    store = job._budgets(new=False)
    return store.cost(person, (pd.Timestamp(2026, 3, day) - pd.Timestamp(1970, 1, 1)).days)


def test_each_report_is_charged_at_the_price_of_its_level(folder: Path) -> None:
    ran(folder, SPENT)
    assert cost(folder, "a", 1) == exact("2/100")
    assert cost(folder, "b", 1) == exact("2/300")
    assert cost(folder, "b", 2) == 0
    with pytest.raises(CapExceededError):
        ran(folder, SPENT)
    assert cost(folder, "b", 1) == exact("2/300")
    write(folder, ["b"] * 4, ["careful"] * 4)
    ran(folder, SPENT)
    assert cost(folder, "b", 1) == exact("6/300")


def test_a_person_who_changes_level_pays_each_report_at_its_own_price(folder: Path) -> None:
    """From one table to the next, and from row to row where the spec says so."""
    ran(folder, SPENT)
    write(folder, ["b"], ["usual"])
    ran(folder, SPENT)
    assert cost(folder, "b", 1) == exact("2/300") + exact("1/100")
    write(folder, ["c", "c", "c", "c"], ["usual", "careful", "careful", "careful"], [2, 2, 2, 3])
    ran(folder, SPENT, BY_ROW)
    assert cost(folder, "c", 2) == exact("1/100") + exact("2/300")
    assert cost(folder, "c", 3) == exact("1/300")


def test_what_is_withheld_is_what_is_not_paid_for(folder: Path) -> None:
    write(folder, ["a"] * 5 + ["b"], ["usual", "careful", "usual", "careful", "careful", "usual"])
    made = ran(folder, SPENT, BY_ROW, {"budget": {"over": "withhold"}})
    assert made["lat"].isna().tolist() == [False, False, True, False, False, False]


def test_without_times_the_level_is_not_taken_for_a_day(folder: Path) -> None:
    ran(folder, SPENT, {"data": {"time": None}})


def test_an_unlisted_level_is_charged_to_nobody(folder: Path) -> None:
    write(folder, ["a", "b"], ["usual", "secretive"])
    with pytest.raises(LeewardError, match="1 row with a level"):
        ran(folder, SPENT)
    assert cost(folder, "a", 1) == 0


def test_the_price_of_snapping_is_epsilon_times_one_length() -> None:
    for norm, step in itertools.product(("euclidean", "manhattan"), ("1 m", "7 m")):
        for asked in ({"epsilon": "1/100"}, {"within": "200 m", "factor": 2}):
            geo = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), norm=norm, step=step, **asked)  # type: ignore[arg-type]
            assert geo.snapping == geo.epsilon * geo.apart


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([SPENT, {"budget": {"reports_a_day": 2}}], "reports of several levels have several prices"),
        ([SPENT, {"budget": {"a_day": None}}], "[budget] a_day is missing"),
        ([SPENT, {"budget": {"a_day": {"epsilon": "1/200"}}}], "one report of the level usual costs ε = 1/100"),
        ([SPENT, {"budget": {"a_day": {"within": "1 km"}}}], "The promise is given twice, or in part"),
        ([SPENT, {"budget": {"a_day": {"epsilon": "1", "window": 3}}}], "this key is not known"),
        ([SPENT, {"protect": {"level": None, "levels": None}}], "a budget is a number of them"),
        (
            [SPENT, {"budget": {"a_day": None}}, {"protect": {"level": None, "levels": None}}],
            "[budget] reports_a_day is missing",
        ),
        ([BY_ROW, {"protect": {"level": None, "levels": None}}], "[protect] level_of"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(LeewardError) as refused:
        check_job(spec(*changes))
    assert said in str(refused.value)


def test_the_statement_tells_the_cap_and_the_prices(folder: Path) -> None:
    made = check_job(spec(SPENT, AGAIN, BY_ROW), folder=folder).statement()
    assert (made.budget.a_day, made.budget.reports_a_day) == ("1/50", None)
    assert "new ones of a person and day are made up to ε = 0.02 a metre together" in made.not_guaranteed[0]
    assert "each at the price of its level" in made.not_guaranteed[0]
    assert any("At another level" in each for each in made.not_guaranteed)
    assert made.levels.of == "row"
    assert any("may change from one row of a person to the next" in each for each in made.assumptions)
    (pair,) = made.levels.exchanges
    usual, careful = (each.promise for each in made.levels.each)
    assert pair.epsilon_per_metre == str(exact("1/100") + exact("1/300"))
    assert pair.levels == ("usual", "careful")
    assert [usual.epsilon_per_metre, careful.epsilon_per_metre] == ["1/100", "1/300"]
    said = dict(check_job(spec(), folder=folder).facts())
    assert said["level careful"].startswith("ε = 1/300 a metre; moves by")


# ---- the same report again


def test_a_report_is_shown_again_at_its_level_only(folder: Path) -> None:
    """And costs nothing then. At another level there is another, at its own price; a level that is renamed is the same."""
    first = ran(folder, SPENT, AGAIN)
    said = check_job(spec(SPENT, AGAIN), folder=folder).statement().not_guaranteed
    assert any("two of different levels do not show that the person moved" in text for text in said)
    assert first["lat"][0] == first["lat"][2]
    assert first["lat"][1] == first["lat"][3]
    assert points(ran(folder, SPENT, AGAIN)) == points(first)
    assert (cost(folder, "a", 1), cost(folder, "b", 1)) == (exact("1/100"), exact("1/300"))
    write(folder, ["a", "b"], ["careful", "usual"])
    other = ran(folder, SPENT, AGAIN)
    assert points(other)[:2] != points(first)[:2]  # both are as before by a chance of 10⁻⁸
    assert cost(folder, "a", 1) == cost(folder, "b", 1) == exact("1/100") + exact("1/300")
    write(folder, ["a", "b"], ["plain", "careful"])
    renamed = {"protect": {"levels": {"plain": {}, "careful": {"epsilon": "1/300"}}}}
    assert points(ran(folder, SPENT, AGAIN, renamed)) == [points(first)[0], points(first)[1]]


def test_a_level_that_asks_for_another_epsilon_is_another_law(folder: Path) -> None:
    first = points(ran(folder, AGAIN))
    changed = points(ran(folder, AGAIN, {"protect": {"levels": {"usual": {}, "careful": {"epsilon": "1/301"}}}}))
    assert [one == other for one, other in zip(first, changed, strict=True)] == [True, False, True, False]


def test_a_store_without_levels_is_not_one_with_them(folder: Path) -> None:
    alone = {"protect": {"level": None, "levels": None}}
    ran(folder, AGAIN, alone)
    with pytest.raises(BudgetConflictError, match="another law"):
        ran(folder, AGAIN)
    for change in ({"protect": {"step": "20 m"}}, {"protect": {"norm": "manhattan"}}, {"box": {"east": 116.61}}):
        ran(folder, {"repeat": {"store": "n.db", "secret": "a.key"}})
        with pytest.raises(BudgetConflictError, match="another law"):
            ran(folder, {"repeat": {"store": "n.db", "secret": "a.key"}}, change)


def test_the_law_is_in_the_key_of_a_report(tmp_path: Path) -> None:
    """The keys of stores without levels are as they were: one purpose for each, and no law in it."""
    memo = MemoizedReports(tmp_path / "m.db", key=SECRET, law="l", new=True)
    people, at = ["a", "b"], np.array([[1, 2], [3, 4]])
    keys = memo.keys(people, at) + memo.keys(people, at, ["x", "x"]) + memo.keys(people, at, ["y", "y"])
    assert len(set(keys)) == 6
    assert memo.keys(people, at, ["x", "y"]) == [keys[2], keys[5]]
    assert memo.keys(["a"], at[:1]) == [memo.digest("answer", "a", 1, 2)]


# ---- places, cells and the map


def test_each_level_has_the_remap_and_the_best_mechanism_of_its_own_epsilon(folder: Path) -> None:
    north, east = (np.array(each) for each in zip((39.85, 116.3), (39.9, 116.4), (39.95, 116.5), strict=True))
    made = check_job(spec(PLACES), folder=folder).levels
    for name, geo in made.mechanisms.items():
        alone = PlanarLaplace(
            box=(116.2, 39.75, 116.6, 40.1), epsilon={"usual": "1/100", "careful": "1/300"}[name], step="10 m"
        ).to_places(north, east)
        noisy = np.random.default_rng(1).integers(-2000, 2000, (300, 2))
        assert np.array_equal(geo.shown(noisy), alone.shown(noisy))
        assert np.array_equal(made.shown(noisy, [name] * 300), alone.shown(noisy))
    best = check_job(spec(PLACES, {"places": {"use": "best"}}), folder=folder)
    grids = [geo.to_grid(north, east).tolist() for geo in best.levels.mechanisms.values()]
    assert grids[0] == grids[1]
    losses = {each.name: each.expected_loss.best for each in best.statement().levels.each}
    assert losses["careful"] > losses["usual"]
    laws = best.levels.laws(["usual", "careful"])
    assert all(", the best over the places " in law for law in laws)
    assert len(set(laws)) == 2


def test_rows_are_shown_by_the_remap_of_their_level(folder: Path) -> None:
    made = check_job(spec(), folder=folder).levels
    for number, geo in enumerate(made.mechanisms.values()):
        geo._steps = replace(
            geo._steps, shown=lambda noisy, number=number: (noisy[:, 0] + 0.25 * number, noisy[:, 1] * 1.0)
        )
    noisy = np.arange(8).reshape(4, 2)
    north, east = made.shown(noisy, TIERS)
    assert (north - noisy[:, 0]).tolist() == [0, 0.25, 0, 0.25]
    assert east.tolist() == noisy[:, 1].tolist()


@pytest.mark.parametrize("use", ["remap", "best"])
def test_reports_of_all_levels_are_at_places(folder: Path, use: str) -> None:
    made = ran(folder, PLACES, {"places": {"use": use}}, SPENT, AGAIN)
    assert set(points(made)) <= {(39.85, 116.3), (39.9, 116.4), (39.95, 116.5)}
    again = ran(folder, PLACES, {"places": {"use": use}}, SPENT, AGAIN)
    assert points(again) == points(made)
    said = check_job(spec(PLACES, {"places": {"use": use}}), folder=folder).statement()
    assert said.expected_loss is None
    assert all(each.expected_loss is not None for each in said.levels.each)


def test_cells_of_reports_at_places(folder: Path) -> None:
    pytest.importorskip("h3")
    made = ran(folder, PLACES, {"output": {"h3": 7}})
    assert made["h3"].notna().all()
    said = check_job(spec(PLACES, {"output": {"h3": 7}}), folder=folder).statement()
    assert any("H3 cell" in each for each in said.post_processing)


def test_the_map_has_a_picture_for_each_level(folder: Path) -> None:
    ran(folder, {"output": {"map": True}})
    page = (folder / "o.parquet.map.html").read_text(encoding="utf-8")
    assert page.index("<h2>Level usual</h2>") < page.index("<h2>Level careful</h2>")
    assert page.count("What the noise does to made-up people: epsilon=") == 2


@pytest.mark.parametrize("changes", [(), ({"protect": {"level": None, "levels": None}},)], ids=["levels", "one level"])
def test_a_store_that_forgets_within_a_run_draws_nothing_that_was_not_paid_for(
    changes: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: a report that was known when others were charged was drawn anew, and nobody paid, if the store lost it then."""
    write_private(tmp_path / "a.key", SECRET)
    one = ({"budget": {"a_day": None, "reports_a_day": 2}},) if changes else ()
    write(tmp_path, ["a", "b"], ["usual", "careful"])
    ran(tmp_path, SPENT, AGAIN, *changes, *one)
    charge = LocationJob._charge

    def charged(*given: Any) -> Any:
        found = charge(*given)
        with closing(sqlite3.connect(tmp_path / "m.db")) as store, store:
            store.execute("DELETE FROM memo")
        return found

    monkeypatch.setattr(LocationJob, "_charge", charged)
    (tmp_path / "o.parquet").unlink()
    with pytest.raises(DataError, match="forgot what it held"):
        ran(tmp_path, SPENT, AGAIN, *changes, *one)
    assert not (tmp_path / "o.parquet").exists()
