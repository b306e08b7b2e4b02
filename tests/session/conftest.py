"""A little town: visits, a public list, and a spec, in a folder of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from leeward.cli import main

SPEC = """
[data]
visits = "visits.parquet"
person = "user"
place = "venue"
time = "at"

[places]
table = "places.parquet"
place = "venue"
latitude = "lat"
longitude = "lon"
name = "name"

[window]
start = 2026-01-01T18:00:00
end = 2026-01-01T19:00:00

[protect]
notion = "addition-only"
epsilon = "1"
places_per_person = 1
if_more = "latest"

[decide]
safe_at_most = 2

[publish]
what = "counts"

[budget]
ledger = "sqlite:///budget.db"
cap = "5"
dataset = "town"
"""


@dataclass
class Town:
    """A folder with data and spec; ``run`` runs the command there as a user would."""

    folder: Path
    capsys: Any
    counts: dict[str, int] = field(default_factory=dict)

    def spec(self, *changes: tuple[str, str]) -> Path:
        """Write the spec with some lines replaced."""
        text = SPEC
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = self.folder / "spec.toml"
        path.write_text(text)
        return path

    def run(self, *words: str | Path) -> tuple[int, str, str]:
        """Run ``leeward WORDS`` and return its exit code, stdout and stderr; whether a new budget is meant is answered."""
        if words[0] in ("release", "monitor") and not {"--dry-run", "--ask"} & {*map(str, words)}:
            words = (*words, "--yes")
        words = tuple(word for word in words if word != "--ask")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", ["leeward", *map(str, words)])
            with pytest.raises(SystemExit) as stopped:
                main()
        out, err = self.capsys.readouterr()
        return int(stopped.value.code or 0), out, err

    @property
    def out(self) -> Path:
        """Where releases go."""
        return self.folder / "out"

    def answers(self) -> pd.DataFrame:
        """Read what was released."""
        return pd.read_parquet(self.out / "answers.parquet")


@pytest.fixture
def town(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Town:
    """Forty places; place v<i> holds i mod 7 people at 18:30, none of them anywhere else."""
    made = Town(tmp_path, capsys)
    venues = [f"v{i}" for i in range(40)]
    made.counts = {venue: i % 7 for i, venue in enumerate(venues)}
    rows = [(f"p{v}-{k}", v, pd.Timestamp("2026-01-01T18:30")) for v, n in made.counts.items() for k in range(n)]
    rows.append(("p-late", "v0", pd.Timestamp("2026-01-01T19:00")))
    pd.DataFrame(rows, columns=["user", "venue", "at"]).to_parquet(tmp_path / "visits.parquet")
    pd.DataFrame(
        {
            "venue": venues,
            "name": [f"Place {v}" for v in venues],
            "lat": 35.6,
            "lon": [139.7 + i / 100 for i in range(40)],
        }
    ).to_parquet(tmp_path / "places.parquet")
    made.spec()
    return made
