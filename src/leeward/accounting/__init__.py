"""Accounting that knows its direction: what releases cost, each way, and what is left."""

from leeward.accounting.events import (
    ComposedEvent,
    Event,
    GeometricEvent,
    LaplaceEvent,
    PureEvent,
    SanitizedEvent,
    SelfComposedEvent,
    SubsampledEvent,
    read_event,
)
from leeward.accounting.losses import Accountant, Direction
from leeward.accounting.odometer import Filter, Odometer
from leeward.accounting.prices import price
from leeward.accounting.pure import Cost, cost
from leeward.accounting.units import Cut, Unit, parallel, parts_touched

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
    "cost",
    "parallel",
    "parts_touched",
    "price",
    "read_event",
]
