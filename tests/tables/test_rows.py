"""Files of rows: one reader for all uses, held against Python's own, and tried before anything is drawn."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.flat_series import flat_series

import leeward.local.location._frames as frames
from leeward.engine._bind import bind
from leeward.errors import DataError
from leeward.local.location._formats import FORMATS, open_positions
from leeward.local.series import Series
from leeward.local.series._files import ReadingsFile
from leeward.tables import _rows
from leeward.tables._files import Queried
from leeward.tables._kinds import ASKED, ENDINGS, Kind, kind_of
from leeward.tables._rows import ROWS, CsvRows, ParquetRows, open_rows

FIELDS = ("", "a", " b ", '"q"', '"c, ""d"""', '"e\r\nf\n\ng"', "=1+1", '5" pipe', "é", '"x\ry"', '"x\r=1"')


@pytest.fixture(params=[2, 3, 1 << 17])
def _batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "BATCH", request.param)
    monkeypatch.setattr(_rows, "_AT_ONCE", min(request.param, 2))


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", [True, False])
def test_csv_is_read_as_python_reads_it(end: str, mark: bytes, last: bool, tmp_path: Path) -> None:
    """Every pair of fields, a blank line after every third row; whole and a column at a time, in batches of any size."""
    lines = ["x,y"]
    for k, (a, b) in enumerate(itertools.product(FIELDS, repeat=2)):
        lines += [f"{a},{b}", *([""] if k % 3 == 0 else [])]
    text = end.join(lines) + (end if last else "")
    (tmp_path / "a.csv").write_bytes(mark + text.encode())
    true = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
    rows = open_rows(tmp_path / "a.csv")
    assert rows.columns == ["x", "y"]
    shares: list[float] = []
    found = pa.concat_tables(rows.batches(progress=lambda _, share: shares.append(share)))
    assert [[value or "" for value in row] for row in zip(*found.to_pydict().values(), strict=True)] == true
    assert pa.concat_tables(rows.batches(["y"]))["y"].equals(found["y"])
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert rows.write(tmp_path / "b.csv", rows.batches()) == len(true)
    with (tmp_path / "b.csv").open(newline="") as written:
        again = list(csv.reader(written, strict=True))
    assert again == [["x", "y"], *([f"'{v}" if v.startswith("=") else v for v in row] for row in true)]


@pytest.mark.usefixtures("_batches")
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 6])
def test_parquet_is_read_and_written_as_it_is(rows: int, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(range(rows), pa.int16()), "y": pa.array(["é"] * rows).dictionary_encode()})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    held = open_rows(tmp_path / "a.parquet")
    assert held.write(tmp_path / "b.parquet", held.batches()) == rows
    assert pq.read_table(tmp_path / "b.parquet").equals(pq.read_table(tmp_path / "a.parquet"))
    assert pa.concat_tables(held.batches(["x"])).to_pydict() == {"x": list(range(rows))}


REFUSED = [
    ("\nx,y\n1,2\n", "its first line is blank"),
    ("\r\nx,y\r\n1,2\r\n", "its first line is blank"),
    ("", "it is empty"),
    ("x,x\n1,2\n", "two columns have one name"),
    ('x,"y\nz"\n1,2\n', "it ends within quotes"),
    ('x,y,"note\n35.1,139.1,Alice\n35.2,139.2,a pipe of 10"\n35.3,139.3,c\n', "it ends within quotes"),
    ('x,5" y\n1,2\n', "programs do not agree"),
]


@pytest.mark.parametrize(("text", "because"), REFUSED)
def test_all_who_read_csv_split_its_first_line_alike(text: str, because: str, tmp_path: Path) -> None:
    """Before, readings were found by one reader and written by another, which skip different lines before the names."""
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    for read in (lambda: open_positions(path, "x", "y"), lambda: ReadingsFile(path), lambda: open_rows(path)):
        with pytest.raises(DataError, match=because) as refused:
            read()
        assert "139" not in str(refused.value).replace(str(path), "")
    with pytest.raises(DataError), bind(str(path), {"person": "x", "place": "y"}):
        pass


SWALLOWED = [  # a quote that is not closed, up to another one in a later row
    'lat,lon,note\n35.5,139.5,"a\n35.6812362,139.7671248,b\n35.7,139.7,a pipe of 10"\n35.8,139.8,c\n',
    'lat,lon,note\r\n35.5,139.5,"a\r\n35.6812362,139.7671248,a pipe of 10"\r\n35.8,139.8,c\r\n',
    'lat,note,lon\n35.5,"a,139.5\n35.6812362,a pipe of 10",139.7\n35.8,c,139.8\n',
    'note,lat,lon\n"a,35.5,139.5\na pipe of 10",35.6812362,139.7\nc,35.8,139.8\n',
]


@pytest.mark.parametrize("text", SWALLOWED)
def test_no_row_becomes_a_part_of_a_field_that_is_passed_on(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match="a quote is not closed") as refused:
        list(open_rows(path).batches())
    assert "35." not in str(refused.value)


@pytest.mark.parametrize("note", ["a\nb", "a\r\n", "one, two\nthree", "a\rb\nc", "no break, though, many, commas"])
def test_a_text_of_several_lines_is_one_field(note: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(f'lat,lon,note\n35.5,139.5,"{note}"\n'.encode())
    assert pa.concat_tables(open_rows(path).batches()).to_pylist() == [{"lat": "35.5", "lon": "139.5", "note": note}]


def test_an_index_without_a_name_is_a_column_to_perturbing(tmp_path: Path) -> None:
    """As `DataFrame.to_csv` writes one."""
    pd.DataFrame({"lat": [1.0], "lon": [2.0]}).to_csv(tmp_path / "a.csv")
    assert open_positions(tmp_path / "a.csv", "lat", "lon").others == [""]


@pytest.mark.parametrize(
    ("text", "because"), [("x,y\n1\n", "not as many fields"), ("x,y\n1,2,3\n", "not as many fields")]
)
def test_a_row_of_another_length_is_refused(text: str, because: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=because):
        list(open_rows(tmp_path / "a.csv").batches(["x"]))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("long", [1, 3_000_000])
def test_a_blank_line_is_no_row_to_the_engine_either(end: str, long: int, tmp_path: Path) -> None:
    """A record of 3 MB has the engine read in its careful way."""
    lines = ["who,note", "ann,x", "", f"bob,{'y' * long}", "", "", "cat,z"]
    (tmp_path / "a.csv").write_bytes((end.join(lines) + end).encode())
    with bind(str(tmp_path / "a.csv"), {"person": "who"}) as bound:
        assert bound.fetch(bound.rows)["who"].to_pylist() == ["ann", "bob", "cat"]
    assert pa.concat_tables(open_rows(tmp_path / "a.csv").batches(["who"]))["who"].to_pylist() == ["ann", "bob", "cat"]


UNION = pa.UnionArray.from_dense(
    pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["a"])]
)
NOT_PASSED_ON = {
    "of a union": UNION,
    "of an extension": pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "x", "y"), pa.array([1, 2])),
}


@pytest.mark.parametrize("name", NOT_PASSED_ON)
@pytest.mark.parametrize("kind", ["arrow", "pandas"])
def test_a_column_that_cannot_be_passed_on_is_refused_before_anything_is_drawn(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = {"lat": [1.0, 2.0], "time": ["2026-01-01T00:00", "2026-01-01T01:00"], "kw": [1.0, 2.0]}
    table: Any = pa.table({**held, "odd": NOT_PASSED_ON[name]})
    if kind == "pandas":
        table = pd.DataFrame({**held, "odd": pd.Series(pd.arrays.ArrowExtensionArray(NOT_PASSED_ON[name]))})
    drawn: list[Any] = []
    monkeypatch.setattr(Series, "release", lambda self, readings: drawn.append(readings))
    series = flat_series(
        epsilon="1", unit="100 W", values="kW", step="1 W", lower="0 W", upper="8 kW",
        start="2026-01-01", end="2026-01-01T02:00", every="1 h",
    )  # fmt: skip
    with pytest.raises(DataError, match="'odd'"):
        series.perturb(table, time="time", value="kw")

    def perturb(north: Any, east: Any) -> Any:
        drawn.append(north)
        return north, east

    with pytest.raises(DataError, match="'odd'"):
        frames.perturb_table(perturb, table, "lat", "kw")
    assert drawn == []


def test_a_parquet_file_that_could_not_be_written_is_refused_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions are charged between the opening and the writing."""
    pq.write_table(pa.table({"lat": [1.0], "lon": [2.0]}), tmp_path / "a.parquet")

    def cannot(*_: Any, **__: Any) -> None:
        raise pa.ArrowNotImplementedError("Unhandled type for Arrow to Parquet schema conversion")

    monkeypatch.setattr(pq, "ParquetWriter", cannot)
    with pytest.raises(DataError, match="cannot be read"):
        open_positions(tmp_path / "a.parquet", "lat", "lon")


def test_readings_are_replaced_in_their_own_rows(tmp_path: Path) -> None:
    """Blank lines, quoted lines and rows outside the period lie between them."""
    series = flat_series(
        epsilon="1", unit="1 W", values="W", step="1 W", lower="0 W", upper="8000 W",
        start="2026-01-01T02:00", end="2026-01-01T08:00", every="1 h", missing="keep",
    )  # fmt: skip
    lines = ["note,t,w"]
    for hour in range(10):
        lines += [f'"n{hour}\r\n\r\n""x""",2026-01-01T0{hour}:00,{100 * hour}.4', *([""] * (hour % 3))]
    (tmp_path / "a.csv").write_bytes("\r\n".join(lines).encode())
    file = ReadingsFile(tmp_path / "a.csv")
    from leeward.local.series._readings import Columns, read_readings

    held = file.read(["t", "w"], "w")
    readings = read_readings(held, Columns("t", "w"), series.grid, series.schedule, "keep")
    file.rewrite(tmp_path / "b.csv", "w", readings, readings.steps + 1, series.grid, lambda *_: None)
    with (tmp_path / "b.csv").open(newline="") as text:
        found = [(row["note"][:2], row["w"]) for row in csv.DictReader(text)]
    assert found == [(f"n{hour}", str(100 * hour + 1)) for hour in range(2, 8)]
    assert np.array_equal(readings.rows, range(2, 8))


@pytest.mark.parametrize("kind", [CsvRows, ParquetRows])
def test_a_kind_of_rows_is_told_by_how_its_name_ends(kind: Any, tmp_path: Path) -> None:
    for suffix in ENDINGS[kind.kind]:
        path = tmp_path / f"A{suffix.upper()}"
        kind.write(path, [pa.table({"x": ["1"]})])
        assert type(open_rows(path)) is kind
    with pytest.raises(DataError, match="its kind follows from the end of its name"):
        open_rows(tmp_path / "a.xlsx")


def test_every_kind_of_file_is_told_by_endings_of_its_own_and_read_by_someone() -> None:
    assert {*get_args(Queried), *ROWS, *FORMATS} == set(get_args(Kind)) == set(ENDINGS) >= set(ASKED)
    for readers in (get_args(Queried), ROWS, FORMATS):
        for kind in readers:
            for ending in ENDINGS[kind]:
                assert kind_of(f"A{ending.upper()}", readers) == kind
    endings = [ending for table in (ENDINGS, ASKED) for each in table.values() for ending in each]
    assert len(endings) == len(set(endings))
    assert kind_of("a.csv.gz", get_args(Queried), asked=True) == "csv"
    assert kind_of("a.csv.gz", ROWS) is None  # it is never written
    assert kind_of("a.parquet.gz", get_args(Queried), asked=True) is None
