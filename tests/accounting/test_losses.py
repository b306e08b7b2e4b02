"""(ε, δ) per direction: against enumeration on small domains, against closed forms, and against dp-accounting itself."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from dp_accounting.pld import privacy_loss_distribution as theirs
from tests.oracle import hockey_stick

from leeward.accounting import (
    Accountant,
    ComposedEvent,
    Direction,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
)
from leeward.errors import InputError
from leeward.exact import exact, exp, inf, log

DIRECTIONS: tuple[Direction, ...] = ("withdraw", "insert")


def geometric(up: float, down: float, moves: int = 1) -> tuple[Any, Any]:
    """The laws of a noisy count with a person and without, ends merged."""
    return tuple(hockey_stick.geometric(c, up, down, -1, moves + 1) for c in (moves, 0))


def sample(p: float, laws: tuple[Any, Any]) -> tuple[Any, Any]:
    here, gone = laws
    return {z: p * here[z] + (1 - p) * gone[z] for z in here}, gone


def side_by_side(*laws: tuple[Any, Any]) -> tuple[Any, Any]:
    return hockey_stick.product(*(a for a, _ in laws)), hockey_stick.product(*(b for _, b in laws))


INF = math.inf
CASES: list[tuple[str, Event, tuple[Any, Any]]] = [
    ("one", GeometricEvent("0.7", "0.4"), geometric(0.7, 0.4)),
    ("moves", GeometricEvent("0.7", "0.4", moves=3), geometric(0.7, 0.4, 3)),
    ("places", GeometricEvent("0.7", "0.4", places=3), side_by_side(*[geometric(0.7, 0.4)] * 3)),
    ("upward", SelfComposedEvent(GeometricEvent("0.5", inf), 3), side_by_side(*[geometric(0.5, INF)] * 3)),
    ("downward", SelfComposedEvent(GeometricEvent(inf, "0.5"), 3), side_by_side(*[geometric(INF, 0.5)] * 3)),
    (
        "mixed",
        ComposedEvent([GeometricEvent("0.51", inf), GeometricEvent("0.3", "0.3"), GeometricEvent("0.2", 1)]),
        side_by_side(geometric(0.51, INF), geometric(0.3, 0.3), geometric(0.2, 1)),
    ),
    (
        "sampled",
        SubsampledEvent(GeometricEvent("0.7", "0.4"), log(2)),
        sample(0.5, geometric(0.7, 0.4)),
    ),
    (
        "sampled thrice, a coin each",
        SelfComposedEvent(SubsampledEvent(GeometricEvent("0.7", inf), log(2)), 3),
        side_by_side(*[sample(0.5, geometric(0.7, INF))] * 3),
    ),
    (
        "one coin for three answers",
        SubsampledEvent(GeometricEvent("0.7", inf, places=3), log(2)),
        sample(0.5, side_by_side(*[geometric(0.7, INF)] * 3)),
    ),
    (
        "sampled compositions",
        SubsampledEvent(ComposedEvent([GeometricEvent("0.7", 1), PureEvent("0.2", "0.3")]), log(2)),
        sample(0.5, side_by_side(geometric(0.7, 1), geometric(0.2, 0.3))),
    ),
    (
        "sampled, upward beside downward: some outcomes neither table can have",
        SubsampledEvent(ComposedEvent([GeometricEvent("0.7", inf), GeometricEvent(inf, "0.7")]), log(2)),
        sample(0.5, side_by_side(geometric(0.7, INF), geometric(INF, 0.7))),
    ),
]


@pytest.mark.parametrize(("event", "laws"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_delta_and_epsilon_against_enumeration(event: Event, laws: tuple[Any, Any], direction: Direction) -> None:
    """Never below the truth (beyond rounding), and hardly above it."""
    p, q = laws if direction == "withdraw" else laws[::-1]
    accountant = Accountant([event])
    for epsilon in ("-0.3", "0", "0.25", "0.9"):
        right = float(hockey_stick.delta(p, q, epsilon))
        mine = accountant.delta(epsilon, direction)
        assert right <= mine <= right + 1e-6
        if right > 1e-3:
            back = accountant.epsilon(right + 1e-11, direction)
            assert 0 <= back <= max(float(epsilon), 0) + 1e-3
            assert hockey_stick.delta(p, q, back) <= right + 1e-9


@pytest.mark.parametrize("event", [GeometricEvent("0.7", "0.4"), GeometricEvent("0.7", inf)], ids=["both", "upward"])
def test_replacing_moves_one_answer_down_and_another_up(event: GeometricEvent) -> None:
    here, gone = geometric(float(event.up), float(event.down))
    p, q = hockey_stick.product(here, gone), hockey_stick.product(gone, here)
    accountant = Accountant([event])
    for epsilon in ("0", "0.4", "1"):
        right = float(hockey_stick.delta(p, q, epsilon))
        assert right <= accountant.delta(epsilon, "replace") <= right + 1e-6
    assert accountant.delta("1", "replace") > accountant.delta("1", "withdraw")
    with pytest.raises(InputError, match="one coin"):
        Accountant([SubsampledEvent(event, 1)]).delta(0, "replace")


def test_the_oracle_agrees_with_itself_over_all_sets() -> None:
    p, q = geometric(0.7, 0.4, 3)
    for epsilon in (-0.3, 0, 0.25, 0.9):
        assert mpmath.almosteq(hockey_stick.delta(p, q, epsilon), hockey_stick.delta_by_sets(p, q, epsilon))
    assert hockey_stick.delta(p, q, 0.25) != hockey_stick.delta(q, p, 0.25), "directions differ"


# ---- one-sided noise: linear, exactly


def test_one_sided_releases_cost_k_epsilon_plus_ln_one_minus_delta() -> None:
    accountant = Accountant().compose(GeometricEvent("0.1", inf), 50)
    assert accountant.closed_form("1/100", "withdraw") == 5 + log("99/100")
    assert accountant.epsilon("1/100", "withdraw") == pytest.approx(5 + math.log(0.99), abs=1e-15)
    assert accountant.delta(5 + math.log(0.99), "withdraw") == pytest.approx(0.01, abs=1e-14)
    assert accountant.closed_form("1/100", "insert") is None
    assert accountant.epsilon("1/100", "insert") == INF
    assert accountant.delta(100, "insert") == pytest.approx(1 - math.exp(-5), abs=1e-12)
    two_sided = Accountant().compose(GeometricEvent("0.1", "0.1"), 50)
    assert two_sided.epsilon("1/100", "withdraw") < 2, "the usual gain"
    assert two_sided.closed_form("1/100", "withdraw") is None


def test_the_closed_form_adds_what_is_different() -> None:
    events = [GeometricEvent("1/3", inf), LaplaceEvent("1/7", inf, moves=2), SanitizedEvent("1/2", stops=3)]
    assert Accountant(events).closed_form(0, "withdraw") == exact("1/3") + exact("2/7") + exact("3/2")
    mirrored = [GeometricEvent(inf, "1/3"), PureEvent(inf, log(2))]
    assert Accountant(mirrored).closed_form(0, "insert") == exact("1/3") + log(2)
    assert Accountant([GeometricEvent("1/3", inf)]).closed_form("1/2", "withdraw") == 0, "never below 0"


def test_a_constant_loss_is_not_discretised_among_others() -> None:
    third = GeometricEvent("1/3", inf)
    alone, mixed = Accountant([PureEvent("1/2", "1/2")]), Accountant([PureEvent("1/2", "1/2"), third])
    for delta in (1e-2, 1e-6):
        assert mixed.epsilon(delta, "withdraw") - alone.epsilon(delta, "withdraw") == pytest.approx(1 / 3, abs=1e-8)


# ---- against dp-accounting called directly, where the notions coincide


def test_two_sided_geometric_noise_as_dp_accounting_has_it() -> None:
    accountant = Accountant().compose(GeometricEvent("0.1", "0.1", moves=2), 30)
    usual = theirs.from_discrete_laplace_mechanism(0.1, sensitivity=2).self_compose(30)
    for delta in (1e-3, 1e-8):
        for direction in DIRECTIONS:
            assert accountant.epsilon(delta, direction) == pytest.approx(usual.get_epsilon_for_delta(delta), abs=1e-5)


def test_laplace_noise_as_dp_accounting_has_it() -> None:
    accountant = Accountant().compose(LaplaceEvent("0.37", "0.37", places=2), 20)
    usual = theirs.from_laplace_mechanism(1 / 0.37).self_compose(40)
    for direction in DIRECTIONS:
        assert accountant.epsilon(1e-6, direction) == pytest.approx(usual.get_epsilon_for_delta(1e-6), abs=1e-6)


def test_sampled_laplace_noise_as_dp_accounting_has_it_each_way() -> None:
    event = SubsampledEvent(LaplaceEvent("0.37", "0.37"), -log("9/10"))
    accountant = Accountant().compose(event, 40)
    usual = theirs.from_laplace_mechanism(1 / 0.37, sampling_prob=0.1).self_compose(40)
    mine = [accountant.epsilon(1e-6, direction) for direction in DIRECTIONS]
    assert max(mine) == pytest.approx(usual.get_epsilon_for_delta(1e-6), abs=1e-6)
    assert mine[0] - mine[1] > 0.01, "dp-accounting reports the larger direction only"


def test_what_its_default_would_have_hidden() -> None:
    """Why symmetric=True is never left alone: one-sided noise looks private both ways."""
    here, gone = ({z: float(mpmath.log(p)) for z, p in law.items() if p} for law in geometric(1, INF))
    hidden = theirs.from_two_probability_mass_functions(gone, here)
    assert hidden.get_epsilon_for_delta(1e-6) == pytest.approx(1, abs=1e-3)
    shown = theirs.from_two_probability_mass_functions(gone, here, symmetric=False)
    assert shown.get_epsilon_for_delta(1e-6) == INF == Accountant([GeometricEvent(1, inf)]).epsilon(1e-6, "insert")


# ---- what holds for all of them


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_it_is_pessimistic_at_every_grid_and_gets_finer(direction: Direction) -> None:
    event = SubsampledEvent(LaplaceEvent("0.3", "0.7", moves="1.3"), "0.21")
    coarse, middle, fine = (
        Accountant(grid=grid).compose(event, 10).epsilon(1e-4, direction) for grid in ("1e-1", "1e-2", "1e-3")
    )
    assert coarse > middle > fine
    assert middle - fine < (coarse - fine) / 20


def test_pure_costs_are_never_exceeded() -> None:
    accountant = Accountant([GeometricEvent("0.3", "0.2"), SubsampledEvent(GeometricEvent(1, inf), "0.5")])
    spent = accountant.cost
    assert accountant.delta(float(spent.withdraw), "withdraw") < 1e-12
    assert accountant.delta(float(spent.insert), "insert") < 1e-12
    assert (
        accountant.epsilon(0.0, "withdraw") == INF
        or accountant.epsilon(1e-12, "withdraw") <= float(spent.withdraw) + 1e-3
    )


def test_equation_3_is_epsilon_private_here_too() -> None:
    event = SubsampledEvent(GeometricEvent(log(1 + exp("1/2")), inf), "1/2")
    accountant = Accountant([event])
    for direction in DIRECTIONS:
        assert accountant.epsilon(1e-11, direction) == pytest.approx(0.5, abs=1e-6)
        assert accountant.delta("0.499", direction) > 1e-4


def test_order_and_grouping_do_not_matter() -> None:
    a, b = GeometricEvent("0.3", "0.2"), PureEvent("0.1", "0.4")
    one = Accountant([a, b, a])
    two = Accountant([ComposedEvent([SelfComposedEvent(a, 2), b])])
    assert one.epsilon(1e-5, "insert") == two.epsilon(1e-5, "insert")
    assert one.epsilon(1e-5, "insert") < one.compose(b).epsilon(1e-5, "insert")


def test_nothing_released_costs_nothing() -> None:
    empty = Accountant()
    for direction in DIRECTIONS:
        assert empty.epsilon(1e-6, direction) == empty.delta(0, direction) == 0
        assert empty.delta(-1, direction) == pytest.approx(1 - math.exp(-1))


@pytest.mark.sweep
def test_a_thousand_events_fifty_of_them_distinct() -> None:
    """In under 5 s of processor time, both directions."""
    made: list[Event] = [
        event
        for i in range(0, 50, 2)
        for event in (
            [GeometricEvent(f"{i + 1}/500", f"{i + 1}/500"), LaplaceEvent(f"{i + 2}/517", f"{i + 2}/517")]
            if i % 4
            else [
                SubsampledEvent(GeometricEvent(f"{i + 1}/100", 1), "1/10"),
                GeometricEvent(f"{i + 2}/500", f"{i + 2}/700"),
            ]
        )
    ]
    started = time.process_time()
    accountant = Accountant(made * 20)
    found = [accountant.epsilon("1e-6", direction) for direction in DIRECTIONS]
    spent = time.process_time() - started
    assert sum(accountant._counts.values()) == 1000
    assert len(accountant._counts) == 50
    assert all(1 < f < float(accountant.cost.withdraw) / 2 for f in found)
    assert spent < 5


@pytest.mark.parametrize(
    "ask",
    [
        lambda a: a.epsilon(1e-6, "both"),
        lambda a: a.epsilon("3/2", "insert"),
        lambda a: a.epsilon(-0.5, "withdraw"),
        lambda a: a.closed_form(1, "withdraw"),
        lambda a: Accountant(grid=0),
        lambda a: a.compose("a count"),
        lambda a: a.compose(GeometricEvent("1e-6", "1e-6", moves=300_000)).epsilon(1e-6, "insert"),
    ],
)
def test_malformed_questions_are_refused(ask: Any) -> None:
    with pytest.raises(InputError):
        ask(Accountant([GeometricEvent(1, 1)]))


def nested(depth: int, leaf: Event) -> list[tuple[int, Event]]:
    """All ways to compose a leaf with itself, so deep: how many leaves there are, and the event."""
    if not depth:
        return [(1, leaf)]
    inner = nested(depth - 1, leaf)
    return [
        *inner,
        *((times * n, SelfComposedEvent(event, times)) for n, event in inner for times in (2, 3)),
        *((n + m, ComposedEvent((event, other))) for n, event in inner for m, other in inner[-3:]),
    ]


@pytest.mark.parametrize("kind", ["geometric", "laplace", "subsampled"])
def test_a_composition_of_compositions_costs_what_its_leaves_cost_in_a_row(kind: str) -> None:
    leaf: Event = {
        "geometric": GeometricEvent("1/5", "1/3"),
        "laplace": LaplaceEvent("1/5", "1/5"),
        "subsampled": SubsampledEvent(GeometricEvent("1/3", inf), "1/4"),
    }[kind]
    row: dict[int, list[float]] = {}
    for leaves, event in nested(2, leaf):
        found = [Accountant([event], grid="1e-3").epsilon("1e-3", direction) for direction in DIRECTIONS]
        if leaves not in row:
            flat = Accountant([leaf] * leaves, grid="1e-3")
            row[leaves] = [flat.epsilon("1e-3", direction) for direction in DIRECTIONS]
        assert found == pytest.approx(row[leaves], rel=1e-6), event
    assert len({round(found[0], 6) for found in row.values()}) == len(row) > 5, "more leaves cost more"


def test_bounds_for_a_constant_loss_are_not_below_it_in_the_last_digit() -> None:
    for rate in ("1/3", "0.7", "1", "2", "3"):
        one, loss = Accountant([GeometricEvent(rate, inf)]), exact(rate)
        for at in ("-1", "-1/4", "0", "0.1"):
            assert Fraction(one.delta(at, "withdraw")) >= 1 - exp(exact(at) - loss)
        assert exact(Fraction(one.epsilon("1e-6", "withdraw"))) >= loss + log(1 - Fraction(1, 10**6))
