"""Corrections to the ADP paper about notions: the printed statement fails, the corrected one holds.

Those about mechanisms and bounds are in the file beside this; Propositions III.1–III.3 and Section VI-A3 have theirs in
tests/analysis/test_risk.py and tests/verification/test_mutants.py. ``docs/corrections.md`` tells all in words, and names
the tests.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.oracle.decision import best_by_program

from leeward.analysis import one_sided, posterior, risk
from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError, NotPrivateError
from leeward.exact import exp, exp_minus, inf
from leeward.mechanism import FiniteMechanism, Geometric, alap, alarm, sanitizer, two_sided
from leeward.notion import ADP, OSDP, Blowfish, BoundedDP, all_tables, has
from leeward.planner import decisions
from leeward.query import CountWhere, sensitivity
from leeward.verification import verify

A, B = has("a"), has("b")
RECORDS = tuple(frozenset(s) for s in ("", "a", "b", "ab"))
ONE, TWO = all_tables(RECORDS, 1), all_tables(RECORDS, 2)
ROOT = Path(__file__).parents[2]


def visitors(table: tuple[frozenset[str], ...]) -> int:
    return sum("a" in record for record in table)


# ---- Section II


def test_section_ii_b3_alpha_is_not_the_chance_that_safe_is_wrong() -> None:
    """Pr[True | unsafe] ≤ α says nothing of Pr[unsafe | True] before the prior is known."""
    decide = sanitizer(two_sided("1").law, 2, error_at_most="1/100")
    chances = [decide.probability(c) for c in range(6)]
    says = FiniteMechanism(range(6), (True, False), [[p, 1 - p] for p in chances])
    assert max(says.probability(c, True) for c in range(3, 6)) <= Fraction(1, 100)
    mostly_unsafe = {2: "1/100", 3: "99/100"}
    wrong = posterior(says, mostly_unsafe, True)[3]
    assert wrong > Fraction(9, 10)  # printed: at most α = 1/100
    never = alap("1").on(range(6)).then(lambda z: z <= 2)
    assert posterior(never, mostly_unsafe, True)[3] == 0  # at α = 0 the two are one


def test_section_vi_b2_errors_come_from_unsafe_places_only() -> None:
    """Printed: α = 1e-2 and 5,000 answers make 50 errors. Only the 492 unsafe of 5,835 places can make one."""
    unsafe = 5835 - 5343
    decide = sanitizer(two_sided("1").law, 5, error_at_most="1/100")
    worst = decide.probability(6)  # all unsafe places as near to safe as they can be
    assert worst <= Fraction(1, 100)
    assert unsafe * worst < 5
    assert 5000 * Fraction(1, 100) == 50


def test_definition_ii_5_a_count_of_exactly_t_is_both() -> None:
    """With one t for "at most" and "at least", a place with t people is an epicentre and none. Leeward asks for two."""
    with pytest.raises(InputError, match="both safe and dangerous"):
        decisions(alap("1").law, safe_at_most=3, dangerous_at_least=3, error_at_most="1/100")
    assert decisions(alap("1").law, safe_at_most=3, dangerous_at_least=4, error_at_most="1/100")


# ---- Section III


def test_proposition_iii_1_goes_with_definition_ii_6() -> None:
    """With II.6's "<" it is right as printed; with its main case, α = 0 and so ≤, ">" must become "≥"."""
    rng = random.Random(2)
    strict = 0
    for _ in range(200):  # as printed: Pr < α and Pr ≥ β for some S make α·Pr[M(X) ∈ S] > β·Pr[M(X′) ∈ S]
        alpha, beta = Fraction(rng.randint(1, 9), 10), Fraction(rng.randint(1, 9), 10)
        on_unsafe, on_safe = Fraction(rng.randint(0, 10), 10), Fraction(rng.randint(0, 10), 10)
        if on_unsafe < alpha and on_safe >= beta:
            assert alpha * on_safe > beta * on_unsafe
            strict += 1
    assert strict > 20
    matrix = alap("1").on(range(6))
    found = one_sided(matrix, lambda c: c <= 2, lambda z: z <= 2)
    assert found.alpha == 0
    assert found.beta[0] > Fraction(9, 10)
    for safe, unsafe in itertools.product(range(3), range(3, 6)):
        sides = [
            (matrix.probability(safe, z) * 0, matrix.probability(unsafe, z) * found.beta[safe]) for z in matrix.outputs
        ]
        assert not any(left > right for left, right in sides)
        assert any(left >= right for left, right in sides)  # S = one output that says safe


def test_propositions_iii_2_and_iii_3_are_about_every_safe_table() -> None:
    """One-sided for *some* X: say m, sometimes, if the record is m. The edge a – n crosses the policy and does no harm."""
    kept = 1 - exp_minus(1)
    says = FiniteMechanism.from_rows(
        {("a",): {"other": 1}, ("m",): {"m": kept, "other": 1 - kept}, ("n",): {"other": 1}}
    )
    crossing = Blowfish("1", "amn", [("a", "n")])
    masking = OSDP("1", lambda r: r == "n")  # n was not at a, and is sensitive: printed as impossible
    for notion in (crossing, masking):
        assert verify(says, notion)
    found = one_sided(says, lambda table: table != ("a",), lambda z: z == "m")
    assert found.alpha == 0
    assert found.beta[("m",)] == kept  # for X = (m): (q, 0, 0.632)-one-sided
    assert found.beta[("n",)] == 0  # for X = (n): not at all, and that is what the propositions forbid


# ---- Section IV


def printed_steps(before: Any, after: Any, policy: Any) -> bool:
    """Definition IV.1 as it is printed: (p(x) → p(x')) = False."""
    return policy(before) and not policy(after)


def test_definition_iv_1_means_true() -> None:
    """As printed a step only leads from p to ¬p: noise that never under-counts is ruled out, and IV.4 protects nobody.

    Nor would the mechanism in the paper's own proof of Proposition IV.3 be private.
    """
    proof = FiniteMechanism.from_rows(
        {x: {True: 0, False: 1} if visitors(x) else {True: 1 - exp_minus(1), False: exp_minus(1)} for x in ONE}
    )
    as_printed = FiniteDistance(
        ONE, [[0 if x == y else 1 if printed_steps(x[0], y[0], ~A) else inf for y in ONE] for x in ONE]
    )
    assert verify(proof, as_printed).exact_scale == inf
    assert verify(proof, ADP(1, [~A])).tight
    count = Geometric(Line(inf, 1)).on(range(2)).pull_back(ONE, visitors)
    printed = FiniteDistance(
        ONE, [[0 if x == y else 1 if printed_steps(x[0], y[0], ~A) else inf for y in ONE] for x in ONE]
    )
    assert verify(count, printed).exact_scale == inf
    assert verify(count, ADP(1, [~A])).tight
    lowered = Geometric(Line(1, inf)).on(range(2)).pull_back(ONE, visitors)
    assert verify(lowered, printed).tight  # private as printed …
    here_or_not = {RECORDS[0]: "1/2", RECORDS[1]: "1/2"}
    assert risk(lowered, here_or_not, A, person=0).is_infinite  # … and "was at a" may come out with certainty
    assert risk(count, here_or_not, A, person=0).at_most(exp(1))


def test_proposition_iv_3_needs_a_policy_that_tells_records_apart() -> None:
    """With a policy that always, or never, holds, ADP is bounded DP and there is no such mechanism."""
    count = two_sided("1").on(range(2)).pull_back(ONE, visitors)
    for constant in (lambda r: True, lambda r: False):
        trivial = ADP(1, [constant])
        assert trivial.on(ONE) == BoundedDP(1).on(ONE)
        assert verify(count, trivial).tight
        assert risk(count, "uniform", constant, person=0).odds == 0


def test_section_iv_c1_needs_equivalence() -> None:
    """¬c ⇒ p is met by p ≡ True; then no decision with α = 0 ever says safe. p ⇔ ¬c lets it."""
    policies = {"always true": lambda r: True, "equivalent": ~A}
    assert all(p(r) for p in policies.values() for r in RECORDS if not A(r))  # the printed condition, met by both
    never_wrong = Geometric(Line(inf, 1)).on(range(3)).pull_back(TWO, visitors).then(lambda z: z <= 0)
    assert max(never_wrong.probability(x, True) for x in TWO if visitors(x) > 0) == 0
    assert never_wrong.probability(TWO[0], True) > 0
    assert verify(never_wrong, ADP(1, [policies["equivalent"]]))
    both_ways = ADP(1, [policies["always true"]])
    assert verify(never_wrong, both_ways).exact_scale == inf
    distances = both_ways.on(TWO)
    assert not any(distances(x, y).is_infinite for x in TWO for y in TWO)  # so 0 on unsafe tables is 0 on all
    assert [best_by_program(1.0, 1.0, k, 0.0) for k in range(1, 4)] == [0, 0, 0]


def test_section_iv_c2_dangerous_is_better_off_than_under_dp() -> None:
    """Printed: "the same performance". Falling steps leave min(e^{kε}·α, 1), which ALap attains; ε-DP bounds it further."""
    alpha, at_least = float(exp_minus(4)), 6
    decide = alarm(alap("1").law, at_least, "0.0184")
    for k in range(1, 7):
        ours = float(decide.probability(at_least - 1 + k))
        assert ours == pytest.approx(best_by_program(None, 1.0, k, alpha), abs=1e-7)  # mirrored: falls become rises
        assert ours == pytest.approx(min(math.exp(k) * alpha, 1))
        under_dp = best_by_program(1.0, 1.0, k, alpha)
        assert ours > under_dp + 0.03 if k >= 4 else ours == pytest.approx(under_dp, abs=1e-7)
    assert decide.probability(at_least - 1) <= Fraction("0.0184")


# ---- Section VI


def test_section_vi_a3_with_one_place_a_person_is_bounded_dp() -> None:
    """The low-sensitive query has one place a person: the printed ¬c₁ ∨ ¬c₂ holds for everybody, and counts may rise."""
    one_place = all_tables(RECORDS[:3], 1)  # nowhere, at a, at b
    printed, right = ADP(1, [~A | ~B]), ADP(1, [~A, ~B])
    assert printed.on(one_place) == BoundedDP(1).on(one_place)
    upward = Geometric(Line(inf, 1)).on(range(2)).pull_back(one_place, visitors)
    assert verify(upward, printed).exact_scale == inf
    assert verify(upward, right).tight


# ---- Section V


def test_definition_v_2_lets_a_constant_answer_be_monotone_twice() -> None:
    """An answer that no step changes is increasing and decreasing, and Δ_p = 0 divides by 0: it needs no noise."""
    with pytest.raises(NotPrivateError, match="Publish it without noise"):
        sensitivity(ADP(1, [A, ~A]), CountWhere((A,)))
    exact_count = FiniteMechanism.from_rows({x: {visitors(x): 1} for x in TWO})
    assert verify(exact_count, ADP(1, [A, ~A])).exact_scale == 0


@pytest.mark.parametrize("epsilon", ["1", "1/3", "0.1", "20"])
def test_definition_v_3_has_the_sign_turned_round(epsilon: str) -> None:
    """Printed: noise with Sign_p·λ ≥ 0, so a count that falls along the steps is lowered. That rules out every step."""
    notion = ADP(epsilon, [~A])
    derived = sensitivity(notion, CountWhere((A,)))
    assert derived.sign == -1  # decreasing, Sign_p = −1
    printed, right = Geometric(Line(epsilon, inf)), Geometric(Line(inf, epsilon))
    assert printed.law.tail(1) == 0  # Sign_p·λ ≥ 0: λ ≤ 0
    assert right.law.cdf(-1) == 0
    assert right.line == derived.line
    assert verify(right.on(range(3)).pull_back(TWO, visitors), notion).tight
    assert verify(printed.on(range(3)).pull_back(TWO, visitors), notion).exact_scale == inf
    # nor would it be one-sided: an output of at most t may come from a count above t (Corollary V.6)
    assert sanitizer(right.law, 0).probability(1) == 0
    assert printed.law.cdf(0 - 1) > 0


# ---- Section VIII


def test_theorem_viii_6_adds_policies_by_holding_all_of_them() -> None:
    """Σ p_i is nowhere defined. Two ALap, one for each place, compose for both policies at once; not for ∨, nor for ∧."""
    counts = [alap("1").on(range(2)).pull_back(ONE, lambda x, p=p: int(p in x[0])) for p in "ab"]
    assert verify(counts[0], ADP(1, [~A]))
    assert verify(counts[1], ADP(1, [~B]))
    both = counts[0].beside(counts[1])
    together = ADP(2, [~A, ~B])
    assert verify(both, together).tight
    assert verify(both, (ADP(1, [~A]) + ADP(1, [~B])).on(ONE)).tight  # the pointwise sum of the distances is the same
    assert (ADP(1, [~A]) + ADP(1, [~B])).on(ONE) == together.on(ONE)
    for joined in (~A | ~B, ~A & ~B):
        assert verify(both, ADP(2, [joined])).exact_scale == inf


# ---- the article on one-sided DP


def test_the_readings_of_osdp_differ_between_two_sensitive_records() -> None:
    """What of two sensitive records it is may come out under the weaker reading, and not under ADP's."""
    tells = FiniteMechanism.from_rows(
        {
            ("s",): {"s": "1/2", "?": "1/2"},
            ("t",): {"t": "1/2", "?": "1/2"},
            ("n",): {"s": "1/4", "t": "1/4", "?": "1/2"},
        }
    )

    def sensitive(r: str) -> bool:
        return r in "st"

    assert verify(tells, OSDP(1, sensitive, "non-sensitive"))
    assert verify(tells, OSDP(1, sensitive)).exact_scale == inf
    assert risk(tells, {"s": "1/2", "t": "1/2"}, lambda r: r == "s", person=0).is_infinite


# ---- the page


def test_every_test_that_the_page_names_is_there() -> None:
    text = (ROOT / "docs" / "corrections.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 25
    for path, name in named:
        tree = ast.parse((ROOT / path).read_text())
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


def test_every_correction_to_adp_names_its_test() -> None:
    text = (ROOT / "docs" / "corrections.md").read_text()
    part = text.partition("## Asymmetric Differential Privacy")[2].partition("\n## Taken back")[0]
    for section in part.split("\n### ")[1:]:
        assert "`tests/" in section, section.splitlines()[0]
