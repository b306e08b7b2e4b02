"""What the reports of the dearest person cost, as the curator is told: against sums over plain lists of rows."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

import pytest

import leeward as lw
from leeward.local.location._rows_seen import RowsSeen

GEO = lw.PlanarLaplace(box=(139.3, 35.3, 140.2, 36.1), within="200 m", factor=2)
PAYS: dict[Any, str] = {"a": "a", "b": "b", 7: "7", "7": "7", " 7 ": "7", 8.0: "8"}
"""Who pays for an id: 7 and what writes it with blanks are one, but " 7 " is shown reports of its own."""
SHOWN: dict[Any, str] = {"a": "a", "b": "b", 7: "7", "7": "7", " 7 ": " 7 ", 8.0: "8"}
NOBODY = (None, float("nan"))


def told(seen: RowsSeen) -> list[float]:
    (note,) = seen.notes
    return [float(number) for number in re.findall(r"ε = (\S+) a metre", note)]


def is_rounded_up(number: float, exactly: float) -> bool:
    return exactly * (1 - 1e-12) <= number <= exactly * 1.001


@pytest.mark.parametrize("case", range(12))
def test_it_is_that_of_a_sum_over_rows(case: int) -> None:
    """Of rows in batches, with and without times, of several levels, and of reports that are shown again or drawn anew."""
    rng = random.Random(case)
    dated, repeats, batches = case % 2 == 0, case % 3 == 0, rng.randint(1, 4)
    seen = RowsSeen(GEO, None, "UTC" if case % 4 < 2 else None)
    ever, days, shown = defaultdict[str, float](float), defaultdict[Any, float](float), set[Any]()
    for _ in range(batches):
        rows = [
            (
                rng.choice([*PAYS, *NOBODY]),
                datetime(2026, 3, 1, 23, 50) + timedelta(minutes=rng.randrange(4000)),
                rng.choice([1 / 300, 1 / 900, 1 / 70]),
                ((rng.randrange(3), rng.randrange(2)), rng.choice("xy")),
            )
            for _ in range(rng.randrange(1, 40))
        ]
        who, when, costs, which = ([*each] for each in zip(*rows, strict=True))
        seen.add(who, when if dated else None, costs, which if repeats else None)
        for person, time, cost, report in rows:
            if person is None or person != person:
                continue
            if repeats:
                if (SHOWN[person], report) in shown:
                    continue
                shown.add((SHOWN[person], report))
            ever[PAYS[person]] += cost
            days[PAYS[person], time.date()] += cost
    wanted = [max(ever.values()), *([max(days.values())] if dated else [])]
    found = told(seen)
    assert len(found) == len(wanted)
    assert all(map(is_rounded_up, found, wanted)), (found, wanted)
    assert len({*ever.values()}) > 1, "all cost the same: the dearest is nobody"
