"""Tables as people have them are counted as the same table in Parquet is: in whatever file, and however it is written.

The oracle is the Parquet file. Workbooks are written here, by hand, as the standard says: XML in a ZIP archive.
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import geopandas as gpd
import pandas as pd
import pyarrow as pa
import pytest
from tests.sources import describe_by
from tests.workbooks import workbook

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.engine._content import Content
from leeward.errors import DataError, LeewardError, SpecError
from leeward.query import Source
from leeward.tables._writing import ENCODINGS, TimeFormat, Writing

WINDOW = {"start": "2026-03-02T19:00", "end": "2026-03-02T20:00"}
VENUES = ["café", "pool; big", "park"]
ROWS = [
    (f"p{i}", VENUES[i % 3], dt.datetime(2026, 3, 2, 18 + i % 3, (7 * i) % 60, (11 * i) % 60), 35.5 + i / 8, 139.5)
    for i in range(24)
]
FRAME = pd.DataFrame(ROWS, columns=["who", "where", "when", "lat", "lon"])


def places(folder: Path) -> Any:
    pd.DataFrame({"where": [*VENUES, "nowhere"]}).to_parquet(folder / "places.parquet")
    return lw.places(folder / "places.parquet", place="where")


def counted(visits: Any, listed: Any) -> tuple[list[int], dict[str, int], Content]:
    """What is counted in the window, why rows are not, and how the content is recognised."""
    query = lw.count_visitors(visits, listed, **WINDOW)
    keys = read_keys(query)
    with open_data(query, keys) as table:
        found = table.exactly(query, "answer")
        dropped = {reason: rows for reason, rows in found.dropped.items() if rows}
        return found.counts.tolist(), dropped, table.content(bytes(32))


COLUMNS = {"person": "who", "place": "where", "time": "when"}


def oracle(folder: Path) -> tuple[list[int], dict[str, int]]:
    """What is counted of the Parquet file."""
    FRAME.to_parquet(folder / "oracle.parquet")
    return counted(lw.visits(folder / "oracle.parquet", **COLUMNS), places(folder))[:2]


def text(delimiter: str, time: str, *, decimal: str = ".") -> str:
    """The table as text."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(FRAME.columns)
    for who, where, when, lat, lon in ROWS:
        writer.writerow([who, where, when.strftime(time), *(str(d).replace(".", decimal) for d in (lat, lon))])
    return out.getvalue()


ISO = "%Y-%m-%dT%H:%M:%S"
WAYS: Mapping[str, tuple[str, str, str, str, dict[str, Any]]] = {
    "semicolons": ("v.csv", ";", ISO, "utf-8", {"delimiter": ";"}),
    "tabs by name": ("v.tsv", "\t", ISO, "utf-8", {}),
    "tabs in a text": ("v.txt", "\t", ISO, "utf-8", {"delimiter": "tab"}),
    "bars": ("v.txt", "|", ISO, "utf-8", {"delimiter": "|"}),
    "Latin-1": ("v.csv", ",", ISO, "latin-1", {"encoding": "latin-1"}),
    "Windows": ("v.csv", ";", ISO, "cp1252", {"encoding": "windows-1252", "delimiter": ";"}),
    "Excel's Unicode text": ("v.txt", "\t", ISO, "utf-16", {"encoding": "utf-16", "delimiter": "tab"}),
    "days first": ("v.csv", ",", "%d/%m/%Y %H:%M:%S", "utf-8", {"time_format": "dd/mm/yyyy HH:MM:SS"}),
    "months first": ("v.csv", ",", "%m/%d/%y %I:%M:%S %p", "utf-8", {"time_format": "mm/dd/yy hh:MM:SS AM"}),
    "one digit": ("v.csv", ",", "%-d.%-m.%Y %-H:%M:%S", "utf-8", {"time_format": "dd.mm.yyyy HH:MM:SS"}),
    "a space": ("v.csv", ",", "%Y-%m-%d %H:%M:%S", "utf-8", {"time_format": "yyyy-mm-dd HH:MM:SS"}),
    "no signs between": ("v.csv", ",", "%Y%m%d%H%M%S", "utf-8", {"time_format": "yyyymmddHHMMSS"}),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_text_files_are_counted_as_parquet_is(way: str, packed: bool, tmp_path: Path) -> None:
    name, delimiter, time, encoding, said = WAYS[way]
    raw = text(delimiter, time).encode(encoding)
    file = tmp_path / (name + ".gz" if packed else name)
    file.write_bytes(gzip.compress(raw) if packed else raw)
    found = counted(describe_by(lw.visits, file, **COLUMNS, **said), places(tmp_path))
    assert found[:2] == oracle(tmp_path)
    assert sum(found[0]) == 8


@pytest.mark.sweep
def test_content_is_the_same_however_it_is_written_and_another_where_a_format_is_wrong(tmp_path: Path) -> None:
    listed, contents = places(tmp_path), {}
    for way, (name, delimiter, time, encoding, said) in WAYS.items():
        (tmp_path / name).write_bytes(text(delimiter, time).encode(encoding))
        contents[way] = counted(describe_by(lw.visits, tmp_path / name, **COLUMNS, **said), listed)[2].digest
    assert len(set(contents.values())) == 1
    (tmp_path / "v.csv").write_text(text(",", "%Y-%m-%d %H:%M:%S"), "utf-8")
    unnamed = counted(lw.visits(tmp_path / "v.csv", **COLUMNS), listed)
    assert unnamed[:2] == oracle(tmp_path)
    assert unnamed[2].digest != contents["a space"]  # as docs/spec.md says
    (tmp_path / "v.csv").write_text(text(",", "%d/%m/%Y %H:%M:%S"), "utf-8")
    found = counted(
        lw.visits(lw.query.Source(tmp_path / "v.csv", time_format="mm/dd/yyyy HH:MM:SS"), **COLUMNS), listed
    )
    assert found[2].digest != contents["days first"]
    assert sum(found[0]) == 0  # the third of February


FORMATS: Mapping[str, tuple[str, str]] = {
    "dd/mm/yyyy": ("%d/%m/%Y", "31/12/2026"),
    "mm/dd/yyyy hh:MM AM/PM": ("%m/%d/%Y %I:%M %p", "12/31/2026 12:05 AM"),
    "yyyy.mm.dd HH": ("%Y.%m.%d %H", "2026.12.31 07"),
    "dd-mm-yy HH:MM": ("%d-%m-%y %H:%M", "31-12-26 23:59"),
    "yyyy-mm-ddTHH:MM:SS": ("%Y-%m-%dT%H:%M:%S.%f", "2026-12-31T23:59:59.123456"),
}


@pytest.mark.parametrize("form", FORMATS)
def test_every_time_of_a_day_is_read_as_python_reads_it(form: str, tmp_path: Path) -> None:
    python, _ = FORMATS[form]
    start = dt.datetime(2026, 2, 27, 0, 7, 3, 120000)
    moments = [start + dt.timedelta(hours=5 * i, minutes=7 * i) for i in range(120)]
    written = [moment.strftime(python) for moment in moments]
    told = [dt.datetime.strptime(each, python) for each in written]
    pd.DataFrame({"who": [f"p{i}" for i in range(120)], "where": "park", "when": written}).to_csv(tmp_path / "v.csv")
    visits = lw.visits(lw.query.Source(tmp_path / "v.csv", time_format=form), **COLUMNS)
    listed = places(tmp_path)
    pd.read_csv(tmp_path / "v.csv", index_col=0).to_csv(tmp_path / "v.csv", index=False)
    short = dt.timedelta(hours=1) if "HH" in form.upper() else dt.timedelta(days=1)
    for first, last in ((told[0], told[40]), (told[17], told[90]), (told[5], told[5] + short)):
        query = lw.count_visitors(visits, listed, start=first, end=last)
        with open_data(query, read_keys(query)) as table:
            found = table.exactly(query, "answer").counts.tolist()
        assert found == [0, 0, sum(first <= moment < last for moment in told), 0]


@pytest.mark.parametrize(
    "wrong",
    [
        "32/01/2026",
        "31/04/2026",
        "1/13/2026",
        "01/01/26",
        "01/01/2026 ",
        "x01/01/2026",
        "01-01-2026",
        "2026-01-01",
        "٠١/٠١/٢٠٢٦",
    ],
)
def test_what_is_not_written_so_is_unreadable_and_counted(wrong: str, tmp_path: Path) -> None:
    pd.DataFrame({"who": ["a", "b"], "where": "park", "when": ["02/03/2026", wrong]}).to_csv(
        tmp_path / "v.csv", index=False
    )
    visits = lw.visits(lw.query.Source(tmp_path / "v.csv", time_format="dd/mm/yyyy"), **COLUMNS)
    query = lw.count_visitors(visits, places(tmp_path), start="2026-03-02", end="2026-03-03")
    with open_data(query, read_keys(query)) as table:
        found = table.exactly(query, "answer")
    assert found.counts.tolist() == [0, 0, 1, 0]
    assert found.dropped["unreadable_time"] == 1


@pytest.mark.parametrize(
    "form",
    ["", "dd/mm", "mm/dd/yyyy mm", "dd/mm/yyyy MM", "dd/mm/yyyy HH:SS", "dd/mm/yyyy hh:MM", "dd/mm/yyyy HH:MM AM",
     "DD/MM/YYYY", "%d/%m/%Y", "dd/mmm/yyyy", "d/m/yyyy"],
)  # fmt: skip
def test_formats_that_say_no_time_are_refused(form: str) -> None:
    with pytest.raises(SpecError, match="time_format"):
        TimeFormat.of(form)


def test_a_number_in_a_file_of_texts_is_what_python_takes_for_one(tmp_path: Path) -> None:
    """The engine's own cast reads ``+-5`` as −5 and ``1_0`` as ten; every text of up to three of these signs is tried."""
    signs = ("+", "-", "1", ".", "e", "_", "20")
    texts = sorted({"".join(each) for n in (1, 2, 3) for each in itertools.product(signs, repeat=n)})
    pd.DataFrame({"who": range(len(texts)), "kw": texts}).to_csv(tmp_path / "n.csv", index=False)
    query = lw.statistic(
        lw.records(tmp_path / "n.csv", person="who"), "histogram", column="kw", lower=-21, upper=2021, step=1
    )
    expected, unreadable = Counter[int](), 0
    for text in texts:
        try:
            number = float("_" if "_" in text else text)
        except ValueError:
            unreadable += 1
        else:
            expected[min(max(math.floor(number), -21), 2020)] += 1
    with open_data(query, read_keys(query)) as table:
        found = table.exactly(query, "answer")
    assert {at - 21: count for at, count in enumerate(found.counts.tolist()) if count} == expected
    assert found.dropped["unreadable_number"] == unreadable


def test_decimal_commas_are_numbers_and_points_beside_them_are_none(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("who;kw\na;1,5\nb;2\nc;1.5\nd;-0,25\ne;\nf;1,2,3\n")
    table = lw.records(lw.query.Source(tmp_path / "n.csv", delimiter=";", decimal=","), person="who")
    query = lw.statistic(table, "histogram", column="kw", lower=-1, upper=3, step=1)
    with open_data(query, read_keys(query)) as opened:
        found = opened.exactly(query, "answer")
    assert found.counts.tolist() == [1, 0, 1, 1]
    assert (found.dropped["unreadable_number"], found.dropped["no_number"]) == (2, 1)


def test_coordinates_may_have_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(text(";", ISO, decimal=","), "utf-8")
    grid = lw.grid(west=139, south=35, east=140, north=39, metres=50_000)
    named = {"person": "who", "time": "when", "latitude": "lat", "longitude": "lon"}
    found = counted(lw.visits(lw.query.Source(tmp_path / "v.csv", delimiter=";", decimal=","), **named), grid)
    FRAME.to_parquet(tmp_path / "v.parquet")
    assert found[:2] == counted(lw.visits(tmp_path / "v.parquet", **named), grid)[:2]
    assert sum(found[0]) > 0
    (tmp_path / "p.csv").write_text("where;lat;lon\npark;35,5;139,25\n")
    listed = lw.places(
        Source(tmp_path / "p.csv", delimiter=";", decimal=","), place="where", latitude="lat", longitude="lon"
    )
    from leeward.engine import read_places

    assert read_places(listed).to_arrow().to_pylist() == [{"place": "park", "latitude": 35.5, "longitude": 139.25}]


# ---- workbooks


HEAD = list(FRAME.columns)


def test_a_sheet_is_counted_as_parquet_is(tmp_path: Path) -> None:
    workbook(tmp_path / "v.xlsx", {"Notes": [["x"]], "Visits": [HEAD, *ROWS[:9], [None], *ROWS[9:]]})
    found = counted(lw.visits(lw.query.Source(tmp_path / "v.xlsx", table="Visits"), **COLUMNS), places(tmp_path))
    assert found[:2] == oracle(tmp_path)
    workbook(tmp_path / "a.xlsx", {"Visits": [HEAD, *ROWS[:9]]})
    workbook(tmp_path / "b.xlsx", {"Other": [HEAD[::-1], *(row[::-1] for row in ROWS[9:])]})
    with pytest.raises(DataError, match="The sheet 'Visits' in the workbook"):
        counted(lw.visits(lw.query.Source(str(tmp_path / "[ab].xlsx"), table="Visits"), **COLUMNS), places(tmp_path))
    workbook(tmp_path / "b.xlsx", {"Visits": [HEAD[::-1], *(row[::-1] for row in ROWS[9:])]})
    both = counted(lw.visits(lw.query.Source(str(tmp_path / "[ab].xlsx"), table="Visits"), **COLUMNS), places(tmp_path))
    assert both[:2] == found[:2]
    assert both[2].digest == found[2].digest


@pytest.mark.sweep
def test_every_second_of_a_day_survives_a_spreadsheet(tmp_path: Path) -> None:
    moments = [dt.datetime(2026, 3, 2) + dt.timedelta(seconds=i) for i in range(0, 86_400, 13)]
    workbook(
        tmp_path / "v.xlsx", {"S": [["who", "where", "when"], *([f"p{i}", "park", m] for i, m in enumerate(moments))]}
    )
    visits, listed = lw.visits(tmp_path / "v.xlsx", **COLUMNS), places(tmp_path)
    for first in (0, 1, 3000, len(moments) - 2):
        query = lw.count_visitors(visits, listed, start=moments[first], end=moments[first + 1])
        with open_data(query, read_keys(query)) as table:
            assert table.exactly(query, "answer").counts.tolist() == [0, 0, 1, 0]


def test_numbers_of_a_sheet_are_whole_where_all_are(tmp_path: Path) -> None:
    workbook(tmp_path / "p.xlsx", {"S": [["where"], [3], [17], [2]]})
    workbook(
        tmp_path / "v.xlsx",
        {"S": [["who", "where", "when"], [1, 17, ROWS[1][2]], [2, 17, ROWS[4][2]], [2, 3, ROWS[4][2]]]},
    )
    found = counted(lw.visits(tmp_path / "v.xlsx", **COLUMNS), lw.places(tmp_path / "p.xlsx", place="where"))
    assert found[0] == [1, 2, 0]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("A7", "texts in row 4, and numbers before"),
        (True, "truth values in row 4"),
        (ROWS[0][2], "dates or times in row 4"),
    ],
)
def test_a_column_of_several_kinds_is_refused_by_its_row_and_without_its_cell(
    cell: Any, told: str, tmp_path: Path
) -> None:
    workbook(tmp_path / "p.xlsx", {"S": [["where"], [3], [None], [cell]]})
    with pytest.raises(DataError, match=told) as refused:
        read_keys(
            lw.count_visitors(lw.visits("v.csv", **COLUMNS), lw.places(tmp_path / "p.xlsx", place="where"), **WINDOW)
        )
    assert "A7" not in str(refused.value)


@pytest.mark.parametrize("kind", ["xlsx", "geojson"])
@pytest.mark.parametrize("odd", [2.5, 1e300], ids=str)
def test_one_fraction_is_in_no_list_of_whole_numbers_and_changes_nothing_else(
    kind: str, odd: float, tmp_path: Path
) -> None:
    """There a column's values say its type: one person's fraction made floats of all, and no whole key was like them."""
    rows = [(f"p{i}", 1 + i % 3, dt.datetime(2026, 3, 2, 19)) for i in range(9)] + [
        ("q", odd, dt.datetime(2026, 3, 2, 19))
    ]
    file, there = tmp_path / f"rows.{kind}", {"type": "Point", "coordinates": [0.0, 0.0]}
    if kind == "xlsx":
        workbook(file, {"all": [("who", "where", "when"), *rows]})
    else:
        made = [dict(zip(("who", "where", "when"), (who, at, str(when)), strict=True)) for who, at, when in rows]
        each = [{"type": "Feature", "geometry": there, "properties": properties} for properties in made]
        file.write_text(json.dumps({"type": "FeatureCollection", "features": each}))
    asked = lw.count_visitors(
        lw.visits(file, person="who", place="where", time="when"),
        lw.places(pa.table({"place": [1, 2, 3, 4]}), place="place"),
        start="2026-03-02T19:00",
        end="2026-03-02T20:00",
    )
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.exactly(asked, "answer").counts.tolist() == [3, 3, 3, 0]
    records = lw.records(file, person="who")
    grouped = lw.statistic(records, "count", by=lw.query.Groups({"where": [1, 2, 3, 4]}, others=-1))
    with open_data(grouped, read_keys(grouped)) as opened:
        assert opened.exactly(grouped, "answer").counts.tolist() == [3, 3, 3, 0, 1]
        assert opened.survey(grouped).matches.named == 3


def test_fractions_of_a_sheet_are_not_cut(tmp_path: Path) -> None:
    workbook(tmp_path / "n.xlsx", {"S": [["who", "kw"], ["a", 1], ["b", 1.5], ["c", 2]]})
    query = lw.statistic(
        lw.records(tmp_path / "n.xlsx", person="who"), "sum", column="kw", lower=0, upper=9, step="1/2"
    )
    with open_data(query, read_keys(query)) as table:
        assert table.exactly(query, "answer").counts.tolist() == [9]


def test_what_is_no_workbook_is_told_so(tmp_path: Path) -> None:
    for raw in (b"", b"PK\x03\x04 nothing", b"who,where\n"):
        (tmp_path / "v.xlsx").write_bytes(raw)
        with pytest.raises(DataError, match="damaged, or is not a workbook"):
            counted(lw.visits(tmp_path / "v.xlsx", **COLUMNS), places(tmp_path))
    workbook(tmp_path / "v.xlsx", {"S": []})
    with pytest.raises(DataError, match="first row is empty"):
        counted(lw.visits(tmp_path / "v.xlsx", **COLUMNS), places(tmp_path))
    workbook(tmp_path / "v.xlsx", {"S": [[], HEAD, [*ROWS[0]]]})  # what stands below is not looked for
    with pytest.raises(DataError, match="first row is empty"):
        counted(lw.visits(tmp_path / "v.xlsx", **COLUMNS), places(tmp_path))
    workbook(tmp_path / "v.xlsx", {"A": [HEAD], "B": [HEAD]})
    with pytest.raises(DataError, match="it has several: 'A', 'B'"):
        counted(lw.visits(tmp_path / "v.xlsx", **COLUMNS), places(tmp_path))


def test_a_large_number_of_a_sheet_is_refused(tmp_path: Path) -> None:
    workbook(tmp_path / "p.xlsx", {"S": [["where"], [2.0**53]]})
    with pytest.raises(DataError, match="several whole numbers are one"):
        read_keys(
            lw.count_visitors(lw.visits("v.csv", **COLUMNS), lw.places(tmp_path / "p.xlsx", place="where"), **WINDOW)
        )


# ---- points


def features(rows: Sequence[Any]) -> dict[str, Any]:
    return {
        "type": "FeatureCollection",
        "features": [
            {
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": [lon, lat]},
                "properties": {"who": who, "where": where, "when": when.isoformat()},
            }
            for who, where, when, lat, lon in rows
        ],
    }


ON_GRID = {"person": "who", "time": "when", "latitude": "latitude", "longitude": "longitude"}


def test_points_are_coordinates(tmp_path: Path) -> None:
    (tmp_path / "v.geojson").write_text(json.dumps(features(ROWS)), "utf-8")
    FRAME.to_parquet(tmp_path / "v.parquet")
    grid = lw.grid(west=139, south=35, east=140, north=39, metres=50_000)
    expected = counted(lw.visits(tmp_path / "v.parquet", **{**ON_GRID, "latitude": "lat", "longitude": "lon"}), grid)[
        :2
    ]
    assert counted(lw.visits(tmp_path / "v.geojson", **ON_GRID), grid)[:2] == expected
    points = gpd.GeoDataFrame(FRAME[["who", "when"]], geometry=gpd.points_from_xy(FRAME.lon, FRAME.lat), crs=4326)
    assert counted(lw.visits(points, **ON_GRID), grid)[:2] == expected
    with pytest.raises(DataError, match="to_crs"):
        counted(lw.visits(points.to_crs(3857), **ON_GRID), grid)
    with pytest.raises(DataError, match="points alone"):
        counted(lw.visits(points.set_geometry(points.to_crs(3857).buffer(10).to_crs(4326)), **ON_GRID), grid)
    listed = lw.places(tmp_path / "v.geojson", place="who", latitude="latitude", longitude="longitude")
    from leeward.engine import read_places

    assert read_places(listed).latitude.to_pylist() == FRAME.lat.tolist()


def test_a_property_that_is_called_as_a_coordinate_is_refused(tmp_path: Path) -> None:
    made = features(ROWS)
    made["features"][3]["properties"]["latitude"] = 1
    (tmp_path / "v.geojson").write_text(json.dumps(made), "utf-8")
    with pytest.raises(DataError, match="Rename the property"):
        counted(lw.visits(tmp_path / "v.geojson", **COLUMNS), places(tmp_path))


def test_a_duckdb_relation_is_a_table(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "v.parquet")
    with duckdb.connect() as connection:
        relation = connection.read_parquet(str(tmp_path / "v.parquet"))
        assert counted(lw.visits(relation, **COLUMNS), places(tmp_path))[:2] == oracle(tmp_path)


# ---- what is refused, and how


def refusal(visits: Any, folder: Path) -> str:
    with pytest.raises(LeewardError) as refused:
        counted(visits, places(folder))
    return str(refused.value)


def test_an_unreadable_file_is_told_by_its_line_and_cause_and_never_its_content(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    good = text(",", ISO).splitlines()
    for wrong, because in {
        "SECRET,park": "Line 6 of the file .* it has 2 fields, and the first line names 5 columns",
        'SECRET,"park,x,y,z': "Line 6 of the file .* a quote begins in it that is not closed",
        '"a\nSECRET\n",b,c,d,e\nshort,b': "Line 9 of the file .* it has 2 fields",
        "SECRET,pa\udcffrk,x,y,z": "Line 6 of the file .* it is not text in UTF-8",
    }.items():
        lines = [*good[:5], wrong, *good[5:]]
        file.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape") + b"\n")
        told = refusal(lw.visits(file, **COLUMNS), tmp_path)
        assert re.search(because, told), told
        assert "SECRET" not in told
    file.write_bytes(b"who,where,when\n" + b"a,b,c\n" * 10 + b"SECRET,\x81,c\n")
    told = refusal(lw.visits(lw.query.Source(file, encoding="windows-1252"), **COLUMNS), tmp_path)
    assert "Line 12 of the file" in told
    assert "SECRET" not in told


def test_what_separates_columns_is_said_where_the_name_does_not(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(text(";", ISO), "utf-8")
    assert 'Say what separates its columns: delimiter = ";"' in refusal(
        lw.visits(tmp_path / "v.csv", **COLUMNS), tmp_path
    )
    (tmp_path / "v.txt").write_text(text("\t", ISO), "utf-8")
    assert 'Say it: delimiter = "tab"' in refusal(lw.visits(tmp_path / "v.txt", **COLUMNS), tmp_path)


def test_what_is_said_in_vain_is_refused(tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "v.parquet")
    for key, (value, why) in {
        "delimiter": (";", "it is about files of text"),
        "encoding": ("latin-1", "it is about files of text"),
        "decimal": (",", "no column that is read holds numbers as texts"),
        "time_format": ("dd/mm/yyyy", "the column holds no texts"),
    }.items():
        assert why in refusal(describe_by(lw.visits, tmp_path / "v.parquet", **COLUMNS, **{key: value}), tmp_path)
    (tmp_path / "v.csv").write_text(text(",", "%d/%m/%Y"), "utf-8")
    kept = lw.visits(
        lw.query.Source(tmp_path / "v.csv", time_format="dd/mm/yyyy"), **COLUMNS, keep={"when": ["02/03/2026"]}
    )
    assert "it would be read in two ways" in refusal(kept, tmp_path)


@pytest.mark.parametrize(
    "said", [{"delimiter": ":"}, {"delimiter": ""}, {"encoding": "rot13"}, {"encoding": "utf-7"}, {"encoding": "nonsense"},
             {"decimal": "'"},
             {"decimal": ",", "delimiter": ","}]
)  # fmt: skip
def test_ways_of_writing_that_are_not_known_are_refused(said: dict[str, str]) -> None:
    with pytest.raises(SpecError):
        Writing(**said)


def test_encodings_are_those_in_which_a_line_break_is_one() -> None:
    for name in sorted(ENCODINGS):
        assert "who;\n".encode(name).decode(name).splitlines() == ["who;"], name
    assert {"utf-8", "cp1252", "iso8859-1", "utf-16"} <= ENCODINGS


def test_of_digits_without_signs_between_them_each_part_has_two() -> None:
    """Before, 2026111 could have been the 11th of January or the 1st of November."""
    form = TimeFormat.of("yyyymmdd")
    fits = [text for text in ("20260111", "2026111", "202611", "20261101") if re.fullmatch(form.pattern, text)]
    assert fits == ["20260111", "20261101"]
    assert re.fullmatch(TimeFormat.of("dd/mm/yyyy").pattern, "1/2/2026")
