"""Attack: what `leeward.analysis` says of random mechanisms, against the definitions written out in fractions.

Chances go down to 10^−320, which floats do not hold. Everything is compared exactly, so no false alarm is possible; losses
of the best guess are compared to 10^−12 of the largest loss, because guesses that floats cannot tell apart are as good.
"""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from leeward.analysis import bayes, expansion, expected_loss, measure_distance, one_sided, pushed, remap, risk
from leeward.distance import FiniteDistance
from leeward.errors import LeewardError
from leeward.exact import Weight, exact, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import FiniteMechanism

OUTPUTS = "abcde"


def chances(draw: random.Random, size: int) -> list[Fraction]:
    row = [Fraction(draw.choice([0, 0, 1, 2, 3, 7])) for _ in range(size)]
    if not any(row):
        row[draw.randrange(size)] = Fraction(1)
    if draw.random() < 0.3:
        row = [x / 10 ** draw.choice([0, 5, 150, 300, 320]) for x in row]
    return [x / sum(row) for x in row]


def distance(draw: random.Random, points: Any) -> FiniteDistance[Any]:
    rows = [
        [exact(0) if a == b else draw.choice([exact(0), exact("1/2"), *[exact(1)] * 2, exact(3), inf]) for b in points]
        for a in points
    ]
    return FiniteDistance.closed(points, rows)


def value(number: Any) -> Fraction | None:
    return None if number.is_infinite else number.rational


def check_risk(found: Any, prior: list[Fraction], law: list[list[Fraction]], about: set[int]) -> None:
    before = sum(prior[x] for x in about)
    worst, never = Fraction(0), False
    if 0 < before < 1:
        for column in zip(*law, strict=True):
            inside = sum(prior[x] * p for x, p in enumerate(column) if x in about)
            outside = sum(prior[x] * p for x, p in enumerate(column) if x not in about)
            never |= bool(inside) and not outside
            worst = worst if not inside or not outside else max(worst, inside / outside / (before / (1 - before)))
    assert found.is_infinite is never
    assert never or found.odds.rational == worst


def check_expansion(draw: random.Random, space: FiniteDistance[Any]) -> None:
    points = space.points
    answer = {x: draw.randrange(3) for x in points}
    labels = sorted(set(answer.values()))
    answers = distance(draw, labels)
    moved, unbounded = Fraction(0), False
    nearest: dict[tuple[int, int], Fraction] = {(a, a): Fraction(0) for a in labels}
    for x, y in itertools.product(points, repeat=2):
        far, away = value(space(x, y)), value(answers(answer[x], answer[y]))
        if far is None:
            continue
        key = answer[x], answer[y]
        nearest[key] = min(nearest.get(key, far), far)
        if away is None or (far == 0 and away):
            unbounded = True
        elif far:
            moved = max(moved, away / far)
    found = expansion(answer.__getitem__, space, answers).sensitivity
    assert found.is_infinite is unbounded
    assert unbounded or found == moved
    for via, a, b in itertools.product(labels, repeat=3):
        if (a, via) in nearest and (via, b) in nearest:
            way = nearest[a, via] + nearest[via, b]
            nearest[a, b] = min(nearest.get((a, b), way), way)
    image = pushed(answer.__getitem__, space)
    assert all(value(image(a, b)) == nearest.get((a, b)) for a, b in itertools.product(labels, repeat=2))


def attack(seed: int, number: int) -> None:
    draw = random.Random(seed)
    for _ in range(number):
        size, outputs = draw.randint(2, 5), OUTPUTS[: draw.randint(2, 5)]
        secrets = range(size)
        law = [chances(draw, len(outputs)) for _ in secrets]
        made, prior = FiniteMechanism(tuple(secrets), tuple(outputs), law), chances(draw, size)
        believed, about = dict(zip(secrets, prior, strict=True)), set(draw.sample(secrets, draw.randint(0, size)))
        check_risk(risk(made, believed, about.__contains__), prior, law, about)

        first, second = (law[x] for x in draw.sample(secrets, 2))
        ratios = [(p, q) for p, q in zip(first, second, strict=True) if p or q]
        one, other = (dict(zip(outputs, map(weight, row), strict=True)) for row in (first, second))
        apart = measure_distance(one, other)
        assert apart == (
            inf if any(not p or not q for p, q in ratios) else log(max(max(p / q, q / p) for p, q in ratios))
        )

        cost = [[Fraction(draw.randint(0, 9)) for _ in outputs] for _ in secrets]
        each = [sum(map(Fraction.__mul__, row, losses)) for row, losses in zip(law, cost, strict=True)]
        assert rational(expected_loss(made, believed, cost)) == sum(map(Fraction.__mul__, prior, map(Fraction, each)))
        assert 0 <= max(each) - rational(expected_loss(made, "worst", cost)) <= max(each) / 10**12
        guess = [[Fraction(draw.randint(0, 9)) for _ in secrets] for _ in secrets]
        best = sum(
            min(sum(prior[x] * law[x][z] * guess[x][w] for x in secrets) for w in secrets) for z in range(len(outputs))
        )
        assert 0 <= rational(remap(made, believed, guess).loss) - best <= Fraction(9, 10**12)

        seen = draw.sample(outputs, draw.randint(1, len(outputs)))
        columns = [outputs.index(z) for z in seen]
        joint = [prior[x] * sum(law[x][z] for z in columns) for x in secrets]
        if sum(joint):
            after = bayes(made, believed, seen)
            assert [rational(after[x]) for x in secrets] == [mass / sum(joint) for mass in joint]
        else:
            with pytest.raises(LeewardError):
                bayes(made, believed, seen)

        says = {z: draw.choice([True, False, Fraction(1, 3)]) for z in outputs}
        said = [sum(p * Fraction(says[z]) for p, z in zip(row, outputs, strict=True)) for row in law]
        decided = one_sided(made, about.__contains__, says.__getitem__)
        assert rational(decided.alpha) == max([said[x] for x in secrets if x not in about], default=0)
        assert all(rational(decided.beta[x]) == said[x] for x in about)
        check_expansion(draw, distance(draw, tuple(secrets)))


def rational(number: Any) -> Fraction:
    found = number.rational if isinstance(number, Weight) or hasattr(number, "rational") else Fraction(number)
    assert found is not None
    return found


def test_the_analysis_says_what_its_definitions_say() -> None:
    attack(7, 60)


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_the_analysis_says_what_its_definitions_say_at_length(seed: int) -> None:
    attack(seed, 700)


def test_the_oracle_finds_a_risk_that_is_too_small() -> None:
    law = [[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 4), Fraction(3, 4)]]
    found = risk(FiniteMechanism((0, 1), ("a", "b"), law), None, {0}.__contains__)
    check_risk(found, [Fraction(1, 2)] * 2, law, {0})
    with pytest.raises(AssertionError):
        check_risk(found, [Fraction(1, 2)] * 2, [law[0], [Fraction(1, 8), Fraction(7, 8)]], {0})
