"""No true value hangs on what `perturb` returns: all memory that can be reached from it is searched for their bytes.

Columns of one type lie in one block of pandas, and each of them shows the whole block (``.base``): what was replaced after
the block was copied is still there. So everything is gone through that Python reaches: referents, the arrays that an array
is a part of, the buffers of Arrow, the coordinates of geometries.

No true value can be there by chance: true floats have digits that no grid has, true integers lie between two grid points.
Of 32 bits a pattern of four bytes is somewhere in the few kilobytes searched once in some 10⁵ runs; of 64 bits never.
"""

from __future__ import annotations

import gc
import types
import warnings
from collections.abc import Iterator
from typing import Any

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import leeward as lw
import leeward.local.series as local
from leeward.tables import _bare

N = 24
RNG = np.random.default_rng(5)
LAT, LON = 35.55 + RNG.random(N) * 0.3, 139.55 + RNG.random(N) * 0.4
FRACTIONS, ODD = RNG.random(N) * 7, RNG.integers(10, 3_990, N) * 2 + 1
TIMES = pd.date_range("2026-03-28", periods=N, freq="h")
GEO = lw.PlanarLaplace(box=(139.5, 35.5, 140.0, 35.9), within="200 m", factor=2, missing="keep")

WHOLE = lw.PlanarLaplace(box=(130.1, 30, 150, 45), within="20 km", factor=2, missing="keep")
"""Where whole degrees can be positions: reports have seven decimals, and are whole once in 10^7.

The middle of the box, where the grid has its origin, and its edges are no degrees that the frames hold.
"""


def series(unit: str) -> lw.Series:
    """In watts only even readings are published, in kilowatts multiples of 2 W."""
    grid = local.ReadingGrid(unit, "0 kW", "8 kW", "2 W")
    return lw.Series(local.Closeness(within="100 W", factor=2, window=4), grid, DAY, missing="keep")


DAY = local.Schedule("2026-03-28", "2026-03-29", "1 h")
OPAQUE = (types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.CodeType)


def parts(held: Any) -> list[Any]:
    """What an object leads to, beyond what the garbage collector knows."""
    match held:
        case np.ndarray():
            return [held.base, *(held.ravel().tolist() if held.dtype == object else [])]
        case memoryview():
            return [held.obj]
        case pa.Table():
            return [*held.columns, bytes(held.schema.serialize())]
        case pa.ChunkedArray():
            return list(held.chunks)
        case pa.ExtensionArray():
            return [held.storage]
        case pa.Array():
            inner = [held.dictionary] if pa.types.is_dictionary(held.type) else []
            return [*inner, *(each for each in held.buffers() if each is not None)]
        case pa.Buffer():
            return [held.parent]
    return gc.get_referents(held)


def reached(made: Any) -> Iterator[Any]:
    seen, todo = dict[int, Any](), [made]
    while todo:
        held = todo.pop()
        if held is None or id(held) in seen or isinstance(held, OPAQUE):
            continue
        seen[id(held)] = held
        yield held
        todo += parts(held)


def memory(held: Any) -> bytes:
    match held:
        case np.ndarray() if held.dtype != object:
            return np.ascontiguousarray(held).tobytes()
        case pa.Buffer():
            return bytes(held)
        case bytes() | bytearray():
            return bytes(held)
        case float():
            return np.float64(held).tobytes()
        case int() if abs(held) < 2**63:
            return np.int64(held).tobytes()
        case shapely.Geometry():
            return shapely.get_coordinates(held).tobytes() + held.wkb
    return b""


def hanging(made: Any, true: np.ndarray[Any, Any]) -> int:
    """How many of the true values are in the memory that is reached from an object, as they were given."""
    raw = b"|".join(map(memory, reached(made)))
    return sum(value.tobytes() in raw for value in true)


BESIDE: dict[str, Any] = {
    "none": None,
    "floats": RNG.random(N),
    "float32": RNG.random(N).astype(np.float32),
    "integers": np.arange(N) + 10**6,
    "objects": np.array(["x"] * N, object),
    "booleans": np.arange(N) % 2 == 0,
    "times": TIMES,
    "zoned": TIMES.tz_localize("UTC"),
    "lengths": pd.timedelta_range("1s", periods=N),
    "periods": pd.period_range("2026", periods=N, freq="D"),
    "intervals": pd.interval_range(0, N),
    "categories": pd.Categorical(["a", "b"] * (N // 2)),
    "Int64": pd.array(range(N), "Int64"),
    "Float64": pd.array(RNG.random(N), "Float64"),
    "text": pd.array(["x"] * N, "string"),
    "sparse": pd.arrays.SparseArray([0.0, 1.0] * (N // 2)),
    "arrow": pd.array(RNG.random(N), "float64[pyarrow]"),
}
"""What else a frame holds."""

TRUE: dict[str, Any] = {
    "float64": "float64",
    "float32": "float32",
    "Float64": "Float64",
    "Float32": "Float32",
    "arrow": "float64[pyarrow]",
}
WHOLE_TRUE = ("int64", "int32", "uint64", "Int64", "UInt32", "int64[pyarrow]")


def bare_array(column: Any) -> np.ndarray[Any, Any]:
    """The values of a column in the type that its memory has."""
    kind = str(column.dtype).removesuffix("[pyarrow]").lower()
    return column.to_numpy(kind)


def frames(first: str, true: Any, beside: Any, second: str, also: Any) -> Iterator[pd.DataFrame]:
    """Frames of three columns, in every order and layout of memory."""
    held = {first: true, second: also} | ({} if beside is None else {"beside": beside})
    frame = pd.DataFrame(held)
    yield frame
    yield frame[frame.columns[::-1]]
    yield frame.copy()
    if beside is not None:
        yield frame[[first, "beside", second]].copy()
        yield frame[["beside", first, second]].assign(more=1.5, again=beside)


@pytest.fixture(autouse=True)
def _no_warnings() -> None:
    warnings.simplefilter("ignore", UserWarning)


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("kind", TRUE)
def test_positions(kind: str, beside: str) -> None:
    lat, lon = pd.array(LAT, TRUE[kind]), pd.array(LON, TRUE[kind])
    true = np.concatenate([bare_array(pd.Series(each)) for each in (lat, lon)])
    for frame in frames("lat", lat, BESIDE[beside], "lon", lon):
        assert hanging(frame, true) == len(true), "the search finds what is there"
        made = GEO.perturb(frame, latitude="lat", longitude="lon")
        assert made.columns.equals(frame.columns)
        assert hanging(made, true) == 0


@pytest.mark.parametrize("kind", WHOLE_TRUE)
@pytest.mark.parametrize("beside", ["integers", "Int64", "floats"])
def test_whole_degrees(kind: str, beside: str) -> None:
    north, east = pd.array(np.arange(N) % 12 + 32, kind), pd.array(np.arange(N) % 16 + 133, kind)
    frame = pd.DataFrame({"lat": north, "beside": BESIDE[beside], "lon": east})
    true = np.unique(np.concatenate([bare_array(frame["lat"]), bare_array(frame["lon"])]))
    if true.itemsize < 8 or beside != "floats":  # small whole numbers are all over the memory
        true = true.astype(float)
    made = WHOLE.perturb(frame, latitude="lat", longitude="lon")
    assert hanging(made[["lat", "lon"]], true) == 0
    base = made["beside"].array
    for held in reached(base):
        assert not isinstance(held, np.ndarray) or held.size <= N or not np.isin(frame["lat"], held).all()


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("kind", [*TRUE, *WHOLE_TRUE])
def test_readings(kind: str, beside: str) -> None:
    whole = kind in WHOLE_TRUE
    values = pd.array(ODD if whole else FRACTIONS, kind if whole else TRUE[kind])
    true = bare_array(pd.Series(values))
    for frame in frames("v", values, BESIDE[beside], "t", TIMES):
        assert hanging(frame, true) == len(true)
        made = series("W" if whole else "kW").perturb(frame, time="t", value="v")
        assert len(made) == N
        assert hanging(made, true) == 0


@pytest.mark.parametrize("beside", ["floats", "integers", "objects", "times"])
def test_rows_that_are_left_out_or_missing(beside: str) -> None:
    """Of a series only half of the rows lie in the period; of those some have no reading."""
    times = pd.date_range("2026-03-27 12:00", periods=N, freq="h")
    frame = pd.DataFrame({"v": FRACTIONS, "t": times, "beside": BESIDE[beside]})
    made = series("kW").perturb(frame, time="t", value="v")
    assert len(made) == N // 2
    assert hanging(made, FRACTIONS) == 0
    if beside == "floats":
        held = frame["beside"].to_numpy()
        assert hanging(made, held[: N // 2]) == 0 < hanging(made, held[N // 2 :])
    frame.loc[N - 1, "v"] = np.nan
    assert hanging(series("kW").perturb(frame, time="t", value="v"), FRACTIONS) == 0
    frame = pd.DataFrame({"lat": LAT, "beside": BESIDE[beside], "lon": LON})
    frame.loc[3, "lat"] = np.nan
    made = GEO.perturb(frame, latitude="lat", longitude="lon")
    assert made["lat"].isna().sum() == made["lon"].isna().sum() == 1
    assert hanging(made, np.concatenate([LAT, LON])) == 0


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("crs", [4326, 3857, 2451])
def test_geometries(beside: str, crs: int) -> None:
    also = {} if BESIDE[beside] is None else {"beside": BESIDE[beside]}
    frame = gpd.GeoDataFrame(also, geometry=gpd.points_from_xy(LON, LAT), crs=4326).to_crs(crs)
    assert len(frame.sindex) == N
    true = np.concatenate([LAT, LON, frame.geometry.x, frame.geometry.y])
    for given in (frame, frame[frame.columns[::-1]], frame.iloc[: N // 2]):
        there = hanging(given, true)
        assert there >= len(given) * 2
        made = GEO.perturb(given)
        assert made.geometry.name == "geometry"
        assert made.crs == given.crs
        assert hanging(made, true) == 0


def test_one_block_that_the_caller_made() -> None:
    block = np.column_stack([LAT, LON, RNG.random(N)])
    frame = pd.DataFrame(block, columns=["lat", "lon", "z"], copy=False)
    made = GEO.perturb(frame, latitude="lat", longitude="lon")
    assert hanging(made, block[:, :2].ravel()) == 0
    assert (block[:, 0] == LAT).all(), "what was given is not changed"
    part = pd.DataFrame(block[::2], columns=["lat", "lon", "z"], copy=False)
    assert hanging(GEO.perturb(part, latitude="lat", longitude="lon"), block[:, :2].ravel()) == 0
    assert hanging(GEO.perturb(part, latitude="lat", longitude="lon"), block[1::2, 2]) == 0


@pytest.mark.parametrize("beside", ["floats", "integers", "categories", "text"])
def test_arrow(beside: str) -> None:
    also = {"beside": pa.array(BESIDE[beside])}
    for table in (pa.table({"lat": LAT, "lon": LON} | also), pa.table(also | {"lon": LON, "lat": LAT}).slice(3)):
        assert hanging(table, LAT[3:]) == N - 3
        assert hanging(GEO.perturb(table, latitude="lat", longitude="lon"), np.concatenate([LAT, LON])) == 0
    for values, unit in ((FRACTIONS, "kW"), (ODD, "W")):
        table = pa.table({"t": TIMES, "v": values} | also)
        assert hanging(series(unit).perturb(table, time="t", value="v"), values) == 0
        holes = table.set_column(1, "v", pa.array(values, mask=np.arange(N) % 3 == 0))
        assert hanging(holes, values) == N
        assert hanging(series(unit).perturb(holes, time="t", value="v"), values) == 0


def test_arrays() -> None:
    north, east = GEO.perturb_points(LAT, LON)
    assert hanging([north, east], np.concatenate([LAT, LON])) == 0


@pytest.mark.parametrize("kind", ["positions", "readings"])
def test_the_search_finds_what_was_replaced_after_the_copy(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake itself: the block is copied first, and then its columns are replaced."""
    right = _bare.bare_frame
    monkeypatch.setattr("leeward.tables._frames.bare_frame", lambda table, rows, _: right(table, rows))
    if kind == "positions":
        frame = pd.DataFrame({"lat": LAT, "beside": BESIDE["floats"], "lon": LON})
        assert hanging(GEO.perturb(frame, latitude="lat", longitude="lon"), LAT) == N
    else:
        frame = pd.DataFrame({"v": FRACTIONS, "t": TIMES, "beside": BESIDE["floats"]})
        assert hanging(series("kW").perturb(frame, time="t", value="v"), FRACTIONS) == N
