"""Every public function and class, with each of its arguments replaced by what it is not and by extremes.

Each call gives an answer or one of our errors, which says what to give: no `AttributeError` about a name that the caller
never wrote, no `IndexError`, no division by zero, no overflow. The table has a row for every function and class of
the public packages: a new one without a row fails. What is replaced is each argument of a call that works, one at a
time, by each of `JUNK`.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import pickle
import sys
import types
import typing
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import leeward as lw
from leeward import accounting, inf
from leeward.cli import LeewardError
from leeward.mechanism import Geometric

PACKAGES = [
    *(lw, lw.exact, lw.distance, lw.notion, lw.query, lw.mechanism, lw.accounting, lw.verification, lw.analysis),
    *(lw.noise, lw.planner, lw.session, lw.local.location, lw.local.series),
]
PUBLIC: dict[str, Any] = {
    name: getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if inspect.isclass(getattr(package, name)) or inspect.isfunction(getattr(package, name))
}

MODULES = [lw.notion.compose, lw.notion.convert, lw.demo]
"""Modules whose functions have no name in a package above, and a page of the reference all the same."""
PUBLIC |= {
    f"{module.__name__.rpartition('.')[2]}.{name}": thing
    for module in MODULES
    for name in (getattr(module, "__all__", None) or vars(module))
    if inspect.isfunction(thing := getattr(module, name)) and thing.__module__.startswith(module.__name__)
}

Call = tuple[tuple[Any, ...], dict[str, Any]]

LINE, UP, NOTION, IS_1 = lw.Line("1", "1"), lw.Line(inf, "1"), lw.AdditionOnly("1"), lw.where("x", equals=1)
LAW, VALUES, SPACE = Geometric(LINE).law, lw.ValueGrid(0, 3), LINE.on(range(2))
COIN = lw.mechanism.FiniteMechanism.from_rows({0: {0: "2/3", 1: "1/3"}, 1: {0: "1/3", 1: "2/3"}})
COUNT, EVENT = lw.query.CountWhere((IS_1,)), accounting.GeometricEvent("1", "1")

VISITS = pd.DataFrame(
    {"user": ["a", "b"], "venue": ["v0", "v1"], "at": pd.to_datetime(["2026-01-01T18:00"] * 2), "x": [1, 2]}
)
SEEN, LIST = lw.visits(VISITS, person="user", place="venue", time="at"), lw.places(VISITS, place="venue")
HOUR = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
VISITORS = lw.count_visitors(SEEN, LIST, **HOUR, places_per_person=1)
ROWS = lw.records(VISITS, person="user")
SUM = lw.statistic(ROWS, "sum", column="x", lower=0, upper=3)
PLAN = lw.plan(VISITORS, lw.AdditionOnly("3"), lw.Decide(safe_at_most=60), mechanism="sanitized", stop_after=1)
CLOSE = lw.local.series.Closeness("maximum", "1", "1 kW", window=2)
WATTS = lw.local.series.ReadingGrid("kW", lower="0 kW", upper="1 kW", step="0.1 kW")
CLOCK = lw.local.series.Schedule("2026-01-01T00:00", "2026-01-02T00:00", "1h", "UTC")
DAY = pd.DataFrame({"t": pd.date_range("2026-01-01", periods=24, freq="h"), "kW": 0.5})
READINGS = lw.Series(CLOSE, WATTS, CLOCK)
ONE_PERSON = lw.mechanism.FiniteMechanism.from_rows(
    {(0,): {0: "2/3", 1: "1/3"}, (lw.notion.ABSENT,): {0: "1/3", 1: "2/3"}}
)


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


CALLS: dict[str, Call] = {
    "compose.group_price": call(NOTION, NOTION.changes[0], 2),
    "compose.parallel": call(NOTION, ["1", "2"], cut="person"),
    "compose.people_touched": call(NOTION),
    "compose.sequential": call(NOTION, lw.RemovalOnly("1")),
    "convert.adp_to_osdp": call(lw.ADP("1", [IS_1])),
    "convert.bounded_to_adp": call(lw.BoundedDP("1"), [IS_1]),
    "convert.narrower_reading": call(lw.OSDP("1", IS_1)),
    "convert.one_sided_to_unbounded": call(NOTION, lw.RemovalOnly("1")),
    "convert.other_side": call("1", delta="1/2"),
    "convert.replace_to_unbounded": call(lw.ReplaceDP("1")),
    "convert.unbounded_to_adp": call(lw.UnboundedDP("1"), [IS_1]),
    "convert.unbounded_to_bounded": call(lw.UnboundedDP("1")),
    "convert.unbounded_to_one_sided": call(lw.UnboundedDP("1")),
    "convert.unbounded_to_replace": call(lw.UnboundedDP("1")),
    "demo.census": call(),
    "demo.synthetic_places": call(seed=1),
    "demo.synthetic_visits": call(seed=1),
    "demo.write_census": call("census.csv"),
    "demo.write_city": call("city", seed=1),
    "Appliance": call(READINGS, adds=("0.1 kW",), first="2026-01-01T03:00"),
    "Billing": call("1", unit="1", step=1, bills=2, rebate="noisy", year_epsilon="1"),
    "Box": call(139.0, 35.0, 140.0, 36.0),
    "Budget": call("budget.sqlite", "town", cap="3", version="1", notion="addition-only", new=True),
    "PlanarLaplace": call(
        box=(139.0, 35.0, 140.0, 36.0),
        epsilon="1/100",
        unit="1 m",
        norm="euclidean",
        step="10 m",
        outside="clamp",
        missing="keep",
        bits=None,
    ),
    "ProtectedOutputs": call("1", bool, [0]),
    "RandomizedResponse": call("2/3", "1/3"),
    "RankSelection": call("1", 50),
    "Scenario": call(
        places=2,
        counts=None,
        releases=2,
        delta="1e-6",
        assumed_error="1/10",
        counted_in="dp/person",
        left=None,
        accept_useless=True,
    ),
    "Closeness": call("maximum", "1", "1 kW", None, None, 2),
    "PostProcessing": call(smooth=3, clamp=True, prior=[("0", "1"), ("1", "1")]),
    "ReadingGrid": call("kW", lower="0 kW", upper="1 kW", step="0.1 kW"),
    "Schedule": call("2026-01-01T00:00", "2026-01-02T00:00", "1h", "UTC"),
    "Series": call(CLOSE, WATTS, CLOCK, noise="norm", missing="keep", post_processing=None, bits=None),
    "SeriesLevels": call({"usual": CLOSE}, WATTS, CLOCK, noise="norm", missing="keep", post_processing=None, bits=None),
    "Statistic": call(ROWS, "histogram", "x", None, None, "venue", ("v0",)),
    "Totals": call(READINGS, per="day"),
    "TotalsTree": call(lw.Totals(READINGS, "hour"), levels=("hour", "day"), shares={"hour": "1/2", "day": "1/2"}),
    "TreeMechanism": call("maximum", "1", levels=((1, 2), (2,)), spans=(2,), shares=("1/2", "1/2"), step=1, width=1),
    "UnknownKeys": call(UP, 3),
    "check": call(PLAN, None, accept_useless=True, progress=None),
    "compare": call(
        VISITORS,
        NOTION,
        lw.Decide(safe_at_most=60, dangerous_at_least=90, error_at_most="1/10", useful_from="1/10"),
        what="counts",
        mechanism="auto",
        stop_after=None,
        scenario=lw.planner.Scenario(places=2, releases=2),
    ),
    "count_visitors": call(SEEN, LIST, **HOUR, places_per_person=1, if_more="latest"),
    "decisions": call(LAW, safe_at_most=2, dangerous_at_least=9, error_at_most="1/10"),
    "grid": call(west=139.0, south=35.0, east=139.01, north=35.01, metres=500.0, h3=None),
    "one_sided_components": call(Geometric(LINE)),
    "monitor": call([PLAN], None, if_doubtful="refuse", accept_useless=True, bits=None, progress=None),
    "places": call(VISITS, place="venue", latitude=None, longitude=None, name="venue"),
    "plan": call(
        VISITORS,
        NOTION,
        lw.Decide(safe_at_most=60, dangerous_at_least=None, error_at_most=None, useful_from="1/10"),
        what="decisions",
        mechanism="sanitized",
        stop_after=1,
    ),
    "recommend": call(
        lw.compare(VISITORS, lw.AdditionOnly("3"), lw.Decide(safe_at_most=60)), count=3, probability="0.9"
    ),
    "answer_report": call(lw.compare(lw.statistic(ROWS, "sum", column="x", lower=0, upper=3), lw.AdditionOnly("3"))),
    "name_report": call(lw.compare(lw.select(VISITORS), lw.AdditionOnly("3"))),
    "plan_report": call(
        lw.compare(VISITORS, lw.AdditionOnly("3"), lw.Decide(safe_at_most=60)), count=3, probability="0.9"
    ),
    "records": call(VISITS, person="user", combine="max", keep={"venue": ["v0"]}),
    "risk": call(COIN, {0: "1/2", 1: "1/2"}, lambda secret: secret == 1, person=None),
    "statistic": call(
        ROWS,
        lw.query.Kind("percentile", p=50),
        column="x",
        lower=0,
        upper=3,
        step=1,
        by={"venue": ["v0"]},
    ),
    "subsampled": call(ONE_PERSON, lw.query.PoissonSampling("1/2")),
    "visits": call(
        VISITS,
        person="user",
        place="venue",
        time="at",
        latitude=None,
        longitude=None,
        keep={"x": [1]},
        timezone=None,
    ),
    "ADP": call("1", [IS_1]),
    "Accountant": call([EVENT], grid="1e-4"),
    "AdditionOnly": call("1"),
    "Blowfish": call("1", (0, 1), [(0, 1)]),
    "BoundedDP": call("1"),
    "CountWhere": call((IS_1,), lw.query.Domain()),
    "Domain": call(columns={"x": range(3)}, facts_per_person=2),
    "EdgeDP": call("1"),
    "Filter": call(NOTION, "3"),
    "FiniteDistance": call((0, 1), [[0, 1], [1, 0]]),
    "FiniteMechanism": call((0, 1), (0, 1), [["1/2", "1/2"], ["1/2", "1/2"]]),
    "Geometric": call(LINE, step=1, lower=0, upper=3, centre="mean"),
    "Graded": call(presence="1", absence="2"),
    "GradedFacts": call(presence="1", absence="2"),
    "GroupDP": call("1", [[0, 1]]),
    "Histogram": call("x", (1, 2), lw.query.Domain()),
    "InputDiscriminativeLDP": call({0: "1", 1: "2"}),
    "Line": call("1", "1"),
    "Linear": call((IS_1,), ((1,),)),
    "LocalDP": call("1"),
    "Manhattan": call("1", VALUES, unit="1", nobody=True),
    "Maximum": call("1", VALUES),
    "Mean": call(VALUES, people=2),
    "Monitor": call(UP, stop_after=1),
    "NodeDP": call("1"),
    "NormMechanism": call(LINE, 2, step=1, lower=0, upper=3),
    "NormalisedManhattan": call("1", VALUES),
    "OSDP": call("1", IS_1, "any"),
    "OSDPRandomizedResponse": call("1", IS_1),
    "Odometer": call(),
    "Decide": call(
        safe_at_most=60, dangerous_at_least=90, error_at_most="1/10", useful_from="1/10", about="counted", left_out=0
    ),
    "Groups": call({"venue": ["v0"]}, others="else"),
    "Kind": call("percentile", p=50, levels=None, people=None, grid=None),
    "Personalised": call(NOTION, ["1", "2"]),
    "Plane": call("1", "manhattan", dimensions=2),
    "Source": call(
        "v.csv", table=None, delimiter=";", encoding="latin-1", decimal=",", time_format=None, time_unit="s"
    ),
    "Spark": call({"master": "local[2]"}),
    "PoissonSampling": call("1/2"),
    "Presence": call("1"),
    "Real": call(None),
    "RecordDistance": call("1", SPACE),
    "RemovalOnly": call("1"),
    "ReplaceDP": call("1"),
    "AdaptiveSanitized": call(UP, at_most=2, budget="3", looks=("1/2",), margins=[3]),
    "Sanitized": call(UP, at_most=2, stop_after=1),
    "Everyone": call(UP, left_out="1/2", guess=1),
    "NoisyMax": call("1", how_many=1),
    "rank_rate": call(NOTION, lw.query.median(VALUES)),
    "rate_between": call(NOTION, COUNT),
    "SeriesMechanism": call("maximum", "1", window=2),
    "SparseVector": call("1", at_most=2, stop_after=1, monotonic=False),
    "SubsampledCount": call("1", places_per_person=1, step=1),
    "Sum": call(VALUES, people=2),
    "Variance": call(VALUES, people=2, root=False),
    "SumOf": call("x", 0, 3, IS_1),
    "SystemBits": call(),
    "ULDP": call("1", IS_1),
    "UnboundedDP": call("1"),
    "ValueGrid": call(0, 3, 1),
    "addition_only": call("1"),
    "ageo": call("1", 3),
    "alap": call("1"),
    "salap": call("1", 2),
    "alarm": call(LAW, 3, "1/10"),
    "all_tables": call((0, 1), 2),
    "audit": call(lambda x: 0, 0, 1, samples=200, confidence=0.9),
    "best_sanitizer": call(COIN, bool, "1/10"),
    "expected_beta": call({0: 5, 3: 1}, lambda count: 1, 2),
    "both_hold": call(NOTION, lw.RemovalOnly("1")),
    "cost": call(EVENT),
    "certified_exponential": call(SPACE),
    "elastic_distance": call(((0, 0), (3, 4)), (1, 2), within=1, least=1),
    "region_distance": call(((0, 0), (3, 4)), ()),
    "whole_lengths": call(((0, 0), (3, 4))),
    "Region": call(((0, 0),), 10, 1),
    "exact": call("1"),
    "exp": call("1"),
    "expected_loss": call(COIN, None, "absolute"),
    "exponential_fallback": call(SPACE),
    "graded": call("1", "2"),
    "graph_distance": call((0, 1), [(0, 1)], directed=True),
    "has": call("a"),
    "is_universally_optimal": call(lambda x: x, SPACE, "monotone", pairs=2),
    "laplace_mechanism": call(SPACE),
    "log": call("2"),
    "mangat": call("1/2"),
    "maximum": call(VALUES),
    "median": call(VALUES),
    "minimum": call(VALUES),
    "optimal": call((0, 1), SPACE, prior=None, loss="absolute"),
    "osdp_laplace": call("1"),
    "percentile": call(VALUES, 50),
    "posterior": call(COIN, None, 0),
    "price": call(NOTION, NOTION, release_unit="person", budget_unit="person", at_most=2),
    "rate_for": call(LINE, within=3, probability="0.9", step="1/10"),
    "release": call(PLAN, None, if_doubtful="refuse", accept_useless=True, bits=None, progress=None),
    "release_all": call({"a": PLAN}, None, if_doubtful="refuse", accept_useless=True, bits=None, progress=None),
    "remap": call(COIN, None, "absolute"),
    "removal_only": call("1"),
    "sanitizer": call(LAW, 3, "1/10"),
    "select": call(VISITORS, "busiest"),
    "sensitivity": call(NOTION, COUNT),
    "sensitivity_each": call(NOTION, COUNT),
    "sensitivity_lines": call(NOTION, COUNT),
    "shuffled": call(COIN, 2, 0, 1),
    "sqrt": call("2"),
    "truncated_geometric": call("1", 3),
    "two_sided": call("1"),
    "unlisted_groups": call(
        lw.records("t.csv", person="u"), "g", groups_per_person=1, if_more="refuse", most_groups=5, start=None, end=None
    ),
    "urap": call("1", "ab", lambda record: record == "a"),
    "urr": call("1", "ab", lambda record: record == "a"),
    "verify": call(COIN, SPACE, None),
    "warner": call("1"),
    "where": call("x", equals=1),
}

ELSEWHERE = {
    "it is made by others, and only looked at": """
        AnswerComparison AnswerOption AnswerReport AttackerView BestSanitizer BillingStatement CertifiedExponential
        Checked Comparison
        GroupStatement
        LocationStatement MonitorResult NameComparison NameOption NameReport
        NumberPlan NumberStatement Optimal Plan PlanReport RankPlan Release Remapped Selection SelectionPlan
        SelectionStatement Sensitivity SeriesStatement Shuffled ThresholdRule Universal UnlistedPlan UnlistedStatement
        Verdict VisitorStatement Weight""",
    "a base or a bundle: what derives from it has rows": """
        ContextAwareLDP DirectedDistance LeewardError Notion SumOverPersons""",
    "a constant": "ABSENT inf",
    "not tried yet: outside the face": """
        Accuracy AdaptiveAnswers Allowance Audit BayesRemap BestOverPlaces Bits Both BoundedChange Chances Change Coin
        Compared ComposedEvent Condition Cost CountVisitors Decisions DeltaVerdict Derived DirectedGeometric
        Displacement Effect ExponentialOverPlaces Felt OverPlaces PlaceRegion
        Enclosed Enclosure Event Expansion FirstAccepted GeometricEvent Grid LaplaceEvent LocalPlane
        LossMatrix MonitorState NormNoise Numeric OneSided Option OwnReports Percentile Places PlanarMechanism PlanarNoise
        PriorPlaces SeriesChoice
        PredictiveMechanism Price PrivacyDescription PureEvent Query RandomizedSanitizer Recommendation Records Risk
        Round SanitizedAnswers SanitizedEvent SeededBitsForTests SelfComposedEvent Settled Shared
        SparseVectorResult Step SubsampledEvent SumOverPeople TrackPlace Tracks UnknownKeysEvent UnlistedGroups
        Visits Window add_saturating
        alap_beta alap_epsilon all_functions all_sets any_box any_record any_subset as_postprocessing bayes best_decision
        bounded_change bounded_gain cautions centred chain_length common_unit comparable compare_over_places crossover
        delta_bound delta_bound_complement delta_needed diameter epsilon_bound epsilon_bound_complement epsilon_needed
        epsilon_needed_complement exp_minus expansion expansive_chain exponential_mechanism extreme_reveals filled_bins
        flip_minus floor_digits hidden hide_one hiding_bound hiding_distance in_class_c in_rows induced_edges
        is_tight listed maximally_tight measure_distance moment one_sided outside_ball parallel parts_touched
        perturb_in_spark privacy_statement pull_back pushed randomized_sanitizer read_loss read_prior region
        refused_in_rows restricted sample_tables sampled_rows scaling_function shared substitute_all substitute_one thin
        thinning tight true_scale uniform_below useful_within usefulness usefulness_curve variances with_nobody without_chain
        words_of""",
}

JUNK: list[Any] = [
    *(None, "word", "", b"x", "inf", "1e400", "1e-400", -1, 0, 10**400, 2.5, math.nan, -math.inf, inf, True),
    *(date(2026, 1, 1), [], (), {}, [None], [[]], {None: None}, object(), lambda record: True),
    *(np.array([1.5, 2]), np.array(1), np.int8(-128)),
    *(NOTION, LINE, VALUES, COUNT, lw.has("a"), COIN, SPACE, EVENT, LAW, Geometric(LINE)),
]
NAMES, NUMBERS = ["canary-77", "canary-78"], [77.61234567, 78.61234567]
HELD: dict[str, Any] = {"who": NAMES, "lat": NUMBERS}
JUNK += [pd.DataFrame(HELD), pd.DataFrame(HELD)["lat"], pa.table(HELD), pa.array(NAMES), np.array(NUMBERS)]
JUNK += [HELD, NAMES, tuple(NUMBERS), set(NAMES), NAMES * 100]
"""Tables, columns and lists of data: each is named by its kind in a message, of one value at most by what it is."""


def shows_data(text: str) -> bool:
    both = any(str(one)[:9] in text and str(other)[:9] in text for one, other in (NAMES, NUMBERS))
    return both or "pyarrow" in text or "np.float64(" in text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a call takes for the name of a file is made here."""
    monkeypatch.chdir(tmp_path)


def test_every_public_name_has_a_row() -> None:
    named = {*PUBLIC, *["ABSENT", "inf"]}
    elsewhere = {name for names in ELSEWHERE.values() for name in names.split()}
    assert named == CALLS.keys() | elsewhere
    assert not CALLS.keys() & elsewhere


FUNCTION = "compose.sequential"
"""What it makes is a function made on the way, which Python does not pickle."""


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"check", "monitor", "release", "release_all"}))
def test_the_call_of_each_row_works(name: str) -> None:
    args, kwargs = CALLS[name]
    PUBLIC[name](*args, **kwargs)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - {"check", "monitor", "release", "release_all", FUNCTION}))
def test_what_is_made_passes_through_a_pickle_or_refuses_it_in_words(name: str) -> None:
    args, kwargs = CALLS[name]
    made = PUBLIC[name](*args, **kwargs)
    with contextlib.suppress(LeewardError):
        assert repr(pickle.loads(pickle.dumps(made))) == repr(made)
    assert " object at 0x" not in repr(made) or name == "SystemBits"


def replaced(given: Call) -> Iterator[tuple[str, Call]]:
    """The call with each argument, one at a time, replaced by each kind of junk."""
    args, kwargs = given
    for junk in JUNK:
        for at in range(len(args)):
            yield f"{at} = {type(junk).__name__}", ((*args[:at], junk, *args[at + 1 :]), kwargs)
        for key in kwargs:
            yield f"{key} = {type(junk).__name__}", (args, {**kwargs, key: junk})


TAKEN: dict[str, Callable[[Any], object]] = {
    "Closeness": lambda made: lw.Series(made, WATTS, CLOCK),
    "PostProcessing": lambda made: lw.Series(CLOSE, WATTS, CLOCK, post_processing=made).perturb(
        DAY, time="t", value="kW"
    ),
    "ReadingGrid": lambda made: lw.Series(CLOSE, made, CLOCK).perturb(DAY, time="t", value="kW"),
    "Schedule": lambda made: lw.Totals(lw.Series(CLOSE, WATTS, made)).spans,
    "Scenario": lambda made: lw.compare(VISITORS, NOTION, lw.Decide(safe_at_most=60), scenario=made),
}
"""What is made to be given to another call is given to it."""


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.filterwarnings("ignore")
def test_another_kind_of_argument_is_an_answer_or_is_told(name: str) -> None:
    wrong = []
    for what, (args, kwargs) in replaced(CALLS[name]):
        try:
            made = PUBLIC[name](*args, **kwargs)
            TAKEN.get(name, id)(made)
        except LeewardError as error:
            if shows_data(str(error)):
                wrong.append(f"{what}: shown: {error}")
        except Exception as error:
            wrong.append(f"{what}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)


FLAGS = [
    (name, key)
    for name in sorted(CALLS)
    for key, parameter in inspect.signature(PUBLIC[name]).parameters.items()
    if parameter.annotation in ("bool", bool)
]


@pytest.mark.parametrize(("name", "key"), FLAGS)
def test_what_is_true_or_false_is_not_taken_from_a_text_or_a_number(name: str, key: str) -> None:
    """Python takes "no" and "False" for true, and so would a promise, or whether a new budget is opened."""
    args, kwargs = CALLS[name]
    given = inspect.signature(PUBLIC[name]).bind(*args, **kwargs)
    for junk in ("no", "False", "", 0, 1, None, [], np.bool_(True)):
        given.arguments[key] = junk
        with pytest.raises(LeewardError, match=r"True or False|true or false"):
            PUBLIC[name](*given.args, **given.kwargs)


def kinds_of(name: str) -> Iterator[tuple[str, tuple[type, ...]]]:
    """The arguments that are objects of our classes, and these classes; None may stand beside them."""
    made = PUBLIC[name].__init__ if inspect.isclass(PUBLIC[name]) else PUBLIC[name]
    where = vars(sys.modules[inspect.unwrap(made).__module__])
    for key, parameter in inspect.signature(PUBLIC[name]).parameters.items():
        try:
            hint = eval(parameter.annotation, where) if isinstance(parameter.annotation, str) else parameter.annotation
        except NameError:  # a name that is known to who checks types alone
            continue
        union = typing.get_origin(hint) in {typing.Union, types.UnionType}
        kinds = [each for each in (typing.get_args(hint) if union else (hint,)) if each is not type(None)]
        ours = all(isinstance(each, type) and each.__module__.startswith("leeward.") for each in kinds)
        several = parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
        if kinds and ours and not several and not any(getattr(each, "_is_protocol", False) for each in kinds):
            yield key, tuple(kinds)


KINDS = [(name, key, kinds) for name in sorted(CALLS) for key, kinds in kinds_of(name)]
OURS: list[Any] = [
    LINE,
    NOTION,
    lw.BoundedDP("1"),
    IS_1,
    LAW,
    VALUES,
    COIN,
    COUNT,
    EVENT,
    LIST,
    ROWS,
    PLAN,
    CLOSE,
    CLOCK,
]


@pytest.mark.parametrize(("name", "key", "kinds"), KINDS, ids=lambda value: value if isinstance(value, str) else "")
def test_where_one_kind_of_ours_is_asked_for_no_other_is_kept(name: str, key: str, kinds: tuple[type, ...]) -> None:
    """Found: what was kept for later, such as the notion of a filter, failed there, in words about names of ours."""
    args, kwargs = CALLS[name]
    given = inspect.signature(PUBLIC[name]).bind(*args, **kwargs)
    for other in OURS:
        if not isinstance(other, kinds):
            given.arguments[key] = other
            with pytest.raises(LeewardError):
                PUBLIC[name](*given.args, **given.kwargs)


def test_there_are_many_such_arguments() -> None:
    assert len(KINDS) > 60


PROBABILITIES = ["0", "1", "1e-400", "1/3"]
RATES: list[Any] = ["1e-30", "1", "40", "800", inf]
EVENTS: dict[str, Callable[[Any, Any], accounting.Event]] = {
    "pure": accounting.PureEvent,
    "geometric": accounting.GeometricEvent,
    "geometric, many": lambda up, down: accounting.SelfComposedEvent(accounting.GeometricEvent(up, down), 10**6),
    "geometric, places": lambda up, down: accounting.GeometricEvent(up, down, moves=7, places=100),
    "laplace": accounting.LaplaceEvent,
    "sanitized": lambda up, down: accounting.SanitizedEvent(up, stops=3),
    "subsampled": lambda up, down: accounting.SubsampledEvent(accounting.GeometricEvent(up, down), "1e-9"),
    "composed": lambda up, down: accounting.ComposedEvent(
        (accounting.PureEvent(up, down), accounting.PureEvent(inf, inf), accounting.GeometricEvent(up, down))
    ),
}


@pytest.mark.sweep
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long) if kind == "geometric, places" else kind for kind in EVENTS]
)
@pytest.mark.filterwarnings("ignore")
def test_the_accountant_answers_or_tells_at_every_rate(kind: str) -> None:
    """Nearly all mass at ∞, or nearly none; δ is a probability, and never below what the pure cost says."""
    for up in RATES:
        for down in RATES:
            try:
                account = lw.accounting.Accountant([EVENTS[kind](up, down)], grid="1e-2")
            except LeewardError:
                continue
            for direction in ("withdraw", "insert", "replace"):
                try:
                    delta = [account.delta(at, direction) for at in (0, 1, 5)]  # type: ignore[arg-type]
                    epsilon = [account.epsilon(at, direction) for at in ("0", "1e-6", "1/2")]  # type: ignore[arg-type]
                except LeewardError:
                    continue
                assert all(0 <= at <= 1 for at in delta)
                assert all(later <= earlier + 1e-9 for earlier, later in itertools.pairwise(delta))
                assert all(at >= 0 for at in epsilon)


@pytest.mark.parametrize("probability", PROBABILITIES)
def test_extreme_probabilities(probability: str) -> None:
    tries: list[Callable[[], Any]] = [
        lambda: lw.query.PoissonSampling(probability),
        lambda: lw.mechanism.sanitizer(LAW, 2, probability).threshold,
        lambda: lw.mechanism.alarm(LAW, 2, probability).threshold,
        lambda: lw.mechanism.rate_for(LINE, within=1, probability=probability),
        lambda: lw.mechanism.rate_for(LINE, safe=(0, 2), probability="1/2", error_at_most=probability, step="1/10"),
        lambda: lw.mechanism.rate_for(LINE, safe=(0, 2), probability=probability, error_at_most="1/3", step="1/10"),
        lambda: LAW.quantile(probability),
        lambda: lw.verify(COIN, SPACE, delta=probability),
        lambda: lw.accounting.Accountant([EVENT]).epsilon(probability, "withdraw"),
        lambda: lw.mechanism.FiniteMechanism.from_rows(
            {0: {0: probability, 1: 1 - lw.exact.exact(probability)}, 1: {1: 1}}
        ),
    ]
    for tried in tries:
        with contextlib.suppress(LeewardError):
            tried()


def test_a_line_is_asked_for_where_a_notion_is_given() -> None:
    with pytest.raises(LeewardError, match=r"Geometric with a AdditionOnly as its line: it takes Line.*sensitivity"):
        Geometric(NOTION)  # type: ignore[arg-type]


def test_a_mechanism_is_no_event_and_told_which_is() -> None:
    with pytest.raises(LeewardError, match=r"GeometricEvent"):
        lw.accounting.Accountant().compose(lw.mechanism.two_sided("1/10"))  # type: ignore[arg-type]
