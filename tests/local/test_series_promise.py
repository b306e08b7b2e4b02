"""lw.Series on tables: the law of what comes out, window by window; prices; what is refused; post-processing."""

from __future__ import annotations

import itertools
import math
from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.flat_series import flat_series
from tests.statistical.gof import rejects, rejects_law

import leeward as lw
from leeward.errors import InexactError, InputError, LowUtilityError, RefusedError
from leeward.exact import exact, log
from leeward.local.series import ReadingGrid
from leeward.local.series._post_processing import bayes_guesses
from leeward.local.series._statement import statement
from leeward.mechanism import FiniteMechanism
from leeward.mechanism._series import SeriesMechanism
from leeward.noise import NormNoise, SeededBitsForTests

START = datetime(2026, 1, 1)


def series(**more: Any) -> lw.Series:
    given: dict[str, Any] = {
        "epsilon": "1",
        "unit": "100 W",
        "window": 4,
        "values": "W",
        "step": "1 W",
        "lower": "0 W",
        "upper": "5 kW",
        "start": "2026-01-01",
        "end": "2026-01-11",
        "every": "1 h",
        "bits": SeededBitsForTests(11),
    }
    return flat_series(**{**given, **more})


def table(meters: int, hours: int = 240, watts: int = 300) -> pd.DataFrame:
    rows = itertools.product(range(meters), range(hours))
    times = [(f"m{m:04}", START + timedelta(hours=h)) for m, h in rows]
    return pd.DataFrame(times, columns=["meter", "time"]).assign(watts=watts)


def perturbed(made: lw.Series, frame: Any) -> Any:
    return made.perturb(frame, time="time", value="watts", meter="meter")


# ---- the law of what comes out


def largest_moves(made: lw.Series, meters: int) -> np.ndarray:
    """The largest move of every window of every meter, from rows in shuffled order."""
    frame = table(meters).sample(frac=1, random_state=3, ignore_index=True)
    out = perturbed(made, frame).sort_values(["meter", "time"])
    moves = np.abs(out["watts"].to_numpy() - 300).reshape(-1, 4)
    return moves.max(axis=1)


@pytest.mark.statistical
def test_the_largest_move_of_a_window_has_the_exact_law() -> None:
    # the whole law of norm noise is that of its largest move; false alarm 1e-6 by exact binomial tests
    law = NormNoise("1/100", 4, one_sided=False)
    edges = [100, 200, 300, 400, 500, 700, 900]
    below = {edge: float(sum((law.radius_pmf(r) for r in range(edge + 1)), start=law.radius_pmf(-1))) for edge in edges}
    moves = largest_moves(series(), 60)
    assert rejects_law(moves, below.__getitem__, edges, 1e-6) is None
    # noise on each reading, and windows that start elsewhere, are found out
    assert rejects_law(largest_moves(series(noise="independent"), 60), below.__getitem__, edges, 1e-6) is not None
    shifted = series(start="2025-12-31T22:00", missing="keep")
    assert rejects_law(largest_moves(shifted, 60), below.__getitem__, edges, 1e-6) is not None


@pytest.mark.statistical
def test_each_reading_has_the_exact_law_under_each_distance() -> None:
    # false alarm 1e-6 for each of three
    for between, sharper in (("maximum", "5/4"), ("manhattan", "5/4"), ("hamming", "5/4")):
        given: dict[str, Any] = {"between": between, "noise": "independent"} | (
            {"unit": None} if between == "hamming" else {}
        )
        made = series(**given)
        rate = {"maximum": 1 / 400, "manhattan": 1 / 100, "hamming": 1 / 5000}[between]
        edges = [round(x / rate) for x in (-3, -2, -1, -0.5, 0, 0.5, 1, 2, 3)]

        def cdf(k: int, rate: float = rate) -> float:
            x = math.exp(-rate)
            return 1 - x ** (k + 1) / (1 + x) if k >= 0 else x**-k / (1 + x)

        moves = perturbed(made, table(60))["watts"].to_numpy() - 300
        assert rejects_law(moves, cdf, edges, 1e-6) is None
        wrong = perturbed(series(**given, epsilon=sharper), table(60))["watts"].to_numpy() - 300
        assert rejects_law(wrong, cdf, edges, 1e-6) is not None


@pytest.mark.statistical
def test_a_window_with_a_missing_reading_keeps_its_law() -> None:
    frame = table(240)
    frame = frame[frame["time"].dt.hour % 4 != 1].reset_index(drop=True)
    out = perturbed(series(missing="keep"), frame).sort_values(["meter", "time"])
    assert len(out) == len(frame)
    marginal = NormNoise("1/100", 4, one_sided=False).marginal()
    edges = [-500, -250, -100, 0, 100, 250, 500]
    moves = (out["watts"].to_numpy() - 300)[::3]  # one of each window, so that draws are independent
    assert rejects_law(moves, lambda k: float(marginal.cdf(k)), edges, 1e-6) is None
    assert rejects_law(moves * 5 // 4, lambda k: float(marginal.cdf(k)), edges, 1e-6) is not None


def test_meters_and_windows_get_noise_of_their_own() -> None:
    out = perturbed(series(), table(3)).pivot(index="time", columns="meter", values="watts").to_numpy()
    assert len(np.unique(out.ravel())) > 500  # of 720
    assert (out[:, 0] != out[:, 1]).mean() > 0.95


# ---- tables


def test_a_table_comes_back_in_its_order_and_kind_with_other_columns_as_they_were() -> None:
    frame = table(2).sample(frac=1, random_state=1).assign(town="x")
    with pytest.warns(UserWarning, match="as they are.*: town"):
        out = perturbed(series(), frame)
    assert list(out.columns) == ["meter", "time", "watts", "town"]
    assert out.index.equals(frame.index)
    assert out.drop(columns="watts").equals(frame.drop(columns="watts"))
    assert out["watts"].dtype == np.int64
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    with pytest.warns(UserWarning, match="town"):
        again = perturbed(series(), arrow)
    assert again.drop_columns("watts").equals(arrow.drop_columns("watts"))
    assert again["watts"].to_pylist() == out["watts"].tolist()  # the same seed


def test_missing_readings_stay_missing_and_outputs_are_on_the_grid() -> None:
    frame = table(1).astype({"watts": float})
    frame.loc[[3, 77], "watts"] = math.nan
    out = perturbed(series(missing="keep", step="50 W"), frame)["watts"]
    assert np.flatnonzero(out.isna()).tolist() == [3, 77]
    assert (out.dropna() % 50 == 0).all()


def test_kilowatts_are_the_same_promise_as_watts() -> None:
    frame = table(2).assign(watts=0.3)
    kilo = perturbed(series(values="kW"), frame)["watts"]
    assert (kilo * 1000).round().astype(int).tolist() == perturbed(series(), table(2))["watts"].tolist()


def test_only_tables_are_read() -> None:
    with pytest.raises(InputError, match="DataFrame"):
        perturbed(series(), [1, 2])


def test_seeded_noise_is_unfit_for_release() -> None:
    assert not series().fit_for_release
    assert series(bits=None).fit_for_release


# ---- prices


def test_prices_of_each_choice() -> None:
    norm, each, total, count = series().describe()
    assert [(o.between, o.noise, o.chosen) for o in (norm, each, total, count)] == [
        ("maximum", "norm", True),
        ("maximum", "independent", False),
        ("manhattan", "independent", False),
        ("hamming", "independent", False),
    ]
    prices = [(o.price.readings, o.price.window, o.price.total) for o in (norm, each, total, count)]
    quarter, fiftieth = exact("1/4"), exact("1/50")
    assert prices == [(1, 1, 60), (quarter, 1, 60), (1, 4, 240), (fiftieth, fiftieth * 4, fiftieth * 240)]
    assert [round(o.mean_error) for o in (norm, each, total, count)] == [250, 400, 100, 5000]


def test_a_period_that_is_no_whole_number_of_windows() -> None:
    made = series(window=7)
    assert (made.windows, made.price.total) == (35, 35)
    out = perturbed(made, table(1))
    assert len(out) == 240


@pytest.mark.parametrize(
    ("window", "per", "several"), [(24, None, False), (12, None, True), (24, "period", False), (24, "hour", True)]
)
def test_what_moves_several_windows_is_told_of_where_there_are_several(window: int, per: Any, several: bool) -> None:
    day = {"start": "2026-01-01", "end": "2026-01-02", "every": "1 h"}
    grid = {"lower": "0 kW", "upper": "8 kW", "step": "1 W"}
    series = flat_series(values="kW", within="100 W", factor=2, window=window, **day, **grid)
    told = statement(series, None if per is None else lw.Totals(series, per)).not_guaranteed
    assert any(text.startswith("More than ") for text in told) == several


def test_within_and_factor() -> None:
    made = series(epsilon=None, unit=None, within="0.2 kW", factor=2)
    assert made.epsilon == log(2)
    assert made.mechanism.rate == log(2) / 200


def test_snapping_is_paid_once_a_window_or_a_reading() -> None:
    made, each = series(step="10 W"), series(step="10 W", between="manhattan")
    rounding = 1 + Fraction(1, 2**20)
    assert made.snapping.window == exact("1/10") * rounding
    assert made.snapping.total == made.snapping.readings == exact(6) * rounding
    assert each.snapping.readings == each.snapping.total == exact(24) * rounding
    assert each.snapping.window == exact("4/10") * rounding


def test_a_series_is_shown_as_the_objects_that_it_is_made_of() -> None:
    for more in ({}, {"epsilon": None, "unit": None, "within": "0.2 kW", "factor": 2}, {"zone": "UTC", "smooth": 3}):
        made = series(**more)
        shown = [eval(repr(part), vars(lw.local.series) | {"Fraction": Fraction}) for part in parts(made)]
        assert shown == parts(made)
        assert all(repr(part) in repr(made) for part in parts(made))
        with pytest.raises(FrozenInstanceError):
            made.closeness.window = 9  # type: ignore[misc]


def parts(made: lw.Series) -> list[Any]:
    return [made.closeness, made.grid, made.schedule, made.post_processing]


# ---- what is refused


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"epsilon": 0.5}, InexactError),
        ({"epsilon": "0"}, InputError),
        ({"epsilon": "inf"}, RefusedError),
        ({"epsilon": "100000"}, RefusedError),  # shows readings
        ({"epsilon": "1/100000"}, LowUtilityError),
        ({"unit": None}, InputError),
        ({"unit": "10 Wh"}, InputError),
        ({"unit": "-10 W"}, InputError),
        ({"within": "10 W", "factor": "2"}, InputError),
        ({"epsilon": None, "unit": None, "within": "10 W"}, InputError),
        ({"epsilon": None, "unit": None, "within": "10 W", "factor": "1"}, InputError),
        ({"epsilon": None, "unit": None, "within": "10 W", "factor": "inf"}, InputError),
        ({"between": "hamming"}, InputError),  # it has no unit
        ({"window": 241}, InputError),
        ({"smooth": 2}, InputError),
        ({"clamp": "no"}, InputError),
        ({"prior": [("1", "0")]}, InputError),
        ({"prior": [("1", "-1")]}, InputError),
    ],
)
def test_promises_that_do_not_hold_or_say_nothing_are_refused(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        series(**given).check()


@pytest.mark.parametrize("epsilon", ["100000", "1/100000"])
def test_readings_that_would_be_shown_or_say_nothing_are_never_drawn_nor_described(epsilon: str) -> None:
    made = series(epsilon=epsilon)
    for use in (made.check, lambda: perturbed(made, table(1)), lambda: statement(made)):
        with pytest.raises((RefusedError, LowUtilityError), match=r"smaller ε|or publish totals"):
            use()


@pytest.mark.parametrize("factor", ["1", "1/2", "0", "-2", "inf"])
def test_a_closeness_is_refused_when_it_is_made(factor: str) -> None:
    with pytest.raises(InputError, match="above 1 and finite"):
        lw.local.series.Closeness(within="10 W", factor=factor)


# ---- post-processing


def test_a_moving_average_stays_within_a_meter_and_skips_what_is_missing() -> None:
    frame = table(2, 240).astype({"watts": float})
    frame.loc[frame["meter"] == "m0001", "watts"] = 4000.0
    frame.loc[5, "watts"] = math.nan
    plain = perturbed(series(missing="keep"), frame)
    smooth = perturbed(series(missing="keep", smooth=3), frame)  # the same seed: the same noise
    for meter, part in plain.groupby("meter"):
        mean = part["watts"].rolling(3, center=True, min_periods=1).mean()
        expected = np.floor(mean + 0.5)[part["watts"].notna()]
        found = smooth.loc[smooth["meter"] == meter, "watts"].dropna()
        assert found.tolist() == expected.tolist()
    assert smooth["watts"].isna().sum() == 1


def test_clamping_is_done_only_where_asked() -> None:
    assert perturbed(series(), table(2))["watts"].min() < 0
    out = perturbed(series(clamp=True, upper="1 kW"), table(2))["watts"]
    assert (out.min(), out.max()) == (0, 1000)


@pytest.mark.parametrize("noise", ["norm", "independent"])
def test_the_bayes_remap_is_the_exact_one(noise: Any) -> None:
    # the exact matrix of one reading of two, and leeward's exact remap, against the quick one
    held = ReadingGrid(unit="W", step="1 W", lower="0 W", upper="4 W")
    mechanism = SeriesMechanism("maximum", "3/4", window=2, noise=noise)
    if noise == "norm":
        marginal = NormNoise("3/4", 2, one_sided=False).marginal()
        chance, tail = marginal.pmf, marginal.tail
    else:
        chance, tail = mechanism.law.law.pmf, mechanism.law.law.tail  # type: ignore[union-attr]
    rows = {x: {z: tail(x) if z == 0 else tail(4 - x) if z == 4 else chance(z - x) for z in range(5)} for x in range(5)}
    prior = {0: "1/2", 1: "1/4", 2: "1/10", 3: "1/10", 4: "1/20"}
    best = lw.analysis.remap(FiniteMechanism.from_rows(rows), prior=prior, loss="absolute")
    pairs = [(Fraction(value), Fraction(chance)) for value, chance in prior.items()]
    assert best.guess is not None
    assert bayes_guesses(mechanism, held, pairs).tolist() == [best.guess[z] for z in range(5)]


def test_a_remap_helps_whoever_holds_the_prior() -> None:
    draw = np.random.default_rng(2)
    frame = table(20).assign(watts=draw.choice([100, 2000], 4800, p=[0.8, 0.2]))
    prior = [("100", "0.8"), ("2000", "0.2")]
    plain = perturbed(series(), frame)["watts"]
    better = perturbed(series(prior=prior), frame)["watts"]
    assert set(better) <= {100, 2000}
    assert np.abs(better - frame["watts"]).mean() < 0.5 * np.abs(plain - frame["watts"]).mean()


def test_a_remap_on_too_fine_a_grid_is_refused() -> None:
    with pytest.raises(InputError, match="larger step"):
        perturbed(series(step="1/10 W", prior=[("100", "1")]), table(1))


def test_the_marginal_of_norm_noise_in_floats_fits_its_sampler() -> None:
    from leeward.local.series._post_processing import _marginal

    mechanism = SeriesMechanism("maximum", "1/5", window=6)
    mass, tail = _marginal(mechanism, 0.2, 60)
    exactly = NormNoise("1/5", 6, one_sided=False).marginal()
    for k in (0, 1, 7, 40):
        assert mass[k] == pytest.approx(float(exactly.pmf(k)), rel=1e-9)
        assert tail[k] == pytest.approx(float(exactly.tail(k)), rel=1e-9)
    assert rejects([0], [float(mass[0])], 1) is None
