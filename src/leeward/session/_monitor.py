# SPDX-License-Identifier: Apache-2.0
"""A monitor over time: window after window, free while every place is safe, at most c·ε in all.

The rules are `leeward.mechanism.Monitor`'s and their state is what the ledger stores: one answer a round, under a key that
names the monitor, the round and every window asked so far. So a monitor goes on where it stopped, on any machine that has
the ledger; two at once give one answer; and a round killed between its reservation and its answer is drawn again, because
nothing of it was shown. A round reserves ε for every count that may turn out not safe, and settles at ε for each that did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leeward._progress import Progress, silent
from leeward._statement import MonitorStated
from leeward._taught import taught
from leeward.errors import InputError, SpecError, noted
from leeward.exact._real import Real
from leeward.mechanism import Monitor, MonitorState, Sanitized
from leeward.noise import Bits
from leeward.planner._ask import remade
from leeward.planner._plan import Plan
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors, Window
from leeward.session._budget import Budget
from leeward.session._question import question, span
from leeward.session._result import CuratorNotes, Release
from leeward.session._session import Charge, PricedPlan, Session
from leeward.session._together import IfDoubtful, check_if_doubtful, earlier

_PROMISES = (
    "The windows, their order and the thresholds depend only on public data and on answers already published",
    "Each window counts the people of that window alone: no count looks at another window ('first visit', 'new people')",
)


@dataclass(frozen=True)
class MonitorResult:
    """Where a monitor stands.

    Attributes:
        releases: one a window that was answered, oldest first.
        state: its state: what was asked and answered, and whether it has stopped for good.
        unasked: how many of the given windows were not asked, because it has stopped.
        spent: what the answers cost so far, in ε of the notion: ε for each that was not safe.
        price_at_most: c·ε: what they can cost in all.
    """

    releases: tuple[Release, ...]
    state: MonitorState
    unasked: int
    spent: Real
    price_at_most: Real


@taught
def monitor(
    plans: Iterable[Plan],
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    progress: Progress = silent,
    done: list[Release] | None = None,
) -> MonitorResult:
    """Ask the windows of these plans in order, going on from what the ledger holds, until the c-th not-safe answer.

    Args:
        plans: one a window, alike but for the window, for the sanitized mechanism; later calls may add windows at the end.
        budget: where the price is charged; every window's content has a version label of its own.
        if_doubtful: see `leeward.release`; the windows that have no answer yet are looked at together. A monitor that
            publishes by a timetable should say ``"publish"``: that a round is missing is a fact about the data too.
        accept_useless: see `leeward.release`.
        bits: the entropy source; anything but the default marks releases unfit for publication.
        progress: called with what is going on.
        done: an empty list, to which each release is added: it has those that were made where a later round fails.

    Raises:
        SpecError: the plans are not for the sanitized mechanism, or differ in more than their window.
        InputError: ``done`` is not an empty list.
        LeewardError: a round is refused; nothing was charged for it. What earlier rounds released stays.
    """
    if done is not None and (not isinstance(done, list) or done):
        raise InputError(
            "done is not an empty list",
            "each release of this call is added to it, and all that is in it is reported as of this call",
            "Give an empty list, or leave it out",
        )
    # made anew without a number of places: windows may be added, so how many answers there will be is not known
    plans = [remade(made) for made in plans]
    looked = if_doubtful == "publish"
    check_if_doubtful(if_doubtful)
    mechanism = _shared(plans)
    rules = Monitor(mechanism.line, stop_after=mechanism.stop_after)
    state, asked = rules.start(), list[Window]()
    releases, charges = [] if done is None else done, list[Charge]()
    each = plans[0].notion.epsilon  # of a stop: under notions of several ε it is not the rate of the noise
    with Session(plans[0].query, budget, bits, progress) as session, noted(lambda: earlier(len(charges))):
        session.refuse_another_table(plans)
        for made in plans:
            if state.stopped:
                break
            asked.append(_window(made))
            reserved = rules.reserve(state, _label(asked[-1]), mechanism.at_most, len(session.keys))
            stops = state.stops
            priced = _priced(made, session, asked)  # what has no price is refused here
            paid = _known(priced)
            if paid is None:
                if not accept_useless:
                    refuse_useless(made.after(stops), len(session.keys), stops_before=stops)
                if not looked:
                    rest = [later.query for later in plans[len(asked) - 1 :]]
                    session.expect(rest)
                    session.look_over(rest, going_on=len(asked) > 1)
                    looked = True
                paid = _answer(priced, session, reserved, rules)
            charges.append(paid)
            state = rules.decide(reserved, paid.stored)  # what was published decides as what was drawn did
            told = _told(len(asked), stops, rules, each)
            releases.append(session.publish(priced, paid, promises=_PROMISES, monitor=told))
    return MonitorResult(
        tuple(releases), state, len(plans) - len(releases), each * state.stops, each * rules.stop_after
    )


def _priced(made: Plan, session: Session, asked: list[Window]) -> PricedPlan:
    """A round under its own key, and under the label of its window's content."""
    return session.priced(made, session.key(made, asked), version=f"{session.budget.version}/{_label(asked[-1])}")


def _label(window: Window) -> str:
    ends = span(window)
    return f"{ends.start}/{ends.end}"


def _known(priced: PricedPlan) -> Charge | None:
    """The answer of a round that was answered before: the data, which may have grown since, is not looked at again."""
    known = priced.answer
    if known is None:
        return None
    return Charge(np.frombuffer(known.payload, dtype="<i8").astype(np.int64), known.id, CuratorNotes(None, None, "0"))


def _answer(priced: PricedPlan, session: Session, reserved: MonitorState, rules: Monitor) -> Charge:
    each = priced.plan.notion.epsilon

    def draw(counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        answers = rules.answer(reserved, counts, bits).rounds[-1].answers
        return np.array(answers, dtype=np.int64)

    return session.answer(
        priced, draw, reserve=each * reserved.may_stop, settle=lambda drawn: each * int((drawn >= 0).sum())
    )


def _told(number: int, stops: int, rules: Monitor, each: Real) -> MonitorStated:
    """Return what the statement of a round says of its monitor."""
    return MonitorStated(
        round=number,
        stops_before=stops,
        stop_after=rules.stop_after,
        price_at_most=str(each * rules.stop_after),
        text=f"Round {number} of a monitor that costs ε = {each} for each place it cannot call safe, and stops for good"
        f" after {rules.stop_after} of them{f', {stops} of which earlier rounds gave' if stops else ''}: at most"
        f" ε = {each * rules.stop_after} for one person's data in all windows",
    )


def _shared(plans: list[Plan]) -> Sanitized:
    if not plans:
        raise SpecError("A monitor without a window", "there is nothing to ask", "Give at least one window")
    mechanism = plans[0].mechanism
    if not isinstance(mechanism, Sanitized):
        raise SpecError(
            f"A monitor with the {mechanism.name} mechanism",
            "a monitor says 'safe' for free and stops after so many other answers, as only the sanitized mechanism does",
            'Give mechanism = "sanitized" and stop_after',
        )
    windows = [_label(_window(made)) for made in plans]
    if len(set(windows)) < len(windows):
        raise SpecError(
            "A monitor that asks one window twice", "its answer is drawn once", "List each window once, oldest first"
        )
    if not all(_alike(plans[0], made) for made in plans):
        raise SpecError(
            "A monitor of several questions", "its windows differ in more than their time", "Use one spec each"
        )
    return mechanism


def _window(made: Plan) -> Window:
    """Return when a plan is about.

    Raises:
        SpecError: it is not about visitors.
    """
    if not isinstance(made.query, CountVisitors):
        raise SpecError(
            f"A monitor of counts by {made.query.noun}",
            "a monitor is about visitors of places, window after window",
            "Use `leeward release`, for several windows too; or count visitors",
        )
    return made.query.window


def _alike(one: Plan, other: Plan) -> bool:
    """Whether two plans differ in nothing but their window."""
    assert isinstance(other.query, CountVisitors)
    other = replace(other, query=replace(other.query, window=_window(one)))
    return question(one, "") == question(other, "")
