# SPDX-License-Identifier: Apache-2.0
"""From the true positions that a trusted broker sends to reports: charged first, then drawn, and nothing of them is kept.

A refusal is about what was sent in the request itself, or about how many reports of an id were paid for on a day, which is
how much it was used and not where. It names no value. What else goes wrong is the curator's to know.
"""

from __future__ import annotations

import numpy as np

from leeward.errors import CapExceededError, DataError
from leeward.local.series._days import AS_WRITTEN, Days
from leeward.service._answering import Answering, NoDataSetError, PositionError
from leeward.service._brokers import FOR_BROKERS, Perturbing
from leeward.service._documents import ForBrokers, Perturbs, Position, Report, Reports
from leeward.service._tokens import Issued


class Brokering:
    """Perturbs what brokers send.

    Args:
        answering: what else the service does.
    """

    def __init__(self, answering: Answering) -> None:
        self._offers, self._public = answering.offers, answering.public

    def offered(self, who: Issued) -> ForBrokers:
        """Return the ways that a broker may have positions perturbed."""
        found = (
            Perturbs.copied_from(each, statement=each.job.statement().to_dict())
            for each in self._offers.of_broker(who.name)
        )
        return ForBrokers(who=FOR_BROKERS, perturb=tuple(found))

    def reports(self, who: Issued, name: str, positions: list[Position]) -> Reports:
        """Return the reports of some positions: all are charged, or none is.

        Raises:
            NoDataSetError: there is nothing of this name, or it is not for this broker.
            PositionError: a position or a time is none that may be sent.
            CapExceededError: a budget is spent, and the curator does not have such reports withheld.
            UnavailableError: the store of budgets cannot be used; the curator was told why.
        """
        offer = next((each for each in self._offers.of_broker(who.name) if each.name == name), None)
        if offer is None:
            raise NoDataSetError(
                "This address", "there is nothing of that name that you may send to", "See GET /perturb"
            )
        for sent in positions:
            if (sent.time is not None) != offer.timed:
                raise PositionError(
                    "A time that is missing" if offer.timed else "A time",
                    "it says to which day a report belongs"
                    if offer.timed
                    else "a report belongs to the day on which it is asked for",
                    'Send "time" with each position' if offer.timed else 'Leave "time" out',
                )
        return self._drawn(offer, positions)

    def _drawn(self, offer: Perturbing, positions: list[Position]) -> Reports:
        north, east = (np.array([getattr(at, key) for at in positions]) for key in ("latitude", "longitude"))
        times = [at.time for at in positions] if offer.timed else None
        calendar = Days(offer.job.spec.data.timezone)
        with self._public():
            try:
                calendar.of(times or ())
                if calendar.rule == AS_WRITTEN:  # the first to send one would choose for all how the store counts days
                    raise _sent_wrongly(offer)
                moved = offer.job.reports(north, east, [at.id for at in positions], times)
            except DataError:  # what it says is for the curator of a table
                raise _sent_wrongly(offer) from None
            except CapExceededError:
                raise CapExceededError(
                    "An id of this request has no report left on its day",
                    "so many reports of one person and day are paid for, whoever asks; nothing was charged or drawn",
                    "Wait for the next day; GET /perturb says how many there are, and how days are counted",
                ) from None
        cells = moved.cells if moved.cells is not None else [None] * len(positions)
        rows = zip(moved.latitude.tolist(), moved.longitude.tolist(), cells, strict=True)
        return Reports(
            reports=tuple(
                None if np.isnan(latitude) else Report(latitude=latitude, longitude=longitude, h3=cell)
                for latitude, longitude, cell in rows
            )
        )


def _sent_wrongly(offer: Perturbing) -> PositionError:
    zone = offer.job.spec.data.timezone
    offset = "with an offset from UTC" if zone is None else f"all with an offset from UTC, or all without in {zone}"
    return PositionError(
        "A position or a time of this request",
        f"positions are degrees of latitude and longitude in the public box, times ISO 8601, {offset}; nothing was charged"
        " or drawn",
        "GET /perturb says which box it is",
    )
