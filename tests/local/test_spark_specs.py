"""What is refused of a spec that perturbs by Spark before Spark is started: all of it in words, and nothing is charged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.local.test_location import BASE, table
from tests.spec.outcome import merged

from leeward.errors import LeewardError
from leeward.local import check_job
from leeward.local.location import PlanarLaplace
from leeward.local.location._spark_table import _counted

STORE = {"store": "people.db", "secret": "people.key"}
PLACES = {"table": "places.csv", "latitude": "lat", "longitude": "lon"}


def refused(folder: Path, changes: dict[str, Any]) -> str:
    given = merged({"perturb": {"kind": "location"}, **BASE}, {"data": {"engine": "spark"}})
    with pytest.raises(LeewardError) as caught:
        check_job(merged(given, changes), folder=folder).run(folder / "out", lambda *_: None, new=True)
    assert not (folder / "out").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"places": PLACES}, r'[places] beside [data] engine = "spark"'),
        ({"output": {"h3": 9}}, "[output] h3 beside"),
        ({"data": {"person": "who"}, "repeat": STORE}, "[repeat] beside"),
        ({"protect": {"level": "who", "levels": {"0": {}}}}, "[protect] levels beside"),
        (
            {
                "data": {"person": "who", "time": "when"},
                "track": {"near": "1 km", "in_all": {"within": "200 m", "factor": "64"}},
            },
            "[track] beside",
        ),
        (
            {"data": {"person": "who"}, "budget": STORE | {"reports_a_day": 1, "over": "withhold"}},
            '[budget] over = "withhold" beside',
        ),
        ({"data": {"engine": None, "spark": {"master": "local[1]"}}}, 'add engine = "spark"'),
        ({"data": {"spark": {"spark.jars": "x.jar"}}}, "what runs code in it, and secrets, have no place there"),
        ({"data": {"engine": "postgres"}}, "[data] engine: it is not a known choice. Known: 'spark'"),
        ({"data": {"table": "positions.csv"}}, "Store the table as Parquet. Or leave engine out"),
        ({"data": {"table": "two-*.parquet"}}, "they do not declare the same columns"),
        ({"data": {"person": "nobody"}}, "The column 'nobody'"),
        ({"output": {"keep_columns": ["nothing"]}}, "The column 'nothing'"),
        ({"perturb": {"kind": "series"}}, '[data] engine beside kind = "series"'),
    ],
)
def test_what_is_not_done_in_spark_is_said(changes: dict[str, Any], said: str, tmp_path: Path) -> None:
    table().to_parquet(tmp_path / "positions.parquet")
    table().to_csv(tmp_path / "positions.csv", index=False)
    for number in (1, 2):
        table().assign(more=range(500) if number == 1 else "x").to_parquet(tmp_path / f"two-{number}.parquet")
    assert said in refused(tmp_path, changes)


def test_a_geometry_is_refused(tmp_path: Path) -> None:
    """Beside columns of degrees it would go out as it is; alone, Spark has no type for it."""
    pytest.importorskip("geopandas")
    import geopandas as gpd

    frame = table()
    points = gpd.GeoDataFrame(frame, geometry=gpd.points_from_xy(frame["lon"], frame["lat"]), crs=4326)
    points.to_parquet(tmp_path / "positions.parquet")
    assert "it also has a geometry" in refused(tmp_path, {})
    alone = {"data": {"latitude": None, "longitude": None}}
    assert "Spark has no type for it" in refused(tmp_path, alone)


def test_an_attack_looks_on_this_machine(tmp_path: Path) -> None:
    pd.DataFrame({"lat": [39.9], "lon": [116.4]}).to_csv(tmp_path / "places.csv", index=False)
    pq.write_table(pa.table({"lat": [39.9], "lon": [116.4]}), tmp_path / "positions.parquet")
    given = merged({"perturb": {"kind": "location"}, **BASE}, {"data": {"engine": "spark"}, "attacker": PLACES})
    with pytest.raises(LeewardError, match="Take a sample of the table"):
        check_job(given, folder=tmp_path).attack(tmp_path / "out")


def test_a_task_counts_the_reports_of_one_person_together_however_their_number_is_written() -> None:
    """Found: the cost of the dearest person was told of ``7`` and of ``7.0``, each by itself."""
    geo = PlanarLaplace(box=(116.2, 39.75, 116.6, 40.1), within="200 m", factor=2)
    who = ["7", "7.0", None, " 7", "ann", None]
    rows = pa.record_batch({"who": who, "lat": [39.9] * 6, "lon": [116.4] * 6})
    counted = pa.Table.from_batches(_counted(geo.described, ("lat", "lon"), "who", None, None, 3, iter([rows])))
    found = counted.group_by("who").aggregate([("n", "sum")]).to_pydict()
    assert dict(zip(found["who"], found["n_sum"], strict=True)) == {"7": 3, "ann": 1, None: 2}
