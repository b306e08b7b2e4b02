# SPDX-License-Identifier: Apache-2.0
"""Accounting that knows its direction: what releases cost, each way, and what is left."""

from leeward.accounting._events import (
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
from leeward.accounting._odometer import Filter, Odometer
from leeward.accounting._price_between_units import price
from leeward.accounting._privacy_loss import Accountant, Direction
from leeward.accounting._pure import Cost, cost
from leeward.accounting._units import Cut, Unit, parallel, parts_touched

__all__ = [
    "Accountant",
    "ComposedEvent",
    "Cost",
    "Cut",
    "Direction",
    "Event",
    "Filter",
    "GeometricEvent",
    "LaplaceEvent",
    "Odometer",
    "PureEvent",
    "SanitizedEvent",
    "SelfComposedEvent",
    "SubsampledEvent",
    "Unit",
    "UnknownKeysEvent",
    "cost",
    "parallel",
    "parts_touched",
    "price",
    "read_event",
]
