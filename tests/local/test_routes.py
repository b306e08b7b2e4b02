"""The ways to a total that a dry run compares: each deviation is that of what would be drawn, at one promise."""

from __future__ import annotations

import itertools
import math
from typing import Any, get_args

import numpy as np
import pytest
from tests.flat_series import flat_series
from tests.local.test_series_job import spec

from leeward.exact import exact
from leeward.local import check_job
from leeward.local.series import Totals, TotalsTree
from leeward.local.series._documents import SeriesStatement
from leeward.local.series._routes import Route, Way, routes
from leeward.mechanism import SeriesMechanism
from leeward.noise import SeededBitsForTests

CLOCK = {"start": "2026-03-01", "end": "2026-03-03", "every": "6 h"}
GRID = {"lower": "0 kW", "upper": "8 kW", "step": "1 W"}


def totals(between: str, per: Any = "day", epsilon: str = "1") -> Totals:
    unit = {} if between == "hamming" else {"unit": "1 kW"}
    return Totals(flat_series(values="kW", between=between, epsilon=epsilon, **unit, **CLOCK, **GRID), per)


def by_way(found: list[Route], span: str) -> dict[Way, Route]:
    return {route.way: route for route in found if route.span == span}


def test_the_deviation_of_a_reading_is_that_of_its_law() -> None:
    """Norm noise is summed over a box by hand, of weight e^(−max/2); noise on each reading has a variance of its own."""
    box = range(-120, 121)
    weights = {(a, b): math.exp(-max(abs(a), abs(b)) / 2) for a, b in itertools.product(box, repeat=2)}
    total = math.fsum(weights.values())
    norm = math.fsum(weight * z[0] ** 2 for z, weight in weights.items()) / total
    assert math.fsum(weight * z[0] * z[1] for z, weight in weights.items()) == pytest.approx(0, abs=1e-9)
    made = SeriesMechanism("maximum", 2, window=2, step="1/4")
    assert made.typical_deviation() == pytest.approx(math.sqrt(norm) / 4, rel=1e-9)
    apart = SeriesMechanism("maximum", 2, window=2, step="1/4", noise="independent")
    law = apart.law.accuracy()  # type: ignore[union-attr]
    assert apart.typical_deviation() == pytest.approx(math.sqrt(float(law.variance())) / 4, rel=1e-9)
    fine = [SeriesMechanism("maximum", rate, window=60).typical_deviation() for rate in ("0.000101", "0.000099")]
    assert fine[0] * 0.000101 == pytest.approx(fine[1] * 0.000099, rel=1e-3)


@pytest.mark.parametrize("way", ["readings", "norm readings"])
def test_readings_added_up_are_as_far_off_as_is_told(way: Way) -> None:
    """Of 20,000 days; the error of the deviation is under 1 %, and 6 % is more than six of it: 1 run in 10⁸ fails."""
    told = by_way(routes(totals("maximum")), "day")[way].deviation
    noise: Any = {"readings": "independent", "norm readings": "norm"}[way]
    series = totals("maximum").series.mechanism
    each = SeriesMechanism("maximum", series.epsilon, window=4, noise=noise, step=series.step)
    noisy = each.release(np.zeros((20_000, 4), np.int64), SeededBitsForTests(3)).sum(axis=1)
    assert noisy.std() * 0.006 == pytest.approx(told, rel=0.06)  # a step of 1 W for six hours, in kWh
    assert noisy.std() * 0.006 != pytest.approx(told / 2, rel=0.06)  # as if errors of a day cancelled


@pytest.mark.parametrize("between", ["maximum", "manhattan", "hamming"])
def test_every_way_to_a_day_keeps_one_promise(between: str) -> None:
    """The noise of each route is that of one price, worked out by hand from ε = 1 for 1 kW, or for a reading of 8 kW."""
    made = by_way(routes(totals(between, epsilon="100" if between == "hamming" else "1")), "day")
    rate = {"maximum": 1 / 4, "manhattan": 1.0, "hamming": 100 / 8}[between] / 1000  # for each step
    deviation = 0.006 / (math.sqrt(2) * math.sinh(rate / 2))
    assert made["totals"].deviation == pytest.approx(deviation, rel=1e-9)
    assert made["readings"].deviation == pytest.approx(2 * deviation, rel=1e-9)  # √4 of them
    assert ("norm readings" in made) == (between == "maximum")
    assert [route.way for route in made.values() if route.chosen] == ["totals"]
    tree = TotalsTree(totals(between, epsilon="100" if between == "hamming" else "1"), ("day", "month"))
    assert made["tree"].levels == ("day", "month")  # hours have no readings of their own every six hours
    assert made["tree"].deviation == pytest.approx(tree.errors()[0].consistent)
    assert {route.way for route in routes(tree) if route.chosen} == {"tree"}
    assert {route.span for route in routes(tree)} == {"day", "month"}
    assert set(made) <= set(get_args(Way))


@pytest.mark.parametrize(("every", "levels"), [("1 h", 3), ("90 min", 2), ("30 min", 3)])
def test_a_tree_has_hours_where_readings_are_due_hourly_or_oftener(every: str, levels: int) -> None:
    clock = {**CLOCK, "every": every}
    series = flat_series(values="kW", between="manhattan", epsilon="1", unit="1 kW", **clock, **GRID)
    assert by_way(routes(Totals(series)), "day")["tree"].levels == ("hour", "day", "month")[-levels:]


def test_the_error_that_is_told_of_totals_is_that_of_the_longest_span() -> None:
    """Of two days of four readings and of one, whose readings move together by as much."""
    clock = {"start": "2026-03-01", "end": "2026-03-03T06:00", "every": "6 h"}
    made = Totals(flat_series(values="kW", between="maximum", epsilon="1", unit="1 kW", **clock, **GRID))
    assert [span.readings for span in made.spans] == [4, 4, 1]
    assert made.expected_error() == made.expected_error(4) > made.expected_error(1)


def test_the_dry_run_compares_the_ways_to_what_is_asked() -> None:
    protect = {"between": "manhattan", "epsilon": "1", "unit": "1 kW"}
    given = spec(publish={"what": "totals", "per": "day"})
    given["protect"] = protect
    job = check_job(given)
    told = [text for title, text in job.facts() if title == "same promise"]
    made = job.statement()
    assert isinstance(made, SeriesStatement)
    assert told == [route.text for route in made.routes]
    assert [route.way for route in made.routes] == ["readings", "totals", "tree"]
    assert (
        told[1] == "the total of one day from noise on it, and no other totals (chosen): standard deviation 1.414 kWh"
    )
    assert made.routes[0].deviation == pytest.approx(math.sqrt(24) * made.routes[1].deviation, rel=1e-5)
    assert exact(made.price.manhattan) == 1
    assert check_job(spec()).statement().routes == ()


def test_of_a_group_it_is_told_that_noise_on_readings_adds_up_over_meters() -> None:
    given = spec(publish={"what": "totals", "per": "day", "by": "street"})
    told = [each for title, each in check_job(given).facts() if title == "same promise"]
    more = " for a group of one meter, √n times that for n"
    assert [each.endswith(more) for each in told] == ["noisy readings added up" in each for each in told]
    assert told[0].endswith(more)


def test_a_tree_that_would_be_refused_is_no_way() -> None:
    """At a rate that leaves a day's total within ten ranges on average, a third of it does not."""
    made = routes(totals("maximum", epsilon="1/70"))
    assert "tree" not in by_way(made, "day")
