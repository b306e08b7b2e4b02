# SPDX-License-Identifier: Apache-2.0
"""One release, or several of one spec: from plans to what may be published, each step once and in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from leeward._progress import Progress, silent
from leeward._taught import taught
from leeward.errors import InputError, SpecError, check_choice, noted
from leeward.noise import Bits
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._useless import refuse_useless
from leeward.session._budget import Budget
from leeward.session._result import Release
from leeward.session._session import Charge, PricedPlan, Session

IfDoubtful = Literal["refuse", "publish"]
"""What becomes of a release that the data make doubtful, because nothing or too little of them would count."""


@taught
def release(
    plan: AnyPlan,
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    progress: Progress = silent,
) -> Release:
    """Carry out a plan: charge the budget, count, add noise, store the answer and return it.

    Args:
        plan: which places are safe, a statistic, or a name, under a notion: from `leeward.plan`.
        budget: where the price is charged.
        if_doubtful: what becomes of a question without a stored answer where nothing, or under 1 % of the rows that should,
            would count: ``"refuse"`` it before anything is charged (a fact about the data: for the curator only), or
            ``"publish"`` all the same. It is not part of the question: either way the answer is the same.
        accept_useless: whether to go on where the answer would say practically nothing (see `leeward.planner._useless`).
            Otherwise a question without a stored answer is refused then, before anything is charged; the refusal
            depends on public things alone.
        bits: the entropy source; anything but the default marks the release unfit for publication.
        progress: called with what is going on ("reading the data", "counting", …, and the ledger's own stages).

    Raises:
        LeewardError: the release is refused; nothing was charged and nothing is shown. See `leeward.errors`.
    """
    if not isinstance(plan, get_args(AnyPlan)):
        raise InputError(
            f"A release of a {type(plan).__name__}", "a plan is what is released", "Give leeward.plan(query, notion, …)"
        )
    return release_planned(
        [plan], budget, if_doubtful=if_doubtful, accept_useless=accept_useless, bits=bits, progress=progress
    )[0]


def release_planned(
    plans: Sequence[AnyPlan],
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    progress: Progress = silent,
) -> list[Release]:
    """Carry out plans that share their visits and places (windows of one spec), one release each; see `release_priced`."""
    with Session(plans[0].counted, budget, bits, progress) as session:
        return release_priced(session, session.price(plans), if_doubtful=if_doubtful, accept_useless=accept_useless)


def release_priced(
    session: Session,
    priced: Sequence[PricedPlan],
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    done: list[Release] | None = None,
) -> list[Release]:
    """Carry out plans whose prices are resolved, in their order, one release each.

    What would say nothing, and what the data make doubtful, is refused for all of them before the first is charged.

    Args:
        session: the ledger and the table.
        priced: the plans.
        if_doubtful: see `leeward.release`.
        accept_useless: see `leeward.release`.
        done: an empty list, to which each release is added: it has those that were made where a later one fails.

    Raises:
        LeewardError: a release is refused. What earlier plans of the list released stays released and charged.
    """
    check_if_doubtful(if_doubtful)
    new = [each.plan for each in priced if each.answer is None]
    if not accept_useless:
        for made in new:
            refuse_useless(made, len(session.keys))
    session.expect([made.counted for made in new])
    if if_doubtful == "refuse":
        session.look_over([made.counted for made in new])
    releases = [] if done is None else done
    paid = list[Charge]()  # ahead of `releases` while one is made ready, which takes longer than to draw it
    with noted(lambda: earlier(len(paid))):
        for each in priced:
            paid.append(session.answer(each))
            releases.append(session.publish(each, paid[-1]))
    return releases


def earlier(windows: int) -> str:
    """Say of so many windows that they were paid for, though a later one fails; nothing if there are none."""
    if not windows:
        return ""
    many = "1 earlier window is" if windows == 1 else f"{windows} earlier windows are"
    return f"{many} answered and charged, and that stands: asked again, the answer is the same and free"


def check_if_doubtful(choice: str) -> None:
    """Refuse what is not a choice for ``if_doubtful``.

    Raises:
        SpecError: it is not one.
    """
    check_choice("if_doubtful", choice, get_args(IfDoubtful), error=SpecError)
