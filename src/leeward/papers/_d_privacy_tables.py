# SPDX-License-Identifier: Apache-2.0
"""d-privacy: the sensitivity of every query in every metric, what is tight, and Theorems 8 to 13 by linear programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from leeward.analysis import optimal, shared
from leeward.analysis._characterise import (
    any_box,
    any_record,
    any_subset,
    hide_one,
    maximally_tight,
    substitute_all,
    substitute_one,
    tight,
)
from leeward.analysis._expansive import expansion, in_class_c, induced_edges, pushed
from leeward.analysis._remap import remap
from leeward.distance import Derived, FiniteDistance, Line
from leeward.exact._real import Exact
from leeward.mechanism import FiniteMechanism, Geometric
from leeward.notion import (
    ABSENT,
    Manhattan,
    Maximum,
    NormalisedManhattan,
    Notion,
    ReplaceDP,
    UnboundedDP,
    ValueGrid,
    all_tables,
)
from leeward.notion._metric import with_nobody
from leeward.papers._claim import Chapter, Figure, Numbers
from leeward.query import Mean, Sum, maximum, median, minimum
from leeward.query._numeric import Numeric, percentile

REALS: Derived[Any] = Derived("d_R", lambda x, y: abs(x - y))
METRICS: dict[str, Callable[[Exact, ValueGrid], Notion]] = {
    "d_h": lambda e, v: ReplaceDP(e),
    "d_1": lambda e, v: Manhattan(e, v),
    "d̃_1": lambda e, v: NormalisedManhattan(e, v),
    "d_∞": lambda e, v: Maximum(e, v),
}
PRINTED: dict[str, dict[str, tuple[str, bool | None]]] = {
    "d_h": dict.fromkeys(("sum", "avg", "p-perc"), ("qk", None)),
    "d_1": dict.fromkeys(("sum", "avg", "p-perc"), ("1", True)),
    "d̃_1": dict.fromkeys(("sum", "avg", "p-perc"), ("qk", True)),
    "d_∞": {"sum": ("–", None), "avg": ("1", True), "p-perc": ("1", True)},
}
"""Proposition 4 and Theorems 11 to 13: the sensitivity, and whether it is uniform (None: not stated)."""


def _queries(v: ValueGrid) -> dict[str, tuple[str, Numeric]]:
    return {
        "sum": ("sum", Sum(v)),
        "average": ("avg", Mean(v)),
        "minimum": ("p-perc", minimum(v)),
        "25-percentile": ("p-perc", percentile(v, 25)),
        "median": ("p-perc", median(v)),
        "maximum": ("p-perc", maximum(v)),
    }


def _tables(v: ValueGrid, persons: int) -> list[tuple[Any, ...]]:
    return [x for x in all_tables((*v.points, ABSENT), persons) if any(value is not ABSENT for value in x)]


def chapter(full: bool) -> Chapter:
    """Return the tables and their claims. The full set has three people as well as two."""
    v = ValueGrid(0, 2)
    sizes = (2, 3) if full else (2,)
    sensitivities = pd.concat([_sensitivities(v, n) for n in sizes], ignore_index=True)
    optima = pd.concat([_optima(v, n, _priors(n) if full else ["uniform"]) for n in sizes], ignore_index=True)
    return Chapter(
        [
            *_of_sensitivities(sensitivities, v),
            *_of_tightness(),
            *_of_metrics(v),
            *_of_optima(optima),
            *_of_rounded_averages(v),
            *_of_two_consumers(v),
            *_small_slips(v),
            *(_of_all_optima(optima) if full else ()),
        ],
        [
            Figure("d-privacy-sensitivity-table", sensitivities),
            Figure("d-privacy-optima", optima),
        ],
    )


# ---- sensitivities


def _sensitivities(v: ValueGrid, persons: int) -> pd.DataFrame:
    tables, rows = _tables(v, persons), []
    for metric, notion in METRICS.items():
        space = notion(1, v).on(tables)
        for name, (kind, query) in _queries(v).items():
            found, (printed, uniform) = expansion(query, space, REALS), PRINTED[metric][kind]
            rows.append(
                (
                    persons,
                    metric,
                    name,
                    printed,
                    float(found.sensitivity),
                    {True: "yes", None: "–"}[uniform],
                    "yes" if found.uniform else "no",
                )
            )
    names = ["people", "metric", "query", "printed", "sensitivity", "printed_uniform", "uniform"]
    return pd.DataFrame(rows, columns=names)


def _of_sensitivities(found: pd.DataFrame, v: ValueGrid) -> Numbers:
    two = found[found["people"] == 2]
    wanted = two["printed"].map({"qk": float(v.width), "1": 1.0})
    stated = two[wanted.notna()]
    right = int((stated["sensitivity"] == wanted.dropna()).sum())
    uniform = two[two["printed_uniform"] == "yes"]
    average = uniform[uniform["query"] == "average"]
    others = uniform[uniform["query"] != "average"]
    total = two[(two["query"] == "sum") & (two["metric"] == "d_∞")]["sensitivity"].iloc[0]
    return [
        ("d-privacy-sensitivities", right),
        ("d-privacy-uniform", (others["uniform"] == "yes").sum()),
        ("d-privacy-uniform-average", (average["uniform"] == "yes").sum()),
        ("d-privacy-sum-maximum", total),
    ]


# ---- tightness and comparisons


def _of_tightness() -> Numbers:
    records: list[Any] = [0, 1, 2]
    v = ValueGrid(0, 2)
    tables = all_tables(records, 2)
    d_1, d_n, d_inf = (n("1", v, nobody=False).on(tables) for n in (Manhattan, NormalisedManhattan, Maximum))
    d_h = FiniteDistance(tables, [[sum(a != b for a, b in zip(x, y, strict=True)) for y in tables] for x in tables])
    two = [
        *(maximally_tight(d, hiding=substitute_one(records, 2)) for d in (d_1, d_n)),
        *(maximally_tight(d, neighbourhoods=any_subset(records, 2)) for d in (d_1, d_n)),
    ]
    nine = [
        maximally_tight(d_h, neighbourhoods=any_record(records, 2)),
        *(tight(d, any_record(records, 2)) for d in (d_1, d_n)),
    ]
    ten = [
        maximally_tight(d_inf, hiding=substitute_all(records, 2)),
        maximally_tight(d_inf, neighbourhoods=any_box(records, 2)),
    ]
    return [
        ("d-privacy-proposition-2", sum(two)),
        ("d-privacy-proposition-9", sum(nine)),
        ("d-privacy-proposition-10", sum(ten)),
        ("d-privacy-phi-h", maximally_tight(d_h, hiding=hide_one(records, 2))),
    ]


def _of_metrics(v: ValueGrid) -> Numbers:
    tables = all_tables((*v.points, ABSENT), 2)
    hamming, removal, normal = (n.on(tables) for n in (ReplaceDP(1), UnboundedDP(1), NormalisedManhattan(1, v)))
    pairs = [(x, y) for x in tables for y in tables if x != y]
    values = with_nobody(Line(1, 1).on(v.points))
    counts = all_tables((0, 1), 3)
    count = expansion(sum, ReplaceDP(1).on(counts), REALS)
    total = Sum(v)
    full = _tables(v, 2)
    edges = induced_edges(total, ReplaceDP(1).on(full))
    induced = pushed(total, ReplaceDP(1).on(full))
    return [
        ("d-privacy-d-r", max(removal(x, y) / hamming(x, y) for x, y in pairs)),
        ("d-privacy-d-h", max(hamming(x, y) / removal(x, y) for x, y in pairs)),
        ("d-privacy-proposition-3", max(normal(x, y) / hamming(x, y) for x, y in pairs)),
        ("d-privacy-proposition-5", sum(in_class_c(q, ReplaceDP(1).on(full), values) for _, q in _queries(v).values())),
        ("d-privacy-proposition-7-count", count.uniform and count.sensitivity == 1),
        (
            "d-privacy-proposition-7",
            (f := expansion(total, ReplaceDP(1).on(full), induced)).uniform and f.sensitivity == 1,
        ),
        ("d-privacy-theorem-9-graph", len(edges) / 2),
    ]


# ---- optimality


def _priors(persons: int) -> list[str]:
    return ["uniform", "linear", "worst"] if persons == 2 else ["uniform"]


def _prior(name: str, size: int) -> Any:
    if name == "linear":
        return [Fraction(2 * (i + 1), size * (size + 1)) for i in range(size)]
    return None if name == "uniform" else name


def _on_answers(answers: list[Fraction], rate: Fraction) -> FiniteMechanism:
    """TG on the finest grid of the answers: q[0..k], q[0..nk] for the sum, the half grid for averages of two."""
    common = math.lcm(*(y.denominator for y in answers))
    step = Fraction(math.gcd(*(int(y * common) for y in answers)), common)
    places = {y: int(y / step) for y in answers}
    mechanism = Geometric(Line(rate, rate), step=step, lower=0, upper=max(places.values()))
    return mechanism.on(range(max(places.values()) + 1)).pull_back(answers, places.__getitem__)


def _optima(v: ValueGrid, persons: int, priors: list[str]) -> pd.DataFrame:
    tables = _tables(v, persons)
    counts = all_tables((0, 1), persons)
    cases: list[tuple[str, str, str, Any, Notion, Sequence[Any], Fraction]] = [
        ("Theorem 8", "count", "d_h", sum, ReplaceDP("1/2"), counts, Fraction(1, 2)),
    ]
    for theorem, metric, epsilon, rate in (
        ("Theorem 9", "d_h", "1/2", Fraction(1, 4)),
        ("Theorem 11", "d̃_1", "1", Fraction(1, 2)),
        ("Theorem 12", "d_1", "1", Fraction(1)),
        ("Theorem 13", "d_∞", "1", Fraction(1)),
    ):
        for name, (kind, query) in _queries(v).items():
            if PRINTED[metric][kind][0] != "–" and name != "25-percentile":
                cases.append((theorem, name, metric, query, METRICS[metric](epsilon, v), tables, rate))
    rows = []
    for theorem, name, metric, query, notion, secrets, rate in cases:
        space = pushed(query, notion.on(secrets))
        answers = [Fraction(y) for y in space.points]
        mechanism = _on_answers(answers, rate)
        for prior in priors:
            chances = _prior(prior, len(answers))
            for loss in ("absolute", "zero-one"):
                best = optimal(space.points, space, chances, loss)
                ours = float(remap(mechanism, chances, loss).loss)
                rows.append(
                    (theorem, persons, name, metric, prior, loss, best.bound, ours, max(0.0, ours - best.bound))
                )
    names = ["theorem", "people", "query", "metric", "prior", "loss", "least_loss", "TG_remapped", "gap"]
    return pd.DataFrame(rows, columns=names)


def _of_optima(found: pd.DataFrame) -> Numbers:
    two = found[(found["people"] == 2) & (found["prior"] == "uniform")]

    def worst(theorem: str, average: bool) -> float:
        chosen = two[(two["theorem"] == theorem) & ((two["query"] == "average") == average)]
        return float(chosen["gap"].max())

    claims = [
        ("d-privacy-theorem-8", worst("Theorem 8", False)),
        ("d-privacy-theorem-9", two[two["theorem"] == "Theorem 9"].groupby("query")["gap"].max().min()),
    ]
    for theorem in ("Theorem 11", "Theorem 12", "Theorem 13"):
        key = theorem.lower().replace(" ", "-")
        claims += [
            (f"d-privacy-{key}", worst(theorem, False)),
            (f"d-privacy-{key}-average", worst(theorem, True)),
        ]
    chosen = two[(two["theorem"] == "Theorem 13") & (two["query"] == "average") & (two["loss"] == "absolute")].iloc[0]
    return [
        *claims,
        ("d-privacy-average-optimum", chosen["least_loss"]),
        ("d-privacy-average-tg", chosen["TG_remapped"]),
    ]


def _of_rounded_averages(v: ValueGrid) -> Numbers:
    """Averages of two rounded to q[0..k], q = 1: half up as the theorems need it, and half to even."""
    tables, mean = _tables(v, 2), Mean(v)

    def half_up(x: Any) -> Fraction:
        return Fraction(math.floor(mean(x) + Fraction(1, 2)))

    metrics = {"11": METRICS["d̃_1"], "12": METRICS["d_1"], "13": METRICS["d_∞"]}
    spaces = {theorem: notion(1, v).on(tables) for theorem, notion in metrics.items()}
    gaps: dict[str, float] = {}
    least = 0.0
    for theorem, space in spaces.items():
        on_answers = pushed(half_up, space)
        tg = _on_answers(list(on_answers.points), Fraction(1, 2) if theorem == "11" else Fraction(1))
        for loss in ("zero-one", "absolute"):
            found = optimal(on_answers.points, on_answers, None, loss)
            gaps[theorem] = max(gaps.get(theorem, 0.0), float(remap(tg, None, loss).loss) - found.bound)
            least = found.bound
    even = expansion(lambda x: Fraction(round(mean(x))), spaces["13"], REALS).sensitivity
    return [
        ("d-privacy-uniform-average-rounded", sum(expansion(half_up, s, REALS).uniform for s in spaces.values())),
        ("d-privacy-uniform-average-even", even),
        *((f"d-privacy-theorem-{theorem}-average-rounded", gap) for theorem, gap in gaps.items()),
        ("d-privacy-average-rounded", least),
    ]


def _of_two_consumers(v: ValueGrid) -> Numbers:
    """What two consumers lose by sharing, in d_h: one knows nothing, one that the answer is one of the two least."""

    def lost(space: FiniteDistance[Any]) -> tuple[float, float]:
        n = len(space.points)
        two = [Fraction(1, 2)] * 2 + [Fraction(0)] * (n - 2)
        return shared(space.points, space, [(None, "zero-one"), (two, "zero-one")]).missed

    tables, notion = _tables(v, 2), ReplaceDP("1/2")
    others = [lost(pushed(q, notion.on(tables)))[0] for name, (_, q) in _queries(v).items() if name != "25-percentile"]
    counts = [lost(pushed(sum, notion.on(all_tables((0, 1), n))))[1] for n in (2, 3)]
    return [("d-privacy-theorem-9-consumers", min(others)), ("d-privacy-theorem-8-consumers", max(counts))]


def _of_all_optima(found: pd.DataFrame) -> Numbers:
    promised = found[(found["theorem"] != "Theorem 9") & (found["query"] != "average")]
    return [("d-privacy-optima-full", promised["gap"].max()), ("d-privacy-optima-full-programs", len(promised))]


# ---- small slips


def _small_slips(v: ValueGrid) -> Numbers:
    tg = Geometric(Line(1, 1), lower=0, upper=1).on(range(2))
    constant = FiniteMechanism(range(2), ["no answer"], [[1], [1]])
    present = Mean(v)
    three = all_tables(ValueGrid(0, 3).points, 3)
    return [
        ("d-privacy-definition-7", remap(tg).loss),
        ("d-privacy-definition-7-constant", remap(constant).loss),
        ("d-privacy-sum-sensitivity", expansion(Sum(v), ReplaceDP(1).on(_tables(v, 2)), REALS).sensitivity),
        ("d-privacy-sum-range", max(sum(x) for x in three)),
        ("d-privacy-theorem-13-proof", present((0, ABSENT, 2))),
    ]
