# SPDX-License-Identifier: Apache-2.0
"""Odometers and filters: accounting for releases that are each chosen after seeing those before (pure, exact).

An *odometer* says at any moment what has been spent so far. A *filter* has a cap fixed beforehand and lets a release pass
only if the total stays within it; what passes through a filter is cap-private however cleverly releases are chosen. (Rogers,
Roth, Ullman, Vadhan, *Privacy odometers and filters*, 2016: with pure privacy, adding up the costs of the releases really
made is enough. The reason holds for directed distances word for word: along every path of answers the log-ratios add up.)
"""

from __future__ import annotations

from leeward._displayed import Displayed
from leeward._taught import taught
from leeward.accounting._events import Event
from leeward.accounting._pure import Cost, cost
from leeward.errors import CapExceededError
from leeward.exact._real import Exact, Real, positive
from leeward.notion import Notion


@taught
class Odometer(Displayed):
    """The exact total of what was released so far, in every direction."""

    def __init__(self) -> None:
        self._total = Cost()
        self._events: tuple[Event, ...] = ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} after {len(self._events):,} events: {self._total}>"

    @property
    def total(self) -> Cost:
        """What everything so far costs."""
        return self._total

    @property
    def events(self) -> tuple[Event, ...]:
        """What was released, in order."""
        return self._events

    def add(self, event: Event) -> Cost:
        """Count an event *before* it is drawn, and return the new total."""
        self._total, self._events = self._total + cost(event), (*self._events, event)
        return self._total


@taught
class Filter(Odometer):
    """An odometer that refuses what would go beyond its cap.

    Args:
        notion: what the cap is counted in.
        cap: how many times the notion may be spent in all, an exact number above 0. It must be chosen before anything is
            seen; a cap chosen in view of answers protects nothing.
    """

    def __init__(self, notion: Notion, cap: Exact) -> None:
        super().__init__()
        self.notion, self.cap = notion, positive(cap, "cap")

    def __repr__(self) -> str:
        return f"<Filter after {len(self.events):,} events: {self.spent} of {self.cap} × {self.notion} spent>"

    @property
    def spent(self) -> Real:
        """How many times the notion was spent."""
        return self._total.price_in(self.notion)

    def admits(self, event: Event) -> bool:
        """Return whether the event would stay within the cap. Asking is free."""
        return (self._total + cost(event)).within(self.notion, self.cap)

    def add(self, event: Event) -> Cost:
        """Count an event before it is drawn.

        Raises:
            CapExceededError: if it would go beyond the cap. Nothing is counted then, and smaller events may still pass.
        """
        if not self.admits(event):
            raise CapExceededError(
                f"An event of kind {event.kind}, {self.spent} of {self.cap} × {self.notion} being spent",
                "with it the total would go beyond the cap",
                "Ask for less, or stop here",
            )
        return super().add(event)
