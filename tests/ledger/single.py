"""Ledgers asked for one release at a time: a reservation of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

from leeward.ledger import Answer, DrawnAnswer, Ledger, Request, Reservation


class Single:
    """The one release of a reservation."""

    def __init__(self, reservation: Reservation) -> None:
        self.reservation = reservation
        (self.release,) = reservation.releases

    @property
    def id(self) -> str:
        return self.release.id

    @property
    def cost(self) -> Fraction:
        return self.release.cost

    @property
    def delta(self) -> Fraction:
        return self.release.delta

    @property
    def answer(self) -> bytes | None:
        return self.release.answer

    @property
    def opened(self) -> bool:
        return self.release.opened

    def store(self, payload: bytes, cost: Fraction | None = None) -> None:
        self.reservation.store([DrawnAnswer(payload, cost)])


@contextmanager
def reserve(ledger: Ledger, request: Request, **how: Any) -> Iterator[Single]:
    """Reserve one release."""
    with ledger.reserve([request], **how) as reservation:
        yield Single(reservation)


def peek(ledger: Ledger, dataset: str, version: str, key: str) -> Answer | None:
    """The stored answer of a key."""
    return ledger.charged(dataset, [(version, key)]).get((version, key))
