"""What the statement of tracks says, and what makes it true."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
from tests.truth.claims import Claims
from tests.truth.position_claims import number, told_apart


def walked(world: Any, rows: int = 40) -> pd.DataFrame:
    """What goes out of somebody who moves 5 km each minute."""
    table = pd.DataFrame({"who": "a", "lat": [59.95 + 0.05 * (k % 2) for k in range(rows)], "lon": 10.2, "kept": 0})
    table["when"] = pd.Timestamp("2026-03-01") + pd.to_timedelta(range(rows), "min")
    made: pd.DataFrame = world.rerun(table)
    return made


def register(claims: Claims) -> None:
    """Register the claims of tracks."""
    says = claims.says

    @says(r"(unit: )?the track of one person: their positions at the public times of their rows")
    def _(world: Any) -> bool:
        return "track" in world.spec

    @says(
        r"track: What is published tells apart any two tracks of the same times that are at most (?P<length>\S+) metres apart"
        r" at each time(, and differ within (?P<window>.+) only,)? by at most the factor (?P<factor>\S+), snapping included\. A"
        r" first report costs ε = (?P<report>\S+) a metre, a test (?P<test>\S+), a new report after it both; a row whose cost is"
        r" not within the limits is not asked for"
    )
    def _(world: Any, length: str, window: str | None, factor: str, report: str, test: str) -> bool:
        made = world.job.tracks
        # 200 m in a diagonal, from corner to corner of their cells: the furthest that the grid takes them apart
        along = int(number(length) / math.sqrt(2) / float(world.geo.step)) + 1
        found = max(told_apart(made.mechanism, (along, along), 3))
        share = float(made.mechanism.share)
        return (
            window == world.spec["track"].get("window")
            and 0.7 * math.log(number(factor)) < found <= math.log(number(factor)) + 1e-9
            and math.isclose(number(report), world.epsilon)
            and math.isclose(number(test), share * world.epsilon)
        )

    @says(
        r"track: The last report is shown again while a test says that it is within (?P<near>.+): beyond (?P<far>\S+) m it is"
        r" shown again with a chance of 1 in 20 or less"
    )
    def _(world: Any, near: str, far: str) -> bool:
        made, step = world.job.tracks.mechanism, float(world.geo.step)
        length = number(near.split()[0]) * (1000 if near.endswith("km") else 1)
        edge = number(far.replace(",", ""))
        snapped = step * math.sqrt(0.5)  # from the truth to its grid point
        nearest = edge * (1 - world.geo.plane.shrinkage) - snapped
        at = (length / step, nearest / step, 0.9 * edge / step)
        half, late, early = (float(made.chance((math.ceil(steps), 0), (0, 0))) for steps in at)
        return abs(half - 0.5) < 0.01 and late <= 0.05 < early

    @says(
        r"(not guaranteed: )?Tracks that are further apart than the limits are about are told apart by more; which rows show a"
        r" report again is published, and that somebody moves far from it shows within these limits"
    )
    def _(world: Any) -> bool:
        if "track" not in world.spec:
            return False
        far, near = (max(told_apart(world.job.tracks.mechanism, (steps, 0), 3)) for steps in (2_000, 200))
        return far > 2 * near and world.published.lat.notna().any()

    @says(
        r"(not guaranteed: )?A row that is not asked for, or not paid for, has no report: which rows these are is published"
    )
    def _(world: Any) -> bool:
        return "track" in world.spec and bool(walked(world).lat.isna().any())

    @says(
        r"(not guaranteed: )?A row that is not asked for, or not paid for, shows the last report again: it says nothing of"
        r" where the person then was"
    )
    def _(world: Any) -> bool:
        made = walked(world)
        return "track" in world.spec and bool(made.lat.notna().all()) and made.lat.nunique() < len(made) / 2

    @says(r"(not guaranteed: )?A second run begins tracks anew, and costs as much again")
    def _(world: Any) -> bool:
        one, other = walked(world), walked(world)
        return "track" in world.spec and not math.isnan(other.lat[0]) and one.lat[0] != other.lat[0]
