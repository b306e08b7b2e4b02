"""The examples run as they stand, in an empty folder, and say what they promise to say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

SAYS = {
    "busiest_hall.py": [
        r"any number of halls a person, noisy max: within 7 people",
        r"any number of halls a person, noisy counts: refused without a bound",
        r"5 halls a person, noisy counts: within 45 people",
        r"10:00 named as the busiest: north\n11:00 named as the busiest: court\n12:00 named as the busiest: west",
    ],
    "census.py": [
        r"dp +± 0\.65 years with 1,000 rows, ± 0\.11 with 10,000",
        r"<=50K +3[67]\.\d +24\d{3} ",
        "at most 13 rows",
        r"<=50K +34\b",
        r">50K +44\b",
    ],
    "early_leavers.py": [
        r"adp, each level +never below, ± 29 ",
        r"adp, all levels at once +± 60 ",
        r"blowfish, a level and the next +± 60 ",
        r"bounded-dp +± 60 ",
        r"Preschool +(5[1-9]|[6-9]\d|1\d\d)\b",
    ],
    "near_me.py": [
        r"Half of the reports lie within 489 m, 95 % within 1383 m\.",
        r"(\d: near 59\.\d{4}, 10\.\d{4}\n){5}6: refused: their budget does not pay for it",
    ],
    "compare_notions.py": [
        r"Presence +0\.9975 0\.9933 0\.9817 0\.9502 0\.8647 0\.6321 0\.0000 0\.0000  wrong at most: never",
        r"UnboundedDP +0\.9011 .* wrong at most: 0\.01",
    ],
    "evening_by_evening.py": [r"(2026-03-0[234] safe: .*\n){3}2026-03-05 refused: .*budget of 'market'"],
    "meters.py": [
        r"ε=0\.1 ε·d_1: noise on each reading +\d+ W +100 W +0\.9\d +0\.1 +6 ",
        r"ε=0\.1 ε·d_∞ an hour: norm noise +[23],\d+ W +3,050 W .* 0\.1 +0\.1 ",
        r"maximum +off by 0\.4800 kWh; all readings of a day moving by 10 W cost ε = 0\.5",
    ],
}


@pytest.mark.sweep
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.name)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for line in SAYS[path.name]:
        assert re.search(line, run.stdout), run.stdout
