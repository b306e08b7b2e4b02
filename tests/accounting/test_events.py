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
    read_event,
)
from leeward.accounting._events import KINDS
from leeward.errors import InexactError, InputError
from leeward.exact import Real, exact, exp, inf, log, sqrt
from leeward.exact._text import read, write

WRITTEN: list[tuple[Event, str]] = [
    (
        GeometricEvent("1/2", inf, moves=3, places=2),
        '{"format": 1, "kind": "geometric", "up": "1/2", "down": "inf", "moves": 3, "places": 2}',
    ),
    (
        LaplaceEvent(log(2) / 200, "0.1", moves="5/2"),
        '{"format": 1, "kind": "laplace", "up": [{"times": "1/200", "root": 1, "logs": [2]}], "down": "1/10",'
        ' "moves": "5/2", "places": 1}',
    ),
    (
        UnknownKeysEvent("1/3", inf, reach=9, places=2),
        '{"format": 1, "kind": "unknown keys", "up": "1/3", "down": "inf", "reach": 9, "places": 2}',
    ),
    (PureEvent("0", "3"), '{"format": 1, "kind": "pure", "withdraw": "0", "insert": "3"}'),
    (SanitizedEvent("1", stops=4), '{"format": 1, "kind": "sanitized", "up": "1", "stops": 4}'),
    (
        SubsampledEvent(GeometricEvent(log(1 + exp(1)), inf), "1"),
        '{"format": 1, "kind": "subsampled", "clear_price": "1", "event": {"format": 1, "kind": "geometric", "up":'
        ' [{"times": "1", "root": 1, "logs": [[["1", "0"], ["1", "1"]]]}], "down": "inf", "moves": 1, "places": 1}}',
    ),
    (
        ComposedEvent([PureEvent("1", sqrt("3/2"))]),
        '{"format": 1, "kind": "composed", "events": [{"format": 1, "kind": "pure", "withdraw": "1", "insert":'
        ' [{"times": "1/2", "root": 6, "logs": []}]}]}',
    ),
    (
        SelfComposedEvent(PureEvent("1", "1"), 7),
        '{"format": 1, "kind": "self-composed", "times": 7, "event":'
        ' {"format": 1, "kind": "pure", "withdraw": "1", "insert": "1"}}',
    ),
]
"""These texts must be readable for ever. Never change one; a new format adds its own."""


@pytest.mark.parametrize(("event", "text"), WRITTEN, ids=lambda v: v.kind if isinstance(v, Event) else "")
def test_every_text_ever_written_is_still_read(event: Event, text: str) -> None:
    assert read_event(json.loads(text)) == event
    assert event.to_dict() == json.loads(text)
    assert read_event(event.to_dict()) != PureEvent("9", "9")


def test_every_kind_is_among_them() -> None:
    assert {event.kind for event, _ in WRITTEN} == set(KINDS)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"format": None},
        {"kind": "gaussian"},
        {"kind": None},
        {"scale": "1"},
        {"moves": "many"},
        {"up": 0.5},
        {"up": "-1"},
        {"up": [{"times": "1"}]},
        {"up": [3]},
        {"up": 5.5},
    ],
    ids=str,
)
def test_what_is_not_understood_is_refused(change: dict[str, Any]) -> None:
    known = WRITTEN[0][0].to_dict()
    with pytest.raises(InputError):
        read_event(known | change)


def test_a_missing_field_is_refused_even_where_it_has_a_default() -> None:
    known = WRITTEN[0][0].to_dict()
    del known["moves"]
    with pytest.raises(InputError, match="moves missing"):
        read_event(known)


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
