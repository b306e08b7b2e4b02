"""Grids of squares and hexagons, and the digest of a public list."""

import math

import h3
import numpy as np
import pyarrow as pa
import pytest
from tests.visited import open_visits

from leeward.engine import read_places
from leeward.errors import DataError, SpecError
from leeward.query import count_visitors, grid, places, visits

TOKYO = {"west": 139.6, "south": 35.6, "east": 139.65, "north": 35.63}


def count(latitudes, longitudes, box):
    rows = range(len(latitudes))
    data = pa.table({"who": rows, "when": pa.array(rows, pa.timestamp("s")), "lat": latitudes, "lon": longitudes})
    seen = visits(data, person="who", time="when", latitude="lat", longitude="lon")
    with open_visits(seen, read_places(box)) as table:
        return table.count(count_visitors(seen, box, start="1970-01-01", end="1980-01-01"))


def points(size=400, seed=3):
    """Points in and around the box, some on its edges."""
    random = np.random.default_rng(seed)
    north = TOKYO["south"] - 0.01 + 0.05 * random.random(size)
    east = TOKYO["west"] - 0.01 + 0.07 * random.random(size)
    north[:3], east[3:5] = [TOKYO["south"], TOKYO["north"], TOKYO["south"]], [TOKYO["west"], TOKYO["east"]]
    return north, east


def in_box(north, east):
    return TOKYO["south"] <= north < TOKYO["north"] and TOKYO["west"] <= east < TOKYO["east"]


def test_squares_are_named_from_the_south_west_and_listed_row_by_row():
    box = grid(**TOKYO, metres=700)
    listed = read_places(box)
    # 0.03° of latitude are 3,336 m: five rows of 700 m; 0.05° of longitude are 4,520 m there: seven columns.
    assert listed.keys.to_pylist() == [f"r{row}c{column}" for row in range(5) for column in range(7)]
    middles = listed.to_arrow().to_pylist()
    assert (middles[1]["longitude"] - middles[0]["longitude"]) * 111_195.08 * math.cos(math.radians(35.615)) == (
        pytest.approx(700, abs=0.1)
    )
    assert (middles[7]["latitude"] - middles[0]["latitude"]) * 111_195.08 == pytest.approx(700, abs=0.1)
    assert all(in_box(middle["latitude"], middle["longitude"]) for middle in middles)


@pytest.mark.parametrize("metres", [37, 700, 100_000])
def test_each_point_of_the_box_falls_into_the_square_around_it(metres):
    box = grid(**TOKYO, metres=metres)
    north, east = points()
    found = count(north, east, box)
    per_row = metres / (math.pi * 6_371_008.8 / 180)
    per_column = per_row / math.cos(math.radians((TOKYO["south"] + TOKYO["north"]) / 2))
    names = [
        f"r{int((lat - TOKYO['south']) / per_row)}c{int((lon - TOKYO['west']) / per_column)}"
        for lat, lon in zip(north, east, strict=True)
        if in_box(lat, lon)
    ]
    counts = dict(zip(read_places(box).keys.to_pylist(), found.counts.tolist(), strict=True))
    assert {name: people for name, people in counts.items() if people} == {n: names.count(n) for n in set(names)}
    assert 50 < len(names) < 350
    assert found.dropped["unknown_place"] == len(north) - len(names)


@pytest.mark.parametrize("resolution", [4, 8])
def test_each_point_of_the_box_falls_into_its_hexagon(resolution):
    box = grid(**TOKYO, h3=resolution)
    north, east = points()
    found = count(north, east, box)
    cells = [h3.latlng_to_cell(lat, lon, resolution) for lat, lon in zip(north, east, strict=True)]
    listed = read_places(box)
    names = [cell for cell in cells if cell in listed.keys.to_pylist()]
    assert {cell for cell, *here in zip(cells, north, east, strict=True) if in_box(*here)} <= set(names)
    counts = dict(zip(listed.keys.to_pylist(), found.counts.tolist(), strict=True))
    assert {name: people for name, people in counts.items() if people} == {n: names.count(n) for n in set(names)}
    assert listed.keys.to_pylist() == sorted(listed.keys.to_pylist())
    middle = listed.to_arrow().to_pylist()[0]
    assert (middle["latitude"], middle["longitude"]) == h3.cell_to_latlng(middle["place"])


def within(cell):
    """Points well inside an H3 cell, one towards each corner: a cell is convex, so the way to a corner is inside it."""

    def ahead(latitude, longitude):
        up, across = math.radians(latitude), math.radians(longitude)
        return np.array([math.cos(up) * math.cos(across), math.cos(up) * math.sin(across), math.sin(up)])

    middle = ahead(*h3.cell_to_latlng(cell))
    for corner in h3.cell_to_boundary(cell):
        x, y, z = middle + 0.9 * (ahead(*corner) - middle)
        yield math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


CUT = {
    "a town, large cells": {**TOKYO, "h3": 4},
    "a town": {**TOKYO, "h3": 8},
    "a yard": {"west": 8.54, "south": 47.37, "east": 8.5401, "north": 47.3701, "h3": 15},
    "half of the Earth": {"west": 0, "south": -40, "east": 179, "north": 40, "h3": 0},
    "west of the date line": {"west": 179, "south": -18, "east": 180, "north": -17, "h3": 5},
    "east of the date line": {"west": -180, "south": 64, "east": -179.5, "north": 65, "h3": 5},
    "the north pole": {"west": 0, "south": 88, "east": 90, "north": 90, "h3": 3},
    "the south pole": {"west": -170, "south": -90, "east": 0, "north": -88.5, "h3": 2},
}


@pytest.mark.parametrize("box", CUT.values(), ids=CUT)
def test_whoever_is_in_a_listed_hexagon_counts_also_beyond_the_box(box):
    """A cell is published under its own id, so "at most 2 people were there" is about all of it."""
    area = grid(**box)
    listed = read_places(area).keys.to_pylist()
    crowd = [(cell, *point) for cell in listed for point in within(cell)]
    _, north, east = zip(*crowd, strict=True)
    found = count(north, east, area)
    assert found.counts.tolist() == [len(h3.cell_to_boundary(cell)) for cell in listed]
    beyond = [not (box["south"] <= lat < box["north"] and box["west"] <= lon < box["east"]) for _, lat, lon in crowd]
    assert any(beyond)
    assert found.rows_kept == len(crowd)


def test_an_interrupt_while_hexagons_are_worked_out_is_one_and_no_damage_of_the_data(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("h3.api.basic_int.latlng_to_cell", stopped)
    with pytest.raises(KeyboardInterrupt):
        count(pa.array([35.6]), pa.array([139.6]), grid(**TOKYO, h3=4))


def test_what_is_no_point_on_the_earth_is_in_no_hexagon():
    box = grid(west=170, south=-10, east=180, north=10, h3=2)
    north = [0.0, 0.0, 0.0, 0.0, 90.1, -91.0, 5.0, math.inf]
    east = [175.0, 180.0, -180.0, -185.0, 175.0, 175.0, 535.0, 175.0]
    found = count(pa.array(north), pa.array(east), box)
    assert (found.rows_kept, found.dropped["unreadable_place"]) == (3, 5)


@pytest.mark.parametrize("cells", [{"metres": 50_000}, {"h3": 3}])
def test_longitudes_from_0_to_360_are_not_taken_to_lie_outside_the_box(cells):
    """Else what lies west of Greenwich would have no visitors."""
    found = count(
        pa.array([0.5, 0.5, 0.5, 0.5]),
        pa.array([0.5, 359.5, -0.5, 10.0]),
        grid(west=-1, south=0, east=1, north=1, **cells),
    )
    assert (found.rows_kept, found.dropped["unreadable_place"], found.dropped["unknown_place"]) == (2, 1, 1)


@pytest.mark.parametrize("box", [grid(**TOKYO, metres=500), grid(**TOKYO, h3=7)])
def test_missing_and_infinite_coordinates_have_one_meaning(box):
    nan, inf = float("nan"), float("inf")
    north = [35.61, None, nan, 35.61, inf, -inf, 1e300]
    east = [139.61, 139.61, 139.61, nan, 139.61, 139.61, -1e300]
    found = count(pa.array(north), pa.array(east), box)
    assert (found.rows_kept, found.dropped["null_place"], found.dropped["unreadable_place"]) == (1, 3, 3)


@pytest.mark.sweep
def test_coordinates_may_be_texts_of_numbers_and_nothing_else():
    box = grid(**TOKYO, metres=500)
    assert count(["35.61", None], ["139.61", "139.61"], box).rows_kept == 1
    found = count(["35.61", "SECRET", None], ["SECRET", "139.61", "SECRET"], box)
    assert (found.rows_kept, found.dropped["unreadable_place"]) == (0, 3)
    with pytest.raises(DataError, match="column 'lat'"):
        count(pa.array([True]), [139.61], box)


def test_a_million_hexagons_are_refused_before_they_are_listed():
    with pytest.raises(SpecError, match="million"):
        read_places(grid(west=0, south=0, east=90, north=60, h3=15))


def listed(keys):
    return read_places(places(pa.table({"p": keys}), place="p"))


def test_the_digest_of_a_list_covers_its_type_order_and_every_key():
    digests = [
        listed(keys).digest()
        for keys in (["a", "b"], ["b", "a"], ["a", "b", "c"], ["ab", ""], ["", "ab"], ["1", "2"], [1, 2], [1.0, 2.0])
    ]
    assert len(set(digests)) == len(digests)
    assert listed(pa.array([1, 2], pa.int8())).digest() == listed([1, 2]).digest()
    assert listed(pa.array(["a", "b"], pa.large_string()).dictionary_encode()).digest() == listed(["a", "b"]).digest()


def test_the_list_keeps_its_type_and_order_and_carries_its_columns():
    data = pa.table(
        {"p": pa.array([5, 3, 9], pa.int16()), "n": ["five", None, "nine"], "y": [1, 2, None], "x": [4, 5, 6]}
    )
    table = read_places(places(data, place="p", name="n", latitude="y", longitude="x")).to_arrow()
    assert table.column_names == ["place", "latitude", "longitude", "name"]
    assert table.schema.field("place").type == pa.int16()
    assert table.to_pylist()[2] == {"place": 9, "latitude": None, "longitude": 6.0, "name": "nine"}


@pytest.mark.parametrize("role", ["place", "name"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("dictionary", [False, True])
def test_bytes_that_are_no_text_are_refused_by_the_column_s_name(role, kind, dictionary):
    """A table in memory may hold them; they ended in a UnicodeDecodeError that printed the bytes, or on the map."""
    wide = np.int64 if kind == pa.large_string() else np.int32
    texts = pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(wide([0, 7])), pa.py_buffer(b"SECRET\xff")])
    if dictionary:
        texts = pa.DictionaryArray.from_arrays(pa.array([0]), texts)
    columns = {"place": pa.array(["a"]), "name": pa.array(["A"]), role: texts}
    with pytest.raises(DataError, match="UTF-8") as refused:
        read_places(places(pa.table(columns), place="place", name="name"))
    assert "SECRET" not in str(refused.value)


@pytest.mark.sweep
def test_rounding_puts_no_point_of_the_box_outside_its_last_row_and_column():
    """Just inside the northern and eastern edges, the quotient may round up to the number of rows or of columns."""
    cell, met = 1000 / (math.pi * 6_371_008.8 / 180), 0
    for rows in (1, 2, 3, 7, 20, 39):
        # Longer than so many rows by less than is worth a row.
        box = grid(west=0.0, south=0.0, east=cell / 2, north=cell * rows * (1 + 1e-12), metres=1000)
        north = math.nextafter(box.north, 0)
        assert box.shape == (rows, 1)
        if north / box.step[0] >= rows:
            met += 1
            assert count([north], [0.0], box).counts.tolist() == [0] * (rows - 1) + [1]
    assert met >= 4


@pytest.mark.parametrize(
    ("keys", "because"),
    [
        ([1.5, math.nan], "1 row without a place"),
        ([0.0, -0.0], "repeats places, in 1 row"),
        ([1.5, 2.5, 1.5], "repeats places, in 1 row"),
    ],
    ids=str,
)
def test_keys_that_are_no_number_or_equal_are_refused_in_a_list(keys, because):
    for kind in (pa.float32(), pa.float64()):
        listed = places(pa.table({"p": pa.array(np.array(keys, kind.to_pandas_dtype()))}), place="p")
        with pytest.raises(DataError, match=because):
            read_places(listed)


def test_a_place_beyond_a_pole_is_refused():
    for column, far in (("north", 90.5), ("north", -91.0), ("east", 180.5)):
        at = {"north": [35.0], "east": [139.0]} | {column: [far]}
        listed = places(pa.table({"p": ["a"], **at}), place="p", latitude="north", longitude="east")
        with pytest.raises(DataError, match=column):
            read_places(listed)
    edge = pa.table({"p": ["a", "b"], "north": [90.0, -90.0], "east": [180.0, -180.0]})
    assert len(read_places(places(edge, place="p", latitude="north", longitude="east"))) == 2


def test_zero_is_one_key_whatever_its_sign():
    negative, positive = (read_places(places(pa.table({"p": [zero, 1.5]}), place="p")) for zero in (-0.0, 0.0))
    assert str(negative.keys[0].as_py()) == "0.0"
    assert negative.digest() == positive.digest()
