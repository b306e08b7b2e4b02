# SPDX-License-Identifier: Apache-2.0
"""What is asked of a ledger, and what is given to it: one answer and its price, and the answer once it is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from leeward._plain import is_text
from leeward._taught import taught
from leeward.errors import InputError
from leeward.ledger._analysts import Analyst
from leeward.ledger._records import exact_amount, exact_delta

if TYPE_CHECKING:
    from leeward.engine._content import Content


@taught
@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a ledger: one answer, and its price.

    Attributes:
        dataset: the public name under which the budget is kept.
        version: the public label of the content.
        key: canonical text of everything public the answer depends on.
        cost: the price, in units of the notion; a whole number may be an int.
        cap: the most that may ever be spent; None for whatever was fixed.
        notion: the notion and unit costs are counted in, such as ``addition-only/person``.
        content: digests of the content, under `Ledger.content_key`; kept to notice that it changed under its label, or is
            charged under another name.
        new: this is a budget of its own, although the ledger has one of nearly the same name, or for the same content.
        delta: what it costs of δ.
        cap_delta: the most that the δ of all releases may add up to; None for whatever was fixed, or 0 if nothing was.
        analyst: on whose behalf it is asked, with a cap of their own; None for the curator's own.

    Raises:
        InputError: a name is not plain text, or an amount is negative.
        InexactError: an amount is a float.
    """

    dataset: str
    version: str = "1"
    key: str
    cost: Fraction
    cap: Fraction | None
    notion: str
    content: Content
    new: bool = False
    delta: Fraction = Fraction(0)
    cap_delta: Fraction | None = None
    analyst: Analyst | None = None

    def __post_init__(self) -> None:
        for name in ("dataset", "version", "key", "notion"):
            if not is_text(getattr(self, name)):
                raise InputError(f"The {name} is empty or not plain text", "the ledger is kept by it", f"Give a {name}")
        object.__setattr__(self, "cost", exact_amount(self.cost, "cost"))
        if self.cap is not None:
            object.__setattr__(self, "cap", exact_amount(self.cap, "cap"))
        object.__setattr__(self, "delta", exact_delta(self.delta, "delta"))
        if self.cap_delta is not None:
            object.__setattr__(self, "cap_delta", exact_delta(self.cap_delta, "cap_delta"))


@dataclass(frozen=True, slots=True)
class DrawnAnswer:
    """An answer that was drawn, to be stored.

    Attributes:
        payload: what may be shown.
        cost: what it turned out to cost, at most what was reserved; None for all of it. It must be a function of the answer
            alone, as for mechanisms that pay only for some of what they say.
    """

    payload: bytes
    cost: Fraction | None = None


@dataclass(slots=True, eq=False)
class Reserved:
    """One release of a reservation.

    Attributes:
        id: random; the id the release may publish. The same for a found answer as when it was stored.
        cost: what the release cost, once; until its answer is stored, what is reserved for it.
        delta: what it cost of δ.
        answer: what may be shown; None until it is stored.
        opened: whether it opened the budget that it is charged to.
        paid: whether it was charged before: it was stored, or somebody had reserved it who did not end.
    """

    id: str
    cost: Fraction
    delta: Fraction
    answer: bytes | None = None
    opened: bool = False
    paid: bool = False
