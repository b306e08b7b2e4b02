# SPDX-License-Identifier: Apache-2.0
"""Test and report: a track pays the price of a report only where the last one has become wrong.

K. Chatzikokolakis, C. Palamidessi, M. Stronati, *A Predictive Differentially-Private Mechanism for Mobility Traces*, PETS
2014. A person reports again and again, and is mostly near where they were. Each step has a public *prediction*, the last
report. A private *test* says, by noise of its own, whether the prediction is still near enough: if so it *holds*, and is all
that is published; if not, a new report is drawn. A test costs less than a report.

The law of a step. The track is at x, a grid point; the prediction is z, f = d(x, z), and l is the public length that counts
as near. The test holds with probability

    p(f) = 1 − ½·e^(−t·(l − f)) for f ≤ l,    ½·e^(−t·(f − l)) for f ≥ l,

which is Pr[f ≤ l + noise] for Laplace noise of rate t, as one exact coin: nothing but the answer is drawn. If it fails, the
report is x plus noise of rate r. Before anything has been reported there is no prediction, and no test.

What is paid. An `Allowance` says how much a track may cost, in all or in any stretch of public time. Before each step it is
asked whether what is left pays for a test *and* a report; else nothing is drawn, and nothing is said. A test that holds
costs t, one that fails t + r, a first report r. So what a run costs follows from what was published, and is public.

Theorem. For two tracks x and x' of the same public times, and each run o (which steps held, which did not, and the reports),

    Pr[o | x] ≤ e^(Σ_i c_i(o)·d(x_i, x'_i)) · Pr[o | x'],    c_i(o) the cost of step i in the run o.

Proof. Pr[o | x] is the product over i of Pr[o_i | o_1 … o_(i−1), x_i], for what is done at a step depends on the truth at
that step, on public times, and on what was published. (1) ln p and ln(1 − p) change by at most t for each unit of f: for
f > l, ln p has slope −t; for f < l, |p'|/p = t·½e^(−t(l−f))/(1 − ½e^(−t(l−f))) ≤ t, because ½e^(…) ≤ ½; 1 − p is p mirrored
at l. (2) f = d(x_i, z) changes by at most d(x_i, x'_i), the triangle inequality; so either answer costs t·d(x_i, x'_i).
(3) A report costs r·d(x_i, x'_i) (`leeward.mechanism._planar`). ∎

Corollaries. (a) If no run costs more than E in all, the mechanism is E·d_∞-private, d_∞ = max_i d(x_i, x'_i): Σ c_i·d_i ≤
(Σ c_i)·max d_i. (b) If no run costs more than E within any stretch of time of length w, it is E·d_∞-private for tracks that
differ only within such a stretch (w-event privacy: G. Kellaris, S. Papadopoulos, X. Xiao, D. Papadias, 2014). (c) Without
an allowance it is (t + r)·d_1-private, d_1 = Σ d(x_i, x'_i).

Assumptions: the times, the length, the rates and the allowance are public and do not follow from the track. That a
prediction held is published, and is paid for; when somebody reports, and how often, is not protected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np

from leeward._integers import least_between
from leeward._plain import echo
from leeward._taught import taught
from leeward.errors import InputError
from leeward.exact._real import Exact, Real, exact, plainly, positive, sqrt, whole
from leeward.exact._weight import Weight, exp_minus, weight
from leeward.mechanism._finite import FiniteMechanism
from leeward.mechanism._norm import BEYOND
from leeward.mechanism._planar import GridPoint, PlanarMechanism
from leeward.noise import Bits, PlanarNoise
from leeward.noise._bernoulli import flip_enclosed
from leeward.noise._bits import this_process

HELD: Final = "held"
"""What is published of a step whose prediction held."""

UNPAID: Final = "unpaid"
"""What is published of a step that the allowance did not pay for."""

Answer = GridPoint | Literal["held", "unpaid", "beyond"]
"""What is published of one step: a report, that the last one held, or nothing; in a matrix, a report far from all points."""

_POOL: Final = 1024
_LEAST_TEST: Final = Fraction(1, 2**49)
"""The least rate of a test for each step of the grid: that of the noise of a report."""

_HALF: Final = weight(Fraction(1, 2))


@dataclass(frozen=True)
class Allowance:
    """What a track may cost: ε for each unit of length, together.

    Attributes:
        most: the bound.
        span: of the costs in each stretch of public time of this length; None for those of the whole track. A stretch
            begins with a step: the cost of one at time s counts until s + span, exclusive.

    Raises:
        InputError: the bound is not above 0, or the span no whole number above 0.
    """

    most: Exact
    span: int | None = None

    def __post_init__(self) -> None:
        span = None if self.span is None else whole(self.span, "span", says="it is a length of public time")
        self.__dict__.update(most=positive(self.most, "most"), span=span)


@dataclass(frozen=True, slots=True)
class TrackState:
    """All that is kept of a track between steps. It is public, as what was published is.

    Attributes:
        last: the last report; None before the first.
        time: of the last step.
        costs: time and cost of each step that still counts, in the mechanism's units.
        paid: what all steps cost, in these units.
        tests: how many tests were paid for.
        reports: how many reports.
    """

    last: GridPoint | None = None
    time: int | None = None
    costs: tuple[tuple[int, int], ...] = ()
    paid: int = 0
    tests: int = 0
    reports: int = 0


START: Final = TrackState()
"""The state before the first step."""


class _Ready:
    """Draws that wait, because many at once cost little more than one: each goes out once.

    They are of one source and of one process: after a fork, and in a copy, others are drawn. Two reports with the same
    noise would show how far apart two people are.
    """

    def __init__(self, noise: PlanarNoise) -> None:
        self._noise = noise
        self._held: tuple[Bits | None, tuple[int, int], list[Any]] = None, this_process(), []

    def draw(self, bits: Bits) -> GridPoint:
        """Return a draw that nobody had: threads take theirs from one list, without a lock that a fork would leave shut."""
        while True:
            source, process, drawn = self._held
            if source is bits and process == this_process() and drawn:
                with suppress(IndexError):  # another thread took the last one
                    east, north = drawn.pop()
                    return east, north
            self._held = bits, this_process(), self._noise.sample(_POOL, bits).tolist()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Ready, (self._noise,)


@taught
class PredictiveMechanism:
    """Test and report on the grid of a planar mechanism.

    Args:
        noise: what draws reports, of rate r.
        near: the length l within which a prediction is near enough, in units of length; rational, at least 0.
        test: what a test costs as a share of a report: t = test·r; rational, above 0.
        allowances: what a track may cost; none for no bound.

    Attributes:
        unit: the ε for each unit of length that costs are counted in.
        costs: of a test and of a report, in these units.

    Raises:
        InputError: for a length or share that is not rational, a length of over 2⁴⁹ steps of the grid, a test of which a
            step changes the odds by less than e^(2⁻⁴⁹), or an allowance that pays for no report.
    """

    def __init__(
        self, noise: PlanarMechanism, *, near: Exact, test: Exact = "1/3", allowances: Iterable[Allowance] = ()
    ) -> None:
        share, length = positive(test, "test").rational, exact(near).rational
        if share is None or length is None or length < 0:
            raise InputError(
                f"near = {near}, test = {test}",
                "the one is a length of at least 0, the other a share of a report's ε, both rational",
                'Write near = "1000", test = "1/3"',
            )
        step = noise.step.rational
        if step is None:
            raise InputError(f"A grid of {noise.step}", "lengths are counted in whole steps", "Take a rational step")
        reach, rate = length / step, noise.distance.rate * share * step
        if reach > 1 / _LEAST_TEST or rate < _LEAST_TEST:
            raise InputError(
                f"near = {echo(str(near))}, test = {echo(str(test))}",
                "a test compares lengths of up to 2^49 steps of the grid, and a step changes its odds by e^(2^-49) at least",
                'Write near = "1000", test = "1/3"',
            )
        self.noise, self.near, self.share = noise, length, share
        self.test = noise.distance.rate * share
        self.unit, self.costs = noise.distance.rate / share.denominator, (share.numerator, share.denominator)
        self.allowances = tuple(allowances)
        self._bounds = [(self._units(exact(each.most)), each.span) for each in self.allowances]
        if any(most < self.costs[1] for most, _ in self._bounds):
            raise InputError(
                f"An allowance below ε = {noise.distance.rate}",
                "that is what one report costs, so none would be made",
                "Give a larger allowance, or reports a smaller ε",
            )
        self._steps = reach  # l, in steps of the grid
        self._rate = rate  # t, for each step of the grid
        self._ready = _Ready(noise.noise)

    def _units(self, most: Real) -> int:
        """Return how many whole units a bound holds, up to those of 2⁶² reports, which nobody ever makes."""
        return least_between(lambda units: self.unit * units > most, 0, 2**62 * self.costs[1] + 1) - 1

    # ---- what is public

    @property
    def step_price(self) -> Real:
        """What a step costs at most: a test that fails and a report, ε for each unit of length."""
        return self.unit * sum(self.costs)

    def cost(self, state: TrackState) -> Real:
        """Return what all steps so far cost: ε for each unit of length."""
        return self.unit * state.paid

    def plan(self, state: TrackState, time: int) -> Literal["report", "test", "unpaid"]:
        """Return what is done at a step, from what is public."""
        needed = (
            sum(self.costs) if state.reports else self.costs[1]
        )  # in a matrix a far report is no prediction, but paid
        for most, span in self._bounds:
            spent = state.paid if span is None else sum(cost for at, cost in state.costs if at > time - span)
            if spent + needed > most:
                return "unpaid"
        return "report" if state.last is None else "test"

    def after(self, state: TrackState, time: int, answer: Answer) -> TrackState:
        """Return the state after a step, from what was published of it."""
        if answer == UNPAID:
            return TrackState(state.last, time, state.costs, state.paid, state.tests, state.reports)
        tested, reported = int(state.last is not None), int(answer != HELD)
        cost = tested * self.costs[0] + reported * self.costs[1]
        spans = [span for _, span in self._bounds if span is not None]
        counted = state.costs if not spans else tuple(each for each in state.costs if each[0] > time - max(spans))
        if spans:
            counted = (*counted, (time, cost))
        last = state.last if answer == HELD else None if isinstance(answer, str) else answer
        return TrackState(last, time, counted, state.paid + cost, state.tests + tested, state.reports + reported)

    def _checked(self, state: TrackState, time: int) -> None:
        if state.time is not None and time < state.time:
            raise InputError(
                "A step before the last one", "what a stretch of time costs is added up in its order", "Sort by time"
            )

    # ---- drawing

    def step(self, state: TrackState, truth: GridPoint, time: int, bits: Bits) -> tuple[Answer, TrackState]:
        """Return what is published of the next step of a track, and the state after it.

        Args:
            state: what is public of the track so far; `START` before the first step.
            truth: where it is, in steps of the grid.
            time: the public time, in whole units; never before that of the last step.
            bits: the entropy source.

        Raises:
            InputError: for a time before that of the last step.
        """
        self._checked(state, time)
        planned = self.plan(state, time)
        answer: Answer
        if planned == "unpaid":
            answer = UNPAID
        elif state.last is not None and self._holds(truth, state.last, bits):
            answer = HELD
        else:
            east, north = self._ready.draw(bits)
            answer = (truth[0] + east, truth[1] + north)
        return answer, self.after(state, time, answer)

    def _holds(self, truth: GridPoint, prediction: GridPoint, bits: Bits) -> bool:
        """Flip the coin of the test: a fair one and one of e^(−t·|f − l|) together are the smaller of its two chances."""
        moved = truth[0] - prediction[0], truth[1] - prediction[1]
        away = float(abs(moved[0]) + abs(moved[1])) if self.noise.noise.norm == "manhattan" else math.hypot(*moved)
        reach, rate = float(self._steps), float(self._rate)
        exponent = rate * abs(away - reach)
        smaller = math.exp(-exponent) / 2
        slack = smaller * (rate * (away + reach) + exponent + 1) * 2.0**-46  # what rounding may have changed of it
        chance = np.array([smaller])
        hit = flip_enclosed(chance - slack, chance + slack, lambda _: self._smaller(moved), bits)
        return bool(hit[0]) != self._is_near(moved)

    # ---- the law, exactly

    def _is_near(self, moved: GridPoint) -> bool:
        """Whether f ≤ l."""
        if self.noise.noise.norm == "manhattan":
            return abs(moved[0]) + abs(moved[1]) <= self._steps
        return moved[0] ** 2 + moved[1] ** 2 <= self._steps**2

    def _smaller(self, moved: GridPoint) -> Weight:
        """Return ½·e^(−t·|f − l|)."""
        if self.noise.noise.norm == "manhattan":
            length = exact(abs(moved[0]) + abs(moved[1]))
        else:
            length = sqrt(moved[0] ** 2 + moved[1] ** 2)
        away = self._steps - length if self._is_near(moved) else length - self._steps
        return exp_minus(self._rate * away) * _HALF

    def chance(self, truth: GridPoint, prediction: GridPoint) -> Weight:
        """Return the probability that a prediction holds, exactly."""
        moved = plainly(truth[0]) - plainly(prediction[0]), plainly(truth[1]) - plainly(prediction[1])
        smaller = self._smaller(moved)
        return 1 - smaller if self._is_near(moved) else smaller

    def on(self, tracks: Iterable[Sequence[GridPoint]], times: Sequence[int] | None = None) -> FiniteMechanism:
        """Return the exact matrix over tracks of one length: Pr[run | track].

        Reports at other points than those of the tracks are one, after which there is no prediction, as before the first
        report: to join outputs, and to go on from what is joined, is post-processing and another public rule. Two points
        are told apart most by reports at these points themselves, so no ratio is lost.

        Args:
            tracks: tuples of grid points.
            times: the public time of each step; by default 0, 1, 2, …

        Raises:
            InputError: for tracks of several lengths.
        """
        tracks = [tuple((plainly(x), plainly(y)) for x, y in track) for track in tracks]
        if len({len(track) for track in tracks}) != 1:
            raise InputError("Tracks of several lengths, or none", "a run has one answer a step", "Give equal ones")
        times = range(len(tracks[0])) if times is None else times
        points = list(dict.fromkeys(point for track in tracks for point in track))
        reports: dict[GridPoint, dict[Any, Weight]] = {}
        for truth in points:
            row = {z: self.noise.probability(truth, z) for z in points}
            reports[truth] = {**row, BEYOND: 1 - sum(row.values(), start=weight(0))}
        return FiniteMechanism.from_rows({track: self._runs(track, times, reports) for track in tracks})

    def _runs(self, track: Any, times: Sequence[int], reports: dict[GridPoint, dict[Any, Weight]]) -> dict[Any, Weight]:
        runs: dict[Any, tuple[Weight, TrackState]] = {(): (weight(1), START)}
        for truth, time in zip(track, times, strict=True):
            longer: dict[Any, tuple[Weight, TrackState]] = {}
            for run, (chance, state) in runs.items():
                for answer, how_likely in self._answers(state, truth, time, reports[truth]).items():
                    longer[(*run, answer)] = chance * how_likely, self.after(state, time, answer)
            runs = longer
        return {run: chance for run, (chance, _) in runs.items()}

    def _answers(self, state: TrackState, truth: GridPoint, time: int, reports: dict[Any, Weight]) -> dict[Any, Weight]:
        planned = self.plan(state, time)
        if planned == "unpaid":
            return {UNPAID: weight(1)}
        holds = weight(0) if state.last is None else self.chance(truth, state.last)
        found: dict[Any, Weight] = {} if state.last is None else {HELD: holds}
        return found | {z: (1 - holds) * chance for z, chance in reports.items()}

    def __repr__(self) -> str:
        return (
            f"PredictiveMechanism({self.noise!r}, near={self.near}, test={self.share}, allowances={self.allowances!r})"
        )
