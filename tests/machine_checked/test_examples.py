"""The numbers computed in the proofs (proofs/examples.txt) are those of the code: rates, thresholds, odds, costs, losses."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest
from tests.machine_checked.catalogue import PAGE, PROOFS, rows

import leeward as lw
from leeward.analysis import _bounds as bounds
from leeward.analysis import optimal, remap
from leeward.distance import DirectedDistance, FiniteDistance, Line, both_hold
from leeward.distance._paths import _floyd, encode
from leeward.exact import Real, Weight, exact, exp_minus, inf, log
from leeward.exact._weight import weight
from leeward.mechanism import Everyone, Geometric, Sanitized, randomized_sanitizer
from leeward.noise import DirectedGeometric, floor_digits
from leeward.noise._geometric import BinaryDigits
from leeward.notion import (
    DROP_FACT,
    REPLACE,
    WITHDRAW,
    AdditionOnly,
    BoundedDP,
    Change,
    GradedFacts,
    Notion,
    Presence,
    UnboundedDP,
    has,
)
from leeward.notion.compose import Cut, group_price, parallel
from leeward.notion.convert import other_side
from leeward.query import CountWhere, Domain, Mean, sensitivity

Given = dict[str, str]
Numbers = Sequence[Fraction | float]
"""Exact fractions; ∞ is the one float."""


def lines() -> Iterator[tuple[str, Given, str]]:
    """(theorem, inputs, value) of each line of the file."""
    for line in (PROOFS / "examples.txt").read_text().splitlines():
        match = re.fullmatch(r"(\w+): (.+) -> (.+)", line)
        assert match, line
        given = dict(part.split("=") for part in match[2].split(" "))
        yield match[1], given | {"value": match[3]}, match[3]


def rate(text: str) -> Real:
    return inf if text == "inf" else log(Fraction(text.removeprefix("ln(").removesuffix(")")))


def line_of(given: Given) -> Line:
    return Line(rise=rate(given["rise"]), fall=rate(given["fall"]))


def numbers(text: str) -> list[Fraction | float]:
    return [math.inf if part == "inf" else Fraction(part) for part in text.split()]


def whole(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def fraction(value: Weight | Real) -> Fraction:
    """An exact value that must be rational."""
    assert value.rational is not None
    return value.rational


def geometric(given: Given) -> list[Fraction]:
    return [fraction(Geometric(line_of(given)).probability(int(given["truth"]), int(given["output"])))]


def clamped(given: Given) -> list[Fraction]:
    mechanism = Geometric(line_of(given), lower=0, upper=int(given["n"]))
    return [fraction(mechanism.probability(int(given["truth"]), int(given["output"])))]


def upward(given: Given) -> list[Fraction]:
    at_most, count = int(given["at_most"]), int(given["count"])
    sanitizer = Geometric(Line(inf, rate(given["rate"]))).sanitizer(at_most=at_most)
    said = sanitizer.probability(count)
    assert said == bounds.alap_beta(rate(given["rate"]), count, at_most)
    assert sanitizer.never_wrong
    return [fraction(said)]


def downward(given: Given) -> list[Fraction]:
    """The error at a threshold, and that the search finds this threshold for just this error."""
    rule = Geometric(Line(rate(given["rate"]), inf)).sanitizer(
        at_most=int(given["at_most"]), error_at_most=Fraction(given["value"])
    )
    assert rule.threshold == int(given["threshold"])
    return [fraction(rule.error)]


def best(given: Given) -> list[Fraction]:
    curve = bounds.best_decision(
        rate(given["presence"]), rate(given["absence"]), 6, given["alpha"], delta=given["delta"]
    )
    return [fraction(chance) for chance in curve]


def everyone(given: Given) -> list[Fraction]:
    """The odds where nobody is, and that k·b₁ + b₂ is all that k counts and those left out may cost."""
    counted, left_out, room = rate(given["counted"]), rate(given["left_out"]), int(given["room"])
    mechanism = Everyone(Line(inf, counted), left_out)
    if room >= 0:
        assert mechanism.sanitizer(room).never_wrong
        assert mechanism.sanitizer(room).probability(0) == mechanism.law.cdf(room)
    vectors = [(1, 1, 0, 1), (0, 0, 0, 0)]  # one person, counted at two places and left out at a third
    matrix = mechanism.on(vectors)
    there, nobody = (matrix.row(vector)[vectors[0]] for vector in vectors)
    assert nobody == exp_minus(counted * 2 + left_out) * there
    return [fraction(mechanism.law.cdf(room))]


def other(given: Given) -> list[Fraction]:
    back, slack = other_side(rate(given["epsilon"]), given["delta"])
    assert back == -rate(given["epsilon"])
    return [fraction(slack)]


def growth(given: Given) -> list[Fraction]:
    delta = Fraction(1, 10**6)
    grown = bounds.delta_bound(rate(given["step"]), delta, int(given["steps"]), 0)
    return [fraction(grown) / delta]


def digit(given: Given) -> list[Fraction]:
    return [fraction(BinaryDigits(rate(given["rate"])).probabilities[int(given["digit"])])]


def floor(given: Given) -> list[Fraction]:
    return [Fraction(floor_digits(weight(given["p"]), int(given["bits"])))]


def resampled(given: Given) -> list[Fraction]:
    law = DirectedGeometric(rate(given["rate"]), rate(given["rate"]))
    chances = [[law.pmf(z - truth) for z in range(3)] for truth in range(2)]
    return [fraction(row[0]) / fraction(row[0] + row[1] + row[2]) for row in chances]


def transcript(given: Given) -> list[Fraction]:
    counts, stop_after = tuple(whole(given["counts"])), int(given["stop_after"])
    mechanism = Sanitized(Line(inf, rate(given["rate"])), at_most=int(given["at_most"]), stop_after=stop_after)
    assert mechanism.price == rate(given["rate"]) * stop_after
    said: list[object] = ["safe" if part == "safe" else int(part) for part in given["said"].split(",")]
    said += [None] * (len(counts) - len(said))  # what comes after the stop
    highest = tuple([4] * len(counts))  # so that no exceeding count below 5 is merged with others
    chances = mechanism.on([counts, highest]).row(counts)
    return [fraction(chances[tuple(said)])]


def line(given: Given) -> list[Fraction]:
    return [fraction(Line(given["rise"], given["fall"])(int(given["from"]), int(given["to"])))]


def share(given: Given) -> list[Fraction]:
    """ε/k under notions whose steps move counts one way at a time; a and b with k·(a + b) = ε where they move both ways."""
    places = int(given["places"])
    query = CountWhere(tuple(has(p) for p in range(2 * places)), Domain(facts_per_person=places))
    down = [sensitivity(notion(given["step"]), query).line for notion in (AdditionOnly, Presence)]
    assert all(each.rise == inf for each in down)
    either = sensitivity(UnboundedDP(given["step"]), query).line
    both = sensitivity(BoundedDP(given["step"]), query).line
    shares = {*(each.fall for each in down), either.rise, either.fall, both.rise + both.fall}
    return [fraction(each) for each in shares]


def half_up(given: Given) -> list[Fraction]:
    asked = Fraction(int(given["p"]), int(given["q"]))
    return [Mean.__dict__["rounded"](_Whole, asked)]


class _Whole:
    grid = Fraction(1)
    ends = (-(10**40), 10**40)


def half_even(given: Given) -> list[Fraction]:
    return [Fraction(round(Fraction(int(given["p"]), int(given["q"]))))]  # Python's own, which the code avoids


LOSSES: dict[str, Callable[[int, int], int]] = {
    "absolute": lambda truth, guess: abs(truth - guess),
    "zero-one": lambda truth, guess: int(truth != guess),
    "lopsided": lambda truth, guess: 2 * (truth - guess) if guess <= truth else guess - truth,
}


def remapped(given: Given) -> list[Fraction]:
    mechanism = Geometric(line_of(given), lower=0, upper=int(given["n"]))
    prior = [Fraction(part) for part in given["prior"].split(",")]
    loss = remap(mechanism, prior, LOSSES[given["loss"]]).loss
    return [fraction(loss if isinstance(loss, Weight) else exact(loss))]


def matrix(text: str) -> list[list[Real]]:
    return [[exact(part) for part in row.split(",")] for row in text.split(";")]


def entries(distance: DirectedDistance[int]) -> Numbers:
    """All distances between the four points, row by row: fractions, or ∞."""
    return [_finite_or_inf(distance(x, y)) for x in range(4) for y in range(4)]


def _finite_or_inf(value: Real) -> Fraction | float:
    return math.inf if value.is_infinite else fraction(value)


def closure(given: Given) -> Numbers:
    """The same for costs so large that they are added up along the paths of floats, or without floats at all."""
    steps, large = matrix(given["steps"]), 2**60
    found = FiniteDistance.closed(range(4), steps)
    assert FiniteDistance.closed(range(4), [[cost * large for cost in row] for row in steps]) == found.scale(large)
    assert FiniteDistance.coded(range(4), *_floyd(*encode(steps, 4))) == found
    assert found == FiniteDistance(range(4), [[found(x, y) for y in range(4)] for x in range(4)])
    return entries(found)


def both(given: Given) -> Numbers:
    """The same in either order of the two, and with the points of one in another order."""
    first, second = (FiniteDistance(range(4), matrix(given[name])) for name in ("first", "second"))
    backwards = second.on(range(3, -1, -1))
    assert both_hold(first, second) == both_hold(second, first) == both_hold(first, backwards)
    return entries(both_hold(first, second))


def group(given: Given) -> Numbers:
    """By how much probabilities change: e to the price, for a notion whose step is one person who withdraws."""
    price = group_price(AdditionOnly(rate(given["step"])), WITHDRAW, int(given["people"]))
    return [1 / fraction(exp_minus(price))]


def parted(given: Given) -> Numbers:
    """What one change costs, with data cut in each way in which it stays in one part, and the factors in either order."""
    factors = [Fraction(part) for part in given["factors"].split(",")]
    ways: list[tuple[Notion, Change, Cut]] = [
        (AdditionOnly(given["step"]), WITHDRAW, "person"),
        (AdditionOnly(given["step"]), WITHDRAW, "record"),
        (BoundedDP(given["step"]), REPLACE, "person"),
        (GradedFacts(given["step"], given["step"]), DROP_FACT, "fact"),
    ]
    costs = {
        fraction(parallel(notion, order, cut=cut).cost(change))
        for notion, change, cut in ways
        for order in (factors, factors[::-1])
    }
    return sorted(costs)


CODE: dict[str, Callable[[Given], Numbers]] = {
    "geometric_numbers": geometric,
    "clamped_numbers": clamped,
    "upward_numbers": upward,
    "downward_numbers": downward,
    "best_numbers": best,
    "everyone_numbers": everyone,
    "other_numbers": other,
    "growth_numbers": growth,
    "digit_numbers": digit,
    "floor_numbers": floor,
    "resampled_numbers": resampled,
    "transcript_numbers": transcript,
    "line_numbers": line,
    "share_numbers": share,
    "half_up_keeps": half_up,
    "half_even_doubles": half_even,
    "remapped_numbers": remapped,
    "closure_numbers": closure,
    "both_numbers": both,
    "group_numbers": group,
    "parallel_numbers": parted,
}


@pytest.mark.parametrize("theorem", CODE)
def test_the_code_computes_the_numbers_of_the_proofs(theorem: str) -> None:
    found = [(given, value) for name, given, value in lines() if name == theorem]
    assert found
    for given, value in found:
        assert list(CODE[theorem](given)) == numbers(value), given


def test_every_line_belongs_to_a_listed_theorem_and_has_its_code() -> None:
    listed = {row.theorem for row in rows(PAGE.read_text())}
    named = {name for name, _, _ in lines()}
    assert named == set(CODE)
    assert named <= listed


def test_a_wrong_number_is_noticed() -> None:
    """Each comparison can fail: the code's number, a little off, is not that of the proofs."""
    for name, given, value in {name: (name, given, value) for name, given, value in lines()}.values():
        off = [found + Fraction(1, 10**9) for found in CODE[name](given)]
        assert off != numbers(value)


def test_linear_programs_find_nothing_better_than_the_proof_allows() -> None:
    """The least loss of any private mechanism, by the theorem, is what the certified optimum finds without it."""
    tried = [(given, value) for name, given, value in lines() if name == "remapped_numbers"][::5]
    for given, value in tried:
        points = range(int(given["n"]) + 1)
        prior = [Fraction(part) for part in given["prior"].split(",")]
        found = optimal(points, line_of(given), prior, LOSSES[given["loss"]])
        assert math.isclose(float(found.bound), float(Fraction(value)), abs_tol=1e-7), given


def test_a_threshold_and_a_coin_attain_the_bound_at_every_distance() -> None:
    """`best_attained`, with the threshold and the coin that the code finds: and `threshold_falls` beyond."""
    tried = 0
    for name, given, value in lines():
        if name == "best_numbers" and given["delta"] == "0" and given["alpha"] != "0" and given["absence"] != "inf":
            law = DirectedGeometric(rate(given["presence"]), rate(given["absence"]))
            found = randomized_sanitizer(law, 9, given["alpha"])
            assert [fraction(found.probability(10 - k)) for k in range(7)] == [Fraction(part) for part in value.split()]
            assert found.probability(11) <= found.probability(10)
            tried += 1
    assert tried == 9


def test_all_groups_are_scanned_for_the_price_of_one() -> None:
    """`levels_private`: c·ε, for however many levels and groups."""
    table = lw.records("t.csv", person="who")
    for groups, levels, stops in itertools.product((1, 2, 3), (1, 2, 4), (1, 2, 3)):
        query = lw.statistic(
            table, lw.query.Kind("above", levels=range(levels)), column="v", by={"g": list("fmx"[:groups])}
        )
        plan = lw.plan(query, AdditionOnly("1/3"), lw.Decide(safe_at_most=2), stop_after=stops)
        assert plan.price == Fraction(stops, 3)
        assert plan.mechanism.line == Line(inf, "1/3")


def test_two_scans_side_by_side_cost_what_one_costs() -> None:
    """`scans_private`, on the matrix of both runs: whoever is in one group costs ε; somebody in both would cost 2ε."""
    one = Sanitized(Line(inf, log(2)), at_most=0, stop_after=1).on([(0, 0), (1, 1), (0, 1)])
    runs = {counts: {said: fraction(chance) for said, chance in one.row(counts).items()} for counts in one.inputs}

    def both(first: tuple[int, ...], second: tuple[int, ...]) -> dict[object, Fraction]:
        return {(x, y): p * q for x, p in runs[first].items() for y, q in runs[second].items()}

    def worst(there: dict[object, Fraction], gone: dict[object, Fraction]) -> Fraction:
        return max(chance / gone[said] for said, chance in there.items() if chance)

    assert worst(both((1, 1), (0, 1)), both((0, 0), (0, 1))) == 2
    assert worst(both((1, 1), (1, 1)), both((0, 0), (0, 0))) == 4


def test_withholding_and_going_on_costs_four_times_as_much() -> None:
    """`going_on_four`: the likeliest of its transcripts, at ε = ln 2, is 2⁴ times as likely with somebody there."""
    epsilon = log(2)
    law = DirectedGeometric.one_sided(epsilon)
    there = law.pmf(0) * law.tail(0) ** 3
    nobody = law.pmf(1) * law.tail(1) ** 3
    assert fraction(there / nobody) == 2**4
    assert exp_minus(epsilon * 4) * there == nobody
