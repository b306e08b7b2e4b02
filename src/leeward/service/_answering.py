# SPDX-License-Identifier: Apache-2.0
"""From a question to its answer: first all that is public, then the table, of which nothing but the answer is shown.

What is refused before the table is opened is refused by public facts. From then on there are two ends: an answer of the
mechanism, or one fixed refusal (`UNANSWERED`), whatever happened: a file that cannot be read, content that changed under
its label, a defect. Its price is given back, whatever happened. That a table cannot be read is nevertheless a fact about it,
so such a refusal is given to an analyst so many times at most (`MOST_UNANSWERED`); then the data set is closed to new
questions of this analyst, until the curator has looked and starts the service anew. It is closed to nobody else: who asks
what the table's columns do not fit would else close it for all. The curator is told each time why, on the terminal.

How long a table takes is a fact about it too, and the ledger shows whoever asks it when a price was reserved and an answer
stored: as what is left of a cap, as ``answered`` and as ``stored``. So all of that is written at whole multiples of a public
number of seconds after the question came in (`Ticks`).
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic, sleep
from typing import Final

from leeward._statement import NOT_YET, BudgetStated
from leeward.accounting._budget_notion import in_words
from leeward.errors import (
    BudgetConflictError,
    CapExceededError,
    ContentChangedError,
    InputError,
    LedgerError,
    LeewardError,
    RefusedError,
)
from leeward.ledger import Analyst, Ledger
from leeward.ledger._records import refuse_long
from leeward.noise import Bits
from leeward.planner._useless import refuse_useless
from leeward.service._asked import admitted
from leeward.service._documents import Answered, Asked, Bought, DataSets, Offered, Planned, Releases, Yours
from leeward.service._held import Held
from leeward.service._offers import DataSet, Offers
from leeward.service._tokens import Issued
from leeward.session._bought import bought
from leeward.session._result import Release
from leeward.session._session import PaidAnswer, PricedPlan, Session, answer
from leeward.session._statement import privacy_statement

MOST_UNANSWERED: Final = 10
"""So often an analyst may be told of a data set that a question could not be answered, before it is closed to them."""

AT_TICKS: Final = ("reserving", "storing", "withdrawing")
"""Stages of a reservation after which the ledger says something else than before."""


class Ticks:
    """The moments at which something that comes of a table may be seen.

    Args:
        seconds: they are at whole multiples of so many seconds from now on.
    """

    def __init__(self, seconds: int) -> None:
        self._begun, self._seconds = monotonic(), seconds

    def left(self) -> float:
        """Return how many seconds there are until the next."""
        taken = monotonic() - self._begun
        return math.ceil(taken / self._seconds) * self._seconds - taken


class NoTokenError(LeewardError):
    """The token of an analyst was revoked while a question was at work."""


class NoDataSetError(LeewardError):
    """There is no data set of a name, or it is not for this analyst: the two are not told apart."""


class UnansweredError(LeewardError):
    """The table was asked, and there is no answer."""


class UnavailableError(LeewardError):
    """What is public could not be read, as the ledger or the list of places: the table was not asked."""


class PositionError(LeewardError):
    """A position that a broker sent cannot be perturbed."""


UNANSWERED: Final = (
    "This question",
    "it could not be answered",
    "Ask the curator, who was told why; GET /releases lists what was charged",
)
UNAVAILABLE: Final = (
    "The service",
    "it cannot answer now",
    "Try later, or ask the curator; an answer that was charged is stored, and free when it is asked again",
)


@dataclass(frozen=True)
class Ready:
    """A question of which all that is public is known.

    Attributes:
        data_set: what it is about.
        issued: the token that was sent.
        analyst: who asks.
        session: the ledger, and the table, which is not open yet.
        priced: its plan and price.
        stored: its answer, if it is stored.
    """

    data_set: DataSet
    issued: Issued
    analyst: Analyst
    session: Session
    priced: PricedPlan
    stored: PaidAnswer | None


class Answering:
    """Answers questions.

    Args:
        offers: what may be asked.
        tell: called with what only the curator may know.
        bits: the entropy source; anything but the default marks answers unfit for publication.
    """

    def __init__(self, offers: Offers, tell: Callable[[str], object], bits: Bits | None = None) -> None:
        self.offers, self._tell, self._bits = offers, tell, bits
        self._held = Held()
        self._unanswered, self._at_work = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        self._ended = threading.Condition()

    def open_ledgers(self) -> None:
        """Open the ledgers that are there: of these none is made anew, as where the disk that it is on is taken away.

        Raises:
            LedgerError: one cannot be used.
        """
        for data_set in self.offers.data_sets.values():
            self._held.found(data_set.budget().ledger)

    def data_sets(self, who: Issued) -> DataSets:
        """Return what an analyst may ask."""
        found = list[Offered]()
        for name in who.caps:
            if name not in self.offers.data_sets:
                continue
            data_set, analyst = self._of(who, name)
            offer, budget = data_set.offer, data_set.budget()
            with self.public():
                counted_in = _counted_in(data_set)
                found.append(
                    Offered(
                        name=name,
                        about=offer.about,
                        kinds=tuple(offer.kinds),
                        notions=tuple(offer.notions),
                        most_epsilon=str(data_set.most),
                        columns=tuple(offer.columns),
                        groups={column: tuple(values) for column, values in offer.groups.items()},
                        counted_in=in_words(counted_in),
                        yours=_yours(self._held.found(budget.ledger), budget.dataset, analyst),
                    )
                )
        return DataSets(data_sets=tuple(found))

    def releases(self, who: Issued) -> Releases:
        """Return what an analyst has paid for."""
        found = list[Bought]()
        for name in who.caps:
            if name not in self.offers.data_sets:
                continue
            budget = self.offers.data_sets[name].budget()
            with self.public():
                ledger = self._held.found(budget.ledger)
                entries = [] if ledger is None else ledger.history(budget.dataset)
            mine = {one.id for one in entries if one.kind == "asked-by" and one.key == who.name}
            costs = Counter[str]()
            for one in entries:
                costs[one.id] += one.cost  # type: ignore[assignment]
            ended = {one.id: one.kind for one in entries if one.kind in ("released", "withdrawn")}
            found += [
                Bought(
                    data_set=name,
                    entry=one.id,
                    day=f"{one.time:%Y-%m-%d}",
                    what=bought(one.key),
                    cost=str(costs[one.id]),
                    answered=ended.get(one.id) == "released",
                )
                for one in entries
                if one.kind == "reserved" and one.id in mine and ended.get(one.id) != "withdrawn"
            ]
        return Releases(releases=tuple(found))

    def plan(self, who: Issued, asked: Asked) -> Planned:
        """Return what is known of a question before it is charged; the table is not opened.

        Raises:
            LeewardError: it is refused, by public facts.
        """
        ready = self._known(who, asked)
        priced = ready.priced
        stated = BudgetStated(notion=in_words(priced.counted_in), price=str(priced.amount.epsilon))
        return Planned(
            price=str(priced.amount.epsilon),
            counted_in=in_words(priced.counted_in),
            stored=ready.stored is not None,
            yours=_yours(ready.session.ledger, ready.session.budget.dataset, ready.analyst),
            statement=privacy_statement(
                priced.plan,
                places=len(ready.session.keys),
                dataset=ready.session.budget.dataset,
                version=ready.session.budget.version,
                published=NOT_YET.model_copy(update={"budget": stated}),
            ).to_dict(),
        )

    def ready(self, who: Issued, asked: Asked) -> Ready:
        """Return a question that is to be answered; the table is not opened.

        Raises:
            LeewardError: it is refused, by public facts.
        """
        ready = self._known(who, asked)
        if ready.stored is None:
            self._refuse_dear(ready)
            self._refuse_closed(ready)
        return ready

    def stored(self, ready: Ready) -> Answered:
        """Return the stored answer of a question."""
        assert ready.stored is not None
        return self._answered(ready, ready.session.publish(ready.priced, ready.stored))

    def drawn(self, ready: Ready, ticks: Ticks) -> Answered:
        """Charge a question, count, draw and store its answer; what the ledger shows of that is written at a tick.

        Raises:
            CapExceededError: another question has been charged meanwhile, and what is left does not pay for this one.
            NoTokenError: the token was revoked before the price was reserved.
            UnansweredError: there is no answer, and the curator was told why.
        """

        def paced(stage: str, _share: float = 0.0, /) -> None:
            if stage in AT_TICKS:
                sleep(ticks.left())
            if stage == "reserving" and ready.issued not in self.offers.tokens.read():
                raise NoTokenError("This token", "it was revoked", "Ask the curator")

        ready.session.progress = paced
        with self._one_of_few(ready):
            try:
                with ready.session as session:
                    try:
                        release = session.publish(ready.priced, *answer([(session, ready.priced)]))
                    except CapExceededError:
                        raise self._dear(ready) from None
            except (CapExceededError, NoTokenError, UnavailableError):
                raise
            except Exception as error:
                self._note(ready, error)
                raise UnansweredError(*UNANSWERED) from None
        return self._answered(ready, release)

    def _refuse_closed(self, ready: Ready) -> None:
        if self._unanswered[ready.data_set.name, ready.analyst.name] >= MOST_UNANSWERED:
            raise UnansweredError(*UNANSWERED)

    @contextmanager
    def _one_of_few(self, ready: Ready) -> Iterator[None]:
        """Wait until so few of an analyst are at work that, if none of them is answered, they are not told so too often."""
        of = ready.data_set.name, ready.analyst.name
        with self._ended:
            self._ended.wait_for(lambda: self._at_work[of] < max(1, MOST_UNANSWERED - self._unanswered[of]))
            self._refuse_closed(ready)
            self._at_work[of] += 1
        try:
            yield
        finally:
            with self._ended:
                self._at_work[of] -= 1
                self._ended.notify_all()

    def _of(self, who: Issued, name: str) -> tuple[DataSet, Analyst]:
        data_set, analyst = self.offers.data_sets.get(name), who.analyst(name)
        if data_set is None or analyst is None:
            raise NoDataSetError("This data set", "there is none of that name that you may ask", "See GET /data-sets")
        return data_set, analyst

    def _known(self, who: Issued, asked: Asked) -> Ready:
        data_set, analyst = self._of(who, asked.data_set)
        plan, budget = admitted(data_set, asked.spec), data_set.budget()
        with self.public():
            ledger, keys = self._held.ledger(budget.ledger), self._held.keys(data_set.name, plan.counted)
            session = Session(plan.counted, budget, self._bits, analyst=analyst, ledger=ledger, keys=keys)
        (priced,) = session.price([plan])
        refuse_long(priced.amount, "this release")
        if priced.amount.epsilon > data_set.most:
            raise RefusedError(
                f"A release at a price of {priced.amount.epsilon}",
                f"one release of this data set may cost {data_set.most} at most",
                "Ask for a smaller epsilon",
            )
        if not (asked.accept_useless or asked.spec.get("query", {}).get("accept_useless", False)):  # as the command
            refuse_useless(priced.plan, len(session.keys))
        return Ready(data_set, who, analyst, session, priced, session.stored(priced))

    def _refuse_dear(self, ready: Ready) -> None:
        refused = None
        try:
            with self.public():
                try:
                    ready.session.refuse_dear(ready.priced)
                except InputError as error:  # the exact sum has no room for its digits: no fault of the ledger
                    refused = error
        except CapExceededError:
            raise self._dear(ready) from None
        if refused is not None:
            raise refused

    def _dear(self, ready: Ready) -> CapExceededError:
        """Return the refusal of what is too dear: how much others left is not for this analyst to know."""
        with self.public():
            left = Fraction(_yours(ready.session.ledger, ready.session.budget.dataset, ready.analyst).left)
        price = ready.priced.amount.epsilon
        if price > left:
            return CapExceededError(
                f"This release costs {price}, and {left} is left of what you may spend on '{ready.data_set.name}'",
                "each analyst has a cap inside that of the data set",
                "Ask for less, or ask the curator for a higher cap",
            )
        return CapExceededError(
            f"This release costs {price}", f"the budget of '{ready.data_set.name}' does not pay for it", "Ask for less"
        )

    def _answered(self, ready: Ready, release: Release) -> Answered:
        with self.public():
            yours = _yours(ready.session.ledger, ready.session.budget.dataset, ready.analyst)
        return Answered(
            answers=tuple(release.answers.to_pylist()),
            statement=release.statement.to_dict(),
            charged=release.curator.charged,
            yours=yours,
        )

    def _note(self, ready: Ready, error: Exception) -> None:
        """Tell the curator why a question was not answered; close the data set to whoever was told so too often."""
        name, who = ready.data_set.name, ready.analyst.name
        said = (
            str(error) if isinstance(error, LeewardError) else f"an unexpected {type(error).__name__}; please report it"
        )
        self._tell(f"leeward: a question of {who} about '{name}' was not answered: {said}")
        if isinstance(error, LedgerError) and not isinstance(error, BudgetConflictError | ContentChangedError):
            return  # a ledger that is busy or full says nothing about the table
        with self._ended:
            self._unanswered[name, who] += 1
            if self._unanswered[name, who] == MOST_UNANSWERED:
                self._tell(
                    f"leeward: '{name}' is closed to new questions of {who}, because {MOST_UNANSWERED} were not answered:"
                    " that a table cannot be read is a fact about it. Mend it, and start the service again."
                )

    @contextmanager
    def public(self) -> Iterator[None]:
        """What goes wrong in it is the curator's to know: an analyst learns that the service is not available."""
        try:
            yield
        except (CapExceededError, PositionError):
            raise
        except LeewardError as error:
            self._tell(f"leeward: the service is not available: {error}")
            raise UnavailableError(*UNAVAILABLE) from None


def _counted_in(data_set: DataSet) -> str:
    (probe, *_) = data_set.probes()
    (plan,) = probe.plans()
    return data_set.budget().counted_in(plan.notion, None, rows=plan.counted.of_rows)


def _yours(ledger: Ledger | None, dataset: str, analyst: Analyst) -> Yours:
    spent = sum((one.spent for one in ledger.shares(dataset, analyst.name)), Fraction(0)) if ledger else Fraction(0)
    left = max(analyst.cap - spent, Fraction(0))
    return Yours(cap=str(analyst.cap), spent=str(spent), left=str(left))
