# SPDX-License-Identifier: Apache-2.0
"""What ``leeward monitor --json`` prints, as a typed document: each window in short, and where the monitor stands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from leeward._document import Document, Part
from leeward._statement import VisitorStatement, WindowStated
from leeward.session._result import Release


class Asked(Part):
    """One window that was asked.

    Attributes:
        window: when.
        places: how many are listed.
        answered: how many of them were answered before the stop.
        safe: how many were called that.
        charged: what was charged now: "0" for what was paid for before, and while all is safe.
    """

    window: WindowStated
    places: int
    answered: int
    safe: int
    charged: str


class Monitored(Document):
    """The windows that are over, and where the monitor stands behind them; with ``--until`` others may have been asked.

    Attributes:
        format: 1.
        windows: those asked, in order.
        stops: how many counts could not be called safe, in these windows.
        stopped: whether it has stopped for good behind them.
        spent: what that cost, in whichever runs.
    """

    format: Literal[1]
    windows: tuple[Asked, ...]
    stops: int
    stopped: bool
    spent: str


def asked(releases: Iterable[Release]) -> tuple[Asked, ...]:
    """Return windows in short."""
    return tuple(map(_asked, releases))


def _asked(one: Release) -> Asked:
    assert isinstance(one.statement, VisitorStatement)
    return Asked(
        window=one.statement.query.window,
        places=one.answers.num_rows,
        answered=one.answers["answered"].to_pylist().count(True),
        safe=one.answers["state"].to_pylist().count("safe"),
        charged=one.curator.charged,
    )
