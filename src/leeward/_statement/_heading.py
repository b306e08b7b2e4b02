# SPDX-License-Identifier: Apache-2.0
"""What every statement has: who made it, about which data, what is promised, at which price, and when it was published."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, Literal

from leeward._document import Part

UNPROTECTED: Final = "not protected"
"""How an assumption ends that was checked on the data: that it holds is published, whatever the noise."""


class NotionStated(Part):
    """What is promised.

    Attributes:
        name: of the notion.
        epsilon: ε of everything that is published: after c stops c times that of the notion.
        unit: whose data one ε is about.
        definition: the inequality it stands for.
        protects: what nobody can be sure of from the answer.
        does_not_protect: what the answer may reveal beyond doubt; empty if nothing.
        alternative: what someone with the protected property could equally well have.
    """

    name: str
    epsilon: str
    unit: str
    definition: str
    protects: str
    does_not_protect: str
    alternative: str


class BudgetStated(Part):
    """What is taken from the budget, at most for a monitor: ``price`` in ε of ``notion``, which the budget is counted in."""

    notion: str
    price: str


class MonitorStated(Part):
    """Where in a monitor a window stands.

    Attributes:
        round: its number, from 1.
        stops_before: how many counts could not be called safe in earlier windows.
        stop_after: c, after which it stops for good, in all rounds together.
        price_at_most: c·ε, of all windows together.
        text: all of it in words.
    """

    round: int
    stops_before: int
    stop_after: int
    price_at_most: str
    text: str


class Published(Part):
    """What is known of a release only once it is paid for; of a plan, nothing yet.

    Attributes:
        entry: the random id of its ledger entry.
        fit_for_release: whether its noise comes from fresh entropy, and not from a stream that others can repeat.
        budget: what is taken from the budget; of a dry run, what would be.
        monitor: where in a monitor it stands; None if it is not part of one.
    """

    entry: str | None
    fit_for_release: bool | None
    budget: BudgetStated | None
    monitor: MonitorStated | None


NOT_YET = Published(entry=None, fit_for_release=None, budget=None, monitor=None)
"""Of a plan, nothing is published yet."""


class Heading(Published):
    """What every statement has, beside what `Published` says of a release.

    Attributes:
        format: of this document.
        leeward: the version that made it.
        created: the day, in UTC.
        dataset: the public name of the data.
        version: the public label of their content.
        notion: what is promised.
        price: what it costs, in ε of the notion.
        assumptions: what it rests on.
        theorems: what it follows from.
        guaranteed: what a reader may conclude.
        not_guaranteed: what a reader may not conclude.
    """

    format: Literal[1]
    leeward: str
    created: str
    dataset: str
    version: str
    notion: NotionStated
    price: str
    assumptions: tuple[str, ...]
    theorems: tuple[str, ...]
    guaranteed: tuple[str, ...]
    not_guaranteed: tuple[str, ...]

    @property
    def strength(self) -> str:
        """Say how strong the promise is: ``ε = 1``, ``ε = 1 and δ = 1/1000000``."""
        return f"ε = {self.notion.epsilon}" + (f" and δ = {self.promised_delta}" if self.promised_delta else "")

    @property
    def promised_delta(self) -> Fraction:
        """The δ of the promise, which is taken from the budget too; 0 of nearly everything."""
        return Fraction(0)


def reading(epsilon: str) -> str:
    """Say what the formula of a promise compares, and how large e^ε is where ε is rational."""
    compared = "Pr[answer | data] is how likely an answer is if the data are as described"
    try:
        ratio = math.exp(Fraction(epsilon))
    except (ValueError, OverflowError):
        return compared
    return f"{compared}, and e^ε is about {ratio:,.3g}"
