"""Pure costs against exact enumeration, both directions, at the knife edge."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from tests.own_notions import After

from leeward.accounting import (
    Accountant,
    ComposedEvent,
    Cost,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
    cost,
)
from leeward.distance import FiniteDistance, Line
from leeward.errors import InputError
from leeward.exact import Real, exact, exp, inf, log
from leeward.mechanism import FiniteMechanism, Geometric, Sanitized, subsampled
from leeward.notion import (
    ABSENT,
    AdditionOnly,
    BoundedDP,
    Presence,
    RemovalOnly,
    ReplaceDP,
    UnboundedDP,
    all_tables,
)
from leeward.query import PoissonSampling
from leeward.verification import verify

GONE, HERE = (ABSENT,), ("a",)


def one_person(line: Line, moves: int = 1) -> FiniteMechanism:
    """A count that one person moves so far, with noise."""
    return Geometric(line).on(range(moves + 1)).pull_back([GONE, HERE], lambda t: 0 if t == GONE else moves)


def together(*parts: FiniteMechanism) -> FiniteMechanism:
    made = parts[0]
    for part in parts[1:]:
        made = made.beside(part)
    return made


def holds_exactly(mechanism: FiniteMechanism, spent: Cost) -> None:
    """Both directions hold at their cost and fail at 0.999 of it."""
    for x, y, price in ((HERE, GONE, spent.withdraw), (GONE, HERE, spent.insert)):

        def only(scale: Real, x: Any = x, y: Any = y) -> FiniteDistance[Any]:
            return FiniteDistance.closed([x, y], [[0, scale], [inf, 0]])

        if price.is_infinite:
            assert verify(mechanism, only(exact(1000))).exact_scale == inf
        else:
            assert verify(mechanism, only(price))
            assert not verify(mechanism, only(price * exact("0.999")))


UP, BOTH = GeometricEvent(1, inf), GeometricEvent("1/2", "1/3")
SAMPLING = PoissonSampling("1/4")


@pytest.mark.parametrize(
    ("event", "mechanism"),
    [
        (UP, one_person(Line(inf, 1))),
        (BOTH, one_person(Line("1/3", "1/2"))),
        (GeometricEvent(1, "1/3", moves=3), one_person(Line("1/3", 1), 3)),
        (GeometricEvent(1, "1/3", places=2), together(*[one_person(Line("1/3", 1))] * 2)),
        (ComposedEvent([UP, BOTH]), together(one_person(Line(inf, 1)), one_person(Line("1/3", "1/2")))),
        (SelfComposedEvent(BOTH, 3), together(*[one_person(Line("1/3", "1/2"))] * 3)),
        (SubsampledEvent(UP, SAMPLING.clear_price), subsampled(one_person(Line(inf, 1)), SAMPLING)),
        (SubsampledEvent(BOTH, SAMPLING.clear_price), subsampled(one_person(Line("1/3", "1/2")), SAMPLING)),
        (
            SubsampledEvent(SelfComposedEvent(BOTH, 2), SAMPLING.clear_price),  # one coin for both answers
            subsampled(together(*[one_person(Line("1/3", "1/2"))] * 2), SAMPLING),
        ),
        (
            SanitizedEvent(1, stops=2),
            Sanitized(Line(inf, 1), at_most=0, stop_after=2)
            .on([(0, 0, 0), (1, 1, 1)])
            .pull_back([GONE, HERE], lambda t: (0, 0, 0) if t == GONE else (1, 1, 1)),
        ),
    ],
    ids=lambda v: v.kind if isinstance(v, Event) else "",
)
def test_costs_are_tight_in_both_directions(event: Event, mechanism: FiniteMechanism) -> None:
    holds_exactly(mechanism, cost(event))


def test_equation_3_costs_exactly_epsilon_each_way() -> None:
    """And not only in floats: the logarithms cancel."""
    spent = cost(SubsampledEvent(GeometricEvent(log(1 + exp("1/3")), inf), "1/3"))
    assert spent.withdraw.rational == spent.insert.rational == exact("1/3").rational


def test_laplace_costs_its_rates_times_the_move() -> None:
    spent = cost(LaplaceEvent("1/2", 2, moves="1/3", places=3))
    assert (spent.withdraw, spent.insert) == (exact("1/2"), exact(2))


def test_one_sided_events_of_opposite_sides_sum_to_nothing_promised() -> None:
    spent = cost(ComposedEvent([GeometricEvent(1, inf), GeometricEvent(inf, 1)]))
    assert spent.withdraw == spent.insert == inf
    assert spent.price_in(UnboundedDP(1)) == inf


FACTS = [frozenset(s) for n in range(3) for s in itertools.combinations("ab", n)]
SETS = all_tables((ABSENT, *FACTS), 1)


def counts(table: tuple[Any, ...]) -> tuple[int, int]:
    held = table[0] or frozenset()
    return int("a" in held), int("b" in held)


def at_two_places(line: Line) -> FiniteMechanism:
    one = Geometric(line).on(range(2))
    return FiniteMechanism.product([one, one]).pull_back(SETS, counts)


@pytest.mark.parametrize("notion", [AdditionOnly, RemovalOnly, UnboundedDP, BoundedDP, ReplaceDP, Presence])
@pytest.mark.parametrize("line", [Line(inf, 1), Line("1/2", "1/3")], ids=str)
def test_prices_under_notions_hold(notion: Any, line: Line) -> None:
    """At most two places each: what `cost` says is enough, for every ordered pair of tables."""
    price = cost(GeometricEvent(line.fall, line.rise, places=2, monotone=True)).price_in(notion(1))
    verdict = verify(at_two_places(line), notion(1).scale(1 if price.is_infinite else price))
    assert bool(verdict) != price.is_infinite
    if notion in {AdditionOnly, RemovalOnly, Presence, UnboundedDP} and not price.is_infinite:
        assert verdict.tight


@pytest.mark.parametrize("notion", [BoundedDP, ReplaceDP])
def test_a_replacement_pays_both_ways(notion: Any) -> None:
    """Someone at one place of two: one count falls and the other rises."""
    kept = [(frozenset("a"),), (frozenset("b"),)]
    whole = at_two_places(Line("1/2", "1/3"))
    rows = FiniteMechanism(kept, whole.outputs, [list(whole.row(t).values()) for t in kept])
    price = cost(GeometricEvent("1/3", "1/2", places=1)).price_in(notion(1))
    assert verify(rows, notion(price)).tight
    assert not verify(rows, notion(price * exact("0.999")))


def test_a_notion_about_everybody_at_once_is_not_paid_by_the_person() -> None:
    class Everybody(After, notion=Presence):
        """A step may change everybody's record."""

        all_records = True

    spent = cost(GeometricEvent("1/3", inf, monotone=True))
    assert spent.price_in(Presence(1)) == exact("1/3")
    assert spent.price_in(Everybody(1)) == inf
    assert spent.within(Presence(1))
    assert not spent.within(Everybody(1))


def test_sampling_people_does_not_amplify_the_loss_of_single_facts() -> None:
    """The broken variant: to price the loss of one place of two like the withdrawal of someone who was at one."""
    p = PoissonSampling("1/4")
    spent = cost(SubsampledEvent(GeometricEvent(1, 1, places=2, monotone=True), p.clear_price))
    mechanism = subsampled(at_two_places(Line(1, 1)), p)
    assert verify(mechanism, Presence(spent.shrink))
    kept = [t for t in SETS if t != GONE]
    shrinking = Presence(spent.withdraw / 2).on(kept)  # one place of two: half of the base's cost
    assert not verify(
        FiniteMechanism(kept, mechanism.outputs, [list(mechanism.row(t).values()) for t in kept]), shrinking
    )


def test_within_a_cap() -> None:
    spent = cost(SelfComposedEvent(UP, 3))
    assert spent.within(AdditionOnly("1"), 3)
    assert not spent.within(AdditionOnly("1"), "2.999")
    assert not spent.within(RemovalOnly("1"), 1000)


def test_what_releases_cost_adds_up_for_every_kind_of_change() -> None:
    one, two = Cost(*map(exact, (1, 2, 3, 4))), Cost(*map(exact, (10, 20, 30, 40)))
    assert one + two == Cost(*map(exact, (11, 22, 33, 44)))
    assert cost(ComposedEvent((PureEvent(1, 2), PureEvent(10, 20)))) == cost(PureEvent(11, 22))


def test_unknown_events_are_refused() -> None:
    class Strange(Event):
        kind = "strange"

    with pytest.raises(InputError):
        cost(Strange())
    assert cost(PureEvent(1, 2)) == Cost(exact(1), exact(2), exact(3), exact(3))


def test_a_replacement_is_a_withdrawal_and_an_insertion_elsewhere() -> None:
    """A count at each of two places, where a person who is there adds one: moving takes one away here and adds one there."""
    spent = cost(GeometricEvent(2, 1, monotone=True))
    here, there = ("a",), ("b",)
    counts = [
        Geometric(Line(1, 2)).on(range(2)).pull_back([here, there], lambda t, at=at: int(t == at))
        for at in (here, there)
    ]
    for notion in (BoundedDP(1), ReplaceDP(1)):
        price = spent.price_in(notion)
        assert price == 3
        for x, y in ((here, there), (there, here)):
            apart = [FiniteDistance.closed([x, y], [[0, scale], [inf, 0]]) for scale in (price, price * exact("0.999"))]
            assert [bool(verify(together(*counts), one)) for one in apart] == [True, False]


def test_a_coin_about_a_person_hides_less_of_a_part_of_their_record() -> None:
    """A person counts at one of two places, by what else is known of them; by enumeration, with noise that doubles a chance.

    Taking a fact away moves them from one place to the other: the coin hides that they are sampled, and then they count
    there or here. Withdrawing them altogether costs less.
    """
    here, there = {True: Fraction(2, 3), False: Fraction(1, 3)}, Fraction(1, 4)
    law = lambda at, out: here[out[0] == (at == 0)] * here[out[1] == (at == 1)]  # noqa: E731
    outputs = list(itertools.product([False, True], repeat=2))
    sampled = [[(1 - there) * law(None, out) + there * law(at, out) for out in outputs] for at in (0, 1)]
    worst = max(x / y for x, y in zip(*sampled, strict=True))
    spent = cost(SubsampledEvent(PureEvent(log(2), log(2)), log("4/3")))
    assert exp(spent.shrink) == exp(spent.grow) == exact(worst) == exact("10/7")
    assert exp(spent.withdraw) < exact(worst)
    assert exp(spent.insert) < exact(worst)


def test_equal_releases_are_counted_as_often_as_they_were() -> None:
    """A set holds equal ones once, and what an accountant says of its events is how often each was: neither is a list."""
    spent = PureEvent("1", "1")
    twice = Accountant([spent, spent])
    assert twice.events == {spent: 2}
    for given in ({spent}, frozenset({spent}), twice.events):
        for made in (Accountant, ComposedEvent):
            with pytest.raises(InputError, match=r"no order|not a list"):
                made(given)
