# SPDX-License-Identifier: Apache-2.0
from ._events import (
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
from ._odometer import Filter, Odometer
from ._price_between_units import price
from ._privacy_loss import Accountant, Direction
from ._pure import Cost, cost
from ._units import Cut, Unit, parallel, parts_touched

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
]
