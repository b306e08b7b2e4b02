"""Risk: against Bayes' rule by brute force, and every statement of ADP's Sections III and IV that is about it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.oracle import privacy as oracle

from leeward.analysis import posterior, risk
from leeward.distance import DirectedDistance, FiniteDistance, Line, SumOverPersons
from leeward.errors import InputError
from leeward.exact import Real, Weight, exact, exp, exp_minus, inf
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism, Geometric, sanitizer, warner
from leeward.notion import ABSENT, ADP, OSDP, AdditionOnly, Blowfish, BoundedDP, Presence, UnboundedDP
from leeward.verification import verify

EPSILONS = [exact(e) for e in ("1", "1/3", "0.1", "20")]
everywhere = pytest.mark.parametrize("epsilon", EPSILONS, ids=str)

A, B = "a", "b"
NOWHERE, AT_A, AT_B, AT_BOTH = RECORDS = [frozenset(s) for s in ("", "a", "b", "ab")]
PROPOSITIONS = list(itertools.product([False, True], repeat=4))


def not_at_a(record: frozenset[str]) -> bool:
    return A not in record


def not_at_b(record: frozenset[str]) -> bool:
    return B not in record


def holding(truths: Sequence[bool]) -> Callable[[Any], bool]:
    """The proposition that is true of the records marked."""
    return lambda record: truths[RECORDS.index(record)]


def random_prior(rng: random.Random, support: Sequence[Any]) -> dict[Any, Fraction]:
    parts = [rng.choice([0, 1, 2, 7]) for _ in support]
    parts[rng.randrange(len(parts))] += 1
    return {x: Fraction(p, sum(parts)) for x, p in zip(support, parts, strict=True)}


# ---- against the oracle


def test_it_agrees_with_bayes_rule() -> None:
    rng = random.Random(3)
    infinite = known = 0
    for _ in range(150):
        n, m = rng.randint(2, 4), rng.randint(2, 4)
        parts = [[rng.choice([0, 0, 1, 2, 5]) for _ in range(m - 1)] + [1] for _ in range(n)]
        rows = [[Fraction(p, sum(row)) for p in row] for row in parts]
        chances = random_prior(rng, range(n))
        about = [rng.random() < 0.5 for _ in range(n)]
        expected = oracle.largest_odds(rows, list(chances.values()), about)
        found = risk(FiniteMechanism(range(n), range(m), rows), chances, lambda x, about=about: about[x])
        assert found.odds == expected if expected is not None else found.is_infinite
        infinite += expected is None
        known += expected == 0
    assert infinite > 10
    assert known > 10


def test_posteriors_are_bayes_rule() -> None:
    matrix = FiniteMechanism("xyz", "uv", [["1/2", "1/2"], ["1/4", "3/4"], [0, 1]])
    after = posterior(matrix, {"x": "1/2", "y": "1/3", "z": "1/6"}, "u")
    assert after == {"x": Fraction(3, 4), "y": Fraction(1, 4), "z": 0}
    with pytest.raises(InputError, match="cannot occur"):
        posterior(matrix, {"z": 1}, "u")
    tables = FiniteMechanism([(0, 0), (1, 0), (0, 1), (1, 1)], "uv", [[1, 0], ["1/2", "1/2"], ["1/2", "1/2"], [0, 1]])
    assert posterior(tables, "uniform", "v", person=0, others=(1,)) == {0: Fraction(1, 3), 1: Fraction(2, 3)}
    with pytest.raises(InputError, match="no table"):
        posterior(tables, "uniform", "v", person=0, others=(7,))


def test_the_conventions() -> None:
    """a/0 = ∞; 0 where the prior knows either way; outputs of probability 0 do not count."""
    matrix = FiniteMechanism("xy", "uvw", [["1/2", "1/2", 0], [0, 1, 0]])
    certain = risk(matrix, "uniform", lambda s: s == "x")
    assert certain.is_infinite
    assert certain.output == "u"
    assert str(certain) == "inf"
    assert not certain.at_most(10**9)
    for known in ({"x": 1}, {"y": 1}):
        assert risk(matrix, known, lambda s: s == "x").odds == 0
    assert risk(matrix, "uniform", lambda s: s == "y").odds == 2  # v; w never happens


def test_the_worst_case_over_what_the_others_did() -> None:
    """Only where the other one is absent does the count tell: the adversary knows, so that case counts."""
    tables = list(itertools.product((0, 1), repeat=2))
    either = FiniteMechanism.from_rows({t: {"nobody": int(not any(t)), "somebody": int(any(t))} for t in tables})
    found = risk(either, "uniform", lambda r: r == 1, person=0)
    assert found.is_infinite
    assert found.others == (0,)


# ---- ε-DP protects everything


@everywhere
def test_under_dp_it_is_at_most_e_to_the_epsilon(epsilon: Real) -> None:
    people = list(itertools.product(RECORDS, repeat=2))
    count = Geometric(Line(epsilon, epsilon)).on(range(3)).pull_back(people, lambda t: sum(A in r for r in t))
    assert verify(count, BoundedDP(epsilon)).tight
    rng = random.Random(1)
    worst = 0.0
    for truths in PROPOSITIONS:
        found = risk(count, random_prior(rng, RECORDS), holding(truths), person=0)
        assert found.at_most(exp(epsilon))
        worst = max(worst, float(found))
    attained = risk(count, {NOWHERE: "1/2", AT_A: "1/2"}, lambda r: A in r, person=1)
    assert attained.odds == exp(epsilon)
    assert worst > 1


def test_the_bound_under_dp_can_fail() -> None:
    louder = Geometric(Line("1.1", "1.1")).on(range(2)).pull_back(RECORDS, lambda r: int(A in r))
    assert not risk(louder, {NOWHERE: "1/2", AT_A: "1/2"}, lambda r: A in r).at_most(exp(1))


# ---- ADP: what it leaves open and what it protects


def all_in_order(epsilon: Real, people: int) -> FiniteMechanism:
    """The mechanism in the proof of ADP, Proposition IV.3: says True, sometimes, if the policy holds for everybody."""
    rows: dict[Any, dict[Any, Any]] = {}
    for table in itertools.product(RECORDS, repeat=people):
        p = 1 - exp_minus(epsilon) if all(map(not_at_a, table)) else weight(0)
        rows[table] = {True: p, False: 1 - p}
    return FiniteMechanism.from_rows(rows)


def count_at_a(epsilon: Real, people: int) -> FiniteMechanism:
    tables = itertools.product(RECORDS, repeat=people)
    return Geometric(Line(inf, epsilon)).on(range(people + 1)).pull_back(tables, lambda t: sum(A in r for r in t))


@everywhere
@pytest.mark.parametrize("make", [all_in_order, count_at_a])
def test_adp_with_one_policy(epsilon: Real, make: Callable[[Real, int], FiniteMechanism]) -> None:
    """Propositions IV.3, IV.4 and IV.5."""
    mechanism = make(epsilon, 2)
    assert verify(mechanism, ADP(epsilon, [not_at_a])).tight
    assert risk(mechanism, "uniform", not_at_a, person=0).is_infinite  # IV.3: it may become certain that p holds
    rng = random.Random(2)
    permitted = [r for r in RECORDS if not_at_a(r)]
    for truths in PROPOSITIONS:
        other = holding(truths)
        for _ in range(2):
            prior = random_prior(rng, RECORDS)
            found = risk(mechanism, prior, lambda r, other=other: not not_at_a(r) and other(r), person=0)
            assert found.at_most(exp(epsilon))  # IV.4
            knowing = random_prior(rng, permitted)
            assert risk(mechanism, knowing, other, person=0).at_most(exp(epsilon))  # IV.5


@everywhere
def test_adp_with_several_policies_tells_which_of_two_places(epsilon: Real) -> None:
    """Proposition IV.4 is about one policy: with two, who is known to have been at a or at b is found at a."""
    tables = [(r,) for r in RECORDS]
    noise = FiniteMechanism.product([Geometric(Line(inf, epsilon / 2)).on(range(2))] * 2)
    counts = noise.pull_back(tables, lambda t: (int(A in t[0]), int(B in t[0])))
    assert verify(counts, Presence(epsilon))
    assert verify(counts, ADP(epsilon, [not_at_a, not_at_b]))
    at_one_of_them = {AT_A: "1/2", AT_B: "1/2"}
    assert risk(counts, at_one_of_them, lambda r: A in r, person=0).is_infinite
    only_a = count_at_a(epsilon, 1)  # one policy: the same adversary learns little
    assert risk(only_a, at_one_of_them, lambda r: A in r, person=0).at_most(exp(epsilon))
    alone = {NOWHERE: "1/2", AT_A: "1/2"}  # and the cover that presence promises holds
    assert risk(counts, alone, lambda r: A in r, person=0).at_most(exp(epsilon))


# ---- OSDP and Blowfish: the leaks of ADP, Section III-C


def osdp(epsilon: Real, sensitive: Callable[[Any], bool], records: Sequence[Any]) -> FiniteDistance[Any]:
    """One record: sensitive ones pass as anything (ADP, Definition II.4), the others as nothing else."""
    return FiniteDistance(
        records, [[0 if r == s else epsilon if sensitive(r) else inf for s in records] for r in records]
    )


def blowfish(epsilon: Real, edges: set[frozenset[Any]], records: Sequence[Any]) -> FiniteDistance[Any]:
    """One record: ε for each edge of the policy graph (ADP, Definition II.3)."""
    return FiniteDistance.closed(
        records, [[epsilon if frozenset({r, s}) in edges else inf for s in records] for r in records]
    )


def told_in_the_clear(epsilon: Real, sensitive: Callable[[Any], bool]) -> FiniteMechanism:
    """OSDP randomized response: a record that is not sensitive is published as it is with probability 1 − e^−ε."""
    return FiniteMechanism.from_rows(
        {
            r: {"silence": 1} if sensitive(r) else {r: 1 - exp_minus(epsilon), "silence": exp_minus(epsilon)}
            for r in RECORDS
        }
    )


@everywhere
def test_osdp_leaks_everything_about_those_who_were_elsewhere(epsilon: Real) -> None:
    """III-C2: with N = "was not at a", anything else about such a person may become certain; IV.5 does not follow."""

    def at_a(record: frozenset[str]) -> bool:
        return A in record

    mechanism = told_in_the_clear(epsilon, at_a)
    assert verify(mechanism, osdp(epsilon, at_a, RECORDS)).tight
    assert risk(mechanism, "uniform", lambda r: not at_a(r) and B in r).is_infinite
    assert risk(mechanism, {NOWHERE: "1/2", AT_B: "1/2"}, lambda r: B in r).is_infinite  # no IV.5
    assert risk(mechanism, "uniform", at_a).at_most(exp(epsilon))  # sensitivity masking: inequality (18)
    assert (
        verify(mechanism.pull_back([(r,) for r in RECORDS], lambda t: t[0]), ADP(epsilon, [not_at_a])).exact_scale
        == inf
    )


@everywhere
def test_osdp_is_reasonable_for_one_place_and_not_for_two(epsilon: Real) -> None:
    """III-C2, Remark."""
    said = {True: {"silence": 1}, False: {"not there": 1 - exp_minus(epsilon), "silence": exp_minus(epsilon)}}
    one = FiniteMechanism.from_rows(said)
    assert verify(one, osdp(epsilon, bool, [True, False])).tight
    for chance in ("1/2", "1/10", "999/1000"):
        prior = {True: exact(chance), False: 1 - exact(chance)}
        assert risk(one, prior, lambda there: there).at_most(exp(epsilon))
    both = one.pull_back(RECORDS, lambda r: A in r).beside(one.pull_back(RECORDS, lambda r: B in r))
    found = risk(both, {AT_A: "1/2", AT_B: "1/2"}, lambda r: B in r)
    assert found.is_infinite
    assert found.output == ("not there", "silence")


@everywhere
def test_blowfish_leaks_both_ways(epsilon: Real) -> None:
    """III-C1: with no edge between "was at a" and "was not", publishing which is the case is private for the graph."""
    inside = {frozenset({AT_A, AT_BOTH}), frozenset({NOWHERE, AT_B})}
    mechanism = FiniteMechanism.from_rows({r: {A in r: 1} for r in RECORDS})
    assert verify(mechanism, blowfish(epsilon, inside, RECORDS))
    assert risk(mechanism, "uniform", lambda r: A in r).is_infinite
    assert risk(mechanism, "uniform", not_at_a).is_infinite
    across = inside | {frozenset({AT_A, NOWHERE})}
    assert verify(mechanism, blowfish(epsilon, across, RECORDS)).exact_scale == inf


def test_the_leaks_are_of_the_notions_themselves() -> None:
    """The distances enumerated here are those of `OSDP` and `Blowfish` on tables of two people."""

    def at_a(record: frozenset[str]) -> bool:
        return A in record

    edges = [(AT_A, AT_BOTH), (NOWHERE, AT_B)]
    for notion, by_hand in (
        (OSDP(1, at_a), osdp(exact(1), at_a, RECORDS)),
        (Blowfish(1, RECORDS, edges), blowfish(exact(1), {frozenset(edge) for edge in edges}, RECORDS)),
    ):
        assert notion.on(TABLES) == SumOverPersons(by_hand).on(TABLES)


# ---- Propositions III.1 to III.3: what one-sided error needs


def best_safe(
    distance: DirectedDistance[Any], tables: Sequence[Any], safe: Callable[[Any], bool], alpha: float
) -> float:
    """The largest min Pr["safe" | safe table] over all private mechanisms with Pr["safe" | unsafe] ≤ α, by an LP."""
    n, rows, bounds = len(tables), [], []
    between = distance.on(tables)
    for i, j in itertools.permutations(range(n), 2):
        d = between(tables[i], tables[j])
        if d.is_infinite:
            continue
        for sign in (1, -1):  # "safe", and "not safe"
            row = np.zeros(n + 1)
            row[i], row[j] = sign, -sign * np.exp(float(d))
            rows.append(row)
            bounds.append(0.0 if sign > 0 else np.expm1(float(d)))
    for i, table in enumerate(tables):
        row = np.zeros(n + 1)
        row[i], row[n] = (-1, 1) if safe(table) else (1, 0)
        rows.append(row)
        bounds.append(0.0 if safe(table) else alpha)
    found = linprog([0] * n + [-1], A_ub=np.array(rows), b_ub=bounds, bounds=(0, 1))
    assert found.status == 0
    return float(-found.fun)


def nobody_at_a(table: tuple[frozenset[str], ...]) -> bool:
    return not any(A in r for r in table)


TABLES = list(itertools.product(RECORDS, repeat=2))


def test_proposition_iii_1_with_a_bound_that_is_attained() -> None:
    """α·Pr[M(X) ∈ S] ≥ β·Pr[M(X') ∈ S] for some S; the printed ">" fails where M says only safe or not."""
    law = Geometric(Line(1, 1)).law
    decide = sanitizer(law, 2, error_at_most="1/10")
    says = FiniteMechanism.from_rows(
        {c: {"safe": decide.probability(c), "not safe": 1 - decide.probability(c)} for c in range(6)}
    )
    alpha = max(says.probability(c, "safe") for c in range(3, 6))
    beta = min(says.probability(c, "safe") for c in range(3))
    strict = 0
    for x, y in itertools.product(range(3), range(3, 6)):
        holds: list[Weight] = [
            says.probability(x, z) * alpha - says.probability(y, z) * beta for z in ("safe", "not safe")
        ]
        assert max(holds) >= 0
        strict += max(holds) > 0
    assert 0 < strict < 9
    assert says.probability(2, "safe") * alpha == says.probability(3, "safe") * beta


def test_proposition_iii_2_edges_across_the_policy() -> None:
    """An edge between "at a" and "not at a" forces β ≤ e^ε·α; with none, β = 1 at α = 0."""
    inside = {frozenset({AT_A, AT_BOTH}), frozenset({NOWHERE, AT_B})}
    across = inside | {frozenset({AT_A, NOWHERE})}
    apart, joined = (SumOverPersons(blowfish(exact(1), edges, RECORDS)) for edges in (inside, across))
    assert best_safe(apart, TABLES, nobody_at_a, 0.0) == pytest.approx(1)
    assert best_safe(joined, TABLES, nobody_at_a, 0.0) == pytest.approx(0)
    assert best_safe(joined, TABLES, nobody_at_a, 0.01) <= 0.01 * np.e + 1e-9


def test_proposition_iii_3_as_printed_and_as_corrected() -> None:
    """One-sided error under OSDP needs "was not at a" to be non-sensitive; the printed "was at a" does not help."""
    printed = SumOverPersons(osdp(exact(1), lambda r: A not in r, RECORDS))  # N = was at a
    corrected = SumOverPersons(osdp(exact(1), lambda r: A in r, RECORDS))  # N = was not at a
    assert best_safe(printed, TABLES, nobody_at_a, 0.0) == pytest.approx(0)
    assert best_safe(printed, TABLES, nobody_at_a, 0.01) <= 0.01 * np.e + 1e-9
    assert best_safe(corrected, TABLES, nobody_at_a, 0.0) == pytest.approx(1 - np.exp(-1))


def test_addition_only_protects_presence_and_not_absence() -> None:
    tables = list(itertools.product([ABSENT, AT_A], repeat=2))
    count = Geometric(Line(inf, 1)).on(range(3)).pull_back(tables, lambda t: sum(r is not ABSENT for r in t))
    assert verify(count, AdditionOnly(1)).tight
    assert risk(count, "uniform", lambda r: r is not ABSENT, person=0).at_most(exp(1))
    assert risk(count, "uniform", lambda r: r is ABSENT, person=0).is_infinite
    two_sided = Geometric(Line(1, 1)).on(range(3)).pull_back(tables, lambda t: sum(r is not ABSENT for r in t))
    assert verify(two_sided, UnboundedDP(1)).tight
    assert risk(two_sided, "uniform", lambda r: r is ABSENT, person=0).at_most(exp(1))


def test_a_clamped_mechanism_is_read_as_its_matrix_and_others_are_told_how() -> None:
    ageo = Geometric(Line(inf, 1), lower=0, upper=4)
    assert risk(ageo, "uniform", lambda c: c > 2) == risk(ageo.on(range(5)), "uniform", lambda c: c > 2)
    assert posterior(ageo, "uniform", 0)[0] == 1
    with pytest.raises(InputError, match=r"mechanism\.on\(secrets\)"):
        risk(warner("1"), "uniform", bool)  # type: ignore[arg-type]


# ---- whose record it is


TOLD = FiniteMechanism.from_rows({table: {table: 1} for table in itertools.product((0, 1), repeat=2)})
"""Publishes the table."""


def test_the_risk_of_a_published_table_is_infinite_for_everybody_in_it() -> None:
    assert all(risk(TOLD, "uniform", bool, person=person).is_infinite for person in (0, 1))


@pytest.mark.parametrize("person", [-1, -2, 2, 5, True, False, 0.0, "0"], ids=repr)
def test_what_is_no_position_in_the_tables_is_refused(person: Any) -> None:
    """Counted from the end by Python's slices, the tables would be cut so that they tell nothing."""
    with pytest.raises(InputError, match=r"^person = "):
        risk(TOLD, "uniform", bool, person=person)
    with pytest.raises(InputError, match=r"^person = "):
        posterior(TOLD, "uniform", (0, 1), person=person, others=(0,))


def test_a_position_needs_tables() -> None:
    for secrets in ([0, 1], ["ab", "cd"], [(0, 1), (0,)]):
        mechanism = FiniteMechanism(secrets, ["z"], [[1], [1]])
        with pytest.raises(InputError, match="no such person's record is in it"):
            risk(mechanism, "uniform", bool, person=1)
