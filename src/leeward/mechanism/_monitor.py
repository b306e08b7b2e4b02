# SPDX-License-Identifier: Apache-2.0
"""The sanitized mechanism over time: it pays only when it cannot say *safe*.

A monitor is asked one *round* after another: a window's counts, in a public order. While noisy counts stay at most their
thresholds it says *safe*, which costs nothing; each of the first c that do not is published with its count and costs ε.
After the c-th, nothing is ever drawn again.

Theorem (ADP, Theorem V.7, repeated): however many rounds there are, the whole sequence of answers is c·ε-private, for one
person's data over *all* rounds, if

1. every count falls by at most 1 along a step of the notion, and never rises;
2. ε is reserved before each draw: what is drawn will be published, whatever it is;
3. all asking stops for good after the c-th not-safe answer: withholding it and going on costs ε for every further one;
4. the order of questions, the thresholds and the windows depend only on public data and on past answers;
5. no count looks at another round ("first visit", "new people"): such a count *rises* when an earlier visit is withdrawn.

Conditions 2 and 3 are kept here, by states that allow nothing else. 1 is checked by `leeward.sensitivity`; 4 and 5 are
promises of whoever asks. `MonitorState` is all that must be stored, and `Monitor` holds no state of its own.

Machine-checked (docs/proved.md): `sanitized_step`, `going_on_step`, `sanitized_tight`, `going_on_costs_more`,
`going_on_four`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from leeward._arrays import given_array
from leeward._taught import taught
from leeward.distance import Line
from leeward.errors import InputError, RefusedError
from leeward.exact._real import Real, whole
from leeward.mechanism._sanitized import NOT_ANSWERED, SAFE, Sanitized, SanitizedAnswers
from leeward.noise import Bits

__all__ = ["NOT_ANSWERED", "SAFE", "Monitor", "MonitorState", "Round"]


@dataclass(frozen=True)
class Round:
    """One question and, once drawn, its answers. All of it is public.

    Attributes:
        question: the public name of what was asked: window, query, places. Asked once.
        at_most: the threshold of each count, in the public order.
        answers: one integer a count: `SAFE`, a noisy count above its threshold, or `NOT_ANSWERED`; None while only reserved.
    """

    question: str
    at_most: tuple[int, ...]
    answers: tuple[int, ...] | None = None

    @property
    def stops(self) -> int:
        """How many counts were published because they could not be called safe."""
        return sum(answer >= 0 for answer in self.answers or ())


@dataclass(frozen=True)
class MonitorState:
    """Everything a monitor must remember, and nothing that is not public.

    Store it before a draw (`Monitor.reserve`) and again before anything of that draw is shown (`Monitor.answer`).

    Attributes:
        epsilon: ε, the price of one not-safe answer: the cost of a fall by 1.
        stop_after: c.
        rounds: what was asked and answered, oldest first; only the last may be reserved and not yet answered.
    """

    epsilon: Real
    stop_after: int
    rounds: tuple[Round, ...] = ()

    @property
    def stops(self) -> int:
        """How many not-safe answers there were so far."""
        return sum(each.stops for each in self.rounds)

    @property
    def stopped(self) -> bool:
        """Whether it has stopped for good."""
        return self.stops >= self.stop_after

    @property
    def pending(self) -> Round | None:
        """The round that is reserved and not answered."""
        return self.rounds[-1] if self.rounds and self.rounds[-1].answers is None else None

    @property
    def spent(self) -> Real:
        """What the published answers have cost: ε for each that was not safe."""
        return self.epsilon * self.stops

    @property
    def may_stop(self) -> int:
        """How many counts of the pending round may yet turn out not safe."""
        return 0 if self.pending is None else min(len(self.pending.at_most), self.stop_after - self.stops)

    @property
    def held(self) -> Real:
        """What is reserved beyond that: ε for each count of the pending round that may yet turn out not safe."""
        return self.epsilon * self.may_stop


@taught
class Monitor:
    """The rules of a monitor: pure functions from one state to the next.

    Args:
        line: what one count's rise and fall by 1 cost (`leeward.query._sensitivity.sensitivity_each`): rise must be ∞.
        stop_after: c, how many not-safe answers it may ever give; c·ε is its price, whatever is asked.

    Raises:
        NotPrivateError: if a count can rise along a step of the notion.
        InputError: if ``stop_after`` is below 1, or ε is not a rational: a state is stored, and budgets are exact fractions.
    """

    def __init__(self, line: Line, *, stop_after: int = 1) -> None:
        Sanitized(line, at_most=0, stop_after=stop_after)  # refuses what it refuses
        if line.fall.rational is None:
            raise InputError(
                f"A monitor at ε = {line.fall}",
                "budgets are kept in exact fractions",
                "Give ε as a decimal or fraction",
            )
        self.line, self.stop_after = line, whole(stop_after, "stop_after")

    def __repr__(self) -> str:
        return f"Monitor({self.line}, stop_after={self.stop_after})"

    @property
    def price(self) -> Real:
        """c·ε: the most that a step can ever cost that lowers each count by 1 at most; see `Sanitized.price`."""
        return self.line.fall * self.stop_after

    def start(self) -> MonitorState:
        """Return the state before the first question."""
        return MonitorState(self.line.fall, self.stop_after)

    def reserve(self, state: MonitorState, question: str, at_most: int | Sequence[int], counts: int) -> MonitorState:
        """Return the state with a round reserved: store it, and hold `MonitorState.held` of the budget, before the draw.

        A round that is already reserved is returned as it is, so that a crash between the two is made good by asking again.

        Args:
            state: where the monitor stands.
            question: the public name of the round; a new one for each.
            at_most: the threshold t ≥ 0, one for all counts or one for each; public, or a function of past answers.
            counts: how many counts the round has.

        Raises:
            RefusedError: if the monitor has stopped, or another round is reserved and not answered.
            InputError: if the question was answered before (its answers are in the state), or a threshold is malformed.
        """
        self._is_ours(state)
        if counts < 1:
            raise InputError(f"A round of {counts} counts", "there is nothing to ask", "Give at least one count")
        thresholds = Sanitized(self.line, at_most=at_most, stop_after=1).thresholds(counts)
        asked = Round(question, thresholds)
        if state.pending is not None:
            if state.pending == asked:
                return state
            raise RefusedError(
                f"The round '{question}'",
                f"'{state.pending.question}' is reserved and not answered, and rounds are answered in order",
                "Answer that one first",
            )
        if any(r.question == question for r in state.rounds):
            raise InputError(
                f"The round '{question}'",
                "it was answered before, and a second draw would be another question",
                "Read its answers from the state",
            )
        if state.stopped:
            raise RefusedError(
                f"The round '{question}'",
                f"the monitor has given {self.stop_after} not-safe answers and has stopped for good",
                "Start a new monitor, and pay for it",
            )
        return replace(state, rounds=(*state.rounds, asked))

    def answer(self, state: MonitorState, counts: ArrayLike, bits: Bits | None = None) -> MonitorState:
        """Return the state with the reserved round answered: store it before anything of it is shown.

        Args:
            state: a state with a reserved round.
            counts: the exact counts, integers of shape (n,) in the public order.
            bits: the entropy source; by default a fresh cryptographic stream keyed by the operating system.

        Raises:
            RefusedError: if no round is reserved.
            InputError: if there are more or fewer counts than were reserved.
        """
        sanitized, pending = self._sanitized(state)
        truth = given_array(counts)
        if truth.shape != (len(pending.at_most),):
            raise InputError(
                "Another number of counts than was reserved", "the shape of a round is public", "Give one a threshold"
            )
        return self._answered(state, sanitized.release(truth, bits))

    def decide(self, state: MonitorState, noisy: NDArray[np.int64]) -> MonitorState:
        """Return the state that `answer` returns when these are the noisy counts: the rule without its noise."""
        sanitized, _ = self._sanitized(state)
        return self._answered(state, sanitized.decide(noisy))

    def _sanitized(self, state: MonitorState) -> tuple[Sanitized, Round]:
        self._is_ours(state)
        if state.pending is None:
            raise RefusedError(
                "A draw without a reserved round", "ε is reserved before each draw", "Call reserve first"
            )
        left = self.stop_after - state.stops
        return Sanitized(self.line, at_most=state.pending.at_most, stop_after=left), state.pending

    def _answered(self, state: MonitorState, said: SanitizedAnswers) -> MonitorState:
        done = replace(state.rounds[-1], answers=tuple(said.coded().tolist()))
        return replace(state, rounds=(*state.rounds[:-1], done))

    def _is_ours(self, state: MonitorState) -> None:
        if (state.epsilon, state.stop_after) != (self.line.fall, self.stop_after):
            raise InputError(
                "The state of another monitor", "its ε or its number of stops differs", "Give the state this one made"
            )
