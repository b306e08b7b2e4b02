# SPDX-License-Identifier: Apache-2.0
"""A look before a release: what it would count, what it would look like, and what would refuse it. Free; nothing is written.

It takes the steps that a release takes before it charges (what is useless, what the budget allows, what the data make
doubtful, whether the content is known under another name), and goes on where one of them refuses, so that all is said at
once. Nothing is drawn from the data, reserved or stored. All of it but the stand-in answer is a fact about the data: for the
curator only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from leeward._progress import Progress, silent
from leeward._taught import taught
from leeward.errors import InputError, LeewardError
from leeward.noise import SystemBits
from leeward.planner._ask import advised_beyond_bound, remade
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._useless import refuse_useless
from leeward.session._budget import Budget
from leeward.session._doubts import doubts
from leeward.session._facts import Checked
from leeward.session._question import question
from leeward.session._standing import Standing, amount_of, refuse_total, standing

if TYPE_CHECKING:
    from leeward.engine import Keys, Opened
    from leeward.engine._shared import Sources
    from leeward.ledger._records import Amount

_SHOWN = 6
"""So many rows of a stand-in answer are made known."""


@taught
def check(plan: AnyPlan, budget: Budget, *, accept_useless: bool = False, progress: Progress = silent) -> Checked:
    """Look at what a release of a plan would count, and why not more: free, nothing is charged, drawn or written.

    What it returns are facts about the data, which no promise covers: for the curator only. ``print`` and a notebook show
    them; take them out of a notebook that others get.

    Args:
        plan: which places are safe, a statistic, or a name, under a notion: from `leeward.plan`.
        budget: where the release would be charged.
        accept_useless: as of `leeward.release`.
        progress: called with what is going on.

    Raises:
        LeewardError: the table, the public list or the ledger cannot be read, or the plan cannot be carried out at all. What
            would refuse a release is among the facts.
    """
    if not isinstance(plan, get_args(AnyPlan)):
        raise InputError(
            f"A look at a {type(plan).__name__}", "a plan is what is looked at", "Give leeward.plan(query, notion, …)"
        )
    return check_planned([plan], budget, accept_useless=accept_useless, progress=progress)


def check_planned(
    plans: Sequence[AnyPlan],
    budget: Budget,
    *,
    accept_useless: bool = False,
    progress: Progress = silent,
    sources: Sources | None = None,
    opens_in: str | None = None,
) -> Checked:
    """Look at what a release of plans would do, as `check` does of one. Charges nothing, writes nothing.

    ``opens_in`` is what the budget is counted in by the question before it in one spec, where none is open yet.
    """
    from leeward.engine import open_data, read_keys

    progress("reading the public list")
    keys = read_keys(plans[0].counted)
    known = [remade(made).listing(len(keys)) for made in plans]
    rows = known[0].counted.of_rows
    stands = standing(budget, known[0].notion, known, keys.digest(), rows=rows, opens_in=opens_in)
    refusals, new = _Refusals(), [made for made, answered in zip(known, stands.answered, strict=True) if not answered]
    unpaid = [made for made, charged in zip(known, stands.charged, strict=True) if not charged]
    # what has no price in the budget is refused as a release refuses it: nothing else is looked at
    amounts = [amount_of(made, stands.counted_in) for made in unpaid]
    with refusals:
        _refuse_prices(amounts, budget, stands)
    for made in [] if accept_useless else new:
        with refusals:
            refuse_useless(made, len(keys))
    progress("reading the data")
    with open_data(known[0].counted, keys, sources) as table:
        table.expect([made.counted for made in known])
        with refusals:
            _refuse_content(table, budget, progress)
        progress("looking how much would count")
        looks = [table.look(made.counted) for made in known]
        survey = table.survey(known[0].counted)
        for stop in doubts(table, [made.counted for made in new], lambda: survey.beyond) if new else ():
            with refusals:
                stop()
        over = [refusals.unless_refused(partial(_over, made, table)) for made in known]
    stand_in = _stand_in(known[0], keys)
    charged_for = dict(zip([question(made, keys.digest()).canonical() for made in unpaid], amounts, strict=True))
    return Checked(budget.dataset, known, len(keys), looks, survey, stands, charged_for, refusals.found, stand_in, over)


def sources_of(asked: Mapping[str, Sequence[AnyPlan]]) -> Sources:
    """Return the sources of several questions, for `check` of each; one that several are about is opened once.

    Raises:
        LeewardError: a public list cannot be read; the message names the question.
    """
    from leeward.engine import read_keys, sources_of
    from leeward.session._together import naming

    found = []
    for name, plans in asked.items():
        with naming(name):
            found.append((plans[0].counted, read_keys(plans[0].counted)))
    return sources_of(found)


def total(found: Sequence[Checked]) -> Amount:
    """Return what several questions would be charged together: those that are one to the ledger once."""
    from leeward.ledger._records import NOTHING

    return sum({key: price for one in found for key, price in one.prices.items()}.values(), NOTHING)


def refused_together(found: Sequence[Checked], budget: Budget) -> list[str]:
    """Return what would refuse several questions that could be released one by one: that all cost more than is left."""
    refusals, prices = _Refusals(), {key: price for one in found for key, price in one.prices.items()}
    with refusals:
        if len(found) > 1:
            refuse_total(list(prices.values()), found[0].standing.balance, budget.dataset, what="releases")
    return refusals.found


class _Refusals:
    """What was refused, each reason once; a refusal does not end what is to be looked at."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, LeewardError):
            return False
        if str(error) not in self.found:
            self.found.append(str(error))
        return True

    def unless_refused(self, asked: Callable[[], str]) -> str:
        """Return what is asked; nothing where it is refused."""
        with self:
            return asked()
        return ""


def _refuse_prices(new: Sequence[Amount], budget: Budget, stands: Standing) -> None:
    """Refuse what the budget does not allow, or a name that would open another; and a ledger that cannot be made."""
    from leeward.ledger import Ledger
    from leeward.ledger._file import refuse_no_folder

    if not new:
        return
    if (ledger := Ledger.find(budget.ledger)) is None:
        refuse_no_folder(budget.ledger)
    elif stands.cap is not None:
        ledger.account(budget.dataset, new=budget.new)
    refuse_total(new, stands.balance, budget.dataset)
    stands.refuse(new, budget.dataset)


def _refuse_content(table: Opened, budget: Budget, progress: Progress) -> None:
    """Refuse content that changed under its label, or is charged under another name; without a ledger none is known."""
    from leeward.ledger import Ledger

    if (ledger := Ledger.find(budget.ledger)) is None:
        return
    progress("recognising the content")
    ledger.check_content(budget.dataset, budget.version, table.content(ledger.content_key()), new=budget.new)


def _over(made: AnyPlan, table: Opened) -> str:
    """Say what becomes of the people over the bound; refuse what the exact count would refuse."""
    counted = table.exactly(made.counted, made.drawn_from)
    with advised_beyond_bound(made):
        _ = counted.counts
    return made.counted.over_bound(counted.people_over_bound) if counted.people_over_bound else ""


def _stand_in(made: AnyPlan, keys: Keys) -> pa.Table:
    """Return the first rows of an answer that is drawn from made-up counts."""
    from leeward.engine._stand_in import stand_in

    exactly: NDArray[np.int64] = stand_in(made.counted, len(keys), made.drawn_from)
    return made.answers(made.draw(exactly, SystemBits()), keys.to_arrow()).slice(0, _SHOWN)
