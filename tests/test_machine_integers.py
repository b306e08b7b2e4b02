"""NumPy's integers are integers: wherever a public call takes one, the answer is that of the same call with Python's.

Machine integers wrap (``np.uint8(3) - np.uint8(5)`` is 254), so every call is made near the ends of every type. A call may
refuse them in words; it must never answer otherwise, nor end in an error that is not ours. NumPy's own warning that a sum
has wrapped is an error in these tests.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.deciding import decide_by

import leeward as lw
from leeward import accounting, analysis, distance, exact, inf, mechanism, notion, planner, query
from leeward.cli import LeewardError
from leeward.mechanism import PlanarMechanism, randomized_sanitizer
from leeward.mechanism._series import SeriesMechanism
from leeward.noise import DirectedGeometric

KINDS: list[Any] = [np.int8, np.uint8, np.int64, np.uint64]
RATES = lw.Line("1/100", "1/50")
UP, BOTH = lw.Line(inf, "1/100"), lw.Geometric(RATES)
PLANAR = PlanarMechanism(distance.Plane(1))
NORMS = ("manhattan", "euclidean")
LAW = DirectedGeometric("1/100", "1/50")
UNLISTED = mechanism.UnknownKeys(lw.Line(inf, "1/50"), 5)
ONE, PURE, IS_1 = lw.Line("1", "1"), accounting.PureEvent(1, 1), lw.where("x", equals=1)
Kind = Callable[[int], Any]


def compared(k: Kind, count: int, **decided: Any) -> object:
    """What a comparison expects of counts, and advises, with all that it takes for whole numbers."""
    seen = lw.visits("visits.parquet", person="who", place="where", time="at")
    asked = lw.count_visitors(
        seen, lw.places("places.parquet", place="where"), start="2026-01-01", end="2026-01-02", places_per_person=1
    )
    scenario = planner.Scenario(places=k(100), counts={k(0): k(100), k(5): k(100), k(3): k(100)}, releases=k(3))
    notion = lw.UnboundedDP("1") if "error_at_most" in decided else lw.AdditionOnly("1")
    found = decide_by(lw.compare, asked, notion, scenario=scenario, **decided)
    least = [option.safe_at_most_for(count, "0.9") for option in found.options if not option.refused]
    return found.options[0].expected, scenario.size, least, planner.recommend(found, count=count).reason


CALLS: dict[str, Callable[[Any, Any, Kind], object]] = {
    # a and b are near the ends of the type; the last argument makes other numbers of the same type
    "exact": lambda a, b, k: (exact.exact(a), exact.exact(a) - b, a + exact.exact("1/3"), exact.exact("1/3") * b, exact.exact(a) < b),  # noqa: E501
    "exp": lambda a, b, k: (exact.exp("1/7") ** k(5), exact.exp(1) + a, b * exact.exp(0) == b, exact.exp(k(3))),
    "log": lambda a, b, k: exact.log(a),
    "sqrt": lambda a, b, k: exact.sqrt(a),
    "Line": lambda a, b, k: (lw.Line(a, k(3)), lw.Line("1", "2")(a, b), lw.Line("1", "2")((a, b), (b, a))),
    "Line.on": lambda a, b, k: [lw.Line("1", "2").on((a, b, k(3)))(x, y) for x in (a, b) for y in (a, b)],
    "Line.scale": lambda a, b, k: lw.Line("1", "2").scale(a),
    "Plane": lambda a, b, k: [distance.Plane(k(2), norm)((a, b), (b, a)) for norm in NORMS],
    "Plane.on": lambda a, b, k: [distance.Plane(1, n).on([(a, k(1)), (b, k(0))])((b, 0), (a, 1)) for n in NORMS],
    "Plane.dimensions": lambda a, b, k: distance.Plane("1", dimensions=k(100)),
    "FiniteDistance": lambda a, b, k: distance.FiniteDistance((0, 1), [[k(0), k(100)], [k(70), k(0)]])(0, 1),
    "graph_distance": lambda a, b, k: distance.graph_distance((0, 1, 2), {(0, 1): k(100), (1, 2): k(100)}, directed=True)(0, 2),  # noqa: E501
    "Geometric": lambda a, b, k: lw.Geometric(RATES, lower=min(a, b), upper=max(a, b), step=k(2)),
    "Geometric.pmf": lambda a, b, k: (LAW.pmf(a), LAW.pmf(b)),
    "Geometric.cdf": lambda a, b, k: (LAW.cdf(a), LAW.cdf(b), LAW.tail(a), LAW.tail(b)),
    "Geometric.release": lambda a, b, k: lw.Geometric(lw.Line(inf, "1/100"), lower=k(3), upper=k(100)).clamp([k(3), k(101)]),
    "Geometric.on": lambda a, b, k: lw.Geometric(RATES, lower=k(0), upper=k(5)).on([k(1), k(4)]).to_numpy().tolist(),
    "Geometric.probability": lambda a, b, k: (BOTH.probability(a, b), *BOTH.pmf(b, [a]).values()),
    "accuracy of a truth": lambda a, b, k: lw.Geometric(RATES, lower=-100, upper=100).accuracy(k(100)).expected_error(),
    "NormMechanism.probability": lambda a, b, k: mechanism.NormMechanism(ONE, 2).probability((a, k(0)), (b, k(0))),
    "NormMechanism.distance": lambda a, b, k: mechanism.NormMechanism(ONE, 2).distance((a, k(0)), (b, k(0))),
    "NormMechanism.on": lambda a, b, k: mechanism.NormMechanism(ONE, 1).on([(k(120),), (k(124),)]).to_numpy().tolist(),
    "PlanarMechanism": lambda a, b, k: (PLANAR.weight((a, k(0)), (b, k(0))), PLANAR.probability((k(1), k(0)), (k(0), k(2)))),
    "PlanarMechanism.on": lambda a, b, k: [*PLANAR.on([(k(0), k(0)), (k(1), k(0))]).to_numpy()[:, -1]],
    "PlanarMechanism.posterior": lambda a, b, k: list(PLANAR.posterior((a, k(0)), {(b, k(0)): 1, (k(3), k(1)): 2}).values()),
    "SeriesMechanism.distance": lambda a, b, k: SeriesMechanism("maximum", "1", window=2).distance((a, k(1)), (b, k(2))),
    "Sanitized.on": lambda a, b, k: mechanism.Sanitized(UP, at_most=k(1)).on([(k(1), k(127)), (k(0), k(126))]).to_numpy()[:, -1],  # noqa: E501
    "SparseVector.on": lambda a, b, k: mechanism.SparseVector("1", at_most=[k(3)]).on([(k(0),), (k(127),)]).to_numpy().tolist(),  # noqa: E501
    "NoisyMax": lambda a, b, k: mechanism.NoisyMax("1/50", how_many=k(2)).on([(a, b, k(1))]).to_numpy().tolist(),
    "RankSelection": lambda a, b, k: mechanism.RankSelection("1/50", k(90)).on([(k(3), k(0), k(1))]).to_numpy().tolist(),
    "RankSelection.reach": lambda a, b, k: mechanism.RankSelection("1/50", k(90)).reach(k(100), "0.9"),
    "UnknownKeys": lambda a, b, k: UNLISTED.release({"a": k(100)}) and [UNLISTED.chance_shown(k(2)), UNLISTED.delta(k(2))],
    "UnknownKeys.on": lambda a, b, k: UNLISTED.on([(k(2), k(100))]).to_numpy().tolist(),
    "NoisyMax.distance": lambda a, b, k: mechanism.NoisyMax("1/50").distance((a, k(0)), (b, k(1))),
    "accuracy": lambda a, b, k: (BOTH.accuracy().within(a), BOTH.accuracy().cdf(b)),
    "accuracy, clamped": lambda a, b, k: lw.Geometric(RATES, lower=0, upper=k(120)).accuracy(k(100)).expected_error(),
    "sanitizer": lambda a, b, k: (s := mechanism.sanitizer(LAW, k(5), "1/10")) and (s.threshold, s.error, s.probability(b)),
    "sanitizer, never wrong": lambda a, b, k: mechanism.sanitizer(lw.Geometric(UP).law, a).probability(b),
    "randomized sanitizer": lambda a, b, k: randomized_sanitizer(LAW, k(5), "1/10").probability(a),
    "alarm": lambda a, b, k: (s := mechanism.alarm(LAW, k(120), "1/10")) and (s.threshold, s.error, s.probability(b)),
    "alarm, never wrong": lambda a, b, k: mechanism.alarm(DirectedGeometric(inf, "1/50"), a).probability(b),
    "alap_beta": lambda a, b, k: (analysis.alap_beta("1/100", a, b), analysis.alap_beta("1/100", k(5), k(2)), analysis.alap_epsilon("1/2", b, a)),  # noqa: E501
    "bounds": lambda a, b, k: [bound("1/100", k(100), "1/9") for bound in (analysis.epsilon_bound, analysis.epsilon_bound_complement)],  # noqa: E501
    "bounds, delta": lambda a, b, k: [f("1/100", "1/9", k(100), "1/9") for f in (analysis.delta_bound, analysis.delta_bound_complement)],  # noqa: E501
    "bounds, needed": lambda a, b, k: [f(k(100), "1/9", "1/3") for f in (analysis.epsilon_needed, analysis.epsilon_needed_complement)],  # noqa: E501
    "delta_needed": lambda a, b, k: analysis.delta_needed("1/100", k(100), "1/9", "1/3"),
    "best_decision": lambda a, b, k: analysis.best_decision("1/100", "1/50", k(127), "1/9")[-1],
    "Scenario": lambda a, b, k: compared(k, k(1), safe_at_most=2),
    "Scenario, several": lambda a, b, k: compared(k, k(120), safe_at_most=120, error_at_most="1/9"),
    "rate_for within": lambda a, b, k: mechanism.rate_for(RATES, within=k(100), probability="0.9", step="1/10"),
    "rate_for safe": lambda a, b, k: mechanism.rate_for(RATES, safe=(k(1), k(100)), probability="0.9", error_at_most="0.1"),
    "Sanitized": lambda a, b, k: mechanism.Sanitized(UP, at_most=a, stop_after=k(2)).expected_answered([k(100), k(3)]),
    "SparseVector": lambda a, b, k: mechanism.SparseVector("1", at_most=[a, k(3)], stop_after=k(100)),
    "Monitor": lambda a, b, k: mechanism.Monitor(UP, stop_after=k(100)),
    "SubsampledCount": lambda a, b, k: mechanism.SubsampledCount("1", places_per_person=k(100)).noise.law,
    "SeriesMechanism": lambda a, b, k: SeriesMechanism("manhattan", "1", window=k(3)).window,
    "NormMechanism": lambda a, b, k: mechanism.NormMechanism(lw.Line("1", "1"), k(2), lower=k(3), upper=k(100)),
    "addition_only": lambda a, b, k: mechanism.addition_only(k(3)),
    "graded": lambda a, b, k: mechanism.graded(k(3), k(100)),
    "truncated_geometric": lambda a, b, k: mechanism.truncated_geometric("1", k(100)),
    "notions": lambda a, b, k: [str(kind(k(3))) for kind in (lw.AdditionOnly, lw.BoundedDP, lw.UnboundedDP, lw.Presence)],
    "Graded": lambda a, b, k: str(notion.Graded(presence=k(1), absence=k(100))),
    "Values": lambda a, b, k: (v := lw.ValueGrid(min(a, b), max(a, b))) and (v, a in v, b in v, k(3) in v),
    "Manhattan": lambda a, b, k: lw.Manhattan("1", lw.ValueGrid(0, 2**64))((a, k(1)), (k(1), a)),
    "Maximum": lambda a, b, k: notion.Maximum("1", lw.ValueGrid(-(2**64), 2**64))((a, k(1)), (b, a)),
    "where": lambda a, b, k: (c := lw.where("x", one_of=[a, b])) and (str(c), c({"x": a}), c({"x": int(b)})),
    "where, bounds": lambda a, b, k: (c := lw.where("x", at_least=k(3), at_most=k(100))) and (str(c), c({"x": a})),
    "has": lambda a, b, k: lw.has(a)(frozenset({a})),
    "Personalised": lambda a, b, k: str(lw.Personalised(lw.AdditionOnly("1"), [k(3), k(100)])),
    "GroupDP": lambda a, b, k: str(lw.GroupDP("1", [[k(0), k(1)]])),
    "price": lambda a, b, k: lw.price(
        lw.ReplaceDP(k(3)), lw.BoundedDP(k(2)), release_unit="person-day", budget_unit="person", at_most=k(100)
    ),
    "PureEvent": lambda a, b, k: accounting.Accountant([accounting.PureEvent(k(3), k(100))] * 2).cost,
    "GeometricEvent": lambda a, b, k: accounting.Accountant([accounting.GeometricEvent("1/9", 1, moves=k(2), places=k(100))]).cost,  # noqa: E501
    "LaplaceEvent": lambda a, b, k: accounting.Accountant([accounting.LaplaceEvent("1/9", 1, moves=k(2), places=k(100))]).cost,  # noqa: E501
    "UnknownKeysEvent": lambda a, b, k: accounting.UnknownKeysEvent(1, 1, reach=k(2), places=k(100)),
    "SanitizedEvent": lambda a, b, k: accounting.Accountant([accounting.SanitizedEvent(k(2), stops=k(100))]).cost,
    "SelfComposedEvent": lambda a, b, k: accounting.Accountant(
        [accounting.SelfComposedEvent(accounting.SelfComposedEvent(accounting.PureEvent(1, 1), k(100)), k(100))]
    ).cost,
    "compose": lambda a, b, k: accounting.Accountant().compose(PURE, k(100)).compose(PURE, k(100)).cost,
    "Histogram": lambda a, b, k: lw.sensitivity(lw.BoundedDP("1"), query.Histogram("x", (a, k(3)))).line,
    "SumOf": lambda a, b, k: lw.sensitivity(lw.BoundedDP("1"), query.SumOf("x", min(a, b), max(a, b))).line,
    "Linear": lambda a, b, k: lw.sensitivity(lw.BoundedDP("1"), query.Linear((IS_1,), ((max(a, b),), (k(100),)))).line,
    "Mean": lambda a, b, k: query.Mean(lw.ValueGrid(-(2**64), 2**64), people=2)([a, b]),
    "Sum": lambda a, b, k: query.Sum(lw.ValueGrid(-(2**64), 2**64))([a, b, k(100)]),
    "expected_loss": lambda a, b, k: analysis.expected_loss(
        mechanism.FiniteMechanism.from_rows({a: {a: "1/2", b: "1/2"}, b: {b: 1}}), {a: "1/2", b: "1/2"}, "squared"
    ),
    "CountWhere": lambda a, b, k: lw.sensitivity(lw.BoundedDP("1"), query.CountWhere((lw.where("x", one_of=[a, b]),))).line,
    "Domain": lambda a, b, k: lw.sensitivity(
        lw.BoundedDP("1"), query.CountWhere((lw.where("x", equals=k(3)),), query.Domain(columns={"x": [k(3), k(4), k(100)]}))
    ).line,
    "FiniteMechanism": lambda a, b, k: mechanism.FiniteMechanism.from_rows({0: {k(3): k(1)}, 1: {k(3): k(1)}}).probability(0, 3),  # noqa: E501
    "RandomizedResponse": lambda a, b, k: mechanism.warner(k(2)).on((0, 1)).to_numpy().tolist(),
    "verify": lambda a, b, k: str(lw.verify(lw.Geometric(lw.Line("1", "1"), lower=k(0), upper=k(3)), lw.Line("1", "1"))),
    "verify, points": lambda a, b, k: str(lw.verify(lw.Geometric(ONE, lower=0, upper=3), ONE, [k(0), k(3)])),
}  # fmt: skip


def outcome(call: Callable[[], object]) -> object:
    """What a call gives, or that it is refused; any other error is a failure."""
    try:
        return str(call())
    except LeewardError:
        return "refused"


def ends(kind: Any) -> Iterator[tuple[int, int]]:
    low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    yield from ((low, high), (high, low), (high, high - 1), (low, low + 1), (low + 1, 2))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("error:overflow:RuntimeWarning")
def test_a_machine_integer_answers_as_the_integer_it_is(name: str) -> None:
    answered = 0
    for kind in KINDS:
        for a, b in itertools.islice(ends(kind), 1 if name in ENDLESS else None):
            right = outcome(lambda: CALLS[name](a, b, int))  # noqa: B023 - used at once
            given = outcome(lambda: CALLS[name](kind(a), kind(b), kind))  # noqa: B023
            assert given in {right, "refused"}, (kind.__name__, a, b)
            answered += given != "refused"
    assert answered, "refused everywhere: this row tests nothing"


ENDLESS = {"Scenario", "Scenario, several", "SparseVector.on", "PlanarMechanism.on", "Sanitized.on"}
"""What takes no numbers near the ends, and long: once for each type is enough."""
WHOLE = {"NormMechanism.on", "NormMechanism.probability", "PlanarMechanism", "PlanarMechanism.on"}
"""What takes points of a grid, whose parts are integers and no fractions."""
LABELS = {
    "Line.on",
    "Plane.on",
    "PlanarMechanism.posterior",
    "where",
    "has",
    "expected_loss",
    "Scenario",
    "Scenario, several",
    "Domain",
    "FiniteMechanism",
}
"""What looks numbers up by their hash, which a fraction of machine integers does not have."""


@pytest.mark.parametrize("name", sorted({*CALLS} - LABELS - WHOLE))
@pytest.mark.filterwarnings("error:overflow:RuntimeWarning")
def test_a_fraction_of_machine_integers_answers_as_one_of_integers(name: str) -> None:
    """Python keeps the integers that a fraction was made of, and sums of such fractions wrap."""
    for kind in (np.int64, np.uint8):
        for a, b in ends(kind):
            right = outcome(lambda: CALLS[name](Fraction(a), Fraction(b), Fraction))  # noqa: B023 - used at once
            made = lambda n: Fraction(kind(n), kind(1))  # noqa: B023, E731
            assert outcome(lambda: CALLS[name](made(a), made(b), made)) in {right, "refused"}, (kind.__name__, a, b)  # noqa: B023


def test_fractions_of_machine_integers_do_not_wrap_in_a_price_or_a_matrix() -> None:
    many = np.int64(10**10)
    small, other = Fraction(np.int64(1), many), Fraction(np.int64(3), many + np.int64(1))
    assert lw.AdditionOnly(small).scale(other).epsilon == Fraction(3, 10**10 * (10**10 + 1))
    half = Fraction(np.int64(1), np.int64(2))
    fair = mechanism.FiniteMechanism((0, 1), (0, 1), [[half, half], [half, half]])
    assert lw.verify(fair, distance.FiniteDistance((0, 1), [[0, half], [half, 0]]))


@pytest.mark.parametrize("truth", [True, np.True_, np.False_], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda t: exact.exact(t),
        lambda t: lw.Line("1", "1")(t, 0),
        lambda t: LAW.cdf(t),
        lambda t: LAW.pmf(t),
        lambda t: lw.Geometric(RATES, lower=t),
        lambda t: mechanism.sanitizer(LAW, t, "1/10"),
        lambda t: mechanism.alarm(LAW, t, "1/10"),
        lambda t: mechanism.sanitizer(LAW, 5, "1/10").probability(t),
        lambda t: distance.Plane("1", dimensions=t),
        lambda t: lw.where("x", at_least=t),
        lambda t: mechanism.Monitor(UP, stop_after=t),
        lambda t: mechanism.Sanitized(UP, at_most=t),
        lambda t: mechanism.SparseVector("1", at_most=t),
        lambda t: accounting.Accountant().compose(accounting.PureEvent(1, 1), t),
        lambda t: BOTH.release(np.array([t])),
        lambda t: lw.AdditionOnly(t),
        lambda t: query.SumOf("x", 0, t),
    ],
)
def test_a_truth_value_is_no_number(call: Callable[[Any], object], truth: object) -> None:
    with pytest.raises(LeewardError):
        call(truth)


def planned(k: Kind) -> object:
    """A plan about visitors, and its price in a smaller list, with all that it takes for whole numbers."""
    seen = lw.visits("visits.parquet", person="who", time="at", latitude="y", longitude="x")
    box = query.grid(west=0, south=0, east=1, north=1, h3=k(5))
    asked = lw.count_visitors(seen, box, start="2026-01-01", end="2026-01-02", places_per_person=k(2))
    decided: dict[str, Any] = {"safe_at_most": k(2), "dangerous_at_least": k(9), "error_at_most": "1/10"}
    made = decide_by(lw.plan, asked, lw.AdditionOnly("1"), **decided)
    twice = lw.plan(asked, lw.AdditionOnly("1"), lw.Decide(safe_at_most=k(2)), mechanism="sanitized", stop_after=k(3))
    mean = lw.statistic(
        lw.records("r.parquet", person="who"), lw.query.Kind("mean", people=k(100)), column="n", lower=0, upper=3
    )
    return str(made), asked, str(twice.listing(k(2)).price), twice.after(k(1)), str(lw.plan(mean, lw.BoundedDP("1")))


@pytest.mark.parametrize("kind", KINDS)
def test_a_plan_takes_all_whole_numbers(kind: Any) -> None:
    """Found by an attack: some were refused where ε was taken."""
    assert repr(planned(kind)) == repr(planned(int))
