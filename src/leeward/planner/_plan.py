# SPDX-License-Identifier: Apache-2.0
"""From a question and a notion to a mechanism, its price and its promise: before any data is touched.

`plan` is what ``--dry-run`` prints and what `leeward.release` then carries out: one code path, so they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, assert_never, get_args

import numpy as np
from numpy.typing import NDArray

from leeward._buffers import numbers, texts_among
from leeward._displayed import Drawn
from leeward._plain import echo, probability
from leeward._taught import refuse_columns, taught
from leeward.errors import InputError, NotPrivateError, SpecError, check_choice
from leeward.exact._real import Exact, Real, exact, whole
from leeward.exact._weight import Weight
from leeward.mechanism import AdaptiveSanitized, Everyone, Geometric, Sanitized, ThresholdRule
from leeward.mechanism._adaptive import decoded
from leeward.mechanism._sanitized import NOT_ANSWERED, SAFE
from leeward.mechanism._threshold_rule import Word
from leeward.noise import Bits
from leeward.notion import Notion, in_rows
from leeward.planner._decisions import STATES, Decisions, decisions
from leeward.planner._everyone import About, LeftOut, check_about, everyone
from leeward.planner._number_plan import steps_of
from leeward.planner._people import at_most_people, if_left_out, people
from leeward.planner._plan_of import PlanOf
from leeward.planner._scans import refuse_scans
from leeward.query import CountVisitors
from leeward.query._selection import Counted
from leeward.query._sensitivity import Sensitivity, sensitivity, sensitivity_each
from leeward.query._statistic import DrawnFrom, Statistic

if TYPE_CHECKING:
    import pyarrow as pa

CountMechanism: TypeAlias = Geometric | Sanitized | AdaptiveSanitized | Everyone
"""What answers a question about counts of people.

All have ``name``, ``line``, ``law``, ``each_alone``, ``stop_after``, ``payments``, ``stored`` and
``expected_answered_if_empty``. Where more is asked of them, a ``match`` lists all, so that a new one is missed nowhere.
"""

Chosen = Literal["geometric", "sanitized", "adaptive"]
Planned = Literal[Chosen, "everyone"]
MechanismName = Literal["auto", Chosen]
What = Literal["decisions", "counts"]

USEFUL_FROM = "0.05"
"""If nobody were anywhere, and a smaller share of the places were called safe, a release is refused."""


@taught
@dataclass(frozen=True, kw_only=True)
class Decide:
    """What is to be decided about counts, for `leeward.plan` and `leeward.compare`.

    Attributes:
        safe_at_most: t: *safe* means that at most t people were there; None to say it of no place.
        dangerous_at_least: T: *dangerous* means that at least T people were there; None to say it of no place.
        error_at_most: α, the largest probability of a wrong decision about one place; required where the notion cannot
            promise "never wrong" for what is decided, refused where it can.
        useful_from: releases are refused if a smaller share of the places would be called safe even if nobody were anywhere
            (see `leeward.planner._useless`; the plan can be read all the same). By default 5 %.
        about: whom decisions about visitors are about. ``"counted"``: where ``if_more`` keeps only some places of a person,
            nobody is missed who counts, but those left out of a place may have been there. ``"everyone"``: all who were
            there. Where people are left out, *safe* of everyone is certain under addition-only alone, and part of ε pays for
            a bound on how many are left out at any place (`leeward.mechanism.Everyone`); elsewhere it costs nothing.
        left_out: with ``about="everyone"``, a public guess of how many people are left out at most at any one place: it
            decides how ε is split, and the odds that are shown, and no promise depends on it. A list has a guess for each
            k = 1, 2, …; then the k with the best odds takes the place of ``places_per_person``.
            Where those counted are asked about, it is for the rows about everyone that `leeward.compare` lists beside them.
    """

    safe_at_most: int | None = None
    dangerous_at_least: int | None = None
    error_at_most: Exact | None = None
    useful_from: Exact | None = None
    about: About = "counted"
    left_out: LeftOut = 0

    def __post_init__(self) -> None:
        refuse_columns(self, "left_out")


@dataclass(frozen=True, kw_only=True)
class Deciding(Decide):
    """What is to be decided about counts, what is published, and by which mechanism: see `leeward.plan`."""

    what: What = "decisions"
    mechanism: MechanismName = "auto"
    stop_after: int | None = None

    @property
    def wanted(self) -> bool:
        """Whether anything is to be decided: whatever is given but for a mechanism."""
        return self != Deciding(mechanism=self.mechanism)


@dataclass(frozen=True)
class Plan(PlanOf[Counted], Drawn):
    """What a release of decisions about counts will do, known before anything is spent.

    The question is a count of people for each place of a public list, or for each public group.

    Attributes:
        mechanism: the noise that will be added.
        sensitivity: how far the answer moves along the notion's steps, and the rates that follow.
        decisions: what is called *safe* and *dangerous* (for the sanitized mechanism: where it is reached).
        what: what is shown of the stored integers: decisions, or the noisy counts too.
        useful_from: the least share of places called safe, if nobody were anywhere, for which it is worth its price.
        places: how many places the public list has, or how many groups there are; None if that is not known.
        about: whom the decisions are about: those counted, or everyone who was there, whether counted or left out by the
            bound on places per person.
    """

    mechanism: CountMechanism
    sensitivity: Sensitivity
    decisions: Decisions
    what: What = "decisions"
    useful_from: Fraction = Fraction(USEFUL_FROM)
    places: int | None = None
    about: About = "counted"

    @property
    def drawn_from(self) -> DrawnFrom:
        """What is counted for it: beside the counts, where it bounds all who were there, the most people left out."""
        return "answer and left out" if isinstance(self.mechanism, Everyone) else "answer"

    @property
    def left_out_counts(self) -> bool:
        """Whether people whom the bound leaves out of a place are among those that decisions about it are about."""
        return self.about == "everyone" and self.query.truncates

    @property
    def counted_how(self) -> str:
        """Say of the people whom decisions are about how they are counted; nothing where all of them are, as they are."""
        if self.left_out_counts:
            return "whether they were counted or left out by the bound on places per person"
        return self.query.counted_how

    @property
    def how(self) -> Deciding:
        """What is decided and how it is published, as `plan_decisions` takes it."""
        made = self.mechanism
        return Deciding(
            safe_at_most=self.safe_at_most,
            dangerous_at_least=self.dangerous_at_least,
            error_at_most=self.error_at_most,
            useful_from=None if self.decisions.safe is None else self.useful_from,
            about=self.about,
            left_out=self.left_out,
            what=self.what,
            mechanism="geometric" if isinstance(made, Everyone) else made.name,
            stop_after=made.stop_after,
        )

    @property
    def left_out(self) -> int:
        """The public guess of D, the most people left out at any place, that the odds and the split of ε are made for."""
        return self.mechanism.guess if isinstance(self.mechanism, Everyone) else 0

    def safe_if_left_out(self) -> tuple[Weight, ...]:
        """Return how often a place with nobody is called safe if the most people left out at any place are 0, 1, 2, …, t.

        Of a large t the first ones are given. Empty where nobody is left out, or it is about those counted.
        """
        made, t = self.mechanism, self.safe_at_most
        if not isinstance(made, Everyone) or t is None:
            return ()
        laws = (replace(made.law, most=most) for most in range(min(t, _MOST_LEFT_OUT) + 1))
        return tuple(law.cdf(t) for law in laws)

    @property
    def price(self) -> Real:
        """What it costs, in ε of the notion: where it may stop, ε for each stop that there can be, at most c.

        Each stop costs the notion itself: the rate is the largest that every step's cost allows, so ε is the least price.
        A count that is published at an early look costs that look's share of the notion.
        """
        return self.notion.epsilon * self.mechanism.payments(self._a_scan)

    @property
    def _a_scan(self) -> int | None:
        """How many counts one run of the mechanism is about: all, or of levels those of one group."""
        return None if self.places is None else self.places // self.query.scans

    @property
    def may_stop(self) -> bool:
        """Whether places may go unanswered: never, where no more than c are listed."""
        c = self.mechanism.stop_after
        return c is not None and (self._a_scan is None or c < self._a_scan)

    def listing(self, places: int | None) -> Plan:
        """Return the plan for a public list of so many places; None: it is not known, or grows from window to window."""
        return replace(self, places=None if places is None else whole(places, "places"))

    def after(self, stops: int) -> Plan:
        """Return the plan of a later round of a monitor: with the stops that are left when earlier rounds gave so many."""
        made, before = self.mechanism, whole(stops, "stops", least=0)
        if not before or not isinstance(made, Sanitized):
            return self
        return replace(self, mechanism=Sanitized(made.line, at_most=made.at_most, stop_after=made.stop_after - before))

    @property
    def sanitizer(self) -> ThresholdRule | None:
        """What is called *safe*; None if nothing is."""
        return self.decisions.safe

    @property
    def alarm(self) -> ThresholdRule | None:
        """What is called *dangerous*; None if nothing is."""
        return self.decisions.dangerous

    @property
    def safe_at_most(self) -> int | None:
        """t: what *safe* means; None if it is not said."""
        return None if self.sanitizer is None else self.sanitizer.bound

    @property
    def dangerous_at_least(self) -> int | None:
        """T: what *dangerous* means; None if it is not said."""
        return None if self.alarm is None else self.alarm.bound

    @property
    def error_at_most(self) -> Fraction | None:
        """α: how often a decision about one place may be wrong; None where every decision is never wrong."""
        return self.decisions.error_at_most

    def decision_curve(self) -> dict[int, tuple[Weight | None, Weight | None]]:
        """Return (Pr[safe | c], Pr[dangerous | c]), exact, for true counts c = 0, 1, 2, …; None for what is not said.

        They end just above each threshold, where nothing changes any more; below a large one only the last 500 are given.
        """
        ends = [(self.safe_at_most or 0) + 5] + ([] if self.alarm is None else [self.alarm.threshold + 2])
        counts = sorted({c for last in ends for c in range(max(0, last - _CURVE), last + 1)})
        return {
            c: (None if self.sanitizer is None else chances.safe, None if self.alarm is None else chances.dangerous)
            for c, chances in self.decisions.curve(counts).items()
        }

    def lines(self) -> Iterable[str]:
        """Say in lines what it costs, what is said how often, and how far off counts are."""
        many, lines = self.query.many, []
        for state, decision, means in (
            ("safe", self.sanitizer, at_most_people(self.safe_at_most or 0, many)),
            ("dangerous", self.alarm, f"at least {people(self.dangerous_at_least or 0, many)}"),
        ):
            if decision is not None:
                trust = (
                    "never wrong" if decision.never_wrong else f"wrong with probability at most {self.error_at_most}"
                )
                of_whom = f", {self.counted_how}" if self.counted_how else ""
                lines.append(f"{state}: {means}{of_whom}, {trust}")
        curve = [
            "  ".join(
                [
                    f"{count:>5}:",
                    *(f"{probability(p, 4)} {s}" for s, p in zip(get_args(Word), row, strict=True) if p is not None),
                ]
            )
            for count, row in self.decision_curve().items()
        ]
        if odds := self.safe_if_left_out():
            numbers = "  ".join(f"{most}: {probability(chance, 4)}" for most, chance in enumerate(odds[:_MOST_SAID]))
            lines.append(f"chance that a place with nobody is called safe, by how many are left out at most: {numbers}")
        if self.mechanism.stop_after is None:
            lines.append(f"mean error of a count: {float(self.mechanism.law.mean_absolute()):.4g}")
        # where the list may be shorter than c, the price is only known from above
        at_most = "at most " if self.places is None and self.mechanism.payments(None) > 1 else ""
        paid = f"{self.mechanism} under {self.notion}, price {at_most}{self.price}"
        of = f", {if_left_out(self.left_out)}" if odds else ""
        return [paid, *lines, f"chance of each word, by the true count{of}:", *curve]

    def draw(self, counts: NDArray[np.int64], bits: Bits) -> NDArray[np.int64]:
        """Return the mechanism's whole output for exact counts, as one int64 a place: what the ledger stores."""
        if self.mechanism.stop_after is None:
            return self.mechanism.stored(counts, bits)
        return np.concatenate([self.mechanism.stored(run, bits) for run in np.split(counts, self.query.scans)])

    def answers(self, drawn: NDArray[np.int64], places: pa.Table) -> pa.Table:
        """Return the published table: post-processing of what was drawn, one row a public place, in the public order."""
        import pyarrow as pa

        where = ("latitude", "longitude")
        columns: dict[str, Any] = {name: places[name] for name in places.column_names if name not in where}
        if self.mechanism.stop_after is not None:
            columns["state"] = texts_among(np.where(drawn == SAFE, "safe", "obscure"), STATES)
            columns["answered"] = numbers(drawn != NOT_ANSWERED)
        match self.mechanism:
            case Geometric() | Everyone():
                columns |= self._answers_of_all(drawn)
            case Sanitized():
                columns["count"] = numbers(drawn, drawn < 0)
            case AdaptiveSanitized():
                look, count = decoded(drawn, len(self.mechanism.laws))
                columns["count"] = numbers(count, look < 0)
                columns["look"] = numbers(look + 1, look < 0)
            case never:
                assert_never(never)
        return pa.table(columns)

    def _answers_of_all(self, drawn: NDArray[np.int64]) -> dict[str, Any]:
        """Return the columns of a mechanism that answers every place."""
        if not isinstance(self.mechanism, Everyone):
            shown = {"count": numbers(drawn)} if self.what == "counts" else {}
            return {"state": texts_among(self.decisions.states(drawn), STATES), **shown}
        most = self.mechanism.at_most(drawn)
        left_out = np.full(most.size, drawn[-1])
        shown = {"count": numbers(most), "left_out": numbers(left_out)} if self.what == "counts" else {}
        return {"state": texts_among(self.decisions.states(most, drawn[:-1]), STATES), **shown}

    def expected_answered_if_empty(self, places: int) -> float | None:
        """Return how many of this many places would be answered if nobody were anywhere; None if all always are."""
        runs = self.query.scans
        reached = self.mechanism.expected_answered_if_empty(places // runs)
        return None if reached is None else runs * reached


def plan_decisions(query: Counted, notion: Notion, how: Deciding) -> Plan:
    """Plan the release of safe places, or groups; errors as `leeward.plan`."""
    if isinstance(query, Statistic) and not query.counts_people:
        raise SpecError(
            f"A decision about a {query.kind}",
            "what is said to be safe or dangerous is a number of people, and this question does not count them",
            'Ask a question from count_visitors, or a statistic of the kind "histogram"',
        )
    mechanism = how.mechanism
    check_choice("mechanism", mechanism, get_args(MechanismName), "there is no such mechanism", error=SpecError)
    check_choice("what", how.what, get_args(What), "there is no such thing to publish", error=SpecError)
    if how.safe_at_most is None and how.dangerous_at_least is None:
        raise SpecError(
            "No decision", "nothing would be said of any place", "Give safe_at_most, dangerous_at_least or both"
        )
    safe_at_most = _people("safe_at_most", how.safe_at_most, 0)
    dangerous_at_least = _people("dangerous_at_least", how.dangerous_at_least, 1)
    guesses = check_about(query, how.about, how.left_out, mechanism)
    if mechanism == "auto":
        only_safe = safe_at_most is not None and dangerous_at_least is None
        in_order = query.most_counts is None or (query.noun == "level" and only_safe and only_falls(query, notion))
        mechanism = "sanitized" if in_order else "geometric"
    made: CountMechanism
    with _in_words_of(query):
        match mechanism:
            case "geometric" if guesses and safe_at_most is not None and isinstance(query, CountVisitors):
                _never_stops(how.stop_after, query, notion, safe_at_most)
                query, made = everyone(query, notion, safe_at_most, guesses)
                moves = moved(Geometric, notion, query)
            case "geometric":
                _never_stops(how.stop_after, query, notion, safe_at_most)
                moves = moved(Geometric, notion, query)
                made = Geometric(moves.line)
            case "sanitized" | "adaptive":
                if safe_at_most is None or dangerous_at_least is not None:
                    raise SpecError(
                        f"The {mechanism} mechanism",
                        "it decides what is safe, and publishes the counts that are not",
                        "Give safe_at_most, and leave dangerous_at_least out",
                    )
                moves = moved(Sanitized, notion, query)
                stops = whole(1 if how.stop_after is None else how.stop_after, "stop_after")
                refuse_scans(query, notion)
                made = (
                    Sanitized(moves.line, at_most=safe_at_most, stop_after=stops)
                    if mechanism == "sanitized"
                    else AdaptiveSanitized(moves.line, at_most=safe_at_most, budget=moves.line.fall * stops)
                )
            case never:
                assert_never(never)
        decided = decisions(
            made.count_law if isinstance(made, Everyone) else made.law,
            safe_at_most=safe_at_most,
            dangerous_at_least=dangerous_at_least,
            error_at_most=how.error_at_most,
        )
    if isinstance(made, Everyone) and safe_at_most is not None:
        decided = replace(decided, safe=made.sanitizer(safe_at_most))
    safe, dangerous = decided.safe, decided.dangerous
    if safe is not None and dangerous is not None and safe.threshold >= dangerous.threshold:
        raise InputError(
            f"error_at_most = {how.error_at_most}",
            "it is so large that one noisy count would be called both safe and dangerous",
            "Lower error_at_most",
        )
    if how.useful_from is not None and safe is None:
        raise SpecError(
            f"useful_from = {echo(how.useful_from)} without safe_at_most",
            "it is the share of places that would be called safe",
            "Leave it out",
        )
    useful = exact(USEFUL_FROM if how.useful_from is None else how.useful_from).rational
    if useful is None or not 0 <= useful < 1:
        raise InputError(f"useful_from = {how.useful_from}", "it is not a share below 1", f'Give, say, "{USEFUL_FROM}"')
    return Plan(query, notion, made, moves, decided, how.what, useful, about=how.about)


def _never_stops(stop_after: int | None, query: Counted, notion: Notion, safe_at_most: int | None) -> None:
    if stop_after is not None:
        stops = safe_at_most is not None and only_falls(query, notion)
        raise SpecError(
            f"stop_after = {echo(stop_after)} with the geometric mechanism",
            "it answers every place and never stops",
            "Leave stop_after out" + (', or use mechanism = "sanitized"' if stops else ""),
        )


def only_falls(query: Counted, notion: Notion) -> bool:
    """Return whether every count only falls along the steps of the notion: then saying *safe* is free."""
    try:
        return moved(Sanitized, notion, query).line.rise.is_infinite
    except NotPrivateError:
        return False


def moved(mechanism: CountMechanism | type[CountMechanism], notion: Notion, query: Counted) -> Sensitivity:
    """Return how far steps of the notion move what a mechanism's rates are for: all counts together, or each alone."""
    return (sensitivity_each if mechanism.each_alone else sensitivity)(notion, query, steps_of(query, notion))


@contextmanager
def _in_words_of(query: Counted) -> Iterator[None]:
    """Refuse in the words of the question: groups are no places, and notions about single visits are none for them."""
    try:
        yield
    except NotPrivateError as refused:
        if isinstance(query, CountVisitors):
            raise
        instead = refused.instead.replace('"presence" or ', "").replace("presence or ", "")
        said = refused.given, refused.because, instead.replace("for one place", f"for one {query.noun}")
        raise NotPrivateError(*(map(in_rows, said) if query.of_rows else said)) from None


_CURVE, _MOST_PEOPLE, _MOST_LEFT_OUT, _MOST_SAID = 500, 10**12, 20, 6


def _people(name: str, value: int | None, least: int) -> int | None:
    if value is None:
        return None
    number = whole(value, name, least, says="it is not a number of people")
    if number > _MOST_PEOPLE:
        raise InputError(f"{name} = {number}", "there are not so many people", "Give the number that matters")
    return number
