# SPDX-License-Identifier: Apache-2.0
"""Several questions on one budget: priced together, looked at together, and only then the first of them is charged.

Each is a release of its own, with the key, the noise and the answer that it has when it is asked alone. They are charged in
one transaction, all or none, and so are windows. What stands before that is that all of them can be: their total is within
what is left, none is useless, and none is doubtful. Their prices add up, because they are about the same people. Two
that are one question to the ledger (a variance and its standard deviation, say) are charged once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from leeward._progress import Progress, silent
from leeward.errors import LeewardError, SpecError, check_choice, noted
from leeward.noise import Bits
from leeward.planner._ask import refuse_what_is_no_plan
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._useless import refuse_useless
from leeward.session._budget import Budget
from leeward.session._result import Release
from leeward.session._session import PricedPlan, Session, answer
from leeward.session._standing import refuse_total

if TYPE_CHECKING:
    from leeward.ledger import Ledger
    from leeward.ledger._records import Amount

IfDoubtful = Literal["refuse", "publish"]
"""What becomes of a release that the data make doubtful, because nothing or too little of them would count."""


@dataclass(frozen=True)
class Together:
    """Questions whose prices are resolved, each with the table that it is asked of. `together` makes it.

    Attributes:
        sessions: the ledger and the table, a question each, by its name.
        priced: the plans of each question, by its name.
    """

    sessions: Mapping[str, Session] = field(repr=False)
    priced: Mapping[str, Sequence[PricedPlan]]

    @property
    def each(self) -> list[PricedPlan]:
        """All plans, in order."""
        return [one for plans in self.priced.values() for one in plans]

    @property
    def total(self) -> Amount:
        """What they cost together now: without those that are charged, and each question to the ledger once."""
        from leeward.ledger._records import NOTHING

        return sum(self.new().values(), NOTHING)

    def new(self) -> dict[str, Amount]:
        """Return the price of each question to the ledger that is not charged yet, by its key."""
        return {one.key: one.amount for one in self.each if not one.charged}

    def watch(self, progress: Progress) -> None:
        """Tell from now on what is going on."""
        for session in self.sessions.values():
            session.progress = progress

    def release(
        self,
        *,
        if_doubtful: IfDoubtful = "refuse",
        accept_useless: Collection[str] = (),
        done: list[Release] | None = None,
    ) -> list[Release]:
        """Carry all of them out, one release each: charged together, and published in their order.

        ``done`` is an empty list, to which each release is added: it has those made ready where that is interrupted.
        """
        noun = "window" if len(self.priced) == 1 else "release"
        for name, priced in self.priced.items():
            with naming(name):
                refuse_now(self.sessions[name], priced, if_doubtful=if_doubtful, accept_useless=name in accept_useless)
        asked = [(self.sessions[name], one) for name, priced in self.priced.items() for one in priced]
        named = {id(session): name for name, session in self.sessions.items()}
        releases, paid = [] if done is None else done, answer(asked, lambda session: naming(named[id(session)]))
        with noted(lambda: answered(len(paid), noun)):
            for (session, one), charge in zip(asked, paid, strict=True):
                releases.append(session.publish(one, charge))
        return releases


@contextmanager
def together(
    asked: Mapping[str, Sequence[AnyPlan]],
    budget: Budget,
    *,
    bits: Bits | None = None,
    progress: Progress = silent,
) -> Iterator[Together]:
    """Price questions together, by their names; the plans of one question share their table and public keys."""
    with ExitStack() as stack:
        sessions, priced = dict[str, Session](), dict[str, list[PricedPlan]]()
        ledger: Ledger | None = None
        opens_in: str | None = None  # what the first of them opens the budget in, the others are priced in
        for name, plans in asked.items():
            with naming(name):
                for plan in plans:
                    refuse_what_is_no_plan(plan)
                asked_of = Session(plans[0].counted, budget, bits, progress, ledger=ledger, opens_in=opens_in)
                session = stack.enter_context(asked_of)
                ledger = session.ledger  # one, which all of them are charged to
                sessions[name], priced[name] = session, session.price(plans)
                opens_in = priced[name][0].counted_in
        if len(asked) > 1:
            from leeward.engine import sources_of

            each = [(plans[0].counted, sessions[name].keys) for name, plans in asked.items()]
            sources = stack.enter_context(sources_of(each))
            for session in sessions.values():
                session.sources = sources
        made = Together(sessions, priced)
        if len(asked) > 1:
            stands = next(iter(sessions.values())).balance(made.each[0].counted_in)
            refuse_total(list(made.new().values()), stands, budget.dataset, what="releases")
        yield made


@contextmanager
def naming(question: str) -> Iterator[None]:
    """Say in what is refused which question it is about; nothing where it has no name."""
    try:
        yield
    except LeewardError as refused:
        if question:
            refused.add_note(f"This is about the question '{question}'.")
        raise


def refuse_now(
    session: Session, priced: Sequence[PricedPlan], *, if_doubtful: IfDoubtful, accept_useless: bool
) -> None:
    """Refuse what would say nothing, and what the data make doubtful, of all plans before the first is charged."""
    check_if_doubtful(if_doubtful)
    new = [each.plan for each in priced if each.answer is None]
    if not accept_useless:
        for made in new:
            refuse_useless(made, len(session.keys))
    session.expect([made.counted for made in new])
    if if_doubtful == "refuse":
        session.look_over([made.counted for made in new])


def answered(many: int, noun: str = "window") -> str:
    """Say of so many windows, or releases, that they were paid for, though what comes after fails; nothing of none."""
    if not many:
        return ""
    which = f"1 {noun} is" if many == 1 else f"{many} {noun}s are"
    return f"{which} answered and charged, and that stands: asked again, the answer is the same and free"


def check_if_doubtful(choice: str) -> None:
    """Refuse what is not a choice for ``if_doubtful``."""
    check_choice("if_doubtful", choice, get_args(IfDoubtful), error=SpecError)
