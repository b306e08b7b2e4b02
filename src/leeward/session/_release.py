"""The one door: data, noise and budget meet only here.

Order of things, and why: the plan refuses what can be refused without data; the ledger reserves the price before anything
is counted; the engine counts exactly; noise is drawn; the noisy integers are stored; only then is anything shown. What is
shown (decisions, counts) is post-processing of what was stored, so asking again in another form is free.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from leeward._paths import resolve_ledger
from leeward._plain import is_text, told
from leeward._private import Private
from leeward._taught import taught
from leeward.accounting._budget_notion import budget_notion, charge, in_words, named_budget_notion
from leeward.errors import BoundExceededError, BudgetConflictError, CapExceededError, InputError, SpecError, nearest
from leeward.exact._real import Exact, Real, exact
from leeward.noise import Bits, SystemBits
from leeward.notion import Notion
from leeward.planner._beyond_bound import beyond_bound
from leeward.planner._number_plan import NumberPlan, plan_number
from leeward.planner._plan import USEFUL_FROM, Plan, What, plan
from leeward.planner._useless import refuse_useless
from leeward.query import CountVisitors
from leeward.query._statistic import Statistic
from leeward.session._result import CuratorNotes, Release
from leeward.session._statement import privacy_statement

if TYPE_CHECKING:
    from leeward.engine import Content, Keys, Opened
    from leeward.ledger import Answer, Ledger

Told = Callable[[str], None]

IfDoubtful = Literal["refuse", "publish"]
"""What becomes of a release that the data make doubtful, because nothing or too little of them would count."""


@taught
@dataclass(frozen=True)
class Budget:
    """Where the budget of a dataset is kept.

    Attributes:
        ledger: URL of the ledger, such as ``sqlite:///budget.db``, or its path. A relative one is relative to the working
            directory of the moment when the budget is described, and absolute from then on.
        dataset: the public name of the data.
        cap: the most that may ever be spent on it, exact; fixed by the first release; None for what was fixed then.
        version: the public label of the content: name a new one when the data changes.
        notion: the name of the notion it is kept in; fixed by the first release; None for what was fixed then, or for that
            of the first release.
        new: where nothing is spent on ``dataset`` yet, giving ``cap`` opens its budget; but not if the ledger has a budget
            of nearly the same name, or for the same content, which may be a slip. True: it is no slip.
    """

    ledger: str
    dataset: str
    cap: Exact | None = None
    version: str = "1"
    notion: str | None = None
    new: bool = False

    def __post_init__(self) -> None:
        for name in ("dataset", "version", "notion"):
            if not is_text(value := getattr(self, name)) and (name != "notion" or value is not None):
                because = "it is empty or not plain text" if isinstance(value, str) else "it is a public name"
                raise InputError(f"{name} = {told(value)}", because, "Give it as text")
        self.exact_cap()
        object.__setattr__(self, "ledger", f"sqlite:///{resolve_ledger(self.ledger)}")

    def exact_cap(self) -> Fraction | None:
        """Return the cap as a fraction.

        Raises:
            InputError: it is not a finite rational above 0.
        """
        if self.cap is None:
            return None
        cap = exact(self.cap).rational
        if cap is None or cap <= 0:
            raise InputError(f"cap = {told(self.cap)}", "it is no finite amount above 0", 'Give, say, cap = "5"')
        return cap

    def counted_in(self, notion: Notion, standing: str | None, *, rows: bool = False) -> str:
        """Return what the budget is kept in, where a release under this notion would be its first.

        Args:
            notion: that of the release.
            standing: what an open account is kept in; None where there is none.
            rows: whether the release takes every row for a person of its own.

        Raises:
            SpecError: there is no notion of the name given.
            BudgetConflictError: the account is kept in another one.
        """
        asked = None if self.notion is None else named_budget_notion(self.notion, rows=rows)
        if standing is not None and asked is not None and asked != standing:
            raise BudgetConflictError(
                f"The budget of '{self.dataset}' is kept in {in_words(standing)}, and this release says {self.notion}",
                "the first release fixed it, and what was spent is counted in it",
                f"Leave `notion` out of [budget]: the release is then priced in {in_words(standing)}",
            )
        return standing or asked or budget_notion(notion, rows=rows)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Charge(Private):
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

    The table is opened, and its content recognised, when the first answer is asked for.

    Args:
        query: any of the questions to be asked; they share their table and their public keys.
        budget: where the price is charged.
        bits: the entropy source; anything but the default marks releases unfit for publication.
        on_stage: told what is going on.
    """

    __slots__ = ("_cap", "_open", "_query", "_table", "bits", "budget", "keys", "ledger", "on_stage")

    def __init__(
        self, query: CountVisitors | Statistic, budget: Budget, bits: Bits | None = None, on_stage: Told | None = None
    ) -> None:
        from leeward.engine import read_keys
        from leeward.ledger import Ledger

        self.budget, self.bits, self.on_stage = budget, bits, on_stage or (lambda _stage: None)
        self._query, self._open = query, ExitStack()
        self._table: tuple[Opened, Content] | None = None
        self._cap = budget.exact_cap()
        self.on_stage("reading the public list")
        self.keys: Keys = read_keys(query)
        self.ledger: Ledger = Ledger(budget.ledger)
        if not budget.new:
            self.ledger.refuse_alike(budget.dataset)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def fit_for_release(self) -> bool:
        """Whether the noise comes from fresh entropy."""
        return self.bits is None or self.bits.fit_for_release

    def key(self, **public: Any) -> str:
        """Return the canonical text of public things, the answer's keys among them: the ledger's key of an answer."""
        public |= {"keys": self.keys.digest()}
        if not self.fit_for_release:
            public["fit_for_release"] = False
        return json.dumps(public, sort_keys=True, ensure_ascii=False, default=str)

    def answer(
        self,
        query: CountVisitors | Statistic,
        notion: Notion,
        key: str,
        price: Real,
        draw: Callable[[NDArray[np.int64], Bits], NDArray[np.int64]],
        *,
        version: str | None = None,
        settle: Callable[[NDArray[np.int64]], Real] | None = None,
    ) -> Charge:
        """Return the stored answer of a key; where there is none, reserve its price, count, draw and store it.

        Args:
            query: what is counted.
            notion: the notion the price is counted in; it is charged in that of the budget.
            key: from `key`.
            price: the most it can cost.
            draw: the mechanism: exact counts and bits to the integers that are stored, one a place.
            version: the label of the content, if not the budget's.
            settle: what an answer costs, from the stored integers alone; by default the price.

        Raises:
            LeewardError: it is refused; nothing was charged.
        """
        counted_in = self.counted_in(notion)
        most, each = (
            charge(notion, price, counted_in, rows=query.of_rows),
            charge(notion, exact(1), counted_in, rows=query.of_rows),
        )  # all that can be refused, is now
        table, content = self._recognised()
        notes = CuratorNotes(None, None, "0")
        with self.ledger.reserve(
            dataset=self.budget.dataset,
            version=version or self.budget.version,
            key=key,
            cost=most,
            cap=self._cap,
            notion=counted_in,
            digest=content.digest,
            digest_columns=content.columns,
            digest_form=content.form,
            marks=content.marks,
            telling=content.telling,
            new=self.budget.new,
            on_stage=self.on_stage,
        ) as claim:
            if claim.answer is None:
                self.on_stage("counting")
                counted = table.count(query)
                self.on_stage("adding noise")
                try:
                    exactly = counted.counts
                except BoundExceededError as refused:
                    if isinstance(query, Statistic):
                        raise
                    raise BoundExceededError(refused.given, refused.because, beyond_bound(query, notion)) from None
                drawn = draw(exactly, self.bits or SystemBits())
                settled = None if settle is None else settle(drawn).rational
                cost = most if settled is None else each * settled
                # one fixed width a place: the size of what is stored must not depend on the draw
                claim.store(drawn.astype("<i8").tobytes(), cost)
                over = query.over_bound(counted.people_over_bound)
                notes = CuratorNotes(counted.dropped, counted.people_over_bound, str(cost), over)
            stored, entry = claim.answer, claim.id
        assert stored is not None
        return Charge(np.frombuffer(stored, dtype="<i8").astype(np.int64), entry, notes)

    def stored(self, key: str, version: str | None = None) -> Answer | None:
        """Return the answer that is stored under a key, if there is one."""
        return self.ledger.peek(self.budget.dataset, version or self.budget.version, key)

    def look_over(self, queries: Sequence[CountVisitors | Statistic], *, going_on: bool = False) -> None:
        """Stop, before anything is charged, if the data make it doubtful that these questions are what was meant.

        Args:
            queries: those without a stored answer, which are looked at together, as windows of one run.
            going_on: whether a monitor has answered earlier windows.

        Raises:
            DoubtfulDataError: nothing, or under 1 % of the rows that should, would count. For the curator only.
        """
        from leeward.engine import refuse_doubtful

        if queries:
            table, _ = self._recognised()
            self.on_stage("looking how much would count")
            refuse_doubtful([table.look(query) for query in queries], going_on=going_on)

    def _recognised(self) -> tuple[Opened, Content]:
        from leeward.engine import open_data

        if self._table is None:
            key = self.ledger.content_key()
            self.on_stage("reading the data")
            table = self._open.enter_context(open_data(self._query, self.keys))
            self.on_stage("recognising the content")
            self._table = table, table.content(key)
        return self._table

    def counted_in(self, notion: Notion) -> str:
        """Return what the budget is kept in; a release under this notion opens it where it is not open yet.

        Raises:
            BudgetConflictError: it is kept in another notion than the budget says, or has another cap.
        """
        from leeward.ledger._balance import Balance, agree

        account = next(iter(self.ledger.show(self.budget.dataset)), None)
        standing_in = None if account is None else account.notion
        counted_in = self.budget.counted_in(notion, standing_in, rows=self._query.of_rows)
        if account is not None:  # also where every answer is stored, so that nothing is reserved
            standing = Balance(account.notion, account.cap, account.spent)
            agree(standing, self.budget.dataset, counted_in, self._cap)
        return counted_in

    def publish(self, made: Plan | NumberPlan, paid: Charge, *, promises: Sequence[str] = (), **stated: Any) -> Release:
        """Return what may be shown of an answer that is stored and paid for: post-processing.

        Args:
            made: the plan it was drawn by.
            paid: the answer.
            promises: assumptions of the statement beyond the plan's.
            stated: more parts of the statement.
        """
        self.on_stage("deciding")
        counted_in, budget = self.counted_in(made.notion), self.budget
        price = charge(made.notion, made.price, counted_in, rows=made.query.of_rows)
        plain = privacy_statement(made, places=len(self.keys), dataset=budget.dataset, version=budget.version)
        statement = {
            "entry": paid.entry,
            "fit_for_release": self.fit_for_release,
            **plain,
            "assumptions": [*plain["assumptions"], *promises],
            "budget": {"notion": in_words(counted_in), "price": str(price)},
            **stated,
        }
        public = self.keys.to_arrow()
        return Release(made.answers(paid.stored, public), public, statement, self.keys.grid is not None, paid.notes)

    def check_total(self, prices: Iterable[tuple[str, Fraction]]) -> None:
        """Refuse several releases if not all of them fit what is left: before the first is made.

        Raises:
            CapExceededError: they do not.
        """
        dataset = self.budget.dataset
        new = [price for key, price in prices if self.stored(key) is None]
        account = next(iter(self.ledger.show(dataset)), None)
        left = self._cap if account is None else account.left
        total = sum(new, Fraction(0))
        if len(new) > 1 and left is not None and total > left:
            raise CapExceededError(
                f"{len(new)} windows at a total price of {total}",
                f"only {left} is left of the budget of '{dataset}'",
                "Ask for fewer windows or a smaller epsilon, or raise the cap with `leeward budget set-cap`",
            )


@taught
def release(
    query: CountVisitors | Statistic,
    notion: Notion,
    *,
    safe_at_most: int | None = None,
    dangerous_at_least: int | None = None,
    budget: Budget,
    error_at_most: Exact | None = None,
    useful_from: Exact | None = None,
    what: What = "decisions",
    mechanism: Literal["auto", "geometric", "sanitized"] = "auto",
    stop_after: int | None = None,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    on_stage: Told | None = None,
) -> Release:
    """Release which places are safe, or a statistic, charging the budget.

    Args:
        query: the question, from `leeward.count_visitors` (the arguments up to ``stop_after`` are then those of
            `leeward.plan`) or from `leeward.statistic` (which takes none of them).
        notion: the privacy notion.
        safe_at_most: what *safe* means: at most so many people.
        dangerous_at_least: what *dangerous* means: at least so many people.
        budget: where the price is charged.
        error_at_most: see `leeward.plan`.
        useful_from: see `leeward.plan`.
        what: ``"decisions"``, or ``"counts"`` for the noisy counts too: post-processing, at no further price.
        mechanism: see `leeward.plan`.
        stop_after: see `leeward.plan`.
        if_doubtful: what becomes of a question without a stored answer where nothing, or under 1 % of the rows that should,
            would count: ``"refuse"`` it before anything is charged (a fact about the data: for the curator only), or
            ``"publish"`` all the same. It is no part of the question: either way the answer is the same.
        accept_useless: whether to go on where the answer would say practically nothing (see `leeward.planner._useless`).
            Otherwise a question without a stored answer is refused then, before anything is charged; the refusal
            depends on public things alone.
        bits: the entropy source; anything but the default marks the release unfit for publication.
        on_stage: told what is going on ("reading the data", "counting", …, and the ledger's own stages).

    Raises:
        LeewardError: the release is refused; nothing was charged and nothing is shown. See `leeward.errors`.
    """
    if isinstance(query, Statistic):
        decided = (safe_at_most, dangerous_at_least, error_at_most, useful_from, stop_after)
        if any(choice is not None for choice in decided):
            raise InputError("A decision about a statistic", "decisions are about counts of visitors", "Leave it out")
        made: Plan | NumberPlan = plan_number(query, notion)
    else:
        made = plan(
            query,
            notion,
            safe_at_most=safe_at_most,
            dangerous_at_least=dangerous_at_least,
            error_at_most=error_at_most,
            what=what,
            mechanism=mechanism,
            stop_after=stop_after,
            useful_from=USEFUL_FROM if useful_from is None else useful_from,
        )
    return release_planned(
        [made], budget, if_doubtful=if_doubtful, accept_useless=accept_useless, bits=bits, on_stage=on_stage
    )[0]


def release_planned(
    plans: Iterable[Plan | NumberPlan],
    budget: Budget,
    *,
    if_doubtful: IfDoubtful = "refuse",
    accept_useless: bool = False,
    bits: Bits | None = None,
    on_stage: Told | None = None,
) -> list[Release]:
    """Carry out plans that share their visits and places (windows of one spec), one release each.

    The whole price is checked against what is left before the first is made, and so is what would count.

    Raises:
        LeewardError: a release is refused. What earlier plans of the list released stays released and charged.
    """
    plans = list(plans)
    check_if_doubtful(if_doubtful)
    with Session(plans[0].query, budget, bits, on_stage) as session:
        plans = listing(plans, len(session.keys))
        keys = [session.key(**made.public()) for made in plans]
        counted_in = session.counted_in(plans[0].notion)
        prices = (charge(p.notion, p.price, counted_in, rows=p.query.of_rows) for p in plans)
        session.check_total(zip(keys, prices, strict=True))
        new = [made for k, made in zip(keys, plans, strict=True) if session.stored(k) is None]
        if not accept_useless:
            for made in new:
                refuse_useless(made, len(session.keys))
        if if_doubtful == "refuse":
            session.look_over([made.query for made in new])
        paid = (session.answer(p.query, p.notion, k, p.price, p.draw) for k, p in zip(keys, plans, strict=True))
        return [session.publish(made, one) for made, one in zip(plans, paid, strict=True)]


def listing(plans: Iterable[Plan | NumberPlan], keys: int) -> list[Plan | NumberPlan]:
    """Return plans that know how many public keys there are: the price of the sanitized mechanism may depend on it."""
    return [made.listing(keys) if isinstance(made, Plan) else made for made in plans]


def check_if_doubtful(choice: str) -> None:
    """Refuse what is no choice for ``if_doubtful``.

    Raises:
        SpecError: it is none.
    """
    if choice not in get_args(IfDoubtful):
        raise SpecError(
            f"if_doubtful = {told(choice)}", "it is not a known choice", nearest(str(choice), get_args(IfDoubtful))
        )
