"""Events are read back as written, in ten years too; what is only half understood is refused."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from leeward.accounting import (
    ComposedEvent,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
    UnknownKeysEvent,
)
from leeward.accounting._events import KINDS
from leeward.errors import InexactError, InputError
from leeward.exact import Real, exact, exp, inf, log, sqrt
from leeward.exact._text import read, write

EVENTS: list[Event] = [
    GeometricEvent("1/2", inf, moves=3, places=2),
    LaplaceEvent(log(2) / 200, "0.1", moves="5/2"),
    UnknownKeysEvent("1/3", inf, reach=9, places=2),
    PureEvent("0", "3"),
    SanitizedEvent("1", stops=4),
    SubsampledEvent(GeometricEvent(log(1 + exp(1)), inf), "1"),
    ComposedEvent([PureEvent("1", sqrt("3/2"))]),
    SelfComposedEvent(PureEvent("1", "1"), 7),
]


def test_every_kind_is_among_them() -> None:
    assert {event.kind for event in EVENTS} == set(KINDS)


def test_events_are_frozen_equal_by_value_and_can_be_counted() -> None:
    event = GeometricEvent("0.5", "1")
    with pytest.raises(AttributeError):
        event.up = exact(2)  # type: ignore[misc]
    assert {event, GeometricEvent("1/2", 1), copy.copy(event), pickle.loads(pickle.dumps(event))} == {event}
    assert event != GeometricEvent("1/2", 2)
    assert event != LaplaceEvent("1/2", 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: GeometricEvent(0, 1),
        lambda: GeometricEvent(1, 1, moves=0),
        lambda: GeometricEvent(1, 1, places=True),
        lambda: LaplaceEvent(1, 1, moves="0"),
        lambda: PureEvent("-1", 0),
        lambda: SanitizedEvent(1, stops=0),
        lambda: SubsampledEvent(PureEvent(1, 1), 0),
        lambda: SubsampledEvent("a count", 1),  # type: ignore[arg-type]
        lambda: SelfComposedEvent(PureEvent(1, 1), 0),
    ],
)
def test_malformed_events_are_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_floats_are_refused() -> None:
    with pytest.raises(InexactError):
        GeometricEvent(0.5, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "number",
    [
        exact("1/3"),
        inf,
        log(6) - log(5) * sqrt(2) / 7,
        log(1 + exp("1/3")) * log(3),
        log(1 + exp(log(2 + exp(1)) / 2)) / 3,
        -log(1 - exp("-1/2") / 2),
    ],
    ids=str,
)
def test_exact_numbers_keep_their_form(number: Real) -> None:
    again = read(json.loads(json.dumps(write(number))))
    assert again == number
    assert number.is_infinite or again.terms == number.terms
