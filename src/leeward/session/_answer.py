# SPDX-License-Identifier: Apache-2.0
"""Answers of several plans: all of them are reserved, counted, drawn and stored together, or none is charged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from leeward.session._session import Counts, PaidAnswer, PricedPlan, Session, charge_of, payload


def answer(
    asked: Sequence[tuple[Session, PricedPlan]],
    naming: Callable[[Session], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> list[PaidAnswer]:
    """Return the stored answers of plans; those that have none are reserved, counted, drawn and stored together.

    All counts stand before the first draw: so what fails because of the data fails before there is a draw to choose.

    Args:
        asked: each plan with the session that its table is open in; the sessions share their budget.
        naming: what goes around the counting of a session, to say in what is refused which question it is about.
    """
    from leeward.ledger import DrawnAnswer, Reserved

    if not asked:
        return []
    first, _ = asked[0]
    requests = [session.request(priced) for session, priced in asked]
    with first.ledger.reserve(requests, progress=first.progress) as reservation:
        due = dict[Reserved, tuple[Session, PricedPlan]]()
        for release, at in zip(reservation.releases, asked, strict=True):
            if release.answer is None:
                due.setdefault(release, at)
        counted = dict[Reserved, Counts]()
        for release, (session, priced) in due.items():
            with naming(session):
                counted[release] = session.count(priced)
        drawn = [session.draw(counted[release], at.plan.draw) for release, (session, at) in due.items()]
        if drawn:
            reservation.store([DrawnAnswer(payload(each)) for each in drawn])
    # of two that are one question, the first paid
    return [charge_of(release, counted.pop(release, None)) for release in reservation.releases]
