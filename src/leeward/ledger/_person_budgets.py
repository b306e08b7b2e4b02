# SPDX-License-Identifier: Apache-2.0
"""Budgets of millions of people, per person and day: how many reports each may still make.

The ledger of releases keeps one account a dataset and a chain over its entries; here every person is an account, and one
number a person and day is all there is (`leeward.ledger._spent`). Every report of one job costs the same, so a budget is a
whole number of reports. Who is one person is said in `leeward.ledger._identity`; which day a report belongs to is for the
caller to say, and a store counts by one rule of days for ever. There is no chain and no mark: a restored copy forgets what
was spent since. Keep it like a ledger.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from leeward._plain import counted
from leeward.errors import CapExceededError, InputError, check_choice
from leeward.exact._real import whole
from leeward.ledger._identity import in_whole_numbers, payers
from leeward.ledger._people_store import PeopleStore, facts_kept
from leeward.ledger._spent import Accounts, Distinct, Spent, distinct, keys_of

Over = Literal["refuse", "withhold"]
"""What happens to reports that are not paid for."""

DAYS: Final = "as the caller numbers them"
"""The rule of days where the caller gives numbers and says nothing of them."""


_AT_ONCE: Final = 1 << 20
_FEW: Final = 4096

_Told = tuple[NDArray[np.bool_], Spent, NDArray[np.int64]]
"""Which of some reports are paid for, what is spent before, and how much under each of its keys afterwards."""


_MOST_REPORTS: Final = 10**100
"""More than anybody makes; what that many cost together is still a number that floats hold, as statements tell it."""

_COUNTED: Final = 2**62
"""More than are ever counted: what counts them has 64 bits."""


def reports_paid_for(reports_a_day: object) -> int:
    """Read how many reports of one person in one day are paid for: from 1 to 10¹⁰⁰."""
    return whole(reports_a_day, "reports_a_day", most=_MOST_REPORTS, says="it says how many are paid for")


class PersonBudgets(PeopleStore):
    """Budgets per person and day, as a number of reports.

    Args:
        path: the SQLite file.
        secret: for the keyed hash of people's names; at least 16 bytes.
        price: what one report costs, in words that must not change: ``"log(2)/200 a metre"``.
        reports_a_day: how many reports of one person in one day are paid for.
        new: whether the file may be made where there is none, or an empty one: then everybody has a whole budget.

    Raises:
        InputError: if fewer than 1 report is allowed, or more than 10¹⁰⁰.
        LedgerError: the file cannot be used, or is not there and may not be made.
        BudgetConflictError: it was made for another price, bound or secret.
    """

    form: ClassVar[str] = "5"

    def __init__(
        self, path: str | os.PathLike[str], *, secret: bytes, price: str, reports_a_day: int, new: bool = False
    ) -> None:
        self.reports_a_day = reports_a_day = reports_paid_for(reports_a_day)
        super().__init__(path, "budgets", {"price": price, "reports_a_day": str(reports_a_day)}, secret, new=new)

    @contextmanager
    def charging(self, over: Over = "refuse") -> Iterator[Charge]:
        """Charge reports, batch by batch, all in one transaction: durable when it ends, undone if anything fails.

        Args:
            over: what happens to reports beyond the bound: ``"refuse"`` them all, or ``"withhold"`` these, in their order.

        Yields:
            A function from people and days to which reports are paid for.

        Raises:
            BudgetConflictError: the store counts days by another rule.
            CapExceededError: somebody asks for more than is left, and ``over`` is ``"refuse"``. For the curator only.
        """
        check_choice("over", over, get_args(Over), "it is not an option")
        with self.writing() as connection:
            self._open_accounts(connection)
            charge = Charge(self, connection, over)
            yield charge
            if charge.refused is not None:  # caught inside: what came before it must not stand either
                raise charge.refused

    def spent(self, person: object, day: int) -> int:
        """Return how many reports of a person are paid for on a day, whatever they cost."""
        with self.writing() as connection:
            self._open_accounts(connection)
            return sum(self._counts(connection, person, day))

    def _counts(self, connection: Connection, person: Any, day: int) -> list[int]:
        """Return how many reports of each price a person has paid for on a day."""
        accounts = self._accounts([person])[0]
        asked = distinct(keys_of(np.full(len(accounts), _day(day)), accounts))
        found: list[int] = Spent(connection, self.path, asked.keys).reports[asked.at].tolist()
        return found

    def _open_accounts(self, connection: Connection) -> None:
        """Make ready for a charge; here nothing is to be done."""

    def _priced(self, _prices: Sequence[int] | None, reports: int) -> Sequence[int]:
        """Return the number of the price of each report among those of the store; here all cost the same."""
        return [0] * reports

    def _accounts(self, people: Sequence[Any]) -> Accounts:
        """Return what the reports of each person are counted under, shape (people, prices): one account for each price."""
        return self.hashed_ids(payers(people)).reshape(-1, 1)

    def _pays(self, counts: Sequence[int], _price: int) -> bool:
        """Whether a day's budget pays for one more report of a price, beside so many of each."""
        return counts[0] < self.reports_a_day

    def _too_many(self) -> CapExceededError:
        return CapExceededError(
            f"Somebody has more than {counted(self.reports_a_day, 'report')} in a day (this is for the curator only)",
            "their budget does not pay for it; nothing was charged",
            'Thin the table, choose over = "withhold", or have a larger budget from the start',
        )

    def _count_by(self, connection: Connection, rule: str) -> None:
        """Count days by a rule, or refuse another than before."""
        known = connection.execute(select(facts_kept.c.value).where(facts_kept.c.key == "days")).scalar_one_or_none()
        if known is None:
            connection.execute(facts_kept.insert(), [{"key": "days", "value": rule}])
        else:
            self._compare("days", known, rule)

    def _alike(self, connection: Connection, people: Sequence[Any], days: NDArray[np.int64]) -> _Told:
        """Return which of some reports are paid for, where all cost the same and none is free, and what is spent then."""
        rows, accounts = self._payers(people)
        asked = distinct(keys_of(days, accounts[rows, 0]))
        spent = Spent(connection, self.path, asked.keys)
        left = np.maximum(min(self.reports_a_day, _COUNTED) - spent.reports, 0)
        return _turns(asked) < left[asked.at], spent, spent.reports + np.minimum(asked.times, left)

    def _each(
        self,
        connection: Connection,
        people: Sequence[Any],
        days: NDArray[np.int64],
        prices: Sequence[int],
        reports: Sequence[bytes] | None,
        free: set[bytes],
    ) -> _Told:
        """Return which of some reports are paid for, one after another, and what is spent then."""
        rows, accounts = self._payers(people)
        # the day of a person, by the first of their accounts: what is written in two ways may be one person
        pairs = distinct(keys_of(days, accounts[rows, 0]))
        theirs = accounts[rows[pairs.first]]
        asked = distinct(keys_of(np.repeat(days[pairs.first], theirs.shape[1]), theirs.ravel()))
        spent = Spent(connection, self.path, asked.keys)
        counts: Any = spent.reports[asked.at].reshape(theirs.shape).tolist()
        paid = []
        for row, own in enumerate(pairs.at.tolist()):
            again = reports is not None and reports[row] in free
            paid.append(again or self._pays(counts[own], prices[row]))
            if paid[-1] and not again:
                counts[own][prices[row]] += 1
                if reports is not None:
                    free.add(reports[row])
        after = spent.reports.copy()
        after[asked.at] = np.array(counts, np.int64).ravel()
        return np.array(paid, bool), spent, after

    def _payers(self, people: Sequence[Any]) -> tuple[NDArray[np.int64], Accounts]:
        """Return the accounts of people, and which of them each report is charged to; one person's may be there twice."""
        people = in_whole_numbers(people)
        if {*map(type, people)} <= {int, str}:  # each equals only itself, and all name somebody
            some = people[:_FEW]
            if 2 * len({*some}) > len(some):  # mostly one report each: to find those of one person is the longer way
                return np.arange(len(people)), self._accounts(people)
        number = dict[Any, int]()  # by type too: what equals may be written otherwise, and one type may name nobody
        try:
            rows = [number.setdefault(each, len(number)) for each in zip(map(type, people), people, strict=True)]
            who = [person for _, person in number]
        except TypeError:  # a list, say
            who = [None]
        if any(map(_is_nobody, who)):
            raise InputError(
                "A report without a person (this is for the curator only)", "nobody pays for it", "Remove such rows"
            )
        return np.array(rows, np.int64), self._accounts(who)

    def _write(self, paid: NDArray[np.bool_], spent: Spent, after: NDArray[np.int64], over: Over) -> NDArray[np.bool_]:
        """Write what is spent, and return which reports are paid for; refuse them all if one is not, and it is asked."""
        if over == "refuse" and not paid.all():
            raise self._too_many()
        spent.write(after)
        return paid


class Charge:
    """Charges reports, batch by batch, in one transaction; `PersonBudgets.charging` makes it."""

    def __init__(self, budgets: PersonBudgets, connection: Connection, over: Over) -> None:
        self._budgets, self._connection, self._over = budgets, connection, over
        self._free: set[bytes] = set()
        self.refused: CapExceededError | None = None

    def __call__(
        self,
        people: Sequence[Any],
        days: Sequence[int],
        rule: str = DAYS,
        *,
        reports: Sequence[bytes] | None = None,
        known: Iterable[bytes] = (),
        prices: Sequence[int] | None = None,
    ) -> NDArray[np.bool_]:
        """Return which reports are paid for, given one person and one day a report (days since 1970).

        Args:
            people: ids.
            days: whole numbers of days; of any library, of any sign.
            rule: which day a report belongs to, in words. One store never counts by two rules: one moment would have two
                days, and two budgets.
            reports: what each report is, where one may be repeated: once it is paid for, by whichever day comes first that
                can, it is free in the rest of the transaction.
            known: those that are free from the start.
            prices: the number of the price of each report, where a store has several.
        """
        budgets, connection = self._budgets, self._connection
        if len(people):  # else no day is counted, and the rule of none is nobody's
            budgets._count_by(connection, rule)
        self._free.update(known)
        numbers = _days(days)
        beside = [each for each in (reports, prices) if each is not None]
        if len({len(people), len(days), *map(len, beside)}) > 1:
            raise InputError("People, days and reports of different lengths", "each report has one", "Give all")
        at = budgets._priced(prices, len(people))
        paid = [np.zeros(0, bool)]
        try:
            for i in range(0, len(people), _AT_ONCE):
                part = slice(i, i + _AT_ONCE)
                if reports is None and prices is None:
                    charged = budgets._alike(connection, people[part], numbers[part])
                else:
                    which = None if reports is None else reports[part]
                    charged = budgets._each(connection, people[part], numbers[part], at[part], which, self._free)
                paid.append(budgets._write(*charged, self._over))
        except CapExceededError as error:
            self.refused = self.refused or error
            raise
        return np.concatenate(paid)


def _turns(asked: Distinct) -> NDArray[np.int64]:
    """Return the how manieth of its key each report is, from 0."""
    turn = np.zeros(len(asked.at), np.int64)
    if len(asked.keys) < len(turn):
        order, begins = np.argsort(asked.at, kind="stable"), np.cumsum(asked.times) - asked.times
        turn[order] = np.arange(len(turn)) - np.repeat(begins, asked.times)
    return turn


def _is_nobody(person: Any) -> bool:
    """Whether it is None, NaN or another value that stands for a missing one: these do not equal themselves."""
    try:
        return person is None or bool(person != person)
    except (TypeError, ValueError):  # of pandas' NA nobody knows
        return True


def _days(given: Sequence[Any]) -> NDArray[np.int64]:
    own = list(given) if {*map(type, given)} <= {int} else [_day(each) for each in given]
    try:
        return np.array(own, np.int64)
    except OverflowError:
        return np.array([_day(each) for each in own], np.int64)


def _day(given: object) -> int:
    """Return a number of a day as Python's own: SQLite keeps the bytes of another library's, and never finds them again."""
    if type(given) is not int and (isinstance(given, bool) or not isinstance(given, Integral)):
        raise InputError(
            f"A day that is a {type(given).__name__} (this is for the curator only)",
            "a budget is kept for each whole day, and parts of one would each have their own",
            "Give days as whole numbers",
        )
    day = int(given)
    if not -(2**63) <= day < 2**63:
        raise InputError("A day beyond 64 bits (this is for the curator only)", "no calendar has it", "Correct it")
    return day
