"""A plan is what is released, so one that was altered by hand is refused, before anything is charged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward.distance import Line
from leeward.errors import InputError
from leeward.ledger import Ledger
from leeward.mechanism import AdaptiveSanitized, Geometric, NoisyMax, Sanitized
from leeward.noise import SeededBitsForTests
from leeward.planner import NumberPlan, Plan, SelectionPlan, UnlistedPlan
from leeward.session._release import release_planned

TABLE = pd.DataFrame({"who": ["ann", "bob"], "at": ["a", "b"], "n": [1, 2], "when": pd.Timestamp("2026-01-01T18:30")})
LIST = lw.places(pd.DataFrame({"at": ["a", "b", "c"]}), place="at")


def visitors(**decided: Any) -> Plan:
    visits = lw.visits(TABLE, person="who", place="at", time="when")
    query = lw.count_visitors(visits, LIST, start="2026-01-01T18:00", end="2026-01-01T19:00", places_per_person=1)
    return decide_by(lw.plan, query, lw.AdditionOnly("2"), safe_at_most=1, **decided)


def number(kind: Any = "sum") -> NumberPlan:
    query = lw.statistic(lw.records(TABLE, person="who"), kind, column="n", lower=0, upper=2)
    return lw.plan(query, lw.UnboundedDP("9"))


def name() -> SelectionPlan:
    return lw.plan(lw.select(visitors().query), lw.UnboundedDP("9"))


def groups() -> UnlistedPlan:
    """Without a δ, which no removal-only private answer needs."""
    query = lw.unlisted_groups(lw.records(TABLE, person="who"), "at", groups_per_person=1, if_more="refuse")
    return lw.plan(query, lw.RemovalOnly("9"))


class Louder(Plan):
    """A plan of somebody's own."""


QUIET = Geometric(Line(lw.inf, "20"))
SOUND = visitors()
SEVERAL = number("mean")

ALTERED: dict[str, Callable[[], Any]] = {
    "less noise": lambda: dataclasses.replace(SOUND, mechanism=QUIET),
    "noise the other way": lambda: dataclasses.replace(SOUND, mechanism=Geometric(Line("2", lw.inf))),
    "coarser noise": lambda: dataclasses.replace(SOUND, mechanism=Geometric(SOUND.mechanism.line, step="1/2")),
    "another mechanism": lambda: dataclasses.replace(
        SOUND, mechanism=Sanitized(Line(lw.inf, "9"), at_most=1, stop_after=1)
    ),
    "a smaller margin": lambda: dataclasses.replace(
        visitors(mechanism="adaptive", stop_after=3),
        mechanism=AdaptiveSanitized(Line(lw.inf, "2"), at_most=1, budget=6, margins=[0]),
    ),
    "a greater threshold": lambda: dataclasses.replace(
        SOUND,
        decisions=dataclasses.replace(SOUND.decisions, safe=dataclasses.replace(SOUND.decisions.safe, threshold=9)),
    ),
    "a notion that promises more": lambda: dataclasses.replace(SOUND, notion=lw.AdditionOnly("1")),
    "a notion the other way": lambda: dataclasses.replace(SOUND, notion=lw.RemovalOnly("2")),
    "a class of its own": lambda: Louder(**{f.name: getattr(SOUND, f.name) for f in dataclasses.fields(SOUND)}),
    "less noise on a number": lambda: dataclasses.replace(number(), parts=(Geometric(Line("90", "90")),)),
    "one part of two": lambda: dataclasses.replace(SEVERAL, parts=SEVERAL.parts[:1]),
    "a scale of its own": lambda: dataclasses.replace(number(), scale=dataclasses.replace(number().scale, unit=2)),
    "less noise on a name": lambda: dataclasses.replace(name(), mechanism=NoisyMax("90")),
    "a name under less": lambda: dataclasses.replace(name(), notion=lw.UnboundedDP("1/9")),
    "groups under less": lambda: dataclasses.replace(groups(), notion=lw.RemovalOnly("3")),
    "a number under less": lambda: dataclasses.replace(number(), notion=lw.UnboundedDP("3")),
}


@pytest.mark.parametrize("case", ALTERED)
def test_an_altered_plan_is_refused_and_charges_nothing(case: str, tmp_path: Path) -> None:
    budget = lw.Budget(tmp_path / "b.db", "d", "50")
    with pytest.raises(lw.LeewardError) as refused:
        lw.release(ALTERED[case](), budget, if_doubtful="publish", accept_useless=True)
    if "the other way" not in case:  # planned anew, the notion itself may refuse what was asked
        assert isinstance(refused.value, InputError)
        assert "altered by hand" in str(refused.value)
    assert Ledger(budget.ledger).show("d") == []


@pytest.mark.parametrize(
    "plan",
    [
        visitors(),
        *(visitors(mechanism=m, stop_after=2) for m in ("sanitized", "adaptive")),
        number(),
        number("mean"),
        name(),
        groups(),
    ],
)
def test_a_plan_as_it_was_made_is_released(plan: Any, tmp_path: Path) -> None:
    budget = lw.Budget(tmp_path / "b.db", "d", "50")
    made = lw.release(plan, budget, if_doubtful="publish", accept_useless=True)
    again = lw.release(dataclasses.replace(plan), budget)
    assert again.answers == made.answers


def test_a_monitor_refuses_one_too(tmp_path: Path) -> None:
    sound = visitors(mechanism="sanitized", stop_after=1)
    budget = lw.Budget(tmp_path / "b.db", "d", "50")
    quiet = dataclasses.replace(sound, mechanism=Sanitized(Line(lw.inf, "9"), at_most=1, stop_after=1))
    with pytest.raises(InputError, match="altered by hand"):
        lw.monitor([quiet], budget, if_doubtful="publish", accept_useless=True)
    assert Ledger(budget.ledger).show("d") == []


def quietened(change: Callable[[Any], None], plan: Any) -> Any:
    change(plan)
    return plan


IN_PLACE: dict[str, Callable[[], Any]] = {
    "its law": lambda: quietened(lambda p: setattr(p.mechanism, "law", QUIET.law), visitors(what="counts")),
    "its draw": lambda: quietened(lambda p: setattr(p.mechanism, "noisy", lambda c, bits: c), visitors(what="counts")),
    "the law of a number": lambda: quietened(lambda p: setattr(p.parts[0], "law", QUIET.law), number()),
    "its thresholds": lambda: quietened(
        lambda p: setattr(p.mechanism, "_thresholds", np.array(10**6)), visitors(mechanism="sanitized", stop_after=3)
    ),
    "its looks": lambda: quietened(
        lambda p: setattr(p.mechanism, "laws", (QUIET.law, QUIET.law)), visitors(mechanism="adaptive", stop_after=3)
    ),
}


@pytest.mark.parametrize("case", IN_PLACE)
def test_nothing_of_a_given_plan_draws_noise(case: str, tmp_path: Path) -> None:
    """Seeded: what is altered where no comparison sees it gives the very answer of the plan as it was made."""
    sound = {"its law": visitors(what="counts"), "its draw": visitors(what="counts"), "the law of a number": number()}
    sound["its looks"] = visitors(mechanism="adaptive", stop_after=3)
    plain = sound.get(case, visitors(mechanism="sanitized", stop_after=3))
    answers = []
    for name, plan in (("sound", plain), ("altered", IN_PLACE[case]())):
        made = lw.release(
            plan,
            lw.Budget(tmp_path / f"{name}.db", "d", "50"),
            bits=SeededBitsForTests(5),
            if_doubtful="publish",
            accept_useless=True,
        )
        answers.append(made.answers)
    assert answers[0] == answers[1]


def day(date: int, who: list[str], place: str) -> pd.DataFrame:
    return pd.DataFrame({"who": who, "at": place, "when": pd.Timestamp(f"2026-01-0{date}T18:30")})


def of_day(date: int, table: Any, listed: Any = LIST) -> Plan:
    visits = lw.visits(table, person="who", place="at", time="when")
    query = lw.count_visitors(visits, listed, start=f"2026-01-0{date}T18:00", end=f"2026-01-0{date}T19:00")
    return lw.plan(query, lw.AdditionOnly("5"), lw.Decide(safe_at_most=1), stop_after=2)


def test_a_monitor_reads_one_table_and_refuses_plans_about_others(tmp_path: Path) -> None:
    """Each day in a table of its own: the third day would be counted in the second one's, where nobody was."""
    first, second = day(2, ["ann"], "a"), day(3, [f"p{i}" for i in range(500)], "b")
    whole = pd.concat([first, second])
    for name, frame in {"first": first, "second": second, "whole": whole}.items():
        frame.to_parquet(tmp_path / f"{name}.parquet")
    other = lw.places(pd.DataFrame({"at": ["b", "c"]}), place="at")
    files = {name: str(tmp_path / f"{name}.parquet") for name in ("first", "second", "whole")}
    refused = {
        "files": [of_day(2, files["first"]), of_day(3, files["second"])],
        "frames": [of_day(2, first), of_day(3, second)],
        "lists": [of_day(2, whole), of_day(3, whole, other)],
        "one file and a list of it and another": [of_day(2, files["first"]), of_day(3, list(files.values())[:2])],
    }
    for name, plans in refused.items():
        budget = lw.Budget(tmp_path / f"{name}.db", "d", "50")
        with pytest.raises(InputError, match="several tables"):
            lw.monitor(plans, budget, if_doubtful="publish")
        assert Ledger(budget.ledger).show("d") == []
        with pytest.raises(InputError, match="several tables"):
            release_planned(plans, budget, if_doubtful="publish")
        assert Ledger(budget.ledger).show("d") == []
    budget = lw.Budget(tmp_path / "sound.db", "d", "50")
    watch = lw.monitor([of_day(2, files["whole"]), of_day(3, Path(files["whole"]))], budget, if_doubtful="publish")
    assert watch.releases[1].answers["state"].to_pylist()[1] == "obscure"  # 500 people
