"""(ε, δ) is a promise between neighbours: `verify(…, delta=)` against each notion's own definition, set by set."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from tests.oracle import privacy as oracle

import leeward as lw
from leeward.distance import DirectedDistance, FiniteDistance, Line, both_hold, graph_distance
from leeward.errors import InputError
from leeward.exact import exp, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, sample_tables, subsampled
from leeward.notion import ABSENT, all_tables
from leeward.query import PoissonSampling
from leeward.verification import verify

NOBODY_AT_ALL, A, B, AB = SETS = [frozenset(s) for s in ("", "a", "b", "ab")]
A_LITTLE = Fraction(1, 10**18)
TWO, FOUR = Fraction(2), Fraction(4)
V = lw.ValueGrid(0, 2)


def one_record(relation: Callable[[Any, Any], Fraction | None]) -> Callable[[Any, Any], Fraction | None]:
    """Lift a step between records (its factor e^ε, or None) to tables: exactly one person's record changes."""

    def lifted(x: Any, y: Any) -> Fraction | None:
        changed = [(b, a) for b, a in zip(x, y, strict=True) if b != a]
        return relation(*changed[0]) if len(changed) == 1 else None

    return lifted


def present(r: Any) -> bool:
    return r is not None


def of_facts(r: Any) -> frozenset[str]:
    return frozenset() if r is None else r


def graded(b: Any, a: Any) -> Fraction:
    return TWO if a < b else FOUR


def one_fact(b: Any, a: Any) -> Fraction | None:
    return None if len(a ^ b) != 1 else TWO if a < b else FOUR


def number(b: Any, a: Any) -> Fraction | None:
    if b is None or a is None:
        return FOUR  # the width of 0..2
    return TWO if abs(a - b) == 1 else None


def personalised(x: Any, y: Any) -> Fraction | None:
    changed = [i for i in range(2) if x[i] != y[i]]
    return Fraction(2 + changed[0]) if len(changed) == 1 and present(x[changed[0]]) and y[changed[0]] is None else None


def by_groups(x: Any, y: Any) -> Fraction | None:  # persons 0 and 1 are one group, person 2 another
    changed = {i // 2 for i in range(3) if x[i] != y[i]}
    return TWO if len(changed) == 1 else None


EDGES = [frozenset(e) for e in ("uv", "vw", "uw")]
GRAPHS = [frozenset(g) for size in range(4) for g in itertools.combinations(EDGES, size)]


def rewired(x: Any, y: Any) -> Fraction | None:
    return TWO if x != y and any(all(node in edge for edge in x ^ y) for node in "uvw") else None


E = log(2)
CASES: list[tuple[DirectedDistance[Any], Any, Callable[[Any, Any], Fraction | None]]] = [
    (
        lw.BoundedDP(E),
        all_tables((None, "a", "b"), 2),
        one_record(lambda b, a: TWO if present(b) and present(a) else None),
    ),
    (lw.UnboundedDP(E), all_tables((None, "a", "b"), 2), one_record(lambda b, a: TWO if None in (b, a) else None)),
    (lw.ReplaceDP(E), all_tables((None, "a", "b"), 2), one_record(lambda b, a: TWO)),
    (lw.AdditionOnly(E), all_tables((None, "a", "b"), 2), one_record(lambda b, a: TWO if a is None else None)),
    (lw.RemovalOnly(E), all_tables((None, "a", "b"), 2), one_record(lambda b, a: TWO if b is None else None)),
    (lw.Presence(E), all_tables(SETS, 2), one_record(lambda b, a: TWO if a < b else None)),
    (
        lw.ADP(E, [lambda r: "a" not in r]),
        all_tables(SETS, 2),
        one_record(lambda b, a: TWO if "a" in b or "a" not in a else None),
    ),
    (lw.OSDP(E, lambda r: "a" in r), all_tables(SETS, 2), one_record(lambda b, a: TWO if "a" in b else None)),
    (
        lw.OSDP(E, lambda r: "a" in r, "non-sensitive"),
        all_tables(SETS, 2),
        one_record(lambda b, a: TWO if "a" in b and "a" not in a else None),
    ),
    (lw.notion.Graded(E, E * 2), all_tables(SETS, 2), one_record(graded)),
    (lw.notion.GradedFacts(E, E * 2), all_tables(SETS, 2), one_record(one_fact)),
    (
        lw.notion.Blowfish(E, "abc", [("a", "b"), ("b", "c")]),
        all_tables("abc", 2),
        one_record(lambda b, a: TWO if "b" in (a, b) else None),
    ),
    (lw.Manhattan(E, V), all_tables((0, 1, 2, None), 2), one_record(number)),
    (
        lw.Manhattan(E, V, nobody=False),
        all_tables((0, 1, 2), 2),
        one_record(lambda b, a: TWO if abs(a - b) == 1 else None),
    ),
    (
        lw.notion.Maximum(E, V, nobody=False),
        all_tables((0, 1, 2), 2),
        lambda x, y: TWO if max(abs(a - b) for a, b in zip(x, y, strict=True)) == 1 else None,
    ),
    (lw.Personalised(lw.AdditionOnly(1), [log(2), log(3)]), all_tables((None, "a"), 2), personalised),
    (lw.GroupDP(E, [[0, 1], [2]]), all_tables("ab", 3), by_groups),
    (lw.notion.EdgeDP(E), GRAPHS, lambda x, y: TWO if len(x ^ y) == 1 else None),
    (lw.notion.NodeDP(E), GRAPHS, rewired),
    (Line(log(3), log(2)).on(range(5)), range(5), lambda x, y: {1: Fraction(3), -1: TWO}.get(y - x)),
    (
        lw.UnboundedDP(E).reverse().on(all_tables((None, "a"), 2)),
        all_tables((None, "a"), 2),
        one_record(lambda b, a: TWO),
    ),
]


@pytest.mark.parametrize(("distance", "points", "step"), CASES, ids=[str(case[0])[:40] for case in CASES])
def test_delta_is_what_the_notions_own_definition_says(distance: Any, points: Any, step: Any) -> None:
    """For random mechanisms: the least δ by going through every set of outputs, for every ordered pair of neighbours."""
    rng, points = random.Random(7), list(points)
    factors = [[step(x, y) if x != y else None for y in points] for x in points]
    for _ in range(3):
        rows = []
        for _ in points:
            parts = [rng.choice([0, 1, 1, 2, 3, 5, 8]) for _ in range(3)]
            parts[rng.randrange(3)] += 1
            rows.append([Fraction(p, sum(parts)) for p in parts])
        mechanism = FiniteMechanism(points, "uvw", rows)
        least = oracle.least_delta(rows, factors)
        found = verify(mechanism, distance, delta=least)
        assert found, str(found)
        assert found.exact_needed == least
        assert found.pairs == len(oracle.ordered_pairs(factors))
        assert found.worst_pair is not None
        i, j = (points.index(point) for point in found.worst_pair)
        only = [[f if (x, y) == (i, j) else None for y, f in enumerate(row)] for x, row in enumerate(factors)]
        assert oracle.least_delta(rows, only) == least
        assert least > 0, "the case shows nothing"
        assert verify(mechanism, distance, delta=least - A_LITTLE).outcome == "not private"
        everywhere = verify(mechanism, distance, same_delta=1)
        assert everywhere.exact_needed is not None
        assert everywhere.exact_needed >= least
        assert everywhere.pairs >= found.pairs


@pytest.mark.parametrize("persons", [1, 2, 3])
def test_publishing_each_present_person_with_probability_one_tenth(persons: int) -> None:
    tables = all_tables((ABSENT, "a"), persons)
    clear = sample_tables(tables, PoissonSampling("1/10"))
    for notion in (lw.AdditionOnly("1"), lw.UnboundedDP("1")):
        found = verify(clear, notion, delta="1/10")
        assert found
        assert found.exact_needed == Fraction(1, 10)
        assert not verify(clear, notion, delta=Fraction(1, 10) - A_LITTLE)
        everybody = 1 - Fraction(9, 10) ** persons  # somebody is published
        assert verify(clear, notion, same_delta=1).exact_needed == everybody
        if persons > 1:
            assert not verify(clear, notion, same_delta="1/10")


def test_theorem_6_with_delta_exactly() -> None:
    """A base that is exactly (ln 3, 1/10)-private for addition, sampled at 1/2, is exactly (ln 2, 1/20)-private."""
    one = FiniteMechanism.from_rows(
        {(ABSENT,): {"u": "1/4", "v": "3/4"}, ("a",): {"named": "1/10", "u": "3/4", "v": "3/20"}}
    )
    pair = all_tables((ABSENT, "a"), 2)
    base = one.pull_back(pair, lambda t: t[:1]).beside(one.pull_back(pair, lambda t: t[1:]))
    assert verify(base, lw.AdditionOnly(log(3)), delta=1).exact_needed == Fraction(1, 10)
    half = PoissonSampling("1/2")
    assert (half.addition(log(3)), half.clear_price) == (log(2), log(2))
    sampled, notion = subsampled(base, half), lw.UnboundedDP(log(2))
    assert verify(sampled, notion, delta="1/20").exact_needed == Fraction(1, 20)
    assert verify(sampled, notion, delta="1/20")
    assert not verify(sampled, notion, delta=Fraction(1, 20) - A_LITTLE)
    assert not verify(sampled, notion, same_delta="1/20"), "the other reading, which no theorem promises"


@pytest.mark.parametrize("people", [1, 2, 3])
def test_adp_definition_ii_2_on_noisy_counts(people: int) -> None:
    """Two-sided noise of rate 1 at (0.9, δ): neighbours need the same δ, however many people there are.

    From itself on the larger answer is likelier by a factor e: δ = Pr[z ≥ 1 | 1]·(1 − e^0.9/e), Pr[z ≥ 1 | 1] = e/(e + 1).
    """
    tables = all_tables(("a", "b"), people)
    noisy = Geometric(Line(1, 1)).on(range(people + 1)).pull_back(tables, lambda t: t.count("a"))
    needed = exp(1) / (exp(1) + 1) * (1 - exp("-1/10"))
    assert round(float(needed), 4) == 0.0696
    found = verify(noisy, lw.BoundedDP("9/10"), delta=needed)
    assert found
    assert found.exact_needed == needed
    assert not verify(noisy, lw.BoundedDP("9/10"), delta=needed - A_LITTLE)
    apart = float(verify(noisy, lw.BoundedDP("9/10"), same_delta=1).exact_needed or 0)
    assert round(apart, 4) == {1: 0.0696, 2: 0.1325, 3: 0.1895}[people]


def test_what_neighbours_are_promised_is_worth_the_group_form_over_more_steps() -> None:
    """The group form holds for every pair of every random mechanism, and somewhere with equality: it is tight."""
    rng = random.Random(3)
    space = Line(log(2), log(2)).on(range(4))
    for _ in range(30):
        rows = [
            [Fraction(p, sum(parts)) for p in parts]
            for parts in ([rng.randint(1, 9) for _ in range(3)] for _ in range(4))
        ]
        found = verify(FiniteMechanism(range(4), "uvw", rows), space, delta=1)
        kept = verify(FiniteMechanism(range(4), "uvw", rows), space, delta=found.exact_needed)
        assert kept
        for i in (1, 2, 3):
            epsilon, delta = kept.group(i)
            assert epsilon == log(2) * i
            assert delta == found.exact_needed * (2**i - 1)  # 1 + 2 + 4 …
            pairs = [(x, y, TWO**i) for x in range(4) for y in range(4) if abs(x - y) == i]
            worst = max(
                sum((max(p - f * q, Fraction(0)) for p, q in zip(rows[x], rows[y], strict=True)), Fraction(0))
                for x, y, f in pairs
            )
            assert worst <= delta
    tight = [["0", "1"], ["1/10", "9/10"], ["3/10", "7/10"], ["7/10", "3/10"]]  # 1/10, then 2·p + 1/10
    found = verify(FiniteMechanism(range(4), "uv", tight), space, delta="1/10")
    assert found
    assert [found.group(i)[1] for i in (1, 2, 3)] == [weight(p) for p in ("1/10", "3/10", "7/10")]
    assert "over 2 steps: 1.38629 and 0.3" in str(found)
    assert found.step is not None, "asked of neighbours"


def test_the_same_delta_at_every_distance_is_stronger() -> None:
    space = Line(log(2), log(2)).on(range(4))
    tight = FiniteMechanism(range(4), "uv", [["0", "1"], ["1/10", "9/10"], ["3/10", "7/10"], ["7/10", "3/10"]])
    assert not verify(tight, space, same_delta="1/10")
    assert verify(tight, space, same_delta="7/10").exact_needed == Fraction(7, 10)
    assert verify(tight, space, same_delta="7/10").step is None
    with pytest.raises(InputError, match="it has that δ as well"):
        verify(tight, space, same_delta="7/10").group(2)
    with pytest.raises(InputError, match="at least one member"):
        verify(tight, space, delta="1/10").group(0)
    for one, other in (("1/10", "7/10"), ("7/10", "7/10"), (0, 0), (1, 1)):
        with pytest.raises(InputError, match="they are two promises"):
            verify(tight, space, delta=one, same_delta=other)


def test_zero_delta_is_plain_privacy_in_both_readings() -> None:
    rng = random.Random(11)
    seen = set()
    for _ in range(40):
        rows = [
            [Fraction(p, sum(parts)) for p in parts]
            for parts in ([rng.randint(1, 4) for _ in range(2)] for _ in range(3))
        ]
        mechanism, space = FiniteMechanism(range(3), "uv", rows), Line(log(2), log("3/2")).on(range(3))
        plain = bool(verify(mechanism, space))
        assert bool(verify(mechanism, space, delta=0)) == plain == bool(verify(mechanism, space, same_delta=0))
        seen.add(plain)
    assert seen == {True, False}


# ---- where it is not settled who is whose neighbour, it is not answered


def test_a_distance_without_steps_is_refused() -> None:
    matrix = Geometric(Line(1, 1)).on(range(3))
    with pytest.raises(InputError, match="does not say which pairs"):
        verify(matrix, Line(1, 1), delta="1/10")
    assert verify(matrix, Line(1, 1).on(range(3)), delta="1/10")
    assert verify(matrix, Line(1, 1), same_delta="1/10")


def test_tables_that_the_steps_do_not_join_are_refused() -> None:
    """Under addition or removal there is no step from "a" to "b": without the empty table nothing would be compared."""
    tells = FiniteMechanism.from_rows({("a",): {"a": 1}, ("b",): {"b": 1}})
    with pytest.raises(InputError, match="ABSENT among the records"):
        verify(tells, lw.UnboundedDP("1"), delta=0)
    assert verify(tells, lw.UnboundedDP("1"), same_delta=1)
    assert not verify(tells, lw.BoundedDP("1"), delta="0.99")
    path = graph_distance(range(3), [(0, 1), (1, 2)], directed=False)
    ends = FiniteMechanism([0, 2], "uv", [["1", "0"], ["0", "1"]])
    with pytest.raises(InputError, match="not listed"):
        verify(ends, path, delta="1/2")


def test_promises_whose_steps_are_not_one_relation_are_refused() -> None:
    tables = all_tables((ABSENT, 0, 1), 1)
    matrix = FiniteMechanism(tables, "uv", [["1/2", "1/2"]] * 3)
    with pytest.raises(InputError, match="neighbours of its own"):
        verify(matrix, both_hold(lw.AdditionOnly("1"), lw.BoundedDP("3")), delta=0)
    with pytest.raises(InputError, match="change everything at once"):
        verify(matrix, lw.notion.Maximum(1, lw.ValueGrid(0, 1)), delta=0)
    with pytest.raises(InputError, match="two promises"):
        verify(matrix, lw.ReplaceDP("1"), delta=0, same_delta=0)  # type: ignore[call-overload]


def test_pairs_at_distance_0_are_neighbours() -> None:
    """A pseudo-distance asks for equal rows; with δ, for rows that are δ apart."""
    space = FiniteDistance("xy", [[0, 0], [0, 0]])
    matrix = FiniteMechanism("xy", "uv", [["1/2", "1/2"], ["2/5", "3/5"]])
    assert not verify(matrix, space, delta=Fraction(1, 10) - A_LITTLE)
    assert verify(matrix, space, delta="1/10").exact_needed == Fraction(1, 10)
    nobody = FiniteMechanism([(None,), (frozenset(),)], "uv", [["1/2", "1/2"], ["2/5", "3/5"]])
    assert verify(nobody, lw.Presence("1"), delta="1/10").exact_needed == Fraction(1, 10)


def test_large_epsilon_is_exact_too() -> None:
    clear = sample_tables(all_tables((ABSENT, "a"), 2), PoissonSampling("1/10"))
    assert verify(clear, lw.AdditionOnly("700"), delta="1/10").exact_needed == Fraction(1, 10)
    assert verify(clear, lw.RemovalOnly(-log("9/10")), delta=0)
