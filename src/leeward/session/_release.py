# SPDX-License-Identifier: Apache-2.0
"""One release, or several of one spec: from plans to what may be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leeward._progress import Progress, silent
from leeward._taught import acting
from leeward.errors import InputError
from leeward.noise import Bits
from leeward.planner._selection_plan import AnyPlan
from leeward.session._budget import Budget
from leeward.session._result import Release
from leeward.session._together import IfDoubtful, check_if_doubtful, together


@acting
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
            would count, rows spell a listed key otherwise, or over 9 of 10 numbers lie beyond the bounds: ``"refuse"`` it
            before anything is charged (a fact about the data: for the curator only), or ``"publish"`` all the same. It is
            not part of the question: either way the answer is the same.
        accept_useless: whether to go on where the answer would say practically nothing (see `leeward.planner._useless`).
            Otherwise a question without a stored answer is refused then, before anything is charged; the refusal
            depends on public things alone.
        bits: the entropy source; anything but the default marks the release unfit for publication.
        progress: called with what is going on ("reading the data", "counting", …, and the ledger's own stages).

    Raises:
        LeewardError: the release is refused; nothing was charged and nothing is shown. See `leeward.errors`.
    """
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
    """Carry out plans that share their visits and places (windows of one spec), one release each."""
    with together({"": plans}, budget, bits=bits, progress=progress) as made:
        return made.release(if_doubtful=if_doubtful, accept_useless={""} if accept_useless else ())


@acting
def release_all(
    plans: Mapping[str, AnyPlan],
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    progress: Progress = silent,
) -> dict[str, Release]:
    """Carry out several plans on one budget: priced, charged and stored together, or none of them.

    Each has the answer that `leeward.release` gives of it alone, and costs what it costs there; their prices add up.

    Args:
        plans: by a name of your own, in the order in which they are carried out: ``{"ages": plan, "by sex": another}``.
        budget: where the prices are charged.
        if_doubtful: see `leeward.release`.
        accept_useless: see `leeward.release`.
        bits: see `leeward.release`.
        progress: see `leeward.release`.

    Returns:
        The releases, by name.

    Raises:
        InputError: there are no plans, or they are not given by name.
        LeewardError: one is refused, or all together cost more than is left; nothing was charged.
    """
    if not isinstance(plans, Mapping) or not plans or not all(isinstance(name, str) for name in plans):
        raise InputError(
            "Plans without names", "each release is given back by the name of its plan", 'Give {"ages": plan, …}'
        )
    check_if_doubtful(if_doubtful)
    asked = {name: [plan] for name, plan in plans.items()}
    with together(asked, budget, bits=bits, progress=progress) as made:
        found = made.release(if_doubtful=if_doubtful, accept_useless=plans if accept_useless else ())
    return dict(zip(plans, found, strict=True))
