"""Every mechanism beside every notion that it serves: what docs/guide/proofs.md shows and tests/proofs checks.

ε is always the notion's; each entry builds the exact matrix and the notion's distance from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.proofs.noises import COUNTS, FORMS, PATH, SPREAD
from tests.proofs.pair import Pair
from tests.proofs.universes import (
    ALONE,
    BITS,
    ONE_PLACE,
    PEOPLE,
    PRESENT,
    SETS,
    WORDS,
    Proved,
    answered,
    asked_by,
    monitored,
    said,
)

from leeward.analysis import optimal
from leeward.distance import FiniteDistance, Line
from leeward.exact import Real, exact, inf
from leeward.mechanism import (
    AdaptiveSanitized,
    Everyone,
    FiniteMechanism,
    NoisyMax,
    OSDPRandomizedResponse,
    RankSelection,
    Sanitized,
    SparseVector,
    SubsampledCount,
    UnknownKeys,
    alap,
    alarm,
    exponential_fallback,
    laplace_mechanism,
    mangat,
    randomized_sanitizer,
    removal_only,
    sample_tables,
    sanitizer,
    subsampled,
    two_sided,
    urap,
    urr,
    warner,
)
from leeward.notion import (
    ABSENT,
    ADP,
    OSDP,
    ULDP,
    AdditionOnly,
    Blowfish,
    BoundedDP,
    ContextAwareLDP,
    InputDiscriminativeLDP,
    LocalDP,
    Notion,
    Personalised,
    Presence,
    RemovalOnly,
    UnboundedDP,
    all_tables,
)
from leeward.query import PoissonSampling

NUMBERED, BITS_OF_THREE = all_tables([ABSENT, 0, 1], 3), all_tables([0, 1], 3)
"""Three people with a 0 or a 1 each; missing or not."""


def ranked(mechanism: RankSelection, notion: Notion, tables: tuple[Any, ...]) -> Proved:
    """A percentile by rank of the numbers of a table."""

    def counts(table: tuple[Any, ...]) -> tuple[int, int]:
        return table.count(0), table.count(1)

    return mechanism.on(dict.fromkeys(map(counts, tables))).pull_back(tables, counts), notion.on(tables)


def both_ranked(mechanisms: tuple[RankSelection, RankSelection], notion: Notion, tables: tuple[Any, ...]) -> Proved:
    """Two percentiles by rank of the same numbers, with noise of their own."""
    one, other = (ranked(mechanism, notion, tables)[0] for mechanism in mechanisms)
    return one.beside(other), notion.on(tables)


# ---- decisions, and paying only when it is not safe


def sanitized(e: Real, notion: Any, c: int) -> Proved:
    mechanism = Sanitized(Line(inf, e / c), at_most=0, stop_after=c)
    return asked_by(mechanism, PEOPLE), notion.on(PEOPLE)


def sparse(e: Real, notion: Any, tables: tuple[Any, ...], *, c: int, monotonic: bool) -> Proved:
    return asked_by(SparseVector(e, at_most=0, stop_after=c, monotonic=monotonic), tables), notion.on(tables)


def adaptive(e: Real, notion: Any) -> Proved:
    """At most 0, and over it by 1 at the early look: one count late, or one early and one at either look."""
    mechanism = AdaptiveSanitized(Line(inf, e * "2/3"), at_most=0, budget=e, margins=(1,))
    return asked_by(mechanism, PEOPLE), notion.on(PEOPLE)


def counted_at_one(table: tuple[Any, ...]) -> tuple[int, ...]:
    """Visitors of a and of b, of whom each counts at one, and the most left out at either."""
    at_a, both = sum("a" in (r or "") for r in table), sum("a" in (r or "") and "b" in (r or "") for r in table)
    return at_a, sum("b" in (r or "") for r in table) - both, both


def everyone(e: Real, left_out: str) -> Proved:
    vectors = list(dict.fromkeys(map(counted_at_one, PEOPLE)))
    mechanism = Everyone(Line(inf, e * (1 - exact(left_out))), e * left_out)
    return mechanism.on(vectors).pull_back(PEOPLE, counted_at_one), AdditionOnly(e).on(PEOPLE)


def unlisted(e: Real) -> FiniteMechanism:
    """Counts of a and b, as keys that nobody has listed: a person has up to two of them."""
    mechanism = UnknownKeys.under(RemovalOnly(e), keys_per_person=2)
    vectors = list(dict.fromkeys(map(both_counts, PEOPLE)))
    return mechanism.on(vectors).pull_back(PEOPLE, both_counts)


def both_counts(table: tuple[Any, ...]) -> tuple[int, ...]:
    """How many are at a, and at b."""
    return tuple(sum(place in (r or "") for r in table) for place in "ab")


def share(c: int) -> str:
    return "ε" if c == 1 else f"ε/{c}"


DECISIONS = [
    Pair(
        "*safe* at most 1, `sanitizer`",
        "AdditionOnly(ε)",
        lambda e: (said(sanitizer(alap(e).law, 1).probability, PEOPLE), AdditionOnly(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "*dangerous* from 2, `alarm`",
        "RemovalOnly(ε)",
        lambda e: (said(alarm(removal_only(e).law, 2).probability, PEOPLE), RemovalOnly(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "*safe* at most 1, `randomized_sanitizer` at α = 1/100",
        "UnboundedDP(ε)",
        lambda e: (
            said(randomized_sanitizer(two_sided(e).law, 1, "1/100").probability, PEOPLE),
            UnboundedDP(e).on(PEOPLE),
        ),
    ),
    *(
        Pair(
            f"`Sanitized(Line(∞, {share(c)}), at_most=0, stop_after={c})`",
            f"{name}(ε)",
            lambda e, c=c, notion=notion: sanitized(e, notion(e), c),
            True,
        )  # type: ignore[misc]
        for c in (1, 2)
        for name, notion in (("AdditionOnly", AdditionOnly), ("Presence", Presence))
    ),
    *(
        Pair(
            "`AdaptiveSanitized(Line(∞, 2ε/3), at_most=0, budget=ε, margins=[1])`",
            f"{name}(ε)",
            lambda e, notion=notion: adaptive(e, notion(e)),
            True,
            tight=False,
        )  # type: ignore[misc]
        for name, notion in (("AdditionOnly", AdditionOnly), ("Presence", Presence))
    ),
    *(
        Pair(
            f"`Everyone(Line(∞, {counts}), {rest})`, who count at one of two places",
            "AdditionOnly(ε)",
            lambda e, left_out=left_out: everyone(e, left_out),
            True,
        )  # type: ignore[misc]
        for counts, rest, left_out in (("ε/2", "ε/2", "1/2"), ("3ε/4", "ε/4", "1/4"))
    ),
    Pair(
        "`UnknownKeys.under(RemovalOnly(ε))`, which of a and b are shown, and how many are there",
        "RemovalOnly(ε)",
        lambda e: (unlisted(e), RemovalOnly(e).on(PEOPLE)),
        True,
    ),
    *(
        Pair(
            f"`Monitor(Line(∞, {share(c)}), stop_after={c})` over two windows",
            f"{name}(ε)",
            lambda e, c=c, notion=notion: (monitored(e / c, c, PEOPLE), notion(e).on(PEOPLE)),
            True,
        )  # type: ignore[misc]
        for c in (1, 2)
        for name, notion in (("AdditionOnly", AdditionOnly), ("Presence", Presence))
    ),
    *(
        Pair(
            f"`SparseVector(ε, stop_after={c}, monotonic=True)`",
            "UnboundedDP(ε)",
            lambda e, c=c: sparse(e, UnboundedDP(e), ALONE, c=c, monotonic=True),
            tight=False,
        )  # type: ignore[misc]
        for c in (1, 2)
    ),
    *(
        Pair(
            f"`SparseVector(ε, stop_after={c})`",
            "BoundedDP(ε)",
            lambda e, c=c: sparse(e, BoundedDP(e), ALONE[1:], c=c, monotonic=False),
            tight=False,
        )  # type: ignore[misc]
        for c in (1, 2)
    ),
    *(
        Pair(
            "`NoisyMax(ε)`, the busier of two places",
            f"{name}(ε)",
            lambda e, notion=notion: (asked_by(NoisyMax(e), PEOPLE), notion(e).on(PEOPLE)),
        )  # type: ignore[misc]
        for name, notion in (("AdditionOnly", AdditionOnly), ("Presence", Presence), ("UnboundedDP", UnboundedDP))
    ),
    *(
        Pair(
            "`RankSelection(ε)`, the median of 0s and 1s",
            f"{name}(ε)",
            lambda e, notion=notion: ranked(RankSelection(e), notion(e), NUMBERED),
        )  # type: ignore[misc]
        for name, notion in (("AdditionOnly", AdditionOnly), ("UnboundedDP", UnboundedDP))
    ),
    Pair(
        "`RankSelection(3ε/4, p=200/3)`, of 0s and 1s",
        "UnboundedDP(ε)",
        lambda e: ranked(RankSelection(e * 3 / 4, "200/3"), UnboundedDP(e), NUMBERED),
    ),
    Pair(
        "`RankSelection(2ε/5, p=25)` and `RankSelection(2ε/5, p=75)`, of 0s and 1s",
        "UnboundedDP(ε)",
        lambda e: both_ranked(
            (RankSelection(e * 2 / 5, "25"), RankSelection(e * 2 / 5, "75")), UnboundedDP(e), NUMBERED
        ),
        tight=False,
    ),
    Pair(
        "`RankSelection(ε/2)`, the median of 0s and 1s",
        "BoundedDP(ε)",
        lambda e: ranked(RankSelection(e / 2), BoundedDP(e), BITS_OF_THREE),
    ),
    Pair(
        "`NoisyMax(ε/2)`, the busier of two places",
        "BoundedDP(ε)",
        lambda e: (asked_by(NoisyMax(e / 2), PRESENT), BoundedDP(e).on(PRESENT)),
    ),
]

# ---- randomized response, and the other mechanism of OSDP


def alone(matrix: FiniteMechanism, notion: Any, records: Any) -> Proved:
    """One person's own record."""
    tables = all_tables(records, 1)
    return matrix.pull_back(tables, lambda table: table[0]), notion.on(tables)


def at_a(record: Any) -> bool:
    return "a" in record


RESPONSES = [
    Pair("`warner(ε)`", "LocalDP(ε)", lambda e: alone(warner(e).on(), LocalDP(e), BITS)),
    Pair(
        "`warner(ε)` of two people",
        "LocalDP(ε)",
        lambda e: (FiniteMechanism.product([warner(e).on()] * 2), LocalDP(e).on(all_tables(BITS, 2))),
    ),
    Pair(
        "`warner(ε)`, `warner(2ε)`, each of one person",
        "Personalised(LocalDP, [ε, 2ε])",
        lambda e: (
            FiniteMechanism.product([warner(e).on(), warner(e * 2).on()]),
            Personalised(LocalDP(1), [e, e * 2]).on(all_tables(BITS, 2)),
        ),
    ),
    Pair("`mangat(ε)`", "ULDP(ε, yes is sensitive)", lambda e: alone(mangat(e).on(), ULDP(e, bool), BITS), True),
    Pair("`mangat(ε)`", "ADP(ε, [no])", lambda e: alone(mangat(e).on(), ADP(e, [lambda yes: not yes]), BITS), True),
    Pair(
        "`OSDPRandomizedResponse(ε, at a)`",
        "OSDP(ε, at a is sensitive)",
        lambda e: alone(OSDPRandomizedResponse(e, at_a).on(SETS), OSDP(e, at_a), SETS),
        True,
    ),
    Pair(
        "`OSDPRandomizedResponse(ε, at a)`",
        "ULDP(ε, at a is sensitive)",
        lambda e: alone(OSDPRandomizedResponse(e, at_a).on(SETS), ULDP(e, at_a), SETS),
        True,
    ),
    Pair(
        "`urr(ε, at a)`", "ULDP(ε, at a is sensitive)", lambda e: alone(urr(e, SETS, at_a), ULDP(e, at_a), SETS), True
    ),
    Pair(
        "`urap(ε, at a)`", "ULDP(ε, at a is sensitive)", lambda e: alone(urap(e, SETS, at_a), ULDP(e, at_a), SETS), True
    ),
]

# ---- subsampling


def halved(e: Real) -> Proved:
    """Every second person by chance, then upward noise of rate ε."""
    sampling = PoissonSampling("1/2")
    base = answered(Line(inf, e), PEOPLE, ONE_PLACE.answer)
    return subsampled(base, sampling), AdditionOnly(sampling.addition(e)).on(PEOPLE)


SAMPLES = [
    Pair(
        "the sample itself, p = 1 − e^−ε",
        "RemovalOnly(ε)",
        lambda e: (sample_tables(PEOPLE, PoissonSampling.at_price(e)), RemovalOnly(e).on(PEOPLE)),
        True,
    ),
    Pair(
        "`SubsampledCount(ε)`, visitors of a",
        "UnboundedDP(ε)",
        lambda e: (SubsampledCount(e).on_tables(PEOPLE, "a"), UnboundedDP(e).on(PEOPLE)),
    ),
    Pair(
        "`SubsampledCount(ε, places_per_person=2)`",
        "UnboundedDP(ε)",
        lambda e: (SubsampledCount(e, places_per_person=2).on_tables(PEOPLE, "ab"), UnboundedDP(e).on(PEOPLE)),
    ),
    Pair("`subsampled` upward noise of rate ε, p = 1/2", "AdditionOnly(ln(1 + (e^ε − 1)/2))", halved),
]

# ---- mechanisms made for a distance


def finite(notion: Any) -> FiniteDistance[Any]:
    return notion.on(all_tables(WORDS, 1))


def best(distance: FiniteDistance[Any]) -> FiniteMechanism:
    return optimal(distance.points, distance, "uniform", loss="absolute").mechanism


def fallback(distance: FiniteDistance[Any]) -> FiniteMechanism:
    return exponential_fallback(distance)[0]


MADE = [
    Pair("`laplace_mechanism`, 0..4", "Line(ε, ε)", lambda e: both(laplace_mechanism, Line(e, e).on(range(5)))),
    Pair("`laplace_mechanism`, 0..4", "Line(∞, ε)", lambda e: both(laplace_mechanism, Line(inf, e).on(range(5))), True),
    Pair("`laplace_mechanism`, 0..4", "Line(2ε, ε)", lambda e: both(laplace_mechanism, Line(e * 2, e).on(range(5)))),
    Pair(
        "`laplace_mechanism`",
        "Blowfish(ε, a – b – c)",
        lambda e: both(laplace_mechanism, finite(Blowfish(e, WORDS, PATH))),
    ),
    Pair(
        "`laplace_mechanism`",
        "ContextAwareLDP(ε, bounds both ways)",
        lambda e: both(laplace_mechanism, finite(ContextAwareLDP(e, WORDS, SPREAD))),
    ),
    Pair(
        "`laplace_mechanism`",
        "InputDiscriminativeLDP({a: ε, b: 2ε, c: 2ε})",
        lambda e: both(laplace_mechanism, finite(InputDiscriminativeLDP({"a": e, "b": e * 2, "c": e * 2}))),
    ),
    Pair("`laplace_mechanism`", "LocalDP(ε)", lambda e: both(laplace_mechanism, finite(LocalDP(e)))),
    Pair("`exponential_fallback`, 0..4", "Line(ε, ε)", lambda e: both(fallback, Line(e, e).on(range(5))), tight=False),
    Pair(
        "`exponential_fallback`",
        "Blowfish(ε, a – b – c)",
        lambda e: both(fallback, finite(Blowfish(e, WORDS, PATH))),
        tight=False,
    ),
    Pair("`optimal`, 0..3", "Line(ε, ε)", lambda e: both(best, Line(e, e).on(range(4))), tight=False),
    Pair("`optimal`, 0..3", "Line(∞, ε)", lambda e: both(best, Line(inf, e).on(range(4))), True, tight=False),
]


def both(make: Callable[[FiniteDistance[Any]], FiniteMechanism], distance: FiniteDistance[Any]) -> Proved:
    return make(distance), distance


SECTIONS: dict[str, list[Pair]] = {
    "Geometric noise at the rates that `sensitivity` derives": COUNTS,
    "Its forms, and noise on vectors and series": FORMS,
    "Decisions, and paying only when it is not safe": DECISIONS,
    "Randomized response": RESPONSES,
    "Subsampling": SAMPLES,
    "Made for a distance": MADE,
}
