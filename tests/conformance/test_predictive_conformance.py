"""Test and report passes what every mechanism must: over short tracks, each run has its exact chance."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.conformance.mechanism_conformance import Case, MechanismConformance, Sampler

from leeward.distance import Derived, FiniteDistance, Plane
from leeward.exact import exact, log
from leeward.mechanism import FiniteMechanism, PlanarMechanism
from leeward.mechanism._norm import BEYOND
from leeward.mechanism._predictive import HELD, START, Allowance, PredictiveMechanism
from leeward.noise import Bits

TRACKS = list(itertools.product([(0, 0), (1, 0), (1, 1)], repeat=2))


def sampler(mechanism: PredictiveMechanism, matrix: FiniteMechanism) -> Sampler:
    near = {z for run in matrix.outputs for z in run}

    def sample(track: Any, size: int, bits: Bits) -> list[Any]:
        runs = []
        for _ in range(size):
            state, run = START, []
            for time, truth in enumerate(track):
                answer, after = mechanism.step(state, truth, time, bits)
                if answer not in near:  # far reports are one, after which there is no prediction
                    answer, after = BEYOND, mechanism.after(state, time, BEYOND)
                state, run = after, [*run, answer]
            runs.append(tuple(run))
        return runs

    return sample


def furthest(plane: Plane, times: str) -> FiniteDistance[Any]:
    """E·d_∞ on the tracks."""
    most = exact(times)
    return Derived("E·d_∞", lambda x, y: most * max(map(plane, x, y))).on(TRACKS)


def cases() -> Iterator[Case]:
    for rate, norm in (("1", "euclidean"), (log(2), "manhattan")):
        plane = Plane(rate, norm)  # type: ignore[arg-type]
        for most in (None, "2"):
            # a first report costs 1 and a test with a report 3/2: an allowance of 2 pays for the first step alone
            bounds = [] if most is None else [Allowance(exact(most) * rate)]
            made = PredictiveMechanism(PlanarMechanism(plane), near="2", test="1/2", allowances=bounds)
            sharper = PredictiveMechanism(PlanarMechanism(plane.scale("11/10")), near="2", test="1/2")
            matrix = made.on(TRACKS)
            yield Case(
                f"{norm} at {rate}, at most {most}",
                matrix,
                furthest(plane, "5/2" if most is None else "1"),
                sampler(made, matrix),
                sampler(sharper, matrix),
                draws=12_000,
                lowered=[furthest(plane, "2499/1000" if most is None else "999/1000")],
            )


class TestPredictiveMechanism(MechanismConformance):
    cases: ClassVar = list(cases())


def test_a_prediction_that_holds_is_all_that_is_published() -> None:
    made = PredictiveMechanism(PlanarMechanism(Plane("1")), near="2").on(TRACKS)
    assert {run[1] for run in made.outputs} > {HELD, BEYOND}
    assert {run[0] for run in made.outputs} & {HELD} == set(), "there is no prediction before the first report"
