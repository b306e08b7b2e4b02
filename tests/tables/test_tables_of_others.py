"""Tables whose values, or files, another program looks after: read where that is one table, else refused with what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leeward as lw
from leeward.engine import open_data, read_keys
from leeward.errors import DataError
from leeward.local import check_job

ROWS = pa.table({"who": [1, 2, 3]})


def people(source: Any) -> int:
    query = lw.statistic(lw.records(source, person="who"), "count")
    with open_data(query, read_keys(query)) as opened:
        return int(opened.exactly(query, "answer").counts[0])


@pytest.mark.parametrize(
    ("mark", "form"),
    [
        ("_delta_log/0.json", "Delta Lake"),
        ("metadata/v1.metadata.json", "Iceberg"),
        (".hoodie/hoodie.properties", "Hudi"),
    ],
)
def test_files_of_a_table_with_a_log_are_not_the_table(mark: str, form: str, tmp_path: Path) -> None:
    """A pattern over them would count what was deleted."""
    part = tmp_path / "t" / "data" / "day=1"
    part.mkdir(parents=True)
    pq.write_table(ROWS, part / "part-0.parquet")
    assert people(str(tmp_path / "t" / "**" / "*.parquet")) == 3
    (tmp_path / "t" / mark).parent.mkdir()
    (tmp_path / "t" / mark).touch()
    with pytest.raises(DataError, match=f"those of a table of {form}, and may hold rows that were .* deleted"):
        people(str(tmp_path / "t" / "**" / "*.parquet"))


def test_an_ibis_table_of_another_backend_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ibis

    with sqlite3.connect(tmp_path / "t.db") as made:
        made.execute("CREATE TABLE t (who INTEGER)")
    table = ibis.sqlite.connect(tmp_path / "t.db").table("t")
    with pytest.raises(DataError, match=r"An Ibis table of the backend sqlite: .*write the table as Parquet"):
        people(table)
    for name, said in (("postgres", "Give the address"), ("pyspark", "Give the DataFrame of Spark itself")):
        monkeypatch.setattr(type(table), "get_backend", lambda _, name=name: SimpleNamespace(name=name))
        with pytest.raises(DataError, match=said):
            people(table)


@pytest.mark.parametrize(
    "url", ["s3://bucket/p.parquet", "gs://bucket/p.parquet", "https://me:hush@example.org/p.parquet"]
)
def test_object_storage_is_said_to_be_no_file(url: str) -> None:
    with pytest.raises(
        DataError, match=r"only files on this machine are read.*what your own Spark reads there"
    ) as caught:
        people(url)
    spec = {"perturb": {"kind": "location"}, "data": {"table": url}}
    with pytest.raises(lw.errors.SpecError, match="only files on this machine are perturbed") as refused:
        check_job(spec)
    assert "hush" not in f"{caught.value}{refused.value}"
