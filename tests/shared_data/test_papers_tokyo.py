"""ADP's figures on real check-ins (Foursquare, Tokyo; Yang et al. 2015), against figures worked out independently."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leeward.papers import VisitsFile
from leeward.papers._visits import chapter, histograms

_FOLDER = Path(os.environ.get("LEEWARD_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
_CHECKINS = VisitsFile(_FOLDER / "tokyo_checkins_20120404_08.parquet", "user", "venue", "jst")

pytestmark = pytest.mark.skipif(
    not _CHECKINS.path.is_file(), reason="the Tokyo check-ins are not here (they may not be bundled)"
)


def test_the_fullest_hour_gives_the_known_facts() -> None:
    hours = histograms(_CHECKINS.read(), "h")
    fullest = max(hours, key=lambda hour: sum(c * n for c, n in hours[hour].items()))
    assert str(fullest) == "2012-04-04 19:00:00"
    counts = {min(c, 5): 0 for c in hours[fullest]}
    for c, n in hours[fullest].items():
        counts[min(c, 5)] += n
    assert counts == {0: 4101, 1: 214, 2: 11, 3: 2, 4: 2, 5: 1}
    table = chapter(_CHECKINS).figures[0].data.set_index("in the hour from 2012-04-04 19:00")
    strict = table["safe = fewer than 3, α = 0"]
    assert strict["safe places"] == 4326
    assert strict["people"] == 255
    assert strict["right answers, ALap, corrected"] == pytest.approx(4089, abs=1)
    assert strict["right answers, (ε, δ)-DP, true optimum"] == pytest.approx(4.6, abs=0.05)
