"""What clocks of a zone show, by an oracle that asks Python of each time alone; also after 2037, where Arrow fails."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from leeward.tables._sheets import write_table
from leeward.tables._zones import instants

EPOCH = datetime(1970, 1, 1)
TICK = timedelta(microseconds=1)
SPAN = timedelta(days=9)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("Europe/Paris", datetime(2026, 3, 29, 1)),
        ("Europe/Paris", datetime(2040, 10, 28, 1)),
        ("America/New_York", datetime(2101, 3, 13, 7)),
        ("Australia/Lord_Howe", datetime(2038, 4, 3, 15)),
        ("Antarctica/Troll", datetime(2045, 3, 26, 1)),
        ("Pacific/Apia", datetime(2011, 12, 30, 10)),
        ("Europe/Amsterdam", datetime(1937, 6, 30, 22, 40, 28)),
    ],
)
def test_instants_of_readings(name: str, change: datetime) -> None:
    rng, zone = random.Random(name), ZoneInfo(name)
    begins, ends = (each.replace(tzinfo=UTC).astimezone(zone) for each in (change - TICK, change))
    assert begins.utcoffset() != ends.utcoffset(), "clocks do not change there"
    edges = [each.replace(tzinfo=None, fold=0) for each in (begins, ends)]
    readings = [edge + timedelta(minutes=rng.randrange(-200, 200)) for edge in edges for _ in range(40)]
    readings += [edge + more * TICK for edge in edges for more in (-1, 0, 1)]
    ticks = np.array([(each - EPOCH) // TICK for each in readings])
    first, stop = ((change + more - EPOCH) // TICK for more in (-SPAN, SPAN))
    early, late = instants(ticks, zone, first, stop)
    for reading, *found in zip(readings, early.tolist(), late.tolist(), strict=True):
        both = [reading.replace(tzinfo=zone, fold=fold).astimezone(UTC).replace(tzinfo=None) for fold in (0, 1)]
        assert found == sorted((each - EPOCH) // TICK for each in both), reading


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("name", ["Europe/Paris", "Asia/Kolkata", "America/St_Johns"])
def test_instants_are_written_as_the_clock_shows_them(name: str, unit: str, tmp_path: Path) -> None:
    zone, size = ZoneInfo(name), {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    moments = [datetime(year, month, 1, 22, 5, tzinfo=UTC) for year in (1969, 2026, 2038, 2100) for month in (1, 7)]
    ticks = [int(each.timestamp()) * size + size // 4 for each in moments]
    path = tmp_path / "t.csv"
    write_table(pa.table({"t": pa.array([*ticks, None], pa.timestamp(unit, name))}), path)
    _, *lines, missing = path.read_text().splitlines()
    assert missing == ""
    for line, moment in zip(lines, moments, strict=True):
        shown = moment.astimezone(zone)
        quarter = f"{size // 4:0{len(str(size)) - 1}d}"
        rest = f".{quarter}" if size > 1 else ""
        assert line == f'"{shown:%Y-%m-%d %H:%M:%S}{rest}{shown:%z}"'


@pytest.mark.parametrize("name", ["UTC", "+02:00", None])
def test_what_no_rule_changes_is_left_to_arrow(name: str | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(pa.table({"t": pa.array([datetime(2038, 7, 1, 12)], pa.timestamp("s", name))}), path)
    assert path.read_text().splitlines()[1] in {
        "2038-07-01 12:00:00Z",
        "2038-07-01 14:00:00+0200",
        "2038-07-01 12:00:00",
    }
