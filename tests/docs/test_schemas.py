"""Every document has a published JSON schema that its real outputs keep and that broken ones do not.

Outputs are held against the schemas by `jsonschema`, which shares no code with the models that made them.
"""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import json
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.docs.documents import ROOT
from tests.keys import golden
from tests.keys.test_promises import QUESTIONS
from tests.planner.test_plan_report import ASKED, report
from tests.test_arguments import READINGS
from tests.truth.test_position_truth import WORLDS
from tests.truth.test_series_truth import GRID, said

import leeward
import leeward as lw
from leeward._document import Document
from leeward._statement import BudgetStated, MonitorStated, Published, WindowsStatement
from leeward.cli._balances import Balance, Balances, Checked, Happened, History
from leeward.cli._checked import CheckedSpec, checked
from leeward.cli._monitored import Monitored, asked
from leeward.cli._questions import PlannedQuestion, PlannedQuestions
from leeward.cli._refused import other, refusal
from leeward.cli._released import Released, summary
from leeward.cli._tokens import MayAsk, MayAskList, MaySend
from leeward.engine import Look
from leeward.engine._beyond import Beyond
from leeward.engine._look import TimeRange
from leeward.engine._matches import Matches, Survey
from leeward.engine._people import People
from leeward.engine._stand_in import stand_in
from leeward.engine._window import Clock
from leeward.errors import CapExceededError, LeewardError
from leeward.ledger import Account, Entry
from leeward.ledger._balance import Balance as Balanced
from leeward.ledger._records import Amount
from leeward.local import Written, check_job
from leeward.local.series._level_statement import statement_of_levels
from leeward.local.series._statement import statement as series_statement
from leeward.local.series._tree_statement import statement_of_tree
from leeward.noise import SystemBits
from leeward.planner._number_plan import NumberPlan
from leeward.planner._plan import Plan
from leeward.planner._selection_plan import SelectionPlan
from leeward.service._tokens import Issued, TokenList
from leeward.session import privacy_statement
from leeward.session._facts import Checked as LookedAt
from leeward.session._standing import Standing

SCHEMAS = ROOT / "docs" / "schemas"
LEVELS = {
    name: lw.local.series.Closeness(within=f"{watts} W", factor=2)
    for name, watts in {"usual": 100, "careful": 400}.items()
}
PER: tuple[Literal["hour", "day", "month", "period"], ...] = ("hour", "day", "month", "period")


def plans() -> list[Any]:
    """A plan of every kind of question, as far as it can be asked under addition-only privacy or DP."""
    found = []
    for question in QUESTIONS.values():
        for notion in (lw.AdditionOnly("1/3"), lw.UnboundedDP("1"), lw.BoundedDP("1")):
            try:
                found.append(question(notion))
                break
            except LeewardError:
                continue
    return found


def of_groups() -> list[Plan]:
    """Plans that decide about groups of people, about intervals of rows, and about levels."""
    wards: Any = lw.statistic(lw.records("w.csv", person="who"), "histogram", by={"ward": ["a", "b", "c"]})
    ages: Any = lw.statistic(
        lw.records("w.csv", person="each row"), "histogram", column="age", lower=0, upper=30, step=10
    )
    above: Any = lw.statistic(
        lw.records("w.csv", person="who"), lw.query.Kind("above", levels=["1/2", 20, 30]), column="age"
    )
    ways: list[dict[str, Any]] = [{}, {"mechanism": "sanitized"}, {"mechanism": "adaptive"}]
    asked = (wards, ages, above)
    return [decide_by(lw.plan, query, lw.AdditionOnly("1/3"), safe_at_most=2, **way) for query in asked for way in ways]


def positions_at_levels() -> Document:
    """The statement of positions at two levels, with a budget that both share."""
    protect = {
        "within": "200 m",
        "factor": "2",
        "level": "tier",
        "levels": {"usual": {}, "careful": {"within": "1 km"}},
    }
    budget = {"store": "b.db", "secret": "b.key", "a_day": {"within": "200 m", "factor": "4"}}
    data = {"table": "p.parquet", "latitude": "lat", "longitude": "lon", "person": "who"}
    box = {"west": 116.2, "south": 39.75, "east": 116.6, "north": 40.1}
    kind = {"perturb": {"kind": "location"}}
    return check_job({**kind, "data": data, "box": box, "protect": protect, "budget": budget}).statement()


def stated(plan: Any) -> Document:
    """The statement of its release, as one round of a monitor where that can be."""
    monitor = MonitorStated(round=1, stops_before=0, stop_after=2, price_at_most="2", text="a round")
    published = Published(
        entry="an-entry",
        fit_for_release=True,
        budget=BudgetStated(notion="dp per person", price="1"),
        monitor=monitor if isinstance(plan, Plan) and plan.query.noun == "place" else None,
    )
    return privacy_statement(plan, places=3, dataset="town", version="1", published=published)


def released() -> Document:
    """What the command prints of a release of every kind of question."""
    made, chances = [], np.arange(3)
    for plan in [*plans(), *of_groups(), *unlisted()]:
        keys = pa.table({"place": ["a", "b", "c"]})
        if isinstance(plan, lw.planner.UnlistedPlan):
            chances = plan.draw(stand_in(plan.query, 0), SystemBits())
        answers = NUMBERS if isinstance(plan, NumberPlan) else plan.answers(chances, keys)
        curator = SimpleNamespace(charged="1/3", charged_delta="0")
        made.append(summary(cast("Any", SimpleNamespace(statement=stated(plan), answers=answers, curator=curator))))
    assert {each.kind for each in made} == {"places", "numbers", "named"}
    zero = {"cap_delta": "0", "spent_delta": "0", "left_delta": "0"}
    left = Balance(dataset="town", notion="dp/person", cap="5", spent="1/3", left="14/3", **zero)
    return Released(format=1, out="out", releases=tuple(made), budget=left)


def unlisted() -> list[lw.planner.UnlistedPlan]:
    """Plans for groups that nobody has listed: with δ and without, of people and of rows, in a window."""
    table = lw.records("t.parquet", person="user", time="at")
    hour = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
    asked = lw.unlisted_groups(table, "town", groups_per_person=2, if_more="latest", **hour)
    rows = lw.unlisted_groups(lw.records("t.parquet", person="each row"), "town", most_groups=7)
    return [
        lw.plan(asked, lw.AdditionOnly("1"), delta="1e-6"),
        lw.plan(rows, lw.RemovalOnly("1/3")),
        lw.plan(rows, lw.ReplaceDP("1"), delta="1/7"),
    ]


def named(notion: Any, **scenario: Any) -> Document:
    """What is known before a name is paid for."""
    asked = QUESTIONS["busiest"](lw.AdditionOnly("1")).query
    return lw.planner.name_report(lw.compare(asked, notion, scenario=lw.planner.Scenario(**scenario)))


def answers() -> list[lw.planner.AnswerReport]:
    """What is known before numbers are paid for: of one, of a mean, of percentiles and of groups that are not listed."""
    rows = lw.records("t.csv", person="each row")
    number: dict[str, Any] = {"column": "age", "lower": 0, "upper": 30}
    kinds: list[dict[str, Any]] = [{"kind": "sum"}, {"kind": "mean"}, {"kind": "percentile", "p": ["0", "50"]}]
    asked = [lw.compare(statistic_by(rows, **kind, **number), lw.UnboundedDP("1/3")) for kind in kinds]
    left = lw.planner.Scenario(left=Fraction(2), left_delta=Fraction(1, 100))
    asked += [lw.compare(plan.query, plan.notion, delta=plan.delta or None, scenario=left) for plan in unlisted()]
    return [lw.planner.answer_report(one) for one in asked]


def looked(which: int) -> CheckedSpec:
    """What is known before a release: of places, and of a number that nothing was counted of."""
    plan = [plans()[0], next(plan for plan in plans() if isinstance(plan, NumberPlan))][which]
    look = Look(
        9, 4, {"filtered": 0, "null_person": 5}, range=None if which else TimeRange(0, 86_400, Clock.READINGS, 1)
    )
    matched = Matches(3, 2, 1, {"spaces": ("a",)})
    survey = Survey(beyond=Beyond(1, 0, 4, False)) if which else Survey(matched, people=People(2, 4, 3, 1))
    cap = None if which else Amount(Fraction(5), Fraction(1, 9))
    stands = Standing("dp/person", Balanced("dp/person", cap, Amount(Fraction(1, 3))), (False,), (False,))
    prices = {"a key": Amount(Fraction(1))}
    refusals, rows = (["it is empty"], pa.table({"place": ["a"], "count": [1]}))
    found = LookedAt("town", [plan], 3, [look], survey, stands, prices, refusals, rows, ["2 people"])
    return checked(found, lw.Budget("b.db", "town", "5"))


def questions() -> Document:
    """What is known of two questions before they are paid for."""
    one = PlannedQuestion(
        name="a",
        text="The sum",
        notion="dp",
        epsilon="1/2",
        releases=2,
        stored=1,
        price="1",
        guaranteed=("it is near",),
        compared=named(lw.AdditionOnly("1")),
    )
    reports = [
        lw.planner.plan_report(lw.compare(of_groups()[0].query, lw.AdditionOnly("1"), lw.Decide(safe_at_most=2))),
        answers()[0],
    ]
    return PlannedQuestions(
        format=1,
        questions=(one, *(one.model_copy(update={"name": "b", "compared": report}) for report in reports)),
        dataset="town",
        counted_in="dp/person",
        price="3/2",
        left=None,
    )


def monitored() -> Document:
    """What the command prints of a monitor: a window of a question about places."""
    plan = next(plan for plan in plans() if isinstance(plan, Plan))
    answers = pa.table({"state": ["safe", "safe", "obscure"], "answered": [True, True, False]})
    one = SimpleNamespace(statement=stated(plan), answers=answers, curator=SimpleNamespace(charged="1/3"))
    windows = asked([cast("Any", one)])
    assert (windows[0].places, windows[0].answered, windows[0].safe, windows[0].charged) == (3, 2, 2, "1/3")
    return Monitored(format=1, windows=windows, stops=1, stopped=False, spent="1/3")


ACCOUNT = Account("town", "dp/person", Fraction(5), Fraction(1, 3))
ENTRIES = [
    Entry(n, "an id", datetime(2026, 1, 1, tzinfo=UTC), "town", "1", kind, Fraction(1, 3), cap, "a key")
    for n, (kind, cap) in enumerate([("opened", Fraction(5)), ("reserved", Fraction(5)), ("new-key", None)], 1)
]
ISSUED = [Issued(name="ann", digest="0" * 64, caps={"town": "1/2"}, created="now", revoked=r) for r in (None, "now")]
NUMBERS = pa.table({"group": ["f", "m"], "value": [1.5, -2.0]})


OUTPUTS: Mapping[str, Callable[[], list[Document]]] = {
    "billing.json": lambda: [
        lw.local.series.Billing("1/2", unit=10, rebate=rebate).statement() for rebate in ("noisy", "exact")
    ],
    "budget-check.json": lambda: [Checked(format=1, entries=3, as_written=True)],
    "budget-history.json": lambda: [History(format=1, entries=tuple(map(Happened.copied_from, ENTRIES)))],
    "budget-show.json": lambda: [Balances(format=1, budgets=(Balance.copied_from(ACCOUNT),))],
    "checked.json": lambda: [looked(0), looked(-1)],
    "monitored.json": lambda: [monitored()],
    "plan-of-questions.json": lambda: [questions()],
    "perturb-location.json": lambda: [*(world.job.statement() for world in WORLDS), positions_at_levels()],
    "perturb-series.json": lambda: [
        *(said(*asked) for asked in GRID),
        *(series_statement(READINGS, lw.Totals(READINGS, per), ["tariff"]) for per in PER),
        statement_of_tree(lw.local.series.TotalsTree(lw.Totals(READINGS), ("day", "period")), ["tariff"]),
        statement_of_levels(lw.local.series.SeriesLevels(LEVELS, READINGS.grid, READINGS.schedule), "tier"),
    ],
    "perturbed.json": lambda: [Written((Path("a.csv"), Path("a.csv.release.json")), 7, True, ("a note",)).public()],
    "plan.json": lambda: [
        *(report(name) for name in ASKED),
        *(
            lw.planner.plan_report(lw.compare(plan.query, plan.notion, lw.Decide(safe_at_most=2)))
            for plan in of_groups()[::3]
        ),
    ],
    "plan-of-answers.json": lambda: [*answers()],
    "plan-of-name.json": lambda: [
        named(lw.AdditionOnly("1")),
        named(lw.Presence("1/3"), counts={0: 6, 3: 1}, places=7),
    ],
    "token-list.json": lambda: [
        MayAskList(
            format=2,
            analysts=tuple(
                MayAsk(analyst="ann", data_set="town", cap="1/2", spent="0", created="now", revoked=one.revoked)
                for one in ISSUED
            ),
            brokers=tuple(MaySend(name="acme", perturb="taxis", created="now", revoked=one.revoked) for one in ISSUED),
        )
    ],
    "tokens.json": lambda: [TokenList(format=1, tokens=tuple(ISSUED))],
    "refusal.json": lambda: [
        refusal(CapExceededError("A release", "it is too dear", "Ask for less")),
        other("usage", "No"),
    ],
    "release-of-groups.json": lambda: [stated(plan) for plan in of_groups()],
    "release-of-name.json": lambda: [stated(plan) for plan in plans() if isinstance(plan, SelectionPlan)],
    "release-of-numbers.json": lambda: [stated(plan) for plan in plans() if isinstance(plan, NumberPlan)],
    "release-of-unlisted-groups.json": lambda: [stated(plan) for plan in unlisted()],
    "release-of-visitors.json": lambda: [stated(plan) for plan in plans() if isinstance(plan, Plan)],
    "release-of-windows.json": lambda: [
        WindowsStatement(format=1, windows=(stated(made),)) for made in (*plans(), *of_groups(), *unlisted())
    ],
    "released.json": lambda: [released()],
    "question.json": lambda: [make() for make in golden.QUESTION.values()],
}
"""Real documents of every kind, for each file of a schema."""


def listed() -> dict[str, type[Document]]:
    """The documents that have a schema, by its file."""
    spec = importlib.util.spec_from_file_location("write", SCHEMAS / "write.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.DOCUMENTS)


def validator(name: str) -> Draft202012Validator:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def broken(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A document in which one thing is wrong, for each of its keys at the top and one below."""
    yield "an unknown key", {**told, "unknown": 1}
    yield "another format", {**told, "format": 99}
    for key, value in told.items():
        yield f"{key} left out", {name: kept for name, kept in told.items() if name != key}
        yield f"{key} is of another kind", {**told, key: [[]] if isinstance(value, dict | str | int) else {"a": {}}}
        if isinstance(value, dict):
            inner = copy.deepcopy(told)
            inner[key]["unknown key"] = {"nested": []}
            yield f"an unknown key in {key}", inner


def reads(kind: type[Document], told: dict[str, Any]) -> bool:
    """Whether a model takes what was written."""
    try:
        kind.model_validate_json(json.dumps(told))
    except ValidationError:
        return False
    return True


def documents() -> set[type[Document]]:
    for found in pkgutil.walk_packages(leeward.__path__, "leeward."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    todo, known = [Document], set[type[Document]]()
    while todo:
        under = todo.pop().__subclasses__()
        known.update(under)
        todo += under
    return {kind for kind in known if kind.__module__.startswith("leeward.")}


def test_every_document_has_a_schema_and_outputs_to_try_it_on() -> None:
    known = listed()
    assert set(known.values()) == documents()
    assert set(known) == set(OUTPUTS) == {path.name for path in SCHEMAS.glob("*.json")}


def test_every_schema_is_linked_from_the_docs() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in OUTPUTS if f"schemas/{name})" not in pages] == []


@functools.cache
def outputs(name: str) -> list[Document]:
    return OUTPUTS[name]()


@pytest.mark.parametrize("name", OUTPUTS)
def test_real_outputs_keep_the_schema_and_are_read_back(name: str) -> None:
    check, kind = validator(name), listed()[name]
    for made in outputs(name):
        told = json.loads(made.to_json())
        assert list(check.iter_errors(told)) == []
        assert kind.model_validate_json(made.to_json()) == made


@pytest.mark.parametrize("name", OUTPUTS)
def test_broken_documents_are_refused_by_the_schema_and_by_the_model(name: str) -> None:
    check, kind, told = validator(name), listed()[name], outputs(name)[0].to_dict()
    for what, wrong in broken(told):
        assert not check.is_valid(wrong), what
        assert not reads(kind, wrong), what


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_schema_says_its_format_and_knows_all_of_its_keys(name: str) -> None:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    assert schema["properties"]["format"]["const"] == {"token-list.json": 2}.get(name, 1)
    assert "format" in schema["required"]
    objects = [part for part in (schema, *schema.get("$defs", {}).values()) if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in objects)
