# SPDX-License-Identifier: Apache-2.0
"""An open ledger and a table: data, noise and budget meet only here.

Order of things, and why: the plan refuses what can be refused without data; its key, its price and what the budget is
counted in are resolved once; the ledger reserves the price before anything is counted; the engine counts exactly; noise is
drawn; the noisy integers are stored; only then is anything shown. What is shown (decisions, counts) is post-processing of
what was stored, so asking again in another form is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from leeward._private import Private
from leeward._progress import Progress, silent
from leeward._statement import BudgetStated, MonitorStated, Published
from leeward.accounting._budget_notion import charge, in_words
from leeward.errors import InputError
from leeward.exact._real import Real, exact
from leeward.noise import Bits, SystemBits
from leeward.planner._ask import advised_beyond_bound, remade
from leeward.planner._selection_plan import AnyPlan
from leeward.query import CountVisitors, Window
from leeward.query._table import alike
from leeward.query._unlisted_groups import AnyQuestion
from leeward.session._budget import Budget
from leeward.session._doubts import doubts
from leeward.session._question import question
from leeward.session._result import CuratorNotes, Release
from leeward.session._standing import amount_of, balance_of, opening_balance, refuse_total
from leeward.session._statement import privacy_statement

if TYPE_CHECKING:
    from leeward.engine import Keys, Opened
    from leeward.engine._content import Content
    from leeward.engine._shared import Sources
    from leeward.ledger import Account, Analyst, Answer, Ledger, Request, Reserved
    from leeward.ledger._balance import Balance
    from leeward.ledger._records import Amount


@dataclass(frozen=True)
class PricedPlan:
    """A plan as it will be carried out: all that is public about its charge, resolved once, before anything is charged.

    Attributes:
        plan: the plan.
        key: the ledger's key of its answer.
        version: the public label of the content it is about.
        counted_in: the notion that the budget is counted in.
        amount: what it costs there, exact: (ε, δ).
        charged: whether it is paid for: it has its answer, or a run that was interrupted, or is at work, has reserved it.
        unit: what ε = 1 of the plan's notion costs there.
        answer: the answer that is stored under its key, which costs nothing to give again; None if there is none yet.
    """

    plan: AnyPlan
    key: str
    version: str
    counted_in: str
    amount: Amount
    unit: Fraction
    answer: Answer | None = field(repr=False)
    charged: bool = False

    def cost_of(self, epsilon: Real) -> Fraction:
        """Return what an ε of the plan's notion costs in the budget; it was priced already, so it is a fraction."""
        assert epsilon.rational is not None
        return self.unit * epsilon.rational


Draw = Callable[[NDArray[np.int64], Bits], NDArray[np.int64]]
"""A mechanism: from exact counts to the integers that are stored."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Counts(Private):
    """What was counted for one answer, before noise.

    Attributes:
        exactly: the counts that the mechanism draws from.
        notes: what only the curator may know of them.
    """

    exactly: NDArray[np.int64]
    notes: CuratorNotes


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PaidAnswer(Private):
    """An answer that is stored and paid for.

    Attributes:
        stored: the integers that the mechanism gave, as the ledger keeps them.
        entry: the random id of the ledger entry.
        notes: what only the curator may know.
    """

    stored: NDArray[np.int64]
    entry: str
    notes: CuratorNotes


class Session(Private):
    """An open ledger and a table: the only place where counts become noisy integers. A context manager.

    The public list and the account are read when it is made; the table is opened, and its content recognised, when the
    first answer is drawn: from ``sources``, where other questions are asked too, about the same table perhaps. What another
    process does to the account meanwhile is seen where it matters: the ledger checks
    the notion, the cap and what is left again, in the transaction that reserves a price.

    Args:
        query: any of the questions to be asked; they share their table and their public keys.
        budget: where the price is charged.
        bits: the entropy source; anything but the default marks releases unfit for publication.
        progress: called with what is going on.
        analyst: on whose behalf answers are asked; None for the curator's own.
        ledger: that of the budget, where it is open already.
        keys: the public list, where it is read already.
        opens_in: what the budget is counted in by the question before it in one transaction, where none is open yet.
    """

    __slots__ = (
        "_account", "_open", "_opens_in", "_query", "_table", "analyst", "bits", "budget", "keys", "ledger", "progress",
        "sources",
    )  # fmt: skip

    def __init__(
        self,
        query: AnyQuestion,
        budget: Budget,
        bits: Bits | None = None,
        progress: Progress = silent,
        analyst: Analyst | None = None,
        *,
        ledger: Ledger | None = None,
        keys: Keys | None = None,
        opens_in: str | None = None,
    ) -> None:
        from leeward.engine import read_keys
        from leeward.ledger import Ledger

        self.budget, self.bits, self.progress, self.analyst = budget, bits, progress, analyst
        self._query, self._open, self._opens_in = query, ExitStack(), opens_in
        self.sources: Sources | None = None
        self._table: tuple[Opened, Content] | None = None
        self.progress("reading the public list")
        self.keys: Keys = read_keys(query) if keys is None else keys
        self.ledger: Ledger = Ledger(budget.ledger) if ledger is None else ledger
        self._account: Account | None = self.ledger.account(budget.dataset, new=budget.new)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def fit_for_release(self) -> bool:
        """Whether the noise comes from fresh entropy."""
        return self.bits is None or self.bits.fit_for_release

    def key(self, made: AnyPlan, rounds: Sequence[Window] | None = None) -> str:
        """Return the ledger's key of an answer: the canonical text of its `Question`."""
        asked = question(made, self.keys.digest(), fit_for_release=self.fit_for_release, rounds=rounds)
        return asked.canonical()

    def price(self, plans: Sequence[AnyPlan]) -> list[PricedPlan]:
        """Resolve plans, one release each; the first opens the budget where there is none yet."""
        # remade first: a plan that was altered must not decide even the key. A sanitized plan's price may depend on how many
        known = [remade(made).listing(len(self.keys)) for made in plans]
        self.refuse_another_table(known)
        priced = self.priced(known, [self.key(made) for made in known])
        stands = self.balance(priced[0].counted_in)
        refuse_total([each.amount for each in priced if not each.charged], stands, self.budget.dataset)
        return priced

    def priced(
        self, plans: Sequence[AnyPlan], keys: Sequence[str], versions: Sequence[str] | None = None
    ) -> list[PricedPlan]:
        """Resolve plans that were made anew, under their keys and, where given, under other labels than the budget's."""
        counted_in, budget = self._counted_in(plans[0]), self.budget
        asked = list(zip([budget.version] * len(plans) if versions is None else versions, keys, strict=True))
        known = self.ledger.charged(budget.dataset, {*asked})
        priced = []
        for made, (version, key) in zip(plans, asked, strict=True):
            amount = amount_of(made, counted_in)
            unit = charge(made.notion, exact(1), counted_in, rows=made.counted.of_rows)
            answer, is_charged = known.get((version, key)), (version, key) in known
            priced.append(PricedPlan(made, key, version, counted_in, amount, unit, answer, is_charged))
        return priced

    def refuse_dear(self, priced: PricedPlan) -> None:
        """Refuse what the budget does not pay for, or the analyst's part of it, before the data are looked at.

        The ledger asks it again in the transaction that charges; here it keeps a refusal from depending on the table.
        """
        from leeward.ledger._balance import charged, fixed

        stands, dataset = self.balance(priced.counted_in), self.budget.dataset
        if priced.charged:
            return
        fixed(None if stands.cap is None else stands.cap.epsilon, dataset)
        assert stands.cap is not None
        charged(stands, dataset, priced.counted_in, stands.cap, priced.amount)
        if self.analyst is not None:
            self.ledger.check_share(dataset, self.analyst, priced.amount)

    def stored(self, priced: PricedPlan) -> PaidAnswer | None:
        """Return the answer of a plan that was stored when it was priced, without a look at the table; None if none was."""
        if priced.answer is None:
            return None
        return PaidAnswer(_integers(priced.answer.payload), priced.answer.id, CuratorNotes())

    def request(self, priced: PricedPlan, reserve: Real | None = None) -> Request:
        """Return what is asked of the ledger for a plan; the table is opened, and its content recognised.

        ``reserve`` is the most that its answer can cost, in ε of the plan's notion; by default the plan's price.
        """
        from leeward.ledger import Request

        _, content = self._recognised()
        return Request(
            dataset=self.budget.dataset,
            version=priced.version,
            key=priced.key,
            cost=priced.amount.epsilon if reserve is None else priced.cost_of(reserve),
            cap=self.budget.exact_cap(),
            notion=priced.counted_in,
            content=content,
            new=self.budget.new,
            delta=priced.amount.delta,
            cap_delta=self.budget.exact_cap_delta(),
            analyst=self.analyst,
        )

    def count(self, priced: PricedPlan) -> Counts:
        """Count exactly what a plan's mechanism draws from. Only inside a reservation."""
        self.progress("counting")
        query = priced.plan.counted
        counted = self._recognised()[0].exactly(query, priced.plan.drawn_from)
        with advised_beyond_bound(priced.plan):
            exactly = counted.counts
        over = counted.people_over_bound
        return Counts(exactly, CuratorNotes(counted.dropped, over, over=query.over_bound(over)))

    def draw(self, counted: Counts, draw: Draw) -> NDArray[np.int64]:
        """Draw the integers that are stored: the only step that draws noise."""
        self.progress("adding noise")
        return draw(counted.exactly, self.bits or SystemBits())

    def expect(self, queries: Sequence[AnyQuestion]) -> None:
        """Say which questions will be asked of the table: windows of one run are then counted in one pass over its rows."""
        if queries:
            self._recognised()[0].expect(queries)

    def look_over(self, queries: Sequence[AnyQuestion], *, going_on: bool = False) -> None:
        """Stop, before anything is charged, if the data make it doubtful that these questions are what was meant.

        Raises:
            DoubtfulDataError: nothing, or under 1 % of the rows that should, would count; or listed keys, or values that the
                filter allows, are spelt otherwise than in the rows; or over 9 of 10 numbers lie beyond the bounds; or times
                or positions are rounded to more than is asked. For the curator only.
        """
        if queries:
            table, _ = self._recognised()
            beyond = partial(table.beyond, queries[0])
            for stop in doubts(table, queries, beyond, going_on=going_on, progress=self.progress):
                stop()

    def publish(
        self,
        priced: PricedPlan,
        paid: PaidAnswer,
        *,
        promises: Sequence[str] = (),
        monitor: MonitorStated | None = None,
    ) -> Release:
        """Return what may be shown of an answer that is stored and paid for: post-processing."""
        self.progress("deciding")
        made, budget = priced.plan, self.budget
        published = Published(
            entry=paid.entry,
            fit_for_release=self.fit_for_release,
            budget=BudgetStated(notion=in_words(priced.counted_in), price=str(priced.amount.epsilon)),
            monitor=monitor,
        )
        statement = privacy_statement(
            made,
            places=len(self.keys),
            dataset=budget.dataset,
            version=budget.version,
            published=published,
            promises=promises,
        )
        public = self.keys.to_arrow()
        return Release(made.answers(paid.stored, public), public, statement, self.keys.grid is not None, paid.notes)

    def _recognised(self) -> tuple[Opened, Content]:
        from leeward.engine import open_data

        if self._table is None:
            key = self.ledger.content_key()
            self.progress("reading the data")
            table = self._open.enter_context(open_data(self._query, self.keys, self.sources))
            self.progress("recognising the content")
            self._table = table, table.content(key)
        return self._table

    def refuse_another_table(self, plans: Sequence[AnyPlan]) -> None:
        """Refuse plans about another table, or another public list, than those that are read: they would answer them."""
        if not all(self._same_table(made.counted) for made in plans):
            raise InputError(
                "Plans about several tables, or several public lists",
                "they are carried out together, on one table that is read once",
                "Give the same table and list to all of them, or carry them out one by one",
            )

    def _same_table(self, query: AnyQuestion) -> bool:
        from leeward.engine import read_keys

        ours = self._query
        if isinstance(query, CountVisitors) and isinstance(ours, CountVisitors):
            return alike(query.visits, ours.visits) and (
                alike(query.places, ours.places) or read_keys(query).digest() == self.keys.digest()
            )
        if isinstance(query, CountVisitors) or isinstance(ours, CountVisitors) or query is ours:
            return query is ours
        # of a table they differ in nothing but their window, which both of them have
        windows = query.window is not None and ours.window is not None and alike(query.records, ours.records)
        return windows and replace(query, records=ours.records, window=ours.window) == ours

    def _counted_in(self, made: AnyPlan) -> str:
        from leeward.ledger._balance import agree

        account, budget = self._account, self.budget
        counted_in = budget.counted_in(
            made.notion, self._opens_in if account is None else account.notion, rows=made.counted.of_rows
        )
        if account is not None:  # also where every answer is stored, so that nothing is reserved
            caps = budget.exact_cap(), budget.exact_cap_delta()
            agree(balance_of(account), budget.dataset, counted_in, *caps)
        return counted_in

    def balance(self, counted_in: str) -> Balance:
        """Return where the budget stood when this was made."""
        return opening_balance(self.budget, counted_in) if self._account is None else balance_of(self._account)


def charge_of(release: Reserved, counted: Counts | None = None) -> PaidAnswer:
    """Return an answer that is stored; where it was counted just now, with what the curator may know of that."""
    assert release.answer is not None
    notes = CuratorNotes()
    if counted is not None:
        cost, delta = (0, 0) if release.paid else (release.cost, release.delta)
        notes = replace(counted.notes, charged=str(cost), charged_delta=str(delta), opened=release.opened)
    return PaidAnswer(_integers(release.answer), release.id, notes)


def payload(drawn: NDArray[np.int64]) -> bytes:
    """Write integers as they are stored, in one width each: the size of what is stored must not depend on the draw."""
    return drawn.astype("<i8").tobytes()


def _integers(stored: bytes) -> NDArray[np.int64]:
    """Read the integers of a stored answer."""
    return np.frombuffer(stored, dtype="<i8").astype(np.int64)


def answer(
    asked: Sequence[tuple[Session, PricedPlan]],
    naming: Callable[[Session], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> list[PaidAnswer]:
    """Return the stored answers of plans; those that have none are reserved, counted, drawn and stored together.

    All counts stand before the first draw: so what fails because of the data fails before there is a draw to choose.

    Args:
        asked: each plan with the session that its table is open in; the sessions share their budget.
        naming: what goes around the counting of a session, to say in what is refused which question it is about.
    """
    from leeward.ledger import DrawnAnswer, Reserved

    if not asked:
        return []
    first, _ = asked[0]
    requests = [session.request(priced) for session, priced in asked]
    with first.ledger.reserve(requests, progress=first.progress) as reservation:
        due = dict[Reserved, tuple[Session, PricedPlan]]()
        for release, at in zip(reservation.releases, asked, strict=True):
            if release.answer is None:
                due.setdefault(release, at)
        counted = dict[Reserved, Counts]()
        for release, (session, priced) in due.items():
            with naming(session):
                counted[release] = session.count(priced)
        drawn = [session.draw(counted[release], at.plan.draw) for release, (session, at) in due.items()]
        if drawn:
            reservation.store([DrawnAnswer(payload(each)) for each in drawn])
    # of two that are one question, the first paid
    return [charge_of(release, counted.pop(release, None)) for release in reservation.releases]
