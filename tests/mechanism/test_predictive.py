"""Test and report: the law by an oracle of its own, what each run costs, allowances, and variants that must be rejected."""

from __future__ import annotations

import copy
import itertools
import math
import os
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.statistical.gof import rejects

import leeward as lw
from leeward.distance import Derived, Plane
from leeward.errors import InputError
from leeward.exact import exact, log
from leeward.exact._weight import Weight, weight
from leeward.mechanism import FiniteMechanism, PlanarMechanism
from leeward.mechanism._norm import BEYOND
from leeward.mechanism._predictive import HELD, START, UNPAID, Allowance, PredictiveMechanism, TrackState
from leeward.noise import SeededBitsForTests, SystemBits

LINE = [(0, 0), (1, 0), (2, 0)]
TRACKS = list(itertools.product(LINE, repeat=2))
PLANE = Plane("1")


def made(**options: Any) -> PredictiveMechanism:
    return PredictiveMechanism(PlanarMechanism(PLANE), **{"near": "3/2", "test": "1/2", **options})


def apart(most: str, tracks: Any = TRACKS) -> Any:
    bound = exact(most)
    return Derived("E·d_∞", lambda x, y: bound * max(map(PLANE, x, y))).on(tracks)


# ---- what an allowance pays for


@pytest.mark.parametrize(("most", "units"), [("4", 8), (f"{4 * 10**30 - 1}/{10**30}", 7)])
def test_an_allowance_pays_for_no_more_than_it_is(most: str, units: int) -> None:
    """The second is below 4 by 10⁻³⁰, which no float shows; a unit is half an ε."""
    assert made(allowances=[Allowance(most)])._bounds == [(units, None)]


# ---- the law


@pytest.mark.parametrize("norm", ["euclidean", "manhattan"])
@pytest.mark.parametrize("near", ["0", "3/2", "5"])
def test_the_chance_that_a_prediction_holds_is_that_of_laplace_noise_on_the_distance(norm: Any, near: str) -> None:
    """By the definition: the chance that the distance is at most the length plus noise, its tail integrated in floats."""
    mechanism = PredictiveMechanism(PlanarMechanism(Plane("2/3", norm), step="2"), near=near, test="3/4")
    t, grid = 2 / 3 * 3 / 4, np.linspace(0, 120, 1_200_001)
    for x in itertools.product(range(-4, 5), repeat=2):
        away = 2 * float(sum(map(abs, x)) if norm == "manhattan" else math.hypot(*x))
        excess = away - float(Fraction(near))  # noise must be at least this
        tail = np.trapezoid(t / 2 * np.exp(-t * (abs(excess) + grid)), grid)
        expected = tail if excess > 0 else 1 - tail
        assert float(mechanism.chance(x, (0, 0))) == pytest.approx(expected, abs=1e-6)
        assert mechanism.chance(x, (0, 0)) == mechanism.chance((x[0] + 3, x[1]), (3, 0))


@pytest.mark.sweep
@pytest.mark.statistical
@pytest.mark.parametrize("norm", ["manhattan", "euclidean"])
def test_the_coin_of_the_test_has_its_chance(norm: Any) -> None:
    """Each of 8 distances, 20,000 flips: false alarm below 1e-5; the coin of a test at another length is rejected."""
    mechanism = PredictiveMechanism(PlanarMechanism(Plane("1/3", norm)), near="3", test="1")
    other = PredictiveMechanism(PlanarMechanism(Plane("1/3", norm)), near="7/2", test="1")
    bits, n, wrong = SeededBitsForTests(5), 20_000, 0
    for x in ((0, 0), (1, 0), (2, 0), (3, 0), (2, 2), (4, 1), (5, 5), (9, 0)):
        held = sum(mechanism._holds(x, (0, 0), bits) for _ in range(n))
        assert rejects([held], [float(mechanism.chance(x, (0, 0)))], n, 1e-6) is None, x
        wrong += rejects([held], [float(other.chance(x, (0, 0)))], n, 1e-6) is not None
    assert wrong == 8


def test_far_tests_are_decided_exactly() -> None:
    far = PredictiveMechanism(PlanarMechanism(Plane("1"), step="1/1000000"), near="1000000", test="1")
    moved = 10**12 + 1, 0  # one step beyond the length: within what floats make of it
    assert float(far.chance(moved, (0, 0))) == pytest.approx(0.5, abs=1e-6)
    assert far.chance(moved, (0, 0)) < far.chance((10**12, 0), (0, 0))
    flips = [far._holds(moved, (0, 0), SeededBitsForTests(k)) for k in range(64)]
    assert 8 < sum(flips) < 56  # outside once in 10^9


# ---- what is promised


def cost_of(run: Any) -> Fraction:
    """What a run costs, by hand: a first report 1, a test 1/2, a report after it 1; nothing where nothing is paid for."""
    total, known = Fraction(0), False
    for answer in run:
        if answer == UNPAID:
            continue
        total += Fraction(1, 2) if known else 0
        total += 0 if answer == HELD else 1
        known = answer != BEYOND if answer != HELD else known
    return total


@pytest.mark.sweep
def test_each_run_costs_what_it_says_for_every_ordered_pair() -> None:
    """The theorem, run by run: the ratio is at most e^(Σ c_i·d_i), and some run reaches it."""
    matrix = made().on(TRACKS)
    logs = {x: {run: math.log(float(chance)) for run, chance in matrix.row(x).items()} for x in TRACKS}
    steps = {run: [float(cost_of(run[: i + 1]) - cost_of(run[:i])) for i in range(2)] for run in matrix.outputs}
    reached = 0
    for x, y in itertools.permutations(TRACKS, 2):
        for run in matrix.outputs:
            most = sum(c * math.dist(a, b) for c, a, b in zip(steps[run], x, y, strict=True))
            ratio = logs[x][run] - logs[y][run]
            assert ratio <= most + 1e-9
            reached += most > 0 and ratio > most - 1e-9
    assert reached > 20


@pytest.mark.long
@pytest.mark.sweep
def test_an_allowance_bounds_what_every_run_costs_and_is_the_promise() -> None:
    tracks = list(itertools.product(LINE[:2], repeat=3))
    for most in ("1", "5/2", "3", "4"):
        mechanism = made(allowances=[Allowance(most)])
        matrix = mechanism.on(tracks)
        spent = {cost_of(run) for run in matrix.outputs}
        assert max(spent) <= Fraction(most)
        assert lw.verify(matrix, apart(most, tracks))
    assert lw.verify(made().on(tracks), apart("4", tracks))
    assert not lw.verify(made().on(tracks), apart("399/100", tracks))


def test_within_a_window_of_time_costs_are_bounded() -> None:
    """Steps at 0, 1 and 5: those of one stretch of 3 may cost 5/2, so the third step begins with a whole allowance."""
    tracks = list(itertools.product(LINE[:2], repeat=3))
    mechanism = made(allowances=[Allowance("1", span=3)])
    matrix = mechanism.on(tracks, times=[0, 1, 5])
    assert {run[1] for run in matrix.outputs} == {UNPAID}
    roomy = made(allowances=[Allowance("3/2", span=3)]).on(tracks, times=[0, 1, 5])
    assert {run[1] for run in roomy.outputs if run[0] != BEYOND} == {UNPAID}
    assert any(run[2] == HELD for run in roomy.outputs)
    differ_in_one = [t for t in tracks if t[2] == LINE[0]]
    one = FiniteMechanism.from_rows({t: roomy.row(t) for t in differ_in_one})
    assert lw.verify(one, apart("3/2", differ_in_one))
    assert not lw.verify(roomy, apart("3/2", tracks)), "of both stretches together it costs more"


class Plain(PredictiveMechanism):
    """The test without noise."""

    def chance(self, truth: Any, prediction: Any) -> Weight:
        return weight(int(math.dist(truth, prediction) <= float(self.near)))


class Free(PredictiveMechanism):
    """Tests that hold are not paid for."""

    def after(self, state: TrackState, time: int, answer: Any) -> TrackState:
        found = super().after(state, time, answer)
        return TrackState(found.last, time, found.costs, state.paid) if answer == HELD else found


class Straight(PredictiveMechanism):
    """A test that goes by a straight line has another ε on each side of the length."""

    def chance(self, truth: Any, prediction: Any) -> Weight:
        away = Fraction(math.dist(truth, prediction)).limit_denominator(100)
        return weight(max(Fraction(1, 10), 1 - away / 2))


@pytest.mark.sweep
@pytest.mark.parametrize("broken", [Plain, Free, Straight])
def test_broken_variants_are_rejected(broken: Any) -> None:
    tracks = [t for t in itertools.product(LINE, repeat=3) if t[0] == LINE[0]]
    keys: Any = {"near": "1", "test": "1/8", "allowances": [Allowance("9/8")]}
    good, bad = (kind(PlanarMechanism(PLANE), **keys) for kind in (PredictiveMechanism, broken))
    if broken is Free:  # the first step reports, and two tests hold: the allowance pays for one
        keys = {"near": "1", "test": "1", "allowances": [Allowance("3")]}
        good, bad = (kind(PlanarMechanism(PLANE), **keys) for kind in (PredictiveMechanism, broken))
        tracks = list(itertools.product(LINE[:2], repeat=3))
        assert not lw.verify(bad.on(tracks), apart("3", tracks))
        assert lw.verify(good.on(tracks), apart("3", tracks))
        return
    keys["allowances"] = []
    good, bad = (kind(PlanarMechanism(PLANE), **keys) for kind in (PredictiveMechanism, broken))
    two = [t[:2] for t in tracks[::3]]
    two = list(dict.fromkeys((LINE[0], b) for b in LINE))
    assert lw.verify(good.on(two), apart("9/8", two))
    assert not lw.verify(bad.on(two), apart("9/8", two))


# ---- what is kept and refused


def test_a_state_is_what_was_published_and_paid() -> None:
    mechanism = made(allowances=[Allowance("4"), Allowance("2", span=10)])
    state, answers = START, []
    bits = SeededBitsForTests(3)
    for time in (0, 1, 2, 12, 13, 40, 41, 60):
        answer, state = mechanism.step(state, (0, 0), time, bits)
        answers.append(answer)
        assert mechanism.cost(state) <= 4
        within = sum(cost for at, cost in state.costs if at > time - 10)
        assert mechanism.unit * within <= 2
    assert UNPAID in answers
    assert mechanism.cost(state) == exact(cost_of(answers))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"near": "-1"}, "both rational"),
        ({"near": log(2)}, "both rational"),
        ({"test": "0"}, "above 0"),
        ({"allowances": [Allowance("9/10")]}, "what one report costs"),
    ],
)
def test_what_is_refused(options: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        made(**options)


def test_steps_go_forward_in_time_and_tracks_have_one_length() -> None:
    mechanism = made()
    _, state = mechanism.step(START, (0, 0), 5, SeededBitsForTests(1))
    with pytest.raises(InputError, match="before the last one"):
        mechanism.step(state, (0, 0), 4, SeededBitsForTests(1))
    with pytest.raises(InputError, match="several lengths"):
        mechanism.on([LINE[:2], LINE])
    with pytest.raises(InputError, match="whole number"):
        Allowance("1", span=0)


def test_allowances_hold_as_many_units_as_fit_exactly() -> None:
    third = PredictiveMechanism(PlanarMechanism(Plane(log(2) / 7)), near=1, test="1/3")
    for k in range(3, 40):
        assert third._units(log(2) / 21 * k) == k
        assert third._units(log(2) / 21 * k - exact("1/1000000000000")) == k - 1
    near = log(2) / 21 * 10**18
    assert [third._units(each) for each in (near - exact("1e-30"), near, near + exact("1e-30"))] == [
        10**18 - 1,
        *[10**18] * 2,
    ]


@pytest.mark.parametrize("most", ["1e20", "1e30", "1e400", "inf"])
def test_an_allowance_that_is_never_used_up_costs_no_time(most: str) -> None:
    """A float's quotient was made exact by steps of 1, which took for ever; or was not finite."""
    free = PredictiveMechanism(PlanarMechanism(Plane("1/1000")), near=1, allowances=[Allowance(most)])
    _, state = free.step(START, (0, 0), 0, SeededBitsForTests(1))
    assert free.plan(state, 1) == "test"


def test_each_stretch_keeps_its_own_limit() -> None:
    """What counts for a longer stretch is not forgotten with a shorter one."""
    limits = [Allowance("2", 1), Allowance("5", 10)]
    walker = PredictiveMechanism(PlanarMechanism(Plane("1", "euclidean")), near="1", test="1", allowances=limits)
    unpaid = 0
    for seed in range(20):
        state, paid, bits = START, list[tuple[int, Any]](), SeededBitsForTests(seed)
        for time in range(12):
            before = state.paid
            answer, state = walker.step(state, (40 * (time % 2), 0), time, bits)
            paid.append((time, state.paid - before))
            unpaid += answer == UNPAID
        for start, (most, span) in itertools.product(range(12), ((2, 1), (5, 10))):
            assert sum(cost for at, cost in paid if start <= at < start + span) <= most
    assert unpaid > 20, "no limit was met, so none was tested"


@pytest.mark.parametrize("how", ["copied", "pickled", "another process", "another source"])
def test_noise_that_waits_goes_out_once(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a rate of 10⁻⁶ a step four reports are those of a copy by chance once in 10⁴⁸ or so; before, they were always."""
    mechanism = PredictiveMechanism(PlanarMechanism(Plane("1/1000000")), near="1")
    bits: Any = SystemBits()
    mechanism.step(START, (0, 0), 0, bits)  # many are drawn at once
    other = mechanism
    if how in ("copied", "pickled"):
        other = copy.deepcopy(mechanism) if how == "copied" else pickle.loads(pickle.dumps(mechanism))
    held, process = mechanism._ready._held[2][:], os.getpid()
    if how == "another process":
        monkeypatch.setattr(os, "getpid", lambda: process + 1)
    theirs = [other.step(START, (0, 0), 0, SystemBits() if how == "another source" else bits)[0] for _ in range(4)]
    assert theirs != [tuple(pair) for pair in held[:-5:-1]]
    if other is not mechanism:
        assert theirs != [mechanism.step(START, (0, 0), 0, bits)[0] for _ in range(4)]
