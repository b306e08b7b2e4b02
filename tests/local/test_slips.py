"""A wrong box, unit or year is told, of files and in Python alike; and names of columns steer no terminal."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tests.local.test_series_job import frame
from tests.local.test_series_job import spec as series_spec

from leeward.errors import DataError, InputError, LeewardError
from leeward.local import check_job
from leeward.local.location import PlanarLaplace
from leeward.local.series import Closeness, ReadingGrid, Schedule, Series

EDGES = (116.2, 39.75, 116.6, 40.1)
GEO = PlanarLaplace(box=EDGES, within="200 m", factor=2, outside="clamp")
NAMES = {"latitude": "lat", "longitude": "lon"}
ESCAPE = "\x1b]0;owned\x07u"


def people(inside: int, beyond: int) -> pd.DataFrame:
    lat = np.append(np.full(inside, 39.9), np.full(beyond, 10.0))
    return pd.DataFrame({"lat": lat, "lon": np.full(inside + beyond, 116.4)})


def told(call: Callable[[], Any]) -> list[str]:
    """What is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(each.message) for each in caught]


def of_a_file(table: pd.DataFrame, folder: Path) -> list[str]:
    table.to_csv(folder / "p.csv", index=False)
    given: dict[str, Any] = {
        "perturb": {"kind": "location"},
        "data": {"table": "p.csv", **NAMES},
        "box": dict(zip(("west", "south", "east", "north"), EDGES, strict=True)),
        "protect": {"within": "200 m", "factor": "2", "outside": "clamp"},
    }
    return list(check_job(given, folder=folder).run(folder / "o.csv", lambda *_: None).notes)


WAYS: dict[str, Callable[[pd.DataFrame, Path], list[str]]] = {
    "a file": of_a_file,
    "a DataFrame": lambda table, _: told(lambda: GEO.perturb(table, **NAMES)),
    "a pyarrow Table": lambda table, _: told(lambda: GEO.perturb(pa.Table.from_pandas(table), **NAMES)),
    "arrays": lambda table, _: told(lambda: GEO.perturb_points(table.lat, table.lon)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("inside", "beyond"), [(0, 100), (1, 100), (0, 5000), (3, 400)])
def test_a_box_that_hardly_any_position_lies_in_is_refused(way: str, inside: int, beyond: int, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="Under 1 % of the positions lie in the public box"):
        WAYS[way](people(inside, beyond), tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("inside", "beyond"), [(0, 99), (1, 99), (2, 100), (5, 1)])
def test_else_it_is_told_how_many_were_moved_to_its_edge(way: str, inside: int, beyond: int, tmp_path: Path) -> None:
    said = " ".join(WAYS[way](people(inside, beyond), tmp_path)).lower()
    were = "1 position was" if beyond == 1 else f"{beyond:,} positions were"
    assert f"for the curator only: {were} outside the box and moved to its edge" in said
    assert "moved to its edge" not in " ".join(WAYS[way](people(inside, 0), tmp_path))


def test_one_position_is_moved_in_silence() -> None:
    """Of a stream of single reports, each warning would be a fact about one person."""
    assert told(lambda: GEO.perturb_one(10.0, 116.4)) == []


# ---- readings

CLOCK = Schedule("2026-03-28", "2026-03-30", "1 h", "Europe/Paris")
SERIES = Series(Closeness(within="100 W", factor=2, window=6), ReadingGrid("kW", "0 kW", "8 kW", "1 W"), CLOCK)


def readings_of_a_file(table: pd.DataFrame, folder: Path, **changes: Any) -> list[str]:
    table.to_parquet(folder / "r.parquet")
    job = check_job(series_spec(**changes), folder=folder)
    return list(job.run(folder / "o.parquet", lambda *_: None).notes)


READ: dict[str, Callable[[pd.DataFrame, Path], list[str]]] = {
    "a file": readings_of_a_file,
    "totals of a file": lambda table, folder: readings_of_a_file(table, folder, publish={"what": "totals"}),
    "a DataFrame": lambda table, _: told(lambda: SERIES.perturb(table, time="time", value="kw", meter="meter")),
}


@pytest.mark.parametrize("way", READ)
def test_a_wrong_unit_is_refused(way: str, tmp_path: Path) -> None:
    """Readings in W, given as kW: all but those of an idle meter are beyond the bounds."""
    watts = frame().assign(kw=lambda table: (table.kw + 1) * 1000)
    with pytest.raises(DataError, match="Under 1 % of the readings lie within the public bounds"):
        READ[way](watts, tmp_path)
    some = frame().assign(kw=lambda table: np.where(np.arange(len(table)) < 2, 1.0, 9.0))  # 2 of 141
    assert any("139 readings were beyond the bounds and moved to them" in text for text in READ[way](some, tmp_path))


@pytest.mark.parametrize("way", READ)
def test_a_wrong_year_is_refused(way: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No row of the table lies in the period"):
        READ[way](frame().assign(time=lambda table: table.time + pd.Timedelta(days=365)), tmp_path)
    more = pd.concat([frame(), frame().assign(time=lambda table: table.time + pd.Timedelta(days=365))])
    assert any("141 rows outside the period were left out" in text for text in READ[way](more, tmp_path))


def test_missing_readings_are_told_where_totals_hide_them(tmp_path: Path) -> None:
    few = frame().iloc[::3]
    with pytest.raises(DataError, match=r"Some readings are missing.*or add nothing to totals"):
        readings_of_a_file(few, tmp_path, publish={"what": "totals"})
    keep = {"values": {"missing": "keep"}}
    said = readings_of_a_file(few, tmp_path, publish={"what": "totals"}, **keep)
    assert (
        f"for the curator only: {141 - len(few)} readings of the period are missing, and add nothing to the totals"
        in said
    )
    assert not any("are missing" in text for text in readings_of_a_file(few, tmp_path, **keep))


# ---- names


@pytest.mark.parametrize("kind", ["positions", "readings"])
def test_a_name_that_goes_out_steers_no_terminal(kind: str) -> None:
    if kind == "positions":
        said = told(lambda: GEO.perturb(people(3, 0).assign(**{ESCAPE: "x"}), **NAMES))
    else:
        table = frame().assign(**{ESCAPE: "x"})
        said = told(lambda: SERIES.perturb(table, time="time", value="kw", meter="meter"))
    assert any(r"\x1b]0;owned\x07u" in text for text in said)
    assert not any(ESCAPE in text or "\x1b" in text for text in said)


def test_a_column_without_a_name_is_told(tmp_path: Path) -> None:
    """As `DataFrame.to_csv` writes an index."""
    table = people(2, 0).rename_axis("")
    said = of_a_file(table.reset_index(names=""), tmp_path)
    assert any("published as they are" in text and ": one without a name" in text for text in said)
    assert json.loads((tmp_path / "o.csv.release.json").read_text())["columns_as_they_are"] == [""]


def test_one_column_is_not_both() -> None:
    with pytest.raises(InputError, match="for both latitudes and longitudes"):
        GEO.perturb(people(2, 0), latitude="lat", longitude="lat")


@pytest.mark.parametrize("text", ["3_9.9", "39_9", "3९_.9"])
def test_an_underscore_is_no_part_of_a_number(text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="something else than numbers"):
        of_a_file(people(1, 0).assign(lat=text), tmp_path)


# ---- clocks, and arguments


def test_a_clock_that_changes_outside_the_period_refuses_nothing() -> None:
    """Local times that the clock shows twice, or never, are in doubt only where they may lie in the period."""
    series = Series(
        Closeness(within="100 W", factor=2),
        ReadingGrid("kW", "0 kW", "8 kW", "1 W"),
        Schedule("2026-10-25T03:00", "2026-10-25T05:00", "1 h", "Europe/Paris"),
    )
    rows = ["2026-03-29T02:30", "2026-10-24T12:00", "2026-10-25T03:00", "2026-10-25T04:00"]

    def kept(times: list[str]) -> list[Any]:
        table = pd.DataFrame({"t": pd.to_datetime(times), "kw": 1.0})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(series.perturb(table, time="t", value="kw").t.astype(str))

    assert kept(rows) == ["2026-10-25 03:00:00", "2026-10-25 04:00:00"]
    assert kept(["2026-10-25T01:30", "2026-10-25T02:30", *rows]) == kept(rows)
    night = Series(
        Closeness(within="100 W", factor=2),
        ReadingGrid("kW", "0 kW", "8 kW", "1 W"),
        Schedule("2026-10-25T00:30+02:00", "2026-10-25T02:30+02:00", "1 h", "Europe/Paris"),  # ends in the first 02:30
    )
    for doubtful in ("2026-10-25T02:00", "2026-10-25T02:29"):  # the first of the two is in the period
        table = pd.DataFrame({"t": pd.to_datetime(["2026-10-25T00:30", "2026-10-25T01:30", doubtful]), "kw": 1.0})
        with pytest.raises(DataError, match="shows twice, or never"):
            night.perturb(table, time="t", value="kw")


ODD: list[Any] = [None, True, 0, 2**70, 0.5, "", b"1", [], [1], {}, (), (1, 2), object(), [(1, 2, 3)], [("a", "b")]]
ODD += [{(39.9, 116.4): None}, {(39.9,): 1}, {("a", "b"): 1}, {(float("nan"), 1.0): 1}, [(0.0, 0.0)], 10**400]


@pytest.mark.parametrize("kind", ["plain", "best", "places", "cells"])
def test_odd_arguments_of_each_method_are_answered_or_told(kind: str) -> None:
    places = ([39.9, 39.95], [116.4, 116.45])
    made = {
        "plain": lambda: GEO,
        "best": lambda: GEO.best_over(*places)[0],
        "places": lambda: GEO.to_places(*places),
        "cells": lambda: GEO.to_h3(8),
    }
    geo, prior, wrong = made[kind](), {(39.9, 116.4): 1}, []
    calls: list[Callable[[Any], Any]] = [
        lambda odd: geo.posterior(odd, 116.4, prior),
        lambda odd: geo.posterior(39.9, odd, prior),
        lambda odd: geo.posterior(39.9, 116.4, odd),
        lambda odd: geo.picture(odd),
        lambda odd: geo.perturb_one(odd, 116.4),
        lambda odd: geo.perturb_points(odd, odd),
        lambda odd: geo.to_places(odd, places[1]),
        lambda odd: geo.to_places(*places, odd),
        lambda odd: geo.best_over(odd, places[1]),
        lambda odd: geo.to_h3(odd),
        lambda odd: geo.perturb(odd, **NAMES),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for odd in ODD:
            for number, call in enumerate(calls):
                try:
                    call(odd)
                except LeewardError:
                    continue
                except Exception as error:
                    wrong.append(f"call {number} of {odd!r:.40}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)
