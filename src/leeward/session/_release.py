"""One release, or several of one spec: from plans to what may be published, each step once and in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from leeward._plain import told
from leeward._taught import taught
from leeward.errors import InputError, SpecError, nearest
from leeward.exact._real import Exact
from leeward.noise import Bits
from leeward.notion import Notion
from leeward.planner._number_plan import NumberPlan, plan_number
from leeward.planner._plan import USEFUL_FROM, Plan, What, plan
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors
from leeward.query._statistic import Statistic
from leeward.session._budget import Budget
from leeward.session._result import Release
from leeward.session._session import PricedPlan, Session, Told

IfDoubtful = Literal["refuse", "publish"]
"""What becomes of a release that the data make doubtful, because nothing or too little of them would count."""


@taught
def release(
    query: CountVisitors | Statistic,
    notion: Notion,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    budget: Budget,
    error_at_most: Exact | None = None,
    useful_from: Exact | None = None,
    what: What = "decisions",
    mechanism: Literal["auto", "geometric", "sanitized"] = "auto",
    stop_after: int | None = None,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    on_stage: Told | None = None,
) -> Release:
    """Release which places are safe, or a statistic, charging the budget.

    Args:
        query: the question, from `leeward.count_visitors` (the arguments up to ``stop_after`` are then those of
            `leeward.plan`) or from `leeward.statistic` (which takes none of them).
        notion: the privacy notion.
        safe_at_most: what *safe* means: at most so many people.
        dangerous_at_least: what *dangerous* means: at least so many people.
        budget: where the price is charged.
        error_at_most: see `leeward.plan`.
        useful_from: see `leeward.plan`.
        what: ``"decisions"``, or ``"counts"`` for the noisy counts too: post-processing, at no further price.
        mechanism: see `leeward.plan`.
        stop_after: see `leeward.plan`.
        if_doubtful: what becomes of a question without a stored answer where nothing, or under 1 % of the rows that should,
            would count: ``"refuse"`` it before anything is charged (a fact about the data: for the curator only), or
            ``"publish"`` all the same. It is no part of the question: either way the answer is the same.
        accept_useless: whether to go on where the answer would say practically nothing (see `leeward.planner._useless`).
            Otherwise a question without a stored answer is refused then, before anything is charged; the refusal
            depends on public things alone.
        bits: the entropy source; anything but the default marks the release unfit for publication.
        on_stage: told what is going on ("reading the data", "counting", …, and the ledger's own stages).

    Raises:
        LeewardError: the release is refused; nothing was charged and nothing is shown. See `leeward.errors`.
    """
    if isinstance(query, Statistic):
        decided = (safe_at_most, dangerous_at_least, error_at_most, useful_from, stop_after)
        if any(choice is not None for choice in decided):
            raise InputError("A decision about a statistic", "decisions are about counts of visitors", "Leave it out")
        made: Plan | NumberPlan = plan_number(query, notion)
    else:
        made = plan(
            query,
            notion,
            safe_at_most=safe_at_most,
            dangerous_at_least=dangerous_at_least,
            error_at_most=error_at_most,
            what=what,
            mechanism=mechanism,
            stop_after=stop_after,
            useful_from=USEFUL_FROM if useful_from is None else useful_from,
        )
    return release_planned(
        [made], budget, if_doubtful=if_doubtful, accept_useless=accept_useless, bits=bits, on_stage=on_stage
    )[0]


def release_planned(
    plans: Sequence[Plan | NumberPlan],
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    on_stage: Told | None = None,
) -> list[Release]:
    """Carry out plans that share their visits and places (windows of one spec), one release each; see `release_priced`."""
    with Session(plans[0].query, budget, bits, on_stage) as session:
        return release_priced(session, session.price(plans), if_doubtful=if_doubtful, accept_useless=accept_useless)


def release_priced(
    session: Session,
    priced: Sequence[PricedPlan],
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
) -> list[Release]:
    """Carry out plans whose prices are resolved, in their order, one release each.

    What would say nothing, and what the data make doubtful, is refused for all of them before the first is charged.

    Raises:
        LeewardError: a release is refused. What earlier plans of the list released stays released and charged.
    """
    check_if_doubtful(if_doubtful)
    new = [each.plan for each in priced if session.stored(each) is None]
    if not accept_useless:
        for made in new:
            refuse_useless(made, len(session.keys))
    if if_doubtful == "refuse":
        session.look_over([made.query for made in new])
    releases = []
    for each in priced:
        paid = session.answer(each)
        releases.append(session.publish(each, paid))
    return releases


def check_if_doubtful(choice: str) -> None:
    """Refuse what is no choice for ``if_doubtful``.

    Raises:
        SpecError: it is none.
    """
    if choice not in get_args(IfDoubtful):
        raise SpecError(
            f"if_doubtful = {told(choice)}", "it is not a known choice", nearest(str(choice), get_args(IfDoubtful))
        )
