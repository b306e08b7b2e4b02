"""A desk over a folder of little tables, as a browser that was let in sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.cli.test_init import ROWS, VENUES

from leeward.desk._app import guarded
from leeward.desk._desk import Desk
from leeward.desk._drafts import Drafts
from leeward.desk._folder import Folder
from leeward.desk._guard import Entrance
from leeward.desk._jobs import Jobs

AUTHORITY = "127.0.0.1:8400"
ORIGIN = f"http://{AUTHORITY}"


@dataclass
class Seat:
    """A desk, and a browser in front of it."""

    folder: Path
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        files = Folder.of(self.folder)
        self.desk, self.entrance = Desk(files, Drafts(files), Jobs(self.told.append)), Entrance()
        self.app = guarded(self.desk, self.entrance, AUTHORITY, self.told.append)
        self.browser = self.another()

    def another(self) -> TestClient:
        """Return a browser that was not let in."""
        return TestClient(self.app, base_url=ORIGIN, follow_redirects=False)

    def enter(self) -> Seat:
        """Let the browser in."""
        assert self.browser.get(f"/enter?token={self.entrance.token}").status_code == 303
        return self

    def get(self, path: str, **headers: str) -> Any:
        """Ask for a page."""
        return self.browser.get(path, headers=headers)

    def post(self, path: str, fields: dict[str, str] | None = None, **headers: str) -> Any:
        """Send a form, as a page of the desk does; a header may be given otherwise, or left out as ''."""
        sent = {"origin": ORIGIN, **{name.replace("_", "-"): value for name, value in headers.items()}}
        form = {"secret": self.entrance.form, **self._of(path), **(fields or {})}
        return self.browser.post(path, data=form, headers={name: value for name, value in sent.items() if value})

    def _of(self, path: str) -> dict[str, str]:
        """What the page of a release says that it shows, which its form sends."""
        found = (
            re.search(r'name="of" value="([0-9a-f]{64})"', self.get(path).text) if path.endswith("/release") else None
        )
        return {"of": found[1]} if found else {}

    def drafted(self, file: str = "visits.csv", about: str = "visits") -> str:
        """Begin a draft and return its name."""
        answer = self.post("/drafts", {"file": file, "about": about})
        assert answer.status_code == 303, answer.text
        found = re.fullmatch(rf"/drafts/([a-z0-9-]+)/{about}", answer.headers["location"])
        assert found
        return found[1]


def write_tables(folder: Path) -> None:
    """Write the visits and the places of a little town."""
    lines = ["user,venue,when", *(f"{user},{venue},{when.isoformat()}" for user, venue, when in ROWS)]
    (folder / "visits.csv").write_text("\n".join(lines), "utf-8")
    listed = ["venue,name,lat,lon", *(f"{v},{v.upper()},35.{i}5,139.7" for i, v in enumerate(VENUES))]
    (folder / "places.csv").write_text("\n".join(listed), "utf-8")


@pytest.fixture
def outside(tmp_path: Path) -> Seat:
    """A desk whose browser was not let in yet."""
    folder = tmp_path / "tables"
    folder.mkdir()
    write_tables(folder)
    return Seat(folder)


@pytest.fixture
def seat(outside: Seat) -> Iterator[Seat]:
    """A desk, with a browser that was let in."""
    yield outside.enter()
    outside.desk.jobs.close()
