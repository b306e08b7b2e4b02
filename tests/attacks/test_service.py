# SPDX-License-Identifier: Apache-2.0
"""An attack on the service: one person's rows, as odd as they may be, change nothing that an analyst sees but the noise.

The tables are neighbours: they differ in the rows of one person, who is everywhere, has numbers beyond all bounds or that
are none, or times that cannot be read. Every kind of question that may be offered is asked of each of them; status, headers
and body must be the same byte by byte, the random id and the drawn numbers aside.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import ROWS, SAFE, SERVICE, VISITS, WHEN, Stand, at_once, with_, write_tables
from tests.service.test_service_neighbours import seen

HOURS = [f"2026-01-01T18:{minute:02}:59" for minute in range(36)]
THEIRS: dict[str, tuple[list[Any], list[Any]]] = {
    "everywhere": (
        [("p0", place, at) for place, at in zip("abcd" * 9, HOURS, strict=True)],
        [("p0", 10**20, "north"), ("p0", -5, "south"), ("p0", "nan", "west")],
    ),
    "unreadable": (
        [("p0", "a", "xx"), ("p0", "a", "2026-01-01T18:00:00Z"), ("p0", "", "2026-01-01T18:00:00")],
        [("p0", "", ""), ("p0", "many", "north"), ("p0", "1e400", "south"), ("p0", "0x10", "NORTH")],
    ),
}
BETWEEN = {"column": "age", "lower": 0, "upper": 100}
BY = {"ward": ["north", "south"]}
KINDS: dict[str, dict[str, Any]] = {
    "sum": BETWEEN | {"by": {"ward": ["south"]}, "others": "other"},
    "mean": BETWEEN,
    "median": BETWEEN,
    "percentile": BETWEEN | {"p": ["10", "90"]},
    "max": BETWEEN,
    "variance": BETWEEN,
    "histogram": BETWEEN | {"step": 10},
    "count": {"by": BY},
    "above": {"column": "age", "levels": [20, 50, 90]},
    "busiest": {"by": BY},
}
NOTIONS = ("addition-only", "dp")


def questions(notion: str) -> list[tuple[str, dict[str, Any]]]:
    """Everything that is asked under a notion; what of it is refused is refused of every table."""
    protect, found = {"notion": notion, "epsilon": "1"}, list[tuple[str, dict[str, Any]]]()
    decide = {"safe_at_most": 5} | ({} if notion == "addition-only" else {"error_at_most": "0.05"})
    for kind, keys in KINDS.items():
        combine = "sum" if kind in ("sum", "histogram") else "min"
        asked = {"query": {"kind": kind, "combine": combine, **keys}, "protect": protect}
        found.append(("people", asked | ({"decide": decide} if kind == "above" else {})))
    found.append(
        ("people", {"query": {"kind": "count", "combine": "max"}, "protect": protect, "keep": {"ward": ["north"]}})
    )
    for bound in ({"places_per_person": 1, "if_more": "latest"}, {"places_per_person": 3, "if_more": "earliest"}):
        asked = SAFE | {"protect": protect | bound, "decide": decide}
        found += [("town", asked), ("town", with_(asked, "window", start="2025-01-01T00:00", end="2025-01-02T00:00"))]
        found.append(("town", with_(asked, "publish", what="decisions", mechanism="sanitized", stop_after=2)))
        found.append(("town", {"query": {"kind": "quietest"}, "window": WHEN, "protect": protect | bound}))
    return found


@pytest.fixture(scope="module")
def stands(tmp_path_factory: pytest.TempPathFactory) -> list[Stand]:
    """A service over each of the neighbouring tables."""

    def over(folder: Path, visits: list[Any], rows: list[Any]) -> Stand:
        write_tables(folder, visits, rows)
        offered = SERVICE.replace('"addition-only", "dp"', ", ".join(f'"{notion}"' for notion in NOTIONS))
        offered = offered.replace('"visitors", "busiest"', '"visitors", "quietest"').replace('"count", "sum", ', "")
        offered = offered.replace('"mean", "median", "histogram"', ", ".join(f'"{kind}"' for kind in KINDS))
        (folder / "service.toml").write_text(offered, "utf-8")
        for spec in ("town.toml", "people.toml"):
            text = (folder / spec).read_text("utf-8").replace('cap = "4"', 'cap = "400"')
            (folder / spec).write_text(text, "utf-8")
        made = Stand(folder)
        made.token("ann", town="400", people="400")
        return made

    others = [[row for row in rows if row[0] != "p0"] for rows in (VISITS, ROWS)]
    tables = [(VISITS, ROWS), *((others[0] + visits, others[1] + rows) for visits, rows in THEIRS.values())]
    return [over(tmp_path_factory.mktemp("over"), *table) for table in tables]


@pytest.mark.sweep
@pytest.mark.long
@pytest.mark.parametrize("notion", NOTIONS)
def test_no_kind_of_question_tells_neighbours_apart(
    stands: list[Stand], notion: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once(monkeypatch)
    answered = 0
    for data_set, asked in questions(notion):
        answers = [stand.post("/release", data_set, asked, accept_useless=True) for stand in stands]
        first, *more = [seen(each, is_answer=each.status_code == 200) for each in answers]
        assert first[0] in (200, 422), asked
        assert more == [first] * len(more), asked
        answered += first[0] == 200
    assert answered >= 5
    assert not any(stand.told for stand in stands)
