"""The column that is read is the one that has the name, whatever the other columns are called: held against Arrow's own."""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leeward.engine._bind import bind
from leeward.errors import DataError

NAMES = ("user", "User", "user_1", "", "C0")


def held(names: tuple[str, ...]) -> list[str]:
    return [f"column {at}" for at in range(len(names))]


def write(path: Path, names: tuple[str, ...]) -> None:
    values = [pa.array([value]) for value in held(names)]
    if path.suffix == ".csv":
        path.write_text(",".join(names) + "\n" + ",".join(held(names)) + "\n")
    else:
        pq.write_table(pa.Table.from_arrays(values, names=list(names)), path)


def read(source: object, name: str) -> list[str] | None:
    try:
        with bind(source, {"person": name}) as bound:
            return bound.fetch(bound.rows).column(name).to_pylist()
    except DataError:
        return None


@pytest.mark.sweep
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_no_other_column_is_ever_read(suffix: str, tmp_path: Path) -> None:
    """All lists of three names, and each name that such a file has; what can be refused is what has a twin."""
    path, was_read = tmp_path / f"a{suffix}", 0
    for names in itertools.product(NAMES, repeat=3):
        write(path, names)
        for name in sorted(set(names)):
            found = read(str(path), name)
            right = held(names)[names.index(name)]
            assert found in ([right], None), names
            was_read += found is not None
            different = len({each.lower() for each in names}) == 3
            assert found is not None or not all(names) or not different, names
    assert was_read >= 48


@pytest.mark.parametrize("first", [True, False])
def test_no_file_of_several_reads_another_column(first: bool, tmp_path: Path) -> None:
    plain, renamed = ("user_1", "venue"), ("User", "user", "user_1")
    for at, names in enumerate((renamed, plain) if first else (plain, renamed)):
        write(tmp_path / f"{at}.parquet", names)
    with (
        pytest.raises(DataError, match=r"person = 'user_1': other columns of the file .* names of its own"),
        bind(str(tmp_path / "*.parquet"), {"person": "user_1"}),
    ):
        pass


@pytest.mark.parametrize("names", [("É", "é", "é_1"), ("K", "\u212a", "k_1"), ("ß", "SS", "x"), ("e\u0301", "é", "x")])
def test_names_beyond_ascii_are_read_as_they_are(names: tuple[str, ...], tmp_path: Path) -> None:
    for suffix in (".parquet", ".csv"):
        write(tmp_path / f"a{suffix}", names)
        assert read(str(tmp_path / f"a{suffix}"), names[2]) == ["column 2"]


def test_csv_columns_whose_names_differ_only_in_case_are_told_as_that(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", ("User", "user", "user_1"))
    assert read(str(tmp_path / "a.csv"), "user_1") == ["column 2"]
    with (
        pytest.raises(DataError, match="another column's name differs from it only in upper and lower case"),
        bind(str(tmp_path / "a.csv"), {"person": "user"}),
    ):
        pass


def test_a_path_or_a_field_of_a_struct_is_no_column(tmp_path: Path) -> None:
    folder = tmp_path / "user_1=folder" / "user=other"
    folder.mkdir(parents=True)
    nested = pa.array([{"user_1": "inner", "user": "inner"}])
    path = folder / "a.parquet"
    pq.write_table(pa.table({"user_1": ["column 0"], "s": nested}), path)
    assert read(str(path), "user_1") == ["column 0"]
    assert read(str(path), "user") is None
    assert read(str(path), "s.user_1") is None


def test_a_view_and_a_relation_are_read_by_the_names_they_show(tmp_path: Path) -> None:
    made = "SELECT 'column 0' AS user, 'column 1' AS \"User\", 'column 2' AS user_1"
    with duckdb.connect(str(tmp_path / "a.duckdb")) as engine:
        engine.execute(f"CREATE VIEW v AS {made}")
        shown = engine.sql("SELECT * FROM v")
        at = {name: index for index, name in enumerate(shown.columns)}
    for name, index in at.items():
        assert read(str(tmp_path / "a.duckdb"), name) in ([f"column {index}"], None)
    assert read(str(tmp_path / "a.duckdb"), "user") == ["column 0"]
    with duckdb.connect() as engine:
        assert read(engine.sql(made), "user_1") in (["column 2"], None)
