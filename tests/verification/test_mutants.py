"""Mistakes that somebody makes, each beside its correct twin: `verify` passes the twin and catches the mistake.

Everything is enumerated on a tiny universe with exact probabilities, at several ε. Where theory gives the size of the
damage, it must come out exactly.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.oracle.sparse_vector import chance
from tests.verification import broken, svt
from tests.verification.broken import A, B, C

from leeward.distance import DirectedDistance, FiniteDistance, Line
from leeward.exact import Real, exact, inf, log
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized
from leeward.notion import ADP, AdditionOnly, Presence, RemovalOnly, UnboundedDP
from leeward.verification import verify

EPSILONS = [exact(e) for e in ("1", "1/3", "0.1", "20")]
everywhere = pytest.mark.parametrize("epsilon", EPSILONS, ids=str)


def proved(mechanism: FiniteMechanism, distance: DirectedDistance[Any]) -> None:
    """Private, and attaining its bound: at any smaller scale it is not."""
    found = verify(mechanism, distance)
    assert found, str(found)
    assert found.tight
    assert found.exact_scale == 1


def caught(mechanism: FiniteMechanism, distance: DirectedDistance[Any], scale: Real | int | None = None) -> None:
    """Not private; where given, private for exactly ``scale`` times the distance and no less."""
    found = verify(mechanism, distance)
    assert found.outcome == "not private", str(found)
    if scale is not None:
        assert found.exact_scale == scale, str(found)
    assert found.scale[1] > 1


@everywhere
def test_noise_of_the_wrong_sign(epsilon: Real) -> None:
    tables, count = broken.tables([A], 2), broken.visitors([A])
    up, down = (broken.noisy_counts(line, [A], 2) for line in (Line(inf, epsilon), Line(epsilon, inf)))
    proved(up.pull_back(tables, count), AdditionOnly(epsilon))
    caught(down.pull_back(tables, count), AdditionOnly(epsilon), inf)
    proved(down.pull_back(tables, count), RemovalOnly(epsilon))


@everywhere
def test_a_rate_ten_per_cent_too_high(epsilon: Real) -> None:
    points = range(6)
    for line in (Line(inf, epsilon), Line(epsilon, inf), Line(epsilon, epsilon), Line(epsilon, epsilon * 3)):
        proved(Geometric(line).on(points), line)
        caught(Geometric(line.scale("1.1")).on(points), line, exact("1.1"))


@everywhere
def test_a_sensitivity_one_too_small(epsilon: Real) -> None:
    """Two places a person, noise for one."""
    tables, count = broken.tables([A, B], 2), broken.visitors([A, B])
    enough, too_little = (broken.noisy_counts(Line(inf, rate), [A, B], 2) for rate in (epsilon / 2, epsilon))
    proved(enough.pull_back(tables, count), AdditionOnly(epsilon))
    caught(too_little.pull_back(tables, count), AdditionOnly(epsilon), 2)


@everywhere
def test_several_policies_joined_into_one(epsilon: Real) -> None:
    """With "not at a or not at b" (Takagi et al., ADP, VI-A3) or "not at a and not at b", {a} may pass as {b}."""
    people = broken.records([A, B])[1:]
    mechanism = broken.noisy_counts(Line(inf, epsilon / 2), [A, B], 1)
    mechanism = mechanism.pull_back([(r,) for r in people], broken.visitors([A, B]))

    def not_at_a(record: frozenset[str]) -> bool:
        return A not in record

    def not_at_b(record: frozenset[str]) -> bool:
        return B not in record

    proved(mechanism, ADP(epsilon, [not_at_a, not_at_b]))
    caught(mechanism, ADP(epsilon, [lambda r: not_at_a(r) or not_at_b(r)]), inf)
    caught(mechanism, ADP(epsilon, [lambda r: not_at_a(r) and not_at_b(r)]), inf)


@everywhere
def test_truncation_under_presence(epsilon: Real) -> None:
    """{a, b, c} is cut to {a, b} but {b, c} is not: c rises although a visit was taken away."""
    places = [A, B, C]
    people = [(r,) for r in broken.records(places)]
    counts = broken.noisy_counts(Line(inf, epsilon / 2), places, 1)
    cut = counts.pull_back(people, broken.visitors(places, keep=broken.first(2)))
    caught(cut, Presence(epsilon), inf)
    proved(cut, AdditionOnly(epsilon))  # where people come and go whole, truncation is fine
    whole = broken.noisy_counts(Line(inf, epsilon / 3), places, 1).pull_back(people, broken.visitors(places))
    proved(whole, Presence(epsilon))


@everywhere
def test_drawing_again_instead_of_clamping(epsilon: Real) -> None:
    line = Line(epsilon, epsilon)
    proved(Geometric(line, lower=0, upper=4).on(range(5)), line)
    caught(broken.conditioned(line, 4), line)


@everywhere
def test_weights_normalised_row_by_row(epsilon: Real) -> None:
    line = Line(inf, epsilon)
    proved(Geometric(line, lower=0, upper=4).on(range(5)), line)
    caught(broken.row_normalised(line, 4), line)


def test_the_loss_of_row_normalisation_at_one() -> None:
    """One-sided on 0..4 at ε = 1: 1.313, which is 1 + ln(1 + e^−1) and arises between 4 and 3."""
    found = verify(broken.row_normalised(Line(inf, 1), 4), Line(inf, 1))
    assert found.scale[0] == pytest.approx(1.3132616875182228, rel=1e-12)
    assert found.scale[1] == pytest.approx(found.scale[0], rel=1e-12)


@everywhere
def test_rounding_half_to_even(epsilon: Real) -> None:
    """0.5 goes to 0 and 1.5 to 2: two values 1 apart end up 2 apart."""
    noise = Geometric(Line(epsilon, epsilon)).on(range(5))
    proved(noise.pull_back(broken.HALVES, broken.half_up), broken.within_one(epsilon))
    caught(noise.pull_back(broken.HALVES, round), broken.within_one(epsilon), 2)


@everywhere
def test_one_noise_for_all_counts(epsilon: Real) -> None:
    vectors = list(itertools.product(range(3), repeat=2))
    space = broken.one_each(epsilon, vectors)
    proved(Sanitized(Line(inf, epsilon), at_most=1).on(vectors), space)
    caught(broken.one_noise_for_all(epsilon, 1, vectors), space, inf)


@everywhere
def test_a_monitor_that_goes_on_asking(epsilon: Real) -> None:
    """Four windows with somebody in each: 4ε, where the stop makes it ε."""
    vectors = list(itertools.product(range(2), repeat=4))
    space = broken.one_each(epsilon, vectors)
    proved(Sanitized(Line(inf, epsilon), at_most=0, stop_after=1).on(vectors), space)
    proved(Sanitized(Line(inf, epsilon), at_most=0, stop_after=2).on(vectors), space.scale(2))
    caught(broken.goes_on_asking(epsilon, 0, vectors), space, 4)


@everywhere
def test_windows_that_count_first_visits(epsilon: Real) -> None:
    """Take the visit of window a away, and the person turns up in window b."""
    windows = [A, B]
    people = [(r,) for r in broken.records(windows)]
    counts = broken.noisy_counts(Line(inf, epsilon / 2), windows, 1)
    proved(counts.pull_back(people, broken.visitors(windows)), Presence(epsilon))
    caught(counts.pull_back(people, broken.visitors(windows, keep=broken.first(1))), Presence(epsilon), inf)


@everywhere
def test_halves_published_separately(epsilon: Real) -> None:
    """An addition-only and a removal-only answer of one count: each direction is undone by the other's answer."""
    tables, count = broken.tables([A], 2), broken.visitors([A])
    up, down, both = (
        broken.noisy_counts(line, [A], 2).pull_back(tables, count)
        for line in (Line(inf, epsilon), Line(epsilon, inf), Line(epsilon, epsilon))
    )
    proved(both, UnboundedDP(epsilon))
    for notion in (UnboundedDP(epsilon), AdditionOnly(epsilon), RemovalOnly(epsilon)):
        caught(up.beside(down), notion, inf)


# ---- the sparse vector technique and its broken variants

_B, _A = svt.BELOW, svt.ABOVE

REVEALING: dict[str, tuple[int, tuple[int, ...], tuple[int, ...], tuple[object, ...]]] = {
    # name: (c, answers in x, answers in x', the output that is too much likelier under x)
    "the compared number is published": (1, (0, 0, 0, 0), (1, 1, 1, 0), (_B, _B, _B, 0)),
    "answer noise without c": (2, (0, 0, 0), (1, -1, -1), (_B, _A, _A)),
    "no answer noise": (1, (0, 1), (1, 0), (_B, _A)),
    "no stop": (1, (0, 0, 0, 0), (1, 1, -1, -1), (_B, _B, _A, _A)),
    "no stop, another split": (1, (0, 0, 0, 0), (1, 1, -1, -1), (_B, _B, _A, _A)),
    "no threshold noise": (1, (2, 2, 2, 2), (3, 3, 3, 3), (_B, _B, _B, _B)),
}


def streams(epsilon: Real, vectors: list[tuple[int, ...]]) -> FiniteDistance[tuple[int, ...]]:
    """One step changes every answer by at most 1."""
    return FiniteDistance(
        vectors, [[epsilon * max(abs(a - b) for a, b in zip(x, y, strict=True)) for y in vectors] for x in vectors]
    )


@everywhere
@pytest.mark.parametrize("name", svt.BROKEN)
def test_broken_sparse_vectors(epsilon: Real, name: str) -> None:
    c, x, y, output = REVEALING[name]
    variant = svt.BROKEN[name](epsilon, c)
    matrix = FiniteMechanism.from_rows({z: svt.event(variant, z, output) for z in (x, y)})
    caught(matrix, streams(epsilon, [x, y]), inf if name == "no answer noise" else None)


@everywhere
def test_the_sparse_vector_technique(epsilon: Real) -> None:
    vectors = [(0, 0), (1, -1), (-1, 1), (1, 1), (0, -1)]
    rows = {x: svt.distribution(svt.correct(epsilon, 1), x) for x in vectors}
    assert verify(FiniteMechanism.from_rows(rows), streams(epsilon, vectors))


@pytest.mark.parametrize("name", [*svt.BROKEN, "correct"])
def test_the_enumeration_of_sparse_vectors_agrees_with_summation(name: str) -> None:
    c, x, y, output = REVEALING.get(name, (1, (0, 0, 0), (1, 1, -1), (_B, _B, _A)))
    variant = svt.BROKEN.get(name, svt.correct)(exact(1), c)
    rates = [None if rate is None else float(rate) for rate in (variant.threshold, variant.answer)]
    shown = output[-1] if isinstance(output[-1], int) else None
    pattern = [seen != _B for seen in output]
    for answers in (x, y, tuple(2 * a - 3 for a in x)):
        brute = chance(answers, pattern, threshold=rates[0], count=rates[1], at_most=-1, shown=shown)
        assert float(svt.event(variant, answers, output)["shown"]) == pytest.approx(brute, rel=1e-9, abs=1e-12)


def test_the_sparse_vector_technique_on_all_small_answers() -> None:
    epsilon = log("2") * 4  # every probability is then rational, so a larger space can be gone through
    vectors = list(itertools.product((-1, 0, 1), repeat=3))
    rows = {x: svt.distribution(svt.correct(epsilon, 1), x) for x in vectors}
    assert verify(FiniteMechanism.from_rows(rows), streams(epsilon, vectors))
