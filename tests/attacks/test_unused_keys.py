"""Attack: a key that is accepted and changes nothing: neither the statement, nor the question's key, plan or budget.

Who writes a key means something by it. Each key that a spec may have is put, with a plausible value, into specs of 30 kinds;
what is then accepted and not seen must be what the key is anyway, or one of the few that are documented to be for something
else. There are thousands of such pairs: a run takes some of them, by a seed. Change it, and their number, to try others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.spec.outcome import keys_of, merged
from tests.spec.test_release_keys import (
    ABOVE,
    BASES,
    BOX,
    CELLS,
    IN_SIXES,
    JOINED,
    JOINING,
    KEEPING,
    NUMBERS,
    POLICIES,
    POLICY,
    STOPPING,
    UNLISTED,
    VISITORS,
    folder,
)  # fmt: skip

from leeward.errors import LeewardError
from leeward.session._dry_run import dry_run
from leeward.spec import Spec, check_spec

_ = folder  # a fixture
HOW_MANY = 250

BARE = {"column": None, "lower": None, "upper": None}
COUNT = merged(NUMBERS, {"query": {**BARE, "kind": "count"}})
GROUPS = merged(COUNT, {"query": {"kind": "histogram", "by": {"sex": ["m", "f"]}}})
SAFE = merged(GROUPS, {"protect": {"notion": "addition-only"}, "decide": {"safe_at_most": 2}})
LEVELS = merged(NUMBERS, {**ABOVE, "protect": {"notion": "addition-only"}, "decide": {"safe_at_most": 2}})
NAMED = merged(
    VISITORS,
    {
        "query": {"kind": "busiest"},
        "decide": None,
        "publish": None,
        "protect": {"places_per_person": None, "if_more": None},
    },
)
KINDS: Mapping[str, Mapping[str, Any]] = {
    **BASES,
    **{kind: merged(NUMBERS, {"query": {"kind": kind}}) for kind in ("mean", "variance", "median", "min")},
    "rank": merged(NUMBERS, {"query": {"kind": "median", "mechanism": "rank"}}),
    "percentiles": merged(NUMBERS, {"query": {"kind": "percentile", "p": ["30", "60"]}}),
    "count": COUNT,
    "groups": GROUPS,
    "intervals": merged(NUMBERS, IN_SIXES),
    "safe": SAFE,
    "sanitized": merged(SAFE, {"publish": {"mechanism": "sanitized"}}),
    "levels": LEVELS,
    "many": merged(
        LEVELS, {"protect": {"notion": "removal-only"}, "decide": {"safe_at_most": None, "dangerous_at_least": 3}}
    ),
    "name": NAMED,
    "group": merged(GROUPS, {"query": {"kind": "quietest"}}),
    "presence": merged(STOPPING, {"protect": {"notion": "presence"}}),
    "dangerous": merged(
        VISITORS,
        {"protect": {"notion": "removal-only"}, "decide": {"safe_at_most": None, "dangerous_at_least": 3}},
    ),
    "everyone": merged(VISITORS, {"decide": {"about": "everyone"}}),
    "windows": merged(VISITORS, {"window": {"every": "30min"}}),
    "joined": merged(NUMBERS, JOINED),
    "first": merged(UNLISTED, {"protect": {"if_more": "first", "groups_per_person": 2}}),
    "rows": merged(NUMBERS, {"data": {"person": "each row"}}),
    "adp": merged(POLICIES, KEEPING),
    "blowfish": merged(POLICIES, JOINING),
    "cells": CELLS,
}

VALUES: Mapping[str, list[Any]] = {
    "data.visits_table": ["visits"], "data.place": ["venue"], "data.time": ["at", "joined"], "data.latitude": ["lat"],
    "data.longitude": ["lon"], "data.keep": [{"state": ["IN"]}, {"sex": ["m"]}], "data.timezone": ["UTC"],
    "data.time_unit": ["s"], "data.delimiter": [";"], "data.encoding": ["latin-1"], "data.decimal": [","],
    "data.time_format": ["yyyy-mm-dd HH:MM:SS"], "data.spark": [{"master": "local[1]"}], "data.table": ["older.parquet"],
    "data.visits": ["more.parquet"],
    "query.column": ["weight"], "query.lower": ["1"], "query.upper": ["9"], "query.step": ["2", "1/2"],
    "query.p": ["30", ["20", "30"]], "query.people": [4], "query.grid": ["1/4"], "query.levels": [["2"]],
    "query.by": [{"weight": [3]}, "sex"], "query.most_groups": [5], "query.others": ["else", 9],
    "query.combine": ["sum", "max"], "query.mechanism": ["rank"],
    "places.table": ["turned.parquet"], "places.place": ["other"], "places.latitude": ["lat"], "places.longitude": ["lon"],
    "places.name": ["name"], "places.places_table": ["places"], "places.delimiter": [";"], "places.encoding": ["latin-1"],
    "places.decimal": [","], "places.grid": [BOX],
    "window.every": ["20min"], "window.windows": [[], [{"start": "2026-01-01T19:00", "end": "2026-01-01T20:00"}]],
    "windows": [[], [{"start": "2026-01-01T19:00", "end": "2026-01-01T20:00"}]],
    "protect.epsilon": ["41"], "protect.presence": ["1"], "protect.absence": ["1"], "protect.unit": ["2"],
    "protect.policies": [POLICY, []], "protect.absent_too": [True], "protect.sensitive": [{"age": [5]}, {}],
    "protect.reading": ["non-sensitive"], "protect.edges": [[["f", "x"]], []], "protect.partition": [[["f", "m", "x"]], []],
    "protect.places_per_person": [2], "protect.groups_per_person": [3], "protect.if_more": ["earliest", "first"],
    "protect.delta": ["1e-9"],
    "decide.safe_at_most": [3], "decide.dangerous_at_least": [9], "decide.error_at_most": ["0.3"],
    "decide.useful_from": ["0.5"], "decide.about": ["everyone"], "decide.left_out": [1],
    "publish.what": ["counts"], "publish.mechanism": ["sanitized", "adaptive"], "publish.stop_after": [2],
    "budget.cap": ["999"], "budget.version": ["2"], "budget.notion": ["dp"], "budget.cap_delta": ["1/2"],
}  # fmt: skip
"""Values that keys may be meant to have, none of which is what a key is where it is left out."""

ELSEWHERE = {
    *{"query.kind", "window.start", "window.end", "windows.start", "windows.end", "window.windows.start"},
    *{"window.windows.end", "data.person", "protect.notion", "protect.policies.within", "protect.policies.outside"},
    *{f"places.grid.{key}" for key in ("west", "south", "east", "north", "metres", "h3")},
    *{"data.engine", "query.accept_useless", "budget.ledger", "budget.dataset"},
}
"""Keys that every spec of the kind has, or that are of another key here, or say what is done and not what is asked."""


def is_meant(kind: str, key: str, given: Mapping[str, Any]) -> bool:
    """Whether a key may be without effect on a release: guesses are for `plan` too, and the sanitized one is usual."""
    counted = given.get("decide", {}).get("about") != "everyone"
    return (key == "decide.left_out" and counted) or (kind == "levels" and key == "publish.mechanism")


def pairs() -> Iterator[tuple[str, str, Any]]:
    for kind in KINDS:
        for key, values in VALUES.items():
            yield from ((kind, key, value) for value in values)


def seen(given: Mapping[str, Any], folder: Path) -> str:
    """Everything that a release of a spec is about, but for the data."""
    spec = check_spec(dict(given), folder=folder)
    plans, budget = spec.plans(), spec.ledger()
    found = dry_run(plans, budget)
    told = [statement.to_dict() for statement in found.statements]
    return json.dumps(told, default=str, sort_keys=True) + repr((found.keyed, plans, budget))


def put(given: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    change = value
    for part in reversed(key.split(".")):
        change = {part: change}
    return merged(given, change)


def test_every_key_has_a_value() -> None:
    assert set(keys_of(Spec)) - ELSEWHERE == {*VALUES} - {"places.grid"}


@pytest.mark.sweep
def test_no_key_is_accepted_that_changes_nothing(folder: Path) -> None:
    draw, every, accepted = random.Random(15), [*pairs()], 0
    unchanged = {kind: seen(given, folder) for kind, given in KINDS.items()}
    for kind, key, value in draw.sample(every, HOW_MANY):
        given = put(KINDS[kind], key, value)
        if given == KINDS[kind] or is_meant(kind, key, given):
            continue
        try:
            found = seen(given, folder)
        except LeewardError:
            continue
        accepted += 1
        assert found != unchanged[kind], (kind, key, value)
    assert accepted > HOW_MANY // 10
