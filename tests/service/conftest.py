"""A service over two little data sets, and analysts in front of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from leeward.noise import Bits
from leeward.service._answering import Answering
from leeward.service._app import guarded
from leeward.service._offers import Offers, read_offers

AUTHORITY = "127.0.0.1:8401"

SERVICE = """
tokens = "tokens.json"
hosts = ["data.example.org"]
seconds = 1

[data_sets.town]
about = "Visits to four venues"
spec = "town.toml"
kinds = ["visitors", "busiest"]
notions = ["addition-only", "dp"]
most_epsilon = "2"

[data_sets.people]
spec = "people.toml"
kinds = ["count", "sum", "mean", "median", "histogram"]
notions = ["addition-only", "dp"]
most_epsilon = "2"
columns = ["age"]
groups = { ward = ["north", "south"] }
"""

TOWN = """
[data]
visits = "visits.csv"
person = "user"
place = "venue"
time = "at"

[places]
table = "places.csv"
place = "venue"

[budget]
ledger = "budget.db"
dataset = "town"
cap = "4"
notion = "addition-only"
"""

PEOPLE = """
[data]
table = "people.csv"
person = "id"

[budget]
ledger = "budget.db"
dataset = "people"
cap = "4"
notion = "addition-only"
"""

VISITS = [(f"p{i}", "abc"[i % 3], f"2026-01-01T18:{i:02}:00") for i in range(24)]
ROWS = [(f"p{i}", 20 + 7 * i % 50, ("north", "south")[i % 2]) for i in range(30)]

WHEN = {"start": "2026-01-01T18:00", "end": "2026-01-01T19:00"}
SAFE: dict[str, Any] = {
    "window": WHEN,
    "protect": {"notion": "addition-only", "epsilon": "1", "places_per_person": 1, "if_more": "latest"},
    "decide": {"safe_at_most": 3},
    "publish": {"what": "counts"},
}
"""A question about the town."""

SUM: dict[str, Any] = {
    "query": {"kind": "sum", "column": "age", "lower": 0, "upper": 100, "combine": "min", "by": {"ward": ["north"]}},
    "protect": {"notion": "dp", "epsilon": "1"},
}
"""A question about the people."""


def with_(asked: Mapping[str, Any], section: str, **keys: Any) -> dict[str, Any]:
    """Return a question with keys of a section in the place of its own; None takes one away."""
    held = {**asked.get(section, {}), **keys}
    return {**asked, section: {key: value for key, value in held.items() if value is not None}}


def write_tables(folder: Path, visits: Any = VISITS, rows: Any = ROWS) -> None:
    """Write the tables and their specs."""
    texts = {"service.toml": SERVICE, "town.toml": TOWN, "people.toml": PEOPLE, "places.csv": "venue\na\nb\nc\nd\n"}
    texts["visits.csv"] = "user,venue,at\n" + "".join(f"{u},{v},{at}\n" for u, v, at in visits)
    texts["people.csv"] = "id,age,ward\n" + "".join(f"{i},{age},{ward}\n" for i, age, ward in rows)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


@dataclass
class Stand:
    """A service, and the analysts in front of it."""

    folder: Path
    bits: Bits | None = None
    told: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.offers: Offers = read_offers(self.folder / "service.toml")
        self.answering = Answering(self.offers, self.told.append, self.bits)
        self.app = guarded(self.answering, [AUTHORITY, "data.example.org"], self.told.append)
        self.browser = TestClient(self.app, base_url=f"http://{AUTHORITY}", follow_redirects=False)

    def token(self, name: str, **caps: str) -> str:
        """Give an analyst a token."""
        exactly = {data_set: Fraction(cap) for data_set, cap in caps.items()}
        self.tokens[name] = self.offers.tokens.create(name, exactly)
        return self.tokens[name]

    def get(self, path: str, who: str = "ann", **headers: str) -> Any:
        """Ask, with the token of an analyst."""
        return self.browser.get(path, headers={"authorization": f"Bearer {self.tokens[who]}", **headers})

    def post(self, path: str, data_set: str, spec: Any, who: str = "ann", **more: Any) -> Any:
        """Send a question."""
        headers = {"authorization": f"Bearer {self.tokens[who]}"}
        return self.browser.post(path, json={"data_set": data_set, "spec": spec, **more}, headers=headers)


@pytest.fixture
def stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stand:
    """A service with two analysts: ann may ask both data sets, bob the town."""
    at_once(monkeypatch)
    write_tables(tmp_path)
    made = Stand(tmp_path)
    made.token("ann", town="2", people="2")
    made.token("bob", town="3")
    return made


async def _at_once(_: float) -> None:
    """Do not wait."""


def at_once(patch: pytest.MonkeyPatch) -> None:
    """Let nothing wait for a whole multiple of the service's seconds."""
    patch.setattr("leeward.service._app.sleep", _at_once)
    patch.setattr("leeward.service._answering.sleep", lambda _: None)
