"""Geometric noise in all its forms, beside the notions that it serves."""

from __future__ import annotations

from typing import Any

from tests.proofs.pair import Pair
from tests.proofs.universes import (
    AT_A,
    AT_B,
    BOTH_PLACES,
    GRAPHS,
    IS_B,
    IS_C,
    NUMBERS,
    ONE_PLACE,
    PEOPLE,
    PRESENT,
    READINGS,
    READINGS_OR_NOT,
    TEXTS,
    WORDS,
    Proved,
    answered,
    asked_by,
    derived,
    numeric,
)

from leeward.distance import FiniteDistance, Line, both_hold
from leeward.exact import Real, inf
from leeward.mechanism import (
    FiniteMechanism,
    Geometric,
    NormMechanism,
    addition_only,
    ageo,
    alap,
    graded,
    osdp_laplace,
    removal_only,
    truncated_geometric,
    two_sided,
)
from leeward.mechanism._series import SeriesMechanism
from leeward.mechanism._tree import TreeMechanism
from leeward.notion import (
    ADP,
    OSDP,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    EdgeDP,
    Graded,
    GradedFacts,
    GroupDP,
    Manhattan,
    Maximum,
    NodeDP,
    NormalisedManhattan,
    Personalised,
    Presence,
    RecordDistance,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
)
from leeward.query import CountWhere, Sum, maximum, median, sensitivity_lines

# ---- geometric noise with the rates that `sensitivity` derives

NOT_AT_A = CountWhere((~AT_A,))
CLOSE = FiniteDistance(WORDS, [[0, 1, 2], [3, 0, 1], [4, 3, 0]])
PATH = [("a", "b"), ("b", "c")]
SPREAD = {("a", "b"): 1, ("b", "c"): 1, ("c", "b"): 2, ("b", "a"): 2}


def graphs(notion: Any, rate: Real) -> Proved:
    matrix = answered(Line(rate, rate), GRAPHS, lambda graph: (len(graph),))
    return matrix, notion.on(GRAPHS)


def each(notion: Any, tables: tuple[Any, ...]) -> Proved:
    """Noise by the sign of each count: counts of a only fall along the steps, counts of b move both ways."""
    lines = sensitivity_lines(notion, BOTH_PLACES)
    noises = [Geometric(line).on(range(len(tables[0]) + 1)) for line in lines]
    return FiniteMechanism.product(noises).pull_back(tables, BOTH_PLACES.answer), notion.on(tables)


COUNTS = [
    Pair("visitors of a and of b", "UnboundedDP(ε)", lambda e: derived(UnboundedDP(e), PEOPLE, BOTH_PLACES)),
    Pair("visitors of a and of b", "BoundedDP(ε)", lambda e: derived(BoundedDP(e), PRESENT, BOTH_PLACES)),
    Pair("visitors of a and of b", "ReplaceDP(ε)", lambda e: derived(ReplaceDP(e), PEOPLE, BOTH_PLACES)),
    Pair("visitors of a and of b", "AdditionOnly(ε)", lambda e: derived(AdditionOnly(e), PEOPLE, BOTH_PLACES), True),
    Pair("visitors of a and of b", "RemovalOnly(ε)", lambda e: derived(RemovalOnly(e), PEOPLE, BOTH_PLACES), True),
    Pair("visitors of a and of b", "Presence(ε)", lambda e: derived(Presence(e), PEOPLE, BOTH_PLACES), True),
    Pair(
        "visitors of a and of b",
        "ADP(ε, [not at a, not at b])",
        lambda e: derived(ADP(e, [~AT_A, ~AT_B]), PRESENT, BOTH_PLACES),
        True,
    ),
    Pair("visitors of a", "ADP(ε, [not at a])", lambda e: derived(ADP(e, [~AT_A]), PRESENT, ONE_PLACE), True),
    Pair("visitors of a", "ADP(ε, [at a])", lambda e: derived(ADP(e, [AT_A]), PRESENT, ONE_PLACE), True),
    Pair(
        "visitors of a and of b, a line for each", "ADP(ε, [not at a])", lambda e: each(ADP(e, [~AT_A]), PRESENT), True
    ),
    Pair("visitors of a", "OSDP(ε, at a is sensitive)", lambda e: derived(OSDP(e, AT_A), PRESENT, ONE_PLACE), True),
    Pair(
        "people not at a",
        "OSDP(ε, at a is sensitive)",
        lambda e: derived(OSDP(e, AT_A), PRESENT, NOT_AT_A),
        True,
    ),
    Pair(
        "people not at a",
        'OSDP(ε, …, reading="non-sensitive")',
        lambda e: derived(OSDP(e, AT_A, "non-sensitive"), PRESENT, NOT_AT_A),
        True,
    ),
    Pair("records b", "Blowfish(ε, a – b – c)", lambda e: derived(Blowfish(e, WORDS, PATH), TEXTS, IS_B)),
    Pair(
        "visitors of a and of b",
        "Graded(presence=ε, absence=4ε)",
        lambda e: derived(Graded(e, e * 4), PEOPLE, BOTH_PLACES),
    ),
    Pair(
        "visitors of a and of b",
        "Graded(presence=ε, absence=∞)",
        lambda e: derived(Graded(e, inf), PEOPLE, BOTH_PLACES),
        True,
    ),
    Pair(
        "visitors of a and of b",
        "GradedFacts(presence=ε, absence=4ε)",
        lambda e: derived(GradedFacts(e, e * 4), PEOPLE, BOTH_PLACES),
    ),
    Pair(
        "visitors of a and of b",
        "Personalised(AdditionOnly, [ε, 2ε])",
        lambda e: derived(Personalised(AdditionOnly(1), [e, e * 2]), PEOPLE, BOTH_PLACES),
        True,
    ),
    Pair(
        "visitors of a and of b",
        "both_hold(AdditionOnly(ε), RemovalOnly(ε))",
        lambda e: derived(both_hold(AdditionOnly(e), RemovalOnly(e)), PEOPLE, BOTH_PLACES),  # type: ignore[arg-type]
    ),
    Pair(
        "visitors of a and of b",
        "both_hold(AdditionOnly(ε), Presence(ε))",
        lambda e: derived(both_hold(AdditionOnly(e), Presence(e)), PEOPLE, BOTH_PLACES),  # type: ignore[arg-type]
        True,
    ),
    Pair(
        "records c", "RecordDistance(ε, a directed distance)", lambda e: derived(RecordDistance(e, CLOSE), TEXTS, IS_C)
    ),
    Pair(
        "visitors of a and of b",
        "GroupDP(ε, both people)",
        lambda e: derived(GroupDP(e, [(0, 1)]), PRESENT, BOTH_PLACES),
    ),
    Pair(
        "sum of values", "Manhattan(ε, 0..2)", lambda e: numeric(Manhattan(e, NUMBERS), READINGS_OR_NOT, Sum(NUMBERS))
    ),
    Pair(
        "sum of values",
        "NormalisedManhattan(ε, 0..2)",
        lambda e: numeric(NormalisedManhattan(e, NUMBERS), READINGS_OR_NOT, Sum(NUMBERS)),
    ),
    Pair(
        "largest value",
        "Maximum(ε, 0..2)",
        lambda e: numeric(Maximum(e, NUMBERS, nobody=False), READINGS, maximum(NUMBERS)),
    ),
    Pair("median of values", "ReplaceDP(ε)", lambda e: numeric(ReplaceDP(e), READINGS_OR_NOT, median(NUMBERS))),
    Pair("edges of a graph", "EdgeDP(ε)", lambda e: graphs(EdgeDP(e), e)),
    Pair("edges of a graph on three people", "NodeDP(ε)", lambda e: graphs(NodeDP(e), e / 2)),
]

# ---- its forms, by their names


def one_count(form: Geometric, notion: Any, *, scale: int = 1) -> Proved:
    """The visitors of a, in steps of the form's grid."""

    def asked(table: Any) -> int:
        return ONE_PLACE.answer(table)[0] * scale

    return form.on([c * scale for c in range(3)]).pull_back(PEOPLE, asked), notion.on(PEOPLE)


def not_at_a(form: Geometric, notion: Any) -> Proved:
    return form.on(range(3)).pull_back(PRESENT, lambda table: NOT_AT_A.answer(table)[0]), notion.on(PRESENT)


FORMS = [
    Pair("`two_sided(ε)`", "UnboundedDP(ε)", lambda e: one_count(two_sided(e), UnboundedDP(e))),
    Pair(
        '`two_sided(ε, step="1/4")`, Laplace on a grid',
        "UnboundedDP(ε)",
        lambda e: one_count(two_sided(e, step="1/4"), UnboundedDP(e), scale=4),
    ),
    Pair(
        "`truncated_geometric(ε, 2)`", "UnboundedDP(ε)", lambda e: one_count(truncated_geometric(e, 2), UnboundedDP(e))
    ),
    Pair("`addition_only(ε)`", "AdditionOnly(ε)", lambda e: one_count(addition_only(e), AdditionOnly(e)), True),
    Pair("`removal_only(ε)`", "RemovalOnly(ε)", lambda e: one_count(removal_only(e), RemovalOnly(e)), True),
    Pair("`alap(ε)`", "Presence(ε)", lambda e: one_count(alap(e), Presence(e)), True),
    Pair(
        '`alap(ε, step="1/4")`, ALap on a grid',
        "Presence(ε)",
        lambda e: one_count(alap(e, step="1/4"), Presence(e), scale=4),
        True,
    ),
    Pair('`alap(ε, centre="mean")`', "Presence(ε)", lambda e: one_count(alap(e, centre="mean"), Presence(e)), True),
    Pair('`alap(ε, centre="median")`', "Presence(ε)", lambda e: one_count(alap(e, centre="median"), Presence(e)), True),
    Pair("`ageo(ε, 2)`, both clamps", "Presence(ε)", lambda e: one_count(ageo(e, 2), Presence(e)), True),
    Pair(
        "`ageo(ε, 2, increasing=True)`",
        "RemovalOnly(ε)",
        lambda e: one_count(ageo(e, 2, increasing=True), RemovalOnly(e)),
        True,
    ),
    Pair(
        "`osdp_laplace(ε)`, people not at a",
        "OSDP(ε, at a is sensitive)",
        lambda e: not_at_a(osdp_laplace(e), OSDP(e, AT_A)),
        True,
    ),
    Pair(
        "`graded(ε, 4ε)`",
        "GradedFacts(presence=ε, absence=4ε)",
        lambda e: one_count(graded(e, e * 4), GradedFacts(e, e * 4)),
    ),
    Pair(
        "`NormMechanism(Line(∞, ε), 2)`",
        "AdditionOnly(ε)",
        lambda e: (asked_by(NormMechanism(Line(inf, e), 2), PEOPLE), AdditionOnly(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "`NormMechanism(Line(∞, ε), 2)`",
        "Presence(ε)",
        lambda e: (asked_by(NormMechanism(Line(inf, e), 2), PEOPLE), Presence(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "`NormMechanism(Line(ε, ∞), 2)`",
        "RemovalOnly(ε)",
        lambda e: (asked_by(NormMechanism(Line(e, inf), 2), PEOPLE), RemovalOnly(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "`NormMechanism(Line(ε, ε), 2)`",
        "BoundedDP(ε)",
        lambda e: (asked_by(NormMechanism(Line(e, e), 2), PRESENT), BoundedDP(e).on(PRESENT)),
    ),
    Pair(
        '`SeriesMechanism("maximum", ε, window=2)`',
        "Maximum(ε, 0..2)",
        lambda e: (whole(SeriesMechanism("maximum", e, window=2)), Maximum(e, NUMBERS, nobody=False).on(READINGS)),
    ),
    Pair(
        '`SeriesMechanism("maximum", ε, window=2, noise="independent")`',
        "Maximum(ε, 0..2)",
        lambda e: (
            whole(SeriesMechanism("maximum", e, window=2, noise="independent")),
            Maximum(e, NUMBERS, nobody=False).on(READINGS),
        ),
    ),
    Pair(
        '`SeriesMechanism("manhattan", ε, window=2)`',
        "Manhattan(ε, 0..2)",
        lambda e: (whole(SeriesMechanism("manhattan", e, window=2)), Manhattan(e, NUMBERS, nobody=False).on(READINGS)),
    ),
    Pair(
        '`TreeMechanism("maximum", ε, levels=((1, 2), (2,)), spans=(2,))`',
        "Maximum(ε, 0..2)",
        lambda e: (
            whole(TreeMechanism("maximum", e, levels=((1, 2), (2,)), spans=(2,))),
            Maximum(e, NUMBERS, nobody=False).on(READINGS),
        ),
    ),
]


def whole(series: SeriesMechanism | TreeMechanism) -> FiniteMechanism:
    windows = [tuple(int(v) for v in table) for table in READINGS]
    return series.on(windows).pull_back(READINGS, lambda table: tuple(int(v) for v in table))
