"""What a table of totals shows beside the noise: names of groups alone, under names that are not taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.local.test_series_job import frame, spec

from leeward.errors import DataError, SpecError
from leeward.local import check_job
from leeward.local.series import SeriesStatement

TAKEN = {"day": ("day", "readings_per_meter", "total_kWh"), "period": ("from", "readings_per_meter", "total_kWh")}


def totals(folder: Path, table: pd.DataFrame | pa.Table, **asked: Any) -> Any:
    """Publish totals of a table; ``meter`` and ``by`` are names of its columns."""
    name = asked.pop("meter", "meter")
    made = table if isinstance(table, pa.Table) else pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(made, folder / "r.parquet")
    given = spec(data={"meter": name}, publish={"what": "totals"} | asked)
    return check_job(given, folder=folder).run(folder / "o.csv", lambda *_: None)


@pytest.mark.parametrize("by", ["kw", "time"])
def test_the_readings_and_their_times_are_no_names_of_groups(by: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="names of groups are published as they are"):
        totals(tmp_path, frame(), by=by)
    assert [path.name for path in tmp_path.iterdir()] == ["r.parquet"]


@pytest.mark.parametrize("as_what", ["meter", "by"])
@pytest.mark.parametrize(("per", "name"), [(per, name) for per, names in TAKEN.items() for name in names])
def test_a_name_that_the_table_of_totals_has_already_is_refused(
    per: str, name: str, as_what: str, tmp_path: Path
) -> None:
    table = frame().rename(columns={"meter": name} if as_what == "meter" else {"tariff": name})
    asked = {"meter": name} if as_what == "meter" else {"by": name}
    with pytest.raises(SpecError, match=rf"A column '{name}' that names meters or groups.*Rename it"):
        totals(tmp_path, table, per=per, **asked)
    other = {"day": "from", "period": "day"}[per]  # what another table of totals has is free here
    totals(tmp_path, frame().rename(columns={"tariff": other}), per=per, by=other)
    assert pd.read_csv(tmp_path / "o.csv", dtype={other: str})[other].tolist() == ["007"] * (2 if per == "day" else 1)


def test_the_groups_are_told_to_go_out_as_they_are(tmp_path: Path) -> None:
    done = totals(tmp_path, frame(), by="tariff")
    (told,) = (note for note in done.notes if "published as they are" in note)
    assert ": tariff" in told
    stated = SeriesStatement.model_validate_json((tmp_path / "o.csv.release.json").read_text())
    assert stated.columns_as_they_are == ("tariff",)


@pytest.mark.parametrize("as_what", ["meter", "by"])
@pytest.mark.parametrize(
    "held",
    [
        pa.array([[1]] * 141),
        pa.array([{"a": 1}] * 141),
        pa.array([[b"x"]] * 141),
        pa.array([b"0" * 16] * 141, pa.uuid()),
    ],
    ids=["lists", "structs", "lists of bytes", "uuids"],
)
def test_what_names_nobody_is_refused_in_words(held: pa.Array, as_what: str, tmp_path: Path) -> None:
    column = "meter" if as_what == "meter" else "tariff"
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    table = table.set_column(table.column_names.index(column), column, held)
    with pytest.raises(DataError, match=f"The column '{column}'"):
        totals(tmp_path, table, **({} if as_what == "meter" else {"by": "tariff"}))
    assert not (tmp_path / "o.csv").exists()
