"""Attack: tracks whose times crowd, wait and fall on the ends of stretches. What they cost is added up here once more.

Costs are taken from what went out: a first report costs a report, one that held a test, a new one after a test both. In no
stretch of the length of a limit may they be more than it allows, wherever it begins.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

import leeward as lw
from leeward.local.location import TrackPlace, Tracks
from leeward.mechanism._predictive import PredictiveMechanism, TrackState

SECOND = 1_000_000
BOX = (139.5, 35.5, 140.0, 35.9)


def walked(
    tracks: Tracks, apart: Sequence[int], rows: int, draw: random.Random, *, far: int = 30
) -> list[tuple[int, Fraction]]:
    """The time and the cost, in reports, of each row of a track that goes so many steps of the grid in a row at most."""
    place, time, at, last = TrackPlace(), draw.randrange(-(10**9), 10**9), [0, 0], None
    test, found = tracks.mechanism.share, list[tuple[int, Fraction]]()
    for _ in range(rows):
        time += draw.choice(apart)
        at = [each + draw.randint(-far, far) for each in at]
        shown, place, done = tracks.step(place, (at[0], at[1]), time)
        cost = {"new": Fraction(1) + (test if last is not None else 0), "held": test}.get(done, Fraction(0))
        assert done != "held" or shown == last
        last = shown if done == "new" else last
        found.append((time, cost))
    return found


def most(costs: list[tuple[int, Fraction]], span: int | None) -> Fraction:
    """The most that rows within a stretch of this length cost, wherever it begins."""
    if span is None:
        return sum((cost for _, cost in costs), Fraction(0))
    return max(sum((c for at, c in costs if start <= at < start + span), Fraction(0)) for start, _ in costs)


def kept(tracks: Tracks, costs: list[tuple[int, Fraction]]) -> bool:
    """Whether a track kept all of its limits; something was paid."""
    for limit, length, _ in tracks.limits:
        reports = most(costs, length)
        assert reports > 0
        loss = float(reports) * float(tracks.geo.epsilon) * (float(limit.length) + float(tracks.geo.apart))
        if loss > math.log(Fraction(str(limit.factor))) * (1 + 1e-12):
            return False
    return True


@pytest.fixture(scope="module")
def geo() -> lw.PlanarLaplace:
    return lw.PlanarLaplace(box=BOX, within="200 m", factor=2)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(8))
def test_no_stretch_costs_more_than_its_limit(seed: int, geo: lw.PlanarLaplace) -> None:
    draw = random.Random(seed)
    span = draw.choice([10, 60])
    limits: dict[str, Any] = {"in_window": {"within": "200 m", "factor": draw.choice(["4", "17/2", "64"])}}
    if seed % 2:
        limits["in_all"] = {"within": "100 m", "factor": "1024"}
    every = {"every": "1 s"} if seed % 3 == 0 else {}
    test = draw.choice(["1/3", "2/7", "1/2"])
    tracks = Tracks(geo, near="100 m", test=test, window=f"{span} s", **limits, **every)
    apart = [0, 1, SECOND - 1, SECOND, 3 * SECOND, span * SECOND - 1, span * SECOND]
    assert kept(tracks, walked(tracks, apart, 150, draw))


@pytest.mark.sweep
def test_a_stretch_that_is_too_short_is_found(geo: lw.PlanarLaplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs that are forgotten after half of the length.

    Of what went before, each row is new with a chance of .499 at least, so that no two in a row are has one below 10⁻⁹.
    """
    plan = PredictiveMechanism.plan

    def forgetful(self: PredictiveMechanism, state: TrackState, time: int) -> Any:
        bounds, self._bounds = self._bounds, [(most, span and span // 2) for most, span in self._bounds]
        try:
            return plan(self, state, time)
        finally:
            self._bounds = bounds

    monkeypatch.setattr(PredictiveMechanism, "plan", forgetful)
    tracks = Tracks(geo, near="100 m", in_window={"within": "200 m", "factor": "4"}, window="10 s")
    assert not kept(tracks, walked(tracks, [6 * SECOND], 150, random.Random(1), far=3_000))
