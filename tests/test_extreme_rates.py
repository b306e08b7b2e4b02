"""Every public call that takes an ε or a rate answers, or refuses in words, from 10⁻³⁰ to 10³⁰: also for multiples of ln 2.

e^ε is beyond floats from ε = 710 on, e^−ε is 0 for them from 745 on, and a factor of 2 (ε = ln 2) makes every chance a
rational number whose digits could be written out. None of that may end in an error that is not ours, in "not a number", or
in a call that does not come back.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.asking import statistic_by
from tests.deciding import decide_by
from tests.flat_series import flat_series

import leeward as lw
from leeward import accounting, analysis, distance, exact, inf, mechanism, noise, notion, planner, query
from leeward.errors import LeewardError
from leeward.exact import Real
from leeward.local.series import Billing

LN2 = exact.log(2)
EPSILONS = (
    *map(
        exact.exact, ("1e-30", "1e-9", "1e-6", "1/1000", "1/3", "1", "7", "36", "38", "700", "709", "710", "745", "746")
    ),
    *map(exact.exact, ("1000", "1e5", "1e6", "1e18", "1e19", "1e30")),
    *(LN2 * Fraction(c) for c in ("1e-9", "1/1000", "1/3", "1", "3/2", "2", "53", "1024", "1075", "1000000")),
    exact.log(3) / 7,
    exact.log(1 + exact.exp(1)),
)
SEEN = lw.visits("visits.parquet", person="who", place="where", time="at")
ASKED = lw.count_visitors(
    SEEN, lw.places("places.parquet", place="where"), start="2026-01-01", end="2026-01-02", places_per_person=1
)
NUMBERS = lw.records("readings.parquet", person="who")
BOX = lw.Box(139.6, 35.6, 139.9, 35.8)
GRID = lw.ValueGrid(0, 10)
BITS = noise.SeededBitsForTests(1)
Call = Callable[[Real], object]


def readings(**words: Any) -> Any:
    clock = {"start": "2026-01-01", "end": "2026-01-02", "every": "1 h"}
    return flat_series(values="W", lower="0 W", upper="10000 W", step="1 W", between="maximum", **clock, **words)


def levels_of_readings(epsilon: Any) -> Any:
    one, other = readings(epsilon=epsilon, unit="1 W"), readings(epsilon="1", unit="100 W")
    asked = {"a": one.closeness, "b": other.closeness}
    return lw.local.series.SeriesLevels(asked, one.grid, one.schedule)


def event(made: object) -> object:
    account = accounting.Accountant([made] * 3)  # type: ignore[list-item]
    return account.cost, [(account.delta("1", d), account.epsilon("1e-6", d)) for d in ("withdraw", "insert")]


def compared(notion: Any, **decided: Any) -> object:
    found = decide_by(
        lw.compare, ASKED, notion, scenario=planner.Scenario(places=10, counts={0: 9, 3: 1}, releases=3), **decided
    )
    told = [(option.expected, option.safe_at_most_for(1, "0.9")) for option in found.options if not option.refused]
    return str(found), told, planner.recommend(found, count=1).reason


def numbers(notion: Any, kind: str, **more: Any) -> object:
    found = lw.plan(statistic_by(NUMBERS, kind, column="v", lower=0, upper=100, step=1, **more), notion)  # type: ignore[arg-type]
    return str(found), found.accuracy()


def planned(notion: Any, **decided: Any) -> object:
    found, beside = decide_by(lw.plan, ASKED, notion, **decided), decide_by(lw.compare, ASKED, notion, **decided)
    return str(found), found.decision_curve(), planner.plan_report(beside, count=1).to_dict()


def located(**words: Any) -> object:
    law = lw.PlanarLaplace(box=BOX, **words)
    return str(law), law.describe(), law.price, law.snapping, law.statement().to_dict(), law.perturb_one(35.7, 139.7)


def law(made: noise.DirectedGeometric) -> object:
    ends = [made.pmf(k) for k in (-(10**12), -1, 0, 5, 10**12)]
    return (
        ends,
        made.cdf(10**12),
        made.tail(-5),
        made.variance(),
        made.mean(),
        made.quantile("0.95"),
        made.sample(3, BITS),
    )


def geometric(made: lw.Geometric) -> object:
    found = made.accuracy()
    return str(made), found.expected_error(), found.quantile("0.95"), made.release([0, 5], BITS), made.expected_error()


def proved(made: Any, line: lw.Line) -> object:
    return str(lw.verify(made, line)), made.to_numpy()


def sampled(made: query.PoissonSampling, e: Real) -> object:
    return made.probability, made.addition(e), made.removal(e), made.line(lw.Line(e, e))


CALLS: dict[str, Call] = {
    # exact
    "exp": lambda e: (exact.exp(e), exact.exp_minus(e * 10**12), float(exact.exp(e * 10**9)), exact.exp(e) ** 3),
    "log": lambda e: (exact.log(1 + exact.exp(e)), exact.log(exact.exp_minus(e * 10**9)), exact.log(e)),
    "sqrt": lambda e: (e, exact.sqrt(e), float(e)),
    "ties": lambda e: [exact.exp(e * (10**9 + i)) * exact.exp(e) == exact.exp(e * (10**9 + 2)) for i in (1, 2)],
    # distances and notions
    "Line": lambda e: (
        lw.Line(e, e / 3)(0, 10**9),
        lw.Line(e, inf).scale(e),
        lw.Line(e, e).price_in(lw.Line("1", "2")),
    ),
    "Plane": lambda e: [distance.Plane(e, norm).scale(e)((0, 1), (2, 3)) for norm in ("manhattan", "euclidean")],
    "FiniteDistance": lambda e: distance.FiniteDistance.closed((0, 1, 2), [[0, e, inf], [1, 0, e], [e, e, 0]]).scale(e)(
        0, 2
    ),
    "graph_distance": lambda e: distance.graph_distance((0, 1, 2), {(0, 1): e, (1, 2): e * 3}, directed=True)(0, 2),
    "notions": lambda e: [
        (str(made), made.scale("3"), made.price_in(made))
        for made in (
            *(
                kind(e)
                for kind in (lw.AdditionOnly, lw.RemovalOnly, lw.UnboundedDP, lw.BoundedDP, lw.ReplaceDP, lw.Presence)
            ),
            *(notion.Graded(presence=e, absence=e * 2), notion.GradedFacts(presence=e, absence=e * 2)),
            *(lw.ADP(e, [lw.where("x", equals=1)]), lw.OSDP(e, lw.where("x", equals=1)), lw.GroupDP(e, [[0, 1]])),
            *(notion.Blowfish(e, "ab", [("a", "b")]), notion.EdgeDP(e), notion.NodeDP(e), notion.LocalDP(e)),
            lw.Personalised(lw.AdditionOnly("1"), [e, e * 3]),
        )
    ],
    "metric notions": lambda e: [
        kind(e, GRID)((0, 3), (5, 1)) for kind in (lw.Manhattan, notion.Maximum, notion.NormalisedManhattan)
    ],
    "one-record notions": lambda e: [
        (str(made), made.with_epsilon(e * 3), made.scale(e), made.distance)
        for made in (
            *(notion.ContextAwareLDP(1, "ab", {("a", "b"): e}), notion.InputDiscriminativeLDP({"a": e, "b": e * 2})),
            notion.RecordDistance(e, lw.Line(e, 1).on((0, 1))),
        )
    ],
    "ULDP": lambda e: notion.ULDP(e, lw.where("x", equals=1)),
    "prices": lambda e: (
        lw.price(lw.ReplaceDP(e), lw.BoundedDP("1"), release_unit="event", budget_unit="person", at_most=3),
        accounting.parallel([e, e * 2], 3),
        lw.both_hold(lw.AdditionOnly(e), lw.RemovalOnly("1")),
    ),
    # noise and mechanisms
    "DirectedGeometric": lambda e: law(noise.DirectedGeometric(e, e * 2)),
    "DirectedGeometric, upward": lambda e: law(noise.DirectedGeometric.one_sided(e)),
    "FirstAccepted": lambda e: (
        (made := noise.FirstAccepted(e)) and (str(made), made.draw([0, 5, 1], [1, 2, 10**9], BITS))
    ),
    "NormNoise": lambda e: (
        (made := noise.NormNoise(e, 3, one_sided=False)) and (made.sample(2, BITS), made.pmf((0, 5, 10**9)))
    ),
    "NormNoise, one-sided": lambda e: noise.NormNoise(e, 2, one_sided=True).sample(2, BITS),
    "PlanarNoise": lambda e: [noise.PlanarNoise(e, norm).sample(2, BITS) for norm in ("manhattan", "euclidean")],
    "Coin": lambda e: (noise.Coin.minus(e).flip(3, BITS), noise.Coin.minus(e).probability),
    "Geometric": lambda e: geometric(lw.Geometric(lw.Line(e, e))),
    "Geometric, upward": lambda e: geometric(lw.Geometric(lw.Line(inf, e))),
    "Geometric, clamped": lambda e: geometric(lw.Geometric(lw.Line(e, e / 2), lower=0, upper=100)),
    "Geometric, steps of e": lambda e: geometric(lw.Geometric(lw.Line("1", "1"), step=e)),
    "Geometric.on": lambda e: proved(lw.Geometric(lw.Line(e, e / 2), lower=0, upper=4).on(range(5)), lw.Line(e, e / 2)),
    "usefulness": lambda e: [
        (analysis.usefulness(made, 10**12), analysis.usefulness(made, e), analysis.useful_within(made, "1e-6"))
        for made in (lw.Geometric(lw.Line(e, e)), lw.Geometric(lw.Line(inf, e)))
    ],
    "usefulness_curve": lambda e: analysis.usefulness_curve(lw.Geometric(lw.Line(e, e)), [0, 1, e]),
    "NormMechanism": lambda e: (
        (made := mechanism.NormMechanism(lw.Line(e, e), 3)) and (str(made), made.release([[0, 1, 2]], BITS))
    ),
    "SeriesMechanism": lambda e: (
        (made := mechanism.SeriesMechanism("maximum", e, window=3))
        and (str(made), made.price(2), made.typical_error(), made.release([[0, 1, 2]], BITS))
    ),
    "TreeMechanism": lambda e: (
        (made := mechanism.TreeMechanism("maximum", e, levels=((1, 3), (3,)), spans=(3,)))
        and (str(made), made.price, made.release([[0, 1]], BITS))
    ),
    "PlanarMechanism": lambda e: (
        (made := mechanism.PlanarMechanism(distance.Plane(e)))
        and (made.displacement(), made.weight((0, 0), (3, 4)), made.probability((0, 0), (3, 4)))
    ),
    "sanitizer": lambda e: [
        (made.threshold, made.error, made.probability(0), made.probability(10**12))
        for both in [noise.DirectedGeometric(e, e)]
        for made in (
            mechanism.sanitizer(both, 5, "1e-6"),
            mechanism.sanitizer(noise.DirectedGeometric.one_sided(e), 10**12),
            mechanism.alarm(both, 7, "1/2"),
        )
    ],
    "randomized sanitizer": lambda e: mechanism.randomized_sanitizer(
        noise.DirectedGeometric(e, e), 5, "1/10"
    ).probability(3),
    "decisions": lambda e: planner.decisions(
        noise.DirectedGeometric(e, e), safe_at_most=2, dangerous_at_least=5, error_at_most="1e-9"
    ).curve(),
    "Sanitized": lambda e: (
        (made := mechanism.salap(e, at_most=2, stop_after=1))
        and repr(made) == repr(mechanism.Sanitized(lw.Line(inf, e), at_most=2))
        and (made.price, made.expected_answered([0, 5, 1]), made.on([(0, 3), (1, 3)]).to_numpy())
    ),
    "AdaptiveSanitized": lambda e: (
        (made := mechanism.AdaptiveSanitized(lw.Line(inf, e), at_most=2, budget=lw.exact.exact(e) * 2))
        and (str(made), made.release([0, 5, 1], BITS), made.on([(0, 3), (1, 3)]).to_numpy())
    ),
    "SparseVector": lambda e: (
        (made := mechanism.SparseVector(e, at_most=2, stop_after=1))
        and (str(made), made.release([0, 5, 1], BITS), made.on([(0, 3), (1, 3)]).to_numpy())
    ),
    "NoisyMax": lambda e: (
        (made := mechanism.NoisyMax(e)) and (str(made), str(made.distance), made.release([0, 5, 1], BITS))
    ),
    "RankSelection": lambda e: (
        (made := mechanism.RankSelection(e, "90"))
        and (str(made), str(made.distance), made.release([0, 5, 1], BITS), made.reach(10, "0.9"))
    ),
    "UnknownKeys": lambda e: (
        (made := mechanism.UnknownKeys(lw.Line(inf, e), 9))
        and (str(made), made.delta(), made.chance_shown(3), made.outcomes(2), made.release({"a": 12, "b": 1}, BITS))
    ),
    "Monitor": lambda e: str(mechanism.Monitor(lw.Line(inf, e), stop_after=3)),
    "SubsampledCount": lambda e: (
        (made := mechanism.SubsampledCount(e))
        and (made.variance(5), made.line, made.release([1, 5], BITS), made.unbiased([1, 5]))
    ),
    "SubsampledCount.on": lambda e: mechanism.SubsampledCount(e).on(range(4)).to_numpy(),
    "as_postprocessing": lambda e: mechanism.as_postprocessing(e, 4).to_numpy(),
    "PoissonSampling": lambda e: sampled(query.PoissonSampling.at_price(e), e),
    "PoissonSampling of e": lambda e: sampled(query.PoissonSampling("1/3"), e),
    "one-record": lambda e: [
        (made, made.on().to_numpy(), made.estimate([True, False]), made.variance(3, 5), str(made.distance))
        for made in (mechanism.warner(e), mechanism.mangat(e))
    ],
    "ULDP itself": lambda e: [
        str(lw.verify(made(e, "abc", "a".__eq__), notion.ProtectedOutputs(e, "a".__eq__)))
        for made in (mechanism.urr, mechanism.urap)
    ],
    "OSDPRandomizedResponse": lambda e: mechanism.OSDPRandomizedResponse(e, lw.where("x", equals=1)),
    "named": lambda e: [
        geometric(made)
        for made in (
            mechanism.addition_only(e),
            mechanism.removal_only(e),
            mechanism.two_sided(e),
            mechanism.graded(e, e * 3),
        )
    ],
    "named after papers": lambda e: (
        geometric(mechanism.truncated_geometric(e, 5)),
        geometric(mechanism.alap(e)),
        geometric(mechanism.ageo(e, 5)),
        str(mechanism.osdp_laplace(e)),
    ),
    "exponential mechanisms": lambda e: (
        mechanism.exponential_fallback(lw.Line(e, e).on(range(3)))[1],
        mechanism.exponential_mechanism(lw.Line(e, e).on(range(3))).to_numpy(),
        mechanism.true_scale(lw.Line(e, e).on(range(3))),
        mechanism.true_scale(lw.Line("1", "1").on(range(3)), e),
        mechanism.laplace_mechanism(lw.Line(e, e).on(range(3))).to_numpy(),
    ),
    "rate_for": lambda e: mechanism.rate_for(lw.Line(e, e), within=5, probability="0.9"),
    "rate_for safe": lambda e: mechanism.rate_for(lw.Line(inf, e), safe=(1, 5), probability="0.9"),
    "rate_for error": lambda e: mechanism.rate_for(lw.Line("1", "1"), expected_error=e),
    # events
    "PureEvent": lambda e: event(accounting.PureEvent(e, e)),
    "GeometricEvent": lambda e: event(accounting.GeometricEvent(e, e)),
    "LaplaceEvent": lambda e: event(accounting.LaplaceEvent(e, e)),
    "SanitizedEvent": lambda e: event(accounting.SanitizedEvent(e)),
    "UnknownKeysEvent": lambda e: event(accounting.UnknownKeysEvent(e, inf, reach=3)),
    "Accountant": lambda e: accounting.Accountant([accounting.GeometricEvent("1/10", "1/10")] * 9).delta(e, "insert"),
    "Filter": lambda e: accounting.Filter(lw.AdditionOnly("1"), e).add(accounting.PureEvent("1/7", inf)),
    # analysis
    "alap": lambda e: (
        analysis.alap_beta(e, 0, 10**12),
        analysis.alap_beta(e, 3, 3),
        analysis.alap_epsilon("1/2", 0, 3, sensitivity=e),
    ),
    "bounds": lambda e: [f(e, 5, "1/9") for f in (analysis.epsilon_bound, analysis.epsilon_bound_complement)],
    "bounds, delta": lambda e: [
        f(e, "1e-9", 5, "1/9") for f in (analysis.delta_bound, analysis.delta_bound_complement)
    ],
    "bounds, far": lambda e: [f(e, 10**6, "1/9") for f in (analysis.epsilon_bound, analysis.epsilon_bound_complement)],
    "delta_needed": lambda e: analysis.delta_needed(e, 3, "1/9", "1/3"),
    "best_decision": lambda e: (analysis.best_decision(e, e * 2, 50, "1e-9"), analysis.best_decision(e, inf, 5)),
    "optimal": lambda e: (
        analysis.optimal(range(3), lw.Line(e, e)),
        analysis.optimal(range(3), lw.Line(e, e), prior="worst"),
    ),
    "is_universally_optimal": lambda e: [
        str(analysis.is_universally_optimal(lambda y: y, lw.Line(e, fall).on(range(3)), losses, pairs=1))
        for fall, losses in ((e, "monotone"), (inf, "any"), (e, "any"))
    ],
    "remap": lambda e: (
        (made := analysis.remap(lw.Geometric(lw.Line(e, e), lower=0, upper=3), None, "squared"))
        and (made.loss, made.mechanism.to_numpy())
    ),
    "utility": lambda e: analysis.expected_loss(lw.Geometric(lw.Line(e, e), lower=0, upper=3)),
    "risk": lambda e: (
        (made := analysis.risk(lw.Geometric(lw.Line(e, e), lower=0, upper=3).on(range(4)), None, (1).__lt__))
        and (str(made), made.at_most(e))
    ),
    "shuffled": lambda e: [
        analysis.shuffled(made(e).on(), 3, *way).delta(e)
        for made in (mechanism.warner, mechanism.mangat)
        for way in ((True, False), (False, True))
    ],
    "outside_ball": lambda e: analysis.outside_ball(e)(3, 5),
    # plans
    **{
        f"plan, {kind.__name__}": lambda e, kind=kind, wrong=wrong: planned(kind(e), safe_at_most=2, **wrong)
        for kind, wrong in (
            (lw.AdditionOnly, {}),
            (lw.Presence, {}),
            (lw.UnboundedDP, {"error_at_most": "1e-3"}),
            (lw.BoundedDP, {"error_at_most": "1e-3"}),
        )
    },
    "plan, dangerous": lambda e: planned(lw.RemovalOnly(e), dangerous_at_least=5),
    "plan, graded": lambda e: planned(notion.Graded(presence=e, absence=e * 4), safe_at_most=2, error_at_most="1e-3"),
    "plan, sanitized": lambda e: str(
        lw.plan(ASKED, lw.AdditionOnly(e), lw.Decide(safe_at_most=2), mechanism="sanitized")
    ),
    "compare": lambda e: compared(lw.AdditionOnly(e), safe_at_most=2),
    "compare, a name": lambda e: str(
        lw.compare(lw.select(ASKED), lw.AdditionOnly(e), scenario=planner.Scenario(places=10, counts={0: 9, 3: 1}))
    ),
    "compare, far": lambda e: compared(lw.AdditionOnly(e), safe_at_most=10**12),
    "compare, both": lambda e: compared(lw.UnboundedDP(e), safe_at_most=2, error_at_most="1e-6"),
    "count": lambda e: numbers(lw.UnboundedDP(e), "sum"),
    "mean": lambda e: numbers(lw.UnboundedDP(e), "mean"),
    "mean of so many": lambda e: numbers(lw.BoundedDP(e), "mean", people=100),
    "median": lambda e: numbers(lw.BoundedDP(e), "median"),
    "histogram": lambda e: numbers(lw.UnboundedDP(e), "histogram"),
    "region": lambda e: planner.region([e]),
    "variances": lambda e: planner.variances(e, [0, 1, 5, 10**6]),
    "bounded_gain": lambda e: planner.bounded_gain([e]),
    "crossover": lambda e: [planner.crossover(e, estimate) for estimate in ("as printed", "unbiased")],
    "extreme_reveals": lambda e: planner.extreme_reveals(e, 5),
    "filled_bins": lambda e: planner.filled_bins(noise.DirectedGeometric(e, e), {0: 9, 10**12: 1}),
    "cautions": lambda e: planner.cautions(lw.RemovalOnly(e), lw.Line(e, inf), 3),
    # one person's own record
    "PlanarLaplace": lambda e: located(epsilon=e, unit="20 m"),
    "PlanarLaplace of factors": lambda e: located(factor=1 + e, within="20 m"),
    "PlanarLaplace, posterior": lambda e: lw.PlanarLaplace(box=BOX, epsilon=e, unit="20 m").posterior(
        35.7, 139.7, {(35.7, 139.7): 1, (35.71, 139.7): 1}
    ),
    "Series": lambda e: (made := readings(epsilon=e, unit="1 W")) and (made.price, made.snapping, made.describe()),
    "SeriesLevels": lambda e: (own := levels_of_readings(e)) and (own.check(), own.exchange("a", "b")),
    "Billing": lambda e: (
        (made := Billing(e))
        and (
            made.price,
            made.bill([5, 6], BITS),
            made.settle([[5] * 12], [[7] * 12], BITS),
            float(made.expected_surcharge()),
            float(made.expected_overpaid()),
        )
    ),
}


SECONDS = 60
"""What no call takes: on a quiet machine the slowest takes three."""
CORE = [*map(exact.exact, ("1e-6", "1", "38", "710", "1e6", "1e19")), LN2, LN2 * Fraction("1e-9"), LN2 * 1075]


def parts(found: object) -> Iterator[object]:
    """Everything that a result holds, down to numbers and texts."""
    if isinstance(found, pd.DataFrame):
        yield from found.to_numpy().ravel()
    elif isinstance(found, np.ndarray):
        yield from found.ravel()
    elif isinstance(found, dict):
        yield from itertools.chain.from_iterable(map(parts, (*found.keys(), *found.values())))
    elif isinstance(found, list | tuple):
        yield from itertools.chain.from_iterable(map(parts, found))
    else:
        yield found


@contextmanager
def in_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def shown(part: object) -> str:
    """A part as a page would show it: both its text and its number."""
    number = f"{float(part):.4g}" if isinstance(part, Real | exact.Weight | Fraction | float | int) else ""
    return f"{part} {number}"


def answers(name: str, epsilons: Iterable[Real]) -> int:
    """How many of these are answered; anything but an answer that is a number, or a refusal in words, fails."""
    answered = 0
    for epsilon in epsilons:
        with in_time():
            try:
                told = [shown(part) for part in parts(CALLS[name](epsilon))]
            except LeewardError:
                continue
        assert not any("nan" in text.lower().split() for text in told), epsilon
        answered += 1
    return answered


@pytest.mark.parametrize("name", CALLS)
def test_a_call_answers_or_refuses_in_words(name: str) -> None:
    whole_page = name.startswith(("plan,", "compare", "SparseVector"))  # takes half a second for each
    assert answers(name, [CORE[1], CORE[6]] if whole_page else CORE), "refused everywhere: this tests nothing"


@pytest.mark.sweep
@pytest.mark.parametrize("name", CALLS)
def test_so_it_does_for_all_of_these(name: str) -> None:
    assert answers(name, EPSILONS) >= len(EPSILONS) / 4, "refused nearly everywhere"


RATES = {
    "epsilon",
    "epsilons",
    "rate",
    "up",
    "down",
    "rise",
    "fall",
    "presence",
    "absence",
    "withdraw",
    "insert",
    "cap",
    "scale",
}


def taking_rates() -> Iterator[tuple[str, Any]]:
    """Every public function, class and method with an argument that is an ε or a rate."""
    for room in pkgutil.iter_modules(lw.__path__):
        if room.name.startswith("_"):
            continue
        module = importlib.import_module(f"leeward.{room.name}")
        for name in getattr(module, "__all__", ()):
            public = getattr(module, name)
            methods = [(n, getattr(public, n)) for n in vars(public) if n[0] != "_"] if inspect.isclass(public) else []
            for spelt, one in [(name, public), *methods]:
                if inspect.isroutine(one) | inspect.isclass(one) and RATES & {
                    word for word, of in inspect.signature(one).parameters.items() if "Exact" in str(of.annotation)
                }:
                    yield spelt, one


def test_every_public_call_with_a_rate_is_among_them() -> None:
    written = Path(__file__).read_text()
    found = [name for name, _ in taking_rates()]
    assert len(found) > 60
    base = {"Notion"}  # abstract
    held = {"Budget"}  # a cap of a ledger: tests/ledger
    assert not {name for name in found if not re.search(rf"\b{name}\b", written)} - base - held


def test_ties_beyond_what_is_written_out_are_exact() -> None:
    """2^−n is not written out from some thousands of digits on; a form of it still equals every other one, and no more."""
    for n, m in itertools.product((1, 2**13, 2**14, 2**14 + 1, 2**15, 10**12), (0, 1, 3, 2**14, 10**6)):
        small = exact.exp(-LN2 * (n + m))
        assert small * exact.exp(LN2 * m) == exact.exp(-LN2 * n)
        assert exact.log(small) == -LN2 * (n + m)
        assert 1 - small < 1
        assert (5 + 1 / small) - 3 * exact.exp(LN2 * (n + m)) == 5 - exact.exp(LN2 * (n + m + 1))
        assert small * exact.exp(exact.log(6) * n) == exact.exp(exact.log(3) * n) * exact.exp(-LN2 * m)
        assert small * Fraction(2) ** min(m, 2**14) != small * Fraction(2) ** min(m, 2**14) * (1 + Fraction(1, 2**60))
    huge = exact.exp(LN2 * 10**12)
    assert 3 * huge == huge + exact.exp(LN2 * (10**12 + 1))
    assert 5 + 3 * huge == 5 + huge + exact.exp(LN2 * (10**12 + 1))
    assert 5 + 3 * huge > 4 + huge + exact.exp(LN2 * (10**12 + 1))
    assert Fraction(7, 8) * huge * Fraction(8, 7) == huge
    assert float(1 / huge) == 0
    assert str(exact.exp(-LN2 * 10**12)) == "Weight(exp(-1000000000000*log(2)) ≈ 0)"
