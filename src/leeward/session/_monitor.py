# SPDX-License-Identifier: Apache-2.0
"""A monitor over time: window after window, free while every place is safe, at most c·ε in all.

The rules are `leeward.mechanism.Monitor`'s and their state is what the ledger stores: one answer a round, under a key that
names the monitor, the round and every window asked so far. So a monitor goes on where it stopped, on any machine that has
the ledger; two at once give one answer; and a round killed between its reservation and its answer is drawn again, because
nothing of it was shown. A round reserves ε for every count that may turn out not safe, and settles at ε for each that did.

Rounds that are due together are reserved and stored together. Where the first reserves ε for each stop that is left, that
is all that the rounds behind it can cost too: they are drawn after it, as long as no stop ends them, and each is charged
when all are stored, from what the first did not use. A round that cannot be counted, or is refused, ends them as well: what
was drawn before it is stored, and it fails by itself, before its own first draw.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from leeward._progress import Progress, silent
from leeward._statement import MonitorStated
from leeward._taught import acting, in_order
from leeward.errors import InputError, LeewardError, SpecError, noted
from leeward.exact._real import Real
from leeward.mechanism import Monitor, MonitorState, Sanitized
from leeward.noise import Bits
from leeward.planner._ask import remade
from leeward.planner._plan import Plan
from leeward.planner._selection_plan import AnyPlan
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors, Window
from leeward.session._budget import Budget
from leeward.session._question import question, span
from leeward.session._result import Release
from leeward.session._session import Counts, PaidAnswer, PricedPlan, Session, charge_of, payload
from leeward.session._together import IfDoubtful, answered, check_if_doubtful

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


@acting
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
    plans = [remade(made) for made in in_order("plans", plans)]
    looked = if_doubtful == "publish"
    check_if_doubtful(if_doubtful)
    mechanism = _shared(plans)
    rules = Monitor(mechanism.line, stop_after=mechanism.stop_after)
    state, windows = rules.start(), [_window(made) for made in plans]
    releases, charges = [] if done is None else done, list[PaidAnswer]()
    each = plans[0].notion.epsilon  # of a stop: under notions of several ε it is not the rate of the noise
    with Session(plans[0].query, budget, bits, progress) as session, noted(lambda: answered(len(charges))):
        session.refuse_another_table(plans)
        # each under its own key and the label of its window's content; what has no price is refused
        keys = [session.key(made, windows[: number + 1]) for number, made in enumerate(plans)]
        priced_plans = session.priced(plans, keys, [f"{budget.version}/{_label(window)}" for window in windows])
        rounds = _Rounds(session, rules, mechanism, priced_plans, accept_useless)
        while len(charges) < len(plans) and not state.stopped:
            number = len(charges)
            first = rounds.priced[number]
            paid = session.stored(first)
            if paid is None:
                rounds.refuse_useless(state, first)
                if not looked:
                    rest = [later.query for later in plans[number:]]
                    session.expect(rest)
                    session.look_over(rest, going_on=number > 0)
                    looked = True
            charges += rounds.answer(state, number) if paid is None else [paid]
            for priced, answer in zip(rounds.priced[number:], charges[number:], strict=False):
                stops = state.stops
                state = rules.decide(rounds.reserve(state, priced), answer.stored)  # as what was drawn did
                round_stated = _round_stated(len(state.rounds), stops, rules, each)
                releases.append(session.publish(priced, answer, promises=_PROMISES, monitor=round_stated))
    return MonitorResult(
        tuple(releases), state, len(plans) - len(releases), each * state.stops, each * rules.stop_after
    )


_DRAWN_AT_ONCE: Final = 1 << 18
"""About so many answers are drawn, and stored, at once: a fraction of a second."""


@dataclass(frozen=True)
class _Rounds:
    """The rounds of a monitor that are due, and what answers them.

    Attributes:
        session: the ledger and the table.
        rules: of the monitor.
        mechanism: that of its plans.
        priced: the rounds, in order.
        accept_useless: whether a round is asked that would say next to nothing.
    """

    session: Session
    rules: Monitor
    mechanism: Sanitized
    priced: Sequence[PricedPlan]
    accept_useless: bool

    def reserve(self, state: MonitorState, priced: PricedPlan) -> MonitorState:
        """Return the state with a round reserved."""
        return self.rules.reserve(state, _label(_window(priced.plan)), self.mechanism.at_most, len(self.session.keys))

    def refuse_useless(self, state: MonitorState, priced: PricedPlan) -> None:
        """Refuse a round that would say next to nothing, now that so many stops are given."""
        if not self.accept_useless:
            assert isinstance(priced.plan, Plan)
            refuse_useless(priced.plan.after(state.stops), len(self.session.keys), stops_before=state.stops)

    def answer(self, state: MonitorState, number: int) -> list[PaidAnswer]:
        """Answer a round, and as many of those behind it as can be answered with it."""
        from leeward.ledger import DrawnAnswer

        session = self.session
        # So few at once, and all counted before the first draw, that next to no time lies between a draw and its storage:
        # how many are drawn depends on the draws, and what is ended in between is drawn anew.
        rest = self.priced[number : number + max(1, _DRAWN_AT_ONCE // max(1, len(session.keys)))]
        may_stop, each = self.reserve(state, rest[0]).may_stop, rest[0].plan.notion.epsilon
        # what the first reserves is all that the others can cost too, where it may give every stop that is left
        behind = rest[1:] if may_stop == self.rules.stop_after - state.stops else ()
        request, further = session.request(rest[0], each * may_stop), [session.request(one) for one in behind]
        drawn = list[DrawnAnswer]()
        with session.ledger.reserve([request], further=further, progress=session.progress) as reservation:
            due = rest[: len(reservation.unanswered) and 1 + reservation.further]
            counted = self._counted(due)
            for one, counts in zip(due, counted, strict=False):
                try:
                    if drawn:
                        self.refuse_useless(state, one)
                except LeewardError:
                    break
                held = self.reserve(state, one)
                noisy = session.draw(counts, functools.partial(self._draw, held))
                drawn.append(DrawnAnswer(payload(noisy), one.cost_of(each * int((noisy >= 0).sum()))))
                state = self.rules.decide(held, noisy)
                if state.stopped:
                    break
            if drawn:
                reservation.store(drawn)
        return [charge_of(*each) for each in itertools.zip_longest(reservation.releases, counted[: len(drawn)])]

    def _counted(self, due: Sequence[PricedPlan]) -> list[Counts]:
        """Count rounds, up to the first that cannot be counted."""
        counted = list[Counts]()
        for one in due:
            try:
                counted.append(self.session.count(one))
            except LeewardError:
                if not counted:
                    raise
                break
        return counted

    def _draw(self, held: MonitorState, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        return np.array(self.rules.answer(held, counts, bits).rounds[-1].answers, dtype=np.int64)


def _label(window: Window) -> str:
    ends = span(window)
    return f"{ends.start}/{ends.end}"


def _round_stated(number: int, stops: int, rules: Monitor, each: Real) -> MonitorStated:
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


def _window(made: AnyPlan) -> Window:
    """Return when a plan is about."""
    if not isinstance(made, Plan) or not isinstance(made.query, CountVisitors):
        raise SpecError(
            f"A monitor of counts by {made.counted.noun}",
            "a monitor is about visitors of places, window after window",
            "Use `leeward release`, for several windows too; or count visitors",
        )
    return made.query.window


def _alike(one: Plan, other: Plan) -> bool:
    """Whether two plans differ in nothing but their window."""
    assert isinstance(other.query, CountVisitors)
    other = replace(other, query=replace(other.query, window=_window(one)))
    return question(one, "") == question(other, "")
