"""Made-up releases: answers, a public list and a statement, with no data and no mechanism behind them."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from leeward._document import Document
from leeward._statement import DecisionStated, NumberStatement, Statement, VisitorStatement


@dataclass(frozen=True)
class FakeRelease:
    """The three things the report reads of a release."""

    answers: pa.Table
    places: pa.Table
    told: dict[str, Any]

    @property
    def statement(self) -> Statement:
        """The statement, as it is told at this moment."""
        return stated(self.told)


def stated(told: dict[str, Any]) -> Any:
    """Return a made-up statement as a document; what it does not tell is None."""
    kind: type[Document] = VisitorStatement if "decision" in told else NumberStatement
    if "decision" in told:
        curve = [{"safe": None, "dangerous": None, **entry} for entry in told["decision"]["curve"]]
        required = [name for name, field in DecisionStated.model_fields.items() if field.is_required()]
        told = {**told, "decision": {**dict.fromkeys(required), **told["decision"], "curve": curve}}
    return kind.model_validate_json(json.dumps(told))


def statement(places: int, **changes: Any) -> dict[str, Any]:
    """Return the statement of an addition-only release with ε = 1, safe at most 2; `changes` replace its parts."""
    made: dict[str, Any] = {
        "format": 1,
        "leeward": "0.1.0",
        "entry": "6d1c8a52-2f3e-4f5b-9a57-0d7a1f4f7e11",
        "created": "2026-11-20",
        "fit_for_release": True,
        "budget": {"notion": "addition-only per person", "price": "1"},
        "monitor": None,
        "dataset": "tokyo-checkins",
        "version": "1",
        "query": {
            "kind": "visitors",
            "text": f"How many distinct people were at each of {places:,} places between 2012-04-04 19:00 and 20:00?",
            "places": places,
            "window": {"start": "2012-04-04T19:00:00", "end": "2012-04-04T20:00:00", "timezone": None},
            "keep": {},
            "places_per_person": 1,
            "if_more": "latest",
        },
        "notion": {
            "name": "addition-only",
            "epsilon": "1",
            "unit": "person",
            "definition": "Whatever is published is at most e^ε times as likely with a person's records as without them: "
            "Pr[K(present) ∈ Z] ≤ e^ε · Pr[K(absent) ∈ Z].",
            "protects": "That a person was there: everyone present can pass as absent.",
            "does_not_protect": "That a person was absent.",
            "alternative": "Having no record in the data at all.",
        },
        "price": "1",
        "sensitivity": {
            "rise": "0",
            "fall": "1",
            "per_place": True,
            "text": "Taking a person away lowers one count by at most 1 and raises none.",
        },
        "mechanism": {
            "name": "geometric",
            "text": "Each count gets its own geometric noise, upwards only: k is added with probability ∝ e^(−k).",
            "rate_up": "1",
            "rate_down": "inf",
        },
        "decision": {
            "safe_at_most": 2,
            "threshold": 2,
            "never_wrong": True,
            "error_at_most": None,
            "error_at_most_over_all_places": None,
            "curve": [{"count": c, "safe": f"{max(0, 1 - math.exp(c - 3)):.4f}"} for c in range(7)],
        },
        "assumptions": ["The list of places does not depend on the data."],
        "theorems": ["Takagi et al., ADP, Theorem V.4; the one-sided geometric mechanism."],
        "guaranteed": ["Asking again with the same question returns the same answer."],
        "not_guaranteed": ["That two people who move together are hidden together: for both, ε doubles."],
    }
    made.update(copy.deepcopy(changes))
    return made


def release(
    states: Sequence[str],
    *,
    place: Sequence[Any] | None = None,
    name: Sequence[str | None] | None = None,
    latitude: Sequence[float | None] | None = None,
    longitude: Sequence[float | None] | None = None,
    count: Sequence[int | None] | None = None,
    answered: Sequence[bool] | None = None,
    **changes: Any,
) -> FakeRelease:
    """Build a release with the given states; coordinates, names and so on where given."""
    keys = list(place) if place is not None else [f"p{i}" for i in range(len(states))]
    answers: dict[str, Any] = {"place": keys}
    listed: dict[str, Any] = {"place": keys}
    if name is not None:
        answers["name"] = listed["name"] = pa.array(list(name), pa.string())
    answers["state"] = list(states)
    if answered is not None:
        answers["answered"] = list(answered)
    if count is not None:
        answers["count"] = pa.array(list(count), pa.int64())
    if latitude is not None and longitude is not None:
        listed["latitude"], listed["longitude"] = (pa.array(axis, pa.float64()) for axis in (latitude, longitude))
    return FakeRelease(pa.table(answers), pa.table(listed), statement(len(keys), **changes))


@pytest.fixture
def make_release() -> Callable[..., FakeRelease]:
    return release


@pytest.fixture
def make_statement() -> Callable[..., dict[str, Any]]:
    return statement
