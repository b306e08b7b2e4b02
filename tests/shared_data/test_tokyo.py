"""The main job on real check-ins (Foursquare, Tokyo; Yang et al. 2015), against figures worked out independently.

The data is not ours to bundle. These tests look for it where ``LEEWARD_SHARED_DATA`` says, or beside the project, and skip
with a reason where it is not.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pandas as pd
import psycopg
import pytest
from tests.postgres import Server
from tests.spark import spark

import leeward as lw
from leeward.cli import main
from leeward.engine import open_data, read_keys

_FOLDER = Path(os.environ.get("LEEWARD_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
_CHECKINS = _FOLDER / "tokyo_checkins_20120404_08.parquet"

pytestmark = pytest.mark.skipif(
    not _CHECKINS.is_file(), reason="the Tokyo check-ins are not here (they may not be bundled)"
)

_SPEC = """
[data]
visits = "{checkins}"
person = "user"
place = "venue"
time = "jst"
[places]
table = "places.parquet"
place = "venue"
latitude = "lat"
longitude = "lon"
[window]
start = 2012-04-04T19:00:00
end = 2012-04-04T20:00:00
[protect]
notion = "{notion}"
epsilon = "1"
places_per_person = 1
if_more = "{if_more}"
[decide]
safe_at_most = 2
[budget]
ledger = "sqlite:///budget.db"
cap = "1000"
dataset = "tokyo"
version = "{version}"
"""


def _release(
    folder: Path, capsys: pytest.CaptureFixture[str], notion: str, if_more: str, version: int = 1
) -> tuple[int, str]:
    checkins = pd.read_parquet(_CHECKINS)
    checkins.drop_duplicates("venue")[["venue", "lat", "lon"]].to_parquet(folder / "places.parquet")
    spec = folder / "spec.toml"
    spec.write_text(_SPEC.format(checkins=_CHECKINS, notion=notion, if_more=if_more, version=version))
    return _run(spec, folder / "out", capsys)


def _run(spec: Path, out: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["leeward", "release", str(spec), "--out", str(out), "--yes"])
        with pytest.raises(SystemExit) as stopped:
            main()
    return int(stopped.value.code or 0), capsys.readouterr().err


def _true_counts() -> pd.Series:
    """Each person's last check-in of the hour, counted by a few lines of pandas that share nothing with the engine."""
    checkins = pd.read_parquet(_CHECKINS)
    venues = checkins.drop_duplicates("venue")["venue"]
    hour = checkins[(checkins["jst"] >= "2012-04-04 19:00") & (checkins["jst"] < "2012-04-04 20:00")]
    rank = dict(zip(venues, range(len(venues)), strict=True))
    last = hour.assign(rank=hour["venue"].map(rank)).sort_values(["jst", "rank"], ascending=[True, False])
    return last.groupby("user")["venue"].last().value_counts().reindex(venues, fill_value=0)


def test_the_known_facts_of_the_hour() -> None:
    counts = _true_counts()
    assert counts.clip(upper=5).value_counts().to_dict() == {0: 4101, 1: 214, 2: 11, 3: 2, 4: 2, 5: 1}


def test_the_counts_are_these_inside_a_database_too(postgres: Server, postgres_database: str) -> None:
    checkins = pd.read_parquet(_CHECKINS)
    address = postgres.address(postgres_database)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS tokyo")
        connection.execute('CREATE TABLE tokyo ("user" bigint, venue text, jst timestamp)')
        with connection.cursor().copy(b"COPY tokyo FROM STDIN") as copy:
            for user, venue, jst in checkins[["user", "venue", "jst"]].itertuples(index=False):
                copy.write_row((int(user), str(venue), jst.to_pydatetime()))
    listed = lw.places(checkins.drop_duplicates("venue")[["venue"]], place="venue")
    seen = lw.visits(
        lw.query.Source(address, table="tokyo"), person="user", place="venue", time="jst", engine="postgres"
    )
    hour = {"start": "2012-04-04T19:00", "end": "2012-04-04T20:00"}
    asked = lw.count_visitors(seen, listed, **hour, places_per_person=1, if_more="latest")
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.exactly(asked, "answer").counts.tolist() == _true_counts().tolist()


@pytest.mark.sweep
@pytest.mark.filterwarnings("ignore:unclosed.*socket:ResourceWarning")
def test_the_release_is_the_same_by_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same spec, released by DuckDB, then by Spark: the same counts, and the same stored answer, paid for once."""
    spark()
    code, _ = _release(tmp_path, capsys, "addition-only", "latest")
    assert code == 0
    spec = tmp_path / "spec.toml"
    spec.write_text(spec.read_text().replace("[data]", '[data]\nengine = "spark"'))
    code, err = _run(spec, tmp_path / "again", capsys)
    assert code == 0, err
    for name in ("release.json", "answers.parquet"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
    seen = lw.visits(_CHECKINS, person="user", place="venue", time="jst", engine="spark")
    listed = lw.places(pd.read_parquet(_CHECKINS).drop_duplicates("venue")[["venue"]], place="venue")
    hour = {"start": "2012-04-04T19:00", "end": "2012-04-04T20:00"}
    asked = lw.count_visitors(seen, listed, **hour, places_per_person=1, if_more="latest")
    with open_data(asked, read_keys(asked)) as opened:
        assert opened.exactly(asked, "answer").counts.tolist() == _true_counts().tolist()


def test_safe_is_said_as_often_as_it_should_and_never_wrongly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fresh entropy: outside four standard deviations with probability below 1e-4."""
    code, _ = _release(tmp_path, capsys, "addition-only", "latest")
    assert code == 0
    answers = pd.read_parquet(tmp_path / "out" / "answers.parquet").set_index("place")["state"]
    counts = _true_counts()
    assert list(answers.index) == list(counts.index)
    assert not (answers[counts > 2] == "safe").any()
    chances = {c: 1 - math.exp(-(3 - c)) for c in range(3)}
    expected = sum(chances[c] for c in counts[counts <= 2])
    spread = math.sqrt(sum(chances[c] * (1 - chances[c]) for c in counts[counts <= 2]))
    assert expected == pytest.approx(4089, abs=1)
    assert abs((answers == "safe").sum() - expected) < 4 * spread


def test_presence_is_refused_with_the_number_of_people_over_the_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = _release(tmp_path, capsys, "presence", "refuse")
    assert code == 2
    checkins = pd.read_parquet(_CHECKINS)
    hour = checkins[(checkins["jst"] >= "2012-04-04 19:00") & (checkins["jst"] < "2012-04-04 20:00")]
    over = (hour.groupby("user")["venue"].nunique() > 1).sum()
    assert f"{over} people" in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_statement_holds_no_number_of_the_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _release(tmp_path, capsys, "addition-only", "latest")
    text = (tmp_path / "out" / "release.json").read_text()
    assert json.loads(text)["query"]["places"] == 4331  # the public list
    for private in (
        "8261",
        "8,261",
        "1467",
        "435",
        "255",
        "7826",
        "7,826",
        "84 ",
    ):  # rows, people, dropped, over the bound
        assert private not in text.replace(json.loads(text)["entry"], "")
